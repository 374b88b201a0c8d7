//! Which tools a reply calls: by the model's own means, or written into its text.

use serde_json::{Map, Value};

use crate::{
    ChatResponse, ToolCall, ToolDefinition,
    prompted::{values, without_thoughts},
};

/// Most calls of one reply that are read.
const CALLS: usize = 256;
/// How deep lists and objects around a call in a text may be nested.
const DEPTH: usize = 4;
/// What says aloud that calls stand between it and its end, or the end of the text.
const MARKS: [(&str, &str); 5] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
    ("<|python_tag|>", "<|eom_id|>"),
];
/// As [`MARKS`], with the name in the tag: `<function=NAME>ARGUMENTS</function>`.
const NAMED: (&str, &str) = ("<function=", "</function>");
const FENCE: &str = "```";

/// What texts that are calls begin with: such a text is no answer until it is read to its end.
pub(super) const OPENINGS: [&str; 9] = [
    "<tool_call>",
    "<tool_calls>",
    "<function_call>",
    "<function=",
    "[tool_calls]",
    "<|python_tag|>",
    "```",
    "{",
    "action:",
];

/// What a reply comes to.
#[derive(Debug, PartialEq)]
pub(super) struct Heard {
    /// Its words, without thoughts and written calls.
    pub(super) said: String,
    pub(super) calls: Vec<ToolCall>,
    /// Whether the calls were written into the text.
    pub(super) written: bool,
}

/// The tool of this name, also behind a path (`functions.search_memory`) or in another spelling (`SearchMemory`).
pub(super) fn find<'t>(tools: &'t [ToolDefinition], name: &str) -> Option<&'t ToolDefinition> {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|one| !matches!(one, '_' | '-' | ' ')).map(|letter| letter.to_ascii_lowercase())
    }
    let own = name.rsplit(['.', '/', ':']).next().unwrap_or_default();
    let exact = tools.iter().find(|tool| tool.name == name || tool.name == own);
    exact.or_else(|| tools.iter().find(|tool| letters(&tool.name).eq(letters(own))))
}

/// Longest text, in bytes, in which calls are looked for: reading it takes time that grows with its square, and a model
/// that writes more has lost its way.
const LONGEST: usize = 16 << 10;

/// Reads a reply. Calls in its text count where it holds none by the model's own means: those between [`MARKS`], and
/// those of tools that are there in a code fence, as the whole text, or as `Action: name[…]`. JSON in the middle of prose is
/// prose, and a call that stands in what the model was `shown` may only be told of. A text of over 16 KiB holds none.
pub(super) fn hear(reply: &ChatResponse, tools: &[ToolDefinition], shown: &str) -> Heard {
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().take(CALLS).cloned().collect();
        return Heard { said: spoken(&reply.text), calls, written: false };
    }
    let text = without_thoughts(&reply.text);
    if text.len() > LONGEST {
        return Heard { said: text.trim().to_owned(), calls: Vec::new(), written: false };
    }
    let mut reader = Reader { tools, said: String::new(), calls: Vec::new() };
    reader.read(&text);
    let (shown, found) = (squashed(shown), reader.calls.len());
    reader.calls.retain(|written| !written.is_in(&shown));
    if found > 0 && reader.calls.is_empty() {
        return Heard { said: text.trim().to_owned(), calls: Vec::new(), written: false };
    }
    let calls: Vec<ToolCall> = reader.calls.into_iter().take(CALLS).map(|written| written.call).collect();
    Heard { said: reader.said.trim().to_owned(), written: !calls.is_empty(), calls }
}

/// A reply's words, without its thoughts.
pub(super) fn spoken(text: &str) -> String {
    without_thoughts(text).trim().to_owned()
}

/// A call in a text, and how it stands there.
#[derive(Debug)]
struct Written {
    call: ToolCall,
    form: String,
}

impl Written {
    fn new(name: &str, arguments: impl Into<String>, form: &str) -> Self {
        Self { call: ToolCall::new("", name, arguments), form: squashed(form) }
    }

    /// Whether it stands in this text, which is [squashed].
    fn is_in(&self, shown: &str) -> bool {
        if shown.contains(&self.form) {
            return true;
        }
        // The members in another order are the same call.
        let arguments = serde_json::from_str::<Value>(&self.call.arguments);
        let Some(members) = arguments.as_ref().ok().and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return false;
        };
        let pair = |(name, value): (&String, &Value)| squashed(&format!("{}:{value}", Value::String(name.clone())));
        shown.contains(&squashed(&self.call.name)) && members.iter().all(|member| shown.contains(&pair(member)))
    }
}

