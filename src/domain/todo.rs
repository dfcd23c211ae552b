//! A todo: a piece of work, who has it, and what became of it.
//!
//! A claim **is** the lease: one mechanism, the first wins, it runs out by itself, and who takes an expired one is
//! recorded with a higher epoch.

use std::collections::BTreeSet;

use super::{
    actor::{Actor, Stamp},
    id::{Capability, EvidenceId, GateId, TodoId},
    refusal::Refusal,
    text::{Note, Title},
    time::{Seconds, Timestamp},
};

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    pub added: Stamp,
    pub state: TodoState,
}

/// Whose work a todo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worker {
    Agent,
    Person,
}

/// How urgent a todo is: `p0` before `p3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    },
    Dropped {
        by: Actor,
        at: Timestamp,
        reason: Note,
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
        let lease_until = now.plus(lease);
        let fresh = |epoch: u32, taken_from| TodoState::Claimed {
            by: stamp.by.clone(),
            since: now,
            lease_until,
            epoch: epoch + 1,
            taken_from,
        };
        let state = match &self.state {
            TodoState::Open { epoch } => fresh(*epoch, None),
            TodoState::Claimed { by, since, lease_until: until, epoch, taken_from }
                if *by == stamp.by && *until > now =>
            {
                if until.minus(Seconds(lease.0 / 2)) > now {
                    return Ok(self.clone());
                }
                TodoState::Claimed {
                    by: by.clone(),
                    since: *since,
                    lease_until,
                    epoch: *epoch,
                    taken_from: taken_from.clone(),
                }
            }
            TodoState::Claimed { by, lease_until, epoch, .. } if *lease_until <= now => {
                fresh(*epoch, Some(by.clone()))
            }
            _ => return Err(self.refuse(id)),
        };
        Ok(Self { state, ..self.clone() })
    }

    /// Gives a claim back.
    pub fn release(&self, id: &TodoId, by: &Actor) -> Result<Self, Refusal> {
        match &self.state {
            TodoState::Claimed { by: holder, epoch, .. } if holder == by => {
                Ok(Self { state: TodoState::Open { epoch: *epoch }, ..self.clone() })
            }
            _ => Err(self.refuse(id)),
        }
    }

    /// Completes the todo: its holder may (also late, while nobody has taken it), and anybody whose kind of work it
    /// is may when nobody has it.
    pub fn complete(
        &self,
        id: &TodoId,
        stamp: &Stamp,
        evidence: BTreeSet<EvidenceId>,
        note: Option<Note>,
    ) -> Result<Self, Refusal> {
        self.must_be_for(id, &stamp.by)?;
        match &self.state {
            TodoState::Open { .. } => {}
            TodoState::Claimed { by, .. } if *by == stamp.by => {}
            TodoState::Claimed { .. } if self.is_free(stamp.at) => {}
            _ => return Err(self.refuse(id)),
        }
        let state = TodoState::Done { by: stamp.by.clone(), at: stamp.at, evidence, note };
        Ok(Self { state, ..self.clone() })
    }

    /// Stops the todo because the person said no at `gate`. A closed todo stays as it is.
    pub fn block_on(&self, gate: &GateId, by: &Actor, at: Timestamp, reason: Note) -> Self {
        let epoch = match &self.state {
            TodoState::Open { epoch }
            | TodoState::Claimed { epoch, .. }
            | TodoState::Blocked { epoch, .. } => *epoch,
            TodoState::Done { .. } | TodoState::Dropped { .. } => return self.clone(),
        };
        let state = TodoState::Blocked { on: Some(gate.clone()), by: by.clone(), at, reason, epoch };
        Self { state, ..self.clone() }
    }

    /// Frees the todo if it is `gate` that blocks it.
    pub fn unblock_from(&self, gate: &GateId) -> Self {
        match &self.state {
            TodoState::Blocked { on: Some(on), epoch, .. } if on == gate => {
                Self { state: TodoState::Open { epoch: *epoch }, ..self.clone() }
            }
            _ => self.clone(),
        }
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

    fn must_be_for(&self, id: &TodoId, by: &Actor) -> Result<(), Refusal> {
        match (self.for_, by) {
            (Worker::Person, Actor::Agent(agent)) => {
                Err(Refusal::TodoForPerson { todo: id.clone(), agent: agent.clone() })
            }
            _ => Ok(()),
        }
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
                BTreeSet::new(),
                None,
            ),
            "TodoClaimed",
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
        let done = |todo: &Todo, by, time| todo.complete(&id, &stamp(by, time), BTreeSet::new(), None);
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
        refused(theirs.complete(&id, &stamp("agent:a", "10:00"), BTreeSet::new(), None), "TodoForPerson");
        assert!(theirs.complete(&id, &stamp("Ann <a@b>", "10:00"), BTreeSet::new(), None).is_ok());
    }

    #[test]
    fn a_no_blocks_and_only_that_gate_frees() {
        let id = todo_id("t-7k3q");
        let no: Note = "too risky".parse().unwrap();
        let blocked =
            claimed("agent:a", "10:00").block_on(&gate_id("bucket"), &actor("Ann <a@b>"), at("10:10"), no);
        refused(blocked.claim(&id, &stamp("agent:a", "10:11"), HOUR), "TodoBlocked");
        refused(blocked.complete(&id, &stamp("agent:a", "10:11"), BTreeSet::new(), None), "TodoBlocked");
        refused(blocked.release(&id, &actor("agent:a")), "TodoBlocked");
        assert_eq!(blocked.unblock_from(&gate_id("other")), blocked);
        assert!(matches!(blocked.unblock_from(&gate_id("bucket")).state, TodoState::Open { epoch: 1 }));
    }
}
