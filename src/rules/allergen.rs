//! What one can be allergic to: "mornings" is a joke.

use super::{language::Language, pattern::View, value::Cut};
use crate::score::relatedness::singular;

/// Whether the value ends in an allergen ("cat hair"), or has one where the language puts the thing first ("пыльца
/// берёзы"). Of what is in no list nothing is said: an allergy is what is relied on most.
pub(super) fn is_allergen(language: &Language, view: View<'_>, cut: &Cut) -> bool {
    let words = || (cut.start..cut.end).filter_map(|at| view.token(at)).filter(|token| token.is_word());
    let ends = words().next_back().is_some_and(|last| {
        let one = singular(&last.word);
        let one = one.as_str();
        [last.word.as_str(), one].iter().any(|word| language.class_key("allergen", word).is_some())
            || language.class("allergen-ending").any(|ending| one.ends_with(ending))
    });
    ends || words().any(|token| language.class("allergen-stem").any(|stem| token.word.starts_with(stem)))
}
