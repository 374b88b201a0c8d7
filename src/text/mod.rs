//! Plain text as several folders look at it: its words, its sentences, and where it is cut. Pure.

mod cut;

pub(crate) use cut::cut;
use unicode_segmentation::UnicodeSegmentation;

/// How many words a text has, by Unicode's rules; in scripts that are written without spaces two characters are one.
pub(crate) fn count_words(text: &str) -> usize {
    let mut words = 0;
    let mut unspaced = 0_usize;
    for word in text.unicode_words() {
        if word.chars().next().is_some_and(is_unspaced) { unspaced += word.chars().count() } else { words += 1 }
    }
    words + unspaced.div_ceil(2)
}

/// Han, kana, Thai, Lao, Burmese and Khmer.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{2_0000}'..='\u{3_134F}')
}

/// The sentences of a text in their order, each a piece of it without the white space around it. A line ends one, too;
/// "Dr." and the like do not.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        for (at, piece) in line.split_sentence_bound_indices() {
            let end = at + piece.len();
            let sentence = line.get(start..end).unwrap_or_default().trim();
            if end < line.len() && abbreviates(sentence) {
                continue;
            }
            sentences.extend((!sentence.is_empty()).then_some(sentence));
            start = end;
        }
    }
    sentences
}

/// Whether the last word is one that a full stop follows without an end.
fn abbreviates(sentence: &str) -> bool {
    const ABBREVIATIONS: [&str; 16] =
        ["mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "г", "ул", "т.е", "т.д", "им", "bzw", "z.b"];
    let Some(before) = sentence.strip_suffix('.') else { return false };
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let initial = word.chars().count() == 1 && before.chars().next_back().is_some_and(char::is_uppercase);
    initial || (ABBREVIATIONS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_any_script_are_counted() {
        for (text, words) in [
            ("", 0),
            ("🙂 — …", 0),
            ("I can't, Dr. Li: 3.5 km!", 6),
            ("Я живу в Казани", 4),
            ("我住在柏林", 3),
            ("I love 柏林", 3),
        ] {
            assert_eq!(count_words(text), words, "{text}");
        }
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            sentences("I saw Dr. Li. He said no. Why?  \n\n- soup"),
            ["I saw Dr. Li.", "He said no.", "Why?", "- soup"]
        );
        assert_eq!(sentences("我住在柏林。你呢？"), ["我住在柏林。", "你呢？"]);
        assert_eq!(sentences("Version 3.5 is out! 🙂\n🙂"), ["Version 3.5 is out!", "🙂", "🙂"]);
        assert!(sentences(" \n\t").is_empty());
    }

    proptest! {
        #[test]
        fn sentences_are_pieces_of_the_text_in_order(text in "(\\PC|[.!?\n ]|Dr\\.|。){0,40}") {
            let mut rest = text.as_str();
            for sentence in sentences(&text) {
                let at = rest.find(sentence);
                prop_assert!(at.is_some() && !sentence.trim().is_empty(), "{sentence:?} in {text:?}");
                rest = &rest[at.unwrap_or(0) + sentence.len()..];
            }
            let letters = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
            prop_assert_eq!(sentences(&text).into_iter().map(letters).sum::<usize>(), letters(&text));
        }
    }
}
