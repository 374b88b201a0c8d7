//! The facts that a row makes of what it found.

use chrono::TimeDelta;

use super::{
    allergen::is_allergen,
    pattern::{Found, View},
    reader::Reader,
    relations::{Told, relations},
    row::{Row, Value},
    sameness::is_against,
    split::{List, list},
    tail::LATELY,
    token::{Shape, fold},
    topic::Topic,
    value::Cut,
    when::{When, Wording},
};
use crate::{
    Fact,
    score::{relatedness::singular, sameness::normalized},
};

/// Longest value, in tokens, that names a slot.
const LONGEST_KEY: usize = 5;

/// The places in a view that a row's text is filled with.
pub(super) struct Filling<'f> {
    pub(super) found: &'f Found,
    pub(super) value: Option<&'f Cut>,
    pub(super) second: Option<&'f Cut>,
    /// What the value is, where the text has it in another form.
    pub(super) meant: Option<&'f str>,
    /// The time, and where it ends.
    pub(super) when: Option<(&'f When, usize)>,
}

impl Reader<'_> {
    /// The facts of a row: one, or one for each thing of a list.
    pub(super) fn filled(&self, row: &Row, text: &str, view: View<'_>, filling: &Filling<'_>) -> Option<Vec<Fact>> {
        let mut facts = Vec::new();
        let listed = match filling.value {
            Some(cut) if may_be_list(row) => {
                match list(self.language, view, cut, is_against(text), row.value == Value::Names) {
                    List::Parts(_) if row.whole => List::Unclear,
                    list => list,
                }
            }
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
                for meant in (self.language.from_genitive)(&self.slice(view, cut.start, cut.end)?) {
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
        let said = filling.meant.map_or_else(|| words(value), str::to_owned);
        let class = |which: usize| match filling.found.classes.get(which) {
            Some(Some((from, to, key))) => Some((slice(*from, *to)?, key.as_str())),
            _ => Some((String::new(), "")),
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
            .replace("{C}", &capitalised(&class))
            .replace("{c}", &class)
            .replace("{n}", self.language.class_key("base-form", &fold(&class)).unwrap_or(&class))
            .replace("{d}", &detail)
            .replace("{k}", key)
            .replace("{l}", detail_key)
            .replace("{t}", &time)
            .replace("{w}", &words(second))
            .replace("{v}", &said);
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
        let name = named.and_then(|named| slice(named.at, named.at + 1));
        let told = Told {
            slot,
            value: &said,
            class: match named {
                Some(named) => named.role.as_str(),
                // "Two dogs, Rex and Bruno."
                None if row.topic == Topic::Pets && !detail_key.is_empty() => detail_key,
                None => key,
            },
            name: name.as_deref(),
            is_against: is_against(&fact.text),
        };
        let list = row.value == Value::Names && !slot.contains("{v}");
        let nameless = described || wordy || list || said.is_empty();
        fact.relations = if nameless { Vec::new() } else { relations(self.language, row, &told, self.speaker) };
        if row.topic == Topic::Plans {
            // A trip in June is no plan any more when June is over.
            let until = filling.when.and_then(|(when, _)| when.until).or(value.and_then(|cut| cut.until));
            fact.invalid_at = until.filter(|until| *until > self.at);
        } else {
            fact.valid_at = filling.when.and_then(|(when, _)| when.from).filter(|from| *from <= self.at);
            if row.ended {
                fact.invalid_at = filling.when.and_then(|(when, _)| when.until);
            }
        }
        Some(fact)
    }

    /// The text of these places of a view. Where a correction has put words together that stand apart, a space joins them.
    fn slice(&self, view: View<'_>, from: usize, to: usize) -> Option<String> {
        let first = view.token(from).filter(|_| from < to)?;
        let mut slice = self.text.get(first.start..first.end)?.to_owned();
        for at in from + 1..to {
            let (before, token) = (view.token(at - 1)?, view.token(at)?);
            let gap = self.text.get(before.end..token.start).filter(|gap| !gap.contains(char::is_alphanumeric));
            slice.push_str(gap.unwrap_or(" "));
            slice.push_str(self.text.get(token.start..token.end)?);
        }
        Some(slice)
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

/// Whether each thing of a list has a slot of its own.
fn may_be_list(row: &Row) -> bool {
    matches!(row.value, Value::Thing | Value::Pastime | Value::Languages | Value::Names) && row.slot.contains("{v}")
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
