//! Maintenance: what it does to memories, and that it may stop anywhere.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use ingrain::{
    Actor, ErrorKind, EventKind, Filter, HashingEmbedder, InMemoryStore, ListRequest, Maintenance, MaintenanceReport,
    MaintenanceSchedule, ManualClock, Memory, MemoryEngine, MemoryId, MemoryKind, MemoryUpdate, Message, NewMemory,
    Scope, Source, VectorStore, testing::FaultyStore,
};

use crate::worlds::t0;

pub fn alice() -> Scope {
    Scope::user("alice")
}

pub async fn engine(store: impl VectorStore, clock: &ManualClock) -> MemoryEngine {
    MemoryEngine::builder().store(store).embedder(HashingEmbedder::new(256)).clock(clock.clone()).build().await.unwrap()
}

async fn fresh() -> (MemoryEngine, ManualClock) {
    let clock = ManualClock::at(t0());
    (engine(InMemoryStore::new(), &clock).await, clock)
}

/// Everything there is, also what has ended.
pub async fn all(memory: &MemoryEngine) -> Vec<Memory> {
    memory.list(&alice(), ListRequest::new().limit(10_000).include_invalid()).await.unwrap().items
}

pub async fn current(memory: &MemoryEngine) -> Vec<String> {
    memory
        .list(&alice(), ListRequest::new().limit(10_000))
        .await
        .unwrap()
        .items
        .into_iter()
        .map(|one| one.text)
        .collect()
}

pub async fn of_kind(memory: &MemoryEngine, kind: MemoryKind) -> Vec<Memory> {
    let filter = Filter::eq("kind", kind.as_str());
    memory.list(&alice(), ListRequest::new().filter(filter).limit(1_000)).await.unwrap().items
}

/// Runs to the end, so many memories at a time.
pub async fn run(memory: &MemoryEngine, mut request: Maintenance) -> MaintenanceReport {
    let mut whole = MaintenanceReport::default();
    loop {
        let report = memory.maintain(&alice(), &request).await.unwrap();
        whole.expired.extend(report.expired);
        whole.forgotten.extend(report.forgotten);
        whole.merged.extend(report.merged);
        whole.summarized.extend(report.summarized);
        whole.observed.extend(report.observed);
        whole.renewed.extend(report.renewed);
        whole.withdrawn.extend(report.withdrawn);
        whole.to_review.extend(report.to_review);
        whole.busy.extend(report.busy);
        let Some(place) = report.next else { return whole };
        // As it would be after a restart.
        let place = serde_json::from_str(&serde_json::to_string(&place).unwrap()).unwrap();
        request = request.resume(place);
    }
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(count * 3600)
}

pub fn days(count: u64) -> Duration {
    hours(24 * count)
}

pub fn day() -> Duration {
    days(1)
}

#[tokio::test]
async fn what_has_expired_is_removed_and_its_history_says_why() {
    let (memory, clock) = fresh().await;
    let soon = NewMemory::new("The parcel comes today").expires_at(t0() + TimeDelta::days(1));
    let later = NewMemory::new("The lease runs on").expires_at(t0() + TimeDelta::days(10));
    let ids: Vec<MemoryId> = memory.add_raw(&alice(), [soon, later]).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0);
    clock.advance(days(2));
    let report = run(&memory, Maintenance::new().dry_run()).await;
    assert_eq!((report.expired, all(&memory).await.len()), (vec![ids[0]], 2));
    let report = run(&memory, Maintenance::new()).await;
    assert_eq!(report.expired, [ids[0]]);
    assert_eq!(current(&memory).await, ["The lease runs on"]);
    let last = memory.history(&alice(), ids[0]).await.unwrap().pop().unwrap();
    assert_eq!(
        (last.kind, last.stamp.actor, last.stamp.reason.as_deref()),
        (EventKind::Delete, Actor::Maintenance, Some("expired"))
    );
    assert_eq!(run(&memory, Maintenance::new().expire(false)).await.changes(), 0);
}

