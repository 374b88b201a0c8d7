use ingrain::{
    ChatRequest, Embedder, ErrorKind, FinishReason, HttpOptions, Llm, Message, Ollama, Purpose, ResponseFormat,
    ToolCall, ToolChoice, ToolDefinition,
};
use serde_json::{Value, json};

use super::{
    KEY, answer, hello, no_waiting,
    server::{Reply, Server},
};

pub fn client(url: &str, options: &HttpOptions) -> Ollama {
    Ollama::builder().base_url(url).key(KEY).model("m").http(options.clone()).build().unwrap()
}

async fn ask(request: &ChatRequest) -> Value {
    let server = Server::start(|_, asked| Reply::Json(200, answer(&asked.path, "x"))).await;
    client(&server.url, &HttpOptions::new()).chat(request).await.unwrap();
    server.asked().remove(0).body
}

#[tokio::test]
async fn the_request_is_ollamas() {
    let schema = json!({"type": "object"});
    let tools = vec![ToolDefinition::new("t", "d", schema.clone()), ToolDefinition::new("o", "d", schema.clone())];
    let request = ChatRequest::new(vec![
        Message::system("s"),
        Message::user("u"),
        Message::assistant("a").with_tool_call(ToolCall::new("c1", "t", "not JSON")),
        Message::tool("c1", "r"),
    ])
    .with_format(ResponseFormat::Schema { name: "n".into(), schema: schema.clone() })
    .with_temperature(0.7)
    .with_max_output_tokens(500);
    let function = json!({"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}});
    assert_eq!(
        ask(&request.clone().with_tools(tools.clone(), ToolChoice::Tool("t".into()))).await,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "u"},
                {"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "t", "arguments": {}}}]},
                {"role": "tool", "tool_name": "t", "content": "r"},
            ],
            "stream": false,
            "truncate": false,
            "shift": false,
            "options": {"num_ctx": 8_192, "temperature": 0.7, "num_predict": 500},
            "format": schema,
            "tools": [function],
        })
    );
    assert!(ask(&request.clone().with_tools(tools.clone(), ToolChoice::None)).await.get("tools").is_none());
    assert_eq!(ask(&hello().with_format(ResponseFormat::Json)).await["format"], "json");
}

#[tokio::test]
async fn what_an_old_server_refuses_is_learned() {
    let server = Server::start(|_, asked| match &asked.body["format"] {
        Value::Object(_) => {
            let message = "json: cannot unmarshal object into Go struct field ChatRequest.format of type string";
            Reply::Json(400, json!({ "error": message }))
        }
        _ => Reply::Json(200, answer(&asked.path, "{}")),
    })
    .await;
    let client = client(&server.url, &no_waiting().1);
    let request = hello().with_format(ResponseFormat::Schema { name: "n".into(), schema: json!({}) });
    client.chat(&request).await.unwrap();
    client.chat(&request).await.unwrap();
    assert_eq!(server.asked().len(), 3);
    assert_eq!(server.asked()[2].body["format"], "json");
    assert!(!client.capabilities().json_schema && client.capabilities().json_mode);
}

#[tokio::test]
async fn a_model_without_tools_says_so() {
    let error = json!({"error": "registry.ollama.ai/library/m does not support tools"});
    let server = Server::replies([Reply::Json(400, error)]).await;
    let client = client(&server.url, &no_waiting().1);
    assert!(client.capabilities().tools);
    let tools = vec![ToolDefinition::new("t", "d", json!({}))];
    let error = client.chat(&hello().with_tools(tools, ToolChoice::Auto)).await.unwrap_err();
    assert_eq!((error.kind(), server.asked().len()), (ErrorKind::Unsupported, 1));
    assert!(!client.capabilities().tools);
}

#[tokio::test]
async fn answers_are_read() {
    let read = async |body: Value| {
        let server = Server::replies([Reply::Json(200, body)]).await;
        client(&server.url, &no_waiting().1).chat(&hello()).await
    };
    let message = json!({"content": "a", "thinking": "hm"});
    let cut = read(json!({"message": message, "done": true, "done_reason": "length"})).await.unwrap();
    assert_eq!((cut.text.as_str(), cut.finish), ("a", FinishReason::Length));
    let error = read(json!({"error": "model runner has stopped"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderUnreachable);
}

#[tokio::test]
async fn embeddings_keep_their_order_and_are_checked() {
    let server = Server::start(|number, asked| {
        let texts = asked.body["input"].as_array().unwrap();
        let vector = |text: &Value| json!([text.as_str().unwrap().len(), 1]);
        match number {
            0 | 1 => Reply::Json(200, json!({"embeddings": texts.iter().map(vector).collect::<Vec<_>>()})),
            2 => Reply::Json(200, json!({"embeddings": [[1]]})),
            3 => Reply::Json(200, json!({"embeddings": []})),
            4 => Reply::Json(200, json!({"embeddings": [[1, null]]})),
            _ => Reply::Json(404, json!({"error": "model \"e\" not found, try pulling it first"})),
        }
    })
    .await;
    let embedder = client(&server.url, &no_waiting().1).embedder("e", 2).batch_size(2).prefixes("q: ", "d: ");
    assert_eq!(embedder.identity().name, "ollama/e (\"q: \", \"d: \")");
    let vectors = embedder.embed(&["a", "bb", "ccc"], Purpose::Document).await.unwrap();
    assert_eq!(vectors, [[4.0, 1.0], [5.0, 1.0], [6.0, 1.0]]);
    assert_eq!(server.asked()[0].body, json!({"model": "e", "input": ["d: a", "d: bb"], "dimensions": 2}));
    for kind in [
        ErrorKind::UnusableModelOutput,
        ErrorKind::UnusableModelOutput,
        ErrorKind::UnusableModelOutput,
        ErrorKind::Configuration,
    ] {
        assert_eq!(embedder.embed(&["a"], Purpose::Query).await.unwrap_err().kind(), kind);
    }
    assert!(server.asked().iter().all(|asked| asked.path == "/api/embed"));
}

#[test]
fn settings_are_checked_at_once() {
    let wrong = |builder: ingrain::OllamaBuilder| builder.build().unwrap_err().kind() == ErrorKind::Configuration;
    assert!(Ollama::builder().model("m").num_ctx(None).build().is_ok());
    assert!(wrong(Ollama::builder()));
    assert!(wrong(Ollama::builder().model("m").num_ctx(0)));
    assert!(wrong(Ollama::builder().model("m").base_url("http://localhost:11434/v1")));
}
