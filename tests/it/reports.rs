//! What came of the last days, for whoever was not there.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository in which a week went by, with hostile texts in it.
fn a_week() -> Sandbox {
    let repo = Sandbox::ready();
    let old = repo.todo("'Long ago' --agent-id a");
    repo.loopx(&format!("todo done {old} --agent-id a")).success();
    repo.loopx("quota spend-slot --turn-id turn-0 --agent-id a").success();
    repo.sleep(10 * 86_400);
    let todo = repo.todo("'<script>alert(1)</script> | `x`' --agent-id codex-1");
    repo.loopx("gate open 'Is it [right](http://x)?' --gate-id right --blocks push --agent-id codex-1")
        .success();
    repo.sleep(7_200);
    repo.person("gate resolve right --decision approve --note 'looks <b>good</b>'", "right").success();
    repo.loopx(&format!(
        "evidence add {todo} --metric p99=12.5 --unit ms --direction down --agent-id codex-1"
    ))
    .success();
    repo.loopx(&format!("todo done {todo} --agent-id codex-1")).success();
    repo.loopx("quota spend-slot --turn-id turn-1 --slots 2 --agent-id codex-1").success();
    repo.sleep(86_400);
    repo.loopx("quota spend-slot --turn-id turn-2 --agent-id codex-2").success();
    repo.loopx("gate open 'Ship <it>?' --gate-id ship-it --agent-id codex-2").success();
    repo
}

