//! Of two like hits the one that brings the other up to date comes first.

use super::{Hit, Part, ScorePart, words::Words};
use crate::{Trust, cues::Cues};

/// How many of the first hits are looked at.
pub(super) const WINDOW: usize = 10;
/// The least share of words, of the one that has fewer, that two texts on one matter have in common.
const LIKE: f32 = 0.5;
/// The same for texts that each name a number: of what changes most often it is the number.
const LIKE_WITH_OTHER_NUMBERS: f32 = 0.2;

/// Lifts each hit that tells of a change to the place and the score of the best older one that is like it, of the same
/// kind and speaker, unless it lies further behind than `most`, as a share of the older's score.
pub(super) fn lift(hits: &mut [Hit], most: f32) {
    let mut words = Words::new(WINDOW);
    for newer in 1..hits.len().min(WINDOW) {
        if !hits.get(newer).is_some_and(|hit| Cues::of(&hit.memory.text).tells_change) {
            continue;
        }
        let updates = |older: &usize| {
            may_update(hits, newer, *older, most)
                && words.in_common(hits, newer, *older) >= likeness(hits, newer, *older)
        };
        let Some(older) = (0..newer).find(updates) else { continue };
        let score = hits.get(older).map_or(0.0, |hit| hit.score);
        if let Some(hit) = hits.get_mut(newer) {
            hit.parts.push(ScorePart::new(Part::Update, score - hit.score, 1.0));
            hit.score = score;
        }
        if let Some(moved) = hits.get_mut(older..=newer) {
            moved.rotate_right(1);
        }
        words.moved(newer, older);
    }
}

fn may_update(hits: &[Hit], newer: usize, older: usize, most: f32) -> bool {
    let (Some(hit), Some(other)) = (hits.get(newer), hits.get(older)) else { return false };
    let (memory, before) = (&hit.memory, &other.memory);
    memory.trust != Trust::Assistant
        && (memory.trust, &memory.kind, &memory.speaker) == (before.trust, &before.kind, &before.speaker)
        && (memory.observed_at, memory.id) > (before.observed_at, before.id)
        && hit.score >= (1.0 - most) * other.score
}

/// How like the two must be.
fn likeness(hits: &[Hit], newer: usize, older: usize) -> f32 {
    let (Some(newer), Some(older)) = (hits.get(newer), hits.get(older)) else { return f32::INFINITY };
    let before: Vec<&str> = numbers(&older.memory.text).collect();
    let other = !before.is_empty() && numbers(&newer.memory.text).any(|number| !before.contains(&number));
    if other { LIKE_WITH_OTHER_NUMBERS } else { LIKE }
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_numeric() && !matches!(c, '.' | ',' | ':'))
        .map(|word| word.trim_matches(['.', ',', ':']))
        .filter(|word| !word.is_empty())
}
