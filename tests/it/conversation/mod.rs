//! Conversations that go on for longer than a prompt has room: through the engine, over every store.

mod background;
mod failing;
mod limits;
mod sharing;
mod soak;
mod tail;
mod text;

use std::{
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use ingrain::{
    Conversation, ConversationOptions, ConversationView, Error, ErrorKind, HashingEmbedder, InMemoryStore, ManualClock,
    MemoryEngine, MemoryEngineBuilder, Message, Result, Role, Scope, SummarizeRequest, Summarizer, Summary,
    TokenCounter, VectorStore,
};
use tokio::sync::{Semaphore, watch};

use crate::worlds::t0;

/// Where a store is, so that it can be closed and opened again.
pub enum Place {
    Memory(InMemoryStore),
    #[cfg(feature = "sqlite")]
    File(tempfile::TempDir),
}

impl Place {
    pub fn all() -> Vec<Self> {
        vec![
            Self::Memory(InMemoryStore::new()),
            #[cfg(feature = "sqlite")]
            Self::File(tempfile::tempdir().unwrap()),
        ]
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Memory(_) => "in_memory",
            #[cfg(feature = "sqlite")]
            Self::File(_) => "sqlite",
        }
    }

    /// A new handle.
    pub async fn open(&self) -> Arc<dyn VectorStore> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            #[cfg(feature = "sqlite")]
            Self::File(folder) => Arc::new(ingrain::SqliteStore::open(folder.path().join("memory.db")).await.unwrap()),
        }
    }

    /// An engine over a new handle, with this summariser.
    pub async fn engine(&self, options: ConversationOptions, clerk: &Clerk) -> MemoryEngine {
        builder(self.open().await, options).summarizer(clerk.clone()).build().await.unwrap()
    }
}

pub fn builder(store: Arc<dyn VectorStore>, options: ConversationOptions) -> MemoryEngineBuilder {
    MemoryEngine::builder()
        .store(store)
        .embedder(HashingEmbedder::new(8))
        .clock(ManualClock::at(t0()))
        .token_counter(Blanks)
        .conversations(options)
}

pub fn ada() -> Scope {
    Scope::user("ada").with_session("monday")
}

/// A tokenizer for which a token is what stands between blanks.
#[derive(Debug)]
pub struct Blanks;

impl TokenCounter for Blanks {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

/// A message with its number and so many tokens.
pub fn message(role: Role, number: usize, tokens: usize) -> Message {
    Message::new(role, format!("m{number}{}", " word".repeat(tokens.saturating_sub(1))))
}

/// The exchange of this number: two messages.
pub fn exchange(number: usize, tokens: usize) -> [Message; 2] {
    [message(Role::User, 2 * number, tokens), message(Role::Assistant, 2 * number + 1, tokens)]
}

/// The number of a message.
pub fn number(message: &Message) -> usize {
    message.text.split_whitespace().next().and_then(|word| word.strip_prefix('m')?.parse().ok()).expect("a number")
}

type Reply = dyn Fn(&Asked, usize) -> Result<String> + Send + Sync;

/// What a summariser was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub previous: Option<String>,
    pub messages: Vec<Message>,
}

/// A summariser that a test holds in its hand. By itself it writes which numbers it was told of, as `m0-m12`; pieces that
/// do not follow each other stay apart, and what it is told twice it tells twice.
#[derive(Clone)]
pub struct Clerk(Arc<Inner>);

struct Inner {
    asked: Mutex<Vec<Asked>>,
    begun: watch::Sender<usize>,
    /// Those who may go on.
    gate: Semaphore,
    reply: Box<Reply>,
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
}

impl std::fmt::Debug for Clerk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clerk")
    }
}

impl Clerk {
    pub fn new() -> Self {
        Self::replying(|asked, _| Ok(covering(asked)))
    }

    pub fn replying(reply: impl Fn(&Asked, usize) -> Result<String> + Send + Sync + 'static) -> Self {
        let clerk = Self::held(reply);
        clerk.let_go();
        clerk
    }

