use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use serde_json::Value;

use super::{
    PromptedReconciler,
    actions::Planner,
    ask::{MORE_ROOM, ROOM, expected_input, output_of},
    parse::Unusable,
    reconciler::{SHOWN, Sorted},
    tools::{Asked, Fault, Reply, hear, quoted, tools},
};
use crate::{
    Action, ChatRequest, ChatResponse, Error, ErrorKind, Llm, Message, Plan, ReconcileRequest, Reconciler, Result,
    ToolChoice, Usage,
};

/// Most steps, each one request to the model.
const STEPS: u32 = 3;

/// A [`Reconciler`] that lets a model decide in steps, with tools: a ReAct loop over `add_memory`, `update_memory`,
/// `delete_memory` and `no_op`, of at most three requests.
///
/// Nothing is carried out meanwhile: the calls are noted down and become the plan. Each is answered with what was noted, or
/// why it cannot be done: a number that was not shown, an invented tool, arguments that cannot be read, or whatever the
/// request's [check](ReconcileRequest::check) has against it, such as a second action on one memory or a number that nobody
/// said. What was refused, mended later or not, is in [`Plan::rejected`].
///
/// The loop ends when the model answers in words, which are then its [account](Plan::account); when it has decided every fact
/// and says so in the same answer; when it repeats itself; or after three steps. Facts that it has not decided are added by
/// whoever carries the plan out. An answer that is of no use (empty, cut off, words before anything was decided) takes up a
/// step; the second such is an error, as it is for [`PromptedReconciler`].
///
/// As there, facts that are [known](crate::score::sameness::repeats) are skipped without asking, and memories are numbers,
/// text and a day. A model that knows no tools, or whose server refuses them, is asked as there, in one request. Calls that
/// a model writes into its text are read too, until it makes one by its own means, save those that stand in a text it was
/// shown.
///
/// If the budget ends in the middle, what was noted down counts: each step of it was decided by the model and stands by
/// itself. If nothing was, the error is that of the budget.
///
/// ```
/// use ingrain::{Action, Fact, LlmCapabilities, Memory, MemoryId, Neighbour, ReconcileRequest, Reconciler, Scope, ToolCall};
/// use ingrain::{ChatResponse, prompted::AgenticReconciler, testing::ScriptedLlm};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let now = "2025-02-10T08:00:00Z".parse()?;
/// let known = Memory::new(MemoryId::new(now), Scope::user("alice"), "Likes coffee", now);
/// let (facts, neighbours) = ([Fact::new("Prefers tea", 0)], [Neighbour::new(known, 0.7)]);
/// let call = ToolCall::new("1", "delete_memory", r#"{"memory": 0, "fact": 0}"#);
/// let llm = ScriptedLlm::new().respond(ChatResponse::text("Tea takes the place of coffee.").with_tool_call(call));
/// let mut able = LlmCapabilities::default();
/// able.tools = true;
/// let reconciler = AgenticReconciler::new(llm.with_capabilities(able));
/// let plan = reconciler.reconcile(&ReconcileRequest::new(&facts, &neighbours)).await?;
/// assert_eq!(plan.actions, [Action::Invalidate { neighbour: 0, fact: Some(0) }]);
/// assert_eq!(plan.account.as_deref(), Some("Tea takes the place of coffee."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AgenticReconciler {
    plain: PromptedReconciler,
    /// Whether the server has refused tools.
    refused: Arc<AtomicBool>,
}

impl AgenticReconciler {
    /// A reconciler that lets this model decide.
    pub fn new(llm: impl Llm) -> Self {
        Self::from(PromptedReconciler::new(llm))
    }

    /// Further instructions for the model. Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.plain = self.plain.instructions(instructions);
        self
    }

    fn llm(&self) -> &dyn Llm {
        self.plain.asker().llm()
    }

    /// Whether the failure is a refusal of tools. One of another kind (a wrong key) is none, unless the client learned from
    /// it that the model has none.
    fn refuses_tools(&self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::Unsupported => true,
            ErrorKind::ProviderRefused => !self.llm().capabilities().tools,
            _ => false,
        }
    }
}

