//! What happened, as people read it.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a past.
fn lived_in() -> (Sandbox, String) {
    let repo = Sandbox::ready();
    let todo = repo.todo("'Write the schema' --agent-id codex-1");
    repo.sleep(60);
    repo.loopx(&format!("todo claim {todo} --agent-id codex-1")).success();
    repo.loopx("gate open 'Is the schema right?' --gate-id schema --agent-id codex-1").success();
    repo.sleep(3600);
    repo.person("gate resolve schema --decision approve --note 'reads well'", "schema").success();
    repo.loopx(&format!("evidence add {todo} --text 'all tests pass' --agent-id codex-1")).success();
    repo.loopx(&format!("todo done {todo} --agent-id codex-1")).success();
    repo.loopx("quota spend-slot --turn-id turn-1 --agent-id codex-1").success();
    repo.loopx("configure-goal --quota-compute 0.5").success();
    (repo, todo)
}

#[test]
fn the_history_is_filtered() {
    let (repo, todo) = lived_in();
    assert_snapshot!(repo.scene(&format!("
        loopx history
        loopx history -n 2
        loopx history --actor codex-1 -n 2
        loopx history --actor person
        loopx history --op gate
        loopx history --op gate.resolve
        loopx history --record {todo}
        loopx history --record gate/schema
        loopx history --turn turn-1
        loopx history --goal-id nope
        loopx history --since 5m
        loopx history --since 2026-11-30T13:00:00Z --op todo
        loopx history --since yesterday
        loopx history --op gate.resolve --json
    ")), @r#"
    $ loopx history
      [ID]  just now       person         configure goal ship: compute 0.5
      [ID]  just now       agent:codex-1  spend 1 slot of goal ship for turn-1
      [ID]  just now       agent:codex-1  complete todo t-fdjx: Write the schema
      [ID]  just now       agent:codex-1  add evidence e-w7me for todo t-fdjx: all tests pass
      [ID]  5 s ago        person         approve gate schema
      [ID]  1 h ago        agent:codex-1  open gate schema: Is the schema right?
      [ID]  1 h ago        agent:codex-1  claim todo t-fdjx: Write the schema
      [ID]  1 h 1 min ago  agent:codex-1  add todo t-fdjx: Write the schema
      [ID]  1 h 1 min ago  person         add goal ship: Ship v2
      [ID]  1 h 1 min ago  person         begin loopx state
    $ loopx history -n 2
      [ID]  just now  person         configure goal ship: compute 0.5
      [ID]  just now  agent:codex-1  spend 1 slot of goal ship for turn-1
    $ loopx history --actor codex-1 -n 2
      [ID]  just now  agent:codex-1  spend 1 slot of goal ship for turn-1
      [ID]  5 s ago   agent:codex-1  complete todo t-fdjx: Write the schema
    $ loopx history --actor person
      [ID]  just now       person  configure goal ship: compute 0.5
      [ID]  8 s ago        person  approve gate schema
      [ID]  1 h 1 min ago  person  add goal ship: Ship v2
      [ID]  1 h 1 min ago  person  begin loopx state
    $ loopx history --op gate
      [ID]  9 s ago  person         approve gate schema
      [ID]  1 h ago  agent:codex-1  open gate schema: Is the schema right?
    $ loopx history --op gate.resolve
      [ID]  10 s ago  person  approve gate schema
    $ loopx history --record t-fdjx
      [ID]  9 s ago        agent:codex-1  complete todo t-fdjx: Write the schema
      [ID]  1 h ago        agent:codex-1  claim todo t-fdjx: Write the schema
      [ID]  1 h 1 min ago  agent:codex-1  add todo t-fdjx: Write the schema
    $ loopx history --record gate/schema
      [ID]  12 s ago  person         approve gate schema
      [ID]  1 h ago   agent:codex-1  open gate schema: Is the schema right?
    $ loopx history --turn turn-1
      [ID]  10 s ago  agent:codex-1  spend 1 slot of goal ship for turn-1
    $ loopx history --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx history --since 5m
      [ID]  11 s ago  person         configure goal ship: compute 0.5
      [ID]  12 s ago  agent:codex-1  spend 1 slot of goal ship for turn-1
      [ID]  13 s ago  agent:codex-1  complete todo t-fdjx: Write the schema
      [ID]  14 s ago  agent:codex-1  add evidence e-w7me for todo t-fdjx: all tests pass
      [ID]  15 s ago  person         approve gate schema
    $ loopx history --since 2026-11-30T13:00:00Z --op todo
      [ID]  14 s ago  agent:codex-1  complete todo t-fdjx: Write the schema
    $ loopx history --since yesterday
    [stderr] error: invalid value 'yesterday' for '--since <WHEN>': `yesterday` is no moment (expected `7d`, `90m`, `2026-11-30` or `2026-11-30T12:00:00Z`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx history --op gate.resolve --json
    {
      "schema_version": 1,
      "entries": [
        {
          "commit": "[ID]",
          "at": "2026-11-30T13:01:08Z",
          "subject": "approve gate schema",
          "op": "gate.resolve",
          "actor": "person",
          "goal": "ship",
          "records": [
            "gate/schema"
          ],
          "turn": null,
          "signed_off_by": "Ann <ann@example.test>"
        }
      ]
    }
    "#);
}

#[test]
fn a_patch_shows_what_became_of_fields() {
    let (repo, _) = lived_in();
    assert_snapshot!(repo.loopx("history --patch"), @"

    [ID]  configure goal ship: compute 0.5
      person, just now
        + ship.compute: 0.5
        + ship.slot_minutes: 30
        + ship.window_hours: 24

    [ID]  spend 1 slot of goal ship for turn-1
      agent:codex-1, just now, turn turn-1
        + added.at: 2026-11-30T13:01:11Z
        + added.by: agent:codex-1
        + slots: 1
        + turn: turn-1

    [ID]  complete todo t-fdjx: Write the schema
      agent:codex-1, just now
        + state.at: 2026-11-30T13:01:10Z
          state.is: claimed → done
        - state.lease_until: 2026-11-30T12:46:06Z
        - state.since: 2026-11-30T12:01:06Z

    [ID]  add evidence e-w7me for todo t-fdjx: all tests pass
      agent:codex-1, just now
        + added.at: 2026-11-30T13:01:09Z
        + added.by: agent:codex-1
        + commit: [ID]
        + dirty: false
        + todo: t-fdjx
        + what.kind: note
        + what.text: all tests pass

    [ID]  approve gate schema
      person, 5 s ago
        + state.at: 2026-11-30T13:01:08Z
        + state.by: Ann <ann@example.test>
        + state.decision: approve
          state.is: open → resolved
        + state.note: reads well
        + state.proof.kind: terminal
        + state.proof.typed: schema
        + state.seen.commit: [ID]
        + state.seen.question: sha256:[ID]
        + state.seen.tree: [ID]

    [ID]  open gate schema: Is the schema right?
      agent:codex-1, 1 h ago
        + asked.at: 2026-11-30T12:01:07Z
        + asked.by: agent:codex-1
        + blocks: turn, push, publish
        + options: approve, reject
        + question: Is the schema right?
        + state.is: open

    [ID]  claim todo t-fdjx: Write the schema
      agent:codex-1, 1 h ago
        + state.by: agent:codex-1
        + state.epoch: 1
          state.is: open → claimed
        + state.lease_until: 2026-11-30T12:46:06Z
        + state.since: 2026-11-30T12:01:06Z

    [ID]  add todo t-fdjx: Write the schema
      agent:codex-1, 1 h 1 min ago
        + added.at: 2026-11-30T12:00:05Z
        + added.by: agent:codex-1
        + for: agent
        + priority: p2
        + state.is: open
        + title: Write the schema

    [ID]  add goal ship: Ship v2
      person, 1 h 1 min ago
        + added.at: 2026-11-30T12:00:04Z
        + added.by: Ann <ann@example.test>
        + objective: Ship v2
        + state.is: active

    [ID]  begin loopx state
      person, 1 h 1 min ago
      policy
        + approval: terminal
        + repository: [ID]
      quota
    ");
    assert_snapshot!(repo.loopx("history --patch --op todo.done --json"), @r#"
    {
      "schema_version": 1,
      "entries": [
        {
          "commit": "[ID]",
          "at": "2026-11-30T13:01:10Z",
          "subject": "complete todo t-fdjx: Write the schema",
          "op": "todo.done",
          "actor": "agent:codex-1",
          "goal": "ship",
          "records": [
            "todo/t-fdjx"
          ],
          "turn": null,
          "signed_off_by": "Ann <ann@example.test>",
          "changes": [
            {
              "record": "todo/t-fdjx",
              "fields": [
                {
                  "field": "state.at",
                  "before": null,
                  "after": "2026-11-30T13:01:10Z"
                },
                {
                  "field": "state.is",
                  "before": "claimed",
                  "after": "done"
                },
                {
                  "field": "state.lease_until",
                  "before": "2026-11-30T12:46:06Z",
                  "after": null
                },
                {
                  "field": "state.since",
                  "before": "2026-11-30T12:01:06Z",
                  "after": null
                }
              ]
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn the_life_of_a_record_is_told_from_its_beginning() {
    let (repo, todo) = lived_in();
    assert_snapshot!(repo.scene(&format!("
        loopx history --follow schema
        loopx history --follow todo/{todo}
        loopx history --follow nope
        loopx blame gate/schema
        loopx blame {todo}
        loopx blame nope
    ")), @"
    $ loopx history --follow schema
    gate/schema

    [ID]  open gate schema: Is the schema right?
      agent:codex-1, 1 h ago
        + asked.at: 2026-11-30T12:01:07Z
        + asked.by: agent:codex-1
        + blocks: turn, push, publish
        + options: approve, reject
        + question: Is the schema right?
        + state.is: open

    [ID]  approve gate schema
      person, 5 s ago
        + state.at: 2026-11-30T13:01:08Z
        + state.by: Ann <ann@example.test>
        + state.decision: approve
          state.is: open → resolved
        + state.note: reads well
        + state.proof.kind: terminal
        + state.proof.typed: schema
        + state.seen.commit: [ID]
        + state.seen.question: sha256:[ID]
        + state.seen.tree: [ID]
    $ loopx history --follow todo/t-fdjx
    todo/t-fdjx

    [ID]  add todo t-fdjx: Write the schema
      agent:codex-1, 1 h 1 min ago
        + added.at: 2026-11-30T12:00:05Z
        + added.by: agent:codex-1
        + for: agent
        + priority: p2
        + state.is: open
        + title: Write the schema

    [ID]  claim todo t-fdjx: Write the schema
      agent:codex-1, 1 h ago
        + state.by: agent:codex-1
        + state.epoch: 1
          state.is: open → claimed
        + state.lease_until: 2026-11-30T12:46:06Z
        + state.since: 2026-11-30T12:01:06Z

    [ID]  complete todo t-fdjx: Write the schema
      agent:codex-1, just now
        + state.at: 2026-11-30T13:01:10Z
          state.is: claimed → done
        - state.lease_until: 2026-11-30T12:46:06Z
        - state.since: 2026-11-30T12:01:06Z
    $ loopx history --follow nope
    [stderr] error: the history knows no record `nope`
    [stderr] hint: run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`
    [exit 1]
    $ loopx blame gate/schema
    gate/schema
      [ID]  1 h ago  agent:codex-1    asked.at: 2026-11-30T12:01:07Z
      [ID]  1 h ago  agent:codex-1    asked.by: agent:codex-1
      [ID]  1 h ago  agent:codex-1    blocks: turn, push, publish
      [ID]  1 h ago  agent:codex-1    options: approve, reject
      [ID]  1 h ago  agent:codex-1    question: Is the schema right?
      [ID]  8 s ago  person           state.at: 2026-11-30T13:01:08Z
      [ID]  8 s ago  person           state.by: Ann <ann@example.test>
      [ID]  8 s ago  person           state.decision: approve
      [ID]  8 s ago  person           state.is: resolved
      [ID]  8 s ago  person           state.note: reads well
      [ID]  8 s ago  person           state.proof.kind: terminal
      [ID]  8 s ago  person           state.proof.typed: schema
      [ID]  8 s ago  person           state.seen.commit: [ID]
      [ID]  8 s ago  person           state.seen.question: sha256:[ID]
      [ID]  8 s ago  person           state.seen.tree: [ID]
    $ loopx blame t-fdjx
    todo/t-fdjx
      [ID]  1 h 1 min ago  agent:codex-1    added.at: 2026-11-30T12:00:05Z
      [ID]  1 h 1 min ago  agent:codex-1    added.by: agent:codex-1
      [ID]  1 h 1 min ago  agent:codex-1    for: agent
      [ID]  1 h 1 min ago  agent:codex-1    priority: p2
      [ID]  7 s ago        agent:codex-1    state.at: 2026-11-30T13:01:10Z
      [ID]  1 h ago        agent:codex-1    state.by: agent:codex-1
      [ID]  1 h ago        agent:codex-1    state.epoch: 1
      [ID]  7 s ago        agent:codex-1    state.is: done
      [ID]  1 h 1 min ago  agent:codex-1    title: Write the schema
    $ loopx blame nope
    [stderr] error: the history knows no record `nope`
    [stderr] hint: run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`
    [exit 1]
    ");
}

#[test]
fn two_states_are_compared_in_sentences() {
    let (repo, _) = lived_in();
    repo.loopx("policy set receipt=required").success();
    repo.person("configure-goal --enable explore", "ship").success();
    assert_snapshot!(repo.scene("
        loopx diff loopx/state~10..
        loopx diff loopx/state~1..loopx/state
        loopx diff loopx/state..loopx/state~1
        loopx diff ..
        loopx diff loopx/state
        loopx diff HEAD..
        loopx diff nope..
        loopx diff loopx/state~2.. --json
    "), @r#"
    $ loopx diff loopx/state~10..
    goal ship: explore was switched on
    gate schema was opened by codex-1: "Is the schema right?", and was answered `approve` by Ann
    todo t-fdjx was added and was done by codex-1: Write the schema
    evidence e-w7me was added by codex-1: all tests pass
    turn turn-1 used 1 slot of goal ship
    the quota of goal ship is 24 slots now, and was 48
    what goes out needs a receipt now
    $ loopx diff loopx/state~1..loopx/state
    goal ship: explore was switched on
    $ loopx diff loopx/state..loopx/state~1
    goal ship: explore was switched off
    $ loopx diff ..
    nothing changed
    $ loopx diff loopx/state
    [stderr] error: expected two states, with `..` between them
    [stderr] hint: run `loopx diff loopx/state~1..`: what is left out behind the dots is the newest state
    [exit 2]
    $ loopx diff HEAD..
    [stderr] error: `HEAD` names a commit that has no loopx state
    [stderr] hint: run `git log --oneline loopx/state` for those that have one
    [exit 1]
    $ loopx diff nope..
    [stderr] error: `nope` names no commit of this repository
    [stderr] hint: run `git log --oneline loopx/state` for those that have one
    [exit 1]
    $ loopx diff loopx/state~2.. --json
    {
      "schema_version": 1,
      "from": "[ID]",
      "to": "[ID]",
      "changes": [
        {
          "record": "goal/ship",
          "says": "goal ship: explore was switched on"
        },
        {
          "record": "policy",
          "says": "what goes out needs a receipt now"
        }
      ]
    }
    "#);
}

#[test]
fn at_a_terminal_the_history_goes_through_gits_pager() {
    let mut repo = Sandbox::ready();
    repo.git("config core.pager \"sed s/^/config:/\"").success();
    assert_snapshot!(repo.person("history", ""), @"
    config:  [ID]  just now  person  add goal ship: Ship v2
    config:  [ID]  just now  person  begin loopx state
    ");
    repo.env("GIT_PAGER", "head -n 1 | sed s/^/environment:/");
    assert_snapshot!(repo.person("history", ""), @"environment:  [ID]  just now  person  add goal ship: Ship v2");
    assert_snapshot!(repo.loopx("history"), @"
    [ID]  just now  person  add goal ship: Ship v2
    [ID]  just now  person  begin loopx state
    ");
    repo.env("GIT_PAGER", "cat");
    assert_snapshot!(repo.person("history -n 1", ""), @"  [ID]  5 s ago  person  add goal ship: Ship v2");
    repo.env("GIT_PAGER", "true");
    assert_snapshot!(repo.person("history", ""), @"");
}

#[test]
fn no_more_is_read_than_is_shown() {
    let (repo, _) = lived_in();
    let old = repo.git("rev-parse loopx/state~5").stdout;
    let (folder, file) = old.trim().split_at(2);
    std::fs::remove_file(repo.path(&format!("repo/.git/objects/{folder}/{file}"))).expect("an object");
    assert_eq!(repo.loopx("history -n 5").success().stdout.lines().count(), 5);
    let all = repo.loopx("history");
    assert_eq!((all.code, all.stdout.lines().count()), (1, 5), "what could be read is there: {all}");
}

#[test]
fn what_a_filter_names_has_to_be_there() {
    let repo = Sandbox::ready();
    let todo = repo.todo("work --agent-id a");
    repo.sleep(3_600);
    assert_snapshot!(repo.scene(&format!("
        loopx history --goal-id nope
        loopx history --op bogus
        loopx history --op todo.ad
        loopx history --record t-zzzz
        loopx history --record t-zzzz --json
        loopx history --record t-zzzz --since 10m
        loopx history --record {todo} --since 10m
        loopx history --record {todo} --op gate
        loopx history --actor nobody
        loopx history --actor nobody --json
        loopx history --turn t-1
        loopx history -n 0
        loopx evidence list t-zzzz
        loopx evidence list {todo}
    ")), @r#"
    $ loopx history --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx history --op bogus
    [stderr] error: there are no mutations of the kind `bogus`
    [stderr] hint: run `loopx history --op gate.resolve`, or `loopx history --op gate` for all about gates
    [stderr] hint: the kinds begin with approver, bypass, checkpoint, evidence, fold, gate, goal, handoff, import, init, policy, quota, secret, todo, turn
    [exit 2]
    $ loopx history --op todo.ad
    [stderr] error: there are no mutations of the kind `todo.ad`
    [stderr] hint: run `loopx history --op gate.resolve`, or `loopx history --op gate` for all about gates
    [stderr] hint: the kinds begin with approver, bypass, checkpoint, evidence, fold, gate, goal, handoff, import, init, policy, quota, secret, todo, turn
    [exit 2]
    $ loopx history --record t-zzzz
    [stderr] error: the history knows no record `t-zzzz`
    [stderr] hint: run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`
    [exit 1]
    $ loopx history --record t-zzzz --json
    {
      "schema_version": 1,
      "error": {
        "code": "not-found",
        "message": "the history knows no record `t-zzzz`",
        "hints": [
          "run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`"
        ],
        "retryable": false
      }
    }
    [exit 1]
    $ loopx history --record t-zzzz --since 10m
    [stderr] error: the history knows no record `t-zzzz`
    [stderr] hint: run `loopx history`, or name it as there: `gate/ship-it`, `todo/t-7k3q`
    [exit 1]
    $ loopx history --record t-fdjx --since 10m
    nothing of that kind happened
    $ loopx history --record t-fdjx --op gate
    nothing of that kind happened
    $ loopx history --actor nobody
    nothing of that kind happened
    $ loopx history --actor nobody --json
    {
      "schema_version": 1,
      "entries": []
    }
    $ loopx history --turn t-1
    nothing of that kind happened
    $ loopx history -n 0
    $ loopx evidence list t-zzzz
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx evidence list t-fdjx
    "#);
}
