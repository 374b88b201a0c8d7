//! The campaign of faults: every call that writes, with every call of the store that it makes failing in its turn, before
//! it is carried out or after. Nothing is half written, nothing is lost, and called again it does what it should.

use std::{collections::BTreeMap, sync::Arc};

use chrono::TimeDelta;
use ingrain::{
    BackgroundOptions, Block, CallId, EntityId, ErrorKind, ExtractedRelation, HashingEmbedder, InMemoryStore,
    ListRequest, Maintenance, ManualClock, MemoryEngine, MemoryId, MemoryKind, MemoryUpdate, Message, NewMemory, Purge,
    Result, Scope, Trust, VectorStore, testing::FaultyStore,
};
use serde_json::Value;

use crate::worlds::t0;

/// A call that writes, and whether it does so in one write: others are carried on by calling them again.
const CALLS: [(&str, bool); 28] = [
    ("add", true),
    ("add_raw", true),
    ("add_raw of turns", true),
    ("add_later", true),
    ("discard_add", true),
    ("update", true),
    ("update to nothing new", true),
    ("delete", true),
    ("delete_all", false),
    ("purge everything", false),
    ("purge one", false),
    ("approve", true),
    ("reject", true),
    ("touch", true),
    ("maintain", false),
    ("undo_merge", true),
    ("import", false),
    ("set a block", true),
    ("append to a block", true),
    ("replace in a block", true),
    ("rethink a block", true),
    ("remove a block", true),
    ("say", true),
    ("erase a conversation", true),
    ("merge entities", true),
    ("split an entity", true),
    ("call add_memory", true),
    ("call forget_memory", true),
];

fn alice() -> Scope {
    Scope::user("alice")
}

fn talk() -> Scope {
    alice().with_session("monday")
}

struct Life {
    store: Arc<FaultyStore<Arc<dyn VectorStore>>>,
    memory: MemoryEngine,
    clock: ManualClock,
    memories: BTreeMap<String, MemoryId>,
    entities: BTreeMap<String, EntityId>,
    queued: CallId,
    merged: MemoryId,
    export: Vec<String>,
}

async fn engine(store: impl VectorStore, clock: &ManualClock) -> MemoryEngine {
    let builder = MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(64)).clock(clock.clone());
    builder.background(BackgroundOptions::new().workers(0)).quarantine(true).build().await.unwrap()
}

fn knows(subject: &str, object: &str) -> NewMemory {
    NewMemory::new(format!("{subject} knows {object}")).relations([ExtractedRelation::new(subject, "knows", object)])
}

impl Life {
    /// A user with something of everything.
    async fn of(store: Arc<dyn VectorStore>) -> Self {
        let clock = ManualClock::at(t0());
        let store = Arc::new(FaultyStore::new(store));
        let memory = engine(Arc::clone(&store), &clock).await;
        memory.add_raw(&alice(), ["Twice told", "twice told."]).await.unwrap();
        let report = memory.maintain(&alice(), &Maintenance::new()).await.unwrap();
        let merged = report.merged[0].merged;
        let said = Message::user("I live in Lisbon. My sister Anna works at Acme.");
        memory.add(&talk(), [said, Message::assistant("Noted.")]).await.unwrap();
        let parcel = NewMemory::new("The parcel comes today").expires_at(t0() + TimeDelta::hours(1));
        memory.add_raw(&alice(), [parcel, "Goes".into(), "Stays".into()]).await.unwrap();
        memory.add_raw(&alice(), [knows("Ann", "Ben"), knows("Anne", "Cleo"), knows("Bob", "Ben")]).await.unwrap();
        memory.add_raw(&alice(), ["Likes tea", "likes tea.", "Drinks tea daily", "Drinks tea at noon"]).await.unwrap();
        memory.add_raw(&alice(), [NewMemory::new("Works at Bolt").trust(Trust::Tool)]).await.unwrap();
        let queued = memory.add_later(&alice(), "I like rowing.").await.unwrap().id;
        let conversation = memory.conversation(&talk()).unwrap();
        conversation.append([Message::user("hello"), Message::assistant("hi")]).await.unwrap();
        memory.blocks(&alice()).set(Block::new("persona", "I am brief.")).await.unwrap();
        clock.advance(std::time::Duration::from_secs(3 * 86_400));
        let all = memory.list(&alice(), ListRequest::new().limit(1_000).include_invalid()).await.unwrap().items;
        let aside = memory.quarantined(&alice(), ListRequest::new()).await.unwrap().items;
        let memories = all.into_iter().chain(aside).map(|one| (one.text, one.id)).collect();
        let mut entities = BTreeMap::new();
        for name in ["Ann", "Anne", "Bob", "Ben"] {
            entities.insert(name.to_owned(), memory.graph(&alice()).find(name, 1).await.unwrap()[0].0.id);
        }
        memory.graph(&alice()).merge(entities["Ben"], entities["Bob"]).await.unwrap();
        let other = engine(InMemoryStore::new(), &clock).await;
        other.add(&Scope::user("carol"), "I live in Porto. I have a dog named Bruno.").await.unwrap();
        other.conversation(&Scope::user("carol")).unwrap().append([Message::user("hello")]).await.unwrap();
        other.add_later(&Scope::user("carol"), "I like tea.").await.unwrap();
        let export = lines(&other, "carol").await;
        Self { store, memory, clock, memories, entities, queued, merged, export }
    }

