//! Whether a signature is one: asked of OpenSSH, and believed by its exit status alone, or of GnuPG's `gpgv`. What they print for
//! people says "Good" even of signatures that prove nothing.
//!
//! `gpgv` ends well for keys that are revoked or have expired, too, so that besides the exit status its status lines for machines
//! are read (`doc/DETAILS` of GnuPG, `--status-fd`), as git does. It has one keyring, with the approver's key alone; it reads no
//! settings, starts no agent and asks no server.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Error, Snapshot, git::Git};
use crate::domain::{
    approver::{NAMESPACE, PublicKey, Signed, SigningKey, SshKey},
    openpgp::Certificate,
    policy::RepositoryId,
    refusal::Refusal,
    time::{Seconds, Timestamp},
};

/// The programs that look at signatures. No setting names other ones: a setting is easily changed.
const PROGRAM: &str = "ssh-keygen";
const GPGV: &str = "gpgv";

/// How much older than the state it is put on a decision may be: the mutations of another clone are put on ours by `sync`.
const STALE: Seconds = Seconds(7 * 24 * 3600);

/// Judges what was signed at a time, on a state. An error means that nobody could tell.
pub fn judge(signed: Signed, at: Timestamp, on: &Snapshot<'_>) -> Result<Result<(), Refusal>, Error> {
    // Or a key that counts no more could go on by dating back. What was done in another clone may be a little older.
    let last = on.date()?;
    if at.plus(STALE) < last {
        return Ok(Err(Refusal::SignedBefore { approver: signed.approver, at, last }));
    }
    match &signed.key {
        PublicKey::OpenSsh(key) => Ok(match is_signed(&signed, key)? {
            true => Ok(()),
            false => Err(Refusal::WrongSignature { approver: signed.approver, program: "OpenSSH" }),
        }),
        PublicKey::OpenPgp(key) => {
            let verdict = ask_gpgv(&signed, key)?;
            let approver = signed.approver;
            Ok(match verdict {
                Verdict::Good => Ok(()),
                Verdict::Expired(until) if at < until => Ok(()),
                Verdict::Expired(until) => Err(Refusal::KeyExpired { approver, until, at }),
                Verdict::Revoked => Err(Refusal::KeyRevoked(approver)),
                Verdict::Bad => Err(Refusal::WrongSignature { approver, program: "GnuPG" }),
            })
        }
    }
}

/// Asks whether a signature is one of that key over that text. An error means that nobody could tell.
fn is_signed(signed: &Signed, key: &SshKey) -> Result<bool, Error> {
    let line = format!("{} namespaces=\"{NAMESPACE}\" {key}\n", signed.approver);
    let asked = Asked::new(&signed.signature)?;
    let allowed = asked.dir.path().join("allowed");
    fs::write(&allowed, line).map_err(io)?;
    asked.is_by(signed.approver.as_str(), &allowed, &signed.text)
}

/// What GnuPG says of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    /// It is right, and the key says of itself that it counts before then. What was signed earlier goes on to count: `gpgv` knows
    /// no other time than that of the clock.
    Expired(Timestamp),
    /// It is right, and the key says of itself that it was revoked. When that was the holder may have dated at will.
    Revoked,
    Bad,
}

/// Asks about a signature with a key of OpenPGP's. An error means that nobody could tell.
fn ask_gpgv(signed: &Signed, key: &Certificate) -> Result<Verdict, Error> {
    let dir = tempfile::tempdir().map_err(io)?;
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).map_err(io).map(|()| path)
    };
    let keyring = file("keyring", &key.packets())?;
    let signature = file("signature", signed.signature.as_bytes())?;
    let text = file("statement", signed.text.as_bytes())?;
    #[expect(clippy::disallowed_methods, reason = "this is the wall")]
    let mut command = Command::new(GPGV);
    command.arg("--homedir").arg(dir.path()).args(["--status-fd", "1"]).arg("--keyring").arg(keyring);
    command.arg("--").arg(signature).arg(text);
    let told = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let told = told.map_err(|error| starts_not(GPGV, error))?;
    Ok(match told.status.success() {
        true => verdict(&String::from_utf8_lossy(&told.stdout), key),
        false => Verdict::Bad,
    })
}

