//! What may happen next, and the ledger of what was used.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Ctx, Done, goal::QuotaView};
use crate::{
    domain::{
        actor::{Proof, Proven},
        change::{Change, Op, Record},
        decision::{self, Asker, Decision},
        id::{BadId, Capability, EvidenceId, GateId, GoalId, SpendId, TodoId, TurnId},
        quota::{self, Burst, Candidate, Ranked, Spend},
        refusal::Refusal,
        state::Loop,
        text::{Note, Title},
        time::{Seconds, Timestamp},
        todo::Priority,
    },
    error::{Error, Kind},
    store::Snapshot,
};

/// The answer of `should-run`.
///
/// JSON, under 2 KB: `answer` (`run`, `run-other`, `ask`, `wait`, `replan`, `repair`, `stop`), `should_run`, and only
/// those of the other fields that the answer has.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
    /// The command that only a person may run, when that is what is waited for.
    #[serde(skip)]
    pub for_a_person: Option<String>,
}

/// A rule that was looked at.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
    #[serde(skip_serializing_if = "super::is_nought")]
    pub more: usize,
}

/// The todo an answer names.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
    let read = |snapshot: &Snapshot<'_>| {
        let id = ctx.goal_id(snapshot, goal)?;
        // What the rules looked at is told of everything that is open.
        let state = if with_rules { snapshot.state(&id)? } else { snapshot.state_to_decide_on(&id)? };
        state.ok_or_else(|| Refusal::UnknownGoal(id).into())
    };
    let state = match ctx.store.trusted().map_err(Error::from).and_then(|snapshot| read(&snapshot)) {
        Ok(state) => state,
        Err(error) if error.kind == Kind::Distrusted => return Ok(repair(&error)),
        Err(error) => return Err(error),
    };
    let asker = super::todo::asker(ctx, capabilities);
    let rules = if with_rules { considered(&state, &asker, ctx.now) } else { Vec::new() };
    Ok(ShouldRun { rules, ..explain(ctx, &state, decision::next(&state, &asker, ctx.now)) })
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
        for_a_person: None,
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

/// The criteria that nothing was found for, if the goal has any.
fn unmet(state: &Loop) -> String {
    let unmet: Vec<_> = state.goal.unmet().iter().take(12).map(|(number, _)| number.to_string()).collect();
    match &unmet[..] {
        [] => String::new(),
        numbers => format!("; criteria that are not answered yet: {}", numbers.join(", ")),
    }
}

/// The command that only a person may run, when the decision waits for that.
fn for_a_person(state: &Loop, decision: &Decision) -> Option<String> {
    match decision {
        Decision::Ask { gates } => {
            let first = &gates.first;
            Some(format!("loopx gate resolve {first} --decision {}", state.gates[first].options[0]))
        }
        Decision::Stop { why: decision::Stopped::Accepted } => {
            Some(format!("loopx goal achieve {}", state.id))
        }
        _ => None,
    }
}

