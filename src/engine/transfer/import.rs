use std::collections::{HashMap, HashSet};

use super::{
    TransferReport,
    line::{Line, VERSION},
};
use crate::{
    Actor, EmbedderExt, Entity, EntityId, Error, ErrorKind, EventKind, Expect, GraphBatch, HistoryEvent, IndexKey,
    Memory, MemoryEngine, MemoryId, MemoryKind, Message, Purpose, Put, QueuedAdd, QueuedState, Redactor, Relation,
    Result, RunningSummary, Scope, Stage, StoredMessage, WriteBatch, add::redact, traits::redact_message,
};

/// How many lines are written at once.
const BATCH: usize = 200;

/// What an import does with a memory whose id the store has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnClash {
    /// Leaves it as it is, with its history: an import that was broken off can be begun again.
    #[default]
    Skip,
    /// Puts what is imported in its place, history included.
    Replace,
    /// Fails with [`Conflict`](ErrorKind::Conflict).
    Fail,
}

/// Lines of an export on their way into a store; see [`MemoryEngine::import`].
#[derive(Debug)]
#[must_use = "what was imported last is written by `finish`"]
pub struct Import {
    engine: MemoryEngine,
    scope: Scope,
    on_clash: OnClash,
    lines: u64,
    begun: bool,
    ended: Option<TransferReport>,
    waiting: Waiting,
    /// Conversations that are others here.
    refused: HashSet<Scope>,
    read: TransferReport,
    report: TransferReport,
}

/// What is to be written together.
#[derive(Debug, Default)]
struct Waiting {
    memories: Vec<(Memory, Vec<String>, Vec<HistoryEvent>)>,
    removed: Vec<(MemoryId, Vec<HistoryEvent>)>,
    entities: Vec<Entity>,
    relations: Vec<Relation>,
    talks: Vec<Talk>,
    adds: Vec<QueuedAdd>,
}

/// Messages of a conversation that follow each other; at its beginning `begins`, with the summary.
#[derive(Debug)]
struct Talk {
    name: Scope,
    first: u64,
    messages: Vec<Message>,
    begins: bool,
    summary: Option<RunningSummary>,
}

impl Import {
    pub(crate) fn new(engine: MemoryEngine, scope: Scope) -> Self {
        Self {
            engine,
            scope,
            on_clash: OnClash::Skip,
            lines: 0,
            begun: false,
            ended: None,
            waiting: Waiting::default(),
            refused: HashSet::new(),
            read: TransferReport::default(),
            report: TransferReport::default(),
        }
    }

    /// What becomes of a memory that is there already. Default [`OnClash::Skip`].
    pub fn on_clash(mut self, on_clash: OnClash) -> Self {
        self.on_clash = on_clash;
        self
    }

    /// Takes one line; blank ones are passed over. Every few hundred, what came is written, and each such write is whole.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument), naming the line, for one that is none of an export, or that holds
    /// what the scope does not cover; [`StoreVersion`](ErrorKind::StoreVersion) for an export by a newer version;
    /// [`Conflict`](ErrorKind::Conflict) with [`OnClash::Fail`]; what the embedder or a store report. A bad line is not
    /// taken; after an error of a store the lines are kept, and written with the next.
    pub async fn line(&mut self, line: &str) -> Result<()> {
        let number = self.lines + 1;
        if !line.trim().is_empty() {
            self.take(line).map_err(|error| named(error, number))?;
        }
        self.lines = number;
        if self.waiting.len() >= BATCH { self.write().await } else { Ok(()) }
    }

    /// Writes what is left, and says how much was imported.
    ///
    /// # Errors
    /// As [`line`](Self::line), and [`InvalidArgument`](ErrorKind::InvalidArgument) if the last line was not that of an
    /// export, or not as many came before it as it says: what did come has been imported all the same, and importing
    /// the whole export adds the rest.
    pub async fn finish(mut self) -> Result<TransferReport> {
        self.write().await?;
        match self.ended {
            Some(counts) if counts == self.read => Ok(self.report),
            Some(counts) => Err(Error::invalid(format!(
                "lines are missing: {} memories, {} relations and {} entities came, of {}, {} and {}",
                self.read.memories,
                self.read.relations,
                self.read.entities,
                counts.memories,
                counts.relations,
                counts.entities
            ))),
            None => Err(Error::invalid("the export ends before its last line")),
        }
    }

