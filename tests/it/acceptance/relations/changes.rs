//! What becomes of relations when memories change.

use std::time::Duration;

use ingrain::{ListRequest, MemoryUpdate, Scope, SearchMode, SearchRequest};

use super::{counts, engine, id, kind, lines, lines_of, tell};
use crate::worlds::{World, t0, time};

const MAR: &str = "Inês|trabalha_em|Clínica Mar";

#[tokio::test]
async fn deleting_a_memory_takes_its_own_relations_only() {
    for world in World::all().await {
        let (engine, ines) = (engine(&world).await, Scope::user("ines"));
        let m1 = tell(&engine, &ines, &format!("Inês trabalha na clínica Mar = {MAR}")).await;
        let brother = "Inês|tem_irmão|Rui; Rui|trabalha_em|Clínica Mar";
        let m2 = tell(&engine, &ines, &format!("O irmão de Inês também trabalha lá = {brother}")).await;
        let m3 = tell(&engine, &ines, &format!("Inês trabalha na clínica Mar às segundas = {MAR}")).await;
        let all = ["Inês|tem_irmão|Rui", MAR, "Rui|trabalha_em|Clínica Mar"];
        assert_eq!(lines(&engine, &ines).await, all, "{}", world.name);
        let found = async |mode: SearchMode| {
            let hits = engine.search(&ines, SearchRequest::new("Onde trabalha Inês?").mode(mode)).await.unwrap();
            hits.into_iter().map(|hit| hit.memory.id).collect::<Vec<_>>()
        };
        for (gone, left) in [(m1, &all[..]), (m3, &[all[0], all[2]]), (m2, &[])] {
            engine.delete(&ines, gone).await.unwrap();
            assert_eq!(lines(&engine, &ines).await, left, "{}", world.name);
            for mode in [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid] {
                assert!(!found(mode).await.contains(&gone));
            }
            // What stays is not told in the words of what went.
            let view = engine.graph(&ines).any_time().view().await.unwrap();
            let texts = engine.list(&ines, ListRequest::new()).await.unwrap().items;
            let told = |fact: &str| texts.iter().any(|memory| memory.text == fact);
            assert!(view.relations.iter().all(|relation| told(&relation.fact)), "{:?}", view.relations);
            assert!(view.relations.iter().all(|relation| !relation.sources.contains(&gone)));
        }
        assert_eq!(counts(&engine, &ines).await, (0, 0));
        assert!(engine.graph(&ines).find("Rui", 5).await.unwrap().is_empty());
        for mode in [SearchMode::Vector, SearchMode::Keyword, SearchMode::Hybrid] {
            assert_eq!(found(mode).await, []);
        }
    }
}

#[tokio::test]
async fn a_new_text_drops_what_rested_on_the_old() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let one = tell(&engine, &ada, "Works at Bolt = user|works_at|Bolt").await;
        tell(&engine, &ada, "Bolt is in Turku = Bolt|is_in|Turku").await;
        engine.update(&ada, one, MemoryUpdate::new().importance(0.9)).await.unwrap();
        assert_eq!(lines(&engine, &ada).await, ["Bolt|is_in|Turku", "user|works_at|Bolt"]);
        engine.update(&ada, one, MemoryUpdate::new().text("Has left Bolt")).await.unwrap();
        assert_eq!(lines(&engine, &ada).await, ["Bolt|is_in|Turku"], "{}", world.name);
        assert!(engine.graph(&ada).find("user", 1).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn what_ends_with_its_memory_is_still_there_in_the_past() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        tell(&engine, &ada, "user.home: Lives in Lisbon = user|lives_in|Lisbon").await;
        world.clock.advance(Duration::from_secs(86_400));
        let report = engine.add(&ada, "user.home: Lives in Porto = user|lives_in|Porto").await.unwrap();
        assert_eq!((report.superseded.len(), report.relations.len()), (1, 2), "{}", world.name);
        assert_eq!(lines(&engine, &ada).await, ["user|lives_in|Porto"]);
        let graph = engine.graph(&ada);
        assert_eq!(lines_of(&graph.clone().at(t0())).await, ["user|lives_in|Lisbon"]);
        assert_eq!(lines_of(&graph.clone().any_time()).await, ["user|lives_in|Lisbon", "user|lives_in|Porto"]);
        let (now, before) = (time("2025-02-11T12:00:00Z"), time("2025-02-10T12:00:00Z"));
        assert_eq!(lines_of(&graph.clone().as_of(now, before)).await, ["user|lives_in|Lisbon"]);
        assert_eq!(lines_of(&graph.as_of(now, now)).await, ["user|lives_in|Porto"]);
        // Without a slot the predicate tells that there is but one.
        tell(&engine, &ada, "Works at Bolt = user|works_at!|Bolt").await;
        world.clock.advance(Duration::from_secs(86_400));
        tell(&engine, &ada, "Works at Acme now = user|works_at!|Acme").await;
        assert_eq!(lines(&engine, &ada).await, ["user|lives_in|Porto", "user|works_at|Acme"]);
    }
}

