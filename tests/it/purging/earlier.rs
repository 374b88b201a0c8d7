//! What told of a memory once, and does so no more, keeps no word of it in its history.

use std::path::Path;

use ingrain::{
    Filter, HashingEmbedder, ListRequest, Maintenance, ManualClock, Memory, MemoryEngine, MemoryId, MemoryKind,
    MemoryUpdate, NewMemory, Purge, Scope, SqliteStore,
};

use super::bytes::left;
use crate::{
    maintain::{day, days, run},
    worlds::t0,
};

const WORD: &str = "Zanzibarova";
const HIKING: [&str; 4] = [
    "Likes hiking in the mountains at Zanzibarova",
    "Likes hiking in the Alps mountains",
    "Goes hiking in the mountains on Sundays",
    "Likes hiking in the mountains in May",
];

/// As `maintain::run` does, whose user is alice.
fn olga() -> Scope {
    Scope::user("alice")
}

fn monday() -> Scope {
    olga().with_session("monday")
}

async fn open(folder: &Path) -> (MemoryEngine, ManualClock) {
    let clock = ManualClock::at(t0());
    let store = SqliteStore::open(folder.join("memory.db")).await.unwrap();
    let builder = MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(256)).clock(clock.clone());
    (builder.build().await.unwrap(), clock)
}

async fn of_kind(memory: &MemoryEngine, kind: MemoryKind) -> Vec<Memory> {
    let all = ListRequest::new().filter(Filter::eq("kind", kind.as_str())).include_invalid();
    memory.list(&olga(), all).await.unwrap().items
}

/// Facts and what was observed of them, the first telling the word.
async fn observed(memory: &MemoryEngine, scope: &Scope) -> (Vec<MemoryId>, MemoryId) {
    let facts: Vec<MemoryId> = memory.add_raw(scope, HIKING).await.unwrap().iter().map(|one| one.id).collect();
    run(memory, Maintenance::new().observe(3)).await;
    let observation = of_kind(memory, MemoryKind::Observation).await.remove(0);
    assert!(observation.text.contains(WORD));
    (facts, observation.id)
}

/// Facts, and an observation of them that told something else before.
async fn observed_anew(memory: &MemoryEngine) -> MemoryId {
    let facts = memory.add_raw(&olga(), HIKING[1..].iter().copied()).await.unwrap();
    let report = run(memory, Maintenance::new().observe(3)).await;
    let text = MemoryUpdate::new().text("Likes hiking in the mountains in June");
    memory.update(&olga(), facts[2].id, text).await.unwrap();
    assert_eq!(run(memory, Maintenance::new()).await.renewed, report.observed);
    report.observed[0]
}

async fn gone(folder: &Path, memory: &MemoryEngine, scope: &Scope, what: Purge, way: &str) {
    assert_eq!(left(folder, &[WORD]), [WORD], "{way}");
    memory.purge(scope, what).await.unwrap();
    assert_eq!(left(folder, &[WORD]), Vec::<&str>::new(), "{way}");
}

#[tokio::test]
async fn an_observation_that_told_a_fact_once_forgets_it() {
    for way in ["renewed", "deleted", "withdrawn", "faded", "deleted with its fact"] {
        let folder = tempfile::tempdir().unwrap();
        let (memory, clock) = open(folder.path()).await;
        let (facts, observation) = observed(&memory, &olga()).await;
        let end = async |ids: &[MemoryId]| {
            for id in ids {
                memory.update(&olga(), *id, MemoryUpdate::new().valid_until(Some(t0()))).await.unwrap();
            }
        };
        match way {
            "renewed" => {
                end(&facts[..1]).await;
                assert_eq!(run(&memory, Maintenance::new()).await.renewed, [observation]);
            }
            "deleted" => memory.delete(&olga(), observation).await.unwrap(),
            "withdrawn" => {
                end(&facts[1..]).await;
                assert_eq!(run(&memory, Maintenance::new()).await.withdrawn, [observation]);
            }
            "faded" => {
                end(&facts[1..]).await;
                clock.advance(days(9_000));
                run(&memory, Maintenance::new().forget_below(0.1)).await;
                assert!(memory.get(&olga(), observation).await.is_err());
            }
            _ => {
                memory.delete(&olga(), observation).await.unwrap();
                memory.delete(&olga(), facts[0]).await.unwrap();
            }
        }
        gone(folder.path(), &memory, &olga(), Purge::memories([facts[0]]), way).await;
        assert!(memory.history(&olga(), facts[1]).await.is_ok(), "{way}");
    }
}

