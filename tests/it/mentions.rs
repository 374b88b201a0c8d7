//! Names that no rule decides: a model is asked about them in the reconcile call, and its word is checked, reported, and
//! can be taken back.

mod bounds;
mod meanwhile;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use ingrain::{
    AddReport, AddRequest, ChatRequest, ChatResponse, Entity, GraphBatch, Llm, LlmCapabilities, LlmFn, MemoryEngine,
    ResponseFormat, Scope, VectorStore,
};
use serde_json::{Value, json};

use crate::worlds::{World, t0};

fn ada() -> Scope {
    Scope::user("ada")
}

/// A relation with what its ends are: `Bob:person lives_in Porto:place`.
fn relation(told: &str) -> Value {
    let parts: Vec<&str> = told.splitn(3, " | ").collect();
    let end = |part: &str| {
        let (name, sort) = part.rsplit_once(':').unwrap_or((part, ""));
        (name.to_owned(), Some(sort.to_owned()).filter(|sort| !sort.is_empty()))
    };
    let ((subject, subject_type), (object, object_type)) = (end(parts[0]), end(parts[2]));
    json!({
        "subject": subject, "subject_type": subject_type, "predicate": parts[1], "object": object, "object_type": object_type,
        "single_valued": false,
    })
}

type Means = dyn Fn(&ChatRequest) -> Value + Send + Sync;

/// A model that reads of a message the relations it is written in, one a line, adds every fact, and says of names what
/// the test wants.
#[derive(Clone)]
struct Model {
    asked: Arc<Mutex<Vec<ChatRequest>>>,
    means: Arc<Means>,
}

impl Model {
    fn new(means: impl Fn(&ChatRequest) -> Value + Send + Sync + 'static) -> Self {
        Self { asked: Arc::default(), means: Arc::new(means) }
    }

    fn saying(means: Value) -> Self {
        Self::new(move |_| means.clone())
    }

    fn answer(&self, request: &ChatRequest) -> Value {
        if is_for("facts", request) {
            let said = request.messages[1].text.lines().filter(|line| line.contains(" | "));
            let fact =
                |line: &str| json!({"text": line.replace(" | ", " "), "message": 0, "relations": [relation(line)]});
            return json!({ "facts": said.map(fact).collect::<Vec<_>>() });
        }
        let facts = lines(request, "text").into_iter().filter(|line| line.get("fact").is_some());
        let actions: Vec<Value> = facts.map(|line| json!({"event": "ADD", "fact": line["fact"]})).collect();
        json!({ "actions": actions, "mentions": (self.means)(request) })
    }

    fn llm(&self) -> impl Llm + use<> {
        let own = self.clone();
        let mut able = LlmCapabilities::default();
        able.json_schema = true;
        LlmFn::new("names", move |request: ChatRequest| {
            let answer = own.answer(&request);
            own.asked.lock().unwrap().push(request);
            async move { Ok(ChatResponse::text(answer.to_string())) }
        })
        .with_capabilities(able)
    }

    /// The reconcile request of the last add, if it made one.
    fn last(&self) -> Option<ChatRequest> {
        self.asked.lock().unwrap().last().filter(|request| is_for("actions", request)).cloned()
    }

    async fn engine(&self, world: &World) -> MemoryEngine {
        world.builder().llm(self.llm()).build().await.unwrap()
    }
}

fn is_for(what: &str, request: &ChatRequest) -> bool {
    matches!(&request.response_format, ResponseFormat::Schema { name, .. } if name == what)
}

/// The objects of a request that have this member.
fn lines(request: &ChatRequest, member: &str) -> Vec<Value> {
    let objects = request.messages[1].text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.filter(|object| object.get(member).is_some()).collect()
}

/// The open names of a request, each with the names that it may mean.
fn open(request: &ChatRequest) -> Vec<(String, Vec<String>)> {
    let entities = lines(request, "entity");
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let of = |number: &Value| name(entities.iter().find(|entity| entity["entity"] == *number).unwrap());
    let mentions = lines(request, "mention");
    mentions.iter().map(|one| (name(one), one["may_be"].as_array().unwrap().iter().map(of).collect())).collect()
}

/// The answer that each open name means the entity of this name.
fn all_mean(known: &'static str) -> impl Fn(&ChatRequest) -> Value {
    move |request| {
        let entities = lines(request, "entity");
        let entity = entities.iter().find(|entity| entity["name"] == known);
        let meant = entity.map(|entity| entity["entity"].clone());
        lines(request, "mention").iter().map(|one| json!({"mention": one["mention"], "entity": meant})).collect()
    }
}

