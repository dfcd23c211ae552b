//! What a person's answer does: a no means no, and both a question and a no can be taken back by a person.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a commit to push, a todo, and a gate over it that waits.
fn asked() -> (Sandbox, String) {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    let todo = repo.todo("drop");
    repo.loopx(&format!("gate open 'Drop the table?' --gate-id drop --todo {todo} --agent-id a")).success();
    (repo, todo)
}

#[test]
fn a_question_is_taken_back_by_a_person_with_a_reason() {
    let (repo, todo) = asked();
    assert_snapshot!(repo.loopx("gate withdraw drop --reason moot --agent-id a"), @"
    [stderr] error: only a person may withdraw gate `drop`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx gate withdraw drop --reason '<why>'` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("gate withdraw drop"), @"
    [stderr] error: the following required arguments were not provided:
    [stderr]   --reason <TEXT>
    [stderr]
    [stderr] Usage: loopx gate withdraw --reason <TEXT> <GATE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(repo.person("gate withdraw drop --reason 'the table stays'", "drop"), @r#"
    gate drop: "Drop the table?"
      goal     ship
      asked    by a, just now
      blocks   turn, push, publish
      about    t-a4wn
      options  approve, reject
      state    open

    Type `drop` to withdraw gate `drop`: drop
    gate drop is withdrawn
    "#);
    assert_snapshot!(repo.scene(&format!("
        loopx gate show drop
        loopx todo claim {todo} --agent-id a
        git push -q origin main
        git log -1 --format=%B loopx/state~1
        loopx verify
    ")), @r#"
    $ loopx gate show drop
    gate drop: "Drop the table?"
      goal     ship
      asked    by a, just now
      blocks   turn, push, publish
      about    t-a4wn
      options  approve, reject
      state    withdrawn by Ann, just now
      reason   the table stays
    $ loopx todo claim t-a4wn --agent-id a
    claimed todo t-a4wn until 2026-11-30T12:45:16Z
    $ git push -q origin main
    $ git log -1 --format=%B loopx/state~1
    withdraw gate drop

    > the table stays

    Loopx-Op: gate.withdraw
    Loopx-Goal: ship
    Loopx-Record: gate/drop
    Loopx-Record: todo/t-a4wn
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ loopx verify
    6 commits (6 new commits): each is one legal mutation, signed off
    "#);
    assert_snapshot!(repo.person("gate withdraw drop --reason again", "drop"), @"
    error: gate `drop` was decided already: `withdrawn` by Ann at 2026-11-30T12:00:14Z
    hint: run `loopx gate show drop`
    [exit 1]
    ");
    assert_snapshot!(repo.person("gate resolve drop --decision approve", "drop"), @"
    error: gate `drop` was decided already: `withdrawn` by Ann at 2026-11-30T12:00:14Z
    hint: run `loopx gate show drop`
    [exit 1]
    ");
}

#[test]
fn a_no_holds_until_a_person_opens_the_question_again_or_takes_it_back() {
    let (repo, todo) = asked();
    assert_snapshot!(repo.person("gate reopen drop --reason 'not yet'", "drop"), @"
    error: nobody said no at gate `drop`
    hint: run `loopx gate show drop`
    [exit 1]
    ");
    repo.person("gate resolve drop --decision reject --note never", "drop").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo show {todo}
        loopx todo claim {todo} --agent-id a
        loopx todo done {todo} --agent-id a
        loopx todo done {todo}
        git push -q origin main
        loopx gate reopen drop --reason please --agent-id a
        loopx gate withdraw drop --reason please --agent-id a
    ")), @r#"
    $ loopx todo show t-a4wn
    todo t-a4wn: drop
      goal      ship
      priority  p2
      for       agent
      added     by Ann, just now
      state     blocked by gate drop: never
    $ loopx todo claim t-a4wn --agent-id a
    [stderr] error: todo `t-a4wn` waits for gate `drop`: "Drop the table?"
    [stderr] hint: a person answers it with `loopx gate resolve drop --decision approve`
    [exit 1]
    $ loopx todo done t-a4wn --agent-id a
    [stderr] error: todo `t-a4wn` waits for gate `drop`: "Drop the table?"
    [stderr] hint: a person answers it with `loopx gate resolve drop --decision approve`
    [exit 1]
    $ loopx todo done t-a4wn
    [stderr] error: todo `t-a4wn` waits for gate `drop`: "Drop the table?"
    [stderr] hint: a person answers it with `loopx gate resolve drop --decision approve`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   drop  rejected  "Drop the table?"  asked by a, 7 s ago
    [stderr] hint: a person answers with `loopx gate resolve drop --decision approve`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx gate reopen drop --reason please --agent-id a
    [stderr] error: only a person may reopen gate `drop`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx gate reopen drop --reason '<why>'` in a terminal of their own
    [exit 1]
    $ loopx gate withdraw drop --reason please --agent-id a
    [stderr] error: only a person may withdraw gate `drop`, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx gate withdraw drop --reason '<why>'` in a terminal of their own
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate reopen drop --reason 'I had not seen the backup'", "drop"), @r#"
    gate drop: "Drop the table?"
      goal     ship
      asked    by a, 10 s ago
      blocks   turn, push, publish
      about    t-a4wn
      options  approve, reject
      state    reject by Ann, 8 s ago
      seen at  [ID]
      note     never

    Type `drop` to reopen gate `drop`: drop
    gate drop is open again
    "#);
    assert_snapshot!(repo.scene(&format!("
        loopx gate show drop
        loopx todo show {todo}
        loopx todo claim {todo} --agent-id a
        git push -q origin main
    ")), @r#"
    $ loopx gate show drop
    gate drop: "Drop the table?"
      goal     ship
      asked    by a, 11 s ago
      blocks   turn, push, publish
      about    t-a4wn
      options  approve, reject
      state    open again by Ann, just now
      reason   I had not seen the backup
    $ loopx todo show t-a4wn
    todo t-a4wn: drop
      goal      ship
      priority  p2
      for       agent
      added     by Ann, 13 s ago
      state     open
    $ loopx todo claim t-a4wn --agent-id a
    [stderr] error: todo `t-a4wn` waits for gate `drop`: "Drop the table?"
    [stderr] hint: a person answers it with `loopx gate resolve drop --decision approve` (or `reject`)
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   drop  open  "Drop the table?"  asked by a, 14 s ago
    [stderr] hint: a person answers with `loopx gate resolve drop --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    repo.person("gate resolve drop --decision reject", "drop").success();
    repo.person("gate withdraw drop --reason 'asked elsewhere'", "drop").success();
    assert_snapshot!(repo.scene(&format!("
        loopx todo claim {todo} --agent-id a
        git push -q origin main
        loopx verify --all
    ")), @"
    $ loopx todo claim t-a4wn --agent-id a
    claimed todo t-a4wn until 2026-11-30T12:45:28Z
    $ git push -q origin main
    $ loopx verify --all
    9 commits (9 new commits): each is one legal mutation, signed off
    ");
}
