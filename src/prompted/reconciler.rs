use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Write,
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{
    actions::{ActionList, Planner, read_actions},
    ask::{Asker, Question},
    material::{cut, date},
    mentions,
    schema::strict,
};
use crate::{
    Action, Llm, Neighbour, Plan, ReconcileRequest, Reconciler, Result,
    score::sameness::{compared, repeats},
};

/// Most memories that a model is shown: the nearest.
pub(super) const SHOWN: usize = 60;
/// Steps of a plan that are looked at, besides four for each fact and memory.
const MOST_STEPS: usize = 16;
/// How much of a memory's text is shown, in characters.
const TEXT: usize = 2_000;

/// A [`Reconciler`] that asks a model.
///
/// Facts that a neighbour [says already](repeats), in the same words or nearly so, are skipped without asking. If facts
/// and neighbours are left it makes one request, and a second one if the first answer was cut off or of no use. The
/// model sees the neighbours as numbers, text and the day since which they hold, never their ids; of more than sixty
/// the nearest, and of a long text the first 2,000 characters. Of an answer that is cut off twice the steps before the
/// cut count.
///
/// Names of which it is [open](ReconcileRequest::mentions) what they mean are asked about in the same request, by numbers
/// too; where there are none it is as if there were no such question, and for them alone no request is made.
///
/// The answer may be sloppy (numbers as strings, events in any case). An action on a number that was not shown, or with
/// an event that there is none of, is [rejected](Plan::rejected) with the reason, and the rest is kept: whoever carries
/// the plan out checks it, and adds the facts that it forgot.
///
/// ```
/// use ingrain::{Action, Fact, Memory, MemoryId, Neighbour, ReconcileRequest, Reconciler, Scope};
/// use ingrain::{prompted::PromptedReconciler, testing::ScriptedLlm};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let now = "2025-02-10T08:00:00Z".parse()?;
/// let known = Memory::new(MemoryId::new(now), Scope::user("alice"), "Likes coffee", now);
/// let (facts, neighbours) = ([Fact::new("Prefers tea", 0)], [Neighbour::new(known, 0.7)]);
/// let llm = ScriptedLlm::new().reply(r#"{"actions": [{"event": "supersede", "memory": "0", "fact": 0}]}"#);
/// let plan = PromptedReconciler::new(llm).reconcile(&ReconcileRequest::new(&facts, &neighbours)).await?;
/// assert_eq!(plan.actions, [Action::Invalidate { neighbour: 0, fact: Some(0) }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PromptedReconciler {
    asker: Asker,
    instructions: Option<String>,
}

impl PromptedReconciler {
    /// A reconciler that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        Self::from_asker(Asker::new(Arc::new(llm)))
    }

    pub(super) fn from_asker(asker: Asker) -> Self {
        Self { asker, instructions: None }
    }

    /// Further instructions for the model. Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }

    /// What a model is told, with the further instructions of the application.
    pub(super) fn instructed(&self, prompt: &str) -> String {
        let mut instructions = prompt.to_owned();
        if let Some(further) = &self.instructions {
            instructions.push_str("\nFurther instructions of the application:\n");
            instructions.push_str(further);
        }
        instructions
    }

    /// Asks once for all that is to be done.
    pub(super) async fn one_call(&self, request: &ReconcileRequest<'_>, sorted: &Sorted) -> Result<Plan> {
        let prompt = include_str!("prompts/reconcile.md");
        let mut question = Question {
            name: "actions",
            instructions: self.instructed(prompt),
            material: sorted.material(request),
            schema: strict::<ActionList>(),
            leading: true,
        };
        let are_open = !request.mentions.is_empty();
        if are_open {
            question.instructions = self.instructed(&format!("{prompt}{}", include_str!("prompts/mentions.md")));
            question.material.push_str(&mentions::material(request, |fact| sorted.open.contains(&fact)));
            question.schema = mentions::schema();
        }
        let fit = |value: &Value| match are_open {
            true => mentions::read_both(value),
            false => read_actions(value).map(|(fit, actions)| (fit, (actions, Vec::new()))),
        };
        let answer = self.asker.ask(&question, request.budget, &fit).await?;
        let (actions, told) = answer.value;
        let mut planner = sorted.planner(request);
        // A model that repeats itself does so without end.
        let most = MOST_STEPS + 4 * (sorted.open.len() + request.neighbours.len().min(SHOWN));
        let steps = if actions.len() > most { distinct(actions) } else { actions };
        planner.take_all(steps.get(..most).unwrap_or(&steps));
        if steps.len() > most {
            planner.rejected.push("more steps than there is anything to do".to_owned());
        }
        let mut plan = Plan::of(sorted.known.clone());
        plan.actions.extend(planner.actions);
        plan.rejected = planner.rejected;
        let (meanings, unreadable) = mentions::meanings(&told);
        plan.meanings = meanings;
        plan.rejected.extend(unreadable);
        plan.model_calls = answer.model_calls;
        plan.usage = answer.usage;
        Ok(plan)
    }
}

