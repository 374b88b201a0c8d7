//! What comes first, beyond what the words themselves say.

use std::sync::Arc;

use ingrain::{
    AddMode, AddRequest, Error, ErrorKind, Filter, Hit, Message, NewMemory, Part, Reranker, Result, Scope, SearchMode,
    SearchRequest, async_trait, score::fusion::Weights,
};

use crate::worlds::{World, time};

/// Stores turns of one session, an hour apart.
async fn talk(world: &World, scope: &Scope, turns: Vec<Message>) {
    let turns = turns.into_iter().zip(1..).map(|(turn, hour)| turn.at(time(&format!("2025-02-01T{hour:02}:00:00Z"))));
    let request = AddRequest::new(turns.collect::<Vec<_>>()).mode(AddMode::Raw);
    world.engine.add(&scope.clone().with_session("s"), request).await.unwrap();
}

fn said(speaker: &str, text: &str) -> Message {
    Message::user(text).from_speaker(speaker)
}

fn texts(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.text.as_str()).collect()
}

fn value(hit: &Hit, part: Part) -> Option<f32> {
    hit.parts.iter().find(|found| found.part == part).map(|found| found.value)
}

#[tokio::test]
async fn the_reply_comes_before_the_question() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let turns = [
            said("Ann", "What is your dog called?"),
            said("Bob", "Rex. He is four."),
            said("Ann", "Nice."),
            said("Bob", "It rained all day."),
        ];
        talk(&world, &ann, turns.into()).await;
        let hits = world.engine.search(&ann, "the name of the dog").await.unwrap();
        assert_eq!(texts(&hits)[0], "Rex. He is four.", "{}: {}", world.name, hits[0].explain());
        let question = hits.iter().find(|hit| hit.memory.text.starts_with("What")).unwrap();
        assert_eq!(value(question, Part::Asks), Some(1.0));
        assert!(value(&hits[0], Part::Replies).unwrap() > 0.0);
        // What a user asks the assistant tells what the user is after.
        let bob = Scope::user("bob");
        talk(&world, &bob, vec![Message::user("How do I train my dog?"), Message::assistant("With patience.")]).await;
        let hits = world.engine.search(&bob, "dog").await.unwrap();
        assert_eq!(texts(&hits), ["How do I train my dog?", "With patience."], "{}", world.name);
        assert!(hits.iter().all(|hit| value(hit, Part::Asks).is_none()));
    }
}

#[tokio::test]
async fn a_question_for_a_time_or_a_number_favours_what_names_one() {
    for world in World::all().await {
        for (number, (query, named, other)) in [
            ("When did the cat run off?", "The cat ran off yesterday", "The cat ran off again"),
            ("How many cats are there?", "There are three cats here", "There are those cats here"),
            ("Когда убежал кот?", "Кот убежал вчера", "Кот убежал снова"),
            ("¿Cuántos gatos hay?", "Hay cuatro gatos", "Hay gatos ahí"),
        ]
        .into_iter()
        .enumerate()
        {
            let scope = Scope::user(format!("user {number}"));
            talk(&world, &scope, vec![said("Ann", named)]).await;
            talk(&world, &scope, vec![said("Ann", other)]).await;
            let hits = world.engine.search(&scope, query).await.unwrap();
            assert_eq!(value(&hits[0], Part::Wanted), Some(1.0), "{}, {query}: {:?}", world.name, texts(&hits));
            assert_eq!(texts(&hits)[0], named, "{}", world.name);
        }
    }
}

#[tokio::test]
async fn the_newer_of_two_like_memories_comes_first_if_it_tells_of_a_change() {
    let old = "My budget for books is 30 euros each month, a budget for novels and comics";
    let new = "I have increased my budget for books to 45 euros";
    for world in World::all().await {
        let ann = Scope::user("ann");
        talk(&world, &ann, vec![Message::user(old), Message::user("Hm."), Message::user("Yes."), Message::user(new)])
            .await;
        let query = "budget for books each month";
        let hits = world.engine.search(&ann, query).await.unwrap();
        assert_eq!(texts(&hits)[..2], [new, old], "{}", world.name);
        assert_eq!(hits[0].score, hits[1].score);
        assert!(value(&hits[0], Part::Update).unwrap() > 0.0, "{}", hits[0].explain());
        let again = Hit::new(hits[0].memory.clone(), hits[0].parts.clone());
        assert!((again.score - hits[0].score).abs() < 1e-6, "the parts give the score");
        // However few are wanted.
        let first = world.engine.search(&ann, SearchRequest::new(query).limit(1)).await.unwrap();
        assert_eq!(texts(&first), [new]);
        // Words alone say that the old one fits better.
        let words = world.engine.search(&ann, SearchRequest::new(query).mode(SearchMode::Keyword)).await.unwrap();
        assert_eq!(texts(&words)[0], old);
        // Somebody else's news change nothing, and neither does what tells of no change.
        for (number, other) in
            [said("Bo", new), Message::user("My budget for books is 45 euros")].into_iter().enumerate()
        {
            let scope = Scope::user(format!("user {number}"));
            talk(&world, &scope, vec![Message::user(old), Message::user("Hm."), Message::user("Yes."), other]).await;
            let hits = world.engine.search(&scope, query).await.unwrap();
            assert_eq!(texts(&hits)[0], old, "{}", world.name);
        }
    }
}

