use std::{collections::BTreeSet, sync::Arc};

use super::subject::{Numbers, Subject, alice, bob};
use crate::{Entity, EntityId, GraphBatch, GraphStore, Scope, score::names::Name};

/// Entities by their ids, with the likeness bit for bit.
fn told(found: &[(Entity, f32)]) -> Vec<(EntityId, u32)> {
    found.iter().map(|(entity, likeness)| (entity.id, likeness.to_bits())).collect()
}

/// What should be found, by comparing every name.
fn expected(entities: &[Entity], scope: &Scope, name: &str, limit: usize) -> Vec<(EntityId, u32)> {
    let wanted = Name::of(name);
    let mut all: Vec<(EntityId, f32)> = Vec::new();
    for entity in entities.iter().filter(|entity| scope.covers(&entity.scope)) {
        let names = [&entity.name].into_iter().chain(&entity.aliases);
        let likeness = names.map(|name| Name::of(name).likeness(&wanted)).fold(0.0, f32::max);
        all.push((entity.id, likeness));
    }
    all.retain(|(_, likeness)| *likeness > 0.0);
    all.sort_by(|(left, a), (right, b)| b.total_cmp(a).then(left.cmp(right)));
    all.into_iter().take(limit).map(|(id, likeness)| (id, likeness.to_bits())).collect()
}

/// A name that is equal after case folding, NFKC and trimming is found with likeness 1, before all others, and comes
/// back as it was spelled.
pub async fn an_equal_name_comes_first(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let near = subject.add(&alice(), "KTRA Ltd").await;
    let entity = subject.add(&alice(), "KTRA").await;
    let other = subject.add(&alice(), "KTRB").await;
    for name in ["KTRA", " ktra ", "Ktra\n", "ｋｔｒａ"] {
        let found = subject.find(&alice(), name, 10).await;
        assert_eq!(found[0], (entity.clone(), 1.0), "{name:?}");
        assert_eq!(found[1].0, near);
        assert!(found[1..].iter().all(|(_, likeness)| *likeness < 1.0));
        assert!(found.iter().any(|(found, _)| *found == other), "one letter of four differs");
    }
    let street = subject.add(&alice(), "Große Straße").await;
    assert_eq!(subject.find(&alice(), "GROSSE STRASSE", 1).await, [(street, 1.0)]);
    let accent = subject.add(&alice(), "Inês").await;
    assert_eq!(subject.find(&alice(), "ine\u{302}s", 1).await, [(accent, 1.0)]);
}

/// Entities are found by names that are equal to one of theirs, by many at once, each entity once.
pub async fn equal_names_are_found_at_once(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut ktra = subject.entity(&alice(), "KTRA");
    ktra.aliases = vec!["Große Straße".to_owned()];
    subject.put(&[&ktra], &[]).await;
    subject.add(&alice(), "KTRA Ltd").await;
    let other = subject.add(&alice().with_session("s"), "ktrb").await;
    subject.add(&bob(), "KTRA").await;
    let named = async |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        subject.store.named(&alice(), &names).await.expect("finding by name")
    };
    assert_eq!(
        named(&["KTRB\n", " ktra ", "nobody", "GROSSE STRASSE", "", "KTRA"]).await,
        [ktra.clone(), other.clone()]
    );
    assert_eq!(named(&["KTR", "'; --", "\0", "%"]).await, []);
    assert_eq!(named(&[]).await, []);
    ktra.name = "Renamed".to_owned();
    subject.put(&[&ktra], &[]).await;
    assert_eq!(named(&["KTRA"]).await, [], "names follow every write");
    assert_eq!(named(&["renamed", "ktrb"]).await, [ktra, other]);
}

/// An entity is found by any of its names, once, with the likeness of the likest.
pub async fn aliases_are_names_too(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entity = subject.entity(&alice(), "Elizabeth Bennet");
    entity.aliases = vec!["Lizzy".to_owned(), "Eliza Bennet".to_owned()];
    subject.put(&[&entity], &[]).await;
    for name in ["lizzy", "ELIZA BENNET", "Elizabeth Bennet"] {
        assert_eq!(subject.find(&alice(), name, 10).await, [(entity.clone(), 1.0)], "{name}");
    }
    let found = subject.find(&alice(), "Eliza Benet", 10).await;
    assert_eq!(told(&found), expected(&[entity], &alice(), "Eliza Benet", 10));
    assert!(found[0].1 > 0.7 && found[0].1 < 1.0);
}

