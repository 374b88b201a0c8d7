//! Every call is told of when it has ended: to the meter, and without a word of what was said.

use std::sync::Arc;

use ingrain::{
    Block, ChatResponse, ErrorKind, HashingEmbedder, InMemoryStore, ListRequest, Maintenance, ManualClock,
    MemoryEngine, MemoryKind, MemoryUpdate, Message, Meter, NewMemory, Operation, Purge, Scope, TokenBudget, Totals,
    Usage,
    testing::{FaultyStore, ScriptedLlm},
};

fn alice() -> Scope {
    Scope::user("alice")
}

#[tokio::test]
async fn every_call_is_counted_for_its_user() {
    let totals = Arc::new(Totals::default());
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let builder = MemoryEngine::builder().store(Arc::clone(&store)).embedder(HashingEmbedder::new(64));
    let memory = builder.meter(Arc::clone(&totals)).build().await.unwrap();
    memory.add(&alice(), [Message::user("I live in Lisbon.")]).await.unwrap();
    memory.add_later(&alice(), [Message::user("I like tea.")]).await.unwrap();
    memory.flush().await.unwrap();
    let raw = memory.add_raw(&alice().with_session("s"), ["a", "b", "c"]).await.unwrap();
    memory.search(&alice(), "Lisbon").await.unwrap();
    memory.context(&alice(), "Lisbon", TokenBudget::new(100)).await.unwrap();
    memory.update(&alice(), raw[0].id, MemoryUpdate::new().pinned(true)).await.unwrap();
    memory.touch(&alice(), &[raw[0].id, raw[0].id]).await.unwrap();
    assert_eq!(memory.get(&alice(), raw[0].id).await.unwrap().access_count, 1, "one call, one access");
    memory.list(&alice(), ListRequest::new()).await.unwrap();
    memory.count(&alice(), None).await.unwrap();
    memory.history(&alice(), raw[1].id).await.unwrap();
    memory.undo_merge(&alice(), raw[1].id).await.unwrap_err();
    memory.blocks(&alice()).set(Block::new("persona", "Kind.")).await.unwrap();
    memory.delete(&alice(), raw[1].id).await.unwrap();
    memory.maintain(&alice(), &Maintenance::new()).await.unwrap();
    memory.purge(&alice(), Purge::memories([raw[2].id])).await.unwrap();
    memory.search(&Scope::user("bob"), "Lisbon").await.unwrap();
    store.stop();
    memory.search(&alice(), "Lisbon").await.unwrap_err();
    store.start();
    memory.delete_all(&alice()).await.unwrap();
    memory.update(&alice(), raw[0].id, MemoryUpdate::new()).await.unwrap_err();
    let told: Vec<_> =
        totals.all().iter().map(|(user, verb, total)| (user.clone(), *verb, total.calls, total.errors)).collect();
    let expected = [
        ("alice", "add", 1, 0),
        ("alice", "add_later", 1, 0),
        ("alice", "add_raw", 1, 0),
        ("alice", "context", 1, 0),
        ("alice", "count", 1, 0),
        ("alice", "delete", 1, 0),
        ("alice", "delete_all", 1, 0),
        ("alice", "edit_block", 1, 0),
        ("alice", "get", 1, 0),
        ("alice", "history", 1, 0),
        ("alice", "list", 1, 0),
        ("alice", "maintain", 1, 0),
        ("alice", "purge", 1, 0),
        ("alice", "queued_add", 1, 0),
        ("alice", "search", 2, 1),
        ("alice", "touch", 1, 0),
        ("alice", "undo_merge", 1, 1),
        ("alice", "update", 2, 1),
        ("bob", "search", 1, 0),
    ];
    assert_eq!(told, expected.map(|(user, verb, calls, errors)| (user.to_owned(), verb, calls, errors)));
    assert_eq!(totals.of("add", "alice").memories, 2, "the turn and the fact");
    assert_eq!(totals.of("add_raw", "alice").memories, 3);
}

