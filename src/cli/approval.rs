//! The proof that a person decided, as the policy wants it: a word at the terminal, and a signature besides.

use crate::{
    caller::Challenge,
    domain::{
        actor::{Autograph, Proof, Proven},
        approver::NAMESPACE,
        policy::{Approval, Policy},
        statement::Statement,
    },
    error::{Error, Kind},
    ops::{self, Ctx},
    process::Process,
};

/// Asks whoever sits at the terminal, and has them sign `statement` where the policy wants that or where a key is named.
pub(super) fn prove(
    process: &Process,
    ctx: &Ctx,
    challenge: &Challenge,
    key: Option<&str>,
    statement: impl FnOnce(&Policy, &str) -> Statement,
) -> Result<Proven, Error> {
    drop(ctx.caller.at_a_terminal(process, &challenge.what, &challenge.command)?);
    let policy = ops::policy::in_force(ctx)?;
    let key = match policy.approval == Approval::Terminal && key.is_none() {
        true => None,
        false => Some(self::key(ctx, key, "answers have to be signed here")?),
    };
    let proven = ctx.caller.prove(process, &ctx.owner()?, challenge)?;
    let Some(key) = key else { return Ok(proven) };
    let statement = statement(&policy, &nonce(ctx)).to_string();
    let signature = sign(process, ctx, &key, &statement)?;
    let approver = policy.signer_of(&signature)?.clone();
    Ok(Proven { proof: Proof::Signature(Autograph { approver, statement, signature }.into()), ..proven })
}

/// What makes each signing another one.
pub(super) fn nonce(ctx: &Ctx) -> String {
    crate::domain::text::hex(&ctx.entropy)
}

/// The key that was named, or else the one that git's configuration names. Refused when there is none; `why` says what it is
/// for, as "answers have to be signed here".
pub(super) fn key(ctx: &Ctx, named: Option<&str>, why: &str) -> Result<String, Error> {
    let key = named.map(str::to_owned).or_else(|| ctx.store.git().approval_key()).ok_or_else(|| {
        Error::new(Kind::Usage, format!("{why}, and no key is named"))
            .hint("add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`")
    })?;
    let is_itself = key.starts_with("key::") || key.starts_with("ssh-") || key.starts_with("sk-");
    Ok(if is_itself { key } else { ctx.cwd.join(key).to_string_lossy().into_owned() })
}

/// Has the user sign a text with a [`key`]. Returns OpenSSH's armoured signature.
pub(super) fn sign(process: &Process, ctx: &Ctx, key: &str, text: &str) -> Result<String, Error> {
    let git = ctx.store.git();
    let program = git.config("gpg.ssh.program");
    let signed = process.sign(program.as_deref(), key, NAMESPACE, text).map_err(|error| {
        Error::new(Kind::Environment, format!("nothing was signed: {error}"))
            .hint("`ssh-keygen` of OpenSSH 8.0 or newer has to be there")
    })?;
    signed.ok_or_else(|| {
        Error::new(Kind::Refused, "nothing was signed, so nothing was changed")
            .hint("see why above; the key is named by `--sign-with`, or by `loopx.approvalKey` of git's configuration")
    })
}
