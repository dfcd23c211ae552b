//! Where the state may go: nowhere, until a person names a remote.

use serde::Serialize;

use super::Ctx;
use crate::{
    domain::actor::Proven,
    error::Error,
    store::{self, remote::Remote},
};

/// The remote that the state may go to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Its name; null when none is set.
    pub remote: Option<String>,
    /// Where that is, without passwords; null when none is set, or when the remote is not what was chosen any more.
    pub address: Option<String>,
    /// Why nothing goes there although one is set, with the commands that help; null when something would.
    pub problem: Option<String>,
    pub hints: Vec<String>,
}

impl Target {
    fn of(remote: &Remote) -> Self {
        Self {
            remote: Some(remote.name().to_owned()),
            address: Some(remote.address()),
            problem: None,
            hints: Vec::new(),
        }
    }

    const NONE: Self = Self { remote: None, address: None, problem: None, hints: Vec::new() };
}

/// The remote that is set.
pub fn show(ctx: &Ctx) -> Target {
    match ctx.store.target() {
        Ok(remote) => Target::of(&remote),
        Err(store::Error::NoTarget) => Target::NONE,
        Err(problem) => {
            let problem = Error::from(problem);
            Target {
                remote: ctx.store.target_name(),
                address: None,
                problem: Some(problem.message),
                hints: problem.hints,
            }
        }
    }
}

/// The remote that `name` means, and whether the state may go there already.
pub fn find(ctx: &Ctx, name: &str) -> Result<(Remote, bool), Error> {
    let remote = ctx.store.remote(name)?;
    let is_set = ctx.store.target().is_ok_and(|target| target == remote);
    Ok((remote, is_set))
}

/// Lets the state go to `remote`. It takes a person, because what is in the state leaves the machine from then on.
pub fn set(ctx: &Ctx, remote: &Remote, _proven: &Proven) -> Result<Target, Error> {
    ctx.store.set_target(remote)?;
    Ok(Target::of(remote))
}

/// Lets the state go nowhere. That only tightens, so anybody may. False when it went nowhere before.
pub fn unset(ctx: &Ctx) -> Result<(Target, bool), Error> {
    let was_set = ctx.store.unset_target()?;
    Ok((Target::NONE, was_set))
}
