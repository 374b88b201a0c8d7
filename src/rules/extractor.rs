//! Facts without a model.

use std::sync::LazyLock;

use async_trait::async_trait;

use super::{
    amend::put_right,
    clause::{clauses, skip_leads},
    ended::join_adverbs,
    english,
    foreign::{ends_reading, points_at_text, takes_back},
    language::Language,
    prose::pieces,
    reader::Reader,
    reminder::{forgotten, note, reminder},
    russian,
    sentence::{Sentence, sentences},
    token::{Token, tokens},
};
use crate::{ExtractRequest, Extraction, Extractor, Fact, Message, Result, Role, Timestamp};

/// Most tokens at the beginning of a text that are looked at to tell its language.
const LANGUAGE_SAMPLE: usize = 2_000;

static ENGLISH: LazyLock<Language> = LazyLock::new(english::language);
static RUSSIAN: LazyLock<Language> = LazyLock::new(russian::language);

/// An [`Extractor`] without a model: it reads what user messages plainly say of their author, in English and Russian.
///
/// Facts are in the third person without a subject and in the language of the message: "I moved to Lisbon" becomes
/// "Moved to Lisbon, lives there now", "я не люблю кофе" becomes "Не любит кофе". Names and other values are copied byte for byte, the
/// [quote](Fact::quote) is the clause they stand in. It knows names, homes, employers and occupations, studies, tastes,
/// diets and allergies, the family, pets, languages, ages and birthdays, and plans. What a new value replaces has a
/// [slot](Fact::slot): `user.home`, `sister.home`, `user.preference.coffee` (for liking and disliking it alike).
/// What only makes sense as the end of something known ([`Fact::ends_only`]) is marked so.
///
/// Nothing is read from messages of other roles, questions, quotations, code, documents, suppositions and reports, nor
/// after the beginning of a letter, a list or a game, or the order to write something or to work on a text; text in other
/// languages gives nothing. Of the request it heeds the categories (a label not among them is left out); it
/// cannot translate or follow instructions. [Relations](Fact::relations) come with the facts if they are asked for; see
/// [`rules`](crate::rules).
///
/// ```
/// use ingrain::{ExtractRequest, Extractor, Message, rules::RuleExtractor};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let messages = [Message::user("Hi! I live in Lisbon and I'm allergic to shellfish. What can I cook?")];
/// let request = ExtractRequest::new(&messages, "2025-02-10T08:00:00Z".parse()?);
/// let found = RuleExtractor::new().extract(&request).await?;
/// let texts: Vec<&str> = found.facts.iter().map(|fact| fact.text.as_str()).collect();
/// assert_eq!(texts, ["Lives in Lisbon", "Is allergic to shellfish"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RuleExtractor;

impl RuleExtractor {
    /// An extractor; it has no settings.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Extractor for RuleExtractor {
    /// Never fails and makes no request. Facts come in the order of the text; one said twice in a message comes once.
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let mut facts = Vec::new();
        for (index, message) in request.messages.iter().enumerate() {
            if message.role == Role::User {
                facts.extend(read(message, index, request.time_of(index)));
            }
        }
        if !request.relations {
            facts.iter_mut().for_each(|fact| fact.relations.clear());
        }
        if !request.categories.is_empty() {
            for fact in &mut facts {
                fact.categories.retain(|category| request.categories.contains(category));
            }
        }
        Ok(Extraction::of(facts))
    }
}

/// The facts in one user message.
pub(super) fn read(message: &Message, index: usize, at: Timestamp) -> Vec<Fact> {
    let text = message.text.as_str();
    let mut tokens = tokens(text, &pieces(text));
    let language = language_of(&tokens);
    join_adverbs(language, &mut tokens);
    language.calendar.mark(&mut tokens, text, at);
    let words = &language.words;
    let starts = |at: usize, phrase: &[&str]| {
        phrase.iter().enumerate().all(|(step, word)| tokens.get(at + step).is_some_and(|token| token.word == *word))
    };
    if words.jests.iter().any(|phrase| (0..tokens.len()).any(|at| starts(at, phrase))) {
        return Vec::new();
    }
    let mut reader = Reader::new(language, text, index, at, message.speaker.as_deref());
    let mut greeted = false;
    // How many facts there were before the last sentence.
    let mut before = 0;
    let sentences = sentences(&tokens);
    let points =
        |sentence: &Sentence| points_at_text(language, tokens.get(sentence.tokens.clone()).unwrap_or_default());
    if sentences.iter().any(points) {
        return Vec::new();
    }
    let last = sentences.len().saturating_sub(1);
    // The last sentence, as it was read.
    let mut told: Vec<Token> = Vec::new();
    for (number, sentence) in sentences.into_iter().enumerate() {
        let whole = tokens.get(sentence.tokens).unwrap_or_default();
        let begins = number < last && reader.facts.is_empty();
        let reminder = reminder(language, whole);
        let inside = reminder.unwrap_or(whole);
        if ends_reading(language, whole, begins) || (reminder.is_some() && ends_reading(language, inside, begins)) {
            break;
        }
        if takes_back(language, inside) {
            reader.take_back(before);
            continue;
        }
        let greets = inside
            .iter()
            .find(|token| token.is_word())
            .is_some_and(|token| words.greetings.contains(token.word.as_str()));
        let greeted_here = greeted || greets;
        if let Some(forgotten) = forgotten(language, whole).filter(|_| !sentence.asks) {
            before = reader.facts.len();
            reader.forget(forgotten);
            told.clear();
            continue;
        }
        let amended = put_right(&reader, &told, inside, greeted_here);
        if amended.as_ref().is_some_and(|amended| amended.of_the_last) {
            reader.take_back(before);
        }
        before = reader.facts.len();
        let inside = amended.as_ref().map_or(inside, |amended| amended.tokens.as_slice());
        reader.sentence(inside, sentence.asks, greeted_here);
        let plain = !sentence.asks
            && clauses(language, inside, false)
                .first()
                .is_some_and(|only| only.tokens == (skip_leads(language, inside, 0, inside.len())..inside.len()));
        if plain && reminder.is_some() && reader.facts.len() == before {
            reader.facts.extend(note(language, text, inside, index, at, message.speaker.as_deref()));
        }
        // "Hi! I'm Alice."
        greeted = greets && inside.len() < 6 && reader.facts.len() == before;
        told = if sentence.asks { Vec::new() } else { inside.to_vec() };
    }
    reader.facts
}

/// The table for a text: Russian where Cyrillic words prevail.
fn language_of(tokens: &[Token]) -> &'static Language {
    let mut cyrillic = 0_i32;
    for token in tokens.iter().filter(|token| token.is_word()).take(LANGUAGE_SAMPLE) {
        let is_cyrillic = token.word.chars().next().is_some_and(|first| ('\u{400}'..='\u{52f}').contains(&first));
        cyrillic += if is_cyrillic { 1 } else { -1 };
    }
    if cyrillic > 0 { &RUSSIAN } else { &ENGLISH }
}
