//! What is shown, and in which order.

use ingrain::{
    AddMode, AddRequest, ContextRequest, ErrorKind, Filter, MemoryKind, Message, NewMemory, Scope, TokenBudget, Trust,
};

use super::frame::read;
use crate::worlds::{World, object, time};

const ROOM: TokenBudget = TokenBudget::new(4_000);

fn new(kind: MemoryKind, text: &str) -> NewMemory {
    NewMemory::new(text).kind(kind)
}

/// Heads and texts of what is shown.
fn lines(text: &str) -> Vec<(String, String)> {
    read(text).into_iter().map(|line| (line.head, line.text)).collect()
}

fn texts(text: &str) -> Vec<String> {
    read(text).into_iter().map(|line| line.text).collect()
}

#[tokio::test]
async fn blocks_come_first_then_what_is_known_then_turns() {
    for world in World::all().await {
        let alice = Scope::user("alice");
        let monday = alice.clone().with_session("monday");
        let at = |text: &str| time(text);
        let turns = [
            Message::user("What is there for dinner?").at(at("2025-02-03T18:00:00Z")).from_speaker("Alice"),
            Message::assistant("Prawns, if you like.").at(at("2025-02-03T18:01:00Z")),
        ];
        world.engine.add(&monday, AddRequest::new(turns).mode(AddMode::Raw)).await.unwrap();
        let memories = [
            new(MemoryKind::Summary, "Talked about dinner").at(at("2025-02-04T10:00:00Z")),
            new(MemoryKind::Preference, "Likes a late dinner").at(at("2025-02-02T10:00:00Z")),
            new(MemoryKind::Fact, "Has dinner at eight").at(at("2025-02-02T10:00:00Z")).trust(Trust::Assistant),
            new(MemoryKind::Fact, "Cooks dinner with her sister").at(at("2024-12-31T23:59:59Z")).speaker("Alice"),
            new(MemoryKind::Custom("recipe".into()), "Dinner is rice").at(at("2025-01-01T00:00:00Z")),
            new(MemoryKind::Block, "Speaks Portuguese"),
            new(MemoryKind::Block, "Answers are short").pinned(true).slot("style"),
        ];
        world.engine.add_raw(&alice, memories).await.unwrap();
        let context = world.engine.context(&alice, "dinner", ROOM).await.unwrap();
        let pair = |head: &str, text: &str| (head.to_owned(), text.to_owned());
        let expected = [
            pair("block \"style\"", "Answers are short"),
            pair("block", "Speaks Portuguese"),
            pair("fact 2024-12-31 \"Alice\"", "Cooks dinner with her sister"),
            pair("fact 2025-02-02 assistant", "Has dinner at eight"),
            pair("preference 2025-02-02", "Likes a late dinner"),
            pair("summary 2025-02-04", "Talked about dinner"),
            pair("kind \"recipe\" 2025-01-01", "Dinner is rice"),
            pair("\"Alice\"", "What is there for dinner?"),
            pair("assistant", "Prawns, if you like."),
        ];
        assert_eq!(lines(&context.text), expected, "{}", world.name);
        let read = read(&context.text);
        assert_eq!(read[7].day.as_deref(), Some("on 2025-02-03, session \"monday\""));
        assert_eq!(context.memories.len(), expected.len());
        assert_eq!((context.cut.len(), context.left_out.len()), (0, 0));
        assert_eq!(format!("{context}"), context.text);
    }
}

#[tokio::test]
async fn turns_are_shown_with_those_around_them_by_session_and_day() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        for (session, day) in [("b", 4), ("a", 4), ("c", 3)] {
            let scope = ann.clone().with_session(session);
            let said = ["Good morning", "Now of the harvest", "It was plums", "They were ripe", "Good night"];
            let turns = said.iter().zip(0..).map(|(text, hour)| {
                let hour = if session == "a" { hour + 10 } else { hour };
                Message::user(format!("{text}, {session}")).at(time(&format!("2025-02-0{day}T{hour:02}:00:00Z")))
            });
            let turns: Vec<Message> = turns.collect();
            world.engine.add(&scope, AddRequest::new(turns).mode(AddMode::Raw)).await.unwrap();
        }
        // The same place of a stranger's session, and of one without a name.
        world.add(&Scope::user("bob").with_session("a"), "x").await;
        world.engine.add(&ann, AddRequest::new(["Nothing"]).mode(AddMode::Raw)).await.unwrap();
        let request = ContextRequest::new("harvest").limit(3);
        let shown = |neighbours| {
            let request = request.clone().neighbours(neighbours);
            let (world, ann) = (&world, &ann);
            async move { world.engine.context(ann, request, ROOM).await.unwrap().text }
        };
        let told = |session: &str| format!("Now of the harvest, {session}");
        assert_eq!(texts(&shown(0).await), [told("c"), told("b"), told("a")], "{}", world.name);
        let one = shown(1).await;
        let around =
            |session: &str| [format!("Good morning, {session}"), told(session), format!("It was plums, {session}")];
        assert_eq!(texts(&one), [around("c"), around("b"), around("a")].concat(), "{}", world.name);
        assert_eq!(one.matches("‣ on ").count(), 3);
        assert!(texts(&shown(2).await).contains(&"They were ripe, a".to_owned()));
        let error = world.engine.context(&ann, request.clone().neighbours(21), ROOM).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn nothing_is_told_twice() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let turns = ["I keep bees. I sell honey.", "Nobody here likes tea at all."];
        world.engine.add(&ann, AddRequest::new(turns).mode(AddMode::Raw)).await.unwrap();
        let known = ["i keep bees", "I sell honey.", "Likes tea", "Likes tea!", "Sells honey", "Is tall"];
        world.engine.add_raw(&ann, known).await.unwrap();
        world.engine.add_raw(&ann, [new(MemoryKind::Block, "Is tall.")]).await.unwrap();
        let context = world.engine.context(&ann, "bees honey tea tall", ROOM).await.unwrap();
        let mut shown = texts(&context.text);
        shown.sort_unstable();
        let mut expected = ["Is tall.", "Sells honey", turns[0], turns[1]].map(str::to_owned).to_vec();
        // One of the two that differ in a mark.
        expected.push(shown.iter().find(|text| text.starts_with("Likes tea")).cloned().unwrap());
        expected.sort_unstable();
        assert_eq!(shown, expected, "{}", world.name);
        assert_eq!(context.left_out, []);
    }
}

