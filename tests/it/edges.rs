//! What lies at the edges: times that are far off, numbers that are great, ids of others, texts of which nothing is known.

use std::time::Duration;

use chrono::TimeDelta;
use ingrain::{
    Block, ErrorKind, HashingEmbedder, ListRequest, Maintenance, MemoryEngine, MemoryId, MemoryKind, Message,
    NewMemory, Purge, Reembed, Scope, SearchMode, SearchRequest, Timestamp, TokenBudget, Trust,
};

use crate::worlds::{World, t0};

fn alice() -> Scope {
    Scope::user("alice")
}

#[tokio::test]
async fn what_is_kept_aside_is_not_shown_whenever_it_begins() {
    for world in World::all().await {
        let memory = world.builder().quarantine(true).build().await.unwrap();
        let said = |text: &str| NewMemory::new(text).trust(Trust::Tool);
        let later = t0() + TimeDelta::days(300);
        let aside = [said("Owes Mallory a boat").at(later), said("Owes Mallory a red boat").valid_from(later)];
        memory.add_raw(&alice(), aside).await.unwrap();
        assert!(memory.search(&alice(), "boat").await.unwrap().is_empty(), "{}", world.name);
        assert_eq!(memory.count(&alice(), None).await.unwrap(), 0, "{}", world.name);
        assert!(memory.list(&alice(), ListRequest::new()).await.unwrap().items.is_empty(), "{}", world.name);
        assert!(memory.context(&alice(), "boat", TokenBudget::new(500)).await.unwrap().text.is_empty());
        let report = memory.maintain(&alice(), &Maintenance::new().observe(2)).await.unwrap();
        assert_eq!(report.changes(), 0, "{}", world.name);
        assert_eq!(memory.quarantined(&alice(), ListRequest::new()).await.unwrap().items.len(), 2);
        // What is to come and not kept aside is worth remembering.
        memory.add_raw(&alice(), [NewMemory::new("Sails to Malta").valid_from(later)]).await.unwrap();
        assert_eq!(memory.count(&alice(), None).await.unwrap(), 1, "{}", world.name);
    }
}

#[tokio::test]
async fn an_observation_of_what_was_to_come_goes_with_it() {
    for world in World::all().await {
        let memory = &world.engine;
        let later = t0() + TimeDelta::days(300);
        let facts =
            ["Sails to Malta with Ann", "Sails to Malta with Ben"].map(|text| NewMemory::new(text).valid_from(later));
        let facts = memory.add_raw(&alice(), facts).await.unwrap();
        assert_eq!(memory.maintain(&alice(), &Maintenance::new().observe(2)).await.unwrap().observed.len(), 1);
        for fact in facts {
            memory.delete(&alice(), fact.id).await.unwrap();
        }
        assert_eq!(memory.maintain(&alice(), &Maintenance::new()).await.unwrap().withdrawn.len(), 1);
        assert_eq!(memory.maintain(&alice(), &Maintenance::new()).await.unwrap().changes(), 0, "{}", world.name);
        assert_eq!(memory.count(&alice(), None).await.unwrap(), 0, "{}", world.name);
    }
}

#[tokio::test]
async fn the_end_of_time_is_a_time() {
    for world in World::all().await {
        let (memory, session) = (&world.engine, alice().with_session("monday"));
        memory.add(&session, [Message::user("I like tea.").at(Timestamp::MAX_UTC)]).await.unwrap();
        for quiet in [3_600, 9_000_000_000_000_000] {
            let request = Maintenance::new().summarize_sessions(Duration::from_secs(quiet)).forget_below(0.5);
            memory.maintain(&alice(), &request).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_place_that_leaves_no_room_is_refused() {
    for world in World::all().await {
        let (memory, session) = (&world.engine, alice().with_session("monday"));
        let turn = |place: u64| NewMemory::new("I like tea.").kind(MemoryKind::Episode).ordinal(place);
        let refused = memory.add_raw(&session, [turn(i64::MAX as u64)]).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{}", world.name);
        memory.add_raw(&session, [turn(i64::MAX as u64 / 2)]).await.unwrap();
        memory.add(&session, "I live in Lisbon.").await.unwrap();
    }
}

async fn lines(memory: &MemoryEngine, scope: &Scope) -> Vec<String> {
    let mut export = memory.export(scope);
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    lines
}

#[tokio::test]
async fn a_history_of_a_strangers_memory_is_not_taken_in() {
    for world in World::all().await {
        let (memory, bob) = (&world.engine, Scope::user("bob"));
        let his = memory.add_raw(&bob, ["Keeps bees"]).await.unwrap().remove(0).id;
        let mine = memory.add_raw(&alice(), ["Goes"]).await.unwrap().remove(0).id;
        memory.delete(&alice(), mine).await.unwrap();
        let forged: Vec<String> = lines(memory, &alice())
            .await
            .iter()
            .map(|line| line.replace(&mine.to_string(), &his.to_string()))
            .collect();
        let mut import = memory.import(&alice());
        for line in &forged {
            import.line(line).await.unwrap();
        }
        assert_eq!(import.finish().await.unwrap_err().kind(), ErrorKind::Conflict, "{}", world.name);
        let _ = memory.purge(&alice(), Purge::memories([his])).await;
        assert_eq!(memory.history(&bob, his).await.unwrap().len(), 1, "{}", world.name);
    }
}

#[tokio::test]
async fn a_bad_line_of_an_import_is_named() {
    let world = World::in_memory().await;
    world.engine.add_raw(&alice(), [NewMemory::new("Hello").kind(MemoryKind::Episode)]).await.unwrap();
    let exported = lines(&world.engine, &alice()).await;
    let bad = exported[1].replace("\"ordinal\":0", &format!("\"ordinal\":{}", u64::MAX));
    assert_ne!(bad, exported[1]);
    let mut import = world.engine.import(&alice());
    import.line(&exported[0]).await.unwrap();
    let refused = import.line(&bad).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::InvalidArgument && refused.to_string().contains("line 2"), "{refused}");
}

#[tokio::test]
async fn blocks_mean_nothing_to_any_embedder() {
    for world in World::all().await {
        world.engine.blocks(&alice()).set(Block::new("persona", "Keeps bees on the roof.")).await.unwrap();
        let fact = world.engine.add_raw(&alice(), ["Has a beehive"]).await.unwrap().remove(0).id;
        Reembed::new(world.store.clone(), HashingEmbedder::new(32)).run().await.unwrap();
        let memory = MemoryEngine::builder()
            .store(world.store.clone())
            .embedder(HashingEmbedder::new(32))
            .clock(world.clock.clone())
            .build()
            .await
            .unwrap();
        let first = async |memory: &MemoryEngine| -> MemoryId {
            let request = SearchRequest::new("Keeps bees on the roof.").mode(SearchMode::Vector);
            memory.search(&alice(), request).await.unwrap()[0].memory.id
        };
        assert_eq!(first(&memory).await, fact, "{}", world.name);
        let exported = lines(&memory, &alice()).await;
        let copy = MemoryEngine::builder().embedder(HashingEmbedder::new(32)).build().await.unwrap();
        let mut import = copy.import(&alice());
        for line in &exported {
            import.line(line).await.unwrap();
        }
        import.finish().await.unwrap();
        assert_eq!(first(&copy).await, fact, "{}", world.name);
    }
}
