//! A process that is killed at any moment loses no write that had returned, and leaves none half done.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use ingrain::{
    ConversationStore, EventKind, ListRequest, ManualClock, MemoryEngine, MemoryId, Message, RunningSummary, Scope,
    SearchMode, SearchRequest, SqliteStore, VectorStore, testing::GivenVectors,
};

use crate::{
    processes::{Second, given, say},
    worlds,
};

const FILES: usize = 10;
const ROUNDS: usize = 5;

async fn open(path: &Path) -> MemoryEngine {
    let store = SqliteStore::open(path).await.unwrap();
    worlds::engine(store, GivenVectors::new(32), ManualClock::at(worlds::t0())).await.unwrap()
}

async fn conversations(path: &Path) -> Arc<dyn ConversationStore> {
    SqliteStore::open(path).await.unwrap().companions().conversations.unwrap()
}

/// What the process does that will be killed: adds one thing after another, and says what had returned.
async fn add_until_killed(path: &Path, round: &str) {
    let engine = open(path).await;
    for number in 0.. {
        let text = format!("Walked past the mill, entry round{round}step{number}");
        let report = engine.add(&Scope::user("walker"), Message::user(&*text)).await.unwrap();
        say(&format!("{} {text}", report.episodes[0]));
    }
}

#[tokio::test]
async fn a_kill_loses_nothing_that_had_returned() {
    if let Some((path, round)) = given() {
        return add_until_killed(&path, &round).await;
    }
    let mut returned_in_all = 0;
    for file in 0..FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut returned: BTreeMap<MemoryId, String> = BTreeMap::new();
        for round in 0..ROUNDS {
            let name = "crash::a_kill_loses_nothing_that_had_returned";
            let mut process = Second::running(name, &path, &round.to_string());
            // Different for each round; how far the process comes meanwhile is chance.
            let step = file * ROUNDS + round;
            let seen: Vec<String> = (0..step * 7 % 13).map_while(|_| process.heard()).collect();
            std::thread::sleep(Duration::from_micros((step * 977 % 9_000) as u64));
            process.kill();
            for line in seen.into_iter().chain(std::iter::from_fn(|| process.heard())) {
                // A line that was cut off by the kill says nothing.
                if let Some((id, text)) = line.split_once(' ').filter(|(_, text)| text.contains("step")) {
                    returned.insert(id.parse().unwrap(), text.to_owned());
                }
            }
            if path.exists() {
                sound(&path);
            }
            whole(&path, &returned).await;
        }
        returned_in_all += returned.len();
    }
    assert!(returned_in_all > FILES * ROUNDS, "the processes got somewhere: {returned_in_all} adds");
}

/// The same, adding in the background.
async fn add_later_until_killed(path: &Path, round: &str) {
    let engine = open(path).await;
    for number in 0.. {
        let text = format!("round{round}step{number} past the mill");
        engine.add_later(&Scope::user("walker"), &*text).await.unwrap();
        say(&text);
    }
}

#[tokio::test]
async fn a_kill_loses_nothing_that_was_queued_and_makes_nothing_twice() {
    if let Some((path, round)) = given() {
        return add_later_until_killed(&path, &round).await;
    }
    let mut queued_in_all = 0;
    for file in 0..FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut queued: Vec<String> = Vec::new();
        for round in 0..ROUNDS {
            let name = "crash::a_kill_loses_nothing_that_was_queued_and_makes_nothing_twice";
            let mut process = Second::running(name, &path, &round.to_string());
            let step = file * ROUNDS + round;
            let seen: Vec<String> = (0..1 + step * 7 % 13).map_while(|_| process.heard()).collect();
            std::thread::sleep(Duration::from_micros((step * 977 % 9_000) as u64));
            process.kill();
            let heard = seen.into_iter().chain(std::iter::from_fn(|| process.heard()));
            queued.extend(heard.filter(|text| text.ends_with(" past the mill")));
            sound(&path);
            // Now and then the next process finds what two have left.
            if step.is_multiple_of(3) && round + 1 < ROUNDS {
                continue;
            }
            let (engine, walker) = (open(&path).await, Scope::user("walker"));
            assert_eq!(engine.flush().await.unwrap().failed, []);
            worlds::sound(&engine).await;
            let mut turns = engine.list(&walker, ListRequest::new().limit(10_000)).await.unwrap().items;
            turns.sort_by_key(|turn| turn.ordinal);
            assert_eq!(turns.iter().map(|turn| &turn.text).collect::<BTreeSet<_>>().len(), turns.len(), "none twice");
            // What was queued when the process was killed may have been, without a word about it.
            turns.retain(|turn| queued.contains(&turn.text));
            assert!(
                turns.iter().map(|turn| &turn.text).eq(&queued),
                "all there, in order: {turns:#?}, not {queued:#?}"
            );
        }
        queued_in_all += queued.len();
    }
    assert!(queued_in_all > FILES * ROUNDS, "the processes got somewhere: {queued_in_all} adds");
}

