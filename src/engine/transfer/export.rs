use std::collections::{BTreeMap, HashSet, VecDeque};

use super::{
    TransferReport,
    line::{Line, VERSION},
};
use crate::{
    Cursor, Entity, EntityId, Error, ErrorKind, GraphQuery, GraphStore, ListQuery, Memory, MemoryEngine, MemoryId,
    Message, Relation, RelationId, Result, Scope, Stage, Validity, types::truncate,
};

/// How much is read at a time.
const PAGE: usize = 500;

/// A scope, line by line; see [`MemoryEngine::export`].
#[derive(Debug)]
pub struct Export {
    engine: MemoryEngine,
    scope: Scope,
    ready: VecDeque<String>,
    next: Step,
    /// The entities that are out already.
    entities: HashSet<EntityId>,
    /// The relations of other scopes that are out already.
    wider: HashSet<RelationId>,
    report: TransferReport,
    total: u64,
}

/// What comes when all that is ready is out.
#[derive(Debug)]
enum Step {
    Header,
    Memories(Option<Cursor>),
    Removed(Option<MemoryId>),
    Relations(Option<Cursor>),
    Entities(Option<Cursor>),
    /// What other scopes know by these memories.
    Wider(Option<Cursor>),
    /// Those that are still to come, and how far the first of them is told.
    Conversations(Option<Left>),
    Queue,
    End,
    Nothing,
}

/// Conversations, the next last, and from which message on that is to be told.
type Left = (Vec<Scope>, Option<u64>);

impl Export {
    pub(crate) fn new(engine: MemoryEngine, scope: Scope) -> Self {
        let (ready, report) = (VecDeque::new(), TransferReport::default());
        let (entities, wider) = (HashSet::new(), HashSet::new());
        Self { engine, scope, ready, next: Step::Header, entities, wider, report, total: 0 }
    }

