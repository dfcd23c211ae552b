//! Bringing the state of two clones together over one remote.
//!
//! The history stays a line: what the other side has is kept as it is, and our own mutations since we last agreed are made
//! again on top of it, if each is still a legal one there. Nothing is merged. What comes from elsewhere is verified commit by
//! commit before the branch moves.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gix::{ObjectId, bstr::ByteSlice as _};

use super::{
    Error, Store, Updated,
    error::chain,
    layout::{self, Edit, Named},
    message::Message,
    remote::Remote,
    screen::Cleared,
    view::{Look, diff},
};
use crate::domain::{
    actor::{Person, Stamp},
    change::Op,
    sync::{Touched, clashes},
    time::Timestamp,
};

/// What there is to do so that this clone and the remote have the same state.
#[derive(Debug)]
pub struct Plan {
    ours: ObjectId,
    theirs: Option<ObjectId>,
    step: Step,
    /// Commits that the remote gets.
    pub pushes: usize,
    /// What comes from there, oldest first, if anything does.
    pub takes: Vec<Taken>,
    /// How many of our own commits are made again on top of it.
    pub replays: usize,
    /// Our own commits that are given up for what comes, oldest first.
    pub drops: Vec<Taken>,
}

#[derive(Debug)]
enum Step {
    /// Both have the same.
    Nothing,
    /// They have nothing, or are behind.
    Push,
    /// They have the history that a person left behind here.
    Replace,
    /// They are ahead, or have what a clone that was just begun lacks, or a person left the history behind there, or gives up
    /// what was done here.
    TakeOver,
    /// Both went on: theirs, and on top of it these of ours, oldest first.
    Replay(Vec<ObjectId>),
}

/// A commit that would come from the remote, or go.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Taken {
    pub commit: String,
    pub subject: String,
    /// `Name <address>` or `agent:<id>`.
    pub by: String,
    /// It is an answer or something else that only a person may do.
    pub decides: bool,
}

impl Plan {
    /// The remote's history is replaced by another one with the same state.
    pub fn replaces(&self) -> bool {
        matches!(self.step, Step::Replace)
    }

    /// What the remote has, in hex.
    pub fn theirs(&self) -> Option<String> {
        self.theirs.map(|id| id.to_string())
    }
}

