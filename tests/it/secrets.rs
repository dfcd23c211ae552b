//! What looks like a secret stays out of the state, and out of git.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, files};

/// Texts that no scanner of other people's should find in a file of ours.
fn token() -> String {
    ["gh", "p_", "0123456789abcdefghij", "ABCDEFGHIJ012345"].concat()
}

fn key() -> String {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz";
    format!("-----BEGIN OPENSSH {0} KEY-----\n{line}\n-----END OPENSSH {0} KEY-----", "PRIVATE")
}

/// The files below `.git` and `.loopx`, and what git can say about all objects it has, in which one of `needles` is.
fn places(repo: &Sandbox, needles: &[&str]) -> Vec<String> {
    let has = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        needles.iter().any(|needle| text.contains(&needle.to_lowercase()))
    };
    let mut found = Vec::new();
    for dir in ["repo/.git", "repo/.loopx", "home"] {
        let top = repo.path(dir);
        for file in files(&top) {
            if has(&fs::read(Path::new(&top).join(&file)).unwrap_or_default()) || has(file.as_bytes()) {
                found.push(format!("{dir}/{file}"));
            }
        }
    }
    let objects = repo.git("cat-file --batch --batch-all-objects --unordered");
    if has(objects.stdout.as_bytes()) {
        found.push("an object".to_owned());
    }
    found
}

#[test]
fn a_secret_is_refused_wherever_it_is_said() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    repo.loopx("gate open Ready? --gate-id ready --blocks push --agent-id a").success();
    let token = token();
    let commands = [
        format!("todo add 'use {token}'"),
        format!("todo add x --body 'use {token}'"),
        format!("goal add 'reach {token}'"),
        format!("goal add x --done-when 'it takes {token}'"),
        format!("gate open 'May I use {token}?' --agent-id a"),
        format!("evidence add {id} --text 'it said {token}'"),
        format!("evidence add {id} --link https://ann:{token}@example.test/"),
        format!("todo done {id} --note 'with {token}'"),
        format!("todo add 'a b' --body 'x\n{token}\ny'"),
        format!("goal add 'sk_live_{}'", &token[4..]),
    ];
    let tip = repo.tip();
    let mut said = String::new();
    for command in &commands {
        let output = repo.loopx(command);
        assert_eq!(output.code, 1, "{command}: {output}");
        let text = output.to_string();
        assert!(!text.to_lowercase().contains(&token[4..20]), "{text}");
        said += text.lines().next().unwrap_or_default();
        said.push('\n');
    }
    let answered =
        repo.person(&format!("gate resolve ready --decision approve --note 'see {token}'"), "ready");
    assert_eq!(answered.code, 1, "{answered}");
    assert_eq!(repo.tip(), tip);
    assert_eq!(places(&repo, &[&token]), [""; 0]);
    assert_snapshot!(said, @"
    [stderr] error: the new todo has what looks like a secret in `title`, characters 5 to 44 (rule `github-pat`), so nothing was written
    [stderr] error: the new todo has what looks like a secret in `body`, characters 5 to 44 (rule `github-pat`), so nothing was written
    [stderr] error: the new goal has what looks like a secret in `objective`, characters 7 to 46 (rule `github-pat`), so nothing was written
    [stderr] error: the new goal has what looks like a secret in `done_when`, characters 10 to 49 (rule `github-pat`), so nothing was written
    [stderr] error: the new gate has what looks like a secret in `question`, characters 11 to 50 (rule `github-pat`), so nothing was written
    [stderr] error: the new evidence has what looks like a secret in `what.text`, characters 9 to 48 (rule `github-pat`), so nothing was written
    [stderr] error: the new evidence has what looks like a secret in `what.url`, characters 13 to 52 (rule `github-pat`), so nothing was written
    [stderr] error: todo/t-fdjx has what looks like a secret in `state.note`, characters 6 to 45 (rule `github-pat`), so nothing was written
    [stderr] error: the new todo has what looks like a secret in `body`, characters 3 to 42 (rule `github-pat`), so nothing was written
    [stderr] error: the new goal has what looks like a secret in `objective`, characters 1 to 44 (rule `stripe-secret-key`), so nothing was written
    ");
    let output = repo.loopx(&commands[0]).to_string();
    assert_snapshot!(output, @"
    [stderr] error: the new todo has what looks like a secret in `title`, characters 5 to 44 (rule `github-pat`), so nothing was written
    [stderr] hint: say it without the secret, or add `--redact`, which puts a mark in its place
    [stderr] hint: if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`
    [exit 1]
    ");
    let output = repo.loopx(&format!("{} --json", commands[0])).to_string();
    assert_snapshot!(output, @r#"
    {
      "schema_version": 1,
      "error": {
        "code": "refused",
        "message": "the new todo has what looks like a secret in `title`, characters 5 to 44 (rule `github-pat`), so nothing was written",
        "hints": [
          "say it without the secret, or add `--redact`, which puts a mark in its place",
          "if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`"
        ],
        "retryable": false
      }
    }
    [exit 1]
    "#);
}

