//! What can go wrong between loopx and git, with the facts.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::domain::{secret::custom::BadRules, text::shown};

/// What is done when git's configuration is changed.
pub(super) const WRITE_CONFIG: &str = "write its config";

/// The store could not do it. Nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{}` is not in a git repository", place(.0))]
    NotARepository(PathBuf),
    /// Another user owns it, and git would refuse it, too.
    #[error("the repository at `{}` belongs to another user", place(.0))]
    Untrusted(PathBuf),
    /// No worktree of it is where the user stands; it may have one elsewhere.
    #[error("the repository at `{}` is bare{}", place(.at), if .worktree.is_some() { ", and this is not one of its worktrees" } else { " and has no worktree" })]
    Bare { at: PathBuf, worktree: Option<PathBuf> },
    #[error("this repository keeps its refs in the format `{0}`, which loopx does not know")]
    RefStorage(String),
    #[error("this repository has no loopx state")]
    NotInitialised,
    #[error("git knows no name and address for you (`user.name`, `user.email`)")]
    NoIdentity,
    #[error("`{0}` cannot be the name of a branch")]
    BadBranch(String),
    #[error("git's setting `loopx.branch` is `{0}`, which cannot be the name of a branch")]
    BranchSetting(String),
    #[error("the branch `{0}` exists and holds something else than loopx state")]
    ForeignBranch(String),
    #[error("the branch `{other}` is in the way of a branch `{branch}`")]
    BranchInTheWay { branch: String, other: String },
    #[error("this clone keeps its state on the branch `{0}` already")]
    OtherBranch(String),
    #[error("`{}` is in the way of the folder that shows the state", place(.0))]
    FolderInTheWay(PathBuf),

    #[error("`.loopx` has something in it that is not part of the state")]
    EditedView,

    /// A record that makes no sense. What cannot be read is not trusted.
    #[error("`{path}` on the state branch cannot be read: {problem}")]
    Unreadable { path: String, problem: String },
    #[error("`{path}` on the state branch has format {found}, and this loopx reads up to {known}")]
    Newer { path: String, found: String, known: String },
    /// Somebody committed by hand, moved the branch back, or removed the note of what loopx did last.
    #[error("`{branch}` was changed by something else than loopx: it is at {} and not {}", short(.tip), .last.as_deref().map_or("where loopx left it", short))]
    Foreign {
        branch: String,
        tip: String,
        last: Option<String>,
        /// What is there was made by a newer loopx, or says so.
        newer: Option<Box<Newer>>,
        /// What is there cannot be read as a whole, so nobody can go on from it.
        is_unreadable: bool,
    },
    /// A history that was looked at as a whole has a commit that loopx cannot have made.
    #[error("{} is no legal mutation of the state: {problem}", short(.commit))]
    Illegal { commit: String, problem: String },
    /// The same in the history of this clone, which loopx put there itself.
    #[error("{} of the state here is no legal mutation: {problem}", short(.commit))]
    IllegalHere { commit: String, problem: String, before: Option<String> },
    /// A commit that the branch never was at, such as one of the project.
    #[error("{} is no commit that `{branch}` was ever at, or was made from", short(.commit))]
    NotOfThePast { branch: String, commit: String },
    /// What would be gone back to has a commit in its history that loopx cannot have made.
    #[error("what is to be restored has {} in its history, which is no legal mutation: {problem}", short(.commit))]
    NoWayBack { commit: String, problem: String, before: Option<String> },
    /// The setting was changed, which would hide the gates on the branch that has the state.
    #[error("git's setting `loopx.branch` names `{branch}`, and loopx left the state on `{left}`")]
    Redirected { branch: String, left: String },
    /// The file of the branch makes no sense, as after a power cut.
    #[error("`{}` is no ref that git could read", place(.0))]
    BrokenRef(PathBuf),
    /// A remote that was named is none of this clone's.
    #[error("`{name}` is no remote of this clone{}", .known.first().map_or(String::new(), |_| format!(" (it has {})", .known.join(", "))))]
    UnknownRemote { name: String, known: Vec<String> },
    /// Nobody has said where the state may go.
    #[error("no remote is set, so the state stays on this machine")]
    NoTarget,
    /// Somebody changed the address of the remote that a person chose.
    #[error("the address of `{0}` is not the one that a person let the state go to")]
    OtherAddress(String),
    #[error("`{0}` has several addresses to push to, and the state goes to one place only")]
    SeveralAddresses(String),
    /// git could not get through to the remote, or it refused.
    #[error("cannot {doing} `{remote}`: {problem}")]
    Remote { doing: &'static str, remote: String, problem: String },
    /// What the remote has cannot be read as a state.
    #[error("what `{remote}` has as state cannot be taken: {problem}")]
    BadRemoteState { remote: String, problem: String },
    #[error("the state at `{0}` is that of another repository")]
    OtherRepository(String),
    /// Same repository, and no common past.
    #[error(
        "the histories here and at `{remote}` have no commit in common, because one was left behind {side}, and the states differ by now"
    )]
    NoCommonPast { remote: String, side: &'static str },
    /// Both sides changed the same records.
    #[error("the state here and the one at `{remote}` have both changed {} since they were the same", .records.join(", "))]
    Clash { remote: String, records: Vec<String>, base: String },
    /// A commit of ours is no legal mutation after what the other side did.
    #[error("{} \"{subject}\" cannot follow what `{remote}` has: {problem}", short(.commit))]
    CannotFollow { remote: String, commit: String, subject: String, problem: String, base: String },
    /// What was pushed to where the state is kept would take something back.
    #[error("`{0}` only moves forward, and what was pushed does not follow what is here")]
    NotForward(&'static str),
    /// A file that was given to be imported.
    #[error("line {line} of the export: {problem}")]
    BadExport { line: usize, problem: String },
    #[error("the export is no whole state: {0}")]
    NotWhole(String),
    #[error("an import adds goals and changes none, and {0} belongs to one that is there")]
    NotNew(String),
    #[error("there are goals here already, and an import overwrites nothing")]
    NotEmpty,
    /// The object database lacks something, or it is damaged.
    #[error("the state branch cannot be read: {0}")]
    Damaged(String),

    #[error(transparent)]
    Secret(Box<LooksSecret>),
    /// A commit from elsewhere.
    #[error("commit {} comes from elsewhere and has a secret in it: {found}", &.commit[..10])]
    BringsSecret { commit: String, found: Box<LooksSecret> },
    /// The file that `loopx.secretRules` names.
    #[error("the rules for secrets that git's setting `loopx.secretRules` names: {0}")]
    SecretRules(BadRules),

    #[error("another loopx has been writing for {0} s")]
    Busy(u64),
    #[error("`{0}` moved while this was being decided")]
    Contended(String),

    /// A lock of git's own that is not from a killed loopx.
    #[error("another program holds `{}`", place(.0))]
    Locked(PathBuf),

    #[error("cannot {doing} `{}`: {source}", place(.path))]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("git cannot {doing}: {problem}")]
    Git { doing: &'static str, problem: String },
    /// So nobody can tell whether it is one.
    #[error("`{program}` cannot be asked about a signature: {problem}")]
    Unasked { program: &'static str, problem: String },
    /// loopx cannot stand between git and such a place.
    #[error("strict mode knows folders, `file://`, ssh and `https://`, and `{0}` is none of them")]
    Address(String),
    #[error("`{0}` names no commit of this repository")]
    UnknownRevision(String),
    #[error("`{}` is no file of this worktree", place(.0))]
    UnknownFile(PathBuf),
}

/// A text that was about to be written. What it is stays untold.
#[derive(Debug, thiserror::Error)]
#[error(
    "{record} has what looks like a secret in `{field}`, characters {from} to {to} (rule `{rule}`){}, so nothing was written",
    others(*.more)
)]
pub struct LooksSecret {
    pub record: String,
    pub field: String,
    pub rule: String,
    /// In characters, from 1.
    pub from: usize,
    pub to: usize,
    /// How many other values look like one.
    pub more: usize,
    /// What a person names to allow it.
    pub digest: String,
}

impl Error {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    pub(super) fn git(doing: &'static str) -> impl FnOnce(gix::Error) -> Self {
        move |error| Self::Git { doing, problem: chain(&error) }
    }

    /// Trying again right away may well work: `git gc` removes empty folders just as something is put there, and objects
    /// that nothing points to.
    pub(super) fn is_passing(&self) -> bool {
        const SIGNS: [&str; 3] =
            ["No such file or directory", "File exists (os error 17)", "cannot read existing object"];
        matches!(self, Self::Git { problem, .. } if SIGNS.iter().any(|sign| problem.contains(sign)))
    }

    /// The disk, or what the user may use of it, is full.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        // `ENOSPC`, `EFBIG`, `EDQUOT`.
        self.is_of_the_system(&[StorageFull, FileTooLarge, QuotaExceeded], &[28, 27, 122])
    }

    /// Nobody may write there: permissions, or a file system that is read-only.
    pub fn is_forbidden(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        // `EACCES`, `EROFS`.
        self.is_of_the_system(&[PermissionDenied, ReadOnlyFilesystem], &[13, 30])
    }

    /// The same for something that was to be written.
    pub fn is_closed_to_writing(&self) -> bool {
        self.is_forbidden() && !matches!(self, Self::Io { doing: "read" | "find", .. })
    }

    /// Git's configuration alone may not be written, or not be put in the place of the old one.
    pub fn is_of_a_closed_config(&self) -> bool {
        const SIGNS: [&str; 5] = [
            "Read-only file system",
            "Device or resource busy",
            "Permission denied",
            "Operation not permitted",
            "File exists",
        ];
        matches!(self, Self::Git { doing: WRITE_CONFIG, problem } if SIGNS.iter().any(|sign| problem.contains(sign)))
    }

    /// The system refused for one of these reasons, of which gix hands on the text with the number only.
    fn is_of_the_system(&self, kinds: &[io::ErrorKind], numbers: &[i32]) -> bool {
        match self {
            Self::Io { source, .. } => kinds.contains(&source.kind()),
            Self::Git { problem, .. } => {
                numbers.iter().any(|number| problem.contains(&format!("(os error {number})")))
            }
            _ => false,
        }
    }

    /// The state is there but not to be trusted, so that whatever depends on it has to refuse.
    pub fn is_distrust(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. }
                | Self::Newer { .. }
                | Self::Foreign { .. }
                | Self::Redirected { .. }
                | Self::Illegal { .. }
                | Self::IllegalHere { .. }
                | Self::BrokenRef(_)
                | Self::Damaged(_)
                | Self::RefStorage(_)
        )
    }
}

/// A format that is newer than this loopx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newer {
    pub path: String,
    pub found: String,
    pub known: String,
}

/// An error with its causes in one line.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = error.to_string().replace('\n', " ");
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {}", text.replace('\n', " "));
        }
        source = cause.source();
    }
    shown(&line, 400)
}

/// A path, fit to print.
pub(super) fn place(path: &Path) -> String {
    shown(&path.to_string_lossy(), 4096)
}

fn others(more: usize) -> String {
    if more == 0 { String::new() } else { format!(", and {more} more") }
}

fn short(id: &str) -> &str {
    &id[..id.len().min(10)]
}