impl Store {
    /// Looks at what the remote has, verifies it, and says what there is to do; with `drop_ours` what was done here since both
    /// had the same is given up instead of being made again. The branch does not move.
    pub fn compare(
        &self,
        remote: &Remote,
        drop_ours: bool,
        now: Timestamp,
        say: &mut dyn FnMut(&[u8]),
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Plan, Error> {
        let ours = self.trusted()?.commit().commit;
        // What is not legal here would be refused everywhere else.
        self.must_be_legal_here(ours, now, &mut progress).map_err(|error| self.of_this_clone(error))?;
        let Some(theirs) = self.fetch(remote, say)? else {
            let pushes = self.line(ours, None)?.len();
            let (takes, drops) = (Vec::new(), Vec::new());
            return Ok(Plan { ours, theirs: None, step: Step::Push, pushes, takes, replays: 0, drops });
        };
        self.compared(remote, ours, theirs, drop_ours, now, progress).map_err(|error| match error {
            Error::Damaged(problem) => Error::BadRemoteState { remote: remote.name().to_owned(), problem },
            error @ (Error::Unreadable { .. } | Error::Newer { .. }) => {
                Error::BadRemoteState { remote: remote.name().to_owned(), problem: error.to_string() }
            }
            error => error,
        })
    }

    fn compared(
        &self,
        remote: &Remote,
        ours: ObjectId,
        theirs: ObjectId,
        drop_ours: bool,
        now: Timestamp,
        progress: impl FnMut(usize, usize),
    ) -> Result<Plan, Error> {
        let nothing = Plan {
            ours,
            theirs: Some(theirs),
            step: Step::Nothing,
            pushes: 0,
            takes: Vec::new(),
            replays: 0,
            drops: Vec::new(),
        };
        if ours == theirs {
            return Ok(nothing);
        }
        let base = self.meet(ours, theirs)?;
        if base == Some(theirs) {
            return Ok(Plan { step: Step::Push, pushes: self.line(ours, base)?.len(), ..nothing });
        }
        let news = self.line(theirs, base)?;
        self.must_be_legal(&news, now, progress)?;
        self.must_bring_no_secret(&news, Some(&self.at(ours)?.policy()?))?;
        let mut drops = Vec::new();
        let step = match base {
            None => match self.apart(remote, ours, theirs) {
                Err(Error::NoCommonPast { .. }) if drop_ours => {
                    drops = self.retold(&self.line(ours, None)?)?;
                    Step::TakeOver
                }
                step => step?,
            },
            Some(base) if base == ours => Step::TakeOver,
            Some(base) if drop_ours => {
                drops = self.retold(&self.line(ours, Some(base))?)?;
                Step::TakeOver
            }
            Some(base) => {
                let mut mine = self.line(ours, Some(base))?;
                mine.reverse();
                self.must_not_clash(remote, base, &mine, &news)?;
                // Folding is done again where it is due.
                mine.retain(|id| self.op(*id) != Some(Op::Fold));
                self.replay(remote, base, theirs, &mine, now)?;
                Step::Replay(mine)
            }
        };
        if let Step::Replace = step {
            return Ok(Plan { step, pushes: self.line(ours, None)?.len(), ..nothing });
        }
        let replays = if let Step::Replay(mine) = &step { mine.len() } else { 0 };
        Ok(Plan { step, pushes: replays, takes: self.retold(&news)?, replays, drops, ..nothing })
    }

    /// Two histories without a common commit: one of them was left behind, or this clone was only just begun.
    fn apart(&self, remote: &Remote, ours: ObjectId, theirs: ObjectId) -> Result<Step, Error> {
        let (here, there) = (self.at(ours)?, self.at(theirs)?);
        if self.parent(ours)?.is_none() && here.goals()?.is_empty() {
            return Ok(Step::TakeOver);
        }
        if here.policy()?.repository != there.policy()?.repository {
            return Err(Error::OtherRepository(remote.name().to_owned()));
        }
        // The root and whether a person made it by leaving a history behind.
        let root = |tip| -> Result<_, Error> {
            let root = *self.line(tip, None)?.last().unwrap_or(&tip);
            Ok((self.git.base(root)?.tree, self.checkpoint(root)?.is_some()))
        };
        let ((our_tree, ours_left), (their_tree, theirs_left)) = (root(ours)?, root(theirs)?);
        if theirs_left && their_tree == here.commit().tree {
            return Ok(Step::TakeOver);
        }
        if ours_left && our_tree == there.commit().tree {
            return Ok(Step::Replace);
        }
        let side = match (ours_left, theirs_left) {
            (true, true) => "on both sides",
            (_, true) => "there",
            _ => "here",
        };
        Err(Error::NoCommonPast { remote: remote.name().to_owned(), side })
    }

    /// The newest commit that both histories have.
    pub(super) fn meet(&self, ours: ObjectId, theirs: ObjectId) -> Result<Option<ObjectId>, Error> {
        // Step by step on both sides, so that the cost follows what is new.
        let mut next = [Some(ours), Some(theirs)];
        let mut seen = [HashSet::new(), HashSet::new()];
        while next.iter().any(Option::is_some) {
            for side in 0..2 {
                let Some(id) = next[side] else { continue };
                if seen[1 - side].contains(&id) {
                    return Ok(Some(id));
                }
                seen[side].insert(id);
                next[side] = self.parent(id)?;
            }
        }
        Ok(None)
    }

    fn must_not_clash(
        &self,
        remote: &Remote,
        base: ObjectId,
        mine: &[ObjectId],
        news: &[ObjectId],
    ) -> Result<(), Error> {
        let all = |line: &[ObjectId]| -> Result<BTreeSet<Touched>, Error> {
            let sets = line.iter().map(|id| self.touched(*id));
            sets.collect::<Result<Vec<_>, _>>().map(|sets| sets.into_iter().flatten().collect())
        };
        let records: Vec<String> = clashes(&all(mine)?, &all(news)?).into_iter().collect();
        match records.is_empty() {
            true => Ok(()),
            false => Err(Error::Clash { remote: remote.name().to_owned(), records, base: base.to_string() }),
        }
    }

    /// What a commit touched. Folding touches nothing: all records stay what they are. Nor does a note that is handed on: of two
    /// the one that comes on top stands, and the other is in the history.
    fn touched(&self, id: ObjectId) -> Result<BTreeSet<Touched>, Error> {
        let op = self.op(id);
        if op == Some(Op::Fold) {
            return Ok(BTreeSet::new());
        }
        let of_path = |(path, _): (String, _)| match (layout::goal_of(&path), layout::named(&path)) {
            (Some(goal), _) if op == Some(Op::Import) => Some(Touched::Goal(goal)),
            (_, Some(Named::Handoff(_))) => None,
            (goal, Some(named)) => Some(Touched::Record { goal, name: named.record_name() }),
            (goal, None) => Some(Touched::Record { goal, name: path }),
        };
        Ok(self.changes(id)?.into_iter().filter_map(of_path).collect())
    }

    /// The files that a commit changed, with what they are after it.
    pub(super) fn changes(&self, id: ObjectId) -> Result<BTreeMap<String, Option<ObjectId>>, Error> {
        let old = self.parent(id)?.map(|parent| self.git.base(parent)).transpose()?;
        let mut changes = BTreeMap::new();
        let new = Some(self.git.base(id)?.tree);
        diff(&self.git, old.map(|old| old.tree), new, Look::Changes, "", &mut changes)?;
        Ok(changes.into_iter().map(|(path, changed)| (path, changed.new)).collect())
    }

    fn op(&self, id: ObjectId) -> Option<Op> {
        let (entry, _) = self.entry(id).ok()?;
        Op::from_word(&entry.op?)
    }

    /// Makes our own commits again on top of `theirs`: the same change by the same person at the same time. Each has to be a legal
    /// mutation there. Returns the last of them; nothing points to it yet.
    fn replay(
        &self,
        remote: &Remote,
        base: ObjectId,
        theirs: ObjectId,
        mine: &[ObjectId],
        now: Timestamp,
    ) -> Result<ObjectId, Error> {
        let mut tip = theirs;
        let (mut objects, mut was_collecting) = (Vec::new(), false);
        for id in mine {
            let mut edit = Edit::default();
            for (path, blob) in self.changes(*id)? {
                match blob {
                    Some(blob) => edit.write(path, self.git.blob(blob)?),
                    None => edit.remove(path),
                }
            }
            // What is made again was looked over when it was made.
            let cleared = Cleared::untyped(&edit);
            tip = self.git.commit(cleared, Some(&self.git.base(tip)?), &self.message_of(*id)?)?;
            let fresh = self.git.fresh();
            objects.extend(fresh.0.iter().cloned());
            was_collecting |= fresh.1;
            drop(fresh);
            if let Err(problem) = self.judge(tip, now)? {
                let (commit, subject) = (id.to_string(), self.entry(*id)?.0.subject);
                let (remote, base) = (remote.name().to_owned(), base.to_string());
                return Err(Error::CannotFollow { remote, commit, subject, problem, base });
            }
        }
        self.git.put_fresh(objects, was_collecting);
        Ok(tip)
    }

    /// The whole message of a commit.
    pub(super) fn said(&self, id: ObjectId) -> Result<String, Error> {
        let damaged = |error: gix::Error| Error::Damaged(chain(&error));
        let commit = self.git.repo().find_commit(id).map_err(damaged)?;
        Ok(commit.message_raw().map_err(damaged)?.to_str_lossy().into_owned())
    }

    fn message_of(&self, id: ObjectId) -> Result<Message, Error> {
        let damaged = |error: gix::Error| Error::Damaged(chain(&error));
        let odd = || Error::Damaged(format!("{id} has no author that could sign off"));
        let commit = self.git.repo().find_commit(id).map_err(damaged)?;
        let decoded = commit.decode().map_err(damaged)?;
        let by = decoded.committer().map_err(damaged)?;
        let signer = Person::new(&by.name.to_str_lossy(), &by.email.to_str_lossy()).ok_or_else(odd)?;
        let at = Timestamp::from_unix(by.time().map_or(0, |time| time.seconds));
        Ok(Message::again(decoded.message.to_str_lossy().into_owned(), signer, at))
    }

    /// A line of commits, which is given the newest first, for people: oldest first.
    pub(super) fn retold(&self, line: &[ObjectId]) -> Result<Vec<Taken>, Error> {
        line.iter().rev().map(|id| self.taken_from(*id)).collect()
    }

    fn taken_from(&self, id: ObjectId) -> Result<Taken, Error> {
        let (entry, _) = self.entry(id)?;
        let is_person = entry.actor.as_deref() == Some("person");
        let op = entry.op.as_deref().and_then(Op::from_word);
        let decides = matches!(
            op,
            Some(
                Op::GateResolve
                    | Op::GoalConfigure
                    | Op::QuotaVoid
                    | Op::QuotaGrant
                    | Op::GoalResume
                    | Op::GoalAchieve
                    | Op::GoalAbandon
                    | Op::Import
                    | Op::Checkpoint
            ) if is_person
        );
        let by = if is_person { entry.signed_off_by } else { entry.actor };
        Ok(Taken { commit: entry.commit, subject: entry.subject, by: by.unwrap_or_default(), decides })
    }

    /// Moves the branch to what `plan` takes from the remote, with our own commits on top of it. Nothing when it takes nothing.
    pub fn take(
        &self,
        remote: &Remote,
        plan: &Plan,
        stamp: &Stamp,
    ) -> Result<Option<Updated<ObjectId>>, Error> {
        let Some(theirs) = plan.theirs.filter(|_| matches!(plan.step, Step::TakeOver | Step::Replay(_)))
        else {
            return Ok(None);
        };
        let branch = self.git.branch()?;
        let signer = self.git.identity()?;
        let (writer, tip) = self.enter()?;
        if tip != plan.ours {
            return Err(Error::Contended(branch));
        }
        let new = match &plan.step {
            Step::Replay(mine) => {
                let base = self.meet(plan.ours, theirs)?.unwrap_or(theirs);
                self.replay(remote, base, theirs, mine, stamp.at)?
            }
            _ => theirs,
        };
        let what = format!("take over what {} has", remote.name());
        let message = Message::of_a_move(what, stamp, &signer);
        let warnings = self.move_on(writer, tip, new, &message)?;
        Ok(Some(Updated { value: new, commit: Some(new.to_string()), warnings }))
    }

    /// Pushes what `plan` says, which is the newest state here or what [`Store::take`] made of it.
    pub fn send(
        &self,
        remote: &Remote,
        plan: &Plan,
        taken: Option<&Updated<ObjectId>>,
        say: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        if plan.pushes == 0 {
            return Ok(());
        }
        let tip = taken.map_or(plan.ours, |taken| taken.value);
        self.push(remote, tip, plan.theirs, say)
    }
}
