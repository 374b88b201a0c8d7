use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use serde_json::json;

use super::*;
use crate::{FinishReason, LlmCapabilities, ToolCall, prompted::parse::Fit};

/// A model with a script; the crate's own fake is on a higher level than this module.
#[derive(Debug)]
struct Script {
    able: Mutex<LlmCapabilities>,
    replies: Mutex<VecDeque<Result<ChatResponse, ErrorKind>>>,
    requests: Mutex<Vec<ChatRequest>>,
    /// Whether a refusal teaches the client that the model holds to no schema.
    learns: bool,
}

fn script(
    able: LlmCapabilities,
    replies: impl IntoIterator<Item = Result<ChatResponse, ErrorKind>>,
) -> (Asker, Arc<Script>) {
    let replies = Mutex::new(replies.into_iter().collect());
    let script = Arc::new(Script { able: Mutex::new(able), replies, requests: Mutex::default(), learns: false });
    (Asker::new(script.clone()), script)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Llm for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn capabilities(&self) -> LlmCapabilities {
        *locked(&self.able)
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        locked(&self.requests).push(request.clone());
        if self.learns {
            locked(&self.able).json_schema = false;
        }
        let reply = locked(&self.replies).pop_front().unwrap_or(Err(ErrorKind::Configuration));
        reply.map_err(|kind| Error::new(kind, "told to fail"))
    }
}

const ALL: LlmCapabilities = LlmCapabilities { tools: true, json_schema: true, json_mode: true, streaming: false };
const NONE: LlmCapabilities = LlmCapabilities { tools: false, json_schema: false, json_mode: false, streaming: false };

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    Question { name: "number", instructions: "Give a number.".into(), material: "Any.".into(), schema, leading: false }
}

fn number(value: &Value) -> Fitting<i64> {
    Some((Fit::Whole, value.get("n")?.as_i64()?))
}

fn text(text: &str) -> Result<ChatResponse, ErrorKind> {
    Ok(ChatResponse::text(text).with_usage(Usage::new(10, 2)))
}

const GOOD: &str = "{\"n\": 7}";

async fn ask(asker: &Asker, budget: Option<&CallBudget>) -> Result<(i64, u32, Usage), ErrorKind> {
    let answer = asker.ask(&question(), budget, &number).await.map_err(|error| error.kind())?;
    Ok((answer.value, answer.model_calls, answer.usage))
}

fn forms(script: &Script) -> Vec<Mode> {
    let form = |request: &ChatRequest| match (&request.response_format, request.tools.is_empty()) {
        (ResponseFormat::Schema { .. }, true) => Mode::Schema,
        (ResponseFormat::Json, true) => Mode::Json,
        (_, false) => Mode::Tool,
        (ResponseFormat::Text, true) => Mode::Text,
    };
    locked(&script.requests).iter().map(form).collect()
}

#[tokio::test]
async fn a_form_that_is_refused_gives_way_for_good() {
    let refused = || Err(ErrorKind::Unsupported);
    let (asker, script) = script(ALL, [refused(), refused(), refused(), text(GOOD), text(GOOD)]);
    assert_eq!(ask(&asker, None).await, Ok((7, 4, Usage::new(10, 2))));
    assert_eq!(ask(&asker.clone(), None).await, Ok((7, 1, Usage::new(10, 2))));
    assert_eq!(forms(&script), [Mode::Schema, Mode::Json, Mode::Tool, Mode::Text, Mode::Text]);
    let requests = locked(&script.requests);
    let named =
        |at: usize| requests.get(at).and_then(|request| request.messages.first()).map(|first| first.text.clone());
    assert!([0, 2].iter().all(|at| !named(*at).unwrap_or_default().contains("\"properties\"")));
    assert!(named(0).unwrap_or_default().contains("JSON"), "servers that fall back to it want it named");
    assert!(named(1).unwrap_or_default().contains("\"properties\""));
    assert!(named(3).unwrap_or_default().contains("\"properties\""));
}

#[tokio::test]
async fn another_refusal_is_an_error_at_once() {
    for kind in [ErrorKind::ProviderRefused, ErrorKind::RateLimited, ErrorKind::ProviderUnreachable] {
        let (asker, script) = script(ALL, [Err(kind), text(GOOD)]);
        assert_eq!((ask(&asker, None).await, forms(&script).len()), (Err(kind), 1));
    }
    let (asker, script) = script(NONE, [Err(ErrorKind::Unsupported), text(GOOD)]);
    assert_eq!((ask(&asker, None).await, forms(&script).len()), (Err(ErrorKind::Unsupported), 1));
}

#[tokio::test]
async fn a_refusal_that_the_client_learned_from_is_one_of_form() {
    let replies = Mutex::new([Err(ErrorKind::ProviderRefused), text(GOOD)].into());
    let script = Arc::new(Script { able: Mutex::new(ALL), replies, requests: Mutex::default(), learns: true });
    assert_eq!(ask(&Asker::new(script.clone()), None).await, Ok((7, 2, Usage::new(10, 2))));
    assert_eq!(forms(&script), [Mode::Schema, Mode::Json]);
}

