use std::sync::Arc;

use super::subject::{Subject, X, Y, added, alice, at, bob, refused, removal, replacement, rewritten};
use crate::{
    Entity, EntityId, ErrorKind, EventKind, HistoryEvent, IndexKey, Memory, MemoryKind, Put, Scope, VectorStore,
    WriteBatch,
};

/// A scope with one memory, and a batch that would change it, add two more and remove a third.
struct Before {
    subject: Subject,
    memories: Vec<Memory>,
    events: Vec<Vec<HistoryEvent>>,
    batch: WriteBatch,
}

fn new(subject: &Subject, text: &str) -> (Memory, Put, HistoryEvent) {
    let memory = subject.memory(&alice(), text);
    let put = Put::new(memory.clone(), vec![IndexKey::new(text, Y.to_vec())]);
    let event = added(&memory);
    (memory, put, event)
}

async fn before(store: Arc<dyn VectorStore>) -> Before {
    let subject = Subject::bound(store).await;
    let old = subject.add(&alice(), "old", X).await;
    let gone = subject.add(&alice(), "gone", X).await;
    let mut batch = replacement(&old, &rewritten(&old, "intended"), Some(vec![IndexKey::new("intended", Y.to_vec())]));
    for text in ["intended too", "intended as well"] {
        let (_, put, event) = new(&subject, text);
        batch.puts.push(put);
        batch.events.push(event);
    }
    batch.deletes.push(gone.id);
    batch.events.extend(removal(&gone).events);
    let memories = vec![old, gone];
    let events = memories.iter().map(|memory| vec![added(memory)]).collect();
    Before { subject, memories, events, batch }
}

impl Before {
    /// Applies the batch with its fault, checks that nothing of it happened, and that it goes through without.
    async fn nothing_happens(self, fault: impl FnOnce(&Subject, &mut WriteBatch), kinds: &[ErrorKind]) {
        let Self { subject, memories, events, batch } = self;
        let mut faulty = batch.clone();
        fault(&subject, &mut faulty);
        let written: Vec<_> = faulty.puts.iter().map(|put| put.memory.id).collect();
        refused(subject.store.apply(faulty).await, kinds);
        assert_eq!(subject.all(&alice()).await, memories);
        for (memory, events) in memories.iter().zip(&events) {
            assert_eq!(&subject.history(&alice(), memory.id).await, events);
        }
        for id in written.iter().filter(|id| memories.iter().all(|memory| memory.id != **id)) {
            assert!(subject.history(&alice(), *id).await.is_empty(), "a refused memory has no history");
        }
        assert!(subject.words(&alice(), "intended", 10).await.is_empty(), "refused words are not found");
        let near = subject.near(&alice(), Y, 10).await;
        assert!(near.iter().all(|candidate| candidate.cosine.is_some_and(|cosine| cosine < 0.5)), "nor vectors");
        subject.apply(batch).await;
        assert_eq!(subject.words(&alice(), "intended", 10).await.len(), 3, "without the fault it goes through");
    }
}

/// A vector of the wrong width refuses the whole batch.
pub async fn a_wrong_width_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |subject: &Subject, batch: &mut WriteBatch| {
        let (_, mut put, event) = new(subject, "bad");
        put.keys = Some(vec![IndexKey::new("fine", X.to_vec()), IndexKey::new("bad", vec![1.0; 3])]);
        batch.puts.push(put);
        batch.events.push(event);
    };
    before(store).await.nothing_happens(fault, &[ErrorKind::EmbedderMismatch]).await;
}

/// A vector with a number that is not finite refuses the whole batch.
pub async fn a_vector_that_is_not_finite_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store.clone()).await;
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (memory, mut put, event) = new(&subject, "bad");
        put.keys = Some(vec![IndexKey::new("bad", vec![0.0, number, 0.0, 1.0])]);
        let batch = WriteBatch { puts: vec![put], events: vec![event], ..WriteBatch::default() };
        let kinds = [ErrorKind::InvalidArgument, ErrorKind::EmbedderMismatch];
        refused(subject.store.apply(batch).await, &kinds);
        assert!(subject.all(&alice()).await.is_empty() && subject.history(&alice(), memory.id).await.is_empty());
    }
    let fault = |_: &Subject, batch: &mut WriteBatch| {
        batch.puts[1].keys = Some(vec![IndexKey::new("bad", vec![f32::NAN; 4])]);
    };
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument, ErrorKind::EmbedderMismatch]).await;
}

/// An id twice refuses the whole batch, also when the two are alike.
pub async fn an_id_twice_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.puts.push(batch.puts[1].clone());
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument]).await;
}

/// An id that is both stored and removed refuses the whole batch.
pub async fn an_id_stored_and_removed_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.deletes.push(batch.puts[0].memory.id);
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument]).await;
}

/// A removal that is listed twice refuses the whole batch.
pub async fn a_removal_twice_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.deletes.push(batch.deletes[0]);
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument, ErrorKind::Conflict]).await;
}

/// A removal of what is not there refuses the whole batch.
pub async fn an_unknown_removal_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |subject: &Subject, batch: &mut WriteBatch| {
        batch.deletes.push(subject.memory(&alice(), "never stored").id);
    };
    before(store).await.nothing_happens(fault, &[ErrorKind::Conflict]).await;
}

