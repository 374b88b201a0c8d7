//! What must stay together: a tool call with its results and the answer made from them, and exchanges.

use std::ops::Range;

use super::measure::Limits;
use crate::{Role, StoredMessage};

/// What is known of a message without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) sequence: u64,
    pub(super) size: usize,
    role: Role,
    /// The ids of the tools it calls.
    calls: Vec<String>,
    /// The id of the call it answers.
    answers: Option<String>,
}

impl Turn {
    pub(super) fn of(stored: &StoredMessage, limits: &Limits) -> Self {
        let message = &stored.message;
        Self {
            sequence: stored.sequence,
            size: limits.of_message(message),
            role: message.role,
            calls: message.tool_calls.iter().map(|call| call.id.clone()).collect(),
            answers: message.tool_call_id.clone().filter(|_| message.role == Role::Tool),
        }
    }
}

/// The groups of turns that are never parted, by their places, in order and without gaps: a message by itself; or a tool
/// call with its results, further calls made from them, and the answer at the end. A result that comes late draws what
/// lies between into the group of its call.
pub(super) fn atoms<'t>(turns: impl Iterator<Item = &'t Turn>) -> Vec<Range<usize>> {
    let mut atoms: Vec<Range<usize>> = Vec::new();
    // Calls without a result so far, and the place of each.
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut before: Option<Role> = None;
    for (place, turn) in turns.enumerate() {
        let goes_on = turn.role == Role::Tool || (turn.role == Role::Assistant && before == Some(Role::Tool));
        match atoms.last_mut() {
            Some(last) if goes_on => last.end = place + 1,
            _ => atoms.push(place..place + 1),
        }
        if let Some(id) = &turn.answers
            && let Some(found) = open.iter().rposition(|(call, _)| call == id)
        {
            let (_, called) = open.remove(found);
            while atoms.last().is_some_and(|last| last.start > called) {
                atoms.pop();
            }
            if let Some(last) = atoms.last_mut() {
                last.end = place + 1;
            }
        }
        open.extend(turn.calls.iter().map(|call| (call.as_str(), place)));
        before = Some(turn.role);
    }
    atoms
}

/// The exchanges, by the places of their turns, in order and without gaps. One begins where the user speaks after anybody
/// else did; what comes before the first such place belongs to it or is one of its own.
pub(super) fn exchanges(turns: &[&Turn], atoms: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut exchanges: Vec<Range<usize>> = Vec::new();
    let mut answered = true;
    for atom in atoms {
        let inside = turns.get(atom.clone()).unwrap_or_default();
        let asks = inside.first().is_some_and(|turn| turn.role == Role::User);
        match exchanges.last_mut() {
            Some(last) if !(asks && answered) => last.end = atom.end,
            _ => {
                exchanges.push(atom.clone());
                answered = false;
            }
        }
        answered |= inside.iter().any(|turn| matches!(turn.role, Role::Assistant | Role::Tool));
    }
    exchanges
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Turns of size 1 from letters: `u`, `a`, `s`; `c1+2` calls 1 and 2, `r1` answers 1.
    pub(in crate::conversation) fn turns(script: &str) -> Vec<Turn> {
        let turn = |(sequence, word): (usize, &str)| {
            let (role, ids) = word.split_at(1);
            let ids: Vec<String> = ids.split('+').filter(|id| !id.is_empty()).map(str::to_owned).collect();
            let role = match role {
                "u" => Role::User,
                "s" => Role::System,
                "r" => Role::Tool,
                _ => Role::Assistant,
            };
            let answers = ids.first().cloned().filter(|_| role == Role::Tool);
            let calls = if role == Role::Assistant { ids } else { Vec::new() };
            Turn { sequence: sequence as u64, size: 1, role, calls, answers }
        };
        script.split(' ').filter(|word| !word.is_empty()).enumerate().map(turn).collect()
    }

    /// The script with `|` between atoms and `‖` between exchanges.
    fn parted(script: &str) -> String {
        let turns = turns(script);
        let turns: Vec<&Turn> = turns.iter().collect();
        let atoms = atoms(turns.iter().copied());
        let exchanges = exchanges(&turns, &atoms);
        let words: Vec<&str> = script.split(' ').collect();
        let mut out = String::new();
        for (place, word) in words.iter().enumerate() {
            if place > 0 {
                let begins = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.start == place);
                out.push_str(if begins(&exchanges) {
                    " ‖ "
                } else if begins(&atoms) {
                    " | "
                } else {
                    " "
                });
            }
            out.push_str(word);
        }
        out
    }

    #[test]
    fn what_belongs_together_stays_together() {
        for expected in [
            "u | a ‖ u | a",
            "u | c1+2 r1 r2 a ‖ u",
            "u | c1 r1 c2 r2 a ‖ u",
            "u | u | a ‖ u",
            "s | u | a ‖ u | a",
            "u | c1 ‖ u | c2 r2 a",
            "u | c1 u a r1 a ‖ u",
            "r9 ‖ u | a",
            "u | c1 r1 a ‖ u | c1 r1 a ‖ u",
            "u | a | a ‖ u",
            "a ‖ u | a",
        ] {
            let script = expected.replace(" |", "").replace(" ‖", "");
            assert_eq!(parted(&script), expected);
        }
        assert!(atoms([].into_iter()).is_empty() && exchanges(&[], &[]).is_empty());
    }
}
