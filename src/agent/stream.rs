//! A reply as it comes.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use super::{
    calls::OPENINGS,
    reply::{AgentReply, ToolUse},
};
use crate::{Error, MemoryContext, Result, ToolCall, prompted::THOUGHTS};

/// Something that happens while a reply is made.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// This was put into the prompt, unless there was nothing.
    Recalled(MemoryContext),
    /// The model is asked, for the first, second, … time.
    Asked(u32),
    /// A piece of what it says. Thoughts are left out. Words before [`Calling`](Self::Calling) are no part of the answer.
    Text(String),
    /// It calls a tool.
    Calling(ToolCall),
    /// That came of it.
    Called(ToolUse),
    /// The reply: the last event.
    Done(Box<AgentReply>),
}

/// Where events go, if anybody listens.
pub(super) struct Sink<'s>(pub(super) Option<&'s mut (dyn FnMut(AgentEvent) + Send)>);

impl Sink<'_> {
    pub(super) fn tell(&mut self, event: impl FnOnce() -> AgentEvent) {
        if let Some(sink) = &mut self.0 {
            sink(event());
        }
    }
}

type Work<'s> = Pin<Box<dyn Future<Output = Result<AgentReply>> + Send + 's>>;

/// A reply in the making: [`next`](Self::next) drives it and hands out what happens.
///
/// Made by [`AgentSession::respond_stream`](super::AgentSession::respond_stream). Nothing happens between the calls of
/// `next`, and dropping it abandons the reply: the session is as it was before.
#[must_use = "nothing happens until `next` is called"]
pub struct AgentStream<'s> {
    events: Events,
    /// None when it is done.
    work: Option<Work<'s>>,
    /// What comes after the events.
    failure: Option<Error>,
}

/// Events that were not handed out yet.
#[derive(Clone, Default)]
pub(super) struct Events(Arc<Mutex<VecDeque<AgentEvent>>>);

impl Events {
    pub(super) fn push(&self, event: AgentEvent) {
        self.queue().push_back(event);
    }

    fn pop(&self) -> Option<AgentEvent> {
        self.queue().pop_front()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<AgentEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AgentStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentStream").field("done", &self.work.is_none()).finish_non_exhaustive()
    }
}

impl<'s> AgentStream<'s> {
    pub(super) fn new(events: Events, work: impl Future<Output = Result<AgentReply>> + Send + 's) -> Self {
        Self { events, work: Some(Box::pin(work)), failure: None }
    }

    /// The next event; `None` after [`AgentEvent::Done`] or an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<AgentEvent>> {
        poll_fn(|context| {
            if let Some(event) = self.events.pop() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(work) = &mut self.work
                && let Poll::Ready(end) = work.as_mut().poll(context)
            {
                self.work = None;
                match end {
                    Ok(reply) => self.events.push(AgentEvent::Done(Box::new(reply))),
                    Err(error) => self.failure = Some(error),
                }
            }
            match self.events.pop() {
                Some(event) => Poll::Ready(Some(Ok(event))),
                None if self.work.is_some() => Poll::Pending,
                None => Poll::Ready(self.failure.take().map(Err)),
            }
        })
        .await
    }

    /// The reply, without the events that are left.
    ///
    /// # Errors
    /// As [`AgentSession::respond`](super::AgentSession::respond); [`InvalidArgument`](crate::ErrorKind::InvalidArgument) if the
    /// reply or the error was handed out already.
    pub async fn reply(mut self) -> Result<AgentReply> {
        while let Some(event) = self.next().await {
            if let AgentEvent::Done(reply) = event? {
                return Ok(*reply);
            }
        }
        Err(Error::invalid("the reply was handed out already"))
    }
}

/// What a model says, piece by piece, without the thoughts that it begins with. A text that begins like a written call is
/// held back until it is known whether it is one.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// What was not handed on yet.
    held: String,
    begun: bool,
}

impl Speech {
    pub(super) fn hear(&mut self, piece: &str, tell: &mut dyn FnMut(String)) {
        if self.begun {
            if !piece.is_empty() {
                tell(piece.to_owned());
            }
            return;
        }
        self.held.push_str(piece);
        while let Some(rest) = after_thought(&self.held) {
            self.held = rest.to_owned();
        }
        if begins_plainly(&self.held) {
            self.begun = true;
            tell(std::mem::take(&mut self.held).trim_start().to_owned());
        }
    }

    /// Hands on the words of an answer of which nothing was handed on.
    pub(super) fn end(self, said: &str, tell: &mut dyn FnMut(String)) {
        if !self.begun && !said.is_empty() {
            tell(said.to_owned());
        }
    }
}

/// What follows the thought that the text begins with, if that has an end.
fn after_thought(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let start = lower.len() - lower.trim_start().len();
    let begun = lower.get(start..)?;
    let name = THOUGHTS.into_iter().find(|name| {
        begun.strip_prefix('<').and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('>'))
    })?;
    let close = format!("</{name}>");
    let end = begun.find(&close)?;
    text.get(start + end + close.len()..)
}

/// Whether the text is known to begin with words: not with a thought or a call, nor with what may become one.
fn begins_plainly(text: &str) -> bool {
    let begun = text.trim_start().to_ascii_lowercase();
    let thoughts = THOUGHTS.into_iter().map(|name| format!("<{name}>"));
    let openings = thoughts.chain(OPENINGS.into_iter().map(str::to_owned));
    !begun.is_empty()
        && openings.into_iter().all(|opening| !opening.starts_with(&begun) && !begun.starts_with(&opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&str], said: &str) -> Vec<String> {
        let mut told = Vec::new();
        let mut speech = Speech::default();
        pieces.iter().for_each(|piece| speech.hear(piece, &mut |text| told.push(text)));
        speech.end(said, &mut |text| told.push(text));
        told
    }

    #[test]
    fn words_are_handed_on_and_thoughts_are_not() {
        assert_eq!(heard(&["Por", "to", ""], "Porto"), ["Por", "to"]);
        assert_eq!(heard(&[" <th", "ink>a <b", "</think>\n", "<THINK></think> Por", "to"], "Porto"), ["Por", "to"]);
        assert_eq!(heard(&["<", "b>"], "<b>"), ["<b>"]);
        assert_eq!(heard(&["<think>on and on"], ""), Vec::<String>::new());
    }

    #[test]
    fn what_may_be_a_call_is_held_back() {
        assert_eq!(heard(&["{\"name\": ", "\"x\"}"], ""), Vec::<String>::new());
        assert_eq!(heard(&["<tool_", "call>{}"], ""), Vec::<String>::new());
        assert_eq!(heard(&["```", "rust\n```"], "```rust\n```"), ["```rust\n```"]);
        assert_eq!(heard(&["Act", "ually, no"], "Actually, no"), ["Actually, no"]);
    }
}
