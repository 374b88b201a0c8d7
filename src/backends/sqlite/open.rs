//! Opening a file, or making it, without touching one that is not ours.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

#[cfg(feature = "encryption")]
use super::encryption;
use super::{
    Durability, SqliteStoreBuilder, copy,
    error::{Result, SqliteError},
    migrate::{self, MIGRATIONS, Migrations},
};
use crate::{Error, ErrorKind};

/// Marks the file as a store of this crate: "ingr".
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"ingr");
/// What a new file has.
pub(super) const SCHEMA: &str = include_str!("schema.sql");

pub(super) fn writer(settings: &SqliteStoreBuilder) -> Result<Connection> {
    writer_at(settings, MIGRATIONS)
}

/// Opens a file at the last version of these.
pub(super) fn writer_at(settings: &SqliteStoreBuilder, migrations: Migrations) -> Result<Connection> {
    let Some(path) = &settings.path else {
        let mut connection = Connection::open_in_memory()?;
        configure(&connection, settings)?;
        create(&mut connection)?;
        return Ok(connection);
    };
    look_at(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, settings)?;
    if connection.is_readonly("main")? {
        let message = "opening the store: the file cannot be written to, as it must be also to be read";
        return Err(Error::new(ErrorKind::StoreUnavailable, message).into());
    }
    connection.busy_timeout(settings.busy_timeout)?;
    // One transaction, or another process might make the store between two of the questions.
    let snapshot = Transaction::new(&mut connection, TransactionBehavior::Deferred)?;
    let content = check(&snapshot, migrations);
    #[cfg(feature = "encryption")]
    let content = content.map_err(|error| encryption::explained(error, &snapshot, settings));
    let content = content?;
    snapshot.finish()?;
    match content {
        Content::Nothing => create(&mut connection)?,
        Content::Older(_) => migrate::migrate(&mut connection, settings, migrations)?,
        Content::Store => {}
    }
    use_write_ahead_log(&connection, settings.busy_timeout)?;
    configure(&connection, settings)?;
    Ok(connection)
}

pub(super) fn reader(settings: &SqliteStoreBuilder) -> Result<Connection> {
    let path = settings.path.as_deref().unwrap_or_else(|| Path::new(""));
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, settings)?;
    configure(&connection, settings)?;
    Ok(connection)
}

/// A connection that never writes, on a file of this version that is there and nobody else has open.
pub(super) fn only_reader(settings: &SqliteStoreBuilder) -> Result<Connection> {
    let path = absolute(settings.path.as_deref())?.unwrap_or_default();
    look_at(&path)?;
    if !path.exists() {
        let message = format!("salvaging the store: there is no file {}", path.display());
        return Err(Error::new(ErrorKind::Configuration, message).into());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = if copy::beside(&path, "-wal").exists() {
        connect(&path, flags, settings)?
    } else {
        // SQLite would put an empty log beside it, which nobody who only reads takes away.
        connect(&immutable(&path), flags | OpenFlags::SQLITE_OPEN_URI, settings)?
    };
    connection.busy_timeout(settings.busy_timeout)?;
    // Of a file that was cut off, what there is can be read.
    connection.pragma_update(None, "writable_schema", true)?;
    let content = check(&connection, MIGRATIONS);
    #[cfg(feature = "encryption")]
    let content = content.map_err(|error| encryption::explained(error, &connection, settings));
    match content? {
        Content::Store => Ok(connection),
        Content::Older(version) => {
            let message = format!("salvaging the store: its schema is version {version}, not the one of this crate");
            Err(Error::new(ErrorKind::StoreVersion, message).into())
        }
        Content::Nothing => {
            Err(Error::new(ErrorKind::StoreCorrupt, "salvaging the store: there is nothing in the file").into())
        }
    }
}

/// The name by which SQLite knows a file that nobody changes.
fn immutable(path: &Path) -> PathBuf {
    let mut name = String::from("file://");
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.starts_with(b"/") {
        name.push('/');
    }
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => name.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => name.push(char::from(*byte)),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    PathBuf::from(name + "?immutable=1")
}

/// The path from the root on: what begins otherwise may be a name of SQLite's own (`:memory:`, `file:…`), and would be
/// another file once the process has changed its folder.
pub(super) fn absolute(path: Option<&Path>) -> Result<Option<PathBuf>> {
    let absolute = path.map(std::path::absolute).transpose();
    absolute.map_err(|cause| {
        let message = "opening the store: its path is empty, or there is no current folder";
        Error::new(ErrorKind::Configuration, message).with_source(cause).into()
    })
}

/// By what a file is known whatever its name. Windows lets nobody move or delete an open one.
#[derive(PartialEq)]
pub(super) struct Identity(#[cfg(unix)] (u64, u64));

impl Identity {
    pub(super) fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            std::fs::metadata(path).ok().map(|metadata| Self((metadata.dev(), metadata.ino())))
        }
        #[cfg(not(unix))]
        Some(path).map(|_| Self())
    }
}

