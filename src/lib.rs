//! Long-term memory for LLM applications: what was said, what is known, and what has changed since.
//!
//! ```no_run
//! use ingrain::{MemoryEngine, Message, Scope};
//! # #[cfg(all(feature = "sqlite", feature = "static-embedder"))]
//! # async fn example() -> ingrain::Result<()> {
//! let memory = MemoryEngine::open("memory.db").await?;
//! let alice = Scope::user("alice");
//! memory.add(&alice, [Message::user("I moved to Lisbon. I'm allergic to shellfish.")]).await?;
//! let hits = memory.search(&alice, "which food is she allergic to?").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Concepts
//!
//! - A [`Memory`] is one stored unit: a turn of a conversation ([`MemoryKind::Episode`]), a fact, a summary. Its
//!   [`MemoryId`] never changes.
//! - A [`Scope`] says whose it is: user, agent, session. Every read and write names one, and sees only what it covers.
//! - World time is `valid_at` .. `invalid_at`; knowledge time is `created_at` and the [`HistoryEvent`]s. What is
//!   contradicted ends, nothing is erased.
//! - The [`Graph`] is made of [`Entity`]s and [`Relation`]s that facts told of. A relation rests on memories, holds as long
//!   as they do and goes with the last of them; see [`MemoryEngine::graph`].
//! - An [`Error`] has an [`ErrorKind`] that says what to do next. An outage is an error, never an empty result.
//!
//! # Flow
//!
//! [`add`](MemoryEngine::add): messages → *extract* facts and relations ([`Extractor`]) → *reconcile* them with what is known
//! ([`Reconciler`]) → *store* everything in one atomic [`WriteBatch`] → [`AddReport`].
//!
//! [`add_later`](MemoryEngine::add_later): the same in the background: *queue* ([`AddQueue`]) → *claim* → add → *finish*, or
//! try again.
//!
//! [`search`](MemoryEngine::search): query → *candidates* by meaning, words and time ([`VectorStore::search`]) → *fuse*
//! into one score ([`score::fusion`]) → *rank* → [`Hit`]s that explain themselves. Times that a text names ("last
//! Friday") are found by [`dates`].
//!
//! [`context`](MemoryEngine::context): query → *gather* blocks, hits and the turns around them → *select* the best within
//! a [`TokenBudget`] → *render* → [`MemoryContext`], ready for a prompt, and known again when it comes back through `add`.
//!
//! [`conversation`](MemoryEngine::conversation): *append* word for word ([`ConversationStore`]) → *view* within its limits;
//! meanwhile the oldest segments are *summarised* ([`Summarizer`]) into one running summary → [`ConversationView`].
//!
//! [`blocks`](MemoryEngine::blocks): core memory in every prompt, edited by the application and by agents; and
//! [`tools`](MemoryEngine::tools): all of it as tools that a model calls, in any framework.
//!
//! [`agent`](MemoryEngine::agent): context → *talk* (a model calls tools, and answers) → the exchange is queued to be
//! remembered → [`AgentReply`], which says what was recalled, how it came about and why it ended.
//!
//! [`maintain`](MemoryEngine::maintain): *expire* → *merge* → *summarise* → *forget* → *review* → *observe*, in bounded steps
//! that may stop anywhere. [`export`](MemoryEngine::export) and [`import`](MemoryEngine::import) take everything out and in,
//! [`scopes_of_everyone`](MemoryEngine::scopes_of_everyone) says whose memories there are, to go over all of them,
//! `SqliteStore::copy_to` backs a file up while it is in use, [`purge`](MemoryEngine::purge) leaves no trace,
//! [`verify`](MemoryEngine::verify) says whether a store is sound, `SqliteStore::salvage` saves what can be read of a damaged
//! file, and [`Reembed`] changes the embedder of a filled one. What calls find, change and cost is told to a [`Meter`].
//!
//! # Parts
//!
//! Everything behind a trait can be replaced: [`MemoryEngine::builder`]. Stores: [`InMemoryStore`], `SqliteStore`.
//! Embedders: `StaticEmbedder`, [`HashingEmbedder`], `OpenAiEmbedder`, `OllamaEmbedder`. Models: `OpenAi`, `Anthropic`,
//! `Ollama`, and [`LlmFn`] for any other. With a model ([`MemoryEngineBuilder::llm`]) the parts of [`prompted`] extract,
//! reconcile and summarise, without one [`rules`] do. The feature `testing` has suites for stores, queues,
//! conversations, embedders and models that one of your own must pass. The traits are async: put
//! [`#[async_trait]`](macro@async_trait) above an implementation.
//!
//! The engine uses stores of memories, of the graph ([`GraphStore`]) and of conversations ([`ConversationStore`]), which
//! both stores are or keep ([`VectorStore::companions`]), embedders, models, extractors, reconcilers, summarisers,
//! rerankers, redactors, token counters and clocks.
//!
//! # Features
//!
//! | feature | default | brings |
//! | --- | --- | --- |
//! | `sqlite` | yes | `SqliteStore`: one SQLite file, compiled in |
//! | `static-embedder` | yes | `StaticEmbedder`: the built-in token table, 128 dimensions, 4 MB inside the crate |
//! | `stemmers` | yes | word stems in keyword search, in eight languages |
//! | `default` | | the three above |
//! | `full` | | all of these but `testing` and `encryption` |
//! | `openai` | | `OpenAi`, its embedder and reranker: OpenAI, and every server that speaks its API |
//! | `anthropic` | | `Anthropic`: Claude |
//! | `ollama` | | `Ollama` and its embedder: local models through Ollama's own API |
//! | `neo4j` | | `Neo4jStore`: the graph on a Neo4j server |
//! | `tiktoken` | | `TiktokenCounter`: exact token counts for OpenAI's models, for budgets |
//! | `tracing` | | a span for each call, and an event at its end ([names](MemoryEngineBuilder::meter)) |
//! | `eval` | | `evaluate`: how well memories are found, and what they do to answers; loaders for public data sets, metrics |
//! | `encryption` | | a key for `SqliteStore`: SQLCipher in the place of SQLite, with the system's OpenSSL |
//! | `encryption-vendored` | | the same with an OpenSSL that is built along |
//! | `testing` | | conformance suites for the traits, and fakes |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod add;
mod agent;
mod backends;
mod context;
mod conversation;
pub mod cues;
pub mod dates;
mod engine;
mod error;
#[cfg(feature = "eval")]
pub mod evaluate;
mod frame;
mod graph;
#[cfg(any(feature = "openai", feature = "anthropic", feature = "ollama"))]
mod http;
mod index;
pub mod prompted;
pub mod rules;
pub mod score;
mod search;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod tools;
mod traits;
mod types;

