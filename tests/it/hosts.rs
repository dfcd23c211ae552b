//! What loopx puts into the settings of the hosts that agents live in, and takes out again.

use std::{fs, os::unix::fs::symlink};

use insta::assert_snapshot;

use crate::{
    publishing::template,
    sandbox::{Sandbox, files},
};

const HOSTS: [&str; 7] = ["claude", "codex", "cursor", "gemini", "opencode", "copilot", "agents-md"];

/// Settings as people have them.
const SETTINGS: &str = "// what we agreed on\n{\n\t\"permissions\": {\"deny\": [\"Bash(rm *)\"]}, // never\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t},\n\t/* \"model\": \"x\" */\n}";

/// A repository without a trace of a host.
fn repo() -> Sandbox {
    let mut repo = Sandbox::ready();
    fs::create_dir(repo.path("bin")).expect("a folder");
    let path = format!("{}:/usr/bin:/bin", repo.path("bin").display());
    repo.env("PATH", &path);
    repo
}

/// Every file of the worktree and of the home, with its bytes.
fn everything(repo: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let all = ["repo", "home"].iter().flat_map(|top| {
        let files = files(&repo.path(top)).into_iter();
        let files = files.filter(|file| !file.starts_with(".git/") && !file.starts_with(".loopx/"));
        files.map(move |file| format!("{top}/{file}"))
    });
    all.map(|file| (file.clone(), fs::read(repo.path(&file)).expect("a file"))).collect()
}

