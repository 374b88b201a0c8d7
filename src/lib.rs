//! Long-term memory for LLM applications.
mod error;
pub mod score {
    pub mod lexical {}
}
#[cfg(feature = "testing")]
pub mod testing;
mod traits;
mod types;
pub use error::{Error, ErrorKind, Result, Stage};
pub use traits::*;
pub use types::*;
