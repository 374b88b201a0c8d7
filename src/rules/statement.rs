//! What a single statement in the third person says, for facts that come ready-made.

use super::extractor::read;
use crate::{Fact, Message, Timestamp, score::sameness::compared};

/// How a ready-made statement may name the author.
const AUTHORS: [&str; 4] = ["the user ", "user ", "they ", "i "];
/// Verbs that do not lose a mere "s" in the first person.
const IRREGULAR: [(&str, &str); 4] = [("is", "am"), ("has", "have"), ("does", "do"), ("was", "was")];
/// Longer statements are not of the plain kind that rules read.
const LONGEST: usize = 300;

/// What the rules would have read if the author had said this of themselves: for its slot, categories and relations.
/// `None` unless what they read is what the statement says, so that nothing is read into it. English.
///
/// "Lives in Porto" is put as "I live in Porto."; of that the rules make "Lives in Porto" again.
pub(crate) fn read_statement(text: &str, at: Timestamp) -> Option<Fact> {
    let text = text.trim().trim_end_matches('.');
    if text.len() > LONGEST || text.contains(['\n', '"']) {
        return None;
    }
    let author =
        AUTHORS.iter().find(|author| text.get(..author.len()).is_some_and(|start| start.eq_ignore_ascii_case(author)));
    let said = text.get(author.map_or(0, |author| author.len())..)?;
    let (verb, rest) = said.split_once(' ')?;
    let verb = verb.to_lowercase();
    let own = compared(said);
    // In the first person the verb has another form than in what is read.
    let own_rest = author.filter(|author| **author == "i ").map(|_| format!(" {}", compared(rest)));
    let first_person = first_person(&verb).into_iter().map(|verb| format!("I {verb} {rest}."));
    first_person.chain([format!("{text}.")]).find_map(|said| {
        let facts = read(&Message::user(said), 0, at);
        // "Moved to Porto" is read as "Moved to Porto, lives there now".
        let says_it = |fact: &Fact| {
            let read = compared(&fact.text);
            if let Some(rest) = &own_rest {
                return read.contains(rest);
            }
            read.strip_prefix(&own).is_some_and(|more| more.is_empty() || fact.text.contains(", "))
        };
        <[Fact; 1]>::try_from(facts).ok().map(|[fact]| fact).filter(says_it)
    })
}

/// What a verb of the third person may be in the first.
fn first_person(verb: &str) -> Vec<String> {
    if let Some((_, own)) = IRREGULAR.iter().find(|(third, _)| *third == verb) {
        return vec![(*own).to_owned()];
    }
    let mut own = vec![verb.to_owned()];
    for (ending, instead) in [("ies", "y"), ("es", ""), ("s", "")] {
        own.extend(verb.strip_suffix(ending).filter(|stem| stem.len() > 1).map(|stem| format!("{stem}{instead}")));
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(text: &str) -> Option<String> {
        let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap_or_default();
        read_statement(text, now).and_then(|fact| fact.slot)
    }

    #[test]
    fn a_plain_statement_has_its_slot() {
        for (text, expected) in [
            ("Lives in Porto", "user.home"),
            ("The user lives in Porto.", "user.home"),
            ("User moved to Porto", "user.home"),
            ("I live in Porto", "user.home"),
            ("Works at Bolt", "user.employer"),
            ("Is allergic to peanuts", "user.allergy.peanut"),
            ("Likes coffee", "user.preference.coffee"),
            ("Hates coffee", "user.preference.coffee"),
            ("Is vegan", "user.diet"),
        ] {
            assert_eq!(slot(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn nothing_is_read_into_a_statement() {
        for text in [
            "",
            "x",
            "Owns a kayak",
            "Her sister lives in Porto",
            "Lives in Porto and works at Bolt",
            "Might move to Porto",
            "Said \"I live in Porto\"",
            "Ann lives in Porto",
            "I live in Porto and own a kayak",
            "Lives in Porto? Ask again",
        ] {
            assert_eq!(slot(text), None, "{text}");
        }
    }
}
