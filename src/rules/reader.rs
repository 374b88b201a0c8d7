//! From clauses to facts.

use std::collections::HashSet;

use chrono::TimeDelta;

use super::{
    allergen::is_allergen,
    ended::{is_over, is_partly_over, narrows_end, reworded, text_when_over, what_is_over},
    language::Language,
    pattern::{Found, Pattern, View},
    relations::{Told, relations},
    row::{Row, Value},
    sameness::is_against,
    split::{List, list},
    tail::{after, limited, names_software},
    token::{Shape, Token, fold},
    topic::Topic,
    value::{Cut, cut},
    when::{When, Wording},
};
use crate::{
    Fact, Timestamp,
    score::{relatedness::singular, sameness::normalized},
};

/// How often the rest of a clause is read again ("I work as a nurse at the clinic" is two facts).
const MOST_CONTINUATIONS: usize = 3;

/// Longest value, in tokens, that names a slot.
const LONGEST_KEY: usize = 5;

/// How many days ago something may have happened that ends what is known of today.
const LATELY: i64 = 366;

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
    facts: Vec<Fact>,
    /// The tokens it took.
    end: usize,
    /// What is left to read.
    rest: Option<View<'v>>,
}

/// The places in a view that a row's text is filled with.
struct Filling<'f> {
    found: &'f Found,
    value: Option<&'f Cut>,
    second: Option<&'f Cut>,
    /// What the value is, where the text has it in another form.
    meant: Option<&'f str>,
    /// The time, and where it ends.
    when: Option<(&'f When, usize)>,
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
        if is_partly_over(tokens) {
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
        let last = value.as_ref().and_then(|value| view.word(value.end.checked_sub(1)?));
        if (over || is_over(view.tokens)) && [view.word(stop), last].into_iter().flatten().any(narrows_end) {
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
            Some(View { prefix: beginning, tokens: view.tokens.get(from..)? })
        });
        Some(Reading { facts, end: stop.saturating_sub(view.prefix.len()), rest })
    }

    /// The facts of a row: one, or one for each thing of a list.
    fn filled(&self, row: &Row, text: &str, view: View<'_>, filling: &Filling<'_>) -> Option<Vec<Fact>> {
        let mut facts = Vec::new();
        let listed = match filling.value {
            Some(cut) if may_be_list(row) => match list(self.language, view, cut, is_against(text)) {
                List::Parts(_) if row.whole => List::Unclear,
                list => list,
            },
            _ => List::One,
        };
        match (listed, filling.value) {
            (List::Parts(parts), Some(cut)) => {
                for (start, end) in parts {
                    let part = Cut { start, end, ..cut.clone() };
                    facts.push(self.fact(text, row.slot, row, view, &Filling { value: Some(&part), ..*filling })?);
                }
            }
            (_, Some(cut)) if row.value == Value::Missed => {
                for meant in (self.language.from_genitive)(self.slice(view, cut.start, cut.end)?) {
                    facts.push(self.fact(text, row.slot, row, view, &Filling { meant: Some(&meant), ..*filling })?);
                }
            }
            (List::Unclear, _) => facts.push(self.fact(text, "", row, view, filling)?),
            _ => facts.push(self.fact(text, row.slot, row, view, filling)?),
        }
        // What comes along with a statement is not over with it.
        if text != row.text {
            return Some(facts);
        }
        if let Some((text, slot)) = row.also {
            facts.push(self.fact(text, slot, row, view, filling)?);
        }
        if row.ends_only {
            facts.iter_mut().for_each(|fact| fact.ends_only = true);
        }
        // "I got divorced in 2010" says nothing of the husband of today.
        let lately = self.at - TimeDelta::days(LATELY);
        if facts.iter().all(|fact| fact.valid_at.is_none_or(|at| at >= lately)) {
            for (text, slot) in row.ends {
                facts.push(self.fact(text, slot, row, view, filling)?.ending_only());
            }
        }
        Some(facts)
    }

    fn fact(&self, text: &str, slot: &str, row: &Row, view: View<'_>, filling: &Filling<'_>) -> Option<Fact> {
        let slice = |from: usize, to: usize| self.slice(view, from, to);
        if row.slot.contains("allergy") && filling.value.is_some_and(|cut| !is_allergen(self.language, view, cut)) {
            return None;
        }
        let words = |cut: Option<&Cut>| cut.and_then(|cut| slice(cut.start, cut.end)).unwrap_or_default();
        let (value, second) = (filling.value, filling.second);
        let said = filling.meant.unwrap_or_else(|| words(value));
        let class = |which: usize| match filling.found.classes.get(which) {
            Some(Some((from, to, key))) => Some((slice(*from, *to)?, key.as_str())),
            _ => Some(("", "")),
        };
        let ((class, key), (detail, detail_key)) = (class(0)?, class(1)?);
        let raw = filling.when.and_then(|(when, end)| slice(end.checked_sub(when.len)?, end)).unwrap_or_default();
        let time = match filling.when.map(|(when, _)| &when.wording) {
            Some(Wording::Instead(text)) => format!(" {text}"),
            Some(Wording::AsIs) => format!(" {raw}"),
            // What cannot be reckoned is better than nothing where it is still to come.
            Some(Wording::Dropped | Wording::Habit) if row.topic == Topic::Plans => format!(" {raw}"),
            Some(Wording::Habit) if row.value == Value::Medicine => format!(" {raw}"),
            _ => String::new(),
        };
        let text = text
            .replace("{C}", &capitalised(class))
            .replace("{c}", class)
            .replace("{n}", self.language.class_key("base-form", &fold(class)).unwrap_or(class))
            .replace("{d}", detail)
            .replace("{t}", &time)
            .replace("{w}", words(second))
            .replace("{v}", said);
        let mut fact = Fact::new(text, self.index)
            .with_kind(row.topic.kind())
            .with_category(row.topic.category())
            .with_importance(row.topic.importance());
        // A description ("a small town") does not say that the place by name is no longer right, unless it has a name.
        let described = row.value == Value::Dwelling
            && slice(value?.start, value?.end)?.starts_with("a ")
            && !(value?.start..value?.end).any(|at| view.token(at).is_some_and(|token| token.shape == Shape::Capital));
        // A mother is one, sisters may be several, and then a second name replaces nothing.
        let shared = slot == "{k}.name" && self.language.class_key("only-one", key).is_none();
        // What takes a sentence to say is never said again in the same words.
        let wordy = slot.contains("{v}") && value.is_some_and(|cut| cut.end - cut.start > LONGEST_KEY);
        if !slot.is_empty() && !described && !shared && !wordy {
            let thing = |cut: Option<&Cut>| cut.map(|cut| self.key(view, cut)).unwrap_or_default();
            let thing = |cut| if slot.contains("allergy") { singular(&thing(cut)) } else { thing(cut) };
            let named = filling.meant.map_or_else(|| thing(value), |meant| normalized(&fold(meant)));
            let slot = slot.replace("{k}", key).replace("{l}", detail_key);
            fact = fact.with_slot(slot.replace("{v}", &named).replace("{w}", &thing(second)));
        }
        let named = filling.found.named.as_ref();
        let told = Told {
            slot,
            value: said,
            class: named.map_or(key, |named| named.role.as_str()),
            name: named.and_then(|named| slice(named.at, named.at + 1)),
            is_against: is_against(&fact.text),
        };
        let nameless = described || wordy || said.is_empty();
        fact.relations = if nameless { Vec::new() } else { relations(self.language, row, &told, self.speaker) };
        if row.topic == Topic::Plans {
            // A trip in June is no plan any more when June is over.
            let until = filling.when.and_then(|(when, _)| when.until);
            fact.invalid_at = until.or(value.and_then(|cut| cut.until));
        } else {
            fact.valid_at = filling.when.and_then(|(when, _)| when.from).filter(|from| *from <= self.at);
        }
        Some(fact)
    }

    /// The text of these places of a view.
    fn slice(&self, view: View<'_>, from: usize, to: usize) -> Option<&'a str> {
        let first = view.token(from)?;
        let last = view.token(to.checked_sub(1)?)?;
        self.text.get(first.start..last.end)
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
            key.push_str(self.language.class_key("spelling", &token.word).unwrap_or(&token.word));
        }
        normalized(&key)
    }
}

/// The words that may be understood before a clause, first of all none.
fn beginnings<'u>(understood: &'u [&'u [&'u str]]) -> impl Iterator<Item = &'u [&'u str]> {
    std::iter::once(&[][..]).chain(understood.iter().copied())
}

/// Whether each thing of a list has a slot of its own.
fn may_be_list(row: &Row) -> bool {
    matches!(row.value, Value::Thing | Value::Pastime | Value::Languages) && row.slot.contains("{v}")
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
