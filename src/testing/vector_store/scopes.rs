use std::sync::Arc;

use super::{
    atomic::bad_scopes,
    subject::{Found, Subject, X, alice, at, bob, cosine, found, keyword, now, query, refused, removal, stamp, texts},
};
use crate::{ErrorKind, ListQuery, Memory, MemoryId, Put, Scope, Validity, VectorStore, WriteBatch};

/// Every read of the scope sees exactly these memories.
async fn sees(subject: &Subject, scope: &Scope, expected: &[&Memory]) {
    let expected: Vec<Memory> = expected.iter().map(|memory| (*memory).clone()).collect();
    assert_eq!(subject.all(scope).await, expected, "list of {scope:?}");
    assert_eq!(subject.store.count(scope, None, now()).await.expect("counting"), expected.len() as u64, "{scope:?}");
    let shared = query(scope).limit(1_000);
    for query in [
        shared.clone(),
        shared.clone().near(X.to_vec()),
        shared.clone().words("tea"),
        shared.near(X.to_vec()).words("tea"),
    ] {
        let candidates = subject.search(query).await;
        assert_eq!(found(&candidates), texts(&expected), "search in {scope:?}");
    }
}

/// A reader sees what has all the parts it names, by every read, and the parts are not mixed up.
pub async fn a_reader_sees_its_own(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let plain = subject.add(&Scope::user("a"), "tea of the user", X).await;
    let session = subject.add(&Scope::user("a").with_session("a"), "tea of the session", X).await;
    let agent = subject.add(&Scope::agent("a"), "tea of the agent", X).await;
    let alone = subject.add(&Scope::session("a"), "tea of a session alone", X).await;
    let both = subject.add(&Scope::user("b").with_agent("a").with_session("a"), "tea of all three", X).await;
    sees(&subject, &Scope::user("a"), &[&plain, &session]).await;
    sees(&subject, &Scope::user("a").with_session("a"), &[&session]).await;
    sees(&subject, &Scope::agent("a"), &[&agent, &both]).await;
    sees(&subject, &Scope::session("a"), &[&session, &alone, &both]).await;
    sees(&subject, &Scope::user("b"), &[&both]).await;
    sees(&subject, &Scope::agent("a").with_session("a"), &[&both]).await;
    sees(&subject, &Scope::user("a").with_agent("a"), &[]).await;
    for other in ["c", "aa", "A"] {
        sees(&subject, &Scope::user(other), &[]).await;
    }
}

/// Names that a database might fold, trim, cut or read as a pattern stay apart.
pub async fn tricky_names_stay_apart(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let long = "x".repeat(1_023);
    let names = [
        "a",
        "A",
        "a ",
        " a",
        "a%",
        "a_",
        "%",
        "_",
        "ab",
        "é",
        "e\u{301}",
        "É",
        "а",
        "ß",
        "ss",
        "1",
        "1.0",
        "01",
        "null",
        "a\u{200b}",
        "a\n",
        "'; DROP TABLE memories;--",
        "\"a\"",
        "a/b",
        "a|b",
        "a,b",
        "a\u{1f}b",
        "[\"a\"]",
        "*",
        "a*",
    ];
    let longest = [format!("{long}y"), format!("{long}z")];
    let names: Vec<&str> = names.into_iter().chain(longest.iter().map(String::as_str)).collect();
    let mut memories = Vec::new();
    for name in &names {
        memories.push(subject.add(&Scope::user(*name), "tea", X).await);
    }
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    for (place, (name, memory)) in names.iter().zip(&memories).enumerate() {
        let scope = Scope::user(*name);
        sees(&subject, &scope, &[memory]).await;
        // Also by id, where no list of the scope is asked.
        let got = subject.store.get(&scope, &ids).await.expect("getting by id");
        assert_eq!(got, std::slice::from_ref(memory), "get in {scope:?}");
        for (other, id) in ids.iter().enumerate() {
            assert_eq!(subject.history(&scope, *id).await.len(), usize::from(other == place), "history in {scope:?}");
        }
    }
    let recalled = Scope::user(names[0]);
    subject.store.record_access(&recalled, &ids, at(5_000)).await.expect("recording accesses");
    assert_eq!(subject.store.delete_all(&recalled, &stamp(at(5_001))).await.expect("deleting all"), 1);
    for (name, memory) in names.iter().zip(&memories).skip(1) {
        assert_eq!(subject.all(&Scope::user(*name)).await, std::slice::from_ref(memory), "what {recalled:?} did");
    }
    // Parts that would run together if they were joined.
    let split = subject.add(&Scope::user("p").with_agent("q|r"), "tea", X).await;
    let joined = subject.add(&Scope::user("p|q").with_agent("r"), "tea", X).await;
    sees(&subject, &Scope::user("p").with_agent("q|r"), &[&split]).await;
    sees(&subject, &Scope::user("p|q").with_agent("r"), &[&joined]).await;
}

