//! The rows of a language's table.

use super::topic::Topic;

/// What may stand where a pattern has `{v}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// The pattern has none.
    None,
    /// A name of one to three words.
    Person,
    /// A name given right after a greeting ("Hi, I'm Alice"): elsewhere `I'm X` may be anything.
    Introduced,
    /// A name right after whose it is ("my sister Ann").
    Given,
    /// Given names, in a list.
    Names,
    /// A place by name.
    Place,
    /// A place by name or description ("a small town").
    Dwelling,
    /// An employer or school, by name or description.
    Organisation,
    /// An employer or school by name.
    Named,
    /// An employer of the list, and nothing more to it but a time.
    Company,
    /// Something that can be liked, studied or eaten.
    Thing,
    /// A verb and what belongs to it.
    Doing,
    /// The same, where the verb is of the list: elsewhere the words may be an order or small talk.
    Ambition,
    /// A thing to come, which may have a date.
    Venture,
    /// What can be liked, in one word.
    Word,
    /// What one may have a favourite of.
    Sort,
    /// Games and instruments of the list.
    Pastime,
    /// Languages of the list.
    Languages,
    /// Children and siblings, by number or kind.
    Kin,
    /// Chronic diseases of the list.
    Ailments,
    /// Pets, by number or kind.
    Animals,
    /// An occupation of the language's list, with its modifiers.
    Occupation,
    /// A day, month or year.
    Date,
    /// An age.
    Age,
    /// A telephone number.
    Digits,
    /// A name with capital letters, where another word would say how one is ("my doctor is German").
    Called,
    /// A name in the genitive, where what is missed stands in it: it gives a fact for each of the names it may be.
    Missed,
    /// A medicine.
    Medicine,
    /// A number before a unit of mass, or with one ("20 mg", "20mg").
    Amount,
}

/// One pattern and what becomes of it.
///
/// A pattern is words: `a|b` one of them, `a?` or not, `@name` a word of that list, `{v}` and `{w}` values, `$` the end
/// of the clause. Filler words of the language may stand before any of them but a value.
///
/// In the text and the slot `{v}` and `{w}` stand for the values, `{c}` for the word of a list (`{C}` with a capital
/// letter, `{n}` its base form, `{k}` its key), `{d}` and `{l}` for the word and key of the second list, `{t}` for the
/// time, with a space before it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) pattern: &'static str,
    pub(super) text: &'static str,
    pub(super) topic: Topic,
    /// Empty for none.
    pub(super) slot: &'static str,
    pub(super) value: Value,
    /// Where the value ends at the first of these words, the rest of the clause is read again after the second text:
    /// "I study law at MIT" is also "I study at MIT".
    pub(super) resume: &'static [(&'static str, &'static [&'static str])],
    /// Tells of an event, which may have a time. A state with a time ("in summer", "this week") is no state to rely on.
    pub(super) once: bool,
    /// Holds only with a time that goes on: "I have lived in Rome" may be long ago, "since 2019" is not.
    pub(super) lasting: bool,
    /// Holds only with a time whose end lies ahead: "I'm in Rome until Friday".
    pub(super) ending: bool,
    /// Holds only with a time that is over: "I lived in Rome from 2018 to 2021".
    pub(super) ended: bool,
    /// Reads only right after a fact of the message whose text begins so; empty for no condition.
    pub(super) after: &'static [&'static str],
    /// Is taken as it is, never apart: "short and plain" are no two things.
    pub(super) whole: bool,
    /// A second fact of the same words: its text and slot.
    pub(super) also: Option<(&'static str, &'static str)>,
    /// The fact is worth storing only if it ends something.
    pub(super) ends_only: bool,
    /// Further facts, of that kind, where what the row tells is not long ago: texts and slots.
    pub(super) ends: &'static [(&'static str, &'static str)],
}

impl Row {
    /// Whether it says that something is over.
    pub(super) fn is_end(&self) -> bool {
        let over =
            ["o longer ", "Left ", "Lost ", "Sold ", "Gave up ", "Is divorced", "Is retired", "ольше не", "Уволен"];
        self.ends_only || !self.ends.is_empty() || self.is_death() || over.iter().any(|words| self.text.contains(words))
    }

    /// Whether it says so of somebody's life.
    pub(super) fn is_death(&self) -> bool {
        let words = ["died", "passed away", "no longer with us", " lost", "умер", "погиб", "не стало"];
        words.iter().any(|words| self.pattern.contains(words)) && matches!(self.topic, Topic::Family | Topic::Pets)
    }
}

/// A row.
pub(super) const fn row(
    pattern: &'static str,
    text: &'static str,
    topic: Topic,
    slot: &'static str,
    value: Value,
) -> Row {
    Row {
        pattern,
        text,
        topic,
        slot,
        value,
        resume: &[],
        once: false,
        lasting: false,
        ending: false,
        ended: false,
        whole: false,
        after: &[],
        also: None,
        ends_only: false,
        ends: &[],
    }
}

impl Row {
    /// With continuations.
    pub(super) const fn resume(mut self, resume: &'static [(&'static str, &'static [&'static str])]) -> Self {
        self.resume = resume;
        self
    }

    /// Tells of an event.
    pub(super) const fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Holds only with a time that goes on.
    pub(super) const fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Holds only with a time whose end lies ahead.
    pub(super) const fn ending(mut self) -> Self {
        self.ending = true;
        self
    }

    /// Holds only with a time that is over.
    pub(super) const fn ended(mut self) -> Self {
        self.ended = true;
        self
    }

    /// Reads only after a fact that begins so.
    pub(super) const fn after(mut self, texts: &'static [&'static str]) -> Self {
        self.after = texts;
        self
    }

    /// Is never taken apart.
    pub(super) const fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Is stored only if it ends something.
    pub(super) const fn ends_only(mut self) -> Self {
        self.ends_only = true;
        self
    }

    /// With slots that it empties.
    pub(super) const fn ends(mut self, ends: &'static [(&'static str, &'static str)]) -> Self {
        self.ends = ends;
        self
    }

    /// With a second fact.
    pub(super) const fn also(mut self, text: &'static str, slot: &'static str) -> Self {
        self.also = Some((text, slot));
        self
    }
}
