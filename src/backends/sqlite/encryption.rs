//! The file under a key: SQLCipher in the place of SQLite, which encrypts every page of the file and of its log.

use std::fmt::Write;

use rusqlite::{Connection, ErrorCode, ffi, params};

use super::{
    SqliteStoreBuilder,
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
    /// [`copy_to`](super::SqliteStore::copy_to) writes the store into a new file under another key, which is also how a plain file is
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

/// Whether a copy is anything but plain pages of plain pages, which SQLite itself can write.
pub(super) fn concerns(source: &SqliteStoreBuilder, target: &SqliteStoreBuilder) -> bool {
    source.key.is_some() || target.key.is_some()
}

/// Copies everything that the connection sees at one moment into the file, which is there and empty, under its key or none.
pub(super) fn copy(source: &Connection, name: &str, target: &SqliteStoreBuilder) -> Result<()> {
    let key = target.key.as_ref().map_or("", Key::text);
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
