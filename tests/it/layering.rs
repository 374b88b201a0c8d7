//! Which part of the crate may name which: read from the sources, so that a breach is a failing test.

mod names;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use names::{paths, public_modules, uses};

/// Longest file, tests aside.
const LINES: usize = 600;

#[test]
fn a_module_names_only_lower_levels_and_itself() {
    let breaches = Crate::of_this_crate().breaches();
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let crate_ = Crate::of_this_crate();
    let long = crate_.files.iter().map(|(path, source)| (path, lines(source))).filter(|(_, lines)| *lines > LINES);
    assert_eq!(long.collect::<Vec<_>>(), [], "files over {LINES} lines");
}

#[test]
fn breaches_are_found() {
    // What each file says, and the breach it is.
    let offenders = [
        ("src/score/x.rs", "use crate::MemoryEngine;", "src/score/x.rs names engine"),
        ("src/types/x.rs", "use crate::{Error, VectorStore};", "src/types/x.rs names traits"),
        ("src/add/x.rs", "use crate::search::Hit;", "src/add/x.rs names search"),
        ("src/add/x.rs", "fn f() -> crate::Hit {}", "src/add/x.rs names search"),
        ("src/add/x.rs", "use crate::{Memory, InMemoryStore};", "src/add/x.rs names backends/in_memory"),
        (
            "src/backends/sqlite/x.rs",
            "use super::super::in_memory::Y;",
            "src/backends/sqlite/x.rs names backends/in_memory",
        ),
        (
            "src/backends/sqlite/mod.rs",
            "use super::InMemoryStore;",
            "src/backends/sqlite/mod.rs names backends/in_memory",
        ),
        (
            "src/backends/sqlite/x.rs",
            "mod y { use super::super::super::in_memory; }",
            "src/backends/sqlite/x.rs names backends/in_memory",
        ),
        (
            "src/backends/sqlite/x.rs",
            "use crate::{backends::{in_memory::State}};",
            "src/backends/sqlite/x.rs names backends/in_memory",
        ),
        (
            "src/search/x.rs",
            "use crate::{\n    // words\n    traits::Candidate,\n    engine,\n};",
            "src/search/x.rs names engine",
        ),
        (
            "src/testing/x.rs",
            "use crate::types::truncate;",
            "src/testing/x.rs names what is not public: types::truncate",
        ),
        ("src/testing/x.rs", "use crate::truncate;", "src/testing/x.rs names what is not public: truncate"),
        ("src/brand_new/x.rs", "", "src/brand_new/x.rs is on no level"),
    ];
    for (path, source, breach) in offenders {
        let mut crate_ = Crate::synthetic();
        crate_.files.insert(path.to_owned(), source.to_owned());
        assert_eq!(crate_.breaches(), [breach], "{source}");
    }
    let innocent = [
        ("src/add/x.rs", "// use crate::search::Hit;\n/* crate::Hit /* nested */ crate::engine */ use crate::Memory;"),
        (
            "src/add/x.rs",
            "//! [`crate::MemoryEngine`]\nconst X: &str = \"crate::engine\"; const Y: &str = r#\"\"crate::Hit\"#;",
        ),
        (
            "src/add/x.rs",
            "fn f<'a>(x: &'a str) -> char { '\"' } use super::y; use crate::add::z; use crate::{self as own};",
        ),
        ("src/engine/x.rs", "use crate::{Hit, InMemoryStore, add::AddContext, types::truncate};"),
        ("src/testing/x.rs", "use crate::{Memory, InMemoryStore, testing::Y};"),
        ("src/backends/sqlite/x.rs", "mod tests { use super::*; use super::super::Z; }"),
    ];
    for (path, source) in innocent {
        let mut crate_ = Crate::synthetic();
        crate_.files.insert(path.to_owned(), source.to_owned());
        assert_eq!(crate_.breaches(), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn tests_do_not_count_as_lines() {
    assert_eq!(lines("a\nb\n#[cfg(test)]\nmod tests {\n}\n"), 2);
    assert_eq!(lines(&"x\n".repeat(601)), 601);
}

fn lines(source: &str) -> usize {
    source.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

/// The sources, by path from the root of the package.
struct Crate {
    files: BTreeMap<String, String>,
}

impl Crate {
    fn of_this_crate() -> Self {
        fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, files);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    files.push(path);
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        walk(&root.join("src"), &mut paths);
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let files: BTreeMap<_, _> = paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect();
        assert!(files.len() > 20, "the sources were not found");
        Self { files }
    }

    fn synthetic() -> Self {
        let files = [
            (
                "src/lib.rs",
                "mod add; mod backends; mod engine; mod search; mod types; mod traits; pub use backends::*; \
                 pub use engine::MemoryEngine; pub use search::{Hit}; pub use traits::*; pub use types::*; \
                 pub use error::Error; pub(crate) use types::truncate;",
            ),
            ("src/backends/mod.rs", "mod in_memory; pub use in_memory::InMemoryStore;"),
            ("src/traits/mod.rs", "pub use vector_store::{VectorStore, Candidate};"),
            ("src/types/mod.rs", "pub use memory::Memory; pub(crate) use time::truncate;"),
        ];
        Self { files: files.map(|(path, source)| (path.to_owned(), source.to_owned())).into() }
    }

    /// What the root exports, and the module each comes from.
    fn exports(&self) -> BTreeMap<String, Export> {
        let mut exports = BTreeMap::new();
        for (public, path) in uses(&self.files["src/lib.rs"]) {
            let source = path[..path.len() - 1].to_vec();
            match path.last().map(String::as_str) {
                Some("*") => {
                    let file = format!("src/{}/mod.rs", source.join("/"));
                    let inner = self.files.get(&file).unwrap_or_else(|| panic!("{file} is exported whole"));
                    for (inner_public, inner_path) in uses(inner) {
                        let (name, inside) = inner_path.split_last().unwrap();
                        let module = [source.clone(), inside.to_vec()].concat();
                        exports.insert(name.clone(), Export { module, public: public && inner_public });
                    }
                }
                Some(name) => {
                    exports.insert(name.to_owned(), Export { module: source, public });
                }
                None => {}
            }
        }
        exports
    }

    fn breaches(&self) -> Vec<String> {
        let exports = self.exports();
        let public_modules: Vec<String> = public_modules(&self.files["src/lib.rs"]);
        let mut breaches = Vec::new();
        for (file, source) in &self.files {
            let module = module_of(file);
            // The root and the list of backends hold nothing themselves.
            if module.is_empty() || file == "src/backends/mod.rs" {
                continue;
            }
            let Some((level, unit)) = place(&module) else {
                breaches.push(format!("{file} is on no level"));
                continue;
            };
            for path in paths(source, &module) {
                let exported = exports.get(&path[0]);
                let named = exported.map_or(&path, |export| &export.module);
                // `crate::backends::InMemoryStore` is as good a name as `crate::InMemoryStore`.
                let second = path.get(1).and_then(|name| exports.get(name)).filter(|_| path[0] == "backends");
                let named = second.map_or(named, |export| &export.module);
                let Some((other_level, other_unit)) = place(named) else {
                    // Not an item of a module that was placed, such as a macro.
                    continue;
                };
                let public = exported.map_or_else(|| public_modules.contains(&path[0]), |export| export.public);
                let breach = if unit == "testing" {
                    (!public && other_unit != unit)
                        .then(|| format!("{file} names what is not public: {}", path.join("::")))
                } else {
                    let allowed = other_unit == unit || other_level < level || (other_level == level && level < 3);
                    (!allowed).then(|| format!("{file} names {other_unit}"))
                };
                breaches.extend(breach);
            }
        }
        breaches.sort();
        breaches.dedup();
        breaches
    }
}

struct Export {
    module: Vec<String>,
    public: bool,
}

/// The level of a module, and the folder that is a unit there. On the levels of contracts and of pure code the units
/// may name each other; from the third on they may not.
fn place(module: &[String]) -> Option<(u8, String)> {
    let first = module.first()?.as_str();
    let level = match first {
        "error" | "types" | "cues" | "text" => 0,
        "traits" => 1,
        "dates" | "score" | "index" | "frame" | "graph" | "http" => 2,
        "backends" | "rules" | "prompted" | "add" | "search" | "context" | "maintain" | "conversation" => 3,
        "engine" => 4,
        "tools" => 5,
        // An agent answers with the tools.
        "agent" | "evaluate" | "testing" => 6,
        _ => return None,
    };
    let unit = match module.get(1) {
        Some(second) if first == "backends" => format!("backends/{second}"),
        _ => first.to_owned(),
    };
    Some((level, unit))
}

fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs");
    path.split('/').filter(|part| !matches!(*part, "lib" | "mod")).map(str::to_owned).collect()
}
