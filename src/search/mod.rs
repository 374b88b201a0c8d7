//! [`MemoryEngine::search`](crate::MemoryEngine::search): candidates → fuse → rank.
//!
//! A time that the query names is another arm of the candidates, and another part of the score.

mod candidates;
mod fuse;
mod rank;
mod rerank;
mod speakers;
mod times;
mod update;
mod words;

use chrono::{DateTime, FixedOffset};
use serde::Serialize;
use times::Times;

use crate::{
    Embedder, Error, Field, Filter, Memory, MemoryKind, Reranker, Result, Scope, Stage, Timestamp, Validity,
    VectorStore, score::fusion::Weights,
};

/// Which similarities count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchMode {
    /// Meaning alone: the cosine of the vectors.
    Vector,
    /// Words alone: BM25. Memories without any of the words are no hits.
    Keyword,
    /// Both, and what stands around a memory; the formula is that of [`score::fusion`](crate::score::fusion).
    #[default]
    Hybrid,
}

/// What to look for and how.
///
/// ```
/// use ingrain::{Filter, SearchRequest};
/// let request = SearchRequest::new("where does she work?").limit(5).filter(Filter::eq("kind", "fact"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct SearchRequest {
    /// The query: any text.
    pub query: String,
    /// Which similarities count.
    pub mode: SearchMode,
    /// Most hits.
    pub limit: usize,
    /// Least score of a hit.
    pub threshold: Option<f32>,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// When the query is asked, for times that it names; `None` for now.
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// Only what was said or held from the first to just before the second.
    pub between: Option<(Timestamp, Timestamp)>,
    /// Only what held then; `None` for what holds now.
    pub as_of: Option<Timestamp>,
    /// Also what no longer holds.
    pub include_invalid: bool,
    /// How much it counts that hits are unlike each other.
    pub diversity: f32,
    /// Whether the hits count as recalled.
    pub record_access: bool,
}

impl SearchRequest {
    /// The ten best hits of a hybrid search among what holds now.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            mode: SearchMode::Hybrid,
            limit: 10,
            threshold: None,
            filter: None,
            asked_at: None,
            between: None,
            as_of: None,
            include_invalid: false,
            diversity: 0.0,
            record_access: false,
        }
    }

    /// Which similarities count. Default [`SearchMode::Hybrid`].
    pub fn mode(mut self, mode: SearchMode) -> Self {
        self.mode = mode;
        self
    }

    /// Most hits; 0 gives none. Default 10.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Least score of a hit, 0 to 1. Default: no threshold.
    pub fn threshold(mut self, threshold: f32) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Only what the filter admits. Default: no filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// When the query is asked: "last week" and the like are reckoned from there, by the days of its offset. A
    /// [`Timestamp`], whose days are those of UTC, or a [`DateTime`] with an offset. Default: the time of the engine's
    /// clock.
    ///
    /// ```
    /// use ingrain::SearchRequest;
    /// let asked: chrono::DateTime<chrono::FixedOffset> = "2024-02-03T23:30:00+09:00".parse()?;
    /// let request = SearchRequest::new("what did we order yesterday?").asked_at(asked);
    /// # Ok::<(), chrono::ParseError>(())
    /// ```
    pub fn asked_at(mut self, at: impl Into<DateTime<FixedOffset>>) -> Self {
        self.asked_at = Some(at.into());
        self
    }

    /// Only what is of the time from `start` to just before `end`: a turn that was said then
    /// ([`observed_at`](Memory::observed_at)), and anything else that held then, for an instant at least
    /// (`valid_at` .. `invalid_at`), whether or not it still holds. Default: of any time.
    ///
    /// Times that the query names only favour; this leaves out.
    pub fn between(mut self, start: Timestamp, end: Timestamp) -> Self {
        self.between = Some((start, end));
        self
    }

    /// Only what held at `valid`, by what is known now. Default: what holds now.
    pub fn as_of(mut self, valid: Timestamp) -> Self {
        self.as_of = Some(valid);
        self
    }

    /// Also what was superseded or has expired. Default: not.
    pub fn include_invalid(mut self) -> Self {
        self.include_invalid = true;
        self
    }

    /// How much it counts that hits are unlike each other, 0 to 1: of many that say the same, few are shown. The hits come
    /// in the order of [`maximal_marginal_relevance`](crate::score::diversity::maximal_marginal_relevance), which is then
    /// not that of their scores; likeness is the share of words in common, of the text that has fewer. Default 0: order of
    /// the scores. Questions whose answer lies in several places lose by it as often as they gain: it is for those who
    /// show hits to people, or have many near copies.
    pub fn diversity(mut self, diversity: f32) -> Self {
        self.diversity = diversity;
        self
    }

    /// Counts an access to each hit, which is a write. Default: not.
    pub fn record_access(mut self) -> Self {
        self.record_access = true;
        self
    }

    fn validity(&self, now: Timestamp) -> Validity {
        match self.as_of {
            _ if self.include_invalid => Validity::Any,
            Some(then) => Validity::At(then),
            // What ended since held then all the same.
            None if self.between.is_some() => Validity::Any,
            None => Validity::Current(now),
        }
    }

    /// The filter, with that of the times.
    fn filter_of_all(&self) -> Option<Filter> {
        let Some((start, end)) = self.between else { return self.filter.clone() };
        let episode = || Filter::eq(Field::Kind, MemoryKind::Episode.as_str());
        let said = episode() & Filter::between(Field::ObservedAt, start, end);
        let ended = Filter::lte(Field::InvalidAt, start.to_rfc3339());
        let held = !episode() & Filter::lt(Field::ValidAt, end.to_rfc3339()) & !ended;
        let timed = said | held;
        Some(match &self.filter {
            Some(filter) => filter.clone() & timed,
            None => timed,
        })
    }

    fn validate(&self) -> Result<()> {
        if self.query.trim().is_empty() {
            return Err(Error::invalid("the query of a search is blank"));
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(Error::invalid("the threshold of a search must be 0 to 1"));
        }
        if !(0.0..=1.0).contains(&self.diversity) {
            return Err(Error::invalid("the diversity of a search must be 0 to 1"));
        }
        if self.as_of.is_some() && self.include_invalid {
            return Err(Error::invalid("a search cannot be as of a time and include what is invalid"));
        }
        if self.between.is_some_and(|(start, end)| start >= end) {
            return Err(Error::invalid("a search between two times needs the earlier one first"));
        }
        self.filter_of_all().iter().try_for_each(Filter::validate)
    }
}

