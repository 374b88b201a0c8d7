//! No name and no predicate becomes part of a query.

use ingrain::{HashingEmbedder, MemoryEngine, Message, Scope};

use super::server::{Server, fresh};
use crate::hostile::{
    entrances::{Gullible, relating, relations},
    texts::{Hostile, all},
};

#[tokio::test]
async fn no_text_reaches_the_query_language() {
    let Some(server) = Server::named(module_path!()) else { return };
    let (store, _alone) = fresh(server).await;
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).extractor(Gullible).graph(store);
    let engine = builder.build().await.unwrap();
    let bob = Scope::user("bob");
    engine.add(&bob, [Message::user("bob")]).await.unwrap();
    let theirs = relations(&engine, &bob).await;
    assert_eq!(theirs.len(), 1);
    for (number, Hostile { family, text }) in all().into_iter().enumerate() {
        let ann = Scope::user(format!("ann {number} {family}"));
        engine.add(&ann, [Message::user(text.as_str())]).await.unwrap();
        relating(&engine, &ann, &text).await;
        assert_eq!(relations(&engine, &bob).await, theirs, "{text:?}");
    }
    assert!(relations(&engine, &Scope::user("ann 0 prompt")).await.len() == 1, "and what was told first is there");
}
