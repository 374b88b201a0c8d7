//! Where a value ends, and whether it is one.

use super::{
    fits::fits,
    language::Language,
    pattern::{View, is_given_name},
    row::Value,
    token::{Shape, Token},
    when::{When, Wording},
};
use crate::Timestamp;

/// Longest value, in tokens.
const LONGEST: usize = 20;

/// Longest limit that is kept in a thing, in tokens.
const LONGEST_LIMIT: usize = 4;

/// A value: places in its view.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the rest of the clause goes on.
    pub(super) rest: usize,
    pub(super) when: Option<When>,
    /// When a time that stays in the value is over.
    pub(super) until: Option<Timestamp>,
}

/// Cuts the value of a kind that begins at `start` and ends at `end` at the latest.
pub(super) fn cut(
    language: &Language,
    view: View<'_>,
    (start, end): (usize, Option<usize>),
    kind: Value,
    resume: &[(&str, &[&str])],
    now: Timestamp,
) -> Option<Cut> {
    if kind == Value::Given {
        let given = |at: usize| view.token(at).is_some_and(|token| is_given_name(language, token));
        let end = (start..start + 2).take_while(|at| given(*at)).count() + start;
        return (end > start).then_some(Cut { start, end, rest: end, when: None, until: None });
    }
    if kind == Value::Names {
        let end = names_end(language, view, start, end.unwrap_or(view.len()).min(start + LONGEST));
        let cut = Cut { start, end, rest: end, when: None, until: None };
        return fits(language, view, &cut, kind).then_some(cut);
    }
    let start = start + usize::from(is_pair_ahead(language, view, start, kind));
    let limit = end.unwrap_or(view.len()).min(start + LONGEST);
    // "a small town near Boston" is one description.
    let described =
        kind == Value::Dwelling && view.word(start).is_some_and(|word| language.words.articles.contains(word));
    let mut at = start;
    let (mut when, mut until) = (None, None);
    while at < limit {
        let token = view.token(at)?;
        if kind != Value::Date && at > start {
            let from = at - view.prefix.len();
            if let Some(found) = view.tokens.get(from..).and_then(|rest| language.calendar.at(rest, now)) {
                // A plan keeps its times where they stand.
                let stays = match found.wording {
                    Wording::AsIs => kind == Value::Doing,
                    // "I like working in the morning".
                    Wording::Habit => kind == Value::Thing,
                    _ => false,
                };
                if stays {
                    until = found.until.or(until);
                    at += found.len;
                    continue;
                }
                when = Some(found);
                break;
            }
        }
        let word = token.word.as_str();
        let stops = language.words.stops.contains(word)
            || resume.iter().any(|(stop, _)| *stop == word)
            || (is_name(kind) && !described && language.words.name_stops.contains(word));
        if kind == Value::Thing && at > start {
            if narrows(language, view, at) {
                at += 1;
                continue;
            }
            if language.words.keeps.contains(word) && !ends_idly(language, view, at) {
                at = kept(language, view, at)?;
                break;
            }
        }
        // "15 May, not 14 May": what it is not is no part of what it is.
        let contrast = [at, at + 1].iter().any(|at| view.word(*at) == Some("not")) && (token.is(",") || word == "not");
        if matches!(kind, Value::Date | Value::Digits | Value::Age) && at > start && contrast {
            break;
        }
        if owns(view, at, kind) {
            at += 1;
            continue;
        }
        if language.words.breakers.contains(word) || token.shape == Shape::Masked {
            return None;
        }
        // "Bruno and a cat": a name goes on with a name.
        let joined =
            language.words.joints.contains(word) && view.token(at + 1).is_none_or(|next| next.shape != Shape::Capital);
        if joined && is_name(kind) && !described {
            break;
        }
        // A value does not begin with what ends one, except where that is its first word ("for").
        if stops || !(token.is_word() || goes_on(language, view, at, start, kind)) {
            break;
        }
        at += 1;
    }
    if at == limit && end.is_none() && limit < view.len() {
        return None;
    }
    let rest = at + when.as_ref().map_or(0, |when| when.len);
    let trimmed = trim(language, view, start, at);
    // "A safe, inviting place": what stands before the comma is but a part.
    let torn_word = at == start + 1
        && view.token(at).is_some_and(|token| token.is(","))
        && view.token(at + 1).is_some_and(|next| {
            let words = &language.words;
            let word = next.word.as_str();
            let apart =
                [&words.leads, &words.fillers, &words.articles, &words.pointers, &words.stops, &words.bad_starts];
            next.shape == Shape::Lower && !apart.iter().any(|list| list.contains(word))
        });
    let torn = view.token(at).is_some_and(|token| token.is(","))
        && at
            .checked_sub(2)
            .and_then(|before| view.word(before))
            .is_some_and(|word| word != "the" && language.words.articles.contains(word));
    if (torn || torn_word) && kind == Value::Thing {
        return None;
    }
    let cut = Cut { start, end: trimmed, rest, when, until };
    fits(language, view, &cut, kind).then_some(cut)
}

