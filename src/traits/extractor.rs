use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{CallBudget, MemoryKind, Message, Result, Timestamp, Trust, Usage};

/// A statement read from messages, before it is stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fact {
    /// The statement: third person, self-contained, in the user's own language.
    pub text: String,
    /// Its kind: one of the semantic kinds.
    pub kind: MemoryKind,
    /// Labels.
    pub categories: Vec<String>,
    /// How much it matters; outside 0 to 1 the engine takes the nearer end, and 0.5 for what is no number.
    pub importance: f32,
    /// The single-valued slot it fills, such as `user.home`; see [`Memory::slot`](crate::Memory::slot).
    pub slot: Option<String>,
    /// Since when it holds; `None` for the time of the message.
    pub valid_at: Option<Timestamp>,
    /// When it ceased to hold, for what is told of the past. Not before it began: such a fact is ignored.
    pub invalid_at: Option<Timestamp>,
    /// Who said it, by name.
    pub speaker: Option<String>,
    /// Whose word it rests on. The engine trusts it no more than the role of its message allows, and ignores a fact of a
    /// system message, and of a tool's unless such are [kept aside](crate::MemoryEngineBuilder::quarantine).
    pub trust: Trust,
    /// The words it rests on, copied from the message.
    pub quote: Option<String>,
    /// Whether the quote was found in the messages; `None` if nobody looked. A fact whose quote was not found is stored
    /// with `"unverified": true` in its metadata.
    pub verified: Option<bool>,
    /// Whether it is worth storing only as the end of something known ("Bruno died" says nothing of the user unless a Bruno
    /// is known): the engine leaves it out where neither a current memory nor another fact of the call fills its slot, or
    /// what fills it names another ("No longer works at Bolt" of "Works at Acme").
    pub ends_only: bool,
    /// The relations it tells of, if they were asked for.
    pub relations: Vec<ExtractedRelation>,
    /// The message it rests on, as an index into [`ExtractRequest::messages`]. A fact of a message that is not there is
    /// ignored.
    pub message: usize,
}

impl Fact {
    /// A fact the user stated in message number `message`; importance 0.5.
    #[must_use]
    pub fn new(text: impl Into<String>, message: usize) -> Self {
        Self {
            text: text.into(),
            kind: MemoryKind::Fact,
            categories: Vec::new(),
            importance: 0.5,
            slot: None,
            valid_at: None,
            invalid_at: None,
            speaker: None,
            trust: Trust::User,
            quote: None,
            verified: None,
            ends_only: false,
            relations: Vec::new(),
            message,
        }
    }

    /// Sets the kind. Default [`MemoryKind::Fact`].
    #[must_use]
    pub fn with_kind(mut self, kind: MemoryKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the slot. Default none.
    #[must_use]
    pub fn with_slot(mut self, slot: impl Into<String>) -> Self {
        self.slot = Some(slot.into());
        self
    }

    /// Adds a category. Default none.
    #[must_use]
    pub fn with_category(mut self, category: impl Into<String>) -> Self {
        self.categories.push(category.into());
        self
    }

    /// Sets the importance, 0 to 1. Default 0.5.
    #[must_use]
    pub fn with_importance(mut self, importance: f32) -> Self {
        self.importance = importance;
        self
    }

    /// Since when it holds. Default: the time of the message.
    #[must_use]
    pub fn with_valid_at(mut self, at: Timestamp) -> Self {
        self.valid_at = Some(at);
        self
    }

    /// When it ceased to hold. Default: it holds.
    #[must_use]
    pub fn with_invalid_at(mut self, at: Timestamp) -> Self {
        self.invalid_at = Some(at);
        self
    }

    /// Who said it, by name. Default none.
    #[must_use]
    pub fn with_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Makes it one that only ends what fills its slot. Default: it is stored in any case.
    #[must_use]
    pub const fn ending_only(mut self) -> Self {
        self.ends_only = true;
        self
    }

    /// Adds a relation. Default none.
    #[must_use]
    pub fn with_relation(mut self, relation: ExtractedRelation) -> Self {
        self.relations.push(relation);
        self
    }

    /// Sets the quote. Default none.
    #[must_use]
    pub fn with_quote(mut self, quote: impl Into<String>) -> Self {
        self.quote = Some(quote.into());
        self
    }
}

/// Someone or something that a relation names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mention {
    /// The name, as it was said. [`Mention::USER`] for the user.
    pub name: String,
    /// Other names the same one goes by, such as `user's mother`.
    pub aliases: Vec<String>,
    /// What it is, such as `person` or `place`; any text.
    pub entity_type: Option<String>,
}

