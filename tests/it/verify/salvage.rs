//! A file that is damaged in any of its pages: what can be read is saved, and the rest is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use ingrain::{ErrorKind, ListRequest, MemoryEngine, MemoryId, Salvaged, Scope, SqliteStore, Verify};

use super::{
    alice, bob,
    damage::{filled, open, run},
    found,
};
use crate::worlds::sound;

async fn salvage(damaged: &Path, target: &Path) -> ingrain::Result<Salvaged> {
    SqliteStore::salvage(SqliteStore::builder(damaged), SqliteStore::builder(target)).await
}

/// What there is, by id.
async fn texts(memory: &MemoryEngine) -> BTreeMap<MemoryId, String> {
    let mut texts = BTreeMap::new();
    for scope in [alice(), bob()] {
        let request = ListRequest::new().include_invalid().limit(1_000);
        texts.extend(memory.list(&scope, request).await.unwrap().items.into_iter().map(|one| (one.id, one.text)));
    }
    texts
}

async fn messages(memory: &MemoryEngine, scope: &Scope) -> usize {
    memory.conversation(scope).unwrap().exchanges().await.unwrap().iter().map(|one| one.messages.len()).sum()
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

async fn exported(memory: &MemoryEngine) -> Vec<String> {
    let (mut lines, mut export) = (Vec::new(), memory.export(&alice()));
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    lines
}

#[tokio::test]
async fn a_sound_file_is_saved_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (filled(folder.path()).await, folder.path().join("saved.db"));
    let before = open(&path).await;
    let (lines, hits) = (exported(&before).await, found(&before, &alice()).await);
    drop(before);
    let saved = salvage(&path, &target).await.unwrap();
    assert!(saved.gaps == 0 && saved.report.is_sound() && saved.report.mended.iter().all(|one| one.kind.is_derived()));
    let after = open(&target).await;
    sound(&after).await;
    assert_eq!((exported(&after).await, found(&after, &alice()).await), (lines, hits));
    assert_eq!(files(folder.path()).iter().filter(|file| file.to_string_lossy().contains("part")).count(), 0);
}

/// The tables and indexes by their pages; where it cannot be known, none.
fn owners(path: &Path) -> BTreeMap<usize, String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT pageno, name FROM dbstat").unwrap();
    let pages = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?))).unwrap();
    pages.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn whatever_page_is_damaged_the_others_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let before = open(&path).await;
    let (all, hits) = (texts(&before).await, found(&before, &alice()).await);
    drop(before);
    let (whole, owners) = (std::fs::read(&path).unwrap(), owners(&path));
    let size = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let mut refused = Vec::new();
    for page in 1..=whole.len() / size {
        let owner = owners.get(&page).map_or("free", String::as_str);
        let (damaged, target) = (folder.path().join("damaged? 100%20é#.db"), folder.path().join("saved.db"));
        let mut bytes = whole.clone();
        bytes[(page - 1) * size..page * size].fill(0x5a);
        std::fs::write(&damaged, bytes).unwrap();
        match salvage(&damaged, &target).await {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "page {page} of {owner}: {error:?}");
                refused.push((page, owner));
            }
            Ok(saved) => {
                let after = open(&target).await;
                let report = after.verify(Verify::new().rebuild(true)).await.unwrap();
                assert!(report.is_sound(), "page {page} of {owner}: {report:?}");
                sound(&after).await;
                let left = texts(&after).await;
                assert!(left.iter().all(|one| all.get(one.0) == Some(one.1)), "page {page} of {owner}: something new");
                let is_of = |tables: &[&str]| tables.contains(&owner);
                let lost = all.len() - left.len();
                assert!(lost == 0 || is_of(&["memories"]), "page {page} of {owner}: {lost} lost");
                // What is looked up by its own index, or follows from the rest, is no loss.
                if !is_of(&[
                    "memories",
                    "keys",
                    "conversations",
                    "messages",
                    "history",
                    "queue",
                    "erased_conversations",
                ]) && !is_of(&["meta", "entities", "relations"])
                {
                    assert_eq!(saved.gaps, 0, "page {page} of {owner}");
                }
                if lost == 0 && !is_of(&["meta", "entities", "relations"]) {
                    assert_eq!(found(&after, &alice()).await, hits, "page {page} of {owner}");
                }
                assert!(messages(&after, &alice().with_session("monday")).await <= 3);
                drop(after);
                std::fs::remove_file(&target).unwrap();
            }
        }
        assert!(!target.exists());
        for file in files(folder.path()) {
            assert!(!file.to_string_lossy().contains(".part"), "page {page} of {owner}: {file:?} is left");
        }
    }
    // The page that tells what tables there are, and those it goes on with.
    assert!(refused.iter().all(|(page, owner)| *page == 1 || *owner == "sqlite_schema"), "{refused:?}");
}

