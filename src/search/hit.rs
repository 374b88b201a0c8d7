use serde::Serialize;

use crate::{
    Memory, Relation,
    score::decay::{additive, bounded},
};

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
    /// How strongly the entities that the query names lead to it, by how much of the query the way there explains; see
    /// [`Hit::path`].
    Graph,
    /// 1 if the assistant said it: what the user says of himself outweighs what he was told. Takes away.
    Assistant,
    /// The share of it that asks, among people: what one asks of another tells little. Takes away.
    Asks,
    /// How long it is; see [`length`](crate::score::fusion::length). Takes away.
    Length,
    /// How much is left of it by its [`decay`](crate::score::decay). Adds above a half, takes away below.
    Recency,
    /// Its [effective importance](crate::score::decay), if that is to count
    /// [as much as all the rest](crate::score::decay::DecayForm::Additive).
    Importance,
    /// By how much it was lifted up to an older hit that it brings up to date.
    Update,
    /// The relevance that the [`Reranker`](crate::Reranker) gives it, with how much that counts against all other parts.
    Rerank,
}

/// The score of these parts.
///
/// What the memory itself says (vector, keyword) is summed up, value × weight, and so is what stands around it
/// (neighbours, replies, session, speaker, wanted, time, graph); the two are joined as independent chances are, and what the
/// assistant said, what asks and what is long are held back:
/// `(1 − (1 − own) × (1 − around)) × (1 − assistant) × (1 − asks) × (1 − length) + update`, each kept within 0 to 1.
/// Before `update` the score is multiplied by `1 + weight × (recency − ½)`, what a reranker says takes its weight's share of
/// that, `(1 − weight) × score + weight × rerank`, and importance, where it counts, takes a half.
pub(super) fn score(parts: &[ScorePart]) -> f32 {
    let rest = |share: f32| 1.0 - share.clamp(0.0, 1.0);
    let (mut own, mut around, mut kept, mut update) = (0.0_f32, 0.0_f32, 1.0_f32, 0.0_f32);
    let (mut judged, mut left, mut importance) = (None, None, None);
    for ScorePart { part, value, weight } in parts {
        let sum = match part {
            Part::Vector | Part::Keyword => &mut own,
            Part::Neighbours
            | Part::Replies
            | Part::Session
            | Part::Speaker
            | Part::Wanted
            | Part::Time
            | Part::Graph => &mut around,
            Part::Update => &mut update,
            Part::Rerank => {
                judged = Some((*value, weight.clamp(0.0, 1.0)));
                continue;
            }
            Part::Recency => {
                left = Some((*value, *weight));
                continue;
            }
            Part::Importance => {
                importance = Some(*value);
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
    let found = left.map_or(found, |(left, alpha)| bounded(found, left, alpha));
    let score = judged.map_or(found, |(relevance, weight)| (1.0 - weight) * found + weight * relevance);
    let score = importance.map_or(score, |importance| additive(score, importance));
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
            Self::Graph => "graph",
            Self::Assistant => "assistant",
            Self::Asks => "asks",
            Self::Length => "length",
            Self::Recency => "recency",
            Self::Importance => "importance",
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
    /// The memory's importance, faded: what is left of it when it is asked, 0 to its importance; see
    /// [`decay`](crate::score::decay).
    pub effective_importance: f32,
    /// The way through the graph that led to it, from an entity that the query names; the last relation rests on it. Empty
    /// where none did, and in a search of one session.
    pub path: Vec<Relation>,
}

impl ScorePart {
    /// A part.
    #[must_use]
    pub const fn new(part: Part, value: f32, weight: f32) -> Self {
        Self { part, value, weight }
    }
}

impl Hit {
    /// A hit with these parts, for whoever stands in for a search; the score follows from them. Nothing has faded.
    #[must_use]
    pub fn new(memory: Memory, parts: Vec<ScorePart>) -> Self {
        let effective_importance = memory.importance;
        Self { memory, score: score(&parts), parts, effective_importance, path: Vec::new() }
    }

    /// The score and its parts on one line: `0.357 from 0.45 × vector 0.631, 0.55 × keyword 0.294, less 0.20 × assistant
    /// 1.000`. Parts that change nothing are left out; `less` takes away, `then` is what a reranker, or time, makes of all
    /// before it.
    #[must_use]
    pub fn explain(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .filter(|part| part.value > 0.0 || matches!(part.part, Part::Rerank | Part::Recency | Part::Importance))
            .map(|part| {
                let sign = match part.part {
                    Part::Assistant | Part::Asks | Part::Length => "less ",
                    Part::Rerank | Part::Recency | Part::Importance => "then ",
                    _ => "",
                };
                format!("{sign}{:.2} × {} {:.3}", part.weight, part.part.as_str(), part.value)
            })
            .collect();
        format!("{:.3} from {}", self.score, parts.join(", "))
    }
}
