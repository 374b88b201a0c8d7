//! From entities and relations to the properties of nodes and relationships, and back.

use super::{
    bolt::{Map, Value, map},
    error::{Neo4jError, Result},
};
use crate::{Entity, EntityId, MemoryId, Relation, RelationId, Scope, Timestamp};

/// Microseconds since 1970: they sort as the instants do.
pub(super) fn time(at: Timestamp) -> Value {
    Value::Int(at.timestamp_micros())
}

/// The parts of a scope, as properties or parameters.
pub(super) fn scope(scope: &Scope) -> Map {
    map([
        ("user", scope.user_id().map(str::to_owned).into()),
        ("agent", scope.agent_id().map(str::to_owned).into()),
        ("session", scope.session_id().map(str::to_owned).into()),
    ])
}

/// The properties of an entity's node.
pub(super) fn of_entity(entity: &Entity) -> Result<Map> {
    let Entity { id, scope, name, aliases, entity_type, summary, merged_into, metadata, created_at, updated_at } =
        entity;
    let metadata = if metadata.is_empty() {
        Value::Null
    } else {
        serde_json::to_string(metadata).map_err(|_| Neo4jError::Unreadable("metadata"))?.into()
    };
    let mut properties = map([
        ("id", id.to_string().into()),
        ("name", name.as_str().into()),
        ("aliases", aliases.iter().map(String::as_str).collect()),
        ("entity_type", entity_type.clone().into()),
        ("summary", summary.clone().into()),
        ("merged_into", merged_into.map(|id| id.to_string()).into()),
        ("metadata", metadata),
        ("created_at", time(*created_at)),
        ("updated_at", time(*updated_at)),
    ]);
    properties.extend(self::scope(scope));
    Ok(properties)
}

/// The properties of a relation's relationship. Its ends are among them, so that what is at an entity can be read from
/// an index in the order of ids.
pub(super) fn of_relation(relation: &Relation) -> Map {
    let Relation {
        id,
        scope,
        subject,
        predicate,
        object,
        fact,
        valid_at,
        invalid_at,
        created_at,
        expired_at,
        sources,
        subject_name,
        object_name,
        single_valued,
        seen_at,
    } = relation;
    let mut properties = map([
        ("id", id.to_string().into()),
        ("subject", subject.to_string().into()),
        ("predicate", predicate.as_str().into()),
        ("object", object.to_string().into()),
        ("fact", fact.as_str().into()),
        ("valid_at", valid_at.map(|at| at.timestamp_micros()).into()),
        ("invalid_at", invalid_at.map(|at| at.timestamp_micros()).into()),
        ("created_at", time(*created_at)),
        ("expired_at", expired_at.map(|at| at.timestamp_micros()).into()),
        ("sources", sources.iter().map(ToString::to_string).collect()),
        ("subject_name", subject_name.clone().into()),
        ("object_name", object_name.clone().into()),
        ("single_valued", Value::Bool(*single_valued)),
        ("seen_at", seen_at.iter().map(|at| at.timestamp_micros()).collect()),
    ]);
    properties.extend(self::scope(scope));
    properties
}

/// The properties in one column of a row.
pub(super) fn properties(row: Vec<Value>, column: usize) -> Result<Properties> {
    match row.into_iter().nth(column) {
        Some(Value::Map(map)) => Ok(Properties(map)),
        _ => Err(Neo4jError::Unreadable("row")),
    }
}

/// The count, or other number, in one column of a row.
pub(super) fn number(row: Option<&Vec<Value>>, column: usize) -> Result<i64> {
    match row.and_then(|row| row.get(column)) {
        Some(Value::Int(number)) => Ok(*number),
        _ => Err(Neo4jError::Unreadable("number")),
    }
}

/// What a node or relationship has.
#[derive(Debug)]
pub(super) struct Properties(Map);

impl Properties {
    fn text(&mut self, name: &'static str) -> Result<String> {
        self.maybe_text(name)?.ok_or(Neo4jError::Unreadable(name))
    }

    fn maybe_text(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.0.remove(name) {
            Some(Value::Text(text)) => Ok(Some(text)),
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(Neo4jError::Unreadable(name)),
        }
    }

    fn flag(&mut self, name: &'static str) -> Result<bool> {
        match self.0.remove(name) {
            Some(Value::Bool(flag)) => Ok(flag),
            _ => Err(Neo4jError::Unreadable(name)),
        }
    }

