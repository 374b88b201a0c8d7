use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;

use super::{
    ask::{Asker, Question},
    facts::{Closed, Statement, Statements, answer_schema, read_facts},
    material::{Transcript, share_a_word},
    parse::Fitting,
    period::Period,
    relations::{self, Sorting, Vocabulary},
};
use crate::{
    ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, Ignored, Llm, Mention, Message, Result, Role,
    Timestamp, Trust,
    score::{
        names::folded,
        sameness::{normalized, same_text},
    },
};

/// The statements that the prompt itself gives as examples, which models take for facts.
const EXAMPLES: [&str; 3] = ["Moved to Tromsø in May 2023", "Lives in Tromsø", "Prefers night trains to flights"];

/// An [`Extractor`] that asks a model.
///
/// It makes one request, and a second one if the first answer was cut off or of no use; none if nobody whose words count
/// has said anything. The model sees the messages of the user and the assistant, each with its number, role, speaker and
/// date, byte for byte and in tags that no text can close; system and tool messages are not shown. Facts are read from
/// the user's words alone, unless [both speakers](Self::both_speakers) count; one that rests on other words is ignored.
///
/// The answer may have the shapes that models give to lists, in code fences, after thoughts, between sentences. What in
/// it is no fact is reported as [ignored](Extraction::ignored), except blank texts and repetitions, which are dropped; an
/// answer of nothing but the prompt's own examples is of no use. Times that cannot be (an end before the beginning) are
/// left out, not the fact.
///
/// Relations are asked for in the same request, where they are wanted ([`ExtractRequest::relations`]); without, nothing is
/// sent or read of them. At most sixteen of a fact and a thousand of an answer are taken. One that lacks a named end or a
/// predicate, has an end that is a pronoun, or has its name from the prompt alone is reported as ignored; so is one that
/// stands beside the facts if no fact names both its ends (the user counts as named).
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
    vocabulary: Vocabulary,
}

impl PromptedExtractor {
    /// An extractor that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        Self::from_asker(Asker::new(Arc::new(llm)))
    }

    pub(super) fn from_asker(asker: Asker) -> Self {
        Self {
            asker,
            language: None,
            categories: Vec::new(),
            instructions: None,
            both_speakers: false,
            verify: false,
            vocabulary: Vocabulary::default(),
        }
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

    /// What entities may be, such as `person` and `place`; another type is left out. Case and what stands between words do
    /// not count. Default: a free choice.
    pub fn entity_types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        self.vocabulary.entity_types = types.into_iter().map(Into::into).collect();
        self
    }

    /// What may connect entities, such as `works_at`, and [`ExtractedRelation::SAME_AS`] besides; a relation by another
    /// predicate is ignored. Case and what stands between words do not count. Default: a free choice.
    pub fn predicates<P: Into<String>>(mut self, predicates: impl IntoIterator<Item = P>) -> Self {
        self.vocabulary.predicates = predicates.into_iter().map(Into::into).collect();
        self
    }

    /// The predicates of which a subject has but one object at a time, and no others; the model is not asked. Default: the
    /// model's word.
    pub fn single_valued<P: Into<String>>(mut self, predicates: impl IntoIterator<Item = P>) -> Self {
        self.vocabulary.single_valued = predicates.into_iter().map(Into::into).collect();
        self
    }

    fn counts(&self, message: &Message) -> bool {
        let speaks = message.role == Role::User || (self.both_speakers && message.role == Role::Assistant);
        speaks && !message.text.trim().is_empty()
    }

    fn question(&self, request: &ExtractRequest<'_>, closed: &Closed<'_>) -> (Question, String) {
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
        if request.relations {
            line(include_str!("prompts/relations.md").trim_end());
            self.vocabulary.lines().iter().for_each(|text| line(text));
            if names.len() > 1 {
                line("In relations too, each speaker has their name, and nobody is \"user\".");
            } else if self.both_speakers {
                line("The assistant is \"assistant\".");
            }
        }
        for further in [self.instructions.as_deref(), request.instructions].into_iter().flatten() {
            line("Further instructions of the application:");
            line(further);
        }
        let Transcript { tag, text } = transcript;
        let relations = request.relations.then(|| self.vocabulary.schema());
        let schema = answer_schema(closed, relations);
        (Question { name: "facts", instructions, material: text, schema, leading: false }, tag)
    }

    /// The fact of a statement, or why it is none.
    fn fact(&self, said: &Said<'_>, statement: Statement, closed: &Closed<'_>) -> Result<Fact, Ignored> {
        let only = |reason: &str| Err(Ignored::new(reason));
        let request = said.request;
        let quote = statement.quote.filter(|quote| !quote.trim().is_empty());
        let named = statement.message.filter(|number| *number < request.messages.len());
        // The quote knows better than the number, which small models count wrong.
        let quoted = quote.as_deref().and_then(|quote| said.holding(quote, named));
        let Some(number) = quoted.or(named).or_else(|| said.counting.last().map(|(number, _)| *number)) else {
            return only("a fact that rests on no message");
        };
        let Some(message) = request.messages.get(number).filter(|message| self.counts(message)) else {
            return only("a fact that rests on a message which is not the user's");
        };
        let mut fact = Fact::new(statement.text, number).with_kind(statement.kind);
        fact.categories = closed.chosen(statement.categories);
        fact.importance = statement.importance.unwrap_or(fact.importance);
        (fact.valid_at, fact.invalid_at) = times(statement.since, statement.until, request.time_of(number));
        fact.speaker.clone_from(&message.speaker);
        fact.trust = if message.role == Role::Assistant { Trust::Assistant } else { Trust::User };
        fact.verified = self.verify.then_some(quoted.is_some());
        fact.quote = quote;
        Ok(fact)
    }
}

