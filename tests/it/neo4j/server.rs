//! What only a real server can show.

use std::sync::{Arc, LazyLock};

use ingrain::{
    Direction, Entity, EntityId, ErrorKind, GraphBatch, GraphQuery, GraphStore, MemoryId, Neo4jStore,
    Neo4jStoreBuilder, Relation, RelationId, Scope, Timestamp,
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::{Mutex, OwnedMutexGuard},
    task::JoinHandle,
};

use super::cypher::Cypher;

/// One test at a time has the database to itself.
static DATABASE: LazyLock<Arc<Mutex<()>>> = LazyLock::new(Arc::default);

/// The server that the environment names.
pub(super) struct Server {
    url: String,
    user: String,
    password: String,
}

impl Server {
    pub(super) fn named(test: &str) -> Option<Self> {
        let Ok(url) = std::env::var("INGRAIN_NEO4J_URL") else {
            eprintln!("skipped {test}: INGRAIN_NEO4J_URL names no server");
            return None;
        };
        let user = std::env::var("INGRAIN_NEO4J_USER").unwrap_or_else(|_| "neo4j".to_owned());
        let password = std::env::var("INGRAIN_NEO4J_PASSWORD").unwrap_or_default();
        Some(Self { url, user, password })
    }

    /// A connection of the test's own.
    pub(super) async fn cypher(&self) -> Cypher {
        Cypher::login(&self.url, &self.user, &self.password).await
    }

    fn at(&self, url: &str) -> Neo4jStoreBuilder {
        // The server may be busy, and so may the machine.
        let patient = std::time::Duration::from_secs(300);
        Neo4jStore::builder(url).login(&self.user, self.password.clone()).timeout(patient).connect_timeout(patient)
    }

    fn store(&self) -> Neo4jStoreBuilder {
        self.at(&self.url)
    }
}

/// A store over an empty database, and what keeps others out of it.
pub(super) async fn fresh(server: Server) -> (Neo4jStore, OwnedMutexGuard<()>) {
    let alone = Arc::clone(&DATABASE).lock_owned().await;
    let store = server.store().open().await.unwrap();
    store.delete_graphs_of_all_scopes().await.unwrap();
    (store, alone)
}

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400, 0).unwrap()
}

fn entity(name: &str) -> Entity {
    Entity::new(EntityId::new(now()), Scope::user("alice"), name, now())
}

fn batch(entities: &[&Entity], relations: &[&Relation]) -> GraphBatch {
    let mut batch = GraphBatch::default();
    batch.entities.extend(entities.iter().copied().cloned());
    batch.relations.extend(relations.iter().copied().cloned());
    batch
}

fn relation(subject: &Entity, predicate: &str, object: &Entity) -> Relation {
    let triple = (subject.id, predicate, object.id);
    Relation::new(RelationId::new(now()), Scope::user("alice"), triple, "a fact", now())
}

#[tokio::test]
async fn a_wrong_password_is_a_matter_of_configuration() {
    let Some(server) = Server::named("a_wrong_password_is_a_matter_of_configuration") else { return };
    let builder = server.store().login(&server.user, "hunter2-wrong");
    assert!(!format!("{builder:?}").contains("hunter2"));
    let error = builder.open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_a_matter_of_configuration() {
    let Some(server) = Server::named("a_database_that_is_not_there_is_a_matter_of_configuration") else { return };
    let error = server.store().database("nosuchdatabase").open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error:?}");
    server.store().database("neo4j").open().await.unwrap();
}

#[tokio::test]
async fn no_secret_is_printed() {
    let Some(server) = Server::named("no_secret_is_printed") else { return };
    let password = server.password.clone();
    let (store, _alone) = fresh(server).await;
    let printed = format!("{store:?}");
    assert!(printed.contains("***") && (password.is_empty() || !printed.contains(&password)), "{printed}");
}

