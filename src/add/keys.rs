//! What memories are found by: their own text in passages, and turns also by the facts that were read from them.
//!
//! "We signed the papers for Elm Street at last!" is far from "Where did they buy a home?", and the fact read from it is
//! near. So a fact's text is a further key of its turn: the turn's best key counts, and its own text stays as it came.
//!
//! Such a key lives as long as the fact is stored, also when the fact no longer holds, since that is what the turn said.
//! A fact that is deleted takes it along, and one whose text is changed by hand changes it: what was taken back must not
//! be what finds the turn. A turn with a new text loses all such keys, for they were read from the old one.
//!
//! A turn is lent no fact that some reader of the turn does not see: words must not be felt where they are not shown. What
//! was read from the turn itself when it was said is its own reading, whichever session's memory has taken that in.

use std::collections::{HashMap, HashSet};

use crate::{
    Embedder, EmbedderExt, IndexKey, Memory, MemoryId, MemoryKind, Purpose, Put, Result, Scope, Source, Stage,
    VectorStore, frame::own_words, index::passages::passages, score::sameness::compared,
};

/// Most facts that a turn is found by: each costs a vector, and hundreds of facts of one turn are no reading of it.
const MOST_FACTS: usize = 16;

/// The keys of each memory, and a vector for each further text: all in one request.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    memories: &[&Memory],
    further: &[&str],
) -> Result<(Vec<Vec<IndexKey>>, Vec<Vec<f32>>)> {
    let texts: Vec<Vec<String>> = memories.iter().map(|memory| key_texts(memory)).collect();
    let all: Vec<&str> = texts.iter().flatten().map(String::as_str).chain(further.iter().copied()).collect();
    let vectors = embedder.embed_checked(&all, Purpose::Document).await;
    let mut vectors = vectors.map_err(|error| error.with_stage(Stage::Embed))?.into_iter();
    let keys = texts
        .into_iter()
        .map(|texts| {
            texts.into_iter().zip(vectors.by_ref()).map(|(text, vector)| IndexKey::new(text, vector)).collect()
        })
        .collect();
    Ok((keys, vectors.collect()))
}

/// What a memory is found by: its passages, and for a turn each after the name of who said it, since people ask about
/// each other by name, and without text that a recall had put there. The memory's own text stays as it came.
pub(super) fn key_texts(memory: &Memory) -> Vec<String> {
    let speaker = memory.speaker.as_deref().filter(|_| memory.kind == MemoryKind::Episode);
    let named = |passage: &str| match speaker {
        Some(speaker) => format!("{speaker}: {passage}"),
        None => passage.to_owned(),
    };
    let own = if memory.kind == MemoryKind::Episode { own_words(&memory.text) } else { memory.text.as_str().into() };
    // A turn stored as it is may be nothing else.
    let text = if own.trim().is_empty() { &memory.text } else { &*own };
    passages(text).into_iter().map(named).collect()
}

/// Whatever of a memory's keys may be its own, and no fact's.
fn own_texts(memory: &Memory) -> HashSet<String> {
    let mut own: HashSet<String> = key_texts(memory).into_iter().collect();
    // A fact that came with its vector is found by its text as a whole.
    own.insert(memory.text.clone());
    // With another kind, a turn keeps the keys that it had as a turn.
    if memory.kind != MemoryKind::Episode {
        let turn = Memory { kind: MemoryKind::Episode, ..memory.clone() };
        own.extend(key_texts(&turn));
    }
    own
}

/// All texts that may have become keys of its turns when a fact said this.
pub(crate) fn lent_texts(text: &str) -> impl Iterator<Item = &str> {
    std::iter::once(text).chain(passages(text))
}

