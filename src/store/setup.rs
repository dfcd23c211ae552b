//! Setting a clone up, and setting it right again: branch, config, exclude entry, view. Each step looks first and never
//! overwrites, so that doing all of them again is the repair.

use std::{fs, io::Write as _};

use super::{
    Error, Store, Warning, format,
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
        if let Some(tip) = tip {
            match self.at(tip) {
                Ok(_) => {}
                Err(Error::Unreadable { path, .. }) if path == layout::POLICY => {
                    return Err(Error::ForeignBranch(branch));
                }
                Err(error) => return Err(error),
            }
        }
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
                let _kept = self.git.shelter()?;
                let in_the_way = |error: Error| match error {
                    Error::Git { problem, .. } => Error::BranchInTheWay { branch: branch.clone(), problem },
                    error => error,
                };
                match self.git.publish(&branch, new, None, &message).map_err(in_the_way)? {
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
