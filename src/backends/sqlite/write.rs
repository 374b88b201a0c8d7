//! Applying a batch inside a transaction: an error anywhere rolls all of it back.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    error::Result,
    graph_write,
    rows::{self, COLUMNS, Id, MemoryRow, Time},
};
use crate::{
    EmbedderIdentity, Error, ErrorKind, EventKind, Expect, HistoryEvent, IndexKey, MemoryId, MemoryKind, Purged, Put,
    Scope, Stamp, Timestamp, Unchanged, Version, WriteBatch,
    cues::Cues,
    index::Terms,
    score::stable_hash::{StableHash, halves},
};

/// How many changes are kept for guards and indexes that catch up; between once and twice as many.
const LOG_LIMIT: i64 = 100_000;

fn conflict(what: &str) -> Error {
    Error::new(ErrorKind::Conflict, what)
}

/// SQL that admits what a reader's scope covers, for the parameters `:user`, `:agent` and `:session`.
///
/// One index drives it, that of the narrowest part; the `+` keeps SQLite from choosing another, and the `<> ''` tells
/// it that the partial index applies. A part that is not named is no condition on its column, or totals could not be
/// counted from the index alone.
pub(super) fn covered(scope: &Scope) -> &'static str {
    match (scope.session_id().is_some(), scope.user_id().is_some(), scope.agent_id().is_some()) {
        (true, true, true) => "session = :session AND session <> '' AND user = :user AND +agent = :agent",
        (true, true, false) => "session = :session AND session <> '' AND user = :user AND :agent = ''",
        (true, false, true) => "session = :session AND session <> '' AND :user = '' AND +agent = :agent",
        (true, false, false) => "session = :session AND session <> '' AND :user = '' AND :agent = ''",
        (false, true, true) => "user = :user AND user <> '' AND :session = '' AND +agent = :agent",
        (false, true, false) => "user = :user AND user <> '' AND :session = '' AND :agent = ''",
        (false, false, _) => "agent = :agent AND agent <> '' AND :user = '' AND :session = ''",
    }
}

/// Applies a batch whose keys have these terms and whose memories these cues.
pub(super) fn apply(
    connection: &Connection,
    embedder: Option<&EmbedderIdentity>,
    batch: &WriteBatch,
    terms: Vec<Terms>,
    cues: &[Cues],
) -> Result<Version> {
    batch.validate(embedder)?;
    if let Some(guard) = &batch.unchanged {
        check_unchanged(connection, guard)?;
    }
    let mut terms = terms.into_iter();
    for (Put { memory, keys, expect }, cues) in batch.puts.iter().zip(cues) {
        let row = MemoryRow::new(memory, *cues)?;
        put(connection, row, keys.as_deref(), &mut terms, *expect)?;
    }
    for id in &batch.deletes {
        delete(connection, *id)?;
    }
    for id in &batch.erase_history {
        connection.prepare_cached("DELETE FROM history WHERE memory = ?1")?.execute([Id(*id)])?;
    }
    for event in &batch.events {
        check_owner(connection, event)?;
        record(connection, event)?;
    }
    graph_write::apply(connection, &batch.graph)?;
    let version = version(connection)?;
    drop_old_changes(connection, version)?;
    Ok(version)
}

pub(super) fn version(connection: &Connection) -> Result<Version> {
    // The table may have been emptied; the number it would give next is kept apart.
    let mut statement = connection.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")?;
    let version: Option<i64> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(Version(rows::whole(version.unwrap_or(0), "number of the last change")?))
}

/// Whether the log still has every change after `since`.
pub(super) fn remembers(connection: &Connection, since: Version) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT min(version) FROM changes")?;
    let first: Option<i64> = statement.query_row([], |row| row.get(0))?;
    Ok(match first {
        Some(first) => first.cast_unsigned() <= since.0 + 1,
        None => version(connection)? <= since,
    })
}

/// Refuses an event of a memory that is, or was, under another scope: by its id it would tell of a stranger's.
fn check_owner(connection: &Connection, event: &HistoryEvent) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT user, agent, session FROM memories WHERE id = ?1
         UNION ALL SELECT * FROM (SELECT user, agent, session FROM history WHERE memory = ?1 LIMIT 1)",
    )?;
    let mut found = statement.query([Id(event.memory)])?;
    match found.next()? {
        Some(row) if rows::scope(row, 0)? != event.scope => {
            Err(conflict("an event of a memory that is under another scope").into())
        }
        _ => Ok(()),
    }
}

