//! Compares what was found with the evidence.

use std::{collections::BTreeMap, time::Duration};

/// The scores of one question.
pub struct Scores([f64; 6]);

const NAMES: [&str; 6] =
    ["turn_any@5", "turn_any@10", "turn_recall@10", "turn_all@10", "session_any@5", "session_any@10"];

impl Scores {
    pub fn of(evidence: &[usize], turns: &[usize], evidence_sessions: &[u32], sessions: &[u32]) -> Self {
        fn share<T: PartialEq>(wanted: &[T], found: &[T], k: usize) -> f64 {
            let first = found.iter().take(k).collect::<Vec<_>>();
            wanted.iter().filter(|wanted| first.contains(wanted)).count() as f64 / wanted.len() as f64
        }
        let any = |share: f64| if share > 0.0 { 1.0 } else { 0.0 };
        let recall = share(evidence, turns, 10);
        Self([
            any(share(evidence, turns, 5)),
            any(recall),
            recall,
            if recall >= 1.0 { 1.0 } else { 0.0 },
            any(share(evidence_sessions, sessions, 5)),
            any(share(evidence_sessions, sessions, 10)),
        ])
    }
}

/// All scores, by category.
#[derive(Default)]
pub struct Table {
    by_category: BTreeMap<u32, Vec<Scores>>,
    times: Vec<Duration>,
}

impl Table {
    pub fn add(&mut self, category: u32, scores: Scores, elapsed: Duration) {
        self.by_category.entry(category).or_default().push(scores);
        self.times.push(elapsed);
    }

    pub fn questions(&self) -> usize {
        self.times.len()
    }

    pub fn print(&mut self, turns: usize) {
        for (category, scores) in &self.by_category {
            let name = match category {
                1 => "multi-hop",
                2 => "temporal",
                3 => "open-domain",
                4 => "single-hop",
                5 => "adversarial",
                _ => "other",
            };
            println!("category={category} name={name} questions={} {}", scores.len(), means(scores.iter()));
        }
        self.times.sort();
        let median = self.times.get(self.times.len() / 2).copied().unwrap_or_default();
        println!(
            "turns={turns} questions={} {} search_p50_ms={:.3}",
            self.questions(),
            means(self.by_category.values().flatten()),
            median.as_secs_f64() * 1e3
        );
    }
}

fn means<'s>(scores: impl Iterator<Item = &'s Scores>) -> String {
    let (mut sums, mut count) = ([0.0; 6], 0.0_f64);
    for Scores(scores) in scores {
        sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        count += 1.0;
    }
    let mean = |(name, sum): (&&str, &f64)| format!("{name}={:.3}", sum / count.max(1.0));
    NAMES.iter().zip(&sums).map(mean).collect::<Vec<_>>().join(" ")
}
