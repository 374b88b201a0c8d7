//! Core memory: labelled blocks that the application and agents edit, and the profile that is made of facts.

use ingrain::{
    Actor, AddMode, AddRequest, Block, ContextRequest, ErrorKind, EventKind, Filter, ListRequest, MemoryKind,
    MemoryUpdate, Message, NewMemory, Redactor, Scope, TokenBudget, Trust,
};

use crate::worlds::{World, time};

const ROOM: TokenBudget = TokenBudget::new(4_000);

#[tokio::test]
async fn a_block_is_made_edited_and_removed_and_every_step_is_in_its_history() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        assert_eq!(blocks.get("user").await.unwrap(), None);
        let made = blocks.set(Block::new("user", "A nurse.").description("Who it is").limit(40)).await.unwrap();
        assert_eq!((made.text.as_str(), made.limit, made.read_only), ("A nurse.", 40, false));
        assert_eq!(blocks.get("user").await.unwrap().as_ref(), Some(&made), "{}", world.name);
        world.clock.set(time("2025-03-01T00:00:00Z"));
        assert_eq!(blocks.append("user", "Works at night.").await.unwrap().text, "A nurse.\nWorks at night.");
        let agent = blocks.clone().as_agent();
        assert_eq!(agent.replace("user", "nurse", "doctor").await.unwrap().text, "A doctor.\nWorks at night.");
        let last = agent.rethink("user", "A doctor.").await.unwrap();
        assert_eq!((last.id, last.description.as_deref(), last.limit), (made.id, Some("Who it is"), 40));
        assert_eq!(last.updated_at, Some(time("2025-03-01T00:00:00Z")));
        // What changes nothing is no change.
        agent.rethink("user", "A doctor.").await.unwrap();
        blocks.set(Block::new("user", "A doctor.").description("Who it is").limit(40)).await.unwrap();
        blocks.remove("user").await.unwrap();
        assert_eq!(blocks.get("user").await.unwrap(), None);
        let events = blocks.history("user").await.unwrap();
        let told: Vec<_> =
            events.iter().map(|event| (event.kind, event.new_text.as_deref(), event.stamp.actor)).collect();
        assert_eq!(
            told,
            [
                (EventKind::Add, Some("A nurse."), Actor::App),
                (EventKind::Update, Some("A nurse.\nWorks at night."), Actor::App),
                (EventKind::Update, Some("A doctor.\nWorks at night."), Actor::Agent),
                (EventKind::Update, Some("A doctor."), Actor::Agent),
                (EventKind::Delete, None, Actor::App),
            ],
            "{}",
            world.name
        );
        assert_eq!(events[2].old_text.as_deref(), Some("A nurse.\nWorks at night."));
        // A new one of the label goes on where the old one ended.
        assert_eq!(blocks.set(Block::new("user", "A pilot.")).await.unwrap().id, made.id);
        assert_eq!(blocks.history("user").await.unwrap().len(), 6);
    }
}

