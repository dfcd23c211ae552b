//! Paths that only git or only loopx writes.

use super::Place;

/// Whose a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reserved {
    /// A hook of git's, or the settings that can name one.
    Hooks,
    /// What loopx keeps: its notes, its refs, and the folder that shows the state.
    State,
    /// All that git has.
    Git,
}

/// Whether something that is written at `path`, said in `place`, would be written where nobody but git and loopx does. By the
/// words of the path alone: a link that leads there is not followed.
pub fn reserved(path: &str, place: &Place) -> Option<Reserved> {
    let whole = match place.join(path) {
        Place::At(whole) => whole,
        Place::Somewhere => path.to_owned(),
    };
    let mut parts: Vec<String> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_ascii_lowercase()),
        }
    }
    parts.iter().enumerate().find_map(|(at, part)| {
        let below = &parts[at + 1..];
        if could_be(part, ".loopx") {
            return Some(Reserved::State);
        }
        let is_bare = part.ends_with(".git") && !below.is_empty();
        if !could_be(part, ".git") && !is_bare {
            return None;
        }
        let below: &[String] = match below {
            [worktrees, _, below @ ..] if worktrees == "worktrees" => below,
            below => below,
        };
        let begins = |with: &[&str]| {
            below.len() >= with.len() && below.iter().zip(with).all(|(part, with)| could_be(part, with))
        };
        let any = |all: &[&[&str]]| all.iter().any(|with| begins(with));
        if below.is_empty() {
            return Some(Reserved::Git);
        }
        if any(&[&["hooks"], &["config"], &["config.worktree"]]) {
            return Some(Reserved::Hooks);
        }
        any(&[&["loopx"], &["refs", "loopx"], &["refs", "heads", "loopx"], &["packed-refs"]])
            .then_some(Reserved::State)
    })
}

/// The part of a path is this name, or a pattern that may well mean it.
fn could_be(part: &str, name: &str) -> bool {
    match part.find(['*', '?', '[']) {
        Some(0) => false,
        Some(at) => name.starts_with(&part[..at]),
        None => part == name,
    }
}