#[tokio::test]
async fn what_has_faded_is_forgotten_if_that_is_asked_for() {
    let (memory, clock) = fresh().await;
    let faint = memory.add_raw(&alice(), [NewMemory::new("Saw a red bus").importance(0.2)]).await.unwrap().remove(0);
    let strong = NewMemory::new("Allergic to shellfish").importance(1.0);
    let pinned = NewMemory::new("Bought a stamp").importance(0.2).pinned(true);
    memory.add_raw(&alice(), [strong, pinned]).await.unwrap();
    memory.blocks(&alice()).set(ingrain::Block::new("persona", "Brief")).await.unwrap();
    clock.advance(days(20 * 365));
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0, "never by itself");
    assert!(memory.effective_importance(&faint) < 0.1);
    assert_eq!(run(&memory, Maintenance::new().forget_below(0.1)).await.changes(), 0, "it still holds");
    let request = || Maintenance::new().forget_below(0.1).forget_what_holds(true);
    assert_eq!(run(&memory, request().dry_run()).await.forgotten, [faint.id]);
    assert_eq!(run(&memory, request()).await.forgotten, [faint.id]);
    let last = memory.history(&alice(), faint.id).await.unwrap().pop().unwrap();
    assert_eq!(last.stamp.reason.as_deref(), Some("faded"));
    assert_eq!(all(&memory).await.len(), 3);
}

#[tokio::test]
async fn what_has_ended_and_faded_is_forgotten() {
    let (memory, clock) = fresh().await;
    memory.add(&alice(), "I live in Lisbon.").await.unwrap();
    clock.advance(days(1));
    memory.add(&alice(), "I moved to Porto.").await.unwrap();
    clock.advance(days(20 * 365));
    run(&memory, Maintenance::new().forget_below(0.1)).await;
    let left = all(&memory).await;
    let left: Vec<&str> = left.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(left, ["Moved to Porto, lives there now"]);
}

