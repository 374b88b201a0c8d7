//! Relations by a model, in the same answer as the facts.

use ingrain::{
    ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, LlmCapabilities, Message, ResponseFormat, Scope,
    prompted::PromptedExtractor, testing::ScriptedLlm,
};
use serde_json::{Value, json};

use crate::worlds::{World, time};

async fn read(extractor: PromptedExtractor, messages: &[Message], relations: bool) -> Extraction {
    let mut request = ExtractRequest::new(messages, time("2025-02-10T08:00:00Z"));
    request.relations = relations;
    extractor.extract(&request).await.unwrap()
}

fn able() -> ScriptedLlm {
    let mut able = LlmCapabilities::default();
    able.json_schema = true;
    ScriptedLlm::new().with_capabilities(able)
}

fn lines(fact: &Fact) -> Vec<String> {
    let line = |relation: &ExtractedRelation| {
        let single = if relation.single_valued { "!" } else { "" };
        format!("{}|{}{single}|{}", relation.subject.name, relation.predicate, relation.object.name)
    };
    fact.relations.iter().map(line).collect()
}

fn schema(llm: &ScriptedLlm) -> Value {
    match &llm.requests()[0].response_format {
        ResponseFormat::Schema { schema, .. } => schema.clone(),
        other => panic!("{other:?}"),
    }
}

const PROPERTIES: &str = "/properties/facts/items/properties/relations/items/properties";

#[tokio::test]
async fn only_who_wants_relations_asks_for_them() {
    let messages = [Message::user("I work at Mar")];
    let answer =
        json!({"facts": [{"text": "Works at Mar", "relations": [["user", "works_at", "Mar"], ["she", "p", "q"]]}]});
    let (with, without) = (able().reply(answer.to_string()), able().reply(answer.to_string()));
    let found = read(PromptedExtractor::new(with.clone()), &messages, true).await;
    assert_eq!(
        (lines(&found.facts[0]), found.ignored.len(), found.model_calls),
        (vec!["user|works_at|Mar".into()], 1, 1)
    );
    let found = read(PromptedExtractor::new(without.clone()).predicates(["works_at"]), &messages, false).await;
    assert_eq!((lines(&found.facts[0]).len(), found.ignored.len()), (0, 0));

    let (more, less) = (&with.requests()[0], &without.requests()[0]);
    assert!(!format!("{less:?}").contains("relations") && !format!("{less:?}").contains("predicate"));
    // The same, and a few lines in it.
    let (long, short) = (&more.messages[0].text, &less.messages[0].text);
    let before = long.bytes().zip(short.bytes()).take_while(|(one, other)| one == other).count();
    let behind = long.bytes().rev().zip(short.bytes().rev()).take_while(|(one, other)| one == other).count();
    assert!(before + behind >= short.len() && long.len() - short.len() < 1_000, "{}", long.len() - short.len());
    assert_eq!(more.messages[1..], less.messages[1..]);
    let mut stripped = schema(&with);
    let fact = stripped.pointer_mut("/properties/facts/items").unwrap();
    assert!(fact["properties"].as_object_mut().unwrap().remove("relations").is_some());
    assert!(fact["required"].as_array_mut().unwrap().pop().is_some_and(|name| name == "relations"));
    assert_eq!(stripped, schema(&without));
}

