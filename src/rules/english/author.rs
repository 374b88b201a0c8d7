//! Who the author is, where they live and what they do.

use crate::rules::{
    row::{Row, Value, row},
    topic::Topic::{Contact, Education, Home, Identity, Name, Speech, Work},
};

pub(super) const PERSON: &[Row] = &[
    row("my name is|'s {v}", "Name is {v}", Name, "user.name", Value::Person),
    row("i am called|named {v}", "Name is {v}", Name, "user.name", Value::Person),
    row("i am {v}", "Name is {v}", Name, "user.name", Value::Introduced),
    row("i go by {v}", "Goes by {v}", Name, "user.nickname", Value::Person),
    row("please? just? call me {v} $", "Goes by {v}", Name, "user.nickname", Value::Called),
    row("you can|may call me {v} $", "Goes by {v}", Name, "user.nickname", Value::Called),
    row("i am {v} years old", "Is {v} years old", Identity, "user.age", Value::Age),
    row("i am {v} $", "Is {v} years old", Identity, "user.age", Value::Age),
    row("i turned {v}", "Is {v} years old", Identity, "user.age", Value::Age).once(),
    row("my birthday is|'s on? {v}", "Birthday is {v}", Identity, "user.birthday", Value::Date),
    row("i was born on {v}", "Was born on {v}", Identity, "user.birthday", Value::Date).resume(BORN_IN),
    row("i was born in {v}", "Was born in {v}", Identity, "user.birthday", Value::Date).resume(BORN_IN),
    row("i was born in {v}", "Was born in {v}", Identity, "user.birthplace", Value::Place).once(),
    row("i was born and raised in {v}", "Was born in {v}", Identity, "user.birthplace", Value::Place).once(),
    row("i grew up in {v}", "Grew up in {v}", Identity, "", Value::Place),
    row("i am originally? from {v}", "Is from {v}", Identity, "user.origin", Value::Place),
    row("i come from {v}", "Is from {v}", Identity, "user.origin", Value::Place),
    row("i am @hand $", "Is {c}", Identity, "user.handedness", Value::None),
    row("i am left handed $", "Is left-handed", Identity, "user.handedness", Value::None),
    row("i am right handed $", "Is right-handed", Identity, "user.handedness", Value::None),
    row("i drive a {v}", "Drives a {v}", Identity, "user.car", Value::Named),
    row("i drive an {v}", "Drives an {v}", Identity, "user.car", Value::Named),
    row("my car is|'s a {v}", "Drives a {v}", Identity, "user.car", Value::Named),
    row("my car is|'s an {v}", "Drives an {v}", Identity, "user.car", Value::Named),
    row("i|we no longer have|own|drive a|my|our|the car", "No longer has a car", Identity, "user.car", Value::None),
    row("i|we sold my|our car", "Sold the car", Identity, "user.car", Value::None).once(),
    row("i|we sold my|our @make {v}", "No longer drives a {c} {v}", Identity, "user.car", Value::Named)
        .once()
        .ends_only(),
    row("i|we sold my|our @make", "No longer drives a {c}", Identity, "user.car", Value::None).once().ends_only(),
    row("i|we bought|got a new? @make {v}", "Drives a {c} {v}", Identity, "user.car", Value::Named).once().after(SOLD),
    row("i|we bought|got a new? @make", "Drives a {c}", Identity, "user.car", Value::None).once().after(SOLD),
    row("i|we bought|got an @make {v}", "Drives an {c} {v}", Identity, "user.car", Value::Named).once().after(SOLD),
    row("i|we bought|got an @make", "Drives an {c}", Identity, "user.car", Value::None).once().after(SOLD),
    row("i speak {v}", "Speaks {v}", Speech, "", Value::Languages),
    row("i am fluent in {v}", "Is fluent in {v}", Speech, "", Value::Languages),
    row(
        "i am no longer learning|studying {v}",
        "Is no longer learning {v}",
        Speech,
        "user.learning.{v}",
        Value::Languages,
    ),
    row(
        "i stopped|quit learning|studying {v}",
        "Is no longer learning {v}",
        Speech,
        "user.learning.{v}",
        Value::Languages,
    )
    .once(),
    row("i gave up learning|studying? {v}", "Is no longer learning {v}", Speech, "user.learning.{v}", Value::Languages)
        .once(),
    row("i am learning|studying {v}", "Is learning {v}", Speech, "user.learning.{v}", Value::Languages),
    row(
        "my new? phone|mobile|cell? number is|'s|: :? {v}",
        "Phone number is {v}",
        Contact,
        "user.phone",
        Value::Digits,
    ),
    row(
        "my phone|mobile|cell? number has? changed to :? {v}",
        "Phone number is {v}",
        Contact,
        "user.phone",
        Value::Digits,
    ),
    row(
        "i have|got got? a new phone|mobile|cell? number :? {v}",
        "Phone number is {v}",
        Contact,
        "user.phone",
        Value::Digits,
    ),
    row("my new? phone|mobile|cell is|'s {v}", "Phone number is {v}", Contact, "user.phone", Value::Digits),
    row(
        "my native|first language|tongue is|'s @lang",
        "Native language is {c}",
        Speech,
        "user.native_language",
        Value::None,
    ),
    row("my mother tongue is|'s @lang", "Native language is {c}", Speech, "user.native_language", Value::None),
];

