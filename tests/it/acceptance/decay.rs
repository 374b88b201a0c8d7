//! How memories fade, over every store: computed when they are read, from what is stored.

use std::time::Duration;

use ingrain::{
    AddMode, AddRequest, ErrorKind, Hit, Memory, MemoryEngine, MemoryKind, Message, NewMemory, Part, Scope, SearchMode,
    SearchRequest, Timestamp,
    score::{
        decay::{DecayForm, DecayPolicy, MOST_RECENCY},
        fusion::Weights,
    },
};

use crate::worlds::{World, t0};

const HOUR: Duration = Duration::from_secs(3_600);

fn after(hours: i64) -> Timestamp {
    t0() + chrono::TimeDelta::hours(hours)
}

fn policy() -> DecayPolicy {
    DecayPolicy::new().half_life(MemoryKind::Fact, 168 * HOUR).half_life(MemoryKind::Procedure, 720 * HOUR)
}

fn weights(recency: f32) -> Weights {
    let mut weights = Weights::default();
    weights.recency = recency;
    weights
}

fn part(hit: &Hit, part: Part) -> Option<f32> {
    hit.parts.iter().find(|found| found.part == part).map(|found| found.value)
}

fn near(left: f32, right: f64) {
    assert!((f64::from(left) - right).abs() < 5e-4, "{left} is not {right}");
}

/// What is left of the importance of each memory of a user, in the order they were made.
async fn effective(engine: &MemoryEngine, scope: &Scope) -> Vec<f32> {
    let listed: Vec<Memory> = engine.list(scope, ingrain::ListRequest::new()).await.unwrap().items;
    listed.iter().map(|memory| engine.effective_importance(memory)).collect()
}

#[tokio::test]
async fn importance_fades_by_half_lives_and_nothing_is_written() {
    for world in World::all().await {
        let (ann, engine) = (Scope::user("ann"), world.builder().decay(policy()).build().await.unwrap());
        let procedure = NewMemory::new("Waters the bees").kind(MemoryKind::Procedure);
        let memories = [NewMemory::new("Keeps bees"), procedure].map(|memory| memory.importance(0.8));
        let stored = engine.add_raw(&ann, memories).await.unwrap();
        for (hours, fact) in [(0, 0.8), (168, 0.4), (336, 0.2), (-1, 0.8)] {
            world.clock.set(after(hours));
            near(effective(&engine, &ann).await[0], fact);
        }
        world.clock.set(after(168));
        near(effective(&engine, &ann).await[1], 0.681);
        for _ in 0..100 {
            near(effective(&engine, &ann).await[0], 0.4);
        }
        let hits = engine.search(&ann, "bees").await.unwrap();
        let of = |text: &str| hits.iter().find(|hit| hit.memory.text == text).unwrap().effective_importance;
        near(of("Keeps bees"), 0.4);
        near(of("Waters the bees"), 0.681);
        let listed = engine.list(&ann, ingrain::ListRequest::new()).await.unwrap().items;
        assert_eq!(listed, stored, "{}: what is stored stays as it is", world.name);
    }
}

/// A store that was opened again, and another process, see what the first sees, to the bit.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_has_faded_is_the_same_for_everybody() {
    use crate::processes::{Second, given, say};

    async fn opened(path: &std::path::Path) -> String {
        let store = ingrain::SqliteStore::open(path).await.unwrap();
        let clock = ingrain::ManualClock::at(after(100));
        let embedder = ingrain::testing::GivenVectors::new(256);
        let builder = MemoryEngine::builder().store(store).embedder(embedder).clock(clock).decay(policy());
        let builder = builder.weights(weights(0.1));
        seen(&builder.build().await.unwrap()).await
    }

    async fn seen(engine: &MemoryEngine) -> String {
        let effective = effective(engine, &Scope::user("ann")).await;
        let scores = engine.search(&Scope::user("ann"), "bees").await.unwrap();
        let scores = scores.iter().map(|hit| hit.score.to_bits());
        format!("{:?}", effective.iter().map(|number| number.to_bits()).chain(scores).collect::<Vec<_>>())
    }

    if let Some((path, _)) = given() {
        say(&opened(&path).await);
        return;
    }
    let world = World::in_file(ingrain::testing::GivenVectors::new(256)).await;
    let engine = world.builder().decay(policy()).weights(weights(0.1)).build().await.unwrap();
    let stored = engine.add_raw(&Scope::user("ann"), ["Keeps bees", "Sells bees"]).await.unwrap();
    world.clock.set(after(50));
    engine.touch(&Scope::user("ann"), &[stored[1].id]).await.unwrap();
    world.clock.set(after(100));
    let first = seen(&engine).await;
    assert_eq!(opened(&world.path()).await, first);
    let name = "acceptance::decay::what_has_faded_is_the_same_for_everybody";
    assert_eq!(Second::running(name, &world.path(), "").heard(), Some(first));
}

