//! Sentences.

use std::ops::Range;

use super::token::{Shape, Token};

/// A sentence: its tokens without the end marks, and whether it asks.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) tokens: Range<usize>,
    pub(super) asks: bool,
}

/// Words before a full stop that does not end a sentence.
const ABBREVIATIONS: [&str; 16] =
    ["st", "dr", "mr", "mrs", "ms", "mt", "ft", "jr", "prof", "г", "ул", "пл", "им", "е", "т", "др"];

/// Splits tokens into sentences.
pub(super) fn sentences(tokens: &[Token]) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut end = 0;
    let mut asks = false;
    let mut closed = false;
    for (at, token) in tokens.iter().enumerate() {
        let abbreviated = token.is(".")
            && at
                .checked_sub(1)
                .and_then(|before| tokens.get(before))
                .is_some_and(|before| ABBREVIATIONS.contains(&before.word.as_str()) && before.end == token.start)
            && tokens.get(at + 1).is_some_and(|next| next.shape == Shape::Capital);
        let closes = token.shape == Shape::Break
            || (token.shape == Shape::Mark
                && matches!(token.word.as_str(), "." | "!" | "?" | "…" | "。" | "？" | "！"));
        if closes && !abbreviated {
            if !closed {
                end = at;
            }
            closed = true;
            asks |= token.is("?") || token.is("？");
            continue;
        }
        // What follows the end marks begins a new sentence.
        if closed {
            sentences.push(Sentence { tokens: start..end, asks });
            (start, asks, closed) = (at, false, false);
        }
    }
    if !closed {
        end = tokens.len();
    }
    sentences.push(Sentence { tokens: start..end, asks });
    sentences.retain(|sentence| !sentence.tokens.is_empty());
    sentences
}
