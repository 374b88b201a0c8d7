use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::json;

use super::{
    actions::{ActionList, Planner, read_actions},
    ask::{Asker, Question},
    material::date,
    schema::strict,
};
use crate::{
    Action, Llm, Plan, ReconcileRequest, Reconciler, Result,
    score::sameness::{normalized, same_text},
};

/// Most memories that a model is shown: the nearest.
const SHOWN: usize = 60;

/// A [`Reconciler`] that asks a model.
///
/// Facts that a neighbour says already, in the same [words](crate::score::sameness::normalized), are skipped without
/// asking. If facts and neighbours are left it makes one request, and a second one if the first answer was cut off or of
/// no use. The model sees the neighbours as numbers, text and the day since which they hold, never their ids; of more
/// than sixty the nearest.
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

    fn question(&self, request: &ReconcileRequest<'_>, open: &[usize]) -> Question {
        let mut instructions = include_str!("prompts/reconcile.md").to_owned();
        if let Some(further) = &self.instructions {
            instructions.push_str("\nFurther instructions of the application:\n");
            instructions.push_str(further);
        }
        let mut material = String::from("Memories:\n");
        for (number, near) in request.neighbours.iter().enumerate().take(SHOWN) {
            let memory = &near.memory;
            let mut line = json!({"memory": number, "since": date(memory.valid_at), "text": memory.text});
            if let (Some(speaker), Some(line)) = (&memory.speaker, line.as_object_mut()) {
                line.insert("said_by".to_owned(), speaker.as_str().into());
            }
            // Writing to a string does not fail.
            let _ = writeln!(material, "{line}");
        }
        material.push_str("\nFacts:\n");
        for (number, fact) in open.iter().filter_map(|number| Some((number, request.facts.get(*number)?))) {
            let mut line = json!({"fact": number, "text": fact.text});
            if let Some(line) = line.as_object_mut() {
                line.extend(fact.valid_at.map(|since| ("since".to_owned(), date(since).into())));
                line.extend(fact.speaker.clone().map(|speaker| ("said_by".to_owned(), speaker.into())));
            }
            let _ = writeln!(material, "{line}");
        }
        Question { name: "actions", instructions, material, schema: strict::<ActionList>() }
    }
}

#[async_trait]
impl Reconciler for PromptedReconciler {
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        let (facts, neighbours) = (request.facts, request.neighbours);
        let mut plan = Plan::default();
        let mut said: HashMap<String, usize> = HashMap::new();
        for (number, near) in neighbours.iter().enumerate().filter(|(_, near)| near.memory.kind.is_semantic()) {
            said.entry(normalized(&near.memory.text)).or_insert(number);
        }
        let mut open = Vec::new();
        for (number, fact) in facts.iter().enumerate() {
            let known = said.get(&normalized(&fact.text)).copied();
            let known = known
                .filter(|known| neighbours.get(*known).is_some_and(|near| same_text(&near.memory.text, &fact.text)));
            match known {
                Some(neighbour) => plan.actions.push(Action::Skip { fact: number, neighbour: Some(neighbour) }),
                None => open.push(number),
            }
        }
        if open.is_empty() || neighbours.is_empty() {
            return Ok(plan);
        }
        let answer = self.asker.ask(&self.question(request, &open), request.budget, &read_actions).await?;
        let asked: HashSet<usize> = open.iter().copied().collect();
        let mut planner = Planner::new(facts, neighbours.len().min(SHOWN), &asked);
        planner.take_all(&answer.value);
        plan.actions.extend(planner.actions);
        plan.rejected = planner.rejected;
        plan.model_calls = answer.model_calls;
        plan.usage = answer.usage;
        Ok(plan)
    }
}
