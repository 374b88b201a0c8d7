use std::fs;

use super::*;

const PAGE: u64 = 4_096;

/// A file that takes all the room there is.
struct Ballast {
    file: fs::File,
    taken: u64,
}

impl Ballast {
    fn beside(path: &Path) -> Self {
        use std::io::Write;
        let mut file = fs::File::create(path.with_extension("ballast")).unwrap();
        let mut taken = 0;
        while file.write_all(&[0; PAGE as usize]).is_ok() {
            taken += PAGE;
        }
        assert!(taken > 0, "there was room");
        Self { file, taken }
    }

    fn leave(&self, pages: u64) {
        self.file.set_len(self.taken.saturating_sub(pages * PAGE)).unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let Some((path, _)) = given() else {
        on_a_disk_of("3m", "disk::full::a_full_disk_is_told_and_loses_nothing");
        return;
    };
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    let purged = id_of(&memory, "Owns a kayak.").await;
    let mut failures = 0;
    for what in WRITES {
        settle(&path);
        let ballast = Ballast::beside(&path);
        refused(what, &memory, &store, purged, "the disk is full").await;
        // A little room, and a little more: the write breaks off elsewhere.
        let mut room = 0;
        loop {
            room += 1 + room / 4;
            assert!(room < ballast.taken / PAGE, "{what} needs more room than there is");
            ballast.leave(room);
            let before = state(&memory).await;
            let Err(error) = write(what, &memory, &store, purged).await else { break };
            is_told(&error, "the disk is full", what);
            if !IN_STEPS.contains(&what) {
                assert_eq!(state(&memory).await, before, "{what} left a trace, with {room} pages free");
            }
            failures += 1;
        }
        drop(ballast);
        fs::remove_file(path.with_extension("ballast")).unwrap();
        memory.flush().await.unwrap();
        sound(&path);
    }
    assert!(failures > WRITES.len(), "some broke off midway: {failures}");
    let expected = state(&memory).await;
    drop((memory, store));
    let (memory, _) = open(&path).await.unwrap();
    assert_eq!(state(&memory).await, expected);
    let all = memory.list(&alice(), ListRequest::new().limit(1_000).include_invalid()).await.unwrap().items;
    for text in ["Paints small boats", "I like swimming.", "Be kind.", "I work at Globex."] {
        assert!(all.iter().any(|one| one.text == text), "{text} is there in the end");
    }
}

#[tokio::test]
async fn no_store_is_made_or_opened_on_a_full_disk() {
    let Some((path, _)) = given() else {
        on_a_disk_of("2m", "disk::full::no_store_is_made_or_opened_on_a_full_disk");
        return;
    };
    let other = path.with_file_name("other.db");
    let (memory, store) = open(&other).await.unwrap();
    fill(&memory, &store).await;
    let expected = state(&memory).await;
    drop((memory, store));
    let ballast = Ballast::beside(&path);
    for room in 0.. {
        assert!(room < ballast.taken / PAGE, "a store needs more room than there is");
        ballast.leave(room);
        let Err(error) = open(&path).await else { break };
        is_told(&error, "", "making a store");
    }
    ballast.leave(0);
    let before = fs::read(&other).unwrap();
    match open(&other).await {
        // What is needed beside the file may have fitted into what was left.
        Ok((memory, _)) => assert_eq!(state(&memory).await, expected),
        Err(error) => is_told(&error, "the disk is full", "opening a store"),
    }
    assert!(fs::read(&other).unwrap() == before);
    fs::remove_file(path.with_extension("ballast")).unwrap();
    drop(ballast);
    assert_eq!(state(&open(&other).await.unwrap().0).await, expected);
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    sound(&path);
}

fn names(path: &Path) -> Vec<std::ffi::OsString> {
    let folder = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = folder.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    names
}

/// With any room at all, from none to what it needs.
#[tokio::test]
async fn a_copy_that_finds_no_room_is_told_and_leaves_nothing() {
    let Some((path, _)) = given() else {
        on_a_disk_of("3m", "disk::full::a_copy_that_finds_no_room_is_told_and_leaves_nothing");
        return;
    };
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    settle(&path);
    let expected = state(&memory).await;
    let target = path.with_file_name("copy.db");
    #[cfg_attr(not(feature = "encryption"), expect(unused_mut, reason = "one kind of copy"))]
    let mut kinds = vec![SqliteStore::builder(&target)];
    #[cfg(feature = "encryption")]
    kinds.push(SqliteStore::builder(&target).passphrase("open sesame"));
    for kind in kinds {
        let ballast = Ballast::beside(&path);
        let (before, source) = (names(&path), fs::read(&path).unwrap());
        let (mut room, mut failures) = (0, 0);
        loop {
            assert!(room < ballast.taken / PAGE, "a copy needs more room than there is");
            ballast.leave(room);
            let Err(error) = store.copy_to(kind.clone()).await else { break };
            is_told(&error, "copying the store: ", "a copy");
            assert_eq!(names(&path), before, "with {room} pages free");
            failures += 1;
            room += 1 + room / 4;
        }
        assert!(failures > 3, "{failures}");
        assert!(fs::read(&path).unwrap() == source, "the store is as it was");
        assert_eq!(state(&memory).await, expected);
        fs::remove_file(path.with_extension("ballast")).unwrap();
        drop(ballast);
        let copied = kind.open().await.unwrap();
        let builder = MemoryEngine::builder().store(copied).embedder(HashingEmbedder::new(64));
        let copy = builder.clock(ManualClock::at(t0())).build().await.unwrap();
        assert_eq!(state(&copy).await, expected);
        drop(copy);
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", target.display()));
        }
    }
}

/// A limit on the size of files stands for a disk that fails at every write, whatever the reason.
fn limit(bytes: &str) -> bool {
    let process = std::process::id().to_string();
    let status = Command::new("prlimit").args(["--pid", &process, &format!("--fsize={bytes}:")]).status();
    status.is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_disk_that_refuses_writes_is_told_and_loses_nothing() {
    let Some((path, _)) = given() else {
        let name = "disk::full::a_disk_that_refuses_writes_is_told_and_loses_nothing";
        // The signal that goes with it would end the process.
        let script = "command -v prlimit >/dev/null || exit 77; trap '' XFSZ; shift; exec \"$@\"";
        runs(Command::new("sh").args(["-c", script, "sh"]), name);
        return;
    };
    let (memory, store) = open(&path).await.unwrap();
    fill(&memory, &store).await;
    let purged = id_of(&memory, "Owns a kayak.").await;
    for what in WRITES {
        assert!(limit("0"));
        refused(what, &memory, &store, purged, "refuses what is to be written").await;
        assert!(limit("unlimited"));
        write(what, &memory, &store, purged).await.unwrap();
        memory.flush().await.unwrap();
        sound(&path);
    }
    let expected = state(&memory).await;
    drop((memory, store));
    assert_eq!(state(&open(&path).await.unwrap().0).await, expected);
}
