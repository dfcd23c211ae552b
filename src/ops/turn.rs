//! Turns: deciding, claiming and knowing what it is about in one step; and saying what came of it in another.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    Ctx, Done,
    quota::{ShouldRun, cut},
    todo::{Completion, Ran, Stepped},
};
use crate::{
    domain::{
        change::{Change, Op, Record},
        decision,
        evidence::{Evidence, Finding},
        gate::Act,
        handoff,
        id::{Capability, EvidenceId, GateId, GoalId, SpendId, TodoId, TodoPrefix, TurnId},
        quota::Spend,
        refusal::Refusal,
        state::Loop,
        text::{Note, Title},
        time::{Seconds, Timestamp},
        todo::{Check, Todo, TodoState},
        turn::{Course, End, Outcome},
    },
    error::Error,
    store::{Snapshot, message::subject},
};

/// What beginning a turn came to.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Begun {
    pub goal: GoalId,
    /// The turn with what it is about; null when nothing may be done now.
    pub turn: Option<Context>,
    /// Why none was begun; null when one was.
    pub instead: Option<ShouldRun>,
    /// Turns that nobody had ended, and that this ended.
    pub lost: Vec<TurnId>,
}

/// What whoever works in a turn needs to know.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Context {
    pub id: TurnId,
    /// When the turn is over unless its claim is renewed.
    pub until: Timestamp,
    /// How it ended, if it did.
    pub ended: Option<End>,
    pub objective: Title,
    pub done_when: Vec<Title>,
    /// What to work on; null when the turn is for thinking of the next todos.
    pub todo: Option<Work>,
    /// Questions that wait for a person and hold turns back elsewhere.
    pub gates: Vec<Question>,
    /// What the last turns left behind, the latest first: those on the same todo, if there were any.
    pub handoff: Vec<Handoff>,
    /// The note that was left for whoever goes on; null when there is none.
    pub note: Option<handoff::Handoff>,
}

impl Context {
    /// Most bytes of it as JSON, as far as texts can be cut.
    const BYTES: usize = 8 * 1024;
    /// Most criteria, needs and capabilities where that is not enough.
    const MOST: usize = 5;

    /// Cuts the long texts, all of them to the same length, until the whole is short enough. What was cut says how much more
    /// there is.
    fn bounded(self) -> Self {
        let is_short =
            |it: &Self| serde_json::to_string_pretty(it).is_ok_and(|json| json.len() <= Self::BYTES);
        let cuts = [8192, 4096, 2048, 1024, 512, 256].into_iter().map(|bytes| self.cut(bytes));
        match cuts.into_iter().find(is_short) {
            Some(short) => short,
            None => self.cut(128).narrowed(),
        }
    }

    fn cut(&self, bytes: usize) -> Self {
        let mut cut = self.clone();
        if let Some(work) = &mut cut.todo {
            work.todo.body = work.todo.body.as_ref().map(|body| body.at_most(bytes));
        }
        for left in &mut cut.handoff {
            left.end.summary = left.end.summary.as_ref().map(|summary| summary.at_most(bytes));
        }
        if let Some(note) = &mut cut.note {
            note.text = note.text.at_most(bytes);
        }
        cut
    }

    fn narrowed(mut self) -> Self {
        self.done_when.truncate(Self::MOST);
        self.done_when.iter_mut().for_each(|title| *title = cut(title));
        self.gates.iter_mut().for_each(|gate| gate.question = cut(&gate.question));
        if let Some(work) = &mut self.todo {
            work.todo.needs = work.todo.needs.iter().take(Self::MOST).cloned().collect();
            work.todo.requires = work.todo.requires.iter().take(Self::MOST).cloned().collect();
        }
        self
    }
}

/// The todo of a turn.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Work {
    pub id: TodoId,
    #[serde(flatten)]
    pub todo: Todo,
    /// Evidence about it, the newest first; the latest five.
    pub evidence: Vec<EvidenceId>,
}

/// A gate that is open.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Question {
    pub id: GateId,
    pub question: Title,
}

/// What a turn said when it ended.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Handoff {
    pub turn: TurnId,
    pub todo: Option<TodoId>,
    #[serde(flatten)]
    pub end: End,
}

