use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    index::content_terms,
    score::sameness::{names_apart, negations, normalized},
};

/// What an answer makes of the relevant facts, as far as its words tell.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The share of the facts that it uses, 0 to 1; `None` if there is none of which that can be told.
    pub used: Option<f64>,
    /// The places of the facts that it contradicts, in their order.
    pub contradicted: Vec<usize>,
}

/// Measures without a model how an answer to a question draws on facts: which it uses, and which it contradicts.
///
/// # Formulas
/// ```text
/// T(text) = its words but stop words and negations, stemmed; pairs of characters where a script is written without spaces
/// P(f)    = T(f) − T(question)                  what tells the fact; the question gives away the rest
/// N(f)    = those of P(f) that are names (capitals, but for a sentence's first word) or have a digit
/// f is used          if f is not contradicted, |P(f) ∩ T(answer)| ≥ ½ |P(f)| > 0, and N(f) is empty or meets T(answer)
/// f is contradicted  if some clause c of the answer, of a sentence that is no question, holds
///                       all of T(f), and of f and c one is negated (an odd number of negations) and the other is not
///                    or all of T(f) but its names and numbers (and there is more than these), both negated alike, and
///                       it has other numbers than f, or other names, and none of f's
/// used    = facts used / facts with P(f) ≠ ∅
/// ```
///
/// Clauses are parted by sentence ends, line breaks, brackets, dashes, and commas, semicolons and colons before a blank.
///
/// This goes by the letter: what is said in other words is not seen ("no prawns" for an allergy to shellfish, "two" for
/// 2), nor is whose fact it is ("your sister lives in Porto" contradicts "Lives in Lisbon"). Negations are known in seven
/// languages and names by their capitals, so that little is seen of contradictions in Chinese. As answers with and without
/// memory are measured alike, much of that cancels out in the gain.
///
/// ```
/// use ingrain::evaluate::personalization::measure;
/// # #[cfg(feature = "stemmers")] {
/// let facts = ["Is allergic to shellfish", "Lives in Lisbon"];
/// let measured = measure("Where shall we eat?", &facts, "As you live in Porto, try the market there: no shellfish.");
/// assert_eq!((measured.used, measured.contradicted), (Some(0.5), vec![1]));
/// # }
/// ```
///
/// # Source
/// Our own; the idea is that of recall over nuggets of Voorhees, "Overview of the TREC 2003 Question Answering Track". The
/// half was chosen, not measured: facts are short, and an answer that uses one seldom repeats its verb.
#[must_use]
pub fn measure(question: &str, facts: &[impl AsRef<str>], answer: &str) -> Measured {
    let (asked, said) = (terms(question), terms(answer));
    let clauses: Vec<(&str, HashSet<String>)> = clauses(answer).map(|clause| (clause, terms(clause))).collect();
    let (mut telling, mut used, mut contradicted) = (0_u32, 0_u32, Vec::new());
    for (place, fact) in facts.iter().enumerate() {
        let fact = Fact::of(fact.as_ref());
        let is_contradicted = clauses.iter().any(|(clause, terms)| fact.is_contradicted(clause, terms));
        if is_contradicted {
            contradicted.push(place);
        }
        let particulars: HashSet<&String> = fact.terms.difference(&asked).collect();
        if particulars.is_empty() {
            continue;
        }
        telling += 1;
        let found = particulars.iter().filter(|term| said.contains(**term)).count();
        let mut marked = particulars.iter().filter(|term| fact.marked.contains(**term)).peekable();
        let named = marked.peek().is_none() || marked.any(|term| said.contains(*term));
        used += u32::from(!is_contradicted && named && 2 * found >= particulars.len());
    }
    let share = (telling > 0).then(|| f64::from(used) / f64::from(telling));
    Measured { used: share, contradicted }
}

struct Fact<'t> {
    text: &'t str,
    terms: HashSet<String>,
    /// Those that are names or have a digit.
    marked: HashSet<String>,
}

impl<'t> Fact<'t> {
    fn of(text: &'t str) -> Self {
        let mut fact = Self { text, terms: terms(text), marked: HashSet::new() };
        for (place, word) in sentences(text).into_iter().flat_map(|sentence| sentence.unicode_words().enumerate()) {
            let is_name = place > 0 && word.chars().next().is_some_and(char::is_uppercase);
            if negations(word) > 0 {
                let turns = terms(word);
                fact.terms.retain(|term| !turns.contains(term));
            } else if is_name || word.chars().any(char::is_numeric) {
                fact.marked.extend(terms(word));
            }
        }
        fact
    }

