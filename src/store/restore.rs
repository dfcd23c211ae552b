//! Moving the state branch back to where it was, after something else than loopx moved it, or because a person wants it.
//!
//! Only to a commit of this clone's own past: one that what loopx left last was made from, or that the reflog of the branch
//! knows. And only to one whose whole history is legal, so that what was made by hand comes back no other way.

use std::collections::{BTreeMap, BTreeSet};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{
    Error, Store, Updated,
    git::object_id,
    hot::Hot,
    message::Message,
    program,
    sync::Taken,
    view::View,
    writer::{self, Standing, Writer},
};
use crate::domain::{
    actor::Stamp,
    id::{GateId, GoalId},
    text::Title,
    time::Timestamp,
};

/// A way back, looked at and not yet gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayBack {
    branch: String,
    from: Option<ObjectId>,
    to: ObjectId,
    /// Whether loopx left the branch where it is.
    from_is_ours: bool,
    /// What loopx left last was made from the commit that is gone back to, or is it. Otherwise only the reflog knows it, which
    /// whoever moves the branch writes to.
    pub is_left: bool,
    /// The commits that are no part of the state afterwards, oldest first; none when what is there now cannot be read.
    pub lost: Option<Vec<Taken>>,
    /// Those that become part of it, oldest first.
    pub regained: Vec<Taken>,
}

/// What is no part of the state any more once another tip counts than the one that loopx left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Questions that held something back and would do so no longer.
    pub gates: Vec<(GoalId, GateId, Title)>,
    /// Oldest first.
    pub commits: Vec<Taken>,
}

impl WayBack {
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Where the branch is now, in hex, if it is there.
    pub fn from(&self) -> Option<String> {
        self.from.map(|id| id.to_string())
    }

    /// Where it goes, in hex.
    pub fn to(&self) -> String {
        self.to.to_string()
    }

    /// Nothing is to be done: loopx left it there.
    pub fn is_there(&self) -> bool {
        self.from_is_ours && self.from == Some(self.to)
    }
}

impl Store {
    /// Looks what it would come to if the state branch went back to `revision`. Refused when that is no commit of its past, and
    /// when not every commit up to it is a legal mutation.
    pub fn way_back(
        &self,
        revision: &str,
        now: Timestamp,
        progress: impl FnMut(usize, usize),
    ) -> Result<WayBack, Error> {
        let branch = self.git.branch()?;
        let from = self.git.tip(&branch)?;
        let standing = from.map(|_| writer::standing(&self.git, &branch)).transpose()?;
        if let Some((_, Standing::Elsewhere(left))) = standing {
            return Err(Error::Redirected { branch, left });
        }
        let from_is_ours = matches!(standing, Some((_, Standing::Ours)));
        let to = object_id(&self.git.revision(revision)?.commit)?;
        let is_left = writer::last(&self.git).is_some_and(|last| self.leads_to(last, to));
        if !is_left && !self.moves(&branch).into_iter().any(|tip| self.leads_to(tip, to)) {
            return Err(Error::NotOfThePast { branch, commit: to.to_string() });
        }
        // What was verified once is noted where whoever made the commits may write, so all of it is looked at again.
        let line = self.line(to, None)?;
        if let Err(error) = self.must_be_legal(&line, now, progress) {
            let Error::Illegal { commit, problem } = error else { return Err(error) };
            let before = self.parent(object_id(&commit)?)?.map(|id| id.to_string());
            return Err(Error::NoWayBack { commit, problem, before });
        }
        let (lost, regained) = match from {
            None => (Some(Vec::new()), self.retold(&line)?),
            Some(from) => match self.apart_from(from, to) {
                Ok((lost, regained)) => (Some(lost), regained),
                Err(_) => (None, Vec::new()),
            },
        };
        Ok(WayBack { branch, from, to, from_is_ours, is_left, lost, regained })
    }

    /// What only the one has, and what only the other.
    fn apart_from(&self, from: ObjectId, to: ObjectId) -> Result<(Vec<Taken>, Vec<Taken>), Error> {
        let base = self.meet(from, to)?;
        Ok((self.retold(&self.line(from, base)?)?, self.retold(&self.line(to, base)?)?))
    }

    /// What is lost if `tip` counts from now on and not `last`, where loopx left the branch (both in hex). An error when what
    /// was there cannot be read, as when git has lost it.
    pub fn loss(&self, tip: &str, last: &str) -> Result<Loss, Error> {
        let (tip, last) = (object_id(tip)?, object_id(last)?);
        let commits = self.apart_from(last, tip)?.0;
        let (then, now) = (self.at(last)?, self.at(tip)?);
        let goals = now.goals()?;
        let mut gates = Vec::new();
        for goal in then.goals()? {
            let kept = if goals.contains(&goal) { now.gates(&goal)? } else { BTreeMap::new() };
            let lost = then.gates(&goal)?.into_iter().filter(|(id, _)| !kept.contains_key(id));
            gates.extend(lost.map(|(id, gate)| (goal.clone(), id, gate.question)));
        }
        Ok(Loss { gates, commits })
    }

    /// Whether `tip` is `id` or was made from it, as far as that can be read.
    fn leads_to(&self, tip: ObjectId, id: ObjectId) -> bool {
        tip == id
            || self.line(tip, Some(id)).is_ok_and(|line| {
                line.last().is_some_and(|first| self.parent(*first).ok().flatten() == Some(id))
            })
    }

    /// Where the reflog says that the branch was, the newest first, each once.
    fn moves(&self, branch: &str) -> Vec<ObjectId> {
        let name = format!("refs/heads/{branch}");
        let common = self.git.common_dir();
        let args = ["log", "--walk-reflogs", "--no-show-signature", "--format=%H", &name, "--"];
        let out = program::git("read the reflog", common, common, args, b"").unwrap_or_default();
        let mut seen = BTreeSet::new();
        let ids = out.lines().filter_map(|line| ObjectId::from_hex(line.trim()).ok());
        ids.filter(|id| seen.insert(*id)).collect()
    }

    /// Moves the branch as `way` says, and counts it as put there by loopx: a person said so. Refused when the branch has
    /// moved since.
    pub fn go_back(&self, way: &WayBack, stamp: &Stamp) -> Result<Updated<()>, Error> {
        let branch = self.git.branch()?;
        let signer = self.git.identity()?;
        let mut writer = Writer::enter(&self.git, &branch)?;
        if branch != way.branch || self.git.tip(&branch)? != way.from {
            return Err(Error::Contended(branch));
        }
        if way.from == Some(way.to) {
            writer.adopt(way.to)?;
        } else {
            let what = format!("restore {}", &way.to()[..10]);
            let message = Message::of_a_move(what, stamp, &signer);
            if !writer.put_back(&self.git, way.to, way.from, &message)? {
                return Err(Error::Contended(branch));
            }
        }
        Hot::renew(&self.git.private_dir(), &self.at(way.to)?);
        let warnings = View::put_back(&self.git, &branch, way.from, way.to, &mut writer);
        self.git.keep_up(way.to);
        Ok(Updated { value: (), commit: Some(way.to()), warnings })
    }
}
