//! From memories to rows and back.

use rusqlite::{
    Connection, Row, ToSql, params,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::{Serialize, de::DeserializeOwned};

use super::error::{Result, SqliteError};
use crate::{
    Actor, CallId, EventKind, HistoryEvent, Memory, MemoryId, MemoryKind, Scope, Stamp, Timestamp, cues::Cues,
    index::packed_cues,
};

/// The columns of a memory, in the order in which [`memory`] reads and [`MemoryRow::values`] writes them.
pub(super) const COLUMNS: &str = "id, user, agent, session, kind, text, categories, metadata, importance, pinned, \
    speaker, trust, slot, sources, ordinal, observed_at, valid_at, invalid_at, superseded_by, expires_at, created_at, \
    updated_at, access_count, accessed_at, revision";

/// How many columns [`COLUMNS`] names: where a query's further columns begin.
pub(super) const WIDTH: usize = 25;

pub(super) struct Id(pub(super) MemoryId);

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = <[u8; 16]>::column_result(value)?;
        Ok(Self(MemoryId::from_bytes(bytes)))
    }
}

pub(super) struct Time(pub(super) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.timestamp_micros()))
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let micros = i64::column_result(value)?;
        Timestamp::from_timestamp_micros(micros).map(Self).ok_or(FromSqlError::OutOfRange(micros))
    }
}

/// The memory in the first columns of a row.
pub(super) fn memory(row: &Row<'_>) -> Result<Memory> {
    let scope = valid_scope(row, 1)?;
    let created_at = row.get::<_, Time>(20)?.0;
    let mut memory = Memory::new(row.get::<_, Id>(0)?.0, scope, row.get::<_, String>(5)?, created_at);
    memory.kind = MemoryKind::from(text(row, 4)?);
    memory.categories = json(row, 6, "list of categories")?;
    memory.metadata = json(row, 7, "metadata")?;
    // It went in as an f32.
    #[expect(clippy::cast_possible_truncation, reason = "widened from f32 when it was written")]
    let importance = row.get::<_, f64>(8)? as f32;
    memory.importance = importance;
    memory.pinned = flag(row, 9, "mark of being pinned")?;
    memory.speaker = row.get(10)?;
    memory.trust = named(text(row, 11)?, "trust")?;
    memory.slot = row.get(12)?;
    memory.sources = json(row, 13, "list of sources")?;
    memory.ordinal = row.get::<_, Option<i64>>(14)?.map(|number| whole(number, "ordinal")).transpose()?;
    memory.observed_at = row.get::<_, Time>(15)?.0;
    memory.valid_at = row.get::<_, Time>(16)?.0;
    memory.invalid_at = row.get::<_, Option<Time>>(17)?.map(|time| time.0);
    memory.superseded_by = row.get::<_, Option<Id>>(18)?.map(|id| id.0);
    memory.expires_at = row.get::<_, Option<Time>>(19)?.map(|time| time.0);
    memory.updated_at = row.get::<_, Time>(21)?.0;
    memory.access_count = whole(row.get(22)?, "access count")?;
    memory.accessed_at = row.get::<_, Option<Time>>(23)?.map(|time| time.0);
    memory.revision = whole(row.get(24)?, "revision")?;
    Ok(memory)
}

/// The scope in three columns.
pub(super) fn scope(row: &Row<'_>, first: usize) -> Result<Scope> {
    let part = |column: usize| -> Result<Option<String>> {
        Ok(Some(text(row, column)?).filter(|part| !part.is_empty()).map(str::to_owned))
    };
    Ok(Scope::from_parts(part(first)?, part(first + 1)?, part(first + 2)?))
}

/// As [`scope`], where it is to be asked for by: one that no call would take cannot be read.
pub(super) fn valid_scope(row: &Row<'_>, first: usize) -> Result<Scope> {
    let scope = scope(row, first)?;
    scope.validate().map_err(|error| SqliteError::unreadable("scope", error))?;
    Ok(scope)
}

/// The three columns of a scope.
pub(super) fn parts(scope: &Scope) -> [&str; 3] {
    [scope.user_id(), scope.agent_id(), scope.session_id()].map(Option::unwrap_or_default)
}

/// A query of scopes, in order, beyond the parameters `?1`, `?2` and `?3`, of which there may be as many as `?4` says.
pub(super) fn scopes_after(
    connection: &Connection,
    sql: &str,
    after: Option<&Scope>,
    limit: usize,
) -> Result<Vec<Scope>> {
    // No scope is before three parts that are not named, and none has those.
    let [user, agent, session] = after.map_or([""; 3], parts);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![user, agent, session, limit])?;
    let mut scopes = Vec::new();
    while let Some(row) = found.next()? {
        scopes.push(valid_scope(row, 0)?);
    }
    Ok(scopes)
}

