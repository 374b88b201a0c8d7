use std::sync::Arc;

use super::subject::{
    Subject, X, Y, alice, bob, cosine, declared, found, now, query, refused, removal, replacement, rewritten, stamp, t0,
};
use crate::{
    EmbedderIdentity, ErrorKind, IndexKey, KeyPlace, Memory, Put, SearchQuery, StagedVector, StoredKey, VectorStore,
    WriteBatch,
};

fn wider() -> EmbedderIdentity {
    EmbedderIdentity::new("wider", 8)
}

/// Of the width of the suite's own embedder.
fn alike() -> EmbedderIdentity {
    EmbedderIdentity::new("alike", 4)
}

fn skipped(store: &Arc<dyn VectorStore>, rule: &str) -> bool {
    !declared(store, "reembedding", rule)
}

/// The vector of a text by another embedder: its length says which axis.
fn vector(text: &str, embedder: &EmbedderIdentity) -> Vec<f32> {
    let mut vector = vec![0.0; embedder.dimensions];
    vector[text.len() % embedder.dimensions] = 1.0;
    vector
}

fn staged(keys: Vec<StoredKey>, embedder: &EmbedderIdentity) -> Vec<StagedVector> {
    let vector = |key: StoredKey| StagedVector { vector: vector(&key.text, embedder), key };
    keys.into_iter().map(vector).collect()
}

impl Subject {
    async fn begin(&self, embedder: &EmbedderIdentity) -> (u64, u64) {
        let begun = self.store.begin_reembedding(embedder).await.expect("beginning to change the embedder");
        (begun.staged, begun.keys)
    }

    async fn unstaged(&self, embedder: &EmbedderIdentity) -> Vec<StoredKey> {
        self.store.unstaged_keys_of_everyone(embedder, None, 10_000).await.expect("keys without a staged vector")
    }

    async fn stage_rest(&self, embedder: &EmbedderIdentity) -> u64 {
        let vectors = staged(self.unstaged(embedder).await, embedder);
        self.store.stage_vectors(embedder, vectors).await.expect("staging")
    }

    async fn swap(&self, embedder: &EmbedderIdentity) -> bool {
        self.store.swap_vectors(embedder).await.expect("swapping")
    }

    /// Changes the embedder from beginning to end.
    async fn reembed(&self, embedder: &EmbedderIdentity) {
        self.begin(embedder).await;
        self.stage_rest(embedder).await;
        assert!(self.swap(embedder).await, "every key has its vector");
    }
}

fn texts(keys: &[StoredKey]) -> Vec<&str> {
    keys.iter().map(|key| key.text.as_str()).collect()
}

fn two_keys() -> Vec<IndexKey> {
    vec![IndexKey::new("a part", X.to_vec()), IndexKey::new("another part", Y.to_vec())]
}

fn batch_of(memory: &Memory, width: usize, embedder: &EmbedderIdentity) -> WriteBatch {
    let keys = vec![IndexKey::new(memory.text.clone(), vec![1.0; width])];
    WriteBatch { puts: vec![Put::new(memory.clone(), keys)], embedder: Some(embedder.clone()), ..WriteBatch::default() }
}

