//! The index against a search so plain that it cannot be wrong: every score of every memory, sorted.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashSet},
};

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

use super::{
    AnalysedKey, Indexed, ScopeIndex, Terms,
    analyzer::{Analysis, Languages, query_terms},
    search::Scratch,
};
use crate::{
    Candidate, Filter, Memory, MemoryId, MemoryKind, Scope, SearchQuery, TimeRange, Timestamp, Trust, Validity,
    cues::Cues,
    score::{
        lexical::{Bm25, inverse_frequency},
        similarity,
    },
};

/// No whole number of blocks.
const DIMENSIONS: usize = 40;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400 + seconds, 0).unwrap_or_default()
}

fn id(number: u8) -> MemoryId {
    MemoryId::from_bytes([number; 16])
}

#[derive(Debug, Clone)]
enum Step {
    Put(Memory, Vec<(String, Vec<f32>)>),
    Refresh(Index, Memory),
    Remove(Index),
}

fn text() -> impl Strategy<Value = String> {
    let words =
        vec!["tea", "river", "rivers", "the", "walk", "walking", "libros", "los", "чай", "茶馆", "C++", "don't"];
    vec(select(words), 1..8).prop_map(|words| words.join(" "))
}

/// Some few that tie with others exactly, most that do not, some that differ by less than a code tells.
fn vector() -> impl Strategy<Value = Vec<f32>> {
    prop_oneof![
        1 => vec(select(vec![-1.0_f32, 0.0, 1.0]), 2).prop_map(|few| few.into_iter().cycle().take(DIMENSIONS).collect()),
        2 => vec(-1.0..1.0_f32, DIMENSIONS),
        2 => (vec(-1e-3..1e-3_f32, DIMENSIONS)).prop_map(|few| few.into_iter().map(|number| 1.0 + number).collect()),
    ]
}

fn memory() -> impl Strategy<Value = Memory> {
    let ends = || prop::option::weighted(0.2, 0..20_i64);
    let kind = select(vec![MemoryKind::Episode, MemoryKind::Episode, MemoryKind::Fact]);
    let said =
        select(vec![("So.", Trust::User), ("Why?", Trust::User), ("So. Why?", Trust::User), ("So.", Trust::Assistant)]);
    (any::<u8>(), select(vec!["1", "2", "3"]), kind, prop::option::of(0..6_u64), (ends(), ends(), 0..8_i64), said)
        .prop_map(|(number, session, kind, ordinal, (invalid, expires, begin), (text, trust))| {
            let mut memory = Memory::new(id(number), Scope::user("a").with_session(session), text, at(0));
            memory.trust = trust;
            (memory.kind, memory.ordinal) = (kind, ordinal);
            (memory.observed_at, memory.valid_at) = (at(begin * 25), at(begin));
            (memory.invalid_at, memory.expires_at) = (invalid.map(at), expires.map(at));
            memory
        })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (memory(), vec((text(), vector()), 1..3)).prop_map(|(memory, keys)| Step::Put(memory, keys)),
        8 => (memory(), (text(), vector())).prop_map(|(memory, key)| Step::Put(memory, vec![key])),
        1 => (any::<Index>(), memory()).prop_map(|(which, memory)| Step::Refresh(which, memory)),
        2 => any::<Index>().prop_map(Step::Remove),
    ]
}

fn query() -> impl Strategy<Value = SearchQuery> {
    let held = TimeRange::new(at(3), at(6)).map(|range| Validity::CurrentOrHeld(at(10), range));
    let mut validities = vec![Validity::Any, Validity::Current(at(10)), Validity::At(at(5))];
    validities.extend(held);
    let validity = select(validities);
    let filter = prop::option::weighted(0.3, select(vec![Filter::eq("kind", "fact"), Filter::eq("session", "2")]));
    let range =
        (0..8_i64, 1..100_i64).prop_map(|(begin, length)| TimeRange::new(at(begin * 25), at(begin * 25 + length)));
    let dates = prop_oneof![Just(Vec::new()), vec(range, 1..3)];
    (prop::option::weighted(0.8, vector()), prop::option::weighted(0.8, text()), validity, filter, 0..12_usize, dates)
        .prop_map(|(vector, text, validity, filter, limit, dates)| {
            let mut query = SearchQuery::new(Scope::user("a"), at(10)).validity(validity).filter(filter).limit(limit);
            (query.vector, query.text) = (vector, text);
            query.dates = dates.into_iter().flatten().collect();
            query
        })
}

type Plain = BTreeMap<MemoryId, (Memory, Vec<(String, Vec<f32>)>)>;

