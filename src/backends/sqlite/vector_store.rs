use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::{
    Inner, SqliteStore,
    connection::{Bound, embedder},
    conversations::SqliteConversations,
    error::{Result as SqliteResult, SqliteError},
    index_source::Snapshot,
    queue::SqliteQueue,
    reembed,
    rows::{self, COLUMNS, Id, Time},
    verify, write,
};
use crate::{
    Candidate, Companions, Cursor, EmbedderIdentity, Filter, HistoryEvent, IndexKey, KeyPlace, ListOrder, ListQuery,
    Memory, MemoryId, Page, Purged, Reembedding, Result, Scope, SearchQuery, StagedVector, Stamp, StoreCapabilities,
    StoredKey, Timestamp, Validity, VectorStore, Verify, VerifyReport, Version, WriteBatch,
    index::{IndexCache, Terms, cues_of_batch},
};

#[async_trait]
impl VectorStore for SqliteStore {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities { graph: true, guards: true, durable: true, surroundings: true, reembedding: true }
    }

    fn companions(&self) -> Companions {
        Companions::none()
            .with_queue(SqliteQueue(self.clone()))
            .with_graph(self.clone())
            .with_conversations(SqliteConversations(self.clone()))
    }

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        let embedder = embedder.clone();
        self.blocking("binding the embedder", move |inner| bind(inner, &embedder)).await
    }

    async fn version(&self) -> Result<Version> {
        self.blocking("reading the version", |inner| inner.connections.read(write::version)).await
    }

    async fn apply(&self, batch: WriteBatch) -> Result<Version> {
        self.blocking("writing", move |inner| {
            if batch.is_empty() {
                return inner.connections.read(write::version);
            }
            // Before the transaction, which holds up every other writer.
            let (terms, cues) = (Terms::of_batch(&batch), cues_of_batch(&batch));
            inner
                .connections
                .write(|connection| write::apply(connection, embedder(connection)?.as_ref(), &batch, terms, &cues))
        })
        .await
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        scope.validate()?;
        let (scope, ids) = (scope.clone(), ids.to_vec());
        self.blocking("reading memories", move |inner| {
            inner.connections.read(|connection| get(connection, &scope, &ids))
        })
        .await
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        scope.validate()?;
        let scope = scope.clone();
        self.reading("reading the keys of a memory", move |connection| match embedder(connection)? {
            Some(embedder) => Snapshot { connection, embedder: &embedder }.keys_of(&scope, id),
            // Nothing was ever written.
            None => Ok(Vec::new()),
        })
        .await
    }

    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        let target = target.clone();
        self.writing("beginning to change the embedder", move |connection| reembed::begin(connection, &target)).await
    }

    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        let target = target.clone();
        self.reading("reading keys to embed anew", move |connection| {
            reembed::unstaged(connection, &target, after, limit)
        })
        .await
    }

    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        vectors.iter().try_for_each(|vector| vector.validate(target))?;
        let target = target.clone();
        self.writing("staging vectors", move |connection| reembed::stage(connection, &target, &vectors)).await
    }

    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        let target = target.clone();
        self.writing("changing the embedder", move |connection| reembed::swap(connection, &target)).await
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        // Before it is copied: a filter too deep to copy is told, not followed.
        query.validate(None)?;
        let query = query.clone();
        self.blocking("searching", move |inner| search(inner, &query)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        let after = query.validate()?;
        let query = query.clone();
        self.blocking("listing memories", move |inner| {
            inner.connections.read(|connection| list(connection, &query, after))
        })
        .await
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        scope.validate()?;
        filter.map_or(Ok(()), Filter::validate)?;
        let (scope, filter) = (scope.clone(), filter.cloned());
        self.blocking("counting memories", move |inner| {
            inner.connections.read(|connection| count(connection, &scope, filter.as_ref(), validity))
        })
        .await
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        scope.validate()?;
        let scope = scope.clone();
        self.blocking("reading history", move |inner| {
            inner.connections.read(|connection| history(connection, &scope, id))
        })
        .await
    }

    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>> {
        scope.validate()?;
        let scope = scope.clone();
        self.reading("reading what was removed", move |connection| removed(connection, &scope, after, limit)).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        let after = after.cloned();
        self.reading("listing scopes", move |connection| scopes(connection, after, limit)).await
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        scope.validate()?;
        let (scope, stamp) = (scope.clone(), stamp.clone());
        self.blocking("deleting memories", move |inner| {
            inner.connections.write(|connection| write::delete_all(connection, &scope, &stamp))
        })
        .await
    }

    async fn purge_all(&self, scope: &Scope) -> Result<Purged> {
        scope.validate()?;
        let scope = scope.clone();
        self.writing("purging a scope", move |connection| write::purge_all(connection, &scope)).await
    }

    async fn scrub(&self) -> Result<()> {
        self.blocking("scrubbing the file", |inner| inner.connections.scrub()).await
    }

    async fn verify(&self, request: &Verify) -> Result<VerifyReport> {
        verify::verify(self, request).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        scope.validate()?;
        let (scope, ids) = (scope.clone(), ids.to_vec());
        self.blocking("recording access", move |inner| {
            inner.connections.write(|connection| write::record_access(connection, &scope, &ids, at))
        })
        .await
    }
}

