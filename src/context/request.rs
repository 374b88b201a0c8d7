use chrono::{DateTime, FixedOffset};

use crate::{Error, Filter, MemoryKind, Result, Timestamp, Validity};

/// Most turns either side of a hit: what is asked of the store for each hit.
const NEIGHBOUR_LIMIT: usize = 20;

/// What a prompt is about, and what of the memory may go into it. Bare text turns into one.
///
/// ```
/// use ingrain::{ContextRequest, MemoryKind};
/// let request = ContextRequest::new("plan dinner").limit(10).neighbours(2);
/// let without_turns = ContextRequest::new("plan dinner").kinds([MemoryKind::Block, MemoryKind::Fact]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ContextRequest {
    /// What the prompt is about: any text, such as the user's message.
    pub query: String,
    /// Most hits of what is known, and as many turns.
    pub limit: usize,
    /// Only these kinds; `None` for all.
    pub kinds: Option<Vec<MemoryKind>>,
    /// Most characters of the profile; `None` for none.
    pub profile: Option<usize>,
    /// Turns either side of a turn that was found.
    pub neighbours: usize,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// Only what held then; `None` for what holds now.
    pub as_of: Option<Timestamp>,
    /// When the query is asked; `None` for now.
    pub asked_at: Option<DateTime<FixedOffset>>,
}

impl ContextRequest {
    /// All blocks, the 40 best of what is known and the 40 best turns, with one turn either side of each, as far as the
    /// budget reaches.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: 40,
            kinds: None,
            profile: None,
            neighbours: 1,
            filter: None,
            as_of: None,
            asked_at: None,
        }
    }

    /// Most hits: so many of what is known, and so many turns; with 0 there are blocks alone. Default 40, which
    /// is more than 1,600 tokens of chat have room for: it is the budget that decides.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Only these kinds, blocks included. Default: all.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = MemoryKind>) -> Self {
        // A custom kind with the name of another is that other, as it is everywhere.
        self.kinds = Some(kinds.into_iter().map(|kind| MemoryKind::from(kind.as_str())).collect());
        self
    }

    /// Shows the [`Profile`](crate::Profile) of the user after the blocks, of at most so many characters, if blocks are
    /// wanted: what is known, whatever the query. Default: none.
    pub fn profile(mut self, characters: usize) -> Self {
        self.profile = Some(characters);
        self
    }

    /// How many turns either side of a turn that was found are shown with it, if they have room: those whose place in
    /// its session is at most so far from its own. 0 for none, at most 20. Default 1.
    ///
    /// They make a turn understood, and take room that other hits would have: on questions about long chats they cost
    /// 1 to 2 in 100 of the turns that answer at 800 tokens, and gain as much at 3,200.
    pub fn neighbours(mut self, turns: usize) -> Self {
        self.neighbours = turns;
        self
    }

    /// Only what the filter admits: of hits, of their neighbours, and of blocks too, since what a filter keeps out
    /// should come in by no other way. Default: no filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Only what held at `valid`, by what is known now. Default: what holds now.
    pub fn as_of(mut self, valid: Timestamp) -> Self {
        self.as_of = Some(valid);
        self
    }

    /// When the query is asked, from which times that it names are reckoned; see
    /// [`SearchRequest::asked_at`](crate::SearchRequest::asked_at). Without it, a query that names a time may give other
    /// bytes when it is asked again later. Default: the time of the engine's clock.
    pub fn asked_at(mut self, at: impl Into<DateTime<FixedOffset>>) -> Self {
        self.asked_at = Some(at.into());
        self
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if self.query.trim().is_empty() {
            return Err(Error::invalid("the query of a context is blank"));
        }
        if self.neighbours > NEIGHBOUR_LIMIT {
            return Err(Error::invalid(format!("a context shows at most {NEIGHBOUR_LIMIT} neighbours either side")));
        }
        self.filter.iter().try_for_each(Filter::validate)
    }

    pub(super) fn validity(&self, now: Timestamp) -> Validity {
        self.as_of.map_or(Validity::Current(now), Validity::At)
    }

    fn wants(&self, kind: &MemoryKind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))
    }

    /// What admits the blocks, if any are wanted.
    pub(super) fn blocks(&self) -> Option<Filter> {
        self.wants(&MemoryKind::Block).then(|| self.admitted(Filter::eq("kind", MemoryKind::Block)))
    }

    /// What admits the turns, if any are wanted.
    pub(crate) fn turns(&self) -> Option<Filter> {
        let wanted = self.limit > 0 && self.wants(&MemoryKind::Episode);
        wanted.then(|| self.admitted(Filter::eq("kind", MemoryKind::Episode)))
    }

    /// What admits the hits that are no turns, if any are wanted.
    pub(crate) fn known(&self) -> Option<Filter> {
        let apart = |kind: &&MemoryKind| !matches!(kind, MemoryKind::Block | MemoryKind::Episode);
        let kinds = match &self.kinds {
            None => Filter::none_of("kind", [MemoryKind::Block, MemoryKind::Episode]),
            Some(kinds) => {
                let kinds: Vec<MemoryKind> = kinds.iter().filter(apart).cloned().collect();
                if kinds.is_empty() {
                    return None;
                }
                Filter::any_of("kind", kinds)
            }
        };
        (self.limit > 0).then(|| self.admitted(kinds))
    }

    fn admitted(&self, kind: Filter) -> Filter {
        match &self.filter {
            // Side by side, so that a filter as deep as may be is no deeper than by one.
            Some(filter) => Filter::And(vec![kind, filter.clone()]),
            None => kind,
        }
    }
}

impl From<&str> for ContextRequest {
    fn from(query: &str) -> Self {
        Self::new(query)
    }
}

impl From<&String> for ContextRequest {
    fn from(query: &String) -> Self {
        Self::new(query)
    }
}

impl From<String> for ContextRequest {
    fn from(query: String) -> Self {
        Self::new(query)
    }
}
