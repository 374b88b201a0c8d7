use std::fmt;

use serde::Serialize;

use super::{
    AnsweredCase, Grade, Judge,
    judge::{Judgement, in_both_orders},
    measure,
};
use crate::{
    Result,
    evaluate::bootstrap::{Comparison, PairedBootstrap},
};

/// Longest question in a table, in characters.
const SHOWN: usize = 60;

/// One of the two answers of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerRow {
    /// The answer.
    pub answer: String,
    /// The mean of its grades, 1 to 10; `None` where there is no judge, or no judgement.
    pub score: Option<f64>,
    /// Its grades: as the first of the two, and as the second. Empty where there is no score.
    pub grades: Vec<Grade>,
    /// The share of the facts that it uses, by [`measure`].
    pub used: Option<f64>,
    /// The facts that it contradicts, by [`measure`].
    pub contradicted: Vec<String>,
}

/// A case of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PersonalizationRow {
    /// The question.
    pub question: String,
    /// The facts that bear on it.
    pub facts: Vec<String>,
    /// What the memory had for the question; empty for nothing.
    pub context: String,
    /// The answer with memory.
    pub with: AnswerRow,
    /// The answer without.
    pub without: AnswerRow,
    /// Why the judge came to no judgement, if it did not: the case counts in no mean of grades.
    pub unjudged: Option<String>,
}

/// How answers with memory compare with those without. Prints as a Markdown table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PersonalizationReport {
    /// Each case, in their order.
    pub rows: Vec<PersonalizationRow>,
    /// Who judged.
    pub judge: Option<String>,
    /// The mean gain in grades, with memory minus without, −9 to 9, over the cases that were judged; `None` if none was.
    pub judged: Option<Comparison>,
    /// The mean gain in the share of facts used, −1 to 1, over the cases of which it can be told; `None` if there is none.
    pub used: Option<Comparison>,
    /// How many facts are contradicted by the answers with memory, and by those without.
    pub contradicted: (usize, usize),
    /// By how much, in the mean, an answer is graded better as the first of the two than as the second: −9 to 9. It has
    /// cancelled out in the gain, and says how much it leans on it that it does. `None` if nothing was judged.
    pub order_effect: Option<f64>,
    /// How many cases the judge came to no judgement on.
    pub unjudged: usize,
}

impl PersonalizationReport {
    /// Compares answers: grades them if there is a judge, in both orders, and measures them by rules in any case. The score
    /// of an answer is the mean of its two grades; a case of which one order cannot be judged is not judged.
    ///
    /// # Errors
    /// What the judge reports, but for [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput) and
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument): with these the case is listed as unjudged.
    pub async fn of(answered: &[AnsweredCase], judge: Option<&dyn Judge>) -> Result<Self> {
        let mut rows = Vec::with_capacity(answered.len());
        for case in answered {
            let mut row = PersonalizationRow::measured(case);
            if let Some(judge) = judge {
                match in_both_orders(judge, &case.question, &case.facts, &case.with, &case.without).await? {
                    Ok(judgement) => row.take(judgement),
                    Err(error) => row.unjudged = Some(error.to_string()),
                }
            }
            rows.push(row);
        }
        Ok(Self::over(rows, judge.map(|judge| judge.name().to_owned())))
    }

    fn over(rows: Vec<PersonalizationRow>, judge: Option<String>) -> Self {
        let contradicted = |answer: fn(&PersonalizationRow) -> &AnswerRow| -> usize {
            rows.iter().map(|row| answer(row).contradicted.len()).sum()
        };
        let effects: Vec<f64> = rows.iter().filter_map(PersonalizationRow::order_effect).collect();
        Self {
            judged: compare(rows.iter().map(|row| (row.without.score, row.with.score))),
            used: compare(rows.iter().map(|row| (row.without.used, row.with.used))),
            contradicted: (contradicted(|row| &row.with), contradicted(|row| &row.without)),
            order_effect: (!effects.is_empty()).then(|| effects.iter().sum::<f64>() / effects.len() as f64),
            unjudged: rows.iter().filter(|row| row.unjudged.is_some()).count(),
            judge,
            rows,
        }
    }
}