#[test]
fn a_list_installs_nothing() {
    let repo = repo();
    repo.script("bin/claude", "#!/bin/sh\n");
    repo.write("home/.codex/config.toml", "model = \"x\"\n");
    repo.write("repo/.gemini/settings.json", "{ nonsense");
    let before = everything(&repo);
    assert_snapshot!(repo.loopx("host list"), @"
      claude     project: not installed  user: not installed  [ROOT]/bin/claude
      codex      project: not installed  user: not installed  [ROOT]/home/.codex
      cursor     project: not installed  user: not installed  not found
      gemini     project: not installed  user: not installed  [ROOT]/repo/.gemini
      opencode   project: not installed  user: not installed  not found
      copilot    project: not installed  user: not installed  not found
      agents-md  project: not installed  user: -              not found
    `.gemini/settings.json` cannot be read, so it was left alone: Expected string for object property on line 1 column 3
    ");
    assert_eq!(everything(&repo), before);
}

#[test]
fn settings_of_the_users_survive_byte_for_byte() {
    let repo = repo();
    repo.write("repo/.claude/settings.json", SETTINGS);
    let before = everything(&repo);
    assert_snapshot!(repo.loopx("host install claude --dry-run"), @r#"
    --- .claude/settings.json
    +++ .claude/settings.json
    @@ -3,7 +3,60 @@
     	"permissions": {"deny": ["Bash(rm *)"]}, // never
     	"hooks": {
     		"Stop": [
    -			{ "hooks": [{ "type": "command", "command": "say done" }] }
    +			{ "hooks": [{ "type": "command", "command": "say done" }] },
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "loopx hook claude Stop",
    +						"timeout": 10
    +					}
    +				]
    +			}
    +		],
    +		"SessionStart": [
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "loopx hook claude SessionStart",
    +						"timeout": 10
    +					}
    +				]
    +			}
    +		],
    +		"PreToolUse": [
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "loopx hook claude PreToolUse",
    +						"timeout": 10
    +					}
    +				]
    +			}
    +		],
    +		"PreCompact": [
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "loopx hook claude PreCompact",
    +						"timeout": 10
    +					}
    +				]
    +			}
    +		],
    +		"SessionEnd": [
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "loopx hook claude SessionEnd",
    +						"timeout": 10
    +					}
    +				]
    +			}
     		]
     	},
     	/* "model": "x" */
    --- /dev/null
    +++ .mcp.json
    @@ -0,0 +1,8 @@
    +{
    +  "mcpServers": {
    +    "loopx": {
    +      "command": "loopx",
    +      "args": ["mcp"]
    +    }
    +  }
    +}
    nothing was written; do it with `loopx host install claude`
    "#);
    assert_snapshot!(repo.loopx("host install claude"), @"
    [stderr] error: nothing was written to .claude/settings.json, .mcp.json: nobody was asked
    [stderr] hint: look at it with `loopx host install claude --dry-run`
    [stderr] hint: write it with `loopx host install claude --yes`
    [exit 1]
    ");
    assert_eq!(everything(&repo), before);
    repo.loopx("host install claude --yes").success();
    let installed = everything(&repo);
    assert_snapshot!(repo.read("repo/.claude/settings.json"), @r#"
    // what we agreed on
    {
    	"permissions": {"deny": ["Bash(rm *)"]}, // never
    	"hooks": {
    		"Stop": [
    			{ "hooks": [{ "type": "command", "command": "say done" }] },
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "loopx hook claude Stop",
    						"timeout": 10
    					}
    				]
    			}
    		],
    		"SessionStart": [
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "loopx hook claude SessionStart",
    						"timeout": 10
    					}
    				]
    			}
    		],
    		"PreToolUse": [
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "loopx hook claude PreToolUse",
    						"timeout": 10
    					}
    				]
    			}
    		],
    		"PreCompact": [
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "loopx hook claude PreCompact",
    						"timeout": 10
    					}
    				]
    			}
    		],
    		"SessionEnd": [
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "loopx hook claude SessionEnd",
    						"timeout": 10
    					}
    				]
    			}
    		]
    	},
    	/* "model": "x" */
    }
    "#);
    assert_snapshot!(repo.scene("
        loopx host install claude --yes
        loopx host install claude --dry-run
        loopx doctor
    "), @"
    $ loopx host install claude --yes
    nothing to do: all of it is installed for claude
    $ loopx host install claude --dry-run
    nothing to do: all of it is installed for claude
    $ loopx doctor
    all is well
    ");
    assert_eq!(everything(&repo), installed);
    assert_snapshot!(repo.person("host uninstall claude", "claude"), @r#"
    --- .claude/settings.json
    +++ .claude/settings.json
    @@ -3,60 +3,7 @@
     	"permissions": {"deny": ["Bash(rm *)"]}, // never
     	"hooks": {
     		"Stop": [
    -			{ "hooks": [{ "type": "command", "command": "say done" }] },
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "loopx hook claude Stop",
    -						"timeout": 10
    -					}
    -				]
    -			}
    -		],
    -		"SessionStart": [
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "loopx hook claude SessionStart",
    -						"timeout": 10
    -					}
    -				]
    -			}
    -		],
    -		"PreToolUse": [
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "loopx hook claude PreToolUse",
    -						"timeout": 10
    -					}
    -				]
    -			}
    -		],
    -		"PreCompact": [
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "loopx hook claude PreCompact",
    -						"timeout": 10
    -					}
    -				]
    -			}
    -		],
    -		"SessionEnd": [
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "loopx hook claude SessionEnd",
    -						"timeout": 10
    -					}
    -				]
    -			}
    +			{ "hooks": [{ "type": "command", "command": "say done" }] }
     		]
     	},
     	/* "model": "x" */
    --- .mcp.json
    +++ /dev/null
    @@ -1,8 +0,0 @@
    -{
    -  "mcpServers": {
    -    "loopx": {
    -      "command": "loopx",
    -      "args": ["mcp"]
    -    }
    -  }
    -}
    Nothing is asked there from then on.

    Type `claude` to take loopx out of claude: claude
    taken out of claude
      [ROOT]/repo/.claude/settings.json
      [ROOT]/repo/.mcp.json
    "#);
    assert_eq!(everything(&repo), before);
    assert_eq!(repo.read("repo/.claude/settings.json"), SETTINGS);
    assert!(!repo.path("repo/.git/loopx/hosts").exists());
    assert_snapshot!(repo.loopx("host uninstall claude"), @"nothing to do: nothing is installed for claude");
}

