use std::sync::Arc;

use super::subject::{Subject, X, alice, at, bob, removal, replacement, rewritten, stamp};
use crate::{IndexKey, MemoryKind, Put, VectorStore, Verify, VerifyReport, WriteBatch};

async fn verified(subject: &Subject, rebuild: bool) -> VerifyReport {
    let report = subject.store.verify(&Verify::new().rebuild(rebuild)).await.expect("verifying");
    assert!(report.is_sound() && report.mended.is_empty() && report.outdated == 0, "{report:#?}");
    report
}

/// Whatever is written, with its events, has no problem; what there is is counted, of all scopes.
pub async fn a_store_in_use_is_sound(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    assert_eq!(verified(&subject, false).await.checked.memories, 0);
    let first = subject.add(&alice(), "one", X).await;
    let changed = rewritten(&first, "changed");
    subject.apply(replacement(&first, &changed, None)).await;
    verified(&subject, false).await;
    let mut turn = subject.memory(&alice().with_session("1"), "a turn");
    turn.kind = MemoryKind::Episode;
    let keys = vec![IndexKey::new("a turn", X.to_vec()), IndexKey::new("told of in other words", X.to_vec())];
    subject.store_all(vec![(turn.clone(), keys)]).await;
    subject.add_many(&bob(), "note", 30, X).await;
    subject.words(&bob(), "note", 10).await;
    subject.store.record_access(&alice(), &[changed.id], at(50)).await.expect("recording an access");
    let checked = verified(&subject, false).await.checked;
    assert_eq!((checked.memories, checked.keys), (32, 33));
    assert_eq!(checked.events, 33);
    let gone = subject.add(&alice(), "gone", X).await;
    subject.apply(removal(&gone)).await;
    // It is given another place in its session.
    turn.ordinal = Some(40);
    turn.revision += 1;
    let puts = vec![Put::change(turn, None, 1)];
    subject.apply(WriteBatch { puts, ..WriteBatch::default() }).await;
    verified(&subject, false).await;
    subject.store.delete_all(&bob(), &stamp(at(100))).await.expect("deleting all");
    verified(&subject, false).await;
    subject.store.purge_all(&alice()).await.expect("purging");
    let checked = verified(&subject, false).await.checked;
    assert_eq!((checked.memories, checked.keys, checked.events), (0, 0, 60));
}

/// A rebuild of what is sound changes nothing that can be read or found.
pub async fn a_rebuild_changes_nothing_that_is_sound(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let notes = subject.add_many(&alice(), "note", 20, X).await;
    subject.add_many(&bob(), "note", 5, X).await;
    let before = subject.words(&alice(), "note 7", 50).await;
    for _ in 0..2 {
        verified(&subject, true).await;
        assert_eq!(subject.all(&alice()).await, notes);
        let after = subject.words(&alice(), "note 7", 50).await;
        assert_eq!(
            after.iter().map(|one| (one.memory.id, one.keyword)).collect::<Vec<_>>(),
            before.iter().map(|one| (one.memory.id, one.keyword)).collect::<Vec<_>>()
        );
    }
    subject.add(&alice(), "after", X).await;
    assert_eq!(subject.words(&alice(), "after", 10).await.len(), 1);
}
