//! Todos: adding, looking, taking, giving back, completing, and everything else that happens to work.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        actor::{Proven, Stamp},
        change::{Change, Op, Record},
        command::CommandLine,
        decision::{self, Asker, Obstacle},
        evidence::{Evidence, Finding},
        id::{Capability, EvidenceId, GateId, GoalId, Short, TodoId, TodoPrefix},
        refusal::Refusal,
        state::Loop,
        text::{Note, Title},
        time::{Seconds, Timestamp},
        todo::{Check, Looked, Monitor, Outcome, Priority, Todo, TodoState, Worker},
        worklist::{Need, Worklist},
    },
    error::{Error, Kind},
    store::{Snapshot, message::subject, snapshot::Found},
};

/// A todo with its id and goal.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
    pub check: Option<Check>,
    /// Makes it a monitor.
    pub every: Option<Seconds>,
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
            check: request.check.clone(),
            monitor: request.every.map(|every| Monitor::new(every, stamp.at)),
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

/// Todos that were added together.
#[derive(Debug, Serialize)]
pub struct Added {
    pub todos: Vec<TodoView>,
    /// How many of them need others of the list.
    pub needing: usize,
    /// Items of the list that were done already, and left out.
    pub skipped: usize,
}

/// Adds everything of a list, in one commit or not at all.
pub fn add_all(ctx: &Ctx, goal: Option<&GoalId>, list: &Worklist) -> Result<Done<Added>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let goal = ctx.active_goal(snapshot, goal)?;
        let ids = fresh_ids(ctx, snapshot, list.entries.len())?;
        let mut todos = Vec::new();
        for (id, entry) in ids.iter().zip(&list.entries) {
            let needs = entry.needs.iter().map(|need| match need {
                Need::Entry(place) => Ok(ids[*place].clone()),
                Need::Known(prefix) => find_in(snapshot, &goal, prefix),
            });
            let todo = Todo {
                title: entry.title.clone(),
                body: entry.body.clone(),
                for_: entry.for_,
                priority: entry.priority,
                needs: needs.collect::<Result<_, Error>>()?,
                requires: entry.requires.iter().cloned().collect(),
                check: entry.check.clone(),
                monitor: entry.every.map(|every| Monitor::new(every, stamp.at)),
                added: stamp.clone(),
                state: TodoState::Open { epoch: 0 },
            };
            todos.push(TodoView { id: id.clone(), goal: goal.clone(), todo });
        }
        let needs_others = |todo: &&TodoView| todo.todo.needs.iter().any(|need| ids.contains(need));
        let needing = todos.iter().filter(needs_others).count();
        let added = Added { todos, needing, skipped: list.skipped };
        let Some(first) = added.todos.first() else { return Ok((None, added)) };
        let many = crate::text::Count(added.todos.len(), "todo");
        let change = Change {
            op: Op::TodoAdd,
            subject: subject(&format!("add {many}"), &first.todo.title),
            body: None,
            goal: Some(goal.clone()),
            turn: None,
            puts: added.todos.iter().map(TodoView::record).collect(),
        };
        Ok((Some(change), added))
    })
}

/// Ids for new todos, ascending, so that what was written first comes first.
fn fresh_ids(ctx: &Ctx, snapshot: &Snapshot<'_>, count: usize) -> Result<Vec<TodoId>, Error> {
    let population = snapshot.todo_population()? + count;
    let ids = super::import::ids(ctx, count, |entropy, drawn| {
        TodoId::draw(entropy, population, |id| {
            Ok::<_, Error>(drawn.contains(&Short::of(id)) || snapshot.todo_taken(id)?)
        })
    })?;
    Ok(ids.iter().map(Short::id).collect())
}

impl TodoView {
    fn record(&self) -> Record {
        Record::Todo(self.goal.clone(), self.id.clone(), self.todo.clone())
    }
}

/// Which todos are wanted: those that all of it fits.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub goal: Option<GoalId>,
    /// Closed ones, too: the latest, or with anything else asked for all there ever were.
    pub all: bool,
    /// A text in the title, the body, or why it was blocked or closed, whatever its case.
    pub search: Option<String>,
    pub states: Vec<String>,
    pub priorities: Vec<Priority>,
    pub for_: Option<Worker>,
    /// Who has it now, by name.
    pub claimed_by: Option<String>,
    /// A todo it needs.
    pub needs: Option<TodoPrefix>,
    pub requires: Option<Capability>,
    pub monitors: bool,
}

