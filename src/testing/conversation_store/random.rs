use std::{collections::BTreeMap, sync::Arc};

use super::{all, covering};
use crate::{ConversationStore, ErrorKind, Message, Scope, StoredMessage};

/// A conversation so plain that it cannot be wrong: every message ever, and which are gone.
#[derive(Debug, Clone, Default)]
struct Plain {
    said: Vec<String>,
    gone: u64,
    covered: u64,
}

impl Plain {
    fn left(&self) -> Vec<StoredMessage> {
        let numbered = (0..).zip(&self.said).filter(|(number, _)| *number >= self.gone);
        numbered.map(|(number, text)| StoredMessage::new(number, Message::user(text))).collect()
    }

    fn drop_before(&mut self, before: u64) -> u64 {
        let there = self.left().len() as u64;
        self.gone = self.gone.max(before.min(self.said.len() as u64));
        there - self.left().len() as u64
    }

    fn replace(&mut self, expected: u64, covers: u64) -> Option<ErrorKind> {
        let end = self.said.len() as u64;
        if covers <= expected {
            Some(ErrorKind::InvalidArgument)
        } else if expected != self.covered {
            Some(ErrorKind::Conflict)
        } else if covers > end {
            Some(ErrorKind::InvalidArgument)
        } else if covers <= self.gone {
            Some(ErrorKind::Conflict)
        } else {
            self.covered = covers;
            None
        }
    }
}

/// Numbers that are always the same: a linear congruential generator, of which the upper bits are used.
///
/// # Source
/// Knuth, "The Art of Computer Programming", volume 2, the constants of MMIX.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Four hundred calls in no order, on conversations that cover each other, do what a plain model of the contract does.
pub async fn whatever_is_done_is_what_a_plain_model_does(store: Arc<dyn ConversationStore>) {
    let ann = Scope::user("ann");
    let names = [
        ann.clone(),
        ann.clone().with_session("monday"),
        ann.with_agent("cook"),
        Scope::user("bob").with_session("monday"),
        Scope::session("monday"),
    ];
    let mut model: BTreeMap<Scope, Plain> = names.iter().map(|name| (name.clone(), Plain::default())).collect();
    let mut numbers = Numbers(7);
    for step in 0..400 {
        let name = &names[usize::try_from(numbers.below(5)).expect("a small number")];
        let plain = model.get_mut(name).expect("one of the names");
        let near = plain.said.len() as u64 + 2;
        match numbers.below(16) {
            0..7 => {
                let texts: Vec<String> = (0..=numbers.below(3)).map(|part| format!("{step}: {part}")).collect();
                let messages: Vec<Message> = texts.iter().map(Message::user).collect();
                let first = store.append(name, &messages).await.expect("an append");
                assert_eq!(first, plain.said.len() as u64, "step {step}");
                plain.said.extend(texts);
            }
            7..12 => {
                let expected = if numbers.below(4) == 0 { numbers.below(near) } else { plain.covered };
                let covers = numbers.below(near);
                let result = store.replace_summary(name, expected, &covering(covers)).await;
                let kind = result.err().map(|error| error.kind());
                assert_eq!(kind, plain.replace(expected, covers), "step {step}: {covers} after {expected}");
            }
            12..15 => {
                let before = numbers.below(near);
                let gone = store.drop_before(name, before).await.expect("dropping");
                assert_eq!(gone, plain.drop_before(before), "step {step}: before {before}");
            }
            _ => {
                let mut gone = 0;
                for (_, covered) in model.iter_mut().filter(|(other, _)| name.covers(other)) {
                    gone += covered.drop_before(u64::MAX);
                    covered.covered = 0;
                }
                assert_eq!(store.erase(name).await.expect("erasing"), gone, "step {step}");
            }
        }
        for (name, plain) in &model {
            assert_eq!(all(&store, name).await, plain.left(), "step {step}: {name:?}");
            let summary = store.summary(name).await.expect("reading");
            assert_eq!(summary.map_or(0, |summary| summary.covers_before), plain.covered, "step {step}: {name:?}");
        }
    }
    assert!(model.values().all(|plain| plain.said.len() > 40), "every conversation came to something");
}