    /// One that does not answer until it is let go.
    pub fn held(reply: impl Fn(&Asked, usize) -> Result<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            asked: Mutex::default(),
            begun: watch::Sender::new(0),
            gate: Semaphore::new(0),
            reply: Box::new(reply),
            at_work: AtomicUsize::new(0),
            most_at_work: AtomicUsize::new(0),
        }))
    }

    pub fn let_go(&self) {
        self.0.gate.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.0.asked.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub async fn has_begun(&self, calls: usize) {
        self.0.begun.subscribe().wait_for(|begun| *begun >= calls).await.unwrap();
    }

    pub fn most_at_work(&self) -> usize {
        self.0.most_at_work.load(Ordering::SeqCst)
    }
}

#[ingrain::async_trait]
impl Summarizer for Clerk {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        let asked = Asked { previous: request.previous.map(str::to_owned), messages: request.messages.to_vec() };
        let call = {
            let mut all = self.0.asked.lock().unwrap();
            all.push(asked.clone());
            all.len()
        };
        let at_work = self.0.at_work.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most_at_work.fetch_max(at_work, Ordering::SeqCst);
        self.0.begun.send_replace(call);
        let permit = self.0.gate.acquire().await.unwrap();
        // Slow, so that much happens meanwhile.
        for _ in 0..call % 7 {
            tokio::task::yield_now().await;
        }
        drop(permit);
        self.0.at_work.fetch_sub(1, Ordering::SeqCst);
        (self.0.reply)(&asked, call).map(Summary::of)
    }
}

pub fn out() -> Error {
    Error::new(ErrorKind::ProviderUnreachable, "the clerk is out")
}

/// The numbers of the messages that a summary of a [`Clerk`] tells of, as pieces in the order it tells them.
pub fn told(summary: &str) -> Vec<Range<usize>> {
    let bounds = |piece: &str| {
        let (first, last) = piece.split_once('-').expect("a piece");
        first.strip_prefix('m').unwrap().parse().unwrap()..last.strip_prefix('m').unwrap().parse::<usize>().unwrap() + 1
    };
    joined(summary.split_whitespace().map(bounds))
}

fn joined(pieces: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => joined.push(piece),
        }
    }
    joined
}

pub fn covering(asked: &Asked) -> String {
    let previous = asked.previous.as_deref().map(told).unwrap_or_default();
    let messages = asked.messages.iter().map(number).map(|number| number..number + 1);
    let pieces = joined(previous.into_iter().chain(messages));
    pieces.iter().map(|piece| format!("m{}-m{}", piece.start, piece.end - 1)).collect::<Vec<_>>().join(" ")
}

/// The view holds what it promises, for a conversation whose messages have the numbers 0 to `said`, written by a [`Clerk`].
pub fn sound(view: &ConversationView, limit: usize, said: usize) {
    let size: usize = view.messages.iter().map(|message| Blanks.count(&message.text)).sum();
    let calls = view.messages.iter().flat_map(|message| &message.tool_calls);
    let size = size + calls.map(|call| Blanks.count(&call.name) + Blanks.count(&call.arguments)).sum::<usize>();
    assert_eq!(view.size, size);
    assert!(size <= limit, "{size} is more than {limit}");
    let framed = usize::from(view.messages.first().is_some_and(|message| message.role == Role::System));
    let shown: Vec<usize> = view.messages.iter().skip(framed).map(number).collect();
    let first = said - shown.len();
    assert!(shown.iter().copied().eq(first..said), "the last ones, in order: {shown:?} of {said}");
    let covered = view.summary.as_ref().map_or(0, |summary| usize::try_from(summary.covers_before).unwrap());
    if let Some(summary) = &view.summary {
        assert_eq!(told(&summary.text), std::slice::from_ref(&(0..covered)), "none lost, none twice");
        assert!(view.messages[0].text.contains(&summary.text));
    }
    assert_eq!(covered + usize::try_from(view.left_out).unwrap(), first, "all is accounted for");
    assert_eq!(view.messages[..framed].iter().any(|front| front.text.contains("left out here")), view.left_out > 0);
}

/// What is kept is all that was said: numbers 0 to `said`, each once, in order.
pub async fn complete(chat: &Conversation, said: usize) {
    let kept = chat.messages(0, usize::MAX).await.unwrap();
    let numbers = kept.iter().map(|stored| (usize::try_from(stored.sequence).unwrap(), number(&stored.message)));
    assert!(numbers.eq((0..said).map(|number| (number, number))), "{} of {said}", kept.len());
}
