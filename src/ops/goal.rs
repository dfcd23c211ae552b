//! Goals and their configuration.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        actor::{Person, Proven},
        change::{Change, Op, Record},
        goal::{Feature, Goal},
        id::{EvidenceId, GateId, GoalId, slug},
        quota::{Cap, Grant, Quota, Share, Spend},
        refusal::Refusal,
        text::{Note, Title},
        time::Timestamp,
    },
    error::{Error, Kind},
    store::{Snapshot, message::subject},
};

/// A goal with its id and limit.
#[derive(Debug, Serialize)]
pub struct GoalView {
    pub id: GoalId,
    #[serde(flatten)]
    pub goal: Goal,
    pub quota: QuotaView,
}

/// A limit with what follows from it.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct QuotaView {
    /// Share of the window's slots, 0 to 1.
    pub compute: Share,
    pub window_hours: u32,
    pub slot_minutes: u32,
    /// The cap on the slots of a window; null when the share alone says how many.
    pub cap_slots: Option<u32>,
    /// Slots that may be used in a window, with what is granted.
    pub allowed_slots: u32,
    /// Slots used in the window that ends now.
    pub spent_slots: u32,
    /// Bursts that run now.
    pub grants: Vec<Grant>,
}

impl QuotaView {
    pub(super) fn of(quota: &Quota, spends: &[Spend], now: Timestamp) -> Self {
        Self {
            compute: quota.compute(),
            window_hours: quota.window_hours(),
            slot_minutes: quota.slot_minutes(),
            cap_slots: quota.cap(),
            allowed_slots: quota.limit(spends, now),
            spent_slots: quota.spent(spends, now),
            grants: quota.running(spends, now).into_iter().cloned().collect(),
        }
    }
}

/// All goals.
#[derive(Debug, Serialize)]
pub struct Goals {
    pub goals: Vec<GoalView>,
}

fn view(ctx: &Ctx, snapshot: &Snapshot<'_>, id: GoalId) -> Result<GoalView, Error> {
    let goal = snapshot.goal(&id)?.ok_or_else(|| Refusal::UnknownGoal(id.clone()))?;
    let quota = snapshot.quota(&id)?;
    let spends: Vec<_> = snapshot.spends(&id)?.into_values().collect();
    let quota = QuotaView::of(&quota, &spends, ctx.now);
    Ok(GoalView { id, goal, quota })
}

/// Adds a goal. Without an `id`, one is made from the objective.
pub fn add(
    ctx: &Ctx,
    id: Option<GoalId>,
    objective: Title,
    done_when: Vec<Title>,
) -> Result<Done<GoalView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let taken = snapshot.goals()?;
        let id = match &id {
            Some(id) if taken.contains(id) => return Err(Refusal::GoalExists(id.clone()).into()),
            Some(id) => id.clone(),
            None => derived(objective.as_str(), "goal", |id| Ok(taken.contains(id)))?,
        };
        let goal = Goal::new(objective.clone(), done_when.clone(), stamp.clone());
        let change = Change {
            op: Op::GoalAdd,
            subject: subject(&format!("add goal {id}"), &objective),
            body: None,
            goal: Some(id.clone()),
            turn: None,
            puts: vec![Record::Goal(id.clone(), goal.clone())],
        };
        let quota = QuotaView::of(&snapshot.quota(&id)?, &[], ctx.now);
        Ok((Some(change), GoalView { id, goal, quota }))
    })
}

/// An id from a sentence: its slug, with a number behind it while that is taken.
pub(super) fn derived<I: std::str::FromStr>(
    sentence: &str,
    fallback: &str,
    taken: impl Fn(&I) -> Result<bool, Error>,
) -> Result<I, Error> {
    let slug = slug(sentence).unwrap_or_else(|| fallback.to_owned());
    for number in 1..10_000 {
        let text = if number == 1 { slug.clone() } else { format!("{slug}-{number}") };
        if let Ok(id) = text.parse()
            && !taken(&id)?
        {
            return Ok(id);
        }
    }
    Err(Refusal::NoFreeId.into())
}

/// Every goal, by id.
pub fn list(ctx: &Ctx) -> Result<Goals, Error> {
    let snapshot = ctx.store.read()?;
    let goals = snapshot.goals()?.into_iter().map(|id| view(ctx, &snapshot, id)).collect::<Result<_, _>>()?;
    Ok(Goals { goals })
}

/// One goal with its configuration.
pub fn show(ctx: &Ctx, id: Option<&GoalId>) -> Result<GoalView, Error> {
    let snapshot = ctx.store.read()?;
    let id = ctx.goal_id(&snapshot, id)?;
    view(ctx, &snapshot, id)
}

/// A change to a goal's configuration, as it was asked for.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    pub enable: BTreeSet<Feature>,
    pub disable: BTreeSet<Feature>,
    pub compute: Option<Share>,
    pub window_hours: Option<u32>,
    pub slot_minutes: Option<u32>,
    pub slots: Option<Cap>,
}

