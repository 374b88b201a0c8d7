use std::{collections::HashSet, sync::Arc};

use super::subject::{Numbers, Subject, alice, at, bob};
use crate::{Direction, Entity, EntityId, GraphBatch, GraphQuery, GraphStore, Path, Relation, Scope};

/// A graph so plain that it cannot be wrong: a list of relations, looked through from one end to the other.
#[derive(Debug, Default)]
struct Model {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
}

impl Model {
    /// The relations that a reader sees, the newer first.
    fn seen(&self, scope: &Scope, query: &GraphQuery) -> Vec<&Relation> {
        let holds = |relation: &&Relation| {
            let began = query.valid.is_none_or(|valid| relation.valid_at.is_none_or(|from| from <= valid));
            let not_over = query.valid.is_none_or(|valid| relation.invalid_at.is_none_or(|until| valid < until));
            let believed = match query.known {
                Some(known) => {
                    relation.created_at <= known && relation.expired_at.is_none_or(|expired| known < expired)
                }
                None => relation.expired_at.is_none(),
            };
            began && not_over && believed && scope.covers(&relation.scope)
        };
        let mut seen: Vec<&Relation> = self.relations.iter().filter(holds).collect();
        seen.sort_by_key(|relation| std::cmp::Reverse(relation.id));
        seen
    }

    fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Vec<Path> {
        let seen = self.seen(scope, query);
        let mut known: HashSet<EntityId> = start.iter().copied().collect();
        let mut paths: Vec<Path> = start.iter().map(|id| Path::new(*id, Vec::new())).collect();
        let begun = paths.len();
        let mut next = 0;
        while next < paths.len() {
            let path = paths[next].clone();
            next += 1;
            if path.relations.len() == depth {
                continue;
            }
            for relation in &seen {
                let end = match direction {
                    Direction::Out | Direction::Both if relation.subject == path.end => relation.object,
                    Direction::In | Direction::Both if relation.object == path.end => relation.subject,
                    _ => continue,
                };
                if known.insert(end) {
                    let relations = [&path.relations[..], &[(*relation).clone()]].concat();
                    paths.push(Path::new(end, relations));
                }
            }
        }
        paths.drain(..begun);
        paths.truncate(query.limit);
        paths
    }

    /// How many steps lie between two entities.
    fn distance(&self, scope: &Scope, from: EntityId, to: EntityId, query: &GraphQuery) -> Option<usize> {
        let reached = self.neighbours(scope, &[from], usize::MAX, Direction::Both, &query.limit(usize::MAX));
        if from == to { Some(0) } else { reached.iter().find(|path| path.end == to).map(|path| path.relations.len()) }
    }
}

/// A made-up graph: few scopes, so that they meet, few instants, so that ends meet beginnings, and, with hubs, three
/// entities with many more relations than others.
async fn made_up(subject: &Subject, numbers: &mut Numbers, (entities, relations): (usize, usize), hubs: bool) -> Model {
    let scopes = [alice(), alice(), alice().with_session("s"), alice().with_agent("a"), bob()];
    let mut model = Model::default();
    for number in 0..entities {
        let scope = scopes[numbers.below(scopes.len())].clone();
        model.entities.push(subject.entity(&scope, &format!("entity {number}")));
    }
    while model.relations.len() < relations {
        let pick = |numbers: &mut Numbers| {
            let among = if hubs && numbers.below(3) == 0 { entities.min(3) } else { entities };
            numbers.below(among)
        };
        let ends = [pick(numbers), pick(numbers)].map(|number| model.entities[number].clone());
        let scope = scopes[numbers.below(scopes.len())].clone();
        if !ends.iter().all(|end| end.scope.covers(&scope)) {
            continue;
        }
        let mut relation = subject.relation(&scope, &ends[0], ["knows", "likes"][numbers.below(2)], &ends[1]);
        relation.valid_at = (numbers.below(3) > 0).then(|| numbers.instant(20));
        relation.invalid_at = (numbers.below(3) == 0)
            .then(|| relation.valid_at.unwrap_or(at(0)) + chrono::Duration::seconds(numbers.below(20) as i64));
        relation.created_at = numbers.instant(20);
        relation.expired_at =
            (numbers.below(4) == 0).then(|| relation.created_at + chrono::Duration::seconds(numbers.below(20) as i64));
        model.relations.push(relation);
    }
    // In several batches, the relations in no order.
    let mut rest = model.relations.clone();
    subject.apply(GraphBatch { entities: model.entities.clone(), ..GraphBatch::default() }).await;
    while !rest.is_empty() {
        let size = (1 + numbers.below(50)).min(rest.len());
        let relations = (0..size).map(|_| rest.swap_remove(numbers.below(rest.len()))).collect();
        subject.apply(GraphBatch { relations, ..GraphBatch::default() }).await;
    }
    model
}

