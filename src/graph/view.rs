use std::{collections::HashMap, fmt::Write};

use serde::Serialize;

use crate::{Entity, EntityId, Relation};

/// A graph, or a part of one, to look at: with exports to drawing languages and JSON.
///
/// ```
/// use ingrain::{Entity, EntityId, GraphView, Relation, RelationId, Scope, Timestamp};
/// let (scope, now) = (Scope::user("alice"), Timestamp::default());
/// let ana = Entity::new(EntityId::new(now), scope.clone(), "Ana", now);
/// let clinic = Entity::new(EntityId::new(now), scope.clone(), "Mar Clinic", now);
/// let works = Relation::new(RelationId::new(now), scope, (ana.id, "works_at", clinic.id), "Ana works at Mar Clinic", now);
/// let view = GraphView::new(vec![ana, clinic], vec![works]);
/// assert_eq!(view.to_mermaid(), "graph LR\n  n0[\"Ana\"]\n  n1[\"Mar Clinic\"]\n  n0 -->|\"works_at\"| n1\n");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphView {
    /// The entities.
    pub entities: Vec<Entity>,
    /// The relations.
    pub relations: Vec<Relation>,
}

impl GraphView {
    /// A view of these.
    #[must_use]
    pub fn new(entities: Vec<Entity>, relations: Vec<Relation>) -> Self {
        Self { entities, relations }
    }

    /// A flowchart in Mermaid. Entities and relations come in the order they have here; what has ended is dashed, with its
    /// dates. Names are data: no text of theirs becomes part of the language.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("graph LR\n");
        let numbers = self.numbers();
        // Writing to a string does not fail.
        for (number, entity) in self.entities.iter().enumerate() {
            let _ = writeln!(out, "  n{number}[\"{}\"]", mermaid(&entity.name));
        }
        for relation in &self.relations {
            let Some((from, to)) = ends(&numbers, relation) else { continue };
            let arrow = if relation.invalid_at.is_some() { "-.->" } else { "-->" };
            let _ = writeln!(out, "  n{from} {arrow}|\"{}\"| n{to}", mermaid(&label(relation)));
        }
        out
    }

    /// A directed graph in DOT, the language of Graphviz, otherwise as [`to_mermaid`](Self::to_mermaid).
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph memory {\n  rankdir=LR;\n");
        let numbers = self.numbers();
        for (number, entity) in self.entities.iter().enumerate() {
            let _ = writeln!(out, "  n{number} [label=\"{}\"];", dot(&entity.name));
        }
        for relation in &self.relations {
            let Some((from, to)) = ends(&numbers, relation) else { continue };
            let style = if relation.invalid_at.is_some() { ", style=dashed" } else { "" };
            let _ = writeln!(out, "  n{from} -> n{to} [label=\"{}\"{style}];", dot(&label(relation)));
        }
        out.push_str("}\n");
        out
    }

    /// All of it as JSON: `{"entities": […], "relations": […]}`, each with every field.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn numbers(&self) -> HashMap<EntityId, usize> {
        self.entities.iter().enumerate().map(|(number, entity)| (entity.id, number)).collect()
    }
}

fn ends(numbers: &HashMap<EntityId, usize>, relation: &Relation) -> Option<(usize, usize)> {
    numbers.get(&relation.subject).copied().zip(numbers.get(&relation.object).copied())
}

/// The predicate, with the dates of one that has ended.
fn label(relation: &Relation) -> String {
    let day = |at: chrono::DateTime<chrono::Utc>| at.format("%Y-%m-%d").to_string();
    match relation.invalid_at {
        Some(end) => {
            let begin = relation.valid_at.map_or_else(|| "?".to_owned(), day);
            format!("{} ({begin} – {})", relation.predicate, day(end))
        }
        None => relation.predicate.clone(),
    }
}

/// Mermaid has no escapes inside quotes but entities of its own form.
fn mermaid(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | '|' | ';' => {
                let _ = write!(out, "#{};", u32::from(char));
            }
            char if is_unseen(char) => out.push(' '),
            char => out.push(char),
        }
    }
    out
}

/// Controls, and marks that change the direction or the line of what stands around them.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn dot(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char if is_unseen(char) => out.push(' '),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RelationId, Scope, Timestamp};

    fn view(name: &str, predicate: &str) -> GraphView {
        let (scope, now) = (Scope::user("a"), Timestamp::default());
        let entity = |number: u8, name: &str| Entity::new(EntityId::from_bytes([number; 16]), scope.clone(), name, now);
        let (one, other) = (entity(1, name), entity(2, "B"));
        let id = RelationId::from_bytes([3; 16]);
        let relation = Relation::new(id, scope.clone(), (one.id, predicate, other.id), "f", now);
        GraphView::new(vec![one, other], vec![relation])
    }

    #[test]
    fn names_are_no_language() {
        for hostile in ["a\"]\n  x --> y", "#quot;", "a|b", "\\\" ]; }", "</script>", "`;", "a\u{202e}b\u{2028}c"] {
            let mermaid = view(hostile, hostile).to_mermaid();
            assert_eq!((mermaid.lines().count(), mermaid.matches('"').count()), (4, 6), "{mermaid}");
            assert!(!mermaid.contains(['\u{202e}', '\u{2028}']));
            let dot = view(hostile, hostile).to_dot();
            let unescaped = dot.replace("\\\\", "").replace("\\\"", "").matches('"').count();
            assert_eq!((dot.lines().count(), unescaped), (6, 6), "{dot}");
        }
    }

    #[test]
    fn what_has_ended_is_dashed_and_dated() {
        let mut past = view("A", "knows");
        past.relations.iter_mut().for_each(|relation| relation.invalid_at = Some(Timestamp::default()));
        assert!(past.to_mermaid().contains("n0 -.->|\"knows (? – 1970-01-01)\"| n1"));
        assert!(past.to_dot().contains("style=dashed"));
        assert_eq!(past.to_json().pointer("/relations/0/predicate").and_then(|value| value.as_str()), Some("knows"));
    }
}
