//! The contract of [`AddQueue`], one rule a function;
//! [`add_queue_suite!`](crate::add_queue_suite) makes tests of them.
//!
//! Each function takes a fresh, empty queue and panics, saying what it saw, when the queue breaks the rule.

mod claims;
mod ends;
mod pushes;
mod scopes;

use std::{sync::Arc, time::Duration};

use crate::{AddFailure, AddQueue, CallId, Claim, Claimed, ErrorKind, MemoryId, QueuedAdd, Scope, Timestamp};

pub use claims::{
    a_claim_is_given_to_one, a_clock_that_was_ahead_holds_nobody_up, a_lane_waits_for_its_first, a_lease_runs_out,
    a_renewed_lease_lasts, a_retried_one_waits_for_a_later_one_that_runs, of_claimers_at_once_each_gets_another,
    the_first_queued_is_claimed, the_memory_stays_that_of_the_first_claim, what_the_claimer_runs_is_passed_over,
};
pub use ends::{
    a_failed_one_holds_nobody_up, a_failure_is_noted_by_its_claimer_alone, a_failure_may_be_noted_twice,
    a_finished_one_is_gone, a_retried_one_keeps_its_place, what_is_tried_again_waits_and_holds_up_its_lane,
};
pub use pushes::{
    a_full_queue_refuses, an_id_is_queued_once, every_field_comes_back, of_pushers_at_once_none_is_too_many,
};
pub use scopes::{
    a_discarded_one_is_gone, a_scope_erases_its_own, a_scope_lists_its_own, bad_scopes_are_refused,
    scopes_of_everyone_come_in_order, strangers_neither_retry_nor_discard,
};

/// What a factory gives: a fresh queue, or a pair of it and whatever must live as long (a temporary folder, a server).
pub trait FreshQueue {
    /// What is dropped after the queue.
    type Kept: Send;

    /// The two apart.
    fn into_parts(self) -> (Arc<dyn AddQueue>, Self::Kept);
}

impl<Q: AddQueue> FreshQueue for Q {
    type Kept = ();

    fn into_parts(self) -> (Arc<dyn AddQueue>, ()) {
        (Arc::new(self), ())
    }
}

impl<Q: AddQueue, K: Send> FreshQueue for (Q, K) {
    type Kept = K;

    fn into_parts(self) -> (Arc<dyn AddQueue>, K) {
        (Arc::new(self.0), self.1)
    }
}

/// So many seconds after 2025-02-10T08:00:00Z, at which the suite begins.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400 + seconds, 0).expect("an instant of the calendar")
}

/// The lease of the suite's claims, in seconds.
const LEASE: i64 = 30;

/// A claim at so many seconds, by one who runs nothing.
fn at_second(seconds: i64) -> Claim {
    Claim::new(at(seconds), Duration::from_secs(LEASE.unsigned_abs()), MemoryId::new(at(seconds)))
}

async fn push(queue: &Arc<dyn AddQueue>, scope: &Scope, text: &str) -> QueuedAdd {
    let add = QueuedAdd::new(CallId::new(at(0)), scope.clone(), text, at(0));
    queue.push(&add, 1_000).await.expect("a push");
    add
}

/// What is claimed, which must be something.
async fn claim(queue: &Arc<dyn AddQueue>, claim: Claim) -> QueuedAdd {
    match queue.claim(&claim).await.expect("a claim") {
        Claimed::Add(add) => *add,
        other => panic!("something was to be claimed: {other:?}"),
    }
}

async fn nothing(queue: &Arc<dyn AddQueue>, claim: Claim) {
    let claimed = queue.claim(&claim).await.expect("a claim");
    assert_eq!(claimed, Claimed::Nothing);
}

async fn not_before(queue: &Arc<dyn AddQueue>, claim: Claim, seconds: i64) {
    let claimed = queue.claim(&claim).await.expect("a claim");
    assert_eq!(claimed, Claimed::NotBefore(at(seconds)));
}

fn failure() -> AddFailure {
    AddFailure::from_parts(ErrorKind::RateLimited, "openai: slow down — «später» (rate-limited, extract)", at(5))
}

/// Claims what is next and gives it up.
async fn give_up_next(queue: &Arc<dyn AddQueue>) -> QueuedAdd {
    let add = claim(queue, at_second(0)).await;
    assert!(queue.fail(add.id, add.attempts, &failure(), None).await.expect("a failure"));
    add
}

/// Makes a test of each rule of the contract of [`AddQueue`](crate::AddQueue), in a module of the given name.
///
/// The second argument is a future that gives a fresh, empty queue, or a pair of one and what must outlive it; it is
/// evaluated for each test. The tests need tokio with the features `macros` and `rt-multi-thread`.
///
/// ```
/// use ingrain::{InMemoryStore, VectorStore};
/// ingrain::add_queue_suite!(queue_in_memory, async { InMemoryStore::new().companions().queue.unwrap() });
/// ```
#[macro_export]
macro_rules! add_queue_suite {
    ($name:ident, $factory:expr) => {
        $crate::add_queue_suite! { @rules $name, $factory,
            every_field_comes_back
            an_id_is_queued_once
            a_full_queue_refuses
            of_pushers_at_once_none_is_too_many
            the_first_queued_is_claimed
            a_lane_waits_for_its_first
            a_claim_is_given_to_one
            of_claimers_at_once_each_gets_another
            what_the_claimer_runs_is_passed_over
            a_lease_runs_out
            a_clock_that_was_ahead_holds_nobody_up
            a_renewed_lease_lasts
            a_retried_one_waits_for_a_later_one_that_runs
            the_memory_stays_that_of_the_first_claim
            a_finished_one_is_gone
            what_is_tried_again_waits_and_holds_up_its_lane
            a_failed_one_holds_nobody_up
            a_failure_is_noted_by_its_claimer_alone
            a_failure_may_be_noted_twice
            a_retried_one_keeps_its_place
            a_scope_lists_its_own
            scopes_of_everyone_come_in_order
            a_scope_erases_its_own
            a_discarded_one_is_gone
            strangers_neither_retry_nor_discard
            bad_scopes_are_refused
        }
    };
    (@rules $name:ident, $factory:expr, $($rule:ident)+) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $rule() {
                    let fresh = $factory.await;
                    let (queue, _kept) = $crate::testing::add_queue::FreshQueue::into_parts(fresh);
                    $crate::testing::add_queue::$rule(queue).await;
                }
            )+
        }
    };
}
