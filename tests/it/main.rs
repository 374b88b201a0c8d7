//! What a user of the crate would see, tested through its public items alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod conformance;
