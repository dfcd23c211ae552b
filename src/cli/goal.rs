use super::Said;
use crate::{
    domain::{id::GoalId, text::Title},
    error::Error,
    ops::{
        self, Ctx,
        goal::{GoalView, QuotaView},
    },
    text::Table,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Goal {
    /// Add a goal
    Add {
        /// What is to be reached
        objective: Title,
        /// Its id; made from the objective when left out
        #[arg(long, value_name = "GOAL")]
        goal_id: Option<GoalId>,
        /// How one will see that it is reached; may be given several times
        #[arg(long, value_name = "TEXT")]
        done_when: Vec<Title>,
    },
    /// List all goals
    List,
    /// Show one goal
    Show {
        /// The goal; may be left out when one is active
        goal: Option<GoalId>,
    },
}

impl Goal {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Add { objective, goal_id, done_when } => {
                let done = ops::goal::add(ctx, goal_id, objective, done_when)?;
                let text = format!("added goal {}: {}", done.value.id, done.value.goal.objective);
                Ok(Said::done(&done, &text))
            }
            Self::List => {
                let goals = ops::goal::list(ctx)?;
                let mut table = Table::default();
                for view in &goals.goals {
                    table.row([&view.id, &view.goal.state.word(), &view.goal.objective]);
                }
                Ok(Said::read(&goals, table.to_string()))
            }
            Self::Show { goal } => {
                let view = ops::goal::show(ctx, goal.as_ref())?;
                Ok(Said::read(&view, say(ctx, &view)))
            }
        }
    }
}

fn say(ctx: &Ctx, view: &GoalView) -> String {
    let goal = &view.goal;
    let mut text = format!("goal {}: {}\n", view.id, goal.objective);
    let added = format!("by {}, {}", goal.added.by.name(), super::status::ago(ctx, goal.added.at));
    let mut table = Table::default();
    table.row([&"state", &goal.state.word()]);
    table.row([&"added", &added]);
    for criterion in &goal.done_when {
        table.row([&"done when", criterion]);
    }
    quota(&mut table, &view.quota);
    text.push_str(&table.to_string());
    text
}

/// The rows that say what a limit comes to.
pub(super) fn quota(table: &mut Table, quota: &QuotaView) {
    let window = format!("{} h in slots of {} min", quota.window_hours, quota.slot_minutes);
    let slots = format!("{} of {} used", quota.spent_slots, quota.allowed_slots);
    table.row([&"compute", &quota.compute]);
    table.row([&"window", &window]);
    table.row([&"slots", &slots]);
}
