//! Long-term memory for LLM applications.

mod add;
mod backends;
mod engine;
mod error;
mod index;
pub mod rules;
pub mod score;
mod search;
mod traits;
mod types;

pub use add::{AddMode, AddReport, AddRequest, NewMemory, SkippedFact};
pub use backends::*;
pub use engine::{ListRequest, MemoryEngine, MemoryEngineBuilder, MemoryUpdate};
pub use error::{Error, ErrorKind, Result, Stage};
pub use search::{Hit, Part, ScorePart, SearchMode, SearchRequest};
pub use traits::*;
pub use types::*;
