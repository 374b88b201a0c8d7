use std::{fmt, sync::Arc};

use super::{AgentTool, MemoryAgent};
use crate::{AddRequest, Error, ErrorKind, Llm, MemoryEngine, MemoryTools, Result, TokenBudget};

/// Steps with tools, unless said otherwise.
const STEPS: u32 = 4;
/// Most that can be asked for.
const MOST_STEPS: u32 = 32;
/// Most characters of the result of an application's tool, unless said otherwise.
const RESULT_CHARS: usize = 8_000;
/// Tokens of the context, unless said otherwise.
const CONTEXT_TOKENS: usize = 1_000;

/// When what is known is put into the prompt unasked; blocks always are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recall {
    /// What fits the user's words, when a session begins. Afterwards the model looks up what it needs.
    #[default]
    AtFirst,
    /// What fits the user's words, each time: for models that do not look things up by themselves.
    EachTime,
    /// Nothing but the blocks.
    Never,
}

/// What becomes of an exchange when it has been answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Saving {
    /// What the user said and the answer are [queued](MemoryEngine::add_later), and whoever carries that out decides
    /// what of it is worth knowing.
    #[default]
    Exchange,
    /// Only what the model saves with its tools.
    ByModel,
    /// Nothing, and the model has no tools that change anything.
    Off,
}

/// How the tools of the memory are made.
pub(super) type ShapeTools = Arc<dyn Fn(MemoryTools) -> MemoryTools + Send + Sync>;

/// How a [`MemoryAgent`] is to be. Made by [`MemoryAgent::builder`] or [`MemoryEngine::agent`].
#[must_use]
pub struct MemoryAgentBuilder {
    pub(super) memory: MemoryEngine,
    pub(super) llm: Arc<dyn Llm>,
    pub(super) persona: String,
    pub(super) tools: Vec<Arc<dyn AgentTool>>,
    pub(super) shape: Option<ShapeTools>,
    pub(super) max_steps: u32,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) max_tokens: Option<u64>,
    pub(super) max_result_chars: usize,
    pub(super) temperature: Option<f32>,
    pub(super) context: TokenBudget,
    pub(super) profile: Option<usize>,
    pub(super) recall: Recall,
    pub(super) saving: Saving,
    pub(super) saved_as: AddRequest,
    pub(super) plain: bool,
}

