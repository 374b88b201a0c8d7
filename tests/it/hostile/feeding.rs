//! The same again and again adds nothing.

use ingrain::{Filter, ListRequest, Memory, MemoryKind, Message, Scope, TokenBudget};

use crate::worlds::World;

const SYSTEM: &str = "You are a helpful cook. The user's name is Max. The user lives in Paris and is allergic to nuts.";

/// What says nothing of anybody, in several languages.
const SMALL_TALK: [&str; 12] = [
    "Hi!",
    "Hello, how are you?",
    "Thanks a lot!",
    "ok",
    "lol 😂",
    "Good morning!",
    "Привет! Как дела?",
    "Спасибо!",
    "¡Hola! ¿Qué tal?",
    "Danke schön!",
    "Merci beaucoup.",
    "你好！谢谢。",
];

#[tokio::test]
async fn the_same_system_text_recalled_block_and_small_talk_add_no_memory() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let engine = &world.engine;
        engine.add(&ann, [Message::user("I live in Lisbon. I'm allergic to shellfish.")]).await.unwrap();
        let block = engine.context(&ann, "plan dinner", TokenBudget::new(800)).await.unwrap();
        assert!(block.text.contains("shellfish") && block.text.contains("Lisbon"));
        let known = async || {
            let is_no_turn = !Filter::eq("kind", MemoryKind::Episode.as_str());
            let request = ListRequest::new().limit(1_000).include_invalid().filter(is_no_turn);
            engine.list(&ann, request).await.unwrap().items
        };
        let turns = async || engine.count(&ann, Some(&Filter::eq("kind", MemoryKind::Episode.as_str()))).await.unwrap();
        let before: Vec<Memory> = known().await;
        let (all_before, turns_before) = (world.everything(&ann).await, turns().await);
        let system = format!("{SYSTEM}\n\n{block}");
        for round in 0..1_000 {
            // Nothing at all is stored of what the application itself had put into the prompt, whoever seems to say it.
            let prompt = [
                Message::system(system.as_str()),
                Message::user(block.text.as_str()),
                Message::assistant(block.text.as_str()),
                Message::tool("call", block.text.as_str()),
            ];
            let report = engine.add(&ann, prompt).await.unwrap();
            assert!(report.episodes.is_empty() && report.added.is_empty() && report.relations.is_empty(), "{round}");
            if round % 250 == 0 {
                assert_eq!(world.everything(&ann).await, all_before, "{}: round {round}", world.name);
            }
        }
        assert_eq!(world.everything(&ann).await, all_before, "{}", world.name);
        // Small talk is kept as turns, word for word, as all that people say is, and nothing is known by it.
        for round in 0..1_000 {
            let says = SMALL_TALK[round % SMALL_TALK.len()];
            let report = engine.add(&ann, [Message::system(system.as_str()), Message::user(says)]).await.unwrap();
            assert!(report.added.is_empty() && report.updated.is_empty() && report.superseded.is_empty(), "{says}");
            assert_eq!((report.deleted.len(), report.relations.len()), (0, 0), "{says}");
        }
        assert_eq!(known().await, before, "{}", world.name);
        assert_eq!(turns().await, turns_before + 1_000, "{}", world.name);
    }
}
