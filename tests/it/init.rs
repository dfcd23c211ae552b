//! Setting a clone up: what is made, what is kept, and what is refused before anything is made.

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, files};

#[test]
fn init_makes_a_branch_a_folder_and_a_hook() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx init
        git status --porcelain
        git log --format=%B loopx/state
        git ls-tree -r --name-only loopx/state
        git config loopx.branch
    "), @r#"
    $ loopx init
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    $ git status --porcelain
    $ git log --format=%B loopx/state
    begin loopx state

    Loopx-Op: init
    Loopx-Actor: person
    Signed-off-by: Ann <ann@example.test>

    $ git ls-tree -r --name-only loopx/state
    .gitattributes
    loopx.toml
    quota.json
    $ git config loopx.branch
    loopx/state
    "#);
    assert_eq!(files(&repo.path("repo/.loopx")), [".git", ".gitattributes", "loopx.toml", "quota.json"]);
}

#[test]
fn init_again_keeps_everything() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    assert_snapshot!(repo.scene("
        loopx init
        loopx init --goal-text 'Ship v2' --goal-id ship
    "), @"
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx init --goal-text 'Ship v2' --goal-id ship
    [stderr] error: there is a goal `ship` already
    [stderr] hint: run `loopx goal show ship`, or choose another `--goal-id`
    [exit 1]
    ");
    assert_eq!(repo.tip(), before);
}

#[test]
fn init_brings_back_a_folder_that_was_deleted() {
    let repo = Sandbox::ready();
    std::fs::remove_dir_all(repo.path("repo/.loopx")).expect("the folder");
    assert_snapshot!(repo.scene("
        loopx status
        loopx init
        git -C .loopx status --porcelain
    "), @"
    $ loopx status
    `.loopx/` does not show the state: it is not there (run `loopx init`)
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ git -C .loopx status --porcelain
    ");
}

#[test]
fn the_branch_may_have_another_name() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx init --state-branch control/plane --goal-text Ship
        git for-each-ref --format=%(refname)
        loopx init
        loopx status
    "), @"
    $ loopx init --state-branch control/plane --goal-text Ship
    began the state on branch `control/plane`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    added goal ship
    $ git for-each-ref --format=%(refname)
    refs/heads/control/plane
    refs/heads/main
    $ loopx init
    kept the state on branch `control/plane`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship
    0 todos open
    pushes are guarded
    ");
}

#[test]
fn a_second_state_cannot_hide_the_first() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        loopx init --state-branch fresh --agent-id a
        git push -q origin main
        git for-each-ref --format=%(refname) refs/heads
    "), @r#"
    $ loopx init --state-branch fresh --agent-id a
    [stderr] error: this clone keeps its state on the branch `loopx/state` already
    [stderr] hint: run `loopx init` without `--state-branch`, or see it with `git log loopx/state`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git for-each-ref --format=%(refname) refs/heads
    refs/heads/loopx/state
    refs/heads/main
    "#);
}

#[test]
fn no_hooks_says_what_that_means() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx init --no-hooks
        loopx status
        loopx hooks install
        loopx status
    "), @r#"
    $ loopx init --no-hooks
    began the state on branch `loopx/state`, to be read in `.loopx/`
    PUSHES ARE NOT GUARDED: no hook is installed (see `loopx hooks install`)
    next: loopx goal add "<objective>"
    $ loopx status
    PUSHES ARE NOT GUARDED: no hook is installed (see `loopx hooks install`)
    0 goals
    0 todos open
    next: loopx goal add "<objective>"
    $ loopx hooks install
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    $ loopx status
    0 goals
    0 todos open
    pushes are guarded
    next: loopx goal add "<objective>"
    "#);
}