/// What the last two turns but `now` left behind, the latest first: those on `about`, if there were any.
pub(super) fn left_behind(state: &Loop, now: Option<&TurnId>, about: Option<&TodoId>) -> Vec<Handoff> {
    let mut left: Vec<_> = (state.spends.iter())
        .filter_map(|other| {
            let Course { todo, end, .. } = other.course.clone()?;
            let end = end.filter(|end| end.summary.is_some() && now != Some(&other.turn))?;
            Some(Handoff { turn: other.turn.clone(), todo, end })
        })
        .collect();
    left.sort_by(|a, b| (b.end.at, b.turn.as_str()).cmp(&(a.end.at, a.turn.as_str())));
    if left.iter().any(|handoff| handoff.todo.is_some() && handoff.todo.as_ref() == about) {
        left.retain(|handoff| handoff.todo.as_ref() == about);
    }
    left.truncate(2);
    left
}

fn context(
    snapshot: &Snapshot<'_>,
    state: &Loop,
    turn: &Spend,
    course: &Course,
    now_at: Option<&Todo>,
) -> Result<Context, Error> {
    let todo = match &course.todo {
        None => None,
        Some(id) => {
            let stored = if now_at.is_none() { snapshot.todo(&state.id, id)? } else { now_at.cloned() };
            let mut evidence: Vec<_> = (snapshot.evidence(&state.id)?.into_iter())
                .filter(|(_, evidence)| evidence.todo.as_ref() == Some(id))
                .map(|(id, evidence)| (evidence.added.at, id))
                .collect();
            evidence.sort();
            let evidence = evidence.into_iter().rev().take(5).map(|(_, id)| id).collect();
            stored.map(|todo| Work { id: id.clone(), todo, evidence })
        }
    };
    let left = left_behind(state, Some(&turn.turn), course.todo.as_ref());
    let gates = state.open_gates().into_iter().filter(|(_, gate)| gate.holds_back(Act::Turn)).take(3);
    Ok(Context {
        id: turn.turn.clone(),
        until: course.until,
        ended: course.end.clone(),
        objective: state.goal.objective.clone(),
        done_when: state.goal.done_when.clone(),
        todo,
        gates: gates.map(|(id, gate)| Question { id: id.clone(), question: gate.question.clone() }).collect(),
        handoff: left,
        note: snapshot.handoff(&state.id)?,
    }
    .bounded())
}

