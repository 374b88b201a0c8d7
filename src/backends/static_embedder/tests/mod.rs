#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a failing look-up is a failing test")]

mod embed;
mod wordpiece;
