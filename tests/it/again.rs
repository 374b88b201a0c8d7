//! Maintenance that comes again: at once, after what had faded came back, after the user ended what it had written, and
//! with a clock that was put right.

use chrono::TimeDelta;
use ingrain::{
    Filter, HashingEmbedder, InMemoryStore, ListRequest, Maintenance, ManualClock, Memory, MemoryEngine, MemoryId,
    MemoryKind, MemoryUpdate, NewMemory, Purge, Scope, testing::ScriptedLlm,
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    maintain::{alice, all, current, day, days, engine, of_kind, run, talk},
    worlds::{sound, t0},
};

async fn fresh() -> (MemoryEngine, ManualClock) {
    let clock = ManualClock::at(t0());
    (engine(InMemoryStore::new(), &clock).await, clock)
}

fn monday() -> Scope {
    alice().with_session("monday")
}

async fn turns(memory: &MemoryEngine, session: &Scope) -> Vec<Memory> {
    memory.list(session, ListRequest::new().filter(Filter::eq("kind", "episode")).limit(1_000)).await.unwrap().items
}

/// Everything that is told of the scope, with every history.
async fn dump(memory: &MemoryEngine) -> Vec<String> {
    let mut dump = Vec::new();
    for one in all(memory).await {
        let history = memory.history(&alice(), one.id).await.unwrap();
        dump.push(format!("{one:?} {history:?}"));
    }
    dump
}

/// Runs, and then once more.
async fn settles(memory: &MemoryEngine, request: &Maintenance) {
    run(memory, request.clone()).await;
    settled(memory, request).await;
}

/// After a run another does nothing, by its report and by what is there.
async fn settled(memory: &MemoryEngine, request: &Maintenance) {
    let before = dump(memory).await;
    let again = run(memory, request.clone()).await;
    assert_eq!(again.changes(), 0, "{again:#?}\n{before:#?}");
    assert_eq!(dump(memory).await, before);
    let planned = run(memory, request.clone().dry_run()).await;
    assert_eq!(planned.changes(), 0, "{planned:#?}");
}

async fn exported(memory: &MemoryEngine) -> Vec<String> {
    let mut export = memory.export(&alice());
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        lines.push(line);
    }
    lines
}

async fn import(memory: &MemoryEngine, lines: &[String]) {
    let mut import = memory.import(&alice());
    for line in lines {
        import.line(line).await.unwrap();
    }
    import.finish().await.unwrap();
}

fn keeping() -> Maintenance {
    Maintenance::new().summarize_sessions(day()).forget_below(0.06)
}

/// A session of three turns, the first pinned; all summed up, the two others faded and come back from an export.
async fn came_back(erase: bool) -> (MemoryEngine, Vec<Memory>, MemoryId) {
    let (memory, clock) = fresh().await;
    talk(&memory, &monday(), "beekeeping").await;
    let told = turns(&memory, &monday()).await;
    memory.update(&alice(), told[0].id, MemoryUpdate::new().pinned(true)).await.unwrap();
    clock.advance(days(60));
    run(&memory, keeping()).await;
    let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0).id;
    let lines = exported(&memory).await;
    clock.advance(days(60));
    assert_eq!(run(&memory, keeping().erase_history(erase)).await.forgotten.len(), 2);
    import(&memory, &lines).await;
    assert_eq!(turns(&memory, &monday()).await.len(), 3);
    (memory, told, summary)
}

#[tokio::test]
async fn a_turn_that_came_back_and_faded_again_is_counted_once() {
    for erase in [false, true] {
        let (memory, told, summary) = came_back(erase).await;
        assert_eq!(run(&memory, keeping().erase_history(erase)).await.forgotten.len(), 2);
        settled(&memory, &keeping()).await;
        assert_eq!(memory.get(&alice(), summary).await.unwrap().sources.len(), 3);
        memory.delete(&monday(), told[0].id).await.unwrap();
        assert_eq!(run(&memory, keeping()).await.withdrawn, [summary], "it told of a turn that was deleted");
    }
}

