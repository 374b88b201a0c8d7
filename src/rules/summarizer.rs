//! A summary made of the sentences that were said.

mod kind;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kind::{Kind, Reading, Speaker};

use crate::{
    Error, Message, Result, Role, SummarizeRequest, Summarizer, Summary,
    score::{centrality::text_rank, sameness::same_text},
    text::{count_words, cut, sentences},
};

/// Most sentences that are held against each other: the work grows with their square.
const MOST_SENTENCES: usize = 300;
/// Longest name of a speaker, in characters.
const NAME_LIMIT: usize = 40;
/// A sentence that shares this part of its words with one that was taken says nothing new.
const SAID_ALREADY: f32 = 0.8;
/// A question that shares this part with another that was taken asks the same again ("and day three?", "and day four?").
const ASKED_ALREADY: f32 = 0.5;
/// What a sentence of the summary so far is multiplied by, which has been chosen among several.
const KEPT: f32 = 1.5;
/// What the summary so far, and what the new sentences may take of the words before the other had its share: else what is
/// known would keep out what is new for ever, or the other way round.
const OLD_SHARE: f32 = 0.67;
const NEW_SHARE: f32 = 0.5;
/// What questions may take of the words where anything else was told.
const QUESTION_SHARE: f32 = 0.25;

/// A [`Summarizer`] without a model: it takes what the user told and the sentences that say most of what the others say,
/// too, and leaves out the rest.
///
/// What the user says of himself, or with names, numbers, times, preferences and constraints, comes first, the summary so
/// far before what is new; then the other statements, the assistant's after the user's of like weight; then some of the
/// user's questions. Greetings, thanks, offers and what the assistant asks are taken only if there is nothing else, and
/// what was said already is passed over. Sentences are copied byte for byte, in the order they were said in, each after the
/// name or role of its speaker, so the summary is in the language of the messages; it resolves neither "he" nor
/// "yesterday". It heeds the number of words exactly, and no language: where its tables (six languages) know none of the
/// words, it goes by question marks, digits, capitals and who speaks.
///
/// Deterministic. It never fails but for want of anything to summarise. Beyond 300 sentences each message is looked at in
/// part.
///
/// # Source
/// Mihalcea and Tarau, "TextRank: Bringing Order into Texts", EMNLP 2004: sentences are linked by the content words they
/// share, divided by the sum of the logarithms of their lengths (here of one more than their number of words, so that
/// single words count), and ranked by a weighted PageRank. Here only statements vote, and none for its own repetition, and
/// the rank r counts as 0.5 + r / (1 + r), so that what is said once is not lost. The rest is this crate's own.
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
    reading: Reading,
    /// Whether it is from the summary so far.
    old: bool,
}

impl Told {
    fn new(who: Option<String>, text: &str, speaker: Speaker, old: bool) -> Self {
        Self { who, text: text.to_owned(), reading: kind::read(text, speaker), old }
    }
}

/// The sentences of the summary so far and of the messages, no more than can be held against each other.
fn told(previous: &str, messages: &[Message]) -> Vec<Told> {
    let mut told = Vec::new();
    // A name in the summary so far is the user's unless it is known to be somebody else's.
    let others: BTreeSet<&str> = ["Assistant", "Tool"]
        .into_iter()
        .chain(messages.iter().filter(|message| message.role != Role::User).filter_map(|message| name_of(message)))
        .collect();
    for line in previous.lines() {
        let (who, text) = speaker_of(line);
        let speaker = if who.is_some_and(|who| others.contains(who)) { Speaker::Other } else { Speaker::User };
        told.extend(sentences(text).into_iter().map(|text| Told::new(who.map(str::to_owned), text, speaker, true)));
    }
    let mut said: Vec<Vec<Told>> =
        messages.iter().filter(|message| message.role != Role::System).map(sentences_of).collect();
    let count = |said: &[Vec<Told>]| said.iter().map(Vec::len).sum::<usize>();
    let room = MOST_SENTENCES.saturating_sub(told.len());
    let states = |told: &Told| told.reading.kind <= Kind::Statement;
    if count(&said) > room && said.iter().flatten().any(states) {
        said.iter_mut().for_each(|said| said.retain(states));
    }
    let each = if count(&said) > room { (room / said.len().max(1)).max(1) } else { usize::MAX };
    told.extend(said.into_iter().flat_map(|sentences| sentences.into_iter().take(each)));
    if told.len() > MOST_SENTENCES {
        let count = told.len();
        // Evenly from all of them.
        let places: BTreeSet<usize> = (0..MOST_SENTENCES).map(|number| number * count / MOST_SENTENCES).collect();
        told = told.into_iter().enumerate().filter(|(place, _)| places.contains(place)).map(|(_, told)| told).collect();
    }
    told
}

/// The name of who wrote a message. A name that this module would not read back is no name.
fn name_of(message: &Message) -> Option<&str> {
    message.speaker.as_deref().map(str::trim).filter(|name| speaker_of(&format!("{name}: x")).0 == Some(name))
}

