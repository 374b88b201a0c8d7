//! The file under a key: SQLCipher in the place of SQLite, which encrypts every page of the file and of its log.

use std::{fmt::Write, fs, io, path::Path};

use rusqlite::{Connection, ErrorCode, ffi, params};

use super::{
    SqliteStore, SqliteStoreBuilder,
    error::{Result, SqliteError},
    open,
};
use crate::{Error, ErrorKind, Secret};

/// What `PRAGMA key` is given.
#[derive(Debug, Clone)]
pub(super) enum Key {
    Passphrase(Secret),
    /// `x'…'`, the notation by which SQLCipher knows that nothing is to be derived.
    Raw(Secret),
}

impl Key {
    fn text(&self) -> &str {
        match self {
            Self::Passphrase(secret) | Self::Raw(secret) => secret.expose(),
        }
    }

    /// What SQLCipher would take for another key than the one that was meant.
    fn check(&self) -> Result<()> {
        let Self::Passphrase(secret) = self else { return Ok(()) };
        let text = secret.expose();
        let why = if text.is_empty() {
            "the passphrase is empty"
        } else if text.contains('\0') {
            // SQL ends there, and the rest of the passphrase would not count.
            "the passphrase has a NUL character"
        } else if is_blob(text) {
            "the passphrase is written as a raw key, x'…': give its bytes to `raw_key`"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Configuration, format!("opening the store: {why}")).into())
    }
}

fn is_blob(text: &str) -> bool {
    let digits = text.strip_prefix(['x', 'X']).and_then(|text| text.strip_prefix('\'')?.strip_suffix('\''));
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl SqliteStoreBuilder {
    /// Encrypts the file, and its log, under a passphrase; a store that is there already is opened by the passphrase it was
    /// made with. Feature `encryption`. Default: no encryption.
    ///
    /// The file is one of SQLCipher 4: pages of 4 KiB under AES-256 in CBC mode, each with an HMAC-SHA512, so that a byte
    /// changed by another is damage that is told; and the key is derived from the passphrase and the file's own salt with
    /// 256,000 rounds of PBKDF2-HMAC-SHA512. That is done for each connection, of which a store opens one for each read that
    /// runs at the same time as others, and takes some half a second: [`raw_key`](Self::raw_key) has nothing to derive.
    /// The passphrase counts byte by byte in UTF-8, whatever characters it has, except NUL.
    ///
    /// ```no_run
    /// # async fn example() -> ingrain::Result<()> {
    /// use ingrain::{ErrorKind, SqliteStore};
    /// # fn ask() -> String { String::new() }
    /// let store = match SqliteStore::builder("memory.db").passphrase(ask()).open().await {
    ///     Err(error) if error.kind() == ErrorKind::WrongKey => panic!("try again"),
    ///     other => other?,
    /// };
    /// # drop(store);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # What is covered, and what not
    /// Whoever finds the files (`memory.db`, `-wal`, `-shm`) reads no text, name, vector or time in them; their size and when
    /// they were written can be seen. Nothing is spilled elsewhere in plain: what SQLite would keep in temporary files is kept
    /// in memory, for a [purge](crate::MemoryEngine::purge) as much as the file has. Not covered is the process: the search
    /// indexes, the answers and the key itself are in its memory in plain, and what it has freed is not wiped
    /// (`cipher_memory_security` would wipe SQLCipher's own part alone, for all of the process and at a price). Nor is what is
    /// sent to a model or an embedder.
    ///
    /// # Another key, or none
    /// [`copy_to`](SqliteStore::copy_to) writes the store into a new file under another key, which is also how a plain file is
    /// encrypted. A lost key cannot be replaced: what is in the file is lost with it.
    pub fn passphrase(mut self, passphrase: impl Into<Secret>) -> Self {
        self.key = Some(Key::Passphrase(passphrase.into()));
        self
    }

    /// As [`passphrase`](Self::passphrase), but under these 256 bits as they are, such as a key management service or the
    /// system's keyring keeps: nothing is derived, so opening takes no time. They should come from a generator of random
    /// numbers. Feature `encryption`. Default: no encryption.
    pub fn raw_key(mut self, key: [u8; 32]) -> Self {
        let mut text = String::with_capacity(2 * key.len() + 3);
        text.push_str("x'");
        for byte in key {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\'');
        self.key = Some(Key::Raw(text.into()));
        self
    }
}

impl SqliteStore {
    /// Copies the whole store, as it is at one moment, into a new file under the key of `target`, or under none: to change
    /// the key, to encrypt a file that was plain, to decrypt one. Feature `encryption`.
    ///
    /// The store stays as it is and may be used meanwhile; what is written after the copy began is not in it. So that nothing
    /// is missed, stop writing, copy, drop every handle, and put the copy in the file's place (and the old file's `-wal` and
    /// `-shm` away, if a process left them). Of `target` the path and the key count.
    ///
    /// ```
    /// # use ingrain::{MemoryEngine, HashingEmbedder, Scope, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (plain, encrypted) = (folder.path().join("plain.db"), folder.path().join("encrypted.db"));
    /// let store = SqliteStore::open(&plain).await?;
    /// store.copy_to(SqliteStore::builder(&encrypted).passphrase("correct horse")).await?;
    /// let store = SqliteStore::builder(&encrypted).passphrase("correct horse").open().await?;
    /// # drop(store);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument): there is a file already, or its path is no UTF-8;
    /// [`Configuration`](ErrorKind::Configuration): the passphrase cannot be one; [`Unsupported`](ErrorKind::Unsupported): the
    /// store is in memory; else as [`SqliteStoreBuilder::open`]. Then no file is left behind.
    pub async fn copy_to(&self, target: SqliteStoreBuilder) -> crate::Result<()> {
        self.blocking("copying the store", move |inner| {
            let (Some(path), Some(_)) = (open::absolute(target.path.as_deref())?, inner.connections.path()) else {
                return Err(Error::new(ErrorKind::Unsupported, "copying the store: it is in memory").into());
            };
            check(&target)?;
            let Some(name) = path.to_str() else {
                return Err(Error::invalid("copying the store: SQLite attaches a file only by a path in UTF-8").into());
            };
            claim(&path)?;
            let copied = inner.connections.apart(|source| {
                let key = target.key.as_ref().map_or("", Key::text);
                copy(source, name, key)
            });
            if copied.is_err() {
                for end in ["", "-journal"] {
                    // What cannot be removed is a file without tables, and no store.
                    let _ = fs::remove_file(format!("{name}{end}"));
                }
            }
            copied
        })
        .await
    }
}

/// Makes the file, so that nobody else's is written over.
fn claim(path: &Path) -> Result<()> {
    match fs::File::create_new(path) {
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::invalid("copying the store: there is a file of that name already").into())
        }
        Err(cause) => Err(Error::new(ErrorKind::StoreUnavailable, "copying the store: the new file cannot be made")
            .with_source(cause)
            .into()),
    }
}

