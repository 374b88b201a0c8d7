use std::sync::Arc;

use super::write::{check_embedder, check_vector};
use crate::{
    Cursor, EmbedderIdentity, Error, Filter, Memory, MemoryId, MemoryKind, Result, Scope, TimeRange, Timestamp, Trust,
    Validity, cues::Cues,
};

/// What to look for. With a vector and a text, both arms propose; with neither, the newest memories are proposed. With
/// dates, those of the dates are proposed too.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchQuery {
    /// A reader's scope.
    pub scope: Scope,
    /// Look for what is near this vector.
    pub vector: Option<Vec<f32>>,
    /// The embedder that made the vector; a store that is bound to another refuses it. None: the width is all that is
    /// checked.
    pub embedder: Option<EmbedderIdentity>,
    /// Look for what has the words of this text. Any text is fine: it is no query language.
    pub text: Option<String>,
    /// Propose also, of what [lies in](Attributes::lies_in) one of these ranges, the `limit` best: by the sum of the
    /// cosine, where it is above 0, and the keyword similarity; without an arm, and of equals, the newest.
    pub dates: Vec<TimeRange>,
    /// Propose also these, of what is there: what some other index has found.
    pub also: Vec<MemoryId>,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// Only what holds by world time.
    pub validity: Validity,
    /// Most candidates of each arm.
    pub limit: usize,
}

impl SearchQuery {
    /// A query for what holds at `now`, with neither arm yet; at most 100 candidates of each.
    #[must_use]
    pub fn new(scope: Scope, now: Timestamp) -> Self {
        Self {
            scope,
            vector: None,
            embedder: None,
            text: None,
            dates: Vec::new(),
            also: Vec::new(),
            filter: None,
            validity: Validity::Current(now),
            limit: 100,
        }
    }

    /// Looks for what is near `vector`. Default: no vector arm.
    #[must_use]
    pub fn near(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }

    /// Says which embedder made the vector; the engine does so with its own. Default: that is not said.
    #[must_use]
    pub fn embedded_by(mut self, embedder: EmbedderIdentity) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Looks for the words of `text`. Default: no keyword arm.
    #[must_use]
    pub fn words(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Also proposes what lies in one of the ranges. Default: none.
    #[must_use]
    pub fn dated(mut self, dates: Vec<TimeRange>) -> Self {
        self.dates = dates;
        self
    }

    /// Also proposes these memories, if the scope, the filter and the validity admit them. Default: none.
    #[must_use]
    pub fn also(mut self, ids: Vec<MemoryId>) -> Self {
        self.also = ids;
        self
    }

    /// Only what the filter admits. Default: no filter.
    #[must_use]
    pub fn filter(mut self, filter: Option<Filter>) -> Self {
        self.filter = filter;
        self
    }

    /// Only what holds by world time. Default: what holds at `now`.
    #[must_use]
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// Most candidates of each arm. Default 100.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

impl SearchQuery {
    /// Checks scope, filter and vector, for a store that is bound to `embedder`: for whoever writes one.
    ///
    /// # Errors
    /// As [`VectorStore::search`](crate::VectorStore::search).
    pub fn validate(&self, embedder: Option<&EmbedderIdentity>) -> Result<()> {
        self.scope.validate()?;
        self.filter.iter().try_for_each(Filter::validate)?;
        // A store that nothing was ever written to has no width: any vector finds nothing there.
        match &self.vector {
            Some(vector) if embedder.is_some() => {
                check_embedder(self.embedder.as_ref(), embedder)?;
                check_vector(vector, embedder)
            }
            _ => Ok(()),
        }
    }
}

/// What ranking looks at, of a memory that search proposes. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Attributes {
    /// What sort of memory it is.
    pub kind: MemoryKind,
    /// The parts it was stored with.
    pub scope: Arc<Scope>,
    /// Who said it, by name.
    pub speaker: Option<Arc<str>>,
    /// Whose word it rests on.
    pub trust: Trust,
    /// How much it matters, 0 to 1.
    pub importance: f32,
    /// Whether it is exempt from fading.
    pub pinned: bool,
    /// Its place in its session.
    pub ordinal: Option<u64>,
    /// When it was said or seen.
    pub observed_at: Timestamp,
    /// Since when it holds in the world.
    pub valid_at: Timestamp,
    /// When it ceased to hold.
    pub invalid_at: Option<Timestamp>,
    /// When we learned it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How often it was recalled.
    pub access_count: u64,
    /// When it was last recalled.
    pub accessed_at: Option<Timestamp>,
    /// What its words tell about its part in a talk.
    pub cues: Cues,
}

impl Attributes {
    /// Whether it is of a stretch of time: a turn, if it was said then; anything else, if it held then, for an instant
    /// at least.
    #[must_use]
    pub fn lies_in(&self, range: TimeRange) -> bool {
        if self.kind == MemoryKind::Episode {
            return range.contains(self.observed_at);
        }
        self.valid_at < range.end() && self.invalid_at.is_none_or(|end| end > range.start())
    }
}

impl From<&Memory> for Attributes {
    fn from(memory: &Memory) -> Self {
        Self::with_cues(memory, Cues::of(&memory.text))
    }
}

impl Attributes {
    /// Those of a memory whose text has these cues: reading them takes longer than all the rest.
    pub(crate) fn with_cues(memory: &Memory, cues: Cues) -> Self {
        Self {
            kind: memory.kind.clone(),
            scope: Arc::new(memory.scope.clone()),
            speaker: memory.speaker.as_deref().map(Arc::from),
            trust: memory.trust,
            importance: memory.importance,
            pinned: memory.pinned,
            ordinal: memory.ordinal,
            observed_at: memory.observed_at,
            valid_at: memory.valid_at,
            invalid_at: memory.invalid_at,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            access_count: memory.access_count,
            accessed_at: memory.accessed_at,
            cues,
        }
    }
}

/// A memory that search proposes, with its similarity in every arm that was asked, whichever arm proposed it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The memory.
    pub id: MemoryId,
    /// What ranking looks at. The memory itself is read when it is among the hits.
    pub attributes: Attributes,
    /// Cosine of its best key to the query vector, −1 to 1; `None` without a vector arm.
    pub cosine: Option<f32>,
    /// BM25 of its best key by the statistics of the reader's own scope, divided by the bound that no text can
    /// exceed for this query, 0 to 1; `None` without a keyword arm. See
    /// [`score::lexical`](crate::score::lexical).
    pub keyword: Option<f32>,
    /// What stands around it; `None` without both arms, for what is stored in a scope without turns, and from a store
    /// that does not have the capability `surroundings`.
    pub surroundings: Option<Surroundings>,
}

