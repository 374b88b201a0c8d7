//! What holds of a store that keeps memories and their graph.

use std::sync::Arc;

use super::subject::{Subject, alice, always, at, bob, refused};
use crate::{
    Actor, CallId, EmbedderIdentity, ErrorKind, Expect, GraphBatch, GraphStore, IndexKey, ListQuery, Memory, MemoryId,
    Put, Scope, Stamp, Unchanged, Validity, VectorStore, Verify, WriteBatch,
};

struct Whole {
    memories: Arc<dyn VectorStore>,
    graph: Subject,
}

impl Whole {
    async fn new(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) -> Self {
        memories.bind(&EmbedderIdentity::new("suite", 2)).await.expect("binding a fresh store");
        Self { memories, graph: Subject::new(graph) }
    }

    async fn stored(&self, scope: &Scope) -> Vec<Memory> {
        let query = ListQuery::new(scope.clone(), Validity::Any);
        self.memories.list(&query).await.expect("listing memories").items
    }

    async fn version(&self) -> crate::Version {
        self.memories.version().await.expect("reading the version")
    }
}

fn put(scope: &Scope, text: &str) -> Put {
    let memory = Memory::new(MemoryId::new(at(0)), scope.clone(), text, at(0));
    Put::new(memory, vec![IndexKey::new(text, vec![1.0, 0.0])])
}

/// The store declares the capability `graph`.
pub async fn a_whole_store_declares_its_graph(memories: Arc<dyn VectorStore>, _: Arc<dyn GraphStore>) {
    assert!(memories.capabilities().graph);
}

/// Memories and graph of one batch are written together, and what is wrong with either keeps both out.
pub async fn memories_and_graph_are_one_transaction(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    let theirs = whole.graph.add(&bob(), "Bob").await;
    let (ada, ben) = (whole.graph.entity(&alice(), "Ada"), whole.graph.entity(&alice(), "Ben"));
    let first = put(&alice(), "Ada keeps bees");
    let mut knows = whole.graph.relation(&alice(), &ada, "keeps", &ben);
    knows.sources = vec![first.memory.id];
    let graph =
        GraphBatch { entities: vec![ada.clone(), ben], relations: vec![knows.clone()], ..GraphBatch::default() };
    let batch = WriteBatch { puts: vec![first.clone()], graph, ..WriteBatch::default() };
    type Fault<'f> = (ErrorKind, Box<dyn Fn(&mut WriteBatch) + Send + Sync + 'f>);
    let faults: [Fault<'_>; 6] = [
        (ErrorKind::Conflict, Box::new(|batch| batch.graph.relations[0].object = theirs.id)),
        (ErrorKind::InvalidArgument, Box::new(|batch| batch.graph.relations[0].predicate = " ".to_owned())),
        (ErrorKind::InvalidArgument, Box::new(|batch| batch.graph.entities[1].id = theirs.id)),
        (ErrorKind::Conflict, Box::new(|batch| batch.puts[0].expect = Expect::Revision(3))),
        (ErrorKind::Conflict, Box::new(|batch| batch.deletes.push(MemoryId::new(at(5))))),
        (ErrorKind::EmbedderMismatch, Box::new(|batch| batch.puts[0].keys = Some(vec![IndexKey::new("", vec![0.0])]))),
    ];
    for (kind, fault) in faults {
        let mut faulty = batch.clone();
        fault(&mut faulty);
        let before = whole.version().await;
        refused(whole.memories.apply(faulty).await, &[kind]);
        assert_eq!((whole.graph.counts(&alice()).await, whole.stored(&alice()).await), ((0, 0), vec![]));
        assert_eq!(whole.version().await, before, "nothing was written");
    }
    whole.memories.apply(batch.clone()).await.expect("applying a batch without fault");
    assert_eq!(whole.stored(&alice()).await, [batch.puts[0].memory.clone()]);
    assert_eq!(whole.graph.everything(&alice()).await, (batch.graph.entities, vec![knows.clone()]));
    assert_eq!(whole.graph.find(&alice(), "ada", 1).await, [(ada, 1.0)]);
    let resting = whole.graph.store.relations_of(&alice(), &[first.memory.id]).await.expect("reading relations");
    assert_eq!(resting, [knows]);
}

/// The version grows with every write of the graph, by whichever of the two traits.
pub async fn the_version_grows_with_the_graph(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    let mut last = whole.version().await;
    let ada = whole.graph.add(&alice(), "Ada").await;
    let mut grown = async |what: &str| {
        let now = whole.version().await;
        assert!(now > last, "{what}");
        last = now;
    };
    grown("an entity").await;
    whole.graph.relate(&ada, "is", &ada).await;
    grown("a relation").await;
    let graph = GraphBatch { entities: vec![ada.clone()], ..GraphBatch::default() };
    let version = whole.memories.apply(WriteBatch { graph, ..WriteBatch::default() }).await.expect("applying");
    grown("a batch with a graph alone").await;
    assert_eq!(version, whole.version().await);
    whole.graph.apply(GraphBatch { remove_entities: vec![ada.id], ..GraphBatch::default() }).await;
    grown("a removal").await;
    whole.graph.add(&alice(), "Ben").await;
    grown("another").await;
    whole.graph.store.delete_graph(&alice()).await.expect("deleting the graph");
    grown("a graph deleted").await;
}

