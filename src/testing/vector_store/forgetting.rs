use std::sync::Arc;

use super::subject::{Subject, X, alice, at, bob, now, query, stamp};
use crate::{Actor, EventKind, HistoryEvent, Scope, VectorStore};

/// Deleting all takes every memory of the scope, and nothing else; the scope can be used again.
pub async fn all_of_mine_and_nothing_else(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let bulk = Scope::user("bulk");
    subject.add_many(&bulk, "Note", 250, X).await;
    let kept = subject.add_many(&Scope::user("other"), "Note", 5, X).await;
    assert_eq!(subject.store.delete_all(&bulk, &stamp(at(5_000))).await.expect("deleting all"), 250);
    assert_eq!(subject.store.count(&bulk, None, now()).await.expect("counting"), 0);
    for ask in [query(&bulk), query(&bulk).near(X.to_vec()), query(&bulk).words("Note")] {
        assert!(subject.search(ask).await.is_empty());
    }
    assert_eq!(subject.store.delete_all(&bulk, &stamp(at(5_001))).await.expect("deleting nothing"), 0);
    assert_eq!(subject.all(&Scope::user("other")).await, kept);
    subject.add(&bulk, "Note 251", X).await;
    assert_eq!(subject.all(&bulk).await.len(), 1);
    assert_eq!(subject.words(&bulk, "Note", 10).await.len(), 1);
}

/// What no longer holds goes too.
pub async fn what_has_ended_goes_too(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "open", X).await;
    let mut ended = subject.memory(&alice(), "ended");
    ended.invalid_at = Some(at(1));
    subject.store_one(&ended, X).await;
    let mut expired = subject.memory(&alice(), "expired");
    expired.expires_at = Some(at(1));
    subject.store_one(&expired, X).await;
    assert_eq!(subject.store.delete_all(&alice(), &stamp(at(100))).await.expect("deleting all"), 3);
    assert!(subject.all(&alice()).await.is_empty());
}

/// A narrower scope takes only what it covers.
pub async fn a_session_takes_its_own_only(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let (first, second) = (alice().with_session("1"), alice().with_session("2"));
    subject.add_many(&first, "first", 3, X).await;
    let second_notes = subject.add_many(&second, "second", 2, X).await;
    let plain = subject.add(&alice(), "plain", X).await;
    let theirs = subject.add(&bob().with_session("1"), "theirs", X).await;
    assert_eq!(subject.store.delete_all(&first, &stamp(at(100))).await.expect("deleting a session"), 3);
    assert_eq!(subject.all(&alice()).await, [second_notes, vec![plain]].concat());
    assert_eq!(subject.all(&Scope::session("1")).await, [theirs]);
}

/// Each removed memory gets a Delete event with its text and the given stamp; its earlier history stays.
pub async fn each_gets_a_delete_event(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let session = alice().with_session("1");
    let memories = [subject.add(&session, "one", X).await, subject.add(&alice(), "two", X).await];
    let mut stamp = stamp(at(77)).because("asked to forget");
    stamp.actor = Actor::Agent;
    subject.store.delete_all(&alice(), &stamp).await.expect("deleting all");
    for memory in &memories {
        let told = subject.history(&alice(), memory.id).await;
        let (scope, text) = (memory.scope.clone(), Some(memory.text.clone()));
        let event = HistoryEvent::new(memory.id, scope, EventKind::Delete, text, None, stamp.clone());
        assert_eq!(told.len(), 2);
        assert_eq!(told.last(), Some(&event));
    }
    let version = subject.store.version().await.expect("the version");
    assert_eq!(subject.store.delete_all(&alice(), &stamp).await.expect("deleting nothing"), 0);
    assert_eq!(subject.history(&alice(), memories[0].id).await.len(), 2, "no event for what was gone");
    assert!(subject.store.version().await.expect("the version") >= version);
}

/// A recall counts, and is told with its time; revision, update time, history and the others stay.
pub async fn a_recall_counts_and_changes_nothing_else(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "recalled", X).await;
    let other = subject.add(&alice(), "not recalled", X).await;
    subject.store.record_access(&alice(), &[memory.id], at(50)).await.expect("recording an access");
    subject.store.record_access(&alice(), &[memory.id], at(60)).await.expect("recording an access");
    // Recorded late: it counts, and the last recall stays the last.
    subject.store.record_access(&alice(), &[memory.id], at(40)).await.expect("recording an access");
    let mut expected = memory.clone();
    expected.access_count = 3;
    expected.accessed_at = Some(at(60));
    assert_eq!(subject.all(&alice()).await, [expected.clone(), other]);
    assert_eq!(subject.get(&alice(), memory.id).await, Some(expected.clone()));
    assert_eq!(subject.near(&alice(), X, 2).await[1].memory, expected);
    assert_eq!(subject.history(&alice(), memory.id).await.len(), 1);
    // The revision did not change, so a write that was planned before the recall goes through.
    let after = super::subject::rewritten(&memory, "changed");
    subject.apply(super::subject::replacement(&memory, &after, None)).await;
}

/// Ids that are unknown, or a stranger's, are passed over, and the known ones beside them count.
pub async fn a_recall_passes_over_the_unknown(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mine = subject.add(&alice(), "mine", X).await;
    let theirs = subject.add(&bob(), "theirs", X).await;
    let unknown = subject.memory(&alice(), "never stored").id;
    let ids = [unknown, theirs.id, mine.id];
    subject.store.record_access(&alice(), &ids, at(50)).await.expect("recording accesses");
    subject.store.record_access(&alice(), &[], at(51)).await.expect("recording none");
    assert_eq!(subject.all(&bob()).await, [theirs]);
    assert_eq!(subject.all(&alice()).await[0].access_count, 1);
}
