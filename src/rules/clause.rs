//! The clauses of a sentence that say something of their own.

use std::{collections::HashSet, ops::Range};

use super::{
    foreign::takes_back,
    language::Language,
    token::{Shape, Token},
};

/// Most words that stand between a comma and the subject.
const MOST_LEADS: usize = 6;

/// Most words of a heading before a colon.
const MOST_HEADING: usize = 4;

/// A clause: its tokens, and what is understood before them.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    /// Its tokens in the sentence.
    pub(super) tokens: Range<usize>,
    /// Words understood from the clause before, each a possible beginning; empty for a clause with a subject.
    pub(super) understood: &'static [&'static [&'static str]],
}

/// The clauses of a sentence that may be read.
pub(super) fn clauses(language: &Language, tokens: &[Token], asks: bool) -> Vec<Clause> {
    let words = &language.words;
    // "As I said, I live in Rome" is no report of what was said.
    let opened = skip_leads(language, tokens, 0, tokens.len());
    if tokens.iter().skip(opened).any(|token| words.voids.contains(token.word.as_str())) {
        return Vec::new();
    }
    let mut walk = Walk { language, tokens, start: 0, state: State::default(), found: Vec::new() };
    for at in 0..tokens.len() {
        match boundary(language, tokens, at, walk.state.infinitive) {
            Some(next) => walk.close(at, next),
            None => walk.pass(at),
        }
    }
    walk.close(tokens.len(), tokens.len());
    let mut found = walk.found;
    if asks {
        // "I live in Rome, what should I see?": only the last clause asks.
        let Some((last, _)) = found.pop() else { return Vec::new() };
        let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.word.as_str());
        // "… don't I?" asks for the whole.
        let tag = last.tokens.len() <= 3 && words.subjects.contains(word(last.tokens.end.checked_sub(1)));
        let bounces = last.tokens.len() == 1 && words.bounces.contains(word(Some(last.tokens.start)));
        if !bounces && (tag || !words.questions.contains(word(Some(last.tokens.start)))) {
            return Vec::new();
        }
    }
    found.into_iter().filter_map(|(clause, safe)| safe.then_some(clause)).collect()
}

/// What earlier words of a sentence do to later ones.
#[derive(Default)]
struct State {
    /// A report or supposition began before the present clause.
    reported: bool,
    /// One began inside it.
    reports: bool,
    /// The present clause is subordinate, or hangs on one that is.
    subordinate: bool,
    /// An infinitive stands in it.
    infinitive: bool,
    /// The sentence has said that the author speaks of themselves.
    introduced: bool,
    /// The present clause has gone over to someone else ("my dog, who is …").
    digressed: bool,
    /// Beginnings the next clause may take over.
    inherited: &'static [&'static [&'static str]],
}

struct Walk<'a> {
    language: &'a Language,
    tokens: &'a [Token],
    start: usize,
    state: State,
    /// The clauses so far, and whether each may be read.
    found: Vec<(Clause, bool)>,
}

