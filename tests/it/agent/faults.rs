//! Models that do it badly: each reply ends, and says why.

use ingrain::{
    AgentReply, ChatResponse, ErrorKind, FinishReason, Role, SaveDecision, StopReason, ToolCall, ToolChoice,
    ToolOutcome, Usage, testing::ScriptedLlm,
};
use serde_json::json;

use super::{agent, call, log, logged, mia, model, noting, results, said, search, text_parameter};
use crate::worlds::World;

async fn reply(llm: &ScriptedLlm) -> AgentReply {
    let world = World::in_memory().await;
    agent(&world, llm).build().unwrap().respond(&mia(), "What do I like?").await.unwrap()
}

/// The choice of tools of each request.
fn choices(llm: &ScriptedLlm) -> Vec<ToolChoice> {
    llm.requests().into_iter().map(|request| request.tool_choice).collect()
}

#[tokio::test]
async fn who_searches_on_and_on_has_to_answer() {
    let llm = (0..4).fold(model(), |llm, number| llm.respond(search(&format!("tastes {number}")))).reply("Tea.");
    let reply = reply(&llm).await;
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("Tea.", StopReason::StepLimit, 5));
    assert!(reply.calls().all(|used| used.outcome == ToolOutcome::Done), "{:?}", reply.steps);
    let auto = || ToolChoice::Auto;
    assert_eq!(choices(&llm), [auto(), auto(), auto(), auto(), ToolChoice::None]);
    let last = &llm.requests()[4];
    assert!(last.messages[0].text.contains("Answer the user now"), "{}", last.messages[0].text);
    assert!(!last.tools.is_empty(), "servers want the tools of the calls that stand there");
}

#[tokio::test]
async fn who_repeats_himself_has_to_answer() {
    let again = [r#"{"query": "tea"}"#, r#"{ "query":"  TEA ", "limit": null }"#, r#""{\"query\": \"tea\"}""#];
    let llm = again.iter().fold(model(), |llm, arguments| llm.respond(call("search_memory", arguments))).reply("Tea.");
    let reply = reply(&llm).await;
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("Tea.", StopReason::Repeated, 4));
    let outcomes: Vec<ToolOutcome> = reply.calls().map(|used| used.outcome).collect();
    assert_eq!(outcomes, [ToolOutcome::Done, ToolOutcome::Repeated, ToolOutcome::Repeated]);
    assert!(reply.steps[1].calls[0].result.contains("made before"));
}

#[tokio::test]
async fn who_mends_his_ways_is_let_be() {
    let llm = model().respond(search("tea")).respond(search("tea")).respond(search("coffee")).reply("Tea.");
    let reply = reply(&llm).await;
    assert_eq!((reply.stop, reply.model_calls), (StopReason::Answered, 4));
}

#[tokio::test]
async fn invented_tools_are_named_back_and_come_to_an_end() {
    let llm = (0..3).fold(model(), |llm, _| llm.respond(call("think;\nrm -rf", "{}"))).reply("Tea.");
    let reply = reply(&llm).await;
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("Tea.", StopReason::Repeated, 4));
    let first = &reply.steps[0].calls[0];
    assert_eq!(first.outcome, ToolOutcome::UnknownTool);
    assert!(first.result.contains("`think;rm -rf`") && first.result.contains("search_memory"), "{}", first.result);
}

#[tokio::test]
async fn who_calls_when_he_must_answer_is_asked_once_more() {
    let on = |llm: ScriptedLlm| (0..6).fold(llm, |llm, number| llm.respond(search(&format!("tastes {number}"))));
    let llm = on(model());
    let reply = reply(&llm).await;
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("", StopReason::EmptyAnswer, 6));
    let outcomes: Vec<ToolOutcome> = reply.calls().map(|used| used.outcome).collect();
    assert_eq!(outcomes[3..], [ToolOutcome::Done, ToolOutcome::NotAllowed, ToolOutcome::NotAllowed]);
    // Words beside such a call are an answer.
    let mut both = search("more");
    both.text = "Tea.".to_owned();
    let llm = (0..4).fold(model(), |llm, number| llm.respond(search(&format!("tastes {number}")))).respond(both);
    let world = World::in_memory().await;
    let reply = agent(&world, &llm).build().unwrap().respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("Tea.", StopReason::StepLimit));
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more() {
    for empty in ["", " \n", "<think>He likes tea.</think>", "<tool_call>{\"name\": \"sea"] {
        let llm = model().reply(empty).reply("Tea.");
        let reply = reply(&llm).await;
        assert_eq!(
            (reply.answer.as_str(), reply.stop, reply.model_calls),
            ("Tea.", StopReason::Answered, 2),
            "{empty}"
        );
        assert!(llm.requests()[1].messages[0].text.contains("was empty"));
    }
    let llm = model().reply("").reply("<think></think>").reply("Never asked.");
    let world = World::in_memory().await;
    let session = agent(&world, &llm).build().unwrap().session(&mia()).unwrap();
    let reply = session.respond("I like tea.").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("", StopReason::EmptyAnswer, 2));
    // What the user said is not lost for that.
    let kept = session.conversation().view().await.unwrap().messages;
    assert_eq!(said(&kept), [(Role::User, "I like tea.")]);
    assert!(matches!(reply.saved, SaveDecision::Queued(_)), "{:?}", reply.saved);
    assert_eq!(reply.transcript.last().map(|message| message.role), Some(Role::User));
}

