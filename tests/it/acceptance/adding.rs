//! What is kept of a conversation, and when it was said.

use ingrain::{AddMode, AddRequest, ErrorKind, Filter, ListRequest, MemoryKind, Message, NewMemory, Scope, Trust};

use crate::worlds::{World, texts, time};

fn raw(messages: impl IntoIterator<Item = Message>) -> AddRequest {
    AddRequest::new(messages).mode(AddMode::Raw)
}

#[tokio::test]
async fn roles_decide_what_is_kept() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        let turns = || {
            [
                Message::system("You are helpful"),
                Message::user("system"),
                Message::assistant("Noted."),
                Message::tool("t1", r#"{"ok":true}"#),
            ]
        };
        let report = world.engine.add(&tom, raw(turns()).assistant_messages(true)).await.unwrap();
        let kept = world.everything(&tom).await;
        assert_eq!(texts(&kept), ["system", "Noted."], "{}", world.name);
        assert_eq!(kept.iter().map(|memory| memory.trust).collect::<Vec<_>>(), [Trust::User, Trust::Assistant]);
        assert!(kept.iter().all(|memory| memory.kind == MemoryKind::Episode));
        assert_eq!(report.episodes, kept.iter().map(|memory| memory.id).collect::<Vec<_>>());
        let alone = Scope::user("alone");
        world.engine.add(&alone, raw(turns()).assistant_messages(false)).await.unwrap();
        assert_eq!(texts(&world.everything(&alone).await), ["system"]);
    }
}

#[tokio::test]
async fn the_assistants_words_are_no_facts_of_the_user() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        let report =
            world.engine.add(&tom, [Message::assistant("I live in Rome and I am allergic to nuts.")]).await.unwrap();
        assert_eq!((report.added, world.list(&tom).await), (Vec::new(), Vec::new()), "{}", world.name);
    }
}

#[tokio::test]
async fn a_message_keeps_its_own_time() {
    for world in World::all().await {
        world.clock.set(time("2026-08-01T12:00:00Z"));
        let said = time("2024-03-01T10:00:00+03:00");
        assert_eq!(said, time("2024-03-01T07:00:00Z"));
        let (dated, undated) = (Scope::user("dated"), Scope::user("undated"));
        let text = "Вчера я сдала экзамен по вождению.";
        world.engine.add(&dated, Message::user(text).at(said)).await.unwrap();
        world.engine.add(&undated, Message::user(text)).await.unwrap();
        let now = time("2026-08-01T12:00:00Z");
        for memory in world.everything(&dated).await {
            assert_eq!((memory.observed_at, memory.created_at), (said, now), "{}: {}", world.name, memory.text);
        }
        for memory in world.everything(&undated).await {
            assert_eq!((memory.observed_at, memory.created_at), (now, now), "{}: {}", world.name, memory.text);
        }
        assert!(!world.everything(&dated).await.is_empty() && !world.everything(&undated).await.is_empty());
        let during = Filter::between("observed_at", time("2024-01-01T00:00:00Z"), time("2025-01-01T00:00:00Z"));
        assert!(world.engine.count(&dated, Some(&during)).await.unwrap() > 0);
        assert_eq!(world.engine.count(&undated, Some(&during)).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn turns_keep_their_order_and_what_came_with_them() {
    for world in World::all().await {
        let session = Scope::user("ines").with_session("1");
        for batch in 0..3 {
            let message = |turn: usize| {
                Message::user(format!("turn {}", batch * 2 + turn))
                    .from_speaker("Inês")
                    .with_id(format!("m{batch}{turn}"))
            };
            world.engine.add(&session, raw([message(0), message(1)])).await.unwrap();
        }
        let kept = world.everything(&session).await;
        assert_eq!(texts(&kept), ["turn 0", "turn 1", "turn 2", "turn 3", "turn 4", "turn 5"], "{}", world.name);
        assert!(kept.iter().all(|memory| memory.speaker.as_deref() == Some("Inês")));
        assert_eq!(kept[3].sources, [ingrain::Source::Message("m11".into())]);
    }
}

#[tokio::test]
async fn turns_know_their_place_in_the_session() {
    for world in World::all().await {
        let (first, second) = (Scope::user("ines").with_session("1"), Scope::user("ines").with_session("2"));
        for session in [&first, &second, &first] {
            world.engine.add(session, raw([Message::user("a turn"), Message::user("another")])).await.unwrap();
        }
        for (session, turns) in [(first, 4), (second, 2)] {
            let kept = world.everything(&session).await;
            let places: Vec<u64> = kept.iter().filter_map(|memory| memory.ordinal).collect();
            assert_eq!(places, (0..turns).collect::<Vec<_>>(), "{}", world.name);
        }
    }
}

/// However they meet, the same news is known once, and of two homes one is the present one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn adds_at_once_see_each_others_outcome() {
    for world in World::all().await {
        let (same, moving) = (Scope::user("same"), Scope::user("moving"));
        let said = |scope: &Scope, text: &'static str| {
            let (engine, scope) = (world.engine.clone(), scope.clone());
            tokio::spawn(async move { engine.add(&scope, text).await })
        };
        let tasks: Vec<_> = (0..6)
            .flat_map(|turn| {
                let home = if turn % 2 == 0 { "I live in Lisbon." } else { "I live in Porto." };
                [said(&same, "I'm allergic to shellfish."), said(&moving, home)]
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            let report = task.await.unwrap().unwrap();
            assert_eq!(report.episodes.len(), 1);
            done += 1;
        }
        let (same, moving) = (world.list(&same).await, world.list(&moving).await);
        assert_eq!(
            (done, same.len(), moving.len()),
            (12, 1, 1),
            "{}: {:?} {:?}",
            world.name,
            texts(&same),
            texts(&moving)
        );
    }
}

#[tokio::test]
async fn nothing_said_is_nothing_done() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        let report = world.engine.add(&tom, Vec::<Message>::new()).await.unwrap();
        assert!(report.episodes.is_empty() && report.added.is_empty());
        assert_eq!(world.engine.add_raw(&tom, Vec::<NewMemory>::new()).await.unwrap(), []);
        assert!(world.everything(&tom).await.is_empty());
        assert_eq!((world.embedder.requests(), world.embedder.inputs()), (0, 0), "{}", world.name);
    }
}

#[tokio::test]
async fn a_bad_memory_refuses_the_whole_call() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        let bad = [
            NewMemory::new(""),
            NewMemory::new(" \n"),
            NewMemory::new("x").importance(-0.1),
            NewMemory::new("x").importance(f32::NAN),
            NewMemory::new("x").valid_from(time("2025-01-02T00:00:00Z")).valid_until(time("2025-01-01T00:00:00Z")),
        ];
        for bad in bad {
            let error = world.engine.add_raw(&tom, [NewMemory::new("fine"), bad]).await.expect_err("a bad memory");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}", world.name);
        }
        assert_eq!(world.engine.list(&tom, ListRequest::new()).await.unwrap().items, []);
        assert_eq!(world.embedder.requests(), 0);
    }
}

#[tokio::test]
async fn a_call_embeds_all_its_texts_in_one_request() {
    for world in World::all().await {
        let tom = Scope::user("tom");
        let before = world.embedder.requests();
        world.engine.add_raw(&tom, ["one", "two", "three"]).await.unwrap();
        assert_eq!(world.embedder.requests() - before, 1, "{}", world.name);
    }
}
