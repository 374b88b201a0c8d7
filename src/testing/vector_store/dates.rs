use std::sync::Arc;

use super::subject::{Subject, X, Y, alice, at, bob, found, query};
use crate::{Filter, MemoryKind, Scope, SearchQuery, TimeRange, VectorStore};

fn seconds(start: i64, end: i64) -> TimeRange {
    TimeRange::new(at(start), at(end)).expect("a range")
}

/// A turn said at a second; no arm asks for others than `cake`.
async fn say(subject: &Subject, scope: &Scope, text: &str, second: i64) {
    let mut memory = subject.memory(scope, text);
    memory.kind = MemoryKind::Episode;
    memory.observed_at = at(second);
    subject.store_one(&memory, if text == "cake" { X } else { Y }).await;
}

/// Both arms look elsewhere, and find nothing but `cake`.
fn elsewhere() -> SearchQuery {
    query(&alice()).near(X.to_vec()).words("cake").limit(1)
}

/// What was said in a named stretch of time is proposed although no arm proposes it, with its similarities; the end of
/// the stretch is not in it.
pub async fn a_named_time_proposes_what_lies_in_it(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for (text, second) in [("before", 9), ("first", 10), ("last", 19), ("after", 20)] {
        say(&subject, &alice(), text, second).await;
    }
    say(&subject, &alice(), "cake", 500).await;
    assert_eq!(found(&subject.search(elsewhere()).await), ["cake"]);
    let dated = subject.search(elsewhere().dated(vec![seconds(10, 20)]).limit(2)).await;
    let mut texts = found(&dated);
    texts.retain(|text| *text == "first" || *text == "last");
    assert_eq!(texts, ["first", "last"]);
    assert!(dated.iter().all(|one| one.cosine.is_some() && one.keyword.is_some()));
    let both = subject.search(elsewhere().dated(vec![seconds(9, 10), seconds(20, 21)]).limit(2)).await;
    assert!(found(&both).contains(&"before") && found(&both).contains(&"after"), "{:?}", found(&both));
}

/// Of more than the limit the most similar are proposed, of equals the newest.
pub async fn a_named_time_proposes_up_to_the_limit(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for text in ["first", "second", "a walk", "fourth", "fifth"] {
        say(&subject, &alice(), text, 10).await;
    }
    for text in ["walk", "walk walk"] {
        say(&subject, &alice(), text, 99).await;
    }
    let of_then = |found: &[super::subject::Found]| -> Vec<String> {
        found.iter().filter(|one| one.memory.observed_at == at(10)).map(|one| one.memory.text.clone()).collect()
    };
    let one = subject.search(query(&alice()).words("walk").dated(vec![seconds(10, 11)]).limit(1)).await;
    assert_eq!(of_then(&one), ["a walk"]);
    let two = subject.search(query(&alice()).words("walk").dated(vec![seconds(10, 11)]).limit(2)).await;
    assert_eq!(of_then(&two), ["a walk", "fifth"]);
}

/// A named time opens no scope, no filter and no validity.
pub async fn a_named_time_lets_nothing_in(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    say(&subject, &alice(), "mine", 10).await;
    say(&subject, &bob(), "his", 10).await;
    let mut ended = subject.memory(&alice(), "ended");
    ended.observed_at = at(10);
    ended.valid_at = at(0);
    ended.invalid_at = Some(at(50));
    subject.store_one(&ended, Y).await;
    let ask = || query(&alice()).words("cake").dated(vec![seconds(10, 11)]).validity(crate::Validity::Current(at(60)));
    assert_eq!(found(&subject.search(ask()).await), ["mine"]);
    let filtered = subject.search(ask().filter(Some(Filter::ne("kind", "episode")))).await;
    assert!(filtered.is_empty());
}

/// With no other arm the newest of all are proposed, and the newest of the named time.
pub async fn a_named_time_without_an_arm_proposes_the_newest(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for (text, second) in [("old", 10), ("less old", 11), ("new", 20), ("newest", 21)] {
        say(&subject, &alice(), text, second).await;
    }
    let both = subject.search(query(&alice()).dated(vec![seconds(10, 12)]).limit(1)).await;
    assert_eq!(found(&both), ["less old", "newest"]);
}

/// What is no turn lies in a stretch if it held within it, whenever it was said.
pub async fn what_holds_lies_in_the_times_it_holds(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for (text, from, until) in [
        ("over", 0, Some(10)),
        ("ends within", 0, Some(11)),
        ("throughout", 0, Some(99)),
        ("open", 19, None),
        ("later", 20, None),
    ] {
        let mut memory = subject.memory(&alice(), text);
        memory.kind = MemoryKind::Fact;
        memory.observed_at = at(500);
        memory.valid_at = at(from);
        memory.invalid_at = until.map(at);
        subject.store_one(&memory, Y).await;
    }
    let ask = query(&alice()).words("cake").validity(crate::Validity::Any).dated(vec![seconds(10, 20)]);
    assert_eq!(found(&subject.search(ask).await), ["ends within", "throughout", "open"]);
}
