//! Setting a clone up, and setting it right again: branch, config, exclude entry, view. Each step looks first and never
//! overwrites, so that doing all of them again is the repair.

use std::{fs, io::Write as _};

use gix::ObjectId;

use super::{
    DEFAULT_BRANCH, Error, Store, Warning, format,
    git::BRANCH_KEY,
    layout::{self, Edit},
    message::Message,
    program,
    view::{FOLDER, View},
    writer::{Phase, Writer},
};
use crate::domain::{
    actor::Stamp,
    change::{Change, Op},
    policy::Policy,
    quota::Quotas,
};

/// What a set-up found and did.
#[derive(Debug)]
pub struct Setup {
    pub branch: String,
    /// The branch was made now; otherwise it was there and has been kept.
    pub created: bool,
    pub warnings: Vec<Warning>,
}

impl Store {
    /// Makes what is missing of this clone's set-up. `branch` is the user's choice, if one was made.
    ///
    /// Everything that can be refused is refused before anything is written.
    pub fn set_up(&self, branch: Option<&str>, policy: &Policy, stamp: &Stamp) -> Result<Setup, Error> {
        let signer = self.git.identity()?;
        let top = self.git.main_worktree()?;
        let branch = match branch {
            Some(branch) => branch.to_owned(),
            None => self.git.branch()?,
        };
        let tip = self.git.tip(&branch)?;
        self.must_be_free_for(&branch, tip)?;
        let mut writer = Writer::enter(&self.git, &branch)?;
        let change = Change {
            op: Op::Init,
            subject: "begin loopx state".into(),
            body: None,
            goal: None,
            turn: None,
            puts: Vec::new(),
        };
        let (tip, created) = match tip {
            Some(tip) => (tip, false),
            None => {
                let mut edit = Edit::default();
                let (attributes, lines) = layout::ATTRIBUTES;
                edit.write(attributes.into(), lines);
                edit.write(layout::POLICY.into(), format::encode(policy));
                edit.write(layout::QUOTA.into(), format::encode(&format::QuotaFile { goals: Quotas::new() }));
                let message = Message::of(&change, stamp, &signer);
                let new = self.git.commit(&edit, None, &message)?;
                writer.begin(Phase::Ref)?;
                match self.git.publish(&branch, new, None, &message)? {
                    true => (new, true),
                    false => (self.git.tip(&branch)?.ok_or(Error::NotInitialised)?, false),
                }
            }
        };
        if self.git.config(BRANCH_KEY).as_deref() != Some(&branch) {
            let args = ["config", "--local", BRANCH_KEY, &branch];
            program::git("write its config", self.git.common_dir(), &top, args, b"")?;
        }
        self.exclude()?;
        let warnings = View::attach(&self.git, &branch, tip, &mut writer)?;
        Ok(Setup { branch, created, warnings })
    }

    /// Refuses what a set-up on `branch`, which is at `tip`, would hide, lose or collide with.
    fn must_be_free_for(&self, branch: &str, tip: Option<ObjectId>) -> Result<(), Error> {
        let configured = self.git.config(BRANCH_KEY);
        let present = configured.clone().unwrap_or_else(|| DEFAULT_BRANCH.to_owned());
        if present != branch {
            let there = self.git.tip(&present).ok().flatten();
            let is_sound = there.is_some_and(|tip| self.at(tip).is_ok());
            // What cannot be read may hide a gate, so it is not left for a new beginning.
            let is_hidden = tip.is_none() && configured.is_some() && there.is_some();
            if is_sound || is_hidden {
                return Err(Error::OtherBranch(present));
            }
        }
        match tip.map(|tip| self.at(tip)) {
            Some(Err(Error::Unreadable { path, .. }))
                if path == layout::POLICY && configured.as_deref() != Some(branch) =>
            {
                return Err(Error::ForeignBranch(branch.to_owned()));
            }
            Some(Err(error)) => return Err(error),
            Some(Ok(_)) => {}
            None => {
                if let Some(last) = View::last_shown(&self.git)? {
                    return Err(Error::BranchGone { branch: present, last: last.to_string() });
                }
                if let Some(other) = self.git.branch_in_the_way(branch)? {
                    return Err(Error::BranchInTheWay { branch: branch.to_owned(), other });
                }
            }
        }
        if let Some(tip) = tip {
            self.must_not_be_behind(branch, tip, View::shown(&self.git))?;
        }
        View::must_have_room(&self.git)
    }

    /// Keeps `.loopx` out of `git add` and `git clean` in all worktrees of the clone.
    fn exclude(&self) -> Result<(), Error> {
        let path = self.git.common_dir().join("info").join("exclude");
        let pattern = format!("/{FOLDER}");
        let present = fs::read_to_string(&path).unwrap_or_default();
        if present.lines().any(|line| line.trim_end() == pattern) {
            return Ok(());
        }
        let failed = || Error::io("write", &path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed())?;
        }
        let gap = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
        let mut file = fs::File::options().create(true).append(true).open(&path).map_err(failed())?;
        file.write_all(format!("{gap}{pattern}\n").as_bytes()).map_err(failed())
    }
}
