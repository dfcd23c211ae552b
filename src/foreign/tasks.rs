//! Files that say what a task runs: the lines of `make`, `just` and `package.json` that would go to a shell.
//!
//! Only what can be told from the file alone: no pattern rule, no include, no variable that comes from elsewhere. What is not
//! understood is left out.

use std::collections::{BTreeMap, BTreeSet};

/// The lines of a makefile that make `targets`, or its first target where none is named, with what they need.
pub fn make(text: &str, targets: &[String]) -> Vec<String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut rules: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    let (mut first, mut here): (Option<String>, Vec<String>) = (None, Vec::new());
    for line in joined(text) {
        if let Some(recipe) = line.strip_prefix('\t') {
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']);
            for target in &here {
                rules.entry(target.clone()).or_default().1.push(recipe.to_owned());
            }
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        let assigned = line.split_once('=').filter(|(name, _)| {
            let name = name.trim_end_matches([':', '?', '+', '!', ' ']);
            !name.is_empty() && !name.contains([' ', ':', '$'])
        });
        if let Some((name, value)) = assigned {
            let name = name.trim_end_matches([':', '?', '+', '!', ' ']);
            values.insert(name.to_owned(), value.trim().to_owned());
        } else if let Some((names, needs)) = line.split_once(':') {
            here = names.split_whitespace().map(str::to_owned).collect();
            let (needs, inline) = needs.trim_start_matches(':').split_once(';').unwrap_or((needs, ""));
            for target in &here {
                let rule = rules.entry(target.clone()).or_default();
                rule.0.extend(needs.split_whitespace().map(str::to_owned));
                rule.1.extend((!inline.trim().is_empty()).then(|| inline.trim().to_owned()));
            }
            let plain = here.iter().find(|target| !target.starts_with('.') && !target.contains('%'));
            first = first.or_else(|| plain.cloned());
        }
    }
    let mut wanted: Vec<String> =
        if targets.is_empty() { first.into_iter().collect() } else { targets.to_vec() };
    let (mut seen, mut lines) = (BTreeSet::new(), Vec::new());
    while let Some(target) = wanted.pop() {
        if !seen.insert(target.clone()) {
            continue;
        }
        if let Some((needs, recipe)) = rules.get(&target) {
            wanted.extend(needs.iter().cloned());
            lines.extend(recipe.iter().map(|line| expanded(line, &values)));
        }
    }
    lines
}

/// The lines of a justfile that run `recipes`, or its first one where none is named, with what they need.
pub fn just(text: &str, recipes: &[String]) -> Vec<String> {
    let mut rules: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    let (mut first, mut here): (Option<String>, Option<String>) = (None, None);
    for line in joined(text) {
        if line.starts_with([' ', '\t']) {
            if let Some(name) = &here {
                let line = line.trim().trim_start_matches(['@', '-']);
                rules.entry(name.clone()).or_default().1.push(line.to_owned());
            }
            continue;
        }
        let head = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='));
        let Some((names, needs)) = head.filter(|(names, _)| !names.starts_with(['#', '['])) else { continue };
        let Some(name) = names.split_whitespace().next() else { continue };
        let name = name.trim_start_matches('@').to_owned();
        let needs = needs.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
        rules
            .entry(name.clone())
            .or_default()
            .0
            .extend(needs.filter(|need| !need.is_empty()).map(str::to_owned));
        first = first.or_else(|| Some(name.clone()));
        here = Some(name);
    }
    let mut wanted: Vec<String> =
        if recipes.is_empty() { first.into_iter().collect() } else { recipes.to_vec() };
    let (mut seen, mut lines) = (BTreeSet::new(), Vec::new());
    while let Some(name) = wanted.pop() {
        if let Some((needs, recipe)) = rules.get(&name).filter(|_| seen.insert(name.clone())) {
            wanted.extend(needs.iter().cloned());
            lines.extend(recipe.iter().cloned());
        }
    }
    lines
}

/// What `package.json` has for tasks of these names.
pub fn npm(text: &str, names: &[String]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Package {
        #[serde(default)]
        scripts: BTreeMap<String, serde_json::Value>,
    }
    let Ok(package) = serde_json::from_str::<Package>(text) else { return Vec::new() };
    let script =
        |name: &String| package.scripts.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
    names.iter().filter_map(script).collect()
}

/// Lines, those that end with a backslash put together with what follows.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let (part, more) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(part),
            None => lines.push(part.to_owned()),
        }
        goes_on = more;
    }
    lines
}

/// A line of a recipe with the values that the file gives to variables; `$$` is the shell's own dollar.
fn expanded(line: &str, values: &BTreeMap<String, String>) -> String {
    let mut line = line.to_owned();
    // Values may have variables in them; not without end.
    for _ in 0..4 {
        for (name, value) in values {
            if line.len() > 64 * 1024 {
                return line;
            }
            line = line.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
        }
    }
    line.replace("$(MAKE)", "make").replace("$$", "$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_made_with_what_it_needs() {
        let text = "GIT = git\nall: build\nbuild:\n\tcc x.c\ndeploy: build tag # now\n\t@$(GIT) push \\\n\t  origin\n\techo $$HOME\ntag:; git tag x\n.PHONY: all\n";
        let of =
            |names: &[&str]| make(text, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), ["cc x.c"]);
        assert_eq!(of(&["deploy"]), ["git push \t  origin", "echo $HOME", "git tag x", "cc x.c"]);
        assert_eq!(of(&["nothing"]), [""; 0]);
    }

    #[test]
    fn a_recipe_of_just_runs_with_what_it_needs() {
        let text = "x := 'y'\n# a word\ndefault: test\ntest:\n    cargo test\n@release v: test\n    git push origin {{v}}\n";
        assert_eq!(just(text, &[]), ["cargo test"]);
        assert_eq!(just(text, &["release".into()]), ["git push origin {{v}}", "cargo test"]);
    }

    #[test]
    fn scripts_of_a_package_are_found_by_name() {
        let text = r#"{"name":"x","scripts":{"deploy":"npm publish","n":1}}"#;
        assert_eq!(npm(text, &["predeploy".into(), "deploy".into(), "n".into()]), ["npm publish"]);
        assert_eq!(npm("{", &["x".into()]), [""; 0]);
    }
}