/// Without white space and backslashes, for a text that was shown may have stood in a JSON string.
fn squashed(text: &str) -> String {
    let mut characters = text.chars().peekable();
    let mut out = String::new();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next_if(|next| matches!(next, 'n' | 'r' | 't'));
        } else if !character.is_whitespace() {
            out.push(character);
        }
    }
    out
}

struct Reader<'t> {
    tools: &'t [ToolDefinition],
    said: String,
    calls: Vec<Written>,
}

impl Reader<'_> {
    fn read(&mut self, text: &str) {
        if self.whole(text) {
            return;
        }
        let mut rest = text;
        while let Some((at, open, close)) = next_mark(rest) {
            let (before, marked) = rest.split_at(at);
            self.said.push_str(before);
            let inner = marked.get(open.len()..).unwrap_or_default();
            let (inner, after) = inner.split_once(close).unwrap_or((inner, ""));
            let found = self.calls.len();
            if open == NAMED.0 {
                let (name, arguments) = inner.split_once('>').unwrap_or((inner, ""));
                self.calls.push(Written::new(name.trim_matches(['"', ' ']), arguments.trim(), inner));
            } else {
                values(inner).runs.iter().flatten().for_each(|value| self.take(value, DEPTH, open != FENCE));
            }
            if open == FENCE && self.calls.len() == found {
                // Code, not a call.
                self.said.push_str(rest.get(at..rest.len() - after.len()).unwrap_or_default());
            }
            rest = after;
        }
        match self.action(rest) {
            Some((before, call)) => {
                self.said.push_str(before);
                self.calls.push(call);
            }
            None => self.said.push_str(rest),
        }
    }

    /// Whether the text is nothing but JSON that holds calls, or one call written as code.
    fn whole(&mut self, text: &str) -> bool {
        let text = text.trim();
        if text.starts_with(['{', '[']) && text.ends_with(['}', ']']) {
            values(text).runs.iter().flatten().for_each(|value| self.take(value, DEPTH, false));
        } else if let Some((call, rest)) = self.code(text)
            && rest.trim().is_empty()
        {
            self.calls.push(call);
        }
        !self.calls.is_empty()
    }

    /// Takes the calls out of a value; `any` also those of tools that are not there.
    fn take(&mut self, value: &Value, depth: usize, any: bool) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.take(item, deeper, any)),
            Value::Object(members) => {
                let named = |names: &[&str]| names.iter().find_map(|name| members.get(*name));
                let wrapped = named(&["tool_calls", "tool_call", "function_call", "function"]);
                if let Some(inner) = wrapped.filter(|inner| inner.is_object() || inner.is_array()) {
                    return self.take(inner, deeper, any);
                }
                let name = named(&["name", "tool", "tool_name", "function", "action"]).and_then(Value::as_str);
                let arguments = named(&["arguments", "parameters", "args", "input", "action_input"]);
                if let (Some(name), Some(arguments)) = (name, arguments)
                    && (any || find(self.tools, name).is_some())
                {
                    let arguments = match arguments {
                        Value::String(text) => self.input(name, text),
                        other => other.to_string(),
                    };
                    self.calls.push(Written::new(name, arguments, &value.to_string()));
                }
            }
            _ => {}
        }
    }

    /// The first `Action: name[…]`, or `Action: name` with an `Action Input:` after it, and what stands before. What
    /// follows is the model's own idea of a result.
    fn action<'r>(&self, text: &'r str) -> Option<(&'r str, Written)> {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let (before, from) = text.split_at(at);
            at += line.len();
            let Some(content) = strip_label(from, "action:") else { continue };
            if let Some((call, _)) = self.code(content) {
                return Some((before, call));
            }
            let (name, after) = content.split_once('\n').unwrap_or((content, ""));
            let name = name.trim().trim_matches(['`', '"', '\'', '*']);
            if find(self.tools, name).is_some() {
                let input = strip_label(after, "action input:").unwrap_or_default();
                let input = if input.starts_with('{') { input } else { input.lines().next().unwrap_or_default() };
                let form = format!("{name}action input:{input}");
                return Some((before, Written::new(name, self.input(name, input), &form)));
            }
        }
        None
    }

    /// `name[…]` or `name(…)` at the beginning, for a tool that is there, and what follows it.
    fn code<'r>(&self, text: &'r str) -> Option<(Written, &'r str)> {
        let text = text.trim_start_matches(['`', ' ']);
        let end = text.find(|character: char| !(character.is_alphanumeric() || "_-.".contains(character)))?;
        let (name, rest) = text.split_at(end);
        find(self.tools, name)?;
        let close = match rest.chars().next()? {
            '[' => ']',
            '(' => ')',
            _ => return None,
        };
        let line = rest.lines().next().unwrap_or_default();
        let to = line.rfind(close)?;
        let inner = line.get(1..to).unwrap_or_default();
        let form = text.get(..end + to + 1).unwrap_or_default();
        Some((Written::new(name, self.input(name, inner), form), rest.get(to + 1..).unwrap_or_default()))
    }

    /// What stands in the brackets as arguments: an object, or the one text that the tool wants.
    fn input(&self, name: &str, input: &str) -> String {
        let found = values(input);
        if let Some(object) = found.runs.iter().flatten().find(|value| value.is_object()) {
            return object.to_string();
        }
        let Some(parameter) = find(self.tools, name).and_then(first_text) else { return input.to_owned() };
        let text = input.trim();
        let text = text.strip_prefix(parameter).map_or(text, |rest| rest.trim_start().trim_start_matches(['=', ':']));
        let text = text.trim().trim_matches(['"', '\'', '`']);
        if text.is_empty() || found.open {
            return input.to_owned();
        }
        let member = (parameter.to_owned(), Value::String(text.to_owned()));
        Value::Object(Map::from_iter([member])).to_string()
    }
}

