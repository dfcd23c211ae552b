//! What agents' hosts are told when they ask: before a tool runs, when a session begins, when it would stop, when it ends.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Output, Sandbox};

/// A payload as it was recorded or documented, in the sandbox's repository.
fn payload(repo: &Sandbox, name: &str) -> Value {
    let path = format!("{}/tests/it/fixtures/hosts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let here = repo.path("repo").display().to_string();
    serde_json::from_str(&text.replace("/home/dev/repo", &here)).unwrap()
}

/// Claude Code asks about a command line.
fn bash(repo: &Sandbox, line: &str) -> Output {
    let mut asked = payload(repo, "claude-code-2.1.332.PreToolUse");
    asked["tool_input"]["command"] = line.into();
    repo.loopx_told("hook claude PreToolUse", &asked.to_string())
}

#[track_caller]
fn passes(repo: &Sandbox, line: &str) {
    let output = bash(repo, line);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (0, "", ""), "{line}");
}

/// Refused, and the first line of why.
#[track_caller]
fn refused(repo: &Sandbox, line: &str) -> String {
    let output = bash(repo, line);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{line}: {output}");
    output.stderr.lines().next().unwrap_or_default().to_owned()
}

fn gated() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open 'Ship it?' --gate-id ship-it --agent-id codex-1").success();
    repo
}

const BEFORE_TOOL: [(&str, &str, &str); 7] = [
    ("claude", "PreToolUse", "claude-code-2.1.332.PreToolUse"),
    ("codex", "PreToolUse", "codex-0.171.0.PreToolUse"),
    ("gemini", "BeforeTool", "gemini-cli-0.61.0.BeforeTool"),
    ("cursor", "beforeShellExecution", "cursor-docs.beforeShellExecution"),
    ("cursor", "preToolUse", "cursor-docs.preToolUse"),
    ("copilot", "preToolUse", "copilot-docs.preToolUse"),
    ("opencode", "tool.execute.before", "opencode-1.18.33.tool.execute.before"),
];

/// The payload with another command.
fn asking(repo: &Sandbox, name: &str, line: &str) -> String {
    let mut asked = payload(repo, name);
    for place in ["/tool_input/command", "/toolArgs/command", "/args/command", "/command"] {
        if let Some(command) = asked.pointer_mut(place) {
            *command = line.into();
        }
    }
    asked.to_string()
}

