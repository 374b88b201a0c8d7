//! Whose word a fact is: what a tool or a web page said is no fact of the user's, and is kept aside if that is wanted.

use super::{AddContext, AddReport, SkipReason, SkippedFact, extract::NewFact};
use crate::{
    Fact, Filter, Ignored, Message, Result, Role, Scope, SearchQuery, Stage, Trust, Validity,
    score::sameness::same_text,
    types::quarantine::{is_kept_aside, quarantined},
};

/// Memories that are looked at for each fact, to see whether it is known: those whose words fit best.
const LOOKED_AT: usize = 10;

/// The fact, trusted no more than the one who said it, whatever the extractor makes of it. What a system message says
/// is no fact, nor is what a tool says unless it is kept aside.
pub(super) fn by_its_speaker(
    mut fact: Fact,
    messages: &[Message],
    quarantine: bool,
    ignored: &mut Vec<Ignored>,
) -> Option<Fact> {
    match messages.get(fact.message)?.role {
        Role::User => {}
        Role::Assistant => fact.trust = fact.trust.max(Trust::Assistant),
        Role::Tool if quarantine => fact.trust = Trust::Tool,
        Role::Tool => {
            ignored.push(Ignored::new("a fact that rests on the message of a tool"));
            return None;
        }
        Role::System => {
            ignored.push(Ignored::new("a fact that rests on a system message"));
            return None;
        }
    }
    Some(fact)
}

/// The facts that are held against what is known, and those that are kept aside. Of these what is there already, or holds,
/// is skipped.
pub(super) async fn apart(
    context: &AddContext<'_>,
    scope: &Scope,
    facts: Vec<NewFact>,
    report: &mut AddReport,
) -> Result<(Vec<NewFact>, Vec<NewFact>)> {
    if !context.quarantine {
        return Ok((facts, Vec::new()));
    }
    let (outside, facts): (Vec<NewFact>, Vec<NewFact>) =
        facts.into_iter().partition(|new| new.fact.trust == Trust::Tool);
    let mut aside: Vec<NewFact> = Vec::new();
    for new in outside {
        let text = &new.fact.text;
        let known = known(context, scope, text).await.map_err(|error| error.with_stage(Stage::Reconcile))?;
        if known.is_some() || aside.iter().any(|other| same_text(&other.fact.text, text)) {
            report.skipped.push(SkippedFact { text: text.clone(), known, reason: SkipReason::Known });
        } else {
            aside.push(new);
        }
    }
    Ok((facts, aside))
}

/// The memory that says the same and holds or is kept aside itself.
async fn known(context: &AddContext<'_>, scope: &Scope, text: &str) -> Result<Option<crate::MemoryId>> {
    let reach = scope.across_sessions();
    let semantic = || Filter::any_of("kind", ["fact", "preference", "procedure", "observation"]);
    let current = Validity::Current(context.now);
    for (validity, filter) in [(Validity::Any, semantic() & quarantined()), (current, semantic())] {
        let query = SearchQuery::new(reach.clone(), context.now).validity(validity).filter(Some(filter));
        let found = context.store.search(&query.limit(LOOKED_AT).words(text)).await?;
        let ids: Vec<_> = found.into_iter().map(|candidate| candidate.id).collect();
        let memories = context.store.get(&reach, &ids).await?;
        let says =
            |memory: &&crate::Memory| same_text(&memory.text, text) && (validity == current || is_kept_aside(memory));
        if let Some(memory) = memories.iter().find(says) {
            return Ok(Some(memory.id));
        }
    }
    Ok(None)
}
