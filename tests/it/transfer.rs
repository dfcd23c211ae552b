//! `export` and `import`: the whole state in one file, and the same state from it, or none.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with one of everything, and another that was just set up.
fn two() -> (Sandbox, Sandbox) {
    let from = Sandbox::with_remote();
    let todo = from.todo("one --agent-id a");
    from.loopx(&format!("todo claim {todo} --agent-id a")).success();
    from.loopx(&format!("evidence add {todo} --commit HEAD --agent-id a")).success();
    from.loopx(&format!("todo done {todo} --agent-id a")).success();
    from.loopx("quota spend-slot --turn-id turn-1 --agent-id a").success();
    from.loopx("gate open Ready?").success();
    from.person("gate resolve ready --decision approve", "ready").success();
    from.loopx("gate open 'Really?'").success();
    let to = Sandbox::plain();
    to.git("init -q --bare ../hub.git").success();
    to.loopx("init").success();
    (from, to)
}

fn tree(repo: &Sandbox) -> String {
    repo.git("rev-parse loopx/state^{tree}").success().stdout
}

#[test]
fn what_goes_out_comes_in_to_the_byte() {
    let (from, to) = two();
    assert_snapshot!(from.loopx("export ../out.jsonl").success().stdout, @"exported 9 files, digest [ID]");
    let file = from.read("out.jsonl");
    to.write("in.jsonl", &file);
    let word = digest(&file);
    assert_snapshot!(to.person("import ../in.jsonl", &word).stdout, @"
    State of [ID]: 1 goal and 1 gate in 9 files, digest [ID]

    Type `[ID]` to import a state, with the answers and limits in it: [ID]
    imported 1 goal and 1 gate
    ");
    assert_eq!(tree(&from), tree(&to));
    assert_snapshot!(to.loopx("export ../again.jsonl --json").success().stdout, @r#"
    {
      "schema_version": 1,
      "tip": "[ID]",
      "files": 9,
      "sha256": "[ID]"
    }
    "#);
    assert_eq!(to.read("again.jsonl"), file);
    assert_snapshot!(to.scene("
        loopx verify --all
        loopx status
        git push ../hub.git main
        loopx export ../again.jsonl
        loopx export state.jsonl
        loopx import ../in.jsonl
    "), @r#"
    $ loopx verify --all
    2 commits (2 new commits): each is one legal mutation, signed off
    $ loopx status
    1 question waits for you
      really  open  by Ann, just now  Really?
      a person answers with `loopx gate resolve really --decision approve` (or `reject`)
    1 goal
      ship  active  1/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ git push ../hub.git main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   really  open  "Really?"  asked by Ann, just now
    [stderr] hint: a person answers with `loopx gate resolve really --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx export ../again.jsonl
    [stderr] error: `[ROOT]/repo/../again.jsonl` is there already, and an export overwrites nothing
    [stderr] hint: name a file that is not there yet
    [exit 1]
    $ loopx export state.jsonl
    [stderr] error: `[ROOT]/repo/state.jsonl` lies in a worktree, where the state could be committed and published
    [stderr] hint: run `loopx export ../loopx-state.jsonl` at the top of the worktree
    [exit 1]
    $ loopx import ../in.jsonl
    [stderr] error: there are goals here already, and an import overwrites nothing
    [stderr] hint: import into a fresh clone, after `loopx init`
    [exit 1]
    "#);
}

/// The digest that the last line has, as far as a person types it.
pub(crate) fn digest(file: &str) -> String {
    let foot: serde_json::Value = serde_json::from_str(file.lines().last().expect("a foot")).expect("JSON");
    foot["sha256"].as_str().expect("a digest")[..8].to_owned()
}

#[test]
fn a_damaged_file_is_refused_with_the_place() {
    let (from, to) = two();
    from.loopx("export ../out.jsonl").success();
    let file = from.read("out.jsonl");
    let tip = to.tip();
    let lines: Vec<&str> = file.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    let missing = [&lines[..3], &lines[4..]].concat().join("\n");
    let flipped = file.replace("Ready?", "Steady");
    let newer = file.replacen("{\"loopx_export\":1", "{\"loopx_export\":2", 1);
    let damaged =
        [cut, missing, flipped, newer, file.replacen('{', "[", 1), "hello\nthere\n".into(), String::new()];
    let mut said = String::new();
    for file in damaged {
        to.write("in.jsonl", &file);
        let output = to.person("import ../in.jsonl", "");
        assert_eq!(output.code, 1, "{}", output.stdout);
        said.push_str(output.stdout.lines().next().unwrap_or_default());
        said.push('\n');
    }
    assert_snapshot!(said, @"
    error: line 10 of the export: the end is missing
    error: line 10 of the export: the file was changed after it was made
    error: line 4 of the export: `goals/ship/gates/closed/ready.toml` was changed
    error: line 1 of the export: it has version 2, and this loopx reads 1
    error: line 1 of the export: it is no export of loopx
    error: line 1 of the export: it is no export of loopx
    error: line 1 of the export: the file is too short
    ");
    assert_eq!(to.tip(), tip);
}

/// Whoever writes a file of their own can make its digests right.
#[test]
fn what_no_state_could_be_is_refused_though_its_digests_are_right() {
    let (from, to) = two();
    from.loopx("export ../out.jsonl").success();
    let file = from.read("out.jsonl");
    let tip = to.tip();
    let mut said = String::new();
    let forgeries: [(&str, &str, &str); 4] = [
        ("loopx.toml", "loopx.toml", "../../.git/hooks/pre-push"),
        ("goals/ship/state.json", "state.json", "state.json.orig"),
        ("goals/ship/state.json", "state.json", "gates/state.toml"),
        (".gitattributes", "* -text", "* text=auto"),
    ];
    for (path, old, new) in forgeries {
        to.write("in.jsonl", &forged(&file, path, old, new));
        let word = digest(&to.read("in.jsonl"));
        let output = to.person("import ../in.jsonl", &word);
        assert_eq!(output.code, 1, "{}", output.stdout);
        let error = output.stdout.lines().find(|line| line.contains("error: "));
        said.push_str(error.unwrap_or_default());
        said.push('\n');
    }
    assert_snapshot!(said, @"
    error: line 9 of the export: `../../.git/hooks/pre-push` is no file of a state
    error: line 7 of the export: `goals/ship/state.json.orig` is no file of a state
    error: the export is no whole state: `goals/ship/gates/state.toml` on the state branch cannot be read: TOML parse error at line 1, column 1: invalid key-value pair, expected key
    error: the export is no whole state: `.gitattributes` is not what loopx makes
    ");
    assert_eq!(to.tip(), tip);
}

/// The export with `old` replaced by `new` in the line of `path`, path and text, and all digests right.
fn forged(file: &str, path: &str, old: &str, new: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let hex =
        |text: &str| -> String { Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect() };
    let mut out = String::new();
    for line in file.lines() {
        let mut json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if json["path"] == path {
            let text = json["text"].as_str().expect("text").replace(old, new);
            json["path"] = path.replace(old, new).into();
            json["sha256"] = hex(&text).into();
            json["text"] = text.into();
        }
        if json.get("end").is_some() {
            json["sha256"] = hex(&out).into();
        }
        out.push_str(&json.to_string());
        out.push('\n');
    }
    out
}

#[test]
fn an_agent_imports_nothing_and_may_export() {
    let (from, to) = two();
    from.loopx("export ../out.jsonl --agent-id a").success();
    to.write("in.jsonl", &from.read("out.jsonl"));
    let tip = to.tip();
    assert_snapshot!(to.scene("
        loopx import ../in.jsonl
        loopx import ../in.jsonl --agent-id a
        loopx import ../nothing.jsonl --json
        loopx import /dev/zero
        loopx export ../nowhere/out.jsonl
        loopx export ..
    "), @r#"
    $ loopx import ../in.jsonl
    [stderr] error: only a person at a terminal may import a state, with the answers and limits in it, and there is none
    [stderr] hint: run `loopx import <file>` in a terminal
    [exit 1]
    $ loopx import ../in.jsonl --agent-id a
    [stderr] error: only a person may import a state, with the answers and limits in it, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx import <file>` in a terminal of their own
    [exit 1]
    $ loopx import ../nothing.jsonl --json
    {
      "schema_version": 1,
      "error": {
        "code": "environment",
        "message": "cannot read `[ROOT]/repo/../nothing.jsonl`: No such file or directory (os error 2)",
        "hints": [
          "name a file that `loopx export` made"
        ],
        "retryable": false
      }
    }
    [exit 1]
    $ loopx import /dev/zero
    [stderr] error: cannot read `/dev/zero`: it is no plain file of less than a gibibyte
    [stderr] hint: name a file that `loopx export` made
    [exit 1]
    $ loopx export ../nowhere/out.jsonl
    [stderr] error: cannot write `[ROOT]/repo/../nowhere/out.jsonl`: No such file or directory (os error 2)
    [stderr] hint: name a file in a folder that is there and that you may write to
    [exit 1]
    $ loopx export ..
    [stderr] error: `[ROOT]/repo/..` cannot be the name of a file
    [stderr] hint: run `loopx export ../loopx-state.jsonl`
    [exit 2]
    "#);
    assert_eq!(to.person("import ../in.jsonl", "yes").code, 1);
    assert_eq!(to.tip(), tip);
}

#[test]
fn a_hand_made_commit_is_no_import() {
    let (from, to) = two();
    from.loopx("export ../out.jsonl").success();
    to.write("in.jsonl", &from.read("out.jsonl"));
    to.person("import ../in.jsonl", &digest(&from.read("out.jsonl"))).success();
    let tip = to.tip();
    let legal = tip.trim();
    for (old, new, problem) in [
        ("Loopx-Actor: person", "Loopx-Actor: agent:a", "only a person may do that, and a did"),
        ("Loopx-Op: import", "Loopx-Op: fold", "it folds what was not due"),
    ] {
        let commit = to.git(&format!("cat-file commit {legal}")).success().stdout.replace(old, new);
        to.write("commit", &commit);
        let forged = to.git("hash-object -t commit -w ../commit").success().stdout;
        to.git(&format!("update-ref refs/heads/loopx/state {}", forged.trim())).success();
        let said = to.loopx("verify").stdout;
        assert!(said.contains(problem), "{said}");
    }
}
