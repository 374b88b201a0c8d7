//! Ten years of chats with and without maintenance.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod life;
mod measure;
mod options;
mod words;
mod world;

use std::{collections::BTreeMap, error::Error, time::Duration};

use ingrain::Scope;
use life::Life;
use measure::{Measure, measure};
use options::Options;
use world::{Heard, World};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A store over the years.
#[derive(Default)]
struct Course {
    moments: Vec<Measure>,
    heard: Heard,
    adding: Duration,
    maintaining: Duration,
    /// Of each half year.
    spent: Vec<(Duration, Duration)>,
    done: BTreeMap<&'static str, u64>,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::read(std::env::args().skip(1))?;
    let folder = tempfile::tempdir()?;
    let files: Vec<usize> = (0..options.users).step_by(options.file_users).collect();
    let mut workers = Vec::new();
    for worker in 0..2 {
        let mine: Vec<usize> = files.iter().skip(worker).step_by(2).copied().collect();
        let (options, folder) = (options.clone(), folder.path().to_owned());
        workers.push(tokio::spawn(async move {
            let mut courses = [Course::default(), Course::default()];
            for first in mine {
                live(&options, &folder, first, &mut courses).await?;
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(courses)
        }));
    }
    let mut courses = [Course::default(), Course::default()];
    for worker in workers {
        for (all, part) in courses.iter_mut().zip(worker.await??) {
            all.join(part);
        }
    }
    print(&options, &courses);
    Ok(())
}

impl Course {
    fn join(&mut self, other: Self) {
        for (number, moment) in other.moments.into_iter().enumerate() {
            if self.moments.len() == number {
                self.moments.push(Measure::default());
                self.spent.push(Default::default());
            }
            if let Some(own) = self.moments.get_mut(number) {
                own.join(moment);
            }
            if let (Some(own), Some(more)) = (self.spent.get_mut(number), other.spent.get(number)) {
                own.0 += more.0;
                own.1 += more.1;
            }
        }
        self.heard.told += other.heard.told;
        for (mine, theirs) in
            [(&mut self.heard.unread, other.heard.unread), (&mut self.heard.invented, other.heard.invented)]
        {
            for (text, count) in theirs {
                *mine.entry(text).or_default() += count;
            }
        }
        self.adding += other.adding;
        self.maintaining += other.maintaining;
        for (what, count) in other.done {
            *self.done.entry(what).or_default() += count;
        }
    }
}

/// The years of the users of one file, in both stores.
async fn live(options: &Options, folder: &std::path::Path, first: usize, courses: &mut [Course; 2]) -> Outcome<()> {
    let count = options.file_users.min(options.users - first);
    let mut users: Vec<(Scope, Life)> = (first..first + count)
        .map(|number| (Scope::user(format!("user {number}")), Life::new(options.seed, number as u64)))
        .collect();
    let mut worlds = [
        World::open(folder, &format!("with {first}.db"), count, true).await?,
        World::open(folder, &format!("without {first}.db"), count, false).await?,
    ];
    let mut own = [Course::default(), Course::default()];
    let mut before = [(Duration::ZERO, Duration::ZERO); 2];
    for day in 0..options.years * 365 {
        for (number, (scope, life)) in users.iter_mut().enumerate() {
            let today = life.day(day);
            for world in &mut worlds {
                world.chat(number, scope, day, &today).await?;
                if (day + number as u64) % 30 == 29 {
                    world.maintain(scope).await?;
                }
            }
        }
        let half_year = (day * 2 + 2) / 365 > (day * 2) / 365;
        if half_year {
            for ((world, course), before) in worlds.iter_mut().zip(&mut own).zip(&mut before) {
                course.moments.push(measure(world, &users, day, options.asked).await?);
                course.spent.push((world.adding - before.0, world.maintaining - before.1));
                *before = (world.adding, world.maintaining);
            }
        }
    }
    for ((world, mut course), all) in worlds.into_iter().zip(own).zip(courses) {
        (course.heard, course.adding, course.maintaining) = (world.heard, world.adding, world.maintaining);
        course.done = world.done;
        all.join(course);
        drop(world.memory);
        std::fs::remove_file(&world.path)?;
    }
    Ok(())
}

fn print(options: &Options, courses: &[Course; 2]) {
    for (name, course) in ["with", "without"].iter().zip(courses) {
        println!("{name} maintenance: adding {:.1?}, maintaining {:.1?} {:?}", course.adding, course.maintaining, course.done);
        for (number, moment) in course.moments.iter().enumerate() {
            let spent = course.spent.get(number).copied().unwrap_or_default();
            println!(
                "{:>4} {:>8.2} MB {:?} events {} facts {} @5 {:.3} @10 {:.3} facts@5 {:.3} asked {} unread {} stale hits {} stale {} untrue {} dup {} p50 {:.2?} add {:.1?} maintain {:.1?}",
                (number + 1) as f64 / 2.0,
                moment.bytes as f64 / 1e6,
                moment.kinds,
                moment.events,
                moment.facts,
                moment.share(moment.in_five),
                moment.share(moment.in_ten),
                moment.share(moment.in_facts),
                moment.asked,
                moment.unread,
                moment.stale_hits,
                moment.stale,
                moment.untrue,
                moment.duplicates,
                moment.median(),
                spent.0,
                spent.1
            );
        }
        if let Some(last) = course.moments.last() {
            for sample in last.samples.iter().take(options.samples) {
                println!("  {sample}");
            }
        }
        println!("told {} unread {:#?}", course.heard.told, course.heard.unread);
        println!("invented {:#?}", course.heard.invented);
    }
}
