//! [`MemoryEngine::add`](crate::MemoryEngine::add): extract → reconcile → store.

mod check;
mod extract;
pub(crate) mod keys;
mod raw;
mod recalled;
mod reconcile;
mod slots;
mod store;

use std::time::Duration;

use serde::Serialize;

use crate::{
    CallId, Embedder, Error, Extractor, IdSource, Ignored, Memory, MemoryId, Message, Reconciler, Result, Scope, Stage,
    Timestamp, Usage, VectorStore,
};

pub use raw::NewMemory;
pub(crate) use raw::add_raw;

/// How much is made of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddMode {
    /// The turns are kept, and nothing is read from them.
    Raw,
    /// The turns are kept, facts are read from them and held against what is known.
    #[default]
    Infer,
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
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct AddRequest {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// How much is made of them.
    pub mode: AddMode,
    /// Whether the assistant's turns are kept too.
    pub assistant_messages: bool,
}

impl AddRequest {
    /// Messages, oldest first.
    pub fn new<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            mode: AddMode::Infer,
            assistant_messages: true,
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
    /// The memory that says it already; `None` when another fact of the same call says or corrects it.
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
    /// What was extracted and is not usable.
    pub ignored: Vec<Ignored>,
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
            updated: Vec::new(),
            superseded: Vec::new(),
            deleted: Vec::new(),
            skipped: Vec::new(),
            recalled: Vec::new(),
            rejected: Vec::new(),
            ignored: Vec::new(),
            model_calls: 0,
            usage: Usage::default(),
            elapsed: Duration::ZERO,
        }
    }
}

/// What an add runs on.
pub(crate) struct AddContext<'a> {
    pub(crate) store: &'a dyn VectorStore,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) extractor: &'a dyn Extractor,
    pub(crate) reconciler: &'a dyn Reconciler,
    pub(crate) ids: &'a IdSource,
    pub(crate) now: Timestamp,
    pub(crate) call: CallId,
}

/// How often a write is tried because others were faster. Of those who write at once one always gets through, so this
/// many may do so.
const ATTEMPTS: usize = 100;

pub(crate) async fn add(context: &AddContext<'_>, scope: &Scope, request: &AddRequest) -> Result<AddReport> {
    scope.validate()?;
    let in_store = |error: Error| error.with_stage(Stage::Store);
    let intake = extract::extract(context, scope, request).await?;
    let mut attempt = 1;
    let mut plan = None;
    loop {
        let version = context.store.version().await.map_err(in_store)?;
        let made = reconcile::reconcile(context, scope, &intake, plan).await?;
        let prepared = store::prepare(context, scope, &intake, &made, version).await?;
        plan = Some(made);
        match context.store.apply(prepared.batch).await {
            Ok(_) => return Ok(prepared.report),
            // What was known changed while the plan was made: it is looked at again.
            Err(error) if error.kind() == crate::ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(in_store(error)),
        }
    }
}
