//! Long-term memory for LLM applications.
mod error;
pub mod rules;
pub mod score;
mod traits;
mod types;
pub use error::{Error, ErrorKind, Result, Stage};
pub use traits::*;
pub use types::*;
