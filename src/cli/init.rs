use clap::builder::PossibleValuesParser;

use super::Said;
use crate::{
    caller::Challenge,
    domain::{id::GoalId, preset::Preset, text::Title},
    error::Error,
    ops::{
        self, Ctx,
        init::{Gone, Laid},
    },
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Init {
    /// Add a first goal with this objective
    #[arg(long, value_name = "TEXT", group = "first")]
    goal_text: Option<Title>,
    /// The id of that goal; made from the text when left out
    #[arg(long, value_name = "GOAL", requires = "first")]
    goal_id: Option<GoalId>,
    /// Add a ready-made goal with todos, monitors and gates
    #[arg(long, value_name = "PRESET", group = "first", value_parser = PossibleValuesParser::new(Preset::names()))]
    preset: Option<String>,
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
                let loss = plan.loss().map(|gone| loss(plan.branch(), &gone)).unwrap_or_default();
                let look = plan.look().map(|look| format!("Look at it first: {look}\n")).unwrap_or_default();
                let challenge = Challenge {
                    shows: format!("This will {what}\n{verdict}{loss}{look}"),
                    what,
                    word: plan.branch().to_owned(),
                    command: "loopx init".into(),
                };
                Some(ctx.caller.prove(process, &ctx.owner()?, &challenge)?)
            }
        };
        let preset =
            self.preset.as_deref().and_then(Preset::named).map(|preset| (preset, self.goal_id.clone()));
        let goal = self.goal_text.map(|text| (text, self.goal_id));
        let request = ops::init::Request { goal, preset, hooks: !self.no_hooks };
        let done = ops::init::init(ctx, &plan, request, proven.as_ref())?;
        let value = &done.value;
        let mut text =
            format!("{} the state on branch `{}`, to be read in `.loopx/`\n", value.state, value.branch);
        text.push_str(&super::hooks::line(&value.enforcement));
        match &value.goal {
            Some(goal) if value.preset.is_some() => {
                let laid = value.preset.iter();
                laid.for_each(|laid| text.push_str(&self::laid(goal, laid)));
            }
            Some(goal) => text.push_str(&format!("added goal {goal}\n")),
            None if value.state == "began" => {
                text.push_str("next: loopx goal add \"<objective>\"\n");
                // A state of its own would be one too many.
                if let Some(remote) = ctx.store.remotes().first() {
                    text.push_str(&format!(
                        "or, if `{remote}` has a state already: loopx remote set {remote}, and loopx sync\n"
                    ));
                }
            }
            None => {}
        }
        let warnings = done.warnings.iter().map(crate::store::Warning::with_cure).collect();
        Ok(Said { warnings, ..Said::read(&done, text) })
    }
}

fn loss(branch: &str, gone: &Gone<'_>) -> String {
    let Gone { last, loss } = gone;
    let Some(loss) = loss else {
        return format!(
            "loopx left it at {}, which git does not have any more: what is lost with it cannot be told.\n",
            &last[..10]
        );
    };
    let mut text = String::new();
    if !loss.gates.is_empty() {
        let gates = Count(loss.gates.len(), "gate");
        text.push_str(&format!("NO LONGER IN THE WAY OF ANYTHING, {gates}:\n"));
    }
    for (goal, gate, question) in &loss.gates {
        text.push_str(&format!("  {goal}/{gate} \"{question}\"\n"));
    }
    text.push_str(&super::restore::commits("lost with it", &loss.commits));
    text.push_str(&format!(
        "To lose nothing, answer no and go back: git update-ref refs/heads/{branch} {last}\n\
         or: loopx restore --to {last}\n"
    ));
    text
}

fn laid(goal: &GoalId, laid: &Laid) -> String {
    let (todos, gates) = (Count(laid.todos.len() - laid.monitors, "todo"), Count(laid.gates.len(), "gate"));
    let monitors = Count(laid.monitors, "monitor");
    format!(
        "added goal {goal} with {todos}, {monitors} and {gates}\nnext: loopx quota should-run --goal-id {goal}\n"
    )
}
