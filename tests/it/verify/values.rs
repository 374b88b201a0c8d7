//! A value in every column of every table that no write puts there: it is refused, or told, and never a panic.

use std::{collections::BTreeSet, path::Path};

use ingrain::{
    BackgroundOptions, Durability, EmbedderIdentity, Error, ErrorKind, ListRequest, ManualClock, MemoryEngine, Message,
    Scope, SqliteStore, StagedVector, VectorStore, Verify, VerifyReport, testing::GivenVectors,
};

use super::alice;
use crate::worlds::t0;

const FIRST: &str = "-9223372036854775808";
const LAST: &str = "9223372036854775807";
const LONG: &str = "printf('%.*c', 2000, 'x')";
const NUL: &str = "CAST(x'6100' AS TEXT)";

/// Beside what is wrong in every column of its type: another type, no value where there is to be one, and bytes that are no
/// text. A column without an entry here does not pass.
const VALUES: &[(&str, &str, &[&str])] = &[
    ("meta", "key", &["'other'", "''"]),
    ("meta", "value", &["'0'", "'-3'", "'64x'", "'many'", "''"]),
    ("memories", "row", &[]),
    ("memories", "id", &["x'0102'", "zeroblob(17)", "x''"]),
    ("memories", "user", &["'  '", LONG, NUL]),
    ("memories", "agent", &["'  '", LONG, NUL]),
    ("memories", "session", &["'  '", LONG, NUL]),
    ("memories", "kind", &["''", "' '"]),
    ("memories", "categories", &["'{'", "'{}'", "'[1]'"]),
    ("memories", "metadata", &["'{'", "'[]'", "'7'"]),
    ("memories", "importance", &["-0.5", "1.5", "9e999", "-9e999"]),
    ("memories", "pinned", &["2", "-1"]),
    ("memories", "speaker", &[]),
    ("memories", "trust", &["'nobody'", "''"]),
    ("memories", "slot", &[]),
    ("memories", "ordinal", &["-1", FIRST, LAST]),
    ("memories", "observed_at", &[FIRST, LAST]),
    ("memories", "valid_at", &[FIRST, LAST]),
    ("memories", "invalid_at", &[FIRST, LAST, "valid_at - 1"]),
    ("memories", "superseded_by", &["x'0102'"]),
    ("memories", "expires_at", &[FIRST, LAST]),
    ("memories", "created_at", &[FIRST, LAST]),
    ("memories", "updated_at", &[FIRST, LAST]),
    ("memories", "access_count", &["-1", FIRST]),
    ("memories", "accessed_at", &[FIRST, LAST]),
    ("memories", "revision", &["0", "-1", FIRST]),
    ("memories", "key_count", &["0", "-1", "7", LAST, FIRST]),
    ("memories", "cues", &[]),
    ("memories", "sources", &["'['", "'{}'", "'[{\"nobody\": 1}]'"]),
    ("memories", "text", &["'something else'"]),
    ("keys", "memory", &["99"]),
    ("keys", "number", &["-1", "99", LAST]),
    ("keys", "text", &[]),
    ("keys", "terms", &["substr(terms, 1, length(terms) - 1)"]),
    (
        "keys",
        "vector",
        &["x''", "x'00'", "zeroblob(4)", "zeroblob(260)", "CAST(x'0000C07F' || substr(vector, 5) AS BLOB)"],
    ),
    ("staged", "memory", &["99"]),
    ("staged", "number", &["-1", "99"]),
    ("staged", "vector", &["x''", "x'00'"]),
    ("places", "user", &["'  '", LONG, NUL]),
    ("places", "agent", &["'  '", LONG, NUL]),
    ("places", "session", &["'  '", LONG, NUL]),
    ("places", "next", &["0", "-1", FIRST, LAST, "9007199254740993"]),
    ("history", "sequence", &[]),
    ("history", "memory", &["x'0102'"]),
    ("history", "user", &["'  '", LONG, NUL]),
    ("history", "agent", &["'  '", LONG, NUL]),
    ("history", "session", &["'  '", LONG, NUL]),
    ("history", "kind", &["'guess'", "''"]),
    ("history", "old_text", &[]),
    ("history", "new_text", &["'something else'"]),
    ("history", "at", &[FIRST, LAST]),
    ("history", "actor", &["'nobody'", "''"]),
    ("history", "call", &["x'0102'"]),
    ("history", "reason", &[]),
    ("changes", "version", &[]),
    ("changes", "id", &["x'0102'"]),
    ("changes", "user", &["'  '", LONG, NUL]),
    ("changes", "agent", &["'  '", LONG, NUL]),
    ("changes", "session", &["'  '", LONG, NUL]),
    ("changes", "semantic", &["2", "-1"]),
    ("changes", "keys", &["2", "-1"]),
    ("entities", "row", &[]),
    ("entities", "id", &["x'0102'"]),
    ("entities", "user", &["'  '", LONG, NUL]),
    ("entities", "agent", &["'  '", LONG, NUL]),
    ("entities", "session", &["'  '", LONG, NUL]),
    ("entities", "name", &["''", "' '", "'somebody else'"]),
    ("entities", "aliases", &["'{'", "'{}'", "'[\"\"]'"]),
    ("entities", "entity_type", &[]),
    ("entities", "summary", &[]),
    ("entities", "metadata", &["'{'", "'[]'"]),
    ("entities", "created_at", &[FIRST, LAST]),
    ("entities", "updated_at", &[FIRST, LAST]),
    ("entities", "merged_into", &["x'0102'", "zeroblob(16)"]),
    ("entity_names", "row", &[]),
    ("entity_names", "entity", &["99"]),
    ("entity_names", "folded", &["''", "'somebody else'"]),
    ("entity_grams", "reader", &["5"]),
    ("entity_grams", "gram", &["5"]),
    ("entity_grams", "name", &["-5"]),
    ("entity_grams", "size", &["-1", "77", LAST]),
    ("relations", "row", &[]),
    ("relations", "id", &["x'0102'"]),
    ("relations", "user", &["'  '", LONG, NUL]),
    ("relations", "agent", &["'  '", LONG, NUL]),
    ("relations", "session", &["'  '", LONG, NUL]),
    ("relations", "subject", &["x'0102'", "zeroblob(16)"]),
    ("relations", "predicate", &["''", "' '"]),
    ("relations", "object", &["x'0102'", "zeroblob(16)"]),
    ("relations", "fact", &[]),
    ("relations", "valid_at", &[FIRST, LAST]),
    ("relations", "invalid_at", &[FIRST, LAST, "valid_at - 1"]),
    ("relations", "created_at", &[FIRST, LAST]),
    ("relations", "expired_at", &[FIRST, LAST, "created_at - 1"]),
    ("relations", "sources", &["x'0102'", "zeroblob(16)", "NULL"]),
    ("relations", "subject_name", &[]),
    ("relations", "object_name", &[]),
    ("relations", "single_valued", &["2", "-1"]),
    ("relations", "seen_at", &["x'0102'", "x'7FFFFFFFFFFFFFFF'"]),
    ("relation_sources", "memory", &["x'0102'", "zeroblob(16)"]),
    ("relation_sources", "relation", &["99"]),
    ("queue", "sequence", &[]),
    ("queue", "id", &["x'0102'"]),
    ("queue", "user", &["'  '", LONG, NUL]),
    ("queue", "agent", &["'  '", LONG, NUL]),
    ("queue", "session", &["'  '", LONG, NUL]),
    ("queue", "state", &["'lost'", "'running'", "''"]),
    ("queue", "queued_at", &[FIRST, LAST]),
    ("queue", "due_at", &[FIRST, LAST]),
    ("queue", "leased_until", &[FIRST, LAST, "0"]),
    ("queue", "memory", &["x'0102'"]),
    ("queue", "attempts", &["-1", "4294967296"]),
    ("queue", "failures", &["-1", "4294967296"]),
    ("queue", "interruptions", &["-1", "4294967296"]),
    ("queue", "failure", &["'{'", "'{}'", "'7'"]),
    ("queue", "request", &["'{'", "'{\"mode\": 7}'", "''", "'7'"]),
    ("conversations", "row", &[]),
    ("conversations", "user", &["'  '", LONG, NUL]),
    ("conversations", "agent", &["'  '", LONG, NUL]),
    ("conversations", "session", &["'  '", LONG, NUL]),
    ("conversations", "first", &["-1", "1", FIRST, LAST]),
    ("conversations", "next", &["-1", "99", FIRST, LAST]),
    ("conversations", "covers_before", &["-1", "99", FIRST, LAST]),
    ("conversations", "summarized_at", &["0", FIRST, LAST]),
    ("conversations", "summary", &["'Of what?'"]),
    ("erased_conversations", "name", &["x'0102'"]),
    ("erased_conversations", "next", &["-1", FIRST, LAST]),
    ("messages", "conversation", &["99"]),
    ("messages", "sequence", &["-1", "99", LAST]),
    ("messages", "role", &["'nobody'", "''"]),
    ("messages", "id", &[]),
    ("messages", "speaker", &[]),
    ("messages", "at", &[FIRST, LAST]),
    ("messages", "tool_calls", &["'{'", "'{}'"]),
    ("messages", "tool_call_id", &[]),
    ("messages", "metadata", &["'{'", "'[]'"]),
    ("messages", "text", &[]),
    ("sqlite_sequence", "seq", &["-1", "0", "'many'", "x'00'", "NULL", LAST, FIRST]),
];

