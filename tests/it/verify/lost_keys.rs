//! Keys that are lost, too many, or of no use: told, and made anew by the engine, which has the embedder.

use std::path::Path;

use ingrain::{IndexKey, MemoryEngine, Message, ProblemKind, ProblemPlace, Scope, SqliteStore, VectorStore, Verify};

use super::{
    alice, bob,
    damage::{filled, kinds, open, run},
    found,
};
use crate::worlds::sound;

/// The keys of everyone, with the texts of their memories.
async fn keys(path: &Path, memory: &MemoryEngine) -> Vec<(String, Vec<IndexKey>)> {
    let store = SqliteStore::open(path).await.unwrap();
    let mut all = Vec::new();
    for scope in [alice(), bob()] {
        let request = ingrain::ListRequest::new().limit(1_000).include_invalid();
        for one in memory.list(&scope, request).await.unwrap().items {
            let keys = store.keys(&scope, one.id).await.unwrap();
            all.push((one.text, keys));
        }
    }
    all
}

/// The texts of keys that are not the same.
fn differing(before: &[(String, Vec<IndexKey>)], after: &[(String, Vec<IndexKey>)]) -> Vec<[Vec<String>; 2]> {
    let both = before.iter().zip(after).filter(|(before, after)| before != after);
    let short = |keys: &[IndexKey]| keys.iter().map(|key| key.text.chars().take(30).collect()).collect();
    both.map(|(before, after)| [short(&before.1), short(&after.1)]).collect()
}

#[tokio::test]
async fn every_key_that_is_lost_is_made_anew() {
    use ProblemKind::{Keys, Stray, Terms, Vector};
    let of = |text: &str| format!("(SELECT row FROM memories WHERE text LIKE '{text}%' AND kind <> 'block')");
    let (kayak, mill) = (of("Owns a red kayak"), of("The mill by the river"));
    // A turn that is found by what was read from it, too.
    let turn = "(SELECT memory FROM keys JOIN memories ON row = memory WHERE kind = 'episode' AND number = 2 LIMIT 1)";
    let damages: &[(String, &[ProblemKind])] = &[
        (format!("DELETE FROM keys WHERE memory = {kayak}"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory IN {mill}"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory IN {mill} AND number = 1"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory IN {mill} AND number = 0"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory IN {mill} AND number > 1"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory = {turn} AND number = 0"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory = {turn} AND number = 1"), &[Keys]),
        (format!("DELETE FROM keys WHERE memory = {turn}"), &[Keys]),
        ("DELETE FROM keys WHERE number > 0".to_owned(), &[Keys]),
        (
            format!("INSERT INTO keys SELECT memory, 99, text, terms, vector FROM keys WHERE memory IN {mill} AND number = 1"),
            &[Keys],
        ),
        (
            format!("INSERT INTO keys SELECT memory, 1, 'of nobody', terms, vector FROM keys WHERE memory = {kayak}"),
            &[Keys, Terms],
        ),
        (format!("UPDATE keys SET number = number + 10 WHERE memory IN {mill}"), &[Keys]),
        (format!("UPDATE keys SET text = x'00' WHERE memory IN {mill} AND number = 1"), &[Keys]),
        (format!("UPDATE memories SET key_count = 1 WHERE row IN {mill}"), &[Keys]),
        (format!("UPDATE memories SET key_count = 1000000000000 WHERE row IN {mill}"), &[Keys]),
        (format!("UPDATE keys SET vector = substr(vector, 1, 8) WHERE memory = {kayak}"), &[Vector]),
        (format!("UPDATE keys SET vector = zeroblob(512) WHERE memory IN {mill} AND number = 1"), &[Vector]),
        (
            format!("UPDATE keys SET vector = CAST(x'0000C07F' || substr(vector, 5) AS BLOB) WHERE memory = {kayak}"),
            &[Vector],
        ),
        (format!("UPDATE keys SET vector = 'none' WHERE memory = {turn}"), &[Vector]),
        (
            format!(
                "DELETE FROM keys WHERE memory IN {mill} AND number = 1; UPDATE keys SET vector = x'' WHERE memory IN {mill};
                 INSERT INTO keys SELECT 99, number, text, terms, vector FROM keys LIMIT 1"
            ),
            &[Stray, Keys, Vector],
        ),
    ];
    for (damage, expected) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path()).await;
        let memory = open(&path).await;
        let before = (keys(&path, &memory).await, found(&memory, &alice()).await, found(&memory, &bob()).await);
        assert!(before.0.iter().any(|(_, keys)| keys.len() > 2), "a long text and a turn have several");
        drop(memory);
        run(&path, damage);
        let memory = open(&path).await;
        let report = memory.verify(Verify::new()).await.unwrap();
        assert_eq!(kinds(&report), *expected, "{damage}: {report:#?}");
        assert!(expected.iter().all(|kind| kind.is_derived()));
        // A store by itself has no embedder.
        let store = SqliteStore::open(&path).await.unwrap();
        let left = kinds(&store.verify(&Verify::new().rebuild(true)).await.unwrap());
        let wanted: Vec<_> = expected.iter().copied().filter(|kind| matches!(kind, Keys | Vector)).collect();
        assert_eq!(left, wanted, "{damage}");
        let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
        assert!(
            report.is_sound() && wanted.iter().all(|kind| report.mended.iter().any(|one| one.kind == *kind)),
            "{report:#?}"
        );
        sound(&memory).await;
        for memory in [memory, open(&path).await] {
            let after = (keys(&path, &memory).await, found(&memory, &alice()).await, found(&memory, &bob()).await);
            assert!(after == before, "{damage}: {:?}", differing(&before.0, &after.0));
        }
    }
}