/// Names of the entities, those that were merged away left out, in the order of the alphabet.
async fn names(engine: &MemoryEngine) -> Vec<String> {
    let view = engine.graph(&ada()).any_time().view().await.unwrap();
    let mut names: Vec<String> = view.entities.into_iter().map(|entity| entity.name).collect();
    names.sort_unstable();
    names
}

async fn entity(engine: &MemoryEngine, name: &str) -> Entity {
    let (found, likeness) = engine.graph(&ada()).find(name, 1).await.unwrap().remove(0);
    assert!(likeness >= 1.0, "{name}");
    found
}

async fn tell(engine: &MemoryEngine, text: &str) -> AddReport {
    let report = engine.add(&ada(), text).await.unwrap();
    assert!(report.model_calls <= 2, "{}", report.model_calls);
    report
}

const KNOWN: &str = "Robert Smith:person | works_at | Mar Clinic:organization";

#[tokio::test]
async fn a_name_is_joined_to_the_entity_it_means_and_can_be_parted_again() {
    for world in World::all().await {
        let model = Model::new(all_mean("Robert Smith"));
        let engine = model.engine(&world).await;
        tell(&engine, KNOWN).await;
        let report = tell(&engine, "Bob:person | lives_in | Porto:place").await;
        let asked = model.last().unwrap();
        assert_eq!(open(&asked), [("Bob".to_owned(), vec!["Robert Smith".to_owned()])], "{}", world.name);
        assert_eq!(lines(&asked, "entity")[0]["told"], json!(["Robert Smith:person works_at Mar Clinic:organization"]));
        assert_eq!((lines(&asked, "mention")[0]["fact"].clone(), report.model_calls), (json!(0), 2));

        let robert = entity(&engine, "Bob").await;
        assert_eq!((robert.name.as_str(), robert.aliases.as_slice()), ("Robert Smith", &["Bob".to_owned()][..]));
        assert_eq!((report.resolved.len(), report.rejected.len()), (1, 0), "{:?}", report.rejected);
        let resolved = &report.resolved[0];
        assert_eq!(
            (resolved.name.as_str(), resolved.entity, resolved.known_as.as_str()),
            ("Bob", robert.id, "Robert Smith")
        );
        assert_eq!(names(&engine).await, ["Mar Clinic", "Porto", "Robert Smith"]);
        let told = &report.relations[0];
        assert_eq!((told.subject, told.subject_name.as_deref()), (robert.id, Some("Bob")));

        // It goes by that name from now on, and nobody is asked.
        let again = tell(&engine, "Bob:person | plays | chess").await;
        assert_eq!((open(&model.last().unwrap()), again.resolved.len()), (vec![], 0));
        assert_eq!(again.relations[0].subject, robert.id);

        let bob = engine.graph(&ada()).split(robert.id, "Bob").await.unwrap();
        assert_eq!(names(&engine).await, ["Bob", "Mar Clinic", "Porto", "Robert Smith", "chess"]);
        let view = engine.graph(&ada()).view().await.unwrap();
        let of = |id| -> BTreeSet<&str> {
            view.relations.iter().filter(|one| one.subject == id).map(|one| one.predicate.as_str()).collect()
        };
        assert_eq!((of(bob), of(robert.id)), (BTreeSet::from(["lives_in", "plays"]), BTreeSet::from(["works_at"])));
        let third = tell(&engine, "Bob:person | sings | fado").await;
        assert_eq!((open(&model.last().unwrap()), third.relations[0].subject), (vec![], bob));
    }
}

#[tokio::test]
async fn what_is_new_stays_new() {
    for means in [json!([{"mention": 0, "entity": null}]), json!([]), Value::Null] {
        for world in World::all().await {
            let model = Model::saying(means.clone());
            let engine = model.engine(&world).await;
            tell(&engine, KNOWN).await;
            let report = tell(&engine, "Bob:person | lives_in | Porto:place").await;
            assert_eq!(open(&model.last().unwrap()).len(), 1);
            assert_eq!((report.resolved.len(), report.rejected.len()), (0, 0), "{means} {:?}", report.rejected);
            assert_eq!(names(&engine).await, ["Bob", "Mar Clinic", "Porto", "Robert Smith"]);
        }
    }
}

/// What the answer may say in any form, and what is taken of it.
#[tokio::test]
async fn sloppy_answers_are_read() {
    for means in [json!([{"mention": "0", "entity": "0"}]), json!({"mention": 0, "entity": 0}), json!({"0": 0})] {
        let world = World::in_memory().await;
        let engine = Model::saying(means.clone()).engine(&world).await;
        tell(&engine, KNOWN).await;
        assert_eq!(tell(&engine, "Bob:person | lives_in | Porto:place").await.resolved.len(), 1, "{means}");
    }
}

