use std::sync::Arc;

use serde_json::{Value, json};

use super::subject::{Subject, X, alice, at, bob, found, now, query, refused, texts};
use crate::{Comparison, ErrorKind, Field, Filter, ListQuery, Memory, MemoryKind, Trust, Validity, VectorStore};

/// Stores facts with this metadata; each is called by its first text.
async fn with_metadata(store: Arc<dyn VectorStore>, all: &[(&str, Value)]) -> Subject {
    let subject = Subject::bound(store).await;
    for (name, metadata) in all {
        let mut memory = subject.memory(&alice(), name);
        memory.metadata = metadata.as_object().cloned().unwrap_or_default();
        subject.store_one(&memory, X).await;
    }
    subject
}

/// List, search and count admit exactly these, in the order of making.
async fn admits(subject: &Subject, filter: Filter, expected: &[&str]) {
    listed_and_counted(subject, &filter, expected).await;
    for ask in [query(&alice()), query(&alice()).near(X.to_vec())] {
        let candidates = subject.search(ask.filter(Some(filter.clone())).limit(1_000)).await;
        assert_eq!(found(&candidates), expected, "search, {filter:?}");
    }
}

async fn listed_and_counted(subject: &Subject, filter: &Filter, expected: &[&str]) {
    let listed = subject.listed(&alice(), Some(filter.clone()), now()).await;
    assert_eq!(texts(&listed), expected, "list, {filter:?}");
    let count = subject.store.count(&alice(), Some(filter), now()).await.expect("counting");
    assert_eq!(count, expected.len() as u64, "count, {filter:?}");
}

/// Ranges, lists, negation and their combinations give the same sets to list, search and count.
pub async fn filters_give_the_same_sets_everywhere(store: Arc<dyn VectorStore>) {
    let all = [
        ("a", json!({"priority": 1, "topic": "food"})),
        ("b", json!({"priority": 3, "topic": "travel"})),
        ("c", json!({"priority": 5, "topic": "food"})),
        ("d", json!({})),
    ];
    let subject = with_metadata(store, &all).await;
    admits(&subject, Filter::gte("priority", 3), &["b", "c"]).await;
    admits(&subject, Filter::any_of("topic", ["food", "work"]), &["a", "c"]).await;
    admits(&subject, !Filter::eq("topic", "food"), &["b", "d"]).await;
    admits(&subject, Filter::ne("topic", "food"), &["b", "d"]).await;
    let either = (Filter::eq("topic", "food") & Filter::gte("priority", 3)) | Filter::eq("topic", "travel");
    admits(&subject, either, &["b", "c"]).await;
    admits(&subject, Filter::And(Vec::new()), &["a", "b", "c", "d"]).await;
    admits(&subject, Filter::Or(Vec::new()), &[]).await;
}

/// A filter of the reader's does not open the scope: strangers with the same metadata stay unseen.
pub async fn a_filter_opens_no_scope(store: Arc<dyn VectorStore>) {
    let subject = with_metadata(store, &[("mine", json!({"topic": "food"}))]).await;
    let mut theirs = subject.memory(&bob(), "theirs");
    theirs.metadata.insert("topic".into(), "food".into());
    subject.store_one(&theirs, X).await;
    admits(&subject, Filter::eq("topic", "food"), &["mine"]).await;
    admits(&subject, Filter::eq("user", "bob"), &[]).await;
    admits(&subject, Filter::eq("user", "bob") | Filter::And(Vec::new()), &["mine"]).await;
    admits(&subject, !Filter::eq("user", "alice"), &[]).await;
}

