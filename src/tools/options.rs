use super::MemoryTools;
use crate::{Error, MemoryKind, Result};

/// Most characters of a result, unless said otherwise.
const RESULT_CHARS: usize = 2_000;
/// Least of them that can be asked for: less has no room for a memory in its frame.
const LEAST_CHARS: usize = 500;

/// What the tools may do.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) read_only: bool,
    pub(super) blocks: bool,
    pub(super) max_result_chars: usize,
    pub(super) kinds: Option<Vec<MemoryKind>>,
    pub(super) threshold: Option<f32>,
    pub(super) session: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            read_only: false,
            blocks: true,
            max_result_chars: RESULT_CHARS,
            kinds: None,
            threshold: None,
            session: None,
        }
    }
}

/// What a fact that a model hands over may be.
const NEW: [MemoryKind; 3] = [MemoryKind::Fact, MemoryKind::Preference, MemoryKind::Procedure];
/// What may be found, kinds of the application's own aside.
const FOUND: [MemoryKind; 6] = [
    MemoryKind::Episode,
    MemoryKind::Summary,
    MemoryKind::Fact,
    MemoryKind::Preference,
    MemoryKind::Procedure,
    MemoryKind::Observation,
];

impl Options {
    /// The kinds of memories that can be made.
    pub(super) fn new_kinds(&self) -> Vec<MemoryKind> {
        NEW.into_iter().filter(|kind| self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))).collect()
    }

    /// The kinds of memories that can be asked for.
    pub(super) fn found_kinds(&self) -> Vec<MemoryKind> {
        self.kinds.clone().unwrap_or_else(|| FOUND.into())
    }

    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for what the application has set and cannot be.
    pub(super) fn validate(&self) -> Result<()> {
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(Error::invalid("the threshold of the tools must be 0 to 1"));
        }
        Ok(())
    }
}

impl MemoryTools {
    /// Only tools that read. Default: all.
    pub fn read_only(mut self) -> Self {
        self.options.read_only = true;
        self
    }

    /// No tools for blocks. Default: with them.
    pub fn without_blocks(mut self) -> Self {
        self.options.blocks = false;
        self
    }

    /// Most characters of a result, at least 500. Default 2,000.
    pub fn max_result_chars(mut self, characters: usize) -> Self {
        self.options.max_result_chars = characters.max(LEAST_CHARS);
        self
    }

    /// Only memories of these kinds are found, changed and made. Blocks have tools of their own. Default: all.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = MemoryKind>) -> Self {
        // A custom kind with the name of another is that other, as it is everywhere.
        let kinds = kinds.into_iter().map(|kind| MemoryKind::from(kind.as_str()));
        self.options.kinds = Some(kinds.filter(|kind| *kind != MemoryKind::Block).collect());
        self
    }

    /// Least [score](crate::Hit::score) of what a search finds, 0 to 1. Default: none.
    pub fn threshold(mut self, threshold: f32) -> Self {
        self.options.threshold = Some(threshold);
        self
    }

    /// The session that new memories are of; what the tools find is of all sessions of the scope. Default: that of the
    /// scope, if it names one.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.options.session = Some(session.into());
        self
    }
}