    /// What was written so far.
    #[must_use]
    pub const fn progress(&self) -> &TransferReport {
        &self.report
    }

    fn take(&mut self, line: &str) -> Result<()> {
        let line: Line =
            serde_json::from_str(line).map_err(|cause| Error::invalid("no line of an export").with_source(cause))?;
        if self.begun == matches!(line, Line::Ingrain { .. }) {
            let message = if self.begun { "a second beginning" } else { "not the beginning of an export" };
            return Err(Error::invalid(message));
        }
        if self.ended.is_some() {
            return Err(Error::invalid("it comes after the end of the export"));
        }
        let redactor = self.engine.0.redactor.as_deref();
        match line {
            Line::Ingrain { version, .. } if version > VERSION => {
                let message = format!("the export is of version {version}, this crate knows {VERSION}");
                return Err(Error::new(ErrorKind::StoreVersion, message));
            }
            Line::Ingrain { .. } => self.begun = true,
            Line::Memory { mut memory, keys, mut history } => {
                check(&memory, &self.scope)?;
                let put = Put { memory: (*memory).clone(), keys: None, expect: Expect::Anything };
                WriteBatch { puts: vec![put], ..WriteBatch::default() }.validate(None)?;
                check_events(&history, memory.id, &self.scope)?;
                let own = |key: Option<String>| key.unwrap_or_else(|| memory.text.clone());
                let mut keys: Vec<String> = keys.into_iter().map(own).collect();
                if keys.is_empty() {
                    keys.push(memory.text.clone());
                }
                if let Some(redactor) = redactor {
                    redact_memory(redactor, &mut memory);
                    keys.iter_mut().for_each(|key| redact::text(redactor, key));
                    redact_events(redactor, &mut history);
                }
                self.read.memories += 1;
                self.read.events += history.len() as u64;
                self.waiting.memories.push((*memory, keys, history));
            }
            Line::Removed { memory, mut history } => {
                check_events(&history, memory, &self.scope)?;
                if let Some(redactor) = redactor {
                    redact_events(redactor, &mut history);
                }
                self.read.removed += 1;
                self.read.events += history.len() as u64;
                self.waiting.removed.push((memory, history));
            }
            Line::Entity { mut entity } => {
                covered(&entity.scope, &self.scope)?;
                GraphBatch { entities: vec![entity.clone()], ..GraphBatch::default() }.validate()?;
                if let Some(redactor) = redactor {
                    let Entity { name, aliases, entity_type, summary, metadata, .. } = &mut entity;
                    let strings = [name].into_iter().chain(aliases).chain(entity_type).chain(summary);
                    strings.for_each(|string| redact::text(redactor, string));
                    redact::metadata(redactor, metadata);
                }
                self.read.entities += 1;
                self.waiting.entities.push(entity);
            }
            Line::Relation { mut relation } => {
                covered(&relation.scope, &self.scope)?;
                GraphBatch { relations: vec![relation.clone()], ..GraphBatch::default() }.validate()?;
                if let Some(redactor) = redactor {
                    let Relation { predicate, fact, subject_name, object_name, .. } = &mut relation;
                    let strings = [predicate, fact].into_iter().chain(subject_name).chain(object_name);
                    strings.for_each(|string| redact::text(redactor, string));
                }
                self.read.relations += 1;
                self.waiting.relations.push(relation);
            }
            Line::Conversation { name, first, messages, mut summary } => {
                if let (Some(redactor), Some(summary)) = (redactor, &mut summary) {
                    redact::text(redactor, &mut summary.text);
                }
                self.talk(Talk { name, first, messages, begins: true, summary })?;
            }
            Line::Messages { name, first, messages } => {
                self.talk(Talk { name, first, messages, begins: false, summary: None })?;
            }
            Line::QueuedAdd { mut add } => {
                covered(&add.scope, &self.scope)?;
                if let Some(redactor) = redactor {
                    // Strings of the request stay strings: no placeholder has a sign of JSON.
                    redact::text(redactor, &mut add.request);
                }
                if add.state == QueuedState::Running {
                    (add.state, add.leased_until) = (QueuedState::Waiting, None);
                }
                self.read.queued_adds += 1;
                self.waiting.adds.push(*add);
            }
            Line::End { counts } => self.ended = Some(counts),
        }
        Ok(())
    }

