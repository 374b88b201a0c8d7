//! Walks, one step of the whole frontier after another: what is at it is read from an index in the order of the walk,
//! and only as far as the walk wants.

use std::collections::{HashMap, HashSet, VecDeque, hash_map::Entry};

use super::{
    bolt::{Row, Statement, Streamed, Transaction, Value, map},
    error::{Neo4jError, Result},
    read::{self, covered, seen, times},
    rows,
};
use crate::{Direction, EntityId, GraphQuery, Path, Relation, RelationId, Scope};

/// Fewest and most rows that are fetched at once: a walk that wants one more may have to pass over some.
const ROWS: std::ops::RangeInclusive<usize> = 32..=500;

/// What a walk sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'w> {
    pub(super) scope: &'w Scope,
    pub(super) query: &'w GraphQuery,
}

/// A relation, as it is met at one of its ends.
#[derive(Debug)]
struct Met {
    /// The place in the frontier of the entity it is met at.
    place: usize,
    relation: Relation,
}

impl Met {
    fn read(row: Row) -> Result<Self> {
        let place = usize::try_from(rows::number(Some(&row), 0)?).map_err(|_| Neo4jError::Unreadable("place"))?;
        Ok(Self { place, relation: rows::properties(row, 1)?.relation()? })
    }

    /// The order of walks: by place, the newer id first.
    fn key(&self) -> (usize, std::cmp::Reverse<RelationId>) {
        (self.place, std::cmp::Reverse(self.relation.id))
    }

    fn to(&self, at: EntityId) -> EntityId {
        if self.relation.subject == at { self.relation.object } else { self.relation.subject }
    }
}

/// All relations at the entities of a frontier, in the order of walks, merged of those out of them and those into them.
struct Frontier {
    sides: Vec<(Streamed, Option<Met>)>,
    rows: usize,
}

impl Frontier {
    async fn begin(
        transaction: &mut Transaction,
        seen: Seen<'_>,
        at: &[EntityId],
        direction: Direction,
        rows: usize,
    ) -> Result<Self> {
        let ways: &[&str] = match direction {
            Direction::Out => &["subject"],
            Direction::In => &["object"],
            Direction::Both => &["subject", "object"],
        };
        let rows = rows.clamp(*ROWS.start(), *ROWS.end());
        let mut sides = Vec::new();
        for way in ways {
            // One from an entity to itself is met once.
            let once = if ways.len() > 1 && *way == "object" { " AND r.subject <> r.object" } else { "" };
            let mut streamed = transaction.stream(seen.at(at, way, once), rows).await?;
            let first = transaction.next(&mut streamed, rows).await?.map(Met::read).transpose()?;
            sides.push((streamed, first));
        }
        Ok(Self { sides, rows })
    }

    async fn next(&mut self, transaction: &mut Transaction) -> Result<Option<Met>> {
        let heads = self.sides.iter_mut().filter(|(_, head)| head.is_some());
        let Some((streamed, head)) = heads.min_by_key(|(_, head)| head.as_ref().map(Met::key)) else {
            return Ok(None);
        };
        let next = transaction.next(streamed, self.rows).await?.map(Met::read).transpose()?;
        // No database promises the order of an outer query whose inner one is sorted, though this one keeps it.
        if next.as_ref().zip(head.as_ref()).is_some_and(|(next, head)| next.key() < head.key()) {
            return Err(Neo4jError::Protocol("relations came out of order"));
        }
        Ok(std::mem::replace(head, next))
    }

    async fn end(self, transaction: &mut Transaction) -> Result<()> {
        for (streamed, _) in self.sides {
            transaction.discard(streamed).await?;
        }
        Ok(())
    }
}

impl Seen<'_> {
    fn at(self, at: &[EntityId], way: &str, once: &str) -> Statement {
        let (covered, seen) = (covered(self.scope, "r"), seen(self.query));
        let text = format!(
            "UNWIND range(0, size($at) - 1) AS place
            CALL (place) {{
                MATCH ()-[r:INGRAIN_RELATION]->() USING INDEX r:INGRAIN_RELATION({way}, id)
                WHERE r.{way} = $at[place] AND r.id > '' AND {covered} AND {seen}{once}
                RETURN r ORDER BY r.{way} DESC, r.id DESC
            }}
            RETURN place, properties(r)"
        );
        let mut parameters = map([("at", at.iter().map(ToString::to_string).collect::<Value>())]);
        parameters.extend(rows::scope(self.scope));
        parameters.extend(times(self.query));
        Statement::new(text, parameters)
    }
}

