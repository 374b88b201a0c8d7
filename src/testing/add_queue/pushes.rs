use std::sync::Arc;

use super::{at, at_second, claim, failure, give_up_next, push};
use crate::{AddQueue, CallId, ErrorKind, MemoryId, QueuedAdd, QueuedState, Scope};

/// Whatever an add says comes back: every field, the request byte for byte, times to the microsecond.
pub async fn every_field_comes_back(queue: Arc<dyn AddQueue>) {
    let scope = Scope::user("ü'\"; --").with_agent("а").with_session("%_");
    let mut add = QueuedAdd::new(CallId::new(at(0)), scope.clone(), "{\"text\": \"a\u{0}b\\n\u{1f469}\"}", at(0));
    add.queued_at = at(1) + chrono::Duration::microseconds(1);
    add.state = QueuedState::Running;
    add.due_at = at(2);
    add.leased_until = Some(at(3));
    add.memory = Some(MemoryId::new(at(4)));
    (add.attempts, add.failures, add.interruptions) = (7, 5, 2);
    add.failure = Some(failure());
    let plain = QueuedAdd::new(CallId::new(at(0)), scope.clone(), "", at(0));
    for add in [&add, &plain] {
        queue.push(add, 10).await.expect("a push");
    }
    assert_eq!(queue.list(&scope).await.expect("a list"), [add, plain]);
}

/// An id is queued once.
pub async fn an_id_is_queued_once(queue: Arc<dyn AddQueue>) {
    let scope = Scope::user("alice");
    let add = push(&queue, &scope, "one").await;
    let again = QueuedAdd { request: "two".to_owned(), ..add.clone() };
    let error = queue.push(&again, 10).await.expect_err("the id is there");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(queue.list(&scope).await.expect("a list"), [add]);
}

/// A full queue refuses, says so, and stays as it was; whatever is in it counts, and what leaves it makes room.
pub async fn a_full_queue_refuses(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    for scope in [&alice, &bob, &alice] {
        push(&queue, scope, "x").await;
    }
    give_up_next(&queue).await;
    let running = claim(&queue, at_second(0)).await;
    let more = QueuedAdd::new(CallId::new(at(0)), Scope::user("carol"), "x", at(0));
    let error = queue.push(&more, 3).await.expect_err("three are there");
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::QueueFull, true), "{error}");
    assert!(error.to_string().contains('1'), "it says how many have failed: {error}");
    assert!(error.backend().is_some());
    assert_eq!(queue.list(&more.scope).await.expect("a list"), []);
    assert!(queue.finish(running.id).await.expect("an end"));
    queue.push(&more, 3).await.expect("there is room");
}

/// Of pushers at once no more get in than there is room for.
pub async fn of_pushers_at_once_none_is_too_many(queue: Arc<dyn AddQueue>) {
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let queue = queue.clone();
            let add = QueuedAdd::new(CallId::new(at(0)), Scope::user(format!("u{number}")), "x", at(0));
            tokio::spawn(async move { queue.push(&add, 5).await })
        })
        .collect();
    let mut queued = 0;
    for task in tasks {
        match task.await.expect("a pusher") {
            Ok(()) => queued += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::QueueFull, "{error}"),
        }
    }
    assert_eq!((queued, queue.unfinished_of_everyone().await.expect("a count")), (5, 5));
}
