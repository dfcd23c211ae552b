//! Taking loopx out of a clone.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    Ctx, enforcement,
    host::{self, Homes},
};
use crate::{domain::actor::Proven, error::Error};

/// What was taken out, and what stays.
#[derive(Debug, Serialize)]
pub struct Uninstalled {
    /// Folders and files that are gone.
    pub gone: Vec<PathBuf>,
    /// Files that are as they were before.
    pub restored: Vec<PathBuf>,
    /// What stands in the place of `.loopx` and is not known for loopx's, so that it stays; null when nothing does.
    pub left: Option<PathBuf>,
    /// Refs that are gone; only a purge takes any.
    pub refs: Vec<String>,
    /// The branch that keeps the state; none after a purge.
    pub kept: Option<String>,
    /// The hosts of agents that ask no more in this worktree.
    pub hosts: Vec<&'static str>,
    /// A hook that still asks loopx, as other repositories share it; null when none does.
    pub still: Option<PathBuf>,
}

/// Takes the hooks, the folder, what hosts of agents ask in this worktree, the settings and the notes out, and with `purge` the state, too. It takes a person, because
/// pushes go out unasked from then on.
pub fn uninstall(ctx: &Ctx, purge: bool, proven: &Proven) -> Result<Uninstalled, Error> {
    let branch = ctx.store.git().branch()?;
    let (homes, mut hosts) = (Homes::default(), Vec::new());
    for host in host::asking(ctx) {
        let plan = host::plan_uninstall(ctx, &homes, host, host::Scope::Project)?;
        host::uninstall(ctx, &homes, &plan, proven)?;
        hosts.push(host.name());
    }
    // The view before the hooks: it is the one step that the user's own edits can refuse.
    let taken = ctx.store.take_down(purge)?;
    let enforcement::Removed { files: mut restored, still } = enforcement::uninstall(ctx, proven)?;
    restored.extend(taken.restored);
    restored.sort();
    restored.dedup();
    let (there, gone): (Vec<_>, Vec<_>) = restored.into_iter().partition(|file| file.exists());
    let kept = (!purge).then_some(branch);
    Ok(Uninstalled {
        gone: taken.gone.into_iter().chain(gone).collect(),
        restored: there,
        left: taken.left,
        refs: taken.refs,
        kept,
        hosts,
        still,
    })
}
