use serde::Serialize;

use crate::{CallId, Error, FinishReason, MemoryContext, MemoryId, Message, ToolCall, Usage};

/// Why a reply ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered of its own accord.
    Answered,
    /// It had used up its steps and was made to answer.
    StepLimit,
    /// It made the same calls over and over, and was made to answer.
    Repeated,
    /// The answer ran into the output limit and ends in the middle.
    CutOff,
    /// The provider kept the answer back; what there is of it may be nothing.
    Filtered,
    /// The model had no words, also when asked once more: the answer is empty.
    EmptyAnswer,
    /// The [budget](super::MemoryAgentBuilder::max_tokens) allowed no further step, and the model was made to answer; or not
    /// even that, and the answer is empty.
    BudgetExhausted,
}

impl StopReason {
    /// The reason in snake case, as stable as the variant.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::StepLimit => "step_limit",
            Self::Repeated => "repeated",
            Self::CutOff => "cut_off",
            Self::Filtered => "filtered",
            Self::EmptyAnswer => "empty_answer",
            Self::BudgetExhausted => "budget_exhausted",
        }
    }
}

/// What became of one call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It was carried out.
    Done,
    /// It was not carried out, or failed: the result says why.
    Failed,
    /// There is no such tool.
    UnknownTool,
    /// It had been made before and was not carried out again.
    Repeated,
    /// It came when no step was left, or beyond the most calls of one step, and was not carried out.
    NotAllowed,
}

/// One call of a tool, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The call as the model made it; one whose id was missing or taken has another.
    pub call: ToolCall,
    /// What became of it.
    pub outcome: ToolOutcome,
    /// What the model was told.
    pub result: String,
    /// The memories that it found or changed.
    pub memories: Vec<MemoryId>,
    /// Whether it changed what is remembered.
    pub changed: bool,
}

/// One request to the model and what came of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentStep {
    /// What the model said, without its thoughts and without the calls it wrote into the text.
    pub said: String,
    /// The tools it called, in its order. None: it answered.
    pub calls: Vec<ToolUse>,
    /// Whether the calls were written into the text, since the model made none by its own means.
    pub written: bool,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// What the request cost; zeros where the provider does not say.
    pub usage: Usage,
}

/// Why nothing is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotSaved {
    /// The agent [saves nothing](super::Saving::Off).
    Off,
    /// It was left to the [model](super::Saving::ByModel), which saved nothing.
    ModelDeclined,
    /// There is not a letter and not a digit in what the user said.
    NothingSaid,
}

/// What becomes of an exchange.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveDecision {
    /// It was queued with [`add_later`](crate::MemoryEngine::add_later) under this id: whoever carries it out decides what of
    /// it is worth knowing. The report goes to [`on_background_add`](crate::MemoryEngineBuilder::on_background_add).
    Queued(CallId),
    /// The model saved or changed these with its tools, and it was left to it.
    Saved(Vec<MemoryId>),
    /// Nothing of it is saved.
    Nothing(NotSaved),
    /// It was to be queued and could not be. The answer stands; the messages are in the session.
    Failed(Error),
}

/// A reply, and how it came about.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentReply {
    /// What to tell the user, without thoughts and calls; empty if the model had no words, as `stop` then says.
    pub answer: String,
    /// Why it ended.
    pub stop: StopReason,
    /// What was put into the prompt before the first request.
    pub context: MemoryContext,
    /// Every memory that the model was shown, each once: those of the context, then what the tools found, in order.
    pub recalled: Vec<MemoryId>,
    /// The requests to the model in order; the last is the answer.
    pub steps: Vec<AgentStep>,
    /// All that the model was sent and said: instructions, the session so far, the user's words, calls with their results,
    /// and the answer, if there is one.
    pub transcript: Vec<Message>,
    /// What becomes of the exchange, and why.
    pub saved: SaveDecision,
    /// What the model saved or changed itself, with its tools, each once.
    pub changed: Vec<MemoryId>,
    /// Requests to the model, those included that it answered with nothing of use.
    pub model_calls: u32,
    /// What they cost together.
    pub usage: Usage,
}

impl AgentReply {
    /// The calls of tools of all steps, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolUse> {
        self.steps.iter().flat_map(|step| &step.calls)
    }
}
