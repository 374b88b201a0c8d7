//! Reads LoCoMo's files.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use ingrain::Timestamp;
use serde_json::Value;

use super::Outcome;

pub struct Conversation {
    pub name: String,
    pub turns: Vec<Turn>,
    pub questions: Vec<Question>,
}

pub struct Turn {
    pub session: u32,
    pub speaker: String,
    pub text: String,
    pub at: Timestamp,
}

pub struct Question {
    pub text: String,
    pub category: u32,
    /// The turns that answer it, by their place in the conversation.
    pub evidence: Vec<usize>,
}

/// All conversations in these files and folders.
pub fn load(paths: &[PathBuf]) -> Outcome<Vec<Conversation>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found: Vec<PathBuf> = fs::read_dir(path)?.map(|file| Ok(file?.path())).collect::<Outcome<_>>()?;
            found.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
            found.sort();
            if found.is_empty() {
                return Err(format!("{}: no JSON file in this folder", path.display()).into());
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    files.iter().map(|file| read(file).map_err(|error| format!("{}: {error}", file.display()).into())).collect()
}

fn read(file: &Path) -> Outcome<Conversation> {
    let json: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let sessions = json.get("conversation").unwrap_or(&json);
    let mut turns = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for session in 1.. {
        let Some(spoken) = sessions.get(format!("session_{session}")) else { break };
        let date = text(sessions, &format!("session_{session}_date_time"))?;
        let start = time(date).ok_or_else(|| format!("session {session} has no readable date"))?;
        for (number, turn) in spoken.as_array().ok_or("a session is no list")?.iter().enumerate() {
            places.insert(text(turn, "dia_id")?.to_owned(), turns.len());
            let mut said = text(turn, "text")?.to_owned();
            if let Some(caption) = turn.get("blip_caption").and_then(Value::as_str) {
                said.push_str(&format!(" [shares a picture: {caption}]"));
            }
            let at = start + chrono::Duration::seconds(30 * i64::try_from(number)?);
            turns.push(Turn { session, speaker: text(turn, "speaker")?.to_owned(), text: said, at });
        }
    }
    if turns.is_empty() {
        return Err("no LoCoMo conversation".into());
    }
    let mut questions = Vec::new();
    for question in json.get("qa").and_then(Value::as_array).ok_or("no questions")? {
        // A few lists of evidence are malformed: every D<session>:<turn> in them counts.
        let listed = question.get("evidence").map(Value::to_string).unwrap_or_default();
        let mut evidence: Vec<usize> = listed
            .split(|c: char| !c.is_ascii_alphanumeric() && c != ':')
            .filter_map(|id| places.get(id).copied())
            .collect();
        evidence.sort_unstable();
        evidence.dedup();
        if evidence.is_empty() {
            continue;
        }
        let category = question.get("category").and_then(Value::as_u64).ok_or("a question has no category")?;
        let category = u32::try_from(category)?;
        questions.push(Question { text: text(question, "question")?.to_owned(), category, evidence });
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Conversation { name, turns, questions })
}

fn text<'j>(json: &'j Value, key: &str) -> Outcome<&'j str> {
    json.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is missing or no text").into())
}

/// `1:56 pm on 8 May, 2023`
fn time(date: &str) -> Option<Timestamp> {
    let (clock, day) = date.split_once(" on ")?;
    let text = format!("{} {}", clock.trim().to_uppercase(), day.trim().replace(',', ""));
    Some(chrono::NaiveDateTime::parse_from_str(&text, "%I:%M %p %d %B %Y").ok()?.and_utc())
}
