//! Models without tools: what fits is put into the prompt, they answer in one request, and the exchange is saved.

use ingrain::{ErrorKind, LlmCapabilities, Recall, SaveDecision, StopReason, testing::ScriptedLlm};

use super::{agent, mia, model, search};
use crate::worlds::World;

#[tokio::test]
async fn retrieve_generate_update() {
    for world in World::all().await {
        let llm = ScriptedLlm::new().reply("No prawns, then.").reply("Rice.").reply("Tea.");
        let session = agent(&world, &llm).build().unwrap().session(&mia()).unwrap();
        let reply = session.respond("I'm allergic to shellfish.").await.unwrap();
        assert_eq!(
            (reply.answer.as_str(), reply.stop, reply.model_calls),
            ("No prawns, then.", StopReason::Answered, 1)
        );
        assert!(matches!(reply.saved, SaveDecision::Queued(_)), "{:?}", reply.saved);
        world.engine.flush().await.unwrap();
        let reply = session.respond("What should I cook, with my allergy to shellfish?").await.unwrap();
        let request = &llm.requests()[1];
        assert!(
            request.tools.is_empty() && request.messages[0].text.contains("Is allergic to shellfish"),
            "{request:?}"
        );
        // The turns of the session stand there as what they are, and not as memories too.
        let whole: String = request.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(whole.matches("No prawns, then.").count(), 1, "{}: {whole}", world.name);
        assert_eq!(reply.recalled.len(), 1);
        // What looks like a call is not one where there are no tools.
        let text = r#"<tool_call>{"name": "search_memory", "arguments": {"query": "tea"}}</tool_call>"#;
        let llm = ScriptedLlm::new().reply(text).reply("Tea.");
        let reply = agent(&world, &llm).build().unwrap().respond(&mia(), "What do I drink?").await.unwrap();
        assert_eq!(
            (reply.answer.as_str(), reply.calls().count()),
            ("Tea.", 0),
            "a text of nothing but calls says nothing"
        );
    }
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_not_offered_them_again() {
    let world = World::in_memory().await;
    let llm = model().fail(ErrorKind::Unsupported).reply("Tea.").reply("Yes.");
    let agent = agent(&world, &llm).build().unwrap();
    let reply = agent.respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.model_calls), ("Tea.", 2));
    agent.respond(&mia(), "Sure?").await.unwrap();
    let offered: Vec<bool> = llm.requests().iter().map(|request| !request.tools.is_empty()).collect();
    assert_eq!(offered, [true, false, false]);
    // A wrong key is another matter.
    let llm = model().fail(ErrorKind::ProviderRefused).respond(search("tea")).reply("Tea.");
    let agent = super::agent(&world, &llm).build().unwrap();
    assert_eq!(agent.respond(&mia(), "Hi").await.unwrap_err().kind(), ErrorKind::ProviderRefused);
    assert_eq!(agent.respond(&mia(), "Hi").await.unwrap().steps.len(), 2);
}

#[tokio::test]
async fn whoever_wants_it_plain_gets_it_plain() {
    let world = World::in_memory().await;
    world.add(&mia(), "Likes tea").await;
    for (recall, shown) in [(Recall::AtFirst, true), (Recall::Never, false)] {
        let llm = ScriptedLlm::new().with_capabilities(LlmCapabilities::default()).reply("").reply("Tea.");
        let agent = agent(&world, &llm).plain(true).recall(recall).build().unwrap();
        let reply = agent.respond(&mia(), "Which tea do I like?").await.unwrap();
        assert_eq!((reply.answer.as_str(), reply.model_calls), ("Tea.", 2));
        assert_eq!(llm.requests()[0].messages[0].text.contains("Likes tea"), shown);
    }
}
