//! From the entities that a query names to the memories behind what is related to them.
//!
//! ```text
//! strength of a way    = reach · share²
//! reach of a seed      = 1
//! reach after a step   = reach before · fits · √(min(1, 10 / n)) · 0.95 if it is not the first
//!    … of what is not new = reach before · 0.5 / √m · 0.95 if it is not the first
//! ```
//!
//! `share` is how much of the query the way explains: its words but the names it begins at, each explained by a relation
//! whose predicate, or whose other end's type, speaks of it, or by its being the name of an entity on the way. A word of
//! which no relation is known to speak counts half. `fits` is 1 where the predicate has a word of the query as it stands, or
//! leads to what the query names; 0.9 where it has another word for the same ("wife", `married_to`); and 0.7 where only what
//! it leads to is such a thing (a city). `n` is how many relations of that predicate and direction the entity has: up to ten
//! answers are a list, and what is related to everything tells little. A relation that explains nothing leads on the less the
//! more (`m`) such there are: those that speak of nothing in the query, or, of one that speaks of what the way has explained
//! already, those of its predicate and direction. Only to what the query speaks of does a memory belong that is found. The
//! user stands behind every query: half, if it names somebody else and not her; and of hers only what the query speaks of
//! leads on.
//!
//! A memory is as strong as the strongest way of at most three steps whose last rests on it. Ways are over what holds at the
//! time asked for. A query about the past ("used to", "former", a year) is led over what has ended too, and then a way over
//! nothing that is of that past counts half.
//!
//! # Source
//! Spreading activation after Collins and Loftus, "A Spreading-Activation Theory of Semantic Processing", 1975, with the
//! fan effect of Anderson, 1974, as the damping of hubs. That a way is worth what it explains of the query is our own; the
//! numbers were chosen on made-up questions, see the crate's tests.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
};

use super::asked::{Asked, Names, Said, Seed};
use crate::{
    Direction, Entity, EntityId, GraphQuery, GraphStore, MemoryId, Relation, RelationId, Result, Scope, TimeRange,
    Timestamp,
};

/// Steps from an entity that the query names.
const DEPTH: usize = 3;
/// Most ways that a step goes on from, the strongest.
const FRONTIER: usize = 64;
/// Most relations that are read at an entity.
const RELATIONS: usize = 1_000;
/// Ways weaker than this are not followed.
const FAINT: f32 = 0.02;
/// Of a relation that explains nothing.
const UNSAID: f32 = 0.5;
/// With each step but the first.
const STEP: f32 = 0.95;
/// Relations of one kind up to this are no hub.
const FAN: f32 = 10.0;
/// Of what is not of the time that is asked for.
const UNTIMELY: f32 = 0.5;

/// When what is asked for held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct When<'a> {
    /// At this instant; `None` for any time.
    pub(crate) valid: Option<Timestamp>,
    /// The times that the query names.
    pub(crate) named: &'a [TimeRange],
    /// Whether it asks for what has ended.
    pub(crate) past: bool,
}

/// A memory that the graph leads to.
#[derive(Debug, Clone)]
pub(crate) struct Led {
    /// 0 to 1.
    pub(crate) strength: f32,
    /// The way there, of which the last rests on it.
    pub(crate) path: Vec<Relation>,
}

/// The memories behind what is related to the entities a query names, by what is believed now.
pub(crate) async fn expand(
    store: &dyn GraphStore,
    scope: &Scope,
    query: &str,
    when: When<'_>,
) -> Result<HashMap<MemoryId, Led>> {
    let scope = scope.across_sessions();
    let names = Names::of(query);
    let entities = store.named(&scope, &names.all()).await?;
    if entities.is_empty() {
        return Ok(HashMap::new());
    }
    let asked = Asked::of(&names, &entities);
    let is_past = asked.past || when.past || !when.named.is_empty();
    let is_loose = when.valid.is_some() && is_past;
    let valid = when.valid.filter(|_| !is_loose);
    let query = valid.map_or_else(GraphQuery::any_time, GraphQuery::at).limit(RELATIONS);
    let mut walk = Walk { store, scope: &scope, query, graph: Known::default() };
    let mut frontier: Vec<Way> = asked.seeds.iter().map(Way::of).collect();
    let mut found: Vec<Way> = Vec::new();
    for _ in 0..DEPTH {
        strongest(&mut frontier);
        if frontier.is_empty() {
            break;
        }
        walk.read(&frontier).await?;
        let mut next: BTreeMap<(EntityId, u64), Way> = BTreeMap::new();
        for way in &frontier {
            for step in steps(&walk.graph, &asked, way, is_loose.then_some(when)) {
                let is_stronger = |known: &Way| known.reach < step.reach;
                if step.is_asked && step.reach >= FAINT {
                    found.push(step.clone());
                }
                if step.reach >= FAINT && next.get(&(step.end, step.explained)).is_none_or(is_stronger) {
                    next.insert((step.end, step.explained), step);
                }
            }
        }
        frontier = next.into_values().collect();
    }
    Ok(walk.graph.led(&asked, &found, is_past))
}