#[test]
fn each_host_is_told_no_in_its_own_way() {
    let repo = gated();
    let told = BEFORE_TOOL.iter().fold(String::new(), |told, (host, event, name)| {
        let output =
            repo.loopx_told(&format!("hook {host} {event}"), &asking(&repo, name, "git push origin main"));
        format!("{told}$ {host} {event}\n{output}")
    });
    assert_snapshot!(told, @r#"
    $ claude PreToolUse
    [stderr] loopx: `git push origin main` was not run
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    $ codex PreToolUse
    [stderr] loopx: `git push origin main` was not run
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    $ gemini BeforeTool
    [stderr] loopx: `git push origin main` was not run
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    $ cursor beforeShellExecution
    {"permission":"deny","user_message":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, just now\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n","agent_message":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, just now\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n"}
    [stderr] loopx: `git push origin main` was not run
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    $ cursor preToolUse
    {"permission":"deny","user_message":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, 5 s ago\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n","agent_message":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, 5 s ago\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n"}
    [stderr] loopx: `git push origin main` was not run
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    $ copilot preToolUse
    {"permissionDecision":"deny","permissionDecisionReason":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, 6 s ago\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n"}
    $ opencode tool.execute.before
    {"decision":"deny","reason":"loopx: `git push origin main` was not run\nloopx: push refused: 1 gate stands in its way\n  ship-it  open  \"Ship it?\"  asked by codex-1, 7 s ago\nhint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)\n"}
    "#);
    for (host, event, name) in BEFORE_TOOL {
        let output = repo.loopx_told(&format!("hook {host} {event}"), &asking(&repo, name, "ls"));
        assert_eq!((output.code, output.stdout + &output.stderr), (0, String::new()), "{host} {event}");
    }
}

#[test]
fn a_push_waits_for_the_answer_however_it_is_said() {
    let repo = gated();
    repo.write("repo/deploy.sh", "#!/bin/sh\nset -e\n./more.sh\n");
    repo.write("repo/more.sh", "git push origin main\n");
    repo.write("repo/Makefile", "test:\n\tcargo test\ndeploy: test\n\tgit push\n");
    repo.write("repo/package.json", r#"{"scripts":{"ship":"npm publish","test":"node --test"}}"#);
    repo.write(
        "repo/ship.py",
        "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['git', 'push'])\n",
    );
    repo.git("config alias.p push").success();
    let lines = [
        "git push",
        "bash -c 'git push'",
        "env X=1 git push origin main",
        "git -C . push",
        "sh deploy.sh",
        "./deploy.sh",
        "make deploy",
        "npm run ship",
        "python3 ship.py",
        "git p",
        "cargo publish",
        "gh release create v1",
        "$GIT push",
    ];
    let told: String = lines.map(|line| format!("{line}\n  {}\n", refused(&repo, line))).concat();
    assert_snapshot!(told, @"
    git push
      loopx: `git push` was not run
    bash -c 'git push'
      loopx: `git push` was not run
    env X=1 git push origin main
      loopx: `env X=1 git push origin main` was not run
    git -C . push
      loopx: `git -C . push` was not run
    sh deploy.sh
      loopx: `./more.sh: git push origin main` was not run
    ./deploy.sh
      loopx: `./more.sh: git push origin main` was not run
    make deploy
      loopx: `Makefile: git push` was not run
    npm run ship
      loopx: `package.json: npm publish` was not run
    python3 ship.py
      loopx: `ship.py: subprocess.run(['git', 'push'])` was not run: it is the text of a program, and has the words in it, and it sounds like a push
    git p
      loopx: `git p: git push` was not run
    cargo publish
      loopx: `cargo publish` was not run
    gh release create v1
      loopx: `gh release create v1` was not run
    $GIT push
      loopx: `$GIT push` was not run: which program it is cannot be told, and it sounds like a push
    ");
    for line in
        ["make test", "npm test", "git log --grep push", "echo 'git push'", "git status", "git stash push"]
    {
        passes(&repo, line);
    }
    repo.person("gate resolve ship-it --decision approve", "ship-it").success();
    for line in lines {
        passes(&repo, line);
    }
}

#[test]
fn a_gate_about_some_pushes_holds_those() {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open 'Ship it?' --gate-id ship-it --branch main --agent-id codex-1").success();
    repo.git("checkout -q -b topic").success();
    refused(&repo, "git push origin HEAD:main");
    refused(&repo, "git push --all");
    passes(&repo, "git push -u origin topic");
    passes(&repo, "git push");
    repo.git("checkout -q main").success();
    refused(&repo, "git push");
}

#[test]
fn what_goes_round_hooks_or_writes_loopx_files_is_refused_without_any_gate() {
    let repo = Sandbox::with_remote();
    passes(&repo, "git push");
    let lines = [
        "git push --no-verify",
        "git -c core.hooksPath=/dev/null push",
        "HUSKY=0 git push",
        "git send-pack origin main",
        "git config hook.loopx.enabled false",
        "rm .git/hooks/pre-push",
        "git update-ref refs/heads/loopx/state HEAD",
        "git branch -D loopx/state",
        "echo x > .loopx/loopx.toml",
        "git -C .loopx commit -am x",
        "rm -rf .git/loopx",
        "script -qc 'loopx gate resolve x --decision approve' /dev/null",
    ];
    let told: String = lines.map(|line| format!("{line}\n  {}\n", refused(&repo, line))).concat();
    assert_snapshot!(told, @"
    git push --no-verify
      loopx: refused: `git push --no-verify` would go round the hooks (`--no-verify`), and while loopx guards this repository none are left out
    git -c core.hooksPath=/dev/null push
      loopx: refused: `git -c core.hooksPath=/dev/null push` would go round the hooks (`-c core.hooksPath`), and while loopx guards this repository none are left out
    HUSKY=0 git push
      loopx: refused: `git push` would go round the hooks (`HUSKY=0`), and while loopx guards this repository none are left out
    git send-pack origin main
      loopx: refused: `git send-pack origin main` would go round the hooks (`git send-pack`), and while loopx guards this repository none are left out
    git config hook.loopx.enabled false
      loopx: refused: `git config hook.loopx.enabled false` would change git's hooks or the settings that name them (the setting `hook.loopx.enabled`)
    rm .git/hooks/pre-push
      loopx: refused: `rm .git/hooks/pre-push` would change git's hooks or the settings that name them (`rm` on `.git/hooks/pre-push`)
    git update-ref refs/heads/loopx/state HEAD
      loopx: refused: `git update-ref refs/heads/loopx/state HEAD` would write `refs/heads/loopx/state`, which only loopx writes
    git branch -D loopx/state
      loopx: refused: `git branch -D loopx/state` would write `loopx/state`, which only loopx writes
    echo x > .loopx/loopx.toml
      loopx: refused: `> .loopx/loopx.toml` would change what only loopx writes (`>` on `.loopx/loopx.toml`)
    git -C .loopx commit -am x
      loopx: refused: `git -C .loopx commit -am x` would change what only loopx writes (`git commit` in `.loopx`)
    rm -rf .git/loopx
      loopx: refused: `rm .git/loopx` would change what only loopx writes (`rm` on `.git/loopx`)
    script -qc 'loopx gate resolve x --decision approve' /dev/null
      loopx: refused: `loopx gate resolve x --decision approve` asks for what only a person may do (`loopx gate resolve`)
    ");
    assert_snapshot!(bash(&repo, "git push --no-verify origin main"), @"
    [stderr] loopx: refused: `git push --no-verify origin main` would go round the hooks (`--no-verify`), and while loopx guards this repository none are left out
    [stderr] hint: a plain `git push` asks the hook, which says what waits; if hooks are in the way, say so to the person
    [exit 2]
    ");
    passes(&repo, "git update-ref refs/heads/x HEAD");
    passes(&repo, "git branch -D topic");
    passes(&repo, "git commit --no-verify -m x");
}

#[test]
fn files_that_only_loopx_writes_are_not_edited() {
    let repo = Sandbox::ready();
    repo.write("repo/link/x", "");
    std::os::unix::fs::symlink("../.git/hooks", repo.path("repo/link/hooks")).unwrap();
    let edit = |tool: &str, field: &str, path: &str| {
        let mut asked = payload(&repo, "claude-code-2.1.332.PreToolUse");
        asked["tool_name"] = tool.into();
        asked["tool_input"] = json!({ field: path, "content": "x" });
        repo.loopx_told("hook claude PreToolUse", &asked.to_string())
    };
    let whole = repo.path("repo/.loopx/goals/ship/state.json").display().to_string();
    assert_snapshot!(edit("Write", "file_path", &whole), @"
    [stderr] loopx: refused: `edit [ROOT]/repo/.loopx/goals/ship/state.json` would change what only loopx writes (by an editing tool)
    [stderr] hint: use loopx's own commands; `loopx --help` lists them, and `.loopx/` is there to be read
    [exit 2]
    ");
    for (tool, field, path) in [
        ("Edit", "file_path", ".git/hooks/pre-push"),
        ("Edit", "file_path", ".git/config"),
        ("NotebookEdit", "notebook_path", ".loopx/x.ipynb"),
        ("Write", "file_path", "link/hooks/pre-push"),
        ("Write", "file_path", "src/../.git/loopx/writer"),
    ] {
        assert_eq!(edit(tool, field, path).code, 2, "{path}");
    }
    for path in ["src/main.rs", ".gitignore", "docs/loopx.md", ".github/hooks/x.json"] {
        assert_eq!(edit("Write", "file_path", path).code, 0, "{path}");
    }
    let mut patch = payload(&repo, "codex-0.171.0.PreToolUse");
    patch["tool_name"] = "apply_patch".into();
    patch["tool_input"]["command"] =
        "*** Begin Patch\n*** Update File: .loopx/loopx.toml\n@@\n*** End Patch".into();
    assert_eq!(repo.loopx_told("hook codex PreToolUse", &patch.to_string()).code, 2);
}

/// Long before a host would run the tool without waiting for an answer.
#[test]
#[expect(clippy::disallowed_methods, reason = "hosts measure it, too")]
fn small_lines_that_grow_are_answered() {
    let repo = gated();
    for line in [
        format!("a=x; {}git push", "a=$a$a; ".repeat(31)),
        "env ".repeat(5000) + "git push",
        "xargs ".repeat(5000) + "git push",
        "$( ".repeat(5000) + "git push" + &" )".repeat(5000),
        "{ ( { ".repeat(2000) + "git push" + &"; } ) }".repeat(2000),
    ] {
        let began = std::time::Instant::now();
        refused(&repo, &line);
        assert!(began.elapsed().as_secs() < 8, "{line:.40}: {:?}", began.elapsed());
    }
}

#[test]
fn programs_that_only_speak_of_a_push_and_other_repositories_pass() {
    let repo = gated();
    repo.write("repo/t.js", "// this module checks that git push works\nconsole.log(1)\n");
    repo.write("repo/t.py", "\"\"\"Checks that nobody runs git push by hand.\"\"\"\nprint(1)\n");
    repo.write("repo/bad.py", "import os\nos.system('git push')\n");
    repo.write("repo/vendor/x/a", "");
    passes(&repo, "node t.js");
    passes(&repo, "python3 t.py");
    passes(&repo, "git clone URL t && rm -rf t/.git");
    passes(&repo, "rm -rf vendor/x/.git");
    passes(&repo, "rm -rf node_modules/.git");
    refused(&repo, "python3 bad.py");
    refused(&repo, "rm -rf .git");
    refused(&repo, "rm -rf ../repo/.git");
}

#[test]
fn what_has_a_host_ask_loopx_is_not_taken_out() {
    let repo = Sandbox::ready();
    let edit = |path: &str| {
        let mut asked = payload(&repo, "claude-code-2.1.332.PreToolUse");
        asked["tool_name"] = "Write".into();
        asked["tool_input"] = json!({ "file_path": path, "content": "{}" });
        repo.loopx_told("hook claude PreToolUse", &asked.to_string())
    };
    let lines = [
        "rm -rf .claude",
        "rm -f .claude/*",
        "sed -i /loopx/d .claude/settings.json",
        "git rm -f .claude/settings.json",
        "echo '{\"disableAllHooks\":true}' > .claude/settings.local.json",
    ];
    // Nothing of loopx's is in them yet.
    repo.write("repo/.claude/settings.json", "{}");
    for line in lines {
        passes(&repo, line);
    }
    assert_eq!(edit(".claude/settings.json").code, 0);
    repo.loopx("host install claude --yes").success();
    for line in lines {
        refused(&repo, line);
    }
    refused(&repo, "claude mcp remove loopx");
    refused(&repo, "echo '[core] hooksPath = x' >> ~/.gitconfig");
    passes(&repo, "cat .claude/settings.json");
    passes(&repo, "mkdir -p .claude/agents && echo x > .claude/agents/a.md");
    assert_eq!(edit(".claude/agents/a.md").code, 0);
    assert_eq!(edit(".claude/settings.local.json").code, 2);
    assert_snapshot!(edit(".claude/settings.json"), @"
    [stderr] loopx: refused: `edit .claude/settings.json` would change what has this host ask loopx (`[ROOT]/repo/.claude/settings.json`)
    [stderr] hint: taking it out is for a person (`loopx host uninstall`), and so is changing this file
    [exit 2]
    ");
}

#[test]
fn where_loopx_was_not_set_up_nothing_is_said() {
    let repo = Sandbox::plain();
    for line in [
        "git push --no-verify",
        "rm -rf .git/hooks",
        "loopx gate resolve x --decision approve",
        "cargo publish",
    ] {
        passes(&repo, line);
    }
    for (event, name) in [("SessionStart", "SessionStart"), ("Stop", "Stop"), ("SessionEnd", "SessionEnd")] {
        let asked = payload(&repo, &format!("claude-code-2.1.332.{name}")).to_string();
        let output = repo.loopx_told(&format!("hook claude {event}"), &asked);
        assert_eq!((output.code, output.stdout + &output.stderr), (0, String::new()), "{event}");
    }
    let empty = Sandbox::empty();
    passes(&empty, "git push");
}

#[test]
fn a_push_from_another_repository_is_judged_by_that_one() {
    let repo = gated();
    repo.git("init -q ../other").success();
    passes(&repo, "git -C ../other push");
    passes(&repo, "cd ../other && git push --no-verify");
    refused(&repo, "cd ../other && cd ../repo && git push");
    // Where it goes cannot be told, so it is judged by where the host stands.
    refused(&repo, "cd \"$DIR\" && git push");
}

#[test]
fn what_cannot_be_seen_holds_a_push_and_nothing_else() {
    let repo = Sandbox::with_remote();
    repo.forge("goals/ship/state.json", "{");
    assert_snapshot!(bash(&repo, "git push"), @"
    [stderr] loopx: `git push` was not run
    [stderr] loopx: push refused: whether a question is open cannot be seen: `loopx/state` was changed by something else than loopx: it is at [ID] and not [ID]
    [stderr] hint: put it back with `git update-ref refs/heads/loopx/state [ID]`
    [stderr] hint: or a person does, and sees first what is lost: `loopx restore --to [ID]`
    [exit 2]
    ");
    refused(&repo, "cargo publish");
    passes(&repo, "ls");
    repo.git("branch -D loopx/state");
    repo.git("update-ref -d refs/heads/loopx/state");
    refused(&repo, "git push");
    passes(&repo, "ls");
}

#[test]
fn a_payload_that_cannot_be_read_holds_what_sounds_like_a_push() {
    let repo = gated();
    let told = |input: &str| repo.loopx_told("hook claude PreToolUse", input);
    assert_snapshot!(told(r#"{"tool_name":"Bash","tool_input":{"command":"git push origin main"}}"#), @r#"
    [stderr] loopx: `{"tool_name":"Bash","tool_input":{"command":"git push origin main"}}` was not run: it came in a form that cannot be read, and it sounds like a push
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ship-it  open  "Ship it?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ship-it --decision approve` (or `reject`)
    [exit 2]
    "#);
    for input in ["", "{", r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#] {
        assert_eq!(told(input).code, 0, "{input}");
    }
    for event in ["Stop", "SessionEnd", "PostToolUse", "SessionStart"] {
        let output = repo.loopx_told(&format!("hook claude {event}"), "git push");
        assert_eq!((output.code, output.stdout + &output.stderr), (0, String::new()), "{event}");
    }
}

#[test]
fn a_session_begins_with_what_an_agent_needs_to_know() {
    let repo = gated();
    repo.todo("'Write the docs'");
    let told = |host: &str, event: &str, name: &str| {
        let output = repo.loopx_told(&format!("hook {host} {event}"), &payload(&repo, name).to_string());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(&output.stdout).unwrap_or_else(|bad| panic!("{bad}: {}", output.stdout))
    };
    let claude = told("claude", "SessionStart", "claude-code-2.1.332.SessionStart");
    let text = claude["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("agent `claude-"), "{text}");
    assert!(text.contains("Ship v2") && text.contains("ship-it"), "{text}");
    let codex = told("codex", "SessionStart", "codex-0.171.0.SessionStart");
    assert!(codex["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("Ship v2"));
    let gemini = told("gemini", "SessionStart", "gemini-cli-0.61.0.SessionStart");
    assert!(gemini["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("Ship v2"));
    let cursor = told("cursor", "sessionStart", "cursor-docs.sessionStart");
    assert!(cursor["additional_context"].as_str().unwrap().contains("Ship v2"));
    assert_eq!(cursor["env"]["LOOPX_AGENT_ID"], "cursor-[ID]");
    let copilot = told("copilot", "sessionStart", "copilot-docs.sessionStart");
    assert!(copilot["additionalContext"].as_str().unwrap().contains("Ship v2"));
    let opencode = told("opencode", "session.created", "opencode-1.18.33.session.created");
    assert!(opencode["context"].as_str().unwrap().contains("Ship v2"));
    assert_eq!(opencode["env"]["LOOPX_AGENT_ID"], "opencode-ws0e8rsk");
}

/// A session would stop; `again` as hosts say that it was sent on before.
fn stops(repo: &Sandbox, again: bool) -> Output {
    let mut asked = payload(repo, "claude-code-2.1.332.Stop");
    asked["stop_hook_active"] = again.into();
    repo.loopx_told("hook claude Stop", &asked.to_string())
}

#[test]
fn a_session_goes_on_only_when_it_was_asked_to_and_there_is_something_to_do() {
    let mut repo = Sandbox::ready();
    repo.todo("'Write the docs'");
    assert_eq!(stops(&repo, false).stdout, "", "nobody asked it to go on");
    repo.env("LOOPX_LOOP", "1");
    assert_snapshot!(stops(&repo, false), @r#"{"decision":"block","reason":"loopx: there is more to do: `t-fdjx` is ready and nobody has it\ntodo `t-fdjx`: Write the docs\nnext: `loopx todo claim t-fdjx --agent-id claude-[ID]`\n"}"#);
    repo.loopx("gate open 'Which docs?' --gate-id which --agent-id claude-1").success();
    assert_snapshot!(stops(&repo, true), @r#"{"systemMessage":"loopx: ask: everything that could be done waits for a person, who answers gate `which`\nloopx: gate `which` asks: Which docs?\nloopx: a person answers with `loopx gate resolve which --decision approve`"}"#);
    repo.person("gate resolve which --decision approve", "which").success();
    assert!(stops(&repo, true).stdout.contains("block"));
    repo.loopx("goal pause ship --agent-id x");
    assert_eq!(stops(&repo, true).stdout, "", "there is no goal to go on with");
}

/// The first of two goals has nothing to do.
#[test]
fn with_several_goals_a_session_is_about_the_one_that_goes_on() {
    let mut repo = Sandbox::ready();
    repo.env("LOOPX_LOOP", "1");
    repo.loopx("goal add 'Docs' --goal-id docs").success();
    repo.loopx("todo add 'Write them' --goal-id docs").success();
    let begin = payload(&repo, "claude-code-2.1.332.SessionStart").to_string();
    let told = repo.loopx_told("hook claude SessionStart", &begin).success().stdout;
    assert!(told.contains("Write them"), "{told}");
    let sent_on = stops(&repo, false).to_string();
    assert!(sent_on.contains("Write them"), "{sent_on}");
}

#[test]
fn a_session_that_comes_to_nothing_may_stop_in_the_end() {
    let mut repo = Sandbox::ready();
    let todo = repo.todo("'Write the docs'");
    repo.env("LOOPX_LOOP", "1");
    let sent_on = |repo: &Sandbox, mut again: bool| {
        for times in 0..50 {
            if !stops(repo, again).stdout.contains("block") {
                return times;
            }
            again = true;
        }
        panic!("it never ends");
    };
    assert_eq!(sent_on(&repo, false), 8);
    assert_snapshot!(stops(&repo, true), @r#"{"systemMessage":"loopx: this session was sent on 8 times and nothing came of it, so it may stop"}"#);
    // Somebody spoke to it.
    assert_eq!(sent_on(&repo, false), 8);
    // Something came of it, so it is counted anew.
    repo.loopx(&format!("todo claim {todo} --agent-id claude-code")).success();
    assert_eq!(sent_on(&repo, true), 8);
    repo.commit("work");
    assert_eq!(sent_on(&repo, true), 8);
}

#[test]
fn a_session_that_ends_with_work_in_hand_leaves_a_note() {
    let repo = Sandbox::ready();
    let todo = repo.todo("'Write the docs'");
    let ends = |event: &str| {
        let output = repo.loopx_told(
            &format!("hook claude {event}"),
            &payload(&repo, "claude-code-2.1.332.SessionEnd").to_string(),
        );
        assert_eq!((output.code, output.stdout + &output.stderr), (0, String::new()));
    };
    let before = repo.tip();
    ends("SessionEnd");
    assert_eq!(repo.tip(), before, "it had nothing in hand");
    repo.loopx(&format!("todo claim {todo} --agent-id claude-code")).success();
    ends("SessionEnd");
    assert_snapshot!(repo.loopx("handoff show"), @"
    handoff of goal ship, by claude-code, just now

        The session of `claude-code` ended while it had todo `t-fdjx` until 2026-11-30T12:45:09Z: Write the docs
    ");
    repo.loopx("handoff write 'the first half is done' --agent-id claude-code").success();
    let before = repo.tip();
    ends("SessionEnd");
    assert_eq!(repo.tip(), before, "what the agent left itself stays");
}

#[test]
fn whoever_reads_the_settings_of_another_host_is_answered_once_and_in_its_own_way() {
    let repo = gated();
    let asked = asking(&repo, "cursor-docs.preToolUse", "git push");
    let output = repo.loopx_told("hook claude PreToolUse", &asked);
    assert_eq!(output.code, 2);
    assert!(output.stdout.starts_with(r#"{"permission":"deny""#), "{output}");
    let output =
        repo.loopx_told("hook claude PreToolUse", &asking(&repo, "copilot-docs.PreToolUse", "git push"));
    assert!(output.stdout.starts_with(r#"{"permissionDecision":"deny""#), "{output}");
    let begins = payload(&repo, "cursor-docs.sessionStart").to_string();
    assert!(repo.loopx_told("hook claude SessionStart", &begins).stdout.contains("additional_context"));
    repo.write("repo/.cursor/hooks.json", r#"{"hooks":{"stop":[{"command":"loopx hook cursor stop"}]}}"#);
    assert_eq!(repo.loopx_told("hook claude SessionStart", &begins).stdout, "", "its own hook says it");
    assert_eq!(
        repo.loopx_told("hook claude PreToolUse", &asked).code,
        2,
        "a denial is said twice rather than not at all"
    );
}
