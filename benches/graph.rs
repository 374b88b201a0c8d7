//! How long reading the graph takes: finding an entity by name, walking from it, looking back in time. Seeded and
//! offline; medians.
//!
//! One user has a relation for every `relations`, a fifth as many entities, and one entity, the hub, that every tenth
//! relation begins at; the others join any two. A tenth of the relations have expired, a fifth have ended. `walk` is
//! from a common entity with all it finds, `hub` from the hub to depth 2 with a limit; `past` is a walk as of two
//! instants; `path` joins two common entities.
//!
//! The second table is what an engine takes over such a graph: `add` takes in a fact that tells of a common entity and a new
//! one, `add hub` one of the hub and a common entity, `add slot` one of a common entity of which there is but one at a time;
//! `ask` searches with a common entity's name in the query, `ask hub` with the hub's.
//!
//! `cargo bench --bench graph [-- --large]` (up to 100,000 relations, or 1,000,000 in SQLite); with `--engine` the second
//! table alone.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and a failing step ends it"
)]

mod made_up;

use std::time::{Duration, Instant};

use ingrain::{
    Direction, Durability, Entity, EntityId, ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact,
    GraphBatch, GraphQuery, GraphStore, InMemoryStore, MemoryEngine, MemoryId, Mention, Relation, RelationId, Result,
    Scope, SqliteStore, Timestamp, VectorStore, async_trait,
};
use made_up::{Words, large, median, timed};

const ROUNDS: usize = 200;
const BATCH: usize = 10_000;

fn at(seconds: usize) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + seconds as i64, 0).unwrap()
}

fn alice() -> Scope {
    Scope::user("alice")
}

#[tokio::main]
async fn main() {
    if !std::env::args().any(|argument| argument == "--engine") {
        stores().await;
    }
    println!("store      relations  add       add hub   add slot  ask       ask hub");
    for relations in [1_000, 10_000, 100_000] {
        engine("in_memory", InMemoryStore::new(), relations).await;
    }
    for relations in [1_000, 10_000, 100_000] {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::builder(folder.path().join("memory.db")).durability(Durability::Normal);
        engine("sqlite", store.open().await.unwrap(), relations).await;
    }
}

async fn stores() {
    println!(
        "store      relations  filled   name=     name~     walk 1    walk 2    walk 3    hub 100   hub 1000  past 2    \
         path      sources   page      counts"
    );
    for relations in [10_000, 100_000] {
        run("in_memory", &InMemoryStore::new(), relations).await;
    }
    let sizes: &[usize] = if large() { &[100_000, 1_000_000] } else { &[10_000, 100_000] };
    for relations in sizes {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let store = SqliteStore::builder(&path).durability(Durability::Normal).open().await.unwrap();
        run("sqlite", &store, *relations).await;
        drop(store);
        println!("           {} MiB in the file", std::fs::metadata(&path).unwrap().len() >> 20);
    }
    println!();
}

/// Reads `subject|predicate|object` in each message; a `!` behind the predicate says that there is one at a time.
#[derive(Debug)]
struct Triples;

#[async_trait]
impl Extractor for Triples {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let facts = request.messages.iter().enumerate().map(|(number, message)| {
            let parts: Vec<&str> = message.text.split('|').collect();
            let predicate = parts[1].trim_end_matches('!');
            let mut relation = ExtractedRelation::new(Mention::new(parts[0]), predicate, Mention::new(parts[2]));
            relation.single_valued = predicate != parts[1];
            Fact::new(parts.join(" ").replace(['_', '!'], " "), number).with_relation(relation)
        });
        Ok(Extraction::of(facts.collect()))
    }
}

async fn engine(name: &str, store: impl VectorStore + GraphStore + Clone, relations: usize) {
    let filled = fill(&store, relations).await;
    let engine = MemoryEngine::builder().store(store).extractor(Triples).build().await.unwrap();
    let (scope, mut words) = (alice(), Words::new(5));
    let mut times: [Vec<Duration>; 5] = [const { Vec::new() }; 5];
    for round in 0..ROUNDS / 4 {
        let mut any = || filled.names[1 + words.below(filled.names.len() - 1)].as_str();
        let (hub, one, two) = (filled.names[0].as_str(), any(), any());
        let told = [
            format!("{one}|has_met|New {round}"),
            format!("{hub}|has_met|{one}"),
            format!("{two}|lives_in!|Town {round}"),
        ];
        for (times, told) in times.iter_mut().zip(told) {
            times.push(timed(async { engine.add(&scope, told).await.unwrap() }).await);
        }
        for (times, asked) in times.iter_mut().skip(3).zip([one, hub]) {
            let query = format!("Who has {asked} met?");
            times.push(timed(async { engine.search(&scope, query).await.unwrap() }).await);
        }
    }
    print!("{name:<10} {relations:<10}");
    for times in times {
        print!(" {:<9}", format!("{:.2?}", median(times)));
    }
    println!();
}

