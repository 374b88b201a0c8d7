use std::sync::Arc;

use serde_json::json;

use super::subject::{Everything, Subject, alice, always, at, bob, ids, refused};
use crate::{Direction, Entity, ErrorKind, GraphBatch, GraphStore, Relation, Scope};

/// An entity stored again, under its id, is replaced; its relations stay.
pub async fn an_entity_is_replaced_by_id(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let knows = subject.relate(&ada, "knows", &ben).await;
    let mut changed = ada.clone();
    changed.name = "Ada Lima".to_owned();
    changed.summary = Some("A pilot.".to_owned());
    changed.updated_at = at(500);
    subject.put(&[&changed], &[]).await;
    assert_eq!(subject.everything(&alice()).await, (vec![changed.clone(), ben], vec![knows]));
    let bare = Entity { summary: None, ..changed };
    subject.put(&[&bare], &[]).await;
    assert_eq!(subject.get(&alice(), ada.id).await, Some(bare));
}

/// Neither an entity nor a relation is moved to another scope, or overwritten from there.
pub async fn nobody_overwrites_what_is_of_others(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let knows = subject.relate(&ada, "knows", &ben).await;
    let before = subject.everything(&alice()).await;
    for scope in [bob(), alice().with_session("s"), Scope::agent("alice"), Scope::session("alice")] {
        let stolen = Entity { name: "Stolen".to_owned(), scope: scope.clone(), ..ada.clone() };
        let batch = GraphBatch { entities: vec![stolen], ..GraphBatch::default() };
        refused(subject.store.apply_graph(&batch).await, &[ErrorKind::InvalidArgument]);
        // With ends that are there for the thief.
        let ends = [subject.entity(&scope, "x"), subject.entity(&scope, "y")];
        let mut stolen = Relation { scope: scope.clone(), ..knows.clone() };
        (stolen.subject, stolen.object) = (ends[0].id, ends[1].id);
        let batch = GraphBatch { entities: ends.to_vec(), relations: vec![stolen], ..GraphBatch::default() };
        refused(subject.store.apply_graph(&batch).await, &[ErrorKind::InvalidArgument]);
    }
    assert_eq!(subject.everything(&alice()).await, before);
    assert_eq!(subject.counts(&bob()).await, (0, 0));
}

/// Both ends of a relation must be there, in a scope that covers the relation's or equals it.
pub async fn a_relation_needs_its_ends(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let session = alice().with_session("s");
    let ada = subject.add(&alice(), "Ada").await;
    let in_session = subject.add(&session, "Ben").await;
    let of_bob = subject.add(&bob(), "Bob").await;
    let missing = subject.entity(&alice(), "Nobody");
    let faults = [
        (alice(), &ada, &missing),
        (alice(), &missing, &ada),
        (alice(), &ada, &of_bob),
        (alice(), &of_bob, &ada),
        (bob(), &ada, &of_bob),
        // The session's entity is narrower than a relation of the user's would be.
        (alice(), &ada, &in_session),
        (alice().with_session("t"), &ada, &in_session),
        (Scope::session("s"), &ada, &in_session),
    ];
    for (scope, from, to) in faults {
        let relations = vec![subject.relation(&scope, from, "knows", to)];
        let batch = GraphBatch { relations, ..GraphBatch::default() };
        refused(subject.store.apply_graph(&batch).await, &[ErrorKind::Conflict]);
    }
    assert_eq!(subject.counts(&alice()).await, (2, 0));
    let new = subject.entity(&alice(), "Cleo");
    let fine = [
        subject.relation(&session, &ada, "knows", &in_session),
        subject.relation(&alice(), &ada, "knows", &new),
        subject.relation(&alice(), &ada, "is", &ada),
    ];
    subject.put(&[&new], &fine.iter().collect::<Vec<_>>()).await;
    assert_eq!(subject.counts(&alice()).await, (3, 3));
}

