use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;

use super::{
    ask::{Asker, Question},
    facts::{Closed, Statement, answer_schema, read_facts},
    material::Transcript,
};
use crate::{
    ExtractRequest, Extraction, Extractor, Fact, Ignored, Llm, Message, Result, Role, Trust,
    score::sameness::normalized,
};

/// An [`Extractor`] that asks a model.
///
/// It makes one request, and a second one if the first answer was cut off or of no use; none if nobody whose words count
/// has said anything. The model sees the messages of the user and the assistant, each with its number, role, speaker and
/// date, byte for byte and in tags that no text can close; system and tool messages are not shown. Facts are read from
/// the user's words alone, unless [both speakers](Self::both_speakers) count; one that rests on other words is ignored.
///
/// The answer may have the shapes that models give to lists, in code fences, after thoughts, between sentences. What in
/// it is no fact is reported as [ignored](Extraction::ignored), except blank texts and repetitions, which are dropped.
///
/// ```
/// use ingrain::{ExtractRequest, Extractor, Message, prompted::PromptedExtractor, testing::ScriptedLlm};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let llm = ScriptedLlm::new().reply(r#"{"facts": [{"text": "Lives in Porto", "message": 0}]}"#);
/// let messages = [Message::user("I've moved, to Porto!")];
/// let request = ExtractRequest::new(&messages, "2025-02-10T08:00:00Z".parse()?);
/// let found = PromptedExtractor::new(llm).extract(&request).await?;
/// assert_eq!((found.facts[0].text.as_str(), found.model_calls), ("Lives in Porto", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PromptedExtractor {
    asker: Asker,
    language: Option<String>,
    categories: Vec<String>,
    instructions: Option<String>,
    both_speakers: bool,
    verify: bool,
}

