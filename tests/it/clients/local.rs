//! Against a real model, where there is one: `INGRAIN_LLM_URL` names its base URL. `.ci/local_model` starts a small one.

#[cfg(feature = "static-embedder")]
mod agent;
#[cfg(feature = "static-embedder")]
mod cycle;
#[cfg(feature = "static-embedder")]
mod watch;

use ingrain::{
    ChatRequest, Embedder, EmbedderExt, ErrorKind, FinishReason, HttpOptions, Llm, Message, OpenAi, OpenAiEmbedder,
    Purpose, ResponseFormat,
};
use serde_json::{Value, json};

fn local(test: &str) -> Option<OpenAi> {
    let Ok(url) = std::env::var("INGRAIN_LLM_URL") else {
        eprintln!("skipped {test}: INGRAIN_LLM_URL names no server");
        return None;
    };
    let model = std::env::var("INGRAIN_LLM_MODEL").unwrap_or_else(|_| "local".to_owned());
    // It may still be loading, on a machine that is busy.
    let options = HttpOptions::new().timeout(std::time::Duration::from_secs(300)).attempts(8).concurrency(1);
    Some(OpenAi::builder().base_url(url).model(model).http(options).build().unwrap())
}

/// The server's own embedder. Its width is not known beforehand: the error of a wrong one says it.
async fn embedder(llm: &OpenAi) -> OpenAiEmbedder {
    let error = llm.embedder("local", 1).embed_one("bee", Purpose::Document).await.unwrap_err();
    let message = error.to_string();
    let width = message.split_once("have ").and_then(|(_, rest)| rest.split_once(' '));
    let width: usize = width.unwrap_or_else(|| panic!("{error:?}")).0.parse().unwrap();
    llm.embedder("local", width)
}

fn question(text: &str) -> ChatRequest {
    ChatRequest::new(vec![Message::user(text)]).with_temperature(0.0)
}

#[tokio::test]
async fn a_real_model_chats() {
    let Some(llm) = local("a_real_model_chats") else { return };
    let answer = llm.chat(&question("Say hello.").with_max_output_tokens(24)).await.unwrap();
    assert!(!answer.text.trim().is_empty());
    assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0, "{:?}", answer.usage);
    let cut = llm.chat(&question("Count from one to one thousand.").with_max_output_tokens(3)).await.unwrap();
    assert_eq!(cut.finish, FinishReason::Length, "{cut:?}");
}

#[tokio::test]
async fn a_real_model_streams() {
    let Some(llm) = local("a_real_model_streams") else { return };
    let mut pieces = Vec::new();
    let request = question("Name three animals.").with_max_output_tokens(24);
    let answer = llm.chat_stream(&request, &mut |piece| pieces.push(piece.to_owned())).await.unwrap();
    assert_eq!(pieces.concat(), answer.text);
    assert!(pieces.len() > 1 && answer.usage.output_tokens > 1, "{pieces:?} {:?}", answer.usage);
}

#[tokio::test]
async fn a_real_model_holds_to_a_schema() {
    let Some(llm) = local("a_real_model_holds_to_a_schema") else { return };
    let schema = json!({
        "type": "object",
        "properties": { "animal": { "type": "string", "enum": ["cat", "dog", "bee"] } },
        "required": ["animal"],
        "additionalProperties": false,
    });
    let request = question("Which animal makes honey? Answer in JSON.").with_max_output_tokens(48);
    let request = request.with_format(ResponseFormat::Schema { name: "animal".to_owned(), schema });
    let answer = llm.chat(&request).await.unwrap();
    assert!(llm.capabilities().json_schema, "the schema was refused");
    let animal = serde_json::from_str::<Value>(&answer.text).unwrap()["animal"].clone();
    assert!([json!("cat"), json!("dog"), json!("bee")].contains(&animal), "{answer:?}");
}

#[tokio::test]
async fn a_real_model_takes_a_transcript_with_tools() {
    let Some(llm) = local("a_real_model_takes_a_transcript_with_tools") else { return };
    ingrain::testing::llm::a_transcript_with_tools_is_taken(std::sync::Arc::new(llm)).await;
}

#[tokio::test]
async fn a_real_prompt_that_is_too_long_is_a_fault_of_the_call() {
    let Some(llm) = local("a_real_prompt_that_is_too_long_is_a_fault_of_the_call") else { return };
    let error = llm.chat(&question(&"bees and kayaks ".repeat(20_000)).with_max_output_tokens(4)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error:?}");
    assert!(!format!("{error:?}").contains("kayaks"));
}

#[tokio::test]
async fn a_real_model_embeds() {
    let Some(llm) = local("a_real_model_embeds") else { return };
    let embedder = embedder(&llm).await;
    let texts = ["I keep bees in the garden.", "", "Her hives are full of honey.", "The stock market fell today."];
    let vectors = embedder.embed_checked(&texts, Purpose::Document).await.unwrap();
    assert_eq!(vectors.len(), 4);
    assert!(vectors[0].iter().any(|number| *number != 0.0) && vectors[0] != vectors[3]);
    // Longer than its context: cut, not refused.
    let long = "bees and kayaks ".repeat(4_000);
    assert_eq!(embedder.embed(&[&long, "bee"], Purpose::Document).await.unwrap().len(), 2);
}
