use std::collections::HashMap;

use super::{
    cache::IndexMark,
    dictionary::QuickState,
    entry::{Entry, OVERHEAD, SharedTexts, Span, Standing},
    postings::Postings,
    sessions::{Position, Sessions, Turn},
    terms::{TermList, Terms},
    vectors::Vectors,
};
use crate::{Attributes, Memory, MemoryId, MemoryKind, Trust, cues::Cues, score::lexical::Bm25};

/// A key as an index takes it in.
#[derive(Debug, Clone)]
pub(crate) struct AnalysedKey {
    pub(crate) terms: Terms,
    pub(crate) vector: Vec<f32>,
}

/// A memory and the keys it is found by.
#[derive(Debug)]
pub(crate) struct Indexed<'m> {
    pub(crate) memory: &'m Memory,
    /// Of the memory's text.
    pub(crate) cues: Cues,
    pub(crate) keys: &'m [AnalysedKey],
}

/// The index of one reader's scope. What every search reads of every memory lies in rows of its own.
#[derive(Debug)]
pub(crate) struct ScopeIndex {
    pub(super) places: HashMap<MemoryId, u32, QuickState>,
    pub(super) entries: Vec<Entry>,
    pub(super) ids: Vec<MemoryId>,
    pub(super) standings: Vec<Standing>,
    pub(super) spans: Vec<Span>,
    /// The first key of each entry: the keys of one memory come in together.
    firsts: Vec<u32>,
    /// The entry of each key.
    pub(super) owners: Vec<u32>,
    /// Whether every entry has one key, so that the numbers of keys are places.
    pub(super) one_to_one: bool,
    pub(super) vectors: Vectors,
    pub(super) postings: Postings,
    pub(super) sessions: Sessions,
    pub(super) bm25: Bm25,
    texts: SharedTexts,
    entry_bytes: usize,
}