async fn store(path: &Path) -> SqliteStore {
    SqliteStore::builder(path).durability(Durability::Normal).open().await.unwrap()
}

async fn engine(store: SqliteStore) -> Result<MemoryEngine, Error> {
    let builder = MemoryEngine::builder().store(store).embedder(GivenVectors::new(64)).clock(ManualClock::at(t0()));
    builder.background(BackgroundOptions::new().workers(0)).build().await
}

/// A row in every table, as small as may be.
async fn filled(path: &Path) {
    let store = store(path).await;
    let memory = engine(store.clone()).await.unwrap();
    let gone = Scope::user("bob");
    memory.conversation(&gone).unwrap().append([Message::user("Hello.")]).await.unwrap();
    memory.purge(&gone, ingrain::Purge::everything()).await.unwrap();
    let session = alice().with_session("monday");
    memory.add(&session, Message::user("I have a dog named Bruno.")).await.unwrap();
    let said = [Message::user("Hello."), Message::assistant("Hello.")];
    memory.conversation(&session).unwrap().append(said).await.unwrap();
    memory.add_later(&alice(), "I like tea.").await.unwrap();
    let other = EmbedderIdentity::new("other", 2);
    store.begin_reembedding(&other).await.unwrap();
    let key = store.unstaged_keys_of_everyone(&other, None, 1).await.unwrap().remove(0);
    let staged = StagedVector { key, vector: vec![1.0, 0.0] };
    assert_eq!(store.stage_vectors(&other, vec![staged]).await.unwrap(), 1);
    assert!(memory.verify(Verify::new()).await.unwrap().is_sound());
}

