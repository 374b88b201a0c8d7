//! What outside text said is kept aside until the application approves of it.

use super::{ListRequest, MemoryEngine, MemoryUpdate, delete, watch::Outcome};
use crate::{
    Actor, Error, ErrorKind, Memory, MemoryId, Page, Result, Scope,
    types::quarantine::{is_kept_aside, quarantined},
};

impl MemoryEngine {
    /// One page of what is [kept aside](crate::MemoryEngineBuilder::quarantine) in a scope, in the order it came; the
    /// request's filter narrows it.
    ///
    /// ```
    /// use ingrain::{HashingEmbedder, ListRequest, MemoryEngine, NewMemory, Scope, Trust};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).quarantine(true).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add_raw(&alice, [NewMemory::new("Works at Acme").trust(Trust::Tool)]).await?; // so says a web page
    /// assert!(memory.search(&alice, "where does she work?").await?.is_empty());
    ///
    /// let waiting = memory.quarantined(&alice, ListRequest::new()).await?.items;
    /// memory.approve(&alice, waiting[0].id).await?; // or `reject`
    /// assert_eq!(memory.search(&alice, "where does she work?").await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`list`](Self::list), and for a request as of a time.
    pub async fn quarantined(&self, scope: &Scope, request: ListRequest) -> Result<Page<Memory>> {
        let filter = match request.filter.clone() {
            Some(filter) => filter & quarantined(),
            None => quarantined(),
        };
        self.list(scope, request.filter(filter).include_invalid()).await
    }

    /// Lets a memory hold that is kept aside, by the word of the application ([`Trust::Imported`](crate::Trust::Imported)),
    /// and returns it as it is now. Its history says `approved`, and the
    /// graph takes in the relations it came with. As with [`add_raw`](Self::add_raw) nothing is held
    /// against it: what it contradicts is for the next fact, or for the application, to end.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the scope has no such memory or it is not kept aside; otherwise as
    /// [`update`](Self::update).
    pub async fn approve(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.update_by(scope, id, MemoryUpdate::approved(), Actor::App).await
    }

    /// Removes a memory that is kept aside. Its history stays.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the scope has no such memory or it is not kept aside;
    /// [`Conflict`](ErrorKind::Conflict) if it was approved meanwhile; otherwise as [`delete`](Self::delete).
    pub async fn reject(&self, scope: &Scope, id: MemoryId) -> Result<()> {
        if !is_kept_aside(&self.read(scope, id).await?) {
            return Err(not_kept_aside());
        }
        let stamp = self.stamp(Actor::App).because("rejected");
        let work = delete::delete_if(self, scope, id, &stamp, false, is_kept_aside);
        self.watched("delete", scope, work, |()| Outcome::of(1)).await
    }
}

pub(super) fn not_kept_aside() -> Error {
    Error::new(ErrorKind::NotFound, "no such memory is kept aside")
}
