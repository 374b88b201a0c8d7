//! What a failure looks like, and that it leaves no trace.

use ingrain::{
    ErrorKind, ListRequest, ManualClock, MemoryId, MemoryUpdate, Scope, SearchMode, SearchRequest, Stage,
    testing::GivenVectors,
};

use crate::worlds::{self, World, t0, texts};

const MODES: [SearchMode; 3] = [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid];

#[tokio::test]
async fn a_store_that_is_down_is_an_error_and_not_an_empty_list() {
    for world in World::all().await {
        let (engine, noor) = (&world.engine, Scope::user("noor"));
        let id = world.add(&noor, "Keeps bees").await.id;
        world.store.stop();
        let failed = [
            engine.search(&noor, "bees").await.map(drop),
            engine.search(&noor, SearchRequest::new("bees").mode(SearchMode::Keyword)).await.map(drop),
            engine.list(&noor, ListRequest::new()).await.map(drop),
            engine.count(&noor, None).await.map(drop),
            engine.get(&noor, id).await.map(drop),
            engine.history(&noor, id).await.map(drop),
            engine.add(&noor, "I keep bees.").await.map(drop),
            engine.add_raw(&noor, ["Keeps goats"]).await.map(drop),
            engine.update(&noor, id, MemoryUpdate::new().text("x")).await.map(drop),
            engine.delete(&noor, id).await,
            engine.delete_all(&noor).await.map(drop),
        ];
        for (number, result) in failed.into_iter().enumerate() {
            let error = result.expect_err("the store is down");
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{}, call {number}: {error}", world.name);
            assert!(error.stage().is_some() && error.backend() == Some(world.name), "call {number}: {error}");
        }
        world.store.start();
        assert_eq!(texts(&world.everything(&noor).await), ["Keeps bees"]);
        assert_eq!(engine.history(&noor, id).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_embedder_that_is_down_leaves_no_trace() {
    for world in World::all().await {
        let (engine, noor) = (&world.engine, Scope::user("noor"));
        let before = world.add(&noor, "Keeps bees").await;
        for kind in [ErrorKind::ProviderUnreachable, ErrorKind::RateLimited, ErrorKind::ProviderRefused] {
            world.embedder.fail_with(kind);
            let failed = [
                engine.add(&noor, "I live in Lisbon.").await.map(drop),
                engine.add_raw(&noor, ["Keeps goats"]).await.map(drop),
                engine.update(&noor, before.id, MemoryUpdate::new().text("Keeps goats")).await.map(drop),
                engine.search(&noor, "bees").await.map(drop),
            ];
            for result in failed {
                let error = result.expect_err("the embedder is down");
                assert_eq!((error.kind(), error.stage()), (kind, Some(Stage::Embed)), "{}: {error}", world.name);
            }
            world.embedder.fail_with(None);
            assert_eq!(world.everything(&noor).await, std::slice::from_ref(&before));
            assert_eq!(engine.history(&noor, before.id).await.unwrap().len(), 1);
        }
        engine.add_raw(&noor, ["Keeps goats"]).await.unwrap();
        assert_eq!(world.everything(&noor).await.len(), 2, "afterwards it works");
    }
}

#[tokio::test]
async fn a_faulty_embedder_is_an_error_and_no_broken_index() {
    let faulty =
        || GivenVectors::new(4).with("narrow", [1.0; 3]).with("nan", [1.0, f32::NAN, 0.0, 0.0]).with("empty", []);
    for world in World::all_with(faulty).await {
        let noor = Scope::user("noor");
        for text in ["narrow", "nan", "empty"] {
            let error = world.engine.add_raw(&noor, ["fine", text]).await.expect_err("a bad vector");
            assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{text}: {error}");
        }
        assert_eq!(world.everything(&noor).await, []);
    }
}

/// What a failed add must not have left behind, by any road.
async fn nothing_is_there(world: &World, scope: &Scope) {
    assert_eq!(world.everything(scope).await, [], "{}", world.name);
    for mode in MODES {
        let hits =
            world.engine.search(scope, SearchRequest::new("Keeps bees").mode(mode).include_invalid()).await.unwrap();
        assert_eq!(hits, [], "{}, {mode:?}", world.name);
    }
}

/// The memory is there once, with one event.
async fn one_is_there(world: &World, scope: &Scope, id: MemoryId) {
    assert_eq!(texts(&world.everything(scope).await), ["Keeps bees"]);
    assert_eq!(world.engine.history(scope, id).await.unwrap().len(), 1);
    for mode in MODES {
        assert_eq!(world.engine.search(scope, SearchRequest::new("Keeps bees").mode(mode)).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_failed_write_leaves_nothing_half_written() {
    for world in World::all().await {
        let uma = Scope::user("uma");
        world.store.fail_next_writes(1);
        let error = world.engine.add_raw(&uma, ["Keeps bees"]).await.expect_err("the write was told to fail");
        assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreUnavailable, Some(world.name)), "{error}");
        assert_eq!(error.stage(), Some(Stage::Store));
        nothing_is_there(&world, &uma).await;
        let id = world.add(&uma, "Keeps bees").await.id;
        one_is_there(&world, &uma, id).await;
    }
}

/// A fault in the middle of the transaction, at each table in turn, undoes what was written before it.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_fault_in_the_middle_undoes_the_rest() {
    let world = World::in_file(GivenVectors::new(64)).await;
    // The binding to the embedder is written by now.
    world.add(&Scope::user("other"), "Keeps bees").await;
    let connection = rusqlite::Connection::open(world.path()).unwrap();
    let tables: Vec<String> = {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let mut faults = 0;
    for (number, table) in tables.iter().enumerate() {
        for fault in ["INSERT", "UPDATE"] {
            let uma = Scope::user(format!("uma {number} {fault}"));
            let trigger =
                format!("CREATE TRIGGER fault BEFORE {fault} ON \"{table}\" BEGIN SELECT RAISE(ABORT, 'fault'); END");
            connection.execute_batch(&trigger).unwrap();
            let result = world.engine.add_raw(&uma, ["Keeps bees"]).await;
            connection.execute_batch("DROP TRIGGER fault").unwrap();
            let id = match result {
                // The add does not write to this table.
                Ok(memories) => memories[0].id,
                Err(error) => {
                    faults += 1;
                    assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{table}: {error}");
                    assert_eq!(error.backend(), Some("sqlite"));
                    nothing_is_there(&world, &uma).await;
                    for table in &tables {
                        orphans(&connection, table);
                    }
                    world.add(&uma, "Keeps bees").await.id
                }
            };
            one_is_there(&world, &uma, id).await;
        }
    }
    assert!(faults >= 3, "memories, keys and history are tables of their own: {faults}");
}

/// No row names a memory that is not there.
#[cfg(feature = "sqlite")]
fn orphans(connection: &rusqlite::Connection, table: &str) {
    let broken = connection
        .prepare(&format!("PRAGMA foreign_key_check(\"{table}\")"))
        .unwrap()
        .query_map([], |_| Ok(()))
        .unwrap()
        .count();
    assert_eq!(broken, 0, "{table}");
    let events: i64 = connection
        .query_row(
            "SELECT count(*) FROM history WHERE kind = 'add' AND memory NOT IN (SELECT id FROM memories)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(events, 0, "events without their memory");
}

#[tokio::test]
async fn another_embedder_is_refused_and_changes_nothing() {
    let toy = |name: &str, dimensions| GivenVectors::new(dimensions).named(name);
    for world in World::all_with(|| toy("toy-a", 4)).await {
        let ada = Scope::user("ada");
        world.engine.add_raw(&ada, ["one", "two", "three"]).await.unwrap();
        let before = world.everything(&ada).await;
        for (name, dimensions) in [("toy-b", 8), ("toy-c", 4)] {
            let result = worlds::engine(world.store.clone(), toy(name, dimensions), ManualClock::at(t0())).await;
            let error = result.expect_err("another embedder");
            assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{}", world.name);
            let message = error.to_string();
            for part in ["toy-a", name, "4", &dimensions.to_string()] {
                assert!(message.contains(part), "{part} should be named: {message}");
            }
        }
        let again = worlds::engine(world.store.clone(), toy("toy-a", 4), ManualClock::at(t0())).await.unwrap();
        assert_eq!(again.list(&ada, ListRequest::new()).await.unwrap().items, before);
        for memory in &before {
            for mode in MODES {
                let hits = again.search(&ada, SearchRequest::new(&*memory.text).mode(mode)).await.unwrap();
                assert_eq!(hits[0].memory.id, memory.id, "{}, {mode:?}", world.name);
            }
        }
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_reopened_file_knows_its_embedder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let open = async |name: &str, dimensions| {
        let store = ingrain::SqliteStore::open(&path).await?;
        worlds::engine(store, GivenVectors::new(dimensions).named(name), ManualClock::at(t0())).await
    };
    let ada = Scope::user("ada");
    let before = open("toy-a", 4).await.unwrap().add_raw(&ada, ["one", "two", "three"]).await.unwrap();
    for (name, dimensions) in [("toy-b", 8), ("toy-c", 4)] {
        let error = open(name, dimensions).await.expect_err("another embedder");
        assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{error}");
        assert!(error.to_string().contains("toy-a") && error.to_string().contains(name), "{error}");
    }
    let again = open("toy-a", 4).await.unwrap();
    assert_eq!(again.list(&ada, ListRequest::new()).await.unwrap().items, before);
    assert_eq!(again.search(&ada, "two").await.unwrap()[0].memory.text, "two");
}
