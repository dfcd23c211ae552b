//! Files that say what a task runs: the lines of `make`, `just` and `package.json` that would go to a shell.
//!
//! Only what can be told from the file alone: no pattern rule, no include, no variable that comes from elsewhere. What is not
//! understood is left out.

use std::collections::{BTreeMap, BTreeSet};

/// What variables add to the lines of a file, in bytes and at most. What is more stays as it is written.
pub const LONGEST: usize = 256 * 1024;

/// The lines of a makefile that make `targets`, or its first target where none is named, with what they need.
pub fn make(text: &str, targets: &[String]) -> Vec<String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    // A rule may be of many targets, and a target of many rules. Each rule is kept once.
    let mut rules: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut rules_of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut first: Option<String> = None;
    for line in joined(text) {
        if let Some(recipe) = line.strip_prefix('\t') {
            if let Some((_, lines)) = rules.last_mut() {
                lines.push(recipe.trim_start_matches(['@', '-', '+', ' ']).to_owned());
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
            let (needs, inline) = needs.trim_start_matches(':').split_once(';').unwrap_or((needs, ""));
            for target in names.split_whitespace() {
                rules_of.entry(target.to_owned()).or_default().push(rules.len());
            }
            let inline = Some(inline.trim().to_owned()).filter(|inline| !inline.is_empty());
            rules.push((needs.split_whitespace().map(str::to_owned).collect(), inline.into_iter().collect()));
            let mut plain =
                names.split_whitespace().filter(|name| !name.starts_with('.') && !name.contains('%'));
            first = first.or_else(|| plain.next().map(str::to_owned));
        }
    }
    let mut wanted: Vec<String> =
        if targets.is_empty() { first.into_iter().collect() } else { targets.to_vec() };
    let (mut seen, mut lines, mut left) = (BTreeSet::new(), Vec::new(), LONGEST);
    while let Some(target) = wanted.pop() {
        for rule in rules_of.remove(&target).unwrap_or_default() {
            if seen.insert(rule) {
                let (needs, recipe) = &rules[rule];
                wanted.extend(needs.iter().cloned());
                lines.extend(recipe.iter().map(|line| expanded(line, &values, &mut left)));
            }
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
    names.iter().collect::<BTreeSet<_>>().into_iter().filter_map(script).collect()
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

/// A line of a recipe with the values that the file gives to variables; `$$` is the shell's own dollar. `left` is what they may still
/// add.
fn expanded(line: &str, values: &BTreeMap<String, String>, left: &mut usize) -> String {
    let mut line = line.to_owned();
    // Values may have variables in them; not without end.
    for _ in 0..16 {
        let (mut more, mut rest) = (String::new(), line.as_str());
        while let Some((before, from)) = rest.find('$').map(|at| rest.split_at(at)) {
            more.push_str(before);
            match variable(from, values).filter(|(value, _)| value.len() <= *left) {
                Some((value, behind)) => {
                    *left -= value.len();
                    more.push_str(value);
                    rest = behind;
                }
                None => {
                    let (kept, behind) = from.split_at(if from.starts_with("$$") { 2 } else { 1 });
                    more.push_str(kept);
                    rest = behind;
                }
            }
        }
        more.push_str(rest);
        if more == line {
            break;
        }
        line = more;
    }
    line.replace("$$", "$")
}

/// The value of the variable that `text` begins with, and what follows.
fn variable<'t>(text: &'t str, values: &'t BTreeMap<String, String>) -> Option<(&'t str, &'t str)> {
    let (open, inner) = text.strip_prefix('$')?.split_at_checked(1)?;
    let end = inner.find(|c: char| matches!(c, ')' | '}' | '$') || c.is_whitespace())?;
    let (name, behind) = (&inner[..end], inner[end..].strip_prefix(if open == "(" { ')' } else { '}' })?);
    let value = values.get(name).map(String::as_str).or_else(|| (name == "MAKE").then_some("make"));
    Some((value.filter(|_| ["(", "{"].contains(&open))?, behind))
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
    fn variables_are_put_in_where_make_does() {
        let text =
            "A = ${B}b\nB = $(C)\nC = c\nLOOP = $(LOOP)\nx:\n\t$(A) $$(A) ${A $(MAKE) $(none) $(LOOP) $é $\n";
        assert_eq!(make(text, &[]), ["cb $(A) ${A make $(none) $(LOOP) $é $"]);
    }

    /// A file of the size that is read must not keep a tool waiting: whoever waits too long lets it run.
    #[test]
    fn no_file_says_more_than_can_be_looked_at() {
        let many = 20_000;
        let (targets, lines) = ("a ".repeat(many), "\tx\n".repeat(many));
        assert_eq!(make(&format!("{targets}: {targets}\n{lines}"), &[]).len(), many);
        let long = format!("A = {}\nx:\n\t{}\n", "y".repeat(many), "$(A)".repeat(many));
        assert!(make(&long, &[]).concat().len() <= long.len() + LONGEST);
        let names: String = (0..many).map(|number| format!("A{number} = $(A{number})\n")).collect();
        assert_eq!(make(&format!("{names}x:\n{lines}"), &[]).len(), many);
        assert_eq!(npm(r#"{"scripts":{"x":"y"}}"#, &vec!["x".into(); many]), ["y"]);
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
