//! Copies under another key, or none.

use ingrain::{Error, ErrorKind};

use super::*;
use crate::copies::{rows, sound};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_the_same_store_under_another_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let olga = Scope::user("olga");
    let store = SqliteStore::open(path("plain.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    fill(&memory, &store, &olga).await;
    let expected = state(&memory, &olga).await;
    assert!(expected.len() > 15);

    let builders = [
        SqliteStore::builder(path("phrase.db")).passphrase("it's one"),
        SqliteStore::builder(path("raw.db")).raw_key(KEY),
        SqliteStore::builder(path("odd 'name' мой.db")).passphrase("two"),
        SqliteStore::builder(path("again.db")),
    ];
    let mut from = store;
    for builder in builders {
        from.copy_to(builder.clone()).await.unwrap();
        from = builder.open().await.unwrap();
        let copy = engine(from.clone()).await;
        assert_eq!(state(&copy, &olga).await, expected);
        assert!(!copy.search(&olga, "Zanzibarova").await.unwrap().is_empty());
        assert_eq!(copy.graph(&olga).counts().await.unwrap(), memory.graph(&olga).counts().await.unwrap());
    }
    drop((from, memory));
    sound(&path("again.db"));
    // To the last row of every table, also of those that no export tells of.
    assert_eq!(rows(&path("again.db")), rows(&path("plain.db")));
    // And each is a store that can be written to.
    let copy = engine(SqliteStore::builder(path("phrase.db")).passphrase("it's one").open().await.unwrap()).await;
    copy.add(&olga, "I live in Porto.").await.unwrap();
    assert!(state(&copy, &olga).await.len() > expected.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let alice = Scope::user("alice");
    let store = open(&folder.path().join("memory.db")).await;
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
        let target = SqliteStore::builder(folder.path().join(format!("{number}.db"))).raw_key([number; 32]);
        store.copy_to(target.clone()).await.unwrap();
        let copy = engine(target.open().await.unwrap()).await;
        let (all, changes) = (copy.count(&alice, None).await.unwrap(), state(&copy, &alice).await.len() as u64);
        assert!(all >= 2 && all.is_multiple_of(2) && changes == all + 1, "pairs are whole: {all}");
    }
    writing.await.unwrap();
}

async fn kind(result: impl Future<Output = Result<(), Error>>) -> ErrorKind {
    result.await.unwrap_err().kind()
}

#[tokio::test]
async fn a_copy_that_cannot_be_made_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path).await;
    engine(store.clone()).await.add_raw(&Scope::user("alice"), ["x"]).await.unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    let other = folder.path().join("other.txt");
    fs::write(&other, "precious").unwrap();
    for taken in [&path, &other] {
        assert_eq!(kind(store.copy_to(SqliteStore::builder(taken).raw_key(KEY))).await, ErrorKind::InvalidArgument);
    }
    assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    let target = folder.path().join("copy.db");
    assert_eq!(kind(store.copy_to(SqliteStore::builder(&target).passphrase(""))).await, ErrorKind::Configuration);
    let nowhere = SqliteStore::builder(folder.path().join("none/copy.db"));
    assert_eq!(kind(store.copy_to(nowhere)).await, ErrorKind::Configuration);
    let in_memory = SqliteStore::open_in_memory().await.unwrap();
    assert_eq!(kind(in_memory.copy_to(SqliteStore::builder(&target))).await, ErrorKind::Unsupported);
    assert_eq!(files(), before + 1);
    // Damage in the source is told, and the copy that was begun is gone.
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 2_000;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = open(&path).await;
    let error = store.copy_to(SqliteStore::builder(&target)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error:?}");
    assert!(!target.exists() && !folder.path().join("copy.db-journal").exists());
}
