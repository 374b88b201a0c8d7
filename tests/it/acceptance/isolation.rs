//! Whose memory it is: nobody reads, moves, crowds out or forgets another's.

use ingrain::{
    Error, ErrorKind, ListRequest, MemoryId, MemoryUpdate, Result, Scope, SearchMode, SearchRequest,
    testing::GivenVectors,
};

use crate::worlds::{World, t0, texts};

const MODES: [SearchMode; 3] = [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid];

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.err().as_ref().map_or(ErrorKind::Internal, Error::kind)
}

#[tokio::test]
async fn two_users_share_no_read_path() {
    for world in World::all().await {
        let (alpha, beta) = (Scope::user("alpha-1"), Scope::user("beta-1"));
        world.add(&alpha, "Rosa spielt Cello").await;
        let theirs = world.add(&beta, "Rosa spielt Tennis").await;
        for mode in MODES {
            let hits = world.engine.search(&alpha, SearchRequest::new("Was spielt Rosa?").mode(mode)).await.unwrap();
            let found: Vec<&str> = hits.iter().map(|hit| hit.memory.text.as_str()).collect();
            assert_eq!(found, ["Rosa spielt Cello"], "{}, {mode:?}", world.name);
        }
        assert_eq!(texts(&world.list(&alpha).await), ["Rosa spielt Cello"]);
        let engine = &world.engine;
        let update = MemoryUpdate::new().text("Rosa spielt nichts");
        assert_eq!(kind(engine.get(&alpha, theirs.id).await), ErrorKind::NotFound);
        assert_eq!(kind(engine.history(&alpha, theirs.id).await), ErrorKind::NotFound);
        assert_eq!(kind(engine.update(&alpha, theirs.id, update).await), ErrorKind::NotFound);
        assert_eq!(kind(engine.delete(&alpha, theirs.id).await), ErrorKind::NotFound);
        assert_eq!(world.everything(&beta).await, std::slice::from_ref(&theirs));
        assert_eq!(engine.history(&beta, theirs.id).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_loud_neighbour_does_not_starve_a_quiet_user() {
    let vectors = || {
        GivenVectors::new(4)
            .with("q1", [0.5, 0.866_025_4, 0.0, 0.0])
            .with("q2", [0.4, 0.916_515_1, 0.0, 0.0])
            .with("q3", [0.3, 0.953_939_2, 0.0, 0.0])
            .with("loud", [1.0, 0.0, 0.0, 0.0])
            .with("query", [1.0, 0.0, 0.0, 0.0])
    };
    for world in World::all_with(vectors).await {
        world.engine.add_raw(&Scope::user("loud"), ["loud"; 500]).await.unwrap();
        let quiet = Scope::user("quiet");
        world.engine.add_raw(&quiet, ["q3", "q1", "q2"]).await.unwrap();
        let request = SearchRequest::new("query").mode(SearchMode::Vector).limit(3);
        let hits = world.engine.search(&quiet, request).await.unwrap();
        for (hit, (text, similarity)) in hits.iter().zip([("q1", 0.5), ("q2", 0.4), ("q3", 0.3)]) {
            assert_eq!(hit.memory.text, text, "{}", world.name);
            assert!((hit.score - similarity).abs() < 0.001, "{text}: {}", hit.score);
        }
        assert_eq!(hits.len(), 3);
    }
}

#[tokio::test]
async fn a_bad_scope_is_refused_at_the_door() {
    for world in World::all().await {
        let zoe = Scope::user("zoe");
        world.add(&zoe, "Keeps bees").await;
        let before = world.everything(&zoe).await;
        let embedded = world.embedder.requests();
        for bad in
            [Scope::from_parts(None, None, None), Scope::user(""), Scope::user("   "), zoe.clone().with_session("")]
        {
            let engine = &world.engine;
            let id = before[0].id;
            let kinds = [
                kind(engine.add(&bad, "I keep bees.").await),
                kind(engine.add_raw(&bad, ["Keeps bees"]).await),
                kind(engine.search(&bad, "bees").await),
                kind(engine.list(&bad, ListRequest::new()).await),
                kind(engine.count(&bad, None).await),
                kind(engine.get(&bad, id).await),
                kind(engine.history(&bad, id).await),
                kind(engine.update(&bad, id, MemoryUpdate::new().text("x")).await),
                kind(engine.delete(&bad, id).await),
                kind(engine.delete_all(&bad).await),
            ];
            assert_eq!(kinds, [ErrorKind::InvalidArgument; 10], "{}, {bad:?}", world.name);
        }
        assert_eq!(world.embedder.requests(), embedded, "nothing was asked of the embedder");
        assert_eq!(world.everything(&zoe).await, before);
    }
}

#[tokio::test]
async fn an_id_that_is_none_or_unknown_is_not_found() {
    for text in ["not-a-uuid", "", "💥", "'; DROP TABLE memories;--"] {
        assert_eq!(kind(text.parse::<MemoryId>()), ErrorKind::InvalidArgument, "{text:?}");
    }
    for world in World::all().await {
        let (engine, zoe) = (&world.engine, Scope::user("zoe"));
        world.add(&zoe, "Keeps bees").await;
        for id in [MemoryId::new(t0()), MemoryId::from_bytes([0; 16]), MemoryId::from_bytes([0xFF; 16])] {
            let kinds = [
                kind(engine.get(&zoe, id).await),
                kind(engine.history(&zoe, id).await),
                kind(engine.update(&zoe, id, MemoryUpdate::new().text("x")).await),
                kind(engine.delete(&zoe, id).await),
            ];
            assert_eq!(kinds, [ErrorKind::NotFound; 4], "{}", world.name);
        }
        assert_eq!(world.everything(&zoe).await.len(), 1);
    }
}

#[tokio::test]
async fn no_limit_and_no_memory_give_an_empty_list() {
    for world in World::all().await {
        let (engine, zoe) = (&world.engine, Scope::user("zoe"));
        for mode in MODES {
            assert_eq!(engine.search(&zoe, SearchRequest::new("bees").mode(mode)).await.unwrap(), []);
        }
        assert_eq!(engine.list(&zoe, ListRequest::new()).await.unwrap().items, []);
        world.add(&zoe, "Keeps bees").await;
        assert_eq!(engine.search(&zoe, SearchRequest::new("bees").limit(0)).await.unwrap(), [], "{}", world.name);
    }
}

#[tokio::test]
async fn delete_all_takes_all_of_mine_and_nothing_else() {
    for world in World::all().await {
        let (engine, bulk, other) = (&world.engine, Scope::user("bulk"), Scope::user("other"));
        let notes = (1..=250).map(|number| format!("Note {number:03}"));
        engine.add_raw(&bulk, notes).await.unwrap();
        let kept = engine.add_raw(&other, ["Note 1", "Note 2", "Note 3", "Note 4", "Note 5"]).await.unwrap();
        assert_eq!(engine.delete_all(&bulk).await.unwrap(), 250, "{}", world.name);
        assert_eq!(engine.list(&bulk, ListRequest::new()).await.unwrap().total, 0);
        for mode in MODES {
            assert_eq!(engine.search(&bulk, SearchRequest::new("Note 001").mode(mode)).await.unwrap(), []);
        }
        assert_eq!(engine.delete_all(&bulk).await.unwrap(), 0);
        assert_eq!(world.everything(&other).await, kept);
        world.add(&bulk, "Note 251").await;
        assert_eq!(engine.list(&bulk, ListRequest::new()).await.unwrap().total, 1);
    }
}

#[tokio::test]
async fn a_session_is_part_of_its_user() {
    for world in World::all().await {
        let (engine, user) = (&world.engine, Scope::user("ines"));
        let (monday, tuesday) = (user.clone().with_session("monday"), user.clone().with_session("tuesday"));
        world.add(&monday, "Talked about the harbour").await;
        world.add(&tuesday, "Talked about the ferry").await;
        assert_eq!(engine.count(&user, None).await.unwrap(), 2);
        assert_eq!(texts(&world.list(&monday).await), ["Talked about the harbour"]);
        assert_eq!(engine.delete_all(&monday).await.unwrap(), 1);
        assert_eq!(texts(&world.list(&user).await), ["Talked about the ferry"]);
    }
}