impl Mention {
    /// What stands for the one who speaks, where no name is known.
    pub const USER: &'static str = "user";

    /// A name and nothing else.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), aliases: Vec::new(), entity_type: None }
    }

    /// Adds another name. Default none.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// Says what it is. Default: not known.
    #[must_use]
    pub fn with_type(mut self, entity_type: impl Into<String>) -> Self {
        self.entity_type = Some(entity_type.into());
        self
    }
}

impl From<&str> for Mention {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Mention {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

/// A relation read from messages; its ends are still names. It holds as long as the fact it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExtractedRelation {
    /// The one it starts from.
    pub subject: Mention,
    /// What connects the two, such as `works_at`; any Unicode text.
    pub predicate: String,
    /// The one it leads to.
    pub object: Mention,
    /// Whether the subject has but one such object at a time, so that a new one ends the old.
    pub single_valued: bool,
}

impl ExtractedRelation {
    /// The predicate that says that subject and object are one and the same, by two names.
    pub const SAME_AS: &'static str = "same_as";

    /// A relation between two names, of which there may be several at a time.
    #[must_use]
    pub fn new(subject: impl Into<Mention>, predicate: impl Into<String>, object: impl Into<Mention>) -> Self {
        Self { subject: subject.into(), predicate: predicate.into(), object: object.into(), single_valued: false }
    }

    /// Says that there is but one at a time. Default: there may be several.
    #[must_use]
    pub fn single_valued(mut self) -> Self {
        self.single_valued = true;
        self
    }
}

/// Something that came back and was not usable as a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ignored {
    /// Why, in words, without the text itself.
    pub reason: String,
}

impl Ignored {
    /// Ignored for this reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What to extract from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExtractRequest<'a> {
    /// The messages, oldest first. Roles are the caller's word for who speaks. What the engine's own
    /// [context](crate::MemoryEngine::context) had put into them was taken out, so a message may be empty.
    pub messages: &'a [Message],
    /// The time of a message that has none of its own.
    pub now: Timestamp,
    /// The language facts are to be written in, by its English name; `None` for the user's own.
    pub language: Option<&'a str>,
    /// The categories to choose from; empty for a free choice.
    pub categories: &'a [String],
    /// Further instructions of the application.
    pub instructions: Option<&'a str>,
    /// Whether relations are wanted too.
    pub relations: bool,
    /// What may be spent on models; `None` for no limit.
    pub budget: Option<&'a CallBudget>,
}

impl<'a> ExtractRequest<'a> {
    /// Facts only, in the user's own language.
    #[must_use]
    pub fn new(messages: &'a [Message], now: Timestamp) -> Self {
        Self { messages, now, language: None, categories: &[], instructions: None, relations: false, budget: None }
    }

    /// The time message number `index` was said.
    #[must_use]
    pub fn time_of(&self, index: usize) -> Timestamp {
        self.messages.get(index).and_then(|message| message.at).unwrap_or(self.now)
    }
}

/// What was extracted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Extraction {
    /// The facts, in the order of the messages.
    pub facts: Vec<Fact>,
    /// What came back and was not usable.
    pub ignored: Vec<Ignored>,
    /// Calls of a model that were made.
    pub model_calls: u32,
    /// What they cost.
    pub usage: Usage,
}

impl Extraction {
    /// Facts found without a model.
    #[must_use]
    pub fn of(facts: Vec<Fact>) -> Self {
        Self { facts, ..Self::default() }
    }
}

/// Reads facts from messages.
///
/// The contract: facts rest on what the user (or, if wanted, the assistant) said, never on system or tool text;
/// nothing found is an empty [`Extraction`], an answer that cannot be used is an error. It only reads, so cancelling
/// is safe.
#[async_trait]
pub trait Extractor: Debug + Send + Sync + 'static {
    /// The facts in `request.messages`.
    ///
    /// # Errors
    /// What the model's client reports, [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput), and
    /// [`BudgetExhausted`](crate::ErrorKind::BudgetExhausted) where the budget does not allow a call.
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Extractor + ?Sized> Extractor for Arc<T> {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        (**self).extract(request).await
    }
}
