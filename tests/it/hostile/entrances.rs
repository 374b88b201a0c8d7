//! Every text through every entrance, on every store.

use std::collections::BTreeSet;

use ingrain::{
    AddRequest, Block, ContextRequest, Conversation, ConversationOptions, ErrorKind, ExtractRequest, ExtractedRelation,
    Extraction, Extractor, Fact, Filter, ListRequest, Memory, MemoryEngine, MemoryKind, MemoryUpdate, Message,
    NewMemory, Relation, Result, Role, Saving, Scope, SearchMode, SearchRequest, SummarizeRequest, Summarizer, Summary,
    Trust, async_trait, testing::ScriptedLlm,
};
use serde_json::{Value, json};

use super::texts::{Hostile, all};
use crate::{
    context::frame,
    worlds::{World, object, texts},
};

const BEGIN: &str = "<recalled-memories>";
const END: &str = "</recalled-memories>";

/// Believes every word: of each message a fact with its text in every part that is text. Whatever it says of whose word
/// that is, the engine has to know better.
#[derive(Debug)]
pub struct Gullible;

#[async_trait]
impl Extractor for Gullible {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let fact = |(number, message): (usize, &Message)| {
            let text = message.text.as_str();
            let relation = ExtractedRelation::new(text, text, format!("{text}!").as_str());
            let fact = Fact::new(text, number).with_slot(text).with_category(text).with_quote(text);
            fact.with_speaker(text).with_relation(relation)
        };
        let told = request.messages.iter().enumerate().filter(|(_, message)| !message.text.trim().is_empty());
        Ok(Extraction::of(told.map(fact).collect()))
    }
}

/// Sums up a conversation by its last words.
#[derive(Debug)]
struct Parrot;

#[async_trait]
impl Summarizer for Parrot {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        Ok(Summary::of(request.messages.iter().map(|message| message.text.as_str()).next_back().unwrap_or("-")))
    }
}

/// A stranger with something of everything, and what all of it is.
struct Stranger {
    scope: Scope,
    memories: Vec<Memory>,
    blocks: Vec<Block>,
    relations: Vec<Relation>,
    messages: Vec<Message>,
}

pub async fn relations(engine: &MemoryEngine, scope: &Scope) -> Vec<Relation> {
    engine.graph(scope).any_time().relations(None, 1_000).await.unwrap().items
}

async fn said(chat: &Conversation) -> Vec<Message> {
    chat.messages(0, 1_000).await.unwrap().into_iter().map(|stored| stored.message).collect()
}

impl Stranger {
    async fn new(world: &World, engine: &MemoryEngine) -> Self {
        let scope = Scope::user("bob").with_session("x");
        engine.add(&scope, [Message::user("Keeps bees"), Message::assistant("How many?")]).await.unwrap();
        engine.add_raw(&scope, ["Lives in Rome", "' OR 1=1 --"]).await.unwrap();
        engine.blocks(&scope).set(Block::new("note", "A nurse.")).await.unwrap();
        engine.conversation(&scope).unwrap().append(["Hello"]).await.unwrap();
        let (memories, blocks) = (world.everything(&scope).await, engine.blocks(&scope).list().await.unwrap());
        let (relations, messages) =
            (relations(engine, &scope).await, said(&engine.conversation(&scope).unwrap()).await);
        assert!(memories.len() > 4 && !relations.is_empty() && blocks.len() == 1 && messages.len() == 1);
        Self { scope, memories, blocks, relations, messages }
    }

    async fn is_untouched(&self, world: &World, engine: &MemoryEngine, text: &str) {
        let at = world.name;
        assert_eq!(world.everything(&self.scope).await, self.memories, "{at}: {text:?}");
        assert_eq!(engine.blocks(&self.scope).list().await.unwrap(), self.blocks, "{at}: {text:?}");
        assert_eq!(relations(engine, &self.scope).await, self.relations, "{at}: {text:?}");
        assert_eq!(said(&engine.conversation(&self.scope).unwrap()).await, self.messages, "{at}: {text:?}");
    }
}

