//! What a query asks of the graph: the entities it names, and the words beside them that a way from there may explain.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use super::concepts::concepts;
use crate::{Entity, EntityId, Mention, index::content_words, score::names::folded, text::is_unspaced};

/// Longest name in a query, in words, or in characters where no blanks part words.
const NAME: usize = 5;
const CHARACTERS: usize = 8;
/// Most words of a query that are looked at, and of those that a way may explain: one bit each.
const WORDS: usize = 96;
const UNITS: usize = 64;
/// What a word counts of which nothing is known to speak, against one that speaks of a relation.
const OTHER: f32 = 0.5;
/// The same of two characters that may be the end of one word and the beginning of the next.
const PAIR: f32 = 0.1;
/// How well a relation fits that has another word for what is asked, and one of which only the other end is such a thing.
const ALIKE: f32 = 0.9;
const BY_TYPE: f32 = 0.7;
/// How far the user is behind a query that names somebody else and not her.
const BEHIND: f32 = 0.5;

/// By these the user speaks of herself.
const OWN: &str = " i me my mine myself we us our ours i'm i've user я меня мне мной мой моя моё мое мои моего моей моих моим \
                   моему мою мы нас нам наш наша наше наши yo mi mis mío mía ich mein meine meinem meiner meinen \
                   mir mich je j'ai mon ma mes moi 我 私 僕 俺 ";
/// These ask for a name or for somebody, for what is so now, or for an answer at all: any relation answers to that.
const NEUTRAL: &str = " name names named call called person people someone somebody something thing things now currently \
                       today nowadays right present please tell show give find remind remember зовут имя зовётся кличка \
                       человек люди людей кто-то кто-нибудь что-то сейчас теперь сегодня нынче пожалуйста скажи подскажи \
                       напомни покажи найди помнишь ";
/// These ask for what has been.
const PAST: &str = " former formerly previous previously past earlier ex once used раньше прежде бывший бывшая бывшее бывшие \
                    бывшего бывшей прежний прежняя прежде ";
const SENTENCE: [char; 14] = ['?', '!', '.', ',', ';', ':', '"', '“', '”', '«', '»', '…', '¿', '¡'];
const OWNER: [&str; 4] = ["'s", "’s", "'", "’"];

/// Every run of words of a text that may be a name.
pub(super) fn runs(text: &str) -> Vec<String> {
    Names::within(text, usize::MAX).runs.into_keys().collect()
}

/// Runs of words of a query that may be names. Where no blanks part words each character counts as one: a name is found
/// inside what is written together, and in Korean in front of its particle.
pub(super) struct Names {
    words: Vec<Word>,
    runs: BTreeMap<String, Vec<Range<usize>>>,
}

struct Word {
    text: String,
    /// Whether a blank stands before it.
    is_apart: bool,
    is_character: bool,
}

/// Whether it is a word's part that is looked at by itself.
fn is_character(char: char) -> bool {
    is_unspaced(char) || ('\u{ac00}'..='\u{d7a3}').contains(&char)
}

impl Word {
    /// The words of a folded text, at most so many.
    fn all_of(folded: &str, most: usize) -> Vec<Self> {
        let mut words: Vec<Self> = Vec::new();
        for stretch in folded.split(' ') {
            let mut is_apart = true;
            for char in stretch.chars() {
                let goes_on = !is_apart && !is_character(char) && words.last().is_some_and(|last| !last.is_character);
                match words.last_mut().filter(|_| goes_on) {
                    Some(last) => last.text.push(char),
                    None => words.push(Self { text: char.into(), is_apart, is_character: is_character(char) }),
                }
                is_apart = false;
            }
        }
        words.truncate(most);
        words
    }

    /// As they stand.
    fn joined<'w>(words: impl IntoIterator<Item = &'w Self>) -> String {
        let mut text = String::new();
        for word in words {
            if word.is_apart && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }
}

impl Names {
    pub(super) fn of(query: &str) -> Self {
        Self::within(query, WORDS)
    }

