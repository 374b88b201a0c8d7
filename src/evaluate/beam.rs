//! BEAM: a user works with an assistant for months, and questions for ten abilities are asked about it.
//!
//! # Source
//! Tavakoli et al., "Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025; repository
//! `mohammadtavakoli78/BEAM`.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use super::{
    Conversation, Dataset, LeftOut, Question, Turn, Update,
    files::{Fault, at_fault, entries, json, keep, later},
    left_out::reason,
};
use crate::{Error, Result, Role, Timestamp};

const CHAT: &str = "chat.json";
/// Beside the chat, or in a folder of the same name, as in the original repository.
const QUESTIONS: [&str; 2] = ["probing_questions.json", "probing_questions/probing_questions.json"];
/// The ability to say that the conversation holds no answer: there is nothing to find.
const ABSTENTION: &str = "abstention";

#[derive(Deserialize)]
struct Batch {
    turns: Vec<Vec<Message>>,
}

#[derive(Deserialize)]
struct Message {
    id: u64,
    role: Role,
    content: String,
    time_anchor: Option<String>,
}

#[derive(Deserialize)]
struct Probe {
    question: String,
    source_chat_ids: Option<Value>,
}

/// Reads BEAM from folders: each is a chat (`chat.json`, `probing_questions.json`) or holds folders that are.
///
/// A batch is a session. Its messages are dated half a minute apart from the last time anchor on. The mark `->-> 1,2`
/// that ends some messages is dropped. The category of a question is its ability; those of `abstention`, and those
/// that name no message, are left out, and [counted](Dataset::left_out). For `knowledge_update` the messages of
/// `original_info` and `updated_info` make the [`Update`]. A chat has so few batches that scores by session say little.
/// Blocks while reading.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the file and what is wrong: unreadable, no JSON,
/// another form, a time anchor that is no date, a message id that is there twice; a folder without chats; no path.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Dataset> {
    let (mut conversations, mut left_out) = (Vec::new(), LeftOut::default());
    for folder in folders(paths)? {
        let (turns, places) = chat(&folder.join(CHAT))?;
        left_out.add(reason::TURN, places.values().filter(|place| place.is_none()).count());
        let files = QUESTIONS.map(|file| folder.join(file));
        let [beside, _] = &files;
        let file = files.iter().find(|file| file.is_file()).unwrap_or(beside);
        let questions = questions(file, &places, &mut left_out)?;
        let name = folder.file_name().map_or_else(|| "chat".into(), |name| name.to_string_lossy().into_owned());
        conversations.push(Conversation::new(name, turns, questions));
    }
    let mut dataset = Dataset::new("beam", conversations);
    dataset.left_out = left_out;
    Ok(dataset)
}

/// The folders that are chats.
fn folders<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        if path.join(CHAT).is_file() {
            folders.push(path.to_owned());
            continue;
        }
        if !path.is_dir() {
            return Err(at_fault(path, "no such folder"));
        }
        let mut found = entries(path)?;
        found.retain(|folder| folder.join(CHAT).is_file());
        if found.is_empty() {
            return Err(at_fault(path, "no chat.json in this folder, nor in the folders inside it"));
        }
        folders.extend(found);
    }
    if folders.is_empty() {
        return Err(Error::invalid("a data set needs at least one folder"));
    }
    Ok(folders)
}

/// Where each message stands; `None` for one that was left out.
type Places = HashMap<u64, Option<usize>>;

/// The messages, and where each id stands.
fn chat(file: &Path) -> Result<(Vec<Turn>, Places)> {
    let batches: Vec<Batch> = json(file)?;
    let mut turns = Vec::new();
    let mut places = Places::new();
    let mut anchor: Option<(Timestamp, usize)> = None;
    for (number, batch) in batches.into_iter().enumerate() {
        for message in batch.turns.into_iter().flatten() {
            if places.contains_key(&message.id) {
                return Err(at_fault(file, &format!("two messages have the id {}", message.id)));
            }
            if let Some(date) = message.time_anchor.as_deref().filter(|date| !date.trim().is_empty()) {
                let day = time(date).ok_or_else(|| {
                    at_fault(file, &format!("the time anchor of message {} is no readable date", message.id))
                })?;
                anchor = Some((day, 0));
            }
            let text = unmarked(&message.content);
            let mut turn = Turn::new((number + 1).to_string(), message.role, text, message.id.to_string());
            if let Some((day, said)) = &mut anchor {
                turn.at = later(*day, *said);
                *said += 1;
            }
            places.insert(message.id, keep(&mut turns, turn));
        }
    }
    if turns.is_empty() {
        return Err(at_fault(file, "no message"));
    }
    Ok((turns, places))
}

