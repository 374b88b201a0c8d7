//! Writers at once, failures in the middle, and what is not to be written.

use std::{borrow::Cow, future::Future, pin::pin, task::Poll};

use ingrain::{AddRequest, ErrorKind, Redactor, Scope};

use super::{Triples, counts, engine, id, kind, lines, tell};
use crate::worlds::World;

#[tokio::test]
async fn adds_at_once_agree_on_a_new_entity() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let texts = (0..6).map(|number| format!("Zed does thing {number} = Zed|does_{number}|Yoga"));
        let tasks: Vec<_> = texts
            .map(|text| {
                let (engine, scope) = (engine.clone(), ada.clone());
                tokio::spawn(async move { engine.add(&scope, text).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(counts(&engine, &ada).await, (2, 6), "{}", world.name);
    }
}

/// A deletion that would take an entity along, while others tell of it.
#[tokio::test]
async fn a_deletion_takes_nothing_along_that_is_told_meanwhile() {
    for world in World::all().await {
        let engine = engine(&world).await;
        for round in 0..8 {
            let ada = Scope::user(format!("ada {round}"));
            let first = tell(&engine, &ada, "Zed does yoga = Zed|does|yoga").await;
            let (adding, deleting) = (engine.clone(), engine.clone());
            let (one, other) = (ada.clone(), ada.clone());
            let add = tokio::spawn(async move { adding.add(&one, "Zed bakes bread = Zed|bakes|bread").await });
            let delete = tokio::spawn(async move { deleting.delete(&other, first).await });
            add.await.unwrap().unwrap();
            delete.await.unwrap().unwrap();
            assert_eq!(lines(&engine, &ada).await, ["Zed|bakes|bread"], "{} {round}", world.name);
            assert_eq!(counts(&engine, &ada).await, (2, 1));
        }
    }
}

#[tokio::test]
async fn a_failed_write_leaves_neither_memory_nor_relation() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let told = "Ann bakes = Ann|bakes|bread; Annie|bakes|cake";
        world.store.fail_next_writes(1);
        assert_eq!(kind(engine.add(&ada, told).await), Some(ErrorKind::StoreUnavailable));
        assert_eq!((counts(&engine, &ada).await, world.everything(&ada).await.len()), ((0, 0), 0), "{}", world.name);
        // Whichever call fails, both are there or neither; the last time none does.
        for calls in 0_u32.. {
            world.store.fail_call_after(calls);
            let result = engine.add(&ada, told).await;
            let failed = !world.store.is_failure_to_come();
            world.store.start();
            assert_eq!(result.is_err(), failed, "{} {calls}", world.name);
            if !failed {
                break;
            }
            assert_eq!((counts(&engine, &ada).await, world.everything(&ada).await.len()), ((0, 0), 0));
        }
        let before = (lines(&engine, &ada).await, world.everything(&ada).await);
        assert_eq!((before.0.len(), before.1.len()), (2, 2));
        let (ann, annie) = (id(&engine, &ada, "Ann").await, id(&engine, &ada, "Annie").await);
        let fact = world.list(&ada).await[0].id;
        world.store.fail_next_writes(1);
        assert_eq!(kind(engine.graph(&ada).merge(ann, annie).await), Some(ErrorKind::StoreUnavailable));
        world.store.fail_next_writes(1);
        assert_eq!(kind(engine.delete(&ada, fact).await), Some(ErrorKind::StoreUnavailable));
        assert_eq!((lines(&engine, &ada).await, world.everything(&ada).await), before);
    }
}

