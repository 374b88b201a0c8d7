//! [`MemoryEngine::add`](crate::MemoryEngine::add): extract → reconcile → store.

mod aside;
mod check;
mod extract;
mod given;
pub(crate) mod keys;
pub(crate) mod later;
mod raw;
mod recalled;
mod reconcile;
pub(crate) mod redact;
mod relate;
#[cfg(feature = "sqlite")]
mod restore;
mod slots;
mod store;

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    CallBudget, CallId, Embedder, Error, ErrorKind, Extractor, IdSource, Ignored, Memory, MemoryId, Message,
    Reconciler, Redactor, Relation, ResolvedMention, Result, Scope, Stage, Timestamp, Usage, VectorStore,
    graph::{self, GraphPart},
    types::check_metadata,
};

pub(crate) use given::add_facts;
pub use later::{BackgroundOptions, FlushReport};
pub use raw::NewMemory;
pub(crate) use raw::add_raw;
#[cfg(feature = "sqlite")]
pub(crate) use restore::restored;

/// How much is made of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AddMode {
    /// The turns are kept, and nothing is read from them.
    Raw,
    /// The turns are kept, facts are read from them and held against what is known: by the rules or, with a
    /// [model](crate::MemoryEngineBuilder::llm), by one question to it.
    #[default]
    Infer,
    /// As [`Infer`](Self::Infer), but the model decides with tools (add, update, delete, do nothing) in at most three
    /// steps. After each it is told what was noted down and what cannot be done, so it can mend its plan, and it gives a
    /// short [account](AddReport::account). Nothing is written before the end, and then all at once, after the same checks.
    /// Takes a model; one that knows no tools is asked as in [`Infer`](Self::Infer).
    Agentic,
}

/// Messages to remember, and how. Arrays, vectors, single messages and bare text turn into one.
///
/// ```
/// use ingrain::{AddMode, AddRequest, Message};
/// let request = AddRequest::new([Message::user("Hi"), Message::assistant("Hello!")]).mode(AddMode::Raw);
/// ```
///
/// Kept are the turns of the user and the assistant; system and tool messages, and messages without text, are read past.
/// What a [context](crate::MemoryEngine::context) had put into a message is not remembered again; see [`RecalledText`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
#[non_exhaustive]
pub struct AddRequest {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// How much is made of them.
    pub mode: AddMode,
    /// Whether the assistant's turns are kept too.
    pub assistant_messages: bool,
    /// The language facts are written in, by its English name; `None` for the extractor's choice.
    pub language: Option<String>,
    /// The categories to choose from; empty for the extractor's choice.
    pub categories: Vec<String>,
    /// Further instructions for the model that reads facts.
    pub instructions: Option<String>,
    /// Most calls of a model; `None` for no limit.
    pub max_model_calls: Option<u32>,
    /// Most tokens of those calls, sent and received; `None` for no limit.
    pub max_tokens: Option<u64>,
    /// Whether nothing is written, and the report tells what would be.
    pub dry_run: bool,
}

impl AddRequest {
    /// Messages, oldest first.
    pub fn new<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            mode: AddMode::Infer,
            assistant_messages: true,
            language: None,
            categories: Vec::new(),
            instructions: None,
            max_model_calls: None,
            max_tokens: None,
            dry_run: false,
        }
    }

    /// How much is made of them. Default [`AddMode::Infer`].
    pub fn mode(mut self, mode: AddMode) -> Self {
        self.mode = mode;
        self
    }

    /// Whether the assistant's turns are kept too. Facts are read from the user's words either way. Default: yes.
    pub fn assistant_messages(mut self, kept: bool) -> Self {
        self.assistant_messages = kept;
        self
    }

    /// The language facts are written in, by its English name. Rules cannot translate and leave it unheeded. Default: the
    /// extractor's choice, which is that of the messages.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// The categories to choose from; others are left out. Default: the extractor's choice.
    pub fn categories<C: Into<String>>(mut self, categories: impl IntoIterator<Item = C>) -> Self {
        self.categories = categories.into_iter().map(Into::into).collect();
        self
    }

    /// Further instructions for the model that reads facts. Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Most calls of a model, repetitions included. A step that would take more is left to the
    /// [rules](crate::rules), and [reported](AddReport::fallbacks). Default: no limit; two steps ask a model, each once and
    /// once more if the answer was of no use, or up to three times for the second with [`AddMode::Agentic`].
    pub fn max_model_calls(mut self, calls: u32) -> Self {
        self.max_model_calls = Some(calls);
        self
    }

    /// Most tokens sent to and received from a model, with the same fallback. What a request will take is estimated, so a
    /// call may end a few tokens above it. Default: no limit.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Whether nothing is written: the report then is the plan, and its ids are given to nothing. Default: no.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Without a message.
impl Default for AddRequest {
    fn default() -> Self {
        Self::new::<Message>([])
    }
}

impl<M: Into<Message>, const N: usize> From<[M; N]> for AddRequest {
    fn from(messages: [M; N]) -> Self {
        Self::new(messages)
    }
}

impl<M: Into<Message>> From<Vec<M>> for AddRequest {
    fn from(messages: Vec<M>) -> Self {
        Self::new(messages)
    }
}

