//! LoCoMo: two people chat for months, and questions of five kinds are asked about it.
//!
//! # Source
//! Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024; repository
//! `snap-research/locomo`.

use std::{collections::HashMap, path::Path};

use serde_json::Value;

use super::{
    Conversation, Dataset, GivenFact, LeftOut, Question, Turn,
    files::{Fault, at_fault, json, json_files, keep, later, stem},
    left_out::reason,
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
/// The observations of a session (`session_1_observation`, or `observation` beside `conversation`), where there are
/// any, are its [`facts`](Conversation::facts). Categories have their names (`multi-hop`, `temporal`, `open-domain`,
/// `single-hop`, `adversarial`), unknown ones their number. What is left out is [counted](Dataset::left_out). Blocks
/// while reading.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the file and what is wrong: unreadable, no JSON, no
/// conversation, a missing part, a session without a readable date, a turn whose `dia_id` is none or is there twice; a
/// folder without JSON files; no path.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Dataset> {
    let (mut conversations, mut left_out) = (Vec::new(), LeftOut::default());
    for file in json_files(paths)? {
        let whole: Value = json(&file)?;
        let fault = |fault: Fault| at_fault(&file, &fault);
        let Value::Array(samples) = &whole else {
            conversations.push(conversation(&whole, stem(&file), &mut left_out).map_err(fault)?);
            continue;
        };
        if samples.is_empty() {
            return Err(fault("an empty list".into()));
        }
        for (number, sample) in samples.iter().enumerate() {
            let id = sample.get("sample_id").and_then(Value::as_str);
            let name = id.map_or_else(|| format!("{}-{}", stem(&file), number + 1), str::to_owned);
            let read = conversation(sample, name, &mut left_out);
            conversations.push(read.map_err(|what| fault(format!("conversation {}: {what}", number + 1)))?);
        }
    }
    let mut dataset = Dataset::new("locomo", conversations);
    dataset.left_out = left_out;
    Ok(dataset)
}

/// `D<session>:<turn>`
type DialogId = (u64, u64);
/// Where each turn stands; `None` for one that was left out.
type Places = HashMap<DialogId, Option<usize>>;

fn conversation(json: &Value, name: String, left_out: &mut LeftOut) -> Result<Conversation, Fault> {
    let spoken = json.get("conversation").unwrap_or(json);
    let (mut turns, mut places) = (Vec::new(), Places::new());
    let sessions = sessions(spoken);
    for session in &sessions {
        read_session(spoken, *session, &mut turns, &mut places)?;
    }
    if turns.is_empty() {
        return Err("no LoCoMo conversation".into());
    }
    left_out.add(reason::TURN, places.values().filter(|place| place.is_none()).count());
    let asked = json.get("qa").and_then(Value::as_array).ok_or("no list `qa` of questions")?;
    let mut questions = Vec::new();
    for (number, question) in asked.iter().enumerate() {
        let read = read_question(question, &places, left_out);
        questions.extend(read.map_err(|what| format!("question {}: {what}", number + 1))?);
    }
    let observations = json.get("observation").unwrap_or(spoken);
    let mut facts = Vec::new();
    for session in sessions {
        if let Some(observed) = observations.get(format!("session_{session}_observation")) {
            let read = read_facts(observed, &places, &mut facts, left_out);
            read.map_err(|what| format!("the observations of session {session}: {what}"))?;
        }
    }
    Ok(Conversation::new(name, turns, questions).with_facts(facts))
}

