use serde_json::json;

use super::*;

fn of(value: &Value) -> (Vec<String>, usize) {
    let read = read(value, MOST_OF_A_FACT);
    let line = |relation: &ExtractedRelation| {
        let ExtractedRelation { subject, predicate, object, .. } = relation;
        let end = |end: &Mention| format!("{}:{}", end.name, end.entity_type.as_deref().unwrap_or("?"));
        format!("{} {predicate} {}", end(subject), end(object))
    };
    (read.relations.iter().map(line).collect(), read.ignored.len())
}

#[test]
fn one_relation_in_many_shapes() {
    for value in [
        json!([{"subject": "Ana", "subject_type": null, "predicate": "works_at", "object": "Mar", "object_type": null}]),
        json!({"subject": "Ana", "predicate": " works  at ", "object": "Mar"}),
        json!([["Ana", "works_at", "Mar"]]),
        json!(["Ana", "works_at", "Mar"]),
        json!([{"source": "Ana", "relationship": "works_at", "destination": "Mar"}]),
        json!([{"from": "Ana", "to": "Mar", "type": "works_at"}]),
        json!([{"head": "Ana", "relation": "works_at", "tail": "Mar"}]),
        json!([{"source": {"name": "Ana"}, "type": "works_at", "target": {"id": "Mar"}}]),
        json!({"nodes": ["Ana", "Mar"], "edges": [["Ana", "works_at", "Mar"]]}),
        json!([["Ana", "works_at", "Mar"], {"subject": "Ana", "predicate": "works_at", "object": "Mar"}]),
    ] {
        assert_eq!(of(&value), (vec!["Ana:? works_at Mar:?".to_owned()], 0), "{value}");
    }
    let typed =
        json!([{"head": "I", "head_type": "person", "relation": "born_in", "tail": {"name": 1984, "type": "year"}}]);
    assert_eq!(of(&typed), (vec!["user:person born_in 1984:year".to_owned()], 0));
    for nothing in [json!(null), json!([]), json!({})] {
        assert_eq!(of(&nothing), (Vec::new(), 0));
    }
}

#[test]
fn what_names_nobody_is_reported() {
    for value in [
        json!([{"subject": " ", "predicate": "p", "object": "Mar"}]),
        json!([{"subject": "Ana", "predicate": "", "object": "Mar"}]),
        json!([{"subject": "Ana", "predicate": "p"}]),
        json!([{"subject": "<name>", "predicate": "p", "object": "Mar"}]),
        json!([["Ana", "p"]]),
        json!([["Ana", "p", null]]),
        json!(["Ana p Mar"]),
        json!([7]),
        json!([["She", "p", "Mar"]]),
        json!([["Ana", "p", " ANA"]]),
        json!([["the user", "p", "I"]]),
        json!([["A".repeat(NAME + 1), "p", "Mar"]]),
        json!([["Ana", "p".repeat(TERM + 1), "Mar"]]),
        json!({"subject": {"type": "string"}, "predicate": {"type": "string"}, "object": {"type": "string"}}),
    ] {
        assert_eq!(of(&value), (Vec::new(), 1), "{value}");
    }
    let many: Vec<Value> = (0..40).map(|number| json!(["Ana", "p", format!("Mar {number}")])).collect();
    assert_eq!((of(&json!(many)).0.len(), of(&json!(many)).1), (MOST_OF_A_FACT, 1));
}

#[test]
fn the_examples_are_those_of_the_prompt() {
    let prompt = include_str!("../prompts/relations.md").to_owned() + EXAMPLE;
    assert!(EXAMPLES.iter().all(|example| prompt.contains(example)));
}
