use std::sync::Arc;

use super::subject::{Subject, alice, always, bob, ends, ids, refused};
use crate::{Direction, Entity, ErrorKind, GraphBatch, GraphStore, MemoryId, Relation, Scope};

/// Scopes that every call refuses.
pub(super) fn bad_scopes() -> Vec<Scope> {
    vec![
        Scope::from_parts(None, None, None),
        Scope::user(""),
        Scope::user("\u{2003}"),
        Scope::user("a\0b"),
        Scope::agent("x".repeat(1_025)),
        Scope::user("fine").with_session(" "),
    ]
}

/// A bad scope is refused by every call, whatever else it asks.
pub async fn bad_scopes_are_refused_everywhere(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let ada = subject.add(&alice(), "Ada").await;
    let store = &subject.store;
    let invalid = [ErrorKind::InvalidArgument];
    for bad in bad_scopes() {
        refused(store.entities(&bad, &[]).await, &invalid);
        refused(store.find_entities(&bad, "Ada", 1).await, &invalid);
        refused(store.list_entities(&bad, None, 1).await, &invalid);
        refused(store.list_relations(&bad, &always(), None, 1).await, &invalid);
        refused(store.relations_of(&bad, &[]).await, &invalid);
        refused(store.neighbours(&bad, &[ada.id], 1, Direction::Both, &always()).await, &invalid);
        refused(store.path(&bad, ada.id, ada.id, 1, &always()).await, &invalid);
        refused(store.graph_counts(&bad).await, &invalid);
        refused(store.delete_graph(&bad).await, &invalid);
    }
    assert_eq!(subject.counts(&alice()).await, (1, 0));
}

/// A little graph of its own in each scope: two entities and a relation that rests on one memory, the same for all.
async fn settle(subject: &Subject, scopes: &[Scope]) -> Vec<(Entity, Entity, Relation)> {
    let mut settled = Vec::new();
    for scope in scopes {
        let (a, b) = (subject.entity(scope, "Ada"), subject.entity(scope, "Ben"));
        let mut knows = subject.relation(scope, &a, "knows", &b);
        knows.sources = vec![MemoryId::from_bytes([9; 16])];
        subject.put(&[&a, &b], &[&knows]).await;
        settled.push((a, b, knows));
    }
    settled
}

/// Names that a careless store takes for one another, or for a pattern.
fn tricky() -> Vec<Scope> {
    vec![
        alice(),
        Scope::user("Alice"),
        Scope::user("alice "),
        Scope::user("al%"),
        Scope::user("' OR '1'='1"),
        Scope::agent("alice"),
        Scope::session("alice"),
        alice().with_session("s"),
        alice().with_agent("a"),
        alice().with_agent("a").with_session("s"),
        bob().with_session("s"),
        Scope::agent("a").with_session("s"),
    ]
}

/// Every read sees what its scope covers, and nothing else, by whatever id it asks.
pub async fn a_reader_sees_its_own(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let settled = settle(&subject, &tricky()).await;
    let every: Vec<_> = settled.iter().flat_map(|(a, b, _)| [a.id, b.id]).collect();
    for reader in tricky().into_iter().chain([Scope::session("s"), Scope::agent("a"), Scope::user("nobody")]) {
        let own: Vec<_> = settled.iter().filter(|(a, ..)| reader.covers(&a.scope)).collect();
        let entities: Vec<Entity> = own.iter().flat_map(|(a, b, _)| [a.clone(), b.clone()]).collect();
        let relations: Vec<Relation> = own.iter().map(|(.., knows)| knows.clone()).collect();
        let store = &subject.store;
        assert_eq!(store.entities(&reader, &every).await.expect("reading"), entities, "{reader:?}");
        assert_eq!(subject.everything(&reader).await, (entities.clone(), relations.clone()), "{reader:?}");
        let found = store.relations_of(&reader, &[MemoryId::from_bytes([9; 16])]).await.expect("reading");
        assert_eq!(found, relations, "{reader:?}");
        let counts = (entities.len() as u64, relations.len() as u64);
        assert_eq!(subject.counts(&reader).await, counts, "{reader:?}");
        let named = subject.find(&reader, "Ada", 100).await;
        assert!(named.iter().map(|(entity, _)| entity).eq(own.iter().map(|(a, ..)| a)), "{reader:?}");
        for (a, b, knows) in &settled {
            let reached = subject.walk(&reader, &[a], 1, Direction::Both, &always()).await;
            let path = store.path(&reader, b.id, a.id, 1, &always()).await.expect("looking for a path");
            let expected = if relations.contains(knows) { vec![b.id] } else { vec![] };
            assert_eq!((ends(&reached), path.is_some()), (expected, relations.contains(knows)), "{reader:?}");
        }
    }
}

