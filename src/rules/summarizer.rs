//! A summary made of the sentences that were said.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::{
    Error, Message, Result, Role, SummarizeRequest, Summarizer, Summary,
    cues::Cues,
    index::content_terms,
    score::{centrality::text_rank, sameness::same_text},
    text::{count_words, cut, sentences},
};

/// Most sentences that are held against each other: the work grows with their square.
const MOST_SENTENCES: usize = 300;
/// Longest name of a speaker, in characters.
const NAME_LIMIT: usize = 40;
/// A sentence that shares this part of its words with one that was taken says nothing new.
const SAID_ALREADY: f32 = 0.8;

// What a sentence's weight is multiplied by. Chosen by reading summaries of a few dozen chats, not tuned by a measure.
/// For a sentence of the summary so far, which stands for several.
const KEPT: f32 = 1.5;
/// For what the user says, and for what a tool gave.
const USER: f32 = 1.25;
const TOOL: f32 = 0.6;
/// For a sentence that names a time or a number, or tells of a change.
const TELLING: f32 = 1.2;
/// For a question.
const QUESTION: f32 = 0.5;
/// For a sentence of fewer than three words that are no stop words: agreement and the like.
const SMALL_TALK: f32 = 0.4;
const SMALL_TALK_TERMS: usize = 3;
/// With fewer than this it is thanks or a greeting, and taken only if there is nothing else.
const LEAST_TERMS: usize = 2;
/// What the summary so far, and what the new sentences may take of the words before the other had its share: else what is
/// known would keep out what is new for ever, or the other way round.
const OLD_SHARE: f32 = 0.67;
const NEW_SHARE: f32 = 0.5;
/// Of two sentences with one weight the shorter is worth more: so many words halve it.
const HALVING_WORDS: f32 = 40.0;

/// A [`Summarizer`] without a model: it takes the sentences that say most of what the others say, too, and leaves out the
/// rest.
///
/// A sentence of the summary so far counts more than a new one, what the user says more than what the assistant answers,
/// what names a time, a number or a change more than what does not; questions, thanks and greetings count less. What says nothing
/// new is passed over. Sentences are copied byte for byte, in the order they were said in, each after the name or role of
/// its speaker, so the summary is in the language of the messages; it resolves neither "he" nor "yesterday". It
/// heeds the number of words exactly, and no language.
///
/// Deterministic. It never fails but for want of anything to summarise. Beyond 300 sentences each message is looked at in
/// part.
///
/// # Source
/// Mihalcea and Tarau, "TextRank: Bringing Order into Texts", EMNLP 2004: sentences are linked by the content words they
/// share, divided by the sum of the logarithms of their lengths (here of one more than their number of words, so that
/// single words count), and ranked by a weighted PageRank. The factors above are this crate's own.
///
/// ```
/// use ingrain::{Message, SummarizeRequest, Summarizer, rules::RuleSummarizer};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let messages = [
///     Message::user("Hi! I'm planning a trip to Porto in May with my sister."),
///     Message::assistant("How nice! When do you leave?"),
///     Message::user("Thanks. My sister cannot climb stairs, so the hotel needs a lift."),
/// ];
/// let summary = RuleSummarizer::new().summarize(&SummarizeRequest::new(&messages, 30)).await?;
/// assert_eq!(
///     summary.text,
///     "User: I'm planning a trip to Porto in May with my sister. \
///      My sister cannot climb stairs, so the hotel needs a lift."
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RuleSummarizer;

impl RuleSummarizer {
    /// A summariser; it has no settings.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Summarizer for RuleSummarizer {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        if request.messages.iter().all(|message| message.role == Role::System) {
            return Err(Error::invalid("nothing to summarise: no message"));
        }
        let told = told(request.previous.unwrap_or_default(), request.messages);
        let text = shortened(&told, request.max_words.max(1));
        let text = text.ok_or_else(|| Error::invalid("nothing to summarise: every message is blank"))?;
        Ok(Summary::of(text))
    }
}

/// A sentence, and who said it; nobody where the summary so far does not say.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    who: Option<String>,
    text: String,
    /// What it counts beside its rank.
    factor: f32,
    /// Whether it is from the summary so far.
    old: bool,
}

