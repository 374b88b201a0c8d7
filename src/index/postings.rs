//! Which keys hold which terms, and BM25 over them by the statistics of this scope alone.

use std::borrow::Cow;

use super::{
    analyzer::{Languages, query_terms},
    dictionary::{Dictionary, TermNumber},
    language::Language,
    lists::{List, Lists, Posting},
    terms::TermList,
};
use crate::score::lexical::{Bm25, inverse_frequency};

/// The number of a key: they are given in order and never again, so lists of them are sorted.
pub(super) type KeyNumber = u32;

#[derive(Debug, Default)]
struct Term {
    /// How many living keys hold it.
    frequency: u32,
    keys: List,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    numbers: Dictionary,
    /// By their numbers.
    terms: Vec<Term>,
    lists: Lists,
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
}

impl Postings {
    /// Adds the next key.
    #[expect(clippy::cast_precision_loss, reason = "a count of words; f32 is what BM25 is computed in")]
    pub(super) fn push(&mut self, terms: TermList<'_>) {
        let Ok(key) = KeyNumber::try_from(self.lengths.len()) else { return };
        for (text, count) in terms.bytes() {
            let Some(number) = self.numbers.number(text) else { continue };
            if self.numbers.len() > self.terms.len() {
                self.terms.push(Term::default());
            }
            if let Some(term) = self.terms.get_mut(number as usize) {
                term.frequency += 1;
                self.lists.push(&mut term.keys, Posting { key, count });
                self.held.push(number);
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
            let (frequency, runs) = self.holders(group);
            let weight = inverse_frequency(self.alive, frequency);
            bound += bm25.bound(std::iter::once(weight));
            for Posting { key, count } in runs.iter().flat_map(|run| run.iter()) {
                let key = *key as usize;
                if let (Some(score), Some(length)) = (scores.get_mut(key), self.lengths.get(key)) {
                    *score += weight * saturation.of(*count as f32, *length);
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
    fn holders(&self, forms: &[String]) -> (usize, Vec<Cow<'_, [Posting]>>) {
        let term = |form: &String| self.terms.get(self.numbers.find(form.as_bytes())? as usize);
        let mut terms = forms.iter().filter_map(term);
        let (Some(first), second) = (terms.next(), terms.next()) else { return (0, Vec::new()) };
        let Some(second) = second else {
            return (first.frequency as usize, self.lists.runs(&first.keys).map(Cow::Borrowed).collect());
        };
        let whole = |term: &Term| self.lists.runs(&term.keys).collect::<Vec<_>>().concat();
        let mut merged = whole(first);
        for term in std::iter::once(second).chain(terms) {
            merged = merge(&merged, &whole(term));
        }
        merged.retain(|Posting { key, .. }| self.living.get(*key as usize).is_some_and(|living| *living));
        (merged.len(), vec![Cow::Owned(merged)])
    }

    pub(super) fn shrink(&mut self) {
        self.numbers.shrink();
        self.terms.shrink_to_fit();
        self.lists.shrink(self.terms.iter_mut().map(|term| &mut term.keys));
        self.lengths.shrink_to_fit();
        self.languages_of.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.held.shrink_to_fit();
        self.living.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.numbers.bytes()
            + self.lists.bytes()
            + self.terms.capacity() * size_of::<Term>()
            + self.held.capacity() * size_of::<TermNumber>()
            + self.lengths.capacity() * (4 + 1 + size_of::<usize>() + 1)
    }
}

/// Of two sorted lists one; where both hold a key, the occurrences add up.
fn merge(left: &[Posting], right: &[Posting]) -> Vec<Posting> {
    let mut all = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(one), Some(other)) if one.key == other.key => {
                let both = Posting { key: one.key, count: one.count + other.count };
                left.next();
                right.next();
                Some(both)
            }
            (Some(one), Some(other)) if other.key < one.key => right.next(),
            (None, Some(_)) => right.next(),
            _ => left.next(),
        };
        match next {
            Some(next) => all.push(next),
            None => return all,
        }
    }
}
