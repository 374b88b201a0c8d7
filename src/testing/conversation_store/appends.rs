use std::sync::Arc;

use serde_json::{Value, json};

use super::{alice, all, append, holds, refused, said, summary};
use crate::{ConversationStore, ErrorKind, Message, Scope};

/// Messages come back in the order they were appended, with numbers from 0 and without gaps; an append returns that of
/// its first.
pub async fn an_append_follows_the_one_before(store: Arc<dyn ConversationStore>) {
    assert_eq!(append(&store, &alice(), &["a", "b"]).await, 0);
    assert_eq!(append(&store, &alice(), &["c"]).await, 2);
    assert_eq!(append(&store, &alice(), &["a", "a", "d"]).await, 3);
    holds(&store, &alice(), &[(0, "a"), (1, "b"), (2, "c"), (3, "a"), (4, "a"), (5, "d")]).await;
}

/// A reader gets what is from its number on, and no more than its limit.
pub async fn a_reader_begins_and_ends_where_it_says(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["0", "1", "2", "3", "4"]).await;
    let beyond = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
    for (from, limit, expected) in [
        (0, 0, 0..0),
        (0, 1, 0..1),
        (0, 5, 0..5),
        (0, usize::MAX, 0..5),
        (1, beyond, 1..5),
        (2, 2, 2..4),
        (4, 9, 4..5),
        (5, 9, 0..0),
        (i64::MAX.unsigned_abs(), 9, 0..0),
        (i64::MAX.unsigned_abs() + 1, 9, 0..0),
        (u64::MAX, usize::MAX, 0..0),
    ] {
        let read = store.messages(&alice(), from, limit).await.expect("reading");
        let numbers: Vec<u64> = read.iter().map(|stored| stored.sequence).collect();
        assert_eq!(numbers, expected.collect::<Vec<_>>(), "from {from}, at most {limit}");
        assert!(read.iter().all(|stored| stored.message.text == stored.sequence.to_string()), "from {from}: {read:?}");
    }
}

/// What nobody ever wrote to is empty, and asking for it or dropping from it makes nothing.
pub async fn an_unknown_conversation_is_empty(store: Arc<dyn ConversationStore>) {
    for _ in 0..2 {
        holds(&store, &alice(), &[]).await;
        assert_eq!(summary(&store, &alice()).await, None);
        assert_eq!(store.drop_before(&alice(), 7).await.expect("dropping"), 0);
        assert_eq!(store.erase(&alice()).await.expect("erasing"), 0);
    }
    assert_eq!(append(&store, &alice(), &["a"]).await, 0);
}

/// No message, and metadata too deep in any of several, is refused, and none of them is there.
pub async fn bad_messages_are_refused_and_nothing_is_written(store: Arc<dyn ConversationStore>) {
    let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
    let bad = Message::user("bad").with_metadata(json!({ "deep": deep }).as_object().cloned().unwrap_or_default());
    for there in [&[][..], &[(0, "a")]] {
        refused(store.append(&alice(), &[]).await, ErrorKind::InvalidArgument);
        refused(store.append(&alice(), std::slice::from_ref(&bad)).await, ErrorKind::InvalidArgument);
        let mut messages = said(&["good", "good"]);
        messages.push(bad.clone());
        refused(store.append(&alice(), &messages).await, ErrorKind::InvalidArgument);
        holds(&store, &alice(), there).await;
        if there.is_empty() {
            assert_eq!(append(&store, &alice(), &["a"]).await, 0, "what is refused takes no number");
        }
    }
    assert_eq!(append(&store, &alice(), &["b"]).await, 1);
}

/// A conversation of twenty thousand messages, beside another that grows at the same time, is whole, and read in parts.
pub async fn a_long_conversation_is_whole(store: Arc<dyn ConversationStore>) {
    const LENGTH: u64 = 20_000;
    let other = Scope::user("bob");
    let texts: Vec<String> = (0..LENGTH).map(|number| format!("message {number}")).collect();
    let mut next = 0;
    for part in texts.chunks(1_999) {
        let messages: Vec<Message> = part.iter().map(Message::user).collect();
        assert_eq!(store.append(&alice(), &messages).await.expect("an append"), next);
        next += part.len() as u64;
        append(&store, &other, &["in between"]).await;
    }
    let mut from = 0;
    loop {
        let part = store.messages(&alice(), from, 777).await.expect("reading");
        for (number, stored) in (from..).zip(&part) {
            assert_eq!((stored.sequence, stored.message.text.as_str()), (number, &*format!("message {number}")));
        }
        from += part.len() as u64;
        if part.is_empty() {
            break;
        }
    }
    assert_eq!(from, LENGTH);
    assert_eq!(store.drop_before(&alice(), LENGTH - 3).await.expect("dropping"), LENGTH - 3);
    assert_eq!(all(&store, &alice()).await.len(), 3);
    assert_eq!(all(&store, &other).await.len(), 11);
}
