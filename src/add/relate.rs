//! The graph part of an add: what facts relate, and what ends with the memories that end.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{AddContext, AddReport, extract::Intake};
use crate::{
    MemoryId, Result, Scope, Timestamp, Trust,
    graph::{Changes, Told, Web},
};

/// What becomes of the graph; `went` says into which memory each fact went.
pub(super) async fn relate(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
    went: &BTreeMap<usize, MemoryId>,
    report: &AddReport,
) -> Result<Changes> {
    let Some(graph) = context.graph else { return Ok(Changes::default()) };
    let mut web = Web::new(graph.store, scope, context.now, graph.single_valued);
    let since: HashMap<MemoryId, Timestamp> =
        report.added.iter().chain(&report.updated).map(|memory| (memory.id, memory.valid_at)).collect();
    let mut told: Vec<Told<'_>> = Vec::new();
    for (number, new) in intake.facts.iter().enumerate() {
        if let Some(&memory) = went.get(&number).filter(|_| !new.fact.relations.is_empty()) {
            told.push(Told {
                relations: &new.fact.relations,
                memory,
                text: &new.fact.text,
                // The one who speaks for the user is the user: an assistant is not.
                speaker: new.fact.speaker.as_deref().filter(|_| new.fact.trust != Trust::Assistant),
                since: since.get(&memory).copied().unwrap_or_else(|| new.valid_at()),
                until: new.fact.invalid_at,
            });
        }
    }
    // What is told of one time is told in the order of the messages.
    told.sort_by_key(|told| told.since);
    for told in &told {
        web.tell(told).await?;
    }
    let over = |end: &Timestamp| *end <= context.now;
    let ended = report.superseded.iter().chain(&report.deleted).chain(&report.added);
    let ended: HashMap<MemoryId, Timestamp> =
        ended.filter_map(|memory| Some((memory.id, memory.invalid_at.filter(over)?))).collect();
    if !ended.is_empty() {
        let added: HashSet<MemoryId> = report.added.iter().map(|memory| memory.id).collect();
        web.end(&ended, &added, context.store).await?;
    }
    Ok(web.into_changes())
}
