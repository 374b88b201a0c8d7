//! What is told to be over in so many words: "no longer", "not … any more", «больше не».
//!
//! Any statement can be told to be over: where no row reads the words themselves, the clause is read without them, and the
//! text of the fact gets them back ("Works from home", "No longer works from home").

use super::{language::Language, token::Token};

/// The two words that say so.
const OVER: [(&str, &str); 2] = [("no", "longer"), ("больше", "не")];

/// Joins "any more" and "any longer" to the one word they are where no thing follows, as in "any more cake".
pub(super) fn join_adverbs(language: &Language, tokens: &mut Vec<Token>) {
    let words = &language.words;
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = std::mem::take(tokens).into_iter().peekable();
    while let Some(token) = rest.next() {
        let ends = |next: &Token| {
            let lists = [&words.joints, &words.stops, &words.subordinate, &words.hedges, &words.name_stops];
            !next.is_word() || lists.iter().any(|list| list.contains(next.word.as_str()))
        };
        let adverb = matches!(token.word.as_str(), "more" | "longer") && rest.peek().is_none_or(ends);
        match joined.last_mut().filter(|before| adverb && before.word == "any") {
            Some(before) => {
                "anymore".clone_into(&mut before.word);
                before.end = token.end;
            }
            None => joined.push(token),
        }
    }
    *tokens = joined;
}

/// The clause with "no longer" where it says so in other words: "I do not eat meat anymore".
pub(super) fn reworded(tokens: &[Token]) -> Option<Vec<Token>> {
    let place = |word: &str| tokens.iter().position(|token| token.word == word);
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let mut told = tokens.to_vec();
    if let Some(not) = place("not").filter(|not| place("anymore").is_some_and(|end| *not < end)) {
        let verb = not.checked_sub(1)?;
        match word(verb) {
            "do" => {}
            "does" => {
                let next = told.get_mut(not + 1)?;
                next.word = third_person(&next.word);
            }
            "am" | "is" | "are" | "'s" => {
                told.splice(not..=not, over(tokens.get(not)?, "no", "longer"));
                return Some(told);
            }
            _ => return None,
        }
        told.splice(verb..=not, over(tokens.get(not)?, "no", "longer"));
        return Some(told);
    }
    let not = place("не")?;
    if not > 0 && word(not - 1) == "уже" {
        "больше".clone_into(&mut told.get_mut(not - 1)?.word);
        return Some(told);
    }
    // «Не живу больше в Москве», but not «не пью больше двух чашек».
    let more = place("больше").filter(|more| *more > not + 1)?;
    if !matches!(word(more + 1), "" | "," | "в" | "во" | "на") || word(more + 2) == "чем" {
        return None;
    }
    told.remove(more);
    told.splice(not..=not, over(tokens.get(not)?, "больше", "не"));
    Some(told)
}

/// Two words where there was one.
fn over(token: &Token, first: &str, second: &str) -> [Token; 2] {
    [first, second].map(|word| Token { word: word.to_owned(), ..token.clone() })
}

/// "Works" of "work".
fn third_person(verb: &str) -> String {
    let consonant = |stem: &str| !stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match verb.strip_suffix('y').filter(|stem| consonant(stem)) {
        _ if verb == "have" => "has".to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if ["s", "sh", "ch", "x", "o"].iter().any(|ending| verb.ends_with(ending)) => format!("{verb}es"),
        None => format!("{verb}s"),
    }
}

/// Where a clause says that something is over.
fn place(tokens: &[Token]) -> Option<usize> {
    let says = |pair: &[Token]| match pair {
        [first, second] => OVER.contains(&(first.word.as_str(), second.word.as_str())),
        _ => false,
    };
    tokens.windows(2).position(says)
}

/// Whether the clause says that something is over.
pub(super) fn is_over(tokens: &[Token]) -> bool {
    place(tokens).is_some()
}

/// Whether only a part of it is.
pub(super) fn is_partly_over(language: &Language, tokens: &[Token]) -> bool {
    let next = place(tokens).and_then(|at| tokens.get(at + 2));
    next.is_some_and(|next| language.words.partly.contains(next.word.as_str()))
}

/// What the clause says is over.
pub(super) fn what_is_over(tokens: &[Token]) -> Option<Vec<Token>> {
    let at = place(tokens)?;
    let mut told = tokens.to_vec();
    told.drain(at..at + 2);
    (!is_over(&told)).then_some(told)
}

/// The text of a row where what it says is over; `None` of what is no state of affairs.
pub(super) fn text_when_over(text: &str) -> Option<String> {
    if ["not ", "o longer ", "не ", "Was ", " are ", "Does "].iter().any(|words| text.contains(words)) {
        return None;
    }
    if let Some(rest) = text.strip_prefix("Is ") {
        return Some(format!("Is no longer {rest}"));
    }
    if let Some((who, rest)) = text.split_once(" is ") {
        return Some(format!("{who} is no longer {rest}"));
    }
    let (who, says) = text.strip_prefix("{C} ").map_or(("", text), |says| ("{C} ", says));
    let verb = says.split(' ').next()?;
    if verb.starts_with('{') {
        return None;
    }
    let over = if verb.ends_with('s') {
        "no longer"
    } else if ["ёт", "ет", "ит"].iter().any(|ending| verb.ends_with(ending)) || says == verb {
        "больше не"
    } else {
        return None;
    };
    let mut letters = says.chars();
    let says = letters.next()?.to_lowercase().chain(letters).collect::<String>();
    let text = format!("{over} {says}");
    let mut letters = text.chars();
    let first = letters.next()?;
    Some(if who.is_empty() { first.to_uppercase().chain(letters).collect() } else { format!("{who}{text}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_that_it_is_over() {
        for (text, over) in [
            ("Works from home", Some("No longer works from home")),
            ("Is {c}", Some("Is no longer {c}")),
            ("{C} lives in {v}", Some("{C} no longer lives in {v}")),
            ("Favorite {w} is {v}", Some("Favorite {w} is no longer {v}")),
            ("Живёт в {v}", Some("Больше не живёт в {v}")),
            ("Замужем", Some("Больше не замужем")),
            ("Was born in {v}", None),
            ("Hobbies are {v}", None),
            ("Does not eat {v}", None),
            ("Moved to {v}{t}, lives there now", None),
            ("Есть {v}", None),
            ("{C}", None),
        ] {
            assert_eq!(text_when_over(text).as_deref(), over, "{text}");
        }
    }

    #[test]
    fn a_verb_has_its_third_person() {
        for (verb, third) in
            [("work", "works"), ("study", "studies"), ("play", "plays"), ("teach", "teaches"), ("have", "has")]
        {
            assert_eq!(third_person(verb), third);
        }
    }
}
