//! Changing the graph, each batch in one transaction: locks first, then a look at what is stored, then all changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    bolt::{Map, Row, Statement, Transaction, map},
    error::Result,
    locks, names,
    read::{Listed, ids},
    rows,
};
use crate::{Entity, EntityId, Error, ErrorKind, GraphBatch, Relation, RelationId, Scope};

/// What a batch meets.
#[derive(Debug, Default)]
struct Stored {
    /// Entities that the batch stores or removes, or at which its relations begin or end.
    entities: HashMap<EntityId, Entity>,
    /// Relations that the batch stores or removes.
    relations: HashMap<RelationId, Relation>,
    /// Relations at entities that the batch removes, and their scopes.
    going: BTreeMap<RelationId, Scope>,
}

/// Applies a valid batch.
pub(super) async fn apply(mut transaction: Transaction, batch: &GraphBatch) -> Result<()> {
    let stored = locked(&mut transaction, batch).await?;
    if let Err(error) = check(batch, &stored) {
        transaction.roll_back(Vec::new()).await?;
        return Err(error.into());
    }
    transaction.commit(changes(batch, &stored)?).await?;
    Ok(())
}

/// Takes the locks that the batch needs and reads what it meets. What it removes tells its scope only when it is read,
/// so more locks may be needed then, and another look after they are held.
async fn locked(transaction: &mut Transaction, batch: &GraphBatch) -> Result<Stored> {
    let mut held: BTreeSet<i64> = BTreeSet::new();
    let scopes =
        batch.entities.iter().map(|entity| &entity.scope).chain(batch.relations.iter().map(|relation| &relation.scope));
    let mut wanted: BTreeSet<i64> = scopes.flat_map(locks::for_writing).collect();
    loop {
        take(transaction, &mut held, &wanted).await?;
        let stored = look(transaction, batch).await?;
        let removed = batch.remove_entities.iter().filter_map(|id| stored.entities.get(id)).map(|entity| &entity.scope);
        let relations = batch.remove_relations.iter().filter_map(|id| stored.relations.get(id));
        let removed = removed.chain(relations.map(|relation| &relation.scope)).chain(stored.going.values());
        wanted.extend(removed.flat_map(locks::for_writing));
        if wanted.is_subset(&held) {
            return Ok(stored);
        }
    }
}

async fn take(transaction: &mut Transaction, held: &mut BTreeSet<i64>, wanted: &BTreeSet<i64>) -> Result<()> {
    let missing: BTreeSet<i64> = wanted.difference(held).copied().collect();
    if !missing.is_empty() {
        let taken = transaction.run(vec![locks::take(&missing)]).await?;
        locks::taken(&taken.concat(), missing.len())?;
        held.extend(missing);
    }
    Ok(())
}

async fn look(transaction: &mut Transaction, batch: &GraphBatch) -> Result<Stored> {
    let ends = batch.relations.iter().flat_map(|relation| [relation.subject, relation.object]);
    let entities = batch.entities.iter().map(|entity| entity.id).chain(ends).chain(batch.remove_entities.clone());
    let relations = batch.relations.iter().map(|relation| relation.id).chain(batch.remove_relations.iter().copied());
    let statements = vec![
        Statement::new(
            "UNWIND $ids AS id MATCH (e:IngrainEntity {id: id}) RETURN properties(e)",
            map([("ids", ids(entities))]),
        ),
        Statement::new(
            "UNWIND $ids AS id MATCH ()-[r:INGRAIN_RELATION {id: id}]->() RETURN properties(r)",
            map([("ids", ids(relations))]),
        ),
        Statement::new(
            "UNWIND $ids AS id MATCH (:IngrainEntity {id: id})-[r:INGRAIN_RELATION]-() RETURN DISTINCT properties(r)",
            map([("ids", ids(batch.remove_entities.iter().copied()))]),
        ),
    ];
    let mut results = transaction.run(statements).await?.into_iter();
    let mut next = || results.next().unwrap_or_default().into_iter();
    let mut stored = Stored::default();
    for row in next() {
        let entity = rows::properties(row, 0)?.entity()?;
        stored.entities.insert(entity.id, entity);
    }
    for row in next() {
        let relation = rows::properties(row, 0)?.relation()?;
        stored.relations.insert(relation.id, relation);
    }
    for row in next() {
        let relation = rows::properties(row, 0)?.relation()?;
        stored.going.insert(relation.id, relation.scope);
    }
    Ok(stored)
}

