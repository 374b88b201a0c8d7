//! What can still be read of a damaged file, in a new one.

use std::{fs, path::Path};

use rusqlite::{
    Connection,
    types::{Value, ValueRef},
};

use super::{
    SqliteStore, SqliteStoreBuilder,
    connection::Connections,
    copy,
    error::{Result, SqliteError},
    open, run_blocking,
    verify::{self, readable, unreadable_rows},
};
use crate::{Error, ErrorKind, Verify, VerifyReport};

const DOING: &str = "salvaging the store";

/// What was saved of a damaged file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Salvaged {
    /// In how many places rows were lost: a row that cannot be read, or a run of rows on damaged pages.
    pub gaps: u64,
    /// What the new store has, and what is still wrong with it. Keys that were lost are
    /// [made anew](crate::MemoryEngine::verify) by an engine, which has an embedder.
    pub report: VerifyReport,
}

impl SqliteStore {
    /// Saves what can still be read of a damaged file into a new store, where there is no backup to go back to. Nobody may
    /// have the file open; it stays as it is.
    ///
    /// Row after row is read, past pages that cannot be, and what is derived is made anew as far as a store can do that by
    /// itself. Let an engine with the same embedder do the rest: `verify(Verify::new().rebuild(true))` makes lost keys of
    /// their memories' texts. What was staged for another embedder is left out; start [`Reembed`](crate::Reembed) again.
    ///
    /// Only what tells by itself that it is wrong is left out. A text whose letters were changed on the disk is a text; the
    /// report names its memory, as one whose history tells another.
    ///
    /// ```no_run
    /// # async fn example() -> ingrain::Result<()> {
    /// use ingrain::{MemoryEngine, SqliteStore, Verify};
    /// let saved = SqliteStore::salvage(SqliteStore::builder("damaged.db"), SqliteStore::builder("saved.db")).await?;
    /// println!("{} memories, {} gaps", saved.report.checked.memories, saved.gaps);
    /// let memory = MemoryEngine::open("saved.db").await?;
    /// let report = memory.verify(Verify::new().rebuild(true)).await?;
    /// println!("{} left to look at", report.problems.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`StoreCorrupt`](ErrorKind::StoreCorrupt): the file is no store, or so damaged that it does not tell its tables;
    /// [`StoreVersion`](ErrorKind::StoreVersion): it is of another version of the crate;
    /// [`Configuration`](ErrorKind::Configuration): there is no such file; else as [`copy_to`](Self::copy_to). Then no file is left behind.
    pub async fn salvage(damaged: SqliteStoreBuilder, target: SqliteStoreBuilder) -> crate::Result<Salvaged> {
        let place = target.path.clone();
        let (path, part, held, gaps) = run_blocking(DOING, move || {
            let Some(path) = open::absolute(place.as_deref())? else {
                return Err(Error::new(ErrorKind::Unsupported, "salvaging the store: into memory").into());
            };
            let source = open::only_reader(&damaged)?;
            let part = copy::beside(&path, ".part");
            let held = copy::claim(&path, &part)?;
            let begun = SqliteStoreBuilder { path: Some(part.clone()), ..target };
            let saved = Connections::open(&begun).and_then(|target| target.write_unchecked(|to| save(&source, to)));
            match saved {
                Ok(gaps) => Ok((path, (part, begun), held, gaps)),
                Err(error) => {
                    remove(&part);
                    Err(error)
                }
            }
        })
        .await?;
        let (part, begun) = part;
        let verified = async {
            let store = begun.open().await?;
            let report = verify::verify(&store, &Verify::new().rebuild(true)).await?;
            // All of it in the file, none of it in its log, which goes.
            store.blocking(DOING, |inner| inner.connections.scrub()).await?;
            Ok(report)
        };
        let verified = verified.await;
        run_blocking(DOING, move || {
            let published = match &verified {
                Ok(_) => copy::publish(&part, &path),
                Err(_) => Ok(()),
            };
            remove(&part);
            drop(held);
            published.map(|()| verified)
        })
        .await?
        .map(|report| Salvaged { gaps, report })
    }
}

