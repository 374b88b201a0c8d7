//! A copy of a store that is in use: whole, of one moment, and in nobody's place.

use std::{fs, path::Path};

use ingrain::{Error, ErrorKind, Message, Purge, Scope, SqliteStore};

use crate::purging::{SECRETS, bytes::left, engine, fill};

pub fn sound(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    assert_eq!(connection.prepare("PRAGMA foreign_key_check").unwrap().query_map([], |_| Ok(())).unwrap().count(), 0);
}

/// What the database is made of: its tables and indexes, and every row, in the file's own order of tables.
pub fn rows(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column));
            Ok(format!("{:?}", values.collect::<Result<Vec<_>, _>>()?))
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let mut all = texts("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name");
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for table in tables {
        let mut rows = texts(&format!("SELECT * FROM {table}"));
        rows.sort();
        all.extend(rows);
    }
    for mark in ["application_id", "user_version"] {
        let value: i64 = connection.pragma_query_value(None, mark, |row| row.get(0)).unwrap();
        all.push(format!("{mark} {value}"));
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_has_every_row_and_nothing_that_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("memory.db"), folder.path().join("backup 'of' мой.db"));
    let (olga, bob) = (Scope::user("olga"), Scope::user("bob"));
    let store = SqliteStore::open(&path).await.unwrap();
    let memory = engine(store.clone()).await;
    fill(&memory, &store, &olga).await;
    memory.add_raw(&bob, ["Owns a kayak", "Plays the pangolinophone"]).await.unwrap();
    let id = memory.search(&bob, "pangolinophone").await.unwrap()[0].memory.id;
    memory.purge(&bob, Purge::memories([id])).await.unwrap();
    memory.conversation(&bob).unwrap().append([Message::user("Hello.")]).await.unwrap();
    store.copy_to(SqliteStore::builder(&backup)).await.unwrap();
    sound(&backup);
    let copied = rows(&backup);
    assert!(copied.len() > 60, "something of everything: {}", copied.len());
    // Opening switches the copy to a log, so it is looked at before and after.
    let restored = SqliteStore::open(&backup).await.unwrap();
    let copy = engine(restored.clone()).await;
    assert!(!copy.search(&olga, "Zanzibarova").await.unwrap().is_empty());
    assert!(copy.verify(ingrain::Verify::new()).await.unwrap().is_sound());
    assert_eq!(copy.graph(&olga).counts().await.unwrap(), memory.graph(&olga).counts().await.unwrap());
    drop((copy, restored));
    assert_eq!(rows(&backup), copied);
    drop((memory, store));
    assert_eq!(rows(&path), copied);
    let alone = tempfile::tempdir().unwrap();
    fs::copy(&backup, alone.path().join("backup.db")).unwrap();
    assert_eq!(left(alone.path(), &["pangolinophone"]), Vec::<&str>::new());
    assert!(!left(alone.path(), &SECRETS).is_empty(), "it is plain");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_one_moment_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let alice = Scope::user("alice");
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    memory.add_raw(&alice, ["pair 0 a", "pair 0 b"]).await.unwrap();
    let writing = tokio::spawn({
        let (memory, alice) = (memory.clone(), alice.clone());
        async move {
            for number in 1..60 {
                memory.add_raw(&alice, ["a", "b"].map(|half| format!("pair {number} {half}"))).await.unwrap();
            }
        }
    });
    for number in 0..5 {
        let target = SqliteStore::builder(folder.path().join(format!("{number}.db")));
        store.copy_to(target.clone()).await.unwrap();
        let copy = engine(target.open().await.unwrap()).await;
        let all = copy.count(&alice, None).await.unwrap();
        assert!(all >= 2 && all.is_multiple_of(2), "pairs are whole: {all}");
        assert!(copy.verify(ingrain::Verify::new()).await.unwrap().is_sound());
    }
    writing.await.unwrap();
}

async fn kind(result: impl Future<Output = Result<(), Error>>) -> ErrorKind {
    result.await.unwrap_err().kind()
}

#[tokio::test]
async fn nothing_is_written_over_and_nothing_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).await.unwrap();
    engine(store.clone()).await.add_raw(&Scope::user("alice"), ["x"]).await.unwrap();
    let (other, empty, part) =
        (folder.path().join("other.txt"), folder.path().join("empty"), folder.path().join("copy.db.part"));
    fs::write(&other, "precious").unwrap();
    fs::write(&empty, "").unwrap();
    fs::write(&part, "half a copy").unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    let target = SqliteStore::builder(folder.path().join("copy.db"));
    for taken in [&path, &other, &empty, &folder.path().to_path_buf()] {
        assert_eq!(kind(store.copy_to(SqliteStore::builder(taken))).await, ErrorKind::InvalidArgument);
    }
    assert_eq!(kind(store.copy_to(target.clone())).await, ErrorKind::InvalidArgument, "it is none of ours");
    assert_eq!(fs::read_to_string(&other).unwrap() + &fs::read_to_string(&part).unwrap(), "precioushalf a copy");
    let nowhere = SqliteStore::builder(folder.path().join("none/copy.db"));
    assert_eq!(kind(store.copy_to(nowhere)).await, ErrorKind::Configuration);
    let in_memory = SqliteStore::open_in_memory().await.unwrap();
    assert_eq!(kind(in_memory.copy_to(target.clone())).await, ErrorKind::Unsupported);
    assert_eq!(files(), before);
    fs::remove_file(&part).unwrap();
    store.copy_to(target.clone()).await.unwrap();
    assert_eq!(kind(store.copy_to(target)).await, ErrorKind::InvalidArgument);
    // Its own name in the place of the broken piece's.
    assert_eq!(files(), before);
    assert!(folder.path().join("copy.db").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn what_lies_in_the_files_place_now_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("memory.db"), folder.path().join("copy.db"));
    let store = SqliteStore::open(&path).await.unwrap();
    fs::rename(&path, folder.path().join("moved.db")).unwrap();
    drop(SqliteStore::open(&path).await.unwrap());
    assert_eq!(kind(store.copy_to(SqliteStore::builder(&target))).await, ErrorKind::StoreUnavailable);
    assert!(!target.exists() && !folder.path().join("copy.db.part").exists());
}

