use std::sync::Arc;

use super::subject::{Numbers, Subject, alice, always, at, ends, refused};
use crate::{Direction, ErrorKind, GraphBatch, GraphQuery, GraphStore, Relation};

/// A relation holds from its first instant to just before its last; one of unknown beginning until its end; one whose
/// two instants are one never.
pub async fn world_time_is_half_open(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let ada = subject.add(&alice(), "Ada").await;
    let add = async |from: Option<i64>, until: Option<i64>| {
        let mut relation = subject.relation(&alice(), &ada, "is", &ada);
        (relation.valid_at, relation.invalid_at) = (from.map(at), until.map(at));
        subject.put(&[], &[&relation]).await;
        relation.id
    };
    let both = add(Some(10), Some(20)).await;
    let begins = add(Some(10), None).await;
    let ended = add(None, Some(20)).await;
    let ever = add(None, None).await;
    let never = add(Some(15), Some(15)).await;
    let micro = chrono::Duration::microseconds(1);
    for (instant, expected) in [
        (at(10) - micro, vec![ended, ever]),
        (at(10), vec![both, begins, ended, ever]),
        (at(15), vec![both, begins, ended, ever]),
        (at(20) - micro, vec![both, begins, ended, ever]),
        (at(20), vec![begins, ever]),
    ] {
        let seen: Vec<_> =
            subject.seen(&alice(), &GraphQuery::at(instant)).await.iter().map(|relation| relation.id).collect();
        assert_eq!(seen, expected, "{instant}");
    }
    assert!(subject.seen(&alice(), &always()).await.iter().any(|relation| relation.id == never));
}

/// Who asks what was believed before an end was learned of sees the relation open, also after that end; who asks
/// later sees it ended, for every instant of the world. Nothing that was believed is lost.
pub async fn an_end_learned_later_changes_no_earlier_belief(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (anna, acme) = (subject.add(&alice(), "Anna").await, subject.add(&alice(), "Acme").await);
    // Told at 1,000: she works there, since 100. Learned at 2,000: she left at 500.
    let mut works = subject.relation(&alice(), &anna, "works at", &acme);
    (works.valid_at, works.created_at) = (Some(at(100)), at(1_000));
    subject.put(&[], &[&works]).await;
    let mut batch = GraphBatch::default();
    let successor = subject.relation_id();
    batch.invalidate(&works, successor, at(500), at(2_000));
    subject.apply(batch).await;

    let open = Relation { expired_at: Some(at(2_000)), ..works.clone() };
    let ended = Relation { id: successor, invalid_at: Some(at(500)), created_at: at(2_000), ..works.clone() };
    for (valid, known, expected) in [
        (99, 1_500, None),
        (100, 999, None),
        (300, 1_000, Some(&open)),
        (700, 1_500, Some(&open)),
        (700, 1_999, Some(&open)),
        (700, 2_000, None),
        (300, 2_000, Some(&ended)),
        (499, 9_000, Some(&ended)),
        (500, 9_000, None),
        (99, 9_000, None),
    ] {
        let query = GraphQuery::at(at(valid)).known_at(at(known));
        let expected: Vec<Relation> = expected.into_iter().cloned().collect();
        assert_eq!(subject.seen(&alice(), &query).await, expected, "what was believed at {known} of {valid}");
        let reached = subject.walk(&alice(), &[&anna], 2, Direction::Both, &query).await;
        assert_eq!(reached.len(), expected.len());
    }
    assert_eq!(subject.seen(&alice(), &GraphQuery::at(at(300))).await, std::slice::from_ref(&ended));
    assert_eq!(subject.seen(&alice(), &GraphQuery::at(at(700))).await, []);
    assert_eq!(subject.seen(&alice(), &always()).await, std::slice::from_ref(&ended));
    // It may be corrected again, and withdrawn.
    let mut batch = GraphBatch::default();
    batch.invalidate(&ended, subject.relation_id(), at(600), at(3_000));
    subject.apply(batch).await;
    let held = async |query: GraphQuery| subject.seen(&alice(), &query).await.len();
    assert_eq!((held(GraphQuery::at(at(550))).await, held(GraphQuery::at(at(550)).known_at(at(2_500))).await), (1, 0));
    assert_eq!(held(GraphQuery::at(at(550)).known_at(at(1_500))).await, 1);
    let last = subject.seen(&alice(), &always()).await.remove(0);
    let mut batch = GraphBatch::default();
    batch.expire(&last, at(4_000));
    subject.apply(batch).await;
    assert_eq!((held(always()).await, held(always().known_at(at(3_999))).await), (0, 1));
    assert_eq!(subject.counts(&alice()).await, (2, 3));
    assert_eq!(ends(&subject.walk(&alice(), &[&anna], 1, Direction::Both, &always()).await), []);
}

