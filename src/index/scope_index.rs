use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashMap, HashSet},
    sync::Arc,
};

use super::{
    postings::Postings,
    sessions::{Around, Sessions},
    vectors::Vectors,
};
use crate::{
    Attributes, Candidate, Field, Filter, IndexKey, Memory, MemoryId, Metadata, SearchQuery, Timestamp, Validity,
    score::lexical::Bm25,
    types::{Content, Fields},
};

/// How much the words of neighbouring turns count, next to a turn's own, in what is proposed for them.
const LENT: f32 = 1.5;

/// A memory and the keys it is found by, as an index takes it in.
#[derive(Debug)]
pub(crate) struct Indexed<'m> {
    pub(crate) memory: &'m Memory,
    pub(crate) keys: &'m [IndexKey],
}

/// What the index keeps of a memory: what filters and ranking look at.
#[derive(Debug)]
struct Entry {
    id: MemoryId,
    attributes: Attributes,
    expires_at: Option<Timestamp>,
    categories: Box<[String]>,
    metadata: Option<Box<Metadata>>,
    slot: Option<Box<str>>,
    /// The numbers of its keys: a run, since keys of one memory come in together.
    keys: std::ops::Range<u32>,
    alive: bool,
}

impl Fields for Entry {
    fn content(&self, field: &Field) -> Content<'_> {
        let attributes = &self.attributes;
        match field {
            Field::Kind => Content::Text(attributes.kind.as_str()),
            Field::Category => Content::Texts(&self.categories),
            Field::Importance => Content::Number(attributes.importance),
            Field::Pinned => Content::Flag(attributes.pinned),
            Field::Speaker => Content::text(attributes.speaker.as_deref()),
            Field::Trust => Content::Text(attributes.trust.as_str()),
            Field::Slot => Content::text(self.slot.as_deref()),
            Field::User => Content::text(attributes.scope.user_id()),
            Field::Agent => Content::text(attributes.scope.agent_id()),
            Field::Session => Content::text(attributes.scope.session_id()),
            Field::Ordinal => attributes.ordinal.map_or(Content::Missing, Content::Whole),
            Field::ObservedAt => Content::Time(attributes.observed_at),
            Field::ValidAt => Content::Time(attributes.valid_at),
            Field::InvalidAt => Content::time(attributes.invalid_at),
            Field::ExpiresAt => Content::time(self.expires_at),
            Field::CreatedAt => Content::Time(attributes.created_at),
            Field::UpdatedAt => Content::Time(attributes.updated_at),
            Field::Metadata(path) => {
                self.metadata.as_deref().map_or(Content::Missing, |metadata| Content::metadata(metadata, path))
            }
        }
    }
}

/// The index of one reader's scope.
#[derive(Debug)]
pub(crate) struct ScopeIndex {
    places: HashMap<MemoryId, usize>,
    entries: Vec<Entry>,
    /// The entry of each key.
    owners: Vec<u32>,
    vectors: Vectors,
    postings: Postings,
    sessions: Sessions,
    bm25: Bm25,
    /// Texts that many memories share: scopes and speakers.
    scopes: HashSet<Arc<crate::Scope>>,
    speakers: HashSet<Arc<str>>,
    entry_bytes: usize,
}

