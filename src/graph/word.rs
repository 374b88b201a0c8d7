//! When the word of a model is taken for what a name means.
//!
//! A model knows that "Bob" is short for "Robert", and which clinic "the clinic" is; but it also takes one name for another
//! that looks like it. So its word is taken where understanding is needed, and not where it may have rested on letters
//! alone:
//!
//! - a person is no place and no animal, whatever is said;
//! - names with different numbers in them ("Hall 7", "Hall 8") are two;
//! - names with words that a slip of the pen would make the same (Jon, John, Joan; KTRA, KTRB) are two, unless both are long
//!   and varied and neither is that of a person or an animal ("Acme Robottics", "Acme Robotics");
//! - two full names of people ("Ana Lima", "Ana Costa") are two, unless they share a word and both are related to one that
//!   is not the user: that someone married is told by other relations.

use super::{
    names::{described, is_telling, lookalike, numbers_apart, word_set},
    resolve::Sort,
    told::{entity_names, names_of},
};
use crate::{Entity, Mention};

/// Why a name must not be taken for a stored entity on the word of a model; `None` if it may be.
pub(super) fn refusal(mention: &Mention, entity: &Entity, shares_neighbour: bool) -> Option<&'static str> {
    let (own, sort) = (Sort::of_any(&mention.entity_type), Sort::of_any(&entity.entity_type));
    if !own.may_be(sort) {
        return Some("a name taken for something of another sort");
    }
    let is = |wanted: Sort| own == wanted || sort == wanted;
    // One name that speaks against it is enough.
    names_of(mention).find_map(|name| {
        entity_names(entity).find_map(|known| {
            if numbers_apart(name, known) {
                return Some("a name taken for one with another number");
            }
            if lookalike(name, known) {
                let is_slip = is_telling(name) && is_telling(known) && !is(Sort::Person) && !is(Sort::Animal);
                return (!is_slip).then_some("a name taken for one that only looks like it");
            }
            let apart = is(Sort::Person) && are_full_names_apart(name, known, shares_neighbour);
            apart.then_some("a full name taken for another full name")
        })
    })
}

/// Whether both are more than a given name or a description, each with a word of its own, and nothing else connects the two.
fn are_full_names_apart(one: &str, other: &str, shares_neighbour: bool) -> bool {
    if described(one).or_else(|| described(other)).is_some() {
        return false;
    }
    let (one, other) = (word_set(one), word_set(other));
    let are_full = one.len() > 1 && other.len() > 1 && !one.is_subset(&other) && !other.is_subset(&one);
    are_full && (one.is_disjoint(&other) || !shares_neighbour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntityId, Scope, Timestamp};

    fn taken(name: &str, known: &str, sorts: (&str, &str), shares_neighbour: bool) -> bool {
        let typed = |sort: &str| Some(sort.to_owned()).filter(|sort| !sort.is_empty());
        let mut mention = Mention::new(name);
        mention.entity_type = typed(sorts.0);
        let mut entity = Entity::new(EntityId::from_bytes([1; 16]), Scope::user("a"), known, Timestamp::default());
        entity.entity_type = typed(sorts.1);
        refusal(&mention, &entity, shares_neighbour).is_none()
    }

    #[test]
    fn what_takes_understanding_is_taken() {
        let person = ("person", "person");
        for (name, known, sorts) in [
            ("Bob", "Robert Smith", person),
            ("Dr. Silveira", "Marta Silveira", ("", "person")),
            ("my boss", "Marta Silveira", person),
            ("the clinic", "Clínica Mar", ("organization", "clinic")),
            ("Mar Clinic", "Clínica Mar", ("organization", "clinic")),
            ("Acme Robottics", "Acme Robotics", ("", "")),
            ("KTRA", "Kerala Radio Authority", ("organization", "")),
        ] {
            assert!(taken(name, known, sorts, false), "{name} / {known}");
        }
        assert!(taken("Bob Smith", "Robert Smith", person, true));
    }

    #[test]
    fn what_only_looks_alike_is_not() {
        for shares in [false, true] {
            let person = ("person", "person");
            for (name, known, sorts) in [
                ("Jon", "John", person),
                ("Joan", "John Smith", ("", "person")),
                ("Jon", "John", ("", "")),
                ("KTRA", "KTRB", ("organization", "organization")),
                ("Anderson Smithson", "Andersen Smithson", person),
                ("Hall 7 of the Northern Fair", "Hall 8 of the Northern Fair", ("place", "place")),
                ("Jordan", "Kingdom of Jordan", ("person", "country")),
                ("Ana Lima", "Eva Costa", person),
            ] {
                assert!(!taken(name, known, sorts, shares), "{name} / {known}");
            }
        }
        assert!(!taken("Bob Smith", "Robert Smith", ("person", "person"), false));
    }

    #[test]
    fn one_alias_that_speaks_against_it_is_enough() {
        let mut entity = Entity::new(EntityId::from_bytes([1; 16]), Scope::user("a"), "Smith", Timestamp::default());
        entity.aliases = vec!["John".to_owned()];
        assert!(refusal(&Mention::new("Jon"), &entity, true).is_some());
    }
}