impl Filter {
    fn is_narrow(&self) -> bool {
        let Self { search, states, priorities, for_, claimed_by, needs, requires, monitors, .. } = self;
        search.is_some()
            || claimed_by.is_some()
            || needs.is_some()
            || requires.is_some()
            || for_.is_some()
            || *monitors
            || !states.is_empty()
            || !priorities.is_empty()
    }

    fn fits(&self, ctx: &Ctx, todo: &Todo) -> bool {
        let said = match &todo.state {
            TodoState::Blocked { reason, .. } | TodoState::Dropped { reason, .. } => Some(reason),
            TodoState::Done { note, .. } => note.as_ref(),
            TodoState::Open { .. } | TodoState::Claimed { .. } => None,
        };
        let has = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            let texts =
                [Some(todo.title.as_str()), todo.body.as_ref().map(Note::as_str), said.map(Note::as_str)];
            texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
        };
        let holder = todo.holder(ctx.now).map(|(by, _)| by);
        self.search.as_ref().is_none_or(has)
            && (self.states.is_empty() || self.states.iter().any(|state| state == todo.state.word()))
            && (self.priorities.is_empty() || self.priorities.contains(&todo.priority))
            && self.for_.is_none_or(|for_| for_ == todo.for_)
            && self.claimed_by.as_ref().is_none_or(|name| holder.is_some_and(|by| by.name() == name))
            && self
                .needs
                .as_ref()
                .is_none_or(|prefix| todo.needs.iter().any(|id| prefix.matches(id.as_str())))
            && self.requires.as_ref().is_none_or(|capability| todo.requires.contains(capability))
            && (!self.monitors || todo.monitor.is_some())
    }
}

/// The todos that are not closed and fit; with `all`, closed ones, too.
pub fn list(ctx: &Ctx, filter: &Filter) -> Result<Todos, Error> {
    let snapshot = ctx.store.read()?;
    let goals = match &filter.goal {
        Some(goal) => vec![ctx.goal_id(&snapshot, Some(goal))?],
        None => snapshot.goals()?,
    };
    let mut todos = Vec::new();
    for goal in goals {
        let mut found = snapshot.todos(&goal)?;
        match (filter.all, filter.is_narrow()) {
            (false, _) => {}
            (true, false) => found.extend(snapshot.closed_todos(&goal)?),
            (true, true) => found.extend(snapshot.all_closed_todos(&goal)?),
        }
        let fitting = found.into_iter().filter(|(_, todo)| filter.fits(ctx, todo));
        todos.extend(fitting.map(|(id, todo)| TodoView { id, goal: goal.clone(), todo }));
    }
    todos.sort_by_key(order);
    Ok(Todos { todos })
}

/// What the caller could claim now, and what keeps it from the rest.
#[derive(Debug, Serialize)]
pub struct Ready {
    pub goal: GoalId,
    /// The best first, in the order of `should-run`.
    pub todos: Vec<TodoView>,
    /// How many todos each obstacle keeps away; nothing for those that keep away none.
    pub kept_away: BTreeMap<&'static str, usize>,
}

pub(super) fn asker(ctx: &Ctx, can: BTreeSet<Capability>) -> Asker {
    Asker { agent: ctx.caller.agent().cloned(), can }
}

/// Looks what the caller could claim now.
pub fn ready(ctx: &Ctx, goal: Option<&GoalId>, can: BTreeSet<Capability>) -> Result<Ready, Error> {
    let snapshot = ctx.store.trusted()?;
    let state = ctx.goal_state(&snapshot, goal)?;
    state.goal.must_be_active(&state.id)?;
    let asker = asker(ctx, can);
    let mut kept_away = BTreeMap::new();
    for (id, todo) in &state.todos {
        if let Some(obstacle) = decision::obstacle(&state, &asker, ctx.now, id, todo) {
            *kept_away.entry(obstacle.word()).or_default() += 1;
        }
    }
    let free =
        decision::ready(&state, &asker, ctx.now).into_iter().filter(|id| state.gate_over(id).is_none());
    let todos =
        free.map(|id| TodoView { id: id.clone(), goal: state.id.clone(), todo: state.todos[id].clone() });
    Ok(Ready { todos: todos.collect(), goal: state.id.clone(), kept_away })
}