/// The messages as statements are held against them.
struct Said<'a> {
    request: &'a ExtractRequest<'a>,
    /// The name of the tags they were shown in.
    tag: String,
    /// Those that count, by number, normalised once: an answer may hold a thousand quotes.
    counting: Vec<(usize, String)>,
}

impl Said<'_> {
    /// The message that holds the words: the one that was named if it does, else the first. Case, runs of white space
    /// and punctuation at the ends do not count.
    fn holding(&self, words: &str, named: Option<usize>) -> Option<usize> {
        let words = normalized(words);
        let holds = |(_, text): &&(usize, String)| !words.is_empty() && text.contains(&words);
        let stated = self.counting.iter().find(|entry| Some(entry.0) == named && holds(entry));
        stated.or_else(|| self.counting.iter().find(holds)).map(|(number, _)| *number)
    }

    /// Whether a statement is none, but a piece of the prompt: one of its examples though nobody spoke of it, or the
    /// messages with their tags.
    fn is_echo(&self, statement: &Statement) -> bool {
        let spoken_of = || {
            let spoke = |message: &&Message| matches!(message.role, Role::User | Role::Assistant);
            self.request.messages.iter().filter(spoke).any(|message| share_a_word(&message.text, &statement.text))
                || statement.quote.as_deref().is_some_and(|quote| self.holding(quote, None).is_some())
        };
        let example = EXAMPLES.iter().any(|example| same_text(example, &statement.text));
        statement.text.contains(&self.tag) || (example && !spoken_of())
    }

    /// Whether a relation has a name from the prompt that nobody spoke of.
    fn is_example(&self, relation: &ExtractedRelation) -> bool {
        let spoken_of = |name: &str| {
            let spoke = |message: &&Message| matches!(message.role, Role::User | Role::Assistant);
            let said = |message: &Message| {
                let speaker = message.speaker.as_deref().unwrap_or_default();
                folded(&message.text).contains(name) || folded(speaker).contains(name)
            };
            self.request.messages.iter().filter(spoke).any(said)
        };
        [&relation.subject, &relation.object].into_iter().any(|end| {
            let name = folded(relations::bare(&end.name));
            relations::EXAMPLES.iter().any(|example| folded(example) == name) && !spoken_of(&name)
        })
    }

    /// What is told of the user in a message of somebody else: by the user's own name there, if it is known.
    fn name_user(&self, fact: &mut Fact) {
        if fact.trust != Trust::Assistant {
            return;
        }
        let users = self.request.messages.iter().filter(|message| message.role == Role::User);
        let names: HashSet<Option<&str>> = users.map(|message| message.speaker.as_deref()).collect();
        let mut names = names.into_iter();
        if let (Some(Some(name)), None) = (names.next(), names.next()) {
            for relation in &mut fact.relations {
                for end in [&mut relation.subject, &mut relation.object] {
                    if end.name == Mention::USER {
                        name.clone_into(&mut end.name);
                        end.entity_type.get_or_insert_with(|| "person".to_owned());
                    }
                }
            }
        }
    }

    fn read(&self, value: &serde_json::Value) -> Fitting<Statements> {
        let (fit, mut read) = read_facts(value)?;
        let before = read.statements.len();
        read.statements.retain(|statement| !self.is_echo(statement));
        let echoes = before - read.statements.len();
        read.ignored.extend((0..echoes).map(|_| Ignored::new("a piece of the prompt in the place of a fact")));
        (echoes == 0 || !read.statements.is_empty()).then_some((fit, read))
    }
}

