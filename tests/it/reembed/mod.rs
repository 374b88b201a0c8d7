//! Another embedder for a filled store.

mod broken_off;
#[cfg(all(feature = "sqlite", unix))]
mod killed;
mod together;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use ingrain::{
    Block, Embedder, EmbedderExt, EmbedderIdentity, ErrorKind, Filter, IndexKey, ListRequest, ManualClock, Memory,
    MemoryEngine, MemoryKind, MemoryUpdate, Message, NewMemory, Purpose, Reembed, ReembedProgress, Result, Scope,
    SearchMode, SearchRequest, Stage, VectorStore, async_trait, testing::GivenVectors,
};
use proptest::{collection::vec, prelude::*};

use crate::worlds::{self, World, t0};

const MODES: [SearchMode; 3] = [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid];

pub fn ada() -> Scope {
    Scope::user("ada")
}

fn toy(name: &str, dimensions: usize) -> GivenVectors {
    GivenVectors::new(dimensions).named(name)
}

/// The embedder that fills the stores of these tests.
pub fn first() -> GivenVectors {
    toy("first", 32)
}

pub fn second() -> GivenVectors {
    toy("second", 48)
}

/// As wide as the first.
pub fn third() -> GivenVectors {
    toy("third", 32)
}

pub async fn opened(world: &World, embedder: GivenVectors) -> Result<MemoryEngine> {
    worlds::engine(world.store.clone(), embedder, ManualClock::at(t0())).await
}

pub fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("Walked past mill number {number}")).collect()
}

/// The keys of everything of the scope, oldest memory first.
pub async fn keys(store: &dyn VectorStore, scope: &Scope, memories: &[Memory]) -> Vec<Vec<IndexKey>> {
    let mut keys = Vec::new();
    for memory in memories {
        keys.push(store.keys(scope, memory.id).await.unwrap());
    }
    keys
}

/// Everything of the scope is there, has keys of this embedder and no other, and is found by each of them.
pub async fn is_of(world: &World, scope: &Scope, embedder: &GivenVectors, memories: &[Memory]) {
    let engine = opened(world, embedder.clone()).await.unwrap();
    assert_eq!(world.everything(scope).await, memories, "{}", world.name);
    for (memory, keys) in memories.iter().zip(keys(&world.store, scope, memories).await) {
        assert!(!keys.is_empty());
        for key in keys {
            let expected = match memory.kind {
                // It is in every prompt, and found by no vector.
                MemoryKind::Block => vec![0.0; embedder.identity().dimensions],
                _ => embedder.embed_one(&key.text, Purpose::Document).await.unwrap(),
            };
            assert_eq!(key.vector, expected, "{}", key.text);
        }
        let request = SearchRequest::new(&*memory.text).mode(SearchMode::Vector).limit(memories.len());
        let hits = engine.search(scope, request.include_invalid()).await.unwrap();
        assert!(hits.iter().any(|hit| hit.memory.id == memory.id), "{}: {}", world.name, memory.text);
    }
}