/// The facts of a request: those that are known, and those that a model must be asked about.
pub(super) struct Sorted {
    /// A skip for each fact that a neighbour [says](repeats) already.
    pub(super) known: Vec<Action>,
    /// The other facts.
    pub(super) open: BTreeSet<usize>,
}

impl Sorted {
    pub(super) fn of(request: &ReconcileRequest<'_>) -> Self {
        let semantic = || request.neighbours.iter().enumerate().filter(|(_, near)| near.memory.kind.is_semantic());
        let mut said: HashMap<String, usize> = HashMap::new();
        for (number, near) in semantic() {
            said.entry(compared(&near.memory.text)).or_insert(number);
        }
        let mut sorted = Self { known: Vec::new(), open: BTreeSet::new() };
        for (number, fact) in request.facts.iter().enumerate() {
            let nearly = || {
                let near = |near: &Neighbour| {
                    near.cosine_to(number).is_some_and(|cosine| repeats(&near.memory.text, &fact.text, cosine))
                };
                semantic().find(|(_, neighbour)| near(neighbour)).map(|(number, _)| number)
            };
            match said.get(&compared(&fact.text)).copied().or_else(nearly) {
                Some(neighbour) => sorted.known.push(Action::Skip { fact: number, neighbour: Some(neighbour) }),
                None => {
                    sorted.open.insert(number);
                }
            }
        }
        sorted
    }

    /// Whether there is nothing to ask a model.
    pub(super) fn is_settled(&self, request: &ReconcileRequest<'_>) -> bool {
        self.open.is_empty() || request.neighbours.is_empty()
    }

    pub(super) fn planner<'p>(&'p self, request: &ReconcileRequest<'p>) -> Planner<'p> {
        Planner::new(request.facts, request.neighbours.len().min(SHOWN), &self.open)
    }

    /// Memories and facts as a model sees them: one JSON object a line, so that no text can end its own.
    pub(super) fn material(&self, request: &ReconcileRequest<'_>) -> String {
        let mut material = String::from("Memories:\n");
        for (number, near) in request.neighbours.iter().enumerate().take(SHOWN) {
            let memory = &near.memory;
            let text = cut(&memory.text, TEXT);
            let mut line = json!({"memory": number, "since": date(memory.valid_at), "text": text});
            if let (Some(speaker), Some(line)) = (&memory.speaker, line.as_object_mut()) {
                line.insert("said_by".to_owned(), speaker.as_str().into());
            }
            // Writing to a string does not fail.
            let _ = writeln!(material, "{line}");
        }
        material.push_str("\nFacts:\n");
        for (number, fact) in self.open.iter().filter_map(|number| Some((number, request.facts.get(*number)?))) {
            let mut line = json!({"fact": number, "text": fact.text});
            if let Some(line) = line.as_object_mut() {
                line.extend(fact.valid_at.map(|since| ("since".to_owned(), date(since).into())));
                line.extend(fact.speaker.clone().map(|speaker| ("said_by".to_owned(), speaker.into())));
            }
            let _ = writeln!(material, "{line}");
        }
        material
    }
}

/// The steps without those that repeat an earlier one.
fn distinct(steps: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    steps.into_iter().filter(|step| seen.insert(step.to_string())).collect()
}

#[async_trait]
impl Reconciler for PromptedReconciler {
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        let sorted = Sorted::of(request);
        if sorted.is_settled(request) {
            return Ok(Plan::of(sorted.known));
        }
        self.one_call(request, &sorted).await
    }

    fn resolves_mentions(&self) -> bool {
        true
    }
}
