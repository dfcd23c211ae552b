//! What a person has to look at: what waits for them, what came in since they last looked, what it used, what may go wrong.

use serde::Serialize;

use super::{
    Ctx, bypass, enforcement, gate,
    goal::QuotaView,
    report::{self, Decision, Newest, Outcome, Seen, Spending},
};
use crate::{
    domain::{
        actor::Actor,
        gate::Act,
        goal::GoalState,
        id::{Choice, GateId, GoalId, TodoId},
        state::Loop,
        text::{Title, beginning},
        time::{Seconds, Timestamp},
        todo::{Priority, TodoState, Worker},
    },
    error::Error,
};

/// What a person has to look at. Lists begin with what matters most.
#[derive(Debug, Serialize)]
pub struct Packet {
    pub since: Timestamp,
    /// What a person did at `since`, which is when they last looked; null when it was given, or too long ago.
    pub looked: Option<String>,
    pub until: Timestamp,
    /// The newest commit of the state that was looked at, in hex.
    pub tip: String,
    pub goals: Vec<Standing>,
    /// Questions that wait for a person, the most urgent first.
    pub needed: Vec<Needed>,
    /// Work that only a person can do, the most urgent first.
    pub chores: Vec<Chore>,
    pub risks: Vec<Risk>,
    /// Work that was finished since then.
    pub outcomes: Vec<Outcome>,
    /// What was decided since then.
    pub decisions: Vec<Decision>,
    /// What was seen since then.
    pub evidence: Vec<Seen>,
    pub spend: Spending,
    pub left_out: LeftOut,
}

/// How many came before those that the lists have: of each [`report::MOST`], and of the risks as many failures.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    pub outcomes: usize,
    pub decisions: usize,
    pub evidence: usize,
    pub risks: usize,
}

/// A goal as it stands.
#[derive(Debug, Serialize)]
pub struct Standing {
    pub id: GoalId,
    pub objective: Title,
    pub state: &'static str,
    /// Todos done since then.
    pub done: usize,
    /// Todos that are not closed now.
    pub open: usize,
    /// How many criteria it has, and how many of them are answered.
    pub criteria: usize,
    pub answered: usize,
    pub quota: QuotaView,
}

/// A question that waits for a person.
#[derive(Debug, Serialize)]
pub struct Needed {
    pub gate: GateId,
    pub goal: GoalId,
    pub question: Title,
    pub asked_by: Actor,
    pub waits_seconds: Seconds,
    pub blocks: Vec<Act>,
    /// It is asked again for every commit.
    pub standing: bool,
    /// Open todos that wait for it.
    pub todos: usize,
    pub options: Vec<Choice>,
    /// What was seen since then of the gate or of the todos it is about.
    pub evidence: Vec<String>,
    /// The command that answers it.
    pub next: String,
}

/// Work for a person.
#[derive(Debug, Serialize)]
pub struct Chore {
    pub todo: TodoId,
    pub goal: GoalId,
    pub title: Title,
    pub priority: Priority,
    /// Open todos that need it.
    pub needed_by: usize,
}

/// What may go wrong, or did.
#[derive(Debug, Serialize)]
pub struct Risk {
    pub kind: Kind,
    /// Null when it is about the clone.
    pub goal: Option<GoalId>,
    /// The name of the record it is about; null when it is about none.
    pub record: Option<String>,
    pub says: String,
    /// The command that shows more of it.
    pub next: String,
}

/// Kinds of risk, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Pushes do not meet the gate.
    Unguarded,
    /// A push went round the hook, and no person has acknowledged it.
    Bypass,
    /// A command failed, or a review wants changes.
    Failed,
    Blocked,
    /// A turn was ended by another, because nobody had ended it.
    Lost,
    /// A claim ran out, and nobody has taken the todo over.
    Expired,
    /// The last turns came to nothing.
    Idle,
    /// The window of the quota has no slot left.
    Spent,
}

impl Kind {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unguarded => "unguarded",
            Self::Bypass => "went round the hook",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Lost => "lost turn",
            Self::Expired => "expired claim",
            Self::Idle => "idle",
            Self::Spent => "quota used up",
        }
    }
}

/// As long ago as a look is looked for.
const WEEK: Seconds = Seconds(7 * 86_400);
/// So many pieces of evidence are told with a question.
const WITH_A_QUESTION: usize = 3;

