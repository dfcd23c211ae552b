//! Every way in which a step can be illegal, with its facts.
//!
//! The sentence says what was refused and why; the command that helps is added on the way to the doors.

use super::{
    actor::Actor,
    command::CommandLine,
    id::{AgentId, BypassId, Choice, EvidenceId, GateId, GoalId, TodoId, TodoPrefix},
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
    #[error("gate `{gate}` was changed after it was shown")]
    QuestionChanged { gate: GateId },

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