#[tokio::test]
async fn an_answer_that_was_cut_off_or_kept_back_says_so() {
    let cut = ChatResponse::text("You like te").with_finish(FinishReason::Length);
    let reply_ = reply(&model().respond(cut)).await;
    assert_eq!((reply_.answer.as_str(), reply_.stop), ("You like te", StopReason::CutOff));
    for text in ["", "I"] {
        let kept_back = ChatResponse::text(text).with_finish(FinishReason::Filtered);
        let reply = reply(&model().respond(kept_back)).await;
        assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), (text, StopReason::Filtered, 1));
    }
}

#[tokio::test]
async fn calls_without_end_or_ids_are_kept_in_bounds() {
    let flood = (0..1_000).fold(ChatResponse::text(""), |response, number| {
        response.with_tool_call(ToolCall::new("", "note", json!({"text": number.to_string()}).to_string()))
    });
    let llm = model().respond(flood).reply("Done.");
    let (world, log) = (World::in_memory().await, log());
    let agent = agent(&world, &llm).tool(noting("note", text_parameter(), &log)).build().unwrap();
    let reply = agent.respond(&mia(), "Note that.").await.unwrap();
    assert_eq!((reply.stop, logged(&log).len(), reply.calls().count()), (StopReason::Answered, 16, 256));
    let requests = llm.requests();
    let told = results(&requests[1]);
    let ids: std::collections::HashSet<&str> = told.iter().map(|(id, _)| *id).collect();
    assert_eq!((told.len(), ids.len()), (256, 256), "each call has a result and an id of its own");
    assert!(told[16].1.contains("at most 16"), "{}", told[16].1);
}

#[tokio::test]
async fn a_failure_leaves_everything_as_it_was() {
    for world in World::all().await {
        for kind in [ErrorKind::ProviderUnreachable, ErrorKind::RateLimited, ErrorKind::ProviderRefused] {
            let scope = mia().with_user(kind.as_str());
            let llm = model().respond(search("tea")).fail(kind).reply("Tea.");
            let session = agent(&world, &llm).build().unwrap().session(&scope).unwrap();
            let error = session.respond("I like tea.").await.unwrap_err();
            assert_eq!(error.kind(), kind);
            assert_eq!(session.conversation().view().await.unwrap().messages, [], "{}", world.name);
            assert_eq!(world.engine.queued_adds(&scope).await.unwrap(), []);
            let reply = session.respond("I like tea.").await.unwrap();
            assert_eq!((reply.answer.as_str(), reply.transcript.len()), ("Tea.", 3));
        }
    }
}

#[tokio::test]
async fn a_reply_that_cannot_be_read_is_asked_for_once_more() {
    let llm = model().fail(ErrorKind::UnusableModelOutput).reply("Tea.");
    let first = reply(&llm).await;
    assert_eq!((first.answer.as_str(), first.stop, first.model_calls), ("Tea.", StopReason::Answered, 2));
    let llm = model().fail(ErrorKind::UnusableModelOutput).fail(ErrorKind::UnusableModelOutput);
    let world = World::in_memory().await;
    let error = agent(&world, &llm).build().unwrap().respond(&mia(), "Hi").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnusableModelOutput);
}

