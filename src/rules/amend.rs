//! Corrections in the same breath: "I live in Rome, no wait, I mean Milan".
//!
//! The statement is read with its end put right, as long as it then says something else of the same kind. Where it cannot
//! be, what was called wrong is not read at all.

use super::{
    clause::{begins_clause, skip_leads},
    language::{Language, Words},
    reader::Reader,
    token::{Shape, Token},
};
use crate::Fact;

/// Most corrections that are looked at in a sentence.
const MOST: usize = 4;

/// Longest correction, in tokens.
const LONGEST: usize = 6;

/// Longest of what may be put in the place of any words without a word for it that is sure, in tokens.
const LONGEST_LOOSE: usize = 2;

/// How far before a correction the words that it puts right may begin, in tokens.
const FURTHEST: usize = 8;

/// How far the end of a correction is looked for, in tokens.
const FURTHEST_END: usize = 24;

/// Most phrases that call a statement wrong one after another ("oh no, wait, sorry, I mean").
const MOST_PHRASES: usize = 6;

/// Longest statement that is put right, in tokens: each way in which it may be meant is read.
const LONGEST_SAID: usize = 60;

/// How surely a statement is called wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Force {
    Weak,
    Middling,
    Strong,
}

/// A correction in a sentence.
#[derive(Debug)]
struct Amendment<'t> {
    /// What stands before it; empty where that is the sentence before.
    said: &'t [Token],
    /// What is right.
    right: &'t [Token],
    /// The rest of the sentence.
    rest: &'t [Token],
    force: Force,
    /// What is right as a clause of its own, up to the end of the sentence, where it may be one.
    clause: Option<&'t [Token]>,
    /// Marks stand around it.
    alone: bool,
}

impl Amendment<'_> {
    fn is_of_the_last(&self) -> bool {
        self.said.is_empty()
    }
}

/// A sentence with what it puts right.
pub(super) struct Amended {
    pub(super) tokens: Vec<Token>,
    /// It puts right the sentence before, and stands for it.
    pub(super) of_the_last: bool,
}

/// The sentence as its corrections leave it; `None` where it has none. `last` is the sentence before.
pub(super) fn put_right(reader: &Reader<'_>, last: &[Token], sentence: &[Token], greeted: bool) -> Option<Amended> {
    let mut amended: Option<Amended> = None;
    for _ in 0..MOST {
        let tokens = amended.as_ref().map_or(sentence, |amended| amended.tokens.as_slice());
        let found = amendments(reader.language, tokens).take(MOST).find_map(|found| {
            let of_the_last = found.is_of_the_last();
            let said = if of_the_last { last } else { found.said };
            Some(Amended { tokens: corrected(reader, said, &found, greeted)?, of_the_last })
        });
        let Some(mut found) = found else { break };
        found.of_the_last |= amended.is_some_and(|amended| amended.of_the_last);
        amended = Some(found);
    }
    amended
}

/// What was said as the correction leaves it, with the rest of the sentence; `None` if it corrects nothing.
fn corrected(reader: &Reader<'_>, said: &[Token], found: &Amendment<'_>, greeted: bool) -> Option<Vec<Token>> {
    let read = |tokens: &[Token]| reader.apart(tokens, greeted);
    let before = if said.len() <= LONGEST_SAID { read(said) } else { Vec::new() };
    if before.is_empty() {
        return None;
    }
    let loose = match found.force {
        Force::Strong => true,
        Force::Middling => found.right.len() <= LONGEST_LOOSE,
        // "I live in Berlin. Sorry, Munich!" speaks to somebody.
        Force::Weak => found.right.len() <= LONGEST_LOOSE && !found.is_of_the_last(),
    };
    let mut ways = ways(reader.language, said, found.right, loose).into_iter().map(|way| timed(reader, way));
    if let Some(mut way) = ways.find(|way| differ_alike(&before, &read(way))) {
        way.extend(found.rest.iter().cloned());
        return Some(way);
    }
    if found.force < Force::Strong {
        return None;
    }
    let Some(clause) = found.clause else {
        // "I live in Rome. Scratch that!", but not "scratch that recipe" nor "or rather, guess where?".
        let asks = found.rest.first().is_some_and(|mark| mark.is("?"));
        return (found.alone && !asks).then(|| found.rest.to_vec());
    };
    let after = read(clause);
    let about = |fact: &Fact| fact.categories.first().cloned();
    // "No wait, I forgot: I'm vegan" takes nothing back.
    let same = after.iter().any(|new| before.iter().any(|old| about(old) == about(new)));
    same.then(|| clause.to_vec())
}

