//! What is asked when the graph is read, apart from walks.

use std::collections::HashMap;

use super::{
    bolt::{Map, Row, Statement, Value, map},
    error::Result,
    rows,
};
use crate::{Cursor, Entity, EntityId, GraphQuery, MemoryId, Page, Relation, RelationId, Scope};

/// Cypher that admits what the scope covers, for the parameters of [`rows::scope`].
pub(super) fn covered(scope: &Scope, what: &str) -> String {
    let parts = [("user", scope.user_id()), ("agent", scope.agent_id()), ("session", scope.session_id())];
    let named = parts.into_iter().filter(|(_, part)| part.is_some());
    named.map(|(name, _)| format!("{what}.{name} = ${name}")).collect::<Vec<_>>().join(" AND ")
}

/// The part of a scope whose index is used: a session is a small part of a user's, an agent serves many users.
fn leading(scope: &Scope) -> &'static str {
    match (scope.session_id(), scope.user_id()) {
        (Some(_), _) => "session",
        (None, Some(_)) => "user",
        (None, None) => "agent",
    }
}

/// Cypher that admits what a query sees, for the parameters of [`times`].
pub(super) fn seen(query: &GraphQuery) -> String {
    let believed = match query.known {
        None if query.expired => "true",
        None => "r.expired_at IS NULL",
        Some(_) => "(r.expired_at IS NULL OR r.expired_at > $known) AND r.created_at <= $known",
    };
    let holds = match query.valid {
        None => "",
        Some(_) => {
            " AND (r.invalid_at IS NULL OR r.invalid_at > $valid) AND (r.valid_at IS NULL OR r.valid_at <= $valid)"
        }
    };
    format!("{believed}{holds}")
}

pub(super) fn times(query: &GraphQuery) -> Map {
    let micros = |at: crate::Timestamp| at.timestamp_micros();
    map([("valid", query.valid.map(micros).into()), ("known", query.known.map(micros).into())])
}

/// Each once: asked for twice, a row would come twice.
pub(super) fn ids<I: ToString + Ord>(ids: impl IntoIterator<Item = I>) -> Value {
    let ids: std::collections::BTreeSet<I> = ids.into_iter().collect();
    ids.iter().map(ToString::to_string).collect()
}

fn with_scope<const N: usize>(scope: &Scope, named: [(&str, Value); N]) -> Map {
    let mut parameters = map(named);
    parameters.extend(rows::scope(scope));
    parameters
}

pub(super) fn entities(scope: &Scope, wanted: &[EntityId]) -> Statement {
    let text = format!(
        "UNWIND $ids AS id MATCH (e:IngrainEntity {{id: id}}) WHERE {} RETURN properties(e)",
        covered(scope, "e")
    );
    Statement::new(text, with_scope(scope, [("ids", ids(wanted.iter().copied()))]))
}

/// The entities found, in the order asked for.
pub(super) fn in_order(found: Vec<Row>, wanted: &[EntityId]) -> Result<Vec<Entity>> {
    let mut entities = HashMap::new();
    for row in found {
        let entity = rows::properties(row, 0)?.entity()?;
        entities.insert(entity.id, entity);
    }
    Ok(wanted.iter().filter_map(|id| entities.get(id).cloned()).collect())
}

pub(super) fn relations_of(scope: &Scope, memories: &[MemoryId]) -> Statement {
    let text = format!(
        "UNWIND $ids AS id MATCH (s:IngrainSource {{memory: id}})
        WITH DISTINCT s.relation AS relation
        MATCH ()-[r:INGRAIN_RELATION {{id: relation}}]->() WHERE {}
        RETURN properties(r) ORDER BY r.id",
        covered(scope, "r")
    );
    Statement::new(text, with_scope(scope, [("ids", ids(memories.iter().copied()))]))
}

/// Without a lock, since no scope is read: each relation is whole, a batch may be seen half.
pub(super) fn relations_of_everyone(after: Option<RelationId>, limit: usize) -> Statement {
    let text = "MATCH ()-[r:INGRAIN_RELATION]->() WHERE r.id > $after RETURN properties(r) ORDER BY r.id LIMIT $limit";
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    Statement::new(text, map([("after", after.into()), ("limit", limit.into())]))
}

/// The relations at each of these entities, at most `limit` of each.
pub(super) fn relations_at(
    scope: &Scope,
    entities: &[EntityId],
    direction: crate::Direction,
    query: &GraphQuery,
) -> Statement {
    let (covered, seen) = (covered(scope, "r"), seen(query));
    // Each side is read from its index, newest first, and no further than the limit; the union has one at both ends once.
    let side = |way: &str| {
        format!(
            "MATCH ()-[r:INGRAIN_RELATION]->() USING INDEX r:INGRAIN_RELATION({way}, id)
            WHERE r.{way} = $at[place] AND r.id > '' AND {covered} AND {seen}
            RETURN r ORDER BY r.{way} DESC, r.id DESC LIMIT $limit"
        )
    };
    let sides = match direction {
        crate::Direction::Out => side("subject"),
        crate::Direction::In => side("object"),
        crate::Direction::Both => format!("{} UNION {}", side("subject"), side("object")),
    };
    let text = format!(
        "UNWIND range(0, size($at) - 1) AS place
        CALL (place) {{ {sides} }}
        WITH place, r ORDER BY place, r.id DESC
        WITH place, collect(r)[..$limit] AS relations
        ORDER BY place
        UNWIND relations AS r
        RETURN properties(r)"
    );
    let at: Value = entities.iter().map(ToString::to_string).collect();
    let mut parameters = with_scope(scope, [("at", at), ("limit", query.limit.into())]);
    parameters.extend(times(query));
    Statement::new(text, parameters)
}

