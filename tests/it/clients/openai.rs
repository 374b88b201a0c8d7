use ingrain::{
    ChatRequest, ErrorKind, FinishReason, HttpOptions, Llm, Message, OpenAi, ResponseFormat, ToolCall, ToolChoice,
    ToolDefinition,
};
use serde_json::{Value, json};

use super::{
    KEY, answer, hello, no_waiting,
    server::{Asked, Reply, Server},
};

pub fn client(url: &str, options: &HttpOptions) -> OpenAi {
    OpenAi::builder().base_url(url).key(KEY).model("m").http(options.clone()).build().unwrap()
}

async fn ask(request: &ChatRequest) -> Value {
    let server = Server::start(|_, asked| Reply::Json(200, answer(&asked.path, "x"))).await;
    client(&server.url, &HttpOptions::new()).chat(request).await.unwrap();
    server.asked().remove(0).body
}

#[tokio::test]
async fn the_request_is_openais() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let request = ChatRequest::new(vec![
        Message::system("s"),
        Message::user("u"),
        Message::assistant("").with_tool_call(ToolCall::new("c1", "t", r#""{\"a\":1}""#)),
        Message::tool("c1", "r"),
        Message::assistant("a"),
        Message::user("v"),
    ])
    .with_tools(vec![ToolDefinition::new("t", "d", schema.clone())], ToolChoice::Tool("t".into()))
    .with_format(ResponseFormat::Schema { name: "n".into(), schema: schema.clone() })
    .with_temperature(0.7)
    .with_max_output_tokens(500);
    assert_eq!(
        ask(&request).await,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "u"},
                {"role": "assistant", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "r"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "v"},
            ],
            "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}}],
            "tool_choice": {"type": "function", "function": {"name": "t"}},
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}},
            "temperature": 0.7,
            "max_tokens": 500,
        })
    );
    assert_eq!(ask(&hello()).await.as_object().unwrap().len(), 2, "what is not set is not sent");
}

/// A server that refuses one field at a time, and any field that is null.
fn strict(asked: &Asked, fields: &[&str]) -> Option<Reply> {
    let null = asked.raw.contains("null").then(|| Reply::Json(422, json!({"error": {"message": "null"}})));
    let refused = fields.iter().find(|field| !asked.body[**field].is_null()).map(|field| {
        let message = format!("Unsupported parameter: '{field}' is not supported with this model.");
        Reply::Json(400, json!({"error": {"message": message, "param": field, "code": "unsupported_parameter"}}))
    });
    null.or(refused)
}

#[tokio::test]
async fn ac_28_refused_parameters_are_learned_once() {
    let server = Server::start(|_, asked| {
        strict(asked, &["temperature", "max_tokens"]).unwrap_or_else(|| Reply::Json(200, answer(&asked.path, "x")))
    })
    .await;
    let client = client(&server.url, &no_waiting().1);
    let request = hello().with_temperature(0.0).with_max_output_tokens(500);
    client.chat(&request).await.unwrap();
    assert_eq!(server.asked().len(), 3);
    client.chat(&request).await.unwrap();
    // A clone knows, too.
    client.clone().chat(&request).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 5);
    for asked in &asked[2..] {
        assert_eq!(asked.body["max_completion_tokens"], 500);
        assert!(asked.body.get("temperature").is_none() && asked.body.get("max_tokens").is_none());
    }
}

