//! A standing gate is asked again for every commit: what was seen may go, and nothing else.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A repository with a commit to push and a standing gate before `main`.
fn guarded(bind: &str) -> Sandbox {
    let repo = Sandbox::with_remote();
    repo.commit("one");
    repo.loopx(&format!(
        "gate open 'Is main good?' --gate-id main-guard --standing --bind {bind} --branch main --agent-id a"
    ))
    .success();
    repo
}

fn approve(repo: &Sandbox) {
    repo.person("gate resolve main-guard --decision approve", "main-guard approve").success();
}

#[test]
fn what_was_seen_may_go_and_new_commits_need_a_new_answer() {
    let repo = guarded("commit");
    assert_snapshot!(repo.scene("
        loopx gate show main-guard
        loopx status
        loopx todo add work
        loopx quota should-run
        git push -q origin main
        git push -q origin main:side
    "), @r#"
    $ loopx gate show main-guard
    gate main-guard: "Is main good?"
      goal      ship
      asked     by a, just now
      blocks    push, publish
      branches  main
      options   approve, reject
      state     standing: each commit needs an answer
    $ loopx status
      main-guard  standing  by a, just now  Is main good?
    1 goal
      ship  active  0/48 slots  Ship v2
    0 todos open
    pushes are guarded
    $ loopx todo add work
    added todo t-zv3z: work
    $ loopx quota should-run
    true – work on t-zv3z: work
    why: `t-zv3z` is ready and nobody has it
    next: loopx todo claim t-zv3z
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main:side
    "#);
    assert_snapshot!(repo.person("gate resolve main-guard --decision approve --note 'read it'", "main-guard approve"), @r#"
    gate main-guard: "Is main good?"
      goal      ship
      asked     by a, 7 s ago
      blocks    push, publish
      branches  main
      options   approve, reject
      state     standing: each commit needs an answer
      commit    [ID] one
    it is at a remote already

    Type `main-guard approve` to approve gate `main-guard`: main-guard approve
    gate main-guard is answered for [ID]: approve
    "#);
    assert_snapshot!(repo.scene("git push -q origin main"), @"$ git push -q origin main");
    repo.commit("two");
    repo.commit("three");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin main~1:main
        git push -q -f origin main~2:main
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 13 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main~1:main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 14 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q -f origin main~2:main
    "#);
    repo.person("gate resolve main-guard --decision approve --commit main~1", "main-guard approve").success();
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin main~1:main
        git push -q origin :main
        loopx gate show main-guard
        loopx gate list
        git show loopx/state:goals/ship/gates/main-guard.toml
        loopx verify --all
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 17 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main~1:main
    $ git push -q origin :main
    [stderr] remote: error: By default, deleting the current branch is denied, because the next
    [stderr] remote: 'git clone' won't result in any file checked out, causing confusion.
    [stderr] remote:
    [stderr] remote: You can set 'receive.denyDeleteCurrent' configuration variable to
    [stderr] remote: 'warn' or 'ignore' in the remote repository to allow deleting the
    [stderr] remote: current branch, with or without a warning message.
    [stderr] remote:
    [stderr] remote: To squelch this message, you can set it to 'refuse'.
    [stderr] remote: error: refusing to delete the current branch: refs/heads/main
    [stderr] To ../hub.git
    [stderr]  ! [remote rejected] main (deletion of the current branch prohibited)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ loopx gate show main-guard
    gate main-guard: "Is main good?"
      goal      ship
      asked     by a, 20 s ago
      blocks    push, publish
      branches  main
      options   approve, reject
      state     standing: each commit needs an answer
      answer    approve [ID] by Ann, just now
      answer    approve [ID] by Ann, 13 s ago
    $ loopx gate list
      main-guard  standing  by a, 21 s ago  Is main good?
    $ git show loopx/state:goals/ship/gates/main-guard.toml
    format = "1.0"
    question = "Is main good?"
    options = ["approve", "reject"]
    blocks = ["push", "publish"]

    [scope]
    branches = ["main"]

    [asked]
    by = "agent:a"
    at = "2026-11-30T12:00:10Z"

    [state]
    is = "standing"
    bind = "commit"

    [[state.answers]]
    decision = "approve"
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:17Z"
    note = "read it"

    [state.answers.seen]
    question = "sha256:[ID]"
    commit = "[ID]"
    tree = "[ID]"

    [state.answers.proof]
    kind = "terminal"
    typed = "main-guard approve"

    [[state.answers]]
    decision = "approve"
    by = "Ann <ann@example.test>"
    at = "2026-11-30T12:00:26Z"

    [state.answers.seen]
    question = "sha256:[ID]"
    commit = "[ID]"
    tree = "[ID]"

    [state.answers.proof]
    kind = "terminal"
    typed = "main-guard approve"
    $ loopx verify --all
    6 commits (6 new commits): each is one legal mutation, signed off
    "#);
    assert_snapshot!(repo.person("gate resolve main-guard --decision approve --commit main~1", "main-guard approve"), @r#"
    gate main-guard: "Is main good?"
      goal      ship
      asked     by a, 24 s ago
      blocks    push, publish
      branches  main
      options   approve, reject
      state     standing: each commit needs an answer
      answer    approve [ID] by Ann, 8 s ago
      answer    approve [ID] by Ann, 17 s ago
      commit    [ID] two
    it is at a remote already

    Type `main-guard approve` to approve gate `main-guard`: main-guard approve
    error: gate `main-guard` was decided already: `approve` by Ann at 2026-11-30T12:00:26Z
    hint: run `loopx gate show main-guard`
    [exit 1]
    "#);
}

#[test]
fn a_no_holds_the_commit_and_what_was_made_from_it() {
    let repo = guarded("commit");
    approve(&repo);
    repo.commit("bad");
    repo.person("gate resolve main-guard --decision reject", "main-guard reject").success();
    repo.commit("on-top");
    assert_snapshot!(repo.scene("
        git push -q origin main
        git push -q origin main~1:main
        git push -q origin main~2:main
    "), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 7 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main~1:main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 8 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    $ git push -q origin main~2:main
    "#);
    approve(&repo);
    repo.git("push -q origin main").success();
    repo.person("gate withdraw main-guard --reason 'no longer protected'", "main-guard withdraw").success();
    repo.commit("free");
    repo.git("push -q origin main").success();
    assert_snapshot!(repo.loopx("verify --all"), @"7 commits (7 new commits): each is one legal mutation, signed off");
}

#[test]
fn an_amended_commit_with_the_same_files_is_told_apart_unless_the_tree_is_meant() {
    let repo = guarded("commit");
    approve(&repo);
    repo.git("commit -q --amend -m 'the same in other words'").success();
    assert_snapshot!(repo.scene("git push -q origin main"), @r#"
    $ git push -q origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, just now
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);

    let repo = guarded("tree");
    approve(&repo);
    repo.git("commit -q --amend -m 'the same in other words'").success();
    repo.git("push -q origin main").success();
    repo.write("repo/one.txt", "changed");
    repo.git("commit -q -a --amend -m 'another one'").success();
    assert_snapshot!(repo.scene("git push -q -f origin main"), @r#"
    $ git push -q -f origin main
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to [ID]  "Is main good?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);

    let repo = Sandbox::with_remote();
    repo.commit("one");
    repo.loopx("gate open 'Ship it?' --gate-id main-guard --bind question --agent-id a").success();
    repo.person("gate resolve main-guard --decision approve", "main-guard").success();
    repo.commit("two");
    repo.git("push -q origin main").success();
}

#[test]
fn a_tag_is_what_it_points_to_and_other_objects_are_not_answered_for() {
    let repo = Sandbox::with_remote();
    repo.loopx("gate open 'Release?' --gate-id main-guard --standing --branch 'refs/tags/*' --agent-id a")
        .success();
    repo.git("tag -a v1 -m one").success();
    approve(&repo);
    repo.git("tag odd main:base.txt").success();
    assert_snapshot!(repo.scene("
        git push -q origin v1
        git push -q origin odd
    "), @r#"
    $ git push -q origin v1
    $ git push -q origin odd
    [stderr] loopx: push refused: 1 gate stands in its way
    [stderr]   main-guard  no yes to what this is made from  "Release?"  asked by a, 5 s ago
    [stderr] hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`)
    [stderr] error: failed to push some refs to '../hub.git'
    [exit 1]
    "#);
}

#[test]
fn a_publisher_may_go_from_what_was_seen_only() {
    let repo = guarded("commit");
    assert_snapshot!(repo.scene("loopx guard check --for publish"), @r#"
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      main-guard  no yes to [ID]  "Is main good?"  asked by a, just now
    hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [exit 10]
    "#);
    approve(&repo);
    assert_snapshot!(repo.scene("loopx guard check --for publish"), @"
    $ loopx guard check --for publish
    publish allowed: no gate stands in its way
    ");
    repo.write("repo/one.txt", "changed after that");
    assert_snapshot!(repo.scene("loopx guard check --for publish"), @r#"
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      main-guard  no yes to what this is made from  "Is main good?"  asked by a, just now
    hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`)
    [exit 10]
    "#);
    repo.git("commit -q -a -m two").success();
    assert_snapshot!(repo.scene("loopx guard check --for publish"), @r#"
    $ loopx guard check --for publish
    loopx: publish refused: 1 gate stands in its way
      main-guard  no yes to [ID]  "Is main good?"  asked by a, 6 s ago
    hint: a person answers with `loopx gate resolve main-guard --decision approve` (or `reject`), with `--commit [ID]`
    [exit 10]
    "#);
}

#[test]
fn a_standing_gate_is_about_what_leaves() {
    let repo = Sandbox::ready();
    let todo = repo.todo("work");
    assert_snapshot!(repo.scene(&format!("
        loopx gate open Good? --standing --todo {todo}
        loopx gate open Good? --standing --blocks turn,push
        loopx gate open Good? --standing --bind question
    ")), @"
    $ loopx gate open Good? --standing --todo t-fdjx
    [stderr] error: a standing gate is about what leaves this machine, not about todos or turns
    [stderr] hint: leave `--todo` and `turn` out, or leave `--standing` out
    [exit 1]
    $ loopx gate open Good? --standing --blocks turn,push
    [stderr] error: a standing gate is about what leaves this machine, not about todos or turns
    [stderr] hint: leave `--todo` and `turn` out, or leave `--standing` out
    [exit 1]
    $ loopx gate open Good? --standing --bind question
    [stderr] error: a standing gate is not answered once and for all
    [stderr] hint: use `--bind commit` or `--bind tree`, or leave `--standing` out
    [exit 2]
    ");
    let empty = Sandbox::empty();
    empty.git("init -q -b main .").success();
    empty.loopx("init --goal-text Ship --goal-id ship").success();
    empty.loopx("gate open Good? --standing").success();
    assert_snapshot!(empty.person("gate resolve good --decision approve", "good approve"), @r#"
    gate good: "Good?"
      goal     ship
      asked    by Ann, just now
      blocks   push, publish
      options  approve, reject
      state    standing: each commit needs an answer

    Type `good approve` to approve gate `good`: good approve
    error: gate `good` is answered for a commit, and there is none to see
    hint: name one with `loopx gate resolve good --decision approve --commit <rev>`
    [exit 1]
    "#);
}
