//! The reference: everything in the process, gone when it ends.

mod conversations;
mod graph;
mod graph_store;
mod queue;
mod reembed;
mod scopes;
mod state;
mod vector_store;
mod verify;

pub use vector_store::InMemoryStore;