fn bind(inner: &Inner, wanted: &EmbedderIdentity) -> SqliteResult<()> {
    let check = |bound: &EmbedderIdentity| {
        if bound == wanted { Ok(()) } else { Err(bound.mismatch(wanted).into()) }
    };
    if let Some(bound) = inner.connections.read(embedder)? {
        return check(&bound);
    }
    inner.connections.write(|connection| match embedder(connection)? {
        // Another process may have been faster.
        Some(bound) => check(&bound),
        None if connection.prepare("SELECT 1 FROM keys LIMIT 1")?.exists([])? => {
            Err(SqliteError::unreadable("embedder", "there are vectors, and nothing says whose"))
        }
        None => reembed::write_embedder(connection, Bound::InUse, wanted),
    })
}

fn search(inner: &Inner, query: &SearchQuery) -> SqliteResult<Vec<Candidate>> {
    let index = inner.connections.read(|connection| {
        let embedder = embedder(connection)?;
        query.validate(embedder.as_ref())?;
        // Without an embedder nothing was ever written, and an index would not know its width.
        let Some(embedder) = &embedder else { return Ok(None) };
        let cache: &IndexCache = &inner.cache;
        Ok(Some(cache.index(&query.scope, &Snapshot { connection, embedder })?))
    })?;
    let Some(index) = index else { return Ok(Vec::new()) };
    Ok(inner.cache.search(&index, query)?)
}

fn get(connection: &Connection, scope: &Scope, ids: &[MemoryId]) -> SqliteResult<Vec<Memory>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE id = ?1"))?;
    let mut memories = Vec::with_capacity(ids.len());
    for id in ids {
        let found = statement.query_row([Id(*id)], |row| Ok(rows::memory(row))).optional()?.transpose()?;
        memories.extend(found.filter(|memory| scope.covers(&memory.scope)));
    }
    Ok(memories)
}

/// SQL that admits what holds, for the parameters `:at`, `:from` and `:to`, and these.
fn holds(validity: Validity) -> (&'static str, [Option<Time>; 3]) {
    match validity {
        Validity::Current(now) => (
            "(invalid_at IS NULL OR (invalid_at > :at AND invalid_at > valid_at))
             AND (expires_at IS NULL OR expires_at > :at) AND :from IS NULL AND :to IS NULL",
            [Some(Time(now)), None, None],
        ),
        Validity::CurrentOrHeld(now, range) => (
            "(invalid_at IS NULL
              OR (invalid_at > valid_at AND (invalid_at > :at OR (invalid_at > :from AND valid_at < :to))))
             AND (expires_at IS NULL OR expires_at > :at)",
            [Some(Time(now)), Some(Time(range.start())), Some(Time(range.end()))],
        ),
        Validity::At(then) => (
            "valid_at <= :at AND (invalid_at IS NULL OR invalid_at > :at) AND :from IS NULL AND :to IS NULL",
            [Some(Time(then)), None, None],
        ),
        Validity::Any => (":at IS NULL AND :from IS NULL AND :to IS NULL", [None, None, None]),
    }
}

