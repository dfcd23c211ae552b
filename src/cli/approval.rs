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
    drop(ctx.caller.at_a_terminal(process, &challenge.what, &challenge.command)?);
    let policy = ops::policy::in_force(ctx)?;
    let key = match policy.approval == Approval::Terminal && key.is_none() {
        true => None,
        false => {
            let has_openpgp = policy.signers(ctx.now).any(|(_, entry)| entry.key.is_openpgp());
            Some(self::key(ctx, key, has_openpgp, "answers have to be signed here")?)
        }
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

/// The key that was named, or else the one that git's configuration names; one of OpenPGP's that nobody named counts where it is
/// `wanted`. Refused when there is none; `why` says what it is for, as "answers have to be signed here".
fn key(ctx: &Ctx, named: Option<&str>, wanted: bool, why: &str) -> Result<SigningKey, Error> {
    match named.map(SigningKey::named).or_else(|| ctx.store.git().approval_key()) {
        Some(key @ SigningKey::OpenSsh(_)) => Ok(key),
        Some(key @ SigningKey::OpenPgp(_)) if named.is_some() || wanted => Ok(key),
        _ => Err(Error::new(Kind::Usage, format!("{why}, and no key is named"))
            .hint("add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`")),
    }
}

/// The key for a push receipt. One of OpenPGP's is refused, because the servers that look at these ask OpenSSH.
pub(super) fn receipt_key(ctx: &Ctx, named: Option<&str>) -> Result<SigningKey, Error> {
    match key(ctx, named, false, "a receipt is signed")? {
        SigningKey::OpenPgp(id) => {
            Err(Error::new(Kind::Usage, format!("`{}` is a key of OpenPGP's", shown(&id, 80)))
                .hint("a receipt is signed with a key of OpenSSH's: `--sign-with <key file>`"))
        }
        key @ SigningKey::OpenSsh(_) => Ok(key),
    }
}

/// Has the user sign a text. Returns the armoured signature.
pub(super) fn sign(process: &Process, ctx: &Ctx, key: &SigningKey, text: &str) -> Result<String, Error> {
    match key {
        SigningKey::OpenSsh(key) => sign_openssh(process, ctx, key, text),
        SigningKey::OpenPgp(id) => sign_openpgp(process, ctx, id, text),
    }
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
