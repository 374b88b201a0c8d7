//! The author's family, pets and plans.

use crate::rules::{
    row::{Row, Value, row},
    topic::Topic::{Allergy, Diet, Family, Pets, Plans},
};

pub(super) const OTHERS: &[Row] = &[
    row("i am married to {v}", "Is married to {v}", Family, "user.marital_status", Value::Person),
    row("i am @status $", "Is {c}", Family, "user.marital_status", Value::None),
    row("i am no longer married $", "Is no longer married", Family, "user.marital_status", Value::None).ends(PARTED),
    row("i am not @status $", "Is not {c}", Family, "user.marital_status", Value::None),
    row("i|we got divorced", "Is divorced", Family, "user.marital_status", Value::None).once().ends(PARTED),
    row("i got married to {v}", "Is married to {v}", Family, "user.marital_status", Value::Person).once(),
    row("i|we got married", "Is married", Family, "user.marital_status", Value::None).once(),
    row("i|we have a|an @rel named|called {v}", "Has a {c} named {v}", Family, "", Value::Person).resume(AND_PET),
    row("i|we have got? @number @offspring , {v}", "Has {c} {d}, {v}", Family, "user.{l}", Value::Names),
    row("i|we have got? @number @offspring $", "Has {c} {d}", Family, "user.{l}", Value::None),
    row("my|our kids|children are {v}", "Children are {v}", Family, "user.children.names", Value::Names),
    row("i|we have got? {v} $", "Has {v}", Family, "", Value::Kin),
    row("my @parents live in {v}", "{C} live in {v}", Family, "{k}.home", Value::Dwelling),
    row("my @parents moved to {v}", "{C} moved to {v}{t}", Family, "{k}.home", Value::Place),
    row("my @rel 's name is {v}", "{C}'s name is {v}", Family, "{k}.name", Value::Person),
    row("my @rel is|'s named|called {v}", "{C}'s name is {v}", Family, "{k}.name", Value::Person),
    row("my @rel lives in {v}", "{C} lives in {v}", Family, "{k}.home", Value::Dwelling),
    row("my @rel moved to {v}", "{C} moved to {v}{t}", Family, "{k}.home", Value::Place),
    row("my @rel works at|for {v}", "{C} works at {v}", Family, "{k}.employer", Value::Organisation),
    row("my @rel works as {v}", "{C} works as {v}", Family, "{k}.occupation", Value::Occupation),
    row("my @rel turned {v} years old", "{C} is {v} years old", Family, "{k}.age", Value::Age).once(),
    row("my @rel turned {v}", "{C} is {v} years old", Family, "{k}.age", Value::Age).once(),
    row("my @rel died of|from @deadly", "{C} died{t}", Family, "{k}.death", Value::None).once(),
    row("my @rel died", "{C} died{t}", Family, "{k}.death", Value::None).once(),
    row("my @rel passed away", "{C} died{t}", Family, "{k}.death", Value::None).once(),
    row("my @rel is|'s dead $", "{C} died", Family, "{k}.death", Value::None),
    row("my @rel is|'s no longer with us", "{C} died", Family, "{k}.death", Value::None),
    row("i|we broke up with my @former", "No longer has a {c}", Family, "{k}.parting", Value::None).once(),
    row("my @former and|& i|me broke|split up", "No longer has a {c}", Family, "{k}.parting", Value::None).once(),
    row("my @rel is|'s {v} years old", "{C} is {v} years old", Family, "{k}.age", Value::Age),
    row("my @rel is|'s {v} $", "{C} is {v} years old", Family, "{k}.age", Value::Age),
    row("my @rel is|'s {v}", "{C} is {v}", Family, "{k}.occupation", Value::Occupation),
    row("my @rel is|'s allergic to {v}", "{C} is allergic to {v}", Allergy, "{k}.allergy.{v}", Value::Thing),
    row("my @rel is|'s no longer @diet", "{C} is no longer {d}", Diet, "{k}.diet", Value::None),
    row("my @rel is|'s not a|an? @diet", "{C} is not {d}", Diet, "{k}.diet", Value::None),
    row("my @rel is|'s a|an? @diet", "{C} is {d}", Diet, "{k}.diet", Value::None),
    row("my|our @pet {v} passed away", "No longer has a {c} named {v}", Pets, "user.pet.{v}", Value::Person).once(),
    row("my|our @pet {v} died", "No longer has a {c} named {v}", Pets, "user.pet.{v}", Value::Person).once(),
    row("my|our @pet died", "{C} died{t}", Pets, "", Value::None).once(),
    row("my|our @pet passed away", "{C} died{t}", Pets, "", Value::None).once(),
    row(
        "my|our @pet {v} is|'s no longer with us",
        "No longer has a {c} named {v}",
        Pets,
        "user.pet.{v}",
        Value::Person,
    ),
    row("{v} is|'s no longer with us", "{v} died", Pets, "user.pet.{v}", Value::Called).ends_only(),
    row("{v} passed away", "{v} died", Pets, "user.pet.{v}", Value::Called).once().ends_only(),
    row("{v} died", "{v} died", Pets, "user.pet.{v}", Value::Called).once().ends_only(),
    row(
        "i|we no longer have my|our|the @pet {v}",
        "No longer has a {c} named {v}",
        Pets,
        "user.pet.{v}",
        Value::Person,
    ),
    row("i|we no longer have {v}", "No longer has {v}", Pets, "user.pet.{v}", Value::Called).ends_only(),
    row("i|we lost|rehomed my|our @pet {v}", "No longer has a {c} named {v}", Pets, "user.pet.{v}", Value::Person)
        .once(),
    row("i|we gave away my|our @pet {v}", "No longer has a {c} named {v}", Pets, "user.pet.{v}", Value::Person).once(),
    row("i|we have|adopted a|an @pet named|called {v}", "Has a {c} named {v}", Pets, "user.pet.{v}", Value::Person)
        .once()
        .resume(AND_PET),
    row(
        "i|we have|adopted a|an {w} @pet named|called {v}",
        "Has a {w} {c} named {v}",
        Pets,
        "user.pet.{v}",
        Value::Person,
    )
    .once()
    .resume(AND_PET),
    row("i|we have? got a|an @pet named|called {v}", "Has a {c} named {v}", Pets, "user.pet.{v}", Value::Person)
        .once()
        .resume(AND_PET),
    row(
        "i|we have|adopted|got got? @number @pets named|called|, {v}",
        "Has a {l} named {v}",
        Pets,
        "user.pet.{v}",
        Value::Names,
    )
    .also("Has {c} {d}", "user.pets.{l}")
    .resume(AND_PET),
    row("my|our @pets are|'re named|called? {v}", "Has a {k} named {v}", Pets, "user.pet.{v}", Value::Names),
    row("i|we have|adopted|got got? @number @pets $", "Has {c} {d}", Pets, "user.pets.{l}", Value::None),
    row("i|we have|adopted {v} $", "Has {v}", Pets, "", Value::Animals),
    row("i|we have? got {v} $", "Has {v}", Pets, "", Value::Animals),
    row("my @pet 's name is {v}", "Has a {c} named {v}", Pets, "user.pet.{v}", Value::Person),
    row("my @pet is|'s named|called {v}", "Has a {c} named {v}", Pets, "user.pet.{v}", Value::Person),
    row("i plan to {v}", "Plans to {v}{t}", Plans, "", Value::Doing),
    row("i am hoping to {v}", "Hopes to {v}{t}", Plans, "", Value::Ambition),
    row("i am planning to {v}", "Plans to {v}{t}", Plans, "", Value::Doing),
    row("i|we am|are planning a {v}", "Is planning a {v}{t}", Plans, "", Value::Venture),
    row("i|we am|are planning an {v}", "Is planning an {v}{t}", Plans, "", Value::Venture),
    row(
        "i|we am|are no longer planning a|an|my|our|the {v}",
        "Is no longer planning the {v}",
        Plans,
        "",
        Value::Venture,
    ),
    row(
        "i|we have? cancelled|canceled my|our|the @event to {v}",
        "Cancelled the {c} to {v}",
        Plans,
        "",
        Value::Venture,
    ),
    row("i|we have? cancelled|canceled my|our|the @event", "Cancelled the {c}", Plans, "", Value::None),
    row("i|we called off my|our|the @event to {v}", "Cancelled the {c} to {v}", Plans, "", Value::Venture),
    row("i|we called off my|our|the @event", "Cancelled the {c}", Plans, "", Value::None),
    row("i|we am|are in {v}", "Is in {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we am|are staying in {v}", "Is staying in {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we am|are visiting {v}", "Is visiting {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we will be in {v}", "Is going to be in {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we am|are going to be in {v}", "Is going to be in {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we am|are going|flying|travelling|traveling to {v}", "Is going to {v}{t}", Plans, "", Value::Place).ending(),
    row("i|we am|are on @leave", "Is on {c}{t}", Plans, "", Value::None).ending(),
    row("i|we am|are away", "Is away{t}", Plans, "", Value::None).ending(),
    row("my goal|dream is|'s to {v}", "Wants to {v}{t}", Plans, "", Value::Ambition),
    row("i am going to {v}", "Is going to {v}{t}", Plans, "", Value::Ambition),
    row("i want|hope to {v}", "Wants to {v}{t}", Plans, "", Value::Ambition),
    row("i am training for {v}", "Is training for {v}{t}", Plans, "", Value::Venture),
    row("i am preparing for {v}", "Is preparing for {v}{t}", Plans, "", Value::Venture),
    row("i am saving up? for {v}", "Is saving for {v}{t}", Plans, "", Value::Venture),
];

/// What a divorce ends.
const PARTED: &[(&str, &str)] = &[("No longer has a husband", "husband.name"), ("No longer has a wife", "wife.name")];

const AND_PET: &[(&str, &[&str])] = &[("and", &["i", "have"]), (",", &["i", "have"])];

/// Not statements but mentions: they are found anywhere in a clause that is safe to read.
pub(super) const MENTIONS: &[Row] = &[
    row("my @relative {v}", "{C}'s name is {v}", Family, "{k}.name", Value::Given),
    row("my|our @pet {v}", "Has a {c} named {v}", Pets, "user.pet.{v}", Value::Given),
    row("my|our @pets {v}", "Has a {k} named {v}", Pets, "user.pet.{v}", Value::Names),
];