impl Configuration {
    /// What is asked for, in one line.
    fn brief(&self) -> String {
        let mut asked: Vec<String> = Vec::new();
        asked.extend(self.enable.iter().map(|feature| format!("{} on", feature.word())));
        asked.extend(self.disable.iter().map(|feature| format!("{} off", feature.word())));
        asked.extend(self.compute.iter().map(|share| format!("compute {share}")));
        asked.extend(self.window_hours.iter().map(|hours| format!("window {hours} h")));
        asked.extend(self.slot_minutes.iter().map(|minutes| format!("slot {minutes} min")));
        asked.extend(self.slots.iter().map(|cap| format!("slots {cap}")));
        if asked.is_empty() { "nothing".to_owned() } else { asked.join(", ") }
    }
}

/// What a configuration would come to.
#[derive(Debug)]
pub struct Plan {
    pub goal: GoalId,
    /// What it loosens, a line each. Only a person may do these; nothing else in it needs one.
    pub loosens: Vec<String>,
}

/// Works out what `configuration` would change now, without changing it.
pub fn plan(ctx: &Ctx, id: Option<&GoalId>, configuration: &Configuration) -> Result<Plan, Error> {
    let snapshot = ctx.store.read()?;
    let goal = ctx.goal_id(&snapshot, id)?;
    let (_, _, _, loosens) = configured(&snapshot, &goal, configuration)?;
    Ok(Plan { goal, loosens })
}

/// Configures a goal. `proven` is asked for when the change loosens something on the state it is made on.
pub fn configure(
    ctx: &Ctx,
    id: &GoalId,
    configuration: &Configuration,
    proven: Option<&Proven>,
) -> Result<Done<GoalView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let (before, goal, quota, loosens) = configured(snapshot, id, configuration)?;
        if let (Some(loosened), None) = (loosens.first(), proven) {
            return Err(Error::new(Kind::PersonNeeded, format!("only a person may {loosened}"))
                .hint("run the same command in a terminal"));
        }
        let mut puts = Vec::new();
        if goal != before {
            puts.push(Record::Goal(id.clone(), goal.clone()));
        }
        let mut quotas = snapshot.quotas()?;
        if quota != quotas.get(id).cloned().unwrap_or_default() {
            quotas.insert(id.clone(), quota.clone());
            puts.push(Record::Quotas(quotas));
        }
        let spends: Vec<_> = snapshot.spends(id)?.into_values().collect();
        let view = GoalView { id: id.clone(), goal, quota: QuotaView::of(&quota, &spends, ctx.now) };
        let change = Change {
            op: Op::GoalConfigure,
            subject: subject(&format!("configure goal {id}"), &configuration.brief()),
            body: None,
            goal: Some(id.clone()),
            turn: None,
            puts,
        };
        Ok((Some(change), view))
    })
}

/// The goal before `configuration`, goal and limit after it, and what that loosens.
fn configured(
    snapshot: &Snapshot<'_>,
    id: &GoalId,
    configuration: &Configuration,
) -> Result<(Goal, Goal, Quota, Vec<String>), Error> {
    let stored = snapshot.goal(id)?.ok_or_else(|| Refusal::UnknownGoal(id.clone()))?;
    let mut goal = stored.clone();
    let mut loosens = Vec::new();
    for feature in &configuration.enable {
        if goal.features.insert(*feature) {
            loosens.push(format!("switch on `{}` for goal `{id}`", feature.word()));
        }
    }
    for feature in &configuration.disable {
        goal.features.remove(feature);
    }
    let before = snapshot.quota(id)?;
    let after = Quota::new(
        configuration.compute.unwrap_or(before.compute()),
        configuration.window_hours.unwrap_or(before.window_hours()),
        configuration.slot_minutes.unwrap_or(before.slot_minutes()),
    )
    .and_then(|quota| quota.capped(configuration.slots.map_or(before.cap(), |cap| cap.0)))
    .map(|quota| quota.with_grants_of(&before))
    .map_err(|bad| Error::new(Kind::Usage, bad.to_string()).hint("run `loopx configure-goal --help`"))?;
    if !after.is_at_most(&before) {
        let slots = |quota: &Quota| {
            format!("{} slots of {} min in {} h", quota.allowed(), quota.slot_minutes(), quota.window_hours())
        };
        loosens.push(format!("raise the quota of goal `{id}` from {} to {}", slots(&before), slots(&after)));
    }
    Ok((stored, goal, after, loosens))
}

/// Stops the loop of a goal for a while.
pub fn pause(ctx: &Ctx, goal: Option<&GoalId>, reason: Option<&Note>) -> Result<Done<GoalView>, Error> {
    let stamp = ctx.stamp()?;
    turned(ctx, goal, (Op::GoalPause, "pause"), reason, |_, id, goal| {
        Ok(goal.pause(id, &stamp, reason.cloned())?)
    })
}

/// Lets the loop of a paused goal go on.
pub fn resume(ctx: &Ctx, goal: Option<&GoalId>, _proven: &Proven) -> Result<Done<GoalView>, Error> {
    turned(ctx, goal, (Op::GoalResume, "resume"), None, |_, id, goal| Ok(goal.resume(id)?))
}

