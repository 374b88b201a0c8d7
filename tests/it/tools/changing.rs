//! Tools that change memories and blocks.

use ingrain::{
    Actor, AddMode, AddRequest, Block, ErrorKind, EventKind, Memory, MemoryId, MemoryKind, Message, NewMemory, Scope,
    Trust, testing::ScriptedLlm,
};
use serde_json::json;

use super::{fault, run, short, stored};
use crate::worlds::{World, texts, time};

async fn current(world: &World, scope: &Scope) -> Vec<Memory> {
    world.list(scope).await
}

#[tokio::test]
async fn a_fact_is_stored_as_the_models_word_and_held_against_what_is_known() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.engine.add(&ann, [Message::user("I live in Lisbon.")]).await.unwrap();
        let lisbon = current(&world, &ann).await.remove(0);
        let tools = world.engine.tools(&ann);
        let porto = run(&tools, "add_memory", json!({"text": "The user lives in Porto."})).await;
        let id = porto.memories[0];
        assert!(porto.changed && porto.text.starts_with(&format!("Stored as [{}].", short(id))), "{}", porto.text);
        assert!(porto.text.contains("\"Lives in Lisbon\""), "what it ended is told: {}", porto.text);
        let memory = world.engine.get(&ann, id).await.unwrap();
        assert_eq!((memory.trust, memory.slot.as_deref()), (Trust::Assistant, Some("user.home")), "{}", world.name);
        let ended = world.engine.get(&ann, lisbon.id).await.unwrap();
        assert_eq!((ended.superseded_by, ended.trust), (Some(id), Trust::User));
        let events = world.engine.history(&ann, lisbon.id).await.unwrap();
        assert_eq!(
            events.last().map(|event| (event.kind, event.stamp.actor)),
            Some((EventKind::Supersede, Actor::Agent))
        );
        let events = world.engine.history(&ann, id).await.unwrap();
        assert_eq!((events[0].kind, events[0].stamp.actor), (EventKind::Add, Actor::Agent));
        // A repetition is none, however often.
        for text in ["The user lives in Porto.", "the user lives in porto"] {
            let again = run(&tools, "add_memory", json!({"text": text})).await;
            assert_eq!((again.changed, again.memories.as_slice()), (false, &[id][..]), "{}", again.text);
            assert!(again.text.contains("known already") && again.text.contains(&short(id)));
        }
        let tea = json!({"text": "Likes tea", "kind": "preference", "categories": ["drinks", " hot "], "user": "bob"});
        let tea = run(&tools, "add_memory", tea).await;
        let tea = world.engine.get(&ann, tea.memories[0]).await.unwrap();
        assert_eq!(tea.kind, MemoryKind::Preference);
        assert_eq!(tea.categories, ["drinks", "hot"]);
        assert_eq!(world.everything(&Scope::user("bob")).await, []);
        // It is shown as what it is.
        let found = run(&tools, "search_memory", json!({"query": "where does she live"})).await;
        assert!(found.text.contains("‣ fact 2025-02-10 assistant: \"The user lives in Porto.\""), "{}", found.text);
    }
}

#[tokio::test]
async fn a_users_word_that_a_model_adds_to_is_no_longer_the_users_alone() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.engine.add(&ann, [Message::user("I have a dog.")]).await.unwrap();
        let dog = current(&world, &ann).await.remove(0);
        assert_eq!((dog.text.as_str(), dog.trust), ("Has a dog", Trust::User));
        let tools = world.engine.tools(&ann);
        let told = run(&tools, "add_memory", json!({"text": "Has a dog named Rex"})).await;
        assert!(told.text.contains("Taken into") && told.memories == [dog.id], "{}", told.text);
        let dog = world.engine.get(&ann, dog.id).await.unwrap();
        assert_eq!((dog.text.as_str(), dog.trust), ("Has a dog named Rex", Trust::Assistant), "{}", world.name);
    }
}

