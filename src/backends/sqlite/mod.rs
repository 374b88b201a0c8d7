//! One SQLite file: memories, keys, history, the graph, conversations and the queue of adds, with a write-ahead
//! log.
//!
//! The file is the truth. Search runs on indexes in memory, one for each scope that was asked lately, which follow the
//! file through its list of changes: whoever wrote them, this handle, another or another process. Beside each key's
//! vector the file has the terms of its text, and beside each memory its cues, so that building an index reads rows and
//! analyses nothing. The rows of one user lie together, whoever else wrote between them.

mod connection;
mod conversations;
mod copy;
#[cfg(feature = "encryption")]
mod encryption;
mod entries;
mod error;
mod graph_read;
mod graph_rows;
mod graph_store;
mod graph_write;
mod index_source;
mod migrate;
mod names;
mod open;
mod queue;
mod reembed;
mod rows;
mod salvage;
mod vector_store;
mod verify;
mod write;

use std::{path::PathBuf, sync::Arc, time::Duration};

use connection::Connections;

use rusqlite::Connection;
pub use salvage::Salvaged;

use crate::{Error, ErrorKind, Result, index::IndexCache};

/// How far a write has come when it returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// On the disk: it survives a loss of power. `synchronous = FULL`.
    #[default]
    Full,
    /// With the operating system: it survives the end of the process, however sudden; a loss of power may take the
    /// last writes, whole ones, and leaves the file sound. Several times faster. `synchronous = NORMAL`.
    Normal,
}

/// Memories in one SQLite file, which several handles and processes may share. Clones share the connections.
///
/// While it is open, the file has a log beside it (`-wal`) with what was written last: to back it up, use
/// [`copy_to`](Self::copy_to), for a copy of the file alone may lack that, or be torn.
///
/// Work on the file runs on tokio's blocking threads, so every call must be made inside a tokio runtime; outside one it
/// fails with [`Configuration`](ErrorKind::Configuration).
///
/// ```no_run
/// # async fn example() -> ingrain::Result<()> {
/// use ingrain::{MemoryEngine, SqliteStore};
/// let store = SqliteStore::builder("memory.db").cache_bytes(64 << 20).open().await?;
/// let memory = MemoryEngine::builder().store(store).build().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SqliteStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections: Connections,
    cache: IndexCache,
}

/// Settings of a [`SqliteStore`].
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteStoreBuilder {
    /// `None` for a database in memory.
    path: Option<PathBuf>,
    busy_timeout: Duration,
    cache_bytes: usize,
    durability: Durability,
    backup_before_migration: bool,
    #[cfg(feature = "encryption")]
    key: Option<encryption::Key>,
}

impl SqliteStore {
    /// Opens the file, or makes it, with default settings.
    ///
    /// # Errors
    /// As [`SqliteStoreBuilder::open`].
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Self::builder(path).open().await
    }

    /// A database in memory: the same code without a file.
    ///
    /// # Errors
    /// As [`SqliteStoreBuilder::open`].
    pub async fn open_in_memory() -> Result<Self> {
        SqliteStoreBuilder { path: None, ..Self::builder("") }.open().await
    }

    /// Settings for a file.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteStoreBuilder {
        SqliteStoreBuilder {
            path: Some(path.into()),
            busy_timeout: Duration::from_secs(10),
            cache_bytes: 256 << 20,
            durability: Durability::Full,
            backup_before_migration: true,
            #[cfg(feature = "encryption")]
            key: None,
        }
    }

    /// Runs `work` on a blocking thread. It runs to its end even if the caller goes away, so a write is never half
    /// done.
    async fn blocking<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Inner) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        let inner = Arc::clone(&self.0);
        run_blocking(doing, move || work(&inner)).await
    }

    /// Runs `work` on a blocking thread, on a connection that sees one state of the file.
    async fn reading<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.blocking(doing, move |inner| inner.connections.read(work)).await
    }

    /// Runs `work` on a blocking thread, in a transaction that is rolled back if it fails.
    async fn writing<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.blocking(doing, move |inner| inner.connections.write(work)).await
    }
}

impl SqliteStoreBuilder {
    /// How long a call waits for another process that is writing. Default 10 seconds.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many bytes the search indexes of all scopes may take together; the least used are dropped first, and read
    /// from the file again when they are asked for. A memory of a sentence takes about 1.3 KiB with the built-in
    /// embedder. A scope whose index alone is larger than all of it is searched all the same: its index pushes out the
    /// others and stays until another scope is asked for. Default 256 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// How far a write has come when it returns. Default [`Durability::Full`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether a file that an older version of the crate wrote is copied before its schema is brought up to this one: to
    /// `<file>.v<version>.bak` beside it, or `….bak.2` and so on, for nothing is ever written over. The copy is a store that
    /// the older version opens; it takes as much room as what is stored, has all of it, and is yours to remove, also when
    /// something is [purged](crate::MemoryEngine::purge). Default: yes.
    pub fn backup_before_migration(mut self, backup: bool) -> Self {
        self.backup_before_migration = backup;
        self
    }

    /// Opens the file, or makes it. A file that is refused is left as it was.
    ///
    /// A file of an older version is brought up to this one, in one transaction: it is of the old or the new version, whole,
    /// whenever the process ends, and as it was after an error. Of several processes that come at once one does it, and the
    /// others wait, as long as [`busy_timeout`](Self::busy_timeout) says. Programs of the older version must have closed it.
    ///
    /// # Errors
    /// [`StoreCorrupt`](ErrorKind::StoreCorrupt): damaged, or no store of this crate;
    /// [`StoreVersion`](ErrorKind::StoreVersion): written by a newer version;
    /// [`Configuration`](ErrorKind::Configuration): the path leads into no folder, which is not made, or is a folder;
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable): it cannot be opened, or stays locked.
    pub async fn open(self) -> Result<SqliteStore> {
        let doing = "opening the store";
        let cache = IndexCache::new(self.cache_bytes);
        let connections = run_blocking(doing, move || Connections::open(&self)).await?;
        Ok(SqliteStore(Arc::new(Inner { connections, cache })))
    }
}

async fn run_blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> error::Result<T> + Send + 'static,
) -> Result<T> {
    let runtime = tokio::runtime::Handle::try_current().map_err(|cause| {
        Error::new(ErrorKind::Configuration, format!("{doing}: the call is made outside a tokio runtime"))
            .with_backend("sqlite")
            .with_source(cause)
    })?;
    match runtime.spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| error.told(doing)),
        Err(cause) => {
            let kind = if cause.is_cancelled() { ErrorKind::StoreUnavailable } else { ErrorKind::Internal };
            Err(Error::new(kind, format!("{doing}: the work was broken off")).with_backend("sqlite").with_source(cause))
        }
    }
}
