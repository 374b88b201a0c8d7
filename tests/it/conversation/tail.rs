//! What is kept word for word: the last messages, and tool calls with their results.

use ingrain::{ChatRequest, ConversationOptions, Message, Role, ToolCall};
use proptest::prelude::*;

use super::{Clerk, Place, ada, message};

/// Limit 200 tokens, the last 4 messages kept; nine messages of 25 tokens, the last one a question without an answer.
#[tokio::test]
async fn a_buffer_over_its_limit_keeps_the_last_messages_and_summarises_the_others_once() {
    for place in Place::all() {
        let clerk = Clerk::replying(|_, call| Ok(format!("SUM-{call}")));
        let options = || ConversationOptions::new().max_tokens(200).keep_last(4);
        let said: Vec<Message> = (1..10)
            .map(|at| message(if at % 2 == 1 { Role::User } else { Role::Assistant }, at, 25).at(crate::worlds::t0()))
            .collect();
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for (at, message) in said.iter().enumerate() {
            assert_eq!(chat.append([message.clone()]).await.unwrap().first, at as u64);
            chat.settle().await.unwrap();
        }
        let asked = clerk.asked();
        assert_eq!(asked.len(), 1, "{}", place.name());
        assert_eq!((asked[0].previous.as_deref(), asked[0].messages.as_slice()), (None, &said[..5]));
        let before = chat.view().await.unwrap();
        drop((chat, engine));

        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        let view = chat.view().await.unwrap();
        assert_eq!(view, before);
        assert_eq!(view.messages[1..], said[5..]);
        assert!(view.messages[0].role == Role::System && view.messages[0].text.contains("so far\": \"SUM-1\"\n"));
        assert!(view.size <= 200 && view.left_out == 0 && view.cut.is_empty());
        assert_eq!(view.summary.unwrap().covers_before, 5);
        chat.settle().await.unwrap();
        assert_eq!(clerk.asked().len(), 1, "{}", place.name());
        // What is covered is kept as well.
        assert!(chat.messages(0, 100).await.unwrap().iter().map(|stored| &stored.message).eq(&said));
    }
}

/// The same where the engine's own estimate counts: a hundred characters are 25 tokens.
#[tokio::test]
async fn the_estimate_of_tokens_serves_as_well() {
    for place in Place::all() {
        let clerk = Clerk::replying(|_, call| Ok(format!("SUM-{call}")));
        let options = ConversationOptions::new().max_tokens(200).keep_last(4);
        let builder = super::builder(place.open().await, options).token_counter(ingrain::ApproximateTokens);
        let engine = builder.summarizer(clerk.clone()).build().await.unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for at in 1..10 {
            let text = format!("m{at}{}", "x".repeat(98));
            chat.append([Message::new(if at % 2 == 1 { Role::User } else { Role::Assistant }, text)]).await.unwrap();
            chat.settle().await.unwrap();
        }
        assert_eq!(clerk.asked().iter().map(|one| one.messages.len()).collect::<Vec<_>>(), [5]);
        let view = chat.view().await.unwrap();
        assert!(view.shown == [5, 6, 7, 8] && view.size <= 200);
    }
}

fn call(ids: &[&str]) -> Message {
    ids.iter().fold(Message::assistant(""), |message, id| message.with_tool_call(ToolCall::new(*id, "look", "{}")))
}

#[tokio::test]
async fn tool_calls_stay_with_their_results_however_much_is_kept() {
    for place in Place::all() {
        for keep in 0..=6 {
            let clerk = Clerk::replying(|_, _| Ok("SUM".to_owned()));
            let options = ConversationOptions::new().max_tokens(200).keep_last(keep);
            let engine = place.engine(options, &clerk).await;
            let scope = ada().with_agent(format!("{keep}"));
            let chat = engine.conversation(&scope).unwrap();
            let said = [
                message(Role::User, 1, 195),
                call(&["t1", "t2"]),
                Message::tool("t1", "one"),
                Message::tool("t2", "two"),
                Message::assistant("three"),
                Message::user("four"),
            ];
            chat.append(said).await.unwrap();
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            let tail: Vec<(Role, &str)> =
                view.messages[1..].iter().map(|message| (message.role, message.text.as_str())).collect();
            let user = (Role::User, "four");
            if keep <= 1 {
                assert_eq!(tail, [user], "{keep}");
            } else {
                let chain =
                    [(Role::Assistant, ""), (Role::Tool, "one"), (Role::Tool, "two"), (Role::Assistant, "three")];
                assert_eq!((&tail[..4], tail[4]), (&chain[..], user), "{keep}");
            }
            assert_eq!(clerk.asked().len(), 1);
            ChatRequest::new(view.messages).check().unwrap();
        }
    }
}

