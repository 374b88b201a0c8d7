//! What an add owes whoever calls it, whatever the model says: looked at before and after each.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use ingrain::{
    AddReport, AddRequest, ChatRequest, ChatResponse, ErrorKind, EventKind, HistoryEvent, ListRequest, Llm,
    LlmCapabilities, Memory, MemoryEngine, MemoryId, MemoryKind, Message, Result, Role, Scope, Usage, async_trait,
};

/// A model whose answers are kept short, since a small machine writes few tokens a second, and remembered.
#[derive(Debug, Clone)]
pub struct Short<L> {
    llm: L,
    most: u32,
    capabilities: LlmCapabilities,
    replies: Arc<Mutex<Vec<Reply>>>,
}

#[derive(Debug, Clone)]
struct Reply {
    /// What the model was told to work on: the same when it is asked again.
    material: String,
    text: String,
}

impl<L: Llm> Short<L> {
    pub fn new(llm: L, most: u32) -> Self {
        let capabilities = llm.capabilities();
        Self { llm, most, capabilities, replies: Arc::default() }
    }

    /// As a model that can do no more than this.
    pub fn able(mut self, capabilities: LlmCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The replies since the last time.
    fn take(&self) -> Vec<Reply> {
        std::mem::take(&mut *self.replies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many of the replies since the last time were usable, and how many there were. One that was asked for again
    /// was not, nor was the last one if nothing came of it.
    pub fn tally(&self, came_of_it: bool) -> Tally {
        let replies = self.take();
        let again = replies.windows(2).filter(|pair| pair[0].material == pair[1].material).count();
        let lost = usize::from(!came_of_it && !replies.is_empty());
        for reply in &replies {
            // Where a fault turns up, this is what made it.
            eprintln!("  replied: {}", reply.text.replace('\n', " "));
        }
        Tally { usable: replies.len() - again - lost, asked: replies.len() }
    }
}

#[async_trait]
impl<L: Llm> Llm for Short<L> {
    fn name(&self) -> &str {
        self.llm.name()
    }

    fn capabilities(&self) -> LlmCapabilities {
        self.capabilities
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        let most = request.max_output_tokens.map_or(self.most, |most| most.min(self.most));
        let answer = self.llm.chat(&request.clone().with_max_output_tokens(most)).await?;
        assert!(answer.usage.output_tokens <= u64::from(most), "more than it was allowed: {:?}", answer.usage);
        let material = request.messages.last().map(|message| message.text.clone()).unwrap_or_default();
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).push(Reply { material, text: answer.text.clone() });
        Ok(answer)
    }
}

/// How often a model's replies were usable.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub usable: usize,
    pub asked: usize,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.usable += other.usable;
        self.asked += other.asked;
    }

    /// Past the test harness, which would keep it to itself.
    pub fn print(self, test: &str) {
        let _ = writeln!(std::io::stderr(), "{test}: usable={} of {}", self.usable, self.asked);
    }
}

/// All that is stored in a scope.
#[derive(Debug, PartialEq)]
pub struct Stored {
    /// Every memory, whether it holds or not.
    memories: HashMap<MemoryId, Memory>,
    histories: HashMap<MemoryId, Vec<HistoryEvent>>,
    current: u64,
}

impl Stored {
    pub async fn of(memory: &MemoryEngine, scope: &Scope) -> Self {
        let request = ListRequest::new().limit(1_000).include_invalid();
        let listed = memory.list(scope, request).await.unwrap().items;
        let mut histories = HashMap::new();
        for one in &listed {
            histories.insert(one.id, memory.history(scope, one.id).await.unwrap());
        }
        let holding = memory.list(scope, ListRequest::new().limit(1_000)).await.unwrap().items.len();
        let current = memory.count(scope, None).await.unwrap();
        assert_eq!(u64::try_from(holding).unwrap(), current);
        let count = listed.len();
        let memories: HashMap<MemoryId, Memory> = listed.into_iter().map(|one| (one.id, one)).collect();
        assert_eq!(memories.len(), count, "an id is there twice");
        let stored = Self { memories, histories, current };
        stored.hold();
        stored
    }

