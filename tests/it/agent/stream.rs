//! Replies as they come.

use ingrain::{
    AgentEvent, AgentStream, ChatRequest, ChatResponse, ErrorKind, Llm, LlmCapabilities, Result, StopReason,
    async_trait, testing::ScriptedLlm,
};

use super::{mia, model, search};
use crate::worlds::World;

/// What happens, in short.
async fn told(stream: &mut AgentStream<'_>) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        told.push(match event {
            Ok(AgentEvent::Recalled(context)) => format!("recalled {}", context.memories.len()),
            Ok(AgentEvent::Asked(number)) => format!("asked {number}"),
            Ok(AgentEvent::Text(piece)) => format!("says {piece}"),
            Ok(AgentEvent::Calling(call)) => format!("calls {}", call.name),
            Ok(AgentEvent::Called(used)) => format!("called {:?}", used.outcome),
            Ok(AgentEvent::Done(reply)) => format!("done {} {}", reply.stop.as_str(), reply.answer),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("failed {}", error.kind()),
        });
    }
    told
}

/// Says every word by itself.
#[derive(Debug)]
struct WordByWord(ScriptedLlm);

#[async_trait]
impl Llm for WordByWord {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn capabilities(&self) -> LlmCapabilities {
        self.0.capabilities()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        self.0.chat(request).await
    }

    async fn chat_stream(
        &self,
        request: &ChatRequest,
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatResponse> {
        let response = self.0.chat(request).await?;
        for word in response.text.split_inclusive(' ') {
            tokio::task::yield_now().await;
            sink(word);
        }
        Ok(response)
    }
}

#[tokio::test]
async fn all_is_told_in_order() {
    for world in World::all().await {
        world.add(&mia(), "Likes tea").await;
        let mut looks = search("coffee");
        looks.text = "Let me look.".to_owned();
        let llm = model().respond(looks).reply("<think>so it is tea</think>You like tea.");
        let agent = world.engine.agent(WordByWord(llm)).build().unwrap();
        let session = agent.session(&mia()).unwrap();
        let mut stream = session.respond_stream("Do I like tea?");
        let told = told(&mut stream).await;
        let expected = [
            "recalled 1",
            "asked 1",
            "says Let ",
            "says me ",
            "says look.",
            "calls search_memory",
            "called Done",
            "asked 2",
            "says You ",
            "says like ",
            "says tea.",
            "done answered You like tea.",
        ];
        assert_eq!(told, expected, "{}", world.name);
        assert!(stream.next().await.is_none());
        assert_eq!(session.conversation().view().await.unwrap().messages.len(), 2);
    }
}

#[tokio::test]
async fn a_call_in_the_text_is_not_said() {
    let world = World::in_memory().await;
    let text = r#"{"name": "search_memory", "arguments": {"query": "tea"}}"#;
    let llm = model().reply(text).reply("```text\nTea.\n```");
    let agent = world.engine.agent(WordByWord(llm)).build().unwrap();
    let session = agent.session(&mia()).unwrap();
    let told = told(&mut session.respond_stream("What do I like?")).await;
    let expected = [
        "asked 1",
        "calls search_memory",
        "called Done",
        "asked 2",
        "says ```text\nTea.\n```",
        "done answered ```text\nTea.\n```",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_failure_is_the_end_and_nothing_was_said() {
    let world = World::in_memory().await;
    let llm = model().respond(search("tea")).fail(ErrorKind::RateLimited).reply("Tea.").reply("Tea.");
    let agent = world.engine.agent(WordByWord(llm)).build().unwrap();
    let session = agent.session(&mia()).unwrap();
    let told = told(&mut session.respond_stream("What do I like?")).await;
    assert_eq!(told, ["asked 1", "calls search_memory", "called Done", "asked 2", "failed rate-limited"]);
    assert_eq!(session.conversation().view().await.unwrap().messages, []);
    // Dropped after its first event.
    let mut stream = session.respond_stream("What do I like?");
    assert!(matches!(stream.next().await, Some(Ok(AgentEvent::Asked(1)))));
    drop(stream);
    assert_eq!(session.conversation().view().await.unwrap().messages, []);
    let reply = session.respond_stream("What do I like?").reply().await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("Tea.", StopReason::Answered));
}
