//! What came of the last days: outcomes, decisions, spend, open questions, evidence.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ctx, evidence::brief};
use crate::{
    domain::{
        actor::{Actor, Person},
        audit::Step,
        bypass::Bypass,
        change::Record,
        command::Ended,
        evidence::{Evidence, Finding, Opinion},
        gate::{Answer, Gate, GateState},
        id::{BypassId, EvidenceId, GateId, GoalId, TodoId},
        quota::Spend,
        text::{Note, Title},
        time::{Seconds, Timestamp},
        todo::{Todo, TodoState},
    },
    error::Error,
};

/// A report on the time from `since` until `until`. Lists are in the order in which things happened.
#[derive(Debug, Serialize)]
pub struct Report {
    pub since: Timestamp,
    pub until: Timestamp,
    /// The newest commit of the state that was looked at, in hex.
    pub tip: String,
    pub goals: Vec<GoalLine>,
    pub outcomes: Vec<Outcome>,
    pub decisions: Vec<Decision>,
    /// Gates in force at the end of that time, the oldest question first.
    pub questions: Vec<Question>,
    pub spend: Spending,
    pub evidence: Vec<Seen>,
    pub bypasses: Vec<Round>,
}

/// A goal as it stands.
#[derive(Debug, Serialize)]
pub struct GoalLine {
    pub id: GoalId,
    pub objective: Title,
    pub state: &'static str,
    /// Todos done in that time.
    pub done: usize,
    /// Todos that are not closed now.
    pub open: usize,
    /// Slots used in that time.
    pub slots: u32,
}

/// Work that was finished.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub todo: TodoId,
    pub goal: GoalId,
    pub title: Title,
    /// `done` or `dropped`.
    pub state: &'static str,
    pub by: Actor,
    pub at: Timestamp,
    pub note: Option<Note>,
}

/// A question that was answered.
#[derive(Debug, Clone, Serialize)]
pub struct Decision {
    pub gate: GateId,
    pub goal: GoalId,
    pub question: Title,
    /// The answer, `withdrawn`, or `reopened`.
    pub decision: String,
    /// What a standing gate was answered about, in hex.
    pub commit: Option<String>,
    pub by: String,
    pub at: Timestamp,
    pub note: Option<Note>,
    /// How long the question waited; null for a standing one, which waits for no single answer.
    pub waited_seconds: Option<Seconds>,
}

/// A question that holds something back.
#[derive(Debug, Serialize)]
pub struct Question {
    pub gate: GateId,
    pub goal: GoalId,
    pub question: Title,
    pub rejected: bool,
    /// It is asked again for every commit.
    pub standing: bool,
    pub asked_by: Actor,
    pub at: Timestamp,
}

/// Slots that were used.
#[derive(Debug, Default, Serialize)]
pub struct Spending {
    pub turns: usize,
    pub slots: u32,
    /// By the day in UTC; days without any are there, too.
    pub days: Vec<Day>,
    /// By who booked them.
    pub agents: BTreeMap<String, u32>,
}

/// What was used on one day.
#[derive(Debug, Serialize)]
pub struct Day {
    pub day: String,
    pub slots: u32,
}

/// Evidence that was added.
#[derive(Debug, Serialize)]
pub struct Seen {
    pub id: EvidenceId,
    pub goal: GoalId,
    /// The todo or the gate.
    pub about: Option<String>,
    pub kind: &'static str,
    pub says: String,
    pub by: Actor,
    pub at: Timestamp,
    /// A command that did not end well, or a review that wants changes.
    #[serde(skip)]
    pub failed: bool,
}

/// A push that went round the hook.
#[derive(Debug, Serialize)]
pub struct Round {
    pub id: BypassId,
    pub remote: String,
    #[serde(rename = "ref")]
    pub ref_: String,
    pub at: Timestamp,
    pub acknowledged: bool,
}

const DAY: Seconds = Seconds(86_400);
/// So many days are counted one by one; before them it was too long ago for a report.
const DAYS: usize = 400;

