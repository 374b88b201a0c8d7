//! The truth itself, damaged: told by name, and neither hidden nor guessed at by a rebuild; other scopes go on.

use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
};

use ingrain::{BackgroundOptions, MemoryEngine, ProblemKind, ProblemPlace, SqliteStore, Verify};

use super::{
    alice, bob,
    damage::{filled, kinds, open, run},
    found,
};

#[tokio::test]
async fn what_is_true_is_told_and_not_guessed_at() {
    use ProblemKind::{Conversation, HistoryScope, HistoryText, MergedInto, RelationEnd, Unreadable};
    let kayak = "(SELECT row FROM memories WHERE text = 'Owns a red kayak')";
    let of_kayak = "(SELECT id FROM memories WHERE text = 'Owns a red kayak')";
    let damages: &[(&str, ProblemKind)] = &[
        (&format!("UPDATE memories SET metadata = '{{' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET trust = 'nobody' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET importance = 'much' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET importance = 9e999 WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET created_at = 'soon' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET id = x'010203' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET importance = 1.5 WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET revision = -1 WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET access_count = -1 WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET kind = '' WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE memories SET invalid_at = valid_at - 1 WHERE row = {kayak}"), Unreadable),
        (&format!("UPDATE history SET new_text = 'Owns a yacht' WHERE memory = {of_kayak}"), HistoryText),
        (&format!("UPDATE history SET kind = 'guess' WHERE memory = {of_kayak}"), Unreadable),
        (&format!("UPDATE history SET user = 'carol' WHERE memory = {of_kayak}"), HistoryScope),
        ("UPDATE entities SET merged_into = zeroblob(16) WHERE name = 'Bruno'", MergedInto),
        ("UPDATE entities SET merged_into = id WHERE name = 'Bruno'", MergedInto),
        ("UPDATE entities SET metadata = '[' WHERE name = 'Bruno'", Unreadable),
        ("UPDATE relations SET seen_at = x'00' WHERE row = (SELECT min(row) FROM relations)", Unreadable),
        ("UPDATE relations SET user = 'carol' WHERE row = (SELECT min(row) FROM relations)", RelationEnd),
        ("DELETE FROM messages WHERE sequence = 1", Conversation),
        ("DELETE FROM messages WHERE sequence = 2", Conversation),
        ("UPDATE conversations SET covers_before = 99", Conversation),
        ("DELETE FROM conversations", Conversation),
        ("UPDATE messages SET role = 'nobody' WHERE sequence = 1", Unreadable),
    ];
    for (damage, expected) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path()).await;
        let before = found(&open(&path).await, &bob()).await;
        run(&path, damage);
        let memory = open(&path).await;
        for rebuild in [false, true, false] {
            let report = memory.verify(Verify::new().rebuild(rebuild)).await.unwrap();
            assert_eq!(kinds(&report), [*expected], "{damage}: {report:#?}");
            assert!(report.mended.is_empty() && !expected.is_derived(), "{damage}: {report:#?}");
            assert_eq!(found(&memory, &bob()).await, before, "{damage}");
        }
    }
}

#[tokio::test]
async fn the_places_of_problems_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let memory = open(&path).await;
    let all = memory.list(&alice(), ingrain::ListRequest::new().limit(100)).await.unwrap().items;
    let bees = all.iter().find(|one| one.text == "Keeps bees").unwrap();
    run(&path, "DELETE FROM keys WHERE memory = (SELECT row FROM memories WHERE text = 'Keeps bees')");
    let report = memory.verify(Verify::new()).await.unwrap();
    let problem = report.problem(ProblemKind::Keys).unwrap();
    assert_eq!((problem.count, problem.examples.as_slice()), (1, [ProblemPlace::Memory(bees.id)].as_slice()));
    assert_eq!(problem.to_string(), format!("keys: 1 (memory {})", bees.id));
}

/// An entity that is gone: its relations lead nowhere, and its names are strays.
#[tokio::test]
async fn what_is_left_of_an_entity_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    run(&path, "DELETE FROM entities WHERE name = 'Bruno'");
    let memory = open(&path).await;
    let report = memory.verify(Verify::new()).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::RelationEnd, ProblemKind::Stray], "{report:#?}");
    let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::RelationEnd], "{report:#?}");
    assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), [ProblemKind::RelationEnd]);
}

#[tokio::test]
async fn a_queued_add_that_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let store = SqliteStore::open(&path).await.unwrap();
    let background = BackgroundOptions::new().workers(0);
    let builder = MemoryEngine::builder().store(store).embedder(ingrain::testing::GivenVectors::new(64));
    let memory = builder.background(background).build().await.unwrap();
    memory.add_later(&alice(), "I like tea.").await.unwrap();
    let report = memory.verify(Verify::new()).await.unwrap();
    assert!(report.is_sound() && report.checked.queued_adds == 1, "{report:#?}");
    run(&path, "UPDATE queue SET state = 'lost'");
    let report = memory.verify(Verify::new()).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::Unreadable], "{report:#?}");
}

/// Bytes flipped in pages of the file: damage is told, wherever it is, and no call pretends that it was mended.
#[tokio::test]
async fn flipped_pages_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let root = |name: &str| -> i64 {
        connection.query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [name], |row| row.get(0)).unwrap()
    };
    let pages = ["memories", "keys", "history", "entities", "memories_by_user"].map(root);
    drop(connection);
    let whole = fs::read(&path).unwrap();
    for page in pages {
        let damaged = folder.path().join(format!("damaged{page}.db"));
        fs::write(&damaged, &whole).unwrap();
        let mut file = fs::OpenOptions::new().read(true).write(true).open(&damaged).unwrap();
        let mut bytes = vec![0; 4_096];
        let at = SeekFrom::Start((page as u64 - 1) * 4_096);
        file.seek(at).unwrap();
        file.read_exact(&mut bytes).unwrap();
        bytes.iter_mut().take(40).for_each(|byte| *byte ^= 0x5A);
        file.seek(at).unwrap();
        file.write_all(&bytes).unwrap();
        drop(file);
        let memory = open(&damaged).await;
        for rebuild in [false, true, false] {
            let report = memory.verify(Verify::new().rebuild(rebuild)).await.unwrap();
            assert!(report.problem(ProblemKind::DamagedFile).is_some(), "page {page}: {report:#?}");
            assert!(!report.problem(ProblemKind::DamagedFile).unwrap().to_string().contains(['\n', '*']), "one line");
        }
    }
}
