//! The places that the next turns get.

use rusqlite::{Connection, Row, types::Value};

use super::{At, Fault, Page, Part, is_scope, readable};
use crate::{
    MemoryKind, ProblemKind, ProblemPlace, Scope,
    backends::sqlite::{
        error::{Result, SqliteError},
        rows, write,
    },
};

pub(super) const PART: Part = Part { name: "places", look, mend };

/// No session comes that far by itself, and beyond the greatest number there is no place: unless a turn is there, a next
/// place above this is damage.
const FARTHEST: i64 = 1 << 53;

const SELECT: &str = "SELECT user, agent, session, next FROM places";

fn look(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let mut statement = connection.prepare(SELECT)?;
    let mut found = statement.query([])?;
    let mut wrong = 0;
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        if readable(read(connection, row))?.is_none() {
            let place = ProblemPlace::Part("the next place of a turn".to_owned());
            page.fault(ProblemKind::Places, place, [wrong, 0, 0]);
            wrong += 1;
        }
    }
    Ok(None)
}

fn read(connection: &Connection, row: &Row<'_>) -> Result<()> {
    let scope = rows::scope(row, 0)?;
    is_scope(&scope)?;
    let next: i64 = row.get(3)?;
    let is_near = (1..=FARTHEST).contains(&next);
    if is_near || (next > 0 && last(connection, &scope)?.is_some_and(|last| last >= next - 1)) {
        return Ok(());
    }
    Err(SqliteError::unreadable("next place of a turn", "it is no place, or out of reach"))
}

/// The last place that a turn of this scope has.
fn last(connection: &Connection, scope: &Scope) -> Result<Option<i64>> {
    let sql = "SELECT max(ordinal) FROM memories
               WHERE user = ?1 AND agent = ?2 AND session = ?3 AND kind = ?4 AND typeof(ordinal) = 'integer'";
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([user, agent, session, MemoryKind::Episode.as_str()], |row| row.get(0))?)
}

/// All of them with the first: rows without a number are found by what is wrong with them.
fn mend(connection: &Connection, fault: &Fault) -> Result<()> {
    if fault.at != [0; 3] {
        return Ok(());
    }
    let mut wrong: Vec<([Value; 3], Option<Scope>)> = Vec::new();
    let mut statement = connection.prepare(SELECT)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        if readable(read(connection, row))?.is_none() {
            let scope = readable(rows::scope(row, 0))?.filter(|scope| is_scope(scope).is_ok());
            wrong.push(([row.get(0)?, row.get(1)?, row.get(2)?], scope));
        }
    }
    for (columns, scope) in wrong {
        let sql = "DELETE FROM places WHERE user IS ?1 AND agent IS ?2 AND session IS ?3";
        connection.prepare_cached(sql)?.execute(columns)?;
        let Some(scope) = scope else { continue };
        if let Some(last) = last(connection, &scope)?.and_then(|last| u64::try_from(last).ok()) {
            write::place(connection, &scope, Some(last))?;
        }
    }
    Ok(())
}