    fn texts(&mut self, name: &'static str) -> Result<Vec<String>> {
        let Some(Value::List(values)) = self.0.remove(name) else { return Err(Neo4jError::Unreadable(name)) };
        let text = |value| if let Value::Text(text) = value { Ok(text) } else { Err(Neo4jError::Unreadable(name)) };
        values.into_iter().map(text).collect()
    }

    fn maybe_time(&mut self, name: &'static str) -> Result<Option<Timestamp>> {
        match self.0.remove(name) {
            Some(Value::Int(micros)) => {
                Timestamp::from_timestamp_micros(micros).map(Some).ok_or(Neo4jError::Unreadable(name))
            }
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(Neo4jError::Unreadable(name)),
        }
    }

    fn times(&mut self, name: &'static str) -> Result<Vec<Timestamp>> {
        let Some(Value::List(values)) = self.0.remove(name) else { return Err(Neo4jError::Unreadable(name)) };
        let time = |value| if let Value::Int(micros) = value { Timestamp::from_timestamp_micros(micros) } else { None };
        values.into_iter().map(|value| time(value).ok_or(Neo4jError::Unreadable(name))).collect()
    }

    fn time(&mut self, name: &'static str) -> Result<Timestamp> {
        self.maybe_time(name)?.ok_or(Neo4jError::Unreadable(name))
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &'static str) -> Result<T> {
        self.text(name)?.parse().map_err(|_| Neo4jError::Unreadable(name))
    }

    pub(super) fn scope(&mut self) -> Result<Scope> {
        Ok(Scope::from_parts(self.maybe_text("user")?, self.maybe_text("agent")?, self.maybe_text("session")?))
    }

    pub(super) fn entity(mut self) -> Result<Entity> {
        let created_at = self.time("created_at")?;
        let id: EntityId = self.parsed("id")?;
        let mut entity = Entity::new(id, self.scope()?, self.text("name")?, created_at);
        entity.aliases = self.texts("aliases")?;
        entity.entity_type = self.maybe_text("entity_type")?;
        entity.summary = self.maybe_text("summary")?;
        if let Some(metadata) = self.maybe_text("metadata")? {
            entity.metadata = serde_json::from_str(&metadata).map_err(|_| Neo4jError::Unreadable("metadata"))?;
        }
        entity.updated_at = self.time("updated_at")?;
        if let Some(other) = self.maybe_text("merged_into")? {
            entity.merged_into = Some(other.parse().map_err(|_| Neo4jError::Unreadable("merged_into"))?);
        }
        Ok(entity)
    }

    pub(super) fn relation(mut self) -> Result<Relation> {
        let (subject, predicate, object) = self.triple()?;
        let created_at = self.time("created_at")?;
        let id: RelationId = self.parsed("id")?;
        let fact = self.text("fact")?;
        let mut relation = Relation::new(id, self.scope()?, (subject, predicate, object), fact, created_at);
        relation.valid_at = self.maybe_time("valid_at")?;
        relation.invalid_at = self.maybe_time("invalid_at")?;
        relation.expired_at = self.maybe_time("expired_at")?;
        relation.subject_name = self.maybe_text("subject_name")?;
        relation.object_name = self.maybe_text("object_name")?;
        relation.seen_at = self.times("seen_at")?;
        relation.single_valued = self.flag("single_valued")?;
        let sources = self.texts("sources")?;
        let parsed: std::result::Result<Vec<MemoryId>, _> = sources.iter().map(|id| id.parse()).collect();
        relation.sources = parsed.map_err(|_| Neo4jError::Unreadable("sources"))?;
        Ok(relation)
    }

    fn triple(&mut self) -> Result<(EntityId, String, EntityId)> {
        Ok((self.parsed("subject")?, self.text("predicate")?, self.parsed("object")?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_another_layout_is_an_error() {
        let id = EntityId::from_bytes([1; 16]);
        let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap();
        let entity = Entity::new(id, Scope::user("alice"), "Lisbon", now);
        let kept = of_entity(&entity).unwrap();
        assert_eq!(Properties(kept.clone()).entity().unwrap(), entity);
        for name in ["id", "name", "aliases", "created_at", "updated_at"] {
            let mut broken = kept.clone();
            broken.remove(name);
            assert!(matches!(Properties(broken).entity(), Err(Neo4jError::Unreadable(what)) if what == name), "{name}");
        }
        let mut broken = kept;
        broken.insert("metadata".to_owned(), "{".into());
        assert!(Properties(broken).entity().is_err());
    }
}
