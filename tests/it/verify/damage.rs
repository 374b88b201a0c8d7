//! What is derived, damaged in a real file by SQL: told by name, made anew, and then found as before.

use std::path::Path;

use ingrain::{
    ManualClock, MemoryEngine, Message, ProblemKind, ProblemPlace, SqliteStore, VectorStore, Verify, VerifyReport,
    testing::GivenVectors,
};

use super::{alice, bob, fill, found};
use crate::worlds::{self, sound, t0};

pub async fn open(path: &Path) -> MemoryEngine {
    let store = SqliteStore::open(path).await.unwrap();
    worlds::engine(store, GivenVectors::new(64), ManualClock::at(t0())).await.unwrap()
}

pub fn kinds(report: &VerifyReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

pub fn run(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    // One that keeps references whole would not do such damage.
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(connection.total_changes() > 0 || sql.contains("DROP"), "nothing was damaged by {sql}");
}

/// A file with something of everything, closed.
pub async fn filled(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("memory.db");
    fill(&open(&path).await).await;
    // A connection that is in use by a call nobody waits for closes after that call, and takes the log with it.
    while folder.join("memory.db-wal").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    path
}

#[tokio::test]
async fn what_is_derived_is_told_and_made_anew() {
    use ProblemKind::{Cues, FileIndex, MissingSource, Names, Places, RelationSources, Stray, Terms, Versions};
    let kayak = "(SELECT row FROM memories WHERE text = 'Owns a red kayak')";
    let bruno = "(SELECT row FROM entity_names WHERE folded = 'bruno')";
    let damages: &[(&str, &[ProblemKind])] = &[
        (
            &format!(
                "UPDATE keys SET terms = (SELECT terms FROM keys JOIN memories ON row = memory \
                 WHERE memories.text = 'Keeps bees') WHERE memory = {kayak}"
            ),
            &[Terms],
        ),
        (&format!("UPDATE keys SET terms = substr(terms, 1, length(terms) - 1) WHERE memory = {kayak}"), &[Terms]),
        ("UPDATE memories SET cues = CAST(substr(cues, 1, 8) || x'4D000000' || substr(cues, 13) AS BLOB)", &[Cues]),
        ("UPDATE memories SET cues = 'none' WHERE text = 'Keeps bees'", &[Cues]),
        ("UPDATE keys SET terms = 'none' WHERE number = 0", &[Terms]),
        ("UPDATE places SET next = 0", &[Places]),
        ("DELETE FROM places", &[Places]),
        ("INSERT INTO keys SELECT 99, number, text, terms, vector FROM keys LIMIT 1", &[Stray]),
        ("INSERT INTO entity_names (entity, folded) VALUES (99, 'nobody')", &[Stray]),
        ("INSERT INTO entity_grams VALUES (1, 2, 999999, 3)", &[Stray]),
        ("INSERT INTO relation_sources VALUES (zeroblob(16), 99)", &[Stray]),
        ("UPDATE entity_names SET folded = 'wrong' WHERE folded = 'bruno'", &[Names]),
        ("DELETE FROM entity_names WHERE folded = 'bruno'", &[Stray, Names]),
        (&format!("DELETE FROM entity_grams WHERE name = {bruno}"), &[Names]),
        (&format!("UPDATE entity_grams SET size = size + 1 WHERE name = {bruno}"), &[Names]),
        (
            &format!(
                "INSERT INTO entity_grams SELECT reader, 12345, name, 3 FROM entity_grams WHERE name = {bruno} LIMIT 1"
            ),
            &[Names],
        ),
        ("DELETE FROM relation_sources", &[RelationSources]),
        ("INSERT INTO relation_sources SELECT zeroblob(16), min(row) FROM relations", &[RelationSources]),
        ("DELETE FROM changes WHERE version = (SELECT min(version) + 1 FROM changes)", &[Versions]),
        ("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'changes'", &[Versions]),
        ("DELETE FROM sqlite_sequence WHERE name = 'history'", &[Versions]),
        ("DROP INDEX memories_by_user", &[FileIndex]),
        ("DROP INDEX history_by_memory; DROP INDEX relations_by_object", &[FileIndex]),
    ];
    for (damage, expected) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path()).await;
        let before = (found(&open(&path).await, &alice()).await, found(&open(&path).await, &bob()).await);
        run(&path, damage);
        let memory = open(&path).await;
        let report = memory.verify(Verify::new()).await.unwrap();
        assert_eq!(kinds(&report), *expected, "{damage}: {report:#?}");
        assert!(expected.iter().all(|kind| kind.is_derived()));
        assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), *expected, "reading mends nothing");
        let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
        let mended: Vec<ProblemKind> = report.mended.iter().map(|problem| problem.kind).collect();
        assert!(report.is_sound() && expected.iter().all(|kind| mended.contains(kind)), "{damage}: {report:#?}");
        sound(&memory).await;
        for memory in [memory, open(&path).await] {
            let after = (found(&memory, &alice()).await, found(&memory, &bob()).await);
            assert_eq!(after, before, "{damage}");
            memory.graph(&alice()).find("Bruno", 1).await.unwrap().first().unwrap_or_else(|| panic!("after {damage}"));
            memory.add(&alice().with_session("monday"), Message::user("And so on.")).await.unwrap();
            memory.delete_all(&bob()).await.unwrap();
            sound(&memory).await;
            memory.add_raw(&bob(), ["Owns a green kayak", "Paints boats"]).await.unwrap();
            run(
                &path,
                "DELETE FROM memories WHERE text = 'And so on.'; DELETE FROM history WHERE new_text = 'And so on.'; \
                 DELETE FROM keys WHERE memory NOT IN (SELECT row FROM memories)",
            );
        }
    }
    assert!(MissingSource.is_derived());
}

