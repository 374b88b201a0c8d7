//! JSON schemas in the subset that providers hold a model to.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Keywords that strict modes know. The others (`format`, `minimum`, `default`, `title`, …) make servers refuse the
/// schema, and what they demand is checked when the answer is read.
const KEPT: [&str; 11] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "description",
    "$ref",
    "$defs",
];
/// Deepest nesting that is rewritten: our own schemas are far below.
const DEPTH: usize = 32;

/// The schema of a type for a strict mode: every object closed, every property required (what may be missing may be
/// `null` instead), nothing in it but the keywords that strict modes know, no references where there is no recursion.
///
/// # Source
/// The subset is that of OpenAI's "Structured outputs", "Supported schemas"; others take more.
pub(crate) fn strict<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tighten(&mut schema, 0);
    schema
}

fn tighten(schema: &mut Value, depth: usize) {
    let Value::Object(members) = schema else { return };
    if depth > DEPTH {
        return;
    }
    if let Some(alternatives) = members.remove("oneOf") {
        members.insert("anyOf".to_owned(), alternatives);
    }
    members.retain(|keyword, _| KEPT.contains(&keyword.as_str()));
    let required: Vec<String> = members
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            tighten(property, depth + 1);
            if !required.contains(name) {
                allow_null(property);
            }
        }
        let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
        members.insert("required".to_owned(), Value::from(names));
        members.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(items) = members.get_mut("items") {
        tighten(items, depth + 1);
    }
    if let Some(Value::Array(alternatives)) = members.get_mut("anyOf") {
        alternatives.iter_mut().for_each(|alternative| tighten(alternative, depth + 1));
        merge_constants(members);
    }
    if let Some(Value::Object(definitions)) = members.get_mut("$defs") {
        definitions.values_mut().for_each(|definition| tighten(definition, depth + 1));
    }
}

/// Alternatives of strings alone are one enumeration: variants with documentation come apart.
fn merge_constants(members: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = members.get("anyOf") else { return };
    let strings = |alternative: &Value| match (alternative.get("const"), alternative.get("enum")) {
        (Some(one @ Value::String(_)), None) => Some(vec![one.clone()]),
        (None, Some(Value::Array(several))) if several.iter().all(Value::is_string) => Some(several.clone()),
        _ => None,
    };
    let all: Option<Vec<Vec<Value>>> = alternatives.iter().map(strings).collect();
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        members.remove("anyOf");
        members.insert("type".to_owned(), "string".into());
        members.insert("enum".to_owned(), Value::from(all.concat()));
    }
}

fn allow_null(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    let null = Value::from("null");
    match members.get("type").cloned() {
        Some(Value::Array(mut types)) => {
            if !types.contains(&null) {
                types.push(null);
                members.insert("type".to_owned(), Value::from(types));
            }
        }
        Some(Value::String(one)) if one == "null" => {}
        Some(Value::String(one)) if !members.contains_key("enum") => {
            members.insert("type".to_owned(), json!([one, "null"]));
        }
        _ => {
            let alone = std::mem::take(schema);
            *schema = json!({"anyOf": [alone, {"type": "null"}]});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Sample {
        /// What it is called.
        name: String,
        #[schemars(range(min = 0, max = 1))]
        weight: f32,
        #[serde(default)]
        labels: Vec<String>,
        when: Option<String>,
        kind: Kind,
        #[serde(default)]
        other: Option<Kind>,
        parts: Vec<Part>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Kind {
        /// One.
        First,
        Second,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Part {
        number: u8,
        #[serde(default)]
        inner: Option<Box<Sample>>,
    }

    fn check(schema: &Value) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    assert_eq!(members.get("additionalProperties"), Some(&Value::Bool(false)));
                    let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
                    assert_eq!(members.get("required"), Some(&Value::from(names)));
                    properties.values().for_each(check);
                }
                for (keyword, value) in members {
                    assert!(KEPT.contains(&keyword.as_str()), "{keyword} in {schema}");
                    match (keyword.as_str(), value) {
                        ("$defs", Value::Object(definitions)) => definitions.values().for_each(check),
                        ("items" | "anyOf", value) => check(value),
                        _ => {}
                    }
                }
            }
            Value::Array(schemas) => schemas.iter().for_each(check),
            _ => {}
        }
    }

    #[test]
    fn every_object_is_closed_and_whole() {
        let schema = strict::<Sample>();
        check(&schema);
        let property = |name: &str| schema.pointer(&format!("/properties/{name}")).cloned().unwrap_or_default();
        assert_eq!(property("name"), json!({"type": "string", "description": "What it is called."}));
        assert_eq!(property("weight"), json!({"type": "number"}));
        assert_eq!(property("labels"), json!({"type": ["array", "null"], "items": {"type": "string"}}));
        assert_eq!(property("when"), json!({"type": ["string", "null"]}));
        assert_eq!(property("kind"), json!({"type": "string", "enum": ["Second", "First"]}));
        assert!(property("other").to_string().contains("null"));
    }
}