fn query(numbers: &mut Numbers) -> GraphQuery {
    let mut query = GraphQuery::any_time().limit([1, 4, 30, 1_000][numbers.below(4)]);
    query.valid = (numbers.below(2) == 0).then(|| numbers.instant(40));
    query.known = (numbers.below(2) == 0).then(|| numbers.instant(40));
    query
}

fn reader(numbers: &mut Numbers) -> Scope {
    let readers = [alice(), alice(), alice().with_session("s"), Scope::session("s"), Scope::agent("a"), bob()];
    readers[numbers.below(readers.len())].clone()
}

/// In graphs of all shapes, walks find exactly what the contract says, in its order, as a plain search finds it.
pub async fn walks_are_those_of_a_plain_search(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    for (seed, entities, relations) in [(1, 4, 30), (2, 30, 40), (3, 60, 150), (4, 120, 110)] {
        let mut numbers = Numbers::new(seed);
        for scope in [alice(), bob(), Scope::session("s"), Scope::agent("a")] {
            subject.store.delete_graph(&scope).await.expect("deleting the graph of the last round");
        }
        let model = made_up(&subject, &mut numbers, (entities, relations), true).await;
        for _ in 0..60 {
            let (scope, query) = (reader(&mut numbers), query(&mut numbers));
            let mut start: Vec<EntityId> = Vec::new();
            for _ in 0..1 + numbers.below(3) {
                let id = model.entities[numbers.below(entities)].id;
                if !start.contains(&id) {
                    start.push(id);
                }
            }
            let depth = 1 + numbers.below(4);
            let direction = [Direction::Out, Direction::In, Direction::Both][numbers.below(3)];
            let found =
                subject.store.neighbours(&scope, &start, depth, direction, &query).await.expect("walking the graph");
            let expected = model.neighbours(&scope, &start, depth, direction, &query);
            assert_eq!(found, expected, "{scope:?} {depth} {direction:?} {query:?}");
        }
    }
}

/// In graphs of all shapes, a path is as short as can be, hangs together, and is made of what its reader sees.
pub async fn paths_are_as_short_as_can_be(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut numbers = Numbers::new(7);
    let model = made_up(&subject, &mut numbers, (80, 160), false).await;
    let mut long = 0;
    for _ in 0..400 {
        let (scope, query) = (reader(&mut numbers), query(&mut numbers));
        let [from, to] = [numbers.below(80), numbers.below(80)].map(|number| model.entities[number].id);
        let depth = 1 + numbers.below(8);
        let found = subject.store.path(&scope, from, to, depth, &query).await.expect("looking for a path");
        let expected = model.distance(&scope, from, to, &query).filter(|distance| *distance <= depth);
        assert_eq!(found.as_ref().map(|path| path.relations.len()), expected, "{scope:?} {depth} {query:?}");
        let Some(path) = found else { continue };
        let mut place = from;
        let seen = model.seen(&scope, &query);
        for relation in &path.relations {
            assert!(seen.contains(&relation), "{relation:?}");
            assert!(relation.subject == place || relation.object == place, "a path hangs together");
            place = if relation.subject == place { relation.object } else { relation.subject };
        }
        assert_eq!((place, path.end), (to, to));
        long += usize::from(path.relations.len() > 3);
    }
    assert!(long > 10, "some paths were long: {long}");
}

/// In graphs of all shapes, lists hold exactly what each reader sees at each pair of instants.
pub async fn lists_are_those_of_a_plain_search(store: Arc<dyn GraphStore>) {
    let subject = Subject::new(store);
    let mut numbers = Numbers::new(9);
    let model = made_up(&subject, &mut numbers, (40, 200), true).await;
    for _ in 0..60 {
        let (scope, query) = (reader(&mut numbers), query(&mut numbers));
        let mut expected: Vec<Relation> = model.seen(&scope, &query).into_iter().cloned().collect();
        expected.reverse();
        assert!(expected.iter().all(|relation| query.admits(relation)), "what a query admits is what it sees");
        assert_eq!(subject.seen(&scope, &query).await, expected, "{scope:?} {query:?}");
    }
}