/// The words with the times that they name together: "in June, I mean July" names July.
fn timed(reader: &Reader<'_>, words: Vec<Token>) -> Vec<Token> {
    let mut text = String::new();
    let place = |word: Token| {
        let start = text.len();
        text.push_str(reader.text.get(word.start..word.end).unwrap_or_default());
        let placed = Token { start, end: text.len(), when: None, ..word.clone() };
        text.push(' ');
        (word, placed)
    };
    let (words, mut placed): (Vec<Token>, Vec<Token>) = words.into_iter().map(place).unzip();
    reader.language.calendar.mark(&mut placed, &text, reader.at);
    words.into_iter().zip(placed).map(|(word, placed)| Token { when: placed.when, ..word }).collect()
}

/// Whether the facts are of the same kinds, and not the same.
fn differ_alike(before: &[Fact], after: &[Fact]) -> bool {
    let kind = |fact: &Fact| {
        let slot = fact.slot.as_deref().unwrap_or_default();
        let kind: Vec<&str> = slot.split('.').take(2).collect();
        (fact.categories.first().cloned(), kind.join("."))
    };
    before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| kind(old) == kind(new))
        && before.iter().zip(after).any(|(old, new)| old.text != new.text)
}

/// What may be corrections in a sentence, first to last.
fn amendments<'t>(language: &Language, tokens: &'t [Token]) -> impl Iterator<Item = Amendment<'t>> {
    let words = &language.words;
    let begin = skip_marks(tokens, 0);
    (begin..tokens.len()).filter_map(move |at| {
        let apart = at == begin || tokens.get(at.checked_sub(1)?).is_some_and(|before| !before.is_word());
        let (force, end, closed) = marker(words, tokens, at)?;
        let alone = apart && closed;
        let counts = match force {
            // "Tea, no sugar" corrects nothing, and "sorry Tom" speaks to somebody.
            Force::Weak => alone,
            Force::Middling | Force::Strong => {
                apart || tokens.get(at).is_some_and(|token| words.unmarked.contains(token.word.as_str()))
            }
        };
        if !counts {
            return None;
        }
        let starts = |at: usize| begins_clause(language, tokens, at, false);
        let joint = |token: &Token| language.words.joints.contains(token.word.as_str());
        let furthest = tokens.len().min(end + FURTHEST_END);
        let stop = (end..furthest)
            .find(|at| tokens.get(*at).is_some_and(|token| !token.is_word() || (joint(token) && starts(at + 1))));
        let stop = stop.unwrap_or(furthest);
        let (right, rest) = (tokens.get(end..stop)?, tokens.get(stop..)?);
        let body = skip_leads(language, tokens, end, tokens.len());
        let clause = if starts(end) { tokens.get(body..) } else { None };
        let remark = |token: &Token| words.remarks.contains(token.word.as_str()) || is_adverb(token);
        let besides =
            right.iter().any(|token| words.besides.contains(token.word.as_str())) || right.first().is_some_and(remark);
        let short = !right.is_empty() && right.len() <= LONGEST;
        let fits = !besides && (force == Force::Strong || short);
        // What was said ends before the mark.
        let said = tokens.get(begin..at)?;
        let said = said.get(..said.iter().rposition(Token::is_word).map_or(0, |last| last + 1))?;
        fits.then_some(Amendment { said, right, rest, force, clause, alone })
    })
}

