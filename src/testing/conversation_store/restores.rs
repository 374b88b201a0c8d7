use std::sync::Arc;

use super::{alice, all, append, at, covering, holds, refused, said, summarize, summary};
use crate::{ConversationStore, ErrorKind, Message, RunningSummary, Scope};

/// What is restored is there as it was, and goes on from there.
pub async fn a_conversation_is_restored_as_it_was(store: Arc<dyn ConversationStore>) {
    let messages = [said(&["five", "six"]), vec![Message::user("seven").at(at(7)).from_speaker("Ann")]].concat();
    store.restore(&alice(), 5, &messages, Some(&covering(6))).await.expect("restoring");
    holds(&store, &alice(), &[(5, "five"), (6, "six"), (7, "seven")]).await;
    assert_eq!(all(&store, &alice()).await[2].message, messages[2]);
    assert_eq!(summary(&store, &alice()).await, Some(covering(6)));
    assert_eq!(append(&store, &alice(), &["eight"]).await, 8);
    summarize(&store, &alice(), 6, 8).await;
    // A summary of which no message is left, and messages without a summary.
    let (bare, plain) = (Scope::user("bare"), Scope::user("plain"));
    store.restore(&bare, 9, &[], Some(&covering(9))).await.expect("restoring");
    assert_eq!(append(&store, &bare, &["nine"]).await, 9);
    store.restore(&plain, 0, &said(&["zero"]), None).await.expect("restoring");
    assert_eq!(append(&store, &plain, &["one"]).await, 1);
}

/// A conversation that is there is not restored over, and one that was erased comes back; what never was one is refused.
pub async fn what_was_begun_is_not_restored_over(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b"]).await;
    let erased = Scope::user("erased");
    append(&store, &erased, &["a"]).await;
    store.erase(&erased).await.expect("erasing");
    refused(store.restore(&alice(), 0, &said(&["x"]), None).await, ErrorKind::Conflict);
    holds(&store, &alice(), &[(0, "a"), (1, "b")]).await;
    for _ in 0..2 {
        store.restore(&erased, 0, &said(&["a"]), None).await.expect("restoring what was erased");
        holds(&store, &erased, &[(0, "a")]).await;
        refused(store.restore(&erased, 0, &said(&["a"]), None).await, ErrorKind::Conflict);
        assert_eq!(append(&store, &erased, &["b"]).await, 1);
        store.erase(&erased).await.expect("erasing");
    }
    // One of which nothing is left but a summary is there.
    let summed = Scope::user("summed");
    append(&store, &summed, &["a", "b"]).await;
    summarize(&store, &summed, 0, 2).await;
    store.drop_before(&summed, 2).await.expect("dropping");
    refused(store.restore(&summed, 0, &said(&["x"]), None).await, ErrorKind::Conflict);
    let new = Scope::user("new");
    let beyond = RunningSummary::new("told too much", 4, at(0));
    for (first, messages, summary) in [
        (0, vec![], None),
        (2, said(&["x"]), Some(&beyond)),
        (0, said(&["x"]), Some(&RunningSummary::new("told nothing", 0, at(0)))),
        (u64::MAX, said(&["x"]), None),
        (i64::MAX as u64, said(&["x"]), None),
    ] {
        refused(store.restore(&new, first, &messages, summary).await, ErrorKind::InvalidArgument);
    }
    refused(store.restore(&Scope::user(" "), 0, &said(&["x"]), None).await, ErrorKind::InvalidArgument);
    assert_eq!(append(&store, &new, &["a"]).await, 0);
}

/// The conversations that a scope covers are told in order, and those of which nothing is left are not.
pub async fn conversations_are_told_by_name(store: Arc<dyn ConversationStore>) {
    let sessions = ["b", "a", "c", "d"].map(|session| alice().with_session(session));
    for name in sessions.iter().chain([&alice(), &Scope::user("bob")]) {
        append(&store, name, &["x"]).await;
    }
    store.drop_before(&sessions[2], 1).await.expect("dropping");
    summarize(&store, &sessions[3], 0, 1).await;
    store.drop_before(&sessions[3], 1).await.expect("dropping");
    let mut expected = vec![alice(), sessions[0].clone(), sessions[1].clone(), sessions[3].clone()];
    expected.sort();
    assert_eq!(store.conversations(&alice()).await.expect("listing"), expected);
    assert_eq!(store.conversations(&sessions[0]).await.expect("listing"), [sessions[0].clone()]);
    store.erase(&sessions[0]).await.expect("erasing");
    assert_eq!(store.conversations(&sessions[0]).await.expect("listing"), []);
    assert_eq!(store.conversations(&Scope::user("nobody")).await.expect("listing"), []);
    refused(store.conversations(&Scope::user(" ")).await, ErrorKind::InvalidArgument);
}