#[tokio::test]
async fn what_a_model_cost_is_told() {
    let totals = Arc::new(Totals::default());
    let llm = ScriptedLlm::new().reply(r#"{"facts": [{"text": "Keeps bees", "message": 0}]}"#);
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).llm(llm);
    let memory = builder.meter(Arc::clone(&totals)).build().await.unwrap();
    let report = memory.add(&alice(), "My bees are fine, thanks!").await.unwrap();
    let total = totals.of("add", "alice");
    assert_eq!((total.model_calls, total.usage), (1, report.usage));
    assert_eq!(total.errors, 0);
}

/// Whatever call of the store fails, and whether the model answered or not: what was asked of it is paid for.
#[tokio::test]
async fn what_a_failed_call_cost_is_told() {
    let found = || {
        let reply = ChatResponse::text(r#"{"facts": [{"text": "Keeps bees", "message": 0}]}"#);
        reply.with_usage(Usage::new(100, 10))
    };
    let mut failed = 0;
    for broken in 0.. {
        let totals = Arc::new(Totals::default());
        let (store, llm) = (Arc::new(FaultyStore::new(InMemoryStore::new())), ScriptedLlm::new().respond(found()));
        let builder = MemoryEngine::builder().store(Arc::clone(&store)).embedder(HashingEmbedder::new(64));
        let memory = builder.llm(llm.clone()).meter(Arc::clone(&totals)).build().await.unwrap();
        store.fail_call_after(broken);
        let result = memory.add(&alice(), "My bees are fine, thanks!").await;
        let (total, asked) = (totals.of("add", "alice"), llm.requests().len() as u64);
        assert_eq!((total.model_calls, total.usage), (asked, Usage::new(100 * asked, 10 * asked)), "{result:?}");
        match result {
            Ok(_) => break,
            Err(error) => assert_eq!(u64::from(error.spent().0), asked),
        }
        failed += asked;
    }
    assert!(failed > 1, "some failed after the model had answered");

    let totals = Arc::new(Totals::default());
    let useless = || ChatResponse::text("I would rather not.").with_usage(Usage::new(50, 5));
    let llm = ScriptedLlm::new().respond(useless()).respond(useless());
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).llm(llm.clone());
    let memory = builder.meter(Arc::clone(&totals)).build().await.unwrap();
    let error = memory.add(&alice(), "My bees are fine, thanks!").await.unwrap_err();
    assert_eq!(error.backend(), Some("scripted"), "by the model's name, whatever its author forgot");
    let total = totals.of("add", "alice");
    assert_eq!((total.errors, total.model_calls, total.usage), (1, 2, Usage::new(100, 10)));
}

#[tokio::test]
async fn what_maintenance_cost_before_it_failed_is_told() {
    let totals = Arc::new(Totals::default());
    let told = ChatResponse::text(r#"{"summary": "Spoke of bees."}"#).with_usage(Usage::new(100, 10));
    let llm = ScriptedLlm::new().respond(told).fail(ErrorKind::ProviderUnreachable);
    let (clock, builder) = (ManualClock::at(crate::worlds::t0()), MemoryEngine::builder());
    let builder = builder.embedder(HashingEmbedder::new(64)).llm(llm.clone()).clock(clock.clone());
    let memory = builder.meter(Arc::clone(&totals)).build().await.unwrap();
    for session in ["a", "b"] {
        let turn = NewMemory::new("My bees are fine").kind(MemoryKind::Episode);
        memory.add_raw(&alice().with_session(session), [turn]).await.unwrap();
    }
    let hour = std::time::Duration::from_secs(3_600);
    clock.advance(2 * hour);
    let error = memory.maintain(&alice(), &Maintenance::new().summarize_sessions(hour)).await.unwrap_err();
    assert_eq!(error.backend(), Some("scripted"));
    let total = totals.of("maintain", "alice");
    assert_eq!((llm.requests().len(), total.model_calls, total.usage), (2, 2, Usage::new(100, 10)));
}

#[derive(Debug, Default)]
struct Kinds(std::sync::Mutex<Vec<Option<ErrorKind>>>);

impl Meter for Kinds {
    fn record(&self, operation: &Operation<'_>) {
        self.0.lock().unwrap().push(operation.error);
    }
}

#[tokio::test]
async fn an_error_is_told_by_its_kind() {
    let kinds = Arc::new(Kinds::default());
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).meter(Arc::clone(&kinds));
    let memory = builder.build().await.unwrap();
    memory.search(&alice(), " ").await.unwrap_err();
    memory.search(&alice(), "tea").await.unwrap();
    assert_eq!(*kinds.0.lock().unwrap(), [Some(ErrorKind::InvalidArgument), None]);
}