#[tokio::test]
async fn hostile_names_are_data() {
    let Some(server) = Server::named("hostile_names_are_data") else { return };
    let (store, _alone) = fresh(server).await;
    let hostile = [
        "'}) DETACH DELETE e //",
        "`) MATCH (n) DETACH DELETE n //",
        "$user",
        "${jndi:x}",
        "\\u0027",
        "\u{0}",
        "a\u{0}b",
        "\u{301}",
        "e\u{301}",
        "\u{e9}",
        "\u{202e}abc",
        "\u{feff}x",
        "👩‍👩‍👧‍👦",
    ];
    let alice = Scope::user("alice");
    for text in hostile {
        let (mut one, other) = (entity(text), entity("other"));
        one.aliases = vec![text.to_owned(), format!("{text} too")];
        one.entity_type = Some(text.to_owned());
        one.summary = Some(text.to_owned());
        one.metadata.insert(text.to_owned(), text.into());
        let mut told = relation(&one, text, &other);
        told.fact = text.to_owned();
        told.sources = vec![MemoryId::new(now())];
        store.apply_graph(&batch(&[&one, &other], &[&told])).await.unwrap();
        assert_eq!(store.entities(&alice, &[one.id]).await.unwrap(), [one.clone()], "{text:?}");
        assert_eq!(store.relations_of(&alice, &told.sources).await.unwrap(), [told.clone()], "{text:?}");
        let found = store.find_entities(&alice, text, 100).await.unwrap();
        assert!(found.iter().any(|(found, likeness)| *found == one && (likeness - 1.0).abs() < 1e-6), "{text:?}");
    }
    let stranger = Scope::user("'}) MATCH (e:IngrainEntity) //").with_session("$user");
    assert_eq!(store.graph_counts(&stranger).await.unwrap(), (0, 0));
    assert_eq!(store.graph_counts(&alice).await.unwrap(), (2 * hostile.len() as u64, hostile.len() as u64));
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let Some(server) = Server::named("opening_again_changes_nothing") else { return };
    let again = [server.store(), server.store()];
    let (store, _alone) = fresh(server).await;
    let one = entity("Lisbon");
    store.apply_graph(&batch(&[&one], &[])).await.unwrap();
    for builder in again {
        let other = builder.open().await.unwrap();
        assert_eq!(other.entities(&one.scope, &[one.id]).await.unwrap(), std::slice::from_ref(&one));
    }
}

