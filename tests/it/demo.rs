//! The demo plays the whole story by itself.

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, files};

#[test]
fn the_demo_plays_the_story_and_leaves_nothing_behind() {
    let mut sandbox = Sandbox::empty();
    std::fs::create_dir(sandbox.path("tmp")).unwrap();
    let tmp = sandbox.path("tmp").display().to_string();
    sandbox.env("TMPDIR", &tmp).env("LOOPX_NOW", "2026-11-30T12:00:00Z");
    let home = files(&sandbox.path("home"));

    let told = sandbox.loopx("demo --json").success().json();
    let steps = told["steps"].as_array().unwrap();
    let story: Vec<_> = steps
        .iter()
        .map(|step| {
            let command = step["command"].as_str().unwrap();
            let words: Vec<_> =
                command.split(' ').map(|word| if word.starts_with("t-") { "t-…" } else { word }).collect();
            format!("{} {}", step["exit_code"], words.join(" "))
        })
        .collect();
    assert_snapshot!(story.join("\n"), @"
    0 loopx init --goal-text 'Publish the API client'
    0 loopx todo add 'Generate the client' --priority p1
    0 loopx todo add 'Write the release notes'
    0 loopx quota should-run
    0 loopx todo claim t-…
    0 git add client.txt
    0 git commit -q -m 'Add the client'
    0 loopx evidence add t-… --commit HEAD
    0 loopx todo done t-…
    0 loopx gate open 'Publish the client to everyone?' --gate-id publish-client
    10 loopx quota should-run
    1 git push origin main
    1 loopx gate resolve publish-client --decision approve
    0 loopx gate resolve publish-client --decision approve
    0 git push origin main
    0 git log --oneline loopx/state
    ");
    assert_eq!(told["pushed"], true);
    assert_eq!(files(&sandbox.path("tmp")), [""; 0]);
    assert_eq!(files(&sandbox.path("home")), home, "the user's own configuration is not touched");
}

#[test]
fn at_a_terminal_the_user_answers() {
    let mut sandbox = Sandbox::empty();
    std::fs::create_dir(sandbox.path("tmp")).unwrap();
    let tmp = sandbox.path("tmp").display().to_string();
    sandbox.env("TMPDIR", &tmp).env("LOOPX_NOW", "2026-11-30T12:00:00Z");

    let yes = sandbox.person("demo", "publish-client");
    assert!(yes.stdout.contains("The same push goes through."), "{yes}");
    assert_eq!(yes.code, 0);
    let no = sandbox.person("demo", "no");
    assert_eq!(no.code, 0);
    assert!(no.stdout.contains("Without a yes, the push stays where it is."), "{no}");
    assert_eq!(files(&sandbox.path("tmp")), [""; 0]);
}
