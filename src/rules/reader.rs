//! From clauses to facts.

use std::collections::HashSet;

use super::{
    language::{Language, Row, Value},
    pattern::{Found, Pattern, View},
    token::Token,
    topic::Topic,
    value::{Cut, cut},
    when::Wording,
};
use crate::{Fact, Timestamp, score::sameness::normalized};

/// How often the rest of a clause is read again ("I work as a nurse at the clinic" is two facts).
const MOST_CONTINUATIONS: usize = 3;

/// Longest value, in tokens, that names a slot.
const LONGEST_KEY: usize = 5;

/// Gathers the facts of one message.
pub(super) struct Reader<'a> {
    language: &'static Language,
    text: &'a str,
    index: usize,
    at: Timestamp,
    speaker: Option<&'a str>,
    pub(super) facts: Vec<Fact>,
    /// Of the facts so far: a thing said twice is one.
    texts: HashSet<String>,
}

/// What a row made of a clause.
struct Reading<'v> {
    fact: Fact,
    /// The tokens it took.
    end: usize,
    /// What is left to read.
    rest: Option<View<'v>>,
}

impl<'a> Reader<'a> {
    /// For message number `index`, said at `at`.
    pub(super) fn new(
        language: &'static Language,
        text: &'a str,
        index: usize,
        at: Timestamp,
        speaker: Option<&'a str>,
    ) -> Self {
        Self { language, text, index, at, speaker, facts: Vec::new(), texts: HashSet::new() }
    }

    /// Reads one clause: the statement it makes, then what it mentions.
    pub(super) fn clause(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        self.statement(tokens, understood, greeted);
        if tokens.iter().any(|token| self.language.words.losses.contains(token.word.as_str())) {
            return;
        }
        for at in 0..tokens.len() {
            let mention = tokens.get(at..).unwrap_or_default();
            if let Some(Reading { fact, end, .. }) =
                self.fact(&self.language.mentions, View { prefix: &[], tokens: mention }, false)
            {
                self.add(fact, quote(self.text, mention.get(..end).unwrap_or(mention)));
            }
        }
    }

    /// Tries each of the beginnings that may be understood, until one says something.
    fn statement(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        let quote = quote(self.text, tokens);
        let bare: [&[&str]; 1] = [&[]];
        for prefix in bare.iter().chain(understood) {
            let Some(mut reading) = self.fact(&self.language.rows, View { prefix, tokens }, greeted) else { continue };
            for _ in 0..MOST_CONTINUATIONS {
                self.add(reading.fact, quote);
                let Some(next) = reading.rest.and_then(|view| self.fact(&self.language.rows, view, false)) else {
                    return;
                };
                reading = next;
            }
            return;
        }
    }

    fn add(&mut self, mut fact: Fact, quote: Option<&str>) {
        if !self.texts.insert(fact.text.clone()) {
            return;
        }
        fact.quote = quote.map(str::to_owned);
        fact.speaker = self.speaker.map(str::to_owned);
        self.facts.push(fact);
    }