#[tokio::test]
async fn near_copies_make_room_where_that_is_asked_for() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        for text in
            ["Tea in the morning", "Tea in the morning, again", "Tea in the morning, too", "A tea house in Kyoto"]
        {
            world.add(&ann, text).await;
        }
        let search =
            |diversity| world.engine.search(&ann, SearchRequest::new("tea morning").limit(2).diversity(diversity));
        assert!(texts(&search(0.0).await.unwrap()).iter().all(|text| text.starts_with("Tea in the morning")));
        let hits = search(0.5).await.unwrap();
        assert_eq!(texts(&hits)[1], "A tea house in Kyoto", "{}", world.name);
        assert!(hits[0].score > hits[1].score);
        for wrong in [-0.1, 1.1, f32::NAN] {
            assert_eq!(search(wrong).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
    }
}

#[tokio::test]
async fn what_fits_nothing_scores_low_among_few_and_many() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.add(&ann, "The cello lesson is on Tuesdays").await;
        for more in [0, 400] {
            let notes: Vec<String> =
                (0..more).map(|number| format!("Note {number} on the garden and the weather")).collect();
            if !notes.is_empty() {
                world.engine.add_raw(&ann, notes).await.unwrap();
            }
            let hits = world.engine.search(&ann, "quarterly revenue of the subsidiary").await.unwrap();
            assert!(hits.iter().all(|hit| hit.score < 0.5), "{}: {}", world.name, hits[0].explain());
        }
    }
}

#[tokio::test]
async fn weights_are_numbers_and_not_negative() {
    let world = World::in_memory().await;
    for wrong in [f32::NAN, f32::INFINITY, -0.1] {
        let mut weights = Weights::default();
        weights.time = wrong;
        assert_eq!(world.builder().weights(weights).build().await.unwrap_err().kind(), ErrorKind::Configuration);
    }
}

#[tokio::test]
async fn what_was_stored_at_an_instant_is_not_before_it() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let at = time("2025-02-01T10:00:00.123456789Z");
        world.engine.add_raw(&ann, [NewMemory::new("Tea at ten").at(at)]).await.unwrap();
        let hour = chrono::TimeDelta::hours(1);
        let between = |start, end| SearchRequest::new("tea").between(start, end);
        assert_eq!(world.engine.search(&ann, between(at, at + hour)).await.unwrap().len(), 1, "{}", world.name);
        assert!(world.engine.search(&ann, between(at - hour, at)).await.unwrap().is_empty(), "{}", world.name);
        let filtered = SearchRequest::new("tea").filter(Filter::gte("observed_at", at.to_rfc3339()));
        assert_eq!(world.engine.search(&ann, filtered).await.unwrap().len(), 1, "{}", world.name);
    }
}

/// Answers with the relevance that a text carries after its last blank.
#[derive(Debug)]
struct Judge;

#[async_trait]
impl Reranker for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        match query {
            "away" => Err(Error::new(ErrorKind::ProviderUnreachable, "no answer").with_backend("judge")),
            "short" => Ok(vec![0.5]),
            "odd" => Ok(vec![f32::NAN; texts.len()]),
            _ => Ok(texts.iter().map(|text| text.rsplit(' ').next().unwrap().parse().unwrap()).collect()),
        }
    }
}

#[tokio::test]
async fn a_reranker_has_the_last_word_as_far_as_it_counts() {
    for world in World::all().await {
        let engine = |weight| {
            let mut weights = Weights::default();
            weights.rerank = weight;
            world.builder().reranker(Arc::new(Judge)).weights(weights).build()
        };
        let ann = Scope::user("ann");
        for text in ["tea tea cake 0.1", "tea 0.9", "coffee 0.4"] {
            world.add(&ann, text).await;
        }
        let sure = engine(1.0).await.unwrap();
        let hits = sure.search(&ann, "tea cake").await.unwrap();
        assert_eq!(texts(&hits), ["tea 0.9", "coffee 0.4", "tea tea cake 0.1"], "{}", world.name);
        assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [0.9, 0.4, 0.1]);
        let above = sure.search(&ann, SearchRequest::new("tea cake").threshold(0.4)).await.unwrap();
        assert_eq!(texts(&above), ["tea 0.9", "coffee 0.4"]);
        let plain = world.engine.search(&ann, "tea cake").await.unwrap();
        let deaf = engine(0.0).await.unwrap().search(&ann, "tea cake").await.unwrap();
        assert_eq!(texts(&deaf), texts(&plain));
        let half = engine(0.5).await.unwrap().search(&ann, "tea cake").await.unwrap();
        let own = plain.iter().find(|hit| hit.memory.id == half[0].memory.id).unwrap().score;
        assert!((half[0].score - (own + value(&half[0], Part::Rerank).unwrap()) / 2.0).abs() < 1e-6);
        assert!((Hit::new(half[0].memory.clone(), half[0].parts.clone()).score - half[0].score).abs() < 1e-6);
        // Nothing to judge, no question; and no failure passes for an empty result.
        assert!(sure.search(&Scope::user("nobody"), "away").await.unwrap().is_empty());
        for (query, kind) in [
            ("away", ErrorKind::ProviderUnreachable),
            ("short", ErrorKind::UnusableModelOutput),
            ("odd", ErrorKind::UnusableModelOutput),
        ] {
            let error = sure.search(&ann, query).await.unwrap_err();
            assert_eq!((error.kind(), error.backend()), (kind, Some("judge")), "{error}");
        }
    }
}
