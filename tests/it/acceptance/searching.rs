//! What a search finds, in which order, and what its scores mean.

use ingrain::{
    ErrorKind, Filter, Hit, ListRequest, NewMemory, Part, Scope, SearchMode, SearchRequest, testing::GivenVectors,
};
use serde_json::json;

use crate::worlds::{World, object, texts};

fn found(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.text.as_str()).collect()
}

fn keyword(text: &str) -> SearchRequest {
    SearchRequest::new(text).mode(SearchMode::Keyword)
}

#[tokio::test]
async fn words_are_found_in_chinese_and_japanese() {
    let known = [
        "周三晚上去围棋俱乐部",
        "最喜欢河边的茶馆",
        "周末计划是爬山",
        "Docker镜像清单每天三点更新",
        "土曜日は折り紙教室に行く",
    ];
    for world in World::all().await {
        let wei = Scope::user("wei");
        world.engine.add_raw(&wei, known).await.unwrap();
        for (words, expected) in [("茶馆", known[1]), ("折り紙", known[4]), ("镜像清单", known[3])] {
            let hits = world.engine.search(&wei, keyword(words)).await.unwrap();
            assert_eq!(hits[0].memory.text, expected, "{}, {words}", world.name);
            assert!(hits[0].score > 0.0);
        }
        let hits = world.engine.search(&wei, keyword("围棋俱乐部 茶馆 周末计划")).await.unwrap();
        for text in &known[..3] {
            assert!(hits.iter().any(|hit| hit.memory.text == *text && hit.score > 0.0), "{text}");
        }
    }
}

#[tokio::test]
async fn filters_mean_the_same_for_lists_and_searches() {
    for world in World::all().await {
        let lin = Scope::user("lin");
        let new = |text: &str, metadata| NewMemory::new(text).metadata(object(metadata));
        let memories = [
            new("a", json!({"priority": 1, "topic": "food"})),
            new("b", json!({"priority": 3, "topic": "travel"})),
            new("c", json!({"priority": 5, "topic": "food"})),
            new("d", json!({})),
        ];
        world.engine.add_raw(&lin, memories).await.unwrap();
        let cases = [
            (json!({"priority": {"gte": 3}}), vec!["b", "c"]),
            (json!({"topic": {"in": ["food", "work"]}}), vec!["a", "c"]),
            (json!({"not": {"topic": "food"}}), vec!["b", "d"]),
            (json!({"or": [{"topic": "food", "priority": {"gte": 3}}, {"topic": "travel"}]}), vec!["b", "c"]),
        ];
        for (filter, expected) in cases {
            let parsed = Filter::from_json(&filter).unwrap();
            let page = world.engine.list(&lin, ListRequest::new().filter(parsed.clone())).await.unwrap();
            assert_eq!(texts(&page.items), expected, "{}, {filter}", world.name);
            assert_eq!(world.engine.count(&lin, Some(&parsed)).await.unwrap(), expected.len() as u64);
            for mode in [SearchMode::Vector, SearchMode::Hybrid] {
                let request = SearchRequest::new("a b c d").mode(mode).filter(parsed.clone());
                let hits = world.engine.search(&lin, request).await.unwrap();
                let mut hits = found(&hits);
                hits.sort_unstable();
                assert_eq!(hits, expected, "{}, {filter}, {mode:?}", world.name);
            }
        }
        let error = Filter::from_json(&json!({"priority": {"almost": 3}})).expect_err("no such operator");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("almost"), "{error}");
        let bad = Filter::condition("priority", ingrain::Comparison::In, 3);
        let refused = [
            world.engine.list(&lin, ListRequest::new().filter(bad.clone())).await.map(drop),
            world.engine.count(&lin, Some(&bad)).await.map(drop),
            world.engine.search(&lin, SearchRequest::new("a").filter(bad)).await.map(drop),
        ];
        for result in refused {
            assert_eq!(result.expect_err("a bad filter").kind(), ErrorKind::InvalidArgument);
        }
    }
}