#[tokio::test]
async fn a_refused_schema_becomes_json_and_then_text() {
    let server = Server::start(|_, asked| match asked.body["response_format"]["type"].as_str() {
        None => Reply::Json(200, answer(&asked.path, "x")),
        // As llama-cpp-python has it.
        Some("json_schema") => Reply::Json(
            500,
            json!({"error": {"message": "[{'loc': ('body', 'response_format', 'type'), 'msg': 'unexpected value'}]"}}),
        ),
        Some(_) => Reply::Json(400, json!({"error": "'response_format' is not supported"})),
    })
    .await;
    let client = client(&server.url, &no_waiting().1.attempts(1));
    assert!(client.capabilities().json_schema && client.capabilities().json_mode);
    let schema = ResponseFormat::Schema { name: "n".into(), schema: json!({"type": "object"}) };
    client.chat(&hello().with_format(schema)).await.unwrap();
    assert_eq!(server.asked().len(), 3);
    assert!(!client.capabilities().json_schema && !client.capabilities().json_mode);
    client.chat(&hello().with_format(ResponseFormat::Json)).await.unwrap();
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn a_value_out_of_range_is_no_refused_parameter() {
    let message = "max_tokens is too large: 500000. This model supports at most 4096 completion tokens";
    let server =
        Server::replies([Reply::Json(400, json!({"error": {"message": message, "param": "max_tokens"}}))]).await;
    let client = client(&server.url, &no_waiting().1);
    for count in 1..=2 {
        let error = client.chat(&hello().with_max_output_tokens(500_000)).await.unwrap_err();
        assert_eq!((error.kind(), server.asked().len()), (ErrorKind::ProviderRefused, count));
        assert_eq!(server.asked()[count - 1].body["max_tokens"], 500_000);
    }
}

#[tokio::test]
async fn what_the_stream_cannot_say_is_not_asked_for_again() {
    let server = Server::start(|_, asked| {
        strict(asked, &["stream_options"])
            .unwrap_or_else(|| Reply::Pieces("text/event-stream", vec![super::streamed(&asked.path, "x").into_bytes()]))
    })
    .await;
    let client = client(&server.url, &no_waiting().1);
    client.chat_stream(&hello(), &mut |_| ()).await.unwrap();
    client.chat_stream(&hello(), &mut |_| ()).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn no_money_is_no_rate_limit() {
    let quota = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let server = Server::replies([Reply::Json(429, quota)]).await;
    let error = client(&server.url, &no_waiting().1).chat(&hello()).await.unwrap_err();
    assert_eq!((error.kind(), server.asked().len()), (ErrorKind::ProviderRefused, 1));
}

#[tokio::test]
async fn an_error_with_status_200_is_an_error() {
    let server = Server::replies([Reply::Json(200, json!({"error": {"message": "slow down", "code": 429}}))]).await;
    let error = client(&server.url, &no_waiting().1).chat(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
}

#[tokio::test]
async fn answers_in_other_shapes_are_read() {
    let message = |message: Value, reason: Value| json!({"choices": [{"message": message, "finish_reason": reason}]});
    let read = async |body: Value| {
        let server = Server::replies([Reply::Json(200, body)]).await;
        client(&server.url, &no_waiting().1).chat(&hello()).await.unwrap()
    };
    let parts = read(message(json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}), json!(null))).await;
    assert_eq!((parts.text.as_str(), parts.finish), ("ab", FinishReason::Stop));
    let cut = read(message(json!({"content": "a"}), json!("length"))).await;
    assert_eq!((cut.finish, cut.usage.input_tokens), (FinishReason::Length, 0));
    let refused = read(message(json!({"content": null, "refusal": "I can't."}), json!("stop"))).await;
    assert_eq!((refused.text.as_str(), refused.finish), ("I can't.", FinishReason::Filtered));
    let call = json!({"id": "c", "function": {"name": "t", "arguments": {"a": 1}}});
    let called = read(message(json!({"tool_calls": [call]}), json!("stop"))).await;
    assert_eq!((called.tool_calls[0].arguments.as_str(), called.finish), (r#"{"a":1}"#, FinishReason::ToolCalls));
    let broken = json!({"id": "c", "function": {"name": "t", "arguments": "{\"a\":"}});
    let called = read(message(json!({"tool_calls": [broken]}), json!("tool_calls"))).await;
    assert_eq!(called.tool_calls[0].arguments, "{\"a\":", "handed on as it came");
}

#[tokio::test]
async fn a_stream_may_lack_its_end_mark_but_not_its_reason() {
    let data = |json: Value| format!("data: {json}\n\n");
    let text = data(json!({"choices": [{"delta": {"content": "a"}}]}));
    let end = data(json!({"choices": [{"delta": {}, "finish_reason": "length"}]}));
    let read = async |body: String| {
        let server = Server::replies([Reply::Pieces("text/event-stream", vec![body.into_bytes()])]).await;
        client(&server.url, &no_waiting().1).chat_stream(&hello(), &mut |_| ()).await
    };
    assert_eq!(read(format!("{text}{end}")).await.unwrap().finish, FinishReason::Length);
    assert_eq!(read(format!("{text}data: [DONE]")).await.unwrap().text, "a");
    assert_eq!(read(text.clone()).await.unwrap_err().kind(), ErrorKind::ProviderUnreachable);
    assert_eq!(read("data: [DONE]\n\n".into()).await.unwrap_err().kind(), ErrorKind::UnusableModelOutput);
    let far = data(json!({"choices": [{"delta": {"tool_calls": [{"index": 1_000_000_000, "id": "c"}]}}]}));
    assert_eq!(read(far).await.unwrap_err().kind(), ErrorKind::UnusableModelOutput);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_all_the_same() {
    let server = Server::start(|_, asked| Reply::Json(200, answer(&asked.path, "whole"))).await;
    let mut pieces = 0;
    let client = client(&server.url, &no_waiting().1);
    let answer = client.chat_stream(&hello(), &mut |_| pieces += 1).await.unwrap();
    assert_eq!((answer.text.as_str(), pieces), ("whole", 1));
}

#[test]
fn settings_are_checked_at_once() {
    let wrong = |builder: ingrain::OpenAiBuilder, what: &str| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains(what) && !error.to_string().contains("secret"), "{error}");
    };
    let local = || OpenAi::builder().base_url("http://localhost:1/v1").model("m");
    assert!(local().build().is_ok() && OpenAi::builder().key(KEY).build().is_ok());
    assert_eq!(local().build().unwrap().name(), "openai/m");
    wrong(OpenAi::builder(), "key");
    wrong(OpenAi::builder().key("  "), "key");
    wrong(OpenAi::builder().base_url("http://localhost:1/v1"), "model");
    wrong(local().base_url("localhost:1"), "URL");
    wrong(local().base_url("https://u:secret@localhost/v1"), "password");
    wrong(local().base_url("http://localhost/v1/chat/completions"), "/chat/completions");
    wrong(local().key("secret\nx"), "characters");
    wrong(local().http(HttpOptions::new().header("a b", "secret")), "header");
    wrong(local().http(HttpOptions::new().attempts(0)), "at least 1");
}
