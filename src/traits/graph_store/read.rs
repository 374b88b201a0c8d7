use std::str::FromStr;

use crate::{Cursor, EntityId, Error, Relation, Result, Scope, Timestamp};

/// Which relations a read of the graph sees, by both time axes: `GraphQuery::at(d2).known_at(d1)` asks what was
/// believed on D1 about D2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphQuery {
    /// World time: only relations that held then, `valid_at <= t < invalid_at`; `None` for any time. A relation of
    /// unknown beginning holds until its end.
    pub valid: Option<Timestamp>,
    /// Knowledge time: only what was believed then, `created_at <= t < expired_at`; `None` for what has not expired.
    pub known: Option<Timestamp>,
    /// Whether also what has expired is seen, where no knowledge time is given.
    pub expired: bool,
    /// Most results of a walk. Lists have a limit of their own.
    pub limit: usize,
}

impl GraphQuery {
    /// What is believed now to hold at `valid`; at most 1,000 results.
    #[must_use]
    pub fn at(valid: Timestamp) -> Self {
        Self { valid: Some(valid), known: None, expired: false, limit: 1_000 }
    }

    /// What is believed now of any time; at most 1,000 results.
    #[must_use]
    pub fn any_time() -> Self {
        Self { valid: None, known: None, expired: false, limit: 1_000 }
    }

    /// What was believed at `known`. Default: now.
    #[must_use]
    pub fn known_at(mut self, known: Timestamp) -> Self {
        self.known = Some(known);
        self
    }

    /// Also what is believed no longer. Default: not.
    #[must_use]
    pub fn expired_too(mut self) -> Self {
        self.expired = true;
        self
    }

    /// Sets the most results. Default 1,000.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Whether a relation is seen: for whoever writes a store.
    #[must_use]
    pub fn admits(&self, relation: &Relation) -> bool {
        let holds = self.valid.is_none_or(|at| {
            relation.valid_at.is_none_or(|from| from <= at) && relation.invalid_at.is_none_or(|until| at < until)
        });
        let believed = match self.known {
            None => self.expired || relation.expired_at.is_none(),
            Some(at) => relation.created_at <= at && relation.expired_at.is_none_or(|until| at < until),
        };
        holds && believed
    }
}

/// Along which way relations are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From subject to object.
    Out,
    /// From object to subject.
    In,
    /// Either way.
    #[default]
    Both,
}

/// A way through the graph.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Path {
    /// The entity it ends at.
    pub end: EntityId,
    /// The relations walked, in order; as many as the depth.
    pub relations: Vec<Relation>,
}

impl Path {
    /// A path.
    #[must_use]
    pub fn new(end: EntityId, relations: Vec<Relation>) -> Self {
        Self { end, relations }
    }
}

/// Checks what lists are asked with, and gives the id the page begins after.
pub(crate) fn check_list<T: FromStr>(scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Option<T>> {
    scope.validate()?;
    if limit == 0 {
        return Err(Error::invalid("the limit of a list must be at least 1"));
    }
    let position = |cursor: &Cursor| cursor.as_str().parse().map_err(|_| Error::invalid("not a cursor of this list"));
    after.map(position).transpose()
}

/// Checks what walks are asked with.
pub(crate) fn check_walk(scope: &Scope, depth: usize, deepest: usize) -> Result<()> {
    scope.validate()?;
    if !(1..=deepest).contains(&depth) {
        return Err(Error::invalid(format!("the depth of a walk is {depth}, and not 1 to {deepest}")));
    }
    Ok(())
}