/// Of a stored relation only the sources may change, and `expired_at`, once.
pub async fn what_was_believed_never_changes(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let mut knows = subject.relation(&alice(), &ada, "knows", &ben);
    knows.valid_at = Some(at(-9));
    subject.put(&[], &[&knows]).await;
    let changes: [fn(&mut Relation); 7] = [
        |relation| relation.predicate = "hates".to_owned(),
        |relation| relation.fact = "Another".to_owned(),
        |relation| std::mem::swap(&mut relation.subject, &mut relation.object),
        |relation| relation.valid_at = None,
        |relation| relation.invalid_at = Some(at(5)),
        |relation| relation.created_at = at(-5),
        |relation| relation.object = relation.subject,
    ];
    for change in changes {
        let mut changed = knows.clone();
        change(&mut changed);
        let batch = GraphBatch { relations: vec![changed], ..GraphBatch::default() };
        refused(subject.store.apply_graph(&batch).await, &[ErrorKind::InvalidArgument]);
        assert_eq!(subject.seen(&alice(), &always()).await, std::slice::from_ref(&knows));
    }
    knows.sources = vec![crate::MemoryId::from_bytes([7; 16])];
    subject.put(&[], &[&knows]).await;
    assert_eq!(subject.seen(&alice(), &always()).await, std::slice::from_ref(&knows));
    let open = knows.clone();
    knows.expired_at = Some(at(900));
    subject.put(&[], &[&knows]).await;
    // Whoever read it open hears that it is not, whatever they make of it.
    let mut late = open.clone();
    late.expired_at = Some(at(901));
    for stale in [open, late] {
        let batch = GraphBatch { relations: vec![stale], ..GraphBatch::default() };
        refused(subject.store.apply_graph(&batch).await, &[ErrorKind::Conflict]);
    }
    subject.put(&[], &[&knows]).await;
    assert_eq!(subject.everything(&alice()).await.1, [knows]);
}

/// An entity goes with every relation that begins or ends there, of whatever narrower scope; others stay.
pub async fn an_entity_takes_its_relations_along(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [ada, ben, cleo] =
        [subject.entity(&alice(), "Ada"), subject.entity(&alice(), "Ben"), { subject.entity(&alice(), "Cleo") }];
    let session = alice().with_session("s");
    let mut expired = subject.relation(&alice(), &cleo, "knew", &ada);
    expired.expired_at = Some(at(800));
    let gone = [
        subject.relation(&alice(), &ada, "knows", &ben),
        subject.relation(&session, &cleo, "knows", &ada),
        subject.relation(&alice(), &ada, "is", &ada),
        expired,
    ];
    let stays = subject.relation(&alice(), &cleo, "knows", &ben);
    let relations: Vec<&Relation> = gone.iter().chain([&stays]).collect();
    subject.put(&[&ada, &ben, &cleo], &relations).await;
    subject.apply(GraphBatch { remove_entities: vec![ada.id], ..GraphBatch::default() }).await;
    assert_eq!(subject.everything(&alice()).await, (vec![ben.clone(), cleo.clone()], vec![stays.clone()]));
    assert_eq!(subject.counts(&alice()).await, (2, 1));
    assert_eq!(subject.find(&alice(), "Ada", 10).await, []);
    let reached = subject.walk(&alice(), &[&ben], 4, Direction::Both, &always()).await;
    assert_eq!(super::subject::ends(&reached), ids(&[&cleo]));
    // And comes back without them.
    subject.put(&[&ada], &[]).await;
    assert_eq!(subject.counts(&alice()).await, (3, 1));
}

/// Relations are removed alone; what is not there is passed over.
pub async fn a_removed_relation_leaves_its_ends(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let (knows, likes) = (subject.relate(&ada, "knows", &ben).await, subject.relate(&ada, "likes", &ben).await);
    let removal = GraphBatch {
        remove_relations: vec![knows.id, subject.relation_id()],
        remove_entities: vec![subject.entity(&alice(), "Nobody").id],
        ..GraphBatch::default()
    };
    subject.apply(removal.clone()).await;
    subject.apply(removal).await;
    assert_eq!(subject.everything(&alice()).await, (vec![ada, ben], vec![likes]));
}

/// A batch may store and remove at once, and be applied again.
pub async fn a_batch_may_do_everything_at_once(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let knows = subject.relate(&ada, "knows", &ben).await;
    let likes = subject.relate(&ada, "likes", &ada).await;
    let cleo = subject.entity(&alice(), "Cleo");
    let sees = subject.relation(&alice(), &cleo, "sees", &ada);
    let mut batch = GraphBatch {
        entities: vec![cleo.clone()],
        relations: vec![sees.clone()],
        remove_relations: vec![likes.id],
        remove_entities: vec![ben.id],
    };
    subject.apply(batch.clone()).await;
    subject.apply(batch.clone()).await;
    let after: Everything = (vec![ada, cleo], vec![sees]);
    assert_eq!(subject.everything(&alice()).await, after);
    batch = GraphBatch::default();
    assert!(batch.is_empty());
    subject.apply(batch).await;
    assert_eq!(subject.everything(&alice()).await, after);
    assert!(after.1.iter().all(|relation| relation.id != knows.id));
}

