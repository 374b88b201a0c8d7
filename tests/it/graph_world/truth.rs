//! What holds on a day by what has been told: worked out from all sentences at once, and not one after another.

use std::collections::{BTreeMap, BTreeSet};

use super::story::{SINGLE, Sentence, Statement};

/// Subject, predicate, object.
pub type Triple = (usize, &'static str, usize);

/// Subject and predicate; and the object, where there are several at a time.
type Key = (usize, &'static str, Option<usize>);

/// A day on which something is told to begin or to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    day: i64,
    /// What begins on the day on which another thing ends, holds.
    begins: bool,
    object: usize,
}

/// What has been told of each subject and predicate, and, where there are several at a time, object.
#[derive(Debug, Default)]
pub struct Truth {
    marks: BTreeMap<Key, BTreeSet<Mark>>,
    touching: BTreeMap<usize, BTreeSet<Key>>,
}

impl Truth {
    pub fn of<'s>(sentences: impl IntoIterator<Item = &'s Sentence>) -> Self {
        let mut truth = Self::default();
        for Statement { subject, predicate, object, from, until } in
            sentences.into_iter().flat_map(|sentence| &sentence.statements)
        {
            let key = (*subject, *predicate, (!SINGLE.contains(predicate)).then_some(*object));
            let marks = truth.marks.entry(key).or_default();
            marks.insert(Mark { day: *from, begins: true, object: *object });
            marks.extend(until.map(|day| Mark { day, begins: false, object: *object }));
            for end in [subject, object] {
                truth.touching.entry(*end).or_default().insert(key);
            }
        }
        truth
    }

    /// Of the marks up to the day the last counts.
    fn at(&self, key: Key, day: i64) -> Option<Triple> {
        let last = self.marks.get(&key)?.iter().rfind(|mark| mark.day <= day)?;
        last.begins.then_some((key.0, key.1, last.object))
    }

    /// All that holds on the day.
    pub fn all(&self, day: i64) -> BTreeSet<Triple> {
        self.marks.keys().filter_map(|key| self.at(*key, day)).collect()
    }

    /// What of it holds of this one.
    pub fn around(&self, being: usize, day: i64) -> BTreeSet<Triple> {
        let keys = self.touching.get(&being).into_iter().flatten();
        let held = keys.filter_map(|key| self.at(*key, day));
        held.filter(|(subject, _, object)| *subject == being || *object == being).collect()
    }

    /// The objects of a subject.
    #[cfg(feature = "static-embedder")]
    pub fn objects(&self, subject: usize, predicate: &str, day: i64) -> Vec<usize> {
        let of = |triple: &Triple| triple.0 == subject && triple.1 == predicate;
        self.around(subject, day).into_iter().filter(of).map(|(_, _, object)| object).collect()
    }
}