/// Metadata of every JSON sort, awkward keys and awkward values, in every comparison: as `Filter::matches` says.
pub async fn metadata_filters_mean_what_they_mean(store: Arc<dyn VectorStore>) {
    let all = [
        ("whole", json!({"x": 3})),
        ("float", json!({"x": 3.0})),
        ("half", json!({"x": 3.5})),
        ("negative", json!({"x": -1})),
        ("text", json!({"x": "3"})),
        ("word", json!({"x": "food"})),
        ("capital", json!({"x": "Food"})),
        ("empty", json!({"x": ""})),
        ("true", json!({"x": true})),
        ("null", json!({"x": null})),
        ("list", json!({"x": ["food", 3, true]})),
        ("empty list", json!({"x": []})),
        ("object", json!({"x": {"y": "food"}})),
        ("dotted", json!({"x.y": "food"})),
        ("deep", json!({"x": {"y": {"z": [1, 2]}}})),
        ("big", json!({"x": 9_007_199_254_740_993_u64})),
        ("quoted", json!({"it's \"x\"": "o'clock", "x%": 1, "kind": "own"})),
        ("nothing", json!({})),
    ];
    let subject = with_metadata(store, &all).await;
    let fields = ["x", "x.y", "x.y.z", "it's \"x\"", "x%", "metadata.kind", "y", "", "$.x", "x[0]", "'; --"];
    let values = [
        json!(3),
        json!(3.5),
        json!(-1),
        json!("3"),
        json!("food"),
        json!(""),
        json!(true),
        json!(false),
        json!(null),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
        json!("o'clock"),
        json!("own"),
        json!(1),
    ];
    let mut filters = Vec::new();
    for field in fields {
        for value in &values {
            for comparison in
                [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Lte, Comparison::Gt, Comparison::Gte]
            {
                filters.push(Filter::condition(field, comparison, value.clone()));
            }
        }
        for list in [json!([]), json!(["food", 3]), json!([null]), json!([true, "o'clock"])] {
            filters.push(Filter::condition(field, Comparison::In, list.clone()));
            filters.push(Filter::condition(field, Comparison::NotIn, list));
        }
        filters.push(Filter::condition(field, Comparison::Exists, true));
        filters.push(Filter::condition(field, Comparison::Exists, false));
    }
    as_matches_says(&subject, filters).await;
}

/// Every field of a memory in every comparison that it takes: as `Filter::matches` says.
pub async fn field_filters_mean_what_they_mean(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut plain = subject.memory(&alice(), "plain");
    plain.kind = MemoryKind::Episode;
    let mut full = subject.memory(&alice().with_agent("concierge").with_session("1"), "full");
    full.kind = MemoryKind::Custom("recipe".into());
    full.categories = vec!["travel".into(), "food".into()];
    full.importance = 0.8;
    full.pinned = true;
    full.speaker = Some("Ada".into());
    full.trust = Trust::Tool;
    full.slot = Some("user.home".into());
    full.ordinal = Some(3);
    full.invalid_at = Some(at(2_000_000));
    full.expires_at = Some(at(3_000_000));
    full.updated_at = at(60) + chrono::Duration::microseconds(1);
    for memory in [&plain, &full] {
        subject.store_one(memory, X).await;
    }
    let words = ["kind", "category", "speaker", "trust", "slot", "user", "agent", "session"];
    let values = ["episode", "recipe", "food", "Ada", "tool", "user.home", "alice", "concierge", "1", "m", ""];
    let times = ["observed_at", "valid_at", "invalid_at", "expires_at", "created_at", "updated_at"];
    let instants = [
        "2025-02-10T08:00:00Z",
        "2025-02-10T09:00:01+01:00",
        "2025-02-10T08:01:00.000001Z",
        "2025-02-10T08:01:00Z",
        "1950-01-01T00:00:00Z",
        "2025-03-05T11:33:20Z",
        "2025-03-17T01:20:00Z",
    ];
    let ranges = [Comparison::Lt, Comparison::Lte, Comparison::Gt, Comparison::Gte, Comparison::Eq, Comparison::Ne];
    let mut filters = Vec::new();
    let mut all = |field: &str, values: &[Value]| {
        for comparison in ranges {
            filters.extend(values.iter().map(|value| Filter::condition(field, comparison, value.clone())));
        }
        filters.push(Filter::condition(field, Comparison::In, values.to_vec()));
        filters.push(Filter::condition(field, Comparison::NotIn, values.to_vec()));
        filters.push(Filter::condition(field, Comparison::Exists, true));
        filters.push(Filter::condition(field, Comparison::Exists, false));
    };
    for field in words {
        all(field, &values.map(Value::from));
    }
    for field in times {
        all(field, &instants.map(Value::from));
    }
    for field in ["importance", "ordinal"] {
        all(field, &[json!(0), json!(0.5), json!(0.8), json!(3), json!(-1)]);
    }
    for comparison in [Comparison::Eq, Comparison::Ne] {
        filters.extend([true, false].map(|flag| Filter::condition("pinned", comparison, flag)));
    }
    as_matches_says(&subject, filters).await;
}