/// What a copy that was broken off leaves: nothing yet, pages without the first, or all of it.
#[cfg(unix)]
#[tokio::test]
async fn a_piece_that_nobody_works_on_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).await.unwrap();
    engine(store.clone()).await.add_raw(&Scope::user("alice"), ["Owns a kayak"]).await.unwrap();
    let whole = folder.path().join("whole.db");
    store.copy_to(SqliteStore::builder(&whole)).await.unwrap();
    let (target, part) = (folder.path().join("copy.db"), folder.path().join("copy.db.part"));
    let bytes = fs::read(&whole).unwrap();
    let mut without_first = bytes.clone();
    without_first[..4_096].fill(0);
    for piece in [&b""[..], &without_first, &bytes[..4_096], &bytes] {
        fs::write(&part, piece).unwrap();
        let held = fs::File::open(&part).unwrap();
        held.lock().unwrap();
        let copied = store.copy_to(SqliteStore::builder(&target));
        assert_eq!(kind(copied).await, ErrorKind::InvalidArgument, "somebody works on it");
        assert!(fs::read(&part).unwrap() == piece && !target.exists());
        drop(held);
        store.copy_to(SqliteStore::builder(&target)).await.unwrap();
        sound(&target);
        assert!(!part.exists());
        fs::remove_file(&target).unwrap();
    }
    // It is another name of a copy that was finished: that one stays whole.
    fs::hard_link(&whole, &part).unwrap();
    store.copy_to(SqliteStore::builder(&target)).await.unwrap();
    assert!(fs::read(&whole).unwrap() == bytes && !part.exists());
    fs::remove_file(&target).unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE precious (x)").unwrap();
    for precious in [fs::read(&other).unwrap(), b"half a letter".to_vec(), vec![7; 8_192]] {
        fs::write(&part, &precious).unwrap();
        let copied = store.copy_to(SqliteStore::builder(&target));
        assert_eq!(kind(copied).await, ErrorKind::InvalidArgument, "it is none of ours");
        assert!(fs::read(&part).unwrap() == precious && !target.exists());
    }
    fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink(&whole, &part).unwrap();
    assert_eq!(kind(store.copy_to(SqliteStore::builder(&target))).await, ErrorKind::InvalidArgument);
    assert!(fs::read(&whole).unwrap() == bytes && !target.exists());
}

/// Of several at once one makes it, and the others leave it alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copies_to_one_place_at_once_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let notes = (0..300).map(|number| format!("note {number}"));
    engine(store.clone()).await.add_raw(&Scope::user("alice"), notes).await.unwrap();
    for round in 0..5 {
        let target = folder.path().join(format!("copy{round}.db"));
        let copies: Vec<_> = (0..4)
            .map(|_| {
                let (store, target) = (store.clone(), SqliteStore::builder(&target));
                tokio::spawn(async move { store.copy_to(target).await })
            })
            .collect();
        let mut made = 0;
        for copy in copies {
            match copy.await.unwrap() {
                Ok(()) => made += 1,
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error:?}"),
            }
        }
        assert_eq!(made, 1);
        sound(&target);
        assert!(!folder.path().join(format!("copy{round}.db.part")).exists());
    }
}

/// Copies one after the other to one place, until it is killed.
#[cfg(unix)]
async fn copy_until_killed(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let target = path.with_file_name("copy.db");
    loop {
        store.copy_to(SqliteStore::builder(&target)).await.unwrap();
        fs::remove_file(&target).unwrap();
        crate::processes::say("copied");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_copy_that_was_killed_is_in_nobodys_way() {
    if let Some((path, _)) = crate::processes::given() {
        return copy_until_killed(&path).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let notes = (0..1_000).map(|number| format!("note {number}"));
    engine(store.clone()).await.add_raw(&Scope::user("alice"), notes).await.unwrap();
    let target = folder.path().join("copy.db");
    for round in 1..6 {
        let mut process =
            crate::processes::Second::running("copies::a_copy_that_was_killed_is_in_nobodys_way", &path, "");
        for _ in 0..round {
            process.heard().unwrap();
        }
        process.kill();
        // It may have been finished just then.
        let _ = fs::remove_file(&target);
        store.copy_to(SqliteStore::builder(&target)).await.unwrap();
        sound(&target);
        assert!(!folder.path().join("copy.db.part").exists());
        fs::remove_file(&target).unwrap();
    }
}
