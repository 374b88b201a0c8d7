//! Long texts in passages: a paragraph is about something, a page is about everything and nothing.

use unicode_segmentation::UnicodeSegmentation;

/// A passage ends with the first sentence that ends after this many words…
const ENOUGH: usize = 60;
/// …and after this many wherever that is. A text that is hardly longer is left whole.
const MOST: usize = 100;

/// The passages of a text, in order; together they are the text. A short text is one.
pub(crate) fn passages(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let (mut start, mut words) = (0, 0);
    for (at, piece) in text.split_word_bound_indices() {
        let end = at + piece.len();
        if piece.chars().any(char::is_alphanumeric) {
            words += 1;
        }
        let sentence_ends = piece.contains(['.', '!', '?', '\n', '。', '！', '？', '؟', '।']);
        if words >= MOST || (words >= ENOUGH && sentence_ends) {
            if let Some(passage) = text.get(start..end) {
                passages.push(passage);
            }
            (start, words) = (end, 0);
        }
    }
    match text.get(start..) {
        // A short rest goes with the passage before it.
        Some(rest) if words > 0 && words < ENOUGH / 2 && !passages.is_empty() => {
            let last = passages.pop().map_or(0, str::len);
            passages.extend(text.get(start - last..start + rest.len()));
        }
        Some(rest) if words > 0 || passages.is_empty() => passages.push(rest),
        _ => {}
    }
    passages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_one_passage_and_long_ones_end_with_sentences() {
        for short in ["", "Owns a kayak.", "  ", "👩‍🚀"] {
            assert_eq!(passages(short), [short]);
        }
        let long = "The cat sat on the mat and looked at nine birds. ".repeat(40);
        let found = passages(&long);
        assert_eq!(found.concat().trim_end(), long.trim_end());
        assert!(found.len() >= 5 && found.iter().all(|passage| passage.trim_end().ends_with('.')));
        let unbroken = "我昨天搬到了柏林".repeat(100);
        assert_eq!(passages(&unbroken).concat(), unbroken);
        assert!(passages(&unbroken).len() > 5);
    }
}
