//! The candidates of a query, out of one scope's index.

use std::collections::HashMap;

use super::{
    entry::{Admission, Span, Standing},
    scope_index::ScopeIndex,
    sessions::Lent,
    top::{Best, Ranked, Score, descend, floor},
    vectors::Asked,
};
use crate::{Candidate, MemoryKind, SearchQuery, Surroundings};

/// Room for the scores of all memories, kept between searches.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// By key.
    key_most: Vec<f32>,
    key_words: Vec<f32>,
    /// By place: the most that the cosine can be, the keyword similarity, what a turn is proposed by.
    most: Vec<f32>,
    words: Vec<f32>,
    proposals: Vec<f32>,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        let Self { key_most, key_words, most, words, proposals } = self;
        [key_most, key_words, most, words, proposals].map(|row| row.capacity() * size_of::<f32>()).into_iter().sum()
    }
}

impl ScopeIndex {
    /// The candidates of a query; its scope is the one this index was built for.
    pub(crate) fn search(&self, query: &SearchQuery, scratch: &mut Scratch) -> Vec<Candidate> {
        let admission = Admission { filter: query.filter.as_ref(), validity: query.validity };
        let asked = query.vector.as_deref().map(|vector| self.vectors.ask(vector));
        // With the cosine of those that it was computed for.
        let mut chosen: Vec<(usize, Option<f32>)> = Vec::new();
        let unseen = |place: usize| (place, None);
        if let Some(asked) = &asked {
            let Scratch { key_most, most, .. } = scratch;
            self.vectors.most(asked, key_most);
            self.best(key_most, most);
            chosen.extend(self.nearest(asked, scratch, query.limit, &admission));
        }
        if let Some(text) = &query.text {
            let Scratch { key_words, words, .. } = scratch;
            // A text without a word to look for is 0 to everything.
            let found = self.postings.scores(text, self.bm25, key_words);
            self.best(key_words, words);
            if found {
                chosen.extend(self.top(&scratch.words, query.limit, &admission).into_iter().map(unseen));
            }
            if found && asked.is_some() {
                // Turns that hold few of the words themselves and stand among others that do.
                self.sessions.proposals(&scratch.words, &mut scratch.proposals);
                chosen.extend(self.top(&scratch.proposals, query.limit, &admission).into_iter().map(unseen));
            }
        }
        if !query.dates.is_empty() {
            chosen.extend(self.dated(query, asked.as_ref(), scratch, &admission).into_iter().map(unseen));
        }
        let given = query.also.iter().filter_map(|id| self.places.get(id)).map(|place| *place as usize);
        chosen.extend(given.filter(|place| self.admits(&admission, *place)).map(unseen));
        if query.vector.is_none() && query.text.is_none() {
            chosen.extend(self.newest(query.limit, &admission).into_iter().map(unseen));
        }
        // Places mostly follow the ids, so that little is left to sort once they are in order.
        chosen
            .sort_unstable_by(|(one, known), (other, also)| one.cmp(other).then(also.is_some().cmp(&known.is_some())));
        chosen.dedup_by_key(|(place, _)| *place);
        chosen.sort_by_key(|(place, _)| self.ids.get(*place).copied());

        let mut around = Around { index: self, scratch, sessions: HashMap::new() };
        let candidates = chosen.into_iter().filter_map(|(place, cosine)| {
            let (id, entry) = (self.ids.get(place)?, self.entries.get(place)?);
            let mut candidate = Candidate::new(*id, entry.attributes.clone());
            candidate.cosine = cosine.or_else(|| asked.as_ref().map(|asked| self.cosine(asked, place)));
            candidate.keyword = query.text.as_ref().map(|_| around.scratch.words.get(place).copied().unwrap_or(0.0));
            if let (Some(asked), Some(_)) = (&asked, &query.text) {
                candidate.surroundings = around.of(asked, place, &candidate);
            }
            Some(candidate)
        });
        candidates.collect()
    }

    /// For each entry the best of its keys.
    fn best(&self, of_keys: &mut Vec<f32>, of_entries: &mut Vec<f32>) {
        if self.one_to_one {
            std::mem::swap(of_keys, of_entries);
            return;
        }
        of_entries.clear();
        of_entries.resize(self.entries.len(), f32::NEG_INFINITY);
        for (score, owner) in of_keys.iter().zip(&self.owners) {
            if let Some(best) = of_entries.get_mut(*owner as usize)
                && *score > *best
            {
                *best = *score;
            }
        }
    }

    /// The places of the nearest, exactly: whatever the codes leave in doubt is computed.
    fn nearest(
        &self,
        asked: &Asked,
        scratch: &Scratch,
        limit: usize,
        admission: &Admission<'_>,
    ) -> Vec<(usize, Option<f32>)> {
        if limit == 0 {
            return Vec::new();
        }
        let mut surely = Best::new(limit);
        let mut perhaps: Vec<(usize, f32)> = Vec::new();
        let floor = floor(&scratch.most, limit, |place, most| {
            self.admits(admission, place).then(|| self.least(asked, scratch, place, most))
        });
        let threshold = |surely: &Best<Score>| surely.worst().map_or(floor, |Score(worst)| worst.max(floor));
        descend(&scratch.most, floor, |place, most| {
            if self.admits(admission, place) {
                surely.offer(Score(self.least(asked, scratch, place, most)));
                perhaps.push((place, most));
            }
            threshold(&surely)
        });
        let threshold = threshold(&surely);
        let mut best = Best::new(limit);
        for (place, _) in perhaps.into_iter().filter(|(_, most)| *most >= threshold) {
            if let Some(&id) = self.ids.get(place) {
                best.offer(Ranked { score: self.cosine(asked, place), id, place });
            }
        }
        best.into_iter().map(|ranked| (ranked.place, Some(ranked.score))).collect()
    }