/// Puts together what a person has to look at, of one goal or of all: what came in since `since`, else since a person last did
/// something here, a week at most. Writes nothing.
pub fn packet(ctx: &Ctx, goal: Option<&GoalId>, since: Option<Timestamp>) -> Result<Packet, Error> {
    let snapshot = ctx.store.trusted()?;
    let goal = goal.map(|goal| ctx.goal_id(&snapshot, Some(goal))).transpose()?;
    let (since, looked) = match since {
        Some(since) => (since, None),
        None => last_look(ctx)?,
    };
    let about = |of: &GoalId| goal.as_ref().is_none_or(|goal| goal == of);
    let waiting = gate::waiting(ctx, goal.as_ref())?.gates;
    let mut seen_of: Vec<_> = waiting.iter().map(|_| Newest::of(WITH_A_QUESTION)).collect();
    let mut failed = Newest::of(report::MOST);
    let all = report::gathered(ctx, &snapshot.tip(), since, about, |seen| {
        for (_, seen_of) in waiting.iter().zip(&mut seen_of).filter(|(view, _)| is_about(seen, view)) {
            seen_of.add(seen.at, format!("{}: {}", seen.id, seen.says));
        }
        if seen.failed {
            failed.add(seen.at, failure(seen));
        }
    })?;
    let (outcomes, earlier_outcomes) = all.outcomes.newest_first();
    let (decisions, earlier_decisions) = all.decisions.newest_first();
    let (evidence, earlier_evidence) = all.evidence.newest_first();
    let (failed, earlier_risks) = failed.newest_first();
    let left_out = LeftOut {
        outcomes: earlier_outcomes,
        decisions: earlier_decisions,
        evidence: earlier_evidence,
        risks: earlier_risks,
    };
    let states: Vec<Loop> = snapshot.states()?.into_iter().filter(|state| about(&state.id)).collect();
    let mut chores: Vec<Chore> = states.iter().flat_map(chores).collect();
    chores.sort_by_key(|chore| (chore.priority, std::cmp::Reverse(chore.needed_by)));
    let mut risks = of_the_clone(ctx);
    for state in &states {
        risks.extend(of_a_goal(ctx, state, since));
    }
    risks.extend(failed);
    risks.sort_by_key(|risk| risk.kind);
    let needed = waiting.into_iter().zip(seen_of).filter_map(|(view, seen)| {
        let state = states.iter().find(|state| state.id == view.goal)?;
        Some(needed_of(view, state, seen.newest_first().0))
    });
    let needed = needed.collect();
    let goals = states.iter().map(|state| {
        let answered = match &state.goal.state {
            GoalState::Achieved { evidence, .. } => evidence.len(),
            GoalState::Active {} | GoalState::Paused { .. } | GoalState::Abandoned { .. } => {
                state.goal.done_when.len() - state.goal.unmet().len()
            }
        };
        Standing {
            id: state.id.clone(),
            objective: state.goal.objective.clone(),
            state: state.goal.state.word(),
            done: all.done.get(&state.id).copied().unwrap_or_default(),
            open: state.todos.len(),
            criteria: state.goal.done_when.len(),
            answered,
            quota: QuotaView::of(&state.quota, &state.spends, ctx.now),
        }
    });
    Ok(Packet {
        since,
        looked,
        until: ctx.now,
        tip: snapshot.tip(),
        goals: goals.collect(),
        needed,
        chores,
        risks,
        outcomes,
        decisions,
        evidence,
        spend: all.spend,
        left_out,
    })
}

/// When a person last did something here, and what; a week ago if that is longer ago.
fn last_look(ctx: &Ctx) -> Result<(Timestamp, Option<String>), Error> {
    let week = ctx.now.minus(WEEK);
    for entry in super::history::since(ctx.store.history()?, Some(week)) {
        let entry = entry?;
        if entry.actor.as_deref() == Some("person") && entry.at >= week {
            return Ok((entry.at, Some(entry.subject)));
        }
    }
    Ok((week, None))
}

/// Whether that was seen of the gate or of the todos it is about.
fn is_about(seen: &Seen, view: &gate::GateView) -> bool {
    let is_of =
        |about: &str| about == view.id.as_str() || view.gate.todos.iter().any(|todo| todo.as_str() == about);
    seen.about.as_deref().is_some_and(is_of)
}

fn failure(seen: &Seen) -> Risk {
    let about = seen.about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
    Risk {
        kind: Kind::Failed,
        goal: Some(seen.goal.clone()),
        record: Some(format!("evidence/{}", seen.id)),
        says: format!("{about}{}", seen.says),
        next: format!("loopx evidence show {}", seen.id),
    }
}

fn needed_of(view: gate::GateView, state: &Loop, evidence: Vec<String>) -> Needed {
    let gate = &view.gate;
    let (next, options) = gate::answering(&view.id, gate);
    Needed {
        goal: view.goal,
        question: gate.question.clone(),
        asked_by: gate.asked.by.clone(),
        waits_seconds: view.age_seconds,
        blocks: gate.blocks.iter().copied().collect(),
        standing: gate.bind().is_some(),
        todos: state.todos.keys().filter(|todo| gate.stops(todo)).count(),
        evidence,
        next,
        gate: view.id,
        options,
    }
}

