use super::{
    ATTEMPTS, MemoryEngine,
    delete::{followed, forgotten, graph_version, guard, told, without_its_text},
    maintain,
    quarantine::not_kept_aside,
};
use crate::{
    Actor, Block, Error, ErrorKind, EventKind, HistoryEvent, IndexKey, Memory, MemoryId, MemoryKind, Metadata, Put,
    Result, Scope, Stage, Timestamp, Trust, WriteBatch,
    add::{keys, redact},
    graph::{self, Changes},
    types::{check_metadata, quarantine, truncate},
};

/// What to change of a memory. What is not mentioned stays.
///
/// ```
/// use ingrain::MemoryUpdate;
/// let update = MemoryUpdate::new().text("Prefers window seats on night trains").importance(0.8);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct MemoryUpdate {
    text: Option<String>,
    metadata: Option<Metadata>,
    categories: Option<Vec<String>>,
    importance: Option<f32>,
    pinned: Option<bool>,
    expires_at: Option<Option<Timestamp>>,
    kind: Option<MemoryKind>,
    slot: Option<Option<String>>,
    trust: Option<Trust>,
    valid_at: Option<Timestamp>,
    invalid_at: Option<Option<Timestamp>>,
    /// Whether a memory that is kept aside is to hold.
    approved: bool,
}

impl MemoryUpdate {
    /// Lets a memory hold that is kept aside.
    pub(super) fn approved() -> Self {
        Self { approved: true, ..Self::default() }
    }

    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new text; not blank.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets these keys of the metadata; a key that is null here is removed, others stay.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// New categories in place of the old.
    pub fn categories<C: Into<String>>(mut self, categories: impl IntoIterator<Item = C>) -> Self {
        self.categories = Some(categories.into_iter().map(Into::into).collect());
        self
    }

    /// A new importance, 0 to 1.
    pub fn importance(mut self, importance: f32) -> Self {
        self.importance = Some(importance);
        self
    }

    /// Whether it is exempt from fading.
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = Some(pinned);
        self
    }

    /// Another kind.
    pub fn kind(mut self, kind: MemoryKind) -> Self {
        self.kind = Some(MemoryKind::from(kind.as_str()));
        self
    }

    /// Another slot, or none. A new text does not change the slot by itself.
    pub fn slot(mut self, slot: Option<String>) -> Self {
        self.slot = Some(slot);
        self
    }

    /// Whose word it rests on, where that is another's than before.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = Some(trust);
        self
    }

    /// Since when it holds.
    pub fn valid_from(mut self, from: Timestamp) -> Self {
        self.valid_at = Some(from);
        self
    }

    /// When it ceased, or will cease, to hold; `None` to let it hold again, whatever had superseded it. What the graph knows by
    /// it follows; of relations of which there is but one at a time the other one stays as long as it is believed.
    pub fn valid_until(mut self, until: Option<Timestamp>) -> Self {
        self.invalid_at = Some(until);
        self
    }

    /// From when on it is no longer shown by default; `None` for never.
    pub fn expires_at(mut self, at: Option<Timestamp>) -> Self {
        self.expires_at = Some(at);
        self
    }

    fn validate(&self) -> Result<()> {
        if self.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Error::invalid("the text of a memory is blank"));
        }
        self.metadata.iter().try_for_each(check_metadata)?;
        if self.importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
            return Err(Error::invalid("the importance of a memory must be 0 to 1"));
        }
        if self.kind.as_ref().is_some_and(|kind| kind.as_str().trim().is_empty()) {
            return Err(Error::invalid("the kind of a memory is blank"));
        }
        Ok(())
    }

    fn apply(&self, memory: &Memory) -> Result<Memory> {
        let Self {
            text,
            metadata,
            categories,
            importance,
            pinned,
            expires_at,
            kind,
            slot,
            trust,
            valid_at,
            invalid_at,
            approved,
        } = self;
        let mut memory = memory.clone();
        if *approved {
            if !quarantine::is_kept_aside(&memory) {
                return Err(not_kept_aside());
            }
            quarantine::release(&mut memory);
        }
        if let Some(text) = text {
            if memory.text != *text {
                quarantine::forget_relations(&mut memory);
            }
            memory.text.clone_from(text);
        }
        for (key, value) in metadata.iter().flatten() {
            if value.is_null() {
                memory.metadata.remove(key);
            } else {
                memory.metadata.insert(key.clone(), value.clone());
            }
        }
        if let Some(categories) = categories {
            memory.categories.clone_from(categories);
        }
        memory.importance = importance.unwrap_or(memory.importance);
        memory.pinned = pinned.unwrap_or(memory.pinned);
        memory.expires_at = expires_at.map_or(memory.expires_at, |at| at.map(truncate));
        memory.kind = kind.clone().unwrap_or(memory.kind);
        memory.slot = slot.clone().unwrap_or(memory.slot);
        memory.trust = trust.unwrap_or(memory.trust);
        memory.valid_at = valid_at.map_or(memory.valid_at, truncate);
        if let Some(until) = invalid_at {
            memory.invalid_at = until.map(truncate);
            memory.superseded_by = memory.superseded_by.filter(|_| until.is_some());
        }
        if memory.invalid_at.is_some_and(|end| end < memory.valid_at) {
            return Err(Error::invalid("a memory ceases to hold before it begins to"));
        }
        Block::of(&memory).iter().try_for_each(Block::validate)?;
        Ok(memory)
    }
}

