use super::Said;
use crate::{
    error::Error,
    ops::{self, Ctx},
    text::Table,
};

#[derive(Debug, clap::Args)]
pub(super) struct History {
    /// Most entries to show
    #[arg(short = 'n', long, default_value_t = 20, value_name = "NUMBER")]
    limit: usize,
}

impl History {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let history = ops::history::history(ctx, self.limit)?;
        let mut table = Table::default();
        for entry in &history.entries {
            let actor = entry.actor.as_deref().unwrap_or("not made by loopx");
            table.row([&&entry.commit[..10], &super::status::ago(ctx, entry.at), &actor, &entry.subject]);
        }
        Ok(Said::read(&history, table.to_string()))
    }
}
