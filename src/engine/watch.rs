//! Tells of every call when it has ended: to the meter, and to `tracing`.

use std::time::{Duration, Instant};

use super::{Inner, MemoryEngine};
use crate::{AddReport, Error, ErrorKind, Operation, Result, Scope, Usage};

/// What a call came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    memories: u64,
    model_calls: u32,
    usage: Usage,
}

impl Outcome {
    pub(crate) fn of(memories: usize) -> Self {
        Self { memories: memories as u64, ..Self::default() }
    }

    pub(crate) fn costing(self, model_calls: u32, usage: Usage) -> Self {
        Self { model_calls, usage, ..self }
    }
}

impl From<&AddReport> for Outcome {
    fn from(report: &AddReport) -> Self {
        let AddReport { episodes, added, updated, superseded, deleted, model_calls, usage, .. } = report;
        let memories = episodes.len() + added.len() + updated.len() + superseded.len() + deleted.len();
        Self::of(memories).costing(*model_calls, *usage)
    }
}

impl From<&Error> for Outcome {
    fn from(error: &Error) -> Self {
        let (model_calls, usage) = error.spent();
        Self::default().costing(model_calls, usage)
    }
}

impl MemoryEngine {
    /// Does the work of a call, and tells of it.
    pub(crate) async fn watched<T>(
        &self,
        verb: &'static str,
        scope: &Scope,
        work: impl Future<Output = Result<T>>,
        outcome: impl FnOnce(&T) -> Outcome,
    ) -> Result<T> {
        let start = Instant::now();
        #[cfg(feature = "tracing")]
        let work = tracing::Instrument::instrument(work, tracing::info_span!(target: "ingrain", "ingrain", verb));
        let result = work.await;
        let (error, outcome) = match &result {
            Ok(value) => (None, outcome(value)),
            Err(error) => (Some(error.kind()), error.into()),
        };
        self.0.ended(verb, scope, start.elapsed(), error, outcome);
        result
    }
}

impl Inner {
    pub(super) fn ended(
        &self,
        verb: &'static str,
        scope: &Scope,
        elapsed: Duration,
        error: Option<ErrorKind>,
        outcome: Outcome,
    ) {
        let Outcome { memories, model_calls, usage } = outcome;
        if let Some(meter) = &self.meter {
            meter.record(&Operation { verb, scope, elapsed, error, memories, model_calls, usage });
        }
        #[cfg(feature = "tracing")]
        {
            let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
            let Usage { input_tokens, output_tokens } = usage;
            match error {
                None => {
                    tracing::debug!(target: "ingrain", verb, elapsed_us, memories, model_calls, input_tokens, output_tokens, "done");
                }
                Some(kind) => {
                    let error = kind.as_str();
                    tracing::warn!(target: "ingrain", verb, elapsed_us, error, model_calls, input_tokens, output_tokens, "failed");
                }
            }
        }
    }
}
