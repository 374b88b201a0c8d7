//! There is one version of the schema yet, so the steps are the tests' own, taken by real files.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing step is a failing test")]

use std::{
    io::Write,
    process::{Command, Stdio},
    sync::Barrier,
    time::Duration,
};

use super::*;
use crate::{
    EmbedderIdentity, IndexKey, Memory, MemoryId, Put, Scope, SqliteStore, Timestamp, VectorStore, WriteBatch,
};

/// The schemas of the versions before the present one, oldest first. A step without one does not compile.
const OLDER: [&str; MIGRATIONS.steps.len()] = [];

/// Two steps: a column and its content, and a table that is made anew.
const THREE: Migrations = Migrations { first: 1, steps: &[colours, places_anew] };

fn colours(connection: &Connection) -> Result<()> {
    connection
        .execute_batch("ALTER TABLE memories ADD COLUMN colour TEXT; UPDATE memories SET colour = 'c' || row;")?;
    Ok(())
}

/// Other tables refer to this one. That it is made anew leaves a mark, which must come but once.
fn places_anew(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TABLE memories_anew AS SELECT * FROM memories;
         DROP TABLE memories_anew;
         CREATE TABLE places_anew (user TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, next INTEGER NOT NULL,
             PRIMARY KEY (user, agent, session)) WITHOUT ROWID;
         INSERT INTO places_anew SELECT * FROM places;
         DROP TABLE places;
         ALTER TABLE places_anew RENAME TO places;
         INSERT INTO meta (key, value) SELECT 'steps ' || count(*), 'taken' FROM meta WHERE key LIKE 'steps%';",
    )?;
    Ok(())
}

fn fails(_: &Connection) -> Result<()> {
    Err(Error::new(ErrorKind::Internal, "told to fail").into())
}

fn fails_in_sql(connection: &Connection) -> Result<()> {
    Ok(connection.execute_batch("DELETE FROM history; INSERT INTO memories (row) VALUES (1);")?)
}

/// Leaves keys that belong to no memory.
fn breaks_references(connection: &Connection) -> Result<()> {
    Ok(connection.execute_batch("DELETE FROM memories WHERE row IN (SELECT min(row) FROM memories);")?)
}

fn settings(path: &Path) -> SqliteStoreBuilder {
    SqliteStore::builder(path).busy_timeout(Duration::from_secs(120))
}

/// A real store of the present version, with as many memories as said.
async fn filled(path: &Path, count: u64) {
    let store = settings(path).open().await.unwrap();
    store.bind(&EmbedderIdentity::new("test", 2)).await.unwrap();
    let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap();
    let mut batch = WriteBatch::default();
    for number in 0..count {
        let memory = Memory::new(MemoryId::new(now), Scope::user("alice"), format!("Owns kayak {number}"), now);
        batch.puts.push(Put::new(memory.clone(), vec![IndexKey::new(memory.text, vec![1.0, 0.0])]));
    }
    store.apply(batch).await.unwrap();
}

fn open(path: &Path, migrations: Migrations) -> crate::Result<i32> {
    let connection = open::writer_at(&settings(path), migrations).map_err(|error| error.told("opening"))?;
    Ok(version(&connection))
}

fn version(connection: &Connection) -> i32 {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// The version of a file, and all that its tables hold.
fn content(path: &Path) -> (i32, Vec<String>) {
    let connection = Connection::open(path).unwrap();
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let mut content = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let text = |column| match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other => format!("{other:?}"),
            };
            let values: Vec<String> = (0..columns).map(text).collect();
            content.push(format!("{table} {}", values.join(" ")));
        }
        content.push(table);
    }
    let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    (version(&connection), content)
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm")).collect();
    names.sort();
    names
}

fn layout(connection: &Connection) -> Vec<(String, String)> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").unwrap();
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut layout: Vec<(String, String)> = found.collect::<rusqlite::Result<_>>().unwrap();
    layout.sort();
    layout
}

