//! Conversations and the queue of adds.

use rusqlite::{Connection, Row};

use super::{At, Page, Part, is_scope, nothing_to_mend, read_row, readable, rows_after};
use crate::{
    CallId, MOST_MESSAGES, ProblemKind, ProblemPlace, QueuedAdd, QueuedState,
    backends::sqlite::{
        conversations::{self, read as message},
        error::{Result, SqliteError},
        queue,
        rows::{self, Time},
    },
    types::check_metadata,
};

pub(super) const CONVERSATIONS: Part = Part { name: "conversations", look: conversations, mend: nothing_to_mend };
pub(super) const MESSAGES: Part = Part { name: "messages", look: messages, mend: nothing_to_mend };
pub(super) const ERASED: Part = Part { name: "erased conversations", look: erased, mend: nothing_to_mend };
pub(super) const QUEUE: Part = Part { name: "queue", look: queue, mend: nothing_to_mend };

fn conversations(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "conversations", "row", after)?;
    for row in rows {
        page.looked_at += 1;
        match readable(numbers(connection, row))?.flatten() {
            Some(true) => {}
            Some(false) => page.fault(ProblemKind::Conversation, ProblemPlace::Row("conversations", row), [row, 0, 0]),
            None => page.unreadable("conversations", row),
        }
    }
    Ok(next)
}

/// Whether the messages of a conversation are those it says it has, and its summary covers some of what there was.
fn numbers(connection: &Connection, row: i64) -> Result<Option<bool>> {
    let sql = "SELECT user, agent, session, first, next, covers_before, summarized_at, summary FROM conversations
               WHERE row = ?1";
    let said = read_row(connection, sql, [row], |row| {
        is_scope(&rows::scope(row, 0)?)?;
        let numbers: [i64; 3] = [row.get(3)?, row.get(4)?, row.get(5)?];
        let summary: Option<String> = row.get(7)?;
        let at: Option<Time> = row.get(6)?;
        if summary.is_some() != at.is_some() {
            return Err(SqliteError::unreadable("summary", "it has no time, or the time no summary"));
        }
        Ok((numbers, summary.is_some()))
    })?;
    let Some(([first, next, covers], has_summary)) = said else { return Ok(Some(true)) };
    let sql = "SELECT count(*), coalesce(min(sequence), ?2), coalesce(max(sequence) + 1, ?2) FROM messages
               WHERE conversation = ?1";
    let there = read_row(connection, sql, [row, next], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let covers_some = if has_summary { (1..=next).contains(&covers) } else { covers == 0 };
    let is_within = first >= 0 && (first..=MOST_MESSAGES.cast_signed()).contains(&next);
    Ok(Some(is_within && covers_some && there == Some([next - first, first, next])))
}

/// Whether the message of that conversation and number says something.
pub(in super::super) fn can_be_read(connection: &Connection, at: [i64; 2]) -> Result<bool> {
    let sql = format!("SELECT {} FROM messages WHERE conversation = ?1 AND sequence = ?2", conversations::COLUMNS);
    let read = |row: &Row<'_>| {
        let read = message(row)?;
        check_metadata(&read.message.metadata).map_err(|error| SqliteError::unreadable("metadata", error))
    };
    Ok(readable(read_row(connection, &sql, at, read))?.flatten().is_some())
}

/// Messages by conversation and number. Those of a conversation that is not there are told of once.
fn messages(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let mut statement = connection.prepare_cached(
        "SELECT conversation, sequence FROM messages WHERE (conversation, sequence) > (?1, ?2)
         ORDER BY conversation, sequence LIMIT ?3",
    )?;
    let [conversation, sequence, known] = after.unwrap_or([i64::MIN; 3]);
    let mut last_known = known;
    let found = statement.query_map([conversation, sequence, super::PAGE], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Vec<(i64, i64)> = found.collect::<rusqlite::Result<_>>()?;
    for (conversation, sequence) in &found {
        page.looked_at += 1;
        if can_be_read(connection, [*conversation, *sequence])? {
            page.counts.messages += 1;
        } else {
            page.unreadable("messages", *sequence);
        }
        if last_known != *conversation {
            last_known = *conversation;
            let mut there = connection.prepare_cached("SELECT 1 FROM conversations WHERE row = ?1")?;
            if !there.exists([conversation])? {
                let place = ProblemPlace::Row("conversations", *conversation);
                page.fault(ProblemKind::Conversation, place, [*conversation, 0, 0]);
            }
        }
    }
    Ok(found.last().filter(|_| found.len() as i64 == super::PAGE).map(|(row, number)| [*row, *number, last_known]))
}

/// How far the numbers of what was erased had come. The rows have no number of their own.
fn erased(connection: &Connection, _: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let mut statement = connection.prepare("SELECT name, next FROM erased_conversations")?;
    let mut found = statement.query([])?;
    let read = |row: &Row<'_>| -> Result<_> { Ok((row.get::<_, [u8; 16]>(0)?, rows::whole(row.get(1)?, "number")?)) };
    while let Some(row) = found.next()? {
        page.looked_at += 1;
        if readable(read(row))?.is_none_or(|(_, next)| next > MOST_MESSAGES) {
            let place = ProblemPlace::Part("a row of erased_conversations".to_owned());
            page.fault(ProblemKind::Conversation, place, [0; 3]);
        }
    }
    Ok(None)
}

fn queue(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "queue", "sequence", after)?;
    for row in rows {
        page.looked_at += 1;
        match readable(add(connection, row))?.flatten() {
            Some(_) => page.counts.queued_adds += 1,
            None => {
                let sql = "SELECT id FROM queue WHERE sequence = ?1";
                let id =
                    readable(read_row(connection, sql, [row], |row| Ok(CallId::from_bytes(row.get(0)?))))?.flatten();
                let place = id.map_or(ProblemPlace::Row("queue", row), ProblemPlace::QueuedAdd);
                page.fault(ProblemKind::Unreadable, place, [row, 0, 0]);
            }
        }
    }
    Ok(next)
}

fn add(connection: &Connection, row: i64) -> Result<Option<QueuedAdd>> {
    let sql = format!("SELECT {} FROM queue WHERE sequence = ?1", queue::COLUMNS);
    read_row(connection, &sql, [row], |row| {
        let add = queue::read(row)?;
        is_scope(&add.scope)?;
        if (add.state == QueuedState::Running) != add.leased_until.is_some() {
            return Err(SqliteError::unreadable(
                "state of a queued add",
                "it runs without a lease, or has one and does not",
            ));
        }
        Ok(add)
    })
}
