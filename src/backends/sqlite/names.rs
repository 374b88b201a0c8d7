//! Finding entities by name: an inverted index of trigrams, one list for each and for each scope that may look for it.
//!
//! What is found is exact. The rarest trigrams are looked up first; what shares none of them may be left out once it
//! could be no more alike than what was found, or than what counts as alike at all. Of the candidates, those that share
//! most are compared first, until the next could not come in.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::{error::Result, graph_rows, rows};
use crate::{
    Entity, EntityId, Scope,
    score::{
        names::{LIKE, Name, folded, likeness_of_unequal},
        stable_hash::StableHash,
    },
};

/// A list longer than this is worth a look at what was found before.
const LONG: i64 = 1_000;

/// How many candidates are compared between two looks at the last place.
const CHUNK: usize = 64;

/// Whoever reads with this scope. Two of one hash would only see more candidates, which are compared and whose scope is
/// checked.
fn reader(scope: &Scope) -> i64 {
    let [user, agent, session] = rows::parts(scope);
    let hash = [user, agent, session].iter().fold(StableHash::new(1), |hash, part| hash.text(part).character('\0'));
    hash.finish().cast_signed()
}

/// What a name is found by when it is equal: below zero, where no trigram is.
fn whole(folded: &str) -> i64 {
    (StableHash::new(2).text(folded).finish() | 1 << 63).cast_signed()
}

fn grams(name: &Name) -> impl Iterator<Item = i64> {
    [whole(name.folded())].into_iter().chain(name.trigrams().iter().map(|gram| gram.cast_signed()))
}

pub(super) fn add(connection: &Connection, entity: i64, stored: &Entity) -> Result<()> {
    let mut insert = connection
        .prepare_cached("INSERT OR REPLACE INTO entity_grams (reader, gram, name, size) VALUES (?1, ?2, ?3, ?4)")?;
    for name in std::iter::once(&stored.name).chain(&stored.aliases) {
        let name = Name::of(name);
        let size = u32::try_from(name.trigrams().len()).unwrap_or(u32::MAX);
        let row: i64 = connection
            .prepare_cached("INSERT INTO entity_names (entity, folded) VALUES (?1, ?2) RETURNING row")?
            .query_row(params![entity, name.folded()], |row| row.get(0))?;
        for reader in stored.scope.readers().map(|scope| reader(&scope)) {
            for gram in grams(&name) {
                insert.execute(params![reader, gram, row, size])?;
            }
        }
    }
    Ok(())
}

