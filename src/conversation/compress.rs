//! One step of shortening: plan → read → summarise → replace the running summary.
//!
//! # Extended, not rewritten
//!
//! A summary that covers everything before message *c* is only ever replaced by one that was made of its text and of the
//! messages from *c* on; what it covers is not read again. If several segments are due, all but the last are summarised
//! by themselves, at once. Their summaries are put behind the running one in order, and the whole is what the last segment
//! extends: one call for each segment, in the time of two.
//!
//! Nothing else holds the writers apart. Whoever replaces the summary names the one he read, so of two who summarise
//! the same segment one gets a conflict, throws his text away and looks again.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

use tokio::task::JoinSet;

use super::{ConversationEvent, Talk, ledger::Ledger, plan};
use crate::{
    Error, ErrorKind, Message, Result, Role, RunningSummary, StoredMessage, SummarizeRequest, Summary, Usage,
    frame::own_words, traits::redact_text, types::truncate,
};

/// After so many failures that will not pass by themselves a segment is left to the stand-in.
const HOPELESS: u32 = 3;
/// The summary of messages in which nothing was said, where there is none to extend.
const NOTHING: &str = "Nothing was said yet.";

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There may be more to do.
    Worked,
    /// Nothing is due.
    Settled,
}

/// What was done of a step that failed midway: numbers are for good, so it is as good the next time.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Summaries of segments by themselves.
    summaries: BTreeMap<(u64, u64), Summary>,
    /// The summary of all up to a message, made from one that covers all before another: by these two numbers.
    whole: Option<((u64, u64), Summary)>,
    /// How often a segment has failed for reasons that do not pass.
    hopeless: BTreeMap<(u64, u64), u32>,
}

/// Messages to summarise.
#[derive(Debug)]
struct Segment {
    numbers: (u64, u64),
    messages: Vec<Message>,
}

impl Segment {
    /// Whether anything is said in it.
    fn tells(&self) -> bool {
        let tells = |message: &Message| {
            message.role != Role::System && !(message.text.trim().is_empty() && message.tool_calls.is_empty())
        };
        self.messages.iter().any(tells)
    }
}

impl Talk {
    /// Summarises what is due next, and drops what may go.
    pub(super) async fn step(&self, progress: &mut Progress) -> Result<Step> {
        let (previous, segments) = {
            let mut ledger = self.ledger.lock().await;
            ledger.catch_up(&self.parts, &self.conversation).await?;
            let before = ledger.covered();
            self.drop_beyond(&mut ledger, before, true).await?;
            let size = self.parts.limits.of_summary(ledger.text());
            let due = plan::due(&ledger.uncovered(), size, &self.parts.options, &self.parts.limits);
            (ledger.summary.clone(), due)
        };
        let Some(end) = segments.last().map(|last| last.end) else { return Ok(Step::Settled) };
        let Some(segments) = self.read(segments).await? else {
            // Dropped or erased since it was looked at.
            *self.ledger.lock().await = Ledger::default();
            return Ok(Step::Worked);
        };
        let covered = previous.as_ref().map_or(0, |summary| summary.covers_before);
        let Made { text, model_calls, usage, fallback } = self.extended(previous.as_ref(), segments, progress).await?;
        let summary = RunningSummary::new(text, end, truncate(self.parts.clock.now()));
        match self.parts.store.replace_summary(&self.conversation, covered, &summary).await {
            Ok(()) => self.tell(&ConversationEvent::Summarized {
                covers_before: end,
                messages: end.saturating_sub(covered),
                model_calls,
                usage,
                fallback,
            }),
            // Another was faster, or it was erased: look again.
            Err(error) if error.kind() == ErrorKind::Conflict => *self.ledger.lock().await = Ledger::default(),
            // What was made is kept for the next try.
            Err(error) => return Err(error),
        }
        *progress = Progress::default();
        Ok(Step::Worked)
    }

    /// Drops exchanges beyond the limit, but none from the message `before` on.
    pub(super) async fn drop_beyond(&self, ledger: &mut Ledger, before: u64, covered: bool) -> Result<u64> {
        let Some(before) = plan::droppable(&ledger.turns(), &self.parts.limits, before) else { return Ok(0) };
        let messages = self.parts.store.drop_before(&self.conversation, before).await?;
        ledger.forget_before(before);
        if messages > 0 {
            self.tell(&ConversationEvent::Dropped { messages, covered });
        }
        Ok(messages)
    }

    /// The messages of the segments; `None` if some are gone.
    async fn read(&self, segments: Vec<Range<u64>>) -> Result<Option<Vec<Segment>>> {
        let mut read = Vec::with_capacity(segments.len());
        for Range { start, end } in segments {
            let count = usize::try_from(end - start).unwrap_or(usize::MAX);
            let stored = self.parts.store.messages(&self.conversation, start, count).await?;
            if !stored.iter().map(|stored| stored.sequence).eq(start..end) {
                return Ok(None);
            }
            let messages = stored.into_iter().map(|StoredMessage { mut message, .. }| {
                // What was recalled into the prompt was not said here.
                if let Cow::Owned(own) = own_words(&message.text) {
                    message.text = own;
                }
                message
            });
            read.push(Segment { numbers: (start, end), messages: messages.collect() });
        }
        Ok(Some(read))
    }

