//! Two kinds of memory in one cycle: a summary of each talk (what happened), and facts with their relations (what is
//! known). The second talk is answered with both.
//!
//! `cargo run --example episodic_semantic` plays the model with a script. With `OPENAI_BASE_URL` (and `OPENAI_MODEL`,
//! `OPENAI_API_KEY`) set and `--features openai` a real one answers.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use ingrain::{
    ChatRequest, ChatResponse, Llm, LlmFn, MemoryEngine, MemoryKind, Message, NewMemory, Result, Scope,
    SummarizeRequest, Summarizer, TokenBudget, prompted::PromptedSummarizer,
};

/// Answers as a model would, to each of the four things it is asked here.
fn scripted() -> Arc<dyn Llm> {
    let answer = |request: &ChatRequest| {
        let task = request.messages.first().map(|message| message.text.as_str()).unwrap_or_default();
        let said: String = request.messages.iter().skip(1).map(|message| message.text.as_str()).collect();
        let is_first = !said.contains("alternative to Apple");
        match task {
            task if task.contains("worth remembering") && is_first => FACTS.to_owned(),
            task if task.contains("worth remembering") => r#"{"facts": []}"#.to_owned(),
            task if task.starts_with("You shorten") && is_first => r#"{"summary": "The user, a conservative investor, asked about established technology companies; the assistant named Apple and Microsoft."}"#.to_owned(),
            task if task.starts_with("You shorten") => r#"{"summary": "The user asked for an alternative to Apple; the assistant suggested Microsoft, since the user invests conservatively."}"#.to_owned(),
            task if task.starts_with("You keep") => r#"{"actions": []}"#.to_owned(),
            task if task.contains("conservative") => "Microsoft: established, profitable, pays dividends, as suits a conservative investor.".to_owned(),
            _ => "Apple and Microsoft are two of them.".to_owned(),
        }
    };
    Arc::new(LlmFn::new("scripted", move |request: ChatRequest| {
        let answer = answer(&request);
        async move { Ok(ChatResponse::text(answer)) }
    }))
}

const FACTS: &str = r#"{"facts": [
    {"text": "Is a conservative investor", "kind": "fact", "message": 0, "quote": "I'm a conservative investor", "relations": [
        {"subject": "user", "subject_type": "person", "predicate": "has_investment_style", "object": "conservative investing", "object_type": "concept", "single_valued": true}]},
    {"text": "Is interested in established technology companies", "kind": "preference", "message": 0, "quote": "interested in established technology companies", "relations": [
        {"subject": "user", "subject_type": "person", "predicate": "interested_in", "object": "established technology companies", "object_type": "industry", "single_valued": false}]}]}"#;

fn model() -> Result<Arc<dyn Llm>> {
    #[cfg(feature = "openai")]
    if std::env::var("OPENAI_BASE_URL").is_ok() {
        return Ok(Arc::new(ingrain::OpenAi::from_env()?));
    }
    Ok(scripted())
}

/// One talk: recall, answer, remember. Returns the prompt, and the answer.
async fn talk(memory: &MemoryEngine, llm: &Arc<dyn Llm>, scope: &Scope, text: &str) -> Result<(String, String)> {
    let user = Scope::user(scope.user_id().unwrap_or_default());
    // What is recalled: summaries, facts and turns that fit, and what the graph tells of the user.
    let recalled = memory.context(&user, text, TokenBudget::new(600)).await?;
    let relations = relations(memory, &user).await?;
    let prompt = format!("You advise investors, in two sentences.\n\n{recalled}\n\n{relations}");
    let turn = Message::user(text);
    let answer = llm.chat(&ChatRequest::new(vec![Message::system(&prompt), turn.clone()])).await?.text;

    // Semantic memory: facts and relations, read and reconciled in at most two calls.
    let turns = [turn, Message::assistant(&answer)];
    let report = memory.add(scope, turns.clone()).await?;
    println!("learned {} facts, {} relations", report.added.len(), report.relations.len());

    // Episodic memory: what happened, in a sentence.
    let summary = PromptedSummarizer::new(llm.clone()).summarize(&SummarizeRequest::new(&turns, 40)).await?;
    memory.add_raw(scope, [NewMemory::new(&summary.text).kind(MemoryKind::Summary)]).await?;
    println!("summary: {}\n", summary.text);
    Ok((prompt, answer))
}

/// The relations of the user, a line each. Names are data: they are quoted, as all that is recalled.
async fn relations(memory: &MemoryEngine, user: &Scope) -> Result<String> {
    let view = memory.graph(user).view().await?;
    let name = |id| {
        let entity = view.entities.iter().find(|entity| entity.id == id);
        serde_json::Value::from(entity.map_or("?", |entity| entity.name.as_str()))
    };
    let line = |one: &ingrain::Relation| {
        format!("{} {} {}", name(one.subject), serde_json::Value::from(one.predicate.as_str()), name(one.object))
    };
    Ok(view.relations.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[tokio::main]
async fn main() -> Result<()> {
    let llm = model()?;
    let memory = MemoryEngine::builder().llm(llm.clone()).build().await?;
    let session = |name: &str| Scope::user("sam").with_session(name);

    let first = "I'm a conservative investor, interested in established technology companies. Which ones are there?";
    let (_, answer) = talk(&memory, &llm, &session("monday"), first).await?;
    println!("assistant: {answer}\n");

    let second = "What would be a good alternative to Apple, given my goals?";
    let (prompt, answer) = talk(&memory, &llm, &session("friday"), second).await?;
    println!("the second prompt:\n{prompt}\n\nassistant: {answer}");

    if llm.name() == "scripted" {
        // Both were there: what happened, and what is known.
        assert!(prompt.contains("summary") && prompt.contains("Is a conservative investor"));
        assert!(prompt.contains(r#""user" "interested_in" "established technology companies""#));
        assert!(answer.contains("conservative"));
    }
    Ok(())
}