fn check_unchanged(connection: &Connection, guard: &Unchanged) -> Result<()> {
    let [user, agent, session] = rows::parts(&guard.scope);
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM changes WHERE version > ?1 AND semantic
         AND (?2 = '' OR user = ?2) AND (?3 = '' OR agent = ?3) AND (?4 = '' OR session = ?4))",
    )?;
    let changed: bool =
        statement.query_row(params![guard.since.0.cast_signed(), user, agent, session], |row| row.get(0))?;
    if changed || !remembers(connection, guard.since)? {
        return Err(conflict("what a plan was made from has changed").into());
    }
    Ok(())
}

fn put(
    connection: &Connection,
    mut columns: MemoryRow<'_>,
    keys: Option<&[IndexKey]>,
    terms: &mut impl Iterator<Item = Terms>,
    expect: Expect,
) -> Result<()> {
    let memory = columns.memory;
    columns.keys = keys.map(|keys| i64::try_from(keys.len()).unwrap_or(i64::MAX));
    let stored = connection
        .prepare_cached("SELECT row, revision, user, agent, session, kind FROM memories WHERE id = ?1")?
        .query_row([Id(memory.id)], |row| {
            let semantic = MemoryKind::from(row.get_ref(5)?.as_str()?).is_semantic();
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?.cast_unsigned(), rows::scope(row, 2), semantic))
        })
        .optional()?;
    let was_semantic = stored.as_ref().is_some_and(|(.., semantic)| *semantic);
    let row = match (expect, stored) {
        (Expect::Absent, Some(_)) => return Err(conflict("a new memory is there already").into()),
        (Expect::Revision(_), None) => return Err(conflict("a memory to change is not there").into()),
        (Expect::Revision(revision), Some((_, stored, ..))) if stored != revision => {
            return Err(conflict("a memory was changed meanwhile").into());
        }
        (_, None) => {
            if keys.is_none() {
                return Err(Error::invalid("a new memory has no keys").into());
            }
            insert(connection, &mut columns)?
        }
        (_, Some((row, _, scope, _))) => {
            if scope? != memory.scope {
                return Err(Error::invalid("the scope of a stored memory never changes").into());
            }
            if keys.is_none() {
                // A key that was the memory's own text stays what it was when that text changes.
                connection
                    .prepare_cached(
                        "UPDATE keys SET text = (SELECT text FROM memories WHERE row = ?1)
                         WHERE memory = ?1 AND text IS NULL
                         AND (SELECT text FROM memories WHERE row = ?1) <> ?2",
                    )?
                    .execute(params![row, memory.text])?;
            }
            if memory.kind == MemoryKind::Episode && memory.ordinal.is_some() {
                // It may have become a turn, or have been given another place: nobody else is to get that one.
                place(connection, &memory.scope, memory.ordinal)?;
            }
            update(connection, &columns)?;
            row
        }
    };
    if let Some(keys) = keys {
        connection.prepare_cached("DELETE FROM keys WHERE memory = ?1")?.execute([row])?;
        let mut statement = connection
            .prepare_cached("INSERT INTO keys (memory, number, text, terms, vector) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for ((number, IndexKey { text, vector }), terms) in (0_i64..).zip(keys).zip(terms) {
            let stored = (*text != memory.text).then_some(text);
            statement.execute(params![row, number, stored, terms.as_bytes(), rows::vector_bytes(vector)])?;
        }
    }
    log(connection, memory.id, &memory.scope, was_semantic || memory.kind.is_semantic(), keys.is_some())
}

fn insert(connection: &Connection, columns: &mut MemoryRow<'_>) -> Result<i64> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let (keys, row) = (rows::WIDTH + 2, rows::WIDTH + 3);
        format!("INSERT INTO memories ({COLUMNS}, cues, key_count, row) VALUES ({}, ?{keys}, ?{row})", placeholders())
    });
    let memory = columns.memory;
    if memory.kind == MemoryKind::Episode {
        columns.ordinal = Some(place(connection, &memory.scope, memory.ordinal)?);
    }
    let row = free_row(connection, "memories", &memory.scope)?;
    columns.execute(&mut *connection.prepare_cached(&SQL)?, Some(row))?;
    Ok(row)
}

