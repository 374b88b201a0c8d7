//! Cutting a text where the way to read it changes.
//!
//! The token table comes from an English model: its rows for single Chinese or Thai
//! letters mean nothing. Stretches in such scripts are told apart here so that they can
//! be given vectors of another kind.

/// How a stretch of text is turned into features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Words between spaces, split into pieces of the vocabulary.
    Pieces,
    /// Words between spaces in which marks carry vowels, so that none may be dropped.
    Marked,
    /// Scripts without spaces, or with short words glued together: pairs of characters.
    Pairs,
    /// Emoji and other pictures.
    Pictures,
}

fn reading(character: char) -> Reading {
    match u32::from(character) {
        // Devanagari to Sinhala, Tibetan, Ethiopic to Cherokee.
        0x0900..=0x0963 | 0x0966..=0x0dff | 0x0f00..=0x0fff | 0x1200..=0x13ff => Reading::Marked,
        // Thai, Lao; Myanmar; Khmer; Hangul letters; Kana to the unified ideographs;
        // Hangul; compatibility ideographs; narrow Kana; the supplementary ideographs.
        0x0e00..=0x0eff
        | 0x1000..=0x109f
        | 0x1100..=0x11ff
        | 0x1780..=0x17ff
        | 0x2e80..=0x2fdf
        | 0x3005..=0x3007
        | 0x3040..=0x30fa
        | 0x30fc..=0x9fff
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff
        | 0xf900..=0xfaff
        | 0xff66..=0xffdc
        | 0x1b000..=0x1b16f
        | 0x20000..=0x3ffff => Reading::Pairs,
        0x200d | 0x20e3 | 0x2190..=0x2bff | 0xfe0f | 0x1f000..=0x1faff => Reading::Pictures,
        _ => Reading::Pieces,
    }
}

/// Calls `visit` with each longest stretch of one reading, in order.
pub(crate) fn for_each_stretch<'text>(text: &'text str, mut visit: impl FnMut(Reading, &'text str)) {
    let mut rest = text;
    // Plain English text, the commonest of all, needs no look at each character.
    if !text.is_empty() && text.is_ascii() {
        visit(Reading::Pieces, text);
        rest = "";
    }
    while let Some(first) = rest.chars().next() {
        let kind = reading(first);
        let end =
            rest.char_indices().find(|&(_, character)| !belongs(kind, character)).map_or(rest.len(), |(end, _)| end);
        let (stretch, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        visit(kind, stretch);
        rest = after;
    }
}

fn belongs(kind: Reading, character: char) -> bool {
    let other = reading(character);
    // Joiners shape Indic and Thai letters, and combining voice marks follow Kana.
    let shapes = matches!(character, '\u{200b}'..='\u{200d}' | '\u{3099}' | '\u{309a}');
    other == kind || (shapes && kind != Reading::Pieces)
}

#[cfg(test)]
mod tests {
    use super::{Reading, for_each_stretch};

    fn stretches(text: &str) -> Vec<(Reading, &str)> {
        let mut all = Vec::new();
        for_each_stretch(text, |reading, stretch| all.push((reading, stretch)));
        all
    }

    #[test]
    fn stretches_follow_the_script() {
        use Reading::{Marked, Pairs, Pictures, Pieces};
        assert_eq!(stretches(""), []);
        assert_eq!(
            stretches("I love 東京タワー, yes😀"),
            [(Pieces, "I love "), (Pairs, "東京タワー"), (Pieces, ", yes"), (Pictures, "😀")]
        );
        assert_eq!(stretches("नमस्ते мир"), [(Marked, "नमस्ते"), (Pieces, " мир")]);
    }
}
