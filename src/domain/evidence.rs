//! Evidence: what was seen, bound to the state of the project it was seen in. Append-only.

use std::fmt;

use super::{
    actor::Stamp,
    command::{CommandLine, Ended},
    gate::Act,
    id::{GateId, TodoId},
    text::{FileCopy, Note, Title},
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
    /// The commits of the project that `to` has and `from` has not, both in hex.
    Range { from: String, to: String, commits: u64 },
    /// A file of the project: path from the top of the worktree, size in bytes, `sha256:` and hex digest, and its text if
    /// that was kept.
    File {
        path: String,
        bytes: u64,
        digest: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copy: Option<FileCopy>,
    },
    /// Something measured.
    Metric {
        name: Title,
        value: Number,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Title>,
        /// Which way is better.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// What somebody who looked at it thinks of it.
    Review {
        verdict: Opinion,
        by: Title,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Note>,
    },
    /// Something said about exactly the difference between a commit and what lay in the worktree, staged, unstaged and
    /// untracked.
    Change {
        /// The commit it is compared with, in hex.
        base: String,
        /// See [`Watched::tree`].
        tree: String,
        /// How many files differ.
        files: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Note>,
    },
    /// A command that ran.
    Command {
        argv: CommandLine,
        /// It ran because no gate held this back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        guarded: Option<Act>,
        seconds: Seconds,
        ended: Ended,
        /// What was seen of it beyond how it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        watched: Option<Box<Watched>>,
    },
    /// The check of a todo, which was passed: head and tail of what it printed, without what looks like a secret.
    Check {
        argv: CommandLine,
        seconds: Seconds,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Note>,
    },
}

/// A command that was watched while it ran.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// It was ended before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// It shows, by having succeeded, that what `tree` names may go out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub receipt: bool,
    /// The fingerprint of what lay in the worktree before it ran: the tree, in hex, that git would make of it, whether it
    /// was committed, staged, unstaged or untracked. Ignored files do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Where it left the project, if elsewhere than it found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// What a report of tests says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Heard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Heard>,
}

/// Why a command was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// It ran longer than it might.
    Timeout,
    /// Somebody interrupted it.
    Interrupt,
}

/// Where a command left the project.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub dirty: bool,
    pub tree: String,
}

/// How many tests came out how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tests {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

/// What a command wrote to one stream.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    pub bytes: u64,
    /// Of all of it, `sha256:` and hex.
    pub digest: String,
    /// How it began and how it ended, without what looks like a secret and what acts on a screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Note>,
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Up,
    Down,
}

/// What a reviewer thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opinion {
    Approve,
    Changes,
    Comment,
}

impl Opinion {
    pub const ALL: [Self; 3] = [Self::Approve, Self::Changes, Self::Comment];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Changes => "changes",
            Self::Comment => "comment",
        }
    }
}

/// A decimal number as it was written: `12`, `-0.5`. Nothing is rounded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Number(String);

/// Why a text is no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a number (expected one such as `12` or `-0.5`, of at most 40 characters)", super::text::shown(.0, 40))]
pub struct BadNumber(String);