/// Where names, with commas and joints between them, end: "Rex and Bruno, and a cat" at the comma.
fn names_end(language: &Language, view: View<'_>, start: usize, limit: usize) -> usize {
    let named = |at: usize| at < limit && view.token(at).is_some_and(|token| is_given_name(language, token));
    let joint = |at: usize| view.word(at).is_some_and(|word| language.words.joints.contains(word));
    let mut end = start;
    loop {
        let comma = usize::from(end > start && view.token(end).is_some_and(|token| token.is(",")));
        let next = end + comma + usize::from(end > start && joint(end + comma));
        if !named(next) {
            return end;
        }
        end = next + 1;
    }
}

/// Whether the word at `at` only says that a pair follows ("both cats and dogs", «и чай, и кофе»).
fn is_pair_ahead(language: &Language, view: View<'_>, at: usize, kind: Value) -> bool {
    let joint = match view.word(at) {
        Some("both") => "and",
        Some("и") => "и",
        _ => return false,
    };
    let things = matches!(kind, Value::Thing | Value::Languages | Value::Pastime | Value::Kin | Value::Animals);
    let end = (at + 1..view.len()).find(|at| view.word(*at).is_some_and(|word| language.words.stops.contains(word)));
    things && (at + 2..end.unwrap_or(view.len()).min(at + LONGEST)).any(|at| view.word(at) == Some(joint))
}

/// Whether all from `at` on is a phrase that may be dropped ("after all").
pub(super) fn ends_idly(language: &Language, view: View<'_>, at: usize) -> bool {
    language.words.trailing.iter().any(|phrase| {
        phrase.iter().zip(at..).all(|(word, at)| view.word(at) == Some(word))
            && !view.token(at + phrase.len()).is_some_and(Token::is_word)
    })
}

/// The end of a limit that is part of the thing ("coffee after noon"), if it ends the clause and is short and plain.
fn kept(language: &Language, view: View<'_>, at: usize) -> Option<usize> {
    let words = &language.words;
    let end = (at + 1..view.len()).find(|at| !view.token(*at).is_some_and(Token::is_word)).unwrap_or(view.len());
    let plain = |at: usize| {
        view.token(at).is_some_and(|token| {
            let word = token.word.as_str();
            let lists = [&words.pointers, &words.breakers, &words.stops, &words.joints, &words.subjects];
            token.shape != Shape::Capital && !lists.iter().any(|list| list.contains(word))
        })
    };
    (at + 1 < end && end - at <= LONGEST_LIMIT && (at + 1..end).all(plain)).then_some(end)
}

/// Whether the `'s` at `at` is part of a name ("St. Mary's Hospital", "Wendy's").
fn owns(view: View<'_>, at: usize, kind: Value) -> bool {
    let named = matches!(kind, Value::Named | Value::Organisation);
    named
        && view.word(at) == Some("'s")
        && at.checked_sub(1).and_then(|before| view.token(before)).is_some_and(|token| token.shape == Shape::Capital)
        && view.token(at + 1).is_none_or(|next| !next.is_word() || next.shape == Shape::Capital)
}