/// Over those that have both.
fn compare(pairs: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> Option<Comparison> {
    let pairs = pairs.filter_map(|(without, with)| without.zip(with));
    let (without, with): (Vec<f64>, Vec<f64>) = pairs.unzip();
    PairedBootstrap::new().compare(&without, &with).ok()
}

impl PersonalizationRow {
    fn measured(case: &AnsweredCase) -> Self {
        let measured = |answer: &str| {
            let measured = measure(&case.question, &case.facts, answer);
            let contradicted = measured.contradicted.iter().filter_map(|place| case.facts.get(*place).cloned());
            AnswerRow {
                answer: answer.to_owned(),
                score: None,
                grades: Vec::new(),
                used: measured.used,
                contradicted: contradicted.collect(),
            }
        };
        let (with, without) = (measured(&case.with), measured(&case.without));
        let (question, facts, context) = (case.question.clone(), case.facts.clone(), case.context.clone());
        Self { question, facts, context, with, without, unjudged: None }
    }

    fn take(&mut self, judgement: Judgement) {
        for (row, grades) in [(&mut self.with, judgement.with), (&mut self.without, judgement.without)] {
            row.score = Some(grades.iter().map(|grade| grade.score).sum::<f64>() / 2.0);
            row.grades = grades.into();
        }
    }

    /// Grades as the first minus grades as the second.
    fn order_effect(&self) -> Option<f64> {
        let lead = |row: &AnswerRow| match &row.grades[..] {
            [first, second] => Some(first.score - second.score),
            _ => None,
        };
        Some((lead(&self.with)? + lead(&self.without)?) / 2.0)
    }
}

impl fmt::Display for PersonalizationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judge = self.judge.is_some();
        f.write_str("| question |")?;
        let grades = if judge { ["grade with", "without", "gain"].as_slice() } else { &[] };
        let rules = ["facts used with", "without", "contradicted with", "without"];
        let names: Vec<&str> = grades.iter().chain(&rules).copied().collect();
        names.iter().try_for_each(|name| write!(f, " {name} |"))?;
        write!(f, "\n|{}", " --- |".repeat(names.len() + 1))?;
        for row in &self.rows {
            write!(f, "\n| {} |", cell(&row.question))?;
            if judge {
                let gain = row.with.score.zip(row.without.score).map(|(with, without)| with - without);
                number(f, row.with.score)?;
                number(f, row.without.score)?;
                match gain {
                    Some(gain) => write!(f, " {gain:+.2} |")?,
                    None => f.write_str(" unjudged |")?,
                }
            }
            number(f, row.with.used)?;
            number(f, row.without.used)?;
            write!(f, " {} | {} |", row.with.contradicted.len(), row.without.contradicted.len())?;
        }
        f.write_str("\n")?;
        if let Some(judge) = &self.judge {
            write!(f, "\ngain in grades, by {judge}: ")?;
            gain(f, self.judged.as_ref())?;
            if let Some(effect) = self.order_effect {
                write!(f, "; an answer that comes first is graded {effect:+.2}, which cancels out")?;
            }
        }
        f.write_str("\ngain in facts used: ")?;
        gain(f, self.used.as_ref())?;
        let (with, without) = self.contradicted;
        write!(f, "\nfacts contradicted: {with} with memory, {without} without")?;
        for row in &self.rows {
            if let Some(why) = &row.unjudged {
                write!(f, "\nunjudged: {}: {why}", cell(&row.question))?;
            }
        }
        Ok(())
    }
}

fn number(f: &mut fmt::Formatter<'_>, number: Option<f64>) -> fmt::Result {
    match number {
        Some(number) => write!(f, " {number:.2} |"),
        None => f.write_str(" – |"),
    }
}

fn gain(f: &mut fmt::Formatter<'_>, gain: Option<&Comparison>) -> fmt::Result {
    let Some(Comparison { difference, low, high, p_value, questions }) = gain else {
        return f.write_str("nothing to compare");
    };
    write!(f, "{difference:+.2}, 95 % interval {low:+.2} to {high:+.2}, p {p_value:.3}, cases {questions}")
}

/// A text that breaks no table.
fn cell(text: &str) -> String {
    let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = shown.char_indices().nth(SHOWN).and_then(|(end, _)| shown.get(..end));
    cut.map_or_else(|| shown.clone(), |cut| format!("{cut}…")).replace('|', "\\|")
}
