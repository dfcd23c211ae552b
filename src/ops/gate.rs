//! Gates: asking, looking, answering.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Ctx, Done, evidence::EvidenceView, goal::derived};
use crate::{
    domain::{
        actor::Proven,
        change::{Change, Op, Record},
        evidence::Evidence,
        gate::{Act, Approvals, Bind, Gate, Seen},
        id::{Choice, GateId, GoalId, TodoPrefix},
        policy::Policy,
        refusal::Refusal,
        scope::Scope,
        state::Loop,
        statement::{Decided, Statement},
        text::{Note, Title},
        time::Seconds,
    },
    error::Error,
    store::{
        Snapshot,
        message::subject,
        project::{Brings, ProjectCommit},
    },
};

/// A gate with its id, its goal, and how long ago it was asked (seconds).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct GateView {
    pub id: GateId,
    pub goal: GoalId,
    pub age_seconds: Seconds,
    #[serde(flatten)]
    pub gate: Gate,
}

/// Gates, the oldest question first.
#[derive(Debug, Serialize)]
pub struct Gates {
    pub gates: Vec<GateView>,
}

impl GateView {
    pub(super) fn of(ctx: &Ctx, goal: GoalId, id: GateId, gate: Gate) -> Self {
        Self { id, goal, age_seconds: gate.asked.at.age(ctx.now), gate }
    }
}

/// A question as it was asked.
#[derive(Debug, Clone)]
pub struct Question {
    pub goal: Option<GoalId>,
    /// Made from the question when absent.
    pub id: Option<GateId>,
    pub question: Title,
    pub options: Vec<Choice>,
    pub blocks: BTreeSet<Act>,
    pub todos: Vec<TodoPrefix>,
    pub scope: Scope,
    /// Asked again for every commit, and what a yes is a yes to.
    pub standing: Option<Bind>,
    /// How many approvers have to say yes.
    pub approvals: Approvals,
}

/// Opens a gate. Anybody may: it only tightens.
pub fn open(ctx: &Ctx, question: &Question) -> Result<Done<GateView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let goal = ctx.active_goal(snapshot, question.goal.as_ref())?;
        let taken = |id: &GateId| Ok(snapshot.gate(&goal, id)?.is_some());
        let id = match &question.id {
            Some(id) if taken(id)? => return Err(Refusal::GateExists(id.clone()).into()),
            Some(id) => id.clone(),
            None => derived(question.question.as_str(), "gate", taken)?,
        };
        let todos = question
            .todos
            .iter()
            .map(|prefix| super::todo::find_open_in(snapshot, &goal, prefix))
            .collect::<Result<_, _>>()?;
        let asked = question.question.clone();
        let gate = Gate::new(asked, question.options.clone(), question.blocks.clone(), todos, stamp.clone())
            .within(question.scope.clone())
            .needing(question.approvals);
        let gate = match question.standing {
            Some(bind) => gate.standing(bind)?,
            None => gate,
        };
        let change = Change {
            op: Op::GateOpen,
            subject: subject(&format!("open gate {id}"), &question.question),
            body: None,
            goal: Some(goal.clone()),
            turn: None,
            puts: vec![Record::Gate(goal.clone(), id.clone(), gate.clone())],
        };
        Ok((Some(change), GateView::of(ctx, goal, id, gate)))
    })
}

/// The gates in force, of one goal or of all; with `all`, the recently closed ones, too.
pub fn list(ctx: &Ctx, goal: Option<&GoalId>, all: bool) -> Result<Gates, Error> {
    let snapshot = ctx.store.read()?;
    let goals = match goal {
        Some(goal) => vec![ctx.goal_id(&snapshot, Some(goal))?],
        None => snapshot.goals()?,
    };
    let mut gates = Vec::new();
    for goal in goals {
        let mut found = snapshot.gates(&goal)?;
        if all {
            found.extend(snapshot.closed_gates(&goal)?);
        }
        gates.extend(found.into_iter().map(|(id, gate)| GateView::of(ctx, goal.clone(), id, gate)));
    }
    gates.sort_by_key(|view| view.gate.asked.at);
    Ok(Gates { gates })
}

/// The command that gives the first of the answers which a gate still takes, and all of these.
pub(super) fn answering(id: &GateId, gate: &Gate) -> (String, Vec<Choice>) {
    let options: Vec<Choice> = gate.answers().into_iter().cloned().collect();
    let first = options.first().map(|option| format!(" --decision {option}")).unwrap_or_default();
    (format!("loopx gate resolve {id}{first}"), options)
}

