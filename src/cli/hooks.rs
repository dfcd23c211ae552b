use super::Said;
use crate::{
    domain::text::shown,
    error::{Error, Kind},
    ops::{self, Ctx, enforcement, enforcement::Enforcement},
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Hooks {
    /// Put the hook in git's way, or renew it
    Install,
    /// Whether a push from this worktree is guarded
    Status,
}

impl Hooks {
    pub(super) fn run(self, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Install => {
                let installed = enforcement::install(ctx)?;
                ops::bypass::watch(ctx);
                if let Some(why) = &installed.why {
                    let message = format!("the hook is in place, but pushes are still not guarded: {why}");
                    return Err(
                        Error::new(Kind::Refused, message).hint(format!("look at `{}`", file(&installed)))
                    );
                }
                Ok(Said::read(&installed, line(&installed)))
            }
            Self::Status => {
                let found = enforcement::probe(&ctx.store);
                let code = if found.active { 0 } else { Kind::Refused.exit_code() };
                Ok(Said { code, ..Said::read(&found, line(&found)) })
            }
        }
    }
}

/// Whether pushes are guarded, in one line.
pub(super) fn line(found: &Enforcement) -> String {
    let hook = file(found);
    match (&found.why, found.did) {
        (None, Some(did)) => format!("pushes are guarded: {did} {hook}\n"),
        (None, None) => format!("pushes are guarded by {hook}\n"),
        (Some(why), _) => format!("PUSHES ARE NOT GUARDED: {why} (see `loopx hooks install`)\n"),
    }
}

/// The path of the hook, fit to print.
fn file(found: &Enforcement) -> String {
    shown(&found.hook.to_string_lossy(), 4096)
}