fn copy(source: &Connection, name: &str, key: &str) -> Result<()> {
    // The key is bound, and so in no text that an error might quote.
    source.execute("ATTACH DATABASE ?1 AS copy KEY ?2", params![name, key])?;
    // One transaction: the copy is whole or nothing, and of one moment.
    source.execute_batch("BEGIN")?;
    source.query_row("SELECT sqlcipher_export('copy')", [], |_| Ok(())).map_err(with_its_code)?;
    open::mark(source, Some("copy"))?;
    source.execute_batch("COMMIT; DETACH DATABASE copy")?;
    Ok(())
}

/// `sqlcipher_export` hands on what went wrong in words alone.
fn with_its_code(error: rusqlite::Error) -> rusqlite::Error {
    let rusqlite::Error::SqliteFailure(_, Some(words)) = &error else { return error };
    let codes = [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_FULL, ffi::SQLITE_IOERR, ffi::SQLITE_BUSY];
    let code = codes.into_iter().find(|code| words == ffi::code_to_str(*code));
    match code {
        Some(code) => rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(words.clone())),
        None => error,
    }
}

/// Whether each connection derives its key anew.
pub(super) fn derives(settings: &SqliteStoreBuilder) -> bool {
    matches!(settings.key, Some(Key::Passphrase(_)))
}

/// Refuses a key that cannot be one, before any file is made.
pub(super) fn check(settings: &SqliteStoreBuilder) -> Result<()> {
    settings.key.as_ref().map_or(Ok(()), Key::check)
}

/// Gives the connection its key, before anything else is asked of it.
pub(super) fn unlock(connection: &Connection, settings: &SqliteStoreBuilder) -> Result<()> {
    let Some(key) = &settings.key else { return Ok(()) };
    // SQLCipher would tell the process's stderr of a wrong key.
    connection.pragma_update(None, "cipher_log", "off")?;
    // An error of SQLite quotes the statement, and with it the key: what it says goes no further.
    let given = connection.pragma_update(None, "key", key.text());
    given.map_err(|_| Error::new(ErrorKind::Internal, "opening the store: SQLCipher did not take the key"))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

/// What a file that cannot be read under the key may be. SQLCipher says the same of all: no database.
pub(super) fn explained(error: SqliteError, connection: &Connection, settings: &SqliteStoreBuilder) -> SqliteError {
    let cause = match error {
        SqliteError::Sqlite(cause) if cause.sqlite_error_code() == Some(ErrorCode::NotADatabase) => cause,
        other => return other,
    };
    if settings.key.is_none() {
        return SqliteError::Sqlite(cause);
    }
    // The file begins with its salt, or with the words every plain database begins with.
    let begins: rusqlite::Result<String> = connection.pragma_query_value(None, "cipher_salt", |row| row.get(0));
    let plain = begins.is_ok_and(|begins| begins.eq_ignore_ascii_case("53514c69746520666f726d6174203300"));
    let why = if plain {
        "the file is not encrypted, and a key was given"
    } else {
        "the key does not fit, or the file is no store"
    };
    Error::new(ErrorKind::WrongKey, format!("opening the store: {why}")).with_source(cause).into()
}
