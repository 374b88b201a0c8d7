//! The lives of the users: what is true of each on each day, and what they say of it. Seeded, the same for every store.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, NaiveDate, Utc};

use super::words::{ANSWERS, APPOINTMENTS, ENGLISH, Kind, RUSSIAN, SMALL_TALK, SYSTEM, THINGS, TRIPS, Topic, Value};

/// What a sentence says: that of this matter that is so, or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    pub key: String,
    pub value: String,
    /// In every form of the value, in small letters: a fact that holds it may be of this claim.
    pub marker: &'static str,
}

/// A day of one user.
pub struct Day {
    /// What is told of the user, if anything is.
    pub told: Option<(String, Claim)>,
    pub small_talk: String,
    pub answer: String,
    pub system: Option<&'static str>,
    /// Whether the application puts what it recalls into the prompt, and feeds that back.
    pub recalls: bool,
    /// A note with the day it is of no use any more.
    pub appointment: Option<(String, NaiveDate)>,
}

/// A question and the claim that answers it.
pub struct Question {
    pub text: String,
    pub claim: Claim,
}

/// Numbers that look random and are the same in every run (splitmix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len() as u64) as usize)
    }

    fn word(&mut self, of: &[&'static str]) -> &'static str {
        self.pick(of).copied().unwrap_or_default()
    }
}

/// The first day of all lives.
pub fn birth() -> NaiveDate {
    NaiveDate::from_ymd_opt(2020, 1, 1).unwrap_or_default()
}

pub fn date(day: u64) -> NaiveDate {
    birth().checked_add_days(Days::new(day)).unwrap_or_default()
}

/// When that day's chat is: in the evening.
pub fn time(day: u64) -> DateTime<Utc> {
    date(day).and_hms_opt(18, 0, 0).unwrap_or_default().and_utc()
}

pub struct Life {
    random: Random,
    is_russian: bool,
    /// What is so today, by matter.
    truth: BTreeMap<String, &'static Value>,
    /// What was so once and is not, of matters that end.
    over: BTreeMap<String, &'static Value>,
    /// Trips to come: where, and the month they are in.
    trips: Vec<(&'static str, NaiveDate)>,
}

impl Life {
    /// The life of user number `number`. One in five talks Russian.
    pub fn new(seed: u64, number: u64) -> Self {
        let random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let is_russian = number % 5 == 4;
        Self { random, is_russian, truth: BTreeMap::new(), over: BTreeMap::new(), trips: Vec::new() }
    }

    fn topics(&self) -> &'static [Topic] {
        if self.is_russian { RUSSIAN } else { ENGLISH }
    }

    /// Lives one more day.
    pub fn day(&mut self, day: u64) -> Day {
        let language = usize::from(self.is_russian);
        self.trips.retain(|(_, month)| date(day) < next_month(*month));
        let told = self.news(day).or_else(|| (self.random.below(6) == 0).then(|| self.repeat()).flatten());
        let small_talk = self.random.word(SMALL_TALK.get(language).copied().unwrap_or_default());
        let thing = self.random.word(THINGS.get(language).copied().unwrap_or_default());
        let small_talk = small_talk.replace("{}", thing).replace("{2}", &(2 + self.random.below(40)).to_string());
        let answer = self.random.word(ANSWERS.get(language).copied().unwrap_or_default());
        let some = self.random.below(self.topics().len() as u64) as usize;
        let values = self.topics().get(some).map_or(&[][..], |topic| topic.values);
        let some = self.random.pick(values).map_or("", |value| value.0);
        let system = (self.random.below(10) == 0).then(|| self.random.word(SYSTEM));
        let appointment = (self.random.below(20) == 0).then(|| {
            let on = date(day + 3 + self.random.below(30));
            (format!("{} on {on}", self.random.word(APPOINTMENTS)), on.checked_add_days(Days::new(1)).unwrap_or(on))
        });
        let recalls = self.random.below(14) == 0;
        Day { told, small_talk, answer: answer.replace("{}", some), system, recalls, appointment }
    }

    /// What changes today and is told. In the first weeks one thing a day, so that there is something to know.
    fn news(&mut self, day: u64) -> Option<(String, Claim)> {
        let topics = self.topics();
        if let Some(topic) = topics.get(day as usize) {
            return self.change(topic);
        }
        if !self.is_russian && self.random.below(60) == 0 {
            return self.trip(day);
        }
        let due = topics.iter().find(|topic| self.random.below(topic.every) == 0)?;
        self.change(due)
    }

    fn change(&mut self, topic: &'static Topic) -> Option<(String, Claim)> {
        let value = self.random.pick(topic.values)?;
        let key = key(topic, value);
        if topic.kind == Kind::One {
            if self.truth.get(&key).is_some_and(|known| known == &value) {
                return None;
            }
            self.truth.insert(key.clone(), value);
            let text = spelled(self.random.word(topic.news), value);
            return Some((text, Claim { key, value: value.2.to_owned(), marker: value.2 }));
        }
        let was = self.truth.remove(&key).is_some();
        let (sentences, now) = if was { (topic.over, "no") } else { (topic.news, "yes") };
        if was {
            self.over.insert(key.clone(), value);
        } else {
            self.over.remove(&key);
            self.truth.insert(key.clone(), value);
        }
        Some((spelled(self.random.word(sentences), value), Claim { key, value: now.to_owned(), marker: value.2 }))
    }

    fn trip(&mut self, day: u64) -> Option<(String, Claim)> {
        let place = self.random.word(TRIPS.1);
        let month = date(day + 30 + self.random.below(120)).with_day(1)?;
        if self.trips.iter().any(|(other, _)| *other == place) {
            return None;
        }
        self.trips.push((place, month));
        let text = self.random.word(TRIPS.0).replace("{2}", &month.format("%B %Y").to_string()).replace("{}", place);
        Some((text, trip_claim(place, month)))
    }

    /// Something that is so, told again.
    fn repeat(&mut self) -> Option<(String, Claim)> {
        let known: Vec<(String, &'static Value)> =
            self.truth.iter().map(|(key, value)| (key.clone(), *value)).collect();
        let (key, value) = self.random.pick(&known)?.clone();
        let topic = topic_of(self.topics(), &key)?;
        let now = if topic.kind == Kind::One { value.2 } else { "yes" };
        let text = spelled(self.random.word(topic.again), value);
        Some((text, Claim { key, value: now.to_owned(), marker: value.2 }))
    }

    /// Whether a claim is true today; what is not known of the user cannot be.
    pub fn holds(&self, claim: &Claim) -> bool {
        match (self.truth.get(&claim.key), claim.value.as_str()) {
            (known, "yes") => {
                known.is_some() || self.trips.iter().any(|(place, month)| trip_key(place, *month) == claim.key)
            }
            (known, "no") => known.is_none(),
            (known, value) => known.is_some_and(|known| known.2 == value),
        }
    }

    /// A question for each thing that is so today.
    pub fn questions(&self) -> Vec<Question> {
        let of_truth = self.truth.iter().filter_map(|(key, value)| {
            let topic = topic_of(self.topics(), key)?;
            let now = if topic.kind == Kind::One { value.2 } else { "yes" };
            let claim = Claim { key: key.clone(), value: now.to_owned(), marker: value.2 };
            Some(Question { text: topic.question.replace("{}", value.0), claim })
        });
        let of_trips = self.trips.iter().map(|(place, month)| Question {
            text: format!("When do I go to {place}?"),
            claim: trip_claim(place, *month),
        });
        of_truth.chain(of_trips).collect()
    }
}

fn key(topic: &Topic, value: &Value) -> String {
    match topic.kind {
        Kind::One => topic.key.to_owned(),
        Kind::Each | Kind::Some => format!("{}:{}", topic.key, value.2),
    }
}

fn topic_of(topics: &'static [Topic], key: &str) -> Option<&'static Topic> {
    let name = key.split(':').next()?;
    topics.iter().find(|topic| topic.key == name)
}

fn spelled(sentence: &str, value: &Value) -> String {
    sentence.replace("{2}", value.1).replace("{}", value.0)
}

fn trip_key(place: &str, month: NaiveDate) -> String {
    format!("trip:{place} {}", month.format("%Y-%m"))
}

fn trip_claim(place: &'static str, month: NaiveDate) -> Claim {
    Claim { key: trip_key(place, month), value: "yes".to_owned(), marker: place }
}

fn next_month(month: NaiveDate) -> NaiveDate {
    month.checked_add_months(chrono::Months::new(1)).unwrap_or(month)
}
