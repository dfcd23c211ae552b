//! Which pushes a gate is about: to which remotes, of which branches, with changes in which files. What is left open means
//! all of them.

use std::{collections::BTreeSet, fmt, str::FromStr};

use super::text::shown;

/// A pattern for names with slashes in them: `*` and `?` match within a part, `**` any number of parts.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Glob(String);

/// A text was no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a pattern (expected 1 to 200 letters, digits and `*`, `?`, `/`, `.`, `_`, `-`, `@`, `:`, `+`, `~`)"
)]
pub struct BadGlob(String);

impl Glob {
    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        self.0 == name || fast_glob::glob_match(&self.0, name)
    }

    /// As it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Glob {
    type Err = BadGlob;
    fn from_str(text: &str) -> Result<Self, BadGlob> {
        // Brackets, braces and a leading `!` could make a pattern that matches nothing, and the gate hold nothing back.
        let is_plain = |c: char| c.is_alphanumeric() || "*?/._-@:+~".contains(c);
        match (1..=200).contains(&text.len()) && text.chars().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(BadGlob(shown(text, 200))),
        }
    }
}

impl TryFrom<String> for Glob {
    type Error = BadGlob;
    fn try_from(text: String) -> Result<Self, BadGlob> {
        text.parse()
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.0
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a push has to be like to be meant. Of each part that is named, one pattern has to match.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The ref on the other side: `main`, `release/*`, `refs/tags/v*`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub branches: BTreeSet<Glob>,
    /// The remote, by its name or its address.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub remotes: BTreeSet<Glob>,
    /// Files that are changed by what is pushed, from the top of the project; `docs` means everything below it, too.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub paths: BTreeSet<Glob>,
}

impl Scope {
    /// Every push is meant.
    pub fn is_all(&self) -> bool {
        self.branches.is_empty() && self.remotes.is_empty() && self.paths.is_empty()
    }

    /// Whether pushes to a remote that is known by these names and addresses are meant.
    pub fn has_remote(&self, names: &BTreeSet<String>) -> bool {
        meant(&self.remotes, names.iter(), |glob, name| glob.matches(name))
    }

    /// Whether a ref on the other side, by its full name, is meant.
    pub fn has_branch(&self, full_name: &str) -> bool {
        let short = |prefix| full_name.strip_prefix(prefix);
        let names =
            [Some(full_name), short("refs/heads/"), short("refs/tags/").map(|_| &full_name["refs/".len()..])];
        meant(&self.branches, names.into_iter().flatten(), |glob, name| glob.matches(name))
    }

    /// Whether changes of these files are meant; nothing known of them counts as meant.
    pub fn has_paths(&self, changed: Option<&BTreeSet<String>>) -> bool {
        let Some(changed) = changed else { return true };
        let below = |glob: &Glob, path: &String| {
            let mut ends = path.match_indices('/').map(|(end, _)| &path[..end]);
            glob.matches(path) || ends.any(|folder| glob.matches(folder))
        };
        meant(&self.paths, changed.iter(), below)
    }

    /// The parts that are named, each with its patterns.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &BTreeSet<Glob>)> {
        let parts = [("branches", &self.branches), ("remotes", &self.remotes), ("paths", &self.paths)];
        parts.into_iter().filter(|(_, globs)| !globs.is_empty())
    }
}

fn meant<T>(
    globs: &BTreeSet<Glob>,
    mut names: impl Iterator<Item = T>,
    matches: impl Fn(&Glob, T) -> bool + Copy,
) -> bool
where
    T: Copy,
{
    globs.is_empty() || names.any(|name| globs.iter().any(|glob| matches(glob, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(branches: &[&str], remotes: &[&str], paths: &[&str]) -> Scope {
        let globs = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Scope { branches: globs(branches), remotes: globs(remotes), paths: globs(paths) }
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_part_that_is_named_has_to_match() {
        let all = scope(&[], &[], &[]);
        assert!(
            all.is_all()
                && all.has_branch("refs/heads/x")
                && all.has_remote(&names(&["x"]))
                && all.has_paths(Some(&names(&[])))
        );
        let some =
            scope(&["main", "release/*", "tags/v*"], &["origin", "git@host:*/x"], &["docs", "src/**/*.rs"]);
        for (name, meant) in [
            ("refs/heads/main", true),
            ("refs/heads/release/1", true),
            ("refs/heads/release/1/2", false),
            ("refs/heads/maintenance", false),
            ("refs/tags/v1", true),
            ("refs/tags/main", false),
            ("refs/for/main", false),
        ] {
            assert_eq!(some.has_branch(name), meant, "{name}");
        }
        for (known, meant) in
            [(&["origin"][..], true), (&["backup", "git@host:me/x"], true), (&["backup"], false)]
        {
            assert_eq!(some.has_remote(&names(known)), meant, "{known:?}");
        }
        for (changed, meant) in [
            (&["docs/a/b.md"][..], true),
            (&["README.md", "src/main.rs"], true),
            (&["src/a/b.rs"], true),
            (&["README.md"], false),
            (&["docsy"], false),
            (&[], false),
        ] {
            assert_eq!(some.has_paths(Some(&names(changed))), meant, "{changed:?}");
        }
        assert!(some.has_paths(None));
    }

    #[test]
    fn a_pattern_that_could_match_nothing_is_none() {
        for bad in ["", "[a", "{a", "!a", "a b", "a\n", "\\a", &"a".repeat(201)] {
            assert!(bad.parse::<Glob>().is_err(), "{bad:?}");
        }
    }
}
