//! Queries about the past see what held then, and say until when.

use chrono::Duration;
use ingrain::{
    ContextRequest, Hit, MemoryKind, Message, NewMemory, Scope, SearchRequest, TokenBudget, Trust,
    testing::GivenVectors,
};
use proptest::prelude::*;

use crate::worlds::{World, t0, time};

/// Alice moves: Rome, since 2021 Bern, since June 2024 Porto.
async fn moved(world: &World) -> Scope {
    let alice = Scope::user("alice");
    for (when, city) in
        [("2019-05-01T10:00:00Z", "Rome"), ("2021-03-01T10:00:00Z", "Bern"), ("2024-06-01T10:00:00Z", "Porto")]
    {
        let message = Message::user(format!("I live in {city}.")).at(time(when));
        world.engine.add(&alice, [message]).await.unwrap();
    }
    alice
}

/// The facts among the hits, the best first.
fn facts(hits: &[Hit]) -> Vec<&str> {
    let facts = hits.iter().filter(|hit| hit.memory.kind == MemoryKind::Fact);
    facts.map(|hit| hit.memory.text.as_str()).collect()
}

#[tokio::test]
async fn a_time_that_is_over_brings_what_held_then() {
    for world in World::all().await {
        let alice = moved(&world).await;
        for (query, wanted, hidden) in [
            ("Where do I live?", &["Porto"][..], &["Rome", "Bern"][..]),
            ("Where do I live this year?", &["Porto"], &["Rome", "Bern"]),
            ("Where did I live in 2022?", &["Porto", "Bern"], &["Rome"]),
            ("Where did I live in 2019?", &["Porto", "Rome"], &["Bern"]),
            ("Где я жила в 2022 году? I live", &["Porto", "Bern"], &["Rome"]),
            ("Where did I live in 2019 and in 2024?", &["Porto", "Rome", "Bern"], &[]),
            ("Did I live there in 2010?", &["Porto"], &["Rome", "Bern"]),
            ("Where did I live last year?", &["Porto", "Bern"], &["Rome"]),
        ] {
            let hits = world.engine.search(&alice, query).await.unwrap();
            let facts = facts(&hits);
            for (city, shown) in wanted.iter().map(|city| (city, true)).chain(hidden.iter().map(|city| (city, false))) {
                let found = facts.iter().any(|fact| fact.contains(city));
                assert_eq!(found, shown, "{}: {query}: {city} in {facts:?}", world.name);
            }
        }
    }
}

#[tokio::test]
async fn between_two_times_that_are_named_is_not_named() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        for (from, until, city) in [
            ("2018-01-01T00:00:00Z", "2019-06-01T00:00:00Z", "Rome"),
            ("2020-01-01T00:00:00Z", "2020-06-01T00:00:00Z", "Bern"),
            ("2022-06-01T00:00:00Z", "2023-01-01T00:00:00Z", "Porto"),
        ] {
            let memory = NewMemory::new(format!("Lives in {city}")).at(time(from)).valid_until(time(until));
            world.engine.add_raw(&alice, [memory]).await.unwrap();
        }
        let hits = world.engine.search(&alice, "Who lives where in 2019 and in 2022?").await.unwrap();
        let mut found = facts(&hits);
        found.sort_unstable();
        assert_eq!(found, ["Lives in Porto", "Lives in Rome"], "{}", world.name);
    }
}

#[tokio::test]
async fn who_asks_for_what_was_finds_what_has_ended_first() {
    for world in World::all().await {
        let alice = moved(&world).await;
        for query in [
            "Where did I used to live?",
            "Where did I use to live?",
            "Where did I live before?",
            "What was my previous place to live?",
        ] {
            let hits = world.engine.search(&alice, query).await.unwrap();
            let facts = facts(&hits);
            assert_eq!(facts.len(), 3, "{}: {query}: {facts:?}", world.name);
            assert!(facts[2].contains("Porto"), "{}: {query}: {facts:?}", world.name);
            assert!(hits.iter().any(|hit| hit.memory.invalid_at.is_some()));
        }
        let exact = SearchRequest::new("Where did I live before?").as_of(time("2020-01-01T00:00:00Z"));
        assert!(facts(&world.engine.search(&alice, exact).await.unwrap()).iter().all(|fact| fact.contains("Rome")));
    }
}

