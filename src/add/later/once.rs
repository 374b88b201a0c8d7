use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::OwnedRwLockReadGuard;

use super::{Shared, in_queue, lock};
use crate::{Claim, Error, ErrorKind, MemoryId, QueuedAdd, Result};

/// Sees to it that a claimed add is written by the one who holds it, or not at all.
#[derive(Debug)]
pub(crate) struct Once {
    shared: Arc<Shared>,
    add: QueuedAdd,
    memory: MemoryId,
    lost: AtomicBool,
    /// Held from before the write until this is dropped.
    gate: Mutex<Option<OwnedRwLockReadGuard<()>>>,
}

impl Once {
    pub(super) fn new(shared: Arc<Shared>, add: QueuedAdd, memory: MemoryId) -> Self {
        Self { shared, add, memory, lost: AtomicBool::new(false), gate: Mutex::default() }
    }

    /// The id of the first memory that the add writes.
    pub(crate) fn memory(&self) -> MemoryId {
        self.memory
    }

    /// Asked just before each attempt to write.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if the add was taken out of the queue, or somebody else has it: nothing may be
    /// written.
    pub(crate) async fn before_write(&self) -> Result<()> {
        if lock(&self.gate).is_none() {
            let guard = Arc::clone(&self.shared.gate).read_owned().await;
            *lock(&self.gate) = Some(guard);
        }
        if self.renew().await? {
            return Ok(());
        }
        self.lost.store(true, Ordering::SeqCst);
        Err(Error::new(ErrorKind::Conflict, "the queued add was withdrawn, or is somebody else's by now"))
    }

    /// Lets go of the gate, since what comes next may take long.
    pub(crate) fn not_written(&self) {
        lock(&self.gate).take();
    }

    pub(super) async fn renew(&self) -> Result<bool> {
        let claim = Claim::new(self.shared.clock.now(), self.shared.options.lease, self.memory);
        self.shared.queue.renew(self.add.id, self.add.attempts, claim.until()).await.map_err(in_queue)
    }

    pub(super) fn most_interruptions(&self) -> u32 {
        self.shared.options.interruptions
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}