/// Lets a turn be found by the texts of facts, too. What the turn says in the same words adds nothing, and a turn has at
/// most [`MOST_FACTS`] such keys.
pub(super) fn extend(turn: &Memory, keys: &mut Vec<IndexKey>, facts: impl IntoIterator<Item = IndexKey>) {
    let mut facts = facts.into_iter().peekable();
    if facts.peek().is_none() {
        return;
    }
    // What the turn says is read once for all facts: both may be long.
    let own = own_texts(turn);
    let further = keys.iter().filter(|key| !own.contains(&key.text)).count();
    let mut room = MOST_FACTS.saturating_sub(further);
    if room == 0 {
        return;
    }
    let texts = keys.iter().map(|key| key.text.as_str());
    let mut said: HashSet<String> = texts.chain([turn.text.as_str()]).map(compared).collect();
    for fact in facts {
        if said.insert(compared(&fact.text)) {
            keys.push(fact);
            room -= 1;
            if room == 0 {
                return;
            }
        }
    }
}

/// The turns that these memories of one scope were read from, as changes that let them be found by these, too.
pub(super) async fn lend(
    store: &dyn VectorStore,
    scope: &Scope,
    memories: &[(&Memory, &[IndexKey])],
) -> Result<Vec<Put>> {
    let mut lent: HashMap<MemoryId, Vec<&IndexKey>> = HashMap::new();
    for (memory, keys) in memories.iter().filter(|(memory, _)| memory.kind.is_semantic()) {
        for id in cited(memory) {
            lent.entry(id).or_default().extend(*keys);
        }
    }
    let mut puts = Vec::new();
    for turn in sources(store, scope, lent.keys().copied().collect()).await? {
        let Some(facts) = lent.get(&turn.id).filter(|_| may_lend(&turn, scope)) else { continue };
        let mut keys = store.keys(&turn.scope, turn.id).await?;
        let count = keys.len();
        extend(&turn, &mut keys, facts.iter().map(|key| (*key).clone()));
        if keys.len() > count {
            puts.push(rekeyed(turn, keys));
        }
    }
    Ok(puts)
}

/// What a memory was read from, as changes that take from it the keys that are `taken`; `instead` takes their place
/// where it may. Its own keys stay.
pub(crate) async fn take_back(
    store: &dyn VectorStore,
    embedder: &dyn Embedder,
    memory: &Memory,
    taken: impl Fn(&str) -> bool + Send + Sync,
    instead: &[IndexKey],
) -> Result<Vec<Put>> {
    let mut puts = Vec::new();
    // Also of what is no turn any more: it kept its keys.
    let ids = cited(memory).filter(|id| *id != memory.id).collect();
    for turn in sources(store, &memory.scope, ids).await? {
        let known = store.keys(&turn.scope, turn.id).await?;
        let (own, count) = (own_texts(&turn), known.len());
        let stays = |key: &IndexKey| own.contains(&key.text) || !taken(&key.text);
        let mut keys: Vec<IndexKey> = known.into_iter().filter(stays).collect();
        if keys.len() == count {
            continue;
        }
        if keys.is_empty() {
            // Made by a release that cut texts otherwise.
            keys = embed(embedder, &[&turn], &[]).await?.0.pop().unwrap_or_default();
        }
        if may_lend(&turn, &memory.scope) {
            extend(&turn, &mut keys, instead.iter().cloned());
        }
        puts.push(rekeyed(turn, keys));
    }
    Ok(puts)
}

/// Whether it is a turn that a fact of this scope may find.
fn may_lend(turn: &Memory, scope: &Scope) -> bool {
    turn.kind == MemoryKind::Episode && turn.scope.covers(scope)
}

/// The memories that a memory was made from.
pub(super) fn cited(memory: &Memory) -> impl Iterator<Item = MemoryId> {
    memory.sources.iter().filter_map(|source| match source {
        Source::Memory(id) => Some(*id),
        Source::Message(_) | Source::Faded(_) => None,
    })
}

/// These memories as far as they are there, in whatever session.
async fn sources(store: &dyn VectorStore, scope: &Scope, mut ids: Vec<MemoryId>) -> Result<Vec<Memory>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    store.get(&scope.across_sessions(), &ids).await
}

/// Other keys are a change, so that of two such changes at once none is lost; but none of the turn itself, so there is no
/// event.
fn rekeyed(mut turn: Memory, keys: Vec<IndexKey>) -> Put {
    let revision = turn.revision;
    turn.revision += 1;
    Put::change(turn, Some(keys), revision)
}
