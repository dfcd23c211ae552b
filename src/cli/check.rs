use std::{collections::BTreeSet, path::PathBuf};

use serde_json::{Value, json};

use super::Said;
use crate::{
    error::Error,
    ops::{
        self, Ctx,
        check::{Checked, Place, Scope},
    },
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Files, and folders without what git ignores; everything that git tracks when nothing is named
    #[arg(value_name = "PATH", conflicts_with_all = ["staged", "range"])]
    paths: Vec<PathBuf>,
    /// What the next commit would bring
    #[arg(long, conflicts_with = "range")]
    staged: bool,
    /// What the commits of a range brought, and what they say
    #[arg(long, value_name = "A..B")]
    range: Option<String>,
    /// Print a SARIF document, for what shows findings beside code
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
}

impl Check {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let scope = match (self.range, self.staged, self.paths) {
            (Some(range), ..) => Scope::Range(range),
            (None, true, _) => Scope::Staged,
            (None, false, paths) if paths.is_empty() => Scope::Tracked,
            (None, false, paths) => Scope::Paths(paths),
        };
        let checked = ops::check::check(ctx, &scope)?;
        let text = match self.sarif {
            true => serde_json::to_string_pretty(&sarif(&checked)).expect("plain data") + "\n",
            false => words(&checked),
        };
        let code = u8::from(!checked.found.is_empty());
        Ok(Said { code, ..Said::read(&checked, text) })
    }
}

fn words(checked: &Checked) -> String {
    let mut text: String = checked
        .found
        .iter()
        .map(|Place { rule, path, line, column }| format!("{path}:{line}:{column}: {rule}\n"))
        .collect();
    let amount = Count(checked.looked_at, "text");
    match checked.found.len() {
        0 => text.push_str(&format!("nothing found in {amount}\n")),
        found => text.push_str(&format!("found {} in {amount}\n", Count(found, "place"))),
    }
    text
}

/// The findings as SARIF 2.1.0.
fn sarif(checked: &Checked) -> Value {
    let rules: BTreeSet<&str> = checked.found.iter().map(|place| place.rule.as_str()).collect();
    let rules: Vec<Value> =
        rules.iter().map(|rule| json!({ "id": rule, "shortDescription": { "text": told(rule) } })).collect();
    let results: Vec<Value> = checked
        .found
        .iter()
        .map(|place| {
            json!({
                "ruleId": place.rule,
                "level": "error",
                "message": { "text": told(&place.rule) },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": address(&place.path) },
                        "region": { "startLine": place.line, "startColumn": place.column },
                    },
                }],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "loopx", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn told(rule: &str) -> String {
    match rule {
        "loopx-state" => "a copy of loopx's own state".to_owned(),
        "loopx-folder" => "the folder that shows loopx's own state".to_owned(),
        kind => format!("what looks like a secret ({kind})"),
    }
}

/// A path as a relative address.
fn address(path: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~');
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
