//! The graph in a SQLite file: what only a store in a file can meet.

use std::{path::Path, time::Duration};

use ingrain::{
    Direction, EmbedderIdentity, Entity, EntityId, ErrorKind, GraphBatch, GraphQuery, GraphStore, IndexKey, ListQuery,
    Memory, MemoryId, Put, Relation, RelationId, Scope, SqliteStore, Timestamp, Validity, VectorStore, WriteBatch,
    testing::FaultyStore,
};

#[cfg(unix)]
use crate::processes::{Second, given, say};

fn alice() -> Scope {
    Scope::user("alice")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400 + seconds, 0).unwrap()
}

/// A memory with two entities of its own and a relation between them that rests on it.
fn told(number: i64) -> WriteBatch {
    let now = at(number);
    let memory = Memory::new(MemoryId::new(now), alice(), format!("Told {number}"), now);
    let entity = |name: &str| Entity::new(EntityId::new(now), alice(), format!("{name} {number}"), now);
    let (ada, ben) = (entity("Ada"), entity("Ben"));
    let mut knows = Relation::new(RelationId::new(now), alice(), (ada.id, "knows", ben.id), &memory.text, now);
    knows.sources = vec![memory.id];
    let mut batch = WriteBatch::default();
    batch.puts.push(Put::new(memory.clone(), vec![IndexKey::new(memory.text, vec![1.0, 0.0])]));
    batch.graph.entities.extend([ada, ben]);
    batch.graph.relations.push(knows);
    batch
}

async fn open(path: &Path) -> SqliteStore {
    let store = SqliteStore::builder(path).busy_timeout(Duration::from_millis(200)).open().await.unwrap();
    store.bind(&EmbedderIdentity::new("words", 2)).await.unwrap();
    store
}

async fn graph(store: &SqliteStore) -> (Vec<Entity>, Vec<Relation>) {
    let query = GraphQuery::any_time();
    let relations = store.list_relations(&alice(), &query, None, 10_000).await.unwrap().items;
    (store.list_entities(&alice(), None, 10_000).await.unwrap().items, relations)
}

#[tokio::test]
async fn reopening_keeps_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let first = open(&path).await;
    for number in 0..20 {
        first.apply(told(number)).await.unwrap();
    }
    let knows = graph(&first).await.1.remove(0);
    let mut batch = GraphBatch::default();
    batch.invalidate(&knows, RelationId::new(at(100)), at(50), at(100));
    first.apply_graph(&batch).await.unwrap();
    let before = graph(&first).await;
    assert_eq!((before.0.len(), before.1.len()), (40, 20));
    drop(first);
    let again = open(&path).await;
    assert_eq!(graph(&again).await, before);
    assert_eq!(again.graph_counts(&alice()).await.unwrap(), (40, 21));
    let old = GraphQuery::at(at(60)).known_at(at(99));
    let walk = again.neighbours(&alice(), &[knows.subject], 1, Direction::Out, &old).await.unwrap();
    assert_eq!(walk[0].relations[0].id, knows.id);
    assert_eq!(again.find_entities(&alice(), "ADA 7", 1).await.unwrap()[0].0.name, "Ada 7");
}

#[tokio::test]
async fn handles_on_one_file_see_each_others_graph() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (one, two) = (open(&path).await, open(&path).await);
    for number in 0..10 {
        let (writer, reader) = if number % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let batch = told(number);
        let ada = batch.graph.entities[0].id;
        writer.apply_graph(&batch.graph).await.unwrap();
        let walk = reader.neighbours(&alice(), &[ada], 1, Direction::Both, &GraphQuery::any_time()).await.unwrap();
        assert_eq!(walk[0].relations, batch.graph.relations);
        assert_eq!(VectorStore::version(&one).await.unwrap(), VectorStore::version(&two).await.unwrap());
    }
    two.delete_graph(&alice()).await.unwrap();
    assert_eq!(one.graph_counts(&alice()).await.unwrap(), (0, 0));
}

/// What is removed leaves nothing behind in any table of the graph, whichever way it goes.
#[tokio::test]
async fn nothing_is_left_of_what_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path).await;
    let left = || {
        let raw = rusqlite::Connection::open(&path).unwrap();
        ["entities", "entity_names", "entity_grams", "relations", "relation_sources"].map(|table| {
            raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    let session = alice().with_agent("a").with_session("s");
    for way in 0..4 {
        let mut batch = told(way).graph;
        for entity in &mut batch.entities {
            entity.scope = session.clone();
            entity.aliases = vec!["Alias".to_owned(), "ALIAS".to_owned()];
        }
        batch.relations[0].scope = session.clone();
        store.apply_graph(&batch).await.unwrap();
        // Again, under other names.
        batch.entities.iter_mut().for_each(|entity| entity.name.push_str(" the second"));
        store.apply_graph(&batch).await.unwrap();
        assert!(left().iter().all(|rows| *rows > 0), "{:?}", left());
        match way {
            0 => {
                let mut removal = GraphBatch::default();
                removal.remove_entities.extend(batch.entities.iter().map(|entity| entity.id));
                store.apply_graph(&removal).await.unwrap();
            }
            1 => drop(store.delete_graph(&alice()).await.unwrap()),
            2 => drop(store.delete_graph(&Scope::agent("a")).await.unwrap()),
            _ => drop(store.delete_graph(&Scope::session("s")).await.unwrap()),
        }
        assert_eq!(left(), [0; 5], "way {way}");
    }
}

#[tokio::test]
async fn a_damaged_relation_is_told_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path).await;
    let batch = told(1);
    let ada = batch.graph.entities[0].id;
    store.apply(batch).await.unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("UPDATE relations SET sources = substr(sources, 1, 9)", []).unwrap();
    let query = GraphQuery::any_time();
    let errors = [
        store.list_relations(&alice(), &query, None, 5).await.unwrap_err(),
        store.neighbours(&alice(), &[ada], 1, Direction::Both, &query).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreCorrupt, Some("sqlite")), "{error}");
    }
}

