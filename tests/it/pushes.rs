//! What a push is refused for, and what it is not.

use insta::assert_snapshot;

use crate::sandbox::{LOOPX, Sandbox, words};

/// A repository with a remote, a commit to push, and an open gate.
fn held() -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.loopx("gate open Ready? --agent-id codex-1").success();
    repo
}

#[test]
fn a_linked_worktree_waits_as_well() {
    let repo = held();
    repo.git("worktree add -q ../linked -b side").success();
    assert_snapshot!(repo.scene("
        git -C ../linked push -q origin side
        git -C ../linked push -q ../hub.git side
    "), @r#"
    $ git -C ../linked push -q origin side
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C ../linked push -q ../hub.git side
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.scene("
        git -C ../linked push -q origin side
        git push -q origin main
    "), @"
    $ git -C ../linked push -q origin side
    $ git push -q origin main
    ");
}

#[test]
fn a_push_without_new_commits_waits_as_well() {
    let repo = held();
    repo.git("push -q --no-verify origin main").success();
    repo.git("tag t1").success();
    repo.git("tag -a t2 -m annotated").success();
    let here = repo.git("rev-parse main").stdout;
    let pushes = format!(
        "git push -q origin main:refs/heads/new
         git push -q origin HEAD:refs/heads/h2
         git push -q origin {}:refs/heads/h3
         git push -q origin t1
         git push -q origin t2",
        here.trim()
    );
    assert_snapshot!(repo.scene(&pushes).replace(here.trim(), "[ID]"), @r#"
    $ git push -q origin main:refs/heads/new
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin HEAD:refs/heads/h2
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, 6 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin [ID]:refs/heads/h3
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, 7 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin t1
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, 8 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin t2
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, 9 s ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    assert_snapshot!(repo.scene(&pushes).replace(here.trim(), "[ID]"), @"
    $ git push -q origin main:refs/heads/new
    $ git push -q origin HEAD:refs/heads/h2
    $ git push -q origin [ID]:refs/heads/h3
    $ git push -q origin t1
    $ git push -q origin t2
    ");
}

#[test]
fn nothing_to_push_and_deletions_pass() {
    let repo = held();
    repo.git("push -q --no-verify origin main main:refs/heads/tmp loopx/state").success();
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin --delete tmp
        git push -q origin :loopx/state
        git ls-remote --heads origin
    "), @"
    $ git push -q origin main
    $ git push -q origin --delete tmp
    $ git push -q origin :loopx/state
    $ git ls-remote --heads origin
    [ID]	refs/heads/main
    ");
}

#[test]
fn a_gate_holds_back_what_it_was_asked_about() {
    let repo = Sandbox::with_remote();
    repo.commit("feature");
    assert_snapshot!(repo.scene("
        loopx gate open Turn? --blocks turn --agent-id a
        loopx gate open Release? --blocks publish,turn --agent-id a
        git push -q origin main
        loopx gate open Push? --blocks push --agent-id a
        loopx gate open Else? --blocks sleep
        git push -q origin main:refs/heads/other
    "), @r#"
    $ loopx gate open Turn? --blocks turn --agent-id a
    opened gate turn: "Turn?"
    a person answers with `loopx gate resolve turn --decision approve` (or `reject`)
    $ loopx gate open Release? --blocks publish,turn --agent-id a
    opened gate release: "Release?"
    a person answers with `loopx gate resolve release --decision approve` (or `reject`)
    $ git push -q origin main
    $ loopx gate open Push? --blocks push --agent-id a
    opened gate push: "Push?"
    a person answers with `loopx gate resolve push --decision approve` (or `reject`)
    $ loopx gate open Else? --blocks sleep
    [stderr] error: invalid value 'sleep' for '--blocks <ACT>'
    [stderr]   [possible values: turn, push, publish]
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    $ git push -q origin main:refs/heads/other
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   push  open  "Push?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve push --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn every_gate_in_the_way_is_named() {
    let repo = held();
    repo.loopx("goal add Other --goal-id other").success();
    repo.loopx("gate open 'And this?' --goal-id other --agent-id claude-2").success();
    repo.person("gate resolve and-this --decision reject", "and-this").success();
    repo.sleep(90_000);
    assert_snapshot!(repo.git_shown("push -q origin main"), @r#"
    [stderr] loopx: push refused: 2 gates stand in its way
    [stderr]   ready     open      "Ready?"     asked by codex-1, 1 d 1 h ago
    [stderr]   and-this  rejected  "And this?"  asked by claude-2, 1 d 1 h ago
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn no_push_carries_the_state_whatever_it_is_called() {
    let repo = Sandbox::with_remote();
    repo.git("tag leak loopx/state").success();
    repo.git("tag -a annotated -m leak loopx/state").success();
    let tip = repo.tip();
    let tip = tip.trim();
    assert_snapshot!(repo.scene(&format!("
        git push -q origin loopx/state
        git push -q origin loopx/state:refs/heads/innocent
        git push -q origin {tip}:refs/heads/innocent
        git push -q origin leak
        git push -q origin annotated
        git push -q origin main:refs/heads/loopx/state
        git push -q --all origin
        git push -q --mirror origin
        git push -q ../hub.git loopx/state~0:refs/heads/innocent
        git ls-remote origin
    ")).replace(tip, "[ID]"), @"
    $ git push -q origin loopx/state
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin loopx/state:refs/heads/innocent
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin [ID]:refs/heads/innocent
    [stderr] loopx: push refused: `[ID]` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin leak
    [stderr] loopx: push refused: `refs/tags/leak` would take loopx's own state to `refs/tags/leak`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin annotated
    [stderr] loopx: push refused: `refs/tags/annotated` would take loopx's own state to `refs/tags/annotated`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main:refs/heads/loopx/state
    [stderr] loopx: push refused: `refs/heads/main` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --all origin
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --mirror origin
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: `refs/tags/annotated` would take loopx's own state to `refs/tags/annotated`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: `refs/tags/leak` would take loopx's own state to `refs/tags/leak`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q ../hub.git loopx/state~0:refs/heads/innocent
    [stderr] loopx: push refused: `loopx/state~0` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git ls-remote origin
    [ID]	HEAD
    [ID]	refs/heads/main
    ");
}

#[test]
fn no_push_carries_the_state_inside_another_branch() {
    let repo = Sandbox::with_remote();
    repo.git("merge -q --allow-unrelated-histories -m merge loopx/state").success();
    repo.git("rm -q -r loopx.toml quota.json goals .gitattributes").success();
    repo.commit("innocent");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin main~1:refs/heads/side
        git push -q origin main^{tree}:refs/tags/tree
        git push -q origin loopx/state^{tree}:refs/tags/tree
    "), @"
    $ git push -q origin main
    [stderr] loopx: push refused: `refs/heads/main` would take loopx's own state to `refs/heads/main`: commit [ID] brought it in
    [stderr] hint: on that branch, take it out with `git rebase --onto [ID] [ID] main`; reverting it is not enough, the history would still have it
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main~1:refs/heads/side
    [stderr] loopx: push refused: `main~1` would take loopx's own state to `refs/heads/side`: commit [ID] brought it in
    [stderr] hint: on that branch, take it out with `git reset --keep [ID]`; reverting it is not enough, the history would still have it
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main^{tree}:refs/tags/tree
    $ git push -q origin loopx/state^{tree}:refs/tags/tree
    [stderr] loopx: push refused: `loopx/state^{tree}` would take loopx's own state to `refs/tags/tree`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn the_state_is_refused_beside_a_gate_and_both_are_said() {
    let repo = held();
    assert_snapshot!(repo.scene("
        git push -q --all origin
        git push -q --mirror origin
        git push -q origin loopx/state:refs/heads/innocent
    "), @r#"
    $ git push -q --all origin
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q --mirror origin
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin loopx/state:refs/heads/innocent
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/innocent`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by codex-1, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn the_hook_does_not_guess_what_git_means() {
    let repo = Sandbox::ready();
    let hook = |input: &str| repo.feed(LOOPX, &["hook", "pre-push", "origin", "../hub.git"], input);
    assert_snapshot!(hook(""), @"");
    assert_snapshot!(hook("nonsense\n"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git sent a line that loopx does not understand: `nonsense`
    [exit 1]
    ");
    assert_snapshot!(hook("refs/heads/main"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git sent a line that loopx does not understand: `refs/heads/main`
    [exit 1]
    ");
    assert_snapshot!(hook("\u{1b}[2Jrefs/heads/main a b c\n"), @r"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git sent a line that loopx does not understand: `\u{1b}[2Jrefs/heads/main a b c`
    [exit 1]
    ");
    let here = repo.git("rev-parse HEAD").stdout;
    let (here, none, unknown) = (here.trim(), "0".repeat(40), "1".repeat(40));
    assert_snapshot!(hook(&format!("refs/heads/main {here} refs/heads/main {none}\n")), @"");
    assert_snapshot!(hook(&format!("refs/heads/main {here} refs/heads/main {none}\nmore\n")), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git sent a line that loopx does not understand: `more`
    [exit 1]
    ");
    assert_snapshot!(hook(&format!("refs/heads/main {unknown} refs/heads/main {none}\n")), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: git cannot look at what is pushed: An object with id 1111111111111111111111111111111111111111 could not be found
    [stderr] hint: run `git fsck` to see whether the repository is sound
    [exit 1]
    ");
    assert_snapshot!(hook(&format!("(delete) {none} refs/heads/main {here}\n")), @"");
    assert_snapshot!(repo.loopx("hook pre-push origin"), @"
    [stderr] error: the following required arguments were not provided:
    [stderr]   <URL>
    [stderr]
    [stderr] Usage: loopx hook pre-push <REMOTE> <URL>
    [stderr]
    [stderr] For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn the_hook_does_not_wait_for_somebody_who_types() {
    let repo = Sandbox::ready();
    assert_snapshot!(repo.at_a_terminal(LOOPX, &words("hook pre-push origin ../hub.git"), ""), @"
    error: git calls this and sends refs on standard input; it is not for terminals
    hint: run `loopx hooks status` to see whether pushes are guarded
    [exit 2]
    ");
}

#[test]
fn a_push_from_a_clone_without_state_is_refused_by_a_hook_that_was_copied_there() {
    let mut repo = Sandbox::with_remote();
    repo.git("clone -q ../hub.git ../copy").success();
    let hook = repo.read("repo/.git/hooks/pre-push");
    repo.script("copy/.git/hooks/pre-push", &hook);
    repo.cd("copy");
    repo.commit("feature");
    assert_snapshot!(repo.git_shown("push -q origin main"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: this repository has no loopx state
    [stderr] hint: run `loopx init`
    [stderr] error: failed to push some refs to '[ROOT]/repo/../hub.git'
    [exit 1]
    ");
}

#[test]
fn the_gate_holds_in_a_repository_of_another_kind() {
    let repo = Sandbox::with_init_flags("--object-format=sha256");
    repo.git("init -q --bare --object-format=sha256 ../hub.git").success();
    repo.git("remote add origin ../hub.git").success();
    repo.loopx("init --goal-text Ship").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin loopx/state
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin loopx/state
    [stderr] loopx: push refused: `refs/heads/loopx/state` would take loopx's own state to `refs/heads/loopx/state`
    [stderr] hint: push the branches you mean by name, such as `git push origin main`
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
    repo.person("gate resolve ready --decision approve", "ready").success();
    repo.git("push -q origin main").success();
}

#[test]
fn the_gate_holds_in_a_shallow_clone() {
    let mut repo = Sandbox::with_remote();
    repo.commit("feature");
    repo.git("push -q origin main").success();
    let hub = repo.path("hub.git").display().to_string();
    repo.git(&format!("clone -q --depth 1 file://{hub} ../shallow")).success();
    repo.cd("shallow").commit("more");
    repo.loopx("init --goal-text Ship").success();
    repo.git("push -q origin main").success();
    repo.git("merge -q --allow-unrelated-histories -m merge loopx/state").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    assert_snapshot!(repo.git_shown("push -q origin main"), @r#"
    [stderr] loopx: push refused: `refs/heads/main` would take loopx's own state to `refs/heads/main`: commit [ID] brought it in
    [stderr] hint: on that branch, take it out with `git reset --keep [ID]`; reverting it is not enough, the history would still have it
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to 'file://[ROOT]/hub.git'
    [exit 1]
    "#);
}

#[test]
fn the_gate_holds_in_every_worktree_of_a_bare_clone() {
    let mut repo = Sandbox::with_remote();
    repo.git("clone -q --bare --single-branch . ../bare.git").success();
    repo.git("-C ../bare.git worktree add -q ../first main").success();
    repo.git("-C ../bare.git worktree add -q ../second -b second").success();
    repo.cd("first").loopx("init --goal-text Ship").success();
    repo.loopx("gate open Ready? --agent-id a").success();
    repo.cd("second");
    assert_snapshot!(repo.scene("
        loopx todo add one
        loopx init
        loopx status
        git push -q ../hub.git second
        git -C ../first status --porcelain
    "), @r#"
    $ loopx todo add one
    added todo t-zv3z: one
    $ loopx init
    kept the state on branch `loopx/state`, to be read in `.loopx/`
    pushes are guarded by [ROOT]/bare.git/hooks/pre-push
    $ loopx status
    1 question waits for you
      ready  open  by a, just now  Ready?
      a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    1 goal
      ship  active  0/48 slots  Ship
    1 todo open
      t-zv3z  p2  open  one
    pushes are guarded
    $ git push -q ../hub.git second
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   ready  open  "Ready?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve ready --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git -C ../first status --porcelain
    "#);
    assert!(!repo.path("second/.loopx").exists());
    assert!(repo.path("first/.loopx/goals/ship/todos").is_dir());
}

#[test]
fn a_forged_remote_tracking_branch_hides_no_state() {
    let repo = Sandbox::with_remote();
    repo.git("merge -q --allow-unrelated-histories -m merge loopx/state").success();
    repo.git("rm -q -r loopx.toml quota.json goals .gitattributes").success();
    repo.commit("innocent");
    repo.git("update-ref refs/remotes/origin/x loopx/state").success();
    assert_snapshot!(repo.git_shown("push -q origin main"), @"
    [stderr] loopx: push refused: `refs/heads/main` would take loopx's own state to `refs/heads/main`: commit [ID] brought it in
    [stderr] hint: on that branch, take it out with `git rebase --onto [ID] [ID] main`; reverting it is not enough, the history would still have it
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn state_in_the_middle_of_what_is_pushed_is_found() {
    let repo = Sandbox::with_remote();
    let middle = repo.git("commit-tree -m i -p main loopx/state^{tree}").success().stdout;
    let outer = repo.git(&format!("commit-tree -m o -p {} main^{{tree}}", middle.trim())).success().stdout;
    assert_snapshot!(repo.git_shown(&format!("push -q origin {}:refs/heads/x", outer.trim())), @"
    [stderr] loopx: push refused: `[ID]` would take loopx's own state to `refs/heads/x`: commit [ID] brought it in
    [stderr] hint: on that branch, take it out with `git rebase --onto [ID] [ID]`; reverting it is not enough, the history would still have it
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}

#[test]
fn a_state_elsewhere_does_not_answer_for_this_repository() {
    let mut repo = held();
    repo.git("clone -q --no-hardlinks . ../twin").success();
    repo.cd("twin");
    repo.git("pull -q").success();
    repo.loopx("init").success();
    repo.cd("repo");
    for (name, dir) in [("GIT_DIR", "twin/.git"), ("GIT_COMMON_DIR", "repo/.git"), ("GIT_WORK_TREE", "repo")]
    {
        let dir = repo.path(dir).display().to_string();
        repo.env(name, &dir);
    }
    assert_snapshot!(repo.git_shown("push -q origin main"), @"
    [stderr] loopx: push refused: whether a question is open cannot be seen
    [stderr] error: `GIT_COMMON_DIR` is `[ROOT]/repo/.git`, which is not the repository that is meant here
    [stderr] hint: run `unset GIT_COMMON_DIR`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    ");
}
