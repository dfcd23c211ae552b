//! Telling a person that something began to wait for them, by a command of their own. loopx opens no connection.

use std::{cell::RefCell, rc::Rc};

use serde::Serialize;

use super::Ctx;
use crate::{
    domain::{
        actor::Proven,
        bypass::Bypass,
        change::{Change, Record},
        gate::{Act, Gate, GateState},
        id::{BypassId, GateId, GoalId},
        text::Title,
        time::Seconds,
    },
    error::Error,
};

/// How long the command may take.
pub const LIMIT: Seconds = Seconds(10);

/// Something that began to wait for a person, as the command gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event")]
pub enum Tiding {
    #[serde(rename = "gate.open")]
    Gate { gate: GateId, goal: GoalId, question: Title, blocks: Vec<Act>, asked_by: String, command: String },
    #[serde(rename = "bypass.note")]
    Bypass {
        bypass: BypassId,
        remote: Title,
        #[serde(rename = "ref")]
        ref_: Title,
        command: String,
    },
    #[serde(rename = "test")]
    Test { command: String },
}

impl Tiding {
    pub fn event(&self) -> &'static str {
        match self {
            Self::Gate { .. } => "gate.open",
            Self::Bypass { .. } => "bypass.note",
            Self::Test { .. } => "test",
        }
    }

    /// What is tried with.
    pub fn test() -> Self {
        Self::Test { command: "loopx notify show".into() }
    }

    fn gate(goal: &GoalId, id: &GateId, gate: &Gate) -> Self {
        Self::Gate {
            gate: id.clone(),
            goal: goal.clone(),
            question: gate.question.clone(),
            blocks: gate.blocks.iter().copied().collect(),
            asked_by: gate.asked.by.name().to_owned(),
            command: "loopx gate review".into(),
        }
    }

    fn bypass(id: &BypassId, bypass: &Bypass) -> Self {
        Self::Bypass {
            bypass: id.clone(),
            remote: bypass.push.remote.clone(),
            ref_: bypass.push.ref_.clone(),
            command: format!("loopx bypass acknowledge {id}"),
        }
    }
}

/// What happened in one request, shared by all that is made from its [`Ctx`].
#[derive(Debug, Default, Clone)]
pub struct Tidings(Rc<RefCell<Vec<Tiding>>>);

impl Tidings {
    pub(super) fn add(&self, more: impl Iterator<Item = Tiding>) {
        let mut all = self.0.borrow_mut();
        for tiding in more.collect::<Vec<_>>() {
            if !all.contains(&tiding) {
                all.push(tiding);
            }
        }
    }

    /// All of them, once.
    pub fn take(&self) -> Vec<Tiding> {
        self.0.take()
    }
}

/// What `change` makes wait for a person.
pub(super) fn tidings(change: &Change) -> Vec<Tiding> {
    use crate::domain::change::Op;
    let of = |record: &Record| match (change.op, record) {
        (Op::GateOpen, Record::Gate(goal, id, gate))
            if !matches!(gate.state, GateState::Withdrawn { .. }) =>
        {
            Some(Tiding::gate(goal, id, gate))
        }
        (Op::BypassNote, Record::Bypass(id, bypass)) => Some(Tiding::bypass(id, bypass)),
        _ => None,
    };
    change.puts.iter().filter_map(of).collect()
}

/// So many of what comes from elsewhere all at once are told, one by one.
const AT_ONCE: usize = 10;

/// What waited for a person before something was taken over from elsewhere.
#[derive(Debug)]
pub(super) struct Before(Option<Vec<Tiding>>);

impl Before {
    /// Nothing is looked at where nothing is told.
    pub(super) fn look(ctx: &Ctx) -> Self {
        Self(ctx.store.notify_command().and_then(|_| waiting(ctx).ok()))
    }

    /// Tells what waits now and did not then: the first ten of it.
    pub(super) fn tell_news(self, ctx: &Ctx) {
        let Some(before) = self.0 else { return };
        let now = waiting(ctx).unwrap_or_default();
        ctx.tidings.add(now.into_iter().filter(|tiding| !before.contains(tiding)).take(AT_ONCE));
    }
}

/// What waits for a person.
fn waiting(ctx: &Ctx) -> Result<Vec<Tiding>, Error> {
    let snapshot = ctx.store.trusted()?;
    let mut all = Vec::new();
    for goal in snapshot.goals()? {
        let gates = snapshot.gates(&goal)?;
        let waits = |gate: &Gate| matches!(gate.state, GateState::Open { .. } | GateState::Standing { .. });
        all.extend(
            gates.iter().filter(|(_, gate)| waits(gate)).map(|(id, gate)| Tiding::gate(&goal, id, gate)),
        );
    }
    all.extend(snapshot.bypasses()?.iter().map(|(id, bypass)| Tiding::bypass(id, bypass)));
    Ok(all)
}

/// The command, and when it did not end well.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Notifying {
    /// Its words; null when there is none.
    pub command: Option<Vec<String>>,
    /// The newest last.
    pub failures: Vec<String>,
}

/// What is set.
pub fn show(ctx: &Ctx) -> Notifying {
    Notifying { command: ctx.store.notify_command(), failures: ctx.store.notify_failures() }
}

/// Has a command run from now on. Takes a person, because an agent can have it run whenever it likes, by asking something.
pub fn set(ctx: &Ctx, words: &[String], _proven: &Proven) -> Result<Notifying, Error> {
    ctx.store.set_notify_command(words)?;
    Ok(Notifying { command: Some(words.to_vec()), ..show(ctx) })
}

/// Has none run any more. False when there was none before.
pub fn unset(ctx: &Ctx) -> Result<(Notifying, bool), Error> {
    let was_set = ctx.store.unset_notify_command()?;
    Ok((Notifying { command: None, ..show(ctx) }, was_set))
}
