//! What a model is told of the tools.

use ingrain::{HashingEmbedder, MemoryEngine, MemoryKind, MemoryTools, Scope, ToolResult};
use serde_json::{Value, json};

const ALL: [&str; 9] = [
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

async fn tools() -> MemoryTools {
    let engine = MemoryEngine::builder().embedder(HashingEmbedder::new(8)).build().await.unwrap();
    engine.tools(&Scope::user("mia"))
}

fn names(tools: &MemoryTools) -> Vec<String> {
    tools.definitions().into_iter().map(|tool| tool.name).collect()
}

/// What OpenAI's strict mode demands of a schema, and what makes it plain: no references, no other keywords.
fn check(schema: &Value, described: bool) {
    const KEPT: [&str; 7] = ["type", "properties", "required", "additionalProperties", "items", "enum", "description"];
    let members = schema.as_object().unwrap();
    assert!(members.keys().all(|key| KEPT.contains(&key.as_str())), "{schema}");
    assert!(!described || members["description"].as_str().is_some_and(|text| !text.is_empty()), "{schema}");
    if schema["type"] == "object" {
        let properties = members["properties"].as_object().unwrap();
        let names: Vec<&String> = properties.keys().collect();
        assert_eq!(members["required"], json!(names), "{schema}");
        assert_eq!(members["additionalProperties"], json!(false));
        properties.values().for_each(|property| check(property, true));
    }
    members.get("items").into_iter().for_each(|items| check(items, false));
}

#[tokio::test]
async fn names_are_stable_and_schemas_plain_and_strict() {
    let tools = tools().await;
    assert_eq!(names(&tools), ALL);
    for tool in tools.definitions() {
        assert!(!tool.description.is_empty());
        assert_eq!(tool.parameters["type"], "object", "{}", tool.name);
        check(&tool.parameters, false);
        // Whose memory it is, is the application's to say.
        let properties = tool.parameters["properties"].as_object().unwrap();
        assert!(["scope", "user", "user_id", "agent", "session"].iter().all(|name| !properties.contains_key(*name)));
    }
    assert_eq!(tools.definitions(), tools.clone().definitions());
    let search = &tools.definitions()[0].parameters["properties"];
    assert_eq!(search["query"]["type"], json!(["string", "null"]));
    assert_eq!(search["limit"]["type"], json!(["integer", "null"]));
    let kinds = json!(["episode", "summary", "fact", "preference", "procedure", "observation"]);
    assert_eq!(search["kinds"]["items"]["enum"], kinds);
}

#[tokio::test]
async fn vendors_have_their_own_forms() {
    let tools = tools().await;
    let definitions = tools.definitions();
    for ((tool, openai), anthropic) in definitions.iter().zip(tools.openai()).zip(tools.anthropic()) {
        let function = json!({
            "name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": true,
        });
        assert_eq!(openai, json!({ "type": "function", "function": function }));
        let expected = json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters });
        assert_eq!(anthropic, expected);
    }
    assert_eq!((tools.openai().len(), tools.anthropic().len()), (ALL.len(), ALL.len()));
}

#[tokio::test]
async fn what_is_not_offered_is_not_there() {
    let tools = tools().await;
    let reading = tools.clone().read_only();
    assert_eq!(names(&reading), ["search_memory", "list_categories", "list_blocks"]);
    let result: ToolResult = reading.call("add_memory", r#"{"text": "Keeps bees"}"#).await.unwrap();
    assert!(result.is_error && result.text.contains("add_memory") && result.text.contains("search_memory"));
    assert_eq!(names(&tools.clone().without_blocks()), ALL[..5]);
    let episodes = tools.clone().kinds([MemoryKind::Episode, MemoryKind::Block, MemoryKind::Custom("recipe".into())]);
    assert!(!names(&episodes).contains(&"add_memory".to_owned()), "nothing of these kinds is made");
    let kinds = &episodes.definitions()[0].parameters["properties"]["kinds"]["items"]["enum"];
    assert_eq!(*kinds, json!(["episode", "recipe"]));
    let preferences = tools.kinds([MemoryKind::Preference]);
    let add = &preferences.definitions()[2].parameters["properties"]["kind"];
    assert_eq!(add["enum"], json!(["preference", null]));
}

#[tokio::test]
async fn calls_run_in_tasks_of_their_own() {
    let tools = tools().await;
    let calls = ["add_memory", "search_memory", "list_blocks"].map(|name| {
        let tools = tools.clone();
        tokio::spawn(async move { tools.call(name, r#"{"text": "Keeps bees"}"#).await.unwrap() })
    });
    for call in calls {
        assert!(!call.await.unwrap().is_error);
    }
    assert_eq!(tools.call("search_memory", "{}").await.unwrap().memories.len(), 1);
}
