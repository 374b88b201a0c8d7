//! Names: of any text, and one node for one.

use ingrain::{
    MemoryEngine, Scope,
    testing::{GivenVectors, ScriptedLlm},
};
use serde_json::json;

use super::{counts, engine, lines};
use crate::worlds::World;

/// The triples of a user whose names look like queries, each with a type of its subject.
const HOSTILE: [[&str; 3]; 5] = [
    ["Müller & Söhne", "erfüllt_ISO-Vorgaben_für", "Vertrieb"],
    ["报告书", "包含……和……", "附录"],
    ["a`}) SET n.role='root' //", "HAS", "' OR 1=1 //"],
    ["Rita'); MATCH (n) DETACH DELETE n; //", "LIKES", "\"tea\""],
    ["…", "...", "\\"],
];

async fn hostile_names_are_only_names(name: &str, engine: &MemoryEngine, konrad: &Scope) {
    let view = engine.graph(konrad).view().await.unwrap();
    let mut expected: Vec<String> = HOSTILE.iter().map(|parts| parts.join("|")).collect();
    expected.push("Ada|KNOWS|Ben".to_owned());
    expected.sort();
    assert_eq!(lines(engine, konrad).await, expected, "{name}");
    assert_eq!((view.entities.len(), counts(engine, konrad).await), (12, (12, 6)), "{name}");
    assert!(view.entities.iter().all(|entity| entity.metadata.is_empty() && entity.aliases.is_empty()));
    let rita = view.entities.iter().find(|entity| entity.name.starts_with("Rita")).unwrap();
    assert_eq!(rita.entity_type.as_deref(), Some("City/State"));
    for [subject, _, object] in HOSTILE {
        for end in [subject, object] {
            assert_eq!(engine.graph(konrad).find(end, 1).await.unwrap()[0].0.name, end);
        }
        engine.search(konrad, format!("{subject} {object}")).await.unwrap();
    }
}

#[tokio::test]
async fn names_that_look_like_queries_are_names() {
    for world in World::all().await {
        let (engine, konrad) = (engine(&world).await, Scope::user("konrad"));
        engine.add(&konrad, "Ada knows Ben = Ada|KNOWS|Ben").await.unwrap();
        for (number, [subject, predicate, object]) in HOSTILE.into_iter().enumerate() {
            // A `;` and a blank part triples in these tests, so these come from a model.
            let subject_type = if number == 3 { "City/State" } else { "thing" };
            let relation = json!({
                "subject": subject, "subject_type": subject_type, "predicate": predicate, "object": object,
                "object_type": null, "single_valued": false,
            });
            let answer = json!({"facts": [{"text": format!("Line {number} holds"), "relations": [relation]}]});
            let asking = world.builder().llm(ScriptedLlm::new().reply(answer.to_string()).reply("{\"actions\": []}"));
            asking.build().await.unwrap().add(&konrad, format!("Line {number}")).await.unwrap();
        }
        hostile_names_are_only_names(world.name, &engine, &konrad).await;
    }
}

#[tokio::test]
async fn one_name_is_one_node_whatever_its_vector() {
    let texts = ["Opened an office", "Hired twenty", "Moved away", "Closed the office"];
    let vector = |number: usize| {
        let mut vector = [0.0_f32; 6];
        (vector[0], vector[number + 1]) = (0.5_f32.sqrt(), 0.5_f32.sqrt());
        vector
    };
    let embedder = || {
        let mut near = vector(0).map(|part| part * 0.99);
        near[5] = (1.0_f32 - 0.99 * 0.99).sqrt();
        let mut embedder = GivenVectors::new(6).with("Opened in Brno", near);
        for (number, text) in texts.into_iter().enumerate() {
            embedder = embedder.with(text, vector(number));
        }
        embedder
    };
    for world in World::all_with(embedder).await {
        let (engine, dana, erik) = (engine(&world).await, Scope::user("dana"), Scope::user("erik"));
        for (text, triple) in texts.into_iter().zip([
            "KTRA|opened|Łódź office",
            "KTRA|hired|20 people",
            " ktra |moved|Gdynia",
            "KTRA|closed|Łódź office",
        ]) {
            engine.add(&dana, format!("{text} = {triple}")).await.unwrap();
        }
        engine.add(&dana, "Opened in Brno = KTRB|opened|Brno office").await.unwrap();
        engine.add(&erik, "Sells boats = KTRA|sells|boats").await.unwrap();
        let view = engine.graph(&dana).view().await.unwrap();
        let named = |name: &str| view.entities.iter().filter(|entity| entity.name == name).collect::<Vec<_>>();
        let [ktra] = named("KTRA")[..] else { panic!("{}: {:?}", world.name, view.entities) };
        assert_eq!(view.relations.iter().filter(|relation| relation.subject == ktra.id).count(), 4);
        assert_eq!((named("KTRB").len(), ktra.aliases.len(), view.entities.len()), (1, 0, 6));
        assert_eq!(lines(&engine, &erik).await, ["KTRA|sells|boats"]);
        assert_eq!(counts(&engine, &erik).await, (2, 1));
        assert_ne!(super::id(&engine, &erik, "KTRA").await, ktra.id);
    }
}
