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
    assert_eq!(
        kind(store.copy_to(target.clone())).await,
        ErrorKind::InvalidArgument,
        "another copy may be in the making"
    );
    assert_eq!(fs::read_to_string(&other).unwrap() + &fs::read_to_string(&part).unwrap(), "precioushalf a copy");
    let nowhere = SqliteStore::builder(folder.path().join("none/copy.db"));
    assert_eq!(kind(store.copy_to(nowhere)).await, ErrorKind::StoreUnavailable);
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
