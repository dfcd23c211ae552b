//! Whether a signature is one: asked of OpenSSH, and believed by its exit status alone. What it prints says "Good" even of
//! signatures that prove nothing.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Error, Snapshot, git::Git};
use crate::domain::{
    approver::{NAMESPACE, Signed},
    policy::RepositoryId,
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
    let line = format!("{} namespaces=\"{NAMESPACE}\" {}\n", signed.approver, signed.key);
    let asked = Asked::new(&signed.signature)?;
    let allowed = asked.dir.path().join("allowed");
    fs::write(&allowed, line).map_err(io)?;
    asked.is_by(signed.approver.as_str(), &allowed, &signed.text)
}

/// A question to OpenSSH about one signature.
struct Asked {
    dir: tempfile::TempDir,
}

impl Asked {
    fn new(signature: &str) -> Result<Self, Error> {
        let dir = tempfile::tempdir().map_err(io)?;
        fs::write(dir.path().join("signature"), signature).map_err(io)?;
        Ok(Self { dir })
    }

    fn program(&self, verb: &str, allowed: &Path) -> Command {
        #[expect(clippy::disallowed_methods, reason = "this is the wall")]
        let mut command = Command::new(PROGRAM);
        command.args(["-Y", verb]).arg("-f").arg(allowed);
        command.arg("-s").arg(self.dir.path().join("signature"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Whether somebody whom a file of allowed signers lists signed the text.
    fn is_by(&self, signer: &str, allowed: &Path, text: &str) -> Result<bool, Error> {
        let mut command = self.program("verify", allowed);
        command.args(["-I", signer, "-n", NAMESPACE]).stdout(Stdio::null());
        let mut child = command.spawn().map_err(starts_not)?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read all of it says no by its exit status.
            let _ = stdin.write_all(text.as_bytes());
        }
        Ok(child.wait().map_err(io)?.success())
    }

    /// Whom a file of allowed signers lists for the key; nobody when it lists none.
    fn listed(&self, allowed: &Path) -> Result<Option<String>, Error> {
        let told =
            self.program("find-principals", allowed).stdin(Stdio::null()).output().map_err(starts_not)?;
        let name = || String::from_utf8_lossy(&told.stdout).lines().next().map(str::to_owned);
        Ok(told.status.success().then(name).flatten())
    }
}

fn failed(problem: String) -> Error {
    Error::Git { doing: "check a signature", problem }
}

fn io(error: std::io::Error) -> Error {
    failed(error.to_string())
}

fn starts_not(error: std::io::Error) -> Error {
    failed(format!("the program `{PROGRAM}` does not start: {error}"))
}

impl Git {
    /// The file with those whose receipts let pushes in (`loopx.approvers`), in OpenSSH's form of allowed signers, and the id of
    /// the state that they speak of (`loopx.repository`); nothing when pushes need no receipts here.
    pub fn receipts_wanted(&self) -> Option<(PathBuf, Option<RepositoryId>)> {
        let file = self.config_path("loopx.approvers").or_else(|| {
            // A place that git does not trust is none, but it was meant to be one.
            self.config("loopx.approvers").map(PathBuf::from)
        })?;
        let repository = self.config("loopx.repository").and_then(|id| RepositoryId::try_from(id).ok());
        Some((self.common_dir().join(file), repository))
    }

    /// Who, of those that the file `allowed` lists, signed a text; nobody when none of them did. An error means that nobody could
    /// tell.
    pub fn signer(&self, allowed: &Path, text: &str, signature: &str) -> Result<Option<String>, Error> {
        fs::File::open(allowed).map_err(Error::io("read", allowed))?;
        let asked = Asked::new(signature)?;
        Ok(match asked.listed(allowed)? {
            Some(signer) if asked.is_by(&signer, allowed, text)? => Some(signer),
            _ => None,
        })
    }

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
