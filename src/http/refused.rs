use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde_json::{Map, Value};

use super::{HttpError, Refusal};

/// A part of a request that some servers refuse, and that a request can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// What it is called here.
    pub name: &'static str,
    /// What a server that refuses it calls it.
    pub words: &'static [&'static str],
    /// Whether its value may be refused while the parameter is not: then it is a fault of the call.
    pub has_range: bool,
}

/// What the server has refused so far: it is not sent again by the clients that share this.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<BTreeSet<&'static str>>);

/// What a server says of a value that is out of range, and not of a parameter that it does not know.
const RANGE: [&str; 9] =
    ["too large", "at most", "maximum", "minimum", "must be", "less than", "greater than", "between", "exceed"];

/// Tools, which a request that offers some cannot do without.
const TOOLS: Parameter = Parameter {
    name: "tools",
    words: &["tools", "tool use", "tool choice", "tool calling", "tool calls", "function calling", "functions"],
    has_range: false,
};

/// What a server says of tools that it does not know, and not of one that it does not like.
const UNKNOWN: [&str; 6] = ["support", "requires --enable", "not permitted", "unknown", "unrecognized", "unexpected"];

impl Refused {
    /// Whether the server has no tools, as far as is known.
    pub(crate) fn lacks_tools(&self) -> bool {
        self.has(TOOLS)
    }

    /// Whether the server refused a request because it has no tools: then it is remembered. That a tool cannot be forced
    /// is not meant.
    pub(crate) fn learn_tools(&self, error: &HttpError) -> bool {
        let meant = |refusal: &Refusal| {
            refusal.says(&UNKNOWN) && !refusal.says(&["tool_choice"]) && !refusal.param.contains("tool_choice")
        };
        error.refusal().is_some_and(meant) && self.learn(error, &[TOOLS])
    }

    pub(crate) fn has(&self, parameter: Parameter) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(parameter.name)
    }

    /// Whether the server refused one of the parameters that were sent: then it is remembered, and the request is worth
    /// sending again. True also if it was remembered meanwhile, since the request that failed still held it; every time
    /// means one parameter less, so asking again comes to an end.
    pub(crate) fn learn(&self, error: &HttpError, sent: &[Parameter]) -> bool {
        let Some(refusal) = error.refusal().filter(|refusal| matches!(refusal.status, 400 | 404 | 422 | 500 | 501))
        else {
            return false;
        };
        let message = refusal.message.to_lowercase();
        let out_of_range = RANGE.iter().any(|words| message.contains(words));
        // A server that says which field it means is believed; else the field that it mentions first.
        let by_field = sent.iter().find(|parameter| {
            parameter.words.iter().any(|word| refusal.param.split(['.', '[', ']', ' ']).any(|part| part == *word))
        });
        let first_mention =
            |parameter: &&Parameter| parameter.words.iter().filter_map(|word| mention(&message, word)).min();
        let by_message = || sent.iter().filter(|p| first_mention(p).is_some()).min_by_key(first_mention);
        let found = by_field.or_else(by_message).filter(|parameter| !(parameter.has_range && out_of_range));
        if let Some(parameter) = found {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(parameter.name);
        }
        found.is_some()
    }
}

/// A request's body as it is put together, without what the server refuses.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    fields: Map<String, Value>,
    refused: &'a Refused,
    sent: Vec<Parameter>,
}

impl<'a> Body<'a> {
    pub(crate) fn new(refused: &'a Refused) -> Self {
        Self { fields: Map::new(), refused, sent: Vec::new() }
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.fields.insert(key.to_owned(), value.into());
    }

    /// Sets what the server may refuse; whether it does not so far.
    pub(crate) fn offer(&mut self, parameter: Parameter, key: &str, value: impl Into<Value>) -> bool {
        let takes = !self.refused.has(parameter);
        if takes {
            self.set(key, value);
            self.sent.push(parameter);
        }
        takes
    }

    /// The body, and what of it the server may still refuse.
    pub(crate) fn done(self) -> (Value, Vec<Parameter>) {
        (Value::Object(self.fields), self.sent)
    }
}

/// The shortest digits that mean this number: 0.7, not 0.699999988079071.
pub(crate) fn digits(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_default()
}

/// Where `word` stands in the text by itself, not inside of a longer name.
fn mention(text: &str, word: &str) -> Option<usize> {
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::default_kind;

    const TEMPERATURE: Parameter = Parameter { name: "temperature", words: &["temperature"], has_range: false };
    const LIMIT: Parameter = Parameter { name: "max_tokens", words: &["max_tokens"], has_range: true };

    fn refused(body: &serde_json::Value) -> Option<&'static str> {
        let refusal = Refusal::read(400, body.to_string().as_bytes());
        let error = HttpError::of_refusal("openai", default_kind(&refusal), refusal, None, &[], &[]);
        let refused = Refused::default();
        let learned = refused.learn(&error, &[TEMPERATURE, LIMIT]);
        let found = [TEMPERATURE, LIMIT].into_iter().find(|parameter| refused.has(*parameter));
        assert_eq!(learned, found.is_some());
        found.map(|parameter| parameter.name)
    }

    #[test]
    fn a_refused_parameter_is_recognised_in_the_words_of_many_servers() {
        for (body, expected) in [
            (json!({"error": {"param": "temperature", "message": "no"}}), Some("temperature")),
            (
                json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}}),
                Some("max_tokens"),
            ),
            (json!({"error": {"message": "use max_completion_tokens"}}), None),
            (json!({"error": {"message": "`temperature` is deprecated for this model."}}), Some("temperature")),
            (
                json!({"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]}),
                Some("max_tokens"),
            ),
            (json!({"message": "max_tokens cannot be used with temperature"}), Some("max_tokens")),
            (json!({"error": "unknown field: temperature"}), Some("temperature")),
            (json!({"error": {"message": "max_tokens is too large: 500000. This model supports at most 4096"}}), None),
            (json!({"error": {"message": "the roof is on fire"}}), None),
            (json!({"error": {"message": "temperatures, or mytemperature"}}), None),
        ] {
            assert_eq!(refused(&body), expected, "{body}");
        }
    }
}
