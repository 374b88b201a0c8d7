//! Servers that do things in their own way: errors inside of answers, streams under other names, forms they lack.

use ingrain::{ChatRequest, ErrorKind, Message, ToolCall};
use serde_json::{Value, json};

use super::{
    KEY, answer, clients, hello, no_waiting,
    server::{Reply, Server},
    streamed, wants_stream,
};

/// An error in an answer of status 200, in the forms of gateways and old servers.
fn in_band(code: Value, message: &str) -> [Value; 3] {
    let error = json!({"message": message, "code": code});
    [
        json!({ "error": error }),
        json!({"choices": [{"error": error, "finish_reason": "error", "message": {"content": ""}}]}),
        json!({"object": "error", "message": message, "code": code}),
    ]
}

#[tokio::test]
async fn an_error_with_status_200_counts_like_any_other() {
    let (_, options) = no_waiting();
    for error in in_band(json!(503), "Loading model") {
        let server = Server::start(move |number, asked| match number % 2 {
            0 => Reply::Json(200, error.clone()),
            _ => Reply::Json(200, answer(&asked.path, "In the garden.")),
        })
        .await;
        for (place, client) in clients(&server.url, &options).into_iter().enumerate() {
            assert_eq!(client.chat(&hello()).await.unwrap().text, "In the garden.", "{}", client.name());
            assert_eq!(server.asked().len(), 2 * (place + 1), "tried again");
        }
    }
    for (code, kind) in [
        (json!(429), ErrorKind::RateLimited),
        (json!("429"), ErrorKind::RateLimited),
        (json!("invalid_request"), ErrorKind::ProviderRefused),
        (json!(null), ErrorKind::ProviderUnreachable),
    ] {
        for error in in_band(code, "no") {
            let server = Server::replies([Reply::Json(200, error.clone())]).await;
            for client in clients(&server.url, &options) {
                let found = client.chat(&hello()).await.unwrap_err();
                assert_eq!(found.kind(), kind, "{}: {error}", client.name());
            }
        }
    }
}

/// The answer of a server that was asked to stream, under a name that does not fit it.
#[tokio::test]
async fn an_answer_is_known_by_its_form_and_not_by_its_name() {
    let text = "Im Garten.";
    for kind in ["application/json", "text/plain", "application/x-ndjson", "text/event-stream; charset=utf-8", ""] {
        for whole in [false, true] {
            let server = Server::start(move |_, asked| {
                let pretty = serde_json::to_string_pretty(&answer(&asked.path, text)).unwrap();
                let body = match (whole, asked.path.as_str()) {
                    (false, path) => streamed(path, text),
                    // Ollama's stream is made of lines that are JSON.
                    (true, "/api/chat") => answer(&asked.path, text).to_string(),
                    (true, _) => pretty,
                };
                Reply::Plain(200, vec![("content-type", kind.to_owned())], body)
            })
            .await;
            for client in clients(&server.url, &no_waiting().1) {
                let mut pieces = String::new();
                let answer = client.chat_stream(&hello(), &mut |piece| pieces.push_str(piece)).await;
                let answer = answer.unwrap_or_else(|error| panic!("{} {kind} {whole}: {error}", client.name()));
                assert_eq!((answer.text.as_str(), pieces.as_str(), answer.usage.output_tokens), (text, text, 3));
            }
        }
    }
}

#[tokio::test]
async fn an_error_in_a_stream_is_no_short_answer() {
    let events = |path: &str, error: &str| match path {
        "/api/chat" => {
            let piece = json!({"message": {"content": "In the"}, "done": false});
            format!("{piece}\n{{\"error\": \"the model has crashed\"}}\n")
        }
        "/v1/messages" => {
            let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"text": "In the"}});
            format!("data: {delta}\n\n{error}")
        }
        _ => format!("data: {}\n\n{error}data: [DONE]\n\n", json!({"choices": [{"delta": {"content": "In the"}}]})),
    };
    let failure = json!({"message": "the model has crashed", "code": 500});
    for error in [
        format!("data: {}\n\n", json!({ "error": failure })),
        format!("event: error\ndata: {failure}\n\n"),
        // llama.cpp.
        format!("error: {failure}\n\n"),
    ] {
        let server = Server::start(move |_, asked| {
            Reply::Pieces("text/event-stream", vec![events(&asked.path, &error).into_bytes()])
        })
        .await;
        for client in clients(&server.url, &no_waiting().1) {
            let found = client.chat_stream(&hello(), &mut |_| ()).await.unwrap_err();
            assert_eq!(found.kind(), ErrorKind::ProviderUnreachable, "{}: {found}", client.name());
            assert!(found.to_string().contains("crashed"), "{found}");
        }
    }
}

