//! Whether a signature is one: asked of OpenSSH, and believed by its exit status alone. What it prints says "Good" even of
//! signatures that prove nothing.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use super::{Error, Snapshot, git::Git};
use crate::domain::{
    approver::{NAMESPACE, Signed},
    refusal::Refusal,
    time::{Seconds, Timestamp},
};

/// The program that looks at signatures. No setting names another one: a setting is easily changed.
const PROGRAM: &str = "ssh-keygen";

/// How much older than the state it is put on a decision may be: the mutations of another clone are put on ours by `sync`.
const STALE: Seconds = Seconds(7 * 24 * 3600);

/// Judges what was signed at a time, on a state. An error means that nobody could tell.
pub fn judge(signed: Signed, at: Timestamp, on: &Snapshot<'_>) -> Result<Result<(), Refusal>, Error> {
    // Or a key that counts no more could go on by dating back. What was done in another clone may be a little older.
    let last = on.date()?;
    Ok(if at.plus(STALE) < last {
        Err(Refusal::SignedBefore { approver: signed.approver, at, last })
    } else if is_signed(&signed)? {
        Ok(())
    } else {
        Err(Refusal::WrongSignature(signed.approver))
    })
}

/// Asks whether a signature is one of that key over that text. An error means that nobody could tell.
fn is_signed(signed: &Signed) -> Result<bool, Error> {
    let failed = |problem: String| Error::Git { doing: "check a signature", problem };
    let io = |error: std::io::Error| failed(error.to_string());
    let dir = tempfile::tempdir().map_err(io)?;
    let (allowed, signature) = (dir.path().join("allowed"), dir.path().join("signature"));
    let line = format!("{} namespaces=\"{NAMESPACE}\" {}\n", signed.approver, signed.key);
    fs::write(&allowed, line).map_err(io)?;
    fs::write(&signature, &signed.signature).map_err(io)?;
    #[expect(clippy::disallowed_methods, reason = "this is the wall")]
    let mut command = Command::new(PROGRAM);
    let args: [&OsStr; 10] = [
        "-Y".as_ref(),
        "verify".as_ref(),
        "-f".as_ref(),
        allowed.as_ref(),
        "-I".as_ref(),
        signed.approver.as_str().as_ref(),
        "-n".as_ref(),
        NAMESPACE.as_ref(),
        "-s".as_ref(),
        signature.as_ref(),
    ];
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let starts_not = |error| failed(format!("the program `{PROGRAM}` does not start: {error}"));
    let mut child = command.spawn().map_err(starts_not)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read all of it says no by its exit status.
        let _ = stdin.write_all(signed.text.as_bytes());
    }
    Ok(child.wait().map_err(io)?.success())
}

impl Git {
    /// The key that the user signs answers with, by setting: `loopx.approvalKey`, else the one for commits if that is one of
    /// OpenSSH's.
    pub fn approval_key(&self) -> Option<String> {
        let of = |key| {
            self.config_path(key).map(|path| path.to_string_lossy().into_owned()).or_else(|| self.config(key))
        };
        of("loopx.approvalKey")
            .or_else(|| of("user.signingKey").filter(|_| self.config("gpg.format").as_deref() == Some("ssh")))
    }
}
