use super::Said;
use crate::{
    domain::id::{GoalId, TodoPrefix},
    error::Error,
    ops::{
        self, Ctx,
        context::{BYTES, LEAST},
    },
};

#[derive(Debug, clap::Args)]
pub(super) struct ContextArgs {
    /// The goal; may be left out when one is active
    #[arg(long, value_name = "GOAL")]
    goal_id: Option<GoalId>,
    /// About this todo; what the agent has or would get when left out
    #[arg(long, value_name = "TODO")]
    todo: Option<TodoPrefix>,
    /// How long it may be; what is least important is left out, and that is said
    #[arg(long, value_name = "BYTES", default_value_t = BYTES, value_parser = bytes)]
    max_bytes: usize,
}

fn bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= LEAST => Ok(bytes),
        _ => Err(format!("expected a number of bytes, {LEAST} at least")),
    }
}

impl ContextArgs {
    pub(super) fn run(self, ctx: &Ctx, json: bool) -> Result<Said, Error> {
        let bounded = if json { ops::context::context_as_json } else { ops::context::context };
        let context = bounded(ctx, self.goal_id.as_ref(), self.todo.as_ref(), self.max_bytes)?;
        Ok(Said::read(&context, context.markdown()))
    }
}
