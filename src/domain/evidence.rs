//! Evidence: what was seen, bound to the state of the project it was seen in. Append-only.

use super::{
    actor::Stamp,
    command::{CommandLine, Ended},
    gate::Act,
    id::{GateId, TodoId},
    text::{Note, Title},
    time::Seconds,
};

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The project's commit at that time, in hex; none in a project without commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Tracked files differed from that commit.
    pub dirty: bool,
    /// What it is about; the goal as a whole when neither is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo: Option<TodoId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    pub added: Stamp,
    pub what: Finding,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Finding {
    /// Something said.
    Note { text: Note },
    /// Something elsewhere.
    Link { url: Title },
    /// A commit of the project, in hex, with its subject.
    Commit { commit: String, subject: String },
    /// A file of the project: path from the top of the worktree, size in bytes, `sha256:` and hex digest.
    File { path: String, bytes: u64, digest: String },
    /// A command that ran because no gate held `guarded` back.
    Command { argv: CommandLine, guarded: Act, seconds: Seconds, ended: Ended },
    /// The check of a todo, which was passed: head and tail of what it printed, without what looks like a secret.
    Check {
        argv: CommandLine,
        seconds: Seconds,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Note>,
    },
}

impl Finding {
    /// The kind in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Note { .. } => "note",
            Self::Link { .. } => "link",
            Self::Commit { .. } => "commit",
            Self::File { .. } => "file",
            Self::Command { .. } => "command",
            Self::Check { .. } => "check",
        }
    }
}
