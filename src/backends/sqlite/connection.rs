use std::{
    fmt,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{
    SqliteStoreBuilder,
    error::{Result, SqliteError},
    open,
};
use crate::{EmbedderIdentity, Error, ErrorKind};

/// Idle readers beyond this are closed: each holds a page cache.
const IDLE_READERS: usize = 4;

/// One connection that writes and a few that read, all on one file.
pub(super) struct Connections {
    path: Option<PathBuf>,
    settings: SqliteStoreBuilder,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Connections {
    pub(super) fn open(settings: &SqliteStoreBuilder) -> Result<Self> {
        let writer = open::writer(settings)?;
        Ok(Self {
            path: settings.path.clone(),
            settings: settings.clone(),
            writer: Mutex::new(writer),
            readers: Mutex::default(),
        })
    }

    /// Runs `work` in a read transaction: all it reads is of one version.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        // A database in memory belongs to its one connection.
        if self.path.is_none() {
            return snapshot(&mut lock(&self.writer), work);
        }
        let idle = lock(&self.readers).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => open::reader(&self.settings)?,
        };
        let result = snapshot(&mut reader, work);
        let mut readers = lock(&self.readers);
        if readers.len() < IDLE_READERS {
            readers.push(reader);
        }
        result
    }

    /// Runs `work` in a write transaction and commits it if it succeeds.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut writer = lock(&self.writer);
        // Taking the write lock at once: a reader that becomes a writer midway could not wait for its turn.
        let transaction = Transaction::new(&mut writer, TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Writes the file anew, without what lies free in it, and empties the write-ahead log.
    pub(super) fn scrub(&self) -> Result<()> {
        let writer = lock(&self.writer);
        writer.execute_batch("VACUUM")?;
        if self.path.is_none() {
            return Ok(());
        }
        let busy: bool = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy {
            let message =
                "scrubbing the file: what was removed is still in its log, since somebody else reads; call again";
            return Err(Error::new(ErrorKind::StoreUnavailable, message).into());
        }
        Ok(())
    }
}

fn snapshot<T>(connection: &mut Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let transaction = Transaction::new(connection, TransactionBehavior::Deferred)?;
    let result = work(&transaction)?;
    transaction.finish()?;
    Ok(result)
}

/// Which of the embedders that the file may name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// That of the vectors in use.
    InUse,
    /// That of the vectors that are staged.
    Staged,
}

impl Bound {
    /// The rows of `meta` that hold its name and its width.
    pub(super) const fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::InUse => ("embedder", "dimensions"),
            Self::Staged => ("staged_embedder", "staged_dimensions"),
        }
    }
}

/// The embedder that the state a transaction sees is bound to. Read in each transaction that has to do with vectors, and
/// not remembered: another handle or process may have changed it since. Two look-ups in a table of one page.
pub(super) fn embedder(connection: &Connection) -> Result<Option<EmbedderIdentity>> {
    read_embedder(connection, Bound::InUse)
}

pub(super) fn read_embedder(connection: &Connection, which: Bound) -> Result<Option<EmbedderIdentity>> {
    use rusqlite::OptionalExtension;
    let (name, dimensions) = which.columns();
    let mut statement = connection.prepare_cached(
        "SELECT name.value, CAST(dimensions.value AS INTEGER) FROM meta AS name, meta AS dimensions
         WHERE name.key = ?1 AND dimensions.key = ?2",
    )?;
    let identity = statement
        .query_row([name, dimensions], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    identity
        .map(|(name, dimensions)| match usize::try_from(dimensions) {
            Ok(dimensions) if dimensions > 0 => Ok(EmbedderIdentity::new(name, dimensions)),
            _ => Err(SqliteError::unreadable("width of the vectors", "it is no positive number")),
        })
        .transpose()
}

/// A panic while a connection was in use has rolled its transaction back, so what the lock guards is sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
