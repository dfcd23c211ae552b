//! Pushes that went round the hook: they are shown at once, recorded by the next mutation, and a person acknowledges them.

use std::{fs, os::unix::fs::MetadataExt as _, thread};

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

/// A repository with a commit that a gate keeps back.
fn gated() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.commit("feature");
    repo
}

/// The id of the only open record.
#[track_caller]
fn only(repo: &Sandbox) -> String {
    let found = repo.loopx("bypass list --json").success().json();
    let [record] = &found["bypasses"].as_array().expect("a list")[..] else { panic!("{found}") };
    record["id"].as_str().expect("an id").to_owned()
}

/// What was recorded and what was not yet, a line each.
fn listed(repo: &Sandbox) -> String {
    repo.loopx("bypass list").success().to_string()
}

#[test]
fn it_is_seen_at_once_recorded_by_the_next_mutation_and_acknowledged_by_a_person() {
    let repo = gated();
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q --no-verify origin main
        loopx status
        loopx quota should-run
        loopx gate list
        loopx todo list --json
        loopx history --limit 1
        loopx todo add one --agent-id b
        loopx history --limit 2
        loopx bypass list
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --no-verify origin main
    $ loopx status
    1 question waits for you
      ready  open  by a, 5 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    A PUSH WENT ROUND THE HOOK, and nobody has acknowledged it
      -  not recorded yet  origin refs/heads/main  [ID]  just now  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge`
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ loopx quota should-run
    false – user gate pending: "Ready?"
    why: everything that could be done waits for a person
    next: loopx gate resolve ready --decision approve
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    [exit 10]
    $ loopx gate list
      ready  open  by a, 7 s ago  Ready?
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    $ loopx todo list --json
    {
      "schema_version": 1,
      "todos": [],
      "bypass": {
        "unacknowledged": 0,
        "unrecorded": 1,
        "gated": true,
        "next": "loopx bypass list"
      }
    }
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    $ loopx history --limit 1
      [ID]  9 s ago  agent:a  open gate ready: Ready?
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, 5 s ago (see `loopx bypass list`)
    $ loopx todo add one --agent-id b
    added todo t-e9sz: one
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, 6 s ago (see `loopx bypass list`)
    $ loopx history --limit 2
      [ID]  just now  agent:b  add todo t-e9sz: one
      [ID]  just now  agent:b  note a push round the hook: origin
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, 7 s ago (see `loopx bypass list`)
    $ loopx bypass list
      b-ytke  open  origin refs/heads/main  [ID]  8 s ago  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge b-ytke`
    "#);
    let id = only(&repo);
    assert_snapshot!(repo.scene(&format!("
        loopx bypass show {id}
        loopx bypass acknowledge {id} --agent-id b
        loopx bypass acknowledge {id}
    ")), @"
    $ loopx bypass show b-ytke
    bypass b-ytke: a push went round the hook
      to      origin refs/heads/main
      commit  [ID]
      pushed  10 s ago
      way     with --no-verify or a setting like it
      gates   ship/ready
      noted   by b, just now
      state   open
    $ loopx bypass acknowledge b-ytke --agent-id b
    [stderr] error: only a person may acknowledge bypass `b-ytke`, and this is agent `b` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx bypass acknowledge b-ytke` in a terminal of their own
    [exit 1]
    $ loopx bypass acknowledge b-ytke
    [stderr] error: only a person at a terminal may acknowledge bypass `b-ytke`, and there is none
    [stderr] hint: run `loopx bypass acknowledge b-ytke` in a terminal
    [exit 1]
    ");
    assert_snapshot!(repo.person(&format!("bypass acknowledge {id} --note 'it was me'"), &id), @"
    bypass b-ytke: a push went round the hook
      to      origin refs/heads/main
      commit  [ID]
      pushed  13 s ago
      way     with --no-verify or a setting like it
      gates   ship/ready
      noted   by b, 7 s ago
      state   open

    Type `b-ytke` to acknowledge bypass `b-ytke`: b-ytke
    bypass b-ytke is acknowledged
    ");
    assert_snapshot!(repo.scene(&format!("
        loopx bypass acknowledge {id}
        loopx bypass list
        loopx bypass list --all
        loopx status
        loopx verify --all
        loopx history --limit 3
    ")), @"
    $ loopx bypass acknowledge b-ytke
    [stderr] error: bypass `b-ytke` was acknowledged already, by Ann at 2026-11-30T12:00:25Z
    [stderr] hint: run `loopx bypass show b-ytke`
    [exit 1]
    $ loopx bypass list
    $ loopx bypass list --all
      b-ytke  acknowledged  origin refs/heads/main  [ID]  16 s ago  with --no-verify or a setting like it, against ship/ready
    $ loopx status
    1 question waits for you
      ready  open  by a, 21 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-e9sz  p2  open  one
    pushes are guarded
    $ loopx verify --all
    6 commits (6 new commits): each is one legal mutation, signed off
    $ loopx history --limit 3
      [ID]  6 s ago   person   acknowledge bypass b-ytke
      [ID]  13 s ago  agent:b  add todo t-e9sz: one
      [ID]  13 s ago  agent:b  note a push round the hook: origin
    ");
    assert_snapshot!(repo.read(&format!("repo/.loopx/bypasses/closed/{id}.toml")), @r#"
    format = "1.0"
    [push]
    remote = "origin"
    ref = "refs/heads/main"
    commit = "825dd04051d10815e47a42a260c5c5ea61c4796f"
    at = "2026-11-30T12:00:12Z"
    way = "no-verify"
    gates = ["ship/ready"]

    [noted]
    by = "agent:b"
    at = "2026-11-30T12:00:18Z"

    [state]
    is = "acknowledged"
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:25Z"
    note = "it was me"

    [state.proof]
    kind = "terminal"
    typed = "b-ytke"
    "#);
}

#[test]
fn as_documents() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    assert_snapshot!(repo.scene("
        loopx gate list --json
        loopx bypass list --json
        loopx todo add one --json --agent-id b
    "), @r#"
    $ loopx gate list --json
    {
      "schema_version": 1,
      "gates": [
        {
          "id": "ready",
          "goal": "ship",
          "age_seconds": 4,
          "question": "Ready?",
          "options": [
            "approve",
            "reject"
          ],
          "blocks": [
            "turn",
            "push",
            "publish"
          ],
          "asked": {
            "by": "agent:a",
            "at": "2026-11-30T12:00:08Z"
          },
          "state": {
            "is": "open"
          }
        }
      ],
      "bypass": {
        "unacknowledged": 0,
        "unrecorded": 1,
        "gated": true,
        "next": "loopx bypass list"
      }
    }
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    $ loopx bypass list --json
    {
      "schema_version": 1,
      "bypasses": [],
      "unrecorded": [
        {
          "remote": "origin",
          "ref": "refs/heads/main",
          "commit": "[ID]",
          "at": "2026-11-30T12:00:11Z",
          "way": "no-verify",
          "gates": [
            "ship/ready"
          ]
        }
      ]
    }
    $ loopx todo add one --json --agent-id b
    {
      "schema_version": 1,
      "id": "t-578h",
      "goal": "ship",
      "title": "one",
      "for": "agent",
      "priority": "p2",
      "added": {
        "by": "agent:b",
        "at": "2026-11-30T12:00:14Z"
      },
      "state": {
        "is": "open"
      },
      "commit": "[ID]",
      "warnings": [],
      "bypass": {
        "unacknowledged": 1,
        "unrecorded": 0,
        "gated": true,
        "next": "loopx bypass list"
      }
    }
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    "#);
    let id = only(&repo);
    assert_snapshot!(repo.loopx(&format!("bypass show {id} --json")), @r#"
    {
      "schema_version": 1,
      "id": "b-kteq",
      "age_seconds": 5,
      "push": {
        "remote": "origin",
        "ref": "refs/heads/main",
        "commit": "[ID]",
        "at": "2026-11-30T12:00:11Z",
        "way": "no-verify",
        "gates": [
          "ship/ready"
        ]
      },
      "noted": {
        "by": "agent:b",
        "at": "2026-11-30T12:00:14Z"
      },
      "state": {
        "is": "open"
      }
    }
    "#);
}

#[test]
fn what_the_hook_allowed_and_what_is_not_a_push_is_no_bypass() {
    let repo = Sandbox::with_remote();
    repo.commit("one");
    repo.git("push -q origin main main:next").success();
    repo.git("clone -q ../hub.git ../other").success();
    repo.git("-C ../other -c user.name=B -c user.email=b@x commit -q --allow-empty -m two").success();
    repo.git("-C ../other push -q origin main").success();
    repo.git("fetch -q").success();
    repo.git("merge -q --ff-only origin/main").success();
    repo.git("push -q origin :next").success();
    repo.git("push -q origin main").success();
    repo.git("remote rename origin hub").success();
    assert_snapshot!(repo.scene("
        loopx bypass list
        loopx status
        loopx todo add one
        loopx bypass list
        git push -q hub main:third
        loopx bypass list
    "), @"
    $ loopx bypass list
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ loopx todo add one
    added todo t-fb6j: one
    $ loopx bypass list
    $ git push -q hub main:third
    $ loopx bypass list
    ");
}

#[test]
fn the_way_round_is_told() {
    let repo = Sandbox::with_remote();
    for (number, push) in [
        "push -q --no-verify origin main:a",
        "-c core.hooksPath=/dev/null push -q origin main:b",
        "push -q origin main:c",
        "push -q origin main:d",
    ]
    .into_iter()
    .enumerate()
    {
        if number == 2 {
            fs::remove_file(repo.path("repo/.git/hooks/pre-push")).expect("the hook is there");
        }
        repo.git(push).success();
        repo.loopx(&format!("todo add work-{number}")).success();
    }
    repo.loopx("hooks install").success();
    // As JGit leaves it.
    let log = "repo/.git/logs/refs/remotes/origin/main";
    let line = repo.read(log).lines().last().expect("a line").replace("update by push", "push: fast-forward");
    repo.write(log, &format!("{}{line}\n", repo.read(log)));
    assert_snapshot!(repo.scene("
        loopx bypass list
        loopx doctor
        loopx verify --all
    "), @"
    $ loopx bypass list
      b-c40v  open  origin refs/heads/a  [ID]  9 s ago  with --no-verify or a setting like it
      b-6c64  open  origin refs/heads/b  [ID]  7 s ago  with --no-verify or a setting like it
      b-d2cr  open  origin refs/heads/c  [ID]  5 s ago  while git would not run the hook
      a person acknowledges it with `loopx bypass acknowledge b-c40v`
    $ loopx doctor
    a push to 3 places went round the hook, and nobody has acknowledged it
      run `loopx bypass acknowledge b-c40v`
    1 problem found
    [stderr] warning: pushes to 3 places went round the hook (see `loopx bypass list`)
    [exit 1]
    $ loopx verify --all
    9 commits (9 new commits): each is one legal mutation, signed off
    [stderr] warning: pushes to 3 places went round the hook (see `loopx bypass list`)
    ");
}

#[test]
fn several_pushes_between_two_looks_are_one_record_for_each_ref() {
    let repo = gated();
    for name in ["two", "three"] {
        repo.commit(name);
        repo.git("push -q --no-verify origin main").success();
    }
    repo.git("push -q --no-verify origin main:next").success();
    repo.loopx("todo add one").success();
    repo.commit("four");
    repo.git("push -q --no-verify origin main").success();
    assert_snapshot!(listed(&repo), @"
    b-ytke  open              origin refs/heads/main  [ID]  6 s ago   with --no-verify or a setting like it, against ship/ready
    b-ja6p  open              origin refs/heads/next  [ID]  5 s ago   with --no-verify or a setting like it, against ship/ready
    -       not recorded yet  origin refs/heads/main  [ID]  just now  with --no-verify or a setting like it, against ship/ready
    a person acknowledges it with `loopx bypass acknowledge b-ytke`
    ");
    repo.loopx("todo add two").success();
    let branches: String = (0..40).map(|number| format!(" main:many-{number:02}")).collect();
    repo.git(&format!("push -q --no-verify origin{branches}")).success();
    repo.loopx("todo add three").success();
    repo.loopx("todo add four").success();
    assert_snapshot!(listed(&repo), @"
    b-ytke  open  origin refs/heads/main                 [ID]  11 s ago  with --no-verify or a setting like it, against ship/ready
    b-ja6p  open  origin refs/heads/next                 [ID]  10 s ago  with --no-verify or a setting like it, against ship/ready
    b-pbj3  open  origin refs/heads/main                 [ID]  6 s ago   with --no-verify or a setting like it, against ship/ready
    b-t00z  open  origin refs/heads/many-00 and 39 more  [ID]  just now  with --no-verify or a setting like it, against ship/ready
    a person acknowledges it with `loopx bypass acknowledge b-ytke`
    ");
    assert_snapshot!(repo.loopx("verify --all"), @"
    10 commits (10 new commits): each is one legal mutation, signed off
    [stderr] warning: pushes to 4 places went round the hook while a gate was open (see `loopx bypass list`)
    ");
}

#[test]
fn a_push_that_was_only_tried_does_not_allow_a_later_one() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.git("push -q --dry-run origin main").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.git("push -q --no-verify origin main").success();
    assert_snapshot!(listed(&repo), @"
    -  not recorded yet  origin refs/heads/main  [ID]  just now  in a way that cannot be told, against ship/ready
    a person acknowledges it with `loopx bypass acknowledge`
    ");
}

#[test]
fn what_was_pushed_before_the_hook_was_there_is_not_held_against_anybody() {
    let repo = Sandbox::plain();
    repo.git("init -q --bare ../hub.git").success();
    repo.git("remote add origin ../hub.git").success();
    repo.git("push -q -u origin main").success();
    repo.loopx("init --no-hooks --goal-text 'Ship v2' --goal-id ship").success();
    repo.git("push -q origin main:next").success();
    repo.loopx("todo add one").success();
    repo.loopx("hooks install").success();
    repo.loopx("todo add two").success();
    assert_snapshot!(listed(&repo), @"");
    repo.git("push -q --no-verify origin main:third").success();
    assert_snapshot!(listed(&repo), @"
    -  not recorded yet  origin refs/heads/third  [ID]  just now  with --no-verify or a setting like it
    a person acknowledges it with `loopx bypass acknowledge`
    ");
}

#[test]
fn removing_the_notes_brings_suspicion_and_hides_nothing_that_was_recorded() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    let notes = ["pushes", "verdicts"].map(|name| repo.path(&format!("repo/.git/loopx/{name}")));
    let mut told = String::new();
    for (what, removed) in [("marks", &notes[..1]), ("verdicts", &notes[1..]), ("both", &notes[..])] {
        let kept = notes.clone().map(|path| fs::read(path).expect("a note"));
        removed.iter().for_each(|path| fs::remove_file(path).expect("a note"));
        told += &format!("without {what}:\n{}", listed(&repo));
        notes.iter().zip(kept).for_each(|(path, bytes)| fs::write(path, bytes).expect("a note"));
    }
    repo.loopx("todo add one").success();
    notes.iter().for_each(|path| fs::remove_file(path).expect("a note"));
    told += &format!("recorded:\n{}", listed(&repo));
    assert_snapshot!(told, @"
    without marks:
      -  not recorded yet  origin refs/heads/main  [ID]  just now  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge`
    without verdicts:
      -  not recorded yet  origin refs/heads/main  [ID]  just now  in a way that cannot be told, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge`
    without both:
    recorded:
      b-p1nn  open  origin refs/heads/main  [ID]  5 s ago  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge b-p1nn`
    ");
}

#[test]
fn logs_that_git_cut_or_moved_are_not_counted_anew() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    repo.loopx("todo add one").success();
    let before = only(&repo);
    repo.git("reflog expire --expire=2026-11-30T12:00:09Z --all").success();
    let log = repo.read("repo/.git/logs/refs/remotes/origin/main");
    assert_eq!(log.lines().count(), 1, "the first push is forgotten: {log}");
    repo.git("gc -q").success();
    repo.git("remote rename origin hub").success();
    assert_eq!(only(&repo), before);
    repo.git("push -q --no-verify hub main:next").success();
    repo.loopx("todo add two").success();
    assert_snapshot!(listed(&repo), @"
    b-g69m  open  origin refs/heads/main  [ID]  9 s ago   with --no-verify or a setting like it, against ship/ready
    b-83kp  open  hub refs/heads/next     [ID]  just now  with --no-verify or a setting like it, against ship/ready
    a person acknowledges it with `loopx bypass acknowledge b-g69m`
    ");
}

#[test]
fn two_writers_at_once_record_it_once() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    let program = &repo.program(LOOPX);
    thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || program.run(&words(&format!("todo add work-{number}"))).success());
        }
    });
    only(&repo);
    assert_snapshot!(repo.loopx("verify --all"), @"
    12 commits (12 new commits): each is one legal mutation, signed off
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    ");
}

