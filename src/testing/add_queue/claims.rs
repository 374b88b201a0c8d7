use std::{collections::HashSet, sync::Arc};

use super::{LEASE, at, at_second, claim, failure, give_up_next, not_before, nothing, push};
use crate::{AddQueue, Claimed, MemoryId, QueuedState, Scope};

/// What was queued first is claimed first, whoever queued it, and says that it is running, for how long, and how often.
pub async fn the_first_queued_is_claimed(queue: Arc<dyn AddQueue>) {
    nothing(&queue, at_second(0)).await;
    let mut queued = Vec::new();
    for user in ["zoe", "alice", "mia"] {
        queued.push(push(&queue, &Scope::user(user), user).await);
    }
    for add in queued {
        let claimed = claim(&queue, at_second(7)).await;
        assert_eq!((claimed.id, &claimed.request, &claimed.scope), (add.id, &add.request, &add.scope));
        assert_eq!((claimed.state, claimed.leased_until), (QueuedState::Running, Some(at(7 + LEASE))));
        assert_eq!((claimed.attempts, claimed.failures, claimed.interruptions), (1, 0, 0));
        assert!(claimed.memory.is_some());
        assert_eq!(queue.list(&add.scope).await.expect("a list"), [claimed], "what is claimed is what is there");
    }
}

/// Those of one user and agent wait for their first, whatever their sessions; those of others do not.
pub async fn a_lane_waits_for_its_first(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    let first = push(&queue, &alice.clone().with_session("monday"), "1").await;
    push(&queue, &alice.clone().with_session("friday"), "2").await;
    let third = push(&queue, &alice, "3").await;
    let with_agent = push(&queue, &alice.clone().with_agent("cook"), "4").await;
    let other = push(&queue, &Scope::user("Alice"), "5").await;
    let session = push(&queue, &Scope::session("monday"), "6").await;
    for expected in [first.id, with_agent.id, other.id, session.id] {
        assert_eq!(claim(&queue, at_second(0)).await.id, expected);
    }
    not_before(&queue, at_second(1), LEASE).await;
    assert!(queue.finish(first.id).await.expect("an end"));
    assert_eq!(claim(&queue, at_second(1)).await.request, "2");
    not_before(&queue, at_second(2), LEASE).await;
    assert_eq!(third.lane(), alice);
}

/// What is claimed is not given to anybody else while the lease lasts.
pub async fn a_claim_is_given_to_one(queue: Arc<dyn AddQueue>) {
    push(&queue, &Scope::user("alice"), "1").await;
    claim(&queue, at_second(0)).await;
    not_before(&queue, at_second(LEASE - 1), LEASE).await;
}

/// Of claimers at once each gets another add.
pub async fn of_claimers_at_once_each_gets_another(queue: Arc<dyn AddQueue>) {
    for number in 0..10 {
        push(&queue, &Scope::user(format!("u{number}")), "x").await;
    }
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { claim(&queue, at_second(0)).await.id })
        })
        .collect();
    let mut claimed = HashSet::new();
    for task in tasks {
        assert!(claimed.insert(task.await.expect("a claimer")), "nothing is given twice");
    }
    not_before(&queue, at_second(0), LEASE).await;
}

/// What the claimer is running itself is passed over, with what waits behind it: it is neither given, though its lease has
/// run out, nor waited for.
pub async fn what_the_claimer_runs_is_passed_over(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    push(&queue, &alice, "1").await;
    push(&queue, &alice, "2").await;
    let mine = claim(&queue, at_second(0)).await;
    nothing(&queue, at_second(1).beside([mine.id])).await;
    nothing(&queue, at_second(LEASE * 10).beside([mine.id])).await;
    let bobs = push(&queue, &bob, "3").await;
    assert_eq!(claim(&queue, at_second(LEASE * 10).beside([mine.id])).await.id, bobs.id);
    not_before(&queue, at_second(LEASE * 10).beside([mine.id]), LEASE * 11).await;
}