#[tokio::test]
async fn a_cut_off_answer_gets_more_room() {
    let cut = Ok(ChatResponse::text("{\"n\": ").with_finish(FinishReason::Length).with_usage(Usage::new(10, 2)));
    let (asker, script) = script(ALL, [cut.clone(), text(GOOD), cut.clone(), cut, text(GOOD)]);
    assert_eq!(ask(&asker, None).await, Ok((7, 2, Usage::new(20, 4))));
    let rooms: Vec<Option<u32>> = locked(&script.requests).iter().map(|request| request.max_output_tokens).collect();
    assert_eq!(rooms, [Some(ROOM), Some(ROOM * MORE_ROOM)]);
    assert_eq!(ask(&asker, None).await, Err(ErrorKind::UnusableModelOutput));
    assert_eq!(forms(&script).len(), 4, "asked twice, not three times");
}

#[tokio::test]
async fn room_that_a_model_does_not_have_is_left_to_the_server() {
    let too_long = || Err(ErrorKind::InvalidArgument);
    let (asker, script) = script(ALL, [too_long(), text(GOOD), text(GOOD)]);
    assert_eq!(ask(&asker, None).await, Ok((7, 2, Usage::new(10, 2))));
    assert_eq!(ask(&asker, None).await, Ok((7, 1, Usage::new(10, 2))));
    let rooms = |script: &Script| -> Vec<Option<u32>> {
        locked(&script.requests).iter().map(|request| request.max_output_tokens).collect()
    };
    assert_eq!(rooms(&script), [Some(ROOM), None, None]);

    let (asker, script) = self::script(ALL, [too_long(), too_long(), text(GOOD)]);
    assert_eq!(ask(&asker, None).await, Err(ErrorKind::InvalidArgument), "it is the prompt that is too long");
    assert_eq!(ask(&asker, None).await, Ok((7, 1, Usage::new(10, 2))), "of which nothing is learned");
    assert_eq!(rooms(&script), [Some(ROOM), None, Some(ROOM)]);

    let cut = Ok(ChatResponse::text("{\"n\": ").with_finish(FinishReason::Length));
    let (asker, script) = self::script(ALL, [cut, Err(ErrorKind::ProviderRefused), text(GOOD)]);
    assert_eq!(ask(&asker, None).await.map(|(value, calls, _)| (value, calls)), Ok((7, 3)));
    assert_eq!(rooms(&script), [Some(ROOM), Some(ROOM * MORE_ROOM), None]);
}

#[tokio::test]
async fn a_useless_answer_is_told_why_once() {
    let (asker, script) = script(NONE, [text("No."), text(GOOD), text("No."), text("{\"m\": 1}"), text(GOOD)]);
    assert_eq!(ask(&asker, None).await, Ok((7, 2, Usage::new(20, 4))));
    let second = locked(&script.requests).last().and_then(|request| request.messages.first().cloned());
    assert!(second.is_some_and(|message| message.text.contains(Unusable::Prose.reason())));
    let error = asker.ask(&question(), None, &number).await.map(drop).err();
    let error = error.map(|error| (error.kind(), error.backend() == Some("script"), error.to_string()));
    let message = format!(
        "script: no usable answer to `number`, asked twice: {} (unusable-model-output)",
        Unusable::OtherShape.reason()
    );
    assert_eq!(error, Some((ErrorKind::UnusableModelOutput, true, message)));
    let (asker, _) = self::script(NONE, [Err(ErrorKind::UnusableModelOutput), text(GOOD)]);
    assert_eq!(ask(&asker, None).await.map(|(value, calls, _)| (value, calls)), Ok((7, 2)));
}

#[tokio::test]
async fn a_tool_call_is_an_answer() {
    let call = ToolCall::new("1", "number", "\"{\\\"n\\\": 7}\"");
    let able = LlmCapabilities { tools: true, ..NONE };
    let (asker, script) = script(able, [Ok(ChatResponse::text("Sure.").with_tool_call(call))]);
    assert_eq!(ask(&asker, None).await, Ok((7, 1, Usage::default())));
    let chosen = locked(&script.requests).first().map(|request| request.tool_choice.clone());
    assert_eq!(chosen, Some(ToolChoice::Tool("number".into())));
}

#[tokio::test]
async fn no_budget_is_overdrawn() {
    let (asker, script) = script(NONE, [text("No."), text(GOOD)]);
    let budget = CallBudget::new(Some(1), None);
    assert_eq!(ask(&asker, Some(&budget)).await, Err(ErrorKind::BudgetExhausted));
    assert_eq!((forms(&script).len(), budget.model_calls(), budget.usage()), (1, 1, Usage::new(10, 2)));

    let (asker, script) = self::script(NONE, [text(GOOD), text(GOOD)]);
    assert_eq!(ask(&asker, Some(&CallBudget::new(None, Some(10)))).await, Err(ErrorKind::BudgetExhausted));
    assert_eq!(forms(&script), [], "the question alone is longer");
    let budget = CallBudget::new(None, Some(200));
    assert_eq!(ask(&asker, Some(&budget)).await.map(|(value, ..)| value), Ok(7));
    let room = locked(&script.requests).first().and_then(|request| request.max_output_tokens);
    assert!(room.is_some_and(|room| room < 200), "{room:?}");

    let cut = ChatResponse::text("{\"n\": ").with_finish(FinishReason::Length);
    let (asker, script) = self::script(NONE, [Ok(cut), text(GOOD)]);
    assert_eq!(ask(&asker, Some(&CallBudget::new(None, Some(200)))).await, Err(ErrorKind::BudgetExhausted));
    assert_eq!(forms(&script).len(), 1, "more room is not to be had");
}