impl From<&[Message]> for AddRequest {
    fn from(messages: &[Message]) -> Self {
        Self::new(messages.iter().cloned())
    }
}

impl From<&Message> for AddRequest {
    fn from(message: &Message) -> Self {
        Self::new([message.clone()])
    }
}

impl From<Message> for AddRequest {
    fn from(message: Message) -> Self {
        Self::new([message])
    }
}

impl From<&str> for AddRequest {
    fn from(text: &str) -> Self {
        Self::new([text])
    }
}

impl From<String> for AddRequest {
    fn from(text: String) -> Self {
        Self::new([text])
    }
}

/// Why a fact was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// It is known, or the same turn says or corrects it.
    Known,
    /// It only tells the end of something ("I no longer take ibuprofen"), and nothing of that is known.
    NothingToEnd,
    /// The assistant only repeated what is stored, word for word: nobody said it anew.
    Recalled,
}

/// A message that holds text of a [context](crate::MemoryEngine::context), which was not remembered again.
///
/// It is known by its markers and by the form of its lines, in part too, with other white space, marked as quoted, or
/// escaped as JSON. No fact is read from it, in any message. A turn that has words of its own beside it is kept, byte
/// for byte, and found by those words alone; one that has none is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecalledText {
    /// The message, as an index into [`AddRequest::messages`].
    pub message: usize,
    /// Whether it holds nothing else: then the turn was not kept.
    pub whole: bool,
}

/// A fact that was not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedFact {
    /// The fact's text.
    pub text: String,
    /// The memory that says it already; `None` when another fact of the same call says or corrects it, or nothing is there
    /// that it could end.
    pub known: Option<MemoryId>,
    /// Why it was not stored.
    pub reason: SkipReason,
}

/// What an add did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AddReport {
    /// The call, as the history names it.
    pub call: CallId,
    /// The turns that were kept, in order.
    pub episodes: Vec<MemoryId>,
    /// New memories made of facts.
    pub added: Vec<Memory>,
    /// What is believed anew in the graph: relations that began, and those of which we learned that they ended.
    pub relations: Vec<Relation>,
    /// Names that were taken for stored entities on the word of a model, in the order of the alphabet, and how to take one
    /// back. [`Graph`](crate::Graph) says which may be. With [`AddMode::Infer`] alone.
    pub resolved: Vec<ResolvedMention>,
    /// Memories that got a new text, as they are now.
    pub updated: Vec<Memory>,
    /// Memories whose validity ended because a new one replaces them, as they are now.
    pub superseded: Vec<Memory>,
    /// Memories whose validity ended because they were withdrawn, as they are now.
    pub deleted: Vec<Memory>,
    /// Facts that were not stored, since nothing in them is new.
    pub skipped: Vec<SkippedFact>,
    /// Messages of the user and the assistant that hold text the memory itself had given, in order.
    pub recalled: Vec<RecalledText>,
    /// What a plan wanted and was not done, with the reason.
    pub rejected: Vec<String>,
    /// What was done and why, in the model's own words, if it gave any ([`AddMode::Agentic`]). At most 500 characters, one
    /// line, and not checked: the lists here tell what was really done.
    pub account: Option<String>,
    /// What was extracted and is not usable.
    pub ignored: Vec<Ignored>,
    /// New memories made of facts that are [kept aside](crate::MemoryEngineBuilder::quarantine), as they are.
    pub quarantined: Vec<Memory>,
    /// Memories among the new ones, turns too, and among those with a new text, that
    /// [read like an instruction](crate::cues::looks_like_instruction) to a model.
    pub flagged: Vec<MemoryId>,
    /// Memories among the new ones whose quote was not found in the messages, if the extractor looked.
    pub unverified: Vec<MemoryId>,
    /// Steps that the rules took over, since the budget allowed no call of a model.
    pub fallbacks: Vec<Stage>,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Calls of a model.
    pub model_calls: u32,
    /// What they cost.
    pub usage: Usage,
    /// How long it took.
    pub elapsed: Duration,
}

impl AddReport {
    fn new(call: CallId) -> Self {
        Self {
            call,
            episodes: Vec::new(),
            added: Vec::new(),
            relations: Vec::new(),
            resolved: Vec::new(),
            updated: Vec::new(),
            superseded: Vec::new(),
            deleted: Vec::new(),
            skipped: Vec::new(),
            recalled: Vec::new(),
            rejected: Vec::new(),
            account: None,
            ignored: Vec::new(),
            quarantined: Vec::new(),
            flagged: Vec::new(),
            unverified: Vec::new(),
            fallbacks: Vec::new(),
            dry_run: false,
            model_calls: 0,
            usage: Usage::default(),
            elapsed: Duration::ZERO,
        }
    }

    /// Whether the memory is new or has a new text.
    fn tells(&self, memory: &Memory) -> bool {
        let new = self.added.iter().chain(&self.updated).chain(&self.quarantined).map(|new| new.id);
        new.chain(self.episodes.iter().copied()).any(|new| new == memory.id)
    }

