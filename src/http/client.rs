use std::{fmt, sync::Arc};

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    HttpError, HttpOptions, Refusal,
    connect::{checked_base, client},
    lines::Lines,
    retry::{backoff, chance, retry_after},
};
use crate::{Error, ErrorKind, Result, Secret};

/// Longest refusal that is read, in bytes: validators repeat what they were sent.
const REFUSAL_BYTES: usize = 1 << 20;

/// Where a key goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Login {
    /// `Authorization: Bearer KEY`.
    #[cfg(any(feature = "openai", feature = "ollama"))]
    Bearer,
    /// In a header of this name.
    #[cfg(feature = "anthropic")]
    Header(&'static str),
}

/// One request.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Below the base URL, with the slash before it.
    pub path: &'static str,
    pub body: &'a Value,
    /// Whether the answer is to be read piece by piece.
    pub stream: bool,
    /// What is in the body that no error may hold.
    pub private: Vec<&'a str>,
}

/// What came back.
#[derive(Debug)]
pub(crate) enum Answer {
    Whole(Value),
    Stream(Box<Stream>),
}

/// A connection to one server. Clones share the limits.
#[derive(Clone)]
pub(crate) struct HttpClient(Arc<Inner>);

struct Inner {
    backend: &'static str,
    kind: fn(&Refusal) -> ErrorKind,
    client: reqwest::Client,
    base: String,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    options: HttpOptions,
    permits: Arc<Semaphore>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.debug_struct("HttpClient").field("base_url", &inner.base).field("options", &inner.options).finish()
    }
}

