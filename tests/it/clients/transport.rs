//! What holds for every client: limits, retries, errors by kind, and what errors never hold.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ingrain::{Clock, Error, ErrorKind, HttpOptions, ManualClock};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    KEY, answer, clients, hello, no_waiting,
    server::{Reply, Server},
    streamed, wants_stream,
};

fn start() -> ingrain::Timestamp {
    "2025-02-10T08:00:00Z".parse().unwrap()
}

/// What each client says to these replies, how often it asked, and how many milliseconds it waited on its clock.
async fn failures(replies: &[Reply], options: &HttpOptions) -> Vec<(Error, usize, i64)> {
    let mut failures = Vec::new();
    for place in 0..clients("http://localhost", options).len() {
        let server = Server::replies(replies.to_vec()).await;
        let clock = ManualClock::at(start());
        let client = &clients(&server.url, &options.clone().clock(clock.clone()))[place];
        let error = client.chat(&hello()).await.expect_err("the server fails");
        failures.push((error, server.asked().len(), (clock.now() - start()).num_milliseconds()));
    }
    assert!(!failures.is_empty());
    failures
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::Json(status, json!({"error": {"message": message}}))
}

#[tokio::test]
async fn a_status_is_told_by_what_to_do_next() {
    let (_, options) = no_waiting();
    for (status, message, kind, asked) in [
        (400, "no", ErrorKind::ProviderRefused, 1),
        (401, "wrong key", ErrorKind::ProviderRefused, 1),
        (403, "not in your country", ErrorKind::ProviderRefused, 1),
        (404, "no such model", ErrorKind::Configuration, 1),
        (408, "too slow", ErrorKind::ProviderUnreachable, 3),
        (413, "too much", ErrorKind::InvalidArgument, 1),
        (400, "the prompt is too long", ErrorKind::InvalidArgument, 1),
        (429, "slow down", ErrorKind::RateLimited, 3),
        (500, "oops", ErrorKind::ProviderUnreachable, 3),
        (501, "not built in", ErrorKind::Configuration, 1),
        (502, "bad gateway", ErrorKind::ProviderUnreachable, 3),
        (503, "Loading model", ErrorKind::ProviderUnreachable, 3),
        (529, "overloaded", ErrorKind::RateLimited, 3),
    ] {
        for (error, requests, _) in failures(&[refusal(status, message)], &options).await {
            assert_eq!((error.kind(), requests), (kind, asked), "{status}: {error:?}");
            assert_eq!(error.is_retryable(), asked > 1, "{status}");
            assert!(error.to_string().contains(&status.to_string()) || kind == ErrorKind::InvalidArgument, "{error}");
            // What the server says helps, but for what it says about keys.
            assert_eq!(error.to_string().contains(message), status != 401, "{error}");
            assert_eq!(error.to_string().contains("3 tries"), asked == 3, "{error}");
        }
    }
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let (_, options) = no_waiting();
    for trouble in [
        vec![refusal(503, "Loading model"), refusal(429, "slow down")],
        vec![Reply::Drop, Reply::Drop],
        // Cut in the middle of the answer.
        vec![Reply::Cut("application/json", vec![b"{\"choices\": [".to_vec()])],
    ] {
        for place in 0..clients("http://localhost", &options).len() {
            let troubles = trouble.clone();
            let expected = trouble.len() + 1;
            let server = Server::start(move |number, asked| {
                troubles.get(number).cloned().unwrap_or_else(|| Reply::Json(200, answer(&asked.path, "In the garden.")))
            })
            .await;
            let response = clients(&server.url, &options)[place].chat(&hello()).await.unwrap();
            assert_eq!((response.text.as_str(), server.asked().len()), ("In the garden.", expected));
            assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (7, 3));
        }
    }
}

