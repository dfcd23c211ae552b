//! With `--json` every command prints one document, errors included, and standard error stays for people.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

/// The keys at the top of the one document that `args` print.
#[track_caller]
fn keys(repo: &Sandbox, args: &str, code: i32) -> String {
    let output = repo.loopx(&format!("{args} --json"));
    assert_eq!((output.code, output.stderr.as_str()), (code, ""), "{args}: {output}");
    let document = output.json();
    assert_eq!(document["schema_version"], 1, "{args}");
    let keys: Vec<_> = document.as_object().expect("an object").keys().cloned().collect();
    format!("{args}: {}\n", keys.join(" "))
}

#[test]
fn every_command_prints_one_document() {
    let repo = Sandbox::plain();
    let mut told = keys(&repo, "init", 0);
    let commands = "
        goal add Ship --goal-id ship
        goal list
        goal show ship
        configure-goal --quota-compute 0.5
        goal-config
        todo add one
        todo list
        gate open Ready? --blocks push
        gate list
        gate show ready
        evidence add --text seen
        evidence list
        guard check --for publish
        quota should-run
        quota spend-slot --turn-id turn-1
        quota status
        evidence add --metric p99=1 --unit ms
        evidence change --base HEAD
        policy show
        policy set receipt=required
        policy set receipt=required
        context
        handoff write next
        handoff show
        history
        history --patch
        history --follow goal/ship
        blame goal/ship
        diff loopx/state~1..
        report
        review-packet
        status
        hooks install
        hooks status
        host list
        host install agents-md --dry-run
        remote show
        remote unset
        completions bash
    ";
    commands
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .for_each(|line| told += &keys(&repo, line, 0));
    let id = repo.todo("two");
    for verb in ["show", "claim", "release", "done"] {
        told += &keys(&repo, &format!("todo {verb} {id}"), 0).replace(&id, "[TODO]");
    }
    assert_snapshot!(told, @"
    init: branch commit enforcement goal schema_version state warnings
    goal add Ship --goal-id ship: added commit id objective quota schema_version state warnings
    goal list: goals schema_version
    goal show ship: added id objective quota schema_version state
    configure-goal --quota-compute 0.5: added commit id objective quota schema_version state warnings
    goal-config: added id objective quota schema_version state
    todo add one: added commit for goal id priority schema_version state title warnings
    todo list: schema_version todos
    gate open Ready? --blocks push: age_seconds asked blocks commit goal id options question schema_version state warnings
    gate list: gates schema_version
    gate show ready: age_seconds asked blocks goal id options question schema_version state
    evidence add --text seen: added commit dirty goal id schema_version warnings what
    evidence list: evidence schema_version
    guard check --for publish: allowed for gates schema_version tip
    quota should-run: answer goal next schema_version should_run todo why
    quota spend-slot --turn-id turn-1: added commit goal id quota schema_version slots turn warnings
    quota status: allowed_slots cap_slots compute free_at goal grants schema_version slot_minutes spent_slots window_hours
    evidence add --metric p99=1 --unit ms: added commit dirty goal id schema_version warnings what
    evidence change --base HEAD: added commit dirty goal id schema_version warnings what
    policy show: approval repository schema_version
    policy set receipt=required: approval changed commit repository require_receipt schema_version warnings
    policy set receipt=required: approval changed commit repository require_receipt schema_version warnings
    context: acceptance answer commands decisions evidence gates goal handoff left_out next objective schema_version should_run state todo turn turns why
    handoff write next: commit goal handoff schema_version warnings
    handoff show: goal handoff schema_version
    history: entries schema_version
    history --patch: entries schema_version
    history --follow goal/ship: entries record schema_version
    blame goal/ship: fields record schema_version
    diff loopx/state~1..: changes from schema_version to
    report: bypasses decisions evidence goals left_out outcomes questions schema_version since spend tip until
    review-packet: chores decisions evidence goals left_out looked needed outcomes risks schema_version since spend tip until
    status: branch distrust enforcement gates goals schema_version tip todos view
    hooks install: active by hook schema_version
    hooks status: active by hook schema_version
    host list: hosts schema_version
    host install agents-md --dry-run: diff dry_run files host notes schema_version scope
    remote show: address hints problem remote schema_version
    remote unset: address hints problem remote schema_version
    completions bash: schema_version script shell
    todo show [TODO]: added for goal id priority schema_version state title
    todo claim [TODO]: added commit for goal id priority schema_version state title warnings
    todo release [TODO]: added commit for goal id priority schema_version state title warnings
    todo done [TODO]: added commit for goal id priority schema_version state title warnings
    ");
}

#[test]
fn a_person_who_answers_gets_one_document_as_well() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --agent-id a").success();
    let answer = format!("{LOOPX} gate resolve ready --decision approve --json >\"$HOME/answer\"");
    assert_snapshot!(repo.at_a_terminal("sh", &["-c".into(), answer.into()], "ready"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by a, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: ready
    "#);
    let document: serde_json::Value = serde_json::from_str(&repo.read("home/answer")).expect("one document");
    assert_eq!(document["state"]["decision"], "approve");
}

#[test]
fn every_failure_is_one_document() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx(&format!("todo claim {id} --agent-id a")).success();
    repo.loopx("gate open Ready? --blocks push --agent-id a").success();
    let mut told = String::new();
    for (args, code) in [
        ("todo show t-zzzz", 1),
        ("todo show nope", 2),
        ("todo finish", 2),
        ("todo", 2),
        ("frobnicate", 2),
        ("gate show nope", 1),
        ("gate resolve ready --decision approve", 1),
        ("gate resolve ready --decision maybe", 1),
        ("gate open Again? --gate-id ready", 1),
        (&format!("todo claim {id} --agent-id b"), 1),
        ("configure-goal --quota-slot-minutes 0", 2),
        ("evidence add --commit nope", 1),
        ("init --state-branch a..b", 2),
        ("-C nowhere status", 1),
        ("-C .. status", 1),
        ("quota should-run --goal-id nope", 1),
    ] {
        let document = {
            keys(&repo, args, code);
            repo.loopx(&format!("{args} --json")).json()
        };
        let error = document["error"].as_object().expect("an error");
        assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "hints", "message", "retryable"], "{args}");
        told += &format!("{}: {} {}\n", args.replace(&id, "[TODO]"), error["code"], error["message"])
            .replace(&id, "[TODO]");
    }
    assert_snapshot!(told, @r#"
    todo show t-zzzz: "not-found" "there is no todo `t-zzzz`"
    todo show nope: "usage" "invalid value 'nope' for '<TODO>': `nope` is not a todo id (expected `t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that)"
    todo finish: "usage" "unrecognized subcommand 'finish'"
    todo: "usage" "'loopx todo' requires a subcommand but one was not provided"
    frobnicate: "usage" "unrecognized subcommand 'frobnicate'"
    gate show nope: "not-found" "there is no gate `nope`"
    gate resolve ready --decision approve: "person-needed" "only a person at a terminal may approve gate `ready`, and there is none"
    gate resolve ready --decision maybe: "refused" "gate `ready` does not offer `maybe` (it offers `approve`, `reject`)"
    gate open Again? --gate-id ready: "refused" "there is a gate `ready` already, and an id is used once"
    todo claim [TODO] --agent-id b: "refused" "todo `[TODO]` is claimed by a until 2026-11-30T12:45:06Z"
    configure-goal --quota-slot-minutes 0: "usage" "a slot has 1 to 1440 minutes and fits into the window, not 0"
    evidence add --commit nope: "not-found" "`nope` names no commit of this repository"
    init --state-branch a..b: "usage" "`a..b` cannot be the name of a branch"
    -C nowhere status: "environment" "there is no folder `[ROOT]/repo/nowhere`"
    -C .. status: "not-set-up" "`[ROOT]/repo/..` is not in a git repository"
    quota should-run --goal-id nope: "not-found" "there is no goal `nope`"
    "#);
}

