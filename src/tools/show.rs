//! What a model is shown: memories as data, within a length.

use crate::{
    Memory, MemoryId, MemoryKind,
    context::line_of,
    frame::{BEGIN, END, PREAMBLE},
    text::cut,
};

/// The line of a memory that is cut has room for at least so many characters, or is left out.
const LEAST: usize = 100;

/// Memories in the frame that tells them for data.
pub(super) struct Listing {
    /// Empty if there are none.
    pub(super) text: String,
    /// Those that are in it.
    pub(super) memories: Vec<MemoryId>,
    /// How many had no room.
    pub(super) left_out: usize,
}

/// Memories, each with a remark to stand after it, in the [frame](crate::MemoryContext) of recalled text, within so many
/// characters. The longest are cut, between characters as people see them, so that the others have room.
pub(super) fn listing(memories: Vec<(String, Memory)>, characters: usize) -> Listing {
    let frame = [BEGIN, PREAMBLE, END].iter().map(|line| line.chars().count() + 1).sum();
    let room = characters.saturating_sub(frame);
    let whole = |(remark, memory): &(String, Memory)| {
        // More than the room is not looked at.
        let beginning: String = memory.text.chars().take(room).collect();
        line(memory, &beginning, false, remark).chars().count() + 1
    };
    let most = share(memories.iter().map(whole).collect(), room);
    let mut listing = Listing { text: String::new(), memories: Vec::new(), left_out: 0 };
    let (mut lines, mut left) = (Vec::new(), room);
    for (remark, memory) in &memories {
        let most = most.min(left).saturating_sub(1);
        match within(memory, remark, most) {
            Some(line) => {
                left = left.saturating_sub(line.chars().count() + 1);
                listing.memories.push(memory.id);
                lines.push(line);
            }
            None => listing.left_out += 1,
        }
    }
    if !lines.is_empty() {
        listing.text = format!("{BEGIN}\n{PREAMBLE}\n{}\n{END}", lines.join("\n"));
    }
    listing
}

/// The most that each may have so that as many as can be have room together, and none less than [`LEAST`].
fn share(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, mut count) = (room, lengths.len());
    for length in lengths {
        let fair = left / count.max(1);
        if length > fair {
            return fair.max(LEAST);
        }
        left = left.saturating_sub(length);
        count -= 1;
    }
    room
}

/// The line of a memory, cut if it has to be; `None` if there is no room for one.
fn within(memory: &Memory, remark: &str, most: usize) -> Option<String> {
    // Quoting makes no text shorter.
    let beginning: String = memory.text.chars().take(most + 1).collect();
    let is_whole = beginning.len() == memory.text.len();
    let whole = line(memory, &beginning, !is_whole, remark);
    if is_whole && whole.chars().count() <= most {
        return Some(whole);
    }
    if most < LEAST {
        return None;
    }
    let piece = cut(&beginning, |piece| line(memory, piece, true, remark).chars().count() <= most)?;
    Some(line(memory, piece, true, remark))
}

fn line(memory: &Memory, text: &str, cut: bool, remark: &str) -> String {
    // Without its text, which may be long.
    let Memory { id, scope, kind, speaker, trust, slot, valid_at, invalid_at, observed_at, .. } = memory;
    let mut head = Memory::new(*id, scope.clone(), "", *valid_at);
    head.invalid_at = *invalid_at;
    (head.kind, head.speaker, head.trust, head.slot) = (kind.clone(), speaker.clone(), *trust, slot.clone());
    let day = match kind {
        MemoryKind::Episode => format!(" on {}", observed_at.date_naive()),
        _ => String::new(),
    };
    format!("{}{day} {remark}", line_of(head, text, cut))
}