#[test]
fn every_host_gives_back_what_was_there() {
    let own: [(&str, &[&str]); 5] = [
        (
            "{}",
            &[
                ".claude/settings.json",
                ".gemini/settings.json",
                ".cursor/mcp.json",
                ".mcp.json",
                "opencode.jsonc",
            ],
        ),
        (
            "{\"hooks\": {}, \"mcpServers\": {}}\n",
            &[".claude/settings.json", ".gemini/settings.json", ".cursor/mcp.json"],
        ),
        (
            "{\r\n    \"version\": 1, // one\r\n    \"hooks\": {}\r\n}\r\n",
            &[".cursor/hooks.json", ".codex/hooks.json"],
        ),
        ("# mine\nmodel = \"x\"\n[mcp_servers.a]\ncommand = \"a\"", &[".codex/config.toml"]),
        ("# Agents\n\nBe kind.", &["AGENTS.md"]),
    ];
    for (text, files) in own.iter().chain(&[("", &[] as &[&str])]) {
        let repo = repo();
        files.iter().for_each(|file| repo.write(&format!("repo/{file}"), text));
        let before = everything(&repo);
        for host in HOSTS {
            repo.loopx(&format!("host install {host} --yes")).success();
            let once = everything(&repo);
            repo.loopx(&format!("host install {host} --yes")).success();
            assert_eq!(everything(&repo), once, "{host}");
        }
        let listed = repo.loopx("host list --json").json();
        for host in listed["hosts"].as_array().expect("hosts") {
            assert_eq!(host["installed"][0]["standing"], "intact", "{host}");
        }
        for host in HOSTS {
            repo.person(&format!("host uninstall {host}"), host).success();
        }
        assert_eq!(everything(&repo), before, "{text}");
        for folder in [".claude", ".codex", ".cursor", ".gemini", ".opencode", ".github"] {
            let had = files.iter().any(|file| file.starts_with(folder));
            assert_eq!(repo.path(&format!("repo/{folder}")).exists(), had, "{folder}");
        }
    }
}

#[test]
fn what_others_added_since_stays() {
    let repo = repo();
    repo.loopx("host install gemini --yes").success();
    let text = repo.read("repo/.gemini/settings.json").replacen('{', "{\n  \"theme\": \"dark\",", 1);
    repo.write("repo/.gemini/settings.json", &text);
    repo.person("host uninstall gemini", "gemini").success();
    assert_eq!(repo.read("repo/.gemini/settings.json"), "{\n  \"theme\": \"dark\"\n}\n");
}

