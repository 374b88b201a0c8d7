//! Maintenance, imports and purges that are killed at any moment: what they had done is done, the rest is done by the next,
//! and it comes to the same as if nobody had been killed.

use std::{path::Path, time::Duration};

use ingrain::{
    HashingEmbedder, ListRequest, Maintenance, ManualClock, MemoryEngine, Message, Purge, Scope, SqliteStore,
};

use crate::{
    processes::{Second, given, say},
    worlds::{sound, t0},
};

const FILES: usize = 4;

fn alice() -> Scope {
    Scope::user("alice")
}

async fn open(path: &Path, days: u64) -> MemoryEngine {
    let clock = ManualClock::at(t0());
    clock.advance(Duration::from_secs(days * 24 * 3600));
    let store = SqliteStore::open(path).await.unwrap();
    MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64)).clock(clock).build().await.unwrap()
}

/// Sessions to summarise, duplicates, and something to expire.
async fn fill(memory: &MemoryEngine) {
    for session in 0..8 {
        let session = alice().with_session(format!("s{session}"));
        let said = ["I walked past the mill.", "The mill turns slowly today.", "I live in Lisbon."].map(Message::user);
        memory.add(&session, said).await.unwrap();
    }
    for number in 0..10 {
        let texts = [format!("Owns kayak number {number}"), format!("owns kayak number {number}.")];
        memory.add_raw(&alice(), texts).await.unwrap();
    }
}

fn upkeep() -> Maintenance {
    Maintenance::new().summarize_sessions(Duration::from_secs(3600)).observe(3).limit(2)
}

async fn maintained(memory: &MemoryEngine) {
    let mut request = upkeep();
    while let Some(place) = memory.maintain(&alice(), &request).await.unwrap().next {
        say("a step");
        request = upkeep().resume(place);
    }
}

/// What there is, without ids and times.
async fn state(memory: &MemoryEngine) -> Vec<String> {
    sound(memory).await;
    let all = memory.list(&alice(), ListRequest::new().limit(10_000).include_invalid()).await.unwrap().items;
    let mut state = Vec::new();
    for one in all {
        let told = memory.history(&alice(), one.id).await.unwrap().len();
        let sources = one.sources.len();
        state.push(format!("{:?} {} {} {sources} {told}", one.kind, one.text, one.invalid_at.is_some()));
    }
    let graph = memory.graph(&alice()).counts().await.unwrap();
    state.push(format!("{graph:?}"));
    state.sort();
    state
}

/// Kills processes that run this test's second half, each a little later, until one comes to its end.
fn kill_until_done(name: &str, path: &Path, step: usize, words: &str) -> usize {
    let mut kills = 0;
    loop {
        let mut process = Second::running(name, path, words);
        let heard = (0..(step + kills) * 5 % 17).map_while(|_| process.heard()).filter(|line| line == "done").count();
        std::thread::sleep(Duration::from_micros(((step * 13 + kills) * 977 % 7_000) as u64));
        if heard > 0 || kills > 60 {
            process.succeeded();
            return kills;
        }
        process.kill();
        kills += 1;
    }
}

#[tokio::test]
async fn maintenance_that_is_killed_comes_to_the_same() {
    if let Some((path, _)) = given() {
        maintained(&open(&path, 3).await).await;
        return say("done");
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    fill(&open(&whole, 0).await).await;
    let memory = open(&whole, 3).await;
    maintained(&memory).await;
    let expected = state(&memory).await;
    let mut kills = 0;
    for file in 0..FILES {
        let path = folder.path().join(format!("{file}.db"));
        fill(&open(&path, 0).await).await;
        kills += kill_until_done("kills::maintenance_that_is_killed_comes_to_the_same", &path, file, "");
        let memory = open(&path, 3).await;
        maintained(&memory).await;
        assert_eq!(state(&memory).await, expected);
    }
    assert!(kills > FILES, "some were killed: {kills}");
}

async fn exported(memory: &MemoryEngine) -> Vec<String> {
    let mut export = memory.export(&alice());
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    lines
}

#[tokio::test]
async fn an_import_that_is_killed_is_ended_by_the_next() {
    if let Some((path, lines)) = given() {
        let memory = open(&path, 3).await;
        let mut import = memory.import(&alice());
        for line in std::fs::read_to_string(lines).unwrap().lines() {
            import.line(line).await.unwrap();
            say("a line");
        }
        import.finish().await.unwrap();
        return say("done");
    }
    let folder = tempfile::tempdir().unwrap();
    let source = open(&folder.path().join("source.db"), 0).await;
    for _ in 0..12 {
        fill(&source).await;
    }
    let lines = exported(&source).await;
    let file = folder.path().join("lines");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let mut kills = 0;
    for copy in 0..FILES {
        let path = folder.path().join(format!("{copy}.db"));
        let name = "kills::an_import_that_is_killed_is_ended_by_the_next";
        kills += kill_until_done(name, &path, copy, file.to_str().unwrap());
        let memory = open(&path, 3).await;
        sound(&memory).await;
        // But for the first line, which has the time.
        let mut copied = exported(&memory).await;
        assert_eq!(copied.len(), lines.len());
        let mut expected = lines.clone();
        copied[1..].sort();
        expected[1..].sort();
        assert_eq!(copied[1..], expected[1..]);
    }
    assert!(kills > FILES, "some were killed: {kills}");
}

#[tokio::test]
async fn a_purge_that_is_killed_is_ended_by_the_next() {
    if let Some((path, what)) = given() {
        let memory = open(&path, 3).await;
        say("open");
        let what = if what == "all" {
            Purge::everything()
        } else {
            let all = memory.list(&alice(), ListRequest::new().limit(10_000).include_invalid()).await.unwrap().items;
            Purge::memories(all.iter().map(|one| one.id))
        };
        memory.purge(&alice(), what).await.unwrap();
        return say("done");
    }
    for (file, what) in ["all", "one by one", "all"].into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let memory = open(&path, 0).await;
        fill(&memory).await;
        memory.add_raw(&Scope::user("bob"), ["Keeps bees"]).await.unwrap();
        drop(memory);
        kill_until_done("kills::a_purge_that_is_killed_is_ended_by_the_next", &path, file, what);
        let memory = open(&path, 3).await;
        if what == "all" {
            memory.purge(&alice(), Purge::everything()).await.unwrap();
        }
        sound(&memory).await;
        assert_eq!(memory.list(&alice(), ListRequest::new().include_invalid()).await.unwrap().total, 0);
        assert_eq!(memory.list(&Scope::user("bob"), ListRequest::new()).await.unwrap().total, 1);
        drop(memory);
        let files = std::fs::read_dir(folder.path()).unwrap();
        let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        assert!(!bytes.windows(5).any(|part| part == b"kayak"), "after {what}");
    }
}
