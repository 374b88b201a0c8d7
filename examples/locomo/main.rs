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

mod data;
mod options;
mod score;

use std::{error::Error, process::ExitCode, sync::Arc, time::Instant};

use ingrain::{
    AddMode, AddRequest, Embedder, HashingEmbedder, InMemoryStore, MemoryEngine, MemoryId, Message, Scope, SearchMode,
    SearchRequest, SqliteStore, StaticEmbedder, VectorStore,
};

use data::Conversation;
use options::Options;
use score::{Scores, Table};

type Outcome<T> = Result<T, Box<dyn Error>>;

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
    let conversations = data::load(&options.paths)?;
    let folder = tempfile::tempdir()?;
    let (mut table, mut turns) = (Table::default(), 0);
    let mut left = options.limit.unwrap_or(usize::MAX);
    for (number, conversation) in conversations.iter().enumerate() {
        let file = folder.path().join(format!("{number}.db"));
        let embedder: Arc<dyn Embedder> =
            if options.hashing { Arc::new(HashingEmbedder::new(256)) } else { Arc::new(StaticEmbedder::builtin()) };
        let store: Arc<dyn VectorStore> =
            if options.in_memory { Arc::new(InMemoryStore::new()) } else { Arc::new(SqliteStore::open(file).await?) };
        let memory = MemoryEngine::builder().store(store).embedder(embedder).build().await?;
        let ids = ingest(&memory, conversation).await?;
        turns += ids.len();
        ask(&memory, conversation, &ids, options.mode, &mut left, &mut table).await?;
        eprintln!("{}: {} turns, {} questions so far", conversation.name, ids.len(), table.questions());
    }
    table.print(turns);
    Ok(())
}

/// Stores every turn, one call a turn as a chat would, and returns which memory each became.
async fn ingest(memory: &MemoryEngine, conversation: &Conversation) -> Outcome<Vec<MemoryId>> {
    let mut ids = Vec::with_capacity(conversation.turns.len());
    for turn in &conversation.turns {
        let scope = Scope::user(&conversation.name).with_session(turn.session.to_string());
        let message = Message::user(&turn.text).from_speaker(&turn.speaker).at(turn.at);
        let report = memory.add(&scope, AddRequest::new([message]).mode(AddMode::Raw)).await?;
        ids.extend(report.episodes);
    }
    Ok(ids)
}

async fn ask(
    memory: &MemoryEngine,
    conversation: &Conversation,
    ids: &[MemoryId],
    mode: SearchMode,
    left: &mut usize,
    table: &mut Table,
) -> Outcome<()> {
    let scope = Scope::user(&conversation.name);
    let turn_of = |id: MemoryId| ids.iter().position(|known| *known == id);
    for question in conversation.questions.iter().take(*left) {
        let request = SearchRequest::new(&question.text).mode(mode);
        let start = Instant::now();
        let hits = memory.search(&scope, request.clone().limit(10)).await?;
        let elapsed = start.elapsed();
        let turns: Vec<usize> = hits.iter().filter_map(|hit| turn_of(hit.memory.id)).collect();
        // Ten turns hardly reach ten sessions: these come from a longer list, each by its first turn.
        let mut sessions: Vec<u32> = Vec::new();
        for hit in memory.search(&scope, request.limit(100)).await? {
            if let Some(turn) = turn_of(hit.memory.id).and_then(|turn| conversation.turns.get(turn))
                && !sessions.contains(&turn.session)
            {
                sessions.push(turn.session);
            }
        }
        let evidence_sessions: Vec<u32> = question
            .evidence
            .iter()
            .filter_map(|turn| conversation.turns.get(*turn))
            .map(|turn| turn.session)
            .collect();
        table.add(question.category, Scores::of(&question.evidence, &turns, &evidence_sessions, &sessions), elapsed);
    }
    *left = left.saturating_sub(conversation.questions.len());
    Ok(())
}
