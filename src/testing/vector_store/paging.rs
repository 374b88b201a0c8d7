use std::sync::Arc;

use super::subject::{Subject, X, alice, at, bob, now, refused, removal, texts};
use crate::{Cursor, ErrorKind, Filter, ListOrder, ListQuery, Memory, MemoryId, Page, VectorStore};

fn page_of(limit: usize, order: ListOrder, after: Option<Cursor>) -> ListQuery {
    ListQuery { order, after, limit, ..ListQuery::new(alice(), now()) }
}

async fn list(subject: &Subject, query: &ListQuery) -> Page<Memory> {
    subject.store.list(query).await.expect("listing")
}

/// The pages in either order hold every memory once, each page is full but the last, and all tell the total.
pub async fn pages_hold_every_memory_once(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut expected = subject.add_many(&alice(), "note", 23, X).await;
    subject.add_many(&bob(), "strange", 5, X).await;
    for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
        for limit in [1, 10, 22, 23, 24, 5_000] {
            let (mut walked, mut after) = (Vec::new(), None);
            loop {
                let page = list(&subject, &page_of(limit, order, after)).await;
                assert_eq!(page.total, 23);
                assert_eq!(page.items.len(), limit.min(23 - walked.len()));
                walked.extend(page.items);
                assert_eq!(page.next.is_none(), walked.len() == 23, "the last page has no next, the others do");
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert!(walked == expected, "{order:?}, {limit} to a page");
        }
        expected.reverse();
    }
}

/// A list goes by id, whatever the order of writing.
pub async fn a_list_goes_by_id(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let first = subject.memory(&alice(), "made first");
    let second = subject.memory(&alice(), "made second");
    subject.store_one(&second, X).await;
    subject.store_one(&first, X).await;
    assert_eq!(texts(&subject.all(&alice()).await), ["made first", "made second"]);
    let newest = list(&subject, &page_of(10, ListOrder::NewestFirst, None)).await;
    assert_eq!(texts(&newest.items), ["made second", "made first"]);
}

/// A walk meets what is there all the while exactly once, whatever is stored and removed meanwhile.
pub async fn a_walk_survives_writes(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
        let early = subject.memory(&alice(), "made early, stored late");
        let mut stayed = subject.add_many(&alice(), "note", 20, X).await;
        let mut walked: Vec<MemoryId> = Vec::new();
        let mut after = None;
        for step in 0.. {
            let page = list(&subject, &page_of(4, order, after)).await;
            walked.extend(page.items.iter().map(|memory| memory.id));
            match step {
                // Before, at and behind the place the walk stands at.
                0 => {
                    subject.store_one(&early, X).await;
                    subject.add(&alice(), "made late", X).await;
                }
                1 => {
                    let at_cursor = page.items.last().expect("a full page").id;
                    for id in [at_cursor, walked[0], stayed[10].id] {
                        let gone = stayed.iter().position(|memory| memory.id == id).map(|place| stayed.remove(place));
                        if let Some(gone) = gone {
                            subject.apply(removal(&gone)).await;
                        }
                    }
                }
                _ => {}
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut once = walked.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), walked.len(), "no memory comes twice, {order:?}");
        assert!(stayed.iter().all(|memory| walked.contains(&memory.id)), "none that stayed was missed, {order:?}");
        subject.store.delete_all(&alice(), &super::subject::stamp(at(1_000))).await.expect("deleting all");
    }
}

/// A cursor lives on as text, and points at a place, not at a memory.
pub async fn a_cursor_is_a_place(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let notes = subject.add_many(&alice(), "note", 6, X).await;
    let page = list(&subject, &page_of(3, ListOrder::OldestFirst, None)).await;
    let text = page.next.expect("a next page").as_str().to_owned();
    subject.apply(removal(&notes[2])).await;
    subject.apply(removal(&notes[3])).await;
    let rest = list(&subject, &page_of(3, ListOrder::OldestFirst, Some(Cursor::from_text(text)))).await;
    assert_eq!(texts(&rest.items), ["note 4", "note 5"]);
    assert_eq!((rest.total, rest.next), (4, None));
    let beyond = Cursor::after(notes[5].id);
    assert!(list(&subject, &page_of(3, ListOrder::OldestFirst, Some(beyond))).await.items.is_empty());
}

/// Pages of a filtered list hold what the filter admits, and their total is its count.
pub async fn a_filtered_list_has_pages_too(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for number in 0..30_u64 {
        let mut memory = subject.memory(&alice(), &format!("note {number}"));
        memory.ordinal = Some(number);
        memory.pinned = number % 3 == 0;
        subject.store_one(&memory, X).await;
    }
    let filter = Filter::eq("pinned", true);
    let count = subject.store.count(&alice(), Some(&filter), now()).await.expect("counting");
    let (mut walked, mut after) = (Vec::new(), None);
    loop {
        let query = ListQuery { filter: Some(filter.clone()), ..page_of(4, ListOrder::OldestFirst, after) };
        let page = list(&subject, &query).await;
        assert_eq!(page.total, count);
        walked.extend(page.items.into_iter().map(|memory| memory.ordinal.unwrap_or_default()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(walked, [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    assert_eq!(count, 10);
}

/// An empty list is one empty page.
pub async fn an_empty_list_is_one_page(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let page = list(&subject, &page_of(10, ListOrder::OldestFirst, None)).await;
    assert_eq!((page.items.len(), page.next, page.total), (0, None, 0));
}

/// A limit of 0 and a cursor that is none are refused.
pub async fn a_bad_page_is_refused(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "one", X).await;
    let kinds = [ErrorKind::InvalidArgument];
    refused(subject.store.list(&page_of(0, ListOrder::OldestFirst, None)).await, &kinds);
    for text in ["", "0", "not a cursor", "💥", "'; --"] {
        for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
            refused(subject.store.list(&page_of(1, order, Some(Cursor::from_text(text)))).await, &kinds);
        }
    }
}
