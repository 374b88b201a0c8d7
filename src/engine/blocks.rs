use super::{ATTEMPTS, MemoryEngine, watch::Outcome};
use crate::{
    Actor, Block, Error, ErrorKind, EventKind, Filter, HistoryEvent, IndexKey, Memory, MemoryId, MemoryKind, Profile,
    Put, Result, Scope, SearchQuery, Stage, Stamp, WriteBatch,
    add::redact,
    context::{ContextParts, profile},
    types::{block_id, block_order, check_label},
};

/// Most blocks of a scope that are listed.
const BLOCKS: usize = 1_000;

/// The core memory of one scope: labelled [`Block`]s that are in every [context](MemoryEngine::context).
///
/// A handle is over the blocks of exactly its scope, in which a label is there once, whoever makes it and however many at
/// once. The context of a wider scope shows them too: what `Scope::user("alice").with_session("monday")` has is shown
/// to Alice. Every edit is one change with one event in the [history](Self::history). Edits at the same time follow one
/// another: none is lost. No edit asks the embedder: a block is in every prompt and is not searched for by meaning. An add
/// neither ends a block nor reads facts from it.
///
/// ```
/// use ingrain::{Block, HashingEmbedder, MemoryEngine, Scope, TokenBudget};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
/// let alice = Scope::user("alice");
/// let blocks = memory.blocks(&alice);
/// blocks.set(Block::new("user", "Alice is a nurse.").description("Who the user is")).await?;
/// blocks.append("user", "She works at night.").await?;
/// blocks.replace("user", "a nurse", "a doctor").await?;
/// let prompt = memory.context(&alice, "Good morning!", TokenBudget::new(400)).await?;
/// assert!(prompt.text.contains(r#"block "user": "Alice is a doctor.\nShe works at night.""#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Blocks {
    engine: MemoryEngine,
    scope: Scope,
    actor: Actor,
}

impl MemoryEngine {
    /// The core memory of a scope: labelled blocks that are in every prompt.
    pub fn blocks(&self, scope: &Scope) -> Blocks {
        Blocks { engine: self.clone(), scope: scope.clone(), actor: Actor::App }
    }
}

impl Blocks {
    /// Edits as an agent does, by tools of your own: read-only blocks refuse, and the history says who it was. Default: as
    /// the application.
    pub fn as_agent(mut self) -> Self {
        self.actor = Actor::Agent;
        self
    }

    /// Makes a block, or puts this one in the place of what has its label.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope or label, a text over the block's limit, or an agent's
    /// edit of a read-only block; [`Conflict`](ErrorKind::Conflict) when others kept changing it; what the store reports.
    /// Nothing was written then.
    pub async fn set(&self, block: Block) -> Result<Block> {
        let label = block.label.clone();
        self.edit(&label, |_| Ok(block.clone())).await
    }

    /// The block with this label, if there is one.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope or label; what the store reports.
    pub async fn get(&self, label: &str) -> Result<Option<Block>> {
        check_label(label)?;
        Ok(self.find(label).await?.and_then(|memory| labelled(&memory, label)))
    }

    /// The blocks of exactly this scope, in the order they were made; at most 1,000.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; what the store reports.
    pub async fn list(&self) -> Result<Vec<Block>> {
        let blocks = self.admitted(Filter::exists("slot")).await?;
        Ok(blocks.iter().filter_map(Block::of).collect())
    }

    /// Adds a text to the end of a block, on a line of its own.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); [`InvalidArgument`](ErrorKind::InvalidArgument) also for a blank text; else as
    /// [`set`](Self::set).
    pub async fn append(&self, label: &str, text: &str) -> Result<Block> {
        if text.trim().is_empty() {
            return Err(Error::invalid("the text to append is blank"));
        }
        self.edit(label, |block| {
            let mut block = block.ok_or_else(no_block)?;
            let apart = if block.text.is_empty() || block.text.ends_with('\n') { "" } else { "\n" };
            block.text = format!("{}{apart}{text}", block.text);
            Ok(block)
        })
        .await
    }

