//! How long relations hold: as long as the memories they rest on, unless another one of which there is but one at a time
//! takes their place.
//!
//! This is the one place where the graph hears of a memory that holds longer, shorter or at another time than before,
//! whatever changed it. A relation begins and ends with its memories where it did so before; one that was cut short by
//! another is let go when that one is gone.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{
    periods::{Period, beside, ends_before, instants, see},
    web::Web,
};
use crate::{EntityId, Memory, MemoryId, Relation, RelationId, Result, Timestamp, VectorStore, score::names::folded};

/// Entities that one was merged into, one after the other, that are looked for.
const MERGES: usize = 16;

/// From when until when a memory held, and holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(super) before: Period,
    pub(super) after: Period,
}

impl Held {
    /// What becomes of a memory.
    pub(crate) fn changed(before: &Memory, after: &Memory) -> Self {
        Self { before: Period::of_memory(before), after: Period::of_memory(after) }
    }

    /// A memory that is as it was.
    pub(crate) fn unchanged(memory: &Memory) -> Self {
        Self::changed(memory, memory)
    }

    /// A new memory, whose relations were told without its end.
    pub(crate) fn ended_at_birth(memory: &Memory) -> Self {
        let after = Period::of_memory(memory);
        Self { before: Period { until: None, ..after }, after }
    }

    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// By memory. Those that are not stored yet are in it, too, if relations may rest on them.
pub(crate) type Changed = HashMap<MemoryId, Held>;

impl Web<'_> {
    /// Lets relations hold as long as the memories they rest on now do.
    pub(crate) async fn follow(&mut self, changed: &Changed, memories: &dyn VectorStore) -> Result<()> {
        let ids: HashSet<MemoryId> = changed.iter().filter(|(_, held)| held.is_change()).map(|(id, _)| *id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let found = self.read_of(&ids.iter().copied().collect::<Vec<_>>()).await?;
        let believed = self.believed.values().filter(|known| known.sources.iter().any(|source| ids.contains(source)));
        let mut resting: Vec<(Relation, Period)> = believed.map(|known| (known.clone(), Period::of(known))).collect();
        resting.extend(self.emptied(&found, changed).await?);
        let held = self.held(resting.iter().map(|(relation, _)| relation), changed, memories).await?;
        let mut gone = Vec::new();
        for (relation, known) in resting {
            // It may have become a part of another one of these.
            if relation.expired_at.is_none() && !self.believed.contains_key(&relation.id) {
                continue;
            }
            let Some(after) = hull(&relation, &held, |held| held.after) else { continue };
            let wanted = known.following(hull(&relation, &held, |held| held.before), after);
            if wanted != known {
                let is_single = self.is_single(&relation);
                if wanted.is_empty() || wanted.from != known.from {
                    gone.push(relation.clone());
                }
                self.retell(relation, known, wanted, is_single).await?;
            }
        }
        self.release(gone, changed, memories).await
    }

    /// Lets those go that ended where one of these began, as far as their memories hold.
    pub(super) async fn release(
        &mut self,
        gone: Vec<Relation>,
        changed: &Changed,
        memories: &dyn VectorStore,
    ) -> Result<()> {
        for gone in gone {
            if !self.is_single(&gone) {
                continue;
            }
            self.read_from(gone.subject).await?;
            let ended: Vec<Relation> = self
                .told_like(&gone)
                .filter(|known| known.invalid_at.is_some_and(|end| instants(&gone).any(|at| at == end)))
                .cloned()
                .collect();
            let held = self.held(ended.iter(), changed, memories).await?;
            for known in ended {
                let is_cut = |other: &Relation| instants(other).any(|at| Some(at) == known.invalid_at);
                let Some(after) = hull(&known, &held, |held| held.after) else { continue };
                let period = Period::of(&known);
                if self.told_like(&known).any(is_cut) || !ends_before(period.until, after.until) {
                    continue;
                }
                self.retell(known, period, Period { until: after.until, ..period }, true).await?;
            }
        }
        Ok(())
    }

    /// Believes a relation that was believed for one period for another, and takes nothing from others for it.
    pub(super) async fn retell(
        &mut self,
        relation: Relation,
        known: Period,
        wanted: Period,
        is_single: bool,
    ) -> Result<()> {
        let grows = ends_before(known.until, wanted.until)
            || known.from.is_some_and(|known| wanted.from.is_none_or(|wanted| wanted < known));
        if !grows {
            self.replace(relation.id, if wanted.is_empty() { &[] } else { std::slice::from_ref(&wanted) });
            return Ok(());
        }
        self.read_from(relation.subject).await?;
        let period = if is_single {
            let others: Vec<&Relation> =
                self.told_like(&relation).filter(|other| relation.scope.covers(&other.scope)).collect();
            beside(known, wanted, &others)
        } else {
            wanted
        };
        if period == known || period.is_empty() {
            return Ok(());
        }
        self.disbelieve(relation.id);
        let created_at = self.now.max(relation.created_at);
        let new = Relation { id: RelationId::new(self.now), created_at, expired_at: None, ..relation };
        self.unite(new, period);
        Ok(())
    }

    /// Believes a relation for a period, with what is believed of the same two in periods that overlap: each holds as long as
    /// its memories do, and no end of one is that of another.
    fn unite(&mut self, mut new: Relation, mut period: Period) {
        let mut seen: Vec<Timestamp> = instants(&new).collect();
        let place = (new.subject, folded(&new.predicate));
        loop {
            let is_part = |known: &&Relation| {
                let is_same = known.object == new.object && new.scope.covers(&known.scope);
                is_same && Period::of(known).overlaps(period)
            };
            let known = self.told_of.get(&place).into_iter().flatten().filter_map(|id| self.believed.get(id));
            let Some(part) = known.into_iter().find(is_part).map(|known| known.id) else { break };
            let Some(part) = self.disbelieve(part) else { break };
            period = Period::hull(&[period, Period::of(&part)]).unwrap_or(period);
            seen.extend(instants(&part));
            new.single_valued |= part.single_valued;
            let unknown = part.sources.into_iter().filter(|source| !new.sources.contains(source)).collect::<Vec<_>>();
            new.sources.extend(unknown);
        }
        (new.valid_at, new.invalid_at) = (period.from, period.until);
        new.seen_at.clear();
        seen.into_iter().for_each(|at| see(&mut new, at));
        self.believe(new);
    }

    /// What was believed because of memories that then held at no time, and are to hold at one, each with the period that is
    /// left of it.
    async fn emptied(&mut self, found: &[Relation], changed: &Changed) -> Result<Vec<(Relation, Period)>> {
        let mut emptied: Vec<(Relation, Period)> = Vec::new();
        let mut seen: BTreeSet<(EntityId, String, EntityId)> = BTreeSet::new();
        for (id, _) in changed.iter().filter(|(_, held)| held.before.is_empty() && !held.after.is_empty()) {
            let resting = || found.iter().filter(|relation| relation.sources.contains(id));
            // They went when the memory ended; what had gone before that has its successor among them.
            let last = resting().filter_map(|relation| relation.expired_at).max();
            for relation in resting().filter(|relation| last.is_some() && relation.expired_at == last) {
                let mut relation = relation.clone();
                relation.subject = self.unmerged(relation.subject).await?;
                relation.object = self.unmerged(relation.object).await?;
                let place = (relation.subject, folded(&relation.predicate), relation.object);
                let is_told = |known: &Relation| {
                    let ends = (known.subject, known.object) == (relation.subject, relation.object);
                    ends && known.sources.contains(id) && folded(&known.predicate) == place.1
                };
                if relation.valid_at.is_none() || self.believed.values().any(is_told) || !seen.insert(place) {
                    continue;
                }
                let nothing = Period { from: relation.valid_at, until: relation.valid_at };
                emptied.push((relation, nothing));
            }
        }
        Ok(emptied)
    }

    /// The entity that one is now.
    async fn unmerged(&mut self, id: EntityId) -> Result<EntityId> {
        let mut now = id;
        for _ in 0..MERGES {
            self.read_entities(&[now]).await?;
            match self.entities.get(&now).and_then(|entity| entity.merged_into) {
                Some(other) => now = other,
                None => break,
            }
        }
        Ok(now)
    }

    /// How long the memories hold that relations rest on; those that are gone are left out.
    pub(super) async fn held(
        &self,
        relations: impl Iterator<Item = &Relation>,
        changed: &Changed,
        memories: &dyn VectorStore,
    ) -> Result<Changed> {
        let sources: BTreeSet<MemoryId> = relations.flat_map(|relation| relation.sources.iter().copied()).collect();
        let unknown: Vec<MemoryId> = sources.into_iter().filter(|id| !changed.contains_key(id)).collect();
        let mut held = changed.clone();
        if !unknown.is_empty() {
            let found = memories.get(&self.scope, &unknown).await?;
            held.extend(found.iter().map(|memory| (memory.id, Held::unchanged(memory))));
        }
        Ok(held)
    }

    pub(super) fn is_single(&self, relation: &Relation) -> bool {
        relation.single_valued || self.single_valued.contains(&folded(&relation.predicate))
    }

    /// What is believed of the same subject and predicate and another object.
    fn told_like(&self, relation: &Relation) -> impl Iterator<Item = &Relation> {
        let ids = self.told_of.get(&(relation.subject, folded(&relation.predicate))).into_iter().flatten();
        let object = relation.object;
        ids.filter_map(|id| self.believed.get(id)).filter(move |known| known.object != object)
    }
}

/// From the first beginning of the memories that a relation rests on to their last end.
pub(super) fn hull(relation: &Relation, held: &Changed, at: impl Fn(&Held) -> Period) -> Option<Period> {
    let periods: Vec<Period> = relation.sources.iter().filter_map(|source| held.get(source)).map(at).collect();
    Period::hull(&periods)
}