#[test]
fn an_error_as_a_document() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx("gate show nope --json"), @r#"
    {
      "schema_version": 1,
      "error": {
        "code": "not-found",
        "message": "there is no gate `nope`",
        "hints": [
          "run `loopx gate list --all`"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
}

#[test]
fn state_that_cannot_be_trusted_as_a_document() {
    let repo = Sandbox::ready();
    repo.plant("goals/ship/gates/ready.toml", "");
    assert_snapshot!(repo.loopx("status --json"), @r#"
    {
      "schema_version": 1,
      "error": {
        "code": "state-distrusted",
        "message": "`goals/ship/gates/ready.toml` on the state branch cannot be read: it has no `format`",
        "hints": [
          "run `loopx verify`: it names the commit that did it, and the way back"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
    assert_snapshot!(repo.loopx("quota should-run --json"), @r#"
    {
      "schema_version": 1,
      "answer": "repair",
      "should_run": false,
      "why": "`goals/ship/gates/ready.toml` on the state branch cannot be read: it has no `format`",
      "next": "loopx verify"
    }
    [exit 1]
    "#);
}

#[test]
fn not_now_is_no_error() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --agent-id a").success();
    keys(&repo, "quota should-run", 10);
}

#[test]
fn help_and_version_are_for_people() {
    let repo = Sandbox::empty();
    assert_snapshot!(repo.scene("
        loopx --version
        loopx --help
    "), @r#"
    $ loopx --version
    loopx 0.1.0
    $ loopx --help
    A local control plane for long-running AI agents, inside your git repository.

    Exit codes: 0 yes or done, 1 refused or failed, 2 usage; `quota should-run` and `guard` answer 10
    for "not now".

    Usage: loopx [OPTIONS] <COMMAND>

    Commands:
      init            Set this repository up, or repair and re-attach what is there
      status          Goals, open questions, open work, and whether pushes are guarded
      goal            Objectives
      configure-goal  Switch features and change the quota of a goal
      goal-config     Show the configuration of a goal
      gate            Questions that only a person may answer
      resolve-gate    Answer a gate (the same as `gate resolve`)
      todo            Work
      evidence        What was seen
      guard           Whether something may leave this machine now
      quota           What may happen next, and what was used
      turn            One slice of work, from beginning to end
      context         What a fresh agent needs to know, in a few kilobytes
      handoff         The note for whoever goes on
      history         What happened, newest first
      report          What came of the last days: outcomes, decisions, spend, open questions, evidence
      review-packet   What a person has to look at: what waits for them, risks, and what came in since
                      they last looked, for a pull request
      blame           Who set each field of a record, when, and in which turn
      diff            What changed between two states, in sentences
      doctor          What is wrong with this clone, and what helps
      verify          Check that each commit of the state is one legal mutation by somebody who may make
                      it
      check           Look for secrets and for copies of loopx's state in files, in what is staged, or
                      in commits
      secret          Values that look like secrets and are none
      export          Write the whole state to one file
      import          Put a state that was exported into a clone that has none, or take over what
                      another tool kept
      compact         Leave the history of the state behind, and keep the state
      restore         Move the state back to a commit of its own past (a person at a terminal only)
      bypass          Pushes that went round the hook
      policy          The repository's own rules
      approver        Whose signatures count where answers are signed
      notify          The command of yours that is run when something begins to wait for you
      hooks           The git hook that keeps pushes back
      host            The programs that agents live in: what each of them asks loopx
      remote          The one remote that the state may go to
      sync            Bring the state here and the one at the remote together
      uninstall       Take loopx out of this clone again; the state stays unless it is purged (a person
                      at a terminal only)
      mcp             Serve an agent's host with the Model Context Protocol on standard input and output
      demo            Play the whole story in a scratch repository
      completions     Print a completion script for a shell

    Options:
          --json
              Print one JSON document instead of words, errors included

          --agent-id <AGENT>
              The agent on whose behalf this runs (or `LOOPX_AGENT_ID`)

          --redact
              Put a mark in the place of what looks like a secret in the words of this command, instead
              of refusing

      -C <DIR>
              Run as if started in this folder

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    "#);
    for command in ["status", "todo add", "gate resolve", "quota should-run", "hooks status", "history"] {
        let help = repo.finish(repo.command(LOOPX, &words(&format!("{command} --help"))), "").success();
        assert!(help.stdout.contains("--json"), "{command}: {help}");
    }
}