/// Reports on everything since `since`.
pub fn report(ctx: &Ctx, since: Timestamp) -> Result<Report, Error> {
    let snapshot = ctx.store.read()?;
    let tip = snapshot.tip();
    let mut from = Some(tip.clone());
    for entry in super::history::since(ctx.store.history()?, Some(since)) {
        let entry = entry?;
        if entry.at >= since {
            from = entry.parent;
        }
    }
    let mut report = Report {
        since,
        until: ctx.now,
        tip: tip.clone(),
        goals: Vec::new(),
        outcomes: Vec::new(),
        decisions: Vec::new(),
        questions: Vec::new(),
        spend: Spending::default(),
        evidence: Vec::new(),
        bypasses: Vec::new(),
    };
    let mut slots: Vec<(GoalId, Spend)> = Vec::new();
    let mut take = |step: Step| match (step.before, step.after) {
        (before, Some(Record::Gate(goal, id, gate))) => {
            let before = match before {
                Some(Record::Gate(_, _, before)) => Some(before.state),
                _ => None,
            };
            let decisions = decisions(&goal, &id, before.as_ref(), &gate).into_iter();
            report.decisions.extend(decisions.filter(|decision| decision.at >= since));
        }
        (before, Some(Record::Todo(goal, id, todo))) => {
            let is_new = !matches!(before, Some(Record::Todo(_, _, before)) if before.state == todo.state);
            let outcome = Some(()).filter(|()| is_new).and_then(|()| outcome(goal, id, todo));
            report.outcomes.extend(outcome.filter(|outcome| outcome.at >= since));
        }
        (None, Some(Record::Evidence(goal, id, evidence))) if evidence.added.at >= since => {
            report.evidence.push(seen(goal, id, &evidence))
        }
        (None, Some(Record::Spend(goal, _, spend))) if spend.added.at >= since => slots.push((goal, spend)),
        (None, Some(Record::Bypass(id, bypass))) => report.bypasses.push(round(id, &bypass)),
        _ => {}
    };
    let steps = ctx.store.steps(from.as_deref(), &tip)?;
    steps.each_folded(|_| true, &mut take)?;
    steps.lying.into_values().for_each(take);
    report.outcomes.sort_by_key(|outcome| outcome.at);
    report.decisions.sort_by_key(|decision| decision.at);
    report.evidence.sort_by_key(|seen| seen.at);
    report.bypasses.sort_by_key(|round| round.at);
    for state in snapshot.states()? {
        let of_goal = slots.iter().filter(|(goal, _)| *goal == state.id);
        report.goals.push(GoalLine {
            objective: state.goal.objective.clone(),
            state: state.goal.state.word(),
            done: report.outcomes.iter().filter(|done| done.goal == state.id && done.state == "done").count(),
            open: state.todos.len(),
            slots: of_goal.map(|(_, spend)| spend.counted()).sum(),
            id: state.id.clone(),
        });
        report.questions.extend(state.gates.into_iter().map(|(id, gate)| Question {
            gate: id,
            goal: state.id.clone(),
            rejected: gate.is_rejected(),
            standing: gate.bind().is_some(),
            question: gate.question,
            asked_by: gate.asked.by,
            at: gate.asked.at,
        }));
    }
    report.questions.sort_by_key(|question| question.at);
    report.spend = spending(&slots, since, ctx.now);
    Ok(report)
}

