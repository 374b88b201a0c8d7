//! [`MemoryAgent`]: answers with what it remembers, and remembers what was said.
//!
//! recall (what is known of the user's words) → *talk* (the model calls tools, and answers) → *save* (the exchange waits in
//! the queue).

mod builder;
mod calls;
mod prompt;
mod reply;
mod save;
mod session;
mod stream;
mod talk;
mod tool;
mod toolbox;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

pub use builder::{MemoryAgentBuilder, Recall, Saving};
pub use reply::{AgentReply, AgentStep, NotSaved, SaveDecision, StopReason, ToolOutcome, ToolUse};
pub use session::AgentSession;
pub use stream::{AgentEvent, AgentStream};
pub use tool::{AgentTool, ToolFn};

use crate::{Error, ErrorKind, Llm, MemoryEngine, Message, Result, Scope};

/// A chatbot that remembers: a persona, a model, a memory, and tools.
///
/// For each reply the model is shown what is known of the user's words when a session begins, and blocks always; it looks
/// up what else it needs with the [tools of the memory](crate::MemoryTools) and the application's own, in at most four
/// steps, and answers. What was said is [queued](MemoryEngine::add_later) to be remembered. Whatever the model does, a
/// reply ends, and says [why](StopReason):
///
/// - Calls are carried out one after the other, and each has its result, in order: also an invented tool (the result names
///   those there are) and arguments that cannot be read.
/// - The same call is not made twice: a notice stands in place of its result. Who does nothing but repeat himself twice has
///   to answer, and so has who has used up the steps.
/// - An empty answer is asked for once more.
/// - Calls that a model writes into its text count if it makes none by its own means (`<tool_call>`, a code fence, nothing
///   but JSON, `Action: name[…]`), save those that stand in what it was shown.
/// - A model without tools, or whose server refuses them, is shown what fits each time and answers in one request.
///
/// What is recalled stands in the prompt as quoted data. The scope is the application's: the model never names one.
///
/// Cheap to clone; clones share everything.
///
/// ```
/// use ingrain::{HashingEmbedder, LlmFn, ChatResponse, MemoryEngine, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
/// let llm = LlmFn::new("kind", |_| async { Ok(ChatResponse::text("I'll keep that in mind.")) });
/// let agent = memory.agent(llm).persona("You are a patient chess tutor.").build()?;
///
/// let reply = agent.respond(&Scope::user("alice"), "I'm allergic to shellfish.").await?;
/// assert_eq!(reply.answer, "I'll keep that in mind.");
/// memory.flush().await?; // before the program ends
/// assert!(memory.context(&Scope::user("alice"), "dinner", 200).await?.text.contains("Is allergic to shellfish"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryAgent(Arc<Inner>);

struct Inner {
    settings: MemoryAgentBuilder,
    /// Whether the model's server has refused tools.
    refused: AtomicBool,
}

impl fmt::Debug for MemoryAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryAgent").field(&self.0.settings).finish()
    }
}

impl MemoryEngine {
    /// An agent that answers with this memory and a model; see [`MemoryAgent`].
    pub fn agent(&self, llm: impl Llm) -> MemoryAgentBuilder {
        MemoryAgent::builder(self.clone(), llm)
    }
}

impl MemoryAgent {
    /// An agent that answers with a memory and a model.
    pub fn builder(memory: MemoryEngine, llm: impl Llm) -> MemoryAgentBuilder {
        MemoryAgentBuilder::new(memory, Arc::new(llm))
    }

    /// The conversation with a user. What is recalled is the user's, sessions aside; what is remembered carries the scope
    /// with its session. What was said there before goes on.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; [`Unsupported`](ErrorKind::Unsupported) if nothing
    /// keeps conversations, as in [`MemoryEngine::conversation`].
    pub fn session(&self, scope: &Scope) -> Result<AgentSession> {
        AgentSession::open(self.clone(), scope)
    }

    /// Answers a user in the session of this scope; see [`AgentSession::respond`].
    ///
    /// # Errors
    /// As [`session`](Self::session) and [`AgentSession::respond`].
    pub async fn respond(&self, scope: &Scope, question: impl Into<Message>) -> Result<AgentReply> {
        self.session(scope)?.respond(question).await
    }

    /// The memory that it answers with.
    #[must_use]
    pub fn memory(&self) -> &MemoryEngine {
        &self.0.settings.memory
    }

    fn settings(&self) -> &MemoryAgentBuilder {
        &self.0.settings
    }

    fn of(settings: MemoryAgentBuilder) -> Self {
        Self(Arc::new(Inner { settings, refused: AtomicBool::new(false) }))
    }

    fn offers_tools(&self) -> bool {
        let Inner { settings, refused } = &*self.0;
        !settings.plain && settings.llm.capabilities().tools && !refused.load(Ordering::Relaxed)
    }

    /// Whether the failure is a refusal of tools, which are then not offered again. One of another kind (a wrong key) is
    /// none, unless the client learned from it that the model has none.
    fn refuses_tools(&self, error: &Error) -> bool {
        let refuses = match error.kind() {
            ErrorKind::Unsupported => true,
            ErrorKind::ProviderRefused => !self.settings().llm.capabilities().tools,
            _ => false,
        };
        if refuses {
            self.0.refused.store(true, Ordering::Relaxed);
        }
        refuses
    }
}