#[tokio::test]
async fn what_cannot_be_done_says_why_and_changes_nothing() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        blocks.set(Block::new("a", "one two one").limit(12)).await.unwrap();
        blocks.set(Block::new("rules", "Be kind.").read_only(true)).await.unwrap();
        let before = world.everything(&ann).await;
        let agent = blocks.clone().as_agent();
        let long = "x".repeat(65);
        let cases = [
            (blocks.append("a", "xy").await, ErrorKind::InvalidArgument, "limit is 12"),
            (blocks.rethink("a", &"ж".repeat(13)).await, ErrorKind::InvalidArgument, "13 characters"),
            (blocks.replace("a", "two", "twenty").await, ErrorKind::InvalidArgument, "limit is 12"),
            (blocks.set(Block::new("b", "xyz").limit(2)).await, ErrorKind::InvalidArgument, "limit is 2"),
            (blocks.replace("a", "three", "x").await, ErrorKind::InvalidArgument, "not in the block"),
            (blocks.replace("a", "one", "x").await, ErrorKind::InvalidArgument, "more than once"),
            (blocks.replace("a", "", "x").await, ErrorKind::InvalidArgument, "empty"),
            (blocks.append("a", " ").await, ErrorKind::InvalidArgument, "blank"),
            (blocks.append("none", "x").await, ErrorKind::NotFound, "label"),
            (blocks.replace("none", "x", "y").await, ErrorKind::NotFound, "label"),
            (blocks.rethink("none", "x").await, ErrorKind::NotFound, "label"),
            (blocks.set(Block::new(" ", "x")).await, ErrorKind::InvalidArgument, "label"),
            (blocks.set(Block::new(long, "x")).await, ErrorKind::InvalidArgument, "label"),
            (blocks.set(Block::new("profile", "x")).await, ErrorKind::InvalidArgument, "profile"),
            (agent.append("rules", "Or not.").await, ErrorKind::InvalidArgument, "read-only"),
            (agent.replace("rules", "kind", "rude").await, ErrorKind::InvalidArgument, "read-only"),
            (agent.rethink("rules", "").await, ErrorKind::InvalidArgument, "read-only"),
            (agent.set(Block::new("rules", "")).await, ErrorKind::InvalidArgument, "read-only"),
            (
                world.engine.blocks(&Scope::user("")).set(Block::new("a", "x")).await,
                ErrorKind::InvalidArgument,
                "scope",
            ),
        ];
        for (result, kind, words) in cases {
            let error = result.unwrap_err();
            assert!(error.kind() == kind && error.to_string().contains(words), "{error} for {words}");
        }
        assert_eq!(agent.remove("rules").await.unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(blocks.remove("none").await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(blocks.history("none").await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(world.everything(&ann).await, before, "{}", world.name);
        assert_eq!(blocks.history("a").await.unwrap().len(), 1);
        // The limit holds whichever way the text comes, and overlapping places count.
        let id = blocks.get("a").await.unwrap().unwrap().id.unwrap();
        let update = MemoryUpdate::new().text("thirteen char");
        assert_eq!(world.engine.update(&ann, id, update).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
        blocks.rethink("a", "aaa").await.unwrap();
        assert!(blocks.replace("a", "aa", "b").await.is_err());
        assert_eq!(blocks.replace("a", "aaa", "").await.unwrap().text, "");
        // The application may do what agents may not.
        blocks.append("rules", "Always.").await.unwrap();
        blocks.remove("rules").await.unwrap();
    }
}

#[tokio::test]
async fn edits_at_once_lose_nothing_and_a_label_is_there_once() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let notes: Vec<_> = (0..16)
            .map(|number| {
                let engine = world.engine.clone();
                let blocks = engine.blocks(&ann);
                tokio::spawn(async move {
                    // Whoever comes first makes it; all others find that it is there.
                    if blocks.get("notes").await.unwrap().is_none() {
                        blocks.set(Block::new("notes", "").description("Notes")).await.unwrap();
                    }
                    engine.blocks(&Scope::user("ann")).set(Block::new(format!("own {number}"), "x")).await.unwrap();
                })
            })
            .collect();
        for note in notes {
            note.await.unwrap();
        }
        let blocks = world.engine.blocks(&ann);
        assert_eq!(blocks.list().await.unwrap().len(), 17, "{}", world.name);
        blocks.rethink("notes", "").await.unwrap();
        let before = blocks.history("notes").await.unwrap().len();
        let appends: Vec<_> = (0..16)
            .map(|number| {
                let blocks = blocks.clone();
                tokio::spawn(async move { blocks.append("notes", &format!("note {number};")).await.unwrap() })
            })
            .collect();
        for append in appends {
            append.await.unwrap();
        }
        let text = blocks.get("notes").await.unwrap().unwrap().text;
        assert_eq!(text.lines().count(), 16);
        assert!((0..16).all(|number| text.contains(&format!("note {number};"))), "{text}");
        assert_eq!(blocks.history("notes").await.unwrap().len(), before + 16, "each is one event");
        // Of two who replace the same words one finds that they are gone.
        let pair = tokio::join!(blocks.replace("notes", "note 3;", "A"), blocks.replace("notes", "note 3;", "B"));
        assert!(pair.0.is_ok() != pair.1.is_ok(), "{pair:?}");
    }
}

