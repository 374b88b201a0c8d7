//! Pure measures: no I/O, no clock, no async.

pub mod sameness;