    /// Of the first words of a text.
    fn within(text: &str, most: usize) -> Self {
        let words = Word::all_of(&folded(text), most);
        let is_edge = |char: char| !char.is_alphanumeric() && !matches!(char, '+' | '#' | '%' | '$' | '€');
        let mut runs: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
        for begin in 0..words.len() {
            let longest = if words.get(begin).is_some_and(|word| word.is_character) { CHARACTERS } else { NAME };
            for end in begin + 1..=words.len().min(begin + longest) {
                let those = words.get(begin..end).unwrap_or_default();
                // One character inside a text is part of a word.
                let is_part = |word: &Word| word.is_character && words.len() > 1;
                if matches!(those, [one] if is_part(one)) {
                    continue;
                }
                let run = Word::joined(those);
                let (within, bare) = (run.trim_matches(SENTENCE), run.trim_matches(is_edge));
                let owners = [within, bare].map(|name| OWNER.iter().find_map(|ending| name.strip_suffix(ending)));
                for name in [Some(run.as_str()), Some(within), Some(bare)].into_iter().chain(owners).flatten() {
                    let ranges = runs.entry(name.to_owned()).or_default();
                    if !name.is_empty() && ranges.last() != Some(&(begin..end)) {
                        ranges.push(begin..end);
                    }
                }
            }
        }
        runs.retain(|_, ranges| !ranges.is_empty());
        Self { words, runs }
    }

    /// All of them, and the user's.
    pub(super) fn all(&self) -> Vec<String> {
        self.runs.keys().cloned().chain([Mention::USER.to_owned()]).collect()
    }
}

/// An entity that the query names.
pub(super) struct Seed {
    pub(super) entity: EntityId,
    /// Its own name, as a bit, which a way from it does not explain.
    pub(super) own: u64,
    /// 1, or less for the user behind a query about others.
    pub(super) strength: f32,
    pub(super) is_user: bool,
}

/// A word, or a name, of the query.
struct Unit {
    term: String,
    concepts: u64,
    named: Vec<EntityId>,
}

/// What a way explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Explained {
    /// The words, as bits.
    pub(super) units: u64,
    /// How well, by the best of them: 0 if there is none.
    pub(super) fit: f32,
    /// Whether it speaks of what the query asks at all, be it explained already.
    pub(super) is_asked: bool,
}

/// What is asked.
pub(super) struct Asked {
    units: Vec<Unit>,
    pub(super) seeds: Vec<Seed>,
    /// Whether for what has been.
    pub(super) past: bool,
}

