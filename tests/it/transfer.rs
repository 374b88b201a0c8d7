//! Export and import: what comes out goes in again, whatever happens on the way.

use std::sync::Arc;

use ingrain::{
    BackgroundOptions, ErrorKind, ExtractedRelation, Filter, HashingEmbedder, InMemoryStore, ListRequest, MemoryEngine,
    MemoryUpdate, Message, NewMemory, OnClash, Purge, RunningSummary, Scope, TransferReport, VectorStore,
    testing::FaultyStore,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::worlds;

/// An engine that leaves its queue alone, so that what is in it stays to be looked at.
async fn engine(store: impl VectorStore, dimensions: usize) -> MemoryEngine {
    let background = BackgroundOptions::new().workers(0);
    let builder = MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(dimensions));
    builder.background(background).build().await.unwrap()
}

fn alice() -> Scope {
    Scope::user("alice")
}

/// A user with something of everything.
async fn filled(store: impl VectorStore) -> MemoryEngine {
    let talks = store.companions().conversations;
    let memory = engine(store, 64).await;
    let session = alice().with_session("monday");
    memory
        .add(&session, [Message::user("I live in Lisbon. My sister Anna works at Acme.").with_id("m1")])
        .await
        .unwrap();
    memory.add(&alice(), [Message::user("I moved to Porto.")]).await.unwrap();
    let long = format!("A long note. {}", "It goes on and on. ".repeat(300));
    let raw = memory.add_raw(&alice(), [long.as_str(), "Кавычки \" и \\ 👨‍👩‍👧‍👦 \u{2028}", "goes", "stays"]).await.unwrap();
    memory.update(&alice(), raw[3].id, MemoryUpdate::new().text("Stays, \r\n changed").pinned(true)).await.unwrap();
    memory.delete(&alice(), raw[2].id).await.unwrap();
    memory.add_later(&alice(), [Message::user("I like tea.")]).await.unwrap();
    memory.add_raw(&Scope::user("bob"), ["Keeps bees"]).await.unwrap();
    let conversations = talks.unwrap();
    let said: Vec<Message> = (0..1_100).map(|number| Message::user(format!("line {number}"))).collect();
    conversations.append(&session, &said).await.unwrap();
    conversations.replace_summary(&session, 0, &RunningSummary::new("Spoke of lines", 70, worlds::t0())).await.unwrap();
    conversations.drop_before(&session, 50).await.unwrap();
    conversations.append(&alice(), &[Message::user("hello"), Message::assistant("hi")]).await.unwrap();
    memory
}

async fn exported(memory: &MemoryEngine, scope: &Scope) -> Vec<String> {
    let mut export = memory.export(scope);
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        assert!(!line.contains('\n'), "a line is a line");
        lines.push(line);
    }
    assert_eq!(export.next_line().await.unwrap(), None);
    lines
}

async fn imported(memory: &MemoryEngine, scope: &Scope, lines: &[String]) -> ingrain::Result<TransferReport> {
    let mut import = memory.import(scope);
    for line in lines {
        import.line(line).await?;
    }
    import.finish().await
}

/// The lines, without the time of the export, in an order of their own.
fn content(lines: &[String]) -> Vec<Value> {
    let mut values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    values[0].as_object_mut().unwrap().remove("exported_at");
    values.sort_by_key(Value::to_string);
    values
}

