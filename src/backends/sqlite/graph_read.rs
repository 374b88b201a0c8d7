//! Reading the graph, one step of a walk after another: nothing that was not asked for is loaded.

use std::{collections::BTreeMap, ops::ControlFlow};

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{
    error::{Result, SqliteError},
    graph_rows::{self, ENTITY, RELATION},
    rows::{self, Id, Time},
    write,
};
use crate::{
    Cursor, Direction, Entity, EntityId, GraphQuery, MemoryId, Page, Relation, RelationId, Scope,
    index::walk::{Step, Steps, Visit},
};

pub(super) fn entities(connection: &Connection, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {ENTITY} FROM entities WHERE id = ?1"))?;
    let mut entities = Vec::with_capacity(ids.len());
    for id in ids {
        let found = statement.query_row([id.as_bytes()], |row| Ok(graph_rows::entity(row))).optional()?.transpose()?;
        entities.extend(found.filter(|entity| scope.covers(&entity.scope)));
    }
    Ok(entities)
}

/// SQL that admits what a query sees, for the parameters `:valid` and `:known`.
fn seen(query: &GraphQuery) -> String {
    let holds = match query.valid {
        None => ":valid IS NULL",
        Some(_) => "(invalid_at IS NULL OR invalid_at > :valid) AND (valid_at IS NULL OR valid_at <= :valid)",
    };
    let believed = match query.known {
        None if query.expired => ":known IS NULL",
        None => "expired_at IS NULL AND :known IS NULL",
        Some(_) => "(expired_at IS NULL OR expired_at > :known) AND created_at <= :known",
    };
    format!("{believed} AND {holds}")
}

fn count(connection: &Connection, scope: &Scope, table: &str, query: Option<&GraphQuery>) -> Result<u64> {
    let covered = write::covered(scope);
    let seen = query.map_or_else(|| ":valid IS NULL AND :known IS NULL".to_owned(), seen);
    let [user, agent, session] = rows::parts(scope);
    let mut statement =
        connection.prepare_cached(&format!("SELECT count(*) FROM {table} WHERE {covered} AND {seen}"))?;
    let count: i64 = statement.query_row(
        named_params! {
            ":user": user, ":agent": agent, ":session": session,
            ":valid": query.and_then(|query| query.valid).map(Time), ":known": query.and_then(|query| query.known).map(Time),
        },
        |row| row.get(0),
    )?;
    Ok(count.cast_unsigned())
}

pub(super) fn counts(connection: &Connection, scope: &Scope) -> Result<(u64, u64)> {
    Ok((count(connection, scope, "entities", None)?, count(connection, scope, "relations", None)?))
}

/// A page of a table, in id order, of what begins after the id `after`.
#[expect(clippy::too_many_arguments, reason = "a list is all of these")]
fn page<T>(
    connection: &Connection,
    scope: &Scope,
    (table, columns): (&str, &str),
    query: Option<&GraphQuery>,
    after: Option<[u8; 16]>,
    limit: usize,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T>,
    id: impl Fn(&T) -> String,
) -> Result<Page<T>> {
    let total = count(connection, scope, table, query)?;
    let covered = write::covered(scope);
    let seen = query.map_or_else(|| ":valid IS NULL AND :known IS NULL".to_owned(), seen);
    // Two statements rather than one with an OR, so that a later page begins inside the index.
    let beyond = if after.is_some() { "id > :after" } else { ":after IS NULL" };
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns} FROM {table} WHERE {covered} AND {seen} AND {beyond} ORDER BY id"
    ))?;
    let mut found = statement.query(named_params! {
        ":user": user, ":agent": agent, ":session": session, ":after": after,
        ":valid": query.and_then(|query| query.valid).map(Time), ":known": query.and_then(|query| query.known).map(Time),
    })?;
    let mut items = Vec::new();
    let mut next = None;
    while let Some(row) = found.next()? {
        if items.len() == limit {
            next = items.last().map(|last| Cursor::from_text(id(last)));
            break;
        }
        items.push(read(row)?);
    }
    Ok(Page::new(items, next, total))
}

