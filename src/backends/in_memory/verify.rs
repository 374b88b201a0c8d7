//! Holding what is derived in the process against what it is derived from. Nothing outside can damage it, so whatever this
//! finds is a fault of the crate; only search indexes can be made anew.

use std::collections::BTreeSet;

use super::{InMemoryStore, graph::Graph, state::State};
use crate::{
    MemoryId, MemoryKind, ProblemKind, ProblemPlace, Result, Scope, Verify, VerifyReport,
    index::{Compared, IndexMark, Terms},
};

impl InMemoryStore {
    pub(super) fn verified(&self, request: &Verify) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        let state = self.read();
        state.verify(&mut report);
        request.tell("memories", report.checked.memories);
        state.graph.verify(&mut report);
        request.tell("relations", report.checked.relations);
        (report.checked.messages, report.checked.queued_adds) = self.kept_besides();
        let mut stale = 0;
        for scope in self.cache().held() {
            if let Compared::Marks(marks) = self.cache().marks(&scope, &&*state)? {
                stale += u64::from(marks != state.marks(&scope));
            }
        }
        if stale > 0 {
            let place = ProblemPlace::Part(format!("the indexes of {stale} scopes"));
            if request.rebuilds() {
                self.cache().forget();
                report.note_mended(ProblemKind::SearchIndex, place);
            } else {
                report.note(ProblemKind::SearchIndex, place);
            }
        }
        Ok(report)
    }
}

impl State {
    fn verify(&self, report: &mut VerifyReport) {
        let width = self.embedder.as_ref().map(|embedder| embedder.dimensions);
        for (id, stored) in &self.memories {
            let memory = &stored.memory;
            report.checked.memories += 1;
            report.checked.keys += stored.keys.len() as u64;
            let mut note = |kind| report.note(kind, ProblemPlace::Memory(*id));
            if memory.id != *id || memory.scope.validate().is_err() || stored.keys.len() != stored.texts.len() {
                note(ProblemKind::Unreadable);
            }
            if stored.keys.is_empty() {
                note(ProblemKind::Keys);
            }
            for (key, text) in stored.keys.iter().zip(&*stored.texts) {
                if Some(key.vector.len()) != width || !key.vector.iter().all(|number| number.is_finite()) {
                    note(ProblemKind::Vector);
                }
                if key.terms != Terms::of(text) {
                    note(ProblemKind::Terms);
                }
            }
            if memory.scope.readers().any(|reader| !self.readers.get(&reader).is_some_and(|ids| ids.contains(id))) {
                note(ProblemKind::FileIndex);
            }
            let next = self.places.get(&memory.scope).copied().unwrap_or(0);
            let place = memory.ordinal.filter(|_| memory.kind == MemoryKind::Episode);
            if place.is_some_and(|place| next < place.saturating_add(1)) {
                note(ProblemKind::Places);
            }
            let events = self.history.get(id);
            let told =
                events.and_then(|events| events.last()).map(|last| last.new_text.as_ref().or(last.old_text.as_ref()));
            if told.is_some_and(|told| told != Some(&memory.text)) {
                note(ProblemKind::HistoryText);
            }
            if events.into_iter().flatten().any(|event| event.scope != memory.scope) {
                note(ProblemKind::HistoryScope);
            }
        }
        report.checked.events += self.history.values().map(Vec::len).sum::<usize>() as u64;
        let stray = self.readers.values().flatten().filter(|id| !self.memories.contains_key(*id));
        stray.for_each(|id| report.note(ProblemKind::Stray, ProblemPlace::Memory(*id)));
    }

    /// What the index of a scope is to have of each memory.
    fn marks(&self, scope: &Scope) -> Vec<(MemoryId, IndexMark)> {
        let ids = self.readers.get(scope).into_iter().flatten();
        let mark = |id: &MemoryId| {
            let stored = self.memories.get(id)?;
            let mark = IndexMark {
                updated_at: stored.memory.updated_at,
                access_count: stored.memory.access_count,
                invalid_at: stored.memory.invalid_at,
                keys: stored.keys.len(),
            };
            Some((*id, mark))
        };
        ids.filter_map(mark).collect()
    }
}

impl Graph {
    fn verify(&self, report: &mut VerifyReport) {
        for (id, stored) in &self.entities {
            let entity = &stored.entity;
            report.checked.entities += 1;
            let mut note = |kind| report.note(kind, ProblemPlace::Entity(*id));
            let is_named = |name: &crate::score::names::Name| {
                name.folded().is_empty() || self.by_name.get(name.folded()).is_some_and(|ids| ids.contains(id))
            };
            let is_covered = |reader| self.readers.get(&reader).is_some_and(|covered| covered.entities.contains(id));
            if !stored.names.iter().all(is_named) || !entity.scope.readers().all(is_covered) {
                note(ProblemKind::Names);
            }
            let mut met = BTreeSet::from([*id]);
            let mut next = entity.merged_into;
            while let Some(into) = next {
                let there = self.entities.get(&into).filter(|_| met.insert(into));
                if there.is_none() {
                    note(ProblemKind::MergedInto);
                }
                next = there.and_then(|stored| stored.entity.merged_into);
            }
        }
        for (id, relation) in &self.relations {
            report.checked.relations += 1;
            let mut note = |kind| report.note(kind, ProblemPlace::Relation(*id));
            for end in [relation.subject, relation.object] {
                let is_there = self.entities.get(&end).is_some_and(|end| end.entity.scope.covers(&relation.scope));
                if !is_there || !self.touching.get(&end).is_some_and(|ids| ids.contains(id)) {
                    note(ProblemKind::RelationEnd);
                }
            }
            if !relation.sources.iter().all(|one| self.by_source.get(one).is_some_and(|ids| ids.contains(id))) {
                note(ProblemKind::RelationSources);
            }
        }
        let led_to = self.touching.values().flatten().chain(self.by_source.values().flatten());
        for id in led_to.filter(|id| !self.relations.contains_key(*id)) {
            report.note(ProblemKind::Stray, ProblemPlace::Relation(*id));
        }
    }
}