/// A column, and what SQLite lets stand there.
#[derive(Clone)]
struct Column {
    table: String,
    name: String,
    kind: String,
    may_be_null: bool,
}

fn columns(path: &Path) -> Vec<Column> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT tables.name, columns.name, columns.type, columns.\"notnull\" = 0 AND columns.pk = 0
         FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(sql).unwrap();
    let column = |row: &rusqlite::Row<'_>| {
        Ok(Column { table: row.get(0)?, name: row.get(1)?, kind: row.get(2)?, may_be_null: row.get(3)? })
    };
    statement.query_map([], column).unwrap().map(Result::unwrap).collect()
}

/// What is wrong in any column of this type.
fn of_type(column: &Column) -> Vec<&'static str> {
    let mut values = match column.kind.as_str() {
        "TEXT" => vec!["x'00'", "CAST(x'FF' AS TEXT)"],
        "INTEGER" | "REAL" => vec!["'x'", "x'00'"],
        "BLOB" => vec!["'x'", "7"],
        other => panic!("a column of the type {other}"),
    };
    if !column.may_be_null {
        values.push("NULL");
    }
    values
}

/// Puts the value into one row, past every constraint that can be passed by. `false` where SQLite lets nobody.
fn put(path: &Path, column: &Column, value: &str) -> bool {
    let Column { table, name, .. } = column;
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    let keys: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")
        .unwrap()
        .query_map([table], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let keys = if keys.is_empty() { "rowid".to_owned() } else { keys.join(", ") };
    let only = match table.as_str() {
        "meta" => " WHERE key = 'dimensions'",
        "sqlite_sequence" => " WHERE name = 'changes'",
        _ => "",
    };
    let sql =
        format!("UPDATE {table} SET {name} = {value} WHERE ({keys}) = (SELECT {keys} FROM {table}{only} LIMIT 1)");
    let redefined = |from: &str, to: &str| {
        let sql = format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{from}', '{to}')
             WHERE name = '{table}'; PRAGMA writable_schema = RESET;"
        );
        connection.execute_batch(&sql).unwrap();
    };
    redefined(" NOT NULL", " /* not */");
    let result = connection.execute(&sql, []);
    redefined(" /* not */", " NOT NULL");
    match result {
        Ok(count) => {
            assert_eq!(count, 1, "{sql}");
            true
        }
        // The key of a table.
        Err(error) => {
            let told = error.to_string();
            assert!(told.contains("NOT NULL") || told.contains("datatype mismatch"), "{sql}: {told}");
            false
        }
    }
}

