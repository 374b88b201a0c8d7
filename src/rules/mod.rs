//! Extraction and reconciliation without a model: a table of patterns per language, English and Russian so far.
//!
//! [`RuleExtractor`] turns what the user says in the first person into facts, and [`RuleReconciler`] decides what
//! those do to what is known. Both are deterministic, make no request and take time in proportion to the text.
//!
//! They would rather miss a fact than make one up. A statement is taken only where it stands alone and plain: not in a
//! question, a quotation, pasted text, a supposition or a report of what others said, and not where the thing it speaks
//! of is only pointed at ("I love it"). Whoever wants more plugs in a model.
//!
//! The flow: `prose` drops what the user did not write, tokens become sentences, sentences clauses, and each
//! clause is held against the rows of its language's table (`english`, `russian`), which are data.

mod clause;
mod english;
mod extractor;
mod fits;
mod language;
mod pattern;
mod prose;
mod reader;
mod reconciler;
mod row;
mod russian;
mod sameness;
mod split;
mod tail;
#[cfg(test)]
#[expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]
mod tests;
mod token;
mod topic;
mod value;
mod when;

pub use extractor::RuleExtractor;
pub use reconciler::RuleReconciler;