#[tokio::test]
async fn blocks_of_other_scopes_are_apart() {
    for world in World::all().await {
        let (ann, bob) = (Scope::user("ann"), Scope::user("bob"));
        let monday = ann.clone().with_session("monday");
        for (scope, text) in [(&ann, "Ann's"), (&bob, "Bob's"), (&monday, "Monday's")] {
            world.engine.blocks(scope).set(Block::new("user", text)).await.unwrap();
        }
        for (scope, text) in [(&ann, "Ann's"), (&bob, "Bob's"), (&monday, "Monday's")] {
            let blocks = world.engine.blocks(scope);
            assert_eq!(blocks.get("user").await.unwrap().unwrap().text, text, "{}", world.name);
            assert_eq!(blocks.list().await.unwrap().len(), 1);
        }
        world.engine.blocks(&ann).remove("user").await.unwrap();
        assert_eq!(world.engine.blocks(&monday).get("user").await.unwrap().unwrap().text, "Monday's");
        let context = world.engine.context(&ann, "x", ROOM).await.unwrap();
        assert!(context.text.contains("Monday's") && !context.text.contains("Bob's"));
        // One that was stored as it is, is one of them.
        let raw = NewMemory::new("Raw").kind(MemoryKind::Block).slot("raw");
        world.engine.add_raw(&ann, [raw]).await.unwrap();
        assert_eq!(world.engine.blocks(&ann).append("raw", "more").await.unwrap().text, "Raw\nmore");
        assert_eq!(world.engine.blocks(&ann).list().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn blocks_are_in_every_prompt_by_their_labels_in_the_order_they_were_made() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        for (second, label) in ["rules", "persona", "user", "empty"].into_iter().enumerate() {
            world.clock.set(time(&format!("2025-02-10T09:00:0{second}Z")));
            let text = if label == "empty" { " " } else { "Text\n\"one\"" };
            blocks.set(Block::new(label, text)).await.unwrap();
        }
        blocks.append("rules", "two").await.unwrap();
        let context = world.engine.context(&ann, "what now?", ROOM).await.unwrap();
        let lines: Vec<&str> = context.text.lines().filter(|line| line.starts_with('‣')).collect();
        assert_eq!(
            lines,
            [
                r#"‣ block "rules": "Text\n\"one\"\ntwo""#,
                r#"‣ block "persona": "Text\n\"one\"""#,
                r#"‣ block "user": "Text\n\"one\"""#
            ],
            "{}",
            world.name
        );
        assert_eq!(blocks.list().await.unwrap().len(), 4, "the empty one is there to be filled");
        // It comes back as recalled text, and is not remembered anew.
        let report = world.engine.add(&ann, [Message::user(&*context.text)]).await.unwrap();
        assert!(report.recalled[0].whole && report.added.is_empty());
    }
}

#[tokio::test]
async fn no_add_ends_a_block_or_reads_from_it() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        // As like a fact as can be: its text, and the label that is the fact's slot.
        blocks.set(Block::new("user.home", "Lives in Lisbon")).await.unwrap();
        let before = blocks.get("user.home").await.unwrap();
        for said in ["I live in Lisbon.", "I moved to Porto.", "I no longer live in Porto."] {
            let report = world.engine.add(&ann, [Message::user(said)]).await.unwrap();
            assert_eq!(report.added.len(), 1, "{said}: a block is no fact that could be known already");
            assert!(report.superseded.iter().chain(&report.deleted).all(|memory| memory.kind != MemoryKind::Block));
        }
        assert_eq!(blocks.get("user.home").await.unwrap(), before, "{}", world.name);
        assert_eq!(blocks.history("user.home").await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_outage_is_an_error_and_edits_need_no_embedder() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        world.embedder.fail_with(ErrorKind::ProviderUnreachable);
        blocks.set(Block::new("user", "A nurse.")).await.unwrap();
        blocks.append("user", "Tall.").await.unwrap();
        let words = ListRequest::new().filter(Filter::eq("kind", MemoryKind::Block));
        assert_eq!(world.engine.list(&ann, words).await.unwrap().items.len(), 1);
        world.store.stop();
        assert_eq!(blocks.append("user", "x").await.unwrap_err().kind(), ErrorKind::StoreUnavailable);
        world.store.start();
        assert_eq!(blocks.get("user").await.unwrap().unwrap().text, "A nurse.\nTall.", "{}", world.name);
    }
}

#[derive(Debug)]
struct NoKeys;

impl Redactor for NoKeys {
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        text.replace("sk-123", "***").into()
    }
}

#[tokio::test]
async fn secrets_are_kept_out_also_where_two_edits_make_one() {
    let world = World::in_memory().await;
    let engine = world.builder().redactor(NoKeys).build().await.unwrap();
    let blocks = engine.blocks(&Scope::user("ann"));
    let made = blocks.set(Block::new("user", "Key: sk-12").description("no sk-123")).await.unwrap();
    assert_eq!((made.text.as_str(), made.description.as_deref()), ("Key: sk-12", Some("no ***")));
    assert_eq!(blocks.replace("user", "sk-12", "sk-123").await.unwrap().text, "Key: ***");
}

async fn facts(world: &World, scope: &Scope) {
    let new = |text: &str, at: &str| NewMemory::new(text).at(time(at));
    let memories = [
        new("Likes long walks", "2025-01-01T00:00:00Z").kind(MemoryKind::Preference).importance(0.4),
        new("Lives in Porto", "2025-01-02T00:00:00Z").slot("user.home").categories(["home"]),
        new("Is allergic to nuts", "2025-01-03T00:00:00Z").slot("user.allergy.nut").categories(["health"]),
        new("Has two cats", "2025-01-04T00:00:00Z").importance(0.9).categories(["pets"]),
        new("Plays the cello", "2025-01-05T00:00:00Z").trust(Trust::Assistant),
        new("Is king of France", "2025-01-06T00:00:00Z").trust(Trust::Tool).slot("user.job"),
        new("Lived in Lisbon", "2024-01-01T00:00:00Z").valid_until(time("2025-01-02T00:00:00Z")),
        new("Moves to Rome", "2025-01-01T00:00:00Z").valid_from(time("2025-06-01T00:00:00Z")),
        new("Said hello", "2025-01-01T00:00:00Z").kind(MemoryKind::Episode),
    ];
    world.engine.add_raw(scope, memories).await.unwrap();
}

