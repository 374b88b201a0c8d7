//! A made-up town of which all is known: what the graph says of any day, by what had been told by any time, is so.

#[cfg(feature = "static-embedder")]
mod questions;
mod story;
mod truth;

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use chrono::TimeDelta;
use ingrain::{
    Entity, EntityId, ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, HashingEmbedder, InMemoryStore,
    ManualClock, MemoryEngine, MemoryEngineBuilder, Mention, Message, Result, Scope, Timestamp, async_trait,
};
use story::{Being, DAYS, Dice, SINGLE, Sentence, Statement, Story};
use truth::{Triple, Truth};

use crate::worlds::time;

/// Between one add and the next.
const PAUSE: Duration = Duration::from_secs(3_600);

fn scope() -> Scope {
    Scope::user("town")
}

/// The beginning of a day of the story.
fn day(number: i64) -> Timestamp {
    time("2020-01-01T00:00:00Z") + TimeDelta::days(number)
}

/// When the telling begins.
fn start() -> Timestamp {
    day(DAYS + 30)
}

/// Reads of each message the sentence whose number is its id.
#[derive(Debug)]
struct Script {
    beings: Vec<Being>,
    sentences: Vec<Sentence>,
}

impl Script {
    fn mention(&self, being: usize, says_kind: bool) -> Mention {
        let Being { name, kind, shares_name, .. } = &self.beings[being];
        let mention = Mention::new(name.as_str());
        if says_kind || *shares_name { mention.with_type(*kind) } else { mention }
    }

    fn fact(&self, sentence: usize, message: usize) -> Fact {
        let Sentence { text, statements, on_the_day } = &self.sentences[sentence];
        let mut fact = Fact::new(text.as_str(), message);
        for Statement { subject, predicate, object, from, until } in statements {
            // Some do not say what somebody or something is.
            let ends = [
                self.mention(*subject, !sentence.is_multiple_of(3)),
                self.mention(*object, !sentence.is_multiple_of(5)),
            ];
            let [subject, object] = ends;
            let mut relation = ExtractedRelation::new(subject, *predicate, object);
            relation.single_valued = SINGLE.contains(predicate);
            fact = fact.with_relation(relation);
            fact.valid_at = (!on_the_day).then(|| day(*from));
            fact.invalid_at = until.map(day);
        }
        fact
    }
}

#[async_trait]
impl Extractor for Script {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let numbered = request.messages.iter().enumerate();
        let sentence = |message: &Message| message.id.as_ref().unwrap().parse().unwrap();
        Ok(Extraction::of(numbered.map(|(number, message)| self.fact(sentence(message), number)).collect()))
    }
}

/// A story that was told to an engine.
struct Town {
    story: Story,
    engine: MemoryEngine,
    /// How many sentences are told at a time.
    batch: usize,
}

impl Town {
    /// Tells a story to an engine that has its stores and embedder.
    async fn told(story: Story, batch: usize, engine: MemoryEngineBuilder) -> Self {
        let clock = ManualClock::at(start());
        let script = Script { beings: story.beings.clone(), sentences: story.sentences.clone() };
        let engine = engine.extractor(script).clock(clock.clone()).build().await.unwrap();
        let numbers: Vec<usize> = (0..story.sentences.len()).collect();
        for together in numbers.chunks(batch) {
            let message = |number: &usize| {
                let Sentence { text, statements, on_the_day } = &story.sentences[*number];
                let mut message = Message::user(text.as_str()).with_id(number.to_string());
                message.at = on_the_day.then(|| day(statements[0].from));
                message
            };
            engine.add(&scope(), together.iter().map(message).collect::<Vec<_>>()).await.unwrap();
            clock.advance(PAUSE);
        }
        Self { story, engine, batch }
    }

    /// How many sentences have been told at an instant.
    fn told_by(&self, known: Timestamp) -> usize {
        if known < start() {
            return 0;
        }
        let adds = (known - start()).num_seconds() / i64::try_from(PAUSE.as_secs()).unwrap() + 1;
        (usize::try_from(adds).unwrap() * self.batch).min(self.story.sentences.len())
    }

    /// Every entity by id, with its number in the story.
    async fn beings(&self) -> HashMap<EntityId, usize> {
        let view = self.engine.graph(&scope()).any_time().view().await.unwrap();
        let mut told: BTreeSet<usize> = BTreeSet::new();
        for statement in self.story.sentences.iter().flat_map(|sentence| &sentence.statements) {
            told.extend([statement.subject, statement.object]);
        }
        let numbers = |entity: &Entity| {
            let is_it = |being: &Being| {
                being.name == entity.name && entity.entity_type.as_deref().is_none_or(|kind| kind == being.kind)
            };
            told.iter().copied().filter(|number| is_it(&self.story.beings[*number])).collect::<Vec<_>>()
        };
        let mut beings = HashMap::new();
        for entity in &view.entities {
            assert_eq!(entity.aliases, Vec::<String>::new(), "{entity:?} has several names");
            let found = numbers(entity);
            assert_eq!(found.len(), 1, "{entity:?} is {found:?}");
            beings.insert(entity.id, found[0]);
        }
        let distinct: BTreeSet<usize> = beings.values().copied().collect();
        assert_eq!((distinct.len(), &distinct), (view.entities.len(), &told), "each is there once");
        assert_eq!(self.engine.graph(&scope()).counts().await.unwrap().0, told.len() as u64);
        beings
    }

