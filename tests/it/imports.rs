//! `import --from`: what another tool kept becomes new goals, in one commit by a person, or nothing changes.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const BEADS: &str = r#"{"id":"bd-1","title":"Write the schema","description":"All of it.","status":"closed","priority":1,"issue_type":"task","closed_at":"2025-12-16T13:26:47Z","close_reason":"merged","labels":["api"]}
{"id":"bd-2","title":"Generate the client","acceptance_criteria":"It compiles.","notes":"Ask Bob.","status":"in_progress","priority":0,"issue_type":"feature","assignee":"bob","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-4","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-9","type":"blocks"}]}
{"id":"bd-3","title":"Publish","status":"blocked","priority":4,"issue_type":"task","dependencies":[{"issue_id":"bd-3","depends_on_id":"bd-2","type":"blocks"},{"issue_id":"bd-3","depends_on_id":"bd-1","type":"related"}]}
{"id":"bd-4","title":"Is the schema good?","description":"See the pull request.","status":"open","priority":0,"issue_type":"gate","await_type":"human"}
{"id":"bd-5","title":"Old","status":"tombstone","priority":2,"issue_type":"bug"}
"#;

/// Markdown as LoopX 0.5.1 writes it.
const STATE: &str = r"---
status: active
owner_mode: goal
objective: 'Ship v2'
updated_at: 2026-11-30T19:54:35+00:00
---

# Active Goal State

## Objective

Ship v2

## Non-Goals

- Do not publish private project evidence.

## User Todo / Owner Review Reading Queue

- [x] [P1] Choose the onboarding todos.
  <!-- loopx:todo todo_id=todo_ff948e17985e status=done task_class=user_gate decision_outcome=approve evidence=said%20yes%20in%20chat completed_at=2026-11-30T19:55:03%2B00:00 -->
- [ ] [P0] Review generated API schema?
  <!-- loopx:todo todo_id=todo_2347b7422837 status=open task_class=user_gate decision_scope=public_claim:goal:schema goal_bound=true -->
- [ ] Buy a domain
  <!-- loopx:todo todo_id=todo_4a132ef6784b status=open task_class=user_action -->

## Agent Todo

- [x] [P0] Write the schema
  <!-- loopx:todo todo_id=todo_7e1b625cc38a status=done task_class=advancement_task action_kind=implement required_capabilities=network no_followup=true note=done%20well evidence=commit%20abc completed_at=2026-11-30T19:55:05%2B00:00 -->
- [ ] [P1] Generate the client
  <!-- loopx:todo todo_id=todo_fa5eafb77e86 status=open task_class=advancement_task note=after%20100%25%20of%20the%20schema%3B%20%C3%BCn%C3%AFcode required_decision_scopes=public_claim:goal:schema validation_command=pytest%20-q -->
  - in Rust, please
- [-] Deploy
  <!-- loopx:todo todo_id=todo_473067dc50c1 status=deferred task_class=advancement_task resume_when=todo_done:todo_fa5eafb77e86 -->
- [ ] Stuck one
  <!-- loopx:todo todo_id=todo_f48c135abb51 status=blocked task_class=blocker note=no%20credentials -->
- [ ] [P2] Watch the canary
  <!-- loopx:todo todo_id=todo_efb05c169f19 status=open task_class=continuous_monitor target_key=canary cadence=2h -->

## Next Action

- Ask the user.
";

const REGISTRY: &str = r#"{"schema_version":"0.1","goals":[{"id":"ship-v2","status":"active","state_file":".codex/goals/ship-v2/ACTIVE_GOAL_STATE.md","spawn_policy":{"mode":"default"}}]}"#;

const TASK: &str = "---
id: BACK-2
title: Create tasks with a composer
status: In Progress
assignee:
  - '@codex'
created_date: '2026-04-25 12:14'
labels: [tui, enhancement]
dependencies: [BACK-1]
priority: high
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Deliver the first slice.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 The board shows it.
- [ ] #2 Cancel writes nothing.
<!-- AC:END -->
";

fn beads() -> Sandbox {
    let repo = Sandbox::ready();
    repo.write("other/.beads/issues.jsonl", BEADS);
    repo
}

fn backlog() -> Sandbox {
    let repo = Sandbox::ready();
    let folder = "other/backlog";
    repo.write(
        &format!("{folder}/config.yml"),
        "project_name: \"Board\"\nstatuses: [\"To Do\", \"Shipped\"]\n",
    );
    repo.write(&format!("{folder}/tasks/back-2 - Create.md"), TASK);
    repo.write(
        &format!("{folder}/tasks/back-10 - Later.md"),
        "---\nid: back-10\ntitle: Later\nstatus: To Do\nparent_task_id: back-2\n---\n",
    );
    repo.write(
        &format!("{folder}/completed/back-1 - First.md"),
        "---\nid: back-1\ntitle: First\nstatus: Shipped\n---\nDone.\n",
    );
    repo.write(
        &format!("{folder}/archive/tasks/back-3 - Not.md"),
        "---\nid: back-3\ntitle: Not now\nstatus: To Do\n---\n",
    );
    repo.write(
        &format!("{folder}/drafts/draft-1 - Idea.md"),
        "---\nid: draft-1\ntitle: Idea\nstatus: Draft\n---\n",
    );
    repo.write(&format!("{folder}/docs/guide.md"), "A guide\n");
    repo.write(&format!("{folder}/tasks/README.md"), "No task\n");
    repo
}

