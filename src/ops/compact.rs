//! Leaving the history of the state behind.

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{actor::Proven, change::Op},
    error::{Error, Kind},
};

/// What would be left behind, and what stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The newest commit, in hex; the state in it stays to the byte.
    pub tip: String,
    /// Commits that lead to it, itself among them.
    pub commits: usize,
}

/// What was left behind.
#[derive(Debug, Serialize)]
pub struct Compacted {
    #[serde(flatten)]
    pub plan: Plan,
    /// Whether it was done; a plan alone changes nothing.
    pub applied: bool,
}

/// Looks what there is to leave behind. A history with a commit in it that is no legal mutation is kept: it is the only
/// place where that can be seen.
pub fn plan(ctx: &Ctx, progress: impl FnMut(usize, usize)) -> Result<Plan, Error> {
    let verified = ctx.store.verify(false, ctx.now, progress)?;
    if let Some(bad) = verified.bad {
        let problem = format!("the history has a commit that is no legal mutation: {}", &bad.commit[..10]);
        return Err(Error::new(Kind::Refused, problem).hint("run `loopx verify`"));
    }
    Ok(Plan { commits: verified.known + verified.checked, tip: verified.tip })
}

/// Leaves behind what `plan` says. Takes a person, because nobody can verify afterwards what was.
pub fn compact(ctx: &Ctx, plan: &Plan, _proven: &Proven) -> Result<Done<Compacted>, Error> {
    let stamp = ctx.stamp()?;
    super::must_be_allowed(Op::Checkpoint, &stamp)?;
    let updated = ctx.store.leave_behind(&plan.tip, &stamp)?;
    let value = Compacted { plan: plan.clone(), applied: true };
    Ok(Done { value, commit: updated.commit, warnings: updated.warnings })
}
