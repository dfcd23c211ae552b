//! Work: adding, taking, giving back, completing, and what stands in the way of each.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_todo_from_adding_to_done() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Write the schema' --body 'One table a noun.' --priority p1 --agent-id codex-1");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx todo claim {id} --agent-id codex-1
        loopx todo list
        loopx todo show {id}
        loopx todo release {id} --agent-id codex-1
        loopx todo done {id} --agent-id codex-1 --note 'as agreed'
        loopx todo list
        loopx todo list --all
        loopx todo show {id}
        git log -3 --format=%B loopx/state
    ")), @"
    $ loopx todo show t-fdjx
    todo t-fdjx: Write the schema
      goal      ship
      priority  p1
      for       agent
      added     by codex-1, just now
      state     open

    One table a noun.
    $ loopx todo claim t-fdjx --agent-id codex-1
    claimed todo t-fdjx until 2026-11-30T12:45:07Z
    $ loopx todo list
      t-fdjx  p1  claimed by codex-1  Write the schema
    $ loopx todo show t-fdjx
    todo t-fdjx: Write the schema
      goal      ship
      priority  p1
      for       agent
      added     by codex-1, just now
      state     claimed by codex-1, just now, until 2026-11-30T12:45:07Z

    One table a noun.
    $ loopx todo release t-fdjx --agent-id codex-1
    released todo t-fdjx
    $ loopx todo done t-fdjx --agent-id codex-1 --note 'as agreed'
    completed todo t-fdjx: Write the schema
    $ loopx todo list
    $ loopx todo list --all
      t-fdjx  p1  done  Write the schema
    $ loopx todo show t-fdjx
    todo t-fdjx: Write the schema
      goal      ship
      priority  p1
      for       agent
      added     by codex-1, 9 s ago
      state     done by codex-1, just now
      note      as agreed

    One table a noun.
    $ git log -3 --format=%B loopx/state
    complete todo t-fdjx: Write the schema

    > as agreed

    Loopx-Op: todo.done
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:codex-1
    Signed-off-by: Ann <ann@example.test>

    release todo t-fdjx: Write the schema

    Loopx-Op: todo.release
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:codex-1
    Signed-off-by: Ann <ann@example.test>

    claim todo t-fdjx: Write the schema

    Loopx-Op: todo.claim
    Loopx-Goal: ship
    Loopx-Record: todo/t-fdjx
    Loopx-Actor: agent:codex-1
    Signed-off-by: Ann <ann@example.test>
    ");
}

#[test]
fn the_same_text_twice_makes_two() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx todo add one
        loopx todo list
    "), @"
    $ loopx todo add one
    added todo t-fdjx: one
    $ loopx todo add one
    added todo t-7p0h: one
    $ loopx todo list
      t-fdjx  p2  open  one
      t-7p0h  p2  open  one
    ");
}

