//! How well are the right turns of long conversations found? Ingests LoCoMo conversations turn by turn, asks every
//! question, and compares what comes back with the evidence. No model is called.
//!
//! ```text
//! cargo run --release --example locomo -- DIR [--mode vector|keyword|hybrid] [--store memory|sqlite]
//!                                            [--embedder static|hashing] [--limit QUESTIONS]
//! ```
//!
//! LoCoMo: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. One JSON file a
//! conversation; the data is not part of this crate.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

mod options;

use std::{error::Error, process::ExitCode, sync::Arc};

use ingrain::{
    Embedder, HashingEmbedder, InMemoryStore, MemoryEngine, SearchRequest, SqliteStore, StaticEmbedder, VectorStore,
    evaluate::{Report, Scores, ingest, locomo, retrieve},
};

use options::Options;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// LoCoMo's kinds of question, in the order of their numbers.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line, with its causes.
            let mut line = error.to_string();
            let mut cause = error.source();
            while let Some(next) = cause {
                line.push_str(&format!(": {next}"));
                cause = next.source();
            }
            eprintln!("error: {}", line.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<()> {
    let options = Options::read(std::env::args().skip(1))?;
    // Everything is read before anything is stored, so a damaged file leaves nothing behind.
    let mut dataset = locomo::load(&options.paths)?;
    let folder = tempfile::tempdir()?;
    let mut report = Report::new(&dataset.name);
    let mut left = options.limit.unwrap_or(usize::MAX);
    for (number, conversation) in dataset.conversations.iter_mut().enumerate() {
        conversation.questions.truncate(left);
        left -= conversation.questions.len();
        // A store each: a chat's memory is measured, not that of a service with many users.
        let file = folder.path().join(format!("{number}.db"));
        let embedder: Arc<dyn Embedder> =
            if options.hashing { Arc::new(HashingEmbedder::new(256)) } else { Arc::new(StaticEmbedder::builtin()) };
        let store: Arc<dyn VectorStore> =
            if options.in_memory { Arc::new(InMemoryStore::new()) } else { Arc::new(SqliteStore::open(file).await?) };
        let memory = MemoryEngine::builder().store(store).embedder(embedder).build().await?;
        let ids = ingest(&memory, conversation).await?;
        let found = retrieve(&memory, conversation, &ids, &SearchRequest::new("").mode(options.mode)).await?;
        report.add(conversation, &found);
        eprintln!("{}: {} turns, {} questions so far", conversation.name, ids.len(), report.overall.n);
    }
    print(&report);
    Ok(())
}

/// A line a category, then one over all. Programs read these, so their form stays.
fn print(report: &Report) {
    let known = CATEGORIES.iter().zip(1..).map(|(name, number)| (number.to_string(), *name, *name));
    let others = report.categories.keys().filter(|name| !CATEGORIES.contains(&name.as_str()));
    for (number, name, category) in known.chain(others.map(|number| (number.clone(), "other", number.as_str()))) {
        if let Some(means) = report.categories.get(category) {
            println!("category={number} name={name} questions={} {}", means.n, line(&means.scores));
        }
    }
    println!(
        "turns={} questions={} {} search_p50_ms={:.3}",
        report.turns,
        report.overall.n,
        line(&report.overall.scores),
        report.search_p50.as_secs_f64() * 1e3
    );
}

fn line(scores: &Scores) -> String {
    format!(
        "turn_any@5={:.3} turn_any@10={:.3} turn_recall@10={:.3} turn_all@10={:.3} session_any@5={:.3} \
         session_any@10={:.3}",
        scores.turn_any_at_5,
        scores.turn_any_at_10,
        scores.turn_recall_at_10,
        scores.turn_all_at_10,
        scores.session_any_at_5,
        scores.session_any_at_10
    )
}
