use super::{
    MemoryAgent,
    reply::AgentReply,
    save::save,
    stream::{AgentEvent, AgentStream, Events, Sink},
    talk::Talk,
};
use crate::{Conversation, Error, Message, Result, Role, Scope, engine::Outcome};

/// The conversation of an agent with one user, kept as a [`Conversation`] of the engine: as durably as the memories, shown
/// to the model within its [limits](crate::ConversationOptions), and continued by whoever opens the same scope again.
///
/// Questions and answers are kept, calls of tools and their results are not: what was recalled can be recalled again, and
/// what a tool told should not live on here when it is deleted from the memory. What was said in the session does, until the
/// [conversation](crate::MemoryEngine::conversation) of its scope is erased, or the scope is
/// [purged](crate::MemoryEngine::purge) with everything.
///
/// Cheap to clone; clones share everything. Two replies at the same time do not see each other.
#[derive(Debug, Clone)]
pub struct AgentSession {
    agent: MemoryAgent,
    conversation: Conversation,
}

impl AgentSession {
    pub(super) fn open(agent: MemoryAgent, scope: &Scope) -> Result<Self> {
        let conversation = agent.memory().conversation(scope)?;
        Ok(Self { agent, conversation })
    }

    /// The scope it is held in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        self.conversation.scope()
    }

    /// What was said so far.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Answers the user.
    ///
    /// The question and the answer become part of the session, and are saved as the agent [saves](super::Saving). If the
    /// model had no words, the question alone does. A call that fails, or whose future is dropped, leaves the session as it
    /// was; what tools had changed by then stays changed. If the future is dropped at the very end, the exchange may be in
    /// the session and not be saved.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a message that is blank or not the user's; what the model
    /// or the memory report: an outage is no reply.
    pub async fn respond(&self, question: impl Into<Message>) -> Result<AgentReply> {
        let question = question.into();
        self.answer(question, Sink(None)).await
    }

    /// As [`respond`](Self::respond), told while it happens, the model's words piece by piece where it
    /// [streams](crate::LlmCapabilities::streaming).
    ///
    /// ```no_run
    /// # async fn example(session: ingrain::AgentSession) -> ingrain::Result<()> {
    /// use ingrain::AgentEvent;
    /// let mut stream = session.respond_stream("What did I lose with last week?");
    /// while let Some(event) = stream.next().await {
    ///     match event? {
    ///         AgentEvent::Text(piece) => print!("{piece}"),
    ///         AgentEvent::Done(reply) => println!("\n({} memories recalled)", reply.recalled.len()),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn respond_stream(&self, question: impl Into<Message>) -> AgentStream<'_> {
        let (question, events) = (question.into(), Events::default());
        let told = events.clone();
        AgentStream::new(told, async move {
            let mut tell = |event: AgentEvent| events.push(event);
            self.answer(question, Sink(Some(&mut tell))).await
        })
    }

    async fn answer(&self, question: Message, sink: Sink<'_>) -> Result<AgentReply> {
        let cost = |reply: &AgentReply| Outcome::of(reply.recalled.len()).costing(reply.model_calls, reply.usage);
        let work = self.answered(question, sink);
        self.agent.settings().memory.watched("respond", self.scope(), work, cost).await
    }

    async fn answered(&self, mut question: Message, sink: Sink<'_>) -> Result<AgentReply> {
        if question.role != Role::User || question.text.trim().is_empty() {
            return Err(Error::invalid("an agent answers a message of the user that is not blank"));
        }
        let settings = self.agent.settings();
        settings.memory.redact_query(&mut question.text);
        let before = self.conversation.view().await?.messages;
        let with_tools = self.agent.offers_tools();
        let mut talk = Talk::begin(settings, self.scope(), with_tools, &before, &question, sink).await?;
        let mut refused_calls = 0;
        let end = match talk.run().await {
            Err(error) if with_tools && talk.steps.is_empty() && self.agent.refuses_tools(&error) => {
                refused_calls = talk.model_calls;
                talk = Talk::begin(settings, self.scope(), false, &before, &question, talk.sink).await?;
                talk.run().await
            }
            end => end,
        };
        let (model_calls, usage) = (talk.model_calls + refused_calls, talk.usage);
        let end = end.map_err(|error| error.with_spent(model_calls, usage))?;
        let (recalled, changed) = (talk.recalled(), talk.changed());
        let mut exchange = vec![question];
        if !end.answer.is_empty() {
            exchange.push(Message::assistant(end.answer.as_str()));
        }
        let kept = self.conversation.append(exchange.iter().cloned()).await;
        kept.map_err(|error| error.with_spent(model_calls, usage))?;
        let saved = save(settings, self.scope(), exchange, &changed).await;
        Ok(AgentReply {
            answer: end.answer,
            stop: end.stop,
            context: talk.context,
            recalled,
            steps: talk.steps,
            transcript: talk.messages,
            saved,
            changed,
            model_calls,
            usage,
        })
    }
}
