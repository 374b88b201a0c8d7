//! Walks through a graph, over whatever a store reads relations from. No I/O of its own.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::ControlFlow,
};

use crate::{Direction, EntityId, Path, Relation, RelationId};

/// Where a walk reads relations.
pub(crate) trait Steps {
    /// What reading may end in.
    type Error;

    /// Shows every relation at an entity that the walk may follow, the newer id first, until `visit` breaks off. One
    /// from the entity to itself is shown once.
    fn each(&self, at: EntityId, direction: Direction, visit: &mut Visit<'_, Self::Error>) -> Result<(), Self::Error>;

    /// The relation of this id, which was shown before.
    fn relation(&self, id: RelationId) -> Result<Option<Relation>, Self::Error>;
}

pub(crate) type Visit<'v, E> = dyn FnMut(Step<'_, E>) -> Result<ControlFlow<()>, E> + 'v;

/// A relation, as it is met at one of its ends.
pub(crate) struct Step<'s, E> {
    pub(crate) id: RelationId,
    /// The entity at its other end.
    pub(crate) to: EntityId,
    /// Reads the rest: most relations lead where the walk has been already.
    pub(crate) relation: &'s dyn Fn() -> Result<Relation, E>,
}

/// What [`GraphStore::relations_at`](crate::GraphStore::relations_at) finds.
pub(crate) fn relations_at<S: Steps>(
    steps: &S,
    entities: &[EntityId],
    direction: Direction,
    limit: usize,
) -> Result<Vec<Relation>, S::Error> {
    let mut seen = HashSet::new();
    let mut relations = Vec::new();
    for at in entities {
        let mut count = 0;
        if limit == 0 {
            break;
        }
        steps.each(*at, direction, &mut |step| {
            if seen.insert(step.id) {
                relations.push((step.relation)()?);
            }
            count += 1;
            Ok(if count >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    Ok(relations)
}

/// What [`GraphStore::neighbours`](crate::GraphStore::neighbours) finds.
pub(crate) fn neighbours<S: Steps>(
    steps: &S,
    start: &[EntityId],
    depth: usize,
    direction: Direction,
    limit: usize,
) -> Result<Vec<Path>, S::Error> {
    let mut seen = HashSet::new();
    let start = start.iter().filter(|id| seen.insert(**id)).map(|id| Path::new(*id, Vec::new())).collect();
    let mut reached: Vec<Path> = Vec::new();
    let mut from: Vec<Path> = start;
    for step in 0..depth {
        let room = limit.saturating_sub(if step == 0 { 0 } else { reached.len() + from.len() });
        let mut next: Vec<Path> = Vec::new();
        for path in &from {
            if next.len() >= room {
                break;
            }
            steps.each(path.end, direction, &mut |step| {
                if seen.insert(step.to) {
                    let mut relations = Vec::with_capacity(path.relations.len() + 1);
                    relations.extend(path.relations.iter().cloned());
                    relations.push((step.relation)()?);
                    next.push(Path::new(step.to, relations));
                }
                Ok(if next.len() >= room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
        }
        let done = std::mem::replace(&mut from, next);
        if step > 0 {
            reached.extend(done);
        }
    }
    reached.extend(from);
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
    fn way_back(&self, mut entity: EntityId) -> Vec<RelationId> {
        let mut way = Vec::new();
        while let Some((before, relation)) = self.reached.get(&entity).copied().flatten() {
            way.push(relation);
            entity = before;
        }
        way
    }
}

/// What [`GraphStore::path`](crate::GraphStore::path) finds.
///
/// Both ends walk towards each other, a whole step at a time, whichever has fewer entities to go on from. Since they had
/// not met before a step, the first entity at which they meet in it lies on a shortest path.
pub(crate) fn path<S: Steps>(steps: &S, from: EntityId, to: EntityId, depth: usize) -> Result<Option<Path>, S::Error> {
    if from == to {
        return Ok(Some(Path::new(to, Vec::new())));
    }
    let (mut near, mut far) = (Side::at(from), Side::at(to));
    for _ in 0..depth {
        let (side, other) =
            if near.frontier.len() <= far.frontier.len() { (&mut near, &far) } else { (&mut far, &near) };
        let mut meeting = None;
        for at in std::mem::take(&mut side.frontier) {
            steps.each(at, Direction::Both, &mut |step| {
                if let Entry::Vacant(new) = side.reached.entry(step.to) {
                    new.insert(Some((at, step.id)));
                    side.frontier.push(step.to);
                    meeting = other.reached.contains_key(&step.to).then_some(step.to);
                }
                Ok(if meeting.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if meeting.is_some() {
                break;
            }
        }
        if let Some(meeting) = meeting {
            let mut way = near.way_back(meeting);
            way.reverse();
            way.extend(far.way_back(meeting));
            let relations = way.into_iter().map(|id| steps.relation(id)).collect::<Result<Option<Vec<_>>, _>>()?;
            return Ok(relations.map(|relations| Path::new(to, relations)));
        }
        if side.frontier.is_empty() {
            return Ok(None);
        }
    }
    Ok(None)
}
