//! Lists of things: "tea, coffee and juice" are three.

use super::{
    language::Language,
    pattern::View,
    token::{Shape, Token},
    value::Cut,
};

/// Most words of a thing that is told apart.
const LONGEST_PART: usize = 2;

/// What a value that may be a list turned out to be.
#[derive(Debug)]
pub(super) enum List {
    /// One thing.
    One,
    /// Things of one or two words.
    Parts(Vec<(usize, usize)>),
    /// More than one thing, or words of which that cannot be told ("black and white photos").
    Unclear,
}

/// Takes a value apart. Things joined by "or" are told apart only where none of them is liked, which `against` says.
/// That they are `names` says that two of them are no title.
pub(super) fn list(language: &Language, view: View<'_>, cut: &Cut, against: bool, names: bool) -> List {
    let words = &language.words;
    let joint =
        |at: usize| view.token(at).is_some_and(|token| token.is(",") || words.joints.contains(token.word.as_str()));
    if !(cut.start..cut.end).any(joint) {
        return List::One;
    }
    let pair =
        |at: usize| words.pairs.iter().any(|pair| pair.iter().zip(at..).all(|(word, at)| view.word(at) == Some(word)));
    if (cut.start..cut.end).any(pair) {
        return if cut.end - cut.start == 3 { List::One } else { List::Unclear };
    }
    // "Allergic to penicillin and to peanuts", "tea and also coffee": what is said again is no part of the thing.
    let again = cut.start.checked_sub(1).and_then(|before| view.word(before)).unwrap_or_default();
    let idle = |at: usize| view.word(at).is_some_and(|word| word == again || words.fillers.contains(word));
    let either = (cut.start..cut.end).any(|at| view.word(at).is_some_and(|word| word == "or" || word == "или"));
    let parts: Vec<_> = parts(cut, joint)
        .into_iter()
        .map(|(from, to)| ((from..to).find(|at| !idle(*at)).unwrap_or(from), to))
        .collect();
    if parts.len() < 2 || (either && !against) || !are_plain(view, &parts, names) {
        List::Unclear
    } else {
        List::Parts(parts)
    }
}

fn parts(cut: &Cut, joint: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut from = cut.start;
    for at in cut.start..=cut.end {
        if at == cut.end || joint(at) {
            if from < at {
                parts.push((from, at));
            }
            from = at + 1;
        }
    }
    parts
}

/// Whether nothing is said of several parts at once. Where they differ in length, a word may belong to its neighbours
/// too ("fresh fruit and vegetables", "red and white wine"), save in the midst of a list.
fn are_plain(view: View<'_>, parts: &[(usize, usize)], names: bool) -> bool {
    let lengths: Vec<usize> = parts.iter().map(|(from, to)| to - from).collect();
    let alike = lengths.windows(2).all(|pair| pair.first() == pair.last());
    let framed = parts.len() > 2 && lengths.first() == Some(&1) && lengths.last() == Some(&1);
    let capital = |at: usize| view.token(at).is_some_and(|token| token.shape == Shape::Capital);
    // Two names may be a title ("Pride and Prejudice").
    let title = !names && parts.len() == 2 && parts.iter().all(|(from, _)| capital(*from));
    let verb = parts.iter().any(|(from, _)| view.word(*from) == Some("to"));
    let worded = parts.iter().all(|(from, to)| (*from..*to).all(|at| view.token(at).is_some_and(Token::is_word)));
    lengths.iter().all(|length| *length <= LONGEST_PART) && (alike || framed) && !title && !verb && worded
}
