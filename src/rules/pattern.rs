//! Patterns over the words of a clause.

use super::{
    language::Language,
    token::{Shape, Token},
};

/// Longest run of filler words before a word of a pattern.
const MOST_FILLERS: usize = 3;

/// Longest value that has pattern words after it.
const LONGEST_INNER: usize = 6;

/// Marks that belong to the word before them, so that it is no end ("100 %").
pub(super) const MEASURES: [&str; 8] = ["%", "$", "€", "£", "°", "/", "\"", "'"];

#[derive(Debug)]
enum Element {
    Words {
        any: Vec<&'static str>,
        optional: bool,
    },
    Class {
        name: &'static str,
        optional: bool,
    },
    /// `{v}` (0) or `{w}` (1).
    Value(usize),
    End,
}

/// A compiled pattern; see [`Row`](super::row::Row) for how it is written.
#[derive(Debug)]
pub(super) struct Pattern {
    elements: Vec<Element>,
}

/// The words of a clause: some that are understood, then those that are there.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// Understood from the clause before.
    pub(super) prefix: &'a [&'a str],
    /// There in the text.
    pub(super) tokens: &'a [Token],
}

impl<'a> View<'a> {
    pub(super) fn word(&self, at: usize) -> Option<&'a str> {
        match self.prefix.get(at) {
            Some(word) => Some(word),
            None => self.token(at).map(|token| token.word.as_str()),
        }
    }

    pub(super) fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at.checked_sub(self.prefix.len())?)
    }

    pub(super) const fn len(&self) -> usize {
        self.prefix.len() + self.tokens.len()
    }
}

/// What a pattern found: places in its view.
#[derive(Debug, Default, Clone)]
pub(super) struct Found {
    /// Where each value begins, and where it ends if the pattern says so.
    pub(super) values: [Option<(usize, Option<usize>)>; 2],
    /// The words of the first list and of the second, and their keys.
    pub(super) classes: [Option<(usize, usize, String)>; 2],
    /// The relative that is called by name, if one is ("my sister Ann").
    pub(super) named: Option<Named>,
    /// Where the pattern ends; meant for patterns that end in a word.
    pub(super) end: usize,
}

/// A relative with the name that stands behind what they are.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// What they are, without the name.
    pub(super) role: String,
    /// Where the name stands.
    pub(super) at: usize,
}

impl Pattern {
    pub(super) fn new(text: &'static str) -> Self {
        let elements = text.split_whitespace().map(|part| match part {
            "{v}" => Element::Value(0),
            "{w}" => Element::Value(1),
            "$" => Element::End,
            _ => {
                let (part, optional) = part.strip_suffix('?').map_or((part, false), |part| (part, true));
                match part.strip_prefix('@') {
                    Some(name) => Element::Class { name, optional },
                    None => Element::Words { any: part.split('|').collect(), optional },
                }
            }
        });
        Self { elements: elements.collect() }
    }

    /// Whether the pattern can match something that begins with `word`: a cheap test before the real one.
    pub(super) fn may_begin(&self, word: &str) -> bool {
        for element in &self.elements {
            match element {
                Element::Words { any, .. } if any.contains(&word) => return true,
                Element::Words { optional: true, .. } => {}
                Element::Words { .. } => return false,
                _ => return true,
            }
        }
        true
    }

    /// Matches from the beginning of the view.
    pub(super) fn find(&self, language: &Language, view: View<'_>) -> Option<Found> {
        step(&self.elements, language, view, 0, true, Found::default())
    }
}