/// Whether an entity is found by its names, in each scope that may look for it: what [`add`] would have written is there.
pub(super) fn are_sound(connection: &Connection, entity: i64, stored: &Entity) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT row, folded FROM entity_names WHERE entity = ?1")?;
    let found = statement.query_map([entity], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Vec<(i64, String)> = found.collect::<rusqlite::Result<_>>()?;
    let mut there: Vec<&str> = found.iter().map(|(_, folded)| folded.as_str()).collect();
    let mut wanted: Vec<String> =
        std::iter::once(&stored.name).chain(&stored.aliases).map(|name| folded(name)).collect();
    there.sort_unstable();
    wanted.sort_unstable();
    if there != wanted {
        return Ok(false);
    }
    let sql = "SELECT size FROM entity_grams WHERE reader = ?1 AND gram = ?2 AND name = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    for (row, folded) in found {
        let name = Name::of_folded(folded);
        for reader in stored.scope.readers().map(|scope| reader(&scope)) {
            for gram in grams(&name) {
                let size: Option<i64> = statement.query_row([reader, gram, row], |row| row.get(0)).optional()?;
                if size.and_then(|size| usize::try_from(size).ok()) != Some(name.trigrams().len()) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Whether a gram is one of this name of an entity in this scope.
pub(super) fn leads_to(reader: i64, gram: i64, size: i64, folded: String, scope: &Scope) -> bool {
    let name = Name::of_folded(folded);
    usize::try_from(size).ok() == Some(name.trigrams().len())
        && grams(&name).any(|one| one == gram)
        && scope.readers().any(|scope| self::reader(&scope) == reader)
}

/// Removes the names of an entity that is stored in this scope.
pub(super) fn remove(connection: &Connection, entity: i64, scope: &Scope) -> Result<()> {
    let mut statement =
        connection.prepare_cached("DELETE FROM entity_names WHERE entity = ?1 RETURNING row, folded")?;
    let mut found = statement.query([entity])?;
    let mut names: Vec<(i64, String)> = Vec::new();
    while let Some(row) = found.next()? {
        names.push((row.get(0)?, row.get(1)?));
    }
    let mut delete =
        connection.prepare_cached("DELETE FROM entity_grams WHERE reader = ?1 AND gram = ?2 AND name = ?3")?;
    for (row, folded) in names {
        let name = Name::of_folded(folded);
        for reader in scope.readers().map(|scope| reader(&scope)) {
            for gram in grams(&name) {
                delete.execute(params![reader, gram, row])?;
            }
        }
    }
    Ok(())
}

/// The entities with a name like this one, likest first.
pub(super) fn find(connection: &Connection, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
    let wanted = Name::of(name);
    if wanted.folded().is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let mut search = Search { connection, scope, wanted, limit, compared: HashSet::new(), best: HashMap::new() };
    search.equals()?;
    if search.best.len() < limit {
        search.alike()?;
    }
    search.read()
}

/// The entities with a name equal to one of these, by id.
pub(super) fn named(connection: &Connection, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
    // Every search asks for the runs of its words: where there is no graph, that costs one look.
    let mut any = connection.prepare_cached("SELECT 1 FROM entity_grams WHERE reader = ?1 LIMIT 1")?;
    if !any.exists([reader(scope)])? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM entities WHERE row IN (SELECT entity FROM entity_grams
         JOIN entity_names ON entity_names.row = name WHERE reader = ?1 AND gram = ?2 AND folded = ?3)",
        graph_rows::ENTITY
    ))?;
    let mut entities: BTreeMap<EntityId, Entity> = BTreeMap::new();
    for name in names.iter().map(|name| folded(name)).filter(|name| !name.is_empty()) {
        let mut found = statement.query(params![reader(scope), whole(&name), name])?;
        while let Some(row) = found.next()? {
            let entity = graph_rows::entity(row)?;
            if scope.covers(&entity.scope) {
                entities.insert(entity.id, entity);
            }
        }
    }
    Ok(entities.into_values().collect())
}

struct Search<'s> {
    connection: &'s Connection,
    scope: &'s Scope,
    wanted: Name,
    limit: usize,
    /// The names that were compared.
    compared: HashSet<i64>,
    /// The entities they are of, by row, with the likeness of the likest.
    best: HashMap<i64, (f32, EntityId)>,
}

/// What a name that shares trigrams with the wanted one has.
struct Candidate {
    shared: usize,
    size: usize,
}

