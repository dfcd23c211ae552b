//! Rules of the user's own, from a file in the form of gitleaks: `[[rules]]` with `id`, `regex`, `keywords`, `entropy`,
//! `secretGroup` and allow lists of `regexes` and `stopwords`; and an `[allowlist]` for all of them. What else such a file has
//! is for other programs.
//!
//! A rule is compiled when one of its keywords is in a text for the first time: most of them never are.

use std::{borrow::Cow, cell::OnceCell, ops::Range};

use regex_lite::Regex;
use serde::Deserialize;

use super::{super::text::shown, Hit, shape::entropy};

/// The rules of a file.
#[derive(Debug, Default)]
pub struct Custom {
    rules: Vec<Rule>,
    allowed: Vec<Allowed>,
    home_paths: bool,
}

/// Why a file has no rules that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRules {
    #[error("it is no file of rules: {0}")]
    File(String),
    #[error("the expression of `{rule}` cannot be used: {problem}")]
    Expression { rule: String, problem: String },
}

#[derive(Debug)]
struct Rule {
    form: RuleForm,
    allowed: Vec<Allowed>,
    compiled: OnceCell<Regex>,
}

#[derive(Debug)]
struct Allowed {
    form: AllowForm,
    compiled: OnceCell<Vec<Regex>>,
}

