//! What may happen next, and the ledger of what was used.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Ctx, Done, goal::QuotaView};
use crate::{
    caller::Caller,
    domain::{
        change::{Change, Op, Record},
        decision::{self, Asker, Decision},
        id::{Capability, EvidenceId, GateId, GoalId, SpendId, TodoId, TurnId},
        quota::Spend,
        refusal::Refusal,
        state::Loop,
        text::Title,
        time::{Seconds, Timestamp},
        todo::Priority,
    },
    error::{Error, Kind},
};

/// The answer of `should-run`.
///
/// JSON, under 2 KB: `answer` (`run`, `run-other`, `ask`, `wait`, `replan`, `repair`, `stop`), `should_run`, and only
/// those of the other fields that the answer has.
#[derive(Debug, Serialize)]
pub struct ShouldRun {
    pub answer: &'static str,
    pub should_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalId>,
    /// What to work on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<Pick>,
    /// Questions that wait for a person; the oldest three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Question>,
    /// The sentence behind the answer.
    pub why: String,
    /// The command to run next.
    pub next: String,
    /// Seconds after which asking again makes sense.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Seconds>,
    /// Every rule in its order, when they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Considered>,
    #[serde(skip)]
    pub decision: Option<Decision>,
}

/// A rule that was looked at.
#[derive(Debug, Serialize)]
pub struct Considered {
    pub rule: &'static str,
    /// The rule in a sentence.
    pub says: &'static str,
    pub applies: bool,
    /// It is the first that applies.
    pub decides: bool,
    /// The records that made it apply; the first three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
    /// How many records there are besides.
    #[serde(skip_serializing_if = "is_nought")]
    pub more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde wants")]
fn is_nought(more: &usize) -> bool {
    *more == 0
}

/// The todo an answer names.
#[derive(Debug, Clone, Serialize)]
pub struct Pick {
    pub id: TodoId,
    pub title: Title,
    pub priority: Priority,
    /// It is a monitor: to be looked at and polled, not completed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub monitor: bool,
    /// The end of the claim, when the agent holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

/// A question an answer names.
#[derive(Debug, Serialize)]
pub struct Question {
    pub id: GateId,
    pub question: Title,
}

/// Decides what the caller may do next. State that cannot be read is an answer, too (`repair`); having none is an error.
pub fn should_run(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    capabilities: BTreeSet<Capability>,
    with_rules: bool,
) -> Result<ShouldRun, Error> {
    let state = ctx.store.trusted().map_err(Error::from).and_then(|snapshot| ctx.goal_state(&snapshot, goal));
    let state = match state {
        Ok(state) => state,
        Err(error) if error.kind == Kind::Distrusted => return Ok(repair(&error)),
        Err(error) => return Err(error),
    };
    let agent = match &ctx.caller {
        Caller::Agent { agent, .. } => Some(agent.clone()),
        Caller::Person => None,
    };
    let asker = Asker { agent, can: capabilities };
    let rules = if with_rules { considered(&state, &asker, ctx.now) } else { Vec::new() };
    Ok(ShouldRun { rules, ..explain(&state, decision::next(&state, &asker, ctx.now), ctx.now) })
}

fn considered(state: &Loop, asker: &Asker, now: Timestamp) -> Vec<Considered> {
    let rules = decision::explained(state, asker, now);
    let first = rules.iter().position(|(_, looked)| looked.is_some());
    let said = rules.into_iter().enumerate().map(|(at, (rule, looked))| {
        let applies = looked.is_some();
        let mut records = looked.map(|looked| looked.records).unwrap_or_default();
        let more = records.len().saturating_sub(3);
        records.truncate(3);
        let (says, decides) = (rule.sentence(), first == Some(at));
        Considered { rule: rule.word(), says, applies, decides, records, more }
    });
    said.collect()
}

fn repair(error: &Error) -> ShouldRun {
    ShouldRun {
        answer: "repair",
        should_run: false,
        goal: None,
        todo: None,
        gates: Vec::new(),
        why: error.message.clone(),
        next: error.commands().next().unwrap_or("loopx status").to_owned(),
        retry_after: None,
        rules: Vec::new(),
        decision: None,
    }
}

/// The beginning of a title, with `…` where more of it was.
pub(super) fn cut(title: &Title) -> Title {
    const BYTES: usize = 160;
    if title.as_str().len() <= BYTES {
        return title.clone();
    }
    let fits = title.as_str().char_indices().take_while(|(at, c)| at + c.len_utf8() <= BYTES);
    let short: String = fits.map(|(_, c)| c).collect();
    format!("{}…", short.trim_end()).parse().unwrap_or_else(|_| title.clone())
}

/// Puts a decision into the words that every door uses.
pub(super) fn explain(state: &Loop, decision: Decision, now: Timestamp) -> ShouldRun {
    use decision::{Planless, Stopped, Waiting};
    let title = |todo: &TodoId| cut(&state.todos[todo].title);
    let (why, next) = match &decision {
        Decision::Continue { todo, until } if state.todos[todo].monitor.is_some() => (
            format!("your claim on `{todo}` holds until {until}"),
            format!("loopx todo poll {todo} --fingerprint \"<what there is>\""),
        ),
        Decision::Continue { todo, until } => {
            (format!("your claim on `{todo}` holds until {until}"), format!("loopx todo done {todo}"))
        }
        Decision::Run { todo } => {
            (format!("`{todo}` is ready and nobody has it"), format!("loopx todo claim {todo}"))
        }
        Decision::RunOther { todo, gates } => (
            format!("gate `{}` is open, but `{todo}` does not fall under it", gates.first),
            format!("loopx todo claim {todo}"),
        ),
        Decision::Poll { todo, gates } => {
            let beside =
                gates.as_ref().map(|gates| format!(", and gate `{}` is open elsewhere", gates.first));
            (
                format!("monitor `{todo}` is due{}", beside.unwrap_or_default()),
                format!("loopx todo poll {todo} --fingerprint \"<what there is>\""),
            )
        }
        Decision::Ask { gates } => (
            "everything that could be done waits for a person".into(),
            format!("loopx gate resolve {} --decision {}", gates.first, state.gates[&gates.first].options[0]),
        ),
        Decision::AskForTodo { todo } => {
            (format!("only a person can do \"{}\"", title(todo)), format!("loopx todo show {todo}"))
        }
        Decision::AskForPlan { turns } => (
            format!("the last {turns} turns came to nothing: a person should look"),
            format!("loopx todo list --goal-id {}", state.id),
        ),
        Decision::Wait { why: Waiting::Slot, until } => {
            let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
            (
                format!("the quota of this window is used up{until}"),
                format!("loopx quota status --goal-id {}", state.id),
            )
        }
        Decision::Wait { why: Waiting::Claims, until } => {
            let until = until.map(|until| format!("; the first claim ends at {until}")).unwrap_or_default();
            (format!("other agents have all the work{until}"), "loopx todo list".into())
        }
        Decision::Wait { why: Waiting::Monitors, until } => {
            let until = until.map(|until| format!(" before {until}")).unwrap_or_default();
            (format!("only monitors are left, and none is due{until}"), "loopx todo list --monitors".into())
        }
        Decision::Replan { why: Planless::Stale(todo) } => {
            let unchanged = state.todos[todo].monitor.as_ref().map_or(0, |monitor| monitor.unchanged);
            (
                format!("nothing else is ready, and monitor `{todo}` found nothing new {unchanged} times"),
                format!("loopx todo show {todo}"),
            )
        }
        Decision::Replan { why: Planless::Idle(turns) } => (
            format!("the last {turns} turns came to nothing"),
            format!("loopx todo add --goal-id {} \"<next step>\"", state.id),
        ),
        Decision::Replan { why: Planless::NoTodo } => {
            ("no todo is open".into(), format!("loopx todo add --goal-id {} \"<next step>\"", state.id))
        }
        Decision::Replan { why: Planless::NoneReady } => {
            ("no open todo can be worked on".into(), format!("loopx todo list --goal-id {}", state.id))
        }
        Decision::Stop { why: Stopped::Goal(word) } => {
            (format!("goal `{}` is {word}", state.id), format!("loopx goal show {}", state.id))
        }
        Decision::Stop { why: Stopped::NoCompute } => (
            format!("goal `{}` has a compute share of 0", state.id),
            format!("loopx quota status --goal-id {}", state.id),
        ),
    };
    let lease_until = match &decision {
        Decision::Continue { until, .. } => Some(*until),
        _ => None,
    };
    let todo = decision.todo().map(|id| {
        let todo = &state.todos[id];
        let (title, monitor) = (cut(&todo.title), todo.monitor.is_some());
        Pick { id: id.clone(), title, priority: todo.priority, monitor, lease_until }
    });
    let pending =
        decision.gates().into_iter().flat_map(|gates| std::iter::once(&gates.first).chain(&gates.rest));
    // Titles are cut, so three of them keep the answer under 2 KB.
    let gates =
        pending.take(3).map(|id| Question { id: id.clone(), question: cut(&state.gates[id].question) });
    ShouldRun {
        answer: decision.word(),
        should_run: decision.should_run(),
        goal: Some(state.id.clone()),
        todo,
        gates: gates.collect(),
        why,
        next,
        retry_after: decision.retry_after(now),
        rules: Vec::new(),
        decision: Some(decision),
    }
}

/// A booking with what is left after it.
#[derive(Debug, Serialize)]
pub struct Spent {
    pub id: SpendId,
    pub goal: GoalId,
    #[serde(flatten)]
    pub spend: Spend,
    pub quota: QuotaView,
}

/// Books slots for a turn. A turn that was booked already stays as it was booked, and nothing is written.
pub fn spend_slot(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    turn: Option<TurnId>,
    slots: u32,
    evidence: &[EvidenceId],
) -> Result<Done<Spent>, Error> {
    let stamp = ctx.stamp()?;
    let turn = turn.unwrap_or_else(|| TurnId::unnamed(&ctx.entropy));
    let id = SpendId::of_turn(&turn);
    ctx.update(&stamp, |snapshot| {
        let state = ctx.goal_state(snapshot, goal)?;
        state.goal.must_be_active(&state.id)?;
        for evidence in evidence {
            if !snapshot.has_evidence(&state.id, evidence)? {
                return Err(Refusal::UnknownEvidence(evidence.clone()).into());
            }
        }
        let view = |spends: &[Spend]| QuotaView::of(state.quota, state.quota.spent(spends, ctx.now));
        if let Some(spend) = snapshot.spend(&state.id, &id)? {
            if let (true, Some(course)) = (spend.goes_on(), &spend.course) {
                return Err(Refusal::TurnGoesOn { turn: turn.clone(), until: course.until }.into());
            }
            let quota = view(&state.spends);
            return Ok((None, Spent { id: id.clone(), goal: state.id.clone(), spend, quota }));
        }
        let spend = Spend {
            turn: turn.clone(),
            slots,
            evidence: evidence.to_vec(),
            added: stamp.clone(),
            course: None,
        };
        let spend = state.quota.spend(&state.id, &state.spends, spend)?;
        let quota = view(&[state.spends.clone(), vec![spend.clone()]].concat());
        let change = Change {
            op: Op::QuotaSpend,
            subject: format!(
                "spend {} of goal {} for {turn}",
                crate::text::Count(slots as usize, "slot"),
                state.id
            ),
            body: None,
            goal: Some(state.id.clone()),
            turn: Some(turn.clone()),
            puts: vec![Record::Spend(state.id.clone(), id.clone(), spend.clone())],
        };
        Ok((Some(change), Spent { id: id.clone(), goal: state.id.clone(), spend, quota }))
    })
}

/// The limit of a goal and when it lets the next turn through.
#[derive(Debug, Serialize)]
pub struct QuotaStatus {
    pub goal: GoalId,
    #[serde(flatten)]
    pub quota: QuotaView,
    /// When a slot is free again; null when one is free now.
    pub free_at: Option<Timestamp>,
}

/// How much of the window is used.
pub fn status(ctx: &Ctx, goal: Option<&GoalId>) -> Result<QuotaStatus, Error> {
    let snapshot = ctx.store.read()?;
    let goal = ctx.goal_id(&snapshot, goal)?;
    let quota = snapshot.quota(&goal)?;
    let spends: Vec<_> = snapshot.spends(&goal)?.into_values().collect();
    let free_at = quota.free_at(&spends, ctx.now);
    Ok(QuotaStatus { goal, quota: QuotaView::of(quota, quota.spent(&spends, ctx.now)), free_at })
}
