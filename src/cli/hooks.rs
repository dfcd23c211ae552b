use std::path::Path;

use super::Said;
use crate::{
    caller::Challenge,
    domain::text::shown,
    error::{Error, Kind},
    ops::{
        self, Ctx,
        enforcement::{self, Enforcement, SMALL},
    },
    process::Process,
    text::Count,
};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Hooks {
    /// Put the hook in git's way, or renew it
    Install {
        /// Show what would change in a hook file that everybody shares who clones this
        #[arg(long)]
        tracked: bool,
        /// Change that file
        #[arg(long, requires = "tracked")]
        apply: bool,
        /// Print what goes behind the first line of a hook that several repositories share, and install nothing
        #[arg(long, conflicts_with = "tracked")]
        print: bool,
    },
    /// Take the hook away again (a person at a terminal only)
    Uninstall,
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

impl Hooks {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        match self {
            Self::Install { print: true, .. } => {
                #[derive(serde::Serialize)]
                struct Lines {
                    lines: String,
                }
                let lines = enforcement::to_be_shared(ctx);
                Ok(Said::read(&Lines { lines: lines.clone() }, lines))
            }
            Self::Install { tracked: true, apply: false, .. } => {
                #[derive(serde::Serialize)]
                struct Change {
                    /// A unified diff.
                    diff: Option<String>,
                }
                let change = Change { diff: enforcement::tracked_change(ctx)? };
                let text = match &change.diff {
                    Some(diff) => {
                        format!("{diff}do it with `loopx hooks install --tracked --apply`, and commit it\n")
                    }
                    None => "no hook file that is shared would change\n".to_owned(),
                };
                Ok(Said::read(&change, text))
            }
            Self::Install { tracked, .. } => {
                let installed = enforcement::install(ctx, tracked)?;
                ops::bypass::watch(ctx);
                if let Some(why) = &installed.why {
                    let message = format!("the hook is in place, but pushes are still not guarded: {why}");
                    return Err(
                        Error::new(Kind::Refused, message).hint(format!("look at `{}`", file(&installed)))
                    );
                }
                Ok(Said::read(&installed, line(&installed)))
            }
            Self::Uninstall => {
                let challenge = Challenge {
                    what: "take the hook away, so that pushes are not kept back any more".into(),
                    shows: format!("{}\n", in_force(ctx)),
                    word: "unguarded".into(),
                    command: "loopx hooks uninstall".into(),
                };
                let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
                let removed = enforcement::uninstall(ctx, &proven)?;
                let mut text = String::from("pushes are not kept back any more\n");
                for file in &removed.files {
                    text.push_str(&format!("  taken out of {}\n", shown(&file.to_string_lossy(), 4096)));
                }
                let warnings = removed.still.iter().map(|hook| still_asks(hook)).collect();
                Ok(Said { warnings, ..Said::read(&removed, text) })
            }
            Self::Status => {
                let found = enforcement::probe(ctx);
                let code = if found.active { 0 } else { Kind::Refused.exit_code() };
                Ok(Said { code, ..Said::read(&found, line(&found)) })
            }
            Self::Strict { mode: Mode::On, remote } => {
                let found = ops::strict::on(ctx, ops::strict::find(ctx, remote.as_deref())?)?;
                let text = format!("pushes to {} go through loopx\n", shown(&found.remote, 200));
                let is_there = process.search_path().iter().any(|folder| folder.join(SMALL).is_file());
                let missing = format!(
                    "`{SMALL}` is in no folder of `PATH`, so git cannot push there: put it where `loopx` is"
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

/// What is left when a hook of several repositories asks loopx.
pub(super) fn still_asks(hook: &Path) -> String {
    let hook = shown(&hook.to_string_lossy(), 4096);
    format!(
        "`{hook}`, which other repositories may share, still asks loopx: take its lines out by hand if nobody needs them"
    )
}

/// How many gates are in force, or why nobody knows, for whoever is about to take loopx out.
pub(super) fn in_force(ctx: &Ctx) -> String {
    match ops::gate::in_force(ctx) {
        Ok(gates) => format!("{} in force", Count(gates, "gate")),
        Err(why) => format!("How many gates are in force cannot be seen: {}", why.message),
    }
}

/// Whether pushes are guarded: one line, and one for each other worktree from which they are not.
pub(super) fn line(found: &Enforcement) -> String {
    let hook = file(found);
    let mut text = match (&found.why, found.did) {
        (None, Some(did)) => format!("pushes are guarded: {did} {hook}\n"),
        (None, None) => format!("pushes are guarded by {hook}\n"),
        (Some(why), _) => format!("PUSHES ARE NOT GUARDED: {why} (see `loopx hooks install`)\n"),
    };
    text.push_str(&elsewhere(found));
    text
}

/// The other worktrees from which pushes are not guarded, a line each.
pub(super) fn elsewhere(found: &Enforcement) -> String {
    let lines = found.elsewhere.iter().map(|other| {
        let place = shown(&other.place.to_string_lossy(), 4096);
        format!("PUSHES FROM `{place}` ARE NOT GUARDED: {} (run `loopx hooks install` there)\n", other.why)
    });
    lines.collect()
}

/// The path of the hook, fit to print.
fn file(found: &Enforcement) -> String {
    shown(&found.hook.to_string_lossy(), 4096)
}