#[tokio::test]
async fn the_same_memory_gives_the_same_bytes_and_blocks_are_a_stable_beginning() {
    let mut all = Vec::new();
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = (0..6).map(|number| new(MemoryKind::Block, &format!("Block {number}")).pinned(number % 2 == 0));
        world.engine.add_raw(&ann, blocks).await.unwrap();
        let facts = (0..40).map(|number| format!("Fact {number} of the river and the mill"));
        world.engine.add_raw(&ann, facts).await.unwrap();
        let turns: Vec<Message> = (0..40).map(|number| Message::user(format!("Turn {number} by the river"))).collect();
        world.engine.add(&ann, AddRequest::new(turns).mode(AddMode::Raw)).await.unwrap();
        let of = |query: &'static str| world.engine.context(&ann, query, TokenBudget::new(400));
        let (river, mill, nothing) = (of("river").await.unwrap(), of("mill").await.unwrap(), of("zzz").await.unwrap());
        world.clock.set(time("2026-01-01T00:00:00Z"));
        assert_eq!(of("river").await.unwrap(), river, "no clock, no chance");
        let begin = river.text.find("‣ fact").unwrap();
        assert!(river.text[..begin].contains("Block 5"));
        for other in [&mill, &nothing] {
            assert!(other.text.starts_with(&river.text[..begin]), "{}", other.text);
        }
        assert_ne!(river.text, mill.text);
        all.push(river.text);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "every store gives the same");
}

#[tokio::test]
async fn nothing_known_is_an_empty_text() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.add(&Scope::user("bob"), "Keeps bees").await;
        let context = world.engine.context(&ann, "bees", ROOM).await.unwrap();
        assert_eq!(context, ingrain::MemoryContext::default());
        assert!(context.is_empty());
        world.add(&ann, "Keeps bees").await;
        assert!(world.engine.context(&ann, ContextRequest::new("bees").limit(0), ROOM).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn kinds_filters_and_times_hold_for_all_that_is_shown() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let secret = |memory: NewMemory| memory.metadata(object(serde_json::json!({"secret": true})));
        let memories = [
            new(MemoryKind::Block, "Block"),
            secret(new(MemoryKind::Block, "Secret block")),
            new(MemoryKind::Fact, "Bees, a fact"),
            new(MemoryKind::Fact, "Bees, of old")
                .at(time("2020-01-01T00:00:00Z"))
                .valid_until(time("2021-01-01T00:00:00Z")),
            new(MemoryKind::Episode, "Bees, said"),
            secret(new(MemoryKind::Episode, "Secretly said")),
            new(MemoryKind::Custom("note".into()), "Bees, noted"),
        ];
        world.engine.add_raw(&ann, memories).await.unwrap();
        let shown =
            |request: ContextRequest| async { texts(&world.engine.context(&ann, request, ROOM).await.unwrap().text) };
        let bees = ContextRequest::new("bees").limit(50);
        let open = bees.clone().filter(Filter::ne("secret", true));
        assert_eq!(shown(open).await, ["Block", "Bees, a fact", "Bees, noted", "Bees, said"], "{}", world.name);
        assert_eq!(shown(bees.clone()).await.len(), 6);
        assert_eq!(shown(bees.clone().kinds([MemoryKind::Fact])).await, ["Bees, a fact"]);
        assert_eq!(shown(bees.clone().kinds([MemoryKind::Custom("note".into())])).await, ["Bees, noted"]);
        assert_eq!(shown(bees.clone().kinds([MemoryKind::Block])).await, ["Block", "Secret block"]);
        assert_eq!(shown(bees.clone().as_of(time("2020-06-01T00:00:00Z"))).await, ["Bees, of old"]);
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_by_kind() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.add(&ann, "Keeps bees").await;
        let bad_filter = ContextRequest::new("x").filter(Filter::condition("a", ingrain::Comparison::In, 3));
        let results = [
            world.engine.context(&Scope::user(""), "x", ROOM).await,
            world.engine.context(&ann, "  ", ROOM).await,
            world.engine.context(&ann, bad_filter, ROOM).await,
            world.engine.context(&ann, "x", ROOM.blocks(1.5)).await,
            world.engine.context(&ann, "x", ROOM.blocks(f32::NAN)).await,
        ];
        for result in results {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidArgument, "{}", world.name);
        }
        world.store.stop();
        let error = world.engine.context(&ann, "bees", ROOM).await.unwrap_err();
        assert_eq!((error.kind(), error.stage()), (ErrorKind::StoreUnavailable, Some(ingrain::Stage::Search)));
    }
}

/// The query is embedded once, and of a store only what is shown is read.
#[tokio::test]
async fn one_vector_serves_both_searches() {
    let world = World::in_memory().await;
    let ann = Scope::user("ann");
    world.add(&ann, "Keeps bees").await;
    let before = world.embedder.requests();
    world.engine.context(&ann, "bees", ROOM).await.unwrap();
    assert_eq!(world.embedder.requests() - before, 1);
}