    /// The running summary, extended by the segments.
    async fn extended(
        &self,
        previous: Option<&RunningSummary>,
        mut segments: Vec<Segment>,
        progress: &mut Progress,
    ) -> Result<Made> {
        let Some(last) = segments.pop() else { return Err(Error::new(ErrorKind::Internal, "no segment is due")) };
        let wanted = segments.iter().filter(|segment| segment.tells());
        let wanted = wanted.filter(|segment| !progress.summaries.contains_key(&segment.numbers));
        let jobs = wanted.map(|segment| Job { segment, previous: None }).collect();
        let (done, failure) = self.ask(jobs, progress).await;
        progress.summaries.extend(done);
        failure.map_or(Ok(()), Err)?;
        let mut made =
            Made { text: previous.map(|summary| summary.text.clone()).unwrap_or_default(), ..Made::default() };
        for part in segments.iter().filter_map(|segment| progress.summaries.get(&segment.numbers)) {
            made.add(part);
            made.text.push_str(if made.text.is_empty() { "" } else { "\n" });
            made.text.push_str(&part.text);
        }
        if last.tells() {
            let reach = (previous.map_or(0, |summary| summary.covers_before), last.numbers.1);
            if progress.whole.as_ref().is_none_or(|(made, _)| *made != reach) {
                let previous = Some(made.text.clone()).filter(|text| !text.trim().is_empty());
                let (done, failure) = self.ask(vec![Job { segment: &last, previous }], progress).await;
                failure.map_or(Ok(()), Err)?;
                progress.whole = done.into_iter().next().map(|(_, whole)| (reach, whole));
            }
            if let Some((_, whole)) = &progress.whole {
                made.add(whole);
                made.text.clone_from(&whole.text);
            }
        } else if made.text.trim().is_empty() {
            NOTHING.clone_into(&mut made.text);
        }
        made.fallback =
            self.parts.fallback.is_some() && progress.hopeless.values().any(|failures| *failures >= HOPELESS);
        made.text = self.parts.limits.shortened(made.text.trim());
        if made.text.is_empty() { Err(unusable()) } else { Ok(made) }
    }

    /// Has summaries made, at once. Gives those that were made, and a failure if there was one.
    async fn ask(&self, jobs: Vec<Job<'_>>, progress: &mut Progress) -> (Vec<((u64, u64), Summary)>, Option<Error>) {
        // Tasks of their own: a panic of theirs ends nothing else. They end with this future.
        let mut tasks = JoinSet::new();
        let mut segments = HashMap::new();
        for Job { segment, previous } in jobs {
            let is_hopeless = progress.hopeless.get(&segment.numbers).is_some_and(|failures| *failures >= HOPELESS);
            let stand_in = self.parts.fallback.as_ref().filter(|_| is_hopeless);
            let Some(summarizer) = stand_in.or(self.parts.summarizer.as_ref()).map(Arc::clone) else { continue };
            let (max_words, language) = (self.parts.limits.summary_words, self.parts.options.language.clone());
            let messages = segment.messages.clone();
            let task = tasks.spawn(async move {
                let (previous, language) = (previous.as_deref(), language.as_deref());
                summarizer.summarize(&SummarizeRequest { previous, messages: &messages, max_words, language }).await
            });
            segments.insert(task.id(), segment.numbers);
        }
        let (mut done, mut failure) = (Vec::new(), None);
        while let Some(joined) = tasks.join_next_with_id().await {
            let (task, result) = match joined {
                Ok((task, result)) => (task, result),
                // Its own text may hold what was said.
                Err(panic) => (panic.id(), Err(Error::new(ErrorKind::Internal, "the summariser panicked"))),
            };
            let Some(numbers) = segments.get(&task) else { continue };
            match result {
                Ok(mut summary) if !summary.text.trim().is_empty() => {
                    if let Some(redactor) = self.parts.redactor.as_deref() {
                        // A model may give a secret that stood where nobody looked.
                        redact_text(redactor, &mut summary.text);
                    }
                    done.push((*numbers, summary));
                }
                Ok(_) => failure = Some(progress.failed(*numbers, unusable())),
                Err(error) => failure = Some(progress.failed(*numbers, error)),
            }
        }
        (done, failure)
    }
}

/// A segment to summarise, and what it extends.
struct Job<'s> {
    segment: &'s Segment,
    previous: Option<String>,
}

/// A summary and what it took.
#[derive(Debug, Default)]
struct Made {
    text: String,
    model_calls: u32,
    usage: Usage,
    fallback: bool,
}

impl Made {
    fn add(&mut self, part: &Summary) {
        self.model_calls += part.model_calls;
        self.usage += part.usage;
    }
}

impl Progress {
    fn failed(&mut self, numbers: (u64, u64), error: Error) -> Error {
        *self.hopeless.entry(numbers).or_default() += u32::from(!error.is_retryable());
        error
    }
}

fn unusable() -> Error {
    Error::new(ErrorKind::UnusableModelOutput, "the summary is empty")
}