/// What goes to a model has the frame once if at all, whole; each line of it is ours, and before and after it nothing
/// stands that could pass for one, or hide.
fn is_sealed(shown: &str) {
    let (begins, ends) = (shown.matches(BEGIN).count(), shown.matches(END).count());
    assert!(begins == ends && begins <= 1, "{shown}");
    let (before, rest) = shown.split_once(BEGIN).unwrap_or((shown, ""));
    let (inside, after) = rest.split_once(END).unwrap_or((rest, ""));
    assert!(!before.contains('‣') && !after.contains('‣'), "{shown}");
    // Of the tools' own, which tell how many had no room.
    assert!(after.trim().lines().count() <= 1 && !after.contains(['"', '<']), "{shown}");
    for line in shown.split('\n') {
        let hidden = |character: char| {
            character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!line.contains(hidden), "{line:?}");
    }
    for line in inside.trim().lines().skip(1) {
        assert!(line.starts_with("‣ ") && line.matches('‣').count() == 1, "{line:?}");
    }
}

/// What an entrance does with a text it may refuse: it is stored whole, or refused as an argument.
fn taken<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(taken) => Some(taken),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            None
        }
    }
}

/// What comes in: turns, memories as they are, updates, blocks. All of it comes out byte for byte. Whether the text holds
/// nothing that a recall could have put there.
async fn writing(world: &World, engine: &MemoryEngine, ann: &Scope, text: &str) -> bool {
    let own = world.add(ann, "Owns a blue bike").await;
    let named = object(json!({"note": text}));
    let kept = [Message::user(text), Message::assistant(text)]
        .map(|message| message.from_speaker(text).with_id(text).with_metadata(named.clone()));
    let others = [Message::tool("call", text), Message::system(text)];
    let messages: Vec<Message> = kept.into_iter().chain(others).collect();
    let report = engine.add(ann, AddRequest::new(messages).categories([text])).await.unwrap();
    let whole = report.recalled.iter().filter(|recalled| recalled.whole).count();
    assert_eq!(report.episodes.len() + whole, 2, "turns of tools and systems are never kept: {text:?}");
    for id in &report.episodes {
        let turn = engine.get(ann, *id).await.unwrap();
        assert_eq!((&*turn.text, turn.speaker.as_deref(), &turn.metadata), (text, Some(text), &named));
    }
    for added in &report.added {
        assert_eq!(engine.get(ann, added.id).await.unwrap(), *added);
        assert!(added.trust <= Trust::Assistant, "a tool and a system say nothing of the user: {added:?}");
    }
    let spoken: BTreeSet<Trust> = report.added.iter().map(|added| added.trust).collect();
    assert!(report.added.len() <= 2 && spoken.len() == report.added.len(), "one of each speaker: {:?}", report.added);

    let new = NewMemory::new(text).categories([text]).speaker(text).slot(text).trust(Trust::Tool);
    let new = new.metadata(object(json!({text: {text: [text]}, "note": text})));
    let raw = engine.add_raw(ann, [new.clone(), new.kind(MemoryKind::Custom(text.to_owned()))]).await.unwrap();
    for memory in &raw {
        let Memory { text: stored, speaker, slot, categories, .. } = memory;
        assert_eq!((&**stored, speaker.as_deref(), slot.as_deref()), (text, Some(text), Some(text)));
        assert_eq!((categories.as_slice(), &memory.metadata["note"]), ([text.to_owned()].as_slice(), &json!(text)));
        assert_eq!(engine.get(ann, memory.id).await.unwrap(), *memory);
    }
    assert_eq!(engine.get(ann, own.id).await.unwrap(), own, "nothing else was changed: {text:?}");
    let update = MemoryUpdate::new().text(text).categories([text]).slot(Some(text.to_owned())).metadata(named.clone());
    let updated = engine.update(ann, own.id, update).await.unwrap();
    assert_eq!((&*updated.text, updated.slot.as_deref(), &updated.metadata), (text, Some(text), &named));
    assert_eq!(engine.get(ann, own.id).await.unwrap(), updated);
    let told = engine.history(ann, own.id).await.unwrap();
    assert_eq!(told.last().unwrap().new_text.as_deref(), Some(text));

    let blocks = engine.blocks(ann);
    assert_eq!(blocks.set(Block::new("note", text).description(text)).await.unwrap().text, text);
    if let Some(block) = taken(blocks.set(Block::new(text, "x")).await) {
        assert_eq!(blocks.get(text).await.unwrap().unwrap(), block);
    }
    assert_eq!(blocks.get("note").await.unwrap().unwrap().text, text);
    report.recalled.is_empty()
}

