//! May this push go out?

use std::{ffi::OsString, process::Child};

use super::Ctx;
use crate::{
    domain::{
        push::{PushedRef, RefUpdate, Verdict, verdict},
        time::Timestamp,
    },
    error::Error,
};

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

/// Judges a push to the remote called `remote`. Any error means that the push must not go out: a gate that cannot see is
/// shut. Reads the state from the branch and writes nothing.
pub fn check(ctx: &Ctx, remote: &str, lines: &[Line]) -> Result<Checked, Error> {
    let snapshot = ctx.store.trusted()?;
    let state_ref = format!("refs/heads/{}", ctx.store.git().branch()?);
    let mut refs = Vec::new();
    for line in lines {
        let update = match &line.local_id {
            None => RefUpdate::Deleted,
            Some(id) => {
                let named = line.local == state_ref || line.remote == state_ref;
                let carries_state =
                    named || ctx.store.carries_state(id, remote, line.remote_id.as_deref())?;
                RefUpdate::Written { carries_state }
            }
        };
        refs.push(PushedRef { local: line.local.clone(), remote: line.remote.clone(), update });
    }
    let mut gates = Vec::new();
    for goal in snapshot.goals()? {
        gates.extend(snapshot.gates(&goal)?.into_iter().map(|(id, gate)| (goal.clone(), id, gate)));
    }
    let verdict = verdict(gates.iter().map(|(goal, id, gate)| (goal, id, gate)), &refs);
    Ok(Checked { verdict, at: ctx.now })
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
