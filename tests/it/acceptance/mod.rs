//! What users expect of a memory, each over every store.

mod adding;
mod changing;
mod decay;
mod failing;
mod isolation;
mod keys;
mod listing;
mod model;
mod relations;
mod searching;
mod timing;
#[cfg(feature = "sqlite")]
mod writers;
