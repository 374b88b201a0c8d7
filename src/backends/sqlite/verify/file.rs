//! The file as SQLite sees it: its tables and indexes, its pages, and what refers to what.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, ErrorCode};

use super::{At, Fault, Page, Part, nothing_to_mend};
use crate::{
    ProblemKind, ProblemPlace,
    backends::sqlite::{
        error::{Result, SqliteError},
        open::SCHEMA,
    },
};

pub(super) const LAYOUT: Part = Part { name: "layout", look: layout, mend: make_index };
pub(super) const PAGES: Part = Part { name: "pages", look: pages, mend: reindex };
pub(super) const REFERENCES: Part = Part { name: "references", look: references, mend: remove_stray };

/// Most lines of SQLite's own check that are read.
const LINES: usize = 1_000;

/// Tables and indexes by name, each with the statement that makes it.
fn made(connection: &Connection) -> Result<BTreeMap<String, (bool, String)>> {
    let mut statement =
        connection.prepare("SELECT name, type = 'index', sql FROM sqlite_master WHERE sql IS NOT NULL")?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn wanted() -> Result<BTreeMap<String, (bool, String)>> {
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(SCHEMA)?;
    made(&fresh)
}

fn layout(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let there = made(connection)?;
    for (name, (is_index, _)) in wanted()? {
        page.looked_at += 1;
        if there.contains_key(&name) {
            continue;
        }
        if is_index {
            page.fault(ProblemKind::FileIndex, ProblemPlace::Part(name), [0; 3]);
        } else {
            page.fault(ProblemKind::DamagedFile, ProblemPlace::Part(format!("the table {name} is missing")), [0; 3]);
        }
    }
    if page.dimensions.is_none() {
        let any = connection.prepare("SELECT 1 FROM keys LIMIT 1")?.exists([])?;
        if any {
            page.fault(ProblemKind::NoEmbedder, ProblemPlace::Part("the table meta".to_owned()), [0; 3]);
        }
    }
    Ok(None)
}

fn make_index(connection: &Connection, fault: &Fault) -> Result<()> {
    let ProblemPlace::Part(name) = &fault.place else { return Ok(()) };
    match wanted()?.get(name) {
        Some((true, sql)) if !made(connection)?.contains_key(name) => Ok(connection.execute_batch(sql)?),
        _ => Ok(()),
    }
}

/// Of the lines of SQLite's check those about an index that does not have what its table has name the index at their end.
fn pages(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({LINES})"))?;
    let mut found = statement.query([])?;
    let mut indexes = BTreeSet::new();
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        let told: String = row.get(0)?;
        // Of damaged pages it tells several in one answer, under a heading.
        for line in told.lines().filter(|line| !line.starts_with("***")) {
            let of_an_index = ["missing from index ", "wrong # of entries in index ", "non-unique entry in index "];
            match of_an_index.into_iter().find_map(|about| Some(line.split_once(about)?.1.to_owned())) {
                Some(index) => drop(indexes.insert(index)),
                None if line == "ok" => {}
                None => page.fault(ProblemKind::DamagedFile, ProblemPlace::Part(line.to_owned()), [0; 3]),
            }
        }
    }
    for index in indexes {
        page.fault(ProblemKind::FileIndex, ProblemPlace::Part(index), [0; 3]);
    }
    Ok(None)
}

fn reindex(connection: &Connection, fault: &Fault) -> Result<()> {
    let ProblemPlace::Part(index) = &fault.place else { return Ok(()) };
    match connection.execute_batch(&format!("REINDEX \"{}\"", index.replace('"', "\"\""))) {
        // Two rows say that they are the same: which of them is right is not known.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(SqliteError::unreadable("index", error))
        }
        result => Ok(result?),
    }
}

/// Rows that are found from what they belong to alone, by table: the column that names it, and where it would be.
const STRAYS: [(&str, &str, &str); 3] = [
    ("keys", "memory", "memories"),
    ("entity_names", "entity", "entities"),
    ("relation_sources", "relation", "relations"),
];
/// Tables whose references are looked at with the rows themselves.
const ELSEWHERE: [&str; 5] = ["keys", "entity_names", "relation_sources", "relations", "messages"];

fn references(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    for (number, (table, column, owner)) in (0..).zip(STRAYS) {
        let mut statement = connection.prepare(&format!(
            "SELECT DISTINCT {column} FROM {table} WHERE NOT EXISTS (SELECT 1 FROM {owner} WHERE {owner}.row = {column})"
        ))?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let owner: i64 = row.get(0)?;
            page.fault(ProblemKind::Stray, ProblemPlace::Row(table, owner), [number, owner, 0]);
        }
    }
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        if !ELSEWHERE.contains(&table.as_str()) {
            let told = format!("a row of {table} belongs to one of {parent} that is not there");
            page.fault(ProblemKind::DamagedFile, ProblemPlace::Part(told), [0; 3]);
        }
    }
    Ok(None)
}

fn remove_stray(connection: &Connection, fault: &Fault) -> Result<()> {
    let [number, row, _] = fault.at;
    let Some((table, column, owner)) = usize::try_from(number).ok().and_then(|number| STRAYS.get(number)) else {
        return nothing_to_mend(connection, fault);
    };
    connection
        .prepare_cached(&format!(
            "DELETE FROM {table} WHERE {column} = ?1 AND NOT EXISTS (SELECT 1 FROM {owner} WHERE {owner}.row = ?1)"
        ))?
        .execute([row])?;
    Ok(())
}