/// A scope is a name and no pattern: what lies in one is seen by that name alone.
async fn naming(engine: &MemoryEngine, text: &str) {
    let scope = Scope::user(text).with_agent(text).with_session(text);
    if let Some(stored) = taken(engine.add_raw(&scope, [text]).await) {
        assert_eq!(engine.list(&scope, ListRequest::new()).await.unwrap().items, stored);
        engine.graph(&scope).find(text, 3).await.unwrap();
        assert_eq!(engine.delete_all(&scope).await.unwrap(), 1);
    }
}

/// What looks is given the text as a value, and finds what has that value.
async fn reading(engine: &MemoryEngine, ann: &Scope, text: &str) {
    for mode in [SearchMode::Hybrid, SearchMode::Keyword, SearchMode::Vector] {
        let hits = engine.search(ann, SearchRequest::new(text).mode(mode).limit(100)).await.unwrap();
        assert!(hits.iter().all(|hit| ann.covers(&hit.memory.scope)), "{text:?}");
        assert!(mode == SearchMode::Keyword || hits.iter().any(|hit| hit.memory.text == text), "{text:?}");
    }
    let has = |field: &str| Filter::eq(field, text);
    for (filter, found) in [(has("metadata.note"), true), (has("speaker"), true), (has("slot"), true)]
        .into_iter()
        .chain([(Filter::any_of("categories", [text]), true), (has("kind"), true), (has("trust"), false)])
    {
        let listed = engine.list(ann, ListRequest::new().filter(filter.clone()).include_invalid()).await.unwrap();
        assert_eq!(!listed.items.is_empty(), found, "{filter:?}");
        assert!(listed.items.iter().all(|memory| filter.matches(memory)), "{filter:?}");
        engine.search(ann, SearchRequest::new("bike").filter(filter.clone())).await.unwrap();
        engine.count(ann, Some(&filter)).await.unwrap();
    }
    for field in [text.to_owned(), format!("metadata.{text}")] {
        taken(engine.list(ann, ListRequest::new().filter(Filter::exists(field.as_str()))).await);
        taken(engine.list(ann, ListRequest::new().filter(Filter::eq(field.as_str(), text))).await);
        taken(Filter::from_json(&json!({ field: text })));
    }
    taken(engine.list(ann, ListRequest::new().after(ingrain::Cursor::from_text(text))).await);
}

/// What goes into a prompt: the memories as data, and none of them as anything else.
async fn showing(engine: &MemoryEngine, ann: &Scope, text: &str, is_own: bool) {
    let everything = engine.list(ann, ListRequest::new().limit(1_000).include_invalid()).await.unwrap().items;
    for query in [text, "bike"] {
        let context = engine.context(ann, ContextRequest::new(query).profile(4_000), 100_000).await.unwrap();
        is_sealed(&context.text);
        let read = frame::read(&context.text);
        let day = |line: &frame::Read| line.day.clone();
        assert!(read.iter().filter_map(day).all(|day| day.starts_with("on 20")), "{}", context.text);
        for line in read.iter().filter(|line| !line.head.contains("\"profile\"")) {
            let own =
                |memory: &Memory| memory.text == line.text || memory.text.contains(line.text.lines().next().unwrap());
            assert!(everything.iter().any(own), "{line:?}");
        }
        assert!(!is_own || read.iter().any(|line| line.text == text), "{}", context.text);
    }
}

