use std::sync::Arc;

use chrono::Duration;
use serde_json::json;

use super::subject::{Subject, alice, always, at};
use crate::{Entity, EntityId, GraphStore, MemoryId, Relation, Timestamp};

/// Texts that a careless store would read as something else, cut off, or change.
pub(super) const HOSTILE: [&str; 14] = [
    "a`}) SET n.role='root' //",
    "' OR 1=1 //",
    "Rita'); MATCH (n) DETACH DELETE n; //",
    "'; DROP TABLE entities; --",
    "\"tea\"",
    "a\0b",
    "\\",
    "…",
    "  padded  ",
    "%_*?[a-z]",
    "👩‍👩‍👧‍👦🇧🇷",
    "e\u{301} and é",
    "شكراً\u{200f}",
    "line\r\nline\u{2028}line",
];

/// Everything an entity holds comes back, byte for byte.
pub async fn every_field_of_an_entity_comes_back(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entity = subject.entity(&alice().with_agent("a").with_session("s"), "Müller & Söhne");
    entity.aliases = vec!["Müller".to_owned(), "M&S".to_owned(), "Müller".to_owned()];
    entity.entity_type = Some("City/State".to_owned());
    entity.summary = Some(String::new());
    let metadata = json!({"a": [1, 2.5, null, {"b": "\u{0}"}], "": true, "n": u64::MAX});
    entity.metadata = metadata.as_object().cloned().expect("an object");
    entity.merged_into = Some(EntityId::from_bytes([9; 16]));
    entity.updated_at = at(77) + Duration::microseconds(123_456);
    let plain = subject.entity(&alice(), "plain");
    subject.put(&[&entity, &plain], &[]).await;
    assert_eq!(subject.get(&alice(), entity.id).await, Some(entity));
    assert_eq!(subject.get(&alice(), plain.id).await, Some(plain));
}

/// Everything a relation holds comes back, byte for byte, sources in their order.
pub async fn every_field_of_a_relation_comes_back(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (subject_, object) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let mut full = subject.relation(&alice().with_session("s"), &subject_, "erfüllt_ISO-Vorgaben_für", &object);
    (full.subject_name, full.object_name) = (Some("A\u{0}d".to_owned()), Some(String::new()));
    full.single_valued = true;
    full.valid_at = Some(at(-50));
    full.invalid_at = Some(at(50) + Duration::microseconds(1));
    full.expired_at = Some(at(60));
    full.seen_at = vec![at(-20), at(7) + Duration::microseconds(9)];
    full.sources = [3, 1, 2, 1].map(|number| MemoryId::from_bytes([number; 16])).to_vec();
    let mut at_the_ends = subject.relation(&alice(), &subject_, "包含……和……", &object);
    at_the_ends.fact = String::new();
    at_the_ends.valid_at = Some(kept(Timestamp::MIN_UTC));
    at_the_ends.invalid_at = Some(kept(Timestamp::MAX_UTC));
    subject.put(&[], &[&full, &at_the_ends]).await;
    assert_eq!(subject.everything(&alice()).await.1, [full, at_the_ends]);
}

/// The instant with what stores keep of it.
fn kept(at: Timestamp) -> Timestamp {
    Timestamp::from_timestamp_micros(at.timestamp_micros()).expect("an instant of the calendar")
}

/// Times finer than a microsecond are cut to it, in whatever was stored and in whatever is asked.
pub async fn times_come_back_to_the_microsecond(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (nanos, micros) = (Duration::nanoseconds(7_654_321), Duration::microseconds(7_654));
    let mut entity = subject.entity(&alice(), "Ada");
    (entity.created_at, entity.updated_at) = (at(1) + nanos, at(2) + nanos);
    let mut relation = subject.relation(&alice(), &entity, "is", &entity);
    (relation.valid_at, relation.invalid_at) = (Some(at(3) + nanos), Some(at(4) + nanos));
    (relation.created_at, relation.expired_at) = (at(5) + nanos, Some(at(6) + nanos));
    subject.put(&[&entity], &[&relation]).await;
    // As it was given: the same again is no change.
    subject.put(&[&entity], &[&relation]).await;
    let stored = subject.get(&alice(), entity.id).await.expect("the entity");
    assert_eq!((stored.created_at, stored.updated_at), (at(1) + micros, at(2) + micros));
    let asked = always().known_at(at(5) + nanos);
    let stored = subject.seen(&alice(), &asked).await.pop().expect("the relation");
    assert_eq!((stored.valid_at, stored.invalid_at), (Some(at(3) + micros), Some(at(4) + micros)));
    assert_eq!((stored.created_at, stored.expired_at), (at(5) + micros, Some(at(6) + micros)));
}

/// Names, predicates and facts are data: hostile ones come back, are found and walked, and harm nothing beside them.
pub async fn all_text_is_data(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let (ada, ben) = (subject.add(&alice(), "Ada").await, subject.add(&alice(), "Ben").await);
    let knows = subject.relate(&ada, "KNOWS", &ben).await;
    let named: Vec<Entity> = HOSTILE.iter().map(|text| subject.entity(&alice(), text)).collect();
    let mut relations: Vec<Relation> = Vec::new();
    for (text, pair) in HOSTILE.iter().zip(named.windows(2)) {
        let mut relation = subject.relation(&alice(), &pair[0], text, &pair[1]);
        relation.fact = format!("{text}{text}");
        relations.push(relation);
    }
    subject.put(&named.iter().collect::<Vec<_>>(), &relations.iter().collect::<Vec<_>>()).await;
    let (entities, stored) = subject.everything(&alice()).await;
    assert_eq!(entities, [&[ada, ben][..], &named].concat());
    assert_eq!(stored, [&[knows][..], &relations].concat());
    for entity in &named {
        let found = subject.find(&alice(), &entity.name, 1).await;
        assert_eq!(found, [(entity.clone(), 1.0)], "{:?}", entity.name);
    }
    for text in HOSTILE {
        let other = crate::Scope::user("u").with_agent("a");
        assert_eq!(subject.find(&other, text, 10).await, []);
    }
    assert_eq!(subject.counts(&alice()).await, (16, 14));
}

/// A name or fact of a megabyte comes back and is found.
pub async fn long_text_comes_back(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let long = "Ж word ".repeat(100_000);
    let entity = subject.entity(&alice(), &long);
    let mut relation = subject.relation(&alice(), &entity, &long, &entity);
    relation.fact.clone_from(&long);
    subject.put(&[&entity], &[&relation]).await;
    assert_eq!(subject.find(&alice(), &long, 5).await, [(entity.clone(), 1.0)]);
    assert_eq!(subject.everything(&alice()).await, (vec![entity], vec![relation]));
}

/// Entities come in the order they were asked for; those not there are left out.
pub async fn entities_come_in_the_order_asked_for(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut added = Vec::new();
    for name in ["a", "b", "c"] {
        added.push(subject.add(&alice(), name).await);
    }
    let unknown = subject.entity(&alice(), "unknown");
    let asked = [added[2].id, unknown.id, added[0].id, added[1].id];
    let found = subject.store.entities(&alice(), &asked).await.expect("reading entities");
    assert_eq!(found, [added[2].clone(), added[0].clone(), added[1].clone()]);
    assert_eq!(subject.store.entities(&alice(), &[]).await.expect("reading no entity"), []);
    let many: Vec<_> = (0..3_000).map(|number| added[number % 3].id).collect();
    assert_eq!(subject.store.entities(&alice(), &many).await.expect("reading many").len(), 3_000);
}