/// With the same model and instructions.
impl From<PromptedReconciler> for AgenticReconciler {
    fn from(plain: PromptedReconciler) -> Self {
        Self { plain, refused: Arc::new(AtomicBool::new(false)) }
    }
}

#[async_trait]
impl Reconciler for AgenticReconciler {
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        let sorted = Sorted::of(request);
        if sorted.is_settled(request) {
            return Ok(Plan::of(sorted.known));
        }
        let mut refused_calls = 0;
        if self.llm().capabilities().tools && !self.refused.load(Ordering::Relaxed) {
            let mut talk = Talk::new(self, request, &sorted);
            match talk.run().await {
                Ok(()) => return Ok(talk.plan()),
                Err(error) if !talk.heard && self.refuses_tools(&error) => {
                    self.refused.store(true, Ordering::Relaxed);
                    refused_calls = talk.model_calls;
                }
                Err(error) => return Err(error),
            }
        }
        let mut plan = self.plain.one_call(request, &sorted).await?;
        plan.model_calls += refused_calls;
        Ok(plan)
    }
}

/// One run of the loop.
struct Talk<'a> {
    own: &'a AgenticReconciler,
    request: &'a ReconcileRequest<'a>,
    sorted: &'a Sorted,
    planner: Planner<'a>,
    /// Calls that stand in the texts shown.
    quoted: HashSet<String>,
    /// What was said and answered after the material.
    messages: Vec<Message>,
    /// The calls of each step so far.
    seen: Vec<Vec<String>>,
    /// Whether the model calls tools by its own means.
    native: bool,
    /// Whether there was an answer in the form of calls.
    heard: bool,
    /// Why the last answer was of no use.
    complaint: Option<&'static str>,
    /// How many answers were of no use.
    useless: u32,
    room: u32,
    account: Option<String>,
    model_calls: u32,
    usage: Usage,
}

const NO_CALL: &str = "no tool was called";

impl<'a> Talk<'a> {
    fn new(own: &'a AgenticReconciler, request: &'a ReconcileRequest<'a>, sorted: &'a Sorted) -> Self {
        let memories = request.neighbours.iter().take(SHOWN).map(|near| near.memory.text.as_str());
        let facts = request.facts.iter().map(|fact| fact.text.as_str());
        Self {
            own,
            request,
            sorted,
            planner: sorted.planner(request),
            quoted: quoted(memories.chain(facts)),
            messages: vec![Message::user(sorted.material(request))],
            seen: Vec::new(),
            native: false,
            heard: false,
            complaint: None,
            useless: 0,
            room: ROOM,
            account: None,
            model_calls: 0,
            usage: Usage::default(),
        }
    }

    fn plan(self) -> Plan {
        let mut plan = Plan::of(self.sorted.known.clone());
        plan.actions.extend(self.planner.actions);
        plan.rejected = self.planner.rejected;
        plan.account = self.account;
        plan.model_calls = self.model_calls;
        plan.usage = self.usage;
        plan
    }

    async fn run(&mut self) -> Result<()> {
        for _ in 0..STEPS {
            let (reply, short_of_tokens) = match self.exchange().await {
                Err(error) if error.kind() == ErrorKind::BudgetExhausted => return self.out_of_budget(error),
                Err(error) if error.kind() == ErrorKind::UnusableModelOutput => {
                    self.of_no_use(Unusable::OtherShape.reason())?;
                    continue;
                }
                exchanged => exchanged?,
            };
            match hear(&reply, self.native, &self.quoted) {
                Reply::Nothing(Unusable::CutOff) if short_of_tokens => {
                    return self.out_of_budget(Error::new(ErrorKind::BudgetExhausted, "the answer needs more tokens"));
                }
                Reply::Nothing(Unusable::CutOff) => {
                    self.room = ROOM * MORE_ROOM;
                    self.of_no_use(Unusable::CutOff.reason())?;
                }
                // It has nothing to add.
                Reply::Nothing(_) if self.heard => return Ok(()),
                Reply::Nothing(unusable) => self.of_no_use(unusable.reason())?,
                Reply::Words(said) if self.heard => {
                    self.account = Some(said);
                    return Ok(());
                }
                Reply::Words(_) => self.of_no_use(NO_CALL)?,
                Reply::Calls { asked, native, said } => {
                    if self.take(&reply, asked, native, said) {
                        break;
                    }
                }
            }
        }
        if self.heard { Ok(()) } else { Err(self.unusable()) }
    }

