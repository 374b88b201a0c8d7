use std::{fmt, sync::Arc};

#[cfg(feature = "sqlite")]
use super::KeyRestorer;
use crate::{CallId, EntityId, MemoryId, RelationId};

/// How many of a kind of problem a report names.
const EXAMPLES: usize = 20;

/// Whether a store is only looked through, or also mended; see [`MemoryEngine::verify`](crate::MemoryEngine::verify).
#[derive(Clone, Default)]
#[must_use]
pub struct Verify {
    rebuild: bool,
    observe: Option<Arc<dyn Fn(VerifyProgress) + Send + Sync>>,
    #[cfg(feature = "sqlite")]
    restorer: Option<Arc<dyn KeyRestorer>>,
}

impl fmt::Debug for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verify").field("rebuild", &self.rebuild).finish_non_exhaustive()
    }
}

impl Verify {
    /// Reads only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether what is [derived](ProblemKind::is_derived) and wrong is made anew. Default: not.
    pub fn rebuild(mut self, rebuild: bool) -> Self {
        self.rebuild = rebuild;
        self
    }

    /// Is told how far it has come, after every few hundred rows, on the task that verifies: it should be quick. Default:
    /// nobody is.
    pub fn on_progress(mut self, observe: impl Fn(VerifyProgress) + Send + Sync + 'static) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }

    /// Whether what is derived is to be made anew: for whoever writes a store.
    #[must_use]
    pub fn rebuilds(&self) -> bool {
        self.rebuild
    }

    /// Gives the store what it needs to make keys anew.
    #[cfg(feature = "sqlite")]
    pub(crate) fn with_restorer(mut self, restorer: impl KeyRestorer + 'static) -> Self {
        self.restorer = Some(Arc::new(restorer));
        self
    }

    /// What makes keys anew, if they are to be.
    #[cfg(feature = "sqlite")]
    pub(crate) fn restorer(&self) -> Option<&dyn KeyRestorer> {
        self.restorer.as_deref().filter(|_| self.rebuild)
    }

    /// Tells how far it has come: for whoever writes a store.
    pub fn tell(&self, part: &'static str, looked_at: u64) {
        if let Some(observe) = &self.observe {
            observe(VerifyProgress { part, looked_at });
        }
    }
}

/// How far [`verify`](crate::MemoryEngine::verify) has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyProgress {
    /// What is being looked through, such as `memories`.
    pub part: &'static str,
    /// How many rows of it have been.
    pub looked_at: u64,
}

/// What can be wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Pages or tables of a file are damaged. What lies in them is lost, unless a backup has it.
    DamagedFile,
    /// A memory, event, entity, relation, message, or queued add cannot be read, or says what no write is let say: an
    /// importance of 7, an end before the beginning.
    Unreadable,
    /// There are vectors, and nothing says which embedder made them.
    NoEmbedder,
    /// The last event of a history tells another text than the memory has.
    HistoryText,
    /// An event is in another scope than its memory.
    HistoryScope,
    /// An end of a relation is not there, or in a scope that does not cover the relation's.
    RelationEnd,
    /// An entity was merged into one that is not there, or into itself, in however many steps.
    MergedInto,
    /// The messages of a conversation are not those that it says it has.
    Conversation,
    /// An index of the file does not have what its table has, or is missing. Derived.
    FileIndex,
    /// Rows that belong to what is not there: keys without a memory, names without an entity, vectors that were staged for
    /// a change of embedder that is not under way. Derived.
    Stray,
    /// A memory has no keys, fewer than it was stored with, or more: what a lost one said does not find it. What is mended
    /// is made from the memory's text and the facts that were read from it, by the embedder of the engine; a store by
    /// itself has none. Derived.
    Keys,
    /// A vector has another width than the embedder's, or a number that is not finite: its scope cannot be searched. Mended
    /// as [`Keys`](Self::Keys). Derived.
    Vector,
    /// The terms of a key are not those of its text. Derived.
    Terms,
    /// The cues of a memory are not those of its text. Derived.
    Cues,
    /// The next turn of a session would get a place that is taken, or none. Derived.
    Places,
    /// The version, or the list of changes that searches and other processes follow, is behind. Derived.
    Versions,
    /// An entity is not found by its names, or by others. Derived.
    Names,
    /// A relation is not found by the memories it rests on. Derived.
    RelationSources,
    /// The index that searches run on has other memories than the store. Derived.
    SearchIndex,
    /// A relation rests on memories that are not there. What is mended is what their deletion would have done: it rests on
    /// the others, and goes if there are none. Derived.
    MissingSource,
}