/// The numbers of the sessions, in order; some may be missing.
fn sessions(spoken: &Value) -> Vec<u64> {
    let keys = spoken.as_object().into_iter().flat_map(|object| object.keys());
    let mut numbers: Vec<u64> = keys.filter_map(|key| key.strip_prefix("session_")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn read_session(spoken: &Value, session: u64, turns: &mut Vec<Turn>, places: &mut Places) -> Result<(), Fault> {
    let said = spoken.get(format!("session_{session}")).and_then(Value::as_array);
    let said = said.ok_or_else(|| format!("session {session} is no list"))?;
    let date = text(spoken, &format!("session_{session}_date_time"))?;
    let start = time(date).ok_or_else(|| format!("session {session} has no readable date"))?;
    for (number, turn) in said.iter().enumerate() {
        let fault = |what: Fault| format!("session {session}, turn {}: {what}", number + 1);
        let name = text(turn, "dia_id").map_err(fault)?;
        let id = *ids(name).first().ok_or_else(|| fault("`dia_id` is no D<session>:<turn>".into()))?;
        let mut said = text(turn, "text").map_err(fault)?.to_owned();
        if let Some(caption) = turn.get("blip_caption").and_then(Value::as_str) {
            said.push_str(&format!(" [shares a picture: {caption}]"));
        }
        let speaker = text(turn, "speaker").map_err(fault)?;
        let mut turn = Turn::new(session.to_string(), Role::User, said, name).from_speaker(speaker);
        turn.at = later(start, number);
        if places.insert(id, keep(turns, turn)).is_some() {
            return Err(fault("its `dia_id` is there twice".into()));
        }
    }
    Ok(())
}

/// `None` for a question without usable evidence.
fn read_question(question: &Value, places: &Places, left_out: &mut LeftOut) -> Result<Option<Question>, Fault> {
    let asked = text(question, "question")?;
    if asked.trim().is_empty() {
        return Err("`question` is blank".into());
    }
    let number = question.get("category").and_then(Value::as_u64).ok_or("`category` is missing or no number")?;
    let known = usize::try_from(number).ok().and_then(|number| CATEGORIES.get(number.checked_sub(1)?));
    let category = known.map_or_else(|| number.to_string(), |name| (*name).to_owned());
    let listed = question.get("evidence").unwrap_or(&Value::Null);
    let evidence = stand(&texts(listed)?, places, left_out);
    if evidence.is_empty() {
        let nothing = matches!(listed, Value::Null) || listed.as_array().is_some_and(Vec::is_empty);
        left_out.add(if nothing { reason::NO_EVIDENCE } else { reason::EVIDENCE_NOT_THERE }, 1);
    }
    Ok(Question::new(asked, category, evidence))
}

/// `{ speaker: [[fact, id or ids], …], … }`
fn read_facts(
    observed: &Value,
    places: &Places,
    facts: &mut Vec<GivenFact>,
    left_out: &mut LeftOut,
) -> Result<(), Fault> {
    let speakers = observed.as_object().ok_or("no object of speakers")?;
    for (speaker, told) in speakers {
        for pair in told.as_array().ok_or("not a list for each speaker")? {
            let Some([Value::String(fact), from]) = pair.as_array().map(Vec::as_slice) else {
                return Err("an entry is no pair of a text and its `dia_id`".into());
            };
            let turns = stand(&texts(from)?, places, left_out);
            let fact = GivenFact::new(fact, turns).map(|fact| fact.from_speaker(speaker));
            left_out.add("facts that are blank, or whose turns are not there", usize::from(fact.is_none()));
            facts.extend(fact);
        }
    }
    Ok(())
}

/// The texts in a list of texts, or the one text; nothing for null.
fn texts(value: &Value) -> Result<Vec<&str>, Fault> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        Value::Array(values) => values
            .iter()
            .map(|value| value.as_str().ok_or_else(|| "a `dia_id` in a list is no text".to_owned()))
            .collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err("neither a `dia_id` nor a list of them".into()),
    }
}

/// Where the turns stand that these texts name. A text that names none, and an id that no turn has, is counted.
fn stand(texts: &[&str], places: &Places, left_out: &mut LeftOut) -> Vec<usize> {
    let mut found = Vec::new();
    for text in texts {
        let ids = ids(text);
        left_out.add(reason::UNKNOWN_ID, usize::from(ids.is_empty()));
        for id in ids {
            match places.get(&id) {
                Some(place) => found.extend(*place),
                None => left_out.add(reason::UNKNOWN_ID, 1),
            }
        }
    }
    found
}

/// Every `D<session>:<turn>` in a text; a few texts hold several, some with other signs around them.
fn ids(text: &str) -> Vec<DialogId> {
    let id = |word: &str| {
        let (session, turn) = word.strip_prefix('D')?.split_once(':')?;
        Some((session.parse().ok()?, turn.parse().ok()?))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').filter_map(id).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_out_of_malformed_texts() {
        for (text, expected) in [
            ("D1:3", &[(1, 3)][..]),
            ("D8:6; D9:17", &[(8, 6), (9, 17)]),
            ("D9:1 D4:4,D4:6", &[(9, 1), (4, 4), (4, 6)]),
            ("(D30:05)", &[(30, 5)]),
            ("D", &[]),
            ("D:11:26", &[]),
            ("D1:2:3 or D99999999999999999999:1", &[]),
        ] {
            assert_eq!(ids(text), expected, "{text}");
        }
    }
}
