//! What a memory is found by, made anew where a store has lost some of it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::keys::{cited, key_texts};
use crate::{
    Embedder, EmbedderExt, IndexKey, KeptKey, LeftKeys, ListQuery, Memory, MemoryKind, Purpose, Result, Stage,
    Validity, VectorStore,
};

/// All keys of a memory, in their order: those that are left stay, and what is lost is made from the memory's text and, for
/// a turn, from the facts that were read from it. A lost key that follows from neither is gone, and so is a row too many.
pub(crate) async fn restored(
    store: &dyn VectorStore,
    embedder: &dyn Embedder,
    memory: &Memory,
    left: LeftKeys,
) -> Result<Vec<IndexKey>> {
    let LeftKeys { count, known } = left;
    let is_within = |number: &i64| u64::try_from(*number).is_ok_and(|number| number < count);
    let (mut keys, beyond): (BTreeMap<i64, KeptKey>, BTreeMap<i64, KeptKey>) =
        known.into_iter().partition(|(number, _)| is_within(number));
    let own = own_texts(memory, count == 1 && keys.is_empty() && beyond.is_empty());
    // A text may say something twice, and then both are keys.
    let mut there: HashMap<&str, usize> = HashMap::new();
    keys.values().for_each(|key| *there.entry(&key.text).or_default() += 1);
    let mut is_lost = |text: &&String| match there.get_mut(text.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let mut texts: Vec<String> = own.iter().filter(&mut is_lost).cloned().collect();
    let may_lend = !beyond.is_empty() || ((keys.len() + texts.len()) as u64) < count;
    let mut said: HashSet<String> = keys.values().map(|key| key.text.clone()).chain(own).collect();
    if memory.kind == MemoryKind::Episode && may_lend {
        let facts = facts_of(store, memory).await?;
        texts.extend(facts.into_iter().filter(|text| said.insert(text.clone())));
    }
    // A row too many stays if it is what would be made anew: then it is the number of keys that is wrong.
    let mut stays = |key: &KeptKey| match texts.iter().position(|text| *text == key.text) {
        Some(place) => {
            texts.remove(place);
            true
        }
        None => false,
    };
    let beyond: BTreeMap<i64, KeptKey> = beyond.into_iter().filter(|(_, key)| stays(key)).collect();
    let room: Vec<i64> =
        (0..).take_while(is_within).filter(|number| !keys.contains_key(number)).take(texts.len()).collect();
    let mut lost = texts.into_iter().map(|text| KeptKey { text, vector: None });
    keys.extend(room.into_iter().zip(&mut lost));
    keys.extend(beyond);
    if keys.is_empty() {
        // How many there were is lost, too.
        keys.extend((0..).zip(lost));
    }
    embedded(embedder, memory, keys.into_values().collect()).await
}

/// What it is found by itself; by one key alone, where nothing is left that says otherwise.
fn own_texts(memory: &Memory, by_one: bool) -> Vec<String> {
    let texts = if memory.kind == MemoryKind::Block { Vec::new() } else { key_texts(memory) };
    // A block, and a fact that came with its vector, are found by the text as a whole.
    let is_whole = texts.is_empty() || (by_one && texts.len() > 1);
    if is_whole { vec![memory.text.clone()] } else { texts }
}

/// The texts of the facts that were read from a turn and may find it, oldest first.
async fn facts_of(store: &dyn VectorStore, turn: &Memory) -> Result<Vec<String>> {
    let mut facts = Vec::new();
    let mut query = ListQuery::new(turn.scope.clone(), Validity::Any);
    loop {
        let page = store.list(&query).await?;
        let read = page.items.iter().filter(|fact| fact.kind.is_semantic() && cited(fact).any(|id| id == turn.id));
        facts.extend(read.map(|fact| fact.text.clone()));
        query.after = page.next;
        if query.after.is_none() {
            return Ok(facts);
        }
    }
}

async fn embedded(embedder: &dyn Embedder, memory: &Memory, keys: Vec<KeptKey>) -> Result<Vec<IndexKey>> {
    let nothing = vec![0.0; embedder.identity().dimensions];
    let without = keys.iter().filter(|key| key.vector.is_none());
    // Of a block's meaning nothing is to be known.
    let texts: Vec<&str> = without.filter(|_| memory.kind != MemoryKind::Block).map(|key| &*key.text).collect();
    let vectors =
        if texts.is_empty() { Ok(Vec::new()) } else { embedder.embed_checked(&texts, Purpose::Document).await };
    let mut vectors = vectors.map_err(|error| error.with_stage(Stage::Embed))?.into_iter();
    let whole = |KeptKey { text, vector }: KeptKey| {
        let vector = vector.or_else(|| vectors.next()).unwrap_or_else(|| nothing.clone());
        IndexKey::new(text, vector)
    };
    Ok(keys.into_iter().map(whole).collect())
}
