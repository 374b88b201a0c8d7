use ingrain::evaluate::{FactCounts, Report, Scores, ablation::Table, bootstrap::PairedBootstrap};

use super::{Outcome, Run};

/// LoCoMo's kinds of question, in the order of their numbers.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

/// The first run in full, then how the others differ from it.
pub fn runs(runs: &[Run], as_table: bool) -> Outcome<()> {
    let Some((first, others)) = runs.split_first() else { return Ok(()) };
    println!("left out: {}", first.report.left_out);
    whole(first);
    if as_table {
        println!("{}", runs.iter().fold(Table::new(), |table, run| table.row(&run.name, &run.report)));
        return Ok(());
    }
    for other in others {
        whole(other);
        println!("{} minus {}:", other.name, first.name);
        compare(&first.report, &other.report)?;
    }
    Ok(())
}

fn whole(run: &Run) {
    println!("{}", run.name);
    if run.setup.facts.is_some() {
        facts(&run.facts);
    }
    report(&run.report);
}

/// Reconciling decides which facts are stored, so it is told what it did.
fn facts(counts: &FactCounts) {
    println!(
        "facts added={} updated={} superseded={} withdrawn={} skipped={} rejected={} ignored={}",
        counts.added,
        counts.updated,
        counts.superseded,
        counts.withdrawn,
        counts.skipped,
        counts.rejected,
        counts.ignored
    );
}

/// A line a category, then one over all. Programs read these, so their form stays.
fn report(report: &Report) {
    let known = CATEGORIES.iter().zip(1..).map(|(name, number)| (number.to_string(), *name, *name));
    let others = report.categories.keys().filter(|name| !CATEGORIES.contains(&name.as_str()));
    for (number, name, category) in known.chain(others.map(|number| (number.clone(), "other", number.as_str()))) {
        if let Some(means) = report.categories.get(category) {
            println!("category={number} name={name} questions={} {}", means.n, line(&means.scores));
        }
    }
    println!(
        "turns={} questions={} {} search_p50_ms={:.3}",
        report.turns,
        report.overall.n,
        line(&report.overall.scores),
        report.search_p50.as_secs_f64() * 1e3
    );
}

fn line(scores: &Scores) -> String {
    format!(
        "turn_any@5={:.3} turn_any@10={:.3} turn_recall@10={:.3} turn_all@10={:.3} session_any@5={:.3} \
         session_any@10={:.3}",
        scores.turn_any_at_5,
        scores.turn_any_at_10,
        scores.turn_recall_at_10,
        scores.turn_all_at_10,
        scores.session_any_at_5,
        scores.session_any_at_10
    )
}

type Metric = fn(&Scores) -> f64;

/// The differences, each with its 95 % interval and the chance that luck alone makes one as large.
fn compare(first: &Report, second: &Report) -> Outcome<()> {
    let metrics: [(&str, Metric); 4] = [
        ("turn_any@5", |scores| scores.turn_any_at_5),
        ("turn_any@10", |scores| scores.turn_any_at_10),
        ("turn_recall@10", |scores| scores.turn_recall_at_10),
        ("ndcg@10", |scores| scores.ndcg_at_10),
    ];
    for (name, metric) in metrics {
        let scores = |report: &Report| -> Vec<f64> {
            report.questions.iter().map(|question| metric(&question.scores)).collect()
        };
        let found = PairedBootstrap::new().compare(&scores(first), &scores(second))?;
        println!(
            "{name} difference={:+.3} low={:+.3} high={:+.3} p={:.4} questions={}",
            found.difference, found.low, found.high, found.p_value, found.questions
        );
    }
    Ok(())
}
