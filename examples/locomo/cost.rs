use std::sync::Arc;

use ingrain::{
    AddRequest, MemoryEngine, Message, Scope, TokenCounter, Usage,
    evaluate::{Conversation, Dataset, Turn},
};

use super::{Outcome, model::GivenModel, options::Options, setup::parts};

/// Memories from one row of the table to the next.
const STEP: u64 = 500;

/// What one add cost.
struct Added {
    /// How many memories there were before.
    memories: u64,
    messages: u64,
    calls: u32,
    usage: Usage,
    /// Tokens sent for reconciling, if that was asked about.
    reconciled: Option<u64>,
}

/// How much is added at once.
#[derive(Clone, Copy)]
enum Per {
    Session,
    /// Two turns of a session.
    Exchange,
}

/// All conversations become one user's memory, so that it grows large; once with an add for each session, once for each
/// two turns.
pub async fn print(dataset: &Dataset, options: &Options) -> Outcome<()> {
    let (counter, name) = counter();
    println!("tokens as counted by {name}, schemas of the answers included");
    for (per, name) in [(Per::Session, "session"), (Per::Exchange, "exchange")] {
        let folder = tempfile::tempdir()?;
        let (store, embedder) = parts(&folder.path().join("cost.db"), options).await?;
        let model = GivenModel::default();
        let llm = model.llm(Arc::clone(&counter));
        let memory = MemoryEngine::builder().store(store).embedder(embedder).llm(llm).build().await?;
        let mut adds = Vec::new();
        for chat in &dataset.conversations {
            for (start, end) in pieces(chat, per) {
                model.prepare(chat, start, end);
                adds.push(add(&memory, &model, chat, start, end).await?);
            }
        }
        println!("\none add for each {name}");
        table(&adds);
        summary(name, &adds);
    }
    Ok(())
}

#[cfg(feature = "tiktoken")]
fn counter() -> (Arc<dyn TokenCounter>, &'static str) {
    (Arc::new(ingrain::TiktokenCounter::o200k()), "o200k_base")
}

#[cfg(not(feature = "tiktoken"))]
fn counter() -> (Arc<dyn TokenCounter>, &'static str) {
    (Arc::new(ingrain::ApproximateTokens), "ApproximateTokens")
}

/// From which turn up to which each add goes: no further than its session.
fn pieces(chat: &Conversation, per: Per) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for session in chat.turns.chunk_by(|left, right| left.session == right.session) {
        let most = match per {
            Per::Session => session.len(),
            Per::Exchange => 2,
        };
        for piece in session.chunks(most) {
            pieces.push((start, start + piece.len()));
            start += piece.len();
        }
    }
    pieces
}

async fn add(
    memory: &MemoryEngine,
    model: &GivenModel,
    chat: &Conversation,
    start: usize,
    end: usize,
) -> Outcome<Added> {
    let turns = chat.turns.get(start..end).unwrap_or_default();
    let session = turns.first().map(|turn| turn.session.as_str()).unwrap_or_default();
    let everyone = Scope::user("everyone");
    let memories = memory.count(&everyone, None).await?;
    let said = AddRequest::new(turns.iter().map(message));
    let report = memory.add(&everyone.with_session(format!("{}/{session}", chat.name)), said).await?;
    let asked = model.take();
    let reconciled = asked.iter().filter(|asked| asked.what == "actions").map(|asked| asked.usage.input_tokens);
    Ok(Added {
        memories,
        messages: u64::try_from(turns.len())?,
        calls: report.model_calls,
        usage: report.usage,
        reconciled: reconciled.reduce(|sum, tokens| sum + tokens),
    })
}

fn message(turn: &Turn) -> Message {
    let mut message = Message::new(turn.role, &turn.text).with_id(&turn.id);
    message.speaker.clone_from(&turn.speaker);
    message.at = turn.at;
    message
}

/// A row for each step of the memory's size.
fn table(adds: &[Added]) {
    println!(
        "{:>9} {:>5} {:>6} {:>4}  {:>13}  {:>13}  {:>15}",
        "memories", "adds", "calls", "max", "in/message", "out/message", "reconcile in/add"
    );
    println!(
        "{:>9} {:>5} {:>6} {:>4}  {:>6} {:>6}  {:>6} {:>6}  {:>7} {:>7}",
        "", "", "", "", "p50", "max", "p50", "max", "p50", "max"
    );
    for rows in adds.chunk_by(|left, right| left.memories / STEP == right.memories / STEP) {
        let per_message =
            |tokens: fn(&Usage) -> u64| rows.iter().map(move |row| tokens(&row.usage) / row.messages).collect();
        let (input, output) =
            (spread(per_message(|usage| usage.input_tokens)), spread(per_message(|usage| usage.output_tokens)));
        let reconciled = spread(rows.iter().filter_map(|row| row.reconciled).collect());
        println!(
            "{:>9} {:>5} {:>6.2} {:>4}  {:>6} {:>6}  {:>6} {:>6}  {:>7} {:>7}",
            rows.first().map_or(0, |row| row.memories),
            rows.len(),
            calls_per_add(rows),
            most_calls(rows),
            input.0,
            input.1,
            output.0,
            output.1,
            reconciled.0,
            reconciled.1
        );
    }
}

/// One line. Programs read it, so its form stays.
fn summary(per: &str, adds: &[Added]) {
    let quarter = adds.len().div_ceil(4);
    let first = adds.get(..quarter).unwrap_or_default();
    let last = adds.get(adds.len() - quarter..).unwrap_or_default();
    let reconciled = spread(adds.iter().filter_map(|row| row.reconciled).collect());
    println!(
        "per={per} adds={} calls_per_add={:.3} max_calls={} input_tokens_per_message first_quarter={:.0} \
         last_quarter={:.0} reconcile_input_tokens_per_add p50={} max={}",
        adds.len(),
        calls_per_add(adds),
        most_calls(adds),
        per_message(first),
        per_message(last),
        reconciled.0,
        reconciled.1
    );
}

fn per_message(adds: &[Added]) -> f64 {
    let tokens: u64 = adds.iter().map(|row| row.usage.input_tokens).sum();
    let messages: u64 = adds.iter().map(|row| row.messages).sum();
    tokens as f64 / messages.max(1) as f64
}

fn calls_per_add(adds: &[Added]) -> f64 {
    f64::from(adds.iter().map(|row| row.calls).sum::<u32>()) / adds.len().max(1) as f64
}

fn most_calls(adds: &[Added]) -> u32 {
    adds.iter().map(|row| row.calls).max().unwrap_or(0)
}

/// The median and the greatest.
fn spread(mut values: Vec<u64>) -> (u64, u64) {
    values.sort_unstable();
    (values.get(values.len() / 2).copied().unwrap_or(0), values.last().copied().unwrap_or(0))
}
