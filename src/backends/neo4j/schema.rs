//! What must be there before anything is stored, and the words of the graph.
//!
//! An entity is a node `IngrainEntity`; a relation a relationship `INGRAIN_RELATION` between two, whatever its
//! predicate, which is a property. Beside them: `IngrainName` and `IngrainGram`, by which names are found
//! ([`names`](super::names)), `IngrainSource`, which leads from a memory to the relations that rest on it, and
//! `IngrainLock` ([`locks`](super::locks)). Parts that a scope lacks are properties that are not there, and so take no
//! room in an index.

use super::{
    bolt::{Map, Statement, map},
    locks,
};

/// The schema. It can be made any number of times.
const COMMANDS: [&str; 14] = [
    "CREATE CONSTRAINT ingrain_entity_id IF NOT EXISTS FOR (e:IngrainEntity) REQUIRE e.id IS UNIQUE",
    "CREATE INDEX ingrain_entity_user IF NOT EXISTS FOR (e:IngrainEntity) ON (e.user, e.id)",
    "CREATE INDEX ingrain_entity_agent IF NOT EXISTS FOR (e:IngrainEntity) ON (e.agent, e.id)",
    "CREATE INDEX ingrain_entity_session IF NOT EXISTS FOR (e:IngrainEntity) ON (e.session, e.id)",
    "CREATE CONSTRAINT ingrain_relation_id IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() REQUIRE r.id IS UNIQUE",
    "CREATE INDEX ingrain_relation_subject IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() ON (r.subject, r.id)",
    "CREATE INDEX ingrain_relation_object IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() ON (r.object, r.id)",
    "CREATE INDEX ingrain_relation_user IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() ON (r.user, r.id)",
    "CREATE INDEX ingrain_relation_agent IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() ON (r.agent, r.id)",
    "CREATE INDEX ingrain_relation_session IF NOT EXISTS FOR ()-[r:INGRAIN_RELATION]-() ON (r.session, r.id)",
    "CREATE INDEX ingrain_source_memory IF NOT EXISTS FOR (s:IngrainSource) ON (s.memory)",
    "CREATE INDEX ingrain_source_relation IF NOT EXISTS FOR (s:IngrainSource) ON (s.relation)",
    "CREATE CONSTRAINT ingrain_gram IF NOT EXISTS FOR (g:IngrainGram) REQUIRE (g.reader, g.gram) IS UNIQUE",
    "CREATE CONSTRAINT ingrain_lock IF NOT EXISTS FOR (l:IngrainLock) REQUIRE l.number IS UNIQUE",
];

/// Makes the constraints and indexes that are not there.
pub(super) fn make() -> Vec<Statement> {
    COMMANDS.iter().map(|command| Statement::new(*command, Map::new())).collect()
}

/// Waits until the indexes are ready, for they are filled in the background, and makes the locks that are not there.
/// Neo4j wants this in a transaction of its own.
pub(super) fn make_ready() -> Vec<Statement> {
    let locks = map([("count", locks::COUNT.into())]);
    vec![
        Statement::new("CALL db.awaitIndexes(300)", Map::new()),
        Statement::new(
            "OPTIONAL MATCH (l:IngrainLock)
            WITH count(l) AS there WHERE there < $count
            UNWIND range(0, $count - 1) AS number
            MERGE (:IngrainLock {number: number})",
            locks,
        ),
    ]
}
