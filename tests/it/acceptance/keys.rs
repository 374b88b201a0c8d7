//! Turns are found by the facts that were read from them, for as long as these are stored.

use ingrain::{
    Action, Error, ErrorKind, ExtractRequest, Extraction, Extractor, Fact, Filter, MemoryEngine, MemoryId, MemoryKind,
    MemoryUpdate, Message, NewMemory, Plan, ReconcileRequest, Reconciler, Result, Scope, SearchMode, SearchRequest,
    Source, VectorStore, async_trait,
};
use serde_json::json;

use crate::worlds::{World, object, texts};

/// Reads the facts in a message's metadata.
#[derive(Debug)]
struct Told;

#[async_trait]
impl Extractor for Told {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let facts = request.messages.iter().enumerate().flat_map(|(number, message)| {
            let told = message.metadata["facts"].as_array().into_iter().flatten();
            told.filter_map(|fact| fact.as_str()).map(move |fact| Fact::new(fact, number))
        });
        Ok(Extraction::of(facts.collect()))
    }
}

/// Takes a fact about boats into the memory about boats, skips what is known word for word, and adds the rest.
#[derive(Debug)]
struct Boats;

#[async_trait]
impl Reconciler for Boats {
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        let mut actions = Vec::new();
        for (fact, new) in request.facts.iter().enumerate() {
            let find = |wanted: &dyn Fn(&str) -> bool| {
                request.neighbours.iter().position(|neighbour| wanted(&neighbour.memory.text))
            };
            let boats = |text: &str| text.contains("kayak");
            actions.push(match (find(&|text| text == new.text), find(&boats)) {
                (Some(known), _) => Action::Skip { fact, neighbour: Some(known) },
                (None, Some(neighbour)) if boats(&new.text) => {
                    let text = format!("{} and {}", request.neighbours[neighbour].memory.text, new.text);
                    Action::Update { neighbour, fact: Some(fact), text }
                }
                _ => Action::Add { fact },
            });
        }
        Ok(Plan::of(actions))
    }
}

struct Chat {
    world: World,
    engine: MemoryEngine,
}

fn tom() -> Scope {
    Scope::user("tom")
}

impl Chat {
    async fn all() -> Vec<Self> {
        let mut chats = Vec::new();
        for world in World::all().await {
            let builder = MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
            let builder = builder.clock(world.clock.clone()).extractor(Told).reconciler(Boats);
            let engine = builder.build().await.unwrap();
            chats.push(Self { world, engine });
        }
        chats
    }

    /// Adds a turn from which these facts are read, and gives the turn and the new memories.
    async fn say(&self, scope: &Scope, turn: &str, facts: &[&str]) -> (MemoryId, Vec<MemoryId>) {
        let report =
            self.engine.add(scope, Message::user(turn).with_metadata(object(json!({ "facts": facts })))).await.unwrap();
        (report.episodes[0], report.added.iter().map(|memory| memory.id).collect())
    }

    /// The turns that these words find.
    async fn turns(&self, words: &str) -> Vec<String> {
        self.turns_in(&tom(), words).await
    }

    async fn turns_in(&self, scope: &Scope, words: &str) -> Vec<String> {
        let turns = Filter::eq("kind", "episode");
        let request = SearchRequest::new(words).mode(SearchMode::Keyword).filter(turns);
        let hits = self.engine.search(scope, request).await.unwrap();
        hits.into_iter().map(|hit| hit.memory.text).collect()
    }
}

const TURN: &str = "We signed the papers at last!";
const HOUSE: &str = "Bought a house in Porto";
const DOG: &str = "Has a dog called Rex";

#[tokio::test]
async fn a_fact_finds_its_turn_and_both_stay_as_they_are() {
    for chat in Chat::all().await {
        let (turn, facts) = chat.say(&tom(), TURN, &[HOUSE, DOG]).await;
        for words in ["house", "dog", "papers"] {
            assert_eq!(chat.turns(words).await, [TURN], "{}: {words}", chat.world.name);
        }
        let near = SearchRequest::new(HOUSE).mode(SearchMode::Vector).filter(Filter::eq("kind", "episode"));
        let hits = chat.engine.search(&tom(), near).await.unwrap();
        assert!(hits[0].memory.id == turn && hits[0].score > 0.999, "the fact's vector is the turn's, too");
        let known = chat.engine.get(&tom(), facts[0]).await.unwrap();
        assert_eq!((known.text.as_str(), known.sources), (HOUSE, vec![Source::Memory(turn)]));
        assert_eq!(chat.engine.get(&tom(), turn).await.unwrap().text, TURN);
    }
}

