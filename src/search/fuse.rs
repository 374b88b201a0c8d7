use super::{Part, ScorePart, SearchMode, hit::score, speakers::Speakers, times::Times};
use std::collections::HashMap;

use crate::{
    Candidate, MemoryId, Timestamp, Trust,
    cues::Wanted,
    graph::Led,
    score::{
        decay::{DecayForm, DecayPolicy, Fading},
        fusion::{Weights, length},
    },
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
    (weights, decay): (Weights, (&DecayPolicy, Timestamp)),
    times: &Times,
    led: &HashMap<MemoryId, Led>,
) -> Vec<Scored> {
    let speakers = Speakers::named(query, &candidates);
    let wanted = Wanted::by(query);
    // Who names a time asks for what was then, not for what is new.
    let recency = if times.ranges().is_empty() { weights.recency } else { 0.0 };
    candidates
        .into_iter()
        .filter(|candidate| mode != SearchMode::Keyword || candidate.keyword.is_some_and(|keyword| keyword > 0.0))
        .map(|candidate| {
            let mut parts = match mode {
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
            parts.extend(faded(&candidate, mode, recency, decay));
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

/// What time has made of it, in the form of the policy.
fn faded(
    candidate: &Candidate,
    mode: SearchMode,
    recency: f32,
    (policy, now): (&DecayPolicy, Timestamp),
) -> Option<ScorePart> {
    let attributes = &candidate.attributes;
    let left = || policy.left_of(&Fading::from(attributes), now);
    match policy.form {
        DecayForm::Bounded if mode == SearchMode::Hybrid && recency > 0.0 => {
            Some(ScorePart::new(Part::Recency, left(), recency))
        }
        DecayForm::Additive => Some(ScorePart::new(Part::Importance, attributes.importance * left(), 0.5)),
        DecayForm::Bounded => None,
    }
}

fn positive(similarity: Option<f32>) -> f32 {
    similarity.unwrap_or(0.0).clamp(0.0, 1.0)
}
