//! A chat in the terminal that remembers, and shows what it recalled and learned.
//!
//! `cargo run --example chat -- --offline` answers by rules. With `--features openai` it talks to any server with OpenAI's
//! API: `OPENAI_BASE_URL`, `OPENAI_MODEL`, `OPENAI_API_KEY`. A file name keeps the memory from one run to the next.

#![allow(clippy::print_stdout, reason = "an example prints")]

mod perception;

use std::{
    io::{BufRead, Write},
    sync::{Arc, Mutex},
};

use ingrain::{
    AddReport, AgentEvent, AgentReply, AgentSession, Error, ErrorKind, Filter, ListRequest, Llm, Memory, MemoryEngine,
    MemoryKind, QueuedAdd, Result, Scope,
};

const HELP: &str = "/memories what is known · /forget N one of them · /why how the last answer came about · /quit";

fn model(offline: bool) -> Result<Arc<dyn Llm>> {
    if offline {
        return Ok(Arc::new(perception::model()));
    }
    #[cfg(feature = "openai")]
    return Ok(Arc::new(ingrain::OpenAi::from_env()?));
    #[cfg(not(feature = "openai"))]
    Err(Error::new(ErrorKind::Configuration, "build it with `--features openai`, or run it with `-- --offline`"))
}

/// What was learned in the background and not shown yet.
type Learned = Arc<Mutex<Vec<String>>>;

fn note(learned: &Learned, outcome: &Result<AddReport>) {
    let Ok(mut learned) = learned.lock() else { return };
    match outcome {
        Ok(report) => {
            let (new, old) =
                (report.added.iter().chain(&report.updated), report.superseded.iter().chain(&report.deleted));
            learned.extend(new.map(|memory| format!("learned: {}", memory.text)));
            learned.extend(old.map(|memory| format!("no longer: {}", memory.text)));
        }
        Err(error) => learned.push(format!("not saved: {error}")),
    }
}

async fn memories(memory: &MemoryEngine, user: &Scope) -> Result<Vec<Memory>> {
    let request = ListRequest::new().filter(Filter::ne("kind", MemoryKind::Episode)).limit(100);
    Ok(memory.list(user, request).await?.items)
}

/// Asks the agent, and shows the answer as it comes.
async fn ask(session: &AgentSession, words: &str) -> Result<Option<AgentReply>> {
    let mut stream = session.respond_stream(words);
    while let Some(event) = stream.next().await {
        match event? {
            AgentEvent::Recalled(context) => println!("  (recalled {} memories)", context.memories.len()),
            AgentEvent::Text(piece) => {
                print!("{piece}");
                // A terminal that went away is no reason to stop.
                let _ = std::io::stdout().flush();
            }
            AgentEvent::Calling(call) => println!("\n  ({} {})", call.name, call.arguments),
            AgentEvent::Done(reply) => return Ok(Some(*reply)),
            _ => {}
        }
    }
    Ok(None)
}

fn why(reply: &AgentReply) {
    println!("shown at the start:\n{}", reply.context);
    for used in reply.calls() {
        println!("{} {} ({:?}):\n{}", used.call.name, used.call.arguments, used.outcome, used.result);
    }
    let usage = reply.usage;
    println!("ended as {}, after {} calls of the model", reply.stop.as_str(), reply.model_calls);
    println!("tokens: {} in, {} out; saved: {:?}", usage.input_tokens, usage.output_tokens, reply.saved);
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let offline = arguments.iter().any(|argument| argument == "--offline");
    arguments.retain(|argument| argument != "--offline");
    let llm = model(offline)?;

    let learned = Learned::default();
    let told = learned.clone();
    let mut builder = MemoryEngine::builder().on_background_add(move |_: &QueuedAdd, outcome| note(&told, outcome));
    if !offline {
        builder = builder.llm(llm.clone()); // it also reads the facts
    }
    if let Some(file) = arguments.first() {
        builder = builder.store(ingrain::SqliteStore::open(file.as_str()).await?);
    }
    let memory = builder.build().await?;
    let agent = memory.agent(llm).persona("You are a friendly companion. Keep answers short.");
    let agent = agent.max_output_tokens(400).build()?;
    let user = Scope::user(std::env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or("you".to_owned()));
    let session = agent.session(&user.clone().with_session(format!("chat {}", std::process::id())))?;

    println!("{HELP}");
    let mut last = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|cause| Error::new(ErrorKind::Internal, "the terminal").with_source(cause))?;
        match line.trim() {
            "" => {}
            "/quit" => break,
            "/memories" => {
                for (number, one) in memories(&memory, &user).await?.iter().enumerate() {
                    println!("{:>3}  {} ({})", number + 1, one.text, one.kind);
                }
            }
            "/why" => last.iter().for_each(why),
            command if command.starts_with("/forget") => {
                let number = command.trim_start_matches("/forget").trim().parse::<usize>().ok();
                let known = memories(&memory, &user).await?;
                match number.and_then(|number| known.get(number.checked_sub(1)?)) {
                    Some(one) => {
                        memory.delete(&user, one.id).await?;
                        println!("forgotten: {}", one.text);
                    }
                    None => println!("/forget wants a number that /memories shows"),
                }
            }
            command if command.starts_with('/') => println!("{HELP}"),
            words => match ask(&session, words).await {
                Ok(reply) => last = reply,
                // The session is as it was before: say it again.
                Err(error) => println!("error: {error}"),
            },
        }
        println!();
        memory.flush().await?; // only so that this line's news stand below it: an application would not wait
        if let Ok(mut learned) = learned.lock() {
            learned.drain(..).for_each(|news| println!("  {news}"));
        }
    }
    Ok(())
}
