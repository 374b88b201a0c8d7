//! What must hold whatever is stored: against a model so plain that it cannot be wrong.

use std::collections::BTreeSet;

use ingrain::{
    AddMode, AddRequest, Comparison, Filter, Hit, ListRequest, Memory, MemoryId, MemoryUpdate, Message, NewMemory,
    Scope, SearchMode, SearchRequest,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::worlds::World;

const MODES: [SearchMode; 3] = [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid];

/// Few names, so that scopes meet often; some that a careless store would take for one another.
fn scope() -> impl Strategy<Value = Scope> {
    let part = || prop::option::of(select(vec!["a", "A", "a ", "b"]));
    (part(), part(), part())
        .prop_filter("a scope names something", |(user, agent, session)| {
            [user, agent, session].iter().any(|part| part.is_some())
        })
        .prop_map(|(user, agent, session)| {
            let owned = |part: Option<&str>| part.map(str::to_owned);
            Scope::from_parts(owned(user), owned(agent), owned(session))
        })
}

fn text() -> impl Strategy<Value = String> {
    let words = vec!["tea", "river", "the", "walk", "Tea", "чай", "茶馆", "C++", "3.11", "don't", "👩‍🚀"];
    vec(select(words), 1..6).prop_map(|words| words.join(" "))
}

fn metadata() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        (0..4_i64).prop_map(Value::from),
        select(vec![
            json!(1.5),
            json!("1"),
            json!("food"),
            json!(true),
            json!(null),
            json!(["food", 2]),
            json!({"b": 1})
        ]),
    ];
    prop::collection::btree_map(select(vec!["a", "b", "a.b"]), value, 0..3).prop_map(|map| json!(map))
}

fn filter() -> impl Strategy<Value = Filter> {
    let field = select(vec!["a", "b", "a.b", "kind", "importance", "pinned", "user", "session"]);
    let values = [
        json!(0),
        json!(1),
        json!(1.5),
        json!("1"),
        json!("food"),
        json!(true),
        json!(null),
        json!("a"),
        json!("fact"),
    ];
    let comparison = select(vec![
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Lt,
        Comparison::Gte,
        Comparison::In,
        Comparison::NotIn,
        Comparison::Exists,
    ]);
    let condition =
        (field, comparison, select(values.to_vec()), any::<bool>()).prop_map(|(field, comparison, value, flag)| {
            let value = match comparison {
                Comparison::In | Comparison::NotIn => json!([value, 2]),
                Comparison::Exists => json!(flag),
                _ => value,
            };
            Filter::condition(field, comparison, value)
        });
    let valid = condition.prop_filter("a filter that is none is refused", |filter| filter.validate().is_ok());
    valid.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|filter| !filter),
            vec(inner.clone(), 0..3).prop_map(Filter::And),
            vec(inner, 0..3).prop_map(Filter::Or),
        ]
    })
}

#[derive(Debug, Clone)]
enum Step {
    Add(Scope, String, Value, f32),
    /// Acts on one of the memories there are, by number, in the scope: it may not cover it.
    Update(Scope, usize, String),
    Delete(Scope, usize),
    DeleteAll(Scope),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (scope(), text(), metadata(), 0.0..=1.0_f32).prop_map(|(scope, text, metadata, importance)| Step::Add(scope, text, metadata, importance)),
        2 => (scope(), any::<usize>(), text()).prop_map(|(scope, number, text)| Step::Update(scope, number, text)),
        2 => (scope(), any::<usize>()).prop_map(|(scope, number)| Step::Delete(scope, number)),
        1 => scope().prop_map(Step::DeleteAll),
    ]
}

/// What somebody says, or asks for: few words, so that turns are alike, with cues of every kind among them.
fn said() -> impl Strategy<Value = String> {
    let words =
        ["tea", "budget", "now", "30", "45", "when", "yesterday", "moved", "rain", "how many", "Ann", "in 2024"];
    (vec(select(words.to_vec()), 1..9), select(vec!["", "?", "."])).prop_map(|(words, end)| words.join(" ") + end)
}

fn turn() -> impl Strategy<Value = (&'static str, Message)> {
    let message = (said(), select(vec!["Ann", "Bo", "", "assistant"])).prop_map(|(text, speaker)| match speaker {
        "assistant" => Message::assistant(text),
        "" => Message::user(text),
        name => Message::user(text).from_speaker(name),
    });
    (select(vec!["1", "2"]), message)
}

