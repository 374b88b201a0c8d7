//! Looking through the file: part after part, each a page of rows at a time. A page is read in one snapshot, so what others
//! write meanwhile is seen whole; what is mended of it is mended in one transaction, from what is stored by then.

mod changes;
mod conversations;
mod file;
mod graph;
mod history;
mod keys;
mod memories;
mod meta;
mod names;
mod places;

pub(super) use conversations::can_be_read;
use rusqlite::{Connection, Row, ffi::SQLITE_IOERR_SHORT_READ};

use super::{
    Inner, SqliteStore,
    connection::embedder,
    error::{Result, SqliteError, missing},
    index_source::Snapshot,
    rows::{self, Id},
};
use crate::{
    Error, ErrorKind, MemoryId, ProblemKind, ProblemPlace, Scope, Verify, VerifyCounts, VerifyReport,
    index::{Compared, IndexMark},
};

/// How many rows are read in one snapshot.
const PAGE: i64 = 500;

const DOING: &str = "verifying the store";

/// Numbers of a row: those of its key, or its own and zeros.
type At = [i64; 3];

/// A part of the file.
struct Part {
    name: &'static str,
    /// Looks at the rows above a place, and says up to where, if there are more.
    look: fn(&Connection, Option<At>, &mut Page) -> Result<Option<At>>,
    /// Makes anew what is derived and wrong, whatever has become of it since it was looked at.
    mend: fn(&Connection, &Fault) -> Result<()>,
}

/// In an order in which what is mended first is of use to what comes later.
const PARTS: [Part; 15] = [
    file::LAYOUT,
    file::PAGES,
    meta::PART,
    file::REFERENCES,
    places::PART,
    memories::PART,
    history::PART,
    changes::PART,
    graph::ENTITIES,
    names::PART,
    graph::RELATIONS,
    conversations::CONVERSATIONS,
    conversations::MESSAGES,
    conversations::ERASED,
    conversations::QUEUE,
];

#[derive(Debug, Clone)]
struct Fault {
    kind: ProblemKind,
    place: ProblemPlace,
    at: At,
    /// Of another version of the crate, and no problem.
    outdated: bool,
}

/// What was seen on a page.
#[derive(Debug, Default)]
struct Page {
    /// The width of the vectors, once an embedder is bound.
    dimensions: Option<usize>,
    faults: Vec<Fault>,
    looked_at: u64,
    counts: VerifyCounts,
    next: Option<At>,
    /// What SQLite's own check says of values.
    values: Vec<String>,
}

impl Page {
    fn fault(&mut self, kind: ProblemKind, place: ProblemPlace, at: At) {
        self.faults.push(Fault { kind, place, at, outdated: false });
    }

    fn unreadable(&mut self, table: &'static str, row: i64) {
        self.fault(ProblemKind::Unreadable, ProblemPlace::Row(table, row), [row, 0, 0]);
    }
}

pub(super) async fn verify(store: &SqliteStore, request: &Verify) -> crate::Result<VerifyReport> {
    let (mut report, mut values) = (VerifyReport::default(), Vec::new());
    for part in &PARTS {
        values.extend(look_through(store, part, request, &mut report).await?);
    }
    // No row was found that says so.
    if report.problems.is_empty() && report.mended.is_empty() {
        values.into_iter().for_each(|told| report.note(ProblemKind::DamagedFile, ProblemPlace::Part(told)));
    }
    let (stale, held) = store.blocking(DOING, compare_indexes).await?;
    request.tell("search indexes", held);
    if stale.is_empty() {
        return Ok(report);
    }
    if request.rebuilds() {
        store.0.cache.forget();
    }
    for scope in stale {
        // Whose it is stays out of a report; how many parts it names helps to find it.
        let parts = rows::parts(&scope).iter().filter(|part| !part.is_empty()).count();
        let place = ProblemPlace::Part(format!("the index in memory of a scope of {parts} parts"));
        if request.rebuilds() {
            report.note_mended(ProblemKind::SearchIndex, place);
        } else {
            report.note(ProblemKind::SearchIndex, place);
        }
    }
    Ok(report)
}

