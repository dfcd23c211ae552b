//! Signing state commits, for users who sign theirs (`commit.gpgSign`): only when that asks nobody anything.
//!
//! The formats are git's own (`git-config(1)`, `gpg.format`): a detached signature over the commit's bytes, made by
//! `gpg` or `ssh-keygen`. A state commit is made in the middle of somebody's work, often an agent's, so a passphrase or a touch of a
//! key is not waited for; the commit goes unsigned and says so. `loopx.gpgSign = false` switches signing off for state alone.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::git::Git;
use crate::domain::{actor::Person, text::shown};

/// A signature to put into a commit, or why there is none although the user signs commits.
pub(super) enum Signature {
    NotWanted,
    Made(Vec<u8>),
    Missing(String),
}

/// Signs `payload`, the bytes of a commit without a signature.
pub(super) fn sign(git: &Git, signer: &Person, payload: &[u8]) -> Signature {
    if !git.config_bool("commit.gpgSign")
        || !git.config("loopx.gpgSign").is_none_or(|_| git.config_bool("loopx.gpgSign"))
    {
        return Signature::NotWanted;
    }
    let made = match git.config("gpg.format").as_deref() {
        None | Some("openpgp") => openpgp(git, signer, payload),
        Some("ssh") => ssh(git, payload),
        Some(other) => Err(format!("signing by `{}` may ask for something", shown(other, 40))),
    };
    match made {
        Ok(signature) => Signature::Made(signature),
        Err(why) => Signature::Missing(why),
    }
}

fn openpgp(git: &Git, signer: &Person, payload: &[u8]) -> Result<Vec<u8>, String> {
    let program = git
        .config("gpg.openpgp.program")
        .or_else(|| git.config("gpg.program"))
        .unwrap_or_else(|| "gpg".into());
    let key = git.config("user.signingKey").unwrap_or_else(|| signer.to_string());
    let mut command = program_for(&program);
    // An agent that holds the passphrase signs; one that would ask fails.
    command.args(["--batch", "--pinentry-mode", "error", "-bsau", &key]);
    run(command, &program, payload)
}

fn ssh(git: &Git, payload: &[u8]) -> Result<Vec<u8>, String> {
    let program = git.config("gpg.ssh.program").unwrap_or_else(|| "ssh-keygen".into());
    let key = git.config("user.signingKey").ok_or("`user.signingKey` is not set")?;
    let literal = key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(key.as_str()));
    let mut command = program_for(&program);
    command.args(["-Y", "sign", "-n", "git"]);
    let mut file = None;
    let path: PathBuf = match literal {
        Some(public) => {
            // The private half is with the user's agent.
            let mut temporary = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
            writeln!(temporary, "{public}").map_err(|error| error.to_string())?;
            command.arg("-U");
            file.insert(temporary).path().to_path_buf()
        }
        None => git.config_path("user.signingKey").unwrap_or_else(|| key.into()),
    };
    let public = std::fs::read_to_string(format!("{}.pub", path.display()));
    let kind = public.or_else(|_| std::fs::read_to_string(&path));
    if kind.is_ok_and(|public| public.starts_with("sk-")) {
        return Err("the key has to be touched for each signature".into());
    }
    command.arg("-f").arg(&path);
    // Whatever would be asked is answered by a program that fails, not by whoever sits at the terminal.
    command.env("SSH_ASKPASS", "false").env("SSH_ASKPASS_REQUIRE", "force");
    run(command, &program, payload)
}

fn program_for(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "git's own way to sign is a program")]
    Command::new(program)
}

fn run(mut command: Command, program: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| format!("`{}` does not start: {error}", shown(program, 100)))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read all of it fails, and says so itself.
        let _ = stdin.write_all(payload);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let looks_signed = output.stdout.starts_with(b"-----BEGIN ");
    match output.status.success() && looks_signed {
        true => Ok(output.stdout.trim_ascii_end().to_vec()),
        false => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let line =
                stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it gave no reason");
            Err(format!("`{}` did not sign: {}", shown(program, 100), shown(line, 200)))
        }
    }
}