#[tokio::test]
async fn a_model_decides_over_a_fact_where_there_is_one() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let coffee = stored(&world, &ann, "Le encanta el café").await;
        let plan = r#"{"actions": [{"event": "DELETE", "memory": 0, "fact": 0}, {"event": "ADD", "fact": 0}]}"#;
        let llm = ScriptedLlm::new().reply(plan).fail(ErrorKind::ProviderUnreachable);
        let engine = world.builder().llm(llm.clone()).build().await.unwrap();
        let tools = engine.tools(&ann);
        let told = run(&tools, "add_memory", json!({"text": "Ya no soporta el café"})).await;
        let ended = engine.get(&ann, coffee.id).await.unwrap();
        assert_eq!((ended.superseded_by, llm.requests().len()), (Some(told.memories[0]), 1), "{}", told.text);
        assert_eq!(engine.history(&ann, coffee.id).await.unwrap()[1].stamp.actor, Actor::Agent);
        // An outage of the model is one; a repetition needs no model.
        let before = world.everything(&ann).await;
        let text = json!({"text": "Bebe té con limón, no café"}).to_string();
        let error = tools.call("add_memory", &text).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderUnreachable);
        assert!(!run(&tools, "add_memory", json!({"text": "Ya no soporta el café."})).await.changed);
        assert_eq!((world.everything(&ann).await, llm.requests().len()), (before, 2), "{}", world.name);
    }
}

#[tokio::test]
async fn memories_are_changed_and_forgotten_by_the_ids_that_a_search_gave() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        world.engine.add(&ann, AddRequest::new(["My sister is called Bea."]).mode(AddMode::Raw)).await.unwrap();
        let fact = NewMemory::new("Lives in Lisbon").slot("user.home").kind(MemoryKind::Fact);
        let fact = world.engine.add_raw(&ann, [fact]).await.unwrap().remove(0);
        let tools = world.engine.tools(&ann);
        let found = run(&tools, "search_memory", json!({"kinds": ["fact"]})).await.text;
        let id = found.split(['[', ']']).nth(1).unwrap().to_owned();
        assert_eq!(id, short(fact.id));
        let updated = run(&tools, "update_memory", json!({"id": format!("[{id}]"), "text": "Works at Bolt"})).await;
        assert_eq!((updated.memories.as_slice(), updated.changed), (&[fact.id][..], true));
        let now = world.engine.get(&ann, fact.id).await.unwrap();
        let expected = ("Works at Bolt", Trust::Assistant, Some("user.employer"), 2);
        assert_eq!((now.text.as_str(), now.trust, now.slot.as_deref(), now.revision), expected, "{}", world.name);
        let same = run(&tools, "update_memory", json!({"id": id, "text": "works at bolt."})).await;
        assert!(!same.changed && same.text.contains("says so already"));
        let events = world.engine.history(&ann, fact.id).await.unwrap();
        assert_eq!((events.len(), events[1].stamp.actor), (2, Actor::Agent));
        assert_eq!((events[1].old_text.as_deref(), events[1].kind), (Some("Lives in Lisbon"), EventKind::Update));
        // A turn stays as it was said, but can go.
        let turn = run(&tools, "search_memory", json!({"kinds": ["episode"]})).await.memories[0];
        let said = fault(&tools, "update_memory", &json!({"id": short(turn), "text": "x y"}).to_string()).await;
        assert!(said.contains("word for word"), "{said}");
        for id in [turn, fact.id] {
            let forgotten = run(&tools, "forget_memory", json!({"id": short(id)})).await;
            assert_eq!((forgotten.memories.as_slice(), forgotten.changed), (&[id][..], true));
            let last = world.engine.history(&ann, id).await.unwrap().pop().unwrap();
            assert_eq!((last.kind, last.stamp.actor), (EventKind::Delete, Actor::Agent));
        }
        assert_eq!(world.everything(&ann).await, []);
        let said = fault(&tools, "forget_memory", &json!({"id": id}).to_string()).await;
        assert!(said.contains("no memory has this id"), "{said}");
        assert_eq!(run(&tools, "search_memory", json!({})).await.text, "Nothing is remembered yet.");
    }
}

