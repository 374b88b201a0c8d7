use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result, prompted::PromptedJudge};

/// Two answers to one question, for a [`Judge`] to grade. Nothing in it tells where they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerPair<'a> {
    /// The question.
    pub question: &'a str,
    /// What is known about who asked and bears on the question.
    pub facts: &'a [String],
    /// One answer.
    pub first: &'a str,
    /// The other.
    pub second: &'a str,
}

impl<'a> AnswerPair<'a> {
    /// Two answers to a question, and the facts that bear on it.
    #[must_use]
    pub const fn new(question: &'a str, facts: &'a [String], first: &'a str, second: &'a str) -> Self {
        Self { question, facts, first, second }
    }
}

/// What a [`Judge`] thinks of one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grade {
    /// From 1 to 10; decimals are allowed.
    pub score: f64,
    /// Why, in a sentence or two.
    pub justification: String,
}

impl Grade {
    /// A grade.
    #[must_use]
    pub fn new(score: f64, justification: impl Into<String>) -> Self {
        Self { score, justification: justification.into() }
    }
}

/// Grades answers: a model ([`PromptedJudge`]), a panel of models, people.
#[async_trait]
pub trait Judge: Debug + Send + Sync + 'static {
    /// Who judges: for the report.
    fn name(&self) -> &str;

    /// The grades of the first answer and of the second, by what they say and not by their order. Each is asked for twice,
    /// with the answers in both orders, so that a leaning to one place cancels out.
    ///
    /// # Errors
    /// [`UnusableModelOutput`](ErrorKind::UnusableModelOutput) where it came to no judgement, and
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) where it cannot judge this pair, such as one that is too long: the
    /// pair is then listed as unjudged. Any other error ends the evaluation.
    async fn judge(&self, pair: &AnswerPair<'_>) -> Result<[Grade; 2]>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Judge + ?Sized> Judge for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn judge(&self, pair: &AnswerPair<'_>) -> Result<[Grade; 2]> {
        (**self).judge(pair).await
    }
}

#[async_trait]
impl Judge for PromptedJudge {
    fn name(&self) -> &str {
        Self::name(self)
    }

    async fn judge(&self, pair: &AnswerPair<'_>) -> Result<[Grade; 2]> {
        let graded = self.grade(pair.question, pair.facts, [pair.first, pair.second]).await?;
        Ok(graded.map(|graded| Grade { score: graded.score, justification: graded.justification }))
    }
}

/// The grades of two answers, in both orders.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Of the answer with memory: when it came first, when it came second.
    pub(super) with: [Grade; 2],
    /// Of the one without: the same.
    pub(super) without: [Grade; 2],
}

/// Judges in both orders. The inner error is that of a pair that cannot be judged.
pub(super) async fn in_both_orders(
    judge: &dyn Judge,
    question: &str,
    facts: &[String],
    with: &str,
    without: &str,
) -> Result<Result<Judgement>> {
    let one = checked(judge, &AnswerPair::new(question, facts, with, without)).await?;
    let [with_first, without_second] = match one {
        Ok(grades) => grades,
        Err(error) => return Ok(Err(error)),
    };
    let other = checked(judge, &AnswerPair::new(question, facts, without, with)).await?;
    Ok(other.map(|[without_first, with_second]| Judgement {
        with: [with_first, with_second],
        without: [without_first, without_second],
    }))
}

/// A judge of one's own may be as wrong as a model.
async fn checked(judge: &dyn Judge, pair: &AnswerPair<'_>) -> Result<Result<[Grade; 2]>> {
    let grades = match judge.judge(pair).await {
        Ok(grades) => grades,
        Err(error) if matches!(error.kind(), ErrorKind::UnusableModelOutput | ErrorKind::InvalidArgument) => {
            return Ok(Err(error));
        }
        Err(error) => return Err(error),
    };
    let sound = |grade: &Grade| (1.0..=10.0).contains(&grade.score) && !grade.justification.trim().is_empty();
    Ok(if grades.iter().all(sound) {
        Ok(grades)
    } else {
        let message = "a grade outside 1 to 10, or without a justification";
        Err(Error::new(ErrorKind::UnusableModelOutput, message).with_backend(judge.name()))
    })
}