    /// Asks this many times what was believed of someone at random instants, and some times of everyone.
    async fn agrees_with_the_truth(&self, pairs: usize, views: usize) {
        let beings = self.beings().await;
        let ids: HashMap<usize, EntityId> = beings.iter().map(|(id, being)| (*being, *id)).collect();
        let mut dice = Dice::new(7);
        let hours = i64::try_from(self.story.sentences.len().div_ceil(self.batch)).unwrap() + 3;
        let mut instants: Vec<(i64, i64)> =
            (0..pairs).map(|_| (dice.between(-2, hours), dice.between(-1_100, DAYS + 60))).collect();
        // So that what had been told by then is worked out once for each.
        instants.sort_unstable();
        let whole: BTreeSet<usize> = (0..views).map(|_| dice.below(pairs)).collect();
        let mut truth = (usize::MAX, Truth::default());
        for (number, (hour, valid)) in instants.into_iter().enumerate() {
            let known = start() + TimeDelta::hours(hour);
            let count = self.told_by(known);
            if truth.0 != count {
                truth = (count, Truth::of(&self.story.sentences[..count]));
            }
            let being = dice.below(self.story.people);
            let at = day(valid) + TimeDelta::hours(dice.between(0, 24));
            let graph = self.engine.graph(&scope()).as_of(at, known);
            let expected = truth.1.around(being, valid);
            let said: BTreeSet<Triple> = match ids.get(&being) {
                None => BTreeSet::new(),
                Some(id) => {
                    let paths = graph.neighbours(&[*id], 1).await.unwrap();
                    paths.iter().map(|path| triple(&beings, &path.relations[0])).collect()
                }
            };
            // One way to each of the neighbours.
            let others = |triples: &BTreeSet<Triple>| -> BTreeSet<usize> {
                triples.iter().map(|(subject, _, object)| subject + object - being).collect()
            };
            let about = || self.about(being, count);
            assert!(said.is_subset(&expected), "day {valid}, {count} told: {said:?}, not {expected:?}\n{}", about());
            assert_eq!(others(&said), others(&expected), "day {valid}, {count} told\n{}", about());
            if whole.contains(&number) {
                let view = graph.view().await.unwrap();
                let said: BTreeSet<Triple> = view.relations.iter().map(|relation| triple(&beings, relation)).collect();
                assert_eq!(said.len(), view.relations.len(), "each is there once");
                let expected = truth.1.all(valid);
                let apart: Vec<&Triple> = said.symmetric_difference(&expected).collect();
                assert!(apart.is_empty(), "day {valid}, {count} told: {apart:?}\n{}", self.about(apart[0].0, count));
            }
        }
    }

    /// What was told of someone, to be printed.
    fn about(&self, being: usize, count: usize) -> String {
        let told = self.story.sentences[..count].iter().flat_map(|sentence| &sentence.statements);
        let of = told.filter(|told| told.subject == being || told.object == being);
        of.map(|told| format!("{told:?}\n")).collect()
    }
}

fn triple(beings: &HashMap<EntityId, usize>, relation: &ingrain::Relation) -> Triple {
    let predicates = ["lives_in", "works_at", "married_to", "has_office_in", "has_vet", "friend_of", "has_pet"];
    let predicate = predicates.into_iter().find(|predicate| *predicate == relation.predicate).unwrap();
    (beings[&relation.subject], predicate, beings[&relation.object])
}

/// Tells a story to an engine over these stores, so many sentences at a time, and asks.
pub async fn check(people: usize, batch: usize, pairs: usize, stores: MemoryEngineBuilder) {
    let town = Town::told(Story::new(1, people), batch, stores.embedder(HashingEmbedder::new(16))).await;
    town.agrees_with_the_truth(pairs, 20).await;
}

/// A store that keeps both memories and graph is held against the truth by one line here.
macro_rules! graph_world {
    ($($(#[$meta:meta])* $name:ident: $people:literal, $pairs:literal, $store:expr;)*) => {$(
        $(#[$meta])*
        #[tokio::test]
        async fn $name() {
            check($people, 1, $pairs, MemoryEngine::builder().store($store)).await;
        }
    )*};
}

graph_world! {
    in_memory: 60, 1_000, InMemoryStore::new();
    #[cfg(feature = "sqlite")]
    sqlite: 60, 1_000, ingrain::SqliteStore::open_in_memory().await.unwrap();
    #[ignore = "takes minutes without optimization"]
    whole_in_memory: 500, 10_000, InMemoryStore::new();
    #[cfg(feature = "sqlite")]
    #[ignore = "takes minutes without optimization"]
    whole_sqlite: 500, 10_000, ingrain::SqliteStore::open_in_memory().await.unwrap();
}
