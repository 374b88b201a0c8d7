//! What users expect of an add, with every client in it and a real connection below: from the server's bytes to what is
//! stored.

use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use ingrain::{
    Clock, ErrorKind, HttpOptions, Llm, ManualClock, MemoryEngine, Message, Redactor, Scope, Stage, ToolDefinition,
    prompted::tool_arguments,
};
use serde_json::{Value, json};

use super::{
    KEY, answer, clients, hello,
    server::{Asked, Reply, Server},
};
use crate::worlds::{World, t0, texts};

fn options(clock: &ManualClock) -> HttpOptions {
    HttpOptions::new().clock(clock.clone()).timeout(Duration::from_secs(30))
}

async fn asking(world: &World, llm: Arc<dyn Llm>) -> MemoryEngine {
    let parts = MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
    parts.clock(world.clock.clone()).llm(llm).build().await.unwrap()
}

fn how_many() -> usize {
    clients("http://localhost", &HttpOptions::new()).len()
}

/// Whether the request asks for actions, and not for facts.
fn wants_actions(asked: &Asked) -> bool {
    asked.raw.contains("\\\"actions\\\"")
}

/// Says these facts, and that all of them are to be added.
fn model(asked: &Asked, facts: &[&str]) -> Reply {
    let text = match wants_actions(asked) {
        true => json!({"actions": []}).to_string(),
        false => json!({ "facts": facts }).to_string(),
    };
    Reply::Json(200, answer(&asked.path, &text))
}

