use std::path::PathBuf;

use ingrain::SearchMode;

use super::Outcome;

const USAGE: &str = "usage: locomo FILE_OR_FOLDER… [--mode vector|keyword|hybrid] [--store memory|sqlite] \
    [--embedder static|hashing] [--limit QUESTIONS]";

/// What the command line asks for.
#[derive(Default)]
pub struct Options {
    pub paths: Vec<PathBuf>,
    pub mode: SearchMode,
    pub in_memory: bool,
    pub hashing: bool,
    /// Most questions in all.
    pub limit: Option<usize>,
}

impl Options {
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            if matches!(argument.as_str(), "-h" | "--help") {
                return Err(USAGE.into());
            }
            if !argument.starts_with("--") {
                options.paths.push(argument.into());
                continue;
            }
            if !["--mode", "--store", "--embedder", "--limit"].contains(&argument.as_str()) {
                return Err(format!("no such option: {argument}; {USAGE}").into());
            }
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value; {USAGE}"))?;
            match (argument.as_str(), value.as_str()) {
                ("--mode", "vector") => options.mode = SearchMode::Vector,
                ("--mode", "keyword") => options.mode = SearchMode::Keyword,
                ("--mode", "hybrid") => options.mode = SearchMode::Hybrid,
                ("--store", "memory") => options.in_memory = true,
                ("--store", "sqlite") => options.in_memory = false,
                ("--embedder", "static") => options.hashing = false,
                ("--embedder", "hashing") => options.hashing = true,
                ("--limit", number) => match number.parse() {
                    Ok(questions) if questions > 0 => options.limit = Some(questions),
                    _ => return Err(format!("--limit {number} is no number of questions").into()),
                },
                _ => return Err(format!("{argument} does not take {value}; {USAGE}").into()),
            }
        }
        if options.paths.is_empty() {
            return Err(format!("give a LoCoMo file, or a folder of them; {USAGE}").into());
        }
        Ok(options)
    }
}
