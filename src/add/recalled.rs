//! What the application itself had put into a prompt is not remembered again.

use std::{borrow::Cow, collections::HashSet};

use super::{AddContext, AddReport, AddRequest, RecalledText, SkipReason, SkippedFact};
use crate::{
    Fact, MemoryId, Message, Result, Role, Scope, SearchQuery, Stage, Validity, frame::own_words,
    score::sameness::statements,
};

/// Memories that are looked at for each fact of the assistant: those whose words fit best.
const LOOKED_AT: usize = 10;

/// The messages without what a recall put there, and in the report those that had any. A message without any is as it
/// was, one without anything else is empty.
pub(super) fn without_recalled<'m>(request: &'m AddRequest, report: &mut AddReport) -> Cow<'m, [Message]> {
    let mut messages = Cow::Borrowed(request.messages.as_slice());
    for (number, message) in request.messages.iter().enumerate() {
        let Cow::Owned(own) = own_words(&message.text) else { continue };
        if matches!(message.role, Role::User | Role::Assistant) {
            report.recalled.push(RecalledText { message: number, whole: own.is_empty() });
        }
        if let Some(message) = messages.to_mut().get_mut(number) {
            message.text = own;
        }
    }
    messages
}

/// The facts but those for which the assistant only repeated, word for word, what is stored: then nobody has said it
/// anew, and it would be held against what has changed since. What the user says is never such a repetition.
pub(super) async fn without_echoes(
    context: &AddContext<'_>,
    scope: &Scope,
    messages: &[Message],
    facts: Vec<Fact>,
    report: &mut AddReport,
) -> Result<Vec<Fact>> {
    let mut kept = Vec::with_capacity(facts.len());
    for fact in facts {
        let by_assistant = messages.get(fact.message).is_some_and(|message| message.role == Role::Assistant);
        let echo = if by_assistant { said_before(context, scope, &fact).await? } else { None };
        match echo {
            Some(known) => {
                let skipped = SkippedFact { text: fact.text, known: Some(known), reason: SkipReason::Recalled };
                report.skipped.push(skipped);
            }
            None => kept.push(fact),
        }
    }
    Ok(kept)
}

/// The memory, still valid or not, whose words the fact rests on.
async fn said_before(context: &AddContext<'_>, scope: &Scope, fact: &Fact) -> Result<Option<MemoryId>> {
    let in_extract = |error: crate::Error| error.with_stage(Stage::Extract);
    let words = fact.quote.as_deref().unwrap_or(&fact.text);
    let reach = scope.across_sessions();
    let query = SearchQuery::new(reach.clone(), context.now).validity(Validity::Any).limit(LOOKED_AT).words(words);
    let candidates = context.store.search(&query).await.map_err(in_extract)?;
    let ids: Vec<MemoryId> = candidates.into_iter().map(|candidate| candidate.id).collect();
    let memories = context.store.get(&reach, &ids).await.map_err(in_extract)?;
    let repeats = |text: &str| {
        let said: HashSet<String> = statements(text).chain(statements(&flowed(text))).collect();
        let all_said = |words: &str| {
            let mut statements = statements(words).peekable();
            statements.peek().is_some() && statements.all(|statement| said.contains(&statement))
        };
        [words, quoted(words)].iter().any(|words| all_said(words) || all_said(&flowed(words)))
    };
    Ok(memories.iter().find(|memory| repeats(&memory.text)).map(|memory| memory.id))
}

/// The text on one line: a line break ends a sentence, and whoever repeats a text may break its lines elsewhere.
fn flowed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands in quotation marks, if that is most of the words: `You said: "I live in Lisbon."` The closing mark may
/// be missing, since a sentence often ends before it.
fn quoted(words: &str) -> &str {
    const MARKS: [char; 8] = ['"', '“', '”', '„', '«', '»', '「', '」'];
    let opened = words.split_once(MARKS).map_or("", |(_, rest)| rest);
    let inside = opened.rsplit_once(MARKS).map_or(opened, |(inside, _)| inside);
    if inside.len() * 2 > words.len() { inside } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_words_must_be_quoted() {
        assert_eq!(quoted("You said: \"I live in Lisbon.\""), "I live in Lisbon.");
        assert_eq!(quoted("Ты сказал: «Я живу в Казани»."), "Я живу в Казани");
        assert_eq!(quoted("You said \"yes\", so I booked the flight to Porto."), "");
        assert_eq!(quoted("You told me: “I live in Lisbon."), "I live in Lisbon.");
        assert_eq!(quoted("No marks here"), "");
        assert_eq!(quoted("One \" mark"), "");
    }
}
