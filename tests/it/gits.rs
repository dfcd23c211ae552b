//! The whole story with every kind of repository that the git at hand knows, and inside somebody else's hook.

use std::os::unix::fs::PermissionsExt as _;

use crate::sandbox::{LOOPX, Sandbox};

fn plays_the_story(flags: &str) {
    let mut repo = Sandbox::with_init_flags(flags);
    // A remote has to speak the same kind of ids; how it keeps its refs is its own affair.
    let format = flags.split(' ').find(|flag| flag.starts_with("--object-format")).unwrap_or_default();
    repo.git(&format!("init -q --bare {format} ../hub.git")).success();
    repo.git("remote add origin ../hub.git").success();
    repo.loopx("init --goal-text 'Ship v2' --goal-id ship").success();
    let todo = repo.todo("'Write the schema' --agent-id codex-1");
    repo.loopx(&format!("todo claim {todo} --agent-id codex-1")).success();
    repo.commit("schema");
    repo.loopx("gate open 'Is the schema fine?' --gate-id schema --agent-id codex-1").success();

    let refused = repo.git("push origin main");
    assert_eq!(refused.code, 1, "{flags}: {refused}");
    assert!(refused.stderr.contains("\"Is the schema fine?\""), "{flags}: {refused}");
    let early = repo.loopx(&format!("todo done {todo} --agent-id codex-1"));
    assert_eq!(early.code, 1, "{flags}: {early}");
    repo.person("gate resolve schema --decision approve", "schema").success();
    repo.git("push -q origin main").success();
    assert_ne!(repo.git("push -q origin loopx/state").code, 0, "{flags}: state stays home");

    repo.loopx(&format!("todo done {todo} --agent-id codex-1 --note 'it is written'")).success();
    let history = repo.loopx("history --json").success().json();
    let subjects: Vec<&str> = history["entries"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["subject"].as_str())
        .collect();
    let expected = [
        "complete todo",
        "approve gate schema",
        "open gate schema",
        "claim todo",
        "add todo",
        "add goal",
        "begin",
    ];
    assert_eq!(subjects.len(), expected.len(), "{flags}: {subjects:?}");
    for (subject, expected) in subjects.iter().zip(expected) {
        assert!(subject.starts_with(expected), "{flags}: {subject}");
    }
    assert_eq!(repo.git("-C .loopx status --porcelain").success().to_string(), "", "{flags}");
    assert_eq!(repo.git("status --porcelain").success().to_string(), "", "{flags}");
    assert_eq!(repo.git("fsck --full --strict --no-dangling").success().to_string(), "", "{flags}");
    // From a linked worktree, everything is the same.
    repo.git("worktree add -q ../linked -b side").success();
    repo.cd("linked");
    assert_eq!(repo.loopx("status").success().code, 0);
    repo.loopx("gate open 'And now?' --gate-id now --agent-id codex-1").success();
    assert_eq!(repo.git("push origin side").code, 1, "{flags}");
}

#[test]
fn the_story_plays_in_a_sha1_repository() {
    plays_the_story("--object-format=sha1");
}

#[test]
fn the_story_plays_in_a_sha256_repository() {
    plays_the_story("--object-format=sha256");
}

#[test]
fn the_story_plays_with_reftables() {
    let probe = Sandbox::empty();
    if probe.git("init -q --ref-format=reftable probe").code != 0 {
        // This git is too old for reftables.
        return;
    }
    plays_the_story("--ref-format=reftable");
    plays_the_story("--object-format=sha256 --ref-format=reftable");
}

#[test]
fn what_the_user_wants_synced_is_synced() {
    for setting in ["all", "reference", "committed,-loose-object"] {
        let repo = Sandbox::ready();
        repo.git(&format!("config core.fsync {setting}")).success();
        repo.loopx("todo add one").success();
        repo.loopx("verify").success();
    }
}

/// git's own maintenance packs what piles up, and the user's packs stay as they are.
#[test]
fn loose_objects_are_packed_when_they_pile_up() {
    let repo = Sandbox::ready();
    repo.git("config gc.auto 1").success();
    repo.git("repack -q -a -d").success();
    let packs = || -> Vec<String> {
        let files = crate::sandbox::files(&repo.path("repo/.git/objects/pack"));
        files.into_iter().filter(|file| file.ends_with(".pack")).collect()
    };
    let before = packs();
    assert_eq!(before.len(), 1);
    // One mutation in sixteen looks, and upkeep is nobody's to wait for.
    let mut added = 0;
    while packs().len() < 2 {
        added += 1;
        assert!(added < 500, "nothing was packed");
        repo.loopx(&format!("todo add 'number {added}'")).success();
    }
    assert!(packs().contains(&before[0]), "the user's history was packed anew");
    repo.loopx("verify --all").success();
}

/// Inside a hook of `git commit`, git's variables name the index that is being committed.
#[test]
fn a_users_commit_takes_nothing_of_what_loopx_does_in_its_hook() {
    let repo = Sandbox::ready();
    let hook = format!("#!/bin/sh\nexec {LOOPX} todo add 'from the hook' --agent-id hook >/dev/null\n");
    repo.write("repo/.git/hooks/pre-commit", &hook);
    let path = repo.path("repo/.git/hooks/pre-commit");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("an executable hook");

    repo.commit("first");
    repo.write("repo/first.txt", "changed");
    repo.write("repo/base.txt", "changed");
    repo.git("commit -q -m 'one path' first.txt").success();
    assert_eq!(repo.git("show --format= --name-only HEAD").stdout, "first.txt\n");
    repo.git("commit -q -a -m 'all that is tracked'").success();
    assert_eq!(repo.git("show --format= --name-only HEAD").stdout, "base.txt\n");

    // In a linked worktree the hook is told where the repository is, too.
    repo.git("worktree add -q ../linked -b side").success();
    repo.write("linked/base.txt", "changed again");
    repo.git("-C ../linked commit -q -a -m 'from a linked worktree'").success();
    assert_eq!(repo.git("show --format= --name-only side").stdout, "base.txt\n");

    assert_eq!(repo.git("ls-files").stdout, "base.txt\nfirst.txt\n");
    assert_eq!(repo.git("status --porcelain").stdout, "");
    assert_eq!(repo.git("-C .loopx status --porcelain").stdout, "");
    let todos = repo.loopx("todo list --json").success().json();
    assert_eq!(todos["todos"].as_array().expect("a list").len(), 4);
    assert_eq!(repo.git("fsck --strict --no-dangling").success().to_string(), "");
}
