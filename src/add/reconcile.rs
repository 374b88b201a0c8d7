use std::collections::HashMap;

use super::{
    AddContext,
    check::{check, objections},
    extract::Intake,
    redact,
    relate::open,
    slots::Filled,
};
use crate::{
    CallBudget, Candidate, Error, ErrorKind, Fact, Filter, MemoryId, Neighbour, Plan, ReconcileRequest, Reconciler,
    Result, Scope, SearchQuery, Stage, Usage, Validity,
    graph::{Meant, Openings},
    types::quarantine::quarantined,
};

/// Neighbours looked up for each fact, by meaning and by words: the whole scope is searched, and the nearest are what
/// a fact can repeat or contradict.
const NEIGHBOURS: usize = 10;
/// Most memories of one slot that are looked at, the current and the past.
const SLOT: usize = 1_000;

/// A plan that was checked, and what its numbers stand for.
pub(super) struct CheckedPlan {
    pub(super) neighbours: Vec<Neighbour>,
    /// What fills or has filled the slots of the new facts.
    pub(super) slots: HashMap<String, Vec<Filled>>,
    pub(super) plan: Plan,
    /// What names mean that no rule decides.
    pub(super) meant: Vec<Meant>,
    /// Whether the rules made it, since the budget allowed no call of a model, or others kept changing what is known.
    pub(super) by_rules: bool,
    /// How many plans were made so far.
    pub(super) made: usize,
}

/// How many plans a reconciler makes for one add, each because others changed what the one before rested on. Then the
/// rules take over: a model is not to be asked for as long as others write.
const PLANS: usize = 3;
/// Most characters of an account.
const ACCOUNT: usize = 500;

/// A plan for what is known now. The previous one still stands if what it was made from does: then the reconciler,
/// which may be a model, is not asked again.
pub(super) async fn reconcile(
    context: &AddContext<'_>,
    reconciler: &dyn Reconciler,
    scope: &Scope,
    intake: &Intake,
    budget: &CallBudget,
    previous: Option<CheckedPlan>,
) -> Result<CheckedPlan> {
    if intake.facts.is_empty() {
        let plan = Plan::default();
        return Ok(CheckedPlan {
            neighbours: Vec::new(),
            slots: HashMap::new(),
            plan,
            meant: Vec::new(),
            by_rules: false,
            made: 0,
        });
    }
    let in_stage = |error: crate::Error| error.with_stage(Stage::Reconcile);
    let (neighbours, slots) = neighbours(context, scope, intake).await.map_err(in_stage)?;
    let (mut spent_calls, mut spent, mut made) = (0, Usage::default(), 0);
    if let Some(previous) = previous {
        if previous.neighbours == neighbours && previous.slots == slots {
            return Ok(previous);
        }
        (spent_calls, spent, made) = (previous.plan.model_calls, previous.plan.usage, previous.made);
    }
    let facts: Vec<Fact> = intake.facts.iter().map(|new| new.fact.clone()).collect();
    let openings = if made < PLANS && reconciler.resolves_mentions() {
        open(context, scope, intake, &neighbours).await.map_err(in_stage)?
    } else {
        Openings::default()
    };
    let mut request = ReconcileRequest::new(&facts, &neighbours);
    (request.mentions, request.entities) = (&openings.mentions, &openings.entities);
    request.budget = Some(budget);
    request.check = Some(objections);
    let (calls_before, usage_before) = (budget.model_calls(), budget.usage());
    let asked = if made < PLANS {
        reconciler.reconcile(&request).await
    } else {
        Err(Error::new(ErrorKind::BudgetExhausted, "others kept changing what is known"))
    };
    let (mut plan, by_rules) = match asked {
        Err(error) if error.kind() == ErrorKind::BudgetExhausted => {
            let mut plan = context.rules.1.reconcile(&request).await.map_err(in_stage)?;
            plan.model_calls += budget.model_calls() - calls_before;
            plan.usage += budget.usage().since(usage_before);
            (plan, true)
        }
        plan => (plan.map_err(in_stage)?, false),
    };
    if let Some(redactor) = context.redactor {
        plan.actions.iter_mut().for_each(|action| redact::action(redactor, action));
        plan.account.iter_mut().for_each(|account| redact::text(redactor, account));
    }
    // Not before: what is cut off is no longer known for a secret.
    plan.account = plan.account.map(shortened);
    let (meant, refused) = openings.judge(&plan.meanings);
    let mut plan = check(plan, &facts, &neighbours);
    plan.rejected.extend(refused);
    plan.model_calls += spent_calls;
    plan.usage += spent;
    Ok(CheckedPlan { neighbours, slots, plan, meant, by_rules, made: made + 1 })
}

fn shortened(account: String) -> String {
    match account.char_indices().nth(ACCOUNT) {
        None => account,
        Some(_) => account.chars().take(ACCOUNT - 1).chain(['…']).collect(),
    }
}

/// What is current and near any of the facts. Sessions are no boundary here: a fact of last week's chat is the one
/// that today's contradicts. Decay plays no part either, since it is old facts that are contradicted.
async fn neighbours(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
) -> Result<(Vec<Neighbour>, HashMap<String, Vec<Filled>>)> {
    let reach = scope.across_sessions();
    let semantic = Filter::any_of("kind", ["fact", "preference", "procedure", "observation"]);
    let mut cosines: HashMap<MemoryId, Vec<Option<f32>>> = HashMap::new();
    let mut slots: HashMap<String, Vec<Filled>> = HashMap::new();
    for (number, new) in intake.facts.iter().enumerate() {
        let query = SearchQuery::new(reach.clone(), context.now)
            .filter(Some(semantic.clone()))
            .limit(NEIGHBOURS)
            .near(new.vector.clone())
            .words(&new.fact.text);
        let mut candidates = context.store.search(&query).await?;
        if let Some(slot) = &new.fact.slot {
            // All that fill the slot, however they are worded, and all that did.
            let query = SearchQuery::new(reach.clone(), context.now)
                .filter(Some(semantic.clone() & Filter::eq("slot", slot.as_str()) & !quarantined()))
                .validity(Validity::Any)
                .limit(SLOT)
                .near(new.vector.clone());
            let found = context.store.search(&query).await?;
            let filled = found.iter().map(|candidate| Filled::new(candidate.id, &candidate.attributes, context.now));
            slots.insert(slot.clone(), filled.collect());
            let current = |candidate: &Candidate| candidate.attributes.invalid_at.is_none_or(|end| end > context.now);
            candidates.extend(found.into_iter().filter(current));
        }
        for candidate in candidates {
            let each = cosines.entry(candidate.id).or_insert_with(|| vec![None; intake.facts.len()]);
            if let Some(cosine) = each.get_mut(number) {
                *cosine = candidate.cosine.or(*cosine);
            }
        }
    }
    let ids: Vec<MemoryId> = cosines.keys().copied().collect();
    let memories = context.store.get(&reach, &ids).await?;
    let mut neighbours: Vec<Neighbour> = memories
        .into_iter()
        .map(|memory| {
            let cosines = cosines.remove(&memory.id).unwrap_or_default();
            Neighbour::near(memory, cosines)
        })
        .collect();
    neighbours
        .sort_by(|left, right| right.cosine.total_cmp(&left.cosine).then_with(|| right.memory.id.cmp(&left.memory.id)));
    Ok((neighbours, slots))
}
