//! What others do while the model thinks.

use std::sync::{Arc, OnceLock};

use ingrain::{ChatRequest, ChatResponse, EntityId, LlmCapabilities, LlmFn, MemoryEngine};

use super::{KNOWN, Model, ada, all_mean, entity, is_for, names, tell};
use crate::worlds::World;

/// A name whose entity is merged away while the model is asked means what it would without a model.
#[tokio::test]
async fn an_entity_that_is_gone_by_then_is_not_taken() {
    for world in World::all().await {
        let model = Model::new(all_mean("Robert Smith"));
        let writer = model.engine(&world).await;
        tell(&writer, KNOWN).await;
        tell(&writer, "Carl Quist:person | plays | chess").await;
        let ends = [entity(&writer, "Carl Quist").await.id, entity(&writer, "Robert Smith").await.id];
        let engine = slow(&world, model, writer.clone(), ends).await;
        let report = tell(&engine, "Bob:person | lives_in | Porto:place").await;
        assert!(report.resolved.is_empty(), "{}", world.name);
        assert_eq!(report.rejected, ["a name taken for an entity that is gone"]);
        let bob = entity(&engine, "Bob").await;
        assert_eq!((bob.name.as_str(), report.relations[0].subject), ("Bob", bob.id));
        assert_eq!(names(&engine).await, ["Bob", "Carl Quist", "Mar Clinic", "Porto", "chess"]);
    }
}

/// An engine whose model merges two entities before it answers about names, once.
async fn slow(world: &World, model: Model, writer: MemoryEngine, [kept, other]: [EntityId; 2]) -> MemoryEngine {
    let mut able = LlmCapabilities::default();
    able.json_schema = true;
    let done: Arc<OnceLock<()>> = Arc::default();
    let llm = LlmFn::new("slow", move |request: ChatRequest| {
        let (model, writer, done) = (model.clone(), writer.clone(), Arc::clone(&done));
        async move {
            if is_for("actions", &request) && done.set(()).is_ok() {
                writer.graph(&ada()).merge(kept, other).await?;
            }
            Ok(ChatResponse::text(model.answer(&request).to_string()))
        }
    });
    world.builder().llm(llm.with_capabilities(able)).build().await.unwrap()
}
