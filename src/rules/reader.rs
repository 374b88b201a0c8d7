//! From clauses to facts.

use std::collections::HashSet;

use super::{
    clause::clauses,
    ended::{is_over, is_partly_over, reworded, text_when_over, what_is_over},
    filling::Filling,
    language::Language,
    pattern::{Found, Pattern, View},
    row::{Row, Value},
    tail::{after, limited, names_software},
    token::Token,
    value::cut,
};
use crate::{Fact, Timestamp};

/// How often the rest of a clause is read again ("I work as a nurse at the clinic" is two facts).
const MOST_CONTINUATIONS: usize = 3;

/// Gathers the facts of one message.
pub(super) struct Reader<'a> {
    pub(super) language: &'static Language,
    pub(super) text: &'a str,
    pub(super) index: usize,
    pub(super) at: Timestamp,
    pub(super) speaker: Option<&'a str>,
    pub(super) facts: Vec<Fact>,
    /// Of the facts so far: a thing said twice is one.
    texts: HashSet<String>,
}

/// What a row made of a clause.
struct Reading<'v> {
    facts: Vec<Fact>,
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

    /// Reads the clauses of a sentence.
    pub(super) fn sentence(&mut self, tokens: &[Token], asks: bool, greeted: bool) {
        for clause in clauses(self.language, tokens, asks) {
            if let Some(tokens) = tokens.get(clause.tokens) {
                self.clause(tokens, clause.understood, greeted);
            }
        }
    }

    /// Takes what the sentence says for over: what it says is to be forgotten.
    pub(super) fn forget(&mut self, tokens: &[Token]) {
        // "Forget that I'm vegan, recommend a steakhouse" is for this once.
        let last = tokens.iter().rposition(Token::is_word).map_or(0, |last| last + 1);
        let joined = |token: &Token| !token.is_word() || self.language.words.joints.contains(token.word.as_str());
        if tokens.get(..last).is_none_or(|words| words.iter().any(joined)) {
            return;
        }
        for clause in clauses(self.language, tokens, false) {
            let Some(tokens) = tokens.get(clause.tokens) else { continue };
            let views = beginnings(clause.understood).map(|prefix| View { prefix, tokens });
            let over = views.filter_map(|view| self.read(&self.language.rows, view, false, true)).next();
            let facts = over.map(|reading| reading.facts).unwrap_or_default();
            self.add(facts.into_iter().map(Fact::ending_only).collect(), quote(self.text, tokens));
        }
    }

    /// The facts of a sentence that stands for itself.
    pub(super) fn apart(&self, tokens: &[Token], greeted: bool) -> Vec<Fact> {
        let mut reader = Self::new(self.language, self.text, self.index, self.at, self.speaker);
        reader.sentence(tokens, false, greeted);
        reader.facts
    }

    /// Reads one clause: the statement it makes, then what it mentions.
    fn clause(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        self.statement(tokens, understood, greeted);
        if tokens.iter().any(|token| self.language.words.losses.contains(token.word.as_str())) {
            return;
        }
        for at in 0..tokens.len() {
            let mention = tokens.get(at..).unwrap_or_default();
            if let Some(Reading { facts, end, .. }) =
                self.facts(&self.language.mentions, View { prefix: &[], tokens: mention }, false)
            {
                // "I no longer have my dog Rex": what the clause says of him is more than that he was named.
                let told = |fact: &Fact| fact.slot.is_some() && self.facts.iter().any(|said| said.slot == fact.slot);
                let facts = facts.into_iter().filter(|fact| !told(fact)).collect();
                self.add(facts, quote(self.text, mention.get(..end).unwrap_or(mention)));
            }
        }
    }

    /// Tries each of the beginnings that may be understood, until one says something; then what is told to be over.
    fn statement(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        let quote = quote(self.text, tokens);
        let reworded = reworded(tokens);
        let tokens = reworded.as_deref().unwrap_or(tokens);
        if is_partly_over(self.language, tokens) {
            return;
        }
        if !self.told(tokens, understood, greeted, quote)
            && let Some(tokens) = what_is_over(tokens)
        {
            let views = beginnings(understood).map(|prefix| View { prefix, tokens: &tokens });
            let over = views.filter_map(|view| self.read(&self.language.rows, view, false, true)).next();
            self.add(over.map(|reading| reading.facts).unwrap_or_default(), quote);
        }
    }

    /// Reads the clause as it stands, and says whether it tells anything.
    fn told(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool, quote: Option<&str>) -> bool {
        for prefix in beginnings(understood) {
            let Some(mut reading) = self.facts(&self.language.rows, View { prefix, tokens }, greeted) else { continue };
            for _ in 0..MOST_CONTINUATIONS {
                self.add(reading.facts, quote);
                let Some(next) = reading.rest.and_then(|view| self.facts(&self.language.rows, view, false)) else {
                    return true;
                };
                reading = next;
            }
            return true;
        }
        false
    }

    /// Forgets all but the first facts.
    pub(super) fn take_back(&mut self, count: usize) {
        for fact in self.facts.drain(count.min(self.facts.len())..) {
            self.texts.remove(&fact.text);
        }
    }

    fn add(&mut self, facts: Vec<Fact>, quote: Option<&str>) {
        for mut fact in facts {
            if self.texts.insert(fact.text.clone()) {
                fact.quote = quote.map(str::to_owned);
                fact.speaker = self.speaker.map(str::to_owned);
                self.facts.push(fact);
            }
        }
    }

    /// What the first row that fits makes of the view.
    fn facts<'v>(&self, rows: &[(Pattern, &'static Row)], view: View<'v>, greeted: bool) -> Option<Reading<'v>> {
        self.read(rows, view, greeted, false)
    }

    /// The same, where what it says may be over.
    fn read<'v>(
        &self,
        rows: &[(Pattern, &'static Row)],
        view: View<'v>,
        greeted: bool,
        over: bool,
    ) -> Option<Reading<'v>> {
        let first = view.word(0)?;
        let before = self.facts.last().map_or("", |fact| fact.text.as_str());
        rows.iter().filter(|(pattern, _)| pattern.may_begin(first)).find_map(|(pattern, row)| {
            let untimely = !row.after.is_empty() && !row.after.iter().any(|text| before.starts_with(text));
            if untimely || (row.value == Value::Introduced && !greeted) {
                return None;
            }
            self.reading(row, view, &pattern.find(self.language, view)?, over)
        })
    }

    fn reading<'v>(&self, row: &Row, view: View<'v>, found: &Found, over: bool) -> Option<Reading<'v>> {
        let language = self.language;
        let text = if over { text_when_over(row.text)? } else { row.text.to_owned() };
        let value = match found.values[0] {
            Some(place) => Some(cut(language, view, place, row.value, row.resume, self.at)?),
            None => None,
        };
        let second = match found.values[1] {
            Some(place) => {
                // "Prefers tea to coffee", but not "prefers notes to stay focused".
                let alone = row.value == Value::Word && place.1.is_none();
                let kind = match row.value {
                    _ if row.slot.contains("favorite") => Value::Sort,
                    Value::Medicine => Value::Amount,
                    _ => Value::Thing,
                };
                let second = cut(language, view, place, kind, &[], self.at)?;
                if alone && second.end - second.start > 1 {
                    return None;
                }
                Some(second)
            }
            None => None,
        };
        // "I take 40 mg."
        let named = value.as_ref().and_then(|value| view.word(value.start));
        if row.value == Value::Medicine && named.is_some_and(|word| language.class_key("dose", word).is_some()) {
            return None;
        }
        // "I moved from Windows to Fedora."
        let home = row.value == Value::Place;
        if home && second.as_ref().is_some_and(|second| names_software(language, view, second.start..second.end)) {
            return None;
        }
        let fixed = match value {
            None => Some(after(language, view, found.end, row, self.at)?),
            Some(_) => None,
        };
        let (when, stop) = match (&value, &fixed) {
            (Some(value), _) => (value.when.as_ref(), value.rest),
            (None, Some((when, stop))) => (when.as_ref(), *stop),
            (None, None) => (None, view.len()),
        };
        if value.is_some() && row.value != Value::Given && limited(language, view, stop, when, row, self.at) {
            return None;
        }
        if row.lasting && !when.is_some_and(|when| when.lasting) {
            return None;
        }
        let end = when.and_then(|when| when.until);
        let past =
            when.is_some_and(|when| when.bounded && when.from.is_some()) && end.is_some_and(|end| end <= self.at);
        if (row.ending && end.is_none_or(|end| end <= self.at)) || (row.ended && !past) {
            return None;
        }
        let last = value.as_ref().and_then(|value| view.word(value.end.checked_sub(1)?));
        let said_over = over || is_over(view.tokens);
        if said_over
            && [view.word(stop), last].into_iter().flatten().any(|word| self.language.words.narrowing.contains(word))
        {
            return None;
        }
        if (said_over || row.is_end() || row.value == Value::Age) && !self.ends_now(row, view, found, when, stop) {
            return None;
        }
        let filling = Filling {
            found,
            value: value.as_ref(),
            second: second.as_ref(),
            meant: None,
            when: when.map(|when| (when, stop)),
        };
        let facts = self.filled(row, &text, view, &filling)?;
        let rest = view.word(stop).filter(|_| !over).and_then(|next| {
            let (_, beginning) = row.resume.iter().find(|(word, _)| *word == next)?;
            let from = (stop + 1).checked_sub(view.prefix.len())?;
            // "A dog named Rex, and a cat named Tom."
            let joint = |token: &Token| language.words.joints.contains(token.word.as_str());
            let from = from + usize::from(next == "," && view.tokens.get(from).is_some_and(joint));
            Some(View { prefix: beginning, tokens: view.tokens.get(from..)? })
        });
        Some(Reading { facts, end: stop.saturating_sub(view.prefix.len()), rest })
    }
}

/// The words that may be understood before a clause, first of all none.
fn beginnings<'u>(understood: &'u [&'u [&'u str]]) -> impl Iterator<Item = &'u [&'u str]> {
    std::iter::once(&[][..]).chain(understood.iter().copied())
}

/// The words of a clause as they stand in the message.
fn quote<'t>(text: &'t str, tokens: &[Token]) -> Option<&'t str> {
    let (first, last) = tokens.first().zip(tokens.last())?;
    text.get(first.start..last.end)
}
