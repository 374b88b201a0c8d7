//! Who and what a user's world is made of: a graph that fills itself from what is said, and knows what it was like before.
//! No server, no key, no download: `cargo run --example graph`. What it prints can be looked at: the Mermaid text on
//! <https://mermaid.live> or in any Markdown file on GitHub, the DOT text with Graphviz.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use ingrain::{Graph, ManualClock, MemoryEngine, Result, Scope};

/// The relations as lines.
async fn lines(graph: &Graph) -> Result<Vec<String>> {
    let view = graph.view().await?;
    let name = |id| view.entities.iter().find(|entity| entity.id == id).map_or("?", |entity| entity.name.as_str());
    let told = |relation: &ingrain::Relation| {
        format!("{} {} {}", name(relation.subject), relation.predicate, name(relation.object))
    };
    Ok(view.relations.iter().map(told).collect())
}

#[tokio::main]
async fn main() -> Result<()> {
    // A clock that we set, so that months pass while this runs.
    let january = "2025-01-15T09:00:00Z".parse().unwrap_or_default();
    let clock = ManualClock::at(january);
    let memory = MemoryEngine::builder().clock(clock.clone()).build().await?;
    let alice = Scope::user("alice");

    // 1. Facts bring their relations along. Here rules read them; a model (`builder().llm(…)`) reads more of them, in the
    //    same call as the facts.
    memory.add(&alice, "I live in Lisbon. I work at Bolt. I have a dog named Bruno.").await?;
    memory.add(&alice, "My sister Ann has a new job.").await?;
    clock.advance(Duration::from_secs(120 * 86_400));
    let report = memory.add(&alice, "I moved to Porto.").await?;
    println!("new or ended: {} relations", report.relations.len());

    // 2. What holds now.
    let graph = memory.graph(&alice);
    println!("\nnow:\n{}", graph.view().await?.to_mermaid());

    // 3. Two dates: when it was so, and what we knew of it then. In March nobody had told us of Porto yet.
    let (march, today) = ("2025-03-01T00:00:00Z".parse().unwrap_or_default(), clock_now(&clock));
    let lived = |lines: &[String]| lines.iter().filter(|line| line.starts_with("user lives_in")).cloned().collect();
    let then: Vec<String> = lived(&lines(&graph.clone().as_of(march, march)).await?);
    let now: Vec<String> = lived(&lines(&graph.clone().as_of(today, today)).await?);
    println!("in March: {then:?}, today: {now:?}\n");
    assert_eq!((then, now), (vec!["user lives_in Lisbon".to_owned()], vec!["user lives_in Porto".to_owned()]));

    // 4. How are two connected? By a shortest path, along relations in either direction.
    let ends = [graph.find("Ann", 1).await?, graph.find("Bruno", 1).await?];
    if let [Some((ann, _)), Some((bruno, _))] = ends.each_ref().map(|found| found.first())
        && let Some(path) = graph.path(ann.id, bruno.id).await?
    {
        let steps: Vec<&str> = path.relations.iter().map(|relation| relation.predicate.as_str()).collect();
        println!("from {} to {}: {steps:?}\n", ann.name, bruno.name);
        assert_eq!(steps, ["has_sister", "has_pet"]);
    }

    // 5. Everything there ever was, for Graphviz and for programs: what has ended is dashed, with its dates.
    let all = graph.any_time().view().await?;
    println!("{}", all.to_dot());
    assert!(all.to_dot().contains("style=dashed") && all.relations.len() > 4);
    let json = all.to_json();
    println!("first entity as JSON: {}", json.pointer("/entities/0").unwrap_or_default());

    // 6. A memory that is deleted takes along what rests on it alone.
    let hits = memory.search(&alice, "Does she have a dog?").await?;
    for hit in hits.iter().filter(|hit| hit.memory.text.contains("Bruno")) {
        memory.delete(&alice, hit.memory.id).await?;
    }
    assert!(memory.graph(&alice).find("Bruno", 1).await?.is_empty());
    Ok(())
}

fn clock_now(clock: &ManualClock) -> ingrain::Timestamp {
    ingrain::Clock::now(clock)
}