#[test]
fn a_report_says_what_came_of_the_last_days() {
    let repo = a_week();
    assert_snapshot!(repo.loopx("report"), @r"
    # Report

    From 2026-12-04T14:00:16Z to 2026-12-11T14:00:16Z, state [ID].

    1 todo done, 1 decision made, 1 question open, 3 slots used in 2 turns, 1 piece of evidence.

    ## Goals

    | goal | objective | state | done | open | slots |
    |---|---|---|---|---|---|
    | ship | Ship v2 | active | 1 | 0 | 3 |

    ## Open questions

    | gate | question | state | asked by | waits for |
    |---|---|---|---|---|
    | ship-it | Ship &lt;it&gt;? | open | codex-2 | 1 s |

    ## Outcomes

    | day | todo | title | state | by | note |
    |---|---|---|---|---|---|
    | 2026-12-10 | t-dcs1 | &lt;script&gt;alert\(1\)&lt;/script&gt; \| \`x\` | done | codex-1 |  |

    ## Decisions

    | day | gate | question | answer | by | waited | reason |
    |---|---|---|---|---|---|---|
    | 2026-12-10 | right | Is it \[right\]\(http://x\)? | approve | Ann | 2 h | looks &lt;b&gt;good&lt;/b&gt; |

    ## Spend

    | by | slots |
    |---|---|
    | codex-1 | 2 |
    | codex-2 | 1 |

    ## Evidence

    | day | id | about | kind | what | by |
    |---|---|---|---|---|---|
    | 2026-12-10 | e-qawb | t-dcs1 | metric | p99 = 12.5 ms \(less is better\) | codex-1 |

    ## Pushes round the hook

    None was noticed.
    ");
    assert_snapshot!(repo.loopx("report --since 3d --format html"), @r##"
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width">
    <title>Report</title>
    <style>body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ddd;overflow-wrap:anywhere}th{font-weight:600;white-space:nowrap}svg{max-width:100%;height:auto}p.none{color:#777}</style>
    </head>
    <body>
    <h1>Report</h1>
    <p>From 2026-12-08T14:00:17Z to 2026-12-11T14:00:17Z, state [ID].</p>
    <p>1 todo done, 1 decision made, 1 question open, 3 slots used in 2 turns, 1 piece of evidence.</p>
    <h2>Goals</h2>
    <table>
    <tr><th>goal</th><th>objective</th><th>state</th><th>done</th><th>open</th><th>slots</th></tr>
    <tr><td>ship</td><td>Ship v2</td><td>active</td><td>1</td><td>0</td><td>3</td></tr>
    </table>
    <h2>Open questions</h2>
    <table>
    <tr><th>gate</th><th>question</th><th>state</th><th>asked by</th><th>waits for</th></tr>
    <tr><td>ship-it</td><td>Ship &lt;it&gt;?</td><td>open</td><td>codex-2</td><td>2 s</td></tr>
    </table>
    <h2>Outcomes</h2>
    <table>
    <tr><th>day</th><th>todo</th><th>title</th><th>state</th><th>by</th><th>note</th></tr>
    <tr><td>2026-12-10</td><td>t-dcs1</td><td>&lt;script&gt;alert(1)&lt;/script&gt; | `x`</td><td>done</td><td>codex-1</td><td></td></tr>
    </table>
    <h2>Decisions</h2>
    <table>
    <tr><th>day</th><th>gate</th><th>question</th><th>answer</th><th>by</th><th>waited</th><th>reason</th></tr>
    <tr><td>2026-12-10</td><td>right</td><td>Is it [right](http://x)?</td><td>approve</td><td>Ann</td><td>2 h</td><td>looks &lt;b&gt;good&lt;/b&gt;</td></tr>
    </table>
    <h2>Spend</h2>
    <svg viewBox="0 0 720 140" role="img" aria-label="slots used per day">
    <rect x="0" y="120" width="178" height="0" fill="#47a"><title>2026-12-08: 0</title></rect>
    <rect x="180" y="120" width="178" height="0" fill="#47a"><title>2026-12-09: 0</title></rect>
    <rect x="360" y="0" width="178" height="120" fill="#47a"><title>2026-12-10: 2</title></rect>
    <rect x="540" y="60" width="178" height="60" fill="#47a"><title>2026-12-11: 1</title></rect>
    <text x="0" y="135" font-size="12">2026-12-08</text>
    <text x="720" y="135" font-size="12" text-anchor="end">2026-12-11, at most 2 per day</text>
    </svg>
    <table>
    <tr><th>by</th><th>slots</th></tr>
    <tr><td>codex-1</td><td>2</td></tr>
    <tr><td>codex-2</td><td>1</td></tr>
    </table>
    <h2>Evidence</h2>
    <table>
    <tr><th>day</th><th>id</th><th>about</th><th>kind</th><th>what</th><th>by</th></tr>
    <tr><td>2026-12-10</td><td>e-qawb</td><td>t-dcs1</td><td>metric</td><td>p99 = 12.5 ms (less is better)</td><td>codex-1</td></tr>
    </table>
    <h2>Pushes round the hook</h2>
    <p class="none">None was noticed.</p>
    </body>
    </html>
    "##);
    assert_snapshot!(repo.loopx("report --since 3d --json"), @r#"
    {
      "schema_version": 1,
      "since": "2026-12-08T14:00:18Z",
      "until": "2026-12-11T14:00:18Z",
      "tip": "[ID]",
      "goals": [
        {
          "id": "ship",
          "objective": "Ship v2",
          "state": "active",
          "done": 1,
          "open": 0,
          "slots": 3
        }
      ],
      "outcomes": [
        {
          "todo": "t-dcs1",
          "goal": "ship",
          "title": "<script>alert(1)</script> | `x`",
          "state": "done",
          "by": "agent:codex-1",
          "at": "2026-12-10T14:00:12Z",
          "note": null
        }
      ],
      "decisions": [
        {
          "gate": "right",
          "goal": "ship",
          "question": "Is it [right](http://x)?",
          "decision": "approve",
          "commit": null,
          "by": "Ann",
          "at": "2026-12-10T14:00:10Z",
          "note": "looks <b>good</b>",
          "waited_seconds": 7201
        }
      ],
      "questions": [
        {
          "gate": "ship-it",
          "goal": "ship",
          "question": "Ship <it>?",
          "rejected": false,
          "standing": false,
          "asked_by": "agent:codex-2",
          "at": "2026-12-11T14:00:15Z"
        }
      ],
      "spend": {
        "turns": 2,
        "slots": 3,
        "days": [
          {
            "day": "2026-12-08",
            "slots": 0
          },
          {
            "day": "2026-12-09",
            "slots": 0
          },
          {
            "day": "2026-12-10",
            "slots": 2
          },
          {
            "day": "2026-12-11",
            "slots": 1
          }
        ],
        "agents": {
          "codex-1": 2,
          "codex-2": 1
        }
      },
      "evidence": [
        {
          "id": "e-qawb",
          "goal": "ship",
          "about": "t-dcs1",
          "kind": "metric",
          "says": "p99 = 12.5 ms (less is better)",
          "by": "agent:codex-1",
          "at": "2026-12-10T14:00:11Z"
        }
      ],
      "bypasses": [],
      "left_out": {
        "outcomes": 0,
        "decisions": 0,
        "evidence": 0,
        "bypasses": 0
      }
    }
    "#);
}

#[test]
fn a_report_goes_into_a_file() {
    let repo = a_week();
    assert_snapshot!(repo.scene("
        loopx report --format html --out report.html
        loopx report --format html --out nowhere/report.html
        loopx report --since whenever
        loopx report --format pdf
    "), @"
    $ loopx report --format html --out report.html
    wrote report.html
    $ loopx report --format html --out nowhere/report.html
    [stderr] error: the report cannot be written to `nowhere/report.html`: No such file or directory (os error 2)
    [stderr] hint: choose another `--out`
    [exit 1]
    $ loopx report --since whenever
    [stderr] error: invalid value 'whenever' for '--since <WHEN>': `whenever` is no moment (expected `7d`, `90m`, `2026-11-30` or `2026-11-30T12:00:00Z`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx report --format pdf
    [stderr] error: invalid value 'pdf' for '--format <FORMAT>'
    [stderr]   [possible values: md, html, json]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    let page = repo.read("repo/report.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("<script") && !page.contains("src="),
        "{page}"
    );
    let same = repo.loopx("report --format json").stdout;
    assert_eq!(same.lines().next(), Some("{"));
}

#[test]
fn a_report_on_nothing_is_short() {
    let repo = Sandbox::ready();
    repo.sleep(10 * 86_400);
    assert_snapshot!(repo.loopx("report --since 1d"), @"
    # Report

    From 2026-12-09T12:00:05Z to 2026-12-10T12:00:05Z, state [ID].

    0 todos done, 0 decisions made, 0 questions open, 0 slots used in 0 turns, 0 pieces of evidence.

    ## Goals

    | goal | objective | state | done | open | slots |
    |---|---|---|---|---|---|
    | ship | Ship v2 | active | 0 | 0 | 0 |

    ## Open questions

    Nothing waits for an answer.

    ## Outcomes

    Nothing was finished.

    ## Decisions

    Nothing was decided.

    ## Spend

    No slot was used.

    ## Evidence

    No evidence was added.

    ## Pushes round the hook

    None was noticed.
    ");
}

#[test]
fn answers_at_a_standing_gate_and_rules_are_told() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open 'Is main good?' --gate-id main-guard --standing --branch main --agent-id a")
        .success();
    repo.person("gate resolve main-guard --decision approve --note fine", "main-guard approve").success();
    repo.commit("worse");
    repo.person("gate resolve main-guard --decision reject", "main-guard reject").success();
    repo.loopx("policy set receipt=required --agent-id a").success();
    let report = repo.loopx("report").success().to_string();
    let lines: Vec<_> =
        report.lines().filter(|line| line.contains("main-guard") || line.contains("decision")).collect();
    assert_snapshot!(lines.join("\n"), @r"
    0 todos done, 2 decisions made, 0 questions open, 0 slots used in 0 turns, 0 pieces of evidence.
    | main-guard | Is main good? | standing | a | 6 s |
    | 2026-11-30 | main-guard | Is main good? | approve \([ID]\) | Ann |  | fine |
    | 2026-11-30 | main-guard | Is main good? | reject \([ID]\) | Ann |  |  |
    ");
    assert_snapshot!(repo.scene("
        loopx diff loopx/state~4..
        loopx diff loopx/state~4..loopx/state~3
        loopx diff loopx/state~3..loopx/state~2
        loopx history -n 4
    "), @r#"
    $ loopx diff loopx/state~4..
    gate main-guard was opened by a: "Is main good?", and was answered `reject` by Ann about [ID]
    what goes out needs a receipt now
    $ loopx diff loopx/state~4..loopx/state~3
    gate main-guard was opened by a: "Is main good?"
    $ loopx diff loopx/state~3..loopx/state~2
    gate main-guard was answered `approve` by Ann about [ID]: "Is main good?"
    $ loopx history -n 4
      [ID]  5 s ago   agent:a  require a receipt for what goes out
      [ID]  6 s ago   person   reject gate main-guard
      [ID]  9 s ago   person   approve gate main-guard
      [ID]  10 s ago  agent:a  open gate main-guard: Is main good?
    "#);
}

#[test]
fn a_long_list_ends_with_what_is_newest() {
    let repo = Sandbox::ready();
    let issue = |number: usize| {
        format!("{{\"id\":\"bd-{number}\",\"title\":\"No {number}\",\"status\":\"closed\",\"priority\":1}}\n")
    };
    repo.write("other/issues.jsonl", &(0..1_100).map(issue).collect::<String>());
    repo.person("import --from beads ../other", "beads").success();
    for (command, list) in [("report --json", "outcomes"), ("review-packet --since 1d --json", "outcomes")] {
        let told = repo.loopx(command).json();
        assert_eq!(told[list].as_array().unwrap().len(), 1_000, "{command}");
        assert_eq!(told["left_out"][list], 100, "{command}");
    }
    assert_eq!(repo.loopx("report --json").json()["goals"][0]["done"], 1_100);
    let more = |command: &str| {
        let said = repo.loopx(command).stdout;
        said.lines().find(|line| line.contains("and 1")).map(str::to_owned)
    };
    assert_eq!(more("report").as_deref(), Some("and 1000 before these"));
    let packet = more("review-packet --since 1d");
    assert_eq!(packet.as_deref(), Some("- and 1080 more: `loopx todo list --all`"));
    assert_eq!(repo.loopx("diff loopx/state~1..").stdout.lines().count(), 1_101);
    let told = repo.loopx("diff loopx/state~1.. --json").json();
    assert_eq!(told["changes"].as_array().unwrap().len(), 1_101);
}
