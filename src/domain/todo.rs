//! A todo: a piece of work, who has it, and what became of it.
//!
//! A claim **is** the lease: one mechanism, the first wins, it runs out by itself, and who takes an expired one is
//! recorded with a higher epoch.
//!
//! A todo is a piece of work to be done once, or a monitor: something to look at again and again.
//!
//! Who may: an agent adds, blocks, takes, splits and completes. It undoes what agents did; what a person added, blocked
//! or closed it only makes stricter, and the check of a todo it neither changes nor takes away.

use std::collections::BTreeSet;

use super::{
    actor::{Actor, Stamp},
    command::CommandLine,
    id::{Capability, EvidenceId, GateId, TodoId},
    refusal::Refusal,
    text::{Note, Title},
    time::{Seconds, Timestamp},
};

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    pub title: Title,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Note>,
    /// Whose work it is.
    #[serde(rename = "for")]
    pub for_: Worker,
    pub priority: Priority,
    /// Todos that have to be closed first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<TodoId>,
    /// What the host of the agent has to be able to do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub requires: BTreeSet<Capability>,
    /// What has to succeed before it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// It is a monitor: looked at again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
    pub added: Stamp,
    pub state: TodoState,
}

/// A command that has to exit with 0 before the todo is done. No shell reads it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub argv: CommandLine,
    /// It is ended after this time.
    pub timeout: Seconds,
}

impl Check {
    /// How long a check may take when nobody says otherwise.
    pub const TIMEOUT: Seconds = Seconds(300);
}

/// When to look again, and what the last look found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    pub every: Seconds,
    pub next_due: Timestamp,
    /// What was found last, in whatever words tell it from something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Title>,
    /// Looks in a row that found nothing new.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchanged: u32,
    /// Who looked last, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polled: Option<Stamp>,
}

impl Monitor {
    /// After so many looks in a row that found nothing new, looking again is no plan any more.
    pub const STALE: u32 = 5;

    /// A monitor that is due at once.
    pub fn new(every: Seconds, now: Timestamp) -> Self {
        Self { every, next_due: now, fingerprint: None, unchanged: 0, polled: None }
    }

    /// It is time to look.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.next_due <= now
    }

    /// So many looks found nothing new that somebody should think again.
    pub fn is_stale(&self) -> bool {
        self.unchanged >= Self::STALE
    }
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// This; the monitor knows whether that is new. The first ever is not.
    Saw(Title),
    Same,
    Changed(Option<Title>),
}

/// What completing a todo rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub evidence: BTreeSet<EvidenceId>,
    pub note: Option<Note>,
    /// The check that was run and exited with 0.
    pub passed: Option<CommandLine>,
}

/// Whose work a todo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worker {
    Agent,
    Person,
}

/// How urgent a todo is: `p0` before `p3`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    schemars::JsonSchema,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    P0,
    P1,
    P2,
    P3,
}

impl Priority {
    /// As it is written on the command line and in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::P0 => "p0",
            Self::P1 => "p1",
            Self::P2 => "p2",
            Self::P3 => "p3",
        }
    }
}

/// Who has the work and what became of it, each state with its own facts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TodoState {
    /// Free to take. `epoch` is that of the last claim, so that a claim's epoch never comes twice.
    Open {
        #[serde(default, skip_serializing_if = "is_zero")]
        epoch: u32,
    },
    /// Somebody's until `lease_until`.
    Claimed {
        by: Actor,
        since: Timestamp,
        lease_until: Timestamp,
        epoch: u32,
        /// Whose expired claim this one replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_from: Option<Actor>,
        /// How long it holds from each renewal on, when that is not the usual time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease: Option<Seconds>,
    },
    /// Refused by the gate `on`, or stopped for another reason.
    Blocked {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<GateId>,
        by: Actor,
        at: Timestamp,
        reason: Note,
        epoch: u32,
    },
    Done {
        by: Actor,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        evidence: BTreeSet<EvidenceId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        #[serde(default, skip_serializing_if = "is_zero")]
        epoch: u32,
    },
    Dropped {
        by: Actor,
        at: Timestamp,
        reason: Note,
        #[serde(default, skip_serializing_if = "is_zero")]
        epoch: u32,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde wants")]
fn is_zero(epoch: &u32) -> bool {
    *epoch == 0
}

impl TodoState {
    /// The state in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Claimed { .. } => "claimed",
            Self::Blocked { .. } => "blocked",
            Self::Done { .. } => "done",
            Self::Dropped { .. } => "dropped",
        }
    }

    /// That of the last claim.
    pub fn epoch(&self) -> u32 {
        match self {
            Self::Open { epoch }
            | Self::Claimed { epoch, .. }
            | Self::Blocked { epoch, .. }
            | Self::Done { epoch, .. }
            | Self::Dropped { epoch, .. } => *epoch,
        }
    }
}