/// For implementations of the traits.
pub use async_trait::async_trait;

pub use add::{
    AddMode, AddReport, AddRequest, BackgroundOptions, FlushReport, NewMemory, RecalledText, SkipReason, SkippedFact,
};
pub use agent::{
    AgentEvent, AgentReply, AgentSession, AgentStep, AgentStream, AgentTool, MemoryAgent, MemoryAgentBuilder, NotSaved,
    Recall, SaveDecision, Saving, StopReason, ToolFn, ToolOutcome, ToolUse,
};
pub use backends::*;
pub use context::{ContextRequest, MemoryContext, Profile, TokenBudget};
pub use conversation::{
    Appended, Conversation, ConversationEvent, ConversationOptions, ConversationSize, ConversationView, Exchange,
    SummaryFailure,
};
pub use engine::{
    Blocks, Export, Graph, Import, ListRequest, Maintenance, MaintenancePlace, MaintenanceReport, MaintenanceSchedule,
    MemoryEngine, MemoryEngineBuilder, MemoryUpdate, Merged, OnClash, Purge, PurgeReport, Reembed, ReembedProgress,
    ReembedReport, ScheduledMaintenance, TransferReport,
};
pub use error::{Error, ErrorKind, Result, Stage};
pub use graph::{GraphView, ResolvedMention};
#[cfg(any(feature = "openai", feature = "anthropic", feature = "ollama"))]
pub use http::HttpOptions;
pub use search::{Hit, Part, ScorePart, SearchMode, SearchRequest};
pub use tools::{MemoryTools, ToolResult};
pub use traits::*;
pub use types::*;

#[cfg(all(doctest, feature = "sqlite", feature = "static-embedder"))]
#[doc = include_str!("../README.md")]
struct Readme;
