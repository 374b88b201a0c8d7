//! Walking through everything that is known.

use std::{collections::BTreeSet, time::Duration};

use ingrain::{Cursor, ErrorKind, ListRequest, Memory, MemoryId, Page, Scope};

use crate::worlds::World;

#[tokio::test]
async fn a_walk_meets_everything_once_without_the_embedder() {
    for world in World::all().await {
        let pia = Scope::user("pia");
        let mut known = BTreeSet::new();
        for number in 0..23 {
            known.insert(world.add(&pia, &format!("Note {number}")).await.id);
            world.clock.advance(Duration::from_secs(1));
        }
        let page = async |after: Option<Cursor>| -> Page<Memory> {
            let request = ListRequest::new().limit(10);
            let request = after.map_or(request.clone(), |cursor| request.after(cursor));
            world.engine.list(&pia, request).await.unwrap()
        };
        world.embedder.fail_with(ErrorKind::ProviderUnreachable);
        let first = page(None).await;
        world.embedder.fail_with(None);
        world.add(&pia, "Note 23").await;
        world.embedder.fail_with(ErrorKind::ProviderUnreachable);
        let embedded = world.embedder.requests();
        let second = page(first.next.clone()).await;
        let third = page(second.next.clone()).await;
        assert_eq!((first.items.len(), second.items.len(), third.next), (10, 10, None), "{}", world.name);
        assert_eq!([first.total, second.total, third.total], [23, 24, 24]);
        let walked: Vec<MemoryId> =
            [first.items, second.items, third.items].concat().iter().map(|memory| memory.id).collect();
        assert_eq!(walked.iter().collect::<BTreeSet<_>>().len(), walked.len(), "none comes twice");
        assert!(known.iter().all(|id| walked.contains(id)));
        let everything = world.engine.list(&pia, ListRequest::new().limit(5_000)).await.unwrap();
        assert_eq!((everything.items.len(), everything.next), (24, None));
        assert_eq!(world.embedder.requests(), embedded, "no page needs a vector");
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_is_refused() {
    for world in World::all().await {
        let pia = Scope::user("pia");
        world.add(&pia, "Note").await;
        let bad = [
            ListRequest::new().limit(0),
            ListRequest::new().limit(usize::MAX),
            ListRequest::new().after(Cursor::from_text("page 2")),
            ListRequest::new().as_of(crate::worlds::t0()).include_invalid(),
        ];
        for request in bad {
            let error = world.engine.list(&pia, request.clone()).await.expect_err("no such page");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{request:?}");
        }
    }
}

#[tokio::test]
async fn the_newest_can_come_first() {
    for world in World::all().await {
        let pia = Scope::user("pia");
        world.engine.add_raw(&pia, ["one", "two", "three"]).await.unwrap();
        let page = world.engine.list(&pia, ListRequest::new().newest_first().limit(2)).await.unwrap();
        assert_eq!(crate::worlds::texts(&page.items), ["three", "two"], "{}", world.name);
        let rest = ListRequest::new().newest_first().after(page.next.unwrap());
        assert_eq!(crate::worlds::texts(&world.engine.list(&pia, rest).await.unwrap().items), ["one"]);
    }
}