/// Bytes that are changed anywhere, and an end that is missing: it comes to an end, and what is saved opens.
#[tokio::test]
async fn a_file_that_is_damaged_anyhow_is_saved_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let all = texts(&open(&path).await).await;
    let (whole, owners) = (std::fs::read(&path).unwrap(), owners(&path));
    let size = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as usize % below
    };
    let last_of_layout = owners.iter().filter(|(_, owner)| *owner == "sqlite_schema").map(|(page, _)| *page).max();
    let first = last_of_layout.unwrap() * size;
    let (mut refused, mut lost) = (0, 0);
    for round in 0..60 {
        let (damaged, target) = (folder.path().join("damaged.db"), folder.path().join("saved.db"));
        let mut bytes = whole.clone();
        for _ in 0..1 + next(8) {
            let (at, length) = (first + next(whole.len() - first - 100), [1, 2, 20, 100][next(4)]);
            bytes[at..at + length].fill(next(256) as u8);
        }
        if round % 3 == 0 {
            bytes.truncate(whole.len() - next(whole.len() - first));
        }
        std::fs::write(&damaged, bytes).unwrap();
        match salvage(&damaged, &target).await {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "round {round}: {error:?}");
                refused += 1;
            }
            Ok(_) => {
                let after = open(&target).await;
                let left = after.verify(Verify::new().rebuild(true)).await.unwrap();
                // What reads as well as before, in other letters.
                assert!(left.problems.iter().all(|one| !one.kind.is_derived()), "round {round}: {left:?}");
                lost += all.len() - texts(&after).await.len();
                drop(after);
                std::fs::remove_file(&target).unwrap();
            }
        }
    }
    assert!(refused == 0 && lost > 0, "{refused} refused, {lost} lost");
}

#[tokio::test]
async fn a_row_that_says_nothing_is_left_out_alone() {
    for (damage, lost) in [
        ("UPDATE memories SET id = x'0011' WHERE text = 'Keeps bees'", 1),
        ("UPDATE memories SET importance = 7 WHERE text = 'Keeps bees'", 1),
        ("UPDATE memories SET text = CAST(x'ff5a' AS TEXT) WHERE text = 'Keeps bees'", 1),
        ("UPDATE keys SET vector = x'00' WHERE number = 0", 0),
        ("UPDATE history SET actor = 'nobody'", 0),
        ("DELETE FROM relation_sources; DELETE FROM entity_grams; DELETE FROM places", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (filled(folder.path()).await, folder.path().join("saved.db"));
        let all = texts(&open(&path).await).await.len();
        run(&path, damage);
        salvage(&path, &target).await.unwrap();
        let after = open(&target).await;
        after.verify(Verify::new().rebuild(true)).await.unwrap();
        sound(&after).await;
        assert_eq!(texts(&after).await.len() + lost, all, "{damage}");
    }
}

#[tokio::test]
async fn what_cannot_be_saved_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let before = std::fs::read(&path).unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text.db"), "no database at all, but long enough to be one ".repeat(100)).unwrap();
    std::fs::copy(&path, at("newer.db")).unwrap();
    rusqlite::Connection::open(at("newer.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    std::fs::write(at("empty.db"), []).unwrap();
    std::fs::write(at("there.db"), "mine").unwrap();
    let there = files(folder.path());
    for (damaged, target, kind) in [
        ("missing.db", "saved.db", ErrorKind::Configuration),
        ("text.db", "saved.db", ErrorKind::StoreCorrupt),
        ("newer.db", "saved.db", ErrorKind::StoreVersion),
        ("empty.db", "saved.db", ErrorKind::StoreCorrupt),
        ("memory.db", "there.db", ErrorKind::InvalidArgument),
        ("memory.db", "memory.db", ErrorKind::InvalidArgument),
        ("memory.db", "no/folder.db", ErrorKind::Configuration),
    ] {
        let error = salvage(&at(damaged), &at(target)).await.unwrap_err();
        assert_eq!((error.kind(), error.backend()), (kind, Some("sqlite")), "{damaged}, {target}: {error:?}");
        assert_eq!(files(folder.path()), there, "{damaged}, {target}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
