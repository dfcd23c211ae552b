//! What happens to work besides being done: needs, checks, splitting, dropping, reopening, blocking, editing, finding, and
//! adding many at once.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

#[test]
fn a_need_that_leads_back_is_refused_and_the_circle_named() {
    let repo = Sandbox::ready();
    let one = repo.todo("one --agent-id a");
    let two = repo.todo(&format!("two --needs {one} --agent-id a"));
    let three = repo.todo(&format!("three --needs {two} --agent-id a"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {one} --needs {three} --agent-id a
        loopx todo edit {one} --needs {one} --agent-id a
        loopx todo edit {three} --needs {one} --no-needs {two} --agent-id a
        loopx todo done {one} --agent-id a
        loopx todo edit {two} --needs {three} --agent-id a
        loopx todo reopen {one} --agent-id a
        loopx todo list --needs {one}
    ")), @r#"
    $ loopx todo edit t-fdjx --needs t-s29v --agent-id a
    [stderr] error: todo `t-fdjx` would need itself: `t-fdjx` needs `t-s29v` needs `t-7p0h` needs `t-fdjx`
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo edit t-fdjx --needs t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` would need itself: `t-fdjx` needs `t-fdjx`
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo edit t-s29v --needs t-fdjx --no-needs t-7p0h --agent-id a
    changed todo t-s29v
      -needs = ["t-7p0h"]
      +needs = ["t-fdjx"]
    $ loopx todo done t-fdjx --agent-id a
    completed todo t-fdjx: one
    $ loopx todo edit t-7p0h --needs t-s29v --agent-id a
    changed todo t-7p0h
      -needs = ["t-fdjx"]
      +needs = ["t-fdjx", "t-s29v"]
    $ loopx todo reopen t-fdjx --agent-id a
    reopened todo t-fdjx: one
    $ loopx todo list --needs t-fdjx
      t-7p0h  p2  open  two
      t-s29v  p2  open  three
    "#);
}

#[test]
fn what_was_closed_and_would_close_a_circle_stays_closed() {
    let repo = Sandbox::ready();
    let later = repo.todo("later");
    let first = repo.todo(&format!("first --needs {later}"));
    repo.loopx(&format!("todo done {later}")).success();
    repo.loopx(&format!("todo done {first}")).success();
    repo.loopx(&format!("todo reopen {later}")).success();
    repo.loopx(&format!("todo edit {later} --needs {first}")).success();
    assert_snapshot!(repo.loopx(&format!("todo reopen {first} --reason 'once more'")), @"
    [stderr] error: todo `t-7p0h` would need itself: `t-7p0h` needs `t-fdjx` needs `t-7p0h`
    [stderr] hint: run `loopx todo show t-7p0h`
    [exit 1]
    ");
}

#[test]
fn a_check_has_to_pass_before_a_todo_is_done() {
    let repo = Sandbox::ready();
    repo.script("repo/check.sh", "#!/bin/sh\necho looking at $1\necho PASSWORD=hunter2 >&2\ntest -e $1\n");
    let id = repo.todo("'Write it' --check './check.sh done.txt' --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx todo done {id} --agent-id a
        loopx todo claim {id} --agent-id b
        loopx todo done {id} --agent-id a
    ")), @"
    $ loopx todo show t-fdjx
    todo t-fdjx: Write it
      goal      ship
      priority  p2
      for       agent
      check     ./check.sh done.txt (at most 5 min)
      added     by a, just now
      state     open
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` is not done: its check `./check.sh done.txt` ended with exit 1
    [stderr]   looking at done.txt
    [stderr]   PASSWORD=***
    [stderr] hint: make it pass and run `loopx todo done t-fdjx` again
    [exit 1]
    $ loopx todo claim t-fdjx --agent-id b
    claimed todo t-fdjx until 2026-11-30T12:45:08Z
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` is claimed by b until 2026-11-30T12:45:08Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    ");
    repo.write("repo/done.txt", "");
    let done = repo.loopx(&format!("todo done {id} --agent-id b --json")).success().json();
    let evidence = done["state"]["evidence"][0].as_str().expect("evidence").to_owned();
    let kept = repo.read(&format!("repo/.loopx/goals/ship/evidence/{evidence}.toml"));
    assert_snapshot!(repo.scene("
        loopx evidence list
        loopx evidence show e-a4wn
        git log -1 --format=%B loopx/state
        loopx verify
    "), @"
    $ loopx evidence list
      e-a4wn  t-fdjx  check  by b, just now  passed, 0 s: ./check.sh done.txt
    $ loopx evidence show e-a4wn
    evidence e-a4wn: passed, 0 s: ./check.sh done.txt
      goal    ship
      todo    t-fdjx
      added   by b, just now
      commit  [ID]
      now     nothing to compare with

    looking at done.txt
    PASSWORD=***
    $ git log -1 --format=%B loopx/state
    complete todo t-fdjx: Write it

    Loopx-Op: todo.done
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Record: evidence/e-a4wn
    Loopx-Actor: agent:b
    Signed-off-by: Ann <ann@example.test>

    $ loopx verify
    5 commits (5 new commits): each is one legal mutation, signed off
    ");
    let kept: String =
        kept.lines().filter(|line| !line.starts_with("commit")).map(|line| format!("{line}\n")).collect();
    assert_snapshot!(kept.replace(&id, "[TODO]"), @r#"
    format = "1.0"
    dirty = false
    todo = "[TODO]"

    [added]
    by = "agent:b"
    at = "2026-11-30T12:00:10Z"

    [what]
    kind = "check"
    argv = ["./check.sh", "done.txt"]
    seconds = 0
    output = """
    looking at done.txt
    PASSWORD=***"""
    "#);
}

#[test]
fn a_check_that_hangs_cannot_start_or_says_too_much() {
    let repo = Sandbox::ready();
    let hangs = repo.todo("hangs --check \"sh -c 'sleep 60 & sleep 60'\" --check-timeout 1");
    let gone = repo.todo("gone --check ./gone");
    let loud = repo.todo("loud --check \"sh -c 'yes loud | head -n 20000; exit 3'\"");
    let quiet = repo.todo("quiet --check false --check-timeout 2m");
    let before = repo.tip();
    assert_snapshot!(repo.scene(&format!("
        loopx todo done {hangs}
        loopx todo done {gone}
        loopx todo done {loud}
        loopx todo done {quiet} --json
        loopx todo add x --check 'a && b'
        loopx todo add x --check 'curl --token abc'
        loopx todo add x --check true --check-timeout 0
    ")), @r#"
    $ loopx todo done t-fdjx
    [stderr] error: todo `t-fdjx` is not done: its check `sh -c sleep 60 & sleep 60` took longer than 1 s and was ended
    [stderr] hint: make it pass and run `loopx todo done t-fdjx` again
    [exit 1]
    $ loopx todo done t-7p0h
    [stderr] error: the check `./gone` of todo `t-7p0h` cannot be started: No such file or directory (os error 2)
    [stderr] hint: look whether it is there with `command -v ./gone`
    [exit 1]
    $ loopx todo done t-s29v
    [stderr] error: todo `t-s29v` is not done: its check `sh -c yes loud | head -n 20000; exit 3` ended with exit 3
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr]   loud
    [stderr] hint: make it pass and run `loopx todo done t-s29v` again
    [exit 1]
    $ loopx todo done t-c22j --json
    {
      "schema_version": 1,
      "error": {
        "code": "refused",
        "message": "todo `t-c22j` is not done: its check `false` ended with exit 1",
        "hints": [
          "make it pass and run `loopx todo done t-c22j` again"
        ],
        "retryable": false
      }
    }
    [exit 1]
    $ loopx todo add x --check 'a && b'
    [stderr] error: invalid value 'a && b' for '--check <CMD>': `&` means something to a shell, and no shell reads it (put it in quotes, or run one: `sh -c '…'`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo add x --check 'curl --token abc'
    [stderr] error: invalid value 'curl --token abc' for '--check <CMD>': it looks as if there is a secret in it, or it is too long or has control characters to be kept
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo add x --check true --check-timeout 0
    [stderr] error: invalid value '0' for '--check-timeout <TIME>': a check may take a second to a day
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_check_ends_with_whoever_waits_for_it() {
    let repo = Sandbox::ready();
    repo.script(
        "repo/stop.sh",
        "#!/bin/sh\n(sleep 20; touch ended) &\nkill -TERM $PPID\nsleep 20\ntouch ended\n",
    );
    let id = repo.todo("one --check ./stop.sh");
    assert_snapshot!(repo.loopx(&format!("todo done {id}")), @"
    [stderr] error: todo `t-fdjx` is not done: its check `./stop.sh` was ended by signal 15
    [stderr] hint: make it pass and run `loopx todo done t-fdjx` again
    [exit 1]
    ");
    assert!(!repo.path("repo/ended").exists());
    repo.script("repo/stop.sh", "#!/bin/sh\n(sleep 20; touch ended) &\necho all is well\n");
    assert_snapshot!(repo.loopx(&format!("todo done {id}")), @"
    completed todo t-fdjx: one
    its check `./stop.sh` passed in 0 s, which is kept as evidence
    ");
}

#[test]
fn only_a_person_takes_a_check_away() {
    let repo = Sandbox::ready();
    let id = repo.todo("one --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {id} --check 'false' --agent-id a
        loopx todo edit {id} --no-check --agent-id a
        loopx todo edit {id} --check true --agent-id a
        loopx todo edit {id} --no-check
    ")), @r#"
    $ loopx todo edit t-fdjx --check 'false' --agent-id a
    changed todo t-fdjx
      +[check]
      +argv = ["false"]
      +timeout = 300
      +
    $ loopx todo edit t-fdjx --no-check --agent-id a
    [stderr] error: todo `t-fdjx` has a check, which agent `a` may not change or take away
    [stderr] hint: ask the person to run `loopx todo edit t-fdjx` in a terminal
    [exit 1]
    $ loopx todo edit t-fdjx --check true --agent-id a
    [stderr] error: todo `t-fdjx` has a check, which agent `a` may not change or take away
    [stderr] hint: ask the person to run `loopx todo edit t-fdjx` in a terminal
    [exit 1]
    $ loopx todo edit t-fdjx --no-check
    [stderr] error: only a person at a terminal may take the check `false` of todo `t-fdjx` away, and there is none
    [stderr] hint: run `loopx todo edit t-fdjx --no-check` in a terminal
    [exit 1]
    "#);
    assert_snapshot!(repo.person(&format!("todo edit {id} --no-check"), "no"), @"
    todo t-fdjx: one

    Type `t-fdjx` to take the check `false` of todo `t-fdjx` away: no
    error: that was not `t-fdjx`, so nothing was changed
    hint: run `loopx todo edit t-fdjx --no-check` again
    [exit 1]
    ");
    assert_snapshot!(repo.person(&format!("todo edit {id} --check true"), &id), @r#"
    todo t-fdjx: one

    Type `t-fdjx` to put the check `true` of todo `t-fdjx` in the place of `false`: t-fdjx
    changed todo t-fdjx
      -argv = ["false"]
      +argv = ["true"]
    "#);
    assert_snapshot!(repo.loopx("verify"), @"5 commits (5 new commits): each is one legal mutation, signed off");
}

#[test]
fn a_split_todo_is_done_after_its_parts() {
    let repo = Sandbox::ready();
    let whole = repo.todo("whole --priority p1 --requires network --agent-id a");
    repo.loopx(&format!("todo claim {whole} --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo split {whole} --into left right --agent-id b
        loopx todo split {whole} --into left right --agent-id a
        loopx todo show {whole}
        loopx quota should-run --agent-id a --capability network
        git log -1 --format=%B loopx/state
    ")), @"
    $ loopx todo split t-fdjx --into left right --agent-id b
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:45:06Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo split t-fdjx --into left right --agent-id a
    split todo t-fdjx into 2 parts, which it needs now
      t-4fdz  p1  open  left
      t-xksv  p1  open  right
    $ loopx todo show t-fdjx
    todo t-fdjx: whole
      goal      ship
      priority  p1
      for       agent
      needs     t-4fdz, t-xksv
      requires  network
      added     by a, just now
      state     open
    $ loopx quota should-run --agent-id a --capability network
    true – work on t-4fdz: left
    why: `t-4fdz` is ready and nobody has it
    next: loopx todo claim t-4fdz
    $ git log -1 --format=%B loopx/state
    split todo t-fdjx: whole

    Loopx-Op: todo.split
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Record: todo/t-4fdz
    Loopx-Record: todo/t-xksv
    Loopx-Actor: agent:a
    Signed-off-by: Ann <ann@example.test>
    ");
}

#[test]
fn what_is_given_up_keeps_its_reason_and_comes_back() {
    let repo = Sandbox::ready();
    let (agents, persons) = (repo.todo("'the agents own' --agent-id a"), repo.todo("'of a person'"));
    let asked = repo.todo("asked --agent-id a");
    repo.loopx(&format!("gate open 'Do it?' --todo {asked} --agent-id a")).success();
    repo.person("gate resolve do-it --decision reject", "do-it").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo drop {agents} --reason 'not needed' --agent-id b
        loopx todo drop {persons} --reason 'not needed' --agent-id b
        loopx todo drop {asked} --reason 'not needed' --agent-id a
        loopx todo drop {asked} --reason 'not needed'
        loopx todo drop {persons} --reason 'not needed'
        loopx todo reopen {persons} --agent-id b
        loopx todo reopen {agents} --reason 'it is needed' --agent-id b
        loopx todo reopen {agents} --agent-id b
        loopx todo list --all
        git log -1 --format=%B loopx/state
    ")), @r#"
    $ loopx todo drop t-fdjx --reason 'not needed' --agent-id b
    dropped todo t-fdjx: the agents own
    $ loopx todo drop t-7p0h --reason 'not needed' --agent-id b
    [stderr] error: todo `t-7p0h` was added by Ann, and only a person may drop it
    [stderr] hint: ask the person to run `loopx todo drop t-7p0h` in a terminal
    [exit 1]
    $ loopx todo drop t-s29v --reason 'not needed' --agent-id a
    [stderr] error: todo `t-s29v` waits for gate `do-it`: "Do it?"
    [stderr] hint: a person answers it with `loopx gate resolve do-it --decision approve`
    [exit 1]
    $ loopx todo drop t-s29v --reason 'not needed'
    [stderr] error: only a person at a terminal may drop todo `t-s29v`, which gate `do-it` holds back, and there is none
    [stderr] hint: run `loopx todo drop t-s29v --reason "<why>"` in a terminal
    [exit 1]
    $ loopx todo drop t-7p0h --reason 'not needed'
    dropped todo t-7p0h: of a person
    $ loopx todo reopen t-7p0h --agent-id b
    [stderr] error: todo `t-7p0h` was closed by Ann, and only a person may reopen it
    [stderr] hint: ask the person to run `loopx todo reopen t-7p0h` in a terminal
    [exit 1]
    $ loopx todo reopen t-fdjx --reason 'it is needed' --agent-id b
    reopened todo t-fdjx: the agents own
    $ loopx todo reopen t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is open, not closed
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo list --all
      t-fdjx  p2  open     the agents own
      t-s29v  p2  blocked  asked
      t-7p0h  p2  dropped  of a person
    $ git log -1 --format=%B loopx/state
    reopen todo t-fdjx: the agents own

    > it is needed

    Loopx-Op: todo.reopen
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:b
    Signed-off-by: Ann <ann@example.test>
    "#);
    assert_snapshot!(repo.person(&format!("todo drop {asked} --reason 'said no'"), &asked), @"
    todo t-s29v: asked

    Type `t-s29v` to drop todo `t-s29v`, which gate `do-it` holds back: t-s29v
    dropped todo t-s29v: asked
    ");
    assert_snapshot!(repo.loopx("verify"), @"11 commits (11 new commits): each is one legal mutation, signed off");
}

#[test]
fn a_folded_todo_comes_back_and_goes_again() {
    let repo = Sandbox::ready();
    let list: String = (0..600).map(|number| format!("- [ ] number {number}\n")).collect();
    let add = |list: &str| {
        let added =
            repo.feed(LOOPX, &["todo", "add", "--from", "-", "--agent-id", "a", "--json"], list).success();
        let ids = added.json()["todos"].as_array().expect("todos").clone();
        ids.iter().map(|todo| todo["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let ids = add(&list);
    for id in &ids[..321] {
        repo.loopx(&format!("todo done {id} --agent-id a")).success();
    }
    let id = &ids[0];
    let path = |folder: &str| repo.path(&format!("repo/.loopx/goals/ship/todos/{folder}{id}.toml"));
    assert!(!path("closed/").exists(), "it was folded");
    let state = || {
        let shown = repo.loopx_raw(&["todo", "show", id, "--json"]).success().json();
        shown["state"]["is"].as_str().expect("a state").to_owned()
    };
    repo.loopx(&format!("todo reopen {id} --agent-id a")).success();
    assert_eq!((path("").exists(), state().as_str()), (true, "open"));
    repo.loopx(&format!("todo drop {id} --reason no --agent-id a")).success();
    assert_eq!(state(), "dropped");
    assert_eq!(
        repo.loopx(&format!("todo show {}", &id[..id.len() - 1])).code,
        0,
        "a beginning still means it"
    );
    for id in &ids[321..] {
        repo.loopx(&format!("todo done {id} --agent-id a")).success();
    }
    assert!(!path("closed/").exists(), "it was folded again");
    assert_eq!(state(), "dropped", "the last word counts");
    let found = repo.loopx("todo list --all --search 'number 0' --json").success().json();
    assert_eq!(found["todos"].as_array().map(Vec::len), Some(1));
    let verified = repo.loopx("verify");
    assert!(verified.stdout.contains("each is one legal mutation"), "{verified}");
}

#[test]
fn work_is_stopped_for_a_reason_and_freed_again() {
    let repo = Sandbox::ready();
    let (one, two) = (repo.todo("one --agent-id a"), repo.todo("two --agent-id a"));
    repo.loopx("gate open 'Go on?' --blocks push --agent-id a").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo block {one} --reason 'the API is down' --agent-id a
        loopx todo block {one} --reason 'again' --agent-id a
        loopx todo claim {one} --agent-id b
        loopx todo unblock {one} --reason 'it is up' --agent-id b
        loopx todo unblock {one} --agent-id b
        loopx todo block {one} --reason 'wait for me'
        loopx todo unblock {one} --agent-id b
        loopx todo block {two} --on nope --reason 'as asked' --agent-id a
        loopx todo block {two} --on go-on --reason 'as asked' --agent-id a
        loopx todo unblock {two} --agent-id a
    ")), @r#"
    $ loopx todo block t-fdjx --reason 'the API is down' --agent-id a
    blocked todo t-fdjx
    $ loopx todo block t-fdjx --reason 'again' --agent-id a
    [stderr] error: todo `t-fdjx` is blocked: the API is down
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo claim t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is blocked: the API is down
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo unblock t-fdjx --reason 'it is up' --agent-id b
    unblocked todo t-fdjx
    $ loopx todo unblock t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is not blocked
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo block t-fdjx --reason 'wait for me'
    blocked todo t-fdjx
    $ loopx todo unblock t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` was blocked by Ann, and only a person may unblock it
    [stderr] hint: ask the person to run `loopx todo unblock t-fdjx` in a terminal
    [exit 1]
    $ loopx todo block t-7p0h --on nope --reason 'as asked' --agent-id a
    [stderr] error: there is no gate `nope`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    $ loopx todo block t-7p0h --on go-on --reason 'as asked' --agent-id a
    blocked todo t-7p0h
    $ loopx todo unblock t-7p0h --agent-id a
    [stderr] error: todo `t-7p0h` waits for gate `go-on`: "Go on?"
    [stderr] hint: a person answers it with `loopx gate resolve go-on --decision approve` (or `reject`)
    [exit 1]
    "#);
    repo.person("gate resolve go-on --decision approve", "go-on").success();
    assert_snapshot!(repo.scene("
        loopx todo list
        loopx verify
    "), @"
    $ loopx todo list
      t-fdjx  p2  blocked  one
      t-7p0h  p2  open     two
    $ loopx verify
    10 commits (10 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let repo = Sandbox::ready();
    let (agents, persons) = (repo.todo("one --agent-id a"), repo.todo("two"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {agents} --title uno --priority p0 --body 'More about it' --agent-id b
        loopx todo edit {agents} --title uno --agent-id b
        loopx todo edit {agents} --no-body --for person --requires network --agent-id b
        loopx todo edit {agents} --for agent --agent-id b
        loopx todo edit {persons} --title dos --agent-id b
        loopx todo edit {persons} --needs {agents} --requires gpu --agent-id b
        loopx todo edit {persons} --no-needs {agents} --agent-id b
        loopx todo edit {persons} --every 1h
        loopx todo edit {persons}
        loopx verify
    ")), @r#"
    $ loopx todo edit t-fdjx --title uno --priority p0 --body 'More about it' --agent-id b
    changed todo t-fdjx
      -title = "one"
      +title = "uno"
      +body = "More about it"
      -priority = "p2"
      +priority = "p0"
    $ loopx todo edit t-fdjx --title uno --agent-id b
    nothing changed in todo t-fdjx
    $ loopx todo edit t-fdjx --no-body --for person --requires network --agent-id b
    changed todo t-fdjx
      -body = "More about it"
      -for = "agent"
      +for = "person"
      +requires = ["network"]
    $ loopx todo edit t-fdjx --for agent --agent-id b
    [stderr] error: todo `t-fdjx` is for a person, not for agent `b`
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo edit t-7p0h --title dos --agent-id b
    [stderr] error: todo `t-7p0h` was added by Ann, and only a person may change it
    [stderr] hint: ask the person to run `loopx todo edit t-7p0h` in a terminal
    [exit 1]
    $ loopx todo edit t-7p0h --needs t-fdjx --requires gpu --agent-id b
    changed todo t-7p0h
      +needs = ["t-fdjx"]
      +requires = ["gpu"]
    $ loopx todo edit t-7p0h --no-needs t-fdjx --agent-id b
    [stderr] error: todo `t-7p0h` was added by Ann, and only a person may change it
    [stderr] hint: ask the person to run `loopx todo edit t-7p0h` in a terminal
    [exit 1]
    $ loopx todo edit t-7p0h --every 1h
    [stderr] error: todo `t-7p0h` is no monitor
    [stderr] hint: run `loopx todo show t-7p0h`
    [exit 1]
    $ loopx todo edit t-7p0h
    [stderr] error: nothing was given to be changed, and there is no terminal to edit at
    [stderr] hint: give an option, such as `loopx todo edit t-7p0h --priority p1`
    [exit 2]
    $ loopx verify
    7 commits (7 new commits): each is one legal mutation, signed off
    "#);
}

#[test]
fn an_agent_does_not_get_around_a_person_by_needing_less() {
    let repo = Sandbox::ready();
    let sign = repo.todo("sign --for person --agent-id a");
    let send = repo.todo(&format!("send --needs {sign} --agent-id a"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo edit {send} --no-needs {sign} --agent-id a
        loopx todo edit {send} --no-needs {sign}
    ")), @r#"
    $ loopx todo edit t-7p0h --no-needs t-fdjx --agent-id a
    [stderr] error: todo `t-7p0h` needs `t-fdjx`, which is for a person, and agent `a` may not leave that out
    [stderr] hint: ask the person to run `loopx todo edit t-7p0h` in a terminal
    [exit 1]
    $ loopx todo edit t-7p0h --no-needs t-fdjx
    changed todo t-7p0h
      -needs = ["t-fdjx"]
    "#);
}

#[test]
fn without_options_a_todo_is_edited_in_the_editor() {
    let mut repo = Sandbox::ready();
    let id = repo.todo("'one thing' --body 'two words'");
    repo.script("home/edit.sh", "#!/bin/sh\nsed -i -e 's/one thing/another/' -e 's/\"p2\"/\"p0\"/' \"$1\"\n");
    let editor = repo.path("home/edit.sh").display().to_string();
    repo.env("EDITOR", &editor);
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @r#"
    changed todo t-fdjx
      -title = "one thing"
      +title = "another"
      -priority = "p2"
      +priority = "p0"
    "#);
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"nothing changed in todo t-fdjx");
    repo.script("home/edit.sh", "#!/bin/sh\necho nonsense > \"$1\"\n");
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"
    error: what was saved is no todo, so nothing was changed: key with no value, expected `=`
    hint: run `loopx todo edit t-fdjx` again
    [exit 2]
    ");
    repo.script("home/edit.sh", "#!/bin/sh\nexit 1\n");
    assert_snapshot!(repo.person(&format!("todo edit {id}"), ""), @"
    error: the editor did not end well, so nothing was changed
    hint: say which editor you want with `export EDITOR=<editor>`
    [exit 1]
    ");
}

#[test]
fn todos_are_found_by_what_they_are() {
    let repo = Sandbox::ready();
    let first = repo.todo("'Write the Schema' --priority p0 --agent-id a");
    repo.todo(&format!("'Send it' --needs {first} --requires network --body 'with the schema' --agent-id a"));
    repo.todo("'Sign it' --for person --agent-id a");
    repo.todo("'Look at CI' --every 1h --agent-id a");
    repo.loopx(&format!("todo claim {first} --agent-id a")).success();
    let gone = repo.todo("gone --agent-id a");
    repo.loopx(&format!("todo drop {gone} --reason 'the schema is enough' --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo list --search SCHEMA
        loopx todo list --search schema --all
        loopx todo list --state open --for agent
        loopx todo list --state dropped
        loopx todo list --claimed-by a
        loopx todo list --needs {first}
        loopx todo list --requires network
        loopx todo list --monitors
        loopx todo list --priority p0 --priority p1
        loopx todo list --state gone
    ")), @"
    $ loopx todo list --search SCHEMA
      t-fdjx  p0  claimed by a  Write the Schema
      t-7p0h  p2  open          Send it
    $ loopx todo list --search schema --all
      t-fdjx  p0  claimed by a  Write the Schema
      t-7p0h  p2  open          Send it
      t-a4wn  p2  dropped       gone
    $ loopx todo list --state open --for agent
      t-7p0h  p2  open          Send it
      t-c22j  p2  monitor, due  Look at CI
    $ loopx todo list --state dropped
      t-a4wn  p2  dropped  gone
    $ loopx todo list --claimed-by a
      t-fdjx  p0  claimed by a  Write the Schema
    $ loopx todo list --needs t-fdjx
      t-7p0h  p2  open  Send it
    $ loopx todo list --requires network
      t-7p0h  p2  open  Send it
    $ loopx todo list --monitors
      t-c22j  p2  monitor, due  Look at CI
    $ loopx todo list --priority p0 --priority p1
      t-fdjx  p0  claimed by a  Write the Schema
    $ loopx todo list --state gone
    [stderr] error: invalid value 'gone' for '--state <STATE>'
    [stderr]   [possible values: open, claimed, blocked, done, dropped]
    [stderr]
    [stderr]   tip: a similar value exists: 'done'
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn what_could_be_claimed_now_and_what_keeps_the_rest_away() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx("todo ready --agent-id a"), @"nothing of goal ship can be claimed now");
    let first = repo.todo("first --priority p1");
    let gated = repo.todo("gated");
    for more in [
        "urgent --priority p0 --requires gpu".to_owned(),
        format!("after --needs {first}"),
        "theirs --for person".to_owned(),
        "usual".to_owned(),
    ] {
        repo.todo(&more);
    }
    let (mine, others) = (repo.todo("mine"), repo.todo("others"));
    let monitor = repo.todo("watch --every 1h");
    repo.loopx(&format!("todo claim {mine} --agent-id a")).success();
    repo.loopx(&format!("todo claim {others} --agent-id b")).success();
    repo.loopx(&format!("gate open Sure? --todo {gated} --agent-id a")).success();
    assert_snapshot!(repo.loopx("todo ready --agent-id a"), @"
      t-7p0h  p1  open          first
      t-578h  p2  monitor, due  watch
      t-f8b6  p2  open          usual
    not now: 1 for a person, 1 yours already, 1 claimed by others, 1 waiting for what they need, 1 asking for what this host cannot do, 1 waiting for a gate
    ");
    repo.loopx(&format!("todo poll {monitor} --same --agent-id a")).success();
    assert_snapshot!(repo.scene("
        loopx todo ready --agent-id a
        loopx todo ready --agent-id a --capability gpu
    "), @"
    $ loopx todo ready --agent-id a
      t-7p0h  p1  open  first
      t-f8b6  p2  open  usual
    not now: 1 for a person, 1 yours already, 1 claimed by others, 1 waiting for what they need, 1 asking for what this host cannot do, 1 not due yet, 1 waiting for a gate
    $ loopx todo ready --agent-id a --capability gpu
      t-c22j  p0  open  urgent
      t-7p0h  p1  open  first
      t-f8b6  p2  open  usual
    not now: 1 for a person, 1 yours already, 1 claimed by others, 1 waiting for what they need, 1 not due yet, 1 waiting for a gate
    ");
}

#[test]
fn a_checklist_becomes_todos_in_one_commit() {
    let repo = Sandbox::ready();
    repo.write(
        "repo/plan.md",
        "# Plan\n\n- [ ] [P1] Ship\n  - [ ] Build\n    with care\n  - [x] Think\n- [ ] Tell\n",
    );
    repo.write("repo/plan.jsonl", "{\"title\":\"Deploy\",\"check\":\"cargo test\",\"needs\":[\"db\"]}\n{\"title\":\"Migrate\",\"key\":\"db\",\"for\":\"person\"}\n");
    assert_snapshot!(repo.scene("
        loopx todo add --from plan.md --agent-id a
        loopx todo add --from plan.jsonl --agent-id a
        loopx todo list
        git log -2 --format=%B loopx/state
        loopx verify
    "), @"
    $ loopx todo add --from plan.md --agent-id a
    added 3 todos, 1 of which needs others of the list; left out 1 item that is done
      t-b661  p1  open  Ship
      t-g19e  p2  open  Build
      t-ts5t  p2  open  Tell
    $ loopx todo add --from plan.jsonl --agent-id a
    added 2 todos, 1 of which needs others of the list
      t-j6nh  p2  open                Deploy
      t-naqh  p2  open, for a person  Migrate
    $ loopx todo list
      t-b661  p1  open                Ship
      t-g19e  p2  open                Build
      t-ts5t  p2  open                Tell
      t-j6nh  p2  open                Deploy
      t-naqh  p2  open, for a person  Migrate
    $ git log -2 --format=%B loopx/state
    add 2 todos: Deploy

    Loopx-Op: todo.add
    Loopx-Goal: ship
    Loopx-Record: todo/t-j6nh
    Loopx-Record: todo/t-naqh
    Loopx-Actor: agent:a
    Signed-off-by: Ann <ann@example.test>

    add 3 todos: Ship

    Loopx-Op: todo.add
    Loopx-Goal: ship
    Loopx-Record: todo/t-b661
    Loopx-Record: todo/t-g19e
    Loopx-Record: todo/t-ts5t
    Loopx-Actor: agent:a
    Signed-off-by: Ann <ann@example.test>

    $ loopx verify
    4 commits (4 new commits): each is one legal mutation, signed off
    ");
    repo.write("repo/bad.md", "- [ ] one\n- [ ] two\n- [ ] \n");
    repo.write("repo/bad.jsonl", "{\"title\":\"one\"}\n{\"titel\":\"two\"}\n");
    repo.write("repo/prose.md", "Nothing here.\n");
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx todo add --from bad.md
        loopx todo add --from bad.jsonl
        loopx todo add --from prose.md
        loopx todo add --from gone.md
        loopx todo add one --from plan.md
        loopx todo add
    "), @"
    $ loopx todo add --from bad.md
    [stderr] error: nothing was added: line 3: the text is blank
    [stderr] hint: run `loopx todo add --help` for how a list is written
    [exit 2]
    $ loopx todo add --from bad.jsonl
    [stderr] error: nothing was added: line 2: unknown field `titel`, expected one of `title`, `body`, `for`, `priority`, `requires`, `needs`, `check`, `key`
    [stderr] hint: run `loopx todo add --help` for how a list is written
    [exit 2]
    $ loopx todo add --from prose.md
    [stderr] error: nothing was added: the list has no todos
    [stderr] hint: run `loopx todo add --help` for how a list is written
    [exit 2]
    $ loopx todo add --from gone.md
    [stderr] error: the list `gone.md` cannot be read: No such file or directory (os error 2)
    [stderr] hint: check the path; `-` is standard input
    [exit 1]
    $ loopx todo add one --from plan.md
    [stderr] error: the argument '[TITLE]' cannot be used with '--from <FILE>'
    [stderr]
    [stderr] Usage: loopx todo add <TITLE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo add
    [stderr] error: the following required arguments were not provided:
    [stderr]   <TITLE>
    [stderr]
    [stderr] Usage: loopx todo add <TITLE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_thousand_todos_come_at_once() {
    let repo = Sandbox::ready();
    let base = repo.tip();
    let list: String = (0..1000).map(|number| format!("- [ ] number {number}\n")).collect();
    let added = repo.feed(LOOPX, &["todo", "add", "--from", "-", "--json"], &list).success().json();
    assert_eq!(added["todos"].as_array().map(Vec::len), Some(1000));
    assert_eq!(repo.git(&format!("rev-list --count {}..loopx/state", base.trim())).stdout.trim(), "1");
    let listed = repo.loopx("todo list --json").success().json();
    let titles: Vec<_> =
        listed["todos"].as_array().expect("todos").iter().map(|todo| &todo["title"]).collect();
    assert_eq!(
        (titles[0], titles[999]),
        (&"number 0".into(), &"number 999".into()),
        "in the order of the list"
    );
    assert_eq!(repo.loopx("verify").code, 0);
}

/// A hundred todos, of which each needs the one before it.
pub(crate) fn chain(repo: &Sandbox) -> Vec<String> {
    let line = |number: usize| {
        let needs = if number == 0 { String::new() } else { format!(r#","needs":["k{}"]"#, number - 1) };
        format!("{{\"title\":\"link {number}\",\"key\":\"k{number}\"{needs}}}\n")
    };
    let list: String = (0..100).map(line).collect();
    let added = repo.feed(LOOPX, &["todo", "add", "--from", "-", "--json"], &list).success().json();
    let todos = added["todos"].as_array().expect("todos").iter();
    todos.map(|todo| todo["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn the_next_todo_of_a_long_chain_is_known_without_the_others() {
    let repo = Sandbox::ready();
    let ids = chain(&repo);
    let says = |of: &Sandbox| of.loopx("quota should-run --agent-id a --json").success().json();
    for id in &ids[..3] {
        let answer = says(&repo);
        assert_eq!((&answer["answer"], answer["todo"]["id"].as_str()), (&"run".into(), Some(id.as_str())));
        repo.loopx(&format!("todo claim {id} --agent-id a")).success();
        assert_eq!(says(&repo)["todo"]["id"].as_str(), Some(id.as_str()), "it goes on");
        repo.loopx(&format!("todo done {id} --agent-id a")).success();
    }
    repo.loopx(&format!("todo reopen {} --agent-id a", ids[0])).success();
    assert_eq!(says(&repo)["todo"]["id"].as_str(), Some(ids[0].as_str()));
    let told = says(&repo);
    for name in ["open-ship", "hot", "hot-rest"] {
        std::fs::remove_file(repo.path("repo/.git/loopx").join(name)).expect("it is at hand");
        assert_eq!(says(&repo), told, "without {name}");
    }
}

/// Forges what writers leave word of in a clone, with a digest that fits: nothing but this todo of a long chain is ready.
pub(crate) fn call_ready(repo: &Sandbox, id: &str) {
    let file = repo.path("repo/.git/loopx/open-ship");
    let said = std::fs::read_to_string(&file).expect("it is at hand");
    let (head, parts) = said.split_once('\n').expect("a head");
    let words: Vec<&str> = head.split(' ').collect();
    let rest = &parts[words[3].parse::<usize>().expect("a length")..];
    let blob = |id: &str| {
        rest.lines()
            .find(|line| line.starts_with(id))
            .and_then(|line| line.split(' ').nth(1))
            .expect("a blob")
    };
    let forged = format!("{id} {}\n", blob(id));
    let digest = repo.feed("sha256sum", &[], &forged).stdout.replace([' ', '-', '\n'], "");
    let text = format!("loopx-open 1 {} {} {} {}\n{forged}{rest}", words[2], forged.len(), digest, words[5]);
    std::fs::write(&file, text).expect("a file");
}

#[test]
fn what_is_said_of_a_long_chain_can_deceive_whoever_forges_it_and_nobody_else() {
    let repo = Sandbox::ready();
    let ids = chain(&repo);
    call_ready(&repo, &ids[50]);
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx todo claim {} --agent-id a
        loopx gate open May? --gate-id may --blocks turn
        loopx quota should-run --agent-id a
    ", ids[50])), @r#"
    $ loopx quota should-run --agent-id a
    true – work on t-d9xda: link 50
    why: `t-d9xda` is ready and nobody has it
    next: loopx todo claim t-d9xda
    $ loopx todo claim t-d9xda --agent-id a
    [stderr] error: todo `t-d9xda` needs `t-cp9t0`, which is not closed yet
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx gate open May? --gate-id may --blocks turn
    opened gate may: "May?"
    a person answers with `loopx gate resolve may --decision approve` (or `reject`)
    $ loopx quota should-run --agent-id a
    false – user gate pending: "May?"
    why: everything that could be done waits for a person, who answers gate `may`
    next: loopx gate show may
    [exit 10]
    "#);
}

#[test]
fn who_comes_back_late_learns_who_took_over() {
    let repo = Sandbox::ready();
    let id = repo.todo("one --agent-id a");
    repo.loopx(&format!("todo claim {id} --agent-id a --ttl 10m")).success();
    repo.sleep(200);
    let before = repo.tip();
    assert_snapshot!(repo.loopx(&format!("todo renew {id} --agent-id a")), @"the claim on todo t-fdjx holds until 2026-11-30T12:10:06Z already");
    assert_eq!(repo.tip(), before, "an early heartbeat makes no commit");
    repo.sleep(200);
    assert_snapshot!(repo.loopx(&format!("todo renew {id} --agent-id a")), @"the claim on todo t-fdjx holds until 2026-11-30T12:16:50Z");
    repo.sleep(700);
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {id} --agent-id b
        loopx todo renew {id} --agent-id a
        loopx todo done {id} --agent-id a
        loopx todo release {id} --agent-id a
        loopx todo claim {id} --agent-id a
        loopx todo renew {id} --agent-id c
        git log -3 --format=%s loopx/state
        loopx verify
    ")), @"
    $ loopx todo claim t-fdjx --agent-id b
    claimed todo t-fdjx until 2026-11-30T13:03:31Z (taken over from a)
    $ loopx todo renew t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:31Z, until 2026-11-30T13:03:31Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:31Z, until 2026-11-30T13:03:31Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo release t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:31Z, until 2026-11-30T13:03:31Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo claim t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:31Z, until 2026-11-30T13:03:31Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo renew t-fdjx --agent-id c
    [stderr] error: todo `t-fdjx` is claimed by b until 2026-11-30T13:03:31Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ git log -3 --format=%s loopx/state
    take over todo t-fdjx from a: one
    renew the claim on todo t-fdjx: one
    claim todo t-fdjx: one
    $ loopx verify
    6 commits (6 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn the_next_todo_is_claimed_in_one_step() {
    let repo = Sandbox::ready();
    repo.todo("usual --agent-id a");
    repo.todo("urgent --priority p0 --agent-id a");
    assert_snapshot!(repo.scene("
        loopx todo claim --next --agent-id a
        loopx todo claim --next --agent-id a
        loopx todo claim --next --agent-id b
        loopx todo claim --next --agent-id c
        loopx todo claim
        loopx todo claim t-0000 --next
    "), @"
    $ loopx todo claim --next --agent-id a
    claimed todo t-7p0h (urgent) until 2026-11-30T12:45:07Z
    $ loopx todo claim --next --agent-id a
    claimed todo t-7p0h (urgent) until 2026-11-30T12:45:07Z already
    $ loopx todo claim --next --agent-id b
    claimed todo t-fdjx (usual) until 2026-11-30T12:45:09Z
    $ loopx todo claim --next --agent-id c
    [stderr] error: nothing of goal `ship` can be claimed now
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo claim
    [stderr] error: the following required arguments were not provided:
    [stderr]   <TODO>
    [stderr]
    [stderr] Usage: loopx todo claim <TODO>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo claim t-0000 --next
    [stderr] error: the argument '[TODO]' cannot be used with '--next'
    [stderr]
    [stderr] Usage: loopx todo claim <TODO>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_goal_is_paused_by_anybody_and_goes_on_by_a_person() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    repo.loopx("goal add 'Ship it' --goal-id ship --done-when 'it builds' --done-when 'it is fast'")
        .success();
    let todo = repo.todo("one --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx goal pause --reason 'the build is broken' --agent-id a
        loopx goal pause ship --agent-id a
        loopx goal show ship
        loopx quota should-run --goal-id ship --agent-id a
        loopx todo claim {todo} --agent-id a
        loopx goal resume ship --agent-id a
        loopx goal resume ship
    ")), @"
    $ loopx goal pause --reason 'the build is broken' --agent-id a
    paused goal ship
    $ loopx goal pause ship --agent-id a
    [stderr] error: goal `ship` is paused
    [stderr] hint: run `loopx goal show ship`
    [exit 1]
    $ loopx goal show ship
    goal ship: Ship it
      state      paused by a, just now: the build is broken
      added      by Ann, just now
      done when  it builds
      done when  it is fast
      compute    1
      window     24 h in slots of 30 min
      slots      0 of 48 used
    $ loopx quota should-run --goal-id ship --agent-id a
    false – stop
    why: goal `ship` is paused
    next: loopx goal show ship
    [exit 10]
    $ loopx todo claim t-7p0h --agent-id a
    [stderr] error: goal `ship` is paused
    [stderr] hint: run `loopx goal show ship`
    [exit 1]
    $ loopx goal resume ship --agent-id a
    [stderr] error: only a person may resume goal `ship`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx goal resume ship` in a terminal of their own
    [exit 1]
    $ loopx goal resume ship
    [stderr] error: only a person at a terminal may resume goal `ship`, and there is none
    [stderr] hint: run `loopx goal resume ship` in a terminal
    [exit 1]
    ");
    assert_snapshot!(repo.person("goal resume ship", "ship"), @"
    goal ship: Ship it
      done when it builds
      done when it is fast
      1 todo not closed

    Type `ship` to resume goal `ship`: ship
    resumed goal ship
    ");
    let evidence = repo.loopx("evidence add --text 'it builds' --json").success().json();
    let evidence = evidence["id"].as_str().expect("an id").to_owned();
    repo.loopx("gate open 'Really?' --agent-id a").success();
    assert_snapshot!(repo.scene(&format!("
        loopx goal achieve --met 1={evidence} --met 2={evidence}
        loopx goal achieve --met 3={evidence}
        loopx goal achieve --met 1=e-0000
        loopx goal achieve --met one
    ")), @"
    $ loopx goal achieve --met 1=e-69t5 --met 2=e-69t5
    [stderr] error: goal `ship` has open questions: `really`
    [stderr] hint: run `loopx gate show really`
    [exit 1]
    $ loopx goal achieve --met 3=e-69t5
    [stderr] error: goal `ship` has no criterion 3 (it has 2 of them)
    [stderr] hint: run `loopx goal show ship`
    [exit 2]
    $ loopx goal achieve --met 1=e-0000
    [stderr] error: there is no evidence `e-0000` in this goal
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    $ loopx goal achieve --met one
    [stderr] error: invalid value 'one' for '--met <N=EVIDENCE>': expected the form `1=e-7k3q`
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    repo.person("gate resolve really --decision approve", "really").success();
    assert_snapshot!(repo.scene(&format!("
        loopx goal achieve --met 1={evidence}
        loopx goal achieve --met 1={evidence} --met 2={evidence} --agent-id a
    ")), @r#"
    $ loopx goal achieve --met 1=e-69t5
    [stderr] error: goal `ship` lacks evidence for 2 ("it is fast")
    [stderr] hint: give `--met 2=<evidence>`; `loopx evidence list` shows what there is
    [exit 1]
    $ loopx goal achieve --met 1=e-69t5 --met 2=e-69t5 --agent-id a
    [stderr] error: only a person may achieve goal `ship`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx goal achieve ship --met 1=e-69t5 --met 2=e-69t5` in a terminal of their own
    [exit 1]
    "#);
    assert_snapshot!(repo.person(&format!("goal achieve --met 1={evidence} --met 2={evidence}"), "ship"), @"
    goal ship: Ship it
      done when it builds (e-69t5)
      done when it is fast (e-69t5)
      1 todo not closed

    Type `ship` to achieve goal `ship`: ship
    achieved goal ship
    ");
    repo.loopx("goal add Other --goal-id other").success();
    assert_snapshot!(repo.person("goal abandon other --reason 'no time'", "other"), @"
    goal other: Other

    Type `other` to abandon goal `other`: other
    abandoned goal other
    ");
    assert_snapshot!(repo.scene("
        loopx goal list
        loopx goal show ship
        loopx goal show other
        loopx goal abandon other --reason again
        loopx verify
    "), @r#"
    $ loopx goal list
      other  abandoned  Other
      ship   achieved   Ship it
    $ loopx goal show ship
    goal ship: Ship it
      state      achieved by Ann, just now
      added      by Ann, 23 s ago
      done when  it builds (e-69t5)
      done when  it is fast (e-69t5)
      compute    1
      window     24 h in slots of 30 min
      slots      0 of 48 used
    $ loopx goal show other
    goal other: Other
      state    abandoned by Ann, just now: no time
      added    by Ann, just now
      compute  1
      window   24 h in slots of 30 min
      slots    0 of 48 used
    $ loopx goal abandon other --reason again
    [stderr] error: only a person at a terminal may abandon goal `other`, and there is none
    [stderr] hint: run `loopx goal abandon other --reason "<why>"` in a terminal
    [exit 1]
    $ loopx verify
    11 commits (11 new commits): each is one legal mutation, signed off
    "#);
}

#[test]
fn a_monitor_is_looked_at_again_and_again() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 1h --agent-id a");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx quota should-run --agent-id a
        loopx todo poll {id} --fingerprint green --follow-up 'Look at CI' --agent-id a
        loopx quota should-run --agent-id a
        loopx todo list
        loopx todo poll {id} --agent-id a
        loopx todo poll {id} --same --changed --agent-id a
    ")), @r#"
    $ loopx todo show t-fdjx
    todo t-fdjx: Is CI green
      goal      ship
      priority  p2
      for       agent
      monitor   every 1 h, due now
      added     by a, just now
      state     open
    $ loopx quota should-run --agent-id a
    true – look at t-fdjx: Is CI green
    why: monitor `t-fdjx` is due
    next: loopx todo poll t-fdjx --fingerprint "<what there is>"
    $ loopx todo poll t-fdjx --fingerprint green --follow-up 'Look at CI' --agent-id a
    polled todo t-fdjx: this is what there is to begin with; due again at 2026-11-30T13:00:08Z
    $ loopx quota should-run --agent-id a
    false – wait
    why: only monitors are left, and none is due before 2026-11-30T13:00:08Z
    next: loopx todo list --monitors
    [exit 10]
    $ loopx todo list
      t-fdjx  p2  monitor, due in 59 min  Is CI green
    $ loopx todo poll t-fdjx --agent-id a
    [stderr] error: the following required arguments were not provided:
    [stderr]   <--fingerprint <TEXT>|--same|--changed>
    [stderr]
    [stderr] Usage: loopx todo poll --agent-id <AGENT> <--fingerprint <TEXT>|--same|--changed> <TODO>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo poll t-fdjx --same --changed --agent-id a
    [stderr] error: the argument '--same' cannot be used with '--changed'
    [stderr]
    [stderr] Usage: loopx todo poll --agent-id <AGENT> <--fingerprint <TEXT>|--same|--changed> <TODO>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
    repo.sleep(3600);
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim --next --agent-id b
        loopx todo poll {id} --fingerprint green --agent-id a
        loopx todo poll {id} --fingerprint green --agent-id b
        loopx todo poll {id} --fingerprint red --follow-up 'Look at CI' --agent-id b
        loopx todo show {id}
        loopx quota should-run --agent-id a
        git log -2 --format=%B loopx/state
        loopx quota status
        loopx verify
    ")), @"
    $ loopx todo claim --next --agent-id b
    claimed todo t-fdjx (Is CI green) until 2026-11-30T13:45:13Z
    $ loopx todo poll t-fdjx --fingerprint green --agent-id a
    [stderr] error: todo `t-fdjx` is claimed by b until 2026-11-30T13:45:13Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo poll t-fdjx --fingerprint green --agent-id b
    polled todo t-fdjx: nothing new, 1 in a row; due again at 2026-11-30T14:00:15Z
    $ loopx todo poll t-fdjx --fingerprint red --follow-up 'Look at CI' --agent-id b
    polled todo t-fdjx: something is new; due again at 2026-11-30T14:00:16Z
      t-h6vs  p2  open  Look at CI
    $ loopx todo show t-fdjx
    todo t-fdjx: Is CI green
      goal      ship
      priority  p2
      for       agent
      monitor   every 1 h, due at 2026-11-30T14:00:16Z
      polled    by b, just now
      found     red
      added     by a, 1 h ago
      state     open
    $ loopx quota should-run --agent-id a
    true – work on t-h6vs: Look at CI
    why: `t-h6vs` is ready and nobody has it
    next: loopx todo claim t-h6vs
    $ git log -2 --format=%B loopx/state
    poll todo t-fdjx, changed: Is CI green

    Loopx-Op: todo.poll
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Record: todo/t-h6vs
    Loopx-Actor: agent:b
    Signed-off-by: Ann <ann@example.test>

    poll todo t-fdjx, nothing new: Is CI green

    Loopx-Op: todo.poll
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:b
    Signed-off-by: Ann <ann@example.test>

    $ loopx quota status
    goal ship: [------------] 0 of 48 slots
      compute  1
      window   24 h in slots of 30 min
      slots    0 of 48 used
    $ loopx verify
    7 commits (7 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn a_monitor_that_never_finds_anything_asks_for_another_plan() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 10m --agent-id a");
    for _ in 0..5 {
        repo.loopx(&format!("todo poll {id} --same --agent-id a")).success();
    }
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @"
    false – wait
    why: only monitors are left, and none is due before 2026-11-30T12:10:10Z
    next: loopx todo list --monitors
    [exit 10]
    ");
    repo.sleep(600);
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx todo claim --next --agent-id a
        loopx todo edit {id} --every 1h --agent-id a
        loopx quota should-run --agent-id a
    ")), @r#"
    $ loopx quota should-run --agent-id a
    true – think of the next todos
    why: nothing else is ready, and monitor `t-fdjx` found nothing new 5 times
    next: loopx todo show t-fdjx
    $ loopx todo claim --next --agent-id a
    [stderr] error: nothing of goal `ship` can be claimed now
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo edit t-fdjx --every 1h --agent-id a
    changed todo t-fdjx
      -every = 600
      -next_due = "2026-11-30T12:10:10Z"
      -unchanged = 5
      +every = 3600
      +next_due = "2026-11-30T13:00:10Z"
    $ loopx quota should-run --agent-id a
    false – wait
    why: only monitors are left, and none is due before 2026-11-30T13:00:10Z
    next: loopx todo list --monitors
    [exit 10]
    "#);
    let needy = repo.todo("'Is it hot' --every 10m --requires thermometer --agent-id a");
    repo.loopx(&format!("todo drop {id} --reason 'nobody reads it' --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx todo poll {needy} --same --follow-up x --agent-id a
    ")), @"
    $ loopx quota should-run --agent-id a
    true – think of the next todos
    why: no open todo can be worked on
    next: loopx todo list --goal-id ship
    $ loopx todo poll t-8x92 --same --follow-up x --agent-id a
    [stderr] error: the argument '--same' cannot be used with '--follow-up <TITLE>'
    [stderr]
    [stderr] Usage: loopx todo poll --agent-id <AGENT> <--fingerprint <TEXT>|--same|--changed> <TODO>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_monitor_under_a_gate_is_not_looked_at() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Is CI green' --every 1h --agent-id a");
    repo.loopx(&format!("gate open 'May we look?' --todo {id} --agent-id a")).success();
    let args = words(&format!("todo poll {id} --same --agent-id a"));
    let args: Vec<&str> = args.iter().map(|arg| arg.to_str().expect("text")).collect();
    assert_snapshot!(repo.loopx_raw(&args), @r#"
    [stderr] error: todo `t-fdjx` waits for gate `may-we-look`: "May we look?"
    [stderr] hint: a person answers it with `loopx gate resolve may-we-look --decision approve` (or `reject`)
    [exit 1]
    "#);
}
