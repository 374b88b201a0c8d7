//! Memories, their keys, and the places of turns.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{At, Fault, Page, Part, read_row, readable, rows_after};
use crate::{
    Memory, MemoryKind, ProblemKind, ProblemPlace,
    backends::sqlite::{
        error::{Result, SqliteError},
        rows::{self, COLUMNS, Id, WIDTH, blob},
        write,
    },
    check_memory,
    cues::Cues,
    index::{Kept, Terms, kept_as, packed_cues},
};

pub(super) const PART: Part = Part { name: "memories", look, mend };

fn look(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "memories", "row", after)?;
    for row in rows {
        page.looked_at += 1;
        match readable(read(connection, row))?.flatten() {
            Some((memory, cues)) => {
                page.counts.memories += 1;
                if readable(of_memory(connection, row, &memory, cues.as_deref(), page))?.is_none() {
                    page.unreadable("keys", row);
                }
            }
            None => page.unreadable("memories", row),
        }
    }
    Ok(next)
}

/// The memory, and its cues as they are kept, if they are of their type at least.
pub(super) fn read(connection: &Connection, row: i64) -> Result<Option<(Memory, Option<Vec<u8>>)>> {
    let sql = format!("SELECT {COLUMNS}, cues FROM memories WHERE row = ?1");
    read_row(connection, &sql, [row], |row| {
        let memory = rows::memory(row)?;
        check_memory(&memory).map_err(|error| SqliteError::unreadable("memory", error))?;
        Ok((memory, readable(blob(row, WIDTH, "cues"))?.map(<[u8]>::to_vec)))
    })
}

/// What a memory that was superseded names may be gone: what ended stays ended. It may have no history: purging another
/// memory may erase it. And two turns may have one place, if whoever stored them said so, or an import brought it.
fn of_memory(connection: &Connection, row: i64, memory: &Memory, cues: Option<&[u8]>, page: &mut Page) -> Result<()> {
    let place = || ProblemPlace::Memory(memory.id);
    let dimensions = page.dimensions;
    let mut seen = |kind, kept, at| match kept {
        Kept::Same => {}
        Kept::Other => page.fault(kind, place(), at),
        Kept::Outdated => page.faults.push(Fault { kind, place: place(), at, outdated: true }),
    };
    let made = packed_cues(Cues::of(&memory.text));
    seen(ProblemKind::Cues, cues.map_or(Kept::Other, |cues| kept_as(cues, &made)), [row, 0, 0]);
    let mut statement =
        connection.prepare_cached("SELECT number, text, terms, vector FROM keys WHERE memory = ?1 ORDER BY number")?;
    let mut found = statement.query([row])?;
    let (mut keys, mut in_order, mut has_bad_vector) = (0, true, false);
    let mut numbers = Vec::new();
    while let Some(columns) = found.next()? {
        // A number or a text that cannot be read is no key.
        let number: Option<i64> = readable(columns.get(0).map_err(Into::into))?;
        let own = columns.get_ref(1)?.as_str_or_null().map(|text| text.unwrap_or(&memory.text).to_owned());
        let text = readable(own.map_err(|error| SqliteError::unreadable("text", error)))?;
        in_order &= number == Some(keys) && text.is_some();
        keys += 1;
        let (Some(number), Some(text)) = (number, text) else { continue };
        let made = Terms::of(&text);
        let kept = readable(blob(columns, 2, "terms"))?.map_or(Kept::Other, |kept| kept_as(kept, made.as_bytes()));
        seen(ProblemKind::Terms, kept, [row, number, 0]);
        numbers.clear();
        if let Some(dimensions) = dimensions {
            has_bad_vector |= readable(whole_vector(columns, 3, dimensions, &mut numbers))?.is_none();
        }
    }
    if !in_order || keys != key_count(connection, row)? {
        seen(ProblemKind::Keys, Kept::Other, [row, 0, 0]);
    }
    if has_bad_vector {
        seen(ProblemKind::Vector, Kept::Other, [row, 0, 0]);
    }
    if has_unsure_place(connection, memory)? {
        seen(ProblemKind::Places, Kept::Other, [row, 0, 0]);
    }
    // An index that leads nowhere is told of by itself.
    if let Some(kind) = readable(history_fault(connection, memory))?.flatten() {
        seen(kind, Kept::Other, [row, 0, 0]);
    }
    page.counts.keys += keys.cast_unsigned();
    Ok(())
}

/// How many keys a memory was stored with; 0, which none was, where that cannot be read.
pub(super) fn key_count(connection: &Connection, row: i64) -> Result<i64> {
    let mut statement = connection.prepare_cached("SELECT key_count FROM memories WHERE row = ?1")?;
    Ok(readable(statement.query_row([row], |row| row.get(0)).map_err(Into::into))?.unwrap_or(0))
}

/// A vector that can be searched.
pub(super) fn whole_vector(row: &Row<'_>, column: usize, dimensions: usize, numbers: &mut Vec<f32>) -> Result<()> {
    rows::vector(row, column, dimensions, numbers)?;
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(SqliteError::unreadable("vector", "a number of it is not finite"))
}

/// Whether the next turn might get the place of this one.
fn has_unsure_place(connection: &Connection, memory: &Memory) -> Result<bool> {
    let Some(ordinal) = memory.ordinal.filter(|_| memory.kind == MemoryKind::Episode) else { return Ok(false) };
    let mut statement =
        connection.prepare_cached("SELECT next FROM places WHERE user = ?1 AND agent = ?2 AND session = ?3")?;
    let next = statement.query_row(rows::parts(&memory.scope), |row| row.get(0)).optional();
    let next: Option<i64> = readable(next.map_err(Into::into))?.flatten();
    // The greatest number has none after it.
    Ok(next.is_none_or(|next| next < ordinal.cast_signed().saturating_add(1)))
}

/// Events that end a validity tell the text as the old one.
fn history_fault(connection: &Connection, memory: &Memory) -> Result<Option<ProblemKind>> {
    let sql = "SELECT coalesce(new_text, old_text) IS ?2 FROM history WHERE memory = ?1 ORDER BY sequence DESC LIMIT 1";
    let same: Option<bool> =
        connection.prepare_cached(sql)?.query_row(params![Id(memory.id), memory.text], |row| row.get(0)).optional()?;
    Ok(same.filter(|same| !same).map(|_| ProblemKind::HistoryText))
}

fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    let [row, number, _] = fault.at;
    // Gone meanwhile.
    let Some((memory, _)) = read(connection, row)? else { return Ok(()) };
    match fault.kind {
        ProblemKind::Cues => {
            let cues = packed_cues(Cues::of(&memory.text));
            connection.prepare_cached("UPDATE memories SET cues = ?2 WHERE row = ?1")?.execute(params![row, cues])?;
        }
        ProblemKind::Terms => {
            let sql = "SELECT text FROM keys WHERE memory = ?1 AND number = ?2";
            let text = read_row(connection, sql, [row, number], |row| Ok(row.get::<_, Option<String>>(0)?))?;
            let Some(text) = text else { return Ok(()) };
            let terms = Terms::of(text.as_deref().unwrap_or(&memory.text));
            let sql = "UPDATE keys SET terms = ?3 WHERE memory = ?1 AND number = ?2";
            connection.prepare_cached(sql)?.execute(params![row, number, terms.as_bytes()])?;
        }
        ProblemKind::Places => {
            write::place(connection, &memory.scope, memory.ordinal)?;
        }
        _ => return Ok(()),
    }
    // Indexes in memory, here and elsewhere, may have been built from what was wrong.
    write::log(connection, memory.id, &memory.scope, false, true)
}