fn refusal(status: u16, headers: &[(&'static str, &str)], message: &str) -> Reply {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Reply::Plain(status, headers, json!({"error": {"message": message}}).to_string())
}

/// As `answer`, cut at the output limit.
fn cut(path: &str, text: &str) -> Value {
    let mut cut = answer(path, text);
    match path {
        "/v1/messages" => cut["stop_reason"] = json!("max_tokens"),
        "/api/chat" => cut["done_reason"] = json!("length"),
        _ => cut["choices"][0]["finish_reason"] = json!("length"),
    }
    cut
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// Each refused field costs one request, once.
#[tokio::test]
async fn refused_parameters_cost_the_first_call_alone() {
    for place in 0..how_many() {
        let server = Server::start(|_, asked| {
            let body = &asked.body;
            if has_null(body) {
                return refusal(422, &[], "a field is null");
            }
            let openai = asked.path.ends_with("/chat/completions");
            let field = ["temperature", "max_tokens"].into_iter().find(|field| openai && body.get(*field).is_some());
            let field =
                field.or((asked.path == "/v1/messages" && body.get("temperature").is_some()).then_some("temperature"));
            match field {
                Some(field) => {
                    let message = format!("Unsupported parameter: '{field}' is not supported with this model.");
                    Reply::Json(400, json!({"error": {"message": message, "param": field}}))
                }
                None => model(asked, &["Owns a kayak"]),
            }
        })
        .await;
        let world = World::in_memory().await;
        let engine = asking(&world, clients(&server.url, &options(&world.clock))[place].clone()).await;
        let gil = Scope::user("gil");
        engine.add(&gil, "I have a kayak").await.unwrap();
        let first = server.asked().len();
        assert!(first <= 3, "{first} requests");
        let report = engine.add(&gil, "I really have a kayak").await.unwrap();
        assert_eq!(server.asked().len() - first, usize::try_from(report.model_calls).unwrap());
        let last = server.asked().pop().unwrap();
        if last.path.ends_with("/chat/completions") {
            assert!(last.body.get("temperature").is_none() && last.body.get("max_tokens").is_none());
            assert!(last.body["max_completion_tokens"].as_u64().is_some_and(|limit| limit >= 500));
        }
        assert_eq!(texts(&world.list(&gil).await), ["Owns a kayak"]);
    }
}

/// A server that asks for patience is asked again.
#[tokio::test]
async fn a_limited_add_waits_as_long_as_it_was_asked_to() {
    for world in World::all().await {
        for place in 0..how_many() {
            let server = Server::start(|number, asked| match number {
                0 => refusal(429, &[("retry-after", "2")], "slow down"),
                _ => model(asked, &["Owns a kayak"]),
            })
            .await;
            let gil = Scope::user(format!("gil {place}"));
            let begun = world.clock.now();
            let engine = asking(&world, clients(&server.url, &options(&world.clock))[place].clone()).await;
            let report = engine.add(&gil, "I have a kayak").await.unwrap();
            assert_eq!((server.asked().len(), report.model_calls), (2, 1), "{}", world.name);
            assert_eq!(world.clock.now() - begun, chrono::Duration::seconds(2));
            assert_eq!(texts(&world.list(&gil).await), ["Owns a kayak"]);
        }
    }
}

/// What failed is told by kind and stage, leaves no trace, and may be done again.
#[tokio::test]
async fn an_add_that_failed_leaves_no_trace_and_can_be_repeated() {
    // Nobody listens there; a port that was free a moment ago may be another test's by now.
    let nowhere = "http://127.0.0.1:9".to_owned();
    for world in World::all().await {
        for place in 0..how_many() {
            for (status, kind, tries) in [
                (429, ErrorKind::RateLimited, 3),
                (401, ErrorKind::ProviderRefused, 1),
                (503, ErrorKind::ProviderUnreachable, 3),
                (0, ErrorKind::ProviderUnreachable, 0),
            ] {
                let failing = Arc::new(Mutex::new(true));
                let fails = failing.clone();
                let server = Server::start(move |_, asked| match *fails.lock().unwrap() {
                    true => refusal(status, &[], &format!("not with {KEY}")),
                    false => model(asked, &["Owns a kayak"]),
                })
                .await;
                let gil = Scope::user(format!("gil {place} {status}"));
                let url = if status == 0 { &nowhere } else { &server.url };
                let engine = asking(&world, clients(url, &options(&world.clock))[place].clone()).await;
                let error = engine.add(&gil, "I have a kayak").await.unwrap_err();
                assert_eq!((error.kind(), error.stage()), (kind, Some(Stage::Extract)), "{}: {error}", world.name);
                assert_eq!(server.asked().len(), tries);
                assert_eq!(error.to_string().contains("3 tries"), tries != 1, "{error}");
                assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
                assert_eq!(world.everything(&gil).await, []);
                *failing.lock().unwrap() = false;
                if status != 0 {
                    engine.add(&gil, "I have a kayak").await.unwrap();
                    assert_eq!(texts(&world.list(&gil).await), ["Owns a kayak"], "{}", world.name);
                }
            }
        }
    }
}

/// Fences, thoughts and answers that were cut off, each from the server's own form of an answer.
#[tokio::test]
async fn wrapped_and_cut_off_answers_become_memories() {
    let whole = r#"{"facts": ["Vive en Valencia desde enero", "No puede comer marisco"]}"#;
    for place in 0..how_many() {
        for (first, requests) in [
            (format!("Claro:\n```json\n{whole}\n```\n¿Algo más?"), 1),
            (format!("<think>como {{\"facts\": [\"示例\"]}} {{no</think>{whole}"), 1),
            (whole[..50].to_owned(), 2),
        ] {
            let server = Server::start(move |number, asked| match (number, requests) {
                (0, 2) => Reply::Json(200, cut(&asked.path, &first)),
                (0, _) => Reply::Json(200, answer(&asked.path, &first)),
                _ => Reply::Json(200, answer(&asked.path, whole)),
            })
            .await;
            let world = World::in_memory().await;
            let lucia = Scope::user("lucia");
            let engine = asking(&world, clients(&server.url, &options(&world.clock))[place].clone()).await;
            engine.add(&lucia, "Me mudé a Valencia en enero y no puedo comer marisco.").await.unwrap();
            assert_eq!(texts(&world.list(&lucia).await), ["Vive en Valencia desde enero", "No puede comer marisco"]);
            let asked = server.asked();
            assert_eq!(asked.len(), requests);
            let room = |asked: &Asked| {
                let fields = ["/max_tokens", "/options/num_predict", "/max_completion_tokens"];
                fields.iter().find_map(|field| asked.body.pointer(field)?.as_u64()).unwrap()
            };
            assert!(requests == 1 || room(&asked[1]) > room(&asked[0]));
        }
    }
}

/// A server that refuses every form but plain text is asked in that form, in the first add and in every later one.
#[tokio::test]
async fn a_server_without_any_form_is_remembered_with() {
    for place in 0..how_many() {
        let server = Server::start(|number, asked| {
            let found = ["response_format", "output_config", "format", "tool_choice", "tools"]
                .into_iter()
                .find(|field| asked.body.get(*field).is_some());
            match found {
                Some(field) => refusal(400, &[], &format!("'{field}' is not supported")),
                None => model(asked, &[&format!("Owns kayak {number}")]),
            }
        })
        .await;
        let world = World::in_memory().await;
        let gil = Scope::user("gil");
        let engine = asking(&world, clients(&server.url, &options(&world.clock))[place].clone()).await;
        for count in 1..=3 {
            engine.add(&gil, format!("I have {count}")).await.unwrap_or_else(|error| panic!("add {count}: {error}"));
            assert_eq!(world.list(&gil).await.len(), count);
        }
        let before = server.asked().len();
        let report = engine.add(&gil, "I have one more").await.unwrap();
        assert_eq!(server.asked().len() - before, usize::try_from(report.model_calls).unwrap(), "all is learned");
    }
}

/// A small model's whole context may be less than the room that an answer is given.
#[tokio::test]
async fn a_limit_that_the_model_cannot_have_is_left_out() {
    for place in 0..how_many() {
        let server = Server::start(|_, asked| {
            let fields = ["/max_tokens", "/options/num_predict", "/max_completion_tokens"];
            let limit = fields.iter().find_map(|field| asked.body.pointer(field)?.as_u64());
            match limit {
                // Anthropic must have a limit: what the client itself was set up with is taken.
                Some(limit) if limit > 4_000 && asked.path != "/v1/messages" => {
                    let message = format!(
                        "'max_tokens' is too large: {limit}. This model's maximum context length is 4096 tokens"
                    );
                    refusal(400, &[], &message)
                }
                _ => model(asked, &["Owns a kayak"]),
            }
        })
        .await;
        let world = World::in_memory().await;
        let gil = Scope::user("gil");
        let engine = asking(&world, clients(&server.url, &options(&world.clock))[place].clone()).await;
        engine.add(&gil, "I have a kayak").await.unwrap();
        assert_eq!(texts(&world.list(&gil).await), ["Owns a kayak"]);
        let before = server.asked().len();
        engine.add(&gil, "I really have a kayak").await.unwrap();
        assert_eq!(server.asked().len(), before + 1, "learned");
    }
}

/// Raw arguments through each client's own form, read for the tool or answered with what was expected.
#[tokio::test]
async fn arguments_of_tools_are_read_whatever_their_form() {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let remember = ToolDefinition::new("remember", "Remembers a text.", text);
    let list_all = ToolDefinition::new("list_all", "Lists all.", json!({"type": "object", "properties": {}}));
    let turns = [
        ("remember", json!("{\"text\":\"blue bik"), None),
        ("remember", json!(json!(r#"{"text":"blue bike"}"#).to_string()), Some(json!({"text": "blue bike"}))),
        ("list_all", json!(""), Some(json!({}))),
        ("remember", json!({"text": "red bike"}), Some(json!({"text": "red bike"}))),
        ("remember", json!("null"), None),
        ("remember", Value::Null, None),
        ("remember", json!("[".repeat(1 << 20)), None),
    ];
    for place in 0..how_many() {
        let script: Vec<(&str, Value)> = turns.iter().map(|(name, raw, _)| (*name, raw.clone())).collect();
        let server = Server::start(move |number, asked| {
            let Some((name, raw)) = script.get(number).cloned() else {
                return Reply::Json(200, answer(&asked.path, "done"));
            };
            Reply::Json(200, match asked.path.as_str() {
                "/v1/messages" => json!({"stop_reason": "tool_use", "content": [
                    {"type": "tool_use", "id": format!("c{number}"), "name": name, "input": raw}]}),
                "/api/chat" => json!({"done": true, "message": {"tool_calls": [
                    {"function": {"name": name, "arguments": raw}}]}}),
                _ => json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [
                    {"id": format!("c{number}"), "type": "function", "function": {"name": name, "arguments": raw}}]}}]}),
            })
        })
        .await;
        let client = &clients(&server.url, &HttpOptions::new())[place];
        let mut transcript = hello().messages;
        for (name, _, expected) in &turns {
            let response = client.chat(&ingrain::ChatRequest::new(transcript.clone())).await.unwrap();
            let call = response.tool_calls[0].clone();
            let tool = if *name == "remember" { &remember } else { &list_all };
            let read = tool_arguments(&call, tool).map(Value::Object);
            let result = match (&read, expected) {
                (Ok(arguments), Some(expected)) if arguments == expected => "done".to_owned(),
                (Err(error), None) => error.to_string(),
                _ => panic!("{}: {name} {expected:?}: {read:?}", client.name()),
            };
            assert!(result.len() < 2_000);
            assert!(expected.is_some() || (result.contains("remember") && result.contains("`text`")), "{result}");
            transcript.push(Message::assistant("").with_tool_call(call.clone()));
            transcript.push(Message::tool(&call.id, result));
        }
        // The broken calls are sent along as servers take them.
        let last = client.chat(&ingrain::ChatRequest::new(transcript)).await.unwrap();
        assert_eq!((last.text.as_str(), server.asked().len()), ("done", turns.len() + 1));
        assert!(!server.asked().pop().unwrap().raw.contains("[[["));
    }
}

/// `sk-TEST` and what follows it.
#[derive(Debug)]
struct Keys;

impl Redactor for Keys {
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        match text.contains(SECRET) {
            true => text.replace(SECRET, "[key]").into(),
            false => text.into(),
        }
    }
}

