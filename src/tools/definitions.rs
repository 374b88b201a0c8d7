//! The tools, as a model is told of them.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::options::Options;
use crate::{MemoryKind, ToolDefinition, prompted::strict};

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Search,
    Categories,
    Add,
    Update,
    Forget,
    Blocks,
    Append,
    Replace,
    Rethink,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Search {
    /// What to look for: a few words or a question. Without it, the newest memories are listed.
    query: Option<String>,
    /// Only memories with one of these categories, as list_categories gives them.
    categories: Option<Vec<String>>,
    /// Only memories of these kinds. An episode is a turn of an earlier conversation, word for word.
    kinds: Option<Vec<String>>,
    /// Only what was said on this day or later (UTC): YYYY-MM-DD.
    from: Option<String>,
    /// Only what was said on this day or earlier (UTC): YYYY-MM-DD.
    to: Option<String>,
    /// Most memories, 1 to 20. Without it, 10.
    limit: Option<u32>,
}

#[derive(JsonSchema)]
struct Nothing {}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Add {
    /// One fact, self-contained and in the third person, with absolute dates: `Lives in Porto since May 2024`.
    text: String,
    /// What sort of memory it is. Without it, a fact.
    kind: Option<String>,
    /// Labels for it, such as `work`; prefer those that list_categories gives.
    categories: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Update {
    /// The id of the memory, as a search gives it.
    id: String,
    /// The new text, which takes the place of the old one as a whole.
    text: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Forget {
    /// The id of the memory, as a search gives it.
    id: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Append {
    /// The label of the block.
    label: String,
    /// What to add to its end, on a line of its own.
    text: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Replace {
    /// The label of the block.
    label: String,
    /// The text to replace, copied exactly; it must be there once.
    old: String,
    /// What to put in its place; empty to take it out.
    new: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct Rethink {
    /// The label of the block.
    label: String,
    /// The whole new text.
    text: String,
}

impl Tool {
    /// In the order they are offered in.
    const ALL: [Self; 9] = [
        Self::Search,
        Self::Categories,
        Self::Add,
        Self::Update,
        Self::Forget,
        Self::Blocks,
        Self::Append,
        Self::Replace,
        Self::Rethink,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Search => "search_memory",
            Self::Categories => "list_categories",
            Self::Add => "add_memory",
            Self::Update => "update_memory",
            Self::Forget => "forget_memory",
            Self::Blocks => "list_blocks",
            Self::Append => "append_block",
            Self::Replace => "replace_block",
            Self::Rethink => "rethink_block",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Search => {
                "Searches what is remembered of the user, from earlier conversations. Gives the best memories, each with an id \
                 in square brackets for the other tools."
            }
            Self::Categories => "Lists the categories that memories have, with how many have each.",
            Self::Add => {
                "Remembers one fact about the user for later conversations. What is known already is not stored twice, and \
                 what the fact contradicts no longer holds."
            }
            Self::Update => "Gives a memory that is wrong a new text. For what has changed in the world, add_memory.",
            Self::Forget => "Removes a memory, when the user asks for it or it was never true.",
            Self::Blocks => {
                "Lists the blocks of core memory, which are in every prompt: what each is for, says and may hold."
            }
            Self::Append => "Adds a text to a block of core memory.",
            Self::Replace => "Replaces one piece of the text of a block of core memory.",
            Self::Rethink => "Gives a block of core memory a new text as a whole, such as a shorter or better one.",
        }
    }

    /// The arguments that there must be, all of them texts.
    const fn required(self) -> &'static [&'static str] {
        match self {
            Self::Search | Self::Categories | Self::Blocks => &[],
            Self::Add => &["text"],
            Self::Update => &["id", "text"],
            Self::Forget => &["id"],
            Self::Append | Self::Rethink => &["label", "text"],
            Self::Replace => &["label", "old", "new"],
        }
    }

    const fn writes(self) -> bool {
        !matches!(self, Self::Search | Self::Categories | Self::Blocks)
    }

    const fn is_of_blocks(self) -> bool {
        matches!(self, Self::Blocks | Self::Append | Self::Replace | Self::Rethink)
    }

    /// Those that are offered.
    pub(super) fn offered(options: &Options) -> impl Iterator<Item = Self> {
        let makes_nothing = options.new_kinds().is_empty();
        Self::ALL.into_iter().filter(move |tool| match tool {
            tool if tool.writes() && options.read_only => false,
            tool if tool.is_of_blocks() => options.blocks,
            Self::Add => !makes_nothing,
            _ => true,
        })
    }

    /// The offered tool that a model means by a name: it may stand behind others (`functions.search_memory`) and be
    /// written in another way (`SearchMemory`).
    pub(super) fn named(name: &str, options: &Options) -> Option<Self> {
        fn letters(name: &str) -> impl Iterator<Item = char> {
            name.chars()
                .filter(|character| !matches!(character, '_' | '-' | ' '))
                .map(|letter| letter.to_ascii_lowercase())
        }
        let own = name.trim().rsplit(['.', '/', ':']).next().unwrap_or_default();
        Self::offered(options).find(|tool| letters(tool.name()).eq(letters(own)))
    }

    /// As a model is told.
    pub(super) fn definition(self, options: &Options) -> ToolDefinition {
        let mut schema = match self {
            Self::Search => strict::<Search>(),
            Self::Categories | Self::Blocks => strict::<Nothing>(),
            Self::Add => strict::<Add>(),
            Self::Update => strict::<Update>(),
            Self::Forget => strict::<Forget>(),
            Self::Append => strict::<Append>(),
            Self::Replace => strict::<Replace>(),
            Self::Rethink => strict::<Rethink>(),
        };
        let choice = |kinds: Vec<MemoryKind>| kinds.iter().map(|kind| Value::from(kind.as_str())).collect::<Vec<_>>();
        if let Some(Value::Object(kinds)) = schema.pointer_mut("/properties/kinds/items") {
            kinds.insert("enum".to_owned(), choice(options.found_kinds()).into());
        }
        if let Some(Value::Object(kind)) = schema.pointer_mut("/properties/kind") {
            let mut kinds = choice(options.new_kinds());
            kinds.push(Value::Null);
            kind.insert("enum".to_owned(), kinds.into());
        }
        if let Some(members) = schema.as_object_mut() {
            // A schema without arguments says so, too.
            members.entry("properties").or_insert_with(|| json!({}));
            members.entry("required").or_insert_with(|| json!([]));
            members.insert("additionalProperties".to_owned(), false.into());
            members.remove("description");
        }
        ToolDefinition::new(self.name(), self.description(), schema)
    }

    /// As what a model sends is read: what it may leave out need not be there.
    pub(super) fn lenient(self, options: &Options) -> ToolDefinition {
        let mut definition = self.definition(options);
        if let Some(members) = definition.parameters.as_object_mut() {
            members.insert("required".to_owned(), self.required().into());
        }
        definition
    }
}

/// In the form of OpenAI's Chat Completions.
pub(super) fn openai(tool: ToolDefinition) -> Value {
    let ToolDefinition { name, description, parameters } = tool;
    json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": parameters, "strict": true },
    })
}

/// In the form of Anthropic's Messages.
pub(super) fn anthropic(tool: ToolDefinition) -> Value {
    let ToolDefinition { name, description, parameters } = tool;
    json!({ "name": name, "description": description, "input_schema": parameters })
}
