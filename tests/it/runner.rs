//! The runners in `docs/runner.md` are run.

use std::path::Path;

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox};

/// What a fenced block of this language in the page says.
fn block(language: &str) -> &'static str {
    let page = include_str!("../../docs/runner.md");
    let (_, block) = page.split_once(&format!("```{language}\n")).expect("a block");
    block.split_once("```\n").expect("its end").0
}

/// A repository with two todos and an agent who completes todos and has no idea what else to do.
fn ready() -> Sandbox {
    let mut repo = Sandbox::ready();
    repo.todo("left");
    repo.todo("right --check true");
    repo.script(
        "repo/agent.sh",
        "#!/bin/sh\ntask=$(cat)\ncase $task in *left*|*right*) echo working; echo did it ;; *) exit 9 ;; esac\n",
    );
    let bin = Path::new(LOOPX).parent().expect("a folder").display().to_string();
    repo.put_on_path(&bin);
    repo
}

fn what_happened(repo: &Sandbox) -> String {
    let subjects = repo.git("log --reverse --format=%s loopx/state").stdout;
    let turns = subjects.lines().filter(|line| line.contains("turn"));
    let short = |line: &str| {
        let words = line.split(' ').map(|word| match word.strip_prefix("runner-1-") {
            Some(rest) => {
                format!("[TURN {}", rest.rsplit('-').next().unwrap_or_default().replacen([',', ':'], "]", 1))
            }
            None => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    turns.map(|line| format!("{}\n", short(line))).collect()
}

#[test]
fn the_runner_in_the_shell_runs_until_a_person_is_needed() {
    let repo = ready();
    repo.script("runner.sh", block("sh"));
    let ran = repo.feed("sh", &["../runner.sh", "./agent.sh"], "");
    assert_eq!(ran.code, 10, "{ran}");
    assert!(ran.stdout.contains("a person should look at the plan"), "{ran}");
    assert_snapshot!(what_happened(&repo), @"
    begin turn [TURN 1] claim todo t-fdjx: left
    end turn [TURN 1] completed
    begin turn [TURN 2] claim todo t-7p0h: right
    end turn [TURN 2] completed
    begin turn [TURN 3] Ship v2
    end turn [TURN 3] nothing
    begin turn [TURN 4] Ship v2
    end turn [TURN 4] nothing
    begin turn [TURN 5] Ship v2
    end turn [TURN 5] nothing
    begin turn [TURN 6] Ship v2
    end turn [TURN 6] nothing
    ");
    repo.loopx("verify").success();
}

#[test]
fn the_runner_in_python_does_the_same() {
    let repo = ready();
    repo.script("runner.py", block("python"));
    let ran = repo.feed("python3", &["../runner.py", "./agent.sh"], "");
    assert_eq!(ran.code, 10, "{ran}");
    assert_eq!(ran.stdout, "the last 4 turns came to nothing: a person should look\n", "{ran}");
    assert_snapshot!(what_happened(&repo), @"
    begin turn [TURN 1] claim todo t-fdjx: left
    end turn [TURN 1] completed
    begin turn [TURN 2] claim todo t-7p0h: right
    end turn [TURN 2] completed
    begin turn [TURN 3] Ship v2
    end turn [TURN 3] nothing
    begin turn [TURN 4] Ship v2
    end turn [TURN 4] nothing
    begin turn [TURN 5] Ship v2
    end turn [TURN 5] nothing
    begin turn [TURN 6] Ship v2
    end turn [TURN 6] nothing
    ");
    repo.loopx("verify").success();
}