/// The vector, after those in `numbers`. One of another width than the store's is damage: in the matrix of an index it
/// would put every later row out of place.
pub(super) fn vector(row: &Row<'_>, column: usize, dimensions: usize, numbers: &mut Vec<f32>) -> Result<()> {
    let bytes = blob(row, column, "vector")?;
    let (found, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || found.len() != dimensions {
        return Err(SqliteError::unreadable(
            "vector",
            format!("it has {} bytes for {dimensions} numbers", bytes.len()),
        ));
    }
    numbers.extend(found.iter().map(|number| f32::from_le_bytes(*number)));
    Ok(())
}

pub(super) fn blob<'r>(row: &'r Row<'_>, column: usize, what: &'static str) -> Result<&'r [u8]> {
    row.get_ref(column)?.as_blob().map_err(|error| SqliteError::unreadable(what, error))
}

pub(super) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// What of a memory must be turned into something else before it is written.
pub(super) struct MemoryRow<'m> {
    pub(super) memory: &'m Memory,
    /// The memory's, until it is given one.
    pub(super) ordinal: Option<u64>,
    /// How many keys it is given; none where it keeps those it has.
    pub(super) keys: Option<i64>,
    cues: Cues,
    categories: Option<String>,
    metadata: Option<String>,
    sources: Option<String>,
}

impl<'m> MemoryRow<'m> {
    pub(super) fn new(memory: &'m Memory, cues: Cues) -> Result<Self> {
        Ok(Self {
            memory,
            ordinal: memory.ordinal,
            keys: None,
            cues,
            categories: to_json(&memory.categories, memory.categories.is_empty(), "list of categories")?,
            metadata: to_json(&memory.metadata, memory.metadata.is_empty(), "metadata")?,
            sources: to_json(&memory.sources, memory.sources.is_empty(), "list of sources")?,
        })
    }

    /// Writes [`COLUMNS`], the cues, the number of keys, and the number of the row if there is one.
    pub(super) fn execute(&self, statement: &mut rusqlite::Statement<'_>, row: Option<i64>) -> Result<usize> {
        let memory = self.memory;
        let [user, agent, session] = parts(&memory.scope);
        let columns = rusqlite::params![
            Id(memory.id),
            user,
            agent,
            session,
            memory.kind.as_str(),
            memory.text,
            self.categories,
            self.metadata,
            f64::from(memory.importance),
            memory.pinned,
            memory.speaker,
            memory.trust.as_str(),
            memory.slot,
            self.sources,
            self.ordinal.map(u64::cast_signed),
            Time(memory.observed_at),
            Time(memory.valid_at),
            memory.invalid_at.map(Time),
            memory.superseded_by.map(Id),
            memory.expires_at.map(Time),
            Time(memory.created_at),
            Time(memory.updated_at),
            memory.access_count.cast_signed(),
            memory.accessed_at.map(Time),
            memory.revision.cast_signed(),
            packed_cues(self.cues),
            self.keys,
        ];
        let row = row.as_ref().map(|row| row as &dyn ToSql);
        Ok(statement.execute(rusqlite::params_from_iter(columns.iter().copied().chain(row)))?)
    }
}

/// The event in the columns memory, user, agent, session, kind, old_text, new_text, at, actor, call, reason.
pub(super) fn event(row: &Row<'_>) -> Result<HistoryEvent> {
    let kind: EventKind = named(text(row, 4)?, "kind of event")?;
    let actor: Actor = named(text(row, 8)?, "actor")?;
    let mut stamp = Stamp::new(row.get::<_, Time>(7)?.0, actor, CallId::from_bytes(row.get(9)?));
    stamp.reason = row.get(10)?;
    Ok(HistoryEvent::new(row.get::<_, Id>(0)?.0, scope(row, 1)?, kind, row.get(5)?, row.get(6)?, stamp))
}

pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str> {
    row.get_ref(column)?.as_str().map_err(|error| SqliteError::unreadable("text", error))
}

/// A number that counts something: one below zero would become a huge one.
pub(super) fn whole(number: i64, what: &'static str) -> Result<u64> {
    u64::try_from(number).map_err(|error| SqliteError::unreadable(what, error))
}

/// Yes or no, of which SQLite knows nothing.
pub(super) fn flag(row: &Row<'_>, column: usize, what: &'static str) -> Result<bool> {
    match row.get::<_, i64>(column)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(SqliteError::unreadable(what, "it is neither 0 nor 1")),
    }
}

pub(super) fn json<T: DeserializeOwned + Default>(row: &Row<'_>, column: usize, what: &'static str) -> Result<T> {
    match row.get_ref(column)?.as_str_or_null().map_err(|error| SqliteError::unreadable(what, error))? {
        None => Ok(T::default()),
        Some(text) => serde_json::from_str(text).map_err(|error| SqliteError::unreadable(what, error)),
    }
}

pub(super) fn to_json<T: Serialize>(value: &T, empty: bool, what: &'static str) -> Result<Option<String>> {
    if empty {
        return Ok(None);
    }
    serde_json::to_string(value).map(Some).map_err(|error| SqliteError::unreadable(what, error))
}

/// A value that is stored by its name in snake case.
pub(super) fn named<T: DeserializeOwned>(name: &str, what: &'static str) -> Result<T> {
    use serde::de::{IntoDeserializer, value::Error};
    let deserializer: serde::de::value::StrDeserializer<'_, Error> = name.into_deserializer();
    T::deserialize(deserializer).map_err(|error| SqliteError::unreadable(what, error))
}