/// What [`GraphStore::neighbours`](crate::GraphStore::neighbours) finds.
pub(super) async fn neighbours(
    transaction: &mut Transaction,
    sees: Seen<'_>,
    start: &[EntityId],
    depth: usize,
    direction: Direction,
) -> Result<Vec<Path>> {
    let limit = sees.query.limit;
    let mut met = HashSet::new();
    let mut from: Vec<Path> = start.iter().filter(|id| met.insert(**id)).map(|id| Path::new(*id, Vec::new())).collect();
    let mut reached: Vec<Path> = Vec::new();
    for step in 0..depth {
        let room = limit.saturating_sub(if step == 0 { 0 } else { reached.len() + from.len() });
        if room == 0 || from.is_empty() {
            break;
        }
        let at: Vec<EntityId> = from.iter().map(|path| path.end).collect();
        let mut frontier = Frontier::begin(transaction, sees, &at, direction, room).await?;
        let mut next: Vec<Path> = Vec::new();
        while next.len() < room
            && let Some(step) = frontier.next(transaction).await?
        {
            let Some(path) = from.get(step.place) else { return Err(Neo4jError::Unreadable("place")) };
            let to = step.to(path.end);
            if met.insert(to) {
                let mut relations = path.relations.clone();
                relations.push(step.relation);
                next.push(Path::new(to, relations));
            }
        }
        frontier.end(transaction).await?;
        let done = std::mem::replace(&mut from, next);
        if step > 0 {
            reached.extend(done);
        }
    }
    // The entities begun at are no part of what was reached.
    reached.extend(from.into_iter().filter(|path| !path.relations.is_empty()));
    Ok(reached)
}

/// One of the two sides that look for each other.
struct Side {
    frontier: Vec<EntityId>,
    /// How each entity was reached: from which, by which relation.
    reached: HashMap<EntityId, Option<(EntityId, RelationId)>>,
}

impl Side {
    fn at(entity: EntityId) -> Self {
        Self { frontier: vec![entity], reached: HashMap::from([(entity, None)]) }
    }

    /// The relations from `entity` back to where the side began.
    fn way_back(&self, mut entity: EntityId) -> VecDeque<RelationId> {
        let mut way = VecDeque::new();
        while let Some((before, relation)) = self.reached.get(&entity).copied().flatten() {
            way.push_back(relation);
            entity = before;
        }
        way
    }

    /// Walks one step; the first entity met in it that `other` has reached.
    async fn step(&mut self, transaction: &mut Transaction, sees: Seen<'_>, other: &Self) -> Result<Option<EntityId>> {
        let at = std::mem::take(&mut self.frontier);
        let mut frontier = Frontier::begin(transaction, sees, &at, Direction::Both, *ROWS.end()).await?;
        let mut meeting = None;
        while let Some(step) = frontier.next(transaction).await? {
            let Some(from) = at.get(step.place).copied() else { return Err(Neo4jError::Unreadable("place")) };
            let to = step.to(from);
            if let Entry::Vacant(entry) = self.reached.entry(to) {
                entry.insert(Some((from, step.relation.id)));
                self.frontier.push(to);
                if other.reached.contains_key(&to) {
                    meeting = Some(to);
                    break;
                }
            }
        }
        frontier.end(transaction).await?;
        Ok(meeting)
    }
}

/// What [`GraphStore::path`](crate::GraphStore::path) finds.
///
/// Both ends walk towards each other, a whole step at a time, whichever has fewer entities to go on from. Since they had
/// not met before a step, the first entity at which they meet in it lies on a shortest path.
pub(super) async fn path(
    transaction: &mut Transaction,
    sees: Seen<'_>,
    from: EntityId,
    to: EntityId,
    depth: usize,
) -> Result<Option<Path>> {
    let (mut near, mut far) = (Side::at(from), Side::at(to));
    for _ in 0..depth {
        let (side, other) =
            if near.frontier.len() <= far.frontier.len() { (&mut near, &far) } else { (&mut far, &near) };
        if let Some(meeting) = side.step(transaction, sees, other).await? {
            let way: Vec<RelationId> = near.way_back(meeting).into_iter().rev().chain(far.way_back(meeting)).collect();
            let found = transaction.run(vec![read::relations_by_id(&way)]).await?.concat();
            let mut found: HashMap<RelationId, Relation> =
                read::relations(found)?.into_iter().map(|relation| (relation.id, relation)).collect();
            let relations: Option<Vec<Relation>> = way.iter().map(|id| found.remove(id)).collect();
            return Ok(relations.map(|relations| Path::new(to, relations)));
        }
        if side.frontier.is_empty() {
            return Ok(None);
        }
    }
    Ok(None)
}
