//! Sentences, and the clauses in them that say something of their own.

use std::ops::Range;

use super::{
    language::Language,
    token::{Shape, Token},
};

/// A clause: its tokens, and what is understood before them.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    /// Its tokens in the sentence.
    pub(super) tokens: Range<usize>,
    /// Words understood from the clause before, each a possible beginning; empty for a clause with a subject.
    pub(super) understood: &'static [&'static [&'static str]],
}

/// A sentence: its tokens without the end marks, and whether it asks.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) tokens: Range<usize>,
    pub(super) asks: bool,
}

/// Words before a full stop that does not end a sentence.
const ABBREVIATIONS: [&str; 16] =
    ["st", "dr", "mr", "mrs", "ms", "mt", "ft", "jr", "prof", "г", "ул", "пл", "им", "е", "т", "др"];

/// Splits tokens into sentences.
pub(super) fn sentences(tokens: &[Token]) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut end = 0;
    let mut asks = false;
    let mut closed = false;
    for (at, token) in tokens.iter().enumerate() {
        let abbreviated = token.is(".")
            && at
                .checked_sub(1)
                .and_then(|before| tokens.get(before))
                .is_some_and(|before| ABBREVIATIONS.contains(&before.word.as_str()) && before.end == token.start)
            && tokens.get(at + 1).is_some_and(|next| next.shape == Shape::Capital);
        let closes = token.shape == Shape::Break
            || (token.shape == Shape::Mark
                && matches!(token.word.as_str(), "." | "!" | "?" | "…" | "。" | "？" | "！"));
        if closes && !abbreviated {
            if !closed {
                end = at;
            }
            closed = true;
            asks |= token.is("?") || token.is("？");
            continue;
        }
        // What follows the end marks begins a new sentence.
        if closed {
            sentences.push(Sentence { tokens: start..end, asks });
            (start, asks, closed) = (at, false, false);
        }
    }
    if !closed {
        end = tokens.len();
    }
    sentences.push(Sentence { tokens: start..end, asks });
    sentences.retain(|sentence| !sentence.tokens.is_empty());
    sentences
}

