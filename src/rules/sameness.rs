//! Whether two statements about one thing say the same: words compared after the frame around them is taken away.

use unicode_segmentation::UnicodeSegmentation;

use super::token::fold;
use crate::score::{
    relatedness::same_word,
    sameness::{normalized, same_text},
};

/// How a new statement stands to a known one of the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The known one says all of it.
    Covers,
    /// They say the same, the new one more exactly.
    Refined,
    /// They cannot both hold.
    Contradicts,
    /// The new one withdraws something else.
    Unrelated,
}

/// Words that hold a statement together and are no part of what fills the slot.
const FRAME: &str = "lives live moved moves based works work job for at in to from on is are was has have had a an the \
    named called name 's of as goes by there now no not longer does do cannot can't stand likes like loves love enjoys enjoy \
    adores hates dislikes dislike prefers fan into passionate about allergic living working years old birthday born \
    eats eat drinks drink married-to lost left quit studies i plays learning collects phone number \
    died sold drives drive car husband husband's wife wife's takes gave up there or \
    живет живут переехал переехала переехали работает в во на из уволился уволилась уволен с работы больше не нет уже \
    аллергия аллергии любит обожает ненавидит нравится нравятся на предпочитает увлекается терпеть может зовут возраст ест пьет прозвище муж мужа жена жены \
    учится есть играет учит номер телефона язык стал стала по профессии день рождения там живут";

/// Words of times, which refine a statement and do not change it.
const TIMES: &str = "january february march april may june july august september october november december since \
    yesterday january's year month days weeks months years ago \
    января январе февраля феврале марта марте апреля апреле мая мае июня июне июля июле августа августе сентября \
    сентябре октября октябре ноября ноябре декабря декабре года году";

/// Words that turn a statement round.
const AGAINST: &str =
    "no not longer cannot hates dislikes lost left quit died sold gave не нет ненавидит уволился уволилась уволен";

/// Words by which a statement takes back another and puts nothing in its place.
const WITHDRAWING: &[&str] = &[
    "no longer",
    "does not",
    "is no longer",
    "is not",
    "left the job",
    "lost the job",
    "sold the car",
    "больше не",
    "уволился",
    "уволилась",
    "уволен",
    "не живет",
    "не ",
    "нет ",
];

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|entry| entry == word)
}

struct Parts {
    value: Vec<String>,
    times: Vec<String>,
    against: bool,
}

fn parts(text: &str) -> Parts {
    let mut parts = Parts { value: Vec::new(), times: Vec::new(), against: false };
    let over = text.starts_with("No longer hates ") || text.starts_with("No longer dislikes ");
    for word in text.unicode_words().map(fold) {
        parts.against |= listed(AGAINST, &word) && !over;
        let is_year = word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1900..2101).contains(&year));
        if is_year || listed(TIMES, &word) {
            parts.times.push(word);
        } else if !listed(FRAME, &word) {
            parts.value.push(word);
        }
    }
    parts
}

/// Whether the statement says that something is not so, or not liked.
pub(super) fn is_against(text: &str) -> bool {
    parts(text).against
}

/// Whether every word of `some` is among `all`.
fn within(some: &[String], all: &[String]) -> bool {
    some.iter().all(|word| all.iter().any(|other| same_word(word, other)))
}

/// Whether the statement gives a name, which has no endings to look past: Александр is not Александра.
fn is_name(text: &str) -> bool {
    let text = normalized(text);
    ["name is ", "goes by ", "зовут ", "имя "]
        .iter()
        .any(|start| text.starts_with(start) || text.contains(&format!("'s {start}")))
}

/// Whether the statement tells of an animal by its name; the slot then is that name's.
fn is_of_a_pet(text: &str) -> bool {
    may_be_named(text) && (text.contains(" named ") || text.starts_with("Есть"))
}

