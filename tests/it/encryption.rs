//! A file under a key: what can be read of it without, what a wrong key meets, and that all else is as in a plain one.

mod copies;
mod refused;

use std::{fs, path::Path, time::Duration};

use ingrain::{HashingEmbedder, ListRequest, Maintenance, MemoryEngine, Message, Purge, Scope, SqliteStore};

use crate::{
    processes::{Second, given, say},
    purging::{SECRETS, bytes::left, engine, fill},
};

const KEY: [u8; 32] = *b"thirty-two bytes of a random key";

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::builder(path).raw_key(KEY).open().await.unwrap()
}

/// All that is exported of the scope, but for the first line, which has the time of the export.
async fn state(memory: &MemoryEngine, scope: &Scope) -> Vec<String> {
    let mut export = memory.export(scope);
    export.next_line().await.unwrap();
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_a_word_is_in_any_file() {
    for passphrase in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let builder = SqliteStore::builder(folder.path().join("memory.db"));
        let builder = if passphrase { builder.passphrase("Xylophonist") } else { builder.raw_key(KEY) };
        let store = builder.clone().open().await.unwrap();
        let memory = engine(store.clone()).await;
        let olga = Scope::user("olga-7f3");
        let bob = Scope::user("bob-9c1");
        for scope in [&olga, &bob] {
            fill(&memory, &store, scope).await;
        }
        memory.add_later(&olga, [Message::user("I like Kumquatery")]).await.unwrap();
        let mut words = SECRETS.to_vec();
        words.extend(["olga-7f3", "bob-9c1", "Lisbon", "SQLite format", "CREATE TABLE", "memories"]);
        let none = Vec::<&str>::new();
        assert!(fs::metadata(folder.path().join("memory.db-wal")).unwrap().len() > 4_096, "the log has pages");
        assert_eq!(left(folder.path(), &words), none, "while it is open");
        memory.flush().await.unwrap();
        assert!(!memory.search(&olga, "Zanzibarova").await.unwrap().is_empty());
        memory.maintain(&olga, &Maintenance::new().summarize_sessions(Duration::ZERO).observe(2)).await.unwrap();
        let gone = memory.purge(&olga, Purge::everything()).await.unwrap();
        assert!(gone.memories > 5 && gone.relations > 2, "{gone:?}");
        assert_eq!(left(folder.path(), &words), none, "after a purge");
        assert!(!memory.search(&bob, "Zanzibarova").await.unwrap().is_empty(), "the others stay");
        drop((memory, store));
        assert_eq!(left(folder.path(), &words), none, "after it is closed");
        let memory = engine(builder.open().await.unwrap()).await;
        assert_eq!(memory.list(&olga, ListRequest::new().include_invalid()).await.unwrap().total, 0);
        assert!(!memory.search(&bob, "Zanzibarova").await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_works_as_a_plain_file_does() {
    let folder = tempfile::tempdir().unwrap();
    let alice = Scope::user("alice");
    let mut told = Vec::new();
    for encrypted in [false, true] {
        let path = folder.path().join(format!("{encrypted}.db"));
        let builder = SqliteStore::builder(&path);
        let builder = if encrypted { builder.raw_key(KEY) } else { builder };
        let store = builder.clone().open().await.unwrap();
        let clock = ingrain::ManualClock::at(crate::worlds::t0());
        let of = |store| MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64)).clock(clock.clone());
        let memory = of(store).build().await.unwrap();
        for text in ["I live in Lisbon. I work at Acme.", "I moved to Porto.", "My sister Ann likes tea."] {
            memory.add(&alice, text).await.unwrap();
        }
        drop(memory);
        let memory = of(builder.open().await.unwrap()).build().await.unwrap();
        let hits = memory.search(&alice, "Where do I live?").await.unwrap();
        told.push(hits.into_iter().map(|hit| (hit.memory.text, hit.score)).collect::<Vec<_>>());
    }
    assert!(told[0].len() > 2 && told[0] == told[1], "{told:?}");
}

/// Whoever comes first makes the file, and the others find the salt that it chose.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_and_processes_make_one_store() {
    let alice = Scope::user("alice");
    if let Some((path, word)) = given() {
        engine(open(&path).await).await.add_raw(&alice, [format!("Process {word}")]).await.unwrap();
        return;
    }
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let name = "encryption::handles_and_processes_make_one_store";
        let processes = ["one", "two"].map(|word| Second::running(name, &path, word));
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..6 {
            let (path, alice) = (path.clone(), alice.clone());
            tasks.spawn(async move {
                let memory = engine(open(&path).await).await;
                memory.add_raw(&alice, [format!("Handle {number}")]).await.unwrap();
                memory
            });
        }
        let handles = tasks.join_all().await;
        tokio::task::spawn_blocking(move || processes.into_iter().for_each(Second::succeeded)).await.unwrap();
        for memory in &handles {
            assert_eq!(memory.count(&alice, None).await.unwrap(), 8);
            assert!(!memory.search(&alice, "Process two").await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_kill_loses_nothing_that_had_returned() {
    let alice = Scope::user("alice");
    if let Some((path, round)) = given() {
        let memory = engine(open(&path).await).await;
        for number in 0.. {
            memory.add_raw(&alice, [format!("Round {round} step {number}")]).await.unwrap();
            say(&number.to_string());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut expected = 0;
    for round in 0..4 {
        let name = "encryption::a_kill_loses_nothing_that_had_returned";
        let mut process = Second::running(name, &path, &round.to_string());
        let mut heard = (0..=5 * round).map_while(|_| process.heard()).count();
        process.kill();
        heard += std::iter::from_fn(|| process.heard()).count();
        expected += heard as u64;
        // Not the right key, and yet what is in the log stays there for the right one.
        refused::wrongly(&path).await;
        let memory = engine(open(&path).await).await;
        let found = memory.count(&alice, None).await.unwrap();
        assert!(found == expected || found == expected + 1, "the last may have been written without a word: {found}");
        expected = found;
    }
    assert_eq!(left(folder.path(), &["Round", "alice"]), Vec::<&str>::new());
    assert_eq!(state(&engine(open(&path).await).await, &alice).await.len() as u64, expected + 1);
}
