//! Is the gate really in git's way? Putting the hook there, looking whether it is, and taking it away again.
//!
//! There are two ways in, and one list of them serves all four questions: hooks that git's configuration names
//! (`config.rs`), which git runs from 2.54 on, and a marked section of the file that git runs (`file.rs`), for any git
//! older than that. Where a git of each kind is on the machine, both are put there. A file that the team shares is changed
//! only when that was asked for.

mod config;
mod file;

pub use self::file::rest;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::Ctx;
use crate::{
    domain::actor::Proven,
    error::{Error, Kind},
    store::{Store, gits, program},
};

/// The program that git starts for pushes in strict mode, and that our own hooks ask: it is small and starts sooner.
pub const SMALL: &str = "git-remote-loopx";
/// What it says when it is asked for its version.
pub const VERSION: &str = concat!("git-remote-loopx ", env!("CARGO_PKG_VERSION"), "\n");

/// When git asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Before a push: the gate.
    PrePush,
    /// Before a commit: a word when `.loopx` is about to be in it. Refuses nothing.
    PreCommit,
}

impl Event {
    const ALL: [Self; 2] = [Self::PrePush, Self::PreCommit];

    /// Git's name of the hook.
    fn name(self) -> &'static str {
        match self {
            Self::PrePush => "pre-push",
            Self::PreCommit => "pre-commit",
        }
    }

    /// The program that is asked: for the gate the small one beside loopx, if it is there and of this version.
    fn asks(self, ctx: &Ctx) -> PathBuf {
        let small = ctx.program.with_file_name(SMALL);
        let says = || program::says(small.as_os_str(), &ctx.cwd, ["--version"]);
        match self {
            Self::PrePush if says().is_some_and(|says| says == VERSION.as_bytes()) => small,
            Self::PrePush | Self::PreCommit => ctx.program.clone(),
        }
    }
}

/// Whether `program` is this loopx, or the small one beside it.
pub(super) fn is_this(ctx: &Ctx, program: &Path) -> bool {
    [&ctx.program, &ctx.program.with_file_name(SMALL)].into_iter().any(|this| this == program)
}

/// Whether a push meets the gate.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Enforcement {
    /// Whether one from this worktree does, by the git that runs by its bare name.
    pub active: bool,
    /// Why it does not, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What makes git ask: `config` or `file`.
    pub by: &'static str,
    /// The file with the hook, or with the configuration that names it.
    pub hook: PathBuf,
    /// What an installation did: `created`, `added to`, `renewed in`, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<&'static str>,
    /// Other worktrees of the clone from which a push does not meet it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Unguarded>,
}

/// A worktree, or a git, that pushes without meeting the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Unguarded {
    /// The top of the worktree.
    pub place: PathBuf,
    pub why: String,
}

/// Looks whether what git would run before a push from the worktree the caller stands in reaches loopx, and from the
/// other worktrees of the clone.
pub fn probe(ctx: &Ctx) -> Enforcement {
    let own = ctx.store.git().worktree().and_then(|top| top.canonicalize().ok());
    let others = ctx.store.git().worktrees().unwrap_or_default();
    let others = others.into_iter().filter(|top| Some(top) != own.as_ref());
    let elsewhere = others.filter_map(|place| {
        let why = match Store::open(&place, None) {
            Ok(store) => probe_one(ctx, &store).why?,
            Err(error) => error.to_string(),
        };
        Some(Unguarded { place, why })
    });
    Enforcement { elsewhere: elsewhere.collect(), ..probe_one(ctx, &ctx.store) }
}

/// The same for the worktree that `store` was opened from, alone.
pub(super) fn probe_one(ctx: &Ctx, store: &Store) -> Enforcement {
    let named = config::probe(store);
    let (hook, in_file) = file::probe(store, Event::PrePush);
    let hears = named.is_ok() && in_file.is_err() && ctx.gits.first_hears(store.git());
    let (why, by, hook) = match (named, in_file) {
        (Ok(()), Err(_)) if hears => (None, "config", store.git().common_dir().join("config")),
        (_, Ok(())) => (None, "file", hook),
        // Nobody who has the newest git wants to hear of files.
        (Err(why), Err(_)) if !why.is_empty() && ctx.gits.first_hears(store.git()) => {
            (Some(why), "config", hook)
        }
        (_, Err(why)) => (Some(why), "file", hook),
    };
    Enforcement { active: why.is_none(), why, by, hook, did: None, elsewhere: Vec::new() }
}

/// The program that is asked first when git asks, in the worktree that `store` was opened from.
pub(super) fn program_asked(store: &Store, found: &Enforcement) -> Option<PathBuf> {
    match found.by {
        "config" => config::program(store),
        _ => file::program(&found.hook),
    }
}

