//! What was seen, bound to the project as it was then.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn evidence_of_every_kind() {
    let mut repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx("gate open Ready? --blocks push --agent-id a").success();
    repo.write("repo/report.txt", "42\n");
    repo.write("repo/base.txt", "changed");
    repo.cd("repo");
    assert_snapshot!(repo.scene(&format!("
        loopx evidence add {id} --text 'all tests pass' --agent-id a
        loopx evidence add {id} --link https://ci.example.test/7
        loopx evidence add --gate-id ready --commit HEAD
        loopx evidence add --goal-id ship --file report.txt
        loopx evidence list
        loopx evidence list {id}
        loopx evidence list --goal-id ship
    ")), @"
    $ loopx evidence add t-fdjx --text 'all tests pass' --agent-id a
    added evidence e-s29v: all tests pass
    $ loopx evidence add t-fdjx --link https://ci.example.test/7
    added evidence e-c22j: https://ci.example.test/7
    $ loopx evidence add --gate-id ready --commit HEAD
    added evidence e-sry7: commit [ID] base
    $ loopx evidence add --goal-id ship --file report.txt
    added evidence e-a4wn: file report.txt (3 bytes)
    $ loopx evidence list
      e-a4wn  ship    file    by Ann, just now  file report.txt (3 bytes)
      e-sry7  ready   commit  by Ann, just now  commit [ID] base
      e-c22j  t-fdjx  link    by Ann, just now  https://ci.example.test/7
      e-s29v  t-fdjx  note    by a, just now    all tests pass
    $ loopx evidence list t-fdjx
      e-c22j  t-fdjx  link  by Ann, just now  https://ci.example.test/7
      e-s29v  t-fdjx  note  by a, 5 s ago     all tests pass
    $ loopx evidence list --goal-id ship
      e-a4wn  ship    file    by Ann, just now  file report.txt (3 bytes)
      e-sry7  ready   commit  by Ann, just now  commit [ID] base
      e-c22j  t-fdjx  link    by Ann, 5 s ago   https://ci.example.test/7
      e-s29v  t-fdjx  note    by a, 6 s ago     all tests pass
    ");
    let added = repo.loopx("evidence add --json --text x").success().json();
    let id = added["id"].as_str().expect("an id");
    assert_snapshot!(repo.git_shown(&format!("show loopx/state:goals/ship/evidence/{id}.toml")), @r#"
    format = "1.0"
    commit = "[ID]"
    dirty = true

    [added]
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:14Z"

    [what]
    kind = "note"
    text = "x"
    "#);
}

#[test]
fn evidence_that_points_nowhere_is_refused() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    repo.write("secret.txt", "outside");
    std::os::unix::fs::symlink("../secret.txt", repo.path("repo/link.txt")).expect("a link");
    assert_snapshot!(repo.scene("
        loopx evidence add --commit deadbeef
        loopx evidence add --commit=--all
        loopx evidence add --commit HEAD:base.txt
        loopx evidence add --file nope.txt
        loopx evidence add --file .
        loopx evidence add --file ../secret.txt
        loopx evidence add --file link.txt
        loopx evidence add --file /etc/passwd
        loopx evidence add t-zzzz --text x
        loopx evidence add --gate-id nope --text x
        loopx evidence add --goal-id nope --text x
        loopx evidence add
        loopx evidence add --text x --link y
        loopx evidence add --text ''
    "), @"
    $ loopx evidence add --commit deadbeef
    [stderr] error: `[ID]` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence add --commit=--all
    [stderr] error: `--all` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence add --commit HEAD:base.txt
    [stderr] error: `HEAD:base.txt` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence add --file nope.txt
    [stderr] error: `nope.txt` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    $ loopx evidence add --file .
    [stderr] error: `.` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    $ loopx evidence add --file ../secret.txt
    [stderr] error: `../secret.txt` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    $ loopx evidence add --file link.txt
    [stderr] error: `link.txt` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    $ loopx evidence add --file /etc/passwd
    [stderr] error: `/etc/passwd` is no file of this worktree
    [stderr] hint: name a file inside this worktree
    [exit 1]
    $ loopx evidence add t-zzzz --text x
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    $ loopx evidence add --gate-id nope --text x
    [stderr] error: there is no gate `nope`
    [stderr] hint: run `loopx gate list --all`
    [exit 1]
    $ loopx evidence add --goal-id nope --text x
    [stderr] error: there is no goal `nope`
    [stderr] hint: run `loopx goal list`
    [exit 1]
    $ loopx evidence add
    [stderr] error: the following required arguments were not provided:
    [stderr]   <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>>
    [stderr]
    [stderr] Usage: loopx evidence add <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --text x --link y
    [stderr] error: the argument '--text <TEXT>' cannot be used with '--link <URL>'
    [stderr]
    [stderr] Usage: loopx evidence add <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --text ''
    [stderr] error: invalid value '' for '--text <TEXT>': the text is blank
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn done_takes_evidence_that_exists() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let added = repo.loopx(&format!("evidence add {id} --json --text seen")).success().json();
    let evidence = added["id"].as_str().expect("an id");
    assert_snapshot!(repo.scene(&format!("
        loopx todo done {id} --evidence e-zzzz
        loopx todo done {id} --evidence nope
        loopx todo done {id} --evidence {evidence}
        loopx todo show {id}
        loopx evidence add {id} --text 'and later'
        loopx evidence list {id}
    ")), @"
    $ loopx todo done t-fdjx --evidence e-zzzz
    [stderr] error: there is no evidence `e-zzzz` in this goal
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    $ loopx todo done t-fdjx --evidence nope
    [stderr] error: invalid value 'nope' for '--evidence <EVIDENCE>': `nope` is not an evidence id (expected `e-` and 4 to 16 of `0-9a-z` without `ilou`, such as `e-7k3q`)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx todo done t-fdjx --evidence e-7p0h
    completed todo t-fdjx: one
    $ loopx todo show t-fdjx
    todo t-fdjx: one
      goal      ship
      priority  p2
      for       agent
      added     by Ann, 5 s ago
      state     done by Ann, just now
      evidence  e-7p0h
    $ loopx evidence add t-fdjx --text 'and later'
    added evidence e-f8b6: and later
    $ loopx evidence list t-fdjx
      e-f8b6  t-fdjx  note  by Ann, just now  and later
      e-7p0h  t-fdjx  note  by Ann, 6 s ago   seen
    ");
}

#[test]
fn a_file_is_named_from_the_top_wherever_one_stands() {
    let mut repo = Sandbox::ready();
    repo.write("repo/deep/er/it's a \"file\".txt", "x");
    repo.cd("repo/deep");
    assert_snapshot!(repo.loopx_raw(&["evidence", "add", "--file", "er/it's a \"file\".txt"]), @r#"added evidence e-fdjx: file deep/er/it's a "file".txt (1 byte)"#);
}