/// The gates that wait for an answer, the most urgent first: those that hold work up before those that do not, and among
/// them the oldest question. A standing gate waits when the commit that is checked out was not answered about.
pub fn waiting(ctx: &Ctx, goal: Option<&GoalId>) -> Result<Gates, Error> {
    ctx.store.trusted()?;
    let head = ctx.store.git().head()?.map(|head| head.commit);
    let mut gates = list(ctx, goal, false)?;
    gates.gates.retain(|GateView { gate, .. }| {
        gate.is_open() || gate.bind().is_some() && !gate.answered().any(|seen| Some(seen) == head.as_deref())
    });
    gates.gates.sort_by_key(|view| view.gate.urgency());
    Ok(gates)
}

/// How many gates are in force, in a state that can be relied on.
pub fn in_force(ctx: &Ctx) -> Result<usize, Error> {
    ctx.store.trusted()?;
    Ok(list(ctx, None, false)?.gates.len())
}

/// One gate, in force or closed.
pub fn show(ctx: &Ctx, goal: Option<&GoalId>, id: &GateId) -> Result<GateView, Error> {
    find(ctx, &ctx.store.read()?, goal, id)
}

fn find(ctx: &Ctx, snapshot: &Snapshot<'_>, goal: Option<&GoalId>, id: &GateId) -> Result<GateView, Error> {
    let mut goals = match goal.or(ctx.goal.as_ref()) {
        Some(goal) => vec![ctx.goal_id(snapshot, Some(goal))?],
        None => snapshot.goals_with_gate(id)?,
    };
    let unknown = || Refusal::UnknownGate(id.clone());
    if goals.len() > 1 {
        return Err(Refusal::GateInSeveralGoals { gate: id.clone(), goals }.into());
    }
    let goal = goals.pop().ok_or_else(unknown)?;
    let gate = snapshot.gate(&goal, id)?.ok_or_else(unknown)?;
    Ok(GateView::of(ctx, goal, id.clone(), gate))
}

/// What a person should have in front of them before they answer.
#[derive(Debug)]
pub struct Asked {
    pub view: GateView,
    pub decision: Choice,
    /// The project's commit the answer is about; none in a project without commits.
    pub commit: Option<ProjectCommit>,
    /// What that commit would take along, if it can be told.
    pub brings: Option<Brings>,
    /// What was seen of the gate and of its todos, the newest first.
    pub evidence: Vec<EvidenceView>,
}

impl Asked {
    /// What a person signs who gives the answer.
    pub fn statement(&self, ctx: &Ctx, policy: &Policy, note: Option<&Note>, nonce: &str) -> Statement {
        let seen = self.seen();
        let decided = Decided {
            goal: &self.view.goal,
            gate: &self.view.id,
            question: &seen.question,
            seen: Some(&seen),
            decision: self.decision.as_str(),
            note,
            at: ctx.now,
        };
        Statement::at_gate(&policy.repository, &decided, nonce)
    }

    /// What the record says of it.
    fn seen(&self) -> Seen {
        Seen {
            question: self.view.gate.digest(),
            commit: self.commit.as_ref().map(|commit| commit.commit.clone()),
            tree: self.commit.as_ref().map(|commit| commit.tree.clone()),
        }
    }
}

/// Prepares an answer: finds the gate and the commit it is about, and refuses what could not be answered anyway.
pub fn asked(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    id: &GateId,
    decision: Choice,
    revision: Option<&str>,
) -> Result<Asked, Error> {
    let snapshot = ctx.store.trusted()?;
    let view = find(ctx, &snapshot, goal, id)?;
    view.gate.must_take(id, &decision)?;
    let commit = match revision {
        Some(revision) => Some(ctx.store.git().revision(revision)?),
        None => ctx.store.git().head()?,
    };
    let brings = commit.as_ref().and_then(|commit| ctx.store.git().brings(&commit.commit).ok());
    let is_about = |evidence: &Evidence| {
        evidence.gate.as_ref() == Some(id)
            || evidence.todo.as_ref().is_some_and(|todo| view.gate.todos.contains(todo))
    };
    let seen = snapshot.evidence(&view.goal)?.into_iter().filter(|(_, evidence)| is_about(evidence));
    let mut evidence: Vec<_> =
        seen.map(|(id, evidence)| EvidenceView { id, goal: view.goal.clone(), evidence }).collect();
    evidence.sort_by_key(|view| std::cmp::Reverse((view.evidence.added.at, view.id.clone())));
    Ok(Asked { view, decision, commit, brings, evidence })
}

/// What a person does with a gate besides answering it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The question is taken back.
    Withdraw,
    /// A no is taken back.
    Reopen,
}

impl Step {
    /// As it is written on the command line, and in the history.
    pub fn word(self) -> &'static str {
        match self {
            Self::Withdraw => "withdraw",
            Self::Reopen => "reopen",
        }
    }

    fn op(self) -> Op {
        match self {
            Self::Withdraw => Op::GateWithdraw,
            Self::Reopen => Op::GateReopen,
        }
    }
}

