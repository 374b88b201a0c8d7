use std::fmt;

use serde::{Deserialize, Serialize};

use super::MemoryId;
use crate::{Error, Result};

/// Where the next page begins. Opaque; hand it back as it came, to the same call with the same filter.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// The cursor after this memory, for whoever writes a store.
    #[must_use]
    pub fn after(id: MemoryId) -> Self {
        Self(id.to_string())
    }

    /// The memory this cursor stands after.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when it is no cursor of ours.
    pub fn position(&self) -> Result<MemoryId> {
        self.0.parse().map_err(|_| Error::invalid("not a cursor of this list"))
    }

    /// The cursor from its text form.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text form, to hand to a web client and take back with [`Cursor::from_text`].
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor({})", self.0)
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page<T> {
    /// What is on this page, in the order of the list.
    pub items: Vec<T>,
    /// Where the next page begins; `None` when this is the last.
    pub next: Option<Cursor>,
    /// How many there are on all pages, when this one was read.
    pub total: u64,
}

impl<T> Page<T> {
    /// A page.
    #[must_use]
    pub fn new(items: Vec<T>, next: Option<Cursor>, total: u64) -> Self {
        Self { items, next, total }
    }
}
