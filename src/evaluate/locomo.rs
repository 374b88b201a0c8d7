//! LoCoMo: two people chat for months, and questions of five kinds are asked about it.
//!
//! # Source
//! Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024; repository
//! `snap-research/locomo`.

use std::{collections::HashMap, path::Path};

use serde_json::Value;

use super::{
    Conversation, Dataset, Question, Turn,
    files::{Fault, at_fault, json, json_files, keep, later, stem},
};
use crate::{Result, Role, Timestamp};

/// The kinds of question by their number, from 1.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

/// Reads LoCoMo from files and folders of JSON files.
///
/// A file holds one conversation (`session_1`, `session_1_date_time`, …, `qa`) or, as the original `locomo10.json`, a
/// list of objects with `conversation` and `qa`. Both speakers count as users; the caption of a shared picture is part
/// of the text. A session's turns are dated half a minute apart. Evidence is every `D<session>:<turn>` of the
/// conversation that the question's list names, since a few lists are malformed; questions without any are left out.
/// Categories have their names (`multi-hop`, `temporal`, `open-domain`, `single-hop`, `adversarial`), unknown ones
/// their number. Blocks while reading.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the file and what is wrong: unreadable, no JSON, no
/// conversation, a missing part, a session without a readable date; a folder without JSON files; no path.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Dataset> {
    let (mut conversations, mut left_out) = (Vec::new(), 0);
    for file in json_files(paths)? {
        let whole: Value = json(&file)?;
        let fault = |fault: Fault| at_fault(&file, &fault);
        let Value::Array(samples) = &whole else {
            let (read, left) = conversation(&whole, stem(&file)).map_err(fault)?;
            conversations.push(read);
            left_out += left;
            continue;
        };
        if samples.is_empty() {
            return Err(fault("an empty list".into()));
        }
        for (number, sample) in samples.iter().enumerate() {
            let id = sample.get("sample_id").and_then(Value::as_str);
            let name = id.map_or_else(|| format!("{}-{}", stem(&file), number + 1), str::to_owned);
            let (read, left) =
                conversation(sample, name).map_err(|what| fault(format!("conversation {}: {what}", number + 1)))?;
            conversations.push(read);
            left_out += left;
        }
    }
    let mut dataset = Dataset::new("locomo", conversations);
    dataset.left_out = left_out;
    Ok(dataset)
}

/// The conversation, and how many of its questions were left out.
fn conversation(json: &Value, name: String) -> Result<(Conversation, usize), Fault> {
    let sessions = json.get("conversation").unwrap_or(json);
    let mut turns = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for session in 1.. {
        let Some(spoken) = sessions.get(format!("session_{session}")) else { break };
        let date = text(sessions, &format!("session_{session}_date_time"))?;
        let start = time(date).ok_or_else(|| format!("session {session} has no readable date"))?;
        let spoken = spoken.as_array().ok_or_else(|| format!("session {session} is no list"))?;
        for (number, turn) in spoken.iter().enumerate() {
            let fault = |what: Fault| format!("session {session}, turn {}: {what}", number + 1);
            let id = text(turn, "dia_id").map_err(fault)?;
            let mut said = text(turn, "text").map_err(fault)?.to_owned();
            if let Some(caption) = turn.get("blip_caption").and_then(Value::as_str) {
                said.push_str(&format!(" [shares a picture: {caption}]"));
            }
            let speaker = text(turn, "speaker").map_err(fault)?;
            let mut turn = Turn::new(session.to_string(), Role::User, said, id).from_speaker(speaker);
            turn.at = later(start, number);
            if let Some(place) = keep(&mut turns, turn) {
                places.insert(id.to_owned(), place);
            }
        }
    }
    if turns.is_empty() {
        return Err("no LoCoMo conversation".into());
    }
    let asked = json.get("qa").and_then(Value::as_array).ok_or("no list `qa` of questions")?;
    let mut questions = Vec::new();
    for (number, question) in asked.iter().enumerate() {
        questions.extend(read_question(question, &places).map_err(|what| format!("question {}: {what}", number + 1))?);
    }
    let left_out = asked.len() - questions.len();
    Ok((Conversation::new(name, turns, questions), left_out))
}

/// `None` for a question without usable evidence.
fn read_question(question: &Value, places: &HashMap<String, usize>) -> Result<Option<Question>, Fault> {
    let listed = question.get("evidence").map(Value::to_string).unwrap_or_default();
    let ids = listed.split(|c: char| !c.is_ascii_alphanumeric() && c != ':');
    let evidence: Vec<usize> = ids.filter_map(|id| places.get(id).copied()).collect();
    if evidence.is_empty() {
        return Ok(None);
    }
    let number = question.get("category").and_then(Value::as_u64).ok_or("`category` is missing or no number")?;
    let known = usize::try_from(number).ok().and_then(|number| CATEGORIES.get(number.checked_sub(1)?));
    let category = known.map_or_else(|| number.to_string(), |name| (*name).to_owned());
    let asked = text(question, "question")?;
    if asked.trim().is_empty() {
        return Err("`question` is blank".into());
    }
    Ok(Question::new(asked, category, evidence))
}

fn text<'j>(json: &'j Value, key: &str) -> Result<&'j str, Fault> {
    json.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is missing or no text"))
}

/// `1:56 pm on 8 May, 2023`
fn time(date: &str) -> Option<Timestamp> {
    let (clock, day) = date.split_once(" on ")?;
    let text = format!("{} {}", clock.trim().to_uppercase(), day.trim().replace(',', ""));
    Some(chrono::NaiveDateTime::parse_from_str(&text, "%I:%M %p %d %B %Y").ok()?.and_utc())
}