/// An obstacle in words, for so many todos.
pub fn said(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Person => "for a person",
        Obstacle::Blocked => "blocked",
        Obstacle::Yours => "yours already",
        Obstacle::Claimed => "claimed by others",
        Obstacle::Needs => "waiting for what they need",
        Obstacle::Capability => "asking for what this host cannot do",
        Obstacle::NotDue => "not due yet",
        Obstacle::Gate => "waiting for a gate",
    }
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
pub(super) fn find(snapshot: &Snapshot<'_>, prefix: &TodoPrefix) -> Result<(GoalId, TodoId), Error> {
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

/// What a step makes of a todo, with what else it puts there.
pub(super) struct Stepped {
    pub(super) todo: Todo,
    /// What the subject begins with.
    pub(super) what: String,
    more: Vec<Record>,
}

impl Stepped {
    fn new(todo: Todo, what: String) -> Self {
        Self { todo, what, more: Vec::new() }
    }
}

/// One step of one open todo: finds it, takes the step, and stores what that makes.
fn step(
    ctx: &Ctx,
    stamp: &Stamp,
    prefix: &TodoPrefix,
    op: Op,
    body: Option<&Note>,
    take: impl Fn(&Snapshot<'_>, &Loop, &TodoId) -> Result<Stepped, Error>,
) -> Result<Done<TodoView>, Error> {
    ctx.update(stamp, |snapshot| {
        let (goal, id) = find(snapshot, prefix)?;
        let state = open_state(ctx, snapshot, &goal, &id)?;
        let (change, view) = stepped(&goal, id.clone(), op, body, take(snapshot, &state, &id)?);
        Ok((Some(change), view))
    })
}

fn stepped(goal: &GoalId, id: TodoId, op: Op, body: Option<&Note>, stepped: Stepped) -> (Change, TodoView) {
    let Stepped { todo, what, more } = stepped;
    let view = TodoView { id, goal: goal.clone(), todo };
    let change = Change {
        op,
        subject: subject(&what, &view.todo.title),
        body: body.cloned(),
        goal: Some(goal.clone()),
        turn: None,
        puts: [view.record()].into_iter().chain(more).collect(),
    };
    (change, view)
}

/// The goal of an open todo. Refused by a closed one, which says how it was closed.
fn open_state(ctx: &Ctx, snapshot: &Snapshot<'_>, goal: &GoalId, id: &TodoId) -> Result<Loop, Error> {
    let state = ctx.goal_state(snapshot, Some(goal))?;
    if !state.todos.contains_key(id) {
        let prefix: TodoPrefix = id.as_str().parse().map_err(|_| Refusal::NoFreeId)?;
        let closed = snapshot.todo(goal, id)?.ok_or(Refusal::UnknownTodo(prefix))?;
        return Err(closed.refuse(id).into());
    }
    Ok(state)
}

/// What a claim is called: also whose it was before.
pub(super) fn claimed(ctx: &Ctx, id: &TodoId, todo: Todo) -> Stepped {
    let what = match &todo.state {
        TodoState::Claimed { by, since, taken_from: Some(from), .. } if from != by && *since == ctx.now => {
            format!("take over todo {id} from {}", from.name())
        }
        _ => format!("claim todo {id}"),
    };
    Stepped::new(todo, what)
}

/// Takes a todo for `lease` from now on, or renews the caller's own claim.
pub fn claim(ctx: &Ctx, prefix: &TodoPrefix, lease: Seconds) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoClaim, None, |_, state, id| {
        Ok(claimed(ctx, id, state.claim(id, &stamp, lease)?))
    })
}

/// Takes what `should-run` says this caller should work on, in one step: of several that ask at once each gets
/// another todo. Whoever has one already keeps that.
pub fn claim_next(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    can: BTreeSet<Capability>,
    lease: Seconds,
) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    let asker = asker(ctx, can);
    ctx.update(&stamp, |snapshot| {
        let state = ctx.goal_state(snapshot, goal)?;
        let decision = decision::next(&state, &asker, ctx.now);
        let id = decision.todo().ok_or_else(|| Refusal::NothingReady { goal: state.id.clone() })?;
        let taken = claimed(ctx, id, state.claim(id, &stamp, lease)?);
        let (change, view) = stepped(&state.id, id.clone(), Op::TodoClaim, None, taken);
        Ok((Some(change), view))
    })
}

/// Holds a claim for longer. Nothing is written while more than half of the lease remains.
pub fn renew(ctx: &Ctx, prefix: &TodoPrefix, lease: Option<Seconds>) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoRenew, None, |_, state, id| {
        Ok(Stepped::new(state.todos[id].renew(id, &stamp, lease)?, format!("renew the claim on todo {id}")))
    })
}

