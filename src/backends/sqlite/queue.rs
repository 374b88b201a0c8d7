//! The queue of adds, in the file of the memories: what is queued there is as durable as they are, and every process that
//! opens the file shares it.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params, types::ValueRef};

use super::{
    SqliteStore,
    error::{Result as SqliteResult, SqliteError},
    rows::{self, Id, Time, named, text},
};
use crate::{
    AddFailure, AddQueue, CallId, Claim, Claimed, Error, ErrorKind, QueuedAdd, Result, Scope, Timestamp,
    traits::due_from,
};

/// The columns that [`read`] reads, of the table `queue`.
pub(super) const COLUMNS: &str = "id, user, agent, session, state, queued_at, due_at, leased_until, memory, attempts, failures, \
    interruptions, failure, request";

/// SQL that admits what a reader's scope covers.
const COVERED: &str = "(?1 = '' OR user = ?1) AND (?2 = '' OR agent = ?2) AND (?3 = '' OR session = ?3)";

#[derive(Debug)]
pub(super) struct SqliteQueue(pub(super) SqliteStore);

#[async_trait]
impl AddQueue for SqliteQueue {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    async fn push(&self, add: &QueuedAdd, capacity: usize) -> Result<()> {
        add.scope.validate()?;
        let add = add.clone();
        self.0.writing("queueing an add", move |connection| push(connection, &add, capacity)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Claimed> {
        let claim = claim.clone();
        let doing = "claiming a queued add";
        self.0
            .blocking(doing, move |inner| {
                // Most often there is nothing to claim, and then nobody is to be held up.
                match inner.connections.read(|connection| next(connection, &claim))? {
                    Next::Add(_) | Next::Damaged(_) => inner.connections.write(|connection| take(connection, &claim)),
                    Next::NotBefore(at) => Ok(Claimed::NotBefore(at)),
                    Next::Nothing => Ok(Claimed::Nothing),
                }
            })
            .await
    }

    async fn renew(&self, id: CallId, attempt: u32, until: Timestamp) -> Result<bool> {
        self.0
            .writing("renewing a lease", move |connection| {
                let sql = "UPDATE queue SET leased_until = ?3 WHERE id = ?1 AND attempts = ?2 AND state = 'running'";
                Ok(connection.prepare_cached(sql)?.execute(params![id.as_bytes(), attempt, Time(until)])? > 0)
            })
            .await
    }

    async fn finish(&self, id: CallId) -> Result<bool> {
        self.0
            .writing("finishing a queued add", move |connection| {
                Ok(connection.prepare_cached("DELETE FROM queue WHERE id = ?1")?.execute([id.as_bytes()])? > 0)
            })
            .await
    }

    async fn fail(&self, id: CallId, attempt: u32, failure: &AddFailure, again_at: Option<Timestamp>) -> Result<bool> {
        let failure = failure.clone();
        self.0
            .writing("noting a failed add", move |connection| {
                let state = if again_at.is_some() { "waiting" } else { "failed" };
                let mut statement = connection.prepare_cached(
                    "UPDATE queue SET state = ?3, due_at = coalesce(?4, due_at), leased_until = NULL,
                 failures = failures + 1, failure = ?5 WHERE id = ?1 AND attempts = ?2 AND state = 'running'",
                )?;
                let failure = to_json(&failure)?;
                if statement.execute(params![id.as_bytes(), attempt, state, again_at.map(Time), failure])? > 0 {
                    return Ok(true);
                }
                let sql = "SELECT EXISTS (SELECT 1 FROM queue WHERE id = ?1 AND attempts = ?2 AND failure = ?3)";
                let mut noted = connection.prepare_cached(sql)?;
                Ok(noted.query_row(params![id.as_bytes(), attempt, failure], |row| row.get(0))?)
            })
            .await
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        scope.validate()?;
        let scope = scope.clone();
        self.0
            .reading("listing queued adds", move |connection| {
                let sql = format!("SELECT {COLUMNS} FROM queue WHERE {COVERED} ORDER BY sequence");
                all(connection, &sql, &rows::parts(&scope))
            })
            .await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        let after = after.cloned();
        self.0
            .reading("listing the scopes of queued adds", move |connection| {
                // The queue is bounded, and has no order but that of its adds.
                let sql = "SELECT DISTINCT user, agent, session FROM queue WHERE (user, agent, session) > (?1, ?2, ?3)
                 ORDER BY user, agent, session LIMIT ?4";
                rows::scopes_after(connection, sql, after.as_ref(), limit)
            })
            .await
    }

    async fn unfinished_of_everyone(&self) -> Result<u64> {
        self.0
            .reading("counting queued adds", |connection| {
                let mut statement = connection.prepare_cached("SELECT count(*) FROM queue WHERE state <> 'failed'")?;
                Ok(statement.query_row([], |row| row.get::<_, i64>(0))?.cast_unsigned())
            })
            .await
    }

    async fn failed_of_everyone(&self) -> Result<Vec<QueuedAdd>> {
        self.0
            .reading("listing queued adds", |connection| {
                let mut statement = connection
                    .prepare_cached(&format!("SELECT {COLUMNS} FROM queue WHERE state = 'failed' ORDER BY sequence"))?;
                let mut found = statement.query([])?;
                let mut adds = Vec::new();
                while let Some(row) = found.next()? {
                    match read(row) {
                        // Of one that cannot be read `verify` tells: whoever waits for the queue waits for the others.
                        Err(SqliteError::Unreadable { .. }) => {}
                        add => adds.push(add?),
                    }
                }
                Ok(adds)
            })
            .await
    }

    async fn retry(&self, scope: &Scope, id: CallId, now: Timestamp) -> Result<bool> {
        scope.validate()?;
        let scope = scope.clone();
        self.0
            .writing("retrying a queued add", move |connection| {
                let [user, agent, session] = rows::parts(&scope);
                let mut statement = connection.prepare_cached(&format!(
                    "UPDATE queue SET state = 'waiting', due_at = ?5, failures = 0, interruptions = 0
                 WHERE {COVERED} AND id = ?4 AND state = 'failed'"
                ))?;
                Ok(statement.execute(params![user, agent, session, id.as_bytes(), Time(now)])? > 0)
            })
            .await
    }

    async fn discard(&self, scope: &Scope, id: CallId) -> Result<bool> {
        scope.validate()?;
        let scope = scope.clone();
        self.0
            .writing("discarding a queued add", move |connection| {
                let [user, agent, session] = rows::parts(&scope);
                let mut statement =
                    connection.prepare_cached(&format!("DELETE FROM queue WHERE {COVERED} AND id = ?4"))?;
                Ok(statement.execute(params![user, agent, session, id.as_bytes()])? > 0)
            })
            .await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        scope.validate()?;
        let scope = scope.clone();
        self.0
            .writing("erasing queued adds", move |connection| {
                let mut statement = connection.prepare_cached(&format!("DELETE FROM queue WHERE {COVERED}"))?;
                Ok(statement.execute(rows::parts(&scope))? as u64)
            })
            .await
    }
}

fn push(connection: &Connection, add: &QueuedAdd, capacity: usize) -> SqliteResult<()> {
    let mut there = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM queue WHERE id = ?1)")?;
    if there.query_row([add.id.as_bytes()], |row| row.get(0))? {
        return Err(Error::new(ErrorKind::Conflict, "the add is queued already").into());
    }
    let count: i64 = connection.prepare_cached("SELECT count(*) FROM queue")?.query_row([], |row| row.get(0))?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= capacity {
        let mut statement = connection.prepare_cached("SELECT count(*) FROM queue WHERE state = 'failed'")?;
        let failed: i64 = statement.query_row([], |row| row.get(0))?;
        let message = format!("the queue holds {count} adds, {failed} of which have failed");
        return Err(Error::new(ErrorKind::QueueFull, message).into());
    }
    let [user, agent, session] = rows::parts(&add.scope);
    connection
        .prepare_cached(&format!(
            "INSERT INTO queue ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
        ))?
        .execute(params![
            add.id.as_bytes(),
            user,
            agent,
            session,
            add.state.as_str(),
            Time(add.queued_at),
            Time(add.due_at),
            add.leased_until.map(Time),
            add.memory.map(Id),
            add.attempts,
            add.failures,
            add.interruptions,
            add.failure.as_ref().map(to_json).transpose()?,
            add.request,
        ])?;
    Ok(())
}

enum Next {
    /// Its place in the queue.
    Add(i64),
    /// The place of one that cannot be read, which would keep all others waiting.
    Damaged(i64),
    NotBefore(Timestamp),
    Nothing,
}

/// What a claim would give. Goes through the queue from its beginning and stops at the first that may be claimed, which is
/// among the first few unless they wait to be tried again.
fn next(connection: &Connection, claim: &Claim) -> SqliteResult<Next> {
    let mut busy: HashMap<Scope, (CallId, Timestamp)> = HashMap::new();
    let mut statement = connection
        .prepare_cached("SELECT id, user, agent, session, leased_until, sequence FROM queue WHERE state = 'running'")?;
    let mut found = statement.query([])?;
    let read = |row: &Row<'_>| -> SqliteResult<_> {
        let until = row.get::<_, Time>(4)?.0;
        let running = (CallId::from_bytes(row.get(0)?), due_from(Some(until), until, claim.now));
        Ok((rows::scope(row, 1)?.across_sessions(), running))
    };
    while let Some(row) = found.next()? {
        match read(row) {
            Ok((lane, running)) => drop(busy.insert(lane, running)),
            Err(SqliteError::Unreadable { .. }) => return Ok(Next::Damaged(row.get(5)?)),
            Err(error) => return Err(error),
        }
    }
    let mut statement = connection.prepare_cached(
        "SELECT sequence, user, agent, session, leased_until, due_at FROM queue
         WHERE state <> 'failed' ORDER BY sequence",
    )?;
    let mut found = statement.query([])?;
    let mut lanes = HashSet::new();
    let mut first: Option<Timestamp> = None;
    let read = |row: &Row<'_>| -> SqliteResult<_> {
        let leased_until = row.get::<_, Option<Time>>(4)?.map(|time| time.0);
        let due = due_from(leased_until, row.get::<_, Time>(5)?.0, claim.now);
        Ok((rows::scope(row, 1)?.across_sessions(), due))
    };
    while let Some(row) = found.next()? {
        let (lane, due) = match read(row) {
            Err(SqliteError::Unreadable { .. }) => return Ok(Next::Damaged(row.get(0)?)),
            read => read?,
        };
        let beside = busy.get(&lane).copied();
        if !lanes.insert(lane) || beside.is_some_and(|(id, _)| claim.running.contains(&id)) {
            continue;
        }
        let from = due.max(beside.map_or(Timestamp::MIN_UTC, |(_, until)| until));
        if from <= claim.now {
            return Ok(Next::Add(row.get(0)?));
        }
        first = Some(first.map_or(from, |first| first.min(from)));
    }
    Ok(first.map_or(Next::Nothing, Next::NotBefore))
}

