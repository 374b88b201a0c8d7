//! What memory does to answers: the same questions, answered with it and without, and graded blind.
//!
//! A [`PersonalizationCase`] is a question of somebody, the facts that bear on it, and what was said before. A
//! [`Responder`] answers each question twice, with the [context](MemoryEngine::context) that the engine has for it and
//! without any; a [`Judge`] grades both from 1 to 10 without being told which is which, in both orders; and by rules that
//! need no model it is counted how many of the facts each answer [uses and contradicts](measure). The
//! [`PersonalizationReport`] has each case, the mean gain with its confidence interval, and prints as a Markdown table.
//!
//! Over a real model, with any that implements [`Llm`](crate::Llm) for either part:
//!
//! ```no_run
//! use ingrain::evaluate::personalization::{LlmResponder, Personalization, PersonalizationCase};
//! use ingrain::{Llm, MemoryEngine, Message, Scope, prompted::PromptedJudge};
//! # async fn example(memory: MemoryEngine, model: impl Llm, judging: impl Llm) -> ingrain::Result<()> {
//! let ann = PersonalizationCase::new(Scope::user("ann"), "What shall I cook tonight?", ["Is allergic to shellfish"])
//!     .history([Message::user("I'm allergic to shellfish."), Message::assistant("Noted.")]);
//!
//! let (responder, judge) = (LlmResponder::new(model), PromptedJudge::new(judging));
//! let report = Personalization::new(&memory, &responder).judge(&judge).budget(800).run(&[ann]).await?;
//! println!("{report}\n{}", serde_json::to_string_pretty(&report).unwrap_or_default());
//! # Ok(())
//! # }
//! ```
//!
//! The judge should not be the model that answers, which favours its own words (Panickssery, Bowman and Feng, "LLM
//! Evaluators Recognize and Favor Their Own Generations", 2024), and thirty cases are few: look at the interval.
//!
//! # Source
//! Grades against a rubric with a reason, and both orders to cancel the leaning to a place: Zheng et al., "Judging
//! LLM-as-a-Judge with MT-Bench and Chatbot Arena", NeurIPS 2023. Answers with and without the user's own past side by side:
//! Salemi et al., "LaMP: When Large Language Models Meet Personalization", ACL 2024. The interval is that of
//! [`PairedBootstrap`].

mod judge;
mod report;
mod respond;
mod rules;

use serde::{Deserialize, Serialize};

pub use judge::{AnswerPair, Grade, Judge};
pub use report::{AnswerRow, PersonalizationReport, PersonalizationRow};
pub use respond::{LlmResponder, Responder, ResponderFn};
pub use rules::{Measured, measure};

#[cfg(doc)]
use super::bootstrap::PairedBootstrap;
use crate::{Error, MemoryEngine, Message, Result, Scope, TokenBudget};

/// A question whose answer should depend on who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PersonalizationCase {
    /// Who asks: where the history is remembered and recalled from.
    pub scope: Scope,
    /// The question.
    pub question: String,
    /// What is true of who asks and bears on the question, one short statement each. The memory is not given them: it has
    /// to have learned them.
    pub facts: Vec<String>,
    /// What was said before and is remembered first; empty if the scope holds it already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
}

impl PersonalizationCase {
    /// A question, and the facts that bear on it.
    #[must_use]
    pub fn new<F: Into<String>>(scope: Scope, question: impl Into<String>, facts: impl IntoIterator<Item = F>) -> Self {
        let facts = facts.into_iter().map(Into::into).collect();
        Self { scope, question: question.into(), facts, history: Vec::new() }
    }

    /// What was said before. Default: nothing that the scope does not hold.
    #[must_use]
    pub fn history(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.history = messages.into_iter().collect();
        self
    }

    fn validate(&self) -> Result<()> {
        self.scope.validate()?;
        if self.question.trim().is_empty() || self.facts.iter().any(|fact| fact.trim().is_empty()) {
            return Err(Error::invalid("the question of a personalization case, or one of its facts, is blank"));
        }
        Ok(())
    }
}

/// A case with both answers: what can be kept, and graded by several judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnsweredCase {
    /// The question.
    pub question: String,
    /// The facts that bear on it.
    pub facts: Vec<String>,
    /// What the memory had for the question; empty for nothing.
    pub context: String,
    /// The answer with it.
    pub with: String,
    /// The answer without.
    pub without: String,
}

impl AnsweredCase {
    /// A question, and the answers with memory and without, wherever they were made.
    #[must_use]
    pub fn new(case: &PersonalizationCase, context: impl Into<String>, answers: [String; 2]) -> Self {
        let [with, without] = answers;
        let (question, facts) = (case.question.clone(), case.facts.clone());
        Self { question, facts, context: context.into(), with, without }
    }
}

/// An evaluation: asks with memory and without, and grades what is answered.
#[derive(Debug)]
#[must_use]
pub struct Personalization<'a> {
    memory: &'a MemoryEngine,
    responder: &'a dyn Responder,
    judge: Option<&'a dyn Judge>,
    budget: TokenBudget,
}

impl<'a> Personalization<'a> {
    /// Compares what the responder says with this memory and without any.
    pub fn new(memory: &'a MemoryEngine, responder: &'a dyn Responder) -> Self {
        Self { memory, responder, judge: None, budget: TokenBudget::new(800) }
    }

    /// Who grades. Default: nobody; the rules count alone.
    pub fn judge(mut self, judge: &'a dyn Judge) -> Self {
        self.judge = Some(judge);
        self
    }

    /// How much of the memory goes into a prompt. Default 800 tokens.
    pub fn budget(mut self, budget: impl Into<TokenBudget>) -> Self {
        self.budget = budget.into();
        self
    }

    /// Answers the cases, and compares the answers. One after the other.
    ///
    /// # Errors
    /// As [`answers`](Self::answers) and [`PersonalizationReport::of`].
    pub async fn run(&self, cases: &[PersonalizationCase]) -> Result<PersonalizationReport> {
        let answered = self.answers(cases).await?;
        PersonalizationReport::of(&answered, self.judge).await
    }

    /// Answers the cases in their order: remembers the history of each, then asks its question with what the memory has
    /// for it, and without. Nothing of the answers is remembered. A scope that several cases name holds the histories
    /// of those before.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope, a blank question or a blank fact in any of
    /// the cases, and then nothing was remembered; what the memory or the responder report.
    pub async fn answers(&self, cases: &[PersonalizationCase]) -> Result<Vec<AnsweredCase>> {
        cases.iter().try_for_each(PersonalizationCase::validate)?;
        let mut answered = Vec::with_capacity(cases.len());
        for case in cases {
            if !case.history.is_empty() {
                self.memory.add(&case.scope, case.history.clone()).await?;
            }
            let context = self.memory.context(&case.scope, &case.question, self.budget).await?.text;
            let known = (!context.is_empty()).then_some(context.as_str());
            let with = self.responder.respond(&case.question, known).await?;
            let without = self.responder.respond(&case.question, None).await?;
            answered.push(AnsweredCase::new(case, context, [with, without]));
        }
        Ok(answered)
    }
}
