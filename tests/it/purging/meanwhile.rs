//! What is purged while maintenance has it summed up is not told for all that.

use std::sync::{Arc, OnceLock};

use ingrain::{
    HashingEmbedder, Maintenance, ManualClock, MemoryEngine, MemoryId, MemoryKind, MemoryUpdate, NewMemory, Purge,
    Result, Scope, SummarizeRequest, Summarizer, Summary, async_trait,
};

use crate::{
    maintain::{alice, day, days, run},
    worlds::t0,
};

/// Tells everything word for word, and has one memory purged by the time it is done.
#[derive(Debug, Default)]
struct Slow {
    purged: OnceLock<(MemoryEngine, MemoryId)>,
}

#[async_trait]
impl Summarizer for Slow {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        let told = request.previous.into_iter().chain(request.messages.iter().map(|message| message.text.as_str()));
        let text = told.collect::<Vec<_>>().join(" ");
        if let Some((memory, id)) = self.purged.get() {
            memory.purge(&alice(), Purge::memories([*id])).await?;
        }
        Ok(Summary::of(text))
    }
}

async fn engine() -> (MemoryEngine, Arc<Slow>, ManualClock) {
    let (slow, clock) = (Arc::new(Slow::default()), ManualClock::at(t0()));
    let builder = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).clock(clock.clone());
    (builder.summarizer(Arc::clone(&slow)).build().await.unwrap(), slow, clock)
}

async fn is_told_nowhere(memory: &MemoryEngine) {
    run(memory, Maintenance::new().summarize_sessions(day()).observe(2)).await;
    let mut export = memory.export(&alice());
    while let Some(line) = export.next_line().await.unwrap() {
        assert!(!line.contains("Zanzibarova"), "{line}");
    }
}

fn turn(text: &str) -> NewMemory {
    NewMemory::new(text).kind(MemoryKind::Episode)
}

#[tokio::test]
async fn a_summary_in_the_making_does_not_tell_it() {
    for first in [true, false] {
        let (memory, slow, clock) = engine().await;
        let monday: Scope = alice().with_session("monday");
        memory.add_raw(&monday, [turn("Lyon is cold.")]).await.unwrap();
        clock.advance(days(2));
        let request = Maintenance::new().summarize_sessions(day());
        if !first {
            assert_eq!(run(&memory, request.clone()).await.summarized.len(), 1);
        }
        let told = memory.add_raw(&monday, [turn("Met Zanzibarova.")]).await.unwrap().remove(0).id;
        clock.advance(days(2));
        slow.purged.set((memory.clone(), told)).unwrap();
        assert_eq!(run(&memory, request).await.busy.len(), 1);
        is_told_nowhere(&memory).await;
    }
}

#[tokio::test]
async fn an_observation_in_the_making_does_not_tell_it() {
    let (memory, slow, _) = engine().await;
    let facts = ["Likes hiking in the mountains", "Likes hiking in the Alps mountains"];
    memory.add_raw(&alice(), facts).await.unwrap();
    let told = memory.add_raw(&alice(), ["Likes hiking in the mountains at Zanzibarova"]).await.unwrap().remove(0).id;
    slow.purged.set((memory.clone(), told)).unwrap();
    assert_eq!(run(&memory, Maintenance::new().observe(2)).await.busy.len(), 1);
    is_told_nowhere(&memory).await;
}

#[tokio::test]
async fn an_observation_that_is_made_anew_does_not_tell_it() {
    let (memory, slow, _) = engine().await;
    let facts = ["Likes hiking in the mountains", "Likes hiking in the Alps mountains", "Goes hiking in the mountains"];
    let facts = memory.add_raw(&alice(), facts).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new().observe(3)).await.observed.len(), 1);
    let text = MemoryUpdate::new().text("Goes hiking in the mountains at Zanzibarova");
    memory.update(&alice(), facts[2].id, text).await.unwrap();
    slow.purged.set((memory.clone(), facts[2].id)).unwrap();
    run(&memory, Maintenance::new()).await;
    is_told_nowhere(&memory).await;
}
