//! What the search of one scope runs on: vectors, postings and the fields that filters look at. No I/O.
//!
//! [`ScopeIndex`] is built from a store's memories and kept up to date by its changes; [`IndexCache`] keeps as many of
//! them as its bytes allow. The stores that run in process share both.

mod analyzer;
mod cache;
mod entry;
mod language;
mod lending;
pub(crate) mod passages;
mod postings;
mod scope_index;
mod search;
mod sessions;
mod stopwords;
mod terms;
#[cfg(test)]
mod tests;
mod top;
mod vectors;

pub(crate) use analyzer::content_terms;
pub(crate) use cache::{Change, IndexCache, IndexSource};
pub(crate) use scope_index::{AnalysedKey, Indexed, ScopeIndex};
pub(crate) use terms::Terms;