#[tokio::test]
async fn the_server_says_how_long_to_wait() {
    let after = |value: &str| {
        vec![Reply::Plain(429, vec![("retry-after", value.to_owned())], String::new()), refusal(400, "no")]
    };
    for (value, least, most) in [
        ("2", 2_000, 2_000),
        ("Mon, 10 Feb 2025 08:00:07 GMT", 7_000, 7_000),
        ("0", 250, 500),
        ("Mon, 10 Feb 2025 07:00:00 GMT", 250, 500),
        ("soon", 250, 500),
    ] {
        for (_, requests, waited) in failures(&after(value), &HttpOptions::new()).await {
            assert_eq!(requests, 2);
            assert!((least..=most).contains(&waited), "{value}: {waited} ms");
        }
    }
    // Longer than anyone is ready to wait: the caller is told.
    for (error, requests, waited) in failures(&after("3600"), &HttpOptions::new()).await {
        assert_eq!((requests, waited, error.retry_after()), (1, 0, Some(Duration::from_secs(3_600))));
        assert_eq!(error.kind(), ErrorKind::RateLimited);
    }
}

#[tokio::test]
async fn waits_double_and_tries_end() {
    let options = HttpOptions::new().attempts(6).backoff(Duration::from_secs(1)).max_wait(Duration::from_secs(4));
    for (_, requests, waited) in failures(&[refusal(500, "oops")], &options).await {
        assert_eq!(requests, 6);
        // 1, 2, 4, 4 and 4 seconds, of each at least the half.
        assert!((7_500..=15_000).contains(&waited), "{waited} ms");
    }
    for (error, requests, _) in failures(&[refusal(500, "oops")], &HttpOptions::new().attempts(1)).await {
        assert!(requests == 1 && !error.to_string().contains("tries"));
    }
}

#[tokio::test]
async fn nobody_at_home_and_silence_are_unreachable() {
    // A port that was free a moment ago may be another test's by now.
    let address = "127.0.0.1:9";
    let (_, options) = no_waiting();
    for client in clients(&format!("http://{address}"), &options) {
        let error = client.chat(&hello()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderUnreachable);
        assert!(error.source().is_some() && error.is_retryable());
        assert!(error.to_string().contains("no connection to the server, in 3 tries"), "{error}");
        assert!(!format!("{error:?}").contains(address), "{error:?}");
    }
    for (error, requests, _) in failures(&[Reply::Silence], &options.timeout(Duration::from_millis(50))).await {
        assert_eq!((error.kind(), requests), (ErrorKind::ProviderUnreachable, 3));
        assert!(error.to_string().contains("no answer within"), "{error}");
    }
}

