//! Tables and columns that are missing, and what a change of embedder left behind.

use ingrain::{
    EmbedderIdentity, Error, ErrorKind, ListRequest, ManualClock, MemoryEngine, ProblemKind, ProblemPlace, Reembed,
    SqliteStore, VectorStore, Verify, VerifyReport, testing::GivenVectors,
};

use super::{
    alice,
    damage::{filled, kinds, open, run},
    found,
};
use crate::worlds::{self, sound, t0};

fn told(report: &VerifyReport, what: &str) -> bool {
    let problem = report.problem(ProblemKind::DamagedFile);
    problem.is_some_and(|problem| problem.examples.contains(&ProblemPlace::Part(what.to_owned())))
}

async fn engine(path: &std::path::Path) -> Result<MemoryEngine, Error> {
    let store = SqliteStore::open(path).await?;
    worlds::engine(store, GivenVectors::new(64), ManualClock::at(t0())).await
}

#[tokio::test]
async fn a_missing_table_or_column_is_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(folder.path()).await;
    rusqlite::Connection::open(&whole).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let connection = rusqlite::Connection::open(&whole).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
             WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    drop(statement);
    drop(connection);
    let mut tables: Vec<String> = columns.iter().map(|(table, _)| table.clone()).collect();
    tables.dedup();
    assert!(tables.len() > 15 && columns.len() > 100);
    let rename = |(table, column): &(String, String)| {
        (
            format!("ALTER TABLE {table} RENAME COLUMN {column} TO other"),
            table.clone(),
            format!("the column {column} of the table {table} is missing"),
        )
    };
    let drop_table =
        |table: &String| (format!("DROP TABLE {table}"), table.clone(), format!("the table {table} is missing"));
    let rename_table = |table: &String| {
        (format!("ALTER TABLE {table} RENAME TO other"), table.clone(), format!("the table {table} is missing"))
    };
    let all = columns.iter().map(rename).chain(tables.iter().map(drop_table)).chain(tables.iter().map(rename_table));
    for (number, (damage, table, expected)) in all.enumerate() {
        let path = folder.path().join(format!("damaged{number}.db"));
        std::fs::copy(&whole, &path).unwrap();
        // In the way of a hand that changes a file, which leaves what refers to it as it was.
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON").unwrap();
        connection.execute_batch(&damage).unwrap_or_else(|error| panic!("{damage}: {error}"));
        drop(connection);
        let store = SqliteStore::open(&path).await.unwrap();
        for rebuild in [false, true] {
            let report = store.verify(&Verify::new().rebuild(rebuild)).await.unwrap();
            assert!(told(&report, &expected), "{damage}: {report:#?}");
        }
        let mut errors = Vec::new();
        match engine(&path).await {
            Ok(memory) => {
                assert!(told(&memory.verify(Verify::new()).await.unwrap(), &expected), "{damage}");
                errors.extend(memory.list(&alice(), ListRequest::new()).await.err());
                errors.extend(memory.search(&alice(), "kayak").await.err());
                errors.extend(memory.add_raw(&alice(), ["x"]).await.err());
                errors.extend(memory.graph(&alice()).counts().await.err());
                errors.extend(memory.queued_adds(&alice()).await.err());
            }
            Err(error) => errors.push(error),
        }
        for error in &errors {
            assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{damage}: {error:?}");
            let is_named =
                error.to_string().contains(": no such ") || error.to_string().contains("its tables are not those");
            assert!(is_named, "{damage}: {error}");
        }
        if table == "memories" {
            assert!(!errors.is_empty(), "{damage}");
        }
    }
}

#[tokio::test]
async fn a_column_of_somebody_elses_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    run(&path, "ALTER TABLE memories ADD COLUMN colour TEXT; UPDATE memories SET colour = 'red'");
    let report = open(&path).await.verify(Verify::new()).await.unwrap();
    assert_eq!(kinds(&report), [ProblemKind::DamagedFile], "{report:#?}");
    assert!(told(&report, "the table memories has a column colour, which is not of its version"), "{report:#?}");
}

/// What was staged for an embedder, of which some or all leads nowhere.
#[tokio::test]
async fn what_is_staged_for_nobody_is_told_and_cleared() {
    let damages: &[(&str, usize)] = &[
        ("INSERT INTO staged VALUES (99, 0, x'0000803F00000000')", 1),
        ("INSERT INTO staged SELECT memory, number + 77, vector FROM staged LIMIT 1", 1),
        ("UPDATE staged SET vector = x'00' WHERE (memory, number) = (SELECT memory, number FROM staged LIMIT 1)", 1),
        ("DELETE FROM meta WHERE key LIKE 'staged%'", 0),
        ("DELETE FROM meta WHERE key = 'staged_embedder'", 0),
        ("UPDATE meta SET value = 'many' WHERE key = 'staged_dimensions'", 0),
        ("INSERT INTO meta VALUES ('colour', 'red')", 1),
    ];
    for (damage, goes_on) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path()).await;
        let before = found(&open(&path).await, &alice()).await;
        let store = SqliteStore::open(&path).await.unwrap();
        let other = EmbedderIdentity::new("other", 2);
        store.begin_reembedding(&other).await.unwrap();
        let keys = store.unstaged_keys_of_everyone(&other, None, 3).await.unwrap();
        let staged = keys.into_iter().map(|key| ingrain::StagedVector { key, vector: vec![1.0, 0.0] }).collect();
        store.stage_vectors(&other, staged).await.unwrap();
        sound(&open(&path).await).await;
        run(&path, damage);
        let memory = open(&path).await;
        let report = memory.verify(Verify::new()).await.unwrap();
        assert_eq!(kinds(&report), [ProblemKind::Stray], "{damage}: {report:#?}");
        let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
        assert!(report.is_sound() && kinds_mended(&report) == [ProblemKind::Stray], "{damage}: {report:#?}");
        sound(&memory).await;
        assert_eq!(found(&memory, &alice()).await, before, "{damage}");
        let begun = store.begin_reembedding(&other).await.unwrap();
        assert_eq!(begun.staged > 0, *goes_on == 1, "{damage}: {begun:?}");
        let report = Reembed::new(store.clone(), GivenVectors::new(32)).run().await.unwrap();
        assert!(report.embedded > 0, "{damage}");
        let memory = worlds::engine(store, GivenVectors::new(32), ManualClock::at(t0())).await.unwrap();
        sound(&memory).await;
    }
}

fn kinds_mended(report: &VerifyReport) -> Vec<ProblemKind> {
    report.mended.iter().map(|problem| problem.kind).collect()
}
