//! Which keys hold which terms, and BM25 over them by the statistics of this scope alone.

use std::{borrow::Cow, collections::HashMap};

use super::{
    analyzer::{Languages, query_terms},
    language::Language,
    terms::Terms,
};
use crate::score::lexical::{Bm25, inverse_frequency};

/// The number of a key: they are given in order and never again, so lists of them are sorted.
pub(super) type KeyNumber = u32;
type TermNumber = u32;

#[derive(Debug, Default)]
struct Term {
    /// How many living keys hold it.
    frequency: u32,
    keys: Vec<(KeyNumber, u32)>,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    numbers: HashMap<Box<str>, TermNumber>,
    terms: Vec<Term>,
    /// What the keys are, by their numbers, each field for itself: a search reads lengths and nothing else.
    lengths: Vec<f32>,
    languages_of: Vec<Option<Language>>,
    /// Where the terms of each key end in `held`.
    ends: Vec<usize>,
    held: Vec<TermNumber>,
    living: Vec<bool>,
    alive: usize,
    total_length: u64,
    languages: Languages,
    term_bytes: usize,
}

impl Postings {
    /// Adds the next key.
    #[expect(clippy::cast_precision_loss, reason = "a count of words; f32 is what BM25 is computed in")]
    pub(super) fn push(&mut self, terms: &Terms) {
        let Ok(number) = KeyNumber::try_from(self.lengths.len()) else { return };
        for (text, count) in terms.iter() {
            let term = self.number(text);
            if let Some(list) = self.terms.get_mut(term as usize) {
                list.frequency += 1;
                list.keys.push((number, count));
                self.held.push(term);
            }
        }
        let (length, language) = (terms.length(), terms.language());
        self.total_length += u64::from(length);
        self.alive += 1;
        if let Some(language) = language {
            self.languages.count(language, 1);
        }
        self.lengths.push(length as f32);
        self.languages_of.push(language);
        self.ends.push(self.held.len());
        self.living.push(true);
    }

    fn number(&mut self, text: &str) -> TermNumber {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = TermNumber::try_from(self.terms.len()).unwrap_or(TermNumber::MAX);
        self.numbers.insert(text.into(), number);
        self.terms.push(Term::default());
        // The text, its entry in a map that is not full, and a list, each with what an allocation costs.
        self.term_bytes += text.len() + 144;
        number
    }

    /// Takes a key out of all statistics. Its places in the lists stay until the index is built anew.
    pub(super) fn remove(&mut self, number: KeyNumber) {
        let number = number as usize;
        if !self.living.get_mut(number).is_some_and(std::mem::take) {
            return;
        }
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        for &term in self.held.get(start..end).unwrap_or_default() {
            if let Some(term) = self.terms.get_mut(term as usize) {
                term.frequency = term.frequency.saturating_sub(1);
            }
        }
        let length = self.lengths.get(number).copied().unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it came from a u32")]
        let length = length as u64;
        self.total_length = self.total_length.saturating_sub(length);
        self.alive = self.alive.saturating_sub(1);
        if let Some(language) = self.languages_of.get(number).copied().flatten() {
            self.languages.count(language, -1);
        }
    }

    /// BM25 of every key to the query, divided by the query's bound: 0 to 1, in key order. `false` where the query has
    /// no term to look for.
    #[expect(clippy::cast_precision_loss, reason = "lengths and counts of words; f32 is what BM25 is computed in")]
    pub(super) fn scores(&self, query: &str, bm25: Bm25, scores: &mut Vec<f32>) -> bool {
        scores.clear();
        scores.resize(self.lengths.len(), 0.0);
        let groups = query_terms(query, &self.languages);
        let average = self.total_length as f32 / (self.alive.max(1)) as f32;
        let saturation = bm25.saturations(average);
        let mut bound = 0.0;
        for group in &groups {
            let (frequency, keys) = self.holders(group);
            let weight = inverse_frequency(self.alive, frequency);
            bound += bm25.bound(std::iter::once(weight));
            for &(number, count) in keys.iter() {
                let number = number as usize;
                if let (Some(score), Some(length)) = (scores.get_mut(number), self.lengths.get(number)) {
                    *score += weight * saturation.of(count as f32, *length);
                }
            }
        }
        if bound > 0.0 {
            let share = bound.recip();
            scores.iter_mut().for_each(|score| *score = (*score * share).clamp(0.0, 1.0));
        }
        !groups.is_empty()
    }

    /// How many living keys hold the forms of a word, and which do, perhaps with some that are gone. The forms count as
    /// one term: their occurrences add up, and so do the texts that hold them.
    fn holders(&self, forms: &[String]) -> (usize, Cow<'_, [(KeyNumber, u32)]>) {
        let list = |form: &String| self.terms.get(*self.numbers.get(form.as_str())? as usize);
        let mut lists = forms.iter().filter_map(list);
        match (lists.next(), lists.next()) {
            (None, _) => (0, Cow::Borrowed(&[])),
            (Some(only), None) => (only.frequency as usize, Cow::Borrowed(&only.keys)),
            (Some(first), Some(second)) => {
                let mut merged = lists.fold(merge(&first.keys, &second.keys), |all, list| merge(&all, &list.keys));
                merged.retain(|(key, _)| self.living.get(*key as usize).is_some_and(|living| *living));
                (merged.len(), Cow::Owned(merged))
            }
        }
    }

    pub(super) fn shrink(&mut self) {
        self.terms.iter_mut().for_each(|term| term.keys.shrink_to_fit());
        self.terms.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.languages_of.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.held.shrink_to_fit();
        self.living.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        // A key's share of the lists, of which those that grow are half empty at most.
        let held =
            self.held.capacity() * size_of::<TermNumber>() + self.held.len() * 3 * size_of::<(KeyNumber, u32)>() / 2;
        self.term_bytes + held + self.lengths.capacity() * (4 + 1 + size_of::<usize>() + 1)
    }
}

/// Of two sorted lists one; where both hold a key, the occurrences add up.
fn merge(left: &[(KeyNumber, u32)], right: &[(KeyNumber, u32)]) -> Vec<(KeyNumber, u32)> {
    let mut all = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some((one, count)), Some((other, more))) if one == other => {
                let both = (*one, count + more);
                left.next();
                right.next();
                both
            }
            (Some(one), Some(other)) if other.0 < one.0 => {
                let other = **other;
                right.next();
                other
            }
            (Some(one), _) => {
                let one = **one;
                left.next();
                one
            }
            (None, Some(other)) => {
                let other = **other;
                right.next();
                other
            }
            (None, None) => return all,
        };
        all.push(next);
    }
}
