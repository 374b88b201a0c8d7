//! The graph part of an add: what facts relate, and what ends with the memories that end.

use std::collections::{BTreeMap, HashMap};

use super::{
    AddContext, AddReport,
    extract::{Intake, NewFact},
};
use crate::{
    MemoryId, Neighbour, Result, Scope, Timestamp, Trust,
    graph::{Changed, Changes, Held, Meant, Openings, Spoken, Told, Web},
};

/// Memories near a fact whose entities a name in it may mean, the nearest.
const NEAR: usize = 5;

/// The names in the facts that no rule decides, and what each may mean. Without neighbours there are none: a model is not
/// asked about names alone.
pub(super) async fn open(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
    neighbours: &[Neighbour],
) -> Result<Openings> {
    let Some(graph) = context.graph.filter(|_| !neighbours.is_empty()) else { return Ok(Openings::default()) };
    let near = |fact: usize| {
        let mut near: Vec<(f32, MemoryId)> =
            neighbours.iter().filter_map(|neighbour| Some((neighbour.cosine_to(fact)?, neighbour.memory.id))).collect();
        near.sort_by(|(one, left), (other, right)| other.total_cmp(one).then_with(|| right.cmp(left)));
        near.into_iter().take(NEAR).map(|(_, id)| id).collect()
    };
    let facts = intake.facts.iter().enumerate();
    let facts: Vec<Spoken<'_>> = facts
        .map(|(fact, new)| Spoken { relations: &new.fact.relations, speaker: speaker(new), near: near(fact) })
        .collect();
    Web::new(graph.store, scope, context.now, graph.single_valued).open(&facts).await
}

/// The one who speaks for the user is the user: an assistant is not.
fn speaker(new: &NewFact) -> Option<&str> {
    new.fact.speaker.as_deref().filter(|_| new.fact.trust != Trust::Assistant)
}

/// What becomes of the graph; `went` says into which memory each fact went, `meant` what names mean that no rule decides.
/// What came of those is noted in the report.
pub(super) async fn relate(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
    neighbours: &[Neighbour],
    went: &BTreeMap<usize, MemoryId>,
    meant: &[Meant],
    report: &mut AddReport,
) -> Result<Changes> {
    let Some(graph) = context.graph else { return Ok(Changes::default()) };
    let mut web = Web::new(graph.store, scope, context.now, graph.single_valued).taking(meant);
    let since: HashMap<MemoryId, Timestamp> =
        report.added.iter().chain(&report.updated).map(|memory| (memory.id, memory.valid_at)).collect();
    let mut told: Vec<Told<'_>> = Vec::new();
    for (number, new) in intake.facts.iter().enumerate() {
        if let Some(&memory) = went.get(&number).filter(|_| !new.fact.relations.is_empty()) {
            told.push(Told {
                relations: &new.fact.relations,
                memory,
                text: &new.fact.text,
                speaker: speaker(new),
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
    let mut changed: Changed = report.added.iter().map(|memory| (memory.id, Held::ended_at_birth(memory))).collect();
    for memory in report.updated.iter().chain(&report.superseded).chain(&report.deleted) {
        if let Some(known) = neighbours.iter().find(|neighbour| neighbour.memory.id == memory.id) {
            changed.insert(memory.id, Held::changed(&known.memory, memory));
        }
    }
    web.follow(&changed, context.store).await?;
    let (resolved, unmet) = web.resolved();
    report.resolved = resolved;
    report.rejected.extend((0..unmet).map(|_| "a name taken for an entity that is gone".to_owned()));
    Ok(web.into_changes())
}
