//! A session of an agent's host: what it is told when it begins, whether it goes on when it would stop, and the note it leaves.

use std::{collections::BTreeSet, fmt::Write as _};

use sha2::{Digest as _, Sha256};

use super::{Ctx, context, handoff, quota, quota::ShouldRun};
use crate::{
    caller::{Caller, MARKERS},
    domain::{
        actor::Actor,
        id::{AgentId, Capability, GoalId},
        state::Loop,
        text::hex,
        time::Timestamp,
        todo::TodoState,
    },
    error::{Error, Kind},
    store::sessions::SentOn,
};

/// So often a session is sent on without having done anything. Some hosts have a limit of their own, and some have none.
pub const MOST: u32 = 8;

/// What comes of an agent that would stop.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes on with this.
    On(String),
    /// It stops; a person may want to read this.
    Stop(Option<String>),
}

/// What a session is told when it begins; nothing where loopx was not set up or has no goal. A state that cannot be relied on is
/// something to be told, too.
pub fn begins(ctx: Ctx) -> Option<String> {
    if !ctx.store.is_set_up() {
        return None;
    }
    let ctx = &about_one(ctx);
    let agent = ctx.caller.agent()?;
    let head =
        format!("This repository's work is kept by loopx, to which this session is agent `{agent}`.\n\n");
    match context::context(ctx, None, None, context::BYTES) {
        Ok(context) => Some(head + &context.markdown()),
        Err(error) if matches!(error.kind, Kind::NotFound | Kind::NotSetUp) => None,
        Err(error) => {
            let hints = error.hints.join("; ");
            Some(format!("{head}loopx has no context to give: {} ({hints})\n", error.message))
        }
    }
}

/// Whether an agent that would stop goes on. `session` is the host's name for the session, `again` whether it was sent on before
/// since somebody last spoke to it. Only a session that was asked to loop is sent on, and only so often as it comes to something.
pub fn stops(ctx: Ctx, session: &str, again: bool, host: &str) -> Next {
    if !ctx.store.is_set_up() {
        return Next::Stop(None);
    }
    let Ok(ctx) = taking_part(ctx, host).map(about_one) else { return Next::Stop(None) };
    let Ok(told) = quota::should_run(&ctx, None, can(), false) else { return Next::Stop(None) };
    if !told.should_run {
        return Next::Stop(Some(waits(&told)));
    }
    let Ok(done) = done(&ctx) else { return Next::Stop(None) };
    let before = if again { ctx.store.sent_on(session) } else { SentOn::default() };
    let times = if before.done == done { before.times + 1 } else { 1 };
    if times > MOST {
        let what =
            format!("loopx: this session was sent on {MOST} times and nothing came of it, so it may stop");
        return Next::Stop(Some(what));
    }
    // Without the note there would be no end to it.
    match ctx.store.note_sent_on(session, &SentOn { times, done }) {
        Ok(()) => Next::On(goes_on(&ctx, &told)),
        Err(_) => Next::Stop(None),
    }
}

/// Leaves a note when a session ends, or forgets what it was about, while it has something in hand. `how` completes "the session
/// of … ". Never more than that: a note that the agent itself left since it took that stays.
pub fn leaves(ctx: Ctx, how: &str, host: &str) -> Result<(), Error> {
    let ctx = taking_part(ctx, host)?;
    let Some(agent) = ctx.caller.agent() else { return Ok(()) };
    let snapshot = ctx.store.trusted()?;
    // Of any goal: one may have been paused meanwhile.
    for state in snapshot.states()? {
        let Some((since, has)) = in_hand(&state, agent, ctx.now) else { continue };
        if snapshot.handoff(&state.id)?.is_none_or(|note| note.written.at <= since) {
            let text = format!("The session of `{agent}` {how} while it had {has}");
            handoff::write(&ctx, Some(&state.id), &text)?;
        }
    }
    Ok(())
}

/// What a session that is over may be forgotten for.
pub fn over(ctx: &Ctx, session: &str) {
    ctx.store.forget_session(session);
}

fn can() -> BTreeSet<Capability> {
    [Capability::shell()].into()
}

