//! What a decision to write looks like: which records it puts where, and the sentence for the history.

use super::{
    bypass::Bypass,
    evidence::Evidence,
    gate::Gate,
    goal::Goal,
    handoff::Handoff,
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

impl Change {
    /// One that is about the state as a whole and names no record.
    pub fn without_records(op: Op, subject: impl Into<String>) -> Self {
        Self { op, subject: subject.into(), body: None, goal: None, turn: None, puts: Vec::new() }
    }
}

/// The kind of a mutation; the value of the `Loopx-Op` trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Init,
    GoalAdd,
    GoalConfigure,
    /// A criterion of the goal is answered with evidence, or that is taken back.
    GoalMeet,
    GoalPause,
    GoalResume,
    GoalAchieve,
    GoalAbandon,
    GateOpen,
    GateResolve,
    GateWithdraw,
    GateReopen,
    TodoAdd,
    TodoClaim,
    TodoRelease,
    TodoDone,
    TodoRenew,
    TodoBlock,
    TodoUnblock,
    TodoDrop,
    TodoReopen,
    TodoEdit,
    TodoSplit,
    TodoPoll,
    EvidenceAdd,
    QuotaSpend,
    /// A booking counts no more.
    QuotaVoid,
    /// Slots on top of a limit, for a while.
    QuotaGrant,
    TurnBegin,
    TurnEnd,
    HandoffWrite,
    /// Pushes that went round the hook were noticed.
    BypassNote,
    BypassAcknowledge,
    PolicySet,
    ApproverAdd,
    ApproverRemove,
    /// A value that looks like a secret is let through from now on, or no longer.
    SecretAllow,
    SecretForbid,
    /// Closed records went into a segment; nothing that can be asked has changed.
    Fold,
    /// A whole state that was exported elsewhere, or goals that another tool kept.
    Import,
    /// The history so far was left behind; the state stays to the byte.
    Checkpoint,
}

impl Op {
    pub const ALL: [Self; 41] = [
        Self::Init,
        Self::GoalAdd,
        Self::GoalConfigure,
        Self::GoalMeet,
        Self::GoalPause,
        Self::GoalResume,
        Self::GoalAchieve,
        Self::GoalAbandon,
        Self::GateOpen,
        Self::GateResolve,
        Self::GateWithdraw,
        Self::GateReopen,
        Self::TodoAdd,
        Self::TodoClaim,
        Self::TodoRenew,
        Self::TodoRelease,
        Self::TodoBlock,
        Self::TodoUnblock,
        Self::TodoDone,
        Self::TodoDrop,
        Self::TodoReopen,
        Self::TodoEdit,
        Self::TodoSplit,
        Self::TodoPoll,
        Self::EvidenceAdd,
        Self::QuotaSpend,
        Self::QuotaVoid,
        Self::QuotaGrant,
        Self::TurnBegin,
        Self::TurnEnd,
        Self::HandoffWrite,
        Self::BypassNote,
        Self::BypassAcknowledge,
        Self::PolicySet,
        Self::ApproverAdd,
        Self::ApproverRemove,
        Self::SecretAllow,
        Self::SecretForbid,
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
            Self::GoalAdd => "goal.add",
            Self::GoalConfigure => "goal.configure",
            Self::GoalMeet => "goal.meet",
            Self::GoalPause => "goal.pause",
            Self::GoalResume => "goal.resume",
            Self::GoalAchieve => "goal.achieve",
            Self::GoalAbandon => "goal.abandon",
            Self::GateOpen => "gate.open",
            Self::GateResolve => "gate.resolve",
            Self::GateWithdraw => "gate.withdraw",
            Self::GateReopen => "gate.reopen",
            Self::TodoAdd => "todo.add",
            Self::TodoClaim => "todo.claim",
            Self::TodoRelease => "todo.release",
            Self::TodoDone => "todo.done",
            Self::TodoRenew => "todo.renew",
            Self::TodoBlock => "todo.block",
            Self::TodoUnblock => "todo.unblock",
            Self::TodoDrop => "todo.drop",
            Self::TodoReopen => "todo.reopen",
            Self::TodoEdit => "todo.edit",
            Self::TodoSplit => "todo.split",
            Self::TodoPoll => "todo.poll",
            Self::EvidenceAdd => "evidence.add",
            Self::QuotaSpend => "quota.spend",
            Self::QuotaVoid => "quota.void",
            Self::QuotaGrant => "quota.grant",
            Self::TurnBegin => "turn.begin",
            Self::TurnEnd => "turn.end",
            Self::HandoffWrite => "handoff.write",
            Self::BypassNote => "bypass.note",
            Self::BypassAcknowledge => "bypass.acknowledge",
            Self::PolicySet => "policy.set",
            Self::ApproverAdd => "approver.add",
            Self::ApproverRemove => "approver.remove",
            Self::SecretAllow => "secret.allow",
            Self::SecretForbid => "secret.forbid",
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
    Handoff(GoalId, Handoff),
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
            | Self::Spend(goal, ..)
            | Self::Handoff(goal, _) => Some(goal),
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
            Self::Handoff(goal, _) => format!("handoff/{goal}"),
            Self::Bypass(id, _) => format!("bypass/{id}"),
        }
    }
}
