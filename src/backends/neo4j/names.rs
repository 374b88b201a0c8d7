//! Finding entities by name: an inverted index of trigrams.
//!
//! `(:IngrainEntity)-[:INGRAIN_NAMED]->(:IngrainName)-[:INGRAIN_SPELLED]->(:IngrainGram)`: each name and alias, folded,
//! and its trigrams, once for each scope that may look for it; beside them a hash of the whole name, so that one without
//! trigrams is found as well. A look-up goes from the trigrams of the wanted name to the names that share them, counts
//! and compares there, and is exact: the database works out the likeness in f64, which rounded to f32 is what
//! [`likeness`](crate::score::names::Name::likeness) gives, since the quotient of two such numbers is.

use super::{
    bolt::{Map, Row, Statement, Value, map},
    error::{Neo4jError, Result},
    locks, read, rows,
};
use crate::{
    Entity, Scope,
    score::{
        names::{LIKE, Name, folded, likeness_of_unequal},
        stable_hash::StableHash,
    },
};

/// Shares of a few hundred trigrams differ by more than this, or not at all.
const HAIR: f64 = 1e-6;

/// What a name is found by when it is equal: below zero, where no trigram is.
fn whole(folded: &str) -> i64 {
    (StableHash::new(2).text(folded).finish() | 1 << 63).cast_signed()
}

fn reader(scope: &Scope) -> i64 {
    locks::reader(scope).cast_signed()
}

/// The trigrams, which are not negative, and the hash of the whole, which is.
fn grams(name: &Name) -> impl Iterator<Item = i64> {
    [whole(name.folded())].into_iter().chain(name.trigrams().iter().map(|gram| gram.cast_signed()))
}

/// Stores the names of these entities, which have none.
pub(super) fn add(entities: &[&Entity]) -> Vec<Statement> {
    let rows = entities.iter().flat_map(|entity| {
        std::iter::once(&entity.name).chain(&entity.aliases).map(|name| {
            let name = Name::of(name);
            map([
                ("entity", entity.id.to_string().into()),
                ("folded", name.folded().into()),
                ("size", name.trigrams().len().into()),
                ("readers", entity.scope.readers().map(|scope| reader(&scope)).collect()),
                ("grams", grams(&name).collect()),
            ])
        })
    });
    let text = "UNWIND $names AS row
        MATCH (e:IngrainEntity {id: row.entity})
        CREATE (e)-[:INGRAIN_NAMED]->(n:IngrainName {folded: row.folded, size: row.size})
        WITH n, row
        UNWIND row.readers AS reader
        UNWIND row.grams AS gram
        MERGE (g:IngrainGram {reader: reader, gram: gram})
        CREATE (n)-[:INGRAIN_SPELLED]->(g)";
    vec![Statement::new(text, map([("names", rows.collect())]))]
}

/// Removes the names of the entities that `matched` finds as `e`, and the trigrams that are in no name any more.
pub(super) fn remove(matched: &str, parameters: Map) -> Statement {
    let text = format!(
        "{matched}
        MATCH (e)-[:INGRAIN_NAMED]->(n:IngrainName)
        OPTIONAL MATCH (n)-[:INGRAIN_SPELLED]->(g:IngrainGram)
        WITH collect(DISTINCT n) AS names, collect(DISTINCT g) AS grams
        FOREACH (name IN names | DETACH DELETE name)
        WITH grams
        UNWIND grams AS g
        WITH g WHERE NOT EXISTS {{ (g)<-[:INGRAIN_SPELLED]-() }}
        DELETE g"
    );
    Statement::new(text, parameters)
}

/// Finds the entities with a name like this one, likest first, with their likeness; `None` for a blank one.
pub(super) fn find(scope: &Scope, name: &str, limit: usize) -> Option<Statement> {
    let wanted = Name::of(name);
    if wanted.folded().is_empty() || limit == 0 {
        return None;
    }
    let covered = read::covered(scope, "e");
    let text = format!(
        "UNWIND $grams AS gram
        MATCH (:IngrainGram {{reader: $reader, gram: gram}})<-[:INGRAIN_SPELLED]-(n:IngrainName)
        WITH n, count(CASE WHEN gram >= 0 THEN gram END) AS shared
        WITH n, shared, n.size + $size - shared AS together
        WITH n, CASE WHEN together = 0 THEN 0.0 ELSE toFloat(shared) / together END AS share
        WITH n, CASE WHEN n.folded = $folded THEN 1.0 WHEN share > $most THEN $most ELSE share END AS likeness
        WHERE likeness >= $like
        MATCH (e:IngrainEntity)-[:INGRAIN_NAMED]->(n)
        WHERE {covered}
        WITH e, max(likeness) AS likeness
        ORDER BY likeness DESC, e.id LIMIT $limit
        RETURN properties(e), likeness"
    );
    let mut parameters = map([
        ("grams", grams(&wanted).collect()),
        ("reader", reader(scope).into()),
        ("size", wanted.trigrams().len().into()),
        ("folded", wanted.folded().into()),
        ("most", Value::Float(f64::from(likeness_of_unequal(1, 1, 1)))),
        ("like", Value::Float(f64::from(LIKE) - HAIR)),
        ("limit", limit.into()),
    ]);
    parameters.extend(rows::scope(scope));
    Some(Statement::new(text, parameters))
}

/// Finds the entities with a name equal to one of these, by id.
pub(super) fn named(scope: &Scope, names: &[String]) -> Statement {
    let folded: Vec<String> = names.iter().map(|name| folded(name)).filter(|name| !name.is_empty()).collect();
    let wanted = folded.iter().map(|name| map([("folded", name.as_str().into()), ("gram", whole(name).into())]));
    let covered = read::covered(scope, "e");
    let text = format!(
        "UNWIND $wanted AS row
        MATCH (:IngrainGram {{reader: $reader, gram: row.gram}})<-[:INGRAIN_SPELLED]-(n:IngrainName)
        WHERE n.folded = row.folded
        MATCH (e:IngrainEntity)-[:INGRAIN_NAMED]->(n)
        WHERE {covered}
        WITH DISTINCT e ORDER BY e.id
        RETURN properties(e)"
    );
    let mut parameters = map([("wanted", wanted.collect()), ("reader", reader(scope).into())]);
    parameters.extend(rows::scope(scope));
    Statement::new(text, parameters)
}

/// An entity that was found, and its likeness.
pub(super) fn found(row: Row) -> Result<(Entity, f32)> {
    let Some(Value::Float(likeness)) = row.get(1) else { return Err(Neo4jError::Unreadable("likeness")) };
    let likeness = *likeness as f32;
    Ok((rows::properties(row, 0)?.entity()?, likeness))
}