/// A guard holds a graph back with the rest of its batch, and no write of the graph holds a guarded batch back.
pub async fn guards_pass_over_the_graph(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    if !whole.memories.capabilities().guards {
        eprintln!("skipped guards_pass_over_the_graph: {} lacks the capability `guards`", whole.memories.name());
        return;
    }
    let since = whole.version().await;
    let ada = whole.graph.add(&alice(), "Ada").await;
    whole.graph.relate(&ada, "is", &ada).await;
    let guarded = |text: &str, entity: &str| {
        let graph = GraphBatch { entities: vec![whole.graph.entity(&alice(), entity)], ..GraphBatch::default() };
        let unchanged = Some(Unchanged::new(alice(), since));
        WriteBatch { puts: vec![put(&alice(), text)], graph, unchanged, ..WriteBatch::default() }
    };
    whole.memories.apply(guarded("first", "Ben")).await.expect("only the graph has changed");
    refused(whole.memories.apply(guarded("second", "Cleo")).await, &[ErrorKind::Conflict]);
    assert_eq!((whole.graph.counts(&alice()).await, whole.stored(&alice()).await.len()), ((2, 1), 1));
}

/// Writing the graph disturbs no search: what is indexed is found as before.
pub async fn search_passes_over_the_graph(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    let query = crate::SearchQuery::new(alice(), at(9)).words("bees").near(vec![1.0, 0.0]);
    for round in 1..=3 {
        let batch = WriteBatch { puts: vec![put(&alice(), "bees")], ..WriteBatch::default() };
        whole.memories.apply(batch).await.expect("applying");
        for _ in 0..2 {
            let ada = whole.graph.add(&alice(), "Ada").await;
            whole.graph.relate(&ada, "keeps", &ada).await;
            assert_eq!(whole.memories.search(&query).await.expect("searching").len(), round);
        }
    }
}

/// Removing a memory leaves the relations that rest on it; removing all of a scope's memories takes its graph along.
pub async fn only_delete_all_takes_the_graph_along(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    let stamp = Stamp::new(at(100), Actor::App, CallId::from_bytes([1; 16]));
    let delete_all = async |scope: &Scope| whole.memories.delete_all(scope, &stamp).await.expect("deleting all");
    let session = alice().with_session("s");
    let (mine, in_session, theirs) = (put(&alice(), "a"), put(&session, "b"), put(&bob(), "c"));
    let puts = vec![mine.clone(), in_session, theirs];
    whole.memories.apply(WriteBatch { puts, ..WriteBatch::default() }).await.expect("applying");
    let ada = whole.graph.add(&alice(), "Ada").await;
    let mut knows = whole.graph.relation(&alice(), &ada, "is", &ada);
    knows.sources = vec![mine.memory.id];
    let in_session = whole.graph.relation(&session, &ada, "was", &ada);
    let bob_ = whole.graph.add(&bob(), "Bob").await;
    whole.graph.put(&[], &[&knows, &in_session]).await;
    whole.graph.relate(&bob_, "is", &bob_).await;
    whole
        .memories
        .apply(WriteBatch { deletes: vec![mine.memory.id], ..WriteBatch::default() })
        .await
        .expect("applying");
    assert_eq!(whole.graph.seen(&alice(), &always()).await, [knows, in_session]);
    assert_eq!(delete_all(&Scope::session("s")).await, 1);
    assert_eq!(whole.graph.counts(&alice()).await, (1, 1));
    // Nothing but a graph is left.
    let before = whole.version().await;
    assert_eq!(delete_all(&alice()).await, 0);
    assert_eq!((whole.graph.counts(&alice()).await, whole.graph.counts(&bob()).await), ((0, 0), (1, 1)));
    assert!(whole.version().await > before);
    assert_eq!(delete_all(&bob()).await, 1);
    assert_eq!(whole.graph.counts(&bob()).await, (0, 0));
}

/// A graph that was written, changed and emptied has no problem, whatever it rests on; what there is is counted.
pub async fn a_graph_in_use_is_sound(memories: Arc<dyn VectorStore>, graph: Arc<dyn GraphStore>) {
    let whole = Whole::new(memories, graph).await;
    let verified = async |entities: u64, relations: u64| {
        let report = whole.memories.verify(&Verify::new().rebuild(true)).await.expect("verifying");
        assert!(report.is_sound() && report.mended.is_empty(), "{report:#?}");
        assert_eq!((report.checked.entities, report.checked.relations), (entities, relations));
    };
    verified(0, 0).await;
    let (mut ada, ben) = (whole.graph.add(&alice(), "Ada").await, whole.graph.add(&alice(), "Ben").await);
    let mut knows = whole.graph.relate(&ada, "knows", &ben).await;
    let theirs = whole.graph.add(&bob(), "Ada").await;
    verified(3, 1).await;
    (ada.name, ada.aliases) = ("Ada Lovelace".to_owned(), vec!["Ada".to_owned(), "ADA".to_owned(), "艾达".to_owned()]);
    knows.sources = vec![MemoryId::new(at(1)), MemoryId::new(at(2))];
    whole.graph.put(&[&ada], &[&knows]).await;
    (knows.sources, knows.expired_at) = (vec![MemoryId::new(at(3))], Some(at(900)));
    whole.graph.put(&[], &[&knows]).await;
    let mut merged = ben.clone();
    merged.merged_into = Some(ada.id);
    whole.graph.put(&[&merged], &[]).await;
    verified(3, 1).await;
    whole.graph.apply(GraphBatch { remove_entities: vec![theirs.id], ..GraphBatch::default() }).await;
    verified(2, 1).await;
    whole.memories.delete_all(&alice(), &Stamp::new(at(1_000), Actor::App, CallId::new(at(1_000)))).await.expect("all");
    verified(0, 0).await;
}
