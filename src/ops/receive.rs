//! May this be pushed to a repository whose owner wants the rule of the gates on the server's side?
//!
//! The state that decides is the one that was synced to this very repository. Here nobody is asked to be honest: what is
//! refused is refused, whatever the client skipped.

use std::path::PathBuf;

use super::{
    Ctx,
    push::{Checked, gates, tips},
};
use crate::{
    domain::{
        push::{Carried, PushedRef, RefUpdate, verdict},
        scope::Scope,
    },
    error::{Error, Kind},
    store::{self, remote::STATE_REF},
};

/// One line of what git tells the hook. An id is hex; none stands for git's all-zero id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// Judges a push before it is let in; `quarantine` are the folders in which git keeps its objects until then. Any error means
/// that it must not be let in.
pub fn check(mut ctx: Ctx, quarantine: &[PathBuf], updates: &[Update]) -> Result<Checked, Error> {
    let _seen = match quarantine {
        [] => None,
        places => Some(ctx.store.see_incoming(places)?),
    };
    let of_state = updates.iter().find(|update| update.name == STATE_REF);
    let snapshot = match of_state.map(|update| update.new.as_deref()) {
        Some(None) => {
            let why = format!("`{STATE_REF}` has the gates of this repository, and is not removed by a push");
            return Err(Error::new(Kind::Refused, why).hint(format!(
                "whoever owns the repository removes it there, with `git update-ref -d {STATE_REF}`"
            )));
        }
        Some(Some(new)) => Some(ctx.store.received(new, ctx.now).map_err(not_received)?),
        None => ctx.store.synced_here(ctx.now)?,
    };
    let gates: Vec<_> = match &snapshot {
        Some(snapshot) => gates(snapshot)?,
        None => Vec::new(),
    };
    // By which name a client knows this repository is not known here, so a gate is about it whatever it names.
    let gates: Vec<_> = gates
        .into_iter()
        .map(|(goal, id, gate)| {
            let scope = Scope { remotes: Default::default(), ..gate.scope.clone() };
            (goal, id, gate.within(scope))
        })
        .collect();
    // What another branch has was let in there, which says nothing of the branches that a gate is about.
    let about_files = || gates.iter().map(|(_, _, gate)| &gate.scope).filter(|scope| !scope.paths.is_empty());
    let counts = |name: &str| about_files().all(|scope| scope.has_branch(name));
    let look_at_files = about_files().next().is_some();
    let tip = tips(&ctx, &gates);
    let mut refs = Vec::new();
    for update in updates.iter().filter(|update| update.name != STATE_REF) {
        let written = match &update.new {
            None => RefUpdate::Deleted,
            Some(id) => RefUpdate::Written {
                carries: ctx.store.carries_here(id)?,
                changed: match look_at_files {
                    true => ctx.store.changed_here(id, update.old.as_deref(), counts)?,
                    false => None,
                },
                tip: tip(id)?,
            },
        };
        let local = update.new.as_deref().map_or("(delete)", |id| &id[..10]).to_owned();
        refs.push(PushedRef { local, remote: update.name.clone(), update: written });
    }
    let carries_state = |pushed: &PushedRef| {
        matches!(pushed.update, RefUpdate::Written { carries: Some(Carried::State | Carried::Folder), .. })
    };
    let is_written = |pushed: &PushedRef| pushed.update != RefUpdate::Deleted;
    if snapshot.is_none()
        && ctx.store.requires_state()
        && refs.iter().any(is_written)
        && !refs.iter().any(carries_state)
    {
        return Err(Error::new(
            Kind::Refused,
            "no state was synced to this repository yet, so whether a question is open is not known",
        )
        .hint("sync it first: `loopx remote set <name>` and `loopx sync`")
        .hint("or its owner lets pushes in until then, there, with `git config loopx.require false`"));
    }
    let verdict = verdict(gates.iter().map(|(goal, id, gate)| (goal, id, gate)), &Default::default(), &refs);
    Ok(Checked { verdict, at: ctx.now })
}

/// What is wrong with a state that was pushed is the push's fault and not that of what is here.
fn not_received(problem: store::Error) -> Error {
    match problem {
        problem @ (store::Error::Illegal { .. }
        | store::Error::Unreadable { .. }
        | store::Error::Newer { .. }) => {
            let message = format!("`{STATE_REF}` does not take what was pushed: {problem}");
            Error::new(Kind::Refused, message).hint("run `loopx verify --all` where it comes from")
        }
        problem => problem.into(),
    }
}
