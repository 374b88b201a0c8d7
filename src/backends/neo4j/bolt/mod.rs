//! Neo4j's own protocol, version 5: as much of it as this backend asks for.
//!
//! There is a crate for it, neo4rs. It was weighed and left: its last release is of 2024 and brings crates that nobody
//! looks after, its next one is not out, either needs some 35 crates more than this (`tokio-rustls` aside, this needs
//! what the crate has), and a call that is cancelled leaves its connection to the next one with an answer still to come,
//! whereas the contract of [`GraphStore`](crate::GraphStore) lets every call be cancelled. The other way, JSON over
//! HTTP, is spoken by Neo4j alone, on another port that many installations do not open.

mod address;
mod connection;
mod pool;
mod transaction;
mod value;

pub(super) use address::Address;
pub(super) use connection::Login;
pub(super) use pool::{Lent, Pool};
pub(super) use transaction::{Row, Statement, Streamed, Transaction};
pub(super) use value::{Map, Value, map};
