//! What came of the last days: outcomes, decisions, spend, open questions, evidence.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ctx, evidence::brief};
use crate::{
    domain::{
        actor::{Actor, Person},
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

/// A report on the time from `since` until `until`. Lists are in the order in which things happened, and have the last [`MOST`].
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
    pub left_out: LeftOut,
}

/// How many came before those that the lists of a report have.
#[derive(Debug, Default, Serialize)]
pub struct LeftOut {
    pub outcomes: usize,
    pub decisions: usize,
    pub evidence: usize,
    pub bypasses: usize,
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

/// So many of a kind are told one by one; what came before them is counted.
pub const MOST: usize = 1_000;

const DAY: Seconds = Seconds(86_400);
/// So many days are counted one by one; before them it was too long ago for a report.
const DAYS: usize = 400;

/// The newest of things that are told in any order.
#[derive(Debug)]
pub(super) struct Newest<T> {
    most: usize,
    all: usize,
    kept: Vec<(Timestamp, T)>,
}

impl<T> Newest<T> {
    /// None yet, and never more than `most`.
    pub(super) fn of(most: usize) -> Self {
        Self { most, all: 0, kept: Vec::new() }
    }

    pub(super) fn add(&mut self, at: Timestamp, it: T) {
        self.all += 1;
        self.kept.push((at, it));
        if self.kept.len() >= 2 * self.most {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.kept.sort_by_key(|(at, _)| *at);
        self.kept.drain(..self.kept.len().saturating_sub(self.most));
    }

    /// The same, the newest first.
    pub(super) fn newest_first(self) -> (Vec<T>, usize) {
        let (mut kept, left_out) = self.told();
        kept.reverse();
        (kept, left_out)
    }

    /// The oldest of them first, and how many were older.
    pub(super) fn told(mut self) -> (Vec<T>, usize) {
        self.shorten();
        let left_out = self.all - self.kept.len();
        (self.kept.into_iter().map(|(_, it)| it).collect(), left_out)
    }
}

/// What came of a time.
pub(super) struct Gathered {
    pub(super) outcomes: Newest<Outcome>,
    pub(super) decisions: Newest<Decision>,
    pub(super) evidence: Newest<Seen>,
    pub(super) bypasses: Newest<Round>,
    pub(super) spend: Spending,
    /// How many todos were done in each goal.
    pub(super) done: BTreeMap<GoalId, usize>,
    /// How many slots were used in each goal.
    pub(super) slots: BTreeMap<GoalId, u32>,
}

/// Gathers what happened since `since` in the goals that are meant. `watch` is told every piece of evidence, the kept ones and the
/// others.
pub(super) fn gathered(
    ctx: &Ctx,
    tip: &str,
    since: Timestamp,
    is_meant: impl Fn(&GoalId) -> bool,
    mut watch: impl FnMut(&Seen),
) -> Result<Gathered, Error> {
    let mut from = Some(tip.to_owned());
    for entry in super::history::since(ctx.store.history()?, Some(since)) {
        let entry = entry?;
        if entry.at >= since {
            from = entry.parent;
        }
    }
    let mut all = Gathered {
        outcomes: Newest::of(MOST),
        decisions: Newest::of(MOST),
        evidence: Newest::of(MOST),
        bypasses: Newest::of(MOST),
        spend: Spending::over(since, ctx.now),
        done: BTreeMap::new(),
        slots: BTreeMap::new(),
    };
    ctx.store.steps(from.as_deref(), tip)?.each(|step| match (&step.before, &step.after) {
        (_, Some(record)) if record.within().is_some_and(|goal| !is_meant(goal)) => {}
        (before, Some(Record::Gate(goal, id, gate))) => {
            let before = match before {
                Some(Record::Gate(_, _, before)) => Some(&before.state),
                _ => None,
            };
            let decisions = decisions(goal, id, before, gate).into_iter();
            decisions.filter(|it| it.at >= since).for_each(|it| all.decisions.add(it.at, it));
        }
        (before, Some(Record::Todo(goal, id, todo))) => {
            let is_new = !matches!(before, Some(Record::Todo(_, _, before)) if before.state == todo.state);
            let outcome = Some(()).filter(|()| is_new).and_then(|()| outcome(goal, id, todo));
            if let Some(outcome) = outcome.filter(|outcome| outcome.at >= since) {
                *all.done.entry(goal.clone()).or_default() += usize::from(outcome.state == "done");
                all.outcomes.add(outcome.at, outcome);
            }
        }
        (None, Some(Record::Evidence(goal, id, evidence))) if evidence.added.at >= since => {
            let seen = seen(goal, id, evidence);
            watch(&seen);
            all.evidence.add(seen.at, seen);
        }
        (None, Some(Record::Spend(goal, _, spend))) if spend.added.at >= since => {
            *all.slots.entry(goal.clone()).or_default() += spend.counted();
            all.spend.add(spend);
        }
        (None, Some(Record::Bypass(id, bypass))) => all.bypasses.add(bypass.push.at, round(id, bypass)),
        _ => {}
    })?;
    Ok(all)
}

/// Reports on everything since `since`.
pub fn report(ctx: &Ctx, since: Timestamp) -> Result<Report, Error> {
    let snapshot = ctx.store.read()?;
    let tip = snapshot.tip();
    let all = gathered(ctx, &tip, since, |_| true, |_| {})?;
    let (mut goals, mut questions) = (Vec::new(), Vec::new());
    for state in snapshot.states()? {
        goals.push(GoalLine {
            objective: state.goal.objective.clone(),
            state: state.goal.state.word(),
            done: all.done.get(&state.id).copied().unwrap_or_default(),
            open: state.todos.len(),
            slots: all.slots.get(&state.id).copied().unwrap_or_default(),
            id: state.id.clone(),
        });
        questions.extend(state.gates.into_iter().map(|(id, gate)| Question {
            gate: id,
            goal: state.id.clone(),
            rejected: gate.is_rejected(),
            standing: gate.bind().is_some(),
            question: gate.question,
            asked_by: gate.asked.by,
            at: gate.asked.at,
        }));
    }
    questions.sort_by_key(|question| question.at);
    let (outcomes, earlier_outcomes) = all.outcomes.told();
    let (decisions, earlier_decisions) = all.decisions.told();
    let (evidence, earlier_evidence) = all.evidence.told();
    let (bypasses, earlier_bypasses) = all.bypasses.told();
    let left_out = LeftOut {
        outcomes: earlier_outcomes,
        decisions: earlier_decisions,
        evidence: earlier_evidence,
        bypasses: earlier_bypasses,
    };
    let spend = all.spend;
    Ok(Report {
        since,
        until: ctx.now,
        tip,
        goals,
        outcomes,
        decisions,
        questions,
        spend,
        evidence,
        bypasses,
        left_out,
    })
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

fn outcome(goal: &GoalId, id: &TodoId, todo: &Todo) -> Option<Outcome> {
    let (by, at, note) = match &todo.state {
        TodoState::Done { by, at, note, .. } => (by, *at, note.as_ref()),
        TodoState::Dropped { by, at, reason, .. } => (by, *at, Some(reason)),
        TodoState::Open { .. } | TodoState::Claimed { .. } | TodoState::Blocked { .. } => return None,
    };
    Some(Outcome {
        todo: id.clone(),
        goal: goal.clone(),
        title: todo.title.clone(),
        state: todo.state.word(),
        by: by.clone(),
        at,
        note: note.cloned(),
    })
}

fn seen(goal: &GoalId, id: &EvidenceId, evidence: &Evidence) -> Seen {
    let about = evidence.todo.as_ref().map(ToString::to_string);
    let about = about.or(evidence.gate.as_ref().map(ToString::to_string));
    let (kind, says) = (evidence.what.word(), brief(&evidence.what));
    let failed = match &evidence.what {
        Finding::Command { ended, .. } => *ended != Ended::Exit(0),
        Finding::Review { verdict, .. } => *verdict == Opinion::Changes,
        _ => false,
    };
    let (id, goal, by) = (id.clone(), goal.clone(), evidence.added.by.clone());
    Seen { id, goal, about, kind, says, by, at: evidence.added.at, failed }
}

fn round(id: &BypassId, bypass: &Bypass) -> Round {
    let push = &bypass.push;
    let (remote, ref_) = (push.remote.to_string(), push.ref_.to_string());
    Round { id: id.clone(), remote, ref_, at: push.at, acknowledged: bypass.is_acknowledged() }
}

impl Spending {
    /// Nothing yet of that time.
    fn over(since: Timestamp, until: Timestamp) -> Self {
        let mut days = Vec::new();
        let mut at = until;
        while days.len() < DAYS {
            days.push(Day { day: at.day(), slots: 0 });
            if at.day() <= since.day() {
                break;
            }
            at = at.minus(DAY);
        }
        days.reverse();
        Self { days, ..Self::default() }
    }

    fn add(&mut self, spend: &Spend) {
        let (on, slots) = (spend.added.at.day(), spend.counted());
        self.turns += 1;
        self.slots += slots;
        if let Ok(at) = self.days.binary_search_by(|day| day.day.cmp(&on)) {
            self.days[at].slots += slots;
        }
        *self.agents.entry(spend.added.by.name().to_owned()).or_default() += slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_in_whatever_order_they_come() {
        let mut newest = Newest::of(3);
        for at in [5, 1, 9, 2, 8, 8, 3, 7] {
            newest.add(Timestamp::from_unix(at), at);
        }
        assert_eq!(newest.told(), (vec![8, 8, 9], 5));
        let mut few = Newest::of(3);
        few.add(Timestamp::from_unix(1), 'a');
        assert_eq!(few.told(), (vec!['a'], 0));
    }
}