/// From the schema of each version the steps that are left lead to the present one.
#[test]
fn the_steps_lead_to_the_schema() {
    let fresh = Connection::open_in_memory().unwrap();
    fresh.execute_batch(open::SCHEMA).unwrap();
    for (from, schema) in (MIGRATIONS.first..).zip(OLDER) {
        let older = Connection::open_in_memory().unwrap();
        older.execute_batch(schema).unwrap();
        take_steps(&older, from, MIGRATIONS).unwrap_or_else(|error| panic!("from version {from}: {error}"));
        assert_eq!(layout(&older), layout(&fresh), "from version {from}");
    }
    let made = open::writer(&SqliteStoreBuilder { path: None, ..settings(Path::new("")) }).unwrap_or_else(|_| panic!());
    assert_eq!(version(&made), MIGRATIONS.version());
    assert_eq!(layout(&made), layout(&fresh));
}

#[tokio::test]
async fn an_older_file_is_copied_and_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 20).await;
    let before = content(&path);
    assert_eq!(open(&path, THREE).unwrap(), 3);
    let (version, after) = content(&path);
    assert_eq!(version, 3);
    let of_memories = |content: &[String]| content.iter().filter(|row| row.starts_with("memories ")).count();
    assert_eq!((of_memories(&after), of_memories(&before.1)), (20, 20));
    assert!(after.iter().filter(|row| row.contains("steps 0")).count() == 1, "{after:?}");
    // The copy is the file as it was, and the version that wrote it opens it.
    let backup = folder.path().join("memory.db.v1.bak");
    assert_eq!(content(&backup), before);
    assert_eq!(open(&backup, MIGRATIONS).unwrap(), 1);
    assert_eq!(names(folder.path()), ["memory.db", "memory.db.v1.bak"]);
    // Once is enough.
    assert_eq!(open(&path, THREE).unwrap(), 3);
    assert_eq!(content(&path).1, after);
    assert_eq!(names(folder.path()).len(), 2);
}

#[tokio::test]
async fn a_step_in_between_begins_where_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 3).await;
    assert_eq!(open(&path, Migrations { first: 1, steps: &[colours] }).unwrap(), 2);
    assert_eq!(open(&path, THREE).unwrap(), 3);
    assert_eq!(names(folder.path()), ["memory.db", "memory.db.v1.bak", "memory.db.v2.bak"]);
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_file_as_it_was() {
    let failing: [(&'static [Step], ErrorKind); 5] = [
        (&[fails], ErrorKind::Internal),
        (&[colours, fails], ErrorKind::Internal),
        (&[colours, places_anew, fails], ErrorKind::Internal),
        (&[places_anew, fails_in_sql], ErrorKind::StoreCorrupt),
        (&[colours, breaks_references], ErrorKind::StoreCorrupt),
    ];
    for (steps, kind) in failing {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        filled(&path, 5).await;
        let before = content(&path);
        let error = open(&path, Migrations { first: 1, steps }).expect_err("a step fails");
        assert_eq!((error.kind(), error.backend()), (kind, Some("sqlite")), "{error:?}");
        assert!(error.to_string().contains("from version 1"), "{error}");
        assert_eq!(content(&path), before);
        assert_eq!(names(folder.path()), ["memory.db"], "nothing is left of the copy");
        assert_eq!(open(&path, MIGRATIONS).unwrap(), 1, "what knows this version goes on with it");
    }
}

#[tokio::test]
async fn no_backup_is_ever_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 5).await;
    let before = content(&path);
    fs::write(folder.path().join("memory.db.v1.bak"), "mine").unwrap();
    // Of a process that was killed while it copied.
    fs::write(folder.path().join("memory.db.v1.bak.part"), "half").unwrap();
    assert_eq!(open(&path, THREE).unwrap(), 3);
    assert_eq!(fs::read(folder.path().join("memory.db.v1.bak")).unwrap(), b"mine");
    assert_eq!(content(&folder.path().join("memory.db.v1.bak.2")), before);
    assert_eq!(names(folder.path()), ["memory.db", "memory.db.v1.bak", "memory.db.v1.bak.2"]);
}

#[tokio::test]
async fn a_backup_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 5).await;
    let settings = settings(&path).backup_before_migration(false);
    drop(open::writer_at(&settings, THREE).map_err(|error| error.told("opening")).unwrap());
    assert_eq!((content(&path).0, names(folder.path())), (3, vec!["memory.db".to_owned()]));
}

/// The copy cannot be written where a folder is in its way: then nothing is migrated.
#[tokio::test]
async fn without_its_backup_nothing_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 5).await;
    let before = content(&path);
    fs::create_dir(folder.path().join("memory.db.v1.bak.part")).unwrap();
    let error = open(&path, THREE).expect_err("the copy has no place");
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error:?}");
    assert_eq!(content(&path), before);
}