/// A way from a seed.
#[derive(Debug, Clone)]
struct Way {
    end: EntityId,
    reach: f32,
    /// The words of the query that it explains, as bits.
    explained: u64,
    /// The name it begins at.
    own: u64,
    /// Whether its last step speaks of what is asked.
    is_asked: bool,
    /// Whether it begins at the user, and has not gone on.
    is_at_user: bool,
    /// Whether something on it is of the past that is asked for.
    is_timely: bool,
    /// Places in [`Known::relations`].
    steps: Vec<usize>,
}

impl Way {
    fn of(seed: &Seed) -> Self {
        Self {
            end: seed.entity,
            reach: seed.strength,
            explained: seed.own,
            own: seed.own,
            is_asked: false,
            is_at_user: seed.is_user,
            is_timely: false,
            steps: Vec::new(),
        }
    }
}

/// Leaves the strongest, best first: what explains more goes before what explains less.
fn strongest(ways: &mut Vec<Way>) {
    let promise = |way: &Way| way.reach * f32::from(u16::try_from(way.explained.count_ones()).unwrap_or(0) + 1);
    let better = |one: &Way, other: &Way| -> Ordering {
        promise(other).total_cmp(&promise(one)).then((one.end, one.explained).cmp(&(other.end, other.explained)))
    };
    ways.sort_by(better);
    ways.truncate(FRONTIER);
}

/// What was read of the graph.
#[derive(Debug, Default)]
struct Known {
    relations: Vec<Relation>,
    places: HashMap<RelationId, usize>,
    /// The places of those at an entity, of the entities that were read.
    at: HashMap<EntityId, Vec<usize>>,
    /// What the type of an entity says.
    types: HashMap<EntityId, Said>,
    /// What a predicate says.
    predicates: HashMap<String, Said>,
    nothing: Said,
}

impl Known {
    /// What a relation says, and what its end does.
    fn said(&self, relation: &Relation, end: EntityId) -> [&Said; 2] {
        let predicate = self.predicates.get(&relation.predicate);
        [predicate, self.types.get(&end)].map(|said| said.unwrap_or(&self.nothing))
    }

    /// The memories that the ways found lead to.
    fn led(&self, asked: &Asked, found: &[Way], is_past: bool) -> HashMap<MemoryId, Led> {
        let known = found.iter().fold(0, |known, way| known | way.explained);
        let mut led: HashMap<MemoryId, (f32, &Way)> = HashMap::new();
        for way in found {
            let share = asked.share(way.explained, way.own, known);
            let time = if is_past && !way.is_timely { UNTIMELY } else { 1.0 };
            let strength = way.reach * share * share * time;
            let last = way.steps.last().and_then(|place| self.relations.get(*place));
            for memory in last.iter().flat_map(|relation| &relation.sources) {
                if strength > 0.0 && led.get(memory).is_none_or(|(known, _)| *known < strength) {
                    led.insert(*memory, (strength, way));
                }
            }
        }
        let path = |way: &Way| way.steps.iter().filter_map(|place| self.relations.get(*place)).cloned().collect();
        led.into_iter().map(|(memory, (strength, way))| (memory, Led { strength, path: path(way) })).collect()
    }
}

struct Walk<'w> {
    store: &'w dyn GraphStore,
    scope: &'w Scope,
    query: GraphQuery,
    graph: Known,
}

