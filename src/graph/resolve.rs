use super::names::{misspelled, respelled};
use crate::{Entity, Mention};

/// An entity that a name may mean.
#[derive(Debug, Clone)]
pub(crate) struct Likely {
    pub(crate) entity: Entity,
    /// Of its likest name; 1 for an equal one.
    pub(crate) likeness: f32,
    /// Whether what the name is said to be related to is related to the entity already.
    pub(crate) shares_neighbour: bool,
}

/// The entity that a name means, if it can be told without understanding; `None` for a new one.
///
/// Equal names mean one entity, unless one is a person or an animal and the other is not; of several the one with a
/// neighbour in common, then the oldest. Another spelling of a long and varied name means the entity, if the two have a
/// neighbour in common and there is but one such: a slip of the pen only where neither is a person, since people have
/// names that differ by a letter.
pub(crate) fn resolve<'l>(mention: &Mention, likely: &'l [Likely]) -> Option<&'l Entity> {
    let own = Sort::of_any(&mention.entity_type);
    let fits: Vec<&Likely> =
        likely.iter().filter(|likely| own.may_be(Sort::of_any(&likely.entity.entity_type))).collect();
    let equal = fits.iter().filter(|likely| likely.likeness >= 1.0);
    if let Some(best) = equal.min_by_key(|likely| (!likely.shares_neighbour, likely.entity.id)) {
        return Some(&best.entity);
    }
    let spells = |likely: &&&Likely| likely.shares_neighbour && may_be_spelled(mention, &likely.entity);
    let mut alike = fits.iter().filter(spells);
    match (alike.next(), alike.next()) {
        (Some(one), None) => Some(&one.entity),
        _ => None,
    }
}

/// Whether the name may be another spelling of one of the entity's, if the two have a neighbour in common.
pub(crate) fn may_be_spelled(mention: &Mention, entity: &Entity) -> bool {
    let (own, sort) = (Sort::of_any(&mention.entity_type), Sort::of_any(&entity.entity_type));
    let is_thing = own == Sort::Thing && sort == Sort::Thing;
    let names = || std::iter::once(&mention.name).chain(&mention.aliases);
    let known = || std::iter::once(&entity.name).chain(&entity.aliases);
    own.may_be(sort)
        && names().any(|name| known().any(|known| respelled(name, known) || (is_thing && misspelled(name, known))))
}

/// What sorts of entities are never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Person,
    Animal,
    /// Places, organizations, works: a clinic is told of as either.
    Thing,
    Unknown,
}

const PEOPLE: &str = "person people human user man woman child individual friend relative colleague family_member";
const ANIMALS: &str = "animal pet dog cat puppy kitten bird parrot horse hamster rabbit turtle snake fish ferret";
const THINGS: &str = "place city town village country region location address organization organisation company employer \
    business school university team institution hospital clinic product book movie film song event project";

impl Sort {
    pub(super) fn of_any(entity_type: &Option<String>) -> Self {
        entity_type.as_deref().map_or(Self::Unknown, Self::of)
    }

    pub(super) fn of(entity_type: &str) -> Self {
        let folded = entity_type.trim().to_lowercase().replace([' ', '-'], "_");
        let listed = |list: &str| list.split_whitespace().any(|word| word == folded);
        match folded.as_str() {
            word if listed(PEOPLE) && !word.is_empty() => Self::Person,
            _ if listed(ANIMALS) => Self::Animal,
            _ if listed(THINGS) => Self::Thing,
            _ => Self::Unknown,
        }
    }

    pub(super) fn may_be(self, other: Self) -> bool {
        self == Self::Unknown || other == Self::Unknown || self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntityId, Scope, Timestamp, score::names::Name};

    fn known(number: u8, name: &str, entity_type: &str) -> Entity {
        let mut entity = Entity::new(EntityId::from_bytes([number; 16]), Scope::user("a"), name, Timestamp::default());
        entity.entity_type = Some(entity_type.to_owned()).filter(|entity_type| !entity_type.is_empty());
        entity
    }

    fn found(mention: &Mention, known: &[(Entity, bool)]) -> Option<u8> {
        let likely: Vec<Likely> = known
            .iter()
            .map(|(entity, shares_neighbour)| {
                let likeness = Name::of(&entity.name).likeness(&Name::of(&mention.name));
                Likely { entity: entity.clone(), likeness, shares_neighbour: *shares_neighbour }
            })
            .collect();
        resolve(mention, &likely).map(|entity| entity.id.as_bytes()[0])
    }

    #[test]
    fn one_name_is_one_entity() {
        let ktra = known(1, "KTRA", "organization");
        assert_eq!(found(&" ktra ".into(), &[(ktra.clone(), false)]), Some(1));
        assert_eq!(found(&"KTRB".into(), &[(ktra, true)]), None);
        for (name, other) in [("Jon", "John"), ("Joan", "John"), ("Anderson Smithson", "Andersen Smithson")] {
            assert_eq!(
                found(&Mention::new(name).with_type("person"), &[(known(1, other, "person"), true)]),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn a_person_is_no_place() {
        let jordan = known(1, "Jordan", "country");
        assert_eq!(found(&Mention::new("Jordan").with_type("person"), &[(jordan.clone(), true)]), None);
        assert_eq!(found(&Mention::new("Jordan").with_type("Place"), &[(jordan.clone(), false)]), Some(1));
        assert_eq!(found(&"jordan".into(), &[(jordan, false)]), Some(1));
    }

    #[test]
    fn of_two_of_one_name_the_neighbour_decides() {
        let (one, other) = (known(1, "Ana Silva", "person"), known(2, "Ana Silva", "person"));
        assert_eq!(found(&"Ana Silva".into(), &[(one.clone(), false), (other.clone(), true)]), Some(2));
        assert_eq!(found(&"Ana Silva".into(), &[(other, false), (one, false)]), Some(1));
    }

    #[test]
    fn other_spellings_need_a_neighbour_in_common() {
        let acme = known(1, "Acme Robotics", "organization");
        let gmbh = Mention::new("Acme Robotics GmbH").with_type("company");
        assert_eq!(found(&gmbh, &[(acme.clone(), true)]), Some(1));
        assert_eq!(found(&gmbh, &[(acme.clone(), false)]), None);
        let slip = Mention::new("Acme Robottics").with_type("company");
        assert_eq!(found(&slip, &[(acme.clone(), true)]), Some(1));
        assert_eq!(found(&Mention::new("Acme Robottics"), &[(acme, true)]), None, "it may be a person");
    }
}
