//! May this push go out?

use std::collections::BTreeSet;

use super::Ctx;
use crate::{
    domain::{
        gate::{Act, Gate},
        id::{GateId, GoalId},
        push::{Carried, PushedRef, RefUpdate, Verdict, verdict},
        time::Timestamp,
    },
    error::Error,
    store::Snapshot,
};

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
    let look_at_files = holding().any(|gate| !gate.scope.paths.is_empty());
    let answered: BTreeSet<&str> = holding().flat_map(Gate::answered).collect();
    let look_at_tips = holding().any(|gate| gate.bind().is_some());
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
                let carries = match line.local == state_ref || line.remote == state_ref {
                    true => Some(Carried::State),
                    false => ctx.store.carries(id, &remote.name, was)?,
                };
                let changed = match look_at_files {
                    true => ctx.store.changed_files(id, &remote.name, was)?,
                    false => None,
                };
                let tip = match look_at_tips {
                    true => ctx.store.git().leaving(id, &answered)?,
                    false => None,
                };
                RefUpdate::Written { carries, changed, tip }
            }
        };
        refs.push(PushedRef { local: line.local.clone(), remote: line.remote.clone(), update });
    }
    let verdict = verdict(gates.iter().map(|(goal, id, gate)| (goal, id, gate)), &remotes, &refs);
    Ok(Checked { verdict, at: ctx.now })
}

/// The gates in force, of all goals.
pub(super) fn gates(snapshot: &Snapshot<'_>) -> Result<Vec<(GoalId, GateId, Gate)>, Error> {
    let mut gates = Vec::new();
    for goal in snapshot.goals()? {
        gates.extend(snapshot.gates(&goal)?.into_iter().map(|(id, gate)| (goal.clone(), id, gate)));
    }
    Ok(gates)
}