/// Every key of every scope has another vector afterwards, and the store another embedder; memories, their other fields and
/// their histories are as they were.
pub async fn an_embedder_is_changed_as_a_whole(store: Arc<dyn VectorStore>) {
    if skipped(&store, "an_embedder_is_changed_as_a_whole") {
        return;
    }
    for embedder in [alike(), wider()] {
        let name = embedder.name.clone();
        let subject = Subject::bound(store.clone()).await;
        let one = subject.add(&alice().with_session("1"), "one", X).await;
        let two = subject.memory(&alice(), "a part and another part");
        subject.store_all(vec![(two.clone(), two_keys())]).await;
        let theirs = subject.add(&bob(), "theirs", Y).await;
        let version = subject.store.version().await.expect("the version");
        let histories = [subject.history(&alice(), one.id).await, subject.history(&alice(), two.id).await];
        let stored = subject.all(&alice()).await;
        assert_eq!(subject.near(&alice(), X, 10).await.len(), 2, "an index is there before");

        assert_eq!(subject.begin(&embedder).await, (0, 4), "{name}");
        assert!(!subject.swap(&embedder).await, "no key has a staged vector");
        assert_eq!(subject.stage_rest(&embedder).await, 4);
        assert_eq!(subject.begin(&embedder).await, (4, 4), "begun again, it goes on");
        assert!(subject.unstaged(&embedder).await.is_empty());
        // What is staged moves nothing.
        assert_eq!(cosine(&subject.near(&alice(), X, 1).await[0]), 1.0);
        assert!(subject.swap(&embedder).await);

        assert!(subject.store.version().await.expect("the version") > version);
        assert_eq!(subject.all(&alice()).await, stored);
        let after = [subject.history(&alice(), one.id).await, subject.history(&alice(), two.id).await];
        assert_eq!(after, histories, "nothing happened to any memory");
        let expected = |text: &str| IndexKey::new(text, vector(text, &embedder));
        assert_eq!(subject.keys(&alice(), one.id).await, [expected("one")]);
        assert_eq!(subject.keys(&alice(), two.id).await, [expected("a part"), expected("another part")]);
        assert_eq!(subject.keys(&bob(), theirs.id).await, [expected("theirs")]);
        for (memory, text) in [(&one, "one"), (&two, "another part")] {
            let mut near = subject.search(query(&alice()).near(vector(text, &embedder)).limit(10)).await;
            near.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
            assert_eq!((near[0].memory.id, cosine(&near[0])), (memory.id, 1.0), "{name}");
        }
        assert_eq!(found(&subject.words(&alice(), "another", 10).await), ["a part and another part"]);

        subject.store.bind(&embedder).await.expect("the new embedder fits");
        let error = refused(store.bind(&EmbedderIdentity::new("suite", 4)).await, &[ErrorKind::EmbedderMismatch]);
        assert!(error.to_string().contains(&name) && error.to_string().contains("suite"), "{error}");
        // And back, for the next: the same embedder as before, over other vectors.
        subject.reembed(&EmbedderIdentity::new("suite", 4)).await;
        let suite = vector("one", &EmbedderIdentity::new("suite", 4));
        assert_eq!(cosine(&subject.search(query(&alice()).near(suite).limit(1)).await[0]), 1.0);
        for scope in [alice(), bob()] {
            store.purge_all(&scope).await.expect("purging");
        }
    }
}

/// Who comes with the embedder before writes nothing and searches nothing by vectors, also where the width is the same,
/// and is told of both embedders; words still find.
pub async fn vectors_of_two_embedders_never_mix(store: Arc<dyn VectorStore>) {
    if skipped(&store, "vectors_of_two_embedders_never_mix") {
        return;
    }
    let subject = Subject::bound(store).await;
    let suite = EmbedderIdentity::new("suite", 4);
    let one = subject.add(&alice(), "one", X).await;
    let two = subject.memory(&alice(), "two");
    let by_suite = SearchQuery::new(alice(), t0()).validity(now()).near(X.to_vec()).embedded_by(suite.clone());
    assert_eq!(subject.search(by_suite.clone()).await.len(), 1, "its own embedder fits");
    refused(subject.store.apply(batch_of(&two, 4, &alike())).await, &[ErrorKind::EmbedderMismatch]);
    subject.reembed(&alike()).await;
    let removed = WriteBatch { embedder: Some(suite.clone()), ..removal(&one) };
    let errors = [
        refused(subject.store.apply(batch_of(&two, 4, &suite)).await, &[ErrorKind::EmbedderMismatch]),
        refused(subject.store.apply(removed).await, &[ErrorKind::EmbedderMismatch]),
        refused(subject.store.search(&by_suite).await, &[ErrorKind::EmbedderMismatch]),
    ];
    for error in errors {
        assert!(error.to_string().contains("suite") && error.to_string().contains("alike"), "{error}");
    }
    assert_eq!(subject.all(&alice()).await, [one]);
    assert_eq!(subject.words(&alice(), "one", 10).await.len(), 1);
    subject.apply(batch_of(&two, 4, &alike())).await;
    assert_eq!(subject.all(&alice()).await.len(), 2);
}

