//! A session over several replies, reopened, abandoned, and in its limits.

use std::time::Duration;

use ingrain::{
    ChatResponse, ConversationOptions, LlmFn, MemoryKind, NewMemory, Recall, Role, Saving, Scope, testing::ScriptedLlm,
};

use super::{agent, call, log, mia, model, noting, said, search, text_parameter};
use crate::worlds::{World, texts};

#[tokio::test]
async fn it_goes_on_also_for_another_agent() {
    for world in World::all().await {
        let llm = model().respond(search("tea")).reply("Green or black?").reply("Noted.").reply("Hello!");
        agent(&world, &llm).build().unwrap().respond(&mia(), "I like tea.").await.unwrap();
        // As after a restart.
        let engine = world.builder().build().await.unwrap();
        let again = engine.agent(llm.clone()).build().unwrap();
        let reply = again.respond(&mia(), "Green.").await.unwrap();
        let expected = [(Role::User, "I like tea."), (Role::Assistant, "Green or black?"), (Role::User, "Green.")];
        assert_eq!(said(&llm.requests()[2].messages)[1..], expected, "{}", world.name);
        assert_eq!(said(&reply.transcript)[1..], [&expected[..], &[(Role::Assistant, "Noted.")]].concat());
        // Another session begins anew.
        again.respond(&mia().with_session("tuesday"), "Hi").await.unwrap();
        assert_eq!(said(&llm.requests()[3].messages)[1..], [(Role::User, "Hi")]);
    }
}

#[tokio::test]
async fn what_is_known_stands_at_its_beginning_and_blocks_always() {
    for world in World::all().await {
        let user = mia().across_sessions();
        let style = NewMemory::new("Answers are short.").kind(MemoryKind::Block);
        world.engine.add_raw(&user, [style, NewMemory::new("Lost with the Sicilian Defence")]).await.unwrap();
        let question = "Which defence did I lose with?";
        for (recall, shown) in
            [(Recall::AtFirst, [true, false]), (Recall::EachTime, [true, true]), (Recall::Never, [false, false])]
        {
            let llm = model().reply("The Sicilian.").reply("The Sicilian, again.");
            let agent = agent(&world, &llm).recall(recall).saving(Saving::Off).context(300).build().unwrap();
            let session = agent.session(&user.clone().with_session(format!("{recall:?}"))).unwrap();
            for (turn, shown) in shown.into_iter().enumerate() {
                let reply = session.respond(question).await.unwrap();
                let instructions = &llm.requests()[turn].messages[0].text;
                assert_eq!(instructions.contains("Lost with the Sicilian"), shown, "{}: {recall:?} {turn}", world.name);
                assert!(instructions.contains("Answers are short."), "{instructions}");
                assert_eq!(reply.recalled.len(), 1 + usize::from(shown));
                assert!(reply.context.tokens <= 300);
            }
        }
    }
}

#[tokio::test]
async fn a_long_one_keeps_to_its_limits() {
    let world = World::in_memory().await;
    let engine = world.builder().conversations(ConversationOptions::new().max_tokens(400)).build().await.unwrap();
    let llm =
        (0..40).fold(ScriptedLlm::new(), |llm, number| llm.reply(format!("House {number} is behind it, I would say.")));
    let agent = engine.agent(llm.clone()).saving(Saving::Off).build().unwrap();
    let session = agent.session(&mia()).unwrap();
    for number in 0..40 {
        session.conversation().settle().await.unwrap();
        session.respond(format!("I walked past house number {number}. Which one is next?")).await.unwrap();
    }
    let requests = llm.requests();
    let words =
        |number: usize| requests[number].messages.iter().map(|one| one.text.split_whitespace().count()).sum::<usize>();
    assert!(words(39) < words(1) + 400, "{} {}", words(1), words(39));
    let last = &requests[39].messages;
    assert_eq!(last.iter().filter(|message| message.role == Role::System).count(), 1, "a summary is no second one");
    assert!(last[0].text.contains("conversation so far"), "{}", last[0].text);
    assert!(last[last.len() - 1].text.contains("house number 39"));
}

#[tokio::test]
async fn one_that_is_abandoned_is_as_it_was() {
    for world in World::all().await {
        let stuck = LlmFn::new("stuck", |_| std::future::pending::<ingrain::Result<ChatResponse>>());
        let agent = world.engine.agent(stuck).build().unwrap();
        let session = agent.session(&mia()).unwrap();
        let abandoned = tokio::time::timeout(Duration::from_millis(20), session.respond("I like tea.")).await;
        assert!(abandoned.is_err());
        assert_eq!(session.conversation().view().await.unwrap().messages, [], "{}", world.name);
        world.engine.flush().await.unwrap();
        assert_eq!(world.everything(&mia()).await, []);
    }
}

/// Calls and results are gone after a reply: a memory that is deleted does not live on in the session.
#[tokio::test]
async fn what_was_recalled_is_not_kept_in_it() {
    for world in World::all().await {
        let user = mia().across_sessions();
        let secret = world.add(&user, "Fears the dark").await;
        let log = log();
        let llm =
            model().respond(search("fears")).respond(call("note", r#"{"text": "x"}"#)).reply("Noted.").reply("No.");
        let builder = agent(&world, &llm).recall(Recall::Never).saving(Saving::Off);
        let agent = builder.tool(noting("note", text_parameter(), &log)).build().unwrap();
        let session = agent.session(&mia()).unwrap();
        let reply = session.respond("What am I like?").await.unwrap();
        assert_eq!(reply.recalled, [secret.id]);
        assert!(reply.transcript.iter().any(|message| message.text.contains("Fears the dark")));
        world.engine.delete(&user, secret.id).await.unwrap();
        let reply = session.respond("And now?").await.unwrap();
        assert!(reply.transcript.iter().all(|message| !message.text.contains("Fears the dark")), "{}", world.name);
        assert_eq!(texts(&world.everything(&user).await), Vec::<&str>::new());
    }
}

#[tokio::test]
async fn users_have_sessions_of_their_own_at_the_same_time() {
    for world in World::all().await {
        let echo = LlmFn::new("echo", |request| async move {
            tokio::task::yield_now().await;
            Ok(ChatResponse::text(request.messages.last().unwrap().text.to_uppercase()))
        });
        let agent = world.engine.agent(echo).build().unwrap();
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let agent = agent.clone();
                tokio::spawn(async move {
                    let scope = Scope::user(format!("user {number}"));
                    for turn in 0..3 {
                        let reply = agent.respond(&scope, format!("it is {number} {turn}")).await.unwrap();
                        assert_eq!(reply.answer, format!("IT IS {number} {turn}"));
                        assert_eq!(reply.transcript.len(), 3 + 2 * turn);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        world.engine.flush().await.unwrap();
        for number in 0..8 {
            let stored = world.everything(&Scope::user(format!("user {number}"))).await;
            let own = format!("{number}");
            assert!(stored.len() == 6 && stored.iter().all(|one| one.text.contains(&own)), "{}", world.name);
        }
    }
}
