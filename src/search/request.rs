use chrono::{DateTime, FixedOffset};

use crate::{Error, Field, Filter, MemoryKind, Result, TimeRange, Timestamp, Validity, types::quarantine::quarantined};

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
///
/// # Queries about the past
/// A hybrid search sees what holds now. A query that names a time that is over ("Where did I live in 2019?", "last May"), or
/// asks for what is so no longer ("used to", "my previous job", "… before?"), also finds what held then and has ended
/// since; [`invalid_at`](crate::Memory::invalid_at) tells when. Words for both are known in English, Russian, Spanish,
/// German, French and Chinese. What was removed or taken in by a like one, and what was kept aside, held at no time.
/// [`as_of`](Self::as_of), [`between`](Self::between) and [`include_invalid`](Self::include_invalid) say so exactly.
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

    /// When the query is asked: "last week" and the like are reckoned from there, by the days of its offset, and so is how
    /// much has [faded](crate::score::decay). A
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
    /// ([`observed_at`](crate::Memory::observed_at)), and anything else that held then, for an instant at least
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

    /// Counts an access to each hit, which is a write that the search waits for; see
    /// [`touch`](crate::MemoryEngine::touch) for another way. Default: not.
    pub fn record_access(mut self) -> Self {
        self.record_access = true;
        self
    }

    /// When it is asked, or else looked at: from there ages count.
    pub(super) fn seen_from(&self, now: Timestamp) -> Timestamp {
        self.asked_at.map(|at| at.to_utc()).or(self.as_of).unwrap_or(now)
    }

    /// `past` is the time that the query names and that is over.
    pub(super) fn validity(&self, now: Timestamp, past: Option<TimeRange>) -> Validity {
        match self.as_of {
            _ if self.include_invalid => Validity::Any,
            Some(then) => Validity::At(then),
            // What ended since held then all the same.
            None if self.between.is_some() => Validity::Any,
            None => past.map_or(Validity::Current(now), |past| Validity::CurrentOrHeld(now, past)),
        }
    }

    /// The filter, with that of the times.
    pub(super) fn filter_of_all(&self) -> Option<Filter> {
        let Some((start, end)) = self.between else { return self.filter.clone() };
        let episode = || Filter::eq(Field::Kind, MemoryKind::Episode.as_str());
        let said = episode() & Filter::between(Field::ObservedAt, start, end);
        let ended = Filter::lte(Field::InvalidAt, start.to_rfc3339());
        let held = !episode() & Filter::lt(Field::ValidAt, end.to_rfc3339()) & !ended;
        // It held at no time.
        let held = if self.include_invalid { held } else { held & !quarantined() };
        let timed = said | held;
        Some(match &self.filter {
            Some(filter) => filter.clone() & timed,
            None => timed,
        })
    }

    pub(super) fn validate(&self) -> Result<()> {
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
