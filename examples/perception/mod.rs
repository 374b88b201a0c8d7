//! A model that is made of rules: it perceives what the user's words are about, and acts on what was recalled for them.
//! It stands where any other [`Llm`] could, so the agent around it remembers in the same way.

use ingrain::{ChatRequest, ChatResponse, ExtractRequest, Extractor, Llm, LlmFn, Message, Role, rules::RuleExtractor};

/// What words tell of a topic, by how they begin.
const TOPICS: [(&str, &[&str]); 3] = [
    (
        "food",
        &["food", "cook", "dinner", "lunch", "eat", "recipe", "restaurant", "allerg", "vegetarian", "vegan", "drink"],
    ),
    ("music", &["music", "song", "listen", "concert", "band", "jazz", "album"]),
    ("travel", &["travel", "trip", "holiday", "vacation", "city", "visit"]),
];

/// What was perceived in a message.
#[derive(Debug)]
struct Perception {
    topic: Option<&'static str>,
    /// What it says of the user, as the rules read it.
    facts: Vec<String>,
    asks: bool,
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect()
}

fn topic_of(text: &str) -> Option<&'static str> {
    let words = words(text);
    let tells = |signs: &[&str]| words.iter().any(|word| signs.iter().any(|sign| word.starts_with(sign)));
    TOPICS.iter().find(|(_, signs)| tells(signs)).map(|(topic, _)| *topic)
}

async fn perceive(message: &Message) -> ingrain::Result<Perception> {
    let messages = [message.clone()];
    let request = ExtractRequest::new(&messages, message.at.unwrap_or_default());
    let found = RuleExtractor::new().extract(&request).await?;
    let facts = found.facts.into_iter().map(|fact| fact.text).collect();
    Ok(Perception { topic: topic_of(&message.text), facts, asks: message.text.contains('?') })
}

/// The facts that the agent put into the prompt: lines such as `‣ fact 2025-02-10: "Is allergic to shellfish"`.
fn recalled(instructions: &str) -> Vec<String> {
    let known = |line: &&str| line.starts_with("‣ fact") || line.starts_with("‣ preference");
    let text = |line: &str| serde_json::from_str(line.split_once(": ")?.1).ok();
    instructions.lines().filter(known).filter_map(text).collect()
}

/// What the user is to be kept from, and what the user likes, among the facts on a topic.
fn tastes(facts: &[String], topic: &str) -> (Vec<String>, Vec<String>) {
    let (mut avoid, mut like) = (Vec::new(), Vec::new());
    for fact in facts {
        let after = |begin: &str| fact.strip_prefix(begin).map(str::to_owned);
        if let (Some(what), "food") = (after("Is allergic to "), topic) {
            avoid.push(what);
        } else if topic_of(fact) == Some(topic) {
            avoid.extend(after("Does not like ").or_else(|| after("Dislikes ")).or_else(|| after("Hates ")));
            like.extend(after("Loves ").or_else(|| after("Likes ")).or_else(|| after("Prefers ")));
        }
    }
    (avoid, like)
}

/// The fact that has most words in common with a question; words are alike if they begin alike.
fn answer_to<'f>(question: &str, facts: &'f [String]) -> Option<&'f String> {
    let begin = |word: &String| word.chars().take(4).collect::<String>();
    let asked: Vec<String> = words(question).iter().filter(|word| word.len() > 3).map(begin).collect();
    let shared = |fact: &&String| words(fact).iter().map(begin).filter(|word| asked.contains(word)).count();
    facts.iter().filter(|fact| shared(fact) > 0).max_by_key(shared)
}

/// Says what to do about it.
fn act(perception: &Perception, said: &str, facts: &[String]) -> String {
    if perception.asks {
        if let Some(fact) = answer_to(said, facts) {
            return format!("You told me: {fact}.");
        }
        if let Some(topic) = perception.topic {
            let (avoid, like) = tastes(facts, topic);
            let liked = like.first().map_or_else(|| format!("some {topic}"), Clone::clone);
            let without = if avoid.is_empty() { String::new() } else { format!(", without {}", avoid.join(" or ")) };
            return format!("How about {liked}{without}?");
        }
        return "I don't know that about you yet.".to_owned();
    }
    match perception.facts.as_slice() {
        [] => "Tell me more about yourself.".to_owned(),
        facts => format!("I'll remember: {}.", facts.join("; ")),
    }
}

/// The model. It knows no tools, so an agent shows it what fits the user's words each time.
pub fn model() -> impl Llm {
    LlmFn::new("example/rules", |request: ChatRequest| async move {
        let of = |role: Role| request.messages.iter().rfind(|message| message.role == role);
        let facts = of(Role::System).map(|system| recalled(&system.text)).unwrap_or_default();
        let Some(question) = of(Role::User) else { return Ok(ChatResponse::text("")) };
        let perception = perceive(question).await?;
        Ok(ChatResponse::text(act(&perception, &question.text, &facts)))
    })
}