/// A model that hands on what it read.
async fn calling(engine: &MemoryEngine, ann: &Scope, text: &str) {
    let tools = engine.tools(ann);
    let id = engine.list(ann, ListRequest::new().limit(1)).await.unwrap().items[0].id.to_string();
    for (name, arguments) in [
        ("search_memory", json!({"query": text, "limit": 50})),
        ("search_memory", json!({"query": "bike", "categories": [text], "kinds": [text]})),
        ("search_memory", json!({"query": text, "from": text, "to": text})),
        ("list_categories", json!({})),
        ("add_memory", json!({"text": text, "categories": [text]})),
        ("update_memory", json!({"id": id, "text": text})),
        ("update_memory", json!({"id": text, "text": text})),
        ("forget_memory", json!({"id": text})),
        ("append_block", json!({"label": "note", "text": text})),
        ("replace_block", json!({"label": "note", "old": text, "new": text})),
        ("rethink_block", json!({"label": text, "text": text})),
        ("list_blocks", json!({})),
        (text, json!({"text": text})),
    ] {
        is_sealed(&tools.call(name, &arguments.to_string()).await.unwrap().text);
    }
    is_sealed(&tools.call("search_memory", text).await.unwrap().text);
}

/// An agent is asked it, and remembers it: what the model is sent has one system message, and that its frame.
async fn answering(engine: &MemoryEngine, ann: &Scope, text: &str) {
    let llm = ScriptedLlm::new().reply("ok");
    let agent = engine.agent(llm.clone()).saving(Saving::Off).build().unwrap();
    assert_eq!(agent.respond(ann, text).await.unwrap().answer, "ok");
    let request = &llm.requests()[0];
    let [system, question] = request.messages.as_slice() else { panic!("{request:?}") };
    assert_eq!((system.role, question.role, question.text.as_str()), (Role::System, Role::User, text));
    let (before, frame) = system.text.split_once(BEGIN).unwrap();
    assert!(!before.contains(text) && !frame.contains(BEGIN) && frame.ends_with(END), "{frame}");
    frame::read(&format!("{BEGIN}{frame}"));
}

/// Names and predicates are data for the graph and for what it is drawn in.
pub async fn relating(engine: &MemoryEngine, ann: &Scope, text: &str) {
    let graph = engine.graph(ann).any_time();
    let found = graph.find(text, 5).await.unwrap();
    let told = relations(engine, ann).await;
    assert!(told.iter().all(|relation| relation.scope.user_id() == ann.user_id()));
    if told.iter().any(|relation| relation.subject_name.as_deref() == Some(text)) {
        assert!(found.iter().any(|(entity, _)| entity.name == text), "{text:?}");
    }
    let view = graph.view().await.unwrap();
    assert_eq!(view.to_mermaid().lines().count(), 1 + view.entities.len() + view.relations.len(), "{text:?}");
    assert_eq!(view.to_dot().lines().count(), 3 + view.entities.len() + view.relations.len(), "{text:?}");
    serde_json::from_str::<Value>(&view.to_json().to_string()).unwrap();
}