#[tokio::test]
async fn what_has_ended_can_be_forgotten_and_not_changed() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let past =
            NewMemory::new("Lived in Rome").at(time("2020-01-01T00:00:00Z")).valid_until(time("2021-01-01T00:00:00Z"));
        let past = world.engine.add_raw(&ann, [past]).await.unwrap().remove(0);
        let tools = world.engine.tools(&ann);
        let arguments = json!({"id": short(past.id), "text": "Lived in Oslo"}).to_string();
        assert!(fault(&tools, "update_memory", &arguments).await.contains("no longer holds"));
        run(&tools, "forget_memory", json!({"id": short(past.id)})).await;
        assert_eq!(world.everything(&ann).await, []);
    }
}

#[tokio::test]
async fn ids_of_others_and_ids_of_none_change_nothing() {
    for world in World::all().await {
        let (ann, bob) = (Scope::user("ann"), Scope::user("bob"));
        let theirs = stored(&world, &bob, "Bob's secret").await;
        let block = world.engine.blocks(&ann).set(Block::new("user", "A nurse.")).await.unwrap();
        let turn = NewMemory::new("Hello").kind(MemoryKind::Episode);
        let turn = world.engine.add_raw(&ann, [turn]).await.unwrap().remove(0);
        let before = (world.everything(&ann).await, world.everything(&bob).await);
        let tools = world.engine.tools(&ann).kinds([MemoryKind::Fact]);
        let long = "f".repeat(100_000);
        let whole = theirs.id.to_string();
        let ids = [
            &short(theirs.id),
            &whole,
            &short(block.id.unwrap()),
            &short(turn.id),
            "00000000",
            "0",
            "",
            "*",
            &long,
            "%",
        ];
        for id in ids {
            for (name, arguments) in
                [("update_memory", json!({"id": id, "text": "Taken over"})), ("forget_memory", json!({"id": id}))]
            {
                let said = fault(&tools, name, &arguments.to_string()).await;
                assert!(said.contains(name) && said.contains("id") && !said.contains("secret"), "{said}");
            }
        }
        assert_eq!((world.everything(&ann).await, world.everything(&bob).await), before, "{}", world.name);
    }
}

#[tokio::test]
async fn ids_that_end_alike_are_told_apart() {
    use ingrain::{HistoryEvent, IndexKey, Put, Stamp, VectorStore, WriteBatch};
    for world in World::all().await {
        let ann = Scope::user("ann");
        let mut batch = WriteBatch::default();
        for first in [1_u8, 2] {
            let mut bytes = [7; 16];
            bytes[0] = first;
            let id = MemoryId::from_bytes(bytes);
            let memory = Memory::new(id, ann.clone(), format!("Number {first}"), crate::worlds::t0());
            let stamp = Stamp::new(memory.created_at, Actor::App, ingrain::CallId::new(memory.created_at));
            let text = Some(memory.text.clone());
            batch.events.push(HistoryEvent::new(id, ann.clone(), EventKind::Add, None, text, stamp));
            let key = IndexKey::new(memory.text.as_str(), vec![0.0; 256]);
            batch.puts.push(Put::new(memory, vec![key]));
        }
        world.store.apply(batch).await.unwrap();
        let tools = world.engine.tools(&ann);
        let said = fault(&tools, "forget_memory", r#"{"id": "07070707"}"#).await;
        let whole: Vec<&str> = said.split(['[', ']']).filter(|part| part.len() == 36).collect();
        assert!(whole.len() == 2 && said.contains("\"Number 1\""), "{said}");
        run(&tools, "forget_memory", json!({"id": whole[0]})).await;
        assert_eq!(world.everything(&ann).await.len(), 1, "{}", world.name);
        run(&tools, "forget_memory", json!({"id": "07070707"})).await;
    }
}

#[tokio::test]
async fn new_memories_are_of_the_session_that_the_application_names() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let monday = ann.clone().with_session("monday");
        stored(&world, &ann.clone().with_session("sunday"), "Keeps bees").await;
        let tools = world.engine.tools(&ann).session("monday");
        run(&tools, "add_memory", json!({"text": "Sells honey"})).await;
        assert_eq!(texts(&world.everything(&monday).await), ["Sells honey"], "{}", world.name);
        let found = run(&tools, "search_memory", json!({})).await;
        assert_eq!(found.memories.len(), 2, "reads are of all sessions");
        // What is known in another is known.
        assert!(!run(&tools, "add_memory", json!({"text": "Keeps bees"})).await.changed);
    }
}