/// Keys that came, changed or went after the walk hold the swap back, and are told; a staged vector goes with its key, and
/// one for another text is passed over.
pub async fn a_swap_waits_for_what_was_written_meanwhile(store: Arc<dyn VectorStore>) {
    if skipped(&store, "a_swap_waits_for_what_was_written_meanwhile") {
        return;
    }
    let subject = Subject::bound(store).await;
    let one = subject.add(&alice(), "one", X).await;
    let goes = subject.add(&alice(), "goes", X).await;
    let renamed = subject.add(&alice(), "renamed", X).await;
    subject.begin(&wider()).await;
    let read = subject.unstaged(&wider()).await;
    assert_eq!(texts(&read), ["one", "goes", "renamed"]);
    subject.stage_rest(&wider()).await;

    let after = rewritten(&one, "one anew");
    subject.apply(replacement(&one, &after, Some(vec![IndexKey::new("one anew", Y.to_vec())]))).await;
    subject.apply(removal(&goes)).await;
    // Another text, and the key it had.
    subject.apply(replacement(&renamed, &rewritten(&renamed, "called otherwise"), None)).await;
    subject.add(&bob(), "new", Y).await;
    assert!(!subject.swap(&wider()).await);
    assert_eq!(texts(&subject.unstaged(&wider()).await), ["one anew", "new"]);
    let count = subject.store.stage_vectors(&wider(), staged(read, &wider())).await.expect("staging what is old");
    assert_eq!(count, 0, "of another text, gone, or staged already");
    assert_eq!(subject.stage_rest(&wider()).await, 2);
    assert!(subject.swap(&wider()).await);
    let keys = subject.keys(&alice(), one.id).await;
    assert_eq!(keys, [IndexKey::new("one anew", vector("one anew", &wider()))]);
    let keys = subject.keys(&alice(), renamed.id).await;
    assert_eq!(keys, [IndexKey::new("renamed", vector("renamed", &wider()))]);
}

/// The walk goes by places, in pieces of any size, and meets every key once; a limit of 0 gives none.
pub async fn keys_are_walked_in_pieces(store: Arc<dyn VectorStore>) {
    if skipped(&store, "keys_are_walked_in_pieces") {
        return;
    }
    let subject = Subject::bound(store).await;
    let mut memories = Vec::new();
    for number in 0..7_usize {
        let scope = if number % 2 == 0 { alice() } else { bob() };
        let memory = subject.memory(&scope, &format!("memory {number}"));
        let keys = (0..=number % 3).map(|key| IndexKey::new(format!("key {key} of {number}"), X.to_vec())).collect();
        memories.push((memory, keys));
    }
    let keys = |(memory, keys): &(Memory, Vec<IndexKey>)| {
        let memory = memory.id;
        let place = move |number: usize| KeyPlace { memory, number: u32::try_from(number).expect("a small number") };
        keys.iter()
            .enumerate()
            .map(|(number, key)| StoredKey { place: place(number), text: key.text.clone(), is_block: false })
            .collect()
    };
    let expected: Vec<StoredKey> = memories.iter().flat_map(keys as fn(&_) -> Vec<StoredKey>).collect();
    subject.store_all(memories).await;
    subject.begin(&wider()).await;
    for limit in [1, 2, 3, 100] {
        let (mut walked, mut after) = (Vec::new(), None);
        loop {
            let piece = subject.store.unstaged_keys_of_everyone(&wider(), after, limit).await.expect("a piece");
            assert!(piece.len() <= limit);
            let Some(last) = piece.last() else { break };
            after = Some(last.place);
            walked.extend(piece);
        }
        assert_eq!(walked, expected, "in pieces of {limit}");
    }
    assert_eq!(subject.store.unstaged_keys_of_everyone(&wider(), None, 0).await.expect("none"), []);
    // What has its vector is not met again.
    let some = vec![expected[1].clone(), expected[4].clone(), expected[5].clone()];
    let count = subject.store.stage_vectors(&wider(), staged(some, &wider())).await.expect("staging");
    assert_eq!(count, 3);
    let left: Vec<StoredKey> =
        [0, 2, 3].into_iter().chain(6..expected.len()).map(|key| expected[key].clone()).collect();
    assert_eq!(subject.unstaged(&wider()).await, left);
}

