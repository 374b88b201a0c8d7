//! A summariser that fails, in every way there is, loses nothing.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ingrain::{
    ChatResponse, Clock, ConversationEvent, ConversationOptions, Error, ErrorKind, InMemoryStore, LlmFn, ManualClock,
    Redactor, Stage, Timestamp, VectorStore, testing::FaultyStore,
};

use super::{Blanks, Clerk, Place, ada, builder, complete, covering, exchange, out, sound};
use crate::worlds::t0;

fn options() -> ConversationOptions {
    ConversationOptions::new().max_tokens(300)
}

/// A clock that notes how long it was slept on.
#[derive(Debug, Clone)]
struct Noting(ManualClock, Arc<Mutex<Vec<Duration>>>);

#[ingrain::async_trait]
impl Clock for Noting {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    async fn sleep(&self, duration: Duration) {
        self.1.lock().unwrap().push(duration);
        self.0.sleep(duration).await;
    }
}

#[tokio::test]
async fn a_failure_is_told_and_tried_again_after_growing_waits() {
    for place in Place::all() {
        let clerk = Clerk::replying(|asked, call| match call {
            1..=3 => Err(out()),
            4 => Err(out().with_retry_after(Duration::from_secs(700))),
            5 => Ok("  \n".to_owned()),
            6 => panic!("the clerk fell off the chair"),
            _ => Ok(covering(asked)),
        });
        let (clock, events) = (Noting(ManualClock::at(t0()), Arc::default()), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&events);
        let engine = builder(place.open().await, options())
            .summarizer(clerk.clone())
            .clock(clock.clone())
            .on_conversation(move |scope, event| {
                assert_eq!(*scope, ada());
                seen.lock().unwrap().push(event.clone());
            })
            .build()
            .await
            .unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        assert!(chat.failure().is_none());
        for number in 0..10 {
            chat.append(exchange(number, 20)).await.unwrap();
        }
        clerk.has_begun(7).await;
        chat.settle().await.unwrap();
        assert!(chat.failure().is_none(), "it has worked since");
        sound(&chat.view().await.unwrap(), 300, 20);
        complete(&chat, 20).await;
        let waits: Vec<u64> = clock.1.lock().unwrap().iter().map(Duration::as_secs).collect();
        assert_eq!(waits, [2, 8, 32, 700, 512, 900]);
        let events = events.lock().unwrap();
        let failures: Vec<(ErrorKind, u32)> = events
            .iter()
            .filter_map(|event| match event {
                ConversationEvent::Failed(failure) => Some((failure.kind, failure.failures)),
                _ => None,
            })
            .collect();
        let out = ErrorKind::ProviderUnreachable;
        let unusable = (ErrorKind::UnusableModelOutput, 5);
        assert_eq!(failures, [(out, 1), (out, 2), (out, 3), (out, 4), unusable, (ErrorKind::Internal, 6)]);
        assert!(matches!(
            events.last(),
            Some(ConversationEvent::Summarized { covers_before: 10, messages: 10, fallback: false, .. })
        ));
    }
}

