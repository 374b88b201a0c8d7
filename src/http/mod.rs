//! What the clients of model servers share: one exchange over HTTP, with its limits and retries, told as this crate's
//! errors; and what the servers have in common in what they take and give.

mod client;
mod connect;
#[cfg(any(feature = "openai", feature = "ollama"))]
mod embeddings;
mod error;
mod lines;
mod options;
mod refused;
mod retry;
mod turns;

pub(crate) use client::{Answer, Call, HttpClient, Login, Stream};
pub(crate) use connect::BaseUrl;
#[cfg(any(feature = "openai", feature = "ollama"))]
pub(crate) use embeddings::{EmbedBatch, Limits, embed_in_batches, vector};
pub(crate) use error::{HttpError, Refusal, default_kind};
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub(crate) use lines::Events;
pub use options::HttpOptions;
pub(crate) use refused::{Body, Parameter, Refused, digits};
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub(crate) use turns::whole_piece;
pub(crate) use turns::{Turn, arguments, new_call_id, private, turns};