#[cfg(feature = "tracing")]
#[tokio::test]
async fn spans_and_events_hold_no_word_of_what_was_said() {
    let told = traced::Told::default();
    // For all threads: one for this thread alone is at times passed over, if another meets a place for the first time.
    tracing::subscriber::set_global_default(told.clone()).unwrap();
    let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await.unwrap();
    memory.add(&Scope::user("zanzibar"), [Message::user("I live in Timbuktu.")]).await.unwrap();
    memory.search(&Scope::user("zanzibar"), "Timbuktu").await.unwrap();
    memory.search(&Scope::user("zanzibar"), " ").await.unwrap_err();
    let lines = told.lines();
    for line in ["span ingrain verb=\"add\"", "span ingrain verb=\"search\"", "error=\"invalid-argument\""] {
        assert!(lines.iter().any(|told| told.contains(line)), "{line}: {lines:#?}");
    }
    let done = lines.iter().find(|line| line.contains("done") && line.contains("verb=\"search\"")).unwrap();
    for field in ["elapsed_us=", "memories=2", "model_calls=0", "input_tokens=0", "output_tokens=0"] {
        assert!(done.contains(field), "{field}: {done}");
    }
    assert!(!lines.iter().any(|line| line.contains("Timbuktu") || line.contains("zanzibar")), "{lines:#?}");
}

#[cfg(feature = "tracing")]
mod traced {
    use std::{
        fmt::{Debug, Write},
        sync::{Arc, Mutex},
        thread::ThreadId,
    };

    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span::{Attributes, Id, Record},
    };

    /// What a subscriber is told by this crate, a line each.
    #[derive(Clone)]
    pub struct Told(Arc<Mutex<Vec<String>>>, ThreadId);

    impl Default for Told {
        fn default() -> Self {
            Self(Arc::default(), std::thread::current().id())
        }
    }

    impl Told {
        /// What other tests do meanwhile is no matter of this one.
        fn take(&self, line: String) {
            if std::thread::current().id() == self.1 {
                self.0.lock().unwrap().push(line);
            }
        }

        pub fn lines(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }

    impl Subscriber for Told {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "ingrain"
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut line = Line(format!("span {}", span.metadata().name()));
            span.record(&mut line);
            self.take(line.0);
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut line = Line("event".to_owned());
            event.record(&mut line);
            self.take(line.0);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }
}

#[tokio::test]
async fn what_an_agent_and_its_conversations_cost_is_told() {
    let totals = Arc::new(Totals::default());
    let llm = ScriptedLlm::new();
    let llm = (0..40).fold(llm, |llm, number| llm.reply(format!(r#"{{"summary": "They spoke of {number} things."}}"#)));
    let memory = MemoryEngine::builder()
        .embedder(HashingEmbedder::new(64))
        .llm(llm.clone())
        .conversations(ingrain::ConversationOptions::new().max_words(100).keep_last(2))
        .meter(Arc::clone(&totals))
        .build()
        .await
        .unwrap();
    let agent = memory.agent(llm).saving(ingrain::Saving::Off).plain(true).build().unwrap();
    let session = alice().with_session("s");
    let mut calls = 0;
    for question in ["How are you today, my friend?", "And what do you think of the weather in Porto?"] {
        calls += u64::from(agent.respond(&session, question).await.unwrap().model_calls);
    }
    assert_eq!((totals.of("respond", "alice").calls, totals.of("respond", "alice").model_calls), (2, calls));
    let chat = memory.conversation(&session).unwrap();
    for _ in 0..12 {
        chat.append([Message::user("one two three four five six seven eight nine ten"), Message::assistant("yes")])
            .await
            .unwrap();
    }
    chat.settle().await.unwrap();
    let summed = totals.of("summarize", "alice");
    assert!(summed.calls > 0 && summed.model_calls >= summed.calls, "{summed:?}");
}
