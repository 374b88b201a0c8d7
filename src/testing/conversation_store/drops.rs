use std::sync::Arc;

use super::{alice, append, holds, summarize, summary};
use crate::{ConversationStore, Scope};

/// What is dropped is gone, for every reader; the rest keeps its numbers.
pub async fn dropped_messages_are_gone_and_the_rest_stays(store: Arc<dyn ConversationStore>) {
    let monday = alice().with_session("monday");
    for conversation in [&alice(), &monday] {
        append(&store, conversation, &["a", "b", "c", "d"]).await;
    }
    assert_eq!(store.drop_before(&alice(), 2).await.expect("dropping"), 2);
    holds(&store, &alice(), &[(2, "c"), (3, "d")]).await;
    for (from, limit, expected) in [(0, 1, &[2][..]), (1, 9, &[2, 3]), (2, 1, &[2]), (3, 9, &[3]), (4, 9, &[])] {
        let read = store.messages(&alice(), from, limit).await.expect("reading");
        assert_eq!(read.iter().map(|stored| stored.sequence).collect::<Vec<_>>(), expected, "from {from}");
    }
    for (before, gone) in [(0, 0), (1, 0), (2, 0), (3, 1)] {
        assert_eq!(store.drop_before(&alice(), before).await.expect("dropping"), gone, "before {before}");
    }
    holds(&store, &alice(), &[(3, "d")]).await;
    holds(&store, &monday, &[(0, "a"), (1, "b"), (2, "c"), (3, "d")]).await;
}

/// The number after the last one is the next, also when there is no message left.
pub async fn numbers_are_not_used_again_after_dropping(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c"]).await;
    assert_eq!(store.drop_before(&alice(), 3).await.expect("dropping"), 3);
    holds(&store, &alice(), &[]).await;
    assert_eq!(append(&store, &alice(), &["d"]).await, 3);
    assert_eq!(store.drop_before(&alice(), 4).await.expect("dropping"), 1);
    assert_eq!(append(&store, &alice(), &["e", "f"]).await, 4);
    holds(&store, &alice(), &[(4, "e"), (5, "f")]).await;
}

/// A number beyond the last drops all there are: not those to come, and it moves no number. A summary is nothing that
/// dropping asks for.
pub async fn what_is_not_there_cannot_be_dropped(store: Arc<dyn ConversationStore>) {
    let bob = Scope::user("bob");
    append(&store, &bob, &["a", "b", "c"]).await;
    summarize(&store, &bob, 0, 1).await;
    for before in [100, i64::MAX.unsigned_abs() + 1, u64::MAX] {
        let next = append(&store, &alice(), &["a", "b"]).await;
        assert_eq!(store.drop_before(&alice(), before).await.expect("dropping"), 2, "before {before}");
        holds(&store, &alice(), &[]).await;
        assert_eq!(append(&store, &alice(), &["c"]).await, next + 2);
        holds(&store, &alice(), &[(next + 2, "c")]).await;
        assert_eq!(store.drop_before(&alice(), before).await.expect("dropping"), 1);
    }
    assert_eq!(store.drop_before(&bob, u64::MAX).await.expect("dropping"), 3, "also what no summary covers");
    assert!(summary(&store, &bob).await.is_some_and(|summary| summary.covers_before == 1));
}
