//! A store that was in use has no problem; whatever is damaged is told by name, and what is derived is made anew.

#[cfg(feature = "sqlite")]
mod damage;
#[cfg(feature = "sqlite")]
mod layout;
#[cfg(feature = "sqlite")]
mod lost_keys;
#[cfg(feature = "sqlite")]
mod queued;
#[cfg(feature = "sqlite")]
mod salvage;
#[cfg(feature = "sqlite")]
mod truth;
#[cfg(feature = "sqlite")]
mod values;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ingrain::{
    GraphStore, InMemoryStore, Maintenance, MemoryEngine, MemoryUpdate, Message, ProblemKind, Purge, Scope,
    SearchRequest, VectorStore, Verify, testing::GivenVectors,
};

use crate::worlds::{World, sound};

fn alice() -> Scope {
    Scope::user("alice")
}

fn bob() -> Scope {
    Scope::user("bob")
}

/// Something of everything that a store keeps.
async fn fill(memory: &MemoryEngine) {
    let session = alice().with_session("monday");
    let said = ["I live in Lisbon. I have a dog named Bruno.", "Do you know the mill?", "I moved to Porto."];
    for text in said {
        memory.add(&session, Message::user(text)).await.unwrap();
    }
    memory.add(&alice().with_session("tuesday"), Message::user("I work at Acme.")).await.unwrap();
    let long = "The mill by the river turns slowly in the evening. ".repeat(60);
    memory.add_raw(&alice(), ["Owns a red kayak", "Keeps bees", "Owns a red kayak.", &long]).await.unwrap();
    memory.add_raw(&bob(), ["Owns a green kayak", "Paints boats"]).await.unwrap();
    let conversation = memory.conversation(&session).unwrap();
    conversation
        .append([Message::user("Hello."), Message::assistant("Hello, Alice."), Message::user("Bye.")])
        .await
        .unwrap();
}

/// What is found, with its scores.
async fn found(memory: &MemoryEngine, scope: &Scope) -> Vec<(String, f32)> {
    let mut found = Vec::new();
    for query in ["kayak", "the mill by the river", "Bruno", "Where does she live?", "Acme"] {
        let hits = memory.search(scope, SearchRequest::new(query).limit(20)).await.unwrap();
        found.extend(hits.into_iter().map(|hit| (format!("{query}: {}", hit.memory.text), hit.score)));
    }
    found
}

#[tokio::test]
async fn a_store_in_use_is_sound() {
    for world in World::all().await {
        let memory = &world.engine;
        sound(memory).await;
        fill(memory).await;
        sound(memory).await;
        assert!(found(memory, &alice()).await.len() > 5);
        sound(memory).await;
        memory.maintain(&alice(), &Maintenance::new().observe(2)).await.unwrap();
        let kayak = world.list(&alice()).await.into_iter().find(|one| one.text == "Owns a red kayak").unwrap();
        memory.update(&alice(), kayak.id, MemoryUpdate::new().text("Owns a blue kayak")).await.unwrap();
        memory.touch(&alice(), &[kayak.id]).await.unwrap();
        sound(memory).await;
        let graph = memory.graph(&alice());
        let (user, _) = graph.find("user", 1).await.unwrap().remove(0);
        let (dog, _) = graph.find("Bruno", 1).await.unwrap().remove(0);
        let (place, _) = graph.find("Porto", 1).await.unwrap().remove(0);
        graph.merge(dog.id, place.id).await.unwrap();
        sound(memory).await;
        graph.split(dog.id, "Porto").await.unwrap();
        sound(memory).await;
        assert!(graph.neighbours(&[user.id], 1).await.unwrap().len() > 1);
        memory.add_later(&alice(), "I have a cat named Mia.").await.unwrap();
        memory.flush().await.unwrap();
        memory.delete(&alice(), kayak.id).await.unwrap();
        sound(memory).await;
        let mut export = memory.export(&alice());
        let other = World::in_memory().await;
        let mut import = other.engine.import(&alice());
        while let Some(line) = export.next_line().await.unwrap() {
            import.line(&line).await.unwrap();
        }
        import.finish().await.unwrap();
        sound(&other.engine).await;
        memory.purge(&alice().with_session("monday"), Purge::everything()).await.unwrap();
        sound(memory).await;
        memory.delete_all(&bob()).await.unwrap();
        memory.purge(&alice(), Purge::everything()).await.unwrap();
        let report = memory.verify(Verify::new()).await.unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert_eq!((report.checked.memories, report.checked.relations), (0, 0));
    }
}