/// Names that say the same in other words, each with what the model is shown.
#[tokio::test]
async fn what_takes_understanding_is_asked() {
    for (known, told, (name, may_be)) in [
        (KNOWN, "user | went_to | the clinic:organization", ("the clinic", "Mar Clinic")),
        (KNOWN, "user | went_to | Clínica Mar:organization", ("Clínica Mar", "Mar Clinic")),
        ("user | works_at | Acme Robotics", "user | left | Acme Robottics", ("Acme Robottics", "Acme Robotics")),
        ("user | works_at | Radio Kerala Trust:company", "user | likes | RKT:company", ("RKT", "Radio Kerala Trust")),
        ("user | friend_of | Ana Maria Lima:person", "user | met | Ana:person", ("Ana", "Ana Maria Lima")),
        ("user | works_with | Marta Silveira:person", "user | met | my boss:person", ("my boss", "Marta Silveira")),
    ] {
        for world in World::all().await {
            let model = Model::new(all_mean(may_be));
            let engine = model.engine(&world).await;
            tell(&engine, known).await;
            let report = tell(&engine, told).await;
            let asked = open(&model.last().unwrap());
            assert_eq!(asked, [(name.to_owned(), vec![may_be.to_owned()])], "{}", world.name);
            let resolved: Vec<&str> = report.resolved.iter().map(|one| one.known_as.as_str()).collect();
            assert_eq!(resolved, [may_be], "{:?}", report.rejected);
            assert_eq!(entity(&engine, name).await.name, may_be);
        }
    }
}

/// Names that only look alike are not shown, and not merged whatever is answered; nor is anything asked that a rule knows.
#[tokio::test]
async fn what_is_decided_is_not_asked() {
    for (known, told, count) in [
        ("Jon:person | works_at | Mar:company", "John:person | works_at | Mar:company", 3),
        ("Joan Lee:person | works_at | Mar:company", "John:person | works_at | Mar:company", 3),
        ("KTRA:company | based_in | Porto:place", "KTRB:company | based_in | Porto:place", 3),
        ("user | lives_in | Hall 7 North:place", "user | likes | Hall 8 North:place", 3),
        ("Ana Lima:person | works_at | Mar:company", "Ana Costa:person | lives_in | Faro:place", 4),
        ("Jordan:country | borders | Iraq:country", "Jordan:person | lives_in | Faro:place", 4),
        (KNOWN, "ROBERT smith:person | lives_in | Porto:place", 3),
        (KNOWN, "Dr. Robert Smith:person | left | Mar Clinic:organization", 2),
        (KNOWN, "Robert Smith | same_as | Bob", 2),
        (KNOWN, "Bob:person | likes | chess\nRobert Smith | same_as | Bob", 4),
        (KNOWN, "user | likes | chess", 4),
        (KNOWN, "I | keep | bees", 4),
    ] {
        for world in World::all().await {
            let model = Model::saying(json!([{"mention": 0, "entity": 0}, {"mention": 1, "entity": 0}]));
            let engine = model.engine(&world).await;
            tell(&engine, known).await;
            let report = tell(&engine, told).await;
            let asked = model.last().unwrap();
            let shown = format!("{asked:?}");
            assert!(!shown.contains("Mentions:") && !shown.contains("may_be"), "{told}: {:?}", open(&asked));
            assert_eq!((report.resolved.len(), report.rejected.len()), (0, 0), "{told}");
            assert_eq!(names(&engine).await.len(), count, "{told}: {:?}", names(&engine).await);
        }
    }
}

