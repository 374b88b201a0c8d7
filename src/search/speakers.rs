use std::{collections::HashSet, sync::Arc};

use crate::Candidate;

/// The one speaker a query asks about.
pub(super) struct Speakers(Option<Arc<str>>);

impl Speakers {
    /// Whoever of those who said the candidates is named in the query, if it names one of them and no other.
    pub(super) fn named(query: &str, candidates: &[Candidate]) -> Self {
        let asked: HashSet<String> = words(query).collect();
        let speakers: HashSet<&Arc<str>> =
            candidates.iter().filter_map(|candidate| candidate.attributes.speaker.as_ref()).collect();
        let mut named = speakers.into_iter().filter(|name| {
            let mut words = words(name).peekable();
            words.peek().is_some() && words.all(|word| asked.contains(&word))
        });
        match (named.next(), named.next()) {
            (Some(only), None) => Self(Some(Arc::clone(only))),
            _ => Self(None),
        }
    }

    pub(super) fn is_named(&self, candidate: &Candidate) -> bool {
        self.0.is_some() && self.0 == candidate.attributes.speaker
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
