//! One reply: the model calls tools, is told what came of it, and answers in the end.

use std::collections::HashSet;

use super::{
    MemoryAgentBuilder,
    builder::Recall,
    calls::{Heard, hear},
    prompt::{self, Urge},
    reply::{AgentStep, StopReason, ToolOutcome, ToolUse},
    stream::{AgentEvent, Sink, Speech},
    toolbox::{Toolbox, told},
};
use crate::{
    ApproximateTokens, CallBudget, ChatRequest, ChatResponse, ContextRequest, ErrorKind, Filter, FinishReason,
    MemoryContext, MemoryId, Message, Result, Role, Scope, TokenCounter, ToolCall, ToolChoice, Usage,
};

/// Most calls of one step that are carried out.
const CALLS: usize = 16;
/// How often a model may do nothing but repeat itself.
const STRIKES: u32 = 2;
/// Longest arguments that cannot be read and are sent back to the model, in bytes.
const UNREADABLE: usize = 2_000;

/// One reply in the making.
pub(super) struct Talk<'a, 's> {
    agent: &'a MemoryAgentBuilder,
    /// None: the model is offered no tools.
    toolbox: Option<Toolbox<'a>>,
    pub(super) sink: Sink<'s>,
    budget: CallBudget,
    /// All that was sent and said; the instructions first.
    pub(super) messages: Vec<Message>,
    /// Where the question stands among them.
    question: usize,
    pub(super) context: MemoryContext,
    pub(super) steps: Vec<AgentStep>,
    pub(super) model_calls: u32,
    pub(super) usage: Usage,
    /// Whether the model calls tools by its own means: then what it writes is only written.
    native: bool,
}

/// What it came to.
pub(super) struct End {
    pub(super) answer: String,
    pub(super) stop: StopReason,
}

impl<'a, 's> Talk<'a, 's> {
    /// With what is known of the user's words, and what was said in the session before.
    pub(super) async fn begin(
        agent: &'a MemoryAgentBuilder,
        scope: &'a Scope,
        with_tools: bool,
        before: &[Message],
        question: &Message,
        mut sink: Sink<'s>,
    ) -> Result<Self> {
        let context = context(agent, scope, with_tools, before, question).await?;
        if !context.is_empty() {
            sink.tell(|| AgentEvent::Recalled(context.clone()));
        }
        let mut system = prompt::system(agent, with_tools, agent.memory.now(), &context);
        // The summary of what was said is a system message, of which many models take but one.
        let (summaries, said): (Vec<&Message>, _) = before.iter().partition(|message| message.role == Role::System);
        for summary in summaries {
            system.push_str("\n\n");
            system.push_str(&summary.text);
        }
        let mut messages = vec![Message::system(system)];
        messages.extend(said.into_iter().cloned());
        let place = messages.len();
        messages.push(question.clone());
        let toolbox =
            with_tools.then(|| Toolbox::new(agent.memory_tools_of(scope), &agent.tools, scope, agent.max_result_chars));
        Ok(Self {
            agent,
            toolbox,
            sink,
            budget: CallBudget::new(None, agent.max_tokens),
            messages,
            question: place,
            context,
            steps: Vec::new(),
            model_calls: 0,
            usage: Usage::default(),
            native: false,
        })
    }

