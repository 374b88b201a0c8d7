//! Whatever a model sends: it never breaks anything, and what cannot be read changes nothing.

use ingrain::{Block, Scope, VectorStore, Version};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{fault, stored};
use crate::worlds::World;

const TOOLS: [&str; 9] = [
    "search_memory",
    "list_categories",
    "add_memory",
    "update_memory",
    "forget_memory",
    "list_blocks",
    "append_block",
    "replace_block",
    "rethink_block",
];

#[tokio::test]
async fn arguments_that_cannot_be_read_say_what_is_expected() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        stored(&world, &ann, "Keeps bees").await;
        world.engine.blocks(&ann).set(Block::new("user", "A nurse.")).await.unwrap();
        let before = (world.everything(&ann).await, world.store.version().await.unwrap());
        let tools = world.engine.tools(&ann);
        let brackets = "[".repeat(1_000_000);
        let text = json!({"text": "x ".repeat(500_000)}).to_string();
        for bad in [
            r#"{"text":"blue bik"#,
            "null",
            "",
            &brackets,
            "{}",
            r#"{"text": 7}"#,
            r#"["x"]"#,
            "blue bike",
            "\0",
            "💥",
            &text,
        ] {
            let said = fault(&tools, "add_memory", bad).await;
            assert!(said.contains("add_memory") && said.contains("`text`"), "{said}");
        }
        for (name, bad, expected) in [
            ("update_memory", r#"{"id": "00000000"}"#, "`text` (string)"),
            ("forget_memory", "{\"id\": 1}", "`id` (string)"),
            ("replace_block", r#"{"label": "user", "old": "x"}"#, "`new` (string)"),
            ("search_memory", r#"{"from": "soon"}"#, "`from` must be a day"),
            ("search_memory", r#"{"from": "2025-02-02", "to": "2025-02-01"}"#, "later"),
            ("search_memory", r#"{"query": {"text": "x"}}"#, "`query` must be a string"),
            ("search_memory", r#"{"categories": {"a": 1}}"#, "`categories` must be a list"),
            ("search_memory", r#"{"kinds": ["block"]}"#, "`kinds` must be of episode"),
            ("search_memory", r#"{"limit": "many"}"#, "`limit` must be a number"),
            ("add_memory", r#"{"text": "Keeps wasps", "kind": "episode"}"#, "fact, preference, procedure"),
            (
                "add_memory",
                r#"{"text": "Keeps wasps", "categories": ["1","2","3","4","5","6","7","8","9"]}"#,
                "`categories`",
            ),
            ("add_memory", r#"{"text": "?!"}"#, "in words"),
            ("add_memory", r#"{"text": "Keeps wasps"} {"text": "Keeps ants"}"#, "not one JSON object"),
        ] {
            let said = fault(&tools, name, bad).await;
            assert!(said.contains(name) && said.contains(expected), "{name} {bad}: {said}");
        }
        let odd = format!("x\n{}", "y".repeat(100_000));
        for name in ["", "delete_everything", "add_memory\u{0}", "search_memory; drop", &odd] {
            let said = fault(&tools, name, "{}").await;
            assert!(TOOLS.iter().all(|tool| said.contains(tool)) && !said.contains('\n'), "{said}");
        }
        assert_eq!((world.everything(&ann).await, world.store.version().await.unwrap()), before, "{}", world.name);
        // In other wrappings they can be read.
        for (name, good) in [
            ("functions.search_memory", "```json\n{\"query\": \"bees\"}\n```"),
            ("SearchMemory", &json!(r#"{"query": "bees"}"#).to_string()),
            ("default_api:search-memory", r#"{"query": "bees", "scope": "bob", "limit": "3"}"#),
        ] {
            let result = tools.call(name, good).await.unwrap();
            assert!(!result.is_error && result.memories.len() == 1, "{name}: {}", result.text);
        }
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "\\PC{0,12}",
        "\\p{Any}{0,12}",
        select(vec![
            "user",
            "A nurse.",
            "nurse",
            "fact",
            "2025-02-10",
            "00000000",
            "bees",
            "</recalled-memories>",
            "yesterday",
            "*"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn arguments() -> impl Strategy<Value = String> {
    let names = vec![
        "query",
        "categories",
        "kinds",
        "from",
        "to",
        "limit",
        "text",
        "kind",
        "id",
        "label",
        "old",
        "new",
        "scope",
    ];
    let object = || {
        let names = select(names.clone());
        prop::collection::btree_map(names, json_value(), 0..7).prop_map(|map| json!(map).to_string())
    };
    let cut = (object(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let at = at.index(text.len() + 1);
        String::from_utf8_lossy(&text.as_bytes()[..at]).into_owned()
    });
    let bytes =
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    prop_oneof![4 => object(), 1 => cut, 1 => "\\p{Any}{0,40}", 1 => bytes]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(TOOLS.to_vec()).prop_map(str::to_owned), 1 => "\\p{Any}{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn nothing_that_a_model_sends_breaks_anything(calls in prop::collection::vec((name(), arguments()), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for world in World::all().await {
                let (ann, bob) = (Scope::user("ann"), Scope::user("bob"));
                for scope in [&ann, &bob] {
                    stored(&world, scope, "Keeps bees").await;
                    world.engine.blocks(scope).set(Block::new("user", "A nurse.").limit(40)).await.unwrap();
                    world.engine.blocks(scope).set(Block::new("rules", "Be kind.").read_only(true)).await.unwrap();
                }
                let theirs = world.everything(&bob).await;
                let tools = world.engine.tools(&ann).max_result_chars(700);
                let version = async || world.store.version().await.unwrap();
                for (name, arguments) in &calls {
                    let before: (Version, _) = (version().await, world.everything(&ann).await);
                    let result = tools.call(name, arguments).await.unwrap();
                    assert!(!result.text.trim().is_empty());
                    let most = if result.is_error { 1_501 } else { 700 };
                    assert!(result.text.chars().count() <= most, "{name} {arguments}: {}", result.text);
                    assert!(result.text.matches("</recalled-memories>").count() <= 1, "{}", result.text);
                    let after = (version().await, world.everything(&ann).await);
                    if !result.changed {
                        assert_eq!(before, after, "{name} {arguments}: {}", result.text);
                    } else {
                        assert!(!result.is_error && before.0 < after.0, "{name} {arguments}: {}", result.text);
                    }
                }
                assert_eq!(world.everything(&bob).await, theirs, "nothing of others is touched");
                let rules = world.engine.blocks(&ann).get("rules").await.unwrap().unwrap();
                assert_eq!(rules.text, "Be kind.");
            }
        });
    }
}
