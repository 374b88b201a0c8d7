use std::collections::{HashMap, HashSet};

use super::{
    TransferReport,
    line::{Line, VERSION},
    relations::Wider,
};
use crate::{
    Actor, EmbedderExt, Entity, Error, ErrorKind, EventKind, Expect, GraphBatch, HistoryEvent, IndexKey, Memory,
    MemoryEngine, MemoryId, MemoryKind, Message, Purpose, Put, QueuedAdd, QueuedState, Redactor, Relation, Result,
    RunningSummary, Scope, Stage, StoredMessage, WriteBatch,
    add::redact,
    graph::{self, Changed, Changes, Held},
    traits::redact_message,
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
    pub(super) engine: MemoryEngine,
    pub(super) scope: Scope,
    pub(super) on_clash: OnClash,
    lines: u64,
    begun: bool,
    ended: Option<TransferReport>,
    pub(super) waiting: Waiting,
    /// Entities of wider scopes than the one that is imported into.
    pub(super) wider: Wider,
    /// Whether there was no relation before the first of these; `None` until there is one.
    pub(super) is_first: Option<bool>,
    /// Conversations that are others here.
    refused: HashSet<Scope>,
    read: TransferReport,
    report: TransferReport,
}

/// What is to be written together.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    memories: Vec<Read<Found>>,
    removed: Vec<Read<(MemoryId, Vec<HistoryEvent>)>>,
    pub(super) entities: Vec<Read<Entity>>,
    pub(super) relations: Vec<Read<Relation>>,
    talks: Vec<Read<Talk>>,
    adds: Vec<Read<QueuedAdd>>,
}

/// A memory, the texts it is found by, and its history.
type Found = (Memory, Vec<String>, Vec<HistoryEvent>);

/// What was read from a line.
#[derive(Debug)]
pub(super) struct Read<T> {
    line: u64,
    pub(super) it: T,
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
            wider: Wider::default(),
            is_first: None,
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
    /// what the scope does not cover (a relation of a wider one must rest on what it does cover); [`StoreVersion`](ErrorKind::StoreVersion) for an export by a newer version;
    /// [`Conflict`](ErrorKind::Conflict) with [`OnClash::Fail`]; what the embedder or a store report, naming the lines that
    /// were to be written and what had been before. A bad line is not taken; after an error of a store the lines are kept,
    /// and written with the next.
    pub async fn line(&mut self, line: &str) -> Result<()> {
        let number = self.lines + 1;
        if !line.trim().is_empty() {
            self.take(line, number).map_err(|error| named(error, &format!("line {number}")))?;
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

    fn take(&mut self, line: &str, number: u64) -> Result<()> {
        let read = number;
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
                self.waiting.memories.push(Read { line: read, it: (*memory, keys, history) });
            }
            Line::Removed { memory, mut history } => {
                check_events(&history, memory, &self.scope)?;
                if let Some(redactor) = redactor {
                    redact_events(redactor, &mut history);
                }
                self.read.removed += 1;
                self.read.events += history.len() as u64;
                self.waiting.removed.push(Read { line: read, it: (memory, history) });
            }
            Line::Entity { mut entity } => {
                let is_wider = is_wider(&entity.scope, &self.scope)?;
                GraphBatch { entities: vec![entity.clone()], ..GraphBatch::default() }.validate()?;
                if let Some(redactor) = redactor {
                    let Entity { name, aliases, entity_type, summary, metadata, .. } = &mut entity;
                    let strings = [name].into_iter().chain(aliases).chain(entity_type).chain(summary);
                    strings.for_each(|string| redact::text(redactor, string));
                    redact::metadata(redactor, metadata);
                }
                self.read.entities += 1;
                if is_wider {
                    self.wider.keep(entity);
                } else {
                    self.waiting.entities.push(Read { line: read, it: entity });
                }
            }
            Line::Relation { mut relation } => {
                is_wider(&relation.scope, &self.scope)?;
                GraphBatch { relations: vec![relation.clone()], ..GraphBatch::default() }.validate()?;
                if let Some(redactor) = redactor {
                    let Relation { predicate, fact, subject_name, object_name, .. } = &mut relation;
                    let strings = [predicate, fact].into_iter().chain(subject_name).chain(object_name);
                    strings.for_each(|string| redact::text(redactor, string));
                }
                self.read.relations += 1;
                self.waiting.relations.push(Read { line: read, it: relation });
            }
            Line::Conversation { name, first, messages, mut summary } => {
                if let (Some(redactor), Some(summary)) = (redactor, &mut summary) {
                    redact::text(redactor, &mut summary.text);
                }
                self.talk(Talk { name, first, messages, begins: true, summary }, read)?;
            }
            Line::Messages { name, first, messages } => {
                self.talk(Talk { name, first, messages, begins: false, summary: None }, read)?;
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
                self.waiting.adds.push(Read { line: read, it: *add });
            }
            Line::End { counts } => self.ended = Some(counts),
        }
        Ok(())
    }

    fn talk(&mut self, mut talk: Talk, line: u64) -> Result<()> {
        covered(&talk.name, &self.scope)?;
        StoredMessage::check_restored(talk.first, &talk.messages, talk.summary.as_ref())?;
        if let Some(redactor) = self.engine.0.redactor.as_deref() {
            talk.messages.iter_mut().for_each(|message| redact_message(redactor, message));
        }
        self.read.messages += talk.messages.len() as u64;
        self.waiting.talks.push(Read { line, it: talk });
        Ok(())
    }

