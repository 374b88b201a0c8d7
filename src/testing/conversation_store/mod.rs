//! The contract of [`ConversationStore`], one rule a function;
//! [`conversation_store_suite!`](crate::conversation_store_suite) makes tests of them.
//!
//! Each function takes a fresh, empty store and panics, saying what it saw, when the store breaks the rule.

mod appends;
mod concurrency;
mod drops;
mod fields;
mod random;
mod restores;
mod scopes;
mod summaries;

use std::sync::Arc;

use crate::{ConversationStore, ErrorKind, Message, Result, RunningSummary, Scope, StoredMessage, Timestamp};

pub use appends::{
    a_long_conversation_is_whole, a_reader_begins_and_ends_where_it_says, an_append_follows_the_one_before,
    an_unknown_conversation_is_empty, bad_messages_are_refused_and_nothing_is_written,
};
pub use concurrency::{
    a_dropped_append_is_whole_or_nothing, a_dropped_erase_is_whole_or_nothing, drops_beside_appends_lose_nothing_else,
    of_summarizers_at_once_one_gets_through, readers_see_whole_appends, writers_at_once_get_numbers_of_their_own,
};
pub use drops::{
    dropped_messages_are_gone_and_the_rest_stays, numbers_are_not_used_again_after_dropping,
    what_is_not_there_cannot_be_dropped,
};
pub use fields::{
    every_field_comes_back, hostile_text_comes_back, metadata_comes_back_as_deep_as_it_may_be,
    times_come_back_to_the_microsecond,
};
pub use random::whatever_is_done_is_what_a_plain_model_does;
pub use restores::{
    a_conversation_is_restored_as_it_was, conversations_are_told_by_name, what_was_begun_is_not_restored_over,
};
pub use scopes::{
    a_scope_erases_what_it_covers, an_erased_conversation_goes_on_without_a_past, bad_scopes_are_refused,
    everyones_names_come_in_order, scopes_are_compared_whole,
};
pub use summaries::{
    a_stale_summary_is_a_conflict, a_summary_comes_back, a_summary_covers_more_than_the_one_before,
    a_summary_covers_what_was_said, a_summary_of_what_is_gone_is_a_conflict, a_summary_outlives_what_it_covers,
};

/// What a factory gives: a fresh store, or a pair of it and whatever must live as long (a temporary folder, a server).
pub trait FreshConversations {
    /// What is dropped after the store.
    type Kept: Send;

    /// The two apart.
    fn into_parts(self) -> (Arc<dyn ConversationStore>, Self::Kept);
}

impl<C: ConversationStore> FreshConversations for C {
    type Kept = ();

    fn into_parts(self) -> (Arc<dyn ConversationStore>, ()) {
        (Arc::new(self), ())
    }
}

impl<C: ConversationStore, K: Send> FreshConversations for (C, K) {
    type Kept = K;

    fn into_parts(self) -> (Arc<dyn ConversationStore>, K) {
        (Arc::new(self.0), self.1)
    }
}

fn alice() -> Scope {
    Scope::user("alice")
}

/// So many seconds after 2025-02-10T08:00:00Z, at which the suite begins.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400 + seconds, 0).expect("an instant of the calendar")
}

fn said(texts: &[&str]) -> Vec<Message> {
    texts.iter().map(|text| Message::user(*text)).collect()
}

fn covering(covers_before: u64) -> RunningSummary {
    RunningSummary::new(format!("what came before {covers_before}"), covers_before, at(0))
}

/// Appends bare texts, and returns the number of the first.
async fn append(store: &Arc<dyn ConversationStore>, conversation: &Scope, texts: &[&str]) -> u64 {
    store.append(conversation, &said(texts)).await.expect("an append")
}

async fn summarize(store: &Arc<dyn ConversationStore>, conversation: &Scope, expected: u64, covers: u64) {
    store.replace_summary(conversation, expected, &covering(covers)).await.expect("a summary");
}

async fn all(store: &Arc<dyn ConversationStore>, conversation: &Scope) -> Vec<StoredMessage> {
    store.messages(conversation, 0, usize::MAX).await.expect("reading")
}

/// The numbers and texts of all that is there.
async fn texts(store: &Arc<dyn ConversationStore>, conversation: &Scope) -> Vec<(u64, String)> {
    let all = all(store, conversation).await;
    all.into_iter().map(|stored| (stored.sequence, stored.message.text)).collect()
}

/// The numbers and texts are these.
async fn holds(store: &Arc<dyn ConversationStore>, conversation: &Scope, expected: &[(u64, &str)]) {
    let texts = texts(store, conversation).await;
    let texts: Vec<(u64, &str)> = texts.iter().map(|(sequence, text)| (*sequence, text.as_str())).collect();
    assert_eq!(texts, expected, "{conversation:?}");
}

async fn summary(store: &Arc<dyn ConversationStore>, conversation: &Scope) -> Option<RunningSummary> {
    store.summary(conversation).await.expect("reading")
}

fn refused<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind) {
    let error = result.expect_err("it was to be refused");
    assert_eq!(error.kind(), kind, "{error}");
}

/// Makes a test of each rule of the contract of [`ConversationStore`](crate::ConversationStore), in a module of the given
/// name.
///
/// The second argument is a future that gives a fresh, empty store, or a pair of one and what must outlive it; it is
/// evaluated for each test. The tests need tokio with the features `macros` and `rt-multi-thread`.
///
/// ```
/// use ingrain::{InMemoryStore, VectorStore};
/// ingrain::conversation_store_suite!(conversations_in_memory, async {
///     InMemoryStore::new().companions().conversations.unwrap()
/// });
/// ```
#[macro_export]
macro_rules! conversation_store_suite {
    ($name:ident, $factory:expr) => {
        $crate::conversation_store_suite! { @rules $name, $factory,
            an_append_follows_the_one_before
            a_reader_begins_and_ends_where_it_says
            an_unknown_conversation_is_empty
            bad_messages_are_refused_and_nothing_is_written
            a_long_conversation_is_whole
            every_field_comes_back
            hostile_text_comes_back
            times_come_back_to_the_microsecond
            metadata_comes_back_as_deep_as_it_may_be
            dropped_messages_are_gone_and_the_rest_stays
            numbers_are_not_used_again_after_dropping
            what_is_not_there_cannot_be_dropped
            scopes_are_compared_whole
            everyones_names_come_in_order
            a_scope_erases_what_it_covers
            an_erased_conversation_goes_on_without_a_past
            bad_scopes_are_refused
            a_summary_comes_back
            a_summary_covers_more_than_the_one_before
            a_summary_covers_what_was_said
            a_stale_summary_is_a_conflict
            a_summary_of_what_is_gone_is_a_conflict
            a_summary_outlives_what_it_covers
            writers_at_once_get_numbers_of_their_own
            readers_see_whole_appends
            drops_beside_appends_lose_nothing_else
            of_summarizers_at_once_one_gets_through
            a_dropped_append_is_whole_or_nothing
            a_dropped_erase_is_whole_or_nothing
            a_conversation_is_restored_as_it_was
            what_was_begun_is_not_restored_over
            conversations_are_told_by_name
            whatever_is_done_is_what_a_plain_model_does
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
                    let (store, _kept) = $crate::testing::conversation_store::FreshConversations::into_parts(fresh);
                    $crate::testing::conversation_store::$rule(store).await;
                }
            )+
        }
    };
}
