use std::sync::Arc;

use super::subject::{Subject, TOLERANCE, X, Y, alice, bob, cosine, declared, found, keyword, query};
use crate::{ErrorKind, Filter, IndexKey, MemoryId, MemoryKind, SearchQuery, Trust, VectorStore, cues::Cues};

/// A memory that one arm proposes carries the similarity in the other arm too.
pub async fn each_candidate_has_both_similarities(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "tea", [-0.6, 0.8, 0.0, 0.0]).await;
    subject.add_many(&alice(), "coffee", 5, Y).await;
    subject.add(&alice(), "cake", X).await;
    let both = subject.search(query(&alice()).near(X.to_vec()).words("tea").limit(1)).await;
    assert_eq!(found(&both), ["tea", "cake"]);
    assert!((cosine(&both[0]) + 0.6).abs() < TOLERANCE, "proposed by its words, and its cosine is told");
    assert_eq!(keyword(&both[1]), 0.0, "proposed by its vector, and has none of the words");
    subject.add(&alice(), "tea and cake and a walk", X).await;
    let both = subject.search(query(&alice()).near(X.to_vec()).words("tea").limit(1)).await;
    assert_eq!(found(&both), ["tea", "tea and cake and a walk"]);
    assert!(keyword(&both[1]) > 0.0, "proposed by its vector, and its words are told");
}

/// The limit is that of each arm, and each proposes its own best.
pub async fn the_limit_is_that_of_each_arm(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "tea", 10, Y).await;
    subject.add_many(&alice(), "cake", 10, X).await;
    for limit in [1, 3, 10] {
        let both = subject.search(query(&alice()).near(X.to_vec()).words("tea").limit(limit)).await;
        let with = |word: &str| both.iter().filter(|one| one.memory.text.starts_with(word)).count();
        assert_eq!((with("tea"), with("cake")), (limit, limit), "limit {limit}");
    }
    assert_eq!(subject.search(query(&alice()).near(X.to_vec()).words("tea").limit(1_000)).await.len(), 20);
}

/// What both arms propose comes once.
pub async fn what_both_arms_propose_comes_once(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "tea", 5, X).await;
    assert_eq!(subject.search(query(&alice()).near(X.to_vec()).words("tea").limit(5)).await.len(), 5);
}

/// Without an arm the newest are proposed, without similarities.
pub async fn without_an_arm_the_newest_are_proposed(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "note", 6, X).await;
    let newest = subject.search(query(&alice()).limit(3)).await;
    assert_eq!(found(&newest), ["note 3", "note 4", "note 5"]);
    assert!(newest.iter().all(|one| one.cosine.is_none() && one.keyword.is_none()));
}

/// What is given to be proposed is, once, with its similarities, if scope, filter and validity admit it.
pub async fn what_is_given_is_proposed_too(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "tea", 3, X).await;
    let far = subject.add(&alice(), "a walk", [0.0, -1.0, 0.0, 0.0]).await;
    let stranger = subject.add(&bob(), "a walk", X).await;
    let nowhere = MemoryId::from_bytes([7; 16]);
    let near = query(&alice()).near(X.to_vec()).words("tea").limit(1).also(vec![far.id, stranger.id, nowhere, far.id]);
    let both = subject.search(near.clone()).await;
    assert_eq!((both.len(), both.iter().filter(|one| one.memory.id == far.id).count()), (2, 1));
    let walk = both.iter().find(|one| one.memory.id == far.id).expect("proposed");
    assert!(cosine(walk).abs() < TOLERANCE && keyword(walk) == 0.0);
    assert_eq!(found(&subject.search(near.filter(Some(Filter::eq("kind", "preference")))).await), [] as [&str; 0]);
    let words = query(&alice()).words("tea").limit(1).also(vec![far.id]);
    assert_eq!(subject.search(words).await.len(), 2, "whatever the arm");
}

/// Without an arm a filter alone says what is proposed: how blocks, and turns by their places, are found.
pub async fn without_an_arm_turns_are_found_by_their_places(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let (monday, tuesday) = (alice().with_session("monday"), alice().with_session("tuesday"));
    for number in 0..6 {
        for scope in [&monday, &tuesday, &alice(), &bob().with_session("monday")] {
            let mut turn = subject.memory(scope, &format!("{} {number}", scope.session_id().unwrap_or("none")));
            turn.kind = MemoryKind::Episode;
            subject.store_one(&turn, X).await;
        }
        subject.add(&monday, "no turn", X).await;
    }
    let turns = |places: [u64; 3], session: Filter| {
        Filter::And(vec![
            Filter::eq("kind", MemoryKind::Episode),
            Filter::any_of("ordinal", places),
            Filter::eq("user", "alice"),
            session,
        ])
    };
    let filter = turns([1, 2, 9], Filter::eq("session", "monday")) | turns([0, 4, 5], !Filter::exists("session"));
    let mut all = subject.search(query(&alice()).filter(Some(filter.clone())).limit(20)).await;
    all.sort_by(|a, b| a.memory.text.cmp(&b.memory.text));
    assert_eq!(found(&all), ["monday 1", "monday 2", "none 0", "none 4", "none 5"]);
    let newest = subject.search(query(&alice()).filter(Some(filter)).limit(2)).await;
    assert_eq!(found(&newest), ["none 4", "none 5"]);
}

