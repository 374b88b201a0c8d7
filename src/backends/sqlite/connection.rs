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
/// The same where each new one derives its key from a passphrase, which takes longer than a cache is worth.
#[cfg(feature = "encryption")]
const IDLE_READERS_BY_PASSPHRASE: usize = 32;

/// One connection that writes and a few that read, all on one file.
pub(super) struct Connections {
    path: Option<PathBuf>,
    settings: SqliteStoreBuilder,
    identity: Option<open::Identity>,
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
        let settings = SqliteStoreBuilder { path: open::absolute(settings.path.as_deref())?, ..settings.clone() };
        let writer = open::writer(&settings)?;
        Ok(Self {
            path: settings.path.clone(),
            identity: settings.path.as_deref().and_then(open::Identity::of),
            settings,
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
        self.check_place()?;
        let idle = lock(&self.readers).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => open::reader(&self.settings)?,
        };
        let result = snapshot(&mut reader, work);
        let mut readers = lock(&self.readers);
        // One that failed is not asked again: SQLCipher's would go on failing, also where the file is sound.
        if readers.len() < self.idle_readers() && !matches!(result, Err(SqliteError::Sqlite(_))) {
            readers.push(reader);
        }
        result
    }

    /// Runs `work` in a write transaction and commits it if it succeeds.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut writer = lock(&self.writer);
        self.check_place()?;
        // Taking the write lock at once: a reader that becomes a writer midway could not wait for its turn.
        let transaction = Transaction::new(&mut writer, TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// As [`write`](Self::write), while nobody looks whether what is written refers to what is there.
    pub(super) fn write_unchecked<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        lock(&self.writer).pragma_update(None, "foreign_keys", false)?;
        let result = self.write(work);
        lock(&self.writer).pragma_update(None, "foreign_keys", true)?;
        result
    }

    fn idle_readers(&self) -> usize {
        #[cfg(feature = "encryption")]
        if super::encryption::derives(&self.settings) {
            return IDLE_READERS_BY_PASSPHRASE;
        }
        IDLE_READERS
    }

    /// Where a system lets an open file be moved or deleted, a write to it would succeed and be lost, and the next reader
    /// would open whatever has its name now.
    fn check_place(&self) -> Result<()> {
        if self.path.as_deref().and_then(open::Identity::of) == self.identity {
            return Ok(());
        }
        let message = "the file was moved, replaced or deleted since it was opened: open the store again, where \
                       it is now, together with its -wal, which has the last writes";
        Err(Error::new(ErrorKind::StoreUnavailable, message).into())
    }

    /// Writes the file anew, without what lies free in it, and empties the write-ahead log.
    pub(super) fn scrub(&self) -> Result<()> {
        let writer = lock(&self.writer);
        self.check_place()?;
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

    /// Whether it is in a file, and not in memory.
    pub(super) const fn is_file(&self) -> bool {
        self.path.is_some()
    }

    /// Runs `work` on a connection of its own to the file, which is opened by these settings and closed afterwards, so that
    /// whatever is attached to it goes with it.
    pub(super) fn apart<T>(&self, work: impl FnOnce(&Connection, &SqliteStoreBuilder) -> Result<T>) -> Result<T> {
        self.check_place()?;
        work(&open::reader(&self.settings)?, &self.settings)
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
        "SELECT name.value, dimensions.value FROM meta AS name, meta AS dimensions
         WHERE name.key = ?1 AND dimensions.key = ?2",
    )?;
    let identity = statement
        .query_row([name, dimensions], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let Some((name, dimensions)) = identity else { return Ok(None) };
    match dimensions.parse() {
        Ok(dimensions) if dimensions > 0 && !name.trim().is_empty() => {
            Ok(Some(EmbedderIdentity::new(name, dimensions)))
        }
        _ => Err(SqliteError::unreadable("embedder", "it has no name, or its width is no positive number")),
    }
}

/// A panic while a connection was in use has rolled its transaction back, so what the lock guards is sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
