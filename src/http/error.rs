use std::time::Duration;

use serde_json::Value;

use crate::{Error, ErrorKind, Secret};

/// A server's refusal, as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status of the answer, or that which the body names.
    pub status: u16,
    /// What the server calls it: its type and its code, in lower case.
    pub code: String,
    /// The field that it names.
    pub param: String,
    /// What it says: not fit to be shown before it was [`sanitised`], since servers quote what they were sent.
    pub message: String,
}

impl Refusal {
    /// Reads the body of an answer, in whatever form servers give: an object `error`, a text `error`, `message`,
    /// `detail` as text or as the list of a validator; or a short plain text.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        let Ok(json) = serde_json::from_slice::<Value>(body) else {
            let plain = std::str::from_utf8(body).ok().filter(|text| !text.contains('<')).unwrap_or_default();
            return Self { status, message: plain.to_owned(), ..Self::default() };
        };
        Self::of_json(status, &json)
    }

    /// As [`read`](Self::read), of a body that is JSON.
    pub(crate) fn of_json(status: u16, json: &Value) -> Self {
        // Gemini has its errors in a list.
        let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
        let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
        let first = error.get("detail").and_then(|detail| detail.get(0)).unwrap_or(error);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let message = error.as_str().map(str::to_owned);
        let message = message.or_else(|| ["message", "msg", "detail"].iter().find_map(|key| text(first, key)));
        let place = first.get("loc").and_then(Value::as_array).map(|loc| {
            let parts = loc.iter().filter_map(Value::as_str);
            parts.collect::<Vec<_>>().join(".")
        });
        let named = ["type", "code"].iter().filter_map(|key| text(error, key)).collect::<Vec<_>>();
        Self {
            status,
            code: named.join(" ").to_lowercase(),
            param: text(error, "param").or(place).unwrap_or_default(),
            message: message.unwrap_or_default(),
        }
    }

    /// Reads an error that came inside of an answer of status 200; `None` if the answer is none. Gateways put it into the
    /// answer or into its choice, old servers make it the answer itself.
    pub(crate) fn in_band(json: &Value) -> Option<Self> {
        let meant = |json: &Value| match json.get("error") {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Object(members)) => !members.is_empty(),
            Some(_) => true,
        };
        let itself = || json.get("object").is_some_and(|kind| kind == "error").then_some(json);
        let found = [Some(json), json.pointer("/choices/0")].into_iter().flatten().find(|json| meant(json));
        found.or_else(itself).map(Self::without_status)
    }

    /// As [`of_json`](Self::of_json), with the status that the body names, or that goes with its words.
    pub(crate) fn without_status(json: &Value) -> Self {
        const WORDS: [(&str, u16); 8] = [
            ("rate_limit", 429),
            ("too_many", 429),
            ("authentication", 401),
            ("permission", 403),
            ("not_found", 404),
            ("invalid", 400),
            ("bad_request", 400),
            ("unsupported", 400),
        ];
        let mut refusal = Self::of_json(0, json);
        let error = json.get("error").filter(|error| error.is_object()).unwrap_or(json);
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let named = ["code", "status"].iter().find_map(|key| error.get(*key).and_then(number));
        let named = named.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
        let by_word = || WORDS.iter().find(|(word, _)| refusal.code.contains(word)).map(|(_, status)| *status);
        refusal.status = named.or_else(by_word).unwrap_or(500);
        refusal
    }

    /// Whether the code or the message holds one of these, in lower case.
    pub(crate) fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| self.code.contains(word) || message.contains(word))
    }
}

/// What most servers mean by a status.
pub(crate) fn default_kind(refusal: &Refusal) -> ErrorKind {
    const TOO_LONG: [&str; 11] = [
        "context_length_exceeded",
        "context length",
        "context size",
        "context window",
        "exceed_context_size",
        "too long",
        "too many tokens",
        "maximum input length",
        "input is too large",
        // llama.cpp's embeddings, with status 500.
        "too large to process",
        "maximum allowed batch size",
    ];
    match refusal.status {
        413 => ErrorKind::InvalidArgument,
        400 | 422 | 500 if refusal.says(&TOO_LONG) => ErrorKind::InvalidArgument,
        429 | 529 => ErrorKind::RateLimited,
        300..=399 | 404 | 405 | 410 | 501 => ErrorKind::Configuration,
        408 | 425 | 500..=599 => ErrorKind::ProviderUnreachable,
        _ => ErrorKind::ProviderRefused,
    }
}

/// An exchange that failed, all of it fit to be shown but the refusal.
#[derive(Debug)]
pub(crate) struct HttpError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    backend: &'static str,
    kind: ErrorKind,
    message: String,
    tries: u32,
    retry_after: Option<Duration>,
    source: Option<reqwest::Error>,
    refusal: Option<Refusal>,
}

