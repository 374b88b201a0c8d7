use super::{ATTEMPTS, AddContext, keys, redact};
use crate::{
    Actor, Error, ErrorKind, EventKind, ExtractedRelation, HistoryEvent, IndexKey, Memory, MemoryId, MemoryKind,
    Metadata, Put, Result, Scope, Source, Stage, Stamp, Timestamp, Trust, Unchanged, WriteBatch,
    graph::{Changes, Told, Web, predicate_of, write},
    types::{check_metadata, quarantine, truncate},
};

/// A memory to store as it is, without reading anything from it. Bare text turns into one.
///
/// ```
/// use ingrain::{MemoryKind, NewMemory};
/// let new = NewMemory::new("Prefers aisle seats")
///     .kind(MemoryKind::Preference)
///     .categories(["travel"])
///     .at("2025-02-10T08:00:00Z".parse()?);
/// # Ok::<(), chrono::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct NewMemory {
    text: String,
    kind: MemoryKind,
    categories: Vec<String>,
    metadata: Metadata,
    importance: f32,
    pinned: bool,
    speaker: Option<String>,
    trust: Trust,
    slot: Option<String>,
    sources: Vec<Source>,
    ordinal: Option<u64>,
    observed_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
    valid_until: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    relations: Vec<ExtractedRelation>,
}

impl NewMemory {
    /// A fact of this text, byte for byte; blank text is refused when it is added.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: MemoryKind::Fact,
            categories: Vec::new(),
            metadata: Metadata::new(),
            importance: 0.5,
            pinned: false,
            speaker: None,
            trust: Trust::User,
            slot: None,
            sources: Vec::new(),
            ordinal: None,
            observed_at: None,
            valid_from: None,
            valid_until: None,
            expires_at: None,
            relations: Vec::new(),
        }
    }

    /// The kind. Default [`MemoryKind::Fact`].
    pub fn kind(mut self, kind: MemoryKind) -> Self {
        // A custom kind with the name of another is that other: stores keep the name.
        self.kind = MemoryKind::from(kind.as_str());
        self
    }

    /// The categories. Default none.
    pub fn categories<C: Into<String>>(mut self, categories: impl IntoIterator<Item = C>) -> Self {
        self.categories = categories.into_iter().map(Into::into).collect();
        self
    }

    /// The metadata. Default empty.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// How much it matters, 0 to 1. Default 0.5.
    pub fn importance(mut self, importance: f32) -> Self {
        self.importance = importance;
        self
    }

    /// Whether it is exempt from fading. Default: no.
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }

    /// Who said it, by name. Default none.
    pub fn speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Whose word it rests on. What a web page or a tool said is [`Trust::Tool`], and is
    /// [kept aside](crate::MemoryEngineBuilder::quarantine) if that is wanted. Default [`Trust::User`].
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// The single-valued slot it fills; see [`Memory::slot`]. Nothing is superseded by a raw add. Default none.
    pub fn slot(mut self, slot: impl Into<String>) -> Self {
        self.slot = Some(slot.into());
        self
    }

    /// What it was made from. A turn that a fact (any [semantic](MemoryKind::is_semantic) memory) was made from is found
    /// by the fact's text, too, if it is of the same user and agent and whoever sees it sees the fact. Default nothing.
    pub fn sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        self.sources = sources.into_iter().collect();
        self
    }

    /// Its place in its session. Default: for an episode the place after the last, otherwise none.
    pub fn ordinal(mut self, ordinal: u64) -> Self {
        self.ordinal = Some(ordinal);
        self
    }

    /// When it was said or seen, and, unless said otherwise, since when it holds. Default: now.
    pub fn at(mut self, at: Timestamp) -> Self {
        self.observed_at = Some(at);
        self
    }

    /// Since when it holds. Default: when it was said or seen.
    pub fn valid_from(mut self, from: Timestamp) -> Self {
        self.valid_from = Some(from);
        self
    }

    /// When it ceased, or will cease, to hold. Default: it holds.
    pub fn valid_until(mut self, until: Timestamp) -> Self {
        self.valid_until = Some(until);
        self
    }

    /// From when on it is no longer shown by default. Default never.
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// What it tells of who and what there is, for the [graph](crate::Graph): each relation rests on this memory, ends and
    /// goes with it, and counts from the same time. Names find the entities there are as those of facts do, and a
    /// single-valued relation ends the one before. Those of a memory that is kept aside are taken into the graph when
    /// it is approved. Default none.
    ///
    /// ```
    /// use ingrain::{ExtractedRelation, HashingEmbedder, Mention, MemoryEngine, NewMemory, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// let alice = Scope::user("alice");
    /// let works = ExtractedRelation::new(Mention::new("Ann").with_type("person"), "works_at", "Bolt").single_valued();
    /// memory.add_raw(&alice, [NewMemory::new("Ann works at Bolt").relations([works])]).await?;
    /// assert_eq!(memory.graph(&alice).view().await?.relations[0].fact, "Ann works at Bolt");
    /// # Ok(())
    /// # }
    /// ```
    pub fn relations(mut self, relations: impl IntoIterator<Item = ExtractedRelation>) -> Self {
        self.relations = relations.into_iter().collect();
        self
    }

    fn into_memory(mut self, context: &AddContext<'_>, scope: &Scope) -> Result<(Memory, Vec<ExtractedRelation>)> {
        if self.text.trim().is_empty() {
            return Err(Error::invalid("the text of a memory is blank"));
        }
        if self.kind.as_str().trim().is_empty() {
            return Err(Error::invalid("the kind of a memory is blank"));
        }
        if !(0.0..=1.0).contains(&self.importance) {
            return Err(Error::invalid("the importance of a memory must be 0 to 1"));
        }
        check_metadata(&self.metadata)?;
        if !self.relations.iter().all(|relation| predicate_of(relation).is_some()) {
            return Err(Error::invalid("a name or predicate of a relation is blank or longer than 1,024 bytes"));
        }
        if let Some(redactor) = context.redactor {
            let Self { text, categories, metadata, speaker, slot, relations, .. } = &mut self;
            redact::relations(redactor, relations);
            for string in [text].into_iter().chain(categories).chain(speaker).chain(slot) {
                redact::text(redactor, string);
            }
            redact::metadata(redactor, metadata);
        }
        let observed_at = truncate(self.observed_at.unwrap_or(context.now));
        let valid_at = truncate(self.valid_from.unwrap_or(observed_at));
        let invalid_at = self.valid_until.map(truncate);
        if invalid_at.is_some_and(|end| end < valid_at) {
            return Err(Error::invalid("a memory ceases to hold before it begins to"));
        }
        let mut memory = Memory::new(context.ids.next(context.now), scope.clone(), self.text, context.now);
        memory.kind = self.kind;
        memory.categories = self.categories;
        memory.metadata = self.metadata;
        memory.importance = self.importance;
        memory.pinned = self.pinned;
        memory.speaker = self.speaker;
        memory.trust = self.trust;
        memory.slot = self.slot.filter(|slot| !slot.trim().is_empty());
        memory.sources = self.sources;
        memory.ordinal = self.ordinal;
        memory.observed_at = observed_at;
        memory.valid_at = valid_at;
        memory.invalid_at = invalid_at;
        memory.expires_at = self.expires_at.map(truncate);
        if context.quarantine && quarantine::is_for_quarantine(&memory) {
            quarantine::keep_aside(&mut memory, &self.relations);
            self.relations.clear();
        }
        if !self.relations.is_empty() && context.graph.is_none() {
            let message = "no graph for relations: its store keeps none, or they were switched off";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        Ok((memory, self.relations))
    }
}