/// A block, whose meaning is not to be known, and a fact whose turn is gone.
#[tokio::test]
async fn what_cannot_be_told_of_a_key_is_not_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let memory = open(&path).await;
    memory.blocks(&alice()).set(ingrain::Block::new("user", "A nurse. ".repeat(200))).await.unwrap();
    let before = keys(&path, &memory).await;
    run(&path, "DELETE FROM keys WHERE memory = (SELECT row FROM memories WHERE kind = 'block')");
    assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), [ProblemKind::Keys]);
    assert!(memory.verify(Verify::new().rebuild(true)).await.unwrap().is_sound());
    assert_eq!(keys(&path, &memory).await, before);
    // The fact, and the key that it lent, are both gone: the turn is found by what it says itself.
    let facts = "SELECT row FROM memories WHERE kind <> 'episode' AND text LIKE '%Bruno%'";
    run(
        &path,
        &format!(
            "DELETE FROM keys WHERE number > 0 AND text LIKE '%Bruno%'; DELETE FROM keys WHERE memory IN ({facts});
             DELETE FROM memories WHERE row IN ({facts})"
        ),
    );
    assert!(memory.verify(Verify::new().rebuild(true)).await.unwrap().is_sound());
    sound(&memory).await;
}

/// What is changed while its keys are made anew is left to whoever changed it.
#[tokio::test]
async fn keys_of_many_are_made_anew_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path()).await;
    let memory = open(&path).await;
    let notes = (0..700).map(|number| format!("Note {number} of many"));
    let scope = Scope::user("carol");
    let notes = memory.add_raw(&scope, notes).await.unwrap();
    memory.add(&scope, Message::user("And a turn.")).await.unwrap();
    let before = memory.list(&scope, ingrain::ListRequest::new().limit(1_000)).await.unwrap().items;
    run(&path, "DELETE FROM keys WHERE memory IN (SELECT row FROM memories WHERE user = 'carol' AND row % 2 = 0)");
    let report = memory.verify(Verify::new()).await.unwrap();
    let lost = report.problem(ProblemKind::Keys).unwrap();
    assert!(lost.count >= 350 && lost.examples.len() == 20, "{lost}");
    assert!(lost.examples.iter().all(|place| matches!(place, ProblemPlace::Memory(_))), "{lost}");
    let report = memory.verify(Verify::new().rebuild(true)).await.unwrap();
    assert!(report.is_sound(), "{report:#?}");
    assert_eq!(memory.list(&scope, ingrain::ListRequest::new().limit(1_000)).await.unwrap().items, before);
    for note in [&notes[0], &notes[1], &notes[699]] {
        assert_eq!(memory.search(&scope, note.text.as_str()).await.unwrap()[0].memory.id, note.id);
    }
    sound(&memory).await;
}
