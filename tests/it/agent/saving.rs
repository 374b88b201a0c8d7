//! What becomes of an exchange.

use std::borrow::Cow;

use ingrain::{
    AddMode, AddRequest, BackgroundOptions, ErrorKind, MemoryKind, NotSaved, Redactor, SaveDecision, Saving, Scope,
};

use super::{agent, call, mia, model};
use crate::worlds::{World, texts};

#[tokio::test]
async fn an_exchange_is_saved_in_the_background() {
    for world in World::all().await {
        let llm = model().reply("No prawns, then.");
        let reply = agent(&world, &llm).build().unwrap().respond(&mia(), "I'm allergic to shellfish.").await.unwrap();
        let SaveDecision::Queued(id) = reply.saved else { panic!("{:?}", reply.saved) };
        world.engine.flush().await.unwrap();
        let stored = world.everything(&mia()).await;
        let turns: Vec<&str> =
            stored.iter().filter(|one| one.kind == MemoryKind::Episode).map(|one| one.text.as_str()).collect();
        assert_eq!(turns, ["I'm allergic to shellfish.", "No prawns, then."], "{}", world.name);
        assert_eq!(texts(&world.list(&mia()).await), ["Is allergic to shellfish"]);
        let history = world.engine.history(&mia(), stored[0].id).await.unwrap();
        assert_eq!(history[0].stamp.call, id, "the decision names the call in the history");
    }
}

#[tokio::test]
async fn it_is_saved_as_it_was_said_to_be() {
    let world = World::in_memory().await;
    let llm = model().reply("Fine.").reply("Fine.");
    let raw = AddRequest::new(["not this"]).mode(AddMode::Raw).assistant_messages(false);
    agent(&world, &llm).saved_as(raw).build().unwrap().respond(&mia(), "I live in Porto.").await.unwrap();
    world.engine.flush().await.unwrap();
    assert_eq!(texts(&world.everything(&mia()).await), ["I live in Porto."]);
}

#[tokio::test]
async fn it_may_be_left_to_the_model() {
    for world in World::all().await {
        let llm = model().respond(call("add_memory", r#"{"text": "Keeps bees"}"#)).reply("Noted.").reply("Hello!");
        let agent = agent(&world, &llm).saving(Saving::ByModel).build().unwrap();
        let reply = agent.respond(&mia(), "My bees are fine.").await.unwrap();
        let SaveDecision::Saved(saved) = &reply.saved else { panic!("{:?}", reply.saved) };
        assert_eq!(
            (saved, texts(&world.everything(&mia()).await)),
            (&reply.changed, vec!["Keeps bees"]),
            "{}",
            world.name
        );
        let reply = agent.respond(&mia(), "Hi!").await.unwrap();
        assert!(matches!(reply.saved, SaveDecision::Nothing(NotSaved::ModelDeclined)), "{:?}", reply.saved);
        assert_eq!(world.engine.queued_adds(&mia()).await.unwrap(), []);
        assert!(llm.requests()[0].messages[0].text.contains("Nothing is remembered unless you save it"));
    }
}

#[tokio::test]
async fn it_may_not_be_saved_at_all() {
    let world = World::in_memory().await;
    let llm = model().respond(call("add_memory", r#"{"text": "Keeps bees"}"#)).reply("Fine.").reply("🙂");
    let off = agent(&world, &llm).saving(Saving::Off).build().unwrap();
    let reply = off.respond(&mia(), "My bees are fine.").await.unwrap();
    assert!(matches!(reply.saved, SaveDecision::Nothing(NotSaved::Off)), "{:?}", reply.saved);
    assert!(llm.requests()[0].tools.iter().all(|tool| tool.name != "add_memory"));
    let reply = agent(&world, &llm).build().unwrap().respond(&mia(), "👍!?").await.unwrap();
    assert!(matches!(reply.saved, SaveDecision::Nothing(NotSaved::NothingSaid)), "{:?}", reply.saved);
    world.engine.flush().await.unwrap();
    assert_eq!(world.everything(&mia()).await, []);
}

#[tokio::test]
async fn an_answer_stands_if_it_cannot_be_saved() {
    let world = World::in_memory().await;
    let full = world.builder().background(BackgroundOptions::new().capacity(1).workers(0)).build().await.unwrap();
    full.add_later(&Scope::user("other"), "Something").await.unwrap();
    let agent = full.agent(model().reply("Tea.").reply("Still tea.")).build().unwrap();
    let session = agent.session(&mia()).unwrap();
    let reply = session.respond("I like tea.").await.unwrap();
    assert_eq!(reply.answer, "Tea.");
    assert!(
        matches!(&reply.saved, SaveDecision::Failed(error) if error.kind() == ErrorKind::QueueFull),
        "{:?}",
        reply.saved
    );
    assert_eq!(session.conversation().view().await.unwrap().messages.len(), 2);
}

#[derive(Debug)]
struct NoKeys;

impl Redactor for NoKeys {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains("sk-1234") { text.replace("sk-1234", "[key]").into() } else { text.into() }
    }
}

#[tokio::test]
async fn secrets_go_nowhere() {
    let world = World::in_memory().await;
    let engine = world.builder().redactor(NoKeys).build().await.unwrap();
    let llm = model().reply("Keep it safe.");
    let agent = engine.agent(llm.clone()).build().unwrap();
    let reply = agent.respond(&mia(), "My key is sk-1234 and I like tea.").await.unwrap();
    engine.flush().await.unwrap();
    let kept = agent.session(&mia()).unwrap().conversation().view().await.unwrap().messages;
    let everywhere =
        format!("{:?} {:?} {:?} {kept:?}", llm.requests(), world.everything(&mia()).await, reply.transcript);
    assert!(everywhere.contains("[key]") && !everywhere.contains("sk-1234"), "{everywhere}");
}