const SECRET: &str = "sk-TESTabcdefghijklmnopqrst";

/// What goes over the wire, to the model and to the embedder, holds no secret; and it goes nowhere else.
#[cfg(feature = "openai")]
#[tokio::test]
async fn no_secret_goes_over_the_wire() {
    let facts = [format!("Has key {SECRET}"), "Likes tea".to_owned()];
    let server = Server::start(move |_, asked| match asked.path.as_str() {
        "/embeddings" => {
            let texts = asked.body["input"].as_array().unwrap();
            let vector = |text: &Value| json!([text.as_str().unwrap().len() as f64 + 1.0, 1.0, 0.5, 0.25]);
            let data = texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": vector(text)}));
            Reply::Json(200, json!({"data": data.collect::<Vec<_>>()}))
        }
        _ => model(asked, &[&facts[0], &facts[1]]),
    })
    .await;
    let clock = ManualClock::at(t0());
    let client = super::openai::client(&server.url, &options(&clock));
    let engine = MemoryEngine::builder().store(ingrain::InMemoryStore::new()).embedder(client.embedder("e", 4));
    let engine = engine.clock(clock).llm(client).redactor(Keys).build().await.unwrap();
    let ann = Scope::user("ann");
    let metadata = crate::worlds::object(json!({ "context": SECRET }));
    let message = Message::user(format!("My key is {SECRET} and I like tea")).with_metadata(metadata);
    let report = engine.add(&ann, message).await.unwrap();
    assert_eq!(texts(&report.added), ["Has key [key]", "Likes tea"]);
    engine.search(&ann, format!("Whose is {SECRET}?").as_str()).await.unwrap();
    let asked = server.asked();
    assert!(asked.iter().any(|asked| asked.path == "/embeddings") && asked.len() >= 3);
    for asked in &asked {
        assert!(!asked.raw.contains(SECRET), "{}", asked.path);
        // The client's own key goes in its header alone.
        assert!(!asked.raw.contains(KEY) && !asked.path.contains(KEY));
    }
    let mut stored = Vec::new();
    write!(stored, "{:?} {:?}", engine.list(&ann, ingrain::ListRequest::new()).await.unwrap(), report).unwrap();
    assert!(!String::from_utf8(stored).unwrap().contains(SECRET));
}
