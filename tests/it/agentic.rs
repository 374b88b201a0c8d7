//! Deciding with tools, in steps: by itself here, and through the engine.

mod engine;
mod faults;

use ingrain::{
    Action, CallBudget, ChatRequest, ChatResponse, ErrorKind, Fact, LlmCapabilities, Memory, MemoryId, Neighbour, Plan,
    ReconcileRequest, Reconciler, Result, Role, Scope, ToolCall, ToolChoice, prompted::AgenticReconciler,
    testing::ScriptedLlm,
};
use serde_json::{Value, json};

use crate::worlds::t0;

/// A model that knows tools.
fn model() -> ScriptedLlm {
    let mut able = LlmCapabilities::default();
    able.tools = true;
    ScriptedLlm::new().with_capabilities(able)
}

/// An answer that calls tools, with the ids `c0`, `c1`, ….
fn calls(text: &str, calls: &[(&str, Value)]) -> ChatResponse {
    let numbered = calls.iter().enumerate();
    numbered.fold(ChatResponse::text(text), |response, (number, (name, arguments))| {
        response.with_tool_call(ToolCall::new(format!("c{number}"), *name, arguments.to_string()))
    })
}

fn add(fact: usize) -> (&'static str, Value) {
    ("add_memory", json!({"fact": fact}))
}

/// By a fact, or alone.
fn delete(memory: usize, fact: impl Into<Option<usize>>) -> (&'static str, Value) {
    ("delete_memory", json!({"memory": memory, "fact": fact.into()}))
}

/// As similar to every fact as its place says, the first most.
fn memories(texts: &[&str]) -> Vec<Neighbour> {
    let scope = Scope::user("alice");
    let memory = |text: &&str| Memory::new(MemoryId::new(t0()), scope.clone(), *text, t0());
    (0_u8..).zip(texts).map(|(place, text)| Neighbour::new(memory(text), 0.9 - f32::from(place) * 0.1)).collect()
}

async fn decide(llm: &ScriptedLlm, facts: &[&str], known: &[&str], budget: Option<&CallBudget>) -> Result<Plan> {
    let facts: Vec<Fact> = facts.iter().map(|text| Fact::new(*text, 0)).collect();
    let neighbours = memories(known);
    let mut request = ReconcileRequest::new(&facts, &neighbours);
    request.budget = budget;
    AgenticReconciler::new(llm.clone()).reconcile(&request).await
}

const FACTS: [&str; 2] = ["Prefers tea to coffee", "Likes football"];
const KNOWN: [&str; 2] = ["Likes coffee", "Is allergic to peanuts"];
const DECIDED: [Action; 2] = [Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 1 }];

/// What each tool message of a request says, by the id it answers.
fn results(request: &ChatRequest) -> Vec<(&str, &str)> {
    let tool = request.messages.iter().filter(|message| message.role == Role::Tool);
    tool.map(|message| (message.tool_call_id.as_deref().unwrap(), message.text.as_str())).collect()
}

#[tokio::test]
async fn all_is_decided_in_one_step_if_the_model_says_so() {
    let said = "<think>two facts</think> Tea takes the place\nof coffee;\u{7} football is new.";
    let llm = model().respond(calls(said, &[delete(0, 0), add(1)]));
    let plan = decide(&llm, &FACTS, &KNOWN, None).await.unwrap();
    assert_eq!((plan.actions.as_slice(), plan.rejected.len(), plan.model_calls), (&DECIDED[..], 0, 1));
    assert_eq!(plan.account.as_deref(), Some("Tea takes the place of coffee; football is new."));

    let request = &llm.requests()[0];
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["add_memory", "update_memory", "delete_memory", "no_op"]);
    assert_eq!(request.tool_choice, ToolChoice::Auto);
    assert_eq!(request.tools[1].parameters["required"], json!(["fact", "memory", "text"]));
    let shown: Vec<&str> = request.messages[1].text.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(shown[0].starts_with("{\"memory\":0,") && shown[0].contains("Likes coffee"));
    assert!(!request.messages[0].text.contains("coffee"), "instructions hold no data");
}

#[tokio::test]
async fn one_call_a_step_and_no_fourth_step() {
    let llm = model()
        .respond(calls("", &[delete(0, 0)]))
        .respond(calls("", &[add(1)]))
        .respond(calls("", &[delete(1, None)]))
        .respond(calls("", &[add(1)]));
    let plan = decide(&llm, &FACTS, &KNOWN, None).await.unwrap();
    let withdrawn = Action::Invalidate { neighbour: 1, fact: None };
    assert_eq!(plan.actions, [&DECIDED[..], &[withdrawn]].concat());
    assert_eq!((plan.model_calls, plan.account, llm.requests().len()), (3, None, 3));
    let requests = llm.requests();
    let first = "Noted: fact 0 takes the place of memory 0. Not decided yet: fact 1.";
    assert_eq!(results(&requests[1]), [("c0", first)]);
    assert_eq!(results(&requests[2]), [("c0", first), ("c0", "Noted: fact 1 is stored. Every fact is decided.")]);
    assert_eq!(requests[2].messages[2].tool_calls.len(), 1, "each result follows its call");
}