impl Candidate {
    /// A candidate that no arm has looked at yet.
    #[must_use]
    pub fn new(id: MemoryId, attributes: Attributes) -> Self {
        Self { id, attributes, cosine: None, keyword: None, surroundings: None }
    }
}

/// How well the query fits what stands around a memory: people answer in the next turn, and speak of one matter for a
/// while. What is no turn has no neighbours, only the session it was learned in.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Surroundings {
    /// The keyword similarities of the two turns before and the two after it in its session, the nearer counting
    /// twice: `(2·k₋₁ + 2·k₊₁ + k₋₂ + k₊₂) / 6`, 0 to 1. A turn that is not there counts 0.
    pub neighbours: f32,
    /// The keyword similarity of the turn before it, times the share of questions in that: 0 to 1.
    pub replies: f32,
    /// The mean of the three best keyword similarities, counting 0.65, and of the three best cosines (those above 0),
    /// counting 0.35, among the turns of its session: 0 to 1. Turns that are not there count 0.
    pub session: f32,
    /// Whether its session has no turn of the assistant: people talk with each other.
    pub among_people: bool,
}

impl Surroundings {
    /// Surroundings of what replies to no question, in a session with the assistant.
    #[must_use]
    pub fn new(neighbours: f32, session: f32) -> Self {
        Self { neighbours, session, ..Self::default() }
    }

    /// How well the question fits that it replies to. Default 0.
    #[must_use]
    pub fn replies(mut self, replies: f32) -> Self {
        self.replies = replies;
        self
    }

    /// Whether people talk with each other. Default: not.
    #[must_use]
    pub fn among_people(mut self, among_people: bool) -> Self {
        self.among_people = among_people;
        self
    }
}

/// The order of a list: that of the ids, which is the order in which memories were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// First made first.
    #[default]
    OldestFirst,
    /// Last made first.
    NewestFirst,
}

/// Which memories to list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListQuery {
    /// A reader's scope.
    pub scope: Scope,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// Only what holds by world time.
    pub validity: Validity,
    /// The order.
    pub order: ListOrder,
    /// Where the page begins; `None` for the first page.
    pub after: Option<Cursor>,
    /// Most memories of a page, at least 1.
    pub limit: usize,
}

impl ListQuery {
    /// The first page of everything in the scope, oldest first, at most 100.
    #[must_use]
    pub fn new(scope: Scope, validity: Validity) -> Self {
        Self { scope, filter: None, validity, order: ListOrder::OldestFirst, after: None, limit: 100 }
    }

    /// Checks scope, filter and limit and gives the memory the page begins after: for whoever writes a store.
    ///
    /// # Errors
    /// As [`VectorStore::list`](crate::VectorStore::list).
    pub fn validate(&self) -> Result<Option<MemoryId>> {
        self.scope.validate()?;
        self.filter.iter().try_for_each(Filter::validate)?;
        if self.limit == 0 {
            return Err(Error::invalid("the limit of a list must be at least 1"));
        }
        self.after.as_ref().map(Cursor::position).transpose()
    }
}
