//! One error type for the whole crate.
//!
//! [`ErrorKind`] says what the caller does next; the message says what happened; the cause is kept in
//! [`source`](std::error::Error::source). Memory text and prompts never appear in an error.

use std::{error::Error as StdError, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Usage;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Box<dyn StdError + Send + Sync + 'static>;

/// What went wrong, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input breaks a stated rule: fix the call. Nothing was asked of any backend, unless it was a model that found
    /// the input too long.
    InvalidArgument,
    /// No such memory (or other thing) in the scope that was named.
    NotFound,
    /// Something changed between reading and writing: read again and decide again.
    Conflict,
    /// This backend can never do it: look at its capabilities.
    Unsupported,
    /// A setting is missing or contradicts another, or names a model, an address or a folder that is not there: fix the set-up.
    Configuration,
    /// The store was filled by another embedder, or a vector has the wrong width: open it with the embedder it names, or
    /// change that with [`Reembed`](crate::Reembed).
    EmbedderMismatch,
    /// The store was written by a newer version of this crate.
    StoreVersion,
    /// The store's file is damaged, or is no store of this crate: [`verify`](crate::MemoryEngine::verify) tells what of it is
    /// sound, a backup brings the rest back, and `SqliteStore::salvage` saves what can be read where there is none.
    StoreCorrupt,
    /// A key was given, and the store is encrypted under another, or not at all: ask for the key again. A file that is no
    /// store looks the same, since only the key can tell; and so, opened without a key, a store that needs one is
    /// [`StoreCorrupt`](Self::StoreCorrupt).
    WrongKey,
    /// The store did not answer, is locked for too long, or failed while reading or writing.
    StoreUnavailable,
    /// The model's or embedder's host did not answer, or could not just now.
    ProviderUnreachable,
    /// The provider refused the request (a wrong key, no access, a policy).
    ProviderRefused,
    /// The provider asks to slow down.
    RateLimited,
    /// The queue of adds has no room: wait until some are carried out, or see to those that have failed.
    QueueFull,
    /// The model answered, but not in a form that can be used, also not when asked again.
    UnusableModelOutput,
    /// The caller's budget of calls or tokens is spent.
    BudgetExhausted,
    /// A fault of this crate: please report it.
    Internal,
}

impl ErrorKind {
    /// The kind in kebab-case, as stable as the variant: for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid-argument",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
            Self::Configuration => "configuration",
            Self::EmbedderMismatch => "embedder-mismatch",
            Self::StoreVersion => "store-version",
            Self::StoreCorrupt => "store-corrupt",
            Self::WrongKey => "wrong-key",
            Self::StoreUnavailable => "store-unavailable",
            Self::ProviderUnreachable => "provider-unreachable",
            Self::ProviderRefused => "provider-refused",
            Self::RateLimited => "rate-limited",
            Self::QueueFull => "queue-full",
            Self::UnusableModelOutput => "unusable-model-output",
            Self::BudgetExhausted => "budget-exhausted",
            Self::Internal => "internal",
        }
    }

    /// Whether the same call may succeed later, unchanged.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::Conflict | Self::StoreUnavailable | Self::ProviderUnreachable | Self::RateLimited | Self::QueueFull
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The step of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Opening or checking a store.
    Open,
    /// Turning messages into facts.
    Extract,
    /// Turning text into vectors.
    Embed,
    /// Deciding what new facts do to what is known.
    Reconcile,
    /// Writing.
    Store,
    /// Reading or searching.
    Search,
    /// Summarising.
    Summarize,
    /// Keeping adds that are carried out later.
    Queue,
    /// Maintenance.
    Maintain,
}

impl Stage {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Extract => "extract",
            Self::Embed => "embed",
            Self::Reconcile => "reconcile",
            Self::Store => "store",
            Self::Search => "search",
            Self::Summarize => "summarize",
            Self::Queue => "queue",
            Self::Maintain => "maintain",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Any failure of this crate or of a backend.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    backend: Option<String>,
    stage: Option<Stage>,
    retry_after: Option<Duration>,
    spent: (u32, Usage),
    source: Option<Cause>,
}

impl Error {
    /// An error of `kind`; `message` says what was being done, without memory text and secrets.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            backend: None,
            stage: None,
            retry_after: None,
            spent: (0, Usage::default()),
            source: None,
        }))
    }

    /// Shorthand for [`ErrorKind::InvalidArgument`].
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// Names the backend at fault, such as `sqlite`, unless one is named already: the innermost knows best.
    #[must_use]
    pub fn with_backend(mut self, backend: impl Into<String>) -> Self {
        self.0.backend.get_or_insert_with(|| backend.into());
        self
    }

    /// Names the step that failed, unless one is named already: the innermost knows best.
    #[must_use]
    pub fn with_stage(mut self, stage: Stage) -> Self {
        self.0.stage.get_or_insert(stage);
        self
    }

    /// How long the provider asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// What calls of a model had cost before: how many, and their tokens. In place of what was said of it before.
    #[must_use]
    pub fn with_spent(mut self, model_calls: u32, usage: Usage) -> Self {
        self.0.spent = (model_calls, usage);
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync + 'static>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What the caller does next.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The backend at fault, if one is.
    #[must_use]
    pub fn backend(&self) -> Option<&str> {
        self.0.backend.as_deref()
    }

    /// The step that failed, where known.
    #[must_use]
    pub fn stage(&self) -> Option<Stage> {
        self.0.stage
    }

    /// How long to wait before trying again, where the provider said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What calls of a model had cost before the call failed, as far as that is known: how many, also those that failed, and
    /// their tokens.
    #[must_use]
    pub fn spent(&self) -> (u32, Usage) {
        self.0.spent
    }

    /// Whether the same call may succeed later, unchanged.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.kind.is_retryable()
    }
}

impl fmt::Display for Error {
    /// One line, without the cause: `sqlite: reading 3 memories (store-unavailable, search)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(backend) = &inner.backend {
            write!(f, "{backend}: ")?;
        }
        write!(f, "{} ({}", inner.message, inner.kind)?;
        if let Some(stage) = inner.stage {
            write!(f, ", {stage}")?;
        }
        f.write_str(")")
    }
}

/// The line of `Display` and the causes: what `fn main() -> ingrain::Result<()>` prints.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut cause = StdError::source(self);
        while let Some(next) = cause {
            write!(f, ": {next}")?;
            cause = next.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_with_kind_backend_stage_and_cause() {
        let error = Error::new(ErrorKind::StoreUnavailable, "reading 3 memories")
            .with_backend("sqlite")
            .with_stage(Stage::Search)
            .with_source(std::io::Error::other("disk I/O error"));
        assert_eq!(error.to_string(), "sqlite: reading 3 memories (store-unavailable, search)");
        assert_eq!(format!("{error:?}"), format!("{error}: disk I/O error"));
        assert!(error.is_retryable() && StdError::source(&error).is_some());
    }

    #[test]
    fn the_innermost_stage_and_backend_stay() {
        let error = Error::invalid("x").with_stage(Stage::Embed).with_stage(Stage::Store);
        let error = error.with_backend("sqlite").with_backend("queue");
        assert_eq!((error.stage(), error.backend()), (Some(Stage::Embed), Some("sqlite")));
    }
}
