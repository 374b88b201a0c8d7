//! A process that is killed at any moment leaves the old embedder or the new one, and everything found with it.

use std::{path::Path, time::Duration};

use ingrain::{
    Embedder, EmbedderExt, HashingEmbedder, ListRequest, ManualClock, Memory, MemoryEngine, Purpose, Reembed, Scope,
    SearchMode, SearchRequest, SqliteStore, VectorStore,
};

use super::{ada, numbered};
use crate::{
    processes::{Second, given, say},
    worlds::t0,
};

const FILES: usize = 5;
const COUNT: usize = 60;
const BATCH: usize = 4;

fn old() -> HashingEmbedder {
    HashingEmbedder::new(64)
}

fn new() -> HashingEmbedder {
    HashingEmbedder::new(96)
}

async fn open(path: &Path, embedder: HashingEmbedder) -> ingrain::Result<MemoryEngine> {
    let store = SqliteStore::open(path).await?;
    MemoryEngine::builder().store(store).embedder(embedder).clock(ManualClock::at(t0())).build().await
}

/// What the process does that will be killed.
async fn run_until_killed(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let told = |progress: &ingrain::ReembedProgress| say(&format!("{}/{}", progress.done, progress.total));
    let report = Reembed::new(store, new()).batch(BATCH).on_progress(told).run().await.unwrap();
    say(&format!("done {}", report.embedded));
}

/// Whether the file is bound to the new embedder; and everything is there and found, by vectors of that one alone.
async fn whole(path: &Path, everything: &[Memory]) -> bool {
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    drop(connection);
    let (engine, embedder, swapped) = match open(path, old()).await {
        Ok(engine) => (engine, old(), false),
        Err(error) => (open(path, new()).await.unwrap_or_else(|_| panic!("neither fits: {error}")), new(), true),
    };
    let all = engine.list(&ada(), ListRequest::new().limit(10_000)).await.unwrap().items;
    assert_eq!(all, everything);
    let store = SqliteStore::open(path).await.unwrap();
    for memory in everything {
        for key in store.keys(&ada(), memory.id).await.unwrap() {
            assert_eq!(key.vector, embedder.embed_one(&key.text, Purpose::Document).await.unwrap());
        }
    }
    let request = SearchRequest::new("walked past the mill").mode(SearchMode::Vector).limit(10_000);
    assert_eq!(engine.search(&ada(), request).await.unwrap().len(), everything.len());
    swapped
}

async fn filled(path: &Path) -> Vec<Memory> {
    let engine = open(path, old()).await.unwrap();
    engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
    engine.add_raw(&Scope::user("ben"), numbered(3)).await.unwrap();
    engine.list(&ada(), ListRequest::new().limit(10_000)).await.unwrap().items
}

fn progress(line: &str) -> Option<u64> {
    line.split_once('/')?.0.parse().ok()
}

#[tokio::test]
async fn a_kill_leaves_the_old_embedder_or_the_new_one() {
    if let Some((path, _)) = given() {
        return run_until_killed(&path).await;
    }
    let (mut kills, mut taken_up) = (0, 0);
    for file in 0..FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let everything = filled(&path).await;
        let mut most = 0;
        for round in 0.. {
            let mut process =
                Second::running("reembed::killed::a_kill_leaves_the_old_embedder_or_the_new_one", &path, "");
            // How far it comes before the kill differs from round to round; beyond that it is chance.
            let lines = 1 + (file + round * 2) % 4;
            let heard: Vec<String> = (0..lines).map_while(|_| process.heard()).collect();
            std::thread::sleep(Duration::from_micros(((file * 13 + round) * 977 % 5_000) as u64));
            process.kill();
            let rest = std::iter::from_fn(|| process.heard());
            let heard: Vec<String> = heard.into_iter().chain(rest).collect();
            let (first, last) =
                (heard.first().and_then(|line| progress(line)), heard.iter().filter_map(|line| progress(line)).max());
            let swapped = whole(&path, &everything).await;
            if let Some(first) = first.filter(|_| !swapped) {
                assert!(first >= most, "what was staged is kept: {first} of {most}");
                taken_up += usize::from(first > 0);
            }
            most = most.max(last.unwrap_or(0));
            kills += 1;
            if heard.iter().any(|line| line.starts_with("done")) {
                assert!(swapped, "it had returned");
            }
            if swapped {
                break;
            }
            assert!(round < 200, "every round comes a little further");
        }
        let ben = open(&path, new()).await.unwrap().list(&Scope::user("ben"), ListRequest::new()).await.unwrap();
        assert_eq!(ben.total, 3);
    }
    assert!(kills > FILES && taken_up > 0, "{kills} kills, {taken_up} times taken up");
}

#[tokio::test]
async fn two_processes_end_well_though_one_is_killed() {
    if let Some((path, _)) = given() {
        return run_until_killed(&path).await;
    }
    for round in 0..FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let everything = filled(&path).await;
        let running = || Second::running("reembed::killed::two_processes_end_well_though_one_is_killed", &path, "");
        let (mut one, other) = (running(), running());
        (0..=round * 3).for_each(|_| drop(one.heard()));
        if round + 1 < FILES {
            one.kill();
        } else {
            one.succeeded();
        }
        other.succeeded();
        assert!(whole(&path, &everything).await);
        assert_eq!(
            open(&path, old()).await.expect_err("another embedder").kind(),
            ingrain::ErrorKind::EmbedderMismatch
        );
        assert_eq!(new().identity().dimensions, 96);
    }
}