/// Times are instants: a filter may give them in any zone.
pub async fn times_are_filtered_as_instants(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for name in ["0", "1", "2", "3"] {
        subject.add(&alice(), name, X).await;
    }
    admits(&subject, Filter::between("created_at", at(1), at(3)), &["1", "2"]).await;
    admits(&subject, Filter::gte("created_at", "2025-02-10T10:00:02+02:00"), &["2", "3"]).await;
    admits(&subject, Filter::eq("created_at", "2025-02-09T23:00:03-09:00"), &["3"]).await;
    admits(&subject, Filter::lt("created_at", "2025-02-10T08:00:00.000001Z"), &["0"]).await;
}

/// A filter applies before the limit: what it does not admit takes no place.
pub async fn what_is_filtered_out_takes_no_place(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut wanted = subject.memory(&alice(), "tea in a long text about something else");
    wanted.categories = vec!["wanted".into()];
    subject.store_one(&wanted, [0.1, 0.9, 0.0, 0.0]).await;
    subject.add_many(&alice(), "tea", 50, X).await;
    let filter = Some(Filter::eq("category", "wanted"));
    for ask in [query(&alice()), query(&alice()).near(X.to_vec()), query(&alice()).words("tea")] {
        let candidates = subject.search(ask.filter(filter.clone()).limit(1)).await;
        assert_eq!(found(&candidates), ["tea in a long text about something else"]);
    }
    let one = ListQuery { filter, limit: 1, ..ListQuery::new(alice(), now()) };
    let page = subject.store.list(&one).await.expect("listing");
    assert_eq!((page.items.len(), page.total, page.next), (1, 1, None));
}

/// A filter that breaks the rules of the language is refused by every call that takes one, never ignored.
pub async fn a_bad_filter_is_refused(store: Arc<dyn VectorStore>) {
    let subject = with_metadata(store, &[("a", json!({"priority": 1}))]).await;
    let mut deep = Filter::eq("priority", 1);
    for _ in 0..40 {
        deep = !deep;
    }
    let bad = [
        Filter::condition("priority", Comparison::In, 3),
        Filter::condition("priority", Comparison::NotIn, "food"),
        Filter::condition(Field::CreatedAt, Comparison::Gte, "yesterday"),
        Filter::And(vec![Filter::eq("priority", 1), Filter::condition("priority", Comparison::In, json!({}))]),
        deep,
    ];
    for filter in bad {
        let kinds = [ErrorKind::InvalidArgument];
        refused(subject.store.count(&alice(), Some(&filter), now()).await, &kinds);
        let list = ListQuery { filter: Some(filter.clone()), ..ListQuery::new(alice(), now()) };
        refused(subject.store.list(&list).await, &kinds);
        for ask in [query(&alice()), query(&alice()).near(X.to_vec()), query(&alice()).words("a")] {
            refused(subject.store.search(&ask.filter(Some(filter.clone()))).await, &kinds);
        }
    }
}

async fn as_matches_says(subject: &Subject, filters: Vec<Filter>) {
    let memories: Vec<Memory> = subject.listed(&alice(), None, Validity::Any).await;
    let filters = filters.into_iter().filter(|filter| filter.validate().is_ok());
    let mut tried = 0;
    for filter in filters {
        let expected: Vec<&str> =
            memories.iter().filter(|memory| filter.matches(memory)).map(|memory| memory.text.as_str()).collect();
        admits(subject, filter.clone(), &expected).await;
        let rest: Vec<&str> =
            memories.iter().map(|memory| memory.text.as_str()).filter(|text| !expected.contains(text)).collect();
        listed_and_counted(subject, &!filter, &rest).await;
        tried += 1;
    }
    assert!(tried > 50, "only {tried} filters were valid");
}