    /// An error names the lines that are not written, and says what is.
    async fn write(&mut self) -> Result<()> {
        let Err(error) = self.write_waiting().await else { return Ok(()) };
        let Some((first, last)) = self.waiting.lines() else { return Err(error) };
        let place = if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
        let TransferReport { memories, removed, entities, relations, messages, queued_adds, .. } = self.report;
        let before = format!(
            "{memories} memories, {removed} histories of removed ones, {entities} entities, {relations} relations, \
             {messages} messages and {queued_adds} queued adds were imported before"
        );
        Err(named(error, &format!("{before}, and not {place}")))
    }

    /// Writes in steps. What a step has written waits no more, so a later one that fails does not repeat it.
    async fn write_waiting(&mut self) -> Result<()> {
        let mut report = self.report;
        let mut batch = WriteBatch::default();
        let changes = self.memories(&mut batch, &mut report).await?;
        self.removed(&mut batch, &mut report).await?;
        graph::write(&*self.engine.0.store, self.engine.graph_part(), batch, changes).await.map_err(
            |error| match error.kind() {
                ErrorKind::Conflict => {
                    let message = "a memory of the import was changed meanwhile, or is there under a scope that is not \
                               imported into: begin again, or import into another store";
                    in_store(Error::new(ErrorKind::Conflict, message).with_source(error))
                }
                _ => in_store(error),
            },
        )?;
        (self.waiting.memories, self.waiting.removed, self.report) = (Vec::new(), Vec::new(), report);
        if self.is_first.is_none() && !self.waiting.relations.is_empty() {
            self.is_first = Some(self.has_no_relations().await?);
        }
        self.graph(&mut report).await?;
        (self.waiting.entities, self.waiting.relations, self.report) = (Vec::new(), Vec::new(), report);
        while let Some(talk) = self.waiting.talks.first() {
            let is_another = self.conversation(&talk.it, &mut report).await?;
            self.report = report;
            let talk = self.waiting.talks.remove(0);
            if is_another {
                self.refused.insert(talk.it.name);
            }
        }
        self.queue(&mut report).await?;
        (self.waiting.adds, self.report) = (Vec::new(), report);
        Ok(())
    }

    /// What is written of memories, and what becomes of relations that rested on those that are replaced.
    async fn memories(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<Changes> {
        let store = &self.engine.0.store;
        let ids: Vec<MemoryId> = self.waiting.memories.iter().map(|read| read.it.0.id).collect();
        let there = store.get(&self.scope, &ids).await.map_err(in_store)?;
        let there: HashMap<MemoryId, Memory> = there.into_iter().map(|memory| (memory.id, memory)).collect();
        let mut seen = HashSet::new();
        let mut wanted = Vec::new();
        for Read { line, it: one } in &self.waiting.memories {
            let id = one.0.id;
            match (there.get(&id), self.on_clash) {
                _ if !seen.insert(id) => report.skipped += 1,
                (Some(_), OnClash::Skip) => report.skipped += 1,
                (Some(_), OnClash::Fail) => {
                    let message = format!("the store has the memory of line {line} already");
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
        let mut changed = Changed::new();
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
                    changed.insert(memory.id, Held::changed(stored, &memory));
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
        self.followed(&changed).await
    }

    async fn removed(&self, batch: &mut WriteBatch, report: &mut TransferReport) -> Result<()> {
        for Read { it: (id, history), .. } in &self.waiting.removed {
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
        for Read { it: add, .. } in &self.waiting.adds {
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

    /// The first and the last line of what waits.
    fn lines(&self) -> Option<(u64, u64)> {
        fn of<T>(waiting: &[Read<T>]) -> impl Iterator<Item = u64> {
            waiting.iter().map(|read| read.line)
        }
        let Self { memories, removed, entities, relations, talks, adds } = self;
        let lines = || {
            let graph = of(entities).chain(of(relations));
            of(memories).chain(of(removed)).chain(graph).chain(of(talks)).chain(of(adds))
        };
        lines().min().zip(lines().max())
    }
}

fn covered(stored: &Scope, scope: &Scope) -> Result<()> {
    stored.validate()?;
    if scope.covers(stored) { Ok(()) } else { Err(Error::invalid("it belongs to a scope that is not imported into")) }
}

/// Whether something of the graph is of a wider scope than the one imported into, which may know of it by what lies in both.
fn is_wider(stored: &Scope, scope: &Scope) -> Result<bool> {
    stored.validate()?;
    if scope.covers(stored) {
        return Ok(false);
    }
    if scope.agrees_with(stored) { Ok(true) } else { covered(stored, scope).map(|()| false) }
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

/// The error, with the place in the import.
fn named(error: Error, place: &str) -> Error {
    let kind = error.kind();
    let told = error.to_string();
    // Its kind and stage, which stand at the end, are those of the new one.
    let told = told.rfind(" (").and_then(|end| told.get(..end)).unwrap_or(&told);
    let mut named = Error::new(kind, format!("{place} of the import: {told}"));
    if let Some(stage) = error.stage() {
        named = named.with_stage(stage);
    }
    if let Some(backend) = error.backend() {
        named = named.with_backend(backend);
    }
    if let Some(wait) = error.retry_after() {
        named = named.with_retry_after(wait);
    }
    named.with_source(error)
}

pub(super) fn in_store(error: Error) -> Error {
    error.with_stage(Stage::Store)
}
