//! Ten years of daily chats in two stores: one that is maintained every month, and one that is not. How large do they
//! become, how much of what is so now is found, and does anything stale come back? No server, no key, no download.
//!
//! `cargo run --release --example ten_years -- ten_years.svg` prints a table and one line of totals, and draws the curves.
//! The default is 20 users in files of 10, 73,000 exchanges in each store: a quarter of an hour on two busy cores.
//! `--users 200 --file-users 25` is ten times that, and two hours; `--years`, `--asked` (of how many users in a
//! file questions are asked), `--seed` and `--samples` (how much of what is wrong is shown) are there as well.
//!
//! Everything is made up and seeded (`life`): each user moves, changes jobs, tastes, allergies, pets, hobbies, plans and so
//! on, tells it, tells it again in the same words and in others, and talks of much that is no fact (`words`). One in five
//! talks Russian. The assistant answers, sometimes wrongly; system text tells lies; and every other week the application
//! puts what it recalls into the prompt and feeds that back. What is true is known for every day, so every fact in the
//! store is held against it (`world`, `measure`): as far as it was told and read, and as it is.
//!
//! At the end of the run of 200 users, 730,000 exchanges in each store (`ten_years.svg` beside this file):
//!
//! | | MB | turns | summaries | facts | told by one of the first five hits | by one of the first five facts | stale, twice |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | with maintenance | 298 | 45,314 | 7,656 | 6,644 | 0.912 | 0.931 | 0 |
//! | without | 2,408 | 1,563,964 | 0 | 6,644 | 0.818 | 0.940 | 0 |
//!
//! Of 156,627 statements the rules read all but 49, each of them that a pet is no more, in Russian; for 21 of the facts that is
//! why they are still held ("untrue" in the totals; stale is what came back though its end had been read).
//!
//! What is not found is asked in words that the facts do not have ("What is my occupation?", "Works as a nurse").
//!
//! The maintained store lets turns go that have faded (half-life 30 days), writes summaries of the weeks, which fade after
//! them, and keeps no history of what is gone. What is known of a user never fades: it ends when the user says so.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints, and its progress to the error stream"
)]

mod chart;
mod life;
mod measure;
mod options;
mod report;
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
    report::print(&options, &courses);
    std::fs::write(&options.svg, report::chart(&options, &courses))?;
    println!("{}", options.svg.display());
    Ok(())
}

impl Course {
    fn join(&mut self, other: Self) {
        for (number, moment) in other.moments.into_iter().enumerate() {
            if self.moments.len() == number {
                self.moments.push(Measure::default());
            }
            if let Some(own) = self.moments.get_mut(number) {
                own.join(moment);
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
            for (world, course) in worlds.iter().zip(&mut own) {
                course.moments.push(measure(world, &users, day, options.asked).await?);
            }
            eprintln!("users {first} to {}: {:.1} years", first + count - 1, (day + 1) as f64 / 365.0);
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
