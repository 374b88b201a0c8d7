//! The store as it is at one moment, in another file, while it is in use.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

#[cfg(feature = "encryption")]
use super::encryption;
use super::{
    SqliteStore, SqliteStoreBuilder,
    error::{Result, SqliteError},
    open,
};
use crate::{Error, ErrorKind};

impl SqliteStore {
    /// Copies the whole store, as it is at one moment, into a new file: to back it up, and with the feature `encryption` also
    /// to change its key, to encrypt a file that was plain, or to decrypt one. Of `target` the path and the key count; without
    /// a key the copy is plain, whatever the store is.
    ///
    /// The store stays as it is and may be used meanwhile, by other processes too: nobody waits for the copy. What is written
    /// after it began is not in it. It has everything (memories with their vectors and histories, the graph, conversations,
    /// queued adds, of everyone) and nothing of what was removed. When the call returns, it is on the disk. Until then it is
    /// made beside the target, under the target's name and `.part`; under its own name there is a whole store or nothing.
    ///
    /// A piece that a killed process left there is taken away by the next copy to the same target, once its lock says that
    /// nobody works on it and it looks like what this makes. A piece of an encrypted copy looks like nothing, and so is to
    /// be removed by hand, as is one on a file system that knows no locks, and on Windows.
    ///
    /// ```
    /// # use ingrain::{MemoryEngine, HashingEmbedder, Scope, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (path, backup) = (folder.path().join("memory.db"), folder.path().join("backup.db"));
    /// let store = SqliteStore::open(&path).await?;
    /// store.copy_to(SqliteStore::builder(&backup)).await?;
    /// let restored = SqliteStore::open(&backup).await?; // a store as any other
    /// # drop(restored);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// With the feature `encryption`, `SqliteStore::builder(path).passphrase(…)` as the target gives the copy a key. To let it
    /// take the store's place, so that nothing is missed: stop writing, copy, drop every handle, and put the copy in the file's
    /// place (and the old file's `-wal` and `-shm` away, if a process left them).
    ///
    /// # Why not copy the file
    /// While a store is open, a copy of its file by other means (`cp`, a backup of the folder) **is not safe**: what was
    /// written last is in the file's log, `-wal`, alone, and a copy that is made while somebody writes has pages of two moments.
    /// Only when every handle in every process is dropped, and no `-wal` is left, is the file all there is.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument): there is a file already, be it of a copy that is being made or
    /// cannot be told from one, or its path is no UTF-8; [`Configuration`](ErrorKind::Configuration): there is no such folder, or the passphrase cannot be
    /// one;
    /// [`Unsupported`](ErrorKind::Unsupported): the store is in memory; else as [`SqliteStoreBuilder::open`]. Then no file is
    /// left behind.
    pub async fn copy_to(&self, target: SqliteStoreBuilder) -> crate::Result<()> {
        self.blocking("copying the store", move |inner| {
            let Some(path) = open::absolute(target.path.as_deref())?.filter(|_| inner.connections.is_file()) else {
                return Err(Error::new(ErrorKind::Unsupported, "copying the store: it is in memory").into());
            };
            #[cfg(feature = "encryption")]
            encryption::check(&target)?;
            let part = beside(&path, ".part");
            let Some(name) = part.to_str() else {
                return Err(
                    Error::invalid("copying the store: SQLite takes the new file only by a path in UTF-8").into()
                );
            };
            let held = claim(&path, &part)?;
            let copied = inner.connections.apart(|source, settings| write(source, settings, name, &target));
            let copied = copied.and_then(|()| publish(&part, &path));
            for end in ["", "-journal"] {
                // What cannot be removed is no store by its name.
                let _ = fs::remove_file(format!("{name}{end}"));
            }
            // Whoever waits for the lock finds no file by that name, or another.
            drop(held);
            copied
        })
        .await
    }
}

/// Makes the file that is written to, so that nobody else's is written over, and holds it, so that nobody takes it for a
/// piece that was left.
pub(super) fn claim(path: &Path, part: &Path) -> Result<fs::File> {
    open::in_a_folder(path, "copying the store")?;
    if path.symlink_metadata().is_ok() {
        return Err(taken("there is a file of that name already"));
    }
    match fs::File::create_new(part) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
        made => return held(made.map_err(unwritten)?, part),
    }
    if !remove_piece(part).map_err(unwritten)? {
        return Err(in_the_making());
    }
    match fs::File::create_new(part) {
        // Somebody was faster.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(in_the_making()),
        made => held(made.map_err(unwritten)?, part),
    }
}

