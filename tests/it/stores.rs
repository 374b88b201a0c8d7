//! What only a store in a file can meet: files of others, damage, locks, other handles and other processes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use ingrain::{
    ErrorKind, ListRequest, ManualClock, MemoryEngine, Result, Scope, SearchMode, SearchRequest, SqliteStore,
    testing::GivenVectors,
};

use crate::{
    processes::{Second, given},
    worlds::{self, World, texts},
};

async fn open(path: impl Into<PathBuf>) -> Result<MemoryEngine> {
    let store = SqliteStore::builder(path).busy_timeout(Duration::from_millis(200)).open().await?;
    worlds::engine(store, GivenVectors::new(256), ManualClock::at(worlds::t0())).await
}

/// Opening is refused with this kind, naming the backend, and not a byte of the file has changed.
async fn refused(path: &Path, kind: ErrorKind) {
    let before = fs::read(path).ok();
    let error = open(path).await.expect_err("the file is no store of ours");
    assert_eq!((error.kind(), error.backend()), (kind, Some("sqlite")), "{error}");
    assert_eq!(fs::read(path).ok(), before, "a refused file is left as it was");
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert!(beside == 1, "nothing is left beside it: {beside} files");
}

#[tokio::test]
async fn files_of_others_are_refused_and_left_alone() {
    let noise: Vec<u8> = (0..20_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let half: Vec<u8> = b"SQLite format 3\0".iter().chain(&noise).copied().collect();
    for content in [&b"Dear diary, \n"[..], b"{\"a\": 1}", b"x", &noise, &half] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        fs::write(&path, content).unwrap();
        refused(&path, ErrorKind::StoreCorrupt).await;
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    for setup in [
        "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('keep me')",
        // Not even one that looks like ours.
        "CREATE TABLE memories (id BLOB); CREATE TABLE meta (key TEXT)",
        "PRAGMA application_id = 1234",
        "PRAGMA journal_mode = DELETE; CREATE TABLE notes (text TEXT)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(setup).unwrap();
        refused(&path, ErrorKind::StoreCorrupt).await;
    }
}

#[tokio::test]
async fn a_folder_or_an_impossible_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    for path in
        [folder.path().to_owned(), folder.path().join("file").join("memory.db"), folder.path().join("none/memory.db")]
    {
        let error = open(&path).await.expect_err("no file can be there");
        assert_eq!((error.kind(), error.backend()), (ErrorKind::Configuration, Some("sqlite")), "{error}");
        let named = [&*path, path.parent().unwrap()].map(|path| path.display().to_string());
        assert!(!error.is_retryable() && named.iter().any(|path| error.to_string().contains(path)), "{error}");
    }
}

#[tokio::test]
async fn odd_file_names_are_file_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["file:memory.db?mode=memory", ":memory:", "мой дневник.db", "a b%20c#d.db", "'; --"] {
        let path = folder.path().join(name);
        let alice = Scope::user("alice");
        open(&path).await.unwrap().add_raw(&alice, ["Plays the oud"]).await.unwrap();
        assert!(path.exists(), "{name}");
        assert_eq!(open(&path).await.unwrap().count(&alice, None).await.unwrap(), 1, "{name}");
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let alice = Scope::user("alice");
    open(file.path()).await.unwrap().add_raw(&alice, ["Plays the oud"]).await.unwrap();
    assert_eq!(open(file.path()).await.unwrap().count(&alice, None).await.unwrap(), 1);
}

async fn filled(path: &Path) {
    let engine = open(path).await.unwrap();
    let notes = (0..400).map(|number| format!("Note {number}: {}", "a walk along the river ".repeat(5)));
    engine.add_raw(&Scope::user("alice"), notes).await.unwrap();
    drop(engine);
    settle(path);
}

/// Puts everything that is in the write-ahead log into the file itself.
fn settle(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path).await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(connection);
    settle(&path);
    let before = fs::read(&path).unwrap();
    let error = open(&path).await.expect_err("a schema of the future");
    assert_eq!(error.kind(), ErrorKind::StoreVersion, "{error}");
    assert!(error.to_string().contains("999"), "the version is named: {error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Damage is told as damage: by opening or by the reads, and never as an empty or shorter result.
#[tokio::test]
async fn damage_is_told_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    filled(&whole).await;
    let bytes = fs::read(&whole).unwrap();
    let page = 4_096;
    assert!(bytes.len() > 20 * page);
    let overwritten = |from: usize, until: usize| {
        let mut damaged = bytes.clone();
        damaged[from..until].fill(0xA5);
        damaged
    };
    let damages = [
        ("all but the first page", overwritten(page, bytes.len())),
        ("cut in half", bytes[..bytes.len() / 2 / page * page].to_vec()),
        ("the header", overwritten(16, 100)),
    ];
    for (name, damaged) in damages {
        let path = folder.path().join("damaged.db");
        fs::write(&path, &damaged).unwrap();
        let told = async {
            let engine = open(&path).await?;
            let alice = Scope::user("alice");
            let page = engine.list(&alice, ListRequest::new().limit(1_000)).await?;
            let found = engine.search(&alice, SearchRequest::new("river").limit(1_000)).await?;
            Ok::<_, ingrain::Error>((page.items.len(), found.len()))
        };
        let error = told.await.expect_err(name);
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{name}: {error}");
        for leftover in ["damaged.db", "damaged.db-wal", "damaged.db-shm"] {
            let _ = fs::remove_file(folder.path().join(leftover));
        }
    }
}

