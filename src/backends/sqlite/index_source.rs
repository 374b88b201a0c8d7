use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{
    entries::{self, EntryReader},
    error::{Result, SqliteError},
    rows::{self, COLUMNS, Id, WIDTH},
    write,
};
use crate::{
    EmbedderIdentity, IndexKey, Memory, MemoryId, Scope, Version,
    cues::Cues,
    index::{AnalysedKey, Change, IndexSource, ScopeIndex, TermList, Terms},
};

/// More changes than this are dearer to follow than the indexes in question are to build.
const FOLLOW_LIMIT: usize = 20_000;

/// A read transaction, as the index cache wants it.
pub(super) struct Snapshot<'c> {
    pub(super) connection: &'c Connection,
    /// The one the store is bound to.
    pub(super) embedder: &'c EmbedderIdentity,
}

impl IndexSource for Snapshot<'_> {
    fn version(&self) -> crate::Result<Version> {
        write::version(self.connection).map_err(told)
    }

    fn embedder(&self) -> Option<&EmbedderIdentity> {
        Some(self.embedder)
    }

    fn changes(&self, since: Version) -> crate::Result<Option<Vec<Change>>> {
        match self.read_changes(since) {
            // One row that cannot be read must not shut out the readers of other scopes: indexes are built anew, and
            // only that of the row's own scope fails.
            Err(SqliteError::Unreadable { .. }) => Ok(None),
            changes => changes.map_err(told),
        }
    }

    fn build(&self, scope: &Scope) -> crate::Result<ScopeIndex> {
        self.build_index(scope).map_err(told)
    }
}

fn told(error: SqliteError) -> crate::Error {
    error.told("reading for the search index")
}