impl Walk<'_> {
    fn has(&self, set: &HashSet<&str>, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| set.contains(token.word.as_str()))
    }

    /// Goes past a token inside a clause.
    fn pass(&mut self, at: usize) {
        let words = &self.language.words;
        self.state.reports |= self.has(&words.reports, at);
        self.state.infinitive |= self.has(&words.infinitive, at);
        self.state.introduced |= self.has(&words.about, at);
        self.state.digressed |= self.has(&words.digressions, at);
    }

    /// Ends the clause before `at`; the next begins at `next`.
    fn close(&mut self, at: usize, next: usize) {
        let words = &self.language.words;
        let body = skip_leads(self.language, self.tokens, self.start, at);
        if body < at {
            self.add(body, at);
        }
        let mark = self.tokens.get(at);
        // The main clause comes after the comma.
        if mark.is_some_and(|mark| mark.is(",")) && !self.has(&words.joints, at + 1) {
            self.state.subordinate = false;
        }
        // "Anna: I live in Rome" is Anna's, "about me: I live in Rome" is not.
        let named = mark.is_some_and(|mark| mark.is(":")) && !self.state.introduced && !self.leads_in(self.start..at);
        self.state.reported |= self.state.reports || named;
        // "I'm vegan or vegetarian": neither is said.
        if self.has(&words.either, at) {
            self.state.reported = true;
            if let Some((_, before)) = self.found.last_mut() {
                *before = false;
            }
        }
        self.state.reports = false;
        self.state.digressed = false;
        self.state.infinitive = false;
        self.start = next;
    }

    /// Whether the words are no more than a heading for what comes ("Big news").
    fn leads_in(&self, range: Range<usize>) -> bool {
        let words = &self.language.words;
        let mut heading = self.tokens.get(range).unwrap_or_default().iter().filter(|token| token.is_word());
        heading.clone().count() <= MOST_HEADING && heading.all(|token| words.lead_ins.contains(token.word.as_str()))
    }

    /// What is understood before the first clause of a sentence if "I" is left out there ("Just moved to Porto").
    fn omitted(&self, body: usize) -> &'static [&'static [&'static str]] {
        let words = &self.language.words;
        let adverb = if self.has(&words.lately, body) { Some(body) } else { body.checked_sub(1) };
        let alone = adverb.is_some_and(|at| self.has(&words.lately, at) && self.has(&words.solo, at + 1));
        if alone && self.found.is_empty() { self.language.omitted } else { &[] }
    }

    /// Whether the word at `at` stands in the clause too.
    fn repeats(&self, at: usize, clause: &Clause) -> bool {
        let before = self.tokens.get(clause.tokens.clone()).unwrap_or_default();
        self.tokens.get(at).is_some_and(|word| before.iter().any(|token| token.word == word.word))
    }

    fn add(&mut self, body: usize, at: usize) {
        let words = &self.language.words;
        self.state.subordinate |= self.has(&words.subordinate, body);
        let hedged = (body..at).any(|at| self.has(&words.hedges, at));
        let elliptic = self.has(&words.heads, body);
        // "I love the acceptance and love theme": who says the same verb again mostly uses it as a noun.
        let again = elliptic && self.found.last().is_some_and(|(before, _)| self.repeats(body, before));
        // A report inside the clause comes after its verb, or else the clause matches no pattern.
        let safe = !(self.state.subordinate || self.state.reported || hedged || again);
        // "I live in Rome, I think", but not "I work at Acme, I mean remotely".
        let is = |(word, at): (&&str, usize)| self.tokens.get(at).is_some_and(|token| token.word == *word);
        let rewords = words.rewordings.iter().any(|phrase| phrase.iter().zip(body..).all(is));
        if at - body <= 3
            && (hedged || (self.state.reports && !rewords))
            && let Some((_, before)) = self.found.last_mut()
        {
            *before = false;
        }
        self.state.reported |= hedged;
        // "I live in Berlin, until June", "I live in Rome (not really)".
        let clause = self.tokens.get(body..at).unwrap_or_default();
        if (self.has(&words.limits, body) || takes_back(self.language, clause))
            && let Some((_, before)) = self.found.last_mut()
        {
            *before = false;
        }
        let omitted = self.omitted(body);
        if !omitted.is_empty() {
            self.state.inherited = omitted;
        }
        let understood = if elliptic || !omitted.is_empty() { self.state.inherited } else { &[] };
        // A cut-out stays in view, so that what it tears is seen to be torn.
        let torn = self.tokens.get(at).is_some_and(|token| token.shape == Shape::Masked);
        self.found.push((Clause { tokens: body..at + usize::from(torn), understood }, safe));
        match subject(self.language, self.tokens, body) {
            _ if self.state.digressed => self.state.inherited = &[],
            Some(own) => self.state.inherited = own,
            None if self.has(&words.subjects, body) => self.state.inherited = &[],
            None => {}
        }
    }
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
            // "My new number: 555 0134" is one clause.
            ":" if labels_number(tokens, at) => None,
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

/// Whether the colon at `at` stands between the word for a number and the number.
fn labels_number(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let labels = ["number", "phone", "mobile", "cell", "to", "is", "номер", "телефон", "телефона"];
    before.is_some_and(|before| labels.contains(&before.word.as_str()))
        && tokens.get(at + 1).is_some_and(|next| next.shape == Shape::Number || next.is("+") || next.is("("))
}

/// Whether a clause begins at `at`, joints and adverbs aside.
pub(super) fn begins_clause(language: &Language, tokens: &[Token], at: usize, infinitive: bool) -> bool {
    let words = &language.words;
    // Bounded, so that a run of commas and joints is not gone through once for each.
    let body = skip_leads(language, tokens, at, tokens.len().min(at + MOST_LEADS));
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
pub(super) fn skip_leads(language: &Language, tokens: &[Token], mut at: usize, end: usize) -> usize {
    let words = &language.words;
    while at < end {
        let Some(token) = tokens.get(at) else { break };
        let word = token.word.as_str();
        let phrase = words.openers.iter().find(|phrase| {
            let inside = tokens.get(at..end.min(at + phrase.len())).unwrap_or_default();
            inside.len() == phrase.len() && inside.iter().zip(*phrase).all(|(token, word)| token.word == *word)
        });
        if let Some(phrase) = phrase {
            at += phrase.len();
            continue;
        }
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