fn step(
    elements: &[Element],
    language: &Language,
    view: View<'_>,
    at: usize,
    first: bool,
    found: Found,
) -> Option<Found> {
    let Some((element, rest)) = elements.split_first() else { return Some(Found { end: at, ..found }) };
    match element {
        Element::Value(which) => step_value(*which, rest, language, view, at, found),
        Element::End => {
            // Adverbs may trail behind the end ("I'm vegan now").
            let end = (at..view.len()).find(|&at| !view.word(at).is_some_and(|word| trails(language, word)));
            let done = end.is_none_or(|end| {
                view.token(end).is_some_and(|token| !token.is_word() && !MEASURES.contains(&token.word.as_str()))
            });
            done.then_some(Found { end: end.unwrap_or(view.len()), ..found })
        }
        Element::Words { optional: true, .. } | Element::Class { optional: true, .. } => {
            take(element, rest, language, view, at, first, found.clone())
                .or_else(|| step(rest, language, view, at, first, found))
        }
        _ => take(element, rest, language, view, at, first, found),
    }
}

pub(super) fn trails(language: &Language, word: &str) -> bool {
    language.words.trailing.iter().any(|phrase| phrase.as_slice() == [word])
}

/// Takes one word or one word of a list, after at most some fillers.
fn take(
    element: &Element,
    rest: &[Element],
    language: &Language,
    view: View<'_>,
    at: usize,
    first: bool,
    mut found: Found,
) -> Option<Found> {
    let furthest = if first { at } else { at + MOST_FILLERS };
    for here in at..=furthest {
        let word = view.word(here)?;
        match element {
            Element::Words { any, .. } if any.contains(&word) => {
                return step(rest, language, view, here + 1, false, found);
            }
            Element::Class { name, .. } => {
                if let Some((end, key, named)) = class(language, name, view, here) {
                    found.named = found.named.or(named);
                    if let Some(class) = found.classes.iter_mut().find(|class| class.is_none()) {
                        *class = Some((here, end, key));
                    }
                    return step(rest, language, view, end, false, found);
                }
            }
            _ => {}
        }
        if !language.words.fillers.contains(word) {
            return None;
        }
    }
    None
}

fn step_value(
    which: usize,
    rest: &[Element],
    language: &Language,
    view: View<'_>,
    at: usize,
    mut found: Found,
) -> Option<Found> {
    let mut set = |end: Option<usize>| {
        if let Some(value) = found.values.get_mut(which) {
            *value = Some((at, end));
        }
        found.clone()
    };
    if rest.is_empty() {
        return view.token(at).map(|_| set(None));
    }
    for end in at + 1..=(at + LONGEST_INNER).min(view.len()) {
        if !view.token(end - 1).is_some_and(|token| token.is_word() || token.is(",")) {
            return None;
        }
        if let Some(found) = step(rest, language, view, end, true, set(Some(end))) {
            return Some(found);
        }
    }
    None
}

/// The end and key of a word of the list at `at`. A relative may come with modifiers and a name ("older sister Ann"),
/// which comes apart, too.
fn class(language: &Language, name: &str, view: View<'_>, at: usize) -> Option<(usize, String, Option<Named>)> {
    let mut named = None;
    let mut key = String::new();
    let mut here = at;
    if name == "rel" {
        while let Some(word) = view.word(here).and_then(|word| language.class_key("kin-modifier", word)) {
            key.push_str(word);
            key.push(' ');
            here += 1;
        }
    }
    key.push_str(language.class_key(name, view.word(here)?)?);
    here += 1;
    if name == "rel"
        && let Some(token) = view.token(here)
        && is_given_name(language, token)
    {
        named = Some(Named { role: key.clone(), at: here });
        // A husband is one, with his name or without.
        if language.class_key("only-one", &key).is_none() {
            key.push(' ');
            key.push_str(&token.word);
        }
        here += 1;
    }
    Some((here, key, named))
}

/// Whether the word may be the name of someone just spoken of ("my sister Ann").
pub(super) fn is_given_name(language: &Language, token: &Token) -> bool {
    let word = token.word.as_str();
    let words = &language.words;
    let no_name = words.no_names.contains(word)
        || words.subjects.contains(word)
        || words.pointers.contains(word)
        || language.calendar.is_month(word)
        || language.calendar.is_loose(word);
    token.shape == Shape::Capital && !no_name
}
