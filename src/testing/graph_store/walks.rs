use std::sync::Arc;

use super::subject::{Subject, alice, always, at, ends, ids, refused};
use crate::{Direction, Entity, ErrorKind, GraphBatch, GraphQuery, GraphStore, Path, Relation};

/// A chain a → b → c → d → e → …, of so many entities.
async fn chain(subject: &Subject, count: usize) -> (Vec<Entity>, Vec<Relation>) {
    let entities: Vec<Entity> = (0..count).map(|number| subject.entity(&alice(), &number.to_string())).collect();
    let relations: Vec<Relation> =
        entities.windows(2).map(|pair| subject.relation(&alice(), &pair[0], "next", &pair[1])).collect();
    let batch = GraphBatch { entities: entities.clone(), relations: relations.clone(), ..GraphBatch::default() };
    subject.apply(batch).await;
    (entities, relations)
}

/// A walk reaches what its depth allows, nearest first, and tells the relations it went by.
pub async fn a_walk_goes_as_deep_as_asked(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (entities, relations) = chain(&subject, 7).await;
    for depth in 1..=4 {
        let reached = subject.walk(&alice(), &[&entities[0]], depth, Direction::Out, &always()).await;
        let path = |steps: usize| Path::new(entities[steps].id, relations[..steps].to_vec());
        assert_eq!(reached, (1..=depth).map(path).collect::<Vec<_>>());
    }
    for depth in [0, 5, usize::MAX] {
        let walk = subject.store.neighbours(&alice(), &[entities[0].id], depth, Direction::Both, &always()).await;
        refused(walk, &[ErrorKind::InvalidArgument]);
    }
}

/// Relations are followed along the direction asked for.
pub async fn a_walk_keeps_its_direction(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (entities, relations) = chain(&subject, 5).await;
    let walk = async |direction| subject.walk(&alice(), &[&entities[2]], 4, direction, &always()).await;
    assert_eq!(ends(&walk(Direction::Out).await), ids(&[&entities[3], &entities[4]]));
    assert_eq!(ends(&walk(Direction::In).await), ids(&[&entities[1], &entities[0]]));
    let both = walk(Direction::Both).await;
    // The newer relation first: the one that leads on.
    assert_eq!(ends(&both), ids(&[&entities[3], &entities[1], &entities[4], &entities[0]]));
    assert_eq!(both[3].relations, [relations[1].clone(), relations[0].clone()]);
}

/// The relations at entities are told one entity after the other, the newer first, parallels and loops too, each once.
pub async fn relations_are_found_at_their_ends(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [a, b, c] =
        [subject.add(&alice(), "a").await, subject.add(&alice(), "b").await, subject.add(&alice(), "c").await];
    let first = subject.relate(&a, "knows", &b).await;
    let parallel = subject.relate(&a, "knows", &b).await;
    let to_itself = subject.relate(&a, "is", &a).await;
    let back = subject.relate(&b, "knows", &a).await;
    let on = subject.relate(&b, "knows", &c).await;
    let mut past = subject.relation(&alice(), &a, "knew", &c);
    (past.invalid_at, past.expired_at) = (Some(past.created_at), Some(past.created_at));
    subject.put(&[], &[&past]).await;
    let found = async |entities: &[&Entity], direction, query: &GraphQuery| {
        let found = subject.store.relations_at(&alice(), &ids(entities), direction, query).await.expect("relations");
        found.into_iter().map(|relation| relation.id).collect::<Vec<_>>()
    };
    assert_eq!(found(&[&a], Direction::Both, &always()).await, [back.id, to_itself.id, parallel.id, first.id]);
    assert_eq!(found(&[&a], Direction::Out, &always()).await, [to_itself.id, parallel.id, first.id]);
    assert_eq!(found(&[&a], Direction::In, &always()).await, [back.id, to_itself.id]);
    let of_both = found(&[&b, &a], Direction::Both, &always()).await;
    assert_eq!(of_both, [on.id, back.id, parallel.id, first.id, to_itself.id]);
    assert_eq!(found(&[&c, &a], Direction::Both, &always().limit(1)).await, [on.id, back.id], "of each");
    assert_eq!(found(&[&a], Direction::Out, &always().expired_too()).await[0], past.id);
    assert_eq!(found(&[&a], Direction::Out, &GraphQuery::at(past.created_at)).await.len(), 3);
    assert_eq!(found(&[], Direction::Both, &always()).await, []);
    assert_eq!(found(&[&a], Direction::Both, &always().limit(0)).await, []);
}

