use std::sync::Arc;

use super::subject::{Subject, alice, always, at, bob, refused};
use crate::{Cursor, Entity, ErrorKind, GraphBatch, GraphQuery, GraphStore, MemoryId, Relation, Scope};

async fn walk_entities(subject: &Subject, scope: &Scope, limit: usize) -> Vec<Entity> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = subject.store.list_entities(scope, after.as_ref(), limit).await.expect("listing entities");
        assert!(page.items.len() <= limit);
        all.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

async fn walk_relations(subject: &Subject, scope: &Scope, query: &GraphQuery, limit: usize) -> (Vec<Relation>, u64) {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        // By its text form, as a web client hands it back.
        let page = subject.store.list_relations(scope, query, after.as_ref(), limit).await.expect("listing relations");
        assert!(page.items.len() <= limit);
        all.extend(page.items);
        match page.next {
            Some(next) => after = Some(Cursor::from_text(next.as_str())),
            None => return (all, page.total),
        }
    }
}

/// Walking the pages meets everything once, by id, and every page tells the total.
pub async fn pages_hold_everything_once(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let entities: Vec<Entity> = (0..23).map(|number| subject.entity(&alice(), &number.to_string())).collect();
    let relations: Vec<Relation> =
        entities.windows(2).map(|pair| subject.relation(&alice(), &pair[0], "next", &pair[1])).collect();
    // Stored in another order than that of the ids.
    let mut batch = GraphBatch { entities: entities.clone(), relations: relations.clone(), ..GraphBatch::default() };
    batch.entities.reverse();
    batch.relations.reverse();
    subject.apply(batch).await;
    for limit in [1, 2, 10, 22, 23, 100] {
        assert_eq!(walk_entities(&subject, &alice(), limit).await, entities);
        assert_eq!(walk_relations(&subject, &alice(), &always(), limit).await, (relations.clone(), 22));
    }
    let page = subject.store.list_entities(&alice(), None, 10).await.expect("listing entities");
    assert_eq!((page.total, page.items.len(), page.next.is_some()), (23, 10, true));
    let page = subject.store.list_entities(&bob(), None, 10).await.expect("listing nothing");
    assert_eq!((page.total, page.items.len(), page.next), (0, 0, None));
}

/// A walk through the pages goes on where it was, whatever is written meanwhile.
pub async fn a_walk_through_the_pages_survives_writes(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entities = Vec::new();
    for number in 0..9 {
        entities.push(subject.add(&alice(), &number.to_string()).await);
    }
    let first = subject.store.list_entities(&alice(), None, 3).await.expect("the first page");
    assert_eq!(first.items, entities[..3]);
    let gone = vec![entities[1].id, entities[2].id, entities[5].id];
    subject.apply(GraphBatch { remove_entities: gone, ..GraphBatch::default() }).await;
    let new = subject.add(&alice(), "new").await;
    let rest = subject.store.list_entities(&alice(), first.next.as_ref(), 100).await.expect("the rest");
    let expected = [&entities[3..5], &entities[6..], &[new]].concat();
    assert_eq!((rest.items, rest.total), (expected, 7));
}

/// A list of relations holds what its query sees, on both axes of time, and its total is that of the query.
pub async fn relations_are_listed_by_time(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let ada = subject.add(&alice(), "Ada").await;
    let mut relations = Vec::new();
    for (valid, invalid, expired) in [(None, None, None), (Some(10), Some(20), None), (Some(15), None, Some(500))] {
        let mut relation = subject.relation(&alice(), &ada, "is", &ada);
        relation.valid_at = valid.map(at);
        relation.invalid_at = invalid.map(at);
        relation.expired_at = expired.map(at);
        relations.push(relation);
    }
    subject.put(&[], &relations.iter().collect::<Vec<_>>()).await;
    let queries = [
        (always(), vec![0, 1]),
        (GraphQuery::at(at(5)), vec![0]),
        (GraphQuery::at(at(10)), vec![0, 1]),
        (GraphQuery::at(at(20)), vec![0]),
        (always().known_at(at(400)), vec![0, 1, 2]),
        (GraphQuery::at(at(16)).known_at(at(400)), vec![0, 1, 2]),
        (GraphQuery::at(at(30)).known_at(at(400)), vec![0, 2]),
        (always().known_at(at(500)), vec![0, 1]),
        (always().known_at(at(-1)), vec![]),
        // Not a matter of lists.
        (always().limit(1), vec![0, 1]),
    ];
    for (query, expected) in queries {
        let expected: Vec<Relation> = expected.into_iter().map(|number: usize| relations[number].clone()).collect();
        let total = expected.len() as u64;
        assert_eq!(walk_relations(&subject, &alice(), &query, 2).await, (expected, total), "{query:?}");
    }
}