/// When a lease has run out the add is given to the next claimer, counted as interrupted, and the old claim is void.
pub async fn a_lease_runs_out(queue: Arc<dyn AddQueue>) {
    push(&queue, &Scope::user("alice"), "1").await;
    let old = claim(&queue, at_second(0)).await;
    let new = claim(&queue, at_second(LEASE)).await;
    assert_eq!((new.id, new.attempts, new.interruptions, new.failures), (old.id, 2, 1, 0));
    assert!(!queue.renew(old.id, old.attempts, at(1_000)).await.expect("a renewal"));
    assert!(!queue.fail(old.id, old.attempts, &failure(), None).await.expect("a failure"));
    assert_eq!(queue.list(&old.scope).await.expect("a list"), [new]);
    assert!(queue.finish(old.id).await.expect("an end"), "what is written is written, whoever did it");
}

/// A lease that was given by a clock which ran years ahead holds nobody up once it was put right, nor does a wait; the add is
/// counted as interrupted, and the old claim is void.
pub async fn a_clock_that_was_ahead_holds_nobody_up(queue: Arc<dyn AddQueue>) {
    let (alice, bob) = (Scope::user("alice"), Scope::user("bob"));
    let ahead = 9 * 365 * 24 * 3_600;
    push(&queue, &alice, "1").await;
    push(&queue, &alice, "2").await;
    push(&queue, &bob, "3").await;
    let old = claim(&queue, at_second(ahead)).await;
    let failed = claim(&queue, at_second(ahead)).await;
    assert!(queue.fail(failed.id, failed.attempts, &failure(), Some(at(ahead + 60))).await.expect("a failure"));
    let new = claim(&queue, at_second(0)).await;
    assert_eq!((new.id, new.attempts, new.interruptions), (old.id, 2, 1));
    assert_eq!(new.leased_until, Some(at(LEASE)));
    assert!(!queue.renew(old.id, old.attempts, at(ahead)).await.expect("a renewal"));
    let again = claim(&queue, at_second(0)).await;
    assert_eq!((again.id, again.attempts, again.interruptions), (failed.id, 2, 0));
    not_before(&queue, at_second(0), LEASE).await;
    assert!(queue.finish(new.id).await.expect("an end"));
    assert_eq!(claim(&queue, at_second(0)).await.request, "2");
}

/// A lease that is renewed lasts until then.
pub async fn a_renewed_lease_lasts(queue: Arc<dyn AddQueue>) {
    push(&queue, &Scope::user("alice"), "1").await;
    let add = claim(&queue, at_second(0)).await;
    assert!(queue.renew(add.id, add.attempts, at(500)).await.expect("a renewal"));
    not_before(&queue, at_second(LEASE), 500).await;
    assert_eq!(claim(&queue, at_second(500)).await.attempts, 2);
    assert!(!queue.renew(crate::CallId::new(at(0)), 1, at(500)).await.expect("a renewal"), "of what is not there");
}

/// A retried add comes before later ones, but not beside one that has begun.
pub async fn a_retried_one_waits_for_a_later_one_that_runs(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    for text in ["1", "2", "3"] {
        push(&queue, &alice, text).await;
    }
    let first = give_up_next(&queue).await;
    let second = claim(&queue, at_second(1)).await;
    assert!(queue.retry(&alice, first.id, at(2)).await.expect("a retry"));
    not_before(&queue, at_second(2), 1 + LEASE).await;
    nothing(&queue, at_second(2).beside([second.id])).await;
    assert!(queue.finish(second.id).await.expect("an end"));
    assert_eq!(claim(&queue, at_second(3)).await.id, first.id);
    assert!(matches!(queue.claim(&at_second(3)).await, Ok(Claimed::NotBefore(_))));
}

/// The id of the memory is that of the first claim, whatever later ones offer.
pub async fn the_memory_stays_that_of_the_first_claim(queue: Arc<dyn AddQueue>) {
    let alice = Scope::user("alice");
    push(&queue, &alice, "1").await;
    let mut offer = at_second(0);
    offer.memory = MemoryId::from_bytes([7; 16]);
    let first = claim(&queue, offer.clone()).await;
    assert_eq!(first.memory, Some(offer.memory));
    let second = claim(&queue, at_second(LEASE)).await;
    assert!(queue.fail(second.id, second.attempts, &failure(), None).await.expect("a failure"));
    assert!(queue.retry(&alice, first.id, at(LEASE)).await.expect("a retry"));
    for memory in [second.memory, claim(&queue, at_second(LEASE)).await.memory] {
        assert_eq!(memory, Some(offer.memory));
    }
}
