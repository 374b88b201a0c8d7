//! Splitting a text into the words a lower-casing BERT tokenizer sees.

use unicode_normalization::UnicodeNormalization;

use super::unicode_classes::{MARKS, PUNCTUATION, REMOVED, contains};

/// Calls `visit` with each word of `text`: lower-cased, without accents, and with every
/// punctuation mark and every Chinese character as a word of its own.
pub fn for_each_word(text: &str, mut visit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut one = [0; 4];
    let mut take = |character: char| {
        let alone = stands_alone(character);
        if alone || character.is_whitespace() {
            if !word.is_empty() {
                visit(&word);
                word.clear();
            }
            if alone {
                visit(character.encode_utf8(&mut one));
            }
        } else {
            word.push(character);
        }
    };
    if text.is_ascii() {
        text.chars().filter_map(clean).map(|character| character.to_ascii_lowercase()).for_each(&mut take);
    } else {
        text.chars()
            .filter_map(clean)
            .nfd()
            .filter(|&character| character.is_ascii() || !contains(MARKS, character))
            .flat_map(char::to_lowercase)
            .for_each(&mut take);
    }
    take(' ');
}

fn clean(character: char) -> Option<char> {
    match character {
        ' '..='~' => Some(character),
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        _ if contains(REMOVED, character) => None,
        _ if character.is_whitespace() => Some(' '),
        _ => Some(character),
    }
}

fn stands_alone(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_punctuation()
    } else {
        is_ideograph(character) || contains(PUNCTUATION, character)
    }
}

/// Whether a character is in one of the blocks the model was trained to take apart.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}'
        | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::for_each_word;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn case_accents_and_marks_fold() {
        assert_eq!(words("Café  NAÏVE\tÉcole"), ["cafe", "naive", "ecole"]);
        assert_eq!(words("don't"), ["don", "'", "t"]);
        assert_eq!(words("zero\u{200b}width\u{0}"), ["zerowidth"]);
    }

    #[test]
    fn ideographs_and_punctuation_stand_alone() {
        assert_eq!(words("我爱rust。"), ["我", "爱", "rust", "。"]);
        assert_eq!(words(" \n\t"), Vec::<String>::new());
    }
}