impl From<&str> for NewMemory {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for NewMemory {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl From<String> for NewMemory {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Stores memories as they are, all or none.
pub(crate) async fn add_raw(context: &AddContext<'_>, scope: &Scope, memories: Vec<NewMemory>) -> Result<Vec<Memory>> {
    scope.validate()?;
    let (memories, relations): (Vec<Memory>, Vec<Vec<ExtractedRelation>>) = memories
        .into_iter()
        .map(|new| new.into_memory(context, scope))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    let (keys, _) = keys::embed(context.embedder, &memories.iter().collect::<Vec<_>>(), &[]).await?;
    let stamp = Stamp::new(truncate(context.now), Actor::App, context.call);
    let mut batch = WriteBatch::default();
    for (memory, keys) in memories.iter().zip(&keys) {
        batch.events.push(HistoryEvent::new(
            memory.id,
            scope.clone(),
            EventKind::Add,
            None,
            Some(memory.text.clone()),
            stamp.clone(),
        ));
        batch.puts.push(Put::new(memory.clone(), keys.clone()));
    }
    let in_store = |error: Error| error.with_stage(Stage::Store);
    let keyed: Vec<(&Memory, &[IndexKey])> = memories
        .iter()
        .zip(keys.iter().map(Vec::as_slice))
        // What nobody has approved of finds no turn either.
        .filter(|(memory, _)| !quarantine::is_kept_aside(memory))
        .collect();
    let relates = relations.iter().any(|relations| !relations.is_empty());
    let mut attempt = 1;
    loop {
        let mut batch = batch.clone();
        let mut changes = Changes::default();
        if relates {
            if context.store.capabilities().guards {
                let version = context.store.version().await.map_err(in_store)?;
                batch.unchanged = Some(Unchanged::new(scope.across_sessions(), version));
            }
            changes = related(context, scope, &memories, &relations).await.map_err(in_store)?;
        }
        batch.puts.extend(keys::lend(context.store, scope, &keyed).await.map_err(in_store)?);
        let alone = batch.puts.len() == memories.len() && batch.unchanged.is_none();
        match write(context.store, context.graph, batch, changes).await {
            Ok(_) => break,
            // A turn or the graph was changed meanwhile. Without one to change there is nothing to wait for.
            Err(error) if error.kind() == ErrorKind::Conflict && !alone && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(in_store(error)),
        }
    }
    // The store gives turns their place.
    if memories.iter().any(|memory| memory.kind == MemoryKind::Episode && memory.ordinal.is_none()) {
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        // It is written: an outage now is no failure of the call.
        return Ok(context
            .store
            .get(scope, &ids)
            .await
            .ok()
            .filter(|there| there.len() == ids.len())
            .unwrap_or(memories));
    }
    Ok(memories)
}

/// What becomes of the graph.
async fn related(
    context: &AddContext<'_>,
    scope: &Scope,
    memories: &[Memory],
    relations: &[Vec<ExtractedRelation>],
) -> Result<Changes> {
    let Some(graph) = context.graph else { return Ok(Changes::default()) };
    let mut web = Web::new(graph.store, scope, context.now, graph.single_valued);
    for (memory, relations) in memories.iter().zip(relations) {
        web.tell(&Told::by(memory, relations)).await?;
    }
    Ok(web.into_changes())
}