/// What persons said at a gate since it was in the state `before`.
pub(super) fn decisions(
    goal: &GoalId,
    id: &GateId,
    before: Option<&GateState>,
    gate: &Gate,
) -> Vec<Decision> {
    let decision = |decision: String, by: &Person, at: Timestamp, note: Option<&Note>| Decision {
        gate: id.clone(),
        goal: goal.clone(),
        question: gate.question.clone(),
        decision,
        commit: None,
        by: by.name().to_owned(),
        at,
        note: note.cloned(),
        waited_seconds: Some(gate.asked.at.age(at)),
    };
    if before == Some(&gate.state) {
        return Vec::new();
    }
    let known = before.map(answers).unwrap_or_default();
    let new = answers(&gate.state).iter().filter(|answer| !known.contains(answer));
    let mut decisions: Vec<Decision> = new
        .map(|answer| {
            let said = decision(answer.decision.to_string(), &answer.by, answer.at, answer.note.as_ref());
            match gate.bind() {
                Some(_) => Decision { commit: answer.seen.commit.clone(), waited_seconds: None, ..said },
                None => said,
            }
        })
        .collect();
    let reopened = |state: &GateState| match state {
        GateState::Open { reopened, .. } => reopened.clone(),
        _ => None,
    };
    match &gate.state {
        GateState::Open { reopened: Some(again), .. }
            if before.and_then(reopened).as_ref() != Some(again) =>
        {
            decisions.insert(0, decision("reopened".to_owned(), &again.by, again.at, Some(&again.reason)));
        }
        GateState::Open { .. } | GateState::Standing { .. } => {}
        GateState::Resolved { decision: answer, by, at, note, .. } => {
            decisions.push(decision(answer.to_string(), by, *at, note.as_ref()));
        }
        GateState::Withdrawn { by, at, reason, .. } => {
            decisions.push(decision("withdrawn".to_owned(), by, *at, Some(reason)));
        }
    }
    decisions
}

/// The answers that a state keeps beside the one that ended it.
fn answers(state: &GateState) -> &[Answer] {
    match state {
        GateState::Open { given: answers, .. }
        | GateState::Standing { answers, .. }
        | GateState::Resolved { after: answers, .. } => answers,
        GateState::Withdrawn { .. } => &[],
    }
}

fn outcome(goal: GoalId, todo: TodoId, record: Todo) -> Option<Outcome> {
    let state = record.state.word();
    let (by, at, note) = match record.state {
        TodoState::Done { by, at, note, .. } => (by, at, note),
        TodoState::Dropped { by, at, reason, .. } => (by, at, Some(reason)),
        TodoState::Open { .. } | TodoState::Claimed { .. } | TodoState::Blocked { .. } => return None,
    };
    Some(Outcome { todo, goal, title: record.title, state, by, at, note })
}

fn seen(goal: GoalId, id: EvidenceId, evidence: &Evidence) -> Seen {
    let about = evidence.todo.as_ref().map(ToString::to_string);
    let about = about.or(evidence.gate.as_ref().map(ToString::to_string));
    let (kind, says) = (evidence.what.word(), brief(&evidence.what));
    let failed = match &evidence.what {
        Finding::Command { ended, .. } => *ended != Ended::Exit(0),
        Finding::Review { verdict, .. } => *verdict == Opinion::Changes,
        _ => false,
    };
    Seen { id, goal, about, kind, says, by: evidence.added.by.clone(), at: evidence.added.at, failed }
}

fn round(id: BypassId, bypass: &Bypass) -> Round {
    let push = &bypass.push;
    let (remote, ref_) = (push.remote.to_string(), push.ref_.to_string());
    Round { id, remote, ref_, at: push.at, acknowledged: bypass.is_acknowledged() }
}

pub(super) fn spending(spends: &[(GoalId, Spend)], since: Timestamp, until: Timestamp) -> Spending {
    let day = |at: Timestamp| at.to_string()[..10].to_owned();
    let mut days: BTreeMap<String, u32> = BTreeMap::new();
    let mut at = until;
    while days.len() < DAYS {
        days.insert(day(at), 0);
        if day(at) <= day(since) {
            break;
        }
        at = at.minus(DAY);
    }
    let mut agents: BTreeMap<String, u32> = BTreeMap::new();
    for (_, spend) in spends {
        if let Some(slots) = days.get_mut(&day(spend.added.at)) {
            *slots += spend.counted();
        }
        *agents.entry(spend.added.by.name().to_owned()).or_default() += spend.counted();
    }
    let slots = spends.iter().map(|(_, spend)| spend.counted()).sum();
    let days = days.into_iter().map(|(day, slots)| Day { day, slots }).collect();
    Spending { turns: spends.len(), slots, days, agents }
}