impl ProblemKind {
    /// The kind in kebab-case, as stable as the variant: for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DamagedFile => "damaged-file",
            Self::Unreadable => "unreadable",
            Self::NoEmbedder => "no-embedder",
            Self::HistoryText => "history-text",
            Self::HistoryScope => "history-scope",
            Self::RelationEnd => "relation-end",
            Self::MergedInto => "merged-into",
            Self::Conversation => "conversation",
            Self::FileIndex => "file-index",
            Self::Stray => "stray",
            Self::Keys => "keys",
            Self::Vector => "vector",
            Self::Terms => "terms",
            Self::Cues => "cues",
            Self::Places => "places",
            Self::Versions => "versions",
            Self::Names => "names",
            Self::RelationSources => "relation-sources",
            Self::SearchIndex => "search-index",
            Self::MissingSource => "missing-source",
        }
    }

    /// Whether it follows from what else is stored, so that [`Verify::rebuild`] can make it anew.
    #[must_use]
    pub const fn is_derived(self) -> bool {
        match self {
            Self::DamagedFile
            | Self::Unreadable
            | Self::NoEmbedder
            | Self::HistoryText
            | Self::HistoryScope
            | Self::RelationEnd
            | Self::MergedInto
            | Self::Conversation => false,
            Self::FileIndex
            | Self::Stray
            | Self::Keys
            | Self::Vector
            | Self::Terms
            | Self::Cues
            | Self::Places
            | Self::Versions
            | Self::Names
            | Self::RelationSources
            | Self::SearchIndex
            | Self::MissingSource => true,
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a problem is. Never a text of a memory, nor whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemPlace {
    /// At a memory.
    Memory(MemoryId),
    /// At an entity.
    Entity(EntityId),
    /// At a relation.
    Relation(RelationId),
    /// At a queued add.
    QueuedAdd(CallId),
    /// In a row of a table, by its number there.
    Row(&'static str, i64),
    /// In a part of the store, in the backend's own words.
    Part(String),
}

impl fmt::Display for ProblemPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "memory {id}"),
            Self::Entity(id) => write!(f, "entity {id}"),
            Self::Relation(id) => write!(f, "relation {id}"),
            Self::QueuedAdd(id) => write!(f, "queued add {id}"),
            Self::Row(table, row) => write!(f, "row {row} of {table}"),
            Self::Part(part) => f.write_str(part),
        }
    }
}

/// All problems of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Which.
    pub kind: ProblemKind,
    /// How many.
    pub count: u64,
    /// The first of them, at most 20.
    pub examples: Vec<ProblemPlace>,
}

impl fmt::Display for Problem {
    /// One line: `terms: 2 (memory 01890a5d-…, memory 01890a5e-…)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (", self.kind, self.count)?;
        for (number, place) in self.examples.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{place}")?;
        }
        f.write_str(if self.count > self.examples.len() as u64 { ", …)" } else { ")" })
    }
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyCounts {
    /// Memories.
    pub memories: u64,
    /// Their keys.
    pub keys: u64,
    /// Events of histories.
    pub events: u64,
    /// Entities.
    pub entities: u64,
    /// Relations, also those that have ended or expired.
    pub relations: u64,
    /// Messages of conversations.
    pub messages: u64,
    /// Queued adds.
    pub queued_adds: u64,
}

/// What [`verify`](crate::MemoryEngine::verify) found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// What is wrong, one for each kind, in their order; after a rebuild what is still wrong.
    pub problems: Vec<Problem>,
    /// What was wrong, or [outdated](Self::outdated), and was made anew.
    pub mended: Vec<Problem>,
    /// How much was looked at.
    pub checked: VerifyCounts,
    /// Of how many texts the words that are kept beside them were analysed by another version of the crate. No problem, but
    /// they are analysed anew whenever an index is built, until a rebuild.
    pub outdated: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// The problem of this kind, if there is one.
    #[must_use]
    pub fn problem(&self, kind: ProblemKind) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.kind == kind)
    }

    /// Notes something that is wrong: for whoever writes a store.
    pub fn note(&mut self, kind: ProblemKind, place: ProblemPlace) {
        note(&mut self.problems, kind, 1, [place]);
    }

    /// Notes something that was made anew: for whoever writes a store.
    pub fn note_mended(&mut self, kind: ProblemKind, place: ProblemPlace) {
        note(&mut self.mended, kind, 1, [place]);
    }
}

fn note(problems: &mut Vec<Problem>, kind: ProblemKind, count: u64, places: impl IntoIterator<Item = ProblemPlace>) {
    let at = problems.binary_search_by_key(&kind, |problem| problem.kind).unwrap_or_else(|at| {
        problems.insert(at, Problem { kind, count: 0, examples: Vec::new() });
        at
    });
    let Some(problem) = problems.get_mut(at) else { return };
    problem.count = problem.count.saturating_add(count);
    let room = EXAMPLES.saturating_sub(problem.examples.len());
    problem.examples.extend(places.into_iter().take(room));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_a_kind_are_counted_and_the_first_are_named() {
        let mut report = VerifyReport::default();
        report.note(ProblemKind::Terms, ProblemPlace::Row("keys", 0));
        (0..30).for_each(|row| report.note(ProblemKind::Unreadable, ProblemPlace::Row("memories", row)));
        let kinds: Vec<(ProblemKind, u64, usize)> =
            report.problems.iter().map(|problem| (problem.kind, problem.count, problem.examples.len())).collect();
        assert_eq!(kinds, [(ProblemKind::Unreadable, 30, EXAMPLES), (ProblemKind::Terms, 1, 1)]);
        let told: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|line| line == "terms: 1 (row 0 of keys)"), "{told:?}");
        assert!(told.iter().any(|line| line.ends_with("row 19 of memories, …)")), "{told:?}");
        assert!(!report.is_sound() && report.problem(ProblemKind::Cues).is_none());
    }
}
