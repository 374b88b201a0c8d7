use ingrain::{Embedder, EmbedderExt, ErrorKind, HttpOptions, Purpose};
use serde_json::{Value, json};

use super::{
    no_waiting,
    openai::client,
    server::{Asked, Reply, Server},
};

fn texts(asked: &Asked) -> Vec<String> {
    asked.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A vector of the text's bytes, in 4 dimensions.
fn of(text: &str) -> Value {
    let mut vector = [0.5, 0.0, 0.0, 0.0];
    for (place, byte) in text.bytes().enumerate() {
        vector[place % 4] += f64::from(byte) / 64.0;
    }
    json!(vector)
}

/// Answers backwards, so that only the index says which vector is whose.
fn vectors(texts: &[String]) -> Reply {
    let item = |(index, text): (usize, &String)| json!({"index": index, "embedding": of(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(item).rev().collect();
    Reply::Json(200, json!({"data": data, "usage": {"prompt_tokens": 1}}))
}

/// A server that refuses what OpenAI refuses: blank texts, too many, too long ones.
async fn picky() -> Server {
    Server::start(|_, asked| {
        let texts = texts(asked);
        if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
            return Reply::Json(400, json!({"error": {"message": "'$.input' is invalid"}}));
        }
        if texts.iter().any(|text| text.len() > 8_192) {
            return Reply::Json(400, json!({"error": {"message": "maximum context length is 8192 tokens"}}));
        }
        vectors(&texts)
    })
    .await
}

ingrain::embedder_suite!(openai, async { client(&picky().await.url, &HttpOptions::new()).embedder("e", 4) });
ingrain::embedder_suite!(with_marks, async {
    client(&picky().await.url, &HttpOptions::new()).embedder("e", 4).prefixes("query: ", "passage: ").batch_size(3)
});

#[tokio::test]
async fn the_request_is_openais() {
    let server = picky().await;
    let embedder = client(&server.url, &HttpOptions::new()).embedder("e", 4).batch_size(2);
    embedder.embed(&["a", "", "b", "c"], Purpose::Query).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].body, json!({"model": "e", "input": ["a", "b"], "dimensions": 4}));
    assert_eq!((texts(&asked[1]), asked.len(), asked[1].path.as_str()), (vec!["c".to_owned()], 2, "/embeddings"));
}

#[tokio::test]
async fn a_width_that_cannot_be_chosen_is_not_asked_for_again() {
    let server = Server::start(|_, asked| match asked.body.get("dimensions") {
        Some(_) => {
            Reply::Json(400, json!({"error": {"message": "This model does not support specifying dimensions."}}))
        }
        None => vectors(&texts(asked)),
    })
    .await;
    let embedder = client(&server.url, &no_waiting().1).embedder("e", 4);
    embedder.embed_one("a", Purpose::Query).await.unwrap();
    embedder.embed_one("a", Purpose::Query).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_halved() {
    let server = Server::start(|_, asked| match texts(asked) {
        texts if texts.len() > 3 => Reply::Json(413, json!({"error": "batch size 8 > maximum allowed batch size 3"})),
        texts => vectors(&texts),
    })
    .await;
    let embedder = client(&server.url, &no_waiting().1).embedder("e", 4);
    let many: Vec<String> = (0..8).map(|number| format!("text {number}")).collect();
    let found = embedder.embed(&many.iter().map(String::as_str).collect::<Vec<_>>(), Purpose::Document).await.unwrap();
    let expected: Vec<Value> = many.iter().map(|text| of(text)).collect();
    assert_eq!(serde_json::to_value(found).unwrap(), json!(expected));
}

#[tokio::test]
async fn vectors_that_break_the_contract_are_refused() {
    let item = |index: usize, vector: Value| json!({"index": index, "embedding": vector});
    let good = json!([1, 2, 3, 4]);
    for data in [
        json!([item(0, good.clone())]),
        json!([item(0, good.clone()), item(0, good.clone())]),
        json!([item(0, good.clone()), item(2, good.clone())]),
        json!([item(0, good.clone()), item(1, json!([1, 2, 3]))]),
        json!([item(0, good.clone()), item(1, json!([1, 2, 3, null]))]),
        json!([item(0, good.clone()), item(1, json!([1, 2, 3, 1e39]))]),
        json!([item(0, good.clone()), item(1, json!("AACAPw=="))]),
        json!([item(0, good.clone()), {"index": 1}]),
        json!([item(0, good.clone()), item(1, good.clone()), item(2, good.clone())]),
        json!(null),
    ] {
        let server = Server::replies([Reply::Json(200, json!({ "data": data }))]).await;
        let embedder = client(&server.url, &no_waiting().1).embedder("e", 4);
        let error = embedder.embed(&["a", "b"], Purpose::Document).await.unwrap_err();
        assert_eq!((error.kind(), server.asked().len()), (ErrorKind::UnusableModelOutput, 1), "{data}");
    }
    // Without indexes the order is that of the answer.
    let data = json!([{"embedding": [1, 0, 0, 0]}, {"embedding": [2, 0, 0, 0]}]);
    let server = Server::replies([Reply::Json(200, json!({ "data": data }))]).await;
    let found = client(&server.url, &no_waiting().1).embedder("e", 4).embed(&["a", "b"], Purpose::Document).await;
    assert_eq!(found.unwrap()[1][0], 2.0);
}

#[tokio::test]
async fn a_wrong_width_is_named() {
    let server = Server::replies([Reply::Json(200, json!({"data": [{"index": 0, "embedding": [1, 2, 3]}]}))]).await;
    let error = client(&server.url, &no_waiting().1).embedder("e", 4).embed_one("a", Purpose::Query).await.unwrap_err();
    assert!(error.to_string().contains('3') && error.to_string().contains('4'), "{error}");
}

#[tokio::test]
async fn errors_do_not_hold_the_texts() {
    let error = json!({"error": {"message": "invalid input: 'Where do I keep my bees?'"}});
    let server = Server::replies([Reply::Json(400, error)]).await;
    let embedder = client(&server.url, &no_waiting().1).embedder("e", 4);
    let error = embedder.embed_one("Where do I keep my bees?", Purpose::Query).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderRefused);
    assert!(!format!("{error:?}").contains("bees"), "{error:?}");
}
