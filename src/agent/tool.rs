use std::{
    fmt::{self, Debug},
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{Result, Scope, ToolDefinition};

/// A tool of the application's own that an agent may call.
///
/// The contract: the definition is the same each time. A call is made with an object that has what the definition's schema
/// requires at its first level; the rest is the tool's to check. Whose it is called for is said by the application's scope,
/// never by the model. What it returns is shown to the model, errors too, so that it can mend its call: neither should hold
/// secrets. Dropping the future abandons the call.
#[async_trait]
pub trait AgentTool: Debug + Send + Sync + 'static {
    /// What the model is told of it.
    fn definition(&self) -> ToolDefinition;

    /// Carries a call out.
    ///
    /// # Errors
    /// Whatever keeps it from doing so: the model is told, and the reply goes on.
    async fn call(&self, scope: &Scope, arguments: Map<String, Value>) -> Result<String>;

    /// Whether the same call may be made again within one reply, as with a clock or a die. Else it is not carried out a
    /// second time, and whoever goes on repeating himself is made to answer. Default: no.
    fn is_repeatable(&self) -> bool {
        false
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: AgentTool + ?Sized> AgentTool for Arc<T> {
    fn definition(&self) -> ToolDefinition {
        (**self).definition()
    }

    async fn call(&self, scope: &Scope, arguments: Map<String, Value>) -> Result<String> {
        (**self).call(scope, arguments).await
    }

    fn is_repeatable(&self) -> bool {
        (**self).is_repeatable()
    }
}

/// A function as an [`AgentTool`].
///
/// ```
/// use ingrain::{ToolDefinition, ToolFn};
/// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let definition = ToolDefinition::new("weather", "What the weather is like in a city.", schema);
/// let weather = ToolFn::new(definition, |_scope, arguments| async move {
///     Ok(format!("It rains in {}.", arguments["city"].as_str().unwrap_or("that city")))
/// });
/// ```
#[derive(Clone)]
pub struct ToolFn<F> {
    definition: ToolDefinition,
    function: F,
    repeatable: bool,
}

impl<F> ToolFn<F> {
    /// Wraps a function of the scope that the agent answers in and the arguments.
    #[must_use]
    pub fn new<Answer>(definition: ToolDefinition, function: F) -> Self
    where
        F: Fn(Scope, Map<String, Value>) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<String>> + Send + 'static,
    {
        Self { definition, function, repeatable: false }
    }

    /// Lets the same call be made again within one reply. Default: it is not carried out a second time.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }
}

impl<F> fmt::Debug for ToolFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Answer> AgentTool for ToolFn<F>
where
    F: Fn(Scope, Map<String, Value>) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<String>> + Send + 'static,
{
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, scope: &Scope, arguments: Map<String, Value>) -> Result<String> {
        (self.function)(scope.clone(), arguments).await
    }

    fn is_repeatable(&self) -> bool {
        self.repeatable
    }
}
