//! Conversations, in the file of the memories. Each has a row that says which numbers its messages have; the messages lie
//! in a tree by conversation and number.

use std::ops::Range;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    SqliteStore,
    error::Result as SqliteResult,
    rows::{self, Time, named, text},
};
use crate::{
    ConversationStore, Error, ErrorKind, Message, Result, RunningSummary, Scope, StoredMessage,
    score::stable_hash::StableHash,
};

/// The columns that [`read`] reads and [`append`] writes, of the table `messages`.
pub(super) const COLUMNS: &str = "sequence, role, id, speaker, at, tool_calls, tool_call_id, metadata, text";

#[derive(Debug)]
pub(super) struct SqliteConversations(pub(super) SqliteStore);

#[async_trait]
impl ConversationStore for SqliteConversations {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64> {
        conversation.validate()?;
        StoredMessage::check(messages)?;
        let (conversation, messages) = (conversation.clone(), messages.to_vec());
        let doing = "appending to a conversation";
        self.0
            .blocking(doing, move |inner| {
                // Before the transaction, which holds up every other writer.
                let messages = messages.into_iter().map(MessageRow::new).collect::<SqliteResult<Vec<_>>>()?;
                inner.connections.write(|connection| append(connection, &conversation, &messages))
            })
            .await
    }

    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>> {
        conversation.validate()?;
        let conversation = conversation.clone();
        self.0
            .reading("reading a conversation", move |connection| messages(connection, &conversation, from, limit))
            .await
    }

    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>> {
        conversation.validate()?;
        let conversation = conversation.clone();
        self.0
            .reading("reading the summary of a conversation", move |connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT summary, covers_before, summarized_at FROM conversations
                 WHERE user = ?1 AND agent = ?2 AND session = ?3 AND summary IS NOT NULL",
                )?;
                let found = statement.query_row(rows::parts(&conversation), |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Time>(2)?.0))
                });
                let Some((text, covers_before, at)) = found.optional()? else { return Ok(None) };
                Ok(Some(RunningSummary::new(text, rows::whole(covers_before, "number of a message")?, at)))
            })
            .await
    }

    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()> {
        conversation.validate()?;
        let (conversation, summary) = (conversation.clone(), summary.clone());
        self.0
            .writing("replacing the summary of a conversation", move |connection| {
                let there = Conversation::find(connection, &conversation)?;
                let (covered, kept) =
                    there.as_ref().map_or((0, 0..0), |there| (there.covers_before, there.kept.clone()));
                summary.check(expected_covers_before, covered, &kept)?;
                let sql =
                    "UPDATE conversations SET summary = ?2, covers_before = ?3, summarized_at = ?4 WHERE row = ?1";
                connection.prepare_cached(sql)?.execute(params![
                    there.map(|there| there.row),
                    summary.text,
                    summary.covers_before.cast_signed(),
                    Time(summary.updated_at),
                ])?;
                Ok(())
            })
            .await
    }

    async fn conversations(&self, scope: &Scope) -> Result<Vec<Scope>> {
        scope.validate()?;
        let scope = scope.clone();
        self.0.reading("listing conversations", move |connection| names(connection, &scope)).await
    }

    async fn conversations_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        let after = after.cloned();
        self.0
            .reading("listing conversations", move |connection| {
                let sql = "SELECT user, agent, session FROM conversations
                 WHERE (user, agent, session) > (?1, ?2, ?3) AND (first < next OR summary IS NOT NULL)
                 ORDER BY user, agent, session LIMIT ?4";
                rows::scopes_after(connection, sql, after.as_ref(), limit)
            })
            .await
    }

    async fn restore(
        &self,
        conversation: &Scope,
        first: u64,
        messages: &[Message],
        summary: Option<&RunningSummary>,
    ) -> Result<()> {
        conversation.validate()?;
        StoredMessage::check_restored(first, messages, summary)?;
        let (conversation, messages, summary) = (conversation.clone(), messages.to_vec(), summary.cloned());
        self.0
            .blocking("restoring a conversation", move |inner| {
                let messages = messages.into_iter().map(MessageRow::new).collect::<SqliteResult<Vec<_>>>()?;
                inner
                    .connections
                    .write(|connection| restore(connection, &conversation, first, &messages, summary.as_ref()))
            })
            .await
    }

    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64> {
        conversation.validate()?;
        let conversation = conversation.clone();
        self.0
            .writing("dropping the beginning of a conversation", move |connection| {
                let Some(there) = Conversation::find(connection, &conversation)? else { return Ok(0) };
                let first = before.clamp(there.kept.start, there.kept.end);
                let sql = "DELETE FROM messages WHERE conversation = ?1 AND sequence < ?2";
                let gone = connection.prepare_cached(sql)?.execute(params![there.row, first.cast_signed()])?;
                let sql = "UPDATE conversations SET first = ?2 WHERE row = ?1";
                connection.prepare_cached(sql)?.execute(params![there.row, first.cast_signed()])?;
                Ok(gone as u64)
            })
            .await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        scope.validate()?;
        let scope = scope.clone();
        self.0
            .writing("erasing conversations", move |connection| {
                let covered = "(?1 = '' OR user = ?1) AND (?2 = '' OR agent = ?2) AND (?3 = '' OR session = ?3)";
                let parts = rows::parts(&scope);
                let sql = format!(
                    "DELETE FROM messages WHERE conversation IN (SELECT row FROM conversations WHERE {covered})"
                );
                let gone = connection.prepare_cached(&sql)?.execute(parts)?;
                let sql = format!("DELETE FROM conversations WHERE {covered} RETURNING user, agent, session, next");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut erased = statement.query(parts)?;
                let sql = "INSERT INTO erased_conversations (name, next) VALUES (?1, ?2)";
                let mut note = connection.prepare_cached(sql)?;
                while let Some(row) = erased.next()? {
                    note.execute(params![hashed(&rows::scope(row, 0)?), row.get::<_, i64>(3)?])?;
                }
                Ok(gone as u64)
            })
            .await
    }
}

