//! Whose memories there are, and what goes by that: maintenance and an export of everything.

use std::{sync::Arc, time::Duration};

use ingrain::{
    BackgroundOptions, ErrorKind, HashingEmbedder, InMemoryStore, Maintenance, MaintenanceSchedule, MemoryEngine,
    Message, Purge, Scope, VectorStore, testing::FaultyStore,
};

/// An engine that leaves its queue alone, so that what is in it stays to be listed.
async fn engine(store: impl VectorStore) -> MemoryEngine {
    let background = BackgroundOptions::new().workers(0);
    let builder = MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64));
    builder.background(background).build().await.unwrap()
}

async fn walked(memory: &MemoryEngine, limit: usize) -> Vec<Scope> {
    let mut scopes = Vec::new();
    loop {
        let page = memory.scopes_of_everyone(scopes.last(), limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return scopes;
        }
        scopes.extend(page);
    }
}

/// Users of every sort, and the scopes that cover all they have, in order.
async fn fill(memory: &MemoryEngine) -> Vec<Scope> {
    let alice = Scope::user("alice");
    for session in 0..40 {
        let scope = alice.clone().with_agent("cook").with_session(format!("{session}"));
        memory.add_raw(&scope, [format!("Cooked dish {session}")]).await.unwrap();
    }
    for scope in [
        alice.clone().with_session("1"),
        alice,
        Scope::user("Zoe"),
        Scope::agent("cook"),
        Scope::agent("cook").with_session("1"),
        Scope::agent("cook").with_session("2"),
        Scope::session("1"),
        Scope::session("2"),
    ] {
        memory.add_raw(&scope, ["Likes tea"]).await.unwrap();
    }
    let talks = Scope::user("bob").with_session("1");
    memory.conversation(&talks).unwrap().append([Message::user("Hello.")]).await.unwrap();
    memory.add_later(&Scope::user("carol").with_agent("cook"), [Message::user("I like tea.")]).await.unwrap();
    let users = ["Zoe", "alice", "bob", "carol"].map(Scope::user);
    [Scope::session("1"), Scope::session("2"), Scope::agent("cook")].into_iter().chain(users).collect()
}

async fn everyone_comes_once(store: impl VectorStore) {
    let memory = engine(store).await;
    assert_eq!(walked(&memory, 1).await, []);
    let mut expected = fill(&memory).await;
    for limit in [1, 2, 3, 7, 8, 1_000, usize::MAX] {
        assert_eq!(walked(&memory, limit).await, expected, "in pages of {limit}");
    }
    assert_eq!(memory.scopes_of_everyone(None, 0).await.unwrap(), []);
    // A place is one of an owner's own, or somebody's who is not there.
    let within = Scope::user("alice").with_session("1");
    assert_eq!(memory.scopes_of_everyone(Some(&within), 1).await.unwrap(), [Scope::user("bob")]);
    assert_eq!(memory.scopes_of_everyone(Some(&Scope::user("aaron")), 1).await.unwrap(), [Scope::user("alice")]);
    let error = memory.scopes_of_everyone(Some(&Scope::user(" ")), 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // Of whom all was deleted there is a history left.
    memory.delete_all(&Scope::user("Zoe")).await.unwrap();
    assert_eq!(walked(&memory, 2).await, expected);
    // Whoever is purged is gone, wherever he had something.
    for user in ["alice", "bob", "carol", "Zoe"] {
        memory.purge(&Scope::user(user), Purge::everything()).await.unwrap();
        expected.retain(|scope| scope.user_id() != Some(user));
        assert_eq!(walked(&memory, 2).await, expected);
    }
}

#[tokio::test]
async fn everyone_comes_once_in_memory() {
    everyone_comes_once(InMemoryStore::new()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn everyone_comes_once_in_sqlite() {
    everyone_comes_once(ingrain::SqliteStore::open_in_memory().await.unwrap()).await;
}

#[tokio::test]
async fn everything_is_exported_by_everyone() {
    let memory = engine(InMemoryStore::new()).await;
    let expected = fill(&memory).await;
    let other = engine(InMemoryStore::new()).await;
    for scope in walked(&memory, 3).await {
        let (mut export, mut import) = (memory.export(&scope), other.import(&scope));
        while let Some(line) = export.next_line().await.unwrap() {
            import.line(&line).await.unwrap();
        }
        import.finish().await.unwrap();
    }
    assert_eq!(walked(&other, 3).await, expected);
    for scope in &expected {
        assert_eq!(other.count(scope, None).await.unwrap(), memory.count(scope, None).await.unwrap(), "{scope:?}");
    }
    assert_eq!(other.queued_adds(&Scope::user("carol")).await.unwrap().len(), 1);
    assert_eq!(
        other.conversation(&Scope::user("bob").with_session("1")).unwrap().messages(0, 10).await.unwrap().len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_schedule_is_for_everyone_unless_it_is_told() {
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let memory =
        MemoryEngine::builder().store(Arc::clone(&store)).embedder(HashingEmbedder::new(64)).build().await.unwrap();
    // More than are read at a time.
    let users: Vec<Scope> = (0..230).map(|number| Scope::user(format!("user {number:03}"))).collect();
    for user in &users {
        memory.add_raw(user, ["Likes tea", "likes tea"]).await.unwrap();
    }
    let (told, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let schedule = MaintenanceSchedule::new(Maintenance::new(), Duration::from_secs(3_600))
        .on_report(move |scope, report| {
            let changes = report.as_ref().map(|report| report.changes());
            let _ = told.send((scope.cloned(), changes.map_err(|error| error.kind())));
        })
        .start(&memory)
        .unwrap();
    for user in &users {
        assert_eq!(reports.recv().await.unwrap(), (Some(user.clone()), Ok(1)));
    }
    // Whoever comes later is in the next round.
    let late = Scope::user("a late one");
    memory.add_raw(&late, ["Likes tea", "likes tea"]).await.unwrap();
    assert_eq!(reports.recv().await.unwrap(), (Some(late), Ok(1)));
    for user in &users {
        assert_eq!(reports.recv().await.unwrap(), (Some(user.clone()), Ok(0)));
    }
    // An outage is told, and the next round goes on.
    store.stop();
    let outage = loop {
        let (scope, report) = reports.recv().await.unwrap();
        if scope.is_none() {
            break report;
        }
    };
    assert_eq!(outage, Err(ErrorKind::StoreUnavailable));
    store.start();
    while reports.recv().await.unwrap().1.is_err() {}
    schedule.stop().await;
}
