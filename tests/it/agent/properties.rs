//! Whatever a model says, a reply ends, and its transcript is one that servers take.

use std::collections::HashSet;

use ingrain::{
    AgentReply, ChatResponse, ErrorKind, FinishReason, Role, SaveDecision, StopReason, ToolCall, ToolOutcome,
};
use proptest::prelude::*;

use super::{agent, log, mia, model, noting, text_parameter};
use crate::worlds::World;

const STEPS: u32 = 4;

fn a_call() -> impl Strategy<Value = ToolCall> {
    let id = prop_oneof![Just(""), Just("c1"), Just("c2")];
    let name = prop_oneof![
        Just("search_memory"),
        Just("add_memory"),
        Just("note"),
        Just("fly"),
        Just(""),
        Just("functions.note")
    ];
    let arguments = prop_oneof![
        Just(r#"{"query": "tea"}"#),
        Just(r#"{"text": "Likes tea"}"#),
        Just("{\"text\": \"Li"),
        Just("null"),
        Just(""),
        Just("[[[["),
        Just(r#""{\"text\": \"x\"}""#),
    ];
    (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

fn an_answer() -> impl Strategy<Value = ChatResponse> {
    let text = prop_oneof![
        Just(""),
        Just("You like tea."),
        Just("<think>hm"),
        Just("<tool_call>{\"name\": \"note\", \"arguments\": {\"text\": \"a\"}}"),
        Just("Action: search_memory[tea]"),
        Just("```json\n{\"name\": \"fly\", \"arguments\": {}}\n```"),
        Just("{}"),
    ];
    let finish = prop_oneof![
        8 => Just(FinishReason::Stop), 1 => Just(FinishReason::Length), 1 => Just(FinishReason::Filtered),
        1 => Just(FinishReason::ToolCalls),
    ];
    (text, finish, proptest::collection::vec(a_call(), 0..4)).prop_map(|(text, finish, calls)| {
        calls.into_iter().fold(ChatResponse::text(text), ChatResponse::with_tool_call).with_finish(finish)
    })
}

/// Every call has a result after it, in order, and every result its call.
fn check(reply: &AgentReply) {
    let mut open: Vec<&str> = Vec::new();
    for message in &reply.transcript {
        match message.role {
            Role::Tool => {
                assert!(!message.text.trim().is_empty());
                assert_eq!(message.tool_call_id.as_deref(), Some(open.remove(0)), "{:?}", reply.transcript);
            }
            _ => {
                assert_eq!(open, Vec::<&str>::new(), "{:?}", reply.transcript);
                open = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
                assert_eq!(open.iter().collect::<HashSet<_>>().len(), open.len(), "{open:?}");
            }
        }
    }
    assert!(reply.model_calls <= STEPS + 2 && !reply.steps.is_empty(), "{}", reply.model_calls);
    let silent = matches!(reply.stop, StopReason::EmptyAnswer | StopReason::Filtered);
    assert!(silent || !reply.answer.is_empty(), "{:?}", reply.stop);
    assert!(reply.stop != StopReason::EmptyAnswer || reply.answer.is_empty());
    let last = reply.transcript.last().unwrap();
    assert_eq!(last.role == Role::Assistant && last.tool_calls.is_empty(), !reply.answer.is_empty(), "{last:?}");
    assert!(matches!(reply.saved, SaveDecision::Queued(_)));
    let with_calls =
        reply.steps.iter().filter(|step| step.calls.iter().any(|used| used.outcome != ToolOutcome::NotAllowed));
    assert!(with_calls.count() <= usize::try_from(STEPS).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_model_comes_to_an_end(answers in proptest::collection::vec(an_answer(), 6), fails in proptest::option::weighted(0.2, 0..6_usize)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::in_memory().await;
            let llm = answers.into_iter().enumerate().fold(model(), |llm, (place, answer)| {
                if fails == Some(place) { llm.fail(ErrorKind::ProviderUnreachable) } else { llm.respond(answer) }
            });
            let log = log();
            let agent = agent(&world, &llm).tool(noting("note", text_parameter(), &log)).max_steps(STEPS).build().unwrap();
            let session = agent.session(&mia()).unwrap();
            let outcome = session.respond("What do I like?").await;
            let kept = session.conversation().view().await.unwrap().messages;
            match outcome {
                Ok(reply) => {
                    check(&reply);
                    assert_eq!(kept.len(), 1 + usize::from(!reply.answer.is_empty()));
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::ProviderUnreachable, "{error:?}");
                    assert_eq!(kept, []);
                }
            }
        });
    }
}
