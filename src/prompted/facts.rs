//! The form of an answer that lists facts, and how it is read.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{
    parse::{Fit, Fitting},
    period::Period,
    relations::{Relations, read_apart, read_of_fact},
    schema::strict,
};
use crate::{Ignored, MemoryKind, score::sameness::normalized};

/// The answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct FactList {
    /// The facts, in the order of the messages; empty if there are none.
    facts: Vec<FactForm>,
}

/// One fact.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct FactForm {
    /// The statement.
    text: String,
    kind: KindForm,
    categories: Vec<String>,
    /// From 0 to 1.
    importance: f32,
    /// Since when it holds: YYYY-MM-DD, YYYY-MM, YYYY or null.
    since: Option<String>,
    /// Until when a state held that is over: YYYY-MM-DD, YYYY-MM, YYYY or null.
    until: Option<String>,
    /// The number of the message it rests on.
    message: u32,
    /// The words of the message it rests on.
    quote: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
enum KindForm {
    Fact,
    Preference,
    Procedure,
}

/// The choices that are closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed<'a> {
    /// The categories to choose from; empty for a free choice.
    pub(super) categories: &'a [String],
}

impl Closed<'_> {
    /// Those that may be chosen, as they are spelled in the list.
    pub(super) fn chosen(&self, given: Vec<String>) -> Vec<String> {
        if self.categories.is_empty() {
            return given;
        }
        let listed = |name: &String| self.categories.iter().find(|known| known.to_lowercase() == name.to_lowercase());
        let mut chosen: Vec<String> = Vec::new();
        for name in given.iter().filter_map(listed) {
            if !chosen.contains(name) {
                chosen.push(name.clone());
            }
        }
        chosen
    }
}

/// The strict schema of the answer, with relations if there is one for them.
pub(super) fn answer_schema(closed: &Closed<'_>, relations: Option<Value>) -> Value {
    let mut schema = strict::<FactList>();
    if let (Some(relations), Some(Value::Object(fact))) = (relations, schema.pointer_mut("/properties/facts/items")) {
        if let Some(Value::Object(properties)) = fact.get_mut("properties") {
            properties.insert("relations".to_owned(), relations);
        }
        if let Some(Value::Array(required)) = fact.get_mut("required") {
            required.push("relations".into());
        }
    }
    let items = schema.pointer_mut("/properties/facts/items/properties/categories/items");
    if let Some(Value::Object(items)) = items.filter(|_| !closed.categories.is_empty()) {
        items.insert("enum".to_owned(), Value::from(closed.categories.to_vec()));
    }
    schema
}

/// A fact as the model gave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// Without white space at the ends; may be empty.
    pub(super) text: String,
    pub(super) kind: MemoryKind,
    pub(super) categories: Vec<String>,
    pub(super) importance: Option<f32>,
    /// The time that was named as its beginning.
    pub(super) since: Option<Period>,
    /// The time that was named as its end, which it still held in.
    pub(super) until: Option<Period>,
    pub(super) message: Option<usize>,
    pub(super) quote: Option<String>,
    pub(super) relations: Relations,
}

/// All of an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Statements {
    pub(super) statements: Vec<Statement>,
    pub(super) ignored: Vec<Ignored>,
    /// Relations that stand beside the facts.
    pub(super) apart: Relations,
}

/// Names that models give to the list, ours first.
const LISTS: [&str; 9] =
    ["facts", "memories", "items", "statements", "results", "data", "answer", "output", "properties"];
/// Names that models give to the text of a fact, ours first.
const TEXTS: [&str; 6] = ["text", "fact", "memory", "statement", "content", "value"];

/// Most facts of one answer: far more than fit into the room that an answer has.
const MOST: usize = 1_000;
/// Most categories of one fact.
const CATEGORIES: usize = 8;
/// Longest category, in bytes.
const CATEGORY: usize = 100;
/// What stands for a text in the schema, and is said by models that give it back.
const PLACEHOLDERS: [&str; 6] = ["string", "text", "fact", "statement", "the statement", "null"];

/// Reads a list of facts: `{"facts": […]}` as asked for; under another name; bare; one fact alone; texts by number or
/// name, `{"0": "…", "1": "…"}`; all of that inside one more object.
pub(super) fn read_facts(value: &Value) -> Fitting<Statements> {
    match value {
        Value::Array(items) if items.is_empty() => Some((Fit::Vague, Statements::default())),
        Value::Array(items) => {
            let read = read_items(items);
            // Footnotes in prose are lists, too: [1].
            let usable = !read.statements.is_empty();
            usable.then_some((Fit::Loose, read))
        }
        Value::Object(members) => read_object(members),
        _ => None,
    }
}