#[test]
fn all_worktrees_of_a_clone_share_one_state() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        git worktree add -q ../linked -b side
        loopx -C ../linked init --goal-text Ship
        git -C ../linked status --porcelain
        loopx todo add one
        loopx -C ../linked todo add two
        loopx -C ../linked init
        loopx -C ../linked status
    "), @"
    $ git worktree add -q ../linked -b side
    $ loopx -C ../linked init --goal-text Ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    added goal ship
    $ git -C ../linked status --porcelain
    $ loopx todo add one
    added todo t-s29v: one
    $ loopx -C ../linked todo add two
    added todo t-c22j: two
    $ loopx -C ../linked init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx -C ../linked status
    1 goal
      ship  active  0/48 slots  Ship
    2 todos open
      t-s29v  p2  open  one
      t-c22j  p2  open  two
    pushes are guarded
    ");
    assert!(!repo.path("linked/.loopx").exists());
    assert!(repo.path("repo/.loopx").is_dir());
}

#[test]
fn a_submodule_has_a_state_of_its_own() {
    let repo = Sandbox::plain();
    repo.git("-c protocol.file.allow=always submodule --quiet add ./ sub").success();
    assert_snapshot!(repo.scene("
        loopx -C sub init --goal-text Part
        loopx -C sub status
        git -C sub status --porcelain
        git status --porcelain
        loopx status
    "), @"
    $ loopx -C sub init --goal-text Part
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/modules/sub/hooks/pre-push
    added goal part
    $ loopx -C sub status
    1 goal
      part  active  0/48 slots  Part
    0 todos open
    pushes are guarded
    $ git -C sub status --porcelain
    $ git status --porcelain
    A  .gitmodules
    A  sub
    $ loopx status
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    ");
    assert!(repo.path("repo/sub/.loopx").is_dir());
}

#[test]
fn in_the_folder_of_the_state_the_project_is_meant() {
    let mut repo = Sandbox::with_remote();
    let head = repo.git("rev-parse HEAD").stdout;
    repo.cd("repo/.loopx");
    let added = repo.loopx("evidence add --json --text x").success();
    let evidence = repo.read(&format!(
        "repo/.loopx/goals/ship/evidence/{}.toml",
        added.json()["id"].as_str().expect("an id")
    ));
    assert!(evidence.contains(head.trim()), "{evidence}");
    assert_snapshot!(repo.scene("
        loopx init
        loopx status
        git push -q ../../hub.git HEAD:refs/heads/innocent
    "), @"
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ git push -q ../../hub.git HEAD:refs/heads/innocent
    [stderr] loopx: push refused: `HEAD` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_repository_named_by_the_environment_is_meant() {
    let mut repo = Sandbox::ready();
    let git_dir = repo.path("repo/.git").display().to_string();
    repo.cd("home").env("GIT_DIR", &git_dir);
    assert_snapshot!(repo.loopx("status"), @"
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    ");
    repo.clear_env().env("GIT_DIR", "/nowhere");
    assert_snapshot!(repo.loopx("status"), @"
    [stderr] error: `/nowhere` is not in a git repository
    [stderr] hint: run `git init` first, or go to a repository
    [exit 1]
    ");
}

#[test]
fn a_branch_that_is_gone_is_not_begun_anew() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    let tip = repo.tip();
    repo.git("update-ref -d refs/heads/loopx/state").success();
    assert_snapshot!(repo.scene("
        loopx status
        loopx init
        loopx init --state-branch fresh
        git push -q origin main
    "), @r#"
    $ loopx status
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx init
    put back the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ loopx init --state-branch fresh
    [stderr] error: this clone keeps its state on the branch `loopx/state` already
    [stderr] hint: run `loopx init` without `--state-branch`, or see it with `git log loopx/state`
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    assert_eq!(repo.tip(), tip);
}

#[test]
fn a_folder_that_is_behind_does_not_bring_back_an_older_state() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    let (older, lock) = (repo.tip(), repo.path("repo/.git/worktrees/-loopx/index.lock"));
    std::fs::write(&lock, "").expect("a lock");
    repo.loopx("gate open Ready? --agent-id a").success();
    std::fs::remove_file(&lock).expect("the lock");
    std::fs::remove_dir_all(repo.path("repo/.git/loopx")).expect("the note");
    repo.git("update-ref -d refs/heads/loopx/state").success();
    assert_snapshot!(repo.scene("
        loopx init
        git push -q origin main
    "), @"
    $ loopx init
    [stderr] error: only a person at a terminal may put `loopx/state` back at what `.loopx/` showed last, which may not be the newest, and there is none
    [stderr] hint: run `loopx init` in a terminal
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
    assert_snapshot!(repo.person("init", "loopx/state"), @"
    This will put `loopx/state` back at what `.loopx/` showed last, which may not be the newest
    Look at it first: git log --patch [ID]

    Type `loopx/state` to put `loopx/state` back at what `.loopx/` showed last, which may not be the newest: loopx/state
    put back the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    assert_eq!(repo.tip(), older);
}

/// Removes the branch, its folder and every note of it.
fn remove_the_state(repo: &Sandbox) {
    for dir in ["repo/.loopx", "repo/.git/loopx", "repo/.git/worktrees"] {
        std::fs::remove_dir_all(repo.path(dir)).expect("a folder");
    }
    repo.git("update-ref -d refs/heads/loopx/state").success();
}

#[test]
fn a_state_of_which_all_was_removed_is_not_begun_anew() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id a").success();
    remove_the_state(&repo);
    repo.git("config --unset loopx.branch").success();
    assert_snapshot!(repo.scene("
        loopx init
        git push -q origin main
    "), @"
    $ loopx init
    [stderr] error: only a person at a terminal may begin `loopx/state` anew, without the goals and gates that were there, and there is none
    [stderr] hint: run `loopx init` in a terminal
    [exit 1]
    $ git push -q origin main
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn any_sign_of_an_earlier_set_up_takes_a_person() {
    for left in ["config", "exclude", "hook"] {
        let repo = Sandbox::with_remote();
        remove_the_state(&repo);
        if left != "config" {
            repo.git("config --unset loopx.branch").success();
        }
        if left != "exclude" {
            repo.write("repo/.git/info/exclude", "");
        }
        if left != "hook" {
            std::fs::remove_file(repo.path("repo/.git/hooks/pre-push")).expect("a hook");
        }
        let output = repo.loopx("init --agent-id a");
        assert!(output.stderr.contains("only a person may begin `loopx/state` anew"), "{left}: {output}");
    }
}

#[test]
fn a_branch_below_the_name_is_left_alone() {
    let repo = Sandbox::plain();
    repo.git("branch loopx/state/mine").success();
    assert_snapshot!(repo.scene("
        loopx init
        git for-each-ref --format=%(refname)
    "), @"
    $ loopx init
    [stderr] error: the branch `loopx/state/mine` is in the way of a branch `loopx/state`
    [stderr] hint: choose another name, such as `loopx init --state-branch loopx-state`
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/loopx/state/mine
    refs/heads/main
    ");
}

#[test]
fn something_else_called_loopx_is_left_alone() {
    let repo = Sandbox::plain();
    repo.write("repo/.loopx", "mine");
    assert_snapshot!(repo.scene("
        loopx init
        git for-each-ref --format=%(refname)
        git status --porcelain
    "), @"
    $ loopx init
    [stderr] error: `[ROOT]/repo/.loopx` is in the way of the folder that shows the state
    [stderr] hint: move it away and run `loopx init` again
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    $ git status --porcelain
    ?? .loopx
    ");
    assert_eq!(repo.read("repo/.loopx"), "mine");
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let repo = Sandbox::plain();
    repo.write("repo/.loopx/notes.txt", "mine");
    assert_snapshot!(repo.scene("
        loopx init
        git for-each-ref --format=%(refname)
    "), @"
    $ loopx init
    [stderr] error: `[ROOT]/repo/.loopx` is in the way of the folder that shows the state
    [stderr] hint: move it away and run `loopx init` again
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    ");
    assert_eq!(files(&repo.path("repo/.loopx")), ["notes.txt"]);
}

#[test]
fn an_empty_folder_is_taken() {
    let repo = Sandbox::plain();
    std::fs::create_dir(repo.path("repo/.loopx")).expect("a folder");
    assert_snapshot!(repo.loopx("init"), @r#"
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    "#);
}

#[test]
fn a_branch_with_other_content_is_left_alone() {
    let repo = Sandbox::plain();
    repo.git("branch loopx/state").success();
    assert_snapshot!(repo.scene("
        loopx init
        loopx init --state-branch loopx-state
        git for-each-ref --format=%(refname)
    "), @r#"
    $ loopx init
    [stderr] error: the branch `loopx/state` exists and holds something else than loopx state
    [stderr] hint: choose another name, such as `loopx init --state-branch loopx-state`
    [exit 1]
    $ loopx init --state-branch loopx-state
    began the state on branch `loopx-state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    $ git for-each-ref --format=%(refname)
    refs/heads/loopx-state
    refs/heads/loopx/state
    refs/heads/main
    "#);
}

#[test]
fn a_branch_in_the_way_of_the_name_is_left_alone() {
    let repo = Sandbox::plain();
    repo.git("branch loopx").success();
    assert_snapshot!(repo.scene("
        loopx init
        git for-each-ref --format=%(refname)
        loopx init --state-branch loopx-state
    "), @r#"
    $ loopx init
    [stderr] error: the branch `loopx` is in the way of a branch `loopx/state`
    [stderr] hint: choose another name, such as `loopx init --state-branch loopx-state`
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/loopx
    refs/heads/main
    $ loopx init --state-branch loopx-state
    began the state on branch `loopx-state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    next: loopx goal add "<objective>"
    "#);
}

#[test]
fn a_name_that_git_would_not_take_is_no_branch() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx init --state-branch 'a b'
        loopx init --state-branch=-x
        loopx init --state-branch a..b
        loopx init --state-branch main
        git for-each-ref --format=%(refname)
    "), @"
    $ loopx init --state-branch 'a b'
    [stderr] error: `a b` cannot be the name of a branch
    [stderr] hint: use a name such as `loopx/state`
    [exit 2]
    $ loopx init --state-branch=-x
    [stderr] error: `-x` cannot be the name of a branch
    [stderr] hint: use a name such as `loopx/state`
    [exit 2]
    $ loopx init --state-branch a..b
    [stderr] error: `a..b` cannot be the name of a branch
    [stderr] hint: use a name such as `loopx/state`
    [exit 2]
    $ loopx init --state-branch main
    [stderr] error: the branch `main` exists and holds something else than loopx state
    [stderr] hint: choose another name, such as `loopx init --state-branch loopx-state`
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    ");
}

#[test]
fn a_project_without_commits_can_begin() {
    let repo = Sandbox::empty();
    repo.git("init -q .").success();
    assert_snapshot!(repo.scene("
        loopx init --goal-text Ship
        loopx gate open Ready?
        loopx status
    "), @r#"
    $ loopx init --goal-text Ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/repo/.git/hooks/pre-push
    added goal ship
    $ loopx gate open Ready?
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ loopx status
    1 question waits for you
      ready  open  by Ann, just now  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship
    0 todos open
    pushes are guarded
    "#);
    assert_snapshot!(repo.person("gate resolve ready --decision approve", "ready"), @r#"
    gate ready: "Ready?"
      goal     ship
      asked    by Ann, just now
      blocks   turn, push, publish
      options  approve, reject
      state    open

    Type `ready` to approve gate `ready`: ready
    gate ready is answered: approve
    "#);
}

#[test]
fn outside_of_a_repository_there_is_nothing_to_set_up() {
    let repo = Sandbox::empty();
    assert_snapshot!(repo.scene("
        loopx init
        loopx status
        loopx -C nowhere status
    "), @"
    $ loopx init
    [stderr] error: `[ROOT]/repo` is not in a git repository
    [stderr] hint: run `git init` first, or go to a repository
    [exit 1]
    $ loopx status
    [stderr] error: `[ROOT]/repo` is not in a git repository
    [stderr] hint: run `git init` first, or go to a repository
    [exit 1]
    $ loopx -C nowhere status
    [stderr] error: there is no folder `[ROOT]/repo/nowhere`
    [stderr] hint: look at what `-C` was given
    [exit 1]
    ");
    assert_eq!(files(&repo.path("repo")), [""; 0]);
}

#[test]
fn before_init_every_command_says_so() {
    let repo = Sandbox::plain();
    assert_snapshot!(repo.scene("
        loopx status
        loopx todo add one
        loopx quota should-run
        loopx history
    "), @"
    $ loopx status
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx todo add one
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx quota should-run
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    $ loopx history
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [exit 1]
    ");
    assert_eq!(files(&repo.path("repo/.git/loopx")), [""; 0]);
}

#[test]
fn a_bare_repository_needs_a_worktree() {
    let mut repo = Sandbox::plain();
    repo.git("clone -q --bare . ../bare.git").success();
    repo.cd("bare.git");
    assert_snapshot!(repo.scene("
        loopx init
        git for-each-ref --format=%(refname)
    "), @"
    $ loopx init
    [stderr] error: the repository at `[ROOT]/bare.git` is bare and has no worktree
    [stderr] hint: add a worktree with `git worktree add <path>` and run loopx there
    [exit 1]
    $ git for-each-ref --format=%(refname)
    refs/heads/main
    ");
    repo.git("worktree add -q ../tree main").success();
    repo.cd("tree");
    assert_snapshot!(repo.scene("
        loopx init --goal-text Ship
        git status --porcelain
        loopx status
    "), @"
    $ loopx init --goal-text Ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/bare.git/hooks/pre-push
    added goal ship
    $ git status --porcelain
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship
    0 todos open
    pushes are guarded
    ");
}

#[test]
fn without_an_identity_nothing_is_signed_and_nothing_written() {
    let repo = Sandbox::ready();
    let before = repo.tip();
    repo.write("home/.gitconfig", "");
    assert_snapshot!(repo.scene("
        loopx init
        loopx todo add one
        loopx status
    "), @r#"
    $ loopx init
    [stderr] error: git knows no name and address for you (`user.name`, `user.email`)
    [stderr] hint: run `git config user.name "<your name>"` and `git config user.email <your address>`
    [exit 1]
    $ loopx todo add one
    [stderr] error: git knows no name and address for you (`user.name`, `user.email`)
    [stderr] hint: run `git config user.name "<your name>"` and `git config user.email <your address>`
    [exit 1]
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    "#);
    assert_eq!(repo.tip(), before);
}

#[test]
fn a_path_with_everything_odd_in_it_works() {
    let mut repo = Sandbox::with_remote();
    let odd = "it's -my rêpo  \"ünï\" $x";
    std::fs::rename(repo.path("repo"), repo.path(odd)).expect("a new name");
    std::os::unix::fs::symlink(repo.path(odd), repo.path("link")).expect("a link");
    repo.cd("link");
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        loopx init
        loopx gate open Ready? --agent-id a
        git push -q origin main
        git -C .loopx status --porcelain
    "), @r#"
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/it's -my rêpo  "ünï" $x/.git/hooks/pre-push
    $ loopx gate open Ready? --agent-id a
    opened gate ready: "Ready?"
    a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C .loopx status --porcelain
    "#);
}

#[test]
fn a_folder_that_was_taken_off_the_branch_is_put_back_on_it() {
    let repo = Sandbox::ready();
    repo.git("-C .loopx checkout -q --detach").success();
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx init
        git -C .loopx status --short --branch
    "), @"
    $ loopx todo add one
    added todo t-7p0h: one
    [stderr] warning: `.loopx/` does not show the state: another branch or commit is checked out in it (run `loopx init`)
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    $ git -C .loopx status --short --branch
    ## loopx/state
    ");
}

#[test]
fn a_broken_ref_is_named_and_init_puts_the_branch_back() {
    let repo = Sandbox::ready();
    let tip = repo.tip();
    let state = repo.path("repo/.git/refs/heads/loopx/state");
    std::fs::write(&state, [0; 41]).expect("a broken ref");
    assert_snapshot!(repo.loopx("status"), @"
    [stderr] error: `[ROOT]/repo/.git/refs/heads/loopx/state` is no ref that git could read
    [stderr] hint: remove it with `rm '[ROOT]/repo/.git/refs/heads/loopx/state'`, and `loopx init` puts the branch back
    [exit 1]
    ");
    std::fs::remove_file(&state).expect("the broken ref");
    assert_snapshot!(repo.loopx("init"), @"
    put back the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/repo/.git/hooks/pre-push
    ");
    assert_eq!(repo.tip(), tip);
}

#[test]
fn an_index_of_the_folder_that_is_gone_or_garbled_is_made_anew() {
    let repo = Sandbox::ready();
    let index = "repo/.git/worktrees/-loopx/index";
    std::fs::remove_file(repo.path(index)).expect("an index");
    assert_eq!(repo.loopx("todo add work").success().stderr, "");
    assert_eq!(repo.git("-C .loopx status --porcelain").success().to_string(), "");
    repo.write(index, "garbage");
    assert_eq!(repo.loopx("todo add 'more work'").success().stderr, "");
    assert_eq!(repo.git("-C .loopx status --porcelain").success().to_string(), "");
}

#[test]
fn at_the_top_of_a_bare_layout_a_worktree_is_named() {
    let mut repo = Sandbox::plain();
    repo.git("clone -q --bare . ../all/.bare").success();
    repo.write("all/.git", "gitdir: ./.bare\n");
    repo.cd("all");
    repo.git("worktree add -q main main").success();
    repo.git("worktree add -q f -b f").success();
    assert_snapshot!(repo.scene("
        loopx init
        loopx -C main init --goal-text Ship --goal-id ship
        loopx init
        loopx doctor
        loopx todo add one
        git -C main/.loopx status --short
    "), @"
    $ loopx init
    [stderr] error: the repository at `[ROOT]/all/.bare` is bare, and this is not one of its worktrees
    [stderr] hint: go to one of them: `cd '[ROOT]/all/f'`
    [exit 1]
    $ loopx -C main init --goal-text Ship --goal-id ship
    began the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded: created [ROOT]/all/.bare/hooks/pre-push
    added goal ship
    $ loopx init
    [stderr] error: the repository at `[ROOT]/all/.bare` is bare, and this is not one of its worktrees
    [stderr] hint: go to one of them: `cd '[ROOT]/all/main'`
    [exit 1]
    $ loopx doctor
    all is well
    $ loopx todo add one
    added todo t-f8b6: one
    $ git -C main/.loopx status --short
    ");
    std::fs::remove_dir_all(repo.path("all/main/.loopx")).expect("the view");
    assert_snapshot!(repo.scene("
        loopx doctor
        loopx doctor --fix
    "), @"
    $ loopx doctor
    `.loopx/` does not show the state: it is not there
      run `loopx init`
    1 problem found
    [exit 1]
    $ loopx doctor --fix
    [stderr] error: the repository at `[ROOT]/all/.bare` is bare, and this is not one of its worktrees
    [stderr] hint: go to one of them: `cd '[ROOT]/all/main'`
    [exit 1]
    ");
}

#[test]
fn a_repository_of_another_user_is_taken_when_git_takes_it() {
    let mut repo = Sandbox::ready();
    let top = repo.path("repo").display().to_string();
    // Only root can give something away.
    if repo.feed("chown", &["-R", "65534", &top], "").code != 0 {
        return;
    }
    assert_snapshot!(repo.loopx("status"), @"
    [stderr] error: the repository at `[ROOT]/repo` belongs to another user
    [stderr] hint: run `git status` there: git says which `safe.directory` setting it wants
    [exit 1]
    ");
    repo.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory");
    repo.env("GIT_CONFIG_VALUE_0", "/nowhere");
    assert_eq!(repo.loopx("status").code, 1);
    repo.env("GIT_CONFIG_VALUE_0", &top);
    assert_snapshot!(repo.scene("
        loopx status
        loopx todo add one
    "), @"
    $ loopx status
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ loopx todo add one
    added todo t-sry7: one
    ");
    repo.env("GIT_CONFIG_VALUE_0", "*");
    repo.loopx("-C .loopx status").success();
    repo.env("GIT_DIR", ".git");
    repo.loopx("status").success();
}
