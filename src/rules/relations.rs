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
    /// The key of the row's list; of a relative what they are, without their name.
    pub(super) class: &'a str,
    /// The name of the relative, if they are called by it ("my sister Ann").
    pub(super) name: Option<&'a str>,
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
    let is_name = matches!(row.value, Value::Person | Value::Given | Value::Names);
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
    let role = told.class;
    let is_only = language.class_key("only-one", role).is_some();
    let kin = |relative: Mention| ExtractedRelation {
        single_valued: is_only,
        // An older sister is a sister.
        ..ExtractedRelation::new(me.clone(), format!("has_{}", role.rsplit(' ').next().unwrap_or(role)), relative)
    };
    let unnamed = format!("{author}'s {role}");
    // Of whom there is but one, the name and what they are mean the same.
    let called = |name: &str| if is_only { person(name).with_alias(&unnamed) } else { person(name) };
    // "My sister Ann", "I have a sister named Ann".
    if row.topic == Topic::Family && is_name && (what == "name" || told.slot.is_empty()) && !role.is_empty() {
        let relative = called(told.value);
        // "My sister Ann is called Annie."
        let other = told.name.filter(|name| *name != told.value);
        return vec![kin(match other {
            Some(name) => relative.with_alias(name),
            None => relative,
        })];
    }
    // Elsewhere the value stands in the case that its verb gives it.
    if language.inflects {
        return Vec::new();
    }
    let Some((predicate, object_type)) = predicate(what, row.value) else { return Vec::new() };
    let object = match object_type {
        "person" => person(told.value),
        _ => without_article(language, told.value).with_type(object_type),
    };
    if whose == "user" {
        return vec![ExtractedRelation::new(me, predicate, object).single_valued()];
    }
    if role.is_empty() || language.class_key("parents", role).is_some() {
        return Vec::new();
    }
    let relative = told.name.map_or_else(|| person(&unnamed), called);
    let stated = ExtractedRelation::new(relative.clone(), predicate, object).single_valued();
    vec![kin(relative), stated]
}

/// "The Mar Clinic" is the same as "Mar Clinic". An article with a capital letter may be part of the name ("The Hague"), so
/// there the name without it is but another name.
fn without_article(language: &Language, value: &str) -> Mention {
    let Some((article, name)) = value.split_once(char::is_whitespace) else { return Mention::new(value) };
    if !language.words.articles.contains(article.to_lowercase().as_str()) {
        return Mention::new(value);
    }
    if article.starts_with(char::is_uppercase) {
        Mention::new(value).with_alias(name.trim_start())
    } else {
        Mention::new(name.trim_start())
    }
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
