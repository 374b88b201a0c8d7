//! Stories of a user over time, and kinds of fault that once were.

use std::sync::Arc;

use ingrain::{
    AddRequest, ErrorKind, Filter, ListRequest, MemoryUpdate, Message, Metadata, Scope, SearchMode, SearchRequest,
    VectorStore,
};
use serde_json::json;

use crate::worlds::{World, texts, time};

fn at(text: &str, day: &str) -> Message {
    Message::user(text).at(time(&format!("{day}T12:00:00Z")))
}

/// The texts of the facts that held on the day.
async fn held(world: &World, scope: &Scope, day: &str) -> Vec<String> {
    let request = ListRequest::new().filter(Filter::ne("kind", "episode")).as_of(time(&format!("{day}T13:00:00Z")));
    world.engine.list(scope, request).await.unwrap().items.into_iter().map(|memory| memory.text).collect()
}

#[tokio::test]
async fn old_chats_in_one_import_become_a_history() {
    for world in World::all().await {
        let ines = Scope::user("ines");
        let told = [
            at("I live in Berlin.", "2022-03-01"),
            at("I live in Madrid.", "2023-03-01"),
            at("I live in Rome.", "2024-03-01"),
        ];
        world.engine.add(&ines, told).await.unwrap();
        // And one that comes in later, of a time before all of them.
        world.engine.add(&ines, [at("I live in Hamburg.", "2021-03-01")]).await.unwrap();
        for (day, home) in
            [("2021-06-01", "Hamburg"), ("2022-06-01", "Berlin"), ("2023-06-01", "Madrid"), ("2024-06-01", "Rome")]
        {
            assert_eq!(held(&world, &ines, day).await, [format!("Lives in {home}")], "{} {day}", world.name);
        }
        assert_eq!(texts(&world.list(&ines).await), ["Lives in Rome"], "{}", world.name);
    }
}

#[tokio::test]
async fn what_was_said_last_is_current_whenever_it_began() {
    for world in World::all().await {
        let nora = Scope::user("nora");
        world.engine.add(&nora, [at("I live in Lisbon.", "2025-01-20")]).await.unwrap();
        let report = world.engine.add(&nora, [at("I moved to Porto last month.", "2025-02-01")]).await.unwrap();
        assert_eq!(texts(&report.superseded), ["Lives in Lisbon"], "{}", world.name);
        let current = world.list(&nora).await;
        assert_eq!(current.len(), 1, "{}: {:?}", world.name, texts(&current));
        assert!(current[0].text.contains("Porto"));
    }
}

#[tokio::test]
async fn what_is_told_again_in_other_words_is_there_once() {
    for world in World::all().await {
        let leo = Scope::user("leo");
        for (news, again) in [
            ("My sister moved to Ghent.", "My sister lives in Ghent."),
            ("Я переехала в Тверь.", "Я живу в Твери."),
            ("Я устроилась в Сбер.", "Я работаю в Сбере."),
            ("I have a small dog named Rex.", "I have a dog named Rex."),
        ] {
            assert_eq!(world.engine.add(&leo, news).await.unwrap().added.len(), 1, "{}: {news}", world.name);
            let report = world.engine.add(&leo, again).await.unwrap();
            assert_eq!((report.added.len(), report.skipped.len()), (0, 1), "{}: {again} {report:?}", world.name);
        }
    }
}

#[tokio::test]
async fn what_is_told_to_be_over_ends() {
    for world in World::all().await {
        let mia = Scope::user("mia");
        for (told, over) in [
            ("I have a cat named Luna.", "My cat Luna passed away last night."),
            ("I have a small dog named Rex.", "I no longer have my dog Rex."),
            ("I play the violin.", "I stopped playing the violin."),
            ("I'm learning Spanish.", "I'm not learning Spanish anymore."),
            ("I collect stamps.", "I no longer collect stamps."),
            ("Я играю в шахматы.", "Я больше не играю в шахматы."),
            ("У меня есть кот Барсик.", "Мой кот Барсик умер."),
        ] {
            let known = world.engine.add(&mia, told).await.unwrap().added.remove(0);
            let report = world.engine.add(&mia, over).await.unwrap();
            assert_eq!(texts(&report.superseded), [known.text.as_str()], "{}: {over} {report:?}", world.name);
        }
    }
}

