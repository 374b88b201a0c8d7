//! What is purged is gone: from every read, and from every byte of every file.

#[cfg(feature = "sqlite")]
pub mod bytes;
#[cfg(feature = "sqlite")]
mod earlier;
mod meanwhile;

use std::{sync::Arc, time::Duration};

use ingrain::{
    Entity, EntityId, ErrorKind, ExtractedRelation, HashingEmbedder, InMemoryStore, ListRequest, Maintenance,
    MemoryEngine, MemoryId, MemoryKind, MemoryUpdate, Mention, Message, NewMemory, Purge, RunningSummary, Scope,
    VectorStore, testing::FaultyStore,
};

use crate::worlds;

pub async fn engine(store: impl VectorStore) -> MemoryEngine {
    MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64)).build().await.unwrap()
}

#[cfg(feature = "sqlite")]
/// The words of which not a byte may be left. Each is told in another part of the store, some in several.
pub const SECRETS: [&str; 8] = [
    "Zanzibarova",
    "Qwertzuiop",
    "Xylophonist",
    "Vladivostokian",
    "Kumquatery",
    "Ouagadougou",
    "mitzi-agent",
    "w7-session",
];

/// Fills every table of a store with a user's words.
pub async fn fill(memory: &MemoryEngine, store: &impl VectorStore, user: &Scope) -> Vec<MemoryId> {
    let session = user.clone().with_agent("mitzi-agent").with_session("w7-session");
    let mut ids = Vec::new();
    for text in [
        "My name is Olga Zanzibarova. I live in Qwertzuiop. I work at Xylophonist.",
        "I moved to Vladivostokian. My sister Kumquatery works at Xylophonist.",
    ] {
        for scope in [user, &session] {
            let report = memory.add(scope, [Message::user(text).with_id("Ouagadougou")]).await.unwrap();
            ids.extend(report.added.iter().map(|memory| memory.id));
        }
    }
    let note = NewMemory::new("Plays the Xylophonist").categories(["Kumquatery"]);
    let raw = memory.add_raw(user, [note]).await.unwrap().remove(0);
    memory.update(user, raw.id, MemoryUpdate::new().text("Plays no more Ouagadougou")).await.unwrap();
    let long = "Qwertzuiop and Vladivostokian. ".repeat(400);
    let gone = memory.add_raw(user, [long]).await.unwrap().remove(0);
    memory.delete(user, gone.id).await.unwrap();
    ids.extend([raw.id, gone.id]);
    let companions = store.companions();
    let (conversations, graph) = (companions.conversations.unwrap(), companions.graph.unwrap());
    conversations.append(user, &[Message::user("Zanzibarova said Qwertzuiop")]).await.unwrap();
    conversations.append(&session, &[Message::user("Kumquatery"), Message::assistant("Xylophonist")]).await.unwrap();
    let summary = RunningSummary::new("Told of Vladivostokian", 1, worlds::t0());
    conversations.replace_summary(&session, 0, &summary).await.unwrap();
    let entity = Entity::new(EntityId::new(worlds::t0()), user.clone(), "Ouagadougou", worlds::t0());
    let mut batch = ingrain::GraphBatch::default();
    batch.entities.push(entity);
    graph.apply_graph(&batch).await.unwrap();
    memory.search(user, "Zanzibarova").await.unwrap();
    ids
}

#[tokio::test]
async fn a_purge_that_fails_midway_is_ended_by_the_next() {
    for broken in 0.. {
        let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
        let memory = engine(Arc::clone(&store)).await;
        let (olga, bob) = (Scope::user("olga"), Scope::user("bob"));
        let ids = fill(&memory, store.inner(), &olga).await;
        memory.add(&bob, [Message::user("I live in Porto.")]).await.unwrap();
        let what = if broken % 2 == 0 { Purge::everything() } else { Purge::memories(ids).with_related() };
        store.fail_call_after(broken);
        let first = memory.purge(&olga, what.clone()).await;
        let was_reached = !store.is_failure_to_come();
        store.start();
        assert_eq!(first.is_err(), was_reached, "an outage is told");
        if let Err(error) = first {
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        }
        memory.purge(&olga, what).await.unwrap();
        assert!(memory.search(&olga, "Zanzibarova").await.unwrap().is_empty());
        assert_eq!(memory.list(&bob, ListRequest::new()).await.unwrap().total, 2, "the turn and the fact");
        if !was_reached && broken % 2 == 0 {
            break;
        }
    }
}