/// How the new statement stands to the known one, both of one slot.
pub(super) fn agreement(known: &str, new: &str) -> Agreement {
    let (old, fresh) = (parts(known), parts(new));
    if old.against == fresh.against {
        // Part of a value is another value: York is not New York, and Paris, Texas, not Paris. A statement of frame
        // words alone ("Works at Love") is compared as it stands.
        let same = match (old.value.as_slice(), fresh.value.as_slice()) {
            ([], []) => same_text(known, new),
            (value, other) if is_name(known) || is_name(new) => value == other,
            // A dog named Rex is the small one of that name.
            (value, other) if is_of_a_pet(known) && is_of_a_pet(new) && within(other, value) => true,
            (value, other) => within(value, other) && within(other, value),
        };
        return match (same && within(&fresh.times, &old.times), same && within(&old.times, &fresh.times)) {
            (true, _) => Agreement::Covers,
            (false, true) => Agreement::Refined,
            // The same with other times ("Moved to Rome in 2019", "Moved to Rome in 2021") may be a return.
            (false, false) => Agreement::Contradicts,
        };
    }
    let start = normalized(new).replace('ё', "е");
    let over = [" no longer ", " больше не "].iter().any(|words| start.contains(words));
    let withdraws = fresh.against && (over || WITHDRAWING.iter().any(|words| start.starts_with(words)));
    // "Is no longer vegetarian or vegan" ends either.
    let either = new.contains(" or ") && fresh.value.iter().any(|word| within(std::slice::from_ref(word), &old.value));
    if withdraws && !either && !within(&fresh.value, &old.value) {
        Agreement::Unrelated
    } else {
        Agreement::Contradicts
    }
}

/// Whether the statement is of the kind that a name may be added to.
pub(super) fn may_be_named(text: &str) -> bool {
    ["Has a ", "Есть "].iter().any(|start| text.starts_with(start))
}

/// Whether the second text says what the first says and gives it a name: "Has a dog", "Has a dog named Rex".
pub(super) fn names(bare: &str, named: &str) -> bool {
    let Some(rest) = named.strip_prefix(bare).filter(|_| may_be_named(bare)) else { return false };
    let name = rest.strip_prefix(" named ").or_else(|| rest.strip_prefix(' ').filter(|_| bare.starts_with("Есть")));
    name.is_some_and(|name| name.split(' ').all(|word| word.chars().next().is_some_and(char::is_uppercase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_in_other_words() {
        assert_eq!(agreement("Moved to Porto in June", "Lives in Porto"), Agreement::Covers);
        assert_eq!(agreement("Lives in Porto", "Moved to Porto in June"), Agreement::Refined);
        assert_eq!(agreement("Lives in Porto", "Moved to Porto, lives there now"), Agreement::Covers);
        for (known, new) in [
            ("Lives in New York", "Lives in York"),
            ("Lives in Paris", "Lives in Paris, Texas"),
            ("Works as a data engineer", "Works as an engineer"),
            ("Name is Ann Lee", "Name is Lee"),
            ("Зовут Александр", "Зовут Александра"),
            ("Works at Love", "Works at Likes"),
        ] {
            assert_eq!(agreement(known, new), Agreement::Contradicts, "{known}, then {new}");
            assert_eq!(agreement(known, known), Agreement::Covers, "{known}");
        }
        // A pet by its name is one, described or not.
        let small = "Has a small dog named Rex";
        assert_eq!(agreement(small, "Has a dog named Rex"), Agreement::Covers);
        assert_eq!(agreement(small, "No longer has a dog named Rex"), Agreement::Contradicts);
        assert_eq!(agreement(small, "Has a cat named Rex"), Agreement::Contradicts);
        assert_eq!(agreement("Lives in Porto", "Moved to Lisbon"), Agreement::Contradicts);
        assert_eq!(agreement("Переехала в Казань", "Живёт в Казани"), Agreement::Covers);
        assert_eq!(agreement("Живёт в Москве", "Переехала в Казань"), Agreement::Contradicts);
    }

    #[test]
    fn withdrawals_close_what_they_name() {
        assert_eq!(agreement("Works at Acme", "No longer works at Acme"), Agreement::Contradicts);
        assert_eq!(agreement("Works at Acme", "No longer works at Bolt"), Agreement::Unrelated);
        assert_eq!(agreement("Works at Acme", "Left the job"), Agreement::Contradicts);
        assert_eq!(agreement("Работает в Яндексе", "Больше не работает в Яндексе"), Agreement::Contradicts);
        assert_eq!(agreement("Likes coffee", "Hates coffee"), Agreement::Contradicts);
        assert_eq!(agreement("Loves coffee", "Likes coffee"), Agreement::Covers);
        assert_eq!(agreement("Is no longer vegan", "Is vegan"), Agreement::Contradicts);
    }
}
