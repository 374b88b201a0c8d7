use rusqlite::ErrorCode;

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
                let (kind, why) = match cause.sqlite_error_code() {
                    Some(ErrorCode::DatabaseCorrupt) => (ErrorKind::StoreCorrupt, "the file is damaged"),
                    Some(ErrorCode::NotADatabase) => (ErrorKind::StoreCorrupt, "the file is no SQLite database"),
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                        (ErrorKind::StoreUnavailable, "another process holds the file")
                    }
                    Some(ErrorCode::ReadOnly) => (ErrorKind::StoreUnavailable, "the file cannot be written to"),
                    Some(ErrorCode::DiskFull) => (ErrorKind::StoreUnavailable, "the disk is full"),
                    Some(ErrorCode::CannotOpen) => (ErrorKind::StoreUnavailable, "the file cannot be opened"),
                    _ if is_of_another_layout(&cause) => {
                        (ErrorKind::StoreCorrupt, "its tables are not those of its version")
                    }
                    _ => (ErrorKind::StoreUnavailable, "the database failed"),
                };
                Error::new(kind, format!("{doing}: {why}")).with_backend("sqlite").with_source(cause)
            }
        }
    }
}

/// Whether a table or a column of ours is missing: trying again will not bring it back.
fn is_of_another_layout(cause: &rusqlite::Error) -> bool {
    let text = match cause {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(text)) => text,
        _ => return false,
    };
    text.starts_with("no such table") || text.starts_with("no such column") || text.contains(" has no column named ")
}
