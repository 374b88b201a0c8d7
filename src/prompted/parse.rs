//! From a model's reply to the value that was asked for.

use serde_json::Value;

use super::json::{Reader, Stop};
use crate::{ChatResponse, FinishReason};

/// Tags that hold a model's thoughts, which are no answer.
pub(crate) const THOUGHTS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];
/// How often the bytes of a text are read again, on average, because what began like a value was none.
const SECOND_LOOKS: usize = 4;

/// Why a reply cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It ended too early: at its output limit, or inside a value or a thought.
    CutOff,
    /// The provider kept it back.
    Filtered,
    /// There is nothing in it, thoughts aside.
    Empty,
    /// It is prose: a refusal, a question, chatter.
    Prose,
    /// It holds JSON, and not what was asked for.
    OtherShape,
}

impl Unusable {
    /// In words, for the model that is asked again and for the error.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::CutOff => "the answer was cut off before its end",
            Self::Filtered => "the provider kept the answer back",
            Self::Empty => "the answer was empty",
            Self::Prose => "the answer held no JSON",
            Self::OtherShape => "the answer was not of the form that was asked for",
        }
    }
}

/// How well a value fits what was asked for: the best fit of a reply counts, the last of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It could be meant, or be something else, such as the empty list.
    Vague,
    /// Another form of the same.
    Loose,
    /// Just the form that was asked for.
    Whole,
}

/// What a value is read as, with how well it fits; `None` if it is something else.
pub(super) type Fitting<T> = Option<(Fit, T)>;