async fn finds(engine: &MemoryEngine, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for mode in [SearchMode::Keyword, SearchMode::Vector] {
        let request = SearchRequest::new(words).mode(mode).threshold(0.01);
        found.push(engine.search(&Scope::user("alice"), request).await.unwrap());
    }
    let mut first = found.iter().map(|hits| hits.first().map_or_else(String::new, |hit| hit.memory.text.clone()));
    let (by_words, by_vector) = (first.next().unwrap(), first.next().unwrap());
    vec![by_words, by_vector]
}

#[tokio::test]
async fn handles_on_one_file_see_each_others_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let handles = [open(&path).await.unwrap(), open(&path).await.unwrap(), open(&path).await.unwrap()];
    let alice = Scope::user("alice");
    for round in 0..30 {
        let (writer, text) = (&handles[round % 3], format!("number{round}"));
        let memory = writer.add_raw(&alice, [text.as_str()]).await.unwrap().remove(0);
        for reader in &handles {
            assert_eq!(finds(reader, &text).await, [text.as_str(), text.as_str()]);
        }
        if round % 4 == 3 {
            handles[(round + 1) % 3].delete(&alice, memory.id).await.unwrap();
            for reader in &handles {
                assert_eq!(finds(reader, &text).await[0], "", "{text} was removed");
            }
        }
    }
    handles[0].delete_all(&alice).await.unwrap();
    for reader in &handles {
        assert_eq!(finds(reader, "number1").await, ["", ""]);
    }
}

#[tokio::test]
async fn processes_on_one_file_see_each_others_writes() {
    let alice = Scope::user("alice");
    if let Some((path, text)) = given() {
        let engine = open(&path).await.unwrap();
        assert_eq!(finds(&engine, "written by the first").await[0], "written by the first");
        engine.add_raw(&alice, [text]).await.unwrap();
        return;
    }
    let world = World::in_file(GivenVectors::new(256)).await;
    world.add(&alice, "written by the first").await;
    assert_eq!(finds(&world.engine, "written by the first").await[0], "written by the first");
    let name = "stores::processes_on_one_file_see_each_others_writes";
    for text in ["second process", "third process"] {
        Second::running(name, &world.path(), text).succeeded();
        assert_eq!(finds(&world.engine, text).await, [text, text]);
    }
    // The clocks of the three stand still, so their ids fall in no order.
    let listed = world.list(&alice).await;
    let mut listed = texts(&listed);
    listed.sort_unstable();
    assert_eq!(listed, ["second process", "third process", "written by the first"]);
}

/// A vector that lost some of its numbers is told as damage by its own scope, and disturbs no other.
#[tokio::test]
async fn a_damaged_vector_is_told_and_keeps_to_its_scope() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let engine = open(&path).await.unwrap();
    engine.add_raw(&alice, ["Owns a kayak", "Keeps bees"]).await.unwrap();
    engine.add_raw(&bob, ["Owns a kayak"]).await.unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    let damaged = "SELECT min(row) FROM memories WHERE user = 'alice'";
    raw.execute(&format!("UPDATE keys SET vector = substr(vector, 1, 8) WHERE memory = ({damaged})"), []).unwrap();
    drop(raw);
    let error = engine.search(&alice, "kayak").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    assert_eq!(engine.search(&bob, "kayak").await.unwrap().len(), 1);
}