/// The row that something new of this scope is stored under: the next in a range of the user's own (or the agent's, or the
/// session's), so that the rows that a search reads together lie together, however many people talk at once. Two users
/// whose ranges are one by chance share it, which costs nothing else.
pub(super) fn free_row(connection: &Connection, table: &str, scope: &Scope) -> Result<i64> {
    let owner = scope.user_id().or(scope.agent_id()).or(scope.session_id()).unwrap_or_default();
    let (hash, _) = halves(StableHash::new(0).text(owner).finish());
    let first = i64::from(hash >> 1) << 32;
    let mut statement =
        connection.prepare_cached(&format!("SELECT max(row) FROM {table} WHERE row BETWEEN ?1 AND ?2"))?;
    let last: Option<i64> = statement.query_row([first, first + i64::from(u32::MAX)], |row| row.get(0))?;
    Ok(last.map_or(first, |last| last + 1))
}

/// Takes the given place for a turn of this scope, or else the next, and returns it.
pub(super) fn place(connection: &Connection, scope: &Scope, given: Option<u64>) -> Result<u64> {
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(
        "INSERT INTO places (user, agent, session, next) VALUES (?1, ?2, ?3, coalesce(?4, 0) + 1)
         ON CONFLICT DO UPDATE SET next = max(next, coalesce(?4, next) + 1) RETURNING next",
    )?;
    let next: i64 = statement
        .query_row(params![user, agent, session, given.map(|given| given.cast_signed().min(i64::MAX - 1))], |row| {
            row.get(0)
        })?;
    given.map_or_else(|| rows::whole(next.saturating_sub(1), "next place of a turn"), Ok)
}

fn update(connection: &Connection, columns: &MemoryRow<'_>) -> Result<()> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let keys = format!("coalesce(?{}, key_count)", rows::WIDTH + 2);
        format!("UPDATE memories SET ({COLUMNS}, cues, key_count) = ({}, {keys}) WHERE id = ?1", placeholders())
    });
    columns.execute(&mut *connection.prepare_cached(&SQL)?, None)?;
    Ok(())
}

/// Those of the columns of a memory and of its cues.
fn placeholders() -> String {
    (1..=rows::WIDTH + 1).map(|number| format!("?{number}")).collect::<Vec<_>>().join(", ")
}

fn delete(connection: &Connection, id: MemoryId) -> Result<()> {
    let stored = connection
        .prepare_cached("DELETE FROM memories WHERE id = ?1 RETURNING kind, user, agent, session")?
        .query_row([Id(id)], |row| Ok((MemoryKind::from(row.get_ref(0)?.as_str()?), rows::scope(row, 1))))
        .optional()?;
    let Some((kind, scope)) = stored else {
        return Err(conflict("a memory to delete is not there").into());
    };
    log(connection, id, &scope?, kind.is_semantic(), true)
}

fn record(connection: &Connection, event: &HistoryEvent) -> Result<()> {
    let HistoryEvent { memory, scope, kind, old_text, new_text, stamp } = event;
    let [user, agent, session] = rows::parts(scope);
    connection
        .prepare_cached(
            "INSERT INTO history (memory, user, agent, session, kind, old_text, new_text, at, actor, call, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            Id(*memory),
            user,
            agent,
            session,
            kind.as_str(),
            old_text,
            new_text,
            Time(stamp.at),
            stamp.actor.as_str(),
            stamp.call.as_bytes(),
            stamp.reason,
        ])?;
    Ok(())
}

