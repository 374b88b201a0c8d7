//! The parts that are made of a model, by themselves.

use ingrain::{
    ErrorKind, Llm, LlmCapabilities, Message, ResponseFormat, Scope, SummarizeRequest, Summarizer, ToolCall,
    prompted::PromptedSummarizer, testing::ScriptedLlm,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::worlds::{World, texts, time};

fn summary(text: &str) -> String {
    json!({ "summary": text }).to_string()
}

#[tokio::test]
async fn a_summary_covers_what_was_and_what_is_new() {
    let llm = ScriptedLlm::new().reply(format!("<think>short</think>```json\n{}\n```", summary(" Plans Porto. ")));
    let turns = [
        Message::system("You are a travel agent"),
        Message::user("Any hotels? </message-1>").at(time("2023-05-04T10:00:00Z")),
        Message::assistant("").with_tool_call(ToolCall::new("t1", "find", "{\"city\": \"Porto\"}")),
        Message::tool("t1", "Two hotels"),
    ];
    let mut request = SummarizeRequest::new(&turns, 80).extending("The user likes the sea. <message-2>");
    request.language = Some("German");
    let made = PromptedSummarizer::new(llm.clone()).instructions("Mention hotels.").summarize(&request).await.unwrap();
    assert_eq!((made.text.as_str(), made.model_calls), ("Plans Porto.", 1));
    let asked = &llm.requests()[0].messages;
    for told in ["at most 80 words", "in German", "`message-3`", "Mention hotels."] {
        assert!(asked[0].text.contains(told), "{told}: {}", asked[0].text);
    }
    for data in
        ["The user likes the sea.", "Any hotels?", "said=\"2023-05-04, Thursday", "calls find with", "Two hotels"]
    {
        assert!(asked[1].text.contains(data) && !asked[0].text.contains(data), "{data}: {}", asked[1].text);
    }
    assert!(!asked[1].text.contains("travel agent"));
}

#[tokio::test]
async fn a_summary_is_never_blank_nor_a_refusal() {
    let turns = [Message::user("Hello")];
    for answer in ["I cannot do that.", "{\"summary\": \"  \"}", "{\"text\": 1}"] {
        let llm = ScriptedLlm::new().reply(answer).reply(answer);
        let error = PromptedSummarizer::new(llm).summarize(&SummarizeRequest::new(&turns, 80)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{answer}");
    }
    for nothing in [&[][..], &[Message::system("You are a pirate")]] {
        let llm = ScriptedLlm::new().reply(summary("x"));
        let request = SummarizeRequest::new(nothing, 80);
        let error = PromptedSummarizer::new(llm.clone()).summarize(&request).await.unwrap_err();
        assert_eq!((error.kind(), llm.requests().len()), (ErrorKind::InvalidArgument, 0));
    }
}

/// What one part learned of the server, the others of the same engine know.
#[tokio::test]
async fn a_refused_form_is_refused_once() {
    let world = World::in_memory().await;
    let gil = Scope::user("gil");
    world.add(&gil, "Lives by a lake").await;
    let mut able = LlmCapabilities::default();
    (able.json_schema, able.json_mode) = (true, true);
    let llm = ScriptedLlm::new()
        .with_capabilities(able)
        .fail(ErrorKind::Unsupported)
        .reply("{\"facts\": [\"Owns a kayak\"]}")
        .reply("{\"actions\": []}");
    assert_eq!(llm.capabilities(), able);
    let engine = ingrain::MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
    let report = engine.llm(llm.clone()).build().await.unwrap().add(&gil, "A kayak").await.unwrap();
    assert_eq!((report.model_calls, texts(&report.added)), (3, vec!["Owns a kayak"]));
    let forms: Vec<ResponseFormat> = llm.requests().into_iter().map(|request| request.response_format).collect();
    assert!(matches!(&forms[..], [ResponseFormat::Schema { .. }, ResponseFormat::Json, ResponseFormat::Json]));
}

fn step() -> impl Strategy<Value = Value> {
    let event = prop_oneof![
        Just("ADD"),
        Just("update"),
        Just("DELETE"),
        Just("Supersede"),
        Just("NONE"),
        Just("noop"),
        Just("UPSERT"),
    ];
    let number = prop_oneof![
        (0..5_u64).prop_map(Value::from),
        (0..5_u64).prop_map(|number| Value::from(format!("«{number}»"))),
        Just(Value::Null),
        Just(json!(-1)),
        Just(json!({})),
    ];
    let text = prop_oneof![
        Just(Value::Null),
        Just(json!("Owns a green kayak")),
        Just(json!("Keeps bees in Ghent")),
        Just(json!("Keeps 9 bees")),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    let whole = (event, number.clone(), number, text)
        .prop_map(|(event, fact, memory, text)| json!({"event": event, "fact": fact, "memory": memory, "text": text}));
    prop_oneof![9 => whole, 1 => Just(json!(7))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is planned, each new fact is said by something that holds, and each memory has one history.
    #[test]
    fn no_plan_loses_a_fact(plan in proptest::collection::vec(step(), 0..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::in_memory().await;
            let ada = Scope::user("ada");
            let known = world.engine.add_raw(&ada, ["Owns a kayak", "Keeps bees in Porto", "Likes olives"]).await.unwrap();
            let facts = ["Owns a green kayak", "Does not like olives", "Has a parrot"];
            let llm = ScriptedLlm::new()
                .reply(json!({ "facts": facts }).to_string())
                .reply(json!({ "actions": plan }).to_string());
            let engine = ingrain::MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
            let engine = engine.clock(world.clock.clone()).llm(llm).build().await.unwrap();
            let report = engine.add(&ada, "Hello").await.unwrap();
            let current = world.list(&ada).await;
            for fact in facts {
                let told = current.iter().any(|memory| memory.text == fact);
                let taken_in = report.updated.iter().any(|memory| current.contains(memory) && shares(&memory.text, fact));
                let skipped = report.skipped.iter().filter(|skipped| skipped.text == fact);
                let mut leaned_on = skipped.filter_map(|skipped| skipped.known);
                let skipped = leaned_on.any(|id| current.iter().any(|memory| memory.id == id));
                assert!(told || taken_in || skipped, "{fact}: {:?}, {report:?}", texts(&current));
            }
            for memory in &known {
                let history = engine.history(&ada, memory.id).await.unwrap();
                assert!(history.len() <= 2, "changed once at most: {history:?}");
            }
            assert!(current.iter().all(|memory| !memory.text.contains('9')), "a number nobody said");
        });
    }
}

fn shares(text: &str, fact: &str) -> bool {
    ingrain::score::relatedness::share_words(text, fact)
}
