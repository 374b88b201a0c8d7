use ingrain::{ErrorKind, Reranker};
use serde_json::{Value, json};

use super::{
    no_waiting,
    openai::client,
    server::{Reply, Server},
};

async fn rerank(answer: Value, logits: bool) -> ingrain::Result<Vec<f32>> {
    let server = Server::replies([Reply::Json(200, answer)]).await;
    let mut reranker = client(&server.url, &no_waiting().1).reranker("r");
    if logits {
        reranker = reranker.logits();
    }
    let found = reranker.rerank("q", &["a", "b"]).await;
    let asked = server.asked().remove(0);
    assert_eq!((asked.path.as_str(), reranker.name()), ("/rerank", "openai/r"));
    assert_eq!(asked.body, json!({"model": "r", "query": "q", "documents": ["a", "b"], "top_n": 2}));
    assert!(reranker.rerank("q", &[]).await.unwrap().is_empty() && server.asked().len() == 1);
    found
}

#[tokio::test]
async fn relevances_are_in_the_order_of_the_texts() {
    let results = json!([{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]);
    assert_eq!(rerank(json!({ "results": results }), false).await.unwrap(), [0.1, 0.9]);
    // Text Embeddings Inference has a bare list.
    let list = json!([{"index": 1, "score": 1.0}, {"index": 0, "score": 0.0}]);
    assert_eq!(rerank(list, false).await.unwrap(), [0.0, 1.0]);
}

#[tokio::test]
async fn logits_become_relevances() {
    let results = json!([{"index": 0, "relevance_score": 0.0}, {"index": 1, "relevance_score": -800.0}]);
    assert_eq!(rerank(json!({ "results": results }), true).await.unwrap(), [0.5, 0.0]);
}

#[tokio::test]
async fn answers_that_break_the_contract_are_refused() {
    let results = |list: Value| json!({ "results": list });
    let one = |index: usize, score: f64| json!({"index": index, "relevance_score": score});
    for answer in [
        json!({}),
        results(json!([one(0, 0.5)])),
        results(json!([one(0, 0.5), one(0, 0.5)])),
        results(json!([one(0, 0.5), one(2, 0.5)])),
        results(json!([one(0, 0.5), one(1, 1.5)])),
        results(json!([one(0, 0.5), {"index": 1}])),
        results(json!([one(0, 0.5), {"index": 1, "relevance_score": null}])),
    ] {
        let error = rerank(answer.clone(), false).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{answer}");
    }
}
