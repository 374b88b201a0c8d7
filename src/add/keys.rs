//! What memories are found by: their own text in passages, and for a turn also the facts that were read from it.
//!
//! "We finally signed the papers for the flat on Elm Street" is not what "Where did they buy a home?" is near to, but
//! the fact read from it is. So the text of a fact becomes a further key of its turn; the turn's own text stays as it is,
//! and its best key counts. A turn says more than a fact, so the fact goes with the turn, but a fact that is deleted takes
//! its text along: see [`without`].

use crate::{
    Embedder, EmbedderExt, IndexKey, Memory, MemoryKind, Purpose, Result, Stage, index::passages::passages,
    score::sameness::same_text,
};

/// Most facts that a turn is found by: each costs a vector, and whoever reads more from a turn makes them up.
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
/// each other by name. The memory's own text stays as it came.
fn key_texts(memory: &Memory) -> Vec<String> {
    let speaker = memory.speaker.as_deref().filter(|_| memory.kind == MemoryKind::Episode);
    let named = |passage: &str| match speaker {
        Some(speaker) => format!("{speaker}: {passage}"),
        None => passage.to_owned(),
    };
    passages(&memory.text).into_iter().map(named).collect()
}

/// Lets a turn be found by the text of a fact, too. What the turn says in the same words already adds nothing, and a
/// turn has at most [`MOST_FACTS`] such keys.
pub(crate) fn extend(turn: &Memory, keys: &mut Vec<IndexKey>, fact: IndexKey) {
    let own = key_texts(turn);
    let further = keys.iter().filter(|key| !own.contains(&key.text)).count();
    if further < MOST_FACTS
        && !same_text(&turn.text, &fact.text)
        && !keys.iter().any(|key| same_text(&key.text, &fact.text))
    {
        keys.push(fact);
    }
}
