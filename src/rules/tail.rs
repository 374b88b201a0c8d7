//! What stands after a statement, and whether it takes some of it back.

use std::ops::Range;

use chrono::TimeDelta;

use super::{
    language::Language,
    pattern::{Found, MEASURES, View, trails},
    reader::Reader,
    row::{Row, Value},
    token::{Shape, Token},
    topic::Topic,
    value::ends_idly,
    when::{When, Wording},
};
use crate::Timestamp;

/// How many days ago something may have happened that ends what is known of today.
pub(super) const LATELY: i64 = 366;

/// How far a limit is looked for, in words.
const FURTHEST: usize = 24;

/// What one is pregnant with.
const EXPECTED: [&str; 6] = ["twins", "triplets", "my", "our", "a", "another"];

/// The time after a pattern that ends in a fixed word, and where the rest of the clause goes on; `None` if what follows
/// makes it another statement ("I'm vegan curious", "I work from home on Fridays").
pub(super) fn after(
    language: &Language,
    view: View<'_>,
    mut at: usize,
    row: &Row,
    now: Timestamp,
) -> Option<(Option<When>, usize)> {
    let time = |at: usize| {
        let rest = at.checked_sub(view.prefix.len()).and_then(|from| view.tokens.get(from..)).unwrap_or_default();
        language.calendar.at(rest, now)
    };
    // "женат уже пять лет": the adverb may be part of the time.
    while time(at).is_none() && view.word(at).is_some_and(|word| trails(language, word)) {
        at += 1;
    }
    let when = time(at);
    at += when.as_ref().map_or(0, |when| when.len);
    let words = &language.words;
    let goes_on = when.is_none()
        && view.token(at).is_some_and(|next| {
            let ends = [&words.joints, &words.stops, &words.name_stops, &words.fillers, &words.follow, &words.subjects];
            let word = next.word.as_str();
            if next.is_word() { !ends.iter().any(|list| list.contains(word)) } else { MEASURES.contains(&word) }
        });
    // "I am pregnant with ideas", "I am retired from this discussion": how one is by something is another matter.
    let pointed = view.word(at + 1).is_some_and(|word| words.pointers.contains(word));
    let figured = row.text.starts_with("Is ")
        && matches!(row.topic, Topic::Work | Topic::Health | Topic::Diet)
        && view
            .word(at)
            .is_some_and(|word| matches!(word, "with" | "of" | "to" | "by" | "about") || (word == "from" && pointed))
        && !view.word(at + 1).is_some_and(|word| EXPECTED.contains(&word));
    // "I graduated to a bike", "I graduated from high school" says nothing of where one studies.
    let figured = figured || (row.text == "Graduated{t}" && matches!(view.word(at), Some("to" | "from")));
    let other = goes_on || figured || limited(language, view, at, when.as_ref(), row, now);
    (!other).then_some((when, at))
}

impl Reader<'_> {
    /// Whether what a row says is over is so today, and whole: what stands from `at` on may take some of it back ("I left my job
    /// for an hour", "my mother died her hair"), or the time may be past or to come. Better stale than wrong.
    pub(super) fn ends_now(
        &self,
        row: &Row,
        view: View<'_>,
        found: &Found,
        when: Option<&When>,
        mut at: usize,
    ) -> bool {
        let words = &self.language.words;
        let mut when = when.cloned();
        // "Rex died last week": the words go on behind the value.
        if found.values[0].is_some_and(|(_, end)| end.is_some()) {
            let from = found.end.checked_sub(view.prefix.len());
            when = from.and_then(|from| self.language.calendar.at(view.tokens.get(from..)?, self.at));
            at = found.end + when.as_ref().map_or(0, |when| when.len);
        }
        // Last year began up to two years ago.
        let lately = self.at - TimeDelta::days(2 * LATELY);
        let is_old = when.as_ref().and_then(|when| when.from).is_some_and(|from| from < lately);
        let is_of_old = match row.topic {
            Topic::Family if row.is_death() => false,
            _ => is_old && (row.is_death() || !row.slot.is_empty()),
        };
        if is_of_old || when.is_some_and(|when| when.ahead) {
            return false;
        }
        let Some(next) = view.word(at) else { return true };
        let after = view.word(at + 1);
        if row.is_death() {
            let goes_on = |word: &str| {
                [&words.subordinate, &words.conditions, &words.questions].iter().any(|list| list.contains(word))
            };
            return match next {
                "," => !after.is_some_and(goes_on),
                _ => words.joints.contains(next) || next.ends_with("ly") || !view.token(at).is_some_and(Token::is_word),
            };
        }
        // "I lost my job at the factory", but not "I stopped smoking at work".
        let placed = next == "at" && row.topic != Topic::Work;
        row.value == Value::Age || !(words.partial.contains(next) || placed || next == ":" || after == Some("again"))
    }
}

/// Whether the words from `at` on narrow the statement before them ("until June"), or the time it has does.
pub(super) fn limited(
    language: &Language,
    view: View<'_>,
    at: usize,
    when: Option<&When>,
    row: &Row,
    now: Timestamp,
) -> bool {
    let words = &language.words;
    // When a medicine is taken does not narrow that it is.
    let regular = row.value == Value::Medicine && when.is_some_and(|when| when.wording == Wording::Habit);
    // "I live in Berlin until June" is soon wrong.
    if when.is_some_and(|when| when.bounded) && !row.ended && row.topic != Topic::Plans {
        return true;
    }
    let timed = row.once || row.ended || row.text.contains("{t}") || row.topic == Topic::Plans || regular;
    if !timed && when.is_some_and(|when| !when.lasting) {
        return true;
    }
    let mut rest = (at..view.len().min(at + FURTHEST)).filter_map(|at| view.word(at));
    let next = rest.clone().next();
    let resumes = next.is_some_and(|next| row.resume.iter().any(|(word, _)| *word == next));
    // "I moved to Porto as a child", "I'm vegan at home", but "I lost my job at the factory".
    let aside = next.is_some_and(|next| {
        (words.conditions.contains(next) && !(row.once && next == "at")) || (timed && next == "as")
    });
    // "I have been vegan for a day in 2010": what lasted is over.
    let dated = when.is_some_and(|when| when.lasting)
        && at
            .checked_sub(view.prefix.len())
            .and_then(|from| language.calendar.at(view.tokens.get(from..)?, now))
            .is_some_and(|then| !then.lasting);
    let put_aside = (at..view.len().min(at + FURTHEST)).any(|at| {
        // "A nurse at Heart Hospital" names a place.
        let plain = |at: usize| view.token(at).is_none_or(|token| token.shape != Shape::Capital);
        let said =
            |phrase: &Vec<&str>| phrase.iter().zip(at..).all(|(word, at)| view.word(at) == Some(word) && plain(at));
        words.asides.iter().any(said)
    });
    if dated || put_aside {
        return true;
    }
    // "I moved to Fossil from Git."
    let software = row.value == Value::Place && names_software(language, view, at..view.len().min(at + FURTHEST));
    software || (aside && !resumes && !ends_idly(language, view, at)) || rest.any(|word| words.limits.contains(word))
}

/// Whether one of the words is of software, services or departments.
pub(super) fn names_software(language: &Language, view: View<'_>, mut places: Range<usize>) -> bool {
    places.any(|at| view.word(at).is_some_and(|word| language.words.no_places.contains(word)))
}
