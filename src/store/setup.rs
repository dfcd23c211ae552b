//! Setting a clone up, and setting it right again: branch, config, exclude entry, view. Each step looks first and never
//! overwrites, so that doing all of them again is the repair.

use std::{fs, io::Write as _, path::PathBuf};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{
    DEFAULT_BRANCH, Error, Store, Warning, error, format,
    git::{BRANCH_KEY, object_id},
    hot::Hot,
    layout::{self, Edit},
    message::Message,
    program,
    screen::Cleared,
    view::{FOLDER, View},
    writer::{self, Standing, Writer},
};
use crate::domain::{
    actor::Stamp,
    change::{Change, Op},
    policy::Policy,
    quota::Quotas,
};

/// What the first line of the section in a git hook begins with.
pub const HOOK_MARK: &str = "# >>> loopx >>>";

/// What is there before a set-up, and so what it comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Situation {
    /// No state and no sign of an earlier one: begin.
    New,
    /// State as loopx left it: keep it.
    Ours,
    /// The branch is gone but not what it pointed to: put it back.
    Lost { last: String },
    /// The branch and the writer's note are gone, and this is what `.loopx/` showed last. There may have been something newer,
    /// so only a person may go back to it.
    Shown { last: String },
    /// The branch is at a tip that loopx did not put there. Only a person may go on from it.
    Foreign { tip: String, last: Option<String> },
    /// The clone was set up before and the state is gone. Only a person may begin anew.
    Gone,
}

/// What a set-up did.
#[derive(Debug)]
pub struct Setup {
    pub branch: String,
    pub situation: Situation,
    pub warnings: Vec<Warning>,
}

impl Store {
    /// The state branch a set-up is about: the user's choice, or that of the clone.
    pub fn branch_for(&self, chosen: Option<&str>) -> Result<String, Error> {
        chosen.map_or_else(|| self.git.branch(), |branch| Ok(branch.to_owned()))
    }

    /// Looks what a set-up of `branch` would meet. Refuses what could not be set up at all.
    pub fn situation(&self, branch: &str) -> Result<Situation, Error> {
        self.git.identity()?;
        self.git.main_worktree()?;
        self.git.full_name_of(branch)?;
        self.must_be_the_branch(branch)?;
        View::must_have_room(&self.git)?;
        if self.git.tip(branch)?.is_none() {
            if let Some(other) = self.git.branch_in_the_way(branch)? {
                return Err(Error::BranchInTheWay { branch: branch.to_owned(), other });
            }
            return Ok(match (writer::last(&self.git), View::last_shown(&self.git)?) {
                (Some(last), _) if self.git.base(last).is_ok() => Situation::Lost { last: last.to_string() },
                (Some(_), _) => Situation::Gone,
                (None, Some(last)) => Situation::Shown { last: last.to_string() },
                (None, None) if self.has_signs() => Situation::Gone,
                (None, None) => Situation::New,
            });
        }
        let (tip, standing) = writer::standing(&self.git, branch)?;
        match (self.at(tip), standing) {
            (_, Standing::Elsewhere(left)) => Err(Error::Redirected { branch: branch.to_owned(), left }),
            (Err(Error::Unreadable { path, .. }), Standing::Foreign(None)) if path == layout::POLICY => {
                Err(Error::ForeignBranch(branch.to_owned()))
            }
            // What cannot be read can only be put back.
            (Err(_), Standing::Foreign(last @ Some(_))) => Err(self.foreign(branch, tip, last)),
            (Err(error), _) => Err(error),
            (Ok(snapshot), Standing::Foreign(last)) => {
                snapshot.states()?;
                let last = last.map(|last| last.to_string());
                Ok(Situation::Foreign { tip: tip.to_string(), last })
            }
            (Ok(_), Standing::Ours) => Ok(Situation::Ours),
        }
    }

