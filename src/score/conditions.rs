//! Whether a retelling keeps what a statement depends on: "likes coffee" is not what "likes coffee, but only before noon"
//! says.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    relatedness::covers,
    sameness::{negations, normalized, numbers_within},
};

/// Words that a condition or an exception begins with, in English, Russian, Spanish, German and French.
const OPENERS: &str = "
    if unless except only when whenever while until till without provided before after during
    если кроме только когда пока без перед после
    si salvo excepto solo sólo cuando mientras hasta sin
    wenn falls außer nur solange bis ohne sofern bevor nachdem
    sauf seulement quand lorsque sans pendant avant après
";

/// The same in Chinese and Japanese, where no space tells a word.
const UNSPACED: &[&str] = &["如果", "除非", "除了", "只有", "只在", "只要", "当", "もし", "だけ", "以外", "とき"];

/// Whether `retold` keeps every condition of `statement`, its numbers, and that it denies something if it does. By words:
/// each word of four letters or more that stands from the opener to the next comma or full stop is there, endings aside,
/// and so is some opener. A retelling in another language fails, and so do good ones in other words: it errs on the side of
/// the statement.
pub(crate) fn kept(statement: &str, retold: &str) -> bool {
    if negations(statement) > 0 && negations(retold) == 0 {
        return false;
    }
    if !numbers_within(statement, std::iter::once(retold)) {
        return false;
    }
    let clauses = clauses(statement);
    let said = words(retold);
    clauses.is_empty() || (opens(retold) && clauses.iter().all(|clause| is_there(clause, retold, &said)))
}

/// Whether a condition stands in a text of these words: by its long words, or if it has none ("if hot") by each of them but
/// the opener.
fn is_there(clause: &str, retold: &str, said: &[String]) -> bool {
    let has_long_words = covers(clause, clause);
    if has_long_words { covers(retold, clause) } else { words(clause).iter().skip(1).all(|word| said.contains(word)) }
}

/// The conditions of a statement, each from its opener on.
fn clauses(statement: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in normalized(statement).split([',', ';', '.', '!', '?', '，', '。', '；']) {
        let words: Vec<&str> = part.unicode_words().collect();
        match words.iter().position(|word| is_opener(word)) {
            Some(first) => found.push(words.get(first..).unwrap_or_default().join(" ")),
            None if UNSPACED.iter().any(|opener| part.contains(opener)) => found.push(part.to_owned()),
            None => {}
        }
    }
    found
}

fn opens(text: &str) -> bool {
    !clauses(text).is_empty()
}

fn is_opener(word: &str) -> bool {
    OPENERS.split_whitespace().any(|opener| opener == word)
}

fn words(text: &str) -> Vec<String> {
    normalized(text).unicode_words().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_noticed() {
        for (statement, good, bad) in [
            (
                "Drinks coffee, but only before noon",
                "Drinks tea, and coffee only before noon.",
                "Drinks tea and coffee.",
            ),
            ("Eats fish if it is cooked", "Eats meat, and fish if cooked through", "Eats meat and fish"),
            ("Runs unless it is hot", "Runs and swims unless hot is it", "Runs and swims"),
            ("Пьёт кофе только утром", "Пьёт чай, а кофе только утром", "Пьёт чай и кофе"),
            ("Trinkt Kaffee, außer abends", "Trinkt Tee und Kaffee, außer abends", "Trinkt Tee und Kaffee"),
            ("Come pescado salvo los lunes", "Come carne y pescado, salvo los lunes", "Come carne y pescado"),
            ("如果下雨就开车", "骑车，如果下雨就开车", "骑车和开车"),
            ("Does not eat pork", "Eats beef and not pork", "Eats beef and pork"),
            ("Takes 20 mg daily", "Takes 20 mg of it daily", "Takes it daily"),
        ] {
            assert!(kept(statement, good), "{statement} / {good}");
            assert!(!kept(statement, bad), "{statement} / {bad}");
        }
        assert!(kept("Likes tea", "Likes all hot drinks"));
    }
}
