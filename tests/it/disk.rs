//! Disks that are full, refuse what is written, or may only be read; and files that are taken away meanwhile. The disks
//! are real ones: a file system in memory of a few megabytes, which a process of its own mounts for itself alone.

mod full;
mod gone;
mod read_only;

use std::{
    io::Read,
    path::Path,
    process::{Command, Stdio},
};

use ingrain::{
    Block, ConversationStore, Entity, EntityId, Error, ErrorKind, GraphBatch, GraphStore, HashingEmbedder, ListRequest,
    Maintenance, ManualClock, MemoryEngine, MemoryId, MemoryUpdate, Message, Purge, RunningSummary, Scope, SqliteStore,
    VectorStore,
};

use crate::{processes::given, worlds::t0};

/// Runs the test in a process that sees an empty disk of `size` in the place of a folder. `false`, said aloud, where the
/// system lets nobody do so.
fn on_a_disk_of(size: &str, test: &str) -> bool {
    let script = "mount -t tmpfs -o size=\"$1\" none \"$2\" || exit 77; shift 2; exec \"$@\"";
    runs(Command::new("unshare").args(["--map-root-user", "--mount", "sh", "-c", script, "sh", size]), test)
}

/// Runs the test by the command, which is given a folder and the words to run it. 77 says that it cannot be done here.
fn runs(command: &mut Command, test: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let command = command
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("INGRAIN_TEST_FILE", folder.path().join("memory.db"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("skipped {test}: there is no {:?} here", command.get_program());
        return false;
    };
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let output = child.wait_with_output().unwrap();
    let aside = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !out.contains("running 1 test") {
        eprintln!("skipped {test}: {aside}");
        return false;
    }
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{aside}");
    true
}

fn alice() -> Scope {
    Scope::user("alice")
}

async fn open(path: &Path) -> Result<(MemoryEngine, SqliteStore), Error> {
    let store = SqliteStore::open(path).await?;
    let builder = MemoryEngine::builder().store(store.clone()).embedder(HashingEmbedder::new(64));
    Ok((builder.clock(ManualClock::at(t0())).build().await?, store))
}

/// Something in every part of the store.
async fn fill(memory: &MemoryEngine, store: &SqliteStore) {
    for scope in [alice(), Scope::user("bob")] {
        let session = scope.clone().with_session("monday");
        memory.add(&session, "I live in Lisbon. I work at Acme. My sister Ann likes tea.").await.unwrap();
        memory.add(&session, "The mill by the river turns slowly in the evening light.").await.unwrap();
        memory.add_raw(&scope, ["Owns a kayak", "Owns a kayak.", "Keeps bees", "Paints boats"]).await.unwrap();
        memory.blocks(&scope).set(Block::new("user", "A nurse.")).await.unwrap();
        let conversations = store.companions().conversations.unwrap();
        conversations.append(&scope, &["one", "two", "three"].map(Message::user)).await.unwrap();
        for name in ["Porto", "Oporto"] {
            let mut batch = GraphBatch::default();
            batch.entities.push(Entity::new(EntityId::new(t0()), scope.clone(), name, t0()));
            store.apply_graph(&batch).await.unwrap();
        }
    }
}

/// Every call that writes.
const WRITES: [&str; 20] = [
    "add",
    "add_raw",
    "add_later",
    "update",
    "touch",
    "set a block",
    "append to a block",
    "append",
    "summarize",
    "drop",
    "erase",
    "apply",
    "merge",
    "import",
    "maintain",
    "delete",
    "purge one",
    "delete_all",
    "purge all",
    "add again",
];

/// Those that write in several steps: what the first had done stays when the next cannot be.
const IN_STEPS: [&str; 5] = ["maintain", "import", "purge one", "delete_all", "purge all"];

async fn id_of(memory: &MemoryEngine, text: &str) -> MemoryId {
    let all = memory.list(&alice(), ListRequest::new().limit(1_000).include_invalid()).await.unwrap().items;
    all.iter().find(|one| one.text.starts_with(text)).unwrap_or_else(|| panic!("no {text}: {all:#?}")).id
}

async fn entity(memory: &MemoryEngine, name: &str) -> EntityId {
    memory.graph(&alice()).find(name, 1).await.unwrap()[0].0.id
}

/// `purged` is the memory that a purge takes: called again, it may be gone and yet not scrubbed.
async fn write(what: &str, memory: &MemoryEngine, store: &SqliteStore, purged: MemoryId) -> Result<(), Error> {
    let (alice, bob) = (alice(), Scope::user("bob"));
    let conversations = store.companions().conversations.unwrap();
    match what {
        "add" | "add again" => memory.add(&alice, format!("I moved to Porto, and {what} I like tea.")).await.map(drop),
        "add_raw" => memory.add_raw(&alice, ["Plays the oud"]).await.map(drop),
        "add_later" => memory.add_later(&alice, "I like swimming.").await.map(drop),
        "update" => {
            let id = id_of(memory, "Paints").await;
            memory.update(&alice, id, MemoryUpdate::new().text("Paints small boats")).await.map(drop)
        }
        "touch" => memory.touch(&alice, &[id_of(memory, "Paints").await]).await,
        "set a block" => memory.blocks(&alice).set(Block::new("rules", "Be kind.")).await.map(drop),
        "append to a block" => memory.blocks(&alice).append("user", "Works nights.").await.map(drop),
        "append" => conversations.append(&alice, &[Message::user("four")]).await.map(drop),
        "summarize" => conversations.replace_summary(&alice, 0, &RunningSummary::new("One.", 1, t0())).await,
        "drop" => conversations.drop_before(&alice, 1).await.map(drop),
        "erase" => conversations.erase(&bob).await.map(drop),
        "apply" => {
            let mut batch = GraphBatch::default();
            batch.entities.push(Entity::new(EntityId::new(t0()), alice, "Aveiro", t0()));
            store.apply_graph(&batch).await
        }
        "merge" => {
            let (kept, other) = (entity(memory, "Porto").await, entity(memory, "Oporto").await);
            memory.graph(&alice).merge(kept, other).await
        }
        "import" => {
            let other = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await.unwrap();
            other.add(&alice, "I work at Globex.").await.unwrap();
            let (mut export, mut import) = (other.export(&alice), memory.import(&alice));
            while let Some(line) = export.next_line().await.unwrap() {
                import.line(&line).await?;
            }
            import.finish().await.map(drop)
        }
        "maintain" => {
            let upkeep = Maintenance::new().summarize_sessions(std::time::Duration::ZERO).observe(2);
            memory.maintain(&alice, &upkeep).await.map(drop)
        }
        "delete" => memory.delete(&alice, id_of(memory, "Keeps bees").await).await,
        "purge one" => memory.purge(&alice, Purge::memories([purged])).await.map(drop),
        "delete_all" => memory.delete_all(&bob).await.map(drop),
        "purge all" => memory.purge(&bob, Purge::everything()).await.map(drop),
        other => panic!("no such write: {other}"),
    }
}

/// All that is exported, and what is found: of both users.
async fn state(memory: &MemoryEngine) -> Vec<String> {
    let mut state = Vec::new();
    for scope in [alice(), Scope::user("bob")] {
        let mut export = memory.export(&scope);
        export.next_line().await.unwrap();
        while let Some(line) = export.next_line().await.unwrap() {
            state.push(line);
        }
        for query in ["kayak", "Where does she live?"] {
            let hits = memory.search(&scope, query).await.unwrap();
            state.extend(hits.iter().map(|hit| format!("{} {}", hit.memory.id, hit.score)));
        }
        state.push(format!("{:?}", memory.graph(&scope).counts().await.unwrap()));
    }
    state
}

/// The write cannot be, says why, and has left nothing unless it is done in steps.
async fn refused(what: &str, memory: &MemoryEngine, store: &SqliteStore, purged: MemoryId, why: &str) {
    let before = state(memory).await;
    let error = write(what, memory, store, purged).await.expect_err(what);
    is_told(&error, why, what);
    if !IN_STEPS.contains(&what) {
        assert_eq!(state(memory).await, before, "{what} left a trace");
    }
}

fn is_told(error: &Error, why: &str, what: &str) {
    assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreUnavailable, Some("sqlite")), "{what}: {error:?}");
    assert!(error.to_string().contains(why), "{what}: {error:?}");
}

/// Nothing is half written, by SQLite's own account.
fn sound(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    assert_eq!(connection.prepare("PRAGMA foreign_key_check").unwrap().query_map([], |_| Ok(())).unwrap().count(), 0);
}

/// Puts the log into the file and cuts it off: the next write needs room.
fn settle(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert!(!busy);
}
