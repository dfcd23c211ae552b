//! Setting a clone up, and repairing it.

use serde::Serialize;

use super::{Ctx, Done, enforcement::Enforcement, goal};
use crate::{
    domain::{
        actor::Proven,
        id::GoalId,
        policy::{Policy, RepositoryId},
        text::Title,
    },
    error::{Error, Kind},
    store::Situation,
};

/// What `init` was asked for.
#[derive(Debug)]
pub struct Request {
    /// Objective of a first goal, with the id that was chosen for it.
    pub goal: Option<(Title, Option<GoalId>)>,
    pub hooks: bool,
}

/// What `init` did.
#[derive(Debug, Serialize)]
pub struct Initialised {
    pub branch: String,
    /// What became of the state: `began`, `kept`, `put back`, `adopted`.
    pub state: &'static str,
    /// The goal that was added.
    pub goal: Option<GoalId>,
    pub enforcement: Enforcement,
}

/// What an `init` would come to.
#[derive(Debug)]
pub struct Plan {
    branch: String,
    situation: Situation,
    /// What is to be known of a tip that loopx did not put there.
    verdict: Option<String>,
}

impl Plan {
    /// What only a person may agree to, if there is anything: it completes "only a person may …".
    pub fn loosens(&self) -> Option<String> {
        let branch = &self.branch;
        match &self.situation {
            Situation::New | Situation::Ours | Situation::Lost { .. } => None,
            Situation::Foreign { .. } => {
                Some(format!("take over what something else than loopx put on `{branch}`"))
            }
            Situation::Shown { .. } => Some(format!(
                "put `{branch}` back at what `.loopx/` showed last, which may not be the newest"
            )),
            Situation::Gone => {
                Some(format!("begin `{branch}` anew, without the goals and gates that were there"))
            }
        }
    }

    /// The branch, which is what a person types back.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Whether what is there could have been made by loopx, in a sentence.
    pub fn verdict(&self) -> Option<&str> {
        self.verdict.as_deref()
    }

    /// The command that shows what there is to agree to.
    pub fn look(&self) -> Option<String> {
        match &self.situation {
            Situation::Foreign { last: Some(last), .. } => {
                Some(format!("git log --patch {}...{}", &last[..10], self.branch))
            }
            Situation::Foreign { last: None, .. } => Some(format!("git log --patch {}", self.branch)),
            Situation::Shown { last } => Some(format!("git log --patch {}", &last[..10])),
            _ => None,
        }
    }
}

/// Looks what `init` would meet, without changing it.
pub fn plan(ctx: &Ctx, branch: Option<&str>) -> Result<Plan, Error> {
    let branch = ctx.store.branch_for(branch)?;
    let situation = ctx.store.situation(&branch)?;
    let verdict = match &situation {
        // What was verified once is noted where whoever made the commits may write, so all of it is looked at again.
        Situation::Foreign { .. } => Some(match ctx.store.verify(true, ctx.now, |_, _| ())?.bad {
            None => "each commit of it is a legal mutation".to_owned(),
            Some(bad) => format!("commit {} is no legal mutation: {}", &bad.commit[..10], bad.problem),
        }),
        _ => None,
    };
    Ok(Plan { branch, situation, verdict })
}

/// Makes what is missing of branch, config, exclude entry, `.loopx/` and hook, and adds a first goal if asked to.
pub fn init(
    ctx: &Ctx,
    plan: &Plan,
    request: Request,
    proven: Option<&Proven>,
) -> Result<Done<Initialised>, Error> {
    if let (Some(loosened), None) = (plan.loosens(), proven) {
        return Err(Error::new(Kind::PersonNeeded, format!("only a person may {loosened}"))
            .hint("run `loopx init` in a terminal"));
    }
    let stamp = ctx.stamp()?;
    let policy = Policy::new(RepositoryId::new(&ctx.entropy));
    let setup = ctx.store.set_up(&plan.branch, &plan.situation, &policy, &stamp)?;
    // The configuration that was just written is read by a store of its own.
    let ctx = &ctx.reopened()?;
    let enforcement = match request.hooks {
        true => super::enforcement::install(ctx, false).unwrap_or_else(|_| super::enforcement::probe(ctx)),
        false => super::enforcement::probe(ctx),
    };
    super::bypass::watch(ctx);
    let mut warnings = setup.warnings;
    let (mut added, mut commit) = (None, None);
    if let Some((objective, id)) = request.goal {
        let done = goal::add(ctx, id, objective, Vec::new())?;
        warnings.extend(done.warnings);
        commit = done.commit;
        added = Some(done.value.id);
    }
    let state = match setup.situation {
        Situation::New | Situation::Gone => "began",
        Situation::Ours => "kept",
        Situation::Lost { .. } | Situation::Shown { .. } => "put back",
        Situation::Foreign { .. } => "adopted",
    };
    let value = Initialised { branch: setup.branch, state, goal: added, enforcement };
    Ok(Done { value, commit, warnings })
}