/// A user's entities may have relations of single sessions: each session walks its own, the user all of them.
pub async fn a_session_walks_its_own_relations(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [a, b, c] = ["a", "b", "c"].map(|name| subject.entity(&alice(), name));
    let (one, two) = (alice().with_session("1"), alice().with_session("2"));
    let told = [
        subject.relation(&one, &a, "knows", &b),
        subject.relation(&two, &b, "knows", &c),
        subject.relation(&two, &a, "likes", &b),
    ];
    subject.put(&[&a, &b, &c], &told.each_ref()).await;
    for (reader, expected) in [
        (alice(), vec![&b, &c]),
        (one, vec![&b]),
        (Scope::session("1"), vec![&b]),
        (two, vec![&b, &c]),
        (Scope::session("2"), vec![&b, &c]),
        (Scope::session("3"), vec![]),
        (bob(), vec![]),
    ] {
        let reached = subject.walk(&reader, &[&a], 3, Direction::Out, &always()).await;
        assert_eq!(ends(&reached), ids(&expected), "{reader:?}");
        assert!(reached.iter().flat_map(|path| &path.relations).all(|relation| reader.covers(&relation.scope)));
        let path = subject.store.path(&reader, a.id, c.id, 8, &always()).await.expect("looking for a path");
        assert_eq!(path.is_some(), expected.len() == 2, "{reader:?}");
    }
}

/// All of mine goes, of whatever narrower scope, and nothing of others; and can be told anew.
pub async fn delete_graph_takes_what_its_scope_covers(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let scopes = tricky();
    let settled = settle(&subject, &scopes).await;
    let mut left: Vec<&Scope> = scopes.iter().collect();
    for reader in [alice().with_session("s"), Scope::agent("a"), alice(), Scope::user("nobody"), Scope::session("s")] {
        let gone = left.iter().filter(|scope| reader.covers(scope)).count() as u64;
        left.retain(|scope| !reader.covers(scope));
        let deleted = subject.store.delete_graph(&reader).await.expect("deleting the graph");
        assert_eq!(deleted, (2 * gone, gone), "{reader:?}");
        assert_eq!(subject.store.delete_graph(&reader).await.expect("deleting it again"), (0, 0));
        assert_eq!(subject.find(&reader, "Ada", 10).await, []);
        for (scope, (a, b, knows)) in scopes.iter().zip(&settled) {
            let there = left.contains(&scope);
            assert_eq!(subject.get(scope, a.id).await.is_some(), there, "{scope:?} after {reader:?}");
            assert_eq!(subject.seen(scope, &always()).await.contains(knows), there);
            let reached = subject.walk(scope, &[b], 1, Direction::In, &always()).await;
            assert_eq!(reached.len(), usize::from(there));
            let named = subject.find(scope, "Ada", 100).await;
            assert_eq!(named.iter().any(|(entity, _)| entity == a), there);
        }
    }
    let (a, b, knows) = &settled[0];
    subject.put(&[a, b], &[knows]).await;
    assert_eq!(subject.counts(&alice()).await, (2, 1));
    // A session's relations alone go, where the entities are the user's.
    let told = subject.relation(&alice().with_session("s"), a, "likes", b);
    subject.apply(GraphBatch { relations: vec![told], ..GraphBatch::default() }).await;
    let deleted = subject.store.delete_graph(&Scope::session("s")).await.expect("deleting a session");
    assert_eq!((deleted, subject.counts(&alice()).await), ((0, 1), (2, 1)));
}