/// As strict modes want it: closed, every property required, what may be missing nullable.
#[tokio::test]
async fn the_schema_is_strict_and_closed_where_the_application_says_so() {
    let messages = [Message::user("I work at Mar")];
    let llm = able().reply("{\"facts\": []}");
    read(PromptedExtractor::new(llm.clone()), &messages, true).await;
    let item = schema(&llm).pointer("/properties/facts/items/properties/relations/items").unwrap().clone();
    let names: Vec<&String> = item["properties"].as_object().unwrap().keys().collect();
    assert_eq!(json!(names), item["required"]);
    assert_eq!((names.len(), &item["additionalProperties"]), (6, &json!(false)));
    assert_eq!(item["properties"]["subject_type"]["type"], json!(["string", "null"]));

    let llm = able().reply("{\"facts\": []}");
    let extractor = PromptedExtractor::new(llm.clone());
    let extractor = extractor.predicates(["works_at"]).entity_types(["person", "place"]).single_valued(["works_at"]);
    read(extractor, &messages, true).await;
    let schema = schema(&llm);
    let properties = schema.pointer(PROPERTIES).unwrap();
    assert_eq!(properties["predicate"]["enum"], json!(["works_at", "same_as"]));
    assert_eq!(properties["object_type"]["anyOf"][0]["enum"], json!(["person", "place"]));
    assert_eq!(properties.get("single_valued"), None);
    let asked = &llm.requests()[0].messages[0].text;
    assert!(
        asked.contains("[\"works_at\"]") && asked.contains("[\"person\",\"place\"]") && !asked.contains("lives_in")
    );
}

#[tokio::test]
async fn what_is_in_no_list_is_left_out() {
    let relation = |predicate: &str, object_type: &str| json!({"subject": "user", "predicate": predicate, "object": "Mar", "object_type": object_type, "single_valued": true});
    let answer = json!({"facts": [{"text": "Works at Mar", "relations": [
        relation("Works At", "ORGANIZATION"), relation("lives-in", "clinic"), relation("adores", "person"), relation("same_as", "x"),
    ]}]});
    let extractor = PromptedExtractor::new(ScriptedLlm::new().reply(answer.to_string()));
    let extractor =
        extractor.predicates(["works_at", "lives_in"]).entity_types(["organization"]).single_valued(["lives_in"]);
    let found = read(extractor, &[Message::user("I work at Mar")], true).await;
    assert_eq!(lines(&found.facts[0]), ["user|works_at|Mar", "user|lives_in!|Mar", "user|same_as|Mar"]);
    let types: Vec<_> = found.facts[0].relations.iter().map(|one| one.object.entity_type.as_deref()).collect();
    assert_eq!(types, [Some("organization"), None, None]);
    assert_eq!(found.ignored.len(), 1);
    assert!(found.ignored[0].reason.contains("not in the list"));
}

#[tokio::test]
async fn relations_beside_the_facts_go_to_the_fact_that_names_their_ends() {
    let answer = json!({
        "facts": [{"text": "Ana works at Mar Clinic", "message": 0}, {"text": "Has a sister, Ana", "message": 0}],
        "relations": [
            ["Ana (sister)", "works_at", "Mar Clinic"], {"source": "user", "relationship": "has_sister", "target": "Ana"},
            ["An", "knows", "Mar"], ["Ana", "knows", "Rui"], ["Ana", "", "Mar"],
        ],
    });
    let extractor = PromptedExtractor::new(ScriptedLlm::new().reply(answer.to_string()));
    let found = read(extractor, &[Message::user("My sister Ana works at the Mar Clinic")], true).await;
    // The user counts as named, so the first fact with Ana has both.
    assert_eq!(lines(&found.facts[0]), ["Ana (sister)|works_at|Mar Clinic", "user|has_sister|Ana"]);
    assert_eq!(found.facts[1].relations, []);
    assert_eq!(found.ignored.len(), 3, "{:?}", found.ignored);
}

/// What the prompt gave as an example is no relation, unless somebody spoke of it.
#[tokio::test]
async fn the_examples_of_the_prompt_are_not_remembered() {
    let answer = json!({"facts": [{"text": "Keeps bees", "relations": [["user", "lives_in", "Tromsø"], ["Ana (sister)", "keeps", "bees"]]}]});
    let extractor = |answer: &Value| PromptedExtractor::new(ScriptedLlm::new().reply(answer.to_string()));
    let found = read(extractor(&answer), &[Message::user("I keep bees")], true).await;
    assert_eq!((found.facts[0].relations.len(), found.ignored.len()), (0, 2));
    let found = read(extractor(&answer), &[Message::user("In Tromsø, Ana and I keep bees")], true).await;
    assert_eq!((found.facts[0].relations.len(), found.ignored.len()), (2, 0));
}

