//! Without a model: relatives, and what they are called, are one.

use ingrain::{MemoryEngine, Scope};

use super::{id, lines};
use crate::worlds::World;

async fn told(world: &World, messages: &[&str]) -> (MemoryEngine, Scope) {
    let (engine, alice) = (world.builder().build().await.unwrap(), Scope::user("alice"));
    for message in messages {
        engine.add(&alice, *message).await.unwrap();
    }
    (engine, alice)
}

#[tokio::test]
async fn a_relative_with_a_name_is_one_entity() {
    for (messages, expected) in [
        (&["My sister Ann lives in Porto."][..], ["Ann|lives_in|Porto", "user|has_sister|Ann"]),
        (&["My sister is called Ann.", "My sister Ann lives in Porto."], ["Ann|lives_in|Porto", "user|has_sister|Ann"]),
        (&["My brother Max works at Nokia"], ["Max|works_at|Nokia", "user|has_brother|Max"]),
        (&["My wife Eva works at Nokia."], ["Eva|works_at|Nokia", "user|has_wife|Eva"]),
        (&["My wife Eva works at Nokia.", "My wife works at Nokia."], ["Eva|works_at|Nokia", "user|has_wife|Eva"]),
        (&["My wife is called Eva.", "My wife works at Nokia."], ["Eva|works_at|Nokia", "user|has_wife|Eva"]),
    ] {
        for world in World::all().await {
            let (engine, alice) = told(&world, messages).await;
            assert_eq!(lines(&engine, &alice).await, expected, "{} {messages:?}", world.name);
        }
    }
}

#[tokio::test]
async fn a_name_told_later_finds_the_relative() {
    for world in World::all().await {
        let (engine, alice) = told(&world, &["My wife works at Nokia.", "My wife is called Eva."]).await;
        let (eva, wife) = (id(&engine, &alice, "Eva").await, id(&engine, &alice, "user's wife").await);
        assert_eq!(eva, wife, "{}", world.name);
        assert_eq!(lines(&engine, &alice).await.len(), 2, "{}", world.name);
        let view = engine.graph(&alice).view().await.unwrap();
        assert_eq!(view.entities.len(), 3, "{}", world.name);
    }
}

#[tokio::test]
async fn an_article_makes_no_other_entity() {
    for messages in [
        ["I work at the Mar Clinic.", "My sister Ann works at Mar Clinic."],
        ["My sister Ann works at Mar Clinic.", "I work at the Mar Clinic."],
        ["I work at The Mar Clinic.", "My sister Ann works at Mar Clinic."],
    ] {
        for world in World::all().await {
            let (engine, alice) = told(&world, &messages).await;
            let view = engine.graph(&alice).view().await.unwrap();
            assert_eq!(view.entities.len(), 3, "{} {messages:?}: {:?}", world.name, view.entities);
        }
    }
}
