//! Facts that a data set gives: read by the engine, found in place of their turns, counted.

use ingrain::{
    Filter, HashingEmbedder, MemoryEngine, Role, Scope, SearchMode, SearchRequest, Source,
    evaluate::{
        self, Conversation, Dataset, GivenFact, GivenFacts, Question, Report, Turn,
        ablation::{Table, variants},
    },
    score::fusion::Weights,
};

fn chat() -> Conversation {
    let turns = vec![
        Turn::new("1", Role::User, "We signed the papers at last!", "a"),
        Turn::new("1", Role::User, "Rex barked all night", "b"),
        Turn::new("2", Role::User, "The weather is fine", "c"),
    ];
    let facts = [
        GivenFact::new("Bought a house in Porto", vec![0]),
        GivenFact::new("Has a dog", vec![1, 0, 1]),
        GivenFact::new("Bought a house in Porto", vec![2]),
    ];
    let questions =
        [Question::new("Who bought a house?", "home", vec![0]), Question::new("Who has a dog?", "pets", vec![1])];
    Conversation::new("ann", turns, questions.into_iter().flatten().collect())
        .with_facts(facts.into_iter().flatten().map(|fact| fact.from_speaker("Ann")).collect())
}

async fn engine(chat: &Conversation) -> MemoryEngine {
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(256));
    builder.extractor(GivenFacts::of([chat])).build().await.unwrap()
}

#[tokio::test]
async fn given_facts_are_read_found_and_counted() {
    let chat = chat();
    let engine = engine(&chat).await;
    let ingested = evaluate::ingest_with_facts(&engine, &chat).await.unwrap();
    let counts = ingested.facts;
    assert_eq!((counts.added, counts.skipped, counts.updated, counts.rejected), (2, 1, 0, 0), "{counts:?}");
    let facts = engine.list(&Scope::user("ann"), ingrain::ListRequest::new().filter(Filter::eq("kind", "fact"))).await;
    let facts = facts.unwrap().items;
    // A fact of two turns comes with the later one.
    let from: Vec<_> = facts.iter().map(|fact| (&*fact.text, fact.speaker.as_deref(), &fact.sources[..])).collect();
    let source = |turn: usize| [Source::Memory(ingested.turns[turn])];
    let (first, second) = (source(0), source(1));
    assert_eq!(from, [("Bought a house in Porto", Some("Ann"), &first[..]), ("Has a dog", Some("Ann"), &second[..])]);

    let keyword = SearchRequest::new("").mode(SearchMode::Keyword);
    let mut reports = Vec::new();
    for (filter, searched) in [(Filter::eq("kind", "episode"), "keys"), (Filter::ne("kind", "episode"), "facts")] {
        let found = evaluate::retrieve(&engine, &chat, &ingested.turns, &keyword.clone().filter(filter)).await.unwrap();
        assert_eq!((&found[0].turns, &found[1].turns), (&vec![0], &vec![1]), "{searched}");
        let mut report = Report::new(searched);
        report.add(&chat, &found);
        assert_eq!(report.overall.scores.reciprocal_rank, 1.0, "{searched}");
        reports.push(report);
    }
    // A fact and its turn are both hits and one turn.
    let both = evaluate::retrieve(&engine, &chat, &ingested.turns, &keyword).await.unwrap();
    assert_eq!((&both[0].turns, &both[0].sessions), (&vec![0], &vec!["1".to_owned()]));
    let table = Table::new().row("keys", &reports[0]).row("facts", &reports[1]).to_string();
    assert!(table.ends_with("\n| facts | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | – | 1.000 |"), "{table}");
    assert_eq!(table.lines().count(), 4);
}

#[tokio::test]
async fn without_facts_the_words_of_the_turns_are_all_there_is() {
    let mut chat = chat();
    chat.facts.clear();
    let engine = engine(&chat).await;
    let ingested = evaluate::ingest_with_facts(&engine, &chat).await.unwrap();
    assert_eq!(ingested.facts, evaluate::FactCounts::default());
    let keyword = SearchRequest::new("").mode(SearchMode::Keyword);
    let found = evaluate::retrieve(&engine, &chat, &ingested.turns, &keyword).await.unwrap();
    assert!(found[0].turns.is_empty() && found[1].turns.is_empty(), "{found:?}");
}

#[test]
fn no_fact_without_a_turn_or_a_text() {
    assert_eq!((GivenFact::new("x", vec![]), GivenFact::new(" ", vec![1])), (None, None));
    assert_eq!(Dataset::new("mine", vec![chat(), chat()]).facts(), 6);
}

#[test]
fn each_variant_lacks_one_part_and_keeps_the_range() {
    let variants = variants();
    assert_eq!(variants[0], ("everything", Weights::default()));
    for (name, weights) in &variants {
        assert!((weights.vector + weights.keyword - 1.0).abs() < 1e-6, "{name}: {weights:?}");
        assert_eq!(variants.iter().filter(|(_, other)| other == weights).count(), 1, "{name}");
    }
}
