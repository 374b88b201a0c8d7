use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::{
    Conversation, Dataset, LeftOut, Question, Ranked,
    metrics::{all_hit, any_hit, ndcg, ranks_above, recall, reciprocal_rank},
};

/// How well the evidence of one question was found, or, as means, that of many. Each is in 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scores {
    /// Whether any turn of the evidence is among the first five.
    pub turn_any_at_5: f64,
    /// Whether any is among the first ten.
    pub turn_any_at_10: f64,
    /// Which share is among the first ten.
    pub turn_recall_at_10: f64,
    /// Whether all are among the first ten.
    pub turn_all_at_10: f64,
    /// One over the rank of the first, within a hundred hits.
    pub reciprocal_rank: f64,
    /// The discounted gain of the first ten.
    pub ndcg_at_10: f64,
    /// Whether any session of the evidence is among the first five sessions.
    pub session_any_at_5: f64,
    /// Whether any is among the first ten sessions.
    pub session_any_at_10: f64,
}

impl Scores {
    /// The scores of what was found for a question of the conversation.
    #[must_use]
    pub fn of(conversation: &Conversation, question: &Question, found: &Ranked) -> Self {
        let turn = |place: &usize| conversation.turns.get(*place);
        let sessions: Vec<String> =
            question.evidence.iter().filter_map(turn).map(|turn| turn.session.clone()).collect();
        Self {
            turn_any_at_5: any_hit(&found.turns, &question.evidence, 5),
            turn_any_at_10: any_hit(&found.turns, &question.evidence, 10),
            turn_recall_at_10: recall(&found.turns, &question.evidence, 10),
            turn_all_at_10: all_hit(&found.turns, &question.evidence, 10),
            reciprocal_rank: reciprocal_rank(&found.longer, &question.evidence),
            ndcg_at_10: ndcg(&found.turns, &question.evidence, 10),
            session_any_at_5: any_hit(&found.sessions, &sessions, 5),
            session_any_at_10: any_hit(&found.sessions, &sessions, 10),
        }
    }

    const NAMES: [&'static str; 8] =
        ["any@5", "any@10", "recall@10", "all@10", "MRR", "nDCG@10", "session any@5", "session any@10"];

    const fn values(&self) -> [f64; 8] {
        let Self {
            turn_any_at_5,
            turn_any_at_10,
            turn_recall_at_10,
            turn_all_at_10,
            reciprocal_rank,
            ndcg_at_10,
            session_any_at_5,
            session_any_at_10,
        } = *self;
        [
            turn_any_at_5,
            turn_any_at_10,
            turn_recall_at_10,
            turn_all_at_10,
            reciprocal_rank,
            ndcg_at_10,
            session_any_at_5,
            session_any_at_10,
        ]
    }

    /// The means; all 0 for none.
    fn mean<'s>(scores: impl Iterator<Item = &'s Self>) -> Means {
        let (mut sums, mut n) = ([0.0; 8], 0_usize);
        for scores in scores {
            sums.iter_mut().zip(scores.values()).for_each(|(sum, value)| *sum += value);
            n += 1;
        }
        let [five, ten, recall, all, rank, gain, session_five, session_ten] = sums.map(|sum| sum / n.max(1) as f64);
        let scores = Self {
            turn_any_at_5: five,
            turn_any_at_10: ten,
            turn_recall_at_10: recall,
            turn_all_at_10: all,
            reciprocal_rank: rank,
            ndcg_at_10: gain,
            session_any_at_5: session_five,
            session_any_at_10: session_ten,
        };
        Means { n, scores }
    }
}

/// The means over some questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Means {
    /// How many questions.
    pub n: usize,
    /// The mean of each score; 0 where there is no question.
    pub scores: Scores,
}

/// One question of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answered {
    /// The conversation's name.
    pub conversation: String,
    /// The question's category.
    pub category: String,
    /// How well its evidence was found.
    pub scores: Scores,
    /// Where its answer was changed: whether the newer one stands above the first one, within a hundred hits.
    pub update_above_original: Option<bool>,
    /// How long the search for ten hits took.
    pub elapsed: Duration,
}

