use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::{ChatRequest, ChatResponse, Error, ErrorKind, Llm, LlmCapabilities, Result};

/// An [`Llm`] that answers with the listed replies in order and records every request.
///
/// A request that no model takes ([`ChatRequest::check`]) is refused, and neither recorded nor answered.
/// When the script is used up it fails with [`ErrorKind::Configuration`]. Clones share the script and the record.
///
/// ```
/// # use ingrain::{ChatRequest, Llm, Message, testing::ScriptedLlm};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let llm = ScriptedLlm::new().reply("[]");
/// let request = ChatRequest::new(vec![Message::user("I moved to Lisbon.")]);
/// assert_eq!(llm.chat(&request).await?.text, "[]");
/// assert_eq!(llm.requests(), [request.clone()]);
/// assert!(llm.chat(&request).await.is_err());
/// # Ok::<(), ingrain::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ScriptedLlm {
    capabilities: LlmCapabilities,
    shared: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Result<ChatResponse, ErrorKind>>,
    requests: Vec<ChatRequest>,
}

impl ScriptedLlm {
    /// A model with an empty script and no capabilities.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finished text answer to the end of the script.
    #[must_use]
    pub fn reply(self, text: impl Into<String>) -> Self {
        self.respond(ChatResponse::text(text))
    }

    /// Adds an answer to the end of the script.
    #[must_use]
    pub fn respond(self, response: ChatResponse) -> Self {
        self.script().replies.push_back(Ok(response));
        self
    }

    /// Adds a failure to the end of the script.
    #[must_use]
    pub fn fail(self, kind: ErrorKind) -> Self {
        self.script().replies.push_back(Err(kind));
        self
    }

    /// Sets the capabilities. Default none.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: LlmCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Every request so far, oldest first, also those that failed.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Llm for ScriptedLlm {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn capabilities(&self) -> LlmCapabilities {
        self.capabilities
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        request.check()?;
        let mut script = self.script();
        script.requests.push(request.clone());
        match script.replies.pop_front() {
            Some(Ok(response)) => Ok(response),
            Some(Err(kind)) => Err(Error::new(kind, "told to fail")),
            None => {
                let message = format!("request {} came after the end of the script", script.requests.len());
                Err(Error::new(ErrorKind::Configuration, message))
            }
        }
    }
}
