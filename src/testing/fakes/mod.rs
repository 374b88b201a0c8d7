//! Stand-ins whose every answer a test decides.

mod faulty_conversations;
mod faulty_graph;
mod faulty_store;
mod given_vectors;
mod scripted_llm;

pub use faulty_store::FaultyStore;
pub use given_vectors::GivenVectors;
pub use scripted_llm::ScriptedLlm;