    /// Puts `new` in the place of `old` within a block; with an empty `new`, `old` is taken out.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); [`InvalidArgument`](ErrorKind::InvalidArgument) also if `old` is empty, is not
    /// there or is there more than once; else as [`set`](Self::set).
    pub async fn replace(&self, label: &str, old: &str, new: &str) -> Result<Block> {
        if old.is_empty() {
            return Err(Error::invalid("the text to replace is empty"));
        }
        self.edit(label, |block| {
            let mut block = block.ok_or_else(no_block)?;
            let begins = |at: &usize| block.text.get(*at..).is_some_and(|rest| rest.starts_with(old));
            // Overlapping places count: which of them is meant is as doubtful.
            let mut places = block.text.char_indices().map(|(at, _)| at).filter(begins);
            let Some(at) = places.next() else {
                return Err(Error::invalid("the text to replace is not in the block; it must be copied exactly"));
            };
            if places.next().is_some() {
                return Err(Error::invalid(
                    "the text to replace is in the block more than once; more of what is around it \
                     tells which is meant",
                ));
            }
            block.text.replace_range(at..at + old.len(), new);
            Ok(block)
        })
        .await
    }

    /// Gives a block a new text as a whole; description, limit and the rest stay.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); else as [`set`](Self::set).
    pub async fn rethink(&self, label: &str, text: &str) -> Result<Block> {
        self.edit(label, |block| Ok(Block { text: text.to_owned(), ..block.ok_or_else(no_block)? })).await
    }

    /// Removes a block. Its history stays, and goes on if a block of this label is made again.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); else as [`set`](Self::set).
    pub async fn remove(&self, label: &str) -> Result<()> {
        check_label(label)?;
        let memory = self.find(label).await?.ok_or_else(no_block)?;
        self.may_change(&labelled(&memory, label).ok_or_else(no_block)?)?;
        self.engine.delete_by(&self.scope, memory.id, self.actor).await
    }

    /// What happened to the block with this label, oldest first, also after it was removed.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if there never was one; [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad
    /// scope or label; what the store reports.
    pub async fn history(&self, label: &str) -> Result<Vec<HistoryEvent>> {
        check_label(label)?;
        let id = self.find(label).await?.map_or_else(|| block_id(&self.scope, label), |memory| memory.id);
        self.engine.history(&self.scope, id).await
    }

    /// What is known about the user, as one text of at most `limit` characters: see [`Profile`].
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; what the store reports.
    pub async fn profile(&self, limit: usize) -> Result<Profile> {
        self.scope.validate()?;
        let inner = &self.engine.0;
        let parts = ContextParts { store: &*inner.store, counter: &*inner.counter, now: inner.clock.now() };
        profile(&parts, &self.scope, None, limit).await
    }

    fn may_change(&self, block: &Block) -> Result<()> {
        if block.read_only && self.actor != Actor::App {
            return Err(Error::invalid("the block is read-only"));
        }
        Ok(())
    }

    /// Makes of a block what `change` makes of it, and writes that if it is another.
    async fn edit(&self, label: &str, change: impl Fn(Option<Block>) -> Result<Block>) -> Result<Block> {
        let work = self.edited(label, change);
        self.engine.watched("edit_block", &self.scope, work, |_| Outcome::of(1)).await
    }