/// A bad scope of a memory or of an event refuses the whole batch.
pub async fn a_bad_scope_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store.clone()).await;
    for bad in bad_scopes() {
        let memory = subject.memory(&bad, "bad");
        let keys = vec![IndexKey::new("bad", X.to_vec())];
        let batch = WriteBatch { puts: vec![Put::new(memory, keys)], ..WriteBatch::default() };
        refused(subject.store.apply(batch).await, &[ErrorKind::InvalidArgument]);
    }
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.puts[2].memory.scope = Scope::user("  ");
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument]).await;
}

/// A memory that says what none can refuses the whole batch.
pub async fn a_bad_number_of_a_memory_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store.clone()).await;
    let faults: [fn(&mut Memory); 9] = [
        |memory| memory.importance = 1.5,
        |memory| memory.importance = -0.1,
        |memory| memory.importance = f32::NAN,
        |memory| memory.kind = MemoryKind::Custom(" ".to_owned()),
        |memory| memory.revision = 0,
        |memory| memory.revision = u64::MAX,
        |memory| memory.access_count = u64::MAX,
        |memory| memory.ordinal = Some(u64::MAX),
        |memory| memory.invalid_at = Some(memory.valid_at - chrono::Duration::microseconds(1)),
    ];
    for fault in faults {
        let (_, mut put, event) = new(&subject, "bad");
        fault(&mut put.memory);
        let batch = WriteBatch { puts: vec![put], events: vec![event], ..WriteBatch::default() };
        refused(subject.store.apply(batch).await, &[ErrorKind::InvalidArgument]);
        assert!(subject.all(&alice()).await.is_empty());
    }
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.puts[2].memory.importance = 7.0;
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument]).await;
}

/// A new memory without keys refuses the whole batch, whether it has none or an empty list.
pub async fn a_new_memory_without_keys_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store.clone()).await;
    for keys in [None, Some(Vec::new())] {
        let (memory, mut put, event) = new(&subject, "bad");
        put.keys = keys;
        let batch = WriteBatch { puts: vec![put], events: vec![event], ..WriteBatch::default() };
        refused(subject.store.apply(batch).await, &[ErrorKind::InvalidArgument]);
        assert!(subject.all(&alice()).await.is_empty() && subject.history(&alice(), memory.id).await.is_empty());
    }
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.puts[2].keys = None;
    before(store).await.nothing_happens(fault, &[ErrorKind::InvalidArgument]).await;
}

/// An expectation that does not hold refuses the whole batch.
pub async fn a_failed_expectation_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let fault = |_: &Subject, batch: &mut WriteBatch| batch.puts[0].expect = crate::Expect::Revision(4);
    before(store).await.nothing_happens(fault, &[ErrorKind::Conflict]).await;
}

/// A memory that others stored meanwhile refuses the whole batch, and stays theirs.
pub async fn a_memory_of_others_refuses_the_batch(store: Arc<dyn VectorStore>) {
    let before = before(store).await;
    let theirs = before.subject.add(&bob(), "theirs", X).await;
    let fault = |subject: &Subject, batch: &mut WriteBatch| {
        let (mut memory, mut put, _) = new(subject, "bad");
        memory.id = theirs.id;
        put.memory = memory.clone();
        batch.puts.push(put);
        let text = Some("bad".to_owned());
        batch.events.push(HistoryEvent { kind: EventKind::Add, new_text: text, ..added(&memory) });
    };
    let store = before.subject.store.clone();
    before.nothing_happens(fault, &[ErrorKind::Conflict]).await;
    let still = store.get(&bob(), &[theirs.id]).await.expect("getting by id");
    assert_eq!(still, [theirs]);
}

/// A store that is no graph store refuses a batch with a graph part, and the rest of it too.
pub async fn an_undeclared_graph_refuses_the_batch(store: Arc<dyn VectorStore>) {
    if store.capabilities().graph {
        eprintln!("skipped an_undeclared_graph_refuses_the_batch: {} declares the capability `graph`", store.name());
        return;
    }
    let fault = |_: &Subject, batch: &mut WriteBatch| {
        batch.graph.entities.push(Entity::new(EntityId::new(at(0)), alice(), "Inês", at(0)));
    };
    before(store).await.nothing_happens(fault, &[ErrorKind::Unsupported]).await;
}

/// A batch of several hundred memories is applied whole, and refused whole for its last member.
pub async fn a_large_batch_is_whole(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut batch = WriteBatch::default();
    for number in 0..600 {
        let (_, put, event) = new(&subject, &format!("note {number}"));
        batch.puts.push(put);
        batch.events.push(event);
    }
    let mut faulty = batch.clone();
    faulty.puts[599].keys = Some(vec![IndexKey::new("bad", vec![0.0; 5])]);
    refused(subject.store.apply(faulty).await, &[ErrorKind::EmbedderMismatch]);
    assert!(subject.all(&alice()).await.is_empty());
    subject.apply(batch).await;
    assert_eq!(subject.all(&alice()).await.len(), 600);
    let instant = crate::Validity::Current(at(1_000_000));
    assert_eq!(subject.store.count(&alice(), None, instant).await.expect("counting"), 600);
}

/// Scopes that every call refuses.
pub(super) fn bad_scopes() -> Vec<Scope> {
    vec![
        Scope::from_parts(None, None, None),
        Scope::user(""),
        Scope::user("   "),
        Scope::user("\u{2003}"),
        Scope::user("a\0b"),
        Scope::agent("x".repeat(1_025)),
        Scope::user("fine").with_session(" "),
    ]
}
