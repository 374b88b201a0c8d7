//! From the entities that a query names to the memories behind what is related to them.
//!
//! ```text
//! strength of an entity the query names  = 1
//! strength of a relation at an entity    = strength of the entity · fits / √n
//! strength of an entity it leads to      = strength of the relation · 0.7
//! ```
//!
//! where `fits` is 1 if the query has a word of the predicate or of what the other entity is, else 0.5, and `n` is how many
//! relations the entity has that fit as well: what is related to everything tells little. A memory is as strong as the
//! strongest relation that rests on it and fits, at most three steps away; what does not fit only leads on. The user stands
//! behind every query, so of theirs only what fits leads on.
//!
//! # Source
//! Spreading activation after Collins and Loftus, "A Spreading-Activation Theory of Semantic Processing", 1975, with the
//! fan effect of Anderson, 1974, as the damping of hubs. The numbers were chosen, not measured.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    Direction, Entity, EntityId, GraphQuery, GraphStore, MemoryId, Mention, Relation, Result, Scope, Timestamp,
    index::content_terms, score::names::folded,
};

/// Steps from an entity that the query names.
const DEPTH: usize = 3;
/// Most entities that a step goes on from, the strongest.
const FRONTIER: usize = 64;
/// Most relations that a step reads.
const RELATIONS: usize = 2_000;
/// What weaker relations lead to is not looked at.
const FAINT: f32 = 0.02;
/// Of a relation that the query says nothing of.
const UNSAID: f32 = 0.5;
/// With each step.
const STEP: f32 = 0.7;
/// Longest name in a query, in words, and most words of it that are looked at.
const NAME: usize = 5;
const WORDS: usize = 64;

/// A memory that the graph leads to.
#[derive(Debug, Clone)]
pub(crate) struct Led {
    /// 0 to 1.
    pub(crate) strength: f32,
    /// The way there, of which the last rests on it.
    pub(crate) path: Vec<Relation>,
}

/// The memories behind what is related to the entities a query names, as it holds at `valid` by what is believed now.
pub(crate) async fn expand(
    store: &dyn GraphStore,
    scope: &Scope,
    query: &str,
    valid: Option<Timestamp>,
) -> Result<HashMap<MemoryId, Led>> {
    let scope = scope.across_sessions();
    let seeds = store.named(&scope, &names(query)).await?;
    let asked = content_terms(query);
    let mut led: HashMap<MemoryId, Led> = HashMap::new();
    let user = folded(Mention::USER);
    let users: HashSet<EntityId> =
        seeds.iter().filter(|entity| folded(&entity.name) == user).map(|entity| entity.id).collect();
    let mut seen: HashSet<EntityId> = seeds.iter().map(|entity| entity.id).collect();
    let mut frontier: Vec<(EntityId, f32, Vec<Relation>)> =
        seeds.into_iter().map(|entity| (entity.id, 1.0, Vec::new())).collect();
    let wanted = valid.map_or_else(GraphQuery::any_time, GraphQuery::at).limit(RELATIONS);
    for _ in 0..DEPTH {
        if frontier.is_empty() {
            break;
        }
        frontier.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        frontier.truncate(FRONTIER);
        let ids: Vec<EntityId> = frontier.iter().map(|(id, ..)| *id).collect();
        let relations = store.relations_at(&scope, &ids, Direction::Both, &wanted).await?;
        let ends: Vec<EntityId> = relations.iter().flat_map(|relation| [relation.subject, relation.object]).collect();
        let types = types(store, &scope, ends).await?;
        let mut next: BTreeMap<EntityId, (f32, Vec<Relation>)> = BTreeMap::new();
        for (id, strength, path) in &frontier {
            let at = relations.iter().filter(|relation| relation.subject == *id || relation.object == *id);
            let at: Vec<(&Relation, EntityId, bool)> = at
                .map(|relation| {
                    let end = if relation.subject == *id { relation.object } else { relation.subject };
                    (relation, end, fits(&asked, relation, types.get(&end)))
                })
                .collect();
            let fitting = at.iter().filter(|(.., fits)| *fits).count();
            for (relation, end, fits) in at.iter().filter(|(.., fits)| *fits || !users.contains(id)) {
                let (share, many) = if *fits { (1.0, fitting) } else { (UNSAID, at.len() - fitting) };
                let strength = strength * share / root(many);
                let way = || path.iter().chain([*relation]).cloned().collect::<Vec<_>>();
                for memory in relation.sources.iter().filter(|_| *fits) {
                    if led.get(memory).is_none_or(|known| known.strength < strength) {
                        led.insert(*memory, Led { strength, path: way() });
                    }
                }
                let reached = strength * STEP;
                let is_stronger = next.get(end).is_none_or(|(known, _)| *known < reached);
                if reached >= FAINT && !seen.contains(end) && is_stronger {
                    next.insert(*end, (reached, way()));
                }
            }
        }
        seen.extend(next.keys());
        frontier = next.into_iter().map(|(id, (strength, path))| (id, strength, path)).collect();
    }
    Ok(led)
}

/// What the query may call an entity by: runs of its words, and the user.
fn names(query: &str) -> Vec<String> {
    let folded = folded(query);
    let words: Vec<&str> = folded.split(' ').take(WORDS).collect();
    let is_edge = |char: char| !char.is_alphanumeric() && !matches!(char, '+' | '#' | '%' | '$' | '€');
    let mut names = vec![Mention::USER.to_owned()];
    for begin in 0..words.len() {
        for end in begin + 1..=words.len().min(begin + NAME) {
            let run = words.get(begin..end).unwrap_or_default().join(" ");
            let bare = run.trim_matches(is_edge);
            let owner = ["'s", "’s", "'", "’"].iter().find_map(|ending| bare.strip_suffix(ending));
            let other = [bare].into_iter().chain(owner).filter(|name| *name != run).map(str::to_owned);
            names.extend(other.collect::<Vec<_>>());
            names.push(run);
        }
    }
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    names
}

async fn types(store: &dyn GraphStore, scope: &Scope, mut ids: Vec<EntityId>) -> Result<HashMap<EntityId, String>> {
    ids.sort_unstable();
    ids.dedup();
    let entities = store.entities(scope, &ids).await?;
    Ok(entities.into_iter().filter_map(|Entity { id, entity_type, .. }| Some((id, entity_type?))).collect())
}

/// Whether the query speaks of the relation, or of what the other end is.
fn fits(asked: &HashSet<String>, relation: &Relation, end: Option<&String>) -> bool {
    let said = format!("{} {}", relation.predicate, end.map_or("", String::as_str)).replace('_', " ");
    !content_terms(&said).is_disjoint(asked)
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn root(many: usize) -> f32 {
    (many.max(1) as f32).sqrt()
}
