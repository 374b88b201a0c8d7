//! A relation holds as long as the memories it rests on, whatever changes how long that is.

use std::time::Duration;

use ingrain::{
    Clock, ExtractedRelation, HashingEmbedder, Maintenance, MemoryEngine, MemoryUpdate, Mention, NewMemory, OnClash,
    Scope, Timestamp, Trust,
};

use proptest::prelude::*;

use super::{engine, id, lines, lines_of, tell};
use crate::worlds::{World, t0, time};

fn ada() -> Scope {
    Scope::user("ada")
}

fn until(at: Option<Timestamp>) -> MemoryUpdate {
    MemoryUpdate::new().valid_until(at)
}

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn it_comes_back_when_the_end_of_its_memory_is_taken_back() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let tea = tell(&engine, &ada(), "Likes tea = user|likes|tea").await;
        let bolt = tell(&engine, &ada(), "Works at Bolt = user|works_at!|Bolt").await;
        let all = ["user|likes|tea", "user|works_at|Bolt"];
        world.clock.advance(DAY);
        // An end after the beginning, and one at it, after which it had held at no time.
        for end in [world.clock.now(), t0()] {
            for memory in [tea, bolt] {
                engine.update(&ada(), memory, until(Some(end))).await.unwrap();
            }
            assert!(lines(&engine, &ada()).await.is_empty(), "{}", world.name);
            world.clock.advance(DAY);
            for memory in [tea, bolt] {
                engine.update(&ada(), memory, until(None)).await.unwrap();
            }
            assert_eq!(lines(&engine, &ada()).await, all, "{}", world.name);
            assert_eq!(lines_of(&engine.graph(&ada()).at(t0())).await, all, "{}", world.name);
            assert_eq!(lines_of(&engine.graph(&ada()).any_time()).await, all, "one period, and not two");
        }
        // What was believed in between is still told.
        let (now, between) = (world.clock.now(), t0() + chrono::TimeDelta::hours(36));
        assert_eq!(lines_of(&engine.graph(&ada()).as_of(now, between)).await.len(), 0, "{}", world.name);
        crate::worlds::sound(&engine).await;
    }
}

#[tokio::test]
async fn its_beginning_and_a_later_end_are_those_of_its_memory() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let tea = tell(&engine, &ada(), "Likes tea = user|likes|tea").await;
        let [march, june, september] =
            ["2025-03", "2025-06", "2025-09"].map(|month| time(&format!("{month}-01T00:00:00Z")));
        let at = async |at: Timestamp| !lines_of(&engine.graph(&ada()).at(at)).await.is_empty();
        engine.update(&ada(), tea, until(Some(march))).await.unwrap();
        engine.update(&ada(), tea, until(Some(september))).await.unwrap();
        assert!(at(june).await && !at(september).await, "{}", world.name);
        engine.update(&ada(), tea, MemoryUpdate::new().valid_from(june)).await.unwrap();
        assert!(at(june).await && !at(march).await, "{}", world.name);
        engine.update(&ada(), tea, MemoryUpdate::new().valid_from(time("2020-01-01T00:00:00Z"))).await.unwrap();
        assert!(at(time("2021-01-01T00:00:00Z")).await && at(june).await, "{}", world.name);
        assert_eq!(lines_of(&engine.graph(&ada()).any_time()).await.len(), 1, "{}", world.name);
    }
}

#[tokio::test]
async fn what_another_memory_ended_stays_ended_until_that_one_goes() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let lisbon = tell(&engine, &ada(), "user.home: Lives in Lisbon = user|lives_in!|Lisbon; user|likes|tea").await;
        world.clock.advance(DAY);
        let moved = world.clock.now();
        let porto = tell(&engine, &ada(), "user.home: Lives in Porto = user|lives_in!|Porto; user|likes|wine").await;
        world.clock.advance(DAY);
        assert_eq!(lines(&engine, &ada()).await, ["user|likes|wine", "user|lives_in|Porto"]);
        // "Whatever had superseded it": of several that may be liked at a time both hold, of one place the later.
        engine.update(&ada(), lisbon, until(None)).await.unwrap();
        let both = ["user|likes|tea", "user|likes|wine", "user|lives_in|Porto"];
        assert_eq!(lines(&engine, &ada()).await, both, "{}", world.name);
        // The other was a mistake from its beginning, and then none after all.
        engine.update(&ada(), porto, until(Some(moved))).await.unwrap();
        assert_eq!(lines(&engine, &ada()).await, ["user|likes|tea", "user|lives_in|Lisbon"], "{}", world.name);
        engine.update(&ada(), porto, until(None)).await.unwrap();
        let now = lines(&engine, &ada()).await;
        assert!(now.contains(&"user|likes|wine".to_owned()), "{now:?}");
        assert_eq!(now.iter().filter(|line| line.contains("lives_in")).count(), 1, "one at a time: {now:?}");
        engine.delete(&ada(), porto).await.unwrap();
        assert_eq!(lines(&engine, &ada()).await, ["user|likes|tea", "user|lives_in|Lisbon"], "{}", world.name);
        assert_eq!(lines_of(&engine.graph(&ada()).at(t0())).await, ["user|likes|tea", "user|lives_in|Lisbon"]);
        crate::worlds::sound(&engine).await;
    }
}

