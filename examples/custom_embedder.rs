//! An embedder of your own: implement one method, hand it to the builder, and run the suite on it.
//!
//! `cargo run --example custom_embedder --features testing`

#![allow(clippy::print_stdout, clippy::indexing_slicing, reason = "an example prints, and may index what it made")]

use ingrain::{Embedder, EmbedderIdentity, MemoryEngine, Purpose, Scope, SearchMode, SearchRequest};

/// Counts words about a few topics, a dimension each, and a little of every character, so that no text is without a
/// vector. A real one would ask a model here.
#[derive(Debug)]
struct Topics;

const TOPICS: [&[&str]; 3] =
    [&["dog", "cat", "pet", "vet"], &["cook", "food", "dinner", "noodles"], &["train", "flight", "travel", "journey"]];

/// The dimensions that all characters share.
const CHARACTERS: usize = 64;

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let about = |topic: &&[&str]| topic.iter().filter(|word| text.contains(**word)).count() as f32;
    let mut vector: Vec<f32> = TOPICS.iter().map(about).collect();
    let mut characters = vec![0.0; CHARACTERS];
    for character in text.chars() {
        characters[character as usize % CHARACTERS] += 0.01;
    }
    vector.extend(characters);
    vector
}

#[ingrain::async_trait]
impl Embedder for Topics {
    fn identity(&self) -> EmbedderIdentity {
        // Stores remember this name: change it whenever the vectors change.
        EmbedderIdentity::new("example/topics-v1", TOPICS.len() + CHARACTERS)
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> ingrain::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

// The suite is a set of tests: `cargo test --example custom_embedder` runs it.
#[cfg(test)]
ingrain::embedder_suite!(topics, async { Topics });

#[tokio::main]
async fn main() -> ingrain::Result<()> {
    let memory = MemoryEngine::builder().embedder(Topics).build().await?;
    let bob = Scope::user("bob");
    memory.add_raw(&bob, ["Takes the night train to Vienna", "Has a dog named Bruno"]).await?;

    // Not a word in common with what is stored: the vectors find it.
    let request = SearchRequest::new("Which pet is his?").mode(SearchMode::Vector).limit(1);
    for hit in memory.search(&bob, request).await? {
        println!("{}  ({})", hit.memory.text, hit.explain());
        assert_eq!(hit.memory.text, "Has a dog named Bruno");
    }
    Ok(())
}