#[tokio::test]
async fn a_refused_store_is_opened_after_it_was_embedded_anew() {
    for world in World::all_with(|| toy("toy-a", 4)).await {
        world.engine.add_raw(&ada(), ["one", "two", "three"]).await.unwrap();
        let before = world.everything(&ada()).await;
        let history = world.engine.history(&ada(), before[0].id).await.unwrap();
        world.engine.touch(&ada(), &[before[1].id]).await.unwrap();
        let before_by_id = world.everything(&ada()).await;
        for (name, dimensions) in [("toy-b", 8), ("toy-c", 4)] {
            let error = opened(&world, toy(name, dimensions)).await.expect_err("another embedder");
            assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{}", world.name);
            for part in ["toy-a", name, "4", &dimensions.to_string()] {
                assert!(error.to_string().contains(part), "{part} should be named: {error}");
            }
        }
        let mut bound = EmbedderIdentity::new("toy-a", 4);
        for (name, dimensions) in [("toy-b", 8), ("toy-c", 4), ("toy-a", 4)] {
            let embedder = toy(name, dimensions);
            let report = Reembed::new(world.store.clone(), embedder.clone()).run().await.unwrap();
            assert_eq!((report.embedded, report.resumed, embedder.inputs()), (3, 0, 3));
            assert_eq!((report.from, &report.to), (Some(bound), &embedder.identity()));
            bound = report.to;
            let engine = opened(&world, embedder.clone()).await.unwrap();
            assert_eq!(world.everything(&ada()).await, before_by_id, "ids, times, revisions and counts");
            assert_eq!(engine.history(&ada(), before[0].id).await.unwrap(), history);
            for memory in &before {
                for mode in MODES {
                    let hits = engine.search(&ada(), SearchRequest::new(&*memory.text).mode(mode)).await.unwrap();
                    assert_eq!(hits[0].memory.id, memory.id, "{}, {name}, {mode:?}", world.name);
                }
            }
            let again = Reembed::new(world.store.clone(), embedder.clone()).run().await.unwrap();
            assert_eq!((again.embedded, again.from), (0, Some(embedder.identity())), "nothing is left to do");
            is_of(&world, &ada(), &embedder, &before_by_id).await;
        }
        opened(&world, toy("toy-b", 8)).await.expect_err("that was two embedders ago");
    }
}

/// Sessions, facts that find turns, a graph, a block, an ended memory, a conversation and a long text, of two users.
async fn lived_in(world: &World) {
    let session = ada().with_session("monday");
    let said = ["I live in Lisbon.", "My sister Eva works at Siemens.", "I moved to Porto."].map(Message::user);
    world.engine.add(&session, said).await.unwrap();
    world.engine.add(&Scope::user("ben"), [Message::user("I keep bees.")]).await.unwrap();
    world.engine.blocks(&ada()).set(Block::new("persona", "Kind, short answers")).await.unwrap();
    let conversation = world.engine.conversation(&session).unwrap();
    conversation.append([Message::user("Good morning!"), Message::assistant("Good morning.")]).await.unwrap();
    let long = NewMemory::new("The garden behind the mill has a pond with seven frogs. ".repeat(200));
    world.engine.add_raw(&ada(), [long]).await.unwrap();
}

async fn exported(engine: &MemoryEngine, scope: &Scope) -> Vec<String> {
    let mut export = engine.export(scope);
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    // The first has the time.
    lines.split_off(1)
}

#[tokio::test]
async fn nothing_but_vectors_changes() {
    for world in World::all_with(first).await {
        lived_in(&world).await;
        let users = [ada(), Scope::user("ben")];
        let before = [exported(&world.engine, &users[0]).await, exported(&world.engine, &users[1]).await];
        assert!(before[0].len() > 10 && before[1].len() > 1);
        let report = Reembed::new(world.store.clone(), third()).batch(2).run().await.unwrap();
        assert!(report.embedded > 10, "{report:?}");
        let engine = opened(&world, third()).await.unwrap();
        let after = [exported(&engine, &users[0]).await, exported(&engine, &users[1]).await];
        assert_eq!(after, before, "{}: memories, histories, graph and conversations", world.name);
        for user in &users {
            is_of(&world, user, &third(), &world.everything(user).await).await;
        }
        assert!(engine.blocks(&ada()).get("persona").await.unwrap().is_some());
        engine.add(&ada(), "I moved to Braga.").await.unwrap();
        assert!(engine.search(&ada(), "Where does she live now? Braga?").await.unwrap()[0].memory.kind.is_semantic());
    }
}

#[tokio::test]
async fn it_tells_how_far_it_has_come() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(10)).await.unwrap();
        let told: Arc<Mutex<Vec<ReembedProgress>>> = Arc::default();
        let heard = Arc::clone(&told);
        let embedder = second();
        Reembed::new(world.store.clone(), embedder.clone())
            .batch(4)
            .on_progress(move |progress| heard.lock().unwrap().push(*progress))
            .run()
            .await
            .unwrap();
        let told: Vec<(u64, u64)> = told.lock().unwrap().iter().map(|one| (one.done, one.total)).collect();
        assert_eq!(told, [(0, 10), (4, 10), (8, 10), (10, 10)]);
        assert_eq!(embedder.requests(), 3);
    }
}

