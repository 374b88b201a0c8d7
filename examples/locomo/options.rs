use std::path::PathBuf;

use ingrain::SearchMode;

use super::{
    Outcome,
    setup::{Facts, Setup},
};

pub const USAGE: &str = "usage: locomo FILE_OR_FOLDER… [--mode vector|keyword|hybrid] [--facts alone|keys|both|rules] \
    [--compare vector|keyword|hybrid|turns|alone|keys|both|rules] [--ablate] [--held-out] [--cost] [--store memory|sqlite] \
    [--embedder static|hashing] [--limit QUESTIONS]";

/// What the command line asks for.
#[derive(Default)]
pub struct Options {
    pub paths: Vec<PathBuf>,
    pub setup: Setup,
    /// What the setup is compared with: these words, applied to it.
    pub compare: Option<String>,
    pub ablate: bool,
    pub held_out: bool,
    /// What remembering with a model costs, in place of how well is searched.
    pub cost: bool,
    pub in_memory: bool,
    pub hashing: bool,
    /// Most questions in all.
    pub limit: Option<usize>,
}

impl Options {
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "-h" | "--help" => return Err(USAGE.into()),
                "--ablate" => options.ablate = true,
                "--held-out" => options.held_out = true,
                "--cost" => options.cost = true,
                "--mode" | "--facts" | "--compare" | "--store" | "--embedder" | "--limit" => {
                    let value = arguments.next().ok_or_else(|| format!("{argument} needs a value; {USAGE}"))?;
                    options.set(&argument, &value)?;
                }
                option if option.starts_with("--") => return Err(format!("no such option: {option}; {USAGE}").into()),
                path => options.paths.push(path.into()),
            }
        }
        if options.paths.is_empty() {
            return Err(format!("give a LoCoMo file, or a folder of them; {USAGE}").into());
        }
        if [options.ablate, options.held_out, options.cost].into_iter().filter(|mode| *mode).count() > 1 {
            return Err("one of --ablate, --held-out and --cost".into());
        }
        if options.cost && (options.compare.is_some() || options.limit.is_some()) {
            return Err("--cost asks no questions: leave --compare and --limit out".into());
        }
        if (options.ablate || options.held_out) && options.setup.mode != SearchMode::Hybrid {
            return Err("--ablate and --held-out change the hybrid score: leave --mode out".into());
        }
        Ok(options)
    }

    fn set(&mut self, option: &str, value: &str) -> Outcome<()> {
        match (option, value) {
            ("--mode", "vector" | "keyword" | "hybrid") | ("--facts", "alone" | "keys" | "both" | "rules") => {
                self.setup = self.setup.with(value);
            }
            ("--compare", "vector" | "keyword" | "hybrid" | "turns" | "alone" | "keys" | "both" | "rules") => {
                self.compare = Some(value.to_owned());
            }
            ("--store", "memory" | "sqlite") => self.in_memory = value == "memory",
            ("--embedder", "static" | "hashing") => self.hashing = value == "hashing",
            ("--limit", number) => match number.parse() {
                Ok(questions) if questions > 0 => self.limit = Some(questions),
                _ => return Err(format!("--limit {number} is no number of questions").into()),
            },
            _ => return Err(format!("{option} does not take {value}; {USAGE}").into()),
        }
        Ok(())
    }
}

impl Setup {
    /// This setup with one thing changed.
    pub fn with(&self, change: &str) -> Self {
        let mut setup = self.clone();
        match change {
            "vector" => setup.mode = SearchMode::Vector,
            "keyword" => setup.mode = SearchMode::Keyword,
            "hybrid" => setup.mode = SearchMode::Hybrid,
            "alone" => setup.facts = Some(Facts::Alone),
            "keys" => setup.facts = Some(Facts::Keys),
            "both" => setup.facts = Some(Facts::Both),
            "rules" => setup.facts = Some(Facts::Rules),
            _ => setup.facts = None,
        }
        setup
    }
}
