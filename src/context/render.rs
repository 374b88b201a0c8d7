use std::collections::HashMap;

use chrono::NaiveDate;

use crate::{
    Memory, MemoryId, MemoryKind, Scope, Trust,
    frame::{BEGIN, END, Held, Line, PREAMBLE, Who},
};

/// A memory as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Its text is what is shown of it.
    pub(super) memory: Memory,
    pub(super) cut: bool,
}

impl Piece {
    pub(super) fn whole(memory: Memory) -> Self {
        Self { memory, cut: false }
    }

    pub(super) fn is_turn(&self) -> bool {
        self.memory.kind == MemoryKind::Episode
    }

    /// Whether it is a turn or a block: what is told in the words it was given in.
    pub(super) fn tells(&self) -> bool {
        matches!(self.memory.kind, MemoryKind::Episode | MemoryKind::Block)
    }

    /// The day and session whose line stands above it.
    pub(super) fn day(&self) -> Day<'_> {
        (self.memory.observed_at.date_naive(), &self.memory.scope)
    }

    /// Its line.
    pub(super) fn line(&self) -> String {
        let Memory { kind, speaker, trust, text, valid_at, invalid_at, slot, .. } = &self.memory;
        let named = speaker.as_deref().map(Who::Named);
        let held = || Held { since: valid_at.date_naive(), until: invalid_at.map(|end| end.date_naive()) };
        let (held, who) = match kind {
            MemoryKind::Block => (None, slot.as_deref().map(Who::Named)),
            MemoryKind::Episode => (None, Some(named.unwrap_or(Who::Role(*trust)))),
            _ => (Some(held()), named.or((*trust != Trust::User).then_some(Who::Role(*trust)))),
        };
        Line::Memory { kind, held, who, text, cut: self.cut }.to_string()
    }
}

/// The line of a memory of which this text is shown, which may be `cut`.
pub(crate) fn line_of(memory: Memory, text: &str, cut: bool) -> String {
    Piece { memory: Memory { text: text.to_owned(), ..memory }, cut }.line()
}

/// A day of a session: what turns are shown under.
pub(super) type Day<'a> = (NaiveDate, &'a Scope);

/// The line above the turns of a day.
pub(super) fn day_line((date, scope): Day<'_>) -> String {
    Line::Day { date, session: scope.session_id() }.to_string()
}

/// The whole text, in the fixed order, and the memories in the order they stand in it. Empty without any.
pub(super) fn render(pieces: &[Piece]) -> (String, Vec<&Piece>) {
    if pieces.is_empty() {
        return (String::new(), Vec::new());
    }
    let (mut turns, mut others): (Vec<&Piece>, Vec<&Piece>) = pieces.iter().partition(|piece| piece.is_turn());
    // Blocks come in the order they were chosen in; the sort is stable.
    others.sort_by_key(|piece| match &piece.memory.kind {
        MemoryKind::Block => (0, None),
        kind => (rank(kind), Some((kind.as_str(), piece.memory.valid_at, piece.memory.id))),
    });
    // Sessions of a day follow each other as they began, as far as they are shown.
    let mut begins: HashMap<Day<'_>, _> = HashMap::new();
    for turn in &turns {
        let begin = begins.entry(turn.day()).or_insert(turn.memory.observed_at);
        *begin = turn.memory.observed_at.min(*begin);
    }
    turns.sort_by_key(|piece| {
        let Memory { scope, ordinal, observed_at, id, .. } = &piece.memory;
        let begin = begins.get(&piece.day()).copied();
        (piece.day().0, begin, scope, ordinal.unwrap_or(u64::MAX), *observed_at, *id)
    });
    let mut lines = vec![BEGIN.to_owned(), PREAMBLE.to_owned()];
    lines.extend(others.iter().map(|piece| piece.line()));
    let mut before: Option<&Piece> = None;
    for turn in &turns {
        // Again where turns are left out: the next is no reply to the last.
        if before.is_none_or(|before| before.day() != turn.day() || leaves_out(before, turn)) {
            lines.push(day_line(turn.day()));
        }
        lines.push(turn.line());
        before = Some(turn);
    }
    lines.push(END.to_owned());
    others.append(&mut turns);
    (lines.join("\n"), others)
}

/// Whether turns of a session are missing between two that follow each other.
fn leaves_out(before: &Piece, turn: &Piece) -> bool {
    let places = before.memory.ordinal.zip(turn.memory.ordinal);
    places.is_some_and(|(before, turn)| turn > before.saturating_add(1))
}

/// The frame without anything in it.
pub(super) fn empty_frame() -> String {
    [BEGIN, PREAMBLE, END].join("\n")
}

/// The place of a kind among what is known.
fn rank(kind: &MemoryKind) -> u8 {
    match kind {
        MemoryKind::Block | MemoryKind::Episode => 0,
        MemoryKind::Fact => 1,
        MemoryKind::Preference => 2,
        MemoryKind::Procedure => 3,
        MemoryKind::Observation => 4,
        MemoryKind::Summary => 5,
        MemoryKind::Custom(_) => 6,
    }
}

pub(super) fn ids<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> Vec<MemoryId> {
    pieces.into_iter().map(|piece| piece.memory.id).collect()
}