/// Likeness is that of [`Name::likeness`] in every store; likest first, equals by id, up to the limit.
pub async fn likeness_is_the_same_everywhere(store: Arc<dyn GraphStore>) {
    const PARTS: [&str; 16] = [
        "Anna",
        "Ana",
        "Müller",
        "Muller",
        "GmbH",
        "Co",
        "&",
        "Łódź",
        "office",
        "Office",
        "东京",
        "东京都",
        "Иван",
        "Иванов",
        "O'Brien",
        "C++",
    ];
    let subject = Subject::new(store);
    let mut numbers = Numbers::new(5);
    let mut name = || {
        let words = 1 + numbers.below(3);
        (0..words).map(|_| PARTS[numbers.below(PARTS.len())]).collect::<Vec<_>>().join(" ")
    };
    let mut entities: Vec<Entity> = Vec::new();
    for number in 0..400 {
        let scope = [alice(), alice().with_session("s"), alice().with_agent("a"), bob()][number % 4].clone();
        let mut entity = subject.entity(&scope, &name());
        entity.aliases = (0..number % 3).map(|_| name()).collect();
        entities.push(entity);
    }
    subject.apply(GraphBatch { entities: entities.clone(), ..GraphBatch::default() }).await;
    let mut most = 0;
    for round in 0..60 {
        let wanted = name();
        let scope = [alice(), Scope::session("s"), Scope::agent("a"), bob()][round % 4].clone();
        for limit in [1, 3, 10, 1_000] {
            let found = subject.find(&scope, &wanted, limit).await;
            assert_eq!(told(&found), expected(&entities, &scope, &wanted, limit), "{wanted} at most {limit}");
            assert!(found.iter().all(|(entity, likeness)| entities.contains(entity) && (0.3..=1.0).contains(likeness)));
            most = most.max(found.len());
        }
    }
    assert!(most > 30, "names were alike: {most}");
}

/// Among thousands of names that are very like it, the equal one is found, and the likest in their order.
pub async fn an_equal_name_is_found_among_thousands(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entities: Vec<Entity> =
        (0..4_000).map(|number| subject.entity(&alice(), &format!("Company of Lisbon {number}"))).collect();
    entities.push(subject.entity(&alice(), "Company of Lisbon"));
    entities.push(subject.entity(&alice(), "company OF lisbon"));
    subject.apply(GraphBatch { entities: entities.clone(), ..GraphBatch::default() }).await;
    let found = subject.find(&alice(), "Company of  Lisbon", 3).await;
    assert_eq!([found[0].clone(), found[1].clone()], [(entities[4_000].clone(), 1.0), (entities[4_001].clone(), 1.0)]);
    for name in ["Company of Lisbon", "Company of Lisbon 39", "Company of Porto 77", "Lisbon"] {
        for limit in [1, 2, 20] {
            let found = subject.find(&alice(), name, limit).await;
            assert_eq!(told(&found), expected(&entities, &alice(), name, limit), "{name} at most {limit}");
        }
    }
}

/// The names that count are the present ones: after a change, a removal, and another one under an old name.
pub async fn names_follow_every_write(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entity = subject.entity(&alice(), "Twitter");
    entity.aliases = vec!["Birdsite".to_owned()];
    subject.put(&[&entity], &[]).await;
    (entity.name, entity.aliases) = ("X Corporation".to_owned(), vec!["Twitter".to_owned()]);
    subject.put(&[&entity], &[]).await;
    assert_eq!(subject.find(&alice(), "twitter", 10).await, [(entity.clone(), 1.0)]);
    assert_eq!(subject.find(&alice(), "birdsite", 10).await, []);
    entity.aliases.clear();
    subject.put(&[&entity], &[]).await;
    assert_eq!(subject.find(&alice(), "twitter", 10).await, []);
    let other = subject.add(&alice(), "Twitter").await;
    subject.apply(GraphBatch { remove_entities: vec![entity.id], ..GraphBatch::default() }).await;
    assert_eq!(subject.find(&alice(), "X Corporation", 10).await, []);
    assert_eq!(subject.find(&alice(), "Twitter", 10).await, [(other, 1.0)]);
}

/// Names of one or two characters, and in scripts without spaces, are found like others; what is like nothing finds
/// nothing, nor does a blank name.
pub async fn short_and_odd_names_are_found(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut entities = Vec::new();
    for name in ["X", "李", "东京", "C", "C++", "Jo", "👩‍🚀", "20 people"] {
        entities.push(subject.add(&alice(), name).await);
    }
    for entity in &entities {
        let found = subject.find(&alice(), &entity.name, 10).await;
        assert_eq!(found[0], (entity.clone(), 1.0), "{}", entity.name);
        assert_eq!(told(&found), expected(&entities, &alice(), &entity.name, 10));
    }
    for nothing in ["zzzz", "", " ", "\u{2003}\n", "\u{301}"] {
        assert_eq!(subject.find(&alice(), nothing, 10).await, [], "{nothing:?}");
    }
    assert_eq!(subject.find(&alice(), "X", 0).await, []);
}

/// Each finds what its own scope covers, whoever else has the same names.
pub async fn names_of_others_are_not_found(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let scopes =
        [alice(), bob(), alice().with_session("s"), alice().with_agent("a").with_session("t"), Scope::agent("a")];
    let mut entities = Vec::new();
    for scope in &scopes {
        entities.push(subject.add(scope, "Ada").await);
    }
    let readers = scopes.iter().cloned().chain([Scope::session("s"), Scope::session("t"), Scope::agent("alice")]);
    for reader in readers {
        let found: BTreeSet<EntityId> =
            subject.find(&reader, "ada", 10).await.iter().map(|(entity, _)| entity.id).collect();
        let visible = entities.iter().filter(|entity| reader.covers(&entity.scope)).map(|entity| entity.id).collect();
        assert_eq!(found, visible, "{reader:?}");
        assert_eq!(subject.find(&reader, "ada", 1).await.len(), visible.len().min(1));
    }
}
