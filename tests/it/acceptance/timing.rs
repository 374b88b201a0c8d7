//! Questions that name a time, and searches between two times.

use ingrain::{AddMode, AddRequest, ErrorKind, Hit, Message, NewMemory, Part, Scope, SearchMode, SearchRequest};

use crate::worlds::{World, time};

/// It is Monday, the 10th of February 2025. In each scope a thing was said twice, and the question names the earlier
/// time; without a time the later one comes first.
const ASKED: [(&str, &str, &str, &str, &str); 12] = [
    ("The soup was good", "How was the soup two weeks ago?", "How was the soup?", "2025-01-27", "2025-02-09"),
    ("I fixed the bike", "What did I say of the bike in May 2024?", "What of the bike?", "2024-05-20", "2024-12-01"),
    ("The tomatoes grow", "Did tomatoes grow last summer?", "Do tomatoes grow?", "2024-07-01", "2024-12-24"),
    ("Мы варили борщ", "Кто варил борщ в прошлом году?", "Кто варил борщ?", "2024-03-08", "2025-02-01"),
    ("Я чинил велосипед", "Когда я чинил велосипед в мае?", "Кто чинил велосипед?", "2024-05-09", "2024-11-20"),
    ("Hicimos paella", "¿Quién hizo paella el verano pasado?", "¿Quién hizo paella?", "2024-08-15", "2025-01-06"),
    ("La bici está rota", "¿La bici rota hace dos semanas?", "¿La bici rota?", "2025-01-27", "2025-02-09"),
    ("Das Fahrrad ist kaputt", "War das Fahrrad letzten Mai kaputt?", "Fahrrad kaputt?", "2024-05-02", "2024-10-03"),
    ("Wir kochten Suppe", "Suppe vor zwei Jahren?", "Suppe?", "2023-06-01", "2025-01-01"),
    ("Le vélo est cassé", "Le vélo cassé, le mois dernier ?", "Le vélo cassé ?", "2025-01-02", "2025-02-09"),
    ("On a mangé une tarte", "Une tarte en mars 2024 ?", "Une tarte ?", "2024-03-30", "2024-09-30"),
    ("我们做了汤", "去年五月做了什么汤？", "什么汤？", "2024-05-05", "2025-01-15"),
];

async fn said(world: &World, scope: &Scope, text: &str, day: &str) {
    let message = Message::user(text).at(time(&format!("{day}T18:00:00Z")));
    world.engine.add(scope, AddRequest::new([message]).mode(AddMode::Raw)).await.unwrap();
}

fn day(hit: &Hit) -> String {
    hit.memory.observed_at.date_naive().to_string()
}

fn nearness(hit: &Hit) -> Option<f32> {
    hit.parts.iter().find(|part| part.part == Part::Time).map(|part| part.value)
}

#[tokio::test]
async fn what_was_said_at_the_named_time_comes_first() {
    for world in World::all().await {
        for (text, timed, plain, then, later) in ASKED {
            let scope = Scope::user(text);
            said(&world, &scope.clone().with_session("then"), text, then).await;
            said(&world, &scope.clone().with_session("later"), text, later).await;
            let hits = world.engine.search(&scope, timed).await.unwrap();
            assert_eq!(day(&hits[0]), then, "{}, {timed}: {}", world.name, hits[0].explain());
            assert_eq!(nearness(&hits[0]), Some(1.0), "{timed}");
            assert!(nearness(&hits[1]).unwrap() < 0.6, "{timed}: {}", hits[1].explain());
            assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
            let hits = world.engine.search(&scope, plain).await.unwrap();
            assert_eq!(day(&hits[0]), later, "{}, {plain}", world.name);
            assert!(hits.iter().all(|hit| nearness(hit).is_none()), "{plain}");
        }
    }
}