/// As the agent that has something in hand: the session by its own name, or by that of its host, which is what its shell goes by
/// where nothing names the session.
fn taking_part(ctx: Ctx, host: &str) -> Result<Ctx, Error> {
    let states = ctx.store.trusted()?.states()?;
    let has = |agent: &AgentId| states.iter().any(|state| in_hand(state, agent, ctx.now).is_some());
    let marker = MARKERS.iter().map(|(_, name)| *name).find(|name| name.starts_with(host));
    let by_host = marker.and_then(|marker| marker.parse().ok()).filter(has);
    match by_host {
        Some(agent) if !ctx.caller.agent().is_some_and(has) => {
            Ok(Ctx { caller: Caller::Agent { agent, named_by: "its host".into() }, ..ctx })
        }
        _ => Ok(ctx),
    }
}

/// About one goal, where several are active and none was named: the one in which this agent has something in hand, else the one that
/// should get the next slot.
fn about_one(ctx: Ctx) -> Ctx {
    if ctx.goal.is_some() {
        return ctx;
    }
    let Ok(plan) = quota::plan(&ctx, can()) else { return ctx };
    let goals = || plan.goals.iter().map(|line| &line.goal);
    if goals().len() < 2 {
        return ctx;
    }
    let states = ctx.store.trusted().ok().and_then(|snapshot| snapshot.states().ok()).unwrap_or_default();
    let has = |goal: &&GoalId| {
        let state = states.iter().find(|state| state.id == **goal);
        let of = ctx.caller.agent().zip(state);
        of.is_some_and(|(agent, state)| in_hand(state, agent, ctx.now).is_some())
    };
    let goal = goals().find(has).or(plan.next.as_ref()).or(goals().next()).cloned();
    Ctx { goal, ..ctx }
}

/// What an agent has, since when, in words.
fn in_hand(state: &Loop, agent: &AgentId, now: Timestamp) -> Option<(Timestamp, String)> {
    let turn = state.turn_of(agent).map(|turn| (turn.added.at, format!("turn `{}` to end", turn.turn)));
    let todo = state.todos.iter().find_map(|(id, todo)| match &todo.state {
        TodoState::Claimed { by, since, lease_until: until, .. }
            if by.agent() == Some(agent) && todo.holder(now).is_some() =>
        {
            Some((*since, format!("todo `{id}` until {until}: {}", todo.title)))
        }
        _ => None,
    });
    let since = turn.iter().chain(&todo).map(|(since, _)| *since).min()?;
    let has: Vec<String> = turn.into_iter().chain(todo).map(|(_, has)| has).collect();
    Some((since, has.join(", and ")))
}

/// What this agent did so far, so that two looks tell whether something came of what was between them.
fn done(ctx: &Ctx) -> Result<String, Error> {
    let snapshot = ctx.store.trusted()?;
    let state = ctx.goal_state(&snapshot, None)?;
    let Some(agent) = ctx.caller.agent() else { return Ok(String::new()) };
    let is_mine = |by: &Actor| by.agent() == Some(agent);
    let mut text = String::new();
    for turn in state.spends.iter().filter(|turn| is_mine(&turn.added.by)) {
        let _ = write!(text, "{} {};", turn.turn, turn.goes_on());
    }
    for (id, todo) in &state.todos {
        let holds = todo.holder(ctx.now).is_some_and(|(by, _)| is_mine(by));
        if holds || is_mine(&todo.added.by) {
            let _ = write!(text, "{id} {holds};");
        }
    }
    for (id, evidence) in snapshot.evidence(&state.id)? {
        if is_mine(&evidence.added.by) {
            let _ = write!(text, "{id};");
        }
    }
    let _ = write!(text, "{:?}", ctx.store.git().head()?.map(|head| head.commit));
    Ok(hex(&Sha256::digest(text)[..16]))
}

fn goes_on(ctx: &Ctx, told: &ShouldRun) -> String {
    let mut text = format!("loopx: there is more to do: {}\n", told.why);
    if let Some(todo) = &told.todo {
        let _ = writeln!(text, "todo `{}`: {}", todo.id, todo.title);
    }
    let agent = ctx.caller.agent().map(|agent| format!(" --agent-id {agent}")).unwrap_or_default();
    let _ = writeln!(text, "next: `{}{agent}`", told.next);
    text
}

fn waits(told: &ShouldRun) -> String {
    let mut text = format!("loopx: {}: {}", told.answer, told.why);
    for gate in &told.gates {
        let _ = write!(text, "\nloopx: gate `{}` asks: {}", gate.id, gate.question);
    }
    if let Some(command) = &told.for_a_person {
        let does = if told.gates.is_empty() { "says so" } else { "answers" };
        let _ = write!(text, "\nloopx: a person {does} with `{command}`");
    }
    text
}
