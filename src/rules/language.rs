//! What a language's table consists of.

use std::collections::HashSet;

use super::{pattern::Pattern, row::Row, when::Calendar};

/// The words of a language, each list separated by spaces. Where a list holds phrases, `_` joins their words.
#[derive(Debug)]
pub(super) struct Lists {
    /// May stand before a clause and mean nothing.
    pub(super) leads: &'static str,
    /// Phrases that may stand there.
    pub(super) openers: &'static str,
    /// Adverbs that may stand in front of a verb of `solo` where "I" is left out ("Just moved").
    pub(super) lately: &'static str,
    /// Those verbs.
    pub(super) solo: &'static str,
    /// Greetings and thanks, which may stand before a clause too.
    pub(super) greetings: &'static str,
    /// May stand inside a pattern and change nothing.
    pub(super) fillers: &'static str,
    /// Join clauses.
    pub(super) joints: &'static str,
    /// Join clauses of which but one may hold.
    pub(super) either: &'static str,
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
    /// Alone after a statement, hand the question on ("and you?").
    pub(super) bounces: &'static str,
    /// Begin a question that follows a statement.
    pub(super) questions: &'static str,
    /// Before a colon, keep what follows it safe ("About me: …").
    pub(super) about: &'static str,
    /// So do a few words all of which are of this list ("Big news: …").
    pub(super) lead_ins: &'static str,
    /// Verbs of a request over a text: what follows in the message is that text.
    pub(super) pastes: &'static str,
    /// Verbs of a request that may be over a text: so it is where they have such an object.
    pub(super) edits: &'static str,
    /// Texts one may want worked on.
    pub(super) texts: &'static str,
    /// Point at something in the message.
    pub(super) these: &'static str,
    /// Begin a letter.
    pub(super) salutations: &'static str,
    /// Phrases after which the author is someone else, or somewhere else: games, orders to the model, dreams.
    pub(super) plays: &'static str,
    /// Phrases that do so at the beginning of a sentence.
    pub(super) scenes: &'static str,
    /// Ask for an opinion or help where a text is named beside them.
    pub(super) help: &'static str,
    /// Phrases that end a letter.
    pub(super) closings: &'static str,
    /// What the model is told to be, besides occupations.
    pub(super) roles: &'static str,
    /// Phrases that alone take back what was said before.
    pub(super) retractions: &'static str,
    /// Phrases that make a statement before them wrong or no fact ("at heart").
    pub(super) asides: &'static str,
    /// Go over to someone else, whom the next clause without a subject is then about.
    pub(super) digressions: &'static str,
    /// Where a clause has one of these, who it mentions may be no more.
    pub(super) losses: &'static str,
    /// Phrases that ask to have remembered what follows them.
    pub(super) reminders: &'static str,
    /// Join it to them.
    pub(super) links: &'static str,
    /// Verbs of a statement that is kept as it is where that was asked for; empty if there is no telling.
    pub(super) states: &'static str,
    /// Phrases that take back the whole message.
    pub(super) jests: &'static str,
    /// Phrases that call wrong the statement before them.
    pub(super) corrections: &'static str,
    /// Phrases that call it wrong or explain it.
    pub(super) rewordings: &'static str,
    /// Phrases that may as well say something else: they count between two marks, or in front of a name or number. Two of
    /// them call the statement wrong.
    pub(super) hesitations: &'static str,
    /// Begin such phrases that may stand without a mark before them ("I live in Rome no wait Milan").
    pub(super) unmarked: &'static str,
    /// May stand between such phrases.
    pub(super) between: &'static str,
    /// What is said besides another thing does not put it right.
    pub(super) besides: &'static str,
    /// After "no longer" these end but a part of what is said ("just a nurse").
    pub(super) partly: &'static str,
    /// So do these after the statement ("I no longer live in Rome with my parents").
    pub(super) narrowing: &'static str,
    /// After news that end something, leave some of it as it was ("I left my job for an hour").
    pub(super) partial: &'static str,
    /// Adverbs and asides that put nothing right ("I like jazz, I mean, sometimes").
    pub(super) remarks: &'static str,
    /// End any value.
    pub(super) stops: &'static str,
    /// After a statement, narrow it so that without them it is wrong ("until June").
    pub(super) limits: &'static str,
    /// The same, where they come right after it ("when I was five").
    pub(super) conditions: &'static str,
    /// May begin a limit that is kept as a part of a thing ("coffee after noon").
    pub(super) keeps: &'static str,
    /// Pairs that are one thing ("mac and cheese").
    pub(super) pairs: &'static str,
    /// May follow a statement whose last word is fixed, besides what ends values.
    pub(super) follow: &'static str,
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
    /// Software, services and departments one can be said to move to, which are no places.
    pub(super) no_places: &'static str,
    /// Endings of the words that may stand between a number and a pet; empty for any word.
    pub(super) modifier_endings: &'static str,
    /// Places one can be said to work in, which are no employers.
    pub(super) no_employers: &'static str,
    /// Verbs an [`Ambition`](super::row::Value::Ambition) may begin with.
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
    /// Whether names change their form with the verb.
    pub(super) inflects: bool,
    /// The names that may stand behind one in the genitive.
    pub(super) from_genitive: fn(&str) -> Vec<String>,
    /// The named lists (`@pet`): a word and its key.
    pub(super) classes: &'static [(&'static str, &'static str)],
    /// The words before a subject-less clause whose predecessor began with the first: "I … and live" is "I live".
    pub(super) inherits: &'static [(&'static str, &'static [&'static [&'static str]])],
    /// What is understood where "I" is left out.
    pub(super) omitted: &'static [&'static [&'static str]],
}

macro_rules! words {
    ($($name:ident),* $(,)?) => {
        /// The lists of [`Lists`], as sets.
        #[derive(Debug)]
        pub(super) struct Words {
            $(pub(super) $name: HashSet<&'static str>,)*
            /// Phrases dropped from the end of a value, each as its words.
            pub(super) trailing: Vec<Vec<&'static str>>,
            /// Phrases that ask to have remembered what follows them.
            pub(super) reminders: Vec<Vec<&'static str>>,
            /// Phrases that take back the whole message.
            pub(super) jests: Vec<Vec<&'static str>>,
            /// Phrases that call wrong the statement before them.
            pub(super) corrections: Vec<Vec<&'static str>>,
            /// Phrases that call it wrong or explain it.
            pub(super) rewordings: Vec<Vec<&'static str>>,
            /// Phrases that call it wrong or say something else.
            pub(super) hesitations: Vec<Vec<&'static str>>,
            /// Phrases after which the author is someone else.
            pub(super) plays: Vec<Vec<&'static str>>,
            /// Phrases that do so at the beginning of a sentence.
            pub(super) scenes: Vec<Vec<&'static str>>,
            /// Phrases that end a letter.
            pub(super) closings: Vec<Vec<&'static str>>,
            /// Phrases that alone take back what was said before.
            pub(super) retractions: Vec<Vec<&'static str>>,
            /// Phrases that make a statement before them wrong.
            pub(super) asides: Vec<Vec<&'static str>>,
            /// Phrases that may stand before a clause.
            pub(super) openers: Vec<Vec<&'static str>>,
            /// Pairs that are one thing.
            pub(super) pairs: Vec<Vec<&'static str>>,
            /// Endings that make an occupation of any word.
            pub(super) occupation_endings: Vec<&'static str>,
            /// Endings of the words that may describe a pet.
            pub(super) modifier_endings: Vec<&'static str>,
        }

        impl Words {
            /// The sets of `lists`.
            pub(super) fn new(lists: &Lists) -> Self {
                Self {
                    $($name: lists.$name.split_whitespace().collect(),)*
                    trailing: phrases(lists.trailing),
                    reminders: phrases(lists.reminders),
                    jests: phrases(lists.jests),
                    corrections: phrases(lists.corrections),
                    rewordings: phrases(lists.rewordings),
                    hesitations: phrases(lists.hesitations),
                    plays: phrases(lists.plays),
                    scenes: phrases(lists.scenes),
                    closings: phrases(lists.closings),
                    retractions: phrases(lists.retractions),
                    asides: phrases(lists.asides),
                    openers: phrases(lists.openers),
                    pairs: phrases(lists.pairs),
                    modifier_endings: lists.modifier_endings.split_whitespace().collect(),
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
    either,
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
    lead_ins,
    lately,
    solo,
    bounces,
    limits,
    conditions,
    keeps,
    follow,
    no_places,
    pastes,
    edits,
    help,
    roles,
    texts,
    these,
    salutations,
    digressions,
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
    links,
    states,
    unmarked,
    between,
    besides,
    partly,
    narrowing,
    partial,
    remarks,
);

fn phrases(list: &'static str) -> Vec<Vec<&'static str>> {
    list.split_whitespace().map(|phrase| phrase.split('_').collect()).collect()
}

impl Language {
    /// The entries of a list, none if there is no such list.
    pub(super) fn class(&self, class: &str) -> impl Iterator<Item = &'static str> {
        let entries = self.classes.iter().find(|(name, _)| *name == class).map_or("", |(_, entries)| entries);
        entries.split_whitespace()
    }

    /// The key of a word in a list, if it is in it. An entry of the list is `word` or `word=key`.
    pub(super) fn class_key(&self, class: &str, word: &str) -> Option<&'static str> {
        let (_, entries) = self.classes.iter().find(|(name, _)| *name == class)?;
        entries.split_whitespace().find_map(|entry| {
            let (form, key) = entry.split_once('=').unwrap_or((entry, entry));
            (form == word).then_some(key)
        })
    }
}
