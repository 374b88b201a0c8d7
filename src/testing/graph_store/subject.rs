use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::Duration;

use crate::{
    Direction, Entity, EntityId, Error, ErrorKind, GraphBatch, GraphQuery, GraphStore, Path, Relation, RelationId,
    Result, Scope, Timestamp, VectorStore,
};

/// What a factory gives: a fresh store, or a pair of it and whatever must live as long (a temporary folder, a server).
pub trait FreshGraphStore {
    /// What is dropped after the store.
    type Kept: Send;

    /// The two apart.
    fn into_parts(self) -> (Arc<dyn GraphStore>, Self::Kept);
}

impl<S: GraphStore> FreshGraphStore for S {
    type Kept = ();

    fn into_parts(self) -> (Arc<dyn GraphStore>, ()) {
        (Arc::new(self), ())
    }
}

impl<S: GraphStore, K: Send> FreshGraphStore for (S, K) {
    type Kept = K;

    fn into_parts(self) -> (Arc<dyn GraphStore>, K) {
        (Arc::new(self.0), self.1)
    }
}

/// As [`FreshGraphStore`], of a store that keeps memories and their graph.
pub trait FreshWholeStore {
    /// What is dropped after the store.
    type Kept: Send;

    /// The store as what it is, and what must outlive it.
    fn into_both(self) -> (Arc<dyn VectorStore>, Arc<dyn GraphStore>, Self::Kept);
}

impl<S: VectorStore + GraphStore> FreshWholeStore for S {
    type Kept = ();

    fn into_both(self) -> (Arc<dyn VectorStore>, Arc<dyn GraphStore>, ()) {
        let store = Arc::new(self);
        (store.clone(), store, ())
    }
}

impl<S: VectorStore + GraphStore, K: Send> FreshWholeStore for (S, K) {
    type Kept = K;

    fn into_both(self) -> (Arc<dyn VectorStore>, Arc<dyn GraphStore>, K) {
        let store = Arc::new(self.0);
        (store.clone(), store, self.1)
    }
}

/// So many seconds after the instant at which the suite's days begin: 2025-02-10T08:00:00Z.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400, 0).expect("an instant of the calendar") + Duration::seconds(seconds)
}

pub(super) fn alice() -> Scope {
    Scope::user("alice")
}

pub(super) fn bob() -> Scope {
    Scope::user("bob")
}

/// The error that a call must end in.
#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T>, kinds: &[ErrorKind]) -> Error {
    let error = result.expect_err("the call should have been refused");
    assert!(kinds.contains(&error.kind()), "{kinds:?} was expected, not: {error}");
    error
}

/// Any time, as believed now.
pub(super) fn always() -> GraphQuery {
    GraphQuery::any_time()
}

/// Everything a scope covers: entities, and relations whether they hold, ended or expired.
pub(super) type Everything = (Vec<Entity>, Vec<Relation>);

/// The store under test, and the few acts that all rules are made of.
pub(super) struct Subject {
    pub(super) store: Arc<dyn GraphStore>,
    made: AtomicI64,
}

impl Subject {
    pub(super) fn new(store: Arc<dyn GraphStore>) -> Self {
        Self { store, made: AtomicI64::new(0) }
    }

    /// The instant of the next thing made: each is made a second after the one before, so ids are in the order of making.
    fn next(&self) -> Timestamp {
        at(self.made.fetch_add(1, Ordering::SeqCst))
    }

    /// An entity that is not stored yet.
    pub(super) fn entity(&self, scope: &Scope, name: &str) -> Entity {
        let now = self.next();
        Entity::new(EntityId::new(now), scope.clone(), name, now)
    }

    /// A relation that is not stored yet.
    pub(super) fn relation(&self, scope: &Scope, subject: &Entity, predicate: &str, object: &Entity) -> Relation {
        let now = self.next();
        let fact = format!("{} {predicate} {}", subject.name, object.name);
        Relation::new(RelationId::new(now), scope.clone(), (subject.id, predicate, object.id), fact, now)
    }

    pub(super) fn relation_id(&self) -> RelationId {
        RelationId::new(self.next())
    }

    pub(super) async fn apply(&self, batch: GraphBatch) {
        self.store.apply_graph(&batch).await.expect("applying a batch without fault");
    }

    pub(super) async fn put(&self, entities: &[&Entity], relations: &[&Relation]) {
        let entities = entities.iter().map(|entity| (*entity).clone()).collect();
        let relations = relations.iter().map(|relation| (*relation).clone()).collect();
        self.apply(GraphBatch { entities, relations, ..GraphBatch::default() }).await;
    }

    /// A new entity, stored.
    pub(super) async fn add(&self, scope: &Scope, name: &str) -> Entity {
        let entity = self.entity(scope, name);
        self.put(&[&entity], &[]).await;
        entity
    }

    /// A new relation, stored.
    pub(super) async fn relate(&self, subject: &Entity, predicate: &str, object: &Entity) -> Relation {
        let relation = self.relation(&subject.scope, subject, predicate, object);
        self.put(&[], &[&relation]).await;
        relation
    }

    pub(super) async fn get(&self, scope: &Scope, id: EntityId) -> Option<Entity> {
        self.store.entities(scope, &[id]).await.expect("reading entities").pop()
    }

    pub(super) async fn find(&self, scope: &Scope, name: &str, limit: usize) -> Vec<(Entity, f32)> {
        self.store.find_entities(scope, name, limit).await.expect("finding entities")
    }

    /// The relations a query sees, by id.
    pub(super) async fn seen(&self, scope: &Scope, query: &GraphQuery) -> Vec<Relation> {
        self.store.list_relations(scope, query, None, 100_000).await.expect("listing relations").items
    }

    pub(super) async fn entities(&self, scope: &Scope) -> Vec<Entity> {
        self.store.list_entities(scope, None, 100_000).await.expect("listing entities").items
    }

    /// Everything the scope covers. Expired relations are found through the instants at which they were believed.
    pub(super) async fn everything(&self, scope: &Scope) -> Everything {
        let mut relations = self.seen(scope, &always()).await;
        for known in [at(-1_000_000), at(50), at(1_000), at(1_000_000)] {
            for relation in self.seen(scope, &always().known_at(known)).await {
                if relations.iter().all(|other| other.id != relation.id) {
                    relations.push(relation);
                }
            }
        }
        relations.sort_by_key(|relation| relation.id);
        (self.entities(scope).await, relations)
    }

    pub(super) async fn counts(&self, scope: &Scope) -> (u64, u64) {
        self.store.graph_counts(scope).await.expect("counting")
    }

    pub(super) async fn walk(
        &self,
        scope: &Scope,
        start: &[&Entity],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Vec<Path> {
        let start: Vec<EntityId> = start.iter().map(|entity| entity.id).collect();
        self.store.neighbours(scope, &start, depth, direction, query).await.expect("walking")
    }
}

/// Where paths end.
pub(super) fn ends(paths: &[Path]) -> Vec<EntityId> {
    paths.iter().map(|path| path.end).collect()
}

pub(super) fn ids(entities: &[&Entity]) -> Vec<EntityId> {
    entities.iter().map(|entity| entity.id).collect()
}

/// Numbers from a seed, the same on every machine.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`. xorshift64*.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).expect("31 bits") % end
    }

    pub(super) fn instant(&mut self, end: usize) -> Timestamp {
        at(i64::try_from(self.below(end)).expect("a small number"))
    }
}
