//! Pure maths of retrieval: no I/O, no clock, no async. Every formula names its source.

pub(crate) mod centrality;
pub(crate) mod conditions;
pub mod decay;
pub mod diversity;
pub mod fusion;
pub mod lexical;
pub mod names;
pub mod relatedness;
pub mod sameness;
pub mod similarity;
pub(crate) mod stable_hash;
pub mod timeliness;
