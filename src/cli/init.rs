use super::Said;
use crate::{
    caller::Challenge,
    domain::{id::GoalId, text::Title},
    error::Error,
    ops::{self, Ctx},
    process::Process,
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
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let plan = ops::init::plan(ctx, self.state_branch.as_deref())?;
        let proven = match plan.loosens() {
            None => None,
            Some(what) => {
                let verdict =
                    plan.verdict().map(|verdict| format!("What is there: {verdict}\n")).unwrap_or_default();
                let look = plan.look().map(|look| format!("Look at it first: {look}\n")).unwrap_or_default();
                let challenge = Challenge {
                    shows: format!("This will {what}\n{verdict}{look}"),
                    what,
                    word: plan.branch().to_owned(),
                    command: "loopx init".into(),
                };
                Some(ctx.caller.prove(process, &ctx.owner()?, &challenge)?)
            }
        };
        let goal = self.goal_text.map(|text| (text, self.goal_id));
        let request = ops::init::Request { goal, hooks: !self.no_hooks };
        let done = ops::init::init(ctx, &plan, request, proven.as_ref())?;
        let value = &done.value;
        let mut text =
            format!("{} the state on branch `{}`, to be read in `.loopx/`\n", value.state, value.branch);
        text.push_str(&super::hooks::line(&value.enforcement));
        match &value.goal {
            Some(goal) => text.push_str(&format!("added goal {goal}\n")),
            None if value.state == "began" => text.push_str("next: loopx goal add \"<objective>\"\n"),
            None => {}
        }
        let warnings = done.warnings.iter().map(crate::store::Warning::with_cure).collect();
        Ok(Said { warnings, ..Said::read(&done, text) })
    }
}