/// Of several that end one relation, one gets through; the others hear of the conflict, and nothing of theirs is kept.
pub async fn a_relation_is_ended_once(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (anna, acme) = (subject.add(&alice(), "Anna").await, subject.add(&alice(), "Acme").await);
    for round in 0..5 {
        let works = subject.relate(&anna, &format!("works {round}"), &acme).await;
        let tasks: Vec<_> = (0..4)
            .map(|writer| {
                let mut batch = GraphBatch::default();
                batch.invalidate(&works, subject.relation_id(), at(500 + writer), at(2_000 + writer));
                let store = subject.store.clone();
                tokio::spawn(async move { store.apply_graph(&batch).await.map(|()| writer) })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            match task.await.expect("a writer") {
                Ok(writer) => winners.push(writer),
                Err(error) => drop(refused::<()>(Err(error), &[ErrorKind::Conflict])),
            }
        }
        assert_eq!(winners.len(), 1);
        let seen = subject.seen(&alice(), &always()).await;
        let ended: Vec<_> = seen.iter().filter(|relation| relation.predicate == works.predicate).collect();
        assert_eq!((ended.len(), ended[0].invalid_at), (1, Some(at(500 + winners[0]))));
    }
}

/// Whatever is learned in whatever order, every pair of instants shows what a diary of all beliefs would show.
pub async fn both_axes_are_exact(store: Arc<dyn GraphStore>) {
    /// From when a belief about one predicate was held, and the stretch of the world it was about, if any.
    type Belief = (i64, Option<(Option<i64>, Option<i64>)>);
    let subject = Subject::new(store);
    let ada = subject.add(&alice(), "Ada").await;
    let mut numbers = Numbers::new(11);
    let mut diary: Vec<(String, Vec<Belief>)> = Vec::new();
    let small = |numbers: &mut Numbers, end: usize| i64::try_from(numbers.below(end)).expect("a small number");
    for number in 0..25 {
        let predicate = format!("predicate {number}");
        let from = (numbers.below(3) > 0).then(|| small(&mut numbers, 50));
        let mut now = 1_000 + small(&mut numbers, 50);
        let mut relation = subject.relation(&alice(), &ada, &predicate, &ada);
        (relation.valid_at, relation.created_at) = (from.map(at), at(now));
        subject.put(&[], &[&relation]).await;
        let mut beliefs: Vec<Belief> = vec![(now, Some((from, None)))];
        for _ in 0..numbers.below(4) {
            now += 1 + small(&mut numbers, 30);
            let until = from.unwrap_or(0) + small(&mut numbers, 50);
            let mut batch = GraphBatch::default();
            let successor = subject.relation_id();
            batch.invalidate(&relation, successor, at(until), at(now));
            relation = relation.invalidated(successor, at(until), at(now)).1;
            subject.apply(batch).await;
            beliefs.push((now, Some((from, Some(until)))));
        }
        if numbers.below(4) == 0 {
            now += 1 + small(&mut numbers, 30);
            let mut batch = GraphBatch::default();
            batch.expire(&relation, at(now));
            subject.apply(batch).await;
            beliefs.push((now, None));
        }
        diary.push((predicate, beliefs));
    }
    for _ in 0..120 {
        let (valid, known) = (small(&mut numbers, 110), 990 + small(&mut numbers, 180));
        let held = |beliefs: &[Belief]| {
            let last = beliefs.iter().rev().find(|(since, _)| *since <= known);
            last.and_then(|(_, belief)| *belief).is_some_and(|(from, until)| {
                from.is_none_or(|from| from <= valid) && until.is_none_or(|until| valid < until)
            })
        };
        let expected: Vec<&str> =
            diary.iter().filter(|(_, beliefs)| held(beliefs)).map(|(predicate, _)| predicate.as_str()).collect();
        let seen = subject.seen(&alice(), &GraphQuery::at(at(valid)).known_at(at(known))).await;
        let mut seen: Vec<&str> = seen.iter().map(|relation| relation.predicate.as_str()).collect();
        seen.sort_by_key(|predicate| diary.iter().position(|(known, _)| known == predicate));
        assert_eq!(seen, expected, "what was believed at {known} of {valid}");
    }
}