/// Two that fit alike but for their age, and the newer first; an old one that fits better stays before it.
#[tokio::test]
async fn age_decides_between_likes_and_hides_nothing() {
    for world in World::all().await {
        let weights = weights(MOST_RECENCY);
        let engine = world.builder().weights(weights).build().await.unwrap();
        let ann = Scope::user("ann");
        let memories = [
            NewMemory::new("Brews a dark beer").at(after(-9_000)),
            NewMemory::new("Brews a pale beer"),
            NewMemory::new("Planted an old oak tree").at(after(-90_000)),
            NewMemory::new("Planted a fence"),
        ];
        engine.add_raw(&ann, memories).await.unwrap();
        let hits = engine.search(&ann, "beer").await.unwrap();
        assert_eq!(hits[0].memory.text, "Brews a pale beer", "{}", world.name);
        assert_eq!(part(&hits[0], Part::Recency), Some(1.0));
        let hits = engine.search(&ann, "the oak tree that was planted").await.unwrap();
        assert_eq!(hits[0].memory.text, "Planted an old oak tree", "{}: {}", world.name, hits[0].explain());
        assert_eq!((part(&hits[0], Part::Recency), hits.len()), (Some(0.1), 4));
        let line = hits[0].explain();
        assert!(line.contains(", then 0.20 × recency 0.100"), "{line}");

        // Who looks from back then sees it young, and who asks for a time is not told of others for being new.
        let then = engine.search(&ann, SearchRequest::new("beer").asked_at(after(-8_999))).await.unwrap();
        let oldest = then.iter().find(|hit| hit.memory.text == "Brews a dark beer").unwrap();
        assert!(part(oldest, Part::Recency).unwrap() > 0.99);
        let timed = engine.search(&ann, "beer brewed in January 2024").await.unwrap();
        assert!(timed.iter().all(|hit| part(hit, Part::Recency).is_none()));
    }
}

// The words of the query are found by their stems.
#[cfg(feature = "stemmers")]
#[tokio::test]
async fn the_forms_make_scores_by_their_formulas() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let dull = NewMemory::new("Saw a bee").importance(0.1);
        let old = NewMemory::new("Keeps bees in hives").importance(1.0).at(after(-168));
        world.engine.add_raw(&ann, [dull, old]).await.unwrap();
        let search = |policy: DecayPolicy, recency: f32, mode: SearchMode| {
            let builder = world.builder().decay(policy).weights(weights(recency));
            let (ann, request) = (&ann, SearchRequest::new("bees in hives").mode(mode));
            async move { builder.build().await.unwrap().search(ann, request).await.unwrap() }
        };
        let of = |hits: &[Hit], text: &str| hits.iter().find(|hit| hit.memory.text == text).unwrap().clone();
        for mode in [SearchMode::Hybrid, SearchMode::Vector, SearchMode::Keyword] {
            let off = search(policy(), Weights::default().recency, mode).await;
            let additive = search(policy().form(DecayForm::Additive), 0.1, mode).await;
            let bounded = search(policy(), 0.1, mode).await;
            for (text, left, importance) in [("Saw a bee", 1.0, 0.1), ("Keeps bees in hives", 0.5, 1.0)] {
                let plain = of(&off, text);
                assert_eq!((part(&plain, Part::Recency), part(&plain, Part::Importance)), (None, None));
                let added = of(&additive, text);
                assert_eq!(added.effective_importance, left * importance);
                near(added.score, f64::from(0.5 * (plain.score + left * importance)));
                let factored = of(&bounded, text);
                let recency = if mode == SearchMode::Hybrid { 0.1 } else { 0.0 };
                near(factored.score, f64::from((plain.score * (1.0 + recency * (left - 0.5))).min(1.0)));
            }
        }
    }
}