impl std::str::FromStr for Number {
    type Err = BadNumber;
    fn from_str(text: &str) -> Result<Self, BadNumber> {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        match digits(whole) && digits(fraction) && text.len() <= 40 {
            true => Ok(Self(text.to_owned())),
            false => Err(BadNumber(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Number {
    type Error = BadNumber;
    fn try_from(text: String) -> Result<Self, BadNumber> {
        text.parse()
    }
}

impl From<Number> for String {
    fn from(number: Number) -> Self {
        number.0
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Tests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl Heard {
    /// What may be kept of a stream that had `bytes` bytes, the first of which are `head` and the last, if there are more,
    /// `tail`. When nothing lies between the two, all of it is the head.
    pub fn of(bytes: u64, digest: &[u8], head: &[u8], tail: &[u8]) -> Self {
        let kept = |bytes: &[u8]| {
            let text = super::command::harmless(&String::from_utf8_lossy(bytes));
            Note::fit(&text).map(|(note, _)| note)
        };
        // Half a line may be half a secret, which nobody would know.
        let gap = bytes > (head.len() + tail.len()) as u64;
        let line_end = |at: Option<usize>| at.filter(|_| gap).map(|at| at + 1);
        let head = &head[..line_end(head.iter().rposition(|b| *b == b'\n')).unwrap_or(head.len())];
        let tail = &tail[line_end(tail.iter().position(|b| *b == b'\n')).unwrap_or(0)..];
        let digest = format!("sha256:{}", super::text::hex(digest));
        match gap {
            true => Self { bytes, digest, head: kept(head), tail: kept(tail) },
            false => Self { bytes, digest, head: kept(&[head, tail].concat()), tail: None },
        }
    }
}

impl Finding {
    /// The kind in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Note { .. } => "note",
            Self::Link { .. } => "link",
            Self::Commit { .. } => "commit",
            Self::Range { .. } => "range",
            Self::File { .. } => "file",
            Self::Metric { .. } => "metric",
            Self::Review { .. } => "review",
            Self::Change { .. } => "change",
            Self::Command { .. } => "command",
            Self::Check { .. } => "check",
        }
    }

    /// The fingerprint of the worktree it is about, if it has one.
    pub fn tree(&self) -> Option<&str> {
        match self {
            Self::Change { tree, .. } => Some(tree),
            Self::Command { watched: Some(watched), .. } => watched.tree.as_deref(),
            _ => None,
        }
    }

    /// The tree that a check which succeeded says may go out: it was marked as a receipt, ended by itself with 0, and left
    /// the files as it found them.
    pub fn receipt(&self) -> Option<&str> {
        match self {
            Self::Command { ended: Ended::Exit(0), watched: Some(watched), .. }
                if watched.receipt && watched.cut.is_none() && watched.after.is_none() =>
            {
                watched.tree.as_deref()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_as_it_was_written() {
        for good in ["0", "12", "-0.50", "1234567890.0987654321"] {
            assert_eq!(good.parse::<Number>().unwrap().to_string(), good);
        }
        for bad in ["", "-", ".5", "1.", "1e9", "NaN", "1,5", "+1", " 1", &"9".repeat(41)] {
            assert!(bad.parse::<Number>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_check_that_succeeded_and_changed_nothing_is_a_receipt() {
        let watched = Watched {
            cut: None,
            receipt: true,
            tree: Some("1".repeat(40)),
            after: None,
            tests: None,
            stdout: None,
            stderr: None,
        };
        let check = |ended, watched: &Watched, expected| {
            let argv = CommandLine::of(&["just", "ci"]);
            let watched = Some(Box::new(watched.clone()));
            let finding = Finding::Command { argv, guarded: None, seconds: Seconds(1), ended, watched };
            assert_eq!(finding.receipt().is_some(), expected, "{finding:?}");
        };
        check(Ended::Exit(0), &watched, true);
        check(Ended::Exit(1), &watched, false);
        check(Ended::Signal(2), &watched, false);
        check(Ended::Exit(0), &Watched { receipt: false, ..watched.clone() }, false);
        check(Ended::Exit(0), &Watched { cut: Some(Cut::Interrupt), ..watched.clone() }, false);
        check(Ended::Exit(0), &Watched { tree: None, ..watched.clone() }, false);
        let after = After { commit: None, dirty: true, tree: "2".repeat(40) };
        check(Ended::Exit(0), &Watched { after: Some(after), ..watched.clone() }, false);
    }

    #[test]
    fn what_is_kept_of_a_stream_is_harmless() {
        let heard = Heard::of(
            3_000,
            &[0; 2],
            b"\x1b[1;31mred\x1b[0m\n\x07 token=abc \xff\n",
            b"half\nAuthorization: Bearer x\nend\n",
        );
        assert_eq!(heard.digest, "sha256:0000");
        assert_eq!(heard.head.unwrap().as_str(), "red\n\\u{7} token=*** \u{fffd}");
        assert_eq!(heard.tail.unwrap().as_str(), "Authorization: ***\nend");
        assert_eq!(Heard::of(1, &[], b"\n", b"").head, None);
    }
}