/// A call whose future is dropped has written both or neither.
#[tokio::test]
async fn an_add_that_is_dropped_leaves_both_or_neither() {
    for world in World::all().await {
        let engine = engine(&world).await;
        for polls in 1..200 {
            let ada = Scope::user(format!("ada {polls}"));
            let is_done = {
                let mut add = pin!(engine.add(&ada, "Ann bakes = Ann|bakes|bread"));
                let mut left = polls;
                std::future::poll_fn(|context| {
                    if left == 0 {
                        return Poll::Ready(false);
                    }
                    left -= 1;
                    add.as_mut().poll(context).map(|report| report.is_ok())
                })
                .await
            };
            // A write that goes on by itself is over before the next one.
            engine.add_raw(&Scope::user("other"), ["x"]).await.unwrap();
            let facts = world.list(&ada).await.len() as u64;
            assert_eq!(counts(&engine, &ada).await, (2 * facts, facts), "{} {polls}", world.name);
            if is_done {
                assert_eq!(facts, 1);
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_dry_run_tells_relations_and_writes_none() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let request = || AddRequest::from("Ann bakes = Ann|bakes|bread");
        let plan = engine.add(&ada, request().dry_run(true)).await.unwrap();
        assert_eq!((plan.relations.len(), counts(&engine, &ada).await), (1, (0, 0)), "{}", world.name);
        let done = engine.add(&ada, request()).await.unwrap();
        assert_eq!((done.relations.len(), done.relations[0].predicate.as_str()), (1, "bakes"));
        // What is known already is no news.
        assert!(engine.add(&ada, request()).await.unwrap().relations.is_empty());
    }
}

#[tokio::test]
async fn without_relations_there_is_no_graph() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        let without = world.builder().extractor(Triples).relations(false).build().await.unwrap();
        let report = without.add(&ada, "Ann bakes = Ann|bakes|bread").await.unwrap();
        assert_eq!((report.added.len(), report.relations.len()), (1, 0), "{}", world.name);
        assert_eq!(kind(without.graph(&ada).view().await), Some(ErrorKind::Configuration));
        assert_eq!(counts(&engine(&world).await, &ada).await, (0, 0));
        without.delete(&ada, report.added[0].id).await.unwrap();
    }
}

#[derive(Debug)]
struct Hides;

impl Redactor for Hides {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains("4711") { Cow::Owned(text.replace("4711", "[pin]")) } else { Cow::Borrowed(text) }
    }
}

#[tokio::test]
async fn a_secret_is_in_no_name() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        let engine = world.builder().extractor(Triples).redactor(Hides).build().await.unwrap();
        engine.add(&ada, "Uses it = user|has_pin 4711|Card 4711::pin 4711").await.unwrap();
        let json = engine.graph(&ada).view().await.unwrap().to_json().to_string();
        assert!(!json.contains("4711") && json.contains("Card [pin]"), "{}: {json}", world.name);
    }
}

#[tokio::test]
async fn an_agents_graph_and_the_users_are_apart() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        let with_agent = alice.clone().with_agent("x");
        let engine = world.builder().build().await.unwrap();
        engine.add(&with_agent, "I have a dog named Bruno.").await.unwrap();
        for message in ["I live in Lisbon.", "I have a dog named Bruno."] {
            let report = engine.add(&alice, message).await.unwrap();
            assert!(report.rejected.is_empty(), "{}", world.name);
        }
        engine.add(&with_agent, "I have a cat named Mia.").await.unwrap();
        let view = engine.graph(&with_agent).view().await.unwrap();
        let mut told: Vec<String> = view.relations.into_iter().map(|known| known.fact).collect();
        // What was told in one millisecond falls in no order.
        told.sort_unstable();
        assert_eq!(told, ["Has a cat named Mia", "Has a dog named Bruno"], "{}", world.name);
    }
}

#[tokio::test]
async fn a_clock_that_steps_back_stops_no_add() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        let engine = world.builder().build().await.unwrap();
        engine.add(&alice, "I live in Lisbon. I have a dog named Bruno.").await.unwrap();
        world.clock.set(crate::worlds::t0() - chrono::Duration::seconds(60));
        engine.add(&alice, "I moved to Porto. I have a dog named Bruno. I'm allergic to nuts.").await.unwrap();
        assert_eq!(engine.graph(&alice).view().await.unwrap().relations.len(), 2, "{}", world.name);
    }
}
