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

/// Whether something that is written at `path`, said in `place`, would be written where nobody but git and loopx does, and the folder
/// that this lies in. By the words of the path alone: a link that leads there is not followed.
pub fn reserved(path: &str, place: &Place) -> Option<(Reserved, Place)> {
    let (whole, is_known) = match place.join(path) {
        Place::At(whole) => (whole, true),
        Place::Somewhere => (path.to_owned(), false),
    };
    let parts = parts(&whole);
    // What a user has set for every repository can name a folder of hooks.
    let is_users = whole.starts_with(['/', '~', '$']);
    if is_users && (parts.last() == Some(&".gitconfig") || parts.ends_with(&[".config", "git", "config"])) {
        return Some((Reserved::Hooks, Place::At(String::new())));
    }
    let low: Vec<String> = parts.iter().map(|part| part.to_ascii_lowercase()).collect();
    let (at, whose) = (0..low.len()).find_map(|at| Some((at, whose(&low[at], &low[at + 1..])?)))?;
    // A bare repository is its own folder.
    let end = if low[at].starts_with(".git") || low[at].starts_with(".loopx") { at } else { at + 1 };
    let root = if whole.starts_with('/') { "/" } else { "" };
    let within =
        if is_known { Place::At(format!("{root}{}", parts[..end].join("/"))) } else { Place::Somewhere };
    Some((whose, within))
}

/// Files in which hosts keep what asks loopx, or what can keep it from being asked. `ops::host` has the same.
pub const HOST_FILES: [&str; 13] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".opencode/plugin/loopx.js",
    "opencode.json",
    "opencode.jsonc",
    ".github/hooks/loopx.json",
    ".copilot/hooks/loopx.json",
];

/// The whole of `path`, said in `place`, if it is a file of a host's, or, where it is taken away, a folder with such files. Whether there
/// is anything of loopx's in it says who may read it.
pub fn of_host(path: &str, place: &Place, is_taken: bool) -> Option<String> {
    const FOLDERS: [&str; 9] = [
        ".claude",
        ".codex",
        ".cursor",
        ".gemini",
        ".opencode",
        ".opencode/plugin",
        ".github",
        ".github/hooks",
        ".copilot",
    ];
    let whole = match place.join(path) {
        Place::At(whole) => whole,
        Place::Somewhere => path.to_owned(),
    };
    let low = whole.to_ascii_lowercase();
    let parts = parts(&low);
    let is = |name: &&str| {
        let names: Vec<&str> = name.split('/').collect();
        let Some(from) = parts.len().checked_sub(names.len()) else { return false };
        parts[from..]
            .iter()
            .zip(names)
            .all(|(part, name)| could_be(part, name) || part.starts_with(['*', '?']))
            && parts[from..].iter().any(|part| !part.starts_with(['*', '?']))
    };
    let is_file = HOST_FILES.iter().any(is);
    (is_file || is_taken && FOLDERS.iter().any(is)).then_some(whole)
}

/// The parts of a path, without what leads nowhere.
fn parts(whole: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

/// Whose a part of a path is, with what comes below it.
fn whose(part: &str, below: &[String]) -> Option<Reserved> {
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
    if any(&[&["config"], &["config.worktree"]]) {
        return Some(Reserved::Hooks);
    }
    // Other hooks than those that loopx has its place in are the user's.
    match below {
        [hooks] if could_be(hooks, "hooks") => return Some(Reserved::Hooks),
        [hooks, hook, ..] if could_be(hooks, "hooks") => {
            let is_ours = |name: &&str| could_be(hook, name) || hook.starts_with(['*', '?', '[', '$']);
            return ["pre-push", "pre-commit"].iter().any(is_ours).then_some(Reserved::Hooks);
        }
        _ => {}
    }
    any(&[&["loopx"], &["refs", "loopx"], &["refs", "heads", "loopx"], &["packed-refs"]])
        .then_some(Reserved::State)
}

/// The part of a path is this name, or a pattern that may well mean it.
fn could_be(part: &str, name: &str) -> bool {
    match part.find(['*', '?', '[']) {
        Some(0) => false,
        Some(at) => name.starts_with(&part[..at]),
        None => part == name,
    }
}
