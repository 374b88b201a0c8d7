//! Token counts as OpenAI's models count.

mod token_counter;

pub use token_counter::TiktokenCounter;
