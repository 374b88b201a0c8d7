use std::{cmp::Reverse, fmt};

use serde::Serialize;

use super::{ContextParts, ContextRequest, gather::admitted};
use crate::{
    Error, Filter, Memory, MemoryId, MemoryKind, Result, Scope, Stage, Timestamp, Trust,
    types::{PROFILE, block_id},
};

/// Most memories that are looked at, of those with a slot and of those without one; of more the newest.
const LOOKED_AT: usize = 500;

/// What is known about the user, as a block: made of the facts and preferences that hold, each on a line of its own.
///
/// It is not stored but made when it is read, so that it always says what is known now: a fact that was superseded or
/// deleted a moment ago is gone from it, which a text that a model rewrites now and then cannot promise. It costs two
/// look-ups by filter and no model.
///
/// What goes in first, as far as the limit reaches: what is pinned, what fills a [slot](Memory::slot) (where one lives, what
/// one is allergic to), what is more [important](Memory::importance), what is newer. A line that is too long is passed
/// over for shorter ones. The lines stand in another order, that of slots, then of categories, then of ids, so that a new
/// fact changes one place and the rest of the text stays as it is. The same memories and limit give the same bytes. Of more
/// than 500 with a slot, or without one, the newest are looked at.
///
/// What a tool or another outside text said is left out, since a profile is in every prompt; what the assistant said has
/// `(assistant)` after it, and what one of several speakers said has their name before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Profile {
    /// The lines; empty if nothing is known.
    pub text: String,
    /// The memory of each line.
    pub memories: Vec<MemoryId>,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Profile {
    /// As it is shown, which is like a block.
    pub(super) fn block(&self, scope: &Scope, now: Timestamp) -> Memory {
        let mut memory = Memory::new(block_id(scope, PROFILE), scope.clone(), self.text.as_str(), now);
        memory.kind = MemoryKind::Block;
        memory.slot = Some(PROFILE.to_owned());
        memory
    }
}

/// The profile of a scope, of what a request admits: at most `limit` characters.
pub(crate) async fn profile(
    parts: &ContextParts<'_>,
    scope: &Scope,
    request: Option<&ContextRequest>,
    limit: usize,
) -> Result<Profile> {
    let everything = ContextRequest::new("");
    let request = request.unwrap_or(&everything);
    let mut known = Vec::new();
    for slot in [Filter::exists("slot"), !Filter::exists("slot")] {
        let kinds = Filter::any_of("kind", [MemoryKind::Fact, MemoryKind::Preference]);
        let mut all = vec![kinds, Filter::ne("trust", Trust::Tool.as_str()), slot];
        all.extend(request.filter.clone());
        let found = admitted(parts, scope, request, Filter::And(all), LOOKED_AT).await;
        known.extend(found.map_err(|error: Error| error.with_stage(Stage::Search))?);
    }
    // What is yet to hold is not so.
    known.retain(|memory| memory.valid_at <= request.as_of.unwrap_or(parts.now));
    Ok(within(known, limit))
}

fn within(mut known: Vec<Memory>, limit: usize) -> Profile {
    known.sort_by(|left, right| {
        let first = |memory: &Memory| (!memory.pinned, memory.slot.is_none());
        let newest = |memory: &Memory| Reverse((memory.valid_at, memory.id));
        let by_importance = right.importance.total_cmp(&left.importance);
        first(left).cmp(&first(right)).then(by_importance).then(newest(left).cmp(&newest(right)))
    });
    let mut room = limit;
    let mut lines: Vec<(String, Memory)> = Vec::new();
    for memory in known {
        let line = line(&memory);
        // With the line break before it.
        let characters = line.chars().count() + usize::from(!lines.is_empty());
        if characters <= room && !lines.iter().any(|(other, _)| *other == line) {
            room -= characters;
            lines.push((line, memory));
        }
    }
    lines.sort_by(|(_, left), (_, right)| {
        fn place(memory: &Memory) -> (bool, Option<&String>, bool, Option<&String>, MemoryId) {
            let (slot, category) = (memory.slot.as_ref(), memory.categories.first());
            (slot.is_none(), slot, category.is_none(), category, memory.id)
        }
        place(left).cmp(&place(right))
    });
    let memories = lines.iter().map(|(_, memory)| memory.id).collect();
    let texts: Vec<String> = lines.into_iter().map(|(line, _)| line).collect();
    Profile { text: texts.join("\n"), memories }
}

/// A memory on one line.
fn line(memory: &Memory) -> String {
    let text = memory.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let by = match memory.trust {
        Trust::Assistant => " (assistant)",
        _ => "",
    };
    match &memory.speaker {
        Some(speaker) => format!("{speaker}: {text}{by}"),
        None => format!("{text}{by}"),
    }
}
