//! Everything a person or an agent can do, one function each. The only thing the doors call.
//!
//! An op reads the world it was given in a [`Ctx`], hands the store a decision that it asks the domain for, and returns
//! what came of it as a value. The values serialise to the JSON that the doors print; how they are said in words is the
//! doors' business. A rule that is needed at two doors is here or below, never in a door.

mod aside;
pub mod refused;

pub mod bypass;
pub mod check;
pub mod compact;
pub mod context;
pub mod diff;
pub mod doctor;
pub mod enforcement;
pub mod evidence;
pub mod gate;
pub mod goal;
pub mod guard;
pub mod handoff;
pub mod history;
pub mod host;
pub mod import;
pub mod init;
pub mod notify;
pub mod packet;
pub mod policy;
pub mod push;
pub mod quota;
pub mod receive;
pub mod remote;
pub mod report;
pub mod restore;
pub mod secret;
pub mod session;
pub mod status;
pub mod strict;
pub mod sync;
pub mod todo;
pub mod tool;
pub mod transfer;
pub mod turn;
pub mod uninstall;
pub mod verify;

pub use self::notify::Tidings;

use std::path::PathBuf;

use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeSeq as _},
};

use crate::{
    caller::Caller,
    domain::{
        actor::{Person, Stamp},
        authority,
        change::{Change, Op},
        goal::GoalState,
        id::{Entropy, GoalId, SpendId, TurnId},
        refusal::Refusal,
        state::Loop,
        time::Timestamp,
    },
    error::{Error, Kind},
    store::{Snapshot, Store, Warning, gits::Gits},
};

/// What an op may know of the world. Made anew for each request.
#[derive(Debug)]
pub struct Ctx {
    pub store: Store,
    pub caller: Caller,
    pub now: Timestamp,
    pub entropy: Entropy,
    /// The goal to take when none is named (`LOOPX_GOAL`).
    pub goal: Option<GoalId>,
    /// What looks like a secret gives way to a mark where texts come from elsewhere; what was typed is clean already.
    pub redact: bool,
    /// Where the user stands.
    pub cwd: PathBuf,
    /// Where this program lies.
    pub program: PathBuf,
    /// The gits that are found where programs are looked for.
    pub gits: Gits,
    /// What began to wait for a person in this request, for the door to tell.
    pub tidings: Tidings,
}

/// What a mutation came to, for every op that mutates.
///
/// JSON: the fields of `value`, `commit` (hex; null when nothing had to change) and `warnings` (texts).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Done<T> {
    #[serde(flatten)]
    pub value: T,
    pub commit: Option<String>,
    #[serde(serialize_with = "as_texts")]
    #[schemars(with = "Vec<String>")]
    pub warnings: Vec<Warning>,
}

impl<T> Done<T> {
    /// What is left when the value has served.
    fn without(self) -> Done<()> {
        Done { value: (), commit: self.commit, warnings: self.warnings }
    }

    /// Both, with the later commit.
    fn then(self, later: Self) -> Self {
        let warnings = self.warnings.into_iter().chain(later.warnings).collect();
        Self { value: later.value, commit: later.commit.or(self.commit), warnings }
    }
}

/// Whoever stamps may make a mutation of this kind. Whether a person showed to be one was asked before; this holds a door
/// that forgot to ask.
fn must_be_allowed(op: Op, stamp: &Stamp) -> Result<(), Error> {
    match authority::allows(op, false, &stamp.by) {
        true => Ok(()),
        false => {
            let what = format!("`{}` takes a person, and this is agent `{}`", op.word(), stamp.by.name());
            Err(Error::new(Kind::PersonNeeded, what)
                .hint("ask the person to do it in a terminal of their own"))
        }
    }
}

fn as_texts<S: Serializer>(warnings: &[Warning], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(Warning::with_cure))
}

/// A list of what `each` tells, written while it is told.
fn listed<S: Serializer, T: Serialize>(
    serializer: S,
    each: impl FnOnce(&mut dyn FnMut(T)) -> Result<(), Error>,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    let mut written = Ok(());
    let told = each(&mut |item| {
        if written.is_ok() {
            written = list.serialize_element(&item);
        }
    });
    written?;
    told.map_err(|error| S::Error::custom(error.message))?;
    list.end()
}

/// For what is left out when it is none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde wants")]
fn is_nought(number: &usize) -> bool {
    *number == 0
}

impl Ctx {
    /// The human whom git's identity names.
    pub fn owner(&self) -> Result<Person, Error> {
        Ok(self.store.git().identity()?)
    }

    /// Who and when, for a record.
    pub fn stamp(&self) -> Result<Stamp, Error> {
        Ok(Stamp { by: self.caller.actor(&self.owner()?), at: self.now })
    }

    /// The same for a further request, with a clock and random bytes of its own.
    pub fn anew(&self, now: Timestamp, entropy: Entropy) -> Result<Self, Error> {
        Ok(Self { now, entropy, ..self.reopened()? })
    }

