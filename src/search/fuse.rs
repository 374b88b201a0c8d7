use super::{Part, ScorePart, SearchMode};
use crate::{Candidate, score::fusion::Weights};

/// A candidate with its score.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) score: f32,
    pub(super) parts: Vec<ScorePart>,
}

/// Scores every candidate. Those that only the words could have proposed and that have none of them are left out.
pub(super) fn fuse(candidates: Vec<Candidate>, mode: SearchMode, weights: Weights) -> Vec<Scored> {
    let weights: &[(Part, f32)] = match mode {
        SearchMode::Vector => &[(Part::Vector, 1.0)],
        SearchMode::Keyword => &[(Part::Keyword, 1.0)],
        SearchMode::Hybrid => &[(Part::Vector, weights.vector), (Part::Keyword, weights.keyword)],
    };
    candidates
        .into_iter()
        .filter(|candidate| mode != SearchMode::Keyword || candidate.keyword.is_some_and(|keyword| keyword > 0.0))
        .map(|candidate| {
            let parts: Vec<ScorePart> = weights
                .iter()
                .map(|&(part, weight)| {
                    let similarity = match part {
                        Part::Vector => candidate.cosine,
                        Part::Keyword => candidate.keyword,
                    };
                    ScorePart { part, value: similarity.unwrap_or(0.0).clamp(0.0, 1.0), weight }
                })
                .collect();
            let score = parts.iter().map(|part| part.value * part.weight).sum();
            Scored { candidate, score, parts }
        })
        .collect()
}