#[tokio::test]
async fn a_trip_is_no_plan_any_more_when_its_month_is_over() {
    for world in World::all().await {
        let eva = Scope::user("eva");
        world.engine.add(&eva, [at("I'm planning a trip to Peru in June 2024.", "2024-03-01")]).await.unwrap();
        assert_eq!(
            held(&world, &eva, "2024-06-30").await,
            ["Is planning a trip to Peru in June 2024"],
            "{}",
            world.name
        );
        assert_eq!(held(&world, &eva, "2024-07-01").await, [""; 0], "{}", world.name);
    }
}

#[tokio::test]
async fn a_trip_is_over_after_its_last_day_and_not_before() {
    for world in World::all().await {
        for (user, message, during, after) in [
            ("ana", "I'm in Paris from 3 to 10 May.", "2024-05-10", "2024-05-11"),
            ("ben", "I plan to stay in Paris until Friday.", "2024-05-03", "2024-05-04"),
            ("cleo", "I'm staying in Paris until Christmas.", "2024-12-25", "2024-12-27"),
        ] {
            let scope = Scope::user(user);
            world.engine.add(&scope, [at(message, "2024-05-01")]).await.unwrap();
            assert_eq!(held(&world, &scope, during).await.len(), 1, "{}: {message}", world.name);
            assert_eq!(held(&world, &scope, after).await, [""; 0], "{}: {message}", world.name);
        }
    }
}

#[tokio::test]
async fn what_is_told_of_the_past_held_then() {
    for world in World::all().await {
        let ida = Scope::user("ida");
        let told = [at("I live in Porto.", "2024-05-01"), at("I lived in Rome from 2018 to 2021.", "2024-05-02")];
        world.engine.add(&ida, told).await.unwrap();
        assert_eq!(held(&world, &ida, "2019-05-01").await, ["Lived in Rome from 2018 to 2021"], "{}", world.name);
        assert_eq!(held(&world, &ida, "2024-06-01").await, ["Lives in Porto"], "{}", world.name);
        let hits = world.engine.search(&ida, "Where did I live in 2019?").await.unwrap();
        let found = hits.iter().any(|hit| hit.memory.text == "Lived in Rome from 2018 to 2021");
        assert!(found, "{}: {hits:?}", world.name);
    }
}

#[tokio::test]
async fn a_session_contradicts_what_another_taught() {
    for world in World::all().await {
        let user = Scope::user("ada");
        let (monday, friday) = (user.clone().with_session("monday"), user.clone().with_session("friday"));
        world.engine.add(&monday, "I live in Lisbon.").await.unwrap();
        world.engine.add(&friday, "I live in Porto.").await.unwrap();
        assert_eq!(texts(&world.list(&user).await), ["Lives in Porto"], "{}", world.name);
        assert!(world.list(&monday).await.is_empty() && world.list(&friday).await.len() == 1);
    }
}

