//! Secrets leave no trace.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
};

use ingrain::{
    Embedder, EmbedderIdentity, MemoryEngine, MemoryUpdate, Message, NewMemory, Purpose, Redactor, Result, Scope,
    SearchMode, SearchRequest,
    testing::{GivenVectors, ScriptedLlm},
};
use serde_json::json;

use super::{facts, said};
use crate::worlds::{World, object, texts};

const KEY: &str = "sk-TESTabcdefghijklmnopqrst";

/// `sk-` and twenty or more letters or digits.
#[derive(Debug)]
struct Keys;

impl Redactor for Keys {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut rest = text;
        let mut out = String::new();
        while let Some(at) = rest.find("sk-") {
            let key = rest[at + 3..].chars().take_while(char::is_ascii_alphanumeric).count();
            let (before, after) = (&rest[..at], &rest[at + 3 + key..]);
            out.push_str(before);
            out.push_str(if key >= 20 { "[key]" } else { &rest[at..at + 3 + key] });
            rest = after;
        }
        if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
    }
}

/// Remembers what it was asked to embed.
#[derive(Debug, Clone)]
struct Recording(GivenVectors, Arc<Mutex<Vec<String>>>);

#[ingrain::async_trait]
impl Embedder for Recording {
    fn identity(&self) -> EmbedderIdentity {
        self.0.identity()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        self.1.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        self.0.embed(texts, purpose).await
    }
}

#[tokio::test]
async fn a_key_is_stored_embedded_and_sent_nowhere() {
    for world in World::all().await {
        let ann = Scope::user("ann");
        let llm = ScriptedLlm::new().reply(facts(&[&format!("Has key {KEY}"), "Likes tea"]));
        let embedder = Recording(world.embedder.clone(), Arc::default());
        let engine = MemoryEngine::builder().store(world.store.clone()).embedder(embedder.clone());
        let engine = engine.clock(world.clock.clone()).llm(llm.clone()).redactor(Keys).build().await.unwrap();
        let metadata = object(json!({"context": KEY, "nested": [{"deep": format!("<{KEY}>")}], "other": 1}));
        let message = Message::user(format!("My key is {KEY} and I like tea")).with_metadata(metadata.clone());
        engine.add(&ann, message).await.unwrap();
        assert_eq!(texts(&world.list(&ann).await), ["Has key [key]", "Likes tea"], "{}", world.name);
        let episode = world.everything(&ann).await.into_iter().find(|memory| !memory.metadata.is_empty()).unwrap();
        assert_eq!(episode.text, "My key is [key] and I like tea");
        assert_eq!(json!(episode.metadata), json!({"context": "[key]", "nested": [{"deep": "<[key]>"}], "other": 1}));

        let raw = NewMemory::new(format!("Wrote {KEY} down")).metadata(metadata.clone()).categories([KEY]);
        let id = engine.add_raw(&ann, [raw]).await.unwrap()[0].id;
        let update = MemoryUpdate::new().text(format!("Tore {KEY} up")).metadata(metadata).categories([KEY]);
        engine.update(&ann, id, update).await.unwrap();
        for mode in [SearchMode::Hybrid, SearchMode::Keyword] {
            engine.search(&ann, SearchRequest::new(format!("Whose is {KEY}?")).mode(mode)).await.unwrap();
        }
        engine.context(&ann, format!("Whose is {KEY}?"), 400).await.unwrap();

        assert!(llm.requests().iter().all(|request| !said(request).contains(KEY)));
        let embedded = embedder.1.lock().unwrap().clone();
        assert!(embedded.len() >= 6 && embedded.iter().all(|text| !text.contains(KEY)), "{embedded:?}");
        assert!(!json!(engine.history(&ann, id).await.unwrap()).to_string().contains(KEY));
        assert!(!json!(world.everything(&ann).await).to_string().contains(KEY));
        #[cfg(feature = "sqlite")]
        if world.name == "sqlite" {
            let folder = world.path().parent().unwrap().to_owned();
            let mut files = 0;
            for entry in std::fs::read_dir(folder).unwrap() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap();
                files += 1;
                assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()));
            }
            assert!(files > 0);
        }
    }
}
