use std::sync::Arc;

use super::{LEASE, at, at_second, claim, failure, give_up_next, not_before, nothing, push};
use crate::{AddFailure, AddQueue, ErrorKind, QueuedState, Scope};

/// A finished add is gone, and finishing it again says so.
pub async fn a_finished_one_is_gone(queue: Arc<dyn AddQueue>) {
    let add = push(&queue, &Scope::user("alice"), "1").await;
    claim(&queue, at_second(0)).await;
    assert!(queue.finish(add.id).await.expect("an end"));
    assert!(!queue.finish(add.id).await.expect("an end"));
    assert_eq!(queue.list(&add.scope).await.expect("a list"), []);
    nothing(&queue, at_second(LEASE * 2)).await;
    assert_eq!(queue.unfinished_of_everyone().await.expect("a count"), 0);
}

/// What is to be tried again waits until then, tells its failure, and holds up its lane and no other.
pub async fn what_is_tried_again_waits_and_holds_up_its_lane(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    push(&queue, &alice, "1").await;
    push(&queue, &alice, "2").await;
    let add = claim(&queue, at_second(0)).await;
    assert!(queue.fail(add.id, add.attempts, &failure(), Some(at(60))).await.expect("a failure"));
    let waiting = queue.list(&alice).await.expect("a list").remove(0);
    assert_eq!((waiting.state, waiting.due_at, waiting.leased_until), (QueuedState::Waiting, at(60), None));
    assert_eq!((waiting.attempts, waiting.failures, waiting.failure), (1, 1, Some(failure())));
    not_before(&queue, at_second(59), 60).await;
    let bobs = push(&queue, &bob, "3").await;
    assert_eq!(claim(&queue, at_second(50)).await.id, bobs.id);
    not_before(&queue, at_second(50), 60).await;
    let again = claim(&queue, at_second(60)).await;
    assert_eq!((again.id, again.attempts, again.interruptions), (add.id, 2, 0));
}

/// What was given up lies there with its reason, and holds nobody up.
pub async fn a_failed_one_holds_nobody_up(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    push(&queue, &alice, "poison").await;
    let next = push(&queue, &alice, "2").await;
    let failed = give_up_next(&queue).await;
    let there = queue.failed_of_everyone().await.expect("a list").remove(0);
    assert_eq!((there.id, there.state, there.leased_until), (failed.id, QueuedState::Failed, None));
    assert_eq!((there.failures, there.failure), (1, Some(failure())));
    assert_eq!(queue.unfinished_of_everyone().await.expect("a count"), 1);
    assert_eq!(claim(&queue, at_second(0)).await.id, next.id);
    assert!(queue.finish(next.id).await.expect("an end"));
    nothing(&queue, at_second(LEASE * 2)).await;
}

/// Only whoever claimed an add last may say that it failed, and only while it runs.
pub async fn a_failure_is_noted_by_its_claimer_alone(queue: Arc<dyn AddQueue>) {
    let add = push(&queue, &Scope::user("alice"), "1").await;
    assert!(!queue.fail(add.id, 0, &failure(), None).await.expect("a failure"), "nobody has claimed it");
    let claimed = claim(&queue, at_second(0)).await;
    for attempt in [0, 2] {
        assert!(!queue.fail(add.id, attempt, &failure(), None).await.expect("a failure"));
    }
    assert_eq!(queue.list(&add.scope).await.expect("a list"), [claimed]);
}

/// Noting the same failure twice is noting it once; another one is refused.
pub async fn a_failure_may_be_noted_twice(queue: Arc<dyn AddQueue>) {
    let scope = Scope::user("alice");
    push(&queue, &scope, "1").await;
    let failed = give_up_next(&queue).await;
    let before = queue.list(&scope).await.expect("a list");
    assert!(queue.fail(failed.id, failed.attempts, &failure(), None).await.expect("a failure"));
    let other = AddFailure::from_parts(ErrorKind::Internal, "another", at(6));
    assert!(!queue.fail(failed.id, failed.attempts, &other, None).await.expect("a failure"));
    assert_eq!(queue.list(&scope).await.expect("a list"), before);
}

/// What is retried waits in its old place, with its failures forgotten and its attempts not; only what failed can be.
pub async fn a_retried_one_keeps_its_place(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    push(&queue, &alice, "1").await;
    let second = push(&queue, &alice, "2").await;
    let first = give_up_next(&queue).await;
    assert!(!queue.retry(&alice, second.id, at(9)).await.expect("a retry"), "it has not failed");
    assert!(queue.retry(&alice, first.id, at(9)).await.expect("a retry"));
    assert!(!queue.retry(&alice, first.id, at(9)).await.expect("a retry"), "it waits already");
    let there = queue.list(&alice).await.expect("a list").remove(0);
    assert_eq!((there.id, there.state, there.due_at), (first.id, QueuedState::Waiting, at(9)));
    assert_eq!((there.attempts, there.failures, there.interruptions), (1, 0, 0));
    assert_eq!(there.failure, Some(failure()), "why it was retried is still to be seen");
    not_before(&queue, at_second(8), 9).await;
    let again = claim(&queue, at_second(9)).await;
    assert_eq!((again.id, again.attempts), (first.id, 2));
}
