//! Taking in relations that were believed elsewhere, or here at an earlier time.

use std::collections::{BTreeMap, HashMap, btree_map::Entry};

use super::{
    follow::{Changed, hull},
    periods::Period,
    web::Web,
};
use crate::{
    Direction, EntityId, GraphQuery, MemoryId, Relation, RelationId, Result, VectorStore, score::names::folded,
};

/// Most relations that are read at one entity.
const RELATIONS: usize = 1_000_000;

impl Web<'_> {
    /// Takes in relations with their ids, as far as they are not known under others: what is believed of the same two rests
    /// on their memories as well, and holds as long as these do. How many of them were news.
    pub(crate) async fn adopt(&mut self, relations: Vec<Relation>, memories: &dyn VectorStore) -> Result<u64> {
        let mut stored: BTreeMap<EntityId, HashMap<RelationId, Relation>> = BTreeMap::new();
        let mut news = 0;
        for relation in relations {
            let there = match stored.entry(relation.subject) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let (ends, query) = ([relation.subject], GraphQuery::any_time().expired_too().limit(RELATIONS));
                    let found = self.store.relations_at(&self.scope, &ends, Direction::Out, &query).await?;
                    self.take(found.iter().filter(|relation| relation.expired_at.is_none()).cloned().collect());
                    self.read_from.insert(relation.subject);
                    place.insert(found.into_iter().map(|relation| (relation.id, relation)).collect())
                }
            };
            let there = there.get(&relation.id);
            let is_news = if relation.expired_at.is_some() {
                self.adopt_expired(relation, there)
            } else {
                self.adopt_believed(relation, there.is_some(), memories).await?
            };
            news += u64::from(is_news);
        }
        Ok(news)
    }

    fn adopt_expired(&mut self, mut relation: Relation, there: Option<&Relation>) -> bool {
        if let Some(there) = there {
            let unknown = unknown(&there.sources, &relation.sources);
            let is_old = unknown.is_empty() && there.expired_at.is_some();
            if is_old || relation.check_replaces(there).is_err() {
                return false;
            }
            relation.sources = there.sources.iter().copied().chain(unknown).collect();
            self.disbelieve(relation.id);
            self.stored.remove(&relation.id);
        }
        self.batch.relations.push(relation);
        true
    }

    async fn adopt_believed(
        &mut self,
        mut relation: Relation,
        is_stored: bool,
        memories: &dyn VectorStore,
    ) -> Result<bool> {
        let (key, period) = (folded(&relation.predicate), Period::of(&relation));
        let known = self.told_of.get(&(relation.subject, key.clone())).into_iter().flatten();
        let is_same = |known: &&Relation| {
            let is_of_both = known.object == relation.object && known.scope == relation.scope;
            is_of_both && (known.id == relation.id || Period::of(known).overlaps(period))
        };
        let Some(mut known) = known.filter_map(|id| self.believed.get(id)).find(is_same).cloned() else {
            if is_stored {
                relation.id = RelationId::new(self.now);
            }
            let is_single = self.is_single(&relation);
            self.settle(relation, &key, is_single, period).await?;
            return Ok(true);
        };
        let unknown = unknown(&known.sources, &relation.sources);
        if unknown.is_empty() {
            return Ok(false);
        }
        known.sources.extend(&unknown);
        self.believed.insert(known.id, known.clone());
        let mut held = self.held(std::iter::once(&known), &Changed::new(), memories).await?;
        // Without these it held as long as the others did.
        for id in &unknown {
            if let Some(held) = held.get_mut(id) {
                held.before.until = held.before.from;
            }
        }
        let (before, after) = (hull(&known, &held, |held| held.before), hull(&known, &held, |held| held.after));
        let period = Period::of(&known);
        let wanted = after.map_or(period, |after| period.following(before, after));
        if wanted != period {
            let is_single = self.is_single(&known);
            self.retell(known, period, wanted, is_single).await?;
        }
        Ok(true)
    }
}

/// Those that are not known.
fn unknown(known: &[MemoryId], told: &[MemoryId]) -> Vec<MemoryId> {
    told.iter().copied().filter(|id| !known.contains(id)).collect()
}
