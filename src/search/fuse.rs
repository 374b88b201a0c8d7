use super::{Part, ScorePart, SearchMode, hit::score, speakers::Speakers, times::Times};
use std::collections::HashMap;

use crate::{
    Candidate, MemoryId, Trust,
    cues::Wanted,
    graph::Led,
    score::fusion::{Weights, length},
};

/// A candidate with its score.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) score: f32,
    pub(super) parts: Vec<ScorePart>,
}

/// Scores every candidate by the published formula. Those that only the words could have proposed and that have none
/// of them are left out.
pub(super) fn fuse(
    query: &str,
    candidates: Vec<Candidate>,
    mode: SearchMode,
    weights: Weights,
    times: &Times,
    led: &HashMap<MemoryId, Led>,
) -> Vec<Scored> {
    let speakers = Speakers::named(query, &candidates);
    let wanted = Wanted::by(query);
    candidates
        .into_iter()
        .filter(|candidate| mode != SearchMode::Keyword || candidate.keyword.is_some_and(|keyword| keyword > 0.0))
        .map(|candidate| {
            let parts = match mode {
                SearchMode::Vector => vec![ScorePart::new(Part::Vector, positive(candidate.cosine), 1.0)],
                SearchMode::Keyword => vec![ScorePart::new(Part::Keyword, positive(candidate.keyword), 1.0)],
                SearchMode::Hybrid => {
                    let mut parts = parts(&candidate, &speakers, wanted, weights, times);
                    if let Some(led) = led.get(&candidate.id) {
                        parts.push(ScorePart::new(Part::Graph, led.strength, weights.graph));
                    }
                    parts
                }
            };
            let score = score(&parts);
            Scored { candidate, score, parts }
        })
        .collect()
}

fn parts(
    candidate: &Candidate,
    speakers: &Speakers,
    wanted: Wanted,
    weights: Weights,
    times: &Times,
) -> Vec<ScorePart> {
    let cues = candidate.attributes.cues;
    let mut parts = vec![
        ScorePart::new(Part::Vector, positive(candidate.cosine), weights.vector),
        ScorePart::new(Part::Keyword, positive(candidate.keyword), weights.keyword),
    ];
    if let Some(around) = candidate.surroundings {
        parts.push(ScorePart::new(Part::Neighbours, around.neighbours, weights.neighbours));
        parts.push(ScorePart::new(Part::Replies, around.replies, weights.replies));
        parts.push(ScorePart::new(Part::Session, around.session, weights.session));
    }
    if speakers.is_named(candidate) {
        parts.push(ScorePart::new(Part::Speaker, 1.0, weights.speaker));
    }
    if (wanted.time && cues.tells_time) || (wanted.number && cues.tells_number) {
        parts.push(ScorePart::new(Part::Wanted, 1.0, weights.wanted));
    }
    if let Some(nearness) = times.nearness(&candidate.attributes) {
        parts.push(ScorePart::new(Part::Time, nearness, weights.time));
    }
    if candidate.attributes.trust == Trust::Assistant {
        parts.push(ScorePart::new(Part::Assistant, 1.0, weights.assistant));
    }
    if candidate.surroundings.is_some_and(|around| around.among_people) && cues.asks > 0.0 {
        parts.push(ScorePart::new(Part::Asks, cues.asks, weights.asks));
    }
    let length = length(cues.words);
    if length > 0.0 {
        parts.push(ScorePart::new(Part::Length, length, weights.length));
    }
    parts
}

fn positive(similarity: Option<f32>) -> f32 {
    similarity.unwrap_or(0.0).clamp(0.0, 1.0)
}
