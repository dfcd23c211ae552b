//! Users who sign their commits have signed state commits, as long as that asks nobody anything.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository whose user signs commits with a new SSH key under `passphrase`; none where `ssh-keygen` is missing.
fn signing(passphrase: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::ready();
    let key = sandbox.path("home/key").display().to_string();
    let keygen = ["-q", "-t", "ed25519", "-C", "ann@example.test", "-N", passphrase, "-f", &key];
    if sandbox.feed("sh", &["-c", "command -v ssh-keygen"], "").code != 0 {
        return None;
    }
    sandbox.feed("ssh-keygen", &keygen, "").success();
    let public = sandbox.read("home/key.pub");
    sandbox.write("home/signers", &format!("ann@example.test {public}"));
    let signers = sandbox.path("home/signers").display().to_string();
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.format", "ssh"),
        ("user.signingKey", &key),
        ("gpg.ssh.allowedSignersFile", &signers),
    ] {
        sandbox.feed("git", &["config", name, value], "").success();
    }
    Some(sandbox)
}

#[test]
fn state_commits_are_signed_when_the_users_are() {
    let Some(repo) = signing("") else { return };
    assert_snapshot!(repo.loopx("todo add 'Sign here'"), @"added todo t-f8b6: Sign here");
    repo.git("verify-commit loopx/state").success();
    assert_eq!(repo.git("log -1 --format=%G? loopx/state").stdout, "G\n");
    repo.git("fsck --strict").success();
}

#[test]
fn a_key_that_asks_is_not_waited_for() {
    let Some(repo) = signing("correct horse") else { return };
    assert_snapshot!(repo.person("todo add 'Sign here'", "correct horse"), @r#"
    warning: the state commit is not signed: `ssh-keygen` did not sign: Load key "[ROOT]/home/key": incorrect passphrase supplied to decrypt private key (run `git config loopx.gpgSign false`)
    added todo t-f8b6: Sign here
    "#);
    assert_eq!(repo.git("log -1 --format=%G? loopx/state").stdout, "N\n");

    repo.git("config loopx.gpgSign false").success();
    assert_snapshot!(repo.loopx("todo add 'And here'"), @"added todo t-578h: And here");
}
