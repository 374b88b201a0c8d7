//! Extraction, reconciliation and summaries without a model: a table of patterns per language, English and Russian so far;
//! summaries in any language.
//!
//! [`RuleExtractor`] turns what the user says in the first person into facts, [`RuleReconciler`] decides what those do to
//! what is known, and [`RuleSummarizer`] picks the sentences that say most. All are deterministic, make no request and
//! take time in proportion to the text.
//!
//! They would rather miss a fact than make one up. A statement is taken only where it stands alone and plain: not in a
//! question, a quotation, pasted text, a letter, a game, a supposition or a report of what others said, and not where the
//! thing it speaks of is only pointed at ("I love it"). Whoever wants more plugs in a model.
//!
//! The flow: `prose` drops what the user did not write, tokens become sentences, `foreign` stops at the first that begins
//! a letter, a game or a text to work on, sentences become clauses, and each clause is held against the rows of its
//! language's table (`english`, `russian`), which are data.
//!
//! # Slots and categories
//!
//! A slot is who it is about, a dot, and what of them. The author is `user`; a relative is the English word for what
//! they are (`wife`, `sister`), whatever the language, with what tells several apart before or after it (`older
//! sister`, `sister ann`) unless there can be but one (`husband`, `mother`). A thing named in a slot is folded to small
//! letters, without an article, and stands in the words and the case of the message (`user.preference.кофе`); of an
//! allergy in the singular (`user.allergy.peanut`), and "colour" is `color`. What several memories may say at once has
//! no slot.
//!
//! | category | slots | without a slot |
//! | --- | --- | --- |
//! | `identity` | `user.name`, `user.nickname`, `user.age`, `user.birthday`, `user.birthplace`, `user.origin`, `user.handedness`, `user.car` | where one grew up |
//! | `contact` | `user.phone` | |
//! | `home` | `user.home` | places one lives near, or lived in for a time |
//! | `work` | `user.employer`, `user.occupation` | fields, businesses, what one teaches |
//! | `education` | `user.school`, `user.student` | subjects, degrees |
//! | `language` | `user.native_language`, `user.learning.LANGUAGE` | languages one speaks |
//! | `preference` | `user.preference.THING` (liked or not), `user.favorite.SORT`, `user.plays.THING`, `user.collects.THING` | comparisons, hobbies, lists that cannot be taken apart |
//! | `diet` | `user.diet`, `user.diet.FREE-FROM`, `user.eats.THING`, `user.drinks.THING`, `RELATIVE.diet` | |
//! | `health` | `user.allergy.THING`, `RELATIVE.allergy.THING`, `user.tolerates.THING`, `user.smokes`, `user.takes.MEDICINE`, `user.pregnancy`, `user.doctor` and the like | diseases |
//! | `family` | `user.marital_status`, `user.children`, `user.children.names`, `user.sons` and the like (how many), `RELATIVE.name` (where there is but one), `.home`, `.employer`, `.occupation`, `.age`, `.death`, `.parting` | other relatives, births |
//! | `pets` | `user.pets.KIND` (how many), `user.pet.NAME` | pets without a name |
//! | `plans` | | plans and wishes, where one is for a time, what is called off |
//! | `notes` | `user.note.THING` of a code, number, address or the like | what the user asked to have remembered |
//!
//! # Corrections and ends
//!
//! What is told to be over, or wrong, ends what is known of it: another value of the slot, "no longer" and "not … any more"
//! with whatever can be said without them, "I sold my car", "I cancelled my trip to Japan"; "…, not Tom" ends what says Tom.
//! What ends in part only ("I'm no longer just a nurse", "… with my parents") is left as it is. Where it takes knowing the name to tell what is meant
//! ("Bruno died"), or where it may end one thing or another (a divorce, the name of a husband or of a wife), the fact
//! [only ends](crate::Fact::ends_only) something and is stored where there is something to end. What is no longer eaten is
//! no longer liked, but an allergy stays.
//!
//! A new job ends the employer before, a degree the studies, meat that is eaten again a diet without it, a death what is
//! known of a relative but their name. "Forget that I like jazz" ends that liking; it erases nothing, for which there is
//! [`delete`](crate::MemoryEngine::delete).
//!
//! What follows "please remember that", "don't forget that" and the like is read as if it stood alone; what no row reads is
//! kept in the user's own words, if it is a plain statement of a thing of theirs or of something by name.
//!
//! What is put right in the same breath is read as it was meant: "I live in Rome, no wait, I mean Milan" says Milan, "…,
//! scratch that" nothing. "Sorry", "actually" and "no" count where a word stands alone between them and the next mark.
//!
//! A plan or a stay with a time holds until that is over ([`invalid_at`](crate::Fact::invalid_at)): "in June", "from 3 to 10
//! May", "until Friday". What was so from one time to another ("I lived in Rome from 2018 to 2021") held then.
//!
//! An allergy is taken only to what is known for an allergen (foods, animals, plants, materials, medicines: a list of some
//! hundred words), since "I'm allergic to Mondays" is none.
//!
//! # Relations
//!
//! Of what has a name a fact tells relations, too, if they are asked for; their predicates are the same in every
//! language: `lives_in`, `works_at`, `studies_at`, `born_in`, `is_from`, `married_to`, `has_pet`, and `has_KINSHIP` of the
//! family (`has_sister` of an older sister, too). A relative is called by name where it is said with what they are ("my
//! sister Ann" is Ann), else by whose they are (`user's sister`, `Ann's older sister`); where there can be but one, the
//! two are names of one. Places and employers are named without an article. Russian puts names into cases, which rules
//! cannot undo, so there only relatives and pets give relations, whose names stand in the first case.

mod allergen;
mod amend;
mod clause;
mod ended;
mod english;
mod extractor;
mod filling;
mod fits;
mod foreign;
mod language;
mod pattern;
mod prose;
mod reader;
mod reconciler;
mod redactor;
mod relations;
mod reminder;
mod row;
mod russian;
mod sameness;
mod sentence;
mod split;
mod statement;
mod summarizer;
mod tail;
#[cfg(test)]
#[expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]
mod tests;
mod token;
mod topic;
mod value;
mod when;

pub use extractor::RuleExtractor;
pub use reconciler::RuleReconciler;
pub use redactor::PatternRedactor;
pub(crate) use statement::read_statement;
pub use summarizer::RuleSummarizer;