/// The piece that was worked on, and what SQLite has beside it.
fn remove(part: &Path) {
    for end in ["", "-journal", "-wal", "-shm"] {
        // What cannot be removed is no store by its name.
        let _ = fs::remove_file(copy::beside(part, end));
    }
}

/// Tables whose rows have a number, in an order in which what they refer to comes before them.
const NUMBERED: [(&str, &str); 6] = [
    ("memories", "row"),
    ("history", "sequence"),
    ("entities", "row"),
    ("relations", "row"),
    ("conversations", "row"),
    ("queue", "sequence"),
];

/// Copies all that can be read, and says in how many places something could not.
fn save(source: &Connection, to: &Connection) -> Result<u64> {
    let mut gaps = 0;
    for (table, number) in NUMBERED {
        gaps += run(source, to, &Run { table, within: String::new(), number })?;
    }
    // Some of what is read whole cannot be meant so.
    for (table, row) in unreadable_rows(to)? {
        let number = NUMBERED.iter().find(|(name, _)| *name == table).map(|(_, number)| *number);
        let Some(number) = number else { continue };
        gaps += to.execute(&format!("DELETE FROM {table} WHERE {number} = ?1"), [row])? as u64;
    }
    for (table, owner, column) in [("keys", "memories", "memory"), ("messages", "conversations", "conversation")] {
        let number = if table == "keys" { "number" } else { "sequence" };
        for row in numbers(to, owner)? {
            gaps += run(source, to, &Run { table, within: format!("{column} = {row} AND"), number })?;
        }
    }
    for sql in [
        "SELECT key, value FROM meta WHERE key IN ('embedder', 'dimensions')",
        "SELECT name, next FROM erased_conversations",
    ] {
        let table = if sql.contains("meta") { "meta" } else { "erased_conversations" };
        gaps += u64::from(readable(each(source, sql, [], |values| insert(to, table, values)))?.is_none());
    }
    gaps += whole_conversations(to)?;
    // Vectors are of use only by the embedder they are of.
    to.execute_batch(
        "DELETE FROM keys WHERE (SELECT count(*) FROM meta) < 2;
         DELETE FROM meta WHERE (SELECT count(*) FROM meta) < 2;
         DELETE FROM relations WHERE subject NOT IN (SELECT id FROM entities) OR object NOT IN (SELECT id FROM entities);
         UPDATE entities SET merged_into = NULL WHERE merged_into NOT IN (SELECT id FROM entities);",
    )?;
    Ok(gaps)
}

fn numbers(connection: &Connection, table: &str) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(&format!("SELECT row FROM {table} ORDER BY row"))?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// A run of rows that follow one another by a number.
struct Run {
    table: &'static str,
    /// What else holds of them, with `AND` at its end.
    within: String,
    number: &'static str,
}

/// Copies a run, and says how often it was broken off.
fn run(source: &Connection, to: &Connection, run: &Run) -> Result<u64> {
    let Run { table, within, number } = run;
    let sql = format!("SELECT *, {number} FROM {table} WHERE {within} {number} >= ?1 ORDER BY {number}");
    let (mut from, mut gaps) = (i64::MIN, 0);
    loop {
        let mut last = None;
        let copied = each(source, &sql, [from], |mut values| {
            if let Some(Value::Integer(number)) = values.pop() {
                last = Some(number);
            }
            insert(to, table, values)
        });
        if readable(copied)?.is_some() {
            return Ok(gaps);
        }
        gaps += 1;
        // A number that was damaged may lead back to where this began.
        let read_to = last.map(|last| last.max(from));
        let Some(next) = read_to.map_or(Some(from), |row| row.checked_add(1)) else { return Ok(gaps) };
        match beyond(source, run, next)? {
            Some(next) => from = next,
            None => return Ok(gaps),
        }
    }
}

