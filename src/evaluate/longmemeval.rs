//! LongMemEval: a user's chats with an assistant, most of them beside the point, and one question about them.
//!
//! # Source
//! Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025; repository
//! `xiaowu0162/LongMemEval`.

use std::{collections::HashSet, path::Path};

use serde::Deserialize;

use super::{
    Conversation, Dataset, LeftOut, Question, Turn,
    files::{Fault, at_fault, json, json_files, keep, later},
    left_out::reason,
};
use crate::{Result, Role, Timestamp};

#[derive(Deserialize)]
struct Instance {
    question_id: String,
    question_type: String,
    question: String,
    question_date: Option<String>,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Message>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: String,
    has_answer: Option<bool>,
}

/// Reads LongMemEval from files and folders of JSON files, each a list of instances (`longmemeval_s.json`, …).
///
/// An instance becomes a conversation with one question; its category is the question's type. Evidence are the turns
/// with `has_answer`, or, where there are none, all turns of the answer's sessions. Instances whose id ends in `_abs`
/// have no answer, and are left out with those whose evidence is not there; both are [counted](Dataset::left_out). A
/// session's turns are dated half a minute apart, their ids are `<session>_<number from 1>`. Blocks while reading, and
/// holds a file in memory.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the file and what is wrong: unreadable, no JSON,
/// another form, an unreadable date, lists of sessions, ids and dates that differ in length; a folder without JSON
/// files; no path.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Dataset> {
    let (mut conversations, mut left_out) = (Vec::new(), LeftOut::default());
    for file in json_files(paths)? {
        let instances: Vec<Instance> = json(&file)?;
        if instances.is_empty() {
            return Err(at_fault(&file, "an empty list"));
        }
        for (number, instance) in instances.into_iter().enumerate() {
            let read = conversation(instance, &mut left_out);
            conversations.extend(read.map_err(|what| at_fault(&file, &format!("instance {}: {what}", number + 1)))?);
        }
    }
    let mut dataset = Dataset::new("longmemeval", conversations);
    dataset.left_out = left_out;
    Ok(dataset)
}

/// `None` for an instance without an answer to find.
fn conversation(instance: Instance, left_out: &mut LeftOut) -> Result<Option<Conversation>, Fault> {
    let Instance {
        question_id,
        question_type,
        question,
        question_date,
        haystack_dates,
        haystack_session_ids,
        haystack_sessions,
        answer_session_ids,
    } = instance;
    let sessions = haystack_sessions.len();
    if haystack_dates.len() != sessions || haystack_session_ids.len() != sessions {
        return Err("the lists of sessions, of their ids and of their dates differ in length".into());
    }
    if question.trim().is_empty() {
        return Err("`question` is blank".into());
    }
    if question_id.ends_with("_abs") {
        left_out.add(reason::NO_ANSWER, 1);
        return Ok(None);
    }
    let answering: HashSet<&String> = answer_session_ids.iter().collect();
    let lost = answering.iter().filter(|id| !haystack_session_ids.contains(id)).count();
    left_out.add("answering sessions that are not there", lost);
    let (mut turns, mut marked, mut in_session) = (Vec::new(), Vec::new(), Vec::new());
    for ((session, date), messages) in haystack_session_ids.iter().zip(&haystack_dates).zip(haystack_sessions) {
        let start = time(date).ok_or("an entry of `haystack_dates` is no readable date")?;
        for (number, message) in messages.into_iter().enumerate() {
            let mut turn = Turn::new(session, message.role, message.content, format!("{session}_{}", number + 1));
            turn.at = later(start, number);
            let Some(place) = keep(&mut turns, turn) else {
                left_out.add(reason::TURN, 1);
                continue;
            };
            if message.has_answer == Some(true) {
                marked.push(place);
            }
            if answering.contains(session) {
                in_session.push(place);
            }
        }
    }
    let evidence = if marked.is_empty() { in_session } else { marked };
    let Some(mut question) = Question::new(question, question_type, evidence) else {
        let nothing = answer_session_ids.is_empty();
        left_out.add(if nothing { reason::NO_EVIDENCE } else { reason::EVIDENCE_NOT_THERE }, 1);
        return Ok(None);
    };
    if let Some(date) = question_date {
        question.asked_at = Some(time(&date).ok_or("`question_date` is no readable date")?);
    }
    Ok(Some(Conversation::new(question_id, turns, vec![question])))
}

/// `2023/05/20 (Sat) 02:21`; the time of day may be missing.
fn time(date: &str) -> Option<Timestamp> {
    let mut words = date.split_whitespace().filter(|word| !word.starts_with('('));
    let day = chrono::NaiveDate::parse_from_str(&words.next()?.replace('-', "/"), "%Y/%m/%d").ok()?;
    let clock = match words.next() {
        Some(clock) => chrono::NaiveTime::parse_from_str(clock, "%H:%M").ok()?,
        None => chrono::NaiveTime::MIN,
    };
    Some(day.and_time(clock).and_utc())
}
