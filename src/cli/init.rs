use super::Said;
use crate::{
    domain::{id::GoalId, text::Title},
    error::Error,
    ops::{self, Ctx},
};

#[derive(Debug, clap::Args)]
pub(super) struct Init {
    /// Add a first goal with this objective
    #[arg(long, value_name = "TEXT")]
    goal_text: Option<Title>,
    /// The id of that goal; made from the text when left out
    #[arg(long, value_name = "GOAL", requires = "goal_text")]
    goal_id: Option<GoalId>,
    /// The branch that holds the state
    #[arg(long, value_name = "BRANCH")]
    state_branch: Option<String>,
    /// Install no git hook: pushes will not be kept back
    #[arg(long)]
    no_hooks: bool,
}

impl Init {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let goal = self.goal_text.map(|text| (text, self.goal_id));
        let request = ops::init::Request { branch: self.state_branch, goal, hooks: !self.no_hooks };
        let done = ops::init::init(ctx, request)?;
        let value = &done.value;
        let verb = if value.created { "began" } else { "kept" };
        let mut text = format!("{verb} the state on branch `{}`, to be read in `.loopx/`\n", value.branch);
        text.push_str(&super::hooks::line(&value.enforcement));
        match &value.goal {
            Some(goal) => text.push_str(&format!("added goal {goal}\n")),
            None if value.created => text.push_str("next: loopx goal add \"<objective>\"\n"),
            None => {}
        }
        let warnings = done.warnings.iter().map(ToString::to_string).collect();
        Ok(Said { warnings, ..Said::read(&done, text) })
    }
}
