//! Anthropic's Messages API.

mod error;
mod llm;
mod request;
mod stream;

use std::{env, fmt, sync::Arc};

use crate::{
    Error, ErrorKind, HttpOptions, Result, Secret,
    http::{BaseUrl, HttpClient, Login, Refused},
};

const BACKEND: &str = "anthropic";
const BASE_URL: &str = "https://api.anthropic.com";
const MODEL: &str = "claude-haiku-4-5";

/// A Claude model behind Anthropic's Messages API.
///
/// System messages become the request's system text, results of tools go with the user's words, and messages in a row
/// from one side are joined, since the two sides must take turns. An answer always has a limit. Parameters that a model
/// refuses (`temperature`, a schema, a forced tool) are left out from then on. Anthropic has no embeddings.
///
/// Names of speakers and times of messages are not sent: put them into the text. Clones share connections, limits and
/// what was learned.
///
/// ```
/// use ingrain::Anthropic;
/// # fn main() -> ingrain::Result<()> {
/// let claude = Anthropic::builder().key("sk-ant-0000").max_output_tokens(1_024).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Anthropic {
    http: HttpClient,
    name: String,
    model: String,
    max_output_tokens: u32,
    refused: Arc<Refused>,
}

impl Anthropic {
    /// A client from the environment: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` (default Anthropic itself) and
    /// `ANTHROPIC_MODEL` (default `claude-haiku-4-5`).
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration), as [`AnthropicBuilder::build`].
    pub fn from_env() -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let mut builder = Self::builder();
        if let Some(url) = variable("ANTHROPIC_BASE_URL") {
            builder = builder.base_url(url);
        }
        if let Some(model) = variable("ANTHROPIC_MODEL") {
            builder = builder.model(model);
        }
        if let Some(key) = variable("ANTHROPIC_API_KEY") {
            builder = builder.key(key);
        }
        builder.build()
    }

    /// A client set up by hand; the environment plays no part but for proxies.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder {
            base_url: BaseUrl(BASE_URL.to_owned()),
            key: None,
            model: MODEL.to_owned(),
            max_output_tokens: 4_096,
            http: HttpOptions::new(),
        }
    }
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anthropic").field("model", &self.model).field("http", &self.http).finish_non_exhaustive()
    }
}

/// Sets up an [`Anthropic`].
#[derive(Debug, Clone)]
#[must_use]
pub struct AnthropicBuilder {
    base_url: BaseUrl,
    key: Option<Secret>,
    model: String,
    max_output_tokens: u32,
    http: HttpOptions,
}

impl AnthropicBuilder {
    /// The address that `/v1/messages` is below of. Default Anthropic's, `https://api.anthropic.com`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = BaseUrl(url.into());
        self
    }

    /// The key, sent as `x-api-key`. Default none, which Anthropic refuses.
    pub fn key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The model. Default `claude-haiku-4-5`.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// The limit of an answer, in tokens, for requests that set none: the API demands one. At least 1. Default 4,096.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = tokens;
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
    /// missing (at Anthropic) or cannot be sent, for a blank model, and for options that allow nothing.
    pub fn build(self) -> Result<Anthropic> {
        let Self { base_url: BaseUrl(base_url), key, model, max_output_tokens, http } = self;
        let wrong = |message: &str| Error::new(ErrorKind::Configuration, message).with_backend(BACKEND);
        let key = key.filter(|key| !key.expose().trim().is_empty());
        let base = base_url.trim_end_matches('/');
        if base == BASE_URL && key.is_none() {
            return Err(wrong("a key is missing: set ANTHROPIC_API_KEY, or the base URL of a server that needs none"));
        }
        if base.ends_with("/messages") || base.ends_with("/v1") {
            return Err(wrong("the base URL must end before `/v1/messages`"));
        }
        if model.trim().is_empty() || max_output_tokens == 0 {
            return Err(wrong("a model, and a limit of at least 1 token, are needed"));
        }
        let key = key.map(|key| (Login::Header("x-api-key"), key));
        let http = http.default_header("anthropic-version", "2023-06-01");
        let http = HttpClient::new(BACKEND, &base_url, key, http, error::kind)?;
        Ok(Anthropic { http, name: format!("{BACKEND}/{model}"), model, max_output_tokens, refused: Arc::default() })
    }
}
