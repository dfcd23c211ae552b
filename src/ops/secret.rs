//! Values that look like secrets and are none.

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        actor::Proven,
        change::{Change, Op, Record},
        policy::{AllowedSecret, Policy, SecretDigest},
        secret,
        text::Note,
    },
    error::{Error, Kind},
};

/// What is let through.
#[derive(Debug, Serialize)]
pub struct Allowed {
    pub allowed: Vec<AllowedSecret>,
}

/// What is known of secrets.
#[derive(Debug, Serialize)]
pub struct Kinds {
    pub kinds: Vec<&'static str>,
}

/// The kinds of secrets that have a rule, sorted.
pub fn kinds() -> Kinds {
    Kinds { kinds: secret::kinds() }
}

/// The values that are let through, in the order in which they were allowed.
pub fn list(ctx: &Ctx) -> Result<Allowed, Error> {
    Ok(Allowed { allowed: ctx.store.read()?.policy()?.allowed_secrets })
}

/// Lets a value through from now on, which loosens, so that it takes a person.
pub fn allow(
    ctx: &Ctx,
    digest: &SecretDigest,
    reason: &Note,
    proven: &Proven,
) -> Result<Done<Allowed>, Error> {
    ctx.update(&ctx.stamp()?, |snapshot| {
        let policy = snapshot.policy()?.allow_secret(digest.clone(), reason.clone(), proven.clone(), ctx.now);
        Ok(changed(Op::SecretAllow, "let a value through", digest, Some(reason), policy))
    })
}

/// Lets it through no longer.
pub fn forbid(ctx: &Ctx, digest: &SecretDigest) -> Result<Done<Allowed>, Error> {
    ctx.update(&ctx.stamp()?, |snapshot| {
        let before = snapshot.policy()?;
        let policy = before.without_secret(digest);
        match policy == before {
            true => {
                Err(Error::new(Kind::NotFound, format!("no value with the digest `{digest}` is let through"))
                    .hint("run `loopx secret list`"))
            }
            false => Ok(changed(Op::SecretForbid, "let a value through no longer", digest, None, policy)),
        }
    })
}

fn changed(
    op: Op,
    what: &str,
    digest: &SecretDigest,
    reason: Option<&Note>,
    policy: Policy,
) -> (Option<Change>, Allowed) {
    let change = Change {
        op,
        subject: format!("{what}: digest {}…", digest.challenge()),
        body: reason.cloned(),
        goal: None,
        turn: None,
        puts: vec![Record::Policy(policy.clone())],
    };
    (Some(change), Allowed { allowed: policy.allowed_secrets })
}
