use std::cell::Cell;

use super::Said;
use crate::{
    error::{Error, Kind},
    ops::{self, Ctx},
    process::Process,
    store::verify::Verified,
    text::Count,
};

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// Look at the whole history again, not only at what is new
    #[arg(long)]
    all: bool,
}

/// Says on a terminal how far a long verification is.
pub(super) struct Progress<'a> {
    process: &'a Process,
    talks: bool,
    told: Cell<bool>,
}

impl<'a> Progress<'a> {
    /// So many commits between two words.
    const STRIDE: usize = 1_000;

    pub(super) fn new(process: &'a Process) -> Self {
        Self { process, talks: process.stderr_is_terminal(), told: Cell::new(false) }
    }

    pub(super) fn tell(&self, checked: usize, total: usize) {
        if self.talks && checked.is_multiple_of(Self::STRIDE) {
            self.process.err(&format!("\rverified {checked} of {total} commits"));
            self.told.set(true);
        }
    }

    /// Leaves the line.
    pub(super) fn end(&self) {
        if self.told.get() {
            self.process.err("\n");
        }
    }
}

impl Verify {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let progress = Progress::new(process);
        let verified = ops::verify::verify(ctx, self.all, |checked, total| progress.tell(checked, total))?;
        progress.end();
        let code = if verified.bad.is_some() { Kind::Distrusted.exit_code() } else { 0 };
        Ok(Said { code, ..Said::read(&verified, say(ctx, &verified)?) })
    }
}

fn say(ctx: &Ctx, verified: &Verified) -> Result<String, Error> {
    let Some(bad) = &verified.bad else {
        let new = Count(verified.checked, "new commit");
        let all = Count(verified.checked + verified.known, "commit");
        let mut text = format!("{all} ({new}): each is one legal mutation, signed off\n");
        if let Some(checkpoint) = &verified.checkpoint {
            let (by, at) = (&checkpoint.by, super::status::ago(ctx, checkpoint.at));
            text.push_str(&format!(
                "  {by} left the history before them behind, {at}; what it was cannot be verified\n"
            ));
        }
        return Ok(text);
    };
    let (short, at, subject) = (&bad.commit[..10], super::status::ago(ctx, bad.at), &bad.subject);
    let mut text = format!("NOT A LEGAL MUTATION: {short} \"{subject}\", {at}: {}\n", bad.problem);
    text.push_str(&format!("  see it with `git show {short}`\n"));
    if let Some(parent) = &bad.parent {
        let branch = ctx.store.git().branch()?;
        text.push_str(&format!(
            "  all is well up to the commit before it; go back with `git update-ref refs/heads/{branch} {parent}`,\n  \
             or a person does, and sees first what is lost: `loopx restore --to {parent}`\n"
        ));
    }
    Ok(text)
}
