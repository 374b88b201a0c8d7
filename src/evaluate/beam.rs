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
    Conversation, Dataset, Question, Turn, Update,
    files::{Fault, at_fault, entries, json, keep, later},
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
/// that name no message, are left out. For `knowledge_update` the messages of `original_info` and `updated_info` make
/// the [`Update`]. A chat has so few batches that scores by session say little. Blocks while reading.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the file and what is wrong: unreadable, no JSON,
/// another form, a time anchor that is no date, a message id that is there twice; a folder without chats; no path.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Dataset> {
    let (mut conversations, mut left_out) = (Vec::new(), 0);
    for folder in folders(paths)? {
        let (turns, places) = chat(&folder.join(CHAT))?;
        let files = QUESTIONS.map(|file| folder.join(file));
        let [beside, _] = &files;
        let file = files.iter().find(|file| file.is_file()).unwrap_or(beside);
        let (questions, left) = questions(file, &places)?;
        left_out += left;
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

/// The messages, and where each id stands.
fn chat(file: &Path) -> Result<(Vec<Turn>, HashMap<u64, usize>)> {
    let batches: Vec<Batch> = json(file)?;
    let mut turns = Vec::new();
    let mut places = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    let mut anchor: Option<(Timestamp, usize)> = None;
    for (number, batch) in batches.into_iter().enumerate() {
        for message in batch.turns.into_iter().flatten() {
            if !seen.insert(message.id) {
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
            if let Some(place) = keep(&mut turns, turn) {
                places.insert(message.id, place);
            }
        }
    }
    if turns.is_empty() {
        return Err(at_fault(file, "no message"));
    }
    Ok((turns, places))
}

/// The questions, and how many were left out.
fn questions(file: &Path, places: &HashMap<u64, usize>) -> Result<(Vec<Question>, usize)> {
    let abilities: BTreeMap<String, Vec<Probe>> = json(file)?;
    let (mut questions, mut left_out) = (Vec::new(), 0);
    for (ability, probes) in abilities {
        for (number, probe) in probes.iter().enumerate() {
            let question = if ability == ABSTENTION {
                None
            } else {
                read_question(&ability, probe, places)
                    .map_err(|what| at_fault(file, &format!("{ability}, question {}: {what}", number + 1)))?
            };
            left_out += usize::from(question.is_none());
            questions.extend(question);
        }
    }
    Ok((questions, left_out))
}

/// `None` for a question without evidence.
fn read_question(ability: &str, probe: &Probe, places: &HashMap<u64, usize>) -> Result<Option<Question>, Fault> {
    let Some(sources) = &probe.source_chat_ids else { return Ok(None) };
    let stand = |sources: Option<&Value>| -> Vec<usize> {
        sources.map(ids).unwrap_or_default().iter().filter_map(|id| places.get(id).copied()).collect()
    };
    if probe.question.trim().is_empty() {
        return Err("`question` is blank".into());
    }
    let mut question = Question::new(&probe.question, ability, stand(Some(sources)));
    if let Some(question) = &mut question {
        question.update = Update::new(stand(sources.get("original_info")), stand(sources.get("updated_info")));
    }
    Ok(question)
}

/// The ids in numbers, texts, lists and objects, however deep.
fn ids(value: &Value) -> Vec<u64> {
    match value {
        Value::Number(number) => number.as_u64().into_iter().collect(),
        Value::String(text) => {
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
        }
        Value::Array(values) => values.iter().flat_map(ids).collect(),
        Value::Object(values) => values.values().flat_map(ids).collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
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
        assert_eq!(ids(&sources), [1, 2, 3]);
    }
}