/// A vector of the wrong width, or with a number that is none, is refused, with all that came along.
pub async fn a_faulty_vector_is_not_staged(store: Arc<dyn VectorStore>) {
    if skipped(&store, "a_faulty_vector_is_not_staged") {
        return;
    }
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "note", 2, X).await;
    subject.begin(&wider()).await;
    let faults: [(Vec<f32>, ErrorKind); 3] = [
        (X.to_vec(), ErrorKind::EmbedderMismatch),
        (vec![f32::NAN; 8], ErrorKind::InvalidArgument),
        (vec![f32::INFINITY; 8], ErrorKind::InvalidArgument),
    ];
    for (fault, kind) in faults {
        let mut vectors = staged(subject.unstaged(&wider()).await, &wider());
        vectors[1].vector = fault;
        refused(subject.store.stage_vectors(&wider(), vectors).await, &[kind]);
        assert_eq!(subject.unstaged(&wider()).await.len(), 2);
    }
}

/// What was staged for one embedder is no other's: beginning with another discards it, and whoever began before is told so.
/// With the embedder in use it is discarded, and that is all.
pub async fn the_later_change_of_embedder_goes_on(store: Arc<dyn VectorStore>) {
    if skipped(&store, "the_later_change_of_embedder_goes_on") {
        return;
    }
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "note", 3, X).await;
    refused(subject.store.unstaged_keys_of_everyone(&wider(), None, 10).await, &[ErrorKind::Conflict]);
    refused(subject.store.swap_vectors(&wider()).await, &[ErrorKind::Conflict]);
    subject.begin(&wider()).await;
    let keys = subject.unstaged(&wider()).await;
    subject.stage_rest(&wider()).await;
    assert_eq!(subject.begin(&alike()).await, (0, 3), "discarded");
    let errors = [
        refused(subject.store.stage_vectors(&wider(), staged(keys.clone(), &wider())).await, &[ErrorKind::Conflict]),
        refused(subject.store.swap_vectors(&wider()).await, &[ErrorKind::Conflict]),
        refused(subject.store.unstaged_keys_of_everyone(&wider(), None, 10).await, &[ErrorKind::Conflict]),
    ];
    for error in errors {
        assert!(error.to_string().contains("wider") && error.to_string().contains("alike"), "{error}");
    }
    assert_eq!(subject.stage_rest(&alike()).await, 3);
    let suite = EmbedderIdentity::new("suite", 4);
    assert_eq!(subject.begin(&suite).await, (0, 3), "called off");
    assert!(subject.unstaged(&suite).await.is_empty());
    assert_eq!(subject.store.stage_vectors(&suite, staged(keys, &suite)).await.expect("nothing to do"), 0);
    assert!(subject.swap(&suite).await);
    assert_eq!(subject.near(&alice(), X, 10).await.len(), 3);
    assert_eq!(cosine(&subject.near(&alice(), X, 1).await[0]), 1.0);
    assert_eq!(subject.begin(&alike()).await, (0, 3));
    subject.stage_rest(&alike()).await;
    assert!(subject.swap(&alike()).await);
    // Whoever shared the work finds it done.
    assert!(subject.swap(&alike()).await && subject.unstaged(&alike()).await.is_empty());
}

/// What is deleted or purged is not staged any more, and holds nothing back; nor does a store that holds nothing.
pub async fn what_is_gone_needs_no_new_vector(store: Arc<dyn VectorStore>) {
    if skipped(&store, "what_is_gone_needs_no_new_vector") {
        return;
    }
    assert_eq!(store.begin_reembedding(&wider()).await.expect("beginning unbound").bound, None);
    assert!(store.swap_vectors(&wider()).await.expect("swapping nothing"));
    assert!(store.swap_vectors(&wider()).await.expect("swapping nothing again"));
    store.bind(&wider()).await.expect("the embedder it was swapped to");
    store.begin_reembedding(&EmbedderIdentity::new("suite", 4)).await.expect("beginning while empty");
    assert!(store.swap_vectors(&EmbedderIdentity::new("suite", 4)).await.expect("swapping nothing"));

    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "note", 3, X).await;
    let kept = subject.add(&bob(), "kept", X).await;
    subject.begin(&wider()).await;
    subject.stage_rest(&wider()).await;
    subject.store.purge_all(&alice()).await.expect("purging");
    assert_eq!(subject.begin(&wider()).await, (1, 1));
    subject.add(&alice(), "note again", X).await;
    subject.store.delete_all(&alice(), &stamp(t0())).await.expect("deleting");
    assert!(subject.swap(&wider()).await);
    assert_eq!(subject.keys(&bob(), kept.id).await, [IndexKey::new("kept", vector("kept", &wider()))]);
}
