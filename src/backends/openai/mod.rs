//! OpenAI's API, as OpenAI and many others serve it.

mod embedder;
mod error;
mod llm;
mod reranker;
mod stream;

pub use embedder::OpenAiEmbedder;
pub use reranker::OpenAiReranker;

use std::{env, fmt, sync::Arc};

use crate::{
    Error, ErrorKind, HttpOptions, Result, Secret,
    http::{BaseUrl, HttpClient, Login, Refused},
};

const BACKEND: &str = "openai";
const BASE_URL: &str = "https://api.openai.com/v1";
const MODEL: &str = "gpt-5-mini";

/// A model behind OpenAI's chat completions, and the way to embedders and rerankers on the same server.
///
/// Works with OpenAI and with whatever serves its API: llama.cpp, vLLM, LM Studio, Ollama, Groq, OpenRouter, DeepSeek,
/// Mistral, Gemini. Set the base URL that the server names, which ends in `/v1` for most. Parameters that a server
/// refuses (`temperature`, `max_tokens`, `response_format` …) are left out, or sent under their other name, from then on.
///
/// Names of speakers and times of messages are not sent: put them into the text. Clones share connections, limits and
/// what was learned.
///
/// ```
/// use ingrain::OpenAi;
/// # fn main() -> ingrain::Result<()> {
/// let local = OpenAi::builder().base_url("http://localhost:8080/v1").model("smollm2").build()?;
/// let embedder = local.embedder("nomic-embed-text", 768);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAi {
    http: HttpClient,
    name: String,
    model: String,
    refused: Arc<Refused>,
}

impl OpenAi {
    /// A client from the environment: `OPENAI_API_KEY`, `OPENAI_BASE_URL` (default OpenAI itself) and `OPENAI_MODEL`
    /// (default `gpt-5-mini`, at OpenAI alone).
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration), as [`OpenAiBuilder::build`].
    pub fn from_env() -> Result<Self> {
        let mut builder = Self::builder();
        if let Some(url) = variable("OPENAI_BASE_URL") {
            builder = builder.base_url(url);
        }
        if let Some(model) = variable("OPENAI_MODEL") {
            builder = builder.model(model);
        }
        if let Some(key) = variable("OPENAI_API_KEY") {
            builder = builder.key(key);
        }
        builder.build()
    }

    /// A client set up by hand; the environment plays no part but for proxies.
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder { base_url: BaseUrl(BASE_URL.to_owned()), key: None, model: None, http: HttpOptions::new() }
    }

    /// An embedder on the same server. `dimensions` is the width of its vectors; models that can shorten theirs are asked
    /// to, and of others it must be the width they have.
    #[must_use]
    pub fn embedder(&self, model: impl Into<String>, dimensions: usize) -> OpenAiEmbedder {
        OpenAiEmbedder::new(self.http.clone(), model.into(), dimensions)
    }

    /// A reranker on the same server, if it has `/rerank`, in the form of Jina and Cohere: vLLM, llama.cpp, Jina, and
    /// others. OpenAI has none.
    #[must_use]
    pub fn reranker(&self, model: impl Into<String>) -> OpenAiReranker {
        OpenAiReranker::new(self.http.clone(), model.into())
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("model", &self.model).field("http", &self.http).finish_non_exhaustive()
    }
}

/// Sets up an [`OpenAi`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiBuilder {
    base_url: BaseUrl,
    key: Option<Secret>,
    model: Option<String>,
    http: HttpOptions,
}

impl OpenAiBuilder {
    /// The address that `/chat/completions` is below of. Default OpenAI's, `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = BaseUrl(url.into());
        self
    }

    /// The key, sent as a bearer token. Default none, which OpenAI refuses and most local servers want.
    pub fn key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The model that chats. Default `gpt-5-mini` at OpenAI; elsewhere it must be set.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
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
    /// [`Configuration`](ErrorKind::Configuration) for a base URL that is none or holds a password, for a key that is
    /// missing (OpenAI) or cannot be sent, for a missing model (elsewhere), and for options that allow nothing.
    pub fn build(self) -> Result<OpenAi> {
        let Self { base_url: BaseUrl(base_url), key, model, http } = self;
        let wrong = |message: &str| Error::new(ErrorKind::Configuration, message).with_backend(BACKEND);
        let key = key.filter(|key| !key.expose().trim().is_empty());
        let at_openai = base_url.trim_end_matches('/') == BASE_URL;
        if at_openai && key.is_none() {
            return Err(wrong("a key is missing: set OPENAI_API_KEY, or the base URL of a server that needs none"));
        }
        if base_url.trim_end_matches('/').ends_with("/chat/completions") {
            return Err(wrong("the base URL must end before `/chat/completions`"));
        }
        let model = model.filter(|model| !model.trim().is_empty()).or_else(|| at_openai.then(|| MODEL.to_owned()));
        let model = model.ok_or_else(|| wrong("a model is missing: set it, or OPENAI_MODEL"))?;
        let http = HttpClient::new(BACKEND, &base_url, key.map(|key| (Login::Bearer, key)), http, error::kind)?;
        Ok(OpenAi { http, name: format!("{BACKEND}/{model}"), model, refused: Arc::default() })
    }
}

/// What the environment says, unless it is blank.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
