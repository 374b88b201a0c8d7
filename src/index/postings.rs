//! Which keys hold which terms, and BM25 over them by the statistics of this scope alone.

use std::collections::HashMap;

use super::{
    analyzer::{Analysis, Languages, query_terms},
    language::Language,
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

#[derive(Debug)]
struct Key {
    length: u32,
    language: Option<Language>,
    terms: Box<[TermNumber]>,
    alive: bool,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    numbers: HashMap<Box<str>, TermNumber>,
    terms: Vec<Term>,
    keys: Vec<Key>,
    alive: usize,
    total_length: u64,
    languages: Languages,
    bytes: usize,
}

impl Postings {
    /// Adds the next key.
    pub(super) fn push(&mut self, text: &str) {
        let Ok(number) = KeyNumber::try_from(self.keys.len()) else { return };
        let Analysis { terms, length, language } = Analysis::of(text);
        let mut held = Vec::with_capacity(terms.len());
        for (term, count) in terms {
            let next = TermNumber::try_from(self.terms.len()).unwrap_or(TermNumber::MAX);
            let bytes = &mut self.bytes;
            let term = *self.numbers.entry(term.into_boxed_str()).or_insert_with_key(|text| {
                // The text, its entry in the map and an empty list.
                *bytes += text.len() + 80;
                next
            });
            if term == next {
                self.terms.push(Term::default());
            }
            if let Some(list) = self.terms.get_mut(term as usize) {
                list.frequency += 1;
                list.keys.push((number, count));
            }
            held.push(term);
        }
        self.bytes += held.len() * (size_of::<TermNumber>() + size_of::<(KeyNumber, u32)>()) + size_of::<Key>();
        self.total_length += u64::from(length);
        self.alive += 1;
        if let Some(language) = language {
            self.languages.count(language, 1);
        }
        self.keys.push(Key { length, language, terms: held.into_boxed_slice(), alive: true });
    }

    /// Takes a key out of all statistics. Its places in the lists stay until the index is built anew.
    pub(super) fn remove(&mut self, number: KeyNumber) {
        let Some(key) = self.keys.get_mut(number as usize) else { return };
        if !std::mem::take(&mut key.alive) {
            return;
        }
        for &term in &key.terms {
            if let Some(term) = self.terms.get_mut(term as usize) {
                term.frequency = term.frequency.saturating_sub(1);
            }
        }
        self.total_length = self.total_length.saturating_sub(u64::from(key.length));
        self.alive = self.alive.saturating_sub(1);
        if let Some(language) = key.language {
            self.languages.count(language, -1);
        }
    }

    /// BM25 of every key to the query, divided by the query's bound: 0 to 1, in key order. `None` where the query has
    /// no term to look for.
    #[expect(clippy::cast_precision_loss, reason = "lengths and counts of words; f32 is what BM25 is computed in")]
    pub(super) fn scores(&self, query: &str, bm25: Bm25) -> Option<Vec<f32>> {
        let groups = query_terms(query, &self.languages);
        if groups.is_empty() {
            return None;
        }
        let average = self.total_length as f32 / (self.alive.max(1)) as f32;
        let mut scores = vec![0.0_f32; self.keys.len()];
        let mut bound = 0.0;
        for group in &groups {
            let lists: Vec<&Term> =
                group.iter().filter_map(|term| self.terms.get(*self.numbers.get(term.as_str())? as usize)).collect();
            let mut merged;
            // The forms of one word count as one term: their occurrences add up, and so do the texts that hold them.
            let (frequency, keys) = match lists.as_slice() {
                [] => (0, [].as_slice()),
                [only] => (only.frequency as usize, only.keys.as_slice()),
                several => {
                    merged = merge(several);
                    merged.retain(|(key, _)| self.keys.get(*key as usize).is_some_and(|key| key.alive));
                    (merged.len(), merged.as_slice())
                }
            };
            let weight = inverse_frequency(self.alive, frequency);
            bound += bm25.bound(std::iter::once(weight));
            for &(number, count) in keys {
                if let (Some(score), Some(key)) = (scores.get_mut(number as usize), self.keys.get(number as usize)) {
                    *score += weight * bm25.saturation(count as f32, key.length as f32, average);
                }
            }
        }
        scores.iter_mut().for_each(|score| *score = (*score / bound).clamp(0.0, 1.0));
        Some(scores)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn merge(lists: &[&Term]) -> Vec<(KeyNumber, u32)> {
    let mut all: Vec<(KeyNumber, u32)> = lists.iter().flat_map(|term| term.keys.iter().copied()).collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    all
}