impl ScopeIndex {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            places: HashMap::default(),
            entries: Vec::new(),
            ids: Vec::new(),
            standings: Vec::new(),
            spans: Vec::new(),
            firsts: Vec::new(),
            owners: Vec::new(),
            one_to_one: true,
            vectors: Vectors::new(dimensions),
            postings: Postings::default(),
            sessions: Sessions::default(),
            bm25: Bm25::default(),
            texts: SharedTexts::default(),
            entry_bytes: 0,
        }
    }

    /// Takes a memory in, in place of what it has of it.
    pub(crate) fn put(&mut self, indexed: &Indexed<'_>) {
        let Indexed { memory, cues, keys } = indexed;
        self.begin(memory.id, Entry::new(memory, *cues));
        for AnalysedKey { terms, vector } in *keys {
            self.key(terms.list(), vector);
        }
    }

    /// Takes a memory in, in place of what it has of it. Its keys are to come next.
    pub(crate) fn begin(&mut self, id: MemoryId, mut entry: Entry) {
        let Ok(place) = u32::try_from(self.entries.len()) else { return };
        let first = u32::try_from(self.owners.len()).unwrap_or(u32::MAX);
        // Of those before, at least one has no key if there are fewer keys, and `key` sees those with more.
        self.one_to_one &= first == place;
        if let Some(before) = self.places.insert(id, place) {
            self.end(before);
        }
        self.texts.share(&mut entry.attributes);
        self.entry_bytes += entry.bytes();
        self.firsts.push(first);
        self.ids.push(id);
        self.standings.push(entry.standing());
        self.spans.push(entry.span());
        self.entries.push(entry);
        self.take_place(place);
    }

    /// Takes in a key of the memory that came last.
    pub(crate) fn key(&mut self, terms: TermList<'_>, vector: &[f32]) {
        let Some(place) = self.entries.len().checked_sub(1).and_then(|place| u32::try_from(place).ok()) else { return };
        self.one_to_one &= self.owners.last() != Some(&place);
        self.vectors.push(vector);
        self.postings.push(terms);
        self.owners.push(place);
    }

    /// Room for so many memories: growing would copy what is there again and again.
    pub(crate) fn reserve(&mut self, memories: usize) {
        self.places.reserve(memories);
        self.entries.reserve(memories);
        self.vectors.reserve(memories);
    }

    /// Takes over the fields of a memory whose keys have not changed. `false` if the index does not have it.
    pub(crate) fn refresh(&mut self, memory: &Memory, cues: Cues) -> bool {
        let Some(&place) = self.places.get(&memory.id) else { return false };
        let Self { sessions, entries, ids, .. } = self;
        sessions.remove(place, turn(entries, place), |place| position(entries, ids, place));
        let mut fresh = Entry::new(memory, cues);
        self.texts.share(&mut fresh.attributes);
        if let Some(span) = self.spans.get_mut(place as usize) {
            *span = fresh.span();
        }
        if let Some(standing) = self.standings.get_mut(place as usize) {
            *standing = fresh.standing();
        }
        if let Some(entry) = self.entries.get_mut(place as usize) {
            self.entry_bytes = (self.entry_bytes + fresh.bytes()).saturating_sub(entry.bytes());
            *entry = fresh;
        }
        self.take_place(place);
        true
    }

    pub(crate) fn remove(&mut self, id: MemoryId) {
        if let Some(place) = self.places.remove(&id) {
            self.end(place);
        }
    }

    fn end(&mut self, place: u32) {
        let Self { sessions, entries, ids, .. } = self;
        sessions.remove(place, turn(entries, place), |place| position(entries, ids, place));
        if let Some(standing) = self.standings.get_mut(place as usize) {
            *standing = Standing::Gone;
        }
        self.keys(place as usize).for_each(|key| self.postings.remove(key));
    }

    /// A turn comes between those before and after it.
    fn take_place(&mut self, place: u32) {
        let Self { sessions, entries, ids, .. } = self;
        let entry = entries.get(place as usize).map(|entry| &entry.attributes);
        if let Some(episode) = entry.filter(|attributes| attributes.kind == MemoryKind::Episode) {
            sessions.put(&episode.scope, place, turn(entries, place), |place| position(entries, ids, place));
        }
    }

    /// Whether more of it is dead than alive, so that building it anew pays.
    pub(crate) fn is_stale(&self) -> bool {
        self.entries.len() > 64 && self.entries.len() > 2 * self.places.len()
    }

    /// Gives back the room that growing left over: for one that was just built and mostly will be read.
    pub(crate) fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.standings.shrink_to_fit();
        self.spans.shrink_to_fit();
        self.firsts.shrink_to_fit();
        self.owners.shrink_to_fit();
        self.vectors.shrink();
        self.postings.shrink();
        self.sessions.shrink();
    }

    /// What it has, by id.
    pub(crate) fn marks(&self) -> Vec<(MemoryId, IndexMark)> {
        let mark = |(id, place): (&MemoryId, &u32)| {
            let Attributes { updated_at, access_count, invalid_at, .. } =
                &self.entries.get(*place as usize)?.attributes;
            let keys = self.keys(*place as usize).len();
            let mark =
                IndexMark { updated_at: *updated_at, access_count: *access_count, invalid_at: *invalid_at, keys };
            Some((*id, mark))
        };
        let mut marks: Vec<(MemoryId, IndexMark)> = self.places.iter().filter_map(mark).collect();
        marks.sort_unstable_by_key(|(id, _)| *id);
        marks
    }

    /// An estimate of the memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        const PLACE: usize = size_of::<(MemoryId, u32)>() + 1;
        // About as many allocations as there are lists.
        const ALLOCATIONS: usize = 24 * OVERHEAD;
        let spare = (self.entries.capacity() - self.entries.len()) * size_of::<Entry>();
        ALLOCATIONS
            + size_of::<Self>()
            + self.vectors.bytes()
            + self.postings.bytes()
            + self.entry_bytes
            + spare
            + self.places.capacity() * PLACE * 8 / 7
            + self.ids.capacity() * (size_of::<MemoryId>() + size_of::<Span>() + 5)
            + self.texts.bytes()
            + self.owners.capacity() * 4
            + self.sessions.bytes()
    }

    /// The numbers of an entry's keys.
    pub(super) fn keys(&self, place: usize) -> std::ops::Range<u32> {
        let all = u32::try_from(self.owners.len()).unwrap_or(u32::MAX);
        let first = |place: usize| self.firsts.get(place).copied().unwrap_or(all);
        first(place)..first(place + 1)
    }
}

fn turn(entries: &[Entry], place: u32) -> Turn {
    entries.get(place as usize).map_or_else(Turn::default, |entry| Turn {
        asks: entry.attributes.cues.asks,
        by_assistant: entry.attributes.trust == Trust::Assistant,
    })
}

fn position(entries: &[Entry], ids: &[MemoryId], place: u32) -> Position {
    let place = place as usize;
    let ordinal = entries.get(place).and_then(|entry| entry.attributes.ordinal);
    (ordinal.unwrap_or(u64::MAX), ids.get(place).copied().unwrap_or(MemoryId::from_bytes([0; 16])))
}