/// A conversation is shown word for word; what is told of the part that is not shown stands in the frame.
async fn talking(engine: &MemoryEngine, ann: &Scope, text: &str) {
    let chat = engine.conversation(&ann.clone().with_session(format!("talk {}", ann.user_id().unwrap()))).unwrap();
    let messages: Vec<Message> = (0..12)
        .map(|number| if number % 2 == 0 { Message::user(text) } else { Message::assistant(text) }.from_speaker(text))
        .collect();
    chat.append(messages.clone()).await.unwrap();
    chat.settle().await.unwrap();
    assert!(said(&chat).await.iter().all(|message| message.text == text));
    let view = chat.view().await.unwrap();
    let systems = view.messages.iter().filter(|message| message.role == Role::System).count();
    assert!(systems <= 1 && view.messages[1..].iter().all(|message| message.role != Role::System), "{text:?}");
    if systems == 1 {
        is_sealed(&view.messages[0].text);
        assert!(view.messages[0].text.starts_with(BEGIN));
    }
    if view.cut.is_empty() {
        assert!(view.messages[systems..].iter().all(|message| message.text == text));
    }
    chat.erase().await.unwrap();
}

/// All of it out and in again is the same, in lines that are lines.
async fn moving(from: &MemoryEngine, to: &MemoryEngine, ann: &Scope, text: &str) {
    let exported = async |engine: &MemoryEngine| {
        let (mut export, mut lines) = (engine.export(ann), Vec::new());
        while let Some(line) = export.next_line().await.unwrap() {
            assert_eq!(line.lines().count(), 1, "{text:?}");
            lines.push(line);
        }
        lines
    };
    let lines = exported(from).await;
    let mut import = to.import(ann);
    for line in &lines {
        import.line(line).await.unwrap();
    }
    import.finish().await.unwrap();
    // But for the time of the export.
    assert_eq!(exported(to).await[1..].iter().collect::<BTreeSet<_>>(), lines[1..].iter().collect(), "{text:?}");
    let mut broken = to.import(ann);
    assert!(broken.line(text).await.is_err() && broken.line(&format!("{text}{}", lines[0])).await.is_err());
}

async fn engine(world: &World) -> MemoryEngine {
    let talks = ConversationOptions::new().max_tokens(600).keep_last(2).segment(2);
    world.builder().extractor(Gullible).summarizer(Parrot).conversations(talks).build().await.unwrap()
}

/// One after the other, each in a scope of its own, beside a stranger.
async fn through_every_entrance(world: &World) {
    let engine = engine(world).await;
    let bob = Stranger::new(world, &engine).await;
    let elsewhere = World::in_memory().await;
    for (number, Hostile { family, text }) in all().into_iter().enumerate() {
        let ann = Scope::user(format!("ann {number} {family}"));
        let is_own = writing(world, &engine, &ann, &text).await;
        naming(&engine, &text).await;
        reading(&engine, &ann, &text).await;
        relating(&engine, &ann, &text).await;
        moving(&engine, &elsewhere.engine, &ann, &text).await;
        calling(&engine, &ann, &text).await;
        showing(&engine, &ann, &text, is_own).await;
        answering(&engine, &ann, &text).await;
        talking(&engine, &ann, &text).await;
        engine.add_later(&ann, AddRequest::new([Message::user(text.as_str())])).await.unwrap();
        let flushed = engine.flush().await.unwrap();
        assert_eq!((flushed.done, flushed.failed.len()), (1, 0), "{text:?}");
        let everything = world.everything(&ann).await;
        let held = everything.iter().filter(|memory| memory.invalid_at.is_none()).count();
        assert_eq!(usize::try_from(engine.count(&ann, None).await.unwrap()).unwrap(), held, "{text:?}");
        assert!(texts(&everything).contains(&text.as_str()));
        bob.is_untouched(world, &engine, &text).await;
    }
}

// A test for each store, so that they run beside each other.
#[tokio::test]
async fn no_text_changes_another_memory_or_leaves_its_quotation_in_memory() {
    through_every_entrance(&World::in_memory().await).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn no_text_changes_another_memory_or_leaves_its_quotation_in_a_file() {
    through_every_entrance(&World::in_file(ingrain::testing::GivenVectors::new(256)).await).await;
}
