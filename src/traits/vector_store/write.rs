use std::collections::HashSet;

use super::Version;
use crate::{
    EmbedderIdentity, Error, ErrorKind, GraphBatch, HistoryEvent, Memory, MemoryId, Result, Scope,
    types::check_metadata,
};

/// One way a memory can be found: a text for keyword search and its vector.
///
/// Most memories have one key, their own text. A long text has one for each passage, and a turn of a conversation may
/// be indexed with its date and speaker, and by the facts that were read from it; the memory's own text stays as it is.
/// A memory is as similar to a query as its best key.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexKey {
    /// What keyword search looks at.
    pub text: String,
    /// What vector search looks at. All zeros for a text that means nothing to the embedder.
    pub vector: Vec<f32>,
}

impl IndexKey {
    /// A key.
    #[must_use]
    pub fn new(text: impl Into<String>, vector: Vec<f32>) -> Self {
        Self { text: text.into(), vector }
    }
}

/// Greatest ordinal that is given: half of what signed columns hold, so that there is room for those that follow.
const ORDINAL_LIMIT: u64 = i64::MAX as u64 / 2;

/// What must be true of a memory for a write to go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// It does not exist.
    Absent,
    /// It exists, in this revision.
    Revision(u64),
    /// Nothing.
    Anything,
}

/// A memory to store or replace.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// The memory in its new state. Id and scope of a stored memory never change.
    pub memory: Memory,
    /// Its keys, at least one; `None` to keep those it has.
    pub keys: Option<Vec<IndexKey>>,
    /// What must be true beforehand.
    pub expect: Expect,
}

impl Put {
    /// A new memory.
    #[must_use]
    pub fn new(memory: Memory, keys: Vec<IndexKey>) -> Self {
        Self { memory, keys: Some(keys), expect: Expect::Absent }
    }

    /// A changed memory that was read in `revision`; with `keys` if its text changed.
    #[must_use]
    pub fn change(memory: Memory, keys: Option<Vec<IndexKey>>, revision: u64) -> Self {
        Self { memory, keys, expect: Expect::Revision(revision) }
    }
}

/// Holds a write back if others changed what it was planned from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchanged {
    /// No semantic memory (see [`MemoryKind::is_semantic`](crate::MemoryKind::is_semantic)) that this scope covers…
    pub scope: Scope,
    /// …was stored, changed or removed after this version.
    pub since: Version,
}

impl Unchanged {
    /// A guard.
    #[must_use]
    pub fn new(scope: Scope, since: Version) -> Self {
        Self { scope, since }
    }
}

/// What [`VectorStore::purge_all`](crate::VectorStore::purge_all) took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// Memories.
    pub memories: u64,
    /// Events of their history, and of that of memories that were removed before.
    pub events: u64,
    /// Entities of the graph.
    pub entities: u64,
    /// Relations of the graph, also those that had ended or expired.
    pub relations: u64,
}

impl Purged {
    /// So many of each.
    #[must_use]
    pub const fn new(memories: u64, events: u64, entities: u64, relations: u64) -> Self {
        Self { memories, events, entities, relations }
    }
}

/// Changes that belong together. Nothing in it is applied unless all of it is.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct WriteBatch {
    /// Memories to store or replace; each id once.
    pub puts: Vec<Put>,
    /// Memories to remove. One that does not exist is a [`Conflict`](crate::ErrorKind::Conflict).
    pub deletes: Vec<MemoryId>,
    /// Memories of which every earlier event is erased, be they there or not; unknown ones are passed over.
    pub erase_history: Vec<MemoryId>,
    /// The history of these changes, written as given.
    pub events: Vec<HistoryEvent>,
    /// Changes of the graph; only for a store with the capability `graph`.
    pub graph: GraphBatch,
    /// A guard; only for a store with the capability `guards`. Default none.
    pub unchanged: Option<Unchanged>,
    /// The embedder whose vectors it holds and was planned by; a store that is bound to another refuses the batch, whatever
    /// is in it. The engine says so with each of its own. Default none: the width is all that is checked.
    pub embedder: Option<EmbedderIdentity>,
}

