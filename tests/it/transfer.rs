//! Export and import: what comes out goes in again, whatever happens on the way.

use std::sync::Arc;

use ingrain::{
    BackgroundOptions, ErrorKind, Filter, HashingEmbedder, InMemoryStore, ListRequest, MemoryEngine, MemoryUpdate,
    Message, OnClash, Purge, RunningSummary, Scope, TransferReport, VectorStore, testing::FaultyStore,
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