#[tokio::test]
async fn equal_texts_of_a_batch_are_sent_once() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), ["tea", "coffee", "tea", "tea"]).await.unwrap();
        let embedder = second();
        let report = Reembed::new(world.store.clone(), embedder.clone()).run().await.unwrap();
        assert_eq!((report.embedded, embedder.inputs()), (4, 2));
        is_of(&world, &ada(), &second(), &world.everything(&ada()).await).await;
    }
}

#[tokio::test]
async fn a_new_store_is_bound_to_it() {
    for store in [Arc::new(ingrain::InMemoryStore::new()) as Arc<dyn VectorStore>] {
        let report = Reembed::new(store.clone(), second()).run().await.unwrap();
        assert_eq!((report.from, report.embedded), (None, 0));
        worlds::engine(store.clone(), second(), ManualClock::at(t0())).await.unwrap();
        worlds::engine(store, first(), ManualClock::at(t0())).await.expect_err("bound");
    }
}

#[tokio::test]
async fn a_bad_request_is_refused_and_begins_nothing() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), ["one"]).await.unwrap();
        let zero = Reembed::new(world.store.clone(), second()).batch(0).run().await.expect_err("no texts");
        assert_eq!(zero.kind(), ErrorKind::InvalidArgument);
        for nameless in [toy(" ", 4), toy("flat", 0)] {
            let error = Reembed::new(world.store.clone(), nameless).run().await.expect_err("no embedder");
            assert_eq!(error.kind(), ErrorKind::Configuration);
        }
        opened(&world, first()).await.unwrap();
    }
}

#[tokio::test]
async fn rubbish_of_an_embedder_changes_nothing() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(5)).await.unwrap();
        let before = world.everything(&ada()).await;
        let faults = [vec![1.0; 47], vec![1.0; 32], Vec::new(), vec![f32::NAN; 48], vec![f32::INFINITY; 48]];
        for fault in faults {
            let faulty = second().with(&*before[4].text, fault);
            let error = Reembed::new(world.store.clone(), faulty).batch(2).run().await.expect_err("rubbish");
            assert_eq!((error.kind(), error.stage()), (ErrorKind::UnusableModelOutput, Some(Stage::Embed)), "{error}");
            is_of(&world, &ada(), &first(), &before).await;
        }
        // What was sound is kept.
        let embedder = second();
        let report = Reembed::new(world.store.clone(), embedder.clone()).run().await.unwrap();
        assert_eq!((report.resumed, report.embedded, embedder.inputs()), (4, 1, 1));
        is_of(&world, &ada(), &second(), &before).await;
    }
}

/// An embedder that does something before its requests, by their numbers from 0.
pub struct Meanwhile<F> {
    pub inner: GivenVectors,
    pub requests: AtomicUsize,
    pub act: F,
}

impl<F> std::fmt::Debug for Meanwhile<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").finish_non_exhaustive()
    }
}

impl<F, A> Meanwhile<F>
where
    F: Fn(usize) -> A + Send + Sync + 'static,
    A: Future<Output = Result<()>> + Send + 'static,
{
    pub fn new(inner: GivenVectors, act: F) -> Self {
        Self { inner, requests: AtomicUsize::new(0), act }
    }
}

#[async_trait]
impl<F, A> Embedder for Meanwhile<F>
where
    F: Fn(usize) -> A + Send + Sync + 'static,
    A: Future<Output = Result<()>> + Send + 'static,
{
    fn identity(&self) -> EmbedderIdentity {
        self.inner.identity()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        (self.act)(self.requests.fetch_add(1, Ordering::SeqCst)).await?;
        self.inner.embed(texts, purpose).await
    }
}

fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["mill", "река", "tea", "42", "茶", "I live in Lisbon", "pond.", "e\u{301}"]);
    (vec(words, 1..8), prop::sample::select(vec![1_usize, 1, 1, 400]))
        .prop_map(|(words, times)| format!("{} ", words.join(" ")).repeat(times))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_comes_to_the_same_as_a_store_filled_anew(
        texts in vec(text(), 1..12), turns in vec(text(), 0..4), batch in 1_usize..9,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let (old, fresh) = (World::all_with(first).await, World::all_with(third).await);
            for (old, fresh) in old.into_iter().zip(fresh) {
                for world in [&old, &fresh] {
                    world.engine.add_raw(&ada(), texts.clone()).await.unwrap();
                    let turn = |text: &String| NewMemory::new(text).kind(MemoryKind::Episode).speaker("Ada");
                    world.engine.add_raw(&ada(), turns.iter().map(turn)).await.unwrap();
                }
                Reembed::new(old.store.clone(), third()).batch(batch).run().await.unwrap();
                let reopened = opened(&old, third()).await.unwrap();
                let (one, other) = (old.everything(&ada()).await, fresh.everything(&ada()).await);
                assert_eq!(keys(&old.store, &ada(), &one).await, keys(&fresh.store, &ada(), &other).await);
                for mode in MODES {
                    let request = SearchRequest::new("the mill and tea").mode(mode).limit(100);
                    let scores = async |engine: &MemoryEngine| -> Vec<(String, f32)> {
                        let hits = engine.search(&ada(), request.clone()).await.unwrap();
                        hits.into_iter().map(|hit| (hit.memory.text, hit.score)).collect()
                    };
                    assert_eq!(scores(&reopened).await, scores(&fresh.engine).await, "{}, {mode:?}", old.name);
                }
            }
        });
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_scrub_gives_back_the_room_of_the_old_vectors() {
    let world = World::in_file(toy("wide", 128)).await;
    world.engine.add_raw(&ada(), numbered(400)).await.unwrap();
    let memory = world.everything(&ada()).await.remove(0);
    let old = world.store.keys(&ada(), memory.id).await.unwrap().remove(0).vector;
    let bytes: Vec<u8> = old.iter().flat_map(|number| number.to_le_bytes()).collect();
    let files = || -> Vec<Vec<u8>> {
        let folder = std::fs::read_dir(world.path().parent().unwrap()).unwrap();
        folder.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    };
    let held = || files().iter().any(|file| file.windows(bytes.len()).any(|part| part == bytes));
    let size = || files().iter().map(Vec::len).sum::<usize>();
    world.store.scrub().await.unwrap();
    let before = size();
    assert!(held(), "the vector is there before");
    Reembed::new(world.store.clone(), toy("narrow", 16)).run().await.unwrap();
    world.store.scrub().await.unwrap();
    assert!(!held());
    assert!(size() + 400 * 4 * 80 < before, "{} of {before} bytes are left", size());
}

#[tokio::test]
async fn filters_and_pages_go_on() {
    for world in World::all_with(first).await {
        let owned = |number: usize| {
            NewMemory::new(format!("Thing {number}")).categories([if number.is_multiple_of(2) {
                "even"
            } else {
                "odd"
            }])
        };
        world.engine.add_raw(&ada(), (0..9).map(owned)).await.unwrap();
        let odd = Filter::eq("categories", "odd");
        let page = |limit| ListRequest::new().filter(odd.clone()).limit(limit);
        let begun = world.engine.list(&ada(), page(2)).await.unwrap();
        Reembed::new(world.store.clone(), second()).run().await.unwrap();
        let engine = opened(&world, second()).await.unwrap();
        let rest = engine.list(&ada(), page(10).after(begun.next.unwrap())).await.unwrap();
        assert_eq!((begun.items.len(), rest.items.len(), rest.total), (2, 2, 4));
        let update = MemoryUpdate::new().text("Thing renamed");
        engine.update(&ada(), rest.items[0].id, update).await.unwrap();
        let hits = engine.search(&ada(), SearchRequest::new("Thing renamed").filter(odd.clone())).await.unwrap();
        assert_eq!((hits.len(), &*hits[0].memory.text), (4, "Thing renamed"));
    }
}
