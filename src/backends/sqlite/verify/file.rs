//! The file as SQLite sees it: its tables and indexes, its pages, and what refers to what.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, ErrorCode, types::Value};

use super::{At, Fault, Page, Part, nothing_to_mend, readable};
use crate::{
    ProblemKind, ProblemPlace,
    backends::sqlite::{
        connection::{Bound, read_embedder},
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

/// What a new file has.
fn fresh() -> Result<Connection> {
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(SCHEMA)?;
    Ok(fresh)
}

fn columns(connection: &Connection, table: &str) -> Result<BTreeSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    Ok(statement.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn layout(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (there, fresh) = (made(connection)?, fresh()?);
    let mut damaged = |told: String| page.fault(ProblemKind::DamagedFile, ProblemPlace::Part(told), [0; 3]);
    let mut indexes = Vec::new();
    let wanted = made(&fresh)?;
    for (name, (is_index, _)) in &wanted {
        match (there.contains_key(name), is_index) {
            (true, true) => {}
            (false, true) => indexes.push(name.clone()),
            (false, false) => damaged(format!("the table {name} is missing")),
            (true, false) => {
                let (there, wanted) = (columns(connection, name)?, columns(&fresh, name)?);
                wanted
                    .difference(&there)
                    .for_each(|gone| damaged(format!("the column {gone} of the table {name} is missing")));
                there.difference(&wanted).for_each(|one| {
                    damaged(format!("the table {name} has a column {one}, which is not of its version"))
                });
            }
        }
    }
    for index in indexes {
        page.fault(ProblemKind::FileIndex, ProblemPlace::Part(index), [0; 3]);
    }
    page.looked_at += wanted.len() as u64;
    Ok(None)
}

fn make_index(connection: &Connection, fault: &Fault) -> Result<()> {
    let ProblemPlace::Part(name) = &fault.place else { return Ok(()) };
    match made(&fresh()?)?.get(name) {
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
                None if is_of_a_value(line) => page.values.push(line.to_owned()),
                None => page.fault(ProblemKind::DamagedFile, ProblemPlace::Part(line.to_owned()), [0; 3]),
            }
        }
    }
    for index in indexes {
        page.fault(ProblemKind::FileIndex, ProblemPlace::Part(index), [0; 3]);
    }
    Ok(None)
}

/// What is told of values is told by row when the rows are read.
fn is_of_a_value(line: &str) -> bool {
    line.starts_with("CHECK constraint failed in ") || line.starts_with("NULL value in ")
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
/// Of [`mend`], for the staged vectors.
const STAGED: i64 = STRAYS.len() as i64;
/// Tables whose references are looked at with the rows themselves, or here.
const ELSEWHERE: [&str; 6] = ["keys", "staged", "entity_names", "relation_sources", "relations", "messages"];

fn stray(table: &str, column: &str, owner: &str) -> String {
    format!("FROM {table} WHERE NOT EXISTS (SELECT 1 FROM {owner} WHERE {owner}.row = {column})")
}

/// Staged vectors of a key that is not there, or that would not be used: of another width than `?1`, or for nobody, where
/// that is NULL.
const STRAY_STAGED: &str = "FROM staged WHERE ?1 IS NULL OR typeof(vector) <> 'blob' OR length(vector) <> ?1
    OR NOT EXISTS (SELECT 1 FROM keys WHERE keys.memory = staged.memory AND keys.number = staged.number)";

/// How long a staged vector is in bytes, if any is to be there.
fn staged_bytes(connection: &Connection) -> Result<Option<i64>> {
    let embedder = readable(read_embedder(connection, Bound::Staged))?.flatten();
    Ok(embedder.and_then(|embedder| i64::try_from(embedder.dimensions.saturating_mul(4)).ok()))
}

fn references(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let row = |table, value: Value| match value {
        Value::Integer(row) => ProblemPlace::Row(table, row),
        _ => ProblemPlace::Part(format!("a row of {table}")),
    };
    for (number, (table, column, owner)) in (0..).zip(STRAYS) {
        let mut statement = connection.prepare(&format!("SELECT DISTINCT {column} {}", stray(table, column, owner)))?;
        let mut found = statement.query([])?;
        let mut count = 0;
        while let Some(columns) = found.next()? {
            page.fault(ProblemKind::Stray, row(table, columns.get(0)?), [number, count, 0]);
            count += 1;
        }
    }
    let mut statement = connection.prepare(&format!("SELECT DISTINCT memory {STRAY_STAGED}"))?;
    let mut found = statement.query([staged_bytes(connection)?])?;
    let mut count = 0;
    while let Some(columns) = found.next()? {
        page.fault(ProblemKind::Stray, row("staged", columns.get(0)?), [STAGED, count, 0]);
        count += 1;
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

/// All strays of a table with the first of them: they are known by nothing but that.
fn remove_stray(connection: &Connection, fault: &Fault) -> Result<()> {
    let [number, count, _] = fault.at;
    if count > 0 {
        return Ok(());
    }
    if number == STAGED {
        connection.prepare_cached(&format!("DELETE {STRAY_STAGED}"))?.execute([staged_bytes(connection)?])?;
        return Ok(());
    }
    let Some((table, column, owner)) = usize::try_from(number).ok().and_then(|number| STRAYS.get(number)) else {
        return nothing_to_mend(connection, fault);
    };
    connection.prepare_cached(&format!("DELETE {}", stray(table, column, owner)))?.execute([])?;
    Ok(())
}