impl ScopeIndex {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            places: HashMap::new(),
            entries: Vec::new(),
            owners: Vec::new(),
            vectors: Vectors::new(dimensions),
            postings: Postings::default(),
            sessions: Sessions::default(),
            bm25: Bm25::default(),
            scopes: HashSet::new(),
            speakers: HashSet::new(),
            entry_bytes: 0,
        }
    }

    /// Takes a memory in, in place of what it has of it.
    pub(crate) fn put(&mut self, indexed: &Indexed<'_>) {
        self.remove(indexed.memory.id);
        let Ok(owner) = u32::try_from(self.entries.len()) else { return };
        let first = self.key_count();
        for key in indexed.keys {
            self.vectors.push(&key.vector);
            self.postings.push(&key.text);
            self.owners.push(owner);
        }
        let memory = indexed.memory;
        self.places.insert(memory.id, self.entries.len());
        let entry = self.entry(memory, first..self.key_count());
        self.sessions.put(&entry.attributes, entry.id, owner);
        self.entry_bytes += bytes_of(&entry);
        self.entries.push(entry);
    }

    /// Takes over the fields of a memory whose keys have not changed. `false` if the index does not have it.
    pub(crate) fn refresh(&mut self, memory: &Memory) -> bool {
        let Some(&place) = self.places.get(&memory.id) else { return false };
        let Some(keys) = self.entries.get(place).map(|entry| entry.keys.clone()) else { return false };
        let fresh = self.entry(memory, keys);
        if let Some(entry) = self.entries.get(place) {
            self.sessions.remove(&entry.attributes, entry.id);
        }
        self.sessions.put(&fresh.attributes, fresh.id, u32::try_from(place).unwrap_or(u32::MAX));
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = fresh;
        }
        true
    }

    pub(crate) fn remove(&mut self, id: MemoryId) {
        let Some(place) = self.places.remove(&id) else { return };
        if let Some(entry) = self.entries.get_mut(place) {
            entry.alive = false;
            self.sessions.remove(&entry.attributes, id);
            entry.keys.clone().for_each(|key| self.postings.remove(key));
        }
    }

    /// Whether more of it is dead than alive, so that building it anew pays.
    pub(crate) fn is_stale(&self) -> bool {
        self.entries.len() > 64 && self.entries.len() > 2 * self.places.len()
    }

    /// An estimate of the memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        const PLACE: usize = 2 * (size_of::<MemoryId>() + size_of::<usize>());
        self.vectors.bytes()
            + self.postings.bytes()
            + self.entry_bytes
            + self.places.len() * PLACE
            + self.owners.len() * 4
            + self.sessions.bytes()
    }

    /// The candidates of a query; its scope is the one this index was built for.
    pub(crate) fn search(&self, query: &SearchQuery) -> Vec<Candidate> {
        let admission = Admission { filter: query.filter.as_ref(), validity: query.validity };
        let cosines = query.vector.as_deref().map(|vector| self.best(self.vectors.cosines(vector)));
        // A text without a word to look for is 0 to everything.
        let keywords = query.text.as_deref().map(|text| {
            let scores = self.postings.scores(text, self.bm25);
            scores.map_or_else(|| vec![0.0; self.entries.len()], |scores| self.best(scores.into_iter()))
        });
        let surroundings = match (&cosines, &keywords) {
            (Some(cosines), Some(keywords)) => self.sessions.surroundings(cosines, keywords),
            _ => Around::default(),
        };
        let mut chosen = HashSet::new();
        if let Some(cosines) = &cosines {
            chosen.extend(self.top(cosines.iter().copied(), f32::NEG_INFINITY, query.limit, &admission));
        }
        if let Some(keywords) = &keywords {
            chosen.extend(self.top(keywords.iter().copied(), 0.0, query.limit, &admission));
            // Turns that hold few of the words themselves and stand among others that do.
            let lent = keywords.iter().zip(&surroundings.turns).map(|(own, around)| own + LENT * around.neighbours);
            chosen.extend(self.top(lent, 0.0, query.limit, &admission));
        }
        if !query.dates.is_empty() {
            chosen.extend(self.dated(query, cosines.as_deref(), keywords.as_deref(), &admission));
        }
        if cosines.is_none() && keywords.is_none() {
            chosen.extend(self.newest(query.limit, &admission));
        }
        let of = |scores: &Vec<f32>, place: usize| scores.get(place).copied().unwrap_or(0.0);
        let mut candidates: Vec<Candidate> = chosen
            .into_iter()
            .filter_map(|place| {
                let entry = self.entries.get(place)?;
                let mut candidate = Candidate::new(entry.id, entry.attributes.clone());
                candidate.cosine = cosines.as_ref().map(|scores| of(scores, place));
                candidate.keyword = keywords.as_ref().map(|scores| of(scores, place));
                candidate.surroundings = surroundings.of(&entry.attributes, place);
                Some(candidate)
            })
            .collect();
        candidates.sort_unstable_by_key(|candidate| candidate.id);
        candidates
    }

    /// For each entry the best of its keys.
    fn best(&self, key_scores: impl Iterator<Item = f32>) -> Vec<f32> {
        let mut best = vec![f32::NEG_INFINITY; self.entries.len()];
        for (score, owner) in key_scores.zip(&self.owners) {
            if let Some(best) = best.get_mut(*owner as usize)
                && score > *best
            {
                *best = score;
            }
        }
        best
    }

    /// The places of the best `limit` living entries above `floor`, in no particular order.
    fn top(
        &self,
        scores: impl Iterator<Item = f32>,
        floor: f32,
        limit: usize,
        admission: &Admission<'_>,
    ) -> Vec<usize> {
        // The worst of the best is on top of the heap: most entries are told off by one comparison.
        let mut heap: BinaryHeap<Reverse<Ranked>> = BinaryHeap::new();
        for (place, (score, entry)) in scores.zip(&self.entries).enumerate() {
            if score <= floor || !entry.alive || limit == 0 {
                continue;
            }
            let ranked = Ranked { score, id: entry.id, place };
            if heap.len() == limit && heap.peek().is_some_and(|Reverse(worst)| ranked <= *worst) {
                continue;
            }
            if admission.admits(entry) {
                if heap.len() == limit {
                    heap.pop();
                }
                heap.push(Reverse(ranked));
            }
        }
        heap.into_iter().map(|Reverse(ranked)| ranked.place).collect()
    }

    /// The best of what lies in one of the named stretches of time.
    fn dated(
        &self,
        query: &SearchQuery,
        cosines: Option<&[f32]>,
        keywords: Option<&[f32]>,
        admission: &Admission<'_>,
    ) -> Vec<usize> {
        let of = |scores: Option<&[f32]>, place| {
            scores.and_then(|scores| scores.get(place)).map_or(0.0, |score: &f32| score.max(0.0))
        };
        let scores = self.entries.iter().enumerate().map(|(place, entry)| {
            let dated = query.dates.iter().any(|range| entry.attributes.lies_in(*range));
            if dated { of(cosines, place) + of(keywords, place) } else { f32::NEG_INFINITY }
        });
        self.top(scores, f32::NEG_INFINITY, query.limit, admission)
    }

    fn newest(&self, limit: usize, admission: &Admission<'_>) -> Vec<usize> {
        let mut places: Vec<(MemoryId, usize)> = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.alive && admission.admits(entry))
            .map(|(place, entry)| (entry.id, place))
            .collect();
        places.sort_unstable_by(|left, right| right.cmp(left));
        places.truncate(limit);
        places.into_iter().map(|(_, place)| place).collect()
    }

    fn key_count(&self) -> u32 {
        u32::try_from(self.owners.len()).unwrap_or(u32::MAX)
    }

    fn entry(&mut self, memory: &Memory, keys: std::ops::Range<u32>) -> Entry {
        let mut attributes = Attributes::from(memory);
        attributes.scope = shared(&mut self.scopes, attributes.scope);
        attributes.speaker = attributes.speaker.map(|speaker| shared(&mut self.speakers, speaker));
        Entry {
            id: memory.id,
            attributes,
            expires_at: memory.expires_at,
            categories: memory.categories.clone().into_boxed_slice(),
            metadata: (!memory.metadata.is_empty()).then(|| Box::new(memory.metadata.clone())),
            slot: memory.slot.as_deref().map(Box::from),
            keys,
            alive: true,
        }
    }
}