    /// The same with a store that sees what git's configuration says now.
    fn reopened(&self) -> Result<Self, Error> {
        let store = Store::open(self.store.git().common_dir(), None)?;
        let store = match self.store.git().worktree() {
            Some(top) => Store::open(&top, None)?,
            None => store,
        };
        Ok(self.standing_in(store))
    }

    /// The same, seen from another worktree.
    fn standing_in(&self, store: Store) -> Self {
        let (caller, goal) = (self.caller.clone(), self.goal.clone());
        let (cwd, program, gits) = (self.cwd.clone(), self.program.clone(), self.gits.clone());
        let tidings = self.tidings.clone();
        Self {
            store,
            caller,
            now: self.now,
            entropy: self.entropy,
            goal,
            redact: self.redact,
            cwd,
            program,
            gits,
            tidings,
        }
    }

    /// Decides and publishes; see [`Store::update`]. What went round the hook since the last mutation is recorded before.
    fn update<T>(
        &self,
        stamp: &Stamp,
        mut decide: impl FnMut(&Snapshot<'_>) -> Result<(Option<Change>, T), Error>,
    ) -> Result<Done<T>, Error> {
        let (mut noted, mut decided) = (Vec::new(), Vec::new());
        let first = |snapshot: &Snapshot<'_>| {
            let change = bypass::note(self, stamp, snapshot)?;
            noted.extend(change.iter().flat_map(notify::tidings));
            Ok::<_, Error>(change)
        };
        let updated = self.store.update_after(stamp, first, |snapshot| {
            let (change, value) = decide(snapshot)?;
            if let Some(change) = &change {
                must_be_allowed(change.op, stamp)?;
            }
            decided = change.iter().flat_map(notify::tidings).collect();
            Ok::<_, Error>((change, value))
        })?;
        if updated.commit.is_some() {
            self.tidings.add(noted.into_iter().chain(decided));
        }
        let mut warnings = updated.warnings;
        warnings.extend(self.store.ahead(self.now));
        warnings.extend(enforcement::keep(self).map(Warning::Unguarded));
        Ok(Done { value: updated.value, commit: updated.commit, warnings })
    }

    /// The goal that is meant: the one named, else that of the environment, else the only active one.
    fn goal_id(&self, snapshot: &Snapshot<'_>, named: Option<&GoalId>) -> Result<GoalId, Error> {
        self.goal_if_any(snapshot, named)?.ok_or_else(|| Refusal::NoGoal.into())
    }

    /// The same; nothing when none is named and none is active.
    fn goal_if_any(&self, snapshot: &Snapshot<'_>, named: Option<&GoalId>) -> Result<Option<GoalId>, Error> {
        if let Some(id) = named.or(self.goal.as_ref()) {
            return match snapshot.goal(id)? {
                Some(_) => Ok(Some(id.clone())),
                None => Err(Refusal::UnknownGoal(id.clone()).into()),
            };
        }
        let mut active = Vec::new();
        for id in snapshot.goals()? {
            if snapshot.goal(&id)?.is_some_and(|goal| matches!(goal.state, GoalState::Active {})) {
                active.push(id);
            }
        }
        match (active.pop(), active.len()) {
            (None, _) => Ok(None),
            (Some(only), 0) => Ok(Some(only)),
            (Some(last), _) => {
                active.push(last);
                Err(Refusal::SeveralGoals(active).into())
            }
        }
    }

    /// The goal that a turn belongs to: the one named, else the one in which the turn was begun or booked, else as
    /// [`goal_id`](Self::goal_id) says.
    fn goal_of(
        &self,
        snapshot: &Snapshot<'_>,
        named: Option<&GoalId>,
        turn: &TurnId,
    ) -> Result<GoalId, Error> {
        if named.or(self.goal.as_ref()).is_none() {
            let spend = SpendId::of_turn(turn);
            let mut found = None;
            for goal in snapshot.goals()? {
                let Some(booked) = snapshot.spend(&goal, &spend)? else { continue };
                // Of several turns of one name, that of the agent who asks.
                let is_own = booked.added.by.agent().is_some_and(|agent| Some(agent) == self.caller.agent());
                if is_own {
                    return Ok(goal);
                }
                found = found.or(Some(goal));
            }
            if let Some(goal) = found {
                return Ok(goal);
            }
        }
        self.goal_id(snapshot, named)
    }

    /// The goal that is meant, if work can be added to it.
    fn active_goal(&self, snapshot: &Snapshot<'_>, named: Option<&GoalId>) -> Result<GoalId, Error> {
        let id = self.goal_id(snapshot, named)?;
        let goal = snapshot.goal(&id)?.ok_or_else(|| Refusal::UnknownGoal(id.clone()))?;
        goal.must_be_active(&id)?;
        Ok(id)
    }

    /// The goal that is meant, with everything open in it.
    fn goal_state(&self, snapshot: &Snapshot<'_>, named: Option<&GoalId>) -> Result<Loop, Error> {
        let id = self.goal_id(snapshot, named)?;
        snapshot.state(&id)?.ok_or_else(|| Refusal::UnknownGoal(id).into())
    }
}
