use std::sync::Arc;

use super::{at, at_second, claim, give_up_next, nothing, push};
use crate::{AddQueue, CallId, ErrorKind, QueuedAdd, Scope};

/// A scope lists what it covers, in the order it was queued, whatever its state.
pub async fn a_scope_lists_its_own(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let monday = alice.clone().with_session("monday");
    for (scope, text) in [(&monday, "1"), (&bob, "2"), (&alice, "3"), (&bob.clone().with_session("monday"), "4")] {
        push(&queue, scope, text).await;
    }
    give_up_next(&queue).await;
    claim(&queue, at_second(0)).await;
    for (scope, texts) in [
        (&alice, &["1", "3"][..]),
        (&monday, &["1"]),
        (&bob, &["2", "4"]),
        (&Scope::session("monday"), &["1", "4"]),
        (&Scope::user("nobody"), &[]),
    ] {
        let listed = queue.list(scope).await.expect("a list");
        assert_eq!(listed.iter().map(|add| add.request.as_str()).collect::<Vec<_>>(), texts, "{scope:?}");
    }
}

/// The scopes that have adds, whatever their state, come in order, each once, in pages of any size.
pub async fn scopes_of_everyone_come_in_order(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let mut scopes =
        vec![bob.clone(), Scope::agent("cook"), alice.clone().with_session("1"), alice, Scope::session("1")];
    for scope in scopes.iter().chain(&scopes[..2]) {
        push(&queue, scope, "x").await;
    }
    give_up_next(&queue).await;
    claim(&queue, at_second(0)).await;
    scopes.sort();
    for limit in [1, 2, 100] {
        let mut walked: Vec<Scope> = Vec::new();
        loop {
            let page = queue.scopes_of_everyone(walked.last(), limit).await.expect("scopes of everyone");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            walked.extend(page);
        }
        assert_eq!(walked, scopes, "in pages of {limit}");
    }
    assert_eq!(queue.scopes_of_everyone(None, 0).await.expect("no scopes"), []);
    queue.erase(&bob).await.expect("erasing");
    assert_eq!(queue.scopes_of_everyone(None, 100).await.expect("scopes of everyone"), scopes[..4]);
}

/// A scope erases what it covers, whatever its state, and nothing else.
pub async fn a_scope_erases_its_own(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    for scope in [&alice, &alice.clone().with_session("s"), &alice.clone().with_agent("cook"), &bob] {
        push(&queue, scope, "x").await;
    }
    give_up_next(&queue).await;
    let running = claim(&queue, at_second(0)).await;
    assert_eq!(queue.erase(&Scope::session("other")).await.expect("erasing"), 0);
    assert_eq!(queue.erase(&alice).await.expect("erasing"), 3);
    assert_eq!(queue.list(&alice).await.expect("a list"), []);
    assert!(
        !queue.renew(running.id, running.attempts, at(500)).await.expect("a renewal"),
        "whoever runs it hears of it"
    );
    assert_eq!(queue.unfinished_of_everyone().await.expect("a count"), 1);
    assert_eq!(claim(&queue, at_second(0)).await.scope, bob);
}

/// A discarded add is gone, whatever its state.
pub async fn a_discarded_one_is_gone(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    push(&queue, &alice, "fails").await;
    push(&queue, &alice, "runs").await;
    let waits = push(&queue, &alice, "waits").await;
    let fails = give_up_next(&queue).await;
    let runs = claim(&queue, at_second(0)).await;
    for id in [fails.id, runs.id, waits.id] {
        assert!(queue.discard(&alice, id).await.expect("discarding"));
        assert!(!queue.discard(&alice, id).await.expect("discarding"));
    }
    assert!(!queue.renew(runs.id, runs.attempts, at(500)).await.expect("a renewal"));
    assert_eq!(queue.list(&alice).await.expect("a list"), []);
    nothing(&queue, at_second(1_000)).await;
}

/// Nobody retries or discards what his scope does not cover.
pub async fn strangers_neither_retry_nor_discard(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    push(&queue, &alice, "1").await;
    let failed = give_up_next(&queue).await;
    for stranger in [Scope::user("bob"), alice.clone().with_session("s"), Scope::agent("alice")] {
        assert!(!queue.retry(&stranger, failed.id, at(0)).await.expect("a retry"));
        assert!(!queue.discard(&stranger, failed.id).await.expect("discarding"));
    }
    assert_eq!(queue.failed_of_everyone().await.expect("a list").len(), 1);
}

/// A bad scope is refused by every call that takes one.
pub async fn bad_scopes_are_refused(queue: Arc<dyn AddQueue>) {
    let id = CallId::new(at(0));
    for bad in [Scope::from_parts(None, None, None), Scope::user(" "), Scope::user("a\0b")] {
        let refused = [
            queue.push(&QueuedAdd::new(id, bad.clone(), "x", at(0)), 10).await,
            queue.list(&bad).await.map(drop),
            queue.scopes_of_everyone(Some(&bad), 1).await.map(drop),
            queue.retry(&bad, id, at(0)).await.map(drop),
            queue.discard(&bad, id).await.map(drop),
            queue.erase(&bad).await.map(drop),
        ];
        for result in refused {
            assert_eq!(result.expect_err("a bad scope").kind(), ErrorKind::InvalidArgument);
        }
    }
}
