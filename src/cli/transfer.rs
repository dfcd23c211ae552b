use std::path::PathBuf;

use super::Said;
use crate::{
    caller::Challenge,
    error::Error,
    ops::{self, Ctx},
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The file to make; outside of the worktree
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// A file that `loopx export` made
    file: PathBuf,
}

impl Export {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        let exported = ops::transfer::export(ctx, &self.file)?;
        let text = format!("exported {}, digest {}\n", Count(exported.files, "file"), &exported.sha256[..8]);
        Ok(Said::read(&exported, text))
    }
}

impl Import {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let mut export = ops::transfer::read(ctx, &self.file)?;
        let (goals, gates) = export.counts();
        let what = format!("{} and {}", Count(goals, "goal"), Count(gates, "gate"));
        let digest = &export.sha256()[..8];
        let challenge = Challenge {
            what: "import a state, with the answers and limits in it".into(),
            shows: format!(
                "State of {}: {what} in {}, digest {digest}\n",
                export.repository(),
                Count(export.files(), "file")
            ),
            word: digest.to_owned(),
            command: "loopx import <file>".into(),
        };
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
        let done = ops::transfer::import(ctx, &mut export, &proven)?;
        Ok(Said::done(&done, &format!("imported {what}")))
    }
}
