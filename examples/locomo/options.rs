use std::path::PathBuf;

use ingrain::SearchMode;

use super::Outcome;

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
            if !argument.starts_with("--") {
                options.paths.push(argument.into());
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
            match (argument.as_str(), value.as_str()) {
                ("--mode", "vector") => options.mode = SearchMode::Vector,
                ("--mode", "keyword") => options.mode = SearchMode::Keyword,
                ("--mode", "hybrid") => options.mode = SearchMode::Hybrid,
                ("--store", "memory") => options.in_memory = true,
                ("--store", "sqlite") => options.in_memory = false,
                ("--embedder", "static") => options.hashing = false,
                ("--embedder", "hashing") => options.hashing = true,
                ("--limit", number) => {
                    options.limit = Some(number.parse().map_err(|_| format!("--limit {number} is no number"))?);
                }
                _ => return Err(format!("unknown option {argument} {value}").into()),
            }
        }
        if options.paths.is_empty() {
            return Err("give a LoCoMo file, or a folder of them".into());
        }
        Ok(options)
    }
}