/// How surely the words at `at` call wrong what stands before them, where they end, and whether a mark stands there.
fn marker(words: &Words, tokens: &[Token], at: usize) -> Option<(Force, usize, bool)> {
    let mut force = None;
    let (mut end, mut here) = (at, at);
    for _ in 0..MOST_PHRASES {
        let longest = |phrases: &[Vec<&str>]| {
            let fits =
                |phrase: &&Vec<&str>| phrase.iter().enumerate().all(|(step, word)| is(tokens, here + step, word));
            phrases.iter().filter(fits).map(Vec::len).max()
        };
        let phrases = [&words.corrections, &words.rewordings, &words.hesitations];
        let found = phrases
            .into_iter()
            .zip([Force::Strong, Force::Middling, Force::Weak])
            .filter_map(|(phrases, force)| Some((longest(phrases)?, force)))
            .max();
        let Some((length, found)) = found else { break };
        // "No, sorry", "sorry, I mean": two of them are sure.
        force = Some(if force.is_some() && !is(tokens, at, "actually") { Force::Strong } else { found });
        here += length;
        end = here;
        here = skip_marks(tokens, here);
        here += usize::from(tokens.get(here).is_some_and(|token| words.between.contains(token.word.as_str())));
        here = skip_marks(tokens, here);
    }
    let closed = tokens.get(end).is_none_or(|token| !token.is_word());
    let mut end = skip_marks(tokens, end);
    // "Sorry, it's Milan."
    if is(tokens, end, "it") && (is(tokens, end + 1, "'s") || is(tokens, end + 1, "is")) {
        end += 2;
    }
    Some((force?, end, closed))
}

fn is(tokens: &[Token], at: usize, word: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.word == word)
}

fn skip_marks(tokens: &[Token], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.shape == Shape::Mark) {
        at += 1;
    }
    at
}

/// Whether it looks like an adverb or a verb of the past ("remotely", «удалённо», «работала»).
fn is_adverb(token: &Token) -> bool {
    let endings = ["ly", "о", "ла", "ли"];
    token.shape == Shape::Lower && endings.iter().any(|ending| token.word.ends_with(ending))
}

/// What was said with its end put right, in each of the ways that may be meant, the likeliest first. Those in which any words
/// may be put right are `loose`.
fn ways(language: &Language, said: &[Token], right: &[Token], loose: bool) -> Vec<Vec<Token>> {
    let Some(first) = right.first() else { return Vec::new() };
    let number = |token: &Token| token.shape == Shape::Number || language.calendar.number(&token.word).is_some();
    let with = |from: usize, to: usize| {
        let parts = [said.get(..from), Some(right), said.get(to..)];
        parts.into_iter().flatten().flatten().cloned().collect::<Vec<Token>>()
    };
    let nearest = said.len().saturating_sub(FURTHEST)..said.len();
    let mut ways = Vec::new();
    // "I work as a nurse, I mean a doctor": from the word that is said again.
    if first.shape == Shape::Lower
        && let Some(again) =
            nearest.clone().rev().find(|at| said.get(*at).is_some_and(|token| token.word == first.word))
    {
        ways.push(with(again, said.len()));
    }
    // "I'm 33 years old, no, 34": a number for a number, a month for a month.
    let month = |token: &Token| language.calendar.is_month(&token.word);
    let alike = |token: &Token| (number(first) && number(token)) || (month(first) && month(token));
    if right.len() == 1
        && let Some(at) = nearest.clone().rev().find(|at| said.get(*at).is_some_and(alike))
    {
        ways.push(with(at, at + 1));
    }
    if !loose {
        return ways;
    }
    ways.extend(nearest.filter(|from| *from > 0).map(|from| with(from, said.len())));
    ways
}