#[test]
fn a_mark_takes_its_place_when_that_is_asked_for() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let (token, key) = (token(), key());
    let output =
        repo.loopx_raw(&["evidence", "add", &id, "--redact", "--text", &format!("ran\n{key}\nand {token}")]);
    assert_snapshot!(output.success(), @"added evidence e-7p0h: ran");
    assert_snapshot!(repo.loopx(&format!("goal add --redact 'Use {token} well'")).success(), @"added goal use-redacted-github-pat-well: Use [redacted:github-pat] well");
    assert_snapshot!(repo.loopx(&format!("todo add --goal-id ship 'commit {} with {token}' --redact", "1".repeat(40))).success(), @"added todo t-c22j: commit [ID] with [redacted:github-pat]");
    assert_snapshot!(repo.loopx(&format!("gate open --goal-id ship --redact 'May {token} go?'")).success(), @r#"
    opened gate may-redacted-github-pat-go: "May [redacted:github-pat] go?"
    a person answers with `loopx gate resolve may-redacted-github-pat-go --decision approve` (or `reject`)
    "#);
    assert_eq!(places(&repo, &[&token, &key[40..100]]), [""; 0]);
    repo.loopx("verify --all").success();
}

#[test]
fn the_subject_of_a_commit_is_text_as_well() {
    let repo = Sandbox::ready();
    let token = token();
    repo.git(&format!("commit -q --allow-empty -m 'try {token}'")).success();
    let refused = repo.loopx("evidence add --goal-id ship --commit HEAD");
    assert_eq!(refused.code, 1, "{refused}");
    assert!(!refused.to_string().contains(&token));
    assert_snapshot!(repo.loopx("evidence add --goal-id ship --commit HEAD --redact").success(), @"added evidence e-s29v: commit [ID] try [redacted:github-pat]");
    assert!(!repo.git("cat-file -p loopx/state:goals/ship/evidence").stdout.contains(&token));
    assert!(!repo.git("log -p loopx/state").stdout.contains(&token));
}

#[test]
fn ids_and_digests_stay() {
    let repo = Sandbox::ready();
    let head = repo.git("rev-parse HEAD").stdout.trim().to_owned();
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let text =
        format!("commit {head} has digest sha256:{digest} and id 123e4567-e89b-42d3-a456-426614174000");
    repo.loopx(&format!("todo add '{text}' --redact")).success();
    assert!(repo.git("log -p loopx/state").stdout.contains(&text));
}

#[test]
fn what_is_there_already_holds_nothing_up() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let path = format!("goals/ship/todos/{id}.toml");
    let text = repo.git(&format!("cat-file -p loopx/state:{path}")).stdout;
    repo.plant(&path, &text.replace("\"one\"", &format!("\"use {}\"", token())));
    repo.loopx(&format!("todo claim {id} --agent-id a")).success();
    repo.loopx(&format!("todo done {id} --agent-id a")).success();
}

#[test]
fn an_import_brings_none() {
    let repo = Sandbox::ready();
    let token = token();
    repo.loopx("todo add fine").success();
    repo.loopx("export ../state.jsonl").success();
    let there = Sandbox::plain();
    there.loopx("init").success();
    // Whoever makes an export by hand makes its digests, too.
    let other = Sandbox::ready();
    other.loopx("todo add fine").success();
    let path = other.git("ls-tree -r --name-only loopx/state goals/ship/todos").stdout;
    let path = path.trim();
    let text = other.git(&format!("cat-file -p loopx/state:{path}")).stdout;
    other.plant(path, &text.replace("\"fine\"", &format!("\"use {token}\"")));
    other.loopx("export ../state.jsonl").success();
    there.write("state.jsonl", &other.read("state.jsonl"));
    let word = there.read("state.jsonl").lines().last().unwrap().to_owned();
    let digest: serde_json::Value = serde_json::from_str(&word).unwrap();
    let output = there.person("import ../state.jsonl", &digest["sha256"].as_str().unwrap()[..8]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("looks like a secret"), "{output}");
    assert_eq!(places(&there, &[&token]), [""; 0]);

    let issue = format!(
        r#"{{"id":"bd-1","title":"Log in","description":"with {token}","status":"open","priority":1,"issue_type":"task"}}"#
    );
    there.write("repo/issues.jsonl", &(issue + "\n"));
    let output = there.person("import --from beads issues.jsonl", "beads");
    assert_snapshot!(output, @"
    error: what looks like a secret: bd-1 in its body (rule `github-pat`)
    hint: nothing was imported; take them out there, or add `--redact`, which puts marks in their place
    [exit 1]
    ");
    let output = there.loopx("import --from beads issues.jsonl --dry-run --redact").success();
    assert!(output.stdout.contains("[redacted:github-pat]") && !output.stdout.contains(&token), "{output}");
}

#[test]
fn what_a_command_was_told_is_kept_without_it() {
    let repo = Sandbox::ready();
    let token = ["xo", "xb-", "123456789012", "-1234567890123-", "aBcDeFgHiJkLmNoPqRsTuVwX"].concat();
    repo.loopx(&format!("guard run --for publish -- true {token}")).success();
    assert_eq!(places(&repo, &[&token]), [""; 0]);
    assert_snapshot!(repo.loopx("evidence list"), @"  e-fdjx  ship  command  by Ann, just now  true *** (exit 0, 0 s)");
}
