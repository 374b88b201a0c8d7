//! Facts told together by a model: nothing they depend on is lost.

use ingrain::{
    Filter, HashingEmbedder, ListRequest, Maintenance, MemoryEngine, MemoryKind, Scope, testing::ScriptedLlm,
};

async fn observed(retold: &str) -> String {
    let llm = ScriptedLlm::new().reply(serde_json::json!({ "summary": retold }).to_string());
    let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).llm(llm.clone()).build().await.unwrap();
    let alice = Scope::user("alice");
    let facts = ["Drinks black coffee, but only before noon", "Drinks black coffee at work"];
    memory.add_raw(&alice, facts).await.unwrap();
    let mut request = Maintenance::new().observe(2);
    loop {
        let report = memory.maintain(&alice, &request).await.unwrap();
        let Some(place) = report.next else { break };
        request = request.resume(place);
    }
    assert_eq!(llm.requests().len(), 1);
    let filter = Filter::eq("kind", MemoryKind::Observation.as_str());
    memory.list(&alice, ListRequest::new().filter(filter)).await.unwrap().items.remove(0).text
}

#[tokio::test]
async fn a_model_that_keeps_the_condition_is_believed() {
    let retold = "Drinks black coffee at work, only before noon.";
    assert_eq!(observed(retold).await, retold);
}

#[tokio::test]
async fn a_model_that_loses_the_condition_is_not() {
    let text = observed("Drinks black coffee at work.").await;
    assert!(text.contains("only before noon") && text.contains("at work"), "{text}");
}