/// What came of asking the questions of a data set. Prints as a table.
///
/// The questions stay in the order they were asked in, so that two reports over one data set can be compared pair by
/// pair, see [`PairedBootstrap`](super::bootstrap::PairedBootstrap).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The data set.
    pub dataset: String,
    /// How many turns were searched through, all conversations together.
    pub turns: usize,
    /// What of the data set was left out, and why.
    pub left_out: LeftOut,
    /// Over all questions.
    pub overall: Means,
    /// By category.
    pub categories: BTreeMap<String, Means>,
    /// How many questions have an answer that was changed, and the share of them whose newer answer stands above the
    /// first one; `None` without such questions.
    pub updates: Option<(usize, f64)>,
    /// The median time of a search for ten hits.
    pub search_p50: Duration,
    /// Each question.
    pub questions: Vec<Answered>,
}

impl Report {
    /// A report without questions.
    #[must_use]
    pub fn new(dataset: impl Into<String>) -> Self {
        Self {
            dataset: dataset.into(),
            turns: 0,
            left_out: LeftOut::default(),
            overall: Means::default(),
            categories: BTreeMap::new(),
            updates: None,
            search_p50: Duration::ZERO,
            questions: Vec::new(),
        }
    }

    /// A report without questions over a data set, which says what was left out of that.
    #[must_use]
    pub fn over(dataset: &Dataset) -> Self {
        Self { left_out: dataset.left_out.clone(), ..Self::new(&dataset.name) }
    }

    /// Takes in what was found for the questions of a conversation, in their order. A question for which nothing is
    /// given counts as one for which nothing was found.
    pub fn add(&mut self, conversation: &Conversation, found: &[Ranked]) {
        self.turns += conversation.turns.len();
        let nothing = Ranked::default();
        let found = found.iter().chain(std::iter::repeat(&nothing));
        for (question, found) in conversation.questions.iter().zip(found) {
            let above = |update: &super::Update| ranks_above(&found.longer, &update.updated, &update.original);
            self.questions.push(Answered {
                conversation: conversation.name.clone(),
                category: question.category.clone(),
                scores: Scores::of(conversation, question, found),
                update_above_original: question.update.as_ref().map(above),
                elapsed: found.elapsed,
            });
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let mut by_category: BTreeMap<&str, Vec<&Scores>> = BTreeMap::new();
        for question in &self.questions {
            by_category.entry(&question.category).or_default().push(&question.scores);
        }
        self.categories = by_category
            .into_iter()
            .map(|(category, scores)| (category.to_owned(), Scores::mean(scores.into_iter())))
            .collect();
        self.overall = Scores::mean(self.questions.iter().map(|question| &question.scores));
        let updates: Vec<bool> = self.questions.iter().filter_map(|question| question.update_above_original).collect();
        let above = updates.iter().filter(|above| **above).count();
        self.updates = (!updates.is_empty()).then(|| (updates.len(), above as f64 / updates.len() as f64));
        let mut times: Vec<Duration> = self.questions.iter().map(|question| question.elapsed).collect();
        times.sort_unstable();
        self.search_p50 = times.get(times.len() / 2).copied().unwrap_or_default();
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.categories.iter().map(|(category, means)| (category.as_str(), means));
        let rows: Vec<(&str, &Means)> = rows.chain([("all", &self.overall)]).collect();
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default().max(8);
        write!(f, "{:<width$}  {:>6}", "category", "n")?;
        for name in Scores::NAMES {
            write!(f, "  {name}")?;
        }
        for (name, means) in rows {
            write!(f, "\n{name:<width$}  {:>6}", means.n)?;
            for (name, value) in Scores::NAMES.iter().zip(means.scores.values()) {
                write!(f, "  {value:>column$.3}", column = name.len())?;
            }
        }
        let milliseconds = self.search_p50.as_secs_f64() * 1e3;
        write!(f, "\n{}: {} turns, median search {milliseconds:.3} ms", self.dataset, self.turns)?;
        if let Some((n, above)) = self.updates {
            write!(f, ", newer above first {above:.3} of {n}")?;
        }
        write!(f, "\nleft out: {}", self.left_out)
    }
}