/// Ends a goal as given up.
pub fn abandon(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    reason: &Note,
    proven: &Proven,
) -> Result<Done<GoalView>, Error> {
    turned(ctx, goal, (Op::GoalAbandon, "abandon"), Some(reason), |_, id, goal| {
        Ok(goal.abandon(id, proven.person.clone(), ctx.now, reason.clone())?)
    })
}

/// Ends a goal as reached. `met` says which evidence answers which criterion, numbered from 1.
pub fn achieve(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    met: &[(usize, EvidenceId)],
    proven: &Proven,
) -> Result<Done<GoalView>, Error> {
    turned(ctx, goal, (Op::GoalAchieve, "achieve"), None, |snapshot, id, goal| {
        achieved(ctx, snapshot, id, goal, met, &proven.person)
    })
}

fn achieved(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    id: &GoalId,
    goal: &Goal,
    met: &[(usize, EvidenceId)],
    person: &Person,
) -> Result<Goal, Error> {
    let numbers = 1..=goal.done_when.len();
    let mut evidence: Vec<_> = numbers.map(|number| goal.met(number).cloned()).collect();
    for (number, found) in met {
        if !snapshot.has_evidence(id, found)? {
            return Err(Refusal::UnknownEvidence(found.clone()).into());
        }
        let criterion = number.checked_sub(1).and_then(|at| evidence.get_mut(at));
        let of = goal.done_when.len();
        *criterion.ok_or_else(|| Refusal::NoCriterion { goal: id.clone(), number: *number, of })? =
            Some(found.clone());
    }
    let open: Vec<GateId> =
        snapshot.gates(id)?.into_iter().filter(|(_, gate)| gate.is_open()).map(|(id, _)| id).collect();
    if !open.is_empty() {
        return Err(Refusal::GoalGated { goal: id.clone(), gates: open }.into());
    }
    Ok(goal.achieve(id, person.clone(), ctx.now, evidence)?)
}

/// What a person is asked to confirm, and what of the goal they should have in front of them.
#[derive(Debug)]
pub struct Over {
    pub goal: GoalId,
    pub objective: Title,
    /// Each criterion with its evidence, if it has any.
    pub criteria: Vec<(Title, Option<EvidenceId>)>,
    /// Todos that are not closed.
    pub open: usize,
}

/// Prepares the end of a goal, or its going on. With `met`, refuses what cannot be achieved anyway.
pub fn over(ctx: &Ctx, goal: Option<&GoalId>, met: Option<&[(usize, EvidenceId)]>) -> Result<Over, Error> {
    let snapshot = ctx.store.trusted()?;
    let id = ctx.goal_id(&snapshot, goal)?;
    let goal = snapshot.goal(&id)?.ok_or_else(|| Refusal::UnknownGoal(id.clone()))?;
    if let Some(met) = met {
        achieved(ctx, &snapshot, &id, &goal, met, &ctx.owner()?)?;
    }
    let given = |at: usize| met?.iter().find(|(number, _)| *number == at + 1).map(|(_, id)| id.clone());
    let answered = |at: usize| given(at).or_else(|| goal.met(at + 1).cloned());
    let criteria = goal.done_when.iter().enumerate().map(|(at, text)| (text.clone(), answered(at))).collect();
    Ok(Over { open: snapshot.todos(&id)?.len(), goal: id, objective: goal.objective, criteria })
}

/// Puts down which evidence answers which criterion, numbered from 1, and which ones are not answered after all.
pub fn meet(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    met: &[(usize, EvidenceId)],
    unmet: &[usize],
) -> Result<Done<GoalView>, Error> {
    let found: Vec<_> = (met.iter().map(|(number, evidence)| (*number, Some(evidence.clone()))))
        .chain(unmet.iter().map(|number| (*number, None)))
        .collect();
    turned(ctx, goal, (Op::GoalMeet, "answer criteria of"), None, |snapshot, id, goal| {
        for (_, evidence) in met {
            if !snapshot.has_evidence(id, evidence)? {
                return Err(Refusal::UnknownEvidence(evidence.clone()).into());
            }
        }
        Ok(goal.meet(id, &found)?)
    })
}

fn turned(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    (op, verb): (Op, &str),
    reason: Option<&Note>,
    turn: impl Fn(&Snapshot<'_>, &GoalId, &Goal) -> Result<Goal, Error>,
) -> Result<Done<GoalView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let id = ctx.goal_id(snapshot, goal)?;
        let before = snapshot.goal(&id)?.ok_or_else(|| Refusal::UnknownGoal(id.clone()))?;
        let after = turn(snapshot, &id, &before)?;
        let change = Change {
            op,
            subject: subject(&format!("{verb} goal {id}"), &after.objective),
            body: reason.cloned(),
            goal: Some(id.clone()),
            turn: None,
            puts: vec![Record::Goal(id.clone(), after.clone())],
        };
        let quota = view(ctx, snapshot, id.clone())?.quota;
        Ok((Some(change), GoalView { id, goal: after, quota }))
    })
}