#[tokio::test]
async fn a_turn_that_came_back_and_was_deleted_goes_out_of_the_summary() {
    for erase in [false, true] {
        // At once, and after maintenance has seen it.
        for looked_at in [false, true] {
            let (memory, told, summary) = came_back(erase).await;
            if looked_at {
                settles(&memory, &Maintenance::new()).await;
            }
            memory.delete(&monday(), told[2].id).await.unwrap();
            assert_eq!(run(&memory, Maintenance::new()).await.renewed, [summary]);
            let text = memory.get(&alice(), summary).await.unwrap().text;
            assert!(text.contains("bee") && !text.contains("Next month"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_turn_that_came_back_and_was_changed_is_told_anew() {
    let (memory, told, summary) = came_back(false).await;
    memory.update(&alice(), told[2].id, MemoryUpdate::new().text("The bees are sold.")).await.unwrap();
    assert_eq!(run(&memory, Maintenance::new()).await.renewed, [summary]);
    let text = memory.get(&alice(), summary).await.unwrap().text;
    assert!(text.contains("sold") && !text.contains("Next month"), "{text}");
}

#[tokio::test]
async fn a_turn_that_was_changed_before_it_faded_is_told_as_it_was_last() {
    let (memory, clock) = fresh().await;
    talk(&memory, &monday(), "beekeeping").await;
    clock.advance(days(2));
    run(&memory, keeping()).await;
    let last = turns(&memory, &monday()).await.pop().unwrap();
    memory.update(&alice(), last.id, MemoryUpdate::new().text("The bees are sold.")).await.unwrap();
    clock.advance(days(150));
    let report = run(&memory, keeping()).await;
    assert_eq!((report.renewed.len(), report.forgotten.len()), (1, 3));
    let text = of_kind(&memory, MemoryKind::Summary).await.remove(0).text;
    assert!(text.contains("sold") && !text.contains("Next month"), "{text}");
    settled(&memory, &keeping()).await;
}

#[tokio::test]
async fn a_summary_that_is_freed_goes_in_the_same_run() {
    for limit in [1, 5, 1_000] {
        let (memory, clock) = fresh().await;
        let names = ["a", "b", "c", "d"];
        for name in names {
            talk(&memory, &alice().with_session(name), "beekeeping").await;
        }
        clock.advance(days(2));
        assert_eq!(run(&memory, keeping()).await.summarized.len(), names.len());
        // Upkeep rested for long: turns and summaries have all faded.
        clock.advance(days(900));
        let report = run(&memory, keeping().limit(limit)).await;
        assert_eq!(report.forgotten.len(), names.len() * 4);
        assert_eq!(all(&memory).await, []);
        settled(&memory, &keeping()).await;
    }
}

#[tokio::test]
async fn a_turn_that_faded_is_purged_with_the_summary_that_tells_of_it() {
    let (memory, clock) = fresh().await;
    talk(&memory, &monday(), "beekeeping").await;
    let told = turns(&memory, &monday()).await;
    clock.advance(days(2));
    run(&memory, keeping()).await;
    clock.advance(days(150));
    assert_eq!(run(&memory, keeping()).await.forgotten.len(), 3);
    memory.purge(&alice(), Purge::memories([told[2].id])).await.unwrap();
    assert_eq!(all(&memory).await, []);
}

#[tokio::test]
async fn a_summary_that_is_written_late_outlives_its_turns_for_all_that() {
    let (memory, clock) = fresh().await;
    talk(&memory, &monday(), "beekeeping").await;
    clock.advance(days(900));
    let report = run(&memory, keeping()).await;
    assert_eq!((report.summarized.len(), report.forgotten.len()), (1, 3));
    settled(&memory, &keeping()).await;
    let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0);
    clock.advance(days(300));
    assert_eq!(run(&memory, keeping()).await.forgotten, [summary.id]);
}

#[tokio::test]
async fn a_long_session_is_summed_up_in_one_run_whatever_the_limit() {
    for limit in [1, 7, 100, 1_000] {
        let (memory, clock) = fresh().await;
        let said = (0..130).map(|number| NewMemory::new(format!("Counted {number} boats")).kind(MemoryKind::Episode));
        memory.add_raw(&monday(), said).await.unwrap();
        talk(&memory, &alice().with_session("tuesday"), "beekeeping").await;
        clock.advance(days(2));
        run(&memory, keeping().limit(limit)).await;
        assert_eq!(of_kind(&memory, MemoryKind::Summary).await.iter().map(|one| one.sources.len()).sum::<usize>(), 133);
        settled(&memory, &keeping()).await;
    }
}

const HIKING: [&str; 3] =
    ["Likes hiking in the mountains", "Likes hiking in the Alps mountains", "Goes hiking in the mountains on Sundays"];

async fn observed(memory: &MemoryEngine) -> (Vec<MemoryId>, Memory) {
    let facts = memory.add_raw(&alice(), HIKING).await.unwrap().iter().map(|one| one.id).collect();
    run(memory, Maintenance::new().observe(3)).await;
    (facts, of_kind(memory, MemoryKind::Observation).await.remove(0))
}

#[tokio::test]
async fn an_observation_whose_facts_have_ended_goes_in_the_same_run() {
    let (memory, clock) = fresh().await;
    let (facts, observation) = observed(&memory).await;
    clock.advance(days(20 * 365));
    for fact in &facts[1..] {
        memory.update(&alice(), *fact, MemoryUpdate::new().valid_until(Some(t0() + TimeDelta::days(1)))).await.unwrap();
    }
    let report = run(&memory, keeping().observe(3).forget_below(0.1)).await;
    assert_eq!((report.withdrawn, report.forgotten.len()), (vec![observation.id], 2));
    settled(&memory, &keeping().observe(3).forget_below(0.1)).await;
    assert_eq!(current(&memory).await, [HIKING[0]]);
}

#[tokio::test]
async fn facts_of_one_session_are_observed_once_though_it_is_kept_up_alone() {
    let (memory, _) = fresh().await;
    memory.add_raw(&monday(), HIKING).await.unwrap();
    for _ in 0..2 {
        memory.maintain(&monday(), &Maintenance::new().observe(3)).await.unwrap();
        let observations = of_kind(&memory, MemoryKind::Observation).await;
        assert_eq!((observations.len(), observations[0].sources.len()), (1, 3));
    }
}

/// The ways in which whoever uses an application ends an observation.
async fn end(memory: &MemoryEngine, clock: &ManualClock, id: MemoryId, way: &str) {
    let now = ingrain::Clock::now(clock);
    match way {
        "deleted" => memory.delete(&alice(), id).await.unwrap(),
        "ended" => drop(memory.update(&alice(), id, MemoryUpdate::new().valid_until(Some(now))).await.unwrap()),
        "expired" => {
            let soon = MemoryUpdate::new().expires_at(Some(now + TimeDelta::hours(1)));
            memory.update(&alice(), id, soon).await.unwrap();
            clock.advance(day());
            assert_eq!(run(memory, Maintenance::new()).await.expired, [id]);
        }
        other => panic!("no such way: {other}"),
    }
}

#[tokio::test]
async fn an_observation_that_was_ended_is_not_written_again() {
    for way in ["deleted", "ended", "expired"] {
        let (memory, clock) = fresh().await;
        let (facts, observation) = observed(&memory).await;
        clock.advance(day());
        end(&memory, &clock, observation.id, way).await;
        let request = Maintenance::new().observe(2).forget_below(0.1);
        settles(&memory, &request).await;
        assert_eq!(of_kind(&memory, MemoryKind::Observation).await, [], "{way}");
        // Nor of a part of what it told, nor when it has faded, nor for one fact more.
        memory.delete(&alice(), facts[0]).await.unwrap();
        clock.advance(days(20 * 365));
        memory.add_raw(&alice(), ["Bought boots for hiking in the mountains"]).await.unwrap();
        settles(&memory, &request).await;
        assert_eq!(of_kind(&memory, MemoryKind::Observation).await, [], "{way}");
        // New facts enough make a new one, of themselves.
        memory.add_raw(&alice(), ["Sold boots for hiking in the mountains"]).await.unwrap();
        settles(&memory, &request).await;
        let new = of_kind(&memory, MemoryKind::Observation).await.remove(0);
        assert_eq!(new.metadata["proof_count"], 2, "{way}");
        assert!(
            new.text.contains("Bought") && new.text.contains("Sold") && !new.text.contains("Likes"),
            "{}",
            new.text
        );
    }
}

#[tokio::test]
async fn a_summary_that_was_ended_is_not_written_again() {
    for way in ["deleted", "ended"] {
        let (memory, clock) = fresh().await;
        talk(&memory, &monday(), "beekeeping").await;
        let told = turns(&memory, &monday()).await;
        memory.update(&alice(), told[2].id, MemoryUpdate::new().pinned(true)).await.unwrap();
        clock.advance(days(2));
        run(&memory, keeping()).await;
        let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0);
        end(&memory, &clock, summary.id, way).await;
        settles(&memory, &keeping()).await;
        assert_eq!(of_kind(&memory, MemoryKind::Summary).await, [], "{way}");
        // Nor is one of what is said later, if it was ended as that of the session; and not when all it told has faded.
        let later = NewMemory::new("Still here").kind(MemoryKind::Episode).pinned(true);
        let later = memory.add_raw(&monday(), [later]).await.unwrap().remove(0);
        if way == "deleted" {
            memory.delete(&alice(), later.id).await.unwrap();
        }
        // Its turns fade for all that, and then it does not come either.
        clock.advance(days(900));
        assert_eq!(run(&memory, keeping()).await.forgotten.iter().filter(|id| **id != summary.id).count(), 2, "{way}");
        settles(&memory, &keeping()).await;
        assert_eq!(of_kind(&memory, MemoryKind::Summary).await, [], "{way}");
    }
}

#[tokio::test]
async fn a_summary_that_was_ended_goes_with_the_last_turn_it_stayed_for() {
    for limit in [1, 1_000] {
        let (memory, clock) = fresh().await;
        talk(&memory, &monday(), "beekeeping").await;
        clock.advance(days(2));
        run(&memory, keeping()).await;
        clock.advance(days(150));
        assert_eq!(run(&memory, keeping()).await.forgotten.len(), 3, "all it told");
        let summary = of_kind(&memory, MemoryKind::Summary).await.remove(0);
        end(&memory, &clock, summary.id, "ended").await;
        memory.add_raw(&monday(), [NewMemory::new("Still here").kind(MemoryKind::Episode)]).await.unwrap();
        settles(&memory, &keeping().limit(limit)).await;
        clock.advance(days(900));
        assert_eq!(run(&memory, keeping().limit(limit)).await.forgotten.len(), 2);
        settled(&memory, &keeping()).await;
        assert_eq!(all(&memory).await, []);
    }
}

#[tokio::test]
async fn an_observation_that_was_purged_leaves_no_trace_and_may_come_again() {
    let (memory, _) = fresh().await;
    let (facts, observation) = observed(&memory).await;
    memory.purge(&alice(), Purge::memories([observation.id])).await.unwrap();
    for fact in facts {
        assert_eq!(memory.history(&alice(), fact).await.unwrap().len(), 1, "nothing tells of it");
    }
    assert_eq!(run(&memory, Maintenance::new().observe(3)).await.observed.len(), 1);
}

fn years(count: i64) -> TimeDelta {
    TimeDelta::days(365 * count)
}

#[tokio::test]
async fn what_was_written_by_a_clock_ahead_is_made_anew_once() {
    for model in [false, true] {
        let clock = ManualClock::at(t0());
        let mut builder = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).clock(clock.clone());
        let mut llm = ScriptedLlm::new();
        if model {
            for number in 0..20 {
                llm = llm.reply(serde_json::json!({ "summary": format!("Told for time {number}.") }).to_string());
            }
            builder = builder.llm(llm.clone());
        }
        let memory = builder.build().await.unwrap();
        let said = ["I keep bees on the roof.", "They are forty thousand.", "The honey is dark."];
        let said = said.map(|text| NewMemory::new(text).kind(MemoryKind::Episode));
        let told = memory.add_raw(&monday(), said).await.unwrap();
        let facts = memory.add_raw(&alice(), HIKING).await.unwrap();
        clock.advance(days(2));
        let request = Maintenance::new().summarize_sessions(day()).observe(3);
        settles(&memory, &request).await;
        let right = ingrain::Clock::now(&clock);
        clock.set(right + years(9));
        memory.update(&alice(), told[1].id, MemoryUpdate::new().text("They are fifty thousand.")).await.unwrap();
        let fact = MemoryUpdate::new().text("Likes hiking in the Andes mountains");
        memory.update(&alice(), facts[1].id, fact).await.unwrap();
        clock.set(right);
        settles(&memory, &request).await;
        // And what was changed by the right clock is told, though what tells it was written later by the wrong one.
        clock.set(right + years(9));
        memory.update(&alice(), told[1].id, MemoryUpdate::new().text("They are sixty thousand.")).await.unwrap();
        let fact = MemoryUpdate::new().text("Likes hiking in the Rocky mountains");
        memory.update(&alice(), facts[1].id, fact).await.unwrap();
        settles(&memory, &request).await;
        clock.set(right + TimeDelta::days(1));
        memory.update(&alice(), told[2].id, MemoryUpdate::new().text("The honey is pale.")).await.unwrap();
        let fact = MemoryUpdate::new().text("Goes hiking in the mountains on Fridays");
        memory.update(&alice(), facts[2].id, fact).await.unwrap();
        assert_eq!(run(&memory, request.clone()).await.renewed.len(), 2);
        settles(&memory, &request).await;
        if model {
            assert_eq!(llm.requests().len(), 8, "two at first, and two for each change");
        } else {
            let text = of_kind(&memory, MemoryKind::Observation).await.remove(0).text;
            assert!(text.contains("Rocky") && text.contains("Fridays") && !text.contains("Sundays"), "{text}");
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Turn(&'static str, String),
    Fact(String, f32),
    /// The next act on one of the memories there are, by number.
    Change(usize, String),
    Pin(usize, bool),
    End(usize),
    Expire(usize),
    Touch(usize),
    Delete(usize),
    Purge(usize),
    /// So many days on, or back.
    Jump(i64),
    /// What there is now is what a later import brings back.
    Export,
    Import,
    Maintain(Maintenance),
}

fn text() -> impl Strategy<Value = String> {
    let words = vec!["hiking", "mountains", "Alps", "boats", "Likes", "in", "the", "not", "3", "tea", "red"];
    vec(select(words), 1..7).prop_map(|words| words.join(" "))
}

fn request() -> impl Strategy<Value = Maintenance> {
    let (quiet, observe) = (prop::option::of(0_u64..4), prop::option::of(2_usize..4));
    let forget = prop::option::of(select(vec![0.06_f32, 0.2, 1.0]));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.8), prop::bool::weighted(0.8));
    (quiet, observe, forget, flags, select(vec![1, 3, 1_000])).prop_map(|(quiet, observe, forget, flags, limit)| {
        let (what_holds, erase, merge, review, expire) = flags;
        let request = Maintenance::new().limit(limit).merge(merge).review(review).expire(expire);
        let request = request.forget_what_holds(what_holds).erase_history(erase);
        let request = quiet.into_iter().fold(request, |request, count| request.summarize_sessions(days(count)));
        let request = observe.into_iter().fold(request, Maintenance::observe);
        forget.into_iter().fold(request, Maintenance::forget_below)
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (select(vec!["a", "b"]), text()).prop_map(|(session, text)| Step::Turn(session, text)),
        6 => (text(), select(vec![0.1_f32, 0.5, 1.0])).prop_map(|(text, importance)| Step::Fact(text, importance)),
        1 => (any::<usize>(), text()).prop_map(|(number, text)| Step::Change(number, text)),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(number, pinned)| Step::Pin(number, pinned)),
        1 => any::<usize>().prop_map(Step::End),
        1 => any::<usize>().prop_map(Step::Expire),
        1 => any::<usize>().prop_map(Step::Touch),
        1 => any::<usize>().prop_map(Step::Delete),
        1 => any::<usize>().prop_map(Step::Purge),
        4 => select(vec![1, 2, 60, 400, 4_000, -1, -2, -60, -400, -4_000]).prop_map(Step::Jump),
        1 => Just(Step::Export),
        1 => Just(Step::Import),
        3 => request().prop_map(Step::Maintain),
    ]
}

async fn carry_out(memory: &MemoryEngine, clock: &ManualClock, exported_lines: &mut Vec<String>, step: &Step) {
    let now = ingrain::Clock::now(clock);
    let there = all(memory).await;
    let chosen = |number: &usize| number.checked_rem(there.len()).map(|place| there[place].id);
    let update = async |number: &usize, update: MemoryUpdate| {
        if let Some(id) = chosen(number) {
            // What ends before it begins is refused.
            let _ = memory.update(&alice(), id, update).await;
        }
    };
    match step {
        Step::Turn(session, text) => {
            let turn = NewMemory::new(text).kind(MemoryKind::Episode);
            memory.add_raw(&alice().with_session(*session), [turn]).await.map(drop).unwrap();
        }
        Step::Fact(text, importance) => {
            memory.add_raw(&alice(), [NewMemory::new(text).importance(*importance)]).await.map(drop).unwrap();
        }
        Step::Change(number, text) => update(number, MemoryUpdate::new().text(text)).await,
        Step::Pin(number, pinned) => update(number, MemoryUpdate::new().pinned(*pinned)).await,
        Step::End(number) => update(number, MemoryUpdate::new().valid_until(Some(now))).await,
        Step::Expire(number) => update(number, MemoryUpdate::new().expires_at(Some(now + TimeDelta::days(1)))).await,
        Step::Touch(number) => memory.touch(&alice(), chosen(number).as_slice()).await.unwrap(),
        Step::Delete(number) => {
            if let Some(id) = chosen(number) {
                memory.delete(&alice(), id).await.unwrap();
            }
        }
        Step::Purge(number) => drop(memory.purge(&alice(), Purge::memories(chosen(number))).await.unwrap()),
        Step::Jump(count) => clock.set(now + TimeDelta::days(*count)),
        Step::Export => *exported_lines = exported(memory).await,
        Step::Import => {
            if !exported_lines.is_empty() {
                import(memory, exported_lines).await;
            }
        }
        Step::Maintain(request) => drop(run(memory, request.clone()).await),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_leaves_nothing_to_the_next(steps in vec(step(), 1..40), last in request()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (memory, clock) = fresh().await;
            let mut lines = Vec::new();
            for step in &steps {
                carry_out(&memory, &clock, &mut lines, step).await;
            }
            settles(&memory, &last).await;
            sound(&memory).await;
        });
    }
}
