//! How well are the right messages found in long chats with an assistant, and does the newer answer stand above the
//! one it replaces? Ingests BEAM chats message by message and asks every question that has evidence. No model is called.
//!
//! ```text
//! cargo run --release --example beam -- DIR [--mode vector|keyword|hybrid] [--store memory|sqlite]
//!     [--embedder static|hashing] [--ablate]       the last: a table with each part of the score switched off
//! ```
//!
//! BEAM: Tavakoli et al., "Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025. One
//! folder a chat; the data is not part of this crate.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::{error::Error, path::PathBuf, process::ExitCode, sync::Arc};

use ingrain::{
    Embedder, HashingEmbedder, InMemoryStore, MemoryEngine, SearchMode, SearchRequest, SqliteStore, StaticEmbedder,
    VectorStore,
    evaluate::{Report, ablation, beam, ingest, retrieve},
    score::fusion::Weights,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: beam FOLDER… [--mode vector|keyword|hybrid] [--store memory|sqlite] \
    [--embedder static|hashing] [--ablate]";

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
    let dataset = beam::load(&options.paths)?;
    let folder = tempfile::tempdir()?;
    // One row, or one for each part of the score.
    let rows = if options.ablate { ablation::variants() } else { vec![("everything", Weights::default())] };
    let mut reports: Vec<_> = rows.into_iter().map(|(name, weights)| (name, weights, Report::over(&dataset))).collect();
    for (number, chat) in dataset.conversations.iter().enumerate() {
        let file = folder.path().join(format!("{number}.db"));
        let embedder: Arc<dyn Embedder> =
            if options.hashing { Arc::new(HashingEmbedder::new(256)) } else { Arc::new(StaticEmbedder::builtin()) };
        let store: Arc<dyn VectorStore> =
            if options.in_memory { Arc::new(InMemoryStore::new()) } else { Arc::new(SqliteStore::open(file).await?) };
        let builder = || MemoryEngine::builder().store(Arc::clone(&store)).embedder(Arc::clone(&embedder));
        let ids = ingest(&builder().build().await?, chat).await?;
        for (_, weights, report) in &mut reports {
            // Weights count when searching, so the chat is stored once.
            let memory = builder().weights(*weights).build().await?;
            let found = retrieve(&memory, chat, &ids, &SearchRequest::new("").mode(options.mode)).await?;
            report.add(chat, &found);
        }
        eprintln!("{}: {} messages, {} questions", chat.name, ids.len(), chat.questions.len());
    }
    if let [(_, _, report), ..] = &reports[..] {
        print(report);
    }
    if options.ablate {
        println!("{}", reports.iter().fold(ablation::Table::new(), |table, (name, _, report)| table.row(name, report)));
    }
    Ok(())
}

/// A line an ability, then one over all. Programs read these, so their form stays.
fn print(report: &Report) {
    println!("left out: {}", report.left_out);
    for (ability, means) in &report.categories {
        let scores = &means.scores;
        println!(
            "ability={ability} questions={} recall@10={:.3} any@10={:.3} ndcg@10={:.3}",
            means.n, scores.turn_recall_at_10, scores.turn_any_at_10, scores.ndcg_at_10
        );
    }
    println!(
        "messages={} questions={} recall@10={:.3} update_above_original={:.3} search_p50_ms={:.3}",
        report.turns,
        report.overall.n,
        report.overall.scores.turn_recall_at_10,
        report.updates.map_or(0.0, |(_, share)| share),
        report.search_p50.as_secs_f64() * 1e3
    );
}

/// What the command line asks for.
#[derive(Default)]
struct Options {
    paths: Vec<PathBuf>,
    mode: SearchMode,
    in_memory: bool,
    hashing: bool,
    ablate: bool,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            if matches!(argument.as_str(), "-h" | "--help") {
                return Err(USAGE.into());
            }
            if argument == "--ablate" {
                options.ablate = true;
                continue;
            }
            if !argument.starts_with("--") {
                options.paths.push(argument.into());
                continue;
            }
            if !["--mode", "--store", "--embedder"].contains(&argument.as_str()) {
                return Err(format!("no such option: {argument}; {USAGE}").into());
            }
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value; {USAGE}"))?;
            match (argument.as_str(), value.as_str()) {
                ("--mode", "vector") => options.mode = SearchMode::Vector,
                ("--mode", "keyword") => options.mode = SearchMode::Keyword,
                ("--mode", "hybrid") => options.mode = SearchMode::Hybrid,
                ("--store", "memory") => options.in_memory = true,
                ("--store", "sqlite") => options.in_memory = false,
                ("--embedder", "static") => options.hashing = false,
                ("--embedder", "hashing") => options.hashing = true,
                _ => return Err(format!("{argument} does not take {value}; {USAGE}").into()),
            }
        }
        if options.ablate && options.mode != SearchMode::Hybrid {
            return Err("--ablate takes parts of the hybrid score away: leave --mode out".into());
        }
        if options.paths.is_empty() {
            return Err(format!("give a folder with BEAM chats; {USAGE}").into());
        }
        Ok(options)
    }
}