    /// The next line, without a line break at its end; `None` after the last. A JSON object each, see
    /// [`MemoryEngine::export`].
    ///
    /// # Errors
    /// What the store reports. The export goes on from the same place if it is asked again; dropping the future loses
    /// nothing either.
    pub async fn next_line(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            if matches!(self.next, Step::Nothing) {
                return Ok(None);
            }
            // What a step changes here it changes at its end, so that it can be done again.
            self.step().await.map_err(|error| error.with_stage(Stage::Search))?;
        }
    }

    /// What was read so far: it may be a few hundred lines ahead of those that were handed out.
    #[must_use]
    pub const fn progress(&self) -> &TransferReport {
        &self.report
    }

    /// How many memories there were when they were last counted; 0 before the second line.
    #[must_use]
    pub const fn total_memories(&self) -> u64 {
        self.total
    }

    async fn step(&mut self) -> Result<()> {
        let mut lines = Vec::new();
        let mut report = self.report;
        let (mut new_entities, mut new_wider) = (Vec::new(), Vec::new());
        let next = match &self.next {
            Step::Header => {
                let exported_at = truncate(self.engine.0.clock.now());
                lines.push(Line::Ingrain { version: VERSION, scope: self.scope.clone(), exported_at });
                Step::Memories(None)
            }
            Step::Memories(after) => {
                let mut query = ListQuery::new(self.scope.clone(), Validity::Any);
                (query.limit, query.after) = (PAGE, after.clone());
                let store = &self.engine.0.store;
                let page = store.list(&query).await?;
                self.total = page.total;
                for memory in page.items {
                    let keys = store.keys(&self.scope, memory.id).await?;
                    let history = store.history(&self.scope, memory.id).await?;
                    let own = |text: String| (text != memory.text).then_some(text);
                    let keys: Vec<Option<String>> = keys.into_iter().map(|key| own(key.text)).collect();
                    // Removed since the page was read.
                    if keys.is_empty() {
                        continue;
                    }
                    report.memories += 1;
                    report.events += history.len() as u64;
                    lines.push(Line::Memory { memory: Box::new(memory), keys, history });
                }
                page.next.map_or(Step::Removed(None), |next| Step::Memories(Some(next)))
            }
            Step::Removed(after) => {
                let store = &self.engine.0.store;
                let ids = store.removed(&self.scope, *after, PAGE).await?;
                for id in &ids {
                    let history = store.history(&self.scope, *id).await?;
                    report.removed += 1;
                    report.events += history.len() as u64;
                    lines.push(Line::Removed { memory: *id, history });
                }
                ids.last().map_or(Step::Relations(None), |last| Step::Removed(Some(*last)))
            }
            Step::Relations(after) => match self.graph() {
                None => Step::Conversations(None),
                Some(graph) => {
                    let query = GraphQuery::any_time().expired_too();
                    let page = graph.list_relations(&self.scope, &query, after.as_ref(), PAGE).await?;
                    let ends = page.items.iter().flat_map(|relation| [relation.subject, relation.object]);
                    let mut seen = HashSet::new();
                    let unknown: Vec<EntityId> =
                        ends.filter(|id| !self.entities.contains(id) && seen.insert(*id)).collect();
                    let found = graph.entities(&self.scope, &unknown).await?;
                    new_entities.extend(found.iter().map(|entity| entity.id));
                    lines.extend(found.into_iter().map(|entity| Line::Entity { entity }));
                    for relation in page.items {
                        // An end may be a wider scope's, or have gone since the page was read.
                        let is_out = |id: &EntityId| self.entities.contains(id) || new_entities.contains(id);
                        if is_out(&relation.subject) && is_out(&relation.object) {
                            report.relations += 1;
                            lines.push(Line::Relation { relation });
                        }
                    }
                    page.next.map_or(Step::Entities(None), |next| Step::Relations(Some(next)))
                }
            },
            Step::Entities(after) => match self.graph() {
                None => Step::Conversations(None),
                Some(graph) => {
                    let page = graph.list_entities(&self.scope, after.as_ref(), PAGE).await?;
                    let alone = |entity: &Entity| !self.entities.contains(&entity.id);
                    for entity in page.items.into_iter().filter(alone) {
                        new_entities.push(entity.id);
                        lines.push(Line::Entity { entity });
                    }
                    page.next.map_or(Step::Wider(None), |next| Step::Entities(Some(next)))
                }
            },
            Step::Wider(after) => match self.graph() {
                None => Step::Conversations(None),
                Some(graph) => {
                    let mut query = ListQuery::new(self.scope.clone(), Validity::Any);
                    (query.limit, query.after) = (PAGE, after.clone());
                    let page = self.engine.0.store.list(&query).await?;
                    for (reader, relation) in self.resting(graph, &page.items).await? {
                        if !new_wider.contains(&relation.id) {
                            new_wider.push(relation.id);
                            let mut ends = vec![relation.subject, relation.object];
                            ends.dedup();
                            ends.retain(|id| !self.entities.contains(id) && !new_entities.contains(id));
                            let found = graph.entities(&reader, &ends).await?;
                            new_entities.extend(found.iter().map(|entity| entity.id));
                            lines.extend(found.into_iter().map(|entity| Line::Entity { entity }));
                            report.relations += 1;
                            lines.push(Line::Relation { relation });
                        }
                    }
                    page.next.map_or(Step::Conversations(None), |next| Step::Wider(Some(next)))
                }
            },
            Step::Conversations(left) => {
                let (left, told) = self.talk(left.as_ref(), &mut lines).await?;
                report.messages += told;
                left.map_or(Step::Queue, |left| Step::Conversations(Some(left)))
            }
            Step::Queue => {
                if self.engine.0.later.is_some() {
                    for add in self.engine.queued_adds(&self.scope).await? {
                        report.queued_adds += 1;
                        lines.push(Line::QueuedAdd { add: Box::new(add) });
                    }
                }
                Step::End
            }
            Step::End => {
                lines.push(Line::End { counts: report });
                Step::Nothing
            }
            Step::Nothing => Step::Nothing,
        };
        report.entities += new_entities.len() as u64;
        let written = lines.iter().map(written).collect::<Result<Vec<String>>>()?;
        self.ready.extend(written);
        self.entities.extend(new_entities);
        self.wider.extend(new_wider);
        (self.report, self.next) = (report, next);
        Ok(())
    }

    /// What other scopes know by these memories, each with a scope it is read in: with the memories that are in this scope
    /// alone, and in their words.
    async fn resting(&self, graph: &dyn GraphStore, memories: &[Memory]) -> Result<Vec<(Scope, Relation)>> {
        let mut by_scope: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
        for memory in memories {
            // What this scope covers is out already.
            for reader in memory.scope.single_parts().filter(|reader| !self.scope.covers(reader)) {
                by_scope.entry(reader).or_default().push(memory.id);
            }
        }
        let mut resting = Vec::new();
        for (reader, ids) in by_scope {
            for mut relation in graph.relations_of(&reader, &ids).await? {
                if self.scope.covers(&relation.scope) || self.wider.contains(&relation.id) {
                    continue;
                }
                let own = self.engine.0.store.get(&self.scope, &relation.sources).await?;
                relation.sources.retain(|source| own.iter().any(|memory| memory.id == *source));
                if let Some(first) = own.first().filter(|_| own.iter().all(|memory| memory.text != relation.fact)) {
                    relation.fact.clone_from(&first.text);
                    (relation.subject_name, relation.object_name) = (None, None);
                }
                if !relation.sources.is_empty() {
                    resting.push((reader.clone(), relation));
                }
            }
        }
        Ok(resting)
    }

    /// The next messages of the conversations that are left; what is left after them, and how many messages these are.
    async fn talk(&self, left: Option<&Left>, lines: &mut Vec<Line>) -> Result<(Option<Left>, u64)> {
        let Some(store) = self.engine.0.conversation_store() else { return Ok((None, 0)) };
        let Some((names, from)) = left else {
            // The first is taken from the end.
            let names = store.conversations(&self.scope).await?.into_iter().rev().collect();
            return Ok((Some((names, None)), 0));
        };
        let mut names = names.clone();
        let Some(name) = names.last().cloned() else { return Ok((None, 0)) };
        let found = store.messages(&name, from.unwrap_or(0), PAGE).await?;
        let end = found.last().map(|last| last.sequence + 1);
        let first = found.first().map(|first| first.sequence);
        let told = found.len() as u64;
        let is_last = found.len() < PAGE;
        let messages: Vec<Message> = found.into_iter().map(|stored| stored.message).collect();
        match from {
            Some(_) => lines.extend(first.map(|first| Line::Messages { name, first, messages })),
            None => {
                let summary = store.summary(&name).await?;
                let first = first.or_else(|| summary.as_ref().map(|summary| summary.covers_before));
                lines.extend(first.map(|first| Line::Conversation { name, first, messages, summary }));
            }
        }
        if is_last {
            names.pop();
        }
        Ok((Some((names, end.filter(|_| !is_last))), told))
    }

    fn graph(&self) -> Option<&dyn GraphStore> {
        self.engine.0.graph.as_ref().map(|graph| &*graph.store)
    }
}

fn written(line: &Line) -> Result<String> {
    serde_json::to_string(line)
        .map_err(|cause| Error::new(ErrorKind::Internal, "a line of an export cannot be written").with_source(cause))
}
