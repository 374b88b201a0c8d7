//! With others at the same store: who writes, who searches, who embeds it anew as well.

use std::sync::Arc;

use ingrain::{
    Embedder, ErrorKind, ListRequest, Memory, MemoryEngine, MemoryUpdate, Message, Purge, Reembed, Scope, SearchMode,
    SearchRequest, VectorStore, testing::GivenVectors,
};

use super::{Meanwhile, ada, first, is_of, numbered, opened, second, third};
use crate::worlds::{self, World};

/// An engine with another handle on the same data, if the store has more than one.
async fn beside(world: &World) -> MemoryEngine {
    #[cfg(feature = "sqlite")]
    if world.name == "sqlite" {
        let store = ingrain::SqliteStore::open(world.path()).await.unwrap();
        return worlds::engine(store, first(), world.clock.clone()).await.unwrap();
    }
    worlds::engine(world.store.clone(), first(), world.clock.clone()).await.unwrap()
}

#[tokio::test]
async fn what_others_write_meanwhile_is_embedded_too() {
    for world in World::all_with(first).await {
        let stored = world.engine.add_raw(&ada(), numbered(8)).await.unwrap();
        let other = beside(&world).await;
        let act = {
            let (other, stored) = (other.clone(), stored.clone());
            move |request| {
                let (other, stored) = (other.clone(), stored.clone());
                async move {
                    // The walk has passed some of these, and others not.
                    match request {
                        0..4 => {
                            let hit = other.search(&ada(), &*stored[7].text).await?;
                            assert_eq!(hit[0].memory.id, stored[7].id, "searched as ever");
                            other.add_raw(&ada(), [format!("Written meanwhile {request}")]).await?;
                            let update = MemoryUpdate::new().text(format!("Changed meanwhile {request}"));
                            other.update(&ada(), stored[request].id, update).await?;
                            other.add(&Scope::user("ben"), Message::user(format!("I keep {request} bees."))).await?;
                        }
                        4 => other.delete(&ada(), stored[6].id).await.map(drop)?,
                        _ => {}
                    }
                    Ok(())
                }
            }
        };
        let report = Reembed::new(world.store.clone(), Meanwhile::new(second(), act)).batch(2).run().await.unwrap();
        let all = world.everything(&ada()).await;
        assert_eq!(all.len(), 8 + 4 - 1, "{}", world.name);
        assert!(report.embedded as usize > all.len(), "{report:?}");
        assert_eq!(all.iter().filter(|memory| memory.text.starts_with("Changed")).count(), 4);
        is_of(&world, &ada(), &second(), &all).await;
        let ben = Scope::user("ben");
        is_of(&world, &ben, &second(), &world.everything(&ben).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_at_once_lose_nothing() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(60)).await.unwrap();
        let mut running = Vec::new();
        for writer in 0..3 {
            let engine = beside(&world).await;
            running.push(tokio::spawn(async move {
                let mut returned: Vec<Memory> = Vec::new();
                for number in 0..60 {
                    match engine.add_raw(&ada(), [format!("Writer {writer} wrote number {number}")]).await {
                        Ok(written) => returned.extend(written),
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{error}");
                            break;
                        }
                    }
                }
                returned
            }));
        }
        // Who writes without a pause may hold it off; it goes on where it was.
        while let Err(error) = Reembed::new(world.store.clone(), second()).batch(16).run().await {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        }
        let mut written = 0;
        let all = world.everything(&ada()).await;
        for writer in running {
            for memory in writer.await.unwrap() {
                assert!(all.contains(&memory), "{}: {}", world.name, memory.text);
                written += 1;
            }
        }
        assert_eq!(world.everything(&ada()).await.len(), 60 + written);
        is_of(&world, &ada(), &second(), &world.everything(&ada()).await).await;
    }
}