#[test]
fn a_refused_command_records_nothing() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    let tip = repo.tip();
    assert_snapshot!(repo.scene("
        loopx gate open Again? --gate-id ready
        loopx bypass list
    "), @"
    $ loopx gate open Again? --gate-id ready
    [stderr] error: there is a gate `ready` already, and an id is used once
    [stderr] hint: run `loopx gate show ready`, or choose another `--gate-id`
    [exit 1]
    $ loopx bypass list
      -  not recorded yet  origin refs/heads/main  [ID]  just now  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge`
    ");
    assert_eq!(repo.tip(), tip);
}

#[test]
fn a_verdict_that_cannot_be_noted_changes_nothing_for_the_push() {
    let repo = Sandbox::with_remote();
    let verdicts = repo.path("repo/.git/loopx/verdicts");
    fs::remove_file(&verdicts).expect("a note");
    fs::create_dir(&verdicts).expect("a folder");
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx bypass list
        loopx gate open Ready? --agent-id a
        git push -q origin main:next
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: this push is allowed, and will look like one that went round the hook: cannot write to `[ROOT]/repo/.git/loopx/verdicts`: it is no plain file
    $ loopx bypass list
      -  not recorded yet  origin refs/heads/main  [ID]  just now  in a way that cannot be told
      a person acknowledges it with `loopx bypass acknowledge`
    $ loopx gate open Ready? --agent-id a
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook, just now (see `loopx bypass list`)
    $ git push -q origin main:next
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn an_agent_that_forges_an_acknowledgement_is_found_out() {
    let repo = gated();
    repo.git("push -q --no-verify origin main").success();
    repo.loopx("todo add one --agent-id a").success();
    let id = only(&repo);
    let record = repo.read(&format!("repo/.loopx/bypasses/{id}.toml"));
    let milder = record.replace("gates = [\"ship/ready\"]\n", "");
    repo.forge_as(
        &format!("bypasses/{id}.toml"),
        &milder,
        &format!("acknowledge bypass {id}\n\nLoopx-Op: bypass.acknowledge\nLoopx-Record: bypass/{id}\nLoopx-Actor: agent:a\nSigned-off-by: Ann <ann@example.test>\n"),
    );
    assert_snapshot!(repo.loopx("verify"), @r#"
    NOT A LEGAL MUTATION: [ID] "acknowledge bypass b-g69m", just now: only a person may do that, and a did
      see it with `git show [ID]`
      all is well up to the commit before it; go back with `git update-ref refs/heads/loopx/state [ID]`,
      or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook, 9 s ago (see `loopx bypass list`)
    [exit 1]
    "#);
}

#[test]
fn a_record_travels_with_the_state() {
    let mut repo = gated();
    repo.git("push -q --no-verify origin main").success();
    repo.loopx("todo add one").success();
    repo.loopx("export ../state.jsonl").success();
    repo.git("clone -q ../hub.git ../copy").success();
    repo.cd("copy").loopx("init").success();
    let asked = repo.person_raw("import ../state.jsonl", "").stdout;
    let word = asked.split('`').nth(1).expect("a word").to_owned();
    repo.person("import ../state.jsonl", &word).success();
    assert_snapshot!(repo.scene("
        loopx bypass list
        loopx verify
    "), @"
    $ loopx bypass list
      b-g69m  open  origin refs/heads/main  [ID]  7 s ago  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge b-g69m`
    $ loopx verify
    2 commits (2 new commits): each is one legal mutation, signed off
    [stderr] warning: a push to `refs/heads/main` on `origin` went round the hook while a gate was open, 8 s ago (see `loopx bypass list`)
    ");
}

#[test]
fn where_refs_are_in_reftables_the_program_git_is_asked() {
    let repo = Sandbox::empty();
    if repo.git("init -q -b main --ref-format=reftable .").code != 0 {
        return;
    }
    repo.commit("base");
    repo.loopx("init --goal-text 'Ship v2' --goal-id ship").success();
    repo.git("init -q --bare ../hub.git").success();
    repo.git("remote add origin ../hub.git").success();
    repo.git("push -q origin main").success();
    repo.git("push -q --no-verify origin main:next").success();
    assert_snapshot!(repo.scene("
        loopx goal list
        loopx doctor
        loopx bypass list
        loopx todo add one
        loopx todo add two
        loopx bypass list
    "), @"
    $ loopx goal list
      ship  active  Ship v2
    $ loopx doctor
    a push to 1 place went round the hook, and nobody has acknowledged it
      run `loopx bypass acknowledge`
    1 problem found
    [stderr] warning: a push to `refs/heads/next` on `origin` went round the hook, just now (see `loopx bypass list`)
    [exit 1]
    $ loopx bypass list
      -  not recorded yet  origin refs/heads/next  [ID]  just now  with --no-verify or a setting like it
      a person acknowledges it with `loopx bypass acknowledge`
    $ loopx todo add one
    added todo t-bhmh: one
    [stderr] warning: a push to `refs/heads/next` on `origin` went round the hook, just now (see `loopx bypass list`)
    $ loopx todo add two
    added todo t-zv3z: two
    [stderr] warning: a push to `refs/heads/next` on `origin` went round the hook, 5 s ago (see `loopx bypass list`)
    $ loopx bypass list
      b-g69m  open  origin refs/heads/next  [ID]  6 s ago  with --no-verify or a setting like it
      a person acknowledges it with `loopx bypass acknowledge b-g69m`
    ");
}

/// Lets the folders of refs be as old as they are a while after the last mutation.
fn let_the_dust_settle(repo: &Sandbox) {
    let marks = repo.read("repo/.git/loopx/pushes");
    let settled = marks.lines().map(|line| match line.strip_prefix("folder recent ") {
        None => format!("{line}\n"),
        Some(name) => {
            let folder = repo.path(&format!("repo/.git/refs/remotes/{name}"));
            let meta = fs::metadata(folder).expect("a folder of refs");
            format!("folder {}.{:09} {name}\n", meta.ctime(), meta.ctime_nsec())
        }
    });
    repo.write("repo/.git/loopx/pushes", &settled.collect::<String>());
}

#[test]
fn a_read_looks_at_the_logs_only_when_a_folder_of_refs_has_changed() {
    let repo = Sandbox::with_remote();
    repo.loopx("todo add one").success();
    let_the_dust_settle(&repo);
    let log = "repo/.git/logs/refs/remotes/origin/main";
    let line = format!("{} {} Ann <a@b> 1796040000 +0000\tpush: by hand\n", "0".repeat(40), "1".repeat(40));
    repo.write(log, &format!("{}{line}", repo.read(log)));
    assert_snapshot!(repo.loopx("goal list"), @"  ship  active  Ship v2");
    repo.git("push -q --no-verify origin main:deep/down").success();
    assert_snapshot!(repo.loopx("goal list"), @"
      ship  active  Ship v2
    [stderr] warning: pushes to 2 places went round the hook (see `loopx bypass list`)
    ");
    repo.loopx("todo add two").success();
    let_the_dust_settle(&repo);
    repo.git("push -q --no-verify origin main:deep/er").success();
    repo.git("pack-refs --all").success();
    assert_snapshot!(repo.loopx("goal list"), @"
      ship  active  Ship v2
    [stderr] warning: pushes to 3 places went round the hook (see `loopx bypass list`)
    ");
    repo.git("push -q --no-verify origin main:deep/est").success();
    assert_snapshot!(listed(&repo), @"
    b-e2g2  open              origin refs/heads/main       [ID]  17 s ago  by another client than git
    b-g69m  open              origin refs/heads/deep/down  [ID]  7 s ago   with --no-verify or a setting like it
    -       not recorded yet  origin refs/heads/deep/er    [ID]  just now  with --no-verify or a setting like it
    -       not recorded yet  origin refs/heads/deep/est   [ID]  just now  with --no-verify or a setting like it
    a person acknowledges it with `loopx bypass acknowledge b-e2g2`
    ");
}

#[test]
fn what_leaves_no_trace_is_not_seen() {
    let repo = gated();
    repo.git("tag v1").success();
    repo.git("push -q --no-verify ../hub.git main:by-address").success();
    repo.git("push -q --no-verify origin v1").success();
    repo.loopx("todo add one").success();
    assert_eq!(listed(&repo), "");
}

#[test]
fn what_is_not_recorded_yet_is_recorded_as_a_person_acknowledges_it() {
    let mut repo = gated();
    repo.git("push -q --no-verify origin main").success();
    repo.git("push -q --no-verify origin main:second").success();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx bypass list
        loopx doctor
        loopx bypass acknowledge --agent-id b
        loopx bypass acknowledge
    "), @"
    $ loopx bypass list
      -  not recorded yet  origin refs/heads/main    [ID]  just now  with --no-verify or a setting like it, against ship/ready
      -  not recorded yet  origin refs/heads/second  [ID]  just now  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge`
    $ loopx doctor
    a push to 2 places went round the hook while a gate was open, and nobody has acknowledged it
      run `loopx bypass acknowledge`
    1 problem found
    [stderr] warning: pushes to 2 places went round the hook while a gate was open (see `loopx bypass list`)
    [exit 1]
    $ loopx bypass acknowledge --agent-id b
    [stderr] error: only a person may acknowledge a push round the hook, and this is agent `b` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx bypass acknowledge` in a terminal of their own
    [exit 1]
    $ loopx bypass acknowledge
    [stderr] error: only a person at a terminal may acknowledge a push round the hook, and there is none
    [stderr] hint: run `loopx bypass acknowledge` in a terminal
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
    // The id that is shown depends on the seed alone.
    repo.env("LOOPX_SEED", "7");
    let shown = repo.person("bypass acknowledge", "no");
    assert_snapshot!(shown, @"
    bypass b-4gdp: a push went round the hook
      to      origin refs/heads/main
      commit  [ID]
      pushed  8 s ago
      way     with --no-verify or a setting like it
      gates   ship/ready
      noted   not yet: it will be first, in a commit of its own
      state   open

    Type `b-4gdp` to acknowledge a push round the hook: no
    error: that was not `b-4gdp`, so nothing was changed
    hint: run `loopx bypass acknowledge` again
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
    let id = shown.stdout["bypass ".len()..].split(':').next().expect("an id").to_owned();
    assert_snapshot!(repo.person("bypass acknowledge --note mine", &id), @"
    bypass b-4gdp: a push went round the hook
      to      origin refs/heads/main
      commit  [ID]
      pushed  10 s ago
      way     with --no-verify or a setting like it
      gates   ship/ready
      noted   not yet: it will be first, in a commit of its own
      state   open

    Type `b-4gdp` to acknowledge a push round the hook: b-4gdp
    bypass b-4gdp is acknowledged
    ");
    repo.clear_env();
    assert_snapshot!(repo.scene("
        loopx history --limit 3
        loopx verify --all
        loopx bypass list --all
        loopx doctor
    "), @"
    $ loopx history --limit 3
      [ID]  just now  person   acknowledge bypass b-4gdp
      [ID]  just now  person   note pushes round the hook to 2 places
      [ID]  14 s ago  agent:a  open gate ready: Ready?
    [stderr] warning: a push to `refs/heads/second` on `origin` went round the hook while a gate was open, 10 s ago (see `loopx bypass list`)
    $ loopx verify --all
    5 commits (5 new commits): each is one legal mutation, signed off
    [stderr] warning: a push to `refs/heads/second` on `origin` went round the hook while a gate was open, 11 s ago (see `loopx bypass list`)
    $ loopx bypass list --all
      b-4gdp  acknowledged  origin refs/heads/main    [ID]  13 s ago  with --no-verify or a setting like it, against ship/ready
      b-dft4  open          origin refs/heads/second  [ID]  12 s ago  with --no-verify or a setting like it, against ship/ready
      a person acknowledges it with `loopx bypass acknowledge b-dft4`
    $ loopx doctor
    a push to 1 place went round the hook while a gate was open, and nobody has acknowledged it
      run `loopx bypass acknowledge b-dft4`
    1 problem found
    [stderr] warning: a push to `refs/heads/second` on `origin` went round the hook while a gate was open, 13 s ago (see `loopx bypass list`)
    [exit 1]
    ");
    let id = only(&repo);
    assert_snapshot!(repo.person("bypass acknowledge", &id), @"
    bypass b-dft4: a push went round the hook
      to      origin refs/heads/second
      commit  [ID]
      pushed  15 s ago
      way     with --no-verify or a setting like it
      gates   ship/ready
      noted   by Ann, 6 s ago
      state   open

    Type `b-dft4` to acknowledge bypass `b-dft4`: b-dft4
    bypass b-dft4 is acknowledged
    ");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx bypass acknowledge
        loopx verify
    "), @"
    $ loopx doctor
    all is well
    $ loopx bypass acknowledge
    [stderr] error: there is no push round the hook that nobody has acknowledged
    [stderr] hint: run `loopx bypass list --all`
    [exit 1]
    $ loopx verify
    6 commits (0 new commits): each is one legal mutation, signed off
    ");
}