/// Gives what SQLite's own check says of values.
async fn look_through(
    store: &SqliteStore,
    part: &'static Part,
    request: &Verify,
    report: &mut VerifyReport,
) -> crate::Result<Vec<String>> {
    let (mut after, mut looked_at, mut values) = (None, 0, Vec::new());
    loop {
        let page = store.blocking(DOING, move |inner| look(inner, part, after)).await;
        let page = match page {
            // The rest of the table is out of reach.
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                report.note(ProblemKind::DamagedFile, ProblemPlace::Part(part.name.to_owned()));
                return Ok(values);
            }
            page => page?,
        };
        looked_at += page.looked_at;
        add(&mut report.checked, page.counts);
        values.extend(page.values);
        note(store, part, request, report, page.faults).await?;
        request.tell(part.name, looked_at);
        after = page.next;
        if after.is_none() {
            return Ok(values);
        }
    }
}

fn look(inner: &Inner, part: &Part, after: Option<At>) -> Result<Page> {
    inner.connections.read(|connection| {
        let dimensions = readable(embedder(connection))?.flatten().map(|embedder| embedder.dimensions);
        let mut page = Page { dimensions, ..Page::default() };
        page.next = (part.look)(connection, after, &mut page)?;
        Ok(page)
    })
}

async fn note(
    store: &SqliteStore,
    part: &'static Part,
    request: &Verify,
    report: &mut VerifyReport,
    faults: Vec<Fault>,
) -> crate::Result<()> {
    let (mendable, mut left): (Vec<Fault>, Vec<Fault>) =
        faults.into_iter().partition(|fault| request.rebuilds() && fault.kind.is_derived());
    let needs_embedder = |fault: &Fault| matches!(fault.kind, ProblemKind::Keys | ProblemKind::Vector);
    let (of_keys, mendable): (Vec<Fault>, Vec<Fault>) = mendable.into_iter().partition(needs_embedder);
    if mend(store, part, mendable.clone()).await? {
        mendable.into_iter().for_each(|fault| report.note_mended(fault.kind, fault.place));
    } else {
        // What one of them would be made from is damaged.
        for fault in mendable {
            if mend(store, part, vec![fault.clone()]).await? {
                report.note_mended(fault.kind, fault.place);
            } else {
                left.push(fault);
            }
        }
    }
    for fault in of_keys {
        match request.restorer() {
            Some(restorer) if keys::mend(store, restorer, &fault).await? => report.note_mended(fault.kind, fault.place),
            _ => left.push(fault),
        }
    }
    for fault in left {
        if fault.outdated {
            report.outdated += 1;
        } else {
            report.note(fault.kind, fault.place);
        }
    }
    Ok(())
}

/// Whether all of it could be made anew; if not, nothing was.
async fn mend(store: &SqliteStore, part: &'static Part, faults: Vec<Fault>) -> crate::Result<bool> {
    if faults.is_empty() {
        return Ok(true);
    }
    let mend = move |connection: &Connection| faults.iter().try_for_each(|fault| (part.mend)(connection, fault));
    match store.writing(DOING, mend).await {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => Ok(false),
        Err(error) => Err(error),
    }
}

fn add(sum: &mut VerifyCounts, more: VerifyCounts) {
    let VerifyCounts { memories, keys, events, entities, relations, messages, queued_adds } = more;
    sum.memories += memories;
    sum.keys += keys;
    sum.events += events;
    sum.entities += entities;
    sum.relations += relations;
    sum.messages += messages;
    sum.queued_adds += queued_adds;
}

