//! The repository's own rules: looking at them, and changing them by what they ask for themselves.

use std::fs;

use serde::Serialize;

use super::{Ctx, Done};
use crate::{
    domain::{
        actor::Proven,
        approver::{BadKey, PublicKey, Signed},
        change::{Change, Record},
        openpgp::Certificate,
        policy::{Amendment, Policy},
        statement::Statement,
        text::shown,
    },
    error::{Error, Kind},
    store::{Snapshot, approval::judge},
};

/// The rules.
#[derive(Debug, Serialize)]
pub struct PolicyView {
    #[serde(flatten)]
    pub policy: Policy,
}

/// Most bytes of a file with a public key.
const LIMIT: u64 = 1024 * 1024;

/// The rules, to be looked at.
pub fn show(ctx: &Ctx) -> Result<PolicyView, Error> {
    Ok(PolicyView { policy: ctx.store.read()?.policy()? })
}

/// The rules, to be relied on.
pub fn in_force(ctx: &Ctx) -> Result<Policy, Error> {
    Ok(ctx.store.trusted()?.policy()?)
}

/// A public key as it was typed: itself, or the file that has it.
pub fn key(ctx: &Ctx, typed: &str) -> Result<PublicKey, Error> {
    let failed = |problem: &str| {
        Error::new(Kind::Usage, format!("`{}` {problem}", shown(typed, 200)))
            .hint("name the file of the public key, such as `~/.ssh/id_ed25519.pub`, or what `gpg --armor --export <id>` wrote")
    };
    match typed.parse() {
        Ok(key) => return Ok(key),
        Err(BadKey::OpenPgp(problem)) => return Err(failed(&problem.to_string())),
        Err(BadKey::Odd(_)) => {}
    }
    let path = ctx.cwd.join(typed);
    let is_small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= LIMIT);
    let text = is_small.then(|| fs::read_to_string(&path).ok()).flatten();
    let text = text.ok_or_else(|| failed("is neither a public key nor a file with one"))?;
    if Certificate::is_meant(&text) {
        return Certificate::parse(&text)
            .map(PublicKey::OpenPgp)
            .map_err(|problem| failed(&problem.to_string()));
    }
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    line.and_then(|line| line.parse().ok()).ok_or_else(|| failed("has no public key in it"))
}

/// Refuses an amendment that could not be made anyway. Returns the rules it would be made to.
pub fn plan(ctx: &Ctx, amendment: &Amendment) -> Result<Policy, Error> {
    let policy = in_force(ctx)?;
    policy.amend(amendment, &ctx.stamp()?, None)?;
    Ok(policy)
}

/// What a person signs who makes an amendment.
pub fn statement(ctx: &Ctx, policy: &Policy, amendment: &Amendment, nonce: &str) -> Statement {
    policy.statement(amendment, ctx.now, nonce)
}

/// Makes an amendment. `proven` is asked for when it loosens.
pub fn amend(ctx: &Ctx, amendment: &Amendment, proven: Option<&Proven>) -> Result<Done<PolicyView>, Error> {
    let stamp = ctx.stamp()?;
    if amendment.loosens() && proven.is_none() {
        return Err(Error::new(Kind::PersonNeeded, format!("only a person may {}", said(amendment)))
            .hint("run the same command in a terminal"));
    }
    ctx.update(&stamp, |snapshot| {
        let before = snapshot.policy()?;
        let proof = proven.map(|proven| proven.proof.clone());
        if let Some(proof) = &proof {
            let statement = |nonce: &str| before.statement(amendment, ctx.now, nonce);
            must_be_signed(ctx, snapshot, before.accept(proof, ctx.now, statement)?)?;
        }
        let policy = before.amend(amendment, &stamp, proof)?;
        let change = Change {
            op: amendment.op(),
            subject: said(amendment),
            body: None,
            goal: None,
            turn: None,
            puts: vec![Record::Policy(policy.clone())],
        };
        Ok((Some(change), PolicyView { policy }))
    })
}

/// An amendment as a person would say it.
pub fn said(amendment: &Amendment) -> String {
    match amendment {
        Amendment::Approval(approval) => format!("set approval to {}", approval.word()),
        Amendment::Receipt(true) => "require a receipt for what goes out".to_owned(),
        Amendment::Receipt(false) => "require no receipt any more for what goes out".to_owned(),
        Amendment::Add { name, .. } => format!("add approver {name}"),
        Amendment::Remove(name) => format!("remove approver {name}"),
    }
}

/// Asks about a signature that is needed on a state what could not be told without OpenSSH or GnuPG.
pub(super) fn must_be_signed(
    ctx: &Ctx,
    snapshot: &Snapshot<'_>,
    signed: Option<Signed>,
) -> Result<(), Error> {
    match signed {
        Some(signed) => Ok(judge(signed, ctx.now, snapshot)??),
        None => Ok(()),
    }
}
