//! Making one score of several similarities.
//!
//! A hybrid score joins what a memory says itself with what stands around it:
//!
//! ```text
//! own    = vector · cosine⁺ + keyword · bm25
//! around = neighbours · n + replies · r + session · s
//!        + speaker · [the query names its speaker] + wanted · [it has the time or number the query wants] + time · t
//!        + graph · g
//! score  = (1 − (1 − own) · (1 − around))
//!        · (1 − assistant · [the assistant said it]) · (1 − asks · q) · (1 − length · l) + u
//! ```
//!
//! where the words on the left of each product are [`Weights`], `cosine⁺` is the cosine where it is above 0, `bm25` the
//! bounded BM25 of [`lexical`](super::lexical), and `n`, `r` and `s` are the [`Surroundings`](crate::Surroundings) of a
//! turn. `q` is the share of a turn that asks, if people talk with each other in its session: what one asks tells of the
//! other, if at all. (To an assistant people ask about what is their own.) `l = ln(words / 80) / 5`, 0 to 1, of a text:
//! the best of many passages fits by chance. What a query wants and a text tells is read from [`cues`](crate::cues).
//!
//! `u` is 0 but for one of two like hits: of two that the same speaker said and of which the newer tells of a change, the
//! newer is lifted up to the older, unless it lies further behind than the weight `update` allows, as a share of the
//! older's score. Like are texts that share half of the words of the one that has fewer, or a fifth if it names a number
//! that the older does not, and the older one too. Only the first ten hits are looked at, so who is among them does not
//! depend on it.
//!
//! Before `u`, all of it is multiplied by `1 + recency · (d − ½)`, where `d` is how much is left of the memory by its
//! [`decay`](super::decay), unless the query names a time. By default `recency` is 0. There is also another form.
//!
//! With a [`Reranker`](crate::Reranker) that gives the relevance `ρ`, its weight `rerank` is its share:
//! `score = (1 − rerank) · (all of the above but u) + rerank · ρ + u`. Its `u` follows the order it makes.
//!
//! `g` is how strongly the entities that the query names lead to the memory, over a way of at most three relations of which
//! the last rests on it: the more of the query the way explains, the more. `g = Π (fits · √(min(1, 10 / n))) · 0.95^(steps − 1)
//! · share²`, the greatest of all ways. `share` is the share of the query's words, but the names the way begins at, that its
//! relations speak of, by predicate or by the type of what they lead to; a word that no relation is known to speak of counts
//! half. `fits` is 1 where a predicate has a word of the query as it stands, 0.9 where it has another word for the same ("wife",
//! `married_to`; English and Russian), 0.7 where only what it leads to is such a thing, and `0.5 / √m` where it explains
//! nothing, as `m` of the entity's do; the last step must speak of something the query does. `n` is how many relations of that
//! predicate and direction the entity has. What has ended counts where the query asks for the past, or for
//! a time, and what is not of that time then counts half.
//!
//! `t` is the [`timeliness`](super::timeliness) of a memory, 0 where the query names no time; of a query that names none
//! and asks for what was ("where did I live before?") it is 1 for what has ended (not measured). A memory that is no
//! turn has no neighbours, and a session only if it was learned in one. With `vector + keyword = 1` the score stays in
//! 0 to 1, and nothing in it is rescaled by what else was found.
//!
//! # Source
//! The sum of the two similarities is the linear fusion of Bruch, Gai and Ingber, "An Analysis of Fusion Functions for
//! Hybrid Retrieval", 2023; the join is the noisy-or of Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988. The
//! way through the graph is spreading activation (Collins and Loftus, "A Spreading-Activation Theory of Semantic
//! Processing", 1975), damped at hubs as by the fan effect (Anderson, 1974). The
//! weights were measured on LoCoMo and BEAM together: what is best on one of them alone is not what ships. Only that of the
//! graph, of which there is little to measure in either, was measured on questions about a made-up town; there, in LoCoMo it
//! does no harm.

use super::decay::MOST_RECENCY;

