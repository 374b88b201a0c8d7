//! `Neo4jStore`. With `INGRAIN_NEO4J_URL` (and `INGRAIN_NEO4J_USER`, `INGRAIN_NEO4J_PASSWORD`) against that server, whose
//! graphs of this crate it deletes; `.ci/local_graph` starts one. What needs none is always tested.

mod cypher;
mod erasure;
mod hostile;
mod server;
mod suite;
mod unreachable;
mod world;
