//! Facts that come ready-made, without messages to read them from.

use super::{
    AddContext, AddReport, carry_out,
    extract::{Intake, NewFact, usable},
    keys, redact,
};
use crate::{Actor, CallBudget, Fact, Result, Scope, types::truncate};

/// Holds facts against what is known, as those are that were read from messages, and writes what comes of it. They were
/// said now.
pub(crate) async fn add_facts(
    context: &AddContext<'_>,
    scope: &Scope,
    facts: Vec<Fact>,
    by: Actor,
) -> Result<AddReport> {
    scope.validate()?;
    let mut report = AddReport::new(context.call);
    let of_none = |fact| Fact { message: 0, ..fact };
    let facts = facts.into_iter().map(of_none).filter_map(|fact| usable(fact, 1, &mut report.ignored));
    let mut facts: Vec<Fact> = facts.collect();
    if let Some(redactor) = context.redactor {
        facts.iter_mut().for_each(|fact| redact::fact(redactor, fact));
    }
    let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
    let (_, vectors) = keys::embed(context.embedder, &[], &texts).await?;
    let observed_at = truncate(context.now);
    let facts = facts.into_iter().zip(vectors);
    let facts = facts.map(|(fact, vector)| NewFact { fact, vector, observed_at, episode: None }).collect();
    let intake = Intake { episodes: Vec::new(), facts, report, actor: Some(by) };
    carry_out(context, context.reconciler, scope, &intake, &CallBudget::new(None, None), false).await
}
