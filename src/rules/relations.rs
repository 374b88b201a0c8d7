//! Relations between what has a name.

use super::{
    language::Language,
    row::{Row, Value},
    topic::Topic,
};
use crate::{ExtractedRelation, Mention};

/// What a row found.
pub(super) struct Told<'a> {
    /// The slot, as the row has it.
    pub(super) slot: &'a str,
    /// The value, as it was said.
    pub(super) value: &'a str,
    /// The key of the row's list.
    pub(super) class: &'a str,
    /// Whether the statement says that something is not so.
    pub(super) is_against: bool,
}

/// The relations that a fact of this row tells.
pub(super) fn relations(
    language: &Language,
    row: &Row,
    told: &Told<'_>,
    speaker: Option<&str>,
) -> Vec<ExtractedRelation> {
    if told.is_against {
        return Vec::new();
    }
    let author = speaker.unwrap_or(Mention::USER);
    let person = |name: &str| Mention::new(name).with_type("person");
    let me = person(author);
    let (whose, what) = told.slot.split_once('.').unwrap_or_default();
    let is_name = matches!(row.value, Value::Person | Value::Given);
    if row.topic == Topic::Name && !told.value.is_empty() {
        return vec![ExtractedRelation::new(me, ExtractedRelation::SAME_AS, person(told.value))];
    }
    if row.topic == Topic::Pets && is_name {
        let mut pet = Mention::new(told.value);
        pet.entity_type = Some(told.class.to_owned()).filter(|class| !class.is_empty());
        return vec![ExtractedRelation::new(me, "has_pet", pet)];
    }
    if row.topic != Topic::Family && whose != "user" && whose != "{k}" {
        return Vec::new();
    }
    let relative = || {
        let role = told.class;
        let unnamed = format!("{author}'s {role}");
        let is_only = language.class_key("only-one", role).is_some();
        (format!("has_{}", role.replace(' ', "_")), unnamed, is_only)
    };
    let has = |name: Mention, predicate: String, is_only: bool| ExtractedRelation {
        single_valued: is_only,
        ..ExtractedRelation::new(me.clone(), predicate, name)
    };
    // "My sister Ann", "I have a sister named Ann".
    if row.topic == Topic::Family && is_name && (what == "name" || told.slot.is_empty()) && !told.class.is_empty() {
        let (predicate, unnamed, is_only) = relative();
        let named = person(told.value);
        return vec![has(if is_only { named.with_alias(unnamed) } else { named }, predicate, is_only)];
    }
    // Elsewhere the value stands in the case that its verb gives it.
    if language.inflects {
        return Vec::new();
    }
    let Some((predicate, object_type)) = predicate(what, row.value) else { return Vec::new() };
    let object = Mention::new(told.value).with_type(object_type);
    if whose == "user" {
        return vec![ExtractedRelation::new(me, predicate, object).single_valued()];
    }
    if told.class.is_empty() || language.class_key("parents", told.class).is_some() {
        return Vec::new();
    }
    let (kinship, unnamed, is_only) = relative();
    let relative = person(&unnamed);
    let stated = ExtractedRelation::new(relative.clone(), predicate, object).single_valued();
    vec![has(relative, kinship, is_only), stated]
}

/// What a slot says of its owner, and what is at the other end.
fn predicate(slot: &str, value: Value) -> Option<(&'static str, &'static str)> {
    let is_place = matches!(value, Value::Place | Value::Dwelling);
    let is_organisation = matches!(value, Value::Organisation | Value::Named | Value::Company);
    match slot {
        "home" if is_place => Some(("lives_in", "place")),
        "birthplace" if is_place => Some(("born_in", "place")),
        "origin" if is_place => Some(("is_from", "place")),
        "employer" if is_organisation => Some(("works_at", "organization")),
        "school" if is_organisation => Some(("studies_at", "organization")),
        "marital_status" if value == Value::Person => Some(("married_to", "person")),
        _ => None,
    }
}
