//! Changing the embedder of a filled file. Vectors by the new one are staged in a table of their own, whose rows go with
//! their keys, so that what is there is always of a key's present text; one transaction puts them in place.
//!
//! For which embedder they are staged is in `meta`, and every step asks in its own transaction whether that still holds.

use rusqlite::{Connection, params};

use super::{
    connection::{Bound, read_embedder},
    error::{Result, SqliteError},
    rows::{self, Id},
    write,
};
use crate::{EmbedderIdentity, Error, KeyPlace, Reembedding, StagedVector, StoredKey, is_under_way};

/// Begins, or goes on with what was staged for the same embedder.
pub(super) fn begin(connection: &Connection, target: &EmbedderIdentity) -> Result<Reembedding> {
    let bound = read_embedder(connection, Bound::InUse)?;
    let begun = read_embedder(connection, Bound::Staged)?;
    if begun.as_ref() != Some(target) {
        connection.prepare_cached("DELETE FROM staged")?.execute([])?;
    }
    if bound.as_ref() == Some(target) {
        forget_target(connection)?;
    } else {
        write_embedder(connection, Bound::Staged, target)?;
    }
    let count = |table: &str| -> Result<u64> {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    };
    Ok(Reembedding::new(bound, count("staged")?, count("keys")?))
}

fn stages_for(connection: &Connection, target: &EmbedderIdentity) -> Result<bool> {
    let bound = read_embedder(connection, Bound::InUse)?;
    let begun = read_embedder(connection, Bound::Staged)?;
    Ok(is_under_way(bound.as_ref(), begun.as_ref(), target)?)
}

pub(super) fn unstaged(
    connection: &Connection,
    target: &EmbedderIdentity,
    after: Option<KeyPlace>,
    limit: usize,
) -> Result<Vec<StoredKey>> {
    if !stages_for(connection, target)? {
        return Ok(Vec::new());
    }
    // Along the index of the ids, so that every batch begins where the one before ended.
    let mut statement = connection.prepare_cached(
        "SELECT memories.id, keys.number, coalesce(keys.text, memories.text), memories.kind = 'block'
         FROM memories CROSS JOIN keys ON keys.memory = memories.row
         WHERE memories.id >= coalesce(?1, x'') AND (memories.id <> coalesce(?1, x'') OR keys.number > ?2)
         AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.memory = keys.memory AND staged.number = keys.number)
         ORDER BY memories.id, keys.number LIMIT ?3",
    )?;
    let (id, number) = (after.map(|place| Id(place.memory)), after.map_or(-1, |place| i64::from(place.number)));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = statement.query(params![id, number, limit])?;
    let mut keys = Vec::new();
    while let Some(row) = found.next()? {
        let number = row.get::<_, i64>(1)?;
        let number = u32::try_from(number).map_err(|cause| SqliteError::unreadable("number of a key", cause))?;
        let place = KeyPlace { memory: row.get::<_, Id>(0)?.0, number };
        keys.push(StoredKey { place, text: row.get(2)?, is_block: row.get(3)? });
    }
    Ok(keys)
}

pub(super) fn stage(connection: &Connection, target: &EmbedderIdentity, vectors: &[StagedVector]) -> Result<u64> {
    if !stages_for(connection, target)? {
        return Ok(0);
    }
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO staged (memory, number, vector)
         SELECT keys.memory, keys.number, ?4 FROM memories CROSS JOIN keys ON keys.memory = memories.row
         WHERE memories.id = ?1 AND keys.number = ?2 AND coalesce(keys.text, memories.text) = ?3",
    )?;
    let mut count = 0;
    for StagedVector { key: StoredKey { place, text, .. }, vector } in vectors {
        count += statement.execute(params![Id(place.memory), place.number, text, rows::vector_bytes(vector)])?;
    }
    Ok(count as u64)
}

pub(super) fn swap(connection: &Connection, target: &EmbedderIdentity) -> Result<bool> {
    if !stages_for(connection, target)? {
        return Ok(true);
    }
    // What was damaged since it was staged is staged anew.
    let bytes = i64::try_from(target.dimensions.saturating_mul(4)).unwrap_or(i64::MAX);
    connection.prepare_cached("DELETE FROM staged WHERE length(vector) <> ?1")?.execute([bytes])?;
    const STAGED: &str = "FROM staged WHERE staged.memory = keys.memory AND staged.number = keys.number";
    let missing: bool = connection
        .prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM keys WHERE NOT EXISTS (SELECT 1 {STAGED}))"))?
        .query_row([], |row| row.get(0))?;
    if missing {
        return Ok(false);
    }
    connection.prepare_cached(&format!("UPDATE keys SET vector = (SELECT vector {STAGED})"))?.execute([])?;
    connection.prepare_cached("DELETE FROM staged")?.execute([])?;
    write_embedder(connection, Bound::InUse, target)?;
    forget_target(connection)?;
    // Indexes that follow the list of changes must not get here by it: they hold vectors of the embedder before.
    write::forget_changes(connection)?;
    Ok(true)
}

fn forget_target(connection: &Connection) -> Result<()> {
    let (name, dimensions) = Bound::Staged.columns();
    connection.prepare_cached("DELETE FROM meta WHERE key IN (?1, ?2)")?.execute([name, dimensions])?;
    Ok(())
}

/// Writes which embedder the store is bound to, or vectors are staged for.
pub(super) fn write_embedder(connection: &Connection, which: Bound, embedder: &EmbedderIdentity) -> Result<()> {
    let width = i64::try_from(embedder.dimensions)
        .ok()
        .filter(|dimensions| *dimensions > 0)
        .ok_or_else(|| Error::invalid("an embedder must have at least one dimension"))?;
    let (name, dimensions) = which.columns();
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
    statement.execute(params![name, embedder.name])?;
    statement.execute(params![dimensions, width.to_string()])?;
    Ok(())
}
