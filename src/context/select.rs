use std::collections::HashSet;

use super::{
    MemoryContext, TokenBudget,
    gather::{Gathered, Hit},
    render::{Piece, day_line, empty_frame, ids, render},
};
use crate::{
    Memory, MemoryId, MemoryKind, TokenCounter,
    score::sameness::{normalized, statements},
    text::cut,
};

/// A neighbour may take one part in so many of the budget: long answers must not crowd out what fits better.
const NEIGHBOUR_SHARE: usize = 8;
/// More bytes than these to a token are not looked at when a text is cut: bounds the work on very long ones.
const TOKEN_BYTES: usize = 64;

/// Takes the best that the budget has room for.
pub(super) fn select(gathered: Gathered, budget: TokenBudget, counter: &dyn TokenCounter) -> MemoryContext {
    let Gathered { blocks, hits } = gathered;
    let frame = counter.count(&empty_frame());
    let mut chosen = Selection::new(counter, frame);
    let for_blocks = frame.saturating_add(budget.for_blocks(budget.tokens.saturating_sub(frame)));
    chosen.limit = for_blocks.min(budget.tokens);
    for block in blocks {
        chosen.add_or_cut(block, 1);
    }
    chosen.limit = budget.tokens;
    let alone = hits.len() == 1;
    for Hit { memory, neighbours } in hits {
        // One that stands there as the neighbour of another still has its own.
        let shown = chosen.has(memory.id);
        if !shown && (chosen.repeats(&memory) || !chosen.add_or_cut(memory, if alone { 1 } else { 2 })) {
            continue;
        }
        for neighbour in neighbours {
            if !chosen.has(neighbour.id) {
                chosen.add(Piece::whole(neighbour), budget.tokens / NEIGHBOUR_SHARE);
            }
        }
    }
    chosen.into_context(budget.tokens)
}

/// What is chosen so far.
///
/// Counting the whole text for each memory would cost the square of its length, so an upper bound is kept: by the
/// contract of [`TokenCounter`] a text has at most the tokens of its parts and one for each seam. Where the bound says
/// no, the text is counted once, and the bound starts from there again.
struct Selection<'c> {
    counter: &'c dyn TokenCounter,
    limit: usize,
    frame: usize,
    bound: usize,
    is_exact: bool,
    pieces: Vec<Piece>,
    taken: HashSet<MemoryId>,
    /// The statements of the turns and blocks.
    told: HashSet<String>,
    /// The texts of the rest.
    known: HashSet<String>,
    left_out: Vec<Memory>,
}

impl<'c> Selection<'c> {
    fn new(counter: &'c dyn TokenCounter, frame: usize) -> Self {
        Self {
            counter,
            limit: 0,
            frame,
            bound: frame,
            is_exact: true,
            pieces: Vec::new(),
            taken: HashSet::new(),
            told: HashSet::new(),
            known: HashSet::new(),
            left_out: Vec::new(),
        }
    }

    fn has(&self, id: MemoryId) -> bool {
        self.taken.contains(&id)
    }

    /// Whether it is no turn and says only what is said already.
    fn repeats(&self, memory: &Memory) -> bool {
        let Memory { kind, text, .. } = memory;
        *kind != MemoryKind::Episode && (self.known.contains(&normalized(text)) || self.is_told(text))
    }

    /// Whether turns and blocks say it. Whole statements are compared, since part of one may say the opposite ("likes
    /// tea" in "nobody here likes tea").
    fn is_told(&self, text: &str) -> bool {
        let mut statements = statements(text).peekable();
        statements.peek().is_some() && statements.all(|statement| self.told.contains(&statement))
    }

    /// Most tokens that it adds.
    fn cost(&self, piece: &Piece) -> usize {
        let mut lines = piece.line();
        // Of its day, or of what comes after a gap.
        if piece.is_turn() {
            lines = format!("{}\n{lines}", day_line(piece.day()));
        }
        lines.push('\n');
        self.counter.count(&lines).saturating_add(1)
    }

    /// Whether there is room for so much more.
    fn has_room(&mut self, cost: usize) -> bool {
        if self.bound.saturating_add(cost) > self.limit && !self.is_exact {
            self.bound = self.counter.count(&render(&self.pieces).0);
            self.is_exact = true;
        }
        self.bound.saturating_add(cost) <= self.limit
    }

    /// Adds it if it has room and costs at most so much.
    fn add(&mut self, piece: Piece, most: usize) -> bool {
        let cost = self.cost(&piece);
        if cost > most || !self.has_room(cost) {
            return false;
        }
        self.bound += cost;
        self.is_exact = false;
        self.taken.insert(piece.memory.id);
        if piece.tells() {
            self.told.extend(statements(&piece.memory.text));
            // What was chosen before and is told by this word for word makes room.
            let pieces = std::mem::take(&mut self.pieces);
            for other in pieces {
                if other.tells() || !self.is_told(&other.memory.text) {
                    self.pieces.push(other);
                } else {
                    self.taken.remove(&other.memory.id);
                }
            }
        } else {
            self.known.insert(normalized(&piece.memory.text));
        }
        self.pieces.push(piece);
        true
    }

    /// Adds it if it has room; one that would have none even by itself is cut, to the room there is divided by `share`.
    fn add_or_cut(&mut self, memory: Memory, share: usize) -> bool {
        let piece = Piece::whole(memory);
        let cost = self.cost(&piece);
        if self.add(piece.clone(), usize::MAX) {
            return true;
        }
        if self.frame.saturating_add(cost) > self.limit {
            let room = self.limit.saturating_sub(self.bound) / share;
            let beginning = beginning(&piece.memory.text, room.saturating_mul(TOKEN_BYTES));
            let text = cut(beginning, |text| self.cost(&shortened(&piece.memory, text)) <= room);
            if let Some(text) = text {
                return self.add(shortened(&piece.memory, text), room);
            }
        }
        self.left_out.push(piece.memory);
        false
    }

    fn into_context(mut self, budget: usize) -> MemoryContext {
        // Counters that keep their contract never come here twice: the bound held.
        let (text, tokens) = loop {
            let (text, _) = render(&self.pieces);
            let tokens = if text.is_empty() { 0 } else { self.counter.count(&text) };
            if tokens <= budget || text.is_empty() {
                break (text, tokens);
            }
            self.left_out.extend(self.pieces.pop().map(|piece| piece.memory));
        };
        let (_, order) = render(&self.pieces);
        let (memories, cut) = (ids(order.iter().copied()), ids(order.iter().copied().filter(|piece| piece.cut)));
        // A later turn may say what had no room before, or be it.
        let missing = |memory: &&Memory| !memories.contains(&memory.id) && !self.repeats(memory);
        let left_out = self.left_out.iter().filter(missing).map(|memory| memory.id).collect();
        MemoryContext { text, tokens, memories, cut, left_out, profile: Vec::new() }
    }
}

/// The first bytes of the text, not ending inside a character.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

fn shortened(memory: &Memory, text: &str) -> Piece {
    let mut memory = memory.clone();
    text.clone_into(&mut memory.text);
    Piece { memory, cut: true }
}
