use std::{collections::BTreeSet, sync::Arc};

use super::subject::{Subject, X, alice, at, found, query, texts};
use crate::{SearchQuery, TimeRange, Timestamp, Validity, VectorStore};

/// Stores memories that differ in their times: text, `valid_at`, `invalid_at`, `expires_at`, in seconds.
async fn with_times(store: Arc<dyn VectorStore>, times: &[(&str, i64, Option<i64>, Option<i64>)]) -> Subject {
    let subject = Subject::bound(store).await;
    for (text, valid, invalid, expires) in times {
        let mut memory = subject.memory(&alice(), &format!("{text} tea"));
        memory.valid_at = at(*valid);
        memory.invalid_at = invalid.map(at);
        memory.expires_at = expires.map(at);
        subject.store_one(&memory, X).await;
    }
    subject
}

/// Every read under the validity sees the memories with these names, and count agrees.
async fn seen(subject: &Subject, validity: Validity, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|name| format!("{name} tea")).collect();
    let set = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(set(texts(&subject.listed(&alice(), None, validity).await)), expected, "list, {validity:?}");
    let count = subject.store.count(&alice(), None, validity).await.expect("counting");
    assert_eq!(count, expected.len() as u64, "count, {validity:?}");
    let plain: SearchQuery = query(&alice()).validity(validity);
    for ask in [plain.clone(), plain.clone().near(X.to_vec()), plain.clone().words("tea")] {
        assert_eq!(set(found(&subject.search(ask).await)), expected, "search, {validity:?}");
    }
}

/// Current is what is neither invalidated nor expired; a memory ends at its end, and is shown before its beginning.
pub async fn current_is_what_has_not_ended(store: Arc<dyn VectorStore>) {
    let times = [
        ("open", 0, None, None),
        ("ended", 0, Some(99), None),
        ("ends now", 0, Some(100), None),
        ("ends next", 0, Some(101), None),
        ("expired", 0, None, Some(99)),
        ("expires now", 0, None, Some(100)),
        ("expires next", 0, None, Some(101)),
        ("planned", 500, None, None),
        ("both ended", 0, Some(50), Some(60)),
    ];
    let subject = with_times(store, &times).await;
    seen(&subject, Validity::Current(at(100)), &["open", "ends next", "expires next", "planned"]).await;
    let end = Validity::Current(at(100) - chrono::Duration::microseconds(1));
    let all_but = ["open", "ends now", "ends next", "expires now", "expires next", "planned"];
    seen(&subject, end, &all_but).await;
}

/// With what held in a stretch of time comes what ended since, if it held for an instant of it; nothing that has expired.
pub async fn what_held_is_seen_beside_what_holds(store: Arc<dyn VectorStore>) {
    let times = [
        ("open", 0, None, None),
        ("planned", 500, None, None),
        ("all through", 0, Some(90), None),
        ("up to", 0, Some(20), None),
        ("into", 0, Some(21), None),
        ("out of", 29, Some(40), None),
        ("after", 30, Some(40), None),
        ("at no instant", 25, Some(25), None),
        ("expired", 0, Some(25), Some(99)),
        ("planned in vain", 500, Some(500), None),
    ];
    let subject = with_times(store, &times).await;
    let range = |from, to| TimeRange::new(at(from), at(to)).expect("a range");
    let held = Validity::CurrentOrHeld(at(100), range(20, 30));
    seen(&subject, held, &["open", "planned", "all through", "into", "out of"]).await;
    let ever = TimeRange::new(Timestamp::MIN_UTC, at(100)).expect("a range");
    let all = ["open", "planned", "all through", "up to", "into", "out of", "after"];
    seen(&subject, Validity::CurrentOrHeld(at(100), ever), &all).await;
    seen(&subject, Validity::CurrentOrHeld(at(100), range(95, 99)), &["open", "planned"]).await;
}

/// At an instant is what held then: from its beginning on, before its end, whether or not it has expired since.
pub async fn at_an_instant_is_what_held_then(store: Arc<dyn VectorStore>) {
    let times = [
        ("before", 0, Some(50), None),
        ("up to", 0, Some(100), None),
        ("over", 0, Some(101), None),
        ("from", 100, None, None),
        ("later", 101, None, None),
        ("expired", 0, None, Some(10)),
    ];
    let subject = with_times(store, &times).await;
    seen(&subject, Validity::At(at(100)), &["over", "from", "expired"]).await;
    seen(&subject, Validity::At(at(99)), &["up to", "over", "expired"]).await;
    seen(&subject, Validity::At(at(0)), &["before", "up to", "over", "expired"]).await;
    seen(&subject, Validity::At(at(-1)), &[]).await;
}

/// Any is everything.
pub async fn any_is_everything(store: Arc<dyn VectorStore>) {
    let times = [
        ("open", 0, None, None),
        ("ended", 0, Some(1), None),
        ("expired", 0, None, Some(1)),
        ("planned", 9, None, None),
    ];
    let subject = with_times(store, &times).await;
    seen(&subject, Validity::Any, &["open", "ended", "expired", "planned"]).await;
}

/// The instants at the ends of the calendar are instants like any other.
pub async fn the_ends_of_the_calendar_are_instants(store: Arc<dyn VectorStore>) {
    let subject = with_times(store, &[("open", 0, None, None), ("ended", 0, Some(1), None)]).await;
    seen(&subject, Validity::Current(Timestamp::MAX_UTC), &["open"]).await;
    seen(&subject, Validity::Current(Timestamp::MIN_UTC), &["open", "ended"]).await;
    seen(&subject, Validity::At(Timestamp::MAX_UTC), &["open"]).await;
    seen(&subject, Validity::At(Timestamp::MIN_UTC), &[]).await;
}

/// What does not hold takes no place among the limit.
pub async fn what_has_ended_takes_no_place(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "tea that holds", [0.6, 0.8, 0.0, 0.0]).await;
    for number in 0..40 {
        let mut memory = subject.memory(&alice(), &format!("tea tea {number}"));
        memory.invalid_at = Some(at(50));
        subject.store_one(&memory, X).await;
    }
    assert_eq!(found(&subject.near(&alice(), X, 1).await), ["tea that holds"]);
    assert_eq!(found(&subject.words(&alice(), "tea", 1).await), ["tea that holds"]);
    assert_eq!(found(&subject.search(query(&alice()).limit(1)).await), ["tea that holds"]);
}

/// An end that is written later, without new keys, ends the memory in every read.
pub async fn an_end_may_be_written_later(store: Arc<dyn VectorStore>) {
    let subject = with_times(store, &[("open", 0, None, None), ("ending", 0, None, None)]).await;
    seen(&subject, Validity::Current(at(100)), &["open", "ending"]).await;
    let before = subject.all(&alice()).await.remove(1);
    let mut after = before.clone();
    after.invalid_at = Some(at(60));
    after.revision += 1;
    subject.apply(super::subject::replacement(&before, &after, None)).await;
    seen(&subject, Validity::Current(at(100)), &["open"]).await;
    seen(&subject, Validity::At(at(50)), &["open", "ending"]).await;
    seen(&subject, Validity::Any, &["open", "ending"]).await;
}