#[tokio::test]
async fn what_was_said_at_the_named_time_is_found_in_a_crowd() {
    for world in World::all().await {
        let ada = Scope::user("ada").with_session("s");
        said(&world, &ada, "Bo is ill", "2024-03-05").await;
        for number in 0..150 {
            said(&world, &ada, &format!("Ada drank tea {number}"), "2024-12-01").await;
        }
        let ask = |query: &str| SearchRequest::new(query).limit(200);
        let found = |hits: &[Hit]| hits.iter().any(|hit| hit.memory.text == "Bo is ill");
        // One hundred and more others have the words, and no arm but that of time proposes it.
        let hits = world.engine.search(&ada, ask("what did Ada drink on 5 March 2024?").limit(10)).await.unwrap();
        assert!(found(&hits), "{}", world.name);
        let hits = world.engine.search(&ada, ask("what did Ada drink?").limit(10)).await.unwrap();
        assert!(!found(&hits), "{}", world.name);
    }
}

#[tokio::test]
async fn times_are_those_of_whoever_asks_and_of_when() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        for day in ["2023-08-14", "2023-08-15", "2025-02-09"] {
            said(&world, &ada.clone().with_session(day), "tea", day).await;
        }
        let ask = || SearchRequest::new("tea yesterday");
        let first = async |request: SearchRequest| day(&world.engine.search(&ada, request).await.unwrap()[0]);
        assert_eq!(first(ask()).await, "2025-02-09", "{}", world.name);
        assert_eq!(first(ask().asked_at(time("2023-08-16T01:00:00Z"))).await, "2023-08-15");
        // In New York it is still the evening of the 15th, and 18:00 in UTC was on the 14th there.
        let asked: chrono::DateTime<chrono::FixedOffset> = "2023-08-15T21:00:00-04:00".parse().unwrap();
        assert_eq!(first(ask().asked_at(asked)).await, "2023-08-14");
    }
}

#[tokio::test]
async fn one_arm_alone_knows_no_time() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        said(&world, &ada, "tea", "2025-02-09").await;
        for mode in [SearchMode::Vector, SearchMode::Keyword] {
            let hits = world.engine.search(&ada, SearchRequest::new("tea yesterday").mode(mode)).await.unwrap();
            assert!(hits.iter().all(|hit| nearness(hit).is_none()));
        }
    }
}

#[tokio::test]
async fn between_two_times_is_what_was_said_or_held_then() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        for day in ["2024-04-30", "2024-05-01", "2024-05-31", "2024-06-01"] {
            said(&world, &ada, &format!("tea on {day}"), day).await;
        }
        let at = |day: &str| time(&format!("{day}T00:00:00Z"));
        let holds = [
            ("tea held", "2020-01-01", None),
            ("tea ended", "2020-01-01", Some("2024-05-01")),
            ("tea ended within", "2020-01-01", Some("2024-05-02")),
            ("tea began after", "2024-06-01", None),
        ];
        let facts = holds.map(|(text, from, until)| {
            let fact = NewMemory::new(text).valid_from(at(from));
            until.map_or(fact.clone(), |until| fact.valid_until(at(until)))
        });
        world.engine.add_raw(&ada, facts).await.unwrap();
        let may = || SearchRequest::new("tea").between(at("2024-05-01"), at("2024-06-01"));
        for mode in [SearchMode::Hybrid, SearchMode::Keyword, SearchMode::Vector] {
            let hits = world.engine.search(&ada, may().mode(mode)).await.unwrap();
            let mut texts: Vec<&str> = hits.iter().map(|hit| hit.memory.text.as_str()).collect();
            texts.sort_unstable();
            let expected = ["tea ended within", "tea held", "tea on 2024-05-01", "tea on 2024-05-31"];
            assert_eq!(texts, expected, "{}, {mode:?}", world.name);
        }
        let filtered = may().filter(ingrain::Filter::eq("kind", "episode"));
        assert_eq!(world.engine.search(&ada, filtered).await.unwrap().len(), 2);
        for end in ["2024-05-01", "2024-04-01"] {
            let never = SearchRequest::new("tea").between(at("2024-05-01"), at(end));
            let error = world.engine.search(&ada, never).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}