async fn verified(path: &Path, rebuild: bool) -> Result<VerifyReport, Error> {
    let (store, request) = (store(path).await, Verify::new().rebuild(rebuild));
    match engine(store.clone()).await {
        Ok(memory) => memory.verify(request).await,
        Err(_) => store.verify(&request).await,
    }
}

/// Reads everything that can be.
async fn read(path: &Path) -> Vec<Error> {
    let store = store(path).await;
    let memory = match engine(store.clone()).await {
        Ok(memory) => memory,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    let alice = alice();
    let mut export = memory.export(&alice);
    loop {
        match export.next_line().await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                errors.push(error);
                break;
            }
        }
    }
    errors.extend(memory.search(&alice, "dog").await.err());
    errors.extend(memory.list(&alice, ListRequest::new().include_invalid()).await.err());
    errors.extend(memory.graph(&alice).find("Bruno", 3).await.err());
    errors.extend(memory.graph(&alice).counts().await.err());
    errors.extend(memory.queued_adds(&alice).await.err());
    let conversations = store.companions().conversations.unwrap();
    errors.extend(conversations.messages(&alice.clone().with_session("monday"), 0, 10).await.err());
    errors.extend(conversations.summary(&alice.clone().with_session("monday")).await.err());
    errors.extend(memory.add(&alice.with_session("monday"), Message::user("I like tea.")).await.err());
    errors
}