/// Sixteen of a fact, a thousand of an answer, whatever the model gives.
#[tokio::test]
async fn relations_are_bounded() {
    let triples = |count: usize| (0..count).map(|number| json!(["user", "owns", format!("boat {number}")]));
    let fact =
        |number: usize| json!({"text": format!("Owns boats, {number}"), "relations": triples(16).collect::<Vec<_>>()});
    let answer =
        json!({"facts": (0..80).map(fact).collect::<Vec<_>>(), "relations": triples(5_000).collect::<Vec<_>>()});
    let extractor = PromptedExtractor::new(ScriptedLlm::new().reply(answer.to_string()));
    let found = read(extractor, &[Message::user("I own boats")], true).await;
    assert_eq!((found.facts.len(), found.facts.iter().map(|fact| fact.relations.len()).sum::<usize>()), (80, 1_000));
    assert!(found.facts.iter().all(|fact| fact.relations.len() <= 16) && found.ignored.len() < 2_000);
}

/// What an assistant tells of the user is told of the user.
#[tokio::test]
async fn the_user_is_the_user_in_the_words_of_others() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        let fact = |message: usize, text: &str, place: &str| json!({"text": text, "message": message, "relations": [["user", "likes", place]]});
        let answer = json!({"facts": [fact(0, "Likes Porto", "Porto"), fact(1, "Assistant: likes Faro", "Faro")]});
        let llm = ScriptedLlm::new().reply(answer.to_string());
        let extractor = PromptedExtractor::new(llm).both_speakers(true);
        let engine = world.builder().extractor(extractor).build().await.unwrap();
        let turns = [
            Message::user("Porto!").from_speaker("Ada"),
            Message::assistant("You like Faro, too.").from_speaker("Bot"),
        ];
        engine.add(&ada, turns).await.unwrap();
        let view = engine.graph(&ada).view().await.unwrap();
        let names: Vec<&str> = view.entities.iter().map(|entity| entity.name.as_str()).collect();
        assert!(names.contains(&"Ada") && !names.contains(&"Bot") && names.len() == 3, "{}: {names:?}", world.name);
    }
}

/// The whole add: two calls at most, and the relations are in the graph and in the report.
#[tokio::test]
async fn an_add_asks_twice_at_most_and_fills_the_graph() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        world.add(&ada, "Lives by a lake").await;
        let relation = json!({
            "subject": "user", "subject_type": "person", "predicate": "works_at", "object": "Mar", "object_type": "clinic",
            "single_valued": true,
        });
        let answer = json!({"facts": [{"text": "Works at Mar", "message": 0, "relations": [relation]}]});
        let llm = able().reply(answer.to_string()).reply(json!({"actions": [{"event": "ADD", "fact": 0}]}).to_string());
        let engine = world.builder().llm(llm.clone()).build().await.unwrap();
        let report = engine.add(&ada, "I work at Mar").await.unwrap();
        assert_eq!((report.model_calls, llm.requests().len(), report.relations.len()), (2, 2, 1), "{}", world.name);
        assert_eq!(report.relations[0].sources, [report.added[0].id]);
        assert!(schema(&llm).pointer(PROPERTIES).is_some());
        let view = engine.graph(&ada).view().await.unwrap();
        assert_eq!((view.entities.len(), view.relations[0].predicate.as_str()), (2, "works_at"));
        assert!(view.entities.iter().any(|one| one.entity_type.as_deref() == Some("clinic")));

        let llm = able().reply(answer.to_string());
        let without = world.builder().llm(llm.clone()).relations(false).build().await.unwrap();
        without.add(&Scope::user("ben"), "I work at Mar").await.unwrap();
        assert!(schema(&llm).pointer(PROPERTIES).is_none());
    }
}