/// Puts a decision into the words that every door uses. An agent is not sent to run what only a person may.
pub(super) fn explain(ctx: &Ctx, state: &Loop, decision: Decision) -> ShouldRun {
    use decision::{Planless, Stopped, Waiting};
    let now = ctx.now;
    let is_agent = ctx.caller.agent().is_some();
    let for_a_person = for_a_person(state, &decision);
    let may_run = |shows: String| for_a_person.clone().filter(|_| !is_agent).unwrap_or(shows);
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
        Decision::Ask { gates } => {
            let answers = match is_agent {
                true => format!(", who answers gate `{}`", gates.first),
                false => String::new(),
            };
            (
                format!("everything that could be done waits for a person{answers}"),
                may_run(format!("loopx gate show {}", gates.first)),
            )
        }
        Decision::AskForTodo { todo } => {
            (format!("only a person can do \"{}\"", title(todo)), format!("loopx todo show {todo}"))
        }
        Decision::AskForPlan { turns } => (
            format!("the last {turns} turns {}: a person should look", state.how_idle(now)),
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
            format!("the last {turns} turns {}", state.how_idle(now)),
            format!("loopx todo add --goal-id {} \"<next step>\"", state.id),
        ),
        Decision::Replan { why: Planless::NoTodo } => (
            format!("no todo is open{}", unmet(state)),
            format!("loopx todo add --goal-id {} \"<next step>\"", state.id),
        ),
        Decision::Replan { why: Planless::NoneReady } => (
            format!("no open todo can be worked on{}", unmet(state)),
            format!("loopx todo list --goal-id {}", state.id),
        ),
        Decision::Stop { why: Stopped::Goal(word) } => {
            (format!("goal `{}` is {word}", state.id), format!("loopx goal show {}", state.id))
        }
        Decision::Stop { why: Stopped::Accepted } => (
            "nothing is left, and every criterion is answered: a person can say that the goal is reached"
                .into(),
            may_run(format!("loopx goal show {}", state.id)),
        ),
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
        for_a_person,
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
        let state = ctx.goal_state(snapshot, Some(&ctx.goal_of(snapshot, goal, &turn)?))?;
        state.goal.must_be_active(&state.id)?;
        for evidence in evidence {
            if !snapshot.has_evidence(&state.id, evidence)? {
                return Err(Refusal::UnknownEvidence(evidence.clone()).into());
            }
        }
        let view = |spends: &[Spend]| QuotaView::of(&state.quota, spends, ctx.now);
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
            voided: None,
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
    Ok(QuotaStatus { goal, quota: QuotaView::of(&quota, &spends, ctx.now), free_at })
}

/// A booking, by its own id or by the turn that it was made for.
#[derive(Debug, Clone)]
pub struct Booking(String);

impl std::str::FromStr for Booking {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        // Whatever is the id of a booking could be that of a turn, too.
        text.parse::<TurnId>().map(|turn| Self(turn.as_str().to_owned()))
    }
}

/// What a person should have in front of them before they void it.
#[derive(Debug)]
pub struct Voidable {
    pub goal: GoalId,
    pub id: SpendId,
    pub spend: Spend,
}

fn booked(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    goal: Option<&GoalId>,
    named: &Booking,
) -> Result<Voidable, Error> {
    let turn = named.0.parse::<TurnId>().ok();
    let goal = match &turn {
        Some(turn) => ctx.goal_of(snapshot, goal, turn)?,
        None => ctx.goal_id(snapshot, goal)?,
    };
    let of_turn = turn.map(|turn| SpendId::of_turn(&turn));
    for id in named.0.parse::<SpendId>().ok().into_iter().chain(of_turn) {
        let Some(spend) = snapshot.spend(&goal, &id)? else { continue };
        spend.may_be_voided()?;
        if !snapshot.spends(&goal)?.contains_key(&id) {
            return Err(Refusal::SpendPast { turn: spend.turn }.into());
        }
        return Ok(Voidable { goal, id, spend });
    }
    Err(Refusal::UnknownSpend(named.0.clone()).into())
}

/// Finds the booking that is to count no more, and refuses what cannot be voided anyway.
pub fn voidable(ctx: &Ctx, goal: Option<&GoalId>, named: &Booking) -> Result<Voidable, Error> {
    booked(ctx, &ctx.store.trusted()?, goal, named)
}

/// Takes a booking out of the count, as the person who was proven to have seen it.
pub fn void(ctx: &Ctx, seen: &Voidable, reason: &Note, proven: &Proven) -> Result<Done<Spent>, Error> {
    ctx.update(&ctx.stamp()?, |snapshot| {
        let again = Booking(seen.id.to_string());
        let Voidable { goal, id, spend } = booked(ctx, snapshot, Some(&seen.goal), &again)?;
        let spend = spend.void(proven.clone(), ctx.now, reason.clone())?;
        let mut spends = snapshot.spends(&goal)?;
        spends.insert(id.clone(), spend.clone());
        let spends: Vec<_> = spends.into_values().collect();
        let quota = QuotaView::of(&snapshot.quota(&goal)?, &spends, ctx.now);
        let slots = crate::text::Count(spend.slots as usize, "slot");
        let change = Change {
            op: Op::QuotaVoid,
            subject: format!("void {slots} of goal {goal} for {}", spend.turn),
            body: Some(reason.clone()),
            goal: Some(goal.clone()),
            turn: Some(spend.turn.clone()),
            puts: vec![Record::Spend(goal.clone(), id.clone(), spend.clone())],
        };
        Ok((Some(change), Spent { id, goal, spend, quota }))
    })
}