#[derive(Debug, Deserialize)]
struct File {
    #[serde(default)]
    rules: Vec<RuleForm>,
    allowlist: Option<AllowForm>,
    #[serde(default)]
    allowlists: Vec<AllowForm>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleForm {
    id: String,
    regex: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
    entropy: Option<f64>,
    #[serde(default)]
    secret_group: usize,
    allowlist: Option<AllowForm>,
    #[serde(default)]
    allowlists: Vec<AllowForm>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllowForm {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    /// `match` and `line` look further than the secret itself.
    #[serde(default)]
    regex_target: Option<String>,
}

fn compiled(rule: &str, expression: &str) -> Result<Regex, BadRules> {
    let bad = |error: regex_lite::Error| BadRules::Expression {
        rule: rule.to_owned(),
        problem: shown(&error.to_string(), 400),
    };
    Regex::new(expression).map_err(bad)
}

fn all(one: Option<AllowForm>, more: Vec<AllowForm>) -> Vec<Allowed> {
    one.into_iter().chain(more).map(|form| Allowed { form, compiled: OnceCell::new() }).collect()
}

impl Custom {
    /// Reads a file of rules. Their expressions are looked at when they are needed.
    pub fn parse(text: &str) -> Result<Self, BadRules> {
        let file: File = toml::from_str(text).map_err(|error| BadRules::File(shown(error.message(), 400)))?;
        let rules = file.rules.into_iter().map(|mut form| {
            // It becomes part of what is written in the place of a secret.
            form.id = shown(&form.id, 100);
            form.keywords.iter_mut().for_each(|word| *word = word.to_lowercase());
            let allowed = all(form.allowlist.take(), std::mem::take(&mut form.allowlists));
            Rule { form, allowed, compiled: OnceCell::new() }
        });
        Ok(Self { rules: rules.collect(), allowed: all(file.allowlist, file.allowlists), home_paths: false })
    }

    /// The same, with or without paths into a home folder: they name people.
    #[must_use]
    pub fn with_home_paths(self, home_paths: bool) -> Self {
        Self { home_paths, ..self }
    }

    /// `text` as it is when neither these rules nor ours find anything in it, and with marks otherwise.
    pub fn clean<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, BadRules> {
        Ok(match &self.scan(text, super::scan(text))?[..] {
            [] => Cow::Borrowed(text),
            hits => Cow::Owned(super::redacted(text, hits)),
        })
    }

    /// What these rules find besides `found`, and `found` itself, in order.
    pub fn scan(&self, text: &str, found: Vec<Hit>) -> Result<Vec<Hit>, BadRules> {
        let mut found = found;
        if self.home_paths {
            let is_new = |path: &Range<usize>| {
                found.iter().all(|hit| hit.range.end <= path.start || path.end <= hit.range.start)
            };
            let paths: Vec<Range<usize>> = home_paths(text).into_iter().filter(is_new).collect();
            found.extend(paths.into_iter().map(|range| Hit { rule: "home-path".into(), range }));
            found.sort_by_key(|hit| hit.range.start);
        }
        if self.rules.is_empty() {
            return Ok(found);
        }
        let lower = text.to_lowercase();
        for rule in &self.rules {
            let RuleForm { id, regex: Some(expression), keywords, .. } = &rule.form else { continue };
            if !keywords.is_empty() && !keywords.iter().any(|word| lower.contains(word)) {
                continue;
            }
            let regex = match rule.compiled.get() {
                Some(regex) => regex,
                None => {
                    let regex = compiled(id, expression)?;
                    rule.compiled.get_or_init(|| regex)
                }
            };
            for captures in regex.captures_iter(text) {
                let Some(whole) = captures.get(0) else { continue };
                // As gitleaks has it: the group that is named, else the first that took part, else all of it.
                let group = match rule.form.secret_group {
                    0 => (1..captures.len()).find_map(|group| captures.get(group)).unwrap_or(whole),
                    group => captures.get(group).unwrap_or(whole),
                };
                let is_dull =
                    rule.form.entropy.is_some_and(|least| entropy(group.as_str().as_bytes()) < least);
                let is_known =
                    found.iter().any(|hit| hit.range.start < group.end() && group.start() < hit.range.end);
                if group.is_empty() || is_dull || is_known {
                    continue;
                }
                let line = line_of(text, whole.range());
                let mut is_allowed = false;
                for allowed in rule.allowed.iter().chain(&self.allowed) {
                    is_allowed |= allowed.has(id, group.as_str(), whole.as_str(), line)?;
                }
                if !is_allowed {
                    found.push(Hit { rule: id.clone().into(), range: group.range() });
                }
            }
        }
        found.sort_by_key(|hit| hit.range.start);
        Ok(found)
    }
}

/// The beginnings of paths up to the name of whose home it is.
fn home_paths(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for home in ["/home/", "/Users/", "\\Users\\"] {
        for (at, _) in text.match_indices(home) {
            let begins = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
            let name = &text[at + home.len()..];
            let is_of_it = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
            let length = name.find(|c| !is_of_it(c)).unwrap_or(name.len());
            if begins && length > 0 {
                found.push(at..at + home.len() + length);
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

fn line_of(text: &str, range: Range<usize>) -> &str {
    let begin = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    &text[begin..end]
}

impl Allowed {
    fn has(&self, rule: &str, secret: &str, whole: &str, line: &str) -> Result<bool, BadRules> {
        let lower = secret.to_lowercase();
        if self.form.stopwords.iter().any(|word| lower.contains(&word.to_lowercase())) {
            return Ok(true);
        }
        let regexes = match self.compiled.get() {
            Some(regexes) => regexes,
            None => {
                let regexes: Result<Vec<Regex>, BadRules> =
                    self.form.regexes.iter().map(|expression| compiled(rule, expression)).collect();
                let regexes = regexes?;
                self.compiled.get_or_init(|| regexes)
            }
        };
        let target = match self.form.regex_target.as_deref() {
            Some("match") => whole,
            Some("line") => line,
            _ => secret,
        };
        Ok(regexes.iter().any(|regex| regex.is_match(target)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
title = "ours"
[allowlist]
stopwords = ["harmless"]
[[rules]]
id = "acme-key"
description = "A key of Acme"
regex = '''(?i)\bacme[_-]([a-z0-9]{12})\b'''
keywords = ["ACME"]
entropy = 2.5
tags = ["key"]
[[rules.allowlists]]
regexes = ['''^0000''']
[[rules]]
id = "broken"
regex = '''(unclosed'''
keywords = ["brokenword"]
"#;

    fn found(text: &str) -> Result<Vec<(String, &str)>, BadRules> {
        let hits = Custom::parse(RULES).unwrap().scan(text, Vec::new())?;
        Ok(hits.into_iter().map(|hit| (hit.rule.into_owned(), &text[hit.range])).collect())
    }

    #[test]
    fn a_rule_finds_what_it_describes_and_no_more() {
        assert_eq!(found("x acme_k3j8d7s6f5a4 y"), Ok(vec![("acme-key".to_owned(), "k3j8d7s6f5a4")]));
        for harmless in ["acme_aaaaaaaaaaaa", "acme_0000k3j8d7s6", "acme_harmless1234", "acne_k3j8d7s6f5a4"] {
            assert_eq!(found(harmless), Ok(vec![]), "{harmless}");
        }
    }

    #[test]
    fn paths_into_a_home_name_somebody() {
        let custom = Custom::default().with_home_paths(true);
        let text = "see /home/ann/x and C:\\Users\\Bob\\y, not src/home/x or $HOME/x or /home/";
        let hits = custom.scan(text, Vec::new()).unwrap();
        let found: Vec<&str> = hits.into_iter().map(|hit| &text[hit.range]).collect();
        assert_eq!(found, ["/home/ann", "\\Users\\Bob"]);
    }

    #[test]
    fn what_cannot_be_used_is_said_when_it_is_needed() {
        let error = found("the brokenword").unwrap_err().to_string();
        assert!(error.starts_with("the expression of `broken` cannot be used: "), "{error}");
        assert!(Custom::parse("rules = 1").is_err());
    }

    #[test]
    fn the_name_of_a_rule_cannot_move_a_cursor() {
        let rules = |regex: &str| format!("[[rules]]\nid = \"a\\n\\u001b[1mb\"\nregex = '{regex}'\n");
        let custom = Custom::parse(&rules("x.")).unwrap();
        let clean = custom.clean("an xy").unwrap();
        assert!(!clean.chars().any(char::is_control) && clean.starts_with("an [redacted:a"), "{clean:?}");
        let error = Custom::parse(&rules("(")).unwrap().clean("x").unwrap_err().to_string();
        assert!(!error.chars().any(char::is_control), "{error:?}");
    }
}