/// The one way to a connection on a file: none is without the key.
#[cfg_attr(not(feature = "encryption"), expect(unused_variables, reason = "only the key is asked for"))]
fn connect(path: &Path, flags: OpenFlags, settings: &SqliteStoreBuilder) -> Result<Connection> {
    #[cfg(feature = "encryption")]
    encryption::check(settings)?;
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    #[cfg(feature = "encryption")]
    encryption::unlock(&connection, settings)?;
    Ok(connection)
}

/// Refuses a folder, and a file too short to be a database. The file itself is left to SQLite: whoever opens and closes
/// it beside takes the locks of every connection in the process with it, that is how POSIX has it.
fn look_at(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        // SQLite takes a file that is shorter than its smallest page for a new one, and writes over it.
        Ok(metadata) if (1..512).contains(&metadata.len()) && metadata.is_file() => {
            Err(Error::new(ErrorKind::StoreCorrupt, "opening the store: the file is no SQLite database").into())
        }
        Ok(metadata) if metadata.is_dir() => {
            let message = format!("opening the store: {} is a folder", path.display());
            Err(Error::new(ErrorKind::Configuration, message).into())
        }
        _ => in_a_folder(path, "opening the store"),
    }
}

/// Refuses a path into no folder: nobody makes folders here, so that no later try would go better.
pub(super) fn in_a_folder(path: &Path, doing: &str) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let is_one = match std::fs::metadata(folder) {
        Ok(metadata) => metadata.is_dir(),
        Err(cause) => cause.kind() != std::io::ErrorKind::NotFound,
    };
    if is_one {
        return Ok(());
    }
    let message = format!("{doing}: there is no folder {}", folder.display());
    Err(Error::new(ErrorKind::Configuration, message).into())
}

/// Whether the header of a plain database says that it is a store of this crate.
pub(super) fn is_ours(header: &[u8]) -> bool {
    header.starts_with(b"SQLite format 3\0") && header.get(68..72) == Some(&APPLICATION_ID.to_be_bytes())
}

#[derive(PartialEq)]
pub(super) enum Content {
    Nothing,
    /// A store of this earlier version.
    Older(i32),
    Store,
}

pub(super) fn check(connection: &Connection, migrations: Migrations) -> Result<Content> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if application == 0 && tables == 0 {
        return Ok(Content::Nothing);
    }
    if application != APPLICATION_ID {
        return Err(Error::new(
            ErrorKind::StoreCorrupt,
            "opening the store: the file is a SQLite database of another program",
        )
        .into());
    }
    let known = migrations.version();
    if version < migrations.first {
        let message = format!("opening the store: its schema is version {version}, which never was one");
        return Err(Error::new(ErrorKind::StoreCorrupt, message).into());
    }
    if version > known {
        return Err(Error::new(
            ErrorKind::StoreVersion,
            format!("opening the store: its schema is version {version}, this crate knows {known}"),
        )
        .into());
    }
    Ok(if version < known { Content::Older(version) } else { Content::Store })
}

fn create(connection: &mut Connection) -> Result<()> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if check(&transaction, MIGRATIONS)? == Content::Nothing {
        transaction.execute_batch(SCHEMA)?;
        mark(&transaction, None)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Marks a database as a store of this version.
pub(super) fn mark(connection: &Connection, database: Option<&str>) -> rusqlite::Result<()> {
    connection.pragma_update(database, "application_id", APPLICATION_ID)?;
    connection.pragma_update(database, "user_version", MIGRATIONS.version())
}

/// Switching the journal needs the file for itself for a moment, and SQLite does not wait for that on its own.
fn use_write_ahead_log(connection: &Connection, timeout: Duration) -> Result<()> {
    const STEP: Duration = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => {
                return Err(Error::new(
                    ErrorKind::StoreUnavailable,
                    "opening the store: its file system does not allow a write-ahead log",
                )
                .into());
            }
            Err(error) if waited < timeout && is_busy(&error) => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            Err(error) => return Err(SqliteError::Sqlite(error)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn configure(connection: &Connection, settings: &SqliteStoreBuilder) -> Result<()> {
    connection.busy_timeout(settings.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let synchronous = match settings.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(())
}