/// Since when a fact holds and until when it held, where the model named a time that can be; `said` is when it was said.
fn times(since: Option<Period>, until: Option<Period>, said: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
    // An event has one day, and is remembered after it: only a state ends.
    let same_day = |period: &Period| since.is_some_and(|since| since.start.date_naive() == period.start.date_naive());
    let is_day = |period: &Period| period.end - period.start <= chrono::Duration::days(1);
    let until = until.filter(|period| !(same_day(period) && is_day(period)));
    // A day given as the message's own says nothing that its time does not say better.
    let start = since.map(|since| since.start).filter(|start| start.date_naive() != said.date_naive());
    match until {
        None => (start, None),
        // It began at an unknown time: what is certain is that it held at the end.
        Some(until) if start.is_none() && until.end <= said => {
            (Some(until.start.min(until.end - chrono::Duration::days(1))), Some(until.end))
        }
        Some(until) if until.end > start.unwrap_or(said) => (start, Some(until.end)),
        Some(_) => (None, None),
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
        let (question, tag) = self.question(request, &closed);
        let counting = request.messages.iter().enumerate().filter(|(_, message)| self.counts(message));
        let counting = counting.map(|(number, message)| (number, normalized(&message.text))).collect();
        let said = Said { request, tag, counting };
        let answer = self.asker.ask(&question, request.budget, &|value| said.read(value)).await?;
        let mut extraction = Extraction {
            ignored: answer.value.ignored,
            model_calls: answer.model_calls,
            usage: answer.usage,
            ..Extraction::default()
        };
        let mut seen = HashSet::new();
        let is_example = |relation: &ExtractedRelation| said.is_example(relation);
        let mut sorting = Sorting::new(&self.vocabulary, &is_example);
        for mut statement in answer.value.statements {
            if statement.text.is_empty() || !seen.insert(normalized(&statement.text)) {
                continue;
            }
            let told = std::mem::take(&mut statement.relations);
            match self.fact(&said, statement, &closed) {
                Ok(mut fact) => {
                    if request.relations {
                        sorting.give(&mut fact, told);
                    }
                    extraction.facts.push(fact);
                }
                Err(ignored) => extraction.ignored.push(ignored),
            }
        }
        extraction.facts.sort_by_key(|fact| fact.message);
        if request.relations {
            sorting.give_apart(&mut extraction.facts, answer.value.apart);
            extraction.ignored.extend(sorting.into_ignored());
            extraction.facts.iter_mut().for_each(|fact| said.name_user(fact));
        }
        Ok(extraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_those_of_the_prompt() {
        assert!(EXAMPLES.iter().all(|example| include_str!("prompts/extract.md").contains(example)));
    }

    #[test]
    fn times_are_those_that_can_be() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap_or_default();
        let said = at("2025-02-10T08:00:00Z");
        let day = |text: &str| at(&format!("{text}T00:00:00Z"));
        let period = |from: &str, to: &str| Some(Period { start: day(from), end: day(to) });
        let year = |year: i32| period(&format!("{year}-01-01"), &format!("{}-01-01", year + 1));
        for (since, until, expected) in [
            (None, None, (None, None)),
            (year(2020), None, (Some(day("2020-01-01")), None)),
            (year(2019), year(2020), (Some(day("2019-01-01")), Some(day("2021-01-01")))),
            (year(2020), year(2020), (Some(day("2020-01-01")), Some(day("2021-01-01")))),
            (None, year(2020), (Some(day("2020-01-01")), Some(day("2021-01-01")))),
            (None, year(2030), (None, Some(day("2031-01-01")))),
            // Nonsense: it ends before it begins.
            (year(2020), year(2019), (None, None)),
            // An event, of another day and of the message's own.
            (period("2023-05-01", "2023-05-02"), period("2023-05-01", "2023-05-02"), (Some(day("2023-05-01")), None)),
            (period("2025-02-10", "2025-02-11"), period("2025-02-10", "2025-02-11"), (None, None)),
            // It ends today.
            (None, period("2025-02-10", "2025-02-11"), (None, Some(day("2025-02-11")))),
        ] {
            assert_eq!(times(since, until, said), expected, "{since:?} {until:?}");
        }
    }
}