/// One allocation for equal values.
fn shared<T: Eq + std::hash::Hash + ?Sized>(known: &mut HashSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    if let Some(known) = known.get(&value) {
        return Arc::clone(known);
    }
    known.insert(Arc::clone(&value));
    value
}

fn bytes_of(entry: &Entry) -> usize {
    let texts: usize = entry.categories.iter().map(|text| text.len() + size_of::<String>()).sum();
    // A map node and its parts: JSON in memory is several times its text.
    let metadata = entry.metadata.as_ref().map_or(0, |metadata| 120 * metadata.len() + 48);
    size_of::<Entry>() + texts + metadata + entry.slot.as_ref().map_or(0, |slot| slot.len())
}

struct Admission<'q> {
    filter: Option<&'q Filter>,
    validity: Validity,
}

impl Admission<'_> {
    fn admits(&self, entry: &Entry) -> bool {
        self.validity.admits(entry.attributes.valid_at, entry.attributes.invalid_at, entry.expires_at)
            && self.filter.is_none_or(|filter| filter.admits(entry))
    }
}

/// An entry in the order of its score; equals by id, the newer above.
#[derive(PartialEq)]
struct Ranked {
    score: f32,
    id: MemoryId,
    place: usize,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.id.cmp(&other.id))
    }
}