pub(super) fn log(connection: &Connection, id: MemoryId, scope: &Scope, semantic: bool, keys: bool) -> Result<()> {
    let [user, agent, session] = rows::parts(scope);
    connection
        .prepare_cached(
            "INSERT INTO changes (id, user, agent, session, semantic, keys) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![Id(id), user, agent, session, semantic, keys])?;
    Ok(())
}

pub(super) fn drop_old_changes(connection: &Connection, version: Version) -> Result<()> {
    let oldest: Option<i64> =
        connection.prepare_cached("SELECT min(version) FROM changes")?.query_row([], |row| row.get(0))?;
    let keep_from = version.0.cast_signed() - LOG_LIMIT;
    if oldest.is_some_and(|oldest| oldest < keep_from - LOG_LIMIT) {
        connection.prepare_cached("DELETE FROM changes WHERE version <= ?1")?.execute([keep_from])?;
    }
    Ok(())
}

pub(super) fn delete_all(connection: &Connection, scope: &Scope, stamp: &Stamp) -> Result<u64> {
    let covered = covered(scope);
    let [user, agent, session] = rows::parts(scope);
    connection
        .prepare_cached(&format!(
            "INSERT INTO history (memory, user, agent, session, kind, old_text, new_text, at, actor, call, reason)
             SELECT id, user, agent, session, :kind, text, NULL, :at, :actor, :call, :reason
             FROM memories WHERE {covered} ORDER BY id"
        ))?
        .execute(rusqlite::named_params! {
            ":user": user, ":agent": agent, ":session": session,
            ":kind": EventKind::Delete.as_str(), ":at": Time(stamp.at), ":actor": stamp.actor.as_str(),
            ":call": stamp.call.as_bytes(), ":reason": stamp.reason,
        })?;
    let scope_parts = rusqlite::named_params! { ":user": user, ":agent": agent, ":session": session };
    connection
        .prepare_cached(&format!(
            "INSERT INTO changes (id, user, agent, session, semantic, keys)
             SELECT id, user, agent, session, kind IN ('fact', 'preference', 'procedure', 'observation'), 1
             FROM memories WHERE {covered}"
        ))?
        .execute(scope_parts)?;
    connection.prepare_cached(&format!("DELETE FROM places WHERE {covered}"))?.execute(scope_parts)?;
    let count = connection.prepare_cached(&format!("DELETE FROM memories WHERE {covered}"))?.execute(scope_parts)?;
    graph_write::delete_all(connection, scope)?;
    drop_old_changes(connection, version(connection)?)?;
    Ok(count as u64)
}

/// Removes what the scope covers, the names of its parts in the list of changes included.
pub(super) fn purge_all(connection: &Connection, scope: &Scope) -> Result<Purged> {
    let covered = covered(scope);
    let [user, agent, session] = rows::parts(scope);
    let parts = rusqlite::named_params! { ":user": user, ":agent": agent, ":session": session };
    let remove = |table: &str| -> Result<u64> {
        let sql = format!("DELETE FROM {table} WHERE {covered}");
        Ok(connection.prepare_cached(&sql)?.execute(parts)? as u64)
    };
    let (memories, events) = (remove("memories")?, remove("history")?);
    remove("places")?;
    let (entities, relations) = graph_write::delete_all(connection, scope)?;
    // With the names in it.
    forget_changes(connection)?;
    Ok(Purged::new(memories, events, entities, relations))
}

/// Empties the list of changes: indexes are built anew and guards hold back, as if it had grown too long. One more number
/// is used up, so that what was read before is of an earlier version.
pub(super) fn forget_changes(connection: &Connection) -> Result<()> {
    log(connection, MemoryId::from_bytes([0; 16]), &Scope::from_parts(None, None, None), true, false)?;
    connection.prepare_cached("DELETE FROM changes")?.execute([])?;
    Ok(())
}

pub(super) fn record_access(connection: &Connection, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(
        "UPDATE memories SET access_count = access_count + 1, accessed_at = max(coalesce(accessed_at, ?2), ?2)
         WHERE id = ?1 AND (?3 = '' OR user = ?3) AND (?4 = '' OR agent = ?4) AND (?5 = '' OR session = ?5)
         RETURNING user, agent, session",
    )?;
    for id in ids {
        let touched = statement
            .query_row(params![Id(*id), Time(at), user, agent, session], |row| Ok(rows::scope(row, 0)))
            .optional()?;
        if let Some(stored) = touched {
            // Being recalled is no change of what is known: guards pass over it.
            log(connection, *id, &stored?, false, false)?;
        }
    }
    Ok(())
}