impl From<&str> for SearchRequest {
    fn from(query: &str) -> Self {
        Self::new(query)
    }
}

impl From<&String> for SearchRequest {
    fn from(query: &String) -> Self {
        Self::new(query)
    }
}

impl From<String> for SearchRequest {
    fn from(query: String) -> Self {
        Self::new(query)
    }
}

/// What a part of a score stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// The cosine of the vectors, where it is above 0.
    Vector,
    /// The keyword similarity.
    Keyword,
    /// How well the turns before and after it fit; see [`Surroundings`](crate::Surroundings).
    Neighbours,
    /// How well the question fits that it replies to; see [`Surroundings`](crate::Surroundings).
    Replies,
    /// How well its session fits; see [`Surroundings`](crate::Surroundings).
    Session,
    /// 1 if the query names its speaker, and no other of those who spoke.
    Speaker,
    /// 1 if the query wants a time or a number and it names one.
    Wanted,
    /// How near it is to a time that the query names, by [`timeliness`](crate::score::timeliness): when it was said,
    /// and for what is no turn also when it held. There only if the query names one, and only in a hybrid search.
    Time,
    /// 1 if the assistant said it: what the user says of himself outweighs what he was told. Takes away.
    Assistant,
    /// The share of it that asks, among people: what one asks of another tells little. Takes away.
    Asks,
    /// How long it is; see [`length`](crate::score::fusion::length). Takes away.
    Length,
    /// By how much it was lifted up to an older hit that it brings up to date.
    Update,
    /// The relevance that the [`Reranker`](crate::Reranker) gives it, with how much that counts against all other parts.
    Rerank,
}

