//! What of a conversation goes into the next request.

use std::collections::HashSet;

use super::{
    Parts,
    measure::{Limits, framed},
    turns::{Turn, atoms, exchanges},
};
use crate::{Message, Result, Role, RunningSummary, Scope, StoredMessage, frame::CUT, text::cut};

/// How many messages are read at a time.
const PAGE: usize = 64;
/// How often it is read again because a summary came in between.
const ATTEMPTS: usize = 8;
/// More bytes than these to a token or word are not looked at when a text is cut.
const UNIT_BYTES: usize = 64;

/// A conversation as it goes into a request to a model: the running summary of its beginning, and its end word for word.
///
/// # What holds at any time
///
/// - It is never larger than the limits, also when a summary is overdue or the summariser is out.
/// - What follows the summary is a run of messages up to the last one, byte for byte, in their order. It begins with an
///   exchange. Only if not even the last exchange has room it begins within that, but not between a tool call and its
///   results; and only if not even the last message (with the results and calls it belongs to) has room, are texts in it
///   cut and end in `(cut)`.
/// - What is neither covered by the summary nor shown is the oldest of what is not covered, and
///   [`left_out`](Self::left_out) says how much that is. It stays in the store, and the summary covers it in time. The first
///   message tells the model that something is missing.
/// - A result whose call is covered or left out is left out, for servers refuse it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConversationView {
    /// The messages for a request. If there is a summary, the first is a system message that holds it as data, in the
    /// frame of a [`MemoryContext`](crate::MemoryContext).
    pub messages: Vec<Message>,
    /// The numbers of the messages that are shown, oldest first.
    pub shown: Vec<u64>,
    /// The summary, and what it covers. What is shown of it may be shorter, if it was written with other limits.
    pub summary: Option<RunningSummary>,
    /// How many messages are neither covered by the summary nor shown.
    pub left_out: u64,
    /// The numbers of the messages whose text was cut.
    pub cut: Vec<u64>,
    /// The size of all the messages together, in the unit of the limit.
    pub size: usize,
}

/// The end of a conversation, read back as far as it may be shown.
struct Tail {
    summary: Option<RunningSummary>,
    messages: Vec<StoredMessage>,
    /// How many that are not covered come before.
    before: u64,
}

/// # Errors
/// As the store.
pub(super) async fn view(parts: &Parts, conversation: &Scope, hint: u64) -> Result<(ConversationView, u64)> {
    let mut tail = read(parts, conversation, hint).await?;
    for _ in 1..ATTEMPTS {
        // A summary that came in between covers what was dropped then.
        if parts.store.summary(conversation).await? == tail.summary {
            break;
        }
        tail = read(parts, conversation, hint).await?;
    }
    let end = tail.messages.last().map_or(hint, |last| last.sequence + 1);
    Ok((chosen(&parts.limits, &tail), end))
}

async fn read(parts: &Parts, conversation: &Scope, hint: u64) -> Result<Tail> {
    let (store, limits) = (&parts.store, &parts.limits);
    let summary = store.summary(conversation).await?;
    let covered = summary.as_ref().map_or(0, |summary| summary.covers_before);
    let mut from = end(parts, conversation, hint.max(covered)).await?;
    let mut messages: Vec<StoredMessage> = Vec::new();
    let mut size = 0_usize;
    while from > covered {
        if size > limits.size || limits.exchanges < usize::MAX {
            let turns: Vec<Turn> = messages.iter().map(|stored| Turn::of(stored, limits)).collect();
            let turns: Vec<&Turn> = turns.iter().collect();
            let atoms = atoms(turns.iter().copied());
            // One more of each, since the first may have begun before what was read.
            if (size > limits.size && atoms.len() > 1) || exchanges(&turns, &atoms).len() > limits.exchanges {
                break;
            }
        }
        let start = from.saturating_sub(PAGE as u64).max(covered);
        let count = usize::try_from(from - start).unwrap_or(PAGE);
        let page = store.messages(conversation, start, count).await?;
        let mut page: Vec<StoredMessage> = page.into_iter().filter(|stored| stored.sequence < from).collect();
        let is_first = page.first().is_none_or(|first| first.sequence > start);
        size += page.iter().map(|stored| limits.of_message(&stored.message)).sum::<usize>();
        page.append(&mut messages);
        messages = page;
        from = start;
        if is_first {
            // What came before was dropped or erased.
            break;
        }
    }
    let before = match messages.first() {
        Some(first) if first.sequence > covered => {
            let kept = store.messages(conversation, covered, 1).await?;
            kept.first().map_or(0, |kept| first.sequence.saturating_sub(kept.sequence))
        }
        _ => 0,
    };
    Ok(Tail { summary, messages, before })
}

/// The number behind the last message, which is `from` or more. Numbers have no gaps, so that is found by halving.
async fn end(parts: &Parts, conversation: &Scope, from: u64) -> Result<u64> {
    let page = parts.store.messages(conversation, from, PAGE).await?;
    let Some(last) = page.last() else { return Ok(from) };
    let (mut there, mut step) = (last.sequence, PAGE as u64);
    if page.len() < PAGE {
        return Ok(there + 1);
    }
    // There is a message `there`, and none from `gone` on.
    let mut gone = loop {
        let beyond = there.saturating_add(step);
        match parts.store.messages(conversation, beyond, 1).await?.first() {
            Some(found) => there = found.sequence,
            None => break beyond,
        }
        step = step.saturating_mul(2);
    };
    while there + 1 < gone {
        let middle = there + (gone - there) / 2;
        match parts.store.messages(conversation, middle, 1).await?.first() {
            Some(found) => there = found.sequence,
            None => gone = middle,
        }
    }
    Ok(gone)
}