#[tokio::test]
async fn an_outage_of_the_memory_is_no_reply() {
    for world in World::all().await {
        let llm = model().reply("Tea.");
        let agent = agent(&world, &llm).build().unwrap();
        world.store.stop();
        let error = agent.respond(&mia(), "What do I like?").await.unwrap_err();
        assert_eq!((error.kind(), llm.requests().len()), (ErrorKind::StoreUnavailable, 0), "{}", world.name);
    }
}

#[tokio::test]
async fn tokens_have_a_limit() {
    let costly = |response: ChatResponse| response.with_usage(Usage::new(900, 50));
    let world = World::in_memory().await;
    let script = || {
        model()
            .respond(costly(search("tea")))
            .respond(costly(search("coffee")))
            .respond(costly(ChatResponse::text("Tea.")))
    };
    let small = |llm: &ScriptedLlm| agent(&world, llm).memory_tools(|tools| tools.read_only().without_blocks());
    // A request of these is estimated at some 500 tokens.
    let llm = script();
    let rich = small(&llm).max_tokens(4_000).max_output_tokens(500).build().unwrap();
    let reply = rich.respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("Tea.", StopReason::Answered));
    assert_eq!((reply.usage, reply.model_calls), (Usage::new(2_700, 150), 3));
    assert!(llm.requests().iter().all(|request| request.max_output_tokens == Some(500)));
    // What is left after the first step is for the answer.
    let llm = model().respond(costly(search("tea"))).respond(costly(ChatResponse::text("Tea.")));
    let reply = small(&llm).max_tokens(2_000).build().unwrap().respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("Tea.", StopReason::BudgetExhausted));
    assert_eq!(choices(&llm), [ToolChoice::Auto, ToolChoice::None]);
    let llm = script();
    let reply = small(&llm).max_tokens(2_000).build().unwrap().respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("", StopReason::BudgetExhausted));
    assert_eq!((reply.usage, reply.model_calls), (Usage::new(1_800, 100), 2));
    let room: Vec<u32> = llm.requests().iter().filter_map(|request| request.max_output_tokens).collect();
    assert!(room.len() == 2 && room[0] < 2_000 && room[1] < room[0] - 900, "{room:?}");
    let llm = script();
    let reply = small(&llm).max_tokens(20).build().unwrap().respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.stop, reply.model_calls, llm.requests().len()), (StopReason::BudgetExhausted, 0, 0));
}

#[tokio::test]
async fn without_steps_it_answers_at_once() {
    let llm = model().respond(search("tea")).reply("Tea.");
    let world = World::in_memory().await;
    let reply = agent(&world, &llm).max_steps(0).build().unwrap().respond(&mia(), "What do I like?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop, reply.model_calls), ("Tea.", StopReason::StepLimit, 2));
    assert_eq!(choices(&llm), [ToolChoice::None, ToolChoice::None]);
}

#[tokio::test]
async fn what_is_no_question_is_refused() {
    let world = World::in_memory().await;
    let llm = model();
    let agent = agent(&world, &llm).build().unwrap();
    for message in [ingrain::Message::user(" \n"), ingrain::Message::assistant("Hi"), ingrain::Message::system("Hi")] {
        let error = agent.respond(&mia(), message).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let error = agent.respond(&ingrain::Scope::user(" "), "Hi").await.unwrap_err();
    assert_eq!((error.kind(), llm.requests().len()), (ErrorKind::InvalidArgument, 0));
}

/// The model that reconciles what a tool adds is as weak as the one that called it.
#[tokio::test]
async fn a_tool_that_fails_for_a_models_fault_is_told() {
    for world in World::all().await {
        let useless = ScriptedLlm::new().reply("Well, well.").reply("Well, well, well.");
        world.add(&mia().across_sessions(), "Likes coffee").await;
        let engine = world.builder().llm(useless.clone()).build().await.unwrap();
        let llm = model().respond(call("add_memory", r#"{"text": "Prefers tea to coffee"}"#)).reply("Noted.");
        let agent = engine.agent(llm).saving(ingrain::Saving::ByModel).build().unwrap();
        let reply = agent.respond(&mia(), "I prefer tea.").await.unwrap();
        let used = reply.calls().next().unwrap();
        assert_eq!((reply.answer.as_str(), used.outcome, used.changed), ("Noted.", ToolOutcome::Failed, false));
        assert_eq!(useless.requests().len(), 2, "{}: {}", world.name, used.result);
        assert_eq!(world.list(&mia().across_sessions()).await.len(), 1);
    }
}