    pub(super) async fn run(&mut self) -> Result<End> {
        let (mut steps, mut strikes, mut asked_again) = (0, 0, false);
        let mut forced = (self.toolbox.is_some() && self.agent.max_steps == 0).then_some(StopReason::StepLimit);
        loop {
            let (reply, heard) = match self.exchange(&mut forced, asked_again).await {
                Ok(heard) => heard,
                Err(error) if error.kind() == ErrorKind::BudgetExhausted => {
                    return Ok(End { answer: String::new(), stop: StopReason::BudgetExhausted });
                }
                Err(error) if error.kind() == ErrorKind::UnusableModelOutput && !asked_again => {
                    asked_again = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !heard.calls.is_empty() && forced.is_none() {
                steps += 1;
                let is_repetition = self.carry_out(&reply, heard).await?;
                strikes += u32::from(is_repetition);
                if strikes >= STRIKES {
                    forced = Some(StopReason::Repeated);
                } else if steps >= self.agent.max_steps {
                    forced = Some(StopReason::StepLimit);
                }
                continue;
            }
            let answer = heard.said.clone();
            self.note(&reply, heard);
            match (answer.is_empty(), &reply.finish) {
                (_, FinishReason::Filtered) => return Ok(self.end(answer, StopReason::Filtered)),
                (true, _) if asked_again => return Ok(self.end(answer, StopReason::EmptyAnswer)),
                (true, _) => asked_again = true,
                (false, FinishReason::Length) => return Ok(self.end(answer, StopReason::CutOff)),
                (false, _) => return Ok(self.end(answer, forced.unwrap_or(StopReason::Answered))),
            }
        }
    }

    fn end(&mut self, answer: String, stop: StopReason) -> End {
        if !answer.is_empty() {
            self.messages.push(Message::assistant(answer.as_str()));
        }
        End { answer, stop }
    }

    /// One request, within the budget, and what the answer comes to. If the budget is too small for another request like
    /// it, this one must be answered.
    async fn exchange(&mut self, forced: &mut Option<StopReason>, asked_again: bool) -> Result<(ChatResponse, Heard)> {
        let mut request = ChatRequest::new(self.messages.clone());
        if let Some(toolbox) = &self.toolbox {
            request = request.with_tools(toolbox.definitions().to_vec(), ToolChoice::Auto);
        }
        request.temperature = self.agent.temperature;
        let expected = expected_input(&request);
        let allowed = self.budget.begin(expected)?;
        request.max_output_tokens = self.agent.max_output_tokens.into_iter().chain(allowed).min();
        if self.toolbox.is_some() && allowed.is_some_and(|left| u64::from(left) < expected) {
            forced.get_or_insert(StopReason::BudgetExhausted);
        }
        if forced.is_some() && self.toolbox.is_some() {
            request.tool_choice = ToolChoice::None;
        }
        let urge = match forced {
            _ if asked_again => Some(Urge::Empty),
            Some(_) if !self.steps.is_empty() => Some(Urge::Answer),
            _ => None,
        };
        if let (Some(urge), Some(system)) = (urge, request.messages.first_mut()) {
            system.text.push_str(urge.text());
        }
        self.model_calls += 1;
        let number = self.model_calls;
        self.sink.tell(|| AgentEvent::Asked(number));
        let mut speech = Speech::default();
        let llm = &self.agent.llm;
        let reply = match &mut self.sink.0 {
            None => llm.chat(&request).await,
            Some(sink) => {
                let mut tell = |piece: &str| speech.hear(piece, &mut |text| sink(AgentEvent::Text(text)));
                llm.chat_stream(&request, &mut tell).await
            }
        };
        let reply = reply.map_err(|error| error.with_backend(llm.name()))?;
        self.usage += reply.usage;
        let received = ApproximateTokens.count(&reply.text) + reply.tool_calls.iter().map(tokens_of).sum::<usize>();
        self.budget.spend(reply.usage, expected + u64::try_from(received).unwrap_or(u64::MAX));
        let tools = self.toolbox.as_ref().map(Toolbox::definitions).unwrap_or_default();
        self.native |= !reply.tool_calls.is_empty();
        // Who has means of his own, or no tools, only tells of a call, unless he marks it as one.
        let mut heard = hear(&reply, if self.native { &[] } else { tools }, &self.shown());
        if self.toolbox.is_none() {
            heard.calls.clear();
        }
        self.name_calls(&mut heard);
        if let (Some(sink), true) = (&mut self.sink.0, heard.calls.is_empty() || forced.is_some()) {
            speech.end(&heard.said, &mut |text| sink(AgentEvent::Text(text)));
        }
        Ok((reply, heard))
    }

    /// What the model was shown: all but what it said since the question.
    fn shown(&self) -> String {
        let is_own = |place: usize, message: &Message| place > self.question && message.role == Role::Assistant;
        let others = self.messages.iter().enumerate().filter(|(place, message)| !is_own(*place, message));
        others.map(|(_, message)| message.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Gives an id to calls that have none of their own.
    fn name_calls(&self, heard: &mut Heard) {
        let (step, count) = (self.steps.len(), heard.calls.len());
        let mut taken = HashSet::new();
        for (place, call) in heard.calls.iter_mut().enumerate() {
            let mut number = place;
            while call.id.is_empty() || !taken.insert(call.id.clone()) {
                call.id = format!("step{step}_call{number}");
                number += count;
            }
        }
    }

    /// Carries the calls out, one after the other, and tells the model what came of each. Says whether all of them had
    /// been made before.
    async fn carry_out(&mut self, reply: &ChatResponse, heard: Heard) -> Result<bool> {
        let Some(toolbox) = &mut self.toolbox else { return Ok(false) };
        let mut uses = Vec::with_capacity(heard.calls.len());
        for (place, call) in heard.calls.into_iter().enumerate() {
            self.sink.tell(|| AgentEvent::Calling(call.clone()));
            let used = if place < CALLS {
                toolbox.call(call).await?
            } else {
                let reason = format!("Not done: at most {CALLS} calls are made at once.");
                told(call, ToolOutcome::NotAllowed, |_| reason)
            };
            self.sink.tell(|| AgentEvent::Called(used.clone()));
            uses.push(used);
        }
        let mut turn = Message::assistant(if heard.written { reply.text.as_str() } else { heard.said.as_str() });
        if heard.written {
            let results = uses.iter().map(|used| format!("{}: {}", used.call.name, used.result));
            let results = results.collect::<Vec<_>>().join("\n\n");
            self.messages.push(turn);
            self.messages.push(Message::user(format!("(What the tools gave; not the user's words.)\n\n{results}")));
        } else {
            turn.tool_calls = uses.iter().map(|used| sendable(&used.call)).collect();
            self.messages.push(turn);
            let results = uses.iter().map(|used| Message::tool(used.call.id.as_str(), used.result.as_str()));
            self.messages.extend(results);
        }
        let is_repetition = uses.iter().all(|used| used.outcome == ToolOutcome::Repeated);
        self.push_step(reply, heard.said, uses, heard.written);
        Ok(is_repetition)
    }

    /// Keeps an answer, with the calls that come too late.
    fn note(&mut self, reply: &ChatResponse, heard: Heard) {
        let late = |call| told(call, ToolOutcome::NotAllowed, |_| "Not done: no step is left.".to_owned());
        let calls = heard.calls.into_iter().map(late).collect();
        self.push_step(reply, heard.said, calls, heard.written);
    }

    fn push_step(&mut self, reply: &ChatResponse, said: String, calls: Vec<ToolUse>, written: bool) {
        self.steps.push(AgentStep { said, calls, written, finish: reply.finish.clone(), usage: reply.usage });
    }

    /// Every memory that was shown, each once.
    pub(super) fn recalled(&self) -> Vec<MemoryId> {
        let found = self.uses().filter(|used| !used.changed).flat_map(|used| &used.memories);
        each_once(self.context.memories.iter().chain(found))
    }

    /// Every memory that the model changed, each once.
    pub(super) fn changed(&self) -> Vec<MemoryId> {
        each_once(self.uses().filter(|used| used.changed).flat_map(|used| &used.memories))
    }

    fn uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.steps.iter().flat_map(|step| &step.calls)
    }
}

fn each_once<'i>(ids: impl Iterator<Item = &'i MemoryId>) -> Vec<MemoryId> {
    let mut seen = HashSet::new();
    ids.copied().filter(|id| seen.insert(*id)).collect()
}

/// What is shown unasked: the blocks, and what fits the user's words if it is time for that. Turns of this very session
/// are left out, for they stand in the prompt.
async fn context(
    agent: &MemoryAgentBuilder,
    scope: &Scope,
    with_tools: bool,
    before: &[Message],
    question: &Message,
) -> Result<MemoryContext> {
    let recalls = match agent.recall {
        Recall::Never => false,
        Recall::EachTime => true,
        Recall::AtFirst => !with_tools || before.is_empty(),
    };
    let mut request = ContextRequest::new(question.text.as_str());
    if let Some(at) = question.at {
        request = request.asked_at(at);
    }
    if let Some(characters) = agent.profile {
        request = request.profile(characters);
    }
    if !recalls {
        request = request.limit(0);
    }
    if let (Some(session), false) = (scope.session_id(), before.is_empty()) {
        request = request.filter(!(Filter::eq("kind", "episode") & Filter::eq("session", session)));
    }
    agent.memory.context(&scope.across_sessions(), request, agent.context).await
}

/// The call as it goes back to the model: without a flood of what cannot be read.
fn sendable(call: &ToolCall) -> ToolCall {
    let is_flood =
        call.arguments.len() > UNREADABLE && serde_json::from_str::<serde_json::Value>(&call.arguments).is_err();
    let arguments = if is_flood { "" } else { call.arguments.as_str() };
    ToolCall::new(call.id.as_str(), call.name.as_str(), arguments)
}

fn tokens_of(call: &ToolCall) -> usize {
    ApproximateTokens.count(&call.name) + ApproximateTokens.count(&call.arguments)
}

/// Tokens of the request, estimated.
fn expected_input(request: &ChatRequest) -> u64 {
    let of_message = |message: &Message| {
        ApproximateTokens.count(&message.text) + message.tool_calls.iter().map(tokens_of).sum::<usize>()
    };
    let messages: usize = request.messages.iter().map(of_message).sum();
    let of_tool = |tool: &crate::ToolDefinition| {
        ApproximateTokens.count(&tool.description) + ApproximateTokens.count(&tool.parameters.to_string())
    };
    u64::try_from(messages + request.tools.iter().map(of_tool).sum::<usize>()).unwrap_or(u64::MAX)
}