pub(super) fn relations_by_id(wanted: &[RelationId]) -> Statement {
    let text = "UNWIND $ids AS id MATCH ()-[r:INGRAIN_RELATION {id: id}]->() RETURN properties(r)";
    Statement::new(text, map([("ids", ids(wanted.iter().copied()))]))
}

/// What a list is of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Listed<'q> {
    Entities,
    Relations(Option<&'q GraphQuery>),
}

impl Listed<'_> {
    fn pattern(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Entities => ("(e:IngrainEntity)", "e:IngrainEntity", "e"),
            Self::Relations(_) => ("()-[r:INGRAIN_RELATION]->()", "r:INGRAIN_RELATION", "r"),
        }
    }

    fn seen(self) -> String {
        match self {
            Self::Relations(Some(query)) => format!(" AND {}", seen(query)),
            Self::Relations(None) | Self::Entities => String::new(),
        }
    }

    /// Matches everything of the list whose id is beyond `$after`, by the index of the scope's leading part.
    fn matched(self, scope: &Scope) -> (String, &'static str) {
        let (pattern, labelled, what) = self.pattern();
        let (covered, leading, seen) = (covered(scope, what), leading(scope), self.seen());
        let text = format!(
            "MATCH {pattern} USING INDEX {labelled}({leading}, id) WHERE {covered} AND {what}.id > $after{seen}"
        );
        (text, what)
    }

    fn parameters(self, scope: &Scope, after: String) -> Map {
        let mut parameters = with_scope(scope, [("after", after.into())]);
        if let Self::Relations(Some(query)) = self {
            parameters.extend(times(query));
        }
        parameters
    }

    pub(super) fn count(self, scope: &Scope) -> Statement {
        let (matched, what) = self.matched(scope);
        Statement::new(format!("{matched} RETURN count({what})"), self.parameters(scope, String::new()))
    }

    /// One more than the limit, to know whether there are more.
    pub(super) fn page(self, scope: &Scope, after: Option<String>, limit: usize) -> Statement {
        let (matched, what) = self.matched(scope);
        let text =
            format!("{matched} RETURN properties({what}) ORDER BY {what}.{}, {what}.id LIMIT $limit", leading(scope));
        let mut parameters = self.parameters(scope, after.unwrap_or_default());
        parameters.extend(map([("limit", limit.saturating_add(1).into())]));
        Statement::new(text, parameters)
    }

    /// Matches the first of what is listed.
    pub(super) fn first(self, scope: &Scope, count: usize) -> (String, Map) {
        let (matched, what) = self.matched(scope);
        let mut parameters = self.parameters(scope, String::new());
        parameters.extend(map([("count", count.into())]));
        (format!("{matched} WITH {what} ORDER BY {what}.{}, {what}.id LIMIT $count", leading(scope)), parameters)
    }

    /// The scopes of the first of what is listed, each once.
    pub(super) fn scopes(self, scope: &Scope, count: usize) -> Statement {
        let (first, parameters) = self.first(scope, count);
        let (_, _, what) = self.pattern();
        let text = format!(
            "{first} WITH DISTINCT {what}.user AS user, {what}.agent AS agent, {what}.session AS session
            RETURN {{user: user, agent: agent, session: session}}"
        );
        Statement::new(text, parameters)
    }
}

/// The page that a count and the rows of [`Listed::page`] make.
pub(super) fn page<T>(
    total: i64,
    found: Vec<Row>,
    limit: usize,
    read: impl Fn(rows::Properties) -> Result<T>,
    id: impl Fn(&T) -> String,
) -> Result<Page<T>> {
    let more = found.len() > limit;
    let items: Vec<T> =
        found.into_iter().take(limit).map(|row| read(rows::properties(row, 0)?)).collect::<Result<_>>()?;
    let next = items.last().filter(|_| more).map(|last| Cursor::from_text(id(last)));
    Ok(Page::new(items, next, total.cast_unsigned()))
}

pub(super) fn entities_of(found: Vec<Row>) -> Result<Vec<Entity>> {
    found.into_iter().map(|row| rows::properties(row, 0)?.entity()).collect()
}

pub(super) fn relations(found: Vec<Row>) -> Result<Vec<Relation>> {
    found.into_iter().map(|row| rows::properties(row, 0)?.relation()).collect()
}
