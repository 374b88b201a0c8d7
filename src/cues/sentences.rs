/// The share of the letters and digits of a text that stand in sentences with a question mark, 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "a share of lengths")]
pub(super) fn share_of_questions(text: &str) -> f32 {
    let (mut all, mut asked, mut sentence) = (0_usize, 0, 0);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_alphanumeric() {
            sentence += 1;
            continue;
        }
        let wide = matches!(character, '。' | '！' | '？' | '؟' | '\n');
        let mark = matches!(character, '.' | '!' | '?' | '…');
        // `3.5` and `a.com/?b` go on; `"why?"` does not.
        let ends = wide || (mark && characters.peek().is_none_or(|next| !next.is_alphanumeric()));
        if ends {
            all += sentence;
            if matches!(character, '?' | '？' | '؟') {
                asked += sentence;
            }
            sentence = 0;
        }
    }
    all += sentence;
    if all == 0 { 0.0 } else { asked as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::share_of_questions;

    #[test]
    fn questions_are_told_by_their_marks() {
        for (text, share) in [
            ("", 0.0),
            ("?", 0.0),
            ("Really?", 1.0),
            ("Nice. Where?", 5.0 / 9.0),
            ("Where? Nice", 5.0 / 9.0),
            ("It is 3.5, see a.com/?b", 0.0),
            ("¿Dónde vives? Aquí.", 10.0 / 14.0),
            ("你住在哪里？", 1.0),
            ("أين تسكن؟", 1.0),
            ("What?! No!", 4.0 / 6.0),
            ("line one\nreally?", 6.0 / 13.0),
        ] {
            assert!((share_of_questions(text) - share).abs() < 1e-6, "{text}: {}", share_of_questions(text));
        }
    }
}