/// Another process may have been faster, so what is next is asked anew.
fn take(connection: &Connection, claim: &Claim) -> SqliteResult<Claimed> {
    loop {
        let place = match next(connection, claim)? {
            Next::Add(place) => place,
            Next::Damaged(place) => {
                set_aside(connection, place, claim)?;
                continue;
            }
            Next::NotBefore(at) => return Ok(Claimed::NotBefore(at)),
            Next::Nothing => return Ok(Claimed::Nothing),
        };
        let mut statement = connection.prepare_cached(&format!(
            "UPDATE queue SET interruptions = interruptions + (state = 'running'), state = 'running', leased_until = ?2,
             attempts = attempts + 1, memory = coalesce(memory, ?3) WHERE sequence = ?1 RETURNING {COLUMNS}"
        ))?;
        let taken = statement.query_row(params![place, Time(claim.until()), Id(claim.memory)], |row| Ok(read(row)));
        match taken.optional() {
            Ok(Some(Err(SqliteError::Unreadable { .. }))) => set_aside(connection, place, claim)?,
            Ok(Some(taken)) => return Ok(Claimed::Add(Box::new(taken?))),
            Ok(None) => return Ok(Claimed::Nothing),
            // A number of it is none that may be written.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                set_aside(connection, place, claim)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes of what cannot be read an add that has failed, with what of it can be: it is told, may be tried again or discarded,
/// and those behind it go on.
fn set_aside(connection: &Connection, place: i64, claim: &Claim) -> SqliteResult<()> {
    let failure = AddFailure::from_parts(ErrorKind::StoreCorrupt, "what is queued cannot be read", claim.now);
    let failure = to_json(&failure)?;
    let text =
        |value: ValueRef<'_>| value.as_bytes_or_null().ok().flatten().map(String::from_utf8_lossy).map(String::from);
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM queue WHERE sequence = ?1"))?;
    let mut found = statement.query([place])?;
    let Some(row) = found.next()? else { return Ok(()) };
    let mut id: [u8; 16] = row.get(0).unwrap_or(*claim.memory.as_bytes());
    if row.get::<_, [u8; 16]>(0).is_err() {
        // One claim may come past several.
        id.iter_mut().rev().zip(place.to_le_bytes()).for_each(|(byte, place)| *byte ^= place);
    }
    let mut parts = [String::new(), String::new(), String::new()];
    for (column, part) in (1..).zip(&mut parts) {
        *part = text(row.get_ref(column)?).unwrap_or_default();
    }
    let [user, agent, session] = parts;
    let time = |column: usize| row.get::<_, Time>(column).unwrap_or(Time(Timestamp::UNIX_EPOCH));
    // Once it was claimed it may be written: whoever tries it again asks for that.
    let attempts = row.get::<_, u32>(9).unwrap_or(1).max(1);
    let (failures, interruptions) = (row.get::<_, u32>(10).unwrap_or(0), row.get::<_, u32>(11).unwrap_or(0));
    // This claim may have given it one, which the next that it takes gets.
    let memory = row.get::<_, Option<Id>>(8).unwrap_or(None).filter(|memory| memory.0 != claim.memory);
    let request = row.get::<_, String>(13).unwrap_or_default();
    connection
        .prepare_cached(&format!(
            "UPDATE queue SET ({COLUMNS}) = (?2, ?3, ?4, ?5, 'failed', ?6, ?7, NULL, ?8, ?9, ?10, ?11, ?12, ?13)
             WHERE sequence = ?1"
        ))?
        .execute(params![
            place,
            id,
            user,
            agent,
            session,
            time(5),
            time(6),
            memory,
            attempts,
            failures,
            interruptions,
            failure,
            request
        ])?;
    Ok(())
}

fn all(connection: &Connection, sql: &str, parameters: &[&str]) -> SqliteResult<Vec<QueuedAdd>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(rusqlite::params_from_iter(parameters))?;
    let mut adds = Vec::new();
    while let Some(row) = found.next()? {
        adds.push(read(row)?);
    }
    Ok(adds)
}

pub(super) fn read(row: &Row<'_>) -> SqliteResult<QueuedAdd> {
    let (id, queued_at) = (CallId::from_bytes(row.get(0)?), row.get::<_, Time>(5)?.0);
    let mut add = QueuedAdd::new(id, rows::scope(row, 1)?, row.get::<_, String>(13)?, queued_at);
    add.state = named(text(row, 4)?, "state of a queued add")?;
    add.due_at = row.get::<_, Time>(6)?.0;
    add.leased_until = row.get::<_, Option<Time>>(7)?.map(|time| time.0);
    add.memory = row.get::<_, Option<Id>>(8)?.map(|id| id.0);
    (add.attempts, add.failures, add.interruptions) = (row.get(9)?, row.get(10)?, row.get(11)?);
    add.failure = rows::json(row, 12, "failure")?;
    Ok(add)
}

fn to_json(failure: &AddFailure) -> SqliteResult<String> {
    serde_json::to_string(failure).map_err(|error| SqliteError::unreadable("failure", error))
}
