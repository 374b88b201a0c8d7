use std::path::PathBuf;

use super::Outcome;

pub const USAGE: &str =
    "usage: ten_years [SVG] [--users N] [--years N] [--file-users N] [--asked N] [--seed N] [--samples N]";

/// What the command line asks for.
#[derive(Debug, Clone)]
pub struct Options {
    pub svg: PathBuf,
    pub users: usize,
    pub years: u64,
    /// How many users share a file.
    pub file_users: usize,
    /// Of how many users in each file questions are asked.
    pub asked: usize,
    pub seed: u64,
    /// How many examples of what is wrong are shown.
    pub samples: usize,
}

impl Options {
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let svg = std::env::temp_dir().join("ten_years.svg");
        let mut options = Self { svg, users: 20, years: 10, file_users: 10, asked: 3, seed: 1, samples: 0 };
        while let Some(argument) = arguments.next() {
            let mut number = || -> Outcome<u64> {
                let value = arguments.next().ok_or_else(|| format!("{argument} needs a number; {USAGE}"))?;
                value.parse().map_err(|_| format!("{argument} {value}: no number; {USAGE}").into())
            };
            match argument.as_str() {
                "--users" => options.users = number()? as usize,
                "--years" => options.years = number()?,
                "--file-users" => options.file_users = (number()? as usize).max(1),
                "--asked" => options.asked = number()? as usize,
                "--seed" => options.seed = number()?,
                "--samples" => options.samples = number()? as usize,
                "-h" | "--help" => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                option if option.starts_with("--") => return Err(format!("no such option: {option}; {USAGE}").into()),
                path => options.svg = path.into(),
            }
        }
        Ok(options)
    }
}
