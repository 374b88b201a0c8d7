//! Long texts in passages: a paragraph is about something, a page is about everything and nothing.

use unicode_segmentation::UnicodeSegmentation;

/// A passage ends with the first sentence that ends after this many words…
const ENOUGH: usize = 60;
/// …and after this many wherever that is. A text that is hardly longer is left whole.
const MOST: usize = 100;

/// The passages of a text, in order; together they are the text. A short text is one.
pub(crate) fn passages(text: &str) -> Vec<&str> {
    let mut passages = Passages { text, found: Vec::new(), start: 0, words: 0 };
    if text.is_ascii() {
        passages.part_plain()
    } else {
        passages.part()
    }
    passages.finish()
}

const ENDS: [char; 9] = ['.', '!', '?', '\n', '。', '！', '？', '؟', '।'];

struct Passages<'t> {
    text: &'t str,
    found: Vec<&'t str>,
    /// Where the passage that is being read begins, and how many words it has.
    start: usize,
    words: usize,
}

impl<'t> Passages<'t> {
    fn part(&mut self) {
        for (at, piece) in self.text.split_word_bound_indices() {
            self.words += usize::from(piece.chars().any(char::is_alphanumeric));
            self.end_with(piece.contains(ENDS), at + piece.len());
        }
    }

    /// The same for ASCII, where words are found by a quicker walk, and what lies between them is one character a piece
    /// or has no end of a sentence in it.
    fn part_plain(&mut self) {
        let text = self.text;
        let mut last = 0;
        for (at, word) in text.unicode_word_indices() {
            self.between(last, at);
            last = at + word.len();
            self.words += 1;
            if self.words >= ENOUGH {
                self.end_with(word.contains(ENDS), last);
            }
        }
        self.between(last, text.len());
    }

    fn between(&mut self, from: usize, to: usize) {
        if self.words >= ENOUGH
            && let Some(end) = self.text.get(from..to).and_then(|between| between.find(ENDS))
        {
            self.end_with(true, from + end + 1);
        }
    }

    /// After a piece: ends the passage there, if it is time.
    fn end_with(&mut self, sentence_ends: bool, end: usize) {
        if self.words >= MOST || (self.words >= ENOUGH && sentence_ends) {
            self.found.extend(self.text.get(self.start..end));
            (self.start, self.words) = (end, 0);
        }
    }

    fn finish(self) -> Vec<&'t str> {
        let Self { text, mut found, start, words } = self;
        match text.get(start..) {
            // A short rest goes with the passage before it.
            Some(_) if words > 0 && words < ENOUGH / 2 && !found.is_empty() => {
                let last = found.pop().map_or(0, str::len);
                found.extend(text.get(start - last..));
            }
            Some(rest) if words > 0 || found.is_empty() => found.push(rest),
            _ => {}
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn plain_texts_are_parted_as_the_others_are(
            words in proptest::collection::vec("[a-zA-Z0-9_'.,:;!?(\r\n -]{0,9} ?", 0..300)
        ) {
            let text = words.concat();
            let mut slow = Passages { text: &text, found: Vec::new(), start: 0, words: 0 };
            slow.part();
            assert_eq!(passages(&text), slow.finish());
        }
    }

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
