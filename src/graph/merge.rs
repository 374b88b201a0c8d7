//! Making one entity of two, and two of one.

use super::{follow::Changed, periods::Period, web::Web};
use crate::{
    Entity, EntityId, Error, ErrorKind, Mention, Relation, RelationId, Result, VectorStore, score::names::folded,
};

impl Web<'_> {
    /// Makes one of two: what is believed of the other is believed of the one that is kept, and its names become aliases.
    /// Both must be there.
    pub(crate) async fn merge(&mut self, kept: EntityId, other: EntityId) -> Result<()> {
        // Merged again, it brings what was told of it meanwhile.
        self.read_entities(&[other]).await?;
        let gone = match self.entities.get(&other) {
            Some(entity) if entity.merged_into == Some(kept) => entity.clone(),
            _ => self.known(other).await?,
        };
        let names = Mention { name: gone.name.clone(), aliases: gone.aliases.clone(), entity_type: gone.entity_type };
        self.known(kept).await?;
        self.move_relations(other, kept, &gone.name, |_| true).await?;
        self.enrich(kept, &names);
        if let Some(entity) = self.entities.get_mut(&other) {
            (entity.merged_into, entity.updated_at) = (Some(kept), self.now);
        }
        Ok(())
    }

    /// Makes two of one: what was told of it under that name is believed of another, which is the one it had been merged
    /// with, or a new one. The id of that one.
    pub(crate) async fn split(&mut self, id: EntityId, name: &str, memories: &dyn VectorStore) -> Result<EntityId> {
        let one = self.known(id).await?;
        let key = folded(name);
        if folded(&one.name) == key || !one.aliases.iter().any(|alias| folded(alias) == key) {
            return Err(Error::invalid("the entity has no such alias"));
        }
        let alike = self.store.named(&self.scope, std::slice::from_ref(&key)).await?;
        let merged = alike.into_iter().find(|entity| entity.merged_into == Some(id) && folded(&entity.name) == key);
        let other = match merged {
            Some(mut entity) => {
                self.stored_entities.insert(entity.id, entity.clone());
                entity.merged_into = None;
                entity
            }
            None => {
                let mut entity = Entity::new(EntityId::new(self.now), self.scope.clone(), name.trim(), self.now);
                entity.entity_type.clone_from(&one.entity_type);
                entity
            }
        };
        let theirs: Vec<String> = std::iter::once(&other.name).chain(&other.aliases).map(|name| folded(name)).collect();
        let other_id = other.id;
        self.entities.insert(other_id, Entity { updated_at: self.now, ..other });
        self.index(other_id);
        if let Some(entity) = self.entities.get_mut(&id) {
            entity.aliases.retain(|alias| !theirs.contains(&folded(alias)));
            entity.updated_at = self.now;
        }
        let moved = self
            .move_relations(id, other_id, &one.name, |told| told.is_some_and(|told| theirs.contains(&folded(told))))
            .await?;
        // What they had ended of the one that stays holds again.
        self.release(moved, &Changed::new(), memories).await?;
        Ok(other_id)
    }

    /// Believes of another entity what is believed of this one and was told under a name that is `meant`.
    async fn move_relations(
        &mut self,
        from: EntityId,
        to: EntityId,
        own_name: &str,
        meant: impl Fn(Option<&str>) -> bool,
    ) -> Result<Vec<Relation>> {
        self.read_at(from).await?;
        self.read_at(to).await?;
        let is_moved = |end: EntityId, told: &Option<String>| end == from && meant(told.as_deref());
        let moved: Vec<Relation> = self
            .believed
            .values()
            .filter(|known| is_moved(known.subject, &known.subject_name) || is_moved(known.object, &known.object_name))
            .cloned()
            .collect();
        for old in &moved {
            let Some(old) = self.disbelieve(old.id) else { continue };
            let mut new = Relation { id: RelationId::new(self.now), created_at: self.now, ..old.clone() };
            for (end, told) in [(&mut new.subject, &mut new.subject_name), (&mut new.object, &mut new.object_name)] {
                if is_moved(*end, told) {
                    *end = to;
                    let name = told.take().unwrap_or_else(|| own_name.to_owned());
                    *told = self.told_name(to, &name);
                }
            }
            let (key, period) = (folded(&new.predicate), Period::of(&old));
            let is_single = new.single_valued || self.single_valued.contains(&key);
            self.settle(new, &key, is_single, period).await?;
        }
        Ok(moved)
    }

    /// An entity that is there and was not merged with another.
    async fn known(&mut self, id: EntityId) -> Result<Entity> {
        self.read_entities(&[id]).await?;
        let entity = self.entities.get(&id).filter(|entity| entity.merged_into.is_none()).cloned();
        entity.ok_or_else(|| Error::new(ErrorKind::NotFound, "the scope has no such entity"))
    }
}