fn sentences_of(message: &Message) -> Vec<Told> {
    let (role, speaker) = match message.role {
        Role::User => ("User", Speaker::User),
        Role::Tool => ("Tool", Speaker::Other),
        Role::Assistant | Role::System => ("Assistant", Speaker::Other),
    };
    let who = Some(name_of(message).unwrap_or(role).to_owned());
    let said = sentences(&message.text).into_iter().map(|text| Told::new(who.clone(), text, speaker, false));
    let mut said: Vec<Told> = said.collect();
    if said.is_empty() {
        let calls = message.tool_calls.iter().map(|call| format!("(calls {})", call.name.trim()));
        said.extend(calls.map(|text| Told::new(who.clone(), &text, speaker, false)));
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
    let order = by_weight(told, &terms);
    let of = |kind: Kind| -> Vec<usize> {
        let is_of = |place: &usize| told.get(*place).is_some_and(|told| told.reading.kind == kind);
        order.iter().copied().filter(is_of).collect()
    };
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let words = |chosen: &BTreeSet<usize>| count_words(&rendered(told, chosen));
    let mut choose = |places: &[usize], limit: &dyn Fn(&Told) -> usize| {
        for place in places {
            let Some((candidate, own)) = told.get(*place).zip(terms.get(*place)) else { continue };
            let says_nothing_new = chosen.iter().any(|other| {
                let other = told.get(*other).zip(terms.get(*other));
                other.is_some_and(|(other, words)| says_no_more((candidate, own), (other, words)))
            });
            if says_nothing_new || !chosen.insert(*place) {
                continue;
            }
            let alike = |other: &Told| {
                other.old == candidate.old
                    && (other.reading.kind == Kind::Question) == (candidate.reading.kind == Kind::Question)
            };
            let alike = chosen.iter().copied().filter(|other| told.get(*other).is_some_and(alike)).collect();
            if words(&alike) > limit(candidate) || words(&chosen) > max_words {
                chosen.remove(place);
            }
        }
        chosen.is_empty()
    };
    let shares = |told: &Told| share(max_words, if told.old { OLD_SHARE } else { NEW_SHARE });
    // One kind after the other, so that nothing the user told makes room for chatter, however new.
    for kind in [Kind::Telling, Kind::Statement] {
        let places = of(kind);
        choose(&places, &shares);
        choose(&places, &|_| max_words);
    }
    let questions = of(Kind::Question);
    if choose(&questions, &|_| share(max_words, QUESTION_SHARE)) {
        choose(&questions, &|_| max_words);
    }
    let talk = of(Kind::Talk);
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

/// The places of the sentences, the weightiest first.
fn by_weight(told: &[Told], terms: &[Vec<u32>]) -> Vec<usize> {
    let votes = |place: usize| {
        let told = told.get(place).filter(|told| told.reading.kind <= Kind::Statement);
        told.and_then(|_| terms.get(place))
    };
    let ranks = text_rank(told.len(), |one, other| {
        votes(one).zip(votes(other)).map_or(0.0, |(one, other)| {
            // Else what is said again and again would be what matters.
            if is_within(one, other, SAID_ALREADY) || is_within(other, one, SAID_ALREADY) {
                0.0
            } else {
                alike(one, other)
            }
        })
    });
    let weight = |(told, rank): (&Told, f32)| {
        let kept = if told.old { KEPT } else { 1.0 };
        told.reading.weight * kept * (0.5 + rank / (1.0 + rank))
    };
    let mut order: Vec<(usize, f32)> = told.iter().zip(ranks).map(weight).enumerate().collect();
    order.sort_by(|(one, left), (other, right)| right.total_cmp(left).then(one.cmp(other)));
    order.into_iter().map(|(place, _)| place).collect()
}

/// Whether a sentence says nothing that another does not. What the user tells with another number is new.
fn says_no_more((one, own): (&Told, &[u32]), (other, words): (&Told, &[u32])) -> bool {
    if same_text(&other.text, &one.text) {
        return true;
    }
    let asked = one.reading.kind == Kind::Question && other.reading.kind == Kind::Question;
    let part = if asked { ASKED_ALREADY } else { SAID_ALREADY };
    let is_number = |term: &&String| term.chars().any(char::is_numeric);
    let adds_number = one.reading.kind == Kind::Telling
        && one.reading.terms.iter().filter(is_number).any(|term| !other.reading.terms.contains(term));
    !adds_number && is_within(own, words, part)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of words"
)]
fn share(max_words: usize, part: f32) -> usize {
    (max_words as f32 * part) as usize
}

/// The content words of each sentence, as numbers in order.
fn numbered_terms(told: &[Told]) -> Vec<Vec<u32>> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut numbered = Vec::with_capacity(told.len());
    for told in told {
        let mut terms = Vec::with_capacity(told.reading.terms.len());
        for term in &told.reading.terms {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            terms.push(*numbers.entry(term).or_insert(next));
        }
        terms.sort_unstable();
        numbered.push(terms);
    }
    numbered
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
fn is_within(own: &[u32], other: &[u32], part: f32) -> bool {
    !own.is_empty() && shared(own, other) as f32 >= part * own.len() as f32
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
