//! For whoever writes a backend: a conformance suite per trait, and fakes to test an application with.
//!
//! Turn the feature on for tests only, beside tokio's test attribute:
//!
//! ```sh
//! cargo add --dev ingrain --features testing
//! cargo add --dev tokio --features macros,rt-multi-thread
//! ```
//!
//! Then name the suite and say how a fresh, empty backend is made. Each rule of the contract becomes a test of its own:
//!
//! ```
//! # mod sketch {
//! ingrain::vector_store_suite!(my_store, async { MyStore::new() });
//! ingrain::graph_store_suite!(my_graph as VectorStore, async { MyStore::new() });
//! ingrain::add_queue_suite!(my_queue, async { MyStore::new().companions().queue.unwrap() });
//! ingrain::conversation_store_suite!(my_talks, async { MyStore::new().companions().conversations.unwrap() });
//! ingrain::embedder_suite!(my_embedder, async { MyEmbedder::new() });
//! ingrain::llm_suite!(my_llm, async { MyLlm::new() });
//! # use ingrain::{testing::{FaultyStore, GivenVectors, ScriptedLlm}, InMemoryStore, VectorStore};
//! # struct MyStore; impl MyStore { fn new() -> InMemoryStore { InMemoryStore::new() } }
//! # struct MyLlm; impl MyLlm { fn new() -> ScriptedLlm { ScriptedLlm::new() } }
//! # struct MyEmbedder; impl MyEmbedder { fn new() -> GivenVectors { GivenVectors::new(8) } }
//! # }
//! ```
//!
//! `cargo test my_store` runs the rules one by one, and the name of a failing test names the broken rule. A rule about
//! a capability that the backend does not declare prints that it was skipped; a declared capability is always tested.
//! A backend that needs more than itself to live, such as a temporary folder or a server, gives a pair: the backend
//! and whatever must be dropped after it (see [`vector_store::FreshStore`]).
//!
//! The suites and fakes use nothing that is not public.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "an assertion that fails, and a skip that is said aloud, are what a suite is for"
)]

pub mod add_queue;
pub mod conversation_store;
pub mod embedder;
mod fakes;
pub mod graph_store;
pub mod llm;
pub mod vector_store;

pub use fakes::{FaultyStore, GivenVectors, ScriptedLlm};