    /// One request, within the budget; and whether it had to do with fewer tokens than it would have got.
    async fn exchange(&mut self) -> Result<(ChatResponse, bool)> {
        let mut instructions = self.own.plain.instructed(include_str!("prompts/agentic.md"));
        if let Some(complaint) = self.complaint.take() {
            instructions.push_str("\n\nYou were asked this before, and ");
            instructions.push_str(complaint);
            instructions.push_str(". Decide by calling the tools.");
        }
        let messages = std::iter::once(Message::system(instructions)).chain(self.messages.iter().cloned()).collect();
        let mut chat = ChatRequest::new(messages).with_temperature(0.0).with_tools(tools(), ToolChoice::Auto);
        let expected = expected_input(&chat);
        let allowed = self.request.budget.map(|budget| budget.begin(expected)).transpose()?.flatten();
        chat.max_output_tokens = Some(allowed.map_or(self.room, |most| most.min(self.room)));
        self.model_calls += 1;
        let llm = self.own.llm();
        let reply = llm.chat(&chat).await.map_err(|error| error.with_backend(llm.name()))?;
        self.usage += reply.usage;
        if let Some(budget) = self.request.budget {
            budget.spend(reply.usage, expected + output_of(&reply));
        }
        Ok((reply, allowed.is_some_and(|most| most < self.room)))
    }

    /// Ends with what was noted down, if anything was.
    fn out_of_budget(&mut self, error: Error) -> Result<()> {
        if self.planner.actions.is_empty() {
            return Err(error);
        }
        if !self.undecided().is_empty() {
            self.planner.rejected.push("a further step: the budget allows none".to_owned());
        }
        Ok(())
    }

    fn of_no_use(&mut self, why: &'static str) -> Result<()> {
        self.useless += 1;
        self.complaint = Some(why);
        if self.useless > 1 && !self.heard { Err(self.unusable()) } else { Ok(()) }
    }

    fn unusable(&self) -> Error {
        let why = self.complaint.unwrap_or("no call could be read");
        let message = format!("no usable call of the memory tools, asked {} times: {why}", self.model_calls);
        Error::new(ErrorKind::UnusableModelOutput, message).with_backend(self.own.llm().name())
    }