/// A name of which nothing can be read.
fn hashed(name: &Scope) -> [u8; 16] {
    let mut hash = [0; 16];
    for (half, seed) in hash.chunks_exact_mut(8).zip(1..) {
        // Each part with its length, so that no two names are one text.
        let parts = rows::parts(name).into_iter();
        let whole = parts.fold(StableHash::new(seed), |hash, part| hash.text(&format!("{}:{part}", part.len())));
        half.copy_from_slice(&whole.finish().to_le_bytes());
    }
    hash
}

/// What the row of a conversation says, its summary's text aside.
struct Conversation {
    /// `None` for one that was erased.
    row: Option<i64>,
    /// The numbers of the messages that are left.
    kept: Range<u64>,
    covers_before: u64,
}

impl Conversation {
    fn find(connection: &Connection, name: &Scope) -> SqliteResult<Option<Self>> {
        let mut statement = connection.prepare_cached(
            "SELECT row, first, next, covers_before FROM conversations
             WHERE user = ?1 AND agent = ?2 AND session = ?3",
        )?;
        let found =
            statement.query_row(rows::parts(name), |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?])));
        if let Some((row, numbers)) = found.optional()? {
            let [first, next, covers_before] = numbers.map(number);
            return Ok(Some(Self { row: Some(row), kept: first?..next?, covers_before: covers_before? }));
        }
        let next = erased_next(connection, name)?;
        Ok(next.map(|next| Self { row: None, kept: next..next, covers_before: 0 }))
    }
}

/// How far the numbers of an erased conversation had come.
fn erased_next(connection: &Connection, name: &Scope) -> SqliteResult<Option<u64>> {
    let mut statement = connection.prepare_cached("SELECT next FROM erased_conversations WHERE name = ?1")?;
    let next: Option<i64> = statement.query_row([hashed(name)], |row| row.get(0)).optional()?;
    next.map(number).transpose()
}

fn number(number: i64) -> SqliteResult<u64> {
    rows::whole(number, "number of a message")
}

/// A message, and what of it must be turned into something else before it is written.
struct MessageRow {
    message: Message,
    tool_calls: Option<String>,
    metadata: Option<String>,
}

impl MessageRow {
    fn new(message: Message) -> SqliteResult<Self> {
        let tool_calls = rows::to_json(&message.tool_calls, message.tool_calls.is_empty(), "list of tool calls")?;
        let metadata = rows::to_json(&message.metadata, message.metadata.is_empty(), "metadata")?;
        Ok(Self { message, tool_calls, metadata })
    }
}

