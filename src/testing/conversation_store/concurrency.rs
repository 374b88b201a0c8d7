use std::{
    collections::{BTreeMap, HashSet},
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::Poll,
};

use super::{alice, all, append, covering, said, summarize, summary, texts};
use crate::{ConversationStore, ErrorKind, Scope};

/// Writers at once get numbers of their own, without gaps; what one call appends stays together, and each writer's calls
/// come in its order.
pub async fn writers_at_once_get_numbers_of_their_own(store: Arc<dyn ConversationStore>) {
    let tasks: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut firsts = Vec::new();
                for step in 0..12 {
                    let texts = ["x", "y", "z"].map(|part| format!("{writer} {step} {part}"));
                    firsts.push(append(&store, &alice(), &texts.each_ref().map(String::as_str)).await);
                    let seen = store.messages(&alice(), firsts[step], 1).await.expect("reading");
                    assert_eq!(seen[0].message.text, texts[0], "a write is seen by its writer");
                }
                firsts
            })
        })
        .collect();
    let mut firsts = HashSet::new();
    let mut expected = BTreeMap::new();
    for (writer, task) in tasks.into_iter().enumerate() {
        let of_one = task.await.expect("a writer");
        assert!(of_one.is_sorted(), "{of_one:?}");
        for (step, first) in of_one.into_iter().enumerate() {
            assert!(firsts.insert(first), "{first} was given twice");
            for (number, part) in (first..).zip(["x", "y", "z"]) {
                expected.insert(number, format!("{writer} {step} {part}"));
            }
        }
    }
    let texts = texts(&store, &alice()).await;
    assert!(texts.iter().map(|(number, _)| *number).eq(0..8 * 12 * 3));
    assert_eq!(texts, expected.into_iter().collect::<Vec<_>>());
}

/// A reader beside a writer sees each append whole, from the first number on.
pub async fn readers_see_whole_appends(store: Arc<dyn ConversationStore>) {
    const APPENDS: usize = 60;
    let reader = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut counts = HashSet::new();
            loop {
                let seen = all(&store, &alice()).await;
                assert!(seen.iter().map(|stored| stored.sequence).eq(0..seen.len() as u64), "{seen:?}");
                counts.insert(seen.len() % 3);
                if seen.len() == APPENDS * 3 {
                    return counts;
                }
                tokio::task::yield_now().await;
            }
        })
    };
    for _ in 0..APPENDS {
        append(&store, &alice(), &["x", "y", "z"]).await;
    }
    assert_eq!(reader.await.expect("a reader"), HashSet::from([0]), "messages seen of an append of three");
}

/// Dropping what is old beside writers loses nothing that was to stay, and counts every message once.
pub async fn drops_beside_appends_lose_nothing_else(store: Arc<dyn ConversationStore>) {
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    append(&store, &alice(), &["x", "y"]).await;
                }
            })
        })
        .collect();
    let mut gone = 0;
    for before in (0..100).step_by(5) {
        gone += store.drop_before(&alice(), before).await.expect("dropping");
        let seen = all(&store, &alice()).await;
        assert!(seen.iter().map(|stored| stored.sequence).is_sorted_by(|a, b| a + 1 == *b), "{seen:?}");
        assert!(seen.first().is_none_or(|first| first.sequence <= before), "{seen:?} after dropping below {before}");
    }
    for writer in writers {
        writer.await.expect("a writer");
    }
    gone += store.drop_before(&alice(), 100).await.expect("dropping");
    assert_eq!(gone, 100);
    assert!(all(&store, &alice()).await.iter().map(|stored| stored.sequence).eq(100..120));
}

/// Of those who summarize the same beginning, one gets through, and the others hear of the conflict.
pub async fn of_summarizers_at_once_one_gets_through(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c", "d", "e", "f"]).await;
    for round in 0..3_u64 {
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.replace_summary(&alice(), round * 2, &covering(round * 2 + 2)).await })
            })
            .collect();
        let mut through = 0;
        for task in tasks {
            match task.await.expect("a summarizer") {
                Ok(()) => through += 1,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
        assert_eq!((through, summary(&store, &alice()).await), (1, Some(covering(round * 2 + 2))));
    }
}

/// Polls so many times, or to the end, and drops the future.
async fn poll_and_drop<T>(polls: usize, work: impl Future<Output = T>) {
    let mut work = pin!(work);
    let mut polled = 0;
    poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(());
        }
        polled += 1;
        work.as_mut().poll(context).map(|_| ())
    })
    .await;
}

/// An append whose future is dropped, wherever it stood, happens whole or not at all, and the next one follows it.
pub async fn a_dropped_append_is_whole_or_nothing(store: Arc<dyn ConversationStore>) {
    for polls in 0..10 {
        let name = Scope::user(format!("dropped after {polls}"));
        append(&store, &name, &["before"]).await;
        poll_and_drop(polls, store.append(&name, &said(&["x", "y", "z"]))).await;
        // It may still be under way, and then comes before this one or after it.
        let after = append(&store, &name, &["after"]).await;
        assert!(after == 1 || after == 4, "after {polls} polls: {after}");
        for _ in 0..10 {
            let texts = texts(&store, &name).await;
            let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            let possible =
                [&["before", "after"][..], &["before", "x", "y", "z", "after"], &["before", "after", "x", "y", "z"]];
            assert!(possible.contains(&&texts[..]), "after {polls} polls: {texts:?}");
            assert!(polls > 0 || texts.len() == 2, "a future that was never polled does nothing");
            tokio::task::yield_now().await;
        }
    }
}

/// Erasing that is dropped, wherever it stood, takes every conversation with its summary, or none.
pub async fn a_dropped_erase_is_whole_or_nothing(store: Arc<dyn ConversationStore>) {
    for polls in 0..10 {
        let user = Scope::user(format!("dropped after {polls}"));
        let names = [user.clone(), user.clone().with_session("monday"), user.clone().with_agent("cook")];
        for name in &names {
            append(&store, name, &["a", "b"]).await;
            summarize(&store, name, 0, 1).await;
        }
        poll_and_drop(polls, store.erase(&user)).await;
        // It may still be under way, and happen between two of these reads, from the last conversation to the first.
        let mut found = Vec::new();
        for name in names.iter().rev() {
            let messages = all(&store, name).await.len();
            found.push((messages, summary(&store, name).await.is_some()));
        }
        for (messages, summarized) in &found {
            assert!([(2, true), (0, false), (2, false)].contains(&(*messages, *summarized)), "{polls}: {found:?}");
        }
        assert!(found.is_sorted_by(|earlier, later| earlier >= later), "once erased, all are: {polls}: {found:?}");
        assert!(polls > 0 || found == [(2, true); 3], "a future that was never polled does nothing");
        // A second erasing waits for the first, if that was begun.
        store.erase(&user).await.expect("erasing");
        for name in &names {
            assert_eq!((all(&store, name).await.len(), summary(&store, name).await), (0, None));
        }
    }
}
