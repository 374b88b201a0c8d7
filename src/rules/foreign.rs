//! What ends the reading of a message: from there on it is not of its author's own life.

use super::{
    clause::skip_leads,
    language::Language,
    token::{Shape, Token},
};

/// Longest sentence that takes back the one before it where it begins with a limit.
const LONGEST_LIMIT: usize = 3;

/// How far before a text a word that asks for help with it may stand.
const FURTHEST_HELP: usize = 6;

/// Whether what follows the sentence, and the sentence itself, is a text to work on, a letter or a game. `begins` says
/// whether the sentence may begin one: something follows it, and nothing was read before it.
pub(super) fn ends_reading(language: &Language, tokens: &[Token], begins: bool) -> bool {
    let words = &language.words;
    let own = speaks(language, tokens);
    let pastes = |token: &Token| words.pastes.contains(token.word.as_str());
    let mut opening = tokens.iter().take(4).filter(|token| token.is_word());
    // "I want you to write …", "хочу, чтобы ты написал …"
    let orders = |window: &[Token]| match window {
        [first, second, verb] => {
            let asks = [("you", "to"), ("чтобы", "ты"), ("чтобы", "вы")];
            asks.contains(&(first.word.as_str(), second.word.as_str()))
                && (pastes(verb) || words.edits.contains(verb.word.as_str()))
        }
        _ => false,
    };
    (!own && (opening.any(pastes) || edits(language, tokens)))
        || tokens.windows(3).any(orders)
        || (0..tokens.len()).any(|at| words.plays.iter().any(|phrase| is_at(tokens, at, phrase)))
        || words.scenes.iter().any(|phrase| is_at(tokens, skip_leads(language, tokens, 0, tokens.len()), phrase))
        || introduces_text(language, tokens)
        || salutes(language, tokens, begins)
        || consults(language, tokens)
        || casts(language, tokens)
}

/// Whether the sentence speaks of a text in the same message ("which of these sentences is best?") or ends a letter: then
/// none of the message is safe, since the text stands before it as often as after.
pub(super) fn points_at_text(language: &Language, tokens: &[Token]) -> bool {
    let words = &language.words;
    let points = |pair: &[Token]| match pair {
        [first, second] => words.these.contains(first.word.as_str()) && words.texts.contains(second.word.as_str()),
        _ => false,
    };
    let first = tokens.iter().position(Token::is_word).unwrap_or_default();
    (!speaks(language, tokens) && tokens.windows(2).any(points))
        || words.closings.iter().any(|phrase| is_at(tokens, first, phrase))
}

/// Whether the words do no more than take back what was said before them ("not really", "but only in my head").
pub(super) fn takes_back(language: &Language, tokens: &[Token]) -> bool {
    let words = &language.words;
    let body = skip_leads(language, tokens, 0, tokens.len());
    let rest: Vec<&Token> = tokens.iter().skip(body).filter(|token| token.is_word()).collect();
    let said = |phrase: &[&str]| {
        rest.len() == phrase.len() && rest.iter().zip(phrase).all(|(token, word)| token.word == *word)
    };
    let joined = tokens.iter().find(|token| token.is_word()).is_some_and(|first| has_joint(language, first));
    let limited = rest.first().is_some_and(|first| words.limits.contains(first.word.as_str()));
    words.retractions.iter().any(|phrase| said(phrase)) || (limited && (joined || rest.len() <= LONGEST_LIMIT))
}

fn has_joint(language: &Language, token: &Token) -> bool {
    language.words.joints.contains(token.word.as_str())
}

/// Whether the sentence speaks of its author, so that a verb such as "translate" in it is no order.
fn speaks(language: &Language, tokens: &[Token]) -> bool {
    let first = tokens.iter().find(|token| token.is_word());
    let word = first.map_or("", |token| token.word.as_str());
    language.words.subjects.contains(word) && word != "you" && !language.words.these.contains(word)
}

/// "Check this text", "make this sound better", "can you correct my essay?".
fn edits(language: &Language, tokens: &[Token]) -> bool {
    let words = &language.words;
    let Some(verb) = tokens.iter().position(|token| words.edits.contains(token.word.as_str())) else { return false };
    let rest = tokens.get(verb + 1..).unwrap_or_default();
    let at = |step: usize| rest.get(step).map_or("", |token| token.word.as_str());
    // "Check this out!" shows something.
    let pointed = (0..2).any(|step| words.these.contains(at(step))) && at(0) != "out" && at(1) != "out";
    pointed || tokens.iter().any(|token| words.texts.contains(token.word.as_str()))
}

/// "Here's an email I got: …"
fn introduces_text(language: &Language, tokens: &[Token]) -> bool {
    let colon = tokens.iter().position(|token| token.is(":")).unwrap_or_default();
    let words = &language.words;
    let pointed =
        colon.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|last| words.these.contains(last.word.as_str()));
    pointed || tokens.iter().take(colon).any(|token| words.texts.contains(token.word.as_str()))
}

/// "Dear Alice, …", and "Call me Ishmael", where a story begins as often as not.
fn salutes(language: &Language, tokens: &[Token], begins: bool) -> bool {
    let words = &language.words;
    let first = tokens.iter().position(Token::is_word).unwrap_or_default();
    let named = tokens.get(first + 2).is_some_and(|token| token.shape == Shape::Capital);
    tokens.get(first).is_some_and(|token| words.salutations.contains(token.word.as_str()))
        || (begins && is_at(tokens, first, &["call", "me"]) && named)
}

/// "What do you think of my bio?", "Here is my cover letter."
fn consults(language: &Language, tokens: &[Token]) -> bool {
    let words = &language.words;
    let first = tokens.iter().find(|token| token.is_word());
    let shown = first.is_some_and(|first| first.word == "here" || first.word == "вот");
    let asked = |text: usize| {
        let before = tokens.get(text.saturating_sub(FURTHEST_HELP)..text).unwrap_or_default();
        before.iter().any(|token| words.help.contains(token.word.as_str()))
    };
    tokens.iter().enumerate().any(|(at, token)| words.texts.contains(token.word.as_str()) && (shown || asked(at)))
}

/// "You are a pirate."
fn casts(language: &Language, tokens: &[Token]) -> bool {
    let words = &language.words;
    let spoken: Vec<&str> = tokens.iter().filter(|token| token.is_word()).map(|token| token.word.as_str()).collect();
    let role = |word: &str| words.roles.contains(word) || words.occupations.contains(word);
    match spoken.as_slice() {
        ["you", "are", "a" | "an", rest @ ..] => rest.iter().any(|word| role(word)),
        ["ты" | "вы", rest @ ..] => rest.len() < 4 && rest.last().is_some_and(|word| role(word)),
        _ => false,
    }
}

/// Whether the words at `at` are the phrase.
pub(super) fn is_at(tokens: &[Token], at: usize, phrase: &[&str]) -> bool {
    phrase.iter().enumerate().all(|(step, word)| tokens.get(at + step).is_some_and(|token| token.word == *word))
}
