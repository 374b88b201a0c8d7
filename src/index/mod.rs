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
//! There is no approximate index, by measurement. At 128 dimensions, on two cores, a pass over the codes of 100,000
//! memories took 1 ms (over their f32 numbers 3.6 ms) and a whole hybrid search 3 to 4 ms; for 1,000,000 it was 12 ms
//! (36 ms) and 22 ms: `cargo bench --bench search -- --large`. A graph (HNSW, measured with
//! usearch over 50,000 vectors of 384 dimensions) answers in a tenth of a pass over f32 numbers, and loses by it: it found
//! 0.83 of what it should where a filter admits a tenth, took three times as long as the pass where it admits a
//! hundredth and nine times where it admits a thousandth, needed minutes to build, and does not give the cosines of
//! whole sessions. Who has many millions in one scope plugs in a store made for that.

mod analyzer;
mod cache;
mod dictionary;
mod entry;
mod kept_cues;
mod language;
mod lending;
mod lists;
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
pub(crate) mod walk;

pub(crate) use analyzer::{content_terms, content_words};
pub(crate) use cache::{Change, Compared, IndexCache, IndexMark, IndexSource};
#[cfg(feature = "sqlite")]
pub(crate) use entry::Entry;
pub(crate) use kept_cues::cues_of_batch;
#[cfg(feature = "sqlite")]
pub(crate) use kept_cues::{kept_cues, packed_cues};
pub(crate) use scope_index::{AnalysedKey, Indexed, ScopeIndex};
pub(crate) use terms::Terms;
#[cfg(feature = "sqlite")]
pub(crate) use terms::{Kept, TermList, kept_as};
