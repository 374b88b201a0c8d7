//! An agent over a real small model: whatever that says, each reply ends for a reason, and the memory holds.

use std::io::Write;

use ingrain::{
    AgentEvent, AgentReply, ErrorKind, MemoryAgent, MemoryEngine, Message, Result, Role, SaveDecision, Saving, Scope,
    StopReason,
};

use super::{local, watch::Stored};

/// Most tokens of an answer: little enough for five tokens a second.
const MOST: u32 = 48;

fn tina() -> Scope {
    Scope::user("tina").with_session("monday")
}

async fn memory() -> MemoryEngine {
    // Rules read the facts: how a model does that is looked at elsewhere.
    let memory = MemoryEngine::builder().build().await.unwrap();
    memory.add(&Scope::user("tina"), "I live in Lisbon. I'm allergic to shellfish. I like jazz.").await.unwrap();
    memory
}

/// What a reply owes whoever asked, whatever the model said.
fn check(test: &str, reply: &AgentReply) {
    // Past the test harness, which would keep it to itself.
    let called: Vec<&str> = reply.calls().map(|used| used.call.name.as_str()).collect();
    let _ = writeln!(
        std::io::stderr(),
        "{test}: {} in {} calls, tools {called:?}: {:?}",
        reply.stop.as_str(),
        reply.model_calls,
        reply.answer
    );
    assert_eq!(reply.answer.is_empty(), matches!(reply.stop, StopReason::EmptyAnswer | StopReason::BudgetExhausted));
    assert!(reply.model_calls >= 1 && reply.usage.input_tokens > 0 && reply.usage.output_tokens > 0, "{reply:?}");
    assert!(!reply.answer.contains("<tool_call>") && !reply.answer.contains("<think>"), "{}", reply.answer);
    let results = reply.transcript.iter().filter(|message| message.role == Role::Tool).count();
    let calls: usize = reply.transcript.iter().map(|message| message.tool_calls.len()).sum();
    assert_eq!(results, calls, "{:?}", reply.transcript);
}

/// A reply, or none if the server could not make sense of what its own model said.
async fn respond(test: &str, agent: &MemoryAgent, question: &str) -> Option<AgentReply> {
    let outcome: Result<AgentReply> = agent.respond(&tina(), Message::user(question)).await;
    match outcome {
        Ok(reply) => {
            check(test, &reply);
            Some(reply)
        }
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::UnusableModelOutput | ErrorKind::ProviderUnreachable),
                "{error:?}"
            );
            None
        }
    }
}

#[tokio::test]
async fn an_agent_with_tools_comes_to_an_end() {
    let Some(llm) = local("an_agent_with_tools_comes_to_an_end") else { return };
    let memory = memory().await;
    let user = Scope::user("tina");
    let before = Stored::of(&memory, &user).await;
    let agent = memory
        .agent(llm)
        .persona("You are a friend.")
        .memory_tools(|tools| tools.without_blocks().max_result_chars(600))
        .context(200)
        .max_steps(2)
        .max_output_tokens(MOST)
        .temperature(0.0)
        .saving(Saving::Off)
        .build()
        .unwrap();
    let mut answered = 0;
    for question in ["Which food must I avoid?", "Search your memory: where do I live?"] {
        answered += usize::from(respond("an_agent_with_tools_comes_to_an_end", &agent, question).await.is_some());
    }
    assert!(answered > 0, "no reply at all");
    assert_eq!(Stored::of(&memory, &user).await, before, "an agent that saves nothing changed something");
}

#[tokio::test]
async fn an_agent_without_tools_remembers() {
    let Some(llm) = local("an_agent_without_tools_remembers") else { return };
    let memory = memory().await;
    let agent = memory.agent(llm).plain(true).context(200).max_output_tokens(MOST).temperature(0.0).build().unwrap();
    let reply = respond("an_agent_without_tools_remembers", &agent, "I moved to Porto.").await.unwrap();
    assert!(matches!(reply.saved, SaveDecision::Queued(_)), "{:?}", reply.saved);
    assert!(reply.context.text.contains("Lives in Lisbon"), "{}", reply.context);
    assert!(memory.flush().await.unwrap().failed.is_empty());
    Stored::of(&memory, &Scope::user("tina")).await;
    let reply = respond("an_agent_without_tools_remembers", &agent, "Where do I live?").await.unwrap();
    assert!(reply.context.text.contains("Porto"), "{}", reply.context);
    assert!(reply.transcript.iter().any(|message| message.text == "I moved to Porto."), "{:?}", reply.transcript);
}

#[tokio::test]
async fn an_agent_streams_what_a_real_model_says() {
    let Some(llm) = local("an_agent_streams_what_a_real_model_says") else { return };
    let memory = memory().await;
    let agent = memory.agent(llm).plain(true).context(100).max_output_tokens(24).temperature(0.0).build().unwrap();
    let session = agent.session(&tina()).unwrap();
    let mut stream = session.respond_stream("Name three animals.");
    let (mut pieces, mut done) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            AgentEvent::Text(piece) => pieces.push(piece),
            AgentEvent::Done(reply) => done = Some(reply),
            _ => {}
        }
    }
    let reply = done.unwrap();
    assert_eq!(pieces.concat().trim(), reply.answer);
    assert!(pieces.len() > 1, "{pieces:?}");
}