fn check(batch: &GraphBatch, stored: &Stored) -> crate::Result<()> {
    for entity in &batch.entities {
        if stored.entities.get(&entity.id).is_some_and(|before| before.scope != entity.scope) {
            return Err(Error::invalid("the scope of a stored entity never changes"));
        }
    }
    let new: HashMap<EntityId, &Scope> = batch.entities.iter().map(|entity| (entity.id, &entity.scope)).collect();
    for relation in &batch.relations {
        for end in [relation.subject, relation.object] {
            let scope = new.get(&end).copied().or(stored.entities.get(&end).map(|entity| &entity.scope));
            if !scope.is_some_and(|scope| scope.covers(&relation.scope)) {
                return Err(Error::new(ErrorKind::Conflict, "an end of a relation is not there"));
            }
        }
        if let Some(before) = stored.relations.get(&relation.id) {
            relation.check_replaces(before)?;
        }
    }
    Ok(())
}

/// Everything the batch does, in order.
fn changes(batch: &GraphBatch, stored: &Stored) -> Result<Vec<Statement>> {
    let mut changes = Vec::new();
    changes.extend(put_entities(&batch.entities, stored)?);
    changes.extend(put_relations(&batch.relations, stored));
    changes.extend(remove_relations(batch.remove_relations.iter().chain(stored.going.keys()).copied()));
    if !batch.remove_entities.is_empty() {
        let gone = map([("ids", ids(batch.remove_entities.iter().copied()))]);
        changes.push(names::remove(EACH_ENTITY, gone.clone()));
        changes.push(Statement::new(format!("{EACH_ENTITY} DETACH DELETE e"), gone));
    }
    Ok(changes)
}

/// Most entities, each with all its names, and most relations that one transaction of a large removal takes.
const ENTITIES: usize = 500;
const RELATIONS: usize = 5_000;

const EACH_ENTITY: &str = "UNWIND $ids AS id MATCH (e:IngrainEntity {id: id})";

fn put_entities(entities: &[Entity], stored: &Stored) -> Result<Vec<Statement>> {
    if entities.is_empty() {
        return Ok(Vec::new());
    }
    let before = |entity: &Entity| stored.entities.get(&entity.id);
    let kept = |entity: &&Entity| {
        before(entity).is_some_and(|old| (&old.name, &old.aliases) == (&entity.name, &entity.aliases))
    };
    let renamed: Vec<&Entity> = entities.iter().filter(|entity| !kept(entity)).collect();
    let old = renamed.iter().filter(|entity| before(entity).is_some()).map(|entity| entity.id);
    let rows: Vec<Map> = entities.iter().map(|entity| rows::of_entity(&entity.as_kept())).collect::<Result<_>>()?;
    let mut changes = vec![
        names::remove(EACH_ENTITY, map([("ids", ids(old))])),
        Statement::new(
            "UNWIND $rows AS row MERGE (e:IngrainEntity {id: row.id}) SET e = row",
            map([("rows", rows.into_iter().collect())]),
        ),
    ];
    changes.extend(names::add(&renamed));
    Ok(changes)
}

fn put_relations(relations: &[Relation], stored: &Stored) -> Vec<Statement> {
    let (old, new): (Vec<&Relation>, Vec<&Relation>) =
        relations.iter().partition(|relation| stored.relations.contains_key(&relation.id));
    let rows = |relations: &[&Relation]| {
        let rows = relations.iter().map(|relation| rows::of_relation(&relation.as_kept()));
        map([("rows", rows.collect())])
    };
    let mut changes = Vec::new();
    if !new.is_empty() {
        let text = "UNWIND $rows AS row
            MATCH (subject:IngrainEntity {id: row.subject})
            MATCH (object:IngrainEntity {id: row.object})
            CREATE (subject)-[r:INGRAIN_RELATION]->(object)
            SET r = row";
        changes.push(Statement::new(text, rows(&new)));
    }
    if !old.is_empty() {
        let text = "UNWIND $rows AS row
            MATCH ()-[r:INGRAIN_RELATION {id: row.id}]->()
            SET r.expired_at = row.expired_at, r.sources = row.sources, r.seen_at = row.seen_at";
        changes.push(Statement::new(text, rows(&old)));
        changes.push(forget_sources(old.iter().map(|relation| relation.id)));
    }
    if !relations.is_empty() {
        let text = "UNWIND $rows AS row
            UNWIND row.sources AS memory
            CREATE (:IngrainSource {memory: memory, relation: row.id})";
        let all: Vec<&Relation> = relations.iter().collect();
        changes.push(Statement::new(text, rows(&all)));
    }
    changes
}