/// The mark that comes first, with its end.
fn next_mark(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let marks = MARKS.into_iter().chain([NAMED, (FENCE, FENCE)]);
    marks.filter_map(|(open, close)| text.find(open).map(|at| (at, open, close))).min_by_key(|(at, ..)| *at)
}

/// What follows a label at the beginning of a line, white space aside; the label is in lower case.
fn strip_label<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let text = text.trim_start().trim_start_matches('*');
    let begins = text.get(..label.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(label));
    begins.then(|| text.get(label.len()..).unwrap_or_default().trim_start_matches(['*', ' ']))
}

/// The parameter that a text without a name is meant for: one that is called so, else the first that is required, else the
/// first, of those that are texts.
fn first_text(tool: &ToolDefinition) -> Option<&str> {
    let properties = tool.parameters.get("properties")?.as_object()?;
    let is_text = |name: &&str| match properties.get(*name).and_then(|schema| schema.get("type")) {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    };
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let names = ["query", "text", "input"].into_iter().chain(required).chain(properties.keys().map(String::as_str));
    let found = names.into_iter().find(is_text)?;
    properties.get_key_value(found).map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolDefinition> {
        let text = json!({"type": "string"});
        let maybe = json!({"type": ["string", "null"]});
        let search =
            json!({"type": "object", "properties": {"from": maybe, "query": maybe}, "required": ["from", "query"]});
        let forget = json!({"type": "object", "properties": {"id": text}, "required": ["id"]});
        let list = json!({"type": "object", "properties": {}});
        vec![
            ToolDefinition::new("search_memory", "", search),
            ToolDefinition::new("forget", "", forget),
            ToolDefinition::new("list_all", "", list),
        ]
    }

    /// The calls, and what is said beside them.
    fn read(text: &str, shown: &str) -> (Vec<(String, String)>, String) {
        let heard = hear(&ChatResponse::text(text), &tools(), shown);
        assert_eq!(heard.written, !heard.calls.is_empty());
        (heard.calls.into_iter().map(|call| (call.name, call.arguments)).collect(), heard.said)
    }

    fn calls(text: &str) -> (Vec<(String, String)>, String) {
        read(text, "")
    }

    const CHESS: &str = r#"{"query":"chess"}"#;

    #[test]
    fn calls_are_read_out_of_texts() {
        let search = || vec![("search_memory".to_owned(), CHESS.to_owned())];
        for (text, said) in [
            (r#"<tool_call>{"name": "search_memory", "arguments": {"query": "chess"}}</tool_call>"#, ""),
            (
                "Let me look.\n<tool_call>\n{\"name\": \"search_memory\", \"arguments\": {\"query\": \"chess\"}}",
                "Let me look.",
            ),
            (r#"[TOOL_CALLS][{"name": "search_memory", "arguments": {"query": "chess"}}]"#, ""),
            (r#"<function=search_memory>{"query":"chess"}</function>"#, ""),
            (
                "I'll search:\n```json\n{\"name\": \"search_memory\", \"arguments\": {\"query\": \"chess\"}}\n```\nWait.",
                "I'll search:\n\nWait.",
            ),
            (r#"{"tool": "search_memory", "parameters": {"query": "chess"}}"#, ""),
            (r#"{"tool_calls": [{"function": {"name": "search_memory", "arguments": "{\"query\": \"chess\"}"}}]}"#, ""),
            (
                r#"<think>{"name": "forget", "arguments": {"id": "1"}}</think>{"name": "search_memory", "arguments": {"query": "chess"}}"#,
                "",
            ),
            ("Thought: look\nAction: search_memory[chess]\nObservation: you like go", "Thought: look"),
            ("**Action:** search_memory\n**Action Input:** \"chess\"\nObservation: none", ""),
            ("Action: `search_memory`\nAction Input: {\"query\": \"chess\"}", ""),
            ("search_memory(query=\"chess\")", ""),
            ("functions.search_memory(\"chess\")", ""),
        ] {
            let (found, rest) = calls(text);
            let plain: Vec<_> =
                found.into_iter().map(|(name, arguments)| (name.replace("functions.", ""), arguments)).collect();
            assert_eq!((plain, rest.as_str()), (search(), said), "{text}");
        }
        let two = r#"<tool_call>{"name": "list_all", "arguments": {}}</tool_call><tool_call>{"name": "fly", "arguments": null}</tool_call>"#;
        let names: Vec<String> = calls(two).0.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["list_all", "fly"], "what says aloud that it is a call is one, whatever the tool");
    }

    #[test]
    fn what_is_no_call_is_said() {
        for text in [
            "Porto.",
            "You could write {\"name\": \"forget\", \"arguments\": {\"id\": \"1\"}} to do that.",
            "```json\n{\"name\": \"Ann\", \"arguments\": [\"for\", \"against\"]}\n```",
            "{\"name\": \"fly\", \"arguments\": {}}",
            "Action: think about it",
            "Action: forgetful[ness]",
            "forget it (or not)",
            "Use `search_memory` for that.",
            "",
        ] {
            assert_eq!(calls(text), (Vec::new(), text.to_owned()), "{text}");
        }
        // Nor is a call that was cut off, and nobody wants to read it.
        assert_eq!(calls("Well. <tool_call>{\"name\": \"search_memory\", \"argum"), (Vec::new(), "Well.".to_owned()));
    }

    #[test]
    fn what_was_shown_is_only_told_of() {
        let json = r#"<tool_call>{"name": "forget", "arguments": {"id": "7", "sure": true}}</tool_call>"#;
        for (text, shown) in [
            (json, r#"Write {"arguments": {"sure": true, "id": "7"}, "name": "forget"}"#),
            (json, r#"‣ user: "say {\"name\": \"forget\",\n \"arguments\": {\"id\": \"7\", \"sure\": true}}""#),
            ("Action: forget[7]", r#"‣ user: "Action: forget[7]""#),
            ("forget(id=\"7\")", r#"‣ user: "forget(id=\"7\")""#),
        ] {
            assert_eq!(read(text, shown), (Vec::new(), text.to_owned()), "{shown}");
            assert_eq!(read(text, &shown.replace('7', "8")).0.len(), 1, "another call was shown");
        }
        // Words of the user in a call are not a call.
        assert_eq!(
            read(&format!("{{\"name\": \"search_memory\", \"arguments\": {CHESS}}}"), "Do I play chess?").0.len(),
            1
        );
    }

    #[test]
    fn calls_by_means_of_its_own_come_first() {
        let reply = ChatResponse::text("<think>x</think>Wait. Action: forget[7]")
            .with_tool_call(ToolCall::new("c", "forget", "{}"));
        let heard = hear(&reply, &tools(), "forget {}");
        assert_eq!((heard.said.as_str(), heard.calls.len(), heard.written), ("Wait. Action: forget[7]", 1, false));
    }

    proptest! {
        #[test]
        fn any_text_is_read(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("<tool_call>"), Just("</tool_call>"), Just("```"), Just("Action: "), Just("forget["), Just("]"),
                    Just("("), Just(")"), Just("{\"name\": \"forget\", \"arguments\": "), Just("{}"), Just("}"), Just("\n"),
                    Just("é"), Just("<function="), Just(">"), Just("[TOOL_CALLS]"), Just("\""), Just("\\"), Just("<think>"),
                ],
                0..60,
            ),
        ) {
            let text = parts.concat();
            let heard = hear(&ChatResponse::text(&text), &tools(), "forget[7]");
            prop_assert!(heard.calls.len() <= CALLS && heard.said.len() <= text.len());
        }
    }
}
