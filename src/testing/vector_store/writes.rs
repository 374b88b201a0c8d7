use std::sync::Arc;

use super::subject::{
    Subject, X, Y, added, alice, bob, deleted, found, now, refused, removal, replacement, rewritten, texts,
};
use crate::{EmbedderIdentity, ErrorKind, Expect, IndexKey, MemoryKind, Put, Scope, VectorStore, Version, WriteBatch};

fn key(text: &str, vector: [f32; 4]) -> Vec<IndexKey> {
    vec![IndexKey::new(text, vector.to_vec())]
}

/// A replaced memory has its new state and its new keys; nothing finds it by the old ones.
pub async fn a_change_replaces_state_and_keys(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let before = subject.add(&alice(), "Prefers aisle seats", X).await;
    let mut after = rewritten(&before, "Wants a window on night trains");
    after.kind = MemoryKind::Preference;
    after.importance = 0.9;
    subject.apply(replacement(&before, &after, Some(key(&after.text, Y)))).await;
    assert_eq!(subject.get(&alice(), before.id).await, Some(after.clone()));
    assert_eq!(subject.all(&alice()).await, [after]);
    assert!(subject.words(&alice(), "aisle", 10).await.is_empty(), "the old words are gone");
    assert_eq!(subject.words(&alice(), "window", 10).await.len(), 1);
    let near = subject.near(&alice(), Y, 10).await;
    assert!(near.len() == 1 && near[0].cosine.is_some_and(|cosine| cosine > 0.999), "the new vector counts");
}

/// A change without keys keeps those the memory has.
pub async fn a_change_without_keys_keeps_them(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let before = subject.memory(&alice(), "the text itself");
    subject.store_all(vec![(before.clone(), key("another wording", Y))]).await;
    let mut after = before.clone();
    after.metadata.insert("priority".into(), 5.into());
    after.revision += 1;
    subject.apply(replacement(&before, &after, None)).await;
    assert_eq!(subject.get(&alice(), before.id).await, Some(after));
    assert_eq!(found(&subject.words(&alice(), "wording", 10).await), ["the text itself"]);
    assert!(subject.words(&alice(), "itself", 10).await.is_empty(), "only keys are searched, not the text");
    assert!(subject.near(&alice(), Y, 10).await[0].cosine.is_some_and(|cosine| cosine > 0.999));
}

/// A change of the text alone leaves the keys as they are: nobody embeds behind the caller's back.
pub async fn a_new_text_without_keys_keeps_the_old_ones(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let before = subject.add(&alice(), "harbour", X).await;
    let after = rewritten(&before, "lighthouse");
    subject.apply(replacement(&before, &after, None)).await;
    assert_eq!(subject.get(&alice(), before.id).await, Some(after));
    assert_eq!(found(&subject.words(&alice(), "harbour", 10).await), ["lighthouse"]);
    assert!(subject.words(&alice(), "lighthouse", 10).await.is_empty());
}

/// A memory is found through each of its keys, and no longer by any after it was removed.
pub async fn every_key_finds_its_memory(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.memory(&alice(), "a long text");
    let keys = ["harbour", "lighthouse", "ferry"].map(|word| IndexKey::new(word, X.to_vec())).to_vec();
    subject.store_all(vec![(memory.clone(), keys)]).await;
    for word in ["harbour", "lighthouse", "ferry"] {
        assert_eq!(found(&subject.words(&alice(), word, 10).await), ["a long text"], "{word}");
    }
    subject.apply(removal(&memory)).await;
    for word in ["harbour", "lighthouse", "ferry"] {
        assert!(subject.words(&alice(), word, 10).await.is_empty(), "{word}");
    }
    assert!(subject.near(&alice(), X, 10).await.is_empty());
}

/// Keys come back as they were given and in that order, also the one that is the memory's text, to whom the scope covers;
/// others hear of none, and nor does anybody once the memory is gone.
pub async fn keys_come_back_in_their_scope(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let before = subject.memory(&alice(), "harbour");
    let keys = [("lighthouse", Y), ("harbour", X), ("", X), ("ferry", Y)]
        .map(|(text, vector)| IndexKey::new(text, vector.to_vec()))
        .to_vec();
    subject.store_all(vec![(before.clone(), keys.clone())]).await;
    assert_eq!(subject.keys(&alice(), before.id).await, keys);
    assert_eq!(subject.keys(&bob(), before.id).await, []);
    let after = rewritten(&before, "lighthouse");
    subject.apply(replacement(&before, &after, None)).await;
    assert_eq!(subject.keys(&alice(), before.id).await, keys, "a change without keys keeps them");
    refused(subject.store.keys(&Scope::user(" "), before.id).await, &[ErrorKind::InvalidArgument]);
    subject.apply(removal(&after)).await;
    assert_eq!(subject.keys(&alice(), before.id).await, []);
}

