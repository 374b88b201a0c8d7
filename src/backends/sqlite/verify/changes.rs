//! The list of changes, and the numbers that are given one after the other.

use rusqlite::{Connection, OptionalExtension};

use super::{At, Fault, Page, Part, readable};
use crate::{
    MemoryId, ProblemKind, ProblemPlace, Scope,
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
    let mut statement = connection.prepare("SELECT version, id, user, agent, session FROM changes ORDER BY version")?;
    let mut found = statement.query([])?;
    let mut last: Option<i64> = None;
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        let version: i64 = row.get(0)?;
        let is_read =
            readable(row.get::<_, Id>(1).map_err(Into::into))?.is_some() && readable(rows::scope(row, 2))?.is_some();
        // An index that follows the list would miss what a gap leaves out.
        if !is_read || last.is_some_and(|last| version != last + 1) {
            page.fault(ProblemKind::Versions, ProblemPlace::Row("changes", version), [0; 3]);
            break;
        }
        last = Some(version);
    }
    Ok(None)
}

fn is_behind(connection: &Connection, table: &str, column: &str) -> Result<bool> {
    let greatest: Option<i64> =
        connection.query_row(&format!("SELECT max({column}) FROM {table}"), [], |row| row.get(0))?;
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let kept: Option<i64> = connection.prepare_cached(sql)?.query_row([table], |row| row.get(0)).optional()?;
    Ok(greatest > kept)
}

fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    let [number, is_behind, _] = fault.at;
    if let Some((table, column)) = usize::try_from(number).ok().and_then(|number| NUMBERED.get(number))
        && is_behind == 1
    {
        let greatest: i64 =
            connection.query_row(&format!("SELECT coalesce(max({column}), 0) FROM {table}"), [], |row| row.get(0))?;
        connection
            .prepare_cached("DELETE FROM sqlite_sequence WHERE name = ?1 AND seq < ?2")?
            .execute((table, greatest))?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2
                   WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)";
        connection.prepare_cached(sql)?.execute((table, greatest))?;
    }
    // Without the list, indexes are built anew and guards hold back, as if it had grown too long.
    write::log(connection, MemoryId::from_bytes([0; 16]), &Scope::from_parts(None, None, None), true, false)?;
    connection.prepare_cached("DELETE FROM changes")?.execute([])?;
    Ok(())
}
