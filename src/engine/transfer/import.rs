use std::collections::HashSet;

use super::{
    TransferReport,
    admit::{check, check_events, covered, is_wider, redact_events, redact_memory},
    line::{Line, VERSION},
    relations::Wider,
};
use crate::{
    Entity, Error, ErrorKind, Expect, GraphBatch, HistoryEvent, Memory, MemoryEngine, MemoryId, Message, Put,
    QueuedAdd, QueuedState, Relation, Result, RunningSummary, Scope, Stage, StoredMessage, WriteBatch, add::redact,
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
    pub(super) refused: HashSet<Scope>,
    read: TransferReport,
    pub(super) report: TransferReport,
}

/// What is to be written together.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) memories: Vec<Read<Found>>,
    pub(super) removed: Vec<Read<(MemoryId, Vec<HistoryEvent>)>>,
    pub(super) entities: Vec<Read<Entity>>,
    pub(super) relations: Vec<Read<Relation>>,
    pub(super) talks: Vec<Read<Talk>>,
    pub(super) adds: Vec<Read<QueuedAdd>>,
}

/// A memory, the texts it is found by, and its history.
pub(super) type Found = (Memory, Vec<String>, Vec<HistoryEvent>);

/// What was read from a line.
#[derive(Debug)]
pub(super) struct Read<T> {
    pub(super) line: u64,
    pub(super) it: T,
}

/// Messages of a conversation that follow each other; at its beginning `begins`, with the summary.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) name: Scope,
    pub(super) first: u64,
    pub(super) messages: Vec<Message>,
    pub(super) begins: bool,
    pub(super) summary: Option<RunningSummary>,
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
}

impl Waiting {
    fn len(&self) -> usize {
        let Self { memories, removed, entities, relations, talks, adds } = self;
        memories.len() + removed.len() + entities.len() + relations.len() + talks.len() + adds.len()
    }

    /// The first and the last line of what waits.
    pub(super) fn lines(&self) -> Option<(u64, u64)> {
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

/// The error, with the place in the import.
pub(super) fn named(error: Error, place: &str) -> Error {
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