#[tokio::test]
async fn words_without_a_call_end_it() {
    let long = "and so on ".repeat(500);
    let llm = model().respond(calls("Let me see.", &[delete(0, 0)])).reply(&long);
    let plan = decide(&llm, &FACTS, &KNOWN, None).await.unwrap();
    assert_eq!((plan.actions.as_slice(), plan.model_calls), (&DECIDED[..1], 2));
    let account = plan.account.unwrap();
    // The engine keeps less of it, once secrets are taken out.
    assert!(account.chars().count() == 4_000 && account.ends_with('…'), "{account}");
    // Nothing to add is no account.
    let llm = model().respond(calls("", &[delete(0, 0), add(1)])).reply("<think>hm</think>");
    let plan = decide(&llm, &FACTS, &KNOWN, None).await.unwrap();
    assert_eq!((plan.actions.as_slice(), plan.account, plan.model_calls), (&DECIDED[..], None, 2));
}

#[tokio::test]
async fn calls_in_the_text_are_calls() {
    for text in [
        "<tool_call>{\"name\": \"delete_memory\", \"arguments\": {\"memory\": 0, \"fact\": 0}}</tool_call>\n\
         <tool_call>{\"name\": \"add_memory\", \"arguments\": {\"fact\": 1}}</tool_call>",
        "I'll do this:\n```json\n[{\"tool\": \"DeleteMemory\", \"args\": {\"memory\": \"0\", \"fact\": \"«0»\"}}, \
         {\"name\": \"functions.add\", \"parameters\": \"{\\\"fact\\\": 1}\"}]\n```",
        "{\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"delete_memory\", \
         \"arguments\": \"{\\\"memory\\\":0,\\\"fact\\\":0}\"}}, {\"function\": {\"name\": \"add_memory\", \"arguments\": {\"fact\": 1}}}]}",
        "{\"actions\": [{\"event\": \"SUPERSEDE\", \"memory\": 0, \"fact\": 0}, {\"event\": \"ADD\", \"fact\": 1}]}",
        "<think>{\"name\": \"no_op\", \"arguments\": {\"fact\": 0}}</think>{\"event\": \"delete\", \"memory\": 0, \"fact\": 0} \
         {\"event\": \"add\", \"fact\": 1}",
    ] {
        let llm = model().reply(text).reply("Done.");
        let plan = decide(&llm, &FACTS, &KNOWN, None).await.unwrap();
        assert_eq!((plan.actions.as_slice(), &*plan.rejected), (&DECIDED[..], &[][..]), "{text}");
        assert_eq!(plan.account.as_deref(), Some("Done."));
        let requests = llm.requests();
        let answered = last(&requests[1]);
        assert!(answered.contains("Noted: fact 1 is stored. Every fact is decided."), "{answered}");
    }
}

/// What a request says last.
fn last(request: &ChatRequest) -> &str {
    &request.messages.last().unwrap().text
}

#[tokio::test]
async fn no_step_is_made_where_there_is_nothing_to_ask() {
    let llm = model();
    let plan = decide(&llm, &["likes  COFFEE.", "Also likes coffee"], &KNOWN, None).await;
    // Nearly the same words are known only where the vectors say so, too.
    assert_eq!(plan.map(drop).unwrap_err().kind(), ErrorKind::Configuration, "asked about the second");
    assert_eq!(llm.requests().len(), 1);
    for (facts, known) in [(&[][..], &KNOWN[..]), (&FACTS[..], &[][..]), (&["likes  COFFEE."][..], &KNOWN[..])] {
        let llm = model();
        let plan = decide(&llm, facts, known, None).await.unwrap();
        assert_eq!((plan.model_calls, llm.requests().len()), (0, 0));
    }
}

/// The similarity of each fact counts for itself.
#[tokio::test]
async fn what_is_nearly_known_is_told_without_a_call() {
    let facts = [Fact::new("Also goes hiking in the mountains", 0), Fact::new("Likes tea more than coffee", 0)];
    let known = ["Goes hiking in mountains", "Likes coffee more than tea"];
    let given = |cosines: [[Option<f32>; 2]; 2]| -> Vec<Neighbour> {
        let memories = memories(&known).into_iter().map(|near| near.memory);
        memories.zip(cosines).map(|(memory, cosines)| Neighbour::near(memory, cosines.into())).collect()
    };
    let skip = Action::Skip { fact: 0, neighbour: Some(0) };
    for (cosines, expected) in [
        ([[Some(0.98), None], [None, Some(1.0)]], Some(skip)),
        ([[None, Some(0.98)], [Some(1.0), Some(1.0)]], None),
        ([[Some(0.96), Some(0.99)], [None, Some(1.0)]], None),
    ] {
        let neighbours = given(cosines);
        let request = ReconcileRequest::new(&facts, &neighbours);
        let open = if expected.is_some() { &[add(1)][..] } else { &[add(0), add(1)] };
        let llm = model().respond(calls("Added.", open));
        let plan = AgenticReconciler::new(llm.clone()).reconcile(&request).await.unwrap();
        assert_eq!(plan.actions.first() == expected.as_ref(), expected.is_some(), "{cosines:?}");
        let shown = llm.requests()[0].messages[1].text.clone();
        assert_eq!(shown.contains("Also goes hiking"), expected.is_none(), "{shown}");
        assert!(shown.contains("Likes tea more than coffee"), "who prefers what is for the model to say");

        let llm = ScriptedLlm::new().reply("{\"actions\": []}");
        let plain = ingrain::prompted::PromptedReconciler::new(llm.clone()).reconcile(&request).await.unwrap();
        assert_eq!(plain.actions.first(), expected.as_ref());
        let ruled = ingrain::rules::RuleReconciler::new().reconcile(&request).await.unwrap();
        let added = |fact| Action::Add { fact };
        assert_eq!(ruled.actions, [expected.unwrap_or(added(0)), added(1)]);
    }
}
