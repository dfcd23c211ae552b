use super::Said;
use crate::{
    caller::Challenge,
    domain::text::shown,
    error::Error,
    ops::{self, Ctx},
    process::Process,
};

#[derive(Debug, clap::Args)]
pub(super) struct Uninstall {
    /// Remove the state, too: goals, gates, todos, evidence, and the history of it all
    #[arg(long)]
    purge: bool,
}

impl Uninstall {
    pub(super) fn run(self, process: &Process, ctx: &Ctx) -> Result<Said, Error> {
        let branch = ctx.store.git().branch()?;
        let asking: Vec<_> = ops::host::asking(ctx).into_iter().map(ops::host::Host::name).collect();
        let asking = match asking.is_empty() {
            true => String::new(),
            false => format!("These hosts of agents ask no more: {}.\n", asking.join(", ")),
        };
        let gates = super::hooks::in_force(ctx);
        let (what, fate, word, command) = match self.purge {
            false => ("take loopx out of this clone", "stays", "uninstall", "loopx uninstall"),
            true => {
                ("remove loopx and all its state", "is removed for good", "purge", "loopx uninstall --purge")
            }
        };
        let challenge = Challenge {
            what: what.into(),
            shows: format!(
                "{gates}. Pushes are not kept back any more. The branch `{branch}` {fate}.\n{asking}"
            ),
            word: word.into(),
            command: command.into(),
        };
        let proven = ctx.caller.prove(process, &ctx.owner()?, &challenge)?;
        let done = ops::uninstall::uninstall(ctx, self.purge, &proven)?;
        let mut text = String::new();
        for (verb, files) in [("removed", &done.gone), ("put back as it was:", &done.restored)] {
            for file in files {
                text.push_str(&format!("{verb} {}\n", shown(&file.to_string_lossy(), 4096)));
            }
        }
        if let Some(left) = &done.left {
            text.push_str(&format!(
                "left alone, because it is not known for loopx's: {}\n",
                shown(&left.to_string_lossy(), 4096)
            ));
        }
        done.refs.iter().for_each(|name| text.push_str(&format!("removed {name}\n")));
        text.push_str(&match &done.kept {
            Some(branch) => format!("the state stays on branch `{branch}`; `loopx init` goes on from it\n"),
            None => "what was synced to a remote is still there\n".to_owned(),
        });
        done.hosts.iter().for_each(|host| text.push_str(&format!("taken out of {host}\n")));
        let warnings = done.still.iter().map(|hook| super::hooks::still_asks(hook)).collect();
        Ok(Said { warnings, ..Said::read(&done, text) })
    }
}
