//! Was a commit one legal mutation by somebody who may make it?
//!
//! The transitions of the domain are run again on what was there before; what they make has to be what is there after.
//! So a rule is written once, and whatever could not have been done through it is told from what could.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    actor::{Actor, Proof, Proven, Stamp},
    approver::Signed,
    authority,
    bypass::{Bypass, BypassState, Standing},
    change::{Op, Record},
    command::CommandLine,
    evidence::Finding,
    gate::Gate,
    goal::{Goal, GoalState},
    id::{BypassId, GateId, GoalId, SpendId, TodoId},
    policy::{Amendment, Policy},
    quota::{Burst, Grant, Quota, Quotas, Spend, Voided},
    refusal::Refusal,
    statement::Statement,
    time::Timestamp,
    todo::{Looked, Monitor, Outcome, Todo, TodoState},
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
    /// The rules before it; of the first one, its own.
    pub policy: Policy,
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
        self.must_be_allowed(false)?;
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
            (Op::GoalConfigure, pairs) => self.configured(pairs),
            (Op::GateOpen, [(None, Some(record @ Record::Gate(_, _, gate)))]) => {
                self.is_mine(record, &gate.asked)?;
                let Gate { question, options, blocks, todos, scope, approvals, asked, state: _ } =
                    gate.clone();
                let fresh =
                    Gate::new(question, options, blocks, todos, asked).within(scope).needing(approvals);
                let fresh = match gate.bind() {
                    Some(bind) => fresh.standing(bind)?,
                    None => fresh,
                };
                self.comes_out(record, *gate == fresh)
            }
            (
                Op::GateResolve | Op::GateWithdraw | Op::GateReopen,
                [
                    (Some(Record::Gate(goal, id, before)), Some(record @ Record::Gate(other, same, after))),
                    todos @ ..,
                ],
            ) if (goal, id) == (other, same) => {
                self.decided(goal, id, before, after, record)?;
                todos.iter().try_for_each(|pair| self.followed(goal, id, after, *pair))
            }
            (Op::TodoAdd, [_, ..]) => pairs.iter().try_for_each(|pair| match pair {
                (None, Some(record @ Record::Todo(_, _, todo))) => self.added(record, todo),
                _ => Err(self.shape()),
            }),
            (
                Op::TodoClaim
                | Op::TodoRenew
                | Op::TodoRelease
                | Op::TodoBlock
                | Op::TodoUnblock
                | Op::TodoDrop
                | Op::TodoReopen
                | Op::TodoEdit
                | Op::TodoDone,
                [(Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after)))],
            ) if (goal, id) == (other, same) => self.worked(id, before, after, record, None),
            (
                Op::TodoDone,
                [
                    (None, Some(seen @ Record::Evidence(_, evidence_id, evidence))),
                    (Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after))),
                ],
            ) if (goal, id) == (other, same) => {
                self.is_mine(seen, &evidence.added)?;
                let TodoState::Done { evidence: rests_on, .. } = &after.state else {
                    return Err(self.shape());
                };
                let about_it = evidence.todo.as_ref() == Some(id) && rests_on.contains(evidence_id);
                let Finding::Check { argv, .. } = &evidence.what else { return Err(self.shape()) };
                self.comes_out(seen, about_it)?;
                self.worked(id, before, after, record, Some(argv.clone()))
            }
            (Op::TodoSplit | Op::TodoPoll, pairs) => self.branched(pairs),
            (
                Op::GoalMeet | Op::GoalPause | Op::GoalResume | Op::GoalAchieve | Op::GoalAbandon,
                [(Some(Record::Goal(id, before)), Some(record @ Record::Goal(same, after)))],
            ) if id == same => self.turned(id, before, after, record),
            (Op::EvidenceAdd, [(None, Some(record @ Record::Evidence(_, _, evidence)))]) => {
                self.is_mine(record, &evidence.added)
            }
            (Op::QuotaSpend, [(None, Some(record @ Record::Spend(_, id, spend)))]) => {
                self.is_mine(record, &spend.added)?;
                let is_booked = *id == SpendId::of_turn(&spend.turn) && spend.course.is_none();
                self.comes_out(record, is_booked)
            }
            (
                Op::QuotaVoid,
                [(Some(Record::Spend(goal, id, before)), Some(record @ Record::Spend(other, same, after)))],
            ) if (goal, id) == (other, same) => self.voided(before, after, record),
            (Op::QuotaGrant, [(Some(Record::Quotas(before)), Some(record @ Record::Quotas(after)))]) => {
                self.granted(before, after, record)
            }
            (Op::TurnBegin, [_, ..]) => self.turn_begun(&pairs),
            (Op::TurnEnd, [_, ..]) => self.turn_ended(&pairs),
            (
                Op::HandoffWrite,
                [(None | Some(Record::Handoff(..)), Some(record @ Record::Handoff(_, handoff)))],
            ) => self.is_mine(record, &handoff.written),
            (Op::BypassNote, [_, ..]) => pairs.iter().try_for_each(|pair| self.noticed(*pair)),
            (
                Op::BypassAcknowledge,
                [(Some(Record::Bypass(id, before)), Some(record @ Record::Bypass(same, after)))],
            ) if id == same => self.acknowledged(id, before, after, record),
            (
                Op::PolicySet | Op::ApproverAdd | Op::ApproverRemove,
                [(Some(Record::Policy(before)), Some(record @ Record::Policy(after)))],
            ) => self.amended(before, after, record),
            (
                Op::SecretAllow | Op::SecretForbid,
                [(Some(Record::Policy(before)), Some(record @ Record::Policy(after)))],
            ) => self.let_through(before, after, record),
            (Op::Fold, []) => Ok(()),
            (Op::Import | Op::Checkpoint, []) => Ok(()),
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

    /// Whoever made it may make mutations of its kind. `loosens`: it does what only some of its kind do.
    fn must_be_allowed(&self, loosens: bool) -> Result<(), Illegal> {
        match authority::allows(self.op, loosens, &self.by) {
            true => Ok(()),
            false => Err(Illegal::PersonNeeded(self.by.clone())),
        }
    }

    /// A person's step of a gate, with the proof that they are one.
    fn decided(
        &self,
        goal: &GoalId,
        id: &GateId,
        before: &Gate,
        after: &Gate,
        record: &Record,
    ) -> Result<(), Illegal> {
        let other = || Illegal::Result { op: self.op, record: record.name() };
        let question = before.digest();
        let (decided, by, proof) = after.decided(self.op, goal, id, &question).ok_or_else(other)?;
        let at = decided.at;
        self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at })?;
        if let Proof::Terminal { typed } = proof {
            // The first release asked for the id alone.
            self.comes_out(record, *typed == before.word(id, decided.decision) || typed == id.as_str())?;
        }
        let proven = Proven { person: by.clone(), proof: proof.clone() };
        let again = match (self.op, decided.seen, decided.note) {
            (Op::GateResolve, Some(seen), note) => {
                let decision = decided.decision.parse().map_err(|_| other())?;
                before.resolve(id, decision, proven, at, note.cloned(), seen.clone())?
            }
            (Op::GateWithdraw, None, Some(reason)) => before.withdraw(id, proven, at, reason.clone())?,
            (Op::GateReopen, None, Some(reason)) => before.reopen(id, proven, at, reason.clone())?,
            _ => return Err(other()),
        };
        self.comes_out(record, again == *after)?;
        let statement = |nonce: &str| Statement::at_gate(&self.policy.repository, &decided, nonce);
        self.policy.accept(proof, at, statement)?;
        Ok(())
    }

    /// A change of the policy, by what the policy before it asks for.
    fn amended(&self, before: &Policy, after: &Policy, record: &Record) -> Result<(), Illegal> {
        let other = || Illegal::Result { op: self.op, record: record.name() };
        let amendment = Amendment::between(before, after).ok_or_else(other)?;
        let changed = after.changed.as_ref().ok_or_else(other)?;
        self.comes_out(record, amendment.op() == self.op)?;
        self.must_be_allowed(amendment.loosens())?;
        let stamp = Stamp { by: changed.by.clone(), at: changed.at };
        self.is_mine(record, &stamp)?;
        self.comes_out(record, before.amend(&amendment, &stamp, changed.proof.clone())? == *after)?;
        match &changed.proof {
            None if amendment.loosens() => Err(other()),
            None => Ok(()),
            Some(proof) => {
                if let Proof::Terminal { typed } = proof {
                    self.comes_out(record, typed == amendment.word())?;
                }
                before.accept(proof, stamp.at, |nonce| before.statement(&amendment, stamp.at, nonce))?;
                Ok(())
            }
        }
    }

    /// The signature that a legal mutation rests on, if it rests on one: it has still to be shown that it is one.
    pub fn signed(&self) -> Option<Signed> {
        match self.steps.first().map(|step| (&step.before, &step.after)) {
            Some((Some(Record::Gate(_, _, before)), Some(Record::Gate(goal, id, after)))) => {
                let question = before.digest();
                let (decided, _, proof) = after.decided(self.op, goal, id, &question)?;
                let statement = |nonce: &str| Statement::at_gate(&self.policy.repository, &decided, nonce);
                self.policy.accept(proof, decided.at, statement).ok()?
            }
            Some((Some(Record::Policy(before)), Some(Record::Policy(after)))) => {
                let amendment = Amendment::between(before, after)?;
                let changed = after.changed.as_ref()?;
                let statement = |nonce: &str| before.statement(&amendment, changed.at, nonce);
                before.accept(changed.proof.as_ref()?, changed.at, statement).ok()?
            }
            _ => None,
        }
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
        let BypassState::Acknowledged { by, at, note, proof } = &after.state else {
            return Err(Illegal::Result { op: self.op, record: record.name() });
        };
        self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
        let is_typed = matches!(proof, Proof::Terminal { typed } if typed == id.as_str());
        self.comes_out(record, is_typed)?;
        let proven = Proven { person: by.clone(), proof: proof.clone() };
        let again = before.acknowledge(id, proven, *at, note.clone())?;
        self.comes_out(record, again == *after)
    }

    /// Values that look like secrets: a person adds one, and anybody takes one away.
    fn let_through(&self, before: &Policy, after: &Policy, record: &Record) -> Result<(), Illegal> {
        if self.op == Op::SecretForbid {
            let gone = before.allowed_secrets.iter().find(|allowed| !after.allowed_secrets.contains(allowed));
            let expected = gone.map(|gone| before.without_secret(&gone.digest));
            return self.comes_out(record, expected.as_ref() == Some(after));
        }
        let Some(added) = after.allowed_secrets.last() else {
            return Err(Illegal::Result { op: self.op, record: record.name() });
        };
        self.is_mine(record, &Stamp { by: Actor::Person(added.by.clone()), at: added.at })?;
        let is_typed = matches!(&added.proof, Proof::Terminal { typed } if typed == added.digest.challenge());
        self.comes_out(record, is_typed)?;
        let proven = Proven { person: added.by.clone(), proof: added.proof.clone() };
        let again = before.allow_secret(added.digest.clone(), added.reason.clone(), proven, added.at);
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
        let about = answered.todos.contains(id) || !answered.is_rejected() && before.is_blocked_on(gate);
        if (of, to) != (goal, goal) || id != same || !about {
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

    /// A todo as adding makes it.
    fn added(&self, record: &Record, todo: &Todo) -> Result<(), Illegal> {
        self.is_mine(record, &todo.added)?;
        let fresh =
            todo.monitor.as_ref().is_none_or(|monitor| *monitor == Monitor::new(monitor.every, self.at));
        self.comes_out(record, fresh && todo.state == TodoState::Open { epoch: 0 })
    }

    fn worked(
        &self,
        id: &TodoId,
        before: &Todo,
        after: &Todo,
        record: &Record,
        passed: Option<CommandLine>,
    ) -> Result<(), Illegal> {
        let stamp = Stamp { by: self.by.clone(), at: self.at };
        let mut again = match (self.op, &after.state) {
            (Op::TodoClaim, TodoState::Claimed { lease_until, .. }) => {
                self.must_not_be_stopped(id)?;
                before.claim(id, &stamp, self.at.age(*lease_until))?
            }
            (Op::TodoRenew, TodoState::Claimed { lease_until, .. }) => {
                before.renew(id, &stamp, Some(self.at.age(*lease_until)))?
            }
            (Op::TodoRelease, _) => before.release(id, &self.by)?,
            (Op::TodoDone, TodoState::Done { evidence, note, .. }) => {
                self.must_not_be_stopped(id)?;
                let (evidence, note) = (evidence.clone(), note.clone());
                before.complete(id, &stamp, Outcome { evidence, note, passed })?
            }
            (Op::TodoBlock, TodoState::Blocked { on, reason, .. }) => {
                if let Some(gate) = on.iter().find(|gate| !self.gates.contains_key(gate)) {
                    return Err(Refusal::UnknownGate(gate.clone()).into());
                }
                before.block(id, &stamp, on.clone(), reason.clone())?
            }
            (Op::TodoUnblock, _) => {
                if let Some((gate_id, gate)) = self.gates.iter().find(|(gate, _)| before.is_blocked_on(gate))
                {
                    return Err(gate.refuse(gate_id, id).into());
                }
                before.unblock(id, &stamp)?
            }
            (Op::TodoDrop, TodoState::Dropped { reason, .. }) => {
                if self.by.agent().is_some() {
                    self.must_not_be_stopped(id)?;
                }
                before.drop(id, &stamp, reason.clone())?
            }
            (Op::TodoReopen, _) => before.reopen(id, &stamp)?,
            (Op::TodoEdit, _) => before.edited(id, &stamp, after.clone())?,
            _ => return Err(Illegal::Result { op: self.op, record: record.name() }),
        };
        as_once_written(&mut again.state, &after.state);
        self.comes_out(record, again == *after)
    }

    /// A turn that begins with what it takes, and turns that nobody had ended.
    fn turn_begun(&self, pairs: &[(Option<&Record>, Option<&Record>)]) -> Result<(), Illegal> {
        let stamp = Stamp { by: self.by.clone(), at: self.at };
        let (mut begun, mut taken, mut lost) = (None, None, false);
        for pair in pairs {
            match pair {
                (None, Some(record @ Record::Spend(_, id, spend))) if begun.is_none() => {
                    self.is_mine(record, &spend.added)?;
                    let course = spend.course.as_ref().ok_or_else(|| self.shape())?;
                    let (turn, todo) = (spend.turn.clone(), course.todo.clone());
                    let again = Spend::begin(turn, spend.slots.min(1), todo, course.until, stamp.clone());
                    self.comes_out(record, again == *spend && *id == SpendId::of_turn(&spend.turn))?;
                    begun = Some(course);
                }
                (Some(Record::Spend(goal, id, before)), Some(record @ Record::Spend(other, same, after)))
                    if (goal, id) == (other, same) =>
                {
                    self.comes_out(record, before.lose(&stamp)? == *after)?;
                    lost = true;
                }
                (Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after)))
                    if (goal, id) == (other, same) && taken.is_none() =>
                {
                    self.doing(Op::TodoClaim).worked(id, before, after, record, None)?;
                    taken = Some(id);
                }
                _ => return Err(self.shape()),
            }
        }
        let takes_its_own = match (begun, taken) {
            (_, None) => true,
            (Some(course), Some(taken)) => course.todo.as_ref() == Some(taken),
            (None, Some(_)) => false,
        };
        match takes_its_own && (begun.is_some() || lost) {
            true => Ok(()),
            false => Err(self.shape()),
        }
    }

    /// A turn that ends, with what becomes of its todo and what was seen.
    fn turn_ended(&self, pairs: &[(Option<&Record>, Option<&Record>)]) -> Result<(), Illegal> {
        let mut turn = None;
        let mut seen = None;
        let mut work = None;
        for pair in pairs {
            match pair {
                (Some(Record::Spend(goal, id, before)), Some(record @ Record::Spend(other, same, after)))
                    if (goal, id) == (other, same) && turn.is_none() =>
                {
                    let end = after.course.as_ref().and_then(|course| course.end.clone());
                    let end = end.ok_or_else(|| self.shape())?;
                    self.is_mine(record, &Stamp { by: end.by.clone(), at: end.at })?;
                    let is_lost = end.outcome == super::turn::Outcome::Lost;
                    let again = before.end(end, after.slots, after.evidence.clone())?;
                    self.comes_out(record, again == *after && !is_lost)?;
                    turn = Some(after);
                }
                (None, Some(record @ Record::Evidence(_, id, evidence))) if seen.is_none() => {
                    self.is_mine(record, &evidence.added)?;
                    seen = Some((id, evidence, *record));
                }
                (Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after)))
                    if (goal, id) == (other, same) && work.is_none() =>
                {
                    work = Some((id, before, after, *record));
                }
                _ => return Err(self.shape()),
            }
        }
        let turn = turn.ok_or_else(|| self.shape())?;
        let about = turn.course.as_ref().and_then(|course| course.todo.as_ref());
        if let Some((id, evidence, record)) = seen {
            self.comes_out(record, evidence.todo.as_ref() == about && turn.evidence.contains(id))?;
        }
        let Some((id, before, after, record)) = work else { return Ok(()) };
        let (op, passed) = match &after.state {
            TodoState::Open { .. } => (Op::TodoRelease, None),
            TodoState::Blocked { on: None, .. } => (Op::TodoBlock, None),
            TodoState::Done { evidence: rests_on, .. } => {
                let passed = seen.and_then(|(id, evidence, _)| match &evidence.what {
                    Finding::Check { argv, .. } if rests_on.contains(id) => Some(argv.clone()),
                    _ => None,
                });
                (Op::TodoDone, passed)
            }
            _ => return Err(self.shape()),
        };
        self.comes_out(record, about == Some(id))?;
        self.doing(op).worked(id, before, after, record, passed)
    }

    /// The same mutation, as one of another kind.
    fn doing(&self, op: Op) -> Self {
        Self { op, ..self.clone() }
    }

    /// One todo is changed, and others are added because of that.
    fn branched(&self, pairs: &[(Option<&Record>, Option<&Record>)]) -> Result<(), Illegal> {
        let stamp = Stamp { by: self.by.clone(), at: self.at };
        let mut changed = None;
        let mut fresh = Vec::new();
        for pair in pairs {
            match pair {
                (Some(Record::Todo(goal, id, before)), Some(record @ Record::Todo(other, same, after)))
                    if (goal, id) == (other, same) && changed.is_none() =>
                {
                    changed = Some((id, before, after, *record));
                }
                (None, Some(record @ Record::Todo(_, id, todo))) => fresh.push((id, todo, *record)),
                _ => return Err(self.shape()),
            }
        }
        let Some((id, before, after, record)) = changed else { return Err(self.shape()) };
        self.must_not_be_stopped(id)?;
        let made = |todo: &Todo| match self.op {
            Op::TodoSplit => before.part(todo.title.clone(), stamp.clone()),
            _ => before.follow_up(id, todo.title.clone(), stamp.clone()),
        };
        for (_, todo, record) in &fresh {
            self.added(record, todo)?;
            self.comes_out(record, made(todo) == **todo)?;
        }
        if self.op == Op::TodoSplit {
            let parts = fresh.iter().map(|(id, ..)| (*id).clone()).collect();
            return self.comes_out(record, !fresh.is_empty() && before.split(id, &stamp, &parts)? == *after);
        }
        let seen = after.monitor.as_ref().and_then(|monitor| monitor.fingerprint.clone());
        let looks = [Some(Looked::Same), Some(Looked::Changed(seen.clone())), seen.map(Looked::Saw)];
        let mut as_looked = false;
        for looked in looks.into_iter().flatten() {
            let (again, new) = before.poll(id, &stamp, looked)?;
            as_looked |= again == *after && (new || fresh.is_empty());
        }
        self.comes_out(record, as_looked && fresh.len() <= 1)
    }

    /// A goal that is stopped, goes on, or is over.
    fn turned(&self, id: &GoalId, before: &Goal, after: &Goal, record: &Record) -> Result<(), Illegal> {
        let stamp = Stamp { by: self.by.clone(), at: self.at };
        let again = match (self.op, &after.state) {
            (Op::GoalMeet, _) => {
                let numbers = 1..=before.done_when.len();
                let found: Vec<_> = numbers.map(|number| (number, after.met(number).cloned())).collect();
                before.meet(id, &found)?
            }
            (Op::GoalPause, GoalState::Paused { reason, .. }) => before.pause(id, &stamp, reason.clone())?,
            (Op::GoalResume, GoalState::Active {}) => before.resume(id)?,
            (Op::GoalAchieve, GoalState::Achieved { by, at, evidence }) => {
                self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
                let open = self.gates.iter().filter(|(_, gate)| gate.is_open());
                let gates: Vec<GateId> = open.map(|(id, _)| id.clone()).collect();
                if !gates.is_empty() {
                    return Err(Refusal::GoalGated { goal: id.clone(), gates }.into());
                }
                before.achieve(id, by.clone(), *at, evidence.iter().cloned().map(Some).collect())?
            }
            (Op::GoalAbandon, GoalState::Abandoned { by, at, reason }) => {
                self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
                before.abandon(id, by.clone(), *at, reason.clone())?
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

    /// A booking that a person takes out of the count.
    fn voided(&self, before: &Spend, after: &Spend, record: &Record) -> Result<(), Illegal> {
        let Some(Voided { by, at, reason, proof }) = &after.voided else {
            return Err(Illegal::Result { op: self.op, record: record.name() });
        };
        self.is_mine(record, &Stamp { by: Actor::Person(by.clone()), at: *at })?;
        let is_typed = matches!(proof, Proof::Terminal { typed } if typed == before.turn.as_str());
        self.comes_out(record, is_typed)?;
        let proven = Proven { person: by.clone(), proof: proof.clone() };
        self.comes_out(record, before.void(proven, *at, reason.clone())? == *after)
    }

    /// A burst that a person grants to one goal.
    fn granted(&self, before: &Quotas, after: &Quotas, record: &Record) -> Result<(), Illegal> {
        let other = || Illegal::Result { op: self.op, record: record.name() };
        let (goal, new) =
            after.iter().find(|(goal, new)| before.get(*goal) != Some(*new)).ok_or_else(other)?;
        let grant = new.grants().last().ok_or_else(other)?;
        self.is_mine(record, &Stamp { by: Actor::Person(grant.by.clone()), at: grant.at })?;
        let burst = Burst { slots: grant.slots, until: grant.until };
        let is_typed = matches!(&grant.proof, Proof::Terminal { typed } if *typed == burst.word());
        self.comes_out(record, is_typed)?;
        let proven = Proven { person: grant.by.clone(), proof: grant.proof.clone() };
        let old = before.get(goal).cloned().unwrap_or_default();
        let again = old.grant(goal, burst, proven, grant.at, grant.reason.clone())?;
        let expected = before.iter().map(|(goal, quota)| (goal.clone(), quota.clone()));
        let expected: Quotas = expected.chain([(goal.clone(), again)]).collect();
        self.comes_out(record, expected == *after)
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
                (Some(Record::Quotas(before)), Some(record @ Record::Quotas(after))) => {
                    self.comes_out(record, grants(before) == grants(after))?;
                    loosens |= raises(before, after)
                }
                _ => return Err(self.shape()),
            }
        }
        self.must_be_allowed(loosens)
    }
}