fn forget_sources(relations: impl Iterator<Item = RelationId>) -> Statement {
    let text = "UNWIND $ids AS id MATCH (s:IngrainSource {relation: id}) DELETE s";
    Statement::new(text, map([("ids", ids(relations))]))
}

fn remove_relations(relations: impl Iterator<Item = RelationId> + Clone) -> Vec<Statement> {
    if relations.clone().next().is_none() {
        return Vec::new();
    }
    let text = "UNWIND $ids AS id MATCH ()-[r:INGRAIN_RELATION {id: id}]->() DELETE r";
    vec![forget_sources(relations.clone()), Statement::new(text, map([("ids", ids(relations))]))]
}

/// What one transaction of [`delete_slice`] removed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Deleted {
    pub(super) entities: u64,
    pub(super) relations: u64,
    /// Whether nothing is left.
    pub(super) all: bool,
}

/// Removes what the scope covers, or of much of it a part, relations first: a transaction lies in the server's memory
/// until it ends. Whoever covers an entity covers its relations, so no relation of others goes with it.
pub(super) async fn delete_slice(mut transaction: Transaction, scope: &Scope) -> Result<Deleted> {
    let (entities, relations) = (Listed::Entities, Listed::Relations(None));
    let mut held = BTreeSet::new();
    let mut wanted: BTreeSet<i64> = locks::for_writing(scope).collect();
    loop {
        take(&mut transaction, &mut held, &wanted).await?;
        let scopes = vec![entities.scopes(scope, ENTITIES), relations.scopes(scope, RELATIONS)];
        for row in transaction.run(scopes).await?.into_iter().flatten() {
            wanted.extend(locks::for_writing(&rows::properties(row, 0)?.scope()?));
        }
        if wanted.is_subset(&held) {
            break;
        }
    }
    let count = |results: &[Vec<Row>]| rows::number(results.get(1).and_then(|rows| rows.first()), 0);
    let (first, parameters) = relations.first(scope, RELATIONS);
    let changes = vec![
        Statement::new(format!("{first} MATCH (s:IngrainSource {{relation: r.id}}) DELETE s"), parameters.clone()),
        Statement::new(format!("{first} DELETE r RETURN count(*)"), parameters),
    ];
    let gone = count(&transaction.run(changes).await?)?.cast_unsigned();
    if gone == RELATIONS as u64 {
        transaction.commit(Vec::new()).await?;
        return Ok(Deleted { relations: gone, ..Deleted::default() });
    }
    let (first, parameters) = entities.first(scope, ENTITIES);
    let changes = vec![
        names::remove(&first, parameters.clone()),
        Statement::new(format!("{first} DETACH DELETE e RETURN count(*)"), parameters),
    ];
    let entities = count(&transaction.commit(changes).await?)?.cast_unsigned();
    Ok(Deleted { entities, relations: gone, all: entities < ENTITIES as u64 })
}

/// Removes a part of what all scopes cover, in an order in which no part lacks what it rests on; whether nothing is left.
pub(super) async fn delete_slice_of_everything(mut transaction: Transaction) -> Result<bool> {
    let all = (0..locks::COUNT).filter_map(|lock| i64::try_from(lock).ok()).collect();
    take(&mut transaction, &mut BTreeSet::new(), &all).await?;
    let parts = [
        ("()-[x:INGRAIN_RELATION]->()", RELATIONS),
        ("(x:IngrainSource)", RELATIONS),
        ("(x:IngrainName)", ENTITIES),
        ("(x:IngrainGram)", RELATIONS),
        ("(x:IngrainEntity)", RELATIONS),
    ];
    for (pattern, count) in parts {
        let detach = if pattern.starts_with("(x") { "DETACH " } else { "" };
        let text = format!("MATCH {pattern} WITH x LIMIT $count {detach}DELETE x RETURN count(*)");
        let gone = transaction.run(vec![Statement::new(text, map([("count", count.into())]))]).await?.concat();
        if rows::number(gone.first(), 0)? == i64::try_from(count).unwrap_or(i64::MAX) {
            transaction.commit(Vec::new()).await?;
            return Ok(false);
        }
    }
    transaction.commit(Vec::new()).await?;
    Ok(true)
}