/// How much each part counts in a hybrid score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Weights {
    /// Of the cosine, where it is above 0. Default 0.45.
    pub vector: f32,
    /// Of the keyword similarity. Default 0.55.
    pub keyword: f32,
    /// Of the neighbouring turns. Default 0.8.
    pub neighbours: f32,
    /// Of the question that a turn replies to. Default 0.8.
    pub replies: f32,
    /// Of the session. Default 0.6.
    pub session: f32,
    /// Of being said by the one the query names. Default 0.03.
    pub speaker: f32,
    /// Of naming a time or a number where the query wants one. Default 0.05.
    pub wanted: f32,
    /// Of being near to a time that the query names. Default 0.15.
    pub time: f32,
    /// Of what the graph leads to. Default 0.8.
    pub graph: f32,
    /// Taken away from what the assistant said. Default 0.2.
    pub assistant: f32,
    /// Taken away from what one person asks another. Default 0.2.
    pub asks: f32,
    /// Taken away from long texts. Default 0.35.
    pub length: f32,
    /// Of how much is left of it by its [`decay`](super::decay), 0 to 0.2. Default 0: it was measured to cost more than it
    /// gains.
    pub recency: f32,
    /// How far, as a share of its score, the one of two like hits that tells of a change may lie behind the older one
    /// and still come before it. Default 0.2.
    pub update: f32,
    /// Of what a [`Reranker`](crate::Reranker) says, if there is one, against all of the above. Default 0.7.
    pub rerank: f32,
}

impl Weights {
    /// The default, with vector and keyword similarity in this proportion, scaled so that they sum to 1. Negative
    /// numbers count as 0; two zeros give equal weights.
    #[must_use]
    pub fn new(vector: f32, keyword: f32) -> Self {
        let (vector, keyword) = (vector.max(0.0), keyword.max(0.0));
        let sum = vector + keyword;
        let (vector, keyword) = if sum > 0.0 && sum.is_finite() { (vector / sum, keyword / sum) } else { (0.5, 0.5) };
        Self {
            vector,
            keyword,
            neighbours: 0.8,
            replies: 0.8,
            session: 0.6,
            speaker: 0.03,
            wanted: 0.05,
            time: 0.15,
            graph: 0.8,
            assistant: 0.2,
            asks: 0.2,
            length: 0.35,
            recency: 0.0,
            update: 0.2,
            rerank: 0.7,
        }
    }

    /// Whether each is a number and not negative, and that of recency in its range.
    pub(crate) fn are_sound(&self) -> bool {
        let Self {
            vector,
            keyword,
            neighbours,
            replies,
            session,
            speaker,
            wanted,
            time,
            graph,
            assistant,
            asks,
            length,
            recency,
            update,
            rerank,
        } = *self;
        [
            vector, keyword, neighbours, replies, session, speaker, wanted, time, graph, assistant, asks, length,
            recency, update, rerank,
        ]
        .iter()
        .all(|weight| weight.is_finite() && *weight >= 0.0)
            && recency <= MOST_RECENCY
    }

    /// Without what stands around a memory, and without regard to who said it and how: the weighted sum alone.
    #[must_use]
    pub fn own_only(self) -> Self {
        Self {
            vector: self.vector,
            keyword: self.keyword,
            neighbours: 0.0,
            replies: 0.0,
            session: 0.0,
            speaker: 0.0,
            wanted: 0.0,
            time: 0.0,
            graph: 0.0,
            assistant: 0.0,
            asks: 0.0,
            length: 0.0,
            recency: 0.0,
            update: 0.0,
            rerank: self.rerank,
        }
    }
}

/// How long a text of so many words is, 0 to 1: `ln(words / 80) / 5`. 0 up to a passage, 1 from some 12,000 words on.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a number of words")]
pub fn length(words: u32) -> f32 {
    ((words as f32 / 80.0).max(1.0).ln() / 5.0).min(1.0)
}

impl Default for Weights {
    fn default() -> Self {
        Self::new(0.45, 0.55)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one() {
        for (vector, keyword) in [(1.0, 3.0), (0.0, 0.0), (-1.0, 2.0), (f32::NAN, 1.0)] {
            let weights = Weights::new(vector, keyword);
            assert!((weights.vector + weights.keyword - 1.0).abs() < 1e-6, "{weights:?}");
        }
    }
}