/// Appends by threes, and now and then summarizes and drops what is old.
async fn append_until_killed(path: &Path, round: &str) {
    let (conversations, walker) = (conversations(path).await, Scope::user("walker"));
    let mut covered = conversations.summary(&walker).await.unwrap().map_or(0, |summary| summary.covers_before);
    for number in 0.. {
        let parts = ["a", "b", "c"].map(|part| Message::user(format!("round{round}step{number}{part}")));
        let first = conversations.append(&walker, &parts).await.unwrap();
        say(&format!("{first} {}", parts[0].text));
        if number % 5 == 3 {
            let summary = RunningSummary::new("Walked on.", first, worlds::t0());
            conversations.replace_summary(&walker, covered, &summary).await.unwrap();
            covered = first;
            conversations.drop_before(&walker, first).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_kill_loses_nothing_that_was_said() {
    if let Some((path, round)) = given() {
        return append_until_killed(&path, &round).await;
    }
    let walker = Scope::user("walker");
    let mut said_in_all = 0;
    for file in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut said: BTreeMap<u64, String> = BTreeMap::new();
        for round in 0..ROUNDS {
            let name = "crash::a_kill_loses_nothing_that_was_said";
            let mut process = Second::running(name, &path, &round.to_string());
            let step = file * ROUNDS + round;
            let seen: Vec<String> = (0..1 + step * 7 % 13).map_while(|_| process.heard()).collect();
            std::thread::sleep(Duration::from_micros((step * 977 % 9_000) as u64));
            process.kill();
            for line in seen.into_iter().chain(std::iter::from_fn(|| process.heard())) {
                // A line that was cut off by the kill says nothing.
                if let Some((number, text)) = line.split_once(' ').filter(|(_, text)| text.ends_with('a')) {
                    assert_eq!(said.insert(number.parse().unwrap(), text.to_owned()), None, "{number} is given once");
                }
            }
            sound(&path);
            let conversations = conversations(&path).await;
            let left = conversations.messages(&walker, 0, usize::MAX).await.unwrap();
            let covered = conversations.summary(&walker).await.unwrap().map_or(0, |summary| summary.covers_before);
            let (first, end) = (left[0].sequence, left[0].sequence + left.len() as u64);
            assert!(first <= covered && covered < end, "what is dropped was summarized: {first}, {covered}, {end}");
            for (number, stored) in (first..).zip(&left) {
                let part = ["a", "b", "c"][(number % 3) as usize];
                assert!(stored.sequence == number && stored.message.text.ends_with(part), "no gap: {stored:?}");
            }
            assert!(first.is_multiple_of(3) && end.is_multiple_of(3), "appends are whole: {first}..{end}");
            for (number, text) in &said {
                let kept = left.iter().find(|stored| stored.sequence == *number);
                assert!(*number < first || kept.is_some_and(|stored| stored.message.text == *text), "{number} {text}");
            }
        }
        said_in_all += said.len();
    }
    assert!(said_in_all > 4 * ROUNDS, "the processes got somewhere: {said_in_all} appends");
}

/// SQLite itself finds no fault in the file.
fn sound(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let orphans = connection.prepare("PRAGMA foreign_key_check").unwrap().query_map([], |_| Ok(())).unwrap().count();
    assert_eq!(orphans, 0);
}

/// What had returned is there, and whatever is there is there whole: text, both ways to find it, and history.
async fn whole(path: &Path, returned: &BTreeMap<MemoryId, String>) {
    let (engine, walker) = (open(path).await, Scope::user("walker"));
    worlds::sound(&engine).await;
    let stored = engine.list(&walker, ListRequest::new().limit(10_000).include_invalid()).await.unwrap().items;
    for (id, text) in returned {
        let memory = stored.iter().find(|memory| memory.id == *id).expect("an add that had returned");
        // The end of the last line may be missing.
        assert!(memory.text.starts_with(text.as_str()), "{} is not {text}", memory.text);
    }
    let ask = |mode| SearchRequest::new("walked past the mill").mode(mode).limit(10_000).include_invalid();
    for mode in [SearchMode::Keyword, SearchMode::Vector] {
        let mut found: Vec<MemoryId> =
            engine.search(&walker, ask(mode)).await.unwrap().iter().map(|hit| hit.memory.id).collect();
        found.sort_unstable();
        assert!(found.iter().eq(stored.iter().map(|memory| &memory.id)), "{mode:?} search finds what the list shows");
    }
    for memory in &stored {
        let history = engine.history(&walker, memory.id).await.unwrap();
        assert_eq!(
            (history.len(), history[0].kind, history[0].new_text.as_ref()),
            (1, EventKind::Add, Some(&memory.text))
        );
    }
}