#[test]
fn urgent_work_comes_first_and_old_before_new() {
    let repo = Sandbox::ready();
    for (title, priority) in [("later", "p3"), ("now", "p0"), ("usual", "p2"), ("usual too", "p2")] {
        repo.todo(&format!("'{title}' --priority {priority}"));
    }
    assert_snapshot!(repo.scene("
        loopx todo list
        loopx todo add x --priority p9
        loopx todo add x --for nobody
    "), @"
    $ loopx todo list
      t-7p0h  p0  open  now
      t-s29v  p2  open  usual
      t-c22j  p2  open  usual too
      t-fdjx  p3  open  later
    $ loopx todo add x --priority p9
    [stderr] error: invalid value 'p9' for '--priority <PRIORITY>'
    [stderr]   [possible values: p0, p1, p2, p3]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo add x --for nobody
    [stderr] error: invalid value 'nobody' for '--for <WHO>'
    [stderr]   [possible values: agent, person]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_beginning_of_an_id_means_the_only_one_it_fits() {
    let repo = Sandbox::ready();
    let (first, second) = same_beginning(&repo);
    let both = &first[..3];
    let one = &first[..=first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count()];
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {both}
        loopx todo done {both}
        loopx todo done {one}
        loopx todo show {first}
        loopx todo done {first}
        loopx todo show t-zzzz
        loopx todo done t-zzzz
        loopx todo show nope
        loopx todo show t-
        loopx todo show T-{both}
    ")), @"
    $ loopx todo show t-s
    [stderr] error: `t-s` fits 2 todos (`t-s29v`, `t-sry7`)
    [stderr] hint: write more of the id, such as `t-s29v`
    [exit 2]
    $ loopx todo done t-s
    [stderr] error: `t-s` fits 2 todos (`t-s29v`, `t-sry7`)
    [stderr] hint: write more of the id, such as `t-s29v`
    [exit 2]
    $ loopx todo done t-s2
    completed todo t-s29v: one
    $ loopx todo show t-s29v
    todo t-s29v: one
      goal      ship
      priority  p2
      for       agent
      added     by Ann, 6 s ago
      state     done by Ann, just now
    $ loopx todo done t-s29v
    [stderr] error: todo `t-s29v` was done by Ann at 2026-11-30T12:00:12Z
    [stderr] hint: run `loopx todo show t-s29v`
    [exit 1]
    $ loopx todo show t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx todo done t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx todo show nope
    [stderr] error: invalid value 'nope' for '<TODO>': `nope` is not a todo id (expected `t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo show t-
    [stderr] error: invalid value 't-' for '<TODO>': `t-` is not a todo id (expected `t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo show T-t-s
    [stderr] error: invalid value 'T-t-s' for '<TODO>': `T-t-s` is not a todo id (expected `t-` and what follows it, such as `t-7k3q`, or an unambiguous beginning of that)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

/// Adds todos until two begin alike.
fn same_beginning(repo: &Sandbox) -> (String, String) {
    let mut ids: Vec<String> = Vec::new();
    loop {
        let id = repo.todo("one");
        if let Some(other) = ids.iter().find(|other| other[..3] == id[..3]) {
            return (other.clone(), id);
        }
        ids.push(id);
    }
}

#[test]
fn the_first_claim_wins_and_an_expired_one_can_be_taken() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {id} --agent-id a --ttl 10m
        loopx todo claim {id} --agent-id b
        loopx todo release {id} --agent-id b
        loopx todo done {id} --agent-id b
        loopx todo claim {id} --agent-id a --ttl 10m
    ")), @"
    $ loopx todo claim t-fdjx --agent-id a --ttl 10m
    claimed todo t-fdjx until 2026-11-30T12:10:06Z
    $ loopx todo claim t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:10:06Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo release t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:10:06Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo done t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:10:06Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo claim t-fdjx --agent-id a --ttl 10m
    claimed todo t-fdjx until 2026-11-30T12:10:06Z already
    ");
    repo.sleep(400);
    assert_snapshot!(repo.loopx(&format!("todo claim {id} --agent-id a --ttl 10m")), @"claimed todo t-fdjx until 2026-11-30T12:16:51Z");
    repo.sleep(700);
    assert_snapshot!(repo.scene(&format!("
        loopx todo list
        loopx todo claim {id} --agent-id b
        loopx todo claim {id} --agent-id a
        loopx todo done {id} --agent-id a
        loopx todo show {id}
    ")), @"
    $ loopx todo list
      t-fdjx  p2  claim of a ran out  one
    $ loopx todo claim t-fdjx --agent-id b
    claimed todo t-fdjx until 2026-11-30T13:03:33Z (taken over from a)
    $ loopx todo claim t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:33Z, until 2026-11-30T13:03:33Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: the claim on todo `t-fdjx` ran out, and b took it over at 2026-11-30T12:18:33Z, until 2026-11-30T13:03:33Z
    [stderr] hint: run `loopx quota should-run`: it says what may be done now, and why
    [exit 1]
    $ loopx todo show t-fdjx
    todo t-fdjx: one
      goal      ship
      priority  p2
      for       agent
      added     by Ann, 18 min ago
      state     claimed by b, just now, taken from a, until 2026-11-30T13:03:33Z
    ");
}

#[test]
fn a_late_holder_may_complete_what_nobody_took() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx(&format!("todo claim {id} --agent-id a --ttl 1m")).success();
    repo.sleep(3_600);
    assert_snapshot!(repo.scene(&format!("
        loopx todo done {id} --agent-id a
        loopx todo done {id} --agent-id a
        loopx todo claim {id} --agent-id b
        loopx todo release {id} --agent-id a
    ")), @"
    $ loopx todo done t-fdjx --agent-id a
    completed todo t-fdjx: one
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` was done by a at 2026-11-30T13:00:07Z
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo claim t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` was done by a at 2026-11-30T13:00:07Z
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx todo release t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` was done by a at 2026-11-30T13:00:07Z
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    ");
}

#[test]
fn a_time_that_makes_no_sense_claims_nothing() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let before = repo.tip();
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {id} --ttl soon
        loopx todo claim {id} --ttl 0m
        loopx todo claim {id} --ttl=-5m
        loopx todo claim {id} --ttl 99999999h
    ")), @"
    $ loopx todo claim t-fdjx --ttl soon
    [stderr] error: invalid value 'soon' for '--ttl <TIME>': `soon` is not a length of time (expected the form `45m` or `1h 30m`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo claim t-fdjx --ttl 0m
    [stderr] error: invalid value '0m' for '--ttl <TIME>': a claim holds for a minute at least
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo claim t-fdjx --ttl=-5m
    [stderr] error: invalid value '-5m' for '--ttl <TIME>': `-5m` is not a length of time (expected the form `45m` or `1h 30m`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo claim t-fdjx --ttl 99999999h
    [stderr] error: invalid value '99999999h' for '--ttl <TIME>': `99999999h` is not a length of time (expected the form `45m` or `1h 30m`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn what_is_needed_has_to_be_done_first() {
    let repo = Sandbox::ready();
    let first = repo.todo("first");
    let second = repo.todo(&format!("second --needs {first}"));
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {second}
        loopx todo claim {second} --agent-id a
        loopx todo done {second} --agent-id a
        loopx todo add third --needs t-zzzz
        loopx todo done {first} --agent-id a
        loopx todo claim {second} --agent-id a
        loopx todo add fourth --needs {first}
    ")), @"
    $ loopx todo show t-7p0h
    todo t-7p0h: second
      goal      ship
      priority  p2
      for       agent
      needs     t-fdjx
      added     by Ann, just now
      state     open
    $ loopx todo claim t-7p0h --agent-id a
    [stderr] error: todo `t-7p0h` needs `t-fdjx`, which is not closed yet
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo done t-7p0h --agent-id a
    [stderr] error: todo `t-7p0h` needs `t-fdjx`, which is not closed yet
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo add third --needs t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx todo done t-fdjx --agent-id a
    completed todo t-fdjx: first
    $ loopx todo claim t-7p0h --agent-id a
    claimed todo t-7p0h until 2026-11-30T12:45:12Z
    $ loopx todo add fourth --needs t-fdjx
    added todo t-zv3z: fourth
    ");
}

#[test]
fn a_need_is_a_todo_of_the_same_goal() {
    let repo = Sandbox::ready();
    repo.loopx("goal add Other --goal-id other").success();
    let there = repo.todo("there --goal-id other");
    assert_snapshot!(repo.scene(&format!("
        loopx todo add here --goal-id ship --needs {there}
        loopx gate open Ready? --goal-id ship --todo {there}
    ")), @"
    $ loopx todo add here --goal-id ship --needs t-7p0h
    [stderr] error: todo `t-7p0h` belongs to goal `other`, not to `ship`
    [stderr] hint: run `loopx todo show t-7p0h`
    [exit 1]
    $ loopx gate open Ready? --goal-id ship --todo t-7p0h
    [stderr] error: todo `t-7p0h` belongs to goal `other`, not to `ship`
    [stderr] hint: run `loopx todo show t-7p0h`
    [exit 1]
    ");
}

#[test]
fn what_a_host_cannot_do_is_not_offered_to_it() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Fetch the data' --requires network --requires gpu");
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {id}
        loopx quota should-run --agent-id a
        loopx quota should-run --agent-id a --capability network --capability gpu
        loopx todo add x --requires 'Big Iron'
    ")), @"
    $ loopx todo show t-fdjx
    todo t-fdjx: Fetch the data
      goal      ship
      priority  p2
      for       agent
      requires  gpu, network
      added     by Ann, just now
      state     open
    $ loopx quota should-run --agent-id a
    true – think of the next todos
    why: no open todo can be worked on
    next: loopx todo list --goal-id ship
    $ loopx quota should-run --agent-id a --capability network --capability gpu
    true – work on t-fdjx: Fetch the data
    why: `t-fdjx` is ready and nobody has it
    next: loopx todo claim t-fdjx
    $ loopx todo add x --requires 'Big Iron'
    [stderr] error: invalid value 'Big Iron' for '--requires <CAPABILITY>': `Big Iron` is not a runtime capability (expected lower-case words joined by `-`, such as `network`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn work_for_a_person_is_not_taken_by_an_agent() {
    let repo = Sandbox::ready();
    let id = repo.todo("'Sign the contract' --for person");
    assert_snapshot!(repo.scene(&format!("
        loopx todo list
        loopx quota should-run --agent-id a
        loopx todo claim {id} --agent-id a
        loopx todo done {id} --agent-id a
        loopx todo done {id}
    ")), @r#"
    $ loopx todo list
      t-fdjx  p2  open, for a person  Sign the contract
    $ loopx quota should-run --agent-id a
    false – a person has something to do
    why: only a person can do "Sign the contract"
    next: loopx todo show t-fdjx
    [exit 10]
    $ loopx todo claim t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` is for a person, not for agent `a`
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` is for a person, not for agent `a`
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo done t-fdjx
    completed todo t-fdjx: Sign the contract
    "#);
}

#[test]
fn a_claim_waits_for_a_gate_and_holds_through_one() {
    let repo = Sandbox::ready();
    let (held, free) = (repo.todo("held"), repo.todo("free"));
    repo.loopx(&format!("todo claim {held} --agent-id a")).success();
    repo.loopx(&format!("gate open 'Go on?' --todo {held} --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {held} --agent-id a
        loopx todo done {held} --agent-id a
        loopx todo claim {free} --agent-id b
        loopx todo release {held} --agent-id a
        loopx todo claim {held} --agent-id b
        loopx gate open All? --agent-id b
        loopx todo done {free} --agent-id b
    ")), @r#"
    $ loopx todo claim t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` waits for gate `go-on`: "Go on?"
    [stderr] hint: a person answers it with `loopx gate resolve go-on --decision approve` (or `reject`)
    [exit 1]
    $ loopx todo done t-fdjx --agent-id a
    [stderr] error: todo `t-fdjx` waits for gate `go-on`: "Go on?"
    [stderr] hint: a person answers it with `loopx gate resolve go-on --decision approve` (or `reject`)
    [exit 1]
    $ loopx todo claim t-7p0h --agent-id b
    claimed todo t-7p0h until 2026-11-30T12:45:11Z
    $ loopx todo release t-fdjx --agent-id a
    released todo t-fdjx
    $ loopx todo claim t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` waits for gate `go-on`: "Go on?"
    [stderr] hint: a person answers it with `loopx gate resolve go-on --decision approve` (or `reject`)
    [exit 1]
    $ loopx gate open All? --agent-id b
    opened gate all: "All?"
    a person answers with `loopx gate resolve all --decision approve` (or `reject`)
    $ loopx todo done t-7p0h --agent-id b
    [stderr] error: todo `t-7p0h` waits for gate `all`: "All?"
    [stderr] hint: a person answers it with `loopx gate resolve all --decision approve` (or `reject`)
    [exit 1]
    "#);
}

#[test]
fn a_goal_that_does_not_exist_gets_no_todo() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx todo add one --goal-id ship
        loopx todo list --goal-id ship
        loopx todo list
    "), @r#"
    $ loopx todo add one
    [stderr] error: there is no active goal
    [stderr] hint: run `loopx goal add "<objective>"`
    [exit 1]
    $ loopx todo add one --goal-id ship
    [stderr] error: there is no goal `ship`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx todo list --goal-id ship
    [stderr] error: there is no goal `ship`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx todo list
    "#);
}

#[test]
fn a_person_who_frees_an_agents_work_is_told_how() {
    let repo = Sandbox::ready();
    let todo = repo.todo("work");
    repo.loopx(&format!("todo claim {todo} --agent-id a")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo release {todo}
        loopx todo release {todo} --agent-id b
        loopx todo block {todo} --reason 'not now'
    ")), @r#"
    $ loopx todo release t-fdjx
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:45:06Z
    [stderr] hint: take it from them with `loopx todo block t-fdjx --reason "<why>"`
    [exit 1]
    $ loopx todo release t-fdjx --agent-id b
    [stderr] error: todo `t-fdjx` is claimed by a until 2026-11-30T12:45:06Z
    [stderr] hint: run `loopx quota should-run` for something to do
    [exit 1]
    $ loopx todo block t-fdjx --reason 'not now'
    blocked todo t-fdjx
    "#);
}
