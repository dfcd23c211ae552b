//! Looking the user's own files over, with what keeps secrets out of the state.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::Ctx;
use crate::{
    domain::{policy::Policy, secret, text::shown},
    error::{Error, Kind},
    store::{self, Store, inspect::Piece},
};

/// What is looked over.
#[derive(Debug, Clone)]
pub enum Scope {
    /// What git tracks, as it lies there.
    Tracked,
    Paths(Vec<PathBuf>),
    /// What the next commit would bring.
    Staged,
    /// What the commits of a range brought.
    Range(String),
}

/// A place where something should not be published. It says where and never what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Kind of secret; `loopx-state` and `loopx-folder` for what should stay where loopx keeps it.
    pub rule: String,
    /// A path, or `commit` and an id for the message of one.
    pub path: String,
    /// From 1, and so is the column, in characters.
    pub line: usize,
    pub column: usize,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Checked {
    pub found: Vec<Place>,
    /// How many files and messages were looked at.
    pub looked_at: usize,
    /// How many were not: no text, or very long.
    pub skipped: usize,
}

/// Looks over what `scope` names. Works in a repository without state as well.
pub fn check(ctx: &Ctx, scope: &Scope) -> Result<Checked, Error> {
    let git = ctx.store.git();
    let pieces = match scope {
        Scope::Tracked => git.tracked()?,
        Scope::Staged => git.staged()?,
        Scope::Range(range) => git.changed_in(range)?,
        Scope::Paths(paths) => {
            let mut pieces = Vec::new();
            for path in paths {
                pieces.extend(git.below(&ctx.cwd, path).map_err(|problem| or_a_range(problem, path))?);
            }
            pieces
        }
    };
    let policy = ctx.store.read().ok().and_then(|snapshot| snapshot.policy().ok());
    let custom = git.secret_rules()?;
    let mut checked = Checked { found: Vec::new(), looked_at: 0, skipped: 0 };
    for piece in pieces {
        if piece.is_tracked && piece.name.split('/').any(|part| part == ".loopx") {
            checked.found.push(at_begin("loopx-folder", &piece));
        }
        match ctx.store.text_of(&piece)? {
            None => checked.skipped += 1,
            Some(text) => {
                checked.looked_at += 1;
                look(&piece, &text, policy.as_ref(), &mut checked.found);
                for hit in custom.scan(&text, secret::scan(&text)).map_err(store::Error::SecretRules)? {
                    let is_let_through =
                        policy.as_ref().is_some_and(|policy| policy.lets_through(&text[hit.range.clone()]));
                    if !is_let_through {
                        checked.found.push(place(&piece, &text, &hit.rule, hit.range.start));
                    }
                }
            }
        }
    }
    Ok(checked)
}

/// A path that is not there and looks like a range of commits is meant as one.
fn or_a_range(problem: store::Error, path: &Path) -> Error {
    let text = path.to_string_lossy();
    let is_missing =
        matches!(&problem, store::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    match is_missing && text.contains("..") && !climbs {
        true => Error::new(Kind::NotFound, problem.to_string())
            .hint(format!("if commits are meant, run `loopx check --range {}`", shown(&text, 200))),
        false => problem.into(),
    }
}

fn at_begin(rule: &str, piece: &Piece) -> Place {
    Place { rule: rule.to_owned(), path: piece.name.clone(), line: 1, column: 1 }
}

fn place(piece: &Piece, text: &str, rule: &str, at: usize) -> Place {
    let line = text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let column = text[begin..at].chars().count() + 1;
    Place { rule: rule.to_owned(), path: piece.name.clone(), line, column }
}

/// Looks for what was copied from the state.
fn look(piece: &Piece, text: &str, policy: Option<&Policy>, found: &mut Vec<Place>) {
    let id = policy.and_then(|policy| text.find(&policy.repository.to_string()));
    match id {
        Some(at) => found.push(place(piece, text, "loopx-state", at)),
        None if Store::is_of_a_state(text) => found.push(at_begin("loopx-state", piece)),
        None => {}
    }
}
