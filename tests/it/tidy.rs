//! What the compiler cannot hold: which module may use which, and that nothing is forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

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
fn every_fuzz_target_has_its_function_and_the_other_way_round() {
    let fuzz = fs::read_to_string("src/fuzz.rs").unwrap();
    let uses = fuzz.split_once("pub use crate::{").unwrap().1.split_once("};").unwrap().0;
    // `hook::{promises as it, …}`: what is called so outside comes last.
    let used = uses.split([',', '{', '}', '\n']).map(|part| part.rsplit([' ', ':']).next().unwrap());
    let made = fuzz.lines().filter_map(|line| line.strip_prefix("pub fn ")?.split('(').next());
    let functions: BTreeSet<&str> = used.chain(made).filter(|name| !name.is_empty()).collect();
    let manifest = fs::read_to_string("fuzz/Cargo.toml").unwrap();
    let targets = manifest.split("[[bin]]\nname = \"").skip(1).map(|bin| bin.split('"').next().unwrap());
    let targets: BTreeSet<&str> = targets.collect();
    assert_eq!(functions, targets);
    for name in &targets {
        let text = fs::read_to_string(format!("fuzz/targets/{name}.rs")).unwrap();
        assert!(text.contains(&format!("loopx::fuzz::{name}(bytes)")), "{name} looks at something else");
        assert!(Path::new("fuzz/seeds").join(name).is_dir(), "{name} has no seeds");
    }
    assert_eq!(fs::read_dir("fuzz/targets").unwrap().count(), targets.len());
}

#[test]
fn what_is_fuzzed_is_built_as_it_is_shipped() {
    let packages = |file: &str| -> BTreeMap<(String, String), String> {
        let text = fs::read_to_string(file).unwrap();
        let field = |package: &str, name: &str| {
            package
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_default()
                .trim_matches('"')
                .to_owned()
        };
        let package = |text: &str| ((field(text, "name = "), field(text, "version = ")), text.to_owned());
        text.split("[[package]]\n").skip(1).map(package).collect()
    };
    let (shipped, fuzzed) = (packages("Cargo.lock"), packages("fuzz/Cargo.lock"));
    let own = ["arbitrary", "jobserver", "libfuzzer-sys", "loopx-fuzz"];
    let other: Vec<_> =
        fuzzed.keys().filter(|key| !shipped.contains_key(key) && !own.contains(&key.0.as_str())).collect();
    assert!(
        other.is_empty(),
        "fuzz/Cargo.lock has {other:?}; `cargo update -w` there takes what loopx needs"
    );
    // What it is tested with is all that may be missing.
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let needed = manifest.split_once("\n[dependencies]\n").unwrap().1.split_once("\n[").unwrap().0;
    for name in needed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
    {
        assert!(fuzzed.keys().any(|(known, _)| known == name), "fuzz/Cargo.lock is older than `{name}`");
    }
}

#[test]
fn the_changelog_knows_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(fs::read_to_string("CHANGELOG.md").unwrap().contains(&format!("## [{version}]")));
}