    /// What the first row that fits makes of the view.
    fn fact<'v>(&self, rows: &[(Pattern, &'static Row)], view: View<'v>, greeted: bool) -> Option<Reading<'v>> {
        let first = view.word(0)?;
        let language = self.language;
        rows.iter().filter(|(pattern, _)| pattern.may_begin(first)).find_map(|(pattern, row)| {
            if row.value == Value::Introduced && !greeted {
                return None;
            }
            let found = pattern.find(language, view)?;
            let value = match found.values[0] {
                Some(place) => Some(cut(language, view, place, row.value, row.resume, self.at)?),
                None => None,
            };
            let second = match found.values[1] {
                Some(place) => {
                    // "Prefers tea to coffee", but not "prefers notes to stay focused".
                    let alone = row.value == Value::Word && place.1.is_none();
                    let kind = if row.slot.contains("favorite") { Value::Sort } else { Value::Thing };
                    let second = cut(language, view, place, kind, &[], self.at)?;
                    if alone && second.end - second.start > 1 {
                        return None;
                    }
                    Some(second)
                }
                None => None,
            };
            let fact = self.filled(row, view, &found, value.as_ref(), second.as_ref())?;
            let end = value.as_ref().map_or(view.len(), |value| value.rest).saturating_sub(view.prefix.len());
            let rest = value.and_then(|value| {
                let stop = view.word(value.rest)?;
                let (_, beginning) = row.resume.iter().find(|(word, _)| *word == stop)?;
                let from = (value.rest + 1).checked_sub(view.prefix.len())?;
                Some(View { prefix: beginning, tokens: view.tokens.get(from..)? })
            });
            Some(Reading { fact, end, rest })
        })
    }

    fn filled(
        &self,
        row: &Row,
        view: View<'_>,
        found: &Found,
        value: Option<&Cut>,
        second: Option<&Cut>,
    ) -> Option<Fact> {
        let slice = |from: usize, to: usize| {
            let first = view.token(from)?;
            let last = view.token(to.checked_sub(1)?)?;
            self.text.get(first.start..last.end)
        };
        let v = value.and_then(|cut| slice(cut.start, cut.end)).unwrap_or_default();
        let w = second.and_then(|cut| slice(cut.start, cut.end)).unwrap_or_default();
        let (class, key) = match &found.class {
            Some((from, to, key)) => (slice(*from, *to)?, key.as_str()),
            None => ("", ""),
        };
        let when = value.and_then(|cut| {
            Some((cut.when.as_ref()?, slice(cut.rest.checked_sub(cut.when.as_ref()?.len)?, cut.rest)?))
        });
        let time = match when {
            Some((when, raw)) => match &when.wording {
                Wording::AsIs => format!(" {raw}"),
                Wording::Instead(text) => format!(" {text}"),
                Wording::Dropped | Wording::Habit => String::new(),
            },
            None => String::new(),
        };
        let text = row
            .text
            .replace("{C}", &capitalised(class))
            .replace("{c}", class)
            .replace("{t}", &time)
            .replace("{w}", w)
            .replace("{v}", v);
        let mut fact = Fact::new(text, self.index)
            .with_kind(row.topic.kind())
            .with_category(row.topic.category())
            .with_importance(row.topic.importance());
        // A description ("a small town") does not say that the place by name is no longer right.
        let described = row.value == Value::Dwelling && slice(value?.start, value?.end)?.starts_with("a ");
        // A mother is one, sisters may be several, and then a second name replaces nothing.
        let shared = row.slot == "{k}.name" && self.language.class_key("only-one", key).is_none();
        // What takes a sentence to say is never said again in the same words.
        let wordy = row.slot.contains("{v}") && value.is_some_and(|cut| cut.end - cut.start > LONGEST_KEY);
        if !row.slot.is_empty() && !described && !shared && !wordy {
            let thing = |cut: Option<&Cut>| cut.map(|cut| self.key(view, cut)).unwrap_or_default();
            let slot = row.slot.replace("{k}", key).replace("{v}", &thing(value)).replace("{w}", &thing(second));
            fact = fact.with_slot(slot);
        }
        if row.topic != Topic::Plans {
            fact.valid_at = when.and_then(|(when, _)| when.from).filter(|from| *from <= self.at);
        }
        Some(fact)
    }

    /// A value as slots spell it: folded, without an article.
    fn key(&self, view: View<'_>, cut: &Cut) -> String {
        let mut key = String::new();
        for at in cut.start..cut.end {
            let Some(token) = view.token(at) else { continue };
            if key.is_empty() && self.language.words.articles.contains(token.word.as_str()) {
                continue;
            }
            if !key.is_empty() && !token.is(",") {
                key.push(' ');
            }
            key.push_str(&token.word);
        }
        normalized(&key)
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The words of a clause as they stand in the message.
fn quote<'t>(text: &'t str, tokens: &[Token]) -> Option<&'t str> {
    let (first, last) = tokens.first().zip(tokens.last())?;
    text.get(first.start..last.end)
}