async fn everything_comes_back<A: VectorStore, B: VectorStore>(from: A, to: B) {
    let memory = filled(from).await;
    let lines = exported(&memory, &alice()).await;
    let copy = engine(to, 32).await;
    let report = imported(&copy, &alice(), &lines).await.unwrap();
    assert_eq!((report.removed, report.queued_adds, report.messages, report.skipped), (1, 1, 1_052, 0));
    assert!(report.memories >= 6 && report.entities >= 4 && report.relations >= 3, "{report:?}");
    assert_eq!(content(&exported(&copy, &alice()).await), content(&lines));
    // It is found as before, by the texts of facts as well, and strangers' memories did not come along.
    for query in ["Where does she live?", "sister", "Кавычки"] {
        let found = async |memory: &MemoryEngine| memory.search(&alice(), query).await.unwrap()[0].memory.clone();
        assert_eq!(found(&copy).await, found(&memory).await, "{query}");
    }
    assert_eq!(copy.list(&Scope::user("bob"), ListRequest::new()).await.unwrap().total, 0);
    // Once more, it changes nothing.
    let again = imported(&copy, &alice(), &lines).await.unwrap();
    let skipped = report.memories + report.removed + report.entities + report.relations + report.queued_adds;
    assert!(again.skipped >= skipped, "{again:?}");
    assert_eq!((again.memories, again.removed, again.events), (0, 0, 0));
    assert_eq!((again.entities, again.relations, again.messages, again.queued_adds), (0, 0, 0, 0));
    assert_eq!(content(&exported(&copy, &alice()).await), content(&lines));
    // All of it comes back after it was erased.
    copy.purge(&alice(), Purge::everything()).await.unwrap();
    assert_eq!(exported(&copy, &alice()).await.len(), 2, "nothing but a first and a last line");
    imported(&copy, &alice(), &lines).await.unwrap();
    assert_eq!(content(&exported(&copy, &alice()).await), content(&lines));
    // The copy goes on where the first had stopped.
    copy.add(&alice(), [Message::user("I moved to Faro.")]).await.unwrap();
    let now = copy.search(&alice(), "Where does she live?").await.unwrap();
    assert!(now.iter().any(|hit| hit.memory.text.contains("Faro")));
    assert!(!now.iter().any(|hit| hit.memory.text == "Lives in Porto"), "it was superseded");
}

