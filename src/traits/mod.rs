//! The contracts, one a file, each with its own request and result types.
//!
//! Every trait is object-safe, takes `&self`, and is implemented for `Arc<T>` where `T` implements it, so that
//! `Arc<dyn VectorStore>` is a store like any other.

mod add_queue;
mod call_budget;
mod clock;
mod conversation_store;
mod embedder;
mod extractor;
mod graph_store;
mod llm;
mod llm_fn;
mod meter;
mod reconciler;
mod redactor;
mod reranker;
mod summarizer;
mod token_counter;
mod vector_store;

#[cfg(feature = "sqlite")]
pub(crate) use add_queue::due_from;
pub use add_queue::{AddFailure, AddQueue, Claim, Claimed, LONGEST_LEASE, LONGEST_WAIT, QueuedAdd, QueuedState};
pub use call_budget::CallBudget;
pub use clock::{Clock, ManualClock, SystemClock};
#[cfg(feature = "sqlite")]
pub(crate) use conversation_store::MOST_MESSAGES;
pub use conversation_store::{ConversationStore, RunningSummary, StoredMessage};
pub use embedder::{Embedder, EmbedderExt, EmbedderIdentity, Purpose};
pub use extractor::{ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, Ignored, Mention};
pub(crate) use graph_store::{DEEPEST_WALK, LONGEST_PATH, check_list, check_walk};
pub use graph_store::{Direction, GraphBatch, GraphQuery, GraphStore, Path};
#[cfg(feature = "sqlite")]
pub(crate) use graph_store::{check_entity, check_relation};
pub use llm::{
    ChatRequest, ChatResponse, FinishReason, Llm, LlmCapabilities, ResponseFormat, ToolChoice, ToolDefinition,
};
pub use llm_fn::LlmFn;
pub use meter::{Meter, Operation, Total, Totals};
pub use reconciler::{
    Action, KnownEntity, Meaning, Neighbour, OpenMention, Plan, PlanCheck, ReconcileRequest, Reconciler,
};
pub use redactor::Redactor;
pub(crate) use redactor::{redact_message, redact_metadata, redact_text};
pub use reranker::Reranker;
pub use summarizer::{SummarizeRequest, Summarizer, Summary};
pub use token_counter::{ApproximateTokens, TokenCounter};
pub use vector_store::{
    Attributes, Candidate, Companions, Expect, IndexKey, KeyPlace, ListOrder, ListQuery, Problem, ProblemKind,
    ProblemPlace, Purged, Put, Reembedding, SearchQuery, StagedVector, StoreCapabilities, StoredKey, Surroundings,
    Unchanged, VectorStore, Verify, VerifyCounts, VerifyProgress, VerifyReport, Version, WriteBatch,
};
#[cfg(feature = "sqlite")]
pub(crate) use vector_store::{KeptKey, KeyRestorer, LeftKeys};
pub(crate) use vector_store::{check_memory, is_under_way};
