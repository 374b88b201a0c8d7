use ingrain::{
    Anthropic, ChatRequest, ErrorKind, FinishReason, HttpOptions, Llm, Message, ResponseFormat, ToolCall, ToolChoice,
    ToolDefinition,
};
use serde_json::{Value, json};

use super::{
    KEY, answer, hello, no_waiting,
    server::{Asked, Reply, Server},
};

pub fn client(url: &str, options: &HttpOptions) -> Anthropic {
    Anthropic::builder().base_url(url).key(KEY).model("m").http(options.clone()).build().unwrap()
}

async fn ask(request: &ChatRequest) -> Asked {
    let server = Server::start(|_, asked| Reply::Json(200, answer(&asked.path, "x"))).await;
    client(&server.url, &HttpOptions::new()).chat(request).await.unwrap();
    server.asked().remove(0)
}

#[tokio::test]
async fn ac_30_messages_take_turns() {
    let call = |id: &str| ToolCall::new(id, "t", "{}");
    let first = ask(&ChatRequest::new(vec![
        Message::system("S1"),
        Message::user("U1"),
        Message::user("U2"),
        Message::assistant("").with_tool_call(call("t1")),
        Message::tool("t1", "R1"),
        Message::system("S2"),
        Message::user("U3"),
    ]))
    .await;
    let text = |text: &str| json!({"type": "text", "text": text});
    let calls = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    assert_eq!(first.path, "/v1/messages");
    assert_eq!(first.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        first.body,
        json!({
            "model": "m",
            "max_tokens": 4_096,
            "system": "S1\n\nS2",
            "messages": [
                {"role": "user", "content": [text("U1"), text("U2")]},
                {"role": "assistant", "content": [calls("t1")]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "R1"}, text("U3")]},
            ],
        })
    );
    let second = ask(&ChatRequest::new(vec![
        Message::user("U1"),
        Message::assistant("").with_tool_call(call("t2")),
        Message::user("U4"),
    ]))
    .await;
    let messages = &second.body["messages"];
    assert_eq!(messages[1]["content"], json!([calls("t2")]));
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "t2");
    assert_eq!(messages[2]["content"][0]["is_error"], true);
    assert_eq!((&messages[2]["content"][1], messages.as_array().unwrap().len()), (&text("U4"), 3));

    let server = Server::replies([Reply::Json(200, json!({}))]).await;
    for messages in [vec![Message::system("S1")], vec![Message::user(" \n")], vec![Message::tool("t9", "R")]] {
        let error = client(&server.url, &HttpOptions::new()).chat(&ChatRequest::new(messages)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn the_request_is_anthropics() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tools = vec![ToolDefinition::new("t", "d", schema.clone())];
    let request = hello().with_temperature(0.0).with_max_output_tokens(9);
    let request = request.with_format(ResponseFormat::Schema { name: "n".into(), schema: schema.clone() });
    let body = ask(&request.clone().with_tools(tools.clone(), ToolChoice::Required)).await.body;
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(9), &json!(0.0)));
    assert_eq!(body["tools"], json!([{"name": "t", "description": "d", "input_schema": schema}]));
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
    assert_eq!(body["output_config"], json!({"format": {"type": "json_schema", "schema": schema}}));
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Tool("t".into()), json!({"type": "tool", "name": "t"})),
    ] {
        assert_eq!(ask(&request.clone().with_tools(tools.clone(), choice)).await.body["tool_choice"], expected);
    }
}

#[tokio::test]
async fn refused_parameters_are_learned_once() {
    let server = Server::start(|_, asked| {
        let refused = ["temperature", "output_config", "tool_choice"].iter().find(|key| !asked.body[**key].is_null());
        match refused {
            Some(key) => {
                let message = format!("{key}: Extra inputs are not permitted");
                let error = json!({"type": "invalid_request_error", "message": message});
                Reply::Json(400, json!({"type": "error", "error": error}))
            }
            None => Reply::Json(200, answer(&asked.path, "x")),
        }
    })
    .await;
    let client = client(&server.url, &no_waiting().1);
    assert!(client.capabilities().json_schema && !client.capabilities().json_mode);
    let schema = json!({"type": "object"});
    let request = hello()
        .with_temperature(0.5)
        .with_format(ResponseFormat::Schema { name: "n".into(), schema: schema.clone() })
        .with_tools(vec![ToolDefinition::new("t", "d", schema)], ToolChoice::Required);
    client.chat(&request).await.unwrap();
    assert_eq!(server.asked().len(), 4);
    client.chat(&request).await.unwrap();
    assert_eq!(server.asked().len(), 5);
    assert!(!client.capabilities().json_schema);
}

#[tokio::test]
async fn answers_are_read() {
    let read = async |body: Value| {
        let server = Server::replies([Reply::Json(200, body)]).await;
        client(&server.url, &no_waiting().1).chat(&hello()).await.unwrap()
    };
    let content = json!([
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
        {"type": "tool_use", "id": "t1", "name": "t", "input": {"a": 1}},
    ]);
    let usage = json!({"input_tokens": 1, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100, "output_tokens": 5});
    let answer = read(json!({"content": content, "stop_reason": "tool_use", "usage": usage})).await;
    assert_eq!((answer.text.as_str(), answer.finish), ("ab", FinishReason::ToolCalls));
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (111, 5));
    assert_eq!(answer.tool_calls, [ToolCall::new("t1", "t", r#"{"a":1}"#)]);
    for (reason, finish) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("refusal", FinishReason::Filtered),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
    ] {
        assert_eq!(read(json!({"content": [], "stop_reason": reason})).await.finish, finish);
    }
}

#[test]
fn settings_are_checked_at_once() {
    let wrong = |builder: ingrain::AnthropicBuilder| builder.build().unwrap_err().kind() == ErrorKind::Configuration;
    assert!(Anthropic::builder().key(KEY).build().is_ok());
    assert!(wrong(Anthropic::builder()));
    assert!(wrong(Anthropic::builder().key(KEY).model(" ")));
    assert!(wrong(Anthropic::builder().key(KEY).max_output_tokens(0)));
    assert!(wrong(Anthropic::builder().key(KEY).base_url("https://example.com/v1")));
}
