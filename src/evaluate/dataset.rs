use std::collections::HashSet;

use serde::Serialize;

use super::{GivenFact, LeftOut};
use crate::{Role, Timestamp};

/// Conversations with questions whose answers are known to stand in certain turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Dataset {
    /// What it is called.
    pub name: String,
    /// The conversations. Their names differ.
    pub conversations: Vec<Conversation>,
    /// What was left out when it was loaded, and why.
    pub left_out: LeftOut,
}

impl Dataset {
    /// A data set from which nothing was left out. Of conversations with one name the second becomes `name#2`, and so
    /// on: the name is the user whose memory a conversation becomes.
    #[must_use]
    pub fn new(name: impl Into<String>, mut conversations: Vec<Conversation>) -> Self {
        let mut taken: HashSet<String> = HashSet::new();
        for conversation in &mut conversations {
            let (plain, mut number) = (conversation.name.clone(), 1);
            while !taken.insert(conversation.name.clone()) {
                number += 1;
                conversation.name = format!("{plain}#{number}");
            }
        }
        Self { name: name.into(), conversations, left_out: LeftOut::default() }
    }

    /// How many turns there are.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.turns.len()).sum()
    }

    /// How many facts are given.
    #[must_use]
    pub fn facts(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.facts.len()).sum()
    }

    /// How many questions there are.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.questions.len()).sum()
    }
}

/// What was said, oldest first, and what is asked about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// Names it within its data set; the user whose memory it becomes.
    pub name: String,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// The questions.
    pub questions: Vec<Question>,
    /// What the data set says that its turns tell, where it does.
    pub facts: Vec<GivenFact>,
}

impl Conversation {
    /// A conversation without facts.
    #[must_use]
    pub fn new(name: impl Into<String>, turns: Vec<Turn>, questions: Vec<Question>) -> Self {
        Self { name: name.into(), turns, questions, facts: Vec::new() }
    }

    /// Says what its turns tell. Default: nothing.
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<GivenFact>) -> Self {
        self.facts = facts;
        self
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// The session it was said in.
    pub session: String,
    /// Who said it: the user or the assistant.
    pub role: Role,
    /// Who said it, by name.
    pub speaker: Option<String>,
    /// What was said; never blank in a data set that was loaded.
    pub text: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// The id that the data set gives it.
    pub id: String,
}

impl Turn {
    /// A turn without a speaker and a time.
    #[must_use]
    pub fn new(session: impl Into<String>, role: Role, text: impl Into<String>, id: impl Into<String>) -> Self {
        Self { session: session.into(), role, speaker: None, text: text.into(), at: None, id: id.into() }
    }

    /// Names the speaker. Default none.
    #[must_use]
    pub fn from_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Says when it was said. Default: when it is added.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Whether [`add`](crate::MemoryEngine::add) keeps such a turn. The loaders leave the others out.
    pub(super) fn can_be_kept(&self) -> bool {
        matches!(self.role, Role::User | Role::Assistant) && !self.text.trim().is_empty()
    }
}

/// A question about a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Question {
    /// The question.
    pub text: String,
    /// Its kind, as the data set names it.
    pub category: String,
    /// The turns that answer it, by their place in the conversation: sorted, each once, at least one.
    pub evidence: Vec<usize>,
    /// When it is asked.
    pub asked_at: Option<Timestamp>,
    /// Where its answer was said first and where it was changed.
    pub update: Option<Update>,
}

impl Question {
    /// A question without a time and an update; the evidence is sorted, and kept once each. `None` without evidence:
    /// such a question cannot be scored.
    #[must_use]
    pub fn new(text: impl Into<String>, category: impl Into<String>, evidence: Vec<usize>) -> Option<Self> {
        let evidence = places(evidence);
        let question = Self { text: text.into(), category: category.into(), evidence, asked_at: None, update: None };
        (!question.evidence.is_empty()).then_some(question)
    }

    /// Says when it is asked. Default none.
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
        self
    }

    /// Says where the answer was said first and where it was changed. Default none.
    #[must_use]
    pub fn with_update(mut self, update: Update) -> Self {
        self.update = Some(update);
        self
    }
}

/// The turns that give an answer and those that change it later, by their place in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Update {
    /// Where the first answer stands: sorted, each once, at least one.
    pub original: Vec<usize>,
    /// Where the newer answer stands: sorted, each once, at least one.
    pub updated: Vec<usize>,
}

impl Update {
    /// An update; `None` if one of the two has no turn.
    #[must_use]
    pub fn new(original: Vec<usize>, updated: Vec<usize>) -> Option<Self> {
        let update = Self { original: places(original), updated: places(updated) };
        (!update.original.is_empty() && !update.updated.is_empty()).then_some(update)
    }
}

fn places(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}
