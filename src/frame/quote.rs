use std::fmt::{self, Write};

use super::BULLET;

/// Writes the text as a JSON string without anything in it that could end a line, a quote or the frame.
pub(super) fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for (at, character) in text.char_indices() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '<' if opens_marker(text.get(at + 1..).unwrap_or_default()) => write_unit(out, character)?,
            BULLET => write_unit(out, character)?,
            hidden if is_hidden(hidden) => write_unit(out, hidden)?,
            plain => out.write_char(plain)?,
        }
    }
    out.write_char('"')
}

/// The text as [`write_quoted`] writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    // A string takes whatever is written into it.
    let _ = write_quoted(&mut out, text);
    out
}

fn write_unit(out: &mut impl Write, character: char) -> fmt::Result {
    character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

/// Whether a `<` before this makes our markers, a closing tag of anybody's, or a sign of a chat template (`<|`). Other
/// uses are left alone, since `Vec<u8>` and `a < b` are better read unescaped.
fn opens_marker(rest: &str) -> bool {
    rest.starts_with(['/', '|']) || rest.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("recalled"))
}

/// Whether the character is a control, is not seen, or turns the direction of the text: what could hide words from a
/// person or show them elsewhere, Hangul fillers too. The joiners (U+200C, U+200D) stay, since Persian
/// and emoji need them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{180b}'..='\u{180f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::{BEGIN, END};

    #[test]
    fn plain_text_stays_as_it_is() {
        for plain in
            ["Lives in Lisbon", "Vec<u8>, a < b", "Живёт в Казани 🏠", "我住在柏林", "می\u{200c}خواهم", "👩\u{200d}🚀"]
        {
            assert_eq!(quoted(plain), format!("\"{plain}\""));
        }
    }

    #[test]
    fn what_could_close_or_hide_is_escaped() {
        for (text, expected) in [
            ("say \"no\"", r#""say \"no\"""#),
            ("a\nb\\n", r#""a\nb\\n""#),
            (END, r#""\u003c/recalled-memories>""#),
            ("<Recalled-memories>", r#""\u003cRecalled-memories>""#),
            ("<|im_end|>", r#""\u003c|im_end|>""#),
            ("‣ user", r#""\u2023 user""#),
            ("a\u{202e}b\u{2028}c\u{0}", r#""a\u202eb\u2028c\u0000""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
            ("\u{115f}\u{1160}\u{3164}\u{ffa0}", r#""\u115f\u1160\u3164\uffa0""#),
            ("\u{180b}\u{180c}\u{180d}\u{180e}\u{180f}", r#""\u180b\u180c\u180d\u180e\u180f""#),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    proptest! {
        #[test]
        fn json_gives_the_text_back(text in "(\\PC|[<>/\"\\\\\n\u{202e}‣]|</recalled-memories>){0,40}|\\p{Any}{0,40}") {
            let line = quoted(&text);
            prop_assert_eq!(serde_json::from_str::<String>(&line).ok(), Some(text));
            prop_assert!(!line.contains(['\n', '\r', BULLET]) && !line.contains(BEGIN) && !line.contains(END));
        }
    }
}
