//! Damage done by a line of shell: to the view, to the ref, by locks.

use crate::{repo::Repo, table::Row};

const TIMES: usize = 5;

/// What has to be done about a fault beside what loopx says.
enum Then {
    Nothing,
    /// Only whoever did it can undo it.
    Undo(&'static str),
    /// The repository is elsewhere now.
    Moved(&'static str),
    /// There is another one, and the first must not change.
    Copied(&'static str),
}
use Then::{Copied, Moved, Nothing, Undo};

type Damage = (&'static str, &'static str, Then);

const VIEW: [Damage; 27] = [
    ("`.loopx` deleted", "rm -rf .loopx", Nothing),
    ("`.loopx` emptied", "find .loopx -mindepth 1 -delete", Nothing),
    ("`.loopx` replaced by a file", "rm -rf .loopx; echo mine > .loopx", Nothing),
    ("`.loopx` replaced by a symlink", "rm -rf .loopx; mkdir ../other; ln -s ../other .loopx", Nothing),
    ("`.loopx/.git` deleted", "rm .loopx/.git", Nothing),
    ("`.loopx/.git` garbled", "echo garbage > .loopx/.git", Nothing),
    ("`.loopx/.git` points elsewhere", "echo 'gitdir: /nowhere' > .loopx/.git", Nothing),
    ("a record in `.loopx` deleted", "rm .loopx/goals/ship/state.json", Nothing),
    ("a record in `.loopx` edited", "echo '{}' > .loopx/goals/ship/state.json", Nothing),
    ("a stray file in `.loopx`", "echo mine > .loopx/goals/ship/todos/mine.toml", Nothing),
    ("index of `.loopx` deleted", "rm .git/worktrees/-loopx/index", Nothing),
    ("index of `.loopx` garbage", "echo garbage > .git/worktrees/-loopx/index", Nothing),
    ("index of `.loopx` cut in half", "truncate -s 200 .git/worktrees/-loopx/index", Nothing),
    ("note of what `.loopx` shows deleted", "rm .git/worktrees/-loopx/loopx-view", Nothing),
    ("`.loopx` detached from its branch", "git -C .loopx checkout -q --detach", Nothing),
    ("`.loopx` on another branch", "git -C .loopx checkout -q -b other", Nothing),
    ("`.git/worktrees/-loopx` deleted", "rm -rf .git/worktrees/-loopx", Nothing),
    ("`.loopx` deleted, then `git worktree prune`", "rm -rf .loopx; git worktree prune", Nothing),
    (
        "`.loopx` unlocked and deleted, then `git worktree prune`",
        "git worktree unlock .loopx; rm -rf .loopx; git worktree prune",
        Nothing,
    ),
    ("`git worktree remove -f -f .loopx`", "git worktree remove -f -f .loopx", Nothing),
    (
        "`.loopx` locked for another reason",
        "git worktree unlock .loopx; git worktree lock --reason mine .loopx",
        Nothing,
    ),
    ("repository moved", "mv ../repo ../moved", Moved("moved")),
    ("repository copied with `cp -r`, and written to", "cp -r . ../copy", Copied("copy")),
    ("`git clean -ffdx`", "git clean -q -ffdx", Nothing),
    ("`git stash -a`", "echo mine > mine; git stash -q -a", Nothing),
    ("`.loopx` not writable", "chmod -R a-w .loopx", Undo("chmod -R u+w .loopx")),
    (
        "folder of the branch not writable",
        "chmod a-w .git/refs/heads/loopx",
        Undo("chmod u+w .git/refs/heads/loopx"),
    ),
];

const REF: [Damage; 7] = [
    ("ref emptied", ": > .git/refs/heads/loopx/state", Nothing),
    ("ref garbage", "echo garbage > .git/refs/heads/loopx/state", Nothing),
    ("ref full of zero bytes", "head -c 41 /dev/zero > .git/refs/heads/loopx/state", Nothing),
    ("ref cut in half", "truncate -s 20 .git/refs/heads/loopx/state", Nothing),
    ("ref deleted", "rm .git/refs/heads/loopx/state", Nothing),
    (
        "ref names no object",
        "echo 1234567890123456789012345678901234567890 > .git/refs/heads/loopx/state",
        Nothing,
    ),
    ("ref moved back by one commit", "git update-ref refs/heads/loopx/state loopx/state~1", Nothing),
];

const LOCKS: [Damage; 6] = [
    (
        "`state.lock` of a loopx killed at the ref",
        "tip=$(git rev-parse loopx/state); printf \"ref $tip $tip loopx/state\" > .git/loopx/writer; \
         : > .git/refs/heads/loopx/state.lock",
        Nothing,
    ),
    (
        "`index.lock` of a loopx killed at the view",
        "printf \"view $(git rev-parse loopx/state) loopx/state\" > .git/loopx/writer; \
         : > .git/worktrees/-loopx/index.lock",
        Nothing,
    ),
    (
        "line of the reflog not finished by a loopx killed at the ref",
        "tip=$(git rev-parse loopx/state); printf \"ref $tip $tip loopx/state\" > .git/loopx/writer; \
         printf \"$tip 1234\" >> .git/logs/refs/heads/loopx/state",
        Nothing,
    ),
    ("`state.lock` of another program", ": > .git/refs/heads/loopx/state.lock", Nothing),
    ("`packed-refs.lock` of another program", ": > .git/packed-refs.lock", Nothing),
    (
        "`index.lock` of another program in `.loopx`",
        ": > .git/worktrees/-loopx/index.lock",
        Undo("rm .git/worktrees/-loopx/index.lock"),
    ),
];

pub(crate) fn view() -> Vec<Row> {
    VIEW.iter().map(inflict).collect()
}

pub(crate) fn refs() -> Vec<Row> {
    REF.iter().map(inflict).collect()
}

pub(crate) fn locks() -> Vec<Row> {
    LOCKS.iter().map(inflict).collect()
}

fn inflict((name, script, then): &Damage) -> Row {
    Row::of(name, TIMES, || {
        let mut repo = Repo::new();
        let done = repo.shell(script);
        assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
        match then {
            Nothing => {}
            Undo(undo) => return repo.judge_after(undo),
            Moved(folder) => repo.go_to(folder),
            Copied(folder) => repo.go_to_copy(folder),
        }
        repo.judge()
    })
}