/// The sentences of the summary so far and of the messages, no more than can be held against each other.
fn told(previous: &str, messages: &[Message]) -> Vec<Told> {
    let mut told = Vec::new();
    for line in previous.lines() {
        let (who, text) = speaker_of(line);
        let factor = KEPT * if who == Some("User") { USER } else { 1.0 };
        let said = sentences(text).into_iter();
        told.extend(said.map(|text| Told { who: who.map(str::to_owned), text: text.to_owned(), factor, old: true }));
    }
    let said: Vec<Vec<Told>> =
        messages.iter().filter(|message| message.role != Role::System).map(sentences_of).collect();
    let count: usize = said.iter().map(Vec::len).sum();
    let room = MOST_SENTENCES.saturating_sub(told.len());
    let each = if count > room { (room / said.len().max(1)).max(1) } else { usize::MAX };
    told.extend(said.into_iter().flat_map(|sentences| sentences.into_iter().take(each)));
    if told.len() > MOST_SENTENCES {
        let count = told.len();
        // Evenly from all of them.
        let places: BTreeSet<usize> = (0..MOST_SENTENCES).map(|number| number * count / MOST_SENTENCES).collect();
        told = told.into_iter().enumerate().filter(|(place, _)| places.contains(place)).map(|(_, told)| told).collect();
    }
    told
}

fn sentences_of(message: &Message) -> Vec<Told> {
    let (role, factor) = match message.role {
        Role::User => ("User", USER),
        Role::Tool => ("Tool", TOOL),
        Role::Assistant | Role::System => ("Assistant", 1.0),
    };
    // A name that this module would not read back is no name.
    let named =
        message.speaker.as_deref().map(str::trim).filter(|name| speaker_of(&format!("{name}: x")).0 == Some(name));
    let who = Some(named.unwrap_or(role).to_owned());
    let said = sentences(&message.text).into_iter().map(|text| Told {
        who: who.clone(),
        text: text.to_owned(),
        factor,
        old: false,
    });
    let mut said: Vec<Told> = said.collect();
    if said.is_empty() {
        let calls = message.tool_calls.iter().map(|call| format!("(calls {})", call.name.trim()));
        said.extend(calls.map(|text| Told { who: who.clone(), text, factor: TOOL, old: false }));
    }
    said
}

/// The speaker that a line begins with, and what he says.
fn speaker_of(line: &str) -> (Option<&str>, &str) {
    let is_name = |name: &&str| {
        !name.is_empty()
            && *name == name.trim()
            && name.chars().count() <= NAME_LIMIT
            && !name.chars().any(|character| matches!(character, '.' | '!' | '?' | ':' | '\n' | '\r' | '。'))
    };
    match line.split_once(": ").filter(|(name, _)| is_name(name)) {
        Some((name, text)) => (Some(name), text),
        None => (None, line),
    }
}