/// The score of these parts.
///
/// What the memory itself says (vector, keyword) is summed up, value × weight, and so is what stands around it
/// (neighbours, replies, session, speaker, wanted, time); the two are joined as independent chances are, and what the
/// assistant said, what asks and what is long are held back:
/// `(1 − (1 − own) × (1 − around)) × (1 − assistant) × (1 − asks) × (1 − length) + update`, each kept within 0 to 1.
/// What a reranker says takes its weight's share of that: `(1 − weight) × score + weight × rerank`, before `update`.
fn score(parts: &[ScorePart]) -> f32 {
    let rest = |share: f32| 1.0 - share.clamp(0.0, 1.0);
    let (mut own, mut around, mut kept, mut update) = (0.0_f32, 0.0_f32, 1.0_f32, 0.0_f32);
    let mut judged = None;
    for ScorePart { part, value, weight } in parts {
        let sum = match part {
            Part::Vector | Part::Keyword => &mut own,
            Part::Neighbours | Part::Replies | Part::Session | Part::Speaker | Part::Wanted | Part::Time => &mut around,
            Part::Update => &mut update,
            Part::Rerank => {
                judged = Some((*value, weight.clamp(0.0, 1.0)));
                continue;
            }
            Part::Assistant | Part::Asks | Part::Length => {
                kept *= rest(value * weight);
                continue;
            }
        };
        *sum += value * weight;
    }
    let found = (1.0 - rest(own) * rest(around)) * kept;
    let score = judged.map_or(found, |(relevance, weight)| (1.0 - weight) * found + weight * relevance);
    (score + update).clamp(0.0, 1.0)
}

impl Part {
    /// The part in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Keyword => "keyword",
            Self::Neighbours => "neighbours",
            Self::Replies => "replies",
            Self::Session => "session",
            Self::Speaker => "speaker",
            Self::Wanted => "wanted",
            Self::Time => "time",
            Self::Assistant => "assistant",
            Self::Asks => "asks",
            Self::Length => "length",
            Self::Update => "update",
            Self::Rerank => "rerank",
        }
    }
}

/// One part of a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScorePart {
    /// What it stands for.
    pub part: Part,
    /// Its value, 0 to 1.
    pub value: f32,
    /// How much it counts, 0 to 1.
    pub weight: f32,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// How well it fits the query, 0 to 1, by the formula of [`score::fusion`](crate::score::fusion). It does not depend
    /// on what else was found, but for two parts: the speaker's, which asks whether the query names one speaker alone,
    /// and the update's.
    pub score: f32,
    /// What the score is made of.
    pub parts: Vec<ScorePart>,
}

impl ScorePart {
    /// A part.
    #[must_use]
    pub const fn new(part: Part, value: f32, weight: f32) -> Self {
        Self { part, value, weight }
    }
}

impl Hit {
    /// A hit with these parts, for whoever stands in for a search; the score follows from them.
    #[must_use]
    pub fn new(memory: Memory, parts: Vec<ScorePart>) -> Self {
        Self { memory, score: score(&parts), parts }
    }

    /// The score and its parts on one line: `0.412 from 0.45 × vector 0.631, 0.55 × keyword 0.294`. Parts that are 0
    /// are left out.
    #[must_use]
    pub fn explain(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .filter(|part| part.value > 0.0)
            .map(|part| format!("{:.2} × {} {:.3}", part.weight, part.part.as_str(), part.value))
            .collect();
        format!("{:.3} from {}", self.score, parts.join(", "))
    }
}

/// What a search runs on.
pub(crate) struct SearchContext<'a> {
    pub(crate) store: &'a dyn VectorStore,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) reranker: Option<&'a dyn Reranker>,
    pub(crate) weights: Weights,
    pub(crate) now: Timestamp,
    /// The vector of the query, if whoever searches has it already.
    pub(crate) vector: Option<Vec<f32>>,
}

pub(crate) async fn search(context: &SearchContext<'_>, scope: &Scope, request: &SearchRequest) -> Result<Vec<Hit>> {
    scope.validate()?;
    request.validate()?;
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let in_search = |error: Error| error.with_stage(Stage::Search);
    let times = Times::named(context, request);
    let candidates = candidates::propose(context, scope, request, &times).await?;
    let scored = fuse::fuse(&request.query, candidates, request.mode, context.weights, &times);
    let hits = rank::rank(context, scope, request, scored).await.map_err(in_search)?;
    if request.record_access && !hits.is_empty() {
        let ids: Vec<_> = hits.iter().map(|hit| hit.memory.id).collect();
        context.store.record_access(scope, &ids, context.now).await.map_err(in_search)?;
    }
    Ok(hits)
}
