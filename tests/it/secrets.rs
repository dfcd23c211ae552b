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
    assert_snapshot!(repo.loopx("evidence add --goal-id ship --commit HEAD").success(), @"added evidence e-7p0h: commit [ID] try [redacted:github-pat]");
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
    assert_snapshot!(repo.loopx("evidence list"), @"  e-fdjx  ship  command  by Ann, just now  exit 0, 0 s: true ***");
}

#[test]
fn the_files_of_the_project_are_looked_over() {
    let repo = Sandbox::ready();
    let token = token();
    assert_snapshot!(repo.loopx("check"), @"nothing found in 1 text");
    repo.write("repo/config.toml", &format!("# new\ndeploy = \"{token}\"\n"));
    repo.write("repo/deep/key file.pem", &key());
    repo.write("repo/image.bin", &format!("\0{token}"));
    let leak = repo.read("repo/.loopx/loopx.toml");
    repo.write("repo/leak.toml", &leak);
    repo.git("add .").success();
    let output = repo.scene(
        "
        loopx check
        loopx check config.toml deep --json
        loopx check --staged
        git commit -q -m leak
        loopx check --staged
        loopx check --range HEAD~1..HEAD
        loopx check --range nope..HEAD
        loopx check nothing.txt
        loopx check base.txt --staged
    ",
    );
    assert!(!output.contains(&token));
    assert_snapshot!(output, @r#"
    $ loopx check
    config.toml:2:11: github-pat
    deep/key file.pem:1:1: private-key
    leak.toml:2:15: loopx-state
    found 3 places in 4 texts
    [exit 1]
    $ loopx check config.toml deep --json
    {
      "schema_version": 1,
      "found": [
        {
          "rule": "github-pat",
          "path": "config.toml",
          "line": 2,
          "column": 11
        },
        {
          "rule": "private-key",
          "path": "deep/key file.pem",
          "line": 1,
          "column": 1
        }
      ],
      "looked_at": 2,
      "skipped": 0
    }
    [exit 1]
    $ loopx check --staged
    config.toml:2:11: github-pat
    deep/key file.pem:1:1: private-key
    leak.toml:2:15: loopx-state
    found 3 places in 3 texts
    [exit 1]
    $ git commit -q -m leak
    $ loopx check --staged
    nothing found in 0 texts
    $ loopx check --range HEAD~1..HEAD
    config.toml:2:11: github-pat
    deep/key file.pem:1:1: private-key
    leak.toml:2:15: loopx-state
    found 3 places in 4 texts
    [exit 1]
    $ loopx check --range nope..HEAD
    [stderr] error: `nope..HEAD` names no commit of this repository
    [stderr] hint: run `git log --oneline` for commits that exist
    [exit 1]
    $ loopx check nothing.txt
    [stderr] error: cannot read `[ROOT]/repo/nothing.txt`: No such file or directory (os error 2)
    [stderr] hint: check the path and its permissions
    [exit 1]
    $ loopx check base.txt --staged
    [stderr] error: the argument '[PATH]...' cannot be used with '--staged'
    [stderr]
    [stderr] Usage: loopx check <PATH>...
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    "#);
    repo.git(&format!("commit -q --allow-empty -m 'try {token}'")).success();
    assert_snapshot!(repo.loopx("check --range HEAD~1..HEAD"), @"
    commit [ID]:1:5: github-pat
    found 1 place in 1 text
    [exit 1]
    ");
    repo.git("rm -q -f config.toml leak.toml image.bin base.txt").success();
    assert_snapshot!(repo.loopx("check --sarif"), @r#"
    {
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "runs": [
        {
          "columnKind": "unicodeCodePoints",
          "results": [
            {
              "level": "error",
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "deep/key%20file.pem"
                    },
                    "region": {
                      "startColumn": 1,
                      "startLine": 1
                    }
                  }
                }
              ],
              "message": {
                "text": "what looks like a secret (private-key)"
              },
              "ruleId": "private-key"
            }
          ],
          "tool": {
            "driver": {
              "name": "loopx",
              "rules": [
                {
                  "id": "private-key",
                  "shortDescription": {
                    "text": "what looks like a secret (private-key)"
                  }
                }
              ],
              "version": "0.1.0"
            }
          }
        }
      ],
      "version": "2.1.0"
    }
    [exit 1]
    "#);
}