    /// The places of the best `limit` living entries above 0, in no particular order.
    fn top(&self, scores: &[f32], limit: usize, admission: &Admission<'_>) -> Vec<usize> {
        if limit == 0 {
            return Vec::new();
        }
        let mut best = Best::new(limit);
        let floor = floor(scores, limit, |place, score| {
            (score >= f32::MIN_POSITIVE && self.admits(admission, place)).then_some(score)
        });
        let floor = floor.max(f32::MIN_POSITIVE);
        descend(scores, floor, |place, score| {
            if let Some(&id) = self.ids.get(place) {
                let ranked = Ranked { score, id, place };
                if best.worst().is_none_or(|worst| *worst < ranked) && self.admits(admission, place) {
                    best.offer(ranked);
                }
            }
            best.worst().map_or(floor, |worst| worst.score.max(floor))
        });
        best.into_iter().map(|ranked| ranked.place).collect()
    }

    /// The best of what lies in one of the named stretches of time.
    fn dated(
        &self,
        query: &SearchQuery,
        asked: Option<&Asked>,
        scratch: &Scratch,
        admission: &Admission<'_>,
    ) -> Vec<usize> {
        let mut best = Best::new(query.limit);
        if query.limit == 0 {
            return Vec::new();
        }
        let of = |scores: &[f32], asked: bool, place: usize| {
            scores.get(place).filter(|_| asked).map_or(0.0, |score| score.max(0.0))
        };
        let ranges: Vec<Span> = query.dates.iter().copied().map(Span::from).collect();
        let lies_in = |place: usize| {
            let attributes = self.entries.get(place).map(|entry| &entry.attributes);
            attributes.is_some_and(|attributes| query.dates.iter().any(|range| attributes.lies_in(*range)))
        };
        for (place, (span, &id)) in self.spans.iter().zip(&self.ids).enumerate().rev() {
            if !ranges.iter().any(|range| span.may_lie_in(*range)) {
                continue;
            }
            let words = of(&scratch.words, query.text.is_some(), place);
            let most = of(&scratch.most, asked.is_some(), place);
            let ranked = Ranked { score: most + words, id, place };
            // The entries and the vectors themselves are looked at for the few that may be good enough.
            if best.worst().is_none_or(|worst| *worst < ranked) && lies_in(place) && self.admits(admission, place) {
                let cosine = asked.map_or(0.0, |asked| self.cosine(asked, place).max(0.0));
                best.offer(Ranked { score: cosine + words, ..ranked });
            }
        }
        best.into_iter().map(|ranked| ranked.place).collect()
    }

    fn newest(&self, limit: usize, admission: &Admission<'_>) -> Vec<usize> {
        let mut best = Best::new(limit);
        for (place, id) in self.ids.iter().enumerate() {
            if best.worst().is_none_or(|(worst, _)| worst < id) && self.admits(admission, place) {
                best.offer((*id, place));
            }
        }
        best.into_iter().map(|(_, place)| place).collect()
    }

    fn admits(&self, admission: &Admission<'_>, place: usize) -> bool {
        let standing = self.standings.get(place).copied().unwrap_or(Standing::Gone);
        admission.admits(standing, || self.entries.get(place))
    }

    fn cosine(&self, asked: &Asked, place: usize) -> f32 {
        let cosines = self.keys(place).map(|key| self.vectors.cosine(asked, key as usize));
        cosines.fold(f32::NEG_INFINITY, |best, cosine| if cosine > best { cosine } else { best })
    }

    /// The least the cosine of an entry can be, where this is the most.
    fn least(&self, asked: &Asked, scratch: &Scratch, place: usize, most: f32) -> f32 {
        if self.one_to_one {
            return self.vectors.least(asked, place, most);
        }
        let least = self.keys(place).map(|key| {
            let most = scratch.key_most.get(key as usize).copied().unwrap_or(f32::NEG_INFINITY);
            self.vectors.least(asked, key as usize, most)
        });
        least.fold(f32::NEG_INFINITY, f32::max)
    }
}

/// What stands around the candidates: only their sessions are looked at, each once.
struct Around<'s> {
    index: &'s ScopeIndex,
    scratch: &'s Scratch,
    sessions: HashMap<u32, f32>,
}

impl Around<'_> {
    /// A turn has neighbours and a session, what else was learned in a session has that.
    fn of(&mut self, asked: &Asked, place: usize, candidate: &Candidate) -> Option<Surroundings> {
        let Self { index, scratch, sessions } = self;
        let turn = u32::try_from(place).ok()?;
        let session = if candidate.attributes.kind == MemoryKind::Episode {
            index.sessions.of_turn(turn)?
        } else {
            index.sessions.of_scope(&candidate.attributes.scope)?
        };
        let lent = *sessions.entry(session).or_insert_with(|| {
            let most = |turn: u32| scratch.most.get(turn as usize).copied().unwrap_or(f32::NEG_INFINITY);
            index.sessions.session(
                session,
                &scratch.words,
                &scratch.most,
                |turn| index.least(asked, scratch, turn as usize, most(turn)),
                |turn| index.cosine(asked, turn as usize),
            )
        });
        let Lent { neighbours, replies } = index.sessions.lent(turn, &scratch.words);
        let among_people = index.sessions.among_people(session);
        Some(Surroundings::new(neighbours, lent).replies(replies).among_people(among_people))
    }
}
