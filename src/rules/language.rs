//! What a language's table consists of.

use std::collections::HashSet;

use super::{pattern::Pattern, topic::Topic, when::Calendar};

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
    /// A place by name.
    Place,
    /// A place by name or description ("a small town").
    Dwelling,
    /// An employer or school, by name or description.
    Organisation,
    /// An employer or school by name.
    Named,
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
    /// Pets, by number or kind.
    Animals,
    /// An occupation of the language's list, with its modifiers.
    Occupation,
    /// A day, month or year.
    Date,
    /// An age.
    Age,
}

/// One pattern and what becomes of it.
///
/// A pattern is words: `a|b` one of them, `a?` or not, `@name` a word of that list, `{v}` and `{w}` values, `$` the end
/// of the clause. Filler words of the language may stand before any of them but a value.
///
/// In the text and the slot `{v}` and `{w}` stand for the values, `{c}` for the word of a list (`{C}` with a capital
/// letter, `{k}` its key), `{t}` for the time, with a space before it.
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
}

/// A row.
pub(super) const fn row(
    pattern: &'static str,
    text: &'static str,
    topic: Topic,
    slot: &'static str,
    value: Value,
) -> Row {
    Row { pattern, text, topic, slot, value, resume: &[] }
}

impl Row {
    /// With continuations.
    pub(super) const fn resume(mut self, resume: &'static [(&'static str, &'static [&'static str])]) -> Self {
        self.resume = resume;
        self
    }
}

/// The words of a language, each list separated by spaces. Where a list holds phrases, `_` joins their words.
#[derive(Debug)]
pub(super) struct Lists {
    /// May stand before a clause and mean nothing.
    pub(super) leads: &'static str,
    /// Greetings, which may stand before a clause too.
    pub(super) greetings: &'static str,
    /// May stand inside a pattern and change nothing.
    pub(super) fillers: &'static str,
    /// Join clauses.
    pub(super) joints: &'static str,
    /// Begin a clause wherever they follow a comma or joint: subjects.
    pub(super) subjects: &'static str,
    /// Begin a clause without a subject of its own.
    pub(super) heads: &'static str,
    /// Of the heads, those that may as well continue an infinitive ("to move and work there").
    pub(super) bare_heads: &'static str,
    /// After one of these the bare heads do continue an infinitive.
    pub(super) infinitive: &'static str,
    /// Make the whole sentence unsafe, wherever they stand.
    pub(super) voids: &'static str,
    /// Make unsafe their own clause and what follows it in the sentence.
    pub(super) hedges: &'static str,
    /// Make unsafe what follows them in the sentence.
    pub(super) reports: &'static str,
    /// Begin a subordinate clause: unsafe up to the next comma.
    pub(super) subordinate: &'static str,
    /// Begin a question that follows a statement.
    pub(super) questions: &'static str,
    /// Before a colon, keep what follows it safe ("About me: …").
    pub(super) about: &'static str,
    /// Verbs of a request over a text: what follows in the message is that text.
    pub(super) pastes: &'static str,
    /// Where a clause has one of these, who it mentions may be no more.
    pub(super) losses: &'static str,
    /// Phrases that take back the whole message.
    pub(super) jests: &'static str,
    /// End any value.
    pub(super) stops: &'static str,
    /// Go on with a value in a way that narrows or changes it ("stories that …"): without it, it is wrong.
    pub(super) breakers: &'static str,
    /// End a value that is a name or place, too.
    pub(super) name_stops: &'static str,
    /// Are dropped from the end of a value.
    pub(super) trailing: &'static str,
    /// A value with one of these is only pointed at.
    pub(super) pointers: &'static str,
    /// A value does not begin with one of these.
    pub(super) bad_starts: &'static str,
    /// A value is not this alone, nor this with an article.
    pub(super) vague: &'static str,
    /// Of these one has no favourite that lasts ("my favourite part was …").
    pub(super) passing: &'static str,
    /// Articles, dropped from slots.
    pub(super) articles: &'static str,
    /// Join the words of a name ("Bank of America").
    pub(super) name_links: &'static str,
    /// Occupations, as the last word of a value.
    pub(super) occupations: &'static str,
    /// Endings that make an occupation of any word.
    pub(super) occupation_endings: &'static str,
    /// Words that begin with a capital letter and are no names: demonyms, faiths.
    pub(super) no_names: &'static str,
    /// Places one can be said to work in, which are no employers.
    pub(super) no_employers: &'static str,
    /// Verbs an [`Ambition`](Value::Ambition) may begin with.
    pub(super) ambitions: &'static str,
}

/// A language's table, ready for use.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) rows: Vec<(Pattern, &'static Row)>,
    /// Rows that may begin anywhere in a clause.
    pub(super) mentions: Vec<(Pattern, &'static Row)>,
    pub(super) words: Words,
    pub(super) calendar: &'static Calendar,
    /// The named lists (`@pet`): a word and its key.
    pub(super) classes: &'static [(&'static str, &'static str)],
    /// The words before a subject-less clause whose predecessor began with the first: "I … and live" is "I live".
    pub(super) inherits: &'static [(&'static str, &'static [&'static [&'static str]])],
}

macro_rules! words {
    ($($name:ident),* $(,)?) => {
        /// The lists of [`Lists`], as sets.
        #[derive(Debug)]
        pub(super) struct Words {
            $(pub(super) $name: HashSet<&'static str>,)*
            /// Phrases dropped from the end of a value, each as its words.
            pub(super) trailing: Vec<Vec<&'static str>>,
            /// Phrases that take back the whole message.
            pub(super) jests: Vec<Vec<&'static str>>,
            /// Endings that make an occupation of any word.
            pub(super) occupation_endings: Vec<&'static str>,
        }

        impl Words {
            /// The sets of `lists`.
            pub(super) fn new(lists: &Lists) -> Self {
                Self {
                    $($name: lists.$name.split_whitespace().collect(),)*
                    trailing: phrases(lists.trailing),
                    jests: phrases(lists.jests),
                    occupation_endings: lists.occupation_endings.split_whitespace().collect(),
                }
            }
        }
    };
}

words!(
    leads,
    greetings,
    fillers,
    joints,
    subjects,
    heads,
    bare_heads,
    infinitive,
    voids,
    hedges,
    reports,
    subordinate,
    questions,
    about,
    pastes,
    losses,
    stops,
    breakers,
    name_stops,
    pointers,
    bad_starts,
    vague,
    passing,
    articles,
    name_links,
    occupations,
    no_names,
    no_employers,
    ambitions,
);

fn phrases(list: &'static str) -> Vec<Vec<&'static str>> {
    list.split_whitespace().map(|phrase| phrase.split('_').collect()).collect()
}

impl Language {
    /// The key of a word in a list, if it is in it. An entry of the list is `word` or `word=key`.
    pub(super) fn class_key(&self, class: &str, word: &str) -> Option<&'static str> {
        let (_, entries) = self.classes.iter().find(|(name, _)| *name == class)?;
        entries.split_whitespace().find_map(|entry| {
            let (form, key) = entry.split_once('=').unwrap_or((entry, entry));
            (form == word).then_some(key)
        })
    }
}