fn chores(state: &Loop) -> impl Iterator<Item = Chore> {
    let theirs = state.todos.iter().filter(|(_, todo)| todo.for_ == Worker::Person);
    let theirs = theirs.filter(|(_, todo)| !matches!(todo.state, TodoState::Blocked { .. }));
    theirs.filter(|(_, todo)| state.open_needs(todo).is_empty()).map(|(id, todo)| Chore {
        todo: id.clone(),
        goal: state.id.clone(),
        title: todo.title.clone(),
        priority: todo.priority,
        needed_by: state.todos.values().filter(|other| other.needs.contains(id)).count(),
    })
}

/// A reason in one line.
fn in_a_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match beginning(&line, 160) {
        (_, 0) => line,
        (short, _) => format!("{short}…"),
    }
}

fn of_the_clone(ctx: &Ctx) -> Vec<Risk> {
    let guard = enforcement::probe(ctx);
    let next = "loopx hooks install".to_owned();
    let why = guard.why.unwrap_or_else(|| "pushes do not meet the gate".to_owned());
    let here =
        (!guard.active).then_some(Risk { kind: Kind::Unguarded, goal: None, record: None, says: why, next });
    let around = bypass::list(ctx, false, false);
    let (around, blind) = around.map(|found| (found.bypasses, found.unrecorded)).unwrap_or_default();
    let said = |push: &crate::domain::bypass::Push| {
        let gates = if push.gates.is_empty() { "" } else { ", while a gate held pushes back" };
        format!("a push to {} on {}{gates}", push.ref_, push.remote)
    };
    let risk = |record, says, next: String| Risk { kind: Kind::Bypass, goal: None, record, says, next };
    let known = around.iter().map(|view| {
        let show = format!("loopx bypass show {}", view.id);
        risk(Some(format!("bypass/{}", view.id)), said(&view.bypass.push), show)
    });
    let unknown = blind.iter().map(|push| risk(None, said(push), "loopx bypass list".into()));
    here.into_iter().chain(known).chain(unknown).collect()
}

fn of_a_goal(ctx: &Ctx, state: &Loop, since: Timestamp) -> Vec<Risk> {
    let goal = &state.id;
    let risk = |kind, record: Option<String>, says: String, next: String| Risk {
        kind,
        goal: Some(goal.clone()),
        record,
        says,
        next,
    };
    let mut risks = Vec::new();
    for (id, todo) in &state.todos {
        let show = format!("loopx todo show {id}");
        match &todo.state {
            TodoState::Blocked { reason, .. } => {
                let says = format!("{id} {}: {}", todo.title, in_a_line(reason.as_str()));
                risks.push(risk(Kind::Blocked, Some(format!("todo/{id}")), says, show));
            }
            TodoState::Claimed { by, lease_until, .. } if *lease_until <= ctx.now => {
                let ago = lease_until.age(ctx.now);
                let says = format!("{id} {}: the claim of {} ended {ago} ago", todo.title, by.name());
                risks.push(risk(Kind::Expired, Some(format!("todo/{id}")), says, show));
            }
            _ => {}
        }
    }
    for spend in state.spends.iter().filter(|spend| !spend.goes_on()) {
        let end = spend.course.as_ref().and_then(|course| Some((course, course.end.as_ref()?)));
        let Some((course, end)) = end.filter(|(_, end)| end.at >= since) else { continue };
        if end.outcome == crate::domain::turn::Outcome::Lost {
            let todo = course.todo.as_ref().map(|todo| format!(" on {todo}")).unwrap_or_default();
            let says = format!("turn {} of {}{todo} was never ended", spend.turn, spend.added.by.name());
            let record = format!("spend/{}", crate::domain::id::SpendId::of_turn(&spend.turn));
            risks.push(risk(Kind::Lost, Some(record), says, format!("loopx history --turn {}", spend.turn)));
        }
    }
    let idle = state.idle_turns(ctx.now).len();
    if idle >= crate::domain::decision::IDLE {
        let says = format!("the last {idle} turns {}", state.how_idle(ctx.now));
        risks.push(risk(Kind::Idle, None, says, format!("loopx todo list --goal-id {goal}")));
    }
    let quota = QuotaView::of(&state.quota, &state.spends, ctx.now);
    if quota.allowed_slots > 0 && quota.spent_slots >= quota.allowed_slots {
        let says = format!(
            "all {} of the window are used",
            crate::text::Count(quota.allowed_slots as usize, "slot")
        );
        risks.push(risk(Kind::Spent, None, says, format!("loopx quota status --goal-id {goal}")));
    }
    risks
}
