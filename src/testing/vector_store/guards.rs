use std::sync::Arc;

use super::subject::{Subject, X, alice, at, bob, declared, refused, removal, replacement, rewritten};
use crate::{ErrorKind, MemoryKind, Scope, Unchanged, VectorStore, Version, WriteBatch};

const SEMANTIC: [MemoryKind; 4] =
    [MemoryKind::Fact, MemoryKind::Preference, MemoryKind::Procedure, MemoryKind::Observation];
const OTHER: [MemoryKind; 3] = [MemoryKind::Episode, MemoryKind::Summary, MemoryKind::Block];

async fn add_kind(subject: &Subject, scope: &Scope, kind: MemoryKind) -> crate::Memory {
    let mut memory = subject.memory(scope, "planned from");
    memory.kind = kind;
    subject.store_one(&memory, X).await;
    memory
}

/// Applies an addition guarded by `scope` since `since`.
async fn guarded(subject: &Subject, scope: &Scope, since: Version) -> crate::Result<Version> {
    let memory = subject.memory(scope, "guarded");
    let key = crate::IndexKey::new("guarded", X.to_vec());
    let batch = WriteBatch {
        puts: vec![crate::Put::new(memory.clone(), vec![key])],
        events: vec![super::subject::added(&memory)],
        unchanged: Some(Unchanged::new(scope.clone(), since)),
        ..WriteBatch::default()
    };
    let result = subject.store.apply(batch).await;
    let stored = subject.get(scope, memory.id).await.is_some();
    assert_eq!(stored, result.is_ok(), "what is held back leaves nothing");
    assert_eq!(subject.history(scope, memory.id).await.len(), usize::from(stored));
    assert!(stored || subject.words(scope, "guarded", 10).await.is_empty());
    result
}

async fn version(subject: &Subject) -> Version {
    subject.store.version().await.expect("the version")
}

/// A fact, preference, procedure or observation that was stored, changed or removed since holds the write back.
pub async fn a_semantic_change_holds_the_write_back(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "a_semantic_change_holds_the_write_back") {
        return;
    }
    let subject = Subject::bound(store).await;
    for kind in SEMANTIC {
        let since = version(&subject).await;
        let memory = add_kind(&subject, &alice(), kind).await;
        refused(guarded(&subject, &alice(), since).await, &[ErrorKind::Conflict]);
        let since = version(&subject).await;
        let after = rewritten(&memory, "changed");
        subject.apply(replacement(&memory, &after, None)).await;
        refused(guarded(&subject, &alice(), since).await, &[ErrorKind::Conflict]);
        let since = version(&subject).await;
        subject.apply(removal(&after)).await;
        refused(guarded(&subject, &alice(), since).await, &[ErrorKind::Conflict]);
    }
    let since = version(&subject).await;
    guarded(&subject, &alice(), since).await.expect("nothing changed since");
}

/// Episodes, summaries and blocks come and go without holding a write back.
pub async fn an_episode_holds_nothing_back(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "an_episode_holds_nothing_back") {
        return;
    }
    let subject = Subject::bound(store).await;
    let since = version(&subject).await;
    for kind in OTHER {
        let memory = add_kind(&subject, &alice(), kind).await;
        subject.apply(removal(&memory)).await;
    }
    guarded(&subject, &alice(), since).await.expect("no semantic memory changed");
}

/// What strangers do holds nothing back.
pub async fn a_stranger_holds_nothing_back(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "a_stranger_holds_nothing_back") {
        return;
    }
    let subject = Subject::bound(store).await;
    let since = version(&subject).await;
    let memory = subject.add(&bob(), "theirs", X).await;
    subject.apply(removal(&memory)).await;
    guarded(&subject, &alice(), since).await.expect("only a stranger's memory changed");
}

/// A guard of the user's scope sees all sessions; a guard of one session does not see another.
pub async fn a_guard_sees_what_its_scope_covers(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "a_guard_sees_what_its_scope_covers") {
        return;
    }
    let subject = Subject::bound(store).await;
    let (first, second) = (alice().with_session("1"), alice().with_session("2"));
    let since = version(&subject).await;
    subject.add(&first, "said in a session", X).await;
    refused(guarded(&subject, &second.across_sessions(), since).await, &[ErrorKind::Conflict]);
    guarded(&subject, &second, since).await.expect("the other session did not change");
}

/// The whole scope being forgotten holds the write back; a recall does not.
pub async fn delete_all_is_a_change_and_a_recall_is_none(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "delete_all_is_a_change_and_a_recall_is_none") {
        return;
    }
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    let since = version(&subject).await;
    subject.store.record_access(&alice(), &[memory.id], at(50)).await.expect("recording an access");
    guarded(&subject, &alice(), since).await.expect("a recall is no change");
    let since = version(&subject).await;
    subject.store.delete_all(&alice(), &super::subject::stamp(at(60))).await.expect("deleting all");
    refused(guarded(&subject, &alice(), since).await, &[ErrorKind::Conflict]);
}

/// A guard with a bad scope is refused like any other call with one.
pub async fn a_guard_needs_a_scope(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "a_guard_needs_a_scope") {
        return;
    }
    let subject = Subject::bound(store).await;
    let memory = subject.memory(&alice(), "one");
    let put = crate::Put::new(memory, vec![crate::IndexKey::new("one", X.to_vec())]);
    let unchanged = Some(Unchanged::new(Scope::user(" "), Version(0)));
    let batch = WriteBatch { puts: vec![put], unchanged, ..WriteBatch::default() };
    refused(subject.store.apply(batch).await, &[ErrorKind::InvalidArgument]);
    assert!(subject.all(&alice()).await.is_empty());
}

/// Of several writers that planned from the same version, one gets through.
pub async fn of_guarded_writers_one_gets_through(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "of_guarded_writers_one_gets_through") {
        return;
    }
    let subject = Subject::bound(store).await;
    let since = version(&subject).await;
    let tasks: Vec<_> = (0..6)
        .map(|number| {
            let memory = subject.memory(&alice(), &format!("plan {number}"));
            let put = crate::Put::new(memory, vec![crate::IndexKey::new("plan", X.to_vec())]);
            let unchanged = Some(Unchanged::new(alice(), since));
            let batch = WriteBatch { puts: vec![put], unchanged, ..WriteBatch::default() };
            let store = subject.store.clone();
            tokio::spawn(async move { store.apply(batch).await })
        })
        .collect();
    let mut through = 0;
    for task in tasks {
        match task.await.expect("a writer") {
            Ok(_) => through += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
    assert_eq!((through, subject.all(&alice()).await.len()), (1, 1));
}
