//! Which entities the names of a fact mean, and what they tell of them.

use std::collections::BTreeSet;

use super::{
    meant::ResolvedMention,
    resolve::{Likely, may_be_spelled, resolve},
    told::{entity_names, names_of, own_name},
    web::Web,
    word::refusal,
};
use crate::{Entity, EntityId, Mention, Result, score::names::folded};

/// Entities looked up for one name.
const LIKELY: usize = 10;
/// Entities that are new here are looked over for other spellings, if there are no more of them.
const NEW: usize = 64;

impl Web<'_> {
    /// The entity a name means, which may be new.
    pub(super) async fn entity(
        &mut self,
        mention: &Mention,
        other: Option<&Mention>,
        speaker: Option<&str>,
    ) -> Result<EntityId> {
        let mention = own_name(mention, speaker);
        let likely = self.likely(&mention, other.map(|other| own_name(other, speaker)).as_ref()).await?;
        let found = resolve(&mention, &likely).map(|entity| entity.id);
        if let Some(id) = self.by_word(&mention, found, &likely).await?.or(found) {
            self.enrich(id, &mention);
            return Ok(id);
        }
        let mut entity = Entity::new(EntityId::new(self.now), self.scope.clone(), mention.name.trim(), self.now);
        entity.aliases =
            mention.aliases.iter().map(|alias| alias.trim().to_owned()).filter(|alias| !alias.is_empty()).collect();
        entity.entity_type = mention.entity_type;
        let id = entity.id;
        self.entities.insert(id, entity);
        self.index(id);
        // Nothing of it is stored.
        self.read.insert(id);
        Ok(id)
    }

    /// The entity that a model took the name for, if that may still be. Of entities that have that very name, told
    /// meanwhile perhaps, it may be any; else what a rule says stands.
    async fn by_word(
        &mut self,
        mention: &Mention,
        found: Option<EntityId>,
        likely: &[Likely],
    ) -> Result<Option<EntityId>> {
        let Some(id) = self.meant.iter().find(|meant| meant.is_of(mention)).map(|meant| meant.entity) else {
            return Ok(None);
        };
        if found.is_some() && !likely.iter().any(|likely| likely.entity.id == id && likely.likeness >= 1.0) {
            return Ok(None);
        }
        self.read_entities(&[id]).await?;
        let may_be = |entity: &&Entity| entity.merged_into.is_none() && refusal(mention, entity, true).is_none();
        let key = folded(&mention.name);
        match self.entities.get(&id).filter(may_be) {
            Some(entity) => {
                let (name, known_as) = (mention.name.trim().to_owned(), entity.name.clone());
                self.resolved.entry(key).or_insert(ResolvedMention { name, entity: id, known_as });
                Ok(Some(id))
            }
            None => {
                self.unmet.insert(key);
                Ok(None)
            }
        }
    }

    /// The entities that a name may mean: those with an equal name, and if that is none of them, those whose name it
    /// may be another spelling of.
    pub(super) async fn likely(&mut self, mention: &Mention, other: Option<&Mention>) -> Result<Vec<Likely>> {
        let equal = self.equal(mention).await?;
        // The neighbour is looked for where it can matter: an equal name alone decides.
        let known = self.likely_of(&equal, 1.0, other.filter(|_| equal.len() > 1)).await?;
        if resolve(mention, &known).is_some() {
            return Ok(known);
        }
        let Some(other) = other else { return Ok(known) };
        let mut spelled: BTreeSet<EntityId> = BTreeSet::new();
        for name in names_of(mention) {
            for (entity, _) in self.store.find_entities(&self.scope, name, LIKELY).await? {
                spelled.insert(entity.id);
                self.know(entity);
            }
        }
        if self.entities.len() - self.stored_entities.len().min(self.entities.len()) <= NEW {
            spelled.extend(self.entities.keys().filter(|id| !self.stored_entities.contains_key(id)));
        }
        let may_be = |id: &EntityId| {
            let entity = self.entities.get(id).filter(|entity| entity.merged_into.is_none());
            entity.is_some_and(|entity| !equal.contains(id) && may_be_spelled(mention, entity))
        };
        spelled.retain(may_be);
        let spelled = self.likely_of(&spelled, 0.0, Some(other)).await?;
        Ok(known.into_iter().chain(spelled).collect())
    }

    /// The entities with a name that is equal to one of the mention.
    pub(super) async fn equal(&mut self, mention: &Mention) -> Result<BTreeSet<EntityId>> {
        let names: Vec<String> = names_of(mention).map(|name| folded(name)).collect();
        for entity in self.store.named(&self.scope, &names).await? {
            self.know(entity);
        }
        let is_named = |entity: &&Entity| entity_names(entity).any(|name| names.contains(&folded(name)));
        let found = names.iter().filter_map(|name| self.by_name.get(name)).flatten();
        let unmerged = found.filter_map(|id| self.entities.get(id)).filter(|entity| entity.merged_into.is_none());
        Ok(unmerged.filter(is_named).map(|entity| entity.id).collect())
    }

    async fn likely_of(
        &mut self,
        ids: &BTreeSet<EntityId>,
        likeness: f32,
        other: Option<&Mention>,
    ) -> Result<Vec<Likely>> {
        let mut likely = Vec::new();
        for id in ids {
            let shares_neighbour = match other {
                Some(other) => self.has_neighbour(*id, other).await?,
                None => false,
            };
            likely.extend(self.entities.get(id).map(|entity| Likely {
                entity: entity.clone(),
                likeness,
                shares_neighbour,
            }));
        }
        Ok(likely)
    }

    /// Whether an entity is related to one of that name.
    pub(super) async fn has_neighbour(&mut self, id: EntityId, other: &Mention) -> Result<bool> {
        self.read_at(id).await?;
        let ends = self.believed.values().filter(|relation| relation.subject == id || relation.object == id);
        let ends: Vec<EntityId> =
            ends.map(|relation| if relation.subject == id { relation.object } else { relation.subject }).collect();
        self.read_entities(&ends).await?;
        let wanted = folded(&other.name);
        let is_named = |entity: &Entity| entity_names(entity).any(|name| folded(name) == wanted);
        Ok(ends.iter().filter_map(|end| self.entities.get(end)).any(is_named))
    }

    /// Two names of one: the second becomes an alias of the first. If each has an entity, these are two that happen to
    /// have a name in common, until somebody [merges](crate::Graph::merge) them.
    pub(super) async fn same(&mut self, one: &Mention, other: &Mention, speaker: Option<&str>) -> Result<()> {
        let alias = own_name(other, speaker);
        if !self.equal(&alias).await?.is_empty() {
            return Ok(());
        }
        let id = self.entity(one, None, speaker).await?;
        self.enrich(id, &alias);
        Ok(())
    }

    /// Takes over what a mention tells of an entity.
    pub(super) fn enrich(&mut self, id: EntityId, mention: &Mention) {
        let Some(entity) = self.entities.get_mut(&id) else { return };
        let mut changed = false;
        for name in std::iter::once(&mention.name).chain(&mention.aliases) {
            let key = folded(name);
            let known = std::iter::once(&entity.name).chain(&entity.aliases).any(|known| folded(known) == key);
            if !key.is_empty() && !known {
                entity.aliases.push(name.trim().to_owned());
                changed = true;
            }
        }
        if entity.entity_type.is_none() && mention.entity_type.is_some() {
            entity.entity_type.clone_from(&mention.entity_type);
            changed = true;
        }
        if changed {
            entity.updated_at = self.now;
            self.index(id);
        }
    }

    /// The name something was told under, where that is not its own.
    pub(super) fn told_name(&self, id: EntityId, name: &str) -> Option<String> {
        let entity = self.entities.get(&id)?;
        (folded(&entity.name) != folded(name)).then(|| name.trim().to_owned())
    }
}