#[tokio::test]
async fn a_summary_that_told_a_turn_once_forgets_it() {
    for way in ["deleted", "deleted with its turn", "its session was deleted"] {
        let folder = tempfile::tempdir().unwrap();
        let (memory, clock) = open(folder.path()).await;
        let said = ["The mill of Zanzibarova turns slowly.", "Lyon is cold."];
        let said = said.map(|text| NewMemory::new(text).kind(MemoryKind::Episode));
        let turns = memory.add_raw(&monday(), said).await.unwrap();
        let tuesday = olga().with_session("tuesday");
        memory.add_raw(&tuesday, [NewMemory::new("Turku is warm.").kind(MemoryKind::Episode)]).await.unwrap();
        clock.advance(days(2));
        run(&memory, Maintenance::new().summarize_sessions(day())).await;
        let summaries = of_kind(&memory, MemoryKind::Summary).await;
        let of = |scope: &Scope| summaries.iter().find(|one| one.scope == *scope).unwrap();
        assert!(of(&monday()).text.contains(WORD));
        match way {
            "its session was deleted" => assert_eq!(memory.delete_all(&monday()).await.unwrap(), 3),
            _ => memory.delete(&olga(), of(&monday()).id).await.unwrap(),
        }
        if way == "deleted with its turn" {
            memory.delete(&monday(), turns[0].id).await.unwrap();
        }
        let observation = observed_anew(&memory).await;
        gone(folder.path(), &memory, &olga(), Purge::memories([turns[0].id]), way).await;
        if way == "deleted" {
            let told = memory.history(&olga(), observation).await.unwrap();
            assert_eq!(told.len(), 2, "an observation tells of no turn");
        }
        assert_eq!(memory.history(&olga(), of(&tuesday).id).await.unwrap().len(), 1, "{way}: of another session");
    }
}

#[tokio::test]
async fn what_was_observed_of_a_purged_session_once_is_told_nowhere() {
    for way in ["renewed", "deleted"] {
        let folder = tempfile::tempdir().unwrap();
        let (memory, _) = open(folder.path()).await;
        memory.add_raw(&olga(), HIKING[1..].iter().copied()).await.unwrap();
        let fact = memory.add_raw(&monday(), [HIKING[0]]).await.unwrap().remove(0).id;
        run(&memory, Maintenance::new().observe(3)).await;
        let observation = of_kind(&memory, MemoryKind::Observation).await.remove(0);
        assert!(observation.text.contains(WORD) && observation.scope == olga());
        memory.delete(&monday(), fact).await.unwrap();
        match way {
            "renewed" => assert_eq!(run(&memory, Maintenance::new()).await.renewed.len(), 1),
            _ => memory.delete(&olga(), observation.id).await.unwrap(),
        }
        gone(folder.path(), &memory, &monday(), Purge::everything(), way).await;
    }
}

#[tokio::test]
async fn what_was_merged_goes_together() {
    for way in ["the one that was kept", "the one that was taken in", "the kept one, deleted before"] {
        let folder = tempfile::tempdir().unwrap();
        let (memory, _) = open(folder.path()).await;
        let plain = ["Likes the mill", "likes the mill."].map(NewMemory::new);
        let [older, newer] = plain;
        let note = serde_json::json!({ "note": WORD });
        let newer = newer.categories(["Kumquatery"]).metadata(note.as_object().unwrap().clone());
        let ids: Vec<MemoryId> =
            memory.add_raw(&olga(), [older, newer]).await.unwrap().iter().map(|one| one.id).collect();
        let merged = run(&memory, Maintenance::new()).await.merged;
        assert_eq!((merged[0].kept, merged[0].merged), (ids[0], ids[1]));
        let words = ["Zanzibarova", "Kumquatery"];
        assert_eq!(left(folder.path(), &words), words);
        if way.contains("deleted") {
            memory.delete(&olga(), ids[0]).await.unwrap();
        }
        let purged = if way.contains("taken in") { ids[1] } else { ids[0] };
        memory.purge(&olga(), Purge::memories([purged])).await.unwrap();
        assert_eq!(left(folder.path(), &words), Vec::<&str>::new(), "{way}");
    }
}