    /// What holds at any time.
    fn hold(&self) {
        for (id, memory) in &self.memories {
            assert!(!memory.text.trim().is_empty(), "{memory:?}");
            assert!((0.0..=1.0).contains(&memory.importance), "{memory:?}");
            assert!(memory.invalid_at.is_none_or(|end| end >= memory.valid_at), "validity is inverted: {memory:?}");
            assert!(memory.updated_at >= memory.created_at && memory.revision >= 1, "{memory:?}");
            if let Some(successor) = memory.superseded_by {
                assert!(successor != *id && memory.invalid_at.is_some(), "{memory:?}");
                assert!(self.memories.contains_key(&successor), "superseded by what is not there: {memory:?}");
            }
            let events = &self.histories[id];
            assert!(events.iter().all(|event| event.memory == *id));
            assert_eq!((events[0].kind, events[0].old_text.as_deref()), (EventKind::Add, None), "{events:?}");
            let told = events.iter().rev().find_map(|event| event.new_text.as_deref());
            assert_eq!(told, Some(memory.text.as_str()), "the history tells another text");
            let changes = events.iter().filter(|event| event.kind != EventKind::Add).count();
            assert!(memory.revision > u64::try_from(changes).unwrap(), "{memory:?} {events:?}");
        }
    }

    /// What was known is there still, and what changed has an event of this call that says so.
    fn grew_from(&self, before: &Self, report: &AddReport) {
        for (id, old) in &before.memories {
            let new = self.memories.get(id).unwrap_or_else(|| panic!("vanished: {old:?}"));
            let (then, now) = (&before.histories[id], &self.histories[id]);
            assert_eq!(now[..then.len()], then[..], "history was rewritten");
            let events = &now[then.len()..];
            assert!(events.iter().all(|event| event.stamp.call == report.call));
            assert_eq!(new == old, events.is_empty(), "changed without an event, or the reverse: {old:?} {new:?}");
            if new != old {
                assert!(new.revision > old.revision);
                assert_eq!((&new.kind, &new.scope, new.created_at), (&old.kind, &old.scope, old.created_at));
                let told = [&report.updated, &report.superseded, &report.deleted];
                assert!(told.iter().any(|told| told.contains(new)), "changed and not reported: {new:?}");
            }
        }
        let told: HashSet<MemoryId> =
            report.episodes.iter().copied().chain(report.added.iter().map(|one| one.id)).collect();
        let fresh: HashSet<MemoryId> =
            self.memories.keys().filter(|id| !before.memories.contains_key(id)).copied().collect();
        assert_eq!(fresh, told, "what is new is not what was reported");
        for id in &fresh {
            assert!(self.histories[id].iter().all(|event| event.stamp.call == report.call));
        }
        for one in report.added.iter().chain(&report.updated).chain(&report.superseded).chain(&report.deleted) {
            assert_eq!(self.memories.get(&one.id), Some(one), "not as it was reported");
        }
    }
}

/// Adds, and looks whether all that must hold does. `None` if the model's replies were of no use, and then nothing was
/// written.
pub async fn add(memory: &MemoryEngine, scope: &Scope, request: AddRequest) -> Option<AddReport> {
    let before = Stored::of(memory, scope).await;
    let outcome = memory.add(scope, request.clone()).await;
    let after = Stored::of(memory, scope).await;
    let report = match outcome {
        Ok(report) => report,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{error:?}");
            assert!(error.stage().is_some() && !error.is_retryable(), "{error:?}");
            assert_eq!(after, before, "something was written, and then the add failed");
            return None;
        }
    };
    after.grew_from(&before, &report);
    let kept = |message: &&Message| matches!(message.role, Role::User | Role::Assistant);
    let said: Vec<&Message> = request.messages.iter().filter(kept).collect();
    assert_eq!(report.episodes.len(), said.len());
    for (id, message) in report.episodes.iter().zip(said) {
        let turn = &after.memories[id];
        assert_eq!((&turn.text, &turn.speaker, &turn.kind), (&message.text, &message.speaker, &MemoryKind::Episode));
    }
    assert!(report.model_calls <= 4, "{report:?}");
    assert_eq!(report.usage == Usage::default(), report.model_calls == 0, "{:?}", report.usage);
    Some(report)
}