#[tokio::test]
async fn forgetting_a_user_or_a_session_takes_the_graph_along() {
    for world in World::all().await {
        let engine = engine(&world).await;
        let (ada, ben) = (Scope::user("ada"), Scope::user("ben"));
        let session = |name: &str| ada.clone().with_session(name);
        for scope in [&session("one"), &session("two"), &ben] {
            engine.add(scope, "Knows Cid = user|knows|Cid").await.unwrap();
            engine
                .add(scope, &*format!("Knows {0} = user|knows|{0}", scope.session_id().unwrap_or("Dan")))
                .await
                .unwrap();
        }
        assert_eq!(lines(&engine, &session("one")).await, ["user|knows|Cid", "user|knows|one", "user|knows|two"]);
        engine.delete_all(&session("two")).await.unwrap();
        assert_eq!(lines(&engine, &ada).await, ["user|knows|Cid", "user|knows|one"], "{}", world.name);
        // The session by its own name alone.
        engine.delete_all(&Scope::session("one")).await.unwrap();
        assert_eq!((lines(&engine, &ada).await.len(), counts(&engine, &ada).await), (0, (0, 0)), "{}", world.name);
        assert_eq!(lines(&engine, &ben).await, ["user|knows|Cid", "user|knows|Dan"]);
        engine.delete_all(&ben).await.unwrap();
        assert_eq!(counts(&engine, &ben).await, (0, 0));
    }
}

/// A memory of the user and an agent, which the user said again without that agent.
#[tokio::test]
async fn a_relation_in_a_wider_scope_goes_with_its_memory_too() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let coach = ada.clone().with_agent("coach");
        for by_hand in [true, false] {
            let memory = tell(&engine, &coach, "Runs with Cid = user|runs_with|Cid").await;
            let report = engine.add(&ada, "Runs with Cid = user|runs_with|Cid").await.unwrap();
            assert_eq!(report.skipped[0].known, Some(memory), "{}", world.name);
            assert!(!lines(&engine, &ada).await.is_empty());
            if by_hand {
                engine.delete(&coach, memory).await.unwrap();
            } else {
                engine.delete_all(&coach).await.unwrap();
            }
            assert_eq!(counts(&engine, &ada).await, (0, 0), "{} {by_hand}", world.name);
        }
    }
}

#[tokio::test]
async fn two_that_are_one_are_merged_and_parted_again() {
    for world in World::all().await {
        let (engine, ada) = (engine(&world).await, Scope::user("ada"));
        let ann = tell(&engine, &ada, "Ann bakes = Ann|bakes|bread").await;
        tell(&engine, &ada, "Annie lives in Ghent = Annie|lives_in!|Ghent; Annie|bakes|bread").await;
        let before = lines(&engine, &ada).await;
        let graph = engine.graph(&ada);
        let (kept, other) = (id(&engine, &ada, "Ann").await, id(&engine, &ada, "Annie").await);
        graph.merge(kept, other).await.unwrap();
        assert_eq!(lines(&engine, &ada).await, ["Ann|bakes|bread", "Ann|lives_in|Ghent"], "{}", world.name);
        assert_eq!(id(&engine, &ada, "annie").await, kept);
        // Told under either name, it is told of that one.
        tell(&engine, &ada, "Annie sings = Annie|sings_in|choir").await;
        assert_eq!(graph.view().await.unwrap().entities.iter().filter(|one| one.name.starts_with("Ann")).count(), 1);
        assert_eq!(graph.split(kept, "ANNIE").await.unwrap(), other);
        let after = lines(&engine, &ada).await;
        assert!(
            after.contains(&"Annie|sings_in|choir".to_owned()) && after.contains(&"Annie|lives_in|Ghent".to_owned())
        );
        assert!(before.iter().filter(|line| !line.ends_with("bread")).all(|line| after.contains(line)), "{after:?}");
        assert!(after.contains(&"Ann|bakes|bread".to_owned()), "{after:?}");
        for bad in [graph.merge(kept, kept).await, graph.split(kept, "nobody").await.map(drop)] {
            assert_eq!(kind(bad), Some(ingrain::ErrorKind::InvalidArgument));
        }
        // What was merged and parted still goes with its memories.
        engine.delete(&ada, ann).await.unwrap();
        engine.delete_all(&ada).await.unwrap();
        assert_eq!(counts(&engine, &ada).await, (0, 0));
    }
}
