use crate::{Error, ErrorKind};

/// What can go wrong inside, before it is told in the crate's terms.
#[derive(Debug, thiserror::Error)]
pub(super) enum Neo4jError {
    #[error("the connection failed")]
    Io(#[from] std::io::Error),
    #[error("the server does not keep to the protocol: {0}")]
    Protocol(&'static str),
    /// The server refused. Its words may quote what was sent, so they are shown only where they cannot.
    #[error("the server refused: {code}{}", told(.code, .message))]
    Failure { code: String, message: String },
    #[error("{0}")]
    SetUp(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the server {0}")]
    Unsuited(&'static str),
    #[error("the time was up")]
    TimedOut,
    #[error("a stored {0} cannot be read")]
    Unreadable(&'static str),
    #[error(transparent)]
    Refused(#[from] Error),
}

pub(super) type Result<T, E = Neo4jError> = std::result::Result<T, E>;

/// The server's own words about names and rights; about statements and values they would quote them.
fn told(code: &str, message: &str) -> String {
    let safe = ["Neo.ClientError.Security.", "Neo.ClientError.Database."].iter().any(|part| code.starts_with(part));
    if safe { format!(" ({message})") } else { String::new() }
}

impl Neo4jError {
    /// Whether the whole transaction may go through when it is run again at once: two waited for each other, or one lost
    /// what it had locked. Of other things that pass, such as a server without memory, the caller is told.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Failure { code, .. } if code.starts_with("Neo.TransientError.Transaction."))
    }

    /// Whether the connection was at fault, so that another may do.
    pub(super) fn is_connection(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Protocol(_))
    }

    /// The one conversion; `doing` says what was being done.
    pub(super) fn told(self, doing: &str) -> Error {
        let (kind, why) = match &self {
            Self::Refused(_) => (ErrorKind::Internal, ""),
            Self::Io(_) => (ErrorKind::StoreUnavailable, "the server cannot be reached"),
            Self::Protocol(_) => (ErrorKind::StoreUnavailable, "the server's answer makes no sense"),
            Self::TimedOut => (ErrorKind::StoreUnavailable, "the server did not answer in time"),
            Self::Unreadable(_) => (ErrorKind::StoreCorrupt, "what is stored is of another layout"),
            Self::SetUp(..) | Self::Unsuited(_) => (ErrorKind::Configuration, "this server cannot be used"),
            Self::Failure { code, .. } => kind_of(code),
        };
        match self {
            Self::Refused(error) => error.with_backend("neo4j"),
            cause => Error::new(kind, format!("{doing}: {why}")).with_backend("neo4j").with_source(cause),
        }
    }
}

/// By Neo4j's status codes (<https://neo4j.com/docs/status-codes/current/errors/all-errors/>).
fn kind_of(code: &str) -> (ErrorKind, &'static str) {
    let mut parts = code.split('.').skip(1);
    match (parts.next(), parts.next(), parts.next()) {
        (Some("ClientError"), Some("Security"), _) => {
            (ErrorKind::Configuration, "the server refuses this user or password")
        }
        (Some("ClientError"), Some("Database"), _) => (ErrorKind::Configuration, "the server has no such database"),
        // Only the constraints on ids: someone stored the same one in another scope at the same time.
        (Some("ClientError"), Some("Schema"), Some("ConstraintValidationFailed")) => {
            (ErrorKind::Conflict, "an id was taken meanwhile")
        }
        (Some("ClientError"), Some("Statement" | "Request"), _) => {
            (ErrorKind::Internal, "the server does not understand what it is asked")
        }
        _ => (ErrorKind::StoreUnavailable, "the server failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: &str) -> Neo4jError {
        Neo4jError::Failure { code: code.to_owned(), message: "Node has `name` = 'a private name'".to_owned() }
    }

    #[test]
    fn kinds_go_by_the_code() {
        for (code, kind) in [
            ("Neo.ClientError.Security.Unauthorized", ErrorKind::Configuration),
            ("Neo.ClientError.Database.DatabaseNotFound", ErrorKind::Configuration),
            ("Neo.ClientError.Schema.ConstraintValidationFailed", ErrorKind::Conflict),
            ("Neo.ClientError.Statement.SyntaxError", ErrorKind::Internal),
            ("Neo.ClientError.Transaction.TransactionTimedOut", ErrorKind::StoreUnavailable),
            ("Neo.TransientError.Transaction.DeadlockDetected", ErrorKind::StoreUnavailable),
            ("Neo.DatabaseError.General.UnknownError", ErrorKind::StoreUnavailable),
            ("", ErrorKind::StoreUnavailable),
        ] {
            assert_eq!(failure(code).told("reading").kind(), kind, "{code}");
        }
        assert!(failure("Neo.TransientError.Transaction.DeadlockDetected").is_transient());
        assert!(!failure("Neo.TransientError.General.MemoryPoolOutOfMemoryError").is_transient());
    }

    #[test]
    fn what_is_stored_stays_out_of_errors() {
        for code in ["Neo.ClientError.Schema.ConstraintValidationFailed", "Neo.ClientError.Statement.TypeError"] {
            let error = format!("{:?}", failure(code).told("writing the graph"));
            assert!(error.contains(code) && !error.contains("private"), "{error}");
        }
    }
}