/// Each end comes once, by a shortest path, whatever circles, parallels and loops there are; where the walk began is no
/// end.
pub async fn each_end_comes_once(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [a, b, c] =
        [subject.add(&alice(), "a").await, subject.add(&alice(), "b").await, subject.add(&alice(), "c").await];
    let first = subject.relate(&a, "knows", &b).await;
    subject.relate(&b, "knows", &a).await;
    let newest_to_b = subject.relate(&a, "likes", &b).await;
    let on = subject.relate(&b, "knows", &c).await;
    subject.relate(&c, "knows", &a).await;
    subject.relate(&a, "is", &a).await;
    subject.relate(&b, "is", &b).await;
    let out = subject.walk(&alice(), &[&a], 4, Direction::Out, &always()).await;
    let expected = [Path::new(b.id, vec![newest_to_b.clone()]), Path::new(c.id, vec![newest_to_b, on])];
    assert_eq!(out, expected);
    let both = subject.walk(&alice(), &[&a], 4, Direction::Both, &always()).await;
    assert_eq!(ends(&both), ids(&[&c, &b]));
    assert!(both.iter().all(|path| path.relations.len() == 1));
    // From several, in the order given, none of which is an end.
    let from = subject.walk(&alice(), &[&b, &a, &b], 4, Direction::Both, &always()).await;
    assert_eq!(ends(&from), ids(&[&c]));
    assert_eq!(subject.walk(&alice(), &[&a, &b, &c], 4, Direction::Both, &always()).await, []);
    assert_eq!(subject.walk(&alice(), &[], 4, Direction::Both, &always()).await, []);
    let unknown = subject.entity(&alice(), "unknown");
    assert_eq!(subject.walk(&alice(), &[&unknown], 4, Direction::Both, &always()).await, []);
    assert!(first.id < both[0].relations[0].id);
}

/// A limit keeps what comes first: the nearest, and of these the newest.
pub async fn a_limit_keeps_the_near_and_new(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let hub = subject.entity(&alice(), "hub");
    let spokes: Vec<Entity> = (0..300).map(|number| subject.entity(&alice(), &format!("spoke {number}"))).collect();
    let far = subject.entity(&alice(), "far");
    let mut relations: Vec<Relation> =
        spokes.iter().map(|spoke| subject.relation(&alice(), &hub, "has", spoke)).collect();
    relations.push(subject.relation(&alice(), &spokes[299], "knows", &far));
    let entities: Vec<Entity> = [&[hub.clone(), far.clone()][..], &spokes].concat();
    subject.apply(GraphBatch { entities, relations, ..GraphBatch::default() }).await;
    for (limit, count) in [(0, 0), (1, 1), (7, 7), (300, 300), (301, 301), (5_000, 301)] {
        let reached = subject.walk(&alice(), &[&hub], 2, Direction::Both, &always().limit(limit)).await;
        assert_eq!(reached.len(), count, "at most {limit}");
        let expected: Vec<_> = spokes.iter().rev().chain([&far]).take(count).map(|entity| entity.id).collect();
        assert_eq!(ends(&reached), expected);
    }
}

/// A walk follows only what its query sees.
pub async fn a_walk_keeps_to_its_time(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [a, b, c] =
        [subject.add(&alice(), "a").await, subject.add(&alice(), "b").await, subject.add(&alice(), "c").await];
    let mut held = subject.relation(&alice(), &a, "was near", &b);
    (held.valid_at, held.invalid_at) = (Some(at(100)), Some(at(200)));
    let mut on = subject.relation(&alice(), &b, "was near", &c);
    on.expired_at = Some(at(500));
    subject.put(&[], &[&held, &on]).await;
    for (query, expected) in [
        (always(), vec![b.id]),
        (always().known_at(at(400)), vec![b.id, c.id]),
        (crate::GraphQuery::at(at(99)).known_at(at(400)), vec![]),
        (crate::GraphQuery::at(at(100)).known_at(at(400)), vec![b.id, c.id]),
        (crate::GraphQuery::at(at(200)), vec![]),
        (always().known_at(at(2)), vec![]),
    ] {
        assert_eq!(ends(&subject.walk(&alice(), &[&a], 4, Direction::Both, &query).await), expected, "{query:?}");
        let path = subject.store.path(&alice(), a.id, c.id, 8, &query).await.expect("looking for a path");
        assert_eq!(path.is_some(), expected.len() == 2, "{query:?}");
    }
}

/// A path is a shortest one, either way along the relations, and none where none is short enough.
pub async fn a_path_is_a_shortest_one(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (entities, relations) = chain(&subject, 11).await;
    let path = async |from: usize, to: usize, depth: usize| {
        let (from, to) = (entities[from].id, entities[to].id);
        subject.store.path(&alice(), from, to, depth, &always().limit(1)).await.expect("looking for a path")
    };
    assert_eq!(path(0, 8, 8).await, Some(Path::new(entities[8].id, relations[..8].to_vec())));
    let back: Vec<Relation> = relations[2..5].iter().rev().cloned().collect();
    assert_eq!(path(5, 2, 3).await, Some(Path::new(entities[2].id, back)));
    assert_eq!((path(5, 2, 2).await, path(0, 9, 8).await), (None, None));
    assert_eq!(path(3, 3, 1).await, Some(Path::new(entities[3].id, Vec::new())));
    let short = subject.relate(&entities[9], "knows", &entities[1]).await;
    let expected = vec![relations[0].clone(), short, relations[9].clone()];
    assert_eq!(path(0, 10, 8).await, Some(Path::new(entities[10].id, expected)));
    let alone = subject.add(&alice(), "alone").await;
    for (from, to) in
        [(alone.id, entities[0].id), (entities[0].id, alone.id), (alone.id, subject.entity(&alice(), "x").id)]
    {
        assert_eq!(subject.store.path(&alice(), from, to, 8, &always()).await.expect("no path"), None);
    }
    for depth in [0, 9, usize::MAX] {
        let refusal = subject.store.path(&alice(), entities[0].id, entities[1].id, depth, &always()).await;
        refused(refusal, &[ErrorKind::InvalidArgument]);
    }
}
