use std::fs;

use super::*;

const MOVED: &str = "moved, replaced or deleted";

/// Where a system lets an open file go, a write would succeed and be lost with it.
#[tokio::test]
async fn a_file_that_is_taken_away_is_told_by_the_next_call() {
    for how in ["deleted", "moved", "replaced", "with its folder"] {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let path = inner.join("memory.db");
        let (memory, store) = open(&path).await.unwrap();
        fill(&memory, &store).await;
        let expected = state(&memory).await;
        settle(&path);
        let elsewhere = folder.path().join("elsewhere.db");
        match how {
            "deleted" => fs::remove_file(&path).unwrap(),
            "moved" => fs::rename(&path, &elsewhere).unwrap(),
            "replaced" => {
                fs::copy(&path, &elsewhere).unwrap();
                fs::rename(&elsewhere, &path).unwrap();
            }
            _ => fs::remove_dir_all(&inner).unwrap(),
        }
        is_told(&memory.add_raw(&alice(), ["x"]).await.unwrap_err(), MOVED, how);
        is_told(&memory.list(&alice(), ListRequest::new()).await.unwrap_err(), MOVED, how);
        is_told(&memory.search(&alice(), "kayak").await.unwrap_err(), MOVED, how);
        // What it empties would be another file, or one that nobody finds any more.
        is_told(&store.scrub().await.unwrap_err(), MOVED, how);
        match how {
            "moved" => fs::rename(&elsewhere, &path).unwrap(),
            "replaced" => {
                drop((memory, store));
                assert_eq!(state(&open(&path).await.unwrap().0).await, expected);
                continue;
            }
            _ => continue,
        }
        // Back in its place, all goes on.
        memory.add_raw(&alice(), ["x"]).await.unwrap();
        drop((memory, store));
        assert_eq!(open(&path).await.unwrap().0.count(&alice(), None).await.unwrap(), 1 + of(&expected));
    }
}

/// How many memories of Alice there are.
fn of(state: &[String]) -> u64 {
    let lines = state.iter().filter(|line| line.contains("\"type\":\"memory\""));
    lines.filter(|line| line.contains("\"user\":\"alice\"") && !line.contains("\"invalid_at\"")).count() as u64
}

/// Nobody should, but a handle that has the log open puts it into the file when it is closed.
#[tokio::test]
async fn a_log_that_is_deleted_beside_the_open_file_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    let log = folder.path().join("memory.db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 4_096);
    fs::remove_file(&log).unwrap();
    memory.add_raw(&alice(), ["Plays the oud"]).await.unwrap();
    let expected = state(&memory).await;
    drop((memory, store));
    sound(&path);
    assert_eq!(state(&open(&path).await.unwrap().0).await, expected);
}

/// Cut off while it is open: what was read before may be shown, what is missing is told.
#[tokio::test]
async fn a_file_that_is_cut_off_while_open_is_told_as_damage() {
    for kept in [0, 1, 10] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let (memory, store) = open(&path).await.unwrap();
        let notes = (0..400).map(|number| format!("Note {number}: {}", "a walk along the river ".repeat(5)));
        memory.add_raw(&alice(), notes).await.unwrap();
        drop((memory, store));
        let (memory, _store) = open(&path).await.unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept * 4_096).unwrap();
        let error = memory.list(&alice(), ListRequest::new().limit(1_000)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{kept} pages kept: {error:?}");
        let error = memory.search(&alice(), "river").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{kept} pages kept: {error:?}");
    }
}

/// Names that mean something else to SQLite, and a process that changes its folder.
#[tokio::test]
async fn a_relative_path_is_a_path_wherever_the_process_goes() {
    let Some((path, _)) = given() else {
        let script = "shift; exec \"$@\"";
        runs(
            Command::new("sh").args(["-c", script, "sh"]),
            "disk::gone::a_relative_path_is_a_path_wherever_the_process_goes",
        );
        return;
    };
    let folder = path.parent().unwrap();
    for name in [":memory:", "file:memory.db?mode=memory", "memory.db", "./b.db"] {
        std::env::set_current_dir(folder).unwrap();
        let (memory, _store) = open(Path::new(name)).await.unwrap();
        memory.add_raw(&alice(), ["Owns a kayak"]).await.unwrap();
        std::env::set_current_dir("/").unwrap();
        // Many at once, so that further connections are opened.
        let alice = alice();
        let (first, second) = tokio::join!(memory.count(&alice, None), memory.search(&alice, "kayak"));
        assert_eq!((first.unwrap(), second.unwrap().len()), (1, 1));
        assert!(folder.join(name).exists(), "{name}");
        assert_eq!(open(&folder.join(name)).await.unwrap().0.count(&alice, None).await.unwrap(), 1);
    }
    assert_eq!(SqliteStore::open("").await.unwrap_err().kind(), ErrorKind::Configuration);
}
