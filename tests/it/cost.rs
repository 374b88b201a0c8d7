//! What remembering with a model costs: calls and tokens do not grow with what is stored.

use std::sync::{Arc, Mutex};

use ingrain::{
    AddRequest, ApproximateTokens, ChatRequest, ChatResponse, HashingEmbedder, InMemoryStore, Llm, LlmCapabilities,
    LlmFn, MemoryEngine, Message, ResponseFormat, Scope, TokenCounter, Usage,
};
use serde_json::{Value, json};

/// Most memories that are shown for one fact (ten by meaning, ten by words), and in all.
const PER_FACT: usize = 20;
const SHOWN: usize = 60;

/// Made-up statements, the same for the same seed.
struct Statements(u64);

impl Statements {
    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words[usize::try_from(self.0 >> 33).unwrap() % words.len()]
    }

    fn next(&mut self) -> String {
        let does = self.one_of(&["Likes", "Owns", "Sells", "Repairs", "Paints", "Collects", "Studies", "Borrows"]);
        let how = self.one_of(&["old", "red", "small", "rare", "Dutch", "wooden", "quiet", "loud", "cheap", "heavy"]);
        let what = self.one_of(&["boats", "clocks", "hives", "kites", "maps", "lamps", "drums", "knives", "chairs"]);
        let place = self.one_of(&["Porto", "Braga", "Oslo", "Turku", "Ghent", "Graz", "Lyon", "Cork", "Bern", "Pisa"]);
        let day = self.one_of(&["Mondays", "Tuesdays", "Fridays", "Sundays", "holidays", "birthdays"]);
        format!("{does} {how} {what} in {place} on {day}")
    }

    fn several(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A model that finds a fact in each line of what the user says, and adds every one.
#[derive(Clone, Default)]
struct Plain(Arc<Mutex<Vec<ChatRequest>>>);

impl Plain {
    fn llm(&self) -> impl Llm + use<> {
        let own = self.clone();
        let mut able = LlmCapabilities::default();
        able.json_schema = true;
        LlmFn::new("plain", move |request: ChatRequest| {
            let answer = answer(&request);
            own.0.lock().unwrap().push(request);
            async move { Ok(answer) }
        })
        .with_capabilities(able)
    }

    fn take(&self) -> Vec<ChatRequest> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn answer(request: &ChatRequest) -> ChatResponse {
    let material = request.messages[1].text.lines();
    let answer = if is_for("facts", request) {
        let said = material.filter(|line| !line.starts_with('<')).map(|line| json!({ "text": line, "message": 0 }));
        json!({ "facts": said.collect::<Vec<_>>() })
    } else {
        let facts = lines(request, "fact").into_iter().map(|line| json!({ "event": "ADD", "fact": line["fact"] }));
        json!({ "actions": facts.collect::<Vec<_>>() })
    };
    ChatResponse::text(answer.to_string()).with_usage(Usage::new(tokens(request), 1))
}

fn is_for(what: &str, request: &ChatRequest) -> bool {
    matches!(&request.response_format, ResponseFormat::Schema { name, .. } if name == what)
}

/// The objects of a request that have this member: `memory` or `fact`.
fn lines(request: &ChatRequest, member: &str) -> Vec<Value> {
    let material = request.messages[1].text.lines();
    let objects = material.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.filter(|object| object.get(member).is_some()).collect()
}

fn tokens(request: &ChatRequest) -> u64 {
    request.messages.iter().map(|message| u64::try_from(ApproximateTokens.count(&message.text)).unwrap()).sum()
}

/// A memory of so many facts.
async fn filled(model: &Plain, memories: usize) -> (MemoryEngine, Scope) {
    let builder = MemoryEngine::builder().store(InMemoryStore::new()).embedder(HashingEmbedder::new(64));
    let memory = builder.llm(model.llm()).build().await.unwrap();
    let scope = Scope::user("uma");
    memory.add_raw(&scope, Statements(1).several(memories)).await.unwrap();
    (memory, scope)
}

/// What is asked when these facts are said to a memory of so many: the two requests.
async fn asked(memories: usize, facts: &[String]) -> (ChatRequest, ChatRequest) {
    let model = Plain::default();
    let (memory, scope) = filled(&model, memories).await;
    let report = memory.add(&scope, [Message::user(facts.join("\n"))]).await.unwrap();
    let mut requests = model.take();
    assert_eq!((report.model_calls, requests.len()), (2, 2), "{memories} memories");
    assert_eq!(report.added.len(), facts.len());
    let (reconcile, extract) = (requests.pop().unwrap(), requests.pop().unwrap());
    assert!(is_for("facts", &extract) && is_for("actions", &reconcile));
    (extract, reconcile)
}

#[tokio::test]
async fn an_add_asks_a_model_at_most_twice_however_much_is_known() {
    let model = Plain::default();
    let (memory, scope) = filled(&model, 200).await;
    let mut statements = Statements(2);
    let (mut sent, mut calls) = (Vec::new(), 0);
    for round in 0..60 {
        // Nothing, one or a few facts, and now and then one that is known word for word.
        let mut said = statements.several(round % 4);
        if round % 7 == 0 {
            said.extend(Statements(1).several(1));
        }
        let user = Message::user(if said.is_empty() { "<hm>".to_owned() } else { said.join("\n") });
        let report = memory.add(&scope, AddRequest::new([user, Message::assistant("I see.")])).await.unwrap();
        let requests = model.take();
        assert!(report.model_calls <= 2, "{} calls in round {round}", report.model_calls);
        assert_eq!(usize::try_from(report.model_calls).unwrap(), requests.len());
        assert_eq!(report.usage.input_tokens, requests.iter().map(tokens).sum::<u64>());
        calls += report.model_calls;
        let open =
            requests.iter().find(|request| is_for("actions", request)).map_or(0, |last| lines(last, "fact").len());
        if open == 3 {
            sent.push(report.usage.input_tokens);
        }
    }
    assert!(calls > 60, "the second question was never asked");
    // With three facts: some 1,300 tokens for both instructions, and at most sixty memories of 27.
    assert!(sent.len() > 10 && sent.iter().all(|tokens| *tokens < 3_000), "{sent:?}");
}

#[tokio::test]
async fn what_is_sent_does_not_grow_with_the_store() {
    // Known to nobody yet.
    let facts: Vec<String> = Statements(3).several(12).into_iter().map(|text| text + " with Ana").collect();
    let (small_extract, small) = asked(50, &facts).await;
    let (large_extract, large) = asked(5_000, &facts).await;
    // Reading facts knows nothing of the store.
    let told = |request: &ChatRequest| request.messages.iter().map(|one| one.text.len()).sum::<usize>();
    assert_eq!(told(&small_extract), told(&large_extract));
    assert_eq!(lines(&large, "fact").len(), 12);
    let (few, many) = (lines(&small, "memory"), lines(&large, "memory"));
    assert!(few.len() > PER_FACT && few.len() <= 50, "{}", few.len());
    // Twelve facts have up to 240 neighbours: the nearest sixty are shown.
    assert_eq!(many.len(), SHOWN);
    // The bound: instructions and facts, which are the same, and sixty lines as long as the longest.
    let length = |line: &Value| u64::try_from(ApproximateTokens.count(&line.to_string())).unwrap();
    let rest = tokens(&small) - few.iter().map(length).sum::<u64>();
    let bound = rest + 60 * (many.iter().map(length).max().unwrap() + 1);
    assert!(tokens(&large) <= bound, "{} of {bound}", tokens(&large));
}

#[tokio::test]
async fn one_fact_brings_at_most_twenty_memories() {
    for memories in [50, 5_000] {
        let (_, reconcile) = asked(memories, &[format!("{} with Bo", Statements(4).next())]).await;
        let shown = lines(&reconcile, "memory").len();
        assert!((1..=PER_FACT).contains(&shown), "{shown} of {memories}");
    }
}
