//! What is printed and drawn of the two stores.

use super::{
    Course,
    chart::{Panel, WITH, WITHOUT, round_up, svg},
    measure::Measure,
    options::Options,
};

pub const NAMES: [&str; 2] = ["with maintenance", "without"];

/// The table, what was not read or read wrongly, and one line that says it all.
pub fn print(options: &Options, courses: &[Course; 2]) {
    for (name, course) in NAMES.iter().zip(courses) {
        println!(
            "\n{name}: adding took {:.0?}, maintaining {:.0?} {:?}",
            course.adding, course.maintaining, course.done
        );
        println!(
            "years     MB  turns  summaries  facts  events | @5    @10   facts alone @5 | stale hits  stale  duplicates"
        );
        for (number, moment) in course.moments.iter().enumerate() {
            let kind = |kind: &str| moment.kinds.get(kind).copied().unwrap_or_default();
            println!(
                "{:>5} {:>6.1} {:>6} {:>10} {:>6} {:>7} | {:.3} {:.3} {:>14.3} | {:>10} {:>6} {:>11}",
                (number + 1) as f64 / 2.0,
                megabytes(moment),
                kind("episode"),
                kind("summary"),
                kind("fact") + kind("preference"),
                moment.events,
                moment.share(moment.in_five),
                moment.share(moment.in_ten),
                moment.share(moment.in_facts),
                moment.stale_hits,
                moment.stale,
                moment.duplicates,
            );
        }
        if let Some(last) = course.moments.last() {
            last.samples.iter().take(options.samples).for_each(|sample| println!("  {sample}"));
        }
    }
    let [with, without] = courses;
    let heard = &with.heard;
    let unread: u64 = heard.unread.values().sum();
    println!("\ntold {} statements; read nothing of {unread}:", heard.told);
    heard.unread.iter().for_each(|(form, count)| println!("  {count:>6}  {form}"));
    let (Some(with_last), Some(without_last)) = (with.moments.last(), without.moments.last()) else { return };
    let sum = |of: fn(&Measure) -> u64| courses.iter().flat_map(|course| &course.moments).map(of).sum::<u64>();
    let invented: u64 = courses.iter().flat_map(|course| course.heard.invented.values()).sum();
    courses
        .iter()
        .flat_map(|course| &course.heard.invented)
        .take(10)
        .for_each(|(text, _)| println!("invented: {text}"));
    println!(
        "\nusers={} years={} bytes={:.2} searching={:.2} current@5={:.3}/{:.3} facts@5={:.3}/{:.3} unread={:.3} untrue={} invented={invented} stale={} duplicates={}",
        options.users,
        options.years,
        with_last.bytes as f64 / without_last.bytes.max(1) as f64,
        with_last.median().as_secs_f64() / without_last.median().as_secs_f64().max(f64::MIN_POSITIVE),
        with_last.share(with_last.in_five),
        without_last.share(without_last.in_five),
        with_last.share(with_last.in_facts),
        without_last.share(without_last.in_facts),
        unread as f64 / heard.told.max(1) as f64,
        with_last.untrue,
        sum(|moment| moment.stale + moment.stale_hits),
        sum(|moment| moment.duplicates),
    );
}

fn megabytes(moment: &Measure) -> f64 {
    moment.bytes as f64 / 1e6
}

pub fn chart(options: &Options, courses: &[Course; 2]) -> String {
    let curves = |of: &dyn Fn(&Measure) -> f64| -> Vec<(&'static str, &'static str, bool, Vec<f64>)> {
        let drawn = NAMES.iter().zip([WITH, WITHOUT]).zip(courses);
        drawn.map(|((name, colour), course)| (*name, colour, false, course.moments.iter().map(of).collect())).collect()
    };
    let greatest = |curves: &[(&str, &str, bool, Vec<f64>)]| {
        round_up(curves.iter().flat_map(|curve| &curve.3).copied().fold(0.0, f64::max))
    };
    let size = curves(&megabytes);
    let mut found = curves(&|moment| moment.share(moment.in_five));
    found.extend(curves(&|moment| moment.share(moment.in_facts)).into_iter().map(|(name, colour, _, values)| {
        (if name == "without" { "facts, without" } else { "facts, with" }, colour, true, values)
    }));
    let faults = curves(&|moment| (moment.stale + moment.stale_hits + moment.duplicates) as f64);
    let panels = [
        Panel { title: "size of the store, MB", top: greatest(&size), curves: size },
        Panel { title: "what is so now, among the first five hits", top: 1.0, curves: found },
        Panel { title: "stale facts and duplicates", top: greatest(&faults).max(10.0), curves: faults },
    ];
    svg(&panels, &format!("{} users who chat every day for {} years", options.users, options.years))
}
