use crate::{
    Embedder, EmbedderExt, IndexKey, Memory, MemoryKind, Purpose, Result, Stage, frame::own_words,
    index::passages::passages,
};

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