/// A batch with one fault, wherever it is, changes nothing; without the fault it goes through.
pub async fn a_batch_with_a_fault_changes_nothing(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let [ada, ben, old] = [subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await, {
        subject.add(&alice(), "Old").await
    }];
    let (knows, was) = (subject.relate(&ada, "knows", &ben).await, subject.relate(&ada, "was", &old).await);
    let theirs = subject.add(&bob(), "Bob").await;
    let before = subject.everything(&alice()).await;
    let intended = || {
        let mut changed = ada.clone();
        changed.name = "Intended".to_owned();
        let new = [subject.entity(&alice(), "New"), subject.entity(&alice(), "Newer")];
        let mut relations = vec![subject.relation(&alice(), &new[0], "knows", &new[1])];
        relations.push(subject.relation(&alice(), &ada, "knows", &new[1]));
        let mut batch = GraphBatch { relations, remove_entities: vec![old.id], ..GraphBatch::default() };
        batch.entities.push(changed);
        batch.entities.extend(new);
        batch.invalidate(&knows, subject.relation_id(), at(300), at(400));
        batch
    };
    type Fault<'f> = (&'f str, ErrorKind, Box<dyn Fn(&mut GraphBatch) + Send + Sync + 'f>);
    let invalid = ErrorKind::InvalidArgument;
    let deep = (0..70).fold(json!(1), |inner, _| json!([inner]));
    let mut faults: Vec<Fault<'_>> = vec![
        ("an entity twice", invalid, Box::new(|batch| batch.entities.push(batch.entities[1].clone()))),
        ("a relation twice", invalid, Box::new(|batch| batch.relations.push(batch.relations[0].clone()))),
        ("an entity stored and removed", invalid, Box::new(|batch| batch.remove_entities.push(batch.entities[0].id))),
        ("an entity removed twice", invalid, Box::new(|batch| batch.remove_entities.push(old.id))),
        (
            "a relation stored and removed",
            invalid,
            Box::new(|batch| batch.remove_relations.push(batch.relations[0].id)),
        ),
        ("a relation removed twice", invalid, Box::new(|batch| batch.remove_relations.extend([was.id, was.id]))),
        ("an end that is removed", invalid, Box::new(|batch| batch.relations[1].object = old.id)),
        (
            "metadata too deep",
            invalid,
            Box::new(|batch| {
                batch.entities[2].metadata.insert("deep".to_owned(), deep.clone());
            }),
        ),
        (
            "an end before the beginning",
            invalid,
            Box::new(|batch| {
                (batch.relations[1].valid_at, batch.relations[1].invalid_at) = (Some(at(2)), Some(at(1)));
            }),
        ),
        ("expired before created", invalid, Box::new(|batch| batch.relations[1].expired_at = Some(at(-999)))),
        ("an entity of others", invalid, Box::new(|batch| batch.entities[2].id = theirs.id)),
        ("a relation without its end", ErrorKind::Conflict, Box::new(|batch| batch.relations[1].object = theirs.id)),
    ];
    for blank in ["", " ", "\t\n", "\u{2003}"] {
        faults.push(("a blank name", invalid, Box::new(move |batch| batch.entities[2].name = blank.to_owned())));
        faults.push((
            "a blank alias",
            invalid,
            Box::new(move |batch| batch.entities[2].aliases = vec![blank.to_owned()]),
        ));
        faults.push((
            "a blank predicate",
            invalid,
            Box::new(move |batch| batch.relations[1].predicate = blank.to_owned()),
        ));
    }
    for scope in super::scopes::bad_scopes() {
        let other = scope.clone();
        faults.push(("a bad scope", invalid, Box::new(move |batch| batch.entities[2].scope = scope.clone())));
        faults.push(("a bad scope", invalid, Box::new(move |batch| batch.relations[1].scope = other.clone())));
    }
    for (name, kind, fault) in faults {
        let mut batch = intended();
        fault(&mut batch);
        let error = subject.store.apply_graph(&batch).await.expect_err(name);
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert_eq!(subject.everything(&alice()).await, before, "{name}");
        assert_eq!(subject.find(&alice(), "Intended", 10).await, [], "{name}");
        assert_eq!(subject.find(&alice(), "Ada", 10).await.len(), 1, "{name}");
    }
    subject.apply(intended()).await;
    assert_eq!(subject.counts(&alice()).await, (4, 4));
    assert_eq!(subject.find(&alice(), "Intended", 10).await.len(), 1);
}

/// A batch of thousands is applied whole, and refused whole for its last member.
pub async fn a_large_batch_is_whole(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let entities: Vec<Entity> = (0..700).map(|number| subject.entity(&alice(), &format!("entity {number}"))).collect();
    let relations: Vec<Relation> = (0..2_000)
        .map(|number| subject.relation(&alice(), &entities[number % 700], "next", &entities[(number * 7 + 1) % 700]))
        .collect();
    let batch = GraphBatch { entities, relations, ..GraphBatch::default() };
    let mut faulty = batch.clone();
    faulty.relations[1_999].object = subject.entity(&alice(), "Nobody").id;
    refused(subject.store.apply_graph(&faulty).await, &[ErrorKind::Conflict]);
    assert_eq!(subject.counts(&alice()).await, (0, 0));
    subject.apply(batch.clone()).await;
    assert_eq!(subject.everything(&alice()).await, (batch.entities, batch.relations));
}
