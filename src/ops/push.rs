//! May this push go out?

use std::{collections::BTreeSet, ffi::OsString, process::Child};

use super::Ctx;
use crate::{
    domain::{
        gate::{Act, Gate, Tip},
        id::{GateId, GoalId},
        push::{Carried, PushedRef, RefUpdate, Verdict, unchecked, verdict},
        text::shown,
        time::Timestamp,
    },
    error::Error,
    store::Snapshot,
};

/// Refs below this are written by `loopx sync` and by nobody else.
const OURS: &str = "refs/loopx/";

/// Where a push goes, as git tells the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name, or its address when it has none.
    pub name: String,
    pub url: String,
}

/// One line of what git tells the hook. An id is hex; none stands for git's all-zero id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub local: String,
    pub local_id: Option<String>,
    pub remote: String,
    pub remote_id: Option<String>,
}

/// The verdict with the time it was given at.
#[derive(Debug)]
pub struct Checked {
    pub verdict: Verdict,
    pub at: Timestamp,
}

/// Judges a push to `remote`. Any error means that the push must not go out: a gate that cannot see is shut. Reads the
/// state from the branch and writes nothing.
pub fn check(ctx: &Ctx, remote: &Remote, lines: &[Line]) -> Result<Checked, Error> {
    let snapshot = ctx.store.trusted()?;
    let gates = gates(&snapshot)?;
    let holding = || gates.iter().map(|(_, _, gate)| gate).filter(|gate| gate.holds_back(Act::Push));
    // What another branch has was let in there, which says nothing of the branches that a gate is about.
    let about_files = || holding().map(|gate| &gate.scope).filter(|scope| !scope.paths.is_empty());
    let counts = |name: &str| about_files().all(|scope| scope.has_branch(name));
    let tip = tips(ctx, &gates);
    let remotes = match holding().any(|gate| !gate.scope.remotes.is_empty()) {
        true => ctx.store.git().known_as(&remote.name, &remote.url)?,
        false => BTreeSet::new(),
    };
    let state_ref = format!("refs/heads/{}", ctx.store.git().branch()?);
    let mut refs = Vec::new();
    for line in lines {
        let update = match &line.local_id {
            None => RefUpdate::Deleted,
            Some(id) => {
                let was = line.remote_id.as_deref();
                let is_ours = |name: &str| name == state_ref || name.starts_with(OURS);
                let carries = match is_ours(&line.local) || is_ours(&line.remote) {
                    true => Some(Carried::State),
                    false => match ctx.store.carries(id, &remote.name, was)? {
                        Some(Carried::State) => Some(match ctx.store.brought_in(id, &remote.name, was)? {
                            Some(brought) => Carried::Within(brought),
                            None => Carried::State,
                        }),
                        other => other,
                    },
                };
                let changed = match about_files().next() {
                    Some(_) => ctx.store.changed_files(id, &remote.name, was, counts)?,
                    None => None,
                };
                RefUpdate::Written { carries, changed, tip: tip(id)? }
            }
        };
        refs.push(PushedRef { local: line.local.clone(), remote: line.remote.clone(), update });
    }
    let verdict = verdict(gates.iter().map(|(goal, id, gate)| (goal, id, gate)), &remotes, &refs);
    let verdict = match snapshot.policy()?.require_receipt {
        true => {
            let lines = lines.iter().map(|line| (line.local.as_str(), line.local_id.as_deref()));
            verdict.and(unchecked(&receipts(&snapshot)?, going(ctx, lines)?))
        }
        false => verdict,
    };
    Ok(Checked { verdict, at: ctx.now })
}

/// What would go out, with its trees: `refs` are names and objects, none for one that is removed.
pub(super) fn going<'a>(
    ctx: &Ctx,
    refs: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> Result<Vec<(String, String)>, Error> {
    let mut going = Vec::new();
    for (name, id) in refs {
        let Some(id) = id else { continue };
        if let Some(tree) = ctx.store.git().tree_of(id)? {
            going.push((format!("`{}`", shown(name, 200)), tree));
        }
    }
    Ok(going)
}

/// The trees that a check which succeeded lets out: those of the recent evidence of all goals.
pub(super) fn receipts(snapshot: &Snapshot<'_>) -> Result<BTreeSet<String>, Error> {
    let mut receipts = BTreeSet::new();
    for goal in snapshot.goals()? {
        let evidence = snapshot.evidence(&goal)?;
        receipts.extend(evidence.values().filter_map(|evidence| evidence.what.receipt()).map(str::to_owned));
    }
    Ok(receipts)
}

/// How a commit (hex) that is pushed is related to those that were answered about, if a gate wants to know.
pub(super) fn tips<'a>(
    ctx: &'a Ctx,
    gates: &'a [(GoalId, GateId, Gate)],
) -> impl Fn(&str) -> Result<Option<Tip>, Error> + 'a {
    let holding = || gates.iter().map(|(_, _, gate)| gate).filter(|gate| gate.holds_back(Act::Push));
    let is_wanted = holding().any(|gate| gate.bind().is_some());
    let answered: BTreeSet<&str> = holding().flat_map(Gate::answered).collect();
    move |id| match is_wanted {
        true => Ok(ctx.store.git().leaving(id, &answered)?),
        false => Ok(None),
    }
}

/// The gates in force, of all goals.
pub(super) fn gates(snapshot: &Snapshot<'_>) -> Result<Vec<(GoalId, GateId, Gate)>, Error> {
    let mut gates = Vec::new();
    for goal in snapshot.goals()? {
        gates.extend(snapshot.gates(&goal)?.into_iter().map(|(id, gate)| (goal.clone(), id, gate)));
    }
    Ok(gates)
}

/// Notes what was said of a push, so that one which the hook did not allow can be told from one that it did. Nothing of
/// the verdict hangs on whether this succeeds.
pub fn note(ctx: &Ctx, remote: &str, lines: &[Line], allowed: bool) -> Result<(), Error> {
    let written = |line| {
        let Line { local_id, remote, .. }: &Line = line;
        Some((local_id.as_deref()?, remote.as_str()))
    };
    let refs: Vec<_> = lines.iter().filter_map(written).collect();
    match refs.is_empty() {
        true => Ok(()),
        false => Ok(ctx.store.note_verdict(ctx.now, allowed, remote, &refs)?),
    }
}

/// What loopx talks to in strict mode when git pushes to an address.
#[derive(Debug)]
pub enum OtherSide {
    /// `git receive-pack`, here or on another host.
    ReceivePack(Child),
    /// Git's own helper for web servers, which speaks the protocol of helpers.
    Helper(Child),
}

/// Starts the other side of a push to `address`, with standard input and output to talk to. `ssh` is the command that
/// reaches other hosts, if the environment names one.
pub fn connect(ctx: &Ctx, remote: &str, address: &str, ssh: Option<OsString>) -> Result<OtherSide, Error> {
    Ok(match ctx.store.web_helper(remote, address)? {
        Some(helper) => OtherSide::Helper(helper),
        None => OtherSide::ReceivePack(ctx.store.receive_pack(address, ssh)?),
    })
}

/// The object that is pushed as `name`, in hex.
pub fn object_of(ctx: &Ctx, name: &str) -> Result<String, Error> {
    Ok(ctx.store.object_of(name)?)
}