fn loopx_python() -> Sandbox {
    let repo = Sandbox::ready();
    repo.write("other/.loopx/registry.json", REGISTRY);
    repo.write("other/.codex/goals/ship-v2/ACTIVE_GOAL_STATE.md", STATE);
    repo
}

#[test]
fn a_preview_is_shown_to_anybody_and_writes_nothing() {
    let repo = beads();
    let tip = repo.tip();
    assert_snapshot!(repo.loopx("import --from beads ../other --dry-run --agent-id a"), @r#"
    --- /dev/null
    +++ .loopx/goals/beads/state.json
    @@ -0,0 +1,11 @@
    +{
    +  "format": "1.0",
    +  "objective": "Finish the issues imported from beads",
    +  "added": {
    +    "by": "Ann <ann@example.test>",
    +    "at": "2026-11-30T12:00:06Z"
    +  },
    +  "state": {
    +    "is": "active"
    +  }
    +}
    --- /dev/null
    +++ .loopx/goals/beads/gates/is-the-schema-good.toml
    @@ -0,0 +1,12 @@
    +format = "1.0"
    +question = "Is the schema good? (bd-4)"
    +options = ["approve", "reject"]
    +blocks = ["turn", "push", "publish"]
    +todos = ["t-j6nh"]
    +
    +[asked]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/beads/todos/t-j6nh.toml
    @@ -0,0 +1,23 @@
    +format = "1.0"
    +title = "Generate the client"
    +body = """
    +From beads: bd-2
    +
    +Acceptance criteria:
    +It compiles.
    +
    +Notes:
    +Ask Bob.
    +
    +issue_type: feature
    +assignee: bob"""
    +for = "agent"
    +priority = "p0"
    +needs = ["t-56dz"]
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/beads/todos/t-naqh.toml
    @@ -0,0 +1,18 @@
    +format = "1.0"
    +title = "Publish"
    +body = """
    +From beads: bd-3
    +
    +related: bd-1
    +
    +issue_type: task"""
    +for = "agent"
    +priority = "p3"
    +needs = ["t-j6nh"]
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/beads/evidence/e-j6nh.toml
    @@ -0,0 +1,14 @@
    +format = "1.0"
    +dirty = false
    +gate = "is-the-schema-good"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +
    +[what]
    +kind = "note"
    +text = """
    +From beads: bd-4
    +
    +See the pull request."""
    --- /dev/null
    +++ .loopx/goals/beads/todos/closed/t-56dz.toml
    @@ -0,0 +1,21 @@
    +format = "1.0"
    +title = "Write the schema"
    +body = """
    +From beads: bd-1
    +
    +All of it.
    +
    +issue_type: task
    +labels: api"""
    +for = "agent"
    +priority = "p1"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +
    +[state]
    +is = "done"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:06Z"
    +note = "closed in beads 2025-12-16T13:26:47Z: merged"
    what has no counterpart here:
      issue_type          kept in the text                              3  bd-1, bd-2, bd-3
      labels              kept in the text                              1  bd-1
      status in_progress  open: nobody has it until it is claimed here  1  bd-2
      assignee            kept in the text                              1  bd-2
      priority 4          p3, the lowest there is                       1  bd-3
      related             kept in the text                              1  bd-3
      status tombstone    left out: it was deleted                      1  bd-5
      needs               dropped: it names nothing that is imported    1  bd-2
      status              open: its needs say until when                1  bd-3
    would import 1 goal, 3 todos (1 closed) and 1 gate from beads
    "#);
    assert_eq!(repo.tip(), tip);
    let plan = repo.loopx("import --from beads ../other --dry-run --json").success().json();
    assert_eq!((&plan["preview"]["files"], &plan["preview"]["shown"]), (&6.into(), &6.into()));
    assert_snapshot!(plan["report"][0], @r#"{"count":3,"fate":"kept in the text","field":"issue_type","items":["bd-1","bd-2","bd-3"]}"#);
}

#[test]
fn issues_of_beads_become_a_goal() {
    let repo = beads();
    let tip = repo.tip();
    assert_snapshot!(repo.scene("loopx import --from beads ../other --agent-id a"), @"
    $ loopx import --from beads ../other --agent-id a
    [stderr] error: only a person may import 1 goal, 3 todos (1 closed) and 1 gate from beads, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx import --from beads ../other` in a terminal of their own
    [exit 1]
    ");
    assert_eq!(repo.person("import --from beads ../other", "no").code, 1);
    assert_eq!(repo.tip(), tip);
    let shown = repo.person("import --from beads ../other", "beads").success().stdout;
    let end: Vec<&str> = shown.lines().rev().take(3).collect();
    assert_snapshot!(end.join("\n"), @"
    imported 1 goal, 3 todos (1 closed) and 1 gate from beads
    Type `beads` to import 1 goal, 3 todos (1 closed) and 1 gate from beads: beads
    ");
    assert_eq!(repo.git("rev-parse loopx/state~1").stdout, tip, "one commit");
    assert_snapshot!(repo.scene("
        git log -1 --format=%B loopx/state
        loopx verify --all
        loopx todo list --goal-id beads --all
        loopx gate list
        loopx quota should-run --goal-id beads
        loopx import --from beads ../other
    "), @r#"
    $ git log -1 --format=%B loopx/state
    import goal beads from beads: Finish the issues imported from beads

    Loopx-Op: import
    Loopx-Goal: beads
    Loopx-Record: goal/beads
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ loopx verify --all
    3 commits (3 new commits): each is one legal mutation, signed off
    $ loopx todo list --goal-id beads --all
      t-mecq  p0  open  Generate the client
      t-qfwv  p3  open  Publish
      t-c40v  p1  done  Write the schema
    $ loopx gate list
      is-the-schema-good  open  by Ann, 5 s ago  Is the schema good? (bd-4)
    $ loopx quota should-run --goal-id beads
    false – user gate pending: "Is the schema good? (bd-4)"
    why: everything that could be done waits for a person
    next: loopx gate resolve is-the-schema-good --decision approve
    [exit 10]
    $ loopx import --from beads ../other
    [stderr] error: there is a goal `beads` already, and an import overwrites nothing
    [stderr] hint: run `loopx import --from beads ../other --goal-id <another>`, or see it with `loopx goal show beads`
    [exit 1]
    "#);
    repo.person("import --from beads ../other/.beads/issues.jsonl --goal-id again", "again").success();
    assert_eq!(repo.loopx("verify").code, 0);
}

#[test]
fn goals_of_loopx_come_with_their_questions() {
    let repo = loopx_python();
    assert_snapshot!(repo.loopx("import --from loopx-python ../other --dry-run"), @r#"
    --- /dev/null
    +++ .loopx/goals/ship-v2/state.json
    @@ -0,0 +1,11 @@
    +{
    +  "format": "1.0",
    +  "objective": "Ship v2",
    +  "added": {
    +    "by": "Ann <ann@example.test>",
    +    "at": "2026-11-30T12:00:05Z"
    +  },
    +  "state": {
    +    "is": "active"
    +  }
    +}
    --- /dev/null
    +++ .loopx/goals/ship-v2/gates/review-generated-api-schema.toml
    @@ -0,0 +1,12 @@
    +format = "1.0"
    +question = "Review generated API schema? (todo_[ID])"
    +options = ["approve", "reject"]
    +blocks = ["turn", "push", "publish"]
    +todos = ["t-e37v"]
    +
    +[asked]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/t-a3wd.toml
    @@ -0,0 +1,12 @@
    +format = "1.0"
    +title = "Buy a domain"
    +body = "From LoopX: todo_[ID]"
    +for = "person"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/t-e37v.toml
    @@ -0,0 +1,19 @@
    +format = "1.0"
    +title = "Generate the client"
    +body = """
    +From LoopX: todo_[ID]
    +
    +after 100% of the schema; ünïcode
    +
    +validation_command: pytest -q
    +
    +- in Rust, please"""
    +for = "agent"
    +priority = "p1"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/t-g19e.toml
    @@ -0,0 +1,13 @@
    +format = "1.0"
    +title = "Deploy"
    +body = "From LoopX: todo_[ID]"
    +for = "agent"
    +priority = "p2"
    +needs = ["t-e37v"]
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/t-ts5t.toml
    @@ -0,0 +1,21 @@
    +format = "1.0"
    +title = "Stuck one"
    +body = """
    +From LoopX: todo_[ID]
    +
    +no credentials
    +
    +task_class: blocker"""
    +for = "agent"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "blocked"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +reason = "blocked in LoopX: no credentials"
    +epoch = 0
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/t-zejs.toml
    @@ -0,0 +1,19 @@
    +format = "1.0"
    +title = "Watch the canary"
    +body = """
    +From LoopX: todo_[ID]
    +
    +target_key: canary"""
    +for = "agent"
    +priority = "p2"
    +
    +[monitor]
    +every = 7200
    +next_due = "2026-11-30T12:00:05Z"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/ship-v2/evidence/e-b661.toml
    @@ -0,0 +1,12 @@
    +format = "1.0"
    +dirty = false
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[what]
    +kind = "note"
    +text = """
    +Non-Goals (LoopX):
    +- Do not publish private project evidence."""
    --- /dev/null
    +++ .loopx/goals/ship-v2/evidence/e-g19e.toml
    @@ -0,0 +1,12 @@
    +format = "1.0"
    +dirty = false
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[what]
    +kind = "note"
    +text = """
    +Next Action (LoopX):
    +- Ask the user."""
    --- /dev/null
    +++ .loopx/goals/ship-v2/evidence/e-ts5t.toml
    @@ -0,0 +1,14 @@
    +format = "1.0"
    +dirty = false
    +gate = "review-generated-api-schema"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[what]
    +kind = "note"
    +text = """
    +From LoopX: todo_[ID]
    +
    +goal_bound: true"""
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/closed/t-14bz.toml
    @@ -0,0 +1,18 @@
    +format = "1.0"
    +title = "Choose the onboarding todos."
    +body = """
    +From LoopX: todo_[ID]
    +
    +evidence: said yes in chat"""
    +for = "person"
    +priority = "p1"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "done"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +note = "done in LoopX 2026-11-30T19:55:03+00:00: approve"
    --- /dev/null
    +++ .loopx/goals/ship-v2/todos/closed/t-b661.toml
    @@ -0,0 +1,23 @@
    +format = "1.0"
    +title = "Write the schema"
    +body = """
    +From LoopX: todo_[ID]
    +
    +done well
    +
    +action_kind: implement
    +no_followup: true
    +evidence: commit abc"""
    +for = "agent"
    +priority = "p0"
    +requires = ["network"]
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "done"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +note = "done in LoopX 2026-11-30T19:55:05+00:00"
    what has no counterpart here:
      spawn_policy         left out: a setting of LoopX                   1  ship-v2
      user_gate, answered  a person's done todo: no answer is taken over  1  todo_[ID]
      evidence             kept in the text                               2  todo_[ID], todo_[ID]
      goal_bound           kept in the text                               1  todo_[ID]
      action_kind          kept in the text                               1  todo_[ID]
      no_followup          kept in the text                               1  todo_[ID]
      validation_command   kept in the text                               1  todo_[ID]
      line below a todo    kept in the text                               1  todo_[ID]
      task_class           kept in the text                               1  todo_[ID]
      target_key           kept in the text                               1  todo_[ID]
      status               open: its needs say until when                 1  todo_[ID]
    would import 1 goal, 7 todos (2 closed) and 1 gate from loopx-python
    "#);
    repo.person("import --from loopx-python ../other", "ship-v2").success();
    assert_snapshot!(repo.scene("
        loopx verify
        loopx gate list
        loopx todo list --goal-id ship-v2 --all
        loopx evidence list --goal-id ship-v2
    "), @"
    $ loopx verify
    3 commits (3 new commits): each is one legal mutation, signed off
    $ loopx gate list
      review-generated-api-schema  open  by Ann, just now  Review generated API schema? (todo_[ID])
    $ loopx todo list --goal-id ship-v2 --all
      t-h6q3  p1  open                Generate the client
      t-d6m0  p2  open, for a person  Buy a domain
      t-j6nh  p2  open                Deploy
      t-msck  p2  blocked             Stuck one
      t-naqh  p2  monitor, due        Watch the canary
      t-exm6  p0  done                Write the schema
      t-56dz  p1  done                Choose the onboarding todos.
    $ loopx evidence list --goal-id ship-v2
      e-naqh  review-generated-api-schema  note  by Ann, just now  From LoopX: todo_[ID]
      e-j6nh  ship-v2                      note  by Ann, just now  Next Action (LoopX):
      e-56dz  ship-v2                      note  by Ann, just now  Non-Goals (LoopX):
    ");
}

#[test]
fn several_goals_keep_their_own_names() {
    let repo = Sandbox::plain();
    repo.loopx("init").success();
    let one = REGISTRY.replace("ship-v2\",\"status\":\"active", "Ship_V2\",\"status\":\"stopped");
    let other = REGISTRY.replace("\"id\":\"ship-v2\"", "\"id\":\"Ship V2!\"");
    let goal = other.split_once("[").expect("a list").1.trim_end_matches("]}");
    repo.write("other/.loopx/registry.json", &one.replace("]}", &format!(",{goal}]}}")));
    repo.write("other/.codex/goals/ship-v2/ACTIVE_GOAL_STATE.md", STATE);
    assert_snapshot!(repo.loopx("import --from loopx-python ../other --goal-id mine"), @"
    [stderr] error: `--goal-id` names one goal, and LoopX has 2 there (`ship-v2`, `ship-v2-2`)
    [stderr] hint: run `loopx import --from loopx-python ../other`: each keeps its own name
    [exit 2]
    ");
    repo.person("import --from loopx-python ../other", "ship-v2").success();
    assert_snapshot!(repo.scene("
        git log -1 --format=%B loopx/state
        loopx goal list
        loopx goal show ship-v2
        loopx verify --all
        loopx export ../out.jsonl
    "), @"
    $ git log -1 --format=%B loopx/state
    import 2 goals from loopx-python

    Loopx-Op: import
    Loopx-Record: goal/ship-v2
    Loopx-Record: goal/ship-v2-2
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ loopx goal list
      ship-v2    paused  Ship v2
      ship-v2-2  active  Ship v2
    $ loopx goal show ship-v2
    goal ship-v2: Ship v2
      state    paused by Ann, just now: stopped in LoopX
      added    by Ann, just now
      compute  1
      window   24 h in slots of 30 min
      slots    0 of 48 used
    $ loopx verify --all
    2 commits (2 new commits): each is one legal mutation, signed off
    $ loopx export ../out.jsonl
    exported 27 files, digest [ID]
    ");
}

/// Both keep their state in `.loopx`, so the other one had to make room.
#[test]
fn the_folder_of_loopx_may_have_been_moved() {
    let repo = Sandbox::ready();
    repo.write("repo/.loopx-python/registry.json", &REGISTRY.replace(".codex", ".loopx"));
    repo.write("repo/.loopx-python/goals/ship-v2/ACTIVE_GOAL_STATE.md", STATE);
    assert_snapshot!(repo.loopx("import --from loopx-python ."), @"
    [stderr] error: there is no `.loopx/registry.json` in `[ROOT]/repo/.`
    [stderr] hint: name the project, or the folder that its `.loopx` was moved to
    [exit 1]
    ");
    repo.person("import --from loopx-python .loopx-python", "ship-v2").success();
    assert_eq!(repo.loopx("verify").code, 0);
}

#[test]
fn tasks_of_backlog_become_a_goal() {
    let repo = backlog();
    assert_snapshot!(repo.loopx("import --from backlog ../other --dry-run"), @r#"
    --- /dev/null
    +++ .loopx/goals/backlog/state.json
    @@ -0,0 +1,11 @@
    +{
    +  "format": "1.0",
    +  "objective": "Finish the tasks of Board",
    +  "added": {
    +    "by": "Ann <ann@example.test>",
    +    "at": "2026-11-30T12:00:05Z"
    +  },
    +  "state": {
    +    "is": "active"
    +  }
    +}
    --- /dev/null
    +++ .loopx/goals/backlog/todos/t-14bz.toml
    @@ -0,0 +1,27 @@
    +format = "1.0"
    +title = "Create tasks with a composer"
    +body = """
    +From Backlog.md: back-2
    +
    +## Description
    +
    +Deliver the first slice.
    +
    +## Acceptance Criteria
    +- [x] #1 The board shows it.
    +- [ ] #2 Cancel writes nothing.
    +
    +status: In Progress
    +assignee: @codex
    +created_date: 2026-04-25 12:14
    +labels: tui, enhancement"""
    +for = "agent"
    +priority = "p1"
    +needs = ["t-a3wd", "t-b661"]
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/backlog/todos/t-a3wd.toml
    @@ -0,0 +1,15 @@
    +format = "1.0"
    +title = "Later"
    +body = """
    +From Backlog.md: back-10
    +
    +status: To Do"""
    +for = "agent"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "open"
    --- /dev/null
    +++ .loopx/goals/backlog/todos/t-g19e.toml
    @@ -0,0 +1,19 @@
    +format = "1.0"
    +title = "Idea"
    +body = """
    +From Backlog.md: draft-1
    +
    +status: Draft"""
    +for = "agent"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "blocked"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +reason = "a draft in Backlog.md"
    +epoch = 0
    --- /dev/null
    +++ .loopx/goals/backlog/todos/closed/t-b661.toml
    @@ -0,0 +1,20 @@
    +format = "1.0"
    +title = "First"
    +body = """
    +From Backlog.md: back-1
    +
    +Done.
    +
    +status: Shipped"""
    +for = "agent"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "done"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +note = "completed in Backlog.md"
    --- /dev/null
    +++ .loopx/goals/backlog/todos/closed/t-ts5t.toml
    @@ -0,0 +1,18 @@
    +format = "1.0"
    +title = "Not now"
    +body = """
    +From Backlog.md: back-3
    +
    +status: To Do"""
    +for = "agent"
    +priority = "p2"
    +
    +[added]
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +
    +[state]
    +is = "dropped"
    +by = "Ann <ann@example.test>"
    +at = "2026-11-30T12:00:05Z"
    +reason = "archived in Backlog.md"
    what has no counterpart here:
      file                left out: it has no front matter              1  tasks/README.md
      status In Progress  open: nobody has it until it is claimed here  1  back-2
      status              kept in the text                              5  back-2, back-10, back-1, draft-1, back-3
      assignee            kept in the text                              1  back-2
      created_date        kept in the text                              1  back-2
      labels              kept in the text                              1  back-2
      parent_task_id      the parent needs its parts                    1  back-10
      draft               blocked: there are no drafts here             1  draft-1
      docs                left out: no task                             1  docs/guide.md
    would import 1 goal, 5 todos (2 closed) and 0 gates from backlog
    "#);
    repo.person("import --from backlog ../other", "backlog").success();
    assert_snapshot!(repo.scene("
        loopx verify
        loopx todo list --goal-id backlog --all
    "), @"
    $ loopx verify
    3 commits (3 new commits): each is one legal mutation, signed off
    $ loopx todo list --goal-id backlog --all
      t-56dz  p1  open     Create tasks with a composer
      t-h6q3  p2  open     Later
      t-msck  p2  blocked  Idea
      t-j6nh  p2  done     First
      t-naqh  p2  dropped  Not now
    ");
}

#[test]
fn what_cannot_be_imported_is_named_with_its_place() {
    let repo = beads();
    let tip = repo.tip();
    let deep = format!("{{\"id\":{}", "[".repeat(100_000));
    let files: [(&str, &[u8]); 9] = [
        ("cut.jsonl", &BEADS.as_bytes()[..BEADS.len() - 9]),
        ("twice.jsonl", b"{\"id\":\"a\",\"priority\":1}\n{\"id\":\"a\",\"priority\":1}\n"),
        ("bytes.jsonl", b"{\"id\":\"a\",\"priority\":1}\n\xff\n"),
        ("nul.jsonl", b"{\"id\":\"a\0\",\"priority\":1}\n"),
        ("deep.jsonl", deep.as_bytes()),
        ("markers.jsonl", b"<<<<<<< HEAD\n"),
        ("backlog/tasks/task-1 - a.md", b"---\nid: [\n---\n"),
        ("two/backlog/tasks/task-1 - a.md", b"---\nid: a\n---\n"),
        ("two/backlog/tasks/task-2 - b.md", b"---\nid: a\n---\n"),
    ];
    for (name, bytes) in files {
        repo.write(name, "");
        std::fs::write(repo.path(name), bytes).expect("a file");
    }
    repo.write("lost/.loopx/registry.json", REGISTRY);
    repo.write("empty/.loopx/registry.json", REGISTRY);
    repo.write("empty/.codex/goals/ship-v2/ACTIVE_GOAL_STATE.md", "");
    repo.write(
        "out/.loopx/registry.json",
        &REGISTRY.replace(".codex/goals/ship-v2/ACTIVE_GOAL_STATE.md", "../twice.jsonl"),
    );
    repo.write("link/.loopx/registry.json", &REGISTRY.replace(".codex/goals/ship-v2/", ""));
    std::os::unix::fs::symlink(repo.path("twice.jsonl"), repo.path("link/ACTIVE_GOAL_STATE.md"))
        .expect("a link");
    std::fs::create_dir(repo.path("astray")).expect("a folder");
    std::os::unix::fs::symlink(repo.path("two/backlog"), repo.path("astray/backlog")).expect("a link");
    let mut said = String::new();
    for args in [
        "beads ../cut.jsonl",
        "beads ../twice.jsonl",
        "beads ../bytes.jsonl",
        "beads ../nul.jsonl",
        "beads ../deep.jsonl",
        "beads ../markers.jsonl",
        "beads ../nothing.jsonl",
        "beads ..",
        "beads /dev/zero",
        "backlog ..",
        "backlog ../two",
        "backlog ../lost",
        "loopx-python ../lost",
        "loopx-python ../empty",
        "loopx-python ../out",
        "loopx-python ../link",
        "loopx-python .",
        "backlog ../astray",
    ] {
        let output = repo.loopx(&format!("import --dry-run --from {args}"));
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{args}: {output}");
        writeln!(said, "{args}\n  {}", output.stderr.lines().next().unwrap_or_default()).expect("a text");
    }
    assert_snapshot!(said, @r"
    beads ../cut.jsonl
      error: `cut.jsonl`, line 5: no issue of beads: EOF while parsing a string
    beads ../twice.jsonl
      error: `twice.jsonl`, line 2: `a` is there twice, first in line 1
    beads ../bytes.jsonl
      error: `bytes.jsonl`, line 2: it is no text in UTF-8
    beads ../nul.jsonl
      error: `nul.jsonl`, line 1: no issue of beads: control character (\u0000-\u001F) found while parsing a string
    beads ../deep.jsonl
      error: `deep.jsonl`, line 1: no issue of beads: recursion limit exceeded
    beads ../markers.jsonl
      error: `markers.jsonl`, line 1: no issue of beads: expected value
    beads ../nothing.jsonl
      error: cannot read `[ROOT]/repo/../nothing.jsonl`: No such file or directory (os error 2)
    beads ..
      error: there is no `.beads/issues.jsonl` in `[ROOT]/repo/..`
    beads /dev/zero
      error: cannot read `/dev/zero`: it is no plain file
    backlog ..
      error: `tasks/task-1 - a.md`, line 3: no YAML: while parsing a node, did not find expected node content
    backlog ../two
      error: `tasks/task-2 - b.md`: `a` is there twice, first in `tasks/task-1 - a.md`
    backlog ../lost
      error: there is no folder `backlog/tasks` in `[ROOT]/repo/../lost`
    loopx-python ../lost
      error: there is no `.codex/goals/ship-v2/ACTIVE_GOAL_STATE.md` of goal `ship-v2` in `[ROOT]/repo/../lost`
    loopx-python ../empty
      error: `.codex/goals/ship-v2/ACTIVE_GOAL_STATE.md`: it is empty; LoopX may have lost what was in it
    loopx-python ../out
      error: cannot read `[ROOT]/out/../twice.jsonl`: it leads out of the folder
    loopx-python ../link
      error: cannot read `[ROOT]/link/ACTIVE_GOAL_STATE.md`: it leads out of the folder
    loopx-python .
      error: there is no `.loopx/registry.json` in `[ROOT]/repo/.`
    backlog ../astray
      error: cannot read `[ROOT]/repo/../astray/backlog`: it leads out of the folder
    ");
    assert_snapshot!(repo.scene("
        loopx import --from beads ../twice.jsonl
        loopx import --from beads ../other --goal-id ship
        loopx import --dry-run ../other
        loopx import --from jira ../other
    "), @"
    $ loopx import --from beads ../twice.jsonl
    [stderr] error: `twice.jsonl`, line 2: `a` is there twice, first in line 1
    [stderr] hint: nothing was imported; mend the file, or take it away, and run the command again
    [exit 1]
    $ loopx import --from beads ../other --goal-id ship
    [stderr] error: there is a goal `ship` already, and an import overwrites nothing
    [stderr] hint: run `loopx import --from beads ../other --goal-id <another>`, or see it with `loopx goal show ship`
    [exit 1]
    $ loopx import --dry-run ../other
    [stderr] error: the following required arguments were not provided:
    [stderr]   --from <TOOL>
    [stderr]
    [stderr] Usage: loopx import --from <TOOL> --dry-run <PATH>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx import --from jira ../other
    [stderr] error: invalid value 'jira' for '--from <TOOL>'
    [stderr]   [possible values: loopx-python, beads, backlog]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), tip);
}

#[test]
fn texts_that_do_not_fit_are_made_to_and_that_is_said() {
    let repo = Sandbox::ready();
    let title = format!("x\\u001b[2K\\n{}", "y".repeat(600));
    let body = "z".repeat(20_000);
    repo.write(
        "i.jsonl",
        &format!("{{\"id\":\"a\",\"title\":\"{title}\",\"description\":\"{body}\",\"priority\":2}}\n"),
    );
    repo.person("import --from beads ../i.jsonl", "beads").success();
    let plan = repo.loopx("import --from beads ../i.jsonl --goal-id more --dry-run --json").json();
    assert_snapshot!(serde_json::to_string_pretty(&plan["report"]).expect("JSON"), @r#"
    [
      {
        "count": 1,
        "fate": "control characters are written as escapes",
        "field": "title",
        "items": [
          "a"
        ]
      },
      {
        "count": 1,
        "fate": "cut; the text has it whole",
        "field": "title",
        "items": [
          "a"
        ]
      },
      {
        "count": 1,
        "fate": "control characters are written as escapes",
        "field": "text",
        "items": [
          "a"
        ]
      },
      {
        "count": 1,
        "fate": "cut to 16 KiB",
        "field": "text",
        "items": [
          "a"
        ]
      }
    ]
    "#);
    let todos = repo.loopx("todo list --goal-id beads --json").json();
    let todo = &todos["todos"][0];
    let length = |field: &str| todo[field].as_str().map(str::len);
    assert_eq!((length("title"), length("body")), (Some(500), Some(16 * 1024)));
    assert_eq!(repo.loopx("verify").code, 0);
}

/// The id that was drawn for it is another one each time.
#[test]
fn what_a_rule_of_the_users_finds_is_told_without_an_id() {
    let repo = Sandbox::ready();
    let rules = "[[rules]]\nid = \"acme-key\"\nregex = '''acme-([a-z0-9]{12})'''\nkeywords = [\"acme\"]\n";
    repo.write("repo/rules.toml", rules);
    repo.git("config loopx.secretRules rules.toml").success();
    repo.write("i.jsonl", "{\"id\":\"a\",\"title\":\"use acme-k3j8d7s6f5a4\",\"priority\":2}\n");
    let tip = repo.tip();
    let output = repo.person("import --from beads ../i.jsonl", "beads");
    assert_eq!(output.code, 1);
    let error = output.stdout.lines().find(|line| line.starts_with("error: "));
    assert_snapshot!(error.unwrap_or_default(), @"error: the new todo has what looks like a secret in `title`, characters 10 to 21 (rule `acme-key`), so nothing was written");
    assert_eq!(repo.tip(), tip);
}

#[test]
fn many_are_imported_at_once_and_the_closed_ones_are_folded() {
    let repo = Sandbox::ready();
    let many = 1_000;
    let issues = (0..many).fold(String::new(), |mut issues, number| {
        let status = if number % 2 == 0 { "closed" } else { "open" };
        writeln!(issues, "{{\"id\":\"bd-{number}\",\"title\":\"Issue {number}\",\"status\":\"{status}\",\"priority\":2,\"dependencies\":[{{\"depends_on_id\":\"bd-{}\"}}]}}", number + 1).expect("a text");
        issues
    });
    repo.write("i.jsonl", &issues);
    let shown = repo.loopx("import --from beads ../i.jsonl --dry-run").success().stdout;
    assert!(shown.len() < 40_000, "{} bytes are shown", shown.len());
    let end: Vec<&str> = shown.lines().rev().take(4).collect();
    assert_snapshot!(end.join("\n"), @"
    would import 1 goal, 1000 todos (500 closed) and 0 gates from beads
      needs  dropped: it names nothing that is imported  1  bd-999
    what has no counterpart here:
    … and 739 files besides
    ");
    let plan = repo.loopx("import --from beads ../i.jsonl --dry-run --json").success().json();
    repo.person("import --from beads ../i.jsonl", "beads").success();
    let files = repo.git("ls-tree -r --name-only loopx/state goals/beads/").success().stdout;
    assert_eq!(plan["preview"]["files"], files.lines().count());
    assert_snapshot!(repo.scene("
        loopx verify --all
        git ls-tree --name-only loopx/state:goals/beads/todos/closed/ 000001-000256.jsonl
    "), @"
    $ loopx verify --all
    3 commits (3 new commits): each is one legal mutation, signed off
    $ git ls-tree --name-only loopx/state:goals/beads/todos/closed/ 000001-000256.jsonl
    000001-000256.jsonl
    ");
    let todos = repo.loopx("todo list --goal-id beads --json").json();
    let titles: Vec<&str> =
        todos["todos"].as_array().expect("a list").iter().filter_map(|todo| todo["title"].as_str()).collect();
    assert_eq!(
        (titles.len(), titles[0], titles[499]),
        (500, "Issue 1", "Issue 999"),
        "in the order of the source"
    );
}

#[test]
fn a_hand_made_import_touches_no_goal_that_is_there() {
    let repo = beads();
    repo.person("import --from beads ../other", "beads").success();
    let tip = repo.tip();
    let message = repo.git("log -1 --format=%B loopx/state").success().stdout;
    let state = repo.read("repo/.loopx/goals/ship/state.json");
    let policy = repo.read("repo/.loopx/loopx.toml");
    let quota = repo.read("repo/.loopx/quota.json");
    let todos = repo.loopx("todo list --goal-id beads --json").json();
    let id = todos["todos"][0]["id"].as_str().expect("an id").to_owned();
    let todo = repo.read(&format!("repo/.loopx/goals/beads/todos/{id}.toml"));
    let new_goal = ("goals/new/state.json", state.clone());
    let forgeries = [
        (vec![("goals/ship/state.json".to_owned(), state.replace("Ship v2", "Rob a bank"))], "person"),
        (vec![(format!("goals/ship/todos/{id}.toml"), todo.clone())], "person"),
        (vec![("quota.json".to_owned(), quota.replace("{}", "{\"ship\": {\"compute\": 0.5}}"))], "person"),
        (vec![("loopx.toml".to_owned(), policy.clone() + "\n")], "person"),
        (vec![("goals/new/todos/closed/x.toml".to_owned(), todo.clone())], "person"),
        (vec![("goals/new/state.json".to_owned(), state.replace("Ship", "Rob"))], "agent:a"),
        (
            vec![(new_goal.0.to_owned(), new_goal.1.clone()), (format!("goals/new/todos/{id}.toml"), todo)],
            "person",
        ),
        (vec![(new_goal.0.to_owned(), new_goal.1)], "person"),
    ];
    let mut said = String::new();
    for (files, actor) in forgeries {
        let message = message.replace("Loopx-Actor: person", &format!("Loopx-Actor: {actor}"));
        repo.forge_files(&files, &message);
        let verified = repo.loopx("verify --json").json();
        writeln!(said, "{}", verified["bad"]["problem"].as_str().unwrap_or("legal")).expect("a text");
        repo.git(&format!("update-ref refs/heads/loopx/state {}", tip.trim())).success();
    }
    assert_snapshot!(said, @"
    it imports into goal `ship`, which was there already
    it imports into goal `ship`, which was there already
    it imports `quota.json` beside goals
    it imports `loopx.toml` beside goals
    `goals/new/todos/closed/x.toml` is no file of a state
    only a person may do that, and a did
    `t-g19e` is there twice
    legal
    ");
}

#[test]
fn a_long_past_that_came_folded_is_counted_found_and_told() {
    let repo = Sandbox::ready();
    let issue = |number: usize| {
        format!(
            "{{\"id\":\"bd-{number}\",\"title\":\"Part {number}\",\"status\":\"closed\",\"priority\":2,\"issue_type\":\"task\",\"closed_at\":\"2025-12-16T13:26:47Z\"}}\n"
        )
    };
    repo.write("issues.jsonl", &(0..600).map(issue).collect::<String>());
    repo.person("import --from beads ../issues.jsonl --goal-id old", "old").success();
    let segment = repo.git("show loopx/state:goals/old/todos/closed/000001-000256.jsonl").success().stdout;
    let first: serde_json::Value =
        serde_json::from_str(segment.lines().next().expect("a line")).expect("a record");
    let id = first["id"].as_str().expect("an id");

    let patch = repo.loopx("history --patch -n 1 --json").success().json();
    let told = &patch["entries"][0];
    assert_eq!((told["changes"].as_array().map(Vec::len), &told["folded"]), (Some(89), &512.into()));
    let said = repo.loopx("history --patch -n 1").success().stdout;
    assert!(said.ends_with("  and 581 more records\n"), "{said}");
    let life = repo.loopx(&format!("history --follow {id} --json")).success().json();
    assert_eq!(
        (life["record"].as_str(), life["entries"].as_array().map(Vec::len)),
        (Some(&*format!("todo/{id}")), Some(1))
    );
    let blame = repo.loopx(&format!("blame {id} --json")).success().json();
    let title = blame["fields"].as_array().expect("fields").iter().find(|field| field["field"] == "title");
    assert_eq!(title.map(|title| &title["value"]), Some(&first["record"]["title"]));
    let diff = repo.loopx("diff loopx/state~1.. --json").success().json();
    assert_eq!(diff["changes"].as_array().map(Vec::len), Some(601));
    let packet = repo.loopx("review-packet --since 2025-12-01 --json").success().json();
    assert_eq!(packet["outcomes"].as_array().map(Vec::len), Some(600));
    assert_eq!(repo.loopx("verify").code, 0);
}
