//! Conversations beyond the contract of their store: what the engine does to them, failures, files and other handles.

use std::sync::Arc;

use ingrain::{
    ConversationStore, ErrorKind, HashingEmbedder, InMemoryStore, MemoryEngine, Message, RunningSummary, Scope,
    StoredMessage, VectorStore, testing::FaultyStore,
};

use crate::worlds;

fn of(store: &impl VectorStore) -> Arc<dyn ConversationStore> {
    store.companions().conversations.unwrap()
}

fn said(texts: &[&str]) -> Vec<Message> {
    texts.iter().map(|text| Message::user(*text)).collect()
}

async fn texts(conversations: &dyn ConversationStore, name: &Scope) -> Vec<(u64, String)> {
    let all = conversations.messages(name, 0, usize::MAX).await.unwrap();
    all.into_iter().map(|StoredMessage { sequence, message, .. }| (sequence, message.text)).collect()
}

async fn engine(store: Arc<FaultyStore<InMemoryStore>>) -> MemoryEngine {
    MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(32)).build().await.unwrap()
}

#[tokio::test]
async fn two_calls_give_handles_on_the_same() {
    let store = InMemoryStore::new();
    let alice = Scope::user("alice");
    assert_eq!(of(&store).append(&alice, &said(&["a"])).await.unwrap(), 0);
    assert_eq!(of(&store.clone()).append(&alice, &said(&["b"])).await.unwrap(), 1);
    assert_eq!(texts(&*of(&store), &alice).await, [(0, "a".to_owned()), (1, "b".to_owned())]);
    let alone = FaultyStore::new(store).without_companions();
    assert!(alone.companions().conversations.is_none());
}

#[tokio::test]
async fn an_outage_is_an_error_and_a_lost_answer_a_write() {
    let store = FaultyStore::new(InMemoryStore::new());
    let (conversations, alice) = (of(&store), Scope::user("alice"));
    conversations.append(&alice, &said(&["a"])).await.unwrap();
    store.stop();
    let summary = RunningSummary::new("a", 1, worlds::t0());
    for error in [
        conversations.append(&alice, &said(&["b"])).await.map(drop),
        conversations.messages(&alice, 0, 10).await.map(drop),
        conversations.summary(&alice).await.map(drop),
        conversations.replace_summary(&alice, 0, &summary).await,
        conversations.drop_before(&alice, 1).await.map(drop),
        conversations.erase(&alice).await.map(drop),
    ] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StoreUnavailable);
    }
    store.start();
    assert_eq!(conversations.summary(&alice).await.unwrap(), None);
    store.lose_answer_after(0);
    assert!(conversations.append(&alice, &said(&["c"])).await.is_err());
    assert_eq!(texts(&*conversations, &alice).await, [(0, "a".to_owned()), (1, "c".to_owned())]);
}

#[tokio::test]
async fn delete_all_leaves_nothing_of_what_was_said() {
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let (engine, conversations) = (engine(store.clone()).await, of(&store));
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let monday = alice.clone().with_session("monday");
    for name in [&alice, &monday, &bob] {
        conversations.append(name, &said(&["a", "b"])).await.unwrap();
        conversations.replace_summary(name, 0, &RunningSummary::new("a", 1, worlds::t0())).await.unwrap();
        engine.add_raw(name, ["Owns a kayak"]).await.unwrap();
    }
    assert_eq!(engine.delete_all(&monday).await.unwrap(), 1);
    assert_eq!((texts(&*conversations, &monday).await.len(), texts(&*conversations, &alice).await.len()), (0, 2));
    assert_eq!(engine.delete_all(&alice).await.unwrap(), 1);
    for name in [&alice, &monday] {
        assert_eq!(texts(&*conversations, name).await, []);
        assert_eq!(conversations.summary(name).await.unwrap(), None);
    }
    assert_eq!(texts(&*conversations, &bob).await.len(), 2);
    assert!(conversations.summary(&bob).await.unwrap().is_some());
    assert_eq!(engine.count(&bob, None).await.unwrap(), 1);
}

/// Wherever `delete_all` fails, memories are not gone before conversations are, and calling it again ends it.
#[tokio::test]
async fn delete_all_can_be_called_again_wherever_it_fails() {
    let alice = Scope::user("alice");
    let mut failures = 0;
    for calls in 0.. {
        let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
        let (engine, conversations) = (engine(store.clone()).await, of(&store));
        conversations.append(&alice, &said(&["a"])).await.unwrap();
        engine.add_raw(&alice, ["Owns a kayak"]).await.unwrap();
        store.fail_call_after(calls);
        let result = engine.delete_all(&alice).await;
        store.start();
        let left = (engine.count(&alice, None).await.unwrap(), texts(&*conversations, &alice).await.len());
        if result.is_ok() {
            assert_eq!(left, (0, 0));
            break;
        }
        failures += 1;
        assert!(left.0 == 1, "after {calls} calls: {left:?}");
        engine.delete_all(&alice).await.unwrap();
        assert_eq!((engine.count(&alice, None).await.unwrap(), texts(&*conversations, &alice).await.len()), (0, 0));
    }
    assert!(failures >= 2, "conversations and memories could both fail: {failures}");
}