#[tokio::test]
async fn many_adds_at_once_are_all_kept_and_agree() {
    for world in World::all().await {
        let scope = Scope::user("busy");
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                let (engine, scope) = (world.engine.clone(), scope.clone());
                let said =
                    if number % 2 == 0 { "I live in Lisbon.".to_owned() } else { format!("I like fruit{number}.") };
                tokio::spawn(async move { engine.add(&scope, said).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let facts = world.list(&scope).await;
        assert_eq!(facts.len(), 21, "{}: {:?}", world.name, texts(&facts));
        let turns = world.everything(&scope).await;
        let mut places: Vec<u64> = turns.iter().filter_map(|memory| memory.ordinal).collect();
        places.sort_unstable();
        assert_eq!(places, (0..40).collect::<Vec<_>>(), "{}: each turn has a place of its own", world.name);
    }
}

#[tokio::test]
async fn a_fact_is_ended_and_opened_again_by_hand() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        world.engine.add(&tom, "I live in Lisbon.").await.unwrap();
        let wrong = world.engine.add(&tom, "I live in Porto.").await.unwrap();
        let (porto, lisbon) = (wrong.added[0].id, wrong.superseded[0].id);
        world.engine.delete(&tom, porto).await.unwrap();
        let again = world.engine.update(&tom, lisbon, MemoryUpdate::new().valid_until(None)).await.unwrap();
        assert_eq!((again.invalid_at, again.superseded_by), (None, None));
        assert_eq!(texts(&world.list(&tom).await), ["Lives in Lisbon"], "{}", world.name);
        let before = again.valid_at - chrono::Duration::days(1);
        let refused = world.engine.update(&tom, lisbon, MemoryUpdate::new().valid_until(Some(before))).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

fn nested(depth: usize) -> Metadata {
    let inner = (0..depth).fold(json!(1), |inner, _| json!([inner]));
    Metadata::from_iter([("x".to_owned(), inner)])
}

#[tokio::test]
async fn metadata_is_refused_before_it_is_too_deep_to_read() {
    for world in World::all().await {
        let scope = Scope::user("deep");
        let fine = world.engine.add(&scope, Message::user("hi").with_metadata(nested(60))).await.unwrap();
        assert_eq!(world.engine.get(&scope, fine.episodes[0]).await.unwrap().metadata, nested(60));
        for depth in [65, 130, 300] {
            let message = Message::user("hi").with_metadata(nested(depth));
            assert_eq!(world.engine.add(&scope, message).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
            let update = MemoryUpdate::new().metadata(nested(depth));
            let refused = world.engine.update(&scope, fine.episodes[0], update).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{} {depth}", world.name);
        }
        assert_eq!(world.everything(&scope).await.len(), 1);
    }
}

#[tokio::test]
async fn hits_fit_the_filter_whatever_others_change_meanwhile() {
    for world in World::all().await {
        let scope = Scope::user("flip");
        let id = world.add(&scope, "Owns a kayak").await.id;
        let engine = world.engine.clone();
        let flipping = {
            let (engine, scope) = (engine.clone(), scope.clone());
            tokio::spawn(async move {
                for number in 0..200 {
                    let metadata = Metadata::from_iter([("k".to_owned(), json!(number % 2))]);
                    engine.update(&scope, id, MemoryUpdate::new().metadata(metadata)).await.unwrap();
                }
            })
        };
        while !flipping.is_finished() {
            let request = SearchRequest::new("kayak").filter(Filter::eq("k", 1));
            for hit in engine.search(&scope, request).await.unwrap() {
                assert_eq!(hit.memory.metadata.get("k"), Some(&json!(1)), "{}", world.name);
            }
            tokio::task::yield_now().await;
        }
        flipping.await.unwrap();
    }
}

#[tokio::test]
async fn a_search_before_the_first_binding_spoils_nothing() {
    let stores: Vec<Arc<dyn VectorStore>> = vec![
        Arc::new(ingrain::InMemoryStore::new()),
        #[cfg(feature = "sqlite")]
        Arc::new(ingrain::SqliteStore::open_in_memory().await.unwrap()),
    ];
    for store in stores {
        let scope = Scope::user("early");
        let query = ingrain::SearchQuery::new(scope.clone(), time("2025-02-10T08:00:00Z")).words("kayak");
        assert!(store.search(&query).await.unwrap().is_empty());
        let embedder = ingrain::HashingEmbedder::new(64);
        let engine = ingrain::MemoryEngine::builder().store(store).embedder(embedder).build().await.unwrap();
        engine.add_raw(&scope, ["Owns a kayak"]).await.unwrap();
        let request = SearchRequest::new("Owns a kayak").mode(SearchMode::Vector);
        let hits = engine.search(&scope, request).await.unwrap();
        assert!(hits[0].score > 0.999, "{hits:?}");
    }
}

#[tokio::test]
async fn an_add_without_messages_does_nothing() {
    for world in World::all().await {
        let scope = Scope::user("quiet");
        for request in [AddRequest::new(Vec::<Message>::new()), AddRequest::from("   ")] {
            let report = world.engine.add(&scope, request).await.unwrap();
            assert!(report.episodes.is_empty() && report.added.is_empty());
        }
        assert!(world.everything(&scope).await.is_empty(), "{}", world.name);
    }
}