/// Gives a claim back.
pub fn release(ctx: &Ctx, prefix: &TodoPrefix) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoRelease, None, |_, state, id| {
        let released = state.todos[id].release(id, &stamp.by).map_err(|refusal| match refusal {
            // A person looks for no other work: they want it out of the agent's hands.
            Refusal::TodoClaimed { .. } if stamp.by.agent().is_none() => {
                Error::new(Kind::Refused, refusal.to_string())
                    .hint(format!("take it from them with `loopx todo block {id} --reason \"<why>\"`"))
            }
            refusal => refusal.into(),
        });
        Ok(Stepped::new(released?, format!("release todo {id}")))
    })
}

/// What completing a todo rests on, as it was named.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    pub evidence: BTreeSet<EvidenceId>,
    pub note: Option<Note>,
    /// The check that ran because [`to_run`] said so, and was passed.
    pub ran: Option<Ran>,
}

/// A check that was passed.
#[derive(Debug, Clone)]
pub struct Ran {
    pub argv: CommandLine,
    pub ended: Timestamp,
    /// What it printed, fit to keep.
    pub output: Option<Note>,
}

pub(super) fn complete(
    snapshot: &Snapshot<'_>,
    state: &Loop,
    id: &TodoId,
    stamp: &Stamp,
    completion: &Completion,
    of_check: Option<&EvidenceId>,
) -> Result<Todo, Error> {
    for evidence in &completion.evidence {
        if !snapshot.has_evidence(&state.id, evidence)? {
            return Err(Refusal::UnknownEvidence(evidence.clone()).into());
        }
    }
    let evidence = completion.evidence.iter().chain(of_check).cloned().collect();
    let passed = completion.ran.as_ref().map(|ran| ran.argv.clone());
    let outcome = Outcome { evidence, note: completion.note.clone(), passed };
    Ok(state.complete(id, stamp, outcome)?)
}

/// The check that has to be passed before the todo can be completed; nothing when it has none. Refused when completing
/// it would be refused for another reason.
pub fn to_run(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    completion: &Completion,
) -> Result<Option<(TodoId, Check)>, Error> {
    let snapshot = ctx.store.trusted()?;
    let (goal, id) = find(&snapshot, prefix)?;
    let state = open_state(ctx, &snapshot, &goal, &id)?;
    let Some(check) = state.todos[&id].check.clone() else { return Ok(None) };
    let ran = Some(Ran { argv: check.argv.clone(), ended: ctx.now, output: None });
    complete(&snapshot, &state, &id, &ctx.stamp()?, &Completion { ran, ..completion.clone() }, None)?;
    Ok(Some((id, check)))
}

/// Completes a todo, with evidence that exists. What the check printed becomes evidence with it.
pub fn done(ctx: &Ctx, prefix: &TodoPrefix, completion: &Completion) -> Result<Done<TodoView>, Error> {
    let at = completion.ran.as_ref().map_or(ctx.now, |ran| ran.ended);
    let stamp = Stamp { at, ..ctx.stamp()? };
    let git = ctx.store.git();
    let project = match &completion.ran {
        None => (None, false),
        Some(_) => (git.head()?.map(|head| head.commit), git.is_dirty()?),
    };
    step(ctx, &stamp, prefix, Op::TodoDone, completion.note.as_ref(), |snapshot, state, id| {
        let mut more = Vec::new();
        let mut of_check = None;
        if let Some(Ran { argv, ended, output }) = &completion.ran {
            let seconds = ctx.now.age(*ended);
            let what = Finding::Check { argv: argv.clone(), seconds, output: output.clone() };
            let (commit, dirty) = project.clone();
            let (todo, added) = (Some(id.clone()), stamp.clone());
            let evidence = Evidence { commit, dirty, todo, gate: None, added, what };
            let (change, view) = super::evidence::added(ctx, snapshot, state.id.clone(), evidence)?;
            more.extend(change.into_iter().flat_map(|change| change.puts));
            of_check = Some(view.id);
        }
        let todo = complete(snapshot, state, id, &stamp, completion, of_check.as_ref())?;
        Ok(Stepped { todo, what: format!("complete todo {id}"), more })
    })
}

/// What only a person at a terminal may do to a todo, in words that complete "only a person may".
#[derive(Debug)]
pub struct Loosens {
    pub todo: TodoId,
    pub title: Title,
    pub what: String,
}

fn must_be_proven(loosens: Option<Loosens>, proven: Option<&Proven>) -> Result<(), Error> {
    match (loosens, proven) {
        (Some(loosens), None) => {
            Err(Error::new(Kind::PersonNeeded, format!("only a person may {}", loosens.what))
                .hint("run the same command in a terminal"))
        }
        _ => Ok(()),
    }
}

