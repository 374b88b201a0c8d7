use std::sync::Arc;

use super::subject::{
    Subject, X, added, alice, at, bob, deleted, refused, removal, replacement, rewritten, stamp, updated,
};
use crate::{Actor, CallId, ErrorKind, EventKind, HistoryEvent, Scope, Stamp, VectorStore, WriteBatch};

/// The whole story of a memory is there, oldest first, also after it was removed.
pub async fn the_story_outlives_the_memory(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let lyon = subject.add(&alice(), "Lives in Lyon", X).await;
    let nantes = rewritten(&lyon, "Lives in Nantes");
    subject.apply(replacement(&lyon, &nantes, None)).await;
    subject.apply(removal(&nantes)).await;
    let story = [added(&lyon), updated(&lyon, &nantes), deleted(&nantes, at(900_000))];
    let told = subject.history(&alice(), lyon.id).await;
    assert!(told.iter().zip(&story).all(|(told, event)| told.stamp.at == event.stamp.at));
    let parts = |event: &HistoryEvent| (event.kind, event.old_text.clone(), event.new_text.clone());
    assert_eq!(told.iter().map(parts).collect::<Vec<_>>(), story.iter().map(parts).collect::<Vec<_>>());
}

/// Events come back as they were given: texts, times, actor, call and reason.
pub async fn events_come_back_as_given(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.memory(&alice().with_session("1"), "x");
    let actors = [Actor::App, Actor::Rules, Actor::Model, Actor::Agent, Actor::Maintenance];
    let kinds = [EventKind::Add, EventKind::Update, EventKind::Supersede, EventKind::Delete];
    let texts = [None, Some(String::new()), Some("café\r\n".to_owned()), Some("👨‍👩‍👧‍👦 \u{1}".to_owned())];
    let mut events = Vec::new();
    for (number, actor) in actors.into_iter().enumerate() {
        let mut stamp = Stamp::new(at(10), actor, CallId::from_bytes([number as u8; 16]));
        if number % 2 == 0 {
            stamp = stamp.because(["", "said again", "ум \" ' %"][number / 2]);
        }
        let (old, new) = (texts[number % 4].clone(), texts[(number + 1) % 4].clone());
        events.push(HistoryEvent::new(memory.id, memory.scope.clone(), kinds[number % 4], old, new, stamp));
    }
    let key = crate::IndexKey::new("x", X.to_vec());
    let puts = vec![crate::Put::new(memory.clone(), vec![key])];
    subject.apply(WriteBatch { puts, events: events.clone(), ..WriteBatch::default() }).await;
    assert_eq!(subject.history(&alice(), memory.id).await, events, "equal times keep the order of writing");
}

/// Events are those of the asked memory alone; a memory without any has an empty history.
pub async fn each_memory_has_its_own_history(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let first = subject.memory(&alice(), "first");
    let second = subject.memory(&alice(), "second");
    let key = || vec![crate::IndexKey::new("x", X.to_vec())];
    subject.store_all(vec![(first.clone(), key()), (second.clone(), key())]).await;
    for memory in [&first, &second] {
        let told = subject.history(&alice(), memory.id).await;
        assert_eq!(told.iter().map(|event| event.new_text.as_deref()).collect::<Vec<_>>(), [Some(&*memory.text)]);
    }
    assert!(subject.history(&alice(), subject.memory(&alice(), "never stored").id).await.is_empty());
}

/// A stranger, or another session, sees no history, neither before nor after the removal; the user's scope does.
pub async fn history_stays_in_its_scope(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let home = alice().with_session("1");
    let memory = subject.add(&home, "mine", X).await;
    for removed in [false, true] {
        if removed {
            subject.apply(removal(&memory)).await;
        }
        for reader in [bob(), alice().with_session("2"), home.clone().with_agent("x")] {
            assert!(subject.history(&reader, memory.id).await.is_empty(), "{reader:?}");
        }
        for reader in [alice(), home.clone()] {
            assert_eq!(subject.history(&reader, memory.id).await.len(), 1 + usize::from(removed), "{reader:?}");
        }
    }
}

/// Events may be written without a change of a memory, and then there is history and no memory.
pub async fn events_may_stand_alone(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    let event = HistoryEvent::new(memory.id, alice(), EventKind::Update, None, None, stamp(at(5)).because("checked"));
    subject.apply(WriteBatch { events: vec![event.clone()], ..WriteBatch::default() }).await;
    assert_eq!(subject.history(&alice(), memory.id).await.last(), Some(&event));
    assert_eq!(subject.all(&alice()).await, [memory]);
}

/// What was removed is told by id, page by page, in its scope, for as long as there is a history of it.
pub async fn what_was_removed_is_told(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let session = alice().with_session("1");
    let mut gone = Vec::new();
    for scope in [&alice(), &session, &alice(), &session, &bob()] {
        gone.push(subject.add(scope, "gone", X).await);
        subject.add(scope, "kept", X).await;
    }
    for memory in &gone {
        subject.apply(removal(memory)).await;
    }
    let ids = |picked: &[usize]| picked.iter().map(|place| gone[*place].id).collect::<Vec<_>>();
    let removed =
        async |scope: &Scope, after, limit| subject.store.removed(scope, after, limit).await.expect("removed");
    assert_eq!(removed(&alice(), None, 100).await, ids(&[0, 1, 2, 3]));
    assert_eq!(removed(&session, None, 100).await, ids(&[1, 3]));
    assert_eq!(removed(&bob(), None, 100).await, ids(&[4]));
    assert_eq!(removed(&alice(), None, 2).await, ids(&[0, 1]));
    assert_eq!(removed(&alice(), Some(gone[1].id), 2).await, ids(&[2, 3]));
    assert_eq!(removed(&alice(), Some(gone[3].id), 2).await, []);
    // One that is back is not removed, and one without a history was never there.
    subject.store_one(&gone[0], X).await;
    subject.apply(WriteBatch { erase_history: ids(&[1]), ..WriteBatch::default() }).await;
    assert_eq!(removed(&alice(), None, 100).await, ids(&[2, 3]));
    refused(subject.store.removed(&Scope::user(" "), None, 10).await, &[ErrorKind::InvalidArgument]);
}