#[tokio::test]
async fn answers_that_make_no_sense_are_unusable_and_not_asked_for_again() {
    let (_, options) = no_waiting();
    let plain = |body: &str| Reply::Plain(200, vec![("content-type", "text/html".into())], body.to_owned());
    for reply in [
        plain("<html>Log in to the hotel's network</html>"),
        plain(""),
        plain("{\"choices\": [{\"mess"),
        plain("\u{feff}{}"),
        Reply::Json(200, json!([])),
        Reply::Json(200, json!(null)),
        Reply::Json(200, json!({})),
        Reply::Json(200, json!({"choices": [], "content": null, "message": null})),
        Reply::Json(200, json!({"choices": [{"finish_reason": "stop"}]})),
    ] {
        for (error, requests, _) in failures(std::slice::from_ref(&reply), &options).await {
            assert_eq!((error.kind(), requests), (ErrorKind::UnusableModelOutput, 1), "{reply:?}: {error}");
            assert!(!format!("{error:?}").contains("hotel"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_has_a_longest_length() {
    let (_, options) = no_waiting();
    let long = Server::start(|_, asked| {
        let text = "x".repeat(5_000);
        match wants_stream(asked) {
            false => Reply::Json(200, answer(&asked.path, &text)),
            true => Reply::Pieces("text/plain", vec![streamed(&asked.path, &text).into_bytes()]),
        }
    })
    .await;
    for client in clients(&long.url, &options.clone().max_response_bytes(4_000)) {
        for error in
            [client.chat(&hello()).await.unwrap_err(), client.chat_stream(&hello(), &mut |_| ()).await.unwrap_err()]
        {
            assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{error}");
            assert!(error.to_string().contains("4000 bytes"), "{error}");
        }
    }
    for client in clients(&long.url, &options) {
        assert_eq!(client.chat(&hello()).await.unwrap().text.len(), 5_000);
    }
}

#[tokio::test]
async fn a_redirect_takes_no_key_along() {
    let other = Server::replies([Reply::Json(200, json!({}))]).await;
    let (_, options) = no_waiting();
    for status in [301, 302, 303, 307, 308] {
        let there = Reply::Plain(status, vec![("location", format!("{}/elsewhere", other.url))], String::new());
        for (error, requests, _) in failures(&[there], &options).await {
            assert_eq!((error.kind(), requests), (ErrorKind::Configuration, 1), "{error}");
        }
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn errors_hold_neither_keys_nor_prompts() {
    let (_, options) = no_waiting();
    let options = options.header("x-gateway", "gateway-secret");
    let bees = "Where do I keep my bees?";
    for message in [
        format!("Incorrect API key provided: {KEY}"),
        format!("cannot parse '{bees}'"),
        "cannot parse: WHERE do I keep MY bees".to_owned(),
        "bad header gateway-secret".to_owned(),
    ] {
        for reply in [refusal(400, &message), refusal(401, &message), Reply::Json(422, json!({"detail": message}))] {
            for (error, ..) in failures(&[reply], &options).await {
                let text = format!("{error} {error:?}").to_lowercase();
                for secret in [KEY, "gateway-secret", "keep my bees"] {
                    assert!(!text.contains(secret), "{text}");
                }
            }
        }
    }
    for client in clients("http://localhost:1", &options) {
        let shown = format!("{client:?} {client:#?} {options:?}");
        assert!(!shown.contains(KEY) && !shown.contains("gateway-secret"), "{shown}");
    }
}

#[tokio::test]
async fn keys_and_headers_are_sent() {
    let server = Server::start(|_, asked| Reply::Json(200, answer(&asked.path, "x"))).await;
    let (_, options) = no_waiting();
    for client in clients(&format!("{}/", server.url), &options.header("X-Gateway", "token")) {
        client.chat(&hello()).await.unwrap();
    }
    for asked in server.asked() {
        let header = |name: &str| asked.headers.get(name).map(String::as_str);
        assert_eq!(header("x-gateway"), Some("token"));
        assert_eq!(header("content-type"), Some("application/json"));
        let key = header("authorization").or(header("x-api-key")).unwrap();
        assert_eq!(key.trim_start_matches("Bearer "), KEY);
        assert!(!asked.path.contains("//") && !asked.raw.contains(KEY) && !asked.raw.contains("null"), "{asked:?}");
    }
}

/// A clock on which nothing passes until it is let go.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<Notify>, Arc<AtomicUsize>);

#[ingrain::async_trait]
impl Clock for Gate {
    fn now(&self) -> ingrain::Timestamp {
        start()
    }

    async fn sleep(&self, _: Duration) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.notified().await;
    }
}

#[tokio::test]
async fn no_more_requests_than_allowed_are_under_way() {
    for place in 0..clients("http://localhost", &HttpOptions::new()).len() {
        let server = Server::start(|number, asked| match number {
            0 | 1 => refusal(503, "Loading model"),
            _ => Reply::Json(200, answer(&asked.path, "x")),
        })
        .await;
        let gate = Gate::default();
        let options = HttpOptions::new().concurrency(2).clock(gate.clone());
        let client = clients(&server.url, &options)[place].clone();
        let calls: Vec<_> = (0..5)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.chat(&hello()).await })
            })
            .collect();
        while gate.1.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        // Both places are taken by calls that wait for their second try; the other three have not asked.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.asked().len(), 2);
        gate.0.notify_one();
        gate.0.notify_one();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        assert_eq!(server.asked().len(), 7);
    }
}

#[tokio::test]
async fn a_stream_comes_in_pieces_however_it_was_cut() {
    let text = "Im Garten 🐝, у реки, 在花园里.";
    for size in [1, 2, 3, 7, 64, 100_000] {
        let server = Server::start(move |_, asked| {
            let whole = streamed(&asked.path, text);
            // With comments and other line ends; JSON lines have neither.
            let whole = match asked.path.as_str() {
                "/api/chat" => format!("\n{whole}\n\n"),
                _ => format!(": hello\n\n{whole}").replace('\n', "\r\n"),
            };
            Reply::Pieces("text/event-stream", whole.as_bytes().chunks(size).map(<[u8]>::to_vec).collect())
        })
        .await;
        for client in clients(&server.url, &HttpOptions::new()) {
            let mut pieces = Vec::new();
            let answer = client.chat_stream(&hello(), &mut |piece| pieces.push(piece.to_owned())).await.unwrap();
            assert_eq!((answer.text.as_str(), pieces.concat().as_str()), (text, text));
            assert_eq!(pieces.len(), text.chars().count());
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (7, 3), "{}", client.name());
            assert_eq!(answer.finish, ingrain::FinishReason::Stop);
        }
        assert!(server.asked().iter().all(wants_stream));
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_an_error() {
    let text = "In the garden.";
    for cut in [false, true] {
        for keep in [0, 40, 300, 700] {
            let server = Server::start(move |_, asked| {
                let whole = streamed(&asked.path, text);
                let pieces = vec![whole.as_bytes()[..keep].to_vec()];
                let pieces = if keep == 0 { Vec::new() } else { pieces };
                if cut { Reply::Cut("text/event-stream", pieces) } else { Reply::Pieces("text/event-stream", pieces) }
            })
            .await;
            for client in clients(&server.url, &no_waiting().1) {
                let mut pieces = String::new();
                let error = client.chat_stream(&hello(), &mut |piece| pieces.push_str(piece)).await.unwrap_err();
                // Cut inside of an event, it may look like JSON that makes no sense.
                let kinds = [ErrorKind::ProviderUnreachable, ErrorKind::UnusableModelOutput];
                assert!(kinds.contains(&error.kind()), "{error}");
                assert!(error.kind() == kinds[0] || !cut, "{error}");
                assert!(text.starts_with(&pieces) && !format!("{error:?}").contains("garden"));
            }
        }
    }
}

#[tokio::test]
async fn garbage_in_a_stream_is_unusable() {
    let bodies: [&[u8]; 3] = [b"data: {not JSON\n\n", b"data: \xff\xfe\n\n", b"data: <html>\n\n"];
    for body in bodies {
        let server = Server::start(move |_, asked| {
            let body = if asked.path == "/api/chat" { &body[6..] } else { body };
            Reply::Pieces("text/event-stream", vec![body.to_vec()])
        })
        .await;
        for client in clients(&server.url, &no_waiting().1) {
            let error = client.chat_stream(&hello(), &mut |_| ()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_in_a_stream_is_an_error() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "code": 429, "message": "Overloaded"}});
    let server = Server::start(move |_, asked| {
        let event = match asked.path.as_str() {
            "/api/chat" => "{\"error\":\"Overloaded\"}\n".to_owned(),
            _ => format!("event: error\ndata: {error}\n\n"),
        };
        Reply::Pieces("text/event-stream", vec![event.into_bytes()])
    })
    .await;
    for client in clients(&server.url, &no_waiting().1) {
        let error = client.chat_stream(&hello(), &mut |_| ()).await.unwrap_err();
        let kind =
            if client.name().starts_with("ollama") { ErrorKind::ProviderUnreachable } else { ErrorKind::RateLimited };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.is_retryable() && error.to_string().contains("Overloaded"), "{error}");
    }
}

#[tokio::test]
async fn a_silent_stream_is_given_up_and_a_refused_one_tried_again() {
    let (_, options) = no_waiting();
    let server = Server::start(|number, asked| match number {
        0 => refusal(503, "Loading model"),
        _ => Reply::Pieces("text/event-stream", vec![streamed(&asked.path, "x").into_bytes()]),
    })
    .await;
    let client = &clients(&server.url, &options)[0];
    assert_eq!(client.chat_stream(&hello(), &mut |_| ()).await.unwrap().text, "x");
    let server = Server::replies([Reply::Silence]).await;
    for client in clients(&server.url, &options.timeout(Duration::from_millis(50)).attempts(1)) {
        let error = client.chat_stream(&hello(), &mut |_| ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderUnreachable);
    }
}

#[test]
fn a_call_outside_of_a_runtime_is_an_error() {
    for client in clients("http://localhost:1", &HttpOptions::new()) {
        let call = std::pin::pin!(async move { client.chat(&hello()).await });
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(Err(error)) = call.poll(&mut context) else { panic!("an error at once") };
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
}
