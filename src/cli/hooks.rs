use super::Said;
use crate::{
    caller::Challenge,
    domain::text::shown,
    error::{Error, Kind},
    ops::{self, Ctx, enforcement, enforcement::Enforcement},
    process::Process,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Hooks {
    /// Put the hook in git's way, or renew it
    Install,
    /// Whether a push from this worktree is guarded
    Status,
    /// Send pushes to a remote through loopx, which `--no-verify` does not leave out
    Strict {
        /// `off` takes a person at a terminal
        #[arg(value_enum)]
        mode: Mode,
        /// The remote; may be left out when there is one
        #[arg(long, value_name = "NAME")]
        remote: Option<String>,
    },
}

/// What strict mode is to be.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Mode {
    On,
    Off,
}

/// What git starts in strict mode.
const HELPER: &str = "git-remote-loopx";

impl Hooks {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
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
            Self::Strict { mode: Mode::On, remote } => {
                let found = ops::strict::on(ctx, ops::strict::find(ctx, remote.as_deref())?)?;
                let text = format!("pushes to {} go through loopx\n", shown(&found.remote, 200));
                let is_there = process.search_path().iter().any(|folder| folder.join(HELPER).is_file());
                let missing = format!(
                    "`{HELPER}` is in no folder of `PATH`, so git cannot push there: put it where `loopx` is"
                );
                let warnings = if is_there { Vec::new() } else { vec![missing] };
                Ok(Said { warnings, ..Said::read(&found, text) })
            }
            Self::Strict { mode: Mode::Off, remote } => {
                let found = ops::strict::find(ctx, remote.as_deref())?;
                let name = shown(&found.remote, 200);
                let challenge = Challenge {
                    what: format!("let pushes to `{name}` go past loopx"),
                    shows: "Without it, `git push --no-verify` asks nobody.\n".to_owned(),
                    word: name.clone(),
                    command: format!("loopx hooks strict off --remote {name}"),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let found = ops::strict::off(ctx, found, &proven)?;
                Ok(Said::read(&found, format!("pushes to {name} no longer go through loopx\n")))
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