#[tokio::test]
async fn what_was_worded_anew_goes_with_it() {
    let memory = engine(InMemoryStore::new()).await;
    let olga = Scope::user("olga");
    let session = olga.clone().with_session("monday");
    let said = Message::user("I live in Lisbon. The mill by the river turns slowly in the evening light.");
    memory.add(&session, [said]).await.unwrap();
    memory.add_raw(&session, ["Likes hiking in the hills daily", "Goes hiking in the hills daily"]).await.unwrap();
    let upkeep = Maintenance::new().summarize_sessions(Duration::ZERO).observe(2);
    memory.maintain(&session, &upkeep).await.unwrap();
    let all = memory.list(&olga, ListRequest::new()).await.unwrap().items;
    let of =
        |kind: MemoryKind| all.iter().find(|one| one.kind == kind).unwrap_or_else(|| panic!("no {kind:?}")).clone();
    let (turn, seen) = (of(MemoryKind::Episode), of(MemoryKind::Observation));
    let (summary, hiking) =
        (of(MemoryKind::Summary), all.iter().find(|one| one.text.contains("Likes hiking")).unwrap());
    // A fact is told again by what was observed of it, and a turn by the summary of its session.
    let gone = memory.purge(&session, Purge::memories([hiking.id])).await.unwrap();
    assert_eq!(gone.memories, 2);
    assert!(memory.history(&olga, seen.id).await.is_err());
    let gone = memory.purge(&session, Purge::memories([turn.id])).await.unwrap();
    assert_eq!(gone.memories, 2);
    assert!(memory.history(&olga, summary.id).await.is_err());
    let left = memory.list(&olga, ListRequest::new()).await.unwrap().items;
    assert_eq!(
        left.iter().map(|one| &*one.text).collect::<Vec<_>>(),
        ["Lives in Lisbon", "Goes hiking in the hills daily"]
    );
    // The fact's own turn, and with that what tells it again.
    memory.maintain(&session, &upkeep).await.unwrap();
    // What was removed before, and told anew without it since, is in no history of a summary either.
    let turn =
        memory.add_raw(&session, [NewMemory::new("Ouagadougou is warm").kind(MemoryKind::Episode)]).await.unwrap();
    let other = memory.add_raw(&session, [NewMemory::new("Lyon is cold").kind(MemoryKind::Episode)]).await.unwrap();
    memory.maintain(&session, &upkeep).await.unwrap();
    memory.delete(&session, turn[0].id).await.unwrap();
    memory.maintain(&session, &upkeep).await.unwrap();
    let told = memory.list(&olga, ListRequest::new()).await.unwrap().items;
    let told = told.iter().find(|one| one.kind == MemoryKind::Summary).unwrap().id;
    let foreign = memory.add_raw(&Scope::user("bob"), ["Keeps bees"]).await.unwrap().remove(0).id;
    memory.purge(&session, Purge::memories([foreign])).await.unwrap();
    assert!(memory.history(&olga, told).await.is_ok(), "an id of another's is none");
    memory.purge(&session, Purge::memories([turn[0].id])).await.unwrap();
    let summaries = memory.list(&olga, ListRequest::new()).await.unwrap().items;
    let summary = summaries.iter().find(|one| one.kind == MemoryKind::Summary).unwrap();
    assert!(summary.text.contains("Lyon") && !summary.text.contains("Ouagadougou"), "{}", summary.text);
    assert!(memory.history(&olga, summary.id).await.unwrap().is_empty(), "it told of it, and is there");
    assert!(memory.history(&olga, other[0].id).await.is_ok());
}

/// A memory, and the names and words that it alone tells of somebody whom others tell of as well.
pub async fn tell_names(memory: &MemoryEngine, user: &Scope) -> Vec<MemoryId> {
    let knows = |mention: Mention| ExtractedRelation::new("user", "knows", mention);
    let plain = NewMemory::new("Knows Anna Weber").relations([knows(Mention::new("Anna Weber"))]);
    let other = NewMemory::new("Anna Weber sings in Turku, Annie says").relations([ExtractedRelation::new(
        Mention::new("Anna Weber").with_alias("Annie"),
        "sings_in",
        "Turku",
    )]);
    memory.add_raw(user, [plain, other]).await.unwrap();
    let mut ids = Vec::new();
    for secret in [
        // By another name, in another word for the same and as something else.
        NewMemory::new("Knows Anna Weber, the Xylophonist")
            .relations([knows(Mention::new("Anna Weber").with_alias("Zanzibarova").with_type("Xylophonist"))]),
        // The two names are told to be one, and no relation rests on it.
        NewMemory::new("Anna Weber is called Qwertzuiop").relations([ExtractedRelation::new(
            "Anna Weber",
            ExtractedRelation::SAME_AS,
            "Qwertzuiop",
        )]),
        // Told under that name, and of the same two as another tells.
        NewMemory::new("Knows Qwertzuiop").relations([knows(Mention::new("Qwertzuiop"))]),
        NewMemory::new("Kumquatery lies near Turku").relations([ExtractedRelation::new(
            "Kumquatery",
            "near",
            Mention::new("Turku").with_alias("Ouagadougou"),
        )]),
    ] {
        ids.push(memory.add_raw(user, [secret]).await.unwrap().remove(0).id);
    }
    let annas = memory.graph(user).find("Anna Weber", 9).await.unwrap();
    assert!(
        annas.iter().any(|(anna, _)| ["Zanzibarova", "Qwertzuiop"]
            .iter()
            .all(|name| anna.aliases.iter().any(|alias| alias == name))),
        "{annas:?}"
    );
    ids
}