impl fmt::Debug for MemoryAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryAgentBuilder").field("llm", &self.llm).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl MemoryAgentBuilder {
    pub(super) fn new(memory: MemoryEngine, llm: Arc<dyn Llm>) -> Self {
        Self {
            memory,
            llm,
            persona: String::new(),
            tools: Vec::new(),
            shape: None,
            max_steps: STEPS,
            max_output_tokens: None,
            max_tokens: None,
            max_result_chars: RESULT_CHARS,
            temperature: None,
            context: TokenBudget::new(CONTEXT_TOKENS),
            profile: None,
            recall: Recall::AtFirst,
            saving: Saving::Exchange,
            saved_as: AddRequest::default(),
            plain: false,
        }
    }

    /// Who the agent is and what it is to do: what the instructions begin with. Default: nothing.
    pub fn persona(mut self, persona: impl Into<String>) -> Self {
        self.persona = persona.into();
        self
    }

    /// A tool of the application's own. Default: none.
    pub fn tool(mut self, tool: impl AgentTool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// How the tools of the memory are made, such as `|tools| tools.read_only()`. Default: all there are.
    pub fn memory_tools(mut self, shape: impl Fn(MemoryTools) -> MemoryTools + Send + Sync + 'static) -> Self {
        self.shape = Some(Arc::new(shape));
        self
    }

    /// Most steps with tools before the model is made to answer, at most 32. With 0 it has to answer at once. Default 4.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.max_steps = steps;
        self
    }

    /// Most tokens of what the model says in one step. Default: the model's own limit.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Most tokens sent and received for one reply, all steps together. When they are too few for another request like the
    /// last, the model is made to answer. What a request will take is estimated, so a reply may end a few tokens above the
    /// limit. Default: no limit.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Most characters that the model is shown of the result of an application's tool. Default 8,000.
    pub fn max_result_chars(mut self, characters: usize) -> Self {
        self.max_result_chars = characters;
        self
    }

    /// The temperature of the model. Default: the model's own.
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// How many tokens of memories are put into the prompt unasked. Default 1,000.
    pub fn context(mut self, budget: impl Into<TokenBudget>) -> Self {
        self.context = budget.into();
        self
    }

    /// Shows a [profile](crate::ContextRequest::profile) of the user each time, of at most so many characters. Default: none.
    pub fn profile(mut self, characters: usize) -> Self {
        self.profile = Some(characters);
        self
    }

    /// When what fits the user's words is. Without tools it is each time, unless it is never. Default: when a session begins.
    pub fn recall(mut self, recall: Recall) -> Self {
        self.recall = recall;
        self
    }

    /// What becomes of an exchange. Default [`Saving::Exchange`].
    pub fn saving(mut self, saving: Saving) -> Self {
        self.saving = saving;
        self
    }

    /// How an exchange is saved: mode, language, categories and the rest of a request, whose messages do not count.
    /// Default: as [`AddRequest::new`] has it.
    pub fn saved_as(mut self, request: AddRequest) -> Self {
        self.saved_as = request;
        self
    }

    /// Whether the model is offered no tools: it is shown what fits, answers in one request, and the exchange is saved.
    /// This is also what happens with a model that knows no tools. Default: no.
    pub fn plain(mut self, plain: bool) -> Self {
        self.plain = plain;
        self
    }

    /// Puts the agent together.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration), with all that is wrong: the name of a tool that is not made of 1 to
    /// 64 letters, digits, `_` and `-`, or is there twice, that of a memory's tool included; more than 32 steps; a limit of
    /// 0; a temperature or a share of blocks out of range; a dry run; what is to be saved by a model without tools.
    pub fn build(self) -> Result<MemoryAgent> {
        let wrong = self.wrong();
        if wrong.is_empty() {
            Ok(MemoryAgent::of(self))
        } else {
            Err(Error::new(ErrorKind::Configuration, wrong.join("; ")))
        }
    }

    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        // Their names are the same in every scope.
        let of_memory = self.memory_tools_of(&crate::Scope::user("any"));
        let mut names: Vec<String> = of_memory.definitions().into_iter().map(|tool| tool.name).collect();
        for tool in &self.tools {
            let name = tool.definition().name;
            let is_plain = name.chars().all(|character| character.is_ascii_alphanumeric() || "_-".contains(character));
            if name.is_empty() || name.len() > 64 || !is_plain {
                wrong.push(format!("`{name}` is no name of a tool: 1 to 64 letters, digits, `_` and `-`"));
            }
            if names.contains(&name) {
                wrong.push(format!("there are two tools `{name}`"));
            }
            names.push(name);
        }
        if self.max_steps > MOST_STEPS {
            wrong.push(format!("an agent takes at most {MOST_STEPS} steps"));
        }
        if self.max_output_tokens == Some(0) || self.max_tokens == Some(0) || self.max_result_chars == 0 {
            wrong.push("the limits of answers, tokens and results must be at least 1".to_owned());
        }
        if self.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            wrong.push("the temperature must be a finite number, at least 0".to_owned());
        }
        if let Err(error) = self.context.validate() {
            wrong.push(error.to_string());
        }
        if self.saved_as.dry_run {
            wrong.push("a dry run saves nothing: `Saving::Off` is the way to save nothing".to_owned());
        }
        if self.plain && self.saving == Saving::ByModel {
            wrong.push("without tools a model cannot save anything: `Saving::ByModel` takes tools".to_owned());
        }
        wrong
    }

    /// The tools of the memory for this scope, as they were asked for.
    pub(super) fn memory_tools_of(&self, scope: &crate::Scope) -> MemoryTools {
        // They find what any session taught, and what is new is of this one.
        let mut tools = self.memory.tools(&scope.across_sessions());
        if let Some(session) = scope.session_id() {
            tools = tools.session(session);
        }
        if let Some(shape) = &self.shape {
            tools = shape(tools);
        }
        if self.saving == Saving::Off { tools.read_only() } else { tools }
    }
}