#[cfg(feature = "sqlite")]
mod file {
    use std::path::Path;

    use ingrain::SqliteStore;

    use super::*;
    use crate::processes::{Second, given};

    async fn open(path: &Path) -> Arc<dyn ConversationStore> {
        of(&SqliteStore::open(path).await.unwrap())
    }

    /// Whatever was done stays done: messages, numbers, what was dropped and erased, and the summary.
    #[tokio::test]
    async fn a_closed_file_opens_with_all_that_was_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let (alice, bob, carol) = (Scope::user("alice"), Scope::user("bob"), Scope::user("carol"));
        let summary = RunningSummary::new("a\u{0} и b", 2, worlds::t0());
        {
            let conversations = open(&path).await;
            for name in [&alice, &bob, &carol] {
                conversations.append(name, &said(&["a", "b", "c\u{0}d"])).await.unwrap();
            }
            conversations.replace_summary(&alice, 0, &summary).await.unwrap();
            assert_eq!(conversations.drop_before(&alice, 2).await.unwrap(), 2);
            assert_eq!(conversations.drop_before(&bob, 3).await.unwrap(), 3);
            assert_eq!(conversations.erase(&carol).await.unwrap(), 3);
        }
        let conversations = open(&path).await;
        assert_eq!(conversations.summary(&alice).await.unwrap(), Some(summary));
        assert_eq!(texts(&*conversations, &alice).await, [(2, "c\u{0}d".to_owned())]);
        for name in [&alice, &bob, &carol] {
            assert_eq!(conversations.append(name, &said(&["e"])).await.unwrap(), 3, "{name:?}");
        }
        let late = RunningSummary::new("c", 3, worlds::t0());
        let error = conversations.replace_summary(&carol, 0, &late).await.unwrap_err();
        assert_eq!((error.kind(), error.backend()), (ErrorKind::Conflict, Some("sqlite")));
    }

    /// Two handles on one file are one store.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn handles_on_one_file_share_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let alice = Scope::user("alice");
        let mut tasks = Vec::new();
        for _ in 0..2 {
            let (conversations, alice) = (open(&path).await, alice.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..20 {
                    let first = conversations.append(&alice, &said(&["x", "y"])).await.unwrap();
                    assert_eq!(conversations.messages(&alice, first, 1).await.unwrap()[0].message.text, "x");
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let expected: Vec<(u64, String)> =
            (0..80).map(|number| (number, if number % 2 == 0 { "x" } else { "y" }.to_owned())).collect();
        assert_eq!(texts(&*open(&path).await, &alice).await, expected);
    }

    /// Several processes on one file are one store.
    #[tokio::test]
    async fn processes_share_a_conversation() {
        let alice = Scope::user("alice");
        if let Some((path, word)) = given() {
            let conversations = open(&path).await;
            for number in 0..15 {
                conversations.append(&alice, &said(&[&format!("{word} {number}"), "and"])).await.unwrap();
            }
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let name = "conversations::file::processes_share_a_conversation";
        let processes = ["one", "two", "three"].map(|word| Second::running(name, &path, word));
        processes.into_iter().for_each(Second::succeeded);
        let texts = texts(&*open(&path).await, &alice).await;
        assert!(texts.iter().map(|(number, _)| *number).eq(0..90));
        assert!(texts.iter().skip(1).step_by(2).all(|(_, text)| text == "and"), "appends stay together: {texts:?}");
        for word in ["one", "two", "three"] {
            let own: Vec<&str> =
                texts.iter().filter_map(|(_, text)| text.strip_prefix(word)).map(str::trim_start).collect();
            assert!(own.iter().copied().eq((0..15).map(|number| number.to_string())), "{word}: {own:?}");
        }
    }

    /// What cannot be read is damage, told as such, and no message with something else in its place.
    #[tokio::test]
    async fn a_damaged_message_is_told() {
        for damage in [
            "UPDATE messages SET role = 'narrator'",
            "UPDATE messages SET tool_calls = '[{'",
            "UPDATE messages SET metadata = '[1]'",
            "UPDATE messages SET text = x'ff'",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.db");
            let alice = Scope::user("alice");
            open(&path).await.append(&alice, &said(&["a"])).await.unwrap();
            assert_eq!(rusqlite::Connection::open(&path).unwrap().execute(damage, []).unwrap(), 1);
            let error = open(&path).await.messages(&alice, 0, 10).await.unwrap_err();
            assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreCorrupt, Some("sqlite")), "{damage}: {error}");
        }
    }
}