/// The scopes of everyone come as they were stored, each once, in order, in pages of any size, until they are purged.
pub async fn scopes_of_everyone_come_in_order(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let list = async |after: Option<&Scope>, limit: usize| {
        subject.store.scopes_of_everyone(after, limit).await.expect("scopes of everyone")
    };
    assert_eq!(list(None, 10).await, []);
    let names = [None, Some("a"), Some("A"), Some("ab"), Some("a "), Some("é"), Some("\u{10ffff}"), Some("%")];
    let names = names.map(|name| name.map(str::to_owned));
    let mut scopes = Vec::new();
    for user in &names {
        for agent in &names[..3] {
            scopes.extend(names[..4].iter().map(|name| Scope::from_parts(user.clone(), agent.clone(), name.clone())));
        }
    }
    scopes.retain(|scope| scope.validate().is_ok());
    // Stored in no order, some with several.
    for (number, scope) in scopes.iter().rev().enumerate() {
        subject.add_many(scope, "tea", 1 + number % 3, X).await;
    }
    scopes.sort();
    assert_eq!(list(None, 1_000).await, scopes);
    for limit in [1, 2, 7, scopes.len(), scopes.len() + 1] {
        let mut walked: Vec<Scope> = Vec::new();
        loop {
            let page = list(walked.last(), limit).await;
            assert!(page.len() == limit.min(scopes.len() - walked.len()), "pages are full: {limit}");
            if page.is_empty() {
                break;
            }
            walked.extend(page);
        }
        assert_eq!(walked, scopes, "in pages of {limit}");
    }
    assert_eq!(list(None, 0).await, []);
    // A place need not be a scope that is there.
    let between = Scope::user("a").with_agent("zzz");
    let rest: Vec<Scope> = scopes.iter().filter(|scope| **scope > between).cloned().collect();
    assert_eq!(list(Some(&between), 1_000).await, rest);
    assert_eq!(list(scopes.last(), 5).await, []);
    // What has ended counts, and what is removed while it has a history.
    let one = Scope::user("zoe").with_session("1");
    let (first, second) = (subject.add(&one, "one", X).await, subject.add(&one, "two", X).await);
    let mut ended = first.clone();
    ended.invalid_at = Some(ended.valid_at);
    ended.revision += 1;
    subject.apply(WriteBatch { puts: vec![Put::change(ended, None, first.revision)], ..WriteBatch::default() }).await;
    let before = Scope::user("zoe");
    for memory in [&second, &first] {
        assert_eq!(list(Some(&before), 1).await, std::slice::from_ref(&one));
        subject.apply(removal(memory)).await;
    }
    for memory in [&second, &first] {
        assert_eq!(list(Some(&before), 1).await, std::slice::from_ref(&one));
        subject.apply(WriteBatch { erase_history: vec![memory.id], ..WriteBatch::default() }).await;
    }
    assert!(!list(Some(&before), 10).await.contains(&one));
    assert!(subject.store.delete_all(&Scope::user("a"), &stamp(at(9_000))).await.expect("deleting all") > 0);
    assert_eq!(list(None, 1_000).await, scopes);
    for user in ["a", "A"] {
        subject.store.purge_all(&Scope::user(user)).await.expect("purging");
    }
    scopes.retain(|scope| !matches!(scope.user_id(), Some("a" | "A")));
    assert_eq!(list(None, 1_000).await, scopes);
}

/// With an id alone nobody reads, touches or removes a stranger's memory.
pub async fn an_id_opens_no_door(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mine = subject.add(&alice(), "mine", X).await;
    let theirs = subject.add(&bob(), "theirs", X).await;
    assert_eq!(subject.get(&alice(), theirs.id).await, None);
    assert!(subject.history(&alice(), theirs.id).await.is_empty());
    subject.store.record_access(&alice(), &[theirs.id], at(5)).await.expect("a stranger's id is passed over");
    assert_eq!(subject.store.delete_all(&alice(), &stamp(at(6))).await.expect("deleting all"), 1);
    assert_eq!(subject.all(&bob()).await, std::slice::from_ref(&theirs));
    assert_eq!(subject.history(&bob(), theirs.id).await.len(), 1);
    assert_eq!(subject.get(&alice(), mine.id).await, None);
}

