//! [`MemoryEngine::conversation`](crate::MemoryEngine::conversation): append → view, and meanwhile plan → compress.
//!
//! What is said is written to a [`ConversationStore`] and stays there word for word. Whatever is kept beside it in memory
//! (`ledger`) can be lost at any time. A task shortens the conversation (`worker`, `compress`); it lives while there is
//! something to do, and neither an append nor a view waits for it.

mod compress;
mod event;
mod ledger;
mod measure;
mod options;
mod plan;
mod turns;
mod view;
mod worker;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::Serialize;
use tokio::sync::{Notify, watch};

pub(crate) use event::ConversationObserver;
pub use event::{ConversationEvent, SummaryFailure};
use ledger::Ledger;
use measure::Limits;
pub use options::{ConversationOptions, ConversationSize};
use turns::{Turn, atoms, exchanges};
pub use view::ConversationView;

use crate::{
    Clock, ConversationStore, Error, Message, Redactor, Result, RunningSummary, Scope, Stage, StoredMessage,
    Summarizer, TokenCounter,
    traits::redact_message,
    types::{check_metadata, truncate},
};

/// What conversations are kept and shortened with.
#[derive(Debug)]
pub(crate) struct ConversationParts {
    /// None where nothing keeps conversations.
    pub(crate) store: Option<Arc<dyn ConversationStore>>,
    pub(crate) summarizer: Arc<dyn Summarizer>,
    /// What stands in for a summariser that cannot do it.
    pub(crate) fallback: Option<Arc<dyn Summarizer>>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) redactor: Option<Arc<dyn Redactor>>,
    pub(crate) observer: Option<ConversationObserver>,
    pub(crate) options: ConversationOptions,
}

/// The same, checked.
#[derive(Debug)]
struct Parts {
    store: Arc<dyn ConversationStore>,
    /// None where nothing is to be summarised.
    summarizer: Option<Arc<dyn Summarizer>>,
    fallback: Option<Arc<dyn Summarizer>>,
    clock: Arc<dyn Clock>,
    redactor: Option<Arc<dyn Redactor>>,
    observer: Option<ConversationObserver>,
    options: ConversationOptions,
    limits: Limits,
}

/// The conversations of an engine. When it is dropped, nothing is summarised any more.
#[derive(Debug)]
pub(crate) struct Conversations {
    parts: Arc<Parts>,
    /// Those in use: one task at most works on each.
    open: Mutex<HashMap<Scope, Weak<Talk>>>,
}

/// A conversation in use. A task that works on it keeps it, too.
#[derive(Debug)]
struct Talk {
    parts: Arc<Parts>,
    conversation: Scope,
    ledger: tokio::sync::Mutex<Ledger>,
    work: Mutex<worker::Work>,
    /// Ends the wait before another try.
    hurry: Notify,
    /// Changes when the work has come to an end, or failed.
    changes: watch::Sender<u64>,
    /// A number that the last message has or comes before the last.
    end: AtomicU64,
}

impl ConversationParts {
    /// The conversations, if there is a store.
    ///
    /// # Errors
    /// `Configuration` for options that are out of range, store or not.
    pub(crate) fn open(self) -> Result<Option<Conversations>> {
        let Self { store, summarizer, fallback, counter, clock, redactor, observer, options } = self;
        let limits = Limits::of(&options, counter)?;
        let Some(store) = store else { return Ok(None) };
        let summarizer = Some(summarizer).filter(|_| options.summaries);
        let parts = Parts { store, summarizer, fallback, clock, redactor, observer, options, limits };
        Ok(Some(Conversations { parts: Arc::new(parts), open: Mutex::default() }))
    }
}

impl Conversations {
    pub(crate) fn store(&self) -> &dyn ConversationStore {
        &*self.parts.store
    }

