//! The graph in a search: the way from the entities a query names to what is related to them.

use std::time::Duration;

use ingrain::{Clock, Hit, MemoryEngine, Part, Scope, SearchRequest};

use super::{engine, tell};
use crate::worlds::World;

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn alice() -> Scope {
    Scope::user("alice")
}

/// Tells these, a day apart.
async fn told(world: &World, texts: &[&str]) -> MemoryEngine {
    let engine = engine(world).await;
    for text in texts {
        tell(&engine, &alice(), text).await;
        world.clock.advance(DAY);
    }
    engine
}

/// How strongly the graph leads to a hit.
fn led(hit: &Hit) -> Option<f32> {
    hit.parts.iter().find(|part| part.part == Part::Graph).map(|part| part.value)
}

/// How strongly a query leads to the memory of that text: 0 to 1, 0 if it does not.
async fn strength(engine: &MemoryEngine, query: &str, text: &str) -> f32 {
    let hits = engine.search(&alice(), SearchRequest::new(query).limit(100)).await.unwrap();
    let hit = hits.iter().find(|hit| hit.memory.text == text);
    hit.and_then(led).unwrap_or(0.0)
}

#[tokio::test]
async fn a_hit_tells_the_way_that_led_to_it() {
    for world in World::all().await {
        let facts = [
            "Ann and Bob got married = Ann|married_to|Bob",
            "Bob took a job at Acme = Bob|works_at!|Acme::organization",
            "Acme opened its office in Faro = Acme|has_office_in!|Faro::city",
            "Ann took a job at Birch = Ann|works_at!|Birch::organization",
            "Carl took a job at Acme = Carl|works_at!|Acme",
        ];
        let engine = told(&world, &facts).await;
        for (query, text, way) in [
            ("Where does Ann's husband work?", "Bob took a job at Acme", &["married_to", "works_at"][..]),
            ("Who employs the spouse of Ann?", "Bob took a job at Acme", &["married_to", "works_at"]),
            ("Где работает муж Ann?", "Bob took a job at Acme", &["married_to", "works_at"]),
            ("Where does Ann work?", "Ann took a job at Birch", &["works_at"]),
            (
                "Which town is the company of Ann's husband in?",
                "Acme opened its office in Faro",
                &["married_to", "works_at", "has_office_in"],
            ),
        ] {
            let hits = engine.search(&alice(), query).await.unwrap();
            let first = &hits[0];
            assert_eq!(first.memory.text, text, "{}, {query}: {}", world.name, first.explain());
            let predicates: Vec<&str> = first.path.iter().map(|relation| relation.predicate.as_str()).collect();
            assert_eq!(predicates, way, "{}, {query}", world.name);
            assert!(first.path.last().unwrap().sources.contains(&first.memory.id));
            assert!(
                hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score) && hit.path.is_empty() == led(hit).is_none())
            );
        }
        // Both ends are named: there is a way from either.
        let hits = engine.search(&alice(), "Does Ann's husband work at Acme?").await.unwrap();
        let mut first: Vec<&str> = hits.iter().take(2).map(|hit| hit.memory.text.as_str()).collect();
        first.sort_unstable();
        assert_eq!(first, ["Ann and Bob got married", "Bob took a job at Acme"], "{}", world.name);
        assert!(hits.iter().take(2).all(|hit| hit.path.len() == 2), "{}", world.name);
        // The graph is the user's as a whole, and none of it is told to a reader of one session.
        let session = engine.search(&alice().with_session("s"), "Where does Ann's husband work?").await.unwrap();
        assert!(session.iter().all(|hit| hit.path.is_empty()));
    }
}

#[tokio::test]
async fn a_way_is_worth_what_it_explains() {
    let world = World::in_memory().await;
    let facts = [
        "Ann and Bob got married = Ann|married_to|Bob",
        "Bob works at Acme = Bob|works_at!|Acme",
        "Ann works at Birch = Ann|works_at!|Birch",
    ];
    let engine = told(&world, &facts).await;
    let query = "Where does the husband of Ann work?";
    let [whole, half] =
        [strength(&engine, query, "Bob works at Acme").await, strength(&engine, query, "Ann works at Birch").await];
    assert!(whole > 0.7 && half > 0.0 && half < whole / 2.0, "{whole} {half}");
    // The more the query says that no relation speaks of, the less.
    let other = "Where does the husband of Ann work on lovely rainy Tuesday mornings?";
    let less = strength(&engine, other, "Bob works at Acme").await;
    assert!(less > 0.0 && less < whole / 2.0, "{less}");
    assert!(strength(&engine, "What did Ann cook?", "Ann works at Birch").await <= 0.0);
}

