//! Facts without a model.

use std::{collections::HashSet, sync::LazyLock};

use async_trait::async_trait;

use super::{
    clause::{clauses, sentences},
    english,
    language::{Language, Row, Topic, Value},
    pattern::{Found, Pattern, View},
    prose::pieces,
    russian,
    token::{Token, tokens},
    value::{Cut, cut},
    when::Wording,
};
use crate::{ExtractRequest, Extraction, Extractor, Fact, Message, Result, Role, Timestamp};

/// How often the rest of a clause is read again ("I work as a nurse at the clinic" is two).
const MOST_CONTINUATIONS: usize = 3;

/// Longest value, in tokens, that names a slot.
const LONGEST_KEY: usize = 5;

/// Most tokens at the beginning of a text that are looked at to tell its language.
const LANGUAGE_SAMPLE: usize = 2_000;

static ENGLISH: LazyLock<Language> = LazyLock::new(english::language);
static RUSSIAN: LazyLock<Language> = LazyLock::new(russian::language);

/// An [`Extractor`] without a model: it reads what user messages plainly say of their author, in English and Russian.
///
/// Facts are in the third person without a subject and in the language of the message: "I moved to Lisbon" becomes
/// "Moved to Lisbon", "я не люблю кофе" becomes "Не любит кофе". Names and other values are copied byte for byte, the
/// [quote](Fact::quote) is the clause they stand in. It knows names, homes, employers and occupations, studies, tastes,
/// diets and allergies, the family, pets, languages, ages and birthdays, and plans. What a new value replaces has a
/// [slot](Fact::slot): `user.home`, `sister.home`, `user.preference.coffee` (for liking and disliking it alike).
///
/// Nothing is read from messages of other roles, questions, quotations, code, documents, suppositions and reports; text
/// in other languages gives nothing. Of the request it heeds the categories (a label not among them is left out); it
/// cannot translate or follow instructions, and finds no relations.
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
        if !request.categories.is_empty() {
            for fact in &mut facts {
                fact.categories.retain(|category| request.categories.contains(category));
            }
        }
        Ok(Extraction::of(facts))
    }
}

/// The facts in one user message.
fn read(message: &Message, index: usize, at: Timestamp) -> Vec<Fact> {
    let text = message.text.as_str();
    let tokens = tokens(text, &pieces(text));
    let language = language_of(&tokens);
    let words = &language.words;
    let starts = |at: usize, phrase: &[&str]| {
        phrase.iter().enumerate().all(|(step, word)| tokens.get(at + step).is_some_and(|token| token.word == *word))
    };
    if words.jests.iter().any(|phrase| (0..tokens.len()).any(|at| starts(at, phrase))) {
        return Vec::new();
    }
    let mut reader = Reader {
        language,
        text,
        index,
        at,
        speaker: message.speaker.as_deref(),
        facts: Vec::new(),
        texts: HashSet::new(),
    };
    let mut greeted = false;
    for sentence in sentences(&tokens) {
        let inside = tokens.get(sentence.tokens).unwrap_or_default();
        let mut opening = inside.iter().take(4).filter(|token| token.is_word());
        if opening.clone().any(|token| words.pastes.contains(token.word.as_str())) && !speaks(language, inside) {
            break;
        }
        let greets = opening.next().is_some_and(|token| words.greetings.contains(token.word.as_str()));
        let before = reader.facts.len();
        for clause in clauses(language, inside, sentence.asks) {
            let Some(tokens) = inside.get(clause.tokens) else { continue };
            reader.clause(tokens, clause.understood, greeted || greets);
        }
        // "Hi! I'm Alice."
        greeted = greets && inside.len() < 6 && reader.facts.len() == before;
    }
    reader.facts
}

/// Whether the sentence speaks of its author, so that a verb such as "translate" in it is no order.
fn speaks(language: &Language, tokens: &[Token]) -> bool {
    let first = tokens.iter().find(|token| token.is_word());
    first.is_some_and(|token| language.words.subjects.contains(token.word.as_str()) && token.word != "you")
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

struct Reader<'a> {
    language: &'static Language,
    text: &'a str,
    index: usize,
    at: Timestamp,
    speaker: Option<&'a str>,
    facts: Vec<Fact>,
    /// Of the facts so far: a thing said twice is one.
    texts: HashSet<String>,
}