/// Begins a turn: decides as `should-run` does, claims what that names, puts a slot aside, and ends the turns that nobody
/// had ended, in one commit. A turn that was begun already is told again, and nothing is written.
pub fn begin(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    turn: Option<TurnId>,
    can: BTreeSet<Capability>,
    lease: Seconds,
) -> Result<Done<Begun>, Error> {
    let stamp = ctx.stamp()?;
    let turn = turn.unwrap_or_else(|| TurnId::unnamed(&ctx.entropy));
    let id = SpendId::of_turn(&turn);
    let asker = super::todo::asker(ctx, can);
    ctx.update(&stamp, |snapshot| {
        let mut state = ctx.goal_state(snapshot, Some(&ctx.goal_of(snapshot, goal, &turn)?))?;
        let goal = state.id.clone();
        if let Some(spend) = snapshot.spend(&goal, &id)? {
            let Some(course) = &spend.course else {
                return Err(Refusal::TurnNotBegun { turn: turn.clone() }.into());
            };
            if spend.added.by != stamp.by {
                return Err(Refusal::TurnOfAnother { turn: turn.clone(), by: spend.added.by.clone() }.into());
            }
            let told = context(snapshot, &state, &spend, course, None)?;
            return Ok((None, Begun { goal, turn: Some(told), instead: None, lost: Vec::new() }));
        }
        let lost = state.lost_turns(&stamp);
        for over in &lost {
            state
                .spends
                .iter_mut()
                .filter(|spend| spend.turn == over.turn)
                .for_each(|spend| *spend = over.clone());
        }
        let book = |spend: &Spend| Record::Spend(goal.clone(), SpendId::of_turn(&spend.turn), spend.clone());
        let mut puts: Vec<Record> = lost.iter().map(book).collect();
        let lost: Vec<TurnId> = lost.into_iter().map(|spend| spend.turn).collect();
        let change = |what: String, title: &Title, turn: Option<TurnId>, puts| Change {
            op: Op::TurnBegin,
            subject: subject(&what, title),
            body: None,
            goal: Some(goal.clone()),
            turn,
            puts,
        };
        let decision = decision::next(&state, &asker, ctx.now);
        if !decision.should_run() {
            let objective = &state.goal.objective;
            let ended = format!("end {} that nobody ended", crate::text::Count(lost.len(), "turn"));
            let change = (!lost.is_empty()).then(|| change(ended, objective, None, puts));
            let instead = Some(super::quota::explain(ctx, &state, decision));
            return Ok((change, Begun { goal: goal.clone(), turn: None, instead, lost }));
        }
        let (until, slots, what, title, taken) = match decision.todo() {
            None => {
                (ctx.now.plus(lease), 1, format!("begin turn {turn}"), state.goal.objective.clone(), None)
            }
            Some(id) => {
                let Stepped { todo, what, .. } =
                    super::todo::claimed(ctx, id, state.claim(id, &stamp, lease)?);
                let until = todo.holder(ctx.now).map_or(ctx.now.plus(lease), |(_, until)| until);
                let slots = u32::from(todo.monitor.is_none());
                if todo != state.todos[id] {
                    puts.push(Record::Todo(goal.clone(), id.clone(), todo.clone()));
                }
                (until, slots, format!("begin turn {turn}, {what}"), todo.title.clone(), Some(todo))
            }
        };
        let spend = Spend::begin(turn.clone(), slots, decision.todo().cloned(), until, stamp.clone());
        let spend = state.quota.spend(&goal, &state.spends, spend)?;
        puts.push(book(&spend));
        let told = match &spend.course {
            Some(course) => Some(context(snapshot, &state, &spend, course, taken.as_ref())?),
            None => None,
        };
        let change = change(what, &title, Some(turn.clone()), puts);
        Ok((Some(change), Begun { goal: goal.clone(), turn: told, instead: None, lost }))
    })
}

/// What came of a turn, as it was said.
#[derive(Debug, Clone)]
pub struct Finish {
    pub outcome: Outcome,
    pub summary: Note,
    pub evidence: BTreeSet<EvidenceId>,
    /// What it used, if that is not what was put aside.
    pub slots: Option<u32>,
    /// The check that ran because [`to_run`] said so, and was passed.
    pub ran: Option<Ran>,
}

/// A turn that was ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Ended {
    pub goal: GoalId,
    #[serde(flatten)]
    pub spend: Spend,
}

fn found(snapshot: &Snapshot<'_>, state: &Loop, turn: &TurnId) -> Result<(SpendId, Spend, Course), Error> {
    let id = SpendId::of_turn(turn);
    let spend = snapshot.spend(&state.id, &id)?.ok_or_else(|| Refusal::UnknownTurn(turn.clone()))?;
    let course = spend.course.clone().ok_or_else(|| Refusal::TurnNotBegun { turn: turn.clone() })?;
    Ok((id, spend, course))
}

/// The check that has to be passed before the turn can end as completed; nothing when there is none.
pub fn to_run(
    ctx: &Ctx,
    goal: Option<&GoalId>,
    turn: &TurnId,
    finish: &Finish,
) -> Result<Option<(TodoId, Check)>, Error> {
    let snapshot = ctx.store.trusted()?;
    let state = ctx.goal_state(&snapshot, Some(&ctx.goal_of(&snapshot, goal, turn)?))?;
    let (_, spend, course) = found(&snapshot, &state, turn)?;
    let todo = course.todo.filter(|id| state.todos.get(id).is_some_and(|todo| todo.monitor.is_none()));
    let Some(todo) = todo.filter(|_| spend.goes_on() && finish.outcome == Outcome::Completed) else {
        return Ok(None);
    };
    let prefix: TodoPrefix = todo.as_str().parse().map_err(|_| Refusal::NoFreeId)?;
    let completion =
        Completion { evidence: finish.evidence.clone(), note: Some(finish.summary.clone()), ran: None };
    super::todo::to_run(ctx, &prefix, &completion)
}