#[tokio::test]
async fn what_has_ended_counts_where_the_past_is_asked_for() {
    let world = World::in_memory().await;
    let engine = told(&world, &["Bob works at Acme = Bob|works_at!|Acme", "Ann met Bob = Ann|married_to|Bob"]).await;
    world.clock.advance(DAY * 400);
    tell(&engine, &alice(), "Bob works at Birch = Bob|works_at!|Birch").await;
    world.clock.advance(DAY);
    for (query, was, is) in [
        ("Where does Ann's husband work?", false, true),
        ("Where did Ann's husband use to work? I mean formerly.", true, false),
        ("Где раньше работал муж Ann?", true, false),
        ("Where did Ann's husband work in 2025?", true, false),
    ] {
        let [acme, birch] =
            [strength(&engine, query, "Bob works at Acme").await, strength(&engine, query, "Bob works at Birch").await];
        assert_eq!((acme > birch, birch > acme), (was, is), "{query}: {acme} {birch}");
        assert!(was || acme <= 0.0, "{query}: {acme}");
    }
    let then = SearchRequest::new("Where does Ann's husband work?").as_of(world.clock.now() - DAY * 200);
    let hits = engine.search(&alice(), then).await.unwrap();
    let way = hits.iter().find(|hit| hit.path.len() == 2).unwrap();
    assert_eq!(way.memory.text, "Bob works at Acme");
}

#[tokio::test]
async fn what_is_related_to_everything_tells_little() {
    let world = World::in_memory().await;
    let engine = engine(&world).await;
    for number in 0..60 {
        tell(&engine, &alice(), &format!("P{number} lives in Lisbon = P{number}|lives_in!|Lisbon")).await;
    }
    tell(&engine, &alice(), "Bob lives in Faro = Bob|lives_in!|Faro").await;
    let [hub, other] = [
        strength(&engine, "Who lives in Lisbon?", "P7 lives in Lisbon").await,
        strength(&engine, "Who lives in Faro?", "Bob lives in Faro").await,
    ];
    assert!(hub > 0.0 && hub < other / 2.0, "{hub} {other}");
    // Of the one who lives there it tells all.
    assert!(strength(&engine, "Tell me where P7 lives", "P7 lives in Lisbon").await >= other);
}

#[tokio::test]
async fn a_name_inside_a_longer_one_is_not_named() {
    let world = World::in_memory().await;
    let facts = [
        "Carl lives in Florence = Carl|lives_in!|Florence::city",
        "Dora lives by Florence Clinic = Dora|lives_in!|Florence Clinic::organization",
    ];
    let engine = told(&world, &facts).await;
    let query = "Who lives near the Florence Clinic?";
    assert!(strength(&engine, query, "Dora lives by Florence Clinic").await > 0.0);
    assert!(strength(&engine, query, "Carl lives in Florence").await <= 0.0);
    assert!(strength(&engine, "Who lives in Florence?", "Carl lives in Florence").await > 0.0);
}

#[tokio::test]
async fn the_user_stands_behind_a_query_and_less_behind_one_about_others() {
    let world = World::in_memory().await;
    let facts = [
        "Works at Acme = user|works_at!|Acme",
        "Has a sister Ann = user|has_sister|Ann",
        "Ann works at Birch = Ann|works_at!|Birch",
        "Carl is tall = Carl|is|tall",
    ];
    let engine = told(&world, &facts).await;
    assert!(strength(&engine, "Where does my sister work?", "Ann works at Birch").await > 0.8);
    let own = strength(&engine, "Where do I work?", "Works at Acme").await;
    let others = strength(&engine, "Where does Carl work?", "Works at Acme").await;
    assert!(own > 0.8 && others < own / 4.0, "{own} {others}");
}