#[tokio::test]
async fn larger_scores_are_better_ones() {
    let vectors = || {
        GivenVectors::new(4)
            .with("v1", [1.0, 0.0, 0.0, 0.0])
            .with("v2", [0.6, 0.8, 0.0, 0.0])
            .with("v3", [0.0, 1.0, 0.0, 0.0])
            .with("v4", [-1.0, 0.0, 0.0, 0.0])
            .with("query", [1.0, 0.0, 0.0, 0.0])
    };
    for world in World::all_with(vectors).await {
        let sam = Scope::user("sam");
        world.engine.add_raw(&sam, ["v3", "v1", "v4", "v2"]).await.unwrap();
        let near = SearchRequest::new("query").mode(SearchMode::Vector);
        let hits = world.engine.search(&sam, near.clone().threshold(0.5)).await.unwrap();
        assert_eq!(found(&hits), ["v1", "v2"], "{}", world.name);
        assert!((hits[0].score - 1.0).abs() < 0.001 && (hits[1].score - 0.6).abs() < 0.001);
        let hits = world.engine.search(&sam, near).await.unwrap();
        assert_eq!(found(&hits), ["v1", "v2", "v3", "v4"]);
        assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
    for world in World::all().await {
        let sam = Scope::user("sam");
        let dense = "zebra crossing by the zebra barn";
        let thin = "on a very long road with nothing else to report we once passed a zebra";
        world.engine.add_raw(&sam, [thin, dense]).await.unwrap();
        let hits = world.engine.search(&sam, keyword("zebra")).await.unwrap();
        assert_eq!(found(&hits), [dense, thin], "{}", world.name);
        assert!(hits[0].score > hits[1].score && hits[1].score > 0.0);
    }
}

#[tokio::test]
async fn every_score_is_the_sum_of_its_parts() {
    for world in World::all().await {
        let sam = Scope::user("sam");
        let texts = ["Keeps bees by the river", "Walks by the river", "Reads about bees", "Sleeps late", "蜂蜜"];
        world.engine.add_raw(&sam, texts).await.unwrap();
        for (mode, parts) in [
            (SearchMode::Hybrid, &[Part::Vector, Part::Keyword][..]),
            (SearchMode::Vector, &[Part::Vector]),
            (SearchMode::Keyword, &[Part::Keyword]),
        ] {
            let hits = world.engine.search(&sam, SearchRequest::new("bees river").mode(mode)).await.unwrap();
            assert!(hits.len() >= 3);
            for hit in hits {
                let sum: f32 = hit.parts.iter().map(|part| part.value * part.weight).sum();
                assert!((sum - hit.score).abs() < 1e-5, "{}", hit.explain());
                assert!((hit.parts.iter().map(|part| part.weight).sum::<f32>() - 1.0).abs() < 1e-5);
                assert!(hit.parts.iter().all(|part| (0.0..=1.0).contains(&part.value)));
                let named: Vec<Part> = hit.parts.iter().map(|part| part.part).collect();
                assert!(parts.iter().all(|part| named.contains(part)), "{named:?}");
                assert!((0.0..=1.0).contains(&hit.score));
            }
        }
    }
}

#[tokio::test]
async fn a_query_that_fits_nothing_scores_low() {
    for world in World::all().await {
        let sam = Scope::user("sam");
        world.engine.add_raw(&sam, ["Keeps bees by the river"]).await.unwrap();
        let fitting = world.engine.search(&sam, "Keeps bees by the river").await.unwrap()[0].score;
        let other = world.engine.search(&sam, "quantum chromodynamics").await.unwrap();
        let other = other.first().map_or(0.0, |hit| hit.score);
        assert!(fitting > 0.6 && other < 0.2, "{}: {fitting} and {other}", world.name);
    }
}

#[tokio::test]
async fn any_text_may_be_a_query() {
    let known = [
        "Speed limit is 30 km/h on the re-check ramp",
        "Don't book the D'Or hotel",
        "Reviews C++ and C# code",
        "Runs version 3.11 at home",
    ];
    for world in World::all().await {
        let abe = Scope::user("abe");
        world.engine.add_raw(&abe, known).await.unwrap();
        for mode in [SearchMode::Keyword, SearchMode::Hybrid] {
            let expected = [("km/h", 0), ("re-check", 0), ("don't", 1), ("D'Or", 1), ("C++", 2), ("3.11", 3)];
            for (words, number) in expected {
                let hits = world.engine.search(&abe, SearchRequest::new(words).mode(mode)).await.unwrap();
                let first = hits.first().map(|hit| hit.memory.text.as_str());
                assert_eq!(first, Some(known[number]), "{}, {words}, {mode:?}", world.name);
            }
            let odd = [
                "\"open",
                "hotel AND",
                "NEAR(",
                "title:foo",
                "*",
                "(",
                "^",
                "-",
                "'; DROP TABLE memories;--",
                "\0",
                "💥",
            ];
            for words in odd {
                let result = world.engine.search(&abe, SearchRequest::new(words).mode(mode)).await;
                assert!(result.is_ok(), "{}, {words:?}, {mode:?}: {result:?}", world.name);
            }
        }
        assert_eq!(texts(&world.list(&abe).await), known);
    }
}

#[tokio::test]
async fn a_recall_is_counted_only_when_wanted() {
    for world in World::all().await {
        let abe = Scope::user("abe");
        let memory = world.add(&abe, "Keeps bees").await;
        world.engine.search(&abe, "bees").await.unwrap();
        assert_eq!(world.engine.get(&abe, memory.id).await.unwrap(), memory, "reading leaves no trace");
        world.engine.search(&abe, SearchRequest::new("bees").record_access()).await.unwrap();
        let after = world.engine.get(&abe, memory.id).await.unwrap();
        assert_eq!((after.access_count, after.revision, after.updated_at), (1, memory.revision, memory.updated_at));
        assert!(after.accessed_at.is_some());
    }
}
