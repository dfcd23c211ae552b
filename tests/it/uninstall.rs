//! Leaving is one command, and gives back what was there.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, files};

/// Every file of git's that loopx may have touched, with its mode and bytes.
fn touched(repo: &Sandbox) -> String {
    let git = repo.path("repo/.git");
    let mut told = String::new();
    for file in files(&git) {
        if file == "config" || file.starts_with("hooks/") || file.starts_with("info/") {
            let path = git.join(&file);
            let mode = path.metadata().expect("a file").permissions().mode();
            told.push_str(&format!("{mode:o} {file}\n{}", std::fs::read_to_string(path).expect("a text")));
        }
    }
    told
}

#[test]
fn what_was_there_before_is_there_again_to_the_byte() {
    let repo = Sandbox::plain();
    let hook = repo.path("repo/.git/hooks/pre-push");
    repo.script("repo/.git/hooks/pre-push", "#!/bin/sh\n# MINE\nexit 0\n");
    std::fs::set_permissions(&hook, Permissions::from_mode(0o744)).expect("a mode");
    let before = touched(&repo);
    for command in
        ["init --goal-text Ship", "hooks install", "doctor --fix", "hooks install", "gate open Ready?"]
    {
        repo.loopx(command).success();
    }
    assert_ne!(touched(&repo), before);
    assert_snapshot!(repo.scene("
        loopx uninstall
        loopx uninstall --agent-id a
        loopx hooks uninstall --agent-id a
    "), @"
    $ loopx uninstall
    [stderr] error: only a person at a terminal may take loopx out of this clone, and there is none
    [stderr] hint: run `loopx uninstall` in a terminal
    [exit 1]
    $ loopx uninstall --agent-id a
    [stderr] error: only a person may take loopx out of this clone, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx uninstall` in a terminal of their own
    [exit 1]
    $ loopx hooks uninstall --agent-id a
    [stderr] error: only a person may take the hook away, so that pushes are not kept back any more, and this is agent `a` (`--agent-id` was given)
    [stderr] hint: ask the person to run `loopx hooks uninstall` in a terminal of their own
    [exit 1]
    ");
    assert_snapshot!(repo.person("uninstall", "uninstall"), @"
    1 gate in force. Pushes are not kept back any more. The branch `loopx/state` stays.

    Type `uninstall` to take loopx out of this clone: uninstall
    removed [ROOT]/repo/.loopx
    removed [ROOT]/repo/.git/hooks/pre-commit
    put back as it was: [ROOT]/repo/.git/config
    put back as it was: [ROOT]/repo/.git/hooks/pre-push
    put back as it was: [ROOT]/repo/.git/info/exclude
    the state stays on branch `loopx/state`; `loopx init` goes on from it
    ");
    assert_eq!(touched(&repo), before);
    assert_snapshot!(repo.scene("
        git worktree list
        git status --porcelain
        loopx init
        loopx status
    "), @"
    $ git worktree list
    [ROOT]/repo  [ID] [main]
    $ git status --porcelain
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: added to [ROOT]/repo/.git/hooks/pre-push
    $ loopx status
    1 question waits for you
      ready  open  by Ann, 8 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship
    0 todos open
    pushes are guarded
    ");
}

#[test]
fn a_purge_takes_the_state_too() {
    let repo = Sandbox::plain();
    let before = touched(&repo);
    repo.loopx("init --goal-text Ship").success();
    repo.loopx("gate open Ready?").success();
    assert_eq!(repo.person("uninstall --purge", "uninstall").code, 1);
    assert_snapshot!(repo.person("uninstall --purge", "purge"), @"
    1 gate in force. Pushes are not kept back any more. The branch `loopx/state` is removed for good.

    Type `purge` to remove loopx and all its state: purge
    removed [ROOT]/repo/.loopx
    removed [ROOT]/repo/.git/loopx
    removed [ROOT]/repo/.git/hooks/pre-commit
    removed [ROOT]/repo/.git/hooks/pre-push
    put back as it was: [ROOT]/repo/.git/config
    put back as it was: [ROOT]/repo/.git/info/exclude
    removed refs/heads/loopx/state
    what was synced to a remote is still there
    ");
    assert_eq!(touched(&repo), before);
    assert_snapshot!(repo.scene("
        git for-each-ref --format=%(refname)
        git reflog show loopx/state
        loopx status
        loopx init
    "), @r#"
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    $ git reflog show loopx/state
    [stderr] fatal: ambiguous argument 'loopx/state': unknown revision or path not in the working tree.
    [stderr] Use '--' to separate paths from revisions, like this:
    [stderr] 'git <command> [<revision>...] -- [<file>...]'
    [exit 128]
    $ loopx status
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    "#);
}

#[test]
fn edits_of_the_user_are_not_thrown_away() {
    let repo = Sandbox::ready();
    repo.write("repo/.loopx/notes.md", "mine\n");
    assert_snapshot!(repo.person("uninstall", "uninstall"), @"
    0 gates in force. Pushes are not kept back any more. The branch `loopx/state` stays.

    Type `uninstall` to take loopx out of this clone: uninstall
    error: `.loopx` has something in it that is not part of the state
    hint: look at it with `git -C .loopx status`, and move away what is yours
    [exit 1]
    ");
    assert_eq!(repo.read("repo/.loopx/notes.md"), "mine\n");
    std::fs::remove_file(repo.path("repo/.loopx/notes.md")).expect("a file");
    repo.feed("rm", &["-r", ".git/worktrees"], "").success();
    assert_snapshot!(repo.person("uninstall", "uninstall"), @"
    0 gates in force. Pushes are not kept back any more. The branch `loopx/state` stays.

    Type `uninstall` to take loopx out of this clone: uninstall
    removed [ROOT]/repo/.git/hooks/pre-commit
    removed [ROOT]/repo/.git/hooks/pre-push
    put back as it was: [ROOT]/repo/.git/config
    put back as it was: [ROOT]/repo/.git/info/exclude
    left alone, because it is not known for loopx's: [ROOT]/repo/.loopx
    the state stays on branch `loopx/state`; `loopx init` goes on from it
    ");
}

#[test]
fn the_hook_alone_goes_when_a_person_says_so() {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open Ready?").success();
    repo.commit("news");
    assert_snapshot!(repo.person("hooks uninstall", "unguarded"), @"
    1 gate in force

    Type `unguarded` to take the hook away, so that pushes are not kept back any more: unguarded
    pushes are not kept back any more
      taken out of [ROOT]/repo/.git/config
      taken out of [ROOT]/repo/.git/hooks/pre-push
      taken out of [ROOT]/repo/.git/hooks/pre-commit
    ");
    assert_snapshot!(repo.scene("
        git push -q origin main
        loopx todo add one
        loopx status
    "), @"
    $ git push -q origin main
    $ loopx todo add one
    added todo t-zv3z: one
    $ loopx status
    1 question waits for you
      ready  open  by Ann, 6 s ago  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    PUSHES ARE NOT GUARDED: no hook is installed (see `loopx hooks install`)
    1 goal
      ship  active  0/48 slots  Ship v2
    1 todo open
      t-zv3z  p2  open  one
    ");
}

#[test]
fn every_half_state_ends_the_same() {
    let breaks: [(&str, &[&str]); 6] = [
        ("the folder is gone", &["rm -rf .loopx"]),
        ("git's record of it is gone", &["rm -rf .git/worktrees"]),
        ("the notes are gone", &["rm -rf .git/loopx"]),
        ("the hook was moved away by a manager", &["mv .git/hooks/pre-push .git/hooks/pre-push.old"]),
        ("a newer hook took its place", &["cp .git/hooks/pre-push.sample .git/hooks/pre-push"]),
        (
            "the settings are gone",
            &["git config --remove-section hook.loopx", "git config --unset loopx.branch"],
        ),
    ];
    for (what, commands) in breaks {
        let repo = Sandbox::plain();
        let before = touched(&repo);
        repo.loopx("init").success();
        for command in commands {
            repo.feed("sh", &["-c", command], "").success();
        }
        let said = repo.person("uninstall", "uninstall");
        assert_eq!(said.code, 0, "{what}: {said}");
        let newer = repo.path("repo/.git/hooks/pre-push");
        if newer.exists() {
            assert_eq!(
                repo.read("repo/.git/hooks/pre-push"),
                repo.read("repo/.git/hooks/pre-push.sample"),
                "{what}"
            );
            std::fs::remove_file(newer).expect("a file");
        }
        assert_eq!(touched(&repo), before, "{what}");
    }
}

#[test]
fn what_cannot_be_seen_is_not_counted() {
    let repo = Sandbox::ready();
    repo.loopx("gate open Ready?").success();
    repo.plant("goals/ship/gates/ready.toml", "nonsense");
    for command in ["uninstall", "uninstall --purge", "hooks uninstall"] {
        let shown = repo.person(command, "no").stdout;
        assert!(shown.starts_with("How many gates are in force cannot be seen: "), "{command}: {shown}");
    }
}
