//! What can be done with the types themselves: shared, sent, kept behind a pointer, printed.

use std::sync::Arc;

use ingrain::{
    AddQueue, AddReport, AgentTool, CallId, Clock, ConversationStore, Embedder, Error, Extractor, GraphStore, Hit,
    InMemoryStore, ListRequest, Llm, Memory, MemoryEngine, MemoryId, MemoryUpdate, Reconciler, Redactor, Reranker,
    Scope, Secret, Summarizer, TokenCounter, VectorStore,
};

const fn shared<T: Send + Sync + 'static + ?Sized>() {}

#[test]
fn every_trait_works_behind_a_pointer() {
    macro_rules! behind_a_pointer {
        ($($name:ident)+) => {$({
            const fn is_one_itself<T: $name + ?Sized>() {}
            shared::<Arc<dyn $name>>();
            is_one_itself::<Arc<dyn $name>>();
        })+};
    }
    behind_a_pointer! {
        AddQueue AgentTool Clock ConversationStore Embedder Extractor GraphStore Llm Reconciler Redactor Reranker Summarizer TokenCounter
        VectorStore
    }
}

#[test]
fn what_is_handed_out_can_be_shared() {
    shared::<Error>();
    shared::<MemoryEngine>();
    shared::<AddReport>();
    shared::<ingrain::QueuedAdd>();
    shared::<ingrain::FlushReport>();
    shared::<ingrain::Conversation>();
    shared::<ingrain::ConversationView>();
    shared::<ingrain::ConversationEvent>();
    shared::<ingrain::Companions>();
    shared::<ingrain::Verify>();
    shared::<ingrain::VerifyReport>();
    shared::<Hit>();
    shared::<ingrain::MemoryAgent>();
    shared::<ingrain::AgentSession>();
    shared::<ingrain::AgentReply>();
    shared::<ingrain::AgentEvent>();
    shared::<ingrain::MemoryContext>();
    shared::<ingrain::Profile>();
    shared::<ingrain::Blocks>();
    shared::<ingrain::MemoryTools>();
    shared::<ingrain::ToolResult>();
    shared::<ingrain::CallBudget>();
    shared::<ingrain::prompted::PromptedExtractor>();
    shared::<ingrain::prompted::PromptedReconciler>();
    shared::<ingrain::prompted::AgenticReconciler>();
    shared::<ingrain::prompted::PromptedSummarizer>();
    #[cfg(feature = "tiktoken")]
    shared::<ingrain::TiktokenCounter>();
    #[cfg(feature = "openai")]
    {
        shared::<ingrain::OpenAi>();
        shared::<ingrain::OpenAiEmbedder>();
        shared::<ingrain::OpenAiReranker>();
    }
    #[cfg(feature = "anthropic")]
    shared::<ingrain::Anthropic>();
    #[cfg(feature = "ollama")]
    {
        shared::<ingrain::Ollama>();
        shared::<ingrain::OllamaEmbedder>();
    }
    shared::<Memory>();
    shared::<InMemoryStore>();
    #[cfg(feature = "sqlite")]
    shared::<ingrain::SqliteStore>();
    const fn cloned<T: Clone>() {}
    cloned::<MemoryEngine>();
}

/// Not run: it compiles only if every future of the engine can be spawned on a runtime of several threads.
#[allow(dead_code)]
fn futures_can_be_spawned(
    engine: &'static MemoryEngine,
    agent: &'static ingrain::MemoryAgent,
    scope: &'static Scope,
    id: MemoryId,
) {
    const fn spawned<F: Future + Send + 'static>(_: &F) {}
    spawned(&engine.add(scope, "text"));
    spawned(&engine.add_later(scope, "text"));
    spawned(&engine.flush());
    spawned(&engine.queued_adds(scope));
    spawned(&engine.retry_add(scope, CallId::new(ingrain::Timestamp::default())));
    spawned(&engine.discard_add(scope, CallId::new(ingrain::Timestamp::default())));
    spawned(&engine.add_raw(scope, ["text"]));
    spawned(&engine.search(scope, "text"));
    spawned(&engine.context(scope, "text", 800));
    spawned(&engine.get(scope, id));
    spawned(&engine.list(scope, ListRequest::new()));
    spawned(&engine.count(scope, None));
    spawned(&engine.update(scope, id, MemoryUpdate::new()));
    spawned(&engine.delete(scope, id));
    spawned(&engine.delete_all(scope));
    spawned(&engine.history(scope, id));
    spawned(&MemoryEngine::builder().build());
    spawned(&agent.respond(scope, "text"));
    #[cfg(all(feature = "sqlite", feature = "static-embedder"))]
    spawned(&MemoryEngine::open("memory.db"));
}

#[test]
fn a_secret_is_not_printed() {
    let secret = Secret::new("sk-test-0000");
    assert_eq!(format!("{secret:?} {:?} {:#?}", Some(&secret), secret), "*** Some(***) ***");
    assert_eq!(secret.expose(), "sk-test-0000");
}

#[test]
fn an_error_is_one_like_any_other() {
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Error::invalid("a reason"));
    assert!(boxed.downcast_ref::<Error>().is_some() && boxed.to_string().contains("a reason"));
}

#[tokio::test]
async fn a_clone_of_an_engine_is_the_same_engine() {
    let engine = crate::worlds::World::in_memory().await.engine;
    let alice = Scope::user("alice");
    let clone = engine.clone();
    tokio::spawn(async move { clone.add_raw(&Scope::user("alice"), ["Plays the oud"]).await }).await.unwrap().unwrap();
    assert_eq!(engine.count(&alice, None).await.unwrap(), 1);
}
