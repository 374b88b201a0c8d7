//! What a user of the crate would see, tested through its public items alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what is wrong by panicking, and aloud what it skips"
)]

mod acceptance;
mod again;
mod agent;
mod agentic;
mod api;
mod blocks;
mod campaign;
#[cfg(any(feature = "openai", feature = "anthropic", feature = "ollama"))]
mod clients;
mod conformance;
mod context;
mod conversation;
mod conversations;
#[cfg(feature = "sqlite")]
mod copies;
mod corrections;
mod cost;
#[cfg(all(feature = "sqlite", unix))]
mod crash;
mod dates;
#[cfg(all(feature = "sqlite", target_os = "linux"))]
mod disk;
mod edges;
#[cfg(feature = "encryption")]
mod encryption;
#[cfg(feature = "eval")]
mod evaluate;
mod everyone;
mod features;
#[cfg(feature = "sqlite")]
mod graph;
mod graph_tongues;
mod graph_world;
mod hostile;
#[cfg(all(feature = "sqlite", unix))]
mod kills;
mod later;
mod layering;
mod maintain;
mod mentions;
mod metering;
#[cfg(feature = "neo4j")]
mod neo4j;
mod observations;
mod past;
#[cfg(feature = "sqlite")]
mod processes;
mod prompted;
mod properties;
mod purging;
mod ranking;
mod reconcile;
mod redactor;
mod reembed;
mod scenarios;
#[cfg(feature = "sqlite")]
mod stores;
mod told;
mod tools;
mod transfer;
mod verify;
mod worlds;
