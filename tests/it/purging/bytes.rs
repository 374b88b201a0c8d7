//! Not a byte is left in the files of SQLite.

use std::path::Path;

use ingrain::{ErrorKind, Filter, GraphStore, ListRequest, MemoryKind, Message, NewMemory, Purge, Scope, SqliteStore};

use super::{SECRETS, SECRETS_OF_NAMES, engine, fill, tell_names};

/// Those of the words that are somewhere in the files of the folder.
pub fn left(folder: &Path, words: &[&'static str]) -> Vec<&'static str> {
    let files = std::fs::read_dir(folder).unwrap();
    let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    let bytes = bytes.to_ascii_lowercase();
    let holds = |word: &&&str| {
        let word = word.to_ascii_lowercase();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    };
    words.iter().filter(holds).copied().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_purged_user_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let memory = engine(store.clone()).await;
    // Another handle reads the file meanwhile, and has read all of it.
    let other = engine(SqliteStore::open(&path).await.unwrap()).await;
    let (olga, bob) = (Scope::user("olga-7f3"), Scope::user("bob"));
    let theirs = memory.add(&bob, [Message::user("I live in Porto. My dog Rex is five.")]).await.unwrap();
    fill(&memory, &store, &olga).await;
    assert!(!other.search(&olga, "Zanzibarova").await.unwrap().is_empty());
    memory.add_later(&olga, [Message::user("I like Kumquatery")]).await.unwrap();
    let mut words = SECRETS.to_vec();
    words.push("olga-7f3");
    assert_eq!(left(folder.path(), &words), words, "all of it is there before");

    let gone = memory.purge(&olga, Purge::everything()).await.unwrap();
    assert!(gone.memories > 5 && gone.events > gone.memories && gone.relations > 2 && gone.entities > 3, "{gone:?}");
    assert_eq!(gone.messages, 3);
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new());

    for engine in [&memory, &other] {
        assert!(engine.search(&olga, "Zanzibarova").await.unwrap().is_empty());
        assert_eq!(engine.list(&olga, ListRequest::new()).await.unwrap().total, 0);
        assert_eq!(engine.search(&bob, "Where does he live?").await.unwrap()[0].memory.scope, bob);
    }
    assert_eq!(memory.history(&bob, theirs.added[0].id).await.unwrap().len(), 1);
    assert_eq!(store.graph_counts(&bob).await.unwrap().0, 3, "bob, Porto and Rex");
    drop((memory, other));
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new(), "nor after it is closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_purged_session_is_left_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    let olga = Scope::user("olga");
    let (first, second) = (olga.clone().with_session("s1"), olga.clone().with_session("w7-session"));
    memory.add(&first, [Message::user("I work at Acme.")]).await.unwrap();
    memory.add(&second, [Message::user("I work at Xylophonist. My sister is Kumquatery.")]).await.unwrap();
    let words = ["Xylophonist", "Kumquatery", "w7-session"];
    assert_eq!(left(folder.path(), &words), words);
    memory.purge(&second, Purge::everything()).await.unwrap();
    assert_eq!(left(folder.path(), &words), Vec::<&str>::new());
    assert!(memory.list(&olga, ListRequest::new()).await.unwrap().total > 0, "the other session stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_purged_memories_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    let olga = Scope::user("olga");
    memory.add(&olga, [Message::user("I live in Lisbon.")]).await.unwrap();
    let told = memory.add(&olga, [Message::user("I work at Kumquatery.")]).await.unwrap();
    let fact = told.added.iter().find(|memory| memory.kind != MemoryKind::Episode).unwrap().id;
    let noted = memory.add_raw(&olga, ["Owns a Xylophonist"]).await.unwrap().remove(0).id;
    memory.delete(&olga, noted).await.unwrap();
    let secret = NewMemory::new("Diagnosed with Vladivostokian").categories(["health"]);
    memory.add_raw(&olga, [secret]).await.unwrap();

    // The turn says it as well: it stays unless it is purged with the fact.
    let gone = memory.purge(&olga, Purge::memories([noted])).await.unwrap();
    assert_eq!((gone.memories, gone.events), (0, 2));
    assert_eq!(left(folder.path(), &["Xylophonist", "Kumquatery"]), ["Kumquatery"]);
    let gone = memory.purge(&olga, Purge::memories([fact]).with_related()).await.unwrap();
    assert_eq!((gone.memories, gone.events), (2, 2));
    let gone = memory.purge(&olga, Purge::matching(Filter::eq("categories", "health"))).await.unwrap();
    assert_eq!((gone.memories, gone.events), (1, 1));
    assert_eq!(left(folder.path(), &SECRETS), Vec::<&str>::new());
    assert_eq!(memory.history(&olga, fact).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(memory.search(&olga, "Where does she live?").await.unwrap()[0].memory.text.contains("Lisbon"));

    // Again, with nothing left to purge.
    let again = memory.purge(&olga, Purge::memories([fact, noted]).with_related()).await.unwrap();
    assert_eq!(again, ingrain::PurgeReport::default());
    // Another's memory is none of hers.
    let theirs = memory.add_raw(&Scope::user("bob"), ["Keeps bees"]).await.unwrap().remove(0).id;
    assert_eq!(memory.purge(&olga, Purge::memories([theirs])).await.unwrap(), ingrain::PurgeReport::default());
    assert!(memory.get(&Scope::user("bob"), theirs).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_name_is_left_that_only_purged_memories_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
    let memory = engine(store.clone()).await;
    let olga = Scope::user("olga");
    let ids = tell_names(&memory, &olga).await;
    assert_eq!(left(folder.path(), &SECRETS_OF_NAMES), SECRETS_OF_NAMES);
    memory.purge(&olga, Purge::memories(ids)).await.unwrap();
    assert_eq!(left(folder.path(), &SECRETS_OF_NAMES), Vec::<&str>::new());
    assert_eq!(left(folder.path(), &["Anna Weber", "Annie"]), ["Anna Weber", "Annie"], "others tell of her");
}