/// What a person signs who takes a step.
pub fn statement_of_step(
    ctx: &Ctx,
    policy: &Policy,
    view: &GateView,
    step: Step,
    reason: &Note,
    nonce: &str,
) -> Statement {
    let question = view.gate.digest();
    let decided = Decided {
        goal: &view.goal,
        gate: &view.id,
        question: &question,
        seen: None,
        decision: step.word(),
        note: Some(reason),
        at: ctx.now,
    };
    Statement::at_gate(&policy.repository, &decided, nonce)
}

/// Prepares a step: finds the gate, and refuses what could not be done anyway.
pub fn before(ctx: &Ctx, goal: Option<&GoalId>, id: &GateId, step: Step) -> Result<GateView, Error> {
    let view = find(ctx, &ctx.store.trusted()?, goal, id)?;
    match step {
        Step::Withdraw => view.gate.must_be_in_force(id)?,
        Step::Reopen => view.gate.must_be_rejected(id)?,
    }
    Ok(view)
}

/// Takes the question of a gate back, or a no that was given to it, as a person who was proven to be one.
pub fn take_back(
    ctx: &Ctx,
    view: &GateView,
    step: Step,
    proven: &Proven,
    reason: &Note,
) -> Result<Done<GateView>, Error> {
    let (goal, id) = (&view.goal, &view.id);
    let (proven, reason) = (|| proven.clone(), || reason.clone());
    decide(ctx, view, step.op(), &format!("{} gate {id}", step.word()), Some(&reason()), |state, closed| {
        Ok(match (step, closed) {
            (Step::Withdraw, None) => state.withdraw(id, proven(), ctx.now, reason())?,
            (Step::Reopen, None) => state.reopen_gate(id, proven(), ctx.now, reason())?,
            (Step::Withdraw, Some(gate)) => {
                let gate = gate.withdraw(id, proven(), ctx.now, reason())?;
                vec![Record::Gate(goal.clone(), id.clone(), gate)]
            }
            (Step::Reopen, Some(gate)) => {
                let gate = gate.reopen(id, proven(), ctx.now, reason())?;
                vec![Record::Gate(goal.clone(), id.clone(), gate)]
            }
        })
    })
}

/// Answers the gate that was `asked`, as the person who was proven to have seen it.
pub fn resolve(
    ctx: &Ctx,
    asked: &Asked,
    proven: &Proven,
    note: Option<&Note>,
) -> Result<Done<GateView>, Error> {
    let (goal, id) = (&asked.view.goal, &asked.view.id);
    let seen = asked.seen();
    let decision = || asked.decision.clone();
    let subject = asked.decision.given_to(id);
    decide(ctx, &asked.view, Op::GateResolve, &subject, note, |state, closed| {
        let (proven, note, seen) = (proven.clone(), note.cloned(), seen.clone());
        Ok(match closed {
            None => state.resolve(id, decision(), proven, ctx.now, note, seen)?,
            Some(gate) => {
                let gate = gate.resolve(id, decision(), proven, ctx.now, note, seen)?;
                vec![Record::Gate(goal.clone(), id.clone(), gate)]
            }
        })
    })
}

/// One step of a person's at a gate. `step` makes the records; it gets the gate itself when that was closed since it was
/// shown, and the domain says how.
fn decide(
    ctx: &Ctx,
    view: &GateView,
    op: Op,
    subject: &str,
    body: Option<&Note>,
    step: impl Fn(&Loop, Option<&Gate>) -> Result<Vec<Record>, Error>,
) -> Result<Done<GateView>, Error> {
    let stamp = ctx.stamp()?;
    let (goal, id) = (&view.goal, &view.id);
    ctx.update(&stamp, |snapshot| {
        let state = ctx.goal_state(snapshot, Some(goal))?;
        let closed = match state.gates.contains_key(id) {
            true => None,
            false => Some(snapshot.gate(goal, id)?.ok_or_else(|| Refusal::UnknownGate(id.clone()))?),
        };
        let puts = step(&state, closed.as_ref())?;
        let before = closed.as_ref().or_else(|| state.gates.get(id));
        if let (Some(before), Some(Record::Gate(_, _, after))) = (before, puts.first()) {
            let (policy, question) = (snapshot.policy()?, before.digest());
            if let Some((decided, _, proof)) = after.decided(op, goal, id, &question) {
                let statement = |nonce: &str| Statement::at_gate(&policy.repository, &decided, nonce);
                super::policy::must_be_signed(ctx, snapshot, policy.accept(proof, decided.at, statement)?)?;
            }
        }
        let gate = puts.iter().find_map(|record| match record {
            Record::Gate(_, _, gate) => Some(gate.clone()),
            _ => None,
        });
        let gate = gate.unwrap_or_else(|| view.gate.clone());
        let change = Change {
            op,
            subject: subject.to_owned(),
            body: body.cloned(),
            goal: Some(goal.clone()),
            turn: None,
            puts,
        };
        Ok((Some(change), GateView::of(ctx, goal.clone(), id.clone(), gate)))
    })
}
