//! Tools that change memories.

use super::{
    MemoryTools, ToolResult,
    arguments::{Arguments, Fault},
    find::distinct,
    ids, show,
};
use crate::{
    Actor, AddReport, ErrorKind, Fact, Memory, MemoryKind, MemoryUpdate, Result, Trust, frame::own_words,
    rules::read_statement, score::sameness::same_text,
};

/// Most characters of a fact: what is longer is more than one.
const FACT: usize = 1_000;
/// Most memories that an answer names.
const NAMED: usize = 3;
/// Most categories of a memory, and most characters of each.
const CATEGORIES: usize = 8;
const CATEGORY: usize = 64;

impl MemoryTools {
    /// Stores one fact, held against what is known. It is the model's word: nobody can tell whether the user said so.
    pub(super) async fn add(&self, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        let fact = match self.new_fact(arguments) {
            Ok(fact) => fact,
            Err(fault) => return Ok(Err(fault)),
        };
        let report = self.engine.add_facts(&self.written(), vec![fact], Actor::Agent).await?;
        Ok(Ok(self.told(report)))
    }

    fn new_fact(&self, arguments: &Arguments) -> Result<Fact, Fault> {
        let mut fact = Fact::new(new_text(arguments)?, 0);
        fact.trust = Trust::Assistant;
        let kinds = self.options.new_kinds();
        if let Some(kind) = arguments.short("kind")? {
            fact.kind = MemoryKind::from(kind.to_lowercase());
        } else if let (false, Some(first)) = (kinds.contains(&fact.kind), kinds.first()) {
            fact.kind = first.clone();
        }
        if !kinds.contains(&fact.kind) {
            let names: Vec<&str> = kinds.iter().map(MemoryKind::as_str).collect();
            return Err(format!("`kind` must be one of {}", names.join(", ")));
        }
        fact.categories = arguments.list("categories")?;
        if fact.categories.len() > CATEGORIES || fact.categories.iter().any(|name| name.chars().count() > CATEGORY) {
            return Err(format!("`categories` must be at most {CATEGORIES}, each of at most {CATEGORY} characters"));
        }
        Ok(fact)
    }

    /// What an add has done, in words.
    fn told(&self, report: AddReport) -> ToolResult {
        let AddReport { added, updated, superseded, deleted, skipped, .. } = report;
        let named = |memories: &[Memory]| {
            let ids = memories.iter().take(NAMED).map(|memory| format!("[{}]", ids::short(memory.id)));
            ids.collect::<Vec<_>>().join(", ")
        };
        let mut said = Vec::new();
        if !added.is_empty() {
            said.push(format!("Stored as {}.", named(&added)));
        }
        if !updated.is_empty() {
            said.push(format!("Taken into {}, which is known.", named(&updated)));
        }
        for known in &skipped {
            said.push(match known.known {
                Some(id) => format!("It is known already, as [{}]; nothing was stored.", ids::short(id)),
                None => "It is known already; nothing was stored.".to_owned(),
            });
        }
        let ended: Vec<Memory> = superseded.iter().chain(&deleted).cloned().collect();
        if said.is_empty() && ended.is_empty() {
            said.push("Nothing was stored.".to_owned());
        }
        if !ended.is_empty() {
            let lines = ended.iter().map(|memory| (format!("[{}]", ids::short(memory.id)), memory.clone())).collect();
            let listed = show::listing(lines, self.room());
            said.push(format!("No longer so, and kept as history:\n{}", listed.text));
        }
        let ids = added.iter().chain(&updated).chain(&ended).map(|memory| memory.id);
        ToolResult {
            memories: distinct(ids.chain(skipped.iter().filter_map(|known| known.known))),
            changed: !added.is_empty() || !updated.is_empty() || !ended.is_empty(),
            ..ToolResult::said(said.join(" "))
        }
    }

    /// Gives a memory a new text, from then on as the model's word.
    pub(super) async fn update(&self, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        let text = match new_text(arguments) {
            Ok(text) => text,
            Err(fault) => return Ok(Err(fault)),
        };
        let memory = match self.resolve(arguments.text("id")).await? {
            Ok(memory) => memory,
            Err(fault) => return Ok(Err(fault)),
        };
        if let Err(fault) = self.may_change(&memory) {
            return Ok(Err(fault));
        }
        let short = ids::short(memory.id);
        if same_text(&memory.text, &text) {
            return Ok(Ok(ToolResult {
                memories: vec![memory.id],
                ..ToolResult::said(format!("[{short}] says so already."))
            }));
        }
        let mut update = MemoryUpdate::new().text(&text).trust(memory.trust.max(Trust::Assistant));
        // It may be of something else now. What is not known to fill another slot goes on filling its own.
        if let Some(slot) = read_statement(&text, self.now()).and_then(|fact| fact.slot) {
            update = update.slot(Some(slot));
        }
        match self.engine.update_by(&self.scope, memory.id, update, Actor::Agent).await {
            Ok(memory) => Ok(Ok(changed(&memory, format!("[{short}] has the new text.")))),
            // Somebody else was faster.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Err("no memory has this id any more".to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Removes a memory.
    pub(super) async fn forget(&self, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        let memory = match self.resolve(arguments.text("id")).await? {
            Ok(memory) => memory,
            Err(fault) => return Ok(Err(fault)),
        };
        match self.engine.delete_by(&self.scope, memory.id, Actor::Agent).await {
            Ok(()) => Ok(Ok(changed(&memory, format!("[{}] is forgotten.", ids::short(memory.id))))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Err("no memory has this id any more".to_owned())),
            Err(error) => Err(error),
        }
    }
}

fn changed(memory: &Memory, text: String) -> ToolResult {
    ToolResult { memories: vec![memory.id], changed: true, ..ToolResult::said(text) }
}

/// The text of a fact, without what a recall had put there: a model may hand on a line as it was shown it.
fn new_text(arguments: &Arguments) -> Result<String, Fault> {
    let text = arguments.text("text").trim();
    if text.chars().count() > FACT {
        return Err(format!("`text` is longer than {FACT} characters: one call is for one fact"));
    }
    let own = own_words(text);
    let own = own.trim();
    if !own.chars().any(char::is_alphanumeric) {
        let what = if text.is_empty() { "is blank" } else { "says nothing new" };
        return Err(format!("`text` {what}: it must be one fact in words"));
    }
    Ok(own.to_owned())
}
