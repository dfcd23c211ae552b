//! The proof that a person decided, as the policy wants it: a word at the terminal, and a signature besides.

use crate::{
    caller::Challenge,
    domain::{
        actor::{Autograph, Proof, Proven},
        approver::{NAMESPACE, SigningKey},
        policy::{Approval, Policy},
        statement::Statement,
        text::shown,
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
    let proven = ctx.caller.prove(process, &ctx.owner()?, challenge)?;
    let policy = ops::policy::in_force(ctx)?;
    if policy.approval == Approval::Terminal && key.is_none() {
        return Ok(proven);
    }
    let statement = statement(&policy, &nonce(ctx)).to_string();
    let has_openpgp = policy.signers(ctx.now).any(|(_, entry)| entry.key.is_openpgp());
    let signature = match named(ctx, key) {
        Some(SigningKey::OpenPgp(id)) if key.is_some() || has_openpgp => {
            sign_openpgp(process, ctx, &id, &statement)?
        }
        Some(SigningKey::OpenSsh(key)) => sign_openssh(process, ctx, &key, &statement)?,
        _ => return Err(unnamed()),
    };
    let approver = policy.signer_of(&signature)?.clone();
    Ok(Proven { proof: Proof::Signature(Autograph { approver, statement, signature }.into()), ..proven })
}

/// What makes each signing another one.
pub(super) fn nonce(ctx: &Ctx) -> String {
    crate::domain::text::hex(&ctx.entropy)
}

/// Has the user sign a text with `key`, or with the key that git's configuration names. Returns OpenSSH's armoured signature; a key
/// of OpenPGP's is refused, because the servers that look at these texts ask OpenSSH.
pub(super) fn sign(process: &Process, ctx: &Ctx, key: Option<&str>, text: &str) -> Result<String, Error> {
    match named(ctx, key) {
        Some(SigningKey::OpenSsh(key)) => sign_openssh(process, ctx, &key, text),
        Some(SigningKey::OpenPgp(id)) if key.is_some() => {
            Err(Error::new(Kind::Usage, format!("`{}` is a key of OpenPGP's", shown(&id, 80)))
                .hint("a receipt is signed with a key of OpenSSH's: `--sign-with <key file>`"))
        }
        _ => Err(unnamed()),
    }
}

/// The key to sign with: the one that was named, else that of git's configuration.
fn named(ctx: &Ctx, key: Option<&str>) -> Option<SigningKey> {
    key.map(SigningKey::named).or_else(|| ctx.store.git().approval_key())
}

fn unnamed() -> Error {
    Error::new(Kind::Usage, "answers have to be signed here, and no key is named")
        .hint("add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`")
}

fn sign_openssh(process: &Process, ctx: &Ctx, key: &str, text: &str) -> Result<String, Error> {
    let is_itself = key.starts_with("key::") || key.starts_with("ssh-") || key.starts_with("sk-");
    let key = if is_itself { key.to_owned() } else { ctx.cwd.join(key).to_string_lossy().into_owned() };
    let program = ctx.store.git().config("gpg.ssh.program");
    let signed = process.sign(program.as_deref(), &key, NAMESPACE, text).map_err(|error| {
        Error::new(Kind::Environment, format!("nothing was signed: {error}"))
            .hint("`ssh-keygen` of OpenSSH 8.0 or newer has to be there")
    })?;
    signed.ok_or_else(unsigned)
}

fn sign_openpgp(process: &Process, ctx: &Ctx, id: &str, text: &str) -> Result<String, Error> {
    let program = ctx.store.git().gpg();
    let signed = process.sign_openpgp(program.as_deref(), id, text).map_err(|error| {
        Error::new(Kind::Environment, format!("nothing was signed: {error}"))
            .hint("`gpg` of GnuPG 2.1.16 or newer has to be there, or what `gpg.program` of git's configuration names")
    })?;
    signed.ok_or_else(unsigned)
}

fn unsigned() -> Error {
    Error::new(Kind::Refused, "nothing was signed, so nothing was changed").hint(
        "see why above; the key is named by `--sign-with`, or by `loopx.approvalKey` of git's configuration",
    )
}
