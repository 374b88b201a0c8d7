//! Neo4j: entities and relations on a server that several processes may share.
//!
//! Every call is one transaction over Bolt. See [`schema`] for how the graph lies there, [`locks`] for how a read comes
//! to see each batch whole, [`bolt`] for the protocol.

mod bolt;
mod error;
mod graph_store;
mod locks;
mod names;
mod read;
mod rows;
mod schema;
mod walk;
mod write;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bolt::{Address, Login, Map, Pool, Row, Statement, Transaction, map};
use error::Neo4jError;

use crate::{Error, ErrorKind, Result, Scope, Secret};

/// Most times that a transaction is run, when the server asks to run it again.
const TRIES: u32 = 8;

/// The graph on a Neo4j server, 5.26 or later, any edition; several processes may share it. Clones share the
/// connections.
///
/// What it stores has labels and types that begin with `Ingrain`, so that a database may hold other things as well. Every
/// call must be made inside a tokio runtime whose I/O and time are enabled; outside one it fails with
/// [`Configuration`](ErrorKind::Configuration).
///
/// A graph of a scope that is larger than some thousands of relations or hundreds of entities is deleted in several
/// transactions, the relations first: broken off, [`delete_graph`](crate::GraphStore::delete_graph) leaves the rest, and
/// can be called again.
///
/// A read holds a lock while it lasts, for a moment, so that it sees each batch whole: the user must be allowed to write.
/// It talks to the server that is named and to no other. In a cluster, name the leader, or leave the way there to the
/// servers (`dbms.routing.enabled`).
///
/// ```no_run
/// # async fn example() -> ingrain::Result<()> {
/// use ingrain::{GraphStore, Neo4jStore, Scope};
/// let graph = Neo4jStore::builder("bolt://localhost:7687").login("neo4j", "the password").open().await?;
/// let found = graph.find_entities(&Scope::user("alice"), "Lisbon", 3).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Neo4jStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pool: Arc<Pool>,
    database: Option<String>,
    timeout: Duration,
    /// How many reads there were: they take the stripes of a lock in turn.
    turn: AtomicU64,
}

/// Settings of a [`Neo4jStore`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Neo4jStoreBuilder {
    /// What is wrong with it, if it is: the text itself may hold a password.
    address: std::result::Result<Address, &'static str>,
    login: Option<Login>,
    database: Option<String>,
    connect_timeout: Duration,
    timeout: Duration,
    connections: usize,
}

impl Neo4jStore {
    /// Settings for a server: `bolt://host:7687`, or `bolt+s://` where the connection is encrypted and the certificate
    /// checked against the operating system's roots. `neo4j://` and `neo4j+s://` mean the same two. The port may be
    /// left out.
    pub fn builder(url: impl AsRef<str>) -> Neo4jStoreBuilder {
        Neo4jStoreBuilder {
            address: Address::parse(url.as_ref()),
            login: None,
            database: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            connections: 8,
        }
    }

    /// Removes the graphs of every scope from the database, without a trace, in as many transactions as it takes. What
    /// this crate did not store stays.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable): something may be left.
    pub async fn delete_graphs_of_all_scopes(&self) -> Result<()> {
        while !self.run("deleting all graphs", write::delete_slice_of_everything).await? {}
        Ok(())
    }

    fn transaction(&self, lent: bolt::Lent) -> Transaction {
        let limit = i64::try_from(self.0.timeout.as_millis()).unwrap_or(i64::MAX);
        let mut begin: Map = map([("tx_timeout", limit.max(1).into())]);
        if let Some(database) = &self.0.database {
            begin.extend(map([("db", database.as_str().into())]));
        }
        Transaction::new(lent, begin)
    }

    /// Runs work on a transaction that it ends itself. It is run again where the server asks for it (two writers waited
    /// for each other), or where a connection that had waited turns out to be closed: every batch may be applied twice.
    async fn run<T, F>(&self, doing: &'static str, work: impl Fn(Transaction) -> F) -> Result<T>
    where
        F: Future<Output = error::Result<T>>,
    {
        if let Err(cause) = tokio::runtime::Handle::try_current() {
            let message = format!("{doing}: the call is made outside a tokio runtime");
            return Err(Error::new(ErrorKind::Configuration, message).with_backend("neo4j").with_source(cause));
        }
        let worked = tokio::time::timeout(self.0.timeout, async {
            let mut tries = 1;
            loop {
                let lent = self.0.pool.lend().await?;
                let waited = lent.waited;
                let error = match work(self.transaction(lent)).await {
                    Ok(value) => return Ok(value),
                    Err(error) => error,
                };
                let gone = waited && error.is_connection();
                if gone {
                    self.0.pool.forget();
                }
                if tries >= TRIES || !(gone || error.is_transient()) {
                    return Err(error);
                }
                if !gone {
                    // Not the same wait for all who met each other.
                    let odd = self.0.turn.fetch_add(1, Ordering::Relaxed) % 8;
                    tokio::time::sleep(Duration::from_millis(5 * (1 << tries) + odd)).await;
                }
                tries += 1;
            }
        });
        worked.await.unwrap_or(Err(Neo4jError::TimedOut)).map_err(|error| error.told(doing))
    }

    /// Runs statements that read in this scope, and gives the rows of each.
    async fn read(&self, doing: &'static str, scope: &Scope, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        let all: Vec<Statement> = std::iter::once(self.reading(scope)).chain(statements).collect();
        let work = |transaction: Transaction| {
            let all = all.clone();
            async move {
                let mut results = transaction.roll_back(all).await?;
                locks::taken(&results.remove(0), 1)?;
                Ok(results)
            }
        };
        self.run(doing, work).await
    }

    fn reading(&self, scope: &Scope) -> Statement {
        locks::for_reading(scope, self.0.turn.fetch_add(1, Ordering::Relaxed))
    }
}

impl Neo4jStoreBuilder {
    /// Logs in with a name and a password. Default: without either, for a server that asks for none.
    pub fn login(mut self, user: impl Into<String>, password: impl Into<Secret>) -> Self {
        self.login = Some(Login { user: user.into(), password: password.into() });
        self
    }

    /// The database on the server. Default: the user's home database, which is `neo4j` unless it was changed.
    pub fn database(mut self, name: impl Into<String>) -> Self {
        self.database = Some(name.into());
        self
    }

    /// How long a connection may take to open. Default 10 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long one call may take, from its beginning to its end, tries and waiting for others included; the server
    /// ends what takes longer. Default 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Most connections at once, at least 1; calls beyond them wait for their turn. Default 8.
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    /// Connects, and makes the constraints and indexes that are not there.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a bad URL, a wrong password, a database that is not there or that
    /// the user may not change, a server that is too old; [`StoreUnavailable`](ErrorKind::StoreUnavailable): it cannot
    /// be reached.
    pub async fn open(self) -> Result<Neo4jStore> {
        let Self { address, login, database, connect_timeout, timeout, connections } = self;
        let wrong = |what: String| Error::new(ErrorKind::Configuration, what).with_backend("neo4j");
        let address = address.map_err(|what| wrong(format!("the URL {what}")))?;
        if connections == 0 {
            return Err(wrong("there must be at least 1 connection".to_owned()));
        }
        let pool = Arc::new(Pool::new(address, login, connect_timeout, connections));
        let store = Neo4jStore(Arc::new(Inner { pool, database, timeout, turn: AtomicU64::new(0) }));
        let doing = "opening the store";
        store.run(doing, |transaction: Transaction| transaction.commit(schema::make())).await?;
        store.run(doing, |transaction: Transaction| transaction.commit(schema::make_ready())).await?;
        Ok(store)
    }
}
