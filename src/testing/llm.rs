//! The contract of [`Llm`], one rule a function; [`llm_suite!`](crate::llm_suite) makes tests of them.
//!
//! The suite needs a model that answers, not one that answers well: what it says is checked for its form alone.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use crate::{ChatRequest, ErrorKind, FinishReason, Llm, Message, ResponseFormat, ToolCall, ToolChoice, ToolDefinition};

/// Makes a test of each rule of the contract of [`Llm`](crate::Llm), in a module of the given name.
///
/// The second argument is a future that gives a model that can be reached, evaluated for each test. The tests need tokio
/// with the features `macros` and `rt-multi-thread`.
///
/// ```
/// use ingrain::{ChatResponse, LlmFn};
/// ingrain::llm_suite!(always_yes, async { LlmFn::new("yes", |_| async { Ok(ChatResponse::text("yes")) }) });
/// ```
#[macro_export]
macro_rules! llm_suite {
    ($name:ident, $factory:expr) => {
        $crate::llm_suite! { @rules $name, $factory,
            the_name_is_constant
            a_question_has_an_answer
            a_request_that_no_model_takes_is_refused
            the_pieces_of_a_stream_are_the_answer
            odd_texts_are_taken
            a_transcript_with_tools_is_taken
            tool_calls_have_ids_of_their_own
            json_that_was_asked_for_is_json
            a_call_that_was_abandoned_leaves_nothing
            calls_at_once_are_all_answered
        }
    };
    (@rules $name:ident, $factory:expr, $($rule:ident)+) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $rule() {
                    let llm = ::std::sync::Arc::new($factory.await);
                    $crate::testing::llm::$rule(llm).await;
                }
            )+
        }
    };
}

/// Enough for a model that thinks before it speaks, and an end to one that does not stop.
const LIMIT: u32 = 64;

fn question() -> ChatRequest {
    let messages = vec![Message::system("Answer in one short sentence."), Message::user("What is a kayak?")];
    ChatRequest::new(messages).with_max_output_tokens(LIMIT)
}

fn tool() -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "properties": { "query": { "type": "string" } },
        "required": ["query"],
        "additionalProperties": false,
    });
    ToolDefinition::new("search_memory", "Searches what is known about the user.", parameters)
}

fn skipped(llm: &dyn Llm, rule: &str, capability: &str) {
    eprintln!("skipped {rule}: {} does not declare the capability `{capability}`", llm.name());
}

/// The name is not blank, and stays what it is.
pub async fn the_name_is_constant(llm: Arc<dyn Llm>) {
    let name = llm.name().to_owned();
    assert!(!name.trim().is_empty());
    llm.chat(&question()).await.expect("an answer");
    assert_eq!(llm.name(), name);
}

/// A plain question has an answer in text, which ended for a reason; a temperature is no hindrance.
pub async fn a_question_has_an_answer(llm: Arc<dyn Llm>) {
    for request in [question(), question().with_temperature(0.0), question().with_temperature(0.7)] {
        let answer = llm.chat(&request).await.expect("an answer");
        assert!(!answer.text.trim().is_empty() || answer.finish == FinishReason::Length, "{answer:?}");
        assert!(answer.tool_calls.is_empty(), "no tools were offered");
    }
}

/// Without a message that is not a system message, and with numbers that mean nothing, nothing is asked.
pub async fn a_request_that_no_model_takes_is_refused(llm: Arc<dyn Llm>) {
    let requests = [
        ChatRequest::new(Vec::new()),
        ChatRequest::new(vec![Message::system("Be kind."), Message::system("Be brief.")]),
        question().with_temperature(f32::NAN),
        question().with_temperature(-1.0),
        question().with_max_output_tokens(0),
    ];
    for request in requests {
        let error = llm.chat(&request).await.expect_err("a request that no model takes");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let mut pieces = 0;
        let error = llm.chat_stream(&request, &mut |_| pieces += 1).await.expect_err("nor as a stream");
        assert_eq!((error.kind(), pieces), (ErrorKind::InvalidArgument, 0), "{error}");
    }
}

/// What is handed on piece by piece makes up the text of the answer.
pub async fn the_pieces_of_a_stream_are_the_answer(llm: Arc<dyn Llm>) {
    let mut text = String::new();
    let answer = llm.chat_stream(&question(), &mut |piece| text.push_str(piece)).await.expect("an answer");
    assert_eq!(answer.text, text);
    assert!(!text.trim().is_empty() || answer.finish == FinishReason::Length, "{answer:?}");
}

/// Control characters, emoji, lone marks, right-to-left text and what looks like JSON or a template are text.
pub async fn odd_texts_are_taken(llm: Arc<dyn Llm>) {
    let odd = [
        "a\0b",
        "👨‍👩‍👧‍👦🇧🇷",
        "\u{301}\u{301}",
        "שלום עולם",
        "\u{202e}abc",
        "شكراً\u{200f}",
        "\u{feff}x",
        "\u{fffd}\u{10ffff}",
        "{name} {{x}} %s $1 \\n {\"a\":1}",
        "</s><|im_end|>\n\ndata: [DONE]",
    ];
    for text in odd {
        let request = ChatRequest::new(vec![Message::user(text)]).with_max_output_tokens(LIMIT);
        llm.chat(&request).await.unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
    }
}

