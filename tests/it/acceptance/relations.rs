//! What users expect of the graph: in step with the memories, one node for one name, names of any text.

mod changes;
mod ends;
mod kin;
mod names;
mod stores;
mod ways;
mod writers;

use ingrain::{
    Error, ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, Graph, MemoryEngine, MemoryId, Mention,
    Message, Result, Scope, async_trait,
};

use crate::worlds::World;

/// Reads `statement = subject|predicate|object; …` in each message as a fact with its relations. A predicate with a `!`
/// behind it has one object at a time; `slot:` in front of the statement fills a slot.
#[derive(Debug)]
struct Triples;

fn mention(text: &str) -> Mention {
    match text.split_once("::") {
        Some((name, entity_type)) => Mention::new(name).with_type(entity_type),
        None => Mention::new(text),
    }
}

#[async_trait]
impl Extractor for Triples {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let fact = |(number, message): (usize, &Message)| {
            let (statement, triples) = message.text.split_once(" = ").unwrap_or((&message.text, ""));
            let (slot, statement) =
                statement.split_once(": ").map_or((None, statement), |(slot, rest)| (Some(slot), rest));
            let mut fact = Fact::new(statement, number);
            fact.slot = slot.map(str::to_owned);
            for triple in triples.split("; ").filter(|triple| request.relations && !triple.is_empty()) {
                let parts: Vec<&str> = triple.split('|').collect();
                let predicate = parts[1].trim_end_matches('!');
                let relation = ExtractedRelation::new(mention(parts[0]), predicate, mention(parts[2]));
                let is_single = parts[1].ends_with('!');
                fact.relations.push(if is_single { relation.single_valued() } else { relation });
            }
            fact
        };
        Ok(Extraction::of(request.messages.iter().enumerate().map(fact).collect()))
    }
}

async fn engine(world: &World) -> MemoryEngine {
    world.builder().extractor(Triples).build().await.unwrap()
}

/// Adds it; the memory of the fact, without its turn.
async fn tell(engine: &MemoryEngine, scope: &Scope, text: &str) -> MemoryId {
    let report = engine.add(scope, text).await.unwrap();
    for turn in &report.episodes {
        engine.delete(scope, *turn).await.unwrap();
    }
    report.added[0].id
}

/// What the graph tells, one relation a line, in order of the alphabet.
async fn lines_of(graph: &Graph) -> Vec<String> {
    let view = graph.view().await.unwrap();
    let name = |id| &view.entities.iter().find(|entity| entity.id == id).unwrap().name;
    let line = |relation: &ingrain::Relation| {
        format!("{}|{}|{}", name(relation.subject), relation.predicate, name(relation.object))
    };
    let mut lines: Vec<String> = view.relations.iter().map(line).collect();
    lines.sort();
    lines
}

async fn lines(engine: &MemoryEngine, scope: &Scope) -> Vec<String> {
    lines_of(&engine.graph(scope)).await
}

async fn counts(engine: &MemoryEngine, scope: &Scope) -> (u64, u64) {
    engine.graph(scope).counts().await.unwrap()
}

/// Entity by name.
async fn id(engine: &MemoryEngine, scope: &Scope, name: &str) -> ingrain::EntityId {
    engine.graph(scope).find(name, 1).await.unwrap()[0].0.id
}

fn kind<T>(result: Result<T>) -> Option<ingrain::ErrorKind> {
    result.err().as_ref().map(Error::kind)
}