/// A writer that finds the file locked gives up, leaves nothing, and works when the lock is gone; reading goes on.
#[tokio::test]
async fn a_locked_file_is_unavailable_for_the_graph_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path).await;
    store.apply(told(1)).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = [
        store.apply_graph(&told(2).graph).await.map(drop),
        store.delete_graph(&alice()).await.map(drop),
        store.apply(told(3)).await.map(drop),
    ];
    for result in refused {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::StoreUnavailable);
    }
    assert_eq!(store.graph_counts(&alice()).await.unwrap(), (2, 1));
    other.execute_batch("ROLLBACK").unwrap();
    store.apply(told(2)).await.unwrap();
    assert_eq!(store.graph_counts(&alice()).await.unwrap(), (4, 2));
}

/// An outage is an error of every call, and never an empty graph; afterwards all is there.
#[tokio::test]
async fn an_outage_is_an_error_of_every_call() {
    let store = FaultyStore::new(SqliteStore::open_in_memory().await.unwrap());
    let batch = told(1).graph;
    store.apply_graph(&batch).await.unwrap();
    let (ada, ben) = (batch.entities[0].id, batch.entities[1].id);
    let (scope, query) = (alice(), GraphQuery::any_time());
    store.stop();
    let told = [
        store.apply_graph(&told(2).graph).await.err(),
        store.entities(&scope, &[ada]).await.err(),
        store.find_entities(&scope, "Ada", 1).await.err(),
        store.list_entities(&scope, None, 1).await.err(),
        store.list_relations(&scope, &query, None, 1).await.err(),
        store.relations_of(&scope, &batch.relations[0].sources).await.err(),
        store.neighbours(&scope, &[ada], 1, Direction::Both, &query).await.err(),
        store.path(&scope, ada, ben, 1, &query).await.err(),
        store.graph_counts(&scope).await.err(),
        store.delete_graph(&scope).await.err(),
    ];
    for error in told {
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::StoreUnavailable));
    }
    store.start();
    store.fail_next_writes(1);
    assert!(store.apply_graph(&self::told(2).graph).await.is_err());
    assert_eq!(store.graph_counts(&scope).await.unwrap(), (2, 1));
}

/// A process that is killed at any moment leaves memories and graph in step: what had returned is there, and whatever
/// memory is there has its entities, under their names, and its relation.
#[cfg(unix)]
#[tokio::test]
async fn a_kill_leaves_memories_and_graph_in_step() {
    if let Some((path, round)) = given() {
        let store = open(&path).await;
        let first = round.parse::<i64>().unwrap() * 1_000_000;
        for number in first.. {
            store.apply(told(number)).await.unwrap();
            say(&format!("{number} returned"));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut returned: Vec<String> = Vec::new();
    for round in 0..6_usize {
        let name = "graph::a_kill_leaves_memories_and_graph_in_step";
        let mut process = Second::running(name, &path, &round.to_string());
        let mut seen: Vec<String> = (0..1 + round * 7 % 13).map_while(|_| process.heard()).collect();
        // How far the process comes meanwhile is chance.
        std::thread::sleep(Duration::from_micros((round * 977 % 4_000) as u64));
        process.kill();
        seen.extend(std::iter::from_fn(|| process.heard()));
        // A line that was cut off by the kill says nothing.
        returned.extend(seen.iter().filter_map(|line| line.strip_suffix(" returned")).map(str::to_owned));
        let store = open(&path).await;
        let mut query = ListQuery::new(alice(), Validity::Any);
        query.limit = 100_000;
        let memories = store.list(&query).await.unwrap().items;
        for number in &returned {
            assert!(memories.iter().any(|memory| memory.text == format!("Told {number}")), "{number} had returned");
        }
        let count = memories.len() as u64;
        assert_eq!(store.graph_counts(&alice()).await.unwrap(), (2 * count, count));
        for memory in memories {
            let resting = store.relations_of(&alice(), &[memory.id]).await.unwrap();
            assert_eq!((resting.len(), &resting[0].fact), (1, &memory.text));
            let number = memory.text.trim_start_matches("Told ");
            let found = store.find_entities(&alice(), &format!("ben {number}"), 1).await.unwrap();
            assert_eq!((found[0].0.id, found[0].1.to_bits()), (resting[0].object, 1.0_f32.to_bits()));
        }
    }
    assert!(returned.len() > 6, "the processes got somewhere: {}", returned.len());
}
