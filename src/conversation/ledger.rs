//! What a worker knows of a conversation without asking the store again: sizes, and what belongs together.

use std::collections::VecDeque;

use super::{Parts, turns::Turn};
use crate::{Result, RunningSummary, Scope};

/// How many messages are read at a time.
const PAGE: usize = 500;

/// Sizes of the messages that are not covered; with a limit of exchanges, of all that are kept.
///
/// Others may append, summarise, drop and erase meanwhile. It follows what was appended and summarised; of what was dropped
/// or erased it may still tell, which is found out when that is to be read.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) summary: Option<RunningSummary>,
    turns: VecDeque<Turn>,
    /// The number behind the last message that was looked at.
    end: Option<u64>,
}

impl Ledger {
    /// The first message that the summary does not cover.
    pub(super) fn covered(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.covers_before)
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.summary.as_ref().map(|summary| summary.text.as_str())
    }

    pub(super) fn turns(&self) -> Vec<&Turn> {
        self.turns.iter().collect()
    }

    pub(super) fn uncovered(&self) -> Vec<&Turn> {
        let covered = self.covered();
        self.turns.iter().filter(|turn| turn.sequence >= covered).collect()
    }

    pub(super) fn forget_before(&mut self, before: u64) {
        while self.turns.front().is_some_and(|turn| turn.sequence < before) {
            self.turns.pop_front();
        }
    }

    /// Reads what is new.
    pub(super) async fn catch_up(&mut self, parts: &Parts, conversation: &Scope) -> Result<()> {
        let summary = parts.store.summary(conversation).await?;
        let covered = summary.as_ref().map_or(0, |summary| summary.covers_before);
        if covered < self.covered() {
            // It was erased.
            *self = Self::default();
        }
        self.summary = summary;
        let keeps_all = parts.options.max_exchanges.is_some();
        if !keeps_all {
            self.forget_before(covered);
        }
        let mut from = self.end.unwrap_or(0).max(if keeps_all { 0 } else { covered });
        loop {
            let page = parts.store.messages(conversation, from, PAGE).await?;
            self.turns.extend(page.iter().map(|stored| Turn::of(stored, &parts.limits)));
            if let Some(last) = page.last() {
                from = last.sequence + 1;
            }
            self.end = Some(from);
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }
}