/// The sentences that weigh most, as many as the words allow; `None` without any.
fn shortened(told: &[Told], max_words: usize) -> Option<String> {
    let terms: Vec<Vec<u32>> = numbered_terms(told);
    let ranks = text_rank(told.len(), |one, other| {
        terms.get(one).zip(terms.get(other)).map_or(0.0, |(one, other)| alike(one, other))
    });
    let mut order: Vec<(usize, f32)> = told
        .iter()
        .zip(&terms)
        .zip(ranks)
        .map(|((told, terms), rank)| rank * told.factor * worth(&told.text, terms.len()))
        .enumerate()
        .collect();
    order.sort_by(|(one, left), (other, right)| right.total_cmp(left).then(one.cmp(other)));
    // Small talk is what is left if there is nothing else.
    let tells = |place: &usize| {
        let (told, terms) = (told.get(*place), terms.get(*place).map_or(0, Vec::len));
        terms >= LEAST_TERMS || told.is_some_and(|told| telling(&told.text))
    };
    let order: Vec<usize> = order.into_iter().map(|(place, _)| place).collect();
    let (matter, talk): (Vec<usize>, Vec<usize>) = order.iter().copied().partition(tells);
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let words = |chosen: &BTreeSet<usize>| count_words(&rendered(told, chosen));
    let mut choose = |places: &[usize], shares: bool| {
        for place in places {
            let Some((candidate, own)) = told.get(*place).zip(terms.get(*place)) else { continue };
            let says_nothing_new = chosen.iter().any(|other| {
                let other = told.get(*other).zip(terms.get(*other));
                other.is_some_and(|(other, words)| same_text(&other.text, &candidate.text) || is_within(own, words))
            });
            if says_nothing_new || !chosen.insert(*place) {
                continue;
            }
            let alike =
                chosen.iter().copied().filter(|other| told.get(*other).is_some_and(|other| other.old == candidate.old));
            let too_many = shares && words(&alike.collect()) > share(max_words, candidate.old);
            if too_many || words(&chosen) > max_words {
                chosen.remove(place);
            }
        }
    };
    choose(&matter, true);
    choose(&matter, false);
    if chosen.is_empty() {
        let mut order = talk;
        order.sort_unstable();
        for place in order {
            let with = BTreeSet::from_iter(chosen.iter().copied().chain([place]));
            if words(&with) <= max_words {
                chosen = with;
            }
        }
    }
    if !chosen.is_empty() {
        return Some(rendered(told, &chosen));
    }
    // Not one of them fits as it is.
    let best = order.first().and_then(|place| told.get(*place))?;
    let line = |text: &str| rendered(&[Told { text: text.to_owned(), ..best.clone() }], &BTreeSet::from([0]));
    let with_speaker = cut(&best.text, |piece| count_words(&line(piece)) <= max_words).map(line);
    with_speaker.or_else(|| cut(&best.text, |piece| count_words(piece) <= max_words).map(str::to_owned))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of words"
)]
fn share(max_words: usize, old: bool) -> usize {
    (max_words as f32 * if old { OLD_SHARE } else { NEW_SHARE }) as usize
}

/// The content words of each sentence, as numbers in order.
fn numbered_terms(told: &[Told]) -> Vec<Vec<u32>> {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut number = |term: String| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(term).or_insert(next)
    };
    told.iter()
        .map(|told| {
            // In one order, or the numbers would differ from run to run.
            let terms: BTreeSet<String> = content_terms(&told.text.to_lowercase()).into_iter().collect();
            let mut terms: Vec<u32> = terms.into_iter().map(&mut number).collect();
            terms.sort_unstable();
            terms
        })
        .collect()
}

fn shared(one: &[u32], other: &[u32]) -> usize {
    one.iter().filter(|term| other.binary_search(term).is_ok()).count()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn alike(one: &[u32], other: &[u32]) -> f32 {
    let shared = shared(one, other);
    if shared == 0 { 0.0 } else { shared as f32 / ((1.0 + one.len() as f32).ln() + (1.0 + other.len() as f32).ln()) }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn is_within(own: &[u32], other: &[u32]) -> bool {
    !own.is_empty() && shared(own, other) as f32 >= SAID_ALREADY * own.len() as f32
}

/// What a sentence is worth by its words alone.
#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn worth(text: &str, terms: usize) -> f32 {
    let cues = Cues::of(text);
    let telling = if telling(text) { TELLING } else { 1.0 };
    let small_talk = if terms < SMALL_TALK_TERMS { SMALL_TALK } else { 1.0 };
    let question = 1.0 - (1.0 - QUESTION) * cues.asks;
    telling * small_talk * question / (1.0 + cues.words as f32 / HALVING_WORDS)
}

/// Whether it names a time or a number, or tells of a change.
fn telling(text: &str) -> bool {
    let cues = Cues::of(text);
    cues.tells_time || cues.tells_number || cues.tells_change
}

/// The sentences in their order, those that one speaker said one behind the other in one line.
fn rendered(told: &[Told], chosen: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut before: Option<&Told> = None;
    for told in chosen.iter().filter_map(|place| told.get(*place)) {
        match before {
            // What has no end mark could not be told from what follows.
            Some(before) if before.who == told.who && is_ended(&before.text) => text.push(' '),
            before => {
                text.push_str(if before.is_some() { "\n" } else { "" });
                if let Some(who) = &told.who {
                    text.push_str(who);
                    text.push_str(": ");
                }
            }
        }
        text.push_str(&told.text);
        before = Some(told);
    }
    text
}

fn is_ended(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(['"', '\'', '”', '»', ')', ']', '*', '_']);
    sentence.ends_with(['.', '!', '?', '…', '。', '！', '？', '؟'])
}

#[cfg(test)]
mod tests;
