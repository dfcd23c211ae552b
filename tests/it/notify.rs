//! A command of the user's is run when something begins to wait for them, and nothing waits for it.
#![expect(clippy::disallowed_methods, reason = "tests look at the world")]

use std::{
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;

use crate::{
    publishing::template,
    sandbox::{Output, Sandbox},
    transfer::digest,
};

/// Waits until a file has so many lines that end it, and returns it.
#[track_caller]
fn wait_for(repo: &Sandbox, path: &str, end: &str) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(repo.path(path)).unwrap_or_default();
        if text.contains(end) {
            return text.replace(&repo.root().display().to_string(), "[ROOT]");
        }
        assert!(Instant::now() < until, "{path} has no `{end}`: {text}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Has a script write down what it is told.
fn listen(repo: &Sandbox) -> Output {
    repo.script(
        "bin/note",
        "#!/bin/sh\nd=$(dirname \"$0\")\n{ echo \"$LOOPX_EVENT\"; cat; echo; echo end; } >>\"$d/told\"\n",
    );
    repo.person(&format!("notify set -- {}", repo.path("bin/note").display()), "notify").success()
}

/// A repository in which that is so.
fn told() -> Sandbox {
    let repo = Sandbox::with_remote();
    listen(&repo);
    repo
}

#[test]
fn a_person_says_what_is_run() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx notify show
        loopx notify test
        loopx notify set true --agent-id a
        loopx notify set -- true
        loopx notify unset
    "), @"
    $ loopx notify show
    what begins to wait is told by nothing
    $ loopx notify test
    [stderr] error: no command is set
    [stderr] hint: a person sets one with `loopx notify set -- <command>`
    [exit 1]
    $ loopx notify set true --agent-id a
    [stderr] error: only a person may have a command run when something waits, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx notify set -- <command>` in a terminal of their own
    [exit 1]
    $ loopx notify set -- true
    [stderr] error: only a person at a terminal may have a command run when something waits, and there is none
    [stderr] hint: run `loopx notify set -- <command>` in a terminal
    [exit 1]
    $ loopx notify unset
    what begins to wait is told by nothing already
    ");
    assert_snapshot!(repo.person("notify set -- sh -c 'echo heard; exit 3'", "notify"), @"
    It runs as you, whenever a gate is opened or a push round the hook is noticed:
      `sh` `-c` `echo heard; exit 3`

    Type `notify` to have a command run when something waits: notify
    what begins to wait is told by `sh` `-c` `echo heard; exit 3`
    ");
    assert_snapshot!(repo.scene("
        loopx notify show
        loopx notify test
        loopx notify test --json
        git config --local loopx.notify
        loopx notify unset
        loopx notify show --json
    "), @r#"
    $ loopx notify show
    what begins to wait is told by `sh` `-c` `echo heard; exit 3`
    $ loopx notify test
      heard
    it ended with 3
    [exit 1]
    $ loopx notify test --json
    {
      "schema_version": 1,
      "command": [
        "sh",
        "-c",
        "echo heard; exit 3"
      ],
      "ended": {
        "exit": 3
      },
      "output": "heard"
    }
    [exit 1]
    $ git config --local loopx.notify
    ["sh","-c","echo heard; exit 3"]
    $ loopx notify unset
    what begins to wait is told by nothing
    $ loopx notify show --json
    {
      "schema_version": 1,
      "command": null,
      "failures": []
    }
    "#);
}

#[test]
fn only_the_configuration_of_the_clone_counts() {
    let repo = Sandbox::ready();
    repo.git("config --global loopx.notify '[\"false\"]'").success();
    assert_snapshot!(repo.loopx("notify show"), @"what begins to wait is told by nothing");
}

#[test]
fn a_question_and_a_push_round_the_hook_are_told() {
    let repo = told();
    repo.loopx("gate open 'Is \"it\" ready?' --gate-id ready --blocks push --agent-id a").success();
    assert_snapshot!(wait_for(&repo, "bin/told", "end\n"), @r#"
    gate.open
    {
      "schema_version": 1,
      "repository": "[ROOT]/repo",
      "at": "2026-11-30T12:00:09Z",
      "event": "gate.open",
      "gate": "ready",
      "goal": "ship",
      "question": "Is \"it\" ready?",
      "blocks": [
        "push"
      ],
      "asked_by": "a",
      "command": "loopx gate review"
    }
    end
    "#);
    std::fs::remove_file(repo.path("bin/told")).unwrap();
    repo.commit("news");
    repo.git("push -q --no-verify origin main:side").success();
    repo.loopx("todo add noticed --agent-id a").success();
    let told = wait_for(&repo, "bin/told", "end\n");
    assert!(told.starts_with("bypass.note\n") && told.contains("\"ref\": \"refs/heads/side\""), "{told}");
    std::fs::remove_file(repo.path("bin/told")).unwrap();
    // Neither what is refused nor what asks nobody is told.
    repo.loopx("gate open Again? --gate-id ready --agent-id a");
    repo.loopx("todo add more").success();
    thread::sleep(Duration::from_millis(300));
    assert!(!repo.path("bin/told").exists());
}

/// Waits a while for one more to be told, and says which gates have been.
fn gates_told(repo: &Sandbox) -> Vec<String> {
    thread::sleep(Duration::from_millis(300));
    let told = repo.read("bin/told");
    let gate =
        |line: &str| line.trim().strip_prefix("\"gate\": ").map(|gate| gate.trim_end_matches(',').to_owned());
    let mut gates: Vec<String> = told.lines().filter_map(gate).collect();
    gates.sort();
    gates
}

#[test]
fn what_comes_from_another_clone_is_told_once() {
    let mut repo = told();
    let take = |repo: &Sandbox| {
        let hub = repo.git("-C ../hub.git rev-parse --verify -q refs/loopx/state").stdout;
        repo.person("sync", &hub[..10]).success();
    };
    repo.person("remote set origin", "origin").success();
    repo.loopx("gate open Ours? --agent-id a").success();
    wait_for(&repo, "bin/told", "end\n");
    repo.loopx("sync").success();
    repo.git("clone -q ../hub.git ../other").success();
    repo.cd("other").loopx("init").success();
    repo.person("remote set origin", "origin").success();
    take(&repo);
    repo.loopx("gate open Theirs? --blocks push --agent-id b").success();
    repo.loopx("gate open Answered? --blocks push --agent-id b").success();
    repo.person("gate resolve answered --decision reject", "answered").success();
    repo.loopx("gate open Standing? --standing --agent-id b").success();
    repo.loopx("sync").success();
    repo.cd("repo");
    std::fs::remove_file(repo.path("bin/told")).unwrap();
    take(&repo);
    wait_for(&repo, "bin/told", "\"theirs\"");
    assert_eq!(gates_told(&repo), ["\"standing\"", "\"theirs\""]);
    repo.loopx("sync").success();
    assert_eq!(gates_told(&repo).len(), 2, "a sync that brings nothing tells nothing");
}

#[test]
fn what_comes_with_an_import_is_told_and_of_much_the_first_ten() {
    let from = Sandbox::ready();
    for number in 10..22 {
        from.loopx(&format!("gate open Really? --gate-id g{number} --blocks push --agent-id a")).success();
    }
    from.loopx("export ../out.jsonl").success();
    let file = from.read("out.jsonl");
    let to = Sandbox::plain();
    to.loopx("init").success();
    listen(&to);
    to.write("in.jsonl", &file);
    to.person("import ../in.jsonl", &digest(&file)).success();
    let until = Instant::now() + Duration::from_secs(20);
    while wait_for(&to, "bin/told", "end\n").matches("end\n").count() < 10 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    let gates: Vec<String> = (10..20).map(|number| format!("\"g{number}\"")).collect();
    assert_eq!(gates_told(&to), gates);
}

#[test]
fn what_comes_from_another_tool_is_told() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    listen(&repo);
    repo.write(
        "home/issues.jsonl",
        r#"{"id":"bd-1","title":"Is it good?","status":"open","priority":0,"issue_type":"gate","await_type":"human"}"#,
    );
    repo.person("import --from beads ../home/issues.jsonl", "beads").success();
    wait_for(&repo, "bin/told", "end\n");
    assert_eq!(gates_told(&repo), ["\"is-it-good\""]);
}

#[test]
fn a_command_that_hangs_or_fails_holds_nothing_up_and_is_noted() {
    let repo = Sandbox::ready();
    repo.person("notify set -- sleep 60", "notify").success();
    let began = Instant::now();
    repo.loopx("gate open One? --agent-id a").success();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_snapshot!(wait_for(&repo, "repo/.git/loopx/notify.log", "gate.open"), @"2026-11-30T12:00:06Z gate.open it was stopped after 10 s: it said nothing");
    repo.person("notify set -- /nowhere/at-all", "notify").success();
    repo.loopx("gate open Two? --agent-id a").success();
    assert_snapshot!(wait_for(&repo, "repo/.git/loopx/notify.log", "start"), @"
    2026-11-30T12:00:06Z gate.open it was stopped after 10 s: it said nothing
    2026-11-30T12:00:08Z gate.open it did not start: No such file or directory (os error 2)
    ");
    assert_snapshot!(repo.loopx("notify show"), @"
    what begins to wait is told by `/nowhere/at-all`
      2026-11-30T12:00:08Z gate.open it did not start: No such file or directory (os error 2)
      2026-11-30T12:00:06Z gate.open it was stopped after 10 s: it said nothing
    ");
}

/// A repository in which one of our scripts is run, with programs of ours in its way.
fn with(script: &str, stubs: &[(&str, &str)]) -> Sandbox {
    let mut repo = Sandbox::ready();
    repo.script("bin/notify", &template(&format!("notify/{script}")));
    for (name, text) in stubs {
        repo.script(&format!("stubs/{name}"), text);
    }
    let stubs = repo.path("stubs").display().to_string();
    repo.put_on_path(&stubs);
    repo.env("OUT", &repo.path("out").display().to_string());
    repo
}

const QUESTION: &str = "gate open 'Say \"yes\"; \\ or no?' --gate-id ready --agent-id a";

#[test]
fn the_desktop_is_told() {
    let repo = with(
        "desktop",
        &[("notify-send", "#!/bin/sh\nprintf '%s|' \"$@\" >\"$OUT\"; echo end >>\"$OUT\"\n")],
    );
    repo.person(&format!("notify set -- {}", repo.path("bin/notify").display()), "notify").success();
    repo.loopx(QUESTION).success();
    assert_snapshot!(wait_for(&repo, "out", "end"), @r#"--app-name=loopx|--|loopx: a question waits|Say "yes"; \ or no? (a)|end"#);
    repo.loopx("notify test").success();
    assert_snapshot!(wait_for(&repo, "out", "test"), @"--app-name=loopx|--|loopx|this is a test|end");
}

#[test]
fn the_terminal_rings() {
    let repo = with("terminal", &[]);
    repo.write("out", "");
    let (script, out) = (repo.path("bin/notify"), repo.path("out"));
    repo.person(&format!("notify set -- {} {}", script.display(), out.display()), "notify").success();
    repo.loopx(QUESTION).success();
    assert_snapshot!(wait_for(&repo, "out", "question").escape_debug().to_string(), @r#"\u{7}\u{1b}]777;notify;loopx;a question waits: Say \"yes\"  or no?\u{7}"#);
}

#[test]
fn a_chat_is_told_by_the_users_own_curl() {
    let curl = "#!/bin/sh\n{ printf '%s|' \"$@\"; echo; cat <&3; cat <&4; echo end; } >\"$OUT\"\n";
    let mut repo = with("webhook", &[("curl", curl)]);
    repo.person(&format!("notify set -- {}", repo.path("bin/notify").display()), "notify").success();
    // No address.
    assert_snapshot!(repo.loopx("notify test"), @"
      [ROOT]/bin/notify: 8: LOOPX_WEBHOOK: set it to the address of your webhook
    it ended with 2
    [exit 1]
    ");
    repo.env("LOOPX_WEBHOOK", "https://chat.example/hook/secret");
    repo.loopx(QUESTION).success();
    assert_snapshot!(wait_for(&repo, "out", "end"), @r#"
    --config|/dev/fd/3|--silent|--show-error|--fail|--max-time|8|--header|Content-Type: application/json|--data-binary|@/dev/fd/4|
    url = "https://chat.example/hook/secret"
    {"text": "loopx: a question waits: Say \"yes\"; \\ or no? (a)"}
    end
    "#);
    repo.env("LOOPX_WEBHOOK_KIND", "lark");
    repo.loopx("notify test").success();
    let told = wait_for(&repo, "out", "msg_type");
    let body = told.lines().find(|line| line.starts_with('{')).unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["content"]["text"], "loopx: this is a test");
}