    /// Notes the calls of one step down and answers them. Says whether that was the last step.
    fn take(&mut self, reply: &ChatResponse, asked: Vec<Asked>, native: bool, said: Option<String>) -> bool {
        let signature = asked.iter().map(Asked::key).collect();
        if reply.tool_calls.len() > asked.len() && native {
            self.planner.rejected.push(format!("calls beyond the first {}", asked.len()));
        }
        let says = said.is_some();
        self.native |= native;
        self.account = said.or(self.account.take());
        if self.seen.contains(&signature) {
            return true;
        }
        self.seen.push(signature);
        // A call of an invented tool is an answer, as an unknown event is, and so is a list of actions that is empty.
        let is_answer = |asked: &Asked| !matches!(asked.item, Err(Fault::Arguments(_)));
        self.heard |= asked.is_empty() || asked.iter().any(is_answer);
        let items: Vec<Value> = asked.iter().filter_map(|asked| asked.item.as_ref().ok()).cloned().collect();
        self.planner.expect(&items);
        let wanted: Vec<Result<Option<Action>, String>> = asked
            .iter()
            .map(|asked| {
                asked
                    .item
                    .as_ref()
                    .map_err(|fault| fault.reason().to_owned())
                    .and_then(|item| self.planner.action(item))
            })
            .collect();
        let results = self.note(wanted);

        let refused = results.iter().any(Result::is_err);
        let undecided = self.undecided();
        if undecided.is_empty() && !refused && says {
            return true;
        }
        let state = if undecided.is_empty() {
            "Every fact is decided.".to_owned()
        } else {
            let numbers: Vec<String> = undecided.iter().map(ToString::to_string).collect();
            format!("Not decided yet: fact {}.", numbers.join(", "))
        };
        let answers = results.into_iter().map(|result| match result {
            Ok(noted) => format!("Noted: {noted}."),
            Err(reason) => format!("Not done: {reason}."),
        });
        let mut answers: Vec<String> = answers.collect();
        match answers.last_mut() {
            Some(last) => *last = format!("{last} {state}"),
            None => answers.push(state),
        }
        let mut turn = Message::assistant(reply.text.as_str());
        if native {
            turn.tool_calls = asked.iter().map(|asked| asked.call.clone()).collect();
            self.messages.push(turn);
            let answered = asked.into_iter().zip(answers);
            self.messages.extend(answered.map(|(asked, answer)| Message::tool(asked.call.id, answer)));
        } else {
            self.messages.push(turn);
            self.messages.push(Message::user(answers.join("\n")));
        }
        false
    }

    /// Adds to the plan what may be done, and says of each call what came of it.
    fn note(&mut self, wanted: Vec<Result<Option<Action>, String>>) -> Vec<Result<String, String>> {
        let (known, before) = (self.sorted.known.len(), self.planner.actions.len());
        let mut plan = self.sorted.known.clone();
        plan.append(&mut self.planner.actions);
        plan.extend(wanted.iter().filter_map(|wanted| wanted.as_ref().ok()?.clone()));
        let check = |check: crate::PlanCheck| check(&plan, self.request.facts, self.request.neighbours);
        let objections: HashMap<usize, &str> = self.request.check.map(check).into_iter().flatten().collect();
        let mut place = known + before;
        let mut results = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let result = match wanted {
                Ok(None) => Ok("nothing is to be done".to_owned()),
                Ok(Some(action)) => {
                    place += 1;
                    match objections.get(&(place - 1)) {
                        Some(reason) => Err((*reason).to_owned()),
                        None => Ok(told(&action)),
                    }
                }
                Err(reason) => Err(reason),
            };
            results.push(result);
        }
        // What a later call leans on is no longer done either.
        let unsaid =
            (known..known + before).filter_map(|place| objections.get(&place)).map(|reason| (*reason).to_owned());
        self.planner.rejected.extend(unsaid);
        self.planner.rejected.extend(results.iter().filter_map(|result| result.as_ref().err().cloned()));
        let kept = plan.into_iter().enumerate().skip(known).filter(|(place, _)| !objections.contains_key(place));
        self.planner.actions = kept.map(|(_, action)| action).collect();
        results
    }

    /// The facts that nothing was noted of.
    fn undecided(&self) -> BTreeSet<usize> {
        let mut open = self.sorted.open.clone();
        for action in &self.planner.actions {
            match action {
                Action::Add { fact } | Action::Skip { fact, .. } => open.remove(fact),
                Action::Update { fact, .. } | Action::Invalidate { fact, .. } => {
                    fact.is_some_and(|fact| open.remove(&fact))
                }
            };
        }
        open
    }
}

fn told(action: &Action) -> String {
    match action {
        Action::Add { fact } => format!("fact {fact} is stored"),
        Action::Update { neighbour, fact: Some(fact), .. } => format!("memory {neighbour} takes fact {fact} in"),
        Action::Update { neighbour, fact: None, .. } => format!("memory {neighbour} gets the new text"),
        Action::Invalidate { neighbour, fact: Some(fact) } => {
            format!("fact {fact} takes the place of memory {neighbour}")
        }
        Action::Invalidate { neighbour, fact: None } => format!("memory {neighbour} ends"),
        Action::Skip { fact, .. } => format!("fact {fact} is known"),
    }
}