async fn is_refused(engine: &MemoryEngine, memories: &[Memory], new: &GivenVectors) {
    let id = memories[0].id;
    let search = |mode| SearchRequest::new("mill").mode(mode);
    let errors = [
        engine.add(&ada(), "I moved to Porto.").await.expect_err("an add"),
        engine.add_raw(&ada(), ["one more"]).await.expect_err("a raw add"),
        engine.update(&ada(), id, MemoryUpdate::new().text("another")).await.expect_err("an update"),
        engine.update(&ada(), id, MemoryUpdate::new().importance(0.9)).await.expect_err("an update of no text"),
        engine.delete(&ada(), id).await.expect_err("a delete"),
        engine.search(&ada(), search(SearchMode::Vector)).await.expect_err("a search"),
        engine.search(&ada(), search(SearchMode::Hybrid)).await.expect_err("a hybrid search"),
        engine.context(&ada(), "mill", ingrain::TokenBudget::new(100)).await.expect_err("a context"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{error}");
        assert!(error.to_string().contains(&new.identity().name) && error.to_string().contains("first"), "{error}");
    }
    let words = engine.search(&ada(), search(SearchMode::Keyword).limit(100)).await.unwrap();
    assert_eq!(words.len(), memories.len(), "words are words");
    assert_eq!(engine.list(&ada(), ListRequest::new().limit(100)).await.unwrap().items, memories);
}

#[tokio::test]
async fn engines_with_the_old_embedder_are_refused_afterwards() {
    for new in [second(), third()] {
        for world in World::all_with(first).await {
            let memories = world.engine.add_raw(&ada(), numbered(5)).await.unwrap();
            let other = beside(&world).await;
            for engine in [&world.engine, &other] {
                // So that each has its index.
                assert_eq!(engine.search(&ada(), &*memories[3].text).await.unwrap()[0].memory.id, memories[3].id);
            }
            Reembed::new(world.store.clone(), new.clone()).run().await.unwrap();
            is_refused(&world.engine, &memories, &new).await;
            is_refused(&other, &memories, &new).await;
            is_of(&world, &ada(), &new, &memories).await;
            // On the very handle that the old engine has.
            let reopened = opened(&world, new.clone()).await.unwrap();
            reopened.add_raw(&ada(), ["One of the new"]).await.unwrap();
            assert_eq!(reopened.search(&ada(), "One of the new").await.unwrap()[0].memory.text, "One of the new");
            other.search(&ada(), "One of the new").await.expect_err("still the old embedder");
            // To forget needs no embedder.
            other.purge(&ada(), Purge::everything()).await.unwrap();
            assert_eq!(reopened.list(&ada(), ListRequest::new()).await.unwrap().total, 0);
        }
    }
}

#[tokio::test]
async fn a_plan_made_before_is_not_written_after() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(3)).await.unwrap();
        // The old embedder is asked for an add, and meanwhile the store goes over to another of the same width.
        let store = world.store.clone();
        let slow = Meanwhile::new(first(), move |request| {
            let store = store.clone();
            async move {
                if request == 0 {
                    Reembed::new(store, third()).run().await?;
                }
                Ok(())
            }
        });
        let builder = MemoryEngine::builder().store(world.store.clone()).embedder(slow).clock(world.clock.clone());
        let error = builder.build().await.unwrap().add_raw(&ada(), ["late"]).await.expect_err("too late");
        assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{error}");
        let all = world.everything(&ada()).await;
        assert_eq!(all.len(), 3);
        is_of(&world, &ada(), &third(), &all).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_to_the_same_embedder_share_the_work() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(40)).await.unwrap();
        let all = world.everything(&ada()).await;
        let other: Arc<dyn VectorStore> = match world.name {
            #[cfg(feature = "sqlite")]
            "sqlite" => Arc::new(ingrain::SqliteStore::open(world.path()).await.unwrap()),
            _ => Arc::new(world.store.clone()),
        };
        let run = |store: Arc<dyn VectorStore>| Reembed::new(store, second()).batch(3).run();
        let (one, two) = tokio::join!(tokio::spawn(run(Arc::new(world.store.clone()))), tokio::spawn(run(other)));
        let (one, two) = (one.unwrap().unwrap(), two.unwrap().unwrap());
        assert!(one.embedded + two.embedded == 40, "each vector is kept once: {one:?} {two:?}");
        is_of(&world, &ada(), &second(), &all).await;
    }
}

#[tokio::test]
async fn of_two_embedders_the_later_wins() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(12)).await.unwrap();
        let all = world.everything(&ada()).await;
        for ends in [true, false] {
            let (store, later) = (world.store.clone(), third());
            let overtaken = Meanwhile::new(second(), move |request| {
                let (store, later) = (store.clone(), later.clone());
                async move {
                    if request == 2 {
                        // Begun, and either ended or given up.
                        if !ends {
                            later.fail_with(ErrorKind::ProviderUnreachable);
                        }
                        let result = Reembed::new(store, later).batch(5).run().await;
                        assert_eq!(result.is_ok(), ends);
                    }
                    Ok(())
                }
            });
            let error = Reembed::new(world.store.clone(), overtaken).batch(2).run().await.expect_err("overtaken");
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
            assert!(error.to_string().contains("second") && error.to_string().contains("third"), "{error}");
            is_of(&world, &ada(), &if ends { third() } else { first() }, &all).await;
            Reembed::new(world.store.clone(), first()).run().await.unwrap();
        }
    }
}

#[tokio::test]
async fn queued_adds_wait_for_the_new_embedder() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(3)).await.unwrap();
        Reembed::new(world.store.clone(), second()).run().await.unwrap();
        let queued = world.engine.add_later(&ada(), [Message::user("I'm allergic to shellfish.")]).await.unwrap();
        let error = world.engine.flush().await.expect_err("its workers leave the queue alone");
        assert_eq!(error.kind(), ErrorKind::EmbedderMismatch, "{error}");
        let left = world.engine.queued_adds(&ada()).await.unwrap();
        assert_eq!(left.iter().map(|add| (add.id, add.failures)).collect::<Vec<_>>(), [(queued.id, 0)]);
        let engine = opened(&world, second()).await.unwrap();
        let report = engine.flush().await.unwrap();
        assert_eq!((report.done, report.failed.len()), (1, 0), "{}", world.name);
        let hits = engine.search(&ada(), "allergic to shellfish").await.unwrap();
        assert!(hits[0].memory.text.contains("shellfish"));
    }
}
