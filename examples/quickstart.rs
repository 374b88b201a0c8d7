//! Remembers a short chat in a SQLite file, closes it, opens it again and answers from it. No server, no key, no
//! download: `cargo run --example quickstart [FILE]`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::{error::Error, path::PathBuf, process::ExitCode};

use ingrain::{Filter, MemoryEngine, Message, Scope, SearchRequest};

async fn chat(file: PathBuf) -> Result<(), ingrain::Error> {
    let alice = Scope::user("alice");
    {
        let memory = MemoryEngine::open(&file).await?;
        memory.delete_all(&alice).await?; // so that a second run begins like the first

        for said in [
            "Hi! My name is Alice. I live in Lisbon and I work at the city library.",
            "I'm allergic to shellfish, but I love Thai food.",
            "Big news: I moved to Porto!",
        ] {
            let report = memory.add(&alice, [Message::user(said)]).await?;
            println!("Alice: {said}");
            for fact in &report.added {
                println!("    remembered: {}", fact.text);
            }
            for old in &report.superseded {
                println!("    superseded: {}", old.text);
            }
        }
    } // the file is closed here

    let memory = MemoryEngine::open(&file).await?;
    for question in ["Where does Alice live now?", "Is she allergic to any food?"] {
        println!("\n{question}");
        // Facts only; the turns they were read from are found without the filter.
        let request = SearchRequest::new(question).filter(Filter::ne("kind", "episode")).limit(2);
        for hit in memory.search(&alice, request).await? {
            println!("    {:<32} {}", hit.memory.text, hit.explain());
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    // Without a file of its own it is gone in the end.
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let file = std::env::args_os().nth(1).map_or_else(|| folder.path().join("memory.db"), PathBuf::from);
    match chat(file).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            eprintln!("error: {error}{cause}");
            ExitCode::FAILURE
        }
    }
}
