//! What the compiler cannot hold: which module may use which, and that nothing is forgotten.

use std::{fs, path::Path};

/// What each module may `use crate::` from. Arrows point down only.
const MAY_USE: [(&str, &[&str]); 14] = [
    ("domain", &["domain"]),
    ("store", &["domain", "store"]),
    ("foreign", &["domain", "foreign"]),
    ("error", &[]),
    ("text", &["domain"]),
    ("process", &["domain"]),
    ("caller", &["domain", "error", "process"]),
    ("ops", &["caller", "domain", "error", "foreign", "ops", "store", "text"]),
    (
        "cli",
        &[
            "caller", "cli", "demo", "domain", "error", "foreign", "hook", "mcp", "ops", "process", "store",
            "text",
        ],
    ),
    ("mcp", &["caller", "domain", "error", "mcp", "ops", "text"]),
    ("hook", &["domain", "error", "ops", "process", "text"]),
    ("demo", &["error", "process"]),
    ("fuzz", &["domain", "foreign", "hook", "ops", "store"]),
    ("lib", &[]),
];

fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
            false => {}
        }
    }
}

#[test]
fn arrows_between_modules_point_down() {
    let mut files = Vec::new();
    sources(Path::new("src"), &mut files);
    let mut wrong = Vec::new();
    for (path, text) in files {
        let module =
            path.trim_start_matches("src/").trim_end_matches(".rs").split('/').next().unwrap().to_owned();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            assert!(["main", "bin"].contains(&module.as_str()), "{path} is in no module of the table");
            continue;
        };
        // `use crate::{ … }` of several lines names one module a line at its first level.
        let flat = text.replace("use crate::{", "\ncrate::{").replace("    ", "\t");
        let mut in_group = false;
        for line in flat.lines().filter(|line| !line.trim_start().starts_with("//")) {
            in_group = (in_group || line.starts_with("crate::{")) && line != "};";
            let named: Vec<&str> = match in_group {
                true if line.starts_with("crate::{") && line.contains('}') => {
                    line.trim_start_matches("crate::{").split([',', '}']).map(str::trim).collect()
                }
                true if line.starts_with('\t') && !line.starts_with("\t\t") => vec![line.trim()],
                _ => line.split("crate::").skip(1).collect(),
            };
            for name in named {
                let name: String = name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if MAY_USE.iter().any(|(module, _)| *module == name) && !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{path}: `{module}` uses `{name}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_half_done() {
    let mut files = Vec::new();
    for dir in ["src", "tests", "benches"] {
        sources(Path::new(dir), &mut files);
    }
    let unwanted = ["todo!", "unimplemented!", "dbg!", "nocommit"]
        .map(|word| format!("{word}{}", if word.ends_with('!') { "(" } else { "" }));
    for (path, text) in files.iter().filter(|(path, _)| !path.ends_with("tidy.rs")) {
        for word in &unwanted {
            assert!(!text.contains(word), "{path} contains {word}");
        }
    }
}

#[test]
fn every_test_file_is_part_of_the_tests() {
    let main = fs::read_to_string("tests/it/main.rs").unwrap();
    for entry in fs::read_dir("tests/it").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || main.contains(&format!("mod {module};")), "{name} is not in main.rs");
    }
}

#[test]
fn every_fuzz_target_has_its_function() {
    let fuzz = fs::read_to_string("src/fuzz.rs").unwrap();
    let targets = fs::read_to_string("fuzz/Cargo.toml").unwrap();
    for entry in fs::read_dir("fuzz/targets").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap().replace(".rs", "");
        assert!(fuzz.contains(&name) && targets.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(Path::new("fuzz/seeds").join(&name).is_dir(), "{name} has no seeds");
    }
}

#[test]
fn the_changelog_knows_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(fs::read_to_string("CHANGELOG.md").unwrap().contains(&format!("## [{version}]")));
}
