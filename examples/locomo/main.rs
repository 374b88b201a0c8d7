//! How well are the right turns of long conversations found? Ingests LoCoMo conversations turn by turn, asks every
//! question, and compares what comes back with the evidence. With `--cost` it counts instead what a model would be sent
//! and asked for while all this is remembered. No model is called: the data set's own observations are its answers.
//!
//! ```text
//! cargo run --release --example locomo -- DIR [--mode vector|keyword|hybrid] [--facts alone|keys|both|rules]
//!     [--compare vector|keyword|hybrid|turns|alone|keys|both|rules]   a second run, and whether the two differ by luck
//!     [--ablate]                                                a table with each part of the score switched off
//!     [--held-out]                                              weights chosen without the conversation they search
//!     [--cost]                                                  calls and tokens of a model, as the memory grows
//!     [--store memory|sqlite] [--embedder static|hashing] [--limit QUESTIONS]
//! ```
//!
//! LoCoMo: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. One JSON file a
//! conversation; the data is not part of this crate.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

mod cost;
mod held_out;
mod model;
mod options;
mod print;
mod setup;

use std::{
    collections::{HashMap, hash_map::Entry},
    error::Error,
    process::ExitCode,
};

use ingrain::evaluate::{FactCounts, Report, ablation, locomo, retrieve};

use options::Options;
use setup::{Reader, Setup, Stored};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A way to search, and what came of it.
struct Run {
    name: String,
    setup: Setup,
    facts: FactCounts,
    report: Report,
}

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
    let setups = setups(&options);
    let wants_given = options.cost || setups.iter().any(|(_, setup)| setup.reader() == Reader::DataSet);
    if wants_given && dataset.facts() == 0 {
        return Err("these conversations come without observations, so there are no facts to store".into());
    }
    if options.cost {
        return cost::print(&dataset, &options).await;
    }
    let mut runs: Vec<Run> = setups
        .into_iter()
        .map(|(name, setup)| Run { name, setup, facts: FactCounts::default(), report: Report::over(&dataset) })
        .collect();
    let folder = tempfile::tempdir()?;
    let mut left = options.limit.unwrap_or(usize::MAX);
    for (number, conversation) in dataset.conversations.iter_mut().enumerate() {
        conversation.questions.truncate(left);
        left -= conversation.questions.len();
        // Stored once for each reader of facts; the runs differ in how they search.
        let mut stored: HashMap<Reader, Stored> = HashMap::new();
        for run in &mut runs {
            let chat = match stored.entry(run.setup.reader()) {
                Entry::Occupied(chat) => chat.into_mut(),
                Entry::Vacant(place) => {
                    let file = folder.path().join(format!("{number}-{}.db", *place.key() as u8));
                    let chat = Stored::new(conversation, &file, *place.key(), &options).await?;
                    place.insert(chat)
                }
            };
            let memory = chat.engine(run.setup.weights).await?;
            let found = retrieve(&memory, conversation, &chat.turns, &run.setup.request()).await?;
            run.report.add(conversation, &found);
            run.facts += chat.facts;
        }
        eprintln!(
            "{}: {} turns, {} questions",
            conversation.name,
            conversation.turns.len(),
            conversation.questions.len()
        );
    }
    if options.held_out {
        held_out::print(&runs);
        return Ok(());
    }
    print::runs(&runs, options.ablate)
}

/// The ways to search, the one that was asked for first.
fn setups(options: &Options) -> Vec<(String, Setup)> {
    let first = &options.setup;
    if options.ablate {
        let variants = ablation::variants().into_iter();
        return variants.map(|(name, weights)| (name.to_owned(), Setup { weights, ..first.clone() })).collect();
    }
    if options.held_out {
        let grid = held_out::grid().into_iter();
        return grid.map(|(name, weights)| (name, Setup { weights, ..first.clone() })).collect();
    }
    let compared = options.compare.iter().map(|change| first.with(change));
    [first.clone()].into_iter().chain(compared).map(|setup| (setup.name(), setup)).collect()
}