#[test]
fn a_copied_record_is_found_without_the_state_it_is_from() {
    let repo = Sandbox::ready();
    let id = repo.todo("one");
    let todo = repo.git(&format!("cat-file -p loopx/state:goals/ship/todos/{id}.toml")).stdout;
    let goal = repo.git("cat-file -p loopx/state:goals/ship/state.json").stdout;
    let there = Sandbox::plain();
    there.write("repo/notes/a.toml", &todo);
    there.write("repo/notes/b.json", &goal);
    assert_snapshot!(there.loopx("check notes"), @"
    notes/a.toml:1:1: loopx-state
    notes/b.json:1:1: loopx-state
    found 2 places in 2 texts
    [exit 1]
    ");
    let outside = there.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c.toml"), &todo).unwrap();
    assert_snapshot!(there.loopx("check ../outside"), @"
    ../outside/c.toml:1:1: loopx-state
    found 1 place in 1 text
    [exit 1]
    ");
}

#[test]
fn a_person_lets_a_false_alarm_through() {
    let repo = Sandbox::ready();
    let add = format!("todo add 'say {}'", token());
    let refused = repo.loopx_raw(&["--json", "todo", "add", &format!("say {}", token())]);
    assert_eq!(refused.code, 1);
    // The scene hides what looks like an id, and a digest does.
    let raw =
        repo.feed(env!("CARGO_BIN_EXE_loopx"), &["todo", "add", &format!("say {}", token())], "").stderr;
    let digest = raw.split([' ', '`']).find(|word| word.len() == 64).expect("a digest").to_owned();
    assert_snapshot!(repo.loopx(&format!("secret allow {digest} --reason 'from the manual'")), @"
    [stderr] error: only a person at a terminal may let through what looks like a secret, and there is none
    [stderr] hint: run `loopx secret allow [ID] --reason <why>` in a terminal
    [exit 1]
    ");
    assert_snapshot!(repo.person(&format!("secret allow {digest} --reason 'from the manual'"), &digest[..8]), @"
    Value with the digest [ID]
    from the manual

    Type `[ID]` to let through what looks like a secret: [ID]
    [ID]… is let through
    ");
    repo.loopx(&add).success();
    assert_snapshot!(repo.loopx("secret list"), @"  [ID]  by Ann, just now  from the manual");
    repo.loopx("verify --all").success();
    assert_snapshot!(repo.loopx(&format!("secret forbid {digest} --agent-id a")), @"[ID]… is let through no longer");
    assert_eq!(repo.loopx(&add).code, 1);
    assert_snapshot!(repo.loopx(&format!("secret forbid {digest}")), @"
    [stderr] error: no value with the digest `[ID]` is let through
    [stderr] hint: run `loopx secret list`
    [exit 1]
    ");
    assert_snapshot!(repo.loopx(&format!("secret allow {} --reason x", token())), @"
    [stderr] error: invalid value '[redacted:github-pat]' for '<DIGEST>': that is no digest of a value (expected 64 hex digits, as a refusal shows them)
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    repo.loopx("verify --all").success();
    let forged = repo.read("repo/.loopx/loopx.toml");
    assert!(!forged.contains("allowed_secrets"), "{forged}");
    let planted = format!(
        "{forged}\n[[allowed_secrets]]\ndigest = \"{digest}\"\nreason = \"x\"\nby = \"Ann <ann@example.test>\"\nat = \"2026-11-30T12:00:30Z\"\n\n[allowed_secrets.proof]\nterminal = {{ typed = \"{}\" }}\n",
        &digest[..8]
    );
    let message = "let a value through: digest x\n\nLoopx-Op: secret.allow\nLoopx-Record: policy\nLoopx-Actor: agent:a\nSigned-off-by: Ann <ann@example.test>\n";
    repo.forge_as("loopx.toml", &planted, message);
    let verified = repo.loopx("verify --all");
    assert_eq!(verified.code, 1, "{verified}");
}

#[test]
fn the_folder_of_the_state_is_not_to_be_tracked() {
    let repo = Sandbox::plain();
    let blob = repo.git("rev-parse HEAD:base.txt").stdout;
    repo.git(&format!("update-index --add --cacheinfo 100644,{},.loopx/loopx.toml", blob.trim())).success();
    assert_snapshot!(repo.loopx("check --staged"), @"
    .loopx/loopx.toml:1:1: loopx-folder
    found 1 place in 1 text
    [exit 1]
    ");
}

#[test]
fn the_page_names_every_kind() {
    let page = fs::read_to_string("docs/secrets.md").expect("the page");
    let kinds = Sandbox::plain().loopx("secret kinds").success().stdout;
    let expected = format!("<!-- loopx secret kinds -->\n```text\n{}```\n", columns(&kinds));
    assert!(page.contains(&expected), "it should have:\n{expected}");
}

/// As many as fit into a line.
fn columns(kinds: &str) -> String {
    let mut lines = vec![String::new()];
    for kind in kinds.lines() {
        let last = lines.last_mut().expect("a line");
        match last.len() + kind.len() < 120 {
            true if last.is_empty() => last.push_str(kind),
            true => last.push_str(&format!(" {kind}")),
            false => lines.push(kind.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_user_may_have_rules_besides() {
    let repo = Sandbox::ready();
    let rules = "[[rules]]\nid = \"acme-key\"\nregex = '''acme-([a-z0-9]{12})'''\nkeywords = [\"acme\"]\n";
    repo.write("repo/rules.toml", rules);
    repo.git("config loopx.secretRules rules.toml").success();
    repo.write("repo/a.txt", "one\nkey acme-k3j8d7s6f5a4\n");
    let output = repo.scene(
        "
        loopx todo add 'use acme-k3j8d7s6f5a4'
        loopx check a.txt
        loopx todo add 'ask acme'
        loopx todo add 'use acme-k3j8d7s6f5a4' --redact
    ",
    );
    repo.git("config loopx.refuseHomePaths true").success();
    let home = repo.loopx("todo add 'look at /home/ann/x'");
    assert_eq!(home.code, 1);
    assert!(home.stderr.contains("(rule `home-path`)") && !home.stderr.contains("ann"), "{home}");
    repo.write("repo/rules.toml", "[[rules]]\nid = \"x\"\nregex = '''('''\n");
    let broken = repo.scene("loopx todo add more");
    fs::remove_file(repo.path("repo/rules.toml")).unwrap();
    let gone = repo.scene("loopx todo add more");
    assert_snapshot!(output + &broken + &gone, @"
    $ loopx todo add 'use acme-k3j8d7s6f5a4'
    [stderr] error: the new todo has what looks like a secret in `title`, characters 10 to 21 (rule `acme-key`), so nothing was written
    [stderr] hint: say it without the secret, or add `--redact`, which puts a mark in its place
    [stderr] hint: if it is none, a person lets it through with `loopx secret allow [ID] --reason <why>`
    [exit 1]
    $ loopx check a.txt
    a.txt:2:10: acme-key
    found 1 place in 1 text
    [exit 1]
    $ loopx todo add 'ask acme'
    added todo t-c22j: ask acme
    $ loopx todo add 'use acme-k3j8d7s6f5a4' --redact
    added todo t-sry7: use acme-[redacted:acme-key]
    $ loopx todo add more
    [stderr] error: the rules for secrets that git's setting `loopx.secretRules` names: the expression of `x` cannot be used: found open group without closing ')'
    [stderr] hint: mend the file, or do without it: `git config --unset loopx.secretRules`
    [exit 1]
    $ loopx todo add more
    [stderr] error: the rules for secrets that git's setting `loopx.secretRules` names: it is no file of rules: No such file or directory (os error 2)
    [stderr] hint: mend the file, or do without it: `git config --unset loopx.secretRules`
    [exit 1]
    ");
}

#[test]
fn a_key_that_was_taken_for_an_option_is_not_repeated() {
    let repo = Sandbox::ready();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----";
    assert_snapshot!(repo.loopx_raw(&["todo", "add", "t", "--body", key]), @"
    [stderr] error: unexpected argument '[redacted:private-key]' found
    [stderr]
    [stderr] Usage: loopx todo add <TITLE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(repo.loopx_raw(&["todo", "add", "t", "--body", "--what"]), @"
    [stderr] error: unexpected argument '--what' found
    [stderr]
    [stderr]   tip: to pass '--what' as a value, use '-- --what'
    [stderr]
    [stderr] Usage: loopx todo add <TITLE>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_range_is_not_taken_for_a_path() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.scene("
        loopx check main..sq
        loopx check ../main..sq
    "), @"
    $ loopx check main..sq
    [stderr] error: cannot read `[ROOT]/repo/main..sq`: No such file or directory (os error 2)
    [stderr] hint: if commits are meant, run `loopx check --range main..sq`
    [exit 1]
    $ loopx check ../main..sq
    [stderr] error: cannot read `[ROOT]/repo/../main..sq`: No such file or directory (os error 2)
    [stderr] hint: check the path and its permissions
    [exit 1]
    ");
}