fn read_object(members: &Map<String, Value>) -> Fitting<Statements> {
    if let Some(facts) = members.get("facts") {
        return Some((Fit::Whole, Statements { apart: read_apart(members), ..read_list(facts)? }));
    }
    if text_of(members).is_some() {
        let read = read_items(&[Value::Object(members.clone())]);
        return (!read.statements.is_empty()).then_some((Fit::Loose, read));
    }
    if let Some(list) = LISTS.iter().find_map(|name| members.get(*name)) {
        let read = match list {
            Value::Object(inner) => read_object(inner)?.1,
            list => Statements { apart: read_apart(members), ..read_list(list)? },
        };
        return Some((Fit::Loose, read));
    }
    by_number(members).map(|read| (Fit::Loose, read))
}

fn read_list(value: &Value) -> Option<Statements> {
    match value {
        Value::Null => Some(Statements::default()),
        Value::Array(items) => {
            let read = read_items(items);
            // The schema, or something else, is no list without a fact.
            let stands_in = |item: &Value| item.is_object() || item.as_str().is_some_and(is_placeholder);
            let other = read.statements.is_empty() && items.iter().any(stands_in);
            (!other).then_some(read)
        }
        Value::Object(members) if members.is_empty() => Some(Statements::default()),
        Value::Object(members) if text_of(members).is_some() => Some(read_items(std::slice::from_ref(value))),
        Value::Object(members) => by_number(members),
        Value::String(_) => Some(read_items(std::slice::from_ref(value))),
        _ => None,
    }
}

/// Facts in a map keyed by numbers, in their order.
fn by_number(members: &Map<String, Value>) -> Option<Statements> {
    let numbered: Option<Vec<(u64, &Value)>> = members
        .iter()
        .map(|(key, value)| {
            let digits = key.trim_start_matches(|char: char| !char.is_ascii_digit());
            Some((digits.parse().ok()?, value)).filter(|(_, value)| value.is_string() || value.is_object())
        })
        .collect();
    let mut numbered = numbered.filter(|numbered| !numbered.is_empty())?;
    numbered.sort_by_key(|(number, _)| *number);
    let items: Vec<Value> = numbered.into_iter().map(|(_, value)| value.clone()).collect();
    Some(read_items(&items))
}

fn read_items(items: &[Value]) -> Statements {
    let mut read = Statements::default();
    if items.len() > MOST {
        read.ignored.push(Ignored::new(format!("more than {MOST} facts in one answer")));
    }
    for item in items.iter().take(MOST) {
        let statement = match item {
            Value::String(text) => Some(Statement::bare(text)),
            Value::Object(members) => Statement::of(members),
            _ => None,
        };
        match statement {
            Some(statement) if is_placeholder(&statement.text) => {
                read.ignored.push(Ignored::new("a placeholder in the place of a fact"));
            }
            Some(statement) => read.statements.push(statement),
            None => {
                let reason = format!("{} in the place of a fact", kind_of(item));
                read.ignored.push(Ignored::new(reason));
            }
        }
    }
    read
}

/// Whether a text only stands for one: a word of the schema, something in angle brackets, dots.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let bracketed = text.starts_with('<') && text.ends_with('>');
    let dots = !text.is_empty() && text.chars().all(|char| matches!(char, '.' | '…' | '-' | '_'));
    bracketed || dots || PLACEHOLDERS.contains(&normalized(text).as_str())
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object without text",
    }
}

fn text_of(members: &Map<String, Value>) -> Option<&str> {
    TEXTS.iter().find_map(|name| members.get(*name).and_then(Value::as_str))
}

impl Statement {
    fn bare(text: &str) -> Self {
        Self {
            text: text.trim().to_owned(),
            kind: MemoryKind::Fact,
            categories: Vec::new(),
            importance: None,
            since: None,
            until: None,
            message: None,
            quote: None,
            relations: Relations::default(),
        }
    }