    /// Makes what is missing of this clone's set-up, in the `situation` that was found (and that a person agreed to go
    /// on from, where it takes one). Does nothing when that has changed meanwhile.
    pub fn set_up(
        &self,
        branch: &str,
        situation: &Situation,
        policy: &Policy,
        stamp: &Stamp,
    ) -> Result<Setup, Error> {
        let top = self.git.main_worktree()?;
        let mut writer = Writer::enter(&self.git, branch)?;
        let moved = || Error::Contended(branch.to_owned());
        let found = self.situation(branch)?;
        // Where somebody else was faster there is nothing left to do.
        if found != *situation && found != Situation::Ours {
            return Err(moved());
        }
        let settled = self.settled(branch, &found, policy, stamp, &mut writer)?;
        let tip = settled.ok_or_else(moved)?;
        if self.git.config(BRANCH_KEY).as_deref() != Some(branch) {
            let args = ["config", "--local", BRANCH_KEY, branch];
            program::git(error::WRITE_CONFIG, self.git.common_dir(), &top, args, b"")?;
        }
        self.exclude()?;
        let warnings = View::attach(&self.git, branch, tip, &mut writer)?;
        Ok(Setup { branch: branch.to_owned(), situation: found, warnings })
    }

    /// Brings the branch from the `situation` to the tip it goes on from. Nothing when somebody else was faster.
    fn settled(
        &self,
        branch: &str,
        situation: &Situation,
        policy: &Policy,
        stamp: &Stamp,
        writer: &mut Writer,
    ) -> Result<Option<ObjectId>, Error> {
        let begin = Change::without_records(Op::Init, "begin loopx state");
        let message = Message::of(&begin, stamp, &self.git.identity()?);
        let new = match situation {
            Situation::Ours => return self.trusted_tip_of(branch).map(Some),
            Situation::Foreign { tip, .. } => {
                let tip = object_id(tip)?;
                writer.adopt(tip)?;
                // What was at hand is of another history.
                if let Ok(snapshot) = self.at(tip) {
                    Hot::renew(&self.git.private_dir(), &snapshot);
                }
                return Ok(Some(tip));
            }
            Situation::Lost { last } | Situation::Shown { last } => object_id(last)?,
            Situation::New | Situation::Gone => {
                let mut edit = Edit::default();
                let (attributes, lines) = layout::ATTRIBUTES;
                edit.write(attributes.into(), lines);
                edit.write(layout::POLICY.into(), format::encode(policy));
                edit.write(layout::QUOTA.into(), format::encode(&format::QuotaFile { goals: Quotas::new() }));
                self.git.commit(Cleared::untyped(&edit), None, &message)?
            }
        };
        Ok(writer.publish(&self.git, new, None, &message)?.then_some(new))
    }

    /// Refuses a set-up on `branch` while the clone has its state on another one: that would hide its gates.
    fn must_be_the_branch(&self, branch: &str) -> Result<(), Error> {
        let configured = self.git.config(BRANCH_KEY);
        let present = configured.as_deref().unwrap_or(DEFAULT_BRANCH);
        let is_state = |tip| configured.is_some() || self.at(tip).is_ok();
        match self.git.tip(present).ok().flatten() {
            Some(tip) if present != branch && is_state(tip) => Err(Error::OtherBranch(present.to_owned())),
            _ => Ok(()),
        }
    }

    /// Keeps `.loopx` out of `git add` and `git clean` in all worktrees of the clone.
    fn exclude(&self) -> Result<(), Error> {
        if self.excludes() {
            return Ok(());
        }
        let path = self.exclude_file();
        let present = fs::read_to_string(&path).unwrap_or_default();
        let failed = || Error::io("write", &path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed())?;
        }
        let gap = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
        let mut file = fs::File::options().create(true).append(true).open(&path).map_err(failed())?;
        file.write_all(format!("{gap}/{FOLDER}\n").as_bytes()).map_err(failed())
    }

    /// Whether anything is there that an earlier set-up left outside of the state.
    fn has_signs(&self) -> bool {
        let hook = self.git.common_dir().join("hooks").join("pre-push");
        let guards = || fs::read(hook).is_ok_and(|hook| hook.contains_str(HOOK_MARK));
        self.git.config(BRANCH_KEY).is_some() || self.excludes() || guards()
    }

    /// Whether the line of [`Store::exclude`] is there, which a set-up leaves.
    fn excludes(&self) -> bool {
        let present = fs::read_to_string(self.exclude_file()).unwrap_or_default();
        present.lines().any(|line| line.trim_end().strip_prefix('/') == Some(FOLDER))
    }

    pub(super) fn exclude_file(&self) -> PathBuf {
        self.git.common_dir().join("info").join("exclude")
    }
}