/// The clauses of a sentence that may be read.
pub(super) fn clauses(language: &Language, tokens: &[Token], asks: bool) -> Vec<Clause> {
    let words = &language.words;
    let has = |set: &std::collections::HashSet<&str>, at: usize| {
        tokens.get(at).is_some_and(|token| set.contains(token.word.as_str()))
    };
    if (0..tokens.len()).any(|at| has(&words.voids, at)) {
        return Vec::new();
    }
    let mut clauses: Vec<Clause> = Vec::new();
    let mut start = 0;
    let mut reported = false;
    let mut infinitive = false;
    let mut subordinate = false;
    let mut inherited: &'static [&'static [&'static str]] = &[];
    let mut safe = Vec::new();
    for at in 0..=tokens.len() {
        let next = match boundary(language, tokens, at, infinitive) {
            Some(next) if at < tokens.len() => next,
            _ if at == tokens.len() => at,
            _ => {
                reported |= has(&words.reports, at)
                    || (tokens.get(at).is_some_and(|token| token.is(":")) && !about(language, tokens, at));
                infinitive |= has(&words.infinitive, at);
                continue;
            }
        };
        let body = skip_leads(language, tokens, start, at);
        if body < at {
            subordinate |= has(&words.subordinate, body);
            let own = subject(language, tokens, body);
            let understood: &'static [&'static [&'static str]] =
                if has(&words.subjects, body) { &[] } else { inherited };
            let hedged = (body..at).any(|at| has(&words.hedges, at));
            safe.push(!(subordinate || hedged || began_reported(language, tokens, start, at, reported)));
            // "I live in Rome, I think."
            let afterthought = at - body <= 3 && (body..at).any(|at| has(&words.hedges, at) || has(&words.reports, at));
            if afterthought && let Some(before) = safe.len().checked_sub(2).and_then(|before| safe.get_mut(before)) {
                *before = false;
            }
            reported |= hedged;
            // A cut-out stays in view, so that what it tears is seen to be torn.
            let end = at + usize::from(tokens.get(at).is_some_and(|token| token.shape == Shape::Masked));
            clauses.push(Clause { tokens: body..end, understood });
            if let Some(own) = own {
                inherited = own;
            } else if has(&words.subjects, body) {
                inherited = &[];
            }
        }
        // The main clause comes after the comma.
        if tokens.get(at).is_some_and(|token| token.is(",")) && !has(&words.joints, at + 1) {
            subordinate = false;
        }
        reported |= tokens.get(at).is_some_and(|token| token.is(":")) && !about(language, tokens, at);
        reported |= has(&words.reports, at);
        infinitive = false;
        start = next;
    }
    if asks {
        // "I live in Rome, what should I see?": only the last clause asks.
        let last = clauses.pop();
        safe.pop();
        if !last.is_some_and(|last| has(&words.questions, last.tokens.start)) {
            return Vec::new();
        }
    }
    let mut keep = safe.into_iter();
    clauses.retain(|_| keep.next().unwrap_or(false));
    clauses
}

/// Whether a report began before the clause; `reported` already counts the words up to its end.
fn began_reported(language: &Language, tokens: &[Token], start: usize, end: usize, reported: bool) -> bool {
    reported && {
        let inside = tokens.get(start..end).unwrap_or_default();
        let own = inside.iter().any(|token| language.words.reports.contains(token.word.as_str()) || token.is(":"));
        // A report within the clause is after its verb, or else the clause matches no pattern.
        !own || tokens
            .get(..start)
            .unwrap_or_default()
            .iter()
            .any(|token| language.words.reports.contains(token.word.as_str()) || token.is(":"))
    }
}

fn about(language: &Language, tokens: &[Token], colon: usize) -> bool {
    let before = tokens.get(..colon).unwrap_or_default();
    before.iter().any(|token| language.words.about.contains(token.word.as_str()))
}

/// If a clause ends at `at`: where the next begins.
fn boundary(language: &Language, tokens: &[Token], at: usize, infinitive: bool) -> Option<usize> {
    let token = tokens.get(at)?;
    let words = &language.words;
    if token.shape == Shape::Masked {
        return Some(at + 1);
    }
    if token.shape == Shape::Mark {
        return match token.word.as_str() {
            ";" | ":" | "(" | ")" => Some(at + 1),
            // Where a dash may stand inside a pattern ("мой любимый цвет — синий"), it joins as often as it parts.
            "—" | "–" | "-" if !words.fillers.contains(token.word.as_str()) => Some(at + 1),
            "—" | "–" | "-" if begins_clause(language, tokens, at + 1, infinitive) => Some(at + 1),
            "," if begins_clause(language, tokens, at + 1, infinitive) => Some(at + 1),
            _ => None,
        };
    }
    (words.joints.contains(token.word.as_str()) && begins_clause(language, tokens, at + 1, infinitive))
        .then_some(at + 1)
}

/// Whether a clause begins at `at`, joints and adverbs aside.
fn begins_clause(language: &Language, tokens: &[Token], at: usize, infinitive: bool) -> bool {
    let words = &language.words;
    let body = skip_leads(language, tokens, at, tokens.len());
    let Some(token) = tokens.get(body) else { return false };
    let word = token.word.as_str();
    if words.subjects.contains(word) || words.questions.contains(word) || words.subordinate.contains(word) {
        return true;
    }
    // "I like family and work": a head alone is a noun.
    let alone = !tokens.get(body + 1).is_some_and(Token::is_word) && words.bare_heads.contains(word);
    words.heads.contains(word) && !alone && !(infinitive && words.bare_heads.contains(word))
}

/// The first place from `at` on that is not a word or mark that may stand before a clause.
fn skip_leads(language: &Language, tokens: &[Token], mut at: usize, end: usize) -> usize {
    let words = &language.words;
    while at < end {
        let Some(token) = tokens.get(at) else { break };
        let word = token.word.as_str();
        let lead = !token.is_word()
            || words.leads.contains(word)
            || words.greetings.contains(word)
            || words.joints.contains(word);
        if !lead {
            break;
        }
        at += 1;
    }
    at
}

/// What a following clause without a subject may take over from the one at `at`.
fn subject(language: &Language, tokens: &[Token], at: usize) -> Option<&'static [&'static [&'static str]]> {
    let word = tokens.get(at)?.word.as_str();
    language.inherits.iter().find(|(first, _)| *first == word).map(|(_, understood)| *understood)
}
