//! What the search of one scope runs on: vectors, postings and the fields that filters look at. No I/O.
//!
//! [`ScopeIndex`] is built from a store's memories and kept up to date by its changes; [`IndexCache`] keeps as many of
//! them as its bytes allow. The stores that run in process share both.
//!
//! # Exact, at every size
//!
//! A search looks at every memory of the scope and finds what a sort of all scores would find; `tests` holds the two
//! against each other. What makes that quick is how little it reads of each: one byte a dimension
//! ([`vectors`]), a keyword score and three links ([`sessions`]), each in a row of its own; the entries themselves only
//! of the few hundred that are proposed.
//!
//! There is no approximate index, by measurement. On two shared cores, at 128 dimensions, a pass over the codes of
//! 100,000 memories takes 1.1 ms (over their f32 numbers 3.8 ms) and the whole hybrid search about 4 ms, and both grow
//! in proportion. A graph (HNSW) would answer faster beyond some 200,000 memories in one scope, and would lose by it: it
//! finds 0.83 of what it should where a filter admits a tenth and takes longer than the pass where it admits a
//! hundredth, takes minutes to build where an index is read in seconds, and does not give the cosines of whole sessions.
//! Who has millions in one scope plugs in a store made for that.

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

pub(crate) use cache::{Change, IndexCache, IndexSource};
pub(crate) use scope_index::{AnalysedKey, Indexed, ScopeIndex};
pub(crate) use terms::Terms;