impl PromptedExtractor {
    /// An extractor that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        Self::from_asker(Asker::new(Arc::new(llm)))
    }

    pub(super) fn from_asker(asker: Asker) -> Self {
        Self { asker, language: None, categories: Vec::new(), instructions: None, both_speakers: false, verify: false }
    }

    /// The language facts are written in, by its English name, where the request names none. Default: that of the user's
    /// messages.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// The categories to choose from, where the request names none; others are left out. Default: a free choice.
    pub fn categories<C: Into<String>>(mut self, categories: impl IntoIterator<Item = C>) -> Self {
        self.categories = categories.into_iter().map(Into::into).collect();
        self
    }

    /// Further instructions for the model, before those of the request. Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Whether the assistant's words are read for facts too, as what the assistant said ([`Trust::Assistant`]). Default:
    /// the user's alone.
    pub fn both_speakers(mut self, both: bool) -> Self {
        self.both_speakers = both;
        self
    }

    /// Whether the quote of each fact is looked for in the messages; a fact whose quote is nowhere, or that has none, is
    /// [marked](Fact::verified). Case, white space and punctuation at the ends do not count. Default: no.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    fn counts(&self, message: &Message) -> bool {
        let speaks = message.role == Role::User || (self.both_speakers && message.role == Role::Assistant);
        speaks && !message.text.trim().is_empty()
    }

    fn question(&self, request: &ExtractRequest<'_>, closed: &Closed<'_>) -> Question {
        let shown = request.messages.iter().enumerate().filter(|(_, message)| {
            matches!(message.role, Role::User | Role::Assistant) && !message.text.trim().is_empty()
        });
        let transcript =
            Transcript::of(shown.clone().map(|(number, message)| (number, message, Some(request.time_of(number)))));
        let mut instructions = include_str!("prompts/extract.md").to_owned();
        let mut line = |text: &str| {
            instructions.push('\n');
            instructions.push_str(text);
        };
        line(&format!("The tags are named `{}`.", transcript.tag));
        line(if self.both_speakers {
            "Read facts from the messages of the user and of the assistant; begin one that an assistant tells of itself \
             or of its work with \"Assistant\"."
        } else {
            "Read facts from the messages with role=user alone; the others are there to understand these."
        });
        let names: HashSet<&str> = shown.filter_map(|(_, message)| message.speaker.as_deref()).collect();
        if names.len() > 1 {
            line("Several people speak: begin each fact with the name of the person it is about.");
        }
        match request.language.or(self.language.as_deref()) {
            Some(language) => line(&format!("Write the facts in {language}, whatever language the messages are in.")),
            None => line("Write each fact in the language of the user's messages; do not translate."),
        }
        if !closed.categories.is_empty() {
            let list = serde_json::Value::from(closed.categories.to_vec());
            line(&format!("Choose categories from this list alone, or give none: {list}"));
        }
        for further in [self.instructions.as_deref(), request.instructions].into_iter().flatten() {
            line("Further instructions of the application:");
            line(further);
        }
        Question { name: "facts", instructions, material: transcript.text, schema: answer_schema(closed) }
    }

    /// The fact of a statement, or why it is none.
    fn fact(&self, request: &ExtractRequest<'_>, statement: Statement, closed: &Closed<'_>) -> Result<Fact, Ignored> {
        let only = |reason: &str| Err(Ignored::new(reason));
        let quote = statement.quote.filter(|quote| !quote.trim().is_empty());
        let counting = || request.messages.iter().enumerate().filter(|(_, message)| self.counts(message));
        let holds = |message: &Message, quote: &str| contains(&message.text, quote);
        let named = statement.message.filter(|number| *number < request.messages.len());
        // The quote knows better than the number, which small models count wrong.
        let quoted = quote.as_deref().and_then(|quote| {
            let stated = counting().find(|(number, message)| Some(*number) == named && holds(message, quote));
            stated.or_else(|| counting().find(|(_, message)| holds(message, quote))).map(|(number, _)| number)
        });
        let Some(number) = quoted.or(named).or_else(|| counting().next_back().map(|(number, _)| number)) else {
            return only("a fact that rests on no message");
        };
        let Some(message) = request.messages.get(number).filter(|message| self.counts(message)) else {
            return only("a fact that rests on a message which is not the user's");
        };
        let at = request.time_of(number);
        let mut fact = Fact::new(statement.text, number).with_kind(statement.kind);
        fact.categories = closed.chosen(statement.categories);
        fact.importance = statement.importance.unwrap_or(fact.importance);
        // A day given as the message's own says nothing that its time does not say better.
        fact.valid_at = statement.since.filter(|since| since.date_naive() != at.date_naive());
        fact.invalid_at = statement.until;
        fact.speaker.clone_from(&message.speaker);
        fact.trust = if message.role == Role::Assistant { Trust::Assistant } else { Trust::User };
        fact.verified = self.verify.then_some(quoted.is_some());
        fact.quote = quote;
        Ok(fact)
    }
}

#[async_trait]
impl Extractor for PromptedExtractor {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        if !request.messages.iter().any(|message| self.counts(message)) {
            return Ok(Extraction::default());
        }
        let own = if request.categories.is_empty() { self.categories.as_slice() } else { request.categories };
        let closed = Closed { categories: own };
        let question = self.question(request, &closed);
        let answer = self.asker.ask(&question, request.budget, &read_facts).await?;
        let mut extraction = Extraction {
            ignored: answer.value.ignored,
            model_calls: answer.model_calls,
            usage: answer.usage,
            ..Extraction::default()
        };
        let mut seen = HashSet::new();
        for statement in answer.value.statements {
            if statement.text.is_empty() || !seen.insert(normalized(&statement.text)) {
                continue;
            }
            match self.fact(request, statement, &closed) {
                Ok(fact) => extraction.facts.push(fact),
                Err(ignored) => extraction.ignored.push(ignored),
            }
        }
        extraction.facts.sort_by_key(|fact| fact.message);
        Ok(extraction)
    }
}

/// Whether the words stand in the text: case, runs of white space and punctuation at the ends do not count.
fn contains(text: &str, words: &str) -> bool {
    let words = normalized(words);
    !words.is_empty() && normalized(text).contains(&words)
}
