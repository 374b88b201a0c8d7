//! Many writers on one file: tasks, handles and processes.

use std::{collections::BTreeSet, path::Path};

use ingrain::{
    ListRequest, ManualClock, MemoryEngine, Scope, SearchMode, SearchRequest, SqliteStore, testing::GivenVectors,
};

use crate::{
    processes::{Second, given, say},
    worlds::{self, t0},
};

async fn open(path: &Path) -> MemoryEngine {
    let store = SqliteStore::open(path).await.unwrap();
    worlds::engine(store, GivenVectors::new(32), ManualClock::at(t0())).await.unwrap()
}

/// Twenty adds, with a list after each.
async fn write(engine: MemoryEngine, writer: String) {
    let shared = Scope::user("shared");
    for step in 0..20 {
        engine.add_raw(&shared, [format!("Note writer{writer}step{step}")]).await.unwrap();
        engine.list(&shared, ListRequest::new().limit(1_000)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_share_one_file() {
    if let Some((path, writer)) = given() {
        let engine = open(&path).await;
        say("ready");
        return write(engine, writer).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (first, second) = (open(&path).await, open(&path).await);
    let mut process = Second::running("acceptance::writers::many_writers_share_one_file", &path, "P");
    assert_eq!(process.heard().as_deref(), Some("ready"));
    let tasks: Vec<_> = (0..10)
        .map(|task| tokio::spawn(write(if task < 8 { first.clone() } else { second.clone() }, task.to_string())))
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    process.succeeded();
    let shared = Scope::user("shared");
    for engine in [first, second, open(&path).await] {
        let listed = engine.list(&shared, ListRequest::new().limit(1_000)).await.unwrap().items;
        assert_eq!(listed.iter().map(|memory| &memory.text).collect::<BTreeSet<_>>().len(), 220);
        for memory in &listed {
            let words = memory.text.split(' ').next_back().unwrap();
            let hits = engine.search(&shared, SearchRequest::new(words).mode(SearchMode::Keyword)).await.unwrap();
            assert_eq!(hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [memory.id], "{words}");
            assert_eq!(engine.history(&shared, memory.id).await.unwrap().len(), 1);
        }
    }
}
