//! From entities and relations to rows and back.

use rusqlite::{Connection, Row, params};

use super::{
    error::{Result, SqliteError},
    rows::{self, Time, blob, json, to_json},
};
use crate::{Entity, EntityId, MemoryId, Relation, RelationId, Timestamp};

/// The columns of an entity, in the order in which [`entity`] reads and [`write_entity`] writes them.
pub(super) const ENTITY: &str = "id, user, agent, session, name, aliases, entity_type, summary, metadata, created_at, \
    updated_at, merged_into";

/// The columns of a relation, in the order in which [`relation`] reads and [`write_relation`] writes them.
pub(super) const RELATION: &str = "id, user, agent, session, subject, predicate, object, fact, valid_at, invalid_at, \
    created_at, expired_at, sources, subject_name, object_name, seen_at, single_valued";

/// The entity in the first columns of a row.
pub(super) fn entity(row: &Row<'_>) -> Result<Entity> {
    let created_at = row.get::<_, Time>(9)?.0;
    let id = EntityId::from_bytes(row.get(0)?);
    let mut entity = Entity::new(id, rows::scope(row, 1)?, row.get::<_, String>(4)?, created_at);
    entity.aliases = json(row, 5, "list of aliases")?;
    entity.entity_type = row.get(6)?;
    entity.summary = row.get(7)?;
    entity.metadata = json(row, 8, "metadata")?;
    entity.updated_at = row.get::<_, Time>(10)?.0;
    entity.merged_into = row.get::<_, Option<[u8; 16]>>(11)?.map(EntityId::from_bytes);
    Ok(entity)
}

pub(super) fn write_entity(connection: &Connection, row: i64, entity: &Entity) -> Result<()> {
    let Entity { id, scope, name, aliases, entity_type, summary, merged_into, metadata, created_at, updated_at } =
        entity;
    let [user, agent, session] = rows::parts(scope);
    connection
        .prepare_cached(&format!(
            "INSERT INTO entities (row, {ENTITY}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (row) DO UPDATE SET name = excluded.name, aliases = excluded.aliases,
             entity_type = excluded.entity_type, summary = excluded.summary, metadata = excluded.metadata,
             created_at = excluded.created_at, updated_at = excluded.updated_at,
             merged_into = excluded.merged_into"
        ))?
        .execute(params![
            row,
            id.as_bytes(),
            user,
            agent,
            session,
            name,
            to_json(aliases, aliases.is_empty(), "list of aliases")?,
            entity_type,
            summary,
            to_json(metadata, metadata.is_empty(), "metadata")?,
            Time(*created_at),
            Time(*updated_at),
            merged_into.as_ref().map(EntityId::as_bytes),
        ])?;
    Ok(())
}

/// The relation in the first columns of a row.
pub(super) fn relation(row: &Row<'_>) -> Result<Relation> {
    let ends = (end(row, 4)?, row.get::<_, String>(5)?, end(row, 6)?);
    let created_at = row.get::<_, Time>(10)?.0;
    let mut relation =
        Relation::new(relation_id(row)?, rows::scope(row, 1)?, ends, row.get::<_, String>(7)?, created_at);
    let time = |column: usize| -> Result<_> { Ok(row.get::<_, Option<Time>>(column)?.map(|time| time.0)) };
    relation.valid_at = time(8)?;
    relation.invalid_at = time(9)?;
    relation.expired_at = time(11)?;
    relation.sources = sources(row, 12)?;
    relation.subject_name = row.get(13)?;
    relation.object_name = row.get(14)?;
    relation.seen_at = seen_at(row, 15)?;
    relation.single_valued = row.get(16)?;
    Ok(relation)
}

pub(super) fn relation_id(row: &Row<'_>) -> Result<RelationId> {
    Ok(RelationId::from_bytes(row.get(0)?))
}

/// An end of a relation: the subject is in column 4, the object in column 6.
pub(super) fn end(row: &Row<'_>, column: usize) -> Result<EntityId> {
    Ok(EntityId::from_bytes(row.get(column)?))
}

/// Writes a relation that is not stored yet.
pub(super) fn write_relation(connection: &Connection, row: i64, relation: &Relation) -> Result<()> {
    let Relation {
        id,
        scope,
        subject,
        predicate,
        object,
        subject_name,
        object_name,
        single_valued,
        fact,
        valid_at,
        invalid_at,
        created_at,
        expired_at,
        seen_at: _,
        sources: _,
    } = relation;
    let [user, agent, session] = rows::parts(scope);
    connection
        .prepare_cached(&format!(
            "INSERT INTO relations (row, {RELATION})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
        ))?
        .execute(params![
            row,
            id.as_bytes(),
            user,
            agent,
            session,
            subject.as_bytes(),
            predicate,
            object.as_bytes(),
            fact,
            valid_at.map(Time),
            invalid_at.map(Time),
            Time(*created_at),
            expired_at.map(Time),
            packed_sources(relation),
            subject_name,
            object_name,
            packed_instants(relation),
            single_valued,
        ])?;
    write_sources(connection, row, relation)
}

/// Writes what may change of a stored relation.
pub(super) fn update_relation(connection: &Connection, row: i64, relation: &Relation) -> Result<()> {
    connection
        .prepare_cached("UPDATE relations SET expired_at = ?2, sources = ?3, seen_at = ?4 WHERE row = ?1")?
        .execute(params![row, relation.expired_at.map(Time), packed_sources(relation), packed_instants(relation)])?;
    replace_sources(connection, row, relation)
}

/// Writes anew by which memories a stored relation is found.
pub(super) fn replace_sources(connection: &Connection, row: i64, relation: &Relation) -> Result<()> {
    connection.prepare_cached("DELETE FROM relation_sources WHERE relation = ?1")?.execute([row])?;
    write_sources(connection, row, relation)
}

fn write_sources(connection: &Connection, row: i64, relation: &Relation) -> Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR IGNORE INTO relation_sources (memory, relation) VALUES (?1, ?2)")?;
    for source in &relation.sources {
        statement.execute(params![source.as_bytes(), row])?;
    }
    Ok(())
}

fn packed_sources(relation: &Relation) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = relation.sources.iter().flat_map(|source| *source.as_bytes()).collect();
    (!bytes.is_empty()).then_some(bytes)
}

fn packed_instants(relation: &Relation) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = relation.seen_at.iter().flat_map(|at| at.timestamp_micros().to_be_bytes()).collect();
    (!bytes.is_empty()).then_some(bytes)
}

fn seen_at(row: &Row<'_>, column: usize) -> Result<Vec<Timestamp>> {
    if row.get_ref(column)? == rusqlite::types::ValueRef::Null {
        return Ok(Vec::new());
    }
    let (instants, rest) = blob(row, column, "list of instants")?.as_chunks::<8>();
    let unreadable = || SqliteError::unreadable("list of instants", "it is no row of instants");
    if !rest.is_empty() {
        return Err(unreadable());
    }
    let instant = |bytes: &[u8; 8]| Timestamp::from_timestamp_micros(i64::from_be_bytes(*bytes));
    instants.iter().map(|bytes| instant(bytes).ok_or_else(unreadable)).collect()
}

fn sources(row: &Row<'_>, column: usize) -> Result<Vec<MemoryId>> {
    if row.get_ref(column)? == rusqlite::types::ValueRef::Null {
        return Ok(Vec::new());
    }
    let (ids, rest) = blob(row, column, "list of sources")?.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(SqliteError::unreadable("list of sources", "it is no row of ids"));
    }
    Ok(ids.iter().map(|id| MemoryId::from_bytes(*id)).collect())
}
