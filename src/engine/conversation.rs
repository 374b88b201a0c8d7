use std::sync::Arc;

use super::MemoryEngine;
use crate::{Conversation, Error, ErrorKind, Result, Scope, Stage, conversation::Conversations};

impl MemoryEngine {
    /// The conversation of this name: what was said word for word, and a view of it that fits into a request, however long
    /// it goes on. It begins with its first message and is kept as durably as the memories; see [`Conversation`].
    ///
    /// What is said here is not remembered by itself: [`add`](Self::add) does that.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; [`Unsupported`](ErrorKind::Unsupported) if neither
    /// the store keeps conversations nor the [builder](crate::MemoryEngineBuilder::conversation_store) was given a store
    /// that does.
    pub fn conversation(&self, scope: &Scope) -> Result<Conversation> {
        let conversations: &Arc<Conversations> = self.0.conversations.as_ref().ok_or_else(|| {
            let message = "the store keeps no conversations: give the builder one that does";
            Error::new(ErrorKind::Unsupported, message).with_backend(self.0.store.name()).with_stage(Stage::Store)
        })?;
        conversations.open(scope)
    }
}