/// Carries the steps out in the index and in the model.
fn carry_out(steps: Vec<Step>) -> (ScopeIndex, Plain) {
    let (mut index, mut plain) = (ScopeIndex::new(DIMENSIONS), Plain::new());
    for step in steps {
        let chosen =
            |which: &Index| (!plain.is_empty()).then(|| which.get(&plain.keys().collect::<Vec<_>>()).to_owned());
        match step {
            Step::Put(memory, keys) => {
                let analysed: Vec<AnalysedKey> = keys
                    .iter()
                    .map(|(text, vector)| AnalysedKey { terms: Terms::of(text), vector: vector.clone() })
                    .collect();
                let cues = Cues::of(&memory.text);
                index.put(&Indexed { memory: &memory, cues, keys: &analysed });
                plain.insert(memory.id, (memory, keys));
            }
            Step::Refresh(which, mut memory) => {
                let Some(chosen) = chosen(&which).copied() else { continue };
                memory.id = chosen;
                assert!(index.refresh(&memory, Cues::of(&memory.text)));
                plain.entry(chosen).and_modify(|stored| stored.0 = memory);
            }
            Step::Remove(which) => {
                let Some(chosen) = chosen(&which).copied() else { continue };
                index.remove(chosen);
                plain.remove(&chosen);
            }
        }
    }
    (index, plain)
}

fn cosine(keys: &[(String, Vec<f32>)], query: &[f32]) -> f32 {
    let unit = |vector: &[f32]| {
        let mut unit = vector.to_vec();
        similarity::normalize(&mut unit);
        unit
    };
    let query = unit(query);
    let cosines = keys.iter().map(|(_, vector)| similarity::dot(&unit(vector), &query).clamp(-1.0, 1.0));
    cosines.fold(f32::NEG_INFINITY, f32::max)
}

/// The keyword similarities, and whether there is anything to look for.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn keywords(plain: &Plain, query: &str) -> (BTreeMap<MemoryId, f32>, bool) {
    let keys: Vec<(MemoryId, Analysis)> =
        plain.iter().flat_map(|(id, (_, keys))| keys.iter().map(|(text, _)| (*id, Analysis::of(text)))).collect();
    let mut languages = Languages::default();
    keys.iter().filter_map(|(_, analysis)| analysis.language).for_each(|language| languages.count(language, 1));
    let groups = query_terms(query, &languages);
    let occurrences = |analysis: &Analysis, group: &Vec<String>| -> u32 {
        analysis.terms.iter().filter(|(term, _)| group.contains(term)).map(|(_, count)| count).sum()
    };
    let average = keys.iter().map(|(_, analysis)| analysis.length).sum::<u32>() as f32 / keys.len().max(1) as f32;
    let bm25 = Bm25::default();
    let weights: Vec<f32> = groups
        .iter()
        .map(|group| {
            let frequency = keys.iter().filter(|(_, analysis)| occurrences(analysis, group) > 0).count();
            inverse_frequency(keys.len(), frequency)
        })
        .collect();
    // Summed in the same order, since ties are to be the same.
    let bound: f32 = weights.iter().fold(0.0, |bound, weight| bound + bm25.bound(std::iter::once(*weight)));
    let mut best: BTreeMap<MemoryId, f32> = BTreeMap::new();
    for (id, analysis) in &keys {
        let mut score = 0.0;
        for (group, weight) in groups.iter().zip(&weights) {
            let count = occurrences(analysis, group);
            if count > 0 {
                score += weight * bm25.saturations(average).of(count as f32, analysis.length as f32);
            }
        }
        let score = if bound > 0.0 { (score * bound.recip()).clamp(0.0, 1.0) } else { 0.0 };
        let kept = best.entry(*id).or_insert(score);
        *kept = kept.max(score);
    }
    (best, !groups.is_empty())
}

