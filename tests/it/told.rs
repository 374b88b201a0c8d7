//! Relations that an application tells by hand, with the memory they rest on.

use ingrain::{ErrorKind, ExtractedRelation, HashingEmbedder, MemoryEngine, Mention, NewMemory, Scope, Trust};

use crate::worlds::{World, time};

fn works(at: &str) -> ExtractedRelation {
    ExtractedRelation::new(Mention::new("Ann").with_type("person"), "works_at", at).single_valued()
}

fn told(text: &str, relation: ExtractedRelation) -> NewMemory {
    NewMemory::new(text).relations([relation])
}

async fn current(memory: &MemoryEngine, scope: &Scope) -> Vec<String> {
    memory.graph(scope).view().await.unwrap().relations.into_iter().map(|relation| relation.fact).collect()
}

#[tokio::test]
async fn relations_rest_on_the_memory_they_came_with() {
    for world in World::all().await {
        let (memory, alice) = (&world.engine, Scope::user("alice"));
        memory
            .add_raw(&alice, [told("Ann works at Bolt", works("Bolt")).at(time("2024-01-01T00:00:00Z"))])
            .await
            .unwrap();
        let second = told("Ann works at Acme", works("Acme")).at(time("2024-06-01T00:00:00Z"));
        let second = memory.add_raw(&alice.clone().with_session("monday"), [second]).await.unwrap().remove(0);
        assert_eq!(current(memory, &alice).await, ["Ann works at Acme"], "{}", world.name);
        let before = memory.graph(&alice).at(time("2024-03-01T00:00:00Z")).view().await.unwrap();
        assert_eq!(before.relations[0].fact, "Ann works at Bolt", "{}", world.name);
        let hits = memory.search(&alice, "Where does Ann work?").await.unwrap();
        assert!(hits.iter().any(|hit| hit.memory.id == second.id && !hit.path.is_empty()), "{}", world.name);
        memory.delete(&alice, second.id).await.unwrap();
        assert!(!current(memory, &alice).await.contains(&"Ann works at Acme".to_owned()), "{}", world.name);
        assert!(current(memory, &Scope::user("bob")).await.is_empty());
    }
}

#[tokio::test]
async fn several_at_once_know_each_other() {
    for world in World::all().await {
        let (memory, alice) = (&world.engine, Scope::user("alice"));
        let friend = told("Ann knows Ben", ExtractedRelation::new("Ann", "knows", "Ben"));
        memory.add_raw(&alice, [told("Ann works at Bolt", works("Bolt")), friend]).await.unwrap();
        assert_eq!(memory.graph(&alice).counts().await.unwrap(), (3, 2), "{}", world.name);
    }
}

#[tokio::test]
async fn writers_at_once_make_one_entity() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        let writers = (0..6).map(|number| {
            let (memory, alice) = (world.engine.clone(), alice.clone());
            tokio::spawn(async move {
                let relation = ExtractedRelation::new("Ann", "knows", format!("Ben {number}").as_str());
                memory.add_raw(&alice, [told(&format!("Ann knows Ben {number}"), relation)]).await.unwrap();
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        assert_eq!(world.engine.graph(&alice).counts().await.unwrap(), (7, 6), "{}", world.name);
    }
}

#[tokio::test]
async fn a_failed_call_leaves_no_trace_and_what_tells_nothing_is_refused() {
    for world in World::all().await {
        let (memory, alice) = (&world.engine, Scope::user("alice"));
        world.store.fail_next_writes(1);
        let failed = memory.add_raw(&alice, [told("Ann works at Bolt", works("Bolt"))]).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::StoreUnavailable);
        for bad in [works(" "), works(&"x".repeat(1_025)), ExtractedRelation::new("Ann", "", "Ben")] {
            let refused = memory.add_raw(&alice, [NewMemory::from("fine"), told("not fine", bad)]).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        }
        assert_eq!(memory.graph(&alice).counts().await.unwrap(), (0, 0), "{}", world.name);
        assert!(world.everything(&alice).await.is_empty());
        memory.add_raw(&alice, [told("Ann works at Bolt", works("Bolt"))]).await.unwrap();
        assert_eq!(memory.graph(&alice).counts().await.unwrap(), (2, 1), "{}", world.name);
    }
}

#[tokio::test]
async fn without_a_graph_they_are_refused_and_aside_they_are_left_out() {
    let builder = || MemoryEngine::builder().embedder(HashingEmbedder::new(64));
    let alice = Scope::user("alice");
    let memory = builder().relations(false).build().await.unwrap();
    let refused = memory.add_raw(&alice, [told("Ann works at Bolt", works("Bolt"))]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Configuration);
    let memory = builder().quarantine(true).build().await.unwrap();
    memory.add_raw(&alice, [told("Ann works at Bolt", works("Bolt")).trust(Trust::Tool)]).await.unwrap();
    assert_eq!(memory.graph(&alice).counts().await.unwrap(), (0, 0));
}