/// The best that fits.
fn chosen(limits: &Limits, tail: &Tail) -> ConversationView {
    // The note that something is missing takes room, so it is written only where something is.
    if tail.before == 0 {
        let view = chosen_behind(limits, tail, false);
        if view.left_out == 0 {
            return view;
        }
    }
    chosen_behind(limits, tail, true)
}

fn chosen_behind(limits: &Limits, tail: &Tail, gap: bool) -> ConversationView {
    let summary = tail.summary.as_ref().map(|summary| limits.shortened(&summary.text));
    let front = (summary.is_some() || gap).then(|| framed(summary.as_deref(), gap));
    let front_size = front.as_ref().map_or(0, |front| limits.of_text(front));
    let room = limits.size.saturating_sub(front_size);
    let start = fitting(limits, &tail.messages, room);
    let mut messages: Vec<StoredMessage> = tail.messages.get(start.place..).unwrap_or_default().to_vec();
    let mut cut = Vec::new();
    if start.cut {
        // Names and arguments of calls are not cut: then there is nothing to show.
        let fitting = cut_to(limits, &messages, room).unwrap_or_default();
        let changed = messages.iter().zip(&fitting).filter(|(old, new)| old.message.text != new.message.text);
        cut = changed.map(|(old, _)| old.sequence).collect();
        messages = fitting;
    }
    let mut calls: HashSet<String> = HashSet::new();
    messages.retain(|StoredMessage { message, .. }| {
        calls.extend(message.tool_calls.iter().map(|call| call.id.clone()));
        message.role != Role::Tool || message.tool_call_id.as_ref().is_some_and(|id| calls.contains(id))
    });
    let shown: Vec<u64> = messages.iter().map(|stored| stored.sequence).collect();
    let left_out = tail.before + (tail.messages.len() - shown.len()) as u64;
    let size = front_size + messages.iter().map(|stored| limits.of_message(&stored.message)).sum::<usize>();
    let said = messages.into_iter().map(|stored| stored.message);
    let messages = front.into_iter().map(Message::system).chain(said).collect();
    ConversationView { messages, shown, summary: tail.summary.clone(), left_out, cut, size }
}

/// Where the part that fits begins.
struct Start {
    place: usize,
    /// Whether even that is too large.
    cut: bool,
}

fn fitting(limits: &Limits, messages: &[StoredMessage], room: usize) -> Start {
    let turns: Vec<Turn> = messages.iter().map(|stored| Turn::of(stored, limits)).collect();
    let turns: Vec<&Turn> = turns.iter().collect();
    let atoms = atoms(turns.iter().copied());
    let exchanges = exchanges(&turns, &atoms);
    let longest = |ranges: &mut dyn Iterator<Item = &std::ops::Range<usize>>| {
        let mut taken = 0;
        let mut place = None;
        for range in ranges {
            taken += turns.get(range.clone()).unwrap_or_default().iter().map(|turn| turn.size).sum::<usize>();
            if taken > room {
                break;
            }
            place = Some(range.start);
        }
        place
    };
    if let Some(place) = longest(&mut exchanges.iter().rev().take(limits.exchanges)) {
        return Start { place, cut: false };
    }
    match (longest(&mut atoms.iter().rev()), atoms.last()) {
        (Some(place), _) => Start { place, cut: false },
        (None, Some(newest)) => Start { place: newest.start, cut: true },
        (None, None) => Start { place: 0, cut: false },
    }
}

/// The messages with their texts cut to one length, the greatest that has room.
fn cut_to(limits: &Limits, messages: &[StoredMessage], room: usize) -> Option<Vec<StoredMessage>> {
    let cut = |most: usize| -> Vec<StoredMessage> {
        let mut messages = messages.to_vec();
        messages.iter_mut().for_each(|stored| cut_text(&mut stored.message.text, most));
        messages
    };
    let size = |messages: &[StoredMessage]| messages.iter().map(|one| limits.of_message(&one.message)).sum::<usize>();
    let longest = messages.iter().map(|stored| stored.message.text.len()).max().unwrap_or(0);
    let (mut low, mut high) = (0, longest.min(room.saturating_mul(UNIT_BYTES)) + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if size(&cut(middle)) <= room { low = middle + 1 } else { high = middle }
    }
    low.checked_sub(1).map(cut)
}

/// Cuts a text to so many bytes, and marks that.
fn cut_text(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    // A little more than is kept, so that the cut is made where it hurts least and the rest is not looked at.
    let end = (most..=text.len()).find(|end| *end > most && text.is_char_boundary(*end)).unwrap_or(text.len());
    let begun = text.get(..end).unwrap_or_default();
    let piece = cut(begun, |piece| piece.len() <= most).unwrap_or_default();
    *text = if piece.is_empty() { CUT.to_owned() } else { format!("{piece} {CUT}") };
}
