//! What each part of the score is worth: the same questions, with one part switched off at a time.
//!
//! Weights count when searching alone, so a data set is stored once and asked once for each of [`variants`], each by an
//! engine over the same store; [`Table`] sets the reports side by side.

use std::fmt;

use super::{Report, bootstrap::PairedBootstrap};
use crate::score::fusion::Weights;

/// What recency has where it counts: half of the most.
const RECENCY: f32 = 0.1;

/// The default weights, and these with one part switched off each, or, of what is off by default, on. Without the
/// vector, words have the whole weight of the two, and the other way round; what neighbours and the session lend stays
/// as it is, whichever similarities that is made of.
#[must_use]
pub fn variants() -> Vec<(&'static str, Weights)> {
    let whole = Weights::default();
    // Taken apart, so that a new part cannot be forgotten here.
    let Weights {
        vector,
        keyword,
        neighbours: _,
        replies: _,
        session: _,
        speaker: _,
        wanted: _,
        time: _,
        graph: _,
        assistant: _,
        asks: _,
        length: _,
        recency: _,
        update: _,
        rerank: _,
    } = whole;
    let own = vector + keyword;
    vec![
        ("everything", whole),
        ("without vector", Weights { vector: 0.0, keyword: own, ..whole }),
        ("without keyword", Weights { vector: own, keyword: 0.0, ..whole }),
        ("without neighbours", Weights { neighbours: 0.0, ..whole }),
        ("without replies", Weights { replies: 0.0, ..whole }),
        ("without session", Weights { session: 0.0, ..whole }),
        ("without speaker", Weights { speaker: 0.0, ..whole }),
        ("without wanted", Weights { wanted: 0.0, ..whole }),
        ("without time", Weights { time: 0.0, ..whole }),
        ("without graph", Weights { graph: 0.0, ..whole }),
        ("without assistant", Weights { assistant: 0.0, ..whole }),
        ("without asks", Weights { asks: 0.0, ..whole }),
        ("without length", Weights { length: 0.0, ..whole }),
        ("without update", Weights { update: 0.0, ..whole }),
        ("with recency", Weights { recency: RECENCY, ..whole }),
        ("vector and keyword alone", whole.own_only()),
    ]
}

/// Reports over one data set, the first the one that the others are compared with. Prints as a Markdown table; the last
/// column is the p-value of the difference in recall@10, see [`PairedBootstrap`].
#[derive(Debug, Clone, Default)]
pub struct Table<'r>(Vec<(&'r str, &'r Report)>);

impl<'r> Table<'r> {
    /// A table without rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row.
    #[must_use]
    pub fn row(mut self, name: &'r str, report: &'r Report) -> Self {
        self.0.push((name, report));
        self
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("| score | any@5 | any@10 | recall@10 | MRR | session any@5 | newer above first | p |\n")?;
        f.write_str("| --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let recalls = |report: &Report| -> Vec<f64> {
            report.questions.iter().map(|question| question.scores.turn_recall_at_10).collect()
        };
        let first = self.0.first().map(|(_, report)| recalls(report)).unwrap_or_default();
        for (place, (name, report)) in self.0.iter().enumerate() {
            let scores = &report.overall.scores;
            write!(f, "\n| {name} ")?;
            for value in [
                scores.turn_any_at_5,
                scores.turn_any_at_10,
                scores.turn_recall_at_10,
                scores.reciprocal_rank,
                scores.session_any_at_5,
            ] {
                write!(f, "| {value:.3} ")?;
            }
            match report.updates {
                Some((_, above)) => write!(f, "| {above:.3} ")?,
                None => f.write_str("| – ")?,
            }
            // Reports over other questions cannot be compared in pairs.
            match PairedBootstrap::new().compare(&first, &recalls(report)) {
                Ok(comparison) if place > 0 => write!(f, "| {:.3} |", comparison.p_value)?,
                _ => f.write_str("| – |")?,
            }
        }
        Ok(())
    }
}
