//! May this be pushed to a repository whose owner wants the rule of the gates on the server's side?
//!
//! The state that decides is the one that was synced to this very repository. Here nobody is asked to be honest: what is
//! refused is refused, whatever the client skipped.

use std::path::{Path, PathBuf};

use super::{
    Ctx,
    push::{Checked, gates, going, receipts, tips},
};
use crate::{
    domain::{
        policy::RepositoryId,
        push::{PushedRef, RefUpdate, unchecked, verdict},
        receipt::{NoReceipt, Receipt, Written},
        scope::Scope,
        text::shown,
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

/// Judges a push before it is let in; `quarantine` are the folders in which git keeps its objects until then, and `options`
/// what came with it. Any error means that it must not be let in.
pub fn check(
    mut ctx: Ctx,
    quarantine: &[PathBuf],
    updates: &[Update],
    options: &[String],
) -> Result<Checked, Error> {
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
    let carries_state =
        |pushed: &PushedRef| matches!(pushed.update, RefUpdate::Written { carries: Some(_), .. });
    let is_written = |pushed: &PushedRef| pushed.update != RefUpdate::Deleted;
    let is_asked = refs.iter().any(is_written) && !refs.iter().any(carries_state);
    let wanted = ctx.store.git().receipts_wanted();
    if let Some((allowed, repository)) = wanted.as_ref().filter(|_| is_asked) {
        let known = match &snapshot {
            Some(snapshot) => Some(snapshot.policy()?.repository),
            None => repository.clone(),
        };
        must_be_let_in(&ctx, allowed, known, updates, options)?;
    }
    if snapshot.is_none() && wanted.is_none() && ctx.store.requires_state() && is_asked {
        return Err(Error::new(
            Kind::Refused,
            "no state was synced to this repository yet, so whether a question is open is not known",
        )
        .hint("sync it first: `loopx remote set <name>` and `loopx sync`")
        .hint("or its owner lets pushes in until then, there, with `git config loopx.require false`"));
    }
    let verdict = verdict(gates.iter().map(|(goal, id, gate)| (goal, id, gate)), &Default::default(), &refs);
    let verdict = match &snapshot {
        Some(snapshot) if snapshot.policy()?.require_receipt => {
            let written = updates.iter().filter(|update| update.name != STATE_REF);
            let written = written.map(|update| (update.name.as_str(), update.new.as_deref()));
            verdict.and(unchecked(&receipts(snapshot)?, going(&ctx, written)?))
        }
        _ => verdict,
    };
    Ok(Checked { verdict, at: ctx.now })
}

/// Refuses a push that none of its options lets in: a receipt that somebody whom the file `allowed` lists signed over it.
fn must_be_let_in(
    ctx: &Ctx,
    allowed: &Path,
    repository: Option<RepositoryId>,
    updates: &[Update],
    options: &[String],
) -> Result<(), Error> {
    let refused = |why: String| {
        Error::new(Kind::Refused, why)
            .hint("where it comes from: `loopx guard receipt <remote> <branch>` has a person sign one, and says how to push with it")
    };
    let repository = repository.ok_or_else(|| {
        Error::new(Kind::Environment, "`loopx.approvers` is set here and `loopx.repository` names no state")
            .hint("set it here, with `git config loopx.repository <id>`; `loopx policy show` prints the id where the state is")
    })?;
    let prefix = format!("{}=", Receipt::OPTION);
    let option = options.iter().find_map(|option| option.strip_prefix(&prefix)).ok_or_else(|| {
        refused(
            "nothing says that a person let this push go: pushes to this repository need a receipt".into(),
        )
    })?;
    let receipt: Receipt = option.parse().map_err(|bad: NoReceipt| refused(bad.to_string()))?;
    receipt.check_time(ctx.now).map_err(|stale| refused(stale.to_string()))?;
    let written: Vec<_> = updates
        .iter()
        .filter(|update| update.name != STATE_REF)
        .filter_map(|update| {
            Some(Written { name: update.name.clone(), was: update.old.clone(), id: update.new.clone()? })
        })
        .collect();
    let statement = receipt.wants(&repository, &written).to_string();
    match ctx.store.git().signer(allowed, &statement, &receipt.armoured())? {
        Some(_) => Ok(()),
        None => {
            let pushed: Vec<String> =
                written.iter().map(|to| format!("`{}` to {}", shown(&to.name, 100), &to.id[..10])).collect();
            let what = pushed.join(" and ");
            Err(refused(format!("the receipt was not signed for this push, of {what}, by somebody who may")))
        }
    }
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
