use std::fmt;

use chrono::NaiveDate;

use super::{BULLET, CUT, ORDER, quote::write_quoted};
use crate::{MemoryKind, Trust, cues::looks_like_instruction};

/// Longest name of a speaker, a session or a kind that is shown, in characters; names come from outside too.
const NAME_LIMIT: usize = 64;

/// A line between the markers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line<'a> {
    /// A day of a session, above its turns: `‣ on 2025-02-10, session "monday"`.
    Day { date: NaiveDate, session: Option<&'a str> },
    /// A memory: `‣ fact 2025-02-10 "Alice": "Lives in Lisbon"`, or for a turn `‣ "Alice": "I live in Lisbon."`. One that
    /// ends has the day on which it does: `‣ fact 2019-05-01 until 2025-02-10: "Lives in Rome"`.
    Memory { kind: &'a MemoryKind, held: Option<Held>, who: Option<Who<'a>>, text: &'a str, cut: bool },
}

/// Since when something holds, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) since: NaiveDate,
    pub(crate) until: Option<NaiveDate>,
}

/// Who said something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who<'a> {
    /// By name, in quotation marks: a user may call himself `assistant`.
    Named(&'a str),
    /// By role, without them.
    Role(Trust),
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day { date, session } => {
                write!(f, "{BULLET} on {date}")?;
                match session {
                    Some(session) => f.write_str(", session ").and_then(|()| write_name(f, session)),
                    None => Ok(()),
                }
            }
            Self::Memory { kind, held, who, text, cut } => {
                write!(f, "{BULLET}")?;
                match kind {
                    MemoryKind::Episode => {}
                    MemoryKind::Custom(name) => f.write_str(" kind ").and_then(|()| write_name(f, name))?,
                    known => write!(f, " {known}")?,
                }
                if let Some(Held { since, until }) = held {
                    write!(f, " {since}")?;
                    until.map_or(Ok(()), |until| write!(f, " until {until}"))?;
                }
                match who {
                    Some(Who::Named(name)) => f.write_str(" ").and_then(|()| write_name(f, name))?,
                    Some(Who::Role(role)) => write!(f, " {}", role.as_str())?,
                    None => {}
                }
                f.write_str(": ")?;
                write_quoted(f, text)?;
                if *cut {
                    write!(f, " {CUT}")?;
                }
                // Blocks are the application's own word, and a persona is an instruction.
                let is_order = !matches!(kind, MemoryKind::Block) && looks_like_instruction(text);
                if is_order { write!(f, " {ORDER}") } else { Ok(()) }
            }
        }
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    match name.char_indices().nth(NAME_LIMIT) {
        Some((end, _)) => write_quoted(f, &format!("{}…", name.get(..end).unwrap_or_default())),
        None => write_quoted(f, name),
    }
}