fn search(plain: &Plain, query: &SearchQuery) -> Vec<Candidate> {
    let admitted = |memory: &Memory| {
        query.validity.admits(memory.valid_at, memory.invalid_at, memory.expires_at)
            && query.filter.as_ref().is_none_or(|filter| filter.matches(memory))
    };
    let words = query.text.as_deref().map(|text| keywords(plain, text));
    let word = |id: &MemoryId| words.as_ref().and_then(|(words, _)| words.get(id)).copied().unwrap_or(0.0);
    let near = |id: &MemoryId| plain.get(id).zip(query.vector.as_deref()).map(|((_, keys), query)| cosine(keys, query));
    let turns = |scope: &Scope| {
        let of_session = |memory: &&Memory| memory.kind == MemoryKind::Episode && memory.scope == *scope;
        let mut turns: Vec<&Memory> = plain.values().map(|(memory, _)| memory).filter(of_session).collect();
        turns.sort_by_key(|memory| (memory.ordinal.unwrap_or(u64::MAX), memory.id));
        turns
    };
    // What the neighbours lend, and what the turn before does as far as it asks.
    let lent = |memory: &Memory| {
        let turns = turns(&memory.scope);
        let Some(own) = turns.iter().position(|turn| turn.id == memory.id) else { return (0.0, 0.0) };
        let turn = |step: isize| own.checked_add_signed(step).and_then(|turn| turns.get(turn));
        let at = |step: isize| turn(step).map_or(0.0, |turn| word(&turn.id));
        let asks = turn(-1).map_or(0.0, |turn| Cues::of(&turn.text).asks);
        ((2.0 * (at(-1) + at(1)) + (at(-2) + at(2))) / 6.0, at(-1) * asks)
    };
    let session = |memory: &Memory| {
        let turns = turns(&memory.scope);
        let best = |mut numbers: Vec<f32>| {
            numbers.retain(|number| *number > 0.0);
            numbers.sort_by(|one, other| other.total_cmp(one));
            numbers.resize(3, 0.0);
            numbers
        };
        let words = best(turns.iter().map(|turn| word(&turn.id)).collect());
        let cosines = best(turns.iter().filter_map(|turn| near(&turn.id)).collect());
        let mean = |best: Vec<f32>| best.iter().sum::<f32>() / 3.0;
        let people = turns.iter().all(|turn| turn.trust != Trust::Assistant);
        (!turns.is_empty()).then(|| (0.65 * mean(words) + 0.35 * mean(cosines), people))
    };

    let mut chosen: HashSet<MemoryId> = HashSet::new();
    let mut choose = |score: &dyn Fn(&Memory) -> f32, floor: f32| {
        let memories = plain.values().map(|(memory, _)| memory).filter(|memory| admitted(memory));
        let mut scored: Vec<(f32, MemoryId)> = memories.map(|memory| (score(memory), memory.id)).collect();
        scored.retain(|(score, _)| *score > floor);
        scored.sort_by(|one, other| match other.0.total_cmp(&one.0) {
            Ordering::Equal => other.1.cmp(&one.1),
            unequal => unequal,
        });
        chosen.extend(scored.into_iter().take(query.limit).map(|(_, id)| id));
    };
    let there = words.as_ref().is_some_and(|(_, there)| *there);
    if query.vector.is_some() {
        choose(&|memory| near(&memory.id).unwrap_or(0.0), f32::NEG_INFINITY);
    }
    if there {
        choose(&|memory| word(&memory.id), 0.0);
    }
    if there && query.vector.is_some() {
        let proposal = |memory: &Memory| {
            let (neighbours, replies) = lent(memory);
            word(&memory.id) + 1.5 * (neighbours + replies)
        };
        choose(&proposal, 0.0);
    }
    if !query.dates.is_empty() {
        let lies_in = |memory: &Memory| {
            let attributes = crate::Attributes::from(memory);
            query.dates.iter().any(|range| attributes.lies_in(*range))
        };
        let fits = |memory: &Memory| near(&memory.id).unwrap_or(0.0).max(0.0) + word(&memory.id);
        choose(&|memory| if lies_in(memory) { fits(memory) } else { -1.0 }, -0.5);
    }
    if query.vector.is_none() && query.text.is_none() {
        choose(&|_| 1.0, 0.0);
    }
    let candidates = plain.values().filter(|(memory, _)| chosen.contains(&memory.id)).map(|(memory, _)| {
        let mut candidate = Candidate::new(memory.id, crate::Attributes::from(memory));
        candidate.cosine = near(&memory.id);
        candidate.keyword = query.text.as_ref().map(|_| word(&memory.id));
        if query.vector.is_some() && query.text.is_some() {
            candidate.surroundings = session(memory).map(|(session, people)| {
                let (neighbours, replies) = lent(memory);
                crate::Surroundings::new(neighbours, session).replies(replies).among_people(people)
            });
        }
        candidate
    });
    candidates.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_way_finds_what_the_plain_way_finds(steps in vec(step(), 0..60), queries in vec(query(), 1..4)) {
        let (index, plain) = carry_out(steps);
        let mut scratch = Scratch::default();
        for query in queries {
            let (found, expected) = (index.search(&query, &mut scratch), search(&plain, &query));
            let ids = |candidates: &[Candidate]| candidates.iter().map(|found| found.id).collect::<Vec<_>>();
            assert_eq!(ids(&found), ids(&expected), "{query:?}");
            for (found, mut expected) in found.into_iter().zip(expected) {
                if let (Some(found), Some(expected)) = (found.surroundings, &mut expected.surroundings) {
                    assert!((found.session - expected.session).abs() < 1e-5);
                    assert!((found.neighbours - expected.neighbours).abs() < 1e-5);
                    assert!((found.replies - expected.replies).abs() < 1e-5);
                    assert_eq!(found.among_people, expected.among_people);
                    *expected = found;
                }
                assert_eq!(found, expected);
            }
        }
    }
}