fn append(connection: &Connection, conversation: &Scope, messages: &[MessageRow]) -> SqliteResult<u64> {
    let [user, agent, session] = rows::parts(conversation);
    let count = i64::try_from(messages.len()).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(
        "UPDATE conversations SET next = next + ?4 WHERE user = ?1 AND agent = ?2 AND session = ?3
         RETURNING row, next - ?4",
    )?;
    let place = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let there = statement.query_row(params![user, agent, session, count], place).optional()?;
    let (row, first): (i64, i64) = match there {
        Some(place) => place,
        None => {
            let first = erased_next(connection, conversation)?.unwrap_or(0).cast_signed();
            connection
                .prepare_cached("DELETE FROM erased_conversations WHERE name = ?1")?
                .execute([hashed(conversation)])?;
            let mut statement = connection.prepare_cached(
                "INSERT INTO conversations (user, agent, session, first, next, covers_before)
                 VALUES (?1, ?2, ?3, ?4, ?4 + ?5, 0) RETURNING row, first",
            )?;
            statement.query_row(params![user, agent, session, first, count], place)?
        }
    };
    insert(connection, row, first, messages)?;
    number(first)
}

fn insert(connection: &Connection, row: i64, first: i64, messages: &[MessageRow]) -> SqliteResult<()> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT INTO messages (conversation, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    ))?;
    for (sequence, MessageRow { message, tool_calls, metadata }) in (first..i64::MAX).zip(messages) {
        let Message { role, text, id, speaker, at, tool_calls: _, tool_call_id, metadata: _ } = message;
        let at = at.map(Time);
        statement.execute(params![
            row,
            sequence,
            role.as_str(),
            id,
            speaker,
            at,
            tool_calls,
            tool_call_id,
            metadata,
            text
        ])?;
    }
    Ok(())
}

fn restore(
    connection: &Connection,
    name: &Scope,
    first: u64,
    messages: &[MessageRow],
    summary: Option<&RunningSummary>,
) -> SqliteResult<()> {
    if names(connection, name)?.contains(name) {
        return Err(Error::new(ErrorKind::Conflict, "the conversation is there already").into());
    }
    // What is left of one without messages: how far its numbers had come, which those that come back have.
    let parts = rows::parts(name);
    let sql = "DELETE FROM conversations WHERE user = ?1 AND agent = ?2 AND session = ?3";
    connection.prepare_cached(sql)?.execute(parts)?;
    connection.prepare_cached("DELETE FROM erased_conversations WHERE name = ?1")?.execute([hashed(name)])?;
    let [user, agent, session] = rows::parts(name);
    let next = first + messages.len() as u64;
    let covers_before = summary.map_or(0, |summary| summary.covers_before);
    let mut statement = connection.prepare_cached(
        "INSERT INTO conversations (user, agent, session, first, next, covers_before, summarized_at, summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING row",
    )?;
    let row = statement.query_row(
        params![
            user,
            agent,
            session,
            first.cast_signed(),
            next.cast_signed(),
            covers_before.cast_signed(),
            summary.map(|summary| Time(summary.updated_at)),
            summary.map(|summary| &summary.text),
        ],
        |row| row.get(0),
    )?;
    insert(connection, row, first.cast_signed(), messages)
}

fn names(connection: &Connection, scope: &Scope) -> SqliteResult<Vec<Scope>> {
    let mut statement = connection.prepare_cached(
        "SELECT user, agent, session FROM conversations
         WHERE (?1 = '' OR user = ?1) AND (?2 = '' OR agent = ?2) AND (?3 = '' OR session = ?3)
         AND (first < next OR summary IS NOT NULL)",
    )?;
    let mut found = statement.query(rows::parts(scope))?;
    let mut names = Vec::new();
    while let Some(row) = found.next()? {
        names.push(rows::valid_scope(row, 0)?);
    }
    names.sort();
    Ok(names)
}

fn messages(connection: &Connection, name: &Scope, from: u64, limit: usize) -> SqliteResult<Vec<StoredMessage>> {
    let Some(there) = Conversation::find(connection, name)? else { return Ok(Vec::new()) };
    // Numbers beyond SQLite's are beyond every conversation.
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM messages WHERE conversation = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT ?3"
    ))?;
    let mut found = statement.query(params![there.row, from, limit])?;
    let mut messages = Vec::new();
    while let Some(row) = found.next()? {
        messages.push(read(row)?);
    }
    Ok(messages)
}

pub(super) fn read(row: &Row<'_>) -> SqliteResult<StoredMessage> {
    let sequence = number(row.get(0)?)?;
    let mut message = Message::new(named(text(row, 1)?, "role")?, text(row, 8)?);
    message.id = row.get(2)?;
    message.speaker = row.get(3)?;
    message.at = row.get::<_, Option<Time>>(4)?.map(|time| time.0);
    message.tool_calls = rows::json(row, 5, "list of tool calls")?;
    message.tool_call_id = row.get(6)?;
    message.metadata = rows::json(row, 7, "metadata")?;
    Ok(StoredMessage::new(sequence, message))
}
