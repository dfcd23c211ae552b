//! A turn begins with one command and ends with one, whatever happens in between.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_turn_is_two_commits() {
    let repo = Sandbox::ready();
    repo.todo("one --check true");
    assert_snapshot!(repo.scene("
        loopx turn begin --turn-id x-1 --agent-id a
        loopx turn begin --turn-id x-1 --agent-id a
        loopx turn end --turn-id x-1 --outcome progress --summary 'half of it' --agent-id a
        loopx turn end --turn-id x-1 --outcome progress --summary 'half of it' --agent-id a
        loopx turn begin --turn-id x-2 --agent-id b
        loopx turn end --turn-id x-2 --outcome completed --summary 'all of it' --spend 2 --agent-id b
        loopx turn begin --turn-id x-2 --agent-id b
        loopx quota status
        git log --format=%s loopx/state
        loopx verify
    "), @r#"
    $ loopx turn begin --turn-id x-1 --agent-id a
    turn x-1: work on t-fdjx: one
    until  2026-11-30T12:45:06Z
    goal   Ship v2
    next: loopx turn end --turn-id x-1 --outcome <outcome> --summary "<what>"
    $ loopx turn begin --turn-id x-1 --agent-id a
    turn x-1: work on t-fdjx: one
    until  2026-11-30T12:45:06Z
    goal   Ship v2
    next: loopx turn end --turn-id x-1 --outcome <outcome> --summary "<what>"
    $ loopx turn end --turn-id x-1 --outcome progress --summary 'half of it' --agent-id a
    ended turn x-1: progress, 1 slot used
    $ loopx turn end --turn-id x-1 --outcome progress --summary 'half of it' --agent-id a
    ended turn x-1: progress, 1 slot used already
    $ loopx turn begin --turn-id x-2 --agent-id b
    turn x-2: work on t-fdjx: one
    until  2026-11-30T12:45:10Z
    goal   Ship v2
    before x-1 (progress): half of it
    next: loopx turn end --turn-id x-2 --outcome <outcome> --summary "<what>"
    $ loopx turn end --turn-id x-2 --outcome completed --summary 'all of it' --spend 2 --agent-id b
    ended turn x-2: completed, 2 slots used
    $ loopx turn begin --turn-id x-2 --agent-id b
    turn x-2: work on t-fdjx: one
    ended  completed, at 2026-11-30T12:00:11Z
    goal   Ship v2
    before x-1 (progress): half of it
    $ loopx quota status
    goal ship: [#-----------] 3 of 48 slots
      compute  1
      window   24 h in slots of 30 min
      slots    3 of 48 used
    $ git log --format=%s loopx/state
    end turn x-2: completed
    begin turn x-2, claim todo t-fdjx: one
    end turn x-1: progress
    begin turn x-1, claim todo t-fdjx: one
    add todo t-fdjx: one
    add goal ship: Ship v2
    begin loopx state
    $ loopx verify
    7 commits (7 new commits): each is one legal mutation, signed off
    "#);
}

#[test]
fn a_turn_is_one_object() {
    let repo = Sandbox::ready();
    repo.todo("one");
    assert_snapshot!(repo.loopx("turn begin --turn-id x-1 --agent-id a --json"), @r#"
    {
      "schema_version": 1,
      "goal": "ship",
      "turn": {
        "id": "x-1",
        "until": "2026-11-30T12:45:06Z",
        "ended": null,
        "objective": "Ship v2",
        "done_when": [],
        "todo": {
          "id": "t-fdjx",
          "title": "one",
          "for": "agent",
          "priority": "p2",
          "added": {
            "by": "Ann <ann@example.test>",
            "at": "2026-11-30T12:00:05Z"
          },
          "state": {
            "is": "claimed",
            "by": "agent:a",
            "since": "2026-11-30T12:00:06Z",
            "lease_until": "2026-11-30T12:45:06Z",
            "epoch": 1
          },
          "evidence": []
        },
        "gates": [],
        "handoff": [],
        "note": null
      },
      "instead": null,
      "lost": [],
      "commit": "[ID]",
      "warnings": []
    }
    "#);
}

#[test]
fn a_turn_that_nobody_ended_is_ended_by_the_next() {
    let repo = Sandbox::ready();
    repo.todo("one");
    repo.loopx("turn begin --turn-id x-1 --lease 10m --agent-id a").success();
    assert_snapshot!(repo.scene("loopx turn begin --turn-id x-2 --agent-id b"), @"
    $ loopx turn begin --turn-id x-2 --agent-id b
    false – wait
    why: other agents have all the work; the first claim ends at 2026-11-30T12:10:06Z
    next: loopx todo list
    [exit 10]
    ");
    repo.sleep(700);
    assert_snapshot!(repo.scene("
        loopx turn begin --turn-id x-3 --agent-id b
        loopx turn end --turn-id x-1 --outcome completed --summary late --agent-id a
        loopx turn end --turn-id x-3 --outcome nothing --summary stuck --agent-id a
        loopx turn end --turn-id x-3 --outcome nothing --summary stuck --agent-id b
        loopx quota should-run --agent-id b
        loopx turn begin --turn-id x-4 --agent-id b
        loopx turn end --turn-id x-4 --outcome nothing --summary stuck --agent-id b
        loopx turn begin --turn-id x-5 --agent-id b
        loopx turn end --turn-id x-5 --outcome nothing --summary stuck --agent-id b
        loopx turn begin --turn-id x-6 --agent-id b
        loopx verify
    "), @r#"
    $ loopx turn begin --turn-id x-3 --agent-id b
    turn x-3: work on t-fdjx: one
    until  2026-11-30T12:56:48Z
    goal   Ship v2
    next: loopx turn end --turn-id x-3 --outcome <outcome> --summary "<what>"
    ended turn x-1, which nobody had ended
    $ loopx turn end --turn-id x-1 --outcome completed --summary late --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:11:48Z, until 2026-11-30T12:56:48Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx turn end --turn-id x-3 --outcome nothing --summary stuck --agent-id a
    [stderr] error: turn `x-3` was begun by b
    [stderr] hint: begin another one with `loopx turn begin`
    [exit 1]
    $ loopx turn end --turn-id x-3 --outcome nothing --summary stuck --agent-id b
    ended turn x-3: nothing, 0 slots used
    $ loopx quota should-run --agent-id b
    true – think of the next todos
    why: the last 2 turns came to nothing
    next: loopx todo add --goal-id ship "<next step>"
    $ loopx turn begin --turn-id x-4 --agent-id b
    turn x-4: think of the next todos
    until  2026-11-30T12:56:53Z
    goal   Ship v2
    before x-3 (nothing): stuck
    next: loopx turn end --turn-id x-4 --outcome <outcome> --summary "<what>"
    $ loopx turn end --turn-id x-4 --outcome nothing --summary stuck --agent-id b
    ended turn x-4: nothing, 0 slots used
    $ loopx turn begin --turn-id x-5 --agent-id b
    turn x-5: think of the next todos
    until  2026-11-30T12:56:55Z
    goal   Ship v2
    before x-4 (nothing): stuck
    before x-3 (nothing): stuck
    next: loopx turn end --turn-id x-5 --outcome <outcome> --summary "<what>"
    $ loopx turn end --turn-id x-5 --outcome nothing --summary stuck --agent-id b
    ended turn x-5: nothing, 0 slots used
    $ loopx turn begin --turn-id x-6 --agent-id b
    false – a person should look at the plan
    why: the last 4 turns came to nothing: a person should look
    next: loopx todo list --goal-id ship
    [exit 10]
    $ loopx verify
    10 commits (10 new commits): each is one legal mutation, signed off
    "#);
}

#[test]
fn a_todo_frees_a_stuck_goal_at_once() {
    let mut repo = Sandbox::ready();
    repo.env("LOOPX_NOW", "2026-11-30T13:00:00Z");
    for turn in 1..=4 {
        repo.loopx(&format!("turn begin --turn-id x-{turn} --agent-id a")).success();
        let end = format!("turn end --turn-id x-{turn} --outcome completed --summary thought --agent-id a");
        repo.loopx(&end).success();
    }
    assert_snapshot!(repo.scene("
        loopx quota should-run --agent-id a
        loopx turn begin --turn-id x-5 --agent-id a
        loopx todo add three
        loopx quota should-run --agent-id a
    "), @"
    $ loopx quota should-run --agent-id a
    false – a person should look at the plan
    why: the last 4 turns had no todo and added none: a person should look
    next: loopx todo list --goal-id ship
    [exit 10]
    $ loopx turn begin --turn-id x-5 --agent-id a
    false – a person should look at the plan
    why: the last 4 turns had no todo and added none: a person should look
    next: loopx todo list --goal-id ship
    [exit 10]
    $ loopx todo add three
    added todo t-69t5: three
    $ loopx quota should-run --agent-id a
    true – work on t-69t5: three
    why: `t-69t5` is ready and nobody has it
    next: loopx todo claim t-69t5
    ");
}

#[test]
fn what_is_no_turn_is_refused() {
    let repo = Sandbox::ready();
    let todo = repo.todo("one --check false");
    repo.loopx("quota spend-slot --turn-id x-1").success();
    repo.loopx("turn begin --turn-id x-2 --agent-id a").success();
    assert_snapshot!(repo.scene("
        loopx turn begin --turn-id x-1
        loopx turn begin --turn-id x-2 --agent-id b
        loopx turn end --turn-id x-9 --outcome nothing --summary no --agent-id a
        loopx turn end --turn-id x-2 --outcome completed --summary no --agent-id a
        loopx turn end --turn-id x-2 --outcome progress --summary no --evidence e-zzzz --agent-id a
        loopx quota spend-slot --turn-id x-2 --agent-id a
        loopx turn end --turn-id x-2 --outcome blocked --summary 'no key' --agent-id a
        loopx verify
    "), @"
    $ loopx turn begin --turn-id x-1
    [stderr] error: turn `x-1` was booked without being begun
    [stderr] hint: begin another one with `loopx turn begin`
    [exit 1]
    $ loopx turn begin --turn-id x-2 --agent-id b
    [stderr] error: turn `x-2` was begun by a
    [stderr] hint: begin another one with `loopx turn begin`
    [exit 1]
    $ loopx turn end --turn-id x-9 --outcome nothing --summary no --agent-id a
    [stderr] error: there is no turn `x-9`
    [stderr] hint: run `loopx turn begin --turn-id x-9`
    [exit 1]
    $ loopx turn end --turn-id x-2 --outcome completed --summary no --agent-id a
    [stderr] error: todo `t-fdjx` is not done: its check `false` ended with exit 1
    [stderr] hint: make it pass and run `loopx todo done t-fdjx` again
    [exit 1]
    $ loopx turn end --turn-id x-2 --outcome progress --summary no --evidence e-zzzz --agent-id a
    [stderr] error: there is no evidence `e-zzzz` in this goal
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    $ loopx quota spend-slot --turn-id x-2 --agent-id a
    [stderr] error: turn `x-2` goes on until 2026-11-30T12:45:07Z
    [stderr] hint: end it with `loopx turn end --turn-id x-2`
    [exit 1]
    $ loopx turn end --turn-id x-2 --outcome blocked --summary 'no key' --agent-id a
    ended turn x-2: blocked, 1 slot used
    $ loopx verify
    6 commits (6 new commits): each is one legal mutation, signed off
    ");
    assert!(repo.loopx(&format!("todo show {todo}")).stdout.contains("no key"));
}

#[test]
fn lies_about_turns_are_named() {
    let repo = Sandbox::ready();
    repo.todo("one");
    repo.loopx("turn begin --turn-id x-1 --agent-id a").success();
    let listed = crate::sandbox::files(&repo.path("repo/.loopx/goals/ship/spend"));
    let name = listed.iter().find(|name| name.ends_with(".json")).expect("a turn").clone();
    let name = name.rsplit('/').next().expect("a name").to_owned();
    let (path, id) = (format!("goals/ship/spend/{name}"), name.trim_end_matches(".json").to_owned());
    let text = repo.read(&format!("repo/.loopx/{path}"));
    let tip = repo.tip();
    let says = |op: &str| {
        format!(
            "x\n\nLoopx-Op: {op}\nLoopx-Goal: ship\nLoopx-Record: spend/{id}\nLoopx-Actor: agent:b\nSigned-off-by: Ann <ann@example.test>\n"
        )
    };
    let ended = |outcome: &str| {
        let end = format!(
            "\"end\": {{\n      \"outcome\": \"{outcome}\",\n      \"by\": \"agent:b\",\n      \"at\": \"2026-11-30T12:00:30Z\"\n    }}"
        );
        let (head, until) = text.split_once("\"until\"").expect("an end");
        let (until, tail) = until.split_once('\n').expect("a line");
        format!("{head}\"until\"{until},\n    {end}\n{tail}")
    };
    let mut said = String::new();
    for (text, op) in [
        (ended("lost"), "turn.begin"),
        (ended("nothing"), "turn.end"),
        (text.replace("\"slots\": 1", "\"slots\": 0"), "turn.end"),
    ] {
        repo.forge_as(&path, &text, &says(op));
        let verified = repo.loopx("verify --json");
        said.push_str(&format!(
            "{}\n",
            verified.json()["bad"]["problem"].as_str().unwrap_or("nothing is wrong")
        ));
        repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    }
    assert_snapshot!(said, @"
    it is refused: turn `x-1` goes on until 2026-11-30T12:45:06Z
    spend/s-0jcwjnp1nzmy says another actor or time than the commit
    `turn.end` does not do that to spend/s-0jcwjnp1nzmy
    ");
}

#[test]
fn a_turn_is_found_by_its_id_in_whichever_goal_it_is() {
    let repo = Sandbox::ready();
    repo.loopx("goal add 'Docs' --goal-id docs").success();
    repo.loopx("todo add write --goal-id docs").success();
    assert_snapshot!(repo.scene("
        loopx turn begin --turn-id t1 --agent-id a
        loopx turn begin --turn-id t1 --agent-id a --goal-id docs
        loopx turn begin --turn-id t1 --agent-id a
        loopx turn end --turn-id t1 --agent-id a --outcome completed --summary done
        loopx quota spend-slot --turn-id t1 --agent-id a
    "), @r#"
    $ loopx turn begin --turn-id t1 --agent-id a
    [stderr] error: 2 goals are active (`docs`, `ship`), so the goal has to be named
    [stderr] hint: add `--goal-id docs`
    [exit 2]
    $ loopx turn begin --turn-id t1 --agent-id a --goal-id docs
    turn t1: work on t-7p0h: write
    until  2026-11-30T12:45:08Z
    goal   Docs
    next: loopx turn end --turn-id t1 --outcome <outcome> --summary "<what>"
    $ loopx turn begin --turn-id t1 --agent-id a
    turn t1: work on t-7p0h: write
    until  2026-11-30T12:45:08Z
    goal   Docs
    next: loopx turn end --turn-id t1 --outcome <outcome> --summary "<what>"
    $ loopx turn end --turn-id t1 --agent-id a --outcome completed --summary done
    ended turn t1: completed, 1 slot used
    $ loopx quota spend-slot --turn-id t1 --agent-id a
    booked 1 slot for t1 already
    47 slots left in this window
    "#);
    assert_snapshot!(repo.person("quota void t1 --reason oops", "t1"), @"
    turn t1 booked 1 slot of goal docs, by a, just now
      it came to: completed
      it paid for e-a4wn

    Type `t1` to void what turn `t1` booked: t1
    voided 1 slot that t1 booked
    48 slots left in this window
    ");
}
