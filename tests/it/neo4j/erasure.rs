//! What is erased is nowhere on the server, asked past the crate.

use ingrain::{
    Entity, EntityId, GraphBatch, GraphStore, HashingEmbedder, InMemoryStore, MemoryEngine, Message, Neo4jStore, Purge,
    Scope,
};

use super::{
    cypher::Cypher,
    server::{Server, fresh},
};
use crate::worlds::t0;

/// The words of one user, each told in another place: names, aliases, types, texts, metadata, parts of the scope.
const SECRETS: [&str; 8] = [
    "zanzibarova",
    "qwertzuiop",
    "xylophonist",
    "vladivostokian",
    "kumquatery",
    "ouagadougou",
    "mitzi-agent",
    "w7-session",
];

/// Everything that this crate keeps on the server, by what it is. The locks are always there.
const KEPT: [&str; 7] = [
    "(x:IngrainEntity)",
    "(x:IngrainName)",
    "(x:IngrainGram)",
    "(x:IngrainSource)",
    "()-[x:INGRAIN_RELATION]->()",
    "()-[x:INGRAIN_NAMED]->()",
    "()-[x:INGRAIN_SPELLED]->()",
];

/// How many of each there are, and how many nodes and relationships in all.
async fn kept(cypher: &mut Cypher) -> Vec<i64> {
    let mut counts = Vec::new();
    for pattern in KEPT.into_iter().chain(["(x)", "()-[x]->()"]) {
        counts.push(cypher.count(&format!("MATCH {pattern} RETURN count(x)")).await);
    }
    counts
}

/// In how many nodes and relationships a property has this word in it, in any case.
async fn holding(cypher: &mut Cypher, word: &str) -> i64 {
    let mut count = 0;
    for pattern in ["(x)", "()-[x]->()"] {
        // A list or a single value alike, each as text.
        let has = format!("any(value IN [] + x[key] WHERE toLower(toString(value)) CONTAINS '{word}')");
        count += cypher.count(&format!("MATCH {pattern} WHERE any(key IN keys(x) WHERE {has}) RETURN count(x)")).await;
    }
    count
}

/// Fills the graph with a user's words, in the user's scope and in that of a session.
async fn fill(engine: &MemoryEngine, store: &Neo4jStore, user: &Scope) {
    let session = user.clone().with_agent("mitzi-agent").with_session("w7-session");
    for text in [
        "My name is Olga Zanzibarova. I live in Qwertzuiop. I work at Xylophonist.",
        "I moved to Vladivostokian. My sister Kumquatery works at Xylophonist.",
    ] {
        for scope in [user, &session] {
            engine.add(scope, [Message::user(text)]).await.unwrap();
        }
    }
    let mut batch = GraphBatch::default();
    for scope in [user, &session] {
        let mut entity = Entity::new(EntityId::new(t0()), scope.clone(), "Ouagadougou", t0());
        entity.aliases = vec!["Kumquatery of Ouagadougou".to_owned(), "瓦加杜古".to_owned()];
        entity.entity_type = Some("Xylophonist".to_owned());
        entity.summary = Some("Told of Qwertzuiop".to_owned());
        entity.metadata.insert("Vladivostokian".to_owned(), "Zanzibarova".into());
        batch.entities.push(entity);
    }
    store.apply_graph(&batch).await.unwrap();
}

#[tokio::test]
async fn nothing_is_left_on_the_server() {
    for way in 0..4 {
        let Some(server) = Server::named("nothing_is_left_on_the_server") else { return };
        let mut cypher = server.cypher().await;
        let (store, _alone) = fresh(server).await;
        let builder = MemoryEngine::builder().store(InMemoryStore::new()).graph(store.clone());
        let engine = builder.embedder(HashingEmbedder::new(64)).build().await.unwrap();
        let (olga, bob) = (Scope::user("olga-of-qwertzuiop"), Scope::user("bob"));
        engine.add(&bob, [Message::user("I live in Porto. My sister Ann lives in Faro.")]).await.unwrap();
        let theirs = (kept(&mut cypher).await, engine.graph(&bob).view().await.unwrap());
        assert!(theirs.0.iter().all(|count| *count > 0) && theirs.1.relations.len() == 3, "{theirs:?}");

        fill(&engine, &store, &olga).await;
        for word in SECRETS {
            assert!(holding(&mut cypher, word).await > 0, "{word} is there");
        }
        match way {
            0 => drop(engine.purge(&olga, Purge::everything()).await.unwrap()),
            1 => drop(engine.delete_all(&olga).await.unwrap()),
            2 => drop(store.delete_graph(&olga).await.unwrap()),
            // The one session first: what was told in the others stays, and the session's own goes.
            _ => {
                engine.purge(&olga.clone().with_session("w7-session"), Purge::everything()).await.unwrap();
                assert_eq!(holding(&mut cypher, "w7-session").await, 0);
                assert!(holding(&mut cypher, "qwertzuiop").await > 0);
                engine.purge(&olga, Purge::everything()).await.unwrap();
            }
        }
        for word in SECRETS.into_iter().chain(["olga", "瓦加杜古"]) {
            assert_eq!(holding(&mut cypher, word).await, 0, "{word}, way {way}");
        }
        // No node without a word of the user's either: the trigrams of names are numbers.
        assert_eq!(kept(&mut cypher).await, theirs.0, "way {way}");
        assert_eq!(engine.graph(&bob).view().await.unwrap(), theirs.1, "way {way}");
        assert_eq!(engine.graph(&bob).find("Porto", 1).await.unwrap()[0].0.name, "Porto");
    }
}
