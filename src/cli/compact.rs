use super::{Said, verify::Progress};
use crate::{
    caller::Challenge,
    error::Error,
    ops::{self, Ctx, compact::Compacted},
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Compact {
    /// Do it (a person at a terminal only); without this, only say what would be done
    #[arg(long)]
    apply: bool,
}

impl Compact {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let progress = Progress::new(process);
        let plan = ops::compact::plan(ctx, |checked, total| progress.tell(checked, total))?;
        progress.end();
        let (tip, commits) = (plan.tip[..10].to_owned(), Count(plan.commits, "commit").to_string());
        if !self.apply {
            let text = format!(
                "would leave {commits} behind; all records and decisions of {tip} stay, to the byte\n  \
                 a person does it with `loopx compact --apply`; keep a copy first with `loopx export <file>`\n"
            );
            return Ok(Said::read(&Compacted { plan, applied: false }, text));
        }
        let challenge = Challenge {
            what: format!("leave {commits} behind"),
            shows: format!(
                "All records and decisions of {tip} stay, to the byte. How they came about, {commits}, can be looked at and \
                 verified only as long as git's reflog of the branch remembers it.\n"
            ),
            word: tip.clone(),
            command: "loopx compact --apply".into(),
        };
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
        let done = ops::compact::compact(ctx, &plan, &proven)?;
        let branch = ctx.store.git().branch()?;
        let line = format!("left {commits} behind; see them with `git log {branch}@{{1}}`");
        Ok(Said::done(&done, &line))
    }
}