/// A cursor that is none, and a limit of 0, are refused.
pub async fn a_bad_page_is_refused(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    subject.add(&alice(), "Ada").await;
    let invalid = [ErrorKind::InvalidArgument];
    refused(subject.store.list_entities(&alice(), None, 0).await, &invalid);
    refused(subject.store.list_relations(&alice(), &always(), None, 0).await, &invalid);
    for bad in ["", "7", "'; --", "00000000-0000-0000-0000-00000000000g", "💥"] {
        let cursor = Cursor::from_text(bad);
        refused(subject.store.list_entities(&alice(), Some(&cursor), 5).await, &invalid);
        refused(subject.store.list_relations(&alice(), &always(), Some(&cursor), 5).await, &invalid);
    }
}

/// Relations are found by any memory they rest on, each once, also when they ended or expired; a change of sources is
/// followed.
pub async fn relations_are_found_by_their_sources(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let memory = |number: u8| MemoryId::from_bytes([number; 16]);
    let ada = subject.add(&alice(), "Ada").await;
    let of_bob = subject.add(&bob(), "Bob").await;
    let mut relations = Vec::new();
    for (sources, ended, expired) in
        [(vec![1], false, false), (vec![2, 1], true, false), (vec![2, 3, 3], false, true), (vec![], false, false)]
    {
        let mut relation = subject.relation(&alice(), &ada, "is", &ada);
        relation.sources = sources.into_iter().map(memory).collect();
        relation.invalid_at = ended.then(|| at(50));
        relation.expired_at = expired.then(|| at(60));
        relations.push(relation);
    }
    let mut theirs = subject.relation(&bob(), &of_bob, "is", &of_bob);
    theirs.sources = vec![memory(1)];
    subject.put(&[], &relations.iter().chain([&theirs]).collect::<Vec<_>>()).await;
    let cases = [
        (vec![1], vec![0, 1]),
        (vec![2], vec![1, 2]),
        (vec![3], vec![2]),
        (vec![3, 2, 1, 1], vec![0, 1, 2]),
        (vec![4], vec![]),
        (vec![], vec![]),
    ];
    let found = async |scope: &Scope, asked: &[u8]| {
        let asked: Vec<MemoryId> = asked.iter().copied().map(memory).collect();
        subject.store.relations_of(scope, &asked).await.expect("reading relations by their sources")
    };
    for (asked, expected) in cases {
        let expected: Vec<Relation> = expected.into_iter().map(|number: usize| relations[number].clone()).collect();
        assert_eq!(found(&alice(), &asked).await, expected, "{asked:?}");
    }
    assert_eq!(found(&bob(), &[1, 2, 3]).await, [theirs]);
    relations[1].sources = vec![memory(4)];
    subject.put(&[], &[&relations[1]]).await;
    assert_eq!(found(&alice(), &[1]).await, relations[..1]);
    assert_eq!(found(&alice(), &[4]).await, relations[1..2]);
    subject.apply(GraphBatch { remove_relations: vec![relations[1].id], ..GraphBatch::default() }).await;
    assert_eq!(found(&alice(), &[4]).await, []);
}

/// Relations of all scopes come by id, page after page, also those that are believed no longer.
pub async fn relations_of_everyone_come_by_id(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut all: Vec<Relation> = Vec::new();
    for scope in [alice(), bob(), Scope::agent("helper"), alice().with_session("1")] {
        let (from, to) = (subject.entity(&scope, "From"), subject.entity(&scope, "To"));
        let mut relation = subject.relation(&scope, &from, "leads_to", &to);
        relation.sources = vec![MemoryId::new(at(1))];
        subject.put(&[&from, &to], &[&relation]).await;
        all.push(relation);
    }
    all[1].expired_at = Some(at(500));
    subject.put(&[], &[&all[1]]).await;
    for limit in [1, 2, 3, 4, 100] {
        let (mut found, mut after): (Vec<Relation>, _) = (Vec::new(), None);
        loop {
            let page = subject.store.relations_of_everyone(after, limit).await.expect("relations of everyone");
            assert!(page.len() <= limit);
            after = page.last().map(|last| last.id);
            let is_last = page.len() < limit;
            found.extend(page);
            if is_last {
                break;
            }
        }
        assert_eq!(found, all);
    }
}
