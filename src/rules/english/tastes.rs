//! What the author likes, eats and suffers from.

use crate::rules::{
    row::{Row, Value, row},
    topic::Topic::{Allergy, Diet, Family, Health, Preference, Work},
};

pub(super) const TASTE: &[Row] = &[
    row("i no longer like|love|enjoy {v}", "No longer likes {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i am no longer into {v}", "No longer likes {v}", Preference, "user.preference.{v}", Value::Thing),
    row(
        "i am no longer a big|huge? fan of {v}",
        "No longer likes {v}",
        Preference,
        "user.preference.{v}",
        Value::Thing,
    ),
    row("i do not like {v}", "Does not like {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i do not enjoy {v}", "Does not enjoy {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i dislike {v}", "Dislikes {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i hate {v}", "Hates {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i can not stand {v}", "Cannot stand {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i am not a big|huge? fan of {v}", "Does not like {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i like {v}", "Likes {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i love {v}", "Loves {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i adore {v}", "Adores {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i enjoy {v}", "Enjoys {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i prefer {v} to {w}", "Prefers {v} to {w}", Preference, "", Value::Word),
    row("i prefer {v} over {w}", "Prefers {v} over {w}", Preference, "", Value::Thing),
    row("i prefer {v}", "Prefers {v}", Preference, "user.preference.{v}", Value::Thing).whole(),
    row("i am a big|huge? fan of {v}", "Is a fan of {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i am into {v}", "Is into {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i am passionate about {v}", "Is passionate about {v}", Preference, "user.preference.{v}", Value::Thing),
    row("i no longer play the? {v}", "No longer plays {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("i stopped|quit playing the? {v}", "No longer plays {v}", Preference, "user.plays.{v}", Value::Pastime).once(),
    row("i gave up playing? the? {v}", "No longer plays {v}", Preference, "user.plays.{v}", Value::Pastime)
        .once()
        .ends(&[("Gave up {v}", "user.preference.{v}")]),
    row("i play the? {v}", "Plays {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("i no longer collect {v}", "No longer collects {v}", Preference, "user.collects.{v}", Value::Thing),
    row("i gave up collecting {v}", "No longer collects {v}", Preference, "user.collects.{v}", Value::Thing),
    row("i stopped|quit collecting {v}", "No longer collects {v}", Preference, "user.collects.{v}", Value::Thing),
    row("i collect {v}", "Collects {v}", Preference, "user.collects.{v}", Value::Thing),
    row("i volunteer at {v}", "Volunteers at {v}", Work, "", Value::Organisation),
    row("my hobby is|'s {v}", "Hobby is {v}", Preference, "", Value::Thing),
    row("my hobbies are|include {v}", "Hobbies are {v}", Preference, "", Value::Thing),
    row("my favorite|favourite|fav {w} is {v}", "Favorite {w} is {v}", Preference, "user.favorite.{w}", Value::Thing),
    row("my favorite|favourite|fav {w} are {v}", "Favorite {w} are {v}", Preference, "user.favorite.{w}", Value::Thing),
];

pub(super) const HEALTH: &[Row] = &[
    row("i am no longer @diet", "Is no longer {c}", Diet, "user.diet", Value::None),
    row("i am not a|an? @diet", "Is not {c}", Diet, "user.diet", Value::None),
    row("i am a|an? @diet", "Is {c}", Diet, "user.diet", Value::None),
    row("i became|went|turned a|an? @diet", "Is {c}", Diet, "user.diet", Value::None).once(),
    row("i have been a|an? @diet", "Is {c}", Diet, "user.diet", Value::None).lasting(),
    row("i follow|keep|eat a|an? @diet diet", "Is on a {c} diet", Diet, "user.diet", Value::None),
    row("i am on a|an @regime diet", "Is on a {c} diet", Diet, "user.diet", Value::None),
    row("i no longer eat {v}", "No longer eats {v}", Diet, "user.eats.{v}", Value::Thing),
    row("i stopped|quit eating {v}", "No longer eats {v}", Diet, "user.eats.{v}", Value::Thing),
    row("i gave up eating {v}", "No longer eats {v}", Diet, "user.eats.{v}", Value::Thing),
    row("i eat @meat again", "Eats {c} again", Diet, "user.eats.{k}", Value::None).ends(MEAT),
    row("i eat @fish again", "Eats {c} again", Diet, "user.eats.{k}", Value::None).ends(FISH),
    row("i eat @dairy again", "Eats {c} again", Diet, "user.eats.{k}", Value::None).ends(DAIRY),
    row("i started|resumed eating @meat again?", "Eats {c} again", Diet, "user.eats.{k}", Value::None)
        .once()
        .ends(MEAT),
    row("i started|resumed eating @fish again?", "Eats {c} again", Diet, "user.eats.{k}", Value::None)
        .once()
        .ends(FISH),
    row("i started|resumed eating @dairy again?", "Eats {c} again", Diet, "user.eats.{k}", Value::None)
        .once()
        .ends(DAIRY),
    row("i can? eat {v} again", "Eats {v} again", Diet, "user.eats.{v}", Value::Word),
    row("i drink {v} again", "Drinks {v} again", Diet, "user.drinks.{v}", Value::Word),
    row("i smoke again", "Smokes again", Health, "user.smokes", Value::None),
    row("i started|resumed smoking again?", "Smokes again", Health, "user.smokes", Value::None).once(),
    row("i do not eat {v}", "Does not eat {v}", Diet, "user.eats.{v}", Value::Thing),
    row("i can not eat {v}", "Cannot eat {v}", Diet, "user.eats.{v}", Value::Thing),
    row("i no longer drink $", "No longer drinks alcohol", Diet, "user.drinks.alcohol", Value::None),
    row("i do not drink $", "Does not drink alcohol", Diet, "user.drinks.alcohol", Value::None),
    row("i no longer smoke $", "No longer smokes", Health, "user.smokes", Value::None),
    row("i stopped|quit smoking", "No longer smokes", Health, "user.smokes", Value::None).once(),
    row("i gave up smoking", "No longer smokes", Health, "user.smokes", Value::None).once(),
    row("i gave up alcohol", "No longer drinks alcohol", Diet, "user.drinks.alcohol", Value::None).once(),
    row("i gave up drinking $", "No longer drinks alcohol", Diet, "user.drinks.alcohol", Value::None).once(),
    row("i gave up drinking {v}", "No longer drinks {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("i do not smoke $", "Does not smoke", Health, "user.smokes", Value::None),
    row("i am @free-from $", "Is {c}", Diet, "user.diet.{k}", Value::None),
    row("i stopped|quit drinking {v}", "No longer drinks {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("i do not drink {v}", "Does not drink {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("i no longer drink {v}", "No longer drinks {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("i am no longer allergic to {v}", "Is no longer allergic to {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("i am not allergic to {v}", "Is not allergic to {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row(
        "i am severely|deathly|highly? allergic to {v}",
        "Is allergic to {v}",
        Allergy,
        "user.allergy.{v}",
        Value::Thing,
    ),
    row("i have a|an severe|bad? allergy to {v}", "Is allergic to {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("i have a|an severe|bad? {v} allergy", "Is allergic to {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("i am lactose intolerant", "Is lactose intolerant", Health, "", Value::None),
    row("i am gluten intolerant", "Is gluten intolerant", Health, "", Value::None),
    row("i am no longer pregnant $", "Is no longer pregnant", Health, "user.pregnancy", Value::None).ends_only(),
    row("i am pregnant", "Is pregnant", Health, "user.pregnancy", Value::None),
    row("i gave birth to a|an|my|our? @child", "Gave birth{t}", Family, "", Value::None).once().ends(BORN),
    row("i gave birth", "Gave birth{t}", Family, "", Value::None).once().ends(BORN),
    row("my|our baby was born", "Baby was born{t}", Family, "", Value::None).once().ends(BORN),
    row(
        "i take {w} @dose of? {v} every @part",
        "Takes {w} {c} of {v} every {d}",
        Health,
        "user.takes.{v}",
        Value::Medicine,
    ),
    row("i take {w} @dose of? {v}", "Takes {w} {c} of {v}{t}", Health, "user.takes.{v}", Value::Medicine),
    row("i take {w} of? {v}", "Takes {w} of {v}{t}", Health, "user.takes.{v}", Value::Medicine),
    row("i no longer take {v}", "No longer takes {v}", Health, "user.takes.{v}", Value::Medicine).ends_only(),
    row("i stopped|quit taking {v}", "No longer takes {v}", Health, "user.takes.{v}", Value::Medicine)
        .once()
        .ends_only(),
    row("my @carer is|'s {v}", "{C} is {v}", Health, "user.{k}", Value::Called),
    row("i am @condition", "Is {c}", Health, "", Value::None),
    row("i have {v} $", "Has {v}", Health, "", Value::Ailments),
    row("i have high blood pressure", "Has high blood pressure", Health, "", Value::None),
    row("i have @disease", "Has {c}", Health, "", Value::None),
    row("i gave up {v}", "Gave up {v}", Preference, "user.preference.{v}", Value::Word).once().ends_only(),
    row("i quit {v}", "Gave up {v}", Preference, "user.preference.{v}", Value::Word).once().ends_only(),
];

/// What one no longer is who eats meat, fish, eggs again.
const MEAT: &[(&str, &str)] = &[("Is no longer vegetarian, vegan or pescatarian", "user.diet")];
const FISH: &[(&str, &str)] = &[("Is no longer vegetarian or vegan", "user.diet")];
const DAIRY: &[(&str, &str)] = &[("Is no longer vegan", "user.diet")];

const BORN: &[(&str, &str)] = &[("Is no longer pregnant", "user.pregnancy")];