impl Snapshot<'_> {
    fn read_changes(&self, since: Version) -> Result<Option<Vec<Change>>> {
        if !write::remembers(self.connection, since)? {
            return Ok(None);
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT id, user, agent, session, keys FROM changes WHERE version > ?1 ORDER BY version LIMIT ?2",
        )?;
        let mut rows = statement.query([since.0.cast_signed(), i64::try_from(FOLLOW_LIMIT + 1).unwrap_or(i64::MAX)])?;
        // Each memory once, in its present state, where it was changed first.
        let mut order: Vec<(MemoryId, Scope)> = Vec::new();
        let mut keys_changed: HashMap<MemoryId, bool> = HashMap::new();
        let mut count = 0_usize;
        while let Some(row) = rows.next()? {
            count += 1;
            if count > FOLLOW_LIMIT {
                return Ok(None);
            }
            let id = row.get::<_, Id>(0)?.0;
            let keys: bool = row.get(4)?;
            let known = keys_changed.get(&id).copied();
            if known.is_none() {
                order.push((id, rows::scope(row, 1)?));
            }
            keys_changed.insert(id, keys || known.unwrap_or(false));
        }
        let changes = order.into_iter().map(|(id, scope)| {
            let Some((row, memory)) = self.memory(id)? else {
                return Ok(Change::Gone { scope, id });
            };
            Ok(if keys_changed.get(&id).copied().unwrap_or(true) {
                let keys = self.keys(row)?;
                Change::Put { cues: Cues::of(&memory.text), memory: Box::new(memory), keys }
            } else {
                let cues = Cues::of(&memory.text);
                Change::Refreshed(Box::new(memory), cues)
            })
        });
        changes.collect::<Result<Vec<_>>>().map(Some)
    }

    fn memory(&self, id: MemoryId) -> Result<Option<(i64, Memory)>> {
        let found = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS}, row FROM memories WHERE id = ?1"))?
            .query_row([Id(id)], |row| Ok((row.get::<_, i64>(WIDTH)?, rows::memory(row))))
            .optional()?;
        found.map(|(row, memory)| Ok((row, memory?))).transpose()
    }

    /// The keys of a memory that the scope covers.
    pub(super) fn keys_of(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        match self.memory(id)? {
            Some((row, memory)) if scope.covers(&memory.scope) => self.stored_keys(row, &memory),
            _ => Ok(Vec::new()),
        }
    }

    fn stored_keys(&self, row: i64, memory: &Memory) -> Result<Vec<IndexKey>> {
        let mut statement =
            self.connection.prepare_cached("SELECT text, vector FROM keys WHERE memory = ?1 ORDER BY number")?;
        let mut found = statement.query([row])?;
        let mut keys = Vec::new();
        while let Some(row) = found.next()? {
            let text = row.get::<_, Option<String>>(0)?.unwrap_or_else(|| memory.text.clone());
            let mut vector = Vec::with_capacity(self.embedder.dimensions);
            rows::vector(row, 1, self.embedder.dimensions, &mut vector)?;
            keys.push(IndexKey::new(text, vector));
        }
        Ok(keys)
    }

    fn keys(&self, row: i64) -> Result<Vec<AnalysedKey>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT terms, vector, number FROM keys WHERE memory = ?1 ORDER BY number")?;
        let mut found = statement.query([row])?;
        let mut keys = Vec::new();
        while let Some(columns) = found.next()? {
            let mut vector = Vec::with_capacity(self.embedder.dimensions);
            rows::vector(columns, 1, self.embedder.dimensions, &mut vector)?;
            let terms = match Terms::kept(rows::blob(columns, 0, "terms")?) {
                Some(terms) => terms,
                None => Terms::of(&self.text_of_key(row, columns.get(2)?)?),
            };
            keys.push(AnalysedKey { terms, vector });
        }
        Ok(keys)
    }

    fn text_of_key(&self, row: i64, number: i64) -> Result<String> {
        let mut statement = self.connection.prepare_cached(
            "SELECT coalesce(keys.text, memories.text) FROM keys JOIN memories ON memories.row = keys.memory
             WHERE keys.memory = ?1 AND keys.number = ?2",
        )?;
        Ok(statement.query_row([row, number], |row| row.get(0))?)
    }

    fn text_of(&self, row: i64) -> Result<String> {
        let mut statement = self.connection.prepare_cached("SELECT text FROM memories WHERE row = ?1")?;
        Ok(statement.query_row([row], |row| row.get(0))?)
    }

    /// Reads what an index keeps and nothing else; what may be long is left where it lies.
    fn build_index(&self, scope: &Scope) -> Result<ScopeIndex> {
        let mut index = ScopeIndex::new(self.embedder.dimensions);
        let covered = write::covered(scope);
        let [user, agent, session] = rows::parts(scope);
        let parts = named_params! { ":user": user, ":agent": agent, ":session": session };
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT count(*) FROM memories WHERE {covered}"))?;
        let count: i64 = statement.query_row(parts, |row| row.get(0))?;
        index.reserve(usize::try_from(count).unwrap_or(0));
        // A cross join is two loops, the left one outside, so the keys of a memory follow each other; an ORDER BY that
        // says so would sort whole rows, vectors included.
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {}, keys.memory, keys.number, keys.terms, keys.vector
             FROM memories CROSS JOIN keys ON keys.memory = memories.row WHERE {covered}",
            entries::COLUMNS,
        ))?;
        let mut found = statement.query(parts)?;
        let (mut reader, mut last, mut vector) =
            (EntryReader::default(), None, Vec::with_capacity(self.embedder.dimensions));
        while let Some(columns) = found.next()? {
            let row: i64 = columns.get(entries::WIDTH)?;
            if last != Some(row) {
                let (id, mut entry, cues_are_kept) = reader.read(columns)?;
                if !cues_are_kept {
                    entry.attributes.cues = Cues::of(&self.text_of(row)?);
                }
                index.begin(id, entry);
                last = Some(row);
            }
            vector.clear();
            rows::vector(columns, entries::WIDTH + 3, self.embedder.dimensions, &mut vector)?;
            match TermList::kept(rows::blob(columns, entries::WIDTH + 2, "terms")?) {
                Some(terms) => index.key(terms, &vector),
                None => {
                    let text = self.text_of_key(row, columns.get(entries::WIDTH + 1)?)?;
                    index.key(Terms::of(&text).list(), &vector);
                }
            }
        }
        Ok(index)
    }
}