/// `Absent` holds a write back when the memory is there.
pub async fn absent_means_not_there(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "first", X).await;
    let mut again = memory.clone();
    again.text = "second".into();
    let batch = WriteBatch { puts: vec![Put::new(again, key("second", Y))], ..WriteBatch::default() };
    refused(subject.store.apply(batch).await, &[ErrorKind::Conflict]);
    assert_eq!(subject.all(&alice()).await, [memory]);
    assert!(subject.words(&alice(), "second", 10).await.is_empty());
}

/// `Revision` holds a write back when the memory is in another revision, or not there.
pub async fn a_revision_must_be_the_present_one(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let first = subject.add(&alice(), "one", X).await;
    let second = rewritten(&first, "two");
    subject.apply(replacement(&first, &second, Some(key("two", X)))).await;
    let late = rewritten(&first, "late");
    refused(subject.store.apply(replacement(&first, &late, Some(key("late", Y)))).await, &[ErrorKind::Conflict]);
    let mut early = second.clone();
    early.revision = 7;
    refused(subject.store.apply(replacement(&early, &early, None)).await, &[ErrorKind::Conflict]);
    let stranger = subject.memory(&alice(), "never stored");
    let keys = Some(key("never stored", X));
    refused(subject.store.apply(replacement(&stranger, &stranger, keys)).await, &[ErrorKind::Conflict]);
    assert_eq!(subject.all(&alice()).await, [second]);
    assert_eq!(subject.history(&alice(), first.id).await.len(), 2, "refused writes left no history");
}

/// `Anything` stores a new memory and replaces an old one.
pub async fn anything_stores_and_replaces(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.memory(&alice(), "one");
    let mut put = Put::new(memory.clone(), key("one", X));
    put.expect = Expect::Anything;
    subject.apply(WriteBatch { puts: vec![put.clone()], ..WriteBatch::default() }).await;
    assert_eq!(subject.all(&alice()).await, [memory]);
    put.memory.text = "two".into();
    put.memory.revision = 9;
    put.keys = Some(key("two", X));
    subject.apply(WriteBatch { puts: vec![put.clone()], ..WriteBatch::default() }).await;
    assert_eq!(subject.all(&alice()).await, [put.memory]);
    assert!(subject.words(&alice(), "one", 10).await.is_empty());
}

/// Nobody moves a stored memory to another scope: neither to a stranger's nor to a wider or narrower one.
pub async fn the_scope_of_a_memory_never_changes(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let home = alice().with_session("1");
    let memory = subject.add(&home, "mine", X).await;
    for scope in [bob(), alice(), alice().with_session("2"), home.clone().with_agent("x"), Scope::session("1")] {
        for expect in [Expect::Anything, Expect::Revision(1), Expect::Absent] {
            let mut moved = rewritten(&memory, "moved");
            moved.scope = scope.clone();
            let mut put = Put::new(moved.clone(), key("moved", X));
            put.expect = expect;
            let batch = WriteBatch { puts: vec![put], events: vec![added(&moved)], ..WriteBatch::default() };
            refused(subject.store.apply(batch).await, &[ErrorKind::Conflict, ErrorKind::InvalidArgument]);
        }
        assert!(subject.words(&scope, "moved", 10).await.is_empty(), "{scope:?}");
    }
    assert_eq!(subject.all(&home).await, std::slice::from_ref(&memory));
    assert_eq!(subject.history(&home, memory.id).await, [added(&memory)]);
}

/// A removed memory is gone from every read, and its id is free to no effect on the others.
pub async fn a_delete_takes_one_memory(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let kept = subject.add(&alice(), "kept tea", X).await;
    let gone = subject.add(&alice(), "gone tea", X).await;
    subject.apply(removal(&gone)).await;
    assert_eq!(subject.get(&alice(), gone.id).await, None);
    assert_eq!(subject.all(&alice()).await, [kept]);
    assert_eq!(subject.store.count(&alice(), None, now()).await.expect("counting"), 1);
    assert_eq!(found(&subject.words(&alice(), "tea", 10).await), ["kept tea"]);
    assert_eq!(found(&subject.near(&alice(), X, 10).await), ["kept tea"]);
}

