//! A graph store of its own beside the store of the memories.

use std::sync::Arc;

use ingrain::{ErrorKind, GraphStore, InMemoryStore, MemoryEngine, Scope, testing::FaultyStore};

use super::{Triples, counts, kind, lines, tell};
use crate::worlds::World;

type Graph = Arc<FaultyStore<InMemoryStore>>;

async fn engine(world: &World) -> (MemoryEngine, Graph) {
    let graph: Graph = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let engine = world.builder().extractor(Triples).graph(graph.clone()).build().await.unwrap();
    (engine, graph)
}

#[tokio::test]
async fn two_stores_stay_in_step() {
    for world in World::all().await {
        let ((engine, graph), ada) = (engine(&world).await, Scope::user("ada"));
        let one = tell(&engine, &ada, "Ann bakes = Ann|bakes|bread").await;
        tell(&engine, &ada, "Ann sings = Ann|sings_in|choir; Ann|lives_in!|Ghent").await;
        tell(&engine, &ada, "Ann moved = Ann|lives_in!|Lyon").await;
        assert_eq!(lines(&engine, &ada).await, ["Ann|bakes|bread", "Ann|lives_in|Lyon", "Ann|sings_in|choir"]);
        assert_eq!(counts(&super::engine(&world).await, &ada).await, (0, 0), "the other store keeps none");
        engine.delete(&ada, one).await.unwrap();
        assert_eq!(lines(&engine, &ada).await, ["Ann|lives_in|Lyon", "Ann|sings_in|choir"], "{}", world.name);
        engine.delete_all(&ada).await.unwrap();
        assert_eq!(graph.graph_counts(&ada).await.unwrap(), (0, 0));
    }
}

#[tokio::test]
async fn what_the_memories_could_not_take_is_taken_back() {
    for world in World::all().await {
        let ((engine, graph), ada) = (engine(&world).await, Scope::user("ada"));
        world.store.fail_next_writes(1);
        let error = engine.add(&ada, "Ann bakes = Ann|bakes|bread").await;
        assert_eq!(kind(error), Some(ErrorKind::StoreUnavailable));
        assert_eq!((counts(&engine, &ada).await, world.everything(&ada).await.len()), ((0, 0), 0), "{}", world.name);
        graph.fail_next_writes(1);
        let error = engine.add(&ada, "Ann bakes = Ann|bakes|bread").await;
        assert_eq!(kind(error), Some(ErrorKind::StoreUnavailable));
        assert_eq!((counts(&engine, &ada).await, world.everything(&ada).await.len()), ((0, 0), 0), "{}", world.name);
        // An entity that was there stays as it was.
        tell(&engine, &ada, "Ann bakes = Ann|bakes|bread").await;
        world.store.fail_next_writes(1);
        assert!(engine.add(&ada, "Ann sings = Ann|sings_in|choir").await.is_err());
        assert_eq!((lines(&engine, &ada).await, counts(&engine, &ada).await), (vec!["Ann|bakes|bread".into()], (2, 1)));
    }
}

#[tokio::test]
async fn an_outage_of_the_graph_alone_is_an_error_and_can_be_tried_again() {
    for world in World::all().await {
        let ((engine, graph), ada) = (engine(&world).await, Scope::user("ada"));
        let memory = tell(&engine, &ada, "Ann bakes = Ann|bakes|bread").await;
        graph.fail_next_writes(1);
        assert_eq!(kind(engine.delete(&ada, memory).await), Some(ErrorKind::StoreUnavailable));
        engine.delete(&ada, memory).await.expect("it is still there");
        assert_eq!(counts(&engine, &ada).await, (0, 0), "{}", world.name);
        tell(&engine, &ada, "Ann bakes = Ann|bakes|bread").await;
        graph.stop();
        assert_eq!(kind(engine.graph(&ada).view().await), Some(ErrorKind::StoreUnavailable));
        assert_eq!(kind(engine.add(&ada, "Ann sings = Ann|sings_in|choir").await), Some(ErrorKind::StoreUnavailable));
        assert_eq!(kind(engine.delete_all(&ada).await), Some(ErrorKind::StoreUnavailable));
        assert_eq!(world.everything(&ada).await.len(), 1, "nothing was removed: {}", world.name);
        graph.start();
        assert_eq!(engine.delete_all(&ada).await.unwrap(), 1);
        assert_eq!(counts(&engine, &ada).await, (0, 0));
    }
}

#[tokio::test]
async fn adds_at_once_agree_over_two_stores() {
    for world in World::all().await {
        let ((engine, _), ada) = (engine(&world).await, Scope::user("ada"));
        let tasks: Vec<_> = (0..5)
            .map(|number| {
                let (engine, scope) = (engine.clone(), ada.clone());
                tokio::spawn(async move {
                    engine.add(&scope, format!("Zed does thing {number} = Zed|does_{number}|Yoga")).await
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let told = lines(&engine, &ada).await;
        assert_eq!(told.len(), 5, "{}: {told:?}", world.name);
    }
}
