//! Whether a value is one of its kind.

use std::collections::HashSet;

use super::{
    language::Language,
    pattern::{View, is_given_name},
    row::Value,
    token::{Shape, Token},
    value::{Cut, narrows},
};

/// Lists of what one may be besides a name ("Hi, I'm Diabetic").
const INTRODUCED: [&str; 5] = ["diet", "status", "workless", "condition", "hand"];

/// Whether what was cut is a value of the kind.
pub(super) fn fits(language: &Language, view: View<'_>, cut: &Cut, kind: Value) -> bool {
    let tokens: Vec<&Token> = (cut.start..cut.end).filter_map(|at| view.token(at)).collect();
    let Some((&first, others)) = tokens.split_first() else { return false };
    let words = &language.words;
    let has = |set: &HashSet<&str>, token: &Token| set.contains(token.word.as_str());
    let shouted = view.tokens.iter().all(|token| token.shape != Shape::Lower);
    let points = |at: usize| {
        let relative = kind == Value::Thing && at + 1 < cut.end && narrows(language, view, at);
        // "US" and "IT" are no pronouns, unless all is in capitals.
        let acronym = view.token(at).is_some_and(|token| {
            token.shape == Shape::Capital && matches!(token.word.as_str(), "us" | "it") && !shouted
        });
        !relative && !acronym && view.token(at).is_some_and(|token| has(&words.pointers, token))
    };
    if (cut.start..cut.end).any(points) || has(&words.joints, first) {
        return false;
    }
    let article = has(&words.articles, first);
    let bare = if article { others } else { tokens.as_slice() };
    let vague = bare.len() == 1 && bare.iter().all(|token| has(&words.vague, token));
    let bad_start = has(&words.bad_starts, first);
    let named = bare.first().is_some_and(|token| token.shape == Shape::Capital);
    // Names only, with the small words that hold them together.
    let name =
        named && bare.iter().all(|token| token.shape != Shape::Lower || token.is("&") || has(&words.name_links, token));
    // Some people type no capitals at all.
    let uncapitalised = |from: usize| {
        let rest = view.tokens.get(from..).unwrap_or_default();
        rest.iter().all(|token| token.shape != Shape::Capital || token.word == "i")
            && tokens.len() == 1
            && first.shape == Shape::Lower
            && first.word.chars().count() > 2
    };
    let lower_case = uncapitalised(0) && view.tokens.iter().all(|token| token.shape != Shape::Capital);
    let clean = !vague && !bad_start;
    // "I'm Alice from Porto", but not "I'm Looking for help".
    let closed = view
        .token(cut.rest)
        .is_none_or(|next| !next.is_word() || next.word == "from" || next.word == "из" || has(&words.joints, next));
    // "I moved to Git", "I moved to Python 3".
    let placed = !tokens
        .iter()
        .any(|token| has(&words.no_places, token) || token.shape == Shape::Number || token.word.contains(['+', '#']));
    // "I work at night", "я работаю в пятницу".
    let timed = bare.first().is_some_and(|token| language.calendar.begins(&token.word));
    // "I work at dawn", but "at Dawn Foods"; where there are no articles, places with capitals are in the list too.
    let listed =
        |token: &Token| has(&words.no_employers, token) && (token.shape != Shape::Capital || words.articles.is_empty());
    match kind {
        Value::None | Value::Given => true,
        Value::Person => {
            let count = tokens.len();
            !vague
                && ((named && !article && name && count <= 4) || (uncapitalised(0) && clean && cut.rest == view.len()))
        }
        Value::Introduced if INTRODUCED.iter().any(|class| in_class(language, first, class)) => false,
        Value::Introduced if has(&words.occupations, first) => false,
        Value::Introduced => closed && name && tokens.len() <= 3 && !has(&words.no_names, first) && clean,
        Value::Company => tokens.len() == 1 && in_class(language, first, "company") && closed,
        Value::Names => {
            tokens.iter().any(|token| has(&words.joints, token))
                && tokens
                    .iter()
                    .all(|token| token.is(",") || has(&words.joints, token) || is_given_name(language, token))
        }
        // "I was born in May", but "I moved to New York".
        Value::Place => {
            let single = tokens.len() == 1;
            clean && (name || lower_case) && !(single && (timed || has(&words.no_names, first))) && placed
        }
        Value::Dwelling => clean && (name || lower_case || (article && bare.len() > 1 && bare.len() <= 8)) && placed,
        Value::Named => clean && name && !has(&words.no_employers, first),
        Value::Organisation => {
            clean
                && !timed
                && !bare.first().is_some_and(|first| listed(first) || first.word.starts_with("www."))
                && (name || uncapitalised(1) || (article && !bare.is_empty() && bare.len() <= 6))
        }
        Value::Thing => clean && cut.when.is_none() && tokens.len() <= 16 && (!is_the(first) || named),
        Value::Doing => clean && tokens.len() > 1 && first.shape == Shape::Lower,
        Value::Ambition => clean && tokens.len() > 1 && has(&words.ambitions, first),
        Value::Venture => clean && tokens.len() <= 12,
        Value::Sort => !bad_start && !has(&words.passing, first) && tokens.len() <= 3,
        Value::Word => clean && cut.when.is_none() && tokens.len() <= 3,
        Value::Pastime => all_of(language, &tokens, &["pastime"], &["pastime"]),
        Value::Languages => all_of(language, &tokens, &["lang", "lang-quality"], &["lang"]),
        Value::Ailments => {
            !tokens.iter().any(|token| token.word == "or")
                && all_of(language, &tokens, &["disease", "disease-word"], &["disease"])
        }
        Value::Kin => all_of(language, &tokens, &["kin", "rel", "number", "kin-modifier"], &["kin", "rel"]),
        Value::Animals => {
            let last =
                tokens.last().is_some_and(|last| in_class(language, last, "pet") || in_class(language, last, "pets"));
            let counted = article || words.articles.is_empty() || in_class(language, first, "number");
            last && counted && !bad_start && tokens.len() <= 6 && tokens.iter().all(|token| describes(language, token))
        }
        Value::Occupation => (article || words.articles.is_empty()) && is_occupation(language, &tokens),
        Value::Date => {
            tokens.iter().any(|token| token.shape == Shape::Number)
                && tokens.iter().all(|token| {
                    token.shape == Shape::Number
                        || token.is(",")
                        || language.calendar.is_month(&token.word)
                        || ["the", "of", "года", "г"].contains(&token.word.as_str())
                })
        }
        Value::Digits => {
            let digits = tokens.iter().flat_map(|token| token.word.chars()).filter(char::is_ascii_digit).count();
            (5..=15).contains(&digits) && tokens.iter().all(|token| token.shape == Shape::Number || !token.is_word())
        }
        Value::Called => {
            let described =
                has(&words.no_names, first) || has(&words.subjects, first) || in_class(language, first, "company");
            let described =
                described || in_class(language, first, "rel") || tokens.iter().any(|token| has(&words.joints, token));
            clean && name && !article && !described && !timed && placed && !shouted && tokens.len() <= 4
        }
        Value::Missed => name && tokens.len() == 1,
        Value::Medicine => clean && !article && tokens.len() <= 3 && tokens.iter().all(|token| token.is_word()),
        Value::Amount => {
            let unit = first.word.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
            let unit = if unit.is_empty() { view.word(cut.end).unwrap_or_default() } else { unit };
            first.shape == Shape::Number && tokens.len() == 1 && language.class_key("dose", unit).is_some()
        }
        Value::Age => {
            tokens.len() == 1 && language.calendar.number(&first.word).is_some_and(|age| (3..=115).contains(&age))
        }
    }
}