    fn talk(&mut self, mut talk: Talk) -> Result<()> {
        covered(&talk.name, &self.scope)?;
        StoredMessage::check_restored(talk.first, &talk.messages, talk.summary.as_ref())?;
        if let Some(redactor) = self.engine.0.redactor.as_deref() {
            talk.messages.iter_mut().for_each(|message| redact_message(redactor, message));
        }
        self.read.messages += talk.messages.len() as u64;
        self.waiting.talks.push(talk);
        Ok(())
    }

    /// Writes in steps. What a step has written waits no more, so a later one that fails does not repeat it.
    async fn write(&mut self) -> Result<()> {
        let mut report = self.report;
        let mut batch = WriteBatch::default();
        self.memories(&mut batch, &mut report).await?;
        self.removed(&mut batch, &mut report).await?;
        self.engine.0.store.apply(batch).await.map_err(|error| match error.kind() {
            ErrorKind::Conflict => {
                let message = "a memory of the import was changed meanwhile, or is there under a scope that is not \
                               imported into: begin again, or import into another store";
                in_store(Error::new(ErrorKind::Conflict, message).with_source(error))
            }
            _ => in_store(error),
        })?;
        (self.waiting.memories, self.waiting.removed, self.report) = (Vec::new(), Vec::new(), report);
        self.graph(&mut report).await?;
        (self.waiting.entities, self.waiting.relations, self.report) = (Vec::new(), Vec::new(), report);
        while let Some(talk) = self.waiting.talks.first() {
            let is_another = self.conversation(talk, &mut report).await?;
            self.report = report;
            let talk = self.waiting.talks.remove(0);
            if is_another {
                self.refused.insert(talk.name);
            }
        }
        self.queue(&mut report).await?;
        (self.waiting.adds, self.report) = (Vec::new(), report);
        Ok(())
    }