impl HttpError {
    pub(crate) fn new(backend: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        let (retry_after, source, refusal) = (None, None, None);
        Self(Box::new(Inner { backend, kind, message: message.into(), tries: 1, retry_after, source, refusal }))
    }

    /// The answer is there and cannot be used.
    pub(crate) fn unusable(backend: &'static str, message: impl Into<String>) -> Self {
        Self::new(backend, ErrorKind::UnusableModelOutput, message)
    }

    /// The server, or the way to it, failed.
    pub(super) fn transport(backend: &'static str, error: reqwest::Error) -> Self {
        let message = if error.is_connect() {
            "no connection to the server"
        } else if error.is_body() || error.is_decode() {
            "the connection was cut in the middle of the answer"
        } else {
            "the connection failed"
        };
        // The address may name hosts that logs should not hold.
        let mut failed = Self::new(backend, ErrorKind::ProviderUnreachable, message);
        failed.0.source = Some(error.without_url());
        failed
    }

    pub(crate) fn of_refusal(
        backend: &'static str,
        kind: ErrorKind,
        refusal: Refusal,
        retry_after: Option<Duration>,
        private: &[&str],
        secrets: &[Secret],
    ) -> Self {
        let about = match refusal.status {
            300..=399 => "the server redirects, which is not followed: set the base URL to where it leads".to_owned(),
            401 => "the server refused the key (401)".to_owned(),
            403 => "the server denied access (403)".to_owned(),
            404 => "the server knows no such model or address (404)".to_owned(),
            413 => "the request is too large (413)".to_owned(),
            429 => "the server asks to slow down (429)".to_owned(),
            status if kind == ErrorKind::InvalidArgument => format!("the request is too long for the model ({status})"),
            status => format!("the server answered {status}"),
        };
        // What is said about a wrong key quotes it, masked or not.
        let said = (refusal.status != 401).then(|| sanitised(&refusal.message, private, secrets)).flatten();
        let message = said.map_or_else(|| about.clone(), |said| format!("{about}: {said}"));
        let mut failed = Self::new(backend, kind, message);
        (failed.0.retry_after, failed.0.refusal) = (retry_after, Some(refusal));
        failed
    }

    pub(super) fn after(mut self, tries: u32) -> Self {
        self.0.tries = tries;
        self
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The same failure, of another kind.
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.0.refusal.as_ref()
    }

    /// The one conversion; `doing` says what was being done.
    pub(crate) fn told(self, doing: &str) -> Error {
        let Inner { backend, kind, message, tries, retry_after, source, refusal: _ } = *self.0;
        let tries = if tries > 1 { format!(", in {tries} tries") } else { String::new() };
        let mut error = Error::new(kind, format!("{doing}: {message}{tries}")).with_backend(backend);
        if let Some(wait) = retry_after {
            error = error.with_retry_after(wait);
        }
        match source {
            Some(source) => error.with_source(source),
            None => error,
        }
    }
}

/// Longest message of a server that is repeated, in characters.
const LONGEST: usize = 200;

/// So many characters in a row of a prompt make a message one that quotes it.
const QUOTED: usize = 16;

/// So many of a secret do: servers show the beginning of a key, or encode it.
const GIVEN_AWAY: usize = 8;