impl Search<'_> {
    fn equals(&mut self) -> Result<()> {
        let mut statement =
            self.connection.prepare_cached("SELECT name FROM entity_grams WHERE reader = ?1 AND gram = ?2")?;
        let equal = statement.query_map([reader(self.scope), whole(self.wanted.folded())], |row| row.get(0))?;
        for name in equal {
            self.compare(name?)?;
        }
        Ok(())
    }

    fn alike(&mut self) -> Result<()> {
        let reader = reader(self.scope);
        let mut count = self.connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM entity_grams WHERE reader = ?1 AND gram = ?2 LIMIT ?3)",
        )?;
        let mut lists: Vec<(i64, i64)> = Vec::new();
        for gram in self.wanted.trigrams().iter().map(|gram| gram.cast_signed()) {
            lists.push((count.query_row(params![reader, gram, LONG * 10], |row| row.get(0))?, gram));
        }
        lists.sort_unstable();
        let mut list =
            self.connection.prepare_cached("SELECT name, size FROM entity_grams WHERE reader = ?1 AND gram = ?2")?;
        let mut candidates: HashMap<i64, Candidate> = HashMap::new();
        let all = lists.len();
        let mut left = all;
        for (length, gram) in lists {
            // What has not been met yet shares at most the trigrams that are left.
            let unseen = likeness_of_unequal(left, all, left);
            if unseen < LIKE {
                break;
            }
            if length >= LONG {
                self.compare_best(&candidates, left)?;
                if self.last_place().is_some_and(|last| last > unseen) {
                    break;
                }
            }
            let mut found = list.query([reader, gram])?;
            while let Some(row) = found.next()? {
                let size = row.get::<_, u32>(1)? as usize;
                candidates.entry(row.get(0)?).or_insert(Candidate { shared: 0, size }).shared += 1;
            }
            left -= 1;
        }
        self.compare_best(&candidates, left)
    }

    /// Compares candidates that may come in, when `left` trigrams were not looked up.
    fn compare_best(&mut self, candidates: &HashMap<i64, Candidate>, left: usize) -> Result<()> {
        let all = self.wanted.trigrams().len();
        let mut order: Vec<(f32, i64)> = candidates
            .iter()
            .filter(|(name, _)| !self.compared.contains(name))
            .map(|(name, candidate)| {
                let shared = (candidate.shared + left).min(candidate.size).min(all);
                (likeness_of_unequal(shared, all, candidate.size), *name)
            })
            .filter(|(bound, _)| *bound >= LIKE)
            .collect();
        order.sort_unstable_by(|(left, a), (right, b)| right.total_cmp(left).then(a.cmp(b)));
        for chunk in order.chunks(CHUNK) {
            let last = self.last_place();
            if chunk.first().is_some_and(|(bound, _)| last.is_some_and(|last| last > *bound)) {
                break;
            }
            for (_, name) in chunk {
                self.compare(*name)?;
            }
        }
        Ok(())
    }

    /// How alike the last of those is that would be returned, if there are as many as are wanted.
    fn last_place(&self) -> Option<f32> {
        let mut all: Vec<f32> = self.best.values().map(|(likeness, _)| *likeness).collect();
        let place = self.limit.checked_sub(1).filter(|place| *place < all.len())?;
        Some(*all.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1)
    }

    fn compare(&mut self, name: i64) -> Result<()> {
        if !self.compared.insert(name) {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT folded, entities.row, id, user, agent, session FROM entity_names
             JOIN entities ON entities.row = entity WHERE entity_names.row = ?1",
        )?;
        let mut found = statement.query([name])?;
        let Some(row) = found.next()? else { return Ok(()) };
        if !self.scope.covers(&rows::scope(row, 3)?) {
            return Ok(());
        }
        let likeness = Name::of_folded(row.get(0)?).likeness(&self.wanted);
        if likeness > 0.0 {
            let id = EntityId::from_bytes(row.get(2)?);
            let best = self.best.entry(row.get(1)?).or_insert((likeness, id));
            best.0 = best.0.max(likeness);
        }
        Ok(())
    }

    fn read(self) -> Result<Vec<(Entity, f32)>> {
        let mut best: Vec<(i64, (f32, EntityId))> = self.best.into_iter().collect();
        best.sort_unstable_by(|(_, (left, a)), (_, (right, b))| right.total_cmp(left).then(a.cmp(b)));
        best.truncate(self.limit);
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT {} FROM entities WHERE row = ?1", graph_rows::ENTITY))?;
        let mut entities = Vec::with_capacity(best.len());
        for (row, (likeness, _)) in best {
            let found = statement.query_row([row], |row| Ok(graph_rows::entity(row))).optional()?.transpose()?;
            entities.extend(found.map(|entity| (entity, likeness)));
        }
        Ok(entities)
    }
}
