//! What the search of one scope runs on: vectors, postings and the fields that filters look at. No I/O.
//!
//! [`ScopeIndex`] is built from a store's memories and kept up to date by its changes; [`IndexCache`] keeps as many of
//! them as its bytes allow. The stores that run in process share both.

mod analyzer;
mod cache;
mod language;
pub(crate) mod passages;
mod postings;
mod scope_index;
mod sessions;
mod stopwords;
mod vectors;

pub(crate) use cache::{Change, IndexCache, IndexSource};
pub(crate) use scope_index::{Indexed, ScopeIndex};