/// Terms in the file that another analyser made, or that are damaged, are made anew from the text.
#[tokio::test]
async fn terms_of_another_analyser_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let alice = Scope::user("alice");
    open(&path).await.unwrap().add_raw(&alice, ["Owns a kayak", "Keeps bees", "Paints boats"]).await.unwrap();
    let search = async |query: &str| {
        let request = SearchRequest::new(query).mode(SearchMode::Keyword);
        let hits = open(&path).await.unwrap().search(&alice, request).await.unwrap();
        hits.into_iter().map(|hit| (hit.memory.text, hit.score)).collect::<Vec<_>>()
    };
    let before = search("kayak").await;
    assert_eq!(before.len(), 1);
    let raw = rusqlite::Connection::open(&path).unwrap();
    let kept: Vec<u8> = raw
        .query_row(
            "SELECT terms FROM keys JOIN memories ON row = memory WHERE memories.text = 'Owns a kayak'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let other = [&[!kept[0]], &kept[1..]].concat();
    let cut = kept[..kept.len() - 1].to_vec();
    for terms in [other, cut, Vec::new()] {
        raw.execute("UPDATE keys SET terms = ?1", [terms]).unwrap();
        assert_eq!(search("kayak").await, before);
        assert_eq!(search("bees").await.len(), 1);
    }
    // What is kept is what is searched by, as long as it can be.
    let bees = "SELECT row FROM memories WHERE text = 'Keeps bees'";
    raw.execute(&format!("UPDATE keys SET terms = ?1 WHERE memory = ({bees})"), [kept]).unwrap();
    assert_eq!(search("kayak").await.len(), 2);
}

/// Cues in the file that other rules read, or that are damaged, are read anew from the text.
#[tokio::test]
async fn cues_of_other_rules_are_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let alice = Scope::user("alice");
    let said = "She bought nine kayaks in May. ".repeat(20);
    open(&path).await.unwrap().add_raw(&alice, [said.as_str(), "Owns a kayak"]).await.unwrap();
    let search = async || {
        let hits = open(&path).await.unwrap().search(&alice, "How many kayaks?").await.unwrap();
        hits.into_iter().map(|hit| (hit.score, hit.parts.len())).collect::<Vec<_>>()
    };
    let before = search().await;
    let raw = rusqlite::Connection::open(&path).unwrap();
    let kept: Vec<u8> = raw.query_row("SELECT cues FROM memories ORDER BY id LIMIT 1", [], |row| row.get(0)).unwrap();
    let other = [&[!kept[0]], &kept[1..]].concat();
    for cues in [other, Vec::new()] {
        raw.execute("UPDATE memories SET cues = ?1", [cues]).unwrap();
        assert_eq!(search().await, before);
    }
    // What is kept is what is ranked by, as long as it can be.
    raw.execute("UPDATE memories SET cues = ?1", [kept]).unwrap();
    assert_ne!(search().await, before);
}

/// Polls a future by hand, as another executor would.
fn without_tokio<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

#[test]
fn outside_a_runtime_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let opened = without_tokio(SqliteStore::open(folder.path().join("memory.db"))).expect("an answer at once");
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::Configuration);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

/// Whether this process holds a lock on the file, by the kernel's list. A single look may miss one, while other tests
/// take and drop theirs.
#[cfg(target_os = "linux")]
fn is_locked(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{} ", fs::metadata(path).unwrap().ino());
    let process = format!(" {} ", std::process::id());
    (0..50).any(|_| {
        let held = fs::read_to_string("/proc/locks").unwrap();
        held.lines().any(|line| line.contains(&inode) && line.contains(&process))
    })
}

/// POSIX drops every lock of a process on a file when any of its descriptors is closed. Opening a store again must not
/// close one, or another program may delete the log under the first handle.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn opening_again_takes_no_lock_from_the_first_handle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let first = open(&path).await.unwrap();
    first.add_raw(&Scope::user("alice"), ["one"]).await.unwrap();
    assert!(is_locked(&path), "an open store holds a lock");
    let second = open(&path).await.unwrap();
    assert!(is_locked(&path));
    drop(second);
    assert!(is_locked(&path));
}

/// A writer that finds the file locked gives up after its limit, leaves nothing, and works when the lock is gone.
#[tokio::test]
async fn a_locked_file_is_unavailable_until_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let engine = open(&path).await.unwrap();
    let alice = Scope::user("alice");
    let memory = engine.add_raw(&alice, ["before"]).await.unwrap().remove(0);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let patience = Duration::from_secs(60);
    let calls = async {
        let refused = [
            engine.add_raw(&alice, ["while locked"]).await.map(drop),
            engine.add(&alice, "I live in Lisbon.").await.map(drop),
            engine.delete(&alice, memory.id).await,
            engine.delete_all(&alice).await.map(drop),
        ];
        for result in refused {
            let error = result.expect_err("the file is locked");
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
            assert!(error.is_retryable());
        }
        assert_eq!(engine.count(&alice, None).await.unwrap(), 1, "reading goes on");
    };
    tokio::time::timeout(patience, calls).await.expect("no call may hang");
    other.execute_batch("ROLLBACK").unwrap();
    engine.add_raw(&alice, ["after"]).await.unwrap();
    let page = engine.list(&alice, ListRequest::new()).await.unwrap();
    assert_eq!(texts(&page.items), ["before", "after"]);
}