#[tokio::test]
async fn an_open_call_waits_for_its_result() {
    for place in Place::all() {
        let clerk = Clerk::replying(|_, _| Ok("SUM".to_owned()));
        let engine = place.engine(ConversationOptions::new().max_tokens(200).keep_last(1), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        chat.append([message(Role::User, 1, 180), Message::assistant("yes")]).await.unwrap();
        chat.append([message(Role::User, 2, 30), call(&["t1", "t2"]), Message::tool("t2", "late")]).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert_eq!(view.shown, [2, 3, 4], "the exchange that goes on is kept whole");
        chat.append([Message::tool("t1", "later"), Message::assistant("both")]).await.unwrap();
        chat.settle().await.unwrap();
        assert_eq!(chat.view().await.unwrap().shown, [2, 3, 4, 5, 6]);
        // A result of a call that is long gone would be refused by a server.
        chat.append([message(Role::User, 3, 150), Message::tool("gone", "what?")]).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert_eq!((view.shown.as_slice(), view.left_out), (&[7][..], 1));
    }
}

/// A talk of questions, answers, calls with results, and questions without an answer.
fn talk() -> impl Strategy<Value = Vec<Message>> {
    let turn = prop_oneof![
        (1..60_usize).prop_map(|tokens| vec![(Role::User, tokens, 0)]),
        (1..60_usize).prop_map(|tokens| vec![(Role::Assistant, tokens, 0)]),
        (1..60_usize, 1..30_usize).prop_map(|(one, two)| vec![(Role::User, one, 0), (Role::Assistant, two, 0)]),
        (1..4_usize, 1..40_usize, any::<bool>()).prop_map(|(calls, tokens, answered)| {
            let mut turns = vec![(Role::Assistant, 1, calls)];
            turns.extend((0..calls).map(|call| (Role::Tool, tokens, call + 1)));
            turns.extend(answered.then_some((Role::Assistant, 3, 0)));
            turns
        }),
        Just(vec![(Role::User, 400, 0)]),
    ];
    prop::collection::vec(turn, 1..40).prop_map(|turns| {
        let mut chain = 0;
        let turns = turns.into_iter().flatten().enumerate();
        turns
            .map(|(number, (role, tokens, calls))| match role {
                Role::Tool => Message::tool(format!("{chain}/{calls}"), message(role, number, tokens).text),
                _ => {
                    chain = number;
                    (1..=calls).fold(message(role, number, tokens), |message, call| {
                        message.with_tool_call(ToolCall::new(format!("{chain}/{call}"), "look", "{}"))
                    })
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is said, a server takes the view, it is within its limit, and nothing is lost, doubled or out of order.
    #[test]
    fn any_talk_is_shown_as_servers_take_it(said in talk(), keep in 0..9_usize, segment in 1..7_usize, parallel in 1..4_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clerk = Clerk::new();
            let place = Place::Memory(ingrain::InMemoryStore::new());
            let options =
                ConversationOptions::new().max_tokens(300).keep_last(keep).segment(segment).parallel(parallel);
            let engine = place.engine(options, &clerk).await;
            let chat = engine.conversation(&ada()).unwrap();
            for (at, message) in said.iter().enumerate() {
                chat.append([message.clone()]).await.unwrap();
                if at % 3 == 0 {
                    // In between, too, while summaries are on their way.
                    tokio::task::yield_now().await;
                    if at % 2 == 0 {
                        chat.settle().await.unwrap();
                    }
                }
                let view = chat.view().await.unwrap();
                assert!(view.size <= 300, "{}", view.size);
                ChatRequest::new(view.messages).check().unwrap();
            }
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            super::complete(&chat, said.len()).await;
            let covered = view.summary.as_ref().map_or(0, |summary| summary.covers_before);
            if let Some(summary) = &view.summary {
                let all = 0..usize::try_from(covered).unwrap();
                assert_eq!(super::told(&summary.text), std::slice::from_ref(&all));
            }
            if view.cut.is_empty() {
                assert_eq!(view.left_out, 0, "nothing is due, so everything has room");
                assert!(view.shown.iter().copied().eq(covered..said.len() as u64));
            }
            for (sequence, shown) in view.shown.iter().zip(view.messages.iter().skip(view.messages.len() - view.shown.len())) {
                let original = &said[usize::try_from(*sequence).unwrap()];
                let cut = shown.text.strip_suffix(" (cut)").filter(|_| view.cut.contains(sequence));
                assert!(cut.map_or(shown.text == original.text, |cut| original.text.starts_with(cut)));
                assert_eq!((shown.role, &shown.tool_calls), (original.role, &original.tool_calls));
            }
            let exchanges = chat.exchanges().await.unwrap();
            let again: Vec<Message> = exchanges.into_iter().flat_map(|one| one.messages).map(|one| one.message).collect();
            assert!(again.iter().map(|message| &message.text).eq(said.iter().map(|message| &message.text)));
        });
    }
}
