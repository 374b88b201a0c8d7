//! What a store is like at one moment.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use ingrain::{Filter, Hit, ListRequest, Memory, MemoryId, Scope, SearchRequest};

use super::{
    Outcome,
    life::{self, Claim, Life},
    world::World,
};

const FACTS: [&str; 2] = ["fact", "preference"];
const KINDS: [&str; 5] = ["episode", "fact", "preference", "summary", "observation"];

/// One moment of one store, or of several together.
#[derive(Debug, Default, Clone)]
pub struct Measure {
    pub bytes: u64,
    pub kinds: BTreeMap<&'static str, u64>,
    /// Events in the histories.
    pub events: u64,
    /// What is so and was read, of the users that are asked about.
    pub asked: u64,
    /// A memory that tells it is among the first five and ten hits.
    pub in_five: u64,
    pub in_ten: u64,
    /// The fact that tells it is among the first five facts.
    pub in_facts: u64,
    /// What is so, was told, and is not known since it was not read.
    pub unread: u64,
    /// Hits that are facts and not true any more, as far as was read.
    pub stale_hits: u64,
    /// Facts that hold by the store and are not true, as far as was read; and as it really is.
    pub stale: u64,
    pub untrue: u64,
    pub duplicates: u64,
    pub facts: u64,
    pub times: Vec<Duration>,
    /// Some of what is wrong, to look at.
    pub samples: Vec<String>,
}

impl Measure {
    pub fn join(&mut self, other: Self) {
        let Self { bytes, kinds, events, asked, in_five, in_ten, in_facts, unread, stale_hits, stale, untrue, .. } =
            other;
        self.bytes += bytes;
        for (kind, count) in kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        self.events += events;
        self.asked += asked;
        self.in_five += in_five;
        self.in_ten += in_ten;
        self.in_facts += in_facts;
        self.unread += unread;
        self.stale_hits += stale_hits;
        self.stale += stale;
        self.untrue += untrue;
        self.duplicates += other.duplicates;
        self.facts += other.facts;
        self.times.extend(other.times);
        self.samples.extend(other.samples);
    }

    pub fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    pub fn share(&self, found: u64) -> f64 {
        found as f64 / self.asked.max(1) as f64
    }
}

/// Looks at all users, and asks about the first `asked` of them.
pub async fn measure(world: &World, users: &[(Scope, Life)], day: u64, asked: usize) -> Outcome<Measure> {
    let mut measure = Measure::default();
    (measure.bytes, measure.events) = file(world)?;
    for (number, (scope, life)) in users.iter().enumerate() {
        for kind in KINDS {
            *measure.kinds.entry(kind).or_default() +=
                world.memory.count(scope, Some(&Filter::eq("kind", kind))).await?;
        }
        look_through(world, number, scope, life, day, &mut measure).await?;
        if number < asked {
            ask(world, number, scope, life, day, &mut measure).await?;
        }
    }
    Ok(measure)
}

/// The bytes of the file when all of the log is in it, and the events it keeps.
fn file(world: &World) -> Outcome<(u64, u64)> {
    let connection = rusqlite::Connection::open(&world.path)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let events: i64 = connection.query_row("SELECT count(*) FROM history", [], |row| row.get(0))?;
    Ok((std::fs::metadata(&world.path)?.len(), events.unsigned_abs()))
}

/// Whether the store may say this of today: by what was told and read, and by what is so.
fn judged(world: &World, number: usize, life: &Life, day: u64, memory: &Memory) -> (bool, bool) {
    if let Some(until) = world.reminders.get(&memory.id) {
        let is_due = *until > life::date(day);
        return (is_due, is_due);
    }
    let Some(claim) = world.claims.get(&memory.id) else { return (true, true) };
    let is_so = life.holds(claim);
    // When a trip is over was said when it was told.
    if claim.key.starts_with("trip") {
        return (is_so, is_so);
    }
    let last = world.last_heard.get(number).and_then(|heard| heard.get(&claim.key));
    (last.is_none_or(|last| last.value == claim.value), is_so)
}

async fn look_through(
    world: &World,
    number: usize,
    scope: &Scope,
    life: &Life,
    day: u64,
    measure: &mut Measure,
) -> Outcome<()> {
    let mut request = ListRequest::new().filter(Filter::any_of("kind", FACTS)).limit(1_000);
    let mut seen: HashMap<Claim, MemoryId> = HashMap::new();
    let mut texts: HashMap<String, MemoryId> = HashMap::new();
    loop {
        let page = world.memory.list(scope, request.clone()).await?;
        for memory in page.items {
            measure.facts += 1;
            let (by_words, really) = judged(world, number, life, day, &memory);
            measure.stale += u64::from(!by_words);
            measure.untrue += u64::from(!really);
            let claim = world.claims.get(&memory.id);
            let same = claim.and_then(|claim| seen.insert(claim.clone(), memory.id));
            let same = texts.insert(ingrain::score::sameness::normalized(&memory.text), memory.id).or(same);
            let same = same.filter(|_| !world.reminders.contains_key(&memory.id));
            measure.duplicates += u64::from(same.is_some());
            if !by_words || same.is_some() {
                let what = if by_words { "twice" } else { "stale" };
                let other = match same {
                    Some(id) => world.memory.get(scope, id).await?.text,
                    None => String::new(),
                };
                measure.samples.push(format!("{what}: {} {other:?} (slot {:?}, {claim:?})", memory.text, memory.slot));
            }
        }
        let Some(next) = page.next else { return Ok(()) };
        request = request.after(next);
    }
}

async fn ask(world: &World, number: usize, scope: &Scope, life: &Life, day: u64, measure: &mut Measure) -> Outcome<()> {
    // What was not asked lately is read from the file first; that is not what is timed.
    world.memory.search(scope, "hello").await?;
    for question in life.questions() {
        let heard = world.last_heard.get(number).and_then(|heard| heard.get(&question.claim.key));
        if heard.is_none_or(|heard| heard.value != question.claim.value) {
            measure.unread += 1;
            continue;
        }
        let begun = Instant::now();
        let hits = world.memory.search(scope, SearchRequest::new(&question.text).limit(10)).await?;
        measure.times.push(begun.elapsed());
        let tells = |hit: &Hit| {
            let id = &hit.memory.id;
            world.claims.get(id).or_else(|| world.turns.get(id)) == Some(&question.claim)
        };
        let place = hits.iter().position(tells);
        let of_facts = SearchRequest::new(&question.text).filter(Filter::any_of("kind", FACTS)).limit(5);
        let facts = world.memory.search(scope, of_facts).await?;
        let known = facts.iter().any(tells);
        measure.in_facts += u64::from(known);
        if !known {
            let first: Vec<&str> = facts.iter().map(|hit| hit.memory.text.as_str()).collect();
            measure.samples.push(format!("not among the facts: {} {first:?}", question.text));
        }
        measure.asked += 1;
        measure.in_five += u64::from(place.is_some_and(|place| place < 5));
        measure.in_ten += u64::from(place.is_some());
        let is_stale = |memory: &Memory| memory.kind.is_semantic() && !judged(world, number, life, day, memory).0;
        measure.stale_hits += hits.iter().chain(&facts).filter(|hit| is_stale(&hit.memory)).count() as u64;
        if place.is_none() {
            let first: Vec<String> =
                hits.iter().take(5).map(|hit| hit.memory.text.chars().take(60).collect()).collect();
            measure.samples.push(format!("not found: {} {first:?}", question.text));
        }
    }
    Ok(())
}