/// A turn that is put elsewhere in its session, as an import that replaces it may, leaves its new place to no other.
#[tokio::test]
async fn a_turn_that_is_given_another_place_keeps_it() {
    for world in World::all().await {
        let report = world.engine.add(&alice(), Message::user("One.")).await.unwrap();
        let mut moved = world.engine.get(&alice(), report.episodes[0]).await.unwrap();
        moved.ordinal = Some(7);
        moved.revision += 1;
        let mut batch = ingrain::WriteBatch::default();
        batch.puts.push(ingrain::Put::change(moved, None, 1));
        world.store.apply(batch).await.unwrap();
        sound(&world.engine).await;
        let report = world.engine.add(&alice(), Message::user("Two.")).await.unwrap();
        assert_eq!(world.engine.get(&alice(), report.episodes[0]).await.unwrap().ordinal, Some(8));
    }
}

/// Memories that were removed past the engine: what the graph tells from them alone is told, and goes.
#[tokio::test]
async fn relations_that_rest_on_nothing_are_told_and_go() {
    for (apart, world) in [(false, World::in_memory().await), (true, World::in_memory().await)] {
        let graph = Arc::new(InMemoryStore::new());
        let memory =
            if apart { world.builder().graph(graph.clone()).build().await.unwrap() } else { world.engine.clone() };
        fill(&memory).await;
        sound(&memory).await;
        let (_, relations) = memory.graph(&alice()).counts().await.unwrap();
        assert!(relations >= 3, "{relations}");
        let facts = world.list(&alice()).await;
        let dog = facts.iter().find(|one| one.text.contains("Bruno")).unwrap();
        let mut batch = ingrain::WriteBatch::default();
        batch.deletes.push(dog.id);
        world.store.apply(batch).await.unwrap();
        if apart {
            // It may be on its way: the graph is written first.
            sound(&memory).await;
            world.clock.advance(Duration::from_secs(2 * 3_600));
        }
        let report = memory.verify(Verify::new()).await.unwrap();
        let kinds: Vec<ProblemKind> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::MissingSource], "{report:?}");
        assert_eq!(memory.graph(&alice()).counts().await.unwrap().1, relations, "reading changes nothing");
        let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
        assert!(report.is_sound() && report.mended.len() == 1, "{report:?}");
        sound(&memory).await;
        assert!(memory.graph(&alice()).counts().await.unwrap().1 < relations);
        assert!(memory.graph(&alice()).find("Bruno", 1).await.unwrap().is_empty());
        assert!(!memory.graph(&alice()).find("Lisbon", 1).await.unwrap().is_empty(), "what rests on others stays");
        assert_eq!(graph.relations_of_everyone(None, 10).await.unwrap().is_empty(), !apart);
    }
}

#[tokio::test]
async fn it_tells_how_far_it_has_come_and_whose_nothing_is() {
    for world in World::all().await {
        fill(&world.engine).await;
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let request = Verify::new().on_progress(move |progress| heard.lock().unwrap().push(progress.part));
        let report = world.engine.verify(request).await.unwrap();
        let told = told.lock().unwrap().clone();
        assert!(told.contains(&"memories") && told.contains(&"sources of relations"), "{told:?}");
        let all = format!("{report:?}");
        assert!(!all.contains("kayak") && !all.contains("alice"), "{all}");
        assert!(report.checked.memories >= 9 && report.checked.keys > report.checked.memories, "{all}");
        assert!(report.checked.messages == 3 && report.checked.entities > 3, "{all}");
    }
}

/// Whatever is written meanwhile, nothing whole is told as a problem, and mending loses no write.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn it_goes_on_while_others_write() {
    for world in World::all_with(|| GivenVectors::new(32)).await {
        fill(&world.engine).await;
        let writer = world.engine.clone();
        let writing = tokio::spawn(async move {
            for number in 0..40 {
                let text = format!("I have a friend named Friend{number}. I live in City{number}.");
                let scope = alice().with_session(format!("s{}", number % 3));
                writer.add(&scope, Message::user(text)).await.unwrap();
                let raw = writer.add_raw(&bob(), [format!("note {number}")]).await.unwrap().remove(0);
                if number % 2 == 0 {
                    writer.delete(&bob(), raw.id).await.unwrap();
                }
                if number % 10 == 9 {
                    writer.delete_all(&scope).await.unwrap();
                }
            }
        });
        let mut runs = 0_u32;
        while !writing.is_finished() || runs == 0 {
            let report = world.engine.verify(Verify::new().rebuild(runs % 2 == 1)).await.unwrap();
            assert!(report.is_sound() && report.mended.is_empty(), "{report:#?}");
            runs += 1;
        }
        writing.await.unwrap();
        sound(&world.engine).await;
        assert_eq!(world.list(&bob()).await.len(), 2 + 20);
    }
}