#[tokio::test]
async fn it_holds_with_the_last_of_its_memories() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let one = tell(&engine, &ada(), "Sings in a choir = user|sings_in|choir").await;
        let two = tell(&engine, &ada(), "Sings in a choir on Mondays = user|sings_in|choir").await;
        world.clock.advance(DAY);
        let holds = async || !lines(&engine, &ada()).await.is_empty();
        for memory in [one, two] {
            assert!(holds().await);
            engine.update(&ada(), memory, until(Some(world.clock.now()))).await.unwrap();
        }
        assert!(!holds().await);
        engine.update(&ada(), one, until(None)).await.unwrap();
        assert!(holds().await, "{}", world.name);
        // What is left has ended.
        engine.delete(&ada(), one).await.unwrap();
        assert!(!holds().await, "{}", world.name);
        engine.update(&ada(), two, until(None)).await.unwrap();
        assert!(holds().await, "{}", world.name);
        crate::worlds::sound(&engine).await;
    }
}

#[tokio::test]
async fn an_end_that_moves_is_no_end_of_what_was_told_again() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let first = tell(&engine, &ada(), "Sings in a choir = user|sings_in|choir").await;
        world.clock.advance(DAY);
        engine.update(&ada(), first, until(Some(world.clock.now()))).await.unwrap();
        world.clock.advance(DAY);
        tell(&engine, &ada(), "Sings in a choir again = user|sings_in|choir").await;
        world.clock.advance(DAY);
        engine.update(&ada(), first, until(Some(world.clock.now()))).await.unwrap();
        world.clock.advance(DAY);
        assert_eq!(lines(&engine, &ada()).await, ["user|sings_in|choir"], "{}", world.name);
        assert_eq!(lines_of(&engine.graph(&ada()).any_time()).await.len(), 1, "the two are one period");
    }
}

#[tokio::test]
async fn one_of_a_wider_scope_follows_too() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let coach = ada().with_agent("coach");
        let memory = tell(&engine, &coach, "Runs with Cid = user|runs_with|Cid").await;
        engine.add(&ada(), "Runs with Cid = user|runs_with|Cid").await.unwrap();
        let wide = async || {
            let graph = engine.graph(&ada()).view().await.unwrap();
            graph.relations.iter().filter(|relation| relation.scope == ada()).count()
        };
        assert_eq!(wide().await, 1);
        world.clock.advance(DAY);
        engine.update(&coach, memory, until(Some(world.clock.now()))).await.unwrap();
        assert_eq!(wide().await, 0, "{}", world.name);
        engine.update(&coach, memory, until(None)).await.unwrap();
        assert_eq!(wide().await, 1, "{}", world.name);
    }
}

#[tokio::test]
async fn a_merge_that_is_undone_brings_it_back() {
    for world in World::all().await {
        let memory = &world.engine;
        let hikes = || ExtractedRelation::new("user", "hikes_in", "Alps");
        let told = |text: &str| NewMemory::new(text).relations([hikes()]);
        let kept = memory.add_raw(&ada(), [told("Likes hiking in the Alps daily")]).await.unwrap().remove(0);
        let merged = memory.add_raw(&ada(), [told("likes hiking in the Alps daily.")]).await.unwrap().remove(0);
        let report = memory.maintain(&ada(), &Maintenance::new()).await.unwrap();
        assert_eq!(report.merged.len(), 1, "{}", world.name);
        world.clock.advance(DAY);
        memory.update(&ada(), kept.id, until(Some(world.clock.now()))).await.unwrap();
        assert!(lines(memory, &ada()).await.is_empty(), "{}", world.name);
        memory.undo_merge(&ada(), merged.id).await.unwrap();
        assert_eq!(lines(memory, &ada()).await, ["user|hikes_in|Alps"], "{}", world.name);
    }
}

#[tokio::test]
async fn entities_that_are_parted_again_have_what_they_had() {
    for world in World::all().await {
        let memory = world.builder().single_valued(["lives_in"]).build().await.unwrap();
        let lives = |who: &str, place: &str| {
            NewMemory::new(format!("{who} lives in {place}"))
                .relations([ExtractedRelation::new(who, "lives_in", place)])
        };
        memory.add_raw(&ada(), [lives("Ann", "Ghent")]).await.unwrap();
        world.clock.advance(DAY);
        memory.add_raw(&ada(), [lives("Annie", "Turku")]).await.unwrap();
        let before = lines(&memory, &ada()).await;
        let (ann, annie) = (id(&memory, &ada(), "Ann").await, id(&memory, &ada(), "Annie").await);
        memory.graph(&ada()).merge(ann, annie).await.unwrap();
        assert_eq!(lines(&memory, &ada()).await, ["Ann|lives_in|Turku"], "{}", world.name);
        memory.graph(&ada()).split(ann, "Annie").await.unwrap();
        assert_eq!(lines(&memory, &ada()).await, before, "{}", world.name);
    }
}

