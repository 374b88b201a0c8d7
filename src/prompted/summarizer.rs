use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde_json::Value;

use super::{
    ask::{Asker, Question},
    facts::is_placeholder,
    material::{Transcript, share_a_word},
    parse::{Fit, Fitting},
    schema::strict,
};
use crate::{Error, Llm, Message, Result, Role, SummarizeRequest, Summarizer, Summary, score::sameness::same_text};

/// The account that the prompt itself gives as an example.
const EXAMPLE: &str = "The user plans a trip to Tromsø in May 2023 and asked for hotels; the assistant named two.";

/// The answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct SummaryForm {
    /// The account.
    summary: String,
}

/// A [`Summarizer`] that asks a model.
///
/// It makes one request, and a second one if the first answer was cut off or of no use. The answer is asked for as JSON, so
/// that a refusal or a question is not taken for a summary, nor are pieces of the prompt. Tool messages and calls are
/// shown too, system messages are not; the summary so far stands beside the messages as data. The number of words is
/// asked for, not enforced.
///
/// ```
/// use ingrain::{Message, SummarizeRequest, Summarizer, prompted::PromptedSummarizer, testing::ScriptedLlm};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let llm = ScriptedLlm::new().reply(r#"{"summary": "The user asked for hotels in Porto."}"#);
/// let messages = [Message::user("Any hotels in Porto?")];
/// let summary = PromptedSummarizer::new(llm).summarize(&SummarizeRequest::new(&messages, 100)).await?;
/// assert_eq!(summary.text, "The user asked for hotels in Porto.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PromptedSummarizer {
    asker: Asker,
    instructions: Option<String>,
}

impl PromptedSummarizer {
    /// A summariser that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        Self::from_asker(Asker::new(Arc::new(llm)))
    }

    pub(super) fn from_asker(asker: Asker) -> Self {
        Self { asker, instructions: None }
    }

    /// Further instructions for the model. Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    fn question(&self, request: &SummarizeRequest<'_>) -> (Question, String) {
        let previous = request.previous.map(Message::system);
        let told = request.messages.iter().filter(|message| message.role != Role::System).map(with_calls);
        let told: Vec<Message> = told.collect();
        let numbered = previous.iter().chain(&told).enumerate();
        let transcript = Transcript::of(numbered.map(|(number, message)| (number, message, message.at)));
        let mut instructions = include_str!("prompts/summarize.md").to_owned();
        let mut line = |text: &str| {
            instructions.push('\n');
            instructions.push_str(text);
        };
        line(&format!("The tags are named `{}`.", transcript.tag));
        if previous.is_some() {
            line("The first one, with role=system, holds the summary so far.");
        }
        line(&format!("Write at most {} words.", request.max_words));
        match request.language {
            Some(language) => line(&format!("Write in {language}.")),
            None => line("Write in the language of the user's messages."),
        }
        if let Some(further) = &self.instructions {
            line("Further instructions of the application:");
            line(further);
        }
        let Transcript { tag, text } = transcript;
        (
            Question { name: "summary", instructions, material: text, schema: strict::<SummaryForm>(), leading: false },
            tag,
        )
    }
}

/// A message whose tool calls can be read, too.
fn with_calls(message: &Message) -> Message {
    let mut told = message.clone();
    for call in &message.tool_calls {
        told.text.push_str(&format!("\n(calls {} with {})", call.name, call.arguments));
    }
    told
}

/// The account; not the prompt's example, its messages in their tags, or what stands for a text in the schema.
fn read_summary(value: &Value, tag: &str, request: &SummarizeRequest<'_>) -> Fitting<String> {
    let text = value.as_object()?.get("summary")?.as_str()?.trim();
    let told = || request.messages.iter().map(|message| message.text.as_str()).chain(request.previous);
    let example = same_text(text, EXAMPLE) && !told().any(|told| share_a_word(told, "Tromsø hotels"));
    let echo = example || text.contains(tag) || is_placeholder(text) || same_text(text, "The account");
    (!text.is_empty() && !echo).then(|| (Fit::Whole, text.to_owned()))
}

#[async_trait]
impl Summarizer for PromptedSummarizer {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        if request.messages.iter().all(|message| message.role == Role::System) {
            return Err(Error::invalid("nothing to summarise: no message"));
        }
        let (question, tag) = self.question(request);
        let answer = self.asker.ask(&question, None, &|value| read_summary(value, &tag, request)).await?;
        Ok(Summary { text: answer.value, model_calls: answer.model_calls, usage: answer.usage })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_is_that_of_the_prompt() {
        assert!(include_str!("prompts/summarize.md").contains(super::EXAMPLE));
    }
}