/// What a server refuses in an answer of status 200, or in the first event of a stream, is learned as well.
#[tokio::test]
async fn a_parameter_that_is_refused_in_an_answer_is_learned() {
    let server = Server::start(|_, asked| {
        let has = asked.body.get("temperature").is_some();
        let error = json!({"error": {"message": "unknown field: temperature", "code": 400}});
        match (has, wants_stream(asked)) {
            (true, false) => Reply::Json(200, error),
            (true, true) => Reply::Pieces("text/event-stream", vec![format!("data: {error}\n\n").into_bytes()]),
            (false, true) => Reply::Pieces("text/event-stream", vec![streamed(&asked.path, "x").into_bytes()]),
            (false, false) => Reply::Json(200, answer(&asked.path, "x")),
        }
    })
    .await;
    for stream in [false, true] {
        for client in clients(&server.url, &no_waiting().1) {
            let request = hello().with_temperature(0.5);
            let answer = match stream {
                false => client.chat(&request).await,
                true => client.chat_stream(&request, &mut |_| ()).await,
            };
            assert_eq!(answer.unwrap().text, "x", "{}", client.name());
        }
    }
}

/// Validators repeat all that they were sent.
#[tokio::test]
async fn a_long_refusal_is_read_and_nothing_of_it_repeated() {
    let long = "I keep bees. ".repeat(20_000);
    let echo = long.clone();
    let server = Server::start(move |_, asked| match asked.body.get("temperature") {
        Some(_) => {
            let detail =
                json!({"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted", "input": echo});
            Reply::Json(422, json!({"detail": [detail]}))
        }
        None => Reply::Json(400, json!({"message": format!("bad input {{\"place\": \"a secret garden\"}}, {echo}")})),
    })
    .await;
    let call = ToolCall::new("c", "t", r#"{"place": "a secret garden"}"#);
    let messages = vec![Message::user(long.as_str()), Message::assistant("").with_tool_call(call), Message::user("?")];
    let request = ChatRequest::new(messages).with_temperature(0.0);
    for client in clients(&server.url, &no_waiting().1).iter().filter(|client| !client.name().starts_with("ollama")) {
        let error = client.chat(&request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderRefused);
        let told = format!("{error} {error:?}");
        assert!(!told.contains("bees") && !told.contains("secret garden"), "{told}");
        assert!(server.asked().last().unwrap().body.get("temperature").is_none(), "{}", client.name());
    }
}

/// A key may stand where it does not belong, and be sent back in part.
#[tokio::test]
async fn a_key_is_shown_nowhere() {
    let (_, options) = no_waiting();
    for url in ["https://user:hidden@example.com/v1", "https://example.com/v1?api-key=hidden", "hidden"] {
        let mut shown = Vec::new();
        #[cfg(feature = "openai")]
        {
            let builder = ingrain::OpenAi::builder().base_url(url).model("m").key("hidden").http(options.clone());
            shown.push(format!("{builder:?} {:?}", builder.clone().build().map(drop)));
        }
        #[cfg(feature = "anthropic")]
        {
            let builder = ingrain::Anthropic::builder().base_url(url).key("hidden").http(options.clone());
            shown.push(format!("{builder:?} {:?}", builder.clone().build().map(drop)));
        }
        #[cfg(feature = "ollama")]
        {
            let builder = ingrain::Ollama::builder().base_url(url).model("m").key("hidden").http(options.clone());
            shown.push(format!("{builder:?} {:?}", builder.clone().build().map(drop)));
        }
        assert!(!shown.is_empty() && shown.iter().all(|text| !text.contains("hidden")), "{shown:?}");
    }
    let half = &KEY[3..];
    let message = format!("no such key: {}…, {}", &half[..8], half.to_uppercase());
    let server = Server::replies([Reply::Json(400, json!({"error": {"message": message}}))]).await;
    for client in clients(&server.url, &options) {
        let told = format!("{:?}", client.chat(&hello()).await.unwrap_err()).to_lowercase();
        assert!(!told.contains(&half[..8]), "{told}");
    }
}

/// A server that says it packs its answers does not reach the parser: nothing is unpacked, so nothing can burst.
#[tokio::test]
async fn packed_answers_are_not_unpacked() {
    let server = Server::start(|_, asked| {
        assert!(!asked.headers.contains_key("accept-encoding"), "{asked:?}");
        Reply::Plain(200, vec![("content-encoding", "gzip".into())], "\u{1f}not JSON".into())
    })
    .await;
    for client in clients(&server.url, &no_waiting().1) {
        assert_eq!(client.chat(&hello()).await.unwrap_err().kind(), ErrorKind::UnusableModelOutput);
    }
}

#[cfg(feature = "openai")]
mod openai {
    use ingrain::{Llm, ResponseFormat, ToolChoice, ToolDefinition};

    use super::{super::openai::client, *};

    /// Indexes that are missing, or 0 for every call as Gemini has them; ids that come with each piece, or once.
    #[tokio::test]
    async fn the_calls_of_a_stream_are_told_apart() {
        let piece = |index: Value, id: &str, name: &str, arguments: &str| {
            let mut piece = json!({"function": {"name": name, "arguments": arguments}});
            if !index.is_null() {
                piece["index"] = index;
            }
            if !id.is_empty() {
                piece["id"] = json!(id);
            }
            format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [piece]}}]}))
        };
        let none = Value::Null;
        for pieces in [
            vec![piece(json!(0), "a", "t", "{\"n\":"), piece(json!(0), "", "", "1}"), piece(json!(1), "b", "u", "{}")],
            vec![piece(json!(0), "a", "t", "{\"n\":1}"), piece(json!(0), "b", "u", "{}")],
            vec![piece(json!(0), "a", "t", "{\"n\":1}"), piece(json!(0), "b", "u", "{"), piece(json!(0), "", "", "}")],
            vec![
                piece(none.clone(), "a", "t", "{\"n\":"),
                piece(none.clone(), "a", "t", "1}"),
                piece(none.clone(), "b", "u", "{}"),
            ],
            vec![
                piece(none.clone(), "a", "t", "{\"n\":"),
                piece(none.clone(), "", "", "1}"),
                piece(none, "b", "u", "{}"),
            ],
        ] {
            let end = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
            let body = format!("{}data: {end}\n\n", pieces.concat());
            let server = Server::replies([Reply::Pieces("text/event-stream", vec![body.into_bytes()])]).await;
            let answer = client(&server.url, &no_waiting().1).chat_stream(&hello(), &mut |_| ()).await.unwrap();
            let expected = [ToolCall::new("a", "t", "{\"n\":1}"), ToolCall::new("b", "u", "{}")];
            assert_eq!(answer.tool_calls, expected, "{pieces:?}");
        }
    }

    #[tokio::test]
    async fn a_server_without_tools_says_so() {
        let tools = vec![ToolDefinition::new("t", "d", json!({"type": "object"}))];
        for (status, message) in [
            (400, "this model does not support tools"),
            (404, "No endpoints found that support tool use. To learn more, read the docs."),
            (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
        ] {
            let server = Server::replies([Reply::Json(status, json!({"error": {"message": message}}))]).await;
            let client = client(&server.url, &no_waiting().1);
            let request = hello().with_tools(tools.clone(), ToolChoice::Auto);
            assert_eq!(client.chat(&request).await.unwrap_err().kind(), ErrorKind::Unsupported, "{message}");
            assert!(!client.capabilities().tools);
        }
        // One tool that it does not like says nothing about the others.
        let message = json!({"error": {"message": "Invalid schema for function 't'", "param": "tools[0].function"}});
        let server = Server::replies([Reply::Json(400, message)]).await;
        let client = client(&server.url, &no_waiting().1);
        let error = client.chat(&hello().with_tools(tools, ToolChoice::Auto)).await.unwrap_err();
        assert_eq!((error.kind(), client.capabilities().tools), (ErrorKind::ProviderRefused, true));
    }

    /// OpenAI and DeepSeek want the prompt to name JSON: that one does not is no sign that the form is refused.
    #[tokio::test]
    async fn a_prompt_that_names_no_json_does_not_cost_the_form() {
        let server = Server::start(|_, asked| match asked.body["response_format"]["type"].as_str() {
            Some("json_schema") => Reply::Json(
                400,
                json!({"error": {"message":
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                "param": "response_format"}}),
            ),
            Some(_) if !asked.raw.to_lowercase().replace("json_object", "").contains("json") => {
                let message = "'messages' must contain the word 'json' in some form, to use 'response_format' of type \
                    'json_object'.";
                Reply::Json(400, json!({"error": {"message": message, "param": "messages"}}))
            }
            _ => Reply::Json(200, answer(&asked.path, "{}")),
        })
        .await;
        let client = client(&server.url, &no_waiting().1);
        let schema = || ResponseFormat::Schema { name: "n".into(), schema: json!({"type": "object"}) };
        client.chat(&hello().with_format(schema())).await.unwrap();
        assert!(client.capabilities().json_mode && !client.capabilities().json_schema);
        let request = ChatRequest::new(vec![Message::user("As JSON, please")]).with_format(schema());
        client.chat(&request).await.unwrap();
        let asked = server.asked();
        assert_eq!((asked.len(), &asked[3].body["response_format"]["type"]), (4, &json!("json_object")));
    }
}