    async fn edited(&self, label: &str, change: impl Fn(Option<Block>) -> Result<Block>) -> Result<Block> {
        self.scope.validate()?;
        check_label(label)?;
        let mut attempt = 1;
        loop {
            let known = self.find(label).await?;
            let old = known.as_ref().and_then(|memory| labelled(memory, label));
            old.iter().try_for_each(|block| self.may_change(block))?;
            let mut block = change(old)?;
            if let Some(redactor) = self.engine.0.redactor.as_deref() {
                redact::text(redactor, &mut block.text);
                block.description.iter_mut().for_each(|description| redact::text(redactor, description));
            }
            block.validate()?;
            let stamp = self.engine.stamp(self.actor);
            let Some((memory, batch)) = self.written(label, &block, known, &stamp) else { return Ok(block) };
            match self.engine.0.store.apply(batch).await {
                Ok(_) => return Ok(Block { id: Some(memory.id), updated_at: Some(memory.updated_at), ..block }),
                // Somebody else has made or changed it: the edit is made on what it is now.
                Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error.with_stage(Stage::Store)),
            }
        }
    }

    /// The memory that keeps the block from now on, and the write that makes it so; `None` if it does so already.
    fn written(
        &self,
        label: &str,
        block: &Block,
        known: Option<Memory>,
        stamp: &Stamp,
    ) -> Option<(Memory, WriteBatch)> {
        let mut memory = known.clone().unwrap_or_else(|| {
            let mut memory = Memory::new(block_id(&self.scope, label), self.scope.clone(), "", stamp.at);
            // It is nobody's word but the application's, whoever wrote it first.
            memory.trust = crate::Trust::Imported;
            memory
        });
        block.write_to(&mut memory);
        // What is set is shown, whatever had become of it.
        (memory.invalid_at, memory.superseded_by, memory.expires_at) = (None, None, None);
        if known.as_ref() == Some(&memory) {
            return None;
        }
        // Its words can be looked for; of its meaning nothing is known.
        let keys =
            || vec![IndexKey::new(memory.text.as_str(), vec![0.0; self.engine.0.embedder.identity().dimensions])];
        let new_text = Some(memory.text.clone());
        let (put, kind, old_text) = match known {
            None => (Put::new(memory.clone(), keys()), EventKind::Add, None),
            Some(known) => {
                let keys = (known.text != memory.text).then(keys);
                memory.updated_at = stamp.at;
                memory.revision += 1;
                (Put::change(memory.clone(), keys, known.revision), EventKind::Update, Some(known.text))
            }
        };
        let mut batch = WriteBatch::default();
        batch.puts.push(put);
        batch.events.push(HistoryEvent::new(memory.id, self.scope.clone(), kind, old_text, new_text, stamp.clone()));
        Some((memory, batch))
    }

    /// The memory that keeps the block with this label. One that was stored as it is, by a raw add, has an id of its own.
    async fn find(&self, label: &str) -> Result<Option<Memory>> {
        let in_search = |error: Error| error.with_stage(Stage::Search);
        let ids = [block_id(&self.scope, label)];
        let found = self.engine.0.store.get(&self.scope, &ids).await.map_err(in_search)?;
        match found.into_iter().next() {
            Some(memory) => Ok(Some(memory)),
            None => Ok(self.admitted(Filter::eq("slot", label)).await?.into_iter().next()),
        }
    }

    /// The blocks of exactly this scope that a filter admits.
    async fn admitted(&self, filter: Filter) -> Result<Vec<Memory>> {
        let in_search = |error: Error| error.with_stage(Stage::Search);
        let (store, now) = (&*self.engine.0.store, self.engine.0.clock.now());
        let filter = Filter::And(vec![Filter::eq("kind", MemoryKind::Block), self.scope.exactly(), filter]);
        let query = SearchQuery::new(self.scope.clone(), now).filter(Some(filter.clone())).limit(BLOCKS);
        let found = store.search(&query).await.map_err(in_search)?;
        let ids: Vec<MemoryId> = found.into_iter().map(|candidate| candidate.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut blocks = store.get(&self.scope, &ids).await.map_err(in_search)?;
        blocks.retain(|memory| filter.matches(memory));
        blocks.sort_by_key(block_order);
        Ok(blocks)
    }
}

/// The block that a memory keeps, unless an update made something else of it.
fn labelled(memory: &Memory, label: &str) -> Option<Block> {
    Block::of(memory).filter(|block| block.label == label)
}

fn no_block() -> Error {
    Error::new(ErrorKind::NotFound, "the scope has no block with this label")
}