#[tokio::test]
async fn an_outage_without_an_end_is_seen_and_drops_nothing() {
    for place in Place::all() {
        let clerk = Clerk::replying(|_, _| Err(out()));
        let engine = place.engine(options().max_exchanges(4), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..30 {
            assert_eq!(chat.append(exchange(number, 20)).await.unwrap().dropped, 0);
            sound(&chat.view().await.unwrap(), 300, 2 * number + 2);
        }
        let error = chat.settle().await.unwrap_err();
        assert_eq!((error.kind(), error.stage()), (ErrorKind::ProviderUnreachable, Some(Stage::Summarize)));
        let failure = chat.failure().unwrap();
        assert!(failure.failures >= 3 && failure.message.contains("the clerk is out"), "{failure:?}");
        complete(&chat, 60).await;
    }
}

#[tokio::test]
async fn a_summary_that_is_too_long_is_cut_after_a_sentence() {
    for place in Place::all() {
        let sentence = "He walked on. ";
        let clerk = Clerk::replying(move |_, _| Ok(sentence.repeat(200)));
        let engine = place.engine(options().summary_words(20), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..10 {
            chat.append(exchange(number, 20)).await.unwrap();
            chat.settle().await.unwrap();
            assert!(chat.view().await.unwrap().size <= 300);
        }
        assert_eq!(chat.summary().await.unwrap().unwrap().text, sentence.repeat(6).trim());
        // One that was written with other limits is shown in part.
        drop((chat, engine));
        let engine = place.engine(options().summary_words(10), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        let view = chat.view().await.unwrap();
        assert!(view.messages[0].text.contains(&format!(": \"{}\"", sentence.repeat(3).trim())));
        assert_eq!(view.summary.unwrap().text, sentence.repeat(6).trim());
    }
}

/// A model that never gives anything of use does not keep a conversation from going on.
#[tokio::test]
async fn rules_stand_in_for_a_model_that_cannot() {
    for place in Place::all() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let llm = LlmFn::new("shy", |_| async { Ok(ChatResponse::text("I'd rather not.")) });
        let engine = builder(place.open().await, options())
            .llm(llm)
            .on_conversation(move |_, event| seen.lock().unwrap().push(event.clone()))
            .build()
            .await
            .unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..10 {
            chat.append(exchange(number, 20)).await.unwrap();
        }
        while chat.settle().await.is_err() {}
        let text = chat.summary().await.unwrap().unwrap().text;
        assert!(text.starts_with("User: m"), "{text}");
        let events = events.lock().unwrap();
        let failed = events.iter().filter(|event| matches!(event, ConversationEvent::Failed(_))).count();
        assert_eq!(failed, 3);
        assert!(matches!(events[3], ConversationEvent::Summarized { fallback: true, .. }), "{events:?}");
    }
}

#[tokio::test]
async fn wherever_the_store_fails_the_work_is_done_in_the_end() {
    let mut failures = 0;
    for calls in 0.. {
        let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
        let clerk = Clerk::new();
        let engine = builder(store.clone(), options()).summarizer(clerk.clone()).build().await.unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        chat.append((0..30).flat_map(|number| exchange(number, 20))).await.unwrap();
        store.fail_call_after(calls);
        chat.settle().await.unwrap();
        let untouched = store.is_failure_to_come();
        store.start();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 60);
        assert_eq!(view.left_out, 0);
        complete(&chat, 60).await;
        // Nothing was summarised in vain because of it.
        let covered = usize::try_from(view.summary.unwrap().covers_before).unwrap();
        assert_eq!(clerk.asked().iter().flat_map(|one| &one.messages).count(), covered, "after {calls} calls");
        if untouched {
            break;
        }
        failures += 1;
    }
    assert!(failures > 5, "{failures}");
    // A summary that was written, though the answer was lost, is not written again.
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    for calls in 0..20 {
        let clerk = Clerk::new();
        let engine = builder(store.clone(), options()).summarizer(clerk).build().await.unwrap();
        let chat = engine.conversation(&ingrain::Scope::user(format!("u{calls}"))).unwrap();
        chat.append((0..30).flat_map(|number| exchange(number, 20))).await.unwrap();
        store.lose_answer_after(calls);
        chat.settle().await.unwrap();
        store.start();
        sound(&chat.view().await.unwrap(), 300, 60);
    }
}

/// A clock on which nobody gets up by himself.
#[derive(Debug)]
struct Standing;

#[ingrain::async_trait]
impl Clock for Standing {
    fn now(&self) -> Timestamp {
        t0()
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

/// What was made before a failure is of use after it, but only for what it was made of: meanwhile more was said, and
/// another has summarised a part of it.
#[tokio::test]
async fn what_was_made_before_a_failure_is_told_once() {
    let mut kinds = [0; 2];
    for calls in 0..16 {
        for other in (0..1_100).step_by(100) {
            let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
            // Either the store fails, or the summariser does at the first segment.
            let clerk = Clerk::replying(move |asked, call| {
                let first = asked.messages.iter().any(|message| super::number(message) == 0);
                if calls == 15 && call == 1 && first { Err(out()) } else { Ok(covering(asked)) }
            });
            let engine =
                builder(store.clone(), options()).summarizer(clerk.clone()).clock(Standing).build().await.unwrap();
            let chat = engine.conversation(&ada()).unwrap();
            chat.append((0..15).flat_map(|number| exchange(number, 20))).await.unwrap();
            if calls < 15 {
                store.fail_call_after(calls);
            }
            for _ in 0..300 {
                tokio::task::yield_now().await;
            }
            store.start();
            kinds[usize::from(chat.failure().is_some())] += 1;
            chat.append((15..16 + other / 50).flat_map(|number| exchange(number, 20))).await.unwrap();
            if other > 300 {
                let second = ConversationOptions::new().max_tokens(other);
                let second = builder(store.clone(), second).summarizer(Clerk::new()).build().await.unwrap();
                second.conversation(&ada()).unwrap().settle().await.unwrap();
            }
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            sound(&view, 300, 32 + 2 * (other / 50));
            assert_eq!(view.left_out, 0);
        }
    }
    assert!(kinds[1] > 60, "it failed amid the work: {kinds:?}");
}

#[tokio::test]
async fn an_outage_of_the_store_is_an_error() {
    let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let engine = builder(store.clone(), options()).build().await.unwrap();
    let chat = engine.conversation(&ada()).unwrap();
    chat.append(["Hello."]).await.unwrap();
    chat.settle().await.unwrap();
    store.stop();
    for error in [
        chat.append(["Are you there?"]).await.map(drop),
        chat.view().await.map(drop),
        chat.messages(0, 1).await.map(drop),
        chat.exchanges().await.map(drop),
        chat.summary().await.map(drop),
        chat.erase().await.map(drop),
        chat.settle().await,
    ] {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(error.stage().is_some());
    }
    store.start();
    assert_eq!(chat.view().await.unwrap().shown, [0]);
    chat.settle().await.unwrap();
    let none: Arc<dyn VectorStore> = Arc::new(FaultyStore::new(InMemoryStore::new()).without_companions());
    let engine = builder(none, options()).build().await.unwrap();
    assert_eq!(engine.conversation(&ada()).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[derive(Debug)]
struct NoKeys;

impl Redactor for NoKeys {
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if text.contains("sk-1") { text.replace("sk-1", "[key]").into() } else { text.into() }
    }
}

#[tokio::test]
async fn secrets_are_neither_kept_nor_summarised() {
    for place in Place::all() {
        // One that makes a secret up.
        let clerk = Clerk::replying(|_, _| Ok("The key is sk-1.".to_owned()));
        let engine =
            builder(place.open().await, options()).summarizer(clerk.clone()).redactor(NoKeys).build().await.unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..10 {
            let [mut user, assistant] = exchange(number, 20);
            user.text.push_str(" sk-1");
            user.metadata.insert("key".to_owned(), "sk-1".into());
            let call = ingrain::ToolCall::new(format!("{number}"), "log_in", r#"{"key": "sk-1"}"#);
            let result = ingrain::Message::tool(format!("{number}"), format!("m{number} sk-1 works"));
            chat.append([user.from_speaker("sk-1"), assistant.with_tool_call(call), result]).await.unwrap();
        }
        chat.settle().await.unwrap();
        let shown =
            format!("{:?} {:?} {:?}", chat.view().await.unwrap(), chat.messages(0, 99).await.unwrap(), clerk.asked());
        assert!(!shown.contains("sk-1") && shown.contains("[key]"), "{shown}");
        assert_eq!(chat.summary().await.unwrap().unwrap().text, "The key is [key].");
    }
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let build = |options| {
        let store: Arc<dyn VectorStore> = Arc::new(InMemoryStore::new());
        builder(store, options).build()
    };
    let wrong = ConversationOptions::new().max_exchanges(0).segment(0).parallel(0).summary_words(0).max_tokens(10);
    let error: Error = build(wrong).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(error.to_string().matches(';').count(), 5, "{error}");
    assert_eq!(build(options().summary_words(200)).await.unwrap_err().kind(), ErrorKind::Configuration);
    assert!(build(options().max_words(300)).await.is_ok());
    assert_eq!(ingrain::TokenCounter::count(&Blanks, "a b"), 2);
}