/// Reads the answer out of a reply: from the arguments of its tool calls if they hold it, else from its text.
///
/// Thoughts (`<think>…</think>`; also with one of the tags missing) are passed over, and so is prose before, between and
/// after the values, code fences included. Of the values in the text the one that fits best counts, and of several that
/// fit alike the last, since models draft first. Values that follow each other with nothing between them but white space
/// and commas are also tried as one list (JSON lines). A string that holds JSON is opened.
pub(super) fn read<T>(reply: &ChatResponse, fit: &dyn Fn(&Value) -> Fitting<T>) -> Result<T, Unusable> {
    let mut why = None;
    let arguments = reply.tool_calls.iter().rev().map(|call| call.arguments.as_str());
    for text in arguments.chain([reply.text.as_str()]) {
        match read_text(text, &reply.finish, fit) {
            Ok(found) => return Ok(found),
            Err(Unusable::Empty) => {}
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    Err(match (&reply.finish, why) {
        (FinishReason::Length, _) => Unusable::CutOff,
        (FinishReason::Filtered, _) => Unusable::Filtered,
        (_, why) => why.unwrap_or(Unusable::Empty),
    })
}

/// What fits of the items that are whole, in the first list of a reply that was cut off inside it.
pub(super) fn leading<T>(reply: &ChatResponse, fit: &dyn Fn(&Value) -> Fitting<T>) -> Option<T> {
    let arguments = reply.tool_calls.iter().rev().map(|call| call.arguments.clone());
    arguments.chain([without_thoughts(&reply.text)]).find_map(|text| {
        let mut reader = Reader::new(&text, text.find('[')?);
        let items = Value::Array(reader.leading_items());
        fit(&items).filter(|(rank, _)| *rank > Fit::Vague).map(|(_, value)| value)
    })
}

fn read_text<T>(text: &str, finish: &FinishReason, fit: &dyn Fn(&Value) -> Fitting<T>) -> Result<T, Unusable> {
    let found = values(text);
    // What stands after the last value of a reply that ran into its limit was the beginning of something.
    let at_limit = *finish == FinishReason::Length;
    if (found.open && (at_limit || !found.stray)) || (at_limit && !found.closed) {
        return Err(Unusable::CutOff);
    }
    let (any, prose) = (!found.runs.is_empty(), found.prose);
    let mut best: Fitting<T> = None;
    let mut offer = |value: &Value| {
        if let Some((rank, answer)) = fit(value)
            && best.as_ref().is_none_or(|(held, _)| rank >= *held)
        {
            best = Some((rank, answer));
        }
    };
    for run in &found.runs {
        let lines = (run.len() > 1).then(|| Value::Array(run.clone()));
        run.iter().chain(&lines).for_each(&mut offer);
    }
    match best {
        Some((Fit::Loose | Fit::Whole, answer)) => Ok(answer),
        _ if found.open => Err(Unusable::CutOff),
        Some((_, answer)) => Ok(answer),
        None if any => Err(Unusable::OtherShape),
        None if prose => Err(Unusable::Prose),
        None => Err(Unusable::Empty),
    }
}

/// The lists and objects in a text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Values, those of a run with nothing but white space and commas between them.
    pub(crate) runs: Vec<Vec<Value>>,
    /// Whether the text ends inside a value or a thought.
    pub(crate) open: bool,
    /// Whether what it ends in does not look like the value that was asked for, but like a bracket in prose.
    stray: bool,
    /// Whether nothing follows the last value but white space and a fence.
    closed: bool,
    /// Whether there is anything beside values and thoughts.
    prose: bool,
    /// Bytes looked at: at most a fixed multiple of the text's.
    pub(super) steps: usize,
}

/// Finds the values in a text, in time in proportion to its length.
pub(crate) fn values(text: &str) -> Found {
    let mut found = find(text);
    // All of it is a string, which may hold JSON.
    let bare = text.trim().trim_start_matches("```json").trim_start_matches("```").trim_start();
    if bare.starts_with('"') {
        let mut reader = Reader::new(bare, 0);
        let inner = reader.string();
        let steps = found.steps + reader.steps;
        let within = inner.map(|inner| find(&inner)).unwrap_or_default();
        if !within.runs.is_empty() || within.open {
            found = within;
        }
        found.steps += steps;
    }
    found
}

fn find(text: &str) -> Found {
    let lower = text.to_ascii_lowercase();
    let mut found = Found { steps: text.len(), ..Found::default() };
    let (mut at, mut again, mut last_end) = (0, 0, None);
    while let Some(byte) = text.as_bytes().get(at).copied() {
        found.steps += 1;
        match byte {
            b'{' | b'[' => {
                let mut reader = Reader::new(text, at);
                let value = reader.value();
                found.steps += reader.steps;
                match value {
                    Ok(value) => {
                        let joined = last_end.and_then(|end| text.get(end..at)).is_some_and(only_separators);
                        match found.runs.last_mut().filter(|_| joined) {
                            Some(run) => run.push(value),
                            None => found.runs.push(vec![value]),
                        }
                        at = reader.at;
                        last_end = Some(at);
                    }
                    Err(Stop::End) => {
                        found.open = true;
                        let inside = text.get(at + 1..).unwrap_or_default().trim_start();
                        found.stray = !inside.starts_with(['"', '\'', '{', '[']);
                        return found;
                    }
                    // A bracket in prose. What stands inside it is looked at again, but only so much of a text of
                    // nothing but brackets.
                    Err(Stop::Invalid) => {
                        found.prose = true;
                        again += reader.steps;
                        at = if again <= SECOND_LOOKS * text.len() { at + 1 } else { reader.at.max(at + 1) };
                    }
                }
            }
            b'<' => match thought(&lower, at) {
                Tag::Open(name) => {
                    let close = format!("</{name}>");
                    let rest = lower.get(at..).unwrap_or_default();
                    let Some(length) = rest.find(&close) else {
                        found.steps += rest.len();
                        found.open = true;
                        return found;
                    };
                    found.steps += length;
                    at += length + close.len();
                }
                // The opening tag was in the prompt, or there was another thought inside: all before it is thought.
                Tag::Close(length) => {
                    found.runs.clear();
                    found.prose = false;
                    last_end = None;
                    at += length;
                }
                Tag::None => {
                    found.prose = true;
                    at += 1;
                }
            },
            other => {
                found.prose |= !other.is_ascii_whitespace() && other != b'`';
                at += 1;
            }
        }
    }
    let rest = last_end.and_then(|end| text.get(end..));
    found.closed = rest.is_some_and(|rest| rest.chars().all(|char| char.is_whitespace() || char == '`'));
    found
}

/// The text without its thoughts, in time in proportion to its length.
pub(crate) fn without_thoughts(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut out, mut at) = (String::new(), 0);
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('<')).map(|next| at + next) {
        out.push_str(text.get(at..next).unwrap_or_default());
        at = match thought(&lower, next) {
            Tag::Open(name) => {
                let close = format!("</{name}>");
                let end = lower.get(next..).and_then(|rest| rest.find(&close));
                end.map_or(text.len(), |end| next + end + close.len())
            }
            Tag::Close(length) => {
                out.clear();
                next + length
            }
            Tag::None => {
                out.push('<');
                next + 1
            }
        };
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn only_separators(between: &str) -> bool {
    between.bytes().all(|byte| byte.is_ascii_whitespace() || byte == b',')
}

enum Tag {
    Open(&'static str),
    Close(usize),
    None,
}

/// The tag of a thought that begins here; `lower` is the text in lower case.
fn thought(lower: &str, at: usize) -> Tag {
    let rest = lower.get(at + 1..).unwrap_or_default();
    for name in THOUGHTS {
        if rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('>')) {
            return Tag::Open(name);
        }
        let close = rest.strip_prefix('/').and_then(|rest| rest.strip_prefix(name));
        if close.is_some_and(|rest| rest.starts_with('>')) {
            return Tag::Close(name.len() + 3);
        }
    }
    Tag::None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    /// What a fact list would be read by: the object whole, a list loosely, an empty list vaguely.
    fn list(value: &Value) -> Fitting<Vec<Value>> {
        match value {
            Value::Object(members) => Some((Fit::Whole, members.get("facts")?.as_array()?.clone())),
            Value::Array(items) if items.is_empty() => Some((Fit::Vague, Vec::new())),
            Value::Array(items) if items.iter().any(|item| item.is_string() || item.is_object()) => {
                Some((Fit::Loose, items.clone()))
            }
            _ => None,
        }
    }

    fn text(reply: &str) -> Result<Value, Unusable> {
        read(&ChatResponse::text(reply), &list).map(Value::from)
    }

    #[test]
    fn wrapping_is_taken_off() {
        for reply in [
            r#"{"facts": ["a"]}"#,
            "Claro, aquí:\n```json\n{\"facts\": [\"a\"]}\n```\n¿Algo más?",
            "```\n{\"facts\": [\"a\"],}\n```",
            "<think>like {\"facts\": [\"x\"]}, {不是JSON</think>\n{\"facts\": [\"a\"]}",
            "like {\"facts\": [\"x\"]} or {no</THINK>{\"facts\": [\"a\"]}",
            "<think>{\"facts\": [\"x\"]}<think>y</think> or {\"facts\": [\"z\"]}</think>{\"facts\": [\"a\"]}",
            "A draft: {\"facts\": [\"x\"]}. Better: {\"facts\": [\"a\"]} (see [1], [2] and [])",
            "[note: \"{\"facts\": [\"a\"]}\"]",
            r#""{\"facts\": [\"a\"]}""#,
            "[\"a\"]",
            "{'facts': ['a']}",
            "{\"facts\": [\"a\"]} There is no more :[",
            "{\"facts\": [\"a\"]} (see [1",
            "\"a\": [\"a\"]",
        ] {
            assert_eq!(text(reply), Ok(json!(["a"])), "{reply}");
        }
        assert_eq!(text("{\"fact\": 1}\n{\"fact\": 2},\n"), Ok(json!([{"fact": 1}, {"fact": 2}])));
        assert_eq!(text("Nothing: []"), Ok(json!([])));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for (reply, why) in [
            ("{\"facts\": [\"a\", \"b", Unusable::CutOff),
            ("<think>{\"facts\": [\"a\"]}", Unusable::CutOff),
            ("{\"facts\": [\"a\"]} or rather {\"facts\": [\"b", Unusable::CutOff),
            ("Well [", Unusable::CutOff),
            ("I'm sorry, I can't help with that.", Unusable::Prose),
            ("[1] and [2]", Unusable::OtherShape),
            ("{\"error\": 1}", Unusable::OtherShape),
            (" \n", Unusable::Empty),
            ("<think>hm</think>", Unusable::Empty),
        ] {
            assert_eq!(text(reply), Err(why), "{reply}");
        }
        let cut = |reply: &str| read(&ChatResponse::text(reply).with_finish(FinishReason::Length), &list);
        assert_eq!(cut("{\"facts\": []} and more"), Err(Unusable::CutOff));
        assert_eq!(cut("I am"), Err(Unusable::CutOff));
        assert_eq!(cut("```{\"facts\": []}\n\n\n```"), Ok(Vec::new()), "only the white space was too long");
        let kept_back = ChatResponse::text("").with_finish(FinishReason::Filtered);
        assert_eq!(read(&kept_back, &list), Err(Unusable::Filtered));
    }

    #[test]
    fn thoughts_are_taken_out() {
        for (text, said) in [
            ("<think>a</think> b", " b"),
            ("a</THINK>b < c <d>", "b < c <d>"),
            ("a <thought>b", "a "),
            ("é<think>é</think>é", "éé"),
            ("", ""),
        ] {
            assert_eq!(without_thoughts(text), said, "{text}");
        }
    }

    #[test]
    fn tool_calls_come_first() {
        let call = |arguments: &str| ToolCall::new("1", "answer", arguments);
        let reply = ChatResponse::text("[\"x\"]").with_tool_call(call("{\"facts\": [\"a\"]}"));
        assert_eq!(read(&reply, &list), Ok(vec![json!("a")]));
        let reply = ChatResponse::text("[\"a\"]").with_tool_call(call(""));
        assert_eq!(read(&reply, &list), Ok(vec![json!("a")]));
    }

    /// Steps for each byte, at most: the search itself, what is looked at again, and once more for what is inside a
    /// string.
    const STEPS: usize = 2 * (3 + SECOND_LOOKS + 1);

    #[test]
    fn megabytes_of_anything_are_read_in_linear_time() {
        let patterns = [
            "[",
            "{",
            "[[",
            "[{",
            "{\"a\":",
            "[\"",
            "\"[",
            "[1,",
            "]",
            "<think>",
            "</think>",
            "<think></think>",
            "{}",
            "[]",
            "[\"a\",",
            "{\"a\":[",
            "\\",
            "\"",
            "[\\",
            "[\"\\u",
            "```",
            "[1,[2,x",
            "9",
            "[9",
            "<",
            "[tru",
            "['",
            "{'a':",
            "'",
        ];
        for (number, pattern) in patterns.into_iter().enumerate() {
            // The first is the worst; the others need not be as long to show that they grow no faster.
            let length = if number == 0 { 1_000_000 } else { 30_000 };
            let text = pattern.repeat(length / pattern.len());
            for text in [format!("\"{text}"), format!("[{text}x"), text] {
                let found = values(&text);
                assert!(found.steps <= STEPS * text.len() + 64 * STEPS, "{pattern}: {} steps", found.steps);
            }
        }
    }

    proptest! {
        #[test]
        fn any_reply_is_read_in_linear_time(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("["), Just("'"), Just("{"), Just("]"), Just("}"), Just("\""), Just("\\"), Just(","), Just(":"), Just("1"),
                    Just("<think>"), Just("</think>"), Just("null"), Just("a"), Just("é"), Just(" "), Just("\"a\":"),
                    Just("```"), Just("\\u12"), Just("{\"facts\":["),
                ],
                0..200,
            ),
            finish in prop_oneof![Just(FinishReason::Stop), Just(FinishReason::Length)],
        ) {
            let text = parts.concat();
            prop_assert!(values(&text).steps <= STEPS * text.len() + 64 * STEPS);
            let _ = read(&ChatResponse::text(&text).with_finish(finish), &list);
        }

        #[test]
        fn an_answer_is_found_in_prose(before in "[^<{\\[\"]{0,40}", after in "[^<{\\[\"]{0,40}", fact in "\\PC{1,20}") {
            let reply = format!("{before}{}{after}", json!({"facts": [fact]}));
            prop_assert_eq!(text(&reply), Ok(json!([fact])));
        }
    }
}
