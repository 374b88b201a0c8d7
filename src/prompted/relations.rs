//! The relations in an answer: what is asked for, and how it is read.

use schemars::JsonSchema;
use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{facts::is_placeholder, schema::strict};
use crate::{ExtractedRelation, Fact, Ignored, Mention, score::names::folded};

// Without comments that would go into the schema: the prompt says what each is.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct RelationForm {
    subject: String,
    subject_type: Option<String>,
    predicate: String,
    object: String,
    object_type: Option<String>,
    single_valued: bool,
}

/// A relation of the example in the prompt.
const EXAMPLE: &str = r#"{"relations":[{"subject":"user","subject_type":"person","predicate":"lives_in","object":"Tromsø","object_type":"place","single_valued":true}]}"#;
/// The names that the prompt has as examples, without qualifiers.
pub(super) const EXAMPLES: [&str; 2] = ["Ana", "Tromsø"];

/// What an application says of the relations it wants.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    /// What entities may be; empty for a free choice.
    pub(super) entity_types: Vec<String>,
    /// What may connect them; empty for a free choice.
    pub(super) predicates: Vec<String>,
    /// Predicates with one object at a time; empty if the model is to tell.
    pub(super) single_valued: Vec<String>,
}

impl Vocabulary {
    /// The strict schema of a list of relations.
    pub(super) fn schema(&self) -> Value {
        let mut schema = strict::<RelationForm>();
        let Some(Value::Object(properties)) = schema.pointer_mut("/properties") else { return schema };
        let choice = |list: &[String]| Value::from(list.to_vec());
        if !self.predicates.is_empty() {
            let mut list = self.predicates.clone();
            if !list.iter().any(|known| same_term(known, ExtractedRelation::SAME_AS)) {
                list.push(ExtractedRelation::SAME_AS.to_owned());
            }
            properties.insert("predicate".to_owned(), serde_json::json!({"type": "string", "enum": list}));
        }
        if !self.entity_types.is_empty() {
            let one = serde_json::json!({"type": "string", "enum": choice(&self.entity_types)});
            for end in ["subject_type", "object_type"] {
                properties.insert(end.to_owned(), serde_json::json!({"anyOf": [one, {"type": "null"}]}));
            }
        }
        if !self.single_valued.is_empty() {
            properties.remove("single_valued");
        }
        let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
        if let Some(members) = schema.as_object_mut() {
            members.insert("required".to_owned(), Value::from(names));
        }
        serde_json::json!({"type": "array", "items": schema})
    }

    /// What is said of them in the prompt, behind what is the same for all.
    pub(super) fn lines(&self) -> Vec<String> {
        let list = |list: &[String]| Value::from(list.to_vec());
        let mut lines = Vec::new();
        lines.push(if self.predicates.is_empty() {
            "`predicate`: a short verb in English and snake_case for what holds (\"lives_in\", not \"moved_to\")."
                .to_owned()
        } else {
            format!("`predicate`: one of {}, or no relation.", list(&self.predicates))
        });
        lines.push(if self.entity_types.is_empty() {
            "`subject_type`, `object_type`: in a word, such as person, place or organization.".to_owned()
        } else {
            format!("`subject_type`, `object_type`: one of {}, or null.", list(&self.entity_types))
        });
        if self.single_valued.is_empty() {
            lines.push("`single_valued`: whether there is but one such object at a time.".to_owned());
        }
        let Self { entity_types, predicates, single_valued } = self;
        if [entity_types, predicates, single_valued].iter().all(|list| list.is_empty()) {
            lines.push(format!("For its form alone: {EXAMPLE}"));
        }
        lines
    }

    /// The relation in the words of the lists, or why it is none.
    fn chosen(&self, mut relation: ExtractedRelation) -> Result<ExtractedRelation, &'static str> {
        if !self.predicates.is_empty() && !same_term(&relation.predicate, ExtractedRelation::SAME_AS) {
            let listed = self.predicates.iter().find(|known| same_term(known, &relation.predicate));
            listed.ok_or("a relation whose predicate is not in the list")?.clone_into(&mut relation.predicate);
        }
        if !self.entity_types.is_empty() {
            for end in [&mut relation.subject, &mut relation.object] {
                let listed = |given: String| self.entity_types.iter().find(|known| same_term(known, &given)).cloned();
                end.entity_type = end.entity_type.take().and_then(listed);
            }
        }
        if !self.single_valued.is_empty() {
            relation.single_valued = self.single_valued.iter().any(|known| same_term(known, &relation.predicate));
        }
        Ok(relation)
    }
}

/// Whether two words of a schema are the same but for case and what stands between words.
fn same_term(one: &str, other: &str) -> bool {
    let plain = |term: &str| folded(term).replace([' ', '-', '_'], "");
    plain(one) == plain(other)
}