impl HttpClient {
    /// Checks everything that can be checked without a request.
    ///
    /// # Errors
    /// `Configuration`, naming what is wrong.
    pub(crate) fn new(
        backend: &'static str,
        base_url: &str,
        key: Option<(Login, Secret)>,
        options: HttpOptions,
        kind: fn(&Refusal) -> ErrorKind,
    ) -> Result<Self> {
        let wrong = |message: String| Error::new(ErrorKind::Configuration, message).with_backend(backend);
        let base = checked_base(base_url).map_err(|what| wrong(format!("the base URL {what}")))?;
        if options.attempts == 0 || options.concurrency == 0 || options.max_response_bytes == 0 {
            return Err(wrong("attempts, concurrency and the longest answer must be at least 1".to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &options.demanded {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut secrets = Vec::new();
        let mut insert = |name: &str, value: &str, secret: &Secret| {
            let name_ok = HeaderName::from_bytes(name.as_bytes());
            let name_ok = name_ok.map_err(|_| wrong("a header has a name that HTTP does not allow".to_owned()))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                wrong(format!("the value of header `{name_ok}` has characters that HTTP does not allow"))
            })?;
            value.set_sensitive(true);
            headers.insert(name_ok, value);
            secrets.push(secret.clone());
            Ok::<_, Error>(())
        };
        if let Some((login, key)) = &key {
            match login {
                #[cfg(any(feature = "openai", feature = "ollama"))]
                Login::Bearer => insert("authorization", &format!("Bearer {}", key.expose().trim()), key)?,
                #[cfg(feature = "anthropic")]
                Login::Header(name) => insert(name, key.expose().trim(), key)?,
            }
        }
        for (name, value) in &options.headers {
            insert(name, value.expose(), value)?;
        }
        let client = client(&base, options.connect_timeout).map_err(|cause| {
            wrong("no HTTP client could be made; are the system's certificates there?".to_owned()).with_source(cause)
        })?;
        let permits = Arc::new(Semaphore::new(options.concurrency.min(Semaphore::MAX_PERMITS)));
        let base = base.as_str().trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Inner { backend, kind, client, base, headers, secrets, options, permits })))
    }

    /// One exchange whose answer comes whole.
    #[cfg(any(feature = "openai", feature = "ollama"))]
    pub(crate) async fn post(&self, path: &'static str, body: &Value, private: &[&str]) -> Result<Value, HttpError> {
        match self.send(&Call { path, body, stream: false, private: private.to_vec() }).await? {
            Answer::Whole(json) => Ok(json),
            Answer::Stream(_) => Err(HttpError::new(self.0.backend, ErrorKind::Internal, "a stream nobody asked for")),
        }
    }

    /// One exchange, tried again as the options say.
    pub(crate) async fn send(&self, call: &Call<'_>) -> Result<Answer, HttpError> {
        let Inner { backend, options, permits, .. } = &*self.0;
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(HttpError::new(backend, ErrorKind::Configuration, "requests need a tokio runtime"));
        }
        // Kept while waiting between tries: a server that asks to slow down is asked less by all.
        let permit = permits.clone().acquire_owned().await;
        let permit = permit.map_err(|_| HttpError::new(backend, ErrorKind::Internal, "the limit is closed"))?;
        let mut tries = 1;
        loop {
            let error = match self.once(call).await {
                Ok(Begun::Whole(json)) => return Ok(Answer::Whole(json)),
                Ok(Begun::Stream(response)) => {
                    let stream = Stream::new(self.clone(), Some(response), permit);
                    return Ok(Answer::Stream(Box::new(stream)));
                }
                Ok(Begun::Streamed(body)) => {
                    let mut stream = Stream::new(self.clone(), None, permit);
                    stream.lines.push(&body);
                    return Ok(Answer::Stream(Box::new(stream)));
                }
                Err(error) => error.after(tries),
            };
            let asked = error.retry_after().unwrap_or_default();
            if !error.kind().is_retryable() || tries >= options.attempts || asked > options.max_wait {
                return Err(error);
            }
            options.clock.sleep(asked.max(backoff(options.backoff, tries, options.max_wait, chance()))).await;
            tries += 1;
        }
    }

    async fn once(&self, call: &Call<'_>) -> Result<Begun, HttpError> {
        let Inner { backend, options, .. } = &*self.0;
        let begun = async {
            let response = self.head(call).await?;
            // A server that does not stream gives the whole answer as JSON.
            let json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
            let whole = response.headers().get(header::CONTENT_TYPE).is_some_and(json);
            if call.stream && !whole {
                return Ok(Begun::Stream(response));
            }
            let body = self.body(response, options.max_response_bytes).await?;
            match serde_json::from_slice(&body) {
                Ok(json) => match Refusal::in_band(&json) {
                    Some(refusal) => Err(self.refused(refusal, &call.private)),
                    None => Ok(Begun::Whole(json)),
                },
                // A stream under the name of JSON.
                Err(_) if call.stream && [&b"data:"[..], b"event:", b":", b"{"].iter().any(|s| body.starts_with(s)) => {
                    Ok(Begun::Streamed(body))
                }
                // The parser's own words would quote the answer.
                Err(_) => Err(HttpError::unusable(backend, "the answer is not JSON")),
            }
        };
        self.in_time(begun).await?
    }

    /// The answer's head; a refusal is read to its end.
    async fn head(&self, call: &Call<'_>) -> Result<reqwest::Response, HttpError> {
        let Inner { backend, kind, client, base, headers, secrets, options, .. } = &*self.0;
        let request = client
            .post(format!("{base}{}", call.path))
            .header(header::CONTENT_TYPE, "application/json")
            .headers(headers.clone())
            .body(call.body.to_string());
        let response = request.send().await.map_err(|error| HttpError::transport(backend, error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let wait = retry_after(response.headers(), options.clock.now());
        let status = response.status().as_u16();
        // A refusal that cannot be read is a refusal all the same.
        let body = self.body(response, REFUSAL_BYTES).await.unwrap_or_default();
        let refusal = Refusal::read(status, &body);
        Err(HttpError::of_refusal(backend, kind(&refusal), refusal, wait, &call.private, secrets))
    }

    async fn body(&self, mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>, HttpError> {
        let backend = self.0.backend;
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| HttpError::transport(backend, error))? {
            if body.len() + piece.len() > limit {
                return Err(HttpError::unusable(backend, format!("the answer is longer than {limit} bytes")));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, HttpError> {
        let limit = self.0.options.timeout;
        tokio::time::timeout(limit, work).await.map_err(|_| {
            let message = format!("no answer within {:.1} s", limit.as_secs_f32());
            HttpError::new(self.0.backend, ErrorKind::ProviderUnreachable, message)
        })
    }

    /// An error that came inside of an answer of status 200.
    pub(crate) fn refused(&self, refusal: Refusal, private: &[&str]) -> HttpError {
        let kind = (self.0.kind)(&refusal);
        HttpError::of_refusal(self.0.backend, kind, refusal, None, private, &self.0.secrets)
    }
}

enum Begun {
    Whole(Value),
    Stream(reqwest::Response),
    /// A stream that was read to its end.
    Streamed(Vec<u8>),
}

/// An answer that comes line by line.
pub(crate) struct Stream {
    client: HttpClient,
    /// None when it has ended.
    response: Option<reqwest::Response>,
    lines: Lines,
    bytes: usize,
    _permit: OwnedSemaphorePermit,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Stream {
    fn new(client: HttpClient, response: Option<reqwest::Response>, permit: OwnedSemaphorePermit) -> Self {
        Self { client, response, lines: Lines::default(), bytes: 0, _permit: permit }
    }

    /// The answer as one JSON value, of a server that does not stream and does not say so. `line` is its first line.
    #[cfg(any(feature = "openai", feature = "anthropic"))]
    pub(crate) async fn whole(&mut self, line: String, private: &[&str]) -> Result<Value, HttpError> {
        let mut text = line;
        while let Some(line) = self.line().await? {
            text.push('\n');
            text.push_str(&line);
        }
        let json = serde_json::from_str(&text);
        let json = json.map_err(|_| HttpError::unusable(self.client.0.backend, "the answer is not JSON"))?;
        match Refusal::in_band(&json) {
            Some(refusal) => Err(self.client.refused(refusal, private)),
            None => Ok(json),
        }
    }

    /// The next line; `None` when the server closed the answer in good order, which it may also do too early.
    pub(crate) async fn line(&mut self) -> Result<Option<String>, HttpError> {
        let (backend, limit) = (self.client.0.backend, self.client.0.options.max_response_bytes);
        let text = |line: Vec<u8>| {
            String::from_utf8(line).map_err(|_| HttpError::unusable(backend, "the answer is not UTF-8"))
        };
        loop {
            if let Some(line) = self.lines.next() {
                return text(line).map(Some);
            }
            let Some(response) = &mut self.response else {
                return self.lines.rest().map(text).transpose();
            };
            let piece = self.client.in_time(response.chunk()).await?;
            match piece.map_err(|error| HttpError::transport(backend, error))? {
                Some(piece) => {
                    self.bytes += piece.len();
                    if self.bytes > limit {
                        return Err(HttpError::unusable(backend, format!("the answer is longer than {limit} bytes")));
                    }
                    self.lines.push(&piece);
                }
                None => self.response = None,
            }
        }
    }
}
