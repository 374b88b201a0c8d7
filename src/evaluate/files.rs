//! What the loaders read with. Their errors name the file and quote nothing of what it holds.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use super::Turn;
use crate::{Error, Result, Timestamp};

/// What is wrong with a file, which whoever knows the file names.
pub(super) type Fault = String;

/// The error for a fault of the file.
pub(super) fn at_fault(file: &Path, fault: &str) -> Error {
    Error::invalid(format!("{}: {fault}", file.display()))
}

/// The files among these paths and the JSON files in the folders among them, these in the order of their names.
pub(super) fn json_files<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        if !path.is_dir() {
            files.push(path.to_owned());
            continue;
        }
        let mut found = entries(path)?;
        found.retain(|file| file.is_file() && file.extension().is_some_and(|extension| extension == "json"));
        if found.is_empty() {
            return Err(at_fault(path, "no JSON file in this folder"));
        }
        files.extend(found);
    }
    if files.is_empty() {
        return Err(Error::invalid("a data set needs at least one file or folder"));
    }
    Ok(files)
}

/// What is in a folder: first what is named by a number, by that number, then the rest by name.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| at_fault(folder, "the folder cannot be read").with_source(error);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut found = Vec::new();
    for entry in entries {
        found.push(entry.map_err(unreadable)?.path());
    }
    found.sort_by_key(|path| (stem(path).parse::<u64>().unwrap_or(u64::MAX), path.clone()));
    Ok(found)
}

/// The JSON in a file.
pub(super) fn json<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let bytes = fs::read(file).map_err(|error| at_fault(file, "the file cannot be read").with_source(error))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let what = if error.is_data() { "the JSON has another form than expected" } else { "this is no JSON" };
        // The place alone: what serde says may quote the file.
        at_fault(file, &format!("{what}, at line {} column {}", error.line(), error.column()))
    })
}

/// The name of a file without its ending, or of a folder.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Half a minute a turn: the data sets date sessions only, and turns of one session must keep their order.
pub(super) fn later(start: Timestamp, turns: usize) -> Option<Timestamp> {
    let seconds = i64::try_from(turns).ok()?.checked_mul(30)?;
    start.checked_add_signed(chrono::TimeDelta::try_seconds(seconds)?)
}

/// Takes a turn in if it can be kept, and says where it stands.
pub(super) fn keep(turns: &mut Vec<Turn>, turn: Turn) -> Option<usize> {
    turn.can_be_kept().then(|| {
        turns.push(turn);
        turns.len() - 1
    })
}
