//! The repository's own rules.

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        actor::Proven,
        change::{Change, Op, Record},
        policy::{Approval, Policy, RepositoryId},
    },
    error::{Error, Kind},
};

/// The rules.
#[derive(Debug, Serialize)]
pub struct PolicyView {
    pub repository: RepositoryId,
    pub approval: Approval,
    pub require_receipt: bool,
}

impl From<Policy> for PolicyView {
    fn from(Policy { repository, approval, require_receipt }: Policy) -> Self {
        Self { repository, approval, require_receipt }
    }
}

/// The rules as they are now.
pub fn show(ctx: &Ctx) -> Result<PolicyView, Error> {
    Ok(ctx.store.read()?.policy()?.into())
}

/// Whether asking for less would loosen something now, which takes a person.
pub fn loosens(ctx: &Ctx, require_receipt: bool) -> Result<bool, Error> {
    let before = ctx.store.read()?.policy()?;
    Ok(Policy { require_receipt, ..before.clone() }.is_looser_than(&before))
}

/// Says whether what goes out needs a receipt. Asking for one is anybody's, not asking any more is a person's.
pub fn require_receipt(
    ctx: &Ctx,
    require_receipt: bool,
    proven: Option<&Proven>,
) -> Result<Done<PolicyView>, Error> {
    let stamp = ctx.stamp()?;
    ctx.update(&stamp, |snapshot| {
        let before = snapshot.policy()?;
        let policy = Policy { require_receipt, ..before.clone() };
        if policy.is_looser_than(&before) && proven.is_none() {
            return Err(Error::new(Kind::PersonNeeded, "only a person may let out what was not checked")
                .hint("run the same command in a terminal"));
        }
        let subject = match require_receipt {
            true => "require a receipt for what goes out",
            false => "require no receipt any more for what goes out",
        };
        let change = Change {
            op: Op::PolicyConfigure,
            subject: subject.to_owned(),
            body: None,
            goal: None,
            turn: None,
            puts: vec![Record::Policy(policy.clone())],
        };
        Ok((Some(change), policy.into()))
    })
}
