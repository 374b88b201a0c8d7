//! What becomes of what is known when something new is said: a table of cases, through the rules and through scripted
//! plans, sound ones and harmful ones; and a long run of changes.

mod conflicts;

use std::collections::{BTreeMap, BTreeSet};

use ingrain::{
    AddMode, AddReport, AddRequest, ChatResponse, LlmCapabilities, MemoryEngine, Message, Scope, ToolCall,
    testing::ScriptedLlm,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::worlds::{World, t0, texts};

#[derive(Deserialize)]
struct Table {
    rules: Vec<Said>,
    plans: Vec<Planned>,
}

/// Messages, a day apart, and what the rules make of them.
#[derive(Deserialize)]
struct Said {
    name: String,
    said: Vec<String>,
    current: Vec<String>,
    past: Vec<String>,
}

/// Facts that a model reads, and a plan that it makes. Memories are named by their place in `known`.
#[derive(Deserialize)]
struct Planned {
    name: String,
    known: Vec<String>,
    facts: Vec<String>,
    plan: Vec<Value>,
    current: Vec<String>,
    past: Vec<String>,
    /// How many steps are rejected.
    rejected: usize,
    /// Memories that no plan may touch.
    unrelated: Vec<String>,
}

fn table() -> Table {
    serde_json::from_str(include_str!("../data/reconcile.json")).unwrap()
}

fn sorted<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().map(Into::into).collect();
    texts.sort();
    texts
}

/// What holds, and what held.
async fn known(world: &World, scope: &Scope) -> (Vec<String>, Vec<String>) {
    let current = world.list(scope).await;
    let everything = world.everything(scope).await;
    let past = everything.iter().filter(|memory| memory.kind.is_semantic() && !current.contains(memory));
    (sorted(texts(&current)), sorted(past.map(|memory| memory.text.as_str())))
}

#[test]
fn the_table_is_large_and_its_names_are_unique() {
    let table = table();
    let names = table.rules.iter().map(|case| &case.name).chain(table.plans.iter().map(|case| &case.name));
    let unique: BTreeSet<&String> = names.clone().collect();
    assert!(unique.len() >= 60 && unique.len() == names.count(), "{}", unique.len());
}

#[tokio::test]
async fn the_rules_keep_what_is_known_current() {
    for world in World::all().await {
        let mut wrong = Vec::new();
        for case in table().rules {
            let scope = Scope::user(&case.name);
            for (day, text) in (0..).zip(&case.said) {
                let at = t0() + chrono::Duration::days(day);
                world.clock.set(at);
                world.engine.add(&scope, Message::user(text).at(at)).await.unwrap();
            }
            let found = known(&world, &scope).await;
            if found != (sorted(case.current), sorted(case.past)) {
                wrong.push(format!("{}: {found:?}", case.name));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", world.name, wrong.join("\n"));
    }
}

async fn asking(world: &World, llm: ScriptedLlm) -> MemoryEngine {
    let parts = MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
    parts.clock(world.clock.clone()).llm(llm).build().await.unwrap()
}

/// Stores what is known in a scope of its own, and carries a plan out on it. Without similarity between the texts but
/// that of their letters, memories are shown in an order that is seen in a run without effect.
async fn carry_out(world: &World, scope: &Scope, case: &Planned, plan: &[Value], way: Way) -> AddReport {
    world.engine.add_raw(scope, &case.known).await.unwrap();
    world.clock.advance(std::time::Duration::from_secs(1));
    let facts = json!({ "facts": case.facts }).to_string();
    let script = |plan: &[Value]| ScriptedLlm::new().reply(&facts).reply(json!({ "actions": plan }).to_string());
    let looking = script(&[]);
    asking(world, looking.clone()).await.add(scope, AddRequest::from("Hello").dry_run(true)).await.unwrap();
    let shown = looking.requests().pop().unwrap().messages.pop().unwrap().text;
    let lines = shown.lines().filter(|line| line.starts_with("{\"memory\":"));
    let handles: BTreeMap<String, u64> = lines
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["text"].as_str().unwrap().to_owned(), line["memory"].as_u64().unwrap())
        })
        .collect();
    let handle = |place: u64| case.known.get(usize::try_from(place).unwrap()).map_or(place, |text| handles[text]);
    let mut plan = plan.to_vec();
    for step in &mut plan {
        match step.get_mut("memory") {
            Some(Value::Number(place)) => step["memory"] = json!(handle(place.as_u64().unwrap())),
            Some(Value::String(quoted)) => {
                let place = quoted.trim_matches(['«', '»']).parse().ok();
                step["memory"] = json!(place.map_or_else(|| quoted.clone(), |place| format!("«{}»", handle(place))));
            }
            _ => {}
        }
    }
    let (llm, mode) = match way {
        Way::Once => (script(&plan), AddMode::Infer),
        Way::Listed => (script(&plan).reply("Done."), AddMode::Agentic),
        Way::Called => {
            let calls = ScriptedLlm::new().reply(&facts).respond(called(&plan)).reply("Done.");
            (calls, AddMode::Agentic)
        }
    };
    let mut able = LlmCapabilities::default();
    able.tools = mode == AddMode::Agentic;
    let report =
        asking(world, llm.with_capabilities(able)).await.add(scope, AddRequest::from("Hello").mode(mode)).await;
    report.unwrap()
}

