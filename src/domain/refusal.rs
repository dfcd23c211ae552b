//! Every way in which a step can be illegal, with its facts.
//!
//! The sentence says what was refused and why; the command that helps is added on the way to the doors.

use super::{
    actor::{Actor, Person},
    command::CommandLine,
    id::{AgentId, ApproverId, BypassId, Choice, EvidenceId, GateId, GoalId, TodoId, TodoPrefix, TurnId},
    statement::Differs,
    text::{Note, Title},
    time::Timestamp,
};

/// A step that the present state does not allow. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no active goal")]
    NoGoal,
    #[error("{} goals are active ({}), so the goal has to be named", .0.len(), list(.0))]
    SeveralGoals(Vec<GoalId>),
    #[error("there is no goal `{0}`")]
    UnknownGoal(GoalId),
    #[error("there is a goal `{0}` already")]
    GoalExists(GoalId),
    #[error("goal `{goal}` was {state} by {} already", .by.name())]
    GoalAlready { goal: GoalId, state: &'static str, by: Actor },
    #[error("goal `{goal}` is not paused")]
    GoalNotPaused { goal: GoalId },
    #[error("goal `{goal}` has open questions: {}", list(.gates))]
    GoalGated { goal: GoalId, gates: Vec<GateId> },
    #[error("goal `{goal}` lacks evidence for {}", .missing.iter().map(|(number, text)| format!("{number} (\"{text}\")")).collect::<Vec<_>>().join(", "))]
    GoalUnmet { goal: GoalId, missing: Vec<(usize, Title)> },
    #[error("goal `{goal}` has no criterion {number} (it has {of} of them)")]
    NoCriterion { goal: GoalId, number: usize, of: usize },
    #[error("goal `{goal}` is {state}")]
    GoalNotActive { goal: GoalId, state: &'static str },

    #[error("there is no gate `{0}`")]
    UnknownGate(GateId),
    #[error("there is a gate `{0}` already, and an id is used once")]
    GateExists(GateId),
    #[error("gate `{gate}` stands in {} goals ({}), so the goal has to be named", .goals.len(), list(.goals))]
    GateInSeveralGoals { gate: GateId, goals: Vec<GoalId> },
    #[error("gate `{gate}` was decided already: `{decision}` by {} at {at}", .by.name())]
    GateDecided { gate: GateId, decision: String, by: Actor, at: Timestamp },
    #[error("gate `{gate}` does not offer `{decision}` (it offers {})", list(.options))]
    NotAnOption { gate: GateId, decision: Choice, options: Vec<Choice> },
    #[error("nobody said no at gate `{gate}`")]
    NotRejected { gate: GateId },
    #[error("gate `{gate}` is answered for a commit, and there is none to see")]
    NothingSeen { gate: GateId },
    #[error("a standing gate is about what leaves this machine, not about todos or turns")]
    StandingOverWork,
    #[error("gate `{gate}` was changed after it was shown")]
    QuestionChanged { gate: GateId },

    #[error("gate `{gate}` needs the signatures of {needed} approvers")]
    ApproversNeeded { gate: GateId, needed: u8 },
    #[error("{} asked at gate `{gate}`, and whoever asked is not one of the approvers that it needs", .by.name())]
    AskerAnswers { gate: GateId, by: Actor },
    #[error("{by} said yes at gate `{gate}` already, and it needs another approver besides")]
    SameApprover { gate: GateId, by: String },
    #[error("the answer to gate `{gate}` was signed at {at}, and what happened there last was at {last}")]
    OutOfTime { gate: GateId, at: Timestamp, last: Timestamp },

    #[error("answers have to be signed by an approver here")]
    SignatureNeeded,
    #[error("nobody is listed whose signature would count")]
    NoApprovers,
    #[error("`{0}` is no approver")]
    NotAnApprover(ApproverId),
    #[error("`{approver}` is no approver any more since {at}")]
    ApproverRemoved { approver: ApproverId, at: Timestamp },
    #[error("`{0}` is an approver already")]
    ApproverExists(ApproverId),
    #[error("`{0}` is the last approver, and answers have to be signed")]
    LastApprover(ApproverId),
    #[error("this is the key of `{approver}` already")]
    KeyOfAnother { approver: ApproverId },
    #[error("the key that signed is no approver's")]
    UnlistedKey,
    #[error("the signature was not made with the key of `{approver}`")]
    OtherKey { approver: ApproverId },
    #[error("the key of `{approver}` counts before {until}, and it signed at {at}")]
    KeyExpired { approver: ApproverId, until: Timestamp, at: Timestamp },
    #[error("`{approver}` signed at {at}, and the state is of {last} already")]
    SignedBefore { approver: ApproverId, at: Timestamp, last: Timestamp },
    #[error("the signature was made for `{found}` and not for `{wanted}`")]
    OtherNamespace { found: String, wanted: &'static str },
    #[error("what was signed says {} `{}`, and this is {} `{}`", .0.fact, .0.signed, .0.fact, .0.wanted)]
    SignedElse(Differs),
    #[error("that is no signature of a decision")]
    NoSignature,
    #[error("{program} says that the signature of `{approver}` is none")]
    WrongSignature { approver: ApproverId, program: &'static str },
    #[error("the key of `{0}` says of itself that it was revoked")]
    KeyRevoked(ApproverId),

    #[error("there is no todo `{0}`")]
    UnknownTodo(TodoPrefix),
    #[error("todo `{todo}` belongs to goal `{goal}`, not to `{wanted}`")]
    TodoInOtherGoal { todo: TodoId, goal: GoalId, wanted: GoalId },
    #[error("`{prefix}` fits {} todos ({})", .candidates.len(), list(.candidates))]
    AmbiguousTodo { prefix: TodoPrefix, candidates: Vec<TodoId> },
    #[error("todo `{todo}` is claimed by {} until {until}", .by.name())]
    TodoClaimed { todo: TodoId, by: Actor, until: Timestamp },
    #[error("the claim on todo `{todo}` ran out, and {} took it over at {at}, until {until}", .by.name())]
    TakenOver { todo: TodoId, by: Actor, at: Timestamp, until: Timestamp },
    #[error("todo `{todo}` was {did} by {}, and only a person may {what} it", .person.name())]
    OfAPerson { todo: TodoId, person: Actor, did: &'static str, what: &'static str },
    #[error("todo `{todo}` has a check, which agent `{agent}` may not change or take away")]
    CheckIsKept { todo: TodoId, agent: AgentId },
    #[error("todo `{todo}` is done when `{check}` exits with 0, and that was not seen")]
    CheckNotPassed { todo: TodoId, check: CommandLine },
    #[error("todo `{todo}` is {state}, not closed")]
    TodoNotClosed { todo: TodoId, state: &'static str },
    #[error("todo `{todo}` is not blocked")]
    NotBlocked { todo: TodoId },
    #[error("todo `{todo}` is no monitor")]
    NoMonitor { todo: TodoId },
    #[error("todo `{todo}` is a monitor, which has no parts")]
    IsAMonitor { todo: TodoId },
    #[error("todo `{todo}` would need itself: {}", along(.circle))]
    Circle { todo: TodoId, circle: Vec<TodoId> },
    #[error(
        "todo `{todo}` needs `{need}`, which is for a person, and agent `{agent}` may not leave that out"
    )]
    NeedOfAPerson { todo: TodoId, need: TodoId, agent: AgentId },
    #[error("nothing of goal `{goal}` can be claimed now")]
    NothingReady { goal: GoalId },
    #[error("nobody has claimed todo `{todo}`")]
    NotClaimed { todo: TodoId },
    #[error("todo `{todo}` is blocked{}: {reason}", on_gate(.on.as_ref()))]
    TodoBlocked { todo: TodoId, on: Option<GateId>, reason: Note },
    #[error("todo `{todo}` was {how} by {} at {at}", .by.name())]
    TodoClosed { todo: TodoId, how: &'static str, by: Actor, at: Timestamp },
    #[error("todo `{todo}` is for a person, not for agent `{agent}`")]
    TodoForPerson { todo: TodoId, agent: AgentId },
    #[error("todo `{todo}` waits for gate `{gate}`: \"{question}\"")]
    GateOverTodo { todo: TodoId, gate: GateId, question: Title, answers: Vec<Choice> },
    #[error("todo `{todo}` needs {}, which {} not closed yet", list(.needs), if .needs.len() == 1 { "is" } else { "are" })]
    NeedsOpen { todo: TodoId, needs: Vec<TodoId> },

    #[error("there is no bypass `{0}`")]
    UnknownBypass(BypassId),
    #[error("bypass `{bypass}` was acknowledged already, by {} at {at}", .by.name())]
    BypassAcknowledged { bypass: BypassId, by: Actor, at: Timestamp },

    #[error("there is no evidence `{0}` in this goal")]
    UnknownEvidence(EvidenceId),

    #[error(
        "goal `{goal}` has {} of {allowed} slots left in this window, and {wanted} {} wanted",
        .allowed.saturating_sub(*.spent),
        if *.wanted == 1 { "is" } else { "are" }
    )]
    QuotaSpent { goal: GoalId, allowed: u32, spent: u32, wanted: u32, until: Option<Timestamp> },
    #[error("the window of goal `{goal}` has {hours} h, and a burst ends within one, not at {until}")]
    GrantOutOfWindow { goal: GoalId, until: Timestamp, hours: u32 },
    #[error("a burst for goal `{goal}` has 1 to {} slots, not {slots}", super::quota::Burst::MOST)]
    GrantOfNothing { goal: GoalId, slots: u32 },
    #[error("what turn `{turn}` booked was voided by {} at {at} already", .by.name())]
    SpendVoided { turn: TurnId, by: Person, at: Timestamp },
    #[error("turn `{turn}` is older than the window, so nothing of it counts any more")]
    SpendPast { turn: TurnId },
    #[error("there is no booking `{0}` in this goal")]
    UnknownSpend(String),
    #[error("there is no turn `{0}`")]
    UnknownTurn(TurnId),
    #[error("turn `{turn}` was booked without being begun")]
    TurnNotBegun { turn: TurnId },
    #[error("turn `{turn}` was ended at {at}: {outcome}")]
    TurnOver { turn: TurnId, outcome: &'static str, at: Timestamp },
    #[error("turn `{turn}` was begun by {}", .by.name())]
    TurnOfAnother { turn: TurnId, by: Actor },
    #[error("turn `{turn}` goes on until {until}")]
    TurnGoesOn { turn: TurnId, until: Timestamp },
    #[error("no free id could be drawn")]
    NoFreeId,
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}

/// A walk along needs; of a long one its ends.
fn along(circle: &[TodoId]) -> String {
    let said = |ids: &[TodoId]| ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" needs ");
    match circle.len() {
        0..=10 => said(circle),
        length => format!(
            "{} needs … ({} more) needs {}",
            said(&circle[..4]),
            length - 8,
            said(&circle[length - 4..])
        ),
    }
}

fn on_gate(gate: Option<&GateId>) -> String {
    gate.map(|gate| format!(" by gate `{gate}`")).unwrap_or_default()
}
