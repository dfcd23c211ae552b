//! Where answers have to be signed: by whom, over what, and what comes of signatures that were made for something else.

use std::fmt::Write as _;

use insta::assert_snapshot;
use loopx::domain::{
    actor::{Autograph, Proof},
    gate::{Gate, GateState, Seen},
    policy::RepositoryId,
    statement::{Decided, Statement},
    time::Timestamp,
};

use crate::sandbox::{LOOPX, Output, Sandbox};

/// Makes a key and returns the file.
fn key(repo: &Sandbox, name: &str) -> String {
    let file = repo.path(&format!("home/{name}")).display().to_string();
    repo.feed("ssh-keygen", &["-q", "-t", "ed25519", "-C", name, "-N", "", "-f", &file], "").success();
    file
}

/// A repository with a remote where answers are signed, and `ann` may.
fn signed() -> Sandbox {
    let repo = Sandbox::with_remote();
    for name in ["ann", "bob", "cara", "eve"] {
        key(&repo, name);
    }
    repo.commit("feature");
    repo.person("approver add ann --key ../home/ann.pub", "ann").success();
    repo.loopx("policy set approval=signed --agent-id a").success();
    repo
}

/// What was printed, without what differs from run to run.
fn shown(repo: &Sandbox, output: &Output) -> String {
    ["ann", "bob", "cara", "eve"].iter().fold(output.to_string(), |text, name| {
        let public = repo.read(&format!("home/{name}.pub"));
        let body = public.split(' ').nth(1).expect("a key");
        text.replace(body, &format!("[{}'S KEY]", name.to_uppercase()))
    })
}

fn answer(repo: &Sandbox, gate: &str, decision: &str, key: &str) -> Output {
    repo.person(&format!("gate resolve {gate} --decision {decision} --sign-with ../home/{key}"), gate)
}