/// Most relations of one fact, and of one answer.
const MOST_OF_A_FACT: usize = 16;
const MOST: usize = 1_000;
/// Longest name and longest predicate or type, in bytes.
const NAME: usize = 200;
const TERM: usize = 100;

/// Names that models give to a list of relations, ours first.
const LISTS: [&str; 5] = ["relations", "relationships", "triples", "edges", "graph"];
const SUBJECTS: [&str; 5] = ["subject", "source", "from", "head", "start"];
const PREDICATES: [&str; 7] = ["predicate", "relation", "relationship", "relation_type", "verb", "label", "type"];
const OBJECTS: [&str; 6] = ["object", "destination", "target", "to", "tail", "end"];
/// What names nobody.
const PRONOUNS: &str = "he she it they him her them his hers its their theirs this that these those there here we us you \
    who which someone somebody something unknown none nobody n/a";
/// What means the user.
const USER: [&str; 6] = [Mention::USER, "the user", "i", "me", "myself", "speaker"];

/// Relations as they stand in one place of an answer, and what there could not be used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Relations {
    pub(super) relations: Vec<ExtractedRelation>,
    pub(super) ignored: Vec<Ignored>,
}

/// Reads the relations of a fact.
pub(super) fn read_of_fact(members: &Map<String, Value>) -> Relations {
    LISTS.iter().find_map(|name| members.get(*name)).map_or_else(Relations::default, |list| read(list, MOST_OF_A_FACT))
}

/// Reads relations that stand beside the facts.
pub(super) fn read_apart(members: &Map<String, Value>) -> Relations {
    LISTS.iter().find_map(|name| members.get(*name)).map_or_else(Relations::default, |list| read(list, MOST))
}

/// Reads a list of relations in whatever form: objects with our names or others, lists of three, one alone, a graph.
fn read(value: &Value, most: usize) -> Relations {
    let inner = value.as_object().and_then(|members| LISTS.iter().find_map(|name| members.get(*name)));
    let value = inner.filter(|inner| inner.is_array()).unwrap_or(value);
    let one;
    let items: &[Value] = match value {
        Value::Null => &[],
        // One triple, or a list of things.
        Value::Array(parts) if parts.len() == 3 && parts.iter().all(Value::is_string) => {
            one = [value.clone()];
            &one
        }
        Value::Array(items) => items,
        Value::Object(members) if members.is_empty() => &[],
        other => {
            one = [other.clone()];
            &one
        }
    };
    let mut read = Relations::default();
    if items.len() > most {
        read.ignored.push(Ignored::new(format!("more than {most} relations in one place")));
    }
    for item in items.iter().take(most) {
        match relation(item) {
            Ok(relation) if read.relations.contains(&relation) => {}
            Ok(relation) => read.relations.push(relation),
            Err(reason) => read.ignored.push(Ignored::new(reason)),
        }
    }
    read
}

/// One relation, or why it is none.
fn relation(item: &Value) -> Result<ExtractedRelation, &'static str> {
    let (subject, predicate, object, single_valued) = match item {
        Value::Array(parts) => match parts.as_slice() {
            [subject, predicate, object] => (mention(subject), text(predicate), mention(object), false),
            _ => return Err("a list that is no relation of three parts"),
        },
        Value::Object(members) => {
            let of = |names: &[&str]| names.iter().find_map(|name| members.get(*name));
            let end = |names: &[&str]| {
                let mut mention = of(names).and_then(mention)?;
                let given = names.iter().find_map(|name| type_of(members, name));
                mention.entity_type = given.or(mention.entity_type);
                Some(mention)
            };
            let single_valued = match members.get("single_valued") {
                Some(Value::Bool(single)) => *single,
                Some(Value::String(said)) => said.trim().eq_ignore_ascii_case("true"),
                _ => false,
            };
            (end(&SUBJECTS), of(&PREDICATES).and_then(text), end(&OBJECTS), single_valued)
        }
        _ => return Err("something else in the place of a relation"),
    };
    let (Some(subject), Some(predicate), Some(object)) = (subject, predicate, object) else {
        return Err("a relation without two named ends or without a predicate");
    };
    let pronoun = |end: &Mention| PRONOUNS.split_whitespace().any(|word| word == folded(&end.name));
    if pronoun(&subject) || pronoun(&object) {
        return Err("a relation with an end that nobody named");
    }
    if subject.name.len() > NAME || object.name.len() > NAME || predicate.len() > TERM {
        return Err("a relation with a name or predicate that is too long");
    }
    if folded(&subject.name) == folded(&object.name) {
        return Err("a relation of one with itself");
    }
    // Words of a predicate are joined, since models do not agree on it; otherwise it stays as it is.
    let predicate = predicate.split_whitespace().collect::<Vec<_>>().join("_");
    Ok(ExtractedRelation { single_valued, ..ExtractedRelation::new(subject, predicate, object) })
}

