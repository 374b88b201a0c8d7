//! Of two like hits the one that brings the other up to date comes first.

use std::collections::HashSet;

use super::{Hit, Part, ScorePart};
use crate::{Trust, cues::Cues, index::content_terms};

/// How many of the first hits are looked at.
pub(super) const WINDOW: usize = 10;
/// The least share of words, of the one that has fewer, that two like texts have in common.
const LIKE: f32 = 0.2;

/// Lifts each hit that tells of a change to the place and the score of the best older one that is like it, of the same
/// kind and speaker, unless it lies further behind than `most`, as a share of the older's score.
pub(super) fn lift(hits: &mut Vec<(Hit, Cues)>, most: f32) {
    let mut words: Vec<Option<HashSet<String>>> = vec![None; hits.len().min(WINDOW)];
    for newer in 1..words.len() {
        let Some(older) = (0..newer).find(|older| updates(hits, &mut words, newer, *older, most)) else { continue };
        let score = hits.get(older).map_or(0.0, |(hit, _)| hit.score);
        let (mut lifted, lifted_words) = (hits.remove(newer), words.remove(newer));
        lifted.0.parts.push(ScorePart::new(Part::Update, score - lifted.0.score, 1.0));
        lifted.0.score = score;
        hits.insert(older, lifted);
        words.insert(older, lifted_words);
    }
}

fn updates(hits: &[(Hit, Cues)], words: &mut [Option<HashSet<String>>], newer: usize, older: usize, most: f32) -> bool {
    let (Some((hit, cues)), Some((other, _))) = (hits.get(newer), hits.get(older)) else { return false };
    let (memory, before) = (&hit.memory, &other.memory);
    let may = cues.tells_change
        && memory.trust != Trust::Assistant
        && (memory.trust, &memory.kind, &memory.speaker) == (before.trust, &before.kind, &before.speaker)
        && (memory.observed_at, memory.id) > (before.observed_at, before.id)
        && hit.score >= (1.0 - most) * other.score;
    if !may {
        return false;
    }
    for (place, text) in [(newer, &memory.text), (older, &before.text)] {
        if let Some(words @ None) = words.get_mut(place) {
            *words = Some(content_terms(text));
        }
    }
    match (words.get(newer), words.get(older)) {
        (Some(Some(newer)), Some(Some(older))) => like(newer, older),
        _ => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn like(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let fewer = one.len().min(other.len());
    fewer > 0 && one.intersection(other).count() as f32 >= LIKE * fewer as f32
}