fn questions(file: &Path, places: &Places, left_out: &mut LeftOut) -> Result<Vec<Question>> {
    let abilities: BTreeMap<String, Vec<Probe>> = json(file)?;
    let mut questions = Vec::new();
    for (ability, probes) in abilities {
        if ability == ABSTENTION {
            left_out.add(reason::NO_ANSWER, probes.len());
            continue;
        }
        for (number, probe) in probes.iter().enumerate() {
            let question = read_question(&ability, probe, places, left_out);
            let named = |what| at_fault(file, &format!("{ability}, question {}: {what}", number + 1));
            questions.extend(question.map_err(named)?);
        }
    }
    Ok(questions)
}

/// `None` for a question without evidence.
fn read_question(
    ability: &str,
    probe: &Probe,
    places: &Places,
    left_out: &mut LeftOut,
) -> Result<Option<Question>, Fault> {
    if probe.question.trim().is_empty() {
        return Err("`question` is blank".into());
    }
    let sources = probe.source_chat_ids.as_ref().unwrap_or(&Value::Null);
    let (mut named, mut odd) = (Vec::new(), 0);
    ids(sources, &mut named, &mut odd);
    let stand = |ids: &[u64]| -> Vec<usize> { ids.iter().filter_map(|id| places.get(id).copied().flatten()).collect() };
    left_out.add(reason::UNKNOWN_ID, odd + named.iter().filter(|id| !places.contains_key(id)).count());
    let Some(mut question) = Question::new(&probe.question, ability, stand(&named)) else {
        left_out.add(if named.is_empty() { reason::NO_EVIDENCE } else { reason::EVIDENCE_NOT_THERE }, 1);
        return Ok(None);
    };
    if let [Some(original), Some(updated)] = ["original_info", "updated_info"].map(|part| sources.get(part)) {
        let [original, updated] = [original, updated].map(|part| {
            let mut named = Vec::new();
            ids(part, &mut named, &mut 0);
            stand(&named)
        });
        question.update = Update::new(original, updated);
        left_out.add("updates whose old or new answer is not there", usize::from(question.update.is_none()));
    }
    Ok(Some(question))
}

/// The ids in numbers, texts, lists and objects, however deep; what is there and holds none is `odd`.
fn ids(value: &Value, found: &mut Vec<u64>, odd: &mut usize) {
    let before = found.len();
    match value {
        Value::Null => return,
        Value::Bool(_) => {}
        Value::Number(number) => found.extend(number.as_u64()),
        Value::String(text) => {
            found.extend(text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok()));
        }
        Value::Array(values) => return values.iter().for_each(|value| ids(value, found, odd)),
        Value::Object(values) => return values.values().for_each(|value| ids(value, found, odd)),
    }
    *odd += usize::from(found.len() == before);
}

/// The text without the mark of its place in the plan, `->-> 1,2` (or `1,N/A`, `3,4, 5`): the last line's end.
fn unmarked(text: &str) -> &str {
    match text.rsplit_once("->->") {
        Some((before, mark)) if mark.len() < 32 && !mark.trim().contains('\n') => before.trim_end(),
        _ => text,
    }
}

/// `March-15-2024`
fn time(date: &str) -> Option<Timestamp> {
    let day = chrono::NaiveDate::parse_from_str(date.trim(), "%B-%d-%Y").ok()?;
    Some(day.and_time(chrono::NaiveTime::MIN).and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_dropped_and_arrows_stay() {
        for (text, expected) in [
            ("Help me plan ->-> 1,2", "Help me plan"),
            ("Help me plan\n ->->  12,N/A\n", "Help me plan"),
            ("a ->-> b is an arrow\nin the text, and a long one", "a ->-> b is an arrow\nin the text, and a long one"),
            ("plain", "plain"),
        ] {
            assert_eq!(unmarked(text), expected);
        }
    }

    #[test]
    fn ids_are_found_however_deep() {
        let sources = serde_json::json!({ "a": [1, "2", ["chat_id: 3"]], "b": { "c": 4.5, "d": null, "e": -1 } });
        let (mut found, mut odd) = (Vec::new(), 0);
        ids(&sources, &mut found, &mut odd);
        assert_eq!((found, odd), (vec![1, 2, 3], 2), "the broken number and the negative one are told");
    }
}
