//! The built-in embedder: a table of token vectors, and hashed vectors for the words it does not know.
//!
//! `tools/distill_static_embedder.py` makes the table; `NOTICE-all-MiniLM-L6-v2.txt` says what it was made from.

mod embed;
mod embedder;
mod hashed_words;
mod scripts;
mod signs;
mod table;
#[cfg(test)]
mod tests;
mod unicode_classes;
mod wordpiece;
mod words;

pub use embedder::StaticEmbedder;
