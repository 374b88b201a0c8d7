//! What memories are found by: their own text in passages, and turns also by the facts that were read from them.
//!
//! "We signed the papers for Elm Street at last!" is far from "Where did they buy a home?", and the fact read from it is
//! near. So a fact's text is a further key of its turn: the turn's best key counts, and its own text stays as it came.
//!
//! Such a key lives as long as the fact is stored, also when the fact no longer holds, since that is what the turn said.
//! A fact that is deleted takes it along, and one whose text is changed by hand changes it: what was taken back must not
//! be what finds the turn. A turn with a new text loses all such keys, for they were read from the old one.

use crate::{
    Embedder, EmbedderExt, IndexKey, Memory, MemoryId, MemoryKind, Purpose, Put, Result, Source, Stage, VectorStore,
    frame::own_words, index::passages::passages, score::sameness::same_text,
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
fn key_texts(memory: &Memory) -> Vec<String> {
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

/// Lets a turn be found by a fact's text, too. What the turn says in the same words adds nothing, and a turn has at most
/// [`MOST_FACTS`] such keys.
pub(super) fn extend(turn: &Memory, keys: &mut Vec<IndexKey>, fact: IndexKey) {
    let own = key_texts(turn);
    let further = keys.iter().filter(|key| !own.contains(&key.text)).count();
    let said = same_text(&turn.text, &fact.text) || keys.iter().any(|key| same_text(&key.text, &fact.text));
    if further < MOST_FACTS && !said {
        keys.push(fact);
    }
}

/// The turns that these memories were read from, as changes that let them be found by these, too.
///
/// Whoever sees such a turn must see the fact: its words must not be felt where it is not shown.
pub(super) async fn lend(store: &dyn VectorStore, memories: &[(&Memory, &[IndexKey])]) -> Result<Vec<Put>> {
    let mut found: Vec<(Memory, usize, Vec<IndexKey>)> = Vec::new();
    for (memory, lent) in memories.iter().filter(|(memory, _)| memory.kind.is_semantic()) {
        for turn in turns(store, memory).await? {
            if !turn.scope.covers(&memory.scope) {
                continue;
            }
            let place = match found.iter().position(|(known, ..)| known.id == turn.id) {
                Some(place) => place,
                None => {
                    let keys = store.keys(&turn.scope, turn.id).await?;
                    found.push((turn, keys.len(), keys));
                    found.len() - 1
                }
            };
            if let Some((turn, _, keys)) = found.get_mut(place) {
                lent.iter().for_each(|key| extend(turn, keys, key.clone()));
            }
        }
    }
    Ok(found
        .into_iter()
        .filter(|(_, count, keys)| keys.len() > *count)
        .map(|(turn, _, keys)| rekeyed(turn, keys))
        .collect())
}

/// The turns a memory was read from, as changes that take from them the facts' keys that are `taken`; `instead` takes
/// their place. A turn's own keys stay.
pub(crate) async fn take_back(
    store: &dyn VectorStore,
    embedder: &dyn Embedder,
    memory: &Memory,
    taken: impl Fn(&str) -> bool + Send + Sync,
    instead: Option<&IndexKey>,
) -> Result<Vec<Put>> {
    let mut puts = Vec::new();
    for turn in turns(store, memory).await? {
        let known = store.keys(&turn.scope, turn.id).await?;
        let (own, count) = (key_texts(&turn), known.len());
        let stays = |key: &IndexKey| own.contains(&key.text) || !taken(&key.text);
        let mut keys: Vec<IndexKey> = known.into_iter().filter(stays).collect();
        if keys.len() == count {
            continue;
        }
        if keys.is_empty() {
            // Made by a release that cut texts otherwise.
            keys = embed(embedder, &[&turn], &[]).await?.0.pop().unwrap_or_default();
        }
        if let Some(instead) = instead {
            extend(&turn, &mut keys, instead.clone());
        }
        puts.push(rekeyed(turn, keys));
    }
    Ok(puts)
}

/// The turns a memory was read from, in whatever session.
async fn turns(store: &dyn VectorStore, memory: &Memory) -> Result<Vec<Memory>> {
    let made_from = memory.sources.iter().filter_map(|source| match source {
        Source::Memory(id) => Some(*id),
        Source::Message(_) => None,
    });
    let mut ids: Vec<MemoryId> = made_from.collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = store.get(&memory.scope.across_sessions(), &ids).await?;
    found.retain(|turn| turn.kind == MemoryKind::Episode);
    Ok(found)
}

/// Other keys are a change, so that of two such changes at once none is lost; but none of the turn itself, so there is no
/// event.
fn rekeyed(mut turn: Memory, keys: Vec<IndexKey>) -> Put {
    let revision = turn.revision;
    turn.revision += 1;
    Put::change(turn, Some(keys), revision)
}