impl Reader<'_> {
    /// Reads one clause: the statement it makes, then what it mentions.
    fn clause(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        self.statement(tokens, understood, greeted);
        let quote = quote(self.text, tokens);
        for at in 0..tokens.len() {
            let view = View { prefix: &[], tokens: tokens.get(at..).unwrap_or_default() };
            if let Some((fact, _)) = self.fact(&self.language.mentions, view, false) {
                self.add(fact, quote);
            }
        }
    }

    /// Tries each of the beginnings that may be understood, until one says something.
    fn statement(&mut self, tokens: &[Token], understood: &[&[&str]], greeted: bool) {
        let quote = quote(self.text, tokens);
        let bare: [&[&str]; 1] = [&[]];
        for prefix in bare.iter().chain(understood) {
            let Some((fact, mut rest)) = self.fact(&self.language.rows, View { prefix, tokens }, greeted) else {
                continue;
            };
            self.add(fact, quote);
            for _ in 0..MOST_CONTINUATIONS {
                let Some(view) = rest else { break };
                let Some((fact, further)) = self.fact(&self.language.rows, view, false) else { break };
                self.add(fact, quote);
                rest = further;
            }
            return;
        }
    }

    fn add(&mut self, mut fact: Fact, quote: Option<&str>) {
        if !self.texts.insert(fact.text.clone()) {
            return;
        }
        fact.quote = quote.map(str::to_owned);
        fact.speaker = self.speaker.map(str::to_owned);
        self.facts.push(fact);
    }

    /// The fact of the first row that fits, and what is left to read.
    fn fact<'v>(
        &self,
        rows: &[(Pattern, &'static Row)],
        view: View<'v>,
        greeted: bool,
    ) -> Option<(Fact, Option<View<'v>>)> {
        let first = view.word(0)?;
        let language = self.language;
        rows.iter().filter(|(pattern, _)| pattern.may_begin(first)).find_map(|(pattern, row)| {
            if row.value == Value::Introduced && !greeted {
                return None;
            }
            let found = pattern.find(language, view)?;
            let value = match found.values[0] {
                Some(place) => Some(cut(language, view, place, row.value, row.resume, self.at)?),
                None => None,
            };
            let second = match found.values[1] {
                Some(place) => {
                    // "Prefers tea to coffee", but not "prefers notes to stay focused".
                    let alone = row.value == Value::Word && place.1.is_none();
                    let second = cut(language, view, place, Value::Thing, &[], self.at)?;
                    if alone && second.end - second.start > 1 {
                        return None;
                    }
                    Some(second)
                }
                None => None,
            };
            let fact = self.filled(row, view, &found, value.as_ref(), second.as_ref())?;
            let rest = value.and_then(|value| {
                let stop = view.word(value.rest)?;
                let (_, beginning) = row.resume.iter().find(|(word, _)| *word == stop)?;
                let from = (value.rest + 1).checked_sub(view.prefix.len())?;
                Some(View { prefix: beginning, tokens: view.tokens.get(from..)? })
            });
            Some((fact, rest))
        })
    }

    fn filled(
        &self,
        row: &Row,
        view: View<'_>,
        found: &Found,
        value: Option<&Cut>,
        second: Option<&Cut>,
    ) -> Option<Fact> {
        let slice = |from: usize, to: usize| {
            let first = view.token(from)?;
            let last = view.token(to.checked_sub(1)?)?;
            self.text.get(first.start..last.end)
        };
        let v = value.and_then(|cut| slice(cut.start, cut.end)).unwrap_or_default();
        let w = second.and_then(|cut| slice(cut.start, cut.end)).unwrap_or_default();
        let (class, key) = match &found.class {
            Some((from, to, key)) => (slice(*from, *to)?, key.as_str()),
            None => ("", ""),
        };
        let when = value.and_then(|cut| {
            Some((cut.when.as_ref()?, slice(cut.rest.checked_sub(cut.when.as_ref()?.len)?, cut.rest)?))
        });
        let time = match when {
            Some((when, raw)) => match &when.wording {
                Wording::AsIs => format!(" {raw}"),
                Wording::Instead(text) => format!(" {text}"),
                Wording::Dropped | Wording::Habit => String::new(),
            },
            None => String::new(),
        };
        let text = row
            .text
            .replace("{C}", &capitalised(class))
            .replace("{c}", class)
            .replace("{t}", &time)
            .replace("{w}", w)
            .replace("{v}", v);
        let mut fact = Fact::new(text, self.index)
            .with_kind(row.topic.kind())
            .with_category(row.topic.category())
            .with_importance(row.topic.importance());
        // A description ("a small town") does not say that the place by name is no longer right.
        let described = row.value == Value::Dwelling && slice(value?.start, value?.end)?.starts_with("a ");
        // A mother is one, sisters may be several, and then a second name replaces nothing.
        let shared = row.slot == "{k}.name" && self.language.class_key("only-one", key).is_none();
        // What takes a sentence to say is never said again in the same words.
        let wordy = row.slot.contains("{v}") && value.is_some_and(|cut| cut.end - cut.start > LONGEST_KEY);
        if !row.slot.is_empty() && !described && !shared && !wordy {
            let thing = |cut: Option<&Cut>| cut.map(|cut| self.key(view, cut)).unwrap_or_default();
            let slot = row.slot.replace("{k}", key).replace("{v}", &thing(value)).replace("{w}", &thing(second));
            fact = fact.with_slot(slot);
        }
        if row.topic != Topic::Plans {
            fact.valid_at = when.and_then(|(when, _)| when.from).filter(|from| *from <= self.at);
        }
        Some(fact)
    }

    /// A value as slots spell it: folded, without an article.
    fn key(&self, view: View<'_>, cut: &Cut) -> String {
        let mut key = String::new();
        for at in cut.start..cut.end {
            let Some(token) = view.token(at) else { continue };
            if key.is_empty() && self.language.words.articles.contains(token.word.as_str()) {
                continue;
            }
            if !key.is_empty() && !token.is(",") {
                key.push(' ');
            }
            key.push_str(&token.word);
        }
        crate::score::sameness::normalized(&key)
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The words of a clause as they stand in the message.
fn quote<'t>(text: &'t str, tokens: &[Token]) -> Option<&'t str> {
    let (first, last) = tokens.first().zip(tokens.last())?;
    text.get(first.start..last.end)
}
