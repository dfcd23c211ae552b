//! What a door says when something does not go: a sentence, and what to do about it.
//!
//! The kind alone decides heading, exit code and JSON code. Exit codes are part of the contract and never change:
//! 0 yes or done, 1 refused or failed, 2 usage, 10 not now (only `quota should-run` and `guard check`), 255 a fault of
//! loopx itself.

use std::fmt;

/// An error as people and programs are told it.
#[derive(Debug)]
pub struct Error {
    pub kind: Kind,
    /// What was refused, which thing, and why: lower case, no final period.
    pub message: String,
    /// What helps, each with a command that can be pasted.
    pub hints: Vec<String>,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command line makes no sense.
    Usage,
    /// The state does not allow it.
    Refused,
    /// Only a person may do this, and none was there.
    PersonNeeded,
    /// A thing that was named is not there.
    NotFound,
    /// Here is no repository, or no state in it.
    NotSetUp,
    /// Somebody else was faster; trying again makes sense.
    Conflict,
    /// The state is there but cannot be trusted.
    Distrusted,
    /// `.git` cannot be written to from here, as in the sandboxes of some hosts; what only reads works.
    ReadOnly,
    /// The world around does not play along: permissions, disk, a missing program.
    Environment,
    /// A fault of loopx.
    Bug,
}

impl Kind {
    /// The `code` of `--json`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Refused => "refused",
            Self::PersonNeeded => "person-needed",
            Self::NotFound => "not-found",
            Self::NotSetUp => "not-set-up",
            Self::Conflict => "conflict",
            Self::Distrusted => "state-distrusted",
            Self::ReadOnly => "read-only",
            Self::Environment => "environment",
            Self::Bug => "bug",
        }
    }

    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Bug => 255,
            Self::Refused
            | Self::PersonNeeded
            | Self::NotFound
            | Self::NotSetUp
            | Self::Conflict
            | Self::Distrusted
            | Self::ReadOnly
            | Self::Environment => 1,
        }
    }

    /// Whether the same command may well succeed a moment later.
    pub fn is_retryable(self) -> bool {
        self == Self::Conflict
    }
}

/// How a hint begins that no command stands for.
pub const INSTALL: &str = "install a newer loopx";

impl Error {
    /// An error without hints.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// The commands in the hints; none where another program has to come first.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.hints
            .iter()
            .take_while(|hint| !hint.starts_with(INSTALL))
            .filter_map(|hint| hint.split('`').nth(1))
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        self.hints.iter().try_for_each(|hint| writeln!(f, "hint: {hint}"))
    }
}

impl std::error::Error for Error {}
