//! The English table.

mod allergens;
mod author;
mod others;
mod tastes;
mod words;

use super::{
    language::{Language, Words},
    pattern::Pattern,
};

/// The table, compiled.
pub(super) fn language() -> Language {
    let rows = [author::PERSON, author::PLACE_AND_WORK, tastes::TASTE, tastes::HEALTH, others::OTHERS];
    Language {
        rows: rows.into_iter().flatten().map(|row| (Pattern::new(row.pattern), row)).collect(),
        mentions: others::MENTIONS.iter().map(|row| (Pattern::new(row.pattern), row)).collect(),
        words: Words::new(&words::LISTS),
        calendar: &words::CALENDAR,
        inflects: false,
        from_genitive: |name| vec![name.to_owned()],
        classes: words::CLASSES,
        inherits: words::INHERITS,
        omitted: words::OMITTED,
    }
}
