//! Todos: adding, looking, taking, giving back, completing.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        change::{Change, Op, Record},
        id::{Capability, EvidenceId, GoalId, TodoId, TodoPrefix},
        refusal::Refusal,
        state::Loop,
        text::{Note, Title},
        time::Seconds,
        todo::{Priority, Todo, TodoState, Worker},
    },
    error::Error,
    store::{Snapshot, message::subject, snapshot::Found},
};

/// A todo with its id and goal.
#[derive(Debug, Serialize)]
pub struct TodoView {
    pub id: TodoId,
    pub goal: GoalId,
    #[serde(flatten)]
    pub todo: Todo,
}

/// Todos, the most urgent first.
#[derive(Debug, Serialize)]
pub struct Todos {
    pub todos: Vec<TodoView>,
}

/// A todo as it was asked for.
#[derive(Debug, Clone)]
pub struct Request {
    pub goal: Option<GoalId>,
    pub title: Title,
    pub body: Option<Note>,
    pub for_: Worker,
    pub priority: Priority,
    pub needs: Vec<TodoPrefix>,
    pub requires: BTreeSet<Capability>,
}

/// Adds a todo. The same text twice makes two.
pub fn add(ctx: &Ctx, request: &Request) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let goal = ctx.active_goal(snapshot, request.goal.as_ref())?;
        let needs =
            request.needs.iter().map(|need| find_in(snapshot, &goal, need)).collect::<Result<_, _>>()?;
        let id = TodoId::draw(&ctx.entropy, snapshot.todo_population()?, |id| snapshot.todo_taken(id))?
            .ok_or(Refusal::NoFreeId)?;
        let todo = Todo {
            title: request.title.clone(),
            body: request.body.clone(),
            for_: request.for_,
            priority: request.priority,
            needs,
            requires: request.requires.clone(),
            added: stamp.clone(),
            state: TodoState::Open { epoch: 0 },
        };
        let change = Change {
            op: Op::TodoAdd,
            subject: subject(&format!("add todo {id}"), &request.title),
            body: None,
            goal: Some(goal.clone()),
            turn: None,
            puts: vec![Record::Todo(goal.clone(), id.clone(), todo.clone())],
        };
        Ok((Some(change), TodoView { id, goal, todo }))
    })
}

/// The todos that are not closed, of one goal or of all; with `all`, the recently closed ones, too.
pub fn list(ctx: &Ctx, goal: Option<&GoalId>, all: bool) -> Result<Todos, Error> {
    let snapshot = ctx.store.read()?;
    let goals = match goal {
        Some(goal) => vec![ctx.goal_id(&snapshot, Some(goal))?],
        None => snapshot.goals()?,
    };
    let mut todos = Vec::new();
    for goal in goals {
        let mut found = snapshot.todos(&goal)?;
        if all {
            found.extend(snapshot.closed_todos(&goal)?);
        }
        todos.extend(found.into_iter().map(|(id, todo)| TodoView { id, goal: goal.clone(), todo }));
    }
    todos.sort_by_key(order);
    Ok(Todos { todos })
}

/// Open work before closed, the urgent before the rest, the old before the new.
pub(super) fn order(view: &TodoView) -> impl Ord + use<> {
    (view.todo.is_closed(), view.todo.priority, view.todo.added.at, view.id.clone())
}

/// One todo, open or closed.
pub fn show(ctx: &Ctx, prefix: &TodoPrefix) -> Result<TodoView, Error> {
    let snapshot = ctx.store.read()?;
    let (goal, id) = find(&snapshot, prefix)?;
    let todo = snapshot.todo(&goal, &id)?.ok_or_else(|| Refusal::UnknownTodo(prefix.clone()))?;
    Ok(TodoView { id, goal, todo })
}

/// The todo that `prefix` means.
fn find(snapshot: &Snapshot<'_>, prefix: &TodoPrefix) -> Result<(GoalId, TodoId), Error> {
    match snapshot.find_todo(prefix)? {
        Found::Open(goal, id) | Found::Closed(goal, id) => Ok((goal, id)),
        Found::Nothing => Err(Refusal::UnknownTodo(prefix.clone()).into()),
        Found::Several(candidates) => {
            Err(Refusal::AmbiguousTodo { prefix: prefix.clone(), candidates }.into())
        }
    }
}

/// The todo of `goal` that `prefix` means.
fn find_in(snapshot: &Snapshot<'_>, goal: &GoalId, prefix: &TodoPrefix) -> Result<TodoId, Error> {
    match find(snapshot, prefix)? {
        (found, todo) if found == *goal => Ok(todo),
        (found, todo) => Err(Refusal::TodoInOtherGoal { todo, goal: found, wanted: goal.clone() }.into()),
    }
}

/// The open todo of `goal` that `prefix` means.
pub(super) fn find_open_in(
    snapshot: &Snapshot<'_>,
    goal: &GoalId,
    prefix: &TodoPrefix,
) -> Result<TodoId, Error> {
    let id = find_in(snapshot, goal, prefix)?;
    match snapshot.todo(goal, &id)? {
        Some(todo) if todo.is_closed() => Err(todo.refuse(&id).into()),
        Some(_) => Ok(id),
        None => Err(Refusal::UnknownTodo(prefix.clone()).into()),
    }
}

/// One step of one open todo: finds it, takes the step, and stores it under a subject that begins with `verb`.
fn step(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    op: Op,
    verb: &str,
    body: Option<&Note>,
    take: impl Fn(&Snapshot<'_>, &Loop, &TodoId) -> Result<Todo, Error>,
) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (goal, id) = find(snapshot, prefix)?;
        let state = ctx.goal_state(snapshot, Some(&goal))?;
        let todo = match state.todos.get(&id) {
            Some(_) => take(snapshot, &state, &id)?,
            // Closed: the todo itself says how.
            None => {
                let closed =
                    snapshot.todo(&goal, &id)?.ok_or_else(|| Refusal::UnknownTodo(prefix.clone()))?;
                return Err(closed.refuse(&id).into());
            }
        };
        let change = Change {
            op,
            subject: subject(&format!("{verb} todo {id}"), &todo.title),
            body: body.cloned(),
            goal: Some(goal.clone()),
            turn: None,
            puts: vec![Record::Todo(goal.clone(), id.clone(), todo.clone())],
        };
        Ok((Some(change), TodoView { id, goal, todo }))
    })
}

/// Takes a todo for `lease` from now on, or renews the caller's own claim.
pub fn claim(ctx: &Ctx, prefix: &TodoPrefix, lease: Seconds) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, prefix, Op::TodoClaim, "claim", None, |_, state, id| Ok(state.claim(id, &stamp, lease)?))
}

/// Gives a claim back.
pub fn release(ctx: &Ctx, prefix: &TodoPrefix) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, prefix, Op::TodoRelease, "release", None, |_, state, id| {
        Ok(state.todos[id].release(id, &stamp.by)?)
    })
}

/// Completes a todo, with evidence that exists.
pub fn done(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    evidence: &BTreeSet<EvidenceId>,
    note: Option<&Note>,
) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, prefix, Op::TodoDone, "complete", note, |snapshot, state, id| {
        for evidence in evidence {
            if !snapshot.has_evidence(&state.id, evidence)? {
                return Err(Refusal::UnknownEvidence(evidence.clone()).into());
            }
        }
        Ok(state.complete(id, &stamp, evidence.clone(), note.cloned())?)
    })
}
