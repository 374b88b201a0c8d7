//! Neo4j's own protocol, version 5: as much of it as this backend asks for.
//!
//! There is a crate for it, neo4rs, which was weighed and left. A call that is cancelled there leaves its connection to
//! the next one with an answer still to come (<https://github.com/neo4j-labs/neo4rs/issues/295>), whereas the contract of
//! [`GraphStore`](crate::GraphStore) lets every call be cancelled; its last release is of 2024 and brings crates that
//! nobody looks after, and the next is not out; and it brings some 90 crates, where this makes do with 20. The other
//! way, JSON over HTTP, is spoken by Neo4j alone, and on another port, which need not be open.

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