#[tokio::test]
async fn a_context_says_until_when_it_held() {
    for world in World::all().await {
        let alice = moved(&world).await;
        let budget = TokenBudget::new(600);
        let block = world.engine.context(&alice, "Where did I live in 2022?", budget).await.unwrap();
        assert!(block.text.contains("fact 2021-03-01 until 2024-06-01: \""), "{}", block.text);
        assert!(block.text.contains("fact 2024-06-01: \""), "{}", block.text);
        // It is known again when it comes back.
        let count = world.engine.count(&alice, None).await.unwrap();
        let report = world.engine.add(&alice, [Message::user(format!("{block}\n\nThanks!"))]).await.unwrap();
        assert!(report.added.is_empty() && report.updated.is_empty(), "{report:?}");
        assert_eq!(world.engine.count(&alice, None).await.unwrap(), count + 1, "the turn itself");
        // Nobody knew then that it would end.
        let then = ContextRequest::new("Where do I live?").as_of(time("2022-01-01T00:00:00Z"));
        let block = world.engine.context(&alice, then, budget).await.unwrap();
        assert!(block.text.contains("fact 2021-03-01: \"") && !block.text.contains("until"), "{}", block.text);
    }
}

#[tokio::test]
async fn what_never_held_does_not_come_back() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        let memory = &world.builder().quarantine(true).build().await.unwrap();
        let fact = |text: &str| NewMemory::new(text).at(time("2021-01-01T00:00:00Z"));
        let removed = memory.add_raw(&alice, [fact("Plays chess on Sundays")]).await.unwrap().remove(0);
        memory.delete(&alice, removed.id).await.unwrap();
        let told = fact("Plays the chess game of the evil page").trust(Trust::Tool);
        memory.add_raw(&alice, [told]).await.unwrap();
        let expired = fact("Plays chess at the club for a month").expires_at(time("2021-02-01T00:00:00Z"));
        memory.add_raw(&alice, [expired]).await.unwrap();
        // One says what the other says, and is taken in.
        memory.add_raw(&alice, [fact("Plays chess in the park")]).await.unwrap();
        memory.add_raw(&alice, [fact("plays chess in the park.")]).await.unwrap();
        let report = memory.maintain(&alice, &ingrain::Maintenance::new()).await.unwrap();
        assert_eq!(report.merged.len(), 1, "{}", world.name);
        world.clock.advance(std::time::Duration::from_secs(3_600));
        for query in ["Who played chess in 2021?", "Who used to play chess?", "Who played chess last year?"] {
            let hits = memory.search(&alice, query).await.unwrap();
            assert_eq!(facts(&hits), ["Plays chess in the park"], "{}: {query}", world.name);
        }
        let then = SearchRequest::new("Who plays chess?").as_of(time("2022-01-01T00:00:00Z"));
        assert_eq!(facts(&memory.search(&alice, then).await.unwrap()), ["Plays chess in the park"], "{}", world.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever its periods, a memory that has ended is found by a query with a year exactly if it held in that year.
    #[test]
    fn what_ended_is_found_by_the_years_it_held(
        periods in prop::collection::vec((2010_i32..2024, 0_i64..2_000), 1..12),
        year in 2010_i32..2025,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for world in World::all_with(|| GivenVectors::new(64)).await {
                let alice = Scope::user("alice");
                let mut wanted = Vec::new();
                for (number, (begin, days)) in periods.iter().enumerate() {
                    let from = time(&format!("{begin}-03-01T00:00:00Z"));
                    let until = from + Duration::days(*days);
                    let text = format!("Rents flat number {number} on the hill");
                    let id = world.engine.add_raw(&alice, [NewMemory::new(&text).at(from).valid_until(until)]).await.unwrap()[0].id;
                    let holds = until > t0();
                    let held = *begin <= year && until > time(&format!("{year}-01-01T00:00:00Z")) && *days > 0;
                    if holds || held {
                        wanted.push(id);
                    }
                }
                let request = SearchRequest::new(format!("Which flat on the hill in {year}?")).limit(50);
                let mut found: Vec<_> =
                    world.engine.search(&alice, request).await.unwrap().into_iter().map(|hit| hit.memory.id).collect();
                found.sort_unstable();
                wanted.sort_unstable();
                assert_eq!(found, wanted, "{}: {periods:?} in {year}", world.name);
            }
        });
    }
}
