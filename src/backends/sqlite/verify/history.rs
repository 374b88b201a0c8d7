//! Events of histories, also of memories that are gone.

use rusqlite::Connection;

use super::{At, Page, Part, is_scope, nothing_to_mend, read_row, readable, rows_after};
use crate::{
    HistoryEvent, ProblemKind, ProblemPlace,
    backends::sqlite::{
        error::Result,
        rows::{self, Id},
    },
};

pub(super) const PART: Part = Part { name: "history", look, mend: nothing_to_mend };

fn look(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "history", "sequence", after)?;
    for row in rows {
        page.looked_at += 1;
        let Some(event) = readable(read(connection, row))?.flatten() else {
            page.unreadable("history", row);
            continue;
        };
        page.counts.events += 1;
        let sql = "SELECT user, agent, session FROM memories WHERE id = ?1";
        let scope = readable(read_row(connection, sql, [Id(event.memory)], |row| rows::scope(row, 0)))?.flatten();
        if scope.is_some_and(|scope| scope != event.scope) {
            page.fault(ProblemKind::HistoryScope, ProblemPlace::Memory(event.memory), [row, 0, 0]);
        }
    }
    Ok(next)
}

fn read(connection: &Connection, row: i64) -> Result<Option<HistoryEvent>> {
    let sql = "SELECT memory, user, agent, session, kind, old_text, new_text, at, actor, call, reason FROM history
               WHERE sequence = ?1";
    read_row(connection, sql, [row], |row| {
        let event = rows::event(row)?;
        is_scope(&event.scope)?;
        Ok(event)
    })
}
