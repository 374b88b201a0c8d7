use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use super::subject::{Subject, alice, always, ends};
use crate::{Direction, Entity, GraphBatch, GraphStore, Scope};

/// Writers at once lose nothing: every entity and relation is there, found and walked.
pub async fn writers_at_once_lose_nothing(store: Arc<dyn GraphStore>) {
    let subject = Arc::new(Subject::new(store));
    let hub = subject.add(&alice(), "hub").await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (subject, hub) = (subject.clone(), hub.clone());
            tokio::spawn(async move {
                for step in 0..15 {
                    let entity = subject.entity(&alice(), &format!("task{task}step{step}"));
                    let relation = subject.relation(&alice(), &hub, "has", &entity);
                    subject.put(&[&entity], &[&relation]).await;
                    let reached = subject.walk(&alice(), &[&entity], 1, Direction::In, &always()).await;
                    assert_eq!(ends(&reached), [hub.id], "a write is seen by its writer");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a writer");
    }
    assert_eq!(subject.counts(&alice()).await, (121, 120));
    assert_eq!(subject.walk(&alice(), &[&hub], 1, Direction::Out, &always()).await.len(), 120);
    assert_eq!(subject.find(&alice(), "task3step7", 1).await[0].0.name, "task3step7");
}

/// Readers beside a writer see each batch whole: the names of its two entities always agree, and there is always one
/// relation between them.
pub async fn readers_see_whole_batches(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut pair = [subject.entity(&alice(), "0"), subject.entity(&alice(), "0")];
    let mut between = subject.relation(&alice(), &pair[0], "is beside", &pair[1]);
    subject.put(&pair.each_ref(), &[&between]).await;
    let store = subject.store.clone();
    let ids = pair.each_ref().map(|entity| entity.id);
    let reader = tokio::spawn(async move {
        let mut torn = 0;
        loop {
            let entities = store.list_entities(&alice(), None, 10).await.expect("listing").items;
            torn += usize::from(entities[0].name != entities[1].name);
            torn += usize::from(store.list_relations(&alice(), &always(), None, 10).await.expect("listing").total != 1);
            let reached = store.neighbours(&alice(), &ids[..1], 2, Direction::Both, &always()).await.expect("walking");
            torn += usize::from(reached.len() != 1);
            if entities[0].name == "30" {
                return torn;
            }
            tokio::task::yield_now().await;
        }
    });
    for round in 1..=30 {
        for entity in &mut pair {
            entity.name = round.to_string();
        }
        let mut batch = GraphBatch { entities: pair.to_vec(), ..GraphBatch::default() };
        let next = subject.relation(&alice(), &pair[0], "is beside", &pair[1]);
        batch.expire(&between, next.created_at);
        batch.relations.push(next.clone());
        subject.apply(batch).await;
        between = next;
    }
    assert_eq!(reader.await.expect("a reader"), 0, "batches that were seen half");
}

/// A write whose future is dropped, wherever it stood, happens whole or not at all, and the store works on.
pub async fn a_dropped_write_is_whole_or_nothing(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    for polls in 0..10 {
        let scope = Scope::user(format!("dropped after {polls}"));
        let old = subject.add(&scope, "old").await;
        let entities: Vec<Entity> = (0..4).map(|number| subject.entity(&scope, &format!("new {number}"))).collect();
        let relations = entities.windows(2).map(|pair| subject.relation(&scope, &pair[0], "next", &pair[1])).collect();
        let removed = vec![old.id];
        let batch = GraphBatch { entities, relations, remove_entities: removed, ..GraphBatch::default() };
        {
            let mut write = pin!(subject.store.apply_graph(&batch));
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
        // It may still be under way: the state must be one of the two, and stay what it came to.
        let (before, after) = ((1, 0), (4, 3));
        let mut counts = subject.counts(&scope).await;
        for _ in 0..10 {
            assert!(counts == before || counts == after, "after {polls} polls: {counts:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
            counts = subject.counts(&scope).await;
        }
        if polls == 0 {
            assert_eq!(counts, before, "a future that was never polled does nothing");
        }
        subject.add(&scope, "next").await;
        assert_eq!(subject.find(&scope, "next", 1).await.len(), 1);
    }
}