fn list(connection: &Connection, query: &ListQuery, after: Option<MemoryId>) -> SqliteResult<Page<Memory>> {
    let total = count(connection, &query.scope, query.filter.as_ref(), query.validity)?;
    // Two statements rather than one with an OR, so that a later page begins inside the index.
    let (beyond, order) = match (query.order, after) {
        (ListOrder::OldestFirst, Some(_)) => ("id > :after", "id"),
        (ListOrder::NewestFirst, Some(_)) => ("id < :after", "id DESC"),
        (ListOrder::OldestFirst, None) => (":after IS NULL", "id"),
        (ListOrder::NewestFirst, None) => (":after IS NULL", "id DESC"),
    };
    let (holds, [at, from, to]) = holds(query.validity);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE {} AND {holds} AND {beyond} ORDER BY {order}",
        write::covered(&query.scope)
    ))?;
    let [user, agent, session] = rows::parts(&query.scope);
    let mut found = statement.query(named_params! {
        ":user": user, ":agent": agent, ":session": session, ":at": at, ":from": from, ":to": to,
        ":after": after.map(Id),
    })?;
    let mut items: Vec<Memory> = Vec::new();
    let mut next = None;
    while let Some(row) = found.next()? {
        let memory = rows::memory(row)?;
        if !query.filter.as_ref().is_none_or(|filter| filter.matches(&memory)) {
            continue;
        }
        if items.len() == query.limit {
            next = items.last().map(|last| Cursor::after(last.id));
            break;
        }
        items.push(memory);
    }
    Ok(Page::new(items, next, total))
}

fn count(connection: &Connection, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> SqliteResult<u64> {
    let covered = write::covered(scope);
    let (holds, [at, from, to]) = holds(validity);
    let [user, agent, session] = rows::parts(scope);
    let parameters =
        named_params! { ":user": user, ":agent": agent, ":session": session, ":at": at, ":from": from, ":to": to };
    let Some(filter) = filter else {
        let mut statement =
            connection.prepare_cached(&format!("SELECT count(*) FROM memories WHERE {covered} AND {holds}"))?;
        let count: i64 = statement.query_row(parameters, |row| row.get(0))?;
        return Ok(count.cast_unsigned());
    };
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE {covered} AND {holds}"))?;
    let mut found = statement.query(parameters)?;
    let mut count = 0;
    while let Some(row) = found.next()? {
        count += u64::from(filter.matches(&rows::memory(row)?));
    }
    Ok(count)
}

fn history(connection: &Connection, scope: &Scope, id: MemoryId) -> SqliteResult<Vec<HistoryEvent>> {
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(
        "SELECT memory, user, agent, session, kind, old_text, new_text, at, actor, call, reason FROM history
         WHERE memory = ?1 AND (?2 = '' OR user = ?2) AND (?3 = '' OR agent = ?3) AND (?4 = '' OR session = ?4)
         ORDER BY sequence",
    )?;
    let mut found = statement.query(params![Id(id), user, agent, session])?;
    let mut events = Vec::new();
    while let Some(row) = found.next()? {
        events.push(rows::event(row)?);
    }
    Ok(events)
}

/// A step a scope, each to the next place in the index: all that lies in between is passed over.
fn scopes(connection: &Connection, mut after: Option<Scope>, limit: usize) -> SqliteResult<Vec<Scope>> {
    let next = |table: &str, after: Option<&Scope>| -> SqliteResult<Option<Scope>> {
        let sql = format!(
            "SELECT user, agent, session FROM {table}
             WHERE (user, agent, session) > (?1, ?2, ?3) ORDER BY user, agent, session LIMIT ?4"
        );
        Ok(rows::scopes_after(connection, &sql, after, 1)?.pop())
    };
    let mut scopes = Vec::new();
    while scopes.len() < limit {
        let (stored, told) = (next("memories", after.as_ref())?, next("history", after.as_ref())?);
        after = stored.into_iter().chain(told).min();
        let Some(scope) = &after else { break };
        scopes.push(scope.clone());
    }
    Ok(scopes)
}

fn removed(
    connection: &Connection,
    scope: &Scope,
    after: Option<MemoryId>,
    limit: usize,
) -> SqliteResult<Vec<MemoryId>> {
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT DISTINCT memory FROM history WHERE memory > coalesce(:after, x'') AND {}
         AND NOT EXISTS (SELECT 1 FROM memories WHERE id = memory) ORDER BY memory LIMIT :limit",
        write::covered(scope)
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = statement.query(rusqlite::named_params! {
        ":after": after.map(Id), ":user": user, ":agent": agent, ":session": session, ":limit": limit,
    })?;
    let mut ids = Vec::new();
    while let Some(row) = found.next()? {
        ids.push(row.get::<_, Id>(0)?.0);
    }
    Ok(ids)
}