/// Hundreds of nearer memories of a stranger do not crowd out the few of a quiet user.
pub async fn a_loud_neighbour_crowds_nobody_out(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let (loud, quiet) = (Scope::user("loud"), Scope::user("quiet"));
    subject.add_many(&loud, "tea tea tea", 250, X).await;
    subject.add(&quiet, "first tea", [0.5, 0.866_025_4, 0.0, 0.0]).await;
    subject.add(&quiet, "second tea", [0.4, 0.916_515_1, 0.0, 0.0]).await;
    subject.add(&quiet, "third tea", [0.3, 0.953_939_2, 0.0, 0.0]).await;
    subject.add_many(&loud, "tea tea tea", 250, X).await;
    let near = subject.near(&quiet, X, 3).await;
    assert_eq!(found(&near), ["first tea", "second tea", "third tea"]);
    for (candidate, expected) in near.iter().zip([0.5, 0.4, 0.3]) {
        assert!((cosine(candidate) - expected).abs() < super::subject::TOLERANCE, "{}", cosine(candidate));
    }
    assert_eq!(subject.words(&quiet, "tea", 3).await.len(), 3);
    assert_eq!(subject.search(query(&quiet).limit(3)).await.len(), 3, "the newest are the user's own newest");
}

/// What strangers store, change and remove moves no similarity of mine by a single bit.
pub async fn strangers_move_no_similarity(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let home = alice().with_session("1");
    for (text, vector) in [
        ("green tea in the morning", [0.9, 0.1, 0.0, 0.3]),
        ("black tea and a long walk along the river after work", [0.1, 0.9, 0.2, 0.0]),
        ("the river", [0.3, 0.3, 0.3, 0.3]),
        ("tea tea tea", [-0.5, 0.2, 0.8, 0.1]),
    ] {
        subject.add(&home, text, vector).await;
    }
    let look = async || -> Vec<(String, u32, u32)> {
        let both = query(&home).near(vec![0.7, 0.1, 0.2, 0.1]).words("morning tea by the river");
        let candidates = subject.search(both).await;
        let bits = |c: &Found| (c.memory.text.clone(), cosine(c).to_bits(), keyword(c).to_bits());
        candidates.iter().map(bits).collect()
    };
    let before = look().await;
    assert_eq!(before.len(), 4);
    let strange = subject.add_many(&bob(), "morning tea by the river", 100, X).await;
    subject.add_many(&Scope::session("1"), "a river of words without end", 50, X).await;
    subject.add_many(&alice().with_session("2"), "tea", 50, X).await;
    assert_eq!(look().await, before, "after strangers stored 200 memories");
    subject.apply(removal(&strange[0])).await;
    subject.store.delete_all(&Scope::user("bob"), &stamp(at(5_000))).await.expect("deleting all");
    assert_eq!(look().await, before, "after strangers removed theirs");
}

/// Every call refuses a bad scope, before it looks at anything else.
pub async fn bad_scopes_are_refused_everywhere(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memory = subject.add(&alice(), "one", X).await;
    let kinds = [ErrorKind::InvalidArgument];
    for bad in bad_scopes() {
        let store = &subject.store;
        refused(store.get(&bad, &[memory.id]).await, &kinds);
        refused(store.get(&bad, &[]).await, &kinds);
        for query in [query(&bad), query(&bad).near(X.to_vec()), query(&bad).words("one")] {
            refused(store.search(&query).await, &kinds);
        }
        refused(store.list(&ListQuery::new(bad.clone(), Validity::Any)).await, &kinds);
        refused(store.count(&bad, None, Validity::Any).await, &kinds);
        refused(store.history(&bad, memory.id).await, &kinds);
        refused(store.scopes_of_everyone(Some(&bad), 10).await, &kinds);
        refused(store.delete_all(&bad, &stamp(at(5))).await, &kinds);
        refused(store.record_access(&bad, &[memory.id], at(5)).await, &kinds);
        refused(store.record_access(&bad, &[], at(5)).await, &kinds);
    }
    assert_eq!(subject.all(&alice()).await, [memory]);
}