/// Leaves out of a state what earlier versions did not write when `stored` lacks it.
fn as_once_written(state: &mut TodoState, stored: &TodoState) {
    match (state, stored) {
        (TodoState::Claimed { lease, .. }, TodoState::Claimed { lease: None, .. }) => *lease = None,
        (TodoState::Done { epoch, .. }, TodoState::Done { epoch: 0, .. }) => *epoch = 0,
        _ => {}
    }
}

/// What was granted to each goal that was granted anything.
fn grants(quotas: &Quotas) -> BTreeMap<&GoalId, &[Grant]> {
    let granted = quotas.iter().map(|(goal, quota)| (goal, quota.grants()));
    granted.filter(|(_, grants)| !grants.is_empty()).collect()
}

/// Whether any goal may use more after than before.
fn raises(before: &Quotas, after: &Quotas) -> bool {
    let goals: BTreeSet<&GoalId> = before.keys().chain(after.keys()).collect();
    let of = |quotas: &Quotas, goal: &GoalId| quotas.get(goal).cloned().unwrap_or_default();
    goals.into_iter().any(|goal| {
        let (before, after): (Quota, Quota) = (of(before, goal), of(after, goal));
        !after.is_at_most(&before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        gate::{GateState, Seen},
        policy::{Approval, RepositoryId},
        quota::Quota,
        samples::{actor, at, gate, gate_id, goal_id, loop_with, proven, stamp, todo, todo_id},
    };

    const ANN: &str = "Ann <ann@example.test>";

    fn mutation(op: Op, by: &str, time: &str, steps: Vec<(Option<Record>, Option<Record>)>) -> Mutation {
        let steps = steps.into_iter().map(|(before, after)| Step { before, after }).collect();
        let policy = Policy::new(RepositoryId::new(&[7; 16]));
        let (gates, standing) = (BTreeMap::new(), Vec::new());
        Mutation { op, by: actor(by), at: at(time), steps, policy, gates, standing }
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
        let done = open.complete(&id, &stamp("agent:a", "10:05"), Outcome::default()).unwrap();
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
        let plain = Policy::new(RepositoryId::new(&[7; 16]));
        let set = |by: &str, before: &Policy, required: bool, typed: Option<&str>| {
            let proof = typed.map(|typed| Proof::Terminal { typed: typed.into() });
            before.amend(&Amendment::Receipt(required), &stamp(by, "10:00"), proof).unwrap()
        };
        let step = |by: &str, before: &Policy, after: &Policy| {
            let record = |policy: &Policy| Some(Record::Policy(policy.clone()));
            mutation(Op::PolicySet, by, "10:00", vec![(record(before), record(after))])
        };
        let strict = set("agent:a", &plain, true, None);
        assert_eq!(step("agent:a", &plain, &strict).judge(), Ok(()));
        let loose = set(ANN, &strict, false, Some("not-required"));
        assert_eq!(step(ANN, &strict, &loose).judge(), Ok(()));
        let by_agent = set("agent:a", &strict, false, Some("not-required"));
        illegal(&step("agent:a", &strict, &by_agent), "only a person may do that, and a did");
        for typed in [None, Some("required")] {
            let unproven = set(ANN, &strict, false, typed);
            illegal(&step(ANN, &strict, &unproven), "policy is not what `policy.set` makes of it");
        }
        let stolen = Policy { repository: RepositoryId::new(&[8; 16]), ..strict.clone() };
        illegal(&step("agent:a", &plain, &stolen), "policy is not what `policy.set` makes of it");
        let signed = Policy { approval: Approval::Signed, ..strict.clone() };
        illegal(
            &step("agent:a", &plain, &signed),
            "it is refused: nobody is listed whose signature would count",
        );
        illegal(
            &step(ANN, &signed, &set(ANN, &signed, false, Some("not-required"))),
            "it is refused: answers have to be signed by an approver here",
        );
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

    #[test]
    fn a_burst_is_granted_by_a_person_who_said_so_and_comes_in_no_other_way() {
        let (ship, none) = (goal_id("ship"), Quotas::new());
        let typed = |word: &str| Proven { proof: Proof::Terminal { typed: word.into() }, ..proven() };
        let granted = |word: &str| -> Quotas {
            let burst = Burst { slots: 4, until: at("12:00") };
            let grant =
                Quota::default().grant(&ship, burst, typed(word), at("10:00"), "why".parse().unwrap());
            [(ship.clone(), grant.unwrap())].into()
        };
        let grant = |op, by, after: Quotas| {
            mutation(op, by, "10:00", vec![(Some(Record::Quotas(none.clone())), Some(Record::Quotas(after)))])
        };
        assert_eq!(grant(Op::QuotaGrant, ANN, granted("grant 4")).judge(), Ok(()));
        illegal(
            &grant(Op::QuotaGrant, "agent:a", granted("grant 4")),
            "only a person may do that, and a did",
        );
        illegal(
            &grant(Op::QuotaGrant, "Bob <bob@example.test>", granted("grant 4")),
            "quota says another actor or time than the commit",
        );
        let unproven = "quota is not what `quota.grant` makes of it";
        illegal(&grant(Op::QuotaGrant, ANN, granted("y")), unproven);
        let mut more = granted("grant 4");
        more.insert(goal_id("other"), Quota::default());
        illegal(&grant(Op::QuotaGrant, ANN, more), unproven);
        for by in ["agent:a", ANN] {
            let configured = grant(Op::GoalConfigure, by, granted("grant 4"));
            illegal(&configured, "quota is not what `goal.configure` makes of it");
        }
    }

    #[test]
    fn a_booking_is_voided_by_a_person_who_said_so_and_changed_in_nothing_else() {
        let booked = crate::domain::samples::spend("x", 2, "09:00");
        let typed = |word: &str| Proven { proof: Proof::Terminal { typed: word.into() }, ..proven() };
        let voided =
            |word: &str| booked.void(typed(word), at("10:00"), "it crashed".parse().unwrap()).unwrap();
        let void = |by, after: Spend| {
            let record = |spend: &Spend| {
                Some(Record::Spend(goal_id("ship"), SpendId::of_turn(&spend.turn), spend.clone()))
            };
            mutation(Op::QuotaVoid, by, "10:00", vec![(record(&booked), record(&after))])
        };
        let id = SpendId::of_turn(&booked.turn);
        assert_eq!(void(ANN, voided("x")).judge(), Ok(()));
        illegal(&void("agent:a", voided("x")), "only a person may do that, and a did");
        let other = format!("spend/{id} is not what `quota.void` makes of it");
        illegal(&void(ANN, voided("y")), &other);
        illegal(&void(ANN, Spend { slots: 0, ..voided("x") }), &other);
        illegal(&void(ANN, Spend { slots: 0, ..booked.clone() }), &other);
        let mut spend = void("agent:a", voided("x"));
        spend.op = Op::QuotaSpend;
        assert!(spend.judge().is_err());
    }

    #[test]
    fn a_criterion_is_answered_by_anybody_and_nothing_else_is_changed_by_that() {
        let id = goal_id("ship");
        let goal = Goal::new("Ship it".parse().unwrap(), vec!["fast".parse().unwrap()], stamp(ANN, "08:00"));
        let answered = goal.meet(&id, &[(1, Some("e-0001".parse().unwrap()))]).unwrap();
        let meet = |before: &Goal, after: &Goal| {
            let record = |goal: &Goal| Some(Record::Goal(id.clone(), goal.clone()));
            mutation(Op::GoalMeet, "agent:a", "10:00", vec![(record(before), record(after))])
        };
        assert_eq!(meet(&goal, &answered).judge(), Ok(()));
        assert_eq!(meet(&answered, &goal).judge(), Ok(()));
        let mut easier = answered;
        easier.done_when.clear();
        illegal(&meet(&goal, &easier), "goal/ship is not what `goal.meet` makes of it");
    }

    fn step(op: Op, by: &str, before: &Todo, after: &Todo) -> Mutation {
        mutation(op, by, "10:00", vec![(todo_record(before), todo_record(after))])
    }

    #[test]
    fn what_happens_to_work_has_to_be_what_the_step_makes_of_it() {
        let (id, ann, agent) = (todo_id("t-7k3q"), stamp(ANN, "10:00"), stamp("agent:a", "10:00"));
        let why = || "because".parse().unwrap();
        let open = todo("p2");
        let persons = Todo { added: stamp(ANN, "09:00"), ..todo("p2") };
        let claimed = open.claim(&id, &stamp("agent:a", "09:30"), super::super::time::Seconds(2400)).unwrap();
        let legal = [
            (Op::TodoRenew, claimed.clone(), claimed.renew(&id, &agent, None)),
            (Op::TodoBlock, open.clone(), open.block(&id, &agent, None, why())),
            (Op::TodoDrop, open.clone(), open.drop(&id, &agent, why())),
        ];
        for (op, before, after) in &legal {
            let after = after.as_ref().unwrap();
            assert_eq!(step(*op, "agent:a", before, after).judge(), Ok(()), "{op:?}");
            let other = Todo { title: "Other".parse().unwrap(), ..after.clone() };
            assert!(step(*op, "agent:a", before, &other).judge().is_err(), "{op:?}");
            assert!(step(*op, "agent:b", before, after).judge().is_err(), "{op:?}");
            assert!(step(Op::TodoAdd, "agent:a", before, after).judge().is_err(), "{op:?}");
        }
        let dropped = persons.drop(&id, &ann, why()).unwrap();
        assert_eq!(step(Op::TodoDrop, ANN, &persons, &dropped).judge(), Ok(()));
        illegal(
            &step(Op::TodoDrop, "agent:a", &persons, &dropped),
            "it is refused: todo `t-7k3q` was added by Ann, and only a person may drop it",
        );
        illegal(
            &step(Op::TodoReopen, "agent:a", &dropped, &persons),
            "it is refused: todo `t-7k3q` was closed by Ann, and only a person may reopen it",
        );
        assert_eq!(step(Op::TodoReopen, ANN, &dropped, &persons).judge(), Ok(()));
        let blocked = open.block(&id, &ann, None, why()).unwrap();
        assert_eq!(step(Op::TodoUnblock, ANN, &blocked, &open).judge(), Ok(()));
        illegal(
            &step(Op::TodoUnblock, "agent:a", &blocked, &open),
            "it is refused: todo `t-7k3q` was blocked by Ann, and only a person may unblock it",
        );
        let gates: BTreeMap<_, _> = [(gate_id("bucket"), gate(&["t-7k3q"]))].into();
        let by_agent = step(Op::TodoDrop, "agent:a", &open, &open.drop(&id, &agent, why()).unwrap());
        illegal(
            &Mutation { gates: gates.clone(), ..by_agent },
            "it is refused: todo `t-7k3q` waits for gate `bucket`: \"Delete the bucket?\"",
        );
        let on = open.block(&id, &agent, Some(gate_id("bucket")), why()).unwrap();
        let block = step(Op::TodoBlock, "agent:a", &open, &on);
        illegal(&block, "it is refused: there is no gate `bucket`");
        assert_eq!(Mutation { gates: gates.clone(), ..block }.judge(), Ok(()));
        let free = Mutation { gates, ..step(Op::TodoUnblock, "agent:a", &on, &open) };
        assert!(free.judge().is_err());
    }

    #[test]
    fn a_check_is_not_weakened_and_not_left_out() {
        let id = todo_id("t-7k3q");
        let line = |text: &str| CommandLine::typed(text).unwrap();
        let check = super::super::todo::Check {
            argv: line("cargo test"),
            timeout: super::super::todo::Check::TIMEOUT,
        };
        let checked = Todo { check: Some(check), ..todo("p2") };
        assert_eq!(step(Op::TodoEdit, "agent:a", &todo("p2"), &checked).judge(), Ok(()));
        assert_eq!(step(Op::TodoEdit, ANN, &checked, &todo("p2")).judge(), Ok(()));
        illegal(
            &step(Op::TodoEdit, "agent:a", &checked, &todo("p2")),
            "it is refused: todo `t-7k3q` has a check, which agent `a` may not change or take away",
        );
        let evidence = |argv: &str, todo: &str| {
            let (argv, seconds) = (line(argv), super::super::time::Seconds(3));
            Some(Record::Evidence(
                goal_id("ship"),
                "e-0001".parse().unwrap(),
                super::super::evidence::Evidence {
                    commit: None,
                    dirty: false,
                    todo: Some(todo_id(todo)),
                    gate: None,
                    added: stamp("agent:a", "10:00"),
                    what: Finding::Check { argv, seconds, output: None },
                },
            ))
        };
        let outcome = Outcome {
            evidence: ["e-0001".parse().unwrap()].into(),
            note: None,
            passed: Some(line("cargo test")),
        };
        let done = checked.complete(&id, &stamp("agent:a", "10:00"), outcome).unwrap();
        let complete = |seen| {
            let work = (todo_record(&checked), todo_record(&done));
            mutation(Op::TodoDone, "agent:a", "10:00", vec![(None, seen), work])
        };
        assert_eq!(complete(evidence("cargo test", "t-7k3q")).judge(), Ok(()));
        illegal(
            &complete(evidence("true", "t-7k3q")),
            "it is refused: todo `t-7k3q` is done when `cargo test` exits with 0, and that was not seen",
        );
        illegal(
            &complete(evidence("cargo test", "t-0001")),
            "evidence/e-0001 is not what `todo.done` makes of it",
        );
        illegal(
            &step(Op::TodoDone, "agent:a", &checked, &done),
            "it is refused: todo `t-7k3q` is done when `cargo test` exits with 0, and that was not seen",
        );
    }

    #[test]
    fn parts_and_follow_ups_are_what_the_todo_makes_of_them() {
        let (id, agent) = (todo_id("t-7k3q"), stamp("agent:a", "10:00"));
        let new =
            |id: &str, todo: &Todo| (None, Some(Record::Todo(goal_id("ship"), todo_id(id), todo.clone())));
        let whole = todo("p1");
        let after = whole.split(&id, &agent, &[todo_id("t-0001")].into()).unwrap();
        let part = whole.part("Part".parse().unwrap(), agent.clone());
        let split = |part: &Todo, after: &Todo| {
            let steps = vec![new("t-0001", part), (todo_record(&whole), todo_record(after))];
            mutation(Op::TodoSplit, "agent:a", "10:00", steps)
        };
        assert_eq!(split(&part, &after).judge(), Ok(()));
        let urgent = Todo { priority: super::super::todo::Priority::P0, ..part.clone() };
        illegal(&split(&urgent, &after), "todo/t-0001 is not what `todo.split` makes of it");
        illegal(&split(&part, &whole), "todo/t-7k3q is not what `todo.split` makes of it");
        illegal(
            &step(Op::TodoSplit, "agent:a", &whole, &whole),
            "todo/t-7k3q is not what `todo.split` makes of it",
        );

        let every = super::super::time::Seconds(3600);
        let monitor = Todo { monitor: Some(Monitor::new(every, at("09:00"))), ..todo("p1") };
        let add = |todo: &Todo| mutation(Op::TodoAdd, "agent:a", "09:00", vec![new("t-0001", todo)]);
        assert_eq!(add(&monitor).judge(), Ok(()));
        let later = Todo { monitor: Some(Monitor::new(every, at("23:00"))), ..monitor.clone() };
        illegal(&add(&later), "todo/t-0001 is not what `todo.add` makes of it");
        let next = monitor.follow_up(&id, "Look".parse().unwrap(), agent.clone());
        for (looked, new_found) in [
            (Looked::Same, false),
            (Looked::Saw("x".parse().unwrap()), false),
            (Looked::Changed(None), true),
            (Looked::Changed(Some("x".parse().unwrap())), true),
        ] {
            let (after, _) = monitor.poll(&id, &agent, looked).unwrap();
            assert_eq!(step(Op::TodoPoll, "agent:a", &monitor, &after).judge(), Ok(()));
            let steps = vec![new("t-0001", &next), (todo_record(&monitor), todo_record(&after))];
            let followed = mutation(Op::TodoPoll, "agent:a", "10:00", steps);
            // A first fingerprint and a change to it look alike from outside.
            if after.monitor.as_ref().unwrap().unchanged > 0 || new_found {
                assert_eq!(followed.judge().is_ok(), new_found);
            }
            let mut forged = after.clone();
            forged.monitor.as_mut().unwrap().next_due = at("23:00");
            assert!(step(Op::TodoPoll, "agent:a", &monitor, &forged).judge().is_err());
        }
    }

    #[test]
    fn a_goal_is_paused_by_anybody_and_turned_otherwise_by_a_person() {
        let id = goal_id("ship");
        let goal = Goal::new("Ship it".parse().unwrap(), vec![], stamp(ANN, "08:00"));
        let ann: super::super::actor::Person = ANN.parse().unwrap();
        let turn = |op, by, before: &Goal, after: &Goal| {
            let record = |goal: &Goal| Some(Record::Goal(id.clone(), goal.clone()));
            mutation(op, by, "10:00", vec![(record(before), record(after))])
        };
        let paused = goal.pause(&id, &stamp("agent:a", "10:00"), None).unwrap();
        assert_eq!(turn(Op::GoalPause, "agent:a", &goal, &paused).judge(), Ok(()));
        let achieved = goal.achieve(&id, ann.clone(), at("10:00"), vec![]).unwrap();
        let abandoned = goal.abandon(&id, ann, at("10:00"), "no".parse().unwrap()).unwrap();
        for (op, before, after) in [
            (Op::GoalResume, &paused, &goal),
            (Op::GoalAchieve, &goal, &achieved),
            (Op::GoalAbandon, &goal, &abandoned),
        ] {
            assert_eq!(turn(op, ANN, before, after).judge(), Ok(()));
            illegal(&turn(op, "agent:a", before, after), "only a person may do that, and a did");
            assert!(turn(Op::GoalPause, ANN, before, after).judge().is_err());
        }
        let gated = turn(Op::GoalAchieve, ANN, &goal, &achieved);
        let gated = Mutation { gates: [(gate_id("bucket"), gate(&[]))].into(), ..gated };
        illegal(&gated, "it is refused: goal `ship` has open questions: `bucket`");
    }
}