pub(super) const PLACE_AND_WORK: &[Row] = &[
    row("i|we lived in {v}", "Lived in {v}{t}", Home, "", Value::Place).ended(),
    row("i worked at|for {v}", "Worked at {v}{t}", Work, "", Value::Named).ended(),
    row("i worked as {v}", "Worked as {v}{t}", Work, "", Value::Occupation).ended(),
    row("i was {v}", "Was {v}{t}", Work, "", Value::Occupation).ended(),
    row("i studied at {v}", "Studied at {v}{t}", Education, "", Value::Named).ended(),
    row("i|we no longer live in {v}", "No longer lives in {v}", Home, "user.home", Value::Place),
    row("i|we am|are no longer living|based in {v}", "No longer lives in {v}", Home, "user.home", Value::Place),
    row("i|we do not live in {v}", "Does not live in {v}", Home, "user.home", Value::Place),
    row("i|we live|reside in {v}", "Lives in {v}", Home, "user.home", Value::Dwelling),
    row("i|we live near {v}", "Lives near {v}", Home, "", Value::Place),
    row("i|we am|are living|residing in {v}", "Lives in {v}", Home, "user.home", Value::Dwelling),
    row("i am based|located in {v}", "Is based in {v}", Home, "user.home", Value::Place),
    row("i|we have lived in {v}", "Lives in {v}", Home, "user.home", Value::Place).lasting(),
    row("i|we have been living in {v}", "Lives in {v}", Home, "user.home", Value::Dwelling).lasting(),
    row(
        "i|we have? moved|relocated from {w} to {v}",
        "Moved to {v}{t}, lives there now",
        Home,
        "user.home",
        Value::Place,
    ),
    row(
        "i|we have? moved|relocated back? over? out? up? down? to {v}",
        "Moved to {v}{t}, lives there now",
        Home,
        "user.home",
        Value::Place,
    ),
    row("i no longer work at|for {v}", "No longer works at {v}", Work, "user.employer", Value::Organisation),
    row("i am no longer working|employed at|for|by {v}", "No longer works at {v}", Work, "user.employer", Value::Named),
    row("i left|quit {v}", "No longer works at {v}", Work, "user.employer", Value::Company).once(),
    row("i joined {v}", "Works at {v}", Work, "user.employer", Value::Named).after(GONE).once(),
    row("i am at|with {v} $", "Works at {v}", Work, "user.employer", Value::Named).after(LEFT),
    row("i am no longer at|with {v} $", "No longer works at {v}", Work, "user.employer", Value::Named).ends_only(),
    row("i quit|left|lost my job at|with {v}", "No longer works at {v}", Work, "user.employer", Value::Named).once(),
    row("i resigned from {v}", "No longer works at {v}", Work, "user.employer", Value::Named).once(),
    row("i was|got laid off from|by {v}", "No longer works at {v}", Work, "user.employer", Value::Named).once(),
    row("i was|got fired from|by {v}", "No longer works at {v}", Work, "user.employer", Value::Named).once(),
    row("i changed|switched jobs", "Has a new job{t}", Work, "", Value::None).once().ends(LEFT_JOB),
    row("i retired", "Is retired", Work, "user.occupation", Value::None).once().ends(LEFT_JOB),
    row("i quit|left my job", "Left the job", Work, "user.employer", Value::None).once(),
    row("i lost my job", "Lost the job", Work, "user.employer", Value::None).once(),
    row("i was|got laid off", "Lost the job", Work, "user.employer", Value::None).once(),
    row("i work as {v}", "Works as {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("i am working|employed as {v}", "Works as {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("i work at {v}", "Works at {v}", Work, "user.employer", Value::Organisation).resume(AS_WORK),
    row("i work for {v}", "Works for {v}", Work, "user.employer", Value::Organisation).resume(AS_WORK),
    row("i am working|employed at|by {v}", "Works at {v}", Work, "user.employer", Value::Organisation).resume(AS_WORK),
    row("i am working for {v}", "Works for {v}", Work, "user.employer", Value::Named).resume(AS_WORK),
    row("i have been working at|for {v}", "Works at {v}", Work, "user.employer", Value::Named)
        .lasting()
        .resume(AS_WORK),
    row("i have worked at|for {v}", "Works at {v}", Work, "user.employer", Value::Named).lasting().resume(AS_WORK),
    row(
        "i got|have|found|started|accepted a|my? new? job at|with {v}",
        "Works at {v}",
        Work,
        "user.employer",
        Value::Named,
    )
    .once()
    .resume(AS_WORK),
    row(
        "i got|have|found|started|accepted a|my new job as {v}",
        "Works as {v}",
        Work,
        "user.occupation",
        Value::Occupation,
    )
    .once()
    .ends(LEFT_JOB)
    .resume(AT_WORK),
    row("i got|have|found|started|accepted a|my new job", "Has a new job{t}", Work, "", Value::None)
        .once()
        .ends(LEFT_JOB),
    row("i started working at|for {v}", "Works at {v}", Work, "user.employer", Value::Organisation)
        .once()
        .resume(AS_WORK),
    row("i started at {v} as {w}", "Works at {v}", Work, "user.employer", Value::Named).resume(AS_WORK).once(),
    row("i teach @subject", "Teaches {c}", Work, "", Value::None).resume(AT_WORK),
    row("i teach computer science", "Teaches computer science", Work, "", Value::None).resume(AT_WORK),
    row("i work in @field", "Works in {c}", Work, "", Value::None).resume(AT_WORK),
    row("i work from home", "Works from home", Work, "", Value::None),
    row("i work remotely", "Works remotely", Work, "", Value::None),
    row("i am @jobless", "Is {c}", Work, "user.occupation", Value::None).ends(LEFT_JOB),
    row("i am @workless", "Is {c}", Work, "user.occupation", Value::None),
    row("i am {v}", "Is {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("my job is|'s {v}", "Works as {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("i became {v}", "Is {v}", Work, "user.occupation", Value::Occupation).once().resume(AT_WORK),
    row("i|we run|own a|an {w} @business", "Runs a {w} {c}", Work, "", Value::None),
    row("i|we run|own a|an @business", "Runs a {c}", Work, "", Value::None),
    row("i am a|an {w} student at {v}", "Studies at {v}", Education, "user.school", Value::Named),
    row("i am a student at {v}", "Studies at {v}", Education, "user.school", Value::Named),
    row("i am a|an @studies student", "Is a {c} student", Education, "user.student", Value::None),
    row("i am a student", "Is a student", Education, "user.student", Value::None),
    row("i study at {v}", "Studies at {v}", Education, "user.school", Value::Organisation),
    row("i am studying at {v}", "Studies at {v}", Education, "user.school", Value::Organisation),
    row("i study|major {v}", "Studies {v}", Education, "", Value::Thing).resume(AT_SCHOOL),
    row("i am majoring in {v}", "Studies {v}", Education, "", Value::Thing).resume(AT_SCHOOL),
    row("i am studying {v}", "Studies {v}", Education, "", Value::Thing).resume(AT_SCHOOL),
    row("i graduated from {v}", "Graduated from {v}{t}", Education, "", Value::Named)
        .ends(&[("No longer studies at {v}", "user.school"), ("Is no longer a student", "user.student")]),
    row("i graduated", "Graduated{t}", Education, "", Value::None)
        .once()
        .ends(&[("No longer studies there", "user.school"), ("Is no longer a student", "user.student")]),
    row("i majored in {v}", "Majored in {v}", Education, "", Value::Thing),
    row(
        "i have a|my degree|phd|doctorate|master's|bachelor's in {v}",
        "Has a degree in {v}",
        Education,
        "",
        Value::Thing,
    ),
];

/// What a new job ends.
const LEFT_JOB: &[(&str, &str)] = &[("Left the job", "user.employer")];
/// Facts after which a car spoken of is the new one.
const SOLD: &[&str] = &["Sold the car", "No longer drives"];
const AT_WORK: &[(&str, &[&str])] = &[
    ("at", &["i", "work", "at"]),
    ("for", &["i", "work", "for"]),
    ("working", &["i", "am", "working"]),
    ("living", &["i", "am", "living"]),
    ("based", &["i", "am", "based"]),
];
const BORN_IN: &[(&str, &[&str])] = &[("in", &["i", "was", "born", "in"])];
/// Facts after which a place spoken of is a new employer.
const GONE: &[&str] = &["No longer works at", "Left the job", "Lost the job"];
const LEFT: &[&str] = &["No longer works at"];
const AS_WORK: &[(&str, &[&str])] = &[("as", &["i", "work", "as"])];
const AT_SCHOOL: &[(&str, &[&str])] = &[("at", &["i", "study", "at"])];