#[tokio::test]
async fn everything_comes_back_in_memory() {
    everything_comes_back(InMemoryStore::new(), InMemoryStore::new()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn everything_comes_back_from_sqlite_and_into_it() {
    use ingrain::SqliteStore;
    let sqlite = async || SqliteStore::open_in_memory().await.unwrap();
    everything_comes_back(sqlite().await, InMemoryStore::new()).await;
    everything_comes_back(InMemoryStore::new(), sqlite().await).await;
    everything_comes_back(sqlite().await, sqlite().await).await;
}

#[tokio::test]
async fn an_import_that_was_broken_off_is_begun_again() {
    let lines = exported(&filled(InMemoryStore::new()).await, &alice()).await;
    for came in 0..lines.len() {
        let copy = engine(InMemoryStore::new(), 32).await;
        let error = imported(&copy, &alice(), &lines[..came]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "it is told that the end is missing");
        imported(&copy, &alice(), &lines).await.unwrap();
        assert_eq!(content(&exported(&copy, &alice()).await), content(&lines), "after {came} lines");
    }
    // A line in the middle may be missing, too.
    let mut gap = lines.clone();
    gap.remove(3);
    let copy = engine(InMemoryStore::new(), 32).await;
    assert!(imported(&copy, &alice(), &gap).await.unwrap_err().to_string().contains("missing"));
}

#[tokio::test]
async fn an_outage_loses_no_line() {
    let source = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let memory = filled(Arc::clone(&source)).await;
    let lines = exported(&memory, &alice()).await;
    for broken in 0.. {
        let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
        let copy = engine(Arc::clone(&store), 32).await;
        // The export stumbles once as well, and goes on.
        source.fail_call_after(broken);
        let mut export = memory.export(&alice());
        let mut import = copy.import(&alice());
        store.fail_call_after(broken);
        let mut failures = 0;
        loop {
            match export.next_line().await {
                Ok(Some(line)) => {
                    if let Err(error) = import.line(&line).await {
                        assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
                        failures += 1;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
                    failures += 1;
                }
            }
        }
        if let Err(error) = import.finish().await {
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
            failures += 1;
            // What was taken and not written comes again.
            imported(&copy, &alice(), &lines).await.unwrap();
        }
        store.start();
        source.start();
        assert_eq!(content(&exported(&copy, &alice()).await), content(&lines), "after {broken} calls");
        if failures == 0 {
            break;
        }
    }
}

#[tokio::test]
async fn a_clash_is_settled_as_asked() {
    let memory = filled(InMemoryStore::new()).await;
    let lines = exported(&memory, &alice()).await;
    let stays =
        memory.list(&alice(), ListRequest::new().filter(Filter::eq("pinned", true))).await.unwrap().items.remove(0);
    let changed = memory.update(&alice(), stays.id, MemoryUpdate::new().text("Changed since")).await.unwrap();

    let report = imported(&memory, &alice(), &lines).await.unwrap();
    assert_eq!(report.memories, 0);
    assert_eq!(memory.get(&alice(), stays.id).await.unwrap(), changed);

    let mut import = memory.import(&alice()).on_clash(OnClash::Fail);
    let mut result = Ok(());
    for line in &lines {
        result = result.and(import.line(line).await);
    }
    assert_eq!(result.and(import.finish().await.map(drop)).unwrap_err().kind(), ErrorKind::Conflict);

    let mut import = memory.import(&alice()).on_clash(OnClash::Replace);
    for line in &lines {
        import.line(line).await.unwrap();
    }
    import.finish().await.unwrap();
    let back = memory.get(&alice(), stays.id).await.unwrap();
    assert_eq!(back.text, stays.text);
    assert!(back.revision > changed.revision, "whoever read the other must not write over it");
    assert!(
        memory
            .history(&alice(), stays.id)
            .await
            .unwrap()
            .iter()
            .all(|event| event.new_text.as_deref() != Some("Changed since"))
    );
    assert!(
        memory.search(&alice(), "Changed since").await.unwrap().iter().all(|hit| hit.memory.text != "Changed since")
    );

    // What was removed since comes back, and its history tells of both.
    memory.delete(&alice(), stays.id).await.unwrap();
    imported(&memory, &alice(), &lines).await.unwrap();
    let told = memory.history(&alice(), stays.id).await.unwrap();
    assert_eq!(told.last().unwrap().stamp.reason.as_deref(), Some("imported"));
    memory.purge(&alice(), Purge::memories([stays.id])).await.unwrap();
    imported(&memory, &alice(), &lines).await.unwrap();
    assert_eq!(memory.history(&alice(), stays.id).await.unwrap().len(), 2, "as it was exported");
}

#[tokio::test]
async fn what_is_no_export_is_refused_by_line() {
    let lines = exported(&filled(InMemoryStore::new()).await, &alice()).await;
    let memory = engine(InMemoryStore::new(), 32).await;
    let refused = async |scope: Scope, lines: &[String]| {
        let error = imported(&memory, &scope, lines).await.unwrap_err();
        for scope in [alice(), Scope::user("bob")] {
            assert_eq!(memory.list(&scope, ListRequest::new()).await.unwrap().total, 0, "{error}");
        }
        (error.kind(), error.to_string())
    };
    let with = |place: usize, line: &str| {
        let mut lines = lines[..4].to_vec();
        lines[place] = line.to_owned();
        lines
    };
    let (kind, text) = refused(
        alice(),
        &with(0, r#"{"type":"ingrain","version":99,"scope":{"user":"alice"},"exported_at":"2025-01-01T00:00:00Z"}"#),
    )
    .await;
    assert_eq!(kind, ErrorKind::StoreVersion);
    assert!(text.contains("99"), "{text}");
    for bad in ["", "{}", "null", "not JSON", r#"{"type":"memory"}"#, r#"{"type":"unheard_of"}"#, &"[".repeat(100_000)]
    {
        let (kind, text) = refused(alice(), &with(0, bad)).await;
        assert_eq!(kind, ErrorKind::InvalidArgument, "{text}");
        assert!(text.contains("line "), "{text}");
    }
    // Another's export is not taken in, nor one line of it.
    let (kind, _) = refused(Scope::user("bob"), &lines).await;
    assert_eq!(kind, ErrorKind::InvalidArgument);
    let twice = [&lines[..1], &lines[..]].concat();
    assert!(refused(alice(), &twice).await.1.contains("line 2"));
    let mut first: Value = serde_json::from_str(&lines[1]).unwrap();
    for (field, value) in [
        ("text", json!(" ")),
        ("importance", json!(7)),
        ("revision", json!(u64::MAX)),
        ("scope", json!({"user": "bob"})),
    ] {
        let before = std::mem::replace(&mut first["memory"][field], value);
        let (kind, text) = refused(alice(), &[lines[0].clone(), first.to_string()]).await;
        assert_eq!(kind, ErrorKind::InvalidArgument, "{text}");
        first["memory"][field] = before;
    }
    first["history"][0]["memory"] = json!("01890a5d-ac96-774b-bcce-b302099a8057");
    assert_eq!(refused(alice(), &[lines[0].clone(), first.to_string()]).await.0, ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn secrets_are_taken_out_of_what_is_imported() {
    #[derive(Debug)]
    struct NoKeys;
    impl ingrain::Redactor for NoKeys {
        fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
            text.replace("sk-secret", "[key]").into()
        }
    }
    let memory = engine(InMemoryStore::new(), 32).await;
    let note = memory.add_raw(&alice(), ["the key is sk-secret"]).await.unwrap().remove(0);
    memory.update(&alice(), note.id, MemoryUpdate::new().text("sk-secret it was")).await.unwrap();
    let lines = exported(&memory, &alice()).await;
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(32)).redactor(NoKeys);
    let copy = builder.build().await.unwrap();
    imported(&copy, &alice(), &lines).await.unwrap();
    let lines = exported(&copy, &alice()).await;
    assert!(lines.iter().all(|line| !line.contains("sk-secret")), "{lines:?}");
    assert_eq!(copy.get(&alice(), note.id).await.unwrap().text, "[key] it was");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is changed in an export: it is taken or refused, and nothing of another scope comes in.
    #[test]
    fn a_damaged_line_is_an_error_or_a_memory(cut in any::<prop::sample::Index>(), with in "\\PC{0,3}", row in 1..6_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lines = exported(&filled(InMemoryStore::new()).await, &alice()).await;
            let mut damaged = lines[row.min(lines.len() - 2)].clone();
            let mut at = cut.index(damaged.len());
            while !damaged.is_char_boundary(at) {
                at -= 1;
            }
            damaged.insert_str(at, &with);
            let copy = engine(InMemoryStore::new(), 32).await;
            let mut import = copy.import(&alice());
            import.line(&lines[0]).await.unwrap();
            let taken = import.line(&damaged).await;
            if let Err(error) = &taken {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            }
            let _ = import.finish().await;
            prop_assert!(copy.list(&Scope::user("bob"), ListRequest::new()).await.unwrap().total == 0);
            let there = copy.list(&alice(), ListRequest::new()).await.unwrap().total;
            prop_assert!(there <= 1);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn conversations_of_others_do_not_become_one() {
    let memory = filled(InMemoryStore::new()).await;
    memory.blocks(&alice()).set(ingrain::Block::new("notes", "")).await.unwrap();
    let lines = exported(&memory, &alice()).await;
    let store = InMemoryStore::new();
    let conversations = store.companions().conversations.unwrap();
    let session = alice().with_session("monday");
    // As many as the export's first part leads to.
    let own: Vec<Message> = (0..550).map(|number| Message::user(format!("own {number}"))).collect();
    conversations.append(&session, &own).await.unwrap();
    let copy = engine(store, 32).await;
    imported(&copy, &alice(), &lines).await.unwrap();
    let there = conversations.messages(&session, 0, 10_000).await.unwrap();
    assert_eq!(there.len(), 550);
    assert_eq!(copy.blocks(&alice()).list().await.unwrap().len(), 1, "an empty block is a block");
}

/// What the graph of a scope tells, ids aside: what is believed with how long and because of what, and what was.
async fn graph_of(memory: &MemoryEngine, scope: &Scope) -> (Vec<String>, Vec<String>) {
    let graph = memory.graph(scope).any_time();
    let view = graph.view().await.unwrap();
    let name = |id| &view.entities.iter().find(|entity| entity.id == id).unwrap().name;
    let mut relations: Vec<String> = Vec::new();
    for relation in &view.relations {
        let mut sources = relation.sources.clone();
        sources.sort();
        let ingrain::Relation { predicate, valid_at, invalid_at, scope, .. } = relation;
        let (from, to) = (name(relation.subject), name(relation.object));
        relations.push(format!("{from} {predicate} {to} {valid_at:?} {invalid_at:?} {scope:?} {sources:?}"));
    }
    relations.sort();
    let mut names: Vec<String> = Vec::new();
    for entity in &view.entities {
        let mut aliases = entity.aliases.clone();
        aliases.sort();
        names.push(format!("{} {aliases:?} {:?}", entity.name, entity.id));
    }
    names.sort();
    (names, relations)
}

/// The memories with their histories, what was removed, and conversations, without how often a turn was written.
async fn told_of(memory: &MemoryEngine, scope: &Scope) -> Vec<Value> {
    let mut lines = content(&exported(memory, scope).await);
    lines.retain(|line| !["ingrain", "entity", "relation", "end"].contains(&line["type"].as_str().unwrap()));
    for line in lines.iter_mut().filter(|line| line["type"] == "memory") {
        line["memory"].as_object_mut().unwrap().remove("revision");
        line["memory"].as_object_mut().unwrap().remove("updated_at");
    }
    lines
}

/// Scopes of every shape, of which some share users, agents and sessions.
fn every_scope() -> Vec<Scope> {
    let (cook, monday) = (|scope: Scope| scope.with_agent("cook"), |scope: Scope| scope.with_session("monday"));
    vec![
        alice(),
        monday(alice()),
        alice().with_session("tuesday"),
        cook(alice()),
        monday(cook(alice())),
        Scope::agent("cook"),
        monday(Scope::agent("cook")),
        Scope::session("monday"),
        Scope::user("bob"),
        monday(Scope::user("bob")),
    ]
}

/// The same told in several scopes, so that relations rest on memories of more than one.
async fn told_everywhere(memory: &MemoryEngine) {
    let knows = |who: &str| ExtractedRelation::new("user", "knows", who);
    for (number, scope) in every_scope().iter().enumerate() {
        let own = format!("Person{number}");
        let cid = NewMemory::new(format!("Knows Cid, note {number}")).relations([knows("Cid")]);
        let other = NewMemory::new(format!("Knows {own}"))
            .relations([knows(&own), ExtractedRelation::new("Cid", "met", own.as_str())]);
        let lives = ExtractedRelation::new("user", "lives_in", format!("City{number}").as_str()).single_valued();
        let moved = worlds::t0() + chrono::TimeDelta::days(number as i64);
        let home = NewMemory::new(format!("Lives in City{number}")).at(moved).relations([lives]);
        memory.add_raw(scope, [cid, other, home]).await.unwrap();
        // The wider scopes know it already, from the narrower ones.
        memory.add(scope, [Message::user("I work at Acme.")]).await.unwrap();
        let gone = memory.add_raw(scope, ["Goes"]).await.unwrap().remove(0);
        memory.delete(scope, gone.id).await.unwrap();
        memory.conversation(scope).unwrap().append([Message::user("Hello.")]).await.unwrap();
    }
}

async fn what_is_purged_comes_back<S: VectorStore>(store: impl AsyncFn() -> S) {
    for scope in every_scope() {
        let memory = engine(store().await, 64).await;
        told_everywhere(&memory).await;
        let lines = exported(&memory, &scope).await;
        let (mut before, mut others) = (Vec::new(), Vec::new());
        for reader in every_scope() {
            before.push((graph_of(&memory, &reader).await, told_of(&memory, &reader).await));
        }
        let gone = memory.purge(&scope, Purge::everything()).await.unwrap();
        assert!(gone.memories > 0 && gone.relations > 0 && gone.messages > 0, "{scope:?} {gone:?}");
        assert_eq!(memory.count(&scope, None).await.unwrap(), 0, "{scope:?}");
        imported(&memory, &scope, &lines).await.unwrap();
        for reader in every_scope() {
            others.push((graph_of(&memory, &reader).await, told_of(&memory, &reader).await));
        }
        for (reader, (before, after)) in every_scope().iter().zip(before.iter().zip(&others)) {
            assert_eq!(before.0, after.0, "the graph of {reader:?} after {scope:?} was purged and came back");
            assert_eq!(before.1, after.1, "what {reader:?} has after {scope:?} was purged and came back");
        }
        worlds::sound(&memory).await;
        // It is told by its own memories alone, and comes back once.
        let again = imported(&memory, &scope, &lines).await.unwrap();
        assert_eq!((again.memories, again.relations, again.entities), (0, 0, 0), "{scope:?}");
        let own: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids: Vec<&Value> =
            own.iter().filter(|line| line["type"] == "memory").map(|line| &line["memory"]["id"]).collect();
        let relations = own.iter().filter(|line| line["type"] == "relation").map(|line| &line["relation"]);
        for relation in relations {
            assert!(relation["sources"].as_array().unwrap().iter().all(|source| ids.contains(&source)), "{relation}");
        }
    }
}

#[tokio::test]
async fn what_is_purged_comes_back_in_every_scope_in_memory() {
    what_is_purged_comes_back(async || InMemoryStore::new()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_is_purged_comes_back_in_every_scope_in_sqlite() {
    what_is_purged_comes_back(async || ingrain::SqliteStore::open_in_memory().await.unwrap()).await;
}

#[tokio::test]
async fn a_wider_graph_is_told_only_of_what_comes_along() {
    let memory = engine(InMemoryStore::new(), 64).await;
    told_everywhere(&memory).await;
    let lines = exported(&memory, &alice()).await;
    let fresh = engine(InMemoryStore::new(), 64).await;
    // The relations of a session alone, without its memories, are nobody's.
    let session = alice().with_session("monday");
    let of_session = exported(&memory, &session).await;
    let without: Vec<String> = of_session.iter().filter(|line| !line.contains(r#""type":"memory""#)).cloned().collect();
    assert!(imported(&fresh, &session, &without).await.is_err(), "lines are missing");
    assert_eq!(fresh.graph(&alice()).counts().await.unwrap(), (0, 0));
    // Nor does the user's export get into a session of hers.
    assert_eq!(imported(&fresh, &session, &lines).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
    let error = imported(&fresh, &Scope::user("bob").with_session("monday"), &of_session).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(fresh.graph(&Scope::user("bob")).counts().await.unwrap(), (0, 0));
    imported(&fresh, &session, &of_session).await.unwrap();
    let (names, relations) = graph_of(&fresh, &alice()).await;
    assert_eq!((names.len(), relations.len()), (8, 8), "{names:?} {relations:?}");
}

#[tokio::test]
async fn what_a_store_refuses_is_told_by_its_lines() {
    let lines = exported(&filled(InMemoryStore::new()).await, &alice()).await;
    let memories = lines.iter().filter(|line| line.contains(r#""type":"memory""#)).count();
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let copy = engine(Arc::clone(&store), 32).await;
    let mut import = copy.import(&alice());
    for line in &lines {
        import.line(line).await.unwrap();
    }
    store.stop();
    let error = import.finish().await.unwrap_err();
    let told = error.to_string();
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
    assert!(told.contains("0 memories") && told.contains(&format!("lines 2 to {}", lines.len() - 1)), "{told}");
    assert!(std::error::Error::source(&error).is_some());
    // What was written before it failed is told.
    let mut failed = None;
    for calls in 0.. {
        let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
        let copy = engine(Arc::clone(&store), 32).await;
        let mut import = copy.import(&alice());
        for line in &lines {
            import.line(line).await.unwrap();
        }
        store.fail_call_after(calls);
        match import.finish().await {
            Ok(_) => break,
            Err(error) => failed = Some(error.to_string()),
        }
    }
    let last = failed.unwrap();
    assert!(last.contains(&format!("{memories} memories")), "{last}");
    // A clash is told by its own line.
    store.start();
    imported(&copy, &alice(), &lines).await.unwrap();
    let mut import = copy.import(&alice()).on_clash(OnClash::Fail);
    for line in &lines[..4] {
        import.line(line).await.unwrap();
    }
    let told = import.finish().await.unwrap_err().to_string();
    assert!(told.contains("the memory of line 2"), "{told}");
}