#[tokio::test]
async fn the_older_of_near_duplicates_takes_the_newer_in() {
    let (memory, clock) = fresh().await;
    let first = NewMemory::new("Likes hiking in the mountains").sources([Source::Message("m1".into())]).importance(0.3);
    let first = memory.add_raw(&alice(), [first]).await.unwrap().remove(0);
    clock.advance(days(1));
    let second = NewMemory::new("likes hiking in the  mountains.")
        .sources([Source::Message("m2".into())])
        .categories(["sport"])
        .importance(0.9);
    let second = memory.add_raw(&alice(), [second]).await.unwrap().remove(0);
    memory.add_raw(&alice(), ["Does not like hiking in the mountains", "Likes hiking in the hills"]).await.unwrap();
    memory.add_raw(&Scope::user("bob"), ["Likes hiking in the mountains"]).await.unwrap();

    assert_eq!(run(&memory, Maintenance::new().dry_run()).await.merged.len(), 1);
    let report = run(&memory, Maintenance::new()).await;
    assert_eq!((report.merged.len(), report.merged[0].kept, report.merged[0].merged), (1, first.id, second.id));
    assert_eq!(current(&memory).await.len(), 3);
    let kept = memory.get(&alice(), first.id).await.unwrap();
    assert_eq!((kept.text.as_str(), kept.importance), (first.text.as_str(), 0.9));
    assert_eq!(kept.sources.len(), 2);
    assert_eq!(kept.categories, ["sport"]);
    let merged = memory.get(&alice(), second.id).await.unwrap();
    assert_eq!(merged.superseded_by, Some(first.id));
    assert_eq!(memory.history(&alice(), second.id).await.unwrap().len(), 2);
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0, "once is enough");

    // Parted again, they stay apart.
    assert_eq!(memory.undo_merge(&alice(), second.id).await.unwrap().invalid_at, None);
    assert_eq!(current(&memory).await.len(), 4);
    assert_eq!(memory.get(&alice(), first.id).await.unwrap().sources.len(), 2, "what it took over it keeps");
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0);
    let error = memory.undo_merge(&alice(), second.id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn however_many_say_the_same_one_walk_merges_them() {
    const COUNT: usize = 200;
    for limit in [1, 30, 1_000] {
        let (memory, _) = fresh().await;
        memory.add_raw(&alice(), (0..COUNT).map(|_| "Likes hiking in the mountains")).await.unwrap();
        memory.add_raw(&alice(), ["Keeps bees", "keeps bees."]).await.unwrap();
        let planned = run(&memory, Maintenance::new().dry_run().limit(limit)).await.merged;
        assert_eq!(planned.len(), COUNT, "of one all but one, and one of two");
        let mut request = Maintenance::new().limit(limit);
        let (mut merged, mut looked_at) = (Vec::new(), 0);
        loop {
            let report = memory.maintain(&alice(), &request).await.unwrap();
            assert!(report.merged.len() <= limit + 10, "a call that is bounded merged {}", report.merged.len());
            merged.extend(report.merged);
            looked_at += report.looked_at;
            let Some(place) = report.next else { break };
            request = request.resume(place);
        }
        merged.sort_by_key(|one| one.merged);
        let mut planned = planned;
        planned.sort_by_key(|one| one.merged);
        assert_eq!(merged, planned);
        assert!(looked_at <= 2 * COUNT as u64, "{looked_at}");
        assert_eq!(current(&memory).await, ["Likes hiking in the mountains", "Keeps bees"]);
    }
}

#[tokio::test]
async fn what_is_related_stays_when_duplicates_are_merged() {
    let (memory, clock) = fresh().await;
    memory.add(&alice(), [Message::user("I work at Acme.")]).await.unwrap();
    let fact = of_kind(&memory, MemoryKind::Fact).await.remove(0);
    clock.advance(days(1));
    let copy = memory.add_raw(&alice(), [fact.text.as_str()]).await.unwrap().remove(0);
    run(&memory, Maintenance::new()).await;
    memory.delete(&alice(), copy.id).await.unwrap();
    assert_eq!(memory.graph(&alice()).relations(None, 10).await.unwrap().items.len(), 1);
    memory.delete(&alice(), fact.id).await.unwrap();
    assert_eq!(memory.graph(&alice()).relations(None, 10).await.unwrap().items.len(), 0);
}

/// Three turns of a session.
pub async fn talk(memory: &MemoryEngine, session: &Scope, words: &str) {
    for text in [
        format!("I have been thinking about {words} all week long."),
        format!("What I like about {words} is the quiet of the mornings."),
        format!("Next month I will start with {words} in earnest."),
    ] {
        memory.add(session, [Message::user(text)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_quiet_session_is_summarised_and_kept_up() {
    let (memory, clock) = fresh().await;
    let (monday, tuesday) = (alice().with_session("monday"), alice().with_session("tuesday"));
    talk(&memory, &monday, "beekeeping").await;
    clock.advance(hours(20));
    talk(&memory, &tuesday, "rowing").await;
    clock.advance(hours(20));
    let request = || Maintenance::new().summarize_sessions(day());
    let report = run(&memory, request()).await;
    assert_eq!(report.summarized.len(), 1, "the other is not quiet for a day yet");
    let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0);
    assert_eq!((summary.scope.clone(), summary.sources.len()), (monday.clone(), 3));
    assert!(summary.text.contains("beekeeping"), "{}", summary.text);
    assert_eq!(run(&memory, request()).await.changes(), 0);

    memory.add(&monday, [Message::user("The bees have arrived, all forty thousand of them.")]).await.unwrap();
    assert_eq!(run(&memory, request()).await.changes(), 0, "it is no longer quiet");
    clock.advance(days(2));
    assert_eq!(run(&memory, request().limit(2)).await.summarized.len(), 2);
    let after = memory.get(&alice(), summary.id).await.unwrap();
    assert_eq!(after.sources.len(), 4);
    assert!(after.revision > summary.revision);

    // A turn that is removed goes out of the summary, and the last takes it along.
    let turns = memory.list(&monday, ListRequest::new().filter(Filter::eq("kind", "episode"))).await.unwrap().items;
    memory.delete(&monday, turns[3].id).await.unwrap();
    let report = run(&memory, Maintenance::new()).await;
    assert_eq!(report.renewed, [summary.id]);
    let anew = memory.get(&alice(), summary.id).await.unwrap();
    assert!(!anew.text.contains("forty") && anew.sources.len() == 3, "{}", anew.text);
    for turn in &turns[..3] {
        memory.delete(&monday, turn.id).await.unwrap();
    }
    assert_eq!(run(&memory, Maintenance::new()).await.withdrawn, [summary.id]);
    assert_eq!(of_kind(&memory, MemoryKind::Summary).await.len(), 1, "that of the other session");
}

#[tokio::test]
async fn a_summary_outlives_the_turns_that_faded_and_fades_after_them() {
    let (memory, clock) = fresh().await;
    let monday = alice().with_session("monday");
    talk(&memory, &monday, "beekeeping").await;
    let request = || Maintenance::new().summarize_sessions(day()).forget_below(0.06);
    clock.advance(days(60));
    let report = run(&memory, request()).await;
    assert_eq!((report.forgotten.len(), report.summarized.len()), (0, 1), "half-lives of 30 and 90 days, of 0.5");
    let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0);
    clock.advance(days(60));
    let report = run(&memory, request()).await;
    assert_eq!((report.forgotten.len(), report.withdrawn.len(), report.renewed.len()), (3, 0, 0));
    assert_eq!(run(&memory, request()).await.changes(), 0);
    let kept = memory.get(&alice(), summary.id).await.unwrap();
    assert_eq!((kept.text, kept.sources.len()), (summary.text, 3));
    assert_eq!(of_kind(&memory, MemoryKind::Episode).await, []);
    clock.advance(days(300));
    assert_eq!(run(&memory, request()).await.forgotten, [summary.id]);
}

/// Upkeep that begins late, after an import or a year without it, loses nothing that it was asked to sum up.
#[tokio::test]
async fn what_has_faded_is_summed_up_before_it_goes() {
    let (memory, clock) = fresh().await;
    let (monday, endless) = (alice().with_session("monday"), alice().with_session("endless"));
    talk(&memory, &monday, "beekeeping").await;
    talk(&memory, &endless, "rowing").await;
    clock.advance(days(400));
    let late = NewMemory::new("Still here").kind(MemoryKind::Episode);
    memory.add_raw(&endless, [late]).await.unwrap();
    let report = run(&memory, Maintenance::new().summarize_sessions(day()).forget_below(0.06)).await;
    assert_eq!((report.summarized.len(), report.forgotten.len()), (1, 3));
    assert!(of_kind(&memory, MemoryKind::Summary).await[0].text.contains("bee"));
    assert_eq!(memory.list(&endless, ListRequest::new()).await.unwrap().total, 4, "nothing tells of them yet");
}

#[tokio::test]
async fn a_turn_that_is_deleted_goes_out_of_a_summary_of_turns_that_faded() {
    let (memory, clock) = fresh().await;
    let monday = alice().with_session("monday");
    talk(&memory, &monday, "beekeeping").await;
    let turns = memory.list(&monday, ListRequest::new().filter(Filter::eq("kind", "episode"))).await.unwrap().items;
    memory.update(&monday, turns[0].id, MemoryUpdate::new().pinned(true)).await.unwrap();
    clock.advance(days(120));
    run(&memory, Maintenance::new().summarize_sessions(day())).await;
    assert_eq!(run(&memory, Maintenance::new().forget_below(0.06)).await.forgotten.len(), 2);
    memory.delete(&monday, turns[0].id).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new()).await.withdrawn.len(), 1, "nothing is left to tell it from");
}

#[tokio::test]
async fn what_faded_leaves_no_history_if_that_is_asked_for() {
    let (memory, clock) = fresh().await;
    let monday = alice().with_session("monday");
    talk(&memory, &monday, "beekeeping").await;
    let note = NewMemory::new("The parcel comes today").expires_at(t0() + TimeDelta::days(1));
    let note = memory.add_raw(&alice(), [note]).await.unwrap().remove(0);
    let turns = of_kind(&memory, MemoryKind::Episode).await;
    clock.advance(days(120));
    let report = run(&memory, Maintenance::new().forget_below(0.06).erase_history(true)).await;
    assert_eq!((report.forgotten.len(), report.expired.len()), (3, 1));
    for id in turns.iter().map(|turn| turn.id).chain([note.id]) {
        let error = memory.history(&alice(), id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "by default its history stays, and says why");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_workers_at_once_one_writes_the_summary() {
    let (memory, clock) = fresh().await;
    talk(&memory, &alice().with_session("monday"), "beekeeping").await;
    memory.add_raw(&alice(), ["Likes tea", "likes tea", "Likes tea."]).await.unwrap();
    clock.advance(days(3));
    let mut workers = Vec::new();
    for _ in 0..4 {
        let memory = memory.clone();
        workers.push(tokio::spawn(async move {
            memory.maintain(&alice(), &Maintenance::new().summarize_sessions(day())).await.unwrap()
        }));
    }
    for worker in workers {
        worker.await.unwrap();
    }
    run(&memory, Maintenance::new().summarize_sessions(day())).await;
    assert_eq!(of_kind(&memory, MemoryKind::Summary).await.len(), 1);
    assert_eq!(current(&memory).await.iter().filter(|text| text.to_lowercase().contains("likes tea")).count(), 1);
}

#[tokio::test]
async fn facts_on_one_matter_become_an_observation_that_lives_with_them() {
    let (memory, clock) = fresh().await;
    let facts = [
        "Likes hiking in the mountains",
        "Likes hiking in the Alps mountains",
        "Goes hiking in the mountains on Sundays",
    ];
    let ids: Vec<MemoryId> = memory.add_raw(&alice(), facts).await.unwrap().iter().map(|one| one.id).collect();
    memory.add_raw(&alice(), ["Allergic to peanuts"]).await.unwrap();
    let report = run(&memory, Maintenance::new().observe(3)).await;
    assert_eq!(report.observed.len(), 1);
    let seen = of_kind(&memory, MemoryKind::Observation).await.remove(0);
    for fact in facts {
        assert!(seen.text.contains(fact), "no condition is lost: {}", seen.text);
    }
    assert_eq!(seen.metadata["proof_count"], 3);
    assert_eq!(run(&memory, Maintenance::new().observe(3)).await.changes(), 0);

    clock.advance(days(1));
    memory.add_raw(&alice(), ["Bought boots for hiking in the mountains"]).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new().observe(3)).await.observed, [seen.id]);
    assert_eq!(memory.get(&alice(), seen.id).await.unwrap().metadata["proof_count"], 4);

    clock.advance(days(1));
    memory.update(&alice(), ids[2], MemoryUpdate::new().valid_until(Some(t0() + TimeDelta::hours(1)))).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new()).await.renewed, [seen.id]);
    let renewed = memory.get(&alice(), seen.id).await.unwrap();
    assert!(!renewed.text.contains("Sundays") && renewed.metadata["proof_count"] == 3, "{}", renewed.text);
    clock.advance(days(1));
    memory.delete(&alice(), ids[0]).await.unwrap();
    memory.delete(&alice(), ids[1]).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new()).await.withdrawn, [seen.id]);
    assert!(of_kind(&memory, MemoryKind::Observation).await.is_empty());
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0);
}