/// Of one table, so that the tables share the cores.
async fn every_wrong_value_of(tables: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (whole, path) = (folder.path().join("whole.db"), folder.path().join("damaged.db"));
    filled(&whole).await;
    let (mut told, mut refused) = (0, 0);
    for (table, name, values) in VALUES.iter().filter(|(table, ..)| tables.contains(table)) {
        let found = columns(&whole).into_iter().find(|column| column.table == *table && column.name == *name);
        let (column, mut all) = match found {
            Some(column) => (column.clone(), of_type(&column)),
            None => {
                assert_eq!(*table, "sqlite_sequence");
                let [table, name, kind] = [table, name, "INTEGER"].map(str::to_owned);
                (Column { table, name, kind, may_be_null: true }, Vec::new())
            }
        };
        all.extend_from_slice(values);
        for value in all {
            let what = format!("{table}.{name} = {value}");
            for ending in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
            }
            std::fs::copy(&whole, &path).unwrap();
            if !put(&path, &column, value) {
                refused += 1;
                continue;
            }
            told += 1;
            let report = verified(&path, false).await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            assert!(!report.is_sound(), "nothing is told of {what}");
            for error in read(&path).await {
                // SQLite tells that no number is left as it tells a full disk.
                let no_number = *table == "sqlite_sequence" && error.kind() == ErrorKind::StoreUnavailable;
                let is_told = no_number || matches!(error.kind(), ErrorKind::StoreCorrupt | ErrorKind::Conflict);
                assert!(is_told, "{what}: {error:?}");
            }
            let report = verified(&path, true).await.unwrap();
            let left: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
            let after = verified(&path, false).await.unwrap();
            let still: Vec<_> = after.problems.iter().map(|problem| problem.kind).collect();
            assert_eq!(left, still, "{what}: {report:#?} {after:#?}");
            let mended = left.iter().all(|kind| !kind.is_derived());
            assert!(mended || !report.is_sound(), "{what}: {report:#?}");
        }
    }
    assert!(told > refused, "{told} were put, {refused} were refused");
}

#[tokio::test]
async fn every_column_has_its_wrong_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path).await;
    let there: BTreeSet<(String, String)> =
        columns(&path).into_iter().map(|column| (column.table, column.name)).collect();
    let named: BTreeSet<(String, String)> =
        VALUES.iter().map(|(table, column, _)| ((*table).to_owned(), (*column).to_owned())).collect();
    let (sequence, named): (BTreeSet<_>, BTreeSet<_>) =
        named.into_iter().partition(|(table, _)| table == "sqlite_sequence");
    assert_eq!((named, sequence.len()), (there, 1));
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (table, ..) in VALUES {
        let any = connection.prepare(&format!("SELECT 1 FROM {table}")).unwrap().exists([]).unwrap();
        assert!(any, "no row in {table}");
    }
}

#[tokio::test]
async fn wrong_values_of_memories_are_told() {
    every_wrong_value_of(&["memories", "keys", "history"]).await;
}

#[tokio::test]
async fn wrong_values_of_the_graph_are_told() {
    every_wrong_value_of(&["entities", "entity_names", "entity_grams", "relations", "relation_sources"]).await;
}

#[tokio::test]
async fn wrong_values_of_all_else_are_told() {
    let tables = ["meta", "staged", "places", "changes", "sqlite_sequence"];
    every_wrong_value_of(&tables).await;
    every_wrong_value_of(&["queue", "conversations", "erased_conversations", "messages"]).await;
}

/// The file itself refuses what a reader would take for a right value.
#[tokio::test]
async fn what_would_be_read_as_right_is_refused_by_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    filled(&path).await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    for wrong in [
        "UPDATE memories SET kind = ''",
        "UPDATE memories SET importance = 1.5",
        "UPDATE memories SET importance = 9e999",
        "UPDATE memories SET pinned = 2",
        "UPDATE memories SET ordinal = -1",
        "UPDATE memories SET invalid_at = valid_at - 1",
        "UPDATE memories SET access_count = -1",
        "UPDATE memories SET revision = 0",
        "UPDATE memories SET key_count = 0",
        "UPDATE keys SET number = -1",
        "UPDATE places SET next = 0",
        "UPDATE changes SET semantic = 2",
        "UPDATE relations SET expired_at = created_at - 1",
        "UPDATE queue SET attempts = -1",
        "UPDATE conversations SET covers_before = 99",
        "UPDATE erased_conversations SET next = -1",
        "UPDATE messages SET sequence = -1 WHERE sequence = 0",
    ] {
        let error = connection.execute(wrong, []).expect_err(wrong);
        assert!(error.to_string().contains("CHECK constraint failed"), "{wrong}: {error}");
    }
}