/// Carries the steps out, in the world and in the model.
async fn carry_out(world: &World, steps: &[Step]) -> Vec<Memory> {
    let mut model: Vec<Memory> = Vec::new();
    for step in steps {
        match step {
            Step::Add(scope, text, metadata, importance) => {
                let new =
                    NewMemory::new(text).metadata(crate::worlds::object(metadata.clone())).importance(*importance);
                model.extend(world.engine.add_raw(scope, [new]).await.unwrap());
            }
            Step::Update(scope, number, text) => {
                let Some(place) = number.checked_rem(model.len()) else { continue };
                let result = world.engine.update(scope, model[place].id, MemoryUpdate::new().text(text)).await;
                assert_eq!(result.is_ok(), scope.covers(&model[place].scope));
                if let Ok(memory) = result {
                    assert_eq!(&memory.text, text);
                    model[place] = memory;
                }
            }
            Step::Delete(scope, number) => {
                let Some(place) = number.checked_rem(model.len()) else { continue };
                let result = world.engine.delete(scope, model[place].id).await;
                assert_eq!(result.is_ok(), scope.covers(&model[place].scope));
                if result.is_ok() {
                    model.remove(place);
                }
            }
            Step::DeleteAll(scope) => {
                let before = model.len();
                model.retain(|memory| !scope.covers(&memory.scope));
                assert_eq!(world.engine.delete_all(scope).await.unwrap(), (before - model.len()) as u64);
            }
        }
    }
    crate::worlds::sound(&world.engine).await;
    model
}

async fn searched(world: &World, scope: &Scope, request: SearchRequest) -> Vec<Hit> {
    world.engine.search(scope, request.limit(10_000)).await.unwrap()
}

fn ids(hits: &[Hit]) -> BTreeSet<MemoryId> {
    hits.iter().map(|hit| hit.memory.id).collect()
}

