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
      and 9 more: loopx todo list
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

/// Two hundred goals with a todo each, a hundred of them over or paused, and many questions.
fn crowded() -> Sandbox {
    let repo = Sandbox::ready();
    let state = repo.git("show loopx/state:goals/ship/state.json").success().stdout;
    let todo = repo.todo("work");
    let todo = repo.git(&format!("show loopx/state:goals/ship/todos/{todo}.toml")).success().stdout;
    let mut files = Vec::new();
    for number in 0..200 {
        let goal = format!("goals/goal-{number:03}");
        let objective = format!("Objective number {number}, which says at some length what is to be reached");
        let mut state = state.replace("Ship v2", &objective);
        if number < 100 {
            let paused = "\"is\": \"paused\",\n    \"by\": \"agent:a\",\n    \"at\": \"2026-11-30T12:00:00Z\",\n    \"reason\": null";
            state = state.replace("\"is\": \"active\"", paused);
        }
        files.push((format!("{goal}/state.json"), state));
        let title = format!("Todo of goal {number}, with a title that goes on beyond what a screen has");
        files.push((format!("{goal}/todos/t-{number:04}.toml"), todo.replace("work", &title)));
    }
    repo.forge_files(&files, "forged\n");
    repo.write("repo/.git/loopx/writer", &format!("idle {} loopx/state", repo.tip().trim()));
    for number in 190..199 {
        let question = "May this go on although nobody has looked at it for a while by now?";
        let ask = format!(
            "gate open '{question}' --goal-id goal-{number:03} --gate-id ask-{number} --blocks push --agent-id a"
        );
        repo.loopx(&ask).success();
    }
    repo
}

#[test]
fn two_hundred_goals_fit_on_one_screen_and_what_waits_comes_first() {
    let repo = crowded();
    let status = repo.loopx("status");
    assert!(status.stdout.lines().count() <= 24, "{status}");
    assert!(status.stdout.lines().all(|line| line.chars().count() <= 80 || line.contains('`')), "{status}");
    assert_snapshot!(status, @"
    9 questions wait for you
      ask-190  open  by a, 9 s ago   May this go on although nobody has looked at i…
      ask-191  open  by a, 8 s ago   May this go on although nobody has looked at i…
      ask-192  open  by a, 7 s ago   May this go on although nobody has looked at i…
      ask-193  open  by a, 6 s ago   May this go on although nobody has looked at i…
      ask-194  open  by a, 5 s ago   May this go on although nobody has looked at i…
      ask-195  open  by a, just now  May this go on although nobody has looked at i…
      and 3 more: loopx gate list
      a person answers with `loopx gate resolve ask-190 --decision approve` (or `reject`)
    201 goals
      goal-190  active  0/48 slots  Objective number 190, which says at some length…
      goal-191  active  0/48 slots  Objective number 191, which says at some length…
      goal-192  active  0/48 slots  Objective number 192, which says at some length…
      goal-193  active  0/48 slots  Objective number 193, which says at some length…
      goal-194  active  0/48 slots  Objective number 194, which says at some length…
      and 196 more: loopx goal list
    201 todos open
      t-0100  p2  open  Todo of goal 100, with a title that goes on beyond what a s…
      t-0101  p2  open  Todo of goal 101, with a title that goes on beyond what a s…
      t-0102  p2  open  Todo of goal 102, with a title that goes on beyond what a s…
      t-0103  p2  open  Todo of goal 103, with a title that goes on beyond what a s…
      t-0104  p2  open  Todo of goal 104, with a title that goes on beyond what a s…
      and 196 more: loopx todo list
    pushes are guarded
    ");
    assert_eq!(repo.loopx("status --json").json()["goals"].as_array().map(Vec::len), Some(201));
}

#[test]
fn colours_repeat_what_the_words_say() {
    let mut repo = Sandbox::ready();
    repo.loopx("gate open Ready? --agent-id a").success();
    let plain = repo.person_raw("status", "").stdout;
    assert!(!plain.contains('\u{1b}'), "nothing says that the terminal has colours: {plain}");
    repo.env("TERM", "xterm-256color");
    let coloured = repo.person("status", "").stdout;
    assert_snapshot!(coloured.replace('\u{1b}', "^"), @"
    ^[1;31m1 question waits for you^[0m
      ready  open  by a, just now  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    ^[1m1 goal^[0m
      ship  active  0/48 slots  Ship v2
    ^[1m0 todos open^[0m
    ^[2mpushes are guarded^[0m
    ");
    assert!(!repo.loopx("status").stdout.contains('\u{1b}'), "a pipe has none");
    repo.env("NO_COLOR", "1");
    assert!(!repo.person_raw("status", "").stdout.contains('\u{1b}'));
}