impl Walk<'_> {
    /// Reads what is related to the ends of ways.
    async fn read(&mut self, ways: &[Way]) -> Result<()> {
        let graph = &mut self.graph;
        let mut ids: Vec<EntityId> = ways.iter().map(|way| way.end).filter(|id| !graph.at.contains_key(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let relations = self.store.relations_at(self.scope, &ids, Direction::Both, &self.query).await?;
        for id in &ids {
            graph.at.insert(*id, Vec::new());
        }
        let mut untyped: Vec<EntityId> = Vec::new();
        for relation in relations {
            let ends = [relation.subject, relation.object];
            untyped.extend(ends.iter().filter(|end| !graph.types.contains_key(end)));
            if !graph.predicates.contains_key(&relation.predicate) {
                graph.predicates.insert(relation.predicate.clone(), Said::by(&relation.predicate));
            }
            let place = *graph.places.entry(relation.id).or_insert(graph.relations.len());
            if place == graph.relations.len() {
                graph.relations.push(relation);
            }
            for end in ends.iter().filter(|end| ids.binary_search(end).is_ok()) {
                if let Some(places) = graph.at.get_mut(end).filter(|places| places.last() != Some(&place)) {
                    places.push(place);
                }
            }
        }
        untyped.sort_unstable();
        untyped.dedup();
        let entities = self.store.entities(self.scope, &untyped).await?;
        let says = |Entity { id, entity_type, .. }| (id, Said::by(&entity_type.unwrap_or_default()));
        self.graph.types.extend(entities.into_iter().map(says));
        Ok(())
    }
}

/// The ways that go on from one by a step; `when`, if what has ended counts too.
fn steps(graph: &Known, asked: &Asked, way: &Way, when: Option<When<'_>>) -> Vec<Way> {
    let is_on_it = |id: EntityId| {
        let mut relations = way.steps.iter().filter_map(|place| graph.relations.get(*place));
        id == way.end || relations.any(|relation| relation.subject == id || relation.object == id)
    };
    let places = graph.at.get(&way.end).into_iter().flatten();
    let mut steps = Vec::new();
    let (mut fans, mut unsaid): (HashMap<(&str, bool), f32>, f32) = (HashMap::new(), 0.0);
    for (place, relation) in places.filter_map(|place| Some((*place, graph.relations.get(*place)?))) {
        let is_out = relation.subject == way.end;
        let end = if is_out { relation.object } else { relation.subject };
        let timely = when.map_or(Some(false), |when| is_timely(relation, when));
        let Some(timely) = timely else { continue };
        let explained = asked.explained_by(graph.said(relation, end), end, way.explained);
        if explained.is_asked {
            *fans.entry((&relation.predicate, is_out)).or_default() += 1.0;
        } else {
            unsaid += 1.0;
        }
        if !is_on_it(end) && (explained.is_asked || !way.is_at_user) {
            steps.push((place, relation, is_out, end, explained, timely));
        }
    }
    let is_first = way.steps.is_empty();
    // "His former boss's town" has one step in the past, "in 2019" is said of all.
    let all_of_it = when.is_some_and(|when| !when.named.is_empty());
    let on =
        |(place, relation, is_out, end, explained, timely): (usize, &Relation, _, _, super::asked::Explained, _)| {
            let fan = fans.get(&(relation.predicate.as_str(), is_out)).copied().unwrap_or(1.0);
            let fits = match explained {
                _ if !explained.is_asked => UNSAID / unsaid.max(1.0).sqrt(),
                _ if explained.units == 0 => UNSAID / fan.sqrt(),
                _ => explained.fit * (FAN / fan.max(FAN)).sqrt(),
            };
            Way {
                end,
                reach: way.reach * fits * if is_first { 1.0 } else { STEP },
                explained: way.explained | explained.units,
                own: way.own,
                is_asked: explained.is_asked,
                is_at_user: false,
                is_timely: if all_of_it { timely && (is_first || way.is_timely) } else { timely || way.is_timely },
                steps: way.steps.iter().copied().chain([place]).collect(),
            }
        };
    steps.into_iter().map(on).collect()
}

/// Whether a relation is of the past that is asked for; `None` if it is neither of that nor of the present.
fn is_timely(relation: &Relation, when: When<'_>) -> Option<bool> {
    let now = when.valid?;
    let has_begun = relation.valid_at.is_none_or(|from| from <= now);
    let has_ended = relation.invalid_at.is_some_and(|until| until <= now);
    let overlaps = |range: &TimeRange| {
        relation.valid_at.is_none_or(|from| from < range.end())
            && relation.invalid_at.is_none_or(|until| range.start() < until)
    };
    let is_of_it = if when.named.is_empty() { has_ended } else { when.named.iter().any(overlaps) };
    (is_of_it || (has_begun && !has_ended)).then_some(is_of_it)
}
