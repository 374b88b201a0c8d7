//! Memories, their keys, and the places of turns.

use rusqlite::{Connection, OptionalExtension, params};

use super::{At, Fault, Page, Part, is_scope, read_row, readable, rows_after};
use crate::{
    Memory, MemoryKind, ProblemKind, ProblemPlace,
    backends::sqlite::{
        error::{Result, SqliteError},
        rows::{self, COLUMNS, Id, WIDTH, blob},
        write,
    },
    cues::Cues,
    index::{Kept, Terms, kept_as, packed_cues},
    types::check_metadata,
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
fn read(connection: &Connection, row: i64) -> Result<Option<(Memory, Option<Vec<u8>>)>> {
    let sql = format!("SELECT {COLUMNS}, cues FROM memories WHERE row = ?1");
    read_row(connection, &sql, [row], |row| {
        let memory = rows::memory(row)?;
        is_scope(&memory.scope)?;
        check_metadata(&memory.metadata).map_err(|error| SqliteError::unreadable("metadata", error))?;
        if !memory.importance.is_finite() {
            return Err(SqliteError::unreadable("importance", "it is no number"));
        }
        if memory.ordinal.is_some_and(|ordinal| ordinal > i64::MAX.cast_unsigned()) {
            return Err(SqliteError::unreadable("ordinal", "it is below zero"));
        }
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
    let (mut keys, mut vectors) = (0, 0);
    let mut numbers = Vec::new();
    while let Some(columns) = found.next()? {
        keys += 1;
        let number: i64 = columns.get(0)?;
        let own = columns.get_ref(1)?.as_str_or_null().map(|text| text.unwrap_or(&memory.text).to_owned());
        let Some(text) = readable(own.map_err(|error| SqliteError::unreadable("text", error)))? else {
            seen(ProblemKind::Unreadable, Kept::Other, [row, number, 0]);
            continue;
        };
        let made = Terms::of(&text);
        let kept = readable(blob(columns, 2, "terms"))?.map_or(Kept::Other, |kept| kept_as(kept, made.as_bytes()));
        seen(ProblemKind::Terms, kept, [row, number, 0]);
        numbers.clear();
        let whole = match dimensions {
            Some(dimensions) => readable(rows::vector(columns, 3, dimensions, &mut numbers))?.is_some(),
            None => true,
        };
        vectors += u64::from(!whole || numbers.iter().any(|number: &f32| !number.is_finite()));
    }
    if keys == 0 {
        seen(ProblemKind::NoKeys, Kept::Other, [row, 0, 0]);
    }
    (0..vectors).for_each(|_| seen(ProblemKind::Vector, Kept::Other, [row, 0, 0]));
    if has_unsure_place(connection, memory)? {
        seen(ProblemKind::Places, Kept::Other, [row, 0, 0]);
    }
    // An index that leads nowhere is told of by itself.
    if let Some(kind) = readable(history_fault(connection, memory))?.flatten() {
        seen(kind, Kept::Other, [row, 0, 0]);
    }
    page.counts.keys += keys;
    Ok(())
}

/// Whether the next turn might get the place of this one.
fn has_unsure_place(connection: &Connection, memory: &Memory) -> Result<bool> {
    let Some(ordinal) = memory.ordinal.filter(|_| memory.kind == MemoryKind::Episode) else { return Ok(false) };
    let mut statement =
        connection.prepare_cached("SELECT next FROM places WHERE user = ?1 AND agent = ?2 AND session = ?3")?;
    let next: Option<i64> = statement.query_row(rows::parts(&memory.scope), |row| row.get(0)).optional()?;
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