    /// Why no fact was stored or changed, in two or three words; `None` if one was: `no facts` were found, or all were
    /// `already known`, or tell ends and there was `nothing to end`, or every step was `not possible` and
    /// [rejected](Self::rejected).
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        let changed = [&self.added, &self.updated, &self.superseded, &self.deleted, &self.quarantined];
        if changed.iter().any(|memories| !memories.is_empty()) {
            return None;
        }
        let tells_an_end = |skipped: &SkippedFact| skipped.reason == SkipReason::NothingToEnd;
        Some(match (self.skipped.is_empty(), self.rejected.is_empty()) {
            (false, _) if self.skipped.iter().all(tells_an_end) => "nothing to end",
            (false, _) => "already known",
            (true, false) => "not possible",
            (true, true) => "no facts",
        })
    }
}

/// What an add runs on.
pub(crate) struct AddContext<'a> {
    pub(crate) store: &'a dyn VectorStore,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) extractor: &'a dyn Extractor,
    pub(crate) reconciler: &'a dyn Reconciler,
    /// What decides with tools, if there is a model.
    pub(crate) agentic: Option<&'a dyn Reconciler>,
    /// What stands in for them when the budget allows no call of a model.
    pub(crate) rules: (&'a dyn Extractor, &'a dyn Reconciler),
    pub(crate) redactor: Option<&'a dyn Redactor>,
    /// Whether what outside text said is kept aside.
    pub(crate) quarantine: bool,
    /// Where relations are kept, if they are.
    pub(crate) graph: Option<GraphPart<'a>>,
    pub(crate) ids: &'a IdSource,
    pub(crate) now: Timestamp,
    pub(crate) call: CallId,
    /// For an add that must not be carried out twice.
    pub(crate) once: Option<&'a later::Once>,
}

/// How often a write is tried because others were faster. Of those who write at once one always gets through, so this
/// many may do so.
const ATTEMPTS: usize = 100;

/// The request as it may go on, if it may at all: checked, and without secrets.
pub(crate) fn admitted<'r>(
    context: &AddContext<'_>,
    scope: &Scope,
    request: &'r AddRequest,
) -> Result<Cow<'r, AddRequest>> {
    scope.validate()?;
    reconciler(context, request.mode)?;
    request.messages.iter().try_for_each(|message| check_metadata(&message.metadata))?;
    let mut request = Cow::Borrowed(request);
    if let Some(redactor) = context.redactor {
        redact::request(redactor, request.to_mut());
    }
    Ok(request)
}

fn reconciler<'a>(context: &AddContext<'a>, mode: AddMode) -> Result<&'a dyn Reconciler> {
    match mode {
        AddMode::Raw | AddMode::Infer => Ok(context.reconciler),
        AddMode::Agentic => context.agentic.ok_or_else(|| {
            Error::new(ErrorKind::Configuration, "`AddMode::Agentic` takes a model: give one to the engine's builder")
        }),
    }
}

pub(crate) async fn add(context: &AddContext<'_>, scope: &Scope, request: &AddRequest) -> Result<AddReport> {
    let request = &*admitted(context, scope, request)?;
    let reconciler = reconciler(context, request.mode)?;
    let budget = CallBudget::new(request.max_model_calls, request.max_tokens);
    let intake = extract::extract(context, scope, request, &budget).await.map_err(|error| costing(error, &budget))?;
    let carried_out = carry_out(context, reconciler, scope, &intake, &budget, request.dry_run).await;
    carried_out.map_err(|error| {
        // An extractor that keeps no account with the budget has told what it cost.
        let AddReport { model_calls, usage, .. } = intake.report;
        let error = if budget.model_calls() == 0 { error.with_spent(model_calls, usage) } else { error };
        costing(error, &budget)
    })
}

/// A failed add had its costs as well.
fn costing(error: Error, budget: &CallBudget) -> Error {
    if budget.model_calls() == 0 { error } else { error.with_spent(budget.model_calls(), budget.usage()) }
}

/// Reconciles what came in and writes it, as often as it takes.
async fn carry_out(
    context: &AddContext<'_>,
    reconciler: &dyn Reconciler,
    scope: &Scope,
    intake: &extract::Intake,
    budget: &CallBudget,
    dry_run: bool,
) -> Result<AddReport> {
    let in_store = |error: Error| error.with_stage(Stage::Store);
    let mut attempt = 1;
    let mut plan = None;
    loop {
        let version = context.store.version().await.map_err(in_store)?;
        let made = reconcile::reconcile(context, reconciler, scope, intake, budget, plan).await?;
        let prepared = store::prepare(context, scope, intake, &made, version).await?;
        if dry_run {
            return Ok(AddReport { dry_run: true, ..prepared.report });
        }
        plan = Some(made);
        if let Some(once) = context.once {
            once.before_write().await?;
        }
        match graph::write(context.store, context.graph, prepared.batch, prepared.changes).await {
            Ok(_) => return Ok(prepared.report),
            // What was known changed while the plan was made: it is looked at again.
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => {
                context.once.inspect(|once| once.not_written());
                attempt += 1;
            }
            Err(error) => return Err(in_store(error)),
        }
    }
}