/// Removing what is not there is a conflict, also the second time.
pub async fn a_delete_of_the_unknown_is_a_conflict(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "once", X).await;
    let unknown = subject.memory(&alice(), "never stored");
    refused(subject.store.apply(removal(&unknown)).await, &[ErrorKind::Conflict]);
    assert!(subject.history(&alice(), unknown.id).await.is_empty());
    subject.apply(removal(&memory)).await;
    refused(subject.store.apply(removal(&memory)).await, &[ErrorKind::Conflict]);
    assert_eq!(subject.history(&alice(), memory.id).await.len(), 2);
}

/// One batch may store, replace and remove, and all of it is seen at once.
pub async fn a_batch_may_do_everything_at_once(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let old = subject.add(&alice(), "old", X).await;
    let gone = subject.add(&alice(), "gone", X).await;
    let new = subject.memory(&alice(), "new");
    let changed = rewritten(&old, "changed");
    let mut batch = replacement(&old, &changed, Some(key("changed", X)));
    batch.puts.push(Put::new(new.clone(), key("new", Y)));
    batch.deletes.push(gone.id);
    batch.events.extend([added(&new), deleted(&gone, gone.created_at)]);
    subject.apply(batch).await;
    assert_eq!(texts(&subject.all(&alice()).await), ["changed", "new"]);
    assert_eq!(subject.history(&alice(), gone.id).await.len(), 2);
}

/// An empty batch changes nothing.
pub async fn an_empty_batch_changes_nothing(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    let before = subject.store.version().await.expect("the version");
    assert_eq!(subject.apply(WriteBatch::default()).await, before);
    assert_eq!(subject.store.version().await.expect("the version"), before);
    assert_eq!(subject.all(&alice()).await, [memory]);
}

/// Each write makes a later version, and `version` knows it.
pub async fn the_version_grows(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut last: Version = subject.store.version().await.expect("the version");
    for number in 0..3 {
        let memory = subject.memory(&alice(), &format!("memory {number}"));
        let made = subject.store_all(vec![(memory, key("x", X))]).await;
        assert!(made > last, "{made:?} after {last:?}");
        assert_eq!(subject.store.version().await.expect("the version"), made);
        last = made;
    }
    let memory = subject.all(&alice()).await.remove(0);
    assert!(subject.apply(removal(&memory)).await > last);
}

/// Binding to the same embedder again is free and changes nothing.
pub async fn binding_again_is_free(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    subject.store.bind(&EmbedderIdentity::new("suite", 4)).await.expect("binding again");
    assert_eq!(subject.all(&alice()).await, [memory]);
    assert_eq!(subject.near(&alice(), X, 10).await.len(), 1);
}

/// Binding a filled store to another embedder is refused, naming both and both widths, and changes nothing.
pub async fn another_embedder_is_refused_by_name(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    for (name, dimensions) in [("other", 4), ("other", 8), ("suite", 8)] {
        let result = subject.store.bind(&EmbedderIdentity::new(name, dimensions)).await;
        let message = refused(result, &[ErrorKind::EmbedderMismatch]).to_string();
        for part in ["suite", name, "4", &dimensions.to_string()] {
            assert!(message.contains(part), "{part} should be named: {message}");
        }
    }
    assert_eq!(subject.all(&alice()).await, [memory]);
    subject.add(&alice(), "two", X).await;
    assert_eq!(subject.near(&alice(), X, 10).await.len(), 2, "the first embedder still fits");
}

/// A store that was never bound takes no keys.
pub async fn keys_need_a_bound_store(store: Arc<dyn VectorStore>) {
    let memory = crate::Memory::new(crate::MemoryId::from_bytes([1; 16]), alice(), "one", super::subject::t0());
    let put = Put::new(memory.clone(), key("one", X));
    let batch = WriteBatch { puts: vec![put], events: vec![added(&memory)], ..WriteBatch::default() };
    refused(store.apply(batch.clone()).await, &[ErrorKind::EmbedderMismatch]);
    let subject = Subject::bound(store).await;
    assert!(subject.all(&alice()).await.is_empty() && subject.history(&alice(), memory.id).await.is_empty());
    subject.apply(batch).await;
    assert_eq!(subject.all(&alice()).await, [memory]);
}