/// A server's message on one line, cut, without keys; none if it quotes any of the `private` texts that were sent.
fn sanitised(message: &str, private: &[&str], secrets: &[Secret]) -> Option<String> {
    let flat = |text: &str| {
        let blank = |character: char| character.is_whitespace() || character.is_control();
        text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut message = flat(message);
    // Before it is cut: half a key is a secret too.
    for secret in secrets.iter().map(|secret| flat(secret.expose())).filter(|secret| !secret.is_empty()) {
        message = message.replace(&secret, "***");
    }
    // Keys that are shown in part, and other people's.
    let words = message.split(' ').map(|word| if word.contains("sk-") || word.contains("**") { "***" } else { word });
    let message: String = words.collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    // Escaped text cannot be compared with what was sent.
    if message.is_empty() || message.contains("\\u") {
        return None;
    }
    let lower: Vec<char> = message.to_lowercase().chars().collect();
    let repeats = |text: &str, most: usize| {
        let text = flat(text).to_lowercase();
        let length = text.chars().count().min(most);
        length >= 3 && lower.windows(length).any(|run| text.contains(&run.iter().collect::<String>()))
    };
    let quotes = private.iter().any(|text| repeats(text, QUOTED));
    let gives_away = secrets.iter().map(Secret::expose).any(|key| key.len() >= GIVEN_AWAY && repeats(key, GIVEN_AWAY));
    (!quotes && !gives_away).then_some(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_one_short_line_without_keys() {
        let secrets = [Secret::new(" gsk_0000\n")];
        let clean = |message: &str| sanitised(message, &["I keep bees near Lisbon, in a garden"], &secrets);
        assert_eq!(clean(" The\n model\t\u{7} is\r\nbusy "), Some("The model is busy".to_owned()));
        assert_eq!(clean("key gsk_0000 or sk-abc***def is wrong"), Some("key *** or *** is wrong".to_owned()));
        assert_eq!(clean(&"я".repeat(500)).map(|message| message.chars().count()), Some(LONGEST));
        let half = format!("{} gsk_0000", "x".repeat(LONGEST - 5));
        assert!(clean(&half).is_some_and(|message| message.ends_with(" ***")), "half a key is a secret too");
        assert_eq!(clean(" \n"), None);
        let secrets = [Secret::new("nvapi-Ab+Cd/0123456789")];
        for part in
            ["nvapi-Ab… is no key", "no key: NVAPI-AB+CD/0123456789", "key=nvapi-Ab%2BCd%2F0123456789", "(23456789)"]
        {
            assert_eq!(sanitised(part, &[], &secrets), None, "{part}");
        }
        assert!(sanitised("nvapi is no host", &[], &secrets).is_some());
    }

    #[test]
    fn an_error_inside_of_an_answer_is_known() {
        let status = |json: Value| Refusal::in_band(&json).map(|refusal| (refusal.status, refusal.message));
        let told = |status, message: &str| Some((status, message.to_owned()));
        assert_eq!(status(json!({"error": {"message": "m", "code": 429}})), told(429, "m"));
        assert_eq!(status(json!({"error": {"message": "m", "code": "503"}})), told(503, "m"));
        assert_eq!(status(json!({"error": {"message": "m", "code": "rate_limit_exceeded"}})), told(429, "m"));
        assert_eq!(status(json!({"error": {"message": "m", "type": "invalid_request_error"}})), told(400, "m"));
        assert_eq!(status(json!({"choices": [{"error": {"message": "m", "code": 502}}]})), told(502, "m"));
        assert_eq!(status(json!({"object": "error", "message": "m", "code": 400})), told(400, "m"));
        assert_eq!(status(json!({"error": "m"})), told(500, "m"));
        for none in [json!({}), json!([]), json!({"error": null}), json!({"error": ""}), json!({"error": {}, "a": 1})] {
            assert_eq!(status(none.clone()), None, "{none}");
        }
    }

    #[test]
    fn a_message_that_quotes_what_was_sent_is_left_out() {
        let quotes = |message: &str, sent: &str| sanitised(message, &[sent], &[]).is_none();
        let sent = "I keep bees\nnear Lisbon, in a garden";
        assert!(quotes("bad input: 'Keep bees near Lisbon'", sent));
        assert!(quotes("bad input: \\u0416\\u0438", "Живу"));
        assert!(quotes("bad input `tea`", "tea"));
        assert!(!quotes("bad input: bees", sent));
        assert!(!quotes("the model is busy", ""));
    }

    #[test]
    fn refusals_are_read_in_every_form() {
        let read = |body: Value| Refusal::read(400, body.to_string().as_bytes());
        let openai = read(json!({"error": {"message": "m", "type": "T", "code": "C", "param": "p"}}));
        assert_eq!((openai.message.as_str(), openai.code.as_str(), openai.param.as_str()), ("m", "t c", "p"));
        assert_eq!(read(json!({"error": "m"})).message, "m");
        assert_eq!(read(json!({"message": "m"})).message, "m");
        assert_eq!(read(json!({"detail": "m"})).message, "m");
        let list = read(json!({"detail": [{"loc": ["body", "x", 0], "msg": "m"}]}));
        assert_eq!((list.message.as_str(), list.param.as_str()), ("m", "body.x"));
        assert_eq!(read(json!([{"error": {"message": "m"}}])).message, "m");
        assert_eq!(Refusal::read(502, b"bad gateway").message, "bad gateway");
        assert_eq!(Refusal::read(502, b"<html>bad gateway").message, "");
        for odd in [json!(null), json!([]), json!(3), json!({"error": null}), json!({"error": [1]})] {
            assert_eq!(read(odd.clone()).message, "", "{odd}");
        }
    }

    #[test]
    fn a_status_is_a_kind() {
        let kind =
            |status, message: &str| default_kind(&Refusal { status, message: message.into(), ..Refusal::default() });
        assert_eq!(kind(400, "no"), ErrorKind::ProviderRefused);
        assert_eq!(kind(400, "This model's maximum Context Length is 8192 tokens"), ErrorKind::InvalidArgument);
        let llama_cpp = "input (8001 tokens) is too large to process. increase the physical batch size";
        assert_eq!(kind(500, llama_cpp), ErrorKind::InvalidArgument);
        assert_eq!(kind(404, ""), ErrorKind::Configuration);
        assert_eq!(kind(307, ""), ErrorKind::Configuration);
        for status in [408, 500, 502, 503, 504] {
            assert_eq!(kind(status, ""), ErrorKind::ProviderUnreachable, "{status}");
        }
        for status in [401, 402, 403, 409, 451] {
            assert_eq!(kind(status, ""), ErrorKind::ProviderRefused, "{status}");
        }
    }
}
