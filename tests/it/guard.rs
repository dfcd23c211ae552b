//! Whether something may leave the machine, asked by something else than git; and commands that run only if it may.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, files};

#[test]
fn what_a_gate_does_not_hold_back_may_go() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx guard check --for publish
        loopx guard check --for push
        loopx gate open 'Publish it?' --gate-id out --blocks publish --agent-id codex-1
        loopx guard check --for push
        loopx guard check --for publish
        loopx gate open 'Push it?' --gate-id up --blocks push,publish --agent-id claude-2
        loopx guard check --for publish
        loopx guard check --for push --agent-id codex-1
    "), @r#"
    $ loopx guard check --for publish
    publish allowed: no gate stands in its way
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    $ loopx gate open 'Publish it?' --gate-id out --blocks publish --agent-id codex-1
    opened gate out: "Publish it?"
    a person answers with `loopx gate resolve out --decision approve` (or `reject`)
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      out  open  "Publish it?"  asked by codex-1, just now
    hint: a person answers with `loopx gate resolve out --decision approve` (or `reject`)
    [exit 10]
    $ loopx gate open 'Push it?' --gate-id up --blocks push,publish --agent-id claude-2
    opened gate up: "Push it?"
    a person answers with `loopx gate resolve up --decision approve` (or `reject`)
    $ loopx guard check --for publish
    loopx: publish refused: 2 gates stand in its way
      out  open  "Publish it?"  asked by codex-1, just now
      up   open  "Push it?"     asked by claude-2, just now
    hint: a person answers with `loopx gate resolve out --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard check --for push --agent-id codex-1
    loopx: push refused: 1 gate stands in its way
      up  open  "Push it?"  asked by claude-2, just now
    hint: a person answers with `loopx gate resolve up --decision approve` (or `reject`)
    [exit 10]
    "#);
    repo.sleep(7_200);
    repo.person("gate resolve out --decision reject", "out reject").success();
    repo.person("gate resolve up --decision approve", "up approve").success();
    assert_snapshot!(repo.scene("
        loopx guard check --for publish
        loopx guard check --for push
    "), @r#"
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      out  rejected  "Publish it?"  asked by codex-1, 2 h ago
    hint: a person answers with `loopx gate resolve out --decision approve`
    [exit 10]
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    "#);
}

#[test]
fn the_answer_as_a_document() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    assert_snapshot!(repo.loopx("guard check --for publish --json"), @r#"
    {
      "schema_version": 1,
      "for": "publish",
      "allowed": false,
      "gates": [
        {
          "id": "ready",
          "goal": "ship",
          "age_seconds": 1,
          "question": "Ready?",
          "options": [
            "approve",
            "reject"
          ],
          "blocks": [
            "publish"
          ],
          "asked": {
            "by": "agent:codex-1",
            "at": "2026-11-30T12:00:05Z"
          },
          "state": {
            "is": "open"
          }
        }
      ],
      "tip": "[ID]"
    }
    [exit 10]
    "#);
    assert_snapshot!(repo.loopx("guard check --for push --json"), @r#"
    {
      "schema_version": 1,
      "for": "push",
      "allowed": true,
      "gates": [],
      "tip": "[ID]"
    }
    "#);
    let refused = repo.loopx("guard run --for publish --json -- echo ran").json();
    assert_eq!((&refused["allowed"], &refused["gates"][0]["id"]), (&false.into(), &"ready".into()));
}

#[test]
fn a_guard_that_cannot_see_lets_nothing_through() {
    let mut repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx guard check --for publish
        loopx guard run --for publish -- touch ran
        loopx init --goal-text 'Ship v2' --goal-id ship
        loopx guard check --for publish
    "), @"
    $ loopx guard check --for publish
    [stderr] error: publish refused: whether a question is open cannot be seen: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx guard run --for publish -- touch ran
    [stderr] error: publish refused: whether a question is open cannot be seen: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx init --goal-text 'Ship v2' --goal-id ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    added goal ship
    $ loopx guard check --for publish
    publish allowed: no gate stands in its way
    ");
    repo.forge("goals/ship/gates/ready.toml", "");
    assert_snapshot!(repo.scene("
        loopx guard check --for publish
        loopx guard run --for push -- touch ran
        loopx guard check --for publish --json
    "), @r#"
    $ loopx guard check --for publish
    [stderr] error: publish refused: whether a question is open cannot be seen: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx guard run --for push -- touch ran
    [stderr] error: push refused: whether a question is open cannot be seen: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 1]
    $ loopx guard check --for publish --json
    {
      "schema_version": 1,
      "error": {
        "code": "state-distrusted",
        "message": "publish refused: whether a question is open cannot be seen: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]",
        "hints": [
          "put it back with `git update-ref refs/heads/loopx/state [ID]`",
          "or a person does, and sees first what is lost: `loopx restore --to [ID]`"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
    assert!(!repo.path("repo/ran").exists());
    fs::create_dir(repo.path("elsewhere")).expect("a folder");
    assert_snapshot!(repo.cd("elsewhere").loopx("guard check --for publish"), @"
    [stderr] error: publish refused: whether a question is open cannot be seen: `[ROOT]/elsewhere` is not in a git repository
    [stderr] hint: run `git init` first, or go to a repository
    [exit 1]
    ");
}

#[test]
fn what_is_asked_has_to_make_sense() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx guard check
        loopx guard check --for turn
        loopx guard check --for publish --state-ref refs/x
        loopx guard run --for publish
        loopx guard run --for publish touch ran
        loopx guard run --for publish --goal-id nope -- touch ran
    "), @"
    $ loopx guard check
    [stderr] error: the following required arguments were not provided:
    [stderr]   --for <ACT>
    [stderr]
    [stderr] Usage: loopx guard check --for <ACT>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx guard check --for turn
    [stderr] error: invalid value 'turn' for '--for <ACT>': expected `push` or `publish`
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx guard check --for publish --state-ref refs/x
    [stderr] error: the following required arguments were not provided:
    [stderr]   --ci
    [stderr]
    [stderr] Usage: loopx guard check --for <ACT> --ci --state-ref <REF>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx guard run --for publish
    [stderr] error: the following required arguments were not provided:
    [stderr]   <CMD>...
    [stderr]
    [stderr] Usage: loopx guard run --for <ACT> -- <CMD>...
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx guard run --for publish touch ran
    [stderr] error: unexpected argument 'touch' found
    [stderr]
    [stderr] Usage: loopx guard run [OPTIONS] --for <ACT> -- <CMD>...
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx guard run --for publish --goal-id nope -- touch ran
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
    assert!(!repo.path("repo/ran").exists());
}

#[test]
fn a_check_writes_nothing() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish").success();
    repo.git("update-ref refs/loopx/state loopx/state").success();
    let everything = || {
        let list = files(&repo.path("repo"));
        list.into_iter().map(|file| (fs::read(repo.path("repo").join(&file)).ok(), file)).collect::<Vec<_>>()
    };
    let before = everything();
    repo.loopx("guard check --for publish");
    repo.loopx("guard check --for push");
    repo.loopx("guard run --for publish -- touch ran");
    repo.loopx("guard check --for publish --ci");
    assert!(before == everything());
}

#[test]
fn a_check_needs_no_other_program() {
    let mut repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish").success();
    repo.env("PATH", "/nowhere");
    assert_eq!(repo.loopx("guard check --for publish").code, 10);
    assert_eq!(repo.loopx("guard check --for push").code, 0);
}

#[test]
fn a_command_runs_as_if_it_were_alone() {
    let repo = Sandbox::ready();
    let run = |script: &str, input: &str| {
        repo.feed(LOOPX, &["guard", "run", "--for", "publish", "--", "sh", "-c", script], input)
    };
    assert_snapshot!(run("cat; echo out; echo err >&2; exit 3", "in\n"), @"
    in
    out
    [stderr] err
    [exit 3]
    ");
    assert_snapshot!(run("echo $LOOPX_GUARD; pwd", "").stdout.replace(&repo.root().display().to_string(), "[ROOT]"), @"
    publish
    [ROOT]/repo
    ");
    assert_snapshot!(run("kill -9 $$", ""), @"[exit 137]");
    assert_snapshot!(repo.scene("
        loopx guard run --for publish -- no-such-program --token abc
        loopx guard run --for publish -- ./base.txt
        loopx guard run --for publish -- echo '$(id) ;' --json
        loopx evidence list
    "), @"
    $ loopx guard run --for publish -- no-such-program --token abc
    [stderr] error: `no-such-program` cannot be started: No such file or directory (os error 2)
    [stderr] hint: nothing was run; look whether it is there with `command -v no-such-program`
    [exit 127]
    $ loopx guard run --for publish -- ./base.txt
    [stderr] error: `./base.txt` cannot be started: Permission denied (os error 13)
    [stderr] hint: nothing was run; look whether it is there with `command -v ./base.txt`
    [exit 127]
    $ loopx guard run --for publish -- echo '$(id) ;' --json
    $(id) ; --json
    $ loopx evidence list
      e-a4wn  ship  command  by Ann, just now  exit 0, 0 s: echo $(id) ; --json
      e-s29v  ship  command  by Ann, just now  ended by signal 9, 0 s: sh -c kill -9 $$
      e-7p0h  ship  command  by Ann, 5 s ago   exit 0, 0 s: sh -c echo $LOOPX_GUARD; pwd
      e-fdjx  ship  command  by Ann, 6 s ago   exit 3, 0 s: sh -c cat; echo out; echo err >&2; exit 3
    ");
}

#[test]
fn what_ran_is_evidence() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    repo.write("repo/base.txt", "changed");
    assert_snapshot!(repo.scene("
        loopx guard run --for publish --agent-id codex-1 -- sh -c 'exit 4' --token abc --registry=x https://ann:pw@x.example/
        loopx evidence list
        loopx verify
        git log -1 --format=%s%n%n%b loopx/state
    "), @"
    $ loopx guard run --for publish --agent-id codex-1 -- sh -c 'exit 4' --token abc --registry=x https://ann:pw@x.example/
    [exit 4]
    $ loopx evidence list
      e-7p0h  ship  command  by codex-1, just now  exit 4, 0 s: sh -c exit 4 --token *** --registry=x https://***@x.example/
    $ loopx verify
    3 commits (3 new commits): each is one legal mutation, signed off
    $ git log -1 --format=%s%n%n%b loopx/state
    add evidence e-7p0h for goal ship: exit 4, 0 s: sh -c exit 4 --token **…

    Loopx-Op: evidence.add
    Loopx-Goal: ship
    Loopx-Record: evidence/e-7p0h
    Loopx-Actor: agent:codex-1
    Signed-off-by: Ann <ann@example.test>
    ");
    assert_eq!(repo.git("rev-parse loopx/state~1").stdout, before, "one commit");
    let listed = repo.loopx("evidence list --json").json();
    let id = listed["evidence"][0]["id"].as_str().expect("an id");
    assert_snapshot!(repo.git_shown(&format!("show loopx/state:goals/ship/evidence/{id}.toml")), @r#"
    format = "1.0"
    commit = "[ID]"
    dirty = true

    [added]
    by = "agent:codex-1"
    at = "2026-11-30T12:00:06Z"

    [what]
    kind = "command"
    argv = ["sh", "-c", "exit 4", "--token", "***", "--registry=x", "https://***@x.example/"]
    guarded = "publish"
    seconds = 0

    [what.ended]
    exit = 4
    "#);
    assert!(!repo.git("log -p loopx/state").stdout.contains("abc"));
}

#[test]
fn a_gate_that_opens_while_a_command_runs_is_for_the_next_one() {
    let mut repo = Sandbox::ready();
    let here = Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.put_on_path(&here);
    assert_snapshot!(repo.scene("
        loopx guard run --for publish -- loopx gate open Ready? --agent-id codex-1
        loopx guard run --for publish -- echo again
        loopx evidence list
    "), @r#"
    $ loopx guard run --for publish -- loopx gate open Ready? --agent-id codex-1
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ loopx guard run --for publish -- echo again
    [stderr] loopx: publish refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx evidence list
      e-fdjx  ship  command  by Ann, just now  exit 0, 0 s: loopx gate open Ready? --agent-id codex-1
    "#);
}

#[test]
fn a_check_inside_of_a_run_is_a_check_like_any_other() {
    let mut repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    repo.env("LOOPX_GUARD", "publish");
    assert_snapshot!(repo.loopx("guard check --for publish"), @r#"
    loopx: publish refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by codex-1, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    "#);
}

#[test]
fn the_goal_that_gets_the_evidence() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    assert_snapshot!(repo.scene("
        loopx guard run --for publish -- echo alone
        loopx goal add One --goal-id one
        loopx goal add Two --goal-id two
        loopx guard run --for publish -- echo which
        loopx guard run --for publish --goal-id two -- echo two
        loopx evidence list --goal-id two
    "), @"
    $ loopx guard run --for publish -- echo alone
    alone
    [stderr] loopx: no evidence was recorded: there is no active goal
    $ loopx goal add One --goal-id one
    added goal one: One
    $ loopx goal add Two --goal-id two
    added goal two: Two
    $ loopx guard run --for publish -- echo which
    [stderr] error: 2 goals are active (`one`, `two`), so the goal has to be named
    [stderr] hint: add `--goal-id one`
    [exit 2]
    $ loopx guard run --for publish --goal-id two -- echo two
    two
    $ loopx evidence list --goal-id two
      e-sry7  two  command  by Ann, just now  exit 0, 0 s: echo two
    ");
}

#[test]
fn a_command_that_cannot_be_recorded_has_run_all_the_same() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx guard run --for publish -- git config --global --unset user.name
        loopx guard run --for publish -- sh -c 'exit 5'
    "), @r#"
    $ loopx guard run --for publish -- git config --global --unset user.name
    $ loopx guard run --for publish -- sh -c 'exit 5'
    [stderr] warning: no evidence was recorded: git knows no name and address for you (`user.name`, `user.email`)
    [stderr] hint: run `git config user.name "<your name>"` and `git config user.email <your address>`
    [exit 5]
    "#);
}

#[test]
fn a_signal_goes_to_the_command_and_is_recorded() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx_raw(&["guard", "run", "--for", "publish", "--", "sh", "-c", "kill -TERM $PPID; exec sleep 20"]), @"[exit 143]");
    assert_snapshot!(repo.loopx("evidence list"), @"  e-fdjx  ship  command  by Ann, just now  ended by signal 15, 0 s: sh -c kill -TERM $PPID; exec sleep 20");
}

#[test]
fn ctrl_c_ends_the_command_and_is_recorded() {
    let repo = Sandbox::ready();
    let ask = "printf 'Type `x` to go on: '; exec sleep 20";
    let args = ["guard", "run", "--for", "publish", "--", "sh", "-c", ask].map(Into::into);
    let ended = repo.at_a_terminal(LOOPX, &args, "\u{3}");
    assert_eq!(ended.code, 130, "{ended}");
    assert_snapshot!(repo.loopx("evidence list"), @"  e-fdjx  ship  command  by Ann, just now  ended by signal 2, 0 s: sh -c printf 'Type `x` to go on: '; exec sleep 20");
}

/// A clone such as a job of CI has, with the state of `repo` fetched to a ref.
fn job(repo: &mut Sandbox) {
    repo.git("clone -q --no-local . ../job").success();
    repo.cd("job").git("fetch -q ../repo +refs/heads/loopx/state:refs/loopx/state").success();
}

#[test]
fn a_job_sees_what_was_fetched_for_it() {
    let mut repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    job(&mut repo);
    let before = files(&repo.path("job"));
    assert_snapshot!(repo.scene("
        loopx guard check --for publish
        loopx guard check --for publish --ci
        loopx guard check --for push --ci --state-ref refs/loopx/state
        loopx guard check --for publish --ci --state-ref origin/loopx/state
        loopx guard check --for publish --ci --state-ref refs/nowhere
        loopx guard check --for publish --ci --state-ref main
    "), @r#"
    $ loopx guard check --for publish
    [stderr] error: publish refused: whether a question is open cannot be seen: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx guard check --for publish --ci
    loopx: publish refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by codex-1, just now
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard check --for push --ci --state-ref refs/loopx/state
    push allowed: no gate stands in its way
    $ loopx guard check --for publish --ci --state-ref origin/loopx/state
    loopx: publish refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by codex-1, 6 s ago
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ loopx guard check --for publish --ci --state-ref refs/nowhere
    [stderr] error: publish refused: whether a question is open cannot be seen: `refs/nowhere` is not here, and it should have a copy of the state
    [stderr] hint: fetch it first, from where `loopx sync` puts it: `git fetch <remote> +refs/loopx/state:refs/loopx/state`
    [stderr] hint: if the state stays on one machine, check there, before anything is pushed
    [exit 1]
    $ loopx guard check --for publish --ci --state-ref main
    [stderr] error: publish refused: whether a question is open cannot be seen: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    [stderr] hint: run `loopx verify --all` where the state comes from, and fetch it again
    [exit 1]
    "#);
    assert_eq!(files(&repo.path("job")), before, "it wrote something");
    repo.cd("repo").person("gate resolve ready --decision approve", "ready approve").success();
    assert_snapshot!(repo.cd("job").scene("
        loopx guard check --for publish --ci
        git fetch -q ../repo +refs/heads/loopx/state:refs/loopx/state
        loopx guard check --for publish --ci
    "), @r#"
    $ loopx guard check --for publish --ci
    loopx: publish refused: 1 gate stands in its way
      ready  open  "Ready?"  asked by codex-1, 10 s ago
    hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [exit 10]
    $ git fetch -q ../repo +refs/heads/loopx/state:refs/loopx/state
    $ loopx guard check --for publish --ci
    publish allowed: no gate stands in its way
    "#);
}

#[test]
fn a_job_does_not_believe_a_history_that_is_not_whole() {
    let mut repo = Sandbox::ready();
    repo.loopx("gate open Ready? --blocks publish --agent-id codex-1").success();
    // With the note that says it is loopx's own, which counts for nothing here.
    repo.plant("goals/ship/gates/ready.toml", "");
    let text = repo.git("show loopx/state~1:goals/ship/gates/ready.toml").stdout;
    repo.plant("goals/ship/gates/ready.toml", &text);
    job(&mut repo);
    assert_snapshot!(repo.loopx("guard check --for publish --ci"), @"
    [stderr] error: publish refused: whether a question is open cannot be seen: [ID] is no legal mutation of the state: it has no `Signed-off-by` trailer
    [stderr] hint: run `loopx verify --all` where the state comes from, and fetch it again
    [exit 1]
    ");
}

#[test]
fn a_job_does_not_believe_a_history_that_is_cut_off() {
    let mut repo = Sandbox::ready();
    let from = repo.path("repo").display().to_string();
    repo.git(&format!("clone -q --depth 1 --no-single-branch 'file://{from}' ../shallow")).success();
    assert_snapshot!(repo.cd("shallow").scene("
        loopx guard check --for publish --ci --state-ref origin/loopx/state
        git fetch -q --unshallow
        loopx guard check --for publish --ci --state-ref origin/loopx/state
    "), @"
    $ loopx guard check --for publish --ci --state-ref origin/loopx/state
    [stderr] error: publish refused: whether a question is open cannot be seen: the state branch cannot be read: An object with id [ID] could not be found
    [stderr] hint: if this clone is shallow, get the rest with `git fetch --unshallow`
    [exit 1]
    $ git fetch -q --unshallow
    $ loopx guard check --for publish --ci --state-ref origin/loopx/state
    publish allowed: no gate stands in its way
    ");
}

#[test]
fn what_goes_out_has_to_be_what_was_checked() {
    let repo = Sandbox::with_remote();
    assert_snapshot!(repo.scene("
        loopx policy show
        loopx guard check --for push --receipt
        loopx policy set receipt=required --agent-id a
        loopx policy set receipt=required
        loopx policy set receipt=not-required --agent-id a
        loopx policy set receipt=maybe
    "), @"
    $ loopx policy show
    policy
      repository  [ID]
      approval    terminal
      receipt     not required
    $ loopx guard check --for push --receipt
    loopx: push refused: nothing shows that `HEAD` was checked (tree [ID])
    hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [exit 10]
    $ loopx policy set receipt=required --agent-id a
    what goes out needs a receipt
    $ loopx policy set receipt=required
    what goes out needs a receipt already
    $ loopx policy set receipt=not-required --agent-id a
    [stderr] error: only a person may require no receipt any more for what goes out, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx policy set receipt=not-required` in a terminal of their own
    [exit 1]
    $ loopx policy set receipt=maybe
    [stderr] error: invalid value 'receipt=maybe' for '<RULE>'
    [stderr]   [possible values: approval=signed, approval=terminal, receipt=required, receipt=not-required]
    [stderr]
    [stderr]   tip: a similar value exists: 'receipt=required'
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    repo.write("repo/feature.txt", "new");
    assert_snapshot!(repo.scene("
        loopx evidence run --receipt --agent-id a -- sh -c 'exit 1'
        loopx guard check --for publish --json
        loopx evidence run --receipt --agent-id a -- sh -c 'echo artefact > made.txt'
        loopx guard check --for publish
        loopx evidence run --agent-id a -- true
        loopx guard check --for publish
        loopx evidence run --receipt --agent-id a -- true
        loopx guard check --for publish
        loopx guard check --for push
        git add -A
        git commit -q -m feature
        loopx guard check --for push
        git push -q origin main
        git commit -q --allow-empty -m empty
        git push -q origin main
    "), @r#"
    $ loopx evidence run --receipt --agent-id a -- sh -c 'exit 1'
    [exit 1]
    $ loopx guard check --for publish --json
    {
      "schema_version": 1,
      "for": "publish",
      "allowed": false,
      "gates": [],
      "unchecked": "[ID]",
      "tip": "[ID]"
    }
    [exit 10]
    $ loopx evidence run --receipt --agent-id a -- sh -c 'echo artefact > made.txt'
    [stderr] warning: no receipt was made: the command changed the files that it looked at
    $ loopx guard check --for publish
    loopx: publish refused: nothing shows that what lies in this worktree was checked (tree [ID])
    hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [exit 10]
    $ loopx evidence run --agent-id a -- true
    $ loopx guard check --for publish
    loopx: publish refused: nothing shows that what lies in this worktree was checked (tree [ID])
    hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [exit 10]
    $ loopx evidence run --receipt --agent-id a -- true
    $ loopx guard check --for publish
    publish allowed: no gate stands in its way
    $ loopx guard check --for push
    loopx: push refused: nothing shows that `HEAD` was checked (tree [ID])
    hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [exit 10]
    $ git add -A
    $ git commit -q -m feature
    $ loopx guard check --for push
    push allowed: no gate stands in its way
    $ git push -q origin main
    $ git commit -q --allow-empty -m empty
    $ git push -q origin main
    "#);
    repo.commit("unchecked");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin HEAD~1:refs/heads/checked
        git push -q origin :refs/heads/checked
        loopx guard run --for publish -- touch ran
    "), @"
    $ git push -q origin main
    [stderr] loopx: push refused: nothing shows that `refs/heads/main` was checked (tree [ID])
    [stderr] hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin HEAD~1:refs/heads/checked
    $ git push -q origin :refs/heads/checked
    $ loopx guard run --for publish -- touch ran
    [stderr] loopx: publish refused: nothing shows that what lies in this worktree was checked (tree [ID])
    [stderr] hint: check exactly these files with `loopx evidence run --receipt -- <command>`
    [exit 10]
    ");
    assert_snapshot!(repo.person("policy set receipt=not-required", "not-required"), @"
    policy
      repository  [ID]
      approval    terminal
      receipt     required
      changed     by a, 25 s ago
    This will require no receipt any more for what goes out

    Type `not-required` to require no receipt any more for what goes out: not-required
    what goes out needs no receipt
    ");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git log --format=%s -3 loopx/state
        loopx verify
    "), @"
    $ git push -q origin main
    $ git log --format=%s -3 loopx/state
    require no receipt any more for what goes out
    add evidence e-narq for goal ship: exit 0, 0 s: true
    add evidence e-e9sz for goal ship: exit 0, 0 s: true
    $ loopx verify
    8 commits (8 new commits): each is one legal mutation, signed off
    ");
}
