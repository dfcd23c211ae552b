//! Was a commit one legal mutation by somebody who may make it?
//!
//! The transitions of the domain are run again on what was there before; what they make has to be what is there after.
//! So a rule is written once, and whatever could not have been done through it is told from what could.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    actor::{Actor, Proof, Proven, Stamp},
    bypass::{Bypass, BypassState, Standing},
    change::{Op, Record},
    gate::{Gate, GateState},
    goal::{Goal, GoalState},
    id::{BypassId, GateId, GoalId, TodoId},
    policy::Policy,
    quota::{Quota, Quotas},
    refusal::Refusal,
    time::Timestamp,
    todo::{Todo, TodoState},
};

/// What a commit did to one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub before: Option<Record>,
    pub after: Option<Record>,
}

/// A commit as its trailers and its date tell it, with what it really did.
#[derive(Debug, Clone)]
pub struct Mutation {
    pub op: Op,
    pub by: Actor,
    pub at: Timestamp,
    pub steps: Vec<Step>,
    /// The gates in force before it, of the goal it is about.
    pub gates: BTreeMap<GateId, Gate>,
    /// The gates of all goals that held pushes back before it; asked for by `bypass.note` alone.
    pub standing: Vec<Standing>,
}

/// Why a commit was no legal mutation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The records it touched are not those that its kind touches.
    #[error("`{}` does not do that to {}", .op.word(), .records.join(", "))]
    Shape { op: Op, records: Vec<String> },
    /// The step is refused.
    #[error("it is refused: {0}")]
    Refused(Refusal),
    /// The step is allowed but comes out otherwise.
    #[error("{record} is not what `{}` makes of it", .op.word())]
    Result { op: Op, record: String },
    /// What only a person may do was done by an agent.
    #[error("only a person may do that, and {} did", .0.name())]
    PersonNeeded(Actor),
    /// Who or when in the record differs from the commit.
    #[error("{record} says another actor or time than the commit")]
    Stamp { record: String },
}

