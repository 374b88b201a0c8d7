use std::collections::BTreeSet;

use ingrain::{
    evaluate::{Report, Scores},
    score::fusion::Weights,
};

use super::Run;

/// The default weights, and these with one of them a third less or more: what is chosen among.
pub fn grid() -> Vec<(String, Weights)> {
    type Part = fn(&mut Weights) -> &mut f32;
    let parts: [(&str, Part); 8] = [
        ("neighbours", |weights| &mut weights.neighbours),
        ("replies", |weights| &mut weights.replies),
        ("session", |weights| &mut weights.session),
        ("speaker", |weights| &mut weights.speaker),
        ("wanted", |weights| &mut weights.wanted),
        ("time", |weights| &mut weights.time),
        ("asks", |weights| &mut weights.asks),
        ("update", |weights| &mut weights.update),
    ];
    let mut grid = vec![("default".to_owned(), Weights::default())];
    for vector in [0.3, 0.6] {
        grid.push((format!("vector {vector}"), Weights::new(vector, 1.0 - vector)));
    }
    for (name, part) in parts {
        for factor in [2.0 / 3.0, 4.0 / 3.0] {
            let mut weights = Weights::default();
            *part(&mut weights) *= factor;
            grid.push((format!("{name} {:.3}", part(&mut weights)), weights));
        }
    }
    grid
}

/// Each conversation searched with the weights that are best on the others: what the weights are worth on conversations
/// they were not chosen on.
pub fn print(runs: &[Run]) {
    let Some(first) = runs.first() else { return };
    let names: BTreeSet<&str> = first.report.questions.iter().map(|asked| asked.conversation.as_str()).collect();
    let mut held_out: Vec<Scores> = Vec::new();
    for name in names {
        // Of equals the first, and the default is the first of all.
        let mut best: Option<(&Run, f64)> = None;
        for run in runs {
            let worth = worth(&run.report, name);
            if best.is_none_or(|(_, most)| worth > most) {
                best = Some((run, worth));
            }
        }
        let Some((chosen, _)) = best else { continue };
        println!("without {name} the best is {}", chosen.name);
        let own = chosen.report.questions.iter().filter(|asked| asked.conversation == name);
        held_out.extend(own.map(|asked| asked.scores));
    }
    let mean = |metric: fn(&Scores) -> f64| held_out.iter().map(metric).sum::<f64>() / held_out.len().max(1) as f64;
    println!(
        "held out questions={} turn_any@5={:.3} turn_any@10={:.3} turn_recall@10={:.3} session_any@5={:.3} \
         session_any@10={:.3}",
        held_out.len(),
        mean(|scores| scores.turn_any_at_5),
        mean(|scores| scores.turn_any_at_10),
        mean(|scores| scores.turn_recall_at_10),
        mean(|scores| scores.session_any_at_5),
        mean(|scores| scores.session_any_at_10)
    );
}

/// How well a run did on all conversations but one.
fn worth(report: &Report, without: &str) -> f64 {
    let others = report.questions.iter().filter(|asked| asked.conversation != without).map(|asked| asked.scores);
    let (mut sum, mut n) = (0.0, 0_usize);
    for scores in others {
        sum += scores.turn_any_at_5 + scores.turn_any_at_10 + scores.turn_recall_at_10;
        n += 1;
    }
    sum / n.max(1) as f64
}
