use std::sync::Arc;

use super::subject::{
    Subject, X, added, alice, at, bob, declared, deleted, refused, removal, replacement, rewritten, stamp,
};
use crate::{ErrorKind, IndexKey, Put, Scope, Unchanged, VectorStore, WriteBatch};

/// Purging all takes what the scope covers and every event of what it ever covered, and nothing else; the scope can be
/// used again.
pub async fn a_purge_leaves_no_trace(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let session = alice().with_session("1");
    let gone = subject.add(&session, "zebra one", X).await;
    subject.apply(removal(&gone)).await;
    let kept = subject.add(&session, "zebra two", X).await;
    let mut ended = subject.memory(&alice(), "zebra three");
    ended.invalid_at = Some(ended.valid_at);
    subject.store_one(&ended, X).await;
    let theirs = subject.add(&bob().with_session("1"), "zebra of another", X).await;
    let purged = subject.store.purge_all(&alice()).await.expect("purging");
    assert_eq!((purged.memories, purged.events), (2, 4));
    assert!(subject.all(&alice()).await.is_empty());
    assert!(subject.words(&alice(), "zebra", 10).await.is_empty());
    for memory in [&gone, &kept, &ended] {
        assert!(subject.history(&alice(), memory.id).await.is_empty());
        assert!(subject.keys(&alice(), memory.id).await.is_empty());
    }
    assert_eq!(subject.all(&bob()).await, std::slice::from_ref(&theirs));
    assert_eq!(subject.history(&bob(), theirs.id).await, [added(&theirs)]);
    assert_eq!(subject.words(&bob(), "zebra", 10).await.len(), 1);
    let again = subject.store.purge_all(&alice()).await.expect("purging nothing");
    assert_eq!((again.memories, again.events), (0, 0));
    subject.add(&alice(), "zebra anew", X).await;
    assert_eq!(subject.words(&alice(), "zebra", 10).await.len(), 1);
}

/// A narrower scope purges only what it covers, of histories as well.
pub async fn a_purge_keeps_to_its_scope(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let (first, second) = (alice().with_session("1"), alice().with_session("2"));
    let of_first = subject.add(&first, "first", X).await;
    let gone = subject.add(&second, "gone", X).await;
    subject.apply(removal(&gone)).await;
    let of_second = subject.add(&second, "second", X).await;
    subject.store.purge_all(&first).await.expect("purging a session");
    assert_eq!(subject.all(&alice()).await, [of_second]);
    assert!(subject.history(&alice(), of_first.id).await.is_empty());
    assert_eq!(subject.history(&alice(), gone.id).await.len(), 2);
    refused(subject.store.purge_all(&Scope::user(" ")).await, &[ErrorKind::InvalidArgument]);
    assert_eq!(subject.all(&alice()).await.len(), 1);
}

/// The earlier events of a memory are erased with the batch, whether it is there, goes with it, or had gone; events of the
/// batch stay. Unknown ones are passed over, and nothing is erased by a batch that fails.
pub async fn a_history_is_erased_with_its_batch(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let before = subject.add(&alice(), "one", X).await;
    let after = rewritten(&before, "changed");
    subject.apply(replacement(&before, &after, None)).await;
    let gone = subject.add(&alice(), "gone", X).await;
    subject.apply(removal(&gone)).await;
    let goes = subject.add(&alice(), "goes", X).await;
    let other = subject.add(&alice(), "other", X).await;
    let unknown = subject.memory(&alice(), "never stored").id;

    let erase_history = vec![before.id, gone.id, goes.id, unknown];
    let batch = WriteBatch { erase_history, deletes: vec![goes.id], ..WriteBatch::default() };
    let failing = WriteBatch { deletes: vec![goes.id, unknown], ..batch.clone() };
    refused(subject.store.apply(failing).await, &[ErrorKind::Conflict]);
    assert_eq!(subject.history(&alice(), before.id).await.len(), 2);
    assert_eq!(subject.history(&alice(), gone.id).await.len(), 2);

    let event = deleted(&gone, at(90));
    subject.apply(WriteBatch { events: vec![event.clone()], ..batch }).await;
    assert!(subject.history(&alice(), before.id).await.is_empty());
    assert!(subject.history(&alice(), goes.id).await.is_empty());
    assert_eq!(subject.history(&alice(), gone.id).await, [event]);
    assert_eq!(subject.history(&alice(), other.id).await.len(), 1);
    assert_eq!(subject.all(&alice()).await, [after, other]);
    let batch = WriteBatch { erase_history: vec![gone.id], ..WriteBatch::default() };
    assert!(!batch.is_empty());
    subject.apply(batch).await;
    assert!(subject.history(&alice(), gone.id).await.is_empty());
}

/// What was planned before a purge is held back by it, and turns are counted anew.
pub async fn a_purge_holds_planned_writes_back(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "a_purge_holds_planned_writes_back") {
        return;
    }
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "planned from", X).await;
    let since = subject.store.version().await.expect("the version");
    subject.store.purge_all(&alice()).await.expect("purging");
    assert!(subject.store.version().await.expect("the version") > since);
    // Also once the store has been written to again.
    for word in ["at once", "later"] {
        let new = subject.memory(&alice(), word);
        let batch = WriteBatch {
            puts: vec![Put::new(new.clone(), vec![IndexKey::new(word, X.to_vec())])],
            unchanged: Some(Unchanged::new(alice(), since)),
            ..WriteBatch::default()
        };
        refused(subject.store.apply(batch).await, &[ErrorKind::Conflict]);
        let change = replacement(&memory, &rewritten(&memory, "changed"), None);
        refused(subject.store.apply(change).await, &[ErrorKind::Conflict]);
        subject.add(&bob(), "of another", X).await;
    }
    let since = subject.store.version().await.expect("the version");
    let new = subject.memory(&alice(), "after");
    let batch = WriteBatch {
        puts: vec![Put::new(new, vec![IndexKey::new("after", X.to_vec())])],
        unchanged: Some(Unchanged::new(alice(), since)),
        ..WriteBatch::default()
    };
    subject.apply(batch).await;
}

/// Scrubbing changes nothing that can be read, and may be repeated.
pub async fn a_scrub_changes_nothing(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let kept = subject.add_many(&alice(), "note", 20, X).await;
    subject.add_many(&bob(), "note", 20, X).await;
    subject.store.delete_all(&bob(), &stamp(at(100))).await.expect("deleting all");
    for _ in 0..2 {
        subject.store.scrub().await.expect("scrubbing");
        assert_eq!(subject.all(&alice()).await, kept);
        assert_eq!(subject.words(&alice(), "note", 100).await.len(), 20);
        assert_eq!(subject.history(&alice(), kept[0].id).await, [added(&kept[0])]);
    }
    subject.add(&alice(), "after", X).await;
    assert_eq!(subject.words(&alice(), "after", 10).await.len(), 1);
}
