//! Grades for two answers, by a model. With the feature `eval`: it is there that answers are compared.

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{
    ask::{Asker, Question},
    facts::is_placeholder,
    material::tag_for,
    parse::{Fit, Fitting},
    schema::strict,
};
use crate::{Llm, Result};

/// What an answer is graded by, unless another rubric is given.
const RUBRIC: &str = "\
- 10: draws on everything known that bears on the question, rightly and as a matter of course, and answers it.
- 7 or 8: draws on most of it.
- 4 or 5: answers the question, and would fit anybody.
- 2 or 3: passes over what plainly bears on the question, or does not answer it.
- 1: contradicts what is known, or proposes what it rules out.
Things known that do not bear on the question need not be mentioned, and dragging them in is no merit.";

/// The justifications that the prompt itself gives as examples.
const EXAMPLES: [&str; 2] =
    ["It reckons with the sore knee and proposes the tram.", "It would fit anybody, and proposes to run."];
/// What the schema says of a justification.
const DESCRIPTION: &str = "Why, in one or two sentences.";

/// The answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct GradesForm {
    /// Of answer A.
    a: GradeForm,
    /// Of answer B.
    b: GradeForm,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct GradeForm {
    /// Why, in one or two sentences.
    justification: String,
    /// From 1 to 10.
    score: u8,
}

/// A judge that asks a model: grades two answers to one question from 1 to 10 against a rubric, each with a justification.
///
/// It makes one request, and a second one if the first answer was cut off or of no use: a grade that is outside 1 to 10 or
/// missing, as is one without a justification, is of no use. The model is told neither where an answer comes from nor that
/// the two differ in what they were made with; it sees them as A and B, word for word, as data. An answer that speaks of
/// its own memory gives itself away all the same. Decimals and numbers in strings are taken.
///
/// It is a [`Judge`](crate::evaluate::personalization::Judge).
#[derive(Debug, Clone)]
#[must_use]
pub struct PromptedJudge {
    asker: Asker,
    rubric: String,
}

/// A grade.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Graded {
    pub(crate) score: f64,
    pub(crate) justification: String,
}

impl PromptedJudge {
    /// A judge that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        Self { asker: Asker::new(Arc::new(llm)), rubric: RUBRIC.to_owned() }
    }

    /// What the grades mean, from 1 to 10; it stands in the prompt as it is. Default: 10 for drawing on all that is known
    /// and bears on the question, 4 or 5 for an answer that would fit anybody, 1 for contradicting what is known.
    pub fn rubric(mut self, rubric: impl Into<String>) -> Self {
        self.rubric = rubric.into();
        self
    }

    /// The model's name.
    pub(crate) fn name(&self) -> &str {
        self.asker.llm().name()
    }

    /// The grades of A and of B.
    ///
    /// # Errors
    /// [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput) if the second reply is of no use either; else as the
    /// model.
    pub(crate) async fn grade(&self, question: &str, known: &[String], answers: [&str; 2]) -> Result<[Graded; 2]> {
        let known = known.iter().map(String::as_str);
        let [a, b] = answers;
        let tag = tag_for([question, a, b].into_iter().chain(known.clone()));
        let mut material = String::new();
        let known = known.map(|fact| ("known", fact));
        for (holds, text) in [("question", question)].into_iter().chain(known).chain([("answer A", a), ("answer B", b)])
        {
            // Writing to a string does not fail.
            let _ = writeln!(material, "<{tag} holds=\"{holds}\">\n{text}\n</{tag}>");
        }
        let instructions = format!(
            "{}\n{}\n\nThe tags are named `{tag}`. Write in the language of the question.",
            include_str!("prompts/judge.md").trim_end(),
            self.rubric.trim()
        );
        let asked = Question { name: "grades", instructions, material, schema: strict::<GradesForm>(), leading: false };
        let answer = self.asker.ask(&asked, None, &|value| read_grades(value, &tag)).await?;
        Ok(answer.value)
    }
}

fn read_grades(value: &Value, tag: &str) -> Fitting<[Graded; 2]> {
    let members = value.as_object()?;
    Some((Fit::Whole, [read_grade(member(members, "a")?, tag)?, read_grade(member(members, "b")?, tag)?]))
}

/// The member of this name, also as `A` or `answer_a`.
fn member<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let is_it = |key: &str| {
        let key = key.to_ascii_lowercase();
        key.strip_prefix("answer").unwrap_or(&key).trim_start_matches(['_', ' ', '-']) == name
    };
    members.iter().find_map(|(key, value)| is_it(key).then_some(value))
}

fn read_grade(value: &Value, tag: &str) -> Option<Graded> {
    let members = value.as_object()?;
    let score = match members.get("score")? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let justification = members.get("justification")?.as_str()?.trim();
    let echo = EXAMPLES.into_iter().chain([DESCRIPTION]).any(|said| letters(said).eq(letters(justification)));
    let empty = justification.is_empty() || is_placeholder(justification) || justification.contains(tag);
    let sound = (1.0..=10.0).contains(&score) && !echo && !empty;
    sound.then(|| Graded { score, justification: justification.to_owned() })
}

/// Models that repeat the prompt drop a comma or two.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_examples_are_those_of_the_prompt_and_of_the_schema() {
        let prompt = include_str!("prompts/judge.md");
        assert!(EXAMPLES.iter().all(|example| prompt.contains(example)));
        let schema = strict::<GradesForm>();
        let described = schema.pointer("/properties/a/properties/justification/description");
        assert_eq!(described.and_then(Value::as_str), Some(DESCRIPTION));
    }

    #[test]
    fn grades_are_read_leniently_and_checked_strictly() {
        let grade = |score: Value, why: &str| json!({"score": score, "justification": why});
        let read = |a: Value, b: Value| read_grades(&json!({"a": a, "b": b}), "message-1").map(|(_, grades)| grades);
        let good = || grade(json!(7), "Names the tram.");
        let scores = |read: Option<[Graded; 2]>| read.map(|grades| grades.map(|grade| grade.score));
        assert_eq!(scores(read(good(), grade(json!("2.5"), "No."))), Some([7.0, 2.5]));
        let other = json!({"Answer A": good(), "answer_b": grade(json!(1), "Bad."), "winner": "A"});
        assert!(read_grades(&other, "message-1").is_some());
        for bad in [
            grade(json!(0), "Bad."),
            grade(json!(10.5), "Good."),
            grade(json!(-3), "Bad."),
            grade(json!("7/10"), "Good."),
            grade(json!(null), "Good."),
            grade(json!(7), " "),
            grade(json!(7), "..."),
            grade(json!(7), "See <message-1>"),
            grade(json!(7), EXAMPLES.first().copied().unwrap_or_default()),
            grade(json!(7), "it would fit anybody and proposes to run"),
            json!({"score": 7}),
            json!({"justification": "Good."}),
            json!(7),
        ] {
            assert_eq!(read(good(), bad.clone()), None, "{bad}");
            assert_eq!(read(bad.clone(), good()), None, "{bad}");
        }
        assert_eq!(read_grades(&json!({"a": good()}), "message-1"), None);
        assert_eq!(read_grades(&json!([good(), good()]), "message-1"), None);
    }
}
