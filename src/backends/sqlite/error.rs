use std::ffi::c_int;

use rusqlite::{ErrorCode, ffi};

use crate::{Error, ErrorKind};

/// What can go wrong inside, before it is told in the crate's terms.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteError {
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[error("a stored {column} cannot be read")]
    Unreadable { column: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Refused(#[from] Error),
}

impl From<rusqlite::Error> for SqliteError {
    /// A value of another type or length than its column has is damage, whatever else the database can do.
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
        match error {
            FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..) => {
                Self::unreadable("value", error)
            }
            _ => Self::Sqlite(error),
        }
    }
}

pub(super) type Result<T, E = SqliteError> = std::result::Result<T, E>;

impl SqliteError {
    pub(super) fn unreadable(
        column: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Unreadable { column, source: source.into() }
    }

    /// The one conversion; `doing` says what was being done.
    pub(super) fn told(self, doing: &str) -> Error {
        match self {
            Self::Refused(error) => error.with_backend("sqlite"),
            Self::Unreadable { column, source } => {
                Error::new(ErrorKind::StoreCorrupt, format!("{doing}: the stored {column} cannot be read"))
                    .with_backend("sqlite")
                    .with_source(source)
            }
            Self::Sqlite(cause) => {
                let (kind, why) = match missing(&cause) {
                    Some(what) => (ErrorKind::StoreCorrupt, format!("its tables are not those of its version: {what}")),
                    None => {
                        let (kind, why) = explained(&cause);
                        (kind, why.to_owned())
                    }
                };
                Error::new(kind, format!("{doing}: {why}")).with_backend("sqlite").with_source(cause)
            }
        }
    }
}

/// What the caller does next, and what SQLite's code says of the file and its disk.
fn explained(cause: &rusqlite::Error) -> (ErrorKind, &'static str) {
    use ErrorKind::{InvalidArgument, StoreCorrupt, StoreUnavailable};
    let Some(told) = cause.sqlite_error() else { return (StoreUnavailable, "the database failed") };
    match told.code {
        ErrorCode::DatabaseCorrupt => (StoreCorrupt, "the file is damaged"),
        ErrorCode::NotADatabase => (StoreCorrupt, "the file is no SQLite database, or is encrypted and needs its key"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            (StoreUnavailable, "another process holds the file")
        }
        ErrorCode::ReadOnly if told.extended_code == ffi::SQLITE_READONLY_DIRECTORY => {
            (StoreUnavailable, "its folder cannot be written to, as it must be for the log beside the file")
        }
        ErrorCode::ReadOnly => (StoreUnavailable, "the file cannot be written to"),
        ErrorCode::DiskFull => (StoreUnavailable, FULL),
        ErrorCode::CannotOpen => (StoreUnavailable, "the file, or the log beside it, cannot be opened"),
        ErrorCode::PermissionDenied => (StoreUnavailable, "the file may not be opened"),
        ErrorCode::OutOfMemory => (StoreUnavailable, MEMORY),
        ErrorCode::TooBig => (InvalidArgument, "a text is longer than the database takes"),
        ErrorCode::ConstraintViolation
            if matches!(told.extended_code, ffi::SQLITE_CONSTRAINT_NOTNULL | ffi::SQLITE_CONSTRAINT_CHECK) =>
        {
            (StoreCorrupt, "what is to be written does not fit what is stored: have it looked through by `verify`")
        }
        ErrorCode::SystemIoFailure => io(told.extended_code),
        _ => (StoreUnavailable, "the database failed"),
    }
}

const FULL: &str = "the disk is full";
const MEMORY: &str = "there is not enough memory";

/// Which call of the operating system failed, <https://sqlite.org/rescode.html#ioerr>. What the system said of it SQLite
/// keeps to itself.
fn io(code: c_int) -> (ErrorKind, &'static str) {
    use ErrorKind::{StoreCorrupt, StoreUnavailable};
    match code {
        // The shared index of the log is made as long as it must be before it is used: what fails is making room.
        ffi::SQLITE_IOERR_SHMSIZE => (StoreUnavailable, FULL),
        ffi::SQLITE_IOERR_NOMEM => (StoreUnavailable, MEMORY),
        ffi::SQLITE_IOERR_DATA | ffi::SQLITE_IOERR_CORRUPTFS => (StoreCorrupt, "the file is damaged on its disk"),
        ffi::SQLITE_IOERR_SHORT_READ => (StoreCorrupt, "the file was cut off"),
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_FSTAT => (StoreUnavailable, "the disk failed to read the file"),
        ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE => {
            (StoreUnavailable, "the disk, or a limit on the size of files, refuses what is to be written")
        }
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC | ffi::SQLITE_IOERR_CLOSE => {
            (StoreUnavailable, "the disk does not confirm what was written")
        }
        ffi::SQLITE_IOERR_LOCK
        | ffi::SQLITE_IOERR_RDLOCK
        | ffi::SQLITE_IOERR_UNLOCK
        | ffi::SQLITE_IOERR_CHECKRESERVEDLOCK
        | ffi::SQLITE_IOERR_SHMOPEN
        | ffi::SQLITE_IOERR_SHMMAP
        | ffi::SQLITE_IOERR_SHMLOCK => {
            (StoreUnavailable, "the file system does not lock the file, or does not share the log's index")
        }
        ffi::SQLITE_IOERR_DELETE => (StoreUnavailable, "a file beside it cannot be removed"),
        _ => (StoreUnavailable, "the disk failed"),
    }
}

/// The table or column of ours that is missing, in SQLite's words, which name nothing else: trying again will not bring it
/// back.
pub(super) fn missing(cause: &rusqlite::Error) -> Option<&str> {
    let text = match cause {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(text)) => text,
        _ => return None,
    };
    let says_so = text.starts_with("no such table")
        || text.starts_with("no such column")
        || text.contains(" has no column named ")
        || (text.starts_with("table ") && text.contains(" values were supplied"))
        || text.starts_with("foreign key mismatch");
    says_so.then_some(text)
}
