//! What the user asks to have remembered ("Please remember: the gate code is 4711").

use super::{
    clause::skip_leads,
    foreign::is_at,
    language::Language,
    pattern::is_given_name,
    token::{Shape, Token},
    topic::Topic,
    when::Wording,
};
use crate::{Fact, Timestamp, score::sameness::normalized};

/// Longest statement that is kept as it is, in tokens.
const LONGEST: usize = 20;
/// Longest subject of one, in tokens.
const LONGEST_SUBJECT: usize = 6;
/// Requests to forget.
const FORGET: [&[&str]; 7] = [
    &["forget"],
    &["please", "forget"],
    &["you", "can", "forget"],
    &["забудь"],
    &["забудьте"],
    &["пожалуйста", "забудь"],
    &["пожалуйста", "забудьте"],
];
/// Words by which a statement says how the assistant should answer, or takes something back.
const ORDERS: [&str; 8] = ["output", "response", "responses", "prompt", "not", "never", "no", "always"];

/// What follows the request to remember it, if the sentence begins with one.
pub(super) fn reminder<'t>(language: &Language, tokens: &'t [Token]) -> Option<&'t [Token]> {
    let words = &language.words;
    let start = skip_leads(language, tokens, 0, tokens.len());
    let asked = words.reminders.iter().filter(|phrase| is_at(tokens, start, phrase)).map(Vec::len).max()?;
    // "Remember that …", "remember: …", «запомни, что …», but not "remember to …".
    let from = start + asked;
    let joins = |token: &&Token| token.is(":") || token.is(",") || words.links.contains(token.word.as_str());
    let joined = tokens.iter().skip(from).take(2).take_while(joins).count();
    tokens.get(from + joined..).filter(|rest| joined > 0 && !rest.is_empty())
}

/// What follows the request to forget it, if the sentence is one: "please forget that I like jazz".
pub(super) fn forgotten<'t>(language: &Language, tokens: &'t [Token]) -> Option<&'t [Token]> {
    let start = skip_leads(language, tokens, 0, tokens.len());
    let asked = FORGET.iter().find(|phrase| is_at(tokens, start, phrase))?;
    let from = start + asked.len() + usize::from(tokens.get(start + asked.len()).is_some_and(|token| token.is(",")));
    let linked = tokens.get(from).is_some_and(|token| language.words.links.contains(token.word.as_str()));
    tokens.get(from + 1..).filter(|rest| linked && !rest.is_empty())
}

/// The statement in the user's own words, if it is one of something they have or of something by name: nothing is stored
/// of a request ("be brief"), nor of what is said of the assistant.
pub(super) fn note(
    language: &Language,
    text: &str,
    tokens: &[Token],
    message: usize,
    at: Timestamp,
    speaker: Option<&str>,
) -> Option<Fact> {
    let words = &language.words;
    let first = tokens.first()?;
    let own = matches!(first.word.as_str(), "my" | "our");
    let named =
        first.shape == Shape::Capital && is_given_name(language, first) && !words.leads.contains(first.word.as_str());
    let verb = tokens.iter().position(|token| words.states.contains(token.word.as_str()))?;
    let subject = tokens.get(usize::from(own || first.word == "the")..verb)?;
    let plain = |token: &Token| {
        let word = token.word.as_str();
        let lists = [&words.pointers, &words.texts, &words.edits, &words.pastes, &words.questions, &words.digressions];
        let marks = token.is_word() || [",", "'", "-", ".", "/", ":", "#", "%", "+"].iter().any(|mark| token.is(mark));
        let verb = words.states.contains(word);
        marks && !ORDERS.contains(&word) && (verb || !lists.iter().any(|list| list.contains(word)))
    };
    let rest = tokens.get(usize::from(own)..)?;
    let fits = (own || named || first.word == "the")
        && (1..=LONGEST_SUBJECT).contains(&subject.len())
        && subject.iter().all(|token| token.is_word() && !words.joints.contains(token.word.as_str()))
        && verb + 1 < tokens.len()
        && tokens.len() <= LONGEST
        && rest.iter().all(plain);
    if !fits {
        return None;
    }
    let mut fact = Fact::new(worded(language, text, rest, at)?, message)
        .with_kind(Topic::Note.kind())
        .with_category(Topic::Note.category())
        .with_importance(Topic::Note.importance())
        .with_quote(text.get(first.start..tokens.last()?.end)?);
    fact.speaker = speaker.map(str::to_owned);
    // Of a code there is one, of flights there may be several.
    let last = subject.last()?;
    if language.class_key("label", &last.word).is_some() {
        let key: Vec<&str> = subject.iter().map(|token| token.word.as_str()).collect();
        fact = fact.with_slot(format!("user.note.{}", normalized(&key.join(" "))));
    }
    Some(fact)
}

/// The words as they stand, with times that count from today written out.
fn worded(language: &Language, text: &str, tokens: &[Token], now: Timestamp) -> Option<String> {
    let mut worded = String::new();
    let mut from = tokens.first()?.start;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let found = tokens.get(at..).and_then(|rest| language.calendar.at(rest, now));
        let Some(when) = found.filter(|when| at > 0 && matches!(when.wording, Wording::Instead(_))) else {
            at += 1;
            continue;
        };
        if let Wording::Instead(instead) = &when.wording {
            worded.push_str(text.get(from..token.start)?);
            worded.push_str(instead);
        }
        at += when.len.max(1);
        from = tokens.get(at.checked_sub(1)?)?.end;
    }
    worded.push_str(text.get(from..tokens.last()?.end)?);
    let mut chars = worded.chars();
    let first = chars.next()?;
    Some(first.to_uppercase().chain(chars).collect())
}
