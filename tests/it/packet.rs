//! What a person finds who comes back.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A day on which nobody looked.
fn a_day() -> Sandbox {
    let repo = Sandbox::with_remote();
    let parser = repo.todo("'the parser' --agent-id a");
    let writer = repo.todo("'the <b>writer</b>' --agent-id a");
    let keys = repo.todo("'get the API key' --for person --priority p1 --agent-id a");
    repo.todo(&format!("'the client' --needs {keys} --agent-id a"));
    repo.person("configure-goal --goal-id ship --quota-compute 0.0625", "ship");
    repo.sleep(3_600);
    repo.loopx("turn begin --turn-id a-1 --agent-id a").success();
    repo.loopx(&format!("evidence run --todo {parser} --agent-id a -- false"));
    repo.loopx(&format!(
        "gate open 'Is the [grammar](http://x) final?' --gate-id grammar --todo {parser} --blocks turn --agent-id a"
    ))
    .success();
    repo.loopx("gate open 'Push to the mirror?' --gate-id mirror --blocks push --agent-id a").success();
    repo.loopx("evidence add --gate-id grammar --goal-id ship --text 'three agree' --agent-id a").success();
    repo.loopx(&format!("todo block {writer} --reason 'the disk is full' --agent-id b")).success();
    repo.sleep(7_200);
    repo.loopx("turn begin --turn-id b-1 --agent-id b");
    repo.git("push -q --no-verify origin main:side").success();
    repo
}