    fn is_contradicted(&self, clause: &str, terms: &HashSet<String>) -> bool {
        let turned = negations(self.text) % 2 != negations(clause) % 2;
        if turned {
            return !self.terms.is_empty() && self.terms.is_subset(terms);
        }
        let mut plain = self.terms.difference(&self.marked).peekable();
        plain.peek().is_some()
            && plain.all(|term| terms.contains(term))
            && (names_apart(self.text, clause) || numbers_apart(self.text, clause))
    }
}

fn terms(text: &str) -> HashSet<String> {
    content_terms(&normalized(text))
}

/// Whether both have numbers, and none in common.
fn numbers_apart(left: &str, right: &str) -> bool {
    let (left, right) = (numbers(left), numbers(right));
    !left.is_empty() && !right.is_empty() && left.is_disjoint(&right)
}

fn numbers(text: &str) -> HashSet<String> {
    let words = text.unicode_words().filter(|word| word.chars().any(char::is_numeric));
    words.map(|word| word.chars().filter(|letter| letter.is_alphanumeric()).collect()).collect()
}

/// Not collected: the iterator's size hint cannot count down from an empty text.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for sentence in text.unicode_sentences() {
        sentences.push(sentence);
    }
    sentences
}

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let told = sentences(text).into_iter().filter(|sentence| !sentence.trim_end().ends_with(['?', '？']));
    told.flat_map(|sentence| {
        let mut clauses = vec![sentence];
        for mark in [", ", "; ", ": ", "\n", "(", ")", "–", "—"] {
            clauses = clauses.iter().flat_map(|clause| clause.split(mark)).collect();
        }
        clauses
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(question: &str, fact: &str, answer: &str) -> Option<f64> {
        measure(question, &[fact], answer).used
    }

    fn contradicts(fact: &str, answer: &str) -> bool {
        !measure("?", &[fact], answer).contradicted.is_empty()
    }

    // Endings are told by stems.
    #[cfg(feature = "stemmers")]
    #[test]
    fn half_of_what_tells_the_fact_and_one_of_its_names() {
        for (fact, answer, share) in [
            ("Is allergic to shellfish", "A risotto, without shellfish.", 1.0),
            ("Is allergic to shellfish", "A risotto with prawns.", 0.0),
            ("Has a dog named Bruno", "Take Bruno along, dogs may go in.", 1.0),
            ("Has a dog named Bruno", "Dogs may go in, whatever they are named.", 0.0),
            ("Runs 5 km each morning", "After your 5 km run in the morning.", 1.0),
            ("Runs 5 km each morning", "After your run in the morning.", 0.0),
            ("住在里斯本", "波尔图有很多餐厅", 0.0),
            ("喜欢里斯本", "里斯本有很多餐厅", 1.0),
            ("Живёт в Казани", "В Казани есть хороший театр.", 1.0),
        ] {
            assert_eq!(used("What now?", fact, answer), Some(share), "{fact} / {answer}");
        }
    }

    #[test]
    fn what_the_question_gives_away_proves_nothing() {
        assert_eq!(used("Which tea from Porto is good?", "Likes tea from Porto", "Tea is from Asia."), Some(0.0));
        assert_eq!(used("Is tea good?", "Tea", "Tea is good."), None);
        assert_eq!(measure("?", &[] as &[&str], "Anything."), Measured::default());
        assert_eq!(used("?", "Likes tea", ""), Some(0.0));
    }

    // Endings are told by stems.
    #[cfg(feature = "stemmers")]
    #[test]
    fn the_turned_fact_and_another_value_contradict() {
        for (fact, answer) in [
            ("Is allergic to shellfish", "Good that you are not allergic to shellfish!"),
            ("Doesn't eat meat", "You eat meat: try the steak."),
            ("Lives in Lisbon", "Since you live in Porto, walk along the Douro."),
            ("Has 2 kids", "With your 3 kids, take the train."),
            ("Живёт в Казани", "Раз вы не живёте в Казани, снимите номер."),
        ] {
            assert!(contradicts(fact, answer), "{fact} / {answer}");
            assert_eq!(used("?", fact, answer), Some(0.0), "a fact that is contradicted is not used");
        }
    }

    #[test]
    fn what_is_in_line_with_a_fact_does_not_contradict_it() {
        for (fact, answer) in [
            ("Is allergic to shellfish", "Since you are allergic to shellfish, do not cook prawns."),
            ("Is allergic to shellfish", "A soup with no shellfish."),
            ("Lives in Lisbon", "You live in Lisbon, not in Porto."),
            ("Lives in Lisbon", "You do not live in Porto."),
            ("Lives in Lisbon", "Do you live in Porto?"),
            ("Doesn't eat meat", "As you don't eat meat, try the tofu."),
            ("Has 2 kids", "Your 2 kids will like it; it takes 3 hours."),
            ("", "You are not here."),
        ] {
            assert!(!contradicts(fact, answer), "{fact} / {answer}");
        }
    }
}
