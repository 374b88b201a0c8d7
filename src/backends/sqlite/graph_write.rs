//! Changing the graph inside a transaction: an error anywhere rolls all of it back.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{
    error::Result,
    graph_rows::{self, RELATION},
    names, rows, write,
};
use crate::{Entity, EntityId, Error, ErrorKind, GraphBatch, MemoryId, Relation, RelationId, Scope};

/// Applies a valid batch.
pub(super) fn apply(connection: &Connection, batch: &GraphBatch) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let GraphBatch { entities, relations, remove_relations, remove_entities } = batch;
    entities.iter().try_for_each(|entity| put_entity(connection, entity))?;
    relations.iter().try_for_each(|relation| put_relation(connection, relation))?;
    remove_relations.iter().try_for_each(|id| remove_relation(connection, *id))?;
    remove_entities.iter().try_for_each(|id| remove_entity(connection, *id))?;
    grow_version(connection)
}

/// A change of no memory and in no scope: indexes and guards pass over it.
fn grow_version(connection: &Connection) -> Result<()> {
    let nothing = MemoryId::from_bytes([0; 16]);
    write::log(connection, nothing, &Scope::from_parts(None, None, None), false, false)?;
    write::drop_old_changes(connection, write::version(connection)?)
}

/// The row and the scope of an entity.
fn stored_entity(connection: &Connection, id: EntityId) -> Result<Option<(i64, Scope)>> {
    let found = connection
        .prepare_cached("SELECT row, user, agent, session FROM entities WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| Ok((row.get(0)?, rows::scope(row, 1))))
        .optional()?;
    found.map(|(row, scope)| Ok((row, scope?))).transpose()
}

fn put_entity(connection: &Connection, entity: &Entity) -> Result<()> {
    let row = match stored_entity(connection, entity.id)? {
        Some((_, scope)) if scope != entity.scope => {
            return Err(Error::invalid("the scope of a stored entity never changes").into());
        }
        Some((row, _)) => {
            names::remove(connection, row, &entity.scope)?;
            row
        }
        None => write::free_row(connection, "entities", &entity.scope)?,
    };
    graph_rows::write_entity(connection, row, entity)?;
    names::add(connection, row, entity)
}

fn put_relation(connection: &Connection, relation: &Relation) -> Result<()> {
    for end in [relation.subject, relation.object] {
        if !stored_entity(connection, end)?.is_some_and(|(_, scope)| scope.covers(&relation.scope)) {
            return Err(Error::new(ErrorKind::Conflict, "an end of a relation is not there").into());
        }
    }
    let stored = connection
        .prepare_cached(&format!("SELECT {RELATION}, row FROM relations WHERE id = ?1"))?
        .query_row([relation.id.as_bytes()], |row| Ok((graph_rows::relation(row), row.get::<_, i64>(17)?)))
        .optional()?;
    match stored {
        Some((stored, row)) => {
            relation.check_replaces(&stored?)?;
            graph_rows::update_relation(connection, row, relation)
        }
        None => {
            let row = write::free_row(connection, "relations", &relation.scope)?;
            graph_rows::write_relation(connection, row, relation)
        }
    }
}

fn remove_relation(connection: &Connection, id: RelationId) -> Result<()> {
    connection.prepare_cached("DELETE FROM relations WHERE id = ?1")?.execute([id.as_bytes()])?;
    Ok(())
}

fn remove_entity(connection: &Connection, id: EntityId) -> Result<()> {
    if let Some((row, scope)) = stored_entity(connection, id)? {
        names::remove(connection, row, &scope)?;
        // Its relations go with it, by the foreign keys.
        connection.prepare_cached("DELETE FROM entities WHERE row = ?1")?.execute([row])?;
    }
    Ok(())
}

/// Removes what the scope covers. Whoever covers an entity covers its relations, so no relation of others goes with it.
pub(super) fn delete_all(connection: &Connection, scope: &Scope) -> Result<(u64, u64)> {
    let covered = write::covered(scope);
    let [user, agent, session] = rows::parts(scope);
    let parts = named_params! { ":user": user, ":agent": agent, ":session": session };
    let relations =
        connection.prepare_cached(&format!("DELETE FROM relations WHERE {covered}"))?.execute(parts)? as u64;
    let mut statement =
        connection.prepare_cached(&format!("SELECT row, user, agent, session FROM entities WHERE {covered}"))?;
    let mut found = statement.query(parts)?;
    let mut entities: Vec<(i64, Scope)> = Vec::new();
    while let Some(row) = found.next()? {
        entities.push((row.get(0)?, rows::scope(row, 1)?));
    }
    let mut delete = connection.prepare_cached("DELETE FROM entities WHERE row = ?1")?;
    for (row, scope) in &entities {
        names::remove(connection, *row, scope)?;
        delete.execute([row])?;
    }
    if relations > 0 || !entities.is_empty() {
        grow_version(connection)?;
    }
    Ok((entities.len() as u64, relations))
}