/// The goal that a burst is for, with its limit so far. Refuses what cannot be granted anyway.
pub fn grantable(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    burst: Burst,
    reason: &Note,
) -> Result<QuotaStatus, Error> {
    let status = status(ctx, goal)?;
    let nobody = Proven { person: ctx.owner()?, proof: Proof::Terminal { typed: burst.word() } };
    let quota = ctx.store.trusted()?.quota(&status.goal)?;
    quota.grant(&status.goal, burst, nobody, ctx.now, reason.clone())?;
    Ok(status)
}

/// Grants slots on top of a goal's limit, which end by themselves.
pub fn grant(
    ctx: &Ctx,
    goal: &GoalId,
    burst: Burst,
    reason: &Note,
    proven: &Proven,
) -> Result<Done<QuotaStatus>, Error> {
    ctx.update(&ctx.stamp()?, |snapshot| {
        let goal = ctx.goal_id(snapshot, Some(goal))?;
        let quota = snapshot.quota(&goal)?;
        let quota = quota.grant(&goal, burst, proven.clone(), ctx.now, reason.clone())?;
        let spends: Vec<_> = snapshot.spends(&goal)?.into_values().collect();
        let mut quotas = snapshot.quotas()?;
        quotas.insert(goal.clone(), quota.clone());
        let slots = crate::text::Count(burst.slots as usize, "slot");
        let change = Change {
            op: Op::QuotaGrant,
            subject: format!("grant {slots} to goal {goal} until {}", burst.until),
            body: Some(reason.clone()),
            goal: Some(goal.clone()),
            turn: None,
            puts: vec![Record::Quotas(quotas)],
        };
        let free_at = quota.free_at(&spends, ctx.now);
        let quota = QuotaView::of(&quota, &spends, ctx.now);
        Ok((Some(change), QuotaStatus { goal, quota, free_at }))
    })
}

/// The active goals in the order in which they should get slots.
#[derive(Debug, Serialize)]
pub struct QuotaPlan {
    /// The goal that should get the next slot; null when none can use one now.
    pub next: Option<GoalId>,
    pub goals: Vec<PlanLine>,
}

/// A goal in its place.
#[derive(Debug, Serialize)]
pub struct PlanLine {
    pub goal: GoalId,
    pub allowed_slots: u32,
    pub spent_slots: u32,
    /// Slots it is behind what it would have if all had used the same part of their limits; below nought: ahead.
    pub deficit: i64,
    /// What `should-run` says of it.
    pub answer: &'static str,
    pub should_run: bool,
    pub why: String,
}

/// Works out which goal should get the next slot.
pub fn plan(ctx: &Ctx, can: BTreeSet<Capability>) -> Result<QuotaPlan, Error> {
    let asker = super::todo::asker(ctx, can);
    let (mut candidates, mut answers) = (Vec::new(), BTreeMap::new());
    for state in ctx.store.trusted()?.states()? {
        if state.goal.must_be_active(&state.id).is_err() {
            continue;
        }
        let decision = decision::next(&state, &asker, ctx.now);
        candidates.push(Candidate {
            goal: state.id.clone(),
            limit: state.quota.limit(&state.spends, ctx.now),
            spent: state.quota.spent(&state.spends, ctx.now),
            can_go: decision.should_run(),
        });
        answers.insert(state.id.clone(), explain(ctx, &state, decision));
    }
    let mut next = None;
    let line = |ranked: Ranked| {
        let answer = answers.remove(&ranked.candidate.goal)?;
        if ranked.is_ready() && next.is_none() {
            next = Some(ranked.candidate.goal.clone());
        }
        Some(PlanLine {
            goal: ranked.candidate.goal,
            allowed_slots: ranked.candidate.limit,
            spent_slots: ranked.candidate.spent,
            deficit: ranked.deficit,
            answer: answer.answer,
            should_run: answer.should_run,
            why: answer.why,
        })
    };
    let goals = quota::plan(candidates).into_iter().filter_map(line).collect();
    Ok(QuotaPlan { next, goals })
}