pub(super) fn list_entities(
    connection: &Connection,
    scope: &Scope,
    after: Option<EntityId>,
    limit: usize,
) -> Result<Page<Entity>> {
    let after = after.map(|id| *id.as_bytes());
    let id = |entity: &Entity| entity.id.to_string();
    page(connection, scope, ("entities", ENTITY), None, after, limit, graph_rows::entity, id)
}

pub(super) fn list_relations(
    connection: &Connection,
    scope: &Scope,
    query: &GraphQuery,
    after: Option<RelationId>,
    limit: usize,
) -> Result<Page<Relation>> {
    let after = after.map(|id| *id.as_bytes());
    let id = |relation: &Relation| relation.id.to_string();
    page(connection, scope, ("relations", RELATION), Some(query), after, limit, graph_rows::relation, id)
}

pub(super) fn relations_of(connection: &Connection, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RELATION} FROM relation_sources JOIN relations ON row = relation WHERE memory = ?1"
    ))?;
    let mut relations = BTreeMap::new();
    for memory in memories {
        let mut found = statement.query([Id(*memory)])?;
        while let Some(row) = found.next()? {
            let relation = graph_rows::relation(row)?;
            if scope.covers(&relation.scope) {
                relations.insert(relation.id, relation);
            }
        }
    }
    Ok(relations.into_values().collect())
}

pub(super) fn relations_of_everyone(
    connection: &Connection,
    after: Option<RelationId>,
    limit: usize,
) -> Result<Vec<Relation>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RELATION} FROM relations WHERE id > coalesce(?1, x'') ORDER BY id LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = statement.query(rusqlite::params![after.as_ref().map(RelationId::as_bytes), limit])?;
    let mut relations = Vec::new();
    while let Some(row) = found.next()? {
        relations.push(graph_rows::relation(row)?);
    }
    Ok(relations)
}

/// What a walk reads: one statement for each entity it goes on from.
pub(super) struct Walk<'w> {
    connection: &'w Connection,
    scope: &'w Scope,
    query: &'w GraphQuery,
    seen: String,
}

impl<'w> Walk<'w> {
    pub(super) fn new(connection: &'w Connection, scope: &'w Scope, query: &'w GraphQuery) -> Self {
        Self { connection, scope, query, seen: seen(query) }
    }

    fn sql(&self, direction: Direction) -> String {
        let seen = &self.seen;
        let covered = "(:user = '' OR user = :user) AND (:agent = '' OR agent = :agent) \
                       AND (:session = '' OR session = :session)";
        let out = format!("SELECT {RELATION} FROM relations WHERE subject = :at AND {seen} AND {covered}");
        let into = format!("SELECT {RELATION} FROM relations WHERE object = :at AND {seen} AND {covered}");
        match direction {
            Direction::Out => format!("{out} ORDER BY id DESC"),
            Direction::In => format!("{into} ORDER BY id DESC"),
            // SQLite merges the two as they come in order, so a walk that breaks off has read no more than it saw.
            Direction::Both => format!("{out} UNION ALL {into} AND subject <> :at ORDER BY id DESC"),
        }
    }
}

impl Steps for Walk<'_> {
    type Error = SqliteError;

    fn each(&self, at: EntityId, direction: Direction, visit: &mut Visit<'_, SqliteError>) -> Result<()> {
        let [user, agent, session] = rows::parts(self.scope);
        let mut statement = self.connection.prepare_cached(&self.sql(direction))?;
        let mut found = statement.query(named_params! {
            ":at": at.as_bytes(), ":user": user, ":agent": agent, ":session": session,
            ":valid": self.query.valid.map(Time), ":known": self.query.known.map(Time),
        })?;
        while let Some(row) = found.next()? {
            let subject = graph_rows::end(row, 4)?;
            let to = if subject == at { graph_rows::end(row, 6)? } else { subject };
            let step = Step { id: graph_rows::relation_id(row)?, to, relation: &|| graph_rows::relation(row) };
            if visit(step)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn relation(&self, id: RelationId) -> Result<Option<Relation>> {
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT {RELATION} FROM relations WHERE id = ?1"))?;
        statement.query_row([id.as_bytes()], |row| Ok(graph_rows::relation(row))).optional()?.transpose()
    }
}