#[test]
fn a_person_finds_what_waits_and_what_went_wrong() {
    let repo = a_day();
    let before = repo.tip();
    assert_snapshot!(repo.loopx("review-packet"), @r"
    # Review

    **2 decisions and 1 todo wait for you.** 5 risks, 0 todos done, 2 pieces of evidence, 1 slot used in 1 turn.
    Since 2026-11-30T12:00:12Z, when a person last did something here (configure goal ship: compute 0.0625).

    ## Decisions needed

    - **Is the \[grammar\]\(http://x\) final?** (grammar, asked by a 2 h ago; holds back turn, and 1 todo)
      `loopx gate resolve grammar --decision approve` (or `reject`)
      - e-e7v7: three agree
      - e-ddvq: exit 1, 0 s: false
    - **Push to the mirror?** (mirror, asked by a 2 h ago; holds back push)
      `loopx gate resolve mirror --decision approve` (or `reject`)

    ## Only you can do

    - **get the API key** (t-a4wn, p1; needed by 1 todo): `loopx todo done t-a4wn`

    ## Risks

    - **went round the hook**: a push to refs/heads/side on origin, while a gate held pushes back (`loopx bypass list`)
    - **failed**: t-c22j: exit 1, 0 s: false (`loopx evidence show e-ddvq`)
    - **blocked**: t-sry7 the &lt;b&gt;writer&lt;/b&gt;: the disk is full (`loopx todo show t-sry7`)
    - **lost turn**: turn a-1 of a on t-c22j was never ended (`loopx history --turn a-1`)
    - **expired claim**: t-c22j the parser: the claim of a ended 1 h 15 min ago (`loopx todo show t-c22j`)

    ## Evidence

    - e-e7v7 on grammar: three agree (by a)
    - e-ddvq on t-c22j: exit 1, 0 s: false (by a)

    ## Goals

    | goal | objective | state | done | open | criteria | slots in the window |
    |---|---|---|---|---|---|---|
    | ship | Ship v2 | active | 0 | 4 | 0/0 | 1/3 |

    State [ID], read at 2026-11-30T15:00:22Z.
    [stderr] warning: a push to `refs/heads/side` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    ");
    assert_eq!(repo.tip(), before);
    assert_snapshot!(repo.loopx("review-packet --since 5s --goal-id ship --json"), @r#"
    {
      "schema_version": 1,
      "since": "2026-11-30T15:00:19Z",
      "looked": null,
      "until": "2026-11-30T15:00:24Z",
      "tip": "[ID]",
      "goals": [
        {
          "id": "ship",
          "objective": "Ship v2",
          "state": "active",
          "done": 0,
          "open": 4,
          "criteria": 0,
          "answered": 0,
          "quota": {
            "compute": 0.0625,
            "window_hours": 24,
            "slot_minutes": 30,
            "cap_slots": null,
            "allowed_slots": 3,
            "spent_slots": 1,
            "grants": []
          }
        }
      ],
      "needed": [
        {
          "gate": "grammar",
          "goal": "ship",
          "question": "Is the [grammar](http://x) final?",
          "asked_by": "agent:a",
          "waits_seconds": 7209,
          "blocks": [
            "turn"
          ],
          "standing": false,
          "todos": 1,
          "options": [
            "approve",
            "reject"
          ],
          "evidence": [],
          "next": "loopx gate resolve grammar --decision approve"
        },
        {
          "gate": "mirror",
          "goal": "ship",
          "question": "Push to the mirror?",
          "asked_by": "agent:a",
          "waits_seconds": 7208,
          "blocks": [
            "push"
          ],
          "standing": false,
          "todos": 0,
          "options": [
            "approve",
            "reject"
          ],
          "evidence": [],
          "next": "loopx gate resolve mirror --decision approve"
        }
      ],
      "chores": [
        {
          "todo": "t-a4wn",
          "goal": "ship",
          "title": "get the API key",
          "priority": "p1",
          "needed_by": 1
        }
      ],
      "risks": [
        {
          "kind": "bypass",
          "goal": null,
          "record": null,
          "says": "a push to refs/heads/side on origin, while a gate held pushes back",
          "next": "loopx bypass list"
        },
        {
          "kind": "blocked",
          "goal": "ship",
          "record": "todo/t-sry7",
          "says": "t-sry7 the <b>writer</b>: the disk is full",
          "next": "loopx todo show t-sry7"
        },
        {
          "kind": "lost",
          "goal": "ship",
          "record": "spend/s-ff6t24jx5g2c",
          "says": "turn a-1 of a on t-c22j was never ended",
          "next": "loopx history --turn a-1"
        },
        {
          "kind": "expired",
          "goal": "ship",
          "record": "todo/t-c22j",
          "says": "t-c22j the parser: the claim of a ended 1 h 15 min ago",
          "next": "loopx todo show t-c22j"
        }
      ],
      "outcomes": [],
      "decisions": [],
      "evidence": [],
      "spend": {
        "turns": 0,
        "slots": 0,
        "days": [
          {
            "day": "2026-11-30",
            "slots": 0
          }
        ],
        "agents": {}
      },
      "left_out": {
        "outcomes": 0,
        "decisions": 0,
        "evidence": 0,
        "risks": 0
      },
      "bypass": {
        "unacknowledged": 0,
        "unrecorded": 1,
        "gated": true,
        "next": "loopx bypass list"
      }
    }
    [stderr] warning: a push to `refs/heads/side` on `origin` went round the hook while a gate was open, just now (see `loopx bypass list`)
    "#);
}

#[test]
fn a_quiet_day_is_short() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx review-packet
        loopx review-packet --goal-id nope
        loopx review-packet --since yesterday
    "), @"
    $ loopx review-packet
    # Review

    **Nothing waits for you.** 0 risks, 0 todos done, 0 pieces of evidence, 0 slots used in 0 turns.
    Since 2026-11-30T12:00:04Z, when a person last did something here (add goal ship: Ship v2).

    ## Goals

    | goal | objective | state | done | open | criteria | slots in the window |
    |---|---|---|---|---|---|---|
    | ship | Ship v2 | active | 0 | 0 | 0/0 | 0/48 |

    State [ID], read at 2026-11-30T12:00:05Z.
    $ loopx review-packet --goal-id nope
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx review-packet --since yesterday
    [stderr] error: invalid value 'yesterday' for '--since <WHEN>': `yesterday` is no moment (expected `7d`, `90m`, `2026-11-30` or `2026-11-30T12:00:00Z`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}