    fn of(members: &Map<String, Value>) -> Option<Self> {
        let text = text_of(members)?;
        let string = |name: &str| members.get(name).and_then(Value::as_str);
        let kind = match string("kind").or_else(|| string("type")).unwrap_or_default().to_ascii_lowercase().as_str() {
            "preference" => MemoryKind::Preference,
            "procedure" => MemoryKind::Procedure,
            _ => MemoryKind::Fact,
        };
        let mut categories: Vec<String> = match members.get("categories").or_else(|| members.get("category")) {
            Some(Value::String(one)) => vec![one.trim().to_owned()],
            Some(Value::Array(several)) => {
                several.iter().filter_map(Value::as_str).map(|name| name.trim().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        categories.retain(|name| !name.is_empty() && name.len() <= CATEGORY);
        categories.truncate(CATEGORIES);
        Some(Self {
            kind,
            categories,
            importance: members.get("importance").and_then(number).map(importance),
            since: string("since").and_then(Period::read),
            until: string("until").and_then(Period::read),
            message: members.get("message").and_then(index),
            quote: string("quote").map(str::to_owned),
            relations: read_of_fact(members),
            ..Self::bare(text)
        })
    }
}

/// A number, also as a string.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A number that names something: a whole one, also as a string, in brackets or quotation marks.
pub(super) fn index(value: &Value) -> Option<usize> {
    match value {
        Value::Number(number) => {
            let whole = number.as_u64().or_else(|| {
                number.as_f64().filter(|float| float.fract() == 0.0).and_then(|float| format!("{float}").parse().ok())
            });
            whole.and_then(|whole| usize::try_from(whole).ok())
        }
        Value::String(text) => text.trim_matches(|char: char| !char.is_alphanumeric() && char != '-').parse().ok(),
        _ => None,
    }
}

/// Some models count to ten, whatever they are told.
fn importance(given: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1 by then")]
    let within = |given: f64| given.clamp(0.0, 1.0) as f32;
    if given > 1.0 && given <= 10.0 { within(given / 10.0) } else { within(given) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Timestamp;

    fn texts(value: &Value) -> Option<(Fit, Vec<String>, usize)> {
        let (fit, read) = read_facts(value)?;
        Some((fit, read.statements.into_iter().map(|statement| statement.text).collect(), read.ignored.len()))
    }

    #[test]
    fn one_list_in_many_shapes() {
        let whole = |expected: &[&str]| Some((Fit::Whole, expected.iter().map(|text| (*text).to_owned()).collect(), 0));
        let loose = |expected: &[&str]| Some((Fit::Loose, expected.iter().map(|text| (*text).to_owned()).collect(), 0));
        for value in [
            json!({"facts": ["a", "b"]}),
            json!({"facts": [{"text": "a"}, {"fact": " b "}]}),
            json!({"facts": {"0": "a", "1": {"text": "b"}}}),
        ] {
            assert_eq!(texts(&value), whole(&["a", "b"]), "{value}");
        }
        for value in [
            json!(["a", {"memory": "b"}]),
            json!({"memories": ["a", "b"]}),
            json!({"answer": {"facts": ["a", "b"]}}),
            json!({"2": "a", "10": "b"}),
            json!({"fact1": "a", "fact2": "b"}),
            json!([{"content": "a"}, "b"]),
        ] {
            assert_eq!(texts(&value), loose(&["a", "b"]), "{value}");
        }
        assert_eq!(texts(&json!({"text": "a", "kind": "fact"})), loose(&["a"]));
        for nothing in [json!({"facts": []}), json!({"facts": null}), json!({"facts": {}})] {
            assert_eq!(texts(&nothing), whole(&[]), "{nothing}");
        }
        assert_eq!(texts(&json!([])), Some((Fit::Vague, vec![], 0)));
        for other in [json!([1]), json!({}), json!({"error": "no"}), json!({"facts": 3}), json!([[]])] {
            assert_eq!(texts(&other), None, "{other}");
        }
        // The schema, sent back, whole and in parts; and a list of what stands for a fact.
        let schema = answer_schema(&Closed { categories: &[] }, None);
        let part = |path: &str| schema.pointer(path).cloned().unwrap_or_default();
        for echo in [
            schema.clone(),
            part("/properties"),
            part("/properties/facts"),
            json!({"facts": [part("/properties/facts/items")]}),
            json!({"facts": [{"text": "string", "kind": "fact", "quote": "string"}]}),
            json!({"facts": [{"text": "<statement>"}, {"text": "..."}]}),
        ] {
            assert_eq!(texts(&echo), None, "{echo}");
        }
        assert_eq!(texts(&json!({"properties": {"facts": ["a", "b"]}})), loose(&["a", "b"]));
        let many = json!({"facts": vec!["a"; 2 * MOST]});
        assert_eq!(texts(&many).map(|(_, texts, ignored)| (texts.len(), ignored)), Some((MOST, 1)));
        assert_eq!(texts(&json!({"facts": [null, 42, ["x"], {}, "a"]})), Some((Fit::Whole, vec!["a".into()], 4)));
    }

    #[test]
    fn what_belongs_to_a_fact_is_read_in_sloppy_forms() {
        let value = json!({"facts": [{
            "text": "a", "kind": "Preference", "category": " food ", "importance": "8", "since": "2023-05",
            "until": "2023-05-20T12:00:00Z", "message": "«1»", "quote": "q",
        }]});
        let at = |text: &str| text.parse::<Timestamp>().unwrap_or_default();
        let period = |start: &str, end: &str| Some(Period { start: at(start), end: at(end) });
        let expected = Statement {
            text: "a".into(),
            kind: MemoryKind::Preference,
            categories: vec!["food".into()],
            importance: Some(0.8),
            since: period("2023-05-01T00:00:00Z", "2023-06-01T00:00:00Z"),
            until: period("2023-05-20T12:00:00Z", "2023-05-20T12:00:00Z"),
            message: Some(1),
            quote: Some("q".into()),
            relations: Relations::default(),
        };
        assert_eq!(read_facts(&value).map(|(_, read)| read.statements), Some(vec![expected]));
        let numbers = [json!(2), json!("2"), json!(2.0), json!("[2]"), json!(-1), json!("-1"), json!("m2"), json!(1.5)];
        assert_eq!(numbers.map(|value| index(&value)), [Some(2), Some(2), Some(2), Some(2), None, None, None, None]);
    }
}