/// Where to go on after a row that cannot be read, at `from` or later: behind it, or behind the pages that it lies on.
fn beyond(source: &Connection, run: &Run, from: i64) -> Result<Option<i64>> {
    let Run { table, within, number } = run;
    let sql = format!("SELECT {number} FROM {table} WHERE {within} {number} >= ?1 ORDER BY {number} LIMIT 1");
    // The number of the next row, as far as the way to it can be read.
    let next = |from: i64| -> Result<Option<Option<i64>>> {
        let mut found = None;
        let read = readable(each(source, &sql, [from], |values| {
            found = values.into_iter().next();
            Ok(())
        }))?;
        // Where the numbers are not in order, what is found may lie before.
        Ok(read.and_then(|()| match found {
            Some(Value::Integer(number)) => (number >= from).then_some(Some(number)),
            _ => Some(None),
        }))
    };
    if let Some(found) = next(from)? {
        // Its page can be read, it cannot.
        return Ok(found.and_then(|number| number.checked_add(1)));
    }
    let (mut low, mut step) = (from, 1_i64);
    let mut high = loop {
        let Some(at) = low.checked_add(step) else { return Ok(None) };
        if next(at)?.is_some() {
            break at;
        }
        (low, step) = (at, step.saturating_mul(2));
    };
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if next(middle)?.is_some() { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

/// Hands on the rows of a query. A text that is none ends it as damage does.
fn each(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    mut take: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut found = statement.query(parameters)?;
    while let Some(row) = found.next()? {
        let value = |column| match row.get_ref(column)? {
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Value::Text(text.to_owned())),
                Err(cause) => Err(SqliteError::unreadable("text", cause)),
            },
            ValueRef::Null => Ok(Value::Null),
            ValueRef::Integer(number) => Ok(Value::Integer(number)),
            ValueRef::Real(number) => Ok(Value::Real(number)),
            ValueRef::Blob(bytes) => Ok(Value::Blob(bytes.to_vec())),
        };
        take((0..columns).map(value).collect::<Result<_>>()?)?;
    }
    Ok(())
}

/// A row that the table does not take, since its values cannot be, is passed over.
fn insert(to: &Connection, table: &str, values: Vec<Value>) -> Result<()> {
    let places = vec!["?"; values.len()].join(", ");
    let mut statement = to.prepare_cached(&format!("INSERT OR IGNORE INTO {table} VALUES ({places})"))?;
    statement.execute(rusqlite::params_from_iter(values))?;
    Ok(())
}

/// Lets each conversation begin after its last gap, and end with its last message; says in how many something was amiss.
fn whole_conversations(to: &Connection) -> Result<u64> {
    let mut gaps = 0;
    for row in numbers(to, "conversations")? {
        let mut statement =
            to.prepare_cached("SELECT sequence FROM messages WHERE conversation = ?1 ORDER BY sequence DESC")?;
        let copied: Vec<i64> = statement.query_map([row], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut there = Vec::new();
        for sequence in copied {
            if verify::can_be_read(to, [row, sequence])? {
                there.push(sequence);
            } else {
                to.prepare_cached("DELETE FROM messages WHERE conversation = ?1 AND sequence = ?2")?
                    .execute([row, sequence])?;
            }
        }
        let Some(last) = there.first() else { continue };
        let first = there.iter().zip((0..=*last).rev()).take_while(|(there, wanted)| *there == wanted).last();
        let first = first.map_or(*last, |(first, _)| *first);
        to.prepare_cached("DELETE FROM messages WHERE conversation = ?1 AND sequence < ?2")?.execute([row, first])?;
        let mut statement = to.prepare_cached(
            "UPDATE conversations SET first = ?2, next = ?3 + 1, covers_before = min(covers_before, ?3 + 1)
             WHERE row = ?1 AND (first <> ?2 OR next <> ?3 + 1)",
        )?;
        gaps += statement.execute([row, first, *last])? as u64;
    }
    // Those of which no message is left go on where they had been.
    gaps += to.execute(
        "UPDATE conversations SET first = next WHERE first <> next
         AND NOT EXISTS (SELECT 1 FROM messages WHERE conversation = conversations.row)",
        [],
    )? as u64;
    Ok(gaps)
}
