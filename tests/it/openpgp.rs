//! Answers that are signed with OpenPGP, with a real `gpg`. Where there is none these tests say so and pass.
#![expect(clippy::disallowed_methods, reason = "tests look at the world")]

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use insta::assert_snapshot;
use loopx::domain::{
    actor::{Autograph, Proof},
    gate::Seen,
    policy::RepositoryId,
    statement::{Decided, Statement},
};

use crate::{
    approvers::{forge, gate_at, proof},
    sandbox::{Output, Sandbox},
};

/// Keys of people without passphrases, in `~/.gnupg` of a repository's world. The agent that keeps them ends with it.
struct Keys {
    home: PathBuf,
    people: Vec<(&'static str, String)>,
}

impl Keys {
    /// A repository with a remote, and the keys. Nothing when there is no GnuPG here.
    fn of(people: &[&'static str]) -> Option<(Sandbox, Self)> {
        let is_there = |program: &&&str| {
            let told =
                Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            told.is_ok_and(|status| status.success())
        };
        if let Some(missing) = ["gpg", "gpgv", "gpgconf"].iter().find(|program| !is_there(program)) {
            #[expect(clippy::print_stderr, reason = "whoever runs the tests should know")]
            {
                eprintln!("skipped: there is no `{missing}` here");
            }
            return None;
        }
        let repo = Sandbox::with_remote();
        let mut keys = Self { home: repo.path("home"), people: Vec::new() };
        for name in people {
            keys.generate(&repo, name, &[], "never");
        }
        repo.commit("feature");
        Some((repo, keys))
    }

    fn generate(&mut self, repo: &Sandbox, name: &'static str, before: &[&str], expires: &str) {
        let address = format!("{name} <{name}@example.test>");
        gpg(repo, &[before, &["--quick-gen-key", &address, "ed25519", "sign", expires]].concat(), "");
        let listed = gpg(repo, &["--with-colons", "--list-keys", &format!("{name}@example.test")], "");
        let line = listed.lines().find(|line| line.starts_with("fpr:")).expect("a fingerprint");
        self.people.push((name, line.split(':').nth(9).expect("a fingerprint").to_owned()));
        repo.write(&format!("home/{name}.asc"), &gpg(repo, &["--armor", "--export", self.id(name)], ""));
    }

    fn id(&self, name: &str) -> &str {
        &self.people.iter().find(|(known, _)| *known == name).expect("a key").1
    }

    fn sign(&self, repo: &Sandbox, name: &str, text: &str) -> String {
        self.sign_with(repo, name, &["--detach-sign"], text)
    }

    fn sign_with(&self, repo: &Sandbox, name: &str, how: &[&str], text: &str) -> String {
        gpg(repo, &[how, &["--armor", "--local-user", self.id(name)]].concat(), text)
    }

    /// What was printed, without what differs from run to run.
    fn shown(&self, text: &str) -> String {
        self.people.iter().fold(text.to_owned(), |text, (name, id)| {
            text.replace(id, &format!("[{}'S KEY]", name.to_uppercase()))
        })
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        drop(
            Command::new("gpgconf")
                .args(["--kill", "all"])
                .env("HOME", &self.home)
                .env_remove("GNUPGHOME")
                .status(),
        );
    }
}

fn gpg(repo: &Sandbox, args: &[&str], input: &str) -> String {
    let quiet = ["--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", ""];
    repo.feed("gpg", &[&quiet, args].concat(), input).success().stdout
}

fn add(repo: &Sandbox, name: &str, options: &str) -> Output {
    repo.person(&format!("approver add {name} --key ../home/{name}.asc{options}"), name)
}

/// The last lines, without what `gpg` says on its own.
fn last(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.starts_with("gpg: ")).collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}

#[test]
fn an_answer_is_signed_with_the_key_that_git_signs_with() {
    let Some((repo, keys)) = Keys::of(&["ann", "bob"]) else { return };
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(keys.shown(&add(&repo, "ann", "").to_string()), @"
    policy
      repository  [ID]
      approval    terminal
      receipt     not required
    This will add ann openpgp [ANN'S KEY] sha256:[ID]

    Type `ann` to add approver ann: ann
    the signature of ann counts
    ");
    repo.loopx("policy set approval=signed --agent-id a").success();
    let resolve =
        |options: &str| repo.person(&format!("gate resolve ready --decision approve{options}"), "ready");
    assert_snapshot!(last(&resolve("").stdout), @"
    error: answers have to be signed here, and no key is named
    hint: add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`
    ");
    assert_snapshot!(last(&keys.shown(&resolve(&format!(" --sign-with {}", keys.id("bob"))).stdout)), @"
    Type `ready` to approve gate `ready`: ready
    error: the key that signed is no approver's
    hint: run `loopx approver list`
    ");
    assert_snapshot!(last(&resolve(" --sign-with 0000000000000000").stdout), @"
    Type `ready` to approve gate `ready`: ready
    error: nothing was signed, so nothing was changed
    hint: see why above; the key is named by `--sign-with`, or by `loopx.approvalKey` of git's configuration
    ");
    repo.git(&format!("config user.signingKey {}", keys.id("ann"))).success();
    assert_snapshot!(last(&resolve("").stdout), @"

    Type `ready` to approve gate `ready`: ready
    gate ready is answered: approve
    ");
    assert_snapshot!(keys.shown(&repo.scene("
        loopx gate show ready
        loopx approver list
        git push -q origin main
        loopx verify --all
    ")), @r#"
    $ loopx gate show ready
    gate ready: "Ready?"
      goal     ship
      asked    by a, 8 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, just now
      signed   with the key of ann
      seen at  [ID]
    $ loopx approver list
      ann  counts  openpgp [ANN'S KEY]
    $ git push -q origin main
    $ loopx verify --all
    6 commits (6 new commits): each is one legal mutation, signed off
    "#);
    let Proof::Signature(autograph) = proof(&gate_at(&repo, "closed/ready")) else {
        panic!("it is not signed")
    };
    repo.write("home/statement", &autograph.statement);
    repo.write("home/signature", &autograph.signature);
    let home = repo.path("home");
    let file = |name: &str| home.join(name).display().to_string();
    gpg(&repo, &["--output", &file("ann.gpg"), "--export", keys.id("ann")], "");
    repo.feed("gpgv", &["--keyring", &file("ann.gpg"), &file("signature"), &file("statement")], "").success();
    add(&repo, "bob", &format!(" --sign-with {}", keys.id("ann"))).success();
    assert_snapshot!(repo.loopx("verify --all"), @"7 commits (7 new commits): each is one legal mutation, signed off");
    let again = repo.person("approver add robert --key ../home/bob.asc", "robert");
    assert_snapshot!(again, @"
    error: this is the key of `bob` already
    hint: run `loopx approver list`
    [exit 1]
    ");
}

#[test]
fn it_is_signed_by_the_program_that_git_signs_with() {
    let Some((repo, keys)) = Keys::of(&["ann"]) else { return };
    add(&repo, "ann", "").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    repo.git(&format!("config user.signingKey {}", keys.id("ann"))).success();
    repo.script("bin/gpg", "#!/bin/sh\necho \"$@\" >>\"$(dirname \"$0\")/asked\"\nexec gpg \"$@\"\n");
    let answer = |gate: &str| {
        repo.loopx(&format!("gate open Ready? --gate-id {gate} --blocks push --agent-id a")).success();
        repo.person(&format!("gate resolve {gate} --decision approve"), gate)
    };
    let program = repo.path("bin/gpg").display().to_string();
    repo.git(&format!("config gpg.program {program}")).success();
    answer("one").success();
    assert_snapshot!(keys.shown(&repo.read("bin/asked")), @"-bsau [ANN'S KEY]");
    // A receipt is for servers, which ask OpenSSH.
    let commit = repo.git("rev-parse main").stdout;
    let receipt =
        repo.person(&format!("guard receipt origin main --sign-with {}", keys.id("ann")), &commit[..10]);
    assert_snapshot!(last(&keys.shown(&receipt.stdout)), @"
    error: `[ANN'S KEY]` is a key of OpenPGP's
    hint: a receipt is signed with a key of OpenSSH's: `--sign-with <key file>`
    ");
    repo.git("config gpg.openpgp.program /nowhere/gpg").success();
    assert_snapshot!(last(&answer("two").stdout), @"
    Type `two` to approve gate `two`: two
    error: nothing was signed: No such file or directory (os error 2)
    hint: `gpg` of GnuPG 2.1.16 or newer has to be there, or what `gpg.program` of git's configuration names
    ");
    // With another format it is another kind of key that git signs with.
    repo.git("config gpg.format x509").success();
    assert_snapshot!(last(&answer("three").stdout), @"
    error: answers have to be signed here, and no key is named
    hint: add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`
    ");
}

#[test]
fn what_is_no_single_public_key_is_refused_and_told_apart() {
    let Some((repo, keys)) = Keys::of(&["ann", "bob"]) else { return };
    for (name, args) in [
        ("both", ["--export", keys.id("ann"), keys.id("bob")].as_slice()),
        ("secret", ["--export-secret-keys", keys.id("ann")].as_slice()),
    ] {
        let block = gpg(&repo, &[&["--armor"], args].concat(), "");
        repo.write(&format!("home/{name}.asc"), &block);
    }
    repo.write("home/odd.asc", &repo.read("home/ann.asc").replace("mDM", "mFM"));
    repo.write("home/signature.asc", &keys.sign(&repo, "ann", "x"));
    assert_snapshot!(repo.scene("
        loopx approver add eve --key ../home/both.asc
        loopx approver add eve --key ../home/secret.asc
        loopx approver add eve --key ../home/odd.asc
        loopx approver add eve --key ../home/signature.asc
        loopx approver add eve --key ../home/ann.asc --agent-id a
    "), @"
    $ loopx approver add eve --key ../home/both.asc
    [stderr] error: `../home/both.asc` has several OpenPGP keys in it
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver add eve --key ../home/secret.asc
    [stderr] error: `../home/secret.asc` has a secret key in it
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver add eve --key ../home/odd.asc
    [stderr] error: `../home/odd.asc` has no OpenPGP public key in it that can be read
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver add eve --key ../home/signature.asc
    [stderr] error: `../home/signature.asc` has no OpenPGP public key in it that can be read
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver add eve --key ../home/ann.asc --agent-id a
    [stderr] error: only a person may add approver eve, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx approver add eve --key <file>.pub` in a terminal of their own
    [exit 1]
    ");
}

#[test]
fn a_signature_for_something_else_or_by_a_key_that_counts_no_more_is_refused() {
    let Some((mut repo, mut keys)) = Keys::of(&["ann", "bob", "cara", "eve", "rex"]) else { return };
    keys.generate(&repo, "old", &["--faked-system-time", "20200101T000000"], "2020-02-01");
    let revocation = repo.read(&format!("home/.gnupg/openpgp-revocs.d/{}.rev", keys.id("rex")));
    let nonce = "0123456789abcdef0123456789abcdef";
    let (noon, later) = ("2026-11-30T12:30:00Z", "2026-12-01T13:00:00Z");
    add(&repo, "ann", "").success();
    for (name, options) in [("bob", " --valid-before 2026-12-01"), ("cara", ""), ("old", "")] {
        add(&repo, name, options).success();
    }
    // Signed with the key as it is, and listed as it was revoked.
    let home = repo.path("home/other").display().to_string();
    repo.script("home/other/x", "");
    for block in [repo.read("home/rex.asc"), revocation.replace(":-----BEGIN", "-----BEGIN")] {
        gpg(&repo, &["--homedir", &home, "--import"], &block);
    }
    repo.write("home/rex.asc", &gpg(&repo, &["--homedir", &home, "--armor", "--export"], ""));
    add(&repo, "rex", "").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    let with_ann = format!(" --sign-with {}", keys.id("ann"));
    repo.person(&format!("approver remove cara{with_ann}"), "cara").success();
    repo.loopx("gate open One? --agent-id a").success();
    repo.loopx("gate open Two? --agent-id a").success();
    repo.person(&format!("gate resolve one --decision reject{with_ann}"), "one").success();
    repo.loopx("verify").success();
    let state = repo.read("repo/.loopx/loopx.toml");
    let id = state.lines().find_map(|line| line.strip_prefix("repository = \"")).expect("an id");
    let here = RepositoryId::try_from(id.trim_matches('"').to_owned()).expect("an id");
    let elsewhere = RepositoryId::new(&[9; 16]);
    let replayed = proof(&gate_at(&repo, "one"));

    let said = |approver: &str, statement: String, signature: String| {
        Proof::Signature(Autograph { approver: approver.parse().unwrap(), statement, signature }.into())
    };
    let statement = |decided: &Decided<'_>| Statement::at_gate(&here, decided, nonce).to_string();
    let by = |repo: &Sandbox, approver: &str, key: &str, text: String| {
        let signature = keys.sign(repo, key, &text);
        said(approver, text, signature)
    };
    let mut told = String::new();
    let mut tell =
        |repo: &mut Sandbox, what: &str, at: &str, make: &dyn Fn(&Sandbox, &Decided<'_>) -> Proof| {
            told += &format!("{what}: {}", forge(repo, "two", at, make));
        };
    tell(&mut repo, "as it should be", noon, &|repo, decided| by(repo, "ann", "ann", statement(decided)));
    tell(&mut repo, "from another gate", noon, &|_, _| replayed.clone());
    tell(&mut repo, "from another repository", noon, &|repo, decided| {
        by(repo, "ann", "ann", Statement::at_gate(&elsewhere, decided, nonce).to_string())
    });
    tell(&mut repo, "from another time", noon, &|repo, decided| {
        let at = "2026-11-30T12:29:00Z".parse().unwrap();
        by(repo, "ann", "ann", statement(&Decided { at, ..*decided }))
    });
    tell(&mut repo, "for another commit", noon, &|repo, decided| {
        let seen = Seen { commit: Some("1".repeat(40)), ..decided.seen.unwrap().clone() };
        by(repo, "ann", "ann", statement(&Decided { seen: Some(&seen), ..*decided }))
    });
    tell(&mut repo, "made for a commit", noon, &|repo, decided| {
        said("ann", statement(decided), keys.sign(repo, "ann", "tree 0\n\nx\n"))
    });
    tell(&mut repo, "made for a commit, with its text", noon, &|repo, _| {
        by(repo, "ann", "ann", "tree 0\n\nx\n".to_owned())
    });
    for (what, how) in [
        ("with the text in it", ["--sign"].as_slice()),
        ("over text with any line ends", &["--textmode", "--detach-sign"]),
        ("with SHA-1", &["--digest-algo", "SHA1", "--detach-sign"]),
        ("with an end of its own", &["--default-sig-expire", "1y", "--detach-sign"]),
    ] {
        tell(&mut repo, what, noon, &|repo, decided| {
            said("ann", statement(decided), keys.sign_with(repo, "ann", how, &statement(decided)))
        });
    }
    tell(&mut repo, "by nobody who is listed", noon, &|repo, decided| {
        by(repo, "eve", "eve", statement(decided))
    });
    tell(&mut repo, "by another in ann's name", noon, &|repo, decided| {
        by(repo, "ann", "eve", statement(decided))
    });
    tell(&mut repo, "by a key that was removed", noon, &|repo, decided| {
        by(repo, "cara", "cara", statement(decided))
    });
    tell(&mut repo, "by a key that ended in 2020", noon, &|repo, decided| {
        let (text, then) = (statement(decided), ["--faked-system-time", "20200102T000000", "--detach-sign"]);
        said("old", text.clone(), keys.sign_with(repo, "old", &then, &text))
    });
    tell(&mut repo, "by a key that was revoked", noon, &|repo, decided| {
        by(repo, "rex", "rex", statement(decided))
    });
    repo.sleep(2 * 86_400);
    tell(&mut repo, "by a key that has expired here", later, &|repo, decided| {
        by(repo, "bob", "bob", statement(decided))
    });
    assert_snapshot!(told, @r#"
    as it should be: 13 commits (1 new commit): each is one legal mutation, signed off
    from another gate: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says gate `one`, and this is gate `two`
    from another repository: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says repository `[ID]`, and this is repository `[ID]`
    from another time: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says time `2026-11-30T12:29:00Z`, and this is time `2026-11-30T12:30:00Z`
    for another commit: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says commit `[ID]`, and this is commit `none`
    made for a commit: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: GnuPG says that the signature of `ann` is none
    made for a commit, with its text: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    with the text in it: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    over text with any line ends: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    with SHA-1: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    with an end of its own: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    by nobody who is listed: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: `eve` is no approver
    by another in ann's name: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: the signature was not made with the key of `ann`
    by a key that was removed: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: `cara` is no approver any more since 2026-11-30T12:00:37Z
    by a key that ended in 2020: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: the key of `old` counts before 2020-02-01T12:00:00Z, and it signed at 2026-11-30T12:30:00Z
    by a key that was revoked: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: the key of `rex` says of itself that it was revoked
    by a key that has expired here: NOT A LEGAL MUTATION: [ID] "reject gate two", 23 h 4 min ago: it is refused: the key of `bob` counts before 2026-12-01T00:00:00Z, and it signed at 2026-12-01T13:00:00Z
    "#);
}

#[test]
fn without_gnupg_nobody_can_tell() {
    let Some((mut repo, keys)) = Keys::of(&["ann"]) else { return };
    add(&repo, "ann", "").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    let resolve = format!("gate resolve ready --decision approve --sign-with {}", keys.id("ann"));
    repo.person(&resolve, "ready").success();
    let empty = repo.path("home").display().to_string();
    repo.env("PATH", &empty);
    assert_snapshot!(repo.loopx("verify --all"), @"
    [stderr] error: `gpgv` cannot be asked about a signature: No such file or directory (os error 2)
    [stderr] hint: `ssh-keygen` of OpenSSH looks at signatures, or `gpgv` of GnuPG: see whether it is on `PATH`
    [exit 1]
    ");
    repo.clear_env();
    assert_snapshot!(repo.loopx("verify --all"), @"6 commits (6 new commits): each is one legal mutation, signed off");
}
