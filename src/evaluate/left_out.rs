use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// What of a data set is not measured: why, and how often. Prints on one line.
///
/// ```
/// use ingrain::evaluate::LeftOut;
/// let mut left_out = LeftOut::default();
/// left_out.add("questions without evidence", 2);
/// left_out.add("blank turns", 1);
/// assert_eq!(left_out.to_string(), "1 blank turns, 2 questions without evidence");
/// assert_eq!(left_out.times("blank turns"), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct LeftOut(BTreeMap<String, usize>);

impl LeftOut {
    /// Counts what was left out for this reason; nothing for 0 times.
    pub fn add(&mut self, why: &str, times: usize) {
        if times > 0 {
            *self.0.entry(why.to_owned()).or_default() += times;
        }
    }

    /// How often something was left out for this reason.
    #[must_use]
    pub fn times(&self, why: &str) -> usize {
        self.0.get(why).copied().unwrap_or_default()
    }

    /// The reasons in the order of their letters, and how often each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(why, times)| (why.as_str(), *times))
    }

    /// Whether everything is measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        for (place, (why, times)) in self.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{times} {why}")?;
        }
        Ok(())
    }
}

/// The reasons that several loaders give.
pub(super) mod reason {
    pub(in crate::evaluate) const NO_EVIDENCE: &str = "questions without evidence";
    pub(in crate::evaluate) const EVIDENCE_NOT_THERE: &str = "questions whose evidence is not there";
    pub(in crate::evaluate) const NO_ANSWER: &str = "questions without an answer";
    pub(in crate::evaluate) const UNKNOWN_ID: &str = "evidence ids that name no turn";
    pub(in crate::evaluate) const TURN: &str = "turns that are blank, or neither the user's nor the assistant's";
}