/// What the status lines of a `gpgv` that ended well come to: there has to be exactly one verdict, with exactly one signature, by
/// this key or a subkey of it.
fn verdict(lines: &str, key: &Certificate) -> Verdict {
    let primary = key.primary().to_string();
    let (mut verdicts, mut by, mut until) = (Vec::new(), Vec::new(), None::<Timestamp>);
    for line in lines.lines().filter_map(|line| line.strip_prefix("[GNUPG:] ")) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "GOODSIG" | "EXPSIG" | "EXPKEYSIG" | "REVKEYSIG" | "BADSIG" | "ERRSIG" => verdicts.push(words[0]),
            "VALIDSIG" => by.push(words.get(10).copied().unwrap_or_default()),
            // It is zero for a subkey that expires with the primary key only, whose line stands beside it.
            "KEYEXPIRED" => {
                let seconds = words.get(1).and_then(|word| word.parse().ok()).filter(|seconds| *seconds > 0);
                let then = seconds.map(Timestamp::from_unix);
                until = until.into_iter().chain(then).min();
            }
            _ => {}
        }
    }
    match (&verdicts[..], until) {
        _ if by != [primary.as_str()] => Verdict::Bad,
        (["GOODSIG"], _) => Verdict::Good,
        (["EXPKEYSIG"], Some(until)) => Verdict::Expired(until),
        (["REVKEYSIG"], _) => Verdict::Revoked,
        _ => Verdict::Bad,
    }
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
        let mut child = command.spawn().map_err(|error| starts_not(PROGRAM, error))?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read all of it says no by its exit status.
            let _ = stdin.write_all(text.as_bytes());
        }
        Ok(child.wait().map_err(io)?.success())
    }

    /// Whom a file of allowed signers lists for the key; nobody when it lists none.
    fn listed(&self, allowed: &Path) -> Result<Option<String>, Error> {
        let told = self.program("find-principals", allowed).stdin(Stdio::null()).output();
        let told = told.map_err(|error| starts_not(PROGRAM, error))?;
        let name = || String::from_utf8_lossy(&told.stdout).lines().next().map(str::to_owned);
        Ok(told.status.success().then(name).flatten())
    }
}

fn io(error: std::io::Error) -> Error {
    Error::Git { doing: "check a signature", problem: error.to_string() }
}

fn starts_not(program: &'static str, error: std::io::Error) -> Error {
    Error::Unasked { program, problem: error.to_string() }
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

    /// The key that the user signs answers with, by setting: `loopx.approvalKey`, else the one for commits.
    pub fn approval_key(&self) -> Option<SigningKey> {
        let of = |key| {
            self.config_path(key).map(|path| path.to_string_lossy().into_owned()).or_else(|| self.config(key))
        };
        let own = of("loopx.approvalKey").map(|key| SigningKey::named(&key));
        own.or_else(|| match self.config("gpg.format").as_deref() {
            Some("ssh") => of("user.signingKey").map(SigningKey::OpenSsh),
            None | Some("openpgp") => self.config("user.signingKey").map(SigningKey::OpenPgp),
            Some(_) => None,
        })
    }

    /// The program that signs with a key of OpenPGP's, as git knows it.
    pub fn gpg(&self) -> Option<String> {
        self.config("gpg.openpgp.program").or_else(|| self.config("gpg.program"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_verdict_by_the_key_that_is_meant_is_believed_and_nothing_else() {
        // A key packet of version 4 and nothing more.
        let key = Certificate::parse("openpgp mAIEeA==").unwrap();
        let primary = key.primary();
        let valid = format!("VALIDSIG {primary} 2026-12-01 1796085935 0 4 0 22 8 00 {primary}");
        let other = valid.replace(&primary.to_string(), &"0".repeat(40));
        let until = Timestamp::from_unix(1_796_086_080);
        for (lines, expected) in [
            (vec!["NEWSIG", "GOODSIG 1 Ann", &valid], Verdict::Good),
            (vec!["KEYEXPIRED 1796086080", "EXPKEYSIG 1 Ann", &valid], Verdict::Expired(until)),
            (
                vec![
                    "KEYEXPIRED 1796086090",
                    "KEYEXPIRED 0",
                    "KEYEXPIRED 1796086080",
                    "EXPKEYSIG 1 Ann",
                    &valid,
                ],
                Verdict::Expired(until),
            ),
            (vec!["KEYEXPIRED 0", "EXPKEYSIG 1 Ann", &valid], Verdict::Bad),
            (vec!["KEYEXPIRED never", "EXPKEYSIG 1 Ann", &valid], Verdict::Bad),
            (vec!["REVKEYSIG 1 Ann", &valid], Verdict::Revoked),
            (vec!["EXPSIG 1 Ann", &valid], Verdict::Bad),
            (vec!["BADSIG 1 Ann"], Verdict::Bad),
            (vec!["GOODSIG 1 Ann"], Verdict::Bad),
            (vec!["GOODSIG 1 Ann", &other], Verdict::Bad),
            (vec!["GOODSIG 1 Ann", &valid, "GOODSIG 1 Ann", &valid], Verdict::Bad),
            (vec!["GOODSIG 1 Ann", &valid, "BADSIG 1 Eve"], Verdict::Bad),
            (vec![&valid], Verdict::Bad),
            (vec![], Verdict::Bad),
        ] {
            let told: String = lines.iter().map(|line| format!("[GNUPG:] {line}\n")).collect();
            assert_eq!(verdict(&told, &key), expected, "{told}");
            assert_eq!(verdict(&told.replace("[GNUPG:] ", ""), &key), Verdict::Bad, "words for people");
        }
    }
}
