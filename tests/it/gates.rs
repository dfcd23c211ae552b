//! The promise: nothing leaves while a question is open, and only a person answers it.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn a_push_waits_for_the_answer_and_then_goes_through() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open 'Review generated API schema?' --gate-id schema-review --agent-id codex-1")
        .success();
    repo.sleep(7200);
    assert_snapshot!(repo.git_shown("push origin main"), @r#"
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   schema-review  open  "Review generated API schema?"  asked by codex-1, 2 h ago
    [stderr] hint: a person answers with `loopx gate resolve schema-review --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    assert_snapshot!(repo.person("gate resolve schema-review --decision approve --note 'looks right'", "schema-review"), @r#"
    gate schema-review: "Review generated API schema?"
      goal     ship
      asked    by codex-1, 2 h ago
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `schema-review` to approve gate `schema-review`: schema-review
    gate schema-review is answered: approve
    "#);
    repo.git("push -q origin main").success();
    assert_snapshot!(repo.loopx("gate show schema-review"), @r#"
    gate schema-review: "Review generated API schema?"
      goal     ship
      asked    by codex-1, 2 h ago
      blocks   turn, push, publish
      options  approve, reject
      state    approve by Ann, just now
      seen at  [ID]
      note     looks right
    "#);
}

#[test]
fn a_gate_from_asking_to_the_answer() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx gate list
        loopx gate open 'Delete the staging bucket?' --agent-id codex-1
        loopx gate open 'Delete the staging bucket?' --agent-id codex-1
        loopx gate open Again? --gate-id delete-the-staging-bucket
        loopx gate list
        loopx gate show delete-the-staging-bucket
    "), @r#"
    $ loopx gate list
    $ loopx gate open 'Delete the staging bucket?' --agent-id codex-1
    opened gate delete-the-staging-bucket: "Delete the staging bucket?"
    a person answers with `loopx gate resolve delete-the-staging-bucket --decision approve` (or `reject`)
    $ loopx gate open 'Delete the staging bucket?' --agent-id codex-1
    opened gate delete-the-staging-bucket-2: "Delete the staging bucket?"
    a person answers with `loopx gate resolve delete-the-staging-bucket-2 --decision approve` (or `reject`)
    $ loopx gate open Again? --gate-id delete-the-staging-bucket
    [stderr] error: there is a gate `delete-the-staging-bucket` already, and an id is used once
    [stderr] hint: run `loopx gate show delete-the-staging-bucket`, or choose another `--gate-id`
    [exit 1]
    $ loopx gate list
      delete-the-staging-bucket    open  by codex-1, just now  Delete the staging bucket?
      delete-the-staging-bucket-2  open  by codex-1, just now  Delete the staging bucket?
    $ loopx gate show delete-the-staging-bucket
    gate delete-the-staging-bucket: "Delete the staging bucket?"
      goal     ship
      asked    by codex-1, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
    "#);
    assert_snapshot!(repo.person("resolve-gate --goal-id ship --gate-id delete-the-staging-bucket --decision approve", "delete-the-staging-bucket"), @r#"
    gate delete-the-staging-bucket: "Delete the staging bucket?"
      goal     ship
      asked    by codex-1, 5 s ago
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `delete-the-staging-bucket` to approve gate `delete-the-staging-bucket`: delete-the-staging-bucket
    gate delete-the-staging-bucket is answered: approve
    "#);
    assert_snapshot!(repo.scene("
        loopx gate list
        loopx gate list --all
        git log -1 --format=%B loopx/state
        git show loopx/state:goals/ship/gates/closed/delete-the-staging-bucket.toml
    "), @r#"
    $ loopx gate list
      delete-the-staging-bucket-2  open  by codex-1, 5 s ago  Delete the staging bucket?
    $ loopx gate list --all
      delete-the-staging-bucket    approve  by codex-1, 7 s ago  Delete the staging bucket?
      delete-the-staging-bucket-2  open     by codex-1, 6 s ago  Delete the staging bucket?
    $ git log -1 --format=%B loopx/state
    approve gate delete-the-staging-bucket

    Loopx-Op: gate.resolve
    Loopx-Goal: ship
    Loopx-Record: gate/delete-the-staging-bucket
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ git show loopx/state:goals/ship/gates/closed/delete-the-staging-bucket.toml
    format = "1.0"
    question = "Delete the staging bucket?"
    options = ["approve", "reject"]
    blocks = ["turn", "push", "publish"]

    [asked]
    by = "agent:codex-1"
    at = "2026-11-30T12:00:06Z"

    [state]
    is = "resolved"
    decision = "approve"
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:11Z"

    [state.seen]
    question = "sha256:[ID]"
    commit = "[ID]"
    tree = "[ID]"

    [state.proof]
    kind = "terminal"
    typed = "delete-the-staging-bucket"
    "#);
}

#[test]
fn a_no_keeps_holding_until_a_person_says_yes() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    let (linked, other) = (repo.todo("drop"), repo.todo("keep"));
    repo.loopx(&format!("gate open 'Drop the table?' --gate-id drop --todo {linked} --agent-id a")).success();
    assert_snapshot!(repo.person("gate resolve drop --decision reject --note 'never'", "drop"), @r#"
    gate drop: "Drop the table?"
      goal     ship
      asked    by a, just now
      blocks   turn, push, publish
      about    t-a4wn
      options  approve, reject
      state    open
      commit   [ID] feature
    1 commit that no remote has:
      feature.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `drop` to reject gate `drop`: drop
    gate drop is answered: reject
    "#);
    assert_snapshot!(repo.scene(&format!("
        loopx status
        loopx todo show {linked}
        loopx todo claim {linked} --agent-id a
        loopx todo claim {other} --agent-id a
        git push -q origin main
        loopx gate list
    ")), @r#"
    $ loopx status
      drop  reject  by a, just now  Drop the table?
    1 goal
      ship  active  0/48 slots  Ship v2
    2 todos open
      t-a4wn  p2  blocked  drop
      t-f8b6  p2  open     keep
    pushes are guarded
    $ loopx todo show t-a4wn
    todo t-a4wn: drop
      goal      ship
      priority  p2
      for       agent
      added     by Ann, 5 s ago
      state     blocked by gate drop: never
    $ loopx todo claim t-a4wn --agent-id a
    [stderr] error: todo `t-a4wn` waits for gate `drop`: "Drop the table?"
    [stderr] hint: a person answers it with `loopx gate resolve drop --decision approve`
    [exit 1]
    $ loopx todo claim t-f8b6 --agent-id a
    claimed todo t-f8b6 until 2026-11-30T12:45:17Z
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   drop  rejected  "Drop the table?"  asked by a, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve drop --decision approve`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx gate list
      drop  reject  by a, 7 s ago  Drop the table?
    "#);
    assert_snapshot!(repo.person("gate resolve drop --decision reject", "drop"), @"
    error: gate `drop` was decided already: `reject` by Ann at 2026-11-30T12:00:13Z
    hint: run `loopx gate show drop`
    [exit 1]
    ");
    repo.person("gate resolve drop --decision approve", "drop").success();
    assert_snapshot!(repo.scene(&format!("
        git push -q origin main
        loopx todo claim {linked} --agent-id a
        git log -2 --format=%B loopx/state
    ")), @"
    $ git push -q origin main
    $ loopx todo claim t-a4wn --agent-id a
    claimed todo t-a4wn until 2026-11-30T12:45:23Z
    $ git log -2 --format=%B loopx/state
    claim todo t-a4wn: drop

    Loopx-Op: todo.claim
    Loopx-Goal: ship
    Loopx-Record: todo/t-a4wn
    Loopx-Actor: agent:a
    Signed-off-by: Ann <ann@example.test>

    approve gate drop

    Loopx-Op: gate.resolve
    Loopx-Goal: ship
    Loopx-Record: gate/drop
    Loopx-Record: todo/t-a4wn
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>
    ");
}

#[test]
fn a_gate_may_offer_other_answers() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx gate open 'Which colour?' --gate-id colour --option blue --option green --agent-id a
        loopx gate resolve colour --decision approve
        loopx gate resolve colour --decision 'Sky Blue'
        loopx gate resolve colour
        loopx gate resolve --decision blue
        loopx gate resolve colour --gate-id colour --decision blue
    "), @r#"
    $ loopx gate open 'Which colour?' --gate-id colour --option blue --option green --agent-id a
    opened gate colour: "Which colour?"
    a person answers with `loopx gate resolve colour --decision blue` (or `green`, `reject`)
    $ loopx gate resolve colour --decision approve
    [stderr] error: gate `colour` does not offer `approve` (it offers `blue`, `green`, `reject`)
    [stderr] hint: use `--decision blue`, for example
    [exit 1]
    $ loopx gate resolve colour --decision 'Sky Blue'
    [stderr] error: invalid value 'Sky Blue' for '--decision <DECISION>': `Sky Blue` is not a decision (expected lower-case words joined by `-`, such as `approve`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate resolve colour
    [stderr] error: the following required arguments were not provided:
    [stderr]   --decision <DECISION>
    [stderr]
    [stderr] Usage: loopx gate resolve --decision <DECISION> <GATE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate resolve --decision blue
    [stderr] error: the following required arguments were not provided:
    [stderr]   <GATE>
    [stderr]
    [stderr] Usage: loopx gate resolve --decision <DECISION> <GATE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate resolve colour --gate-id colour --decision blue
    [stderr] error: the argument '[GATE]' cannot be used with '--gate-id <GATE>'
    [stderr]
    [stderr] Usage: loopx gate resolve --decision <DECISION> <GATE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
    assert_snapshot!(repo.loopx("quota should-run"), @r#"
    false – user gate pending: "Which colour?"
    why: everything that could be done waits for a person
    next: loopx gate resolve colour --decision blue
    [exit 10]
    "#);
    assert_snapshot!(repo.person("gate resolve colour --decision blue", "colour"), @r#"
    gate colour: "Which colour?"
      goal     ship
      asked    by a, 7 s ago
      blocks   turn, push, publish
      options  blue, green, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `colour` to answer gate `colour` with blue: colour
    gate colour is answered: blue
    "#);
    assert_snapshot!(repo.git("log -1 --format=%s loopx/state"), @"answer gate colour with blue");
}

#[test]
fn what_was_decided_stays_decided() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.person("gate resolve ready --decision approve", "ready").success();
    let before = repo.tip();
    assert_snapshot!(repo.person("gate resolve ready --decision reject", "ready"), @"
    error: gate `ready` was decided already: `approve` by Ann at 2026-11-30T12:00:06Z
    hint: run `loopx gate show ready`
    [exit 1]
    ");
    assert_snapshot!(repo.scene("
        loopx gate open Ready? --gate-id ready --agent-id a
        loopx gate resolve nope --decision approve
        loopx gate resolve read --decision approve
    "), @"
    $ loopx gate open Ready? --gate-id ready --agent-id a
    [stderr] error: there is a gate `ready` already, and an id is used once
    [stderr] hint: run `loopx gate show ready`, or choose another `--gate-id`
    [exit 1]
    $ loopx gate resolve nope --decision approve
    [stderr] error: there is no gate `nope`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    $ loopx gate resolve read --decision approve
    [stderr] error: there is no gate `read`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn the_same_id_in_two_goals_has_to_be_told_apart() {
    let repo = Sandbox::ready();
    repo.loopx("goal add Other --goal-id other").success();
    repo.loopx("gate open Ready? --goal-id ship").success();
    repo.loopx("gate open Ready? --goal-id other").success();
    assert_snapshot!(repo.loopx("gate show ready"), @"
    [stderr] error: gate `ready` stands in 2 goals (`other`, `ship`), so the goal has to be named
    [stderr] hint: add `--goal-id other`
    [exit 2]
    ");
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "ready"), @"
    error: gate `ready` stands in 2 goals (`other`, `ship`), so the goal has to be named
    hint: add `--goal-id other`
    [exit 2]
    ");
    assert_snapshot!(repo.person("gate resolve ready --goal-id other --decision approve", "ready"), @r#"
    gate ready: "Ready?"
      goal     other
      asked    by Ann, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: ready
    gate ready is answered: approve
    "#);
    assert_snapshot!(repo.loopx("gate list"), @"  ready  open  by Ann, 5 s ago  Ready?");
}

#[test]
fn an_answer_is_about_the_commit_that_was_named() {
    let repo = Sandbox::ready();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.loopx("gate resolve ready --decision approve --commit nope"), @"
    [stderr] error: `nope` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    ");
    assert_snapshot!(repo.person("gate resolve ready --decision approve --commit HEAD~1", "ready"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by a, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open
      commit   [ID] base
    its changes:
      base.txt | 1 +
      1 file changed, 1 insertion(+)

    Type `ready` to approve gate `ready`: ready
    gate ready is answered: approve
    "#);
}

#[test]
fn gates_wait_for_ever() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.sleep(400 * 86_400);
    assert_snapshot!(repo.scene("
        loopx gate list
        git push -q origin main
    "), @r#"
    $ loopx gate list
      ready  open  by a, 400 d ago  Ready?
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 400 d ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn a_gate_is_asked_about_work_that_is_open() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx(&format!("todo done {id}")).success();
    assert_snapshot!(repo.scene(&format!("
        loopx gate open Ready? --todo {id}
        loopx gate open Ready? --todo t-zzzz
        loopx gate open ''
        loopx gate open Ready? --goal-id nope
    ")), @"
    $ loopx gate open Ready? --todo t-fdjx
    [stderr] error: todo `t-fdjx` was done by Ann at 2026-11-30T12:00:06Z
    [stderr] hint: run `loopx todo show t-fdjx`
    [exit 1]
    $ loopx gate open Ready? --todo t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx gate open ''
    [stderr] error: invalid value '' for '<QUESTION>': the text is blank
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx gate open Ready? --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    ");
}