impl Asked {
    /// Of these names, given the entities that have some of them. A name inside a longer one is none.
    pub(super) fn of(names: &Names, entities: &[Entity]) -> Self {
        let Names { words, runs } = names;
        let mut by_range: HashMap<(usize, usize), Vec<EntityId>> = HashMap::new();
        let mut users: Vec<EntityId> = Vec::new();
        for entity in entities {
            for name in std::iter::once(&entity.name).chain(&entity.aliases).map(|name| folded(name)) {
                if name == folded(Mention::USER) {
                    users.push(entity.id);
                }
                for range in runs.get(&name).into_iter().flatten() {
                    let named = by_range.entry((range.start, range.end)).or_default();
                    if !named.contains(&entity.id) {
                        named.push(entity.id);
                    }
                }
            }
        }
        let mut named: Vec<((usize, usize), Vec<EntityId>)> = by_range.into_iter().collect();
        named.sort_by_key(|((start, end), _)| (start.wrapping_sub(*end), *start));
        let mut covered = vec![false; words.len()];
        let (mut units, mut seeds): (Vec<Unit>, Vec<Seed>) = (Vec::new(), Vec::new());
        for ((start, end), ids) in named {
            let Some(range) = covered.get_mut(start..end) else { continue };
            if range.contains(&true) {
                continue;
            }
            range.fill(true);
            // By a word a name may be explained as by its entity: "dog", where there is one that is called so.
            let term: String = words.get(start..end).unwrap_or_default().iter().map(|word| &*word.text).collect();
            let own = 1 << units.len();
            let of_it = |id: &EntityId| Seed { entity: *id, own, strength: 1.0, is_user: users.contains(id) };
            seeds.extend(ids.iter().map(of_it));
            units.push(Unit { concepts: concepts(&term), term, named: ids });
        }
        let is_listed = |list: &str, word: &str| list.contains(&format!(" {} ", word.trim_matches(SENTENCE)));
        let names_user = words.iter().any(|word| is_listed(OWN, &word.text)) || seeds.iter().any(|seed| seed.is_user);
        let strength = if names_user || seeds.is_empty() { 1.0 } else { BEHIND };
        users.retain(|user| seeds.iter().all(|seed| seed.entity != *user));
        users.dedup();
        seeds.extend(users.into_iter().map(|entity| Seed { entity, own: 0, strength, is_user: true }));
        let rest = || words.iter().zip(&covered).filter(|(_, covered)| !**covered).map(|(word, _)| word);
        let asks = |word: &&Word| {
            !is_listed(NEUTRAL, &word.text) && !is_listed(PAST, &word.text) && !is_listed(OWN, &word.text)
        };
        let bare = |word: &Word| {
            let text = word.text.trim_matches(SENTENCE);
            let text = OWNER.iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text).to_owned();
            Word { text, ..*word }
        };
        let text = Word::joined(&rest().filter(asks).map(bare).collect::<Vec<_>>());
        for term in content_words(&text) {
            units.push(Unit { concepts: concepts(&term), term, named: Vec::new() });
        }
        units.truncate(UNITS);
        let past = rest().any(|word| is_listed(PAST, &word.text));
        Self { units, seeds, past }
    }

    /// What a step explains by its predicate and the type of its end: of each word that occurs several times, the first that
    /// is not explained yet.
    pub(super) fn explained_by(&self, [predicate, kind]: [&Said; 2], end: EntityId, before: u64) -> Explained {
        let mut explained = Explained { units: 0, fit: 0.0, is_asked: false };
        let mut terms: Vec<&str> = Vec::new();
        for (place, unit) in self.units.iter().enumerate() {
            let is_alike = |said: &Said| said.concepts & unit.concepts != 0;
            let fit = match () {
                () if unit.named.contains(&end) || predicate.terms.contains(&unit.term) => 1.0,
                () if is_alike(predicate) => ALIKE,
                () if kind.terms.contains(&unit.term) || is_alike(kind) => BY_TYPE,
                () => continue,
            };
            explained.is_asked = true;
            if before & 1 << place == 0 && !terms.contains(&unit.term.as_str()) {
                explained.units |= 1 << place;
                explained.fit = explained.fit.max(fit);
                terms.push(&unit.term);
            }
        }
        explained
    }

    /// The share that is explained, of all but the seed's own name, where `known` are the words that some relation
    /// explains: 0 to 1.
    pub(super) fn share(&self, explained: u64, own: u64, known: u64) -> f32 {
        let (mut all, mut part) = (0.0_f32, 0.0_f32);
        for (place, unit) in self.units.iter().enumerate().filter(|(place, _)| own & 1 << place == 0) {
            let is_known = unit.concepts != 0 || !unit.named.is_empty() || known & 1 << place != 0;
            let weight = match () {
                () if is_known => 1.0,
                () if unit.term.chars().all(is_character) => PAIR,
                () => OTHER,
            };
            all += weight;
            part += if explained & 1 << place == 0 { 0.0 } else { weight };
        }
        if all > 0.0 { part / all } else { 0.0 }
    }
}

/// What a relation or the type of an entity says.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    terms: Vec<String>,
    concepts: u64,
}

impl Said {
    /// By a predicate or a type.
    pub(super) fn by(words: &str) -> Self {
        let terms = content_words(&folded(words).replace(['_', '-'], " "));
        let concepts = terms.iter().fold(0, |all, term| all | concepts(term));
        Self { terms, concepts }
    }
}