/// Ends a turn: what came of it, what became of its todo, what was seen and what it used, in one commit. One that was
/// ended so stays as it is, and nothing is written.
pub fn end(ctx: &Ctx, goal: Option<&GoalId>, turn: &TurnId, finish: &Finish) -> Result<Done<Ended>, Error> {
    let at = finish.ran.as_ref().map_or(ctx.now, |ran| ran.ended);
    let stamp = crate::domain::actor::Stamp { at, ..ctx.stamp()? };
    let git = ctx.store.git();
    let (commit, dirty) = (git.head()?.map(|head| head.commit), git.is_dirty()?);
    ctx.update(&stamp, |snapshot| {
        let state = ctx.goal_state(snapshot, Some(&ctx.goal_of(snapshot, goal, turn)?))?;
        let (id, spend, course) = found(snapshot, &state, turn)?;
        if let Some(end) = &course.end
            && end.by == stamp.by
            && end.outcome != Outcome::Lost
        {
            return Ok((None, Ended { goal: state.id.clone(), spend }));
        }
        for evidence in &finish.evidence {
            if !snapshot.has_evidence(&state.id, evidence)? {
                return Err(Refusal::UnknownEvidence(evidence.clone()).into());
            }
        }
        let open = course.todo.as_ref().and_then(|id| Some((id, state.todos.get(id)?)));
        let seen = match (&finish.ran, finish.outcome) {
            (_, Outcome::Nothing | Outcome::Lost) => None,
            (Some(Ran { argv, ended, output }), _) => {
                let seconds = ctx.now.age(*ended);
                Some(Finding::Check { argv: argv.clone(), seconds, output: output.clone() })
            }
            (None, _) => Some(Finding::Note { text: finish.summary.clone() }),
        };
        let mut puts = Vec::new();
        let mut evidence = finish.evidence.clone();
        if let Some(what) = seen {
            let (todo, added) = (course.todo.clone(), stamp.clone());
            let record = Evidence { commit: commit.clone(), dirty, todo, gate: None, added, what };
            let (change, view) = super::evidence::added(ctx, snapshot, state.id.clone(), record)?;
            puts.extend(change.into_iter().flat_map(|change| change.puts));
            evidence.insert(view.id);
        }
        if let Some((id, todo)) = open {
            let is_mine = matches!(&todo.state, TodoState::Claimed { by, .. } if *by == stamp.by);
            let after = match finish.outcome {
                Outcome::Completed if todo.monitor.is_none() => {
                    let (note, ran) = (Some(finish.summary.clone()), finish.ran.clone());
                    let completion = Completion { evidence: finish.evidence.clone(), note, ran };
                    let new = evidence.difference(&finish.evidence).next();
                    Some(super::todo::complete(snapshot, &state, id, &stamp, &completion, new)?)
                }
                Outcome::Blocked if is_mine => Some(state.block(id, &stamp, None, finish.summary.clone())?),
                _ if is_mine => Some(todo.release(id, &stamp.by)?),
                _ => None,
            };
            puts.extend(after.map(|todo| Record::Todo(state.id.clone(), id.clone(), todo)));
        }
        let slots = finish.slots.unwrap_or(if finish.outcome == Outcome::Nothing { 0 } else { spend.slots });
        let (outcome, summary) = (finish.outcome, Some(finish.summary.clone()));
        let end = End { outcome, by: stamp.by.clone(), at: stamp.at, summary };
        let ended = spend.end(end, slots, evidence.into_iter().collect())?;
        let ended = state.quota.spend(&state.id, &state.spends, ended)?;
        puts.push(Record::Spend(state.id.clone(), id, ended.clone()));
        let change = Change {
            op: Op::TurnEnd,
            subject: subject(&format!("end turn {turn}"), &outcome.word()),
            body: Some(finish.summary.clone()),
            goal: Some(state.id.clone()),
            turn: Some(turn.clone()),
            puts,
        };
        Ok((Some(change), Ended { goal: state.id.clone(), spend: ended }))
    })
}
