//! Gates: asking, looking, answering.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Ctx, Done, goal::derived};
use crate::{
    domain::{
        actor::Proven,
        change::{Change, Op, Record},
        gate::{Act, Gate, Seen},
        id::{Choice, GateId, GoalId, TodoPrefix},
        refusal::Refusal,
        scope::Scope,
        text::{Note, Title},
        time::Seconds,
    },
    error::Error,
    store::{Snapshot, message::subject, project::ProjectCommit},
};

/// A gate with its id, its goal, and how long ago it was asked (seconds).
#[derive(Debug, Serialize)]
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
            .within(question.scope.clone());
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
}

/// Prepares an answer: finds the gate and the commit it is about, and refuses what could not be answered anyway.
pub fn asked(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    id: &GateId,
    decision: Choice,
    revision: Option<&str>,
) -> Result<Asked, Error> {
    let view = find(ctx, &ctx.store.trusted()?, goal, id)?;
    view.gate.must_take(id, &decision)?;
    let commit = match revision {
        Some(revision) => Some(ctx.store.git().revision(revision)?),
        None => ctx.store.git().head()?,
    };
    Ok(Asked { view, decision, commit })
}

/// Answers the gate that was `asked`, as the person who was proven to have seen it.
pub fn resolve(
    ctx: &Ctx,
    asked: &Asked,
    proven: &Proven,
    note: Option<&Note>,
) -> Result<Done<GateView>, Error> {
    let stamp = ctx.stamp()?;
    let (goal, id) = (&asked.view.goal, &asked.view.id);
    let seen = Seen {
        question: asked.view.gate.digest(),
        commit: asked.commit.as_ref().map(|commit| commit.commit.clone()),
        tree: asked.commit.as_ref().map(|commit| commit.tree.clone()),
    };
    ctx.update(&stamp, |snapshot| {
        let state = ctx.goal_state(snapshot, Some(goal))?;
        let decision = asked.decision.clone();
        let puts = match state.gates.contains_key(id) {
            true => state.resolve(id, decision, proven.clone(), ctx.now, note.cloned(), seen.clone())?,
            // Closed since it was shown: the domain says how.
            false => {
                let gate = snapshot.gate(goal, id)?.ok_or_else(|| Refusal::UnknownGate(id.clone()))?;
                let gate =
                    gate.resolve(id, decision, proven.clone(), ctx.now, note.cloned(), seen.clone())?;
                vec![Record::Gate(goal.clone(), id.clone(), gate)]
            }
        };
        let resolved = puts.iter().find_map(|record| match record {
            Record::Gate(_, _, gate) => Some(gate.clone()),
            _ => None,
        });
        let view =
            GateView::of(ctx, goal.clone(), id.clone(), resolved.unwrap_or_else(|| asked.view.gate.clone()));
        let change = Change {
            op: Op::GateResolve,
            subject: asked.decision.given_to(id),
            body: note.cloned(),
            goal: Some(goal.clone()),
            turn: None,
            puts,
        };
        Ok((Some(change), view))
    })
}