#[tokio::test]
async fn a_deleted_fact_takes_its_words_along() {
    for chat in Chat::all().await {
        let (turn, facts) = chat.say(&tom(), TURN, &[HOUSE, DOG]).await;
        chat.world.embedder.fail_with(ErrorKind::ProviderUnreachable);
        chat.engine.delete(&tom(), facts[0]).await.expect("nothing needs to be embedded");
        chat.world.embedder.fail_with(None);
        assert!(chat.turns("house").await.is_empty(), "{}", chat.world.name);
        assert_eq!((chat.turns("dog").await, chat.turns("papers").await), (vec![TURN.into()], vec![TURN.into()]));
        assert_eq!(chat.engine.history(&tom(), turn).await.unwrap().len(), 1, "no change of the turn itself");
        chat.engine.delete(&tom(), turn).await.unwrap();
        chat.engine.delete(&tom(), facts[1]).await.expect("the turn is gone already");
        assert!(chat.turns("dog").await.is_empty());
    }
}

#[tokio::test]
async fn a_failed_delete_leaves_fact_and_key() {
    for chat in Chat::all().await {
        let (_, facts) = chat.say(&tom(), TURN, &[HOUSE]).await;
        chat.world.store.fail_next_writes(1);
        let error: Error = chat.engine.delete(&tom(), facts[0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{}", chat.world.name);
        assert_eq!(chat.turns("house").await, [TURN]);
        assert!(chat.engine.get(&tom(), facts[0]).await.is_ok());
    }
}

#[tokio::test]
async fn a_fact_that_took_in_others_frees_all_its_turns() {
    for chat in Chat::all().await {
        let (monday, friday) = (tom().with_session("monday"), tom().with_session("friday"));
        let (_, facts) = chat.say(&monday, "Out on the water again.", &["Owns a kayak"]).await;
        chat.say(&friday, "It is blue.", &["Painted the kayak blue"]).await;
        let merged = chat.world.list(&tom()).await;
        assert_eq!(texts(&merged), ["Owns a kayak and Painted the kayak blue"], "{}", chat.world.name);
        assert_eq!(chat.turns("kayak").await.len(), 2);
        assert_eq!(chat.turns("painted").await, ["It is blue."], "a turn is found by what was read from it alone");
        chat.engine.delete(&friday.across_sessions(), facts[0]).await.unwrap();
        assert!(chat.turns("kayak").await.is_empty() && chat.turns("painted").await.is_empty());
        assert_eq!(chat.turns("water blue").await.len(), 2, "by their own words");
    }
}

#[tokio::test]
async fn a_corrected_fact_corrects_what_finds_its_turn() {
    for chat in Chat::all().await {
        let (turn, facts) = chat.say(&tom(), TURN, &[HOUSE, DOG]).await;
        for text in ["Bought a flat in Braga", "Rents a flat in Braga"] {
            chat.engine.update(&tom(), facts[0], MemoryUpdate::new().text(text)).await.unwrap();
        }
        for (words, found) in [("flat", 1), ("rents", 1), ("house", 0), ("Porto", 0), ("bought", 0), ("dog", 1)] {
            assert_eq!(chat.turns(words).await.len(), found, "{}: {words}", chat.world.name);
        }
        // Metadata leaves the keys alone; a new text is what the turn says now, and all it is found by.
        let update = MemoryUpdate::new().metadata(object(json!({ "seen": true })));
        chat.engine.update(&tom(), turn, update).await.unwrap();
        assert_eq!(chat.turns("flat").await, [TURN]);
        chat.engine.update(&tom(), turn, MemoryUpdate::new().text("We signed.")).await.unwrap();
        for words in ["flat", "dog", "papers"] {
            assert!(chat.turns(words).await.is_empty(), "{}: {words}", chat.world.name);
        }
        assert_eq!(chat.turns("signed").await, ["We signed."]);
    }
}

#[tokio::test]
async fn what_is_known_already_finds_its_own_turns_only() {
    for chat in Chat::all().await {
        let (_, facts) = chat.say(&tom(), TURN, &[HOUSE]).await;
        chat.say(&tom(), "As I said.", &[HOUSE]).await;
        assert_eq!(chat.turns("house").await, [TURN], "{}", chat.world.name);
        chat.engine.delete(&tom(), facts[0]).await.unwrap();
        assert!(chat.turns("house").await.is_empty());
    }
}

#[tokio::test]
async fn a_turn_has_so_many_keys_and_no_more() {
    for chat in Chat::all().await {
        let facts: Vec<String> = (0..40).map(|number| format!("Collects stamp{number}")).collect();
        let mut told: Vec<&str> = facts.iter().map(String::as_str).collect();
        told.insert(0, "we signed the papers at last");
        let (turn, added) = chat.say(&tom(), TURN, &told).await;
        let keys = chat.world.store.keys(&tom(), turn).await.unwrap();
        assert_eq!((added.len(), keys.len()), (41, 17), "{}: its own, and sixteen", chat.world.name);
        assert_eq!(keys[0].text, TURN, "what repeats the turn is no further key");
        assert_eq!((chat.turns("stamp15").await.len(), chat.turns("stamp16").await.len()), (1, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facts_deleted_at_once_leave_nothing() {
    for chat in Chat::all().await {
        let words = ["ash", "birch", "cedar", "elm", "fir", "hazel"];
        let (_, facts) = chat.say(&tom(), TURN, &words).await;
        let deletes: Vec<_> = facts
            .into_iter()
            .map(|id| {
                let engine = chat.engine.clone();
                tokio::spawn(async move { engine.delete(&tom(), id).await })
            })
            .collect();
        for delete in deletes {
            delete.await.unwrap().unwrap();
        }
        for word in words {
            assert!(chat.turns(word).await.is_empty(), "{}: {word}", chat.world.name);
        }
        assert_eq!(chat.turns("papers").await, [TURN]);
    }
}

#[tokio::test]
async fn facts_of_earlier_turns_are_stored_as_they_are() {
    for chat in Chat::all().await {
        let session = tom().with_session("monday");
        let (turn, _) = chat.say(&session, TURN, &[]).await;
        let fact = |text: &str| NewMemory::new(text).sources([Source::Memory(turn)]);
        let added = chat.engine.add_raw(&session, [fact(HOUSE), fact(DOG)]).await.unwrap();
        assert_eq!((chat.turns("house").await, chat.turns("dog").await), (vec![TURN.into()], vec![TURN.into()]));
        chat.engine.delete(&tom(), added[0].id).await.unwrap();
        assert!(chat.turns("house").await.is_empty() && chat.turns("dog").await.len() == 1, "{}", chat.world.name);
        // A reader of the session must not feel what he does not see, and others have no part in it at all.
        for scope in [tom(), tom().with_session("friday"), tom().with_agent("a"), Scope::user("eve")] {
            chat.engine.add_raw(&scope, [fact("Keeps bees")]).await.unwrap();
        }
        assert!(chat.turns_in(&session, "bees").await.is_empty(), "{}", chat.world.name);
        let summary = fact("Sold the boat").kind(MemoryKind::Summary);
        chat.engine.add_raw(&session, [summary]).await.unwrap();
        assert!(chat.turns("boat").await.is_empty(), "only what is known is a key");
    }
}

/// A text of several passages, which begins with one animal and ends with another.
fn long(first: &str, last: &str) -> String {
    let some = |animal: &str| format!("The {animal} sat on the mat and looked at nine of the birds. ").repeat(12);
    some(first) + &some(last)
}

#[tokio::test]
async fn a_long_fact_takes_all_its_passages_along() {
    for chat in Chat::all().await {
        let (turn, added) = chat.say(&tom(), TURN, &[DOG]).await;
        let fact = |text: String| NewMemory::new(text).sources([Source::Memory(turn)]);
        let long_facts = [fact(long("wombat", "quokka")), fact(long("numbat", "dingo"))];
        let facts = chat.engine.add_raw(&tom(), long_facts).await.unwrap();
        for animal in ["wombat", "quokka", "numbat", "dingo"] {
            assert_eq!(chat.turns(animal).await, [TURN], "{}: {animal}", chat.world.name);
        }
        chat.engine.delete(&tom(), facts[0].id).await.unwrap();
        // A fact that becomes long is found in passages, too, and one that becomes short leaves none behind.
        let change = async |id: MemoryId, text: &str| {
            chat.engine.update(&tom(), id, MemoryUpdate::new().text(text)).await.unwrap();
        };
        change(facts[1].id, "Keeps bees").await;
        change(added[0], &long("lemur", "tapir")).await;
        let found =
            [("wombat", 0), ("quokka", 0), ("numbat", 0), ("dingo", 0), ("bees", 1), ("lemur", 1), ("tapir", 1)];
        for (animal, count) in found {
            assert_eq!(chat.turns(animal).await.len(), count, "{}: {animal}", chat.world.name);
        }
        chat.engine.delete(&tom(), added[0]).await.unwrap();
        chat.engine.delete(&tom(), facts[1].id).await.unwrap();
        let keys = chat.world.store.keys(&tom(), turn).await.unwrap();
        assert_eq!(keys.iter().map(|key| key.text.as_str()).collect::<Vec<_>>(), [TURN], "{}", chat.world.name);
    }
}

#[tokio::test]
async fn a_corrected_fact_is_not_felt_where_it_is_not_shown() {
    for chat in Chat::all().await {
        let (monday, friday) = (tom().with_session("monday"), tom().with_session("friday"));
        // One memory of two sessions: it is monday's, and friday's turn is found by what was read from that.
        let (_, facts) = chat.say(&monday, "Out on the water again.", &["Owns a kayak"]).await;
        chat.say(&friday, "It is blue.", &["Painted the kayak blue"]).await;
        assert_eq!(chat.turns_in(&friday, "painted").await, ["It is blue."], "{}", chat.world.name);
        let update = MemoryUpdate::new().text("Hides a quokka in the cellar");
        chat.engine.update(&monday, facts[0], update).await.unwrap();
        assert!(chat.turns_in(&friday, "quokka cellar").await.is_empty(), "{}", chat.world.name);
        assert!(chat.turns_in(&friday, "painted").await.is_empty(), "what was read from it is taken back all the same");
        assert_eq!(chat.turns_in(&monday, "quokka").await, ["Out on the water again."]);
    }
}

#[tokio::test]
async fn what_was_a_turn_gives_the_words_back_too() {
    for chat in Chat::all().await {
        let said = NewMemory::new(TURN).kind(MemoryKind::Episode).speaker("Zed");
        let turn = chat.engine.add_raw(&tom(), [said]).await.unwrap()[0].id;
        let fact = |text: &str| NewMemory::new(text).sources([Source::Memory(turn)]);
        let facts = chat.engine.add_raw(&tom(), [fact(HOUSE), fact(DOG)]).await.unwrap();
        chat.engine.update(&tom(), turn, MemoryUpdate::new().kind(MemoryKind::Observation)).await.unwrap();
        chat.engine.delete(&tom(), facts[0].id).await.unwrap();
        chat.engine.update(&tom(), facts[1].id, MemoryUpdate::new().text("Has a cat")).await.unwrap();
        let keys = chat.world.store.keys(&tom(), turn).await.unwrap();
        let keys: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(keys, ["Zed: We signed the papers at last!"], "{}: no turn, so not by the cat", chat.world.name);
    }
}

#[tokio::test]
async fn many_facts_of_one_long_turn_are_lent_in_order_until_it_is_full() {
    for chat in Chat::all().await {
        let said = NewMemory::new(long("cat", "dog").repeat(40)).kind(MemoryKind::Episode);
        let turn = chat.engine.add_raw(&tom(), [said]).await.unwrap()[0].id;
        let own = chat.world.store.keys(&tom(), turn).await.unwrap().len();
        let fact = |number: usize| NewMemory::new(format!("Saw bird{}", number / 2)).sources([Source::Memory(turn)]);
        for facts in [(0..10).map(fact).collect::<Vec<_>>(), (8..400).map(fact).collect()] {
            chat.engine.add_raw(&tom(), facts).await.unwrap();
        }
        let keys = chat.world.store.keys(&tom(), turn).await.unwrap();
        let lent: Vec<&str> = keys.iter().skip(own).map(|key| key.text.as_str()).collect();
        let first: Vec<String> = (0..16).map(|number| format!("Saw bird{number}")).collect();
        assert_eq!(lent, first, "{}", chat.world.name);
    }
}

#[tokio::test]
async fn a_removed_session_leaves_a_turn_of_the_user_unless_its_facts_go_first() {
    for chat in Chat::all().await {
        let session = tom().with_session("monday");
        let (turn, _) = chat.say(&tom(), TURN, &[]).await;
        let fact = |text: &str| NewMemory::new(text).sources([Source::Memory(turn)]);
        let facts = chat.engine.add_raw(&session, [fact(HOUSE), fact(DOG)]).await.unwrap();
        chat.engine.delete(&session, facts[0].id).await.unwrap();
        assert_eq!(chat.engine.delete_all(&session).await.unwrap(), 1, "{}", chat.world.name);
        assert_eq!((chat.turns("house").await.len(), chat.turns("dog").await.len()), (0, 1), "as documented");
        assert_eq!(chat.turns("papers").await, [TURN]);
    }
}

#[tokio::test]
async fn what_no_longer_holds_still_finds_the_turn_that_said_it() {
    for world in World::all().await {
        world.engine.add(&tom(), "I live in Lisbon. The tram rattles past the window.").await.unwrap();
        let report = world.engine.add(&tom(), "I moved to Porto.").await.unwrap();
        assert_eq!(report.superseded.len(), 1, "{}", world.name);
        let keys =
            world.store.keys(&tom(), report.superseded[0].sources.iter().find_map(turn_of).unwrap()).await.unwrap();
        assert_eq!(keys[1].text, "Lives in Lisbon");
    }
}

fn turn_of(source: &Source) -> Option<MemoryId> {
    match source {
        Source::Memory(id) => Some(*id),
        _ => None,
    }
}
