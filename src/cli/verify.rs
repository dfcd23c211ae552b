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

/// So many commits between two words about progress.
const STRIDE: usize = 1_000;

impl Verify {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let talks = process.stderr_is_terminal();
        let verified = ops::verify::verify(ctx, self.all, |checked, total| {
            if talks && checked % STRIDE == 0 {
                process.err(&format!("\rverified {checked} of {total} commits"));
            }
        })?;
        if talks && verified.checked >= STRIDE {
            process.err("\n");
        }
        let code = if verified.bad.is_some() { Kind::Distrusted.exit_code() } else { 0 };
        Ok(Said { code, ..Said::read(&verified, say(ctx, &verified)?) })
    }
}

fn say(ctx: &Ctx, verified: &Verified) -> Result<String, Error> {
    let Some(bad) = &verified.bad else {
        let new = Count(verified.checked, "new commit");
        let all = Count(verified.checked + verified.known, "commit");
        return Ok(format!("{all} ({new}): each is one legal mutation, signed off\n"));
    };
    let (short, at, subject) = (&bad.commit[..10], super::status::ago(ctx, bad.at), &bad.subject);
    let mut text = format!("NOT A LEGAL MUTATION: {short} \"{subject}\", {at}: {}\n", bad.problem);
    text.push_str(&format!("  see it with `git show {short}`\n"));
    if let Some(parent) = &bad.parent {
        let branch = ctx.store.git().branch()?;
        text.push_str(&format!("  all is well up to the commit before it; go back with `git update-ref refs/heads/{branch} {parent}`\n"));
    }
    Ok(text)
}
