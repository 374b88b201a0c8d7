//! What is purged is gone: from every read, and from every byte of every file.

use std::{path::Path, sync::Arc};

use ingrain::{
    Entity, EntityId, ErrorKind, Filter, GraphStore, HashingEmbedder, InMemoryStore, ListRequest, MemoryEngine,
    MemoryId, MemoryKind, MemoryUpdate, Message, NewMemory, Purge, RunningSummary, Scope, SqliteStore, VectorStore,
    testing::FaultyStore,
};

use crate::worlds;

async fn engine(store: impl VectorStore) -> MemoryEngine {
    MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64)).build().await.unwrap()
}

/// The words of which not a byte may be left. Each is told in another part of the store, some in several.
const SECRETS: [&str; 8] = [
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
async fn fill(memory: &MemoryEngine, store: &impl VectorStore, user: &Scope) -> Vec<MemoryId> {
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

/// Those of the words that are somewhere in the files of the folder.
fn left(folder: &Path, words: &[&'static str]) -> Vec<&'static str> {
    let files = std::fs::read_dir(folder).unwrap();
    let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    let bytes = bytes.to_ascii_lowercase();
    let holds = |word: &&&str| {
        let word = word.to_ascii_lowercase();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    };
    words.iter().filter(holds).copied().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_purged_user_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let memory = engine(store.clone()).await;
    // Another handle reads the file meanwhile, and has read all of it.
    let other = engine(SqliteStore::open(&path).await.unwrap()).await;
    let (olga, bob) = (Scope::user("olga-7f3"), Scope::user("bob"));
    let theirs = memory.add(&bob, [Message::user("I live in Porto. My dog Rex is five.")]).await.unwrap();
    fill(&memory, &store, &olga).await;
    assert!(!other.search(&olga, "Zanzibarova").await.unwrap().is_empty());
    memory.add_later(&olga, [Message::user("I like Kumquatery")]).await.unwrap();
    let mut words = SECRETS.to_vec();
    words.push("olga-7f3");
    assert_eq!(left(folder.path(), &words), words, "all of it is there before");

    let gone = memory.purge(&olga, Purge::everything()).await.unwrap();
    assert!(gone.memories > 5 && gone.events > gone.memories && gone.relations > 2 && gone.entities > 3, "{gone:?}");
    assert_eq!(gone.messages, 3);
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new());

    for engine in [&memory, &other] {
        assert!(engine.search(&olga, "Zanzibarova").await.unwrap().is_empty());
        assert_eq!(engine.list(&olga, ListRequest::new()).await.unwrap().total, 0);
        assert_eq!(engine.search(&bob, "Where does he live?").await.unwrap()[0].memory.scope, bob);
    }
    assert_eq!(memory.history(&bob, theirs.added[0].id).await.unwrap().len(), 1);
    assert_eq!(store.graph_counts(&bob).await.unwrap().0, 3, "bob, Porto and Rex");
    drop((memory, other));
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new(), "nor after it is closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_purged_session_is_left_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    let olga = Scope::user("olga");
    let (first, second) = (olga.clone().with_session("s1"), olga.clone().with_session("w7-session"));
    memory.add(&first, [Message::user("I work at Acme.")]).await.unwrap();
    memory.add(&second, [Message::user("I work at Xylophonist. My sister is Kumquatery.")]).await.unwrap();
    let words = ["Xylophonist", "Kumquatery", "w7-session"];
    assert_eq!(left(folder.path(), &words), words);
    memory.purge(&second, Purge::everything()).await.unwrap();
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new());
    assert!(memory.list(&olga, ListRequest::new()).await.unwrap().total > 0, "the other session stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_purged_memories_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    let olga = Scope::user("olga");
    memory.add(&olga, [Message::user("I live in Lisbon.")]).await.unwrap();
    let told = memory.add(&olga, [Message::user("I work at Kumquatery.")]).await.unwrap();
    let fact = told.added.iter().find(|memory| memory.kind != MemoryKind::Episode).unwrap().id;
    let noted = memory.add_raw(&olga, ["Owns a Xylophonist"]).await.unwrap().remove(0).id;
    memory.delete(&olga, noted).await.unwrap();
    let secret = NewMemory::new("Diagnosed with Vladivostokian").categories(["health"]);
    memory.add_raw(&olga, [secret]).await.unwrap();

    // The turn says it as well: it stays unless it is purged with the fact.
    let gone = memory.purge(&olga, Purge::memories([noted])).await.unwrap();
    assert_eq!((gone.memories, gone.events), (0, 2));
    assert_eq!(left(folder.path(), &["Xylophonist", "Kumquatery"]), ["Kumquatery"]);
    let gone = memory.purge(&olga, Purge::memories([fact]).with_related()).await.unwrap();
    assert_eq!((gone.memories, gone.events), (2, 2));
    let gone = memory.purge(&olga, Purge::matching(Filter::eq("categories", "health"))).await.unwrap();
    assert_eq!((gone.memories, gone.events), (1, 1));
    assert_eq!(left(folder.path(), &SECRETS), Vec::<&str>::new());
    assert_eq!(memory.history(&olga, fact).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(memory.search(&olga, "Where does she live?").await.unwrap()[0].memory.text.contains("Lisbon"));

    // Again, with nothing left to purge.
    let again = memory.purge(&olga, Purge::memories([fact, noted]).with_related()).await.unwrap();
    assert_eq!(again, ingrain::PurgeReport::default());
    // Another's memory is none of hers.
    let theirs = memory.add_raw(&Scope::user("bob"), ["Keeps bees"]).await.unwrap().remove(0).id;
    assert_eq!(memory.purge(&olga, Purge::memories([theirs])).await.unwrap(), ingrain::PurgeReport::default());
    assert!(memory.get(&Scope::user("bob"), theirs).await.is_ok());
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