    async fn memories(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<()> {
        let store = &self.engine.0.store;
        let ids: Vec<MemoryId> = self.waiting.memories.iter().map(|(memory, ..)| memory.id).collect();
        let there = store.get(&self.scope, &ids).await.map_err(in_store)?;
        let there: HashMap<MemoryId, Memory> = there.into_iter().map(|memory| (memory.id, memory)).collect();
        let mut seen = HashSet::new();
        let mut wanted = Vec::new();
        for one in &self.waiting.memories {
            let id = one.0.id;
            match (there.get(&id), self.on_clash) {
                _ if !seen.insert(id) => report.skipped += 1,
                (Some(_), OnClash::Skip) => report.skipped += 1,
                (Some(_), OnClash::Fail) => {
                    let message = format!("the store has a memory {id} already");
                    return Err(Error::new(ErrorKind::Conflict, message));
                }
                (stored, _) => wanted.push((one, stored)),
            }
        }
        // Of a block's meaning nothing is to be known.
        let is_block = |memory: &Memory| memory.kind == MemoryKind::Block;
        let embedded = wanted.iter().filter(|((memory, ..), _)| !is_block(memory));
        let texts: Vec<&str> = embedded.flat_map(|((_, keys, _), _)| keys.iter().map(String::as_str)).collect();
        let vectors = match texts.as_slice() {
            [] => Vec::new(),
            texts => {
                let embedded = self.engine.0.embedder.embed_checked(texts, Purpose::Document).await;
                embedded.map_err(|error| error.with_stage(Stage::Embed))?
            }
        };
        let mut vectors = vectors.into_iter();
        for ((memory, keys, history), stored) in wanted {
            let mut memory = memory.clone();
            let nothing = || vec![0.0; self.engine.0.embedder.identity().dimensions];
            let keys = match is_block(&memory) {
                true => keys.iter().map(|text| IndexKey::new(text, nothing())).collect(),
                false => keys.iter().zip(vectors.by_ref()).map(|(text, vector)| IndexKey::new(text, vector)).collect(),
            };
            let earlier = store.history(&self.scope, memory.id).await.map_err(in_store)?;
            let mut put = Put::new(memory.clone(), keys);
            match stored {
                Some(stored) => {
                    // Who read the one before must not take this for it.
                    memory.revision = memory.revision.max(stored.revision + 1);
                    (put.memory, put.expect) = (memory, Expect::Revision(stored.revision));
                    batch.erase_history.push(stored.id);
                    batch.events.extend(history.iter().cloned());
                }
                // It was removed here: what happened to it here stays, and ends with its return.
                None if !earlier.is_empty() => {
                    let stamp = self.engine.stamp(Actor::App).because("imported");
                    let text = Some(memory.text.clone());
                    batch.events.push(HistoryEvent::new(memory.id, memory.scope, EventKind::Add, None, text, stamp));
                }
                None => batch.events.extend(history.iter().cloned()),
            }
            report.memories += 1;
            report.events += history.len() as u64;
            batch.puts.push(put);
        }
        Ok(())
    }

    async fn removed(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<()> {
        for (id, history) in &self.waiting.removed {
            let earlier = self.engine.0.store.history(&self.scope, *id).await.map_err(in_store)?;
            if !earlier.is_empty() || batch.puts.iter().any(|put| put.memory.id == *id) {
                report.skipped += 1;
                continue;
            }
            report.removed += 1;
            report.events += history.len() as u64;
            batch.events.extend(history.iter().cloned());
        }
        Ok(())
    }

    async fn graph(&self, report: &mut TransferReport) -> Result<()> {
        let Waiting { entities, relations, .. } = &self.waiting;
        let Some(graph) = self.engine.graph_part().map(|part| part.store) else {
            report.skipped += (entities.len() + relations.len()) as u64;
            return Ok(());
        };
        if entities.is_empty() && relations.is_empty() {
            return Ok(());
        }
        let mut batch = GraphBatch::default();
        let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
        let there = graph.entities(&self.scope, &ids).await.map_err(in_store)?;
        for entity in entities {
            if self.on_clash != OnClash::Replace && there.iter().any(|stored| stored.id == entity.id) {
                report.skipped += 1;
            } else {
                report.entities += 1;
                batch.entities.push(entity.clone());
            }
        }
        let sources: Vec<MemoryId> = relations.iter().flat_map(|relation| relation.sources.iter().copied()).collect();
        let known = graph.relations_of(&self.scope, &sources).await.map_err(in_store)?;
        let (equal, relations): (Vec<&Relation>, Vec<&Relation>) =
            relations.iter().partition(|relation| known.contains(relation));
        report.skipped += equal.len() as u64;
        batch.relations.extend(relations.iter().copied().cloned());
        match graph.apply_graph(&batch).await {
            Ok(()) => {
                report.relations += relations.len() as u64;
                return Ok(());
            }
            Err(error) if !is_refusal(&error) => return Err(in_store(error)),
            Err(_) => {}
        }
        // A relation says something else here, or an end of it is missing: the others go in one by one.
        batch.relations.clear();
        graph.apply_graph(&batch).await.map_err(in_store)?;
        for relation in relations {
            let mut batch = GraphBatch::default();
            batch.relations.push((*relation).clone());
            match graph.apply_graph(&batch).await {
                Ok(()) => report.relations += 1,
                Err(error) if is_refusal(&error) => report.skipped += 1,
                Err(error) => return Err(in_store(error)),
            }
        }
        Ok(())
    }

    /// Writes a part of a conversation; whether the store has another of that name.
    async fn conversation(&self, talk: &Talk, report: &mut TransferReport) -> Result<bool> {
        let Talk { name, first, messages, begins, summary } = talk;
        let store = self.engine.0.conversation_store().filter(|_| !self.refused.contains(name));
        let Some(store) = store else {
            report.skipped += 1;
            return Ok(false);
        };
        let written = if *begins {
            store.restore(name, *first, messages, summary.as_ref()).await
        } else {
            let before = store.messages(name, first.saturating_sub(1), 2).await.map_err(in_store)?;
            match before.as_slice() {
                [last] if last.sequence + 1 == *first => store.append(name, messages).await.map(drop),
                _ => Err(Error::new(ErrorKind::Conflict, "the conversation goes on from elsewhere")),
            }
        };
        match written {
            Ok(()) => report.messages += messages.len() as u64,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                report.skipped += 1;
                if *begins {
                    // What an earlier import had begun may go on; what was begun otherwise may not.
                    let there = store.messages(name, *first, 1).await.map_err(in_store)?;
                    let same = there.first().map(|stored| (stored.sequence, &stored.message))
                        == messages.first().map(|message| (*first, message));
                    return Ok(!same);
                }
            }
            Err(error) => return Err(in_store(error)),
        }
        Ok(false)
    }

    async fn queue(&self, report: &mut TransferReport) -> Result<()> {
        for add in &self.waiting.adds {
            match self.engine.restore_add(add).await {
                Ok(()) => report.queued_adds += 1,
                Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unsupported) => {
                    report.skipped += 1
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Waiting {
    fn len(&self) -> usize {
        let Self { memories, removed, entities, relations, talks, adds } = self;
        memories.len() + removed.len() + entities.len() + relations.len() + talks.len() + adds.len()
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Conflict)
}

fn covered(stored: &Scope, scope: &Scope) -> Result<()> {
    stored.validate()?;
    if scope.covers(stored) { Ok(()) } else { Err(Error::invalid("it belongs to a scope that is not imported into")) }
}

fn check(memory: &Memory, scope: &Scope) -> Result<()> {
    covered(&memory.scope, scope)?;
    crate::check_memory(memory)?;
    if memory.text.trim().is_empty() && memory.kind != MemoryKind::Block {
        return Err(Error::invalid("the text of a memory is blank"));
    }
    if memory.revision >= i64::MAX.cast_unsigned() || memory.access_count >= i64::MAX.cast_unsigned() {
        return Err(Error::invalid("a number of a memory is too great"));
    }
    Ok(())
}

fn check_events(events: &[HistoryEvent], memory: MemoryId, scope: &Scope) -> Result<()> {
    events.iter().try_for_each(|event| {
        if event.memory != memory {
            return Err(Error::invalid("an event is of another memory"));
        }
        covered(&event.scope, scope)
    })
}

fn redact_memory(redactor: &dyn Redactor, memory: &mut Memory) {
    let Memory { text, categories, metadata, speaker, slot, .. } = memory;
    for string in [text].into_iter().chain(categories).chain(speaker).chain(slot) {
        redact::text(redactor, string);
    }
    redact::metadata(redactor, metadata);
}

fn redact_events(redactor: &dyn Redactor, events: &mut [HistoryEvent]) {
    for event in events {
        let HistoryEvent { old_text, new_text, stamp, .. } = event;
        for string in old_text.iter_mut().chain(new_text).chain(&mut stamp.reason) {
            redact::text(redactor, string);
        }
    }
}

fn named(error: Error, line: u64) -> Error {
    let kind = error.kind();
    let told = error.to_string();
    let told = told.trim_end_matches(&format!(" ({})", kind.as_str()));
    Error::new(kind, format!("line {line} of the import: {told}"))
}

fn in_store(error: Error) -> Error {
    error.with_stage(Stage::Store)
}