#[tokio::test]
async fn what_rests_on_an_ended_fact_is_told_for_review() {
    let (memory, clock) = fresh().await;
    let fact = memory.add_raw(&alice(), ["Lives in Lisbon"]).await.unwrap().remove(0);
    let derived = NewMemory::new("Speaks Portuguese at work").sources([Source::Memory(fact.id)]);
    let derived = memory.add_raw(&alice(), [derived]).await.unwrap().remove(0);
    assert!(run(&memory, Maintenance::new()).await.to_review.is_empty());
    clock.advance(days(1));
    memory.update(&alice(), fact.id, MemoryUpdate::new().valid_until(Some(t0()))).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new()).await.to_review, [derived.id]);
    assert_eq!(
        memory.get(&alice(), derived.id).await.unwrap().invalid_at,
        None,
        "that is not for maintenance to decide"
    );
}

async fn fill(memory: &MemoryEngine, clock: &ManualClock) {
    talk(memory, &alice().with_session("monday"), "beekeeping").await;
    talk(memory, &alice().with_session("tuesday"), "rowing").await;
    memory
        .add_raw(&alice(), ["Likes tea", "likes tea.", "Likes tea", "Owns a red kayak", "owns a red kayak"])
        .await
        .unwrap();
    let parcel = NewMemory::new("The parcel comes today").expires_at(t0() + TimeDelta::days(1));
    memory.add_raw(&alice(), [parcel]).await.unwrap();
    memory.add_raw(&alice(), ["Likes hiking in the mountains", "Goes hiking in the mountains daily"]).await.unwrap();
    clock.advance(days(3));
}