/// A transcript may hold tool calls with results, without, and with arguments that are no JSON; an empty answer may
/// stand between two questions.
pub async fn a_transcript_with_tools_is_taken(llm: Arc<dyn Llm>) {
    let call = |id: &str, arguments: &str| ToolCall::new(id, "search_memory", arguments);
    let messages = vec![
        Message::system("You remember."),
        Message::user("Am I allergic to anything?"),
        Message::assistant("")
            .with_tool_call(call("c1", r#"{"query":"allergies"}"#))
            .with_tool_call(call("c2", r#"{"query":"all"#)),
        Message::tool("c1", "Allergic to penicillin"),
        Message::tool("c2", "The arguments are not JSON."),
        Message::assistant("To penicillin."),
        Message::user("And to food?"),
        Message::assistant("").with_tool_call(call("c3", "")),
        Message::user("Never mind. Thank you."),
    ];
    let mut request = ChatRequest::new(messages).with_max_output_tokens(LIMIT);
    if llm.capabilities().tools {
        request = request.with_tools(vec![tool()], ToolChoice::Auto);
    }
    llm.chat(&request).await.expect("an answer to a transcript with tools");
}

/// Whatever tools the model calls, each call has a name and an id that no other has, and the model stopped for them.
pub async fn tool_calls_have_ids_of_their_own(llm: Arc<dyn Llm>) {
    if !llm.capabilities().tools {
        return skipped(&llm, "tool_calls_have_ids_of_their_own", "tools");
    }
    for choice in [ToolChoice::Required, ToolChoice::Tool("search_memory".to_owned()), ToolChoice::Auto] {
        let request = question().with_tools(vec![tool()], choice);
        let answer = llm.chat(&request).await.expect("an answer");
        let mut pieces = String::new();
        let streamed = llm.chat_stream(&request, &mut |piece| pieces.push_str(piece)).await.expect("an answer");
        for answer in [answer, streamed] {
            let ids: BTreeSet<&str> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(ids.len(), answer.tool_calls.len(), "{answer:?}");
            assert!(answer.tool_calls.iter().all(|call| !call.id.is_empty() && !call.name.is_empty()), "{answer:?}");
            let stopped_for_them = matches!(answer.finish, FinishReason::ToolCalls | FinishReason::Length);
            assert!(answer.tool_calls.is_empty() || stopped_for_them, "{answer:?}");
        }
    }
}

/// A model that declares JSON, of any shape or to a schema, and is not cut off, answers in JSON when asked to.
pub async fn json_that_was_asked_for_is_json(llm: Arc<dyn Llm>) {
    let schema = json!({
        "type": "object",
        "properties": { "facts": { "type": "array", "items": { "type": "string" }, "maxItems": 3 } },
        "required": ["facts"],
        "additionalProperties": false,
    });
    let capabilities = llm.capabilities();
    let formats = [
        ("json_schema", capabilities.json_schema, ResponseFormat::Schema { name: "facts".to_owned(), schema }),
        ("json_mode", capabilities.json_mode, ResponseFormat::Json),
    ];
    for (capability, declared, format) in formats {
        if !declared {
            skipped(&llm, "json_that_was_asked_for_is_json", capability);
            continue;
        }
        let request = ChatRequest::new(vec![Message::user("List facts about kayaks as JSON with a list `facts`.")]);
        let answer = llm.chat(&request.with_format(format).with_max_output_tokens(LIMIT * 4)).await.expect("an answer");
        let still_declared = match capability {
            "json_schema" => llm.capabilities().json_schema,
            _ => llm.capabilities().json_mode,
        };
        if answer.finish == FinishReason::Stop && still_declared {
            let parsed = serde_json::from_str::<Value>(&answer.text);
            assert!(parsed.is_ok_and(|json| json.is_object()), "{answer:?}");
        }
    }
}

/// A call that is dropped before it is answered does not disturb the next.
pub async fn a_call_that_was_abandoned_leaves_nothing(llm: Arc<dyn Llm>) {
    for _ in 0..20 {
        let request = question();
        let mut call = llm.chat(&request);
        // Begun, and dropped wherever it has come to.
        let begun = std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context)));
        drop(begun.await);
        drop(call);
    }
    llm.chat(&question()).await.expect("an answer after calls that were abandoned");
}

/// Calls made at once are all answered.
pub async fn calls_at_once_are_all_answered(llm: Arc<dyn Llm>) {
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let llm = llm.clone();
            tokio::spawn(async move { llm.chat(&question()).await })
        })
        .collect();
    for task in tasks {
        task.await.expect("a call in a task").expect("an answer");
    }
}
