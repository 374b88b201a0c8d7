use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use ingrain::{
    ChatRequest, ChatResponse, Llm, LlmCapabilities, LlmFn, ResponseFormat, Result, TokenCounter, Usage,
    evaluate::Conversation,
};
use serde_json::{Value, json};

/// What a model was asked, and what that cost.
pub struct Asked {
    /// The name of the answer's schema: `facts` or `actions`.
    pub what: String,
    pub usage: Usage,
}

/// A model that answers at once and as a good one would: asked what is said it gives what the data set gives for these
/// turns, and asked what to do with a fact it adds what is not known.
#[derive(Clone, Default)]
pub struct GivenModel(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The answer to what is said next.
    facts: Vec<Value>,
    asked: Vec<Asked>,
}

impl GivenModel {
    /// Says what the turns from `start` up to `end` tell, before they are added. A fact of several turns comes with the
    /// last.
    pub fn prepare(&self, chat: &Conversation, start: usize, end: usize) {
        let turns = chat.turns.get(start..end).unwrap_or_default();
        let told = chat.facts.iter().filter_map(|fact| {
            let message = fact.turns.last()?.checked_sub(start)?;
            let turn = turns.get(message)?;
            Some(json!({
                "text": fact.text, "kind": "fact", "categories": [], "importance": 0.5, "since": null, "until": null,
                "message": message, "quote": turn.text,
            }))
        });
        self.state().facts = told.collect();
    }

    /// What it was asked since the last time.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state().asked)
    }

    pub fn llm(&self, counter: Arc<dyn TokenCounter>) -> impl Llm + use<> {
        let own = self.clone();
        let mut able = LlmCapabilities::default();
        able.json_schema = true;
        LlmFn::new("observations", move |request| {
            let answer = own.answer(&request, &*counter);
            async move { answer }
        })
        .with_capabilities(able)
    }

    fn answer(&self, request: &ChatRequest, counter: &dyn TokenCounter) -> Result<ChatResponse> {
        let (what, schema) = match &request.response_format {
            ResponseFormat::Schema { name, schema } => (name.as_str(), schema.to_string()),
            _ => ("", String::new()),
        };
        let material = request.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
        let mut state = self.state();
        let answer = match what {
            "actions" => actions(material),
            _ => json!({ "facts": std::mem::take(&mut state.facts) }),
        };
        let answer = answer.to_string();
        // The schema is sent with the request, and providers count it.
        let sent: usize = request.messages.iter().map(|message| counter.count(&message.text)).sum();
        let count = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
        let usage = Usage::new(count(sent + counter.count(&schema)), count(counter.count(&answer)));
        state.asked.push(Asked { what: what.to_owned(), usage });
        Ok(ChatResponse::text(answer).with_usage(usage))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One JSON object a line, memories first.
fn actions(material: &str) -> Value {
    let (mut known, mut actions) = (HashMap::new(), Vec::new());
    for line in material.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let text = line.get("text").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        if let Some(memory) = line.get("memory") {
            known.insert(text, memory.clone());
        } else if let Some(fact) = line.get("fact") {
            actions.push(match known.get(&text) {
                Some(memory) => json!({ "event": "NONE", "fact": fact, "memory": memory, "text": null }),
                None => json!({ "event": "ADD", "fact": fact, "memory": null, "text": null }),
            });
        }
    }
    json!({ "actions": actions })
}