pub(super) async fn update(
    engine: &MemoryEngine,
    scope: &Scope,
    id: MemoryId,
    mut update: MemoryUpdate,
    by: Actor,
) -> Result<Memory> {
    update.validate()?;
    if let Some(redactor) = engine.0.redactor.as_deref() {
        let MemoryUpdate { text, metadata, categories, slot, .. } = &mut update;
        let strings = text.iter_mut().chain(categories.iter_mut().flatten()).chain(slot.iter_mut().flatten());
        strings.for_each(|string| redact::text(redactor, string));
        metadata.iter_mut().for_each(|metadata| redact::metadata(redactor, metadata));
    }
    let mut stamp = engine.stamp(by);
    if update.approved {
        stamp = stamp.because("approved");
    }
    let mut keys: Option<Vec<IndexKey>> = None;
    let mut attempt = 1;
    loop {
        let version = graph_version(engine).await?;
        let old = engine.read(scope, id).await?;
        let mut new = update.apply(&old)?;
        if new == old {
            return Ok(old);
        }
        let text_changes = new.text != old.text;
        if text_changes && keys.is_none() {
            keys = keys::embed(&*engine.0.embedder, &[&new], &[]).await?.0.pop();
        }
        new.updated_at = stamp.at;
        new.revision += 1;
        let mut batch = WriteBatch::default();
        let new_keys = if text_changes { keys.clone() } else { None };
        if let Some(keys) = new_keys.as_deref() {
            // What is no fact any more finds no turn.
            let instead = if new.kind.is_semantic() { keys } else { &[] };
            batch.puts = without_its_text(engine, &old, instead).await?;
            batch.puts.extend(maintain::on_change(engine, &old).await?);
        }
        let changes = related(engine, &old, &new).await?;
        batch.unchanged = guard(&old.scope, version, &changes);
        batch.puts.push(Put::change(new.clone(), new_keys, old.revision));
        let (old_text, new_text) = (Some(old.text), Some(new.text.clone()));
        batch.events.push(HistoryEvent::new(id, old.scope, EventKind::Update, old_text, new_text, stamp.clone()));
        match graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => return Ok(new),
            // Somebody else changed it meanwhile: the update is made on what it is now.
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error.with_stage(Stage::Store)),
        }
    }
}

/// What becomes of the graph. A new text need not say what the old one did, so nothing rests on it; what rests on a memory
/// holds as long as that does.
async fn related(engine: &MemoryEngine, old: &Memory, new: &Memory) -> Result<Changes> {
    if old.text != new.text {
        return forgotten(engine, &new.scope, &[new.id]).await;
    }
    if quarantine::is_kept_aside(old) && !quarantine::is_kept_aside(new) {
        return told(engine, new, &quarantine::relations(old)).await;
    }
    followed(engine, old, new).await
}
