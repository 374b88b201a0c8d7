use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{
    error::{Result, SqliteError},
    rows::{self, COLUMNS, Id, WIDTH},
    write,
};
use crate::{
    Memory, MemoryId, Scope, Version,
    index::{AnalysedKey, Change, IndexSource, Indexed, ScopeIndex},
};

/// More changes than this are dearer to follow than the indexes in question are to build.
const FOLLOW_LIMIT: usize = 20_000;

/// A read transaction, as the index cache wants it.
pub(super) struct Snapshot<'c> {
    pub(super) connection: &'c Connection,
    pub(super) dimensions: usize,
}

impl IndexSource for Snapshot<'_> {
    fn version(&self) -> crate::Result<Version> {
        write::version(self.connection).map_err(told)
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
                let keys = self.keys(row, &memory)?;
                Change::Put { memory: Box::new(memory), keys }
            } else {
                Change::Refreshed(Box::new(memory))
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

    fn keys(&self, row: i64, memory: &Memory) -> Result<Vec<AnalysedKey>> {
        let mut statement =
            self.connection.prepare_cached("SELECT text, terms, vector FROM keys WHERE memory = ?1 ORDER BY number")?;
        let mut found = statement.query([row])?;
        let mut keys = Vec::new();
        while let Some(row) = found.next()? {
            keys.push(rows::key(row, 0, &memory.text, self.dimensions)?);
        }
        Ok(keys)
    }

    fn build_index(&self, scope: &Scope) -> Result<ScopeIndex> {
        let mut index = ScopeIndex::new(self.dimensions);
        let columns = COLUMNS.split(", ").map(|column| format!("memories.{column}")).collect::<Vec<_>>().join(", ");
        // A cross join is two loops, the left one outside, so the keys of a memory follow each other; an ORDER BY that
        // says so would sort whole rows, texts and vectors included.
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {columns}, keys.text, keys.terms, keys.vector, memories.row
             FROM memories CROSS JOIN keys ON keys.memory = memories.row WHERE {}",
            write::covered(scope)
        ))?;
        let [user, agent, session] = rows::parts(scope);
        let mut found = statement.query(named_params! { ":user": user, ":agent": agent, ":session": session })?;
        let mut current: Option<(i64, Memory, Vec<AnalysedKey>)> = None;
        while let Some(row) = found.next()? {
            let number: i64 = row.get(WIDTH + 3)?;
            if let Some((_, memory, keys)) = current.as_mut().filter(|(current, ..)| *current == number) {
                keys.push(rows::key(row, WIDTH, &memory.text, self.dimensions)?);
                continue;
            }
            if let Some((_, memory, keys)) = current.take() {
                index.put(&Indexed { memory: &memory, keys: &keys });
            }
            let memory = rows::memory(row)?;
            let keys = vec![rows::key(row, WIDTH, &memory.text, self.dimensions)?];
            current = Some((number, memory, keys));
        }
        if let Some((_, memory, keys)) = current {
            index.put(&Indexed { memory: &memory, keys: &keys });
        }
        Ok(index)
    }
}
