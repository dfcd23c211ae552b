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
    why: everything that could be done waits for a person, who answers gate `review`
    next: loopx gate show review
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
    goal ship: [------------] 0 of 3 slots
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
    goal ship: [############] 3 of 3 slots
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
    goal ship: [------------] 0 of 3 slots
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
    goal ship: [############] 1 of 1 slot
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
      no   the last turns came to nothing, or had no todo and added none
      no   you have a claim that no gate covers
      =>   something is ready and no gate covers it (todo/t-7p0h, gate/ready)
      no   nothing is ready beside an open gate
      no   other agents have claims
      no   a person has something to do
      no   a monitor will be due
      no   nothing is left that could be waited for, and the goal is not known to be reached
      no   nothing is left, and every criterion is answered
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
          "says": "the last turns came to nothing, or had no todo and added none",
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
          "says": "nothing is left that could be waited for, and the goal is not known to be reached",
          "applies": false,
          "decides": false
        },
        {
          "rule": "accepted",
          "says": "nothing is left, and every criterion is answered",
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

/// A goal with three slots a day, two of which are booked.
fn booked() -> Sandbox {
    let repo = Sandbox::ready();
    repo.loopx("configure-goal --quota-slots 3 --agent-id a").success();
    repo.loopx("quota spend-slot --turn-id turn-1 --agent-id a").success();
    repo.loopx("quota spend-slot --turn-id turn-2 --agent-id a").success();
    repo
}

#[test]
fn the_window_is_a_bar_and_a_cap_is_lowered_by_anybody() {
    let repo = booked();
    assert_snapshot!(repo.scene("
        loopx quota status
        loopx configure-goal --quota-slots 12 --agent-id a
        loopx configure-goal --quota-slots none --agent-id a
        loopx configure-goal --quota-slots 2 --agent-id a
        loopx configure-goal --quota-slots 0
        loopx configure-goal --quota-slots 49
        loopx configure-goal --quota-slots many
        loopx quota status --json
    "), @r#"
    $ loopx quota status
    goal ship: [########----] 2 of 3 slots
      compute  1
      window   24 h in slots of 30 min
      cap      3 slots
      slots    2 of 3 used
    $ loopx configure-goal --quota-slots 12 --agent-id a
    [stderr] error: only a person may raise the quota of goal `ship` from 3 slots of 30 min in 24 h to 12 slots of 30 min in 24 h, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx configure-goal --goal-id ship --quota-slots 12` in a terminal of their own
    [exit 1]
    $ loopx configure-goal --quota-slots none --agent-id a
    [stderr] error: only a person may raise the quota of goal `ship` from 3 slots of 30 min in 24 h to 48 slots of 30 min in 24 h, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx configure-goal --goal-id ship --quota-slots none` in a terminal of their own
    [exit 1]
    $ loopx configure-goal --quota-slots 2 --agent-id a
    goal ship
      features  none
      compute   1
      window    24 h in slots of 30 min
      cap       2 slots
      slots     2 of 2 used
    $ loopx configure-goal --quota-slots 0
    [stderr] error: a window has 48 slots here, so a cap has 1 to 48, not 0 (a share of 0 is a pause)
    [stderr] hint: run `loopx configure-goal --help`
    [exit 2]
    $ loopx configure-goal --quota-slots 49
    [stderr] error: a window has 48 slots here, so a cap has 1 to 48, not 49 (a share of 0 is a pause)
    [stderr] hint: run `loopx configure-goal --help`
    [exit 2]
    $ loopx configure-goal --quota-slots many
    [stderr] error: invalid value 'many' for '--quota-slots <SLOTS>': `many` is not a number of slots (expected one such as `12`, or `none`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota status --json
    {
      "schema_version": 1,
      "goal": "ship",
      "compute": 1.0,
      "window_hours": 24,
      "slot_minutes": 30,
      "cap_slots": 2,
      "allowed_slots": 2,
      "spent_slots": 2,
      "grants": [],
      "free_at": "2026-12-01T12:00:06Z"
    }
    "#);
    assert_snapshot!(repo.person("configure-goal --quota-slots none", "ship"), @"
    This will
      raise the quota of goal `ship` from 2 slots of 30 min in 24 h to 48 slots of 30 min in 24 h

    Type `ship` to raise the quota of goal `ship` from 2 slots of 30 min in 24 h to 48 slots of 30 min in 24 h: ship
    goal ship
      features  none
      compute   1
      window    24 h in slots of 30 min
      slots     2 of 48 used
    ");
    assert_snapshot!(repo.loopx("quota status"), @"
    goal ship: [#-----------] 2 of 48 slots
      compute  1
      window   24 h in slots of 30 min
      slots    2 of 48 used
    ");
}

#[test]
fn a_person_voids_what_a_turn_booked() {
    let repo = booked();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx quota void turn-1 --reason crashed --agent-id a
        loopx quota void turn-1 --reason crashed
        loopx quota void turn-9 --reason crashed
        loopx quota void turn-1
    "), @r#"
    $ loopx quota void turn-1 --reason crashed --agent-id a
    [stderr] error: only a person may void what turn `turn-1` booked, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx quota void turn-1 --reason "<why>"` in a terminal of their own
    [exit 1]
    $ loopx quota void turn-1 --reason crashed
    [stderr] error: only a person at a terminal may void what turn `turn-1` booked, and there is none
    [stderr] hint: run `loopx quota void turn-1 --reason "<why>"` in a terminal
    [exit 1]
    $ loopx quota void turn-9 --reason crashed
    [stderr] error: there is no booking `turn-9` in this goal
    [stderr] hint: run `loopx history --op quota.spend` for what was booked
    [exit 1]
    $ loopx quota void turn-1
    [stderr] error: the following required arguments were not provided:
    [stderr]   --reason <TEXT>
    [stderr]
    [stderr] Usage: loopx quota void --reason <TEXT> <TURN>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
    assert_snapshot!(repo.person("quota void turn-1 --reason crashed", "turn-2"), @r#"
    turn turn-1 booked 1 slot of goal ship, by a, 7 s ago

    Type `turn-1` to void what turn `turn-1` booked: turn-2
    error: that was not `turn-1`, so nothing was changed
    hint: run `loopx quota void turn-1 --reason "<why>"` again
    [exit 1]
    "#);
    assert_eq!(repo.tip(), before);
    assert_snapshot!(repo.person("quota void turn-1 --reason 'The host crashed'", "turn-1"), @"
    turn turn-1 booked 1 slot of goal ship, by a, 9 s ago

    Type `turn-1` to void what turn `turn-1` booked: turn-1
    voided 1 slot that turn-1 booked
    2 slots left in this window
    ");
    assert_snapshot!(repo.scene("
        loopx quota void turn-1 --reason crashed
        loopx quota spend-slot --turn-id turn-1 --agent-id a
        loopx quota status
        git log -1 --format=%B loopx/state
        loopx diff loopx/state~1..
        loopx verify --all
    "), @"
    $ loopx quota void turn-1 --reason crashed
    [stderr] error: what turn `turn-1` booked was voided by Ann at 2026-11-30T12:00:15Z already
    [stderr] hint: run `loopx history --op quota.spend` for what was booked
    [exit 1]
    $ loopx quota spend-slot --turn-id turn-1 --agent-id a
    turn turn-1 was voided by Ann already
    $ loopx quota status
    goal ship: [####--------] 1 of 3 slots
      compute  1
      window   24 h in slots of 30 min
      cap      3 slots
      slots    1 of 3 used
    $ git log -1 --format=%B loopx/state
    void 1 slot of goal ship for turn-1

    > The host crashed

    Loopx-Op: quota.void
    Loopx-Goal: ship
    Loopx-Record: spend/s-qcddp32v696f
    Loopx-Actor: person
    Loopx-Turn: turn-1
    Signed-off-by: Ann <ann@example.test>

    $ loopx diff loopx/state~1..
    what turn turn-1 used was voided by Ann
    $ loopx verify --all
    6 commits (6 new commits): each is one legal mutation, signed off
    ");
    repo.todo("work");
    repo.loopx("turn begin --turn-id turn-3 --agent-id a").success();
    assert_snapshot!(repo.loopx("quota void turn-3 --reason crashed"), @"
    [stderr] error: turn `turn-3` goes on until 2026-11-30T12:45:23Z
    [stderr] hint: end it with `loopx turn end --turn-id turn-3`
    [exit 1]
    ");
    repo.loopx("turn end --turn-id turn-3 --outcome nothing --summary none --agent-id a").success();
    repo.person("quota void turn-3 --reason crashed", "turn-3").success();
    assert_snapshot!(repo.loopx("report --since 1d").stdout.lines().filter(|line| line.contains("slot")).collect::<String>(), @"0 todos done, 0 decisions made, 0 questions open, 1 slot used in 3 turns, 0 pieces of evidence.| goal | objective | state | done | open | slots || by | slots |");
}

#[test]
fn a_person_grants_a_burst_that_ends_by_itself() {
    let repo = booked();
    repo.loopx("quota spend-slot --turn-id turn-3 --agent-id a").success();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx quota grant --slots 2 --for 2h --reason release --agent-id a
        loopx quota grant --slots 2 --for 2h --reason release
        loopx quota grant --slots 2 --reason release
        loopx quota grant --slots 2 --for 2h --until 2026-11-30T18:00:00Z --reason release
        loopx quota grant --slots 0 --for 2h --reason release
        loopx quota grant --slots 2 --until 2026-11-30T08:00:00Z --reason release
        loopx quota grant --slots 2 --for 30h --reason release
    "), @r#"
    $ loopx quota grant --slots 2 --for 2h --reason release --agent-id a
    [stderr] error: only a person may grant 2 slots to goal `ship`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx quota grant --goal-id ship --slots 2 --for 120m --reason "<why>"` in a terminal of their own
    [exit 1]
    $ loopx quota grant --slots 2 --for 2h --reason release
    [stderr] error: only a person at a terminal may grant 2 slots to goal `ship`, and there is none
    [stderr] hint: run `loopx quota grant --goal-id ship --slots 2 --for 120m --reason "<why>"` in a terminal
    [exit 1]
    $ loopx quota grant --slots 2 --reason release
    [stderr] error: the following required arguments were not provided:
    [stderr]   <--until <TIME>|--for <TIME>>
    [stderr]
    [stderr] Usage: loopx quota grant --slots <SLOTS> --reason <TEXT> <--until <TIME>|--for <TIME>>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota grant --slots 2 --for 2h --until 2026-11-30T18:00:00Z --reason release
    [stderr] error: the argument '--for <TIME>' cannot be used with '--until <TIME>'
    [stderr]
    [stderr] Usage: loopx quota grant --slots <SLOTS> --reason <TEXT> <--until <TIME>|--for <TIME>>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota grant --slots 0 --for 2h --reason release
    [stderr] error: invalid value '0' for '--slots <SLOTS>': 0 is not in 1..=10000
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx quota grant --slots 2 --until 2026-11-30T08:00:00Z --reason release
    [stderr] error: the window of goal `ship` has 24 h, and a burst ends within one, not at 2026-11-30T08:00:00Z
    [stderr] hint: run `loopx quota grant --goal-id ship --slots 4 --for 2h --reason "<why>"`
    [exit 2]
    $ loopx quota grant --slots 2 --for 30h --reason release
    [stderr] error: the window of goal `ship` has 24 h, and a burst ends within one, not at 2026-12-01T18:00:16Z
    [stderr] hint: run `loopx quota grant --goal-id ship --slots 4 --for 2h --reason "<why>"`
    [exit 2]
    "#);
    assert_eq!(repo.tip(), before);
    assert_snapshot!(repo.person("quota grant --slots 2 --for 2h --reason 'The release is today'", "grant 2"), @"
    goal ship: [############] 3 of 3 slots
      compute    1
      window     24 h in slots of 30 min
      cap        3 slots
      slots      3 of 3 used
      next slot  2026-12-01T12:00:06Z
      this would grant 2 slots more until 2026-11-30T14:00:18Z

    Type `grant 2` to grant 2 slots to goal `ship`: grant 2
    granted 2 slots to goal ship until 2026-11-30T14:00:18Z
    2 slots left in this window
    ");
    assert_snapshot!(repo.scene("
        loopx quota status
        loopx quota spend-slot --turn-id turn-4 --agent-id a
        loopx quota status --json
        loopx configure-goal --quota-slots 2 --agent-id a
        git log --format=%s -3 loopx/state
        git show loopx/state:quota.json
        loopx diff loopx/state~3..loopx/state~2
        loopx verify --all
    "), @r#"
    $ loopx quota status
    goal ship: [#######-----] 3 of 5 slots
      compute  1
      window   24 h in slots of 30 min
      cap      3 slots
      slots    3 of 5 used
      granted  2 slots until 2026-11-30T14:00:18Z by Ann: The release is today
    $ loopx quota spend-slot --turn-id turn-4 --agent-id a
    booked 1 slot for turn-4
    1 slot left in this window
    $ loopx quota status --json
    {
      "schema_version": 1,
      "goal": "ship",
      "compute": 1.0,
      "window_hours": 24,
      "slot_minutes": 30,
      "cap_slots": 3,
      "allowed_slots": 5,
      "spent_slots": 4,
      "grants": [
        {
          "slots": 2,
          "until": "2026-11-30T14:00:18Z",
          "by": "Ann <ann@example.test>",
          "at": "2026-11-30T12:00:18Z",
          "reason": "The release is today",
          "proof": {
            "kind": "terminal",
            "typed": "grant 2"
          }
        }
      ],
      "free_at": null
    }
    $ loopx configure-goal --quota-slots 2 --agent-id a
    goal ship
      features  none
      compute   1
      window    24 h in slots of 30 min
      cap       2 slots
      slots     4 of 4 used
      granted   2 slots until 2026-11-30T14:00:18Z by Ann: The release is today
    $ git log --format=%s -3 loopx/state
    configure goal ship: slots 2
    spend 1 slot of goal ship for turn-4
    grant 2 slots to goal ship until 2026-11-30T14:00:18Z
    $ git show loopx/state:quota.json
    {
      "format": "1.0",
      "goals": {
        "ship": {
          "compute": 1.0,
          "window_hours": 24,
          "slot_minutes": 30,
          "slots": 2,
          "grants": [
            {
              "slots": 2,
              "until": "2026-11-30T14:00:18Z",
              "by": "Ann <ann@example.test>",
              "at": "2026-11-30T12:00:18Z",
              "reason": "The release is today",
              "proof": {
                "kind": "terminal",
                "typed": "grant 2"
              }
            }
          ]
        }
      }
    }
    $ loopx diff loopx/state~3..loopx/state~2
    Ann granted 2 slots to goal ship until 2026-11-30T14:00:18Z
    $ loopx verify --all
    9 commits (9 new commits): each is one legal mutation, signed off
    "#);
    repo.sleep(2 * 3600);
    assert_snapshot!(repo.loopx("quota status"), @"
    goal ship: [############] 4 of 3 slots
      compute    1
      window     24 h in slots of 30 min
      cap        2 slots
      slots      4 of 3 used
      next slot  2026-12-01T12:00:07Z
    ");
    repo.sleep(24 * 3600);
    assert_snapshot!(repo.loopx("quota status"), @"
    goal ship: [------------] 0 of 2 slots
      compute  1
      window   24 h in slots of 30 min
      cap      2 slots
      slots    0 of 2 used
    ");
}

#[test]
fn the_plan_says_which_goal_should_get_the_next_slot() {
    let repo = Sandbox::ready();
    for (goal, cap) in [("docs", 6), ("tests", 12), ("empty", 12), ("idle", 12)] {
        repo.loopx(&format!("goal add '{goal}' --goal-id {goal}")).success();
        repo.loopx(&format!("configure-goal --goal-id {goal} --quota-slots {cap}")).success();
    }
    repo.loopx("goal pause idle").success();
    for goal in ["ship", "docs", "tests"] {
        repo.todo(&format!("work --goal-id {goal}"));
    }
    repo.loopx("gate open Really? --goal-id empty --agent-id a").success();
    for (goal, slots) in [("ship", 20), ("docs", 2), ("tests", 3)] {
        repo.loopx(&format!("quota spend-slot --goal-id {goal} --slots {slots}")).success();
    }
    assert_snapshot!(repo.scene("
        loopx quota plan --agent-id a
        loopx quota spend-slot --goal-id tests --slots 9
        loopx quota plan --agent-id a
        loopx quota plan --agent-id a --json
    "), @r#"
    $ loopx quota plan --agent-id a
    the next slot is for goal tests
    next: loopx quota should-run --goal-id tests
      tests  [###---------]  3 of 12   even      run
      docs   [####--------]  2 of 6    1 ahead   run
      ship   [#####-------]  20 of 48  5 ahead   run
      empty  [------------]  0 of 12   3 behind  ask
    $ loopx quota spend-slot --goal-id tests --slots 9
    booked 9 slots for turn-rzy7bjkbgdffpqk8
    0 slots left in this window
    $ loopx quota plan --agent-id a
    the next slot is for goal docs
    next: loopx quota should-run --goal-id docs
      docs   [####--------]  2 of 6    even      run
      ship   [#####-------]  20 of 48  even      run
      empty  [------------]  0 of 12   5 behind  ask
      tests  [############]  12 of 12  7 ahead   wait
    $ loopx quota plan --agent-id a --json
    {
      "schema_version": 1,
      "next": "docs",
      "goals": [
        {
          "goal": "docs",
          "allowed_slots": 6,
          "spent_slots": 2,
          "deficit": 0,
          "answer": "run",
          "should_run": true,
          "why": "`t-69t5` is ready and nobody has it"
        },
        {
          "goal": "ship",
          "allowed_slots": 48,
          "spent_slots": 20,
          "deficit": 0,
          "answer": "run",
          "should_run": true,
          "why": "`t-578h` is ready and nobody has it"
        },
        {
          "goal": "empty",
          "allowed_slots": 12,
          "spent_slots": 0,
          "deficit": 5,
          "answer": "ask",
          "should_run": false,
          "why": "everything that could be done waits for a person, who answers gate `really`"
        },
        {
          "goal": "tests",
          "allowed_slots": 12,
          "spent_slots": 12,
          "deficit": -7,
          "answer": "wait",
          "should_run": false,
          "why": "the quota of this window is used up until 2026-12-01T12:00:20Z"
        }
      ]
    }
    "#);
    for goal in ["ship", "docs", "tests"] {
        repo.loopx(&format!("goal pause {goal}")).success();
    }
    assert_snapshot!(repo.loopx("quota plan"), @"
    no goal can use a slot now
      empty  [------------]  0 of 12  even  ask
    [exit 10]
    ");
    repo.loopx("goal pause empty").success();
    assert_snapshot!(repo.loopx("quota plan"), @"
    no goal is active
    [exit 10]
    ");
}

#[test]
fn when_every_criterion_is_answered_and_nothing_is_left_it_stops() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    repo.loopx("goal add 'Ship v2' --goal-id ship --done-when 'it builds' --done-when 'it is fast'")
        .success();
    let seen = repo.loopx("evidence add --text seen --json").json();
    let seen = seen["id"].as_str().expect("an id");
    assert_snapshot!(repo.scene(&format!("
        loopx quota should-run --agent-id a
        loopx goal meet --met 1={seen} --agent-id a
        loopx quota should-run --agent-id a
        loopx goal meet --met 3={seen} --agent-id a
        loopx goal meet --met 2=e-zzzz --agent-id a
        loopx goal meet
        loopx goal meet --met 2={seen} --agent-id a
        loopx goal meet --met 2={seen} --agent-id a
        loopx quota should-run --agent-id a --explain
        loopx goal show
    ")), @r#"
    $ loopx quota should-run --agent-id a
    true – think of the next todos
    why: no todo is open; criteria that are not answered yet: 1, 2
    next: loopx todo add --goal-id ship "<next step>"
    $ loopx goal meet --met 1=e-7p0h --agent-id a
    goal ship: 1 of 2 criteria are answered
    $ loopx quota should-run --agent-id a
    true – think of the next todos
    why: no todo is open; criteria that are not answered yet: 2
    next: loopx todo add --goal-id ship "<next step>"
    $ loopx goal meet --met 3=e-7p0h --agent-id a
    [stderr] error: goal `ship` has no criterion 3 (it has 2 of them)
    [stderr] hint: run `loopx goal show ship`
    [exit 2]
    $ loopx goal meet --met 2=e-zzzz --agent-id a
    [stderr] error: there is no evidence `e-zzzz` in this goal
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    $ loopx goal meet
    [stderr] error: the following required arguments were not provided:
    [stderr]   --met <N=EVIDENCE>
    [stderr]
    [stderr] Usage: loopx goal meet --met <N=EVIDENCE> [GOAL]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx goal meet --met 2=e-7p0h --agent-id a
    goal ship: 2 of 2 criteria are answered
    next: a person ends it with `loopx goal achieve ship`
    $ loopx goal meet --met 2=e-7p0h --agent-id a
    goal ship: 2 of 2 criteria are answered already
    next: a person ends it with `loopx goal achieve ship`
    $ loopx quota should-run --agent-id a --explain
    false – stop
    why: nothing is left, and every criterion is answered: a person can say that the goal is reached
    next: loopx goal show ship
    rules, of which the first that applies decides
      no   the goal is not active, or has no share of compute
      no   an open gate covers everything that could be done
      no   the quota of the window is used up
      no   the last turns came to nothing, or had no todo and added none
      no   you have a claim that no gate covers
      no   something is ready and no gate covers it
      no   nothing is ready beside an open gate
      no   other agents have claims
      no   a person has something to do
      no   a monitor will be due
      no   nothing is left that could be waited for, and the goal is not known to be reached
      =>   nothing is left, and every criterion is answered (evidence/e-7p0h, evidence/e-7p0h)
    [exit 10]
    $ loopx goal show
    goal ship: Ship v2
      state      active
      added      by Ann, 11 s ago
      done when  it builds (e-7p0h)
      done when  it is fast (e-7p0h)
      compute    1
      window     24 h in slots of 30 min
      slots      0 of 48 used
    "#);
    let todo = repo.todo("'One more'");
    assert_snapshot!(repo.loopx("quota should-run --agent-id a"), @"
    true – work on t-53mf: One more
    why: `t-53mf` is ready and nobody has it
    next: loopx todo claim t-53mf
    ");
    repo.loopx(&format!("todo done {todo} --agent-id a")).success();
    assert_snapshot!(repo.person("goal achieve", "ship"), @"
    goal ship: Ship v2
      done when it builds (e-7p0h)
      done when it is fast (e-7p0h)

    Type `ship` to achieve goal `ship`: ship
    achieved goal ship
    ");
    assert_snapshot!(repo.scene("
        loopx goal meet ship --unmet 1
        loopx verify --all
    "), @"
    $ loopx goal meet ship --unmet 1
    [stderr] error: goal `ship` is achieved
    [stderr] hint: run `loopx goal show ship`
    [exit 1]
    $ loopx verify --all
    8 commits (8 new commits): each is one legal mutation, signed off
    ");
}
