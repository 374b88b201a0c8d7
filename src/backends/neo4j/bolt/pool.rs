use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    super::error::{Neo4jError, Result},
    Address, Login,
    connection::Connection,
};

/// Connections to one server, at most so many at once.
pub(in super::super) struct Pool {
    address: Address,
    login: Option<Login>,
    connect_timeout: Duration,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("address", &self.address).field("login", &self.login).finish_non_exhaustive()
    }
}

/// A connection that someone has. Dropped, it is closed, which ends whatever was under way; only one whose last answer
/// was read may be [given back](Lent::give_back).
pub(in super::super) struct Lent {
    pool: Arc<Pool>,
    pub(super) connection: Connection,
    /// Whether it had waited in the pool: then the server may have gone since, and another connection may do.
    pub(in super::super) waited: bool,
    _permit: OwnedSemaphorePermit,
}

impl Lent {
    pub(super) fn give_back(self) {
        self.pool.idle().push(self.connection);
    }
}

impl Pool {
    pub(in super::super) fn new(
        address: Address,
        login: Option<Login>,
        connect_timeout: Duration,
        most: usize,
    ) -> Self {
        let permits = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Self { address, login, connect_timeout, permits, idle: Mutex::new(Vec::new()) }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // Nothing is done under the lock that could leave the list half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection, a new one if none waits.
    pub(in super::super) async fn lend(self: &Arc<Self>) -> Result<Lent> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Neo4jError::Protocol("the pool is closed"))?;
        let waiting = self.idle().pop();
        let waited = waiting.is_some();
        let connection = match waiting {
            Some(connection) => connection,
            None => Connection::open(&self.address, self.login.as_ref(), self.connect_timeout).await?,
        };
        Ok(Lent { pool: Arc::clone(self), connection, waited, _permit: permit })
    }

    /// Closes the connections that wait.
    pub(in super::super) fn forget(&self) {
        self.idle().clear();
    }
}
