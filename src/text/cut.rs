use unicode_segmentation::UnicodeSegmentation;

/// A cut at the end of a sentence is taken if it keeps at least this part of what would fit: 1 / this.
const SENTENCE_KEEPS: usize = 2;

/// The longest beginning of `text` that fits, cut after a sentence if that keeps half of what fits, else after a word,
/// else between characters as people see them. `None` if not even one character fits. `fits` must hold for the
/// beginning of whatever it holds for.
pub(crate) fn cut(text: &str, fits: impl Fn(&str) -> bool) -> Option<&str> {
    let bounds: Vec<usize> =
        text.grapheme_indices(true).map(|(at, grapheme)| at + grapheme.len()).filter(|end| *end < text.len()).collect();
    let piece = |end: usize| text.get(..end).unwrap_or_default().trim_end();
    let fitting = bounds.partition_point(|end| fits(piece(*end)));
    let most = bounds.get(fitting.checked_sub(1)?).copied()?;
    let last = |ends: &mut dyn Iterator<Item = usize>| ends.take_while(|end| *end <= most).last().unwrap_or(0);
    let sentence = last(&mut text.split_sentence_bound_indices().map(|(at, sentence)| at + sentence.len()));
    let word = last(&mut text.split_word_bound_indices().map(|(at, word)| at + word.len()));
    let end = [sentence, word].into_iter().find(|end| *end * SENTENCE_KEEPS >= most).unwrap_or(most);
    Some(piece(end)).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_made_where_it_hurts_least() {
        let text = "I live in Lisbon. I work at the library. Yesterday it rained.";
        for (most, expected) in [
            (60, Some("I live in Lisbon. I work at the library.")),
            (41, Some("I live in Lisbon. I work at the library.")),
            (38, Some("I live in Lisbon. I work at the")),
            (20, Some("I live in Lisbon.")),
            (1, Some("I")),
            (0, None),
        ] {
            assert_eq!(cut(text, |piece| piece.len() <= most), expected, "{most}");
        }
        assert_eq!(cut("👩‍🚀👩‍🚀👩‍🚀", |piece| piece.len() <= 25), Some("👩‍🚀👩‍🚀"));
        assert_eq!(cut("我住在柏林。", |piece| piece.chars().count() <= 3), Some("我住在"));
        assert_eq!(cut("x", |_| true), None, "a cut is shorter");
    }
}