#[tokio::test]
async fn pinned_blocks_and_what_is_to_come_do_not_fade() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let ahead = NewMemory::new("Flies to Oslo").valid_from(after(1_000));
        let block = NewMemory::new("Is brief").kind(MemoryKind::Block);
        let memories = [NewMemory::new("Keeps bees").pinned(true), ahead, block, NewMemory::new("Saw a fox")];
        let stored = world.engine.add_raw(&ann, memories).await.unwrap();
        world.clock.set(after(999));
        let left = |policy: &DecayPolicy, hours: i64| -> Vec<f32> {
            stored.iter().map(|memory| policy.left(memory, after(hours))).collect()
        };
        let policy = policy();
        assert_eq!(left(&policy, 999)[..3], [1.0, 1.0, 1.0]);
        assert_eq!(left(&policy, 1_168)[..3], [1.0, 0.5, 1.0]);
        assert_eq!(left(&policy, 1_168)[3], policy.floor);
    }
}

#[tokio::test]
async fn what_is_touched_fades_the_slower() {
    for world in World::all().await {
        let (ann, bob) = (Scope::user("ann"), Scope::user("bob"));
        let engine = world.builder().decay(policy()).weights(weights(0.1)).build().await.unwrap();
        let said = AddRequest::new([Message::user("The bees swarmed.")]).mode(AddMode::Raw);
        engine.add(&ann, said).await.unwrap();
        let [one, other] = engine.add_raw(&ann, ["Keeps bees", "Sells honey"]).await.unwrap().try_into().unwrap();
        world.clock.set(after(168));
        engine.touch(&ann, &[one.id]).await.unwrap();
        engine.touch(&ann, &[]).await.unwrap();
        engine.touch(&bob, &[other.id]).await.unwrap();
        let now = engine.get(&ann, one.id).await.unwrap();
        assert_eq!((now.access_count, now.accessed_at, now.revision), (1, Some(after(168)), one.revision));
        assert_eq!(engine.get(&ann, other.id).await.unwrap(), other, "a stranger's touch counts for nothing");
        assert_eq!(engine.history(&ann, one.id).await.unwrap().len(), 1);
        world.clock.set(after(336));
        let left = |memory: &Memory| engine.effective_importance(memory) / memory.importance;
        assert!(left(&now) > 0.5 && left(&other) == 0.25, "{} {}", left(&now), left(&other));
        // The index knows as well, though nothing but an access changed.
        let hits = engine.search(&ann, "bees").await.unwrap();
        let touched = hits.iter().find(|hit| hit.memory.id == one.id).unwrap();
        assert_eq!(part(touched, Part::Recency), Some(left(&now)), "{}", world.name);
        let error = engine.touch(&Scope::user(""), &[one.id]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn a_bad_policy_is_refused() {
    let world = World::in_memory().await;
    let error = world.builder().decay(DecayPolicy::new().floor(2.0)).build().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(world.builder().weights(weights(0.21)).build().await.unwrap_err().kind(), ErrorKind::Configuration);
}

#[tokio::test]
async fn what_has_faded_is_forgotten_only_where_that_is_asked_for() {
    for world in World::all().await {
        let (ann, engine) = (Scope::user("ann"), world.builder().decay(policy()).build().await.unwrap());
        let texts = ["Keeps bees", "Saw a fox", "Plays the oboe"];
        let stored = engine.add_raw(&ann, texts.map(|text| NewMemory::new(text).importance(0.8))).await.unwrap();
        engine.update(&ann, stored[0].id, ingrain::MemoryUpdate::new().pinned(true)).await.unwrap();
        world.clock.set(after(300));
        engine.touch(&ann, &[stored[1].id]).await.unwrap();
        world.clock.set(after(336));
        let report = engine.maintain(&ann, &ingrain::Maintenance::new()).await.unwrap();
        assert_eq!(report.forgotten, []);
        let forget = ingrain::Maintenance::new().forget_below(0.3).forget_what_holds(true);
        let report = engine.maintain(&ann, &forget).await.unwrap();
        assert_eq!(report.forgotten, [stored[2].id], "{}: neither the pinned nor the touched one", world.name);
    }
}
