//! Queued adds that cannot be read: told by name, and none keeps the others waiting.

use ingrain::{
    BackgroundOptions, ErrorKind, MemoryEngine, ProblemKind, ProblemPlace, QueuedState, SqliteStore, Verify,
    testing::GivenVectors,
};

use super::{
    alice, bob,
    damage::{kinds, run},
};

async fn engine(path: &std::path::Path, workers: usize) -> MemoryEngine {
    let store = SqliteStore::open(path).await.unwrap();
    let background = BackgroundOptions::new().workers(workers);
    MemoryEngine::builder().store(store).embedder(GivenVectors::new(64)).background(background).build().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_add_that_cannot_be_read_is_told_and_blocks_nobody() {
    // Each with whether what was said can be carried out after all, when somebody says that it is to be tried again.
    let damages = [
        ("request = '{'", false),
        ("request = x'00'", false),
        ("request = '{\"messages\": 7}'", false),
        ("state = 'running'", true),
        ("state = 'running', leased_until = 'soon'", true),
        ("due_at = 'soon'", true),
        ("due_at = 9223372036854775807", true),
        ("queued_at = -9223372036854775808", true),
        ("memory = x'01'", true),
        ("attempts = -7", true),
        ("attempts = 4294967295", true),
        ("failures = 'x'", true),
        ("failure = '{'", true),
    ];
    for (damage, may_go_on) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let memory = engine(&path, 0).await;
        let first = memory.add_later(&alice(), "I like tea.").await.unwrap();
        memory.add_later(&alice(), "I like swimming.").await.unwrap();
        memory.add_later(&bob(), "I like boats.").await.unwrap();
        let report = memory.verify(Verify::new()).await.unwrap();
        assert!(report.is_sound() && report.checked.queued_adds == 3);
        run(&path, &format!("UPDATE queue SET {damage} WHERE sequence = 1"));
        let is_told = damage != "attempts = 4294967295";
        for rebuild in [false, true] {
            let report = memory.verify(Verify::new().rebuild(rebuild)).await.unwrap();
            assert_eq!(report.is_sound(), !is_told, "{damage}: {report:#?}");
            if is_told {
                assert_eq!(kinds(&report), [ProblemKind::Unreadable], "{damage}: {report:#?}");
                assert_eq!(report.problems[0].examples, [ProblemPlace::QueuedAdd(first.id)], "{damage}");
            }
        }
        drop(memory);
        let memory = engine(&path, 2).await;
        let report = memory.flush().await.unwrap();
        assert_eq!(report.done, 2, "{damage}: {report:#?}");
        let failed: Vec<_> = report.failed.iter().map(|add| (add.id, add.state)).collect();
        assert_eq!(failed, [(first.id, QueuedState::Failed)], "{damage}");
        let failure = report.failed[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, ErrorKind::StoreCorrupt, "{damage}: {failure:?}");
        for (scope, text) in [(alice(), "swimming"), (bob(), "boats")] {
            assert!(!memory.search(&scope, text).await.unwrap().is_empty(), "{damage}");
        }
        assert_eq!(memory.queued_adds(&alice()).await.unwrap(), report.failed, "{damage}");
        assert_eq!(memory.verify(Verify::new()).await.unwrap().is_sound(), may_go_on, "{damage}");
        memory.retry_add(&alice(), first.id).await.unwrap();
        let report = memory.flush().await.unwrap();
        assert_eq!(
            (report.done, report.failed.len()),
            if may_go_on { (1, 0) } else { (0, 1) },
            "{damage}: {report:#?}"
        );
        if !may_go_on {
            memory.discard_add(&alice(), first.id).await.unwrap();
        }
        assert!(memory.verify(Verify::new()).await.unwrap().is_sound(), "{damage}");
    }
}

/// Which state it was in is lost, and nothing of what was said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_add_in_no_state_is_told_and_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let memory = engine(&path, 0).await;
    memory.add_later(&alice(), "I like tea.").await.unwrap();
    run(&path, "UPDATE queue SET state = 'lost'");
    assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), [ProblemKind::Unreadable]);
    drop(memory);
    let memory = engine(&path, 2).await;
    let report = memory.flush().await.unwrap();
    assert_eq!((report.done, report.failed.len()), (1, 0));
    assert!(memory.verify(Verify::new()).await.unwrap().is_sound());
}

/// Whose it was, or which it is, is lost: it is nobody's to see, and still in nobody's way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_add_of_nobody_blocks_nobody() {
    for damage in ["user = x'FF'", "user = CAST(x'FF' AS TEXT)", "id = x'01'", "user = ''", "id = x'01', user = 7.5"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let memory = engine(&path, 0).await;
        memory.add_later(&alice(), "I like tea.").await.unwrap();
        memory.add_later(&bob(), "I like boats.").await.unwrap();
        run(&path, &format!("UPDATE queue SET {damage} WHERE sequence = 1"));
        assert_eq!(kinds(&memory.verify(Verify::new()).await.unwrap()), [ProblemKind::Unreadable], "{damage}");
        drop(memory);
        let memory = engine(&path, 2).await;
        let report = memory.flush().await.unwrap();
        assert_eq!((report.done, report.failed.len()), (1, 1), "{damage}: {report:#?}");
        assert!(!memory.search(&bob(), "boats").await.unwrap().is_empty(), "{damage}");
        assert!(memory.search(&alice(), "tea").await.unwrap().is_empty(), "{damage}");
    }
}
