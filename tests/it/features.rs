//! Every feature is explained where people look for it: in Cargo.toml, in the docs of the crate, in the README.

use std::{collections::BTreeSet, fs, path::Path};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The features of a Cargo.toml, with the line above each.
fn features(manifest: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = manifest.lines().collect();
    let start = lines.iter().position(|line| *line == "[features]").expect("a list of features");
    let section = lines[start..].iter().skip(1).take_while(|line| !line.starts_with('['));
    let named = section.enumerate().filter_map(|(place, line)| {
        let (name, _) = line.split_once('=').filter(|_| !line.starts_with(['#', ' ']))?;
        Some((name.trim().to_owned(), lines[start + place].to_owned()))
    });
    named.collect()
}

/// The names in backquotes that begin the rows of the table of features.
fn rows(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.trim_start_matches("//!").trim());
    let table =
        lines.skip_while(|line| !line.to_lowercase().starts_with("| feature")).take_while(|line| line.starts_with('|'));
    table.filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect()
}

#[test]
fn every_feature_has_a_comment() {
    for (feature, above) in features(&read("Cargo.toml")) {
        let comment = above.strip_prefix("# ").unwrap_or_default();
        assert!(comment.trim_end().ends_with('.') && comment.len() > 20, "`{feature}` wants a sentence above it");
    }
}

#[test]
fn tables_name_every_feature_and_no_other() {
    let expected: BTreeSet<String> = features(&read("Cargo.toml")).into_iter().map(|(feature, _)| feature).collect();
    assert!(expected.contains("default") && expected.len() > 3, "{expected:?}");
    for path in ["src/lib.rs", "README.md"] {
        assert_eq!(rows(&read(path)), expected, "the table of features in {path}");
    }
}

/// Encryption is asked for by name: it swaps the SQLite of the whole build, also that of others, and wants OpenSSL's
/// headers, which whoever tries everything out may not have. docs.rs has them, and shows it.
#[test]
fn full_is_everything_but_the_suites_and_another_sqlite() {
    let manifest = read("Cargo.toml");
    let line = |start: &str| manifest.lines().find(|line| line.starts_with(start)).expect(start);
    let (full, shown) = (line("full = "), line("features = "));
    for (feature, _) in features(&manifest) {
        let quoted = format!("\"{feature}\"");
        match feature.as_str() {
            "default" | "full" => {}
            "encryption-vendored" => assert!(!full.contains(&quoted) && !shown.contains(&quoted)),
            "encryption" | "testing" => {
                assert!(
                    !full.contains(&quoted) && shown.contains(&quoted),
                    "`{feature}` is for docs.rs, not in `full`"
                );
            }
            _ => assert!(full.contains(&quoted), "`full` lacks `{feature}`"),
        }
    }
}

#[test]
fn the_readers_of_tables_see_what_is_there() {
    let manifest = "[package]\nname = \"x\"\n[features]\n# What there is at first.\ndefault = []\nbare = [\"dep:x\"]\n[lints]\na = 1\n";
    let expected = [("default", "# What there is at first."), ("bare", "default = []")];
    assert_eq!(features(manifest), expected.map(|(name, above)| (name.to_owned(), above.to_owned())));
    let docs = "//! | other | x |\n//! | `no` | x |\n//!\n//! | feature | what |\n//! | --- | --- |\n//! | `a-b` | `c` |\n//!\n//! | `no` | x |\n";
    assert_eq!(rows(docs), BTreeSet::from(["a-b".to_owned()]));
}