async fn names_go_with_what_told_them<S: VectorStore>(store: impl AsyncFn() -> S) {
    for way in 0..2 {
        let memory = engine(store().await).await;
        let olga = Scope::user("olga");
        let ids = tell_names(&memory, &olga).await;
        if way == 0 {
            memory.purge(&olga, Purge::memories(ids)).await.unwrap();
        } else {
            for id in ids.into_iter().rev() {
                memory.purge(&olga, Purge::memories([id])).await.unwrap();
            }
        }
        for name in ["Zanzibarova", "Qwertzuiop", "Kumquatery", "Ouagadougou"] {
            assert!(memory.graph(&olga).find(name, 9).await.unwrap().is_empty(), "{name}");
        }
        let view = memory.graph(&olga).any_time().view().await.unwrap();
        let told = format!("{view:?}");
        assert!(!SECRETS_OF_NAMES.iter().any(|word| told.contains(word)), "{told}");
        // What others tell stays, with its other spellings.
        assert_eq!(view.relations.len(), 2, "{told}");
        let anna = memory.graph(&olga).find("annie", 1).await.unwrap().remove(0).0;
        assert_eq!((anna.name.as_str(), anna.aliases), ("Anna Weber", vec!["Annie".to_owned()]));
    }
    // A name comes first that is left, if the first was told by what goes alone.
    let (memory, olga) = (engine(store().await).await, Scope::user("olga"));
    let first = NewMemory::new("Met Zanzibarova").relations([ExtractedRelation::new("user", "met", "Zanzibarova")]);
    let first = memory.add_raw(&olga, [first]).await.unwrap().remove(0).id;
    let same = ExtractedRelation::new("Zanzibarova", ExtractedRelation::SAME_AS, "Olya");
    let second =
        memory.add_raw(&olga, [NewMemory::new("Zanzibarova is Olya").relations([same])]).await.unwrap().remove(0).id;
    let likes = ExtractedRelation::new("Olya", "likes", "tea");
    memory.add_raw(&olga, [NewMemory::new("Olya likes tea").relations([likes])]).await.unwrap();
    memory.purge(&olga, Purge::memories([first, second])).await.unwrap();
    let (olya, _) = memory.graph(&olga).find("Olya", 1).await.unwrap().remove(0);
    assert_eq!((olya.name.as_str(), olya.aliases.len()), ("Olya", 0));
    worlds::sound(&memory).await;
    // A name that is told without a relation outlives what else was told of the same one.
    let own = ExtractedRelation::new(Mention::USER, ExtractedRelation::SAME_AS, "Olga");
    let tea = ExtractedRelation::new(Mention::USER, "likes", "tea");
    memory.add_raw(&olga, [NewMemory::new("The name is Olga").relations([own])]).await.unwrap();
    let likes =
        memory.add_raw(&olga, [NewMemory::new("Likes tea").relations([tea.clone()])]).await.unwrap().remove(0).id;
    memory.add_raw(&olga, [NewMemory::new("Likes tea, she said").relations([tea])]).await.unwrap();
    memory.purge(&olga, Purge::memories([likes])).await.unwrap();
    assert_eq!(memory.graph(&olga).find("Olga", 1).await.unwrap()[0].0.name, Mention::USER);
    // What was removed, and only then purged, leaves no name either.
    let same = ExtractedRelation::new("Olya", ExtractedRelation::SAME_AS, "Qwertzuiop");
    let third =
        memory.add_raw(&olga, [NewMemory::new("Olya is Qwertzuiop").relations([same])]).await.unwrap().remove(0).id;
    memory.delete(&olga, third).await.unwrap();
    assert_eq!(memory.graph(&olga).find("Qwertzuiop", 1).await.unwrap().len(), 1);
    memory.purge(&olga, Purge::memories([third])).await.unwrap();
    assert!(memory.graph(&olga).find("Qwertzuiop", 1).await.unwrap().is_empty());
}

pub const SECRETS_OF_NAMES: [&str; 5] = ["Zanzibarova", "Qwertzuiop", "Kumquatery", "Ouagadougou", "Xylophonist"];

#[tokio::test]
async fn names_go_with_what_told_them_in_memory() {
    names_go_with_what_told_them(async || InMemoryStore::new()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn names_go_with_what_told_them_in_sqlite() {
    names_go_with_what_told_them(async || ingrain::SqliteStore::open_in_memory().await.unwrap()).await;
}
