//! Many growing lists in one allocation.
//!
//! Of the terms of an index most are held by one text, a few by nearly all. A vector for each would cost an allocation
//! for each, and the allocator more than the lists themselves.

use super::postings::KeyNumber;

const NONE: u32 = u32::MAX;
/// Lengths of the first run of a list and of the longest, in postings.
const SHORTEST: u32 = 3;
const LONGEST: u32 = 1023;

/// That a key holds a term, so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) key: KeyNumber,
    pub(super) count: u32,
}

/// A list: the first posting beside its terms, since most have no other, the rest in runs.
#[derive(Debug)]
pub(super) struct List {
    first: Posting,
    /// Where its first and its last run begin.
    head: u32,
    tail: u32,
    /// How many postings the last run has, and for how many there is room.
    length: u32,
    room: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: Posting { key: NONE, count: 0 }, head: NONE, tail: NONE, length: 0, room: 0 }
    }
}

/// The runs of all lists. Before each run stands, in place of a posting, where the next one begins and how many postings
/// this one has.
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<Posting>);

impl Lists {
    pub(super) fn push(&mut self, list: &mut List, posting: Posting) {
        if list.first.count == 0 {
            list.first = posting;
            return;
        }
        if list.length == list.room && !self.grow(list) {
            return;
        }
        let end = list.tail as usize + 1 + list.length as usize;
        if let Some(free) = self.0.get_mut(end) {
            *free = posting;
            list.length += 1;
        }
        if let Some(header) = self.0.get_mut(list.tail as usize) {
            header.count = list.length;
        }
    }

    /// A new last run, longer than the one before it.
    fn grow(&mut self, list: &mut List) -> bool {
        let Some(start) = u32::try_from(self.0.len()).ok().filter(|start| *start < NONE - LONGEST - 1) else {
            return false;
        };
        let room = (2 * list.room + 1).clamp(SHORTEST, LONGEST);
        let free = Posting { key: NONE, count: 0 };
        self.0.resize(self.0.len() + 1 + room as usize, free);
        match self.0.get_mut(list.tail as usize) {
            Some(header) => header.key = start,
            None => list.head = start,
        }
        (list.tail, list.length, list.room) = (start, 0, room);
        true
    }

    /// The postings of a list, in order.
    pub(super) fn runs<'l>(&'l self, list: &'l List) -> impl Iterator<Item = &'l [Posting]> {
        let first = std::slice::from_ref(&list.first);
        let first = (list.first.count > 0).then_some(first);
        let mut at = list.head;
        let runs = std::iter::from_fn(move || {
            let header = self.0.get(at as usize)?;
            let start = at as usize + 1;
            at = header.key;
            self.0.get(start..start + header.count as usize)
        });
        first.into_iter().chain(runs)
    }

    /// Makes one run without room of those of each list: for lists that mostly will be read.
    pub(super) fn shrink<'l>(&mut self, lists: impl Iterator<Item = &'l mut List> + 'l) {
        let old = std::mem::take(&mut self.0);
        let old = Self(old);
        let mut kept = Vec::with_capacity(old.0.len());
        for list in lists.filter(|list| list.head != NONE) {
            let start = kept.len();
            kept.push(Posting { key: NONE, count: 0 });
            old.runs(list).skip(1).for_each(|run| kept.extend_from_slice(run));
            // What fitted before fits in fewer places.
            let (head, length) = (u32::try_from(start), u32::try_from(kept.len() - start - 1));
            let (head, length) = (head.unwrap_or(NONE), length.unwrap_or(0));
            if let Some(header) = kept.get_mut(start) {
                header.count = length;
            }
            (list.head, list.tail, list.length, list.room) = (head, head, length, length);
        }
        kept.shrink_to_fit();
        self.0 = kept;
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Posting>()
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn whole(lists: &Lists, list: &List) -> Vec<Posting> {
        lists.runs(list).flatten().copied().collect()
    }

    proptest! {
        #[test]
        fn lists_keep_apart_and_in_order(
            sizes in vec((0..6_usize, 1..700_usize), 0..40), shrinks in vec(any::<bool>(), 40)
        ) {
            let mut lists = Lists::default();
            let mut all: [List; 6] = Default::default();
            let mut plain: [Vec<Posting>; 6] = Default::default();
            let mut key = 0;
            for ((which, many), shrink) in sizes.into_iter().zip(shrinks) {
                for _ in 0..many {
                    key += 1;
                    let posting = Posting { key, count: 1 + key % 3 };
                    lists.push(&mut all[which], posting);
                    plain[which].push(posting);
                }
                if shrink {
                    lists.shrink(all.iter_mut());
                }
            }
            for (list, plain) in all.iter().zip(&plain) {
                assert_eq!(&whole(&lists, list), plain);
            }
        }
    }
}