fn drop_loosens(state: &Loop, id: &TodoId) -> Option<Loosens> {
    let (gate, _) = state.gate_over(id)?;
    let what = format!("drop todo `{id}`, which gate `{gate}` holds back");
    Some(Loosens { todo: id.clone(), title: state.todos[id].title.clone(), what })
}

/// Whether giving the todo up takes a person who shows to be one. Refused when it is refused anyway.
pub fn plan_drop(ctx: &Ctx, prefix: &TodoPrefix, reason: &Note) -> Result<Option<Loosens>, Error> {
    let snapshot = ctx.store.trusted()?;
    let (goal, id) = find(&snapshot, prefix)?;
    let state = open_state(ctx, &snapshot, &goal, &id)?;
    state.drop(&id, &ctx.stamp()?, reason.clone())?;
    Ok(drop_loosens(&state, &id))
}

/// Gives a todo up.
pub fn drop(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    reason: &Note,
    proven: Option<&Proven>,
) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoDrop, Some(reason), |_, state, id| {
        let dropped = state.drop(id, &stamp, reason.clone())?;
        must_be_proven(drop_loosens(state, id), proven)?;
        Ok(Stepped::new(dropped, format!("drop todo {id}")))
    })
}

/// Opens a closed todo again.
pub fn reopen(ctx: &Ctx, prefix: &TodoPrefix, reason: Option<&Note>) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (goal, id) = find(snapshot, prefix)?;
        let state = ctx.goal_state(snapshot, Some(&goal))?;
        let todo = snapshot.todo(&goal, &id)?.ok_or_else(|| Refusal::UnknownTodo(prefix.clone()))?;
        let open = state.reopen(&id, &todo, &stamp)?;
        let reopened = Stepped::new(open, format!("reopen todo {id}"));
        let (change, view) = stepped(&goal, id, Op::TodoReopen, reason, reopened);
        Ok((Some(change), view))
    })
}

/// Stops a todo for a reason.
pub fn block(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    on: Option<&GateId>,
    reason: &Note,
) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoBlock, Some(reason), |_, state, id| {
        let blocked = state.block(id, &stamp, on.cloned(), reason.clone())?;
        Ok(Stepped::new(blocked, format!("block todo {id}")))
    })
}

/// Frees a blocked todo.
pub fn unblock(ctx: &Ctx, prefix: &TodoPrefix, reason: Option<&Note>) -> Result<Done<TodoView>, Error> {
    let stamp = ctx.stamp()?;
    step(ctx, &stamp, prefix, Op::TodoUnblock, reason, |_, state, id| {
        Ok(Stepped::new(state.unblock(id, &stamp)?, format!("unblock todo {id}")))
    })
}

/// A todo with others that came of it.
#[derive(Debug, Serialize)]
pub struct Branched {
    #[serde(flatten)]
    pub view: TodoView,
    /// Whether a poll found something new; left out for parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The new todos.
    pub new: Vec<TodoView>,
}

/// Makes parts of a todo, which it needs from then on.
pub fn split(ctx: &Ctx, prefix: &TodoPrefix, titles: &[Title]) -> Result<Done<Branched>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (goal, id) = find(snapshot, prefix)?;
        let state = open_state(ctx, snapshot, &goal, &id)?;
        let parts = fresh_ids(ctx, snapshot, titles.len())?;
        let whole = state.split(&id, &stamp, &parts)?;
        let part = |(part, title): (TodoId, &Title)| {
            let todo = state.todos[&id].part(title.clone(), stamp.clone());
            TodoView { id: part, goal: goal.clone(), todo }
        };
        let new: Vec<TodoView> = parts.into_iter().zip(titles).map(part).collect();
        let more = new.iter().map(TodoView::record).collect();
        let split = Stepped { todo: whole, what: format!("split todo {id}"), more };
        let (change, view) = stepped(&goal, id, Op::TodoSplit, None, split);
        Ok((Some(change), Branched { view, changed: None, new }))
    })
}

