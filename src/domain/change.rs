//! What a decision to write looks like: which records it puts where, and the sentence for the history.

use super::{
    bypass::Bypass,
    evidence::Evidence,
    gate::Gate,
    goal::Goal,
    id::{BypassId, EvidenceId, GateId, GoalId, SpendId, TodoId, TurnId},
    policy::Policy,
    quota::{Quotas, Spend},
    text::Note,
    todo::Todo,
};

/// One mutation, which becomes one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub op: Op,
    /// What a person would say: `claim todo t-7k3q`. One line.
    pub subject: String,
    /// The reason that was given, if one was.
    pub body: Option<Note>,
    pub goal: Option<GoalId>,
    pub turn: Option<TurnId>,
    /// The records in their new form. A record that is already stored like this changes nothing.
    pub puts: Vec<Record>,
}

/// The kind of a mutation; the value of the `Loopx-Op` trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Init,
    PolicyConfigure,
    GoalAdd,
    GoalConfigure,
    GateOpen,
    GateResolve,
    TodoAdd,
    TodoClaim,
    TodoRelease,
    TodoDone,
    EvidenceAdd,
    QuotaSpend,
    /// Pushes that went round the hook were noticed.
    BypassNote,
    BypassAcknowledge,
    /// Closed records went into a segment; nothing that can be asked has changed.
    Fold,
    /// A whole state that was exported elsewhere, or goals that another tool kept.
    Import,
    /// The history so far was left behind; the state stays to the byte.
    Checkpoint,
}

impl Op {
    const ALL: [Self; 17] = [
        Self::Init,
        Self::PolicyConfigure,
        Self::GoalAdd,
        Self::GoalConfigure,
        Self::GateOpen,
        Self::GateResolve,
        Self::TodoAdd,
        Self::TodoClaim,
        Self::TodoRelease,
        Self::TodoDone,
        Self::EvidenceAdd,
        Self::QuotaSpend,
        Self::BypassNote,
        Self::BypassAcknowledge,
        Self::Fold,
        Self::Import,
        Self::Checkpoint,
    ];

    /// The kind with this [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.word() == word)
    }

    /// As it stands in the trailer: the noun, a dot, the verb.
    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::PolicyConfigure => "policy.configure",
            Self::GoalAdd => "goal.add",
            Self::GoalConfigure => "goal.configure",
            Self::GateOpen => "gate.open",
            Self::GateResolve => "gate.resolve",
            Self::TodoAdd => "todo.add",
            Self::TodoClaim => "todo.claim",
            Self::TodoRelease => "todo.release",
            Self::TodoDone => "todo.done",
            Self::EvidenceAdd => "evidence.add",
            Self::QuotaSpend => "quota.spend",
            Self::BypassNote => "bypass.note",
            Self::BypassAcknowledge => "bypass.acknowledge",
            Self::Fold => "fold",
            Self::Import => "import",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// One record with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    Policy(Policy),
    Quotas(Quotas),
    Goal(GoalId, Goal),
    Gate(GoalId, GateId, Gate),
    Todo(GoalId, TodoId, Todo),
    Evidence(GoalId, EvidenceId, Evidence),
    Spend(GoalId, SpendId, Spend),
    Bypass(BypassId, Bypass),
}

impl Record {
    /// The goal it lies in; none for the goal itself and what is of all goals.
    pub fn within(&self) -> Option<&GoalId> {
        match self {
            Self::Policy(_) | Self::Quotas(_) | Self::Goal(..) | Self::Bypass(..) => None,
            Self::Gate(goal, ..)
            | Self::Todo(goal, ..)
            | Self::Evidence(goal, ..)
            | Self::Spend(goal, ..) => Some(goal),
        }
    }

    /// The value of the `Loopx-Record` trailer: kind and id, which stay the same when the file moves.
    pub fn name(&self) -> String {
        match self {
            Self::Policy(_) => "policy".to_owned(),
            Self::Quotas(_) => "quota".to_owned(),
            Self::Goal(id, _) => format!("goal/{id}"),
            Self::Gate(_, id, _) => format!("gate/{id}"),
            Self::Todo(_, id, _) => format!("todo/{id}"),
            Self::Evidence(_, id, _) => format!("evidence/{id}"),
            Self::Spend(_, id, _) => format!("spend/{id}"),
            Self::Bypass(id, _) => format!("bypass/{id}"),
        }
    }
}