#[test]
fn an_answer_is_signed_and_anybody_can_check_it() {
    let repo = Sandbox::with_remote();
    for name in ["ann", "bob", "cara", "eve"] {
        key(&repo, name);
    }
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.loopx("policy set approval=signed --agent-id a"), @"
    [stderr] error: nobody is listed whose signature would count
    [stderr] hint: a person adds one with `loopx approver add <name> --key <file>.pub`
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("approver add eve --key ../home/eve.pub --agent-id a"), @"
    [stderr] error: only a person may add approver eve, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx approver add eve --key <file>.pub` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(shown(&repo, &repo.person("approver add ann --key ../home/ann.pub", "ann")), @"
    policy
      repository  [ID]
      approval    terminal
      receipt     not required
    This will add ann ssh-[ID] [ANN'S KEY]

    Type `ann` to add approver ann: ann
    the signature of ann counts
    ");
    assert_snapshot!(repo.loopx("policy set approval=signed --agent-id a"), @"answers have to be signed");
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "ready"), @"
    error: answers have to be signed here, and no key is named
    hint: add `--sign-with <key file>`, or run `git config loopx.approvalKey <key file>`
    [exit 2]
    ");
    assert_snapshot!(answer(&repo, "ready", "approve", "ann"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by a, 6 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: ready
    gate ready is answered: approve
    "#);
    assert_snapshot!(shown(&repo, &Output {
        code: 0,
        stdout: repo.scene("
            loopx gate show ready
            git push -q origin main
            loopx verify --all
            loopx policy show
        "),
        stderr: String::new(),
    }), @r#"
    $ loopx gate show ready
    gate ready: "Ready?"
      goal     ship
      asked    by a, 7 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, just now
      signed   with the key of ann
      seen at  [ID]
    $ git push -q origin main
    $ loopx verify --all
    6 commits (6 new commits): each is one legal mutation, signed off
    $ loopx policy show
    policy
      repository  [ID]
      approval    signed
      receipt     not required
      changed     by a, 6 s ago
      ann  counts  ssh-[ID] [ANN'S KEY]
    "#);

    let Proof::Signature(autograph) = proof(&gate_at(&repo, "closed/ready")) else {
        panic!("it is not signed")
    };
    let Autograph { approver, statement, signature } = *autograph;
    let facts: Vec<_> = statement.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(
        facts.join(" "),
        "loopx repository goal gate question commit tree decision note time nonce",
        "{statement}"
    );
    let public = repo.read("home/ann.pub");
    repo.write("home/allowed", &format!("{approver} namespaces=\"loopx-gate\" {public}"));
    repo.write("home/sig", &signature);
    let check =
        ["-Y", "verify", "-f", "../home/allowed", "-I", "ann", "-n", "loopx-gate", "-s", "../home/sig"];
    repo.feed("ssh-keygen", &check, &statement).success();
}

#[test]
fn who_may_sign_is_changed_by_those_who_may() {
    let repo = signed();
    assert_snapshot!(shown(&repo, &repo.person("approver add bob --key ../home/bob.pub --sign-with ../home/bob", "bob")), @"
    policy
      repository  [ID]
      approval    signed
      receipt     not required
      changed     by a, just now
      ann  counts  ssh-[ID] [ANN'S KEY]
    This will add bob ssh-[ID] [BOB'S KEY]

    Type `bob` to add approver bob: bob
    error: the key that signed is no approver's
    hint: run `loopx approver list`
    [exit 1]
    ");
    let added = repo.person(
        "approver add bob --key ../home/bob.pub --valid-before 2027-01-01 --sign-with ../home/ann",
        "bob",
    );
    added.success();
    assert_snapshot!(shown(&repo, &Output { code: 0, stdout: repo.scene("
        loopx approver list
        loopx approver add bob --key ../home/eve.pub
        loopx approver add robert --key ../home/bob.pub
        loopx approver add eve --key ../home/eve
        loopx approver add eve --key ../home/nothing
        loopx approver remove eve
        loopx policy set approval=terminal --agent-id a
        loopx approver remove ann --agent-id a
    "), stderr: String::new() }), @"
    $ loopx approver list
      ann  counts                              ssh-[ID] [ANN'S KEY]
      bob  counts before 2027-01-01T00:00:00Z  ssh-[ID] [BOB'S KEY]
    $ loopx approver add bob --key ../home/eve.pub
    [stderr] error: `bob` is an approver already
    [stderr] hint: run `loopx approver list`
    [exit 1]
    $ loopx approver add robert --key ../home/bob.pub
    [stderr] error: this is the key of `bob` already
    [stderr] hint: run `loopx approver list`
    [exit 1]
    $ loopx approver add eve --key ../home/eve
    [stderr] error: `../home/eve` has no public key in it
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver add eve --key ../home/nothing
    [stderr] error: `../home/nothing` is neither a public key nor a file with one
    [stderr] hint: name the file of the public key, such as `~/.ssh/id_[ID].pub`, or what `gpg --armor --export <id>` wrote
    [exit 2]
    $ loopx approver remove eve
    [stderr] error: `eve` is no approver
    [stderr] hint: run `loopx approver list`
    [exit 1]
    $ loopx policy set approval=terminal --agent-id a
    [stderr] error: only a person may set approval to terminal, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx policy set approval=terminal` in a terminal of their own
    [exit 1]
    $ loopx approver remove ann --agent-id a
    [stderr] error: only a person may remove approver ann, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx approver remove ann` in a terminal of their own
    [exit 1]
    ");
    repo.person("approver remove ann --sign-with ../home/bob", "ann").success();
    assert_snapshot!(shown(&repo, &repo.person("approver remove bob --sign-with ../home/bob", "bob")), @"
    error: `bob` is the last approver, and answers have to be signed
    hint: run `loopx approver list`
    [exit 1]
    ");
    assert_eq!(repo.person("policy set approval=terminal --sign-with ../home/ann", "terminal").code, 1);
    assert_snapshot!(repo.loopx("policy set approval=signed"), @"answers have to be signed already");
    repo.loopx("policy set receipt=required --agent-id a").success();
    assert_eq!(
        repo.person("policy set receipt=not-required --sign-with ../home/ann", "not-required").code,
        1
    );
    repo.person("policy set receipt=not-required --sign-with ../home/bob", "not-required").success();
    repo.person("policy set approval=terminal --sign-with ../home/bob", "terminal").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.loopx("verify --all"), @"11 commits (11 new commits): each is one legal mutation, signed off");
}

#[test]
fn a_key_that_does_not_count_is_named() {
    let repo = signed();
    repo.loopx("gate open Ready? --agent-id a").success();
    let before = repo.tip();
    let last = |output: Output| {
        let lines: Vec<_> = output.stdout.lines().collect();
        lines[lines.len().saturating_sub(3)..].join("\n")
    };
    assert_snapshot!(last(answer(&repo, "ready", "approve", "eve")), @"
    Type `ready` to approve gate `ready`: ready
    error: the key that signed is no approver's
    hint: run `loopx approver list`
    ");
    assert_snapshot!(last(answer(&repo, "ready", "approve", "nobody")), @"
    Couldn't load public key [ROOT]/repo/../home/nobody: No such file or directory
    error: nothing was signed, so nothing was changed
    hint: see why above; the key is named by `--sign-with`, or by `loopx.approvalKey` of git's configuration
    ");
    assert_eq!(repo.tip(), before);
    for (name, until) in [("bob", " --valid-before 2026-12-01"), ("cara", "")] {
        let add = format!("approver add {name} --key ../home/{name}.pub{until} --sign-with ../home/ann");
        repo.person(&add, name).success();
    }
    repo.person("approver remove cara --sign-with ../home/ann", "cara").success();
    repo.sleep(86_400);
    assert_snapshot!(last(answer(&repo, "ready", "approve", "bob")), @"
    Type `ready` to approve gate `ready`: ready
    error: the key of `bob` counts before 2026-12-01T00:00:00Z, and it signed at 2026-12-01T12:00:24Z
    hint: run `loopx approver list`
    ");
    assert_snapshot!(last(answer(&repo, "ready", "approve", "cara")), @"
    Type `ready` to approve gate `ready`: ready
    error: `cara` is no approver any more since 2026-11-30T12:00:23Z
    hint: run `loopx approver list`
    ");
    answer(&repo, "ready", "approve", "ann").success();
}

#[test]
fn two_approvers_are_two_and_whoever_asked_is_none_of_them() {
    let repo = signed();
    for name in ["bob", "cara"] {
        let add = format!("approver add {name} --key ../home/{name}.pub --sign-with ../home/ann");
        repo.person(&add, name).success();
    }
    let be = |name: &str| {
        repo.git(&format!("config user.name {name}")).success();
        repo.git(&format!("config user.email {name}@example.test")).success();
    };
    be("bob");
    repo.loopx("gate open Ready? --approvals 2").success();
    repo.loopx("gate open Main? --approvals 2 --standing --agent-id a").success();
    let said = |output: Output| {
        let mut lines =
            output.stdout.lines().filter(|line| line.starts_with("error: ") || line.starts_with("gate "));
        lines.next_back().unwrap_or_default().to_owned()
    };
    let mut told = String::new();
    for (person, key, gate, decision, word) in [
        ("bob", "bob", "ready", "approve", "ready"),
        ("ann", "ann", "ready", "approve", "ready"),
        ("ann", "ann", "ready", "approve", "ready"),
        ("cara", "cara", "ready", "approve", "ready"),
        ("ann", "ann", "main", "approve", "main approve"),
        ("ann", "ann", "main", "approve", "main approve"),
    ] {
        be(person);
        let command = format!("gate resolve {gate} --decision {decision} --sign-with ../home/{key}");
        writeln!(told, "{person} {decision} {gate}: {}", said(repo.person(&command, word))).expect("a text");
    }
    assert_snapshot!(told, @"
    bob approve ready: error: bob asked at gate `ready`, and whoever asked is not one of the approvers that it needs
    ann approve ready: gate ready has 1 of 2 approvers now
    ann approve ready: error: ann said yes at gate `ready` already, and it needs another approver besides
    cara approve ready: gate ready is answered: approve
    ann approve main: gate main is answered for [ID]: approve
    ann approve main: error: gate `main` was decided already: `approve` by ann at 2026-11-30T12:00:36Z
    ");
    assert_snapshot!(repo.scene("git push -q origin main"), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main  no yes to [ID]  "Main?"  asked by a, 19 s ago
    [stderr] hint: a person answers with `loopx gate resolve main --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    be("cara");
    repo.person("gate resolve main --decision approve --sign-with ../home/cara", "main approve").success();
    assert_snapshot!(repo.scene("
        loopx gate show ready
        loopx gate show main
        git push -q origin main
        loopx verify --all
    "), @r#"
    $ loopx gate show ready
    gate ready: "Ready?"
      goal     ship
      asked    by bob, 24 s ago
      blocks   turn, push, publish
      needs    the signatures of 2 approvers
      options  approve, reject
      state    approve by cara, 11 s ago
      signed   with the key of cara
      answer   approve by ann, 17 s ago
      seen at  [ID]
    $ loopx gate show main
    gate main: "Main?"
      goal     ship
      asked    by a, 24 s ago
      blocks   push, publish
      needs    the signatures of 2 approvers
      options  approve, reject
      state    standing: each commit needs an answer
      answer   approve [ID] by cara, just now
      answer   approve [ID] by ann, 9 s ago
    $ git push -q origin main
    $ loopx verify --all
    12 commits (12 new commits): each is one legal mutation, signed off
    "#);
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --approvals 2 --agent-id a").success();
    assert_snapshot!(said(repo.person("gate resolve ready --decision approve", "ready")), @"error: gate `ready` needs the signatures of 2 approvers");
    assert_snapshot!(repo.loopx("gate open More? --approvals 9"), @"
    [stderr] error: invalid value '9' for '--approvals <NUMBER>': 9 approvers cannot be asked for (expected 1 to 4)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_key_asks_its_owner_for_its_passphrase_and_an_agent_of_keys_need_not_be_asked() {
    let repo = signed();
    let file = repo.path("home/ann").display().to_string();
    repo.loopx("gate open Ready? --blocks push --agent-id a").success();
    repo.loopx("gate open Again? --blocks push --agent-id a").success();
    repo.feed("ssh-keygen", &["-q", "-p", "-f", &file, "-N", "ready", "-P", ""], "").success();
    let last = |output: &Output| output.stdout.lines().rev().take(3).collect::<Vec<_>>().join("\n");
    let told = answer(&repo, "ready", "approve", "ann").success();
    assert_snapshot!(last(&told).replace("../home/", ""), @"
    gate ready is answered: approve
    Enter passphrase: 
    Type `ready` to approve gate `ready`: ready
    ");
    repo.feed("ssh-keygen", &["-q", "-p", "-f", &file, "-P", "ready", "-N", ""], "").success();
    repo.git("config loopx.approvalKey ../home/ann.pub").success();
    let script = format!(
        "ssh-add -q ../home/ann && rm ../home/ann && exec {LOOPX} gate resolve again --decision approve"
    );
    let told = repo.at_a_terminal("ssh-agent", &["sh".into(), "-c".into(), script.into()], "again").success();
    assert_snapshot!(last(&told), @"
    gate again is answered: approve
    Type `again` to approve gate `again`: again
    ");
    assert_snapshot!(repo.loopx("verify"), @"8 commits (8 new commits): each is one legal mutation, signed off");
}

/// A gate as the state branch has it.
pub(crate) fn gate_at(repo: &Sandbox, name: &str) -> Gate {
    let text = repo.git(&format!("show loopx/state:goals/ship/gates/{name}.toml")).success().stdout;
    toml::from_str(text.strip_prefix("format = \"1.0\"\n").expect("a version")).expect("a gate")
}

pub(crate) fn proof(gate: &Gate) -> Proof {
    match &gate.state {
        GateState::Resolved { proof, .. } => proof.clone(),
        other => panic!("{other:?}"),
    }
}

fn sign(repo: &Sandbox, key: &str, namespace: &str, text: &str) -> String {
    let file = repo.path(&format!("home/{key}")).display().to_string();
    repo.feed("ssh-keygen", &["-q", "-Y", "sign", "-n", namespace, "-f", &file], text).success().stdout
}

/// Says no at gate `id` by a commit made by hand at `at`, with what `proof` makes of the statement that should be signed.
pub(crate) fn forge(
    repo: &mut Sandbox,
    id: &str,
    at: &str,
    proof: impl FnOnce(&Sandbox, &Decided<'_>) -> Proof,
) -> String {
    let tip = repo.tip();
    let mut gate = gate_at(repo, id);
    let now: Timestamp = at.parse().expect("a time");
    let seen = Seen { question: gate.digest(), commit: None, tree: None };
    let (goal, name, decision) = ("ship".parse().unwrap(), id.parse().unwrap(), "reject".parse().unwrap());
    let question = gate.digest();
    let decided = Decided {
        goal: &goal,
        gate: &name,
        question: &question,
        seen: Some(&seen),
        decision: "reject",
        note: None,
        at: now,
    };
    let proof = proof(repo, &decided);
    let by = "Ann <ann@example.test>".parse().unwrap();
    gate.state =
        GateState::Resolved { decision, by, at: now, note: None, seen: seen.clone(), proof, after: vec![] };
    let text = format!("format = \"1.0\"\n{}", toml::to_string(&gate).expect("a record"));
    let message = format!(
        "reject gate {id}\n\nLoopx-Op: gate.resolve\nLoopx-Goal: ship\nLoopx-Record: gate/{id}\nLoopx-Actor: person\n\
         Signed-off-by: Ann <ann@example.test>\n"
    );
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        repo.env(name, &format!("{} +0000", now.unix()));
    }
    repo.forge_as(&format!("goals/ship/gates/{id}.toml"), &text, &message);
    repo.clear_env();
    let told = repo.loopx("verify");
    let pushed = repo.git("push -q origin main:refs/heads/forged");
    assert_ne!(pushed.code, 0, "a commit made by hand is not relied on");
    repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    told.stdout.lines().next().unwrap_or_default().to_owned() + "\n"
}

#[test]
fn a_signature_for_something_else_is_refused_and_says_for_what() {
    let mut repo = signed();
    let other = "approver add bob --key ../home/bob.pub --valid-before 2026-12-01 --sign-with ../home/ann";
    repo.person(other, "bob").success();
    repo.person("approver add cara --key ../home/cara.pub --sign-with ../home/ann", "cara").success();
    repo.person("approver remove cara --sign-with ../home/ann", "cara").success();
    repo.loopx("gate open One? --agent-id a").success();
    repo.loopx("gate open Two? --agent-id a").success();
    answer(&repo, "one", "reject", "ann").success();
    repo.loopx("verify").success();
    let id = repo.read("repo/.loopx/loopx.toml");
    let id =
        id.lines().find_map(|line| line.strip_prefix("repository = \"")).expect("an id").trim_matches('"');
    let here = RepositoryId::try_from(id.to_owned()).expect("an id");
    let nonce = "0123456789abcdef0123456789abcdef";
    let (noon, later) = ("2026-11-30T12:30:00Z", "2026-12-01T13:00:00Z");
    let by = |repo: &Sandbox, approver: &str, key: &str, namespace: &str, statement: &Statement| {
        let statement = statement.to_string();
        let signature = sign(repo, key, namespace, &statement);
        Proof::Signature(Autograph { approver: approver.parse().unwrap(), statement, signature }.into())
    };
    let right = |repo: &Sandbox, decided: &Decided<'_>| {
        by(repo, "ann", "ann", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    };

    let mut told = String::new();
    told += "as it should be: ";
    told += &forge(&mut repo, "two", noon, right);
    told += "without a signature: ";
    told += &forge(&mut repo, "two", noon, |_, _| Proof::Terminal { typed: "two".into() });
    told += "from another gate: ";
    let replayed = proof(&gate_at(&repo, "one"));
    told += &forge(&mut repo, "two", noon, |_, _| replayed.clone());
    told += "from another repository: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(
            repo,
            "ann",
            "ann",
            "loopx-gate",
            &Statement::at_gate(&RepositoryId::new(&[9; 16]), decided, nonce),
        )
    });
    told += "from another time: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        right(repo, &Decided { at: "2026-11-30T12:29:00Z".parse().unwrap(), ..*decided })
    });
    told += "for another decision: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        right(repo, &Decided { decision: "approve", ..*decided })
    });
    told += "for another commit: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        let seen = Seen { commit: Some("1".repeat(40)), ..decided.seen.unwrap().clone() };
        right(repo, &Decided { seen: Some(&seen), ..*decided })
    });
    told += "for another question: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        right(repo, &Decided { question: "sha256:0", ..*decided })
    });
    told += "from before it was asked: ";
    told += &forge(&mut repo, "two", "2026-11-30T12:00:01Z", right);
    told += "for another purpose: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(repo, "ann", "ann", "git", &Statement::at_gate(&here, decided, nonce))
    });
    told += "by nobody who is listed: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(repo, "eve", "eve", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    });
    told += "by another in ann's name: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(repo, "ann", "eve", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    });
    told += "by a key that was removed: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(repo, "cara", "cara", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    });
    told += "with a text that was not signed: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        let Proof::Signature(mut autograph) = right(repo, &Decided { decision: "approve", ..*decided })
        else {
            panic!("it is not signed")
        };
        autograph.statement = Statement::at_gate(&here, decided, nonce).to_string();
        Proof::Signature(autograph)
    });
    told += "with words instead: ";
    told += &forge(&mut repo, "two", noon, |_, decided| {
        Proof::Signature(
            Autograph {
                approver: "ann".parse().unwrap(),
                statement: Statement::at_gate(&here, decided, nonce).to_string(),
                signature: "Good \"loopx-gate\" signature for ann".into(),
            }
            .into(),
        )
    });
    repo.sleep(2 * 86_400);
    told += "by a key that has expired: ";
    told += &forge(&mut repo, "two", later, |repo, decided| {
        by(repo, "bob", "bob", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    });
    repo.sleep(8 * 86_400);
    repo.todo("later");
    told += "the same, dated back: ";
    told += &forge(&mut repo, "two", noon, |repo, decided| {
        by(repo, "bob", "bob", "loopx-gate", &Statement::at_gate(&here, decided, nonce))
    });
    assert_snapshot!(told, @r#"
    as it should be: 11 commits (1 new commit): each is one legal mutation, signed off
    without a signature: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: answers have to be signed by an approver here
    from another gate: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says gate `one`, and this is gate `two`
    from another repository: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says repository `[ID]`, and this is repository `[ID]`
    from another time: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says time `2026-11-30T12:29:00Z`, and this is time `2026-11-30T12:30:00Z`
    for another decision: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says decision `approve`, and this is decision `reject`
    for another commit: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says commit `[ID]`, and this is commit `none`
    for another question: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: what was signed says question `sha256:0`, and this is question `sha256:[ID]`
    from before it was asked: NOT A LEGAL MUTATION: [ID] "reject gate two", 2 min ago: it is refused: the answer to gate `two` was signed at 2026-11-30T12:00:01Z, and what happened there last was at 2026-11-30T12:00:20Z
    for another purpose: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: the signature was made for `git` and not for `loopx-gate`
    by nobody who is listed: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: `eve` is no approver
    by another in ann's name: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: the signature was not made with the key of `ann`
    by a key that was removed: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: `cara` is no approver any more since 2026-11-30T12:00:18Z
    with a text that was not signed: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: OpenSSH says that the signature of `ann` is none
    with words instead: NOT A LEGAL MUTATION: [ID] "reject gate two", just now: it is refused: that is no signature of a decision
    by a key that has expired: NOT A LEGAL MUTATION: [ID] "reject gate two", 23 h 3 min ago: it is refused: the key of `bob` counts before 2026-12-01T00:00:00Z, and it signed at 2026-12-01T13:00:00Z
    the same, dated back: NOT A LEGAL MUTATION: [ID] "reject gate two", 9 d 23 h ago: it is refused: `bob` signed at 2026-11-30T12:30:00Z, and the state is of 2026-12-10T12:03:33Z already
    "#);
}