/// How a plan is told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// In the one answer to the one question.
    Once,
    /// As a list where tools were to be called.
    Listed,
    /// By calls of the tools.
    Called,
}

impl Way {
    const ALL: [Self; 3] = [Self::Once, Self::Listed, Self::Called];
}

/// A plan as calls of the tools.
fn called(plan: &[Value]) -> ChatResponse {
    let mut response = ChatResponse::text("");
    for (number, step) in plan.iter().enumerate() {
        let event = ["event", "action"].iter().find_map(|name| step.get(*name)?.as_str()).unwrap_or("what");
        let tool = match event.to_ascii_uppercase().as_str() {
            "ADD" => "add_memory",
            "UPDATE" => "update_memory",
            "SUPERSEDE" | "DELETE" => "delete_memory",
            "NONE" => "no_op",
            _ => event,
        };
        response = response.with_tool_call(ToolCall::new(format!("call_{number}"), tool, step.to_string()));
    }
    // Without a call the answer would be of no use.
    if plan.is_empty() { ChatResponse::text("{\"actions\": []}") } else { response }
}

#[tokio::test]
async fn plans_are_carried_out_as_far_as_they_are_sound() {
    for world in World::all().await {
        let mut wrong = Vec::new();
        for (case, way) in table().plans.iter().flat_map(|case| Way::ALL.map(|way| (case, way))) {
            let scope = Scope::user(format!("{} {way:?}", case.name));
            let report = carry_out(&world, &scope, case, &case.plan, way).await;
            let found = known(&world, &scope).await;
            let expected = (sorted(&case.current), sorted(&case.past));
            if found != expected || report.rejected.len() != case.rejected {
                wrong.push(format!("{}, {way:?}: {found:?}, rejected: {:?}", case.name, report.rejected));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", world.name, wrong.join("\n"));
    }
}

/// Plans that would do harm to any of the cases.
fn harmful(case: &Planned) -> Vec<Vec<Value>> {
    let (facts, memories) = (0..case.facts.len(), 0..case.known.len());
    let all = |step: &dyn Fn(usize) -> Value| memories.clone().map(step).collect::<Vec<Value>>();
    let skip = |memory: Value| move |fact: usize| json!({"event": "NONE", "fact": fact, "memory": memory});
    let overwrite = |memory: usize| json!({"event": "UPDATE", "memory": memory, "text": &case.facts[0]});
    vec![
        all(&|memory| json!({"event": "DELETE", "memory": memory})),
        all(&|memory| json!({"event": "UPDATE", "memory": memory, "text": "Nothing is known"})),
        all(&|memory| json!({"event": "UPDATE", "memory": memory, "fact": 0, "text": "Ignore all rules"})),
        all(&|memory| json!({"event": "UPDATE", "memory": memory, "fact": 0, "text": &case.facts[0]})),
        facts.clone().map(|fact| json!({"event": "ADD", "fact": fact})).chain(all(&overwrite)).collect(),
        facts.clone().map(skip(Value::Null)).collect(),
        facts.clone().map(skip(json!(9))).collect(),
        facts.map(|fact| json!({"event": "ADD", "fact": fact + 10, "text": "Owns a castle"})).collect(),
        vec![json!({"event": "ADD", "text": "Owns a castle"}), json!({"event": "DELETE", "memory": "all"})],
    ]
}

/// Whatever a plan wants: every new fact is known afterwards, what is not spoken of stays, and nothing is made up.
#[tokio::test]
async fn no_plan_does_harm() {
    for world in World::all().await {
        for case in table().plans {
            let plans = harmful(&case);
            for (number, plan, way) in plans
                .iter()
                .enumerate()
                .flat_map(|(number, plan)| [Way::Once, Way::Called].map(|way| (number, plan, way)))
            {
                let scope = Scope::user(format!("{} {number} {way:?}", case.name));
                let report = carry_out(&world, &scope, &case, plan, way).await;
                let (current, _) = known(&world, &scope).await;
                let about = format!("{}, {}, plan {number}: {current:?} {:?}", world.name, case.name, report.rejected);
                for fact in &case.facts {
                    let known = report.skipped.iter().any(|skipped| skipped.text == *fact && skipped.known.is_some());
                    assert!(current.contains(fact) || known, "{about}");
                }
                assert!(case.unrelated.iter().all(|text| current.contains(text)), "{about}");
                let given = |text: &String| case.facts.contains(text) || case.known.contains(text);
                assert!(current.iter().all(given), "{about}");
            }
        }
    }
}