/// An index of the file that has rows its table has not.
#[tokio::test]
async fn an_index_that_differs_from_its_table_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let redefine = |from: &str, to: &str| {
        let sql = format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{from}', '{to}') \
             WHERE name = 'history_by_memory'; PRAGMA writable_schema = RESET;"
        );
        run(&path, &sql);
    };
    let (whole, part) = ("(memory, sequence)", "(memory, sequence) WHERE sequence < 0");
    redefine(whole, part);
    run(
        &path,
        "DELETE FROM history WHERE sequence = (SELECT max(sequence) FROM history WHERE user = ''bob'')"
            .replace("''", "'")
            .as_str(),
    );
    redefine(part, whole);
    let memory = open(&path).await;
    let report = memory.verify(Verify::new()).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::FileIndex], "{report:#?}");
    assert_eq!(report.problems[0].examples, [ProblemPlace::Part("history_by_memory".to_owned())]);
    let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
    assert!(report.is_sound() && report.mended.len() == 1, "{report:#?}");
    sound(&memory).await;
}

/// A fact whose row went without its relations.
#[tokio::test]
async fn a_relation_whose_memory_went_by_sql_goes_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let gone = "SELECT row FROM memories WHERE kind <> 'episode' AND text LIKE '%Bruno%'";
    run(&path, &format!("DELETE FROM keys WHERE memory IN ({gone}); DELETE FROM memories WHERE row IN ({gone});"));
    let memory = open(&path).await;
    assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), [ProblemKind::MissingSource]);
    let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
    assert!(report.is_sound(), "{report:#?}");
    sound(&memory).await;
    assert!(memory.graph(&alice()).find("Bruno", 1).await.unwrap().is_empty());
}

/// Terms and cues of another version of the crate are no problem, and a rebuild makes them anew.
#[tokio::test]
async fn what_another_version_analysed_is_outdated_and_no_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let before = found(&open(&path).await, &alice()).await;
    run(&path, "UPDATE keys SET terms = CAST(x'01020304' || substr(terms, 5) AS BLOB); UPDATE memories SET cues = x''");
    let memory = open(&path).await;
    let report = memory.verify(Verify::new()).await.unwrap();
    assert!(report.is_sound(), "{report:#?}");
    assert_eq!(report.outdated, report.checked.keys + report.checked.memories);
    let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
    let mended: u64 = report.mended.iter().map(|problem| problem.count).sum();
    assert_eq!((report.outdated, mended), (0, report.checked.keys + report.checked.memories));
    assert_eq!(memory.verify(Verify::new()).await.unwrap().outdated, 0);
    assert_eq!(found(&memory, &alice()).await, before);
}

/// Who changes the file past the crate leaves the indexes in memory behind: they are dropped.
#[tokio::test]
async fn an_index_in_memory_that_is_behind_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let memory = open(&path).await;
    let before = found(&memory, &bob()).await;
    assert!(before.iter().any(|(text, _)| text.contains("kayak")));
    found(&memory, &alice()).await;
    let gone = "SELECT row FROM memories WHERE text = 'Owns a green kayak'";
    run(&path, &format!("DELETE FROM keys WHERE memory IN ({gone}); DELETE FROM memories WHERE row IN ({gone});"));
    let report = memory.verify(Verify::new()).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::SearchIndex], "{report:#?}");
    assert_eq!(report.problems[0].count, 1, "alice's is as it was");
    assert!(memory.verify(Verify::new().rebuild(true)).await.unwrap().is_sound());
    sound(&memory).await;
    let after = found(&memory, &bob()).await;
    assert!(!after.iter().any(|(text, _)| text.ends_with("green kayak")), "{after:?}");
}

/// A store by itself tells what it can, without an engine.
#[tokio::test]
async fn vectors_of_an_unknown_embedder_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    run(&path, "DELETE FROM meta");
    let store = SqliteStore::open(&path).await.unwrap();
    let report = store.verify(&Verify::new().rebuild(true)).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::NoEmbedder], "{report:#?}");
}