    /// The same life, in a copy of its file.
    #[cfg(feature = "sqlite")]
    async fn again(&self, store: Arc<dyn VectorStore>) -> Self {
        let store = Arc::new(FaultyStore::new(store));
        let memory = engine(Arc::clone(&store), &self.clock).await;
        let Self { clock, memories, entities, queued, merged, export, .. } = self;
        let (clock, memories, entities) = (clock.clone(), memories.clone(), entities.clone());
        Self { store, memory, clock, memories, entities, queued: *queued, merged: *merged, export: export.clone() }
    }

    async fn call(&self, name: &str) -> Result<()> {
        let (memory, blocks) = (&self.memory, self.memory.blocks(&alice()));
        let id = |text: &str| self.memories[text];
        match name {
            "add" => memory.add(&talk(), "I moved to Porto. I have a dog named Bruno.").await.map(drop),
            "add_raw" => memory.add_raw(&alice(), [knows("Ann", "Dora"), knows("Dora", "Ben")]).await.map(drop),
            "add_raw of turns" => {
                let turn = |text: &str| NewMemory::new(text).kind(MemoryKind::Episode);
                memory.add_raw(&talk(), [turn("And you?"), turn("Fine.")]).await.map(drop)
            }
            "add_later" => memory.add_later(&alice(), "I like chess.").await.map(drop),
            "discard_add" => memory.discard_add(&alice(), self.queued).await,
            "update" => memory.update(&alice(), id("Stays"), MemoryUpdate::new().text("Changed")).await.map(drop),
            "update to nothing new" => memory.update(&alice(), id("Stays"), MemoryUpdate::new()).await.map(drop),
            "delete" => memory.delete(&alice(), id("Ann knows Ben")).await,
            "delete_all" => memory.delete_all(&alice()).await.map(drop),
            "purge everything" => memory.purge(&alice(), Purge::everything()).await.map(drop),
            "purge one" => memory.purge(&alice(), Purge::memories([id("Lives in Lisbon")])).await.map(drop),
            "approve" => memory.approve(&alice(), id("Works at Bolt")).await.map(drop),
            "reject" => memory.reject(&alice(), id("Works at Bolt")).await,
            "touch" => memory.touch(&alice(), &[id("Goes"), id("Stays")]).await,
            "maintain" => {
                let quiet = std::time::Duration::from_secs(3_600);
                let mut request = Maintenance::new().summarize_sessions(quiet).observe(2);
                while let Some(place) = memory.maintain(&alice(), &request).await?.next {
                    request = request.resume(place);
                }
                Ok(())
            }
            "undo_merge" => memory.undo_merge(&alice(), self.merged).await.map(drop),
            "import" => {
                let mut import = memory.import(&Scope::user("carol"));
                for line in &self.export {
                    import.line(line).await?;
                }
                import.finish().await.map(drop)
            }
            "set a block" => blocks.set(Block::new("style", "Plain.")).await.map(drop),
            "append to a block" => blocks.append("persona", "I like puns.").await.map(drop),
            "replace in a block" => blocks.replace("persona", "brief", "short").await.map(drop),
            "rethink a block" => blocks.rethink("persona", "I am long.").await.map(drop),
            "remove a block" => blocks.remove("persona").await,
            "say" => memory.conversation(&talk())?.append([Message::user("and then?")]).await.map(drop),
            "erase a conversation" => memory.conversation(&talk())?.erase().await.map(drop),
            "merge entities" => memory.graph(&alice()).merge(self.entities["Ann"], self.entities["Anne"]).await,
            "split an entity" => memory.graph(&alice()).split(self.entities["Ben"], "Bob").await.map(drop),
            "call add_memory" => {
                let result = memory.tools(&alice()).call("add_memory", r#"{"text": "Lives in Faro"}"#).await?;
                assert!(result.changed, "{}", result.text);
                Ok(())
            }
            "call forget_memory" => {
                let arguments = format!(r#"{{"id": "{}"}}"#, id("Goes"));
                let result = memory.tools(&alice()).call("forget_memory", &arguments).await?;
                assert!(result.changed, "{}", result.text);
                Ok(())
            }
            _ => unreachable!("{name}"),
        }
    }

    /// All there is, as it is exported.
    async fn state(&self) -> Vec<String> {
        [lines(&self.memory, "alice").await, lines(&self.memory, "carol").await].concat()
    }

    /// The same for comparing two lives, whose ids differ.
    async fn outline(&self) -> Vec<String> {
        let mut outline: Vec<String> = self.state().await.iter().map(|line| without_ids(line)).collect();
        outline.sort();
        outline
    }
}

async fn lines(memory: &MemoryEngine, user: &str) -> Vec<String> {
    let mut export = memory.export(&Scope::user(user));
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        if let Some(at) = line.get_mut("exported_at") {
            *at = serde_json::to_value(t0()).unwrap();
        }
        lines.push(line.to_string());
    }
    lines
}

/// With a word in place of every id.
fn without_ids(line: &str) -> String {
    let is_id = |part: &str| {
        part.len() == 36
            && part.bytes().enumerate().all(|(place, byte)| match place {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let parts = line.split_inclusive(|char: char| !char.is_ascii_hexdigit() && char != '-');
    parts
        .map(|part| if part.get(..36).is_some_and(is_id) { format!("id{}", &part[36..]) } else { part.to_owned() })
        .collect()
}

fn same(is: &[String], expected: &[String], told: &str) {
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|line| !other.contains(line)).cloned().collect()
    };
    assert!(is == expected, "{told}\nwhat is: {:#?}\nexpected: {:#?}", only(is, expected), only(expected, is));
}

/// Where lives begin.
trait Stores {
    /// A life in its first state.
    async fn life(&mut self) -> Life;
}

struct InMemory;

impl Stores for InMemory {
    async fn life(&mut self) -> Life {
        Life::of(Arc::new(InMemoryStore::new())).await
    }
}

/// One file, and copies of it.
#[cfg(feature = "sqlite")]
struct Files {
    folder: tempfile::TempDir,
    first: Option<Life>,
    copies: usize,
}

#[cfg(feature = "sqlite")]
impl Stores for Files {
    async fn life(&mut self) -> Life {
        let file = self.folder.path().join("memory.db");
        let open = async |file: &std::path::Path| {
            let builder = ingrain::SqliteStore::builder(file).durability(ingrain::Durability::Normal);
            let store = builder.open().await.unwrap();
            Arc::new(store) as Arc<dyn VectorStore>
        };
        if self.first.is_none() {
            let life = Life::of(open(&file).await).await;
            life.store.scrub().await.unwrap(); // all of it is in the file, and nothing in its log
            self.first = Some(life);
        }
        self.copies += 1;
        let copy = self.folder.path().join(format!("copy {}.db", self.copies));
        std::fs::copy(&file, &copy).unwrap();
        self.first.as_ref().unwrap().again(open(&copy).await).await
    }
}

async fn campaign(mut stores: impl Stores, calls: &[(&str, bool)]) {
    let mut failed = 0;
    for &(name, is_one_write) in calls {
        let life = stores.life().await;
        let untouched = life.outline().await;
        life.call(name).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let expected = life.outline().await;
        assert!(name == "update to nothing new" || expected != untouched, "{name} does something");
        for answer_lost in [false, true] {
            for number in 0.. {
                let life = stores.life().await;
                let before = life.state().await;
                match answer_lost {
                    true => life.store.lose_answer_after(number),
                    false => life.store.fail_call_after(number),
                }
                let outcome = life.call(name).await;
                let was_reached = !life.store.is_failure_to_come();
                life.store.start();
                let told = format!("{name}, call {number}, answer lost: {answer_lost}");
                if !was_reached {
                    same(&life.outline().await, &expected, &told);
                    break;
                }
                failed += 1;
                if let Err(error) = outcome {
                    assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{told}");
                    let is_untouched = life.state().await == before;
                    match (is_one_write, answer_lost) {
                        (true, false) => assert!(is_untouched, "{told}: a failed call leaves no trace"),
                        (true, true) if !is_untouched => {
                            same(&life.outline().await, &expected, &format!("{told}: whole, if at all"));
                            continue;
                        }
                        _ => {}
                    }
                    life.call(name).await.unwrap_or_else(|error| panic!("{told}, again: {error:?}"));
                }
                same(&life.outline().await, &expected, &format!("{told}: called again"));
            }
        }
    }
    assert!(failed > 8 * calls.len(), "{failed} failures");
}

#[tokio::test]
async fn in_memory() {
    // What differs there is how much is written at once.
    let apart = ["add", "delete", "delete_all", "purge one", "import"];
    let calls: Vec<_> = CALLS.into_iter().filter(|(name, _)| apart.contains(name)).collect();
    campaign(InMemory, &calls).await;
}

#[cfg(feature = "sqlite")]
async fn sqlite(in_one_write: bool) {
    let calls: Vec<_> = CALLS.into_iter().filter(|(_, is_one)| *is_one == in_one_write).collect();
    campaign(Files { folder: tempfile::tempdir().unwrap(), first: None, copies: 0 }, &calls).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn calls_of_one_write_in_sqlite() {
    sqlite(true).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn calls_that_are_carried_on_in_sqlite() {
    sqlite(false).await;
}