#[tokio::test]
async fn a_restored_memory_brings_its_relations_back() {
    for world in World::all().await {
        let memory = &world.engine;
        let told = NewMemory::new("Knows Cid").relations([ExtractedRelation::new("user", "knows", "Cid")]);
        let knows = memory.add_raw(&ada(), [told]).await.unwrap().remove(0);
        let mut export = memory.export(&ada());
        let mut kept = Vec::new();
        while let Some(line) = export.next_line().await.unwrap() {
            kept.push(line);
        }
        world.clock.advance(DAY);
        memory.update(&ada(), knows.id, until(Some(world.clock.now()))).await.unwrap();
        assert!(lines(memory, &ada()).await.is_empty());
        let mut import = memory.import(&ada()).on_clash(OnClash::Replace);
        for line in &kept {
            import.line(line).await.unwrap();
        }
        import.finish().await.unwrap();
        assert_eq!(lines(memory, &ada()).await, ["user|knows|Cid"], "{}", world.name);
        memory.delete(&ada(), knows.id).await.unwrap();
        let mut import = memory.import(&ada());
        for line in &kept {
            import.line(line).await.unwrap();
        }
        import.finish().await.unwrap();
        assert_eq!(lines(memory, &ada()).await, ["user|knows|Cid"], "{}", world.name);
    }
}

#[tokio::test]
async fn what_was_kept_aside_tells_its_relations_when_it_is_approved() {
    let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).quarantine(true).build().await.unwrap();
    let works = ExtractedRelation::new(Mention::new("Ann").with_type("person"), "works_at", "Bolt");
    let told = NewMemory::new("Ann works at Bolt").relations([works]).trust(Trust::Tool);
    let aside = memory.add_raw(&ada(), [told]).await.unwrap().remove(0);
    assert_eq!(memory.graph(&ada()).counts().await.unwrap(), (0, 0));
    memory.approve(&ada(), aside.id).await.unwrap();
    assert_eq!(lines(&memory, &ada()).await, ["Ann|works_at|Bolt"]);
}

/// What is done to one of a few memories, each of which tells that the user likes something, and lives somewhere.
#[derive(Debug, Clone)]
enum Step {
    Tell(usize),
    End(usize),
    Reopen(usize),
    Delete(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..4_usize, 0..4_u8).prop_map(|(number, what)| match what {
        0 => Step::Tell(number),
        1 => Step::End(number),
        2 => Step::Reopen(number),
        _ => Step::Delete(number),
    });
    prop::collection::vec(step, 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever happens to memories: what several of may hold at a time holds while one of its memories does, and of what
    /// there is but one at a time no two do, nor one without a memory that holds.
    #[test]
    fn relations_hold_as_their_memories_do(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::in_memory().await;
            let memory = &world.engine;
            // By thing: the memories that tell of it, and whether they hold.
            let mut told: Vec<Vec<(ingrain::MemoryId, bool)>> = vec![Vec::new(); 2];
            for step in steps {
                world.clock.advance(DAY);
                let (Step::Tell(number) | Step::End(number) | Step::Reopen(number) | Step::Delete(number)) = step;
                let (thing, place) = (number % 2, number / 2);
                let one = told[thing].get(place).map(|(id, _)| *id);
                match (&step, one) {
                    (Step::Tell(_), _) => {
                        let likes = ExtractedRelation::new("user", "likes", format!("thing {thing}").as_str());
                        let lives = ExtractedRelation::new("user", "lives_in", format!("town {thing}").as_str());
                        let text = format!("Likes thing {thing}, and lives in town {thing} ({})", told[thing].len());
                        let new = NewMemory::new(text).relations([likes, lives.single_valued()]);
                        told[thing].push((memory.add_raw(&ada(), [new]).await.unwrap().remove(0).id, true));
                    }
                    (Step::End(_), Some(id)) => {
                        memory.update(&ada(), id, until(Some(world.clock.now()))).await.unwrap();
                        told[thing][place].1 = false;
                    }
                    (Step::Reopen(_), Some(id)) => {
                        memory.update(&ada(), id, until(None)).await.unwrap();
                        told[thing][place].1 = true;
                    }
                    (Step::Delete(_), Some(id)) => {
                        memory.delete(&ada(), id).await.unwrap();
                        told[thing].remove(place);
                    }
                    (_, None) => {}
                }
                let now = lines(memory, &ada()).await;
                let holds = |thing: usize| told[thing].iter().any(|(_, holds)| *holds);
                for thing in 0..2 {
                    let likes = now.contains(&format!("user|likes|thing {thing}"));
                    prop_assert_eq!(likes, holds(thing), "thing {} after {:?}: {:?} {:?}", thing, step, now, told);
                    let lives = now.contains(&format!("user|lives_in|town {thing}"));
                    prop_assert!(!lives || holds(thing), "town {} after {:?}: {:?}", thing, step, now);
                }
                prop_assert!(now.iter().filter(|line| line.contains("lives_in")).count() <= 1, "{:?}", now);
            }
            crate::worlds::sound(memory).await;
            Ok(())
        })?;
    }
}