#[tokio::test]
async fn blocks_are_edited_as_far_as_they_may_be() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let blocks = world.engine.blocks(&ann);
        let tools = world.engine.tools(&ann);
        assert_eq!(run(&tools, "list_blocks", json!({})).await.text, "There are no blocks.");
        let said = fault(&tools, "append_block", r#"{"label": "user", "text": "x"}"#).await;
        assert!(said.contains("the application makes them"), "{said}");
        blocks.set(Block::new("user", "A nurse.").description("Who it is").limit(30)).await.unwrap();
        world.clock.set(time("2025-02-10T08:00:01Z"));
        blocks.set(Block::new("rules", "Be kind.").read_only(true)).await.unwrap();
        let added = run(&tools, "append_block", json!({"label": "user", "text": "Tall."})).await;
        assert_eq!((added.text.as_str(), added.changed), ("The block \"user\" has 14 of 30 characters.", true));
        let id = blocks.get("user").await.unwrap().unwrap().id.unwrap();
        assert_eq!(added.memories, [id]);
        // A label in another case will do.
        run(&tools, "replace_block", json!({"label": " User ", "old": "nurse", "new": "doctor"})).await;
        let listed = run(&tools, "list_blocks", json!({})).await;
        assert!(
            listed.text.contains("‣ block \"user\": \"A doctor.\\nTall.\" (15 of 30 characters, for: \"Who it is\")")
        );
        assert!(listed.text.contains("\"Be kind.\" (8 of 2000 characters, read-only)"), "{}", listed.text);
        let before = blocks.list().await.unwrap();
        for (name, arguments, words) in [
            ("append_block", json!({"label": "user", "text": "x".repeat(30)}), "limit is 30"),
            ("rethink_block", json!({"label": "rules", "text": "Be rude."}), "read-only"),
            ("replace_block", json!({"label": "user", "old": "nurse", "new": "x"}), "not in the block"),
            ("replace_block", json!({"label": "user", "old": "", "new": "x"}), "empty"),
            ("rethink_block", json!({"label": "profile", "text": "x"}), "\"user\", \"rules\""),
            ("append_block", json!({"label": "user", "text": " "}), "blank"),
        ] {
            let said = fault(&tools, name, &arguments.to_string()).await;
            assert!(said.contains(words) && said.contains(name), "{said}");
        }
        assert_eq!(blocks.list().await.unwrap(), before, "{}", world.name);
        assert!(!run(&tools, "rethink_block", json!({"label": "user", "text": "A doctor.\nTall."})).await.changed);
        let events = blocks.history("user").await.unwrap();
        assert_eq!(events.iter().filter(|event| event.stamp.actor == Actor::Agent).count(), 2);
    }
}

#[tokio::test]
async fn what_was_recalled_is_not_stored_as_news() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        stored(&world, &ann, "Keeps bees").await;
        let tools = world.engine.tools(&ann);
        let shown = run(&tools, "search_memory", json!({})).await.text;
        let said = fault(&tools, "add_memory", &json!({"text": shown}).to_string()).await;
        assert!(said.contains("says nothing new"), "{said}");
        let mixed = format!("Sells honey\n{shown}");
        run(&tools, "add_memory", json!({"text": mixed})).await;
        assert_eq!(texts(&current(&world, &ann).await), ["Keeps bees", "Sells honey"], "{}", world.name);
    }
}
