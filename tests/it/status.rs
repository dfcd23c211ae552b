//! The whole on one screen, and what happened.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn status_says_what_waits_before_what_goes_on() {
    let repo = Sandbox::ready();
    let first = repo.todo("'Write the schema' --priority p1");
    repo.todo("'Sign the contract' --for person");
    repo.loopx(&format!("todo claim {first} --agent-id codex-1")).success();
    repo.loopx("gate open 'Review generated API schema?' --gate-id review --agent-id codex-1").success();
    repo.sleep(7_200);
    assert_snapshot!(repo.loopx("status"), @"
    1 question waits for you
      review  open  by codex-1, 2 h ago  Review generated API schema?
      a person answers with `loopx gate resolve review --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship v2
    2 todos open
      t-fdjx  p1  claim of codex-1 ran out  Write the schema
      t-7p0h  p2  open, for a person        Sign the contract
    pushes are guarded
    ");
}

#[test]
fn status_as_one_document() {
    let repo = Sandbox::ready();
    repo.todo("one");
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.loopx("status --json"), @r#"
    {
      "schema_version": 1,
      "branch": "loopx/state",
      "tip": "[ID]",
      "goals": [
        {
          "id": "ship",
          "objective": "Ship v2",
          "state": {
            "is": "active"
          },
          "quota": {
            "compute": 1.0,
            "window_hours": 24,
            "slot_minutes": 30,
            "cap_slots": null,
            "allowed_slots": 48,
            "spent_slots": 0,
            "grants": []
          }
        }
      ],
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
            "turn",
            "push",
            "publish"
          ],
          "asked": {
            "by": "agent:a",
            "at": "2026-11-30T12:00:06Z"
          },
          "state": {
            "is": "open"
          }
        }
      ],
      "todos": [
        {
          "id": "t-fdjx",
          "goal": "ship",
          "title": "one",
          "for": "agent",
          "priority": "p2",
          "added": {
            "by": "Ann <ann@example.test>",
            "at": "2026-11-30T12:00:05Z"
          },
          "state": {
            "is": "open"
          }
        }
      ],
      "enforcement": {
        "active": true,
        "by": "file",
        "hook": "[ROOT]/repo/.git/hooks/pre-push"
      },
      "distrust": null,
      "view": null
    }
    "#);
}

#[test]
fn a_long_list_is_cut_and_counted() {
    let repo = Sandbox::ready();
    (0..14).for_each(|n| drop(repo.todo(&format!("todo-{n:02}"))));
    assert_snapshot!(repo.loopx("status"), @"
    1 goal
      ship  active  0/48 slots  Ship v2
    14 todos open
      t-fdjx  p2  open  todo-00
      t-7p0h  p2  open  todo-01
      t-s29v  p2  open  todo-02
      t-c22j  p2  open  todo-03
      t-sry7  p2  open  todo-04
      t-a4wn  p2  open  todo-05
      t-f8b6  p2  open  todo-06
      t-bhmh  p2  open  todo-07
      t-zv3z  p2  open  todo-08
      t-578h  p2  open  todo-09
      t-69t5  p2  open  todo-10
      t-hyph  p2  open  todo-11
      and 2 more
    pushes are guarded
    ");
}

#[test]
fn history_tells_the_story_newest_first() {
    let repo = Sandbox::ready();
    let id = repo.todo("one --agent-id a");
    repo.loopx(&format!("todo done {id} --agent-id a")).success();
    repo.forge("notes.txt", "mine");
    assert_snapshot!(repo.scene("
        loopx history
        loopx history -n 2
        loopx history -n 0
        loopx history -n=-1
        loopx history -n 1 --json
    "), @r#"
    $ loopx history
      [ID]  just now  not made by loopx  forged
      [ID]  7 s ago   agent:a            complete todo t-fdjx: one
      [ID]  8 s ago   agent:a            add todo t-fdjx: one
      [ID]  9 s ago   person             add goal ship: Ship v2
      [ID]  9 s ago   person             begin loopx state
    $ loopx history -n 2
      [ID]  just now  not made by loopx  forged
      [ID]  8 s ago   agent:a            complete todo t-fdjx: one
    $ loopx history -n 0
    $ loopx history -n=-1
    [stderr] error: invalid value '-1' for '--limit <NUMBER>': invalid digit found in string
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx history -n 1 --json
    {
      "schema_version": 1,
      "entries": [
        {
          "commit": "[ID]",
          "at": "2026-11-30T12:00:11Z",
          "subject": "forged",
          "op": null,
          "actor": null,
          "goal": null,
          "records": [],
          "turn": null,
          "signed_off_by": null
        }
      ]
    }
    "#);
}

#[test]
fn no_configuration_of_the_user_changes_what_is_read_or_said() {
    let mut repo = Sandbox::with_remote();
    for setting in [
        "color.ui always",
        "log.showSignature true",
        "core.quotePath true",
        "diff.noprefix true",
        "status.showUntrackedFiles no",
        "format.pretty oneline",
        "core.autocrlf true",
    ] {
        repo.git(&format!("config --global {setting}")).success();
    }
    repo.env("LC_ALL", "de_DE.UTF-8");
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        loopx todo add Grüße
        loopx status
        loopx evidence add --commit HEAD
        git -C .loopx -c color.ui=never status --porcelain
    "), @"
    $ loopx todo add Grüße
    added todo t-53mf: Grüße
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-53mf  p2  open  Grüße
    pushes are guarded
    $ loopx evidence add --commit HEAD
    added evidence e-m0hj: commit [ID] feature
    $ git -C .loopx -c color.ui=never status --porcelain
    ");
}

#[test]
fn a_hook_of_the_users_that_calls_loopx_or_fails_does_not_meddle() {
    let repo = Sandbox::with_remote();
    let hooks = [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
    ];
    for hook in hooks {
        repo.script(&format!("repo/.git/hooks/{hook}"), "#!/bin/sh\necho ran >>\"$HOME/ran\"\nexit 1\n");
    }
    std::fs::remove_dir_all(repo.path("repo/.loopx")).expect("the folder");
    assert_snapshot!(repo.scene("
        loopx init
        loopx goal add Other
        loopx todo add one --goal-id other
    "), @"
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx goal add Other
    added goal other: Other
    $ loopx todo add one --goal-id other
    added todo t-a4wn: one
    ");
    assert!(!repo.path("home/ran").exists());
}

#[test]
fn called_from_a_hook_the_index_in_use_is_not_touched() {
    let repo = Sandbox::ready();
    let hook = format!("#!/bin/sh\n{} todo add 'from a hook'\n", crate::sandbox::LOOPX);
    repo.script("repo/.git/hooks/pre-commit", &hook);
    repo.write("repo/base.txt", "changed");
    assert_snapshot!(repo.scene("
        git commit -q -a -m all
        git ls-tree -r --name-only HEAD
        git status --porcelain
    "), @"
    $ git commit -q -a -m all
    [stderr] added todo t-fdjx: from a hook
    $ git ls-tree -r --name-only HEAD
    base.txt
    $ git status --porcelain
    ");
    repo.write("repo/base.txt", "changed again");
    assert_snapshot!(repo.scene("
        git commit -q -m path -- base.txt
        git ls-tree -r --name-only HEAD
        git status --porcelain
        loopx todo list
    "), @"
    $ git commit -q -m path -- base.txt
    [stderr] added todo t-c22j: from a hook
    $ git ls-tree -r --name-only HEAD
    base.txt
    $ git status --porcelain
    $ loopx todo list
      t-fdjx  p2  open  from a hook
      t-c22j  p2  open  from a hook
    ");
}

#[test]
fn completions_for_every_shell() {
    let repo = Sandbox::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = repo.loopx(&format!("completions {shell}")).success().stdout;
        assert!(script.contains("configure-goal"), "{shell}: {script}");
    }
    assert_snapshot!(repo.loopx("completions tcsh"), @"
    [stderr] error: invalid value 'tcsh' for '<SHELL>'
    [stderr]   [possible values: bash, elvish, fish, powershell, zsh]
    [stderr]
    [stderr]   tip: a similar value exists: 'zsh'
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn an_answer_that_nobody_got_is_no_success() {
    let repo = Sandbox::ready();
    let full = format!("{} status >/dev/full", crate::sandbox::LOOPX);
    assert_snapshot!(repo.feed("sh", &["-c", &full], ""), @"
    [stderr] error: the answer cannot be printed: No space left on device (os error 28)
    [exit 1]
    ");
    let gone = format!("{} status | true", crate::sandbox::LOOPX);
    assert_snapshot!(repo.feed("sh", &["-c", &gone], ""), @"");
}

#[test]
fn a_pipe_in_the_place_of_what_lies_at_hand_is_not_waited_for() {
    let repo = Sandbox::ready();
    let hot = repo.path("repo/.git/loopx/hot");
    std::fs::remove_file(&hot).expect("the file");
    repo.feed("mkfifo", &[&hot.display().to_string()], "").success();
    repo.loopx("status").success();
    repo.loopx("todo add one").success();
}
