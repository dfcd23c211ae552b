//! What may happen next, and what was used.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn each_answer_of_should_run() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.loopx("quota should-run --goal-id ship"), @r#"
    true – think of the next todos
    why: no todo is open
    next: loopx todo add --goal-id ship "<next step>"
    "#);
    let id = repo.todo("'Write the schema'");
    assert_snapshot!(repo.loopx("quota should-run --goal-id ship"), @"
    true – work on t-7p0h: Write the schema
    why: `t-7p0h` is ready and nobody has it
    next: loopx todo claim t-7p0h
    ");
    repo.loopx(&format!("todo claim {id} --agent-id a")).success();
    assert_snapshot!(repo.scene("
        loopx quota should-run --agent-id a
        loopx quota should-run --agent-id b
    "), @"
    $ loopx quota should-run --agent-id a
    true – go on with t-7p0h: Write the schema
    why: your claim on `t-7p0h` holds until 2026-11-30T12:45:08Z
    next: loopx todo done t-7p0h
    $ loopx quota should-run --agent-id b
    false – wait
    why: other agents have all the work; the first claim ends at 2026-11-30T12:45:08Z
    next: loopx todo list
    [exit 10]
    ");
    repo.loopx(&format!(
        "gate open 'Review generated API schema?' --gate-id review --todo {id} --agent-id a"
    ))
    .success();
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    false – user gate pending: "Review generated API schema?"
    why: everything that could be done waits for a person
    next: loopx gate resolve review --decision approve
    [exit 10]
    "#);
    repo.todo("Docs");
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @r#"
    true – work on t-zv3z: Docs (user gate pending: "Review generated API schema?")
    why: gate `review` is open, but `t-zv3z` does not fall under it
    next: loopx todo claim t-zv3z
    "#);
    repo.loopx("configure-goal --quota-compute 0").success();
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @"
    false – stop
    why: goal `ship` has a compute share of 0
    next: loopx quota status --goal-id ship
    [exit 10]
    ");
    assert_snapshot!(repo.loopx("quota should-run --goal-id nope"), @"
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
}

#[test]
fn asking_writes_nothing() {
    let repo = Sandbox::ready();
    repo.todo("one");
    let before = crate::sandbox::files(&repo.path("repo/.git"));
    repo.loopx("quota should-run").success();
    repo.loopx("status").success();
    repo.loopx("todo list").success();
    assert_eq!(crate::sandbox::files(&repo.path("repo/.git")), before);
}

#[test]
fn the_answer_is_small_whatever_was_typed() {
    let repo = Sandbox::ready();
    let long = "ü".repeat(250);
    repo.todo(&long);
    for n in 0..5 {
        repo.loopx(&format!("gate open {long} --gate-id g{n} --agent-id a")).success();
    }
    let answer = repo.loopx("quota should-run --json");
    assert_eq!(answer.code, 10);
    assert!(answer.stdout.len() < 2_048, "{} bytes", answer.stdout.len());
}

#[test]
fn should_run_as_one_document() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx(&format!("gate open Ready? --todo {id} --agent-id a")).success();
    repo.todo("two --priority p0");
    assert_snapshot!(repo.loopx("quota should-run --json --agent-id a"), @r#"
    {
      "schema_version": 1,
      "answer": "run-other",
      "should_run": true,
      "goal": "ship",
      "todo": {
        "id": "t-s29v",
        "title": "two",
        "priority": "p0"
      },
      "gates": [
        {
          "id": "ready",
          "question": "Ready?"
        }
      ],
      "why": "gate `ready` is open, but `t-s29v` does not fall under it",
      "next": "loopx todo claim t-s29v"
    }
    "#);
}

#[test]
fn a_turn_is_paid_for_once() {
    let repo = Sandbox::ready();
    repo.loopx("configure-goal --quota-window-hours 24 --quota-compute 0.0625").success();
    assert_snapshot!(repo.scene("
        loopx quota status
        loopx quota spend-slot --turn-id turn-1 --agent-id a
        loopx quota spend-slot --turn-id turn-1 --agent-id a
        loopx quota spend-slot --turn-id turn-1 --slots 2 --agent-id b
        loopx quota spend-slot --turn-id turn-2 --slots 3
        loopx quota spend-slot --turn-id turn-2 --slots 2
        loopx quota spend-slot --turn-id turn-3
        loopx quota should-run
        loopx quota status
        git log -1 --format=%B loopx/state
    "), @"
    $ loopx quota status
    goal ship
      compute  0.0625
      window   24 h in slots of 30 min
      slots    0 of 3 used
    $ loopx quota spend-slot --turn-id turn-1 --agent-id a
    booked 1 slot for turn-1
    2 slots left in this window
    $ loopx quota spend-slot --turn-id turn-1 --agent-id a
    booked 1 slot for turn-1 already
    2 slots left in this window
    $ loopx quota spend-slot --turn-id turn-1 --slots 2 --agent-id b
    booked 1 slot for turn-1 already
    2 slots left in this window
    $ loopx quota spend-slot --turn-id turn-2 --slots 3
    [stderr] error: goal `ship` has 2 of 3 slots left in this window, and 3 are wanted
    [stderr] hint: run `loopx quota status --goal-id ship`
    [exit 1]
    $ loopx quota spend-slot --turn-id turn-2 --slots 2
    booked 2 slots for turn-2
    0 slots left in this window
    $ loopx quota spend-slot --turn-id turn-3
    [stderr] error: goal `ship` has 0 of 3 slots left in this window, and 1 is wanted
    [stderr] hint: run `loopx quota status --goal-id ship`
    [exit 1]
    $ loopx quota should-run
    false – wait
    why: the quota of this window is used up until 2026-12-01T12:00:07Z
    next: loopx quota status --goal-id ship
    [exit 10]
    $ loopx quota status
    goal ship
      compute    0.0625
      window     24 h in slots of 30 min
      slots      3 of 3 used
      next slot  2026-12-01T12:00:07Z
    $ git log -1 --format=%B loopx/state
    spend 2 slots of goal ship for turn-2

    Loopx-Op: quota.spend
    Loopx-Goal: ship
    Loopx-Record: spend/s-zk90jsgm77s8
    Loopx-Actor: person
    Loopx-Turn: turn-2
    Signed-off-by: Ann <ann@example.test>
    ");
    repo.sleep(86_400);
    assert_snapshot!(repo.scene("
        loopx quota status
        loopx quota spend-slot --turn-id turn-1
        loopx quota spend-slot --turn-id turn-3
    "), @"
    $ loopx quota status
    goal ship
      compute  0.0625
      window   24 h in slots of 30 min
      slots    0 of 3 used
    $ loopx quota spend-slot --turn-id turn-1
    booked 1 slot for turn-1 already
    3 slots left in this window
    $ loopx quota spend-slot --turn-id turn-3
    booked 1 slot for turn-3
    2 slots left in this window
    ");
}

#[test]
fn a_clock_that_jumps_back_gives_nobody_new_slots() {
    let mut repo = Sandbox::ready();
    repo.loopx("configure-goal --quota-compute 0.0209").success();
    repo.loopx("quota spend-slot --turn-id turn-1").success();
    repo.env("LOOPX_NOW", "2026-11-01T00:00:00Z");
    assert_snapshot!(repo.scene("
        loopx quota status
        loopx quota spend-slot --turn-id turn-2
    "), @"
    $ loopx quota status
    goal ship
      compute    0.0209
      window     24 h in slots of 30 min
      slots      1 of 1 used
      next slot  2026-12-01T12:00:06Z
    $ loopx quota spend-slot --turn-id turn-2
    [stderr] error: goal `ship` has 0 of 1 slots left in this window, and 1 is wanted
    [stderr] hint: run `loopx quota status --goal-id ship`
    [exit 1]
    ");
}

#[test]
fn what_is_no_booking_is_refused() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx quota spend-slot --slots 0
        loopx quota spend-slot --slots 99
        loopx quota spend-slot --turn-id 'a turn'
        loopx quota spend-slot --evidence e-zzzz
        loopx quota spend-slot --goal-id nope
    "), @"
    $ loopx quota spend-slot --slots 0
    [stderr] error: invalid value '0' for '--slots <SLOTS>': 0 is not in 1..=10000
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota spend-slot --slots 99
    [stderr] error: goal `ship` has 48 of 48 slots left in this window, and 99 are wanted
    [stderr] hint: run `loopx quota status --goal-id ship`
    [exit 1]
    $ loopx quota spend-slot --turn-id 'a turn'
    [stderr] error: invalid value 'a turn' for '--turn-id <TURN>': `a turn` is not a turn id (expected 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit, such as `turn-0042`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota spend-slot --evidence e-zzzz
    [stderr] error: there is no evidence `e-zzzz` in this goal
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    $ loopx quota spend-slot --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn every_rule_can_be_seen() {
    let repo = Sandbox::ready();
    let todo = repo.todo("one");
    repo.todo("two");
    repo.loopx(&format!("gate open Ready? --todo {todo} --agent-id a")).success();
    assert_snapshot!(repo.scene("
        loopx quota should-run --explain --agent-id a
        loopx quota should-run --explain --agent-id a --json
    "), @r#"
    $ loopx quota should-run --explain --agent-id a
    true – work on t-7p0h: two (user gate pending: "Ready?")
    why: gate `ready` is open, but `t-7p0h` does not fall under it
    next: loopx todo claim t-7p0h
    rules, of which the first that applies decides
      no   the goal is not active, or has no share of compute
      no   an open gate covers everything that could be done
      no   the quota of the window is used up
      no   the last turns came to nothing
      no   you have a claim that no gate covers
      =>   something is ready and no gate covers it (todo/t-7p0h, gate/ready)
      no   nothing is ready beside an open gate
      no   other agents have claims
      no   a person has something to do
      no   a monitor will be due
      no   nothing is left that could be waited for
    $ loopx quota should-run --explain --agent-id a --json
    {
      "schema_version": 1,
      "answer": "run-other",
      "should_run": true,
      "goal": "ship",
      "todo": {
        "id": "t-7p0h",
        "title": "two",
        "priority": "p2"
      },
      "gates": [
        {
          "id": "ready",
          "question": "Ready?"
        }
      ],
      "why": "gate `ready` is open, but `t-7p0h` does not fall under it",
      "next": "loopx todo claim t-7p0h",
      "rules": [
        {
          "rule": "stopped",
          "says": "the goal is not active, or has no share of compute",
          "applies": false,
          "decides": false
        },
        {
          "rule": "gated",
          "says": "an open gate covers everything that could be done",
          "applies": false,
          "decides": false
        },
        {
          "rule": "quota",
          "says": "the quota of the window is used up",
          "applies": false,
          "decides": false
        },
        {
          "rule": "idle",
          "says": "the last turns came to nothing",
          "applies": false,
          "decides": false
        },
        {
          "rule": "claim",
          "says": "you have a claim that no gate covers",
          "applies": false,
          "decides": false
        },
        {
          "rule": "ready",
          "says": "something is ready and no gate covers it",
          "applies": true,
          "decides": true,
          "records": [
            "todo/t-7p0h",
            "gate/ready"
          ]
        },
        {
          "rule": "open-gate",
          "says": "nothing is ready beside an open gate",
          "applies": false,
          "decides": false
        },
        {
          "rule": "others",
          "says": "other agents have claims",
          "applies": false,
          "decides": false
        },
        {
          "rule": "person",
          "says": "a person has something to do",
          "applies": false,
          "decides": false
        },
        {
          "rule": "monitors",
          "says": "a monitor will be due",
          "applies": false,
          "decides": false
        },
        {
          "rule": "planless",
          "says": "nothing is left that could be waited for",
          "applies": false,
          "decides": false
        }
      ]
    }
    "#);
}

#[test]
fn an_answer_is_under_two_kilobytes_whatever_the_texts_are() {
    let repo = Sandbox::ready();
    let long = "\"".repeat(500);
    let todo = repo.todo("one");
    for id in ["first", "second", "third"].map(|id| id.repeat(10)) {
        repo.loopx_raw(&["gate", "open", &long, "--gate-id", &id, "--todo", &todo, "--agent-id", "a"])
            .success();
    }
    repo.loopx_raw(&["todo", "add", &long]).success();
    let told = repo.loopx("quota should-run --agent-id a --json");
    assert_eq!(told.json()["answer"], "run-other");
    assert!(told.stdout.len() < 2048, "{} bytes", told.stdout.len());
}
