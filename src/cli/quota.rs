use super::{NOT_NOW, Said};
use crate::{
    domain::{
        decision::Decision,
        id::{Capability, EvidenceId, GoalId, TurnId},
    },
    error::{Error, Kind},
    ops::{self, Ctx, quota::ShouldRun},
    text::{Count, Table},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Quota {
    /// Whether the loop may go on now, and with what
    ShouldRun {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// What the host can do; `shell` when left out
        #[arg(long, value_name = "CAPABILITY", default_value = "shell")]
        capability: Vec<Capability>,
        /// Show each rule, whether it applies, and the records that make it so
        #[arg(long)]
        explain: bool,
    },
    /// Book slots for a turn; once for each turn, however often it is run
    SpendSlot {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// The turn that used them; a new name when left out
        #[arg(long, value_name = "TURN")]
        turn_id: Option<TurnId>,
        /// How many
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        slots: u32,
        /// What they paid for; may be given several times
        #[arg(long, value_name = "EVIDENCE")]
        evidence: Vec<EvidenceId>,
    },
    /// How much of the window is used
    Status {
        /// The goal; may be left out when one is active
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
    },
}

impl Quota {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::ShouldRun { goal_id, capability, explain } => {
                let can = capability.into_iter().collect();
                let answer = ops::quota::should_run(ctx, goal_id.as_ref(), can, explain)?;
                let code = match (&answer.decision, answer.should_run) {
                    (None, _) => Kind::Distrusted.exit_code(),
                    (Some(_), true) => 0,
                    (Some(_), false) => NOT_NOW,
                };
                Ok(Said { code, ..Said::read(&answer, say(&answer)) })
            }
            Self::SpendSlot { goal_id, turn_id, slots, evidence } => {
                let done = ops::quota::spend_slot(ctx, goal_id.as_ref(), turn_id, slots, &evidence)?;
                let (spend, quota) = (&done.value.spend, &done.value.quota);
                let booked = format!("booked {} for {}", Count(spend.slots as usize, "slot"), spend.turn);
                let said = Said::done(&done, &booked);
                let left = quota.allowed_slots.saturating_sub(quota.spent_slots);
                let text = format!("{}{} left in this window\n", said.text, Count(left as usize, "slot"));
                Ok(Said { text, ..said })
            }
            Self::Status { goal_id } => {
                let status = ops::quota::status(ctx, goal_id.as_ref())?;
                let mut table = Table::default();
                super::goal::quota(&mut table, &status.quota);
                if let Some(free_at) = status.free_at {
                    table.row([&"next slot", &free_at]);
                }
                Ok(Said::read(&status, format!("goal {}\n{table}", status.goal)))
            }
        }
    }
}

/// One line that says yes or no and what, then why and the next command.
pub(super) fn say(answer: &ShouldRun) -> String {
    let pick = answer.todo.as_ref().map(|pick| format!("{}: {}", pick.id, pick.title)).unwrap_or_default();
    let question = answer
        .gates
        .first()
        .map(|gate| format!("user gate pending: \"{}\"", gate.question))
        .unwrap_or_default();
    let what = match &answer.decision {
        Some(Decision::Continue { .. }) => format!("go on with {pick}"),
        Some(Decision::Run { .. }) => format!("work on {pick}"),
        Some(Decision::RunOther { .. }) => format!("work on {pick} ({question})"),
        Some(Decision::Poll { gates: None, .. }) => format!("look at {pick}"),
        Some(Decision::Poll { gates: Some(_), .. }) => format!("look at {pick} ({question})"),
        Some(Decision::Ask { .. }) => question,
        Some(Decision::AskForTodo { .. }) => "a person has something to do".to_owned(),
        Some(Decision::AskForPlan { .. }) => "a person should look at the plan".to_owned(),
        Some(Decision::Wait { .. }) => "wait".to_owned(),
        Some(Decision::Replan { .. }) => "think of the next todos".to_owned(),
        Some(Decision::Stop { .. }) => "stop".to_owned(),
        None => "the state cannot be trusted".to_owned(),
    };
    let mut said = format!("{} – {what}\nwhy: {}\nnext: {}\n", answer.should_run, answer.why, answer.next);
    if !answer.rules.is_empty() {
        said.push_str("rules, of which the first that applies decides\n");
    }
    for rule in &answer.rules {
        let mark = match (rule.decides, rule.applies) {
            (true, _) => "=>",
            (false, true) => "yes",
            (false, false) => "no",
        };
        let more = if rule.more > 0 { format!(" and {} more", rule.more) } else { String::new() };
        let records = match &rule.records[..] {
            [] => String::new(),
            records => format!(" ({}{more})", records.join(", ")),
        };
        said.push_str(&format!("  {mark:<3}  {}{records}\n", rule.says));
    }
    said
}