/// Answers that cannot be, each rejected with a reason; the name then means what it would without a model.
#[tokio::test]
async fn answers_that_cannot_be_are_rejected() {
    let told = "Bob:person | likes | the clinic:organization";
    for (means, resolved, rejected) in [
        (json!([{"mention": 0, "entity": 7}]), 0, 1),
        (json!([{"mention": 7, "entity": 0}]), 0, 1),
        (json!([{"mention": 0, "entity": "Robert"}]), 0, 1),
        (json!([{"entity": 0}, {"mention": 0}, 5]), 0, 3),
        (json!([{"mention": 0, "entity": -1}]), 0, 1),
        // The clinic is no person, and Robert no clinic.
        (json!([{"mention": 0, "entity": 1}]), 0, 1),
        (json!([{"mention": 1, "entity": 0}]), 0, 1),
        // Now one thing, now another.
        (json!([{"mention": 0, "entity": 0}, {"mention": 0, "entity": null}]), 0, 1),
        (json!([{"mention": 0, "entity": 0}, {"mention": 0, "entity": 0}, {"mention": 1, "entity": 9}]), 1, 1),
    ] {
        for world in World::all().await {
            let model = Model::saying(means.clone());
            let engine = model.engine(&world).await;
            tell(&engine, KNOWN).await;
            let report = tell(&engine, told).await;
            assert_eq!(open(&model.last().unwrap()).len(), 2, "{:?}", open(&model.last().unwrap()));
            assert_eq!(
                (report.resolved.len(), report.rejected.len()),
                (resolved, rejected),
                "{means} {:?}",
                report.rejected
            );
            let words = report.rejected.concat();
            assert!(!words.contains("Bob") && !words.contains("Robert"), "no text of the user's: {words}");
            assert_eq!(names(&engine).await.len(), 4 - resolved);
        }
    }
}

/// Two names in one relation are not one.
#[tokio::test]
async fn the_ends_of_a_relation_are_two() {
    let world = World::in_memory().await;
    let model = Model::new(all_mean("Robert Smith"));
    let engine = model.engine(&world).await;
    tell(&engine, KNOWN).await;
    let report = tell(&engine, "Bob:person | brother_of | Bobby:person").await;
    assert_eq!(open(&model.last().unwrap()).len(), 2);
    assert_eq!((report.resolved.len(), report.rejected.len()), (0, 2), "{:?}", report.rejected);
    // Nor is a name taken for the other end, which is known.
    let report = tell(&engine, "Rob:person | brother_of | Robert Smith:person").await;
    assert!(report.resolved.is_empty());
    assert!(!open(&model.last().unwrap()).iter().any(|(_, may_be)| may_be.contains(&"Robert Smith".to_owned())));
}

/// Two of one name are asked about unless a neighbour tells them apart; without an answer it is the older, and no third one
/// is made.
#[tokio::test]
async fn of_two_of_one_name_the_model_chooses() {
    for world in World::all().await {
        let graph = world.store.companions().graph.unwrap();
        let mut batch = GraphBatch::default();
        for _ in 0..2 {
            let mut ana = Entity::new(ingrain::EntityId::new(t0()), ada(), "Ana Silva", t0());
            ana.entity_type = Some("person".to_owned());
            batch.entities.push(ana);
        }
        let mut ids: Vec<_> = batch.entities.iter().map(|entity| entity.id).collect();
        ids.sort_unstable();
        graph.apply_graph(&batch).await.unwrap();
        world.add(&ada(), "Likes the sea").await;
        for (means, meant, resolved, rejected) in [
            (json!([{"mention": 0, "entity": 1}]), 1, 1, 0),
            (json!([{"mention": 0, "entity": 0}]), 0, 1, 0),
            (json!([{"mention": 0, "entity": null}]), 0, 0, 1),
            (json!([]), 0, 0, 0),
        ] {
            let model = Model::saying(means.clone());
            let engine = model.engine(&world).await;
            let report = tell(&engine, &format!("Ana Silva:person | likes | boat {resolved}{rejected}{meant}")).await;
            assert_eq!(open(&model.last().unwrap())[0].1, ["Ana Silva", "Ana Silva"]);
            assert_eq!((report.resolved.len(), report.rejected.len()), (resolved, rejected), "{means}");
            assert_eq!(report.relations[0].subject, ids[meant], "{means}");
        }
        // The one who likes that very boat is known.
        let model = Model::saying(json!([{"mention": 0, "entity": 0}]));
        let engine = model.engine(&world).await;
        let report = tell(&engine, "Ana Silva:person | sold | boat 101").await;
        assert_eq!((open(&model.last().unwrap()), report.relations[0].subject), (vec![], ids[1]));
    }
}

/// Rules are asked nothing, and neither is a model that decides with tools.
#[tokio::test]
async fn who_does_not_resolve_names_is_not_asked() {
    let world = World::in_memory().await;
    let model = Model::new(all_mean("Robert Smith"));
    let engine = model.engine(&world).await;
    tell(&engine, KNOWN).await;
    let agentic = AddRequest::from("Bob:person | lives_in | Porto:place").mode(ingrain::AddMode::Agentic);
    let report = engine.add(&ada(), agentic).await.unwrap();
    assert!(report.resolved.is_empty() && !format!("{:?}", model.last()).contains("may_be"));
    assert_eq!(names(&engine).await, ["Bob", "Mar Clinic", "Porto", "Robert Smith"]);
}
