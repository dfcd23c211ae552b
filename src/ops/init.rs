//! Setting a clone up, and repairing it.

use serde::Serialize;

use super::{Ctx, Done, enforcement::Enforcement, goal};
use crate::{
    domain::{
        id::GoalId,
        policy::{Approval, Policy, RepositoryId},
        text::Title,
    },
    error::Error,
};

/// What `init` was asked for.
#[derive(Debug)]
pub struct Request {
    pub branch: Option<String>,
    /// Objective of a first goal, with the id that was chosen for it.
    pub goal: Option<(Title, Option<GoalId>)>,
    pub hooks: bool,
}

/// What `init` did.
#[derive(Debug, Serialize)]
pub struct Initialised {
    pub branch: String,
    /// False when the state was there already.
    pub created: bool,
    /// The goal that was added.
    pub goal: Option<GoalId>,
    pub enforcement: Enforcement,
}

/// Makes what is missing of branch, config, exclude entry, `.loopx/` and hook, and adds a first goal if asked to.
pub fn init(ctx: &Ctx, request: Request) -> Result<Done<Initialised>, Error> {
    let stamp = ctx.stamp()?;
    let policy = Policy { repository: RepositoryId::new(&ctx.entropy), approval: Approval::Terminal };
    let setup = ctx.store.set_up(request.branch.as_deref(), &policy, &stamp)?;
    // The configuration that was just written is read by a store of its own.
    let ctx = &ctx.reopened()?;
    let enforcement = match request.hooks {
        true => super::enforcement::install(ctx).unwrap_or_else(|_| super::enforcement::probe(&ctx.store)),
        false => super::enforcement::probe(&ctx.store),
    };
    let mut warnings = setup.warnings;
    let (mut added, mut commit) = (None, None);
    if let Some((objective, id)) = request.goal {
        let done = goal::add(ctx, id, objective, Vec::new())?;
        warnings.extend(done.warnings);
        commit = done.commit;
        added = Some(done.value.id);
    }
    let value = Initialised { branch: setup.branch, created: setup.created, goal: added, enforcement };
    Ok(Done { value, commit, warnings })
}