fn in_the_making() -> SqliteError {
    taken(
        "there is a file of that name and `.part` already: a copy is being made, or it is none of this crate's, or a \
         piece of which that cannot be told and which is to be removed",
    )
}

/// The file with its lock, where there are locks. One that somebody took for a piece meanwhile is nobody's any more.
fn held(file: fs::File, part: &Path) -> Result<fs::File> {
    match lock(&file) {
        Lock::Held | Lock::Unknown if is_at(&file, part) => Ok(file),
        _ => Err(in_the_making()),
    }
}

enum Lock {
    Held,
    Taken,
    /// The file system has none.
    Unknown,
}

/// An advisory lock of the whole file, which goes with the process. It is none of those that SQLite takes.
#[cfg(unix)]
fn lock(file: &fs::File) -> Lock {
    match file.try_lock() {
        Ok(()) => Lock::Held,
        Err(fs::TryLockError::WouldBlock) => Lock::Taken,
        Err(fs::TryLockError::Error(_)) => Lock::Unknown,
    }
}

/// A lock would keep SQLite from writing, too.
#[cfg(not(unix))]
fn lock(_: &fs::File) -> Lock {
    Lock::Unknown
}

/// Whether the file is the one of that name.
fn is_at(file: &fs::File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (Ok(file), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
        (file.dev(), file.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Takes away what a killed process left of a copy. `false` if it may be anything else.
fn remove_piece(part: &Path) -> io::Result<bool> {
    // A link leads to what may be somebody's.
    if !fs::symlink_metadata(part).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(false);
    }
    // To be written to, since a lock over a network is of one that is.
    let mut file = match fs::OpenOptions::new().read(true).write(true).open(part) {
        Ok(file) => file,
        Err(_) => return Ok(false),
    };
    if !matches!(lock(&file), Lock::Held) || !is_at(&file, part) || !is_piece(&mut file)? {
        return Ok(false);
    }
    // Taken away, and not written over: it may have another name, that of a copy whose maker was killed at the very end.
    fs::remove_file(part)?;
    Ok(true)
}

/// Whether a file is nothing yet, the beginning of a store of this crate, or pages of which the first is still to come.
fn is_piece(file: &mut fs::File) -> io::Result<bool> {
    use io::Read;
    // It grows by pages, of which the smallest has 512 bytes.
    if !file.metadata()?.len().is_multiple_of(512) {
        return Ok(false);
    }
    let mut beginning = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut beginning)?;
    Ok(beginning.iter().all(|byte| *byte == 0) || open::is_ours(&beginning))
}

/// How long the header of a database is, <https://sqlite.org/fileformat.html#the_database_header>.
const HEADER: usize = 100;

#[cfg_attr(not(feature = "encryption"), expect(unused_variables, reason = "only the keys are asked for"))]
fn write(source: &Connection, settings: &SqliteStoreBuilder, name: &str, target: &SqliteStoreBuilder) -> Result<()> {
    #[cfg(feature = "encryption")]
    if encryption::concerns(settings, target) {
        return encryption::copy(source, name, target);
    }
    // One read of the file, which holds up nobody.
    source.execute("VACUUM INTO ?1", [name])?;
    Ok(())
}

/// Gives the copy its name, which nothing else has, and has both on the disk.
pub(super) fn publish(part: &Path, path: &Path) -> Result<()> {
    fs::OpenOptions::new().write(true).open(part).and_then(|file| file.sync_all()).map_err(unwritten)?;
    // A second name takes nobody's place, as a new one would.
    match fs::hard_link(part, path) {
        Ok(()) => {}
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            return Err(taken("there is a file of that name already"));
        }
        // Some file systems know one name a file.
        Err(_) if path.symlink_metadata().is_err() => fs::rename(part, path).map_err(unwritten)?,
        Err(cause) => return Err(unwritten(cause)),
    }
    sync_folder(path).map_err(|cause| {
        // Told as not made, so it is not there.
        let _ = fs::remove_file(path);
        unwritten(cause)
    })
}

/// The name of a file is on the disk with its folder, where a system lets folders be opened.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        fs::File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The path with something at its end.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn taken(what: &str) -> SqliteError {
    Error::invalid(format!("copying the store: {what}")).into()
}

fn unwritten(cause: io::Error) -> SqliteError {
    let message = "copying the store: the new file cannot be written";
    Error::new(ErrorKind::StoreUnavailable, message).with_source(cause).into()
}