impl WriteBatch {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { puts, deletes, erase_history, events, graph, unchanged: _, embedder: _ } = self;
        puts.is_empty() && deletes.is_empty() && erase_history.is_empty() && events.is_empty() && graph.is_empty()
    }

    /// Checks what can be checked without reading the store, which is bound to `embedder`: for whoever writes one.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument): a bad scope, an id twice, a new memory without keys, an
    /// empty list of keys, a vector with a number that is not finite, metadata nested deeper than 64, a blank kind, an
    /// importance that is not 0 to 1, a memory that ceases to hold before it begins to, revision 0, a revision or access count
    /// beyond what i64 holds, or an ordinal beyond half of it, and what [`GraphBatch::validate`] refuses; [`EmbedderMismatch`](ErrorKind::EmbedderMismatch): a batch of another embedder's,
    /// a vector of the wrong width, or keys without an embedder.
    pub fn validate(&self, embedder: Option<&EmbedderIdentity>) -> Result<()> {
        check_embedder(self.embedder.as_ref(), embedder)?;
        let mut ids = HashSet::new();
        for Put { memory, keys, expect } in &self.puts {
            check_memory(memory)?;
            if !ids.insert(memory.id) {
                return Err(Error::invalid("a write batch holds a memory twice"));
            }
            match keys {
                None if *expect == Expect::Absent => return Err(Error::invalid("a new memory has no keys")),
                None => {}
                Some(keys) if keys.is_empty() => return Err(Error::invalid("a memory must have at least one key")),
                Some(keys) => keys.iter().try_for_each(|key| check_vector(&key.vector, embedder))?,
            }
        }
        if !self.deletes.iter().all(|id| ids.insert(*id)) {
            return Err(Error::invalid("a write batch holds a memory twice"));
        }
        self.events.iter().try_for_each(|event| event.scope.validate())?;
        self.graph.validate()?;
        self.unchanged.iter().try_for_each(|guard| guard.scope.validate())
    }
}

/// What every stored memory is, by itself: what a write that says otherwise is refused for, and what looking a store
/// through holds its memories against.
pub(crate) fn check_memory(memory: &Memory) -> Result<()> {
    let Memory { scope, kind, metadata, importance, ordinal, valid_at, invalid_at, access_count, revision, .. } =
        memory;
    scope.validate()?;
    check_metadata(metadata)?;
    if kind.as_str().trim().is_empty() {
        return Err(Error::invalid("the kind of a memory is blank"));
    }
    if !(0.0..=1.0).contains(importance) {
        return Err(Error::invalid("the importance of a memory must be 0 to 1"));
    }
    if ordinal.is_some_and(|ordinal| ordinal > ORDINAL_LIMIT) {
        return Err(Error::invalid(format!("the ordinal of a memory is greater than {ORDINAL_LIMIT}")));
    }
    let most = i64::MAX.cast_unsigned();
    if *access_count > most || !(1..=most).contains(revision) {
        return Err(Error::invalid(format!("the revision of a memory is 0, or a number of it greater than {most}")));
    }
    if invalid_at.is_some_and(|end| end < *valid_at) {
        return Err(Error::invalid("a memory ceases to hold before it begins to"));
    }
    Ok(())
}

/// Of the same width, vectors of two embedders can be told apart by this alone.
pub(super) fn check_embedder(made_by: Option<&EmbedderIdentity>, bound: Option<&EmbedderIdentity>) -> Result<()> {
    match (made_by, bound) {
        (Some(made_by), Some(bound)) if made_by != bound => Err(bound.mismatch(made_by)),
        _ => Ok(()),
    }
}

pub(super) fn check_vector(vector: &[f32], embedder: Option<&EmbedderIdentity>) -> Result<()> {
    let Some(embedder) = embedder else {
        return Err(Error::new(ErrorKind::EmbedderMismatch, "the store is not bound to an embedder yet"));
    };
    if vector.len() != embedder.dimensions {
        return Err(Error::new(
            ErrorKind::EmbedderMismatch,
            format!(
                "a vector has {} dimensions, the store is bound to `{}` with {}",
                vector.len(),
                embedder.name,
                embedder.dimensions
            ),
        ));
    }
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::invalid("a vector holds a number that is not finite"));
    }
    Ok(())
}
