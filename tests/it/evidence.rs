//! What was seen, bound to the project as it was then.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Output, Sandbox};

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
    [stderr]   <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>>
    [stderr]
    [stderr] Usage: loopx evidence add <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --text x --link y
    [stderr] error: the argument '--text <TEXT>' cannot be used with '--link <URL>'
    [stderr]
    [stderr] Usage: loopx evidence add <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>> [TODO]
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

#[test]
fn more_kinds_of_evidence() {
    let mut repo = Sandbox::ready();
    repo.commit("two");
    repo.write("repo/report.txt", "42\n\tfine\n");
    repo.write("repo/big.txt", &"x".repeat(70_000));
    std::fs::write(repo.path("repo/binary"), [0, 159, 146]).expect("a file");
    repo.write("repo/colours.txt", "\u{1b}[31mred");
    repo.cd("repo");
    assert_snapshot!(repo.scene("
        loopx evidence add --commit HEAD~1..HEAD
        loopx evidence add --commit HEAD~1..
        loopx evidence add --commit nope..HEAD
        loopx evidence add --commit HEAD~1...HEAD
        loopx evidence add --metric p99=12.50 --unit ms --direction down
        loopx evidence add --metric coverage=81
        loopx evidence add --metric p99
        loopx evidence add --metric p99=fast
        loopx evidence add --metric p99=1 --direction sideways
        loopx evidence add --text x --unit ms
        loopx evidence add --review approve --by Bob --note 'reads well'
        loopx evidence add --review changes --by Bob
        loopx evidence add --review approve
        loopx evidence add --file report.txt --copy
        loopx evidence add --file big.txt --copy
        loopx evidence add --file binary --copy
        loopx evidence add --file colours.txt --copy
        loopx verify
    "), @r"
    $ loopx evidence add --commit HEAD~1..HEAD
    added evidence e-s29v: 1 commit [ID]..[ID]
    $ loopx evidence add --commit HEAD~1..
    added evidence e-c22j: 1 commit [ID]..[ID]
    $ loopx evidence add --commit nope..HEAD
    [stderr] error: `nope` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence add --commit HEAD~1...HEAD
    [stderr] error: `HEAD~1...HEAD` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence add --metric p99=12.50 --unit ms --direction down
    added evidence e-f8b6: p99 = 12.50 ms (less is better)
    $ loopx evidence add --metric coverage=81
    added evidence e-bhmh: coverage = 81
    $ loopx evidence add --metric p99
    [stderr] error: invalid value 'p99' for '--metric <NAME=VALUE>': expected `NAME=VALUE`
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --metric p99=fast
    [stderr] error: invalid value 'p99=fast' for '--metric <NAME=VALUE>': `fast` is not a number (expected one such as `12` or `-0.5`, of at most 40 characters)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --metric p99=1 --direction sideways
    [stderr] error: invalid value 'sideways' for '--direction <DIRECTION>'
    [stderr]   [possible values: up, down]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --text x --unit ms
    added evidence e-hyph: x
    $ loopx evidence add --review approve --by Bob --note 'reads well'
    added evidence e-53mf: approved by Bob: reads well
    $ loopx evidence add --review changes --by Bob
    added evidence e-e9sz: changes wanted by Bob
    $ loopx evidence add --review approve
    [stderr] error: the following required arguments were not provided:
    [stderr]   --by <NAME>
    [stderr]
    [stderr] Usage: loopx evidence add --by <NAME> <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --file report.txt --copy
    added evidence e-narq: file report.txt (9 bytes)
    $ loopx evidence add --file big.txt --copy
    [stderr] error: no copy of `big.txt` can be kept: it has 70000 bytes (at most 65536)
    [stderr] hint: leave out `--copy`: the digest is kept in any case
    [exit 1]
    $ loopx evidence add --file binary --copy
    [stderr] error: no copy of `binary` can be kept: it is no text
    [stderr] hint: leave out `--copy`: the digest is kept in any case
    [exit 1]
    $ loopx evidence add --file colours.txt --copy
    [stderr] error: no copy of `colours.txt` can be kept: the copy has the control character `\u{1b}` in it
    [stderr] hint: leave out `--copy`: the digest is kept in any case
    [exit 1]
    $ loopx verify
    10 commits (10 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn evidence_is_held_against_what_is_there_now() {
    let repo = Sandbox::ready();
    repo.write("repo/report.txt", "42\n");
    let add = |args: &str| {
        let added = repo.loopx(&format!("evidence add --json {args}")).success().json();
        added["id"].as_str().expect("an id").to_owned()
    };
    let (file, commit, note) = (add("--file report.txt --copy"), add("--commit HEAD"), add("--text x"));
    let same = repo.scene(&format!(
        "loopx evidence show {file}\nloopx evidence show {commit}\nloopx evidence show {note}"
    ));
    repo.write("repo/report.txt", "43\n");
    let changed = repo.scene(&format!("loopx evidence show {file} --json"));
    std::fs::remove_file(repo.path("repo/report.txt")).expect("a file");
    let gone = repo.scene(&format!("loopx evidence show {file}\nloopx evidence show e-zzzz"));
    assert_snapshot!(same + &changed + &gone, @r#"
    $ loopx evidence show e-fdjx
    evidence e-fdjx: file report.txt (3 bytes)
      goal    ship
      added   by Ann, just now
      commit  [ID]
      digest  sha256:[ID]
      now     still the same

    42
    $ loopx evidence show e-7p0h
    evidence e-7p0h: commit [ID] base
      goal    ship
      added   by Ann, just now
      commit  [ID]
      now     still the same
    $ loopx evidence show e-s29v
    evidence e-s29v: x
      goal    ship
      added   by Ann, just now
      commit  [ID]
      now     nothing to compare with

    x
    $ loopx evidence show e-fdjx --json
    {
      "schema_version": 1,
      "id": "e-fdjx",
      "goal": "ship",
      "commit": "[ID]",
      "dirty": false,
      "added": {
        "by": "Ann <ann@example.test>",
        "at": "2026-11-30T12:00:05Z"
      },
      "what": {
        "kind": "file",
        "path": "report.txt",
        "bytes": 3,
        "digest": "sha256:[ID]",
        "copy": "42\n"
      },
      "now": "changed"
    }
    $ loopx evidence show e-fdjx
    evidence e-fdjx: file report.txt (3 bytes)
      goal    ship
      added   by Ann, 7 s ago
      commit  [ID]
      digest  sha256:[ID]
      now     gone

    42
    $ loopx evidence show e-zzzz
    [stderr] error: there is no evidence `e-zzzz`
    [stderr] hint: run `loopx evidence list`
    [exit 1]
    "#);
}

/// Runs a script under `evidence run`.
fn ran(repo: &Sandbox, options: &str, script: &str) -> Output {
    let options: Vec<&str> = options.split_whitespace().collect();
    let args = [&["evidence", "run"], &options[..], &["--", "sh", "-c", script]].concat();
    repo.loopx_raw(&args)
}

#[test]
fn a_run_passes_everything_on_and_keeps_what_came_of_it() {
    let repo = Sandbox::ready();
    let todo = repo.todo("one");
    repo.loopx("gate open Ready? --blocks push --agent-id a").success();
    let before = repo.tip();
    let first = ran(&repo, &format!("--todo {todo}"), "echo out; echo err >&2; echo token=abc; exit 3");
    assert_snapshot!(first, @"
    out
    token=abc
    [stderr] err
    [exit 3]
    ");
    assert_eq!(repo.git("rev-parse loopx/state~1").stdout, before, "one commit");
    assert_snapshot!(ran(&repo, "--gate ready", "cat; kill -9 $$"), @"[exit 137]");
    assert_snapshot!(ran(&repo, "", "printf '\\033[31mred\\033[0m\\n'; echo more > made.txt"), @"[31mred[0m");
    assert_snapshot!(ran(&repo, "--todo t-zzzz", "touch never"), @"
    [stderr] error: there is no todo `t-zzzz`
    [stderr] hint: run `loopx todo list --all`
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("evidence run -- no-such-program"), @"
    [stderr] error: `no-such-program` cannot be started: No such file or directory (os error 2)
    [stderr] hint: nothing was run; look whether it is there with `command -v no-such-program`
    [exit 127]
    ");
    assert!(!repo.path("repo/never").exists());
    let list = repo.loopx("evidence list --json").json();
    let id = |at: usize| list["evidence"][at]["id"].as_str().expect("an id").to_owned();
    assert_snapshot!(repo.scene(&format!("
        loopx evidence list
        loopx evidence show {}
        loopx evidence show {}
        git show loopx/state:goals/ship/evidence/{}.toml
        git log --format=%s -4 loopx/state
        loopx verify
    ", id(2), id(0), id(0))), @r#"
    $ loopx evidence list
      e-f8b6  ship    command  by Ann, just now  exit 0, 0 s: sh -c printf '\033[31mred\033[0m\n'; echo more > made.txt
      e-a4wn  ready   command  by Ann, 5 s ago   ended by signal 9, 0 s: sh -c cat; kill -9 $$
      e-c22j  t-fdjx  command  by Ann, 7 s ago   exit 3, 0 s: sh -c echo out; echo err >&2; echo token=*** exit 3
    $ loopx evidence show e-c22j
    evidence e-c22j: exit 3, 0 s: sh -c echo out; echo err >&2; echo token=*** exit 3
      goal    ship
      todo    t-fdjx
      added   by Ann, 8 s ago
      commit  [ID]
      tree    [ID]
      stdout  14 bytes, sha256:[ID]
      stderr  4 bytes, sha256:[ID]
      now     changed since

    stdout:
    out
    token=***

    stderr:
    err
    $ loopx evidence show e-f8b6
    evidence e-f8b6: exit 0, 0 s: sh -c printf '\033[31mred\033[0m\n'; echo more > made.txt
      goal     ship
      added    by Ann, 6 s ago
      commit   [ID]
      tree     [ID]
      left at  tree [ID]
      stdout   13 bytes, sha256:[ID]
      now      changed since

    stdout:
    red
    $ git show loopx/state:goals/ship/evidence/e-f8b6.toml
    format = "1.0"
    commit = "[ID]"
    dirty = false

    [added]
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:11Z"

    [what]
    kind = "command"
    argv = ["sh", "-c", '''printf '\033[31mred\033[0m\n'; echo more > made.txt''']
    seconds = 0

    [what.ended]
    exit = 0

    [what.watched]
    tree = "[ID]"

    [what.watched.after]
    commit = "[ID]"
    dirty = false
    tree = "[ID]"

    [what.watched.stdout]
    bytes = 13
    digest = "sha256:[ID]"
    head = "red"
    $ git log --format=%s -4 loopx/state
    add evidence e-f8b6 for goal ship: exit 0, 0 s: sh -c printf '\033[31mr…
    add evidence e-a4wn for gate ready: ended by signal 9, 0 s: sh -c cat;…
    add evidence e-c22j for todo t-fdjx: exit 3, 0 s: sh -c echo out; echo…
    open gate ready: Ready?
    $ loopx verify
    7 commits (7 new commits): each is one legal mutation, signed off
    "#);
}

#[test]
fn a_run_that_takes_too_long_or_is_interrupted_says_so() {
    let repo = Sandbox::ready();
    let late = ran(&repo, "--timeout 1", "echo begun; (sleep 60; echo never) & sleep 60");
    assert_snapshot!(late, @"
    begun
    [exit 124]
    ");
    let stubborn = ran(&repo, "--timeout 1", "trap '' TERM; echo begun; sleep 60; sleep 60");
    assert_snapshot!(stubborn, @"
    begun
    [exit 124]
    ");
    assert_snapshot!(ran(&repo, "", "echo begun; kill -TERM $PPID; exec sleep 60"), @"
    begun
    [exit 143]
    ");
    assert_snapshot!(ran(&repo, "--timeout 60", "echo in time"), @"in time");
    assert_snapshot!(repo.loopx("evidence list"), @"
    e-c22j  ship  command  by Ann, just now  exit 0, 0 s: sh -c echo in time
    e-s29v  ship  command  by Ann, just now  interrupted, ended by signal 15, 0 s: sh -c echo begun; kill -TERM $PPID; exec sleep 60
    e-7p0h  ship  command  by Ann, just now  timed out, ended by signal 9, 0 s: sh -c trap '' TERM; echo begun; sleep 60; sleep 60
    e-fdjx  ship  command  by Ann, just now  timed out, ended by signal 15, 0 s: sh -c echo begun; (sleep 60; echo never) & sleep 60
    ");
}

#[test]
fn a_long_output_is_kept_in_part_and_passed_on_whole() {
    let repo = Sandbox::ready();
    let output = ran(&repo, "", "seq 1 20000");
    assert_eq!(output.stdout.lines().count(), 20_000);
    let list = repo.feed(LOOPX, &["evidence", "list", "--json"], "").json();
    let stdout = &list["evidence"][0]["what"]["watched"]["stdout"];
    let part = |name: &str| stdout[name].as_str().expect("a text").to_owned();
    assert_eq!(stdout["bytes"], output.stdout.len());
    assert!(part("head").starts_with("1\n2\n") && part("tail").ends_with("19999\n20000"));
    let digest = repo.feed("sha256sum", &[], &output.stdout).stdout;
    assert_eq!(part("digest"), format!("sha256:{}", digest.split(' ').next().expect("a digest")));
}

#[test]
fn what_a_run_leaves_running_is_not_waited_for() {
    let repo = Sandbox::ready();
    assert_snapshot!(ran(&repo, "", "echo begun; sleep 60 & exit 0"), @"begun");
}

#[test]
fn reports_of_tests_become_counts() {
    let repo = Sandbox::ready();
    repo.write("repo/old.xml", "<testsuite><testcase/></testsuite>");
    let tap = ran(&repo, "--parse tap", "echo 1..2; echo ok 1; echo not ok 2; exit 1");
    let junit = ran(
        &repo,
        "--parse junit --report out/r.xml",
        "mkdir out; echo '<testsuite><testcase/><testcase><skipped/></testcase></testsuite>' > out/r.xml",
    );
    let cargo =
        ran(&repo, "--parse cargo", "echo 'test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured'");
    let none = ran(&repo, "--parse pytest", "echo hello");
    let stale = ran(&repo, "--parse junit --report old.xml", "true");
    let missing = ran(&repo, "--parse junit --report nope.xml", "true");
    assert_snapshot!(format!("{tap}{junit}{cargo}{none}{stale}{missing}"), @"
    1..2
    ok 1
    not ok 2
    [exit 1]
    test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured
    hello
    [stderr] warning: no tests were counted: it is no report of pytest: it has no summary such as `3 passed in 0.12s`
    [stderr] warning: no tests were counted: `[ROOT]/repo/old.xml` was there before, and the command did not write it
    [stderr] warning: no tests were counted: there is no file `[ROOT]/repo/nope.xml`
    ");
    assert_snapshot!(repo.loopx("evidence list"), @"
    e-a4wn  ship  command  by Ann, just now  exit 0, 0 s: sh -c true
    e-sry7  ship  command  by Ann, just now  exit 0, 0 s: sh -c true
    e-c22j  ship  command  by Ann, just now  exit 0, 0 s: sh -c echo hello
    e-s29v  ship  command  by Ann, just now  exit 0, 0 s, 2 passed, 0 failed, 1 skipped: sh -c echo 'test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured'
    e-7p0h  ship  command  by Ann, 5 s ago   exit 0, 0 s, 1 passed, 0 failed, 1 skipped: sh -c mkdir out; echo '<testsuite><testcase/><testcase><skipped/></testcase></testsuite>' > out/r.xml
    e-fdjx  ship  command  by Ann, 6 s ago   exit 1, 0 s, 1 passed, 1 failed, 0 skipped: sh -c echo 1..2; echo ok 1; echo not ok 2; exit 1
    ");
}

#[test]
fn a_change_is_the_same_however_it_lies_there() {
    let repo = Sandbox::ready();
    let change = || {
        let args = ["evidence", "change", "--base", "HEAD", "--json", "--text", "checked"];
        let added = repo.feed(LOOPX, &args, "").success().json();
        (added["what"]["tree"].as_str().expect("a tree").to_owned(), added["what"]["files"].as_u64())
    };
    let clean = change();
    assert_eq!(clean.0, repo.git("rev-parse HEAD^{tree}").stdout.trim());
    assert_eq!(clean.1, Some(0));
    repo.write("repo/base.txt", "changed");
    repo.write("repo/new.txt", "new");
    let index = || std::fs::read(repo.path("repo/.git/index")).expect("an index");
    let index_before = index();
    let unstaged = change();
    assert_eq!(index_before, index(), "the user's index");
    assert_ne!(unstaged.0, clean.0);
    assert_eq!(unstaged.1, Some(2));
    assert!(repo.git(&format!("cat-file -e {}", unstaged.0)).code != 0, "the user's objects");
    repo.git("add base.txt").success();
    assert_eq!(change(), unstaged);
    repo.git("add -A").success();
    repo.git("commit -q -m all").success();
    assert_eq!(change().0, unstaged.0);
    repo.git("worktree add -q --detach ../other").success();
    let args = ["-C", "../other", "evidence", "change", "--base", "HEAD~1", "--json"];
    let other = repo.feed(LOOPX, &args, "").success().json();
    assert_eq!(other["what"]["tree"].as_str(), Some(&*unstaged.0));
    repo.write("repo/.gitignore", "*.log\n");
    let ignoring = change();
    repo.write("repo/x.log", "x");
    assert_eq!(change(), ignoring);
}

#[test]
fn a_change_that_was_checked_is_held_against_what_lies_there_now() {
    let repo = Sandbox::ready();
    repo.write("repo/new.txt", "new");
    let added = repo.loopx("evidence change --base HEAD --json --text 'read it all'").success().json();
    let id = added["id"].as_str().expect("an id");
    let same = repo.scene(&format!("loopx evidence show {id}"));
    repo.write("repo/new.txt", "newer");
    let changed = repo.scene(&format!(
        "
        loopx evidence show {id}
        loopx evidence change --base nope
        loopx evidence list
        loopx verify
    "
    ));
    assert_snapshot!(same + &changed, @"
    $ loopx evidence show e-fdjx
    evidence e-fdjx: 1 changed file on [ID], tree [ID]: read it all
      goal    ship
      added   by Ann, just now
      commit  [ID]
      now     still the same

    read it all
    $ loopx evidence show e-fdjx
    evidence e-fdjx: 1 changed file on [ID], tree [ID]: read it all
      goal    ship
      added   by Ann, just now
      commit  [ID]
      now     changed since

    read it all
    $ loopx evidence change --base nope
    [stderr] error: `nope` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx evidence list
      e-fdjx  ship  change  by Ann, just now  1 changed file on [ID], tree [ID]: read it all
    $ loopx verify
    3 commits (3 new commits): each is one legal mutation, signed off
    ");
}

#[test]
fn a_run_does_not_need_a_fingerprint() {
    let repo = Sandbox::ready();
    repo.git("init -q nested").success();
    repo.write("repo/nested/x.txt", "x");
    assert_snapshot!(ran(&repo, "--receipt", "echo ran"), @"
    ran
    [stderr] warning: it is not known what exactly the command works on: git cannot take the fingerprint of what lies here: error: 'nested/' does not have a commit checked out
    [stderr] warning: no receipt was made: it is not known what exactly the command looked at
    ");
    assert_snapshot!(repo.scene("
        loopx evidence change --base HEAD
        loopx evidence list
    "), @"
    $ loopx evidence change --base HEAD
    [stderr] error: git cannot take the fingerprint of what lies here: error: 'nested/' does not have a commit checked out
    [stderr] hint: run `git fsck` to see whether the repository is sound
    [exit 1]
    $ loopx evidence list
      e-7p0h  ship  command  by Ann, just now  exit 0, 0 s: sh -c echo ran
    ");
}

#[test]
fn ctrl_c_ends_the_command_and_is_recorded() {
    let repo = Sandbox::ready();
    for options in [&[][..], &["--timeout", "60"]] {
        let ask = "printf 'Type `x` to go on: '; exec sleep 20";
        let args = [&["evidence", "run"], options, &["--", "sh", "-c", ask]].concat();
        let args: Vec<_> = args.into_iter().map(Into::into).collect();
        let ended = repo.at_a_terminal(LOOPX, &args, "\u{3}");
        assert_eq!(ended.code, 130, "{ended}");
    }
    assert_snapshot!(repo.loopx("evidence list"), @"
    e-7p0h  ship  command  by Ann, just now  interrupted, ended by signal 2, 0 s: sh -c printf 'Type `x` to go on: '; exec sleep 20
    e-fdjx  ship  command  by Ann, just now  interrupted, ended by signal 2, 0 s: sh -c printf 'Type `x` to go on: '; exec sleep 20
    ");
}

#[test]
fn a_note_alone_is_told_what_is_missing() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx evidence add --note x
        loopx evidence add --text x --note y
    "), @"
    $ loopx evidence add --note x
    [stderr] error: the following required arguments were not provided:
    [stderr]   <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>>
    [stderr]
    [stderr] Usage: loopx evidence add --note <TEXT> <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx evidence add --text x --note y
    [stderr] error: the argument '--text <TEXT>' cannot be used with '--note <TEXT>'
    [stderr]
    [stderr] Usage: loopx evidence add <--text <TEXT>|--link <URL>|--commit <REV>|--file <PATH>|--metric <NAME=VALUE>|--review <VERDICT>> [TODO]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}