fn everything() -> Maintenance {
    Maintenance::new().summarize_sessions(day()).observe(2)
}

/// What there is, in words, for whom ids say nothing.
async fn state(memory: &MemoryEngine) -> Vec<String> {
    let mut state: Vec<String> = Vec::new();
    for one in all(memory).await {
        let told = memory.history(&alice(), one.id).await.unwrap().len();
        state.push(format!("{:?} {:?} {} {} {told}", one.kind, one.text, one.invalid_at.is_some(), one.sources.len()));
    }
    state.sort();
    state
}

#[tokio::test]
async fn small_steps_come_to_the_same() {
    let mut states = Vec::new();
    for limit in [1, 3, 1_000] {
        let (memory, clock) = fresh().await;
        fill(&memory, &clock).await;
        let report = run(&memory, everything().limit(limit)).await;
        assert_eq!(
            (report.expired.len(), report.merged.len(), report.summarized.len(), report.observed.len()),
            (1, 3, 2, 1)
        );
        assert_eq!(run(&memory, everything().limit(limit)).await.changes(), 0);
        states.push(state(&memory).await);
    }
    assert_eq!(states[0], states[2]);
    assert_eq!(states[1], states[2]);
}

#[tokio::test]
async fn an_outage_anywhere_leaves_nothing_half_done() {
    let (whole, clock) = fresh().await;
    fill(&whole, &clock).await;
    run(&whole, everything()).await;
    let expected = state(&whole).await;
    for lost in [false, true] {
        for broken in (0..).step_by(3) {
            let clock = ManualClock::at(t0());
            let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
            let memory = engine(Arc::clone(&store), &clock).await;
            fill(&memory, &clock).await;
            if lost {
                store.lose_answer_after(broken)
            } else {
                store.fail_call_after(broken)
            }
            let first = memory.maintain(&alice(), &everything()).await;
            let was_reached = !store.is_failure_to_come();
            store.start();
            if was_reached {
                assert_eq!(first.unwrap_err().kind(), ErrorKind::StoreUnavailable);
            }
            run(&memory, everything()).await;
            assert_eq!(state(&memory).await, expected, "after {broken} calls, answer lost: {lost}");
            if !was_reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn bad_requests_are_refused() {
    let (memory, _) = fresh().await;
    for request in [
        Maintenance::new().forget_below(1.5),
        Maintenance::new().forget_below(f32::NAN),
        Maintenance::new().observe(1),
        Maintenance::new().observe(21),
        Maintenance::new().limit(0),
    ] {
        assert_eq!(memory.maintain(&alice(), &request).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    let error = memory.maintain(&Scope::user(" "), &Maintenance::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_runs_until_it_is_dropped() {
    let (memory, clock) = fresh().await;
    memory.add_raw(&alice(), ["Likes tea", "likes tea"]).await.unwrap();
    let (told, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let schedule = MaintenanceSchedule::new(Maintenance::new().limit(1), day())
        .scopes(|| vec![Scope::user(" "), alice()])
        .on_report(move |_, report| {
            let _ = told.send(report.as_ref().map(MaintenanceReport::changes).map_err(|error| error.kind()));
        })
        .start(&memory)
        .unwrap();
    // A scope that fails does not hold up the next, and a round goes to its end, however small the steps.
    let mut changes = 0;
    assert_eq!(reports.recv().await.unwrap(), Err(ErrorKind::InvalidArgument));
    while changes == 0 {
        changes += reports.recv().await.unwrap().unwrap();
    }
    assert_eq!(current(&memory).await.len(), 1);
    clock.advance(day());
    while reports.recv().await.unwrap().is_ok() {}
    schedule.stop().await;
    while reports.recv().await.is_some() {}
    assert!(MaintenanceSchedule::new(Maintenance::new(), Duration::ZERO).start(&memory).is_err());
    // The engine goes when its owner lets it go.
    let held = Arc::new(FaultyStore::new(InMemoryStore::new()));
    let short = engine(Arc::clone(&held), &clock).await;
    let _schedule = MaintenanceSchedule::new(Maintenance::new(), day()).start(&short).unwrap();
    drop(short);
    tokio::time::sleep(days(3)).await;
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_begins_when_it_is_told_to() {
    let (memory, _) = fresh().await;
    let begins = |wait: Duration| {
        let (told, mut reports) = tokio::sync::mpsc::unbounded_channel();
        let schedule = MaintenanceSchedule::new(Maintenance::new(), day())
            .first_after(wait)
            .scopes(|| vec![alice()])
            .on_report(move |_, _| {
                let _ = told.send(tokio::time::Instant::now());
            })
            .start(&memory)
            .unwrap();
        async move {
            let begun = tokio::time::Instant::now();
            let [first, second] = [reports.recv().await.unwrap(), reports.recv().await.unwrap()];
            schedule.stop().await;
            (first.duration_since(begun).as_secs(), second.duration_since(first).as_secs())
        }
    };
    assert_eq!(begins(Duration::ZERO).await, (0, 86_400));
    assert_eq!(begins(Duration::from_secs(600)).await, (600, 86_400));
}

#[tokio::test]
async fn what_is_not_one_is_not_merged() {
    let (memory, _) = fresh().await;
    let of = |speaker: &str| NewMemory::new("I am allergic to nuts").speaker(speaker);
    let ran = |year: &str| {
        NewMemory::new("Ran the Berlin marathon").valid_from(crate::worlds::time(&format!("{year}-09-25T08:00:00Z")))
    };
    memory.add_raw(&alice(), [of("Ann"), of("Bob"), ran("2020"), ran("2023")]).await.unwrap();
    for session in ["one", "two"] {
        memory.add_raw(&alice().with_session(session), ["Keeps bees"]).await.unwrap();
    }
    assert_eq!(run(&memory, Maintenance::new()).await.changes(), 0);
    // What one session told is not lost with another.
    memory.delete_all(&alice().with_session("one")).await.unwrap();
    assert!(current(&memory).await.contains(&"Keeps bees".to_owned()));
}

#[tokio::test]
async fn what_the_application_observed_or_ended_is_left_alone() {
    let (memory, clock) = fresh().await;
    let own = NewMemory::new("Likes green tea from China").kind(MemoryKind::Observation);
    let own = memory.add_raw(&alice(), [own]).await.unwrap().remove(0);
    memory.add_raw(&alice(), ["Likes green tea from Japan", "Buys green tea from Japan"]).await.unwrap();
    let report = run(&memory, Maintenance::new().observe(2)).await;
    assert_eq!(report.observed.len(), 1);
    assert_eq!(memory.get(&alice(), own.id).await.unwrap(), own);
    // An agent's session of the same name, and older, is another; and a summary that was ended is not made again.
    let session = alice().with_session("s");
    talk(&memory, &session.clone().with_agent("x"), "beekeeping").await;
    talk(&memory, &session, "rowing").await;
    clock.advance(days(400));
    let request = || Maintenance::new().summarize_sessions(day());
    assert_eq!(run(&memory, request()).await.summarized.len(), 2);
    let summary = of_kind(&memory, MemoryKind::Summary).await.into_iter().find(|one| one.scope == session).unwrap();
    memory.update(&alice(), summary.id, MemoryUpdate::new().valid_until(Some(clock_now(&clock)))).await.unwrap();
    let report = run(&memory, request()).await;
    assert_eq!((report.summarized.len(), report.busy.len()), (0, 0));
}

fn clock_now(clock: &ManualClock) -> ingrain::Timestamp {
    ingrain::Clock::now(clock)
}

#[tokio::test]
async fn a_long_session_is_made_anew_whole_whatever_the_limit() {
    let (memory, clock) = fresh().await;
    let session = alice().with_session("long");
    let turns = (0..150).map(|number| NewMemory::new(format!("Counted {number} boats")).kind(MemoryKind::Episode));
    let turns = memory.add_raw(&session, turns).await.unwrap();
    clock.advance(days(2));
    let upkeep = Maintenance::new().summarize_sessions(day());
    while run(&memory, upkeep.clone().limit(10)).await.changes() > 0 {}
    let covered = async || of_kind(&memory, MemoryKind::Summary).await.remove(0).sources.len();
    assert_eq!(covered().await, 150);
    memory.delete(&session, turns[7].id).await.unwrap();
    // Without being asked for summaries, as a review.
    run(&memory, Maintenance::new().limit(10)).await;
    assert_eq!(covered().await, 149);
}