/// Whether the word may stand in a description of pets ("two black cats"): where adjectives have endings, only those.
fn describes(language: &Language, token: &Token) -> bool {
    let words = &language.words;
    let known = words.joints.contains(token.word.as_str())
        || ["pet", "pets", "number"].iter().any(|class| in_class(language, token, class));
    let endings = &words.modifier_endings;
    let odd = words.name_stops.contains(token.word.as_str()) || in_class(language, token, "no-pet");
    token.is_word()
        && !odd
        && (known || endings.is_empty() || endings.iter().any(|ending| token.word.ends_with(ending)))
}

fn in_class(language: &Language, token: &Token, class: &str) -> bool {
    language.class_key(class, &token.word).is_some()
}

/// Whether every token is of one of the lists, an article or a joint, and at least one of the lists that matter.
fn all_of(language: &Language, tokens: &[&Token], lists: &[&str], matter: &[&str]) -> bool {
    let words = &language.words;
    let listed = |token: &Token, lists: &[&str]| lists.iter().any(|list| in_class(language, token, list));
    tokens.iter().any(|token| listed(token, matter))
        && tokens.iter().all(|token| {
            let word = token.word.as_str();
            token.is(",") || words.articles.contains(word) || words.joints.contains(word) || listed(token, lists)
        })
}

fn is_the(token: &Token) -> bool {
    token.word == "the"
}

/// Whether the last word is an occupation, or one stands before "of" ("head of sales").
fn is_occupation(language: &Language, tokens: &[&Token]) -> bool {
    let Some((last, modifiers)) = tokens.split_last() else { return false };
    let words = &language.words;
    let known = words.occupations.contains(last.word.as_str())
        || words
            .occupation_endings
            .iter()
            .any(|ending| last.word.strip_suffix(ending).is_some_and(|stem| stem.chars().count() > 2));
    known
        && tokens.len() <= 5
        && last.shape != Shape::Number
        && modifiers.iter().all(|token| token.is_word() && !words.joints.contains(token.word.as_str()))
        && !modifiers.iter().any(|token| words.bad_starts.contains(token.word.as_str()))
}