/// Whether a relative clause begins that belongs to the thing: "stories that make one think".
pub(super) fn narrows(language: &Language, view: View<'_>, at: usize) -> bool {
    let relative = view.word(at).is_some_and(|word| matches!(word, "that" | "who" | "which"));
    let next = view
        .token(at + 1)
        .is_some_and(|next| next.shape == Shape::Lower && !language.words.pointers.contains(next.word.as_str()));
    let many = at.checked_sub(1).and_then(|before| view.word(before));
    relative && next && many.is_some_and(|word| word == "people" || (word.ends_with('s') && !word.ends_with("ss")))
}

const fn is_name(kind: Value) -> bool {
    matches!(
        kind,
        Value::Person
            | Value::Introduced
            | Value::Place
            | Value::Dwelling
            | Value::Organisation
            | Value::Named
            | Value::Company
            | Value::Occupation
            | Value::Called
            | Value::Missed
            | Value::Medicine
    )
}

/// Whether a mark belongs to the value: the commas of a list and of "Portland, Oregon", and `&`.
fn goes_on(language: &Language, view: View<'_>, at: usize, start: usize, kind: Value) -> bool {
    let Some(mark) = view.token(at) else { return false };
    if kind == Value::Digits {
        let number = view.token(at + 1).is_some_and(|next| next.shape == Shape::Number || next.is("("));
        return number && ["-", "–", "(", ")", ".", "+"].iter().any(|sign| mark.is(sign));
    }
    if at == start {
        return false;
    }
    if mark.is("&") || mark.is("/") {
        return view.token(at + 1).is_some_and(Token::is_word);
    }
    if mark.is(".") {
        // Inside a sentence only after an abbreviation.
        return true;
    }
    if !mark.is(",") {
        return false;
    }
    match kind {
        Value::Place | Value::Dwelling => {
            let next = view.token(at + 1);
            let after = view.token(at + 2);
            next.is_some_and(|next| next.shape == Shape::Capital)
                && after.is_none_or(|after| !after.is_word() || language.words.stops.contains(after.word.as_str()))
        }
        Value::Date => true,
        Value::Thing | Value::Languages | Value::Kin | Value::Pastime | Value::Ailments => is_list(language, view, at),
        _ => false,
    }
}

/// Whether the comma at `comma` is one of a list, whose last member comes after "and" or "or".
fn is_list(language: &Language, view: View<'_>, comma: usize) -> bool {
    let mut words = 0;
    for at in comma + 1..(comma + 1 + 4 * LONGEST).min(view.len()) {
        let Some(token) = view.token(at) else { return false };
        let next = view.token(at + 1);
        if language.words.joints.contains(token.word.as_str()) {
            return matches!(token.word.as_str(), "and" | "or" | "и" | "или") && next.is_some_and(Token::is_word);
        }
        if token.is(",") {
            words = 0;
        } else if token.is_word() {
            words += 1;
        } else {
            return false;
        }
        if words > 3 {
            return false;
        }
    }
    false
}

/// Drops adverbs, marks and dangling joints from the end.
fn trim(language: &Language, view: View<'_>, start: usize, mut end: usize) -> usize {
    'again: while end > start {
        let Some(last) = view.token(end - 1) else { return start };
        let abbreviated = last.is(".") && view.token(end - 2).is_some_and(|token| token.shape == Shape::Capital);
        if (!last.is_word() && !abbreviated)
            || language.words.joints.contains(last.word.as_str())
            || language.words.name_stops.contains(last.word.as_str())
        {
            end -= 1;
            continue;
        }
        for phrase in &language.words.trailing {
            let Some(from) = end.checked_sub(phrase.len()).filter(|from| *from >= start) else { continue };
            if phrase.iter().zip(from..).all(|(word, at)| view.word(at) == Some(word)) {
                end = from;
                continue 'again;
            }
        }
        return end;
    }
    end
}