/// The gits on this machine that would push from here without asking, where the first one asks.
pub(super) fn deaf_gits(ctx: &Ctx) -> Vec<PathBuf> {
    match probe_one(ctx, &ctx.store) {
        Enforcement { active: true, by: "config", .. } => ctx.gits.deaf(ctx.store.git()),
        _ => Vec::new(),
    }
}

/// Whether the git at `exec_path`, as it says itself in `GIT_EXEC_PATH`, runs the hook that its configuration names before
/// a push from `dir`, so that what a hook file would say is said already.
pub fn is_said_already(exec_path: &OsStr, dir: &Path) -> bool {
    gits::runs_hook(exec_path, dir, Event::PrePush.listed())
}

/// Puts the hook in git's way, or renews it. Idempotent. With `tracked`, also in a file that the team shares.
pub fn install(ctx: &Ctx, tracked: bool) -> Result<Enforcement, Error> {
    ctx.gits.note(ctx.store.git());
    let named = config::install(ctx);
    let ctx = &ctx.reopened()?;
    let (mut did, mut refused) = (None, None);
    let all_hear = ctx.gits.deaf(ctx.store.git()).is_empty();
    for event in Event::ALL {
        if all_hear && !file::is_there(&ctx.store, event) {
            continue;
        }
        match (event, file::install(ctx, event, tracked)) {
            (Event::PrePush, Ok(done)) => did = done,
            (Event::PrePush, Err(error)) => refused = Some(error),
            // Without the word before a commit, the push is still refused.
            (Event::PreCommit, _) => {}
        }
    }
    let found = probe(ctx);
    if let (false, Some(error)) = (found.active, refused) {
        return Err(error);
    }
    let did = match found.by {
        "config" => matches!(named, Ok(true)).then_some("named in"),
        _ => did,
    };
    Ok(Enforcement { did, ..found })
}

/// What a person puts behind the first line of a hook file that several repositories share, where loopx does not write itself. It
/// asks loopx only where loopx is, and passes on what git sent to the lines behind it.
pub fn to_be_shared(ctx: &Ctx) -> String {
    file::to_be_shared(ctx, Event::PrePush)
}

/// What an installation into a file of the team would change, as a unified diff. Nothing when it would change none.
pub fn tracked_change(ctx: &Ctx) -> Result<Option<String>, Error> {
    file::tracked_change(ctx, Event::PrePush)
}

/// Puts the hook back where somebody or something took it away after it had been asked for. Returns what a person should
/// know: nothing when all is well.
pub(super) fn keep(ctx: &Ctx) -> Option<String> {
    let found = probe_one(ctx, &ctx.store);
    if found.active || !config::is_wanted(&ctx.store) {
        return None;
    }
    let why = found.why.unwrap_or_default();
    Some(match install(ctx, false) {
        Ok(now) if now.active => format!("pushes were not guarded: {why}; the hook was put back"),
        _ => format!("PUSHES ARE NOT GUARDED: {why} (see `loopx hooks install`)"),
    })
}

/// What taking the hook away did.
#[derive(Debug, Serialize)]
pub struct Removed {
    /// The files that are as they were before, or gone because they were ours.
    pub files: Vec<PathBuf>,
    /// A hook that still asks loopx, as other repositories share it; null when none does.
    pub still: Option<PathBuf>,
}

/// Takes the hook out of git's way again, from whatever state it is in, and strict mode with it: everything outside the
/// marks stays, byte for byte. It takes a person, because pushes go out unasked from then on.
pub fn uninstall(ctx: &Ctx, _proven: &Proven) -> Result<Removed, Error> {
    let mut files = Vec::new();
    let strict = ctx.store.strict_addresses();
    strict.iter().try_for_each(|address| ctx.store.set_strict(address, false))?;
    if config::uninstall(&ctx.store)? || !strict.is_empty() {
        files.push(ctx.store.git().common_dir().join("config"));
    }
    for event in Event::ALL {
        files.extend(file::uninstall(&ctx.store, event)?);
    }
    // A push that a person lets go unasked goes round nothing.
    ctx.store.unwatch()?;
    let (hook, asks) = file::probe(&ctx.store, Event::PrePush);
    Ok(Removed { files, still: asks.is_ok().then_some(hook) })
}

/// A path quoted for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// The program in a text that was made from `template`; nothing when it was made from something else.
fn program_of(template: &str, text: &str) -> Option<PathBuf> {
    let (head, tail) = template.split_once("@PROGRAM@")?;
    let quoted = text.strip_prefix(head)?.strip_suffix(tail)?;
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    let plain = inner.replace(r"'\''", "'");
    // What was typed between the quotes must be what quoting it gives: nothing else may be run.
    (self::quoted(Path::new(&plain)) == quoted).then(|| plain.into())
}

/// See [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub fn promises(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        file::promises(text);
    }
}

/// An installation that was refused.
fn refused(why: impl std::fmt::Display) -> Error {
    Error::new(Kind::Refused, format!("the hook was not installed: {why}"))
}