impl From<Refusal> for Illegal {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Mutation {
    /// Judges the mutation. Folding, importing and leaving a history behind come without steps: what they make is judged where files are known.
    pub fn judge(&self) -> Result<(), Illegal> {
        let pairs: Vec<(Option<&Record>, Option<&Record>)> =
            self.steps.iter().map(|step| (step.before.as_ref(), step.after.as_ref())).collect();
        match (self.op, &pairs[..]) {
            (Op::Init, [(None, Some(Record::Policy(_))), (None, Some(Record::Quotas(quotas)))])
                if quotas.is_empty() =>
            {
                Ok(())
            }
            (Op::GoalAdd, [(None, Some(record @ Record::Goal(_, goal)))]) => {
                let fresh = Goal::new(goal.objective.clone(), goal.done_when.clone(), goal.added.clone());
                self.is_mine(record, &goal.added)?;
                self.comes_out(record, *goal == fresh)
            }
            (Op::PolicyConfigure, [(Some(Record::Policy(before)), Some(record @ Record::Policy(after)))]) => {
                let again = Policy { require_receipt: after.require_receipt, ..before.clone() };
                self.comes_out(record, again == *after)?;
                if after.is_looser_than(before) { self.must_be_a_person() } else { Ok(()) }
            }
            (Op::GoalConfigure, pairs) => self.configured(pairs),
            (Op::GateOpen, [(None, Some(record @ Record::Gate(_, _, gate)))]) => {
                self.is_mine(record, &gate.asked)?;
                let Gate { question, options, blocks, todos, scope, asked, state: _ } = gate.clone();
                let fresh = Gate::new(question, options, blocks, todos, asked).within(scope);
                self.comes_out(record, *gate == fresh)
            }
            (
                Op::GateResolve,
                [
                    (Some(Record::Gate(goal, id, before)), Some(record @ Record::Gate(other, same, after))),
                    todos @ ..,
                ],
            ) if (goal, id) == (other, same) => {
                self.resolved(id, before, after, record)?;
                todos.iter().try_for_each(|pair| self.followed(goal, id, after, *pair))
            }
            (Op::TodoAdd, [(None, Some(record @ Record::Todo(_, _, todo)))]) => {
                self.is_mine(record, &todo.added)?;
                self.comes_out(record, todo.state == TodoState::Open { epoch: 0 })
            }
            (
                Op::TodoClaim | Op::TodoRelease | Op::TodoDone,
                [(Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after)))],
            ) if (goal, id) == (other, same) => self.worked(id, before, after, record),
            (Op::EvidenceAdd, [(None, Some(record @ Record::Evidence(_, _, evidence)))]) => {
                self.is_mine(record, &evidence.added)
            }
            (Op::QuotaSpend, [(None, Some(record @ Record::Spend(_, id, spend)))]) => {
                self.is_mine(record, &spend.added)?;
                self.comes_out(record, *id == super::id::SpendId::of_turn(&spend.turn))
            }
            (Op::BypassNote, [_, ..]) => pairs.iter().try_for_each(|pair| self.noticed(*pair)),
            (
                Op::BypassAcknowledge,
                [(Some(Record::Bypass(id, before)), Some(record @ Record::Bypass(same, after)))],
            ) if id == same => self.acknowledged(id, before, after, record),
            (Op::Fold, []) => Ok(()),
            (Op::Import | Op::Checkpoint, []) => self.must_be_a_person(),
            _ => Err(self.shape()),
        }
    }

    fn shape(&self) -> Illegal {
        let name = |step: &Step| step.after.as_ref().or(step.before.as_ref()).map(Record::name);
        Illegal::Shape { op: self.op, records: self.steps.iter().filter_map(name).collect() }
    }

    fn comes_out(&self, record: &Record, as_expected: bool) -> Result<(), Illegal> {
        match as_expected {
            true => Ok(()),
            false => Err(Illegal::Result { op: self.op, record: record.name() }),
        }
    }

    /// The record was stamped by whoever made the commit, when they made it.
    fn is_mine(&self, record: &Record, stamp: &Stamp) -> Result<(), Illegal> {
        match stamp.at == self.at && stamp.by == self.by {
            true => Ok(()),
            false => Err(Illegal::Stamp { record: record.name() }),
        }
    }

    fn must_be_a_person(&self) -> Result<(), Illegal> {
        match &self.by {
            Actor::Person(_) => Ok(()),
            Actor::Agent(_) => Err(Illegal::PersonNeeded(self.by.clone())),
        }
    }

    fn resolved(&self, id: &GateId, before: &Gate, after: &Gate, record: &Record) -> Result<(), Illegal> {
        self.must_be_a_person()?;
        let GateState::Resolved { decision, by, at, note, seen, proof } = &after.state else {
            return Err(Illegal::Result { op: self.op, record: record.name() });
        };
        self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
        let Proof::Terminal { typed } = proof;
        self.comes_out(record, typed == id.as_str())?;
        let proven = Proven { person: by.clone(), proof: proof.clone() };
        let again = before.resolve(id, decision.clone(), proven, *at, note.clone(), seen.clone())?;
        self.comes_out(record, again == *after)
    }

    fn noticed(&self, pair: (Option<&Record>, Option<&Record>)) -> Result<(), Illegal> {
        let (None, Some(record @ Record::Bypass(_, bypass))) = pair else { return Err(self.shape()) };
        self.is_mine(record, &bypass.noted)?;
        let again = Bypass::new(bypass.push.clone(), bypass.noted.clone());
        self.comes_out(record, again == *bypass && bypass.push.gates == self.standing)
    }

    fn acknowledged(
        &self,
        id: &BypassId,
        before: &Bypass,
        after: &Bypass,
        record: &Record,
    ) -> Result<(), Illegal> {
        self.must_be_a_person()?;
        let BypassState::Acknowledged { by, at, note, proof } = &after.state else {
            return Err(Illegal::Result { op: self.op, record: record.name() });
        };
        self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
        let Proof::Terminal { typed } = proof;
        self.comes_out(record, typed == id.as_str())?;
        let proven = Proven { person: by.clone(), proof: proof.clone() };
        let again = before.acknowledge(id, proven, *at, note.clone())?;
        self.comes_out(record, again == *after)
    }

    /// A todo that an answer blocked or freed.
    fn followed(
        &self,
        goal: &GoalId,
        gate: &GateId,
        answered: &Gate,
        pair: (Option<&Record>, Option<&Record>),
    ) -> Result<(), Illegal> {
        let (Some(Record::Todo(of, id, before)), Some(record @ Record::Todo(to, same, after))) = pair else {
            return Err(self.shape());
        };
        if (of, to) != (goal, goal) || id != same || !answered.todos.contains(id) {
            return Err(self.shape());
        }
        let again = match &after.state {
            TodoState::Blocked { by, at, reason, .. } if answered.is_rejected() => {
                before.block_on(gate, by, *at, reason.clone())
            }
            _ => before.unblock_from(gate),
        };
        self.comes_out(record, again == *after)
    }

    fn worked(&self, id: &TodoId, before: &Todo, after: &Todo, record: &Record) -> Result<(), Illegal> {
        let stamp = Stamp { by: self.by.clone(), at: self.at };
        let again = match (self.op, &after.state) {
            (Op::TodoClaim, TodoState::Claimed { lease_until, .. }) => {
                self.must_not_be_stopped(id)?;
                before.claim(id, &stamp, self.at.age(*lease_until))?
            }
            (Op::TodoRelease, _) => before.release(id, &self.by)?,
            (Op::TodoDone, TodoState::Done { evidence, note, .. }) => {
                self.must_not_be_stopped(id)?;
                before.complete(id, &stamp, evidence.clone(), note.clone())?
            }
            _ => return Err(Illegal::Result { op: self.op, record: record.name() }),
        };
        self.comes_out(record, again == *after)
    }

    fn must_not_be_stopped(&self, todo: &TodoId) -> Result<(), Illegal> {
        match self.gates.iter().find(|(_, gate)| gate.stops(todo)) {
            None => Ok(()),
            Some((id, gate)) => Err(Illegal::Refused(gate.refuse(id, todo))),
        }
    }

    fn configured(&self, pairs: &[(Option<&Record>, Option<&Record>)]) -> Result<(), Illegal> {
        let mut loosens = false;
        for pair in pairs {
            match pair {
                (Some(Record::Goal(id, before)), Some(record @ Record::Goal(same, after))) if id == same => {
                    let again = Goal { features: after.features.clone(), ..before.clone() };
                    self.comes_out(
                        record,
                        again == *after
                            && matches!(after.state, GoalState::Active {})
                                == matches!(before.state, GoalState::Active {}),
                    )?;
                    loosens |= !after.features.is_subset(&before.features);
                }
                (Some(Record::Quotas(before)), Some(Record::Quotas(after))) => {
                    loosens |= raises(before, after)
                }
                _ => return Err(self.shape()),
            }
        }
        if loosens { self.must_be_a_person() } else { Ok(()) }
    }
}

