//! The whole on one screen.

use serde::Serialize;

use super::{
    Ctx,
    enforcement::{self, Enforcement},
    gate::GateView,
    goal::QuotaView,
    todo::TodoView,
};
use crate::{
    domain::{goal::GoalState, id::GoalId, text::Title},
    error::{Error, Kind},
};

/// Goals, questions, open work, and whether the gate is in git's way.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Status {
    pub branch: String,
    /// The commit all of this was read from, in hex.
    pub tip: String,
    pub goals: Vec<GoalLine>,
    /// The gates in force, the oldest question first.
    pub gates: Vec<GateView>,
    /// The todos that are not closed, the most urgent first.
    pub todos: Vec<TodoView>,
    pub enforcement: Enforcement,
    /// Why the state is not to be relied on; null when it is.
    pub distrust: Option<Distrust>,
    /// What is wrong with the files in `.loopx/`; null when nothing is.
    pub view: Option<String>,
}

/// Why the state is not to be relied on, and what helps.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Distrust {
    pub problem: String,
    pub hints: Vec<String>,
}

/// A goal in one line.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct GoalLine {
    pub id: GoalId,
    pub objective: Title,
    pub state: GoalState,
    pub quota: QuotaView,
}

/// Reads all of it from one commit. Where that cannot be read because somebody made it by hand, the way back is told.
pub fn status(ctx: &Ctx) -> Result<Status, Error> {
    read(ctx).map_err(|error| match ctx.store.distrust().map(Error::from) {
        Some(distrust) if error.kind == Kind::Distrusted => Error { hints: distrust.hints, ..error },
        _ => error,
    })
}

fn read(ctx: &Ctx) -> Result<Status, Error> {
    let snapshot = ctx.store.read()?;
    let (mut goals, mut gates, mut todos) = (Vec::new(), Vec::new(), Vec::new());
    for state in snapshot.states()? {
        let id = state.id;
        let quota = QuotaView::of(&state.quota, &state.spends, ctx.now);
        goals.push(GoalLine {
            id: id.clone(),
            objective: state.goal.objective,
            state: state.goal.state,
            quota,
        });
        gates.extend(
            state.gates.into_iter().map(|(gate_id, gate)| GateView::of(ctx, id.clone(), gate_id, gate)),
        );
        todos.extend(state.todos.into_iter().map(|(todo_id, todo)| TodoView {
            id: todo_id,
            goal: id.clone(),
            todo,
        }));
    }
    gates.sort_by_key(|view| view.gate.asked.at);
    todos.sort_by_key(super::todo::order);
    Ok(Status {
        branch: ctx.store.git().branch()?,
        tip: snapshot.tip(),
        goals,
        gates,
        todos,
        enforcement: enforcement::probe(ctx),
        distrust: ctx
            .store
            .distrust()
            .map(Error::from)
            .map(|error| Distrust { problem: error.message, hints: error.hints }),
        view: ctx.store.view_trouble(&snapshot).map(|trouble| trouble.with_cure()),
    })
}