/// Runs the check on every store.
fn on_every_store(check: impl AsyncFn(World)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for world in World::all().await {
            check(world).await;
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_sees_what_a_plain_model_sees(steps in vec(step(), 0..30), readers in vec(scope(), 1..4)) {
        on_every_store(async |world| {
            let model = carry_out(&world, &steps).await;
            for reader in &readers {
                let expected: Vec<Memory> = model.iter().filter(|memory| reader.covers(&memory.scope)).cloned().collect();
                assert_eq!(world.everything(reader).await, expected, "{}", world.name);
                assert_eq!(world.engine.count(reader, None).await.unwrap(), expected.len() as u64);
                let hits = searched(&world, reader, SearchRequest::new("tea").mode(SearchMode::Vector)).await;
                assert_eq!(ids(&hits), expected.iter().map(|memory| memory.id).collect(), "{}", world.name);
                let hits = searched(&world, reader, SearchRequest::new("river").mode(SearchMode::Keyword)).await;
                let with_word = |memory: &&Memory| memory.text.split(' ').any(|word| word == "river");
                assert_eq!(ids(&hits), expected.iter().filter(with_word).map(|memory| memory.id).collect());
            }
        });
    }

    #[test]
    fn a_filter_admits_what_it_matches(
        steps in vec(step(), 1..20), reader in scope(), filters in vec(filter(), 1..6),
    ) {
        on_every_store(async |world| {
            let model = carry_out(&world, &steps).await;
            for filter in &filters {
                let admitted = |memory: &&Memory| reader.covers(&memory.scope) && filter.matches(memory);
                let expected: Vec<Memory> = model.iter().filter(admitted).cloned().collect();
                let request = ListRequest::new().limit(1_000).filter(filter.clone());
                let page = world.engine.list(&reader, request).await.unwrap();
                assert_eq!(page.items, expected, "{}, {filter:?}", world.name);
                assert_eq!(world.engine.count(&reader, Some(filter)).await.unwrap(), expected.len() as u64);
                for mode in MODES {
                    let hits = searched(&world, &reader, SearchRequest::new("tea").mode(mode).filter(filter.clone())).await;
                    assert!(hits.iter().all(|hit| expected.contains(&hit.memory)), "{}, {mode:?}", world.name);
                    assert!(mode == SearchMode::Keyword || hits.len() == expected.len());
                }
            }
        });
    }

    #[test]
    fn a_ranking_is_total_and_the_same_again(steps in vec(step(), 1..30), reader in scope(), query in text()) {
        on_every_store(async |world| {
            carry_out(&world, &steps).await;
            for mode in MODES {
                let ask = || SearchRequest::new(&*query).mode(mode);
                let hits = searched(&world, &reader, ask()).await;
                assert_eq!(searched(&world, &reader, ask()).await, hits, "{}, {mode:?}", world.name);
                assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
                assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
                assert_eq!(ids(&hits).len(), hits.len(), "each memory once");
                for limit in 0..hits.len().min(4) {
                    let few = world.engine.search(&reader, ask().limit(limit)).await.unwrap();
                    assert_eq!(few, hits[..limit], "{}: a lower limit cuts the list and changes nothing", world.name);
                }
                if let Some(hit) = hits.get(hits.len() / 2) {
                    let above = searched(&world, &reader, ask().threshold(hit.score)).await;
                    let expected: Vec<Hit> = hits.iter().filter(|other| other.score >= hit.score).cloned().collect();
                    assert_eq!(above, expected, "{}: a threshold cuts the list and changes nothing", world.name);
                }
            }
        });
    }

    #[test]
    fn every_store_ranks_a_talk_alike(turns in vec(turn(), 1..25), query in said(), limit in 1..14_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut first: Option<Vec<(String, f32)>> = None;
            for world in World::all().await {
                let reader = Scope::user("ann");
                for (hour, (session, message)) in turns.iter().enumerate() {
                    let at = crate::worlds::t0() - chrono::TimeDelta::hours(1_000 - hour as i64);
                    let request = AddRequest::new([message.clone().at(at)]).mode(AddMode::Raw);
                    world.engine.add(&reader.clone().with_session(*session), request).await.unwrap();
                }
                let hits = searched(&world, &reader, SearchRequest::new(&*query)).await;
                for hit in &hits {
                    let again = Hit::new(hit.memory.clone(), hit.parts.clone());
                    assert!((again.score - hit.score).abs() < 1e-6, "{}: the parts give the score", hit.explain());
                    assert!((0.0..=1.0).contains(&hit.score));
                }
                let few = world.engine.search(&reader, SearchRequest::new(&*query).limit(limit)).await.unwrap();
                assert_eq!(few, hits[..limit.min(hits.len())], "{}", world.name);
                let middle = hits[hits.len() / 2].score;
                let above = searched(&world, &reader, SearchRequest::new(&*query).threshold(middle)).await;
                assert_eq!(above, hits.iter().filter(|hit| hit.score >= middle).cloned().collect::<Vec<_>>());
                let ranking: Vec<(String, f32)> = hits.into_iter().map(|hit| (hit.memory.text, hit.score)).collect();
                assert_eq!(&ranking, first.get_or_insert_with(|| ranking.clone()), "{}", world.name);
            }
        });
    }

    #[test]
    fn strangers_change_no_result(
        mine in vec((text(), metadata()), 1..10), theirs in vec(step(), 1..20), query in text(),
    ) {
        on_every_store(async |world| {
            let reader = Scope::user("quiet").with_session("1");
            for (text, metadata) in &mine {
                let new = NewMemory::new(text).metadata(crate::worlds::object(metadata.clone()));
                world.engine.add_raw(&reader, [new]).await.unwrap();
            }
            let mut before = Vec::new();
            for mode in MODES {
                before.push(searched(&world, &reader, SearchRequest::new(&*query).mode(mode)).await);
            }
            carry_out(&world, &theirs).await;
            world.engine.add_raw(&Scope::user("quiet").with_session("2"), [&*query; 3]).await.unwrap();
            for (mode, before) in MODES.into_iter().zip(before) {
                let after = searched(&world, &reader, SearchRequest::new(&*query).mode(mode)).await;
                assert_eq!(after, before, "{}, {mode:?}", world.name);
            }
        });
    }

    #[test]
    fn pages_meet_every_memory_once(steps in vec(step(), 0..30), reader in scope(), limit in 1..7_usize, newest in any::<bool>()) {
        on_every_store(async |world| {
            let model = carry_out(&world, &steps).await;
            let mut expected: Vec<MemoryId> =
                model.iter().filter(|memory| reader.covers(&memory.scope)).map(|memory| memory.id).collect();
            if newest {
                expected.reverse();
            }
            let mut walked = Vec::new();
            let mut request = ListRequest::new().limit(limit);
            if newest {
                request = request.newest_first();
            }
            loop {
                let page = world.engine.list(&reader, request.clone()).await.unwrap();
                assert_eq!(page.total, expected.len() as u64, "{}", world.name);
                walked.extend(page.items.iter().map(|memory| memory.id));
                let Some(next) = page.next else { break };
                request = request.after(next);
            }
            assert_eq!(walked, expected, "{}", world.name);
        });
    }
}
