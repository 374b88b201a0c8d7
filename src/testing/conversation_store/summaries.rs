use std::sync::Arc;

use super::{alice, append, at, covering, holds, refused, summarize, summary};
use crate::{ConversationStore, ErrorKind, RunningSummary};

/// A summary comes back: its text byte for byte, its time to the microsecond. It changes no message.
pub async fn a_summary_comes_back(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c"]).await;
    assert_eq!(summary(&store, &alice()).await, None);
    let long = "длинный\u{0}'\n".repeat(10_000);
    for (covered, text) in (0..).zip(["", "Alice said \"a\"\u{0}; -- и это всё\u{2028}", &long]) {
        let micros = at(5) + chrono::Duration::microseconds(123_456);
        let given = RunningSummary::new(text, covered + 1, micros + chrono::Duration::nanoseconds(789));
        store.replace_summary(&alice(), covered, &given).await.expect("a summary");
        assert_eq!(summary(&store, &alice()).await, Some(RunningSummary { updated_at: micros, ..given }));
    }
    holds(&store, &alice(), &[(0, "a"), (1, "b"), (2, "c")]).await;
}

/// A summary is replaced by one that covers more, and by no other.
pub async fn a_summary_covers_more_than_the_one_before(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c", "d"]).await;
    refused(store.replace_summary(&alice(), 0, &covering(0)).await, ErrorKind::InvalidArgument);
    assert_eq!(summary(&store, &alice()).await, None);
    summarize(&store, &alice(), 0, 2).await;
    for covers in [0, 1, 2] {
        refused(store.replace_summary(&alice(), 2, &covering(covers)).await, ErrorKind::InvalidArgument);
        assert_eq!(summary(&store, &alice()).await, Some(covering(2)));
    }
    summarize(&store, &alice(), 2, 3).await;
    summarize(&store, &alice(), 3, 4).await;
    assert_eq!(summary(&store, &alice()).await, Some(covering(4)));
}

/// A summary covers nothing that was not said: up to the last message, and not beyond.
pub async fn a_summary_covers_what_was_said(store: Arc<dyn ConversationStore>) {
    refused(store.replace_summary(&alice(), 0, &covering(1)).await, ErrorKind::InvalidArgument);
    append(&store, &alice(), &["a", "b"]).await;
    for covers in [3, i64::MAX.unsigned_abs() + 1, u64::MAX] {
        refused(store.replace_summary(&alice(), 0, &covering(covers)).await, ErrorKind::InvalidArgument);
        assert_eq!(summary(&store, &alice()).await, None);
    }
    summarize(&store, &alice(), 0, 2).await;
    refused(store.replace_summary(&alice(), 2, &covering(3)).await, ErrorKind::InvalidArgument);
    append(&store, &alice(), &["c"]).await;
    summarize(&store, &alice(), 2, 3).await;
}

/// Who expects another summary than there is was too slow, or made it up: a conflict, and nothing changes.
pub async fn a_stale_summary_is_a_conflict(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c", "d", "e"]).await;
    refused(store.replace_summary(&alice(), 1, &covering(3)).await, ErrorKind::Conflict);
    assert_eq!(summary(&store, &alice()).await, None);
    summarize(&store, &alice(), 0, 2).await;
    for expected in [0, 1, 3, 4] {
        refused(store.replace_summary(&alice(), expected, &covering(5)).await, ErrorKind::Conflict);
        assert_eq!(summary(&store, &alice()).await, Some(covering(2)), "expected {expected}");
    }
    for expected in [i64::MAX.unsigned_abs(), u64::MAX - 1] {
        refused(store.replace_summary(&alice(), expected, &covering(u64::MAX)).await, ErrorKind::Conflict);
    }
    let error = store.replace_summary(&alice(), 0, &covering(5)).await.expect_err("it is stale");
    assert!(error.backend().is_some(), "{error}");
}

/// A summary that was being made while its messages were dropped or erased does not bring them back.
pub async fn a_summary_of_what_is_gone_is_a_conflict(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c", "d"]).await;
    store.drop_before(&alice(), 2).await.expect("dropping");
    for covers in [1, 2] {
        refused(store.replace_summary(&alice(), 0, &covering(covers)).await, ErrorKind::Conflict);
    }
    summarize(&store, &alice(), 0, 3).await;
    store.erase(&alice()).await.expect("erasing");
    append(&store, &alice(), &["e", "f", "g", "h", "i"]).await;
    refused(store.replace_summary(&alice(), 3, &covering(4)).await, ErrorKind::Conflict);
    refused(store.replace_summary(&alice(), 0, &covering(4)).await, ErrorKind::Conflict);
    assert_eq!(summary(&store, &alice()).await, None);
    summarize(&store, &alice(), 0, 5).await;
}

/// When what it covers is dropped the summary stays, and can be replaced by one that covers more.
pub async fn a_summary_outlives_what_it_covers(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c", "d"]).await;
    summarize(&store, &alice(), 0, 3).await;
    assert_eq!(store.drop_before(&alice(), 3).await.expect("dropping"), 3);
    assert_eq!(summary(&store, &alice()).await, Some(covering(3)));
    holds(&store, &alice(), &[(3, "d")]).await;
    summarize(&store, &alice(), 3, 4).await;
    assert_eq!(store.drop_before(&alice(), 4).await.expect("dropping"), 1);
    assert_eq!(append(&store, &alice(), &["e"]).await, 4);
    summarize(&store, &alice(), 4, 5).await;
    assert_eq!(summary(&store, &alice()).await, Some(covering(5)));
}