/// The scopes whose index in memory is another than the file has, and how many there are.
fn compare_indexes(inner: &Inner) -> Result<(Vec<Scope>, u64)> {
    let held = inner.cache.held();
    let mut stale = Vec::new();
    for scope in &held {
        let same = inner.connections.read(|connection| {
            let Some(embedder) = readable(embedder(connection))?.flatten() else { return Ok(true) };
            let snapshot = Snapshot { connection, embedder: &embedder };
            match inner.cache.marks(scope, &snapshot) {
                Ok(Compared::Marks(marks)) => Ok(marks == marks_of(connection, scope)?),
                Ok(Compared::Elsewhere) => Ok(true),
                // Told of the row that cannot be read.
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => Ok(true),
                Err(error) => Err(error.into()),
            }
        });
        match same {
            Ok(true) => {}
            Ok(false) => stale.push(scope.clone()),
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((stale, held.len() as u64))
}

/// What the index of a scope is to have of each memory.
fn marks_of(connection: &Connection, scope: &Scope) -> Result<Vec<(MemoryId, IndexMark)>> {
    let [user, agent, session] = rows::parts(scope);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, updated_at, access_count, invalid_at, (SELECT count(*) FROM keys WHERE memory = row)
         FROM memories WHERE {} ORDER BY id",
        super::write::covered(scope)
    ))?;
    let parts = rusqlite::named_params! { ":user": user, ":agent": agent, ":session": session };
    let mut found = statement.query(parts)?;
    let mut marks = Vec::new();
    while let Some(row) = found.next()? {
        let mark = IndexMark {
            updated_at: row.get::<_, rows::Time>(1)?.0,
            access_count: rows::whole(row.get(2)?, "access count")?,
            invalid_at: row.get::<_, Option<rows::Time>>(3)?.map(|time| time.0),
            keys: usize::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
        };
        marks.push((row.get::<_, Id>(0)?.0, mark));
    }
    Ok(marks)
}

/// The rows that cannot be read or say what they cannot, by table and number; of messages, which have none of their own, tells
/// [`can_be_read`].
pub(super) fn unreadable_rows(connection: &Connection) -> Result<Vec<(&'static str, i64)>> {
    let mut rows = Vec::new();
    for part in [memories::PART, history::PART, graph::ENTITIES, graph::RELATIONS, conversations::CONVERSATIONS]
        .into_iter()
        .chain([conversations::QUEUE])
    {
        let mut after = None;
        loop {
            let mut page = Page::default();
            after = (part.look)(connection, after, &mut page)?;
            let unreadable = page.faults.into_iter().filter(|fault| fault.kind == ProblemKind::Unreadable);
            rows.extend(unreadable.map(|fault| match fault.place {
                ProblemPlace::Row(table, row) => (table, row),
                _ => (part.name, fault.at[0]),
            }));
            if after.is_none() {
                break;
            }
        }
    }
    Ok(rows)
}

/// What could be read, or `None` for what is damaged; an error that passes is one.
pub(super) fn readable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_damage(error: &SqliteError) -> bool {
    match error {
        SqliteError::Unreadable { .. } => true,
        SqliteError::Sqlite(cause) => {
            cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
                || cause.sqlite_error().is_some_and(|told| told.extended_code == SQLITE_IOERR_SHORT_READ)
                || missing(cause).is_some()
        }
        SqliteError::Refused(error) => error.kind() == ErrorKind::StoreCorrupt,
    }
}

/// The numbers of the next rows of a table, and where to go on after them. One row that is damaged then hides no other.
fn rows_after(connection: &Connection, table: &str, number: &str, after: Option<At>) -> Result<(Vec<i64>, Option<At>)> {
    let [after, ..] = after.unwrap_or([i64::MIN; 3]);
    let sql = format!("SELECT {number} FROM {table} WHERE {number} > ?1 ORDER BY {number} LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows: Vec<i64> = statement.query_map([after, PAGE], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let next = rows.last().filter(|_| rows.len() as i64 == PAGE).map(|last| [*last, 0, 0]);
    Ok((rows, next))
}

/// Reads the one row that the statement gives.
fn read_row<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(parameters)?;
    found.next()?.map(read).transpose()
}

fn is_scope(scope: &Scope) -> Result<()> {
    scope.validate().map_err(|error: Error| SqliteError::unreadable("scope", error))
}

/// Of a part of which nothing is derived.
fn nothing_to_mend(_: &Connection, _: &Fault) -> Result<()> {
    Ok(())
}
