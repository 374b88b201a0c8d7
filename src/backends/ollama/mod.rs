//! Ollama's own API.

mod embedder;
mod error;
mod llm;

pub use embedder::OllamaEmbedder;

use std::{env, fmt, sync::Arc};

use crate::{
    Error, ErrorKind, HttpOptions, Result, Secret,
    http::{BaseUrl, HttpClient, Login, Refused},
};

const BACKEND: &str = "ollama";
const BASE_URL: &str = "http://localhost:11434";

/// A local model behind Ollama's own API, and the way to embedders on the same server.
///
/// Against its OpenAI-compatible API this one can set the size of the context, and does so with every request: 8,192
/// tokens unless [`num_ctx`](OllamaBuilder::num_ctx) says otherwise. A prompt that does not fit is an error
/// ([`InvalidArgument`](ErrorKind::InvalidArgument)); servers older than 0.12.6 cut its beginning off without a word.
///
/// A tool cannot be forced on it: of [`ToolChoice`](crate::ToolChoice), `None` sends no tools, `Tool` that one alone,
/// and `Required` is as `Auto`. Names of speakers and times of messages are not sent: put them into the text. Clones
/// share connections, limits and what was learned.
///
/// ```
/// use ingrain::Ollama;
/// # fn main() -> ingrain::Result<()> {
/// let llm = Ollama::builder().model("qwen3:4b").num_ctx(16_384).build()?;
/// let embedder = llm.embedder("nomic-embed-text", 768);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Ollama {
    http: HttpClient,
    name: String,
    model: String,
    num_ctx: Option<u32>,
    refused: Arc<Refused>,
}

impl Ollama {
    /// A client from the environment: `OLLAMA_MODEL`, which must be set, `OLLAMA_HOST` as Ollama itself reads it (default
    /// `localhost:11434`), and `OLLAMA_API_KEY` for servers behind a key.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration), as [`OllamaBuilder::build`].
    pub fn from_env() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut builder = Self::builder();
        if let Some(host) = variable("OLLAMA_HOST") {
            builder = builder.base_url(base_url(&host));
        }
        if let Some(model) = variable("OLLAMA_MODEL") {
            builder = builder.model(model);
        }
        if let Some(key) = variable("OLLAMA_API_KEY") {
            builder = builder.key(key);
        }
        builder.build()
    }

    /// A client set up by hand; the environment plays no part but for proxies.
    pub fn builder() -> OllamaBuilder {
        OllamaBuilder {
            base_url: BaseUrl(BASE_URL.to_owned()),
            key: None,
            model: None,
            num_ctx: Some(8_192),
            http: HttpOptions::new(),
        }
    }

    /// An embedder on the same server. `dimensions` is the width of its vectors; models that can shorten theirs are asked
    /// to, and of others it must be the width they have.
    #[must_use]
    pub fn embedder(&self, model: impl Into<String>, dimensions: usize) -> OllamaEmbedder {
        OllamaEmbedder::new(self.http.clone(), model.into(), dimensions)
    }
}

impl fmt::Debug for Ollama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Ollama");
        shown.field("model", &self.model).field("num_ctx", &self.num_ctx).field("http", &self.http);
        shown.finish_non_exhaustive()
    }
}

/// Sets up an [`Ollama`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OllamaBuilder {
    base_url: BaseUrl,
    key: Option<Secret>,
    model: Option<String>,
    num_ctx: Option<u32>,
    http: HttpOptions,
}

impl OllamaBuilder {
    /// The address that `/api/chat` is below of. Default `http://localhost:11434`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = BaseUrl(url.into());
        self
    }

    /// A key, sent as a bearer token, for servers behind one. Default none.
    pub fn key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The model that chats, as Ollama names it. It must be set.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The size of the context in tokens, prompt and answer together; `None` leaves it to the server. Another size than
    /// the one that a model was loaded with loads it again. Default 8,192.
    pub fn num_ctx(mut self, tokens: impl Into<Option<u32>>) -> Self {
        self.num_ctx = tokens.into();
        self
    }

    /// Timeouts, retries, limits, headers. Default [`HttpOptions::new`].
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// Checks the settings. Makes no request.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a base URL that is none or holds a password, for a key that
    /// cannot be sent, for a missing model, and for options that allow nothing.
    pub fn build(self) -> Result<Ollama> {
        let Self { base_url: BaseUrl(base_url), key, model, num_ctx, http } = self;
        let wrong = |message: &str| Error::new(ErrorKind::Configuration, message).with_backend(BACKEND);
        let model = model.filter(|model| !model.trim().is_empty());
        let model = model.ok_or_else(|| wrong("a model is missing: set it, or OLLAMA_MODEL"))?;
        if num_ctx == Some(0) {
            return Err(wrong("the context must have at least 1 token"));
        }
        let base = base_url.trim_end_matches('/');
        if base.ends_with("/v1") || base.ends_with("/api") {
            return Err(wrong("the base URL must end before `/api`; what ends in `/v1` is for `OpenAi`"));
        }
        let key = key.filter(|key| !key.expose().trim().is_empty()).map(|key| (Login::Bearer, key));
        let http = HttpClient::new(BACKEND, &base_url, key, http, error::kind)?;
        Ok(Ollama { http, name: format!("{BACKEND}/{model}"), model, num_ctx, refused: Arc::default() })
    }
}

/// A base URL from what `OLLAMA_HOST` may hold: a host, with or without scheme and port. The address that a server
/// listens on everywhere with is asked on this machine.
fn base_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = match rest.strip_prefix("0.0.0.0") {
        Some(port) if port.is_empty() || port.starts_with(':') => format!("127.0.0.1{port}"),
        _ => rest.to_owned(),
    };
    let named = |text: &str| text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let whole = host.contains("://") || (named(&rest) && !rest.ends_with(']'));
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest };
    if whole { format!("{scheme}://{rest}") } else { format!("{scheme}://{rest}:11434") }
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn a_host_becomes_an_address() {
        for (host, expected) in [
            ("localhost", "http://localhost:11434"),
            ("box:8080", "http://box:8080"),
            (":8080", "http://127.0.0.1:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::1]", "http://[::1]:11434"),
            ("[::1]:80", "http://[::1]:80"),
            ("https://ollama.example.com/", "https://ollama.example.com"),
            ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ] {
            assert_eq!(base_url(host), expected, "{host}");
        }
    }
}