/// Whether any goal may use more after than before.
fn raises(before: &Quotas, after: &Quotas) -> bool {
    let goals: BTreeSet<&GoalId> = before.keys().chain(after.keys()).collect();
    let of = |quotas: &Quotas, goal: &GoalId| quotas.get(goal).copied().unwrap_or_default();
    goals.into_iter().any(|goal| {
        let (before, after): (Quota, Quota) = (of(before, goal), of(after, goal));
        !after.is_at_most(before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::Seen,
        quota::Quota,
        samples::{actor, at, gate, gate_id, goal_id, loop_with, proven, stamp, todo, todo_id},
    };

    const ANN: &str = "Ann <ann@example.test>";

    fn mutation(op: Op, by: &str, time: &str, steps: Vec<(Option<Record>, Option<Record>)>) -> Mutation {
        let steps = steps.into_iter().map(|(before, after)| Step { before, after }).collect();
        Mutation { op, by: actor(by), at: at(time), steps, gates: BTreeMap::new(), standing: Vec::new() }
    }

    fn todo_record(todo: &Todo) -> Option<Record> {
        Some(Record::Todo(goal_id("ship"), todo_id("t-7k3q"), todo.clone()))
    }

    fn gate_record(gate: &Gate) -> Option<Record> {
        Some(Record::Gate(goal_id("ship"), gate_id("bucket"), gate.clone()))
    }

    #[track_caller]
    fn illegal(mutation: &Mutation, expected: &str) {
        assert_eq!(mutation.judge().unwrap_err().to_string(), expected);
    }

    #[test]
    fn an_answer_takes_a_person_and_has_to_be_what_answering_makes() {
        let (open, seen) =
            (gate(&[]), |gate: &Gate| Seen { question: gate.digest(), commit: None, tree: None });
        let yes = open
            .resolve(&gate_id("bucket"), "approve".parse().unwrap(), proven(), at("11:00"), None, seen(&open))
            .unwrap();
        let answer = |by, after: &Gate| {
            mutation(Op::GateResolve, by, "11:00", vec![(gate_record(&open), gate_record(after))])
        };
        assert_eq!(answer(ANN, &yes).judge(), Ok(()));
        illegal(&answer("agent:a", &yes), "only a person may do that, and a did");
        illegal(
            &answer("Bob <bob@example.test>", &yes),
            "gate/bucket says another actor or time than the commit",
        );
        illegal(
            &answer(ANN, &Gate { blocks: [super::super::gate::Act::Turn].into(), ..yes.clone() }),
            "gate/bucket is not what `gate.resolve` makes of it",
        );
        illegal(&answer(ANN, &open), "gate/bucket is not what `gate.resolve` makes of it");
        let again = mutation(Op::GateResolve, ANN, "11:00", vec![(gate_record(&yes), gate_record(&yes))]);
        illegal(
            &again,
            "it is refused: gate `bucket` was decided already: `approve` by Ann at 2026-11-30T11:00:00Z",
        );
        let mut unproven = yes.clone();
        if let GateState::Resolved { proof: Proof::Terminal { typed }, .. } = &mut unproven.state {
            *typed = "y".into();
        }
        illegal(&answer(ANN, &unproven), "gate/bucket is not what `gate.resolve` makes of it");
        let mut blind = yes.clone();
        if let GateState::Resolved { seen, .. } = &mut blind.state {
            seen.question = "sha256:0".into();
        }
        illegal(&answer(ANN, &blind), "it is refused: gate `bucket` was changed after it was shown");
    }

    #[test]
    fn a_question_has_to_be_one_that_holds_something_back() {
        let asked = |gate: Gate| mutation(Op::GateOpen, "agent:a", "09:30", vec![(None, gate_record(&gate))]);
        assert_eq!(asked(gate(&[])).judge(), Ok(()));
        let mute = Gate { blocks: BTreeSet::new(), ..gate(&[]) };
        illegal(&asked(mute), "gate/bucket is not what `gate.open` makes of it");
        let leading = Gate { options: vec!["approve".parse().unwrap()], ..gate(&[]) };
        illegal(&asked(leading), "gate/bucket is not what `gate.open` makes of it");
    }

    #[test]
    fn a_no_may_block_its_todos_and_no_others() {
        let loop_ =
            loop_with(&[("t-7k3q", todo("p2")), ("t-0001", todo("p2"))], &[("bucket", gate(&["t-7k3q"]))]);
        let gate = &loop_.gates[&gate_id("bucket")];
        let seen = Seen { question: gate.digest(), commit: None, tree: None };
        let after = loop_
            .resolve(&gate_id("bucket"), "reject".parse().unwrap(), proven(), at("11:00"), None, seen)
            .unwrap();
        let before = |record: &Record| match record {
            Record::Gate(..) => gate_record(gate),
            _ => todo_record(&todo("p2")),
        };
        let steps: Vec<_> = after.iter().map(|record| (before(record), Some(record.clone()))).collect();
        assert_eq!(mutation(Op::GateResolve, ANN, "11:00", steps.clone()).judge(), Ok(()));
        let mut other = steps;
        if let Some(Record::Todo(_, id, _)) = &mut other[1].1 {
            *id = todo_id("t-0001");
        }
        other[1].0 = Some(Record::Todo(goal_id("ship"), todo_id("t-0001"), todo("p2")));
        illegal(
            &mutation(Op::GateResolve, ANN, "11:00", other),
            "`gate.resolve` does not do that to gate/bucket, todo/t-0001",
        );
    }

    #[test]
    fn work_is_done_by_who_may_and_not_under_a_gate() {
        let id = todo_id("t-7k3q");
        let open = todo("p2");
        let claimed = open.claim(&id, &stamp("agent:a", "10:00"), super::super::time::Seconds(3600)).unwrap();
        let claim =
            mutation(Op::TodoClaim, "agent:a", "10:00", vec![(todo_record(&open), todo_record(&claimed))]);
        assert_eq!(claim.judge(), Ok(()));
        let gated = Mutation { gates: [(gate_id("bucket"), gate(&[]))].into(), ..claim.clone() };
        illegal(&gated, "it is refused: todo `t-7k3q` waits for gate `bucket`: \"Delete the bucket?\"");
        let stolen =
            mutation(Op::TodoClaim, "agent:b", "10:00", vec![(todo_record(&open), todo_record(&claimed))]);
        illegal(&stolen, "todo/t-7k3q is not what `todo.claim` makes of it");
        let done = open.complete(&id, &stamp("agent:a", "10:05"), BTreeSet::new(), None).unwrap();
        let taken =
            mutation(Op::TodoDone, "agent:b", "10:05", vec![(todo_record(&claimed), todo_record(&done))]);
        illegal(&taken, "it is refused: todo `t-7k3q` is claimed by a until 2026-11-30T11:00:00Z");
        illegal(
            &mutation(Op::TodoDone, "agent:a", "10:05", vec![(todo_record(&done), None)]),
            "`todo.done` does not do that to todo/t-7k3q",
        );
    }

    #[test]
    fn a_bypass_is_noted_as_it_was_and_acknowledged_by_a_person() {
        let standing: Standing = "ship/bucket".parse().unwrap();
        let push = crate::domain::bypass::Push {
            remote: "origin".parse().unwrap(),
            ref_: "refs/heads/main".parse().unwrap(),
            commit: "1".repeat(40),
            at: at("09:59"),
            pushes: std::num::NonZeroU32::MIN,
            refs: std::num::NonZeroU32::MIN,
            way: crate::domain::bypass::Way::NoVerify,
            gates: vec![standing.clone()],
        };
        let id: BypassId = "b-7k3q".parse().unwrap();
        let record = |bypass: &Bypass| Some(Record::Bypass(id.clone(), bypass.clone()));
        let open = Bypass::new(push, stamp("agent:a", "10:00"));
        let note = mutation(Op::BypassNote, "agent:a", "10:00", vec![(None, record(&open))]);
        assert_eq!(Mutation { standing: vec![standing], ..note.clone() }.judge(), Ok(()));
        illegal(&note, "bypass/b-7k3q is not what `bypass.note` makes of it");
        let nothing = mutation(Op::BypassNote, "agent:a", "10:00", vec![]);
        illegal(&nothing, "`bypass.note` does not do that to ");

        let proof = Proof::Terminal { typed: "b-7k3q".into() };
        let taken = open.acknowledge(&id, Proven { proof, ..proven() }, at("11:00"), None).unwrap();
        let acknowledge = |by, after: &Bypass| {
            mutation(Op::BypassAcknowledge, by, "11:00", vec![(record(&open), record(after))])
        };
        assert_eq!(acknowledge(ANN, &taken).judge(), Ok(()));
        illegal(&acknowledge("agent:a", &taken), "only a person may do that, and a did");
        let milder = Bypass {
            push: crate::domain::bypass::Push { gates: vec![], ..taken.push.clone() },
            ..taken.clone()
        };
        illegal(&acknowledge(ANN, &milder), "bypass/b-7k3q is not what `bypass.acknowledge` makes of it");
        illegal(
            &mutation(Op::BypassAcknowledge, ANN, "11:00", vec![(record(&open), None)]),
            "`bypass.acknowledge` does not do that to bypass/b-7k3q",
        );
        let unproven = open.acknowledge(&id, proven(), at("11:00"), None).unwrap();
        illegal(&acknowledge(ANN, &unproven), "bypass/b-7k3q is not what `bypass.acknowledge` makes of it");
    }

    #[test]
    fn less_policy_takes_a_person_and_more_does_not() {
        let policy = |require_receipt| {
            let repository = crate::domain::policy::RepositoryId::new(&[7; 16]);
            let approval = crate::domain::policy::Approval::Terminal;
            Some(Record::Policy(Policy { repository, approval, require_receipt }))
        };
        let configure = |by, before, after| {
            mutation(Op::PolicyConfigure, by, "10:00", vec![(policy(before), policy(after))])
        };
        assert_eq!(configure("agent:a", false, true).judge(), Ok(()));
        assert_eq!(configure(ANN, true, false).judge(), Ok(()));
        illegal(&configure("agent:a", true, false), "only a person may do that, and a did");
        let other = match policy(true) {
            Some(Record::Policy(policy)) => {
                let repository = crate::domain::policy::RepositoryId::new(&[8; 16]);
                Some(Record::Policy(Policy { repository, ..policy }))
            }
            other => other,
        };
        let stolen = mutation(Op::PolicyConfigure, ANN, "10:00", vec![(policy(true), other)]);
        illegal(&stolen, "policy is not what `policy.configure` makes of it");
    }

    #[test]
    fn more_quota_takes_a_person_and_less_does_not() {
        let quotas = |compute: &str| {
            let quota = Quota::default().with_compute(compute.parse().unwrap()).unwrap();
            Some(Record::Quotas([(goal_id("ship"), quota)].into()))
        };
        let configure = |by, before, after| {
            mutation(Op::GoalConfigure, by, "10:00", vec![(quotas(before), quotas(after))])
        };
        assert_eq!(configure("agent:a", "1", "0.5").judge(), Ok(()));
        assert_eq!(configure(ANN, "0.5", "1").judge(), Ok(()));
        illegal(&configure("agent:a", "0.5", "1"), "only a person may do that, and a did");
    }
}
