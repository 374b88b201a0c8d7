//! Questions about the town whose answer is two or three steps away from the one they name.

use std::collections::{BTreeMap, BTreeSet};

use ingrain::{InMemoryStore, ManualClock, MemoryEngine, SearchRequest, StaticEmbedder, score::fusion::Weights};

use super::{
    PAUSE, Town, scope, start,
    story::{Being, DAYS, Dice, Sentence, Story},
    truth::Truth,
};

struct Question {
    text: String,
    /// The sentences that tell the last step.
    evidence: BTreeSet<String>,
}

/// A question as it is put, and the predicates from the one it names to the answer.
const PATTERNS: [(&str, &[&str]); 10] = [
    ("Where does the {spouse} of {} work?", &["married_to", "works_at"]),
    ("Which town does {}'s {spouse} live in?", &["married_to", "lives_in"]),
    ("In which city does the employer of {} have its office?", &["works_at", "has_office_in"]),
    ("Which vet treats the dog of {}?", &["has_pet", "has_vet"]),
    ("Where do the friends of {} live?", &["friend_of", "lives_in"]),
    ("What dog does a friend of {} have?", &["friend_of", "has_pet"]),
    ("Who is a friend of {} married to?", &["friend_of", "married_to"]),
    ("In which city is the office that {}'s {spouse} works for?", &["married_to", "works_at", "has_office_in"]),
    ("Which vet looks after the dog of {}'s {spouse}?", &["married_to", "has_pet", "has_vet"]),
    ("Where do the friends of {}'s {spouse} work?", &["married_to", "friend_of", "works_at"]),
];

/// Of each pattern at most so many questions that have an answer at the end of the story, with the number of the pattern.
fn questions(story: &Story, most: usize) -> Vec<(usize, Question)> {
    let truth = Truth::of(&story.sentences);
    let mut people: Vec<usize> = (0..story.people).collect();
    Dice::new(11).shuffle(&mut people);
    let numbered = PATTERNS.iter().enumerate();
    let of_all = numbered.flat_map(|(number, (text, steps))| {
        let asked = people.iter().filter_map(|person| question(story, &truth, *person, text, steps));
        asked.take(most).map(move |question| (number, question)).collect::<Vec<_>>()
    });
    of_all.collect()
}

/// The question about this person, if it has an answer.
fn question(story: &Story, truth: &Truth, person: usize, text: &str, steps: &[&str]) -> Option<Question> {
    let (last, before) = steps.split_last()?;
    let mut at: BTreeSet<usize> = BTreeSet::from([person]);
    let mut passed = at.clone();
    for step in before {
        let next = at.iter().flat_map(|being| truth.objects(*being, step, DAYS));
        at = next.filter(|being| !passed.contains(being)).collect();
        passed.extend(&at);
    }
    let ends = at.iter().flat_map(|being| truth.objects(*being, last, DAYS).into_iter().map(|end| (*being, end)));
    let answers: BTreeSet<(usize, usize)> = ends.filter(|(_, end)| !passed.contains(end)).collect();
    let spouse = truth
        .objects(person, "married_to", DAYS)
        .first()
        .map_or("spouse", |spouse| if story.beings[*spouse].is_woman { "wife" } else { "husband" });
    let Being { name, .. } = &story.beings[person];
    let tells = |sentence: &&Sentence| {
        let mut told = sentence.statements.iter().filter(|told| told.until.is_none() && told.predicate == *last);
        told.any(|told| answers.contains(&(told.subject, told.object)))
    };
    let evidence: BTreeSet<String> =
        story.sentences.iter().filter(tells).map(|sentence| sentence.text.clone()).collect();
    let text = text.replace("{spouse}", spouse).replace("{}", name);
    (!evidence.is_empty()).then_some(Question { text, evidence })
}

/// A pattern, to be printed.
fn pattern(number: usize) -> String {
    let (text, steps) = PATTERNS[number];
    format!("{text} ({} steps)", steps.len())
}

/// What the arm of the graph adds; prints how many of the questions are answered among the first ten.
#[tokio::test]
#[ignore = "takes minutes without optimization"]
async fn what_is_two_or_three_steps_away_is_found() {
    let store = InMemoryStore::new();
    let town = Town::told(Story::new(1, 150), 1, store.clone(), StaticEmbedder::builtin()).await;
    let questions = questions(&town.story, 30);
    let mut weights = Weights::default();
    weights.graph = 0.0;
    let told = start() + PAUSE * u32::try_from(town.story.sentences.len()).unwrap();
    let builder = MemoryEngine::builder().store(store).embedder(StaticEmbedder::builtin()).weights(weights);
    let without = builder.clock(ManualClock::at(told)).build().await.unwrap();
    let mut found: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (number, question) in &questions {
        let counts = found.entry(pattern(*number)).or_default();
        for (count, engine) in counts.iter_mut().zip([&town.engine, &without]) {
            let hits = engine.search(&scope(), SearchRequest::new(&question.text).limit(10)).await.unwrap();
            *count += usize::from(hits.iter().any(|hit| question.evidence.contains(&hit.memory.text)));
        }
    }
    for (pattern, [with, without]) in &found {
        eprintln!("{with:>3} with the graph, {without:>3} without: {pattern}");
    }
    let [with, without] = [0, 1].map(|place| found.values().map(|counts| counts[place]).sum::<usize>());
    eprintln!("{with} with the graph, {without} without, of {}", questions.len());
    assert!(with > without, "{with} {without}");
}