#[tokio::test]
async fn versions_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 1).await;
    for (version, kind) in [(4, ErrorKind::StoreVersion), (0, ErrorKind::StoreCorrupt), (-1, ErrorKind::StoreCorrupt)] {
        Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
        let error = open(&path, THREE).expect_err("no version of this crate");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(&version.to_string()), "{error}");
    }
    assert_eq!(names(folder.path()), ["memory.db"]);
}

#[tokio::test]
async fn of_several_that_come_at_once_one_migrates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path, 50).await;
    let gate = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                gate.wait();
                assert_eq!(open(&path, THREE).unwrap(), 3);
            });
        }
    });
    let marks = content(&path).1.iter().filter(|row| row.contains("steps ")).count();
    assert_eq!((marks, names(folder.path()).len()), (1, 2));
}

/// Tells the process that it is the second one, and which file to use.
const FILE: &str = "INGRAIN_TEST_MIGRATED_FILE";

/// Whenever the process is killed, the file is of the old version or the new one, whole; what it was is in a copy by the
/// time it is of the new one.
#[tokio::test]
async fn a_kill_leaves_the_old_version_or_the_new_one() {
    if let Some(path) = std::env::var_os(FILE) {
        let mut out = std::io::stdout();
        out.write_all(b"begun\n").unwrap();
        out.flush().unwrap();
        open(Path::new(&path), THREE).unwrap();
        return;
    }
    let (mut old, mut new) = (0, 0);
    for round in 0..24_u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        filled(&path, 400).await;
        let before = content(&path);
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "backends::sqlite::migrate::tests::a_kill_leaves_the_old_version_or_the_new_one"])
            .args(["--nocapture", "--test-threads=1"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = std::io::BufReader::new(process.stdout.take().unwrap());
        let begun = std::io::BufRead::lines(out).map_while(std::result::Result::ok).any(|line| line.ends_with("begun"));
        assert!(begun, "the process has come to the test");
        // How far it comes meanwhile is chance, and the last ones come to their end.
        if round < 20 {
            std::thread::sleep(Duration::from_micros(round * 1_500));
            process.kill().unwrap();
        }
        process.wait().unwrap();
        let after = content(&path);
        match after.0 {
            1 => {
                old += 1;
                assert_eq!(after, before);
            }
            3 => {
                new += 1;
                assert_eq!(content(&folder.path().join("memory.db.v1.bak")), before);
            }
            other => panic!("version {other}"),
        }
        // The next one ends it.
        assert_eq!(open(&path, THREE).unwrap(), 3);
        assert!(!names(folder.path()).iter().any(|name| name.ends_with(".part")));
        assert_eq!(content(&folder.path().join("memory.db.v1.bak")), before);
    }
    assert!(new >= 4 && old + new == 24, "{old} old, {new} new");
}

/// What is made beside an encrypted file is encrypted under the same key.
#[cfg(feature = "encryption")]
#[tokio::test]
async fn the_backup_of_an_encrypted_file_is_encrypted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let keyed = |path: &Path| settings(path).passphrase("correct horse");
    let store = keyed(&path).open().await.unwrap();
    store.bind(&EmbedderIdentity::new("test", 2)).await.unwrap();
    let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap();
    let memory = Memory::new(MemoryId::new(now), Scope::user("alice"), "Owns a kayak", now);
    let mut batch = WriteBatch::default();
    batch.puts.push(Put::new(memory.clone(), vec![IndexKey::new(memory.text, vec![1.0, 0.0])]));
    store.apply(batch).await.unwrap();
    drop(store);
    drop(open::writer_at(&keyed(&path), THREE).map_err(|error| error.told("opening")).unwrap());
    let mut files = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"kayak" || part == b"alice"));
        files += 1;
    }
    assert!(files >= 2, "the file and its backup");
    let backup = keyed(&folder.path().join("memory.db.v1.bak")).open().await.unwrap();
    assert_eq!(backup.count(&Scope::user("alice"), None, crate::Validity::Any).await.unwrap(), 1);
    let other = settings(&folder.path().join("memory.db.v1.bak")).passphrase("another").open().await;
    assert_eq!(other.unwrap_err().kind(), ErrorKind::WrongKey);
}