/// A text that is one; a number is a name, too.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let bracketed = text.starts_with('<') && text.ends_with('>');
    let says_nothing = text.is_empty() || bracketed || text.eq_ignore_ascii_case("null");
    (!says_nothing).then_some(text)
}

/// A name, also as an object with a type.
fn mention(value: &Value) -> Option<Mention> {
    let (name, entity_type) = match value {
        Value::Object(members) => {
            let name = ["name", "id", "text", "entity"].iter().find_map(|key| members.get(*key).and_then(text))?;
            (name, ["type", "entity_type", "label"].iter().find_map(|key| members.get(*key).and_then(term)))
        }
        other => (text(other)?, None),
    };
    let is_user = USER.contains(&folded(&name).as_str());
    Some(Mention { entity_type, ..Mention::new(if is_user { Mention::USER.to_owned() } else { name }) })
}

fn type_of(members: &Map<String, Value>, end: &str) -> Option<String> {
    members.get(&format!("{end}_type")).and_then(term)
}

fn term(value: &Value) -> Option<String> {
    text(value).filter(|term| term.len() <= TERM && !is_placeholder(term))
}

/// Gives the facts of an answer their relations: those that stood with them, and those that stood apart to the first
/// fact that names both ends. What is too much, in no list, or fits nowhere is reported.
pub(super) struct Sorting<'a> {
    vocabulary: &'a Vocabulary,
    /// Whether a relation is one of the prompt's own.
    is_echo: &'a dyn Fn(&ExtractedRelation) -> bool,
    left: usize,
    too_many: bool,
    ignored: Vec<Ignored>,
}

impl<'a> Sorting<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary, is_echo: &'a dyn Fn(&ExtractedRelation) -> bool) -> Self {
        Self { vocabulary, is_echo, left: MOST, too_many: false, ignored: Vec::new() }
    }

    /// What could not be used.
    pub(super) fn into_ignored(mut self) -> Vec<Ignored> {
        if self.too_many {
            let reason = format!("more than {MOST_OF_A_FACT} relations of a fact, or {MOST} in one answer");
            self.ignored.push(Ignored::new(reason));
        }
        self.ignored
    }

    /// To a fact that they stood with.
    pub(super) fn give(&mut self, fact: &mut Fact, read: Relations) {
        self.ignored.extend(read.ignored);
        for relation in read.relations {
            self.put(fact, relation);
        }
    }

    /// To the facts that name their ends.
    pub(super) fn give_apart(&mut self, facts: &mut [Fact], read: Relations) {
        self.ignored.extend(read.ignored);
        let texts: Vec<String> = facts.iter().map(|fact| spaced(&fact.text)).collect();
        for relation in read.relations {
            let ends = [&relation.subject, &relation.object].map(|end| spaced(bare(&end.name)));
            let is_named = |text: &String, end: &String| *end == spaced(Mention::USER) || text.contains(end.as_str());
            let place = texts.iter().position(|text| ends.iter().all(|end| is_named(text, end)));
            match place.and_then(|place| facts.get_mut(place)) {
                Some(fact) => self.put(fact, relation),
                None => self.ignored.push(Ignored::new("a relation that belongs to no fact")),
            }
        }
    }

    fn put(&mut self, fact: &mut Fact, relation: ExtractedRelation) {
        let refused = match self.vocabulary.chosen(relation) {
            Ok(relation) if fact.relations.contains(&relation) => return,
            Ok(relation) if (self.is_echo)(&relation) => "a piece of the prompt in the place of a relation",
            // Told once, however many there are.
            Ok(_) if fact.relations.len() >= MOST_OF_A_FACT || self.left == 0 => {
                self.too_many = true;
                return;
            }
            Ok(relation) => {
                self.left -= 1;
                fact.relations.push(relation);
                return;
            }
            Err(reason) => reason,
        };
        self.ignored.push(Ignored::new(refused));
    }
}

/// The words of a text with a space around each, so that a name is found as whole words.
fn spaced(text: &str) -> String {
    let folded = folded(text);
    let words: Vec<&str> = folded.unicode_words().collect();
    if words.is_empty() { folded } else { format!(" {} ", words.join(" ")) }
}

/// The name without a qualifier in brackets.
pub(super) fn bare(name: &str) -> &str {
    let bare = name.split_once(" (").map_or(name, |(bare, _)| bare);
    if bare.trim().is_empty() { name } else { bare }
}

#[cfg(test)]
mod tests;