#[tokio::test]
async fn what_is_deleted_leaves_no_trace_of_its_names() {
    let Some(server) = Server::named("what_is_deleted_leaves_no_trace_of_its_names") else { return };
    let (store, _alone) = fresh(server).await;
    let (mut one, other) = (entity("Lisbon"), entity("Lissabon"));
    store.apply_graph(&batch(&[&one, &other], &[])).await.unwrap();
    one.name = "Porto".to_owned();
    store.apply_graph(&batch(&[&one], &[])).await.unwrap();
    let found = store.find_entities(&one.scope, "Lisbon", 10).await.unwrap();
    assert_eq!(found.iter().map(|(entity, _)| entity.id).collect::<Vec<_>>(), [other.id]);
    let mut removal = GraphBatch::default();
    removal.remove_entities.push(other.id);
    store.apply_graph(&removal).await.unwrap();
    assert_eq!(store.find_entities(&one.scope, "Lisbon", 10).await.unwrap(), []);
    assert_eq!(store.delete_graph(&one.scope).await.unwrap(), (1, 0));
    assert_eq!(store.find_entities(&one.scope, "Porto", 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_large_graph_is_deleted_whole_and_counted() {
    let Some(server) = Server::named("a_large_graph_is_deleted_whole_and_counted") else { return };
    let (store, _alone) = fresh(server).await;
    let entities: Vec<Entity> = (0..1_100).map(|number| entity(&number.to_string())).collect();
    let relations: Vec<Relation> =
        (0..5_100).map(|number| relation(&entities[number % 7], "has", &entities[number % 1_100])).collect();
    let mut kept = entity("another's");
    kept.scope = Scope::user("bob");
    store.apply_graph(&batch(&entities.iter().chain([&kept]).collect::<Vec<_>>(), &[])).await.unwrap();
    store.apply_graph(&batch(&[], &relations.iter().collect::<Vec<_>>())).await.unwrap();
    let alice = Scope::user("alice");
    assert_eq!(store.delete_graph(&alice).await.unwrap(), (1_100, 5_100));
    assert_eq!(store.graph_counts(&alice).await.unwrap(), (0, 0));
    assert_eq!(store.delete_graph(&alice).await.unwrap(), (0, 0));
    assert_eq!(store.graph_counts(&kept.scope).await.unwrap(), (1, 0));
}

/// Two processes are two stores: neither knows of the other but through the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_that_cross_each_other_all_get_through() {
    let Some(server) = Server::named("writers_that_cross_each_other_all_get_through") else { return };
    let second = server.store();
    let (store, _alone) = fresh(server).await;
    let stores = [store, second.open().await.unwrap()];
    let hub = entity("hub");
    stores[0].apply_graph(&batch(&[&hub], &[])).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (store, hub) = (stores[number % 2].clone(), hub.clone());
        writers.spawn(async move {
            for round in 0..4 {
                let one = entity(&format!("{number} {round}"));
                store.apply_graph(&batch(&[&one], &[&relation(&hub, "has", &one)])).await.unwrap();
                // Its scope is told only by the server, so its locks are taken late.
                let mut removal = GraphBatch::default();
                removal.remove_entities.push(one.id);
                let kept = entity(&format!("kept {number} {round}"));
                removal.entities.push(kept);
                store.apply_graph(&removal).await.unwrap();
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    assert_eq!(stores[1].graph_counts(&hub.scope).await.unwrap(), (33, 0));
}

/// A way to the server that can be cut.
struct Way {
    address: std::net::SocketAddr,
    to: String,
    task: JoinHandle<()>,
}

impl Way {
    async fn open(to: &str, at: &str) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let to = to.trim_start_matches("bolt://").to_owned();
        let target = to.clone();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let target = target.clone();
                open.spawn(async move {
                    let Ok(mut far) = TcpStream::connect(target).await else { return };
                    copy_bidirectional(&mut near, &mut far).await.ok();
                });
            }
        });
        Self { address, to, task }
    }

    /// Closes every connection and takes no other.
    async fn cut(&mut self) {
        self.task.abort();
        (&mut self.task).await.unwrap_err();
    }

    async fn mend(&mut self) {
        *self = Self::open(&self.to, &self.address.to_string()).await;
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_and_back_it_is_used_again() {
    let Some(server) = Server::named("a_server_that_is_gone_is_an_error_and_back_it_is_used_again") else { return };
    let mut way = Way::open(&server.url, "127.0.0.1:0").await;
    let through = server.at(&format!("bolt://{}", way.address));
    let (_direct, _alone) = fresh(server).await;
    let store = through.open().await.unwrap();
    let (one, other) = (entity("Lisbon"), entity("Porto"));
    let told = relation(&one, "near", &other);
    let alice = &one.scope;
    store.apply_graph(&batch(&[&one, &other], &[&told])).await.unwrap();
    way.cut().await;
    let query = GraphQuery::any_time();
    let errors = [
        store.apply_graph(&batch(&[&one], &[])).await.unwrap_err(),
        store.entities(alice, &[one.id]).await.unwrap_err(),
        store.find_entities(alice, "Lisbon", 3).await.unwrap_err(),
        store.list_entities(alice, None, 3).await.unwrap_err(),
        store.list_relations(alice, &query, None, 3).await.unwrap_err(),
        store.relations_of(alice, &[MemoryId::new(now())]).await.unwrap_err(),
        store.neighbours(alice, &[one.id], 2, Direction::Both, &query).await.unwrap_err(),
        store.path(alice, one.id, other.id, 2, &query).await.unwrap_err(),
        store.graph_counts(alice).await.unwrap_err(),
        store.delete_graph(alice).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreUnavailable, Some("neo4j")), "{error:?}");
    }
    way.mend().await;
    assert_eq!(store.graph_counts(alice).await.unwrap(), (2, 1));
    // A connection that waits is closed while nobody looks: the next call takes another.
    way.cut().await;
    way.mend().await;
    assert_eq!(store.entities(alice, &[one.id]).await.unwrap(), std::slice::from_ref(&one));
}

#[tokio::test]
async fn a_call_that_was_dropped_leaves_no_answer_to_the_next() {
    let Some(server) = Server::named("a_call_that_was_dropped_leaves_no_answer_to_the_next") else { return };
    let single = server.store().connections(1);
    let (_direct, _alone) = fresh(server).await;
    let store = single.open().await.unwrap();
    let (one, other) = (entity("Lisbon"), entity("Porto"));
    store.apply_graph(&batch(&[&one, &other], &[])).await.unwrap();
    for polls in 1..6 {
        let mut call = Box::pin(store.entities(&one.scope, std::slice::from_ref(&one.id)));
        for _ in 0..polls {
            if is_ready(&mut call).await {
                break;
            }
        }
        drop(call);
        let found = store.entities(&one.scope, &[other.id]).await.unwrap();
        assert_eq!(found, std::slice::from_ref(&other), "{polls}");
    }
}

/// Polls once, and lets the runtime do what there is to do; whether it was ready.
async fn is_ready<T>(call: &mut (impl Future<Output = T> + Unpin)) -> bool {
    let ready =
        std::future::poll_fn(|context| std::task::Poll::Ready(std::pin::Pin::new(&mut *call).poll(context).is_ready()));
    let ready = ready.await;
    tokio::task::yield_now().await;
    ready
}