    pub(crate) fn open(self: &Arc<Self>, conversation: &Scope) -> Result<Conversation> {
        conversation.validate()?;
        // What is behind the lock is changed in one step.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(talk) = open.get(conversation).and_then(Weak::upgrade) {
            return Ok(Conversation { talk, _all: Arc::clone(self) });
        }
        if open.len() == open.capacity() {
            open.retain(|_, talk| talk.strong_count() > 0);
        }
        let talk = Arc::new(Talk {
            parts: Arc::clone(&self.parts),
            conversation: conversation.clone(),
            ledger: tokio::sync::Mutex::default(),
            work: Mutex::default(),
            hurry: Notify::new(),
            changes: watch::Sender::default(),
            end: AtomicU64::new(0),
        });
        open.insert(conversation.clone(), Arc::downgrade(&talk));
        Ok(Conversation { talk, _all: Arc::clone(self) })
    }
}

impl Drop for Conversations {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        open.values().filter_map(Weak::upgrade).for_each(|talk| talk.stop());
    }
}

/// What an append did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Appended {
    /// The number of the first message; the others follow it one by one.
    pub first: u64,
    /// How many old messages were dropped for good, since there are more exchanges than the limit and nothing is
    /// summarised.
    pub dropped: u64,
}

/// What the user said, and what became of it: up to the next time the user speaks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Exchange {
    /// Its messages, never none, in their order.
    pub messages: Vec<StoredMessage>,
}

/// A conversation that can go on for as long as it likes: the next request holds its end word for word and a summary of the
/// rest, and never more than the [limits](ConversationOptions).
///
/// Cheap to clone; all handles on one conversation share everything, also those of other engines and processes on the
/// same store. A conversation is named by its whole scope: that of a user is not that of the user's session.
///
/// Once the messages that the summary does not cover are too many, a task on the caller's runtime summarises the oldest of
/// them in segments, and extends the running summary by them. No call waits for it. Several engines may share a store:
/// each in use does this, none overwrites what another has summarised, and the slower one's text is thrown away. A
/// failure is [told](Self::failure), tried again after a while, and loses nothing: a message is dropped only if the
/// summary covers it, or if nothing is summarised. The task ends with the engine and the last handle; what was not
/// finished then is taken up when the conversation is next used.
///
/// ```
/// use ingrain::{ConversationOptions, HashingEmbedder, MemoryEngine, Message, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let options = ConversationOptions::new().max_tokens(300);
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).conversations(options).build().await?;
/// let chat = memory.conversation(&Scope::user("alice").with_session("monday"))?;
/// for number in 0..40 {
///     let question = format!("I walked past house number {number}. Which one is next?");
///     chat.append([Message::user(question), Message::assistant("The one behind it, I would say.")]).await?;
/// }
/// chat.settle().await?; // for tests, and before the program ends
/// let view = chat.view().await?;
/// assert!(view.size <= 300 && view.left_out == 0);
/// assert!(view.messages[0].text.contains("this conversation so far"));
/// assert_eq!(view.messages.last().unwrap().text, "The one behind it, I would say.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Conversation {
    talk: Arc<Talk>,
    /// Work goes on while there are handles.
    _all: Arc<Conversations>,
}