#[test]
fn an_older_installation_is_found_and_renewed() {
    let repo = repo();
    repo.loopx("host install codex --yes").success();
    let text = repo.read("repo/.codex/hooks.json").replacen(
        "loopx hook codex Stop",
        "/opt/loopx hook codex Stop",
        1,
    );
    repo.write("repo/.codex/hooks.json", &text);
    repo.loopx("host install claude --yes").success();
    fs::remove_file(repo.path("repo/.mcp.json")).expect("a file");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx host install codex --yes
        loopx host install claude --yes
        loopx doctor
    "), @r#"
    $ loopx doctor
    what loopx installed for claude is damaged or of another version: `.mcp.json`
      run `loopx host install claude`
    what loopx installed for codex is damaged or of another version: `.codex/hooks.json`
      run `loopx host install codex`
    2 problems found
    [exit 1]
    $ loopx host install codex --yes
    --- .codex/hooks.json
    +++ .codex/hooks.json
    @@ -27,7 +27,7 @@
             "hooks": [
               {
                 "type": "command",
    -            "command": "/opt/loopx hook codex Stop",
    +            "command": "loopx hook codex Stop",
                 "timeout": 10
               }
             ]
    installed for codex
      [ROOT]/repo/.codex/hooks.json
    Codex runs new hooks only after you have looked at them: type `/hooks` in it
    $ loopx host install claude --yes
    --- /dev/null
    +++ .mcp.json
    @@ -0,0 +1,8 @@
    +{
    +  "mcpServers": {
    +    "loopx": {
    +      "command": "loopx",
    +      "args": ["mcp"]
    +    }
    +  }
    +}
    installed for claude
      [ROOT]/repo/.mcp.json
    $ loopx doctor
    all is well
    "#);
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    let repo = repo();
    repo.write("repo/.claude/settings.json", "{ \"a\": 1,, }");
    repo.write("repo/.gemini/settings.json", "{ \"hooks\": [] }");
    repo.write("repo/.codex/config.toml", "a = \n");
    repo.write("repo/.opencode/plugin/loopx.js", "export const Mine = 1\n");
    repo.write("repo/.mcp.json", "{\"mcpServers\": {\"loopx\": {\"command\": \"other\"}}}\n");
    let before = everything(&repo);
    assert_snapshot!(repo.scene("
        loopx host install claude --yes
        loopx host install gemini --yes
        loopx host install codex --yes
        loopx host install opencode --yes
        loopx host install nonsense
        loopx host install agents-md --scope user --yes
    "), @"
    $ loopx host install claude --yes
    [stderr] error: `.claude/settings.json` cannot be read, so it was left alone: Unexpected token in object on line 1 column 10
    [stderr] hint: put `.claude/settings.json` right and run it again
    [exit 1]
    $ loopx host install gemini --yes
    [stderr] error: `.gemini/settings.json` was left alone: `hooks` in it is no object
    [stderr] hint: put `.gemini/settings.json` right and run it again
    [exit 1]
    $ loopx host install codex --yes
    [stderr] error: `.codex/config.toml` cannot be read, so it was left alone: TOML parse error at line 1, column 5
    [stderr] hint: put `.codex/config.toml` right and run it again
    [exit 1]
    $ loopx host install opencode --yes
    [stderr] error: `.opencode/plugin/loopx.js` was left alone: it is there already and is not loopx's
    [stderr] hint: look at `.opencode/plugin/loopx.js`, and move it away
    [exit 1]
    $ loopx host install nonsense
    [stderr] error: invalid value 'nonsense' for '<HOST>'
    [stderr]   [possible values: claude, codex, cursor, gemini, opencode, copilot, agents-md]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ loopx host install agents-md --scope user --yes
    [stderr] error: `AGENTS.md` is a project's page
    [stderr] hint: run `loopx host install agents-md --scope project`
    [exit 1]
    ");
    repo.write("repo/.claude/settings.json", "{}");
    assert_snapshot!(repo.loopx("host install claude --yes"), @"
    [stderr] error: `.mcp.json` was left alone: `mcpServers.loopx` is there already and is not loopx's
    [stderr] hint: rename `mcpServers.loopx` in `.mcp.json` and run it again
    [exit 1]
    ");
    repo.write("repo/.claude/settings.json", "{ \"a\": 1,, }");
    assert_eq!(everything(&repo), before);
}

#[test]
fn no_link_is_followed_out_of_a_project() {
    let repo = repo();
    fs::create_dir(repo.path("elsewhere")).expect("a folder");
    symlink("../elsewhere", repo.path("repo/.claude")).expect("a link");
    symlink("nowhere", repo.path("repo/AGENTS.md")).expect("a link");
    repo.write("repo/config/cursor.json", "{}\n");
    fs::create_dir(repo.path("repo/.cursor")).expect("a folder");
    symlink("../config/cursor.json", repo.path("repo/.cursor/mcp.json")).expect("a link");
    assert_snapshot!(repo.scene("
        loopx host install claude --yes
        loopx host install agents-md --yes
    "), @"
    $ loopx host install claude --yes
    [stderr] error: `.claude/settings.json` was left alone: a link leads out of this worktree
    [stderr] hint: look at it with `ls -l '.claude/settings.json'`
    [exit 1]
    $ loopx host install agents-md --yes
    [stderr] error: `AGENTS.md` was left alone: a link on the way leads to nothing
    [stderr] hint: look at it with `ls -l 'AGENTS.md'`
    [exit 1]
    ");
    assert!(files(&repo.path("elsewhere")).is_empty());
    repo.loopx("host install cursor --yes").success();
    assert!(repo.path("repo/.cursor/mcp.json").is_symlink());
    repo.person("host uninstall cursor", "cursor").success();
    assert_eq!(repo.read("repo/config/cursor.json"), "{}\n");
}

#[test]
fn an_agent_installs_and_only_a_person_takes_out() {
    let mut repo = repo();
    assert_snapshot!(repo.scene("
        loopx host install agents-md --yes --agent-id a
        loopx host uninstall agents-md --agent-id a
        loopx host uninstall agents-md
        loopx host uninstall agents-md --dry-run
    "), @r#"
    $ loopx host install agents-md --yes --agent-id a
    --- /dev/null
    +++ AGENTS.md
    @@ -0,0 +1,14 @@
    +<!-- loopx:begin -->
    +## loopx
    +
    +loopx keeps the state of this repository's agent loops: goals, gates, todos, evidence and quota.
    +
    +- `loopx context` tells what a fresh start needs: the goal, the open work, what the last turn left behind.
    +- `loopx quota should-run` answers whether there is work now, which, and why. Exit 0 is yes, exit 10 is not now.
    +- `loopx turn begin` starts one slice of work and names its todo; `loopx turn end` records what came of it.
    +- `loopx handoff write` leaves a note for whoever goes on.
    +- `loopx evidence run -- <command>` runs a command and keeps its result.
    +- `loopx gate open "<question>"` asks the person; `loopx gate list` shows what waits. Only a person answers a gate.
    +- While a gate is open, the pushes and publishing that it covers are refused. `--no-verify` is noticed and recorded.
    +- Every command takes `--json`. The MCP server `loopx mcp` offers the same where `.git` is read-only.
    +<!-- loopx:end -->
    installed for agents-md
      [ROOT]/repo/AGENTS.md
    $ loopx host uninstall agents-md --agent-id a
    [stderr] error: only a person may take loopx out of agents-md, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx host uninstall agents-md` in a terminal of their own
    [exit 1]
    $ loopx host uninstall agents-md
    [stderr] error: only a person at a terminal may take loopx out of agents-md, and there is none
    [stderr] hint: run `loopx host uninstall agents-md` in a terminal
    [exit 1]
    $ loopx host uninstall agents-md --dry-run
    --- AGENTS.md
    +++ /dev/null
    @@ -1,14 +0,0 @@
    -<!-- loopx:begin -->
    -## loopx
    -
    -loopx keeps the state of this repository's agent loops: goals, gates, todos, evidence and quota.
    -
    -- `loopx context` tells what a fresh start needs: the goal, the open work, what the last turn left behind.
    -- `loopx quota should-run` answers whether there is work now, which, and why. Exit 0 is yes, exit 10 is not now.
    -- `loopx turn begin` starts one slice of work and names its todo; `loopx turn end` records what came of it.
    -- `loopx handoff write` leaves a note for whoever goes on.
    -- `loopx evidence run -- <command>` runs a command and keeps its result.
    -- `loopx gate open "<question>"` asks the person; `loopx gate list` shows what waits. Only a person answers a gate.
    -- While a gate is open, the pushes and publishing that it covers are refused. `--no-verify` is noticed and recorded.
    -- Every command takes `--json`. The MCP server `loopx mcp` offers the same where `.git` is read-only.
    -<!-- loopx:end -->
    nothing was written; do it with `loopx host uninstall agents-md`
    "#);
    repo.env("CLAUDECODE", "1");
    assert_eq!(repo.person("host uninstall agents-md", "agents-md").code, 1);
    assert!(repo.path("repo/AGENTS.md").exists());
}

#[test]
fn a_person_is_asked_at_a_terminal() {
    let repo = repo();
    assert_snapshot!(repo.person("host install agents-md", "n"), @r#"
    --- /dev/null
    +++ AGENTS.md
    @@ -0,0 +1,14 @@
    +<!-- loopx:begin -->
    +## loopx
    +
    +loopx keeps the state of this repository's agent loops: goals, gates, todos, evidence and quota.
    +
    +- `loopx context` tells what a fresh start needs: the goal, the open work, what the last turn left behind.
    +- `loopx quota should-run` answers whether there is work now, which, and why. Exit 0 is yes, exit 10 is not now.
    +- `loopx turn begin` starts one slice of work and names its todo; `loopx turn end` records what came of it.
    +- `loopx handoff write` leaves a note for whoever goes on.
    +- `loopx evidence run -- <command>` runs a command and keeps its result.
    +- `loopx gate open "<question>"` asks the person; `loopx gate list` shows what waits. Only a person answers a gate.
    +- While a gate is open, the pushes and publishing that it covers are refused. `--no-verify` is noticed and recorded.
    +- Every command takes `--json`. The MCP server `loopx mcp` offers the same where `.git` is read-only.
    +<!-- loopx:end -->

    Press y to write this, n to leave it [y/N]: 
    error: nothing was written
    hint: run `loopx host install agents-md` again
    [exit 1]
    "#);
    assert!(!repo.path("repo/AGENTS.md").exists());
    assert_eq!(repo.person("host install agents-md", "y").code, 0);
    assert_eq!(repo.read("repo/AGENTS.md"), template("hosts/agents-md/AGENTS.md"));
}

#[test]
fn a_user_has_settings_of_their_own() {
    let mut repo = repo();
    let claude = repo.path("home/elsewhere/claude").display().to_string();
    repo.env("CLAUDE_CONFIG_DIR", &claude);
    repo.write("home/.gemini/settings.json", "{}");
    let before = everything(&repo);
    for host in &HOSTS[..6] {
        repo.loopx(&format!("host install {host} --scope user --yes")).success();
    }
    let names: Vec<String> = everything(&repo).into_iter().map(|file| file.0).collect();
    assert_snapshot!(names.join("\n"), @"
    repo/base.txt
    home/.codex/config.toml
    home/.codex/hooks.json
    home/.config/opencode/opencode.json
    home/.config/opencode/plugin/loopx.js
    home/.copilot/hooks/loopx.json
    home/.cursor/hooks.json
    home/.cursor/mcp.json
    home/.gemini/settings.json
    home/.gitconfig
    home/.local/state/loopx/hosts
    home/elsewhere/claude/settings.json
    ");
    assert_snapshot!(repo.loopx("host install claude"), @"
    [stderr] error: nothing was written to .claude/settings.json, .mcp.json: nobody was asked
    [stderr] hint: look at it with `loopx host install claude --dry-run`
    [stderr] hint: write it with `loopx host install claude --yes`
    [exit 1]
    ");
    assert_snapshot!(repo.loopx("host list"), @"
    claude     project: not installed  user: installed  [ROOT]/home/elsewhere/claude
    codex      project: not installed  user: installed  [ROOT]/home/.codex
    cursor     project: not installed  user: installed  [ROOT]/home/.cursor
    gemini     project: not installed  user: installed  [ROOT]/home/.gemini
    opencode   project: not installed  user: installed  [ROOT]/home/.config/opencode
    copilot    project: not installed  user: installed  [ROOT]/home/.copilot
    agents-md  project: not installed  user: -          not found
    ");
    for host in &HOSTS[..6] {
        repo.person(&format!("host uninstall {host} --scope user"), host).success();
    }
    assert_eq!(everything(&repo), before);
    for gone in ["home/elsewhere", "home/.codex", "home/.config", "home/.local"] {
        assert!(!repo.path(gone).exists(), "{gone}");
    }
}

#[test]
fn what_is_asked_twice_and_what_stays_is_said() {
    let repo = repo();
    repo.loopx("host install claude --yes").success();
    let told = repo.loopx("host install cursor --yes").success().stdout;
    let notes: Vec<&str> = told.lines().skip_while(|line| !line.starts_with("installed")).collect();
    assert_snapshot!(notes.join("\n"), @"
    installed for cursor
      [ROOT]/repo/.cursor/hooks.json
      [ROOT]/repo/.cursor/mcp.json
    Cursor runs no command for whoever works here without loopx: its hook refuses when it cannot run
    cursor runs the hooks of claude, too: before a tool loopx is asked twice there, and says the same twice
    ");
    assert_snapshot!(repo.person("uninstall", "uninstall").success(), @"
    0 gates in force. Pushes are not kept back any more. The branch `loopx/state` stays.
    These hosts of agents ask no more: claude, cursor.

    Type `uninstall` to take loopx out of this clone: uninstall
    removed [ROOT]/repo/.loopx
    removed [ROOT]/repo/.git/hooks/pre-commit
    removed [ROOT]/repo/.git/hooks/pre-push
    put back as it was: [ROOT]/repo/.git/config
    put back as it was: [ROOT]/repo/.git/info/exclude
    the state stays on branch `loopx/state`; `loopx init` goes on from it
    taken out of claude
    taken out of cursor
    ");
    assert_eq!(repo.git("status --porcelain").stdout, "");
}

#[test]
fn a_host_may_be_sent_on() {
    let repo = repo();
    for host in ["claude", "codex", "cursor", "gemini", "opencode", "copilot"] {
        repo.loopx(&format!("host install {host} --yes")).success();
        let plain = everything(&repo);
        let told = repo.loopx(&format!("host install {host} --loop --yes")).success().stdout;
        // Copilot has a line for each of two shells.
        let lines = told.lines().filter(|line| line.starts_with('+') && line.contains("--loop")).count();
        assert_eq!(lines, if host == "copilot" { 2 } else { 1 }, "{told}");
        let looping = everything(&repo);
        assert_ne!(looping, plain);
        repo.loopx(&format!("host install {host} --loop --yes")).success();
        repo.loopx(&format!("host install {host} --yes")).success();
        assert_eq!(everything(&repo), looping);
        repo.loopx("doctor").success();
        repo.person(&format!("host uninstall {host}"), host).success();
        assert_eq!(repo.git("status --porcelain").stdout, "", "{host}");
    }
}

/// The words about loopx that a page has, without what stands around them.
fn words_of(page: &str) -> String {
    let lines = page.lines().skip_while(|line| !line.starts_with("## loopx"));
    lines.filter(|line| !line.starts_with("<!--")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_page_says_the_same() {
    let words = words_of(&template("hosts/agents-md/AGENTS.md"));
    assert!(words.lines().count() > 5);
    for page in ["claude/skills/loopx/SKILL.md", "cursor/rules/loopx.mdc", "gemini/GEMINI.md"] {
        assert_eq!(words_of(&template(&format!("hosts/{page}"))), words, "{page}");
    }
    let repo = Sandbox::plain();
    for line in words.lines().filter(|line| line.starts_with("- `loopx ")) {
        let command: Vec<&str> = line.split('`').nth(1).expect("a command").split_whitespace().collect();
        let command: Vec<&str> = command[1..]
            .iter()
            .copied()
            .take_while(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && *word != "--")
            .collect();
        repo.loopx(&format!("{} --help", command.join(" "))).success();
    }
}

/// Every hook in a file for a host: the event, and the command.
fn hooks_of(file: &str) -> Vec<(String, String)> {
    fn commands(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Array(values) => values.iter().for_each(|value| commands(value, found)),
            serde_json::Value::Object(members) => {
                members.iter().for_each(|(key, value)| match value.as_str() {
                    Some(command)
                        if ["command", "bash", "powershell"].contains(&key.as_str())
                            && command != "command" =>
                    {
                        found.push(command.to_owned());
                    }
                    _ => commands(value, found),
                })
            }
            _ => {}
        }
    }
    let file: serde_json::Value = serde_json::from_str(&template(file)).expect("JSON");
    let events = file["hooks"].as_object().expect("hooks").iter().flat_map(|(event, hooks)| {
        let mut found = Vec::new();
        commands(hooks, &mut found);
        found.into_iter().map(move |command| (event.clone(), command))
    });
    events.collect()
}

#[test]
fn every_hook_asks_for_its_own_event() {
    for (host, file, before) in [
        ("claude", "hosts/claude/hooks/hooks.json", "PreToolUse"),
        ("codex", "hosts/codex/hooks.json", "PreToolUse"),
        ("cursor", "hosts/cursor/hooks.json", "beforeShellExecution"),
        ("gemini", "hosts/gemini/hooks/hooks.json", "BeforeTool"),
        ("copilot", "hosts/copilot/loopx.json", "preToolUse"),
    ] {
        let hooks = hooks_of(file);
        assert!(hooks.len() >= 5 && hooks.iter().any(|hook| hook.0 == before), "{host}");
        for (event, command) in hooks {
            assert_eq!(command, format!("loopx hook {host} {event}"));
        }
    }
    // That host reads nothing of a file with anything else at its top.
    let codex: serde_json::Value = serde_json::from_str(&template("hosts/codex/hooks.json")).expect("JSON");
    assert_eq!(codex.as_object().expect("an object").keys().collect::<Vec<_>>(), ["hooks"]);
}

#[test]
fn every_piece_is_well_formed() {
    let json = |path: &str| serde_json::from_str::<serde_json::Value>(&template(path)).expect(path);
    let server = json("hosts/claude/.mcp.json");
    assert_eq!(server["mcpServers"]["loopx"], serde_json::json!({"command": "loopx", "args": ["mcp"]}));
    assert_eq!(json("hosts/cursor/mcp.json"), server);
    let (plugin, extension) =
        (json("hosts/claude/.claude-plugin/plugin.json"), json("hosts/gemini/gemini-extension.json"));
    for manifest in [&plugin, &extension] {
        assert_eq!(manifest["name"], "loopx");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    }
    assert_eq!(extension["mcpServers"], server["mcpServers"]);
    assert_eq!(extension["contextFileName"], "GEMINI.md");
    let skill = template("hosts/claude/skills/loopx/SKILL.md");
    let front: Vec<&str> = skill
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .expect("a front")
        .0
        .lines()
        .collect();
    assert!(
        front[0] == "name: loopx"
            && front[1].starts_with("description: ")
            && front[1].len() < 1024
            && front.len() == 2
    );
    for file in ["config.toml", "permissions.toml"] {
        template(&format!("hosts/codex/{file}")).parse::<toml::Table>().expect(file);
    }
}

#[test]
fn what_runs_outside_of_a_sandbox_runs_nothing_of_an_agents_own() {
    let rules = template("hosts/codex/loopx.rules");
    let blocks: Vec<&str> = rules.split("prefix_rule(\n").skip(1).collect();
    assert!(blocks.len() > 4);
    for block in blocks {
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = "));
            line.unwrap_or_else(|| panic!("no {name}: {block}")).trim_end_matches(',').to_owned()
        };
        let pattern: serde_json::Value = serde_json::from_str(&field("pattern")).expect("a list");
        let decision = field("decision");
        assert!(["\"allow\"", "\"prompt\"", "\"forbidden\""].contains(&decision.as_str()), "{decision}");
        if decision == "\"allow\"" {
            let words = pattern.to_string();
            for risky in
                ["\"run\"", "\"done\"", "\"end\"", "\"guard\"", "\"notify\"", "\"export\"", "\"hook\""]
            {
                assert!(
                    pattern[0] == "loopx"
                        && pattern[1].is_string() | pattern[1].is_array()
                        && !words.contains(risky),
                    "{words}"
                );
            }
        }
    }
    let repo = Sandbox::plain();
    for (name, file) in [
        ("codex-rules", "codex/loopx.rules"),
        ("codex-permissions", "codex/permissions.toml"),
        ("cursor-rule", "cursor/rules/loopx.mdc"),
        ("claude-skill", "claude/skills/loopx/SKILL.md"),
    ] {
        assert_eq!(
            repo.loopx(&format!("host template {name}")).success().stdout,
            template(&format!("hosts/{file}"))
        );
    }
}

#[test]
fn the_plugin_passes_events_on_and_throws_on_a_refusal() {
    let mut repo = Sandbox::plain();
    if repo.feed("sh", &["-c", "command -v node"], "").code != 0 {
        return;
    }
    repo.script(
        "bin/loopx",
        "#!/bin/sh\ninput=$(cat)\necho \"$* $input\" >> \"$HOME/asked\"\ncase $3 in\ntool.execute.before) case $input in *push*) echo '{\"decision\": \"deny\", \"reason\": \"a gate is open\"}' ;; *fail*) exit 3 ;; esac ;;\nsession.idle) case $input in *true*) ;; *) echo '{\"continue\": \"one todo is open\"}' ;; esac ;;\n*) echo '{\"context\": \"what is open\", \"env\": {\"LOOPX_AGENT_ID\": \"opencode-1\"}}' ;;\nesac\n",
    );
    let bin = repo.path("bin").display().to_string();
    repo.put_on_path(&bin);
    repo.write("repo/plugin.mjs", &template("hosts/opencode/plugin/loopx.js"));
    repo.write(
        "repo/play.mjs",
        r#"
import { Loopx } from "./plugin.mjs"
const client = { session: { promptAsync: async (it) => console.log(JSON.stringify(it)) } }
const hooks = await Loopx({ client, directory: process.cwd() })
const [system, env, output] = [[], {}, { context: [] }]
const event = (type) => hooks.event({ event: { type, properties: { sessionID: "s" } } })
const run = (command) =>
  hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command } }).then(() => "ran", (error) => error.message)
await event("session.created")
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
await hooks["shell.env"]({ sessionID: "s", cwd: "/" }, { env })
console.log(system, env, await run("ls"), "|", await run("git push"), "|", await run("fail"))
await event("session.idle")
await hooks["chat.message"]({ sessionID: "s" })
await event("session.idle")
await hooks["experimental.session.compacting"]({ sessionID: "s" }, output)
await event("session.deleted")
console.log(output.context)
process.env.PATH = "/nowhere"
console.log(await run("git push"))
"#,
    );
    let played = repo.feed("node", &["play.mjs"], "").to_string();
    let asked = repo.read("home/asked").replace(&repo.root().display().to_string(), "[ROOT]");
    assert_snapshot!(format!("{played}{asked}"), @r#"
    [ 'what is open' ] { LOOPX_AGENT_ID: 'opencode-1' } ran | a gate is open | refused by loopx
    {"path":{"id":"s"},"body":{"parts":[{"type":"text","text":"one todo is open"}]}}
    [ 'what is open' ]
    ran
    hook opencode session.created {"event":"session.created","cwd":"[ROOT]/repo","session":"s"}
    hook opencode tool.execute.before {"event":"tool.execute.before","cwd":"[ROOT]/repo","session":"s","tool":"bash","args":{"command":"ls"}}
    hook opencode tool.execute.before {"event":"tool.execute.before","cwd":"[ROOT]/repo","session":"s","tool":"bash","args":{"command":"git push"}}
    hook opencode tool.execute.before {"event":"tool.execute.before","cwd":"[ROOT]/repo","session":"s","tool":"bash","args":{"command":"fail"}}
    hook opencode session.idle {"event":"session.idle","cwd":"[ROOT]/repo","session":"s","again":false}
    hook opencode session.idle {"event":"session.idle","cwd":"[ROOT]/repo","session":"s","again":true}
    hook opencode session.compacting {"event":"session.compacting","cwd":"[ROOT]/repo","session":"s"}
    hook opencode session.deleted {"event":"session.deleted","cwd":"[ROOT]/repo","session":"s"}
    "#);
}