#[tokio::test]
async fn the_profile_says_what_holds_the_weightiest_first_within_its_limit() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        assert_eq!(blocks.profile(1_000).await.unwrap(), ingrain::Profile::default());
        facts(&world, &ann).await;
        world.add(&Scope::user("bob"), "Likes tea").await;
        let whole = blocks.profile(1_000).await.unwrap();
        let all = "Is allergic to nuts\nLives in Porto\nHas two cats\nLikes long walks\nPlays the cello (assistant)";
        assert_eq!(whole.text, all, "{}", world.name);
        assert_eq!(whole.memories.len(), 5);
        assert_eq!(blocks.profile(1_000).await.unwrap(), whole, "the same bytes");
        // What has a slot goes before what is important, and that before the rest.
        for limit in [0, 5, 20, 40, 47, 60, all.len()] {
            let text = blocks.profile(limit).await.unwrap().text;
            assert!(text.chars().count() <= limit, "{limit}");
            let expected: &[&str] = match limit {
                0 | 5 => &[],
                20 => &["Is allergic to nuts"],
                40 => &["Is allergic to nuts", "Lives in Porto"],
                47 => &["Is allergic to nuts", "Lives in Porto", "Has two cats"],
                60 => &["Is allergic to nuts", "Lives in Porto", "Has two cats"],
                _ => continue,
            };
            assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{limit}");
        }
        // It is made when it is read: what has just changed is in it.
        let home = whole.memories[1];
        world.engine.update(&ann, home, MemoryUpdate::new().text("Lives in Faro")).await.unwrap();
        assert_eq!(blocks.profile(1_000).await.unwrap().text, all.replace("Porto", "Faro"));
        world.engine.delete(&ann, home).await.unwrap();
        assert!(!blocks.profile(1_000).await.unwrap().text.contains("Faro"));
    }
}

#[tokio::test]
async fn the_profile_is_the_last_block_of_a_prompt_and_spares_the_facts_in_it() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        facts(&world, &ann).await;
        world.engine.blocks(&ann).set(Block::new("persona", "I am kind.")).await.unwrap();
        let request = ContextRequest::new("Where does she live, in Porto?").profile(45);
        let context = world.engine.context(&ann, request.clone(), ROOM).await.unwrap();
        let lines: Vec<&str> = context.text.lines().collect();
        assert_eq!(lines[2], r#"‣ block "persona": "I am kind.""#, "{}", world.name);
        assert_eq!(lines[3], r#"‣ block "profile": "Is allergic to nuts\nLives in Porto""#);
        assert_eq!(context.text.matches("Lives in Porto").count(), 1, "not told again as a fact");
        assert!(context.text.contains("Has two cats"));
        assert_eq!(context.profile.len(), 2);
        // Every id can be looked up.
        for id in context.memories.iter().chain(&context.profile).chain(&context.left_out) {
            world.engine.get(&ann, *id).await.unwrap();
        }
        // What a filter keeps out comes in by no other way, and without blocks there is none.
        let filtered = request.clone().filter(Filter::ne("slot", "user.home"));
        let context = world.engine.context(&ann, filtered, ROOM).await.unwrap();
        assert!(!context.text.contains("Porto\\n") && !context.text.contains("Lives in Porto"));
        let facts_alone = request.kinds([MemoryKind::Fact]);
        let context = world.engine.context(&ann, facts_alone, ROOM).await.unwrap();
        assert!(!context.text.contains("profile") && context.profile.is_empty());
        // In as little room as there may be, it is told as left out by nothing.
        let tight = ContextRequest::new("Porto").profile(1_000);
        let context = world.engine.context(&ann, tight, TokenBudget::new(60)).await.unwrap();
        for id in context.memories.iter().chain(&context.left_out) {
            world.engine.get(&ann, *id).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_the_rules_read_makes_a_profile() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let said = AddRequest::new(["I live in Lisbon. I'm vegan.", "I moved to Porto."]).mode(AddMode::Infer);
        world.engine.add(&ann, said).await.unwrap();
        let profile = world.engine.blocks(&ann).profile(500).await.unwrap();
        assert_eq!(format!("{profile}"), "Is vegan\nMoved to Porto, lives there now", "{}", world.name);
    }
}
