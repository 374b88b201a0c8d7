//! Entities and relations.

use std::collections::HashSet;

use rusqlite::Connection;

use super::{At, Fault, Page, Part, read_row, readable, rows_after};
use crate::{
    Entity, EntityId, MemoryId, ProblemKind, ProblemPlace, Relation,
    backends::sqlite::{
        error::{Result, SqliteError},
        graph_rows::{self, ENTITY, RELATION},
        names,
        rows::{self, Id},
    },
    check_entity, check_relation,
};

pub(super) const ENTITIES: Part = Part { name: "entities", look: entities, mend: mend_entity };
pub(super) const RELATIONS: Part = Part { name: "relations", look: relations, mend: mend_relation };

fn entities(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "entities", "row", after)?;
    for row in rows {
        page.looked_at += 1;
        let Some(entity) = readable(entity(connection, row))?.flatten() else {
            page.unreadable("entities", row);
            continue;
        };
        page.counts.entities += 1;
        let place = || ProblemPlace::Entity(entity.id);
        if !readable(names::are_sound(connection, row, &entity))?.unwrap_or(false) {
            page.fault(ProblemKind::Names, place(), [row, 0, 0]);
        }
        if !leads_somewhere(connection, &entity)? {
            page.fault(ProblemKind::MergedInto, place(), [row, 0, 0]);
        }
    }
    Ok(next)
}

fn entity(connection: &Connection, row: i64) -> Result<Option<Entity>> {
    read_row(connection, &format!("SELECT {ENTITY} FROM entities WHERE row = ?1"), [row], |row| {
        let entity = graph_rows::entity(row)?;
        check_entity(&entity).map_err(|error| SqliteError::unreadable("entity", error))?;
        Ok(entity)
    })
}

/// Whether what it was merged into, step by step, ends at an entity that is there.
fn leads_somewhere(connection: &Connection, entity: &Entity) -> Result<bool> {
    let mut met = HashSet::from([entity.id]);
    let mut next = entity.merged_into;
    while let Some(id) = next {
        let sql = "SELECT merged_into FROM entities WHERE id = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok(row.get::<_, Option<[u8; 16]>>(0)?.map(EntityId::from_bytes));
        let found = readable(read_row(connection, sql, [id.as_bytes()], read))?.flatten();
        match found {
            Some(into) if met.insert(id) => next = into,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn mend_entity(connection: &Connection, fault: &Fault) -> Result<()> {
    let [row, ..] = fault.at;
    let Some(entity) = entity(connection, row)? else { return Ok(()) };
    if readable(names::remove(connection, row, &entity.scope))?.is_none() {
        // What led to them goes with the strays.
        connection.prepare_cached("DELETE FROM entity_names WHERE entity = ?1")?.execute([row])?;
    }
    names::add(connection, row, &entity)
}

fn relations(connection: &Connection, after: Option<At>, page: &mut Page) -> Result<Option<At>> {
    let (rows, next) = rows_after(connection, "relations", "row", after)?;
    for row in rows {
        page.looked_at += 1;
        let Some(relation) = readable(relation(connection, row))?.flatten() else {
            page.unreadable("relations", row);
            continue;
        };
        page.counts.relations += 1;
        let place = || ProblemPlace::Relation(relation.id);
        for end in [relation.subject, relation.object] {
            let sql = "SELECT user, agent, session FROM entities WHERE id = ?1";
            let scope = readable(read_row(connection, sql, [end.as_bytes()], |row| rows::scope(row, 0)))?.flatten();
            if !scope.is_some_and(|scope| scope.covers(&relation.scope)) {
                page.fault(ProblemKind::RelationEnd, place(), [row, 0, 0]);
            }
        }
        let found = readable(found_by(connection, row))?;
        if found.is_none_or(|found| found != relation.sources.iter().copied().collect()) {
            page.fault(ProblemKind::RelationSources, place(), [row, 0, 0]);
        }
    }
    Ok(next)
}

fn relation(connection: &Connection, row: i64) -> Result<Option<Relation>> {
    read_row(connection, &format!("SELECT {RELATION} FROM relations WHERE row = ?1"), [row], |row| {
        let relation = graph_rows::relation(row)?;
        check_relation(&relation).map_err(|error| SqliteError::unreadable("relation", error))?;
        Ok(relation)
    })
}

/// The memories that a relation is found by.
fn found_by(connection: &Connection, row: i64) -> Result<HashSet<MemoryId>> {
    let mut statement = connection.prepare_cached("SELECT memory FROM relation_sources WHERE relation = ?1")?;
    let mut found = statement.query([row])?;
    let mut memories = HashSet::new();
    while let Some(row) = found.next()? {
        memories.insert(row.get::<_, Id>(0)?.0);
    }
    Ok(memories)
}

fn mend_relation(connection: &Connection, fault: &Fault) -> Result<()> {
    let [row, ..] = fault.at;
    let Some(relation) = relation(connection, row)? else { return Ok(()) };
    graph_rows::replace_sources(connection, row, &relation)
}
