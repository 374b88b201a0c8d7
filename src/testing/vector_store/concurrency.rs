use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use super::subject::{Subject, X, Y, added, alice, declared, removal, replacement, rewritten};
use crate::{ErrorKind, IndexKey, Put, Scope, VectorStore, WriteBatch};

/// Writers at once lose nothing: every memory is there, found, and has its event.
pub async fn writers_at_once_lose_nothing(store: Arc<dyn VectorStore>) {
    let subject = Arc::new(Subject::bound(store).await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let subject = subject.clone();
            tokio::spawn(async move {
                for step in 0..20 {
                    let memory = subject.add(&alice(), &format!("tea task{task}step{step}"), X).await;
                    assert_eq!(subject.get(&alice(), memory.id).await, Some(memory), "a write is seen by its writer");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a writer");
    }
    let memories = subject.all(&alice()).await;
    assert_eq!(memories.len(), 160);
    let mut events = 0;
    for memory in &memories {
        events += subject.history(&alice(), memory.id).await.len();
    }
    assert_eq!(events, 160);
    assert_eq!(subject.words(&alice(), "tea", 1_000).await.len(), 160);
    assert_eq!(subject.near(&alice(), X, 1_000).await.len(), 160);
    assert_eq!(subject.words(&alice(), "task3step17", 1_000).await.len(), 1);
}

/// Of writers that read the same revision, one gets through, and the others hear of the conflict.
pub async fn of_writers_of_a_revision_one_gets_through(store: Arc<dyn VectorStore>) {
    if !declared(&store, "guards", "of_writers_of_a_revision_one_gets_through") {
        return;
    }
    let subject = Subject::bound(store).await;
    for round in 0..5 {
        let before = subject.add(&Scope::user(format!("u{round}")), "before", X).await;
        let tasks: Vec<_> = (0..2)
            .map(|writer| {
                let after = rewritten(&before, &format!("writer {writer}"));
                let keys = vec![IndexKey::new(after.text.clone(), X.to_vec())];
                let (store, batch) = (subject.store.clone(), replacement(&before, &after, Some(keys)));
                tokio::spawn(async move { store.apply(batch).await })
            })
            .collect();
        let mut winners = Vec::new();
        for (writer, task) in tasks.into_iter().enumerate() {
            match task.await.expect("a writer") {
                Ok(_) => winners.push(format!("writer {writer}")),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
        let stored = subject.all(&before.scope).await;
        assert_eq!(winners.len(), 1);
        assert_eq!((&stored[0].text, stored[0].revision), (&winners[0], 2));
        assert_eq!(subject.history(&before.scope, before.id).await.len(), 2);
    }
}

/// Readers beside a writer see each batch whole: its two memories always agree.
pub async fn readers_see_whole_batches(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut pair = [subject.add(&alice(), "0", X).await, subject.add(&alice(), "0", X).await];
    let (store, writer) = (subject.store.clone(), async {
        for round in 1..=30 {
            let next = pair.each_ref().map(|memory| rewritten(memory, &round.to_string()));
            let mut batch = WriteBatch::default();
            for (before, after) in pair.iter().zip(&next) {
                batch.puts.push(Put::change(after.clone(), None, before.revision));
            }
            subject.apply(batch).await;
            pair = next;
        }
    });
    let reader = tokio::spawn(async move {
        let mut torn = 0;
        loop {
            let query = crate::ListQuery::new(alice(), super::subject::now());
            let page = store.list(&query).await.expect("listing");
            torn += usize::from(page.items[0].text != page.items[1].text);
            if page.items[0].text == "30" {
                return torn;
            }
            tokio::task::yield_now().await;
        }
    });
    writer.await;
    assert_eq!(reader.await.expect("a reader"), 0, "batches that were seen half");
}

/// A write whose future is dropped, wherever it stood, happens whole or not at all, and the store works on.
pub async fn a_dropped_write_is_whole_or_nothing(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for polls in 0..12 {
        let scope = Scope::user(format!("dropped after {polls}"));
        let old = subject.add(&scope, "old", X).await;
        let memories: Vec<_> = (0..5).map(|number| subject.memory(&scope, &format!("new {number}"))).collect();
        let mut batch = removal(&old);
        for memory in &memories {
            batch.puts.push(Put::new(memory.clone(), vec![IndexKey::new("new", Y.to_vec())]));
            batch.events.push(added(memory));
        }
        {
            let mut write = pin!(subject.store.apply(batch));
            let mut polled = 0;
            // Dropped before its first poll, or at the first wait after so many.
            poll_fn(|context| {
                if polled == polls {
                    return Poll::Ready(());
                }
                polled += 1;
                write.as_mut().poll(context).map(|_| ())
            })
            .await;
        }
        let state = settled(&subject, &scope).await;
        assert!(state == State::Before || state == State::After, "after {polls} polls: {state:?}");
        if polls == 0 {
            assert_eq!(state, State::Before, "a future that was never polled does nothing");
        }
        for (memory, (count, events)) in [(&old, (1, 2)), (&memories[4], (0, 1))] {
            let expected = if state == State::After { events } else { count };
            assert_eq!(subject.history(&scope, memory.id).await.len(), expected);
        }
        subject.add(&scope, "next", X).await;
        assert_eq!(subject.words(&scope, "next", 10).await.len(), 1);
    }
}

#[derive(Debug, PartialEq)]
enum State {
    Before,
    After,
    Mixed(usize, usize, usize),
}

/// What the scope has come to. A dropped write may still be under way, so reads that disagree are given time.
async fn settled(subject: &Subject, scope: &Scope) -> State {
    let mut state = State::Mixed(0, 0, 0);
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let listed = subject.all(scope).await.len();
        let words = subject.words(scope, "new", 10).await.len();
        let near = subject.near(scope, X, 10).await.len();
        assert!(listed == 1 || listed == 5, "a single read sees the batch whole: {listed}");
        let next = match (listed, words, near) {
            (1, 0, 1) => State::Before,
            (5, 5, 5) => State::After,
            _ => State::Mixed(listed, words, near),
        };
        let same = next == state;
        state = next;
        if same && !matches!(state, State::Mixed(..)) {
            break;
        }
    }
    state
}