impl Conversation {
    /// The scope that names it.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.talk.conversation
    }

    /// Appends messages, all or none, and returns once they are stored; summarising goes on meanwhile. They may be part of
    /// an exchange, as a question without its answer or a tool call without its results: nothing that is open is
    /// summarised while it has room.
    ///
    /// Texts are kept byte for byte, once secrets are taken out of them ([`redactor`](crate::MemoryEngineBuilder::redactor)).
    /// A message without a time was said now. Cancelling leaves the append done or not done.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) without a message, or for metadata nested too deep;
    /// [`Configuration`](crate::ErrorKind::Configuration) outside a tokio runtime, unless nothing is summarised; what the
    /// store reports. Nothing was appended then, unless it is that an outage hid the outcome.
    pub async fn append<M: Into<Message>>(&self, messages: impl IntoIterator<Item = M>) -> Result<Appended> {
        let parts = &*self.talk.parts;
        let now = truncate(parts.clock.now());
        let mut messages: Vec<Message> = messages.into_iter().map(Into::into).collect();
        for message in &mut messages {
            check_metadata(&message.metadata)?;
            if let Some(redactor) = parts.redactor.as_deref() {
                redact_message(redactor, message);
            }
            message.at.get_or_insert(now);
        }
        let runtime = parts.summarizer.as_ref().map(|_| worker::runtime()).transpose()?;
        let first = parts.store.append(&self.talk.conversation, &messages).await.map_err(in_store)?;
        self.talk.end.fetch_max(first, Ordering::Relaxed);
        let mut dropped = 0;
        match runtime {
            Some(runtime) => self.talk.kick(&runtime),
            // What is not dropped now, because of an outage, is with the next append.
            None if parts.options.max_exchanges.is_some() => dropped = self.drop_oldest().await.unwrap_or(0),
            None => {}
        }
        Ok(Appended { first, dropped })
    }

    /// What goes into the next request: see [`ConversationView`].
    ///
    /// Reads only; the same state of the store gives the same view. It takes time in proportion to the limit, however long
    /// the conversation is.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn view(&self) -> Result<ConversationView> {
        let hint = self.talk.end.load(Ordering::Relaxed);
        let (view, end) = view::view(&self.talk.parts, &self.talk.conversation, hint).await.map_err(in_store)?;
        self.talk.end.fetch_max(end, Ordering::Relaxed);
        Ok(view)
    }

    /// The messages that are kept, from number `from` on, oldest first, at most `limit`: also those that the summary covers.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn messages(&self, from: u64, limit: usize) -> Result<Vec<StoredMessage>> {
        self.talk.parts.store.messages(&self.talk.conversation, from, limit).await.map_err(in_store)
    }

    /// All that is kept, exchange by exchange, oldest first: also those that the summary covers. The last may be open.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn exchanges(&self) -> Result<Vec<Exchange>> {
        let messages = self.messages(0, usize::MAX).await?;
        let turns: Vec<Turn> = messages.iter().map(|stored| Turn::of(stored, &self.talk.parts.limits)).collect();
        let turns: Vec<&Turn> = turns.iter().collect();
        let lengths = exchanges(&turns, &atoms(turns.iter().copied()));
        let mut messages = messages.into_iter();
        let next = |range: std::ops::Range<usize>| Exchange { messages: messages.by_ref().take(range.len()).collect() };
        Ok(lengths.into_iter().map(next).collect())
    }

    /// The running summary, if there is one, and what it covers.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn summary(&self) -> Result<Option<RunningSummary>> {
        self.talk.parts.store.summary(&self.talk.conversation).await.map_err(in_store)
    }

    /// Why the summary could not be extended the last time; `None` if it could, or was not tried yet. Of this engine's work
    /// alone.
    #[must_use]
    pub fn failure(&self) -> Option<SummaryFailure> {
        self.talk.failure()
    }

    /// Waits until no summary is due: for tests, and before a program ends. A try that would be waited for is made at once.
    /// Work that an engine before this one has left is taken up. Dropping the future changes nothing.
    ///
    /// # Errors
    /// The last failure, after three in a row; the work goes on nevertheless. Outside a tokio runtime
    /// [`Configuration`](crate::ErrorKind::Configuration).
    pub async fn settle(&self) -> Result<()> {
        self.talk.settle().await
    }

    /// Erases this conversation, and every other that its scope covers, with their summaries, and says how many messages
    /// went: that of a user takes those of the user's sessions with it. A summary that is being made of them vanishes.
    /// Memories stay; [`delete_all`](crate::MemoryEngine::delete_all) takes both.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn erase(&self) -> Result<u64> {
        self.talk.parts.store.erase(&self.talk.conversation).await.map_err(in_store)
    }

    /// Drops what is beyond the limit of exchanges, where nothing is summarised.
    async fn drop_oldest(&self) -> Result<u64> {
        let talk = &self.talk;
        let mut ledger = talk.ledger.lock().await;
        ledger.catch_up(&talk.parts, &talk.conversation).await?;
        talk.drop_beyond(&mut ledger, u64::MAX, false).await
    }
}

fn in_store(error: Error) -> Error {
    error.with_stage(Stage::Store)
}