/// How long a claim holds when nobody says otherwise.
pub const LEASE: Seconds = Seconds(45 * 60);

impl Todo {
    /// The todo is done or dropped and may be filed away.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, TodoState::Done { .. } | TodoState::Dropped { .. })
    }

    /// Nobody has it at `now`: it is open, or its lease has run out.
    pub fn is_free(&self, now: Timestamp) -> bool {
        match &self.state {
            TodoState::Open { .. } => true,
            TodoState::Claimed { lease_until, .. } => *lease_until <= now,
            TodoState::Blocked { .. } | TodoState::Done { .. } | TodoState::Dropped { .. } => false,
        }
    }

    /// Who has it at `now`, and until when.
    pub fn holder(&self, now: Timestamp) -> Option<(&Actor, Timestamp)> {
        match &self.state {
            TodoState::Claimed { by, lease_until, .. } if *lease_until > now => Some((by, *lease_until)),
            _ => None,
        }
    }

    /// Takes the todo for `lease` from `stamp.at` on.
    ///
    /// Whoever has it already keeps it: a claim of theirs is a renewal, and changes nothing while more than half of
    /// the lease remains. Somebody else's live claim refuses; an expired one is taken, with a higher epoch.
    pub fn claim(&self, id: &TodoId, stamp: &Stamp, lease: Seconds) -> Result<Self, Refusal> {
        self.must_be_for(id, &stamp.by)?;
        let now = stamp.at;
        let fresh = |epoch: u32, taken_from| TodoState::Claimed {
            by: stamp.by.clone(),
            since: now,
            lease_until: now.plus(lease),
            epoch: epoch + 1,
            taken_from,
            lease: unusual(lease),
        };
        let state = match &self.state {
            TodoState::Open { epoch } => fresh(*epoch, None),
            TodoState::Claimed { by, lease_until, .. } if *by == stamp.by && *lease_until > now => {
                return self.renew(id, stamp, Some(lease));
            }
            TodoState::Claimed { by, lease_until, epoch, .. } if *lease_until <= now => {
                fresh(*epoch, Some(by.clone()))
            }
            _ => return Err(self.refuse_to(id, &stamp.by)),
        };
        Ok(Self { state, ..self.clone() })
    }

    /// Holds the claim for another `lease`, or for as long as it was taken for. Nothing changes while more than half of
    /// that remains. A claim that ran out can be renewed as long as nobody has taken it.
    pub fn renew(&self, id: &TodoId, stamp: &Stamp, lease: Option<Seconds>) -> Result<Self, Refusal> {
        let mut renewed = self.clone();
        match &mut renewed.state {
            TodoState::Claimed { by, lease_until, lease: usual, .. } if *by == stamp.by => {
                let lease = lease.or(*usual).unwrap_or(LEASE);
                if lease_until.minus(Seconds(lease.0 / 2)) <= stamp.at {
                    (*lease_until, *usual) = (stamp.at.plus(lease), unusual(lease));
                }
                Ok(renewed)
            }
            _ => Err(self.refuse_to(id, &stamp.by)),
        }
    }

    /// Gives a claim back.
    pub fn release(&self, id: &TodoId, by: &Actor) -> Result<Self, Refusal> {
        match &self.state {
            TodoState::Claimed { by: holder, .. } if holder == by => Ok(self.freed()),
            _ => Err(self.refuse_to(id, by)),
        }
    }

    /// Completes the todo: its holder may (also late, while nobody has taken it), and anybody whose kind of work it
    /// is may when nobody has it. A todo with a check is completed when that was passed.
    pub fn complete(&self, id: &TodoId, stamp: &Stamp, outcome: Outcome) -> Result<Self, Refusal> {
        self.must_be_workable_by(id, stamp)?;
        if let Some(check) = &self.check
            && outcome.passed.as_ref() != Some(&check.argv)
        {
            return Err(Refusal::CheckNotPassed { todo: id.clone(), check: check.argv.clone() });
        }
        let Outcome { evidence, note, passed: _ } = outcome;
        let epoch = self.state.epoch();
        let state = TodoState::Done { by: stamp.by.clone(), at: stamp.at, evidence, note, epoch };
        Ok(Self { state, ..self.clone() })
    }

    /// Gives the todo up. An agent gives up what agents added and nobody blocked but an agent.
    pub fn drop(&self, id: &TodoId, stamp: &Stamp, reason: Note) -> Result<Self, Refusal> {
        self.must_be_for(id, &stamp.by)?;
        self.must_be_open_to(id, stamp)?;
        self.must_not_undo(id, &stamp.by, "drop")?;
        let epoch = self.state.epoch();
        let state = TodoState::Dropped { by: stamp.by.clone(), at: stamp.at, reason, epoch };
        Ok(Self { state, ..self.clone() })
    }

    /// Opens a closed todo again. What a person closed, only a person opens.
    pub fn reopen(&self, id: &TodoId, stamp: &Stamp) -> Result<Self, Refusal> {
        let (TodoState::Done { by, .. } | TodoState::Dropped { by, .. }) = &self.state else {
            return Err(Refusal::TodoNotClosed { todo: id.clone(), state: self.state.word() });
        };
        of_a_person(id, &stamp.by, by, "closed", "reopen")?;
        let monitor = self.monitor.clone().map(|monitor| Monitor { next_due: stamp.at, ..monitor });
        Ok(Self { monitor, ..self.freed() })
    }

    /// Stops the todo for a reason, until somebody frees it or, with `on`, a person says yes at that gate.
    pub fn block(
        &self,
        id: &TodoId,
        stamp: &Stamp,
        on: Option<GateId>,
        reason: Note,
    ) -> Result<Self, Refusal> {
        self.must_be_open_to(id, stamp)?;
        if matches!(self.state, TodoState::Blocked { .. }) {
            return Err(self.refuse(id));
        }
        let epoch = self.state.epoch();
        let state = TodoState::Blocked { on, by: stamp.by.clone(), at: stamp.at, reason, epoch };
        Ok(Self { state, ..self.clone() })
    }

    /// Frees a blocked todo. What a person blocked, only a person frees.
    pub fn unblock(&self, id: &TodoId, stamp: &Stamp) -> Result<Self, Refusal> {
        match &self.state {
            TodoState::Blocked { by, .. } => {
                of_a_person(id, &stamp.by, by, "blocked", "unblock")?;
                Ok(self.freed())
            }
            TodoState::Done { .. } | TodoState::Dropped { .. } => Err(self.refuse(id)),
            TodoState::Open { .. } | TodoState::Claimed { .. } => {
                Err(Refusal::NotBlocked { todo: id.clone() })
            }
        }
    }

    /// The todo with everything of `to` that can be edited: not who added it, its state, or whether it is a monitor.
    ///
    /// An agent changes what agents added; of what a person added it only makes more of needs, required capabilities and
    /// check, or leaves it to a person. It never weakens a check and never makes a person's work its own.
    pub fn edited(&self, id: &TodoId, stamp: &Stamp, to: Self) -> Result<Self, Refusal> {
        self.must_be_open_to(id, stamp)?;
        let monitor = match (&self.monitor, &to.monitor) {
            (Some(is), Some(wanted)) if is.every != wanted.every => {
                let last = is.polled.as_ref().map_or(self.added.at, |polled| polled.at);
                let (every, next_due) = (wanted.every, last.plus(wanted.every));
                Some(Monitor { every, next_due, unchanged: 0, ..is.clone() })
            }
            (is, _) => is.clone(),
        };
        let edited = Self { added: self.added.clone(), state: self.state.clone(), monitor, ..to };
        let Some(agent) = stamp.by.agent() else { return Ok(edited) };
        if self.check.is_some() && edited.check != self.check {
            return Err(Refusal::CheckIsKept { todo: id.clone(), agent: agent.clone() });
        }
        if (self.for_, edited.for_) == (Worker::Person, Worker::Agent) {
            return Err(Refusal::TodoForPerson { todo: id.clone(), agent: agent.clone() });
        }
        let stricter = Self {
            needs: self.needs.union(&edited.needs).cloned().collect(),
            requires: self.requires.union(&edited.requires).cloned().collect(),
            check: edited.check.clone(),
            for_: edited.for_,
            ..self.clone()
        };
        if edited != stricter {
            of_a_person(id, &stamp.by, &self.added.by, "added", "change")?;
        }
        Ok(edited)
    }

    /// The todo once `parts` are to be done first. Nobody has it then.
    pub fn split(&self, id: &TodoId, stamp: &Stamp, parts: &BTreeSet<TodoId>) -> Result<Self, Refusal> {
        self.must_be_workable_by(id, stamp)?;
        if self.monitor.is_some() {
            return Err(Refusal::IsAMonitor { todo: id.clone() });
        }
        let needs = self.needs.union(parts).cloned().collect();
        Ok(Self { needs, ..self.freed() })
    }

    /// One part of it: for the same, as urgent, with the same needs and required capabilities.
    pub fn part(&self, title: Title, added: Stamp) -> Self {
        let (body, check, monitor) = (None, None, None);
        Self { title, body, check, monitor, added, state: TodoState::Open { epoch: 0 }, ..self.clone() }
    }

    /// Looks once more, and says whether something was new. Whoever had the monitor gives it back by that.
    pub fn poll(&self, id: &TodoId, stamp: &Stamp, looked: Looked) -> Result<(Self, bool), Refusal> {
        self.must_be_workable_by(id, stamp)?;
        let monitor = self.monitor.as_ref().ok_or_else(|| Refusal::NoMonitor { todo: id.clone() })?;
        let (fingerprint, new, first) = match looked {
            Looked::Same => (monitor.fingerprint.clone(), false, false),
            Looked::Changed(seen) => (seen, true, false),
            Looked::Saw(seen) => {
                let (first, new) = match &monitor.fingerprint {
                    None => (true, false),
                    Some(last) => (false, *last != seen),
                };
                (Some(seen), new, first)
            }
        };
        let monitor = Monitor {
            every: monitor.every,
            next_due: stamp.at.plus(monitor.every),
            fingerprint,
            unchanged: if new || first { 0 } else { monitor.unchanged.saturating_add(1) },
            polled: Some(stamp.clone()),
        };
        Ok((Self { monitor: Some(monitor), ..self.freed() }, new))
    }

    /// What a monitor that found something new asks for.
    pub fn follow_up(&self, id: &TodoId, title: Title, added: Stamp) -> Self {
        let why = format!("Monitor {id} found something new: {}", self.title);
        let body = Note::fit(&why).map(|(note, _)| note);
        Self { body, needs: BTreeSet::new(), ..self.part(title, added) }
    }

    fn freed(&self) -> Self {
        Self { state: TodoState::Open { epoch: self.state.epoch() }, ..self.clone() }
    }

    /// Stops the todo because the person said no at `gate`. A closed todo stays as it is.
    pub fn block_on(&self, gate: &GateId, by: &Actor, at: Timestamp, reason: Note) -> Self {
        if self.is_closed() {
            return self.clone();
        }
        let epoch = self.state.epoch();
        let state = TodoState::Blocked { on: Some(gate.clone()), by: by.clone(), at, reason, epoch };
        Self { state, ..self.clone() }
    }

    /// Frees the todo if it is `gate` that blocks it.
    pub fn unblock_from(&self, gate: &GateId) -> Self {
        match &self.state {
            TodoState::Blocked { on: Some(on), .. } if on == gate => self.freed(),
            _ => self.clone(),
        }
    }

    /// It is `gate` that blocks the todo.
    pub fn is_blocked_on(&self, gate: &GateId) -> bool {
        matches!(&self.state, TodoState::Blocked { on: Some(on), .. } if on == gate)
    }

    /// Why no step is possible from this state, for the states that have a reason.
    pub fn refuse(&self, id: &TodoId) -> Refusal {
        let todo = id.clone();
        match &self.state {
            TodoState::Claimed { by, lease_until, .. } => {
                Refusal::TodoClaimed { todo, by: by.clone(), until: *lease_until }
            }
            TodoState::Blocked { on, reason, .. } => {
                Refusal::TodoBlocked { todo, on: on.clone(), reason: reason.clone() }
            }
            TodoState::Done { by, at, .. } => {
                Refusal::TodoClosed { todo, how: "done", by: by.clone(), at: *at }
            }
            TodoState::Dropped { by, at, .. } => {
                Refusal::TodoClosed { todo, how: "dropped", by: by.clone(), at: *at }
            }
            TodoState::Open { .. } => Refusal::NotClaimed { todo },
        }
    }

    /// The same for `by`, who is told if it was theirs and who took it over.
    fn refuse_to(&self, id: &TodoId, by: &Actor) -> Refusal {
        match &self.state {
            TodoState::Claimed { by: holder, since, lease_until, taken_from: Some(from), .. }
                if from == by && holder != by =>
            {
                let (by, at, until) = (holder.clone(), *since, *lease_until);
                Refusal::TakenOver { todo: id.clone(), by, at, until }
            }
            _ => self.refuse(id),
        }
    }

    /// It is not closed, and no other agent has it; a person need not ask who has it.
    fn must_be_open_to(&self, id: &TodoId, stamp: &Stamp) -> Result<(), Refusal> {
        match self.holder(stamp.at) {
            Some((holder, _)) if *holder != stamp.by && stamp.by.agent().is_some() => {
                Err(self.refuse_to(id, &stamp.by))
            }
            _ if self.is_closed() => Err(self.refuse(id)),
            _ => Ok(()),
        }
    }

    /// It is `stamp.by`'s kind of work, and theirs or nobody's.
    fn must_be_workable_by(&self, id: &TodoId, stamp: &Stamp) -> Result<(), Refusal> {
        self.must_be_for(id, &stamp.by)?;
        match &self.state {
            TodoState::Open { .. } => Ok(()),
            TodoState::Claimed { by, .. } if *by == stamp.by || self.is_free(stamp.at) => Ok(()),
            _ => Err(self.refuse_to(id, &stamp.by)),
        }
    }

    /// No person added or blocked it, if `by` is an agent.
    fn must_not_undo(&self, id: &TodoId, by: &Actor, what: &'static str) -> Result<(), Refusal> {
        of_a_person(id, by, &self.added.by, "added", what)?;
        match &self.state {
            TodoState::Blocked { by: blocker, .. } => of_a_person(id, by, blocker, "blocked", what),
            _ => Ok(()),
        }
    }

    fn must_be_for(&self, id: &TodoId, by: &Actor) -> Result<(), Refusal> {
        match (self.for_, by) {
            (Worker::Person, Actor::Agent(agent)) => {
                Err(Refusal::TodoForPerson { todo: id.clone(), agent: agent.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// The length of a lease, unless it is the usual one.
fn unusual(lease: Seconds) -> Option<Seconds> {
    (lease != LEASE).then_some(lease)
}

/// Refuses `what` to an agent if it was a person who `did` something to the todo before.
fn of_a_person(
    id: &TodoId,
    by: &Actor,
    before: &Actor,
    did: &'static str,
    what: &'static str,
) -> Result<(), Refusal> {
    match (by, before) {
        (Actor::Agent(_), Actor::Person(_)) => {
            Err(Refusal::OfAPerson { todo: id.clone(), person: before.clone(), did, what })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::{actor, at, gate_id, stamp, todo, todo_id};

    const HOUR: Seconds = Seconds(3600);

    fn claimed(by: &str, time: &str) -> Todo {
        todo("p2").claim(&todo_id("t-7k3q"), &stamp(by, time), HOUR).unwrap()
    }

    #[track_caller]
    fn refused(result: Result<Todo, Refusal>, expected: &str) {
        assert_eq!(format!("{:?}", result.unwrap_err()).split([' ', '{']).next().unwrap(), expected);
    }

    #[test]
    fn a_claim_is_taken_kept_renewed_and_lost() {
        let id = todo_id("t-7k3q");
        let a = claimed("agent:a", "10:00");
        assert_eq!(a.holder(at("10:59")), Some((&actor("agent:a"), at("11:00"))));
        assert_eq!(a.holder(at("11:00")), None, "a lease ends at its end");

        refused(a.claim(&id, &stamp("agent:b", "10:59"), HOUR), "TodoClaimed");
        assert_eq!(
            a.claim(&id, &stamp("agent:a", "10:20"), HOUR).unwrap(),
            a,
            "an early renewal changes nothing"
        );
        let renewed = a.claim(&id, &stamp("agent:a", "10:40"), HOUR).unwrap();
        assert!(
            matches!(renewed.state, TodoState::Claimed { epoch: 1, lease_until, since, .. } if lease_until == at("11:40") && since == at("10:00"))
        );

        let b = a.claim(&id, &stamp("agent:b", "11:00"), HOUR).unwrap();
        assert!(
            matches!(&b.state, TodoState::Claimed { epoch: 2, taken_from: Some(from), .. } if *from == actor("agent:a"))
        );
        refused(
            a.claim(&id, &stamp("agent:b", "11:00"), HOUR).unwrap().complete(
                &id,
                &stamp("agent:a", "11:01"),
                Outcome::default(),
            ),
            "TakenOver",
        );
    }

    #[test]
    fn an_epoch_never_comes_twice() {
        let id = todo_id("t-7k3q");
        let released = claimed("agent:a", "10:00").release(&id, &actor("agent:a")).unwrap();
        let again = released.claim(&id, &stamp("agent:a", "10:01"), HOUR).unwrap();
        assert!(matches!(again.state, TodoState::Claimed { epoch: 2, .. }));
    }

    #[test]
    fn only_the_holder_releases() {
        let id = todo_id("t-7k3q");
        refused(claimed("agent:a", "10:00").release(&id, &actor("agent:b")), "TodoClaimed");
        refused(todo("p2").release(&id, &actor("agent:a")), "NotClaimed");
    }

    #[test]
    fn completing_is_for_the_holder_or_for_anyone_when_nobody_has_it() {
        let id = todo_id("t-7k3q");
        let done = |todo: &Todo, by, time| todo.complete(&id, &stamp(by, time), Outcome::default());
        assert!(done(&todo("p2"), "agent:a", "10:00").unwrap().is_closed());
        assert!(done(&claimed("agent:a", "10:00"), "agent:a", "10:30").unwrap().is_closed());
        assert!(
            done(&claimed("agent:a", "10:00"), "agent:a", "12:00").unwrap().is_closed(),
            "late, but still the holder"
        );
        refused(done(&claimed("agent:a", "10:00"), "agent:b", "10:30"), "TodoClaimed");
        let closed = done(&todo("p2"), "agent:a", "10:00").unwrap();
        refused(done(&closed, "agent:a", "10:01"), "TodoClosed");
        refused(closed.claim(&id, &stamp("agent:a", "10:01"), HOUR), "TodoClosed");
    }

    #[test]
    fn a_persons_todo_is_not_for_agents() {
        let id = todo_id("t-7k3q");
        let theirs = Todo { for_: Worker::Person, ..todo("p2") };
        refused(theirs.claim(&id, &stamp("agent:a", "10:00"), HOUR), "TodoForPerson");
        refused(theirs.complete(&id, &stamp("agent:a", "10:00"), Outcome::default()), "TodoForPerson");
        assert!(theirs.complete(&id, &stamp("Ann <a@b>", "10:00"), Outcome::default()).is_ok());
    }

    #[test]
    fn a_no_blocks_and_only_that_gate_frees() {
        let id = todo_id("t-7k3q");
        let no: Note = "too risky".parse().unwrap();
        let blocked =
            claimed("agent:a", "10:00").block_on(&gate_id("bucket"), &actor("Ann <a@b>"), at("10:10"), no);
        refused(blocked.claim(&id, &stamp("agent:a", "10:11"), HOUR), "TodoBlocked");
        refused(blocked.complete(&id, &stamp("agent:a", "10:11"), Outcome::default()), "TodoBlocked");
        refused(blocked.release(&id, &actor("agent:a")), "TodoBlocked");
        assert_eq!(blocked.unblock_from(&gate_id("other")), blocked);
        assert!(matches!(blocked.unblock_from(&gate_id("bucket")).state, TodoState::Open { epoch: 1 }));
    }

    const ANN: &str = "Ann <a@b>";

    fn why() -> Note {
        "because".parse().unwrap()
    }

    /// What an agent of another name may make of a todo that is `Some` agent's or a person's.
    #[track_caller]
    fn check(result: Result<Todo, Refusal>, expected: &str) {
        match (result, expected) {
            (Ok(todo), _) => assert_eq!(todo.state.word(), expected),
            (refused, _) => self::refused(refused, expected),
        }
    }

    #[test]
    fn a_heartbeat_holds_a_claim_as_long_as_it_was_taken_for() {
        let id = todo_id("t-7k3q");
        let until = |todo: &Todo| match &todo.state {
            TodoState::Claimed { lease_until, epoch: 1, .. } => *lease_until,
            state => panic!("{state:?}"),
        };
        let a = claimed("agent:a", "10:00");
        assert_eq!(a.renew(&id, &stamp("agent:a", "10:29"), None).unwrap(), a, "more than half remains");
        let renewed = a.renew(&id, &stamp("agent:a", "10:30"), None).unwrap();
        assert_eq!(until(&renewed), at("11:30"), "an hour again, not the usual time");
        let longer = a.renew(&id, &stamp("agent:a", "10:29"), Some(Seconds(7200))).unwrap();
        assert_eq!(until(&longer), at("12:29"));
        assert_eq!(until(&longer.renew(&id, &stamp("agent:a", "12:00"), None).unwrap()), at("14:00"));
        let late = a.renew(&id, &stamp("agent:a", "12:00"), None).unwrap();
        assert_eq!(until(&late), at("13:00"), "late, but nobody took it");
        refused(a.renew(&id, &stamp("agent:b", "10:30"), None), "TodoClaimed");
        refused(todo("p2").renew(&id, &stamp("agent:a", "10:30"), None), "NotClaimed");
    }

    #[test]
    fn who_comes_back_late_is_told_who_took_over() {
        let id = todo_id("t-7k3q");
        let b = claimed("agent:a", "10:00").claim(&id, &stamp("agent:b", "11:00"), HOUR).unwrap();
        let late = stamp("agent:a", "11:10");
        let told = Refusal::TakenOver {
            todo: id.clone(),
            by: actor("agent:b"),
            at: at("11:00"),
            until: at("12:00"),
        };
        assert_eq!(b.claim(&id, &late, HOUR), Err(told.clone()));
        assert_eq!(b.renew(&id, &late, None), Err(told.clone()));
        assert_eq!(b.release(&id, &late.by), Err(told.clone()));
        assert_eq!(b.complete(&id, &late, Outcome::default()), Err(told));
        refused(b.release(&id, &actor("agent:c")), "TodoClaimed");
    }

    #[test]
    fn a_todo_with_a_check_is_done_when_that_one_was_passed() {
        let id = todo_id("t-7k3q");
        let line = |text: &str| CommandLine::typed(text).unwrap();
        let check = Check { argv: line("cargo test"), timeout: Check::TIMEOUT };
        let todo = Todo { check: Some(check), ..todo("p2") };
        let done = |passed| {
            let outcome = Outcome { passed, ..Outcome::default() };
            todo.complete(&id, &stamp("agent:a", "10:00"), outcome)
        };
        refused(done(None), "CheckNotPassed");
        refused(done(Some(line("true"))), "CheckNotPassed");
        check_word(done(Some(line("cargo test"))), "done");
    }

    #[track_caller]
    fn check_word(result: Result<Todo, Refusal>, expected: &str) {
        assert_eq!(result.unwrap().state.word(), expected);
    }

    #[test]
    fn who_may_drop_block_free_and_reopen_what() {
        let id = todo_id("t-7k3q");
        let agents = todo("p2");
        let persons = Todo { added: stamp(ANN, "09:00"), ..todo("p2") };
        let for_person = Todo { for_: Worker::Person, ..todo("p2") };
        let b = stamp("agent:b", "10:30");
        let ann = stamp(ANN, "10:30");
        let drop = |todo: &Todo, by: &Stamp| todo.drop(&id, by, why());
        check(drop(&agents, &b), "dropped");
        check(drop(&persons, &b), "OfAPerson");
        check(drop(&for_person, &b), "TodoForPerson");
        check(drop(&claimed("agent:a", "10:00"), &b), "TodoClaimed");
        check(drop(&claimed("agent:b", "10:00"), &b), "dropped");
        for todo in [&agents, &persons, &for_person, &claimed("agent:a", "10:00")] {
            check(drop(todo, &ann), "dropped");
        }

        let block = |todo: &Todo, by: &Stamp| todo.block(&id, by, None, why());
        for todo in [&agents, &persons, &for_person] {
            check(block(todo, &b), "blocked");
        }
        check(block(&claimed("agent:a", "10:00"), &b), "TodoClaimed");
        check(block(&claimed("agent:a", "10:00"), &ann), "blocked");
        let by_agent = block(&agents, &b).unwrap();
        let by_person = block(&agents, &ann).unwrap();
        check(block(&by_agent, &b), "TodoBlocked");
        check(by_agent.unblock(&id, &stamp("agent:c", "11:00")), "open");
        check(by_person.unblock(&id, &b), "OfAPerson");
        check(by_person.unblock(&id, &ann), "open");
        check(drop(&by_agent, &b), "dropped");
        check(drop(&by_person, &b), "OfAPerson");
        check(agents.unblock(&id, &ann), "NotBlocked");

        let closed = [
            drop(&agents, &b).unwrap(),
            agents.complete(&id, &b, Outcome::default()).unwrap(),
            drop(&agents, &ann).unwrap(),
            agents.complete(&id, &ann, Outcome::default()).unwrap(),
        ];
        let c = stamp("agent:c", "11:00");
        for (todo, by_agent) in closed.iter().zip(["open", "open", "OfAPerson", "OfAPerson"]) {
            check(todo.reopen(&id, &c), by_agent);
            check(todo.reopen(&id, &ann), "open");
            check(drop(todo, &ann), "TodoClosed");
            check(block(todo, &ann), "TodoClosed");
            check(todo.unblock(&id, &ann), "TodoClosed");
            check(todo.split(&id, &c, &BTreeSet::new()), "TodoClosed");
            check(todo.edited(&id, &c, agents.clone()), "TodoClosed");
        }
        check(agents.reopen(&id, &ann), "TodoNotClosed");
    }

    #[test]
    fn an_epoch_does_not_come_back_with_a_reopened_todo() {
        let id = todo_id("t-7k3q");
        let done = claimed("agent:a", "10:00").complete(&id, &stamp("agent:a", "10:10"), Outcome::default());
        let open = done.unwrap().reopen(&id, &stamp("agent:a", "10:20")).unwrap();
        assert_eq!(open.state, TodoState::Open { epoch: 1 });
    }

    #[test]
    fn an_agent_makes_a_persons_todo_stricter_and_nothing_else() {
        let id = todo_id("t-7k3q");
        let agents = todo("p2");
        let persons = Todo { added: stamp(ANN, "09:00"), ..todo("p2") };
        let line = |text: &str| Some(Check { argv: CommandLine::typed(text).unwrap(), timeout: HOUR });
        let renamed = |todo: &Todo| Todo { title: "Other".parse().unwrap(), ..todo.clone() };
        let needy = |todo: &Todo| Todo { needs: [todo_id("t-0001")].into(), ..todo.clone() };
        let online = |todo: &Todo| Todo { requires: ["network".parse().unwrap()].into(), ..todo.clone() };
        let checked = |todo: &Todo| Todo { check: line("true"), ..todo.clone() };
        let handed = |todo: &Todo| Todo { for_: Worker::Person, ..todo.clone() };
        let edit = |todo: &Todo, to: Todo| todo.edited(&id, &stamp("agent:b", "10:00"), to);
        for stricter in [needy, online, handed] {
            check(edit(&persons, stricter(&persons)), "open");
            check(edit(&agents, stricter(&agents)), "open");
        }
        check(edit(&persons, checked(&persons)), "open");
        check(edit(&persons, renamed(&persons)), "OfAPerson");
        check(edit(&agents, renamed(&agents)), "open");
        for stricter in [needy, online] {
            check(edit(&stricter(&persons), persons.clone()), "OfAPerson");
            check(edit(&stricter(&agents), agents.clone()), "open");
        }
        check(edit(&handed(&agents), agents.clone()), "TodoForPerson");
        for weaker in [agents.clone(), Todo { check: line("cargo test"), ..agents.clone() }] {
            check(edit(&checked(&agents), weaker.clone()), "CheckIsKept");
            check(checked(&agents).edited(&id, &stamp(ANN, "10:00"), weaker), "open");
        }
        check(edit(&claimed("agent:a", "09:30"), renamed(&agents)), "TodoClaimed");
        let forged =
            Todo { added: stamp(ANN, "09:00"), state: claimed("agent:b", "09:00").state, ..agents.clone() };
        assert_eq!(edit(&agents, forged), Ok(agents), "who added it and its state are not edited");
    }

    #[test]
    fn a_split_todo_waits_for_its_parts() {
        let id = todo_id("t-7k3q");
        let parts: BTreeSet<TodoId> = [todo_id("t-0001"), todo_id("t-0002")].into();
        let whole = claimed("agent:a", "10:00").split(&id, &stamp("agent:a", "10:10"), &parts).unwrap();
        assert_eq!((whole.needs.clone(), whole.state.clone()), (parts.clone(), TodoState::Open { epoch: 1 }));
        refused(claimed("agent:a", "10:00").split(&id, &stamp("agent:b", "10:10"), &parts), "TodoClaimed");
        let monitor = Todo { monitor: Some(Monitor::new(HOUR, at("10:00"))), ..todo("p2") };
        refused(monitor.split(&id, &stamp("agent:a", "10:10"), &parts), "IsAMonitor");
    }

    #[test]
    fn a_monitor_counts_what_is_not_new_and_knows_when_to_look_again() {
        let id = todo_id("t-7k3q");
        let fresh = Todo { monitor: Some(Monitor::new(HOUR, at("09:00"))), ..todo("p2") };
        let poll = |todo: &Todo, time: &str, looked: Looked| {
            let (todo, new) = todo.poll(&id, &stamp("agent:a", time), looked).unwrap();
            let monitor = todo.monitor.clone().unwrap();
            (todo, new, monitor.unchanged, monitor.next_due)
        };
        let saw = |text: &str| Looked::Saw(text.parse().unwrap());
        let (first, new, unchanged, due) = poll(&fresh, "10:00", saw("red"));
        assert_eq!((new, unchanged, due), (false, 0, at("11:00")), "the first look is where it begins");
        let (again, new, unchanged, _) = poll(&first, "11:00", saw("red"));
        assert_eq!((new, unchanged), (false, 1));
        let (same, new, unchanged, due) = poll(&again, "11:30", Looked::Same);
        assert_eq!((new, unchanged, due), (false, 2, at("12:30")));
        let (green, new, unchanged, _) = poll(&same, "12:30", saw("green"));
        assert_eq!((new, unchanged), (true, 0));
        assert_eq!(green.monitor.clone().unwrap().fingerprint, Some("green".parse().unwrap()));
        let (changed, new, unchanged, _) = poll(&same, "12:30", Looked::Changed(None));
        assert_eq!((new, unchanged, changed.monitor.unwrap().fingerprint), (true, 0, None));

        let held = fresh.claim(&id, &stamp("agent:a", "10:00"), HOUR).unwrap();
        assert_eq!(poll(&held, "10:01", Looked::Same).0.state, TodoState::Open { epoch: 1 });
        let by_b =
            |todo: &Todo| todo.poll(&id, &stamp("agent:b", "10:01"), Looked::Same).map(|(todo, _)| todo);
        refused(by_b(&held), "TodoClaimed");
        refused(by_b(&todo("p2")), "NoMonitor");
        refused(by_b(&Todo { for_: Worker::Person, ..fresh.clone() }), "TodoForPerson");

        let mut stale = first;
        for _ in 0..Monitor::STALE {
            stale = poll(&stale, "11:00", Looked::Same).0;
        }
        assert!(stale.monitor.as_ref().unwrap().is_stale());
        let rarer = Monitor { every: Seconds(7200), ..stale.monitor.clone().unwrap() };
        let rarer = Todo { monitor: Some(rarer), ..stale.clone() };
        let edited = stale.edited(&id, &stamp("agent:a", "11:10"), rarer).unwrap().monitor.unwrap();
        assert_eq!((edited.is_stale(), edited.next_due), (false, at("13:00")), "another plan begins anew");
    }
}
