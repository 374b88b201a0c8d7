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
    /// made beside the target, under the target's name and `.part`, of which a killed process may leave a piece, to be
    /// removed before the next try; under its own name there is a whole store or nothing.
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
    /// [`InvalidArgument`](ErrorKind::InvalidArgument): there is a file already, be it of a copy that is being made, or its
    /// path is no UTF-8; [`Configuration`](ErrorKind::Configuration): the passphrase cannot be one;
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
            claim(&path, &part)?;
            let copied = inner.connections.apart(|source, settings| write(source, settings, name, &target));
            let copied = copied.and_then(|()| publish(&part, &path));
            for end in ["", "-journal"] {
                // What cannot be removed is no store by its name.
                let _ = fs::remove_file(format!("{name}{end}"));
            }
            copied
        })
        .await
    }
}

/// Makes the file that is written to, so that nobody else's is written over.
fn claim(path: &Path, part: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(taken("there is a file of that name already"));
    }
    match fs::File::create_new(part) {
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(taken(
            "there is a file of that name and `.part` already: a copy is being made, or was broken off and is to be removed",
        )),
        Err(cause) => Err(unwritten(cause)),
    }
}

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
fn publish(part: &Path, path: &Path) -> Result<()> {
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