/// Looks at a monitor once more. A `follow_up` is added only if something was new.
pub fn poll(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    looked: &Looked,
    follow_up: Option<&Title>,
) -> Result<Done<Branched>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (goal, id) = find(snapshot, prefix)?;
        let state = open_state(ctx, snapshot, &goal, &id)?;
        let (monitor, changed) = state.poll(&id, &stamp, looked.clone())?;
        let mut new = Vec::new();
        if let (Some(title), true) = (follow_up, changed) {
            let next = fresh_ids(ctx, snapshot, 1)?.pop().ok_or(Refusal::NoFreeId)?;
            let todo = state.todos[&id].follow_up(&id, title.clone(), stamp.clone());
            new.push(TodoView { id: next, goal: goal.clone(), todo });
        }
        let what = if changed { "changed" } else { "nothing new" };
        let more = new.iter().map(TodoView::record).collect();
        let polled = Stepped { todo: monitor, what: format!("poll todo {id}, {what}"), more };
        let (change, view) = stepped(&goal, id, Op::TodoPoll, None, polled);
        Ok((Some(change), Branched { view, changed: Some(changed), new }))
    })
}

/// What is to be changed of a todo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    pub title: Option<Title>,
    pub body: Option<Option<Note>>,
    pub for_: Option<Worker>,
    pub priority: Option<Priority>,
    pub needs: Vec<TodoPrefix>,
    pub no_needs: Vec<TodoPrefix>,
    pub requires: Vec<Capability>,
    pub no_requires: Vec<Capability>,
    pub check: Option<Option<Check>>,
    pub every: Option<Seconds>,
}

/// A todo with what was changed of it, as a diff of its record.
#[derive(Debug, Serialize)]
pub struct Edited {
    #[serde(flatten)]
    pub view: TodoView,
    pub diff: String,
}

fn edited(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    prefix: &TodoPrefix,
    edits: &Edits,
) -> Result<(Loop, TodoId, Todo), Error> {
    let (goal, id) = find(snapshot, prefix)?;
    let state = open_state(ctx, snapshot, &goal, &id)?;
    let mut to = state.todos[&id].clone();
    let Edits { title, body, for_, priority, needs, no_needs, requires, no_requires, check, every } = edits;
    to.title = title.clone().unwrap_or(to.title);
    to.body = body.clone().unwrap_or(to.body);
    to.for_ = for_.unwrap_or(to.for_);
    to.priority = priority.unwrap_or(to.priority);
    to.check = check.clone().unwrap_or(to.check);
    for need in needs {
        to.needs.insert(find_in(snapshot, &goal, need)?);
    }
    for need in no_needs {
        to.needs.retain(|id| !need.matches(id.as_str()));
    }
    to.requires.extend(requires.iter().cloned());
    to.requires.retain(|capability| !no_requires.contains(capability));
    if let Some(every) = every {
        to.monitor.as_mut().ok_or_else(|| Refusal::NoMonitor { todo: id.clone() })?.every = *every;
    }
    let edited = state.edit(&id, &ctx.stamp()?, to)?;
    Ok((state, id, edited))
}

fn edit_loosens(state: &Loop, id: &TodoId, edited: &Todo) -> Option<Loosens> {
    let before = &state.todos[id];
    let check = before.check.as_ref().filter(|check| edited.check.as_ref() != Some(check))?;
    let what = match &edited.check {
        None => format!("take the check `{}` of todo `{id}` away", check.argv),
        Some(other) => {
            format!("put the check `{}` of todo `{id}` in the place of `{}`", other.argv, check.argv)
        }
    };
    Some(Loosens { todo: id.clone(), title: before.title.clone(), what })
}

/// Whether the change takes a person who shows to be one. Refused when it is refused anyway.
pub fn plan_edit(ctx: &Ctx, prefix: &TodoPrefix, edits: &Edits) -> Result<Option<Loosens>, Error> {
    let snapshot = ctx.store.trusted()?;
    let (state, id, edited) = edited(ctx, &snapshot, prefix, edits)?;
    Ok(edit_loosens(&state, &id, &edited))
}

/// Changes a todo that is not closed.
pub fn edit(
    ctx: &Ctx,
    prefix: &TodoPrefix,
    edits: &Edits,
    proven: Option<&Proven>,
) -> Result<Done<Edited>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (state, id, todo) = edited(ctx, snapshot, prefix, edits)?;
        must_be_proven(edit_loosens(&state, &id, &todo), proven)?;
        let record = crate::store::format::encode;
        let (before, after) = (record(&state.todos[&id]), record(&todo));
        let diff =
            similar::TextDiff::from_lines(&before, &after).unified_diff().context_radius(0).to_string();
        let done = Stepped::new(todo, format!("edit todo {id}"));
        let (change, view) = stepped(&state.id, id, Op::TodoEdit, None, done);
        Ok((Some(change), Edited { view, diff }))
    })
}
