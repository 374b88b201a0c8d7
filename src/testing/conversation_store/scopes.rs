use std::sync::Arc;

use super::{alice, append, covering, holds, refused, said, summarize, summary};
use crate::{ConversationStore, ErrorKind, Scope};

/// Every set of parts, with each part of two that are easily taken for one another.
fn names() -> Vec<Scope> {
    let parts = [None, Some("ann"), Some("Ann")].map(|part| part.map(str::to_owned));
    let mut names = Vec::new();
    for user in &parts {
        for agent in &parts {
            for session in &parts {
                names.push(Scope::from_parts(user.clone(), agent.clone(), session.clone()));
            }
        }
    }
    names.retain(|name| name.validate().is_ok());
    names
}

/// Each scope names a conversation of its own, with its own numbers and its own summary: a user's is not that of the
/// user's session, nor an agent's that of a user of the same name.
pub async fn scopes_are_compared_whole(store: Arc<dyn ConversationStore>) {
    let names = names();
    for (place, name) in names.iter().enumerate() {
        let texts: Vec<String> = (0..=place).map(|number| format!("{place}: {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(append(&store, name, &texts).await, 0, "{name:?}");
    }
    for (covers, name) in (1..).zip(&names) {
        assert_eq!(summary(&store, name).await, None, "{name:?}");
        summarize(&store, name, 0, covers).await;
        assert_eq!(store.drop_before(name, covers - 1).await.expect("dropping"), covers - 1, "{name:?}");
    }
    for (covers, name) in (1..).zip(&names) {
        let last = covers - 1;
        holds(&store, name, &[(last, &format!("{last}: {last}"))]).await;
        assert_eq!(summary(&store, name).await, Some(covering(covers)), "{name:?}");
    }
}

/// Erasing takes a reader's scope: with the user's conversation those of the user's sessions go, and their summaries, and
/// nobody else's.
pub async fn a_scope_erases_what_it_covers(store: Arc<dyn ConversationStore>) {
    let names = names();
    let readers = [
        Scope::user("nobody"),
        Scope::user("ann").with_agent("ann").with_session("ann"),
        Scope::session("ann").with_user("Ann"),
        Scope::agent("Ann"),
        Scope::session("Ann"),
        Scope::user("ann"),
    ];
    let mut there: Vec<&Scope> = names.iter().collect();
    for name in &names {
        append(&store, name, &["a", "b", "c"]).await;
        summarize(&store, name, 0, 2).await;
        store.drop_before(name, 1).await.expect("dropping");
    }
    for reader in readers {
        let before = there.len();
        there.retain(|name| !reader.covers(name));
        let gone = (before - there.len()) as u64;
        assert_eq!(store.erase(&reader).await.expect("erasing"), gone * 2, "{reader:?}");
        assert_eq!(store.erase(&reader).await.expect("erasing"), 0, "{reader:?}, once more");
        for name in &names {
            let left = there.contains(&name);
            holds(&store, name, if left { &[(1, "b"), (2, "c")] } else { &[] }).await;
            assert_eq!(summary(&store, name).await, left.then(|| covering(2)), "{name:?} after {reader:?}");
        }
    }
    assert!(!there.is_empty() && there.len() < names.len());
}

/// After erasing, numbers go on where they were, and nothing else does.
pub async fn an_erased_conversation_goes_on_without_a_past(store: Arc<dyn ConversationStore>) {
    append(&store, &alice(), &["a", "b", "c"]).await;
    summarize(&store, &alice(), 0, 2).await;
    store.drop_before(&alice(), 1).await.expect("dropping");
    assert_eq!(store.erase(&alice()).await.expect("erasing"), 2);
    assert_eq!(append(&store, &alice(), &["d", "e"]).await, 3);
    holds(&store, &alice(), &[(3, "d"), (4, "e")]).await;
    assert_eq!(summary(&store, &alice()).await, None);
    summarize(&store, &alice(), 0, 4).await;
    assert_eq!(store.erase(&alice()).await.expect("erasing"), 2);
    assert_eq!(store.erase(&alice()).await.expect("erasing"), 0, "what is erased is not counted again");
    assert_eq!(append(&store, &alice(), &["f"]).await, 5);
}

/// The names of everyone's conversations come in order, in pages of any size: of those that have a message or a summary.
pub async fn everyones_names_come_in_order(store: Arc<dyn ConversationStore>) {
    let mut names = names();
    for name in names.iter().rev() {
        append(&store, name, &["a", "b"]).await;
    }
    names.sort();
    let (emptied, summarized) = (names.remove(3), names[5].clone());
    summarize(&store, &summarized, 0, 1).await;
    for name in [&emptied, &summarized] {
        store.drop_before(name, 2).await.expect("dropping");
    }
    for limit in [1, 3, 1_000] {
        let mut walked: Vec<Scope> = Vec::new();
        loop {
            let page = store.conversations_of_everyone(walked.last(), limit).await.expect("names of everyone");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            walked.extend(page);
        }
        assert_eq!(walked, names, "in pages of {limit}");
    }
    assert_eq!(store.conversations_of_everyone(None, 0).await.expect("no names"), []);
    store.erase(&Scope::user("ann")).await.expect("erasing");
    names.retain(|name| name.user_id() != Some("ann"));
    assert_eq!(store.conversations_of_everyone(None, 1_000).await.expect("names of everyone"), names);
    let after = Scope::user("Anna");
    names.retain(|name| *name > after);
    assert_eq!(store.conversations_of_everyone(Some(&after), 1_000).await.expect("names of everyone"), names);
}

/// A bad scope is refused by every call.
pub async fn bad_scopes_are_refused(store: Arc<dyn ConversationStore>) {
    for bad in [
        Scope::from_parts(None, None, None),
        Scope::user(" "),
        Scope::user("a\0b"),
        Scope::user("ok").with_session(""),
        Scope::agent("x".repeat(2_000)),
    ] {
        let refusals = [
            store.append(&bad, &said(&["a"])).await.map(drop),
            store.messages(&bad, 0, 0).await.map(drop),
            store.summary(&bad).await.map(drop),
            store.replace_summary(&bad, 0, &covering(1)).await,
            store.conversations_of_everyone(Some(&bad), 1).await.map(drop),
            store.drop_before(&bad, 0).await.map(drop),
            store.erase(&bad).await.map(drop),
        ];
        for result in refusals {
            refused(result, ErrorKind::InvalidArgument);
        }
    }
}