struct Filled {
    entities: Vec<EntityId>,
    names: Vec<String>,
    sources: usize,
}

async fn fill(store: &impl GraphStore, relations: usize) -> Filled {
    let mut words = Words::new(relations as u64);
    let mut name = || words.sentence().split(' ').take(2).collect::<Vec<_>>().join(" ");
    let mut filled = Filled { entities: Vec::new(), names: Vec::new(), sources: relations / 4 };
    for start in (0..relations / 5).step_by(BATCH) {
        let mut batch = GraphBatch::default();
        for number in start..(start + BATCH).min(relations / 5) {
            // Others may share a name; which is meant is then a matter of their neighbours, and these of the hub are many.
            let name = if number == 0 { "The Hub".to_owned() } else { name() };
            let entity = Entity::new(EntityId::new(at(number)), alice(), name, at(number));
            filled.entities.push(entity.id);
            filled.names.push(entity.name.clone());
            batch.entities.push(entity);
        }
        store.apply_graph(&batch).await.unwrap();
    }
    let mut words = Words::new(1 + relations as u64);
    let hub = filled.entities[0];
    for start in (0..relations).step_by(BATCH) {
        let mut batch = GraphBatch::default();
        for number in start..(start + BATCH).min(relations) {
            let any = |words: &mut Words| filled.entities[1 + words.below(filled.entities.len() - 1)];
            let subject = if number % 10 == 0 { hub } else { any(&mut words) };
            let ends = (subject, "is_connected_with", any(&mut words));
            let fact = words.sentence();
            let mut relation = Relation::new(RelationId::new(at(number)), alice(), ends, fact, at(number));
            relation.valid_at = Some(at(number));
            relation.invalid_at = (number % 5 == 1).then(|| at(number + 100_000));
            relation.expired_at = (number % 10 == 2).then(|| at(number + 50_000));
            relation.sources = vec![source(number % filled.sources)];
            batch.relations.push(relation);
        }
        store.apply_graph(&batch).await.unwrap();
    }
    filled
}

fn source(number: usize) -> MemoryId {
    MemoryId::from_bytes((number as u128).to_be_bytes())
}

async fn run(name: &str, store: &impl GraphStore, relations: usize) {
    let start = Instant::now();
    let filled = fill(store, relations).await;
    let filled_in = start.elapsed();
    let mut words = Words::new(3);
    let (scope, now) = (alice(), GraphQuery::at(at(relations)).limit(100_000));
    let hub = [filled.entities[0]];
    let mut times: [Vec<Duration>; 12] = [const { Vec::new() }; 12];
    for _ in 0..ROUNDS {
        let number = words.below(filled.entities.len());
        let (from, to) = ([filled.entities[number]], filled.entities[words.below(filled.entities.len())]);
        let same = &filled.names[number];
        let like: String = same.chars().skip(1).collect();
        let past = GraphQuery::at(at(relations / 2)).known_at(at(relations / 2 + 7)).limit(100_000);
        let memory = [source(words.below(filled.sources))];
        let both = Direction::Both;
        let round = [
            timed(store.find_entities(&scope, same, 1)).await,
            timed(store.find_entities(&scope, &like, 5)).await,
            timed(store.neighbours(&scope, &from, 1, both, &now)).await,
            // Away from the hub, which would be all there is.
            timed(store.neighbours(&scope, &from, 2, Direction::Out, &now)).await,
            timed(store.neighbours(&scope, &from, 3, Direction::Out, &now)).await,
            timed(store.neighbours(&scope, &hub, 2, both, &now.limit(100))).await,
            timed(store.neighbours(&scope, &hub, 2, both, &now.limit(1_000))).await,
            timed(store.neighbours(&scope, &from, 2, Direction::Out, &past)).await,
            timed(store.path(&scope, from[0], to, 8, &now)).await,
            timed(store.relations_of(&scope, &memory)).await,
            timed(store.list_entities(&scope, None, 100)).await,
            timed(store.graph_counts(&scope)).await,
        ];
        for (times, time) in times.iter_mut().zip(round) {
            times.push(time);
        }
    }
    print!("{name:<10} {relations:<10} {filled_in:<8.1?}");
    for times in times {
        print!(" {:<9}", format!("{:.2?}", median(times)));
    }
    println!();
}
