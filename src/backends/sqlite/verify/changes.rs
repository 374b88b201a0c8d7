//! The list of changes, and the numbers that are given one after the other.

use rusqlite::{Connection, OptionalExtension, Row};

use super::{At, Fault, Page, Part, is_scope, readable};
use crate::{
    ProblemKind, ProblemPlace,
    backends::sqlite::{
        error::Result,
        rows::{self, Id},
        write,
    },
};

pub(super) const PART: Part = Part { name: "changes", look, mend };

/// Tables whose numbers are never given again, with the column that has them.
const NUMBERED: [(&str, &str); 3] = [("changes", "version"), ("history", "sequence"), ("queue", "sequence")];

fn look(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    for (number, (table, column)) in (0..).zip(NUMBERED) {
        if is_behind(connection, table, column)? {
            let told = format!("the last number of {table}");
            page.fault(ProblemKind::Versions, ProblemPlace::Part(told), [number, 1, 0]);
        }
    }
    let mut statement =
        connection.prepare("SELECT version, id, user, agent, session, semantic, keys FROM changes ORDER BY version")?;
    let mut found = statement.query([])?;
    let mut last: Option<i64> = None;
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        let version: i64 = row.get(0)?;
        // An index that follows the list would miss what a gap leaves out.
        if readable(read(row))?.is_none() || last.is_some_and(|last| version != last + 1) {
            page.fault(ProblemKind::Versions, ProblemPlace::Row("changes", version), [0; 3]);
            break;
        }
        last = Some(version);
    }
    Ok(None)
}

fn read(row: &Row<'_>) -> Result<()> {
    let (id, scope) = (row.get::<_, Id>(1)?.0, rows::scope(row, 2)?);
    // What concerns no memory, such as a change of the graph, is of nobody.
    if *id.as_bytes() != [0; 16] || rows::parts(&scope) != [""; 3] {
        is_scope(&scope)?;
    }
    rows::flag(row, 5, "mark of what is known")?;
    rows::flag(row, 6, "mark of keys").map(drop)
}

/// A number beyond this was not counted up to: there would soon be none left, which SQLite tells as a full disk.
const FARTHEST: i64 = 1 << 53;

/// Whether the next number would be one that was given before, or there is none to give.
fn is_behind(connection: &Connection, table: &str, column: &str) -> Result<bool> {
    let greatest = greatest(connection, table, column)?;
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let kept = connection.prepare_cached(sql)?.query_row([table], |row| row.get::<_, i64>(0)).optional();
    Ok(match readable(kept.map_err(Into::into))? {
        Some(Some(kept)) => kept < greatest || kept > FARTHEST.max(greatest),
        Some(None) => greatest > 0,
        None => true,
    })
}

fn greatest(connection: &Connection, table: &str, column: &str) -> Result<i64> {
    Ok(connection.query_row(&format!("SELECT coalesce(max({column}), 0) FROM {table}"), [], |row| row.get(0))?)
}

fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    let [number, is_behind, _] = fault.at;
    if let Some((table, column)) = usize::try_from(number).ok().and_then(|number| NUMBERED.get(number))
        && is_behind == 1
    {
        connection.prepare_cached("DELETE FROM sqlite_sequence WHERE name = ?1")?.execute([table])?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        connection.prepare_cached(sql)?.execute((table, greatest(connection, table, column)?))?;
    }
    // Without the list, indexes are built anew and guards hold back, as if it had grown too long.
    write::forget_changes(connection)
}