/// The same query gives the same candidates with the same similarities, every time.
pub async fn the_same_query_gives_the_same(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for number in 0..60 {
        let angle = f64::from(number) as f32;
        let text = format!("tea {} and cake {}", number % 7, number % 5);
        subject.add(&alice(), &text, [angle.sin(), angle.cos(), 0.3, 0.1]).await;
    }
    let ask = query(&alice()).near(vec![0.3, 0.4, 0.5, 0.6]).words("tea 3 cake 2").limit(17);
    let first = subject.search(ask.clone()).await;
    for _ in 0..5 {
        assert!(subject.search(ask.clone()).await == first);
    }
}

/// Nothing stored, nothing found: an empty result, not an error. A limit of 0 proposes nothing, or is refused.
pub async fn an_empty_scope_gives_an_empty_result(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let every = || -> [SearchQuery; 4] {
        let plain = query(&alice());
        [plain.clone(), plain.clone().near(X.to_vec()), plain.clone().words("tea"), plain.near(X.to_vec()).words("tea")]
    };
    for ask in every() {
        assert!(subject.search(ask).await.is_empty());
    }
    subject.add(&alice(), "tea", X).await;
    for ask in every() {
        match subject.store.search(&ask.limit(0)).await {
            Ok(candidates) => assert!(candidates.is_empty()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}"),
        }
    }
}

/// Turns tell how well their neighbours and their session fit, by the published formula; what is no turn does not, and
/// without both arms nobody does.
pub async fn turns_tell_their_surroundings(store: Arc<dyn VectorStore>) {
    if !declared(&store, "surroundings", "turns_tell_their_surroundings") {
        return;
    }
    let subject = Subject::bound(store).await;
    let (monday, friday) = (alice().with_session("monday"), alice().with_session("friday"));
    let mut told = Vec::new();
    for (scope, kind, text) in [
        (&monday, MemoryKind::Episode, "first"),
        (&monday, MemoryKind::Episode, "Where. Zebra?"),
        (&monday, MemoryKind::Fact, "third"),
        (&monday, MemoryKind::Episode, "fourth"),
        (&friday, MemoryKind::Episode, "fifth"),
    ] {
        let mut memory = subject.memory(scope, text);
        memory.kind = kind;
        // What the assistant says among it makes a session with the assistant.
        memory.trust = if text == "fifth" { Trust::Assistant } else { Trust::User };
        let vector = if text == "Where. Zebra?" { X } else { Y };
        subject.store_all(vec![(memory.clone(), vec![IndexKey::new(text, vector.to_vec())])]).await;
        told.push(memory.id);
    }
    let search = |query: SearchQuery| {
        let store = subject.store.clone();
        async move { store.search(&query).await.expect("searching") }
    };
    let both = search(query(&alice()).words("zebra").near(X.to_vec())).await;
    let around: Vec<_> =
        told.iter().map(|id| both.iter().find(|found| found.id == *id).unwrap().surroundings).collect();
    let zebra = both.iter().find(|found| found.id == told[1]).unwrap();
    let (keyword, cosine) = (zebra.keyword.unwrap(), zebra.cosine.unwrap());
    let near = |left: f32, right: f32| assert!((left - right).abs() < 1e-5, "{left} and {right}: {both:?}");
    for turn in [0, 3] {
        near(around[turn].unwrap().neighbours, 2.0 * keyword / 6.0);
        near(around[turn].unwrap().session, (0.65 * keyword + 0.35 * cosine) / 3.0);
    }
    near(around[1].unwrap().neighbours, 0.0);
    near(around[2].unwrap().neighbours, 0.0);
    near(around[2].unwrap().session, (0.65 * keyword + 0.35 * cosine) / 3.0);
    // Half of what came before the last turn of Monday asks.
    let replies = [0, 1, 2, 3, 4].map(|turn| around[turn].unwrap().replies);
    near(replies[3], keyword / 2.0);
    near(replies[0] + replies[1] + replies[2] + replies[4], 0.0);
    let among_people = [0, 1, 2, 3, 4].map(|turn| around[turn].unwrap().among_people);
    assert_eq!(among_people, [true, true, true, true, false]);
    assert_eq!(zebra.attributes.cues, Cues::of("Where. Zebra?"));
    near(around[4].unwrap().neighbours + around[4].unwrap().session, 0.0);
    for one_arm in [query(&alice()).words("zebra"), query(&alice()).near(X.to_vec())] {
        assert!(search(one_arm).await.iter().all(|found| found.surroundings.is_none()));
    }
}
