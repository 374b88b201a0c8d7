//! How well a memory finds what it should: data sets, metrics, and what it takes to tell a gain from luck. No model is
//! called. What memory does to the answers of an application is measured by [`personalization`].
//!
//! A [`Dataset`] holds conversations and questions whose evidence is known. [`run`] stores the conversations turn by
//! turn, asks the questions, and makes a [`Report`]. Loaders read the public data sets [`locomo`], [`beam`] and
//! [`longmemeval`]; a data set of your own is made by hand:
//!
//! ```
//! use ingrain::evaluate::{self, Conversation, Dataset, Question, Turn};
//! use ingrain::{HashingEmbedder, MemoryEngine, Role, SearchRequest};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> ingrain::Result<()> {
//! let turns = vec![
//!     Turn::new("monday", Role::User, "I keep bees on the roof.", "1"),
//!     Turn::new("monday", Role::Assistant, "How many hives are there?", "2"),
//!     Turn::new("friday", Role::User, "My sister plays the cello.", "3"),
//! ];
//! let question = Question::new("Which instrument does the sister play?", "family", vec![2]);
//! let chat = Conversation::new("ann", turns, question.into_iter().collect());
//!
//! let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
//! let report = evaluate::run(&memory, &Dataset::new("mine", vec![chat]), &SearchRequest::new("")).await?;
//! assert_eq!(report.overall.scores.turn_any_at_5, 1.0);
//! println!("{report}");
//! # Ok(())
//! # }
//! ```
//!
//! Where a data set says which facts its turns tell, [`GivenFacts`] reads them in place of a model, and
//! [`ingest_with_facts`] stores them as `add` does: as memories and as further keys of their turns. [`ablation`] shows
//! what each part of the score is worth. What a loader leaves out is counted, with the reason: [`Dataset::left_out`].
//!
//! To compare two ways to search, run both over the same data set and hand the scores of their
//! [`questions`](Report::questions) to [`bootstrap`]. Report each category and how many questions it has; what is tuned
//! on one data set alone may fail on another.

pub mod ablation;
pub mod beam;
pub mod bootstrap;
mod dataset;
mod facts;
mod files;
mod left_out;
pub mod locomo;
pub mod longmemeval;
pub mod metrics;
pub mod personalization;
mod report;
mod run;

pub use dataset::{Conversation, Dataset, Question, Turn, Update};
pub use facts::{FactCounts, GivenFact, GivenFacts};
pub use left_out::LeftOut;
pub use report::{Answered, Means, Report, Scores};
pub use run::{Ingested, Ranked, ingest, ingest_with_facts, retrieve, run};
